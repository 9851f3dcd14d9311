/* Run: ctest -R t6_floor. The floor of float64: what rounding leaves is measured right, and iterations that stall above
 * it, creep, or meet NaN are not at it. */
#include "krylov/floor.h"
#include "tessera/tessera.h"
#include "testing.h"

static TesContext *ctx;

/* A matrix of rows; x and r on the host. */
enum { N = 40 };
typedef struct Matrix {
  double a[N][N];
  double b[N];
} Matrix;

static TesStatus residual(void *user, const TesVector *x, TesVector *r) {
  const Matrix *m = user;
  double in[N], out[N];
  assert_ok(ctx, tes_vector_get(x, in));
  for (int i = 0; i < N; i++) {
    double sum = 0;
    for (int j = 0; j < N; j++) sum += m->a[i][j] * in[j];
    out[i] = m->b[i] - sum;
  }
  return tes_vector_set(r, out);
}

static TesVector *vector(const double *values) {
  TesVector *v;
  assert_ok(ctx, tes_vector_create(ctx, N, TES_DOUBLE, &v));
  assert_ok(ctx, tes_vector_set(v, values));
  return v;
}

/* b = A x for entries of A and x of very different sizes. */
static void make(Matrix *m, double x[N]) {
  uint64_t seed = 7;
  for (int i = 0; i < N; i++) x[i] = pow(10, 2 * test_random(&seed));
  for (int i = 0; i < N; i++) {
    m->b[i] = 0;
    for (int j = 0; j < N; j++) m->a[i][j] = test_random(&seed) * pow(10, 2 * test_random(&seed));
    for (int j = 0; j < N; j++) m->b[i] += m->a[i][j] * x[j];
  }
}

/* allowed^2 is expected to be eps^2 (sum_j |A e_j|^2 x_j^2), plus what b adds, which is at most |b| here and there. */
static void what_rounding_leaves(void **state) {
  static Matrix m;
  double x[N], sum = 0, size = 0;
  TesiFloor floor = {0};
  TesiFloorState found;
  (void)state;
  make(&m, x);
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++) sum += m.a[i][j] * m.a[i][j] * x[j] * x[j];
  for (int i = 0; i < N; i++) size += m.b[i] * m.b[i];
  TesVector *at = vector(x), *b = vector(m.b);
  const TesiFloorSystem system = {.residual = residual, .user = &m, .b = b};
  tesi_floor_begin(&floor);
  assert_ok(ctx, tesi_floor_look(&floor, &system, at, 0, INFINITY, false, &found));
  const double expected = 0x1p-52 * sqrt(sum), of_b = 0x1p-52 * sqrt(size);
  print_message("allowed %.3e, of A %.3e, of b %.3e, residual %.3e\n", floor.allowed, expected, of_b,
                floor.reached);
  assert_true(floor.allowed >= expected / 2 && floor.allowed <= 2 * expected + 2 * of_b);
  assert_int_equal(found, TESI_FLOOR_WATCHED);
  tesi_floor_end(&floor);
  tes_vector_destroy(&at), tes_vector_destroy(&b);
}

/* Looks at x and, later, at x + step e_0. */
static TesiFloorState look_twice(const Matrix *m, const double x[N], double first, double step) {
  double moved[N];
  TesiFloor floor = {0};
  TesiFloorState found;
  memcpy(moved, x, sizeof moved);
  moved[0] += first;
  TesVector *at = vector(moved), *b = vector(m->b);
  const TesiFloorSystem system = {.residual = residual, .user = (void *)(uintptr_t)m, .b = b};
  tesi_floor_begin(&floor);
  assert_ok(ctx, tesi_floor_look(&floor, &system, at, 10, INFINITY, false, &found));
  assert_int_not_equal(found, TESI_FLOOR_REACHED);
  moved[0] += step;
  assert_ok(ctx, tes_vector_set(at, moved));
  assert_ok(ctx, tesi_floor_look(&floor, &system, at, 20, INFINITY, false, &found));
  tesi_floor_end(&floor);
  tes_vector_destroy(&at), tes_vector_destroy(&b);
  return found;
}

/* Column 0 is 0 but for 1e-14 of the others' size, so that x_0 hardly changes residuals. */
static void what_is_at_its_floor(void **state) {
  static Matrix m;
  double x[N];
  (void)state;
  make(&m, x);
  assert_int_equal(look_twice(&m, x, 0, 0), TESI_FLOOR_REACHED);
  assert_int_equal(look_twice(&m, x, 1e-3 * x[0], 0), TESI_FLOOR_ABOVE);
  for (int i = 0; i < N; i++) {
    m.b[i] -= m.a[i][0] * x[0];
    m.a[i][0] *= 1e-19;
    m.b[i] += m.a[i][0] * x[0];
  }
  double largest = 0;
  for (int i = 0; i < N; i++) largest = fmax(largest, x[i]);
  x[0] = largest;
  assert_int_equal(look_twice(&m, x, 0, 0), TESI_FLOOR_REACHED);
  assert_int_equal(look_twice(&m, x, 0, 0.1 * largest), TESI_FLOOR_WATCHED); /* it creeps */
  x[3] = NAN;
  assert_int_equal(look_twice(&m, x, 0, 0), TESI_FLOOR_ABOVE);
}

