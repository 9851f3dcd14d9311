/* tessera bench solver: time to solution of a manufactured problem. */
#include <math.h>
#include <stdio.h>
#include "bench.h"
#include "kernels/patch_published.h"

enum {
  DIM,
  DEGREE,
  PRECISION,
  CELLS,
  DOFS,
  LEVELS,
  ITERATIONS,
  SECONDS,
  RATE,
  SETUP,
  JOULES,
  L2,
  H1,
  VECTORS,
  EACH,
  SERIES,
  COLUMNS
};

static const CliColumn columns[COLUMNS] = {[DIM] = {"dim", 3, 0},
                                           [DEGREE] = {"degree", 6, 0},
                                           [PRECISION] = {"precision", 13, -1},
                                           [CELLS] = {"cells", 6, 0},
                                           [DOFS] = {"dofs", 10, 0},
                                           [LEVELS] = {"levels", 6, 0},
                                           [ITERATIONS] = {"iterations", 10, 0},
                                           [SECONDS] = {"solve_s", 9, 4},
                                           [RATE] = {"mdofs_per_s", 11, 2},
                                           [SETUP] = {"setup_s", 8, 3},
                                           [JOULES] = {"joules", 9, 3},
                                           [L2] = {"error_l2", 10, -2},
                                           [H1] = {"error_h1", 10, -2},
                                           [VECTORS] = {"memory_vectors", 14, 1},
                                           [EACH] = {"s_per_gdof", 10, 4},
                                           [SERIES] = {"series", 0, -1}};

static const char *const precision_names[] = {"mixed", "double", "single"};
typedef struct Data {
  TesSpace *space;
  TesFunction *a, *f, *exact;
  TesProblem *problem;
  TesSolveResult result;
} Data;

static void release(Data *d) {
  tes_problem_destroy(&d->problem);
  tes_function_destroy(&d->a);
  tes_function_destroy(&d->f);
  tes_function_destroy(&d->exact);
  tes_space_destroy(&d->space);
}

/* u = product of sin(pi x); with the variable coefficient f = 1, without an exact solution. */
static TesStatus prepare(TesContext *ctx, const BenchOptions *o, int dim, int degree, double dofs,
                         TesSolvePrecision precision, Data *d) {
  TesStatus status = TES_OK;
  const char *u = dim == 2 ? "sin(pi*x)*sin(pi*y)" : "sin(pi*x)*sin(pi*y)*sin(pi*z)";
  char f[96];
  snprintf(f, sizeof f, "%d*pi*pi*%s", dim, u);
  *d = (Data){0};
  TES_TRY(bench_space(ctx, dim, degree, dofs, true, &d->space));
  TES_TRY(bench_coefficient(ctx, o->variable, &d->a));
  TES_TRY(tes_function_create_expression(ctx, o->variable ? "1" : f, &d->f));
  if (!o->variable) TES_TRY(tes_function_create_expression(ctx, u, &d->exact));
  TES_TRY(tes_problem_create(ctx,
                             &(TesProblemDesc){.mesh = tes_space_mesh(d->space),
                                               .degree = degree,
                                               .element = o->modal ? TES_ELEMENT_DG : TES_ELEMENT_Q,
                                               .data = {.a = d->a, .f = {d->f}},
                                               .exact = {d->exact},
                                               .solver = {.method = o->method,
                                                          .smoother = o->smoother,
                                                          .pre = o->pre,
                                                          .post = o->post,
                                                          .tolerance = o->tolerance,
                                                          .precision = precision}},
                             &d->problem));
done:
  if (status != TES_OK) release(d);
  return status;
}

/* Precisions are printed if there are several. */
static const char *series_of(const BenchOptions *o, int degree, const char *precision) {
  const bool several = o->mixed + o->double_precision + o->single_precision > 1;
  return several ? bench_text("Q%d %s", degree, precision) : bench_text("Q%d", degree);
}

TesStatus bench_solver_published(int degree, CliTable *table) {
  for (int i = 0; i < PATCH_SOLVE_TIMES; i++)
    for (int mixed = 0; mixed < 2 && patch_solve_times[i].degree == degree; mixed++) {
      const PatchSolveTimes *p = &patch_solve_times[i];
      const double seconds = mixed ? p->mixed_s : p->double_s;
      const CliCell row[COLUMNS] = {
          [DIM] = {3, NULL},
          [DEGREE] = {p->degree, NULL},
          [PRECISION] = {0, mixed ? "paper: mixed" : "paper: double"},
          [CELLS] = {NAN, NULL},
          [DOFS] = {p->dofs, NULL},
          [LEVELS] = {NAN, NULL},
          [ITERATIONS] = {p->iterations, NULL},
          [SECONDS] = {seconds, NULL},
          [RATE] = {1e-6 * p->dofs / seconds, NULL},
          [SETUP] = {NAN, NULL},
          [JOULES] = {NAN, NULL},
          [L2] = {p->error_l2, NULL},
          [H1] = {NAN, NULL},
          [VECTORS] = {NAN, NULL},
          [EACH] = {1e9 * seconds / p->dofs, NULL},
          [SERIES] = {0, bench_text("Q%d %s, paper, A100", degree, precision_names[!mixed])}};
      if (!cli_table_add(table, row)) return TES_OUT_OF_MEMORY;
    }
  return TES_OK;
}

