#include "krylov/explain.h"
#include <math.h>
#include <stdio.h>
#include "base/base.h"

/* Residuals of Krylov methods fall in steps, so the smallest residuals of both halves are compared. */
static double least_of(const double *residuals, int first, int end, int *at) {
  double least = INFINITY;
  for (int i = first; i < end; i++)
    if (residuals[i] < least) least = residuals[i], *at = i;
  return least;
}

int tesi_iterations_needed(const TesiUnsolved *u) {
  const double spare = u->method == TES_METHOD_GMRES ? 2 : 1.3, most = 30; /* restarts slow gmres down */
  const int n = u->iterations, half = (n + 1) / 2;
  int first = 0, last = n;
  if (n < TESI_ITERATIONS_TELL) return 0;
  const double before = least_of(u->residuals, 0, half + 1, &first),
               now = least_of(u->residuals, half + 1, n + 1, &last);
  if (!(now < 0.9 * before)) return 0;
  const double needed = spare * (last + log(u->tolerance / now) * (last - first) / log(now / before)),
               unit = pow(10, fmax(0, floor(log10(needed)) - 1));
  return needed < most * n ? (int)(ceil(needed / unit) * unit) : 0;
}

static void advise(const TesiUnsolved *u, char *text, size_t size) {
  const bool stationary = u->method == TES_METHOD_VCYCLE || u->method == TES_METHOD_FMG;
  const int needed = tesi_iterations_needed(u);
  const bool more = needed || u->iterations < TESI_ITERATIONS_TELL;
  int length = 0;
  text[0] = 0;
  if (needed)
    length = snprintf(text, size, ": it still falls, so allow about %d iterations", needed);
  else if (more)
    length = snprintf(text, size, ": so few iterations do not tell how fast it falls, so allow more");
  else
    length = snprintf(text, size, ", and hardly falls any more");
  if (stationary)
    length += snprintf(text + length, size - (size_t)length, "%s gmres", more ? ", or use" : ": use");
  if (u->advice)
    snprintf(text + length, size - (size_t)length, "%s%s", more || stationary ? ", or " : ": ", u->advice);
}

TesStatus tesi_explain_unsolved(TesContext *ctx, const TesiUnsolved *u, TesStatus outcome) {
  TesStatus status = TES_OK;
  const int n = u->iterations;
  const double last = u->residuals[n];
  char text[320];
  if (outcome == TES_NAN)
    TES_FAIL(outcome, "the residual is %g after %d iterations: %s%scheck the data for values that overflow%s",
             last > 0 || last < 0 ? last : (double)NAN, n, u->advice ? u->advice : "",
             u->advice ? ", or " : "", u->single ? ", or solve in double precision" : "");
  if (outcome == TES_DIVERGED)
    TES_FAIL(outcome, "the residual grew to %.3g after %d iterations%s", last, n,
             u->method == TES_METHOD_GMRES ? "" : ": use method gmres");
  if (outcome == TES_INTERRUPTED)
    TES_FAIL(outcome, "interrupted after %d iterations at a relative residual of %.3g", n, last);
  if (outcome == TES_NOT_CONVERGED) {
    advise(u, text, sizeof text);
    TES_FAIL(outcome, "the relative residual is %.3g after %d iterations, above the tolerance %.3g%s", last,
             n, u->tolerance, text);
  }
  status = outcome;
done:
  return status;
}
