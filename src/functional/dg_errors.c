/* Errors of element dg, cell by cell. */
#include <math.h>
#include "functional/flow.h"
#include "parallel/comm.h"

enum { MOST = TESI_FLOW_POINTS * TESI_FLOW_POINTS * TESI_FLOW_POINTS };

typedef struct Errors {
  TesContext *context;
  const TesiRt *rt;
  TesiFlowTables t;
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

static TesStatus add_cell(Errors *e, const int cell[3], const TesFunction *exact,
                          TesFunction *const *gradient) {
  TesContext *ctx = e->context;
  TesStatus status = TES_OK;
  const int dim = e->rt->dim, count = tesi_flow_points(e->rt, &e->t, cell, e->x, e->w);
  tesi_flow_read(e->rt, dim, cell, e->u, e->local);
  tesi_flow_values(e->rt, &e->t, dim, -1, e->local, e->values);
  TES_TRY(add_square(e, count, exact, 1, &e->sums[0]));
  for (int d = 0; d < dim && gradient[0]; d++) {
    tesi_flow_values(e->rt, &e->t, dim, d, e->local, e->values);
    TES_TRY(add_square(e, count, gradient[d], 1 / e->rt->axis[d].h[cell[d]], &e->sums[1]));
  }
done:
  return status;
}

TesStatus tesi_dg_errors(const TesSpace *space, const TesVector *u, const TesFunction *exact, double *l2,
                         double *h1) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const TesiRtAxis *a = space->rt->axis;
  TesFunction *gradient[3] = {NULL};
  Errors e = {.context = ctx, .rt = space->rt};
  double *values = NULL, *work = NULL;
  TES_ALLOC(&values, space->length);
  TES_ALLOC(&work, 7 * MOST);
  TES_TRY(tes_vector_get(u, values));
  e.u = values, e.x = work, e.w = work + 3 * MOST, e.local = e.w + MOST, e.values = e.local + MOST;
  e.exact = e.values + MOST;
  tesi_flow_tables(space->rt->n, space->degree + 5, &e.t);
  for (int d = 0; d < space->dim; d++)
    if (tes_function_create_derivative(exact, d, &gradient[d]) != TES_OK) {
      tes_context_clear(ctx);
      for (int o = 0; o < d; o++) tes_function_destroy(&gradient[o]);
      break;
    }
  for (int c = 0; c < a[0].cells * a[1].cells * a[2].cells; c++)
    TES_TRY(add_cell(&e, (int[]){c % a[0].cells, c / a[0].cells % a[1].cells, c / a[0].cells / a[1].cells},
                     exact, gradient));
  tesi_reduce(ctx, TESI_SUM, 2, e.sums);
  *l2 = sqrt(e.sums[0]);
  *h1 = gradient[0] ? sqrt(e.sums[1]) : NAN;
done:
  for (int d = 0; d < 3; d++) tes_function_destroy(&gradient[d]);
  tesi_free(ctx, &values);
  tesi_free(ctx, &work);
  return status;
}
