/* Functions as text for kernels. */
#ifndef TESI_DEVICE_TEXT_H
#define TESI_DEVICE_TEXT_H

#include "base/base.h"

/* tesk_f0, tesk_f1, ... (double x, y, z, t), NULL: 0, with room for `spare` more bytes; *text is NULL where a
 * function has no text. */
TesStatus tesi_device_text(TesContext *ctx, int count, const TesFunction *const *f, size_t spare,
                           char **text);
/* The time that they are at (tesi_function_at()); 0 where none is. They are at one time. */
double tesi_device_time(int count, const TesFunction *const *f);

#endif
