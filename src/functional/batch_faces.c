/* See batch_faces.h. */
#include "functional/batch_faces.h"
#include "base/team.h"
#include <math.h>
#include "basis/lagrange.h"
#include "mesh/inner_faces.h"

/* The tables of the rule's points. */
static void fill_tables(const TesiGeometry *geometry, TesiFaceRule *rule) {
  static const double ends[2] = {0, 1};
  double node[TESI_MAX_POINTS];
  const int q = rule->q;
  tesi_gauss_lobatto(rule->n, node, NULL);
  tesi_lagrange(rule->n, node, q, rule->point, rule->B, rule->G);
  if (!geometry) return;
  rule->m = geometry->degree + 1;
  tesi_geometry_tables(geometry, q, rule->point, rule->geometry_B, rule->geometry_G);
  tesi_gauss_lobatto(rule->m, node, NULL);
  tesi_lagrange(rule->m, node, 2, ends, NULL, rule->ends);
}

static TesiFaceRule new_rule(int dim, int degree, int q) {
  const int n = degree + 1;
  return (TesiFaceRule){
      .dim = dim, .n = n, .q = q, .nodes = dim == 3 ? n * n : n, .points = dim == 3 ? q * q : q};
}

void tesi_face_rule(int dim, int degree, int q, const TesiGeometry *geometry, TesiFaceRule *rule) {
  *rule = new_rule(dim, degree, q);
  tesi_gauss(q, rule->point, rule->weight);
  fill_tables(geometry, rule);
}

void tesi_face_node_rule(int dim, int degree, const TesiGeometry *geometry, TesiFaceRule *rule) {
  *rule = new_rule(dim, degree, degree + 1);
  tesi_gauss_lobatto(degree + 1, rule->point, rule->weight);
  fill_tables(geometry, rule);
}

int tesi_face_node(int dim, int n, int face, int i) {
  const int step[3] = {1, n, n * n}, d = face / 2;
  const int e = d == 0 ? 1 : 0, f = d == 2 ? 1 : 2;
  return (face & 1 ? n - 1 : 0) * step[d] + i % n * step[e] + (dim == 3 ? i / n * step[f] : 0);
}

void tesi_face_points(const TesiFaceRule *rule, const TesiGeometry *geometry, int64_t cell, int face,
                      double *x, double *weight, double *normal) {
  const int dim = rule->dim, q = rule->q, points = rule->points;
  const TesiFaceTables tables = {.n = rule->m,
                                 .q = q,
                                 .B = {rule->geometry_B, rule->geometry_B},
                                 .G = {rule->geometry_G, rule->geometry_G},
                                 .ends = rule->ends};
  double J[9 * TESI_TENSOR_FACE_POINTS * TESI_TENSOR_FACE_POINTS];
  tesi_geometry_face(geometry, cell, face, &tables, x, J);
  for (int p = 0; p < points; p++) {
    double at[9], n[3] = {0}, size = 0;
    for (int e = 0; e < dim * dim; e++) at[e] = J[e * points + p];
    tesi_face_normal(dim, at, face, n);
    for (int r = 0; r < dim; r++) size += n[r] * n[r];
    size = sqrt(size);
    weight[p] = rule->weight[p % q] * (dim == 3 ? rule->weight[p / q] : 1) * size;
    for (int r = 0; normal && r < 3; r++) normal[r * points + p] = n[r] / size;
  }
}

void tesi_face_geometry(const TesiFaceRule *rule, const TesiGeometry *geometry, int64_t cell, int face,
                        double *x, double *weight, double *normal) {
  double at[3 * TESI_FACE_MOST], n[3 * TESI_FACE_MOST];
  tesi_face_points(rule, geometry, cell, face, at, weight, n);
  for (int p = 0; p < rule->points; p++)
    for (int d = 0; d < rule->dim; d++) {
      x[p * rule->dim + d] = at[d * rule->points + p];
      if (normal) normal[p * rule->dim + d] = n[d * rule->points + p];
    }
}

TesStatus tesi_boundary_values(const TesFunction *f, int n, const double *x, const double *normal,
                               double *values) {
  TesContext *ctx = tesi_function_context(f);
  TesStatus status = TES_OK;
  if (!tesi_function_uses(f)) return tes_function_evaluate(f, n, x, x + n, x + 2 * n, 0, values);
  const double *const more[3] = {normal, normal + n, normal + 2 * n};
  tesi_function_values_over(f, n, x, x + n, x + 2 * n, 0, more, values);
  for (int i = 0; i < n; i++)
    if (!isfinite(values[i]))
      TES_FAIL(tesi_function_fault(f), "%s%s is %g at (%.6g, %.6g, %.6g)", tesi_function_where(f),
               tes_function_text(f), values[i], x[i], x[n + i], x[2 * n + i]);
done:
  return status;
}

void tesi_face_values(const TesiFaceRule *rule, const TesFunction *f, const double *x, double *value) {
  double at[3][TESI_FACE_MOST] = {{0}};
  for (int p = 0; p < rule->points; p++)
    for (int d = 0; d < rule->dim; d++) at[d][p] = x[p * rule->dim + d];
  tesi_function_values(f, rule->points, at[0], at[1], at[2], 0, value);
}

