#include "smoother/solve_ref.h"
#include <math.h>

static void swap(double *a, double *b) {
  const double old = *a;
  *a = *b, *b = old;
}

void tesi_solve_ref(int64_t n, double *A, double *r) {
  for (int64_t c = 0; c < n; c++) {
    int64_t pivot = c;
    for (int64_t k = c + 1; k < n; k++)
      if (fabs(A[k * n + c]) > fabs(A[pivot * n + c])) pivot = k;
    for (int64_t k = 0; k < n; k++) swap(&A[c * n + k], &A[pivot * n + k]);
    swap(&r[c], &r[pivot]);
    for (int64_t k = c + 1; k < n; k++) {
      const double factor = A[k * n + c] / A[c * n + c];
      for (int64_t m = c; m < n; m++) A[k * n + m] -= factor * A[c * n + m];
      r[k] -= factor * r[c];
    }
  }
  for (int64_t c = n - 1; c >= 0; c--) {
    for (int64_t k = c + 1; k < n; k++) r[c] -= A[c * n + k] * r[k];
    r[c] /= A[c * n + c];
  }
}
