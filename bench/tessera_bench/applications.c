/* tessera bench applications: transport and diffusion of adaptive-multigrid-liebchen, section 5.1 and Table 1, beside
 * our results: a = 0.01, b = (0, -1), until t = 2, Q1 on 2^level cells per direction, 100 steps of backward Euler
 * without stabilization. There are three runs. First as the program chooses, each step from zero. Second by the
 * paper's solver, GMRES around V-cycles with Jacobi sweeps. Third the same with assembled matrices: all products of
 * its steps and cycles use sparse matrices, by cuSPARSE on a GPU if it is available. "A x ms" is a product with the
 * finest operator in float64, "matrix mib" its matrix. tes_problem_memory() predicts how many such unknowns fit on an
 * H200. Then the same error is reached with fewer unknowns and steps. Seconds are the seconds of all steps without
 * the set-up. The first step is printed separately, as it makes guesses, buffers and kernels. Errors are L2 errors at
 * the end. */
#include <math.h>
#include "bench.h"
#include "problem/problem.h"

enum {
  LEVEL,
  UNKNOWNS,
  WHO,
  DEVICE,
  STEPS,
  SETUP,
  FIRST,
  LOAD,
  SOLVE,
  SUM,
  ITERATIONS,
  ERROR,
  MEMORY,
  ROOM,
  PRODUCT,
  MATRIX,
  COLUMNS
};
static const CliColumn columns[COLUMNS] = {
    {"level", 5, 0}, {"unknowns", 9, 0},  {"who", 34, -1},       {"device", 8, -1},
    {"steps", 5, 0}, {"init", 8, 3},      {"first step", 10, 4}, {"rhs", 8, 3},
    {"solve", 8, 3}, {"sum", 8, 3},       {"its/step", 8, 2},    {"error", 10, -2},
    {"mib", 8, 1},   {"H200, 1e6", 9, 0}, {"A x ms", 8, 4},      {"matrix mib", 10, 1}};

/* Table 1 of the paper: init, rhs, solve. */
enum { PAPER_FIRST = 7, PAPER_LEVELS = 4 };
static const double paper[PAPER_LEVELS][2][3] = {{{0.07, 0.46, 5.33}, {0.35, 0.49, 2.05}},
                                                 {{0.28, 1.66, 20.01}, {0.54, 1.69, 2.85}},
                                                 {{1.29, 7.41, 80.63}, {1.41, 7.2, 4.47}},
                                                 {{6.36, 32.9, 304.75}, {5.21, 31.16, 9.0}}};

#define M(z) "(0.5 + 0.25*cos(pi/2*t) - " z ")"
#define THETA "exp(-(" M("x") "*" M("x") " + " M("y") "*" M("y") ")/4)"
#define SOURCE                                                                                               \
  "(pi/16*sin(pi/2*t)*(" M("x") " + " M("y") ") - 0.01*((" M("x") "*" M("x") " + " M("y") "*" M(             \
      "y") ")/4 - 1) - " M("y") "/2)*" THETA

typedef struct Run {
  const char *who;
  int degree, cells, steps;
  TesTimeMethod method;
  int guess;
  TesSmootherKind smoother; /* in GMRES; auto: chosen */
  bool assembled;
} Run;

/* b = (0, -1), a, f and the exact solution. */
typedef struct Data {
  TesFunction *a, *b, *f, *u;
} Data;

static TesStatus create_data(TesContext *ctx, Data *d) {
  TesStatus status = TES_OK;
  TES_TRY(tes_function_create_expression(ctx, "0.01", &d->a));
  TES_TRY(tes_function_create_expression(ctx, "-1", &d->b));
  TES_TRY(tes_function_create_expression(ctx, SOURCE, &d->f));
  TES_TRY(tes_function_create_expression(ctx, THETA, &d->u));
done:
  return status;
}

static void forget(Data *d) {
  TesFunction **const all[] = {&d->a, &d->b, &d->f, &d->u};
  for (int i = 0; i < 4; i++) tes_function_destroy(all[i]);
}

