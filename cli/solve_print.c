/* The printed text of a solve: the problem, the levels, one line per iteration, the outcome. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "solve.h"

const char *const solve_texts[4] = {"method", "smoother", "operator", "precision"};

double solve_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void solve_log(const Solve *s, TesLogLevel level, const char *format, ...) {
  FILE *out = level == TES_LOG_WARNING ? stderr : stdout;
  const TesVerbosity verbosity = s->options->common.verbosity;
  if (level == TES_LOG_DETAIL ? verbosity < TES_VERBOSE : level == TES_LOG_INFO && verbosity < TES_NORMAL)
    return;
  if (tes_communicator_rank(cli_ranks()) > 0) return; /* one voice */
  char *line = NULL;
  cli_progress_end();
  va_list arguments;
  va_start(arguments, format);
  if (vasprintf(&line, format, arguments) < 0) line = NULL;
  va_end(arguments);
  for (char *at = line; at && (at = strstr(at, " -nan")); at++) memmove(at + 1, at + 2, strlen(at + 1));
  if (line && s->options->log)
    s->options->log(s->options->user, level, line);
  else if (line)
    cli_print_line(out, line);
  free(line);
  fflush(out);
}

static bool is_box(const Solve *s) {
  return tes_mesh_info(s->mesh).kind == TES_MESH_BOX;
}

static void print_direction(const Solve *s, int d) {
  const int n = tes_mesh_info(s->mesh).cells_along[d];
  const double *x = tes_mesh_info(s->mesh).coordinates[d];
  double smallest = INFINITY, largest = 0;
  for (int i = 0; i < n; i++)
    smallest = fmin(smallest, x[i + 1] - x[i]), largest = fmax(largest, x[i + 1] - x[i]);
  solve_log(s, TES_LOG_DETAIL, "  %c: %d cells on [%g, %g], width %.3g%s%.3g", "xyz"[d], n, x[0], x[n],
            smallest, largest > smallest * (1 + 1e-9) ? " to " : " = ", largest);
}

/* "8 x 8" for a box, "64" for other meshes. */
static void count_cells(const TesMesh *mesh, char text[64]) {
  const TesMeshInfo info = tes_mesh_info(mesh);
  if (info.kind != TES_MESH_BOX)
    snprintf(text, 64, "%lld", (long long)info.all_cells);
  else
    snprintf(text, 64, info.dim == 2 ? "%d x %d" : "%d x %d x %d", info.all_along[0], info.all_along[1],
             info.all_along[2]);
}

void solve_print_problem(const Solve *s) {
  static const char *const domains[] = {"box",     "ball", "shell", "L-shape", "Fichera corner",
                                        "channel", "file", "cells"};
  const TesCase *c = s->input;
  const TesMeshInfo mesh = tes_mesh_info(s->mesh);
  char cells[64], names[400];
  for (const char *line = c->about.text; *line;) {
    const int length = (int)strcspn(line, "\n");
    solve_log(s, TES_LOG_INFO, line == c->about.text ? "case      %s: %.*s" : "%s%.*s",
              line == c->about.text ? c->name : "", length, line);
    line += length + (line[length] != 0);
  }
  count_cells(s->mesh, cells);
  if (is_box(s))
    solve_log(s, TES_LOG_INFO, "mesh      box of %s cells, degree %d", cells, c->problem.degree);
  else
    solve_log(s, TES_LOG_INFO, "mesh      %s in %dD: %s cells on %lld trees, finest level %d, degree %d",
              domains[c->mesh.domain], mesh.dim, cells, (long long)mesh.trees, mesh.max_level,
              c->problem.degree);
  if (c->problem.boundaries > 1 && cli_list_defaults(s->context, c, s->mesh, sizeof names, names))
    solve_log(s, TES_LOG_INFO, "default   u = 0 on %s: the case gives no condition there", names);
  if (cli_ranks())
    solve_log(s, TES_LOG_INFO, "ranks     %d, %d thread%s each", tes_communicator_size(cli_ranks()),
              tes_context_threads(s->context), tes_context_threads(s->context) > 1 ? "s" : "");
  if (cli_ranks() && is_box(s))
    solve_log(s, TES_LOG_DETAIL, mesh.dim == 2 ? "  grid    %d x %d" : "  grid    %d x %d x %d",
              mesh.ranks_along[0], mesh.ranks_along[1], mesh.ranks_along[2]);
  for (int d = 0; d < mesh.dim && is_box(s) && !cli_ranks(); d++) print_direction(s, d);
}

