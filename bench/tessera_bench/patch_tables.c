/* tessera bench patch-tables: iteration counts of patch-smoothers-cui-2024, Tables 1-3, beside ours, to 1e-9 for
 * -lap u = 1.
 * Conventions: B: right-hand side of ones on the finest level, full multigrid start; Z: true load,
 * V-cycles from zero; A: true load, after the full multigrid start; R: right-preconditioned GMRES.
 * With --table 7: seconds and errors of its solves; 5 and 6: patch_kernels.c.
 * With --level: the rows of Tables 1 and 2 of these levels, convention B. Rows that need too much memory are left
 * out. So are solves that end above the tolerance because of round-off in the residual. A line names the rows left
 * out. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "bench.h"
#include "kernels/patch_published.h"
#include "tessera/functional.h"

enum { DIM, CELLS, SMOOTHER, CONVENTION, FIRST_DEGREE, DEGREES = 10, COLUMNS = FIRST_DEGREE + DEGREES };

static const CliColumn columns[COLUMNS] = {
    {"dim", 3, 0}, {"cells", 5, 0}, {"smoother", 18, -1}, {"convention", 26, -1}, {"Q1", 3, 0},
    {"Q2", 3, 0},  {"Q3", 3, 0},    {"Q4", 3, 0},         {"Q5", 3, 0},           {"Q6", 3, 0},
    {"Q7", 3, 0},  {"Q8", 3, 0},    {"Q9", 3, 0},         {"Q10", 3, 0}};

typedef struct Convention {
  const char *name;
  TesMethod method;
  bool ones; /* the right-hand side is one at every unknown */
} Convention;

static const Convention conventions[] = {{"B: ones, FMG start", TES_METHOD_FMG, true},
                                         {"Z: load, V-cycles from 0", TES_METHOD_VCYCLE, false},
                                         {"A: load, FMG start", TES_METHOD_FMG, false},
                                         {"R: load, GMRES", TES_METHOD_GMRES, false}};

/* The paper's rows (level L is 2^(L - 1) cells per direction). 0: not printed. */
typedef struct PaperRow {
  int dim, cells;
  const char *smoother, *source;
  int count[DEGREES];
} PaperRow;

static const PaperRow paper[] = {
    {2, 8, "patch", "paper, Table 1, level 4", {9, 5, 3, 3, 3, 2, 2, 2, 2, 2}},
    {3, 8, "patch", "paper, Table 2, level 4", {6, 5, 3, 3, 3, 3, 2, 2, 0, 0}},
    {3, 8, "gauss_seidel_morton", "paper, Table 3", {6, 8, 11, 13, 19, 20, 27, 30, 0, 0}},
    {2, 1024, "patch", "paper, Table 1, level 11", {7, 5, 3, 3, 3, 2, 2, 2, 2, 2}},
    {2, 2048, "patch", "paper, Table 1, level 12", {7, 4, 3, 3, 2, 2, 2, 2, 2, 2}},
    {3, 64, "patch", "paper, Table 2, level 7", {6, 5, 3, 3, 3, 3, 2, 2, 0, 0}},
    {3, 128, "patch", "paper, Table 2, level 8", {6, 5, 3, 3, 3, 3, 2, 0, 0, 0}},
    {3, 256, "patch", "paper, Table 2, level 9", {6, 5, 3, 0, 0, 0, 0, 0, 0, 0}},
    {3, 512, "patch", "paper, Table 2, level 10", {6, 0, 0, 0, 0, 0, 0, 0, 0, 0}}};
enum { PAPER_ROWS = sizeof paper / sizeof *paper };

