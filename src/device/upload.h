/* New arrays on the device with what the host has. Released by the device table. */
#ifndef TESI_UPLOAD_H
#define TESI_UPLOAD_H

#include "device/device.h"

TesStatus tesi_upload(TesContext *ctx, const void *values, size_t bytes, void **address);
/* Numbers in the device's precision. */
TesStatus tesi_upload_numbers(TesContext *ctx, const double *values, int64_t count, TesPrecision precision,
                              void **address);
/* The same in the place of *held numbers at *address (0 and NULL: none): there where these are as many, so that what
 * was recorded (recorded.h) sees them, else in a new array, and *renewed becomes true. */
TesStatus tesi_upload_over(TesContext *ctx, const double *values, int64_t count, TesPrecision precision,
                           int64_t *held, void **address, bool *renewed);

#endif
