#include "multigrid/coarse/coarse_saddle_device.h"
#include "smoother/saddle_patch/saddle_lanes.h"
#include "smoother/saddle_patch/saddle_patches.h"
#include "smoother/saddle_patch/saddle_plane.h"

/* Above this S^+ is too much for one block: some 100 microseconds. */
enum { PRESSURES = 2048 };

struct TesiCoarseSaddleDevice {
  TesContext *context;
  TesPrecision precision;
  int64_t length;
  TesiSaddleLocalAxis axis[3];
  TesiSaddlePatches whole;
  TesiSaddleLanes *lanes; /* instead, where the box is one vertex patch that these serve: 3D, 2D */
  TesiSaddlePlane *plane;
};

bool tesi_coarse_saddle_on_device(const TesOperator *op) {
  const TesSpace *space = tesi_saddle_of(op)->space;
  return tesi_has_kernels(op->context) && space->scalar[space->dim]->length <= PRESSURES;
}

/* A sweep over the one patch; both stay NULL where they do not serve. */
static TesStatus create_sweep(const TesOperator *op, TesiCoarseSaddleDevice *c) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiSaddle *s = tesi_saddle_of(op);
  TesiSaddlePatchAxis axis[3] = {{0}};
  bool one = s->space->dim == 2 || op->singular;
  for (int d = 0; d < s->space->dim; d++)
    one = one && tesi_modal(s->space, d)->cells == 2 && !tesi_modal(s->space, d)->periodic;
  if (!one) return TES_OK;
  for (int d = 0; d < 3; d++) TES_TRY(tesi_saddle_patch_axis_create(ctx, s, d, 2, &axis[d]));
  if (s->space->dim == 2 && tesi_saddle_plane_serves(op, axis))
    TES_TRY(tesi_saddle_plane_create(op, c->precision, axis, &c->plane));
  else if (s->space->dim == 3 && tesi_saddle_lanes_serve(op))
    TES_TRY(tesi_saddle_lanes_create(op, c->precision, axis, &c->lanes));
done:
  for (int d = 0; d < 3; d++) tesi_saddle_patch_axis_free(ctx, &axis[d]);
  return status;
}

TesStatus tesi_coarse_saddle_device_create(TesContext *ctx, const TesOperator *op, TesPrecision precision,
                                           TesiCoarseSaddleDevice **coarse) {
  TesStatus status = TES_OK;
  const TesiSaddle *s = tesi_saddle_of(op);
  const TesiSaddlePlace place = {.nu = s->nu};
  TesiCoarseSaddleDevice *c = NULL;
  TesiSaddleKind kind[3];
  *coarse = NULL;
  TES_NEW(&c);
  c->context = tesi_context_retain(ctx);
  c->precision = precision;
  c->length = op->length;
  TES_TRY(create_sweep(op, c));
  const bool whole = !c->lanes && !c->plane;
  for (int d = 0; d < 3 && whole; d++) {
    TES_TRY(tesi_coarse_saddle_axis(ctx, s, d, &kind[d].first, &c->axis[d]));
    kind[d].local = &c->axis[d];
    kind[d].open = !op->singular;
  }
  if (whole)
    TES_TRY(tesi_saddle_patches_create(op, precision,
                                       (const TesiSaddleKind *const[]){&kind[0], &kind[1], &kind[2]},
                                       (const int[]){1, 1, 1}, &place, 1, &c->whole));
  *coarse = c;
  c = NULL;
done:
  tesi_coarse_saddle_device_destroy(&c);
  return status;
}

void tesi_coarse_saddle_device_destroy(TesiCoarseSaddleDevice **coarse) {
  TesiCoarseSaddleDevice *c = *coarse;
  if (!c) return;
  TesContext *ctx = c->context;
  *coarse = NULL;
  for (int d = 0; d < 3; d++) tesi_saddle_local_free(ctx, &c->axis[d]);
  tesi_saddle_patches_free(ctx, &c->whole);
  tesi_saddle_lanes_destroy(ctx, &c->lanes);
  tesi_saddle_plane_destroy(ctx, &c->plane);
  tesi_free(ctx, &c);
  tes_context_destroy(&ctx);
}

TesStatus tesi_coarse_saddle_device_solve(TesiCoarseSaddleDevice *c, const void *b, void *x) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  if (c->lanes)
    return tesi_saddle_lanes_apply(ctx, c->lanes, b, x, tesi_colour_of_cells(), 1, TESI_LANES_FROM_ZERO);
  if (c->plane) return tesi_saddle_plane_apply(ctx, c->plane, b, x, tesi_colour_of_cells(), true);
  TES_TRY(tesi_context_device(ctx)->fill(ctx, c->precision, c->length, 0, x));
  TES_TRY(tesi_saddle_patches_solve(ctx, &c->whole, false, 0, 1, b, x));
done:
  return status;
}
