/* Run: ctest -R t7_elasticity. Static elasticity by tes_problem_solve(): numbers of independent dense solves (the cube
 * of adaptive-multigrid-liebchen, manufactured fields, Timoshenko's cantilever, one in 3D, near-incompressible fields).
 * Brief: the smaller meshes. */
#include "elasticity_testing.h"

static void the_cube_of_the_paper(void **state) {
  static const struct {
    int degree, n;
    double compliance, middle;
  } rows[] = {{1, 8, 4.0544028776e-07, -1.1804399405e-06}, {1, 16, 4.2089337685e-07, -1.1705402232e-06},
              {2, 4, 4.2199743603e-07, -1.1668252917e-06}, {2, 8, 4.2585723457e-07, -1.1673999030e-06},
              {4, 2, 4.2552346832e-07, -1.1721785853e-06}, {4, 4, 4.2644249769e-07, -1.1679455743e-06},
              {6, 2, 4.2645800256e-07, -1.1691795354e-06}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (test_brief() && rows[i].degree * rows[i].n > 8) continue;
    TesMesh *mesh = box(3, rows[i].n);
    check_cube(mesh, rows[i].degree, rows[i].compliance, rows[i].middle, "box");
    tes_mesh_destroy(&mesh);
  }
}

/* ---- manufactured fields ------------------------------------------------------------------------------- */

/* u = (1, 2, 3) s, s = sin(pi x) sin(pi y) sin(pi z): div sigma = (lambda + mu) grad div u + mu Lap u. */
static void the_orders_of_convergence(void **state) {
  static const struct {
    int degree, n;
    double l2, h1;
  } rows[] = {{1, 8, 0.0238263, 0.817155},     {2, 4, 0.00681055, 0.171763},
              {2, 8, 0.000819516, 0.0420474},  {3, 4, 0.000298264, 0.0112092},
              {4, 2, 0.000355996, 0.00891322}, {4, 4, 1.11101e-05, 0.000550145}};
  static const char *const loads[3] = {"pi*pi*(1e5*(sin(pi*x)*sin(pi*y)*sin(pi*z) - "
                                       "2*cos(pi*x)*cos(pi*y)*sin(pi*z) - 3*cos(pi*x)*sin(pi*y)*cos(pi*z)) + "
                                       "6e4*sin(pi*x)*sin(pi*y)*sin(pi*z))",
                                       "pi*pi*(1e5*(2*sin(pi*x)*sin(pi*y)*sin(pi*z) - "
                                       "cos(pi*x)*cos(pi*y)*sin(pi*z) - 3*sin(pi*x)*cos(pi*y)*cos(pi*z)) + "
                                       "12e4*sin(pi*x)*sin(pi*y)*sin(pi*z))",
                                       "pi*pi*(1e5*(3*sin(pi*x)*sin(pi*y)*sin(pi*z) - "
                                       "cos(pi*x)*sin(pi*y)*cos(pi*z) - 2*sin(pi*x)*cos(pi*y)*cos(pi*z)) + "
                                       "18e4*sin(pi*x)*sin(pi*y)*sin(pi*z))"};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (test_brief() && rows[i].degree * rows[i].n > 8) continue;
    TesMesh *mesh = box(3, rows[i].n);
    TesProblemDesc desc = cube(mesh, rows[i].degree);
    TesSolveResult result;
    double l2, h1;
    for (int c = 0; c < 3; c++) {
      static const char *const exact[3] = {"sin(pi*x)*sin(pi*y)*sin(pi*z)", "2*sin(pi*x)*sin(pi*y)*sin(pi*z)",
                                           "3*sin(pi*x)*sin(pi*y)*sin(pi*z)"};
      desc.data.f[c] = keep(expression(loads[c]));
      desc.exact[c] = keep(expression(exact[c]));
    }
    TesProblem *problem = solve(&desc, &result);
    assert_ok(ctx, tes_problem_errors(problem, &l2, &h1));
    print_message("Q%d, n = %d: %.6e %.6e\n", rows[i].degree, rows[i].n, l2, h1);
    assert_near(l2, rows[i].l2, 2e-5 * rows[i].l2);
    assert_near(h1, rows[i].h1, 2e-5 * rows[i].h1);
    tes_problem_destroy(&problem);
    forget();
    tes_mesh_destroy(&mesh);
  }
}

