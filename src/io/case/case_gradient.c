/* tes_case_gradient(): reads a case again for each datum, with words that have slopes with respect to a constant. A
 * datum below `data` or `boundary` becomes (datum) + shift, with the constant shift = 0. The slopes of all functions
 * are the direction. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/nearest.h"
#include "base/text.h"
#include "io/case/case_reader.h"
#include "io/expression/expression.h"
#include "problem/gradient.h"
#include "tessera/gradient.h"

/* ---- the case, read again ------------------------------------------------------------------------------ */

struct TesCaseSource {
  char *text;
  int overrides;
  char **override; /* [overrides] */
};

TesStatus tesi_case_keep_source(TesCase *c, const char *text, int overrides, const char *const *override) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  TES_NEW(&c->source);
  TES_TRY(tesi_copy_text(ctx, text, &c->source->text));
  TES_ALLOC(&c->source->override, overrides + 1);
  for (int i = 0; i < overrides; i++, c->source->overrides++)
    TES_TRY(tesi_copy_text(ctx, override[i], &c->source->override[i]));
done:
  return status;
}

void tesi_case_free_source(TesCase *c) {
  TesContext *ctx = c->context;
  if (!c->source) return;
  for (int i = 0; i < c->source->overrides; i++) tesi_free(ctx, &c->source->override[i]);
  tesi_free(ctx, &c->source->override);
  tesi_free(ctx, &c->source->text);
  tesi_free(ctx, &c->source);
}

static TesStatus read_again(const TesCase *input, const char *by, TesCase **result) {
  const TesCaseSource *s = input->source;
  return tesi_case_create(input->context, s->text, strlen(s->text), input->name, by, s->overrides,
                          (const char *const *)s->override, result);
}

/* ---- the datum ----------------------------------------------------------------------------------------- */

static const char shift[] = "shift_of_the_datum";

static TesStatus refuse(TesiCaseReader *r, const char *what) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TES_FAIL(TES_INVALID_INPUT, "%s: gradient by %.100s: %s", r->name, r->by, what);
done:
  return status;
}

/* The name of a constant of the case; NULL: it is not one. */
static const char *find_constant(const TesiCaseReader *r) {
  static const char above[] = "constants.";
  const TesiYaml *map = tesi_yaml_find(r->root, "constants");
  const char *name = strncmp(r->by, above, strlen(above)) ? r->by : r->by + strlen(above);
  return map && map->kind == TESI_YAML_MAP && tesi_yaml_find(map, name) ? name : NULL;
}

static bool takes_functions(int row) {
  const TesiKeyType type = row < 0 ? TESI_KEY_MAP : tesi_case_keys[row].type;
  return type == TESI_KEY_EXPRESSION || type == TESI_KEY_BOUNDARY || type == TESI_KEY_VECTOR ||
         type == TESI_KEY_FIELD || type == TESI_KEY_MATRIX;
}

/* Removes [entry] from the end of a path; -1: there is none. */
static int take_entry(char *path) {
  char *at = strrchr(path, '['), *end;
  if (!at) return -1;
  const long entry = strtol(at + 1, &end, 10);
  if (end == at + 1 || strcmp(end, "]") || entry < 0 || entry > 2) return -1;
  *at = 0;
  return (int)entry;
}

static TesiYaml *entry_of(const TesiYaml *list, int entry) {
  TesiYaml *item = list->first;
  while (item && entry--) item = item->next;
  return item;
}

