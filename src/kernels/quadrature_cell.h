/* A cell of a launch of quadrature.cu or quadrature_diagonal.cu. Define before: real, DIM, K. */
#ifndef TESK_QUADRATURE_CELL_H
#define TESK_QUADRATURE_CELL_H

#include "quadrature_arguments.h"

typedef struct Cell {
  int on, at[3];          /* whether there is one; its place in the box */
  long long node, points; /* its first node and, in units of N^DIM, its coefficients */
  real inverse_h2[3];
  real volume;
} Cell;

TESK_DEVICE Cell make_cell(const TeskDiffusion *a, int number) {
  Cell cell;
  const int total = a->count[0] * a->count[1] * a->count[2];
  cell.on = number < total;
  const int n = cell.on ? number : 0;
  const int i[3] = {n % a->count[0], n / a->count[0] % a->count[1], n / a->count[0] / a->count[1]};
  cell.volume = 1;
  TESK_UNROLL
  for (int d = 0; d < 3; d++) {
    cell.at[d] = a->first[d] + i[d] * a->step[d];
    const real h = d < DIM ? ((const real *)a->h[d])[cell.at[d]] : 1;
    cell.inverse_h2[d] = 1 / (h * h);
    cell.volume *= h;
  }
  cell.node = (long long)cell.at[2] * K * a->plane + (long long)cell.at[1] * K * a->pitch + cell.at[0] * K;
  cell.points = ((long long)cell.at[2] * a->cells[1] + cell.at[1]) * a->cells[0] + cell.at[0];
  return cell;
}

/* Node i of the cell in direction d lies on a Dirichlet face. */
TESK_DEVICE int is_fixed(const TeskDiffusion *a, const Cell *cell, int d, int i) {
  return (i == 0 && cell->at[d] == 0 && a->dirichlet[2 * d]) ||
         (i == K && cell->at[d] == a->cells[d] - 1 && a->dirichlet[2 * d + 1]);
}

#endif