static TesStatus right_hand_side(TesContext *ctx, const TesSpace *space, bool ones, TesVector *b) {
  TesStatus status = TES_OK;
  TesFunction *one = NULL;
  double *values = NULL;
  TES_TRY(tes_function_create_constant(ctx, 1, &one));
  TES_TRY(tes_functional_load(&(TesLoadDesc){.space = space, .f = {one}}, b));
  if (!ones) goto done;
  TES_ALLOC(&values, tes_vector_length(b));
  TES_TRY(tes_vector_get(b, values)); /* loads are positive at unknowns, zero at Dirichlet nodes */
  for (int64_t i = 0; i < tes_vector_length(b); i++) values[i] = values[i] != 0;
  TES_TRY(tes_vector_set(b, values));
done:
  tesi_free(ctx, &values);
  tes_function_destroy(&one);
  return status;
}

static TesStatus count(TesContext *ctx, int dim, int cells, int degree, TesSmootherKind smoother,
                       const Convention *convention, int *iterations) {
  TesStatus status = TES_OK;
  TesMesh *mesh = NULL;
  TesSpace *space = NULL;
  TesOperator *op = NULL;
  TesMultigrid *mg = NULL;
  TesSolver *solver = NULL;
  TesVector *b = NULL, *x = NULL;
  TesSolveResult result;
  TES_TRY(tes_mesh_create(ctx, &(TesMeshDesc){.dim = dim, .cells = {cells, cells, cells}}, &mesh));
  TES_TRY(tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = degree}, &space));
  TES_TRY(tes_operator_create(ctx, &(TesOperatorDesc){.space = space}, &op));
  TES_TRY(tes_multigrid_create(ctx, &(TesMultigridDesc){.op = op, .smoother = {.kind = smoother}}, &mg));
  TES_TRY(tes_vector_create(ctx, tes_space_length(space), TES_DOUBLE, &b));
  TES_TRY(tes_vector_create(ctx, tes_space_length(space), TES_DOUBLE, &x));
  TES_TRY(right_hand_side(ctx, space, convention->ones, b));
  TES_TRY(tes_solver_create(
      ctx, &(TesSolverDesc){.op = op, .multigrid = mg, .method = convention->method, .tolerance = 1e-9},
      &solver));
  TES_TRY(tes_solver_solve(solver, b, x, &result));
  *iterations = result.iterations;
done:
  tes_solver_destroy(&solver);
  tes_vector_destroy(&x);
  tes_vector_destroy(&b);
  tes_multigrid_destroy(&mg);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
  return status;
}

static bool add_paper_row(CliTable *table, const PaperRow *row) {
  CliCell cells[COLUMNS] = {[DIM] = {row->dim, NULL},
                            [CELLS] = {row->cells, NULL},
                            [SMOOTHER] = {0, row->smoother},
                            [CONVENTION] = {0, row->source}};
  for (int k = 0; k < DEGREES; k++)
    cells[FIRST_DEGREE + k] = (CliCell){row->count[k] ? row->count[k] : NAN, NULL};
  return cli_table_add(table, cells);
}

/* wanted: bit k: degree k. Degrees end at the first that needs too much memory. */
static TesStatus add_row(TesContext *ctx, int dim, int n, unsigned wanted, TesSmootherKind kind,
                         const char *smoother, const Convention *convention, CliTable *table) {
  TesStatus status = TES_OK;
  CliCell cells[COLUMNS] = {
      [DIM] = {dim, NULL}, [CELLS] = {n, NULL}, [SMOOTHER] = {0, smoother}, [CONVENTION] = {0, convention->name}};
  for (int k = 1; k <= DEGREES; k++) {
    int iterations = 0;
    cells[FIRST_DEGREE + k - 1].number = NAN;
    if ((dim == 3 && k > 8) || !(wanted >> k & 1)) continue;
    const TesStatus counted = count(ctx, dim, n, k, kind, convention, &iterations);
    if (counted == TES_OUT_OF_MEMORY) {
      tes_context_clear(ctx);
      wanted = 0;
      continue;
    }
    if (counted == TES_NOT_CONVERGED) {
      fprintf(stderr, "Q%d on %d cells a direction: %s\n", k, n, tes_context_message(ctx));
      tes_context_clear(ctx);
      continue;
    }
    TES_TRY(counted);
    cells[FIRST_DEGREE + k - 1].number = iterations;
  }
  if (!cli_table_add(table, cells)) status = TES_OUT_OF_MEMORY;
done:
  return status;
}

