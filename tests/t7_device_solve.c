/* Run: ctest -R t7_device_solve. A solve on a device with kernels allocates nothing there, not even the first one,
 * sends one number an iteration to the host, and from its second iteration on replays recorded work. Counted by the
 * device: the emulator, or what TESSERA_TEST_DEVICE names. TESSERA_TEST_ONLY picks among the tests by name
 * ("gmres*"): each of them opens contexts of its own, which tools make slow. */
#include <stdlib.h>
#include "operator_testing.h"
#include "device/kernel.h"
#include "krylov/solver.h"
#include "stokes_testing.h"
#include "testing.h"
#include "tessera/tessera.h"

typedef struct Case {
  const char *a;
  TesMethod method;
  TesSolvePrecision precision;
  bool neumann;
} Case;

typedef struct Watch {
  const TesiCounts *counts;
  long long to_host[128]; /* when the residual of this iteration was known */
} Watch;

static void watch(void *user, int iteration, double residual) {
  Watch *w = user;
  (void)residual;
  if (iteration < 128) w->to_host[iteration] = w->counts->to_host;
}

static const char *device_name(void) {
  const char *given = getenv("TESSERA_TEST_DEVICE");
  return given && *given ? given : "emulator";
}

static const TesiCounts *counts_of(TesContext *ctx) {
  return &((TesiKernelState *)tesi_context_device_state(ctx))->counts;
}

static TesProblem *create(TesContext *ctx, const Case *c, Watch *w) {
  TesMesh *mesh;
  TesFunction *a = NULL, *f = NULL;
  TesProblem *problem;
  if (tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {8, 8}}, &mesh) != TES_OK ||
      tes_function_create_expression(ctx, c->a, &a) != TES_OK ||
      tes_function_create_expression(ctx, c->neumann ? "x - 0.5" : "1", &f) != TES_OK)
    fail_msg("%s", tes_context_message(ctx));
  const TesBoundary natural = {.condition = TES_NEUMANN};
  const TesProblemDesc desc = {
      .mesh = mesh,
      .degree = 2,
      .data = {.a = a, .f = {f}},
      .boundaries = c->neumann,
      .boundary = &natural,
      .solver = {.method = c->method, .precision = c->precision, .monitor = watch, .monitor_user = w}};
  if (tes_problem_create(ctx, &desc, &problem) != TES_OK) fail_msg("%s", tes_context_message(ctx));
  tes_function_destroy(&a);
  tes_function_destroy(&f);
  tes_mesh_destroy(&mesh);
  return problem;
}

/* Before the iteration |b| and |r|; an iteration one number; the last one its residual again, recomputed. recorded:
 * iterations but the first two are replayed. */
static void check_solve(TesContext *ctx, TesProblem *problem, Watch *w, bool recorded) {
  TesSolveResult result;
  const TesiCounts before = *w->counts;
  if (tes_problem_solve(problem, &result) != TES_OK) fail_msg("%s", tes_context_message(ctx));
  assert_int_equal(w->counts->allocations, before.allocations);
  assert_true(result.iterations >= 1);
  for (int i = 1; i < result.iterations; i++) assert_int_equal(w->to_host[i] - w->to_host[i - 1], 1);
  assert_true(w->counts->to_host - before.to_host <= result.iterations + 3);
  if (recorded) assert_true(w->counts->graphs - before.graphs >= result.iterations - 2);
}

static void check(const Case *c) {
  char message[1024];
  TesContext *ctx;
  Watch w;
  if (tes_context_create(&(TesContextDesc){.device = device_name()}, &ctx, message, sizeof message) != TES_OK)
    fail_msg("%s", message);
  w.counts = counts_of(ctx);
  TesProblem *problem = create(ctx, c, &w);
  assert_true(w.counts->allocations > 0);
  const bool stays = getenv("TESSERA_GMRES_STAY") != NULL; /* a recording for each column */
  if (!c->neumann) check_solve(ctx, problem, &w, !stays);
  if (!c->neumann) check_solve(ctx, problem, &w, true);
  TesSolveResult result;
  const long long allocations = w.counts->allocations;
  if (c->neumann && tes_problem_solve(problem, &result) != TES_OK) fail_msg("%s", tes_context_message(ctx));
  if (c->neumann) assert_int_equal(w.counts->allocations, allocations);
  tes_problem_destroy(&problem);
  tes_context_destroy(&ctx);
}

