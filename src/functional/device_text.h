/* Functions as text for kernels, and the time at which kernels evaluate them. */
#ifndef TESI_DEVICE_TEXT_H
#define TESI_DEVICE_TEXT_H

#include "device/device.h"
#include "kernels/clock.h"

/* Text of tesk_f0, tesk_f1, ... (double x, y, z, t), NULL: 0, with room for `spare` more bytes; *text is NULL if a
 * function has no text. */
TesStatus tesi_device_text(TesContext *ctx, int count, const TesFunction *const *f, size_t spare, char **text);
/* The same followed by tesk_value(number, x, y, z, t), which is 0 for unused numbers. */
TesStatus tesi_device_values_text(TesContext *ctx, int count, const TesFunction *const *f, char **text);
/* The time of the functions (tesi_function_at()), which is the same for all; 0 if none has a time. */
double tesi_device_time(int count, const TesFunction *const *f);

/* A TeskClock in device memory: sets the time for work that is queued later, without waiting; tells whether a value was
 * NaN. */
TesStatus tesi_clock_create(TesContext *ctx, double time, void **clock);
TesStatus tesi_clock_set(TesContext *ctx, void *clock, double time);
TesStatus tesi_clock_refused(TesContext *ctx, const void *clock, bool *refused);

#endif
