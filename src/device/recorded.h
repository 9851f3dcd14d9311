/* Queued work that is the same each time: the first time it runs as it is, which compiles what it needs; the second
 * time it is recorded; from then on replayed. What waits for the host cannot be recorded and keeps running as it is. */
#ifndef TESI_RECORDED_H
#define TESI_RECORDED_H

#include "device/kernel.h"

/* Begins as {0}. */
typedef struct TesiRecorded {
  bool seen, refused;
  void *graph;
} TesiRecorded;

typedef TesStatus (*TesiWork)(void *user);

/* Inside another recording, and on devices without, simply work(user). What `work` reads on the host at the
 * recording is what all replays see. */
TesStatus tesi_recorded_run(TesContext *ctx, TesiRecorded *recorded, TesiWork work, void *user);
/* Back to {0}. */
void tesi_recorded_release(TesContext *ctx, TesiRecorded *recorded);

#endif
