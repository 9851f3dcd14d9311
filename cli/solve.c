/* tessera solve: from a case file to a table of the iteration, errors, a VTU file and a JSON report. This file has
 * the options, and the steps from a case to its solution. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "scaling.h"
#include "solve.h"

static const char help[] =
    "usage: tessera solve CASE.yaml [OPTION]...\n\n"
    "Solves the problem of a case file ('-': standard input).\n\n"
    "  --set key.path=value   replaces or adds a value of the case, e.g. --set mesh.box.cells=[8,8,8]; "
    "repeatable\n"
    "  --device D             auto, cpu, cuda, cuda:N, emulator; cuda:all, cuda:N,M: a rank each  (auto)\n"
    "  --threads N            threads of the CPU, of each rank                   (all)\n"
    "  --ranks N              N processes with a part of the mesh each: begins mpirun (docs/parallel.md)\n"
    "  --simd BITS            width of SIMD vectors: 128, 256 or 512             (the widest)\n"
    "  --deterministic        the same bits every time: no choice by timing, sums in one order\n"
    "  --json FILE            writes a report, to the standard output for '-'\n"
    "  --vtu FILE             writes the solution for ParaView\n"
    "  --png FILE             draws the solution\n"
    "  --restart FILE         goes on from a checkpoint (output.checkpoint)\n"
    "  --verbose | --quiet    more, or nothing but errors\n"
    "  --keys [KEY]           lists the keys of case files, all or below KEY\n"
    "  --schema               prints a JSON schema of case files, for editors\n"
    "  --help                 this text\n";

enum { SET = CLI_OWN_OPTIONS, DETERMINISTIC, VTU, PNG, RESTART, KEYS, SCHEMA, HELP };

static const struct option long_options[] = {{"set", required_argument, NULL, SET},
                                             CLI_COMMON_OPTIONS,
                                             {"ranks", required_argument, NULL, CLI_RANKS},
                                             {"deterministic", no_argument, NULL, DETERMINISTIC},
                                             {"vtu", required_argument, NULL, VTU},
                                             {"png", required_argument, NULL, PNG},
                                             {"restart", required_argument, NULL, RESTART},
                                             {"keys", optional_argument, NULL, KEYS},
                                             {"schema", no_argument, NULL, SCHEMA},
                                             {"help", no_argument, NULL, HELP},
                                             {0}};

static int print_keys(const char *path) {
  static char text[65536];
  if (tes_case_help(path, TES_CASE_HELP_TEXT, text, sizeof text) == 0)
    return cli_usage_error("there is no key '%s' in case files (tessera solve --keys)", path);
  return fputs(text, stdout) < 0;
}

static int print_schema(void) {
  static char text[262144];
  const size_t length = tes_case_schema(text, sizeof text);
  if (!length || length >= sizeof text) return tes_status_exit(TES_OUT_OF_MEMORY);
  return puts(text) < 0;
}

static bool parse_option(int option, SolveOptions *o) {
  switch (option) {
  case SET:
    if (o->override_count == SOLVE_OVERRIDES) {
      cli_usage_error("more than %d --set", SOLVE_OVERRIDES);
      return false;
    }
    o->overrides[o->override_count++] = optarg;
    return true;
  case DETERMINISTIC:
    o->common.deterministic = 1;
    return true;
  case VTU:
    o->vtu = optarg;
    return true;
  case PNG:
    o->png = optarg;
    return true;
  case RESTART:
    o->restart = optarg;
    return true;
  default:
    return cli_parse_common(option, &o->common);
  }
}

/* ---- data of a problem for the report ------------------------------------------------------------------ */

/* (k + 1)^dim per cell with element rt; the second part of a product with element q. */
static int64_t solve_pressures(const TesSpace *space) {
  int64_t pressures = tes_mesh_info(tes_space_mesh(space)).all_cells;
  if (tes_space_parts(space) == 2 && tes_space_degree(tes_space_part(space, 1)) < tes_space_degree(space))
    return tes_space_dofs(tes_space_part(space, 1));
  if (tes_space_element(space) != TES_ELEMENT_RT) return 0;
  for (int d = 0; d < tes_mesh_info(tes_space_mesh(space)).dim; d++) pressures *= tes_space_degree(space) + 1;
  return pressures;
}

