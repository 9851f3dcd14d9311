/* How y becomes zero before the kernel of mapped cells adds to it. Zeros that a pass of their own writes leave the L2 cache and come back, 16 bytes
 * a number; so the cells are run in chunks, and while one works, the last of its blocks write the zeros of the next. What is zeroed is the
 * stretch of y between the highest node of the cells so far and that of the next chunk: nobody has added there, whatever the numbering. Where all
 * blocks run at a time, one launch does it all: blocks write zeros, meet, and add. */
#include <stdlib.h>
#include <string.h>
#include "operator/mapped_kernel.h"

enum { BY_DEFAULT = 0, CHUNK_BYTES = 8 << 20 }; /* of y: so many zeros wait in the L2 cache */

static int64_t count_blocks(const TesiMappedKernel *kernel, int64_t cells) {
  const int64_t size = (int64_t)kernel->cut.cells * kernel->cut.groups, needed = (cells + size - 1) / size;
  return needed < kernel->most_blocks ? needed : kernel->most_blocks;
}

TesStatus tesi_mapped_kernel_make_for(TesContext *ctx, const TesiMappedKernelDesc *desc, int64_t cells,
                                      TesiMappedKernel *kernel) {
  TesStatus status = TES_OK;
  TesiMappedKernelDesc d = *desc;
  const char *given = getenv("TESSERA_MAPPED_ZEROS");
  d.zeros = d.dim == 3 && d.output == TESI_MAPPED_ATOMIC ? given ? atoi(given) : BY_DEFAULT : 0;
  TES_TRY(tesi_mapped_kernel_make(ctx, &d, kernel));
  if (!kernel->waits || given || count_blocks(kernel, cells) > kernel->resident) goto done;
  d.zeros = 2;
  TES_TRY(tesi_mapped_kernel_make(ctx, &d, kernel));
done:
  return status;
}

/* A chunk is whole blocks, and its factors begin at a multiple of 16 bytes. */
static void cut_cells(const TesiMappedKernel *kernel, int64_t cells, int64_t length, bool several,
                      TesiMappedZeros *zeros) {
  const int64_t unit = (int64_t)kernel->cut.cells * kernel->cut.groups * 4, units = (cells + unit - 1) / unit;
  const char *given = getenv("TESSERA_MAPPED_CHUNK"); /* bytes, for measurements and tests */
  const int64_t bytes = given ? strtoll(given, NULL, 10) : CHUNK_BYTES;
  int64_t chunks = length * (int64_t)tesi_precision_size(kernel->precision) / (bytes > 0 ? bytes : 1);
  if (chunks > TESI_MAPPED_CHUNKS) chunks = TESI_MAPPED_CHUNKS;
  if (chunks > units) chunks = units;
  if (chunks < 1 || kernel->zeros != 1 || !several) chunks = 1;
  zeros->chunks = (int)chunks;
  for (int64_t i = 0; i < chunks; i++) zeros->first[i] = i * units / chunks * unit;
  zeros->first[chunks] = cells;
}

TesStatus tesi_mapped_zeros_make(TesContext *ctx, const TesiMappedKernel *kernel, int64_t cells,
                                 int64_t length, bool chunks, TesiMappedZeros *zeros) {
  TesStatus status = TES_OK;
  memset(zeros, 0, sizeof *zeros);
  zeros->length = length;
  cut_cells(kernel, cells, length, chunks, zeros);
  for (int i = 0; i < zeros->chunks; i++) zeros->end[i] = length;
  if (kernel->zeros == 2) TES_TRY(tesi_context_device(ctx)->allocate(ctx, 2 * sizeof(int), &zeros->meeting));
done:
  return status;
}

void tesi_mapped_zeros_find(TesiMappedZeros *zeros, int64_t cell_nodes, int components,
                            const int32_t *index) {
  int64_t end = 0;
  for (int i = 0; i + 1 < zeros->chunks; i++) {
    for (int64_t k = zeros->first[i] * cell_nodes; k < zeros->first[i + 1] * cell_nodes; k++) {
      const int64_t node = index[k] < 0 ? ~index[k] : index[k];
      if (node >= end) end = node + 1;
    }
    zeros->end[i] = end * components;
  }
  if (zeros->end[0] > zeros->length / 2) { /* numbers and cells have different orders */
    zeros->first[1] = zeros->first[zeros->chunks];
    zeros->end[0] = zeros->length;
    zeros->chunks = 1;
  }
}

void tesi_mapped_zeros_release(TesContext *ctx, TesiMappedZeros *zeros) {
  tesi_context_device(ctx)->release(ctx, &zeros->meeting);
}

static TesStatus launch(TesContext *ctx, const TesiMappedKernel *kernel, const TeskMapped *arguments,
                        bool early, const void *x, void *y) {
  TeskMapped argument = *arguments;
  void *list[] = {&x, &y, &argument};
  const int64_t blocks = count_blocks(kernel, arguments->cells);
  return (early ? tesi_kernel_launch_early : tesi_kernel_launch)(
      ctx, &kernel->kernel, (TesiGrid){(unsigned)blocks, 1, 1},
      (unsigned)(kernel->cut.group * kernel->cut.groups), kernel->shared, list);
}

TesStatus tesi_mapped_kernel_run(TesContext *ctx, const TesiMappedKernel *kernel, const TeskMapped *arguments,
                                 const void *x, void *y) {
  return launch(ctx, kernel, arguments, false, x, y);
}

/* The cells of chunk i, and zeros for the next one. */
static TesStatus run_chunk(TesContext *ctx, const TesiMappedKernel *kernel, const TeskMapped *arguments,
                           const TesiMappedZeros *zeros, int i, const void *x, void *y) {
  TeskMapped a = *arguments;
  a.cells = zeros->first[i + 1] - zeros->first[i];
  a.geometry = (const char *)a.geometry + zeros->first[i] * kernel->cell_bytes;
  if (a.index) a.index += zeros->first[i] * kernel->cell_index;
  if (i + 1 < zeros->chunks) {
    a.zero_first = zeros->end[i];
    a.zeros = zeros->end[i + 1] - zeros->end[i];
    a.zero_block = count_blocks(kernel, a.cells) * 3 / 4; /* late: they are not wanted before */
  }
  return launch(ctx, kernel, &a, kernel->waits, x, y);
}

TesStatus tesi_mapped_kernel_run_on_zeros(TesContext *ctx, const TesiMappedKernel *kernel,
                                          const TeskMapped *arguments, const TesiMappedZeros *zeros,
                                          const void *x, void *y) {
  TesStatus status = TES_OK;
  TeskMapped a = *arguments;
  if (zeros->meeting) {
    a.zeros = zeros->length;
    a.meeting = zeros->meeting;
    TES_TRY(launch(ctx, kernel, &a, false, x, y));
    goto done;
  }
  TES_TRY(tesi_context_device(ctx)->fill(ctx, kernel->precision, zeros->end[0], 0, y));
  for (int i = 0; i < zeros->chunks; i++) TES_TRY(run_chunk(ctx, kernel, &a, zeros, i, x, y));
done:
  return status;
}
