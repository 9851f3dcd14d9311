/* The ranges of the numbers in descriptions, the same for all equations. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include "base/base.h"
#include "problem/support.h"
#include "multigrid/multigrid.h"

#define AT(member) offsetof(TesProblemDesc, member)
#define CHOICE(name, member, last)                                                                           \
  { name, TESI_WHOLE, AT(member), 0, last, NULL, 0 }
#define WHOLE(name, member, least, most)                                                                     \
  { name, TESI_WHOLE, AT(member), least, most, NULL, 0 }
#define REAL(name, member, least, most, expected)                                                            \
  { name, TESI_REAL, AT(member), least, most, expected, 0 }

/* -1 means "none" where that is possible. */
static const TesiRange of_problems[] = {
    WHOLE("boundaries", boundaries, 0, INT_MAX),
    WHOLE("materials", materials, 0, INT_MAX),
    WHOLE("solver.pre", solver.pre, -1, TESI_MOST_STEPS),
    WHOLE("solver.post", solver.post, -1, TESI_MOST_STEPS),
    WHOLE("solver.max_iterations", solver.max_iterations, 0, INT_MAX),
    WHOLE("solver.smoother_degree", solver.smoother_degree, 0, 100),
    WHOLE("solver.guess", solver.guess, -1, 4),
    CHOICE("time.method", time.method, TES_TIME_IMEX_BDF3),
    CHOICE("stabilization", stabilization, TES_STREAMLINE_ALWAYS),
    CHOICE("flow_form", flow_form, TES_FLOW_SYMMETRIC),
    CHOICE("transport_form", transport_form, TES_TRANSPORT_CONSERVATIVE),
    CHOICE("plane", plane, TES_PLANE_STRESS),
    CHOICE("solver.tolerance_of", solver.tolerance_of, TES_TOLERANCE_LOAD),
    CHOICE("solver.penalty", solver.penalty, TES_PENALTY_PAPER),
    CHOICE("solver.method", solver.method, TES_METHOD_DIRECT),
    CHOICE("solver.smoother", solver.smoother, TES_SMOOTHER_COUNT - 1),
    CHOICE("solver.local", solver.local, TES_LOCAL_DENSE),
    CHOICE("solver.colours", solver.colours, TES_COLOURS_LEXICOGRAPHIC),
    CHOICE("solver.order", solver.order, TES_ORDER_REVERSED),
    CHOICE("solver.coarse", solver.coarse, TES_COARSE_AGGREGATION),
    CHOICE("solver.coarsening", solver.coarsening, TES_COARSEN_NONE),
    CHOICE("solver.precision", solver.precision, TES_SOLVE_SINGLE),
    REAL("tolerance", solver.tolerance, 0, 1 - DBL_EPSILON / 2, "a number above 0 and below 1, or 0 for 1e-9"),
    REAL("time.steady", time.steady, 0, DBL_MAX, "0 (none) or more"),
    REAL("time.max_step", time.max_step, 0, DBL_MAX, "0 (none) or more"),
    REAL("time.min_step", time.min_step, 0, DBL_MAX, "0 (none) or more"),
    {"time.rho_inf", TESI_REAL, AT(time.rho_inf), 0, 1, "0 (0.8) to 1, or -1 for zero", -1},
    REAL("average_from", average_from, -DBL_MAX, DBL_MAX, "a finite number")};

#undef AT
#define AT(member) offsetof(TesAdaptDesc, member)
static const TesiRange of_adaptation[] = {
    CHOICE("estimator", estimator, TES_ESTIMATE_DWR),
    CHOICE("marking", marking, TES_MARK_FRACTION),
    REAL("adapt.fraction", fraction, 0, 1, "0 (the usual one) to 1"),
    WHOLE("adapt.steps", steps, 0, INT_MAX),
    REAL("adapt.tolerance", tolerance, 0, INFINITY, "0 (none) or more"),
    {"adapt.max_dofs", TESI_LONG, AT(max_dofs), 0, INFINITY, "0 (any) or more", 0},
    WHOLE("adapt.every", every, 0, INT_MAX),
    WHOLE("adapt.max_level", max_level, 0, INT_MAX)};

static double number_of(const TesiRange *range, const void *desc) {
  const void *at = (const char *)desc + range->at;
  return range->kind == TESI_WHOLE  ? *(const int *)at
         : range->kind == TESI_LONG ? (double)*(const int64_t *)at
                                    : *(const double *)at;
}

TesStatus tesi_support_check(TesContext *ctx, const void *desc, int ranges, const TesiRange *range) {
  TesStatus status = TES_OK;
  for (int i = 0; i < ranges; i++) {
    const double value = number_of(&range[i], desc);
    char expected[60];
    if ((value >= range[i].least && value <= range[i].most) || (range[i].also && value == range[i].also))
      continue;
    snprintf(expected, sizeof expected, "%.0f..%.0f", range[i].least, range[i].most);
    TES_FAIL(TES_INVALID_INPUT, "%s is %.10g, expected %s", range[i].name, value,
             range[i].expected ? range[i].expected : expected);
  }
done:
  return status;
}

TesStatus tesi_support_check_problem(TesContext *ctx, const TesProblemDesc *desc) {
  return tesi_support_check(ctx, desc, sizeof of_problems / sizeof *of_problems, of_problems);
}

TesStatus tesi_support_check_adaptation(TesContext *ctx, const TesAdaptDesc *desc) {
  return tesi_support_check(ctx, desc, sizeof of_adaptation / sizeof *of_adaptation, of_adaptation);
}