/* Levels and choices of a problem's solver, for the report. */
void solve_keep_solver(Solve *s, const TesProblem *problem) {
  const TesMultigrid *mg = tes_problem_multigrid(problem);
  if (!mg && s->level_count > 1) return; /* if a step was refused, the data of the previous step stay */
  const TesProblemInfo choice = tes_problem_info(problem);
  const char *const texts[] = {choice.method, choice.smoother, choice.op, choice.precision};
  s->level_count = mg ? tes_multigrid_levels(mg) : 1;
  for (int l = 0; l < s->level_count; l++) {
    const TesSpace *space =
        mg ? tes_multigrid_level(mg, s->level_count - 1 - l).space : tes_problem_space(problem);
    s->levels[l] = (TesReportLevel){tes_mesh_info(tes_space_mesh(space)).all_cells, tes_space_dofs(space)};
  }
  for (int i = 0; i < 4; i++) snprintf(s->text[i], SOLVE_TEXT, "%s", texts[i]);
  s->setup = choice.times;
  s->dofs = tes_space_dofs(tes_problem_space(problem));
  s->pressure_dofs = solve_pressures(tes_problem_space(problem));
  if (s->input->about.halved) { /* shown on halved cells; the unknowns are on the mesh's own cells */
    s->pressure_dofs = s->levels[0].dofs;
    s->dofs += s->pressure_dofs - tes_space_dofs(tes_space_part(tes_problem_space(problem), 1));
  }
  s->velocity_dofs = s->dofs - s->pressure_dofs;
  s->tolerance = choice.tolerance;
  s->has_solver = true;
}

/* Where cycles would not have reached the tolerance, another method has taken over within the solve. */
static void tell_change(Solve *s, const TesProblem *problem) {
  char before[SOLVE_TEXT];
  snprintf(before, sizeof before, "%s", s->text[0]);
  solve_keep_solver(s, problem);
  if (strcmp(before, s->text[0]) != 0) solve_log(s, TES_LOG_INFO, "%-9s %s", solve_texts[0], s->text[0]);
}

/* The residuals of this solve; seconds, iterations and unknowns of all solves. There are none if the start failed. */
TesStatus solve_keep_result(Solve *s, const TesProblem *problem, const TesSolveResult *result) {
  const TesMultigrid *mg = tes_problem_multigrid(problem);
  const TesMultigridTimes t = mg ? tes_multigrid_times(mg) : (TesMultigridTimes){0};
  const double seconds = s->result.seconds + result->seconds;
  s->floor = tes_problem_info(problem).floor;
  const size_t bytes = (size_t)result->residual_count * sizeof *result->residuals;
  if (!result->residuals) { /* a step whose systems are solved directly has no residuals */
    s->solved = s->solved || s->outcome == TES_OK;
    s->result.seconds = seconds;
    return TES_OK;
  }
  free(s->residuals);
  s->residuals = malloc(bytes);
  if (!s->residuals) return TES_OUT_OF_MEMORY;
  memcpy(s->residuals, result->residuals, bytes);
  s->result = *result;
  s->result.seconds = seconds;
  s->result.residuals = s->residuals;
  s->iterations += result->iterations;
  s->all_dofs += s->dofs;
  s->cycle.smooth += t.smooth, s->cycle.residual += t.residual;
  s->cycle.transfer += t.transfer, s->cycle.coarse += t.coarse;
  s->solved = true;
  return TES_OK;
}

/* ---- one solve, or the loop ---------------------------------------------------------------------------- */

TesStatus solve_find_errors(Solve *s, const TesProblem *problem) {
  const double start = solve_now();
  if (s->input->about.flow && s->outcome != TES_NAN) {
    const TesStatus status = tes_problem_flow(problem, &s->flow);
    s->is_flow = status == TES_OK;
    s->estimate = (TesFlowEstimate){NAN, NAN, NAN, NAN, NAN};
    if (s->is_flow) tes_estimate_flow(problem, &s->estimate);
    s->errors_seconds = solve_now() - start;
    return status;
  }
  if (!s->input->problem.exact[0] || s->outcome == TES_NAN) return TES_OK;
  const TesStatus status = tes_problem_errors(problem, &s->error_l2, &s->error_h1);
  s->has_errors = status == TES_OK;
  s->errors_seconds = solve_now() - start;
  return status;
}

