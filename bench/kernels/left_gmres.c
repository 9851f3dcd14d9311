#include "kernels/left_gmres.h"
#include <math.h>
#include "base/base.h"

enum { MOST = LEFT_GMRES_MOST };

/* Column j of the Hessenberg matrix, rotated: the least-squares residual is |g[j + 1]|. */
typedef struct Columns {
  double cosine[MOST], sine[MOST], g[MOST + 1];
} Columns;

static void rotate(Columns *c, int j, double *h) {
  for (int i = 0; i < j; i++) {
    const double a = h[i], b = h[i + 1];
    h[i] = c->cosine[i] * a + c->sine[i] * b;
    h[i + 1] = -c->sine[i] * a + c->cosine[i] * b;
  }
  const double length = hypot(h[j], h[j + 1]);
  c->cosine[j] = length > 0 ? h[j] / length : 1;
  c->sine[j] = length > 0 ? h[j + 1] / length : 0;
  c->g[j + 1] = -c->sine[j] * c->g[j];
  c->g[j] *= c->cosine[j];
}

/* basis[j + 1] and column h from basis[j]; w: scratch. */
static TesStatus arnoldi(TesContext *ctx, const TesOperator *op, TesMultigrid *cycle, int j,
                         TesVector **basis, TesVector *w, double *h) {
  TesStatus status = TES_OK;
  TesVector *next;
  TES_TRY(tes_vector_create(ctx, tes_vector_length(w), TES_DOUBLE, &basis[j + 1]));
  next = basis[j + 1];
  TES_TRY(tes_operator_apply(op, basis[j], w));
  TES_TRY(tes_multigrid_cycle(cycle, w, next, true));
  for (int i = 0; i <= j; i++) {
    TES_TRY(tes_vector_dot(basis[i], next, &h[i]));
    TES_TRY(tes_vector_axpy(-h[i], basis[i], next));
  }
  TES_TRY(tes_vector_norm(next, &h[j + 1]));
  if (h[j + 1] > 0) TES_TRY(tes_vector_copy(next, 1 / h[j + 1], next));
done:
  return status;
}

TesStatus left_gmres(TesContext *ctx, const TesOperator *op, TesMultigrid *cycle, const TesVector *b,
                     double tolerance, double residual[MOST + 1], int *iterations) {
  TesStatus status = TES_OK;
  TesVector *basis[MOST + 1] = {NULL}, *w = NULL;
  Columns c = {.g = {1}};
  double first, h[MOST + 1];
  int n = 0;
  residual[0] = 1;
  TES_TRY(tes_vector_create(ctx, tes_vector_length(b), TES_DOUBLE, &w));
  TES_TRY(tes_vector_create(ctx, tes_vector_length(b), TES_DOUBLE, &basis[0]));
  TES_TRY(tes_multigrid_cycle(cycle, b, basis[0], true));
  TES_TRY(tes_vector_norm(basis[0], &first));
  if (first > 0) TES_TRY(tes_vector_copy(basis[0], 1 / first, basis[0]));
  while (first > 0 && residual[n] > tolerance) {
    if (n == MOST)
      TES_FAIL(TES_NOT_CONVERGED, "left-preconditioned GMRES: %g after %d iterations", residual[n], n);
    TES_TRY(arnoldi(ctx, op, cycle, n, basis, w, h));
    rotate(&c, n, h);
    n++;
    residual[n] = fabs(c.g[n]);
  }
  *iterations = n;
done:
  for (int i = 0; i <= MOST; i++) tes_vector_destroy(&basis[i]);
  tes_vector_destroy(&w);
  return status;
}

double left_gmres_count(const double *residual, int iterations, double tolerance) {
  return iterations * log(tolerance) / log(residual[iterations]);
}
