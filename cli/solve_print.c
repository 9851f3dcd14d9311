/* What a solve tells people: the problem, the levels, a line an iteration, the outcome. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>
#include "solve.h"

static void print_direction(TesContext *ctx, const TesMesh *mesh, int d) {
  const int n = tes_mesh_cells_along(mesh, d);
  const double *x = tes_mesh_coordinates(mesh, d);
  double smallest = INFINITY, largest = 0;
  for (int i = 0; i < n; i++)
    smallest = fmin(smallest, x[i + 1] - x[i]), largest = fmax(largest, x[i + 1] - x[i]);
  tesi_log(ctx, TES_LOG_DETAIL, "  %c: %d cells on [%g, %g], width %.3g%s%.3g", "xyz"[d], n, x[0], x[n],
           smallest, largest > smallest * (1 + 1e-9) ? " to " : " = ", largest);
}

void solve_print_problem(const Solve *s) {
  TesContext *ctx = s->context;
  const TesCase *c = s->input;
  char cells[64];
  if (c->box.dim == 2)
    snprintf(cells, sizeof cells, "%d x %d", c->box.cells[0], c->box.cells[1]);
  else
    snprintf(cells, sizeof cells, "%d x %d x %d", c->box.cells[0], c->box.cells[1], c->box.cells[2]);
  tesi_log(ctx, TES_LOG_INFO, "case      %s: -div(a grad u) + c u = f", c->name);
  tesi_log(ctx, TES_LOG_INFO, "data      a = %s   c = %s", tes_function_text(c->a), tes_function_text(c->c));
  tesi_log(ctx, TES_LOG_INFO, "          f = %s", tes_function_text(c->f));
  tesi_log(ctx, TES_LOG_INFO, "mesh      box of %s cells, degree %d", cells, c->degree);
  for (int d = 0; d < c->box.dim; d++) print_direction(ctx, s->mesh, d);
}

void solve_print_levels(const Solve *s) {
  TesContext *ctx = s->context;
  const TesMultigrid *mg = tes_poisson_multigrid(s->poisson);
  const TesPoissonChoice choice = tes_poisson_choice(s->poisson);
  const int levels = tes_multigrid_levels(mg);
  tesi_log(ctx, TES_LOG_INFO, "levels    %5s  %18s  %12s", "level", "cells", "unknowns");
  for (int l = levels - 1; l >= 0; l--) {
    const TesSpace *space = tes_multigrid_space(mg, l);
    const TesMesh *mesh = tes_space_mesh(space);
    char cells[64];
    snprintf(cells, sizeof cells, tes_mesh_dim(mesh) == 2 ? "%d x %d" : "%d x %d x %d",
             tes_mesh_cells_along(mesh, 0), tes_mesh_cells_along(mesh, 1), tes_mesh_cells_along(mesh, 2));
    tesi_log(ctx, TES_LOG_INFO, "          %5d  %18s  %12lld%s", l, cells, (long long)tes_space_dofs(space),
             l == 0 ? "  solved directly" : "");
  }
  tesi_log(ctx, TES_LOG_INFO, "method    %s", choice.method);
  tesi_log(ctx, TES_LOG_INFO, "smoother  %s", choice.smoother);
  tesi_log(ctx, TES_LOG_INFO, "operator  %s", choice.op);
  tesi_log(ctx, TES_LOG_INFO, "precision %s", choice.precision);
  tesi_log(ctx, TES_LOG_INFO, "device    %s, %d threads, %d-bit SIMD", tes_context_device(ctx),
           tes_context_threads(ctx), tes_context_simd_bits(ctx));
  tesi_log(ctx, TES_LOG_INFO, "set-up    %.3f s", s->setup_seconds);
  tesi_log(ctx, TES_LOG_INFO, "iteration     residual     factor    seconds  to go");
}

/* Seconds still to go at the rate of the last iteration; negative: unknown. */
static double time_left(const Solve *s, int iteration, double residual, double elapsed) {
  const double factor = residual / s->previous_residual,
               target = s->forest ? s->forest->tolerance : tes_poisson_tolerance(s->poisson);
  if (iteration == 0 || !(factor < 1) || !(residual > target)) return -1;
  return ceil(log(target / residual) / log(factor)) * elapsed / (iteration + 1);
}