/* Linear fields are exact, stresses too: on curved cells and hanging nodes. */
static void linear_fields_are_exact(void **state) {
  TesFunction *corner = expression("0.3 - x - y - z");
  static const char *const field[3] = {"1 + x - 2*y + z/2", "x/3 + y - z", "x - y/4 + 2*z"};
  (void)state;
  for (int kind = 0; kind < 3; kind++)
    for (int dim = 2; dim <= 3; dim++)
      for (int degree = 1 + (kind == 1); degree <= 3; degree++) {
        const TesMeshDesc meshes[] = {
            {.dim = dim, .cells = {2, 2, 2}, .refine_where = corner, .kind = TES_MESH_FOREST},
            {.dim = dim, .domain = TES_DOMAIN_BALL, .radius = 1, .geometry_degree = 2},
            {.dim = dim, .cells = {3, 2, 2}, .kind = TES_MESH_BOX}};
        TesMesh *mesh;
        TesSolveResult result;
        double l2, h1;
        if (tes_mesh_create(ctx, &meshes[kind], &mesh) != TES_OK) {
          tes_context_clear(ctx);
          continue;
        }
        TesBoundary boundary = {.name = NULL};
        TesProblemDesc desc = {.equation = TES_ELASTICITY,
                               .mesh = mesh,
                               .degree = degree,
                               .data = {.lambda = keep(constant(5)), .a = keep(constant(2))},
                               .boundary = &boundary,
                               .boundaries = 1,
                               .solver = {.tolerance = 1e-13, .precision = TES_SOLVE_DOUBLE}};
        for (int c = 0; c < dim; c++) desc.exact[c] = boundary.g[c] = keep(expression(field[c]));
        TesProblem *problem = solve(&desc, &result);
        assert_ok(ctx, tes_problem_errors(problem, &l2, &h1));
        assert_near(l2, 0, 1e-11);
        assert_near(h1, 0, 1e-10);
        const double sxx = dim == 3 ? 5 * 4 + 4 * 1 : 5 * 2 + 4 * 1; /* lambda div u + 2 mu ux */
        assert_near(value_of(problem, (TesValue){.kind = TES_VALUE_MEAN, .of = "sxx"}), sxx, 1e-9);
        assert_near(value_of(problem, (TesValue){.kind = TES_VALUE_MEAN, .of = "sxy"}), 2 * (1 / 3. - 2),
                    1e-9);
        tes_problem_destroy(&problem);
        forget();
        tes_mesh_destroy(&mesh);
      }
  tes_function_destroy(&corner);
}

/* ---- beams --------------------------------------------------------------------------------------------- */

/* Timoshenko and Goodier, plane stress, L = 8, depth 2, E = 1000, nu = 0.25, P = 1: u at x = 0 is given, a parabolic
 * shear at x = 8. The field is a cubic: Q3 is exact. */
