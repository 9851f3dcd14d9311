/* Transport between discontinuous elements: what the faces of cells add to the term of a velocity. n is the outward
 * normal of a cell, u its own trace and e that of its neighbour:
 *
 *   conservative   - int u b . grad v + sum over its faces int ((b.n)+ u + (b.n)- e) v
 *   convective       int (b . grad u) v + sum over its faces int (b.n)- (e - u) v
 *
 * (x)+ = max(x, 0), (x)- = min(x, 0). At a boundary with given values e is what is given, which stands on the
 * right-hand side; at an open one e = u; at a closed one, whose flux is given, nothing passes: the whole is 0,
 * convective - (b.n) u. Both sides of a face have the same (b.n) to the last bit, so that what leaves one cell enters
 * the next. Lesaint and Raviart 1974; Brezzi, Marini and Suli 2004.
 *
 * Eight cells at a time, on the batches of the term inside cells: traces of the polynomials through the points of a
 * cell are put down for all cells, then each cell takes those of its neighbours and adds to its own values. */
#ifndef TESI_UPWIND_H
#define TESI_UPWIND_H

#include "functional/batch.h"
#include "operator/operator.h"

/* Parts of b.n, or all of it. */
typedef enum TesiUpwindPart { TESI_UPWIND_IN, TESI_UPWIND_OUT, TESI_UPWIND_BOTH } TesiUpwindPart;

typedef struct TesiUpwind {
  const TesiBatches *batches;
  bool conservative, uniform; /* uniform: one batch of speeds stands for all */
  bool periodic[3];
  TesiHow end[6];                  /* weak, open, or its flux is given: closed */
  int points;                      /* of a face */
  double ends[2][TESI_MAX_POINTS]; /* polynomials through the points of a line, at 0 and at 1 */
  double *speed; /* [batches, or 1][2 dim][points][lane]: (b.n) and the weights of the face */
  double *trace; /* [batches][2 dim][points][lane]; NULL on devices with kernels, which keep none */
} TesiUpwind;

/* b[3], NULL inside: 0. through[boundaries] as in the transport term. Uniform: b constant, cells equal. */
TesStatus tesi_upwind_create(const TesSpace *space, const TesiBatches *batches, bool conservative,
                             bool uniform, const signed char *through, TesiUpwind *upwind);
void tesi_upwind_free(TesContext *ctx, TesiUpwind *upwind);
TesStatus tesi_upwind_fill(TesiUpwind *upwind, const TesFunction *const b[3]);

/* u[points of a cell]: values in a batch. Puts its traces down. */
void tesi_upwind_put(const TesiUpwind *upwind, int64_t number, const double *u);
/* v += what the faces of a batch add, all traces being there. scratch, more: [points of a cell]. */
void tesi_upwind_add(const TesiUpwind *upwind, int64_t number, double *v, double *scratch, double *more);
/* v -= (b.n) at all faces of a batch. */
void tesi_upwind_subtract_speeds(const TesiUpwind *upwind, int64_t number, double *v, double *scratch,
                                 double *more);
/* y[length] += factor int over a boundary of that part of (b.n), times g (NULL: 1), v. */
TesStatus tesi_upwind_boundary(const TesiUpwind *upwind, int boundary, TesiUpwindPart part, double factor,
                               const TesFunction *g, double *y);

#endif
