#include "tensor/band_device.h"
#include <string.h>
#include "device/upload.h"
#include "device/vector.h"

TesStatus tesi_band_upload(TesContext *ctx, const TesiBand *band, TesPrecision precision, TeskBand *on_device,
                           void **memory) {
  TesStatus status = TES_OK;
  const size_t rows = (size_t)band->rows,
               numbers = rows * (size_t)band->width * tesi_precision_size(precision);
  char *all = NULL;
  TES_ALLOC(&all, (int64_t)(numbers + 2 * rows * sizeof(int)));
  memcpy(all, precision == TES_DOUBLE ? (const void *)band->value : band->single, numbers);
  memcpy(all + numbers, band->first, rows * sizeof(int));
  memcpy(all + numbers + rows * sizeof(int), band->count, rows * sizeof(int));
  TES_TRY(tesi_upload(ctx, all, numbers + 2 * rows * sizeof(int), memory));
  const int *const first = (const int *)((const char *)*memory + numbers);
  *on_device = (TeskBand){.first = first,
                          .count = first + rows,
                          .value = *memory,
                          .rows = band->rows,
                          .columns = band->columns,
                          .width = band->width};
done:
  tesi_free(ctx, &all);
  return status;
}
