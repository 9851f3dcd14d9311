/* What is told of a solution in numbers: its fields at points, and values. */
#include <math.h>
#include <string.h>
#include "functional/functional.h"
#include "mesh/mesh.h"
#include "problem/in_time.h"

/* u, v (, w), their derivatives and p, in time with its own; space, vector and axes as in TesiField. */
static int flow_fields(int dim, bool in_time, const TesSpace *shape, const TesVector *u, const TesiRt *rt,
                       TesiField *field) {
  static const char *const names[1 + TESI_AXES] = {"p", "px", "py", "pz"};
  int count = 0;
  for (int c = 0; c < dim; c++)
    for (int i = 0; i <= dim; i++)
      field[count++] = (TesiField){.name = tesi_field_names[c][i],
                                   .space = shape,
                                   .vector = u,
                                   .derivative = i - 1,
                                   .rt = rt,
                                   .part = c};
  for (int i = 0; i <= (in_time ? dim : 0); i++)
    field[count++] = (TesiField){
        .name = names[i], .space = shape, .vector = u, .derivative = i - 1, .rt = rt, .part = dim};
  return count;
}

/* u and its derivatives, of element dg. */
static int broken_fields(const TesProblem *p, TesiField *field) {
  const TesiRt *rt = tesi_space_rt(p->space);
  for (int i = 0; i <= rt->dim; i++)
    field[i] = (TesiField){.name = tesi_field_names[0][i],
                           .space = p->shape,
                           .vector = p->u,
                           .derivative = i - 1,
                           .rt = rt,
                           .part = rt->dim};
  return rt->dim + 1;
}

static int find_fields(const TesProblem *p, TesiField *field) {
  if (p->equation->flow && p->equation->flow->scalar) return broken_fields(p, field);
  if (p->equation->flow)
    return flow_fields(p->mesh->dim, p->in_time, p->shape, p->u, tesi_space_rt(p->space), field);
  if (p->equation->fields) return p->equation->fields(p, field);
  const TesVector *const whole[] = {p->u};
  const bool vector = p->equation->vector;
  return tesi_fields_of(p->mesh->dim, vector ? p->space->parts : 1, (const TesSpace *const *)p->space->part,
                        vector ? (const TesVector *const *)p->component : whole, field);
}

int tesi_problem_fields(const TesProblem *p, TesiField *field) {
  int count = find_fields(p, field);
  const int values = count;
  const bool flow = p->projection || (p->equation->flow && !p->equation->flow->scalar);
  if (p->in_time && !p->equation->second_order) { /* those of second order have their own */
    const int components = flow ? p->mesh->dim : 1;
    TesiField value[TESI_AXES];
    for (int c = 0; c < components; c++) value[c] = field[c * (p->mesh->dim + 1)];
    count += tesi_rate_fields(p, components, value, field + count);
  }
  if (p->in_time && p->in_time->march.average.count)
    count += tesi_average_fields(p, values, field, field + count);
  for (int i = 0; i < count; i++) field[i].time = p->in_time ? p->in_time->march.time : 0;
  return count;
}

int tesi_equation_fields(TesEquation equation, int dim, TesiField *field) {
  if (equation == TES_NAVIER_STOKES) return tesi_navier_stokes_fields(dim, field);
  if (equation == TES_STOKES) return flow_fields(dim, false, NULL, NULL, NULL, field);
  if (equation == TES_ELASTICITY) return tesi_elasticity_fields(dim, TES_PLANE_STRAIN, field);
  return tesi_fields_of(dim, 1, NULL, NULL, field);
}

TesStatus tes_problem_sample(const TesProblem *problem, int64_t n, const double *x, int count,
                             const char *const *of, double *values, double *moved) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  TesiField field[TESI_FIELDS];
  const int fields = tesi_problem_fields(problem, field);
  TES_TRY(tesi_fields_at(problem->mesh, fields, field, n, x, count, of, values, moved, false));
done:
  return status;
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
  TES_CHECK(what->where == TES_ON_BOUNDARY && what->number >= 0 &&
                what->number < tes_mesh_boundaries(p->mesh),
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
  if (p->projection || (p->equation->flow && !p->equation->flow->scalar)) return flow_error(p, of, value);
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
  if (what->kind == TES_VALUE_ERROR) {
    TES_TRY(error_value(problem, what->of, value));
    goto done;
  }
  if (what->kind == TES_VALUE_FORCE) {
    TES_TRY(force_value(problem, what, value));
    goto done;
  }
  TES_TRY(tesi_functional_expression(problem->shape ? problem->shape : problem->space->scalar[0],
                                     tesi_problem_fields(problem, field), field, what, value));
done:
  return status;
}