TesStatus solve_keep_balance(Solve *s, const TesProblem *problem) {
  const TesBalance b = tes_problem_info(problem).balance;
  if (!isnan(b.load[0])) {
    s->forces.dim = tes_mesh_info(tes_space_mesh(tes_problem_space(problem))).dim;
    memcpy(s->forces.load, b.load, sizeof b.load);
    memcpy(s->forces.reaction, b.reaction, sizeof b.reaction);
  }
  const int n = tes_mesh_boundaries(s->mesh);
  if (!b.flux) return TES_OK;
  double *flux = malloc((size_t)(n + 1) * sizeof *flux);
  const char **names = malloc((size_t)(n + 1) * sizeof *names);
  if (flux && names) {
    for (int i = 0; i < n; i++) flux[i] = b.flux[i], names[i] = tes_mesh_boundary_name(s->mesh, i);
    s->balance = (TesReportBalance){b.in, b.out, b.sources, b.stored, b.defect, names, flux, n};
    return TES_OK;
  }
  free(flux), free(names);
  return TES_OUT_OF_MEMORY;
}

/* To be called after an iteration, however it ended: the last iterate exists. */
static TesStatus finish(Solve *s, const TesProblem *problem) {
  TesStatus status = solve_find_errors(s, problem);
  if (status == TES_OK) status = solve_keep_balance(s, problem);
  if (status == TES_OK && s->outcome != TES_NAN) status = solve_find_outputs(s, problem);
  if (status == TES_OK) status = solve_write_vtu(s, problem);
  if (status == TES_OK) status = solve_write_vtkhdf(s, problem, 0, NULL);
  if (status == TES_OK && s->outcome != TES_NAN) status = solve_write_png(s, problem, -1);
  if (status == TES_OK && s->outcome != TES_NAN) status = solve_write_checkpoint(s, problem, s->first_step);
  return status;
}

void solve_end_problem(const Solve *s, TesProblem **problem) {
  if (s->options->keep) *s->options->keep = *problem, *problem = NULL;
  tes_problem_destroy(problem);
}

static TesStatus solve_once(Solve *s, TesProblemDesc *desc) {
  TesProblem *problem;
  TesSolveResult result = {0};
  desc->solver.monitor = solve_monitor, desc->solver.monitor_user = s;
  TesStatus status = tes_problem_create(s->context, desc, &problem);
  if (status != TES_OK) return status;
  s->setup_seconds = solve_now() - s->started;
  s->energy[1] = tes_context_energy(s->context);
  solve_keep_solver(s, problem);
  solve_print_solver(s, problem);
  solve_log(s, TES_LOG_INFO, "iteration     residual     factor    seconds  to go");
  s->solve_started = solve_now();
  cli_interrupt_stage(NULL);
  s->outcome = tes_problem_solve(problem, &result);
  tell_change(s, problem);
  s->energy[2] = tes_context_energy(s->context);
  if (s->outcome != TES_INTERRUPTED) cli_interrupt_stage("the results");
  status = solve_keep_result(s, problem, &result);
  if (status == TES_OK && s->solved) status = finish(s, problem);
  solve_end_problem(s, &problem);
  return s->outcome != TES_OK ? s->outcome : status;
}

