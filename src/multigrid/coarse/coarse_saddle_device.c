#include "multigrid/coarse/coarse_saddle_device.h"
#include "smoother/saddle_patch/saddle_patches.h"

/* Above this S^+ is too much for one block: some 100 microseconds. */
enum { PRESSURES = 2048 };

struct TesiCoarseSaddleDevice {
  TesContext *context;
  TesPrecision precision;
  int64_t length;
  TesiSaddleLocalAxis axis[3];
  TesiSaddlePatches whole;
};

bool tesi_coarse_saddle_on_device(const TesOperator *op) {
  const TesiRt *rt = tesi_saddle_of(op)->rt;
  return tesi_has_kernels(op->context) && tesi_rt_size(rt, rt->dim) <= PRESSURES;
}

TesStatus tesi_coarse_saddle_device_create(TesContext *ctx, const TesOperator *op, TesPrecision precision,
                                           TesiCoarseSaddleDevice **coarse) {
  TesStatus status = TES_OK;
  const TesiSaddle *s = tesi_saddle_of(op);
  const TesiSaddlePlace place = {{0, 0, 0}, {0, 0, 0}};
  TesiCoarseSaddleDevice *c = NULL;
  TesiSaddleKind kind[3];
  *coarse = NULL;
  TES_NEW(&c);
  c->context = tesi_context_retain(ctx);
  c->precision = precision;
  c->length = op->length;
  for (int d = 0; d < 3; d++) {
    TES_TRY(tesi_coarse_saddle_axis(ctx, s, d, &kind[d].first, &c->axis[d]));
    kind[d].local = &c->axis[d];
    kind[d].open = !op->singular;
  }
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
  tesi_free(ctx, &c);
  tes_context_destroy(&ctx);
}

TesStatus tesi_coarse_saddle_device_solve(TesiCoarseSaddleDevice *c, const void *b, void *x) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  TES_TRY(tesi_context_device(ctx)->fill(ctx, c->precision, c->length, 0, x));
  TES_TRY(tesi_saddle_patches_solve(ctx, &c->whole, 0, 1, b, x));
done:
  return status;
}
