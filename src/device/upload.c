#include "device/upload.h"

TesStatus tesi_upload(TesContext *ctx, const void *values, size_t bytes, void **address) {
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  TES_TRY(device->allocate(ctx, bytes, address));
  TES_TRY(device->to_device(ctx, *address, values, bytes));
done:
  return status;
}

TesStatus tesi_upload_numbers(TesContext *ctx, const double *values, int64_t count, TesPrecision precision,
                              void **address) {
  TesStatus status = TES_OK;
  float *rounded = NULL;
  if (precision == TES_DOUBLE) return tesi_upload(ctx, values, (size_t)count * sizeof *values, address);
  TES_ALLOC(&rounded, count);
  for (int64_t i = 0; i < count; i++) rounded[i] = (float)values[i];
  TES_TRY(tesi_upload(ctx, rounded, (size_t)count * sizeof *rounded, address));
done:
  tesi_free(ctx, &rounded);
  return status;
}
