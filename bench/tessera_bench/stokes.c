/* tessera bench stokes: operator, sweep and complete solve of Stokes flow, for the paper's manufactured problem or
 * random right-hand sides, with no-slip walls. */
#include <math.h>
#include <stdio.h>
#include "bench.h"
#include "device/device.h"
#include "kernels/flow_solution.h"
#include "kernels/stokes_published.h"

enum {
  DIM,
  DEGREE,
  PRECISION,
  CELLS,
  DOFS,
  LEVELS,
  OPERATOR,
  SWEEP,
  METHOD,
  ITERATIONS,
  FRACTIONAL,
  SETUP,
  JOULES,
  SECONDS,
  NS,
  VELOCITY,
  PRESSURE,
  DIVERGENCE,
  MEMORY,
  PAPER,
  PAPER_ITERATIONS,
  PAPER_OPERATOR,
  PAPER_SWEEP,
  RIGHT_HAND_SIDE,
  ALPHA,
  ASPECT,
  RATE,
  PAPER_RATE,
  SERIES,
  COLUMNS
};

static const CliColumn columns[COLUMNS] = {[DIM] = {"dim", 3, 0},
                                           [DEGREE] = {"degree", 6, 0},
                                           [PRECISION] = {"precision", 9, -1},
                                           [CELLS] = {"cells", 5, 0},
                                           [DOFS] = {"dofs", 10, 0},
                                           [LEVELS] = {"levels", 6, 0},
                                           [OPERATOR] = {"operator_ps", 11, 1},
                                           [SWEEP] = {"sweep_ps", 9, 1},
                                           [METHOD] = {"method", 6, -1},
                                           [ITERATIONS] = {"iterations", 10, 0},
                                           [FRACTIONAL] = {"fractional", 10, 2},
                                           [SETUP] = {"setup_s", 8, 3},
                                           [JOULES] = {"joules", 9, 3},
                                           [SECONDS] = {"solve_s", 9, 5},
                                           [NS] = {"ns_per_dof", 10, 3},
                                           [VELOCITY] = {"velocity_l2", 11, -2},
                                           [PRESSURE] = {"pressure_l2", 11, -2},
                                           [DIVERGENCE] = {"div_relative", 12, -2},
                                           [MEMORY] = {"gib", 7, 3},
                                           [PAPER] = {"paper_ns", 8, 2},
                                           [PAPER_ITERATIONS] = {"paper_iterations", 0, 0},
                                           [PAPER_OPERATOR] = {"paper_operator_ps", 0, 0},
                                           [PAPER_SWEEP] = {"paper_sweep_ps", 0, 0},
                                           [RIGHT_HAND_SIDE] = {"rhs", 0, -1},
                                           [ALPHA] = {"alpha", 0, -2},
                                           [ASPECT] = {"aspect", 0, 0},
                                           [RATE] = {"operator_gdofs_per_s", 0, 4},
                                           [PAPER_RATE] = {"paper_operator_gdofs_per_s", 0, 3},
                                           [SERIES] = {"series", 0, -1}};

static const char *const precision_names[] = {"mixed", "double", "single"};

typedef struct Flow {
  TesProblem *problem;
  TesSolveResult result;
  double setup;          /* seconds, without the time for drawing and sending random numbers */
  const TesOperator *op; /* of the next two calls */
  const TesSmoother *smoother;
  TesVector *x, *y;
} Flow;

static void release(Flow *f) {
  tes_vector_destroy(&f->x);
  tes_vector_destroy(&f->y);
  tes_problem_destroy(&f->problem);
}

/* A right-hand side without a function of the user. */
typedef struct Drawing {
  TesContext *context;
  uint64_t seed;
  double seconds;
} Drawing;

static TesStatus draw(void *user, const TesSpace *space, TesVector *b) {
  Drawing *d = user;
  TesContext *ctx = d->context;
  TesStatus status = TES_OK;
  TES_TRY(tesi_context_device(ctx)->synchronize(ctx));
  const double start = tesi_now();
  TES_TRY(flow_random_load(&d->seed, space, b));
  TES_TRY(tesi_context_device(ctx)->synchronize(ctx));
  d->seconds += tesi_now() - start;
done:
  return status;
}

