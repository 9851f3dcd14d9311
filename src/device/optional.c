/* The optional entries of a device table: they call the required entries if the device has no own function. */
#include "device/device.h"

TesStatus tesi_device_multiply(TesContext *ctx, TesPrecision precision, int64_t n, double a, const void *x,
                               const void *d, void *y) {
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  void *copy = NULL;
  if (device->multiply) return device->multiply(ctx, precision, n, a, x, d, y);
  if (x == y) {
    TES_TRY(
        device->allocate(ctx, (size_t)n * (precision == TES_DOUBLE ? sizeof(double) : sizeof(float)), &copy));
    TES_TRY(device->copy(ctx, n, 1, precision, x, precision, copy));
  }
  TES_TRY(device->fill(ctx, precision, n, 0, y));
  TES_TRY(device->multiply_add(ctx, precision, n, a, copy ? copy : x, d, y));
done:
  device->release(ctx, &copy);
  return status;
}

TesStatus tesi_device_diagonal_step(TesContext *ctx, TesPrecision precision, int64_t n,
                                    const TesiDiagonalStep *step) {
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const TesiDiagonalStep *t = step;
  if (device->diagonal_step) return device->diagonal_step(ctx, precision, n, step);
  if (t->c == 0)
    TES_TRY(device->fill(ctx, precision, n, 0, t->p));
  else
    TES_TRY(device->copy(ctx, n, t->c, precision, t->p, precision, t->p));
  TES_TRY(device->multiply_add(ctx, precision, n, t->s, t->r, t->d, t->p));
  if (t->keep == 0)
    TES_TRY(device->copy(ctx, n, 1, precision, t->p, precision, t->x));
  else
    TES_TRY(device->xpay(ctx, precision, n, t->p, t->keep, t->x));
  if (t->b) TES_TRY(device->copy(ctx, n, 1, precision, t->b, precision, t->next));
done:
  return status;
}

TesStatus tesi_device_diagonal_residual(TesContext *ctx, TesPrecision precision, int64_t n, double a,
                                        const void *q, const void *d, void *r, void *z, double *rz) {
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  if (device->diagonal_residual) return device->diagonal_residual(ctx, precision, n, a, q, d, r, z, rz);
  TES_TRY(device->axpy(ctx, n, a, precision, q, precision, r));
  TES_TRY(tesi_device_multiply(ctx, precision, n, 1, r, d, z));
  TES_TRY(device->dot(ctx, precision, n, r, z, rz));
done:
  return status;
}

TesStatus tesi_device_combine_pair(TesContext *ctx, int64_t n, int count, const double *a, const double *b,
                                   const void *const *x, void *y, void *z) {
  const TesiDevice *device = tesi_context_device(ctx);
  if (device->combine_pair) return device->combine_pair(ctx, n, count, a, b, x, y, z);
  const TesStatus status = device->combine(ctx, n, count, a, x, y);
  return status == TES_OK ? device->combine(ctx, n, count, b, x, z) : status;
}

TesStatus tesi_device_difference(TesContext *ctx, int64_t n, const void *x, const void *y, void *r,
                                 double *square) {
  const TesiDevice *device = tesi_context_device(ctx);
  if (device->difference) return device->difference(ctx, n, x, y, r, square);
  const TesStatus status = device->combine(ctx, n, 2, (double[]){1, -1}, (const void *[]){x, y}, r);
  return status == TES_OK ? device->dot(ctx, TES_DOUBLE, n, r, r, square) : status;
}
