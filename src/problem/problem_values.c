/* Values of a solution, and its fields at points. */
#include <math.h>
#include <string.h>
#include "base/work.h"
#include "functional/functional.h"
#include "mesh/mesh.h"
#include "problem/in_time.h"

TesStatus tes_problem_sample(const TesProblem *problem, int64_t n, const double *x, int count,
                             const char *const *of, double *values, double *moved) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  TesiField field[TESI_FIELDS];
  const int fields = tesi_problem_fields(problem, field);
  tesi_work_begin_results(ctx, problem->in_time != NULL, "values at points");
  TES_TRY(tesi_fields_at(problem->mesh, fields, field, n, x, count, of, values, moved, false));
done:
  tesi_work_end(ctx);
  return tesi_agree(ctx, status);
}

static TesStatus flow_error(const TesProblem *p, const char *of, double *value) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesFlowResult flow;
  const bool pressure = of && !strcmp(of, "pressure_l2");
  TES_CHECK(!of || !strcmp(of, "l2") || !strcmp(of, "velocity_l2") || pressure,
            "the error of a flow is of l2 (or velocity_l2) or pressure_l2, got '%.60s'", of);
  TES_TRY(tes_problem_flow(p, &flow));
  *value = pressure ? flow.pressure_l2 : flow.velocity_l2;
  TES_CHECK(isfinite(*value), "the error of the %s needs its exact solution",
            pressure ? "pressure" : "velocity");
done:
  return status;
}

/* On a boundary, in direction x, y or z. */
static TesStatus force_value(const TesProblem *p, const TesValue *what, double *value) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const char *of = what->of ? what->of : "x";
  const int direction = of[0] && !of[1] ? of[0] - 'x' : -1;
  TES_CHECK(p->equation->force, "%s has no force: flows and elasticity have", p->equation->name);
  TES_CHECK(what->where == TES_ON_BOUNDARY && what->number >= 0 && what->number < tes_mesh_boundaries(p->mesh),
            "a force is that on a boundary");
  TES_CHECK(direction >= 0 && direction < p->mesh->dim, "a force is in direction %s, got '%.60s'",
            p->mesh->dim == 2 ? "x or y" : "x, y or z", of);
  TES_TRY(p->equation->force(p, what->number, direction, value));
done:
  return status;
}

static TesStatus error_value(const TesProblem *p, const char *of, double *value) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  double l2, h1;
  if (tesi_problem_is_flow(p)) return flow_error(p, of, value);
  TES_CHECK(!of || !strcmp(of, "l2") || !strcmp(of, "h1"), "the error is of l2 or h1, got '%.60s'", of);
  TES_TRY(tes_problem_errors(p, &l2, &h1));
  *value = of && !strcmp(of, "h1") ? h1 : l2;
done:
  return status;
}

TesStatus tes_problem_value(const TesProblem *problem, const TesValue *what, double *value) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  TesiField field[TESI_FIELDS];
  tesi_work_begin_results(ctx, problem->in_time != NULL, "a value");
  if (what->kind == TES_VALUE_ERROR) {
    TES_TRY(error_value(problem, what->of, value));
    goto done;
  }
  if (what->kind == TES_VALUE_FORCE) {
    TES_TRY(force_value(problem, what, value));
    goto done;
  }
  TES_TRY(tesi_functional_expression(problem->space->scalar[0], tesi_problem_fields(problem, field), field,
                                     what, value));
done:
  tesi_work_end(ctx);
  return tesi_agree(ctx, status);
}

TesStatus tes_problem_extreme(const TesProblem *problem, const TesValue *what, double *value, double place[3]) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  TesiField field[TESI_FIELDS];
  tesi_work_begin_results(ctx, problem->in_time != NULL, "a value");
  TES_TRY(tesi_functional_extreme(problem->space->scalar[0], tesi_problem_fields(problem, field), field, what,
                                  value, place));
done:
  tesi_work_end(ctx);
  return status;
}
