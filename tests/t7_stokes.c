/* Run: ctest -R t7_stokes. Stokes from data to solution. Histories, counts and errors are those of two independent
 * prototypes, which agree in all digits:
 * the residuals of GMRES with V(1,1), float64, standard penalties; errors of the Galerkin solution.
 * Quick: 1-9
 * Labels: threads */
#include <stdio.h>
#include "kernels/flow_solution.h"
#include "multigrid/multigrid.h"
#include "context_testing.h"
#include "problem/problem.h"
#include "stokes_testing.h"

typedef struct Outcome {
  int iterations;
  double fractional, residual[40], last, square,
      load; /* last: |b - K u| / |b| of walls at rest; square: int |u|^2; load: |b| */
  TesFlowResult flow;
} Outcome;

/* |b - K u| / |b| of the solution, after the divergence was taken away. */
static double last_residual(const TesProblem *p) {
  TesVector *r;
  double norm, b;
  assert_ok(ctx, tes_vector_create(ctx, tes_vector_length(p->u), TES_DOUBLE, &r));
  assert_ok(ctx, tes_operator_residual(p->op, p->b, p->u, r));
  assert_ok(ctx, tes_vector_norm(r, &norm));
  assert_ok(ctx, tes_vector_norm(p->b, &b));
  tes_vector_destroy(&r);
  return norm / b;
}

/* Solves a problem on a mesh of its own, and evaluates it at points if there are any. */
static void solve(const Flow *f, TesProblemDesc desc, Outcome *out, int points, const double *x, double *u,
                  double *p) {
  TesMesh *mesh = flow_mesh(ctx, f);
  TesProblem *problem;
  TesSolveResult result;
  desc.equation = TES_STOKES, desc.mesh = mesh, desc.degree = f->degree;
  assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
  assert_ok(ctx, tes_problem_solve(problem, &result));
  assert_true(result.iterations < 40);
  out->iterations = result.iterations;
  out->fractional = result.fractional_iterations;
  memcpy(out->residual, result.residuals, ((size_t)result.iterations + 1) * sizeof *result.residuals);
  assert_ok(ctx, tes_problem_flow(problem, &out->flow));
  out->last = problem->lifting.lifted ? NAN : last_residual(problem);
  assert_ok(ctx, tes_vector_norm(problem->b, &out->load));
  if (points) {
    const TesValue square = {.kind = TES_VALUE_INTEGRAL, .of = f->dim == 2 ? "u*u + v*v" : "u*u + v*v + w*w"};
    flow_at(ctx, problem, points, x, u, p);
    assert_ok(ctx, tes_problem_value(problem, &square, &out->square));
  }
  tes_problem_destroy(&problem);
  tes_mesh_destroy(&mesh);
}

static Outcome manufactured(const Flow *f, double tolerance, int pre, TesSolvePrecision precision) {
  Outcome out;
  TesProblemDesc desc = {.solver = {.tolerance = tolerance,
                                    .pre = pre ? pre : -1,
                                    .post = 1,
                                    .precision = precision,
                                    .colours = TES_COLOURS_LEXICOGRAPHIC, /* their order */
                                    .penalty = TES_PENALTY_STANDARD}};
  assert_ok(ctx, flow_manufacture(ctx, f->dim, 0.5, 0, &desc));
  solve(f, desc, &out, 0, NULL, NULL, NULL);
  flow_forget(&desc);
  return out;
}

