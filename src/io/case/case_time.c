/* Problems in time in case files: what belongs to them, and what must fit together. */
#include "io/case/case_reader.h"

static const TesiYaml *given(const TesiCaseReader *r, const char *path) {
  return r->node[tesi_case_row(path)];
}

static TesStatus refuse(TesiCaseReader *r, const char *path, const char *why) {
  const TesiYaml *node = given(r, path);
  return node ? tesi_case_error(r, tesi_case_row(path), node, "%s", why) : TES_OK;
}

static TesStatus refuse_keys_of_time(TesiCaseReader *r) {
  static const char *const keys[] = {"data.initial",     "solver.guess",  "solver.tolerance_of",
                                     "output.vtu.every", "output.series", "output.checkpoint.every",
                                     "output.average",   "adapt.every",   "adapt.max_level"};
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    TES_TRY(refuse(r, keys[i], "belongs to problems in time, that is, with `time`"));
done:
  return status;
}

static TesStatus check_average(TesiCaseReader *r) {
  TesCase *c = &r->draft.c;
  const int row = tesi_case_row("output.average.from");
  const bool fields = c->problem.equation != TES_TRANSPORT || c->problem.element != TES_ELEMENT_DG;
  c->average = given(r, "output.average") && r->node[row];
  c->problem.average = c->average && fields, c->problem.average_from = c->average_from;
  if (!c->average || !r->node[tesi_case_row("time.end")] || c->average_from < c->problem.time.end)
    return TES_OK;
  return tesi_case_error(r, row, r->node[row], "expected less than time.end, %g, got %g", c->problem.time.end,
                         c->average_from);
}

/* Exactly one of step, cfl and tolerance; flows do without, and element iso has no tolerance. */
static TesStatus check_lengths(TesiCaseReader *r, bool flow) {
  static const char *const keys[] = {"time.step", "time.cfl", "time.tolerance"}, *const bounds[] = {
                                                                                     "time.max_step",
                                                                                     "time.min_step"};
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const int step = tesi_case_row("time.step");
  const int count = (given(r, keys[0]) != NULL) + (given(r, keys[1]) != NULL) + (given(r, keys[2]) != NULL);
  if (!flow && !count)
    TES_TRY(tesi_case_error(r, step, given(r, "time"), "is missing: %s; or cfl, or tolerance",
                            tesi_case_keys[step].help));
  if (flow && r->draft.c.problem.element == TES_ELEMENT_ISO)
    TES_TRY(refuse(
        r, "time.tolerance",
        "belongs to transport, elasticity, and navier_stokes with element q or rt: the pressure of element "
        "iso jumps where steps become shorter; take step or cfl"));
  if (count > 1)
    TES_TRY(refuse(r, given(r, keys[2]) ? keys[2] : keys[1],
                   "expected one of step, cfl and tolerance, got more"));
  if (given(r, "time.cfl") && r->draft.c.problem.equation == TES_TRANSPORT && !given(r, "data.b"))
    TES_TRY(refuse(r, "time.cfl", "is of a velocity: expected data.b, or step or tolerance"));
  const TesTimeDesc *t = &r->draft.c.problem.time;
  if (given(r, bounds[0]) && t->min_step > t->max_step)
    TES_TRY(refuse(r, bounds[1], "expected at most time.max_step"));
  for (int i = 0; i < 2 && r->node[step]; i++)
    TES_TRY(refuse(r, bounds[i], "belongs to steps that differ: with cfl or tolerance in the place of step"));
done:
  return status;
}

/* Methods of second order in time are for elasticity, which has backward_euler too. */
static TesStatus check_method(TesiCaseReader *r, bool elastic) {
  TesTimeDesc *t = &r->draft.c.problem.time;
  const TesiYaml *method = given(r, "time.method");
  const bool second = t->method == TES_TIME_NEWMARK || t->method == TES_TIME_GENERALIZED_ALPHA;
  if (t->rho_inf == 0) t->rho_inf = -1;
  if (elastic && method && !second && t->method > TES_TIME_BACKWARD_EULER)
    return tesi_case_error(r, tesi_case_row("time.method"), method,
                           "elasticity steps by backward_euler, newmark or generalized_alpha");
  if (elastic) return TES_OK;
  if (second)
    return tesi_case_error(r, tesi_case_row("time.method"), method,
                           "newmark and generalized_alpha are for elasticity");
  return refuse(r, "time.rho_inf", "belongs to elasticity");
}

