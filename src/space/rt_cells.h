/* Cells of Raviart-Thomas spaces and of discontinuous elements: the entries of a cell, 1D tables, points. */
#ifndef TESI_RT_CELLS_H
#define TESI_RT_CELLS_H

#include "space/space.h"

enum { TESI_RT_POINTS = 20, TESI_RT_LOCAL = 17 };

/* 1D tables on the cell [0, 1]: values and derivatives of nodal polynomials [points][n + 1] and of Legendre polynomials
 * [points][n]. A cell of width h has these Legendre polynomials divided by sqrt(h). */
typedef struct TesiRtTables {
  int n, points;
  double x[TESI_RT_POINTS], w[TESI_RT_POINTS];
  double nodal[2][TESI_RT_POINTS * TESI_RT_LOCAL], modal[2][TESI_RT_POINTS * TESI_RT_LOCAL];
} TesiRtTables;
void tesi_rt_tables(int n, int points, TesiRtTables *t);
/* The same at given points of [0, 1]. */
void tesi_rt_tables_at(int n, int points, const double *x, TesiRtTables *t);
/* Numbers of part p of a cell: local [z][y][x] of extents tesi_rt_extent(); their numbers in the part. */
static inline int tesi_rt_extent(const TesSpace *space, int part, int d) {
  return space->scalar[part]->axis[d].degree + 1;
}
/* local <- values of part p of u in a cell, scaled for the tables of the unit cell. Returns how many. */
int tesi_rt_read(const TesSpace *space, int part, const int cell[3], const double *u, double *local);
/* u <- u + local, scaled in the same way. */
void tesi_rt_add(const TesSpace *space, int part, const int cell[3], const double *local, double *u);
/* u <- 0 at the entries of a part in a cell. */
void tesi_rt_clear_cell(const TesSpace *space, int part, const int cell[3], double *u);
/* values[points^dim] <- tables in all directions of local; derivative: direction of the derivative (on the unit
 * cell), -1: none. */
void tesi_rt_values(const TesSpace *space, const TesiRtTables *t, int part, int derivative,
                    const double *local, double *values);
/* Tables at the n + 1 Gauss-Lobatto points; nodes[(n + 1)^dim] <- the values of a part at these points of cell number
 * `cell`, x fastest. They describe the part as a polynomial of degree n = k + 1 in each direction, as in a cell of
 * Q_(k+1). */
void tesi_rt_node_tables(int n, TesiRtTables *t);
void tesi_rt_node_values(const TesSpace *space, const TesiRtTables *t, int part, int64_t cell,
                         const double *u, double *nodes);
/* local <- the transpose of tesi_rt_values(). */
void tesi_rt_moments(const TesSpace *space, const TesiRtTables *t, int part, const double *values,
                     double *local);
/* x[3][points^dim] of a cell; weights (may be NULL) include the volume. Returns how many. */
int tesi_rt_points(const TesSpace *space, const TesiRtTables *t, const int cell[3], double *x,
                   double *weights);
/* A cell by its number, x fastest. */
static inline void tesi_rt_cell(const TesSpace *space, int64_t number, int cell[3]) {
  const TesiAxis *a = tesi_space_last(space)->axis;
  const int x = a[0].cells, y = a[1].cells;
  cell[0] = (int)(number % x), cell[1] = (int)(number / x % y), cell[2] = (int)(number / x / y);
}
static inline int64_t tesi_rt_cell_number(const TesSpace *space, const int cell[3]) {
  const TesiAxis *a = tesi_space_last(space)->axis;
  return cell[0] + (int64_t)a[0].cells * (cell[1] + (int64_t)a[1].cells * cell[2]);
}
static inline int64_t tesi_rt_cells(const TesSpace *space) {
  const TesiAxis *a = tesi_space_last(space)->axis;
  return (int64_t)a[0].cells * a[1].cells * a[2].cells;
}
/* Cells in a line along a direction share nodes of this direction; cells of other lines do not. The number of lines,
 * and the place of the first cell of line `number`. */
static inline int64_t tesi_rt_lines(const TesSpace *space, int along) {
  return tesi_rt_cells(space) / tesi_modal(space, along)->cells;
}
static inline void tesi_rt_line(const TesSpace *space, int along, int64_t number, int cell[3]) {
  for (int d = 0; d < 3; d++) {
    cell[d] = d == along ? 0 : (int)(number % tesi_modal(space, d)->cells);
    if (d != along) number /= tesi_modal(space, d)->cells;
  }
}

#endif
