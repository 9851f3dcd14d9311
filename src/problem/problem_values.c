/* What is told of a solution in numbers: its fields at points, and values. */
#include <string.h>
#include "functional/functional.h"
#include "mesh/mesh.h"
#include "problem/problem.h"

/* u, v (, w) and their derivatives. */
static int vector_fields(const TesProblem *p, TesiField *field) {
  static const char *const names[TESI_AXES][4] = {
      {"u", "ux", "uy", "uz"}, {"v", "vx", "vy", "vz"}, {"w", "wx", "wy", "wz"}};
  int count = 0;
  for (int c = 0; c < p->space->parts; c++)
    for (int i = 0; i <= p->mesh->dim; i++)
      field[count++] = (TesiField){names[c][i], p->space->part[c], p->component[c], i - 1};
  return count;
}

int tesi_problem_fields(const TesProblem *p, TesiField *field) {
  if (p->equation->fields) return p->equation->fields(p, field);
  return p->equation->vector ? vector_fields(p, field) : tesi_fields_of(p->mesh->dim, p->space, p->u, field);
}

int tesi_equation_fields(TesEquation equation, int dim, TesiField *field) {
  (void)equation; /* there is one */
  return tesi_fields_of(dim, NULL, NULL, field);
}

TesStatus tes_problem_sample(const TesProblem *problem, int64_t n, const double *x, int count,
                             const char *const *of, double *values, double *moved) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  TesiField field[TESI_FIELDS];
  const int fields = tesi_problem_fields(problem, field);
  TES_CHECK(!problem->equation->flow, "fields of flows are told by tes_problem_flow_at()");
  TES_TRY(tesi_fields_at(problem->mesh, fields, field, n, x, count, of, values, moved, false));
done:
  return status;
}

static TesStatus error_value(const TesProblem *p, const char *of, double *value) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  double l2, h1;
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
  TES_CHECK(!problem->equation->flow,
            "values of flows are told by tes_problem_flow() and tes_problem_flow_at()");
  if (what->kind == TES_VALUE_ERROR) {
    TES_TRY(error_value(problem, what->of, value));
    goto done;
  }
  TES_CHECK(what->kind != TES_VALUE_FORCE, "%s has no force: flows and elasticity have",
            problem->equation->name);
  TES_TRY(tesi_functional_expression(problem->space->scalar[0], tesi_problem_fields(problem, field), field,
                                     what, value));
done:
  return status;
}
