/* The derivative in time of a solution, for expressions and estimates: that of the polynomial through the last
 * solutions, two of them, or three where they are there. */
#include "problem/explicit/explicit_flow.h"
#include "problem/projection/projection.h"
#include "problem/rt_flow/rt_flow.h"

/* The solutions before, at most two, and the times of all, that of now first; returns how many there are. */
static int find_older(const TesProblem *p, const TesVector *old[TESI_RATE_OLD], double t[1 + TESI_RATE_OLD]) {
  const TesiInTime *it = p->in_time;
  const TesiProjection *flow = tesi_projection_of(p);
  const TesiExplicitFlow *explicit_flow = flow ? flow->explicit_flow : NULL;
  t[0] = it->march.time;
  if (explicit_flow) {
    old[0] = explicit_flow->u[1 - explicit_flow->now];
    t[1] = it->march.time - it->march.dt;
    return it->march.step > 0;
  }
  for (int i = 0; i < TESI_RATE_OLD; i++) {
    old[i] = flow ? flow->old[i] : p->rt_flow ? p->rt_flow->old[i] : it->stepper->old[i];
    t[1 + i] = flow ? t[i] - flow->step[i] : p->rt_flow ? p->rt_flow->when[1 + i] : it->stepper->when[i];
  }
  return tesi_min(flow ? flow->known : p->rt_flow ? p->rt_flow->known : it->stepper->known, TESI_RATE_OLD);
}

TesiRate tesi_problem_rate(const TesProblem *p) {
  TesiRate rate = {.is = true};
  double t[1 + TESI_RATE_OLD], *w = rate.weight;
  rate.count = find_older(p, rate.old, t);
  if (rate.count == 0) return rate;
  w[0] = 1 / (t[0] - t[1]), w[1] = -w[0];
  if (rate.count == 2) {
    w[0] += 1 / (t[0] - t[2]);
    w[1] = (t[0] - t[2]) / ((t[1] - t[0]) * (t[1] - t[2]));
    w[2] = (t[0] - t[1]) / ((t[2] - t[0]) * (t[2] - t[1]));
  }
  return rate;
}