static void multigrid_alone(void **state) {
  (void)state;
  check(&(Case){"1", TES_METHOD_VCYCLE, TES_SOLVE_MIXED, false});
  check(&(Case){"1", TES_METHOD_FMG, TES_SOLVE_DOUBLE, false});
}

static void conjugate_gradients(void **state) {
  (void)state;
  check(&(Case){"1", TES_METHOD_CG, TES_SOLVE_MIXED, false});
  check(&(Case){"1 + x", TES_METHOD_CG, TES_SOLVE_DOUBLE, false});
}

static void gmres(void **state) {
  (void)state;
  check(&(Case){"1", TES_METHOD_GMRES, TES_SOLVE_DOUBLE, false});
  check(&(Case){"1 + x", TES_METHOD_GMRES, TES_SOLVE_MIXED, false});
  setenv("TESSERA_GMRES_STAY", "1", 1);
  check(&(Case){"1", TES_METHOD_GMRES, TES_SOLVE_DOUBLE, false});
  check(&(Case){"1 + x", TES_METHOD_GMRES, TES_SOLVE_MIXED, false});
  unsetenv("TESSERA_GMRES_STAY");
}

/* Restarts, and a residual that is already small: the same residuals as the host's. */
static double last_residual(const char *device, int restart, int *iterations) {
  char message[1024];
  TesContext *ctx;
  TesMesh *mesh;
  TesSpace *space;
  TesOperator *op;
  TesVector *b, *x;
  TesSolver *solver;
  TesSolveResult result;
  if (tes_context_create(&(TesContextDesc){.device = device}, &ctx, message, sizeof message) != TES_OK)
    fail_msg("%s", message);
  assert_int_equal(tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {4, 4}}, &mesh), TES_OK);
  assert_int_equal(tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 3}, &space), TES_OK);
  assert_int_equal(test_operator_create(ctx, &(TestDiffusion){.space = space}, &op), TES_OK);
  assert_int_equal(tes_vector_create(ctx, tes_space_length(space), TES_DOUBLE, &b), TES_OK);
  assert_int_equal(tes_vector_create(ctx, tes_space_length(space), TES_DOUBLE, &x), TES_OK);
  assert_int_equal(tes_functional_load(&(TesLoadDesc){.space = space}, b), TES_OK);
  TesFunction *f;
  assert_int_equal(tes_function_create_expression(ctx, "exp(x) - y", &f), TES_OK);
  assert_int_equal(tes_functional_load(&(TesLoadDesc){.space = space, .f = {f}}, b), TES_OK);
  const TesSolverDesc desc = {.op = op, .method = TES_METHOD_GMRES, .restart = restart, .max_iterations = 40};
  assert_int_equal(tes_solver_create(ctx, &desc, &solver), TES_OK);
  (void)tes_solver_solve(solver, b, x, &result); /* without preconditioner: perhaps not to the tolerance */
  *iterations = result.iterations;
  const double residual = result.residuals[result.iterations < 12 ? result.iterations : 12];
  tes_solver_destroy(&solver);
  tes_function_destroy(&f);
  tes_vector_destroy(&b);
  tes_vector_destroy(&x);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
  return residual;
}

static void restarted_gmres_is_the_hosts(void **state) {
  (void)state;
  const int restarts[] = {5, 13, 40};
  for (int i = 0; i < 3; i++) {
    int host, device;
    const double expected = last_residual("cpu", restarts[i], &host),
                 got = last_residual(device_name(), restarts[i], &device);
    assert_int_equal(host, device);
    assert_near(got, expected, 1e-6 * expected);
  }
}

