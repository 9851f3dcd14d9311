/* tessera bench applications --table 2 and 3: the cube of adaptive-multigrid-liebchen, section 5.2, beside its Tables
 * 2 and 3. Meshes: level 1 has 8^3 cells; level l + 1 halves the cells in {z < 2^-l} (face), {x, y < 2^-l} (edge),
 * {x, y, z < 2^-l} (vertex). lambda = 8e4, mu = 2e4, density 1, f = (0, -1, 0), u = 0 on the boundary, Q1, 100 steps:
 *   backward Euler, dt = 0.025, each step from zero to 1e-8 of the load: after about ten steps all solves are the
 *     static one, so only the iterations per step distinguish solvers
 *   the same by the paper's solver: GMRES around V-cycles with Jacobi sweeps
 *   the same with assembled matrices, hanging nodes eliminated: all products of steps and cycles use sparse
 *     matrices, by cuSPARSE on a GPU if it is available
 *   backward Euler with guesses, to 1e-3 of the change in a step
 *   the trapezoidal rule, dt = 2.5e-4, which does not damp waves
 * and one row with fewer unknowns and less error.
 * "A x ms": a product with the finest operator in float64; "matrix mib": its matrix.
 * Seconds are of all steps but the first, which is printed separately: it makes guesses, buffers and kernels. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "bench.h"
#include "problem/problem.h"

enum { NAMES = 3, LEVELS = 6, PER_NAME = 7 /* of a name */ };
static const char *const names[NAMES] = {"face", "edge", "vertex"};

/* Table 2: nodes, and the percentage of them that hang on edges (face, level 4: 6.33 is printed). */
static const struct {
  int nodes;
  double hanging;
} meshes[NAMES][LEVELS] = {
    {{729, 0}, {2925, 4.92}, {11281, 6.10}, {43861, 6.33}, {172505, 6.45}, {683741, 6.46}},
    {{729, 0}, {1881, 7.66}, {4129, 10.3}, {8569, 11.4}, {17393, 11.9}, {34985, 12.2}},
    {{729, 0}, {1333, 8.10}, {1937, 11.2}, {2541, 12.8}, {3145, 13.7}, {3749, 14.4}}};

/* Table 3: seconds of the solves and of all, on the processor and on the GPU; 0: not given. */
static const double times[NAMES][LEVELS][4] = {{{0},
                                                {41.78, 42.17, 7.52, 8.32},
                                                {174.96, 176.55, 14.65, 16.92},
                                                {1031.13, 1037.68, 38.22, 44.64},
                                                {4431.94, 4457.85, 122.57, 145.9},
                                                {0}},
                                               {{0},
                                                {0},
                                                {38.22, 38.64, 5.93, 6.85},
                                                {82.92, 83.86, 7.64, 9.24},
                                                {165.29, 167.14, 10.38, 13.01},
                                                {305.58, 309.39, 14.7, 18.59}},
                                               {{0},
                                                {0},
                                                {13.04, 13.24, 4.73, 5.33},
                                                {17.68, 17.96, 6.12, 6.85},
                                                {22.7, 23.07, 7.09, 7.94},
                                                {28.21, 28.67, 7.9, 8.88}}};

/* Names that live as long as the tables: "face-1", ... */
static char mesh_name[NAMES][LEVELS][PER_NAME + 3];

static double below(int name, const double x[3]) {
  return name == 0 ? x[2] : name == 1 ? fmax(x[0], x[1]) : fmax(fmax(x[0], x[1]), x[2]);
}

static TesStatus halve(TesContext *ctx, int name, double reach, TesMesh **mesh) {
  TesStatus status = TES_OK;
  const int64_t cells = tes_mesh_info(*mesh).cells;
  const double middle[3] = {0.5, 0.5, 0.5};
  int8_t *mark = NULL;
  TesMesh *next = NULL;
  TES_ALLOC(&mark, cells);
  for (int64_t c = 0; c < cells; c++) {
    double x[3];
    TES_TRY(tes_mesh_evaluate(*mesh, c, 1, middle, x, NULL));
    mark[c] = below(name, x) < reach;
  }
  TES_TRY(tes_mesh_adapt(*mesh, mark, &next));
  tes_mesh_destroy(mesh);
  *mesh = next;
done:
  tesi_free(ctx, &mark);
  return status;
}

static TesStatus create_mesh(TesContext *ctx, int name, int level, TesMesh **mesh) {
  TesStatus status = TES_OK;
  const TesMeshDesc desc = {.kind = TES_MESH_FOREST, .dim = 3, .cells = {1, 1, 1}, .refine = 3};
  TES_TRY(tes_mesh_create(ctx, &desc, mesh));
  for (int l = 1; l < level; l++) TES_TRY(halve(ctx, name, ldexp(1, -l), mesh));
done:
  return status;
}

