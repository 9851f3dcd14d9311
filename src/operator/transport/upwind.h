/* Transport between discontinuous elements: the terms of faces that belong to the term of a velocity. n is the
 * outward normal of a cell, u its own trace and e the trace of its neighbour:
 *
 *   conservative   - int u b . grad v + sum over its faces int ((b.n)+ u + (b.n)- e) v
 *   convective       int (b . grad u) v + sum over its faces int (b.n)- (e - u) v
 *
 * (x)+ = max(x, 0), (x)- = min(x, 0). At a boundary with given values e is the given value, whose terms are on the
 * right-hand side. At an open boundary e = u. At a closed boundary, whose flux is given, nothing passes: the
 * conservative term is 0, the convective term - (b.n) u. Both sides of a face have the same (b.n) to the last bit, so
 * that the outflow of one cell is the inflow of the next. Lesaint and Raviart 1974; Brezzi, Marini and Suli 2004.
 *
 * Eight cells at a time, in the batches of the term inside cells. First the traces of the polynomials through the
 * points of a cell are stored for all cells. Then each cell reads the traces of its neighbours and adds to its own
 * values. */
#ifndef TESI_UPWIND_H
#define TESI_UPWIND_H

#include "functional/batch.h"
#include "operator/operator.h"

/* Parts of b.n, or all of it. */
typedef enum TesiUpwindPart { TESI_UPWIND_IN, TESI_UPWIND_OUT, TESI_UPWIND_BOTH } TesiUpwindPart;

typedef struct TesiUpwind {
  const TesiBatches *batches;
  bool conservative, uniform; /* uniform: one batch of speeds holds for all */
  bool periodic[3];
  TesiHow end[6];                  /* weak; open; or closed: its flux is given */
  int points;                      /* of a face */
  double ends[2][TESI_MAX_POINTS]; /* polynomials through the points of a line, at 0 and at 1 */
  double *speed; /* [batches, or 1][2 dim][points][lane]: (b.n) and the weights of the face */
  double *trace; /* [batches][2 dim][points][lane]; NULL on devices with kernels, which store none */
} TesiUpwind;

/* b[3], NULL inside: 0. through[boundaries] as in the transport term. Uniform: b constant, cells equal. */
TesStatus tesi_upwind_create(const TesSpace *space, const TesiBatches *batches, bool conservative,
                             bool uniform, const signed char *through, TesiUpwind *upwind);
void tesi_upwind_free(TesContext *ctx, TesiUpwind *upwind);
TesStatus tesi_upwind_fill(TesiUpwind *upwind, const TesFunction *const b[3]);

/* u[points of a cell]: values in a batch. Stores its traces. */
void tesi_upwind_put(const TesiUpwind *upwind, int64_t number, const double *u);
/* v += the terms of the faces of a batch. All traces must be stored before. scratch, more: [points of a cell]. */
void tesi_upwind_add(const TesiUpwind *upwind, int64_t number, double *v, double *scratch, double *more);
/* v -= (b.n) at all faces of a batch. */
void tesi_upwind_subtract_speeds(const TesiUpwind *upwind, int64_t number, double *v, double *scratch,
                                 double *more);
/* y[length] += factor int over a boundary of that part of (b.n), times g (NULL: 1), v. */
TesStatus tesi_upwind_boundary(const TesiUpwind *upwind, int boundary, TesiUpwindPart part, double factor,
                               const TesFunction *g, double *y);

#endif
