/* The coarsest level over discontinuous Q_k: fast diagonalization of the whole box, on the host in float64, or by
 * kernels: the kernel of vertex patches if the box is one patch, else the kernels of continuous elements. */
#include "multigrid/coarse/coarse_dg.h"
#include "device/kernel.h"
#include "multigrid/coarse/coarse_device.h"
#include "multigrid/coarse/coarse_stokes_device.h"
#include "smoother/dg_patch/dg_patches.h"

enum { MODES = 4096, MODES_DEVICE = 72 /* number of planes in shared memory, in float64 */ };

struct TesiCoarseDg {
  TesContext *context;
  TesiStokesLocalAxis axis[3];
  TesiStokesLocal local; /* of these */
  int64_t length;
  double *work;
  TesiDgPatches *patch[2]; /* by precision of the vectors; used in the place of the members above */
  TesiCoarseDevice *device[2];
};

static bool is_patch(const TesSpace *space) {
  for (int d = 0; d < space->dim; d++)
    if (tesi_modal(space, d)->cells != 2) return false;
  return true;
}

bool tesi_coarse_dg_serves(const TesSpace *space) {
  bool serves = true;
  for (int d = 0; d < space->dim; d++) serves = serves && tesi_modal(space, d)->nodes <= MODES_DEVICE;
  return serves;
}

static bool is_for(TesPrecision precision, int p) {
  return p == TES_DOUBLE || p == (int)precision;
}

/* A = nu (sum of Ld) + alpha in the eigenvectors of Ld; alpha goes with x. */
static TesStatus create_device(TesContext *ctx, const TesOperator *op, TesPrecision precision,
                               TesiCoarseDg *c) {
  TesStatus status = TES_OK;
  const TesiStokes *s = tesi_stokes_of(op);
  TesiDiagonalizationAxis axis[3];
  double *lambda[3] = {NULL}, largest = 0;
  for (int d = 0; d < 3; d++) {
    const TesiStokesLocalAxis *l = &c->axis[d];
    double most = 0;
    TES_ALLOC(&lambda[d], l->modes);
    for (int i = 0; i < l->modes; i++) {
      lambda[d][i] = s->nu * l->ld[i] + (d == 0 ? s->alpha : 0);
      most = lambda[d][i] > most ? lambda[d][i] : most;
    }
    largest += most;
    axis[d] = (TesiDiagonalizationAxis){l->modes, 0, l->modes, l->Zd, lambda[d], 0};
  }
  for (int d = 0; d < 3; d++) axis[d].smallest = op->singular ? 1e-13 * largest : 0;
  for (int p = 0; p < 2; p++)
    if (is_for(precision, p)) TES_TRY(tesi_coarse_device_create(ctx, axis, (TesPrecision)p, &c->device[p]));
done:
  for (int d = 0; d < 3; d++) tesi_free(ctx, &lambda[d]);
  return status;
}

static TesStatus create_patches(TesContext *ctx, const TesOperator *op, TesPrecision precision,
                                TesiCoarseDg *c) {
  TesStatus status = TES_OK;
  const TesiStokes *s = tesi_stokes_of(op);
  TesiStokesPatchAxis axis[3] = {{0}};
  int vertex[1][3] = {{0, 0, 0}};
  for (int d = 0; d < 3; d++) TES_TRY(tesi_stokes_patch_axis_create(ctx, s, d, 2, &axis[d]));
  for (int p = 0; p < 2; p++)
    if (is_for(precision, p))
      TES_TRY(tesi_dg_patches_create(op, (TesPrecision)p, axis, vertex, 1, op->singular, &c->patch[p]));
done:
  for (int d = 0; d < 3; d++) tesi_stokes_patch_axis_free(ctx, &axis[d]);
  return status;
}

TesStatus tesi_coarse_dg_create(TesContext *ctx, const TesOperator *op, TesPrecision precision,
                                TesiCoarseDg **coarse) {
  TesStatus status = TES_OK;
  const TesiStokes *s = tesi_stokes_of(op);
  TesiCoarseDg *c = NULL;
  int first;
  *coarse = NULL;
  for (int d = 0; d < s->space->dim; d++)
    TES_CHECK(tesi_modal(s->space, d)->nodes <= MODES,
              "the coarsest mesh has %d cells in %c: give a number of cells that can be halved more often",
              tesi_modal(s->space, d)->cells, "xyz"[d]);
  TES_NEW(&c);
  c->context = tesi_context_retain(ctx);
  c->length = op->length;
  if (tesi_has_kernels(ctx) && is_patch(s->space)) {
    TES_TRY(create_patches(ctx, op, precision, c));
    *coarse = c;
    c = NULL;
    goto done;
  }
  for (int d = 0; d < 3; d++) TES_TRY(tesi_coarse_stokes_axis(ctx, s, d, &first, &c->axis[d]));
  c->local = (TesiStokesLocal){.dim = s->space->dim,
                               .axis = {&c->axis[0], &c->axis[1], &c->axis[2]},
                               .nu = s->nu,
                               .alpha = s->alpha,
                               .closed = op->singular};
  TES_ALLOC(&c->work, c->length);
  if (tesi_has_kernels(ctx) && tesi_coarse_dg_serves(s->space)) TES_TRY(create_device(ctx, op, precision, c));
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
  for (int d = 0; d < 3; d++) tesi_stokes_local_free(ctx, &c->axis[d]);
  for (int p = 0; p < 2; p++) tesi_dg_patches_destroy(ctx, &c->patch[p]);
  for (int p = 0; p < 2; p++) tesi_coarse_device_destroy(&c->device[p]);
  tesi_free(ctx, &c->work);
  tesi_free(ctx, &c);
  tes_context_destroy(&ctx);
}

void tesi_coarse_dg_solve(TesiCoarseDg *c, const double *b, double *x) {
  for (int64_t i = 0; i < c->length; i++) x[i] = b[i];
  tesi_stokes_local_solve_scalar(&c->local, x, c->work);
}

bool tesi_coarse_dg_on_device(const TesiCoarseDg *coarse) {
  return coarse->patch[TES_DOUBLE] || coarse->device[TES_DOUBLE];
}

TesStatus tesi_coarse_dg_solve_device(TesiCoarseDg *c, const TesVector *b, TesVector *x) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  if (c->device[b->precision]) return tesi_coarse_device_solve(c->device[b->precision], b->data, x->data);
  TES_TRY(tesi_context_device(ctx)->fill(ctx, x->precision, c->length, 0, x->data));
  TES_TRY(tesi_dg_patches_solve(ctx, c->patch[b->precision], 0, 1, b->data, x->data));
done:
  return status;
}
