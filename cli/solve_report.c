/* The JSON report of a solve. */
#include <math.h>
#include <stdlib.h>
#include "solve.h"

enum { TIMES = 12 };

static void fill_times(const Solve *s, TesReportTime times[TIMES]) {
  times[0] = (TesReportTime){"operators", s->setup.operators};
  times[1] = (TesReportTime){"right_hand_side", s->setup.right_hand_side};
  times[2] = (TesReportTime){"smooth", s->cycle.smooth};
  times[3] = (TesReportTime){"residual", s->cycle.residual};
  times[4] = (TesReportTime){"transfer", s->cycle.transfer};
  times[5] = (TesReportTime){"coarse", s->cycle.coarse};
  times[6] = (TesReportTime){"errors", s->errors_seconds};
  times[7] = (TesReportTime){"vtu", s->vtu_seconds};
  times[8] = (TesReportTime){"first_step", s->in_time.first_step_seconds};
  times[9] = (TesReportTime){"output", s->in_time.output_seconds};
  times[10] = (TesReportTime){"load", s->setup.load};
  times[11] = (TesReportTime){"adapt", s->in_time.adapt_seconds};
}

/* NaN if the counter has not moved; it is updated about ten times per second. */
static double counted(double from, double to) {
  return to > from ? to - from : NAN;
}

/* Joules of all devices whose counters can be read. */
static double joules_between(TesEnergy from, TesEnergy to) {
  if (isnan(to.gpu)) return counted(from.cpu, to.cpu);
  return counted(from.gpu, to.gpu) + (isnan(to.cpu) ? 0 : counted(from.cpu, to.cpu));
}

TesReportEnergy solve_energy(const Solve *s) {
  const TesEnergy *e = s->energy;
  return (TesReportEnergy){counted(e[0].gpu, e[2].gpu), counted(e[0].cpu, e[2].cpu),
                           joules_between(e[0], e[1]), joules_between(e[1], e[2])};
}

static void fill_input(const Solve *s, TesReport *report) {
  const TesCase *c = s->input;
  report->precision = tes_case_choice("solver.precision", (int)c->problem.solver.precision);
  report->tolerance = c->problem.solver.tolerance;
  report->dim = s->mesh ? tes_mesh_info(s->mesh).dim : c->mesh.dim;
  report->degree = c->problem.degree;
  if (c->adaptive) report->steps = s->steps, report->step_count = s->step_count;
}

/* Warnings of the case, then warnings of the library. */
static const char **list_warnings(const Solve *s, TesReport *report) {
  const int own = s->input ? s->input->warning_count : 0;
  const char *const *told;
  const int count = cli_warnings(&told);
  const char **all = calloc((size_t)(own + count) + 1, sizeof *all);
  if (!all) return NULL;
  for (int i = 0; i < own; i++) all[i] = s->input->warnings[i];
  for (int i = 0; i < count; i++) all[own + i] = told[i];
  report->warnings = all;
  report->warning_count = own + count;
  return all;
}

static void fill_result(const Solve *s, TesReport *report) {
  report->iterations = s->in_time.report.steps ? s->iterations : s->result.iterations;
  report->fractional_iterations = s->result.fractional_iterations;
  report->floor = s->floor;
  report->residuals = s->result.residuals;
  report->residual_count = s->result.residual_count;
  report->solve_seconds = s->result.seconds;
  report->dofs_per_second = solve_rate(s);
  report->has_errors = s->has_errors;
  report->error_l2 = s->error_l2;
  report->error_h1 = s->error_h1;
}

