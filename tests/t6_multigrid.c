/* Run: ctest -R t6_multigrid. Residual histories and iteration counts of the vertex-patch multigrid against an
 * independent prototype (tests/data/patch_prototype.json: numpy, float64, checked against a dense sequential smoother).
 * Labels: heavy simd */
#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "operator_testing.h"
#include "basis/lagrange.h"
#include "testing.h"
#include "tessera/tessera.h"

/* Right-hand side of f = 1 on the unit cube: products of 1D integrals of the basis functions, from row sums of the
 * mass matrix. */
static void load_of_one(const TesSpace *space, TesVector *b) {
  const int k = tes_space_degree(space), n = tes_space_nodes_along(space, 0),
            dim = tes_mesh_info(tes_space_mesh(space)).dim;
  const double h = (double)k / (n - 1);
  double M[400], K[400], *line = test_calloc((size_t)n, sizeof *line),
                         *values = test_malloc((size_t)tes_space_length(space) * sizeof *values);
  tesi_cell_matrices(k, M, K);
  for (int c = 0; c < (n - 1) / k; c++)
    for (int i = 0; i <= k; i++)
      for (int j = 0; j <= k; j++) line[c * k + i] += h * M[i * (k + 1) + j];
  line[0] = line[n - 1] = 0;
  for (int64_t i = 0; i < tes_space_length(space); i++)
    values[i] = line[i % n] * line[i / n % n] * (dim == 3 ? line[i / n / n] : 1);
  assert_int_equal(tes_vector_set(b, values), TES_OK);
  test_free(line);
  test_free(values);
}

typedef struct Problem {
  TesContext *ctx;
  TesSpace *space;
  TesOperator *op;
  TesMultigrid *mg;
  TesVector *b, *x;
} Problem;

static Problem make_problem_with(int dim, int cells, int degree, TesPrecision precision, bool symmetric,
                                 TesSmootherKind smoother) {
  Problem p;
  TesMesh *mesh;
  assert_int_equal(tes_context_create(NULL, &p.ctx, NULL, 0), TES_OK);
  const TesMeshDesc box = {.dim = dim, .cells = {cells, cells, cells}};
  assert_ok(p.ctx, tes_mesh_create(p.ctx, &box, &mesh));
  assert_int_equal(tes_space_create(p.ctx, &(TesSpaceDesc){.mesh = mesh, .degree = degree}, &p.space), TES_OK);
  tes_mesh_destroy(&mesh);
  const TestDiffusion diffusion = {.space = p.space};
  assert_ok(p.ctx, test_operator_create(p.ctx, &diffusion, &p.op));
  const TesMultigridDesc desc = {
      .op = p.op, .precision = precision, .smoother = {.kind = smoother}, .symmetric = symmetric};
  assert_ok(p.ctx, tes_multigrid_create(p.ctx, &desc, &p.mg));
  assert_ok(p.ctx, tes_vector_create(p.ctx, tes_space_length(p.space), TES_DOUBLE, &p.b));
  assert_ok(p.ctx, tes_vector_create(p.ctx, tes_space_length(p.space), TES_DOUBLE, &p.x));
  load_of_one(p.space, p.b);
  return p;
}

static Problem make_problem(int dim, int cells, int degree, TesPrecision precision, bool symmetric) {
  return make_problem_with(dim, cells, degree, precision, symmetric, TES_SMOOTHER_PATCH);
}

static void destroy_problem(Problem *p) {
  tes_vector_destroy(&p->b);
  tes_vector_destroy(&p->x);
  tes_multigrid_destroy(&p->mg);
  tes_operator_destroy(&p->op);
  tes_space_destroy(&p->space);
  assert_int_equal(tes_context_memory(p->ctx), 0);
  tes_context_destroy(&p->ctx);
}

static int solve(Problem *p, TesMethod method, double *residuals) {
  TesSolver *solver;
  TesSolveResult result;
  assert_ok(p->ctx, tes_vector_fill(p->x, 0));
  const TesSolverDesc desc = {
      .op = p->op, .multigrid = p->mg, .method = method, .tolerance = 1e-9, .max_iterations = 50};
  assert_ok(p->ctx, tes_solver_create(p->ctx, &desc, &solver));
  assert_ok(p->ctx, tes_solver_solve(solver, p->b, p->x, &result));
  if (residuals) memcpy(residuals, result.residuals, sizeof *residuals * (size_t)(result.iterations + 1));
  tes_solver_destroy(&solver);
  return result.iterations;
}

