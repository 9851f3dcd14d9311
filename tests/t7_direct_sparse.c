/* Run: ctest -R t7_direct_sparse. solver.method direct by sparse factors: every equation that has it on boxes, meshes
 * with hanging nodes and curved cells, on the host and beside kernels: polynomials exactly, one iteration or two, else
 * the solution of multigrid; in time; thin plates and jumps of coefficients. */
#include "device_testing.h"
#include "multigrid/coarse/mumps.h"

static TesContext *ctx;
static TesFunction *kept[64];
static int keeps;

static TesFunction *keep(const char *text) {
  assert_true(keeps < 64);
  assert_ok(ctx, tes_function_create_expression(ctx, text, &kept[keeps]));
  return kept[keeps++];
}

static void forget(void) {
  while (keeps) tes_function_destroy(&kept[--keeps]);
}

static bool begin(const char *device) {
  if (tesi_mumps_missing()) return false;
  ctx = test_device(device);
  return ctx != NULL;
}

enum { BOX, FOREST, BALL, MESHES };
static bool kernels; /* the context's device has some: hanging nodes in 2D alone */

/* NULL: this build has no forests. */
static TesMesh *make_mesh(int which, int dim) {
  TesMesh *mesh = NULL;
  TesFunction *corner;
  if (kernels && (which != FOREST || dim == 3)) return NULL;
  assert_ok(ctx, tes_function_create_expression(ctx, "0.3 - x - y - z", &corner));
  const TesMeshDesc descs[] = {
      {.dim = dim, .cells = {4, 2, 2}},
      {.dim = dim, .cells = {2, 2, 2}, .refine_where = corner, .kind = TES_MESH_FOREST},
      {.dim = dim, .domain = TES_DOMAIN_BALL, .radius = 1, .geometry_degree = 2}};
  const TesStatus status = tes_mesh_create(ctx, &descs[which], &mesh);
  tes_function_destroy(&corner);
  if (status == TES_MISSING)
    tes_context_clear(ctx);
  else
    assert_ok(ctx, status);
  return mesh;
}

/* The problem, solved. */
static TesProblem *solve(const TesProblemDesc *desc, int most_iterations) {
  TesProblem *p;
  TesSolveResult result;
  assert_ok(ctx, tes_problem_create(ctx, desc, &p));
  assert_ok(ctx, tes_problem_solve(p, &result));
  if (desc->solver.method == TES_METHOD_DIRECT && !strstr(tes_problem_info(p).method, "sparse factors"))
    fail_msg("%s", tes_problem_info(p).method);
  if (!(result.iterations <= most_iterations))
    fail_msg("%d iterations, residual %g", result.iterations, result.residuals[result.residual_count - 1]);
  return p;
}

static const TesSolveOptions direct = {.method = TES_METHOD_DIRECT, .tolerance = 1e-11};

/* ---- polynomials --------------------------------------------------------------------------------------- */

/* u = x^2 - y^2 + x y, a = 2 + x: -div(a grad u) = -(2x + y); with (b . grad) u, b = (1, 2), 4x - 3y more. Linear
 * with a number for a on the ball, whose cells are curved. */
static void fill_scalar(TesProblemDesc *desc, TesBoundary *given, bool moves, bool ball) {
  const char *const exact = ball ? "1 + 2*x - y" : "x*x - y*y + x*y";
  desc->equation = moves ? TES_TRANSPORT : TES_POISSON;
  desc->data.a = keep(ball ? "2" : "2 + x");
  desc->data.f[0] = keep(ball ? "0" : moves ? "-(2*x + y) + 4*x - 3*y" : "-(2*x + y)");
  if (moves) desc->data.b[0] = keep("1"), desc->data.b[1] = keep("2"), desc->data.b[2] = keep("0");
  if (desc->mesh && tes_mesh_info(desc->mesh).dim == 2) desc->data.b[2] = NULL;
  desc->exact[0] = keep(exact);
  *given = (TesBoundary){.g = {keep(exact)}};
  desc->boundary = given, desc->boundaries = 1;
}

static void scalars_are_exact(const char *device) {
  for (int which = BOX; which < MESHES; which++)
    for (int dim = 2; dim <= 3; dim++)
      for (int moves = 0; moves < 2; moves++) {
        TesMesh *mesh = make_mesh(which, dim);
        TesBoundary given;
        double l2, h1;
        if (!mesh) continue;
        TesProblemDesc desc = {.mesh = mesh, .degree = 2, .solver = direct};
        fill_scalar(&desc, &given, moves, which == BALL);
        TesProblem *p = solve(&desc, 3);
        assert_ok(ctx, tes_problem_errors(p, &l2, &h1));
        if (!(l2 < 1e-11 && h1 < 1e-10))
          fail_msg("%s, mesh %d, %dD, moves %d: %g, %g", device, which, dim, moves, l2, h1);
        tes_problem_destroy(&p);
        forget();
        tes_mesh_destroy(&mesh);
      }
}