/* Points and values; arrays are as long as in the case. */
static void fill_outputs(const Solve *s, TesReport *report, TesReportPoint *points, TesReportValue *values,
                         const char **lines) {
  const TesCase *c = s->input;
  const SolveOutputs *o = &s->outputs;
  for (int i = 0; i < c->points; i++) {
    points[i] = (TesReportPoint){.name = c->point[i].name,
                                 .x = {c->point[i].x[0], c->point[i].x[1], c->point[i].x[2]},
                                 .dim = tes_mesh_info(s->mesh).dim,
                                 .fields = o->fields,
                                 .flow = s->input->about.flow,
                                 .elastic = c->about.vector && !c->about.flow,
                                 .field = o->field,
                                 .value = o->point + i * o->fields,
                                 .moved = o->moved[i]};
  }
  for (int i = 0; i < c->values; i++)
    values[i] = (TesReportValue){c->value[i].name, o->value[i],
                                 solve_has_place(&c->value[i].value) ? o->place[i] : NULL};
  for (int i = 0; i < o->lines; i++) lines[i] = c->line[i].file;
  report->points = points, report->point_count = c->points;
  report->statistics = s->samples.statistic, report->statistic_count = s->samples.statistics;
  report->values = values, report->value_count = c->values;
  report->lines = lines, report->line_count = o->lines;
}

/* names[6] <- the names of boundaries. */
static void fill_flow(const Solve *s, const char **names, TesReportFlow *flow) {
  const int boundaries = tes_mesh_boundaries(s->mesh), fluxes = boundaries < 6 ? boundaries : 6;
  for (int i = 0; i < fluxes; i++) names[i] = tes_mesh_boundary_name(s->mesh, i);
  *flow = (TesReportFlow){.velocity_dofs = s->velocity_dofs,
                          .pressure_dofs = s->pressure_dofs,
                          .velocity_l2 = s->flow.velocity_l2,
                          .pressure_l2 = s->flow.pressure_l2,
                          .divergence_l2 = s->flow.divergence_l2,
                          .divergence_relative = s->flow.divergence_relative,
                          .velocity_estimate = s->estimate.velocity,
                          .pressure_estimate = s->estimate.pressure,
                          .boundary = names,
                          .flux = s->flow.flux,
                          .fluxes = fluxes};
}

TesStatus solve_write_report(const Solve *s, const char *path) {
  TesReportTime times[TIMES];
  TesReportText texts[4];
  TesReportFlow flow;
  const TesReportEnergy energy = solve_energy(s);
  const char *names[6];
  TesReport report = {.status = s->status,
                      .message = s->message[0] ? s->message : tes_context_message(s->context),
                      .case_file = s->options->path,
                      .problem = s->input ? tes_case_choice("problem", (int)s->input->problem.equation) : NULL,
                      .device = tes_context_device(s->context),
                      .threads = tes_context_threads(s->context),
                      .ranks = tes_communicator_size(cli_ranks()),
                      .setup_seconds = s->setup_seconds,
                      .memory_peak = tes_context_memory_peak(s->context),
                      .energy = &energy,
                      .fractional_iterations = NAN,
                      .dofs_per_second = NAN,
                      .vtu = s->vtu,
                      .vtkhdf = s->vtkhdf,
                      .png = s->png};
  if (s->input) fill_input(s, &report);
  if (s->has_solver) {
    for (int i = 0; i < 4; i++) texts[i] = (TesReportText){solve_texts[i], s->text[i]};
    fill_times(s, times);
    report.solver = texts, report.solver_count = 4;
    report.times = times;
    report.time_count = !s->in_time.report.steps ? TIMES - 4 : s->in_time.report.adaptive ? TIMES : TIMES - 1;
    report.levels = s->levels, report.level_count = s->level_count;
    report.dofs = s->dofs;
    report.tolerance = s->tolerance;
  }
  if (s->solved) fill_result(s, &report);
  if (s->balance.flux) report.balance = &s->balance;
  if (s->forces.dim) report.forces = &s->forces;
  if (s->in_time.report.steps) report.in_time = &s->in_time.report;
  if (s->is_flow) fill_flow(s, names, &flow), report.flow = &flow;
  const size_t most = s->input ? (size_t)(s->input->points + s->input->values + s->input->lines) + 1 : 1;
  TesReportPoint *points = calloc(most, sizeof *points);
  TesReportValue *values = calloc(most, sizeof *values);
  const char **lines = calloc(most, sizeof *lines), **warnings = list_warnings(s, &report);
  if (s->outputs.known && points && values && lines) fill_outputs(s, &report, points, values, lines);
  const TesStatus status =
      points && values && lines && warnings ? tes_report_write(s->context, &report, path) : TES_OUT_OF_MEMORY;
  free(points), free(values), free(lines), free(warnings);
  return status;
}
