/* Run: ctest -R t7_own_smoother. A smoother that the calling program brings: damped Jacobi written against the public
 * headers alone. Its steps equal the steps of the library's jacobi, in both precisions. Problems are solved with it on
 * boxes and forests, in 2D and 3D, by the methods that fit. A description that does not fit is refused. All on the
 * processor, in the emulator, and on a GPU where there is one. */
#include <tessera/tessera.h>
#include "testing.h"

typedef struct Jacobi {
  TesContext *ctx;
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
  Plan *p = calloc(1, sizeof *p);
  TesVector *d;
  *plan = p;
  p->length = tes_operator_info(op).length;
  p->diagonal = malloc((size_t)p->length * sizeof(double));
  p->r = malloc((size_t)p->length * sizeof(double));
  p->x = malloc((size_t)p->length * sizeof(double));
  const TesPrecision precision = tes_operator_info(op).precision;
  jacobi->plans++;
  TesStatus status = tes_vector_create(jacobi->ctx, p->length, precision, &p->residual);
  if (status != TES_OK) return status;
  if ((status = tes_vector_create(jacobi->ctx, p->length, precision, &d)) != TES_OK) return status;
  status = tes_operator_diagonal(op, d);
  if (status == TES_OK) status = tes_vector_get(d, p->diagonal);
  tes_vector_destroy(&d);
  return status;
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
  Jacobi *jacobi = user;
  Plan *p = plan;
  jacobi->plans--;
  tes_vector_destroy(&p->residual);
  free(p->diagonal), free(p->r), free(p->x), free(p);
}

enum { DEVICES = 3 };
static const char *const devices[DEVICES] = {"cpu", "emulator", "cuda"};

/* NULL: the device is not there. */
static TesContext *context(const char *device) {
  TesContext *ctx = NULL;
  const TesContextDesc desc = {.device = device, .verbosity = TES_QUIET};
  const TesStatus status = tes_context_create(&desc, &ctx, NULL, 0);
  assert_true(status == TES_OK || status == TES_MISSING);
  return ctx;
}

static void compare_steps(TesContext *ctx, TesPrecision precision) {
  Jacobi jacobi = {.ctx = ctx, .omega = 0.6};
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
  double *values = malloc((size_t)n * sizeof *values), *other = malloc((size_t)n * sizeof *other);
  uint64_t seed = 3;
  for (int64_t i = 0; i < n; i++) values[i] = test_random(&seed);
  for (int i = 0; i < 3; i++) assert_ok(ctx, tes_vector_create(ctx, n, precision, &v[i]));
  assert_ok(ctx, tes_vector_set(v[0], values));
  assert_ok(ctx, tes_operator_apply(op, v[0], v[1])); /* a right-hand side with zeros at given nodes */
  assert_ok(ctx, tes_vector_copy(v[1], 1, v[0]));
  for (int step = 0; step < 2; step++) {
    assert_ok(ctx, tes_smoother_apply(mine, v[0], v[1], TES_FORWARD, step == 0));
    assert_ok(ctx, tes_smoother_apply(exact, v[0], v[2], TES_FORWARD, step == 0));
  }
  assert_ok(ctx, tes_vector_get(v[1], values));
  assert_ok(ctx, tes_vector_get(v[2], other));
  for (int64_t i = 0; i < n; i++)
    if (!(fabs(values[i] - other[i]) <= (precision == TES_DOUBLE ? 1e-12 : 1e-4)))
      fail_msg("entry %lld: %g, jacobi has %g", (long long)i, values[i], other[i]);
  assert_string_equal(tes_smoother_describe(mine), "damped");
  free(values), free(other);
  for (int i = 0; i < 3; i++) tes_vector_destroy(&v[i]);
  tes_smoother_destroy(&mine), tes_smoother_destroy(&exact);
  assert_int_equal(jacobi.plans, 0);
  tes_operator_destroy(&op), tes_space_destroy(&space), tes_mesh_destroy(&mesh);
}

static void steps_equal_jacobi(void **state) {
  (void)state;
  for (int i = 0; i < DEVICES; i++) {
    TesContext *ctx = context(devices[i]);
    if (!ctx) continue;
    compare_steps(ctx, TES_DOUBLE);
    compare_steps(ctx, TES_SINGLE);
    tes_context_destroy(&ctx);
  }
}