void solve_monitor(void *user, int iteration, double residual) {
  Solve *s = user;
  char factor[32] = "-", left[32] = "";
  const double elapsed = tesi_now() - s->solve_started, seconds = time_left(s, iteration, residual, elapsed);
  if (iteration > 0) snprintf(factor, sizeof factor, "%.2e", residual / s->previous_residual);
  if (seconds >= 0) snprintf(left, sizeof left, "%.2g s", seconds);
  tesi_log(s->context, TES_LOG_INFO, "%9d    %9.3e  %9s  %9.3f  %s", iteration, residual, factor, elapsed,
           left);
  s->previous_residual = residual;
}

double solve_rate(const Solve *s) {
  const int64_t dofs = s->forest ? s->forest->all_dofs : tes_space_dofs(tes_poisson_space(s->poisson));
  return (double)dofs / s->result.seconds;
}

/* Why an adaptive solve ended. */
static void print_end_of_steps(const Solve *s) {
  const TesCaseAdapt *a = &s->input->adapt;
  const SolveForest *f = s->forest;
  const double estimate = fabs(f->steps[f->step_count - 1].estimate);
  const char *const what = a->estimator == TES_CASE_DWR ? "the goal" : "the energy norm";
  if (estimate <= a->tolerance)
    tesi_log(s->context, TES_LOG_INFO, "estimate  %.3e in %s, not above the tolerance of %.3g", estimate,
             what, a->tolerance);
  else
    tesi_log(s->context, TES_LOG_INFO, "estimate  %.3e in %s; %s", estimate, what,
             f->step_count == a->steps ? "that was the last step allowed"
                                       : "the next mesh has more unknowns than max_dofs");
}

/* The status for people: its name in words. */
static void name_outcome(TesStatus status, size_t size, char *words) {
  snprintf(words, size, "%s", tes_status_name(status));
  for (char *c = words; *c; c++)
    if (*c == '_') *c = ' ';
}

void solve_print_outcome(const Solve *s) {
  TesContext *ctx = s->context;
  const SolveForest *f = s->forest;
  const TesMultigridTimes t = f ? f->cycle : tes_multigrid_times(tes_poisson_multigrid(s->poisson));
  char steps[32] = "", outcome[64];
  name_outcome(s->outcome, sizeof outcome, outcome);
  if (f && f->adaptive) snprintf(steps, sizeof steps, "%d steps, ", f->step_count);
  tesi_log(ctx, TES_LOG_INFO, "%s after %s%d iterations, %.3f s: %.3g million unknowns a second", outcome,
           steps, f ? f->iterations : s->result.iterations, s->result.seconds, 1e-6 * solve_rate(s));
  tesi_log(ctx, TES_LOG_DETAIL,
           "time in   smoothing %.3f s, residuals %.3f s, transfers %.3f s, coarse level %.3f s, outer "
           "iteration %.3f s",
           t.smooth, t.residual, t.transfer, t.coarse,
           s->result.seconds - t.smooth - t.residual - t.transfer - t.coarse);
  tesi_log(ctx, TES_LOG_DETAIL, "memory    %.3f GiB at most",
           (double)tes_context_memory_peak(ctx) / (1 << 30));
  if (f && f->adaptive && s->outcome == TES_OK) print_end_of_steps(s);
  if (s->has_errors) tesi_log(ctx, TES_LOG_INFO, "error     L2 %.4e   H1 %.4e", s->error_l2, s->error_h1);
  if (s->vtu) tesi_log(ctx, TES_LOG_INFO, "written   %s", s->vtu);
}