static TesStatus report_step(void *user, const TesAdaptStep *step) {
  Solve *s = user;
  cli_interrupt_stage("the results");
  solve_keep_solver(s, step->problem);
  s->setup_seconds += step->setup_seconds + step->estimate_seconds;
  TesStatus status = solve_keep_result(s, step->problem, &step->result);
  if (status != TES_OK) return status;
  if (s->step_count == 0) solve_print_solver(s, step->problem);
  s->steps[s->step_count++] = (TesReportStep){.cells = step->cells,
                                              .dofs = step->dofs,
                                              .hanging = step->hanging,
                                              .iterations = step->iterations,
                                              .estimate = step->estimate,
                                              .upper = step->upper,
                                              .error = step->error,
                                              .effectivity = step->effectivity,
                                              .goal = step->goal,
                                              .l2 = step->error_l2,
                                              .h1 = step->error_h1};
  solve_progress(s, (step->step + 1.0) / s->input->adapt.steps);
  s->has_errors = s->input->problem.exact[0] && !s->input->about.flow;
  s->error_l2 = step->error_l2, s->error_h1 = step->error_h1;
  if (s->input->about.flow) status = solve_find_errors(s, step->problem);
  if (status == TES_OK) status = solve_find_outputs(s, step->problem);
  solve_print_step(s, step);
  if (status == TES_OK)
    status = solve_write_numbered(s, step->problem, s->first_step + step->step, s->first_step + step->step,
                                  step->indicator);
  if (status == TES_OK)
    status = solve_write_vtkhdf(s, step->problem, s->first_step + step->step, step->indicator);
  const int every = s->input->picture.every.steps;
  if (status == TES_OK && (every == 0 || step->step % every == 0))
    status = solve_write_png(s, step->problem, s->first_step + step->step);
  if (status == TES_OK) status = solve_write_checkpoint(s, step->problem, s->first_step + step->step);
  cli_interrupt_stage("the set-up");
  return status;
}

static TesStatus adapt(Solve *s, TesProblemDesc *problem) {
  TesAdaptDesc desc = s->input->adapt;
  desc.steps = desc.steps < SOLVE_STEPS ? desc.steps : SOLVE_STEPS;
  desc.report = report_step, desc.report_user = s, desc.keep = s->options->keep;
  problem->solver.monitor = solve_monitor_step, problem->solver.monitor_user = s;
  if (tes_mesh_info(s->mesh).dim == 2) desc.goal.point[2] = 0;
  s->outcome = tes_adapt_run(s->context, problem, &desc, NULL);
  s->energy[2] = tes_context_energy(s->context);
  TesStatus status = solve_await_vtkhdf(s);
  if (status == TES_OK) status = solve_write_film(s);
  return s->outcome == TES_OK ? status : s->outcome;
}

static TesStatus create_mesh(Solve *s) {
  TesMeshDesc desc = s->input->mesh;
  const bool in_time = s->input->problem.time.end > s->input->problem.time.start;
  if (s->options->restart && !in_time) desc.refine_where = NULL; /* the checkpoint's mesh is used */
  const TesStatus status = tes_mesh_create(s->context, &desc, &s->own_mesh);
  s->mesh = s->own_mesh;
  const char *message = tes_context_message(s->context);
  if (status == TES_INVALID_INPUT && desc.file && !strncmp(message, desc.file, strlen(desc.file))) {
    char text[900];
    snprintf(text, sizeof text, "mesh.file: %.880s", message);
    cli_locate(s->input, text, s->message, sizeof s->message);
  }
  return status == TES_OK && s->options->restart ? solve_restart(s) : status;
}

TesStatus solve_prepare(Solve *s) {
  TesStatus status = solve_check_outputs(s); /* a report is written for a case that cannot be read, too */
  if (status != TES_OK) return status;
  cli_interrupt_stage("reading the case");
  const SolveOptions *o = s->options;
  status = o->text ? tes_case_parse(s->context, o->text, o->path, o->override_count, o->overrides, &s->input)
                   : tes_case_read(s->context, o->path, o->override_count, o->overrides, &s->input);
  if (status != TES_OK) return status;
  for (int i = 0; i < s->input->warning_count; i++)
    solve_log(s, TES_LOG_WARNING, "warning: %s", s->input->warnings[i]);
  status = solve_check_outputs(s);
  if (status == TES_OK) status = solve_check_files(s);
  cli_interrupt_stage("the mesh");
  if (status == TES_OK) status = create_mesh(s);
  return status == TES_OK ? tes_case_check_outputs(s->input, s->mesh) : status;
}

bool solve_is_in_time(const Solve *s) {
  return s->input->problem.time.end > s->input->problem.time.start;
}

TesProblemDesc solve_describe(const Solve *s) {
  TesProblemDesc desc = s->input->problem;
  desc.mesh = s->mesh, desc.guess = s->guess;
  desc.balance = s->input->about.balance && (solve_is_in_time(s) || !s->input->adaptive);
  return desc;
}

