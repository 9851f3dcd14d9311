/* tessera bench stokes-tables: fractional iterations of stokes-multigrid-cui-2025, Table 1, beside ours: 2D, to 1e-8,
 * V(1,1), penalty (k + 1)(k + 2) / h, sigma 0.6, exact local solves.
 * "left": preconditioned from the left in float64, as the paper counts; "right": by the true residual. */
#include "bench.h"
#include "kernels/flow_solution.h"
#include "kernels/left_gmres.h"
#include "kernels/stokes_published.h"
#include "problem/problem.h"

enum { LEVEL, CELLS, COUNT, FIRST_DEGREE, COLUMNS = FIRST_DEGREE + STOKES_DEGREES };

static const CliColumn columns[COLUMNS] = {{"level", 5, 0}, {"cells", 5, 0}, {"count", 30, -1},
                                           {"RT_3", 5, 2},  {"RT_4", 5, 2},  {"RT_5", 5, 2},
                                           {"RT_6", 5, 2},  {"RT_7", 5, 2},  {"RT_8", 5, 2}};

static TesStatus count(TesContext *ctx, int cells, int degree, double *left, double *right) {
  TesStatus status = TES_OK;
  TesMesh *mesh = NULL;
  TesProblem *p = NULL;
  TesSolveResult result;
  double residual[LEFT_GMRES_MOST + 1];
  int iterations;
  TesProblemDesc desc = {
      .equation = TES_STOKES,
      .degree = degree,
      .solver = {.tolerance = 1e-8, .pre = 1, .penalty = TES_PENALTY_PAPER, .precision = TES_SOLVE_DOUBLE}};
  TES_TRY(tes_mesh_create(ctx, &(TesMeshDesc){.kind = TES_MESH_BOX, .dim = 2, .cells = {cells, cells}}, &mesh));
  TES_TRY(flow_manufacture(ctx, 2, 0.6, 0, &desc));
  desc.mesh = mesh;
  TES_TRY(tes_problem_create(ctx, &desc, &p));
  TES_TRY(left_gmres(ctx, p->op, p->multigrid, p->b, 1e-8, residual, &iterations));
  *left = left_gmres_count(residual, iterations, 1e-8);
  TES_TRY(tes_problem_solve(p, &result));
  *right = result.fractional_iterations;
done:
  tes_problem_destroy(&p);
  flow_forget(&desc);
  tes_mesh_destroy(&mesh);
  return status;
}

static bool add_row(CliTable *table, int level, const char *what, const double *counts) {
  CliCell row[COLUMNS] = {[LEVEL] = {level, NULL}, [CELLS] = {1 << (level - 1), NULL}, [COUNT] = {0, what}};
  for (int i = 0; i < STOKES_DEGREES; i++) row[FIRST_DEGREE + i] = (CliCell){counts[i], NULL};
  return cli_table_add(table, row);
}

TesStatus bench_stokes_tables(TesContext *ctx, const BenchOptions *options, BenchResult *result) {
  TesStatus status = TES_OK;
  CliTable *table = &result->table;
  cli_table_begin(table, columns, COLUMNS, options->common.verbosity >= TES_NORMAL);
  for (int l = 0; l < options->levels; l++)
    TES_CHECK(options->level[l] < STOKES_FIRST_LEVEL + STOKES_LEVELS,
              "the paper's levels are %d to %d, got %d", STOKES_FIRST_LEVEL,
              STOKES_FIRST_LEVEL + STOKES_LEVELS - 1, options->level[l]);
  for (int l = 0; l < options->levels && !tesi_context_interrupted(ctx); l++) {
    const int level = options->level[l];
    double left[STOKES_DEGREES], right[STOKES_DEGREES];
    for (int i = 0; i < STOKES_DEGREES; i++)
      TES_TRY(count(ctx, 1 << (level - 1), STOKES_FIRST_DEGREE + i, &left[i], &right[i]));
    if (!add_row(table, level, "paper: direct", stokes_direct[level - STOKES_FIRST_LEVEL]) ||
        !add_row(table, level, "paper: Schur complement", stokes_schur[level - STOKES_FIRST_LEVEL]) ||
        !add_row(table, level, "left", left) || !add_row(table, level, "right", right))
      return TES_OUT_OF_MEMORY;
  }
done:
  return status;
}
