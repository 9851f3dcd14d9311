/* For the best polynomial, f(t) = t q^2 / (1 - q^2) has equal values at t = 0, where it is 1 / (2 sum 1/root), and at
 * its m maxima: one between each two neighbouring roots, and one beyond the last root. Newton's method is applied to
 * the logarithms of these values. It ignores the dependence of a maximum's place on the roots, which has no effect to
 * first order. It begins with the roots of the fourth kind and needs five steps for all degrees up to 100. */
#include "smoother/optimal_roots.h"
#include <lapacke.h>
#include <math.h>
#include "basis/blas.h"

enum { STEPS = 20 };

static double logarithm_of_square(int m, const double *root, double t) {
  double sum = 0;
  for (int i = 0; i < m; i++) sum += 2 * log(fabs(1 - t / root[i]));
  return sum;
}

static double logarithm_of_f(int m, const double *root, double t) {
  const double square = logarithm_of_square(m, root, t);
  return log(t) + square - log1p(-exp(square));
}

/* The maximum of f in [low, high], which has exactly one, by golden sections. */
static double largest_point(int m, const double *root, double low, double high) {
  enum { SECTIONS = 60 };
  static const double golden = 0.61803398874989485;
  for (int i = 0; i < SECTIONS; i++) {
    const double c = high - golden * (high - low), d = low + golden * (high - low);
    if (logarithm_of_f(m, root, c) > logarithm_of_f(m, root, d))
      high = d;
    else
      low = c;
  }
  return (low + high) / 2;
}

/* matrix[m][m], row by row, and right[m] of a step; *error <- the largest difference of the values. */
static void linearize(int m, const double *root, double *matrix, double *right, double *error) {
  double sum = 0;
  for (int i = 0; i < m; i++) sum += 1 / root[i];
  *error = 0;
  for (int k = 0; k < m; k++) {
    double t = largest_point(m, root, root[k], k + 1 < m ? root[k + 1] : 1);
    if (k + 1 == m && logarithm_of_f(m, root, 1) >= logarithm_of_f(m, root, t)) t = 1;
    const double rest = -expm1(logarithm_of_square(m, root, t));
    right[k] = -log(2 * sum) - logarithm_of_f(m, root, t);
    *error = fmax(*error, fabs(right[k]));
    for (int j = 0; j < m; j++)
      matrix[k * m + j] = 2 / rest * t / (root[j] * (root[j] - t)) - 1 / (root[j] * root[j] * sum);
  }
}

TesStatus tesi_optimal_roots(TesContext *context, int degree, double *root) {
  static const double small = 1e-11, pi = 3.14159265358979323846;
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  const int m = degree;
  double *matrix = NULL, *right = NULL, error = INFINITY;
  lapack_int *pivot = NULL;
  TES_ALLOC(&matrix, m * m);
  TES_ALLOC(&right, m);
  TES_ALLOC(&pivot, m);
  TES_TRY(tesi_blas_begin(ctx, m));
  for (int i = 0; i < m; i++) root[i] = (1 - cos((2 * i + 2) * pi / (2 * m + 1))) / 2;
  for (int step = 0; step < STEPS && !(error < small); step++) {
    linearize(m, root, matrix, right, &error);
    const int info = LAPACKE_dgesv(LAPACK_ROW_MAJOR, m, 1, matrix, m, pivot, right, 1);
    if (info != 0) TES_FAIL(TES_INTERNAL, "roots of a polynomial of degree %d (LAPACK dgesv: %d)", m, info);
    for (int i = 0; i < m; i++) root[i] += right[i];
  }
  if (!(error < small)) TES_FAIL(TES_INTERNAL, "roots of a polynomial of degree %d: left %g", m, error);
done:
  tesi_free(ctx, &pivot);
  tesi_free(ctx, &right);
  tesi_free(ctx, &matrix);
  return status;
}

void tesi_leja_order(int count, double *root) {
  for (int i = 0; i < count; i++) {
    int next = i;
    double most = -INFINITY;
    for (int j = i; j < count; j++) {
      double distance = log(root[j]);
      for (int k = 0; k < i; k++) distance += log(fabs(root[j] - root[k]));
      if (distance > most) most = distance, next = j;
    }
    const double chosen = root[next];
    root[next] = root[i], root[i] = chosen;
  }
}
