/* A function of space from values at scattered points: everywhere it has the value of the nearest one. */
#ifndef TESI_SCATTERED_H
#define TESI_SCATTERED_H

#include "base/base.h"

typedef struct TesiSample {
  double x[3], value; /* in 2D x[2] is 0 */
} TesiSample;

/* Every rank calls it with samples of its own, of which there are `count`; the function knows the samples of all ranks,
 * which are copied; there must be one. `text`: of the function, for messages. Any number of threads may evaluate it.
 * Cost: count log count at first, log count a value. */
TesStatus tesi_scattered_function(TesContext *ctx, int64_t count, const TesiSample *sample, const char *text,
                                  TesFunction **function);

#endif