static TesStatus prepare(TesContext *ctx, const BenchOptions *o, int dim, int degree, int cells,
                         TesSolvePrecision precision, Flow *f) {
  TesStatus status = TES_OK;
  TesMesh *mesh = NULL;
  TesFunction *alpha = NULL;
  Drawing drawing = {.context = ctx, .seed = 1};
  TesProblemDesc desc = {.equation = TES_STOKES,
                         .degree = degree,
                         .solver = {.method = o->method,
                                    .smoother = o->smoother,
                                    .penalty = o->penalty,
                                    .pre = o->pre,
                                    .post = o->post,
                                    .tolerance = o->tolerance,
                                    .precision = precision}};
  *f = (Flow){0};
  TES_TRY(tes_mesh_create(
      ctx,
      &(TesMeshDesc){
          .kind = TES_MESH_BOX, .dim = dim, .cells = {cells, cells, cells}, .upper = {o->aspect, 1, 1}},
      &mesh));
  TES_TRY(tes_function_create_constant(ctx, o->alpha, &alpha));
  desc.mesh = mesh, desc.data.c = alpha;
  if (o->random)
    desc.add_load = draw, desc.add_load_user = &drawing;
  else
    TES_TRY(flow_manufacture(ctx, dim, 0.5, o->alpha, &desc));
  TES_TRY(tes_problem_create(ctx, &desc, &f->problem));
  f->setup = tes_problem_info(f->problem).times.total - drawing.seconds;
done:
  flow_forget(&desc);
  tes_function_destroy(&alpha);
  tes_mesh_destroy(&mesh);
  if (status != TES_OK) release(f);
  return status;
}

static TesStatus solve(void *data) {
  Flow *f = data;
  return tes_problem_solve(f->problem, &f->result);
}

static TesStatus apply(void *data) {
  const Flow *f = data;
  const TesStatus status = tes_operator_apply(f->op, f->x, f->y);
  return status == TES_OK ? bench_wait(f->op) : status;
}

static TesStatus sweep(void *data) {
  const Flow *f = data;
  const TesStatus status = tes_smoother_apply(f->smoother, f->x, f->y, TES_FORWARD, false);
  return status == TES_OK ? bench_wait(f->op) : status;
}

/* Picoseconds per unknown of the float64 operator; or, if a smoother is given, of its sweep in the cycle's precision.
 * NaN: there is one level, which has no smoother. */
static TesStatus time_part(TesContext *ctx, const BenchOptions *o, Flow *f, bool smoother, double *ps) {
  TesStatus status = TES_OK;
  BenchTime time;
  const TesMultigrid *mg = tes_problem_multigrid(f->problem);
  const TesMultigridLevel level = tes_multigrid_level(mg, tes_multigrid_levels(mg) - 1);
  f->op = smoother ? level.op : tes_problem_operator(f->problem);
  f->smoother = level.smoother;
  *ps = NAN;
  if (smoother && !f->smoother) return TES_OK;
  const TesOperatorInfo info = tes_operator_info(f->op);
  TES_TRY(tes_vector_create(ctx, info.length, info.precision, &f->x));
  TES_TRY(tes_vector_create(ctx, info.length, info.precision, &f->y));
  TES_TRY(flow_random_load(&(uint64_t){1}, info.space, f->x));
  TES_TRY(tes_vector_fill(f->y, 0));
  TES_TRY(bench_time(smoother ? sweep : apply, f, o->seconds, &time));
  *ps = 1e12 * time.median / (double)tes_space_dofs(info.space);
done:
  tes_vector_destroy(&f->x);
  tes_vector_destroy(&f->y);
  return status;
}

static const char *series_name(const BenchOptions *o, int degree, TesSolvePrecision precision) {
  static char names[21][3][16];
  char *const name = names[degree][precision];
  const bool one = o->double_precision + o->single_precision + o->mixed == 1;
  snprintf(name, sizeof names[0][0], "RT_%d%s%s", degree, one ? "" : " ",
           one ? "" : precision_names[precision]);
  return name;
}

/* The value of Table 2 for the same measurement on an A100; else NaN. */
static StokesTimes published(const BenchOptions *o, int dim, int degree, int cells) {
  for (size_t i = 0; i < sizeof stokes_times / sizeof *stokes_times; i++)
    if (dim == 3 && cells == 32 && o->tolerance == 1e-6 && o->alpha == 0 && stokes_times[i].degree == degree)
      return stokes_times[i];
  return (StokesTimes){.iterations = -1, .operator_ns = NAN, .smoothing_ns = NAN, .solution_ns = NAN};
}

