/* Run: ctest -R t7_own_smoother. A smoother that the calling program brings: damped Jacobi written against the public
 * headers alone. Its steps equal the steps of the library's jacobi, in both precisions. Problems are solved with it on
 * boxes and forests, in 2D and 3D, by the methods that fit. All on the processor, in the emulator, and on a GPU where
 * there is one. t7_poisson has descriptions that are refused. */
#include <tessera/tessera.h>
#include "testing.h"

static TesContext *ctx;

typedef struct Jacobi {
  double omega;
  int plans, steps;
  bool fails; /* the next step does */
} Jacobi;

typedef struct Plan {
  int64_t length;
  double *diagonal, *r, *x;
  TesVector *residual;
} Plan;

static TesStatus create(void *user, const TesOperator *op, void **plan) {
  Jacobi *jacobi = user;
  const TesOperatorInfo info = tes_operator_info(op);
  Plan *p = *plan = calloc(1, sizeof *p);
  p->length = info.length;
  p->diagonal = malloc(3 * (size_t)p->length * sizeof(double));
  p->r = p->diagonal + p->length, p->x = p->r + p->length;
  jacobi->plans++;
  TesStatus status = tes_vector_create(ctx, p->length, info.precision, &p->residual);
  if (status == TES_OK) status = tes_operator_diagonal(op, p->residual);
  return status == TES_OK ? tes_vector_get(p->residual, p->diagonal) : status;
}

static TesStatus apply(void *user, void *plan, const TesOperator *op, const TesVector *b, TesVector *x,
                       TesSweep sweep, bool zero_guess) {
  Jacobi *jacobi = user;
  Plan *p = plan;
  (void)sweep;
  jacobi->steps++;
  if (jacobi->fails) return TES_OUT_OF_MEMORY;
  TesStatus status = zero_guess ? tes_vector_fill(x, 0) : TES_OK;
  if (status == TES_OK) status = tes_operator_residual(op, b, x, p->residual);
  if (status == TES_OK) status = tes_vector_get(p->residual, p->r);
  if (status == TES_OK) status = tes_vector_get(x, p->x);
  for (int64_t i = 0; status == TES_OK && i < p->length; i++)
    p->x[i] += jacobi->omega * p->r[i] / p->diagonal[i];
  return status == TES_OK ? tes_vector_set(x, p->x) : status;
}

static void destroy(void *user, void *plan) {
  Plan *p = plan;
  ((Jacobi *)user)->plans--;
  tes_vector_destroy(&p->residual);
  free(p->diagonal), free(p);
}

/* ---- what it does -------------------------------------------------------------------------------------- */

static void compare_steps(TesPrecision precision) {
  Jacobi jacobi = {.omega = 0.6};
  const TesSmootherOwn own = {"damped", true, create, apply, destroy, &jacobi};
  TesMesh *mesh;
  TesSpace *space;
  TesOperator *op;
  TesSmoother *mine, *exact;
  TesVector *v[3];
  const TesTermDesc term = {.term = TES_TERM_DIFFUSION};
  assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {5, 3}}, &mesh));
  assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 3}, &space));
  assert_ok(ctx,
            tes_operator_create(
                ctx, &(TesOperatorDesc){.space = space, .precision = precision, .form = {1, &term, 0}}, &op));
  assert_ok(ctx, tes_smoother_create(ctx, &(TesSmootherDesc){.op = op, .own = &own}, &mine));
  assert_ok(ctx, tes_smoother_create(
                     ctx, &(TesSmootherDesc){.op = op, .kind = TES_SMOOTHER_JACOBI, .omega = 0.6}, &exact));
  const int64_t n = tes_space_length(space);
  double *values = malloc((size_t)n * sizeof *values), apart;
  uint64_t seed = 3;
  for (int64_t i = 0; i < n; i++) values[i] = test_random(&seed);
  for (int i = 0; i < 3; i++) assert_ok(ctx, tes_vector_create(ctx, n, precision, &v[i]));
  assert_ok(ctx, tes_vector_set(v[1], values));
  assert_ok(ctx, tes_operator_apply(op, v[1], v[0])); /* a right-hand side with zeros at given nodes */
  for (int step = 0; step < 2; step++) {
    assert_ok(ctx, tes_smoother_apply(mine, v[0], v[1], TES_FORWARD, step == 0));
    assert_ok(ctx, tes_smoother_apply(exact, v[0], v[2], TES_FORWARD, step == 0));
  }
  assert_ok(ctx, tes_vector_axpy(-1, v[1], v[2]));
  assert_ok(ctx, tes_vector_maximum(v[2], &apart));
  assert_true(apart <= (precision == TES_DOUBLE ? 1e-12 : 1e-4));
  assert_string_equal(tes_smoother_describe(mine), "damped");
  free(values);
  for (int i = 0; i < 3; i++) tes_vector_destroy(&v[i]);
  tes_smoother_destroy(&mine), tes_smoother_destroy(&exact);
  assert_int_equal(jacobi.plans, 0);
  tes_operator_destroy(&op), tes_space_destroy(&space), tes_mesh_destroy(&mesh);
}