/* *node <- the value of the key; NULL: it was refused. */
static TesStatus find_value(TesiCaseReader *r, char *path, TesiYaml **node) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  char *name[TESI_YAML_DEPTH];
  int count;
  const int entry = take_entry(path);
  *node = NULL;
  TES_TRY(tesi_case_split(r, r->by, path, name, &count));
  if (r->error_count) goto done;
  const bool below = !strcmp(name[0], "data") || !strcmp(name[0], "boundary");
  const bool result = count > 1 && (!strcmp(name[1], "exact") || !strcmp(name[1], "initial"));
  if (!below || result || !takes_functions(tesi_case_row_of_names(name, count)))
    return refuse(
        r, "expected a name of constants, or the key of a number or an expression below data or boundary");
  TesiYaml *at = r->root;
  for (int i = 0; i < count && at; i++) at = at->kind == TESI_YAML_MAP ? tesi_yaml_find(at, name[i]) : NULL;
  if (!at)
    return refuse(r, "the case does not give it; write its default into the case to differentiate by it");
  if (at->kind == TESI_YAML_LIST && entry < 0)
    return refuse(r, "it is a list: add the number of an entry, as in data.f[0]");
  if (at->kind == TESI_YAML_LIST) at = entry_of(at, entry);
  if (!at || at->kind != TESI_YAML_SCALAR || !*at->text || !strcmp(at->text, "exact"))
    return refuse(r, "it is no number and no expression");
  *node = at;
done:
  return status;
}

/* text <- "(text) + shift" */
static TesStatus add_shift(TesContext *ctx, TesiYaml *node) {
  TesStatus status = TES_OK;
  const size_t size = strlen(node->text) + sizeof shift + 8;
  char *text = NULL;
  TES_ALLOC(&text, size);
  snprintf(text, size, "(%s) + %s", node->text, shift);
  tesi_free(ctx, &node->text);
  node->text = text;
done:
  return status;
}

TesStatus tesi_case_shift(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesiYaml *node, *constants;
  char path[300];
  if (r->root->kind != TESI_YAML_MAP) return TES_OK; /* the walk reports it */
  const char *constant = find_constant(r);
  if (constant) {
    r->by = constant;
    return TES_OK;
  }
  snprintf(path, sizeof path, "%s%s", strchr(r->by, '.') ? "" : "data.", r->by);
  TES_TRY(find_value(r, path, &node));
  if (!node) goto done;
  TES_TRY(add_shift(ctx, node));
  constants = tesi_yaml_find(r->root, "constants");
  if (constants && tesi_yaml_is_null(constants)) {
    tesi_yaml_remove(ctx, r->root, constants);
    constants = NULL;
  }
  if (!constants) TES_TRY(tesi_yaml_add(ctx, r->root, TESI_YAML_MAP, "constants", NULL, &constants));
  TES_TRY(tesi_yaml_add(ctx, constants, TESI_YAML_SCALAR, shift, "0", &node));
  r->by = shift;
done:
  return status;
}

/* ---- the direction ------------------------------------------------------------------------------------- */

static TesStatus find_text_slope(TesContext *ctx, const char *text, const TesFunction **to) {
  TesStatus status = TES_OK;
  char message[TESI_EXPRESSION_MESSAGE] = "";
  TesFunction *slope = NULL;
  double value;
  status = tesi_function_slope_of_text(ctx, text, tesi_boundary_names, &slope, message);
  if (status == TES_INVALID_INPUT && *message) TES_FAIL(status, "%.200s: %s", text, message);
  TES_TRY(status);
  if (tes_function_constant(slope, &value) && value == 0)
    tes_function_destroy(&slope);
  else
    *to = slope;
done:
  return status;
}

/* Whether the function was made from a text: fields of files do not depend on constants. */
static bool has_text(const TesFunction *f) {
  return tes_function_constant(f, NULL) || tesi_function_has_text(f) || tesi_function_uses(f);
}

static TesStatus find_slope(TesContext *ctx, const TesFunction *f, const TesFunction **to);

