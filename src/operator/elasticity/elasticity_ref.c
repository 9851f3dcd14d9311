/* Elasticity from its definition: cell by cell and point by point, gradients of all basis functions in space. */
#include <string.h>
#include "functional/functional_ref.h"
#include "operator/elasticity/elasticity.h"
#include "operator/form.h"
#include "operator/mapped/mapped_robin.h"

static TesStatus value_of(const TesTermDesc *term, int material, const double x[3], double *value) {
  const TesFunction *f = !term ? NULL
                         : material >= 0 && term->a.material && term->a.material[material]
                             ? term->a.material[material]
                             : term->a.all;
  *value = term ? 1 : 0;
  return f ? tes_function_evaluate(f, 1, &x[0], &x[1], &x[2], 0, value) : TES_OK;
}

/* u[dim][nodes]; local[dim][nodes] += the contribution of one point. */
static TesStatus add_point(const TesOperator *op, const TesiPlain *plain, int64_t cell, int p,
                           TesiPlainPoint *at, const double *u, double *local) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesForm *form = &op->desc.form;
  const int dim = plain->dim, nodes = plain->nodes, material = tes_mesh_material(op->space->mesh, cell);
  double mu, lambda, mass, G[3][3] = {{0}}, value[3] = {0}, divergence = 0;
  TES_TRY(tesi_plain_point(plain, cell, -1, p, at));
  TES_TRY(value_of(tesi_form_term(form, TES_TERM_STRAIN, 0), material, at->x, &mu));
  TES_TRY(value_of(tesi_form_term(form, TES_TERM_GRAD_DIV, 0), material, at->x, &lambda));
  TES_TRY(value_of(tesi_form_term(form, TES_TERM_MASS, 0), material, at->x, &mass));
  for (int c = 0; c < dim; c++)
    for (int i = 0; i < nodes; i++) {
      value[c] += at->phi[i] * u[c * nodes + i];
      for (int r = 0; r < dim; r++) G[c][r] += at->slope[r][i] * u[c * nodes + i];
    }
  for (int c = 0; c < dim; c++) divergence += G[c][c];
  for (int c = 0; c < dim; c++)
    for (int i = 0; i < nodes; i++) {
      double sum = mass * value[c] * at->phi[i] + lambda * divergence * at->slope[c][i];
      for (int r = 0; r < dim; r++) sum += mu * (G[c][r] + G[r][c]) * at->slope[r][i];
      local[c * nodes + i] += at->weight * sum;
    }
done:
  return status;
}

/* Given values count as 0. */
static void read(const TesiCellView *s, int64_t cell, const double *x, double *local) {
  const int32_t *index = s->index + cell * s->cell_nodes;
  for (int p = 0; p < s->cell_nodes; p++) local[p] = index[p] < 0 ? 0 : x[index[p]];
  tesi_hanging_read(s->dim, s->n, s->halves, s->mask[cell], local);
}

static void write(const TesiCellView *s, int64_t cell, double *local, double *y) {
  const int32_t *index = s->index + cell * s->cell_nodes;
  tesi_hanging_write(s->dim, s->n, s->halves, s->mask[cell], local);
  for (int p = 0; p < s->cell_nodes; p++)
    if (index[p] >= 0) y[index[p]] += local[p];
}

TesStatus tesi_elasticity_apply_ref(const TesOperator *op, const double *x, double *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiElasticity *e = op->plan;
  const int64_t *first = op->space->part_first;
  const TesiCellView *view[3];
  TesiPlain plain;
  TesiPlainPoint *at = NULL;
  double *u = NULL, *local = NULL;
  TES_TRY(tesi_plain_init(op->space->part[0], op->space->degree + 1, &plain));
  for (int c = 0; c < plain.dim; c++) TES_TRY(tesi_space_cells(op->space->part[c], &view[c]));
  TES_NEW(&at);
  TES_ALLOC(&u, plain.dim * plain.nodes);
  TES_ALLOC(&local, plain.dim * plain.nodes);
  memset(y, 0, (size_t)op->length * sizeof *y);
  for (int64_t cell = 0; cell < plain.cells; cell++) {
    memset(local, 0, (size_t)(plain.dim * plain.nodes) * sizeof *local);
    for (int c = 0; c < plain.dim; c++) read(view[c], cell, x + first[c], u + c * plain.nodes);
    for (int p = 0; p < plain.points; p++) TES_TRY(add_point(op, &plain, cell, p, at, u, local));
    for (int c = 0; c < plain.dim; c++) write(view[c], cell, local + c * plain.nodes, y + first[c]);
  }
  for (int c = 0; c < plain.dim; c++)
    if (e->springs[c]) tesi_robin_add(e->springs[c], TES_DOUBLE, 1, false, x + first[c], y + first[c]);
  for (int64_t i = 0; i < e->constrained; i++) y[e->list[i]] = x[e->list[i]];
done:
  tesi_free(ctx, &at);
  tesi_free(ctx, &u);
  tesi_free(ctx, &local);
  return status;
}