static void steps_equal_jacobi(void **state) {
  (void)state;
  compare_steps(TES_DOUBLE);
  compare_steps(TES_SINGLE);
}

/* -laplace(u) = -2 with the solution x^2, which degree 3 has exactly, so that the error is of the iteration, 1e-9. */
static void solve(const TesMesh *mesh, bool symmetric, const char *method) {
  Jacobi jacobi = {.omega = 0.6};
  const TesSmootherOwn own = {
      .symmetric = symmetric, .create = create, .apply = apply, .destroy = destroy, .user = &jacobi};
  TesFunction *exact, *f;
  TesProblem *problem;
  TesSolveResult result;
  double error;
  assert_ok(ctx, tes_function_create_expression(ctx, "x*x", &exact));
  assert_ok(ctx, tes_function_create_expression(ctx, "-2", &f));
  const TesBoundary boundary = {.g = {exact}};
  const TesProblemDesc desc = {.equation = TES_POISSON,
                               .mesh = mesh,
                               .degree = 3,
                               .data = {.f = {f}},
                               .exact = {exact},
                               .boundary = &boundary,
                               .boundaries = 1,
                               .solver = {.own_smoother = &own, .pre = 3, .post = 3}};
  assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
  assert_ok(ctx, tes_problem_solve(problem, &result));
  assert_non_null(strstr(tes_problem_info(problem).method, method));
  assert_string_equal(tes_problem_info(problem).smoother, "own");
  assert_ok(ctx, tes_problem_errors(problem, &error, NULL));
  assert_true(error < 1e-7 && jacobi.steps > 0);
  jacobi.fails = true;
  assert_int_equal(tes_problem_solve(problem, &result), TES_OUT_OF_MEMORY);
  tes_context_clear(ctx);
  tes_problem_destroy(&problem);
  assert_int_equal(jacobi.plans, 0);
  tes_function_destroy(&exact), tes_function_destroy(&f);
}

static void problems_are_solved(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int trees = 0; trees < 1 + tes_has_part("p4est"); trees++) {
      TesMesh *mesh;
      const int cells = trees ? 2 : 4; /* in each direction; trees are cut once */
      const TesMeshDesc desc = {.kind = trees ? TES_MESH_FOREST : TES_MESH_BOX,
                                .dim = dim,
                                .cells = {cells, cells, cells},
                                .refine = trees};
      assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
      solve(mesh, true, "conjugate gradients");
      solve(mesh, false, "GMRES");
      tes_mesh_destroy(&mesh);
    }
}

int main(void) {
  static const char *const devices[] = {"cpu", "emulator", "cuda"};
  const struct CMUnitTest tests[] = {cmocka_unit_test(steps_equal_jacobi),
                                     cmocka_unit_test(problems_are_solved)};
  int failed = 0;
  for (int i = 0; i < 3; i++) {
    const TesContextDesc desc = {.device = devices[i], .verbosity = TES_QUIET};
    const TesStatus status = tes_context_create(&desc, &ctx, NULL, 0);
    failed += status == TES_OK ? cmocka_run_group_tests(tests, NULL, NULL) : status != TES_MISSING;
    tes_context_destroy(&ctx);
  }
  return failed;
}