/* A mesh that changes while steps are made. */
static TesStatus check_adapt(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const TesAdaptDesc *a = &r->draft.c.adapt;
  const TesiYaml *adapt = given(r, "adapt");
  if (!adapt) return TES_OK;
  if (a->estimator == TES_ESTIMATE_DWR)
    TES_TRY(refuse(r, "adapt.estimator", "is for steady problems: with `time` there is residual"));
  TES_TRY(refuse(r, "adapt.steps", "is for steady problems: with `time` `every` says when the mesh changes"));
  if (!given(r, "adapt.max_level") && !given(r, "adapt.max_dofs"))
    TES_TRY(tesi_case_error(r, tesi_case_row("adapt.max_level"), adapt,
                            "is missing: with `time` this or max_dofs bounds the mesh"));
  if (r->draft.c.problem.equation != TES_NAVIER_STOKES && !given(r, "adapt.every") && !given(r, "data.b"))
    TES_TRY(tesi_case_error(r, tesi_case_row("adapt.every"), adapt,
                            "is missing: without a velocity no flow says when the mesh changes"));
done:
  return status;
}

/* Each equation has its own; auto and none stand for none where there is none. */
static TesStatus check_stabilization(TesiCaseReader *r) {
  TesiCaseDraft *d = &r->draft;
  const TesEquation equation = d->c.problem.equation;
  const TesElement element = d->c.problem.element;
  const bool flow = equation == TES_NAVIER_STOKES && element != TES_ELEMENT_RT && element != TES_ELEMENT_ISO,
             grad_div = d->stabilization == TESI_CASE_GRAD_DIV;
  d->c.problem.grad_div = flow && grad_div;
  if (grad_div) d->stabilization = TES_STREAMLINE_AUTO;
  if (flow && !grad_div && d->stabilization == TES_STREAMLINE_ALWAYS)
    return refuse(r, "space.stabilization", "supg belongs to transport; navier_stokes has grad_div");
  if (grad_div && !flow)
    return refuse(r, "space.stabilization", "grad_div belongs to navier_stokes with element q");
  if (flow || equation == TES_TRANSPORT || (equation == TES_NAVIER_STOKES && element == TES_ELEMENT_RT))
    return TES_OK;
  return refuse(r, "space.stabilization", "belongs to transport, and navier_stokes with element q");
}

TesStatus tesi_case_check_time(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesCase *c = &r->draft.c;
  const TesTimeDesc *t = &c->problem.time;
  const bool transport = c->problem.equation == TES_TRANSPORT,
             flow = c->problem.equation == TES_NAVIER_STOKES, elastic = c->problem.equation == TES_ELASTICITY;
  const int end = tesi_case_row("time.end");
  if (transport && !given(r, "data.f")) {
    tes_function_destroy(&r->draft.f[0]);
    TES_TRY(tes_function_create_constant(ctx, 0, &r->draft.f[0]));
  }
  if (!transport) TES_TRY(refuse(r, "data.b", "belongs to transport"));
  TES_TRY(check_stabilization(r));
  if (!given(r, "time")) {
    TES_TRY(refuse_keys_of_time(r));
    goto done;
  }
  if (!transport && !flow && !elastic) {
    TES_TRY(
        refuse(r, "time",
               "poisson and stokes are steady: `time` belongs to transport, elasticity and navier_stokes"));
    goto done;
  }
  TES_TRY(check_average(r));
  TES_TRY(check_lengths(r, flow));
  TES_TRY(check_method(r, elastic));
  if (elastic)
    TES_TRY(refuse(r, "time.cfl",
                   "belongs to transport and navier_stokes; elasticity has time.step and tolerance"));
  if (r->node[end] && !(t->end > t->start))
    TES_TRY(
        tesi_case_error(r, end, r->node[end], "expected more than time.start, %g, got %g", t->start, t->end));
  else if (t->step > 0 && (t->end - t->start) / t->step > 1e8)
    TES_TRY(tesi_case_error(r, tesi_case_row("time.step"), given(r, "time.step"),
                            "makes %.3g steps, expected at most 1e8", (t->end - t->start) / t->step));
  TES_TRY(check_adapt(r));
  if (!given(r, "solver.tolerance")) c->problem.solver.tolerance = 1e-3;
done:
  return status;
}
