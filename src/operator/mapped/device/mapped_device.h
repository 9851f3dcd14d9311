/* The plan of mapped operators for devices with kernels. The application (mapped_device.c) and one-time results
 * (mapped_once_device.c: diagonal, assembled matrix) share it. */
#ifndef TESI_MAPPED_DEVICE_H
#define TESI_MAPPED_DEVICE_H

#include "operator/mapped/device/mapped_kernel.h"
#include "operator/mapped/mapped.h"

typedef struct TesiMappedPlan {
  TesiMappedKernel kernel;
  TeskMapped arguments;
  TesFactors factors;
  void *geometry, *index, *order, *masks;
  bool full;      /* the index has all nodes of all cells, not rows */
  int32_t *place; /* [cells]: the cell at each place; NULL: the order of the mesh */
  void *meeting;  /* where the blocks meet, atomics; NULL: no meeting */
  int launches;
  int64_t *first; /* cells of colour c: order[first[c]] .. ; NULL: one launch for all */
} TesiMappedPlan;

TesiMappedGeometry tesi_mapped_geometry_of(TesFactors kind);
/* The kernel that applies the operator with factors of this kind. */
TesiMappedKernelDesc tesi_mapped_kernel_desc(const TesiMapped *m, TesFactors kind);
/* mapped_halves.c: whether factors in float16 exist for this operator. word[count][row] of the cells first .. first +
 * count - 1, in the plan's order, from g[count][s][q^3]. False: a cell is too sheared for them. */
bool tesi_mapped_can_halve(const TesiMapped *m);
bool tesi_mapped_pack_halves(TesContext *ctx, const TesiMapped *m, const int32_t *place, int64_t first,
                             int64_t count, const double *g, uint32_t *word);
/* *index <- values[cells][row] on the device, in the plan's order. */
TesStatus tesi_mapped_upload_index(TesContext *ctx, const TesiMappedPlan *plan, int64_t cells, int64_t row,
                                   const int32_t *values, void **index);
/* d <- the diagonal, an address on the device, in the operator's precision. */
TesStatus tesi_mapped_device_diagonal(const TesOperator *op, void *d);

#endif
