/* The coarsest level's direct solver as kernels. */
#ifndef TESI_COARSE_DEVICE_H
#define TESI_COARSE_DEVICE_H

#include "multigrid/coarse/diagonalization.h"

typedef struct TesiCoarseDevice TesiCoarseDevice;

/* Copies the eigenbases to the device. precision: of the vectors of later calls. */
TesStatus tesi_coarse_device_create(TesContext *ctx, const TesiDiagonalizationAxis axis[3],
                                    TesPrecision precision, TesiCoarseDevice **device);
void tesi_coarse_device_destroy(TesiCoarseDevice **device);
/* x <- A^-1 b, device arrays of all nodes; queued without waiting. */
TesStatus tesi_coarse_device_solve(TesiCoarseDevice *device, const void *b, void *x);

/* The inverse of an operator as a dense matrix, if the operator has no tensor structure: at most this many entries, 25
 * MB in float32. */
enum { TESI_COARSE_DENSE = 2500 };
typedef struct TesiCoarseDense TesiCoarseDense;
/* From the float64 operator applied to unit vectors; precision: of the vectors of later calls. */
TesStatus tesi_coarse_dense_create(TesContext *ctx, const TesOperator *op, TesPrecision precision,
                                   TesiCoarseDense **dense);
void tesi_coarse_dense_destroy(TesiCoarseDense **dense);
TesStatus tesi_coarse_dense_solve(TesiCoarseDense *dense, const void *b, void *x);
/* Replaces symmetric A[count][n][n] in device memory by their inverses (coarse_inverse.c); definite: whether all pivots
 * were positive. */
TesStatus tesi_coarse_invert(TesContext *ctx, int n, int count, void *A, bool *definite);

#endif
