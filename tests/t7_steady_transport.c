/* Run: ctest -R t7_steady_transport. Steady transport of element q where the velocity prevails: iterations of auto at
 * cell Peclet numbers 1 to 1e6, degrees 1 to 4, on boxes, meshes with hanging nodes, scattered and curved cells,
 * periodic directions and closed paths; the solution beside that of sparse factors; where diffusion prevails the
 * cycle of the symmetric part stays. The sanitizers see the same code in t5_ordered_cells.
 * Labels: heavy */
#include "device_testing.h"
#include "multigrid/coarse/modal_matrix.h"
#include "multigrid/coarse/mumps.h"
#include "operator/operator.h"

static TesContext *ctx;

typedef struct Steady {
  const char *name;
  TesMeshDesc mesh;
  const char *b[3];
  double width; /* of a cell, largest */
  bool corner;  /* refined where x + y < 0.6 */
} Steady;

static const Steady rows[] = {
    {"box", {.dim = 2, .cells = {12, 12}}, {"0.3", "-1"}, 1 / 12., false},
    {"box 3D", {.dim = 3, .cells = {6, 6, 6}}, {"0.3", "-1", "0.5"}, 1 / 6., false},
    {"ring", {.dim = 2, .cells = {12, 10}, .periodic = {true}}, {"1", "0.2"}, 1 / 12., false},
    {"forest", {.dim = 2, .cells = {6, 6}, .kind = TES_MESH_FOREST}, {"0.3", "-1"}, 1 / 6., true},
    {"scattered cells",
     {.dim = 2, .cells = {10, 10}, .kind = TES_MESH_CELLS, .perturbation = 0.2, .shuffle = 7},
     {"-1", "0.4"},
     1 / 10.,
     false},
    {"ball",
     {.dim = 2, .domain = TES_DOMAIN_BALL, .radius = 1, .geometry_degree = 2, .refine = 2},
     {"1", "x"},
     0.3,
     false},
    {"vortex", {.dim = 2, .cells = {12, 12}}, {"0.5 - y", "x - 0.5"}, 1 / 12., false}};
enum { ROWS = sizeof rows / sizeof *rows };

static TesFunction *expression(const char *text) {
  TesFunction *f;
  assert_ok(ctx, tes_function_create_expression(ctx, text, &f));
  return f;
}

/* NULL: this build has no forests. */
static TesMesh *make_mesh(const Steady *s) {
  TesMesh *mesh = NULL;
  TesMeshDesc desc = s->mesh;
  TesFunction *corner = expression("0.6 - x - y");
  if (s->corner) desc.refine_where = corner;
  const TesStatus status = tes_mesh_create(ctx, &desc, &mesh);
  tes_function_destroy(&corner);
  if (status == TES_MISSING)
    tes_context_clear(ctx);
  else
    assert_ok(ctx, status);
  return mesh;
}

/* u <- the solution; returns the iterations, and whether cells went in the order of the flow. */
static int solve(const Steady *s, const TesMesh *mesh, int degree, double peclet, TesSolveOptions options,
                 double *u, bool *ordered) {
  TesProblem *p;
  TesSolveResult result;
  TesFunction *b[3] = {NULL}, *a, *f = expression("1");
  const TesBoundary all = {.g = {NULL}};
  for (int d = 0; d < 3; d++)
    if (s->b[d]) b[d] = expression(s->b[d]);
  assert_ok(ctx, tes_function_create_constant(ctx, s->width / (2 * degree * peclet), &a));
  const TesProblemDesc desc = {.equation = TES_TRANSPORT,
                               .mesh = mesh,
                               .degree = degree,
                               .boundaries = 1,
                               .boundary = &all,
                               .data = {.a = a, .b = {b[0], b[1], b[2]}, .f = {f}},
                               .solver = options};
  assert_ok(ctx, tes_problem_create(ctx, &desc, &p));
  assert_ok(ctx, tes_problem_solve(p, &result));
  if (u) assert_ok(ctx, tes_vector_get(tes_problem_solution(p), u));
  if (ordered) *ordered = strstr(tes_problem_info(p).smoother, "order of the flow") != NULL;
  const int iterations = result.iterations;
  tes_problem_destroy(&p);
  for (int d = 0; d < 3; d++) tes_function_destroy(&b[d]);
  tes_function_destroy(&a), tes_function_destroy(&f);
  return iterations;
}