static void histories_are_those_of_the_prototypes(void **state) {
  (void)state;
  static const struct {
    Flow f;
    int count;
    double residual[7], load;
  } known[] = {
      {{.dim = 2, .degree = 2, .cells = {16, 16}},
       6,
       {1, 1.3126e-2, 9.4351e-4, 3.8192e-5, 1.1414e-6, 3.1439e-8, 6.8764e-10},
       0.68160469889},
      {{.dim = 2, .degree = 4, .cells = {16, 16}}, 3, {1, 6.4075e-4, 2.3959e-6, 6.4748e-9}, 0.53380574490},
      {{.dim = 3, .degree = 1, .cells = {8, 8, 8}},
       6,
       {1, 1.6311e-3, 1.8857e-4, 1.3936e-5, 1.3097e-6, 1.1555e-7, 8.2626e-9},
       1.0071397298},
      {{.dim = 3, .degree = 2, .cells = {8, 8, 8}},
       4,
       {1, 4.2996e-4, 1.0974e-5, 3.4652e-7, 5.6521e-9},
       0.83298578358}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    const Outcome out = manufactured(&known[i].f, 1e-8, 1, TES_SOLVE_DOUBLE);
    assert_int_equal(out.iterations, known[i].count);
    assert_near(out.load, known[i].load, 1e-10);
    for (int n = 0; n <= known[i].count; n++)
      assert_near(out.residual[n], known[i].residual[n], 1e-3 * known[i].residual[n]);
    assert_true(out.flow.divergence_relative < 1e-12);
  }
}