/* Of the device, with a float32 cycle that smooths once: the residual at the end, recomputed, and how often. */
static double narrow_residual(bool narrow, double tolerance, int *iterations) {
  TesContext *ctx;
  TesMesh *mesh;
  TesSpace *space;
  TesOperator *op;
  TesVector *b, *x, *r;
  TesMultigrid *mg;
  TesSolver *solver;
  TesSolveResult result;
  TesFunction *f;
  double residual, size;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = device_name()}, &ctx, NULL, 0), TES_OK);
  assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {16, 8}}, &mesh));
  assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 3}, &space));
  assert_ok(ctx, test_operator_create(ctx, &(TestDiffusion){.space = space}, &op));
  TesVector **vectors[] = {&b, &x, &r};
  for (int i = 0; i < 3; i++)
    assert_ok(ctx, tes_vector_create(ctx, tes_space_length(space), TES_DOUBLE, vectors[i]));
  assert_ok(ctx,
            tes_function_create_expression(ctx, "1e30*(exp(x) - y)", &f)); /* far from the range of float32 */
  assert_ok(ctx, tes_functional_load(&(TesLoadDesc){.space = space, .f = {f}}, b));
  assert_ok(ctx, tes_vector_fill(x, 0));
  assert_ok(
      ctx, tes_multigrid_create(ctx, &(TesMultigridDesc){.op = op, .precision = TES_SINGLE, .pre = -1}, &mg));
  assert_ok(ctx, tes_solver_create(ctx,
                                   &(TesSolverDesc){.op = op,
                                                    .multigrid = mg,
                                                    .method = TES_METHOD_GMRES,
                                                    .tolerance = tolerance,
                                                    .narrow_basis = narrow},
                                   &solver));
  assert_ok(ctx, tes_solver_solve(solver, b, x, &result));
  *iterations = result.iterations;
  assert_ok(ctx, tes_operator_residual(op, b, x, r));
  assert_ok(ctx, tes_vector_norm(r, &residual));
  assert_ok(ctx, tes_vector_norm(b, &size));
  tes_solver_destroy(&solver);
  tes_multigrid_destroy(&mg);
  tes_function_destroy(&f);
  for (int i = 0; i < 3; i++) tes_vector_destroy(vectors[i]);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
  return residual / size;
}

/* One restart cycle goes as with float64; tolerances below its reach take another one. */
static void a_basis_in_float32_is_enough(void **state) {
  (void)state;
  for (double tolerance = 1e-3; tolerance > 1e-12; tolerance *= 1e-3) {
    int wide, narrow;
    const double of_wide = narrow_residual(false, tolerance, &wide),
                 of_narrow = narrow_residual(true, tolerance, &narrow);
    assert_true(of_wide <= tolerance && of_narrow <= tolerance);
    if (tolerance >= 1e-6) {
      assert_int_equal(narrow, wide);
      assert_near(of_narrow, of_wide, 0.2 * of_wide);
    } else {
      assert_in_range(narrow, wide, wide + 2);
    }
  }
}

/* Stokes from zero, a random right-hand side whose pressures have a mean: what is left of it without that, recomputed.
 * A solve allocates nothing. */
static double flow_residual(const Flow *f, bool narrow, double tolerance, int *iterations) {
  TesContext *ctx;
  TesMultigrid *mg;
  TesSolver *solver;
  TesSolveResult result;
  double residual, size;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = device_name()}, &ctx, NULL, 0), TES_OK);
  TesSpace *space = flow_space(ctx, f);
  TesOperator *op = flow_operator(ctx, f, space, TES_DOUBLE);
  double *values = flow_random(space, 3);
  for (int64_t i = op->null ? op->null_first : op->length; i < op->length; i++) values[i] += 0.3;
  TesVector *b = flow_vector(ctx, space, TES_DOUBLE, values), *x = flow_vector(ctx, space, TES_DOUBLE, NULL),
            *r = flow_vector(ctx, space, TES_DOUBLE, NULL);
  assert_ok(ctx, tes_multigrid_create(ctx,
                                      &(TesMultigridDesc){.op = op,
                                                          .precision = TES_SINGLE,
                                                          .smoother = {.kind = TES_SMOOTHER_PATCH},
                                                          .pre = f->degree > 1 ? -1 : 0},
                                      &mg));
  assert_ok(ctx, tes_solver_create(ctx,
                                   &(TesSolverDesc){.op = op,
                                                    .multigrid = mg,
                                                    .method = TES_METHOD_GMRES,
                                                    .tolerance = tolerance,
                                                    .smooths_rough = f->degree > 1,
                                                    .narrow_basis = narrow},
                                   &solver));
  const long long allocations = counts_of(ctx)->allocations;
  assert_ok(ctx, tesi_solver_solve_from_zero(solver, b, x, &result));
  assert_int_equal(counts_of(ctx)->allocations, allocations);
  *iterations = result.iterations;
  assert_ok(ctx, tes_operator_residual(op, b, x, r));
  assert_ok(ctx, tesi_operator_remove_null(op, r));
  assert_ok(ctx, tesi_operator_remove_null(op, b));
  assert_ok(ctx, tes_vector_norm(r, &residual));
  assert_ok(ctx, tes_vector_norm(b, &size));
  assert_near(result.residuals[result.iterations], residual / size, 1e-12);
  tes_solver_destroy(&solver);
  tes_multigrid_destroy(&mg);
  free(values);
  TesVector *all[] = {b, x, r};
  for (int i = 0; i < 3; i++) tes_vector_destroy(&all[i]);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
  tes_context_destroy(&ctx);
  return residual / size;
}

