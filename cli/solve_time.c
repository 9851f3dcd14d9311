/* A solution in time: steps, a printed line from time to time, files and series. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "solve.h"

/* ---- when ---------------------------------------------------------------------------------------------- */

/* Number of outputs before and at a step, without the output of the start. */
static int outputs_until(const Solve *s, const TesCaseEvery *every, const TesProblemInfo *info, int step) {
  enum { USUAL = 51 };
  const TesTimeDesc *t = &s->input->problem.time;
  if (info->varies && every->steps == 0) { /* of this step and of the previous step */
    const double each = every->time > 0 ? every->time : (t->end - t->start) / USUAL;
    return (int)floor(((step == info->step ? info->time : info->before) - t->start) / each + 1e-9);
  }
  if (every->time > 0) return (int)floor(step * info->dt / every->time + 1e-9);
  if (every->steps > 0) return step / every->steps;
  return info->steps <= USUAL ? step : (int)((int64_t)step * USUAL / info->steps);
}

bool solve_is_due(const Solve *s, const TesCaseEvery *every, const TesProblemInfo *info, int step,
                  int *number) {
  *number = outputs_until(s, every, info, step);
  if (step == 0 || *number > outputs_until(s, every, info, step - 1)) return true;
  if (step == info->steps) ++*number;
  return step == info->steps;
}

/* All ranks use the clock of rank 0. */
static double now_of_all(void) {
  return tes_communicator_first(cli_ranks(), solve_now());
}

/* The same for an output that is written this many minutes after the previous one; its number is the number of the
 * step. */
static bool is_due(Solve *s, const TesCaseEvery *every, const TesProblemInfo *info, double *written,
                   int *number) {
  if (!(every->minutes > 0)) return solve_is_due(s, every, info, info->step, number);
  *number = info->step;
  const double now = now_of_all();
  if (info->step > 0 && info->step < info->steps && now - *written < 60 * every->minutes) return false;
  *written = now;
  return true;
}

/* ---- the series ---------------------------------------------------------------------------------------- */

static void put_header(const Solve *s, FILE *file) {
  const TesCase *c = s->input;
  const SolveOutputs *o = &s->outputs;
  fprintf(file, "time,step,dt,iterations,cells,dofs");
  for (int i = 0; i < c->points; i++)
    for (int f = 0; f < o->fields; f++) {
      if (c->point[i].name)
        fprintf(file, ",%s.%s", c->point[i].name, o->field[f]);
      else
        fprintf(file, ",point%d.%s", i + 1, o->field[f]);
    }
  for (int i = 0; i < c->values; i++) fprintf(file, ",%s", c->value[i].name);
  fputc('\n', file);
}

static void put_row(const Solve *s, const TesProblemInfo *info, int iterations, FILE *file) {
  const TesCase *c = s->input;
  const SolveOutputs *o = &s->outputs;
  fprintf(file, "%.17g,%d,%.17g,%d,%lld,%lld", info->time, info->step, info->dt, iterations,
          (long long)s->levels[0].cells, (long long)s->dofs);
  for (int i = 0; i < c->points * o->fields; i++) fprintf(file, ",%.17g", o->point[i]);
  for (int i = 0; i < c->values; i++) {
    fputc(',', file);
    if (isfinite(o->value[i])) fprintf(file, "%.17g", o->value[i]);
  }
  fputc('\n', file);
}

static TesStatus tell_failure(const Solve *s) {
  solve_log(s, TES_LOG_WARNING, "%s: %s", s->input->series, strerror(errno));
  return TES_IO;
}

/* The step of a row "time,step,.."; -1: it is not such a row. */
static long step_of(const char *row) {
  const char *comma = strchr(row, ',');
  char *end;
  const long step = comma ? strtol(comma + 1, &end, 10) : -1;
  return comma && end > comma + 1 && *end == ',' ? step : -1;
}

/* Rows of a file up to a step, without its header; NULL: there is no such file. The caller frees them. */
static char *read_rows(const char *path, int last) {
  FILE *file = fopen(path, "r"), *rows;
  char *line = NULL, *text = NULL;
  size_t room = 0, size;
  if (!file) return NULL;
  rows = open_memstream(&text, &size);
  while (rows && getline(&line, &room, file) > 0) {
    const long step = step_of(line);
    if (step >= 0 && step <= last) fputs(line, rows);
  }
  if (rows) fclose(rows);
  free(line);
  fclose(file);
  return text;
}

