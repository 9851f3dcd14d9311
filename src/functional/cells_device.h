/* Functions at the Gauss points of mapped cells by kernels: the cells in device memory. */
#ifndef TESI_CELLS_DEVICE_H
#define TESI_CELLS_DEVICE_H

#include "device/kernel.h"
#include "functional/batch.h"

enum { TESI_CELLS_THREADS = 128, TESI_CELLS_BLOCKS = 8192, TESI_CELLS_SHARED = 96 << 10 };

typedef struct TesiCellsDevice {
  TesContext *context;
  TesiBatches *batches;
  void *nodes, *index, *mask, *tables; /* device */
} TesiCellsDevice;

/* q points per direction. *cells is NULL for an analytic map or a degree above 8, which kernels do not have. */
TesStatus tesi_cells_device_create(const TesSpace *space, int q, TesiCellsDevice **cells);
void tesi_cells_device_destroy(TesiCellsDevice **cells);
/* A kernel of `file` with the functions' text, and shared memory for so many numbers beside the common part; *shared is
 * 0 if that is too much. */
TesStatus tesi_cells_kernel(const TesiCellsDevice *cells, const char *file, const char *name,
                            const char *text, int64_t numbers, size_t *shared, TesiKernel *kernel);
static inline TesiGrid tesi_cells_grid(const TesiCellsDevice *cells) {
  const int64_t count = cells->batches->cells;
  return (TesiGrid){(unsigned)(count < TESI_CELLS_BLOCKS ? count : TESI_CELLS_BLOCKS), 1, 1};
}

#endif
