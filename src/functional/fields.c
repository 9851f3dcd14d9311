/* See fields.h. */
#include "functional/fields.h"
#include <ctype.h>
#include <string.h>
#include "device/vector.h"

static const char *const normal_names[3] = {"nx", "ny", "nz"};

const char *const tesi_field_names[3][4] = {
    {"u", "ux", "uy", "uz"}, {"v", "vx", "vy", "vz"}, {"w", "wx", "wy", "wz"}};

int tesi_fields_of(int dim, int components, const TesSpace *const *space, const TesVector *const *vector,
                   TesiField *field) {
  int count = 0;
  for (int c = 0; c < tesi_min(components, 3); c++)
    for (int i = 0; i <= dim; i++)
      field[count++] = (TesiField){.name = tesi_field_names[c][i],
                                   .space = space ? space[c] : NULL,
                                   .vector = vector ? vector[c] : NULL,
                                   .derivative = i - 1};
  return count;
}

/* ---- creation ------------------------------------------------------------------------------------------ */

/* The number of the field's vector; -1: there are too many vectors. */
static int source_of(TesiQuantity *q, const TesiField *field) {
  int i = 0;
  while (i < q->sources &&
         (q->source[i].vector != field->vector || q->source[i].part != field->part ||
          q->source[i].coefficient != field->coefficient || q->source[i].by_material != field->by_material ||
          q->source[i].rate.is != field->rate.is))
    i++;
  if (i == TESI_SOURCES) return -1;
  q->source[i].space = field->space;
  q->source[i].vector = field->vector;
  q->source[i].part = field->part;
  q->source[i].coefficient = field->coefficient;
  q->source[i].by_material = field->by_material;
  q->source[i].rate = field->rate;
  q->sources = tesi_max(q->sources, i + 1);
  return i;
}

/* values <- the derivative in time; on entry the present values. */
static TesStatus add_old(TesContext *ctx, const TesiRate *rate, int64_t length, double *values) {
  TesStatus status = TES_OK;
  double *old = NULL;
  for (int64_t i = 0; i < length; i++) values[i] *= rate->weight[0];
  for (int j = 0; j < rate->count; j++) {
    const TesVector part = tesi_vector_range(rate->old[j], rate->offset, length);
    if (!old) TES_ALLOC(&old, length);
    TES_TRY(tes_vector_get(&part, old));
    for (int64_t i = 0; i < length; i++) values[i] += rate->weight[1 + j] * old[i];
  }
done:
  tesi_free(ctx, &old);
  return status;
}

/* The vector of a source on the host, and for element rt the tables that convert it to nodal values. */
static TesStatus take_values(TesiQuantity *q, int source) {
  TesContext *ctx = q->context;
  TesStatus status = TES_OK;
  const TesSpace *space = q->source[source].space;
  const TesVector *vector = q->source[source].vector;
  if (q->source[source].coefficient) return TES_OK;
  const int64_t length = space->length;
  TES_CHECK(vector->length == length, "a vector of length %lld, the space has %lld nodes",
            (long long)vector->length, (long long)length);
  TES_ALLOC(&q->source[source].values, length);
  TES_TRY(tes_vector_get(vector, q->source[source].values));
  if (q->source[source].rate.is)
    TES_TRY(add_old(ctx, &q->source[source].rate, length, q->source[source].values));
  if (space->element->nodal) goto done;
  TES_NEW(&q->source[source].nodes);
  tesi_rt_node_tables(space->degree + 1, q->source[source].nodes);
done:
  return status;
}

/* Finds the fields that the expression uses, and copies their vectors to the host. */
static TesStatus take_sources(TesiQuantity *q, const TesiField *field) {
  TesContext *ctx = q->context;
  TesStatus status = TES_OK;
  const int normals = q->boundary ? 3 : 0;
  for (int i = 0; i < q->fields; i++) {
    q->derivative[i] = field[i].derivative;
    q->source_of[i] = -1;
    if (!(tesi_function_uses(q->function) >> (normals + i) & 1)) continue;
    const int s = q->source_of[i] = source_of(q, &field[i]);
    TES_CHECK(s >= 0, "an expression with more than %d different vectors", TESI_SOURCES);
    if (field[i].derivative == TESI_FIELD_VALUE)
      q->source[s].value = true;
    else
      q->source[s].gradient = true;
  }
  for (int i = 0; i < q->sources; i++) TES_TRY(take_values(q, i));
done:
  return status;
}

/* Length of the number or name at the beginning of a text; 0: it begins with neither. */
static size_t token(const char *text) {
  size_t n = 0;
  if (isalpha((unsigned char)*text) || *text == '_') {
    while (isalnum((unsigned char)text[n]) || text[n] == '_') n++;
  } else if (isdigit((unsigned char)*text) || *text == '.') {
    while (isalnum((unsigned char)text[n]) || text[n] == '.' ||
           ((text[n] == '-' || text[n] == '+') && (text[n - 1] == 'e' || text[n - 1] == 'E')))
      n++;
  }
  return n;
}

