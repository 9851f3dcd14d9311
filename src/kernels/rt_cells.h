/* Cells of Raviart-Thomas spaces in blocks of threads: the places of their numbers, and contractions of lines with
 * matrices of the unit cell. Before: real, THREADS, DIM, N (modes of a cell), Q (points), CELLS (of a block), and
 * RT_ARGUMENTS: a struct with parts, cells, periodic, all, first and h (TeskConvection). tables.h: modal [Q][N],
 * nodal [Q][N + 1], both times the weights of the points too (_w), root [N]: modes at the upper end. RT_LOOP: how
 * lines are unrolled. */
#ifndef TESK_RT_CELLS_H
#define TESK_RT_CELLS_H

#define P (N + 1)
#define EXTENT(i, d) ((d) >= DIM ? 1 : (d) == (i) ? P : N)
#define SIZE (P * N * (DIM == 3 ? N : 1)) /* numbers of a component */
#define POINTS (Q * Q * (DIM == 3 ? Q : 1))
#define FACE (DIM == 3 ? Q * Q : Q)
#ifndef RT_LOOP
#define RT_LOOP TESK_UNROLL
#endif
#define LINE_LOOP RT_LOOP
#include "cell_lines.h"

/* ---- lines ------------------------------------------------------------------------------------------------ */

CONTRACTION(modes_to_points, Q, N, tesk_modal(r *N + c))
CONTRACTION(nodes_to_points, Q, P, tesk_nodal(r *P + c))
CONTRACTION(points_to_modes, N, Q, tesk_modal_w(c *N + r))
CONTRACTION(points_to_nodes, P, Q, tesk_nodal_w(c *P + r))

TESK_DEVICE void to_points(int nodal, const real *from, int step, real *to, int stride) {
  if (nodal)
    nodes_to_points(from, step, to, stride);
  else
    modes_to_points(from, step, to, stride);
}
TESK_DEVICE void from_points(int nodal, const real *from, int step, real *to, int stride) {
  if (nodal)
    points_to_nodes(from, step, to, stride);
  else
    points_to_modes(from, step, to, stride);
}

/* ---- cells ------------------------------------------------------------------------------------------------ */

typedef struct Cell {
  int number, at[3];
} Cell;

/* Cells after the last repeat the last cell, which is then computed twice. */
TESK_DEVICE Cell cell_of(const RT_ARGUMENTS *s, int of) {
  Cell c;
  const int number = s->first + (int)blockIdx.x * CELLS + of;
  c.number = number < s->all ? number : s->all - 1;
  const int row = c.number / s->cells[0];
  c.at[0] = c.number - row * s->cells[0];
  c.at[2] = row / s->cells[1];
  c.at[1] = row - c.at[2] * s->cells[1];
  return c;
}

/* 1 / sqrt(h) of the directions other than i. Modes of a cell are the modes of [0, 1] times this. */
TESK_DEVICE real scale_of(const RT_ARGUMENTS *s, int i, const int at[3]) {
  real square = 1;
  TESK_UNROLL
  for (int d = 0; d < DIM; d++)
    if (d != i) square *= TESK_READ(s->h[d] + at[d]);
  return 1 / sqrt(square);
}

/* The place of entry x, y, z of component i in a cell; a periodic direction ends with its first node. */
TESK_DEVICE long long place_of(const RT_ARGUMENTS *s, int i, const int at[3], int x, int y, int z) {
  const int *const e = s->parts.extent[i];
  int px = at[0] * N + x, py = at[1] * N + y, pz = DIM == 3 ? at[2] * N + z : 0;
  if (px == e[0]) px = 0;
  if (py == e[1]) py = 0;
  if (DIM == 3 && pz == e[2]) pz = 0;
  return s->parts.offset[i] + ((long long)pz * e[1] + py) * e[0] + px;
}

/* Whether there is a cell beyond face (d, end). */
TESK_DEVICE int is_inner(const RT_ARGUMENTS *s, int d, int end, const int at[3]) {
  return s->periodic[d] || (end ? at[d] < s->cells[d] - 1 : at[d] > 0);
}

/* The place of number `id` among those that cells put aside for component i, N^(DIM - 1) each. They belong to the
 * lower nodes of the cell above; -1: there is no such cell. */
TESK_DEVICE long long aside_place(const RT_ARGUMENTS *s, int i, long long id) {
  const int each = SIZE / P, number = (int)(id / each), k = (int)(id - (long long)number * each),
            row = number / s->cells[0], a = k % N, b = k / N;
  int at[3] = {number - row * s->cells[0], 0, row / s->cells[1]};
  at[1] = row - at[2] * s->cells[1];
  if (id >= (long long)s->all * each || !is_inner(s, i, 1, at)) return -1;
  TESK_UNROLL
  for (int d = 0; d < DIM; d++)
    if (d == i) at[d] = at[d] == s->cells[d] - 1 ? 0 : at[d] + 1;
  return place_of(s, i, at, i == 0 ? 0 : a, i == 0 ? a : i == 1 ? 0 : b, i == 2 ? 0 : b);
}

/* The step between a component's entries of a cell in direction d. */
TESK_DEVICE int step_of(int i, int d) {
  return d == 0 ? 1 : d == 1 ? EXTENT(i, 0) : EXTENT(i, 0) * EXTENT(i, 1);
}

/* sum over modes of their values at an end; upper: 1, else -1. */
TESK_DEVICE real end_value(int mode, real upper) {
  return mode % 2 ? upper * tesk_root(mode) : tesk_root(mode);
}

#endif
