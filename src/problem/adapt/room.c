#include "problem/adapt/room.h"
#include <math.h>
#include "device/blocks.h"

void tesi_room_begin(TesContext *ctx, TesiRoom *room) {
  tesi_usage_mark(ctx);
  room->host = tesi_usage_host(ctx).held;
  room->device = tesi_usage_device(ctx).held;
}

static TesStatus check(TesContext *ctx, const char *where, size_t before, TesiUsage now,
                       const TesiNextMesh *next) {
  TesStatus status = TES_OK;
  const double rounding = 1.03; /* blocks are rounded up to pages */
  const double gib = 1 << 30, took = (double)now.high - (double)before - (double)next->spare,
               needed = rounding * next->growth * fmax(took, 0),
               there = (double)now.available + (double)now.held - (double)before;
  tesi_log(ctx, TES_LOG_DETAIL, "next mesh: about %.3g GiB of %.3g GiB on the %s", needed / gib, there / gib,
           where);
  if (needed > there)
    TES_FAIL(
        TES_OUT_OF_MEMORY,
        "the next mesh, of %lld cells and %lld unknowns, needs about %.3g GiB on the %s, where this step "
        "took "
        "%.3g GiB and %.3g GiB are there; what the steps found until here is kept. Refine fewer cells a "
        "step, set "
        "a tolerance or max_dofs that stops before, take a lower degree or single precision, or go on from a "
        "checkpoint on a machine with more memory",
        (long long)next->cells, (long long)next->dofs, needed / gib, where, took / gib, there / gib);
done:
  return status;
}

TesStatus tesi_room_check(TesContext *ctx, const TesiRoom *room, const TesiNextMesh *next) {
  TesStatus status = TES_OK;
  const TesiNextMesh host = {next->cells, next->dofs, next->growth, 0};
  if (tesi_has_kernels(ctx)) TES_TRY(check(ctx, "device", room->device, tesi_usage_device(ctx), next));
  TES_TRY(check(ctx, "host", room->host, tesi_usage_host(ctx), &host));
done:
  return status;
}
