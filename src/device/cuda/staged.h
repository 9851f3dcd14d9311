/* Copies between pageable memory of the host and a GPU by way of pinned memory.
 *
 * The driver copies pageable memory by one thread: 6 GB/s to an H200. All threads together fill pinned memory at 20
 * GB/s, and the GPU fetches one half of it while the threads fill the other. */
#ifndef TESI_CUDA_STAGED_H
#define TESI_CUDA_STAGED_H

#include "device/cuda/driver.h"

/* A half; copies of fewer than TESI_STAGED_LEAST bytes are left to the driver. */
enum { TESI_STAGED_HALF = 2 << 20, TESI_STAGED_LEAST = 4 << 20 };

/* Begins as {0}. The first long copy pins the halves, 3 ms; where they cannot be pinned, the driver copies. */
typedef struct TesiStaged {
  void *half[2];
  bool refused;
} TesiStaged;

/* Queued work of the stream comes first; on return the copy is done. They return the driver's error, 0 for none. */
int tesi_staged_to_device(TesContext *ctx, const TesiCuDriver *cu, TesiCuStream stream, TesiStaged *staged,
                          TesiCuAddress device, const void *host, size_t bytes);
int tesi_staged_to_host(TesContext *ctx, const TesiCuDriver *cu, TesiCuStream stream, TesiStaged *staged,
                        void *host, TesiCuAddress device, size_t bytes);
void tesi_staged_destroy(const TesiCuDriver *cu, TesiStaged *staged);

#endif
