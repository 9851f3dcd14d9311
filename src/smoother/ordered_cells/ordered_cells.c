#include "smoother/ordered_cells/ordered_cells.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/ascending.h"
#include "operator/transport/transport_operator.h"
#include "space/space.h"

/* ---- the matrix in the order of the sweep --------------------------------------------------------------- */

typedef struct Entry {
  int32_t column;
  double value;
} Entry;

/* to <- rows and columns of `from` in the order of the sweep. */
static TesStatus permute(TesContext *ctx, const TesiMatrix *from, const int32_t *order, TesiMatrix *to) {
  TesStatus status = TES_OK;
  int32_t *rank = NULL;
  Entry *line = NULL;
  int64_t longest = 0;
  for (int64_t i = 0; i < from->rows; i++) longest = tesi_max(longest, from->row[i + 1] - from->row[i]);
  TES_ALLOC(&rank, from->rows);
  TES_ALLOC(&line, longest);
  TES_ALLOC(&to->row, from->rows + 1);
  TES_ALLOC(&to->column, from->entries);
  TES_ALLOC(&to->value, from->entries);
  to->rows = from->rows, to->entries = from->entries;
  for (int64_t i = 0; i < from->rows; i++) rank[order[i]] = (int32_t)i;
  for (int64_t i = 0; i < from->rows; i++) {
    const int64_t first = from->row[order[i]], count = from->row[order[i] + 1] - first, at = to->row[i];
    for (int64_t e = 0; e < count; e++)
      line[e] = (Entry){rank[from->column[first + e]], from->value[first + e]};
    qsort(line, (size_t)count, sizeof *line, tesi_ascending_int32);
    for (int64_t e = 0; e < count; e++)
      to->column[at + e] = line[e].column, to->value[at + e] = line[e].value;
    to->row[i + 1] = at + count;
  }
done:
  tesi_free(ctx, &rank);
  tesi_free(ctx, &line);
  return status;
}

/* ---- a step ---------------------------------------------------------------------------------------------- */

/* p->left <- |v - A (L U)^-1 v| / |v| in units of p->poor, v alternating from row to row. */
static void measure(TesiOrderedCells *p) {
  double sum = 0;
  p->left = INFINITY;
  if (p->factors.failed) return;
  for (int64_t i = 0; i < p->A.rows; i++) p->z[i] = i % 2 ? 1 : -1;
  tesi_incomplete_solve(&p->factors, p->z);
  for (int64_t i = 0; i < p->A.rows; i++) {
    double rest = i % 2 ? 1 : -1;
    for (int64_t e = p->A.row[i]; e < p->A.row[i + 1]; e++) rest -= p->A.value[e] * p->z[p->A.column[e]];
    sum += rest * rest;
  }
  const double left = sqrt(sum / (double)tesi_max(1, p->A.rows)) / p->poor;
  if (isfinite(left)) p->left = left;
}

/* x <- x + omega z, of several ranks. b is in p->b where the guess is zero. */
static TesStatus apply_on_ranks(const TesSmoother *smoother, const void *b, TesVector *x, bool zero_guess) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesiOrderedCells *p = smoother->plan;
  const TesOperator *op = smoother->op;
  if (!zero_guess) {
    TES_TRY(op->table->residual(op, b, x->data, p->r->data));
    TES_TRY(tes_vector_get(p->r, p->b));
  }
  for (int64_t i = 0; i < p->A.rows; i++) p->z[i] = p->b[p->order[i]];
  tesi_incomplete_solve(&p->factors, p->z);
  for (int64_t i = 0; i < p->A.rows; i++) p->b[p->order[i]] = p->share[p->order[i]] * p->z[i];
  tesi_exchange_sum(op->space->layout->sum, TES_DOUBLE, p->b);
  for (int64_t i = 0; i < p->A.rows; i++) p->x[i] += smoother->omega * p->b[i];
  TES_TRY(tes_vector_set(x, p->x));
done:
  return status;
}

static TesStatus apply(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep, bool zero_guess) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesiOrderedCells *p = smoother->plan;
  const TesOperator *op = smoother->op;
  TesVector bv = {.context = ctx, .length = op->length, .precision = op->precision, .data = (void *)b},
            xv = {.context = ctx, .length = op->length, .precision = op->precision, .data = x};
  (void)sweep;
  TES_TRY(tes_vector_get(&bv, p->b));
  if (zero_guess)
    memset(p->x, 0, (size_t)op->length * sizeof *p->x);
  else
    TES_TRY(tes_vector_get(&xv, p->x));
  if (p->share) return apply_on_ranks(smoother, b, &xv, zero_guess);
  for (int64_t i = 0; i < p->A.rows; i++) {
    double sum = p->b[p->order[i]];
    for (int64_t e = p->A.row[i]; !zero_guess && e < p->A.row[i + 1]; e++)
      sum -= p->A.value[e] * p->x[p->order[p->A.column[e]]];
    p->z[i] = sum;
  }
  tesi_incomplete_solve(&p->factors, p->z);
  for (int64_t i = 0; i < p->A.rows; i++) p->x[p->order[i]] += smoother->omega * p->z[i];
  TES_TRY(tes_vector_set(&xv, p->x));
done:
  return status;
}

static TesCost cost(const TesSmoother *smoother) {
  const TesiOrderedCells *p = smoother->plan;
  const double entries = (double)(p->A.entries + p->factors.F.entries), rows = (double)p->A.rows;
  return (TesCost){.flops = 2 * entries, .bytes = 12 * entries + 40 * rows};
}

static void destroy_factors(TesContext *ctx, TesiOrderedCells *p) {
  tesi_matrix_destroy(ctx, &p->A);
  tesi_incomplete_free(ctx, &p->factors);
}

