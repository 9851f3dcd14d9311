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
  TesContext *ctx = device->context;
  TesStatus status = TES_OK;
  for (int i = 0; i < KERNELS; i++)
    TES_TRY(tesi_kernel_get(ctx, device->program, names[i], 256 * sizeof(double), &device->kernel[i]));
done:
  return status;
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

static TesStatus step(void *user) {
  TesSolver *s = user;
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
static TesStatus begin(TesSolver *s, double relative) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TesiKrylovDevice *d = s->device;
  const TesiDevice *device = tesi_context_device(ctx);
  const TeskKrylov scalars = {.b_norm = s->b_norm,
                              .factor = s->mg_b ? tesi_solver_factor(s, 1) : 1,
                              .inverse = 1 / (relative * s->b_norm)};
  TES_TRY(tes_vector_copy(s->r, 1, s->basis[0]));
  TES_TRY(device->to_device(ctx, d->scalars, &scalars, sizeof scalars));
  TES_TRY(device->to_device(ctx, d->arnoldi.g, &relative, sizeof relative)); /* in units of |b| */
done:
  return status;
}

static TesStatus correct(TesSolver *s, TesVector *x) {
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

/* One restart cycle from the residual solver->r of relative size `relative`. */
static TesStatus restart_cycle(TesSolver *s, double relative, const TesVector *b, TesVector *x, bool *stop) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK, outcome = TES_OK;
  const int n = s->device->arnoldi.n;
  TES_TRY(begin(s, relative));
  for (int columns = 1;; columns++) {
    TES_TRY(tesi_recorded_run(ctx, &s->device->step, step, s));
    TES_TRY(tesi_krylov_relative(s->device, &relative));
    const bool finished =
        relative <= s->desc.tolerance || columns == n || s->iterations + 1 >= s->desc.max_iterations;
    if (finished || !isfinite(relative)) break;
    outcome = tesi_solver_record(s, s->iterations + 1, relative, stop);
    if (*stop) break;
  }
  TES_TRY(correct(s, x));
  TES_TRY(tesi_solver_residual(s, b, x, &relative));
  if (*stop)
    tesi_solver_correct(s, relative);
  else
    outcome = tesi_solver_record(s, s->iterations + 1, relative, stop);
  status = outcome;
done:
  return status;
}

TesStatus tesi_solver_gmres_device(TesSolver *solver, const TesVector *b, TesVector *x) {
  TesContext *ctx = solver->context;
  TesStatus status = TES_OK;
  double relative;
  bool stop = false;
  TES_TRY(tesi_solver_residual(solver, b, x, &relative));
  status = tesi_solver_record(solver, 0, relative, &stop);
  while (status == TES_OK && !stop)
    status = restart_cycle(solver, solver->residuals[solver->iterations], b, x, &stop);
done:
  return status;
}
