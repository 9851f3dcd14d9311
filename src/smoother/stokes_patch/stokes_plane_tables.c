/* Tables of stokes_plane.cu, in the order of src/kernels/stokes_plane_tables.h. */
#include <string.h>
#include "smoother/stokes_patch/stokes_plane.h"

static int padded(int count) {
  return (count + 3) / 4 * 4;
}

int tesi_plane_table_size(int n, bool open) {
  const int N = 2 * n, L = N + 1, C = open ? N + 1 : N - 1;
  return 3 * N * padded(N) + 2 * C * padded(C) + C * padded(L) + N * padded(C) + C * padded(N) + 4 * C +
         4 * N + padded(C) + padded(N) + 4;
}

/* A table while it grows. Nodes of the interval are its local axis' from place `from` of the kernel's on. */
typedef struct Table {
  const TesiStokesLocalAxis *l;
  int N, L, C, from;
  double *at;
} Table;

/* The place of the outer tables (TesiStokesPatchOuter). */
typedef struct Outer {
  const double *stiffness, *mass, *derivative, *beside, *constant;
} Outer;

static Outer parts_of(const TesiStokesPatchOuter *o, int nodes, int n) {
  const int N = 2 * n;
  Outer p;
  p.stiffness = o->values;
  p.mass = p.stiffness + 2 * nodes;
  p.derivative = p.mass + nodes * (N + 1);
  p.beside = p.derivative + 2 * N + N * N;
  p.constant = p.beside + 2 * n * n;
  return p;
}

static double *put(Table *t, int rows, int columns) {
  double *const at = t->at;
  memset(at, 0, (size_t)(rows * padded(columns)) * sizeof *at);
  t->at += rows * padded(columns);
  return at;
}

static void put_modes(Table *t, bool transposed) {
  const int N = t->N, row = padded(N);
  double *const at = put(t, N, N);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) at[i * row + j] = t->l->Zd[transposed ? j * N + i : i * N + j];
}

/* nu Zd' Ld. */
static void put_beside(Table *t, double nu, const double *Ld) {
  const int N = t->N, n = N / 2;
  double *const at = put(t, N, N);
  for (int m = 0; m < N; m++)
    for (int j = 0; j < N; j++) {
      const int side = j / n;
      for (int q = 0; q < n; q++)
        at[m * padded(N) + j] += nu * t->l->Zd[(side * n + q) * N + m] * Ld[(side * n + q) * n + j % n];
    }
}

static void put_nodes(Table *t, bool transposed) {
  const int P = t->l->nodes, row = padded(t->C);
  double *const at = put(t, t->C, t->C);
  for (int i = 0; i < P; i++)
    for (int m = 0; m < P; m++)
      at[transposed ? m * row + t->from + i : (t->from + i) * row + m] = t->l->Zc[i * P + m];
}

/* Zc' A, A[nodes][columns], rows padded or of four numbers; factor. */
static void put_turned(Table *t, double factor, int columns, const double *A, int row) {
  const int P = t->l->nodes;
  double *const at = t->at;
  memset(at, 0, (size_t)(t->C * row) * sizeof *at);
  for (int m = 0; m < P; m++)
    for (int c = 0; c < columns; c++)
      for (int i = 0; i < P; i++) at[m * row + c] += factor * t->l->Zc[i * P + m] * A[i * columns + c];
  t->at += t->C * row;
}

static void put_gradients(Table *t) {
  const int P = t->l->nodes, N = t->N;
  double *at = put(t, N, t->C);
  for (int q = 0; q < N; q++)
    for (int m = 0; m < P; m++) at[q * padded(t->C) + m] = t->l->G[q * P + m];
  at = put(t, t->C, N);
  for (int m = 0; m < P; m++)
    for (int q = 0; q < N; q++) at[m * padded(N) + q] = t->l->G[q * P + m];
}

/* Zd' D to both ends. */
static void put_end_gradients(Table *t, const double *D) {
  const int N = t->N;
  double *const at = put(t, N, 4);
  for (int q = 0; q < N; q++)
    for (int i = 0; i < N; i++)
      for (int end = 0; end < 2; end++) at[4 * q + end] += t->l->Zd[i * N + q] * D[2 * i + end];
}

/* Missing modes have 1, so that nothing is divided by zero. */
static void put_eigenvalues(Table *t, double nu, const double *lambda, int count, int size) {
  for (int i = 0; i < padded(size); i++) *t->at++ = i < count ? nu * lambda[i] : 1;
}

void tesi_plane_fill_table(double nu, int n, bool open, const TesiStokesPatchOuter *outer,
                           const TesiStokesLocalAxis *l, double *table) {
  const int N = 2 * n;
  Table t = {.l = l, .N = N, .L = N + 1, .C = open ? N + 1 : N - 1, .at = table};
  const Outer o = parts_of(outer, l->nodes, n);
  t.from = open ? outer->end[0] : 0;
  put_modes(&t, true);
  put_modes(&t, false);
  put_beside(&t, nu, o.beside);
  put_nodes(&t, true);
  put_nodes(&t, false);
  put_turned(&t, 1, t.L, o.mass, padded(t.L));
  put_gradients(&t);
  put_turned(&t, nu, 2, o.stiffness, 4);
  put_end_gradients(&t, o.derivative);
  put_eigenvalues(&t, nu, l->lc, l->nodes, t.C);
  put_eigenvalues(&t, nu, l->ld, N, N);
  for (int end = 0; end < 2; end++) *t.at++ = outer->end[end];
  for (int cell = 0; cell < 2; cell++) *t.at++ = o.constant[cell];
}

int64_t tesi_plane_fill_inverse(int n, const bool split[2], const double *S, double *to) {
  const int N = 2 * n, extent_x = split[0] ? n : N, extent_y = split[1] ? n : N;
  for (int x = 0; to && x < extent_x; x++)
    for (int y = 0; y < extent_y; y++)
      for (int row = 0; row < N * N; row++) {
        const int i = row / N, j = row % N, column_x = (split[0] ? i / n * n : 0) + x,
                  column_y = (split[1] ? j / n * n : 0) + y;
        *to++ = S[(int64_t)(column_x + N * column_y) * N * N + i + N * j];
      }
  return (int64_t)extent_x * extent_y * N * N;
}