/* ---- table 2 ------------------------------------------------------------------------------------------- */

enum { MESH, CELLS, NODES, PAPER_NODES, HANGING, PAPER_HANGING, FACES, UNKNOWNS, MESH_COLUMNS };
static const CliColumn mesh_columns[MESH_COLUMNS] = {
    {"mesh", 9, -1},     {"cells", 9, 0},     {"nodes", 9, 0},           {"paper's nodes", 13, 0},
    {"hanging %", 9, 2}, {"paper's %", 9, 2}, {"on faces too %", 14, 2}, {"unknowns", 9, 0}};

static TesStatus count_mesh(TesContext *ctx, int name, int level, CliTable *table) {
  TesStatus status = TES_OK;
  TesMesh *mesh = NULL;
  TesSpace *space = NULL;
  const TesiCellView *view;
  double faces = 0;
  TES_TRY(create_mesh(ctx, name, level, &mesh));
  TES_TRY(tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 1}, &space));
  TES_TRY(tesi_space_cells(space, &view));
  for (int64_t c = 0; c < view->cells; c++)
    for (int d = 0; d < 3; d++) faces += (view->mask[c] >> (3 + d) & 1) / 4.; /* of four children */
  const double hanging = (double)tes_space_hanging(space), nodes = (double)tes_space_length(space) + hanging;
  const CliCell row[MESH_COLUMNS] = {[MESH] = {0, mesh_name[name][level - 1]},
                                     [CELLS] = {(double)view->cells, NULL},
                                     [NODES] = {nodes, NULL},
                                     [PAPER_NODES] = {meshes[name][level - 1].nodes, NULL},
                                     [HANGING] = {100 * (hanging - faces) / nodes, NULL},
                                     [PAPER_HANGING] = {meshes[name][level - 1].hanging, NULL},
                                     [FACES] = {100 * hanging / nodes, NULL},
                                     [UNKNOWNS] = {3 * (double)tes_space_dofs(space), NULL}};
  if (!cli_table_add(table, row)) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for a table");
done:
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
  return status;
}

/* ---- table 3 ------------------------------------------------------------------------------------------- */

enum {
  MESH_OF,
  FREE,
  WHO,
  DEVICE,
  SETUP,
  FIRST,
  LOAD,
  SOLVE,
  SUM,
  ITERATIONS,
  MOST,
  WORK,
  MEMORY,
  ROOM,
  PRODUCT,
  MATRIX,
  LEVEL,
  SERIES,
  COLUMNS
};
static const CliColumn columns[COLUMNS] = {
    {"mesh", 9, -1},       {"unknowns", 8, 0},  {"who", 33, -1},  {"device", 8, -1},   {"init", 8, 3},
    {"first step", 10, 4}, {"rhs", 8, 3},       {"solve", 9, 3},  {"sum", 9, 3},       {"its/step", 8, 2},
    {"most its", 8, 0},    {"int f.u", 16, -3}, {"mib", 8, 1},    {"H200, 1e6", 9, 0}, {"A x ms", 8, 4},
    {"matrix mib", 10, 1}, {"level", 0, 0},     {"series", 0, -1}};

typedef struct Run {
  const char *who;
  TesTimeDesc time;
  TesSolveOptions solver;
  bool assembled;
} Run;

enum { STEPS = 100 };
static const Run runs[] = {
    {"tessera, each step from zero",
     {.end = 2.5, .step = 0.025, .method = TES_TIME_BACKWARD_EULER},
     {.guess = -1, .tolerance = 1e-8, .tolerance_of = TES_TOLERANCE_LOAD},
     false},
    {"GMRES with Jacobi, each from zero",
     {.end = 2.5, .step = 0.025, .method = TES_TIME_BACKWARD_EULER},
     {.guess = -1,
      .tolerance = 1e-8,
      .tolerance_of = TES_TOLERANCE_LOAD,
      .method = TES_METHOD_GMRES,
      .smoother = TES_SMOOTHER_JACOBI},
     false},
    {"GMRES, Jacobi, matrices",
     {.end = 2.5, .step = 0.025, .method = TES_TIME_BACKWARD_EULER},
     {.guess = -1,
      .tolerance = 1e-8,
      .tolerance_of = TES_TOLERANCE_LOAD,
      .method = TES_METHOD_GMRES,
      .smoother = TES_SMOOTHER_JACOBI},
     true},
    {"tessera", {.end = 2.5, .step = 0.025, .method = TES_TIME_BACKWARD_EULER}, {0}, false},
    {"tessera, trapezoidal rule", {.end = 0.025, .step = 2.5e-4, .method = TES_TIME_NEWMARK}, {0}, false}};