/* After a restart the rows of earlier steps stay. */
static TesStatus begin_series(Solve *s) {
  const bool writes = tes_communicator_rank(cli_ranks()) == 0;
  char *rows = s->options->restart ? read_rows(s->input->series, s->first_step) : NULL;
  s->in_time.series = fopen(writes ? s->input->series : "/dev/null", "w");
  if (s->in_time.series) {
    s->in_time.report.series = s->input->series;
    put_header(s, s->in_time.series);
    if (rows) fputs(rows, s->in_time.series);
  }
  free(rows);
  return s->in_time.series ? TES_OK : tell_failure(s);
}

static TesStatus add_row(Solve *s, const TesProblemInfo *info, int iterations) {
  FILE *file = s->in_time.series;
  put_row(s, info, iterations, file);
  return fflush(file) == 0 ? TES_OK : tell_failure(s);
}

/* ---- outputs of a step --------------------------------------------------------------------------------- */

/* A checkpoint is always due at the end; at the start only if checkpoints are kept. */
static bool checkpoint_is_due(const Solve *s, const TesProblemInfo *info) {
  const TesCaseEvery *every = &s->input->checkpoint_every;
  const double minutes = every->minutes > 0 ? every->minutes : 10;
  int number;
  if (!s->input->checkpoint || info->step == 0) return s->input->checkpoint && s->input->checkpoint_keep;
  if (info->step == info->steps) return true;
  if (every->steps > 0 || every->time > 0) return solve_is_due(s, every, info, info->step, &number);
  return now_of_all() - s->in_time.written > 60 * minutes;
}

/* If checkpoints are kept, the file with the step's number has the same contents. It is written first, so that no
 * state is lost. */
static TesStatus write_checkpoint(Solve *s, TesProblem *problem) {
  const char *path = s->input->checkpoint;
  TesStatus status = solve_await_vtkhdf(s);
  if (status == TES_OK) status = solve_note_samples(s, problem);
  if (status == TES_OK && s->input->checkpoint_keep) {
    char *kept = solve_step_file(path, ".h5", tes_problem_info(problem).step);
    status = kept ? tes_problem_write(problem, kept) : TES_OUT_OF_MEMORY;
    free(kept);
  }
  if (status == TES_OK) status = tes_problem_write(problem, path);
  s->has_checkpoint = s->has_checkpoint || status == TES_OK;
  return status;
}

static TesStatus write_outputs(Solve *s, TesProblem *problem, int iterations) {
  const TesCase *c = s->input;
  const TesProblemInfo info = tes_problem_info(problem);
  const TesCaseEvery each = {.steps = 1}, *series = c->series_every.steps || c->series_every.time > 0 ||
                                                            c->series_every.minutes > 0
                                                        ? &c->series_every
                                                        : &each;
  const double start = solve_now();
  TesStatus status = TES_OK;
  int number;
  if (c->series && is_due(s, series, &info, &s->in_time.told, &number)) {
    status = solve_find_numbers(s, problem);
    if (status == TES_OK && !s->in_time.series) status = begin_series(s);
    if (status == TES_OK) status = add_row(s, &info, iterations);
  }
  if (status == TES_OK && is_due(s, &c->vtu_every, &info, &s->in_time.filed, &number)) {
    status = solve_write_numbered(s, problem, number, info.time, NULL);
    s->in_time.file_step = info.step;
  }
  if (status == TES_OK && is_due(s, &c->vtkhdf_every, &info, &s->in_time.stored, &number)) {
    status = solve_write_vtkhdf(s, problem, info.time, NULL);
    s->in_time.stored_step = info.step;
  }
  if (status == TES_OK && is_due(s, &c->picture.every, &info, &s->in_time.drawn, &number)) {
    status = solve_write_png(s, problem, number);
    s->in_time.picture_step = info.step;
  }
  if (status == TES_OK && checkpoint_is_due(s, &info)) {
    status = write_checkpoint(s, problem);
    s->in_time.written = now_of_all();
  }
  s->in_time.output_seconds += solve_now() - start;
  return status;
}

/* Steps until the change per unit of time is as small as time.steady requires, if it continues to fall at the rate of
 * about the last half of the steps; `left` if it does not fall so fast. */
