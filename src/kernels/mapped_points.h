/* Factors at one point of a mapped cell, and contractions of a whole cell by one block, for kernels that run once
 * (mapped_diagonal.cu, mapped_csr.cu). Macros: factor (type of stored factors), real, DIM, N, Q, MASS, STIFFNESS,
 * GEOMETRY. All arithmetic is float64. */
#ifndef TESK_MAPPED_POINTS_H
#define TESK_MAPPED_POINTS_H

#include "mapped_arguments.h"

#define STORED 0 /* GEOMETRY */
#define VERTICES 1
#define AFFINE 2
#define WEIGHTS 3
#define HALVES 4
#define THREADS 128
#define ENTRIES (DIM * (DIM + 1) / 2)
#define FACTORS (ENTRIES * STIFFNESS + MASS)
#define NODES (DIM == 3 ? N * N * N : N * N)
#define POINTS (DIM == 3 ? Q * Q * Q : Q * Q)
#define FOR_EACH_OF(i, n) for (int i = (int)threadIdx.x; i < (n); i += THREADS)

/* Place of entry (c, e), c <= e, in the packed order. */
TESK_DEVICE int packed(int c, int e) {
  return DIM == 2 ? c + e : c == 0 ? e : c + e + 1;
}

#if GEOMETRY == WEIGHTS
#define CELL_EDGE (CELL_DEGREE + 1)
#define MONOMIALS (DIM == 3 ? CELL_EDGE * CELL_EDGE * CELL_EDGE : CELL_EDGE * CELL_EDGE)
#endif

#if GEOMETRY == VERTICES || GEOMETRY == WEIGHTS
/* J[r][c] = d x_r / d xi_c; returns |J|, and its cofactors in rows[c][r], |J| times row c of the inverse. */
TESK_DEVICE double cofactors(const real *v, const double *xi, double rows[3][3]) {
  double J[3][3] = {{0}};
#if GEOMETRY == WEIGHTS
  for (int m = 1; m < MONOMIALS; m++) {
    const int power[3] = {m % CELL_EDGE, m / CELL_EDGE % CELL_EDGE, m / (CELL_EDGE * CELL_EDGE)};
    for (int c = 0; c < DIM; c++) {
      double term = power[c];
      for (int d = 0; d < DIM; d++)
        for (int i = d == c; i < power[d]; i++) term *= xi[d];
      for (int r = 0; r < DIM; r++) J[r][c] += term * (double)v[(m - 1) * DIM + r];
    }
  }
#else
  for (int r = 0; r < DIM; r++) {
    double c[7];
    for (int i = 0; i < (DIM == 3 ? 7 : 4); i++) c[i] = (double)v[i * DIM + r];
#if DIM == 2
    J[r][0] = (1 - xi[1]) * (c[1] - c[0]) + xi[1] * (c[3] - c[2]);
    J[r][1] = (1 - xi[0]) * (c[2] - c[0]) + xi[0] * (c[3] - c[1]);
#else
    J[r][0] = c[0] + xi[1] * c[3] + xi[2] * (c[4] + xi[1] * c[6]);
    J[r][1] = c[1] + xi[0] * c[3] + xi[2] * (c[5] + xi[0] * c[6]);
    J[r][2] = c[2] + xi[0] * c[4] + xi[1] * (c[5] + xi[0] * c[6]);
#endif
  }
#endif
#if DIM == 2
  rows[0][0] = J[1][1];
  rows[0][1] = -J[0][1];
  rows[1][0] = -J[1][0];
  rows[1][1] = J[0][0];
  return J[0][0] * J[1][1] - J[0][1] * J[1][0];
#else
  for (int c = 0; c < 3; c++)
    for (int r = 0; r < 3; r++)
      rows[c][r] = J[(r + 1) % 3][(c + 1) % 3] * J[(r + 2) % 3][(c + 2) % 3] -
                   J[(r + 2) % 3][(c + 1) % 3] * J[(r + 1) % 3][(c + 2) % 3];
  return J[0][0] * rows[0][0] + J[1][0] * rows[0][1] + J[2][0] * rows[0][2];
#endif
}
#endif