/* A line of a figure: the kind of refinement, and whose results they are. who: one of the paper's two, then runs. */
static const char *series_of(int name, int who, const char *text) {
  static char series[NAMES][8][56];
  snprintf(series[name][who], sizeof series[0][0], "%s, %s", names[name], text);
  return series[name][who];
}

static TesStatus add_paper(TesContext *ctx, int name, int level, CliTable *table) {
  TesStatus status = TES_OK;
  static const char *const who[] = {"paper, EPYC 7773X, 8 threads", "paper, H100"};
  const double *t = times[name][level - 1];
  for (int i = 0; i < 2 && t[0] > 0; i++) {
    CliCell row[COLUMNS];
    for (int k = 0; k < COLUMNS; k++) row[k] = (CliCell){NAN, NULL};
    row[MESH_OF].text = mesh_name[name][level - 1], row[WHO].text = who[i], row[DEVICE].text = "";
    row[SOLVE].number = t[2 * i], row[SUM].number = t[2 * i + 1];
    row[LEVEL].number = level, row[SERIES].text = series_of(name, i, i ? "paper, H100" : "paper, EPYC");
    if (!cli_table_add(table, row)) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for a table");
  }
done:
  return status;
}

typedef struct Data {
  TesFunction *lambda, *mu, *f;
} Data;

static TesStatus find_work(const TesProblem *p, double *work) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TES_TRY(tes_problem_value(p, &(TesValue){.kind = TES_VALUE_INTEGRAL, .of = "v"}, work));
  *work = -*work;
done:
  return status;
}

static TesStatus measure(TesContext *ctx, const BenchOptions *o, const Run *run, const TesMesh *mesh,
                         int degree, const Data *d, CliCell *row) {
  TesStatus status = TES_OK;
  TesProblem *p = NULL;
  TesSolveResult result;
  double seconds = 0, first = 0, load = 0, assembly = 0, work;
  int64_t iterations = 0;
  int most = 0;
  const double before = bench_memory(ctx);
  const TesProblemDesc desc = {.equation = TES_ELASTICITY,
                               .mesh = mesh,
                               .degree = degree,
                               .data = {.lambda = d->lambda, .a = d->mu, .f = {NULL, d->f, NULL}},
                               .time = run->time,
                               .solver = run->solver};
  TES_TRY(tes_problem_create(ctx, &desc, &p));
  if (run->assembled) TES_TRY(bench_assemble(p, &assembly));
  TES_TRY(bench_room(ctx, &desc, (double)p->space->dofs, &row[ROOM].number));
  for (int i = 0; i < STEPS; i++) {
    TES_TRY(tes_problem_step(p, &result));
    iterations += result.iterations;
    most = result.iterations > most ? result.iterations : most;
    if (i == 0)
      first = result.seconds, load = tes_problem_info(p).times.load;
    else
      seconds += result.seconds;
  }
  load = tes_problem_info(p).times.load - load;
  TES_TRY(find_work(p, &work));
  row[FREE] = (CliCell){(double)p->space->dofs, NULL};
  row[WHO] = (CliCell){0, run->assembled ? bench_assembled_name(p, run->who) : run->who};
  row[DEVICE] = (CliCell){0, tes_context_device(ctx)};
  row[SETUP] = (CliCell){tes_problem_info(p).times.total + assembly, NULL};
  row[FIRST] = (CliCell){first, NULL};
  row[LOAD] = (CliCell){load, NULL};
  row[SOLVE] = (CliCell){seconds - load, NULL};
  row[SUM] = (CliCell){row[SETUP].number + first + seconds, NULL};
  row[ITERATIONS] = (CliCell){(double)iterations / STEPS, NULL};
  row[MOST] = (CliCell){most, NULL};
  row[WORK] = (CliCell){work, NULL};
  row[MEMORY] = (CliCell){(bench_memory(ctx) - before) / 1048576, NULL};
  row[MATRIX] = (CliCell){run->assembled ? bench_assembled_mib(p) : NAN, NULL};
  TES_TRY(bench_product(p, run->assembled ? p->assembled : p->op, o->seconds, &row[PRODUCT].number));
done:
  tes_problem_destroy(&p);
  return status;
}

