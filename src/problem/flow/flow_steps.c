/* See flow_steps.h. */
#include "problem/flow/flow_steps.h"
#include <math.h>
#include "device/vector.h"

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
             dt, p->in_time->march.time);
  if (old > 0 && now > 100 * old)
    TES_FAIL(TES_DIVERGED,
             "a step of %.3g from t = %.6g made the velocity grow from %.3g to %.3g: the step is "
             "unstable, take a smaller time.step or time.cfl",
             dt, p->in_time->march.time, old, now);
  *most = now;
done:
  return status;
}

TesStatus tesi_flow_check_defect(TesContext *ctx, double net, double through, bool rounding, bool *told) {
  TesStatus status = TES_OK;
  const bool small = fabs(net) <= 1e-4 * through / 2;
  const char *out = net > 0 ? "more out" : "more in", *in = net > 0 ? "in" : "out";
  TES_CHECK(
      rounding || small,
      "boundary: the velocity lets %s than %s: its net flux is %.6g, of %.6g through the boundary, and no "
      "boundary is open. Change the velocities, or make a boundary an outflow",
      out, in, net, through);
  if (!rounding && !*told)
    tesi_log(ctx, TES_LOG_WARNING,
             "warning: boundary: the velocity lets %s than %s: its net flux %.6g, of %.6g that flow in, is "
             "spread as a uniform source over the domain",
             out, in, net, through / 2);
  *told = *told || !rounding;
done:
  return status;
}

TesStatus tesi_flow_steps_tell(const TesProblem *p, double dt, TesStatus status) {
  TesContext *ctx = p->context;
  if ((status == TES_NAN || status == TES_DIVERGED) && !tes_context_message(ctx)[0])
    return tesi_fail(ctx, status, __FILE__, __LINE__, __func__,
                     "a step of %.3g from t = %.6g is unstable: take a smaller time.step or time.cfl", dt,
                     p->in_time->march.time);
  return status;
}
