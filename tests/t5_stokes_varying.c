/* Run: ctest -R t5_stokes_varying. Stokes with a viscosity that varies and the symmetric gradient: operator and patches
 * against dense quadrature and dense pseudo-inverses.
 * Labels: threads */
#include "operator/stokes_varying/stokes_varying.h"
#include "smoother/smoother.h"
#include "stokes_testing.h"

static TesContext *ctx;

static const Flow shapes[] = {{.dim = 2, .degree = 1, .cells = {4, 3}},
                              {.dim = 2, .degree = 2, .cells = {3, 4}, .given = "vosv", .graded = true},
                              {.dim = 2, .degree = 3, .cells = {3, 3}, .given = "ppvo", .alpha = 2},
                              {.dim = 2, .degree = 5, .cells = {2, 3}, .given = "ppvv"},
                              {.dim = 3, .degree = 1, .cells = {2, 3, 2}, .given = "vvpposv"},
                              {.dim = 3, .degree = 2, .cells = {2, 2, 3}, .graded = true}};
enum { SHAPES = sizeof shapes / sizeof *shapes };
static const char *const smooth = "1 + 0.5*sin(3*x) + x*y + y*y", *const jump = "1 + 9*(x > 0.5 && y > 0.4)";

static TesOperator *make(const TesSpace *space, const Flow *f, TesTerm term, const char *nu, const char *kind,
                         TesPrecision precision) {
  TesOperator *op;
  TesFunction *alpha, *viscosity;
  assert_ok(ctx, tes_function_create_constant(ctx, f->alpha, &alpha));
  assert_ok(ctx, tes_function_create_expression(ctx, nu, &viscosity));
  const TesTermDesc terms[] = {{.term = term, .a = {.all = viscosity}},
                               {.term = TES_TERM_MASS, .a = {.all = alpha}},
                               {.term = TES_TERM_DIVERGENCE}};
  const TesOperatorDesc desc = {
      .space = space, .form = {3, terms, f->penalty}, .precision = precision, .kind = kind};
  assert_ok(ctx, tes_operator_create(ctx, &desc, &op));
  tes_function_destroy(&alpha);
  tes_function_destroy(&viscosity);
  return op;
}

static void compare(const TesOperator *op, const TesSpace *space, const TesOperator *other, double tolerance) {
  double *values = flow_random(space, 3);
  TesVector *x = flow_vector(ctx, space, TES_DOUBLE, values), *y = flow_vector(ctx, space, TES_DOUBLE, NULL),
            *z = flow_vector(ctx, space, TES_DOUBLE, NULL);
  assert_ok(ctx, tes_operator_apply(op, x, y));
  if (other)
    assert_ok(ctx, tes_operator_apply(other, x, z));
  else
    assert_ok(ctx, tesi_operator_apply_ref(op, x, z));
  assert_near(flow_difference(ctx, y, z), 0, tolerance);
  TesVector *vectors[] = {x, y, z};
  for (int i = 0; i < 3; i++) tes_vector_destroy(&vectors[i]);
  free(values);
}

static void products_are_those_of_the_definition(void **state) {
  (void)state;
  for (int i = 0; i < SHAPES; i++)
    for (int form = 0; form < 4; form++) {
      TesSpace *space = flow_space(ctx, &shapes[i]);
      TesOperator *op = make(space, &shapes[i], form % 2 ? TES_TERM_STRAIN : TES_TERM_DIFFUSION,
                             form / 2 ? jump : smooth, NULL, TES_DOUBLE);
      assert_string_equal(tes_operator_info(op).kind, "stokes_varying");
      compare(op, space, NULL, 2e-13);
      tes_operator_destroy(&op);
      tes_space_destroy(&space);
    }
}

/* With a constant viscosity the gradient form is that of the kind stokes. */
static void constants_are_those_of_bands(void **state) {
  (void)state;
  for (int i = 0; i < SHAPES; i++) {
    TesSpace *space = flow_space(ctx, &shapes[i]);
    TesOperator *op = make(space, &shapes[i], TES_TERM_DIFFUSION, "3", "stokes_varying", TES_DOUBLE),
                *bands = make(space, &shapes[i], TES_TERM_DIFFUSION, "3", "stokes", TES_DOUBLE);
    compare(op, space, bands, 1e-12);
    tes_operator_destroy(&op);
    tes_operator_destroy(&bands);
    tes_space_destroy(&space);
  }
}

