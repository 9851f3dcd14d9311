/* Quadrature over the box, one row of cells along x at a time: what loads and norms share.
 * A row has cells[0] * q points in x and q points in y and z (1 in directions that do not exist). Its values are
 * [qz][qy][cells[0]*q], x fastest. */
#ifndef TESI_CELL_ROWS_H
#define TESI_CELL_ROWS_H

#include "basis/quadrature.h"
#include "space/space.h"

typedef struct TesiCellRows {
  const TesSpace *space;
  int q[3], p[3]; /* points and nodes a cell and direction; 1 where a direction does not exist */
  int length;     /* cells[0] * q[0]: points of a row in x */
  int64_t points; /* length * q[1] * q[2] */
  double point[TESI_MAX_POINTS], weight[TESI_MAX_POINTS];                            /* on [0, 1] */
  double B[TESI_MAX_POINTS * TESI_MAX_POINTS], G[TESI_MAX_POINTS * TESI_MAX_POINTS]; /* [q][degree+1] */
} TesiCellRows;

void tesi_cell_rows_init(const TesSpace *space, int points, TesiCellRows *rows);
/* Coordinates of the points of the row of cells (., cy, cz), arrays [points]. */
void tesi_cell_rows_coordinates(const TesiCellRows *rows, int cy, int cz, double *x, double *y, double *z);
/* Quadrature weights times cell volume, [points]. */
void tesi_cell_rows_weights(const TesiCellRows *rows, int cy, int cz, double *w);
/* values[points] <- u (derivative -1) or du/d(direction `derivative`) from nodal values; scratch: 2 * points values at least. */
void tesi_cell_rows_evaluate(const TesiCellRows *rows, int cy, int cz, const double *u, int derivative,
                             double *values, double *scratch);
/* b += sum over points of values * phi_i, the transpose of evaluate with derivative -1. scratch as above. */
void tesi_cell_rows_integrate(const TesiCellRows *rows, int cy, int cz, const double *values, double *b,
                              double *scratch);

#endif