/* The paper's row for a mesh, if it has one. On large meshes only degrees of both are measured, since they take
 * long. */
static TesStatus add_level(TesContext *ctx, const BenchOptions *o, int dim, int n, CliTable *table) {
  TesStatus status = TES_OK;
  unsigned wanted = 0;
  for (int k = 0; k < o->degrees; k++) wanted |= 1u << o->degree[k];
  for (int p = 0; p < PAPER_ROWS; p++) {
    if (paper[p].dim != dim || paper[p].cells != n || strcmp(paper[p].smoother, "patch") != 0) continue;
    if (!add_paper_row(table, &paper[p])) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for a row");
    for (int k = 1; k <= DEGREES; k++)
      if (!paper[p].count[k - 1]) wanted &= ~(1u << k);
  }
  TES_TRY(add_row(ctx, dim, n, wanted, TES_SMOOTHER_PATCH, "patch", &conventions[0], table));
done:
  return status;
}

static TesStatus add_levels(TesContext *ctx, const BenchOptions *o, CliTable *table) {
  TesStatus status = TES_OK;
  for (int d = 0; d < o->dims; d++)
    for (int l = 0; l < o->levels && !tesi_context_interrupted(ctx); l++)
      TES_TRY(add_level(ctx, o, o->dim[d], 1 << (o->level[l] - 1), table));
done:
  return status;
}

/* Table 7: its meshes, or with --dofs others with about this many unknowns. */
static TesStatus solves(TesContext *ctx, const BenchOptions *options, BenchResult *result) {
  TesStatus status = TES_OK;
  BenchOptions o = *options;
  o.dims = o.degrees = o.sizes = 1;
  o.dim[0] = 3;
  o.single_precision = false;
  bench_solver_begin(&o, result);
  for (int i = 0; i < PATCH_SOLVE_TIMES && !tesi_context_interrupted(ctx); i++) {
    o.degree[0] = patch_solve_times[i].degree;
    if (!options->sizes) o.dofs[0] = patch_solve_times[i].dofs;
    TES_TRY(bench_solver_rows(ctx, &o, &result->table));
    TES_TRY(bench_solver_published(o.degree[0], &result->table));
  }
done:
  return status;
}

TesStatus bench_patch_tables(TesContext *ctx, const BenchOptions *options, BenchResult *result) {
  TesStatus status = TES_OK;
  static const int meshes[][2] = {{2, 8}, {2, 32}, {3, 8}};
  enum { ALL = ~0 };
  if (options->paper_table == 7) return solves(ctx, options, result);
  if (options->paper_table) return bench_patch_kernels(ctx, options, result);
  CliTable *table = &result->table;
  cli_table_begin(table, columns, COLUMNS, options->common.verbosity >= TES_NORMAL);
  if (options->levels) return add_levels(ctx, options, table);
  for (int m = 0; m < 3; m++) {
    for (int p = 0; p < 2; p++)
      if (paper[p].dim == meshes[m][0] && paper[p].cells == meshes[m][1] && !add_paper_row(table, &paper[p]))
        return TES_OUT_OF_MEMORY;
    for (int c = 0; c < 4; c++)
      TES_TRY(add_row(ctx, meshes[m][0], meshes[m][1], (unsigned)ALL, TES_SMOOTHER_PATCH, "patch",
                      &conventions[c], table));
  }
  if (!add_paper_row(table, &paper[2])) return TES_OUT_OF_MEMORY;
  TES_TRY(add_row(ctx, 3, 8, (unsigned)ALL, TES_SMOOTHER_GAUSS_SEIDEL_MORTON, "gauss_seidel_morton",
                  &conventions[0], table));
done:
  return status;
}
