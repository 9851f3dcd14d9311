/* Problems in time in case files: their keys, and rules between keys. */
#include "io/case/case_reader.h"

static TesStatus refuse_keys_of_time(TesiCaseReader *r) {
  static const char *const keys[] = {
      "data.initial",        "solver.guess",  "solver.tolerance_of",     "output.vtu.every",
      "output.vtkhdf.every", "output.series", "output.checkpoint.every", "output.checkpoint.keep",
      "output.average",      "adapt.every",   "adapt.max_level",         "output.plot"};
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    TES_TRY(tesi_case_refuse(r, keys[i], "belongs to problems in time, that is, with `time`"));
done:
  return status;
}

static TesStatus check_average(TesiCaseReader *r) {
  static const char key[] = "output.average.from";
  TesCase *c = &r->draft.c;
  c->average = tesi_case_given(r, "output.average") && tesi_case_given(r, key);
  c->problem.average = c->average && tesi_case_has(r, TESI_HAS_FIELD_AVERAGE);
  c->problem.average_from = c->average_from;
  if (!c->average || !tesi_case_given(r, "time.end") || c->average_from < c->problem.time.end) return TES_OK;
  return tesi_case_refuse(r, key, "expected less than time.end, %g, got %g", c->problem.time.end,
                          c->average_from);
}

/* Exactly one of step, cfl and tolerance is needed; flows may have none. */
static TesStatus check_lengths(TesiCaseReader *r) {
  static const char *const keys[] = {"time.step", "time.cfl", "time.tolerance"}, *const bounds[] = {
                                                                                     "time.max_step",
                                                                                     "time.min_step"};
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const TesTimeDesc *t = &r->draft.c.problem.time;
  const int step = tesi_case_row(keys[0]);
  int count = 0;
  for (int i = 0; i < 3; i++) count += tesi_case_given(r, keys[i]) != NULL;
  if (r->support->cfl == 0 && !count)
    TES_TRY(tesi_case_error(r, step, tesi_case_given(r, "time"), "is missing: %s; or cfl, or tolerance",
                            tesi_case_keys[step].help));
  if (count > 1)
    TES_TRY(tesi_case_refuse(r, keys[tesi_case_given(r, keys[2]) ? 2 : 1],
                             "expected one of step, cfl and tolerance, got more"));
  if (tesi_case_has(r, TESI_HAS_B) && !tesi_case_given(r, "data.b"))
    TES_TRY(tesi_case_refuse(r, keys[1], "is of a velocity: expected data.b, or step or tolerance"));
  if (tesi_case_given(r, bounds[0]) && t->min_step > t->max_step)
    TES_TRY(tesi_case_refuse(r, bounds[1], "expected at most time.max_step"));
  for (int i = 0; i < 2 && r->node[step]; i++)
    TES_TRY(tesi_case_refuse(r, bounds[i],
                             "belongs to steps that differ: with cfl or tolerance in the place of step"));
done:
  return status;
}

/* A mesh that changes between steps. */
static TesStatus check_adapt(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const TesiYaml *adapt = tesi_case_given(r, "adapt");
  if (!adapt) return TES_OK;
  if (r->draft.c.adapt.estimator == TES_ESTIMATE_DWR)
    TES_TRY(tesi_case_refuse(r, "adapt.estimator", "is for steady problems: with `time` there is residual"));
  TES_TRY(tesi_case_refuse(r, "adapt.steps",
                           "is for steady problems: with `time` `every` says when the mesh changes"));
  if (!tesi_case_given(r, "adapt.max_level") && !tesi_case_given(r, "adapt.max_dofs"))
    TES_TRY(tesi_case_error(r, tesi_case_row("adapt.max_level"), adapt,
                            "is missing: with `time` this or max_dofs bounds the mesh"));
  if (!r->support->flow && !tesi_case_given(r, "adapt.every") && !tesi_case_given(r, "data.b"))
    TES_TRY(tesi_case_error(r, tesi_case_row("adapt.every"), adapt,
                            "is missing: without a velocity no flow says when the mesh changes"));
done:
  return status;
}

TesStatus tesi_case_check_time(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesCase *c = &r->draft.c;
  TesTimeDesc *t = &c->problem.time;
  if (!tesi_case_given(r, "time")) return refuse_keys_of_time(r);
  if (!tesi_case_has(r, TESI_HAS_TIME)) return TES_OK; /* refused */
  if (t->rho_inf == 0) t->rho_inf = -1;
  TES_TRY(check_average(r));
  TES_TRY(check_lengths(r));
  if (tesi_case_given(r, "time.end") && !(t->end > t->start))
    TES_TRY(tesi_case_refuse(r, "time.end", "expected more than time.start, %g, got %g", t->start, t->end));
  else if (t->step > 0 && (t->end - t->start) / t->step > 1e8)
    TES_TRY(tesi_case_refuse(r, "time.step", "makes %.3g steps, expected at most 1e8",
                             (t->end - t->start) / t->step));
  TES_TRY(check_adapt(r));
  if (!tesi_case_given(r, "solver.tolerance")) c->problem.solver.tolerance = 1e-3;
done:
  return status;
}
