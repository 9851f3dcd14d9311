#include "multigrid/coarse/coarse_stokes_device.h"
#include "smoother/stokes_patch/stokes_lanes.h"
#include "smoother/stokes_patch/stokes_patches.h"
#include "smoother/stokes_patch/stokes_plane.h"

/* With more pressures the product with S^+ takes one block too long: some 100 microseconds. */
enum { PRESSURES = 2048 };

struct TesiCoarseStokesDevice {
  TesContext *context;
  TesPrecision precision;
  int64_t length;
  TesiStokesLocalAxis axis[3];
  TesiStokesPatches whole;
  TesiStokesLanes *lanes; /* used if the box is one vertex patch that these can solve: 3D, 2D */
  TesiStokesPlane *plane;
};

bool tesi_coarse_stokes_on_device(const TesOperator *op) {
  const TesSpace *space = tesi_stokes_of(op)->space;
  return tesi_has_kernels(op->context) && space->scalar[space->dim]->length <= PRESSURES;
}

/* A sweep over the one patch; both stay NULL if they cannot solve it. */
static TesStatus create_sweep(const TesOperator *op, TesiCoarseStokesDevice *c) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokes *s = tesi_stokes_of(op);
  TesiStokesPatchAxis axis[3] = {{0}};
  bool one = s->space->dim == 2 || op->singular;
  for (int d = 0; d < s->space->dim; d++)
    one = one && tesi_modal(s->space, d)->cells == 2 && !tesi_modal(s->space, d)->periodic;
  if (!one) return TES_OK;
  for (int d = 0; d < 3; d++) TES_TRY(tesi_stokes_patch_axis_create(ctx, s, d, 2, &axis[d]));
  if (s->space->dim == 2 && tesi_stokes_plane_serves(op, axis))
    TES_TRY(tesi_stokes_plane_create(op, c->precision, axis, &c->plane));
  else if (s->space->dim == 3 && tesi_stokes_lanes_serve(op))
    TES_TRY(tesi_stokes_lanes_create(op, c->precision, axis, &c->lanes));
done:
  for (int d = 0; d < 3; d++) tesi_stokes_patch_axis_free(ctx, &axis[d]);
  return status;
}

TesStatus tesi_coarse_stokes_device_create(TesContext *ctx, const TesOperator *op, TesPrecision precision,
                                           TesiCoarseStokesDevice **coarse) {
  TesStatus status = TES_OK;
  const TesiStokes *s = tesi_stokes_of(op);
  const TesiStokesPlace place = {.nu = s->nu};
  TesiCoarseStokesDevice *c = NULL;
  TesiStokesKind kind[3];
  *coarse = NULL;
  TES_NEW(&c);
  c->context = tesi_context_retain(ctx);
  c->precision = precision;
  c->length = op->length;
  TES_TRY(create_sweep(op, c));
  const bool whole = !c->lanes && !c->plane;
  for (int d = 0; d < 3 && whole; d++) {
    TES_TRY(tesi_coarse_stokes_axis(ctx, s, d, &kind[d].first, &c->axis[d]));
    kind[d].local = &c->axis[d];
    kind[d].open = !op->singular;
  }
  if (whole)
    TES_TRY(tesi_stokes_patches_create(op, precision,
                                       (const TesiStokesKind *const[]){&kind[0], &kind[1], &kind[2]},
                                       (const int[]){1, 1, 1}, &place, 1, &c->whole));
  *coarse = c;
  c = NULL;
done:
  tesi_coarse_stokes_device_destroy(&c);
  return status;
}

void tesi_coarse_stokes_device_destroy(TesiCoarseStokesDevice **coarse) {
  TesiCoarseStokesDevice *c = *coarse;
  if (!c) return;
  TesContext *ctx = c->context;
  *coarse = NULL;
  for (int d = 0; d < 3; d++) tesi_stokes_local_free(ctx, &c->axis[d]);
  tesi_stokes_patches_free(ctx, &c->whole);
  tesi_stokes_lanes_destroy(ctx, &c->lanes);
  tesi_stokes_plane_destroy(ctx, &c->plane);
  tesi_free(ctx, &c);
  tes_context_destroy(&ctx);
}

TesStatus tesi_coarse_stokes_device_solve(TesiCoarseStokesDevice *c, const void *b, void *x) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  if (c->lanes)
    return tesi_stokes_lanes_apply(ctx, c->lanes, b, x, tesi_colour_of_cells(), 1, TESI_LANES_FROM_ZERO);
  if (c->plane) return tesi_stokes_plane_apply(ctx, c->plane, b, x, tesi_colour_of_cells(), true);
  TES_TRY(tesi_context_device(ctx)->fill(ctx, c->precision, c->length, 0, x));
  TES_TRY(tesi_stokes_patches_solve(ctx, &c->whole, false, 0, 1, b, x));
done:
  return status;
}
