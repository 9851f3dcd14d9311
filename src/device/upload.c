#include "device/upload.h"
#include "device/vector.h"

TesStatus tesi_upload(TesContext *ctx, const void *values, size_t bytes, void **address) {
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  TES_TRY(device->allocate(ctx, bytes, address));
  TES_TRY(device->to_device(ctx, *address, values, bytes));
done:
  return status;
}

static TesStatus send(TesContext *ctx, const double *values, int64_t count, TesPrecision precision,
                      void *address) {
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  float *rounded = NULL;
  if (precision == TES_DOUBLE) return device->to_device(ctx, address, values, (size_t)count * sizeof *values);
  TES_ALLOC(&rounded, count);
  for (int64_t i = 0; i < count; i++) rounded[i] = (float)values[i];
  TES_TRY(device->to_device(ctx, address, rounded, (size_t)count * sizeof *rounded));
done:
  tesi_free(ctx, &rounded);
  return status;
}

TesStatus tesi_upload_numbers(TesContext *ctx, const double *values, int64_t count, TesPrecision precision,
                              void **address) {
  TesStatus status = TES_OK;
  TES_TRY(tesi_context_device(ctx)->allocate(ctx, (size_t)count * tesi_precision_size(precision), address));
  TES_TRY(send(ctx, values, count, precision, *address));
done:
  return status;
}

TesStatus tesi_upload_over(TesContext *ctx, const double *values, int64_t count, TesPrecision precision,
                           int64_t *held, void **address, bool *renewed) {
  TesStatus status = TES_OK;
  void *numbers = NULL;
  if (*held == count) return send(ctx, values, count, precision, *address);
  TES_TRY(tesi_upload_numbers(ctx, values, count, precision, &numbers));
  tesi_context_device(ctx)->release(ctx, address);
  *address = numbers, *held = count, *renewed = true;
done:
  return status;
}
