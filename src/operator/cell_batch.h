/* Integrals over cells with any number of Gauss points: what loads and norms share. Cells are taken in batches of
 * TESI_BATCH along x, one lane a cell: arrays are [z][y][x][lane] over the nodes or points of a cell, float64.
 * Lanes beyond the last cell of a row repeat it with weight 0. */
#ifndef TESI_CELL_BATCH_H
#define TESI_CELL_BATCH_H

#include "basis/gauss.h"
#include "space/space.h"

enum { TESI_BATCH = 8 };

/* Contractions along direction d of a brick of `size` values (size[d] is that of the input): out <- T in, or T' in, with
 * T[rows][columns]. `out` and `in` differ. One build a SIMD width. */
typedef void (*TesiBatchContract)(const int size[3], int d, int rows, int columns, bool transposed,
                                  const double *T, const double *in, double *out);

typedef struct TesiCells {
  const TesSpace *space;
  int dim, n, q;                                          /* nodes and points a direction */
  int64_t nodes, points;                                  /* a cell */
  int rows, batches;                                      /* rows of cells along x; batches a row */
  double point[TESI_MAX_POINTS], weight[TESI_MAX_POINTS]; /* on [0, 1] */
  double B[TESI_MAX_POINTS * TESI_MAX_POINTS];            /* [q][n]: nodal basis at the points */
  double D[TESI_MAX_POINTS * TESI_MAX_POINTS]; /* [q][q]: derivative of polynomials through the points */
  TesiBatchContract contract;
} TesiCells;

/* One batch: cells first .. first + count - 1 of row cy + cells(1) cz. */
typedef struct TesiBatch {
  int first, count, cy, cz;
} TesiBatch;

/* q > degree points a direction. */
void tesi_cells_init(const TesSpace *space, int q, TesiCells *cells);
TesiBatch tesi_cells_batch(const TesiCells *cells, int row, int batch);
/* Coordinates and weights of the points, [points][lane] each. */
void tesi_cells_points(const TesiCells *cells, const TesiBatch *batch, double *x, double *y, double *z,
                       double *w);
/* values[points] <- the finite element function with nodal values u, polynomials of degree q - 1 along any direction.
 * scratch: [points], too. */
void tesi_cells_evaluate(const TesiCells *cells, const TesiBatch *batch, const double *u, double *values,
                         double *scratch);
/* out <- derivative in direction d of the polynomials with these values. */
void tesi_cells_differentiate(const TesiCells *cells, const TesiBatch *batch, int d, const double *values,
                              double *out);
/* b_i += sum over points of values * phi_i. `values` is lost; scratch: [points]. */
void tesi_cells_integrate(const TesiCells *cells, const TesiBatch *batch, double *values, double *b,
                          double *scratch);

#endif