static void timoshenkos_beam(void **state) {
  static const struct {
    int degree, cells[2];
    double tip, tolerance;
  } rows[] = {{3, {8, 2}, 0.2665, 1e-9}, {2, {8, 2}, 0.2664675081, 1e-9}, {1, {32, 8}, 0.2645993126, 1e-9}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    TesMesh *mesh;
    TesSolveResult result;
    const int *n = rows[i].cells;
    const TesMeshDesc box_desc = {
        .kind = TES_MESH_BOX, .dim = 2, .cells = {n[0], n[1]}, .lower = {0, -1}, .upper = {8, 1}};
    assert_ok(ctx, tes_mesh_create(ctx, &box_desc, &mesh));
    /* I = 2/3, c = 1: ux = -P y/(6 E I) ((6 L - 3 x) x + (2 + nu)(y^2 - 1)), uy = P/(6 E I) (3 nu y^2 (L - x)
     * + (4 + 5 nu) x + (3 L - x) x^2) */
    const TesBoundary boundary[] = {
        {.condition = TES_NEUMANN},
        {.name = "left",
         .g = {keep(expression("-y/4000*2.25*(y*y - 1)")), keep(expression("0.75*y*y*8/4000"))}},
        {.name = "right", .condition = TES_NEUMANN, .g = {NULL, keep(expression("0.75*(1 - y*y)"))}}};
    const TesProblemDesc desc = {.equation = TES_ELASTICITY,
                                 .mesh = mesh,
                                 .degree = rows[i].degree,
                                 .plane = TES_PLANE_STRESS,
                                 .data = {.lambda = keep(constant(400)), .a = keep(constant(400))},
                                 .boundary = boundary,
                                 .boundaries = 3,
                                 .solver = {.tolerance = 1e-12, .max_iterations = 200}};
    TesProblem *problem = solve(&desc, &result);
    const double tip = value_of(problem, (TesValue){.kind = TES_VALUE_POINT, .point = {8, 0}, .of = "v"}),
                 force = value_of(problem,
                                  (TesValue){.kind = TES_VALUE_FORCE, .where = TES_ON_BOUNDARY, .of = "y"});
    print_message("Q%d: tip %.10f after %d iterations, force %.10f\n", rows[i].degree, tip, result.iterations,
                  force);
    assert_near(tip, rows[i].tip, rows[i].tolerance);
    assert_near(force, -1, 1e-8);
    tes_problem_destroy(&problem);
    forget();
    tes_mesh_destroy(&mesh);
  }
}

/* 10 x 1 x 1, clamped at x = 0, pulled down at x = 10; the sum of all loads beside that of all supports. */
static void a_beam_in_space(void **state) {
  static const struct {
    int degree, cells[3];
    double tip;
  } rows[] = {{2, {20, 2, 2}, -3.99403281}, {1, {20, 2, 2}, -3.50318906}, {4, {10, 2, 2}, -3.99966490}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (test_brief() && rows[i].degree > 1) continue;
    TesMesh *mesh;
    TesSolveResult result;
    const int *n = rows[i].cells;
    const TesMeshDesc box_desc = {
        .kind = TES_MESH_BOX, .dim = 3, .cells = {n[0], n[1], n[2]}, .upper = {10, 1, 1}};
    assert_ok(ctx, tes_mesh_create(ctx, &box_desc, &mesh));
    const TesBoundary boundary[] = {
        {.condition = TES_NEUMANN},
        {.name = "left"},
        {.name = "right", .condition = TES_NEUMANN, .g = {NULL, NULL, keep(constant(-1))}}};
    const TesProblemDesc desc = {
        .equation = TES_ELASTICITY,
        .mesh = mesh,
        .degree = rows[i].degree,
        .data = {.lambda = keep(constant(300 / (1.3 * 0.4))), .a = keep(constant(1000 / 2.6))},
        .boundary = boundary,
        .boundaries = 3,
        .solver = {.tolerance = 1e-9, .max_iterations = 200}};
    TesProblem *problem = solve(&desc, &result);
    const double tip = value_of(problem,
                                (TesValue){.kind = TES_VALUE_POINT, .point = {10, 0.5, 0.5}, .of = "w"}),
                 energy = value_of(problem, (TesValue){.kind = TES_VALUE_INTEGRAL, .of = "strain_energy"});
    const TesBalance balance = tes_problem_info(problem).balance;
    print_message("Q%d: tip %.8f, energy %.8f, %d iterations\n", rows[i].degree, tip, energy,
                  result.iterations);
    assert_near(tip, rows[i].tip, 2e-8);
    if (rows[i].degree == 4) assert_near(energy, 1.99989777, 2e-8);
    assert_near(balance.load[2], -1, 1e-12);
    assert_near(balance.load[2] + balance.reaction[2], 0, 1e-8);
    assert_near(balance.reaction[0], 0, 1e-8);
    tes_problem_destroy(&problem);
    forget();
    tes_mesh_destroy(&mesh);
  }
}