static TesStatus measure(TesContext *ctx, const BenchOptions *o, int dim, int degree, int cells,
                         TesSolvePrecision precision, CliTable *table) {
  TesStatus status = TES_OK;
  Flow f;
  BenchTime time;
  TesFlowResult errors = {.velocity_l2 = NAN, .pressure_l2 = NAN, .divergence_relative = NAN};
  double operator_ps, sweep_ps, joules = NAN;
  const StokesTimes paper = published(o, dim, degree, cells);
  TES_TRY(prepare(ctx, o, dim, degree, cells, precision, &f));
  const double dofs = (double)tes_space_dofs(tes_problem_space(f.problem));
  status = time_part(ctx, o, &f, false, &operator_ps);
  if (status == TES_OK) status = time_part(ctx, o, &f, true, &sweep_ps);
  if (status == TES_OK) status = bench_time(solve, &f, o->seconds, &time);
  if (status == TES_OK) status = bench_joules(ctx, solve, &f, &joules);
  if (status == TES_OK && !o->random) status = tes_problem_flow(f.problem, &errors);
  if (status == TES_OK) {
    const CliCell row[COLUMNS] = {[DIM] = {dim, NULL},
                                  [DEGREE] = {degree, NULL},
                                  [PRECISION] = {0, precision_names[precision]},
                                  [CELLS] = {cells, NULL},
                                  [DOFS] = {dofs, NULL},
                                  [LEVELS] = {tes_multigrid_levels(tes_problem_multigrid(f.problem)), NULL},
                                  [OPERATOR] = {operator_ps, NULL},
                                  [SWEEP] = {sweep_ps, NULL},
                                  [METHOD] = {0, o->method == TES_METHOD_FMG ? "fmg" : "gmres"},
                                  [ITERATIONS] = {f.result.iterations, NULL},
                                  [FRACTIONAL] = {f.result.fractional_iterations, NULL},
                                  [SETUP] = {f.setup, NULL},
                                  [JOULES] = {joules, NULL},
                                  [SECONDS] = {time.median, NULL},
                                  [NS] = {1e9 * time.median / dofs, NULL},
                                  [VELOCITY] = {errors.velocity_l2, NULL},
                                  [PRESSURE] = {errors.pressure_l2, NULL},
                                  [DIVERGENCE] = {errors.divergence_relative, NULL},
                                  [MEMORY] = {(double)tes_context_memory(ctx) / 1073741824, NULL},
                                  [PAPER] = {paper.solution_ns, NULL},
                                  [PAPER_ITERATIONS] = {paper.iterations < 0 ? NAN : paper.iterations, NULL},
                                  [PAPER_OPERATOR] = {1e3 * paper.operator_ns, NULL},
                                  [PAPER_SWEEP] = {1e3 * paper.smoothing_ns, NULL},
                                  [RIGHT_HAND_SIDE] = {0, o->random ? "random" : "manufactured"},
                                  [ALPHA] = {o->alpha, NULL},
                                  [ASPECT] = {o->aspect, NULL},
                                  [RATE] = {1e3 / operator_ps, NULL},
                                  [PAPER_RATE] = {1 / paper.operator_ns, NULL},
                                  [SERIES] = {0, series_name(o, degree, precision)}};
    if (!cli_table_add(table, row)) status = TES_OUT_OF_MEMORY;
  }
  release(&f);
done:
  return status;
}

/* Over the degree, or the size, beside the paper's values if its Table 2 has them. Figures 4 (iterations), 6 (errors
 * over time), 9 (the operator) and 13. */
static CliPlot describe_plot(const BenchOptions *o) {
  const bool sizes = o->cells > 1;
  CliPlot plot = {.title = "Stokes flow, time to solution",
                  .x_label = sizes ? "unknowns" : "degree",
                  .y_label = "nanoseconds an unknown",
                  .x = sizes ? DOFS : DEGREE,
                  .y = NS,
                  .series = sizes ? SERIES : PRECISION,
                  .beside = {{.y = PAPER, .name = "paper, A100", .marks = true}},
                  .log_x = sizes};
  if (o->drawn == BENCH_DRAW_ERRORS)
    plot = (CliPlot){.title = plot.title,
                     .x_label = "seconds",
                     .y_label = "error of the velocity",
                     .x = SECONDS,
                     .y = VELOCITY,
                     .series = SERIES,
                     .log_x = true,
                     .log_y = true};
  if (o->drawn == BENCH_DRAW_ITERATIONS)
    plot = (CliPlot){.title = "Stokes flow, iterations",
                     .x_label = "cells a direction",
                     .y_label = "fractional iterations",
                     .x = CELLS,
                     .y = FRACTIONAL,
                     .series = SERIES,
                     .log_x = true};
  if (o->drawn == BENCH_DRAW_OPERATOR) {
    plot.title = "Stokes flow, the float64 operator";
    plot.y_label = "billion unknowns a second", plot.y = RATE, plot.beside[0].y = PAPER_RATE;
  }
  return plot;
}

TesStatus bench_stokes(TesContext *ctx, const BenchOptions *options, BenchResult *result) {
  const BenchOptions *o = options;
  TesStatus status = TES_OK;
  if (o->variant) return bench_stokes_variants(ctx, o, result);
  const bool wanted[] = {o->mixed, o->double_precision, o->single_precision};
  cli_table_begin(&result->table, columns, COLUMNS, o->common.verbosity >= TES_NORMAL);
  result->plot = describe_plot(o);
  if (o->seconds == 0) return TES_OK;
  for (int d = 0; d < o->dims; d++)
    for (int k = 0; k < o->degrees; k++)
      for (int c = 0; c < o->cells; c++)
        for (int precision = 0; precision < 3; precision++) {
          if (tesi_context_interrupted(ctx)) return TES_OK;
          if (!wanted[precision]) continue;
          TES_TRY(measure(ctx, o, o->dim[d], o->degree[k], (int)o->cell_counts[c],
                          (TesSolvePrecision)precision, &result->table));
        }
done:
  return status;
}