/* The matrix of the slopes. */
static TesStatus find_matrix_slope(TesContext *ctx, const TesFunction *f, const TesFunction **to) {
  TesStatus status = TES_OK;
  const int dim = tesi_function_matrix_dim(f);
  const TesFunction *entry[9] = {NULL};
  double otherwise;
  bool any = false;
  for (int i = 0; i < dim * dim; i++) {
    const TesFunction *of = tesi_function_entry(f, i / dim, i % dim, &otherwise);
    if (of) TES_TRY(find_slope(ctx, of, &entry[i]));
    any = any || entry[i];
  }
  for (int i = 0; i < dim && any; i++)
    if (!entry[i * dim + i])
      TES_TRY(tes_function_create_constant(ctx, 0, (TesFunction **)&entry[i * dim + i]));
  if (any) TES_TRY(tes_function_create_matrix(ctx, dim, entry, (TesFunction **)to));
done:
  for (int i = 0; i < dim * dim; i++) tes_function_destroy((TesFunction **)&entry[i]);
  return status;
}

/* *to <- the slope; it stays NULL if the slope is 0. */
static TesStatus find_slope(TesContext *ctx, const TesFunction *f, const TesFunction **to) {
  if (!f) return TES_OK;
  if (tesi_function_is_matrix(f)) return find_matrix_slope(ctx, f, to);
  return has_text(f) ? find_text_slope(ctx, tes_function_text(f), to) : TES_OK;
}

/* The slope of the thermal strain. */
static TesStatus find_thermal_slope(TesContext *ctx, const TesFunction *expansion,
                                    const TesFunction *temperature, const TesFunction **to) {
  TesStatus status = TES_OK;
  char *text = NULL;
  if (!expansion || !temperature || !has_text(expansion) || !has_text(temperature)) return TES_OK;
  const char *one = tes_function_text(expansion), *other = tes_function_text(temperature);
  const size_t size = strlen(one) + strlen(other) + 8;
  TES_ALLOC(&text, size);
  snprintf(text, size, "(%s)*(%s)", one, other);
  TES_TRY(find_text_slope(ctx, text, to));
done:
  tesi_free(ctx, &text);
  return status;
}

/* whole: the function of the whole domain, which materials without their own use. */
static TesStatus find_data_slopes(TesContext *ctx, const TesData *data, const TesData *whole, TesData *to) {
  TesStatus status = TES_OK;
  TES_TRY(find_slope(ctx, data->a, &to->a));
  TES_TRY(find_slope(ctx, data->c, &to->c));
  TES_TRY(find_slope(ctx, data->lambda, &to->lambda));
  for (int c = 0; c < 3; c++) {
    TES_TRY(find_slope(ctx, data->f[c], &to->f[c]));
    TES_TRY(find_slope(ctx, data->b[c], &to->b[c]));
  }
  TES_TRY(find_thermal_slope(ctx, data->expansion ? data->expansion : whole->expansion,
                             data->temperature ? data->temperature : whole->temperature, &to->expansion));
done:
  return status;
}

static TesStatus find_boundary_slopes(TesContext *ctx, const TesProblemDesc *p, TesBoundary *to, bool *any) {
  TesStatus status = TES_OK;
  for (int i = 0; i < p->boundaries; i++) {
    to[i].name = p->boundary[i].name;
    for (int c = 0; c < 4; c++) {
      TES_TRY(find_slope(ctx, p->boundary[i].g[c], &to[i].g[c]));
      *any = *any || to[i].g[c];
    }
    TES_TRY(find_slope(ctx, p->boundary[i].alpha, &to[i].alpha));
    *any = *any || to[i].alpha;
  }
done:
  return status;
}

/* Names belong to the case, which outlives the direction. */
static TesStatus find_direction(const TesCase *c, TesVariation *v) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  const TesProblemDesc *p = &c->problem;
  TesMaterial *material = NULL;
  TesBoundary *boundary = NULL;
  bool any = false;
  TES_ALLOC(&material, p->materials + 1);
  v->material = material;
  TES_ALLOC(&boundary, p->boundaries + 1);
  v->boundary = boundary;
  TES_TRY(find_data_slopes(ctx, &p->data, &p->data, &v->data));
  for (; v->materials < p->materials; v->materials++) {
    material[v->materials].name = p->material[v->materials].name;
    TES_TRY(find_data_slopes(ctx, &p->material[v->materials].data, &p->data, &material[v->materials].data));
  }
  TES_TRY(find_boundary_slopes(ctx, p, boundary, &any));
  v->boundaries = any ? p->boundaries : 0;