/* u = curl(sin^2 pi x sin^2 pi y), mu = 1: Q1 locks. */
static void nearly_incompressible(void **state) {
  static const struct {
    int degree, n;
    double nu, l2;
  } rows[] = {{1, 16, 0.3, 0.039665},   {1, 16, 0.4999, 1.8099}, {2, 8, 0.3, 0.0060975},
              {2, 8, 0.4999, 0.081586}, {4, 4, 0.3, 0.00033461}, {4, 4, 0.4999, 0.0034822}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    TesMesh *mesh = box(2, rows[i].n);
    TesSolveResult result;
    double l2, h1;
    const TesProblemDesc desc = {
        .equation = TES_ELASTICITY,
        .mesh = mesh,
        .degree = rows[i].degree,
        .data = {.lambda = keep(constant(2 * rows[i].nu / (1 - 2 * rows[i].nu))),
                 .f = {keep(expression("-2*pi*pi*pi*(2*cos(2*pi*x) - 1)*sin(2*pi*y)")),
                       keep(expression("2*pi*pi*pi*(2*cos(2*pi*y) - 1)*sin(2*pi*x)"))}},
        .exact = {keep(expression("pi*sin(pi*x)*sin(pi*x)*sin(2*pi*y)")),
                  keep(expression("-pi*sin(pi*y)*sin(pi*y)*sin(2*pi*x)"))},
        .solver = {.tolerance = 1e-10, .max_iterations = 1000}};
    TesProblem *problem = solve(&desc, &result);
    assert_ok(ctx, tes_problem_errors(problem, &l2, &h1));
    print_message("nu = %g, Q%d: %.5e after %d iterations\n", rows[i].nu, rows[i].degree, l2,
                  result.iterations);
    assert_near(l2, rows[i].l2, 1e-3 * rows[i].l2);
    tes_problem_destroy(&problem);
    forget();
    tes_mesh_destroy(&mesh);
  }
}

/* ---- what holds a body --------------------------------------------------------------------------------- */

/* Loads that balance on a body that nothing holds; loads that do not; springs. */
static void bodies_that_nothing_holds(void **state) {
  TesMesh *mesh = box(2, 4);
  TesProblem *problem;
  TesSolveResult result;
  double l2, h1;
  (void)state;
  TesBoundary pulled[] = {{.condition = TES_NEUMANN},
                          {.name = "left", .condition = TES_NEUMANN, .g = {keep(constant(-8))}},
                          {.name = "right", .condition = TES_NEUMANN, .g = {keep(constant(8))}}};
  TesProblemDesc desc = {.equation = TES_ELASTICITY,
                         .mesh = mesh,
                         .degree = 2,
                         .data = {.lambda = keep(constant(1)), .a = keep(constant(1))},
                         /* sxx = 8, syy = 0: ux = 3, vy = -1; with a motion of its own */
                         .exact = {keep(expression("3*x - 0.2*y + 1")), keep(expression("-y + 0.2*x"))},
                         .boundary = pulled,
                         .boundaries = 3,
                         .solver = {.tolerance = 1e-12}};
  problem = solve(&desc, &result);
  assert_ok(ctx, tes_problem_errors(problem, &l2, &h1));
  assert_near(l2, 0, 1e-9);
  tes_problem_destroy(&problem);
  pulled[1].condition = TES_SLIP, pulled[1].g[0] = NULL; /* a roller: two motions are held */
  desc.exact[0] = desc.exact[1] = NULL;
  problem = solve(&desc, &result);
  assert_near(value_of(problem, (TesValue){.kind = TES_VALUE_POINT, .point = {1, 0.5}, .of = "u"}), 3, 1e-8);
  tes_problem_destroy(&problem);
  pulled[1] = (TesBoundary){.name = "left", .condition = TES_NEUMANN};
  assert_int_equal(tes_problem_create(ctx, &desc, &problem), TES_INVALID_INPUT);
  assert_string_equal(
      tes_context_message(ctx),
      "boundary: 3 rigid motions are held by no boundary, and the loads do not balance there: their force is "
      "(8, 0), their moment about the origin -4. Free: it is held nowhere. Give a boundary a displacement, a "
      "roller or springs, or "
      "loads "
      "that balance");
  tes_context_clear(ctx);
  pulled[1] = (TesBoundary){.name = "left", .condition = TES_ROBIN, .alpha = keep(constant(4))};
  problem = solve(&desc, &result); /* springs of stiffness 4 hold 8: the left end moves by 2 */
  assert_near(
      value_of(problem, (TesValue){.kind = TES_VALUE_MEAN, .where = TES_ON_BOUNDARY, .number = 0, .of = "u"}),
      2, 1e-8);
  const TesBalance balance = tes_problem_info(problem).balance;
  assert_near(balance.reaction[0], -8, 1e-8);
  tes_problem_destroy(&problem);
  forget();
  tes_mesh_destroy(&mesh);
}

