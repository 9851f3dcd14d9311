/* Common parts of kernels over cells of a box: positions of a cell's Gauss points, contractions, nodes of a face.
 * Macros: POINTS and NODES per direction. */
#ifndef TESK_BOX_POINTS_H
#define TESK_BOX_POINTS_H

#include "box_arguments.h"

enum { TESK_BOX_THREADS = 128 };

/* Cells of a direction with its parity. */
TESK_DEVICE int box_count(const TeskBox *box, int d) {
  return (box->cells[d] - box->parity[d] + box->step[d] - 1) / box->step[d];
}

TESK_DEVICE int box_size(const TeskBox *box, int d, int points) {
  return box->there[d] ? points : 1;
}

/* The cell `number` of its colour, by directions. */
TESK_DEVICE void box_cell(const TeskBox *box, long long number, int at[3]) {
  for (int d = 0; d < 3; d++) {
    const int count = box_count(box, d);
    at[d] = box->parity[d] + box->step[d] * (int)(number % count);
    number /= count;
  }
}

/* Coordinates of point q, and its weight. */
TESK_DEVICE double box_point(const TeskBox *box, const int at[3], int q, const double *point, const double *w,
                             double x[3]) {
  double weight = 1;
  for (int d = 0; d < 3; d++) {
    x[d] = box->level[d];
    if (!box->there[d]) continue;
    const double h = box->h[d][at[d]];
    x[d] = box->x[d][at[d]] + h * point[q % POINTS];
    weight *= w[q % POINTS] * h;
    q /= POINTS;
  }
  return weight;
}

TESK_DEVICE long long box_corner(const TeskBox *box, const int at[3]) {
  long long corner = box->first;
  for (int d = 0; d < 3; d++)
    if (box->there[d]) corner += (long long)at[d] * (NODES - 1) * box->stride[d];
  return corner;
}

/* to[o][r][i] <- sum_c T[r * row + c * column] from[o][c][i]; all threads, with a barrier before and after. */
TESK_DEVICE void box_contract(const double *T, int rows, int columns, int row, int column, int inner,
                              int outer, const double *from, double *to) {
  __syncthreads();
  for (int m = (int)threadIdx.x; m < outer * rows * inner; m += TESK_BOX_THREADS) {
    const int i = m % inner, r = m / inner % rows, o = m / inner / rows;
    double sum = 0;
    for (int c = 0; c < columns; c++) sum += T[r * row + c * column] * from[(o * columns + c) * inner + i];
    to[m] = sum;
  }
  __syncthreads();
}

TESK_DEVICE long long face_nodes(const TeskFace *face) {
  long long count = 1;
  for (int d = 0; d < 3; d++) count *= d == face->axis ? 1 : face->nodes[d];
  return count;
}

/* The i-th node of a face. */
TESK_DEVICE long long face_node(const TeskFace *face, long long i) {
  long long before = 1;
  for (int d = 0; d < face->axis; d++) before *= face->nodes[d];
  const long long span = before * face->nodes[face->axis];
  return i / before * span + (face->side ? span - before : 0) + i % before;
}

#endif