static TesStatus find_error(const TesProblem *p, const TesFunction *u, double *error) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesFunction *now = NULL;
  TES_TRY(tesi_function_at(u, tes_problem_info(p).time, &now));
  TES_TRY(tes_functional_error(p->space, p->u, (const TesFunction *const[]){now}, error, NULL, NULL, NULL));
done:
  tes_function_destroy(&now);
  return status;
}

static TesStatus create(TesContext *ctx, const Run *run, const Data *d, TesProblem **p, CliCell *row) {
  TesStatus status = TES_OK;
  TesMesh *mesh = NULL;
  const TesBoundary boundary = {.g = {d->u}};
  TES_TRY(tes_mesh_create(
      ctx, &(TesMeshDesc){.kind = TES_MESH_BOX, .dim = 2, .cells = {run->cells, run->cells}}, &mesh));
  const TesProblemDesc desc = {.equation = TES_TRANSPORT,
                               .mesh = mesh,
                               .degree = run->degree,
                               .stabilization = TES_STREAMLINE_NONE,
                               .data = {.a = d->a, .b = {NULL, d->b}, .f = {d->f}},
                               .initial = {d->u},
                               .boundary = &boundary,
                               .boundaries = 1,
                               .time = {.end = 2, .step = 2. / run->steps, .method = run->method},
                               .solver = {.guess = run->guess,
                                          .tolerance = 5e-4, /* exact solves change the error by 1 % */
                                          .method = run->smoother ? TES_METHOD_GMRES : TES_METHOD_AUTO,
                                          .smoother = run->smoother}};
  TES_TRY(tes_problem_create(ctx, &desc, p));
  TES_TRY(bench_room(ctx, &desc, (double)(*p)->space->length, &row[ROOM].number));
done:
  tes_mesh_destroy(&mesh);
  return status;
}

/* row <- a run of this program. */
static TesStatus measure(TesContext *ctx, const BenchOptions *o, const Run *run, const Data *d, CliCell *row) {
  TesStatus status = TES_OK;
  TesProblem *p = NULL;
  TesSolveResult result;
  double error, seconds = 0, first = 0, load = 0, assembly = 0;
  int64_t iterations = 0;
  const double before = bench_memory(ctx);
  TES_TRY(create(ctx, run, d, &p, row));
  if (run->assembled) TES_TRY(bench_assemble(p, &assembly));
  for (int i = 0; i < run->steps; i++) {
    TES_TRY(tes_problem_step(p, &result));
    iterations += result.iterations;
    if (i == 0)
      first = result.seconds, load = tes_problem_info(p).times.load;
    else
      seconds += result.seconds;
  }
  load = tes_problem_info(p).times.load - load;
  TES_TRY(find_error(p, d->u, &error));
  row[UNKNOWNS] = (CliCell){(double)tes_space_length(p->space), NULL};
  row[WHO] = (CliCell){0, run->assembled ? bench_assembled_name(p, run->who) : run->who};
  row[DEVICE] = (CliCell){0, tes_context_device(ctx)};
  row[STEPS] = (CliCell){run->steps, NULL};
  row[SETUP] = (CliCell){tes_problem_info(p).times.total + assembly, NULL};
  row[FIRST] = (CliCell){first, NULL};
  row[LOAD] = (CliCell){load, NULL};
  row[SOLVE] = (CliCell){seconds - load, NULL};
  row[SUM] = (CliCell){row[SETUP].number + first + seconds, NULL};
  row[ITERATIONS] = (CliCell){(double)iterations / run->steps, NULL};
  row[ERROR] = (CliCell){error, NULL};
  row[MEMORY] = (CliCell){(bench_memory(ctx) - before) / 1048576, NULL};
  row[MATRIX] = (CliCell){run->assembled ? bench_assembled_mib(p) : NAN, NULL};
  TES_TRY(bench_product(p, run->assembled ? p->assembled : p->op, o->seconds, &row[PRODUCT].number));
done:
  tes_problem_destroy(&p);
  return status;
}

