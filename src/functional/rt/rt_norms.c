/* Errors of velocity and pressure, and the norm of the divergence; errors of element dg. */
#include <math.h>
#include <string.h>
#include "base/work.h"
#include "functional/rt/rt_functional.h"
#include "parallel/comm.h"

enum {
  MOST = TESI_RT_POINTS * TESI_RT_POINTS * TESI_RT_POINTS,
  VELOCITY = 0,
  PRESSURE,
  DIVERGENCE,
  GRADIENT,
  MEAN,
  SUMS
};

typedef struct Norms {
  const TesSpace *space;
  TesiRtTables t;
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
  for (int d = 0; d < n->space->dim; d++) {
    const double h = tesi_modal(n->space, d)->h[cell[d]];
    tesi_rt_values(n->space, &n->t, i, d, local, values);
    for (int q = 0; q < count; q++) {
      const double slope = values[q] / h;
      sums[GRADIENT] += w[q] * slope * slope;
      if (d == i) divergence[q] += slope;
    }
  }
}

static void sum_cell(const Norms *n, const int cell[3], double *work, double *sums) {
  const TesSpace *space = n->space;
  double *x = work, *w = x + 3 * MOST, *values = w + MOST, *exact = values + MOST, *local = exact + MOST,
         *divergence = local + MOST, integral;
  const int count = tesi_rt_points(space, &n->t, cell, x, w), dim = space->dim;
  if (n->exact && n->exact[dim]) {
    tesi_rt_read(space, dim, cell, n->u, local);
    tesi_rt_values(space, &n->t, dim, -1, local, values);
    sums[PRESSURE] += difference(n->exact[dim], n->mean, count, x, w, values, exact, &integral);
    sums[MEAN] += integral;
  }
  if (n->mean_only) return;
  memset(divergence, 0, sizeof *divergence * (size_t)count);
  for (int i = 0; i < dim; i++) {
    tesi_rt_read(space, i, cell, n->u, local);
    if (n->exact) {
      tesi_rt_values(space, &n->t, i, -1, local, values);
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
  const TesiAxis *a = tesi_space_last(rows->norms->space)->axis;
  for (int64_t r = span.first; r < span.end; r++)
    for (int c = 0; c < a[0].cells; c++)
      sum_cell(rows->norms, (int[]){c, (int)r % a[1].cells, (int)r / a[1].cells},
               rows->work + (int64_t)span.thread * 8 * MOST, rows->sums[r]);
}

/* Row by row of cells, so that the sums do not depend on the threads. */
static TesStatus sum_all(TesContext *ctx, const Norms *n, double total[SUMS]) {
  TesStatus status = TES_OK;
  const int rows = tesi_modal(n->space, 1)->cells * tesi_modal(n->space, 2)->cells,
            threads = tes_context_threads(ctx);
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

TesStatus tesi_rt_errors(const TesSpace *space, const TesVector *u, const TesFunction *const *exact,
                         bool free, TesiRtErrors *errors) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  Norms n = {.space = space, .exact = exact};
  double sums[SUMS], *values = NULL, volume = 1;
  TES_TRY(tesi_vector_read(u, &values));
  n.u = values;
  tesi_rt_tables(space->degree + 1, space->degree + 5, &n.t);
  for (int d = 0; d < space->dim; d++) {
    const TesiAxis *a = tesi_modal(space, d);
    volume *= a->vertices[a->cells] - a->vertices[0];
  }
  tesi_reduce(ctx, TESI_SUM, 1, &volume);
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
  *errors = (TesiRtErrors){sqrt(sums[VELOCITY]), sqrt(sums[PRESSURE]), sqrt(sums[DIVERGENCE]),
                           sqrt(sums[GRADIENT])};
done:
  tesi_free(ctx, &values);
  return status;
}

/* ---- element dg ---------------------------------------------------------------------------------------- */

typedef struct Errors {
  TesContext *context;
  const TesSpace *space;
  TesiRtTables t;
  const double *u;
  double *x, *w, *local, *values, *exact; /* [3 MOST] and [MOST] */
  double sums[2];
} Errors;

/* *sum += int (values factor - f)^2. */
static TesStatus add_square(Errors *e, int count, const TesFunction *f, double factor, double *sum) {
  TesContext *ctx = e->context;
  TesStatus status = TES_OK;
  TES_TRY(tes_function_evaluate(f, count, e->x, e->x + count, e->x + 2 * count, 0, e->exact));
  for (int q = 0; q < count; q++) {
    const double d = factor * e->values[q] - e->exact[q];
    *sum += e->w[q] * d * d;
  }
done:
  return status;
}

static TesStatus add_cell(Errors *e, int64_t number, const TesFunction *exact, TesFunction *const *gradient) {
  TesContext *ctx = e->context;
  TesStatus status = TES_OK;
  int cell[3];
  tesi_rt_cell(e->space, number, cell);
  const int dim = e->space->dim, count = tesi_rt_points(e->space, &e->t, cell, e->x, e->w);
  tesi_rt_read(e->space, 0, cell, e->u, e->local);
  tesi_rt_values(e->space, &e->t, 0, -1, e->local, e->values);
  TES_TRY(add_square(e, count, exact, 1, &e->sums[0]));
  for (int d = 0; d < dim && gradient[0]; d++) {
    tesi_rt_values(e->space, &e->t, 0, d, e->local, e->values);
    TES_TRY(add_square(e, count, gradient[d], 1 / tesi_modal(e->space, d)->h[cell[d]], &e->sums[1]));
  }
done:
  return status;
}

TesStatus tesi_rt_scalar_errors(const TesSpace *space, const TesVector *u, const TesFunction *exact,
                                double *l2, double *h1) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesFunction *gradient[3] = {NULL};
  Errors e = {.context = ctx, .space = space};
  double *values = NULL, *work = NULL;
  TES_ALLOC(&work, 7 * MOST);
  TES_TRY(tesi_vector_read(u, &values));
  e.u = values, e.x = work, e.w = work + 3 * MOST, e.local = e.w + MOST, e.values = e.local + MOST;
  e.exact = e.values + MOST;
  tesi_rt_tables(space->degree + 1, space->degree + 5, &e.t);
  for (int d = 0; d < space->dim; d++)
    if (tes_function_create_derivative(exact, d, &gradient[d]) != TES_OK) {
      tes_context_clear(ctx);
      for (int o = 0; o < d; o++) tes_function_destroy(&gradient[o]);
      break;
    }
  for (int64_t c = 0; c < tesi_rt_cells(space); c++) TES_TRY(add_cell(&e, c, exact, gradient));
  tesi_reduce(ctx, TESI_SUM, 2, e.sums);
  *l2 = sqrt(e.sums[0]);
  *h1 = gradient[0] ? sqrt(e.sums[1]) : NAN;
done:
  for (int d = 0; d < 3; d++) tes_function_destroy(&gradient[d]);
  tesi_free(ctx, &values);
  tesi_free(ctx, &work);
  return status;
}