/* Linear displacements without a load. */
static void displacements_are_exact(const char *device) {
  static const char *const field[3] = {"1 + x - 2*y", "x/3 + y", "x - y/4"};
  for (int which = BOX; which < MESHES; which++)
    for (int dim = 2; dim <= 3; dim++) {
      TesMesh *mesh = make_mesh(which, dim);
      TesBoundary given = {0};
      double l2, h1;
      if (!mesh) continue;
      TesProblemDesc desc = {.equation = TES_ELASTICITY,
                             .mesh = mesh,
                             .degree = 2,
                             .boundary = &given,
                             .boundaries = 1,
                             .solver = direct};
      desc.data.a = keep("2"), desc.data.lambda = keep("3");
      for (int c = 0; c < dim; c++) given.g[c] = desc.exact[c] = keep(field[c]);
      TesProblem *p = solve(&desc, 3);
      assert_ok(ctx, tes_problem_errors(p, &l2, &h1));
      if (!(l2 < 1e-11 && h1 < 1e-10)) fail_msg("%s, mesh %d, %dD: %g, %g", device, which, dim, l2, h1);
      tes_problem_destroy(&p);
      forget();
      tes_mesh_destroy(&mesh);
    }
}

/* u = (y^2, x^2, 0), p = x - mean: f = -nu Lap u + alpha u + grad p; also with an open side, where nu du/dn - p n is
 * given. */
static void flows_are_exact(const char *device) {
  static const char *const field[3] = {"y*y", "x*x", "0"}, *const load[3] = {"-4 + 1 + 3*y*y", "-4 + 3*x*x",
                                                                             "0"};
  for (int which = BOX; which < BALL; which++)
    for (int dim = 2; dim <= 3; dim++)
      for (int open = 0; open < 2; open++) {
        TesMesh *mesh = make_mesh(which, dim);
        TesFlowResult flow;
        if (!mesh) continue;
        TesBoundary given[2] = {{0},
                                {.name = "right",
                                 .condition = TES_NEUMANN,
                                 .g = {keep("-(x - 0.5)"), keep("2*2*x"), dim == 3 ? keep("0") : NULL}}};
        TesProblemDesc desc = {.equation = TES_STOKES,
                               .mesh = mesh,
                               .degree = 2,
                               .element = TES_ELEMENT_Q,
                               .boundary = given,
                               .boundaries = 1 + open,
                               .solver = direct};
        desc.data.a = keep("2"), desc.data.c = keep("3");
        for (int c = 0; c < dim; c++) {
          given[0].g[c] = desc.exact[c] = keep(field[c]);
          desc.data.f[c] = keep(load[c]);
        }
        desc.exact[dim] = keep("x - 0.5");
        TesProblem *p = solve(&desc, 3);
        assert_ok(ctx, tes_problem_flow(p, &flow));
        if (!(flow.velocity_l2 < 1e-11 && flow.pressure_l2 < 1e-10))
          fail_msg("%s, mesh %d, %dD, open %d: %g, %g", device, which, dim, open, flow.velocity_l2,
                   flow.pressure_l2);
        tes_problem_destroy(&p);
        forget();
        tes_mesh_destroy(&mesh);
      }
}

static void polynomials(void **state) {
  static const char *const devices[] = {"cpu", "emulator", "cuda"};
  (void)state;
  if (tesi_mumps_missing()) skip();
  for (int d = 0; d < 3; d++) {
    if (!begin(devices[d])) continue;
    kernels = d > 0;
    scalars_are_exact(devices[d]);
    displacements_are_exact(devices[d]);
    flows_are_exact(devices[d]);
    tes_context_destroy(&ctx);
  }
  kernels = false;
}

/* ---- beside multigrid ---------------------------------------------------------------------------------- */

static void compare(TesProblemDesc *desc, double tolerance) {
  TesVector *difference;
  double norm, rest;
  desc->solver = direct;
  TesProblem *p = solve(desc, 1000);
  desc->solver = (TesSolveOptions){.tolerance = 1e-12, .max_iterations = 300, .precision = TES_SOLVE_DOUBLE};
  TesProblem *q = solve(desc, 10000);
  const TesVector *u = tes_problem_solution(p);
  assert_ok(ctx, tes_vector_create(ctx, tes_vector_length(u), TES_DOUBLE, &difference));
  assert_ok(ctx, tes_vector_copy(u, 1, difference));
  assert_ok(ctx, tes_vector_norm(u, &norm));
  assert_ok(ctx, tes_vector_axpy(-1, tes_problem_solution(q), difference));
  assert_ok(ctx, tes_vector_norm(difference, &rest));
  assert_true(norm > 0);
  if (!(rest <= tolerance * norm)) fail_msg("equation %d: %g of %g", (int)desc->equation, rest, norm);
  tes_vector_destroy(&difference);
  tes_problem_destroy(&p);
  tes_problem_destroy(&q);
}

