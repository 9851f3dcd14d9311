/* Stages of problems in time on devices with kernels. Load, guess, the residuals of both starts and all iterations
 * are only launches; they are recorded as one graph and replayed as long as dt and the formula stay. Times are in
 * device memory. The device chooses the better start, the tolerance and the end of the iteration (queued.h). */
#include "krylov/queued.h"
#include "problem/balance.h"
#include "problem/in_time.h"

static TesiStarts starts_of(const TesProblem *p, TesVector *x) {
  TesiInTime *it = p->in_time;
  return (TesiStarts){.x = x,
                      .r = p->b,
                      .old = it->d,
                      .old_r = it->r,
                      .either = tesi_in_time_either(p),
                      .tolerance = p->chosen.tolerance};
}

static TesStatus at(void *user, int stage, bool same, double sigma, int count, const double *times) {
  TesProblem *p = user;
  TesiInTime *it = p->in_time;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  bool can;
  TES_TRY(tesi_in_time_use(p, sigma, times[0]));
  if (!tesi_in_time_plan(p, stage) || !same) tesi_recorded_release(ctx, &it->recorded[stage]);
  if (p->balance) TES_TRY(tesi_in_time_at(p, times[0]));
  TES_TRY(tesi_solver_can_queue(p->solver, &can));
  it->begun = can;
  for (int i = 0; i < count; i++) TES_TRY(tesi_timed_data_at(p, i, times[i]));
done:
  return status;
}

/* Balances need sums of loads, for which the host would wait. */
static TesStatus begin(void *user, int stage, TesiWork work, void *data) {
  TesProblem *p = user;
  return p->balance || !p->in_time->begun
             ? work(data)
             : tesi_recorded_run(p->context, &p->in_time->recorded[stage], work, data);
}

static TesStatus start(void *user, double sigma, double time, const TesVector *b, const TesVector *old,
                       TesVector *x) {
  TesProblem *p = user;
  TesiInTime *it = p->in_time;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  (void)sigma, (void)time;
  const TesiStarts starts = starts_of(p, x);
  if (!it->begun) return TES_OK;
  TES_TRY(tesi_in_time_start(p, b, old, x, true));
  TES_TRY(tesi_solver_queue(p->solver, &starts));
done:
  return status;
}

TesStatus tesi_in_time_evolve_on_device(TesProblem *p, TesiEvolution *evolution) {
  const TesiInTime *it = p->in_time;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const bool weak = p->equation->flow, loads = !it->timed || it->data.loads,
             gives = weak || !p->lifting.some_given || it->data.gives;
  bool can;
  const bool carried =
      weak || !it->carrier; /* the host computes the transport through boundaries of element q */
  if (it->data.clock[0] && !it->moves && !it->changes && carried && loads && gives) {
    evolution->at = at, evolution->begin = begin, evolution->start = start;
    TES_TRY(tesi_solver_can_queue(p->solver, &can)); /* requests its kernels */
  }
  if (tesi_has_kernels(ctx)) tesi_kernels_wait(ctx); /* here and not in the first step */
done:
  return status;
}

TesStatus tesi_in_time_finish(TesProblem *p, TesSolveResult *result) {
  const TesiStarts starts = starts_of(p, p->u);
  p->in_time->begun = false;
  return tesi_solver_finish(p->solver, &starts, result);
}

void tesi_in_time_forget(TesProblem *p) {
  for (int i = 0; i < TESI_STEPPER_STAGES; i++) tesi_recorded_release(p->context, &p->in_time->recorded[i]);
}
