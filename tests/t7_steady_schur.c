/* Run: ctest -R t7_steady_schur. Steady flows with element q: the Schur complement on a coarse mesh against the whole
 * system, factors at edges of walls, and iterations that neither the mesh nor a long domain raises. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "krylov/solver.h"
#include "multigrid/coarse/factorization.h"
#include "multigrid/multigrid.h"
#include "operator/operator.h"
#include "problem/flow/split/split.h"
#include "problem/flow/steady/steady_schur.h"
#include "testing.h"

static TesContext *ctx;

typedef struct Flow {
  TesMesh *mesh;
  TesFunction *f, *inlet;
  TesProblem *problem;
} Flow;

/* open: a profile on the left, an outflow on the right. */
static bool make_on(const TesMeshDesc *mesh, bool open, double alpha, const TesSolveOptions *solver, Flow *s) {
  const int dim = mesh->dim;
  *s = (Flow){.mesh = NULL};
  const TesStatus made = tes_mesh_create(ctx, mesh, &s->mesh);
  if (made == TES_MISSING) return tes_context_clear(ctx), false;
  assert_ok(ctx, made);
  assert_ok(ctx, tes_function_create_expression(ctx, "sin(3*x*y) + y", &s->f));
  assert_ok(ctx, tes_function_create_expression(ctx, dim == 2 ? "y*(1-y)" : "y*(1-y)*z*(1-z)", &s->inlet));
  TesFunction *of_alpha = NULL;
  if (alpha > 0) assert_ok(ctx, tes_function_create_constant(ctx, alpha, &of_alpha));
  const TesBoundary boundary[] = {{.condition = TES_DIRICHLET},
                                  {.name = "left", .condition = TES_DIRICHLET, .g = {s->inlet}},
                                  {.name = "right", .condition = TES_NEUMANN}};
  const TesProblemDesc desc = {.equation = TES_STOKES,
                               .element = TES_ELEMENT_Q,
                               .mesh = s->mesh,
                               .degree = 2,
                               .data = {.f = {s->f}, .c = of_alpha},
                               .boundary = boundary,
                               .boundaries = open ? 3 : 1,
                               .solver = *solver};
  assert_ok(ctx, tes_problem_create(ctx, &desc, &s->problem));
  tes_function_destroy(&of_alpha);
  return true;
}

/* cells[dim] of unit length times `length` along x. */
static bool make_with(int dim, const int *cells, double length, int refine, bool open, double alpha,
                      const TesSolveOptions *solver, Flow *s) {
  TesMeshDesc mesh = {.kind = TES_MESH_FOREST, .dim = dim, .upper = {length, 1, 1}, .refine = refine};
  for (int d = 0; d < dim; d++) mesh.cells[d] = cells[d];
  return make_on(&mesh, open, alpha, solver, s);
}

static bool make(int dim, const int *cells, double length, int refine, bool open, double alpha, Flow *s) {
  const TesSolveOptions usual = {.tolerance = 1e-8, .precision = TES_SOLVE_DOUBLE};
  return make_with(dim, cells, length, refine, open, alpha, &usual, s);
}

static void release(Flow *s) {
  tes_problem_destroy(&s->problem);
  tes_function_destroy(&s->f);
  tes_function_destroy(&s->inlet);
  tes_mesh_destroy(&s->mesh);
}

/* Where the coarse mesh is that of the problem, and velocities are Q_2: B A^-1 B' z is r for
 * z = nu M^-1 r + (S^-1 - nu M^-1) r. */
