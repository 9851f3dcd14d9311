/* Run: ctest -R t5_smoothers. Jacobi, Chebyshev-Jacobi and point Gauss-Seidel against their plain versions; symmetry,
 * eigenvalue estimates, orders, optional device entries, trouble.
 * Labels: threads simd */
#include "operator_testing.h"
#include "failing_allocator.h"
#include "smoother/gauss_seidel/gauss_seidel.h"
#include "smoother/spectrum.h"
#include "smoother_testing.h"

static TesContext *context(void) {
  TesContext *ctx;
  assert_int_equal(tes_context_create(NULL, &ctx, NULL, 0), TES_OK);
  return ctx;
}

static const Case shapes[] = {
    {.dim = 2, .cells = {4, 3}},
    {.dim = 2, .cells = {3, 5}, .graded = true, .natural = 0x6, .alpha = 1.5, .a = 2, .c = 3},
    {.dim = 2, .cells = {3, 2}, .natural = 0x9, .variable = true, .alpha = 1, .c = 2},
    {.dim = 3, .cells = {2, 3, 1}, .natural = 0x30},
    {.dim = 3, .cells = {1, 2, 3}, .graded = true, .natural = 0x3, .c = 0.5, .alpha = 2},
    {.dim = 3, .cells = {2, 1, 2}, .natural = 0xc, .variable = true, .alpha = 0.3},
};

/* The plain operator costs (degree+1)^(2 dim) a cell: fewer cells and cases for high degrees. */
static void compare_all(TesSmootherDesc desc, int largest_2d, int largest_3d) {
  TesContext *ctx = context();
  for (int degree = 1; degree <= 8; degree++)
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
      Case c = shapes[i];
      c.degree = degree;
      if (degree > 4 && i == 1) continue;
      if (degree > 5 - c.dim) c.cells[0] = c.cells[2] = 1, c.cells[1] = tesi_min(c.cells[1], 2);
      if (degree > (c.dim == 2 ? largest_2d : largest_3d)) continue;
      compare_with_plain(ctx, &c, TES_DOUBLE, desc, 1e-12);
      compare_with_plain(ctx, &c, TES_SINGLE, desc, 1e-4);
    }
  tes_context_destroy(&ctx);
}

static void jacobi_equals_plain_version(void **state) {
  (void)state;
  compare_all((TesSmootherDesc){.kind = TES_SMOOTHER_JACOBI, .omega = 0.7}, 8, 4);
}

static void chebyshev_equals_product_of_its_roots(void **state) {
  (void)state;
  compare_all((TesSmootherDesc){.kind = TES_SMOOTHER_CHEBYSHEV}, 8, 2);
  compare_all((TesSmootherDesc){.kind = TES_SMOOTHER_CHEBYSHEV, .degree = 1}, 2, 0);
  compare_all((TesSmootherDesc){.kind = TES_SMOOTHER_CHEBYSHEV, .degree = 7}, 2, 1);
  compare_all((TesSmootherDesc){.kind = TES_SMOOTHER_CHEBYSHEV, .degree = 5, .ratio = 20}, 2, 1);
  compare_all((TesSmootherDesc){.kind = TES_SMOOTHER_CHEBYSHEV, .degree = 8, .optimal = true}, 2, 1);
  compare_all((TesSmootherDesc){.kind = TES_SMOOTHER_CHEBYSHEV, .degree = 1, .ratio = 3}, 2, 0);
  compare_all((TesSmootherDesc){.kind = TES_SMOOTHER_CHEBYSHEV, .degree = 4, .ratio = 30}, 2, 1);
}

static void gauss_seidel_equals_dense_sweep(void **state) {
  (void)state;
  compare_all((TesSmootherDesc){.kind = TES_SMOOTHER_GAUSS_SEIDEL}, 3, 1);
  compare_all((TesSmootherDesc){.kind = TES_SMOOTHER_GAUSS_SEIDEL_MORTON}, 8, 2);
}

/* Of meshes of trees, and of transport. */
static bool is_of_others(TesSmootherKind kind) {
  return kind == TES_SMOOTHER_CELL_PATCH || kind == TES_SMOOTHER_LINE_PATCH ||
         kind == TES_SMOOTHER_ORDERED_CELLS;
}