static void check(const Steady *s, const TesMesh *mesh, int degree, double peclet) {
  enum { MOST = 20, NODES = 40000 };
  static double u[NODES], exact[NODES];
  double sum = 0, all = 0;
  const int count = solve(s, mesh, degree, peclet, (TesSolveOptions){.tolerance = 1e-9}, u, NULL);
  if (!(count <= MOST)) fail_msg("%s, degree %d, Peclet %g: %d iterations", s->name, degree, peclet, count);
  if (tesi_mumps_missing() || peclet > 2e3) return;
  for (int i = 0; i < NODES; i++) exact[i] = 0;
  solve(s, mesh, degree, peclet, (TesSolveOptions){.method = TES_METHOD_DIRECT, .tolerance = 1e-12}, exact,
        NULL);
  for (int i = 0; i < NODES; i++) {
    if (exact[i] == 0) continue;
    sum += (u[i] - exact[i]) * (u[i] - exact[i]), all += exact[i] * exact[i];
  }
  if (!(all > 0 && sqrt(sum / all) < 1e-6))
    fail_msg("%s, degree %d, Peclet %g: %g off", s->name, degree, peclet, sqrt(sum / all));
}

/* least: of degrees and Peclet numbers */
static void on_device(const char *device, int of_rows, int least) {
  ctx = test_device(device);
  if (!ctx) skip();
  for (int i = 0; i < of_rows; i++) {
    TesMesh *mesh = make_mesh(&rows[i]);
    const int most = rows[i].mesh.dim == 3 || of_rows == 1 ? 2 : 4;
    for (int degree = least; mesh && degree <= most; degree *= 2)
      for (double peclet = least; peclet < 2e6; peclet *= 1000) check(&rows[i], mesh, degree, peclet);
    tes_mesh_destroy(&mesh);
  }
  tes_context_destroy(&ctx);
}

static void iterations_do_not_grow(void **state) {
  (void)state;
  on_device("cpu", ROWS, 1);
}

static void nor_on_a_gpu(void **state) {
  (void)state;
  on_device("cuda", 2, 1);
}

static void nor_in_the_emulator(void **state) {
  (void)state;
  on_device("emulator", 1, 2);
}

/* Larger meshes than the rows have. cycles: the finest level is smoothed in the order of the flow; else the whole is
 * solved by sparse factors. */
static const struct {
  Steady steady;
  int degree;
  double peclet;
  bool cycles;
} large[] = {
    {{"256^2", {.dim = 2, .cells = {256, 256}}, {"0.3", "-1"}, 1 / 256., false}, 2, 1e5, true},
    {{"vortex of 16^3", {.dim = 3, .cells = {16, 16, 16}}, {"0.5 - y", "x - 0.5", "0.2"}, 1 / 16., false},
     2,
     1e5,
     true},
    {{"rolls of 16^3",
      {.dim = 3, .cells = {16, 16, 16}},
      {"sin(pi*x)*cos(pi*y)", "-cos(pi*x)*sin(pi*y)"},
      1 / 16.,
      false},
     2,
     1e3,
     false},
    {{"vortex of 208^2", {.dim = 2, .cells = {208, 208}}, {"0.5 - y", "x - 0.5"}, 1 / 208., false},
     2,
     1e3,
     false},
};

/* Where factors without fill break down, and closed paths, whose cycles may need the finest level's factors. */
static void large_meshes_are_solved(void **state) {
  enum { MOST = 20 };
  (void)state;
  if (tesi_mumps_missing()) skip();
  ctx = test_device("cpu");
  if (!ctx) skip();
  for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
    const Steady *s = &large[i].steady;
    TesMesh *mesh = make_mesh(s);
    bool ordered;
    const int count = solve(s, mesh, large[i].degree, large[i].peclet, (TesSolveOptions){.tolerance = 1e-9},
                            NULL, &ordered);
    if (!(count <= MOST) || ordered != large[i].cycles)
      fail_msg("%s: %d iterations, %s", s->name, count, ordered ? "by cycles" : "by sparse factors");
    tes_mesh_destroy(&mesh);
  }
  tes_context_destroy(&ctx);
}

/* The matrix of element dg times a random vector is the operator's product. */
static void check_matrix(const TesOperator *op) {
  TesiMatrix A = {0};
  TesVector *x, *y;
  uint64_t seed = 3;
  const int64_t n = op->length;
  double *from = malloc((size_t)n * sizeof *from), *to = malloc((size_t)n * sizeof *to),
         *product = malloc((size_t)n * sizeof *product);
  for (int64_t i = 0; i < n; i++) from[i] = test_random(&seed), product[i] = NAN;
  assert_ok(ctx, tes_vector_create(ctx, n, TES_DOUBLE, &x));
  assert_ok(ctx, tes_vector_create(ctx, n, TES_DOUBLE, &y));
  assert_ok(ctx, tes_vector_set(x, from));
  assert_ok(ctx, tes_operator_apply(op, x, y));
  assert_ok(ctx, tes_vector_get(y, to));
  assert_ok(ctx, tesi_modal_matrix(op, &A));
  assert_int_equal(A.rows, n);
  tesi_matrix_apply(ctx, &A, from, product);
  for (int64_t i = 0; i < n; i++) assert_near(product[i], to[i], 1e-10 * (1 + fabs(to[i])));
  tesi_matrix_destroy(ctx, &A);
  tes_vector_destroy(&x), tes_vector_destroy(&y);
  free(from), free(to), free(product);
}