static void schur_complement_is_inverted(void **state) {
  (void)state;
  const int cells[] = {6, 3};
  Flow s;
  if (!make(2, cells, 2, 0, true, 0, &s)) return;
  const TesProblem *p = s.problem;
  TesiSplit *pr = tesi_split_of(p);
  TesSolver *of_mass, *of_velocity;
  TesSolveResult result;
  TesVector *r, *z, *u, *w, *b;
  const TesSolverDesc mass = {
      .op = pr->pressure_mass, .method = TES_METHOD_CG, .tolerance = 1e-13, .max_iterations = 500};
  const TesSolverDesc velocity = {
      .op = pr->op, .method = TES_METHOD_CG, .tolerance = 1e-13, .max_iterations = 5000};
  assert_non_null(pr->steady.schur);
  assert_int_equal(tesi_steady_schur_cells(pr->steady.schur), 18);
  assert_ok(ctx, tes_solver_create(ctx, &mass, &of_mass));
  assert_ok(ctx, tes_solver_create(ctx, &velocity, &of_velocity));
  TesVector **const pressures[] = {&r, &z, &b}, **const velocities[] = {&u, &w};
  for (int i = 0; i < 3; i++)
    assert_ok(ctx, tesi_vector_create_on(pr->taylor_hood->pressure->layout, TES_DOUBLE, pressures[i]));
  for (int i = 0; i < 2; i++)
    assert_ok(ctx, tesi_vector_create_on(pr->full->layout, TES_DOUBLE, velocities[i]));
  double *random = calloc((size_t)r->length, sizeof *random), most = 0, size = 0;
  for (int64_t i = 0; i < r->length; i++) random[i] = sin(1 + 7.0 * (double)i);
  assert_ok(ctx, tes_vector_set(r, random));
  assert_ok(ctx, tes_solver_solve(of_mass, r, z, &result));
  assert_ok(ctx, tesi_steady_schur_add(pr->steady.schur, 1, r, z));
  assert_ok(ctx, tesi_taylor_hood_gradient(pr->taylor_hood, z, w));
  assert_ok(ctx, tesi_walls_put(&pr->walls, false, w));
  assert_ok(ctx, tes_solver_solve(of_velocity, w, u, &result));
  assert_ok(ctx, tesi_taylor_hood_divergence(pr->taylor_hood, u, b));
  double *got = calloc((size_t)b->length, sizeof *got);
  assert_ok(ctx, tes_vector_get(b, got));
  for (int64_t i = 0; i < b->length; i++)
    most = fmax(most, fabs(got[i] - random[i])), size = fmax(size, fabs(random[i]));
  assert_true(most <= 1e-9 * size);
  free(random), free(got);
  for (int i = 0; i < 3; i++) tes_vector_destroy(pressures[i]);
  for (int i = 0; i < 2; i++) tes_vector_destroy(velocities[i]);
  tes_solver_destroy(&of_mass);
  tes_solver_destroy(&of_velocity);
  release(&s);
}

/* W^-1/2: the root of 2 at edges of two walls, 2 at corners of three, else 1. */
static void edges_have_factors(void **state) {
  (void)state;
  const int cells[] = {2, 2, 2};
  for (int open = 0; open < 2; open++) {
    Flow s;
    if (!make(3, cells, 1, 0, open, 0, &s)) return;
    TesiSplit *pr = tesi_split_of(s.problem);
    const TesSpace *pressure = pr->taylor_hood->pressure;
    double *x = calloc((size_t)pressure->length * 3, sizeof *x),
           *v = calloc((size_t)pressure->length, sizeof *v);
    assert_non_null(pr->steady.edges);
    assert_ok(ctx, tes_space_coordinates(pressure, x));
    assert_ok(ctx, tes_vector_get(pr->steady.edges, v));
    for (int64_t i = 0; i < pressure->length; i++) {
      int walls = 0;
      for (int d = 0; d < 3; d++)
        walls += x[3 * i + d] < 1e-9 || (x[3 * i + d] > 1 - 1e-9 && !(open && d == 0));
      assert_near(v[i], walls < 2 ? 1 : sqrt(1 << (walls - 1)), 1e-14);
    }
    free(x), free(v);
    release(&s);
  }
}

