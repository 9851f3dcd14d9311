/* From a case to its solution. */
#include <string.h>
#include "solve.h"

static TesStatus create_mesh(Solve *s) {
  const TesCaseBox *box = &s->input->box;
  TesMeshDesc desc = {.dim = box->dim};
  for (int d = 0; d < 3; d++) {
    desc.cells[d] = box->cells[d];
    desc.lower[d] = box->lower[d];
    desc.upper[d] = box->upper[d];
    desc.coordinates[d] = box->coordinates[d];
  }
  return tes_mesh_create(s->context, &desc, &s->mesh);
}

/* Values of the case file, in the order of case.h, as the library's. */
static const TesCondition conditions[] = {TES_DIRICHLET, TES_DIRICHLET, TES_NEUMANN, TES_ROBIN};
static const TesMethod methods[] = {TES_METHOD_AUTO, TES_METHOD_VCYCLE, TES_METHOD_FMG, TES_METHOD_GMRES,
                                    TES_METHOD_CG};
static const TesSmootherKind smoothers[] = {
    TES_SMOOTHER_AUTO,      TES_SMOOTHER_PATCH,        TES_SMOOTHER_PATCH_ADDITIVE, TES_SMOOTHER_JACOBI,
    TES_SMOOTHER_CHEBYSHEV, TES_SMOOTHER_GAUSS_SEIDEL, TES_SMOOTHER_CELL_PATCH};
static const TesLocalSolver local_solvers[] = {TES_LOCAL_AUTO, TES_LOCAL_EXACT, TES_LOCAL_MEAN,
                                               TES_LOCAL_SCALED, TES_LOCAL_RANK1};
static const TesSolvePrecision precisions[] = {TES_SOLVE_MIXED, TES_SOLVE_DOUBLE, TES_SOLVE_SINGLE};

/* In descs 0 means the default, in cases -1 does; 0 steps are -1 in descs. */
static int steps(int given) {
  return given < 0 ? 0 : given == 0 ? -1 : given;
}

TesCondition solve_condition(TesCaseCondition condition) {
  return conditions[condition];
}

void solve_fill_method(const TesCase *c, TesMethod *method, TesSmootherKind *smoother,
                       TesSolvePrecision *precision, int *pre, int *post) {
  *method = methods[c->method];
  *smoother = smoothers[c->smoother];
  *precision = precisions[c->precision];
  *pre = steps(c->pre_smoothing), *post = steps(c->post_smoothing);
}

static TesStatus create_poisson(Solve *s) {
  const TesCase *c = s->input;
  TesPoissonDesc desc = {.mesh = s->mesh,
                         .degree = c->degree,
                         .a = c->a,
                         .c = c->c,
                         .f = c->f,
                         .exact = c->exact,
                         .method = methods[c->method],
                         .smoother = smoothers[c->smoother],
                         .local = local_solvers[c->local_solver],
                         .post_sweep = c->order == TES_CASE_ORDER_REVERSED ? TES_BACKWARD : TES_FORWARD,
                         .post_sweep_given = c->order != TES_CASE_ORDER_AUTO,
                         .pre = steps(c->pre_smoothing),
                         .post = steps(c->post_smoothing),
                         .tolerance = c->tolerance,
                         .max_iterations = c->max_iterations,
                         .precision = precisions[c->precision],
                         .monitor = solve_monitor,
                         .monitor_user = s};
  for (int face = 0; face < 6; face++)
    desc.boundary[face] = (TesBoundary){conditions[c->boundary[face].condition], c->boundary[face].value,
                                        c->boundary[face].alpha};
  return tes_poisson_create(s->context, &desc, &s->poisson);
}

static TesStatus set_up(Solve *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TES_TRY(tes_case_read(ctx, s->options->path, s->options->override_count, s->options->overrides, &s->input));
  for (int i = 0; i < s->input->warning_count; i++)
    tesi_log(ctx, TES_LOG_WARNING, "warning: %s", s->input->warnings[i]);
  TES_TRY(solve_outputs_check(s));
  if (s->input->forest.used) return TES_OK;
  TES_TRY(create_mesh(s));
  solve_print_problem(s);
  TES_TRY(create_poisson(s));
  s->setup_seconds = tesi_now() - s->started;
  solve_print_levels(s);
done:
  return status;
}

/* What comes after an iteration that ended in any way: the last iterate is there. */
static TesStatus finish(Solve *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const char *vtu = s->options->vtu ? s->options->vtu : s->input->vtu;
  double start = tesi_now();
  if (s->input->exact && s->status != TES_NAN) {
    TES_TRY(tes_poisson_errors(s->poisson, &s->error_l2, &s->error_h1));
    s->has_errors = true;
  }
  s->errors_seconds = tesi_now() - start;
  start = tesi_now();
  if (vtu) {
    TES_TRY(solve_write_vtu(s, vtu));
    s->vtu = vtu;
  }
  s->vtu_seconds = tesi_now() - start;
done:
  return status;
}

static void release(Solve *s) {
  solve_forest_free(s);
  tes_poisson_destroy(&s->poisson);
  tes_mesh_destroy(&s->mesh);
  tes_case_destroy(&s->input);
}

/* Whether the program chose the device itself and that one lacks something this case needs. */
static bool chose_too_much(const Solve *s) {
  const char *asked = s->options->common.device;
  return s->status == TES_MISSING && (!asked || !strcmp(asked, "auto")) &&
         strcmp(tes_context_device(s->context), "cpu") != 0;
}

static TesStatus run_on_cpu(const Solve *s) {
  SolveOptions options = *s->options;
  TesContext *cpu;
  options.common.device = "cpu";
  TesStatus status = cli_context_create(&options.common, &cpu);
  if (status != TES_OK) return status;
  tesi_log(cpu, TES_LOG_INFO, "device    cpu instead of %s: %s", tes_context_device(s->context),
           tes_context_message(s->context));
  status = solve_run(cpu, &options);
  tes_context_destroy(&cpu);
  return status;
}

TesStatus solve_run(TesContext *ctx, const SolveOptions *options) {
  Solve s = {.context = ctx, .options = options, .started = tesi_now()};
  s.status = set_up(&s);
  if (chose_too_much(&s)) {
    release(&s);
    return run_on_cpu(&s);
  }
  if (s.status == TES_OK && s.input->forest.used) {
    s.status = solve_forest(&s);
    if (chose_too_much(&s)) {
      release(&s);
      return run_on_cpu(&s);
    }
  } else if (s.status == TES_OK) {
    s.solve_started = tesi_now();
    s.status = tes_poisson_solve(s.poisson, &s.result);
    if (chose_too_much(&s)) { /* kernels may be compiled when they are needed first */
      release(&s);
      return run_on_cpu(&s);
    }
    s.solved = s.result.residuals != NULL; /* not when even the start failed */
  }
  s.outcome = s.status;
  if (s.solved && !s.forest) {
    const TesStatus after = finish(&s);
    if (s.status == TES_OK) s.status = after;
  }
  if (s.solved) solve_print_outcome(&s);
  const char *json = options->common.json ? options->common.json : s.input ? s.input->json : NULL;
  if (json) {
    const TesStatus written = solve_write_report(&s, json);
    if (s.status == TES_OK) s.status = written;
  }
  const TesStatus status = s.status;
  if (status != TES_OK) cli_print_failure(ctx, status);
  release(&s);
  return status;
}
