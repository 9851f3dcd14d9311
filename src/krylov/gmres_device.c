/* GMRES as in gmres.c, an Arnoldi step without the host: which column it is stands in device memory, so that one
 * recorded step serves all. */
#include <math.h>
#include "krylov/krylov_device.h"

enum { READ_AT_ONCE = 8 /* coefficients: the compiler reads pairs beyond the last one */ };
enum { TAKE, PUT, DOTS, PROJECT, UPDATE, FINISH, SOLVE, CORRECT, KERNELS };

TesStatus tesi_gmres_device_kernels(TesiKrylovDevice *device) {
  static const char *const names[KERNELS] = {"tesk_gmres_take",    "tesk_gmres_put",    "tesk_gmres_dots",
                                             "tesk_gmres_project", "tesk_gmres_update", "tesk_gmres_finish",
                                             "tesk_gmres_solve",   "tesk_gmres_correct"};
  return tesi_krylov_kernels(device, KERNELS, names, device->kernel);
}

/* v_j through the cycle: `in` and `out` of its precision; without a multigrid both are one vector. */
static TesStatus precondition(TesSolver *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TesiKrylovDevice *d = s->device;
  long long n = s->desc.op->length;
  TesVector *in = s->mg_b ? s->mg_b : s->z, *out = s->mg_x ? s->mg_x : s->desc.multigrid ? s->r : s->z;
  void *take[] = {&n, &in->data, &d->arnoldi}, *put[] = {&n, &out->data, &s->r->data, &d->arnoldi};
  TES_TRY(tesi_krylov_launch(d, TAKE, 1, 0, take));
  if (s->desc.multigrid) TES_TRY(tes_multigrid_cycle(s->desc.multigrid, in, out, true));
  TES_TRY(tesi_krylov_launch(d, PUT, 1, 0, put));
done:
  return status;
}

TesStatus tesi_gmres_device_step(void *iteration) {
  TesSolver *s = ((const TesiIteration *)iteration)->solver;
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TesiKrylovDevice *d = s->device;
  long long n = s->desc.op->length;
  void *w = s->q->data;
  void *dots[] = {&n, &w, &d->partial, &d->arnoldi}, *project[] = {&d->partial, &d->arnoldi},
       *update[] = {&n, &w, &d->squares, &d->arnoldi}, *finish[] = {&d->squares, &d->arnoldi};
  TES_TRY(precondition(s));
  TES_TRY(tes_operator_apply(s->desc.op, s->r, s->q));
  TES_TRY(tesi_krylov_launch(d, DOTS, ((unsigned)d->arnoldi.n + 3) / 4, 0, dots));
  TES_TRY(tesi_krylov_launch(d, PROJECT, 0, 0, project));
  TES_TRY(tesi_krylov_launch(d, UPDATE, 1, d->arnoldi.n + READ_AT_ONCE, update));
  TES_TRY(tesi_krylov_launch(d, FINISH, 0, 0, finish));
done:
  return status;
}

/* Vectors of the basis have norm 1, so one factor serves all. */
static TesStatus begin(TesSolver *s, void *data, double relative) {
  (void)data;
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TesiKrylovDevice *d = s->device;
  const TesiDevice *device = tesi_context_device(ctx);
  const double norm = relative * s->b_norm, scale = s->desc.narrow_basis ? tesi_solver_factor(s, norm) : 1;
  const TeskKrylov scalars = {
      .b_norm = s->b_norm, .factor = s->mg_b ? tesi_solver_factor(s, 1) : 1, .inverse = 1 / (scale * norm)};
  TES_TRY(tes_vector_copy(s->r, scale, s->basis[0]));
  TES_TRY(device->to_device(ctx, d->scalars, &scalars, sizeof scalars));
  TES_TRY(device->to_device(ctx, d->arnoldi.g, &relative, sizeof relative)); /* in units of |b| */
done:
  return status;
}

static TesStatus advance(TesSolver *s, void *data, int column, double *relative) {
  (void)data, (void)column;
  TesiIteration work = {.solver = s};
  const TesStatus status = tesi_recorded_run(s->context, &s->device->step, tesi_gmres_device_step, &work);
  return status == TES_OK ? tesi_krylov_relative(s->device, relative) : status;
}

TesStatus tesi_gmres_device_correct(TesSolver *s, TesVector *x) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TesiKrylovDevice *d = s->device;
  long long n = s->desc.op->length;
  void *arguments[] = {&n, &x->data, &d->arnoldi};
  TES_TRY(tesi_kernel_launch(ctx, &d->kernel[SOLVE], (TesiGrid){1, 1, 1}, 32, 0, &arguments[2]));
  TES_TRY(tesi_krylov_launch(d, CORRECT, 1, 0, arguments));
done:
  return status;
}

static TesStatus correct(TesSolver *s, void *data, int columns, TesVector *x) {
  (void)data, (void)columns;
  return tesi_gmres_device_correct(s, x);
}

TesStatus tesi_solver_gmres_device(TesSolver *solver, const TesVector *b, TesVector *x) {
  return tesi_solver_restarted(solver, &(TesiArnoldi){begin, advance, correct, NULL}, b, x);
}