done:
  return status;
}

static void free_data(TesData *data) {
  const TesFunction **const all[] = {&data->a,    &data->c,    &data->lambda, &data->expansion, &data->f[0],
                                     &data->f[1], &data->f[2], &data->b[0],   &data->b[1],      &data->b[2]};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) tes_function_destroy((TesFunction **)all[i]);
}

static void free_direction(const TesCase *c, TesVariation *v) {
  TesContext *ctx = c ? c->context : NULL;
  TesMaterial *material = (TesMaterial *)v->material;
  TesBoundary *boundary = (TesBoundary *)v->boundary;
  if (!c) return;
  free_data(&v->data);
  for (int i = 0; material && i < c->problem.materials; i++) free_data(&material[i].data);
  for (int i = 0; boundary && i < c->problem.boundaries; i++) {
    for (int k = 0; k < 4; k++) tes_function_destroy((TesFunction **)&boundary[i].g[k]);
    tes_function_destroy((TesFunction **)&boundary[i].alpha);
  }
  tesi_free(ctx, &material);
  tesi_free(ctx, &boundary);
}

/* The mesh must not depend on the datum. */
static TesStatus check_mesh(const TesCase *c, const char *key) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  const TesFunction *const of[] = {c->mesh.map[0], c->mesh.map[1], c->mesh.map[2], c->mesh.refine_where},
                           *slope = NULL;
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    TES_TRY(find_slope(ctx, of[i], &slope));
    if (slope) TES_FAIL(TES_INVALID_INPUT, "%s: mesh: " TESI_CASE_FIXED, c->name, key);
  }
done:
  tes_function_destroy((TesFunction **)&slope);
  return status;
}

/* ---- the derivative ------------------------------------------------------------------------------------ */

/* The state of a gradient during its computation. */
typedef struct Work {
  const TesCase *input;
  TesProblem *problem;
  int count;
  TesCaseDatum *datum;
  TesCase **by;            /* [count] the case, read for each datum */
  TesVariation *variation; /* [count] */
  double *number, *weight; /* [values] */
  double *direct;          /* [count][values] derivative by each datum of the values' own expressions */
  double **cells;          /* [count] contributions to the present value */
} Work;

static TesStatus find_number(const TesCase *c, const char *name, int *number) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  TesiNearest nearest = {.name = name};
  for (*number = 0; *number < c->values && strcmp(c->value[*number].name, name); ++*number)
    tesi_nearest_try(&nearest, c->value[*number].name);
  if (*number == c->values)
    TES_FAIL(TES_INVALID_INPUT, "%s: output.values has no value %.60s%s%s%s", c->name, name,
             nearest.best ? "; did you mean '" : "", nearest.best ? nearest.best : "",
             nearest.best ? "'?" : "");
done:
  return status;
}

/* number <- all values; weight <- the weights of the values that are not derived. */
static TesStatus find_weights(Work *w, int wanted) {
  TesContext *ctx = w->input->context;
  TesStatus status = TES_OK;
  const TesCase *c = w->input;
  TesValue value;
  w->weight[wanted] = 1;
  if (!c->value[wanted].derived) return TES_OK;
  for (int i = 0; i < c->values; i++) {
    if (c->value[i].derived) continue;
    TES_TRY(tes_case_value(c, i, tes_problem_space(w->problem)->mesh, &value));
    TES_TRY(tes_problem_value(w->problem, &value, &w->number[i]));
  }
  tes_case_derive(c, w->number);
  TES_TRY(tesi_case_weigh(c, w->number, w->weight));
done:
  return status;
}