/* Element dg has no cycles for closed paths: levels end at sparse factors. */
static void closed_paths_of_discontinuous_elements(void **state) {
  static const struct {
    TesMeshDesc mesh;
    const char *b[3];
    int degree;
    bool closed; /* and more unknowns than dense factors take */
  } flows[] = {{{.dim = 2, .cells = {24, 24}}, {"sin(pi*x)*cos(pi*y)", "-cos(pi*x)*sin(pi*y)"}, 2, true},
               {{.dim = 2, .cells = {40, 40}}, {"0.3", "-1"}, 1, false},
               {{.dim = 2, .cells = {2, 5}, .periodic = {true}}, {"1", "0.2"}, 2, false},
               {{.dim = 3, .cells = {3, 2, 4}, .periodic = {false, true}}, {"y", "0.3", "1"}, 1, false}};
  (void)state;
  if (tesi_mumps_missing()) skip();
  ctx = test_device("cpu");
  if (!ctx) skip();
  for (size_t i = 0; i < sizeof flows / sizeof *flows; i++) {
    TesMesh *mesh;
    TesProblem *p;
    TesSolveResult result;
    TesFunction *b[3] = {NULL}, *a = expression("1e-5"), *f = expression("1");
    for (int d = 0; d < flows[i].mesh.dim; d++) b[d] = expression(flows[i].b[d]);
    TesMeshDesc box = flows[i].mesh;
    box.kind = TES_MESH_BOX;
    assert_ok(ctx, tes_mesh_create(ctx, &box, &mesh));
    const TesBoundary all = {.g = {NULL}};
    const TesProblemDesc desc = {.equation = TES_TRANSPORT,
                                 .element = TES_ELEMENT_DG,
                                 .mesh = mesh,
                                 .degree = flows[i].degree,
                                 .boundaries = 1,
                                 .boundary = &all,
                                 .data = {.a = a, .b = {b[0], b[1], b[2]}, .f = {f}}};
    assert_ok(ctx, tes_problem_create(ctx, &desc, &p));
    check_matrix(tes_problem_operator(p));
    assert_ok(ctx, tes_problem_solve(p, &result));
    const bool sparse = strstr(tes_problem_info(p).coarse, "sparse") != NULL;
    if (!(result.iterations <= 10) || sparse != flows[i].closed)
      fail_msg("flow %zu: %d iterations, %s", i, result.iterations, tes_problem_info(p).coarse);
    tes_problem_destroy(&p);
    tes_mesh_destroy(&mesh);
    for (int d = 0; d < 3; d++) tes_function_destroy(&b[d]);
    tes_function_destroy(&a), tes_function_destroy(&f);
  }
  tes_context_destroy(&ctx);
}

/* Where |b| L / a is 4 the cycle of the symmetric part takes no more than 20, and stays. */
static void diffusion_keeps_its_cycle(void **state) {
  (void)state;
  ctx = test_device("cpu");
  if (!ctx) skip();
  TesMesh *mesh = make_mesh(&rows[0]);
  bool ordered = true;
  assert_true(solve(&rows[0], mesh, 2, 0.05, (TesSolveOptions){.tolerance = 1e-9}, NULL, &ordered) <= 20);
  assert_false(ordered);
  solve(&rows[0], mesh, 2, 10, (TesSolveOptions){.tolerance = 1e-9}, NULL, &ordered);
  assert_true(ordered);
  solve(&rows[0], mesh, 2, 0.05, (TesSolveOptions){.smoother = TES_SMOOTHER_ORDERED_CELLS}, NULL, &ordered);
  assert_true(ordered);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(iterations_do_not_grow),
                                     cmocka_unit_test(nor_in_the_emulator),
                                     cmocka_unit_test(nor_on_a_gpu),
                                     cmocka_unit_test(diffusion_keeps_its_cycle),
                                     cmocka_unit_test(large_meshes_are_solved),
                                     cmocka_unit_test(closed_paths_of_discontinuous_elements)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