void solve_print_solver(const Solve *s, const TesProblem *problem) {
  const TesMultigrid *mg = tes_problem_multigrid(problem);
  const int width = is_box(s) ? 18 : 12;
  solve_log(s, TES_LOG_INFO, "levels    %5s  %*s  %12s", "level", width, "cells", "unknowns");
  for (int l = mg ? tes_multigrid_levels(mg) - 1 : 0; l >= 0; l--) {
    const TesSpace *space = mg ? tes_multigrid_level(mg, l).space : tes_problem_space(problem);
    char cells[64];
    count_cells(tes_space_mesh(space), cells);
    solve_log(s, TES_LOG_INFO, "          %5d  %*s  %12lld%s%s", l, width, cells,
              (long long)tes_space_dofs(space), l ? "" : "  ", l ? "" : tes_problem_info(problem).coarse);
  }
  for (int i = 0; i < 4; i++) solve_log(s, TES_LOG_INFO, "%-9s %s", solve_texts[i], s->text[i]);
  if (is_box(s))
    solve_log(s, TES_LOG_INFO, "device    %s, %d threads, %d-bit SIMD", tes_context_device(s->context),
              tes_context_threads(s->context), tes_context_simd_bits(s->context));
  solve_log(s, TES_LOG_INFO, "set-up    %.3f s", s->setup_seconds);
}

void solve_print_step(const Solve *s, const TesAdaptStep *step) {
  enum { LAST = SOLVE_COLUMNS }; /* rank of the columns that are left out first */
  const bool dual = s->input->adapt.estimator == TES_ESTIMATE_DWR; /* whose estimate has a sign */
  SolveColumns c = {0};
  if (step->step == 0 && strcmp(tes_context_device(s->context), "cpu") != 0)
    solve_log(s, TES_LOG_INFO, "estimator on the host, from a copy of the solution");
  solve_column(&c, 0, 5, "step", "%d", s->first_step + step->step);
  solve_column(&c, 0, 9, "cells", "%lld", (long long)step->cells);
  solve_column(&c, 0, 10, "unknowns", "%lld", (long long)step->dofs);
  solve_column(&c, LAST, 9, "hanging", "%lld", (long long)step->hanging);
  solve_column(&c, 0, 3, "its", "%d", step->iterations);
  solve_column(&c, 0, 9, "estimate", "%.2e", step->estimate);
  if (dual) solve_column(&c, 0, 9, "upper", "%.2e", step->upper);
  if (!isnan(step->error)) solve_column(&c, 0, 9, "error", "%.2e", step->error);
  if (!isnan(step->error)) solve_column(&c, LAST, 11, "effectivity", "%.3f", step->effectivity);
  solve_value_columns(s, true, &c);
  solve_column(&c, 0, 7, "seconds", "%.2f",
               step->setup_seconds + step->solve_seconds + step->estimate_seconds);
  solve_print_columns(s, TES_LOG_INFO, &c, step->step == 0);
}

/* Remaining seconds at the rate of the last iteration; negative: unknown. */
static double time_left(const Solve *s, int iteration, double residual, double elapsed) {
  const double factor = residual / s->previous_residual;
  if (iteration == 0 || !(factor < 1) || !(residual > s->tolerance)) return -1;
  return ceil(log(s->tolerance / residual) / log(factor)) * elapsed / (iteration + 1);
}

void solve_progress(const Solve *s, double part) {
  if (s->options->progress) s->options->progress(s->options->user, part < 1 ? part : 1);
}

void solve_monitor(void *user, int iteration, double residual) {
  Solve *s = user;
  char factor[32] = "-", left[32] = "";
  const double elapsed = solve_now() - s->solve_started, seconds = time_left(s, iteration, residual, elapsed);
  if (iteration > 0) snprintf(factor, sizeof factor, "%.2e", residual / s->previous_residual);
  if (seconds >= 0) solve_print_span(seconds, left);
  solve_log(s, TES_LOG_INFO, "%9d    %9.3e  %9s  %9.3f  %s", iteration, residual, factor, elapsed, left);
  s->previous_residual = residual;
  if (residual > 0) solve_progress(s, log(residual) / log(s->tolerance));
}

void solve_monitor_step(void *user, int iteration, double residual) {
  const Solve *s = user;
  char line[96];
  cli_interrupt_stage(NULL);
  if (s->options->common.verbosity < TES_NORMAL) return;
  snprintf(line, sizeof line, "step %d: iteration %d, residual %.1e", s->first_step + s->step_count,
           iteration, residual);
  cli_progress(line);
}

