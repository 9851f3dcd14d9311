/* See flow_steps.h. */
#include "problem/flow_steps.h"
#include <math.h>
#include "device/vector.h"
#include "problem/projection/projection.h"
#include "problem/rt_flow/rt_flow.h"

void tesi_flow_steps_begin(TesProblem *p) {
  TesiInTime *it = p->in_time;
  const double whole = it->desc.end - it->desc.start;
  it->base = it->desc.max_step > 0 ? fmin(it->desc.max_step, whole) : whole / 100;
}

/* By the flow: down at once, up by a rung after ten steps. */
static void follow_flow(TesiInTime *it, double longest) {
  enum { WAIT = 10 };
  const double up = pow(2, 0.25);
  it->since++;
  if (!(it->dt > 0) || longest < it->dt * (1 - 1e-9)) it->dt = longest, it->since = 0;
  if (it->since >= WAIT && longest > it->dt * (1 + 1e-9)) it->dt = fmin(it->dt * up, longest), it->since = 0;
}

double tesi_flow_steps_choose(TesProblem *p, double crossed) {
  TesiInTime *it = p->in_time;
  const double left = it->desc.end - it->time, whole = it->desc.end - it->desc.start,
               most = it->desc.cfl > 0 ? it->desc.cfl : 0.9 * TESI_FLOW_STEPS_STABLE;
  if (!it->varies) return it->dt;
  const double longest = tesi_step_rung(it->base, crossed > 0 ? fmin(it->base, most / crossed) : it->base);
  if (it->desc.cfl > 0)
    follow_flow(it, longest);
  else
    it->dt =
        fmin(it->dt > 0 ? it->dt : tesi_step_rung(it->base, 0.1 * whole * cbrt(it->desc.tolerance)), longest);
  if (it->dt >= left * (1 - 1e-9)) return left;
  return 2 * it->dt > left ? left / 2 : it->dt;
}

void tesi_flow_steps_judge(TesProblem *p, double dt, double error) {
  TesiInTime *it = p->in_time;
  if (error > 1)
    it->dt = fmin(tesi_step_next(it->base, dt, error), tesi_step_rung(it->base, dt * 0.99));
  else if (dt > it->dt * (1 - 1e-9))
    it->dt = tesi_step_next(it->base, it->dt, error);
}

TesStatus tesi_flow_steps_watch(const TesProblem *p, double dt, double crossed, bool *warned) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiInTime *it = p->in_time;
  const double limit = TESI_FLOW_STEPS_STABLE, courant = dt * crossed;
  if (!*warned && courant > limit && !it->varies) {
    *warned = true;
    tesi_log(ctx, TES_LOG_WARNING,
             "warning: the flow crosses %.2g node distances a step of %.3g at t = %.6g; steps are stable up "
             "to about "
             "%.1g: take time.step %.2g or less, or time.cfl",
             courant, dt, it->time, limit, 0.5 / courant * dt);
  }
  const double least = fmax(it->desc.min_step, 1e-12 * (it->desc.end - it->desc.start));
  if (!(dt >= least * (1 - 1e-9)))
    TES_FAIL(TES_STEP_TOO_SMALL, "the step is %.3g at t = %.6g, below %s, %.3g", dt, it->time,
             it->desc.min_step > 0 ? "time.min_step" : "what round-off allows", least);
done:
  return status;
}

TesStatus tesi_flow_steps_check(const TesProblem *p, double dt, const TesVector *velocity,
                                const TesVector *pressure, const TesVector *before, double *most) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  double now, of_pressure, old = before ? *most : 0;
  TES_TRY(tes_vector_maximum(velocity, &now));
  TES_TRY(tes_vector_maximum(pressure, &of_pressure));
  if (isnan(old)) TES_TRY(tes_vector_maximum(before, &old));
  if (!isfinite(now) || !isfinite(of_pressure))
    TES_FAIL(TES_NAN,
             "a step of %.3g from t = %.6g left values that are not finite: the step is unstable, take a "
             "smaller time.step or time.cfl",
             dt, p->in_time->time);
  if (old > 0 && now > 100 * old)
    TES_FAIL(TES_DIVERGED,
             "a step of %.3g from t = %.6g made the velocity grow from %.3g to %.3g: the step is "
             "unstable, take a smaller time.step or time.cfl",
             dt, p->in_time->time, old, now);
  *most = now;
done:
  return status;
}

TesStatus tesi_flow_steps_tell(const TesProblem *p, double dt, TesStatus status) {
  TesContext *ctx = p->context;
  if ((status == TES_NAN || status == TES_DIVERGED) && !tes_context_message(ctx)[0])
    return tesi_fail(ctx, status, __FILE__, __LINE__, __func__,
                     "a step of %.3g from t = %.6g is unstable: take a smaller time.step or time.cfl", dt,
                     p->in_time->time);
  return status;
}

void tesi_flow_steps_go_on(TesProblem *p, double dt) {
  TesiInTime *it = p->in_time;
  const bool last = it->varies ? it->time + dt >= it->desc.end - 1e-9 * dt : it->step + 1 == it->all_steps;
  it->step++;
  it->before = it->time;
  it->time = last ? it->desc.end : it->varies ? it->time + dt : it->desc.start + it->step * it->dt;
}

void tesi_flow_mean_force(const TesProblem *p, double force[TESI_AXES]) {
  const TesiProjection *q = tesi_projection_of(p);
  const TesiRtFlow *rt = p->rt_flow;
  const unsigned components = q ? q->drive.components : rt ? rt->drive.components : 0;
  const double *const of = q ? q->drive.force : rt ? rt->drive.force : NULL;
  for (int c = 0; c < TESI_AXES; c++) force[c] = components >> c & 1 ? of[c] : NAN;
}