/* ---- solves -------------------------------------------------------------------------------------------- */

typedef struct World {
  TesMesh *mesh;
  TesSpace *space;
  TesOperator *op, *heavy;
  TesMultigrid *multigrid; /* of `heavy`: cycles that correct almost nothing of op */
  TesVector *b, *x;
} World;

static TesOperator *make_operator(const TesSpace *space, double c) {
  const TesTermDesc term[] = {{.term = TES_TERM_DIFFUSION}, {.term = TES_TERM_MASS, .factor = c}};
  TesOperator *op;
  assert_ok(ctx,
            tes_operator_create(
                ctx, &(TesOperatorDesc){.space = space, .form = {.terms = 1 + (c > 0), .term = term}}, &op));
  return op;
}

static World make_world(void) {
  World w = {0};
  TesSolver *solver;
  TesSolveResult result;
  assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {6, 6}}, &w.mesh));
  assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = w.mesh, .degree = 3}, &w.space));
  w.op = make_operator(w.space, 0);
  w.heavy = make_operator(w.space, 1e12);
  assert_ok(ctx, tes_multigrid_create(ctx, &(TesMultigridDesc){.op = w.heavy}, &w.multigrid));
  const int64_t n = tes_space_length(w.space);
  assert_ok(ctx, tes_vector_create(ctx, n, TES_DOUBLE, &w.b));
  assert_ok(ctx, tes_vector_create(ctx, n, TES_DOUBLE, &w.x));
  TesFunction *one;
  assert_ok(ctx, tes_function_create_expression(ctx, "1 + x", &one));
  assert_ok(ctx, tes_functional_load(&(TesLoadDesc){.space = w.space, .f = {one}}, w.b));
  tes_function_destroy(&one);
  assert_ok(ctx, tes_solver_create(
                     ctx,
                     &(TesSolverDesc){
                         .op = w.op, .tolerance = 1e-17, .max_iterations = 400, .method = TES_METHOD_CG},
                     &solver));
  assert_ok(ctx, tes_solver_solve(solver, w.b, w.x, &result));
  assert_true(result.floor > 0 && result.residuals[result.iterations] <= 5 * result.floor);
  tes_solver_destroy(&solver);
  return w;
}

static void destroy(World *w) {
  tes_vector_destroy(&w->x), tes_vector_destroy(&w->b);
  tes_multigrid_destroy(&w->multigrid);
  tes_operator_destroy(&w->op), tes_operator_destroy(&w->heavy);
  tes_space_destroy(&w->space);
  tes_mesh_destroy(&w->mesh);
}

/* The residual stays where it is: at 1e-9 of |b|, which is 1e5 floors, and at the floor. */
static void a_preconditioner_that_does_nothing(void **state) {
  (void)state;
  static const TesMethod methods[] = {TES_METHOD_VCYCLE, TES_METHOD_GMRES};
  World w = make_world();
  for (int m = 0; m < 2; m++)
    for (int at = 0; at < 2; at++) {
      TesSolver *solver;
      TesSolveResult result;
      TesVector *x;
      assert_ok(ctx, tes_vector_create(ctx, tes_vector_length(w.x), TES_DOUBLE, &x));
      assert_ok(ctx, tes_vector_copy(w.x, at ? 1 : 1 + 1e-9, x));
      assert_ok(ctx, tes_solver_create(ctx,
                                       &(TesSolverDesc){.op = w.op,
                                                        .multigrid = w.multigrid,
                                                        .tolerance = 1e-17,
                                                        .max_iterations = 60,
                                                        .restart = 5,
                                                        .method = methods[m]},
                                       &solver));
      const TesStatus status = tes_solver_solve(solver, w.b, x, &result);
      print_message("method %d: %s after %d iterations, %.2e\n", (int)methods[m], tes_status_name(status),
                    result.iterations, result.residuals[result.iterations]);
      if (m == 0 || at) assert_int_equal(status, at ? TES_OK : TES_NOT_CONVERGED);
      assert_int_equal(result.floor > 0, status == TES_OK);
      tes_context_clear(ctx);
      tes_solver_destroy(&solver);
      tes_vector_destroy(&x);
    }
  destroy(&w);
}

static int begin(void **state) {
  (void)state;
  return tes_context_create(&(TesContextDesc){.device = "cpu", .verbosity = TES_QUIET}, &ctx, NULL, 0) !=
         TES_OK;
}

static int end(void **state) {
  (void)state;
  tes_context_destroy(&ctx);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(what_rounding_leaves),
                                     cmocka_unit_test(what_is_at_its_floor),
                                     cmocka_unit_test(a_preconditioner_that_does_nothing)};
  return cmocka_run_group_tests(tests, begin, end);
}
