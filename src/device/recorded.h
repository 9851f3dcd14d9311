/* Queued work that is the same each time: the first time it runs as it is, which compiles what it needs; the second
 * time it is recorded; from then on replayed. What waits for the host cannot be recorded and keeps running as it is. */
#ifndef TESI_RECORDED_H
#define TESI_RECORDED_H

#include "device/kernel.h"

/* Begins as {0}. plain: runs more, before it is recorded, of work that keeps the device busy for longer than its
 * launches take and may not come often: making a graph of 100 launches takes the host a millisecond or more. */
typedef struct TesiRecorded {
  int seen, plain;
  bool refused;
  void *graph;
} TesiRecorded;

typedef TesStatus (*TesiWork)(void *user);

/* Inside another recording, on devices without, and on ranks whose messages the host sends, simply
 * work(user). What `work` reads on the host at the
 * recording is what all replays see. */
TesStatus tesi_recorded_run(TesContext *ctx, TesiRecorded *recorded, TesiWork work, void *user);
/* Back to {0}. */
void tesi_recorded_release(TesContext *ctx, TesiRecorded *recorded);

/* ---- loops that the device ends ------------------------------------------------------------------------ */

/* Whether a recording can repeat a part of itself as the device decides: in the emulator, and with drivers that have
 * while nodes (CUDA 12.4). Not to be asked for the first time inside a recording. */
bool tesi_recorded_can_loop(TesContext *ctx);

/* Runs work(user) as long as *go_on, an integer of device memory that earlier launches and those of `work` set, is not
 * 0: not at all where it is 0 before. Inside a recording it becomes a loop of that, and replays make as many passes as
 * go_on then says, without the host; loops may stand in loops, two deep. Elsewhere, and where there are no such loops,
 * the host reads go_on before each pass, which ends a recording with a refusal: ask tesi_recorded_can_loop() where
 * there is a better way then. `work` must end by itself; whatever it decides, it decides in kernels. What the host
 * wants to know, residuals and counts, is for kernels to keep, and for the host to read after the recording has run.
 * On an H200 a pass costs 3.5 us beside its launches, and a loop 7 us; a number read by the host 9 to 14 us. */
TesStatus tesi_recorded_while(TesContext *ctx, const int *go_on, TesiWork work, void *user);

#endif
