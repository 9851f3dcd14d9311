/* Robin terms of operators over forests as a kernel. */
#ifndef TESI_MAPPED_ROBIN_DEVICE_H
#define TESI_MAPPED_ROBIN_DEVICE_H

#include "functional/batch_faces.h"
#include "operator/assembled/matrix.h"
#include "space/space.h"
#include "operator/mapped/mapped_desc.h"

typedef struct TesiRobinKernel TesiRobinKernel;

/* The faces face[faces] of cells cell[faces], with weight[faces][points] of alpha w|J|. May be destroyed after
 * failure too. */
typedef struct TesiRobinDesc {
  const TesiCellView *space;
  const TesiFaceRule *rule;
  int64_t faces;
  const int32_t *cell;
  const int8_t *face;
  const double *weight;
  TesPrecision precision;
} TesiRobinDesc;
TesStatus tesi_robin_kernel_create(TesContext *ctx, const TesiRobinDesc *desc, TesiRobinKernel **kernel);
void tesi_robin_kernel_destroy(TesContext *ctx, TesiRobinKernel **kernel);
/* y += sign R x on device arrays. */
TesStatus tesi_robin_kernel_add(TesContext *ctx, const TesiRobinKernel *kernel, double sign, const void *x,
                                void *y);
/* d += the diagonal of R; matrix += R, which has a place for all pairs of nodes of a cell. Either may be NULL. */
TesStatus tesi_robin_kernel_columns(TesContext *ctx, const TesiRobinKernel *kernel, void *d,
                                    const TesiDeviceMatrix *matrix);

#endif
