/* Vector operations of the host device for one precision; included with REAL, HOST(name).
 * Blocks of fixed length make reductions independent of the number of threads. */

static void HOST(fill)(int threads, int64_t n, REAL a, REAL *y) {
#pragma omp parallel for simd num_threads(threads) schedule(static)
  for (int64_t i = 0; i < n; i++) y[i] = a;
}

static void HOST(xpay)(int threads, int64_t n, const REAL *x, REAL a, REAL *y) {
#pragma omp parallel for simd num_threads(threads) schedule(static)
  for (int64_t i = 0; i < n; i++) y[i] = x[i] + a * y[i];
}

static void HOST(multiply_add)(int threads, int64_t n, REAL a, const REAL *x, const REAL *d, REAL *y) {
#pragma omp parallel for simd num_threads(threads) schedule(static)
  for (int64_t i = 0; i < n; i++) y[i] += a * x[i] * d[i];
}

static void HOST(multiply)(int threads, int64_t n, REAL a, const REAL *x, const REAL *d, REAL *y) {
#pragma omp parallel for simd num_threads(threads) schedule(static)
  for (int64_t i = 0; i < n; i++) y[i] = a * x[i] * d[i];
}

/* By cases: what has the factor 0 may be NaN, and must not cost traffic. */
static void HOST(diagonal_step)(int threads, int64_t n, REAL s, const REAL *r, const REAL *d, REAL c, REAL *p,
                                REAL keep, REAL *x) {
#define STEP(OLD_P, OLD_X)                                                                                   \
  _Pragma("omp parallel for simd num_threads(threads) schedule(static)") for (int64_t i = 0; i < n; i++) {   \
    const REAL step = OLD_P s * r[i] * d[i];                                                                 \
    p[i] = step;                                                                                             \
    x[i] = OLD_X step;                                                                                       \
  }
  if (c == 0 && keep == 0)
    STEP(, )
  else if (c == 0)
    STEP(, keep * x[i] +)
  else if (keep == 0)
    STEP(c * p[i] +, )
  else
    STEP(c * p[i] +, keep * x[i] +)
#undef STEP
}

static void HOST(dot)(int threads, int64_t n, const REAL *x, const REAL *y, double *sums) {
  const int64_t block = block_length(n), blocks = (n + block - 1) / block;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t b = 0; b < blocks; b++) {
    const int64_t first = b * block, length = n - first < block ? n - first : block;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < length; i++) sum += (double)x[first + i] * (double)y[first + i];
    sums[b] = sum;
  }
}

/* NaN must survive: max by comparison that is false for NaN would drop it. */
static void HOST(maximum)(int threads, int64_t n, const REAL *x, double *sums) {
  const int64_t block = block_length(n), blocks = (n + block - 1) / block;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t b = 0; b < blocks; b++) {
    const int64_t first = b * block, length = n - first < block ? n - first : block;
    REAL largest = 0, finite = 0;
    for (int64_t i = 0; i < length; i++) {
      const REAL v = x[first + i] < 0 ? -x[first + i] : x[first + i];
      largest = v > largest ? v : largest;
      finite += v * 0; /* NaN if any value is NaN or infinite */
    }
    sums[b] = (double)largest + (double)finite;
  }
}