/* Operators that take float32, as those of boxes do, round their products with the basis. */
static void products_in_float32_are_enough_for_stokes(void **state) {
  (void)state;
  for (int i = 0; i < 9; i++) {
    const int dim = i < 4 || i == 8 ? 2 : 3, degree = i % 4 + 1;
    const double tolerance = i == 8 ? 1e-9 : 1e-6;
    const Flow f = {.dim = dim,
                    .degree = degree,
                    .cells = {dim == 2 ? 12 : 4, dim == 2 ? 8 : 2, 2},
                    .given = degree == 3 ? "vovvvv" : NULL,
                    .nu = 1};
    int wide, narrow;
    if (test_brief() && i % 3) continue;
    if (i % 2) setenv("TESSERA_GMRES_STAY", "1", 1); /* as long vectors do */
    const double of_wide = flow_residual(&f, false, tolerance, &wide),
                 of_narrow = flow_residual(&f, true, tolerance, &narrow);
    unsetenv("TESSERA_GMRES_STAY");
    assert_true(of_wide <= tolerance && of_narrow <= tolerance);
    assert_in_range(narrow, wide, wide + (tolerance < 1e-6 ? 2 : 0));
    if (tolerance >= 1e-6) assert_near(of_narrow, of_wide, 0.2 * of_wide + 5e-8);
    print_message("RT_%d, %dD: %d and %d iterations, residuals %.3g and %.3g\n", degree, dim, wide, narrow,
                  of_wide, of_narrow);
  }
}

static double full_multigrid_3d(const char *device, int *iterations) {
  char message[1024];
  TesContext *ctx;
  TesMesh *mesh;
  TesFunction *f;
  TesProblem *problem;
  TesSolveResult result;
  if (tes_context_create(&(TesContextDesc){.device = device}, &ctx, message, sizeof message) != TES_OK)
    fail_msg("%s", message);
  assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.dim = 3, .cells = {8, 4, 4}}, &mesh));
  assert_ok(ctx, tes_function_create_expression(ctx, "exp(x*y) - z", &f));
  const TesProblemDesc desc = {
      .mesh = mesh, .degree = 2, .data = {.f = {f}}, .solver = {.method = TES_METHOD_FMG}};
  assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
  assert_ok(ctx, tes_problem_solve(problem, &result));
  assert_ok(ctx, tes_problem_solve(problem, &result)); /* recorded */
  *iterations = result.iterations;
  const double residual = result.residuals[0];
  tes_problem_destroy(&problem);
  tes_function_destroy(&f);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
  return residual;
}

/* Transfers in passes go through memory that is lent to them, as they do on large boxes. */
static void lent_memory_changes_nothing(void **state) {
  (void)state;
  int host, device;
  const double expected = full_multigrid_3d("cpu", &host);
  setenv("TESSERA_TRANSFER", "passes", 1);
  const double got = full_multigrid_3d(device_name(), &device);
  unsetenv("TESSERA_TRANSFER");
  assert_int_equal(host, device);
  assert_near(got, expected, 1e-3 * expected);
}

/* A singular problem's projections, too. */
static void pure_neumann(void **state) {
  (void)state;
  check(&(Case){"1", TES_METHOD_CG, TES_SOLVE_MIXED, true});
}

static TesProblem *create_on_forest(TesContext *ctx, Watch *w) {
  TesMesh *forest, *adapted;
  TesProblem *problem;
  const TesMeshDesc box = {
      .kind = TES_MESH_FOREST, .dim = 2, .cells = {2, 2}, .upper = {0.1, 1}, .refine = 1, .geometry_degree = 1};
  const int8_t mark[16] = {1, 0, 0, 1};
  if (tes_mesh_create(ctx, &box, &forest) == TES_MISSING) skip();
  assert_ok(ctx, tes_mesh_adapt(forest, mark, &adapted));
  assert_ok(ctx, tes_problem_create(ctx,
                                    &(TesProblemDesc){.mesh = adapted,
                                                      .degree = 3,
                                                      .solver = {.smoother = TES_SMOOTHER_CELL_PATCH,
                                                                 .precision = TES_SOLVE_MIXED,
                                                                 .monitor = w ? watch : NULL,
                                                                 .monitor_user = w}},
                                    &problem));
  tes_mesh_destroy(&forest);
  tes_mesh_destroy(&adapted);
  return problem;
}