/* Also with a float32 cycle: the same counts to 0.05, and a divergence of the size of round-off. */
static void counts_do_not_depend_on_the_precision(void **state) {
  (void)state;
  static const struct {
    Flow f;
    int pre;
    double fractional;
  } known[] = {{{.dim = 2, .degree = 1, .cells = {16, 16}}, 1, 7.22},
               {{.dim = 2, .degree = 2, .cells = {16, 16}}, 1, 5.24},
               {{.dim = 2, .degree = 3, .cells = {16, 16}}, 1, 3.75},
               {{.dim = 3, .degree = 1, .cells = {8, 8, 8}}, 1, 5.94}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    for (TesSolvePrecision precision = TES_SOLVE_MIXED; precision <= TES_SOLVE_DOUBLE; precision++) {
      const Outcome out = manufactured(&known[i].f, 1e-8, known[i].pre, precision);
      assert_near(out.fractional, known[i].fractional, 0.05);
      assert_true(out.residual[out.iterations] < 1.05e-8 && out.last < 1.05e-8);
      assert_true(out.flow.divergence_relative < 1e-12);
    }
}

static void errors_are_those_of_the_galerkin_solution(void **state) {
  (void)state;
  static const struct {
    Flow f;
    double velocity, pressure;
  } known[] = {{{.dim = 2, .degree = 1, .cells = {16, 16}}, 5.646e-5, 4.058e-3},
               {{.dim = 2, .degree = 2, .cells = {8, 8}}, 1.186e-5, 1.071e-3},
               {{.dim = 2, .degree = 2, .cells = {16, 16}}, 1.383e-6, 1.346e-4},
               {{.dim = 2, .degree = 3, .cells = {16, 16}}, 6.720e-8, 3.337e-6},
               {{.dim = 2, .degree = 4, .cells = {8, 8}}, 4.609e-8, 2.098e-6},
               {{.dim = 3, .degree = 1, .cells = {8, 8, 8}}, 1.109e-5, 1.395e-2}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    const Outcome out = manufactured(&known[i].f, 1e-12, 1, TES_SOLVE_DOUBLE);
    assert_near(out.flow.velocity_l2, known[i].velocity, 0.01 * known[i].velocity);
    assert_near(out.flow.pressure_l2, known[i].pressure, 0.01 * known[i].pressure);
  }
}

/* Colours and local solvers change the way, not the solution; also where one table serves many patches. */
static void ways_of_smoothing_agree(void **state) {
  (void)state;
  static const Flow flows[] = {{.dim = 2, .degree = 1, .cells = {16, 12}},
                               {.dim = 2, .degree = 3, .cells = {8, 9}, .graded = true},
                               {.dim = 3, .degree = 2, .cells = {4, 5, 4}, .graded = true}};
  enum { EXACT, RED_BLACK, CG, DENSE, TABLES, WAYS };
  for (size_t i = test_brief(); i < (test_brief() ? 2 : sizeof flows / sizeof *flows); i++) {
    Outcome out[WAYS];
    for (int way = EXACT; way < WAYS; way++) {
      TesProblemDesc desc = {
          .solver = {.tolerance = 1e-9,
                     .colours = way == RED_BLACK ? TES_COLOURS_RED_BLACK : TES_COLOURS_PARQUET,
                     .local = way == CG      ? TES_LOCAL_CG
                              : way == DENSE ? TES_LOCAL_DENSE
                                             : TES_LOCAL_AUTO}};
      assert_ok(ctx, flow_manufacture(ctx, flows[i].dim, 0.5, 0, &desc));
      if (way == TABLES) setenv("TESSERA_STOKES_TABLES", "1", 1);
      solve(&flows[i], desc, &out[way], 0, NULL, NULL, NULL);
      unsetenv("TESSERA_STOKES_TABLES");
      flow_forget(&desc);
      const TesFlowResult *is = &out[way].flow, *expected = &out[EXACT].flow;
      assert_in_range(out[way].iterations, 1, out[EXACT].iterations + 2);
      assert_near(is->velocity_l2, expected->velocity_l2, 1e-4 * expected->velocity_l2);
      assert_near(is->pressure_l2, expected->pressure_l2, 1e-4 * expected->pressure_l2);
      assert_true(is->divergence_relative < 1e-12);
    }
  }
}

/* Closed cells: counts of the prototypes, which have 2^dim colours, for random right-hand sides, V(1,1). */
static void closed_cells_converge(void **state) {
  (void)state;
  static const struct {
    Flow f;
    double fractional, tolerance;
  } known[] = {{{.dim = 2, .degree = 1, .cells = {32, 32}}, 8.8, 0.7},
               {{.dim = 2, .degree = 2, .cells = {32, 32}}, 10.6, 1.1},
               {{.dim = 3, .degree = 1, .cells = {8, 8, 8}}, 7.6, 0.4},
               {{.dim = 3, .degree = 2, .cells = {8, 8, 8}}, 8.1, 0.4}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    Outcome out;
    uint64_t seed = 1;
    const TesProblemDesc desc = {
        .add_load = flow_random_load,
        .add_load_user = &seed,
        .solver = {.smoother = TES_SMOOTHER_CELL_PATCH, .tolerance = 1e-8, .penalty = TES_PENALTY_STANDARD}};
    solve(&known[i].f, desc, &out, 0, NULL, NULL, NULL);
    assert_near(out.fractional, known[i].fractional, known[i].tolerance);
    assert_true(out.last < 1.05e-8 && out.flow.divergence_relative < 1e-8);
  }
}

/* ---- cycles in 3D -------------------------------------------------------------------------------------- */

/* To 1e-6, 8^3 cells, as the program solves. For random right-hand sides RT_3 takes one more without smoothing before
 * the first coarse correction, RT_2 with one sweep on the levels below. */
static void few_iterations_in_3d(void **state) {
  (void)state;
  static const int most[2][4] = {{4, 3, 2, 2}, {5, 4, 3, 3}};
  for (int degree = 1; degree <= (test_brief() ? 2 : 4); degree++)
    for (int random = 0; random < 2; random++) {
      const Flow f = {.dim = 3, .degree = degree, .cells = {8, 8, 8}};
      double fractional[2];
      for (int numbered = 0; numbered < 2; numbered++) {
        Outcome out;
        uint64_t seed = 1;
        TesProblemDesc desc = {
            .solver = {.tolerance = 1e-6,
                       .colours = numbered ? TES_COLOURS_LEXICOGRAPHIC : TES_COLOURS_PARQUET}};
        if (random)
          desc.add_load = flow_random_load, desc.add_load_user = &seed;
        else
          assert_ok(ctx, flow_manufacture(ctx, 3, 0.5, 0, &desc));
        solve(&f, desc, &out, 0, NULL, NULL, NULL);
        if (!random) flow_forget(&desc);
        fractional[numbered] = out.fractional;
        if (!numbered && out.iterations > most[random][degree - 1])
          fail_msg("RT_%d, random %d: %d iterations, %.3g", degree, random, out.iterations, out.fractional);
      }
      if (degree < 4 && !(fractional[0] < fractional[1]))
        fail_msg("RT_%d, random %d: %.3g, in lexicographic order %.3g", degree, random, fractional[0],
                 fractional[1]);
    }
}

/* Integrals of smooth functions are not rough, random numbers are. */
static void right_hand_sides_are_told_apart(void **state) {
  (void)state;
  for (int degree = 1; degree <= 4; degree++)
    for (int random = 0; random < 2; random++) {
      const Flow f = {.dim = 3, .degree = degree, .cells = {8, 6, 8}};
      TesMesh *mesh = flow_mesh(ctx, &f);
      TesProblem *problem;
      uint64_t seed = 2;
      bool rough;
      TesProblemDesc desc = {.equation = TES_STOKES, .mesh = mesh, .degree = degree};
      desc.solver.precision = TES_SOLVE_DOUBLE;
      assert_ok(ctx, flow_manufacture(ctx, 3, 0.5, 0, &desc));
      if (random) desc.add_load = flow_random_load, desc.add_load_user = &seed;
      assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
      assert_ok(ctx, tesi_multigrid_is_rough(problem->multigrid, problem->b, &rough));
      assert_int_equal(rough, random);
      flow_forget(&desc);
      tes_problem_destroy(&problem);
      tes_mesh_destroy(&mesh);
    }
}

/* ---- boundary conditions ------------------------------------------------------------------------------- */

static TesFunction *function(const char *text) {
  TesFunction *f;
  assert_ok(ctx, tes_function_create_expression(ctx, text, &f));
  return f;
}

/* A flow of polynomials of the space: errors are round-off. The half channel has slip in its middle. Outside the
 * outflow the pressure is 3, made of both that it can be. */
static void poiseuille_is_exact(void **state) {
  (void)state;
  TesFunction *u = function("4*y*(1-y)"), *p = function("8*(2-x) + 3"), *zero = function("0"),
              *stress = function("2*nx"), *outside = function("5*nx");
  for (int half = 0; half < 2; half++) {
    TesMesh *mesh;
    TesProblem *problem;
    TesSolveResult result;
    TesFlowResult flow;
    const TesBoundary boundary[] = {{.condition = TES_DIRICHLET},
                                    {.name = "left", .condition = TES_DIRICHLET, .g = {u}},
                                    {.name = "right", .condition = TES_NEUMANN, .g = {stress, NULL, outside}},
                                    {.name = "top", .condition = TES_SLIP}};
    const TesProblemDesc desc = {.equation = TES_STOKES,
                                 .degree = 2,
                                 .boundary = boundary,
                                 .boundaries = 3 + half,
                                 .exact = {u, zero, p},
                                 .solver = {.tolerance = 1e-13, .precision = TES_SOLVE_DOUBLE}};
    TesProblemDesc on = desc;
    assert_ok(ctx, tes_mesh_create(ctx,
                                   &(TesMeshDesc){.kind = TES_MESH_BOX,
                                                  .dim = 2,
                                                  .cells = {8, half ? 2 : 4},
                                                  .upper = {2, half ? 0.5 : 1}},
                                   &mesh));
    on.mesh = mesh;
    assert_ok(ctx, tes_problem_create(ctx, &on, &problem));
    assert_ok(ctx, tes_problem_solve(problem, &result));
    assert_ok(ctx, tes_problem_flow(problem, &flow));
    assert_near(flow.velocity_l2, 0, 1e-12);
    assert_near(flow.pressure_l2, 0, 1e-12);
    assert_near(flow.flux[0], half ? -1. / 3 : -2. / 3, 1e-13);
    assert_near(flow.flux[0] + flow.flux[1], 0, 1e-12);
    tes_problem_destroy(&problem);
    tes_mesh_destroy(&mesh);
  }
  tes_function_destroy(&u);
  tes_function_destroy(&p);
  tes_function_destroy(&zero);
  tes_function_destroy(&stress);
  tes_function_destroy(&outside);
}

/* Velocities on the whole boundary, normal and tangential. */
static void velocities_on_all_faces(void **state) {
  (void)state;
  static const struct {
    Flow f;
    double velocity, pressure, fractional;
  } known[] = {{{.dim = 2, .degree = 2, .cells = {8, 8}}, 1.369e-4, 2.651e-4, 4.91},
               {{.dim = 2, .degree = 2, .cells = {16, 16}}, 1.693e-5, 3.112e-5, 5.14},
               {{.dim = 2, .degree = 3, .cells = {8, 8}}, 4.982e-6, 1.579e-5, 3.45}};
  TesFunction *u = function("sin(pi*x)*cos(pi*y) + y"), *v = function("-cos(pi*x)*sin(pi*y) + x"),
              *p = function("exp(x)*cos(pi*y)"),
              *fx = function("2*pi*pi*sin(pi*x)*cos(pi*y) + exp(x)*cos(pi*y)"),
              *fy = function("-2*pi*pi*cos(pi*x)*sin(pi*y) - pi*exp(x)*sin(pi*y)");
  const TesBoundary all = {.condition = TES_DIRICHLET, .g = {u, v}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    Outcome out;
    TesProblemDesc desc = {
        .boundary = &all,
        .boundaries = 1,
        .data = {.f = {fx, fy}},
        .exact = {u, v, p},
        .solver = {
            .tolerance = 1e-8, .pre = 1, .precision = TES_SOLVE_DOUBLE, .penalty = TES_PENALTY_STANDARD}};
    solve(&known[i].f, desc, &out, 0, NULL, NULL, NULL);
    assert_near(out.fractional, known[i].fractional, 0.05);
    assert_near(out.flow.velocity_l2, known[i].velocity, 0.01 * known[i].velocity);
    assert_near(out.flow.pressure_l2, known[i].pressure, 0.01 * known[i].pressure);
    assert_true(out.flow.divergence_relative < 1e-12);
  }
  TesFunction *all_functions[] = {u, v, p, fx, fy};
  for (int i = 0; i < 5; i++) tes_function_destroy(&all_functions[i]);
}

/* A channel with an outflow, and a driven cavity. */
static void known_values(void **state) {
  (void)state;
  TesFunction *sine = function("sin(pi*y)"), *one = function("1");
  const TesBoundary channel[] = {{.condition = TES_DIRICHLET},
                                 {.name = "left", .condition = TES_DIRICHLET, .g = {sine}},
                                 {.name = "right", .condition = TES_NEUMANN}},
                    cavity[] = {{.condition = TES_DIRICHLET},
                                {.name = "top", .condition = TES_DIRICHLET, .g = {one}}};
  const TesSolveOptions exact = {
      .tolerance = 1e-11, .precision = TES_SOLVE_DOUBLE, .penalty = TES_PENALTY_STANDARD};
  double u[3][2], p[3];
  Outcome out;
  TesMesh *mesh;
  TesProblem *problem;
  TesSolveResult result;
  assert_ok(ctx, tes_mesh_create(
                     ctx, &(TesMeshDesc){.kind = TES_MESH_BOX, .dim = 2, .cells = {32, 16}, .upper = {2, 1}},
                     &mesh));
  assert_ok(ctx, tes_problem_create(ctx,
                                    &(TesProblemDesc){.equation = TES_STOKES,
                                                      .mesh = mesh,
                                                      .degree = 3,
                                                      .boundary = channel,
                                                      .boundaries = 3,
                                                      .solver = exact},
                                    &problem));
  assert_ok(ctx, tes_problem_solve(problem, &result));
  flow_at(ctx, problem, 3, (const double[]){1, 0.5, 0.25, 0.25, 0.5, 0.5}, u[0], p);
  assert_near(u[0][0], 0.954940876, 1e-7);
  assert_near(u[1][1], -0.01416146, 1e-7);
  assert_near(p[2], 11.46008184, 1e-7);
  tes_problem_destroy(&problem);
  tes_mesh_destroy(&mesh);
  solve(&(Flow){.dim = 2, .degree = 3, .cells = {32, 32}},
        (TesProblemDesc){.boundary = cavity, .boundaries = 2, .solver = exact}, &out, 2,
        (const double[]){0.5, 0.75, 0.25, 0.5}, u[0], p);
  assert_near(u[0][0], -0.032443665, 1e-7);
  assert_near(u[1][1], 0.178852131, 1e-7);
  tes_function_destroy(&sine);
  tes_function_destroy(&one);
}

/* Periodic directions, walls and slip. */
static void periodic_flows(void **state) {
  (void)state;
  TesFunction *fx = function("sin(2*pi*y)*(1 + cos(2*pi*x))"), *fy = function("y*sin(2*pi*x)"),
              *gx = function("1 + sin(2*pi*y)*cos(2*pi*z)"), *gy = function("sin(2*pi*x)"),
              *gz = function("y*cos(2*pi*x)");
  const TesBoundary slip[] = {{.condition = TES_DIRICHLET}, {.name = "top", .condition = TES_SLIP}};
  TesSolveOptions exact = {
      .tolerance = 1e-8, .pre = 1, .precision = TES_SOLVE_DOUBLE, .penalty = TES_PENALTY_STANDARD};
  double u[2][3], p[2], v[2][2];
  Outcome out;
  solve(&(Flow){.dim = 2, .degree = 3, .cells = {16, 16}, .given = "ppvsvv"},
        (TesProblemDesc){.boundary = slip, .boundaries = 2, .data = {.f = {fx, fy}}, .solver = exact}, &out,
        2, (const double[]){0.5, 0.5, 0.25, 0.5}, v[0], p);
  assert_near(v[0][0], -0.081689047, 2e-7);
  assert_near(v[1][1], 0.017933659, 2e-7);
  assert_near(out.fractional, 4.30, 0.05);
  solve(&(Flow){.dim = 3, .degree = 2, .cells = {8, 8, 8}, .given = "ppvvpp"},
        (TesProblemDesc){.data = {.f = {gx, gy, gz}}, .solver = exact}, &out, 2,
        (const double[]){0.25, 0.5, 0.5, 0.5, 0.5, 0.5}, u[0], p);
  assert_near(u[0][1], 0.016462691, 1e-7);
  assert_near(u[1][2], -0.011572621, 1e-7);
  assert_near(u[1][0], 0.125, 1e-7);
  assert_near(out.square, 0.0084995166, 1e-8);
  TesFunction *all[] = {fx, fy, gx, gy, gz};
  for (int i = 0; i < 5; i++) tes_function_destroy(&all[i]);
}

/* f = grad phi gives u = 0, whatever the pressure. */
/* Walls, an open end with slip, a periodic direction: of all degrees, cells that are graded, counts that are odd. */
static void velocities_are_free_of_divergence(void **state) {
  (void)state;
  static const Flow flows[] = {{.dim = 2, .degree = 1, .cells = {8, 6}},
                               {.dim = 2, .degree = 2, .cells = {7, 8}, .graded = true},
                               {.dim = 2, .degree = 3, .cells = {9, 5}},
                               {.dim = 2, .degree = 4, .cells = {6, 4}},
                               {.dim = 2, .degree = 5, .cells = {4, 5}, .graded = true},
                               {.dim = 2, .degree = 6, .cells = {4, 4}},
                               {.dim = 2, .degree = 7, .cells = {3, 4}},
                               {.dim = 2, .degree = 8, .cells = {4, 2}},
                               {.dim = 3, .degree = 1, .cells = {4, 5, 4}, .graded = true},
                               {.dim = 3, .degree = 2, .cells = {4, 3, 4}},
                               {.dim = 3, .degree = 3, .cells = {2, 3, 2}},
                               {.dim = 3, .degree = 4, .cells = {2, 2, 2}}};
  enum { WALLS, OPEN, RING, KINDS };
  TesFunction *inflow = function("y*(1-y)"),
              *f[] = {function("exp(x)*y"), function("sin(5*x)"), function("x*y")};
  const TesBoundary open[] = {{.condition = TES_DIRICHLET},
                              {.name = "left", .condition = TES_DIRICHLET, .g = {inflow}},
                              {.name = "right", .condition = TES_NEUMANN},
                              {.name = "top", .condition = TES_SLIP}};
  for (size_t i = 0; i < sizeof flows / sizeof *flows; i += test_brief() ? 3 : 1)
    for (int way = 0; way < 2 * KINDS; way++) {
      const TesSolvePrecision precision = way < KINDS ? TES_SOLVE_MIXED : TES_SOLVE_DOUBLE;
      Outcome out;
      Flow flow = flows[i];
      TesProblemDesc desc = {.data = {.f = {f[0], f[1], flow.dim > 2 ? f[2] : NULL}},
                             .solver = {.tolerance = way < KINDS ? 1e-6 : 1e-9, .precision = precision}};
      if (way % KINDS == OPEN) desc.boundary = open, desc.boundaries = 4;
      if (way % KINDS == RING) flow.given = "ppvvvv";
      solve(&flow, desc, &out, 0, NULL, NULL, NULL);
      if (!(out.flow.divergence_relative <= 1e-12))
        fail_msg("RT_%d in %dD, way %d: divergence %.3g", flow.degree, flow.dim, way,
                 out.flow.divergence_relative);
    }
  tes_function_destroy(&inflow);
  for (int i = 0; i < 3; i++) tes_function_destroy(&f[i]);
}

static void gradients_do_not_move(void **state) {
  (void)state;
  TesFunction *fx = function("1e3*(3*x*x*y + 2)"), *fy = function("1e3*x*x*x");
  const double x[] = {0.3, 0.4, 0.71, 0.9};
  double u[2][2], p[2];
  Outcome out;
  solve(&(Flow){.dim = 2, .degree = 2, .cells = {6, 4}},
        (TesProblemDesc){.data = {.f = {fx, fy}},
                         .solver = {.tolerance = 1e-12, .precision = TES_SOLVE_DOUBLE}},
        &out, 2, x, u[0], p);
  for (int i = 0; i < 4; i++) assert_near(u[i / 2][i % 2], 0, 1e-9);
  tes_function_destroy(&fx);
  tes_function_destroy(&fy);
}

/* The work of full multigrid is two sweeps; its errors are those of the Galerkin solution, nearly. */
static void full_multigrid_reaches_the_error(void **state) {
  (void)state;
  static const struct {
    Flow f;
    double velocity, pressure;
  } known[] = {{{.dim = 2, .degree = 1, .cells = {32, 32}}, 1.458e-5, 1.017e-3},
               {{.dim = 2, .degree = 2, .cells = {32, 32}}, 1.693e-7, 1.685e-5},
               {{.dim = 2, .degree = 3, .cells = {32, 32}}, 4.343e-9, 2.089e-7},
               {{.dim = 2, .degree = 4, .cells = {32, 32}}, 4.197e-11, 2.058e-9},
               {{.dim = 3, .degree = 1, .cells = {8, 8, 8}}, 1.109e-5, 1.395e-2},
               {{.dim = 3, .degree = 2, .cells = {8, 8, 8}}, 6.634e-7, 9.276e-4},
               {{.dim = 3, .degree = 3, .cells = {8, 8, 8}}, 5.519e-8, 4.595e-5},
               {{.dim = 3, .degree = 1, .cells = {16, 16, 16}}, 3.046e-6, 3.512e-3}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i += test_brief() ? 3 : 1) {
    Outcome out;
    TesProblemDesc desc = {.solver = {.method = TES_METHOD_FMG, .tolerance = 1e-3}};
    assert_ok(ctx, flow_manufacture(ctx, known[i].f.dim, 0.5, 0, &desc));
    solve(&known[i].f, desc, &out, 0, NULL, NULL, NULL);
    assert_int_equal(out.iterations, 0);
    assert_true(out.flow.velocity_l2 < 1.05 * known[i].velocity);
    assert_true(out.flow.pressure_l2 < 1.05 * known[i].pressure);
    flow_forget(&desc);
  }
}

static void bad_input_is_told(void **state) {
  (void)state;
  TesFunction *one = function("1"), *varies = function("1 + x"), *negative = function("-1");
  const TesBoundary lid = {.name = "top", .condition = TES_DIRICHLET, .g = {NULL, one}},
                    robin = {.name = "top", .condition = TES_ROBIN},
                    free_component = {.name = "top", .components = 1},
                    pressure = {.name = "top", .g = {NULL, NULL, one}},
                    slip = {.name = "top", .condition = TES_SLIP, .g = {one}};
  const struct {
    TesProblemDesc desc;
    const char *message;
  } wrong[] = {
      {{.boundary = &lid, .boundaries = 1}, "its net flux is 1, of 1 through the boundary"},
      {{.boundary = &robin, .boundaries = 1},
       "boundary.top: stokes with element rt has velocity, slip, outflow, pressure and symmetry; robin "
       "belongs to"},
      {{.boundary = &free_component, .boundaries = 1}, "boundary.top: a component of the velocity is free"},
      {{.boundary = &pressure, .boundaries = 1}, "boundary.top: the pressure, component 2, is for a Neumann"},
      {{.boundary = &slip, .boundaries = 1}, "boundary.top: slip has no values"},
      {{.data = {.c = varies}}, "alpha is 1 + x, expected a number >= 0"},
      {{.solver = {.local = TES_LOCAL_SCALED}}, "scaled is for viscosities that vary"},
      {{.flow_form = 3}, "flow_form is 3, expected 0..2"},
      {{.data = {.a = negative}}, "the viscosity nu is -1, expected > 0"},
      {{.data = {.c = negative}}, "alpha is -1, expected >= 0"},
      {{.solver = {.method = TES_METHOD_CG}},
       "stokes with element rt has auto, fmg and gmres, because the operator is indefinite; cg belongs to"},
      {{.solver = {.smoother = TES_SMOOTHER_JACOBI}},
       "solver.smoother: stokes with element rt has auto, patch and cell_patch on boxes"},
      {{.data = {.a = varies}, .solver = {.smoother = TES_SMOOTHER_CELL_PATCH}},
       "solver.smoother: cell_patch is for a constant viscosity"},
      {{.solver = {.local = TES_LOCAL_MEAN}},
       "solver.local_solver: stokes with element rt has auto, exact, scaled, cg and dense; mean belongs to"}};
  TesMesh *mesh = flow_mesh(ctx, &(Flow){.dim = 2, .cells = {4, 4}});
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    TesProblem *problem;
    TesProblemDesc desc = wrong[i].desc;
    desc.equation = TES_STOKES, desc.mesh = mesh;
    assert_int_equal(tes_problem_create(ctx, &desc, &problem), TES_INVALID_INPUT);
    if (!strstr(tes_context_message(ctx), wrong[i].message))
      fail_msg("expected '%s', got '%s'", wrong[i].message, tes_context_message(ctx));
    tes_context_clear(ctx);
  }
  tes_mesh_destroy(&mesh);
  tes_function_destroy(&one);
  tes_function_destroy(&varies);
  tes_function_destroy(&negative);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(histories_are_those_of_the_prototypes),
                                     cmocka_unit_test(counts_do_not_depend_on_the_precision),
                                     cmocka_unit_test(errors_are_those_of_the_galerkin_solution),
                                     cmocka_unit_test(closed_cells_converge),
                                     cmocka_unit_test(few_iterations_in_3d),
                                     cmocka_unit_test(right_hand_sides_are_told_apart),
                                     cmocka_unit_test(poiseuille_is_exact),
                                     cmocka_unit_test(velocities_on_all_faces),
                                     cmocka_unit_test(known_values),
                                     cmocka_unit_test(periodic_flows),
                                     cmocka_unit_test(ways_of_smoothing_agree),
                                     cmocka_unit_test(velocities_are_free_of_divergence),
                                     cmocka_unit_test(gradients_do_not_move),
                                     cmocka_unit_test(full_multigrid_reaches_the_error),
                                     cmocka_unit_test(bad_input_is_told)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