static void destroy(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesiOrderedCells *p = smoother->plan;
  if (!p) return;
  destroy_factors(ctx, p);
  tesi_free(ctx, &p->order);
  tesi_free(ctx, &p->b);
  tesi_free(ctx, &p->x);
  tesi_free(ctx, &p->z);
  tesi_free(ctx, &p->share);
  tes_vector_destroy(&p->r);
  tesi_free(ctx, &smoother->plan);
}

static const TesiSmootherTable table = {
    .apply = apply, .apply_ref = tesi_ordered_cells_apply_ref, .cost = cost, .destroy = destroy};

double tesi_ordered_cells_bytes(const TesSpace *space) {
  const double nodes = pow(space->degree + 1, space->dim);
  return 48 * (double)space->mesh->cells * nodes * nodes;
}

/* share <- of what ranks add at shared unknowns; passed: see tesi_ordered_cells_order(). */
static TesStatus create_shares(TesSmoother *smoother, double *passed) {
  enum { LITTLE = -200 }; /* power of ten: where the flow comes through the cells of no rank */
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  TesiOrderedCells *p = smoother->plan;
  const TesOperator *op = smoother->op;
  const int32_t *entry;
  const int64_t shared = tesi_exchange_entries(op->space->layout->sum, &entry);
  TES_ALLOC(&p->share, op->length);
  TES_TRY(tesi_operator_new_vector(op, TES_DOUBLE, &p->r));
  for (int64_t i = 0; i < op->length; i++) p->share[i] = 1, passed[i] += pow(10, LITTLE);
  for (int64_t i = 0; i < shared; i++) p->share[entry[i]] = passed[entry[i]];
  tesi_exchange_sum(op->space->layout->sum, TES_DOUBLE, passed);
  for (int64_t i = 0; i < shared; i++) p->share[entry[i]] /= passed[entry[i]];
done:
  return status;
}

double tesi_ordered_cells_left(const TesSmoother *smoother) {
  if (!smoother || smoother->kind != TES_SMOOTHER_ORDERED_CELLS) return 0;
  return ((const TesiOrderedCells *)smoother->plan)->left;
}

static void reverse(int32_t *order, int64_t count) {
  for (int64_t i = 0; i < count / 2; i++) {
    const int32_t other = order[count - 1 - i];
    order[count - 1 - i] = order[i], order[i] = other;
  }
}

/* The ways to make factors, from the cheapest one on. */
static const struct {
  bool against; /* the flow */
  double drop;
} ways[] = {{false, 0}, {false, 0.02}, {true, 0}, {true, 0.02}};
enum { WAYS = sizeof ways / sizeof *ways };

/* *reversed: whether the order is against the flow. */
static TesStatus create_factors(TesContext *ctx, TesiOrderedCells *p, const TesiMatrix *A, int way,
                                bool *reversed) {
  TesStatus status = TES_OK;
  destroy_factors(ctx, p);
  if (*reversed != ways[way].against) reverse(p->order, A->rows);
  *reversed = ways[way].against;
  TES_TRY(permute(ctx, A, p->order, &p->A));
  p->drop = ways[way].drop;
  TES_TRY(tesi_incomplete_create(ctx, &p->A, p->drop, &p->factors));
  measure(p);
done:
  return status;
}

/* The first factors that leave little, or else the best ones. */
static TesStatus create_good_factors(TesContext *ctx, TesiOrderedCells *p, const TesiMatrix *A) {
  TesStatus status = TES_OK;
  double least = INFINITY;
  int way = 0, best = 0;
  bool reversed = false;
  for (; way < WAYS; way++) {
    TES_TRY(create_factors(ctx, p, A, way, &reversed));
    if (p->left < least) least = p->left, best = way;
    if (p->left < 1) goto done;
  }
  if (best != WAYS - 1) TES_TRY(create_factors(ctx, p, A, best, &reversed));
done:
  return status;
}

static TesStatus init(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesOperator *op = smoother->op;
  TesiMatrix A = {0};
  TesiOrderedCells *p;
  double *passed = NULL;
  int64_t longest;
  smoother->table = &table;
  TES_NEW(&p);
  smoother->plan = p;
  TES_ALLOC(&p->order, op->length);
  TES_ALLOC(&p->b, op->length);
  TES_ALLOC(&p->x, op->length);
  TES_ALLOC(&p->z, op->length);
  TES_ALLOC(&passed, op->length);
  TES_TRY(tesi_ordered_cells_order(op, p->order, &longest, passed));
  p->poor = longest > TESI_ORDERED_PATH ? 0.3 : 3;
  TES_TRY(tesi_operator_probe(op, &A));
  TES_TRY(create_good_factors(ctx, p, &A));
  if (op->local) TES_TRY(create_shares(smoother, passed));
  if (smoother->omega == 0) smoother->omega = 1;
  smoother->symmetric = false;
  snprintf(smoother->description, sizeof smoother->description,
           "cells in the order of the flow, incomplete factors of %.3g entries per row",
           (double)p->factors.F.entries / (double)tesi_max(1, p->A.rows));
done:
  tesi_free(ctx, &passed);
  tesi_matrix_destroy(ctx, &A);
  return status;
}

static const char *refuses(const TesSmoother *smoother) {
  const TesOperator *op = smoother->op;
  return !tesi_transport_of(op) ? "it is for transport with its velocity, steady or with one that stays"
         : tesi_is_upwind(op)   ? "elements dg have cell_patch, whose cells are in this order"
         : op->precision == TES_SINGLE ? "it is in float64"
                                       : NULL;
}

const TesiSmootherKind tesi_smoother_ordered_cells = {TESI_SMOOTHES(TES_SMOOTHER_ORDERED_CELLS), refuses,
                                                      init};