static TesStatus time_mesh(TesContext *ctx, const BenchOptions *o, int name, int level, const Data *d,
                           CliTable *table) {
  TesStatus status = TES_OK;
  TesMesh *mesh = NULL;
  TES_TRY(create_mesh(ctx, name, level, &mesh));
  TES_TRY(add_paper(ctx, name, level, table));
  for (size_t i = 0; i < sizeof runs / sizeof *runs && !tesi_context_interrupted(ctx); i++) {
    CliCell row[COLUMNS] = {[MESH_OF] = {0, mesh_name[name][level - 1]},
                            [LEVEL] = {level, NULL},
                            [SERIES] = {0, series_of(name, 2 + (int)i, runs[i].who)}};
    const TesStatus measured = measure(ctx, o, &runs[i], mesh, 1, d, row);
    if (runs[i].assembled && bench_leaves_out(ctx, measured)) continue;
    TES_TRY(measured);
    if (!cli_table_add(table, row)) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for a table");
  }
done:
  tes_mesh_destroy(&mesh);
  return status;
}

/* Q4 on one cell: 81 unknowns, and int f.u = 4.2058e-7. Fine elements of degree 8 have 4.2662e-7, the paper's meshes of
 * Q1 at most 4.1436e-7. */
static TesStatus time_one_cell(TesContext *ctx, const BenchOptions *o, const Data *d, CliTable *table) {
  TesStatus status = TES_OK;
  TesMesh *mesh = NULL;
  Run run = runs[0];
  CliCell row[COLUMNS] = {[MESH_OF] = {0, "one cell"}, [LEVEL] = {NAN, NULL}, [SERIES] = {0, "less error"}};
  run.who = "less error, Q4, each from zero";
  TES_TRY(tes_mesh_create(ctx, &(TesMeshDesc){.kind = TES_MESH_BOX, .dim = 3, .cells = {1, 1, 1}}, &mesh));
  TES_TRY(measure(ctx, o, &run, mesh, 4, d, row));
  if (!cli_table_add(table, row)) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for a table");
done:
  tes_mesh_destroy(&mesh);
  return status;
}

/* Figures 7, 8 and 10 of the paper: seconds of 100 steps by mesh and, dashed, of the linear solver only; or memory. */
static CliPlot describe_plot(const BenchOptions *o) {
  CliPlot plot = {.title = "Elasticity on refined cubes, 100 steps; dashed: the linear solver",
                  .x_label = "level of the mesh",
                  .y_label = "seconds",
                  .x = LEVEL,
                  .y = SUM,
                  .series = SERIES,
                  .beside = {{.y = SOLVE, .name = "solve"}},
                  .log_y = true};
  if (o->drawn != BENCH_DRAW_MEMORY) return plot;
  return (CliPlot){.title = "Elasticity on refined cubes, memory",
                   .x_label = "unknowns",
                   .y_label = "MiB",
                   .x = FREE,
                   .y = MEMORY,
                   .series = SERIES,
                   .log_x = true,
                   .log_y = true};
}

TesStatus bench_elastic_cube(TesContext *ctx, const BenchOptions *options, BenchResult *result) {
  TesStatus status = TES_OK;
  CliTable *table = &result->table;
  const bool counts = options->paper_table == 2, print = options->common.verbosity >= TES_NORMAL;
  Data d = {0};
  cli_table_begin(table, counts ? mesh_columns : columns, counts ? MESH_COLUMNS : COLUMNS, print);
  if (counts && options->plot) TES_FAIL(TES_INVALID_INPUT, "table 2 counts meshes: there is no figure of it");
  if (!counts) result->plot = describe_plot(options);
  if (options->seconds == 0) return TES_OK;
  TES_TRY(tes_function_create_constant(ctx, 8e4, &d.lambda));
  TES_TRY(tes_function_create_constant(ctx, 2e4, &d.mu));
  TES_TRY(tes_function_create_constant(ctx, -1, &d.f));
  for (int name = 0; name < NAMES; name++)
    for (int l = 0; l < options->levels && !tesi_context_interrupted(ctx); l++) {
      const int level = options->level[l];
      if (options->mesh && strcmp(options->mesh, names[name]) != 0) continue;
      snprintf(mesh_name[name][level - 1], sizeof *mesh_name[name], "%s-%d", names[name], level);
      TES_TRY(counts ? count_mesh(ctx, name, level, table) : time_mesh(ctx, options, name, level, &d, table));
    }
  if (!counts && !tesi_context_interrupted(ctx)) TES_TRY(time_one_cell(ctx, options, &d, table));
done:
  tes_function_destroy(&d.lambda);
  tes_function_destroy(&d.mu);
  tes_function_destroy(&d.f);
  return status;
}
