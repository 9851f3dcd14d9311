#include "geometry/cell_line.h"
#include <math.h>
#include <pthread.h>
#include "basis/gauss.h"

enum { MOST = TESI_GEOMETRY_DEGREE + 1 };
static TesiLine lines[MOST];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Inverts the matrix of Bernstein polynomials at the points. It is totally positive, so that it needs no pivots. */
static void fill(int n, TesiLine *line) {
  double A[MOST][2 * MOST] = {{0}};
  tesi_gauss_lobatto(n, line->point, NULL);
  for (int i = 0; i < n; i++) {
    double binomial = 1;
    for (int j = 0; j < n; binomial *= (double)(n - 1 - j) / (j + 1), j++)
      A[i][j] = binomial * pow(line->point[i], j) * pow(1 - line->point[i], n - 1 - j);
    A[i][n + i] = 1;
  }
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++) {
      const double factor = A[i][k] / A[k][k];
      for (int j = k; j < 2 * n && i != k; j++) A[i][j] -= factor * A[k][j];
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) line->control[i * n + j] = A[i][n + j] / A[i][i];
}

static void fill_all(void) {
  for (int degree = 1; degree <= TESI_GEOMETRY_DEGREE; degree++) fill(degree + 1, &lines[degree]);
}

const TesiLine *tesi_line(int degree) {
  pthread_once(&once, fill_all);
  return &lines[degree];
}