/* float32 vectors, the diagonal, the null space, and symmetry. */
static void other_products(void **state) {
  (void)state;
  for (int i = 0; i < SHAPES; i++) {
    TesSpace *space = flow_space(ctx, &shapes[i]);
    const int64_t n = tes_space_length(space);
    TesOperator *op = make(space, &shapes[i], TES_TERM_STRAIN, smooth, NULL, TES_DOUBLE),
                *single = make(space, &shapes[i], TES_TERM_STRAIN, smooth, NULL, TES_SINGLE);
    double *u = flow_random(space, 1), *v = flow_random(space, 2), *d = malloc((size_t)n * sizeof *d);
    TesVector *x = flow_vector(ctx, space, TES_DOUBLE, u), *y = flow_vector(ctx, space, TES_DOUBLE, v),
              *Kx = flow_vector(ctx, space, TES_DOUBLE, NULL), *Ky = flow_vector(ctx, space, TES_DOUBLE, NULL),
              *xs = flow_vector(ctx, space, TES_SINGLE, u), *Kxs = flow_vector(ctx, space, TES_SINGLE, NULL);
    double yKx, xKy;
    assert_ok(ctx, tes_operator_apply(op, x, Kx));
    assert_ok(ctx, tes_operator_apply(op, y, Ky));
    assert_ok(ctx, tes_vector_dot(y, Kx, &yKx));
    assert_ok(ctx, tes_vector_dot(x, Ky, &xKy));
    assert_near(yKx, xKy, 1e-11 * fabs(xKy));
    assert_ok(ctx, tes_operator_apply(single, xs, Kxs));
    assert_near(flow_difference(ctx, Kxs, Kx), 0, 1e-6);
    assert_ok(ctx, tes_operator_diagonal(op, Ky));
    assert_ok(ctx, tes_vector_get(Ky, d));
    for (int64_t j = i % 5; j < space->first[space->dim]; j += 7) {
      memset(u, 0, (size_t)n * sizeof *u);
      u[j] = 1;
      tesi_rt_clear(space, u);
      if (u[j] == 0) continue;
      assert_ok(ctx, tes_vector_set(x, u));
      assert_ok(ctx, tes_operator_apply(op, x, Kx));
      assert_ok(ctx, tes_vector_get(Kx, v));
      assert_near(d[j], v[j], 1e-12 * fabs(v[j]));
    }
    TesVector *vectors[] = {x, y, Kx, Ky, xs, Kxs};
    for (int k = 0; k < 6; k++) tes_vector_destroy(&vectors[k]);
    tes_operator_destroy(&op);
    tes_operator_destroy(&single);
    tes_space_destroy(&space);
    free(u), free(v), free(d);
  }
}

/* Exact patches, of any viscosity; and those by scaled Schur complements, which are exact too where the form is the
 * gradient's with one viscosity, here 1.25^9: with a mass term others are rounded. */
static void patches_are_pseudo_inverses(void **state) {
  (void)state;
  for (int i = 0; i < SHAPES; i++)
    for (int way = 0; way < 6; way++) {
      const bool exact = way < 4;
      const TesPrecision precision = way % 2 ? TES_SINGLE : TES_DOUBLE;
      const TesSweep sweep = way / 2 % 2 ? TES_BACKWARD : TES_FORWARD;
      TesSpace *space = flow_space(ctx, &shapes[i]);
      TesOperator *op = make(space, &shapes[i], exact ? TES_TERM_STRAIN : TES_TERM_DIFFUSION,
                             exact ? smooth : "7.450580596923828125", "stokes_varying", precision);
      TesSmoother *smoother;
      const TesSmootherDesc desc = {
          .op = op, .kind = TES_SMOOTHER_PATCH, .local = exact ? TES_LOCAL_EXACT : TES_LOCAL_SCALED};
      double *values = flow_random(space, 5 + (uint64_t)i), *start = flow_random(space, 50);
      TesVector *b = flow_vector(ctx, space, precision, values),
                *x = flow_vector(ctx, space, precision, start),
                *expected = flow_vector(ctx, space, precision, start);
      const double tolerance = shapes[i].degree * (precision == TES_DOUBLE ? 1e-10 : 1e-4);
      if (tes_space_length(space) < 600 || way == 0) {
        assert_ok(ctx, tes_smoother_create(ctx, &desc, &smoother));
        assert_ok(ctx, tesi_smoother_apply_ref(smoother, b, expected, sweep, false));
        assert_ok(ctx, tes_smoother_apply(smoother, b, x, sweep, false));
        assert_near(flow_difference(ctx, x, expected), 0, tolerance);
        assert_ok(ctx, tesi_smoother_apply_ref(smoother, b, expected, sweep, true));
        assert_ok(ctx, tes_vector_fill(x, NAN));
        assert_ok(ctx, tes_smoother_apply(smoother, b, x, sweep, true));
        assert_near(flow_difference(ctx, x, expected), 0, tolerance);
        tes_smoother_destroy(&smoother);
      }
      TesVector *vectors[] = {b, x, expected};
      for (int v = 0; v < 3; v++) tes_vector_destroy(&vectors[v]);
      free(values), free(start);
      tes_operator_destroy(&op);
      tes_space_destroy(&space);
    }
}

/* A viscosity that is not positive: the point is told. */
static void wrong_viscosities_are_told(void **state) {
  (void)state;
  TesSpace *space = flow_space(ctx, &shapes[0]);
  TesFunction *nu;
  TesOperator *op;
  assert_ok(ctx, tes_function_create_expression(ctx, "x - 0.9", &nu));
  const TesTermDesc terms[] = {{.term = TES_TERM_STRAIN, .a = {.all = nu}}, {.term = TES_TERM_DIVERGENCE}};
  assert_int_equal(
      tes_operator_create(ctx, &(TesOperatorDesc){.space = space, .form = {.terms = 2, .term = terms}}, &op),
      TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "the viscosity nu is not positive at ("));
  assert_non_null(strstr(tes_context_message(ctx), " at (0.0"));
  tes_context_clear(ctx);
  tes_function_destroy(&nu);
  tes_space_destroy(&space);
}

static int set_up(void **state) {
  (void)state;
  return tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0) != TES_OK;
}

static int tear_down(void **state) {
  (void)state;
  const size_t left = tes_context_memory(ctx);
  tes_context_destroy(&ctx);
  return left != 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_are_those_of_the_definition), cmocka_unit_test(constants_are_those_of_bands),
      cmocka_unit_test(other_products), cmocka_unit_test(patches_are_pseudo_inverses),
      cmocka_unit_test(wrong_viscosities_are_told)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
