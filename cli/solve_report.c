/* The JSON report of a solve. */
#include <math.h>
#include "solve.h"

static int fill_levels(const Solve *s, TesReportLevel *levels) {
  const TesMultigrid *mg = tes_poisson_multigrid(s->poisson);
  const int count = tes_multigrid_levels(mg);
  for (int l = 0; l < count; l++) {
    const TesSpace *space = tes_multigrid_space(mg, count - 1 - l);
    levels[l] = (TesReportLevel){tes_mesh_cells(tes_space_mesh(space)), tes_space_dofs(space)};
  }
  return count;
}

static int fill_times(const Solve *s, TesPoissonTimes setup, TesMultigridTimes cycle, TesReportTime *times) {
  times[0] = (TesReportTime){"operators", setup.operators};
  times[1] = (TesReportTime){"right_hand_side", setup.right_hand_side};
  times[2] = (TesReportTime){"smooth", cycle.smooth};
  times[3] = (TesReportTime){"residual", cycle.residual};
  times[4] = (TesReportTime){"transfer", cycle.transfer};
  times[5] = (TesReportTime){"coarse", cycle.coarse};
  times[6] = (TesReportTime){"errors", s->errors_seconds};
  times[7] = (TesReportTime){"vtu", s->vtu_seconds};
  return 8;
}

static void fill_forest(const Solve *s, TesReport *report, TesReportText *texts, TesReportTime *times) {
  static const char *const names[] = {"method", "smoother", "operator", "precision"};
  const SolveForest *f = s->forest;
  for (int i = 0; i < 4; i++) texts[i] = (TesReportText){names[i], f->text[i]};
  report->solver = texts;
  report->solver_count = f->text[0][0] ? 4 : 0;
  report->dim = tes_mesh_dim(f->mesh);
  report->levels = f->levels;
  report->level_count = f->level_count;
  report->dofs = f->dofs;
  report->tolerance = f->tolerance;
  report->times = times;
  report->time_count = fill_times(s, f->setup, f->cycle, times);
  if (f->adaptive) report->steps = f->steps, report->step_count = f->step_count;
}

TesStatus solve_write_report(const Solve *s, const char *path) {
  TesReportLevel levels[SOLVE_LEVELS];
  TesReportTime times[8];
  TesReportText texts[4];
  TesReport report = {.status = s->status,
                      .message = tes_context_message(s->context),
                      .case_file = s->options->path,
                      .problem = "poisson",
                      .device = tes_context_device(s->context),
                      .threads = tes_context_threads(s->context),
                      .setup_seconds = s->setup_seconds,
                      .memory_peak = tes_context_memory_peak(s->context),
                      .fractional_iterations = NAN,
                      .vtu = s->vtu};
  if (s->input) {
    report.precision = tes_case_choice("solver.precision", (int)s->input->precision);
    report.tolerance = s->input->tolerance;
    report.dim = s->input->box.dim;
    report.degree = s->input->degree;
    report.warnings = (const char *const *)s->input->warnings;
    report.warning_count = s->input->warning_count;
  }
  if (s->forest && s->forest->mesh) fill_forest(s, &report, texts, times);
  if (s->poisson) {
    const TesPoissonChoice choice = tes_poisson_choice(s->poisson);
    const TesPoissonTimes setup = tes_poisson_times(s->poisson);
    const TesMultigridTimes cycle = tes_multigrid_times(tes_poisson_multigrid(s->poisson));
    texts[0] = (TesReportText){"method", choice.method};
    texts[1] = (TesReportText){"smoother", choice.smoother};
    texts[2] = (TesReportText){"operator", choice.op};
    texts[3] = (TesReportText){"precision", choice.precision};
    report.solver = texts;
    report.solver_count = 4;
    report.times = times;
    report.time_count = fill_times(s, setup, cycle, times);
    report.levels = levels;
    report.level_count = fill_levels(s, levels);
    report.dofs = tes_space_dofs(tes_poisson_space(s->poisson));
    report.tolerance = tes_poisson_tolerance(s->poisson);
  }
  if (s->solved) {
    report.iterations = s->result.iterations;
    report.fractional_iterations = s->result.fractional_iterations;
    report.residuals = s->result.residuals;
    report.residual_count = s->result.iterations + 1;
    report.solve_seconds = s->result.seconds;
    report.dofs_per_second = solve_rate(s);
    report.has_errors = s->has_errors;
    report.error_l2 = s->error_l2;
    report.error_h1 = s->error_h1;
  }
  return tes_report_write(s->context, &report, path);
}
