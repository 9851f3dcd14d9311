/* Run: ctest -R t6_coarse. The coarsest level of a Gmsh mesh that is large by itself: algebraic multigrid beside
 * conjugate gradients. */
#include <stdio.h>
#include <stdlib.h>
#include "operator/assembled/matrix.h"
#include "operator_testing.h"
#include "failing_allocator.h"
#include "multigrid/coarse/amg.h"
#include "tessera/tessera.h"

enum { CELLS = 60, NODES = CELLS + 1 };

/* A square of moved quadrilaterals, format 2.2; boundary "wall" round it. */
static void write_mesh(const char *path) {
  FILE *file = fopen(path, "w");
  uint64_t seed = 3;
  assert_non_null(file);
  fprintf(file, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n1 1 \"wall\"\n2 2 "
                "\"inside\"\n$EndPhysicalNames\n");
  fprintf(file, "$Nodes\n%d\n", NODES * NODES);
  for (int j = 0; j < NODES; j++)
    for (int i = 0; i < NODES; i++) {
      const bool inside = i > 0 && i < CELLS && j > 0 && j < CELLS;
      const double x = i + (inside ? 0.2 * test_random(&seed) : 0),
                   y = j + (inside ? 0.2 * test_random(&seed) : 0);
      fprintf(file, "%d %.17g %.17g 0\n", j * NODES + i + 1, x / CELLS, y / CELLS);
    }
  fprintf(file, "$EndNodes\n$Elements\n%d\n", CELLS * CELLS + 4 * CELLS);
  int number = 0;
  for (int i = 0; i < CELLS; i++) {
    const int low = i + 1, high = CELLS * NODES + i + 1, left = i * NODES + 1, right = i * NODES + NODES;
    fprintf(file, "%d 1 2 1 1 %d %d\n", ++number, low, low + 1);
    fprintf(file, "%d 1 2 1 1 %d %d\n", ++number, high, high + 1);
    fprintf(file, "%d 1 2 1 1 %d %d\n", ++number, left, left + NODES);
    fprintf(file, "%d 1 2 1 1 %d %d\n", ++number, right, right + NODES);
  }
  for (int j = 0; j < CELLS; j++)
    for (int i = 0; i < CELLS; i++) {
      const int v = j * NODES + i + 1;
      fprintf(file, "%d 3 2 2 1 %d %d %d %d\n", ++number, v, v + 1, v + NODES + 1, v + NODES);
    }
  fprintf(file, "$EndElements\n");
  assert_int_equal(fclose(file), 0);
}

typedef struct Outcome {
  TesStatus status;
  int iterations;
  int64_t coarse; /* unknowns of the coarsest level */
  double l2;
} Outcome;

/* exact = cos(pi x) cos(pi y), whose flux through the sides is 0; free: no Dirichlet boundary, the solution is
 * fixed by its mean. */
static Outcome solve(TesContext *ctx, const TesMesh *forest, TesCoarseKind coarse, bool free) {
  Outcome result = {0};
  TesFunction *exact, *f;
  TesProblem *problem = NULL;
  TesSolveResult solved;
  assert_ok(ctx, tes_function_create_expression(ctx, "cos(pi*x) * cos(pi*y)", &exact));
  assert_ok(ctx, tes_function_create_expression(ctx, "2*pi*pi*cos(pi*x) * cos(pi*y)", &f));
  const TesBoundary boundary[] = {
      {.condition = free ? TES_NEUMANN : TES_DIRICHLET, .g = {free ? NULL : exact}}};
  result.status = tes_problem_create(ctx,
                                     &(TesProblemDesc){.mesh = forest,
                                                       .degree = 2,
                                                       .data = {.f = {f}},
                                                       .exact = {exact},
                                                       .boundary = boundary,
                                                       .boundaries = 1,
                                                       .solver = {.coarse = coarse}},
                                     &problem);
  if (result.status == TES_OK) {
    double h1;
    const TesMultigrid *mg = tes_problem_multigrid(problem);
    result.coarse = tes_space_length(tes_multigrid_level(mg, 0).space);
    assert_ok(ctx, tes_problem_solve(problem, &solved));
    assert_ok(ctx, tes_problem_errors(problem, &result.l2, &h1));
    result.iterations = solved.iterations;
    print_message("coarse solver %d, free %d: %lld unknowns, %d iterations, error %g\n", (int)coarse, free,
                  (long long)result.coarse, result.iterations, result.l2);
  }
  tes_problem_destroy(&problem);
  tes_function_destroy(&exact);
  tes_function_destroy(&f);
  return result;
}

