/* The plan of mapped operators for devices with kernels, shared by application (mapped_device.c) and what is made
 * of it once (mapped_once_device.c: diagonal, assembled matrix). */
#ifndef TESI_MAPPED_DEVICE_H
#define TESI_MAPPED_DEVICE_H

#include "operator/mapped/device/mapped_kernel.h"
#include "operator/mapped/mapped.h"

typedef struct TesiMappedPlan {
  TesiMappedKernel kernel;
  TeskMapped arguments;
  TesFactors factors;
  void *geometry, *index, *order, *masks;
  int32_t *place; /* [cells]: which cell stands where; NULL: the first first */
  void *meeting;  /* of the blocks, atomics; NULL: they do not */
  int launches;
  int64_t *first; /* cells of colour c: order[first[c]] .. ; NULL: one launch for all */
} TesiMappedPlan;

TesiMappedGeometry tesi_mapped_geometry_of(TesFactors kind);
/* The kernel that applies it with factors of this kind. */
TesiMappedKernelDesc tesi_mapped_kernel_desc(const TesiMapped *m, TesFactors kind);
/* d <- the diagonal, an address on the device, in the operator's precision. */
TesStatus tesi_mapped_device_diagonal(const TesOperator *op, void *d);

#endif
