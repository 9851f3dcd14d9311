#include "tensor/dense_device.h"
#include "device/upload.h"

enum { THREADS = 128 };

TesStatus tesi_dense_device_create(TesContext *ctx, TesPrecision precision, int n, const double *A,
                                   TesiDenseDevice *dense) {
  TesStatus status = TES_OK;
  const TesiProgramDesc desc = {.file = "contract.cu", .real = precision};
  TesiProgram *program;
  int *numbers = NULL;
  TES_ALLOC(&numbers, n);
  for (int i = 0; i < n; i++) numbers[i] = i;
  dense->n = n;
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_dense", THREADS * sizeof(double), &dense->kernel));
  TES_TRY(tesi_upload(ctx, numbers, (size_t)n * sizeof *numbers, &dense->numbers));
  TES_TRY(tesi_upload_numbers(ctx, A, (int64_t)n * n, precision, &dense->matrix));
done:
  tesi_free(ctx, &numbers);
  return status;
}

void tesi_dense_device_free(TesContext *ctx, TesiDenseDevice *dense) {
  tesi_context_device(ctx)->release(ctx, &dense->matrix);
  tesi_context_device(ctx)->release(ctx, &dense->numbers);
}

TesStatus tesi_dense_device_apply(TesContext *ctx, const TesiDenseDevice *dense, const void *b, void *x) {
  TesiDenseDevice d = *dense;
  void *arguments[] = {&d.matrix, &b, &x, &d.numbers, &d.numbers, &d.n};
  return tesi_kernel_launch(ctx, &d.kernel, (TesiGrid){(unsigned)d.n, 1, 1}, THREADS,
                            THREADS * sizeof(double), arguments);
}
