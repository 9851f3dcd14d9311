/* Boundary values on the right-hand side: b <- b - A u_D, by the cells that touch them. */
#include "device/kernel.h"
#include "operator/mapped/mapped.h"
#include "operator/mapped/mapped_robin.h"
#include "space/space.h"

/* The cells with an entry of u that is not zero. */
static TesStatus find_lifted(TesContext *ctx, const TesiCellView *s, const double *u, int32_t **cell,
                             int64_t *count) {
  TesStatus status = TES_OK;
  bool *lifted = NULL;
  TES_ALLOC(&lifted, s->cells);
  TES_ALLOC(cell, s->cells);
#pragma omp parallel for num_threads(tes_context_threads(ctx)) schedule(static)
  for (int64_t c = 0; c < s->cells; c++)
    for (int p = 0; p < s->cell_nodes && !lifted[c]; p++)
      lifted[c] = u[tesi_cells_node(s->index[c * s->cell_nodes + p])] != 0;
  *count = 0;
  for (int64_t c = 0; c < s->cells; c++)
    if (lifted[c]) (*cell)[(*count)++] = (int32_t)c;
done:
  tesi_free(ctx, &lifted);
  return status;
}

/* x[cells][nodes] <- A u, cell by cell. */
static TesStatus apply_cells(const TesOperator *op, const TesiCellView *space, const int32_t *cell,
                             int64_t cells, const double *u, double *x) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesOperator *subset = NULL;
  TesVector *v = NULL, *w = NULL;
  TES_TRY(tesi_mapped_create_subset(tesi_mapped_of(op), cells, cell, &subset));
  TES_TRY(tes_vector_create(ctx, subset->length, TES_DOUBLE, &v));
  TES_TRY(tes_vector_create(ctx, subset->length, TES_DOUBLE, &w));
#pragma omp parallel for num_threads(tes_context_threads(ctx)) schedule(static)
  for (int64_t i = 0; i < cells; i++) tesi_cells_read(space, cell[i], u, x + i * space->cell_nodes);
  TES_TRY(tes_vector_set(v, x));
  TES_TRY(tes_operator_apply(subset, v, w));
  TES_TRY(tes_vector_get(w, x));
done:
  tes_vector_destroy(&v);
  tes_vector_destroy(&w);
  tes_operator_destroy(&subset);
  return status;
}

/* d -= sums over the cells of x, in their order, but at given nodes. */
static void subtract(const TesiCellView *s, const int32_t *cell, int64_t cells, double *x, double *d) {
#pragma omp parallel for num_threads(tes_context_threads(s->context)) schedule(static)
  for (int64_t i = 0; i < cells; i++)
    tesi_hanging_write(s->dim, s->n, s->halves, s->mask[cell[i]], x + i * s->cell_nodes);
  for (int64_t i = 0; i < cells; i++)
    for (int p = 0; p < s->cell_nodes; p++) {
      const int32_t node = s->index[cell[i] * (int64_t)s->cell_nodes + p];
      if (node >= 0) d[node] -= x[i * s->cell_nodes + p];
    }
}

/* d -= A u on the host, at nodes that are not given. */
static TesStatus subtract_lifted(const TesOperator *op, const TesiCellView *space, const double *u,
                                 double *d) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  int32_t *cell = NULL;
  int64_t cells;
  double *x = NULL;
  TES_TRY(find_lifted(ctx, space, u, &cell, &cells));
  if (!cells) goto done;
  TES_ALLOC(&x, cells * space->cell_nodes);
  TES_TRY(apply_cells(op, space, cell, cells, u, x));
  subtract(space, cell, cells, x, d);
  tesi_forest_subtract_faces(op, u, d);
done:
  tesi_free(ctx, &cell);
  tesi_free(ctx, &x);
  return status;
}

TesStatus tesi_mapped_lift(const TesOperator *op, const TesVector *u, TesVector *b) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  double *values = NULL, *difference = NULL;
  TesVector *d = NULL;
  TES_CHECK(op->space, "an operator without a space subtracts no lifting");
  if (!tesi_has_kernels(ctx)) {
    TES_TRY(subtract_lifted(op, op->space->view, u->data, b->data));
    goto done;
  }
  TES_ALLOC(&values, u->length);
  TES_ALLOC(&difference, u->length);
  TES_TRY(tes_vector_get(u, values));
  TES_TRY(subtract_lifted(op, op->space->view, values, difference));
  TES_TRY(tes_vector_create(ctx, b->length, TES_DOUBLE, &d));
  TES_TRY(tes_vector_set(d, difference));
  TES_TRY(tes_vector_axpy(1, d, b));
done:
  tes_vector_destroy(&d);
  tesi_free(ctx, &values);
  tesi_free(ctx, &difference);
  return status;
}
