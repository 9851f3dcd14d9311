/* Batched eigenproblems: see eigen_batch.h. Golub, Van Loan, Matrix Computations, 4th ed., sections 8.5 and 8.7. */
#include <math.h>
#include "tensor/eigen_batch.h"
#include "tensor/simd.h"

#pragma GCC diagnostic ignored                                                                               \
    "-Wpsabi" /* vectors wider than registers are passed between inlined functions only */

typedef double vec __attribute__((vector_size(8 * TESI_EIGEN_LANES)));
typedef long long mask __attribute__((vector_size(8 * TESI_EIGEN_LANES)));

static inline vec blend(mask m, vec a, vec b) {
  return (vec)((m & (mask)a) | (~m & (mask)b));
}

static inline vec root(vec a) {
  vec r;
  for (int l = 0; l < TESI_EIGEN_LANES; l++) r[l] = sqrt(a[l]);
  return r;
}

/* Whether a <= limit in all lanes; false for NaN. */
static inline bool all_below(vec a, double limit) {
  bool all = true;
  for (int l = 0; l < TESI_EIGEN_LANES; l++) all = all && a[l] <= limit;
  return all;
}

/* Lower triangle of M <- L, its diagonal inverted. */
static bool factorize(int n, vec *M) {
  bool positive = true;
  for (int j = 0; j < n; j++) {
    vec d = M[j * n + j];
    for (int k = 0; k < j; k++) d -= M[j * n + k] * M[j * n + k];
    for (int l = 0; l < TESI_EIGEN_LANES; l++) positive = positive && d[l] > 0;
    const vec inverse = 1 / root(d);
    for (int i = j + 1; i < n; i++) {
      vec s = M[i * n + j];
      for (int k = 0; k < j; k++) s -= M[i * n + k] * M[j * n + k];
      M[i * n + j] = s * inverse;
    }
    M[j * n + j] = inverse;
  }
  return positive;
}

/* K <- L^-1 K L^-T */
static void reduce(int n, const vec *L, vec *K) {
  for (int pass = 0; pass < 2; pass++) { /* columns of K, then its rows: K is symmetric */
    const int down = pass ? 1 : n, across = pass ? n : 1;
    for (int c = 0; c < n; c++)
      for (int i = 0; i < n; i++) {
        vec s = K[i * down + c * across];
        for (int k = 0; k < i; k++) s -= L[i * n + k] * K[k * down + c * across];
        K[i * down + c * across] = s * L[i * n + i];
      }
  }
}

/* Rotates away entry (p, q) of A; V collects the rotations. */
static inline void rotate(int n, int p, int q, vec *A, vec *V) {
  const vec zero = {0}, one = zero + 1, apq = A[p * n + q], app = A[p * n + p], aqq = A[q * n + q];
  const mask none = apq == zero;
  const vec theta = (aqq - app) / (2 * blend(none, one, apq));
  const vec size = blend(theta < zero, -theta, theta);
  const vec t1 = 1 / (size + root(theta * theta + 1)); /* theta^2 = inf gives t = 0, which is right */
  const vec t = blend(none, zero, blend(theta < zero, -t1, t1));
  const vec c = 1 / root(t * t + 1), s = t * c;
  for (int k = 0; k < n; k++) {
    const vec x = A[k * n + p], y = A[k * n + q];
    A[k * n + p] = c * x - s * y;
    A[k * n + q] = s * x + c * y;
    const vec u = V[k * n + p], w = V[k * n + q];
    V[k * n + p] = c * u - s * w;
    V[k * n + q] = s * u + c * w;
  }
  for (int k = 0; k < n; k++) {
    const vec x = A[p * n + k], y = A[q * n + k];
    A[p * n + k] = c * x - s * y;
    A[q * n + k] = s * x + c * y;
  }
  A[p * n + q] = A[q * n + p] = zero;
}

/* The tolerance is 1e-10: convergence is quadratic, so one more sweep reaches round-off. */
static bool is_nearly_diagonal(int n, const vec *A) {
  vec off = {0}, all = {0};
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      all += A[i * n + j] * A[i * n + j];
      if (i != j) off += A[i * n + j] * A[i * n + j];
    }
  return all_below(off - 1e-20 * all, 0);
}

bool TESI_SIMD(tesi_eigen_batch)(int n, double *K_, double *M_, double *S_, double *lambda_) {
  enum { MAX_SWEEPS = 30 };
  vec *K = (vec *)K_, *M = (vec *)M_, *S = (vec *)S_, *lambda = (vec *)lambda_;
  const vec zero = {0};
  if (!factorize(n, M)) return false;
  reduce(n, M, K);
  for (int i = 0; i < n * n; i++) S[i] = zero + (i % (n + 1) == 0);
  bool converged = false;
  for (int sweep = 0, last = 0; sweep < MAX_SWEEPS && !last; sweep++) {
    last = converged = is_nearly_diagonal(n, K);
    for (int p = 0; p < n; p++)
      for (int q = p + 1; q < n; q++) rotate(n, p, q, K, S);
  }
  for (int i = 0; i < n; i++) lambda[i] = K[i * n + i];
  for (int j = 0; j < n; j++) /* S <- L^-T S */
    for (int i = n - 1; i >= 0; i--) {
      vec s = S[i * n + j];
      for (int k = i + 1; k < n; k++) s -= M[k * n + i] * S[k * n + j];
      S[i * n + j] = s * M[i * n + i];
    }
  return converged;
}