/* out <- the text with names replaced by their meanings; false: there is no room. */
static bool expand(const char *text, int fields, const TesiField *field, char *out, size_t size,
                   size_t *length) {
  while (*text) {
    const size_t n = token(text);
    int i = 0;
    while (i < fields &&
           (!n || !field[i].text || strlen(field[i].name) != n || strncmp(field[i].name, text, n)))
      i++;
    if (*length + 2 * n + 4 > size) return false;
    if (i < fields) {
      out[(*length)++] = '(';
      if (!expand(field[i].text, i, field, out, size, length)) return false;
      out[(*length)++] = ')';
    } else {
      memcpy(out + *length, text, n ? n : 1);
      *length += n ? n : 1;
    }
    text += n ? n : 1;
  }
  out[*length] = 0;
  return true;
}

/* Normals first, then the fields. Returns how many. */
static int list_names(bool boundary, int fields, const TesiField *field, const char *names[TESI_FIELDS + 3]) {
  int count = 0;
  for (int d = 0; d < 3 && boundary; d++) names[count++] = normal_names[d];
  for (int i = 0; i < fields; i++) names[count++] = field[i].name;
  return count;
}

/* The function of the text: normals first, then the fields; names that stand for expressions are written out. */
static TesStatus parse(TesContext *ctx, const char *text, bool boundary, int fields, const TesiField *field,
                       TesFunction **function) {
  enum { LONGEST = 65536 };
  TesStatus status = TES_OK;
  const char *names[TESI_FIELDS + 3];
  char *written = NULL;
  size_t length = 0;
  bool derived = false;
  const int count = list_names(boundary, fields, field, names);
  for (int i = 0; i < fields; i++) derived = derived || field[i].text;
  TES_TRY(tesi_function_create_over(ctx, text, count, names,
                                    function)); /* reports mistakes in the text as the user wrote
                                                                      * it */
  if (!derived) goto done;
  tes_function_destroy(function);
  TES_ALLOC(&written, LONGEST);
  TES_CHECK(expand(text, fields, field, written, LONGEST, &length), "an expression that is too long: %.100s",
            text);
  TES_TRY(tesi_function_create_over(ctx, written, count, names, function));
done:
  tesi_free(ctx, &written);
  return status;
}

TesStatus tesi_quantity_check(TesContext *ctx, const char *text, bool boundary, int fields,
                              const TesiField *field) {
  TesFunction *function;
  const TesStatus status = parse(ctx, text, boundary, fields, field, &function);
  tes_function_destroy(&function);
  return status;
}

/* *function <- its derivative. */
static TesStatus differentiate(TesContext *ctx, bool boundary, int fields, const TesiField *field, int by,
                               TesFunction **function) {
  TesStatus status = TES_OK;
  const char *names[TESI_FIELDS + 3];
  TesFunction *slope = NULL;
  const int count = list_names(boundary, fields, field, names);
  if (by == TESI_SLOPE_NONE) return TES_OK;
  TES_TRY(by == TESI_SLOPE_CONSTANT
              ? tesi_function_slope_over(ctx, tes_function_text(*function), count, names, &slope)
              : tesi_function_slope(*function, count - fields + by, &slope));
  tes_function_destroy(function);
  *function = slope;
done:
  return status;
}

TesStatus tesi_quantity_create(const TesMesh *mesh, const char *text, bool boundary, int fields,
                               const TesiField *field, TesiQuantity **quantity) {
  return tesi_quantity_create_slope(mesh, text, boundary, fields, field, TESI_SLOPE_NONE, quantity);
}

TesStatus tesi_quantity_create_slope(const TesMesh *mesh, const char *text, bool boundary, int fields,
                                     const TesiField *field, int by, TesiQuantity **quantity) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  TesiQuantity *q = NULL;
  TesFunction *function = NULL;
  *quantity = NULL;
  TES_NEW(&q);
  q->context = ctx, q->mesh = mesh, q->dim = mesh->dim, q->fields = fields, q->boundary = boundary;
  TES_TRY(parse(ctx, text, boundary, fields, field, &function));
  TES_TRY(differentiate(ctx, boundary, fields, field, by, &function));
  TES_TRY(tesi_function_at(function, fields ? field->time : 0, &q->function));
  TES_TRY(take_sources(q, field));
  for (int i = 0; i < fields && by == TESI_SLOPE_NONE; i++)
    q->plain = q->plain || (!strcmp(text, field[i].name) && q->sources == 1 && q->source[0].value &&
                            !q->source[0].gradient && !field[i].text);
  *quantity = q;
  q = NULL;
done:
  tes_function_destroy(&function);
  tesi_quantity_destroy(&q);
  return status;
}

