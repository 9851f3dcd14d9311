/* Vector operations of the host device for one precision; included with REAL, HOST(name). Loops of a Job.
 * Blocks of fixed length make reductions independent of the number of threads. */

static void HOST(fill)(const void *data, TesiSpan span) {
  const Job *job = data;
  const REAL a = (REAL)job->a;
  REAL *y = job->y;
#pragma omp simd
  for (int64_t i = span.first; i < span.end; i++) y[i] = a;
}

static void HOST(xpay)(const void *data, TesiSpan span) {
  const Job *job = data;
  const REAL a = (REAL)job->a, *x = job->x;
  REAL *y = job->y;
#pragma omp simd
  for (int64_t i = span.first; i < span.end; i++) y[i] = x[i] + a * y[i];
}

static void HOST(multiply_add)(const void *data, TesiSpan span) {
  const Job *job = data;
  const REAL a = (REAL)job->a, *x = job->x, *d = job->d;
  REAL *y = job->y;
#pragma omp simd
  for (int64_t i = span.first; i < span.end; i++) y[i] += a * x[i] * d[i];
}

static void HOST(multiply)(const void *data, TesiSpan span) {
  const Job *job = data;
  const REAL a = (REAL)job->a, *x = job->x, *d = job->d;
  REAL *y = job->y;
#pragma omp simd
  for (int64_t i = span.first; i < span.end; i++) y[i] = a * x[i] * d[i];
}

/* A case for each factor 0: the vector with this factor may hold NaN, and is not to be read. */
static void HOST(diagonal_step)(const void *data, TesiSpan span) {
  const Job *job = data;
  const REAL s = (REAL)job->a, c = (REAL)job->c, keep = (REAL)job->keep, *r = job->x, *d = job->d;
  REAL *p = job->p, *x = job->y;
#define STEP(OLD_P, OLD_X)                                                                                   \
  _Pragma("omp simd") for (int64_t i = span.first; i < span.end; i++) {                                      \
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

static void HOST(dot)(const void *data, TesiSpan span) {
  const Job *job = data;
  const REAL *x = job->x, *y = job->y;
  for (int64_t b = span.first; b < span.end; b++) {
    const int64_t first = b * job->block, length = length_of(job, b);
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < length; i++) sum += (double)x[first + i] * (double)y[first + i];
    job->sums[b] = sum;
  }
}

/* Block by block, so that the data stay in a cache between the loops. */
static void HOST(diagonal_residual)(const void *data, TesiSpan span) {
  const Job *job = data;
  const double a = job->a;
  const REAL *q = job->x, *d = job->d;
  REAL *r = job->y, *z = job->p;
  for (int64_t b = span.first; b < span.end; b++) {
    const int64_t first = b * job->block, end = first + length_of(job, b);
#pragma omp simd
    for (int64_t i = first; i < end; i++) r[i] += (REAL)(a * q[i]);
#pragma omp simd
    for (int64_t i = first; i < end; i++) z[i] = r[i] * d[i];
    HOST(dot)
    (&(Job){.x = r, .y = z, .n = job->n, .block = job->block, .sums = job->sums},
     (TesiSpan){.first = b, .end = b + 1});
  }
}

/* NaN must survive: max by comparison that is false for NaN would drop it. */
static void HOST(maximum)(const void *data, TesiSpan span) {
  const Job *job = data;
  const REAL *x = job->x;
  for (int64_t b = span.first; b < span.end; b++) {
    const int64_t first = b * job->block, length = length_of(job, b);
    REAL largest = 0, finite = 0;
    for (int64_t i = 0; i < length; i++) {
      const REAL v = x[first + i] < 0 ? -x[first + i] : x[first + i];
      largest = v > largest ? v : largest;
      finite += v * 0; /* NaN if any value is NaN or infinite */
    }
    job->sums[b] = (double)largest + (double)finite;
  }
}
