/* Products with a dense square matrix on devices with kernels (src/kernels/contract.cu). */
#ifndef TESI_DENSE_DEVICE_H
#define TESI_DENSE_DEVICE_H

#include "device/kernel.h"

typedef struct TesiDenseDevice {
  TesiKernel kernel;
  int n;
  void *matrix, *numbers; /* device: [n][n]; 0 .. n - 1 */
} TesiDenseDevice;

/* A[n][n] by rows, for vectors of that precision. To be freed after failure too. */
TesStatus tesi_dense_device_create(TesContext *ctx, TesPrecision precision, int n, const double *A,
                                   TesiDenseDevice *dense);
void tesi_dense_device_free(TesContext *ctx, TesiDenseDevice *dense);
/* x <- A b */
TesStatus tesi_dense_device_apply(TesContext *ctx, const TesiDenseDevice *dense, const void *b, void *x);

#endif