/* The derivatives of the values' own expressions by datum k, with the words of the context of by[k]. */
static TesStatus find_direct(Work *w, int k) {
  TesContext *ctx = w->input->context;
  TesStatus status = TES_OK;
  const TesCase *c = w->by[k];
  TesValue value;
  for (int i = 0; i < c->values; i++) {
    double *direct = &w->direct[k * c->values + i];
    if (w->weight[i] == 0) continue;
    if (c->value[i].derived) {
      TES_TRY(tesi_case_derived_slope(c, i, w->number, direct));
      continue;
    }
    TES_TRY(tes_case_value(c, i, tes_problem_space(w->problem)->mesh, &value));
    TES_TRY(tesi_problem_value_slope(w->problem, &value, direct));
  }
done:
  return status;
}

static TesStatus read_all(Work *w) {
  TesContext *ctx = w->input->context;
  TesStatus status = TES_OK;
  for (int k = 0; k < w->count; k++) {
    TES_TRY(read_again(w->input, w->datum[k].key, &w->by[k]));
    TES_TRY(check_mesh(w->by[k], w->datum[k].key));
    TES_TRY(find_direction(w->by[k], &w->variation[k]));
    TES_TRY(find_direct(w, k));
    w->datum[k].derivative = 0;
    if (!w->datum[k].cells) continue;
    TES_ALLOC(&w->cells[k], tes_mesh_info(tes_problem_space(w->problem)->mesh).cells);
    w->variation[k].cells = w->cells[k];
  }
done:
  return status;
}

/* Adds the contribution of value i. */
static TesStatus add_value(Work *w, int i) {
  TesContext *ctx = w->input->context;
  TesStatus status = TES_OK;
  const TesMesh *mesh = tes_problem_space(w->problem)->mesh;
  const double weight = w->weight[i];
  TesValue value;
  for (int k = 0; k < w->count; k++) w->datum[k].derivative += weight * w->direct[k * w->input->values + i];
  if (w->input->value[i].derived) goto done;
  TES_TRY(tes_case_value(w->input, i, mesh, &value));
  TES_TRY(tes_problem_gradient(w->problem, &value, w->count, w->variation));
  for (int k = 0; k < w->count; k++) {
    w->datum[k].derivative += weight * w->variation[k].derivative;
    for (int64_t c = 0; w->cells[k] && c < mesh->cells; c++) w->datum[k].cells[c] += weight * w->cells[k][c];
  }
done:
  return status;
}

TesStatus tes_case_gradient(const TesCase *input, TesProblem *problem, const char *value, int count,
                            TesCaseDatum *datum) {
  TesContext *ctx = input->context;
  TesStatus status = TES_OK;
  Work w = {.input = input, .problem = problem, .count = count, .datum = datum};
  TesiWords *words = tesi_words_retain(tesi_words_of(ctx));
  int wanted;
  TES_TRY(find_number(input, value, &wanted));
  TES_ALLOC(&w.by, count + 1);
  TES_ALLOC(&w.variation, count + 1);
  TES_ALLOC(&w.cells, count + 1);
  TES_ALLOC(&w.number, input->values);
  TES_ALLOC(&w.weight, input->values);
  TES_ALLOC(&w.direct, (int64_t)(count + 1) * input->values);
  TES_TRY(find_weights(&w, wanted));
  TES_TRY(read_all(&w));
  for (int k = 0; k < count; k++)
    for (int64_t c = 0; datum[k].cells && c < tes_problem_space(problem)->mesh->cells; c++)
      datum[k].cells[c] = 0;
  for (int i = 0; i < input->values; i++)
    if (w.weight[i] != 0) TES_TRY(add_value(&w, i));
done:
  tesi_words_set(ctx, words);
  tesi_words_release(&words);
  for (int k = 0; k < count; k++) {
    if (w.by && w.variation) free_direction(w.by[k], &w.variation[k]);
    if (w.by) tes_case_destroy(&w.by[k]);
    if (w.cells) tesi_free(ctx, &w.cells[k]);
  }
  tesi_free(ctx, &w.by);
  tesi_free(ctx, &w.variation);
  tesi_free(ctx, &w.cells);
  tesi_free(ctx, &w.number);
  tesi_free(ctx, &w.weight);
  tesi_free(ctx, &w.direct);
  return status;
}
