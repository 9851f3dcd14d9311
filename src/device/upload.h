/* New arrays on the device with the values of host arrays. Released by the device table. */
#ifndef TESI_UPLOAD_H
#define TESI_UPLOAD_H

#include "device/device.h"

TesStatus tesi_upload(TesContext *ctx, const void *values, size_t bytes, void **address);
/* Numbers in the device's precision. */
TesStatus tesi_upload_numbers(TesContext *ctx, const double *values, int64_t count, TesPrecision precision,
                              void **address);
/* The same, replacing *held numbers at *address (0 and NULL: none). If the count is the same, they are overwritten in
 * place, so that recordings (recorded.h) see them; else a new array is made, and *renewed becomes true. */
TesStatus tesi_upload_over(TesContext *ctx, const double *values, int64_t count, TesPrecision precision,
                           int64_t *held, void **address, bool *renewed);

#endif
