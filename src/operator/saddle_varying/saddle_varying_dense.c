/* Pseudo-inverses of the operator among some unknowns: of patches, and of the coarsest level. */
#include <lapacke.h>
#include <math.h>
#include "basis/blas.h"
#include "operator/saddle_varying/saddle_varying.h"

/* e[n]: the constant pressure, of norm 1: the mode 0 of a cell has the coefficient sqrt(its volume). */
static void fill_constant(const TesiRt *rt, int n, const int64_t *list, double *e) {
  double norm = 0;
  for (int i = 0; i < n; i++) {
    double volume = 1;
    int64_t rest = list[i] - rt->offset[rt->dim];
    for (int d = 0; d < rt->dim && rest >= 0; d++) {
      const int mode = (int)(rest % rt->axis[d].modes);
      rest /= rt->axis[d].modes;
      volume *= mode % rt->n ? 0 : rt->axis[d].h[mode / rt->n];
    }
    e[i] = list[i] < rt->offset[rt->dim] ? 0 : sqrt(volume);
    norm += e[i] * e[i];
  }
  for (int i = 0; i < n; i++) e[i] /= sqrt(norm);
}

/* K <- K + factor e e'. */
static void add_constant(int n, const double *e, double factor, double *K) {
  for (int64_t i = 0; i < n; i++)
    for (int j = 0; e[i] != 0 && j < n; j++) K[i * n + j] += factor * e[i] * e[j];
}

TesStatus tesi_saddle_varying_invert(const TesOperator *op, int cells, const int (*cell)[3], bool closed,
                                     int n, const int64_t *list, double *K) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiSaddleVarying *s = tesi_saddle_varying_of(op);
  double *zero = NULL, *work = NULL, *e = NULL, nu = 0;
  lapack_int *pivot = NULL;
  TES_ALLOC(&zero, 2 * op->length);
  TES_ALLOC(&work, tesi_saddle_varying_work(s));
  TES_ALLOC(&e, n);
  TES_ALLOC(&pivot, n);
  tesi_saddle_varying_matrix(s, cells, cell, n, list, zero, work, K);
  for (int c = 0; c < cells; c++) nu += s->mean[tesi_saddle_varying_number(s, cell[c])] / cells;
  if (closed) {
    fill_constant(s->saddle.rt, n, list, e);
    add_constant(n, e, -1 / nu, K); /* the Schur complement is of the size 1 / nu */
  }
  TES_TRY(tesi_blas_begin(ctx, n));
  int info = LAPACKE_dgetrf(LAPACK_ROW_MAJOR, n, n, K, n, pivot);
  if (info == 0) info = LAPACKE_dgetri(LAPACK_ROW_MAJOR, n, K, n, pivot);
  if (info != 0)
    TES_FAIL(TES_NAN,
             "a patch of %d unknowns has no inverse (LAPACK: %d): nu is too large, or varies too much, for "
             "float64",
             n, info);
  if (closed) add_constant(n, e, nu, K);
done:
  tesi_free(ctx, &zero);
  tesi_free(ctx, &work);
  tesi_free(ctx, &e);
  tesi_free(ctx, &pivot);
  return status;
}