static void what_is_refused(void **state) {
  TesMesh *plane = box(2, 2), *space = box(3, 2);
  TesProblem *problem;
  (void)state;
  const TesProblemDesc wrong[] = {{.mesh = space, .plane = TES_PLANE_STRESS},
                                  {.mesh = plane, .solver = {.method = TES_METHOD_FMG}},
                                  {.mesh = plane, .solver = {.smoother = TES_SMOOTHER_PATCH}},
                                  {.mesh = plane, .time = {.end = 1, .step = 0.1, .method = TES_TIME_BDF2}},
                                  {.mesh = plane, .time = {.end = 1, .step = 0.1, .rho_inf = 2}}};
  static const char *const messages[] = {
      "plane stress is for two dimensions, the mesh has three",
      "elasticity has auto, gmres, cg and direct, because V-cycles alone are smoothed by chebyshev or jacobi",
      "elasticity has auto, jacobi and chebyshev on boxes; patch belongs to",
      "elasticity has auto, backward_euler, newmark and generalized_alpha; bdf2 belongs to transport",
      "time.rho_inf is 2"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    TesProblemDesc desc = wrong[i];
    desc.equation = TES_ELASTICITY, desc.degree = 1;
    assert_int_equal(tes_problem_create(ctx, &desc, &problem), TES_INVALID_INPUT);
    if (!strstr(tes_context_message(ctx), messages[i])) fail_msg("%s", tes_context_message(ctx));
    tes_context_clear(ctx);
  }
  const TesProblemDesc heat = {
      .equation = TES_TRANSPORT, .mesh = plane, .time = {.end = 1, .step = 0.1, .method = TES_TIME_NEWMARK}};
  assert_int_equal(tes_problem_create(ctx, &heat, &problem), TES_INVALID_INPUT);
  tes_context_clear(ctx);
  tes_mesh_destroy(&plane);
  tes_mesh_destroy(&space);
}

/* ---- multigrid ----------------------------------------------------------------------------------------- */

/* Iterations to 1e-8 on the paper's meshes, and numbers of dense solves there. */
static void adaptive_meshes(void **state) {
  static const struct {
    const char *name, *where;
    int level, degree;
    double compliance;
  } rows[] = {{"face", "%g - z", 3, 1, 4.14101786e-07},
              {"edge", "%g - max(x, y)", 3, 1, 4.09358345e-07},
              {"vertex", "%g - max(x, max(y, z))", 6, 1, 4.07242223e-07},
              {"face", "%g - z", 2, 2, 0},
              {"edge", "%g - max(x, y)", 3, 2, 0},
              {"vertex", "%g - max(x, max(y, z))", 3, 3, 0},
              {"vertex", "%g - max(x, max(y, z))", 2, 4, 0}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (test_brief() && (rows[i].level > 2 || rows[i].degree > 2)) continue;
    TesMesh *mesh = paper_mesh(rows[i].where, rows[i].level);
    TesSolveResult result;
    if (!mesh) continue;
    for (int dynamic = 0; dynamic < 2; dynamic++) {
      TesProblemDesc desc = cube(mesh, rows[i].degree);
      desc.solver.tolerance = 1e-8, desc.solver.tolerance_of = TES_TOLERANCE_LOAD;
      if (dynamic) desc.time = (TesTimeDesc){.end = 0.025, .step = 0.025, .method = TES_TIME_BACKWARD_EULER};
      if (dynamic) desc.solver.guess = -1;
      TesProblem *problem = solve(&desc, &result);
      const double c = -value_of(problem, (TesValue){.kind = TES_VALUE_INTEGRAL, .of = "v"});
      print_message("%s %d, Q%d%s: %d iterations, int f.u %.8e\n", rows[i].name, rows[i].level,
                    rows[i].degree, dynamic ? " with M / dt^2" : "", result.iterations, c);
      assert_true(result.iterations <= (rows[i].degree == 4 ? 10 : 8));
      if (!dynamic && rows[i].compliance > 0) assert_near(c, rows[i].compliance, 1e-7 * c);
      tes_problem_destroy(&problem);
      forget();
    }
    tes_mesh_destroy(&mesh);
  }
}

