/* Conjugate gradients as in cg.c. An iteration runs without the host: 5 launches around the cycle and the operator.
 * Sums are over owned entries. On several ranks each sum is one more launch, in which the ranks meet; the kernels after
 * it add the sums of the ranks as they add the parts of one rank's sum. */
#include <math.h>
#include "krylov/krylov_device.h"

/* Iterations with long vectors take longer than their launches; they are recorded only if a solve has many of them. */
enum { LONG = 1 << 20, FEW = 8 };
enum { ROUND, DOT, DIRECTION, DOTS, UPDATE, FINISH, KERNELS };

TesStatus tesi_cg_device_kernels(TesiKrylovDevice *device) {
  static const char *const names[KERNELS] = {"tesk_krylov_round", "tesk_cg_dot",    "tesk_cg_direction",
                                             "tesk_cg_dots",      "tesk_cg_update", "tesk_cg_finish"};
  return tesi_krylov_kernels(device, KERNELS, names, device->kernel);
}

/* The result of the cycle for r, still to be divided by the factor if r was rounded. */
static TesStatus precondition(TesSolver *s, const void **z) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TesiKrylovDevice *d = s->device;
  long long n = s->desc.op->length;
  *z = s->desc.multigrid ? s->mg_b ? s->mg_x->data : s->z->data : s->r->data;
  if (!s->desc.multigrid) return TES_OK;
  if (s->mg_b) {
    void *arguments[] = {&n, &s->r->data, &s->mg_b->data, &d->scalars};
    TES_TRY(tesi_krylov_launch(d, ROUND, 1, 0, arguments));
  }
  TesMultigrid *mg = s->desc.multigrid;
  TES_TRY(tesi_multigrid_cycle_level(mg, tes_multigrid_levels(mg) - 1, TESI_CYCLE_USUAL,
                                     s->mg_b ? s->mg_b : s->r, s->mg_b ? s->mg_x : s->z));
done:
  return status;
}

static TesiOwned owned_of(const TesSolver *s) {
  const TesiLayout *layout = s->p->layout;
  return s->device->sums ? layout->block[0] : tesi_owned(0, s->desc.op->length, 0);
}

TesStatus tesi_cg_device_step(void *iteration) {
  const TesiIteration *work = iteration;
  TesSolver *s = work->solver;
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TesiKrylovDevice *d = s->device;
  const TesiOwned own = owned_of(s);
  long long n = s->desc.op->length, owned = own.owned, first = own.start, end = first + owned;
  int scaled = s->mg_b != NULL, parts = d->sums ? tesi_ranks(ctx) : (int)d->parts;
  const void *z, *own_z;
  void *p = s->p->data, *q = s->q->data, *r = s->r->data;
  double *own_p = (double *)p + first, *own_q = (double *)q + first, *own_r = (double *)r + first;
  void *dot[] = {&owned, &own_z, &own_q, &d->partial},
       *direction[] = {&n, &z, &p, &d->partial, &parts, &scaled, &d->scalars},
       *dots[] = {&owned, &own_p, &own_q, &own_r, &d->partial},
       *update[] = {&n, &first,      &end,   &p,          &q,         &work->x->data,
                    &r, &d->partial, &parts, &d->squares, &d->scalars},
       *finish[] = {&parts, &d->squares, &d->scalars};
  TES_TRY(precondition(s, &z));
  own_z = (const char *)z + (size_t)first * (scaled ? sizeof(float) : sizeof(double));
  TES_TRY(tesi_krylov_launch(d, DOT, 1, 0, dot));
  TES_TRY(tesi_krylov_meet(d, 1, d->partial));
  TES_TRY(tesi_krylov_launch(d, DIRECTION, 1, 0, direction));
  TES_TRY(tes_operator_apply(s->desc.op, s->p, s->q));
  TES_TRY(tesi_krylov_launch(d, DOTS, 1, 0, dots));
  TES_TRY(tesi_krylov_meet(d, 2, d->partial));
  TES_TRY(tesi_krylov_launch(d, UPDATE, 1, 0, update));
  TES_TRY(tesi_krylov_meet(d, 1, d->squares));
  TES_TRY(tesi_krylov_launch(d, FINISH, 0, 0, finish));
done:
  return status;
}

/* p = q = 0 and p.q = 0, so that the first direction is z. */
static TesStatus begin(TesSolver *s, const TesVector *x, double relative) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TesiKrylovDevice *d = s->device;
  const TeskKrylov scalars = {
      .b_norm = s->b_norm, .factor = tesi_solver_factor(s, relative * s->b_norm), .root = s->root};
  TES_TRY(tes_vector_fill(s->p, 0));
  TES_TRY(tes_vector_fill(s->q, 0));
  TES_TRY(tesi_context_device(ctx)->to_device(ctx, d->scalars, &scalars, sizeof scalars));
  if (d->x != x->data) tesi_recorded_release(ctx, &d->step);
  d->x = x->data;
  d->step.plain = s->desc.op->length >= LONG ? FEW : 0;
done:
  return status;
}

TesStatus tesi_solver_cg_device(TesSolver *solver, const TesVector *b, TesVector *x) {
  TesSolver *s = solver;
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  double relative;
  TesiProgress progress = {.again = true};
  TesiIteration work = {.solver = s, .x = x};
  TES_TRY(tesi_solver_begin(s, b, x, &relative));
  progress.outcome = tesi_solver_record(s, 0, relative, &progress.stop);
  for (int iteration = 1; !progress.stop; iteration++) {
    if (progress.again) TES_TRY(begin(s, x, relative));
    TES_TRY(tesi_recorded_run(ctx, &s->device->step, tesi_cg_device_step, &work));
    TES_TRY(tesi_krylov_relative(s->device, &relative));
    if (relative < 0)
      return tesi_solver_record(s, iteration, INFINITY, &progress.stop); /* not positive definite */
    TES_TRY(tesi_solver_follow(s, b, x, iteration, &relative, &progress));
  }
  status = tesi_solver_tell(s, b, x, progress.outcome);
done:
  return status;
}
