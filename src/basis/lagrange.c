#include "basis/lagrange.h"
#include "basis/gauss.h"

static double value(int n, const double *nodes, int p, double x) {
  double v = 1;
  for (int o = 0; o < n; o++)
    if (o != p) v *= (x - nodes[o]) / (nodes[p] - nodes[o]);
  return v;
}

static double derivative(int n, const double *nodes, int p, double x) {
  double sum = 0;
  for (int l = 0; l < n; l++) {
    if (l == p) continue;
    double v = 1 / (nodes[p] - nodes[l]);
    for (int o = 0; o < n; o++)
      if (o != p && o != l) v *= (x - nodes[o]) / (nodes[p] - nodes[o]);
    sum += v;
  }
  return sum;
}

void tesi_lagrange(int n, const double *nodes, int nq, const double *points, double *B, double *G) {
  for (int q = 0; q < nq; q++)
    for (int p = 0; p < n; p++) {
      if (B) B[q * n + p] = value(n, nodes, p, points[q]);
      if (G) G[q * n + p] = derivative(n, nodes, p, points[q]);
    }
}

/* out = B' diag(w) B, made centrosymmetric and symmetric to the last bit. */
static void gram(int n, int nq, const double *B, const double *w, double *out) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      const int mirrored = (n - 1 - j) * n + (n - 1 - i);
      if (mirrored < i * n + j) continue;
      double sum = 0;
      for (int q = 0; q < nq; q++) sum += w[q] * B[q * n + i] * B[q * n + j];
      out[i * n + j] = out[j * n + i] = sum;
      out[(n - 1 - i) * n + n - 1 - j] = out[mirrored] = sum;
    }
}

void tesi_cell_matrices(int degree, double *M, double *K) {
  enum { N = TESI_MAX_POINTS };
  const int n = degree + 1, nq = degree + 1;
  double nodes[N], points[N], weights[N], B[N * N], G[N * N];
  tesi_gauss_lobatto(n, nodes, 0);
  tesi_gauss(nq, points, weights);
  tesi_lagrange(n, nodes, nq, points, B, G);
  gram(n, nq, B, weights, M);
  gram(n, nq, G, weights, K);
}