static int iterations_of(int dim, const int *cells, double length, int refine, bool open, double alpha) {
  Flow s;
  TesSolveResult result;
  if (!make(dim, cells, length, refine, open, alpha, &s)) return 0;
  assert_ok(ctx, tes_problem_solve(s.problem, &result));
  release(&s);
  return result.iterations;
}

/* Without the coarse matrix and the factors the channels take 39 and more than 100 iterations, the cube 23. */
static void iterations_are_few(void **state) {
  (void)state;
  assert_in_range(iterations_of(2, (const int[]){24, 2}, 12, 1, true, 0), 0, 17);
  assert_in_range(iterations_of(2, (const int[]){64, 2}, 32, 1, true, 0), 0, 17);
  assert_in_range(iterations_of(3, (const int[]){3, 3, 3}, 1, 1, false, 0), 0, 16);
  assert_in_range(iterations_of(2, (const int[]){24, 2}, 12, 1, true, 30), 0, 17);
  assert_in_range(iterations_of(2, (const int[]){24, 2}, 12, 1, true, 1e5), 0, 20);
}

/* An open end where the mass term is all: pressures of its nodes are held by a penalty. With 0 given in L, 26 and 45
 * iterations. */
static void open_ends_have_a_penalty(void **state) {
  (void)state;
  assert_in_range(iterations_of(2, (const int[]){16, 16}, 1, 0, true, 1e7), 0, 16);
  assert_in_range(iterations_of(3, (const int[]){6, 6, 6}, 10, 0, true, 1e5), 0, 20);
}

/* u in the middle of the left side. */
static double inflow_of(const Flow *s) {
  double value;
  const TesValue what = {.kind = TES_VALUE_POINT, .point = {0, 0.5, 0.5}, .of = "u"};
  assert_ok(ctx, tes_problem_value(s->problem, &what, &value));
  return value;
}

/* *different <- the largest difference of two solves of a problem, over the largest entry; u of the left side stays. */
static void solve_again(const Flow *s, double *different) {
  TesSolveResult result;
  const TesVector *u = tes_problem_solution(s->problem);
  double *first = calloc((size_t)u->length, sizeof *first),
         *second = calloc((size_t)u->length, sizeof *second);
  double size = 0;
  assert_near(inflow_of(s), pow(0.25, s->mesh->dim - 1), 1e-12);
  *different = 0;
  assert_ok(ctx, tes_vector_get(u, first));
  assert_ok(ctx, tes_problem_solve(s->problem, &result));
  assert_ok(ctx, tes_vector_get(u, second));
  for (int64_t i = 0; i < u->length; i++) size = fmax(size, fabs(second[i]));
  for (int64_t i = 0; i < u->length; i++) *different = fmax(*different, fabs(first[i] - second[i]) / size);
  free(first), free(second);
}

/* Meshes with too many cells for a coarse matrix: the resistance of the walls. In a square duct of width 1 the mean
 * velocity of a uniform force is 0.0351 / nu. */
static void walls_resist(void **state) {
  (void)state;
  const int cells[] = {36, 4, 4};
  Flow s;
  TesSolveResult result;
  double different;
  if (!make(3, cells, 12, 0, true, 0, &s)) return;
  const TesiSteady *steady = &tesi_split_of(s.problem)->steady;
  assert_null(steady->schur);
  assert_ok(ctx, tes_problem_solve(s.problem, &result));
  assert_near(steady->resistance * 0.0351, 1, 0.1);
  assert_in_range(result.iterations, 0, 28); /* by the mass alone: 95 */
  solve_again(&s, &different);
  assert_true(different <= 1e-6);
  release(&s);
}

/* A wedge without a coarse matrix, 100 times as wide at one end as at the other: the mobility is the square of the
 * local width. With one resistance for all of it 42 iterations. */