static cJSON *read_prototype(void) {
  FILE *file = fopen(TESI_SOURCE_DIR "/tests/data/patch_prototype.json", "r");
  assert_non_null(file);
  char *text = test_calloc(1, 100000);
  assert_true(fread(text, 1, 99999, file) > 1000);
  fclose(file);
  cJSON *json = cJSON_Parse(text);
  test_free(text);
  assert_non_null(json);
  return json;
}

/* Agreement to 1 % above 1e-11; the last residual below the tolerance may be missing on either side. */
static void compare_history(const char *what, const cJSON *expected, const double *actual, int iterations) {
  const int count = cJSON_GetArraySize(expected);
  assert_true(count > 0);
  for (int i = 0; i < count && i <= iterations; i++) {
    const double e = cJSON_GetArrayItem(expected, i)->valuedouble;
    if (e < 1e-11) continue;
    if (!(fabs(actual[i] - e) <= 0.01 * e))
      fail_msg("%s: residual %d is %.6g, expected %.6g", what, i, actual[i], e);
  }
}

static void histories_equal_the_prototype(void **state) {
  (void)state;
  cJSON *json = read_prototype();
  const cJSON *run;
  int compared = 0;
  cJSON_ArrayForEach(run, cJSON_GetObjectItem(json, "runs")) {
    const int dim = cJSON_GetObjectItem(run, "dim")->valueint,
              cells = cJSON_GetObjectItem(run, "cells")->valueint;
    const int degree = cJSON_GetObjectItem(run, "degree")->valueint;
    Problem p = make_problem(dim, cells, degree, TES_DOUBLE, false);
    double residuals[64], norm;
    char what[80];
    snprintf(what, sizeof what, "%dD, %d cells, Q%d", dim, cells, degree);
    assert_ok(p.ctx, tes_vector_norm(p.b, &norm));
    assert_near(norm, cJSON_GetObjectItem(run, "norm_rhs")->valuedouble, 1e-5 * norm);
    const int cycles = solve(&p, TES_METHOD_VCYCLE, residuals);
    compare_history(what, cJSON_GetObjectItem(run, "vcycle_residuals"), residuals, cycles);
    const int full = solve(&p, TES_METHOD_FMG, residuals);
    compare_history(what, cJSON_GetObjectItem(run, "fmg_residuals"), residuals, full);
    const int gmres = solve(&p, TES_METHOD_GMRES, residuals),
              expected = cJSON_GetObjectItem(run, "gmres_right_iterations")->valueint;
    if (abs(gmres - expected) > 0) fail_msg("%s: %d GMRES iterations, expected %d", what, gmres, expected);
    destroy_problem(&p);
    compared++;
  }
  cJSON_Delete(json);
  assert_int_equal(compared, 36);
}

/* Counts with the cycle in float32 equal those in float64, and so do the solutions to the tolerance. */
static void mixed_precision_costs_no_iteration(void **state) {
  (void)state;
  const TesMethod methods[] = {TES_METHOD_VCYCLE, TES_METHOD_FMG, TES_METHOD_GMRES, TES_METHOD_CG};
  for (int dim = 2; dim <= 3; dim++)
    for (int degree = 1; degree <= (dim == 2 ? 10 : 8); degree++)
      for (int m = 0; m < 4; m++) {
        const int cells = dim == 3 && degree > 5 ? 4 : 8;
        Problem mixed = make_problem(dim, cells, degree, TES_SINGLE, methods[m] == TES_METHOD_CG);
        Problem full = make_problem(dim, cells, degree, TES_DOUBLE, methods[m] == TES_METHOD_CG);
        const int a = solve(&mixed, methods[m], NULL), b = solve(&full, methods[m], NULL);
        if (a != b)
          fail_msg("%dD Q%d method %d: %d iterations mixed, %d in float64", dim, degree, methods[m], a, b);
        double norm, difference;
        assert_ok(full.ctx, tes_vector_norm(full.x, &norm));
        TesVector *d;
        assert_ok(full.ctx, tes_vector_create(full.ctx, tes_vector_length(full.x), TES_DOUBLE, &d));
        double *values = malloc(sizeof *values * (size_t)tes_vector_length(full.x));
        assert_ok(mixed.ctx, tes_vector_get(mixed.x, values));
        assert_ok(full.ctx, tes_vector_set(d, values));
        assert_ok(full.ctx, tes_vector_axpy(-1, full.x, d));
        free(values);
        assert_int_equal(tes_vector_norm(d, &difference), TES_OK);
        assert_near(difference / norm, 0, 1e-7);
        tes_vector_destroy(&d);
        destroy_problem(&mixed);
        destroy_problem(&full);
      }
}