/* -laplace(u) = f with the solution sin(pi x) sin(pi y) (sin(pi z)): how it was solved, and the error of degree 3. */
static void solve(TesContext *ctx, TesMesh *mesh, bool symmetric, const char *method) {
  static const char *const texts[2][2] = {
      {"sin(pi*x)*sin(pi*y)", "2*pi*pi*sin(pi*x)*sin(pi*y)"},
      {"sin(pi*x)*sin(pi*y)*sin(pi*z)", "3*pi*pi*sin(pi*x)*sin(pi*y)*sin(pi*z)"}};
  const char *const *text = texts[tes_mesh_info(mesh).dim - 2];
  Jacobi jacobi = {.ctx = ctx, .omega = 0.6};
  const TesSmootherOwn own = {
      .symmetric = symmetric, .create = create, .apply = apply, .destroy = destroy, .user = &jacobi};
  TesFunction *exact, *f;
  TesProblem *problem;
  TesSolveResult result;
  double error;
  assert_ok(ctx, tes_function_create_expression(ctx, text[0], &exact));
  assert_ok(ctx, tes_function_create_expression(ctx, text[1], &f));
  const TesProblemDesc desc = {.equation = TES_POISSON,
                               .mesh = mesh,
                               .degree = 3,
                               .data = {.f = {f}},
                               .exact = {exact},
                               .solver = {.own_smoother = &own, .pre = 3, .post = 3}};
  assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
  assert_ok(ctx, tes_problem_solve(problem, &result));
  assert_non_null(strstr(tes_problem_info(problem).method, method));
  assert_string_equal(tes_problem_info(problem).smoother, "own");
  assert_ok(ctx, tes_problem_errors(problem, &error, NULL));
  assert_true(error < 1e-3); /* (h / 2)^4 for h = 1/4 is 2.4e-4 */
  assert_true(jacobi.steps > 0);
  jacobi.fails = true;
  assert_int_equal(tes_problem_solve(problem, &result), TES_OUT_OF_MEMORY);
  tes_context_clear(ctx);
  tes_problem_destroy(&problem);
  assert_int_equal(jacobi.plans, 0);
  tes_function_destroy(&exact), tes_function_destroy(&f);
}

static void problems_are_solved(void **state) {
  (void)state;
  int solved = 0;
  for (int i = 0; i < DEVICES; i++) {
    TesContext *ctx = context(devices[i]);
    for (int dim = 2; ctx && dim <= 3; dim++)
      for (int trees = 0; trees < 2; trees++) {
        TesMesh *mesh;
        const int cells = trees ? 2 : 4; /* in each direction; trees are cut once */
        const TesMeshDesc desc = {.kind = trees ? TES_MESH_FOREST : TES_MESH_BOX,
                                  .dim = dim,
                                  .cells = {cells, cells, cells},
                                  .refine = trees};
        if (trees && !tes_has_part("p4est")) continue;
        assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
        solve(ctx, mesh, true, "conjugate gradients");
        solve(ctx, mesh, false, "GMRES");
        tes_mesh_destroy(&mesh);
        solved++;
      }
    tes_context_destroy(&ctx);
  }
  assert_true(solved >= 2);
}

static void misfits_are_refused(void **state) {
  (void)state;
  TesContext *ctx = context("cpu");
  TesMesh *mesh;
  TesProblem *problem;
  Jacobi jacobi = {.ctx = ctx};
  const TesSmootherOwn empty = {.name = "empty"}, own = {"damped", true, create, apply, destroy, &jacobi};
  assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {4, 4}}, &mesh));
  TesProblemDesc desc = {
      .equation = TES_POISSON, .mesh = mesh, .degree = 2, .solver = {.own_smoother = &empty}};
  assert_int_equal(tes_problem_create(ctx, &desc, &problem), TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "needs apply"));
  tes_context_clear(ctx);
  desc.solver = (TesSolveOptions){.own_smoother = &own, .smoother = TES_SMOOTHER_JACOBI};
  assert_int_equal(tes_problem_create(ctx, &desc, &problem), TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "own_smoother"));
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(steps_equal_jacobi),
                                     cmocka_unit_test(problems_are_solved),
                                     cmocka_unit_test(misfits_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