void tesi_face_interpolate(const TesiFaceRule *rule, const double *u, double *at) {
  const int n = rule->n, q = rule->q, lines = rule->dim == 3 ? n : 1;
  double rows[TESI_MAX_POINTS * TESI_MAX_POINTS];
  for (int j = 0; j < lines; j++)
    for (int p = 0; p < q; p++) {
      double sum = 0;
      for (int i = 0; i < n; i++) sum += rule->B[p * n + i] * u[j * n + i];
      (lines > 1 ? rows : at)[j * q + p] = sum;
    }
  for (int s = 0; lines > 1 && s < q; s++)
    for (int p = 0; p < q; p++) {
      double sum = 0;
      for (int j = 0; j < n; j++) sum += rule->B[s * n + j] * rows[j * q + p];
      at[s * q + p] = sum;
    }
}

void tesi_face_project(const TesiFaceRule *rule, const double *at, double *u) {
  const int n = rule->n, q = rule->q, lines = rule->dim == 3 ? n : 1;
  double rows[TESI_MAX_POINTS * TESI_MAX_POINTS];
  for (int j = 0; j < lines; j++)
    for (int p = 0; p < q; p++) {
      double sum = lines > 1 ? 0 : at[p];
      for (int s = 0; lines > 1 && s < q; s++) sum += rule->B[s * n + j] * at[s * q + p];
      rows[j * q + p] = sum;
    }
  for (int j = 0; j < lines; j++)
    for (int i = 0; i < n; i++)
      for (int p = 0; p < q; p++) u[j * n + i] += rule->B[p * n + i] * rows[j * q + p];
}

/* ---- which faces ------------------------------------------------------------------------------------------------- */

static int64_t cells_of_face(const TesSpace *space, int face) {
  int64_t cells = 1;
  for (int d = 0; d < space->dim; d++) cells *= d == face / 2 ? 1 : space->axis[d].cells;
  return cells;
}

/* The i-th cell at a face. */
static int64_t cell_at(const TesSpace *space, int face, int64_t i) {
  int64_t cell = 0, stride = 1;
  for (int d = 0; d < space->dim; d++) {
    const int cells = space->axis[d].cells;
    if (d == face / 2) {
      cell += (face % 2 ? cells - 1 : 0) * stride;
    } else {
      cell += i % cells * stride;
      i /= cells;
    }
    stride *= cells;
  }
  return cell;
}

/* Faces of a box; cuts between ranks are no boundary. */
static bool is_wanted(const TesiBatches *b, const bool *wanted, int face) {
  return wanted[face] && !tesi_mesh_cut(b->space->mesh, face);
}

static TesStatus faces_of_box(const TesiBatches *b, const bool *wanted, TesiBoundaryFace **face,
                              int64_t *count) {
  TesContext *ctx = b->context;
  TesStatus status = TES_OK;
  int64_t at = 0;
  for (int f = 0; f < b->boundaries; f++) at += is_wanted(b, wanted, f) ? cells_of_face(b->box, f) : 0;
  TES_ALLOC(face, at);
  for (int f = 0; f < b->boundaries; f++)
    for (int64_t i = 0; is_wanted(b, wanted, f) && i < cells_of_face(b->box, f); i++)
      (*face)[(*count)++] = (TesiBoundaryFace){cell_at(b->box, f, i), f, f};
done:
  return status;
}

/* Faces of a span of cells: they are counted, or (face) written from `first` of the thread on. */
typedef struct CellFaces {
  const TesiBatches *b;
  const bool *wanted;
  bool (*has_name)(const TesMesh *mesh, int64_t cell, int face, int *boundary);
  TesiBoundaryFace *face;
  int64_t *first; /* [threads + 1] */
} CellFaces;

static void find_faces(const void *data, TesiSpan span) {
  const CellFaces *s = data;
  int64_t at = s->face ? s->first[span.thread] : 0;
  for (int64_t c = span.first; c < span.end; c++)
    for (int f = 0, name; f < 2 * s->b->dim; f++) {
      if (!s->has_name(s->b->space->mesh, c, f, &name) || name < 0 || !s->wanted[name]) continue;
      if (s->face) s->face[at] = (TesiBoundaryFace){c, f, name};
      at++;
    }
  if (!s->face) s->first[span.thread + 1] = at;
}

static TesStatus faces_of_cells(const TesiBatches *b, const bool *wanted, bool inner, TesiBoundaryFace **face,
                                int64_t *count) {
  TesContext *ctx = b->context;
  TesStatus status = TES_OK;
  const int threads = tesi_team_threads(ctx, 6 * b->cells);
  CellFaces s = {b, wanted, inner ? tesi_mesh_has_name : tes_mesh_on_boundary, NULL, NULL};
  TES_ALLOC(&s.first, threads + 1);
  tesi_team_for(threads, b->cells, find_faces, &s);
  for (int t = 0; t < threads; t++) s.first[t + 1] += s.first[t];
  *count = s.first[threads];
  TES_ALLOC(face, *count);
  s.face = *face;
  if (*count) tesi_team_for(threads, b->cells, find_faces, &s);
done:
  tesi_free(ctx, &s.first);
  return status;
}

TesStatus tesi_boundary_faces(const TesiBatches *b, const bool *wanted, bool inner, TesiBoundaryFace **face,
                              int64_t *count) {
  bool any = false;
  for (int i = 0; i < b->boundaries; i++) any = any || wanted[i];
  *face = NULL;
  *count = 0;
  if (!any) return TES_OK;
  return b->box ? faces_of_box(b, wanted, face, count) : faces_of_cells(b, wanted, inner, face, count);
}

void tesi_box_clear(const TesSpace *space, double *values) {
  for (int face = 0; face < 2 * space->dim; face++)
    for (int64_t i = 0;
         space->axis[face / 2].end[face % 2] == TESI_STRONG && i < tesi_box_face_nodes(space, face); i++)
      values[tesi_box_face_node(space, face, i)] = 0;
}