static void mobility_is_local(void **state) {
  (void)state;
  const TesSolveOptions usual = {.tolerance = 1e-8, .precision = TES_SOLVE_DOUBLE};
  for (int k = 0; k < (tesi_has_kernels(ctx) ? 1 : 2); k++) { /* the emulator is slow */
    TesMeshDesc mesh = {.kind = TES_MESH_FOREST, .dim = 2, .cells = {120, 12}};
    Flow s;
    TesSolveResult result;
    TesFunction *map[2];
    assert_ok(ctx, tes_function_create_expression(ctx, "x", &map[0]));
    assert_ok(ctx, tes_function_create_expression(ctx, "(x + 0.01) / 1.01 * y / 4", &map[1]));
    for (int d = 0; d < 2; d++) mesh.map[d] = map[d];
    const bool made = make_on(&mesh, false, k ? 40 : 0, &usual, &s);
    for (int d = 0; d < 2; d++) tes_function_destroy(&map[d]);
    if (!made) return;
    assert_null(tesi_split_of(s.problem)->steady.schur);
    assert_ok(ctx, tes_problem_solve(s.problem, &result));
    assert_in_range(result.iterations, 0, 24);
    release(&s);
  }
}

/* Split tetrahedra, of which cycles leave more than of hexahedra, take longer polynomials; these hexahedra do not. With
 * the usual polynomials the tetrahedra take 19 iterations. */
static void tetrahedra_smooth_more(void **state) {
  (void)state;
  const TesSolveOptions usual = {.tolerance = 1e-8, .precision = TES_SOLVE_DOUBLE},
                        given = {.tolerance = 1e-8, .smoother_degree = 4};
  const TesMeshDesc mesh = {.kind = TES_MESH_FOREST,
                            .dim = 3,
                            .domain = TES_DOMAIN_FILE,
                            .file = TESI_SOURCE_DIR "/tests/data/tetrahedra-ball.msh",
                            .split = true,
                            .rest = "wall"};
  const int cells[] = {9, 9, 9};
  Flow s;
  TesSolveResult result;
  if (tesi_has_kernels(ctx) || !make_on(&mesh, false, 0, &usual, &s)) return; /* the emulator is slow */
  assert_int_equal(tesi_multigrid_polynomial(s.problem->multigrid), 6);
  assert_ok(ctx, tes_problem_solve(s.problem, &result));
  assert_in_range(result.iterations, 0, 16);
  release(&s);
  assert_true(make_on(&mesh, false, 0, &given, &s));
  assert_int_equal(tesi_multigrid_polynomial(s.problem->multigrid), 4);
  release(&s);
  assert_true(make(3, cells, 1, 0, true, 0, &s));
  assert_null(tesi_split_of(s.problem)->steady.schur);
  assert_int_equal(tesi_multigrid_polynomial(s.problem->multigrid), 4);
  release(&s);
}

/* A flat box with a coarse matrix, whose cells are long: pressures within cells are beyond the matrix. */
static void slow_solves_take_mobility(void **state) {
  (void)state;
  const TesSolveOptions usual = {.tolerance = 1e-9, .precision = TES_SOLVE_DOUBLE};
  const TesMeshDesc mesh = {
      .kind = TES_MESH_FOREST, .dim = 3, .cells = {6, 2, 3}, .upper = {30, 30, 1}, .refine = 1};
  Flow s;
  TesSolveResult result;
  double different;
  if (!make_on(&mesh, true, 0, &usual, &s)) return;
  const TesiSteady *steady = &tesi_split_of(s.problem)->steady;
  assert_non_null(steady->schur);
  assert_true(steady->resistance == 0);
  assert_ok(ctx, tes_problem_solve(s.problem, &result));
  assert_true(steady->resistance > 0);
  assert_null(steady->direct);
  assert_in_range(result.iterations, 0, 29); /* with looks for 40 iterations 32 */
  solve_again(&s, &different);
  assert_true(different <= 1e-6);
  release(&s);
}

