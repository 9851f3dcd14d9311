/* Extreme eigenvalues of the tridiagonal matrices that Lanczos and conjugate gradients produce. Sums run on one thread,
 * in one order. */
#include <lapacke.h>
#include <math.h>
#include "basis/blas.h"
#include "multigrid/coarse/aggregation/hierarchy.h"

static double dot(int64_t n, const double *x, const double *y) {
  double sum[4] = {0};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (int l = 0; l < 4; l++) sum[l] += x[i + l] * y[i + l];
  for (; i < n; i++) sum[0] += x[i] * y[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Numbers in (-1, 1) without a pattern. */
static void fill_random(int64_t n, double *x) {
  uint64_t seed = 0x9e3779b97f4a7c15;
  for (int64_t i = 0; i < n; i++) {
    seed = seed * 6364136223846793005 + 1442695040888963407;
    x[i] = (double)(int64_t)(seed >> 11) / (double)(1LL << 52) - 1;
  }
}

/* Extreme eigenvalues of the tridiagonal matrix with diagonal a[n] and off-diagonal b[n - 1]; both arrays are
 * overwritten. */
static TesStatus ends(TesContext *ctx, int n, double *a, double *b, double *least, double *largest) {
  TesStatus status = TES_OK;
  TES_TRY(tesi_blas_begin(ctx, n));
  const int info = (int)LAPACKE_dsterf(n, a, b);
  if (info != 0)
    TES_FAIL(TES_NAN, "the spectrum of the coarsest level is not found (LAPACK dsterf: %d)", info);
  *least = a[0], *largest = a[n - 1];
done:
  return status;
}

TesStatus tesi_aggregation_largest(TesContext *ctx, const TesiBlockMatrix *A, const double *inverse,
                                   double *lambda) {
  enum { STEPS = 10 };
  static const double more = 1.1;
  TesStatus status = TES_OK;
  const int64_t n = A->rows * A->high;
  double *v = NULL, *old = NULL, *w = NULL, *root = NULL, *scaled = NULL, a[STEPS], b[STEPS], least,
         before = 0;
  int steps = 0;
  TES_ALLOC(&v, n);
  TES_ALLOC(&old, n);
  TES_ALLOC(&w, n);
  TES_ALLOC(&root, n);
  TES_ALLOC(&scaled, n);
  fill_random(n, v);
  const double norm = sqrt(dot(n, v, v));
  for (int64_t i = 0; i < n; i++) v[i] /= norm, root[i] = sqrt(inverse[i]);
  while (steps < STEPS && steps < n) {
    for (int64_t i = 0; i < n; i++) scaled[i] = root[i] * v[i];
    tesi_block_run(ctx, &(TesiBlockTask){.way = TESI_BLOCK_MULTIPLY, .A = A, .x = scaled, .y = w});
    for (int64_t i = 0; i < n; i++) w[i] = root[i] * w[i] - before * old[i];
    a[steps] = dot(n, v, w);
    for (int64_t i = 0; i < n; i++) w[i] -= a[steps] * v[i];
    b[steps++] = before = sqrt(dot(n, w, w));
    if (!(before > 1e-12 * fabs(a[0]))) break;
    for (int64_t i = 0; i < n; i++) old[i] = v[i], v[i] = w[i] / before;
  }
  TES_TRY(ends(ctx, steps, a, b, &least, lambda));
  *lambda *= more;
done:
  tesi_free(ctx, &v);
  tesi_free(ctx, &old);
  tesi_free(ctx, &w);
  tesi_free(ctx, &root);
  tesi_free(ctx, &scaled);
  return status;
}

/* r <- A x for a fixed x. */
static void start(const TesiHierarchy *h, const uint8_t *given, double *x, double *r) {
  const TesiAggregationLevel *level = &h->level[0];
  fill_random(level->length, x);
  for (int64_t i = 0; i < level->length; i++)
    if (given[i]) x[i] = 0;
  tesi_block_run(h->context, &(TesiBlockTask){.way = TESI_BLOCK_MULTIPLY, .A = &level->A, .x = x, .y = r});
}

TesStatus tesi_aggregation_spectrum(const TesiHierarchy *h, const uint8_t *given, int steps, double *least,
                                    double *largest) {
  TesContext *ctx = h->context;
  TesStatus status = TES_OK;
  const TesiAggregationLevel *level = &h->level[0];
  const int64_t n = level->length;
  double *r = NULL, *z = NULL, *p = NULL, *q = NULL, a[TESI_AGGREGATION_TEST], b[TESI_AGGREGATION_TEST],
         alpha = 0, rz = 0;
  int made = 0;
  *least = *largest = 1;
  TES_ALLOC(&r, n);
  TES_ALLOC(&z, n);
  TES_ALLOC(&p, n);
  TES_ALLOC(&q, n);
  start(h, given, p, r);
  const double first = dot(n, r, r);
  for (; made < steps && made < TESI_AGGREGATION_TEST && dot(n, r, r) > 1e-20 * first; made++) {
    tesi_hierarchy_cycle(h, r, z);
    const double next = dot(n, r, z), beta = made ? next / rz : 0;
    for (int64_t i = 0; i < n; i++) p[i] = made ? z[i] + beta * p[i] : z[i];
    tesi_block_run(ctx, &(TesiBlockTask){.way = TESI_BLOCK_MULTIPLY, .A = &level->A, .x = p, .y = q});
    const double step = next / dot(n, p, q);
    if (!(step > 0) || !(next > 0)) break;
    a[made] = 1 / step + (made ? beta / alpha : 0);
    if (made) b[made - 1] = sqrt(beta) / alpha;
    for (int64_t i = 0; i < n; i++) r[i] -= step * q[i];
    rz = next, alpha = step;
  }
  if (made > 0) TES_TRY(ends(ctx, made, a, b, least, largest));
done:
  tesi_free(ctx, &r);
  tesi_free(ctx, &z);
  tesi_free(ctx, &p);
  tesi_free(ctx, &q);
  return status;
}
