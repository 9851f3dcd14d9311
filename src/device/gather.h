/* Sums the values that cells store in their own array, node by node in a fixed order, by one kernel
 * (src/kernels/gather.cu): y[i] = sum of the places whose index is i, in the order of places. For devices with
 * kernels. */
#ifndef TESI_GATHER_H
#define TESI_GATHER_H

#include "device/kernel.h"

/* Begins as {0}; addresses are device addresses. */
typedef struct TesiGather {
  TesiKernel kernel;
  int nodes, vectors; /* vectors: number of vectors for which there is room, at first one */
  int64_t places;
  void *values; /* [vectors][places] in the given precision: the caller's kernels write it before each run */
  void *first, *entry; /* places of node i: entry[first[i]] .. entry[first[i + 1] - 1] */
} TesiGather;

/* index[places]: node of each place. Places with a negative index are in no sum and need not be written. */
TesStatus tesi_gather_create(TesContext *ctx, TesPrecision precision, int64_t places, const int32_t *index,
                             int64_t nodes, TesiGather *gather);
/* Makes room for the places of several vectors. */
TesStatus tesi_gather_expect(TesContext *ctx, TesPrecision precision, int vectors, TesiGather *gather);
void tesi_gather_release(TesContext *ctx, TesiGather *gather);
/* Bytes on the device. */
double tesi_gather_bytes(TesPrecision precision, int64_t places, int64_t nodes);
/* y[nodes] <- the sums; zero at nodes without a place. The same for `count` vectors, y[count][nodes]. */
TesStatus tesi_gather_run(TesContext *ctx, const TesiGather *gather, void *y);
TesStatus tesi_gather_run_all(TesContext *ctx, const TesiGather *gather, int count, void *y);

#endif
