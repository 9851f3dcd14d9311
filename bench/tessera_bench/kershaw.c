/* tessera bench kershaw: Poisson on Kershaw's cells (CEED's bake-off kernels), with automatic choices; 20^3 cells
 * unless --cells is given; eps 1, 0.3, 0.1. Beside: nekRS on an A100, degree 7, eps 0.3, 1e-8. */
#include <math.h>
#include <stdio.h>
#include "bench.h"
#include "tessera/tessera.h"

enum { EPS, DEGREE, DEVICE, DOFS, ITERATIONS, SOLVE, RATE, SETUP, JOULES, THEIRS, THEIR_SECONDS, COLUMNS };
static const CliColumn columns[COLUMNS] = {
    [EPS] = {"eps", 5, 2},           [DEGREE] = {"degree", 6, 0},          [DEVICE] = {"device", 8, -1},
    [DOFS] = {"dofs", 10, 0},        [ITERATIONS] = {"iterations", 10, 0}, [SOLVE] = {"solve_s", 9, 4},
    [RATE] = {"mdofs_per_s", 11, 2}, [SETUP] = {"setup_s", 8, 3},          [JOULES] = {"joules", 9, 3},
    [THEIRS] = {"nekRS's", 8, 0},    [THEIR_SECONDS] = {"s, A100", 8, 3}};

enum { CELLS = 20, DIM = 3 };
static const double eps_of_rows[] = {1, 0.3, 0.1};

/* x is unchanged; y and z become l + w (r - l), where l and r depend on eps, and w on x. */
static TesStatus create_mesh(TesContext *ctx, double eps, int cells, TesMesh **mesh) {
  static const char *const w =
      "(fmin(fmax(6*x - 1, 0), 1) - fmin(fmax(3*x - 1, 0), 1) + fmin(fmax(6*x - 4, 0), 1))";
  TesStatus status = TES_OK;
  TesFunction *map[DIM] = {NULL};
  TES_TRY(tes_function_create_expression(ctx, "x", &map[0]));
  for (int d = 1; d < DIM; d++) {
    char text[600], low[100], high[100];
    const char v = d == 1 ? 'y' : 'z';
    snprintf(low, sizeof low, "fmax(%.17g*%c, %.17g*%c + %.17g)", eps, v, 2 - eps, v, eps - 1);
    snprintf(high, sizeof high, "fmin(%.17g*%c, %.17g*%c + %.17g)", 2 - eps, v, eps, v, 1 - eps);
    snprintf(text, sizeof text, "%s + %s*(%s - %s)", low, w, high, low);
    TES_TRY(tes_function_create_expression(ctx, text, &map[d]));
  }
  TES_TRY(tes_mesh_create(ctx,
                          &(TesMeshDesc){.kind = TES_MESH_FOREST,
                                         .dim = DIM,
                                         .domain = TES_DOMAIN_BOX,
                                         .cells = {cells, cells, cells},
                                         .upper = {1, 1, 1},
                                         .geometry_degree = 1,
                                         .map = {map[0], map[1], map[2]}},
                          mesh));
done:
  for (int d = 0; d < DIM; d++) tes_function_destroy(&map[d]);
  return status;
}

typedef struct Data {
  TesProblem *problem;
  TesSolveResult result;
} Data;

static TesStatus solve(void *data) {
  Data *d = data;
  return tes_problem_solve(d->problem, &d->result);
}

static TesStatus measure(TesContext *ctx, const BenchOptions *o, double eps, int cells, int degree,
                         CliTable *table) {
  TesStatus status = TES_OK;
  TesMesh *mesh = NULL;
  TesFunction *f = NULL;
  Data d = {0};
  BenchTime time;
  double joules;
  TES_TRY(create_mesh(ctx, eps, cells, &mesh));
  TES_TRY(tes_function_create_expression(ctx, "3*pi*pi*sin(pi*x)*sin(pi*y)*sin(pi*z)", &f));
  const TesProblemDesc desc = {
      .mesh = mesh,
      .degree = degree,
      .data = {.f = {f}},
      .solver = {.method = o->method, .smoother = o->smoother, .tolerance = o->tolerance}};
  TES_TRY(tes_problem_create(ctx, &desc, &d.problem));
  TES_TRY(bench_time(solve, &d, o->seconds, &time));
  TES_TRY(bench_joules(ctx, solve, &d, &joules));
  const double dofs = (double)tes_space_dofs(tes_problem_space(d.problem));
  const bool theirs = degree == 7 && eps == 0.3 && cells == CELLS;
  const CliCell row[COLUMNS] = {[EPS] = {eps, NULL},
                                [DEGREE] = {degree, NULL},
                                [DEVICE] = {0, tes_context_device(ctx)},
                                [DOFS] = {dofs, NULL},
                                [ITERATIONS] = {d.result.iterations, NULL},
                                [SOLVE] = {time.median, NULL},
                                [RATE] = {1e-6 * dofs / time.median, NULL},
                                [SETUP] = {tes_problem_info(d.problem).times.total, NULL},
                                [JOULES] = {joules, NULL},
                                [THEIRS] = {theirs ? 28 : NAN, NULL},
                                [THEIR_SECONDS] = {theirs ? 0.197 : NAN, NULL}};
  if (!cli_table_add(table, row)) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for a table");
done:
  tes_problem_destroy(&d.problem);
  tes_function_destroy(&f);
  tes_mesh_destroy(&mesh);
  return status;
}

TesStatus bench_kershaw(TesContext *ctx, const BenchOptions *options, BenchResult *result) {
  TesStatus status = TES_OK;
  const BenchOptions *o = options;
  const int cells = o->cells ? (int)o->cell_counts[0] : CELLS;
  cli_table_begin(&result->table, columns, COLUMNS, o->common.verbosity >= TES_NORMAL);
  result->plot = (CliPlot){.title = "Kershaw's cells",
                           .x_label = "degree",
                           .y_label = "iterations",
                           .x = DEGREE,
                           .y = ITERATIONS,
                           .series = EPS};
  for (size_t e = 0; e < sizeof eps_of_rows / sizeof *eps_of_rows; e++)
    for (int k = 0; k < o->degrees && !tesi_context_interrupted(ctx); k++)
      TES_TRY(measure(ctx, o, eps_of_rows[e], cells, o->degree[k], &result->table));
done:
  return status;
}
