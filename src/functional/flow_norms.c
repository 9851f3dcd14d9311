/* Errors of velocity and pressure, and the norm of the divergence. */
#include <math.h>
#include <string.h>
#include "base/work.h"
#include "functional/flow.h"
#include "parallel/comm.h"

enum {
  MOST = TESI_FLOW_POINTS * TESI_FLOW_POINTS * TESI_FLOW_POINTS,
  VELOCITY = 0,
  PRESSURE,
  DIVERGENCE,
  GRADIENT,
  MEAN,
  SUMS
};

typedef struct Norms {
  const TesiRt *rt;
  TesiFlowTables t;
  const double *u;
  const TesFunction *const *exact; /* NULL: none */
  double mean;                     /* taken away from p - exact */
  bool mean_only;
} Norms;

/* values <- values - exact, squared and summed. */
static double difference(const TesFunction *f, double mean, int count, const double *x, const double *w,
                         double *values, double *exact, double *integral) {
  double sum = 0;
  if (f) tesi_function_values(f, count, x, x + count, x + 2 * count, 0, exact);
  *integral = 0;
  for (int q = 0; q < count; q++) {
    const double e = values[q] - (f ? exact[q] : 0) - mean;
    sum += w[q] * e * e;
    *integral += w[q] * e;
  }
  return sum;
}

/* Derivatives of all components. */
static void add_derivatives(const Norms *n, const int cell[3], int count, const double *w,
                            const double *local, int i, double *values, double *divergence, double *sums) {
  for (int d = 0; d < n->rt->dim; d++) {
    const double h = n->rt->axis[d].h[cell[d]];
    tesi_flow_values(n->rt, &n->t, i, d, local, values);
    for (int q = 0; q < count; q++) {
      const double slope = values[q] / h;
      sums[GRADIENT] += w[q] * slope * slope;
      if (d == i) divergence[q] += slope;
    }
  }
}

static void sum_cell(const Norms *n, const int cell[3], double *work, double *sums) {
  const TesiRt *rt = n->rt;
  double *x = work, *w = x + 3 * MOST, *values = w + MOST, *exact = values + MOST, *local = exact + MOST,
         *divergence = local + MOST, integral;
  const int count = tesi_flow_points(rt, &n->t, cell, x, w), dim = rt->dim;
  if (n->exact && n->exact[dim]) {
    tesi_flow_read(rt, dim, cell, n->u, local);
    tesi_flow_values(rt, &n->t, dim, -1, local, values);
    sums[PRESSURE] += difference(n->exact[dim], n->mean, count, x, w, values, exact, &integral);
    sums[MEAN] += integral;
  }
  if (n->mean_only) return;
  memset(divergence, 0, sizeof *divergence * (size_t)count);
  for (int i = 0; i < dim; i++) {
    tesi_flow_read(rt, i, cell, n->u, local);
    if (n->exact) {
      tesi_flow_values(rt, &n->t, i, -1, local, values);
      sums[VELOCITY] += difference(n->exact[i], 0, count, x, w, values, exact, &integral);
    }
    add_derivatives(n, cell, count, w, local, i, values, divergence, sums);
  }
  for (int q = 0; q < count; q++) sums[DIVERGENCE] += w[q] * divergence[q] * divergence[q];
}

typedef struct Rows {
  const Norms *norms;
  double (*sums)[SUMS], *work; /* [rows], [threads][8 MOST] */
} Rows;

static void sum_rows(const void *data, TesiSpan span) {
  const Rows *rows = data;
  const TesiRtAxis *a = rows->norms->rt->axis;
  for (int64_t r = span.first; r < span.end; r++)
    for (int c = 0; c < a[0].cells; c++)
      sum_cell(rows->norms, (int[]){c, (int)r % a[1].cells, (int)r / a[1].cells},
               rows->work + (int64_t)span.thread * 8 * MOST, rows->sums[r]);
}

/* Row by row of cells, so that the sums do not depend on the threads. */
static TesStatus sum_all(TesContext *ctx, const Norms *n, double total[SUMS]) {
  TesStatus status = TES_OK;
  const int rows = n->rt->axis[1].cells * n->rt->axis[2].cells, threads = tes_context_threads(ctx);
  Rows all = {.norms = n};
  memset(total, 0, SUMS * sizeof *total);
  TES_TRY(tesi_alloc(ctx, (size_t)rows, sizeof *all.sums, &all.sums));
  TES_ALLOC(&all.work, (int64_t)threads * 8 * MOST);
  TES_TRY(tesi_work_for(ctx, threads, rows, sum_rows, &all));
  for (int r = 0; r < rows; r++)
    for (int k = 0; k < SUMS; k++) total[k] += all.sums[r][k];
  tesi_reduce(ctx, TESI_SUM, SUMS, total);
done:
  tesi_free(ctx, &all.sums);
  tesi_free(ctx, &all.work);
  return status;
}

TesStatus tesi_flow_errors(const TesSpace *space, const TesVector *u, const TesFunction *const *exact,
                           bool free, TesiFlowErrors *errors) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  Norms n = {.rt = space->rt, .exact = exact};
  double sums[SUMS], *values = NULL, volume = 1;
  TES_ALLOC(&values, space->length);
  TES_TRY(tes_vector_get(u, values));
  n.u = values;
  tesi_flow_tables(space->rt->n, space->degree + 5, &n.t);
  for (int d = 0; d < space->dim; d++)
    volume *= space->rt->axis[d].x[space->rt->axis[d].cells] - space->rt->axis[d].x[0];
  if (free && exact && exact[space->dim]) {
    n.mean_only = true;
    TES_TRY(sum_all(ctx, &n, sums));
    n.mean_only = false;
    n.mean = sums[MEAN] / volume;
  }
  TES_TRY(sum_all(ctx, &n, sums));
  for (int k = 0; k < SUMS && exact; k++)
    if (!isfinite(sums[k]))
      TES_FAIL(tesi_function_fault(exact[0]), "%sthe exact solution is not finite at a quadrature point",
               tesi_function_where(exact[0]));
  *errors = (TesiFlowErrors){sqrt(sums[VELOCITY]), sqrt(sums[PRESSURE]), sqrt(sums[DIVERGENCE]),
                             sqrt(sums[GRADIENT])};
done:
  tesi_free(ctx, &values);
  return status;
}
