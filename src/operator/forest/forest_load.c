/* Right-hand sides and boundary values over forests. */
#include <math.h>
#include <string.h>
#include "operator/forest/forest_cells.h"
#include "operator/forest/forest.h"
#include "operator/mapped/mapped.h"

static const TesFunction *source_of(const TesForestLoadDesc *desc, int64_t cell) {
  const int material = desc->material_f ? tes_mesh_material(desc->space->mesh, cell) : -1;
  return material >= 0 && desc->material_f[material] ? desc->material_f[material] : desc->f;
}

/* Point p, direction d stands at x[p * point + d * direction]. */
static TesStatus check_values(TesContext *ctx, const TesFunction *f, int dim, int64_t n, const double *values,
                              const double *x, int64_t point, int64_t direction, int64_t cell) {
  TesStatus status = TES_OK;
  for (int64_t p = 0; p < n; p++) {
    const double *at = x + p * point;
    if (!isfinite(values[p]))
      TES_FAIL(TES_NAN, "%s is %g at (%g, %g, %g) in cell %lld", tes_function_text(f), values[p], at[0],
               at[direction], dim == 3 ? at[2 * direction] : 0, (long long)cell);
  }
done:
  return status;
}

/* local[nodes] += int f phi over a cell. */
static TesStatus add_source(const TesiCellRule *rule, const TesFunction *f, int64_t cell, TesiCellPoints *at,
                            double *local) {
  TesContext *ctx = rule->space->context;
  TesStatus status = TES_OK;
  double value[TESI_CELL_POINTS];
  const int64_t n = rule->points;
  tesi_cell_points(rule, cell, at);
  tesi_function_values(f, n, at->x, at->x + n, at->x + 2 * n, 0, value);
  TES_TRY(check_values(ctx, f, 3, n, value, at->x, 1, n, cell));
  for (int64_t p = 0; p < n; p++) value[p] *= at->weight[p];
  tesi_cell_project(rule, -1, value, local);
done:
  return status;
}

static TesStatus add_flux(const TesiFaceRule *rule, const TesForestLoadDesc *desc, const TesFunction *g,
                          int64_t cell, int face, double *local) {
  TesContext *ctx = desc->space->context;
  TesStatus status = TES_OK;
  double x[3 * TESI_FACE_MOST], weight[TESI_FACE_MOST], value[TESI_FACE_MOST], out[TESI_FACE_MOST] = {0};
  TES_TRY(tesi_face_geometry(rule, desc->space->mesh->geometry, cell, face, x, weight, NULL));
  tesi_face_values(rule, g, x, value);
  TES_TRY(check_values(ctx, g, rule->dim, rule->points, value, x, rule->dim, 1, cell));
  for (int p = 0; p < rule->points; p++) value[p] *= weight[p];
  tesi_face_project(rule, value, out);
  for (int a = 0; a < rule->nodes; a++) local[tesi_face_node(rule->dim, rule->n, face, a)] += out[a];
done:
  return status;
}

static const TesFunction *flux_of(const TesForestLoadDesc *desc, int64_t cell, int face) {
  int name;
  if (!desc->g || !tes_mesh_on_boundary(desc->space->mesh, cell, face, &name) || name < 0) return NULL;
  return tes_space_given(desc->space, name) ? NULL : desc->g[name];
}

static void clear_dirichlet(const TesiCellView *s, double *b) {
  for (int64_t i = 0; i < s->cells * s->cell_nodes; i++)
    if (s->index[i] < 0) b[~s->index[i]] = 0;
}

TesStatus tes_forest_load(const TesForestLoadDesc *desc, double *b) {
  TesContext *ctx = desc->space->context;
  TesStatus status = TES_OK;
  const TesiCellView *s = desc->space->view;
  const TesGeometry *geometry;
  TesiCellRule *rule = NULL;
  TesiCellPoints *at = NULL;
  TesiFaceRule face_rule;
  double local[TESI_CELL_MOST];
  TES_TRY(tesi_mesh_geometry(desc->space->mesh, &geometry));
  TES_NEW(&rule);
  TES_NEW(&at);
  tesi_cell_rule(s, s->degree + 3, rule);
  tesi_face_rule(s->dim, s->degree, s->degree + 3, &face_rule);
  memset(b, 0, (size_t)s->length * sizeof *b);
  for (int64_t c = 0; c < s->cells; c++) {
    const TesFunction *f = source_of(desc, c);
    memset(local, 0, sizeof local);
    if (f) TES_TRY(add_source(rule, f, c, at, local));
    for (int face = 0; face < 2 * s->dim; face++) {
      const TesFunction *g = flux_of(desc, c, face);
      if (g) TES_TRY(add_flux(&face_rule, desc, g, c, face, local));
    }
    tesi_cells_add(s, c, local, b);
  }
  clear_dirichlet(s, b);
done:
  tesi_free(ctx, &rule);
  tesi_free(ctx, &at);
  return status;
}