void tesi_quantity_destroy(TesiQuantity **quantity) {
  TesiQuantity *q = *quantity;
  if (!q) return;
  TesContext *ctx = q->context;
  for (int i = 0; i < q->sources; i++) {
    tesi_free(ctx, &q->source[i].values);
    tesi_free(ctx, &q->source[i].nodes);
  }
  tes_function_destroy(&q->function);
  tesi_free(ctx, quantity);
}

bool tesi_quantity_is_zero(const TesiQuantity *q) {
  double value;
  return tes_function_constant(q->function, &value) && value == 0;
}

/* Whether a source is of element rt or dg. */
static bool is_modal(const TesiQuantity *q, int source) {
  return !q->source[source].coefficient && !q->source[source].space->element->nodal;
}

bool tesi_quantity_is_continuous(const TesiQuantity *q) {
  for (int i = 0; i < q->sources; i++)
    if (q->source[i].gradient || is_modal(q, i) || q->source[i].by_material) return false;
  return true;
}

/* ---- values -------------------------------------------------------------------------------------------- */

void tesi_quantity_values(const TesiQuantity *q, int64_t n, const double *const x[3],
                          const double *const normal[3], const double *const *value,
                          const double *const (*gradient)[3], double *out) {
  const double *more[TESI_FIELDS + 3] = {NULL};
  int at = 0;
  for (int d = 0; d < 3 && q->boundary; d++) more[at++] = normal[d];
  for (int i = 0; i < q->fields; i++, at++) {
    if (q->source_of[i] < 0) continue;
    more[at] = q->derivative[i] == TESI_FIELD_VALUE ? value[q->source_of[i]]
                                                    : gradient[q->source_of[i]][q->derivative[i]];
  }
  tesi_function_values_over(q->function, n, x[0], x[1], x[2], 0, more, out);
}

enum {
  POINTS = TESI_QUANTITY_POINTS,
  LOCAL = (TESI_MAX_DEGREE + 1) * (TESI_MAX_DEGREE + 1) * (TESI_MAX_DEGREE + 1)
};

const TesFunction *tesi_quantity_coefficient(const TesiQuantity *q, int source, int64_t cell) {
  const TesFunction *const *by_material = q->source[source].by_material;
  const int material = by_material ? tes_mesh_material(q->mesh, cell) : -1;
  return material >= 0 && by_material[material] ? by_material[material] : q->source[source].coefficient;
}

/* The values of a source at the points x[3][POINTS]: value[n], gradient[3][POINTS]. */
static void evaluate_source(const TesiQuantity *q, int source, int64_t cell, int n, const double *xi,
                            const double *J, double (*x)[POINTS], double *value, double *gradient) {
  const TesSpace *space = q->source[source].space;
  double local[LOCAL], slope[3 * POINTS];
  const int dim = q->dim;
  if (q->source[source].coefficient) {
    tesi_function_values(tesi_quantity_coefficient(q, source, cell), n, x[0], x[1], x[2], 0, value);
    return;
  }
  if (is_modal(q, source))
    tesi_rt_node_values(space, q->source[source].nodes, q->source[source].part, cell,
                        q->source[source].values, local);
  else
    tesi_space_read_cell(space, cell, q->source[source].values, local);
  tesi_local_values(dim, tesi_space_shape(space), local, n, xi, value,
                    q->source[source].gradient ? slope : NULL);
  for (int p = 0; p < n && q->source[source].gradient; p++) {
    double transposed[9], turned[3];
    for (int i = 0; i < dim * dim; i++) transposed[i] = J[p * dim * dim + i % dim * dim + i / dim];
    tesi_solve_small(dim, transposed, slope + p * dim, turned);
    for (int d = 0; d < dim; d++) gradient[d * POINTS + p] = turned[d];
  }
}

void tesi_quantity_at(const TesiQuantity *q, int64_t cell, int n, const double *xi, const double *x,
                      const double *J, const double *normal, double *out) {
  double at[6][POINTS] = {{0}}, value[TESI_SOURCES][POINTS], gradient[TESI_SOURCES][3][POINTS];
  const double *values[TESI_SOURCES] = {NULL}, *gradients[TESI_SOURCES][3] = {{NULL}};
  for (int p = 0; p < n; p++)
    for (int d = 0; d < q->dim; d++) {
      at[d][p] = x[p * q->dim + d];
      if (normal) at[3 + d][p] = normal[p * q->dim + d];
    }
  for (int i = 0; i < q->sources; i++) {
    evaluate_source(q, i, cell, n, xi, J, at, value[i], gradient[i][0]);
    values[i] = value[i];
    for (int d = 0; d < 3; d++) gradients[i][d] = gradient[i][d];
  }
  tesi_quantity_values(q, n, (const double *const[3]){at[0], at[1], at[2]},
                       (const double *const[3]){at[3], at[4], at[5]}, values,
                       (const double *const(*)[3])gradients, out);
}
