#include "kernels/shared_rate.h"
#include "kernels/texts.h"

TesStatus bench_shared_rate(TesContext *ctx, double *bytes_per_second) {
  enum { THREADS = 256, PARTS = 16, EACH = 6, REPEATS = 5 };
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const size_t shared = PARTS * THREADS * sizeof(double);
  TesiProgram *program;
  TesiKernel kernel;
  void *out = NULL;
  *bytes_per_second = 0;
  if (!tesi_has_kernels(ctx)) return TES_OK;
  const int64_t blocks = tesi_kernel_resident(ctx, EACH);
  int rounds = 1;
  TES_TRY(bench_program_get(ctx, &(TesiProgramDesc){.file = "shared_rate.cu", .macros = {{"PARTS", 16}}},
                            &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_shared_rate", shared, &kernel));
  TES_TRY(device->allocate(ctx, (size_t)(blocks * THREADS) * sizeof(double), &out));
  for (int repeat = 0; repeat < REPEATS; repeat++) { /* more rounds until a launch takes a millisecond */
    TES_TRY(device->synchronize(ctx));
    const double start = tesi_now();
    TES_TRY(tesi_kernel_launch(ctx, &kernel, (TesiGrid){(unsigned)blocks, 1, 1}, THREADS, shared,
                               (void *[]){&rounds, &out}));
    TES_TRY(device->synchronize(ctx));
    const double seconds = tesi_now() - start,
                 rate = 8.0 * PARTS * THREADS * (double)rounds * (double)blocks / seconds;
    if (rate > *bytes_per_second) *bytes_per_second = rate;
    if (seconds < 1e-3) rounds *= 16;
  }
done:
  device->release(ctx, &out);
  return status;
}
