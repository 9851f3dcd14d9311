/* Functions as text for kernels, and the time that those take. */
#ifndef TESI_DEVICE_TEXT_H
#define TESI_DEVICE_TEXT_H

#include "device/device.h"
#include "kernels/clock.h"

/* tesk_f0, tesk_f1, ... (double x, y, z, t), NULL: 0, with room for `spare` more bytes; *text is NULL where a
 * function has no text. */
TesStatus tesi_device_text(TesContext *ctx, int count, const TesFunction *const *f, size_t spare, char **text);
/* The same with tesk_value(number, x, y, z, t) behind them; 0 for numbers that there are none of. */
TesStatus tesi_device_values_text(TesContext *ctx, int count, const TesFunction *const *f, char **text);
/* The time that they are at (tesi_function_at()); 0 where none is. They are at one time. */
double tesi_device_time(int count, const TesFunction *const *f);

/* A TeskClock in device memory; its time for what is queued from now on, without a wait; whether a value is none. */
TesStatus tesi_clock_create(TesContext *ctx, double time, void **clock);
TesStatus tesi_clock_set(TesContext *ctx, void *clock, double time);
TesStatus tesi_clock_refused(TesContext *ctx, const void *clock, bool *refused);

#endif
