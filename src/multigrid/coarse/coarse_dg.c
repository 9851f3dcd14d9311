/* The coarsest level over discontinuous Q_k: fast diagonalization of the whole box, on the host in float64. */
#include "multigrid/coarse/coarse_dg.h"
#include "multigrid/coarse/coarse_saddle_device.h"

enum { MODES = 4096 };

struct TesiCoarseDg {
  TesContext *context;
  TesiSaddleLocalAxis axis[3];
  TesiSaddleLocal local; /* of these */
  int64_t length;
  double *work;
};

TesStatus tesi_coarse_dg_create(TesContext *ctx, const TesOperator *op, TesiCoarseDg **coarse) {
  TesStatus status = TES_OK;
  const TesiSaddle *s = tesi_saddle_of(op);
  TesiCoarseDg *c = NULL;
  int first;
  *coarse = NULL;
  for (int d = 0; d < s->rt->dim; d++)
    TES_CHECK(s->rt->axis[d].modes <= MODES,
              "the coarsest mesh has %d cells in %c: give a number of cells that can be halved more often",
              s->rt->axis[d].cells, "xyz"[d]);
  TES_NEW(&c);
  c->context = tesi_context_retain(ctx);
  c->length = op->length;
  for (int d = 0; d < 3; d++) TES_TRY(tesi_coarse_saddle_axis(ctx, s, d, &first, &c->axis[d]));
  c->local = (TesiSaddleLocal){.dim = s->rt->dim,
                               .axis = {&c->axis[0], &c->axis[1], &c->axis[2]},
                               .nu = s->nu,
                               .alpha = s->alpha,
                               .closed = op->singular};
  TES_ALLOC(&c->work, c->length);
  *coarse = c;
  c = NULL;
done:
  tesi_coarse_dg_destroy(&c);
  return status;
}

void tesi_coarse_dg_destroy(TesiCoarseDg **coarse) {
  TesiCoarseDg *c = *coarse;
  if (!c) return;
  TesContext *ctx = c->context;
  *coarse = NULL;
  for (int d = 0; d < 3; d++) tesi_saddle_local_free(ctx, &c->axis[d]);
  tesi_free(ctx, &c->work);
  tesi_free(ctx, &c);
  tes_context_destroy(&ctx);
}

void tesi_coarse_dg_solve(TesiCoarseDg *c, const double *b, double *x) {
  for (int64_t i = 0; i < c->length; i++) x[i] = b[i];
  tesi_saddle_local_solve_scalar(&c->local, x, c->work);
}
