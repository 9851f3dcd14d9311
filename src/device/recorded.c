#include "device/recorded.h"
#include "device/links.h"
#include "parallel/comm.h"

/* Whether the host sends the messages between ranks. */
static bool waits_for_host(const TesContext *ctx) {
  return tesi_ranks(ctx) > 1 && !tesi_links_queued(ctx);
}

static TesStatus record(TesContext *ctx, TesiRecorded *recorded, TesiWork work, void *user) {
  const TesiDevice *device = tesi_context_device(ctx);
  TesiKernelState *state = tesi_context_device_state(ctx);
  TesStatus status = device->graph_begin(ctx);
  if (status != TES_OK) return status;
  state->recording = true;
  status = work(user);
  state->recording = false;
  const TesStatus ended = device->graph_end(ctx, status == TES_OK ? &recorded->graph : NULL);
  if (status == TES_OK && ended == TES_OK) return TES_OK;
  tesi_log(ctx, TES_LOG_DETAIL, "launched kernel by kernel: %s", tes_context_message(ctx));
  tesi_context_forget(ctx);
  if (recorded->graph) device->graph_release(ctx, &recorded->graph);
  recorded->refused = true;
  return TES_OK;
}

TesStatus tesi_recorded_run(TesContext *ctx, TesiRecorded *recorded, TesiWork work, void *user) {
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const TesiKernelState *state = device->graph_begin ? tesi_context_device_state(ctx) : NULL;
  if (!state || state->recording || recorded->refused || waits_for_host(ctx)) return work(user);
  if (recorded->seen <= recorded->plain) {
    TES_TRY(work(user));
    recorded->seen++;
    goto done;
  }
  if (!recorded->graph) TES_TRY(record(ctx, recorded, work, user));
  TES_TRY(recorded->graph ? device->graph_run(ctx, recorded->graph) : work(user));
done:
  return status;
}

bool tesi_recorded_can_loop(TesContext *ctx) {
  const TesiDevice *device = tesi_context_device(ctx);
  return device->loops && tesi_links_loop(ctx) && device->loops(ctx);
}

static TesStatus record_loop(TesContext *ctx, const int *go_on, TesiWork work, void *user) {
  const TesiDevice *device = tesi_context_device(ctx);
  TesStatus status = device->loop_begin(ctx, go_on);
  if (status != TES_OK) return status;
  status = work(user);
  const TesStatus ended = device->loop_end(ctx);
  return status != TES_OK ? status : ended;
}

TesStatus tesi_recorded_while(TesContext *ctx, const int *go_on, TesiWork work, void *user) {
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const TesiKernelState *state = device->graph_begin ? tesi_context_device_state(ctx) : NULL;
  int more;
  if (tesi_recorded_can_loop(ctx) && state->recording) return record_loop(ctx, go_on, work, user);
  for (;;) {
    TES_TRY(device->to_host(ctx, &more, go_on, sizeof more));
    if (!more) break;
    TES_TRY(work(user));
    TES_TRY(tesi_work_go_on(ctx));
  }
done:
  return status;
}

void tesi_recorded_release(TesContext *ctx, TesiRecorded *recorded) {
  if (recorded->graph) tesi_context_device(ctx)->graph_release(ctx, &recorded->graph);
  *recorded = (TesiRecorded){0};
}