/* Chebyshev on cells of 16 : 1 leaves much of the error, and takes a higher degree. */
static void poor_cycles_smooth_more(void **state) {
  (void)state;
  const int cells[] = {3, 48};
  const TesSolveOptions chebyshev = {
      .tolerance = 1e-8, .precision = TES_SOLVE_DOUBLE, .smoother = TES_SMOOTHER_CHEBYSHEV};
  Flow s;
  TesSolveResult result;
  double different;
  if (!make_with(2, cells, 1, 1, true, 0, &chebyshev, &s)) return;
  const int usual = tesi_multigrid_polynomial(s.problem->multigrid);
  assert_ok(ctx, tes_problem_solve(s.problem, &result));
  assert_in_range(result.iterations, 0, 40);
  assert_int_equal(tesi_multigrid_polynomial(s.problem->multigrid), 3 * usual);
  solve_again(&s, &different);
  assert_true(different <= 1e-6);
  release(&s);
}

/* Lines of cells are a smoother a component: polynomials of all of them change. */
static void lines_smooth_more(void **state) {
  (void)state;
  const int cells[] = {3, 24};
  const TesSolveOptions lines = {
      .tolerance = 1e-8, .precision = TES_SOLVE_DOUBLE, .smoother = TES_SMOOTHER_LINE_PATCH};
  Flow s;
  double before, after;
  if (tesi_has_kernels(ctx) || !make_with(2, cells, 1, 2, true, 0, &lines, &s)) return;
  TesMultigrid *mg = s.problem->multigrid;
  const int usual = tesi_multigrid_polynomial(mg);
  assert_true(usual > 0);
  assert_ok(ctx, tesi_multigrid_reduction(mg, 4, &before));
  assert_ok(ctx, tesi_multigrid_change(mg, 3 * usual, false, false));
  assert_int_equal(tesi_multigrid_polynomial(mg), 3 * usual);
  assert_ok(ctx, tesi_multigrid_reduction(mg, 4, &after));
  assert_true(after < 0.5 * before);
  release(&s);
}

/* Where cycles would not reach the tolerance factors do. */
static void factors_end_solves(void **state) {
  (void)state;
  const int cells[] = {3, 192};
  const TesSolveOptions jacobi = {
      .tolerance = 1e-8, .precision = TES_SOLVE_DOUBLE, .smoother = TES_SMOOTHER_JACOBI};
  Flow s;
  TesSolveResult result;
  double different;
  if (tesi_factorization_missing(ctx)) return;
  if (!make_with(2, cells, 1, 1, true, 0, &jacobi, &s)) return;
  const TesiSteady *steady = &tesi_split_of(s.problem)->steady;
  assert_null(steady->direct);
  assert_ok(ctx, tes_problem_solve(s.problem, &result));
  assert_non_null(steady->direct);
  assert_in_range(result.iterations, 20, 24);
  assert_non_null(strstr(tes_problem_info(s.problem).method, "sparse factors"));
  solve_again(&s, &different);
  assert_true(different <= 1e-6);
  release(&s);
}

static int set_up(void **state) {
  (void)state;
  const char *const device = getenv("TESSERA_TEST_DEVICE"); /* for GPUs */
  char message[512] = "";
  if (tes_context_create(&(TesContextDesc){.device = device ? device : "cpu"}, &ctx, message,
                         sizeof message) == TES_OK)
    return 0;
  print_error("%s\n", message);
  return 1;
}

static int tear_down(void **state) {
  (void)state;
  tes_context_destroy(&ctx);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(schur_complement_is_inverted),
                                     cmocka_unit_test(edges_have_factors),
                                     cmocka_unit_test(iterations_are_few),
                                     cmocka_unit_test(open_ends_have_a_penalty),
                                     cmocka_unit_test(walls_resist),
                                     cmocka_unit_test(mobility_is_local),
                                     cmocka_unit_test(tetrahedra_smooth_more),
                                     cmocka_unit_test(slow_solves_take_mobility),
                                     cmocka_unit_test(poor_cycles_smooth_more),
                                     cmocka_unit_test(lines_smooth_more),
                                     cmocka_unit_test(factors_end_solves)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