/* f = 1: u at the centre, to the digits of the reference. */
static void values_of_the_unit_load(void **state) {
  (void)state;
  Problem p = make_problem(2, 16, 8, TES_DOUBLE, false);
  solve(&p, TES_METHOD_FMG, NULL);
  const int n = tes_space_nodes_along(p.space, 0);
  assert_near(((const double *)tes_vector_data(p.x))[n / 2 * n + n / 2], 0.073671353282, 2e-10);
  destroy_problem(&p);
  p = make_problem(3, 8, 6, TES_DOUBLE, false);
  solve(&p, TES_METHOD_FMG, NULL);
  const int m = tes_space_nodes_along(p.space, 0);
  assert_near(((const double *)tes_vector_data(p.x))[(m / 2 * m + m / 2) * m + m / 2], 0.0562128298, 2e-8);
  destroy_problem(&p);
}

/* The paper's counts of point Gauss-Seidel (its Table 3, tests/data/patch_vs_point_gauss_seidel.csv): right-hand
 * side of ones, full multigrid start, forward sweeps before and after, unknowns numbered cell by cell in Morton
 * order. */
static void point_gauss_seidel_counts_of_the_paper(void **state) {
  (void)state;
  FILE *file = fopen(TESI_SOURCE_DIR "/tests/data/patch_vs_point_gauss_seidel.csv", "r");
  char line[256];
  int paper[8] = {0};
  assert_non_null(file);
  while (fgets(line, sizeof line, file))
    if (sscanf(line, "point_gauss_seidel,%d,%d,%d,%d,%d,%d,%d,%d", &paper[0], &paper[1], &paper[2], &paper[3],
               &paper[4], &paper[5], &paper[6], &paper[7]) == 8)
      break;
  fclose(file);
  assert_int_equal(paper[0], 6);
  for (int degree = 1; degree <= 5; degree++) { /* tessera bench patch-tables has all eight */
    Problem p = make_problem_with(3, 8, degree, TES_DOUBLE, false, TES_SMOOTHER_GAUSS_SEIDEL_MORTON);
    double *values = tes_vector_data(p.b);
    for (int64_t i = 0; i < tes_vector_length(p.b); i++) values[i] = values[i] != 0;
    const int iterations = solve(&p, TES_METHOD_FMG, NULL);
    if (iterations != paper[degree - 1])
      fail_msg("Q%d: %d iterations, the paper has %d", degree, iterations, paper[degree - 1]);
    destroy_problem(&p);
  }
}

/* Levels end where one has at most so many unknowns; a cycle with nothing but the coarsest level is a solve. */
static void coarsening_ends_where_it_is_told(void **state) {
  (void)state;
  static const struct {
    int64_t enough;
    int levels;
  } ends[] = {{0, 5}, {33 * 33 - 1, 4}, {33 * 33, 3}, {65 * 65, 2}, {129 * 129, 1}};
  Problem p = make_problem_with(2, 32, 4, TES_DOUBLE, false, TES_SMOOTHER_AUTO);
  TesMultigrid *mg;
  double norm, residual;
  TesVector *r;
  assert_ok(p.ctx, tes_vector_create(p.ctx, tes_space_length(p.space), TES_DOUBLE, &r));
  assert_int_equal(tes_multigrid_levels(p.mg), 5);
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    const TesMultigridDesc desc = {.op = p.op, .coarse_dofs = ends[i].enough};
    assert_ok(p.ctx, tes_multigrid_create(p.ctx, &desc, &mg));
    assert_int_equal(tes_multigrid_levels(mg), ends[i].levels);
    assert_ok(p.ctx, tes_multigrid_cycle(mg, p.b, p.x, true));
    assert_ok(p.ctx, tes_operator_residual(p.op, p.b, p.x, r));
    assert_ok(p.ctx, tes_vector_norm(p.b, &norm));
    assert_ok(p.ctx, tes_vector_norm(r, &residual));
    assert_true(residual < (ends[i].levels == 1 ? 1e-11 : 0.2) * norm);
    tes_multigrid_destroy(&mg);
  }
  const TesMultigridDesc wrong = {.op = p.op, .coarse_dofs = -1};
  assert_int_equal(tes_multigrid_create(p.ctx, &wrong, &mg), TES_INVALID_INPUT);
  tes_vector_destroy(&r);
  destroy_problem(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(histories_equal_the_prototype),
      cmocka_unit_test(mixed_precision_costs_no_iteration),
      cmocka_unit_test(values_of_the_unit_load),
      cmocka_unit_test(point_gauss_seidel_counts_of_the_paper),
      cmocka_unit_test(coarsening_ends_where_it_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