/* ---- in time ------------------------------------------------------------------------------------------- */

static void run_steps(TesProblem *problem, int steps) {
  TesSolveResult result;
  for (int i = 0; i < steps; i++) assert_ok(ctx, tes_problem_step(problem, &result));
}

/* Backward Euler and the trapezoidal rule on the cube; kinetic, strain and load energy have the sum 0. */
static void the_cube_in_time(void **state) {
  static const struct {
    TesTimeMethod method;
    int degree, n, steps;
    double dt, middle, kinetic, strain;
  } rows[] = {
      {TES_TIME_BACKWARD_EULER, 1, 8, 1, 0.025, -1.1787094611e-06, 2.10964e-10, 2.0229797717e-07},
      {TES_TIME_BACKWARD_EULER, 1, 8, 2, 0.025, -1.1821658097e-06, 1.117076e-15, 2.0314183193e-07},
      {TES_TIME_NEWMARK, 1, 8, 10, 2.5e-4, -2.143829831e-06, 4.307258151e-08, 7.007834455e-07},
      {TES_TIME_GENERALIZED_ALPHA, 1, 8, 10, 2.5e-4, -2.143829831e-06, 4.307258151e-08, 7.007834455e-07},
      {TES_TIME_NEWMARK, 4, 4, 4, 2.5e-4, -4.97017664e-07, 1.76479944e-07, 1.353679321e-07}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (test_brief() && (i < 1 || rows[i].degree > 1)) continue;
    TesMesh *mesh = box(3, rows[i].n);
    TesProblem *problem;
    TesProblemDesc desc = cube(mesh, rows[i].degree);
    desc.time = (TesTimeDesc){
        .end = rows[i].steps * rows[i].dt, .step = rows[i].dt, .method = rows[i].method, .rho_inf = 1};
    desc.solver.tolerance = 1e-13;
    assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
    run_steps(problem, rows[i].steps);
    const double middle = value_of(problem,
                                   (TesValue){.kind = TES_VALUE_POINT, .point = {0.5, 0.5, 0.5}, .of = "v"}),
                 kinetic = value_of(
                     problem, (TesValue){.kind = TES_VALUE_INTEGRAL, .of = "(ut*ut + vt*vt + wt*wt)/2"}),
                 strain = value_of(problem, (TesValue){.kind = TES_VALUE_INTEGRAL, .of = "strain_energy"}),
                 load = -value_of(problem, (TesValue){.kind = TES_VALUE_INTEGRAL, .of = "v"});
    print_message("method %d: %.9e %.9e %.9e, sum of energies %.1e\n", (int)rows[i].method, middle, kinetic,
                  strain, (kinetic + strain - load) / strain);
    assert_near(middle, rows[i].middle, 2e-9 * fabs(middle));
    assert_near(kinetic, rows[i].kinetic, 1e-6 * kinetic + 1e-20);
    assert_near(strain, rows[i].strain, 2e-9 * strain);
    if (rows[i].method != TES_TIME_BACKWARD_EULER) assert_near(kinetic + strain - load, 0, 1e-12 * strain);
    tes_problem_destroy(&problem);
    forget();
    tes_mesh_destroy(&mesh);
  }
}

/* A standing wave in 2D whose boundary moves: orders of the methods. lambda = mu = density = 1,
 * u = (sin x cos y, cos x sin y) cos(t): div sigma = -2 (lambda + 2 mu) u, f = u_tt - div sigma = 5 u. */