/* boundary[node]: number of the boundary of a Dirichlet node, -1 elsewhere. */
static void mark_nodes(const TesiCellView *s, const TesFunction *const *g, int32_t *boundary) {
  for (int64_t i = 0; i < s->length; i++) boundary[i] = -1;
  for (int64_t c = 0; c < s->cells; c++)
    for (int f = 0, name; f < 2 * s->dim; f++) {
      if (!tes_mesh_on_boundary(s->mesh, c, f, &name) || name < 0) continue;
      if (!tesi_cells_given(s, name) || !g[name]) continue;
      const int nodes = s->dim == 3 ? s->n * s->n : s->n;
      for (int i = 0; i < nodes; i++) {
        const int32_t index = s->index[c * s->cell_nodes + tesi_face_node(s->dim, s->n, f, i)];
        int32_t *to = &boundary[index < 0 ? ~index : index];
        *to = tesi_max(*to, name);
      }
    }
}

TesStatus tes_forest_lifting(const TesSpace *space, const TesFunction *const *g, double *u) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  int32_t *boundary = NULL;
  double *x = NULL;
  TES_ALLOC(&boundary, space->length);
  TES_ALLOC(&x, space->length * space->dim);
  memset(u, 0, (size_t)space->length * sizeof *u);
  if (!g) goto done;
  mark_nodes(space->view, g, boundary);
  TES_TRY(tes_space_coordinates(space, x));
  for (int64_t i = 0; i < space->length; i++) {
    const double *at = x + i * space->dim, z = space->dim == 3 ? at[2] : 0;
    if (boundary[i] < 0) continue;
    TES_TRY(tes_function_evaluate(g[boundary[i]], 1, at, at + 1, &z, 0, &u[i]));
  }
done:
  tesi_free(ctx, &boundary);
  tesi_free(ctx, &x);
  return status;
}

/* The cells with an entry of u that is not zero. */
static TesStatus find_lifted(TesContext *ctx, const TesiCellView *s, const double *u, int32_t **cell,
                             int64_t *count) {
  TesStatus status = TES_OK;
  TES_ALLOC(cell, s->cells);
  *count = 0;
  for (int64_t c = 0; c < s->cells; c++) {
    bool any = false;
    for (int p = 0; p < s->cell_nodes && !any; p++) {
      const int32_t i = s->index[c * s->cell_nodes + p];
      any = u[i < 0 ? ~i : i] != 0;
    }
    if (any) (*cell)[(*count)++] = (int32_t)c;
  }
done:
  return status;
}

TesStatus tes_forest_subtract_lifting(const TesOperator *op, const TesSpace *of, const double *u, double *b) {
  const TesiCellView *space = of->view;
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  int32_t *cell = NULL;
  int64_t cells;
  double *x = NULL;
  TesOperator *subset = NULL;
  TesVector *v = NULL, *w = NULL;
  TES_TRY(find_lifted(ctx, space, u, &cell, &cells));
  if (cells) {
    TES_TRY(tesi_mapped_create_subset(tesi_forest_inner(op)->mapped, cells, cell, &subset));
    TES_TRY(tes_vector_create(ctx, subset->length, TES_DOUBLE, &v));
    TES_TRY(tes_vector_create(ctx, subset->length, TES_DOUBLE, &w));
    TES_ALLOC(&x, subset->length);
    for (int64_t i = 0; i < cells; i++) tesi_cells_read(space, cell[i], u, x + i * space->cell_nodes);
    TES_TRY(tes_vector_set(v, x));
    TES_TRY(tes_operator_apply(subset, v, w));
    TES_TRY(tes_vector_get(w, x));
    for (int64_t i = 0; i < subset->length; i++) x[i] = -x[i];
    for (int64_t i = 0; i < cells; i++) tesi_cells_add(space, cell[i], x + i * space->cell_nodes, b);
    tesi_forest_subtract_faces(op, u, b);
  }
  clear_dirichlet(space, b);
done:
  tesi_free(ctx, &cell);
  tesi_free(ctx, &x);
  tes_vector_destroy(&v);
  tes_vector_destroy(&w);
  tes_operator_destroy(&subset);
  return status;
}
