#include "basis/gauss_tables.h"
#include "basis/lagrange.h"
#include "basis/gauss.h"
#include "device/table_text.h"

enum { N = TESI_MAX_DEGREE + 1 };

static void print_halves(TesiTableText *text, const char *even, const char *odd, int n, const double *T) {
  double E[N * N], O[N * N];
  const int h = (n + 1) / 2, g = n / 2;
  for (int i = 0; i < h; i++) {
    for (int j = 0; j < h; j++)
      E[i * h + j] = 2 * j == n - 1 ? T[i * n + j] : (T[i * n + j] + T[i * n + n - 1 - j]) / 2;
    for (int j = 0; j < g; j++) O[i * g + j] = (T[i * n + j] - T[i * n + n - 1 - j]) / 2;
  }
  tesi_table_text_add(text, even, E, h * h);
  tesi_table_text_add(text, odd, O, h * g);
}

static void transpose(int n, const double *T, double *out) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) out[j * n + i] = T[i * n + j];
}

TesStatus tesi_quadrature_tables(TesContext *ctx, int degree, const char *type, char **text) {
  double nodes[N], points[N], weights[N], B[N * N], G[N * N], D[N * N], T[N * N] = {0};
  const int n = degree + 1;
  TesiTableText t = {.context = ctx, .type = type};
  tesi_gauss_lobatto(n, nodes, NULL);
  tesi_gauss(n, points, weights);
  tesi_lagrange(n, nodes, n, points, B, G);
  tesi_lagrange(n, points, n, points, NULL, D);
  print_halves(&t, "bee", "beo", n, B);
  print_halves(&t, "dde", "ddo", n, D);
  transpose(n, B, T);
  print_halves(&t, "bte", "bto", n, T);
  transpose(n, D, T);
  print_halves(&t, "dte", "dto", n, T);
  tesi_table_text_add(&t, "w", weights, n);
  tesi_table_text_add(&t, "b", B, n * n);
  for (int i = 0; i < n * n; i++) B[i] *= B[i], G[i] *= G[i];
  tesi_table_text_add(&t, "b2", B, n * n);
  tesi_table_text_add(&t, "g2", G, n * n);
  return tesi_table_text_end(&t, text);
}