/* Cell patches on a mesh of trees: in the recorded iteration as all else, and the host's count. */
static void cell_patches(void **state) {
  (void)state;
  int iterations[2];
  for (int d = 0; d < 2; d++) {
    char message[1024];
    TesContext *ctx;
    TesSolveResult result;
    Watch w;
    if (tes_context_create(&(TesContextDesc){.device = d ? device_name() : "cpu"}, &ctx, message,
                           sizeof message) != TES_OK)
      fail_msg("%s", message);
    if (d) w.counts = counts_of(ctx);
    TesProblem *problem = create_on_forest(ctx, d ? &w : NULL);
    for (int solve = 0; solve < 2; solve++) {
      const TesiCounts before = d ? *w.counts : (TesiCounts){0};
      assert_ok(ctx, tes_problem_solve(problem, &result));
      if (!d) continue;
      assert_int_equal(w.counts->allocations, before.allocations);
      for (int i = 1; i < result.iterations; i++) assert_int_equal(w.to_host[i] - w.to_host[i - 1], 1);
      assert_true(w.counts->graphs - before.graphs >= result.iterations - 2);
    }
    iterations[d] = result.iterations;
    tes_problem_destroy(&problem);
    tes_context_destroy(&ctx);
  }
  assert_true(iterations[0] > 3);
  assert_int_equal(iterations[0], iterations[1]);
}

/* Odd numbers of cells, whose last coarse cell has three: devices coarsen as the processor does. */
static void odd_boxes_take_the_counts_of_the_processor(void **state) {
  (void)state;
  static const struct {
    TesMeshDesc mesh;
    int degree;
    const char *a;
  } rows[] = {{{.kind = TES_MESH_BOX, .dim = 2, .cells = {13, 11}}, 3, "1"},
              {{.kind = TES_MESH_BOX, .dim = 2, .cells = {23, 9}}, 2, "1 + x*y"},
              {{.kind = TES_MESH_BOX, .dim = 3, .cells = {5, 7, 3}}, 2, "1"},
              {{.kind = TES_MESH_BOX, .dim = 3, .cells = {5, 3, 7}}, 1, "1 + z"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    int iterations[2], levels[2];
    double residual[2];
    for (int d = 0; d < 2; d++) {
      const TesContextDesc open = {
          .device = d ? device_name() : "cpu", .deterministic = 1, .verbosity = TES_QUIET};
      TesContext *ctx;
      assert_int_equal(tes_context_create(&open, &ctx, NULL, 0), TES_OK);
      TesMesh *mesh;
      TesFunction *a, *f;
      TesProblem *problem;
      TesSolveResult result;
      assert_ok(ctx, tes_mesh_create(ctx, &rows[i].mesh, &mesh));
      assert_ok(ctx, tes_function_create_expression(ctx, rows[i].a, &a));
      assert_ok(ctx, tes_function_create_expression(ctx, "exp(x) * (1 + y)", &f));
      const TesProblemDesc desc = {.mesh = mesh, .degree = rows[i].degree, .data = {.a = a, .f = {f}}};
      assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
      assert_ok(ctx, tes_problem_solve(problem, &result));
      iterations[d] = result.iterations, residual[d] = result.residuals[0];
      levels[d] = tes_multigrid_levels(tes_problem_multigrid(problem));
      tes_problem_destroy(&problem);
      tes_function_destroy(&a);
      tes_function_destroy(&f);
      tes_mesh_destroy(&mesh);
      tes_context_destroy(&ctx);
    }
    assert_int_equal(iterations[1], iterations[0]);
    assert_int_equal(levels[1], levels[0]);
    assert_true(levels[0] > 1);
    assert_near(residual[1], residual[0], 1e-3 * residual[0]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(multigrid_alone),
                                     cmocka_unit_test(conjugate_gradients),
                                     cmocka_unit_test(gmres),
                                     cmocka_unit_test(restarted_gmres_is_the_hosts),
                                     cmocka_unit_test(a_basis_in_float32_is_enough),
                                     cmocka_unit_test(products_in_float32_are_enough_for_stokes),
                                     cmocka_unit_test(lent_memory_changes_nothing),
                                     cmocka_unit_test(pure_neumann),
                                     cmocka_unit_test(cell_patches),
                                     cmocka_unit_test(odd_boxes_take_the_counts_of_the_processor)};
  cmocka_set_test_filter(getenv("TESSERA_TEST_ONLY"));
  return cmocka_run_group_tests(tests, NULL, NULL);
}