static double steps_left(Solve *s, const TesProblemInfo *info, int left) {
  SolveInTime *t = &s->in_time;
  if (info->change > 0 && info->step >= 2 * t->change_step[1]) {
    t->change[0] = t->change[1], t->change_step[0] = t->change_step[1];
    t->change[1] = info->change, t->change_step[1] = info->step;
  }
  if (!(t->change[0] > info->change) || !(info->change > 0)) return left;
  const double rate = log(t->change[0] / info->change) / (info->step - t->change_step[0]),
               steps = log(info->change / s->input->problem.time.steady) / rate;
  return steps >= 0 && steps < left ? steps : left;
}

/* Values during the run are only printed: values that cannot be found are left out. */
static TesStatus find_values(Solve *s, const TesProblem *problem) {
  const double start = solve_now();
  TesStatus status = s->input->values ? solve_find_numbers(s, problem) : TES_OK;
  if (status == TES_NAN || status == TES_INVALID_INPUT) {
    tes_context_clear(s->context);
    s->message[0] = 0, status = TES_OK;
  }
  s->in_time.output_seconds += solve_now() - start;
  return status;
}

/* Printed between the lines of the table. */
static void print_progress(const Solve *s, const TesProblemInfo *info, const char *span) {
  char line[160], change[40] = "";
  if (s->options->log || tes_communicator_rank(cli_ranks()) > 0) return;
  if (info->change > 0) snprintf(change, sizeof change, ", change %.1e", info->change);
  snprintf(line, sizeof line, "step %d of %s%d, t = %.5g%s, %s to go", info->step,
           info->varies ? "about " : "", info->steps, info->time, change, span);
  cli_progress(line);
}

/* About twenty lines in all, or one per step. */
static TesStatus print_step(Solve *s, const TesProblem *problem, const TesProblemInfo *info,
                            const TesSolveResult *result) {
  const int done = info->step - s->first_step, left = info->steps - info->step;
  const double elapsed = solve_now() - s->solve_started;
  const bool shown = info->step % (1 + info->steps / 20) == 0 || done == 1 || !left,
             steady = info->change > 0, verbose = s->options->common.verbosity >= TES_VERBOSE;
  SolveColumns c = {0};
  char span[32];
  if (s->options->common.verbosity < TES_NORMAL) return TES_OK;
  solve_print_span(elapsed / done * steps_left(s, info, left), span);
  if (!shown && !verbose) {
    print_progress(s, info, span);
    return TES_OK;
  }
  const TesStatus status = shown ? find_values(s, problem) : TES_OK;
  if (status != TES_OK) return status;
  solve_column(&c, 0, 7, "step", "%d", info->step);
  solve_column(&c, 0, 10, "time", "%.5g", info->time);
  if (s->input->adaptive) solve_column(&c, 0, 10, "unknowns", "%lld", (long long)s->dofs);
  solve_column(&c, 0, 4, "its", "%d", result->iterations);
  if (verbose)
    solve_column(&c, 0, 9, "residual", "%.3e",
                 result->residual_count ? result->residuals[result->residual_count - 1] : 0);
  if (s->input->problem.time.steady > 0)
    solve_column(&c, 0, 8, "change", steady ? "%.1e" : "-", info->change);
  solve_value_columns(s, shown, &c);
  solve_column(&c, 0, 7, "seconds", "%.*f", elapsed < 100 ? 3 : 0, elapsed);
  solve_column(&c, 0, 7, "to go", "%s", span);
  solve_print_columns(s, shown ? TES_LOG_INFO : TES_LOG_DETAIL, &c, done == 1);
  return TES_OK;
}

/* ---- steps --------------------------------------------------------------------------------------------- */

/* Smallest, median and largest number of iterations. */
static void summarize(SolveInTime *t) {
  int64_t seen = 0;
  const int64_t steps = t->report.steps;
  t->report.iterations[0] = -1;
  for (int i = 0; i < SOLVE_COUNTS; i++) {
    if (!t->count[i]) continue;
    if (t->report.iterations[0] < 0) t->report.iterations[0] = i;
    if (seen <= (steps - 1) / 2 && seen + t->count[i] > (steps - 1) / 2) t->report.iterations[1] = i;
    t->report.iterations[2] = i;
    seen += t->count[i];
  }
}

