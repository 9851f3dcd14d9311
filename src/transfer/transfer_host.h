/* Host transfers: entry points of the builds for each SIMD width and precision. */
#ifndef TESI_TRANSFER_HOST_H
#define TESI_TRANSFER_HOST_H

#include "transfer/transfer.h"

typedef struct TesiTransferKernels {
  void (*prolongate)(const TesTransfer *t, int thread, int threads, const void *coarse, bool add, void *fine,
                     void *scratch);
  void (*restrict_)(const TesTransfer *t, int thread, int threads, const void *fine, void *coarse,
                    void *scratch);
} TesiTransferKernels;

/* [0] float64, [1] float32 */
extern const TesiTransferKernels tesi_transfer_kernels_128[2], tesi_transfer_kernels_256[2],
    tesi_transfer_kernels_512[2];

/* Values a thread needs as scratch: lines of fine x-length. */
static inline int64_t tesi_transfer_scratch(const TesTransfer *t) {
  const TesiEmbedding *y = &t->embedding[1], *z = &t->embedding[2];
  const int64_t line = (t->embedding[0].fine_nodes + 15) / 16 * 16;
  return line * ((y->degree + 1) * (z->degree + 1) + (y->step + 1) * (z->degree + 1));
}

#endif
