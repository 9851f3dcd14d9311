/* Starts of the solves of steps. With tolerances below LEAST_BELOW the start is the combination of old solutions that
 * leaves the least residual (krylov/least.h), if the equation is of first order and its operator stays. Else it is a
 * polynomial through old solutions, or the last of them if that leaves less: looser solves take one iteration from
 * there, and waves are no nearer to combinations. */
#include "krylov/solver.h"
#include "operator/operator.h"
#include "problem/in_time.h"

#define LEAST_BELOW 1e-3

int tesi_in_time_guess(const TesProblem *p) {
  return p->options.guess == 0 ? 3 : tesi_max(0, p->options.guess);
}

int tesi_in_time_directions(const TesProblem *p) {
  const TesiInTime *it = p->in_time;
  const bool uses = !p->equation->second_order && !it->moves && !it->changes &&
                    p->options.tolerance_of != TES_TOLERANCE_LOAD && p->chosen.tolerance < LEAST_BELOW;
  return uses ? tesi_max(0, tesi_in_time_guess(p) - 1) : 0;
}

static TesStatus clear(const TesProblem *p, TesVector *r) {
  if (p->in_time->data.gives) return tesi_timed_data_clear(p, r);
  return p->lifting.some_given ? tesi_problem_clear(p, r) : TES_OK;
}

TesStatus tesi_in_time_residual(const TesProblem *p, const TesVector *b, const TesVector *x, TesVector *r) {
  const TesStatus status = tes_operator_residual(p->in_time->whole, b, x, r);
  return status == TES_OK ? clear(p, r) : status;
}

bool tesi_in_time_plan(const TesProblem *p, int stage) {
  const TesiInTime *it = p->in_time;
  const TesiStepper *s = it->stepper;
  return tesi_least_plan(it->least, stage, tesi_max(0, tesi_min(s->guess, s->known) - 1), s->when);
}

bool tesi_in_time_starts(void *problem) {
  return ((const TesProblem *)problem)->in_time->least->count > 0;
}

bool tesi_in_time_either(const TesProblem *p) {
  return p->options.guess >= 0 && p->options.tolerance_of != TES_TOLERANCE_LOAD &&
         p->in_time->least->count == 0;
}

/* The missing images: of differences that are 0 at given nodes. work: overwritten. */
static TesStatus make_images(const TesProblem *p, TesVector *work) {
  const TesiInTime *it = p->in_time;
  const TesVector *const *old = (const TesVector *const *)it->stepper->old;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TES_TRY(tesi_least_move(it->least));
  for (int i = 0; i < it->least->fresh; i++) {
    TES_TRY(tesi_vector_combine(2, (const double[]){1, -1}, old + i, work));
    TES_TRY(clear(p, work));
    TES_TRY(tes_operator_apply(it->whole, work, it->least->image[i]));
    TES_TRY(clear(p, it->least->image[i]));
  }
done:
  return status;
}

TesStatus tesi_in_time_start(const TesProblem *p, const TesVector *b, const TesVector *old, TesVector *x,
                             bool recorded) {
  const TesiInTime *it = p->in_time;
  TesiLeastStart *const start = recorded ? tesi_least_queue : tesi_least_reduce;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const bool least = it->least->count > 0;
  TES_TRY(tes_vector_copy(old, p->options.tolerance_of == TES_TOLERANCE_LOAD ? 0 : 1, it->d));
  TES_TRY(tesi_in_time_give(p, it->d));
  TES_TRY(tesi_in_time_residual(p, b, it->d, it->r));
  if (least) TES_TRY(make_images(p, x));
  if (least) TES_TRY(start(it->least, it->stepper->old, it->d, it->r, x, p->b));
  TES_TRY(tesi_in_time_give(p, x));
  if (!least) TES_TRY(tesi_in_time_residual(p, b, x, p->b));
done:
  return status;
}