static TesStatus keep_step(Solve *s, const TesProblem *problem, const TesSolveResult *result) {
  SolveInTime *t = &s->in_time;
  const TesProblemInfo info = tes_problem_info(problem);
  const int most = SOLVE_COUNTS - 1;
  t->report.time = info.time;
  t->report.l2_space_time = info.l2_space_time;
  t->report.mean_forces = s->input->problem.mean_components ? tes_mesh_info(s->mesh).dim : 0;
  memcpy(t->report.mean_force, info.mean_force, sizeof info.mean_force);
  if (s->outcome == TES_OK) { /* otherwise the step is not made */
    t->report.steps++;
    t->count[result->iterations < most ? result->iterations : most]++;
    summarize(t);
  }
  const TesStatus status = solve_keep_result(s, problem, result);
  if (tes_problem_multigrid(problem))
    s->cycle = tes_multigrid_times(tes_problem_multigrid(problem)); /* of all cycles */
  return status;
}

/* ---- meshes -------------------------------------------------------------------------------------------- */

static TesStatus keep_remesh(Solve *s, const TesProblemInfo *info, const TesRemesh *r) {
  SolveInTime *t = &s->in_time;
  if (t->report.remeshes == t->remesh_room) {
    const int64_t room = 2 * t->remesh_room + 64;
    TesReportRemesh *list = realloc(t->remesh, (size_t)room * sizeof *list);
    if (!list) return TES_OUT_OF_MEMORY;
    t->report.remesh = t->remesh = list, t->remesh_room = room;
  }
  t->remesh[t->report.remeshes++] = (TesReportRemesh){.step = info->step,
                                                      .time = info->time,
                                                      .cells = r->cells,
                                                      .dofs = r->dofs,
                                                      .divergence = r->divergence_removed};
  return TES_OK;
}

/* Adapts the mesh to the solution, if the case wants it. */
static TesStatus remesh(Solve *s, TesProblem *problem) {
  TesAdaptDesc desc = s->input->adapt;
  TesRemesh r;
  desc.first = s->own_mesh;
  if (!s->input->adaptive) return TES_OK;
  s->in_time.report.adaptive = true;
  const TesStatus status = tes_problem_remesh(problem, &desc, &r);
  const TesProblemInfo info = tes_problem_info(problem);
  s->in_time.adapt_seconds += r.seconds;
  if (status != TES_OK || !r.changed) return status;
  solve_log(s, TES_LOG_DETAIL,
            "mesh      after step %d: %lld cells, %lld unknowns; estimated in %.3g s, set up in %.3g s, "
            "moved in %.3g s",
            info.step, (long long)r.cells, (long long)r.dofs, r.estimate_seconds, r.setup_seconds,
            r.move_seconds);
  solve_keep_solver(s, problem);
  return keep_remesh(s, &info, &r);
}

/* The number of changes of the mesh, and the cost of one relative to a step. */
static void print_remeshes(const Solve *s) {
  const SolveInTime *t = &s->in_time;
  const int64_t n = t->report.remeshes;
  if (!n || !t->report.steps) return;
  const double each = t->adapt_seconds / (double)n, step = s->result.seconds / (double)t->report.steps;
  solve_log(s, TES_LOG_INFO, "adapt     %lld changes of the mesh, %.3g s each, %.2g times a step",
            (long long)n, each, each / step);
}

/* ---- runs that end early ------------------------------------------------------------------------------- */

/* After a step that failed the previous state exists: its files are written, if they do not exist yet. */
static TesStatus write_last(Solve *s, TesProblem *problem) {
  const TesCase *c = s->input;
  const TesProblemInfo info = tes_problem_info(problem);
  TesStatus status = TES_OK;
  int number;
  if (info.step == 0) return TES_OK;
  solve_log(s, TES_LOG_INFO, "          the last good state is that of step %d, at t = %.10g", info.step,
            info.time);
  if (c->checkpoint) status = write_checkpoint(s, problem);
  if (status == TES_OK && s->in_time.file_step != info.step) {
    solve_is_due(s, &c->vtu_every, &info, info.step, &number);
    number = c->vtu_every.minutes > 0 ? info.step : number + 1;
    status = solve_write_numbered(s, problem, number, info.time, NULL);
  }
  if (status == TES_OK && s->in_time.stored_step != info.step)
    status = solve_write_vtkhdf(s, problem, info.time, NULL);
  if (status == TES_OK && s->in_time.picture_step != info.step) {
    solve_is_due(s, &c->picture.every, &info, info.step, &number);
    number = c->picture.every.minutes > 0 ? info.step : number + 1;
    status = solve_write_png(s, problem, number);
  }
  return status;
}