/* m[0..5] <- the packed entries of G, m[6] <- the factor of the mass, at a point of a cell. */
TESK_DEVICE void factors_at(const TeskMapped *a, long long cell, int point, double m[7]) {
#if GEOMETRY == STORED
  const factor *g = (const factor *)a->geometry + cell * FACTORS * POINTS + point;
  for (int s = 0; s < ENTRIES * STIFFNESS; s++) m[s] = (double)g[s * POINTS];
  if (MASS) m[6] = a->mass * (double)g[ENTRIES * STIFFNESS * POINTS];
#elif GEOMETRY == HALVES
  const unsigned *const words = (const unsigned *)a->geometry + cell * ((FACTORS + 1) / 2 * POINTS + 1);
  const double scale = (double)TESK_FLOAT(words[(FACTORS + 1) / 2 * POINTS]);
  for (int s = 0; s < FACTORS; s++)
    m[s] = scale * (double)TESK_HALF(words[s / 2 * POINTS + point] >> s % 2 * 16);
  if (MASS) m[6] *= a->mass;
#else
  const int p[3] = {point % Q, point / Q % Q, point / (Q * Q)};
  double w = 1;
  for (int d = 0; d < DIM; d++) w *= a->weight[p[d]];
#if GEOMETRY == AFFINE
  const real *g = (const real *)a->geometry + cell * FACTORS;
  for (int s = 0; s < ENTRIES * STIFFNESS; s++) m[s] = a->stiffness * w * (double)g[s];
  if (MASS) m[6] = a->mass * w * (double)g[ENTRIES * STIFFNESS];
#else
  double xi[3] = {0, 0, 0}, rows[3][3];
  for (int d = 0; d < DIM; d++) xi[d] = a->point[p[d]];
#if GEOMETRY == WEIGHTS
  const real *const g = (const real *)a->geometry + cell * ((1 + MASS) * POINTS + (MONOMIALS - 1) * DIM);
  (void)cofactors(g + (1 + MASS) * POINTS, xi, rows);
  const double scale = a->stiffness * (double)g[point], mass = MASS ? (double)g[MASS * POINTS + point] : 0;
#else
  const double det = cofactors((const real *)a->geometry + cell * (DIM == 3 ? 21 : 8), xi, rows);
  const double scale = a->stiffness * w / det, mass = w * det;
#endif
  for (int c = 0; c < DIM && STIFFNESS; c++)
    for (int e = c; e < DIM; e++) {
      double sum = 0;
      for (int r = 0; r < DIM; r++) sum += rows[c][r] * rows[e][r];
      m[packed(c, e)] = scale * sum;
    }
  if (MASS) m[6] = a->mass * mass;
#endif
#endif
}

/* out <- s' u, plus t' v if v is given, along direction e of a cell. The directions before e have nodes, the others
 * points: s, t [Q][N]. The threads of a block share the work; no barrier. */
TESK_DEVICE void contract(int e, const double *s, const double *u, const double *t, const double *v,
                          double *out) {
  const int inner = e == 0   ? 1
                    : e == 1 ? N
                             : N * N,
            left = DIM - 1 - e,
            outer = left == 0   ? 1
                    : left == 1 ? Q
                                : Q * Q;
  FOR_EACH_OF(r, outer * N * inner) {
    const int l = r % inner, i = r / inner % N, first = r / inner / N * Q * inner + l;
    double sum = 0;
    for (int p = 0; p < Q; p++) {
      sum += s[p * N + i] * u[first + p * inner];
      if (v) sum += t[p * N + i] * v[first + p * inner];
    }
    out[r] = sum;
  }
}

#endif