double solve_seconds(const Solve *s) {
  return s->result.seconds + (s->step_count ? s->setup_seconds : 0);
}

/* Whether full multigrid made the start of the last solve: the text of the method begins with that. */
static bool began_with_full(const Solve *s) {
  static const char full[] = "full multigrid";
  return !strncmp(s->text[0], full, sizeof full - 1) && s->result.residuals[0] > 0;
}

double solve_rate(const Solve *s) {
  const bool nothing = s->iterations == 0 && !(s->outcome == TES_OK && began_with_full(s));
  return nothing ? NAN : (double)s->all_dofs / solve_seconds(s);
}

/* Estimates of a flow. For smooth flows the estimate is 3 to 10 times the error, and the relative error of forces is
 * some times larger than the error of velocities. From 3 % on forces are wrong by 1 % and more (a cylinder's drag: 2
 * % at 5 %, 9 % at 35 %). The warning leaves out cells at singular corners, which no mesh resolves. */
static void print_estimate(const Solve *s) {
  enum { PERCENT = 3 };
  const TesFlowEstimate *e = &s->estimate;
  const double rest = 100 * e->velocity_rest / e->velocity_norm;
  solve_log(s, TES_LOG_INFO, "estimate  error of velocity %.1e in L2, %.1e of it; of pressure %.1e",
            e->velocity, e->velocity / e->velocity_norm, e->pressure);
  if (rest > PERCENT)
    solve_log(s, TES_LOG_WARNING,
              "warning: the error of the velocity is estimated as %.*f %% of it: forces and other values are "
              "not exact "
              "to 1 %%. Refine the mesh (mesh.refine, cells), or raise space.degree",
              rest < 10 ? 1 : 0, rest);
}

/* Explains why no iteration was needed. */
static void print_no_iterations(const Solve *s) {
  const bool full = began_with_full(s), zero = s->result.residuals[0] == 0;
  solve_log(s, TES_LOG_INFO, "          %s",
            zero   ? "no iteration: the right-hand side is zero"
            : full ? "no iteration: full multigrid, which makes the start, met the tolerance"
                   : "no iteration: the start was below the tolerance already");
}

/* The reason why an adaptive solve ended. */
static void print_end_of_steps(const Solve *s) {
  const TesAdaptDesc *a = &s->input->adapt;
  const TesReportStep *last = &s->steps[s->step_count - 1];
  char what[96] = "the energy norm";
  if (a->estimator == TES_ESTIMATE_DWR)
    snprintf(what, sizeof what, "the goal, sum of absolute indicators %.3e", last->upper);
  if (last->upper <= a->tolerance)
    solve_log(s, TES_LOG_INFO, "estimate  %.3e in %s, not above the tolerance of %.3g", last->estimate, what,
              a->tolerance);
  else
    solve_log(s, TES_LOG_INFO, "estimate  %.3e in %s; %s", last->estimate, what,
              s->step_count == a->steps ? "that was the last step allowed"
                                        : "the next mesh has more unknowns than max_dofs");
}

/* The status in words. */
static void name_outcome(TesStatus status, size_t size, char *words) {
  snprintf(words, size, "%s", tes_status_name(status));
  for (char *c = words; *c; c++)
    if (*c == '_') *c = ' ';
}

/* The files that were written, and how to continue the run. */
static void print_files(const Solve *s) {
  const char *checkpoint = s->has_checkpoint ? s->input->checkpoint : NULL;
  const char *const files[] = {s->vtu,  s->vtkhdf, s->png, s->film, s->in_time.report.series,
                               s->plot, checkpoint};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    if (files[i]) solve_log(s, TES_LOG_INFO, "written   %s", files[i]);
  if (!checkpoint || !(s->outcome != TES_OK || s->in_time.report.steps)) return;
  solve_log(s, TES_LOG_INFO, "go on     with --restart %s%s", checkpoint,
            s->outcome == TES_OK ? " and a later time.end" : "");
}

static void print_energy(const Solve *s) {
  const TesReportEnergy e = solve_energy(s);
  char parts[2][48] = {"", ""};
  if (isfinite(e.gpu)) snprintf(parts[0], sizeof parts[0], "   GPU %.3g J", e.gpu);
  if (isfinite(e.cpu)) snprintf(parts[1], sizeof parts[1], "   processor %.3g J", e.cpu);
  if (isfinite(e.gpu) || isfinite(e.cpu)) solve_log(s, TES_LOG_DETAIL, "energy %s%s", parts[0], parts[1]);
}