static void solutions_of_multigrid(void **state) {
  (void)state;
  if (!begin("cpu")) skip();
  for (int which = BOX; which < MESHES; which++)
    for (int equation = 0; equation < 5; equation++) { /* the last two: only fluxes or loads, and in time */
      TesMesh *mesh = make_mesh(which, 2);
      if (!mesh) continue;
      const TesBoundary free = {.condition = TES_NEUMANN};
      TesProblemDesc desc = {.mesh = mesh, .degree = 3};
      desc.data.a = keep("1 + x*x"), desc.data.f[0] = keep("exp(x)*y");
      if (equation == 1)
        desc.equation = TES_TRANSPORT, desc.data.b[0] = keep("y"), desc.data.b[1] = keep("1 - x");
      if (equation == 2)
        desc.equation = TES_ELASTICITY, desc.data.lambda = keep("2"), desc.data.f[1] = keep("x");
      if (equation == 3) {
        desc.boundary = &free, desc.boundaries = 1;
        desc.data.f[0] = keep(which == BALL ? "x" : "x - 0.5");
      }
      if (equation == 4) {
        desc.equation = TES_TRANSPORT, desc.data.b[0] = keep("y"), desc.data.b[1] = keep("1 - x");
        desc.time = (TesTimeDesc){.end = 0.1, .step = 0.02};
      }
      if (equation != 3 || which != BOX)
        compare(&desc, equation == 4 ? 1e-8 : 1e-9); /* t6_sparse has that box */
      forget();
      tes_mesh_destroy(&mesh);
    }
  tes_context_destroy(&ctx);
}

/* ---- thin plates and jumps ----------------------------------------------------------------------------- */

/* Clamped square plate under its weight q, D = E h^3 / (12 (1 - nu^2)): w = 0.00126532 q / D (Timoshenko's series for
 * thin plates); shear adds some 0.15 % at 100 : 1. E = 1, nu = 0. */
static void thin_plates(void **state) {
  static const double heights[] = {0.01, 0.001};
  (void)state;
  if (!begin("cpu")) skip();
  for (int i = 0; i < 2; i++) {
    const double h = heights[i], D = h * h * h / 12;
    TesMesh *mesh;
    double w;
    assert_ok(ctx,
              tes_mesh_create(ctx, &(TesMeshDesc){.dim = 3, .cells = {6, 6, 1}, .upper = {1, 1, h}}, &mesh));
    const TesBoundary boundary[] = {
        {0}, {.name = "back", .condition = TES_NEUMANN}, {.name = "front", .condition = TES_NEUMANN}};
    TesProblemDesc desc = {.equation = TES_ELASTICITY,
                           .mesh = mesh,
                           .degree = 4,
                           .boundary = boundary,
                           .boundaries = 3,
                           .solver = {.method = TES_METHOD_DIRECT, .tolerance = i ? 1e-3 : 1e-6}};
    desc.data.a = keep("0.5"), desc.data.lambda = keep("0");
    desc.data.f[2] = keep("1");
    TesProblem *p = solve(&desc, 3);
    assert_ok(ctx, tes_problem_value(
                       p, &(TesValue){.kind = TES_VALUE_POINT, .point = {0.5, 0.5, h / 2}, .of = "w"}, &w));
    print_message("plate 1 : %g: %.8g, thin plates %.8g\n", 1 / h, w, 0.00126532 * h / D);
    assert_near(w / (0.00126532 * h / D), 1, 3e-3);
    tes_problem_destroy(&p);
    forget();
    tes_mesh_destroy(&mesh);
  }
  tes_context_destroy(&ctx);
}

/* a from 1 to 1e6, cell by cell: the mean of a sparse direct solve by other people's code. */
static void jumps(void **state) {
  (void)state;
  if (!begin("cpu")) skip();
  TesMesh *mesh;
  double mean;
  assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {32, 32}}, &mesh));
  TesProblemDesc desc = {.mesh = mesh, .degree = 2, .solver = {.method = TES_METHOD_DIRECT}};
  desc.data.a = keep("pow(10, 6*(fabs(sin(12.9898*(floor(x*32)+1) + 78.233*(floor(y*32)+1))*43758.5453) - "
                     "floor(fabs(sin(12.9898*(floor(x*32)+1) + 78.233*(floor(y*32)+1))*43758.5453))))");
  desc.data.f[0] = keep("1");
  TesProblem *p = solve(&desc, 2);
  assert_ok(ctx, tes_problem_value(p, &(TesValue){.kind = TES_VALUE_MEAN, .of = "u"}, &mean));
  assert_near(mean, 3.36432036e-5, 1e-13);
  tes_problem_destroy(&p);
  forget();
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
}

/* Element dg has no matrix here, and says so. */
static void what_is_refused(void **state) {
  TesProblem *p;
  TesMesh *mesh;
  (void)state;
  if (!begin("cpu")) skip();
  assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {3, 3}}, &mesh));
  const TesProblemDesc desc = {.mesh = mesh, .element = TES_ELEMENT_DG, .solver = direct};
  assert_int_equal(tes_problem_create(ctx, &desc, &p), TES_INVALID_INPUT);
  if (!strstr(tes_context_message(ctx), "the element is not q")) fail_msg("%s", tes_context_message(ctx));
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(polynomials), cmocka_unit_test(solutions_of_multigrid),
                                     cmocka_unit_test(thin_plates), cmocka_unit_test(jumps),
                                     cmocka_unit_test(what_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
