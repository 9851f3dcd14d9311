/* Time of an iteration by part, in seconds, reported if the context logs details (--verbose). Each lap then waits for
 * the device, which costs about 10 us; without details laps do nothing. */
#ifndef TESI_LAPS_H
#define TESI_LAPS_H

#include "base/base.h"

enum { TESI_LAPS = 12 };

typedef struct TesiLaps {
  const char *const *name; /* [count] */
  int count;
  bool on;
  double start, seconds[TESI_LAPS];
} TesiLaps;

void tesi_laps_begin(TesContext *ctx, int count, const char *const *name, TesiLaps *laps);
/* Adds the time since the last lap, or the beginning, to a part. */
TesStatus tesi_lap(TesContext *ctx, TesiLaps *laps, int part);
/* One line of the log. */
void tesi_laps_tell(TesContext *ctx, const TesiLaps *laps);

#endif