static double wave_error(TesTimeMethod method, int steps) {
  TesMesh *mesh = box(2, 2);
  TesProblem *problem;
  double l2, h1;
  TesProblemDesc desc = {
      .equation = TES_ELASTICITY,
      .mesh = mesh,
      .degree = 6,
      .data = {.lambda = keep(constant(1)),
               .f = {keep(expression("5*sin(x)*cos(y)*cos(t)")), keep(expression("5*cos(x)*sin(y)*cos(t)"))}},
      .exact = {keep(expression("sin(x)*cos(y)*cos(t)")), keep(expression("cos(x)*sin(y)*cos(t)"))},
      .time = {.start = 0.3, .end = 1.3, .step = 1. / steps, .method = method},
      .solver = {.tolerance = 1e-9, .precision = TES_SOLVE_DOUBLE}};
  const TesBoundary boundary = {.g = {desc.exact[0], desc.exact[1]}};
  desc.boundary = &boundary, desc.boundaries = 1;
  assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
  run_steps(problem, steps);
  assert_ok(ctx, tes_problem_errors(problem, &l2, &h1));
  tes_problem_destroy(&problem);
  forget();
  tes_mesh_destroy(&mesh);
  return l2;
}

static void the_orders_in_time(void **state) {
  static const TesTimeMethod methods[] = {TES_TIME_BACKWARD_EULER, TES_TIME_NEWMARK, TES_TIME_AUTO};
  static const double orders[] = {0.8, 1.8, 1.8};
  (void)state;
  for (int i = 0; i < 3; i++) {
    const double coarse = wave_error(methods[i], 20), fine = wave_error(methods[i], 40);
    print_message("method %d: %.3e %.3e, order %.2f\n", (int)methods[i], coarse, fine, log2(coarse / fine));
    assert_true(log2(coarse / fine) > orders[i]);
  }
}

/* A checkpoint in the middle: the same bits at the end. */
static void restarts_repeat_their_bits(void **state) {
  const char *file = "t7_elasticity.h5";
  TesMesh *mesh = box(2, 4);
  TesProblem *whole, *again;
  TesCheckpoint *read;
  (void)state;
  TesProblemDesc desc = {.equation = TES_ELASTICITY,
                         .mesh = mesh,
                         .degree = 2,
                         .data = {.lambda = keep(constant(1)), .f = {keep(expression("sin(3*t)*x")), NULL}},
                         .time = {.end = 1, .step = 0.1}};
  if (tes_checkpoint_check(ctx, file) != TES_OK) {
    tes_context_clear(ctx);
    forget();
    tes_mesh_destroy(&mesh);
    skip();
  }
  assert_ok(ctx, tes_problem_create(ctx, &desc, &whole));
  run_steps(whole, 5);
  assert_ok(ctx, tes_problem_write(whole, file));
  run_steps(whole, 5);
  assert_ok(ctx, tes_checkpoint_read(ctx, file, 2, &read));
  desc.mesh = tes_space_mesh(tes_checkpoint_space(read));
  assert_ok(ctx, tes_problem_create(ctx, &desc, &again));
  assert_ok(ctx, tes_problem_read(again, read));
  run_steps(again, 5);
  const int64_t n = tes_vector_length(tes_problem_solution(whole));
  double *a = calloc((size_t)n, sizeof *a), *b = calloc((size_t)n, sizeof *b);
  assert_ok(ctx, tes_vector_get(tes_problem_solution(whole), a));
  assert_ok(ctx, tes_vector_get(tes_problem_solution(again), b));
  assert_memory_equal(a, b, (size_t)n * sizeof *a);
  free(a), free(b);
  tes_problem_destroy(&again);
  tes_checkpoint_destroy(&read);
  tes_problem_destroy(&whole);
  forget();
  tes_mesh_destroy(&mesh);
  remove(file);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_cube_of_the_paper),     cmocka_unit_test(the_orders_of_convergence),
      cmocka_unit_test(linear_fields_are_exact),   cmocka_unit_test(timoshenkos_beam),
      cmocka_unit_test(a_beam_in_space),           cmocka_unit_test(nearly_incompressible),
      cmocka_unit_test(bodies_that_nothing_holds), cmocka_unit_test(what_is_refused),
      cmocka_unit_test(adaptive_meshes),           cmocka_unit_test(the_cube_in_time),
      cmocka_unit_test(the_orders_in_time),        cmocka_unit_test(restarts_repeat_their_bits)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
