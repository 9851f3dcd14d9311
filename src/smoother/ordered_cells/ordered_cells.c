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

/* ---- factors --------------------------------------------------------------------------------------------- */

/* A pivot that has been lost to round-off is replaced by the largest entry of its row. */
static double safe_pivot(const TesiOrderedCells *p, int64_t i) {
  const double pivot = p->factors[p->diagonal[i]];
  double largest = 0;
  for (int64_t e = p->A.row[i]; e < p->A.row[i + 1]; e++) largest = fmax(largest, fabs(p->A.value[e]));
  return fabs(pivot) > 1e-12 * largest ? pivot : largest > 0 ? largest : 1;
}

/* Row by row: what earlier rows add to entries of the pattern. place[rows] is -1 between rows. */
static void eliminate_row(const TesiOrderedCells *p, int64_t i, int64_t *place) {
  const int64_t *row = p->A.row;
  const int32_t *column = p->A.column;
  double *f = p->factors;
  for (int64_t e = row[i]; e < row[i + 1]; e++) place[column[e]] = e;
  for (int64_t e = row[i]; e < p->diagonal[i]; e++) {
    const int64_t k = column[e];
    const double factor = f[e] *= f[p->diagonal[k]]; /* the inverse stands there */
    for (int64_t other = p->diagonal[k] + 1; other < row[k + 1]; other++)
      if (place[column[other]] >= 0) f[place[column[other]]] -= factor * f[other];
  }
  for (int64_t e = row[i]; e < row[i + 1]; e++) place[column[e]] = -1;
  f[p->diagonal[i]] = 1 / safe_pivot(p, i);
}

static TesStatus factorize(TesContext *ctx, TesiOrderedCells *p) {
  TesStatus status = TES_OK;
  int64_t *place = NULL;
  TES_ALLOC(&p->factors, p->A.entries);
  TES_ALLOC(&p->diagonal, p->A.rows);
  TES_ALLOC(&place, p->A.rows);
  memcpy(p->factors, p->A.value, (size_t)p->A.entries * sizeof *p->factors);
  for (int64_t i = 0; i < p->A.rows; i++) {
    place[i] = -1;
    int64_t e = p->A.row[i];
    while (p->A.column[e] < i) e++;
    p->diagonal[i] = e;
  }
  for (int64_t i = 0; i < p->A.rows; i++) {
    if (i % 1024 == 0) TES_TRY(tesi_work_go_on(ctx));
    eliminate_row(p, i, place);
  }
done:
  tesi_free(ctx, &place);
  return status;
}

/* ---- a step ---------------------------------------------------------------------------------------------- */

/* z <- (L U)^-1 z */
static void solve(const TesiOrderedCells *p, double *z) {
  const int64_t *row = p->A.row;
  const int32_t *column = p->A.column;
  const double *f = p->factors;
  for (int64_t i = 0; i < p->A.rows; i++) {
    double sum = z[i];
    for (int64_t e = row[i]; e < p->diagonal[i]; e++) sum -= f[e] * z[column[e]];
    z[i] = sum;
  }
  for (int64_t i = p->A.rows - 1; i >= 0; i--) {
    double sum = z[i];
    for (int64_t e = p->diagonal[i] + 1; e < row[i + 1]; e++) sum -= f[e] * z[column[e]];
    z[i] = sum * f[p->diagonal[i]];
  }
}

/* p->left <- |v - A (L U)^-1 v| / |v|, v alternating from row to row. */
static void measure(TesiOrderedCells *p) {
  double sum = 0;
  for (int64_t i = 0; i < p->A.rows; i++) p->z[i] = i % 2 ? 1 : -1;
  solve(p, p->z);
  for (int64_t i = 0; i < p->A.rows; i++) {
    double rest = i % 2 ? 1 : -1;
    for (int64_t e = p->A.row[i]; e < p->A.row[i + 1]; e++) rest -= p->A.value[e] * p->z[p->A.column[e]];
    sum += rest * rest;
  }
  p->left = sqrt(sum / (double)tesi_max(1, p->A.rows));
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
  solve(p, p->z);
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
  solve(p, p->z);
  for (int64_t i = 0; i < p->A.rows; i++) p->x[p->order[i]] += smoother->omega * p->z[i];
  TES_TRY(tes_vector_set(&xv, p->x));
done:
  return status;
}

static TesCost cost(const TesSmoother *smoother) {
  const TesiOrderedCells *p = smoother->plan;
  const double entries = (double)p->A.entries, rows = (double)p->A.rows;
  return (TesCost){.flops = 4 * entries, .bytes = 24 * entries + 40 * rows};
}

static void destroy_factors(TesContext *ctx, TesiOrderedCells *p) {
  tesi_matrix_destroy(ctx, &p->A);
  tesi_free(ctx, &p->factors);
  tesi_free(ctx, &p->diagonal);
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
  return 32 * (double)space->mesh->cells * nodes * nodes;
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
  const TesiOrderedCells *p = smoother->plan;
  return isfinite(p->left) ? p->left : INFINITY;
}

static TesStatus create_factors(TesContext *ctx, TesiOrderedCells *p, const TesiMatrix *A) {
  TesStatus status = TES_OK;
  destroy_factors(ctx, p);
  TES_TRY(permute(ctx, A, p->order, &p->A));
  TES_TRY(factorize(ctx, p));
  measure(p);
done:
  return status;
}

static void reverse(int32_t *order, int64_t count) {
  for (int64_t i = 0; i < count / 2; i++) {
    const int32_t other = order[count - 1 - i];
    order[count - 1 - i] = order[i], order[i] = other;
  }
}

/* Where factors along the flow break down, factors against the flow are tried, and the better factors stay. */
static TesStatus create_better_factors(TesContext *ctx, TesiOrderedCells *p, const TesiMatrix *A) {
  TesStatus status = TES_OK;
  TES_TRY(create_factors(ctx, p, A));
  const double along = p->left;
  if (along < TESI_ORDERED_BROKEN) goto done;
  reverse(p->order, A->rows);
  TES_TRY(create_factors(ctx, p, A));
  if (p->left < along || !isfinite(along)) goto done;
  reverse(p->order, A->rows);
  TES_TRY(create_factors(ctx, p, A));
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
  TES_TRY(tesi_operator_probe(op, &A));
  TES_TRY(create_better_factors(ctx, p, &A));
  if (op->local) TES_TRY(create_shares(smoother, passed));
  if (smoother->omega == 0) smoother->omega = 1;
  smoother->symmetric = false;
  snprintf(smoother->description, sizeof smoother->description,
           "cells in the order of the flow, incomplete factors of %.3g entries a row",
           (double)p->A.entries / (double)tesi_max(1, p->A.rows));
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
