/* Cells in the order of the flow, for transport of element q where the velocity prevails.
 *
 * The smoother stores the matrix of the operator (operator/assembled/matrix.h) and its incomplete LU factors. Without
 * fill L U has the pattern of A and agrees with A on it. A step is x <- x + (L U)^-1 (b - A x). The unknowns are
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
 * Factors without fill lose the entries that elimination adds outside of the pattern. Where the flow is oblique to the
 * cells, these are as large as the entries within the pattern: after some 50 cells in a row the rows of L grow from
 * cell to cell. So factors are measured when they are made (`left`), and poor factors are made again with all entries
 * that are not small. A closed path needs better factors, since no factors contain the cut of the path. Where the flow
 * enters through a boundary without a value, hardly anything holds u, and the first pivots are as small as the
 * diffusion: factors against the flow begin where u is held. Levels that no factors serve are for sparse factors
 * (tesi_transport_mend()).
 *
 * A sweep is sequential, in float64, by the host; on devices vectors are copied there and back. Forward and backward
 * sweeps are the same. Memory: 24 bytes per entry of the matrix, with fill 48; a row has (2k + 2 - 1/k ..)^dim entries
 * on average. Set-up: about (2k + 1)^dim products with the operator on boxes, and the factorization. */
#ifndef TESI_ORDERED_CELLS_H
#define TESI_ORDERED_CELLS_H

#include "operator/assembled/matrix.h"
#include "smoother/smoother.h"

/* L below the diagonal, with ones on it, and U, whose diagonal is inverted. */
typedef struct TesiIncomplete {
  TesiMatrix F;
  int64_t *diagonal; /* [rows] its entry */
  bool failed;       /* they have more entries than allowed, and are not there */
} TesiIncomplete;

/* Factors have at most so many times the entries of A. */
enum { TESI_INCOMPLETE_FILL = 3 };

/* Incomplete factors of A, whose diagonal is in its pattern. drop 0: without fill; else with all entries of at least
 * `drop` times the root of the mean square of their row of A. */
TesStatus tesi_incomplete_create(TesContext *ctx, const TesiMatrix *A, double drop, TesiIncomplete *factors);
void tesi_incomplete_free(TesContext *ctx, TesiIncomplete *factors);
/* z <- (L U)^-1 z */
void tesi_incomplete_solve(const TesiIncomplete *factors, double *z);

typedef struct TesiOrderedCells {
  TesiMatrix A; /* in the order of the sweep, columns ascending */
  TesiIncomplete factors;
  int32_t *order;    /* [rows] unknown of a row */
  double drop;       /* of the factors: tesi_incomplete_create() */
  double *b, *x, *z; /* [rows] host */
  double *share;     /* [rows] by unknown, on several ranks: of this rank's correction; NULL: all of it */
  TesVector *r;      /* the same */
  double poor;       /* |v - A (L U)^-1 v| / |v| of a vector v, from which on factors are poor */
  double left;       /* the same of these factors, in units of `poor` */
} TesiOrderedCells;

/* A longer closed path, in cells, belongs to the flow, a shorter one to the mesh. */
enum { TESI_ORDERED_PATH = 8 };

/* order[length] <- the unknowns of the operator's space, cell by cell in the order of the flow. *longest <- the number
 * of cells of the longest closed path that was cut; 0: there is none. passed[length] += the length of the flow's way
 * to each unknown through cells of this rank; NULL: not wanted. */
TesStatus tesi_ordered_cells_order(const TesOperator *op, int32_t *order, int64_t *longest, double *passed);
/* Computes *longest alone. */
TesStatus tesi_ordered_cells_closed(const TesOperator *op, int64_t *longest);
/* `left`; 0: another smoother, or none. Factors are poor from 1 on. */
double tesi_ordered_cells_left(const TesSmoother *smoother);
/* Bytes of matrix and factors over a space, at most. */
double tesi_ordered_cells_bytes(const TesSpace *space);
/* The same step with dense matrices from the plain operator, on one rank. */
TesStatus tesi_ordered_cells_apply_ref(const TesSmoother *smoother, const double *b, double *x,
                                       TesSweep sweep);

#endif