/* ---- all ----------------------------------------------------------------------------------------------- */

static TesStatus make_steps(Solve *s, TesProblem *problem) {
  TesStatus status = s->options->restart ? TES_OK : remesh(s, problem);
  if (status == TES_OK && !s->options->restart) status = write_outputs(s, problem, 0);
  TesProblemInfo info = tes_problem_info(problem);
  while (status == TES_OK && info.step < info.steps) {
    TesSolveResult result = {0};
    status = remesh(s, problem);
    if (status != TES_OK) break;
    const double start = solve_now();
    s->outcome = tes_problem_step(problem, &result);
    if (!s->in_time.report.steps) s->in_time.first_step_seconds = solve_now() - start;
    status = keep_step(s, problem, &result);
    info = tes_problem_info(problem);
    if (status == TES_OK && s->outcome != TES_OK) status = write_last(s, problem);
    if (s->outcome != TES_OK || status != TES_OK) break;
    if (status == TES_OK) status = print_step(s, problem, &info, &result);
    solve_progress(s, (double)info.step / info.steps);
    if (info.step == info.steps && info.time < s->input->problem.time.end - info.dt / 2)
      solve_log(s, TES_LOG_INFO, "          a steady state, as time.steady says");
    status = solve_add_sample(s, problem);
    if (status == TES_OK) status = write_outputs(s, problem, result.iterations);
  }
  print_remeshes(s);
  return status;
}

static TesStatus finish(Solve *s, const TesProblem *problem) {
  TesStatus status = solve_find_errors(s, problem);
  if (status == TES_OK) status = solve_keep_balance(s, problem);
  if (status == TES_OK) status = solve_find_outputs(s, problem);
  if (status == TES_OK) status = solve_find_statistics(s);
  if (s->in_time.series && fclose(s->in_time.series) != 0 && status == TES_OK) status = tell_failure(s);
  s->in_time.series = NULL;
  if (status == TES_OK) status = solve_write_plot(s);
  return status == TES_OK ? solve_write_film(s) : status;
}

/* Another step length, method or degree cannot use the history, only the state at its end. */
static TesStatus read_history(Solve *s, TesProblem *problem) {
  const TesStatus status = tes_problem_read(problem, s->checkpoint);
  const char *message = tes_context_message(s->context);
  char text[900];
  if (status != TES_INVALID_INPUT || !strstr(message, "the checkpoint holds ")) return status;
  snprintf(
      text, sizeof text,
      "%.500s. To begin anew from its last state: \"data.initial: {file: %.200s}\" and time.start: %.10g, "
      "without --restart",
      message, s->options->restart, tes_checkpoint_contents(s->checkpoint)->time);
  cli_locate(s->input, text, s->message, sizeof s->message);
  return status;
}

TesStatus solve_in_time(Solve *s, const TesProblemDesc *desc) {
  TesProblem *problem;
  TesStatus status = tes_problem_create(s->context, desc, &problem);
  if (status != TES_OK) return status;
  s->setup_seconds = solve_now() - s->started;
  s->energy[1] = tes_context_energy(s->context);
  cli_interrupt_stage(NULL);
  solve_keep_solver(s, problem);
  solve_print_solver(s, problem);
  if (s->checkpoint) status = read_history(s, problem);
  if (status == TES_OK && s->checkpoint) status = solve_take_samples(s, problem);
  s->solve_started = s->in_time.written = now_of_all();
  s->in_time.told = s->in_time.filed = s->in_time.stored = s->in_time.drawn = s->solve_started;
  if (status == TES_OK) status = make_steps(s, problem);
  const TesStatus filed = solve_await_vtkhdf(s);
  if (status == TES_OK) status = filed;
  s->energy[2] = tes_context_energy(s->context);
  if (s->solved) solve_keep_solver(s, problem);
  const TesStatus finished = s->solved ? finish(s, problem) : TES_OK;
  if (status == TES_OK) status = finished;
  solve_end_problem(s, &problem);
  if (s->outcome == TES_INTERRUPTED)
    snprintf(s->message, sizeof s->message, "interrupted at t = %.6g, after %lld steps%s%.800s",
             s->in_time.report.time, (long long)s->in_time.report.steps,
             s->has_checkpoint ? "; go on with --restart " : "",
             s->has_checkpoint ? s->input->checkpoint : "");
  return s->outcome != TES_OK ? s->outcome : status;
}