static void threads_give_the_same_bits(void **state) {
  (void)state;
  const Case c = {.dim = 3, .degree = 3, .cells = {3, 2, 2}, .natural = 0x8};
  for (TesSmootherKind kind = TES_SMOOTHER_JACOBI; kind <= TES_SMOOTHER_GAUSS_SEIDEL_MORTON; kind++) {
    if (is_of_others(kind)) continue;
    compare_threads(&c, TES_DOUBLE, (TesSmootherDesc){.kind = kind});
    compare_threads(&c, TES_SINGLE, (TesSmootherDesc){.kind = kind});
  }
}

/* S of x <- x + S b from zero: u' S v = v' S u, forward against backward. */
static void steps_are_symmetric(void **state) {
  (void)state;
  TesContext *ctx = context();
  const Case c = {.dim = 2, .degree = 4, .cells = {3, 4}, .natural = 0x2, .variable = true, .c = 1};
  for (TesSmootherKind kind = TES_SMOOTHER_JACOBI; kind <= TES_SMOOTHER_GAUSS_SEIDEL_MORTON; kind++) {
    if (is_of_others(kind)) continue;
    Setup s;
    setup(&s, ctx, &c, TES_DOUBLE, (TesSmootherDesc){.kind = kind});
    assert_true(s.smoother->symmetric);
    double *Sb = malloc(sizeof(double) * (size_t)s.n), *Sx = malloc(sizeof(double) * (size_t)s.n), *b = s.b,
           *x = s.x;
    double xSb = 0, bSx = 0;
    sweep_once(&s, false, TES_FORWARD, true, Sb);
    s.b = x;
    sweep_once(&s, false, TES_BACKWARD, true, Sx);
    s.b = b;
    for (int64_t i = 0; i < s.n; i++) xSb += x[i] * Sb[i], bSx += b[i] * Sx[i];
    assert_near(xSb, bSx, 1e-12 * fabs(xSb));
    free(Sb), free(Sx);
    teardown(&s);
  }
  tes_context_destroy(&ctx);
}

/* Power iteration with the plain operator, from a vector close to the highest mode. */
static double largest_eigenvalue_by_powers(const Setup *s) {
  const size_t n = (size_t)s->n;
  double *v = malloc(sizeof(double) * n), *w = malloc(sizeof(double) * n), *d = malloc(sizeof(double) * n),
         lambda = 0;
  assert_int_equal(tesi_diffusion_diagonal_ref(s->op, d), TES_OK);
  memcpy(v, s->x, sizeof(double) * n);
  for (int step = 0; step < 400; step++) {
    double vv = 0, vw = 0;
    assert_int_equal(s->op->table->apply_ref(s->op, v, w), TES_OK);
    for (size_t i = 0; i < n; i++) vv += v[i] * v[i] * d[i], vw += v[i] * w[i];
    lambda = vw / vv;
    for (size_t i = 0; i < n; i++) v[i] = w[i] / d[i] / lambda;
  }
  free(v), free(w), free(d);
  return lambda;
}

static void eigenvalue_estimates_are_close(void **state) {
  (void)state;
  TesContext *ctx = context();
  for (int degree = 1; degree <= 6; degree++)
    for (int variable = 0; variable < 2; variable++) {
      const Case c = {.dim = 2, .degree = degree, .cells = {4, 3}, .variable = variable};
      Setup s;
      void *inverse;
      double lambda, single_lambda;
      setup_operator(&s, ctx, &c, TES_DOUBLE);
      const double exact = largest_eigenvalue_by_powers(&s);
      assert_int_equal(tesi_inverse_diagonal(s.op, &inverse), TES_OK);
      assert_int_equal(tesi_largest_jacobi_eigenvalue(s.op, inverse, &lambda), TES_OK);
      tesi_context_device(ctx)->release(ctx, &inverse);
      teardown(&s);
      assert_near(lambda, exact, 0.03 * exact);
      setup_operator(&s, ctx, &c, TES_SINGLE);
      assert_int_equal(tesi_inverse_diagonal(s.op, &inverse), TES_OK);
      assert_int_equal(tesi_largest_jacobi_eigenvalue(s.op, inverse, &single_lambda), TES_OK);
      tesi_context_device(ctx)->release(ctx, &inverse);
      teardown(&s);
      assert_near(single_lambda, lambda, 1e-3 * lambda);
    }
  tes_context_destroy(&ctx);
}