static bool add_paper(CliTable *table, int level, int device) {
  const double *t = paper[level - PAPER_FIRST][device], nodes = ldexp(1, level) + 1;
  const CliCell row[COLUMNS] = {[LEVEL] = {level, NULL},
                                [UNKNOWNS] = {nodes * nodes, NULL},
                                [WHO] = {0, device ? "paper, H100" : "paper, EPYC 7773X, 8 threads"},
                                [DEVICE] = {0, ""},
                                [STEPS] = {100, NULL},
                                [SETUP] = {t[0], NULL},
                                [FIRST] = {NAN, NULL},
                                [LOAD] = {t[1], NULL},
                                [SOLVE] = {t[2], NULL},
                                [SUM] = {t[0] + t[1] + t[2], NULL},
                                [ITERATIONS] = {NAN, NULL},
                                [ERROR] = {NAN, NULL},
                                [MEMORY] = {NAN, NULL},
                                [ROOM] = {NAN, NULL},
                                [PRODUCT] = {NAN, NULL},
                                [MATRIX] = {NAN, NULL}};
  return cli_table_add(table, row);
}

/* Figures 4, 5 and 10 of the paper: seconds of all and, dashed, of the linear solver only; or memory. */
static CliPlot describe_plot(const BenchOptions *o) {
  CliPlot plot = {.title = "Transport and diffusion, 100 steps; dashed: the linear solver",
                  .x_label = "unknowns",
                  .y_label = "seconds",
                  .x = UNKNOWNS,
                  .y = SUM,
                  .series = WHO,
                  .beside = {{.y = SOLVE, .name = "solve"}},
                  .log_x = true,
                  .log_y = true};
  if (o->drawn != BENCH_DRAW_MEMORY) return plot;
  plot.title = "Transport and diffusion, memory";
  plot.y_label = "MiB", plot.y = MEMORY, plot.beside[0].y = 0;
  return plot;
}

TesStatus bench_applications(TesContext *ctx, const BenchOptions *options, BenchResult *result) {
  static const Run same[] = {
      {"the same error, Q4", 4, 4, 100, TES_TIME_BACKWARD_EULER, 0, 0, false},
      {"the same error, Q4, crank_nicolson", 4, 4, 12, TES_TIME_CRANK_NICOLSON, 0, 0, false}};
  if (options->paper_table == 2 || options->paper_table == 3) return bench_elastic_cube(ctx, options, result);
  if (options->paper_table == 4) return bench_explicit_flow(ctx, options, result);
  TesStatus status = TES_OK;
  CliTable *table = &result->table;
  Data data = {0};
  cli_table_begin(table, columns, COLUMNS, options->common.verbosity >= TES_NORMAL);
  result->plot = describe_plot(options);
  if (options->seconds == 0) return TES_OK;
  TES_TRY(create_data(ctx, &data));
  for (int l = 0; l < options->levels && !tesi_context_interrupted(ctx); l++) {
    const int level = options->level[l];
    const TesTimeMethod method = TES_TIME_BACKWARD_EULER;
    const Run ours[] = {
        {"tessera", 1, 1 << level, 100, method, 0, 0, false},
        {"tessera, every step from zero", 1, 1 << level, 100, method, -1, 0, false},
        {"GMRES with Jacobi, as the paper", 1, 1 << level, 100, method, 0, TES_SMOOTHER_JACOBI, false},
        {"GMRES, Jacobi, matrices", 1, 1 << level, 100, method, 0, TES_SMOOTHER_JACOBI, true}};
    for (int i = 0; i < 2 && level >= PAPER_FIRST && level < PAPER_FIRST + PAPER_LEVELS; i++)
      if (!add_paper(table, level, i)) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for a table");
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
      CliCell row[COLUMNS] = {[LEVEL] = {level, NULL}};
      const TesStatus measured = measure(ctx, options, &ours[i], &data, row);
      if (ours[i].assembled && bench_leaves_out(ctx, measured)) continue;
      TES_TRY(measured);
      if (!cli_table_add(table, row)) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for a table");
    }
  }
  for (int i = 0; i < 2; i++) {
    CliCell row[COLUMNS] = {[LEVEL] = {2, NULL}};
    TES_TRY(measure(ctx, options, &same[i], &data, row));
    if (!cli_table_add(table, row)) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for a table");
  }
done:
  forget(&data);
  return status;
}
