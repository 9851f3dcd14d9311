/* Queued work that is the same each time. The first time it runs directly, which compiles what it needs; the second
 * time it is recorded; afterwards it is replayed. Work that waits for the host cannot be recorded and always runs
 * directly. */
#ifndef TESI_RECORDED_H
#define TESI_RECORDED_H

#include "device/kernel.h"

/* Begins as {0}. plain: number of further direct runs before the recording, for work that takes longer than its
 * launches and may not come often: the host needs a millisecond or more for a graph of 100 launches. */
typedef struct TesiRecorded {
  int seen, plain;
  bool refused;
  void *graph;
} TesiRecorded;

typedef TesStatus (*TesiWork)(void *user);

/* Calls work(user) directly inside another recording, on devices without recordings, and on ranks whose messages the
 * host sends. All replays see the values that `work` read on the host during the recording. */
TesStatus tesi_recorded_run(TesContext *ctx, TesiRecorded *recorded, TesiWork work, void *user);
/* Back to {0}. */
void tesi_recorded_release(TesContext *ctx, TesiRecorded *recorded);

/* ---- loops that the device ends ------------------------------------------------------------------------ */

/* Whether a recording can contain loops that the device controls: in the emulator, and with drivers that have while
 * nodes (CUDA 12.4), but not with ranks that exchange by NCCL. The first call must not be inside a recording. */
bool tesi_recorded_can_loop(TesContext *ctx);

/* Repeats work(user) while *go_on is not 0. *go_on is an integer of device memory that earlier launches and the
 * launches of `work` set; it is read before each pass. Inside a recording this becomes a loop, and replays decide by
 * *go_on without the host. Loops nest up to depth two. Outside of recordings, and if there are no such loops, the host
 * reads *go_on before each pass. A recording is then refused; tesi_recorded_can_loop() tells beforehand. `work` must
 * make all its decisions in kernels. Kernels store residuals and counts, and the host reads them after the recording
 * has run. On an H200 a pass costs 3.5 us beside its launches, and a loop 7 us; a read by the host 9 to 14 us. */
TesStatus tesi_recorded_while(TesContext *ctx, const int *go_on, TesiWork work, void *user);

#endif