/* Chebyshev steps alone solve a small problem: x converges to A^-1 b. */
static void smoothing_steps_converge(void **state) {
  (void)state;
  TesContext *ctx = context();
  for (TesSmootherKind kind = TES_SMOOTHER_JACOBI; kind <= TES_SMOOTHER_GAUSS_SEIDEL_MORTON; kind++) {
    if (is_of_others(kind)) continue;
    const Case c = {.dim = 2, .degree = 2, .cells = {2, 2}, .natural = 0x8, .alpha = 1, .variable = true};
    Setup s;
    TesVector *b, *x, *r;
    double before, after;
    setup(&s, ctx, &c, TES_DOUBLE, (TesSmootherDesc){.kind = kind});
    assert_int_equal(tes_vector_create(ctx, s.n, TES_DOUBLE, &b), TES_OK);
    assert_int_equal(tes_vector_create(ctx, s.n, TES_DOUBLE, &x), TES_OK);
    assert_int_equal(tes_vector_create(ctx, s.n, TES_DOUBLE, &r), TES_OK);
    assert_int_equal(tes_vector_set(b, s.b), TES_OK);
    assert_int_equal(tes_vector_norm(b, &before), TES_OK);
    for (int i = 0; i < 500; i++)
      assert_int_equal(tes_smoother_apply(s.smoother, b, x, i % 2 ? TES_BACKWARD : TES_FORWARD, i == 0),
                       TES_OK);
    assert_int_equal(tes_operator_residual(s.op, b, x, r), TES_OK);
    assert_int_equal(tes_vector_norm(r, &after), TES_OK);
    assert_true(after < 1e-9 * before);
    tes_vector_destroy(&b), tes_vector_destroy(&x), tes_vector_destroy(&r);
    teardown(&s);
  }
  tes_context_destroy(&ctx);
}

/* A device without the optional entries must do the same. */
static void optional_entries_have_substitutes(void **state) {
  (void)state;
  TesContext *ctx = context();
  const TesiDevice *host = tesi_context_device(ctx);
  TesiDevice poor = *host;
  poor.multiply = NULL, poor.diagonal_step = NULL, poor.diagonal_residual = NULL;
  enum { N = 5 };
  const double r[N] = {1, -2, 3, 0.5, 4}, d[N] = {2, 3, 0.5, 1, -1};
  for (int pass = 0; pass < 2; pass++) {
    double p[N] = {1, 2, 3, 4, 5}, x[N] = {5, 4, 3, 2, 1}, y[N];
    TesiDiagonalStep step = {.s = 2, .c = 0.5, .keep = 3, .r = r, .d = d, .p = p, .x = x};
    tesi_context_set_device(ctx, pass ? &poor : host, NULL, NULL);
    assert_int_equal(tesi_device_diagonal_step(ctx, TES_DOUBLE, N, &step), TES_OK);
    for (int i = 0; i < N; i++) {
      assert_near(p[i], 0.5 * (i + 1) + 2 * r[i] * d[i], 1e-15);
      assert_near(x[i], 3 * (5 - i) + p[i], 1e-14);
    }
    for (int i = 0; i < N; i++) p[i] = x[i] = NAN;
    step.c = step.keep = 0, step.b = d, step.next = y;
    assert_int_equal(tesi_device_diagonal_step(ctx, TES_DOUBLE, N, &step), TES_OK);
    for (int i = 0; i < N; i++) assert_near(x[i], 2 * r[i] * d[i], 1e-15);
    for (int i = 0; i < N; i++) assert_true(y[i] == d[i]);
    memcpy(y, r, sizeof y);
    assert_int_equal(tesi_device_multiply(ctx, TES_DOUBLE, N, 0.5, y, d, y), TES_OK);
    for (int i = 0; i < N; i++) assert_near(y[i], 0.5 * r[i] * d[i], 1e-15);
    for (int i = 0; i < N; i++) y[i] = NAN;
    assert_int_equal(tesi_device_multiply(ctx, TES_DOUBLE, N, 3, r, d, y), TES_OK);
    for (int i = 0; i < N; i++) assert_near(y[i], 3 * r[i] * d[i], 1e-15);
    double rz = NAN, sum = 0;
    memcpy(p, r, sizeof p);
    for (int i = 0; i < N; i++) x[i] = i, y[i] = NAN;
    assert_int_equal(tesi_device_diagonal_residual(ctx, TES_DOUBLE, N, -2, x, d, p, y, &rz), TES_OK);
    for (int i = 0; i < N; i++) {
      assert_near(p[i], r[i] - 2 * i, 1e-15);
      assert_near(y[i], p[i] * d[i], 1e-15);
      sum += (r[i] - 2 * i) * (r[i] - 2 * i) * d[i];
    }
    assert_near(rz, sum, 1e-13);
  }
  tesi_context_set_device(ctx, host, NULL, NULL);
  tes_context_destroy(&ctx);
}

