/* Cells in the order of the flow, for transport of element q where the velocity prevails.
 *
 * The smoother stores the matrix of the operator (operator/assembled/matrix.h) and its incomplete LU factors without
 * fill: L U has the pattern of A and agrees with A on it. A step is x <- x + (L U)^-1 (b - A x). The unknowns are
 * numbered cell by cell in the order in which the velocity goes through the cells, and along the velocity within a
 * cell. Where nothing is carried back, A is then lower triangular but for the diffusion, and the step is nearly a
 * direct solve. All nodes of a cell are coupled in the pattern, so that no fill is lost within a cell.
 *
 * The order is the end of a search in depth against the flow over faces of cells: a cell comes after the cells from
 * which the velocity enters it. A closed path of the flow is cut at the cell where the search meets itself.
 *
 * On several ranks each has factors of its own nodes, in the order of the flow through its cells: block Jacobi between
 * ranks, whose blocks have the nodes at cuts in common. There the corrections of ranks are added in the shares of the
 * ways that the flow has come through their cells: the rank that it comes from knows best.
 *
 * Where the flow enters through a boundary without a value, hardly anything holds u there: the first pivots are as
 * small as the diffusion, and rows of L grow from cell to cell. Factors against the flow begin where u is held. So both
 * are compared where factors along the flow leave much of a vector (`left`); levels that neither serves are for sparse
 * factors (tesi_transport_mend()).
 *
 * A sweep is sequential, in float64, by the host; on devices vectors are copied there and back. Forward and backward
 * sweeps are the same. Memory: 24 bytes an entry of the matrix, (2k + 2 - 1/k ..)^dim entries a row on average;
 * set-up: about (2k + 1)^dim products with the operator on boxes, and the factorization. */
#ifndef TESI_ORDERED_CELLS_H
#define TESI_ORDERED_CELLS_H

#include "operator/assembled/matrix.h"
#include "smoother/smoother.h"

typedef struct TesiOrderedCells {
  TesiMatrix A;      /* in the order of the sweep, columns ascending */
  double *factors;   /* [entries] L below the diagonal, with ones on it, and U */
  int64_t *diagonal; /* [rows] its entry */
  int32_t *order;    /* [rows] unknown of a row */
  double *b, *x, *z; /* [rows] host */
  double *share;     /* [rows] by unknown, on several ranks: of this rank's correction; NULL: all of it */
  TesVector *r;      /* the same */
  double left; /* |v - A (L U)^-1 v| / |v| of a vector v: 0.1 to 4 where factors serve; may not be finite */
} TesiOrderedCells;

/* Factors are poor, or broken, where `left` has this value or more. */
enum { TESI_ORDERED_POOR = 3, TESI_ORDERED_BROKEN = 30 };

/* order[length] <- the unknowns of the operator's space, cell by cell in the order of the flow; longest <- the cells
 * of the longest closed path that was cut, 0: there is none; passed[length] (NULL: not wanted) += by unknown, the way
 * that the flow has come through cells of this rank. */
TesStatus tesi_ordered_cells_order(const TesOperator *op, int32_t *order, int64_t *longest, double *passed);
/* The latter alone. */
TesStatus tesi_ordered_cells_closed(const TesOperator *op, int64_t *longest);
/* `left`, INFINITY where it is not finite; 0: another smoother, or none. */
double tesi_ordered_cells_left(const TesSmoother *smoother);
/* Bytes of matrix and factors over a space, at most. */
double tesi_ordered_cells_bytes(const TesSpace *space);
/* The same step with dense matrices from the plain operator, on one rank. */
TesStatus tesi_ordered_cells_apply_ref(const TesSmoother *smoother, const double *b, double *x,
                                       TesSweep sweep);

#endif
