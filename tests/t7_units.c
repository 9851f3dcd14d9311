/* Run: ctest -R t7_units. Flows have the same digits, and their solves the same steps, in all units of length, time and
 * mass: what is solved in units of 1 is solved again with all data in other units, and compared after division. */
#include "tessera/tessera.h"
#include "units_testing.h"

static void processor(void **state) {
  (void)state;
  static const Units units[] = {{1e-9, 1, 1}, {1e6, 1, 1e9}, {1, 1e-30, 1},
                                {1, 1, 1e30}, {1e30, 1, 1},  {3e-20, 7e20, 2e-20}};
  TesContext *ctx = test_context(&(TesContextDesc){.device = "cpu", .threads = 1, .verbosity = TES_QUIET});
  if (!ctx) skip();
  for (int i = 0; i < UNITS_CASES; i++)
    units_compare(ctx, &units_cases[i], (int)(sizeof units / sizeof *units), units);
  tes_context_destroy(&ctx);
}

/* The vectors of GMRES on devices have kernels of their own. */
static void on(const char *device) {
  static const Units units[] = {{1e-6, 1, 1e12}};
  static const UnitsCase cases[] = {
      {"stokes q", TES_STOKES, TES_ELEMENT_Q, 2, 2, 2, TES_MESH_BOX, .open = true},
      {"stokes rt", TES_STOKES, TES_ELEMENT_RT, 2, 1, 4, TES_MESH_BOX, .open = true},
      {"navier_stokes rt", TES_NAVIER_STOKES, TES_ELEMENT_RT, 2, 1, 2, TES_MESH_BOX, .open = true}};
  TesContext *ctx = test_context(&(TesContextDesc){.device = device, .threads = 1, .verbosity = TES_QUIET});
  if (!ctx) skip();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    units_compare(ctx, &cases[i], (int)(sizeof units / sizeof *units), units);
  tes_context_destroy(&ctx);
}

static void emulator(void **state) {
  (void)state;
  on("emulator");
}

static void gpu(void **state) {
  (void)state;
  on("cuda");
}

/* Numbers beside which float64 has no digits left in a norm that adds forces and divergences: tables of the same
 * problem, solved once by the Galerkin system in units of 1 (2 x 2 cells Q2/Q1, (-0.98, 1.02) x (-0.73, 1.67),
 * nu = A, f = A (y, 1)): int u^2 + v^2 = 0.004216157, int p^2 = 2.971509 A^2. */
static void stiff_fluid(void **state) {
  (void)state;
  TesContext *ctx = test_context(&(TesContextDesc){.device = "cpu", .threads = 1, .verbosity = TES_QUIET});
  if (!ctx) skip();
  static const double size[] = {1, 1e6, 1e9, 1e12, 1e-9, 1e30, 1e-30};
  for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
    UnitsMaker m = {.ctx = ctx, .units = {1, 1, 1}};
    TesMesh *mesh;
    TesProblem *problem;
    TesSolveResult result;
    double energy, square;
    const TesMeshDesc box = {.dim = 2, .cells = {2, 2}, .lower = {-0.98, -0.73}, .upper = {1.02, 1.67}};
    assert_ok(ctx, tes_mesh_create(ctx, &box, &mesh));
    const TesProblemDesc desc = {.equation = TES_STOKES,
                                 .mesh = mesh,
                                 .degree = 2,
                                 .element = TES_ELEMENT_Q,
                                 .data = {.a = units_number(&m, size[i]),
                                          .f = {units_function(&m, size[i], "Y"), units_number(&m, size[i])}},
                                 .solver = {.tolerance = 1e-10}};
    assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
    assert_ok(ctx, tes_problem_solve(problem, &result));
    assert_ok(
        ctx, tes_problem_value(problem, &(TesValue){.kind = TES_VALUE_INTEGRAL, .of = "u*u + v*v"}, &energy));
    assert_ok(ctx, tes_problem_value(problem, &(TesValue){.kind = TES_VALUE_INTEGRAL, .of = "p*p"}, &square));
    assert_near(energy, 0.004216157, 1e-9);
    assert_near(square / size[i] / size[i], 2.971509, 1e-6);
    tes_problem_destroy(&problem);
    tes_mesh_destroy(&mesh);
    for (int j = 0; j < m.count; j++) tes_function_destroy(&m.made[j]);
  }
  tes_context_destroy(&ctx);
}

typedef struct Meshes {
  int64_t cells[8];
  int steps;
  double energy;
} Meshes;

static TesStatus note(void *user, const TesAdaptStep *step) {
  Meshes *m = user;
  m->cells[step->step] = step->cells;
  m->steps = step->step + 1;
  return tes_problem_value(step->problem, &(TesValue){.kind = TES_VALUE_INTEGRAL, .of = "u*u + v*v"},
                           &m->energy);
}

static Meshes adapt(TesContext *ctx, double size) {
  UnitsMaker m = {.ctx = ctx, .units = {1, 1, 1}};
  Meshes found = {0};
  TesMesh *mesh;
  assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.domain = TES_DOMAIN_L_SHAPE, .dim = 2}, &mesh));
  const TesProblemDesc desc = {.equation = TES_STOKES,
                               .mesh = mesh,
                               .degree = 2,
                               .element = TES_ELEMENT_Q,
                               .data = {.a = units_number(&m, size), .f = {units_function(&m, size, "Y")}}};
  const TesAdaptDesc loop = {.steps = 5, .report = note, .report_user = &found};
  assert_ok(ctx, tes_adapt_run(ctx, &desc, &loop, NULL));
  tes_mesh_destroy(&mesh);
  for (int j = 0; j < m.count; j++) tes_function_destroy(&m.made[j]);
  return found;
}

/* The data are their own mirror images but for a gradient: cells come in pairs of the same error, among which rounding
 * must not choose. */
static void meshes_are_the_same(void **state) {
  (void)state;
  static const double size[] = {1.07374e9, 1e11, 1e-11, 1e-30, 1e30};
  TesContext *ctx = test_context(&(TesContextDesc){.device = "cpu", .threads = 1, .verbosity = TES_QUIET});
  if (!ctx || !test_has_forests(ctx)) skip();
  const Meshes one = adapt(ctx, 1);
  assert_int_equal(one.steps, 5);
  for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
    const Meshes now = adapt(ctx, size[i]);
    assert_int_equal(now.steps, one.steps);
    for (int s = 0; s < one.steps; s++) assert_int_equal(now.cells[s], one.cells[s]);
    assert_near(now.energy, one.energy, 1e-7 * one.energy);
  }
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(processor), cmocka_unit_test(emulator),
                                     cmocka_unit_test(gpu), cmocka_unit_test(stiff_fluid),
                                     cmocka_unit_test(meshes_are_the_same)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