static void bad_arguments_are_refused(void **state) {
  (void)state;
  TesContext *ctx = context();
  TesSmoother *smoother;
  Setup s;
  setup_operator(&s, ctx, &(Case){.dim = 2, .degree = 2, .cells = {2, 2}}, TES_DOUBLE);
  const TesSmootherDesc wrong[] = {
      {.op = s.op, .kind = TES_SMOOTHER_CHEBYSHEV, .degree = -1},
      {.op = s.op, .kind = TES_SMOOTHER_CHEBYSHEV, .degree = 1000},
      {.op = s.op, .kind = TES_SMOOTHER_CHEBYSHEV, .ratio = 0.5},
      {.op = s.op, .kind = TES_SMOOTHER_CHEBYSHEV, .ratio = NAN},
      {.op = s.op, .kind = TES_SMOOTHER_CHEBYSHEV, .omega = 0.5},
      {.op = s.op, .kind = TES_SMOOTHER_GAUSS_SEIDEL, .omega = 0.5},
      {.op = s.op, .kind = TES_SMOOTHER_JACOBI, .omega = 3},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_int_equal(tes_smoother_create(ctx, &wrong[i], &smoother), TES_INVALID_INPUT);
    assert_null(smoother);
  }
  teardown(&s);
  tes_context_destroy(&ctx);
}

static TesStatus create_and_destroy(TesContext *ctx, void *user) {
  TesStatus status = TES_OK;
  TesMesh *mesh = NULL;
  TesSpace *space = NULL;
  TesOperator *op = NULL;
  TesSmoother *smoother = NULL;
  TesFunction *a = NULL;
  static const double one = 1;
  tesi_context_set_device(ctx, &tesi_device_host, NULL, NULL);
  TES_TRY(tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {2, 2}}, &mesh));
  TES_TRY(tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 2}, &space));
  TES_TRY(tes_function_create_callback(ctx, varying, (void *)&one, NULL, &a));
  TES_TRY(test_operator_create(ctx, &(TestDiffusion){.space = space, .a = a}, &op));
  TES_TRY(tes_smoother_create(ctx, &(TesSmootherDesc){.op = op, .kind = *(TesSmootherKind *)user}, &smoother));
done:
  tes_smoother_destroy(&smoother);
  tes_function_destroy(&a);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
  return status;
}

static void failing_allocations_leave_nothing(void **state) {
  (void)state;
  for (TesSmootherKind kind = TES_SMOOTHER_JACOBI; kind <= TES_SMOOTHER_GAUSS_SEIDEL_MORTON; kind++)
    if (!is_of_others(kind)) assert_true(every_allocation_fails(create_and_destroy, &kind) > 10);
}

int main(int argc, char **argv) {
  if (argc > 1) cmocka_set_test_filter(argv[1]); /* e.g. "jacobi*" */
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(jacobi_equals_plain_version),
      cmocka_unit_test(chebyshev_equals_product_of_its_roots),
      cmocka_unit_test(gauss_seidel_equals_dense_sweep),
      cmocka_unit_test(threads_give_the_same_bits),
      cmocka_unit_test(steps_are_symmetric),
      cmocka_unit_test(eigenvalue_estimates_are_close),
      cmocka_unit_test(smoothing_steps_converge),
      cmocka_unit_test(optional_entries_have_substitutes),
      cmocka_unit_test(bad_arguments_are_refused),
      cmocka_unit_test(failing_allocations_leave_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