void solve_print_outcome(const Solve *s) {
  const TesMultigridTimes *t = &s->cycle;
  char steps[32] = "", outcome[64], rate[64] = "";
  name_outcome(s->outcome, sizeof outcome, outcome);
  if (s->step_count) snprintf(steps, sizeof steps, "%d steps, ", s->step_count);
  if (!isnan(solve_rate(s)))
    snprintf(rate, sizeof rate, ": %.3g million unknowns per second", 1e-6 * solve_rate(s));
  if (s->in_time.report.steps)
    solve_log(s, TES_LOG_INFO, "%s at t = %.6g after %lld steps, %.3f s; %d iterations, %.3f s",
              s->outcome == TES_OK ? "ended" : outcome, s->in_time.report.time,
              (long long)s->in_time.report.steps, solve_now() - s->solve_started, s->iterations,
              solve_seconds(s));
  else
    solve_log(s, TES_LOG_INFO, "%s after %s%d iterations, %.3f s%s", outcome, steps, s->iterations,
              solve_seconds(s), rate);
  if (s->iterations == 0 && s->outcome == TES_OK && s->result.residuals) print_no_iterations(s);
  solve_log(s, TES_LOG_DETAIL,
            "time in   smoothing %.3f s, residuals %.3f s, transfers %.3f s, coarse level %.3f s, outer "
            "iteration %.3f s",
            t->smooth, t->residual, t->transfer, t->coarse,
            s->result.seconds - t->smooth - t->residual - t->transfer - t->coarse);
  solve_log(s, TES_LOG_DETAIL, "memory    %.3f GiB at most",
            (double)tes_context_memory_peak(s->context) / (1 << 30));
  print_energy(s);
  if (s->step_count && s->outcome == TES_OK) print_end_of_steps(s);
  if (s->has_errors) solve_log(s, TES_LOG_INFO, "error     L2 %.4e   H1 %.4e", s->error_l2, s->error_h1);
  if (s->has_errors && s->in_time.report.steps)
    solve_log(s, TES_LOG_INFO, "          L2 in space and time %.4e", s->in_time.report.l2_space_time);
  if (s->is_flow && !isnan(s->flow.velocity_l2)) {
    char pressure[40] = "";
    if (!isnan(s->flow.pressure_l2))
      snprintf(pressure, sizeof pressure, "   of pressure %.4e", s->flow.pressure_l2);
    solve_log(s, TES_LOG_INFO, "error     L2 of velocity %.4e%s", s->flow.velocity_l2, pressure);
  }
  if (s->is_flow && isfinite(s->estimate.velocity)) print_estimate(s);
  if (s->is_flow && isfinite(s->flow.divergence_l2))
    solve_log(s, TES_LOG_INFO, "div u     L2 %.2e, %.2e of grad u", s->flow.divergence_l2,
              s->flow.divergence_relative);
  if (s->in_time.report.steps && s->flow.divergence_relative > 0.25 && !s->input->about.halved)
    solve_log(s, TES_LOG_WARNING,
              "warning: div u is %.0f %% of grad u: cells are too large for this flow, or steps too long "
              "(time.cfl, "
              "time.step)",
              100 * s->flow.divergence_relative);
  for (int d = 0; d < s->in_time.report.mean_forces; d++)
    if (!isnan(s->in_time.report.mean_force[d]))
      solve_log(s, TES_LOG_INFO, "force     %.10g in direction %c keeps the mean velocity",
                s->in_time.report.mean_force[d], "xyz"[d]);
  if (s->forces.dim) {
    const double *l = s->forces.load, *r = s->forces.reaction;
    if (s->forces.dim == 3)
      solve_log(s, TES_LOG_INFO, "balance   load (%.6g, %.6g, %.6g), reaction (%.6g, %.6g, %.6g)", l[0], l[1],
                l[2], r[0], r[1], r[2]);
    else
      solve_log(s, TES_LOG_INFO, "balance   load (%.6g, %.6g), reaction (%.6g, %.6g)", l[0], l[1], r[0], r[1]);
  }
  if (s->balance.flux)
    solve_log(s, TES_LOG_INFO, "balance   in %.6g + sources %.6g = out %.6g + stored %.6g, but for %.1e",
              s->balance.in, s->balance.sources, s->balance.out, s->balance.stored, s->balance.defect);
  solve_print_outputs(s);
  solve_print_statistics(s);
  print_files(s);
}