static TesStatus solve(void *data) {
  Data *d = data;
  return tes_problem_solve(d->problem, &d->result);
}

static TesStatus measure(TesContext *ctx, const BenchOptions *o, int dim, int degree, double dofs,
                         TesSolvePrecision precision, CliTable *table) {
  TesStatus status = TES_OK;
  Data d;
  BenchTime time;
  double l2 = NAN, h1 = NAN, joules = NAN;
  TES_TRY(prepare(ctx, o, dim, degree, dofs, precision, &d));
  status = bench_time(solve, &d, o->seconds, &time);
  if (status == TES_OK) status = bench_joules(ctx, solve, &d, &joules);
  if (status == TES_OK && d.exact) status = tes_problem_errors(d.problem, &l2, &h1);
  if (status == TES_OK) {
    const double unknowns = (double)tes_space_dofs(tes_problem_space(d.problem));
    const CliCell row[COLUMNS] = {
        [DIM] = {dim, NULL},
        [DEGREE] = {degree, NULL},
        [PRECISION] = {0, precision_names[precision]},
        [CELLS] = {tes_mesh_info(tes_space_mesh(d.space)).cells_along[0], NULL},
        [DOFS] = {unknowns, NULL},
        [LEVELS] = {tes_multigrid_levels(tes_problem_multigrid(d.problem)), NULL},
        [ITERATIONS] = {d.result.iterations, NULL},
        [SECONDS] = {time.median, NULL},
        [RATE] = {1e-6 * unknowns / time.median, NULL},
        [SETUP] = {tes_problem_info(d.problem).times.total, NULL},
        [JOULES] = {joules, NULL},
        [L2] = {l2, NULL},
        [H1] = {h1, NULL},
        [VECTORS] = {(double)tes_context_memory(ctx) / 8 / (double)tes_space_length(d.space), NULL},
        [EACH] = {1e9 * time.median / unknowns, NULL},
        [SERIES] = {0, series_of(o, degree, precision_names[precision])}};
    if (!cli_table_add(table, row)) status = TES_OUT_OF_MEMORY;
  }
  release(&d);
done:
  return status;
}

TesStatus bench_solver_once(TesContext *ctx, const BenchOptions *o, int dim, int degree, double dofs,
                            double *unknowns, double *seconds, int *iterations) {
  TesStatus status = TES_OK;
  BenchTime time;
  Data d;
  TES_TRY(prepare(ctx, o, dim, degree, dofs, TES_SOLVE_MIXED, &d));
  status = bench_time(solve, &d, o->seconds, &time);
  *unknowns = (double)tes_space_dofs(d.space);
  *seconds = time.median;
  *iterations = d.result.iterations;
  release(&d);
done:
  return status;
}

/* Cells per direction of the mesh for about this many unknowns; neighbouring sizes may have the same mesh. */
static TesStatus cells_for(TesContext *ctx, int dim, int degree, double dofs, int *cells) {
  TesStatus status = TES_OK;
  TesSpace *space = NULL;
  TES_TRY(bench_space(ctx, dim, degree, dofs, true, &space));
  *cells = tes_mesh_info(tes_space_mesh(space)).cells_along[0];
done:
  tes_space_destroy(&space);
  return status;
}

/* All sizes and precisions of one dimension and degree; no mesh is measured twice. */
static TesStatus measure_sizes(TesContext *ctx, const BenchOptions *o, int dim, int degree,
                               const bool wanted[3], CliTable *table) {
  TesStatus status = TES_OK;
  int cells, before = 0;
  for (int s = 0; s < o->sizes; s++, before = cells) {
    TES_TRY(cells_for(ctx, dim, degree, o->dofs[s], &cells));
    for (int precision = 0; precision < 3 && cells != before; precision++) {
      if (!wanted[precision]) continue;
      if (tesi_context_interrupted(ctx)) return TES_OK;
      TES_TRY(measure(ctx, o, dim, degree, o->dofs[s], (TesSolvePrecision)precision, table));
    }
  }
done:
  return status;
}

void bench_solver_begin(const BenchOptions *o, BenchResult *result) {
  const bool sizes = o->sizes > 1, figure = o->figure == 18;
  cli_table_begin(&result->table, columns, COLUMNS, o->common.verbosity >= TES_NORMAL);
  result->plot = (CliPlot){.title = "time to solution",
                           .x_label = sizes || figure ? "unknowns" : "degree",
                           .y_label = figure ? "seconds for 1e9 unknowns" : "million unknowns a second",
                           .x = sizes || figure ? DOFS : DEGREE,
                           .y = figure ? EACH : RATE,
                           .series = sizes || figure ? SERIES : PRECISION,
                           .log_x = sizes || figure,
                           .log_y = figure};
}

TesStatus bench_solver_rows(TesContext *ctx, const BenchOptions *o, CliTable *table) {
  TesStatus status = TES_OK;
  const bool wanted[] = {o->mixed, o->double_precision, o->single_precision && !o->mixed};
  for (int d = 0; d < o->dims; d++)
    for (int k = 0; k < o->degrees; k++)
      TES_TRY(measure_sizes(ctx, o, o->dim[d], o->degree[k], wanted, table));
done:
  return status;
}

TesStatus bench_solver(TesContext *ctx, const BenchOptions *options, BenchResult *result) {
  bench_solver_begin(options, result);
  return bench_solver_rows(ctx, options, &result->table);
}
