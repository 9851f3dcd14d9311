/* Boundary values on the right-hand side: b <- b - A u_D, over the cells that have such values. */
#include "base/team.h"
#include "device/kernel.h"
#include "operator/mapped/mapped.h"
#include "operator/mapped/mapped_robin.h"
#include "space/space.h"

/* The cells with boundary values. */
typedef struct Lift {
  const TesiCellView *s;
  const double *u;
  bool *lifted;        /* [cells of s] */
  const int32_t *cell; /* the entries that are lifted */
  double *x;           /* [lifted][nodes] */
} Lift;

static void find_span(const void *data, TesiSpan span) {
  const Lift *l = data;
  const TesiCellView *s = l->s;
  for (int64_t c = span.first; c < span.end; c++)
    for (int p = 0; p < s->cell_nodes && !l->lifted[c]; p++)
      l->lifted[c] = l->u[tesi_cells_node(s->index[c * s->cell_nodes + p])] != 0;
}

static void read_span(const void *data, TesiSpan span) {
  const Lift *l = data;
  for (int64_t i = span.first; i < span.end; i++)
    tesi_cells_read(l->s, l->cell[i], l->u, l->x + i * l->s->cell_nodes);
}

static void write_span(const void *data, TesiSpan span) {
  const Lift *l = data;
  const TesiCellView *s = l->s;
  for (int64_t i = span.first; i < span.end; i++)
    tesi_hanging_write(s->dim, s->n, s->halves, s->mask[l->cell[i]], l->x + i * s->cell_nodes);
}

static int threads_for(const TesiCellView *s, int64_t cells) {
  return tesi_team_threads(s->context, cells * s->cell_nodes);
}

/* The cells with an entry of u that is not zero. */
static TesStatus find_lifted(TesContext *ctx, const TesiCellView *s, const double *u, int32_t **cell,
                             int64_t *count) {
  TesStatus status = TES_OK;
  bool *lifted = NULL;
  TES_ALLOC(&lifted, s->cells);
  TES_ALLOC(cell, s->cells);
  tesi_team_for(threads_for(s, s->cells), s->cells, find_span, &(Lift){.s = s, .u = u, .lifted = lifted});
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
  tesi_team_for(threads_for(space, cells), cells, read_span,
                &(Lift){.s = space, .u = u, .cell = cell, .x = x});
  TES_TRY(tes_vector_set(v, x));
  TES_TRY(tes_operator_apply(subset, v, w));
  TES_TRY(tes_vector_get(w, x));
done:
  tes_vector_destroy(&v);
  tes_vector_destroy(&w);
  tes_operator_destroy(&subset);
  return status;
}

/* d -= sums over the cells of x, in their order, except at given nodes. */
static void subtract(const TesiCellView *s, const int32_t *cell, int64_t cells, double *x, double *d) {
  tesi_team_for(threads_for(s, cells), cells, write_span, &(Lift){.s = s, .cell = cell, .x = x});
  for (int64_t i = 0; i < cells; i++)
    for (int p = 0; p < s->cell_nodes; p++) {
      const int32_t node = s->index[cell[i] * (int64_t)s->cell_nodes + p];
      if (node >= 0) d[node] -= x[i * s->cell_nodes + p];
    }
}

/* d -= A u on the host, at nodes that are not given. */
static TesStatus subtract_lifted(const TesOperator *op, const TesiCellView *space, const double *u, double *d) {
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
  tesi_mapped_subtract_faces(op, u, d);
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
  TES_ALLOC(&difference, u->length);
  TES_TRY(tesi_vector_read(u, &values));
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
