/* Extreme eigenvalues of the tridiagonal matrices that Lanczos and conjugate gradients produce. Sums have one
 * order. */
#include <lapacke.h>
#include <math.h>
#include "base/integer.h"
#include "base/team.h"
#include "basis/blas.h"
#include "multigrid/coarse/aggregation/hierarchy.h"

enum { PIECE = 4096 }; /* entries of a sum of its own */

typedef struct Dot {
  int64_t n;
  const double *x, *y;
  double *sums; /* [pieces] */
} Dot;

static void dot_span(const void *data, TesiSpan span) {
  const Dot *d = data;
  for (int64_t k = span.first; k < span.end; k++) {
    const int64_t end = tesi_min64(d->n, (k + 1) * PIECE);
    double sum[8] = {0};
    int64_t i = k * PIECE;
    for (; i + 8 <= end; i += 8)
      for (int l = 0; l < 8; l++) sum[l] += d->x[i + l] * d->y[i + l];
    for (; i < end; i++) sum[0] += d->x[i] * d->y[i];
    d->sums[k] = ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
  }
}

/* The same bits for every number of threads. sums: room for a number per piece. */
static double dot(const TesContext *ctx, double *sums, int64_t n, const double *x, const double *y) {
  const int64_t pieces = (n + PIECE - 1) / PIECE;
  double sum = 0;
  tesi_team_for(tesi_team_threads(ctx, n), pieces, dot_span, &(Dot){n, x, y, sums});
  for (int64_t k = 0; k < pieces; k++) sum += sums[k];
  return sum;
}

/* y <- a x + b y; b = 0: y is not read. scale: y <- x times scale[i]. */
typedef struct Add {
  double a, b;
  const double *x, *scale;
  double *y;
} Add;

static void add_span(const void *data, TesiSpan span) {
  const Add *d = data;
  for (int64_t i = span.first; i < span.end; i++)
    d->y[i] = (d->scale ? d->scale[i] : d->a) * d->x[i] + (d->b != 0 ? d->b * d->y[i] : 0);
}

static void add(const TesContext *ctx, int64_t n, Add d) {
  tesi_team_for(tesi_team_threads(ctx, n), n, add_span, &d);
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
  double *v = NULL, *old = NULL, *w = NULL, *root = NULL, *scaled = NULL, *sums = NULL, a[STEPS], b[STEPS],
         least, before = 0;
  int steps = 0;
  TES_ALLOC(&v, n);
  TES_ALLOC(&old, n);
  TES_ALLOC(&w, n);
  TES_ALLOC(&root, n);
  TES_ALLOC(&scaled, n);
  TES_ALLOC(&sums, n / PIECE + 1);
  fill_random(n, v);
  const double norm = sqrt(dot(ctx, sums, n, v, v));
  for (int64_t i = 0; i < n; i++) v[i] /= norm, root[i] = sqrt(inverse[i]);
  while (steps < STEPS && steps < n) {
    add(ctx, n, (Add){.x = v, .scale = root, .y = scaled});
    tesi_block_run(ctx, &(TesiBlockTask){.way = TESI_BLOCK_MULTIPLY, .A = A, .x = scaled, .y = w});
    add(ctx, n, (Add){.x = w, .scale = root, .b = -before, .y = old});
    a[steps] = dot(ctx, sums, n, v, old);
    add(ctx, n, (Add){.a = -a[steps], .x = v, .b = 1, .y = old});
    b[steps++] = before = sqrt(dot(ctx, sums, n, old, old));
    if (!(before > 1e-12 * fabs(a[0]))) break;
    add(ctx, n, (Add){.a = 1 / before, .x = old, .y = old});
    double *const next = old;
    old = v, v = next;
  }
  TES_TRY(ends(ctx, steps, a, b, &least, lambda));
  *lambda *= more;
done:
  tesi_free(ctx, &v);
  tesi_free(ctx, &old);
  tesi_free(ctx, &w);
  tesi_free(ctx, &root);
  tesi_free(ctx, &scaled);
  tesi_free(ctx, &sums);
  return status;
}

/* r <- A x for a fixed x. */
static TesStatus start(const TesiCycleOf *of, const uint8_t *given, TesVector *x, TesVector *r) {
  TesContext *ctx = of->context;
  TesStatus status = TES_OK;
  double *values = NULL;
  TES_ALLOC(&values, of->length);
  fill_random(of->length, values);
  for (int64_t i = 0; i < of->length; i++)
    if (given[i]) values[i] = 0;
  TES_TRY(tes_vector_set(x, values));
  TES_TRY(of->multiply(of->user, x, r));
done:
  tesi_free(ctx, &values);
  return status;
}

TesStatus tesi_aggregation_spectrum(const TesiCycleOf *of, const uint8_t *given, int steps, double *least,
                                    double *largest) {
  TesContext *ctx = of->context;
  TesStatus status = TES_OK;
  TesVector *r = NULL, *z = NULL, *p = NULL, *q = NULL, **const all[] = {&r, &z, &p, &q};
  double a[TESI_AGGREGATION_TEST], b[TESI_AGGREGATION_TEST], alpha = 0, rz = 0, rr, first, next, pq;
  int made = 0;
  *least = *largest = 1;
  for (int i = 0; i < 4; i++) TES_TRY(tes_vector_create(ctx, of->length, TES_DOUBLE, all[i]));
  TES_TRY(start(of, given, p, r));
  TES_TRY(tes_vector_dot(r, r, &first));
  rr = first;
  for (; made < steps && made < TESI_AGGREGATION_TEST && rr > 1e-20 * first; made++) {
    TES_TRY(of->cycle(of->user, r, z));
    TES_TRY(tes_vector_dot(r, z, &next));
    const double beta = made ? next / rz : 0;
    TES_TRY(made ? tes_vector_xpay(z, beta, p) : tes_vector_copy(z, 1, p));
    TES_TRY(of->multiply(of->user, p, q));
    TES_TRY(tes_vector_dot(p, q, &pq));
    const double step = next / pq;
    if (!(step > 0) || !(next > 0)) break;
    a[made] = 1 / step + (made ? beta / alpha : 0);
    if (made) b[made - 1] = sqrt(beta) / alpha;
    TES_TRY(tes_vector_axpy(-step, q, r));
    TES_TRY(tes_vector_dot(r, r, &rr));
    rz = next, alpha = step;
  }
  if (made > 0) TES_TRY(ends(ctx, made, a, b, least, largest));
done:
  for (int i = 0; i < 4; i++) tes_vector_destroy(all[i]);
  return status;
}
