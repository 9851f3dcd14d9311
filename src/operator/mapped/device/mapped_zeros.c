/* Zeroing of y before the kernel of mapped cells adds to it. Either a separate pass does it; or, where all blocks run
 * at the same time, the blocks do it themselves in one launch: they write zeros, read and contract, and meet before
 * they add. */
#include "operator/mapped/device/mapped_kernel.h"

static int64_t count_blocks(const TesiMappedKernel *kernel, int64_t cells) {
  const int64_t size = (int64_t)kernel->cut.cells * kernel->cut.groups, needed = (cells + size - 1) / size;
  return needed < kernel->most_blocks ? needed : kernel->most_blocks;
}

TesStatus tesi_mapped_kernel_make_for(TesContext *ctx, const TesiMappedKernelDesc *desc, int64_t cells,
                                      TesiMappedKernel *kernel) {
  TesStatus status = TES_OK;
  TesiMappedKernelDesc d = *desc;
  d.meet = false;
  TES_TRY(tesi_mapped_kernel_make(ctx, &d, kernel));
  if (d.dim == 2 || d.output != TESI_MAPPED_ATOMIC || count_blocks(kernel, cells) > kernel->resident)
    goto done;
  d.meet = true;
  TES_TRY(tesi_mapped_kernel_make(ctx, &d, kernel));
done:
  return status;
}

TesStatus tesi_mapped_meeting_make(TesContext *ctx, const TesiMappedKernel *kernel, void **meeting) {
  *meeting = NULL;
  return kernel->meet ? tesi_context_device(ctx)->allocate(ctx, 2 * sizeof(int), meeting) : TES_OK;
}

TesStatus tesi_mapped_kernel_run(TesContext *ctx, const TesiMappedKernel *kernel, const TeskMapped *arguments,
                                 const void *x, void *y) {
  TeskMapped argument = *arguments;
  void *list[] = {&x, &y, &argument};
  const int64_t blocks = count_blocks(kernel, arguments->cells);
  return tesi_kernel_launch(ctx, &kernel->kernel, (TesiGrid){(unsigned)blocks, 1, 1},
                            (unsigned)(kernel->cut.group * kernel->cut.groups), kernel->shared, list);
}

TesStatus tesi_mapped_kernel_run_on_zeros(TesContext *ctx, const TesiMappedKernel *kernel,
                                          const TeskMapped *arguments, int64_t length, void *meeting,
                                          const void *x, void *y) {
  TesStatus status = TES_OK;
  TeskMapped a = *arguments;
  a.zeros = length;
  a.meeting = meeting;
  if (!kernel->meet) TES_TRY(tesi_context_device(ctx)->fill(ctx, kernel->precision, length, 0, y));
  TES_TRY(tesi_mapped_kernel_run(ctx, kernel, &a, x, y));
done:
  return status;
}