static TesMesh *read_mesh(TesContext *ctx) {
  TesMesh *forest = NULL;
  write_mesh("t6_coarse.msh");
  if (tes_mesh_create(ctx, &(TesMeshDesc){.domain = TES_DOMAIN_FILE, .file = "t6_coarse.msh"}, &forest) ==
      TES_MISSING)
    skip();
  assert_non_null(forest);
  return forest;
}

static TesContext *make_context(void) {
  TesContext *ctx;
  assert_int_equal(tes_context_create(&(TesContextDesc){.verbosity = TES_QUIET, .threads = 1}, &ctx, NULL, 0),
                   TES_OK);
  return ctx;
}

static void same_answers(void **state) {
  (void)state;
  TesContext *ctx = make_context();
  TesMesh *forest = read_mesh(ctx);
  for (int free = 0; free < 2; free++) {
    const Outcome cg = solve(ctx, forest, TES_COARSE_CG, free),
                  chosen = solve(ctx, forest, TES_COARSE_AUTO, free),
                  amg = solve(ctx, forest, TES_COARSE_AMG, free);
    assert_int_equal(cg.status, TES_OK);
    assert_int_equal(cg.coarse, NODES * NODES);
    assert_true(cg.l2 < 2e-5 && cg.iterations < 12);
    assert_in_range(chosen.iterations, 1, cg.iterations + 1); /* aggregation leaves a tenth */
    assert_near(chosen.l2, cg.l2, 1e-9);
    if (!tesi_amg_available()) {
      assert_int_equal(amg.status, TES_MISSING);
      assert_non_null(strstr(tes_context_message(ctx), "TESSERA_HYPRE"));
      tes_context_clear(ctx);
      continue;
    }
    assert_int_equal(amg.status, TES_OK);
    assert_int_equal(amg.iterations, cg.iterations);
    assert_near(amg.l2, cg.l2, 1e-9);
  }
  tes_mesh_destroy(&forest);
  tes_context_destroy(&ctx);
}

/* One cycle reduces the error by a factor that does not depend on the number of cells; it is symmetric. */
static void cycles(void **state) {
  (void)state;
  TesContext *ctx = make_context();
  TesMesh *forest = read_mesh(ctx);
  if (!tesi_amg_available()) skip();
  TesSpace *space;
  TesOperator *op;
  TesiMatrix A;
  TesiAmg *amg;
  uint64_t seed = 7;
  assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = forest, .degree = 1}, &space));
  assert_ok(ctx, test_operator_create(ctx, &(TestDiffusion){.space = space}, &op));
  assert_ok(ctx, tesi_operator_assemble(op, &A));
  assert_ok(ctx, tesi_amg_create(ctx, &A, &amg));
  const size_t n = (size_t)A.rows;
  double *u = test_malloc(n * sizeof *u), *v = test_malloc(n * sizeof *v), *Mu = test_malloc(n * sizeof *Mu),
         *Mv = test_malloc(n * sizeof *Mv), uMv = 0, vMu = 0;
  for (size_t i = 0; i < n; i++) u[i] = test_random(&seed), v[i] = test_random(&seed), Mu[i] = Mv[i] = NAN;
  assert_ok(ctx, tesi_amg_apply(amg, u, Mu));
  assert_ok(ctx, tesi_amg_apply(amg, v, Mv));
  for (size_t i = 0; i < n; i++) uMv += u[i] * Mv[i], vMu += v[i] * Mu[i];
  assert_near(uMv, vMu, 1e-10 * n);
  double norm = 0; /* e <- e - M A e, in 10 cycles */
  for (int cycle = 0; cycle < 10; cycle++) {
    tesi_matrix_apply(ctx, &A, u, v);
    assert_ok(ctx, tesi_amg_apply(amg, v, Mv));
    norm = 0;
    for (size_t i = 0; i < n; i++) u[i] -= Mv[i], norm = isfinite(u[i]) ? fmax(norm, fabs(u[i])) : INFINITY;
  }
  assert_true(norm < 1e-5);
  test_free(u), test_free(v), test_free(Mu), test_free(Mv);
  tesi_amg_destroy(&amg);
  tesi_matrix_destroy(space->context, &A);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
  tes_mesh_destroy(&forest);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_answers), cmocka_unit_test(cycles)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
