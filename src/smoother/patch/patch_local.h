/* Vertex patches with their own eigenbases, on devices with kernels: the data of src/kernels/patch_local.cu. */
#ifndef TESI_PATCH_LOCAL_H
#define TESI_PATCH_LOCAL_H

#include "device/kernel.h"
#include "smoother/patch/surrogate/surrogate.h"

/* As in the kernel. */
typedef struct TesiLocalPatch {
  long long node, table[3];
  int m[3], unused;
} TesiLocalPatch;

typedef struct TesiPatchLocal {
  TesiKernel kernel;
  int nodes, row; /* of a table */
  int batch;      /* patches per block */
  unsigned threads;
  size_t shared; /* 0: patches work in global memory, in at most `most` blocks per launch */
  int most;
  int64_t table_count, table_size, first_of_colour[9];
  void *patches, *tables, *work; /* device */
} TesiPatchLocal;

/* The exact local matrices of a separable operator: a table per interval. */
TesStatus tesi_patch_local_separable(const TesOperator *op, TesiPatchLocal *local);
/* The local matrices of a surrogate: tables for every patch. */
TesStatus tesi_patch_local_surrogate(const TesOperator *op, const TesiSurrogate *surrogate,
                                     TesiPatchLocal *local);
/* Sets kernel and sizes; to be called before the other functions. */
TesStatus tesi_patch_local_compile(const TesOperator *op, TesiPatchLocal *local);
/* x_I <- x_I + omega A_p^-1 r_I for all patches of a colour. */
TesStatus tesi_patch_local_solve(const TesOperator *op, const TesiPatchLocal *local, int colour, double omega,
                                 const void *r, void *x);
void tesi_patch_local_destroy(TesContext *ctx, TesiPatchLocal *local);

#endif
