/* Pseudo-inverses of the operator among some unknowns: of patches, and of the coarsest level. */
#include <lapacke.h>
#include <math.h>
#include "basis/blas.h"
#include "operator/stokes_varying/stokes_varying.h"

/* e[n]: the constant pressure of norm 1: the coefficient of mode 0 of a cell is sqrt(volume of the cell). */
static void fill_constant(const TesSpace *space, int n, const int64_t *list, double *e) {
  double norm = 0;
  for (int i = 0; i < n; i++) {
    double volume = 1;
    int64_t rest = list[i] - space->first[space->dim];
    for (int d = 0; d < space->dim && rest >= 0; d++) {
      const int mode = (int)(rest % tesi_modal(space, d)->nodes);
      rest /= tesi_modal(space, d)->nodes;
      volume *= mode % (space->degree + 1) ? 0 : tesi_modal(space, d)->h[mode / (space->degree + 1)];
    }
    e[i] = list[i] < space->first[space->dim] ? 0 : sqrt(volume);
    norm += e[i] * e[i];
  }
  for (int i = 0; i < n; i++) e[i] /= sqrt(norm);
}

/* K <- K + factor e e'. */
static void add_constant(int n, const double *e, double factor, double *K) {
  for (int64_t i = 0; i < n; i++)
    for (int j = 0; e[i] != 0 && j < n; j++) K[i * n + j] += factor * e[i] * e[j];
}

static TesStatus refuse(TesContext *ctx, int n, int info) {
  TesStatus status = TES_OK;
  if (info != 0)
    TES_FAIL(TES_NAN,
             "a patch of %d unknowns has no inverse (LAPACK: %d): nu is too large, or varies too much, for "
             "float64",
             n, info);
done:
  return status;
}

TesStatus tesi_stokes_varying_factor(const TesOperator *op, int cells, const int (*cell)[3], bool closed,
                                     int n, const int64_t *list, double *K, int *pivot, double *e,
                                     double *factor) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokesVarying *s = tesi_stokes_varying_of(op);
  double *zero = NULL, *work = NULL, nu = 0;
  TES_ALLOC(&zero, 2 * op->length);
  TES_ALLOC(&work, tesi_stokes_varying_work(s));
  TES_TRY(tesi_stokes_varying_matrix(ctx, s, cells, cell, n, list, zero, work, K));
  for (int c = 0; c < cells; c++) nu += s->mean[tesi_rt_cell_number(s->stokes.space, cell[c])] / cells;
  *factor = closed ? nu : 0;
  if (closed) {
    fill_constant(s->stokes.space, n, list, e);
    add_constant(n, e, -1 / nu, K); /* the Schur complement has the size 1 / nu */
  }
  TES_TRY(tesi_blas_begin(ctx, n));
  TES_TRY(refuse(ctx, n, LAPACKE_dgetrf(LAPACK_COL_MAJOR, n, n, K, n, pivot)));
done:
  tesi_free(ctx, &zero);
  tesi_free(ctx, &work);
  return status;
}

TesStatus tesi_stokes_varying_invert(const TesOperator *op, int cells, const int (*cell)[3], bool closed,
                                     int n, const int64_t *list, double *K) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  double *e = NULL, factor;
  int *pivot = NULL;
  TES_ALLOC(&e, n);
  TES_ALLOC(&pivot, n);
  TES_TRY(tesi_stokes_varying_factor(op, cells, cell, closed, n, list, K, pivot, e, &factor));
  TES_TRY(refuse(ctx, n, LAPACKE_dgetri(LAPACK_COL_MAJOR, n, K, n, pivot)));
  if (closed) add_constant(n, e, factor, K);
done:
  tesi_free(ctx, &e);
  tesi_free(ctx, &pivot);
  return status;
}
