/* Functions C phi_i of nodes i on interpolated lines, at the points of a cell; C is the interpolation of hanging
 * nodes. For kernels that run once (mapped_diagonal.cu, mapped_csr.cu).
 *
 * Let e be the basis function of the node in a direction, and w its interpolated function. C phi is built direction
 * by direction as in space.h: the factor of a direction is e + (w - e) where the line is interpolated. Whether a line
 * across is interpolated depends on the part of this sum, since only e is not zero on the side. Include
 * mapped_points.h before. */
#ifndef TESK_HANGING_POINTS_H
#define TESK_HANGING_POINTS_H

#include "hanging_lines.h"

#define TABLE (Q * N)
#define TESK_HANGS(mask) (((mask) >> 3 & 63) != 0)

typedef struct Node {
  int mask, i[3], on[3]; /* on: where the child touches its parent's boundary */
} Node;

TESK_DEVICE Node find_node(int mask, int node) {
  const int i[3] = {node % N, node / N % N, node / (N * N)};
  Node result = {mask, {0}, {0}};
  for (int d = 0; d < 3; d++) {
    result.i[d] = i[d];
    result.on[d] = d < DIM && i[d] == (mask >> d & 1 ? N - 1 : 0);
  }
  return result;
}

TESK_DEVICE int is_interpolated(const Node *n) {
  return tesk_mask_line(n->mask, 0, n->on[1], n->on[2]) || tesk_mask_line(n->mask, 1, n->on[0], n->on[2]) ||
         (DIM == 3 && tesk_mask_line(n->mask, 2, n->on[0], n->on[1]));
}

/* f[2] <- value and derivative at point p of direction d: of e (0), of w - e (1), of w (2). own, lower, upper:
 * [2][Q][N] each. */
TESK_DEVICE void function_at(const Node *n, const double *own, int d, int p, int part, double f[2]) {
  const double *const e = own + p * N + n->i[d], *const w = e + (n->mask >> d & 1 ? 4 : 2) * TABLE;
  for (int k = 0; k < 2; k++) f[k] = (part ? w[k * TABLE] : e[k * TABLE]) - (part == 1 ? e[k * TABLE] : 0);
}

/* g[0..DIM-1] <- gradient, g[3] <- value of C phi at a point. */
TESK_DEVICE void interpolated_at(const Node *n, const double *own, int point, double g[4]) {
  const int p[3] = {point % Q, point / Q % Q, point / (Q * Q)};
  g[0] = g[1] = g[2] = g[3] = 0;
  for (int a = 0; a <= tesk_mask_line(n->mask, 0, n->on[1], n->on[2]); a++) {
    const int on_x = n->on[0] && a == 0;
    double x[2], y[2], z[2] = {1, 0};
    function_at(n, own, 0, p[0], a, x);
    for (int b = 0; b <= tesk_mask_line(n->mask, 1, on_x, n->on[2]); b++) {
      function_at(n, own, 1, p[1], b, y);
      if (DIM == 3)
        function_at(n, own, 2, p[2], tesk_mask_line(n->mask, 2, on_x, n->on[1] && b == 0) ? 2 : 0, z);
      g[0] += x[1] * y[0] * z[0];
      g[1] += x[0] * y[1] * z[0];
      g[2] += x[0] * y[0] * z[1];
      g[3] += x[0] * y[0] * z[0];
    }
  }
}

/* The diagonal entry of a node. own: [6][Q][N]; M[7][POINTS]: the factors of the cell, G packed, then the mass. */
TESK_DEVICE double interpolated_entry(const Node *n, const double *own, const double *M) {
  double sum = 0;
  for (int point = 0; point < POINTS; point++) {
    double g[4];
    interpolated_at(n, own, point, g);
    for (int c = 0; c < DIM && STIFFNESS; c++)
      for (int e = c; e < DIM; e++) sum += (c == e ? 1 : 2) * M[packed(c, e) * POINTS + point] * g[c] * g[e];
    if (MASS) sum += M[6 * POINTS + point] * g[3] * g[3];
  }
  return sum;
}

#endif
