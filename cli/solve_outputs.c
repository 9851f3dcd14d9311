/* Output numbers of the case: points, values and lines. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "solve.h"

/* The message of a failure: the context's, or a message about a value that is not finite. */
static void tell_place(Solve *s, const char *where, const char *key, const char *name) {
  const char *message = tes_context_message(s->context);
  snprintf(s->message, sizeof s->message, "%.160s: %s%.100s: %.700s", where, key, name,
           message[0] ? message : "the value is not finite");
}

static TesStatus find_points(Solve *s, const TesProblem *problem) {
  const TesCase *c = s->input;
  SolveOutputs *o = &s->outputs;
  const int dim = tes_mesh_info(tes_space_mesh(tes_problem_space(problem))).dim;
  double *x = calloc((size_t)(c->points * dim) + 1, sizeof *x);
  const TesProblemInfo info = tes_problem_info(problem);
  o->fields = info.fields;
  o->point = calloc((size_t)(c->points * o->fields) + 1, sizeof *o->point);
  o->moved = calloc((size_t)c->points + 1, sizeof *o->moved);
  TesStatus status = x && o->point && o->moved ? TES_OK : TES_OUT_OF_MEMORY;
  memcpy(o->field, info.field, sizeof o->field);
  for (int i = 0; status == TES_OK && i < c->points * dim; i++) x[i] = c->point[i / dim].x[i % dim];
  if (status == TES_OK && c->points)
    status = tes_problem_sample(problem, c->points, x, o->fields, o->field, o->point, o->moved);
  if (status != TES_OK) tell_place(s, c->points ? c->point[0].where : c->name, "output.points", "");
  free(x);
  return status;
}

bool solve_has_place(const TesValue *value) {
  return value->kind == TES_VALUE_MAXIMUM || value->kind == TES_VALUE_MINIMUM;
}

static TesStatus find_values(Solve *s, const TesProblem *problem) {
  const TesCase *c = s->input;
  TesStatus status = TES_OK;
  s->outputs.value = calloc((size_t)c->values + 1, sizeof *s->outputs.value);
  s->outputs.place = calloc((size_t)c->values + 1, sizeof *s->outputs.place);
  if (!s->outputs.value || !s->outputs.place) return TES_OUT_OF_MEMORY;
  for (int i = 0; i < c->values && status == TES_OK; i++) {
    TesValue value;
    if (c->value[i].derived) continue;
    status = tes_case_value(c, i, tes_space_mesh(tes_problem_space(problem)), &value);
    if (status == TES_OK && value.kind == TES_VALUE_POINT) /* near a curved face it is moved */
      status = tes_problem_sample(problem, 1, value.point, 1, &value.of, &s->outputs.value[i], &(double){0});
    else if (status == TES_OK && solve_has_place(&value))
      status = tes_problem_extreme(problem, &value, &s->outputs.value[i], s->outputs.place[i]);
    else if (status == TES_OK)
      status = tes_problem_value(problem, &value, &s->outputs.value[i]);
    if (status != TES_OK) tell_place(s, c->value[i].where, "output.values.", c->value[i].name);
  }
  if (status == TES_OK) tes_case_derive(c, s->outputs.value);
  return status;
}

TesStatus solve_check_values(Solve *s) {
  const TesCase *c = s->input;
  for (int i = 0; i < c->values; i++)
    if (!isfinite(s->outputs.value[i])) {
      tell_place(s, c->value[i].where, "output.values.", c->value[i].name);
      return TES_NAN;
    }
  return TES_OK;
}

static TesStatus write_lines(Solve *s, const TesProblem *problem) {
  const TesCase *c = s->input;
  TesStatus status = TES_OK;
  for (int i = 0; i < c->lines && status == TES_OK; i++) {
    const TesCaseLine *line = &c->line[i];
    TesLineDesc desc = {.count = line->count};
    int missed = 0;
    memcpy(desc.from, line->from, sizeof desc.from);
    memcpy(desc.to, line->to, sizeof desc.to);
    status = tes_line_write(problem, &desc, line->file, &missed);
    if (missed)
      solve_log(s, TES_LOG_WARNING, "warning: %s: %d of %d points lie outside of the mesh and are left empty",
                line->file, missed, line->count);
    if (status == TES_INVALID_INPUT) tell_place(s, line->where, "output.lines", "");
    s->outputs.lines += status == TES_OK;
  }
  return status;
}

TesStatus solve_find_numbers(Solve *s, const TesProblem *problem) {
  if (!s->input->points && !s->input->values && !s->input->lines) return TES_OK;
  const int step = tes_problem_info(problem).step;
  if (step && s->outputs.known && s->outputs.step == step) return TES_OK;
  solve_free_outputs(s); /* of a step before */
  TesStatus status = find_points(s, problem);
  if (status == TES_OK) status = find_values(s, problem);
  s->outputs.known = status == TES_OK;
  s->outputs.step = step;
  return status;
}

TesStatus solve_find_outputs(Solve *s, const TesProblem *problem) {
  TesStatus status = solve_find_numbers(s, problem);
  if (status == TES_OK) status = solve_check_values(s);
  return status == TES_OK ? write_lines(s, problem) : status;
}

void solve_print_outputs(const Solve *s) {
  const TesCase *c = s->input;
  const SolveOutputs *o = &s->outputs;
  const int dim = tes_mesh_info(s->mesh).dim;
  for (int i = 0; o->known && i < c->points; i++) {
    const TesCasePoint *p = &c->point[i];
    char text[300];
    snprintf(text, sizeof text, "%s%s(%g, %g", p->name ? p->name : "", p->name ? " " : "", p->x[0], p->x[1]);
    if (dim == 3) snprintf(text + strlen(text), sizeof text - strlen(text), ", %g", p->x[2]);
    snprintf(text + strlen(text), sizeof text - strlen(text), ")");
    for (int f = 0; f < o->fields; f++)
      snprintf(text + strlen(text), sizeof text - strlen(text), "  %s = %.10g", o->field[f],
               o->point[i * o->fields + f]);
    solve_log(s, TES_LOG_INFO, "point     %s", text);
    if (o->moved[i] != 0)
      solve_log(s, TES_LOG_WARNING,
                "warning: %s: the point lies outside of the mesh by %.2g of a cell, and was moved to it",
                p->where, o->moved[i]);
  }
  for (int i = 0; o->known && i < c->values; i++) {
    const double *x = o->place[i];
    char place[100] = "";
    if (solve_has_place(&c->value[i].value) && dim == 3)
      snprintf(place, sizeof place, "  at (%.6g, %.6g, %.6g)", x[0], x[1], x[2]);
    else if (solve_has_place(&c->value[i].value))
      snprintf(place, sizeof place, "  at (%.6g, %.6g)", x[0], x[1]);
    const char *unit = c->value[i].unit;
    solve_log(s, TES_LOG_INFO, "value     %s = %.10g%s%s%s", c->value[i].name, o->value[i] + 0.,
              *unit ? " " : "", unit, place); /* + 0: no -0 */
  }
  for (int i = 0; i < o->lines; i++) solve_log(s, TES_LOG_INFO, "written   %s", c->line[i].file);
}

void solve_free_outputs(Solve *s) {
  free(s->outputs.point);
  free(s->outputs.moved);
  free(s->outputs.value);
  free(s->outputs.place);
  s->outputs = (SolveOutputs){0};
}
