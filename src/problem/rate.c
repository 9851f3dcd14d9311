/* The derivative in time of a solution, for expressions and estimates: the derivative of the polynomial through the
 * last two solutions, or three if there are so many. */
#include "problem/in_time.h"

TesiRate tesi_problem_rate(const TesProblem *p) {
  TesiRate rate = {.is = true};
  double t[1 + TESI_RATE_OLD], *w = rate.weight;
  const TesiScheme *scheme = tesi_in_time_scheme(p);
  rate.count = scheme->older ? scheme->older(p, TESI_RATE_OLD, rate.old, t + 1) : 0;
  t[0] = p->in_time->march.time;
  if (rate.count == 0) return rate;
  w[0] = 1 / (t[0] - t[1]), w[1] = -w[0];
  if (rate.count == 2) {
    w[0] += 1 / (t[0] - t[2]);
    w[1] = (t[0] - t[2]) / ((t[1] - t[0]) * (t[1] - t[2]));
    w[2] = (t[0] - t[1]) / ((t[2] - t[0]) * (t[2] - t[1]));
  }
  return rate;
}