static TesStatus run(Solve *s) {
  const TesStatus status = solve_prepare(s);
  if (status != TES_OK) return status;
  solve_print_problem(s);
  TesProblemDesc desc = solve_describe(s);
  cli_interrupt_stage("the set-up");
  if (solve_is_in_time(s)) return solve_in_time(s, &desc);
  return s->input->adaptive ? adapt(s, &desc) : solve_once(s, &desc);
}

void solve_release(Solve *s) {
  solve_free_files(s);
  tes_pictures_finish(&s->pictures); /* of failed runs */
  solve_free_frames(s);
  solve_free_outputs(s);
  solve_free_samples(s);
  free(s->residuals);
  free(s->in_time.remesh);
  free((double *)s->balance.flux), free((const char **)s->balance.boundary);
  tes_vector_destroy(&s->guess);
  tes_checkpoint_destroy(&s->checkpoint);
  tes_mesh_destroy(&s->own_mesh);
  if (s->status != TES_OK) solve_remove_folder(s);
  tes_case_destroy(&s->input);
  free(s);
}

/* ---- the command --------------------------------------------------------------------------------------- */

/* Whether the program chose the device itself and this device cannot solve the case. */
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
  solve_log(s, TES_LOG_INFO, "device    cpu instead of %s: %s", tes_context_device(s->context),
            tes_context_message(s->context));
  status = solve_run(cpu, &options);
  cli_context_destroy(&cpu);
  return status;
}

void solve_locate(Solve *s) {
  if (s->status == TES_INVALID_INPUT && !s->message[0])
    cli_locate(s->input, tes_context_message(s->context), s->message, sizeof s->message);
}

void solve_tell_failure(Solve *s) {
  if (s->options->log) return; /* whose caller finds it in s */
  if (s->refusal[0])
    cli_usage_error("%s", s->refusal);
  else if (s->status != TES_OK)
    cli_print_failure(s->context, s->status, s->message);
}

TesStatus solve_run(TesContext *ctx, const SolveOptions *options) {
  Solve *s = calloc(1, sizeof *s);
  if (!s) return TES_OUT_OF_MEMORY;
  s->context = ctx, s->options = options, s->started = solve_now();
  s->energy[0] = tes_context_energy(ctx);
  s->energy[1] = s->energy[2] = (TesEnergy){NAN, NAN};
  s->status = run(s);
  cli_interrupt_stage(NULL);
  solve_locate(s);
  if (chose_too_much(s)) { /* kernels may be compiled when they are first needed */
    const TesStatus instead = run_on_cpu(s);
    solve_release(s);
    return instead;
  }
  if (s->solved) solve_print_outcome(s);
  const char *json = solve_json_path(s);
  if (json && !s->refusal[0]) {
    const TesStatus written = solve_write_report(s, json);
    if (s->status == TES_OK) s->status = written;
  }
  const TesStatus status = s->status;
  solve_tell_failure(s);
  if (options->ended) options->ended(options->user, s);
  solve_release(s);
  return status;
}

int cli_solve(int argc, char **argv) {
  SolveOptions o = {0};
  for (int option; (option = cli_next_option(argc, argv, long_options)) != -1;) {
    if (option == HELP) return fputs(help, stdout) < 0;
    if (option == SCHEMA) return print_schema();
    if (option == KEYS) return print_keys(optarg ? optarg : optind < argc ? argv[optind] : NULL);
    if (!parse_option(option, &o)) return tes_status_exit(TES_INVALID_INPUT);
  }
  if (optind + 1 != argc) return cli_usage_error("solve takes one case file (tessera solve --help)");
  o.path = argv[optind];
  if (o.common.device && !strcmp(o.common.device, "cuda:all") && tes_communicator_launched(NULL) < 2)
    o.common.gpus = cli_scaling_best(&o, tes_gpu_count());
  const int refused = cli_ranks_launch(&o.common);
  if (refused) return refused;
  o.to_stdout = o.common.json && !strcmp(o.common.json, "-");
  if (o.to_stdout) o.common.verbosity = TES_QUIET; /* the standard output has nothing but the report */
  TesContext *ctx;
  TesStatus status = cli_context_create(&o.common, &ctx);
  if (status != TES_OK) return tes_status_exit(status);
  status = solve_run(ctx, &o);
  cli_context_destroy(&ctx);
  return tes_status_exit(status);
}
