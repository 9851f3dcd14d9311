/* Run: ctest -R t5_upwind. Transport between discontinuous elements against the plain version from the definition:
 * equal and graded boxes, periodic directions, all conditions, 2D and 3D, both forms; the rows that sum to nothing;
 * refusals.
 * Labels: threads */
#include "functional/rt/rt_functional.h"
#include "smoother/smoother.h"
#include "upwind_testing.h"

/* given: v values, o open, c closed, p periodic. */
static const Flow shapes[] = {
    {.dim = 2, .degree = 1, .cells = {4, 3}},
    {.dim = 2, .degree = 2, .cells = {9, 4}, .given = "voco", .graded = true, .alpha = 2},
    {.dim = 2, .degree = 4, .cells = {17, 2}, .given = "ppvc"},
    {.dim = 2, .degree = 7, .cells = {2, 3}, .given = "ocpp"},
    {.dim = 2, .degree = 15, .cells = {2, 2}, .given = "vovo", .graded = true},
    {.dim = 3, .degree = 1, .cells = {8, 2, 3}, .given = "vcppov"},
    {.dim = 3, .degree = 3, .cells = {3, 2, 2}, .given = "ovcvpp", .graded = true}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void check(TesContext *ctx, const Flow *f, bool constant, bool conservative) {
  Flow of = *f;
  of.modal = true;
  TesSpace *space = flow_space(ctx, &of);
  Velocity v = upwind_velocity(ctx, constant);
  TesOperator *op = upwind_operator(ctx, space, f, &v, conservative, TES_DOUBLE);
  double *values = flow_random(space, 3);
  TesVector *x = flow_vector(ctx, space, TES_DOUBLE, values), *y = flow_vector(ctx, space, TES_DOUBLE, NULL),
            *z = flow_vector(ctx, space, TES_DOUBLE, NULL);
  double rest;
  assert_ok(ctx, tes_vector_fill(y, NAN));
  assert_ok(ctx, tes_operator_apply(op, x, y));
  assert_ok(ctx, tesi_operator_apply_ref(op, x, z));
  assert_near(flow_difference(ctx, y, z), 0, 1e-12);
  assert_ok(ctx, tes_operator_residual(op, y, x, z));
  assert_ok(ctx, tes_vector_maximum(z, &rest));
  assert_near(rest, 0, 1e-9);
  /* another velocity in the same operator */
  Velocity other = upwind_velocity(ctx, !constant);
  assert_ok(ctx, tesi_transport_move(op, (const TesFunction *const *)other.b));
  assert_ok(ctx, tes_operator_apply(op, x, y));
  assert_ok(ctx, tesi_operator_apply_ref(op, x, z));
  assert_near(flow_difference(ctx, y, z), 0, 1e-12);
  tes_vector_destroy(&x), tes_vector_destroy(&y), tes_vector_destroy(&z);
  free(values);
  upwind_forget(&v), upwind_forget(&other);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
}

static TesContext *open_context(int threads) {
  TesContext *ctx;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu", .threads = threads}, &ctx, NULL, 0),
                   TES_OK);
  return ctx;
}

static void close_context(TesContext *ctx) {
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

static void operators_are_their_definition(void **state) {
  TesContext *ctx = open_context(3);
  (void)state;
  for (int i = 0; i < SHAPES; i++)
    for (int way = 0; way < 4; way++) check(ctx, &shapes[i], way & 1, way >> 1);
  close_context(ctx);
}

/* Loads of a function over discontinuous elements by batches: those of the flows' own quadrature, of a polynomial. */
static void boundaries_have_their_parts(void **state) {
  TesContext *ctx = open_context(1);
  const Flow f = {.dim = 2, .degree = 3, .cells = {10, 3}, .given = "vvvv", .modal = true};
  TesSpace *space = flow_space(ctx, &f);
  Velocity v = upwind_velocity(ctx, false);
  TesOperator *op = upwind_operator(ctx, space, &f, &v, false, TES_DOUBLE);
  const int64_t n = tes_space_length(space);
  TesFunction *g, *one;
  const TesFunction *f_one[3] = {NULL};
  (void)state;
  assert_ok(ctx, tes_function_create_expression(ctx, "x + 2*y", &g));
  assert_ok(ctx, tes_function_create_constant(ctx, 1, &one));
  f_one[0] = one;
  TesVector *ones = flow_vector(ctx, space, TES_DOUBLE, NULL), *y;
  assert_ok(ctx, tesi_rt_load(space, f_one, 0, NULL, TES_PENALTY_AUTO, ones));
  double *values = calloc((size_t)n, sizeof *values), sum;
  /* on the right (1 + y), of g = 1 + 2 y: int (1 + y)(1 + 2 y) = 19/6; at the bottom n = -y: -(x - 0.4) x */
  const struct {
    int face;
    TesiUpwindPart part;
    double expected;
  } rows[] = {{1, TESI_UPWIND_BOTH, 19. / 6},
              {1, TESI_UPWIND_OUT, 19. / 6},
              {1, TESI_UPWIND_IN, 0},
              {2, TESI_UPWIND_BOTH, -(1. / 3 - 0.2)}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    memset(values, 0, (size_t)n * sizeof *values);
    assert_ok(ctx,
              tesi_upwind_boundary(&tesi_transport_of(op)->upwind, rows[i].face, rows[i].part, 1, g, values));
    y = flow_vector(ctx, space, TES_DOUBLE, values);
    assert_ok(ctx, tes_vector_dot(ones, y, &sum));
    assert_near(sum, rows[i].expected, 1e-12);
    tes_vector_destroy(&y);
  }
  free(values);
  tes_vector_destroy(&ones);
  tes_function_destroy(&g), tes_function_destroy(&one);
  upwind_forget(&v);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
  close_context(ctx);
}

/* Closed walls, conservative, without diffusion through boundaries: the sum of all rows is 0, whatever b. */
static void conservative_sums_are_zero(void **state) {
  TesContext *ctx = open_context(2);
  const Flow f = {.dim = 2, .degree = 3, .cells = {9, 5}, .given = "cccc", .graded = true, .modal = true};
  TesSpace *space = flow_space(ctx, &f);
  TesFunction *one;
  double sum;
  (void)state;
  assert_ok(ctx, tes_function_create_constant(ctx, 1, &one));
  const TesFunction *f_one[3] = {one};
  Velocity v = upwind_velocity(ctx, false);
  TesOperator *op = upwind_operator(ctx, space, &f, &v, true, TES_DOUBLE);
  double *values = flow_random(space, 8);
  TesVector *x = flow_vector(ctx, space, TES_DOUBLE, values), *y = flow_vector(ctx, space, TES_DOUBLE, NULL),
            *ones = flow_vector(ctx, space, TES_DOUBLE, NULL);
  assert_ok(ctx, tesi_rt_load(space, f_one, 0, NULL, TES_PENALTY_AUTO, ones));
  assert_ok(ctx, tes_operator_apply(op, x, y));
  assert_ok(ctx, tes_vector_dot(ones, y, &sum));
  assert_near(sum, 0, 1e-11);
  tes_vector_destroy(&x), tes_vector_destroy(&y), tes_vector_destroy(&ones);
  free(values);
  tes_function_destroy(&one);
  upwind_forget(&v);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
  close_context(ctx);
}

static void threads_do_not_matter(void **state) {
  double *bits[2] = {NULL};
  int64_t length = 0;
  (void)state;
  for (int i = 0; i < 2; i++) {
    TesContext *ctx = open_context(1 + 3 * i);
    const Flow f = {.dim = 2, .degree = 3, .cells = {33, 17}, .given = "ppvo", .modal = true};
    TesSpace *space = flow_space(ctx, &f);
    Velocity v = upwind_velocity(ctx, false);
    TesOperator *op = upwind_operator(ctx, space, &f, &v, false, TES_DOUBLE);
    double *values = flow_random(space, 5);
    TesVector *x = flow_vector(ctx, space, TES_DOUBLE, values), *y = flow_vector(ctx, space, TES_DOUBLE, NULL);
    assert_ok(ctx, tes_operator_apply(op, x, y));
    length = tes_space_length(space);
    bits[i] = calloc((size_t)length, sizeof **bits);
    assert_ok(ctx, tes_vector_get(y, bits[i]));
    tes_vector_destroy(&x), tes_vector_destroy(&y);
    free(values);
    upwind_forget(&v);
    tes_operator_destroy(&op);
    tes_space_destroy(&space);
    close_context(ctx);
  }
  for (int64_t k = 0; k < length; k++) assert_true(bits[0][k] == bits[1][k]);
  free(bits[0]), free(bits[1]);
}

/* Cells in the order of the flow: each is solved exactly, by columns of the plain operator. */
static void cells_are_solved(void **state) {
  TesContext *ctx = open_context(3);
  (void)state;
  for (int i = 0; i < SHAPES; i++)
    for (int way = 0; way < 8; way++) {
      Flow f = shapes[i];
      f.modal = true;
      if (f.degree > (f.dim == 2 ? 4 : 1)) continue; /* the plain version is slow */
      TesSpace *space = flow_space(ctx, &f);
      Velocity v = upwind_velocity(ctx, way & 1);
      TesOperator *op = upwind_operator(ctx, space, &f, &v, way >> 1 & 1, TES_DOUBLE);
      TesSmoother *smoother;
      assert_ok(ctx, tes_smoother_create(ctx, &(TesSmootherDesc){.op = op}, &smoother));
      assert_non_null(strstr(tes_smoother_describe(smoother), "in the order of the flow"));
      double *values = flow_random(space, 5), *start = flow_random(space, 50);
      TesVector *b = flow_vector(ctx, space, TES_DOUBLE, values),
                *x = flow_vector(ctx, space, TES_DOUBLE, start),
                *expected = flow_vector(ctx, space, TES_DOUBLE, start);
      const TesSweep sweep = way >> 2 ? TES_BACKWARD : TES_FORWARD;
      assert_ok(ctx, tesi_smoother_apply_ref(smoother, b, expected, sweep, false));
      assert_ok(ctx, tes_smoother_apply(smoother, b, x, sweep, false));
      assert_near(flow_difference(ctx, x, expected), 0, 1e-10);
      assert_ok(ctx, tesi_smoother_apply_ref(smoother, b, expected, sweep, true));
      assert_ok(ctx, tes_vector_fill(x, NAN));
      assert_ok(ctx, tes_smoother_apply(smoother, b, x, sweep, true));
      assert_near(flow_difference(ctx, x, expected), 0, 1e-10);
      tes_vector_destroy(&b), tes_vector_destroy(&x), tes_vector_destroy(&expected);
      free(values), free(start);
      tes_smoother_destroy(&smoother);
      upwind_forget(&v);
      tes_operator_destroy(&op);
      tes_space_destroy(&space);
    }
  close_context(ctx);
}

/* Hardly any diffusion, and no closed paths: one step along the flow leaves next to nothing. */
static void one_step_is_a_solution(void **state) {
  TesContext *ctx = open_context(2);
  const Flow f = {.dim = 2, .degree = 3, .cells = {9, 7}, .given = "vvvv", .graded = true, .modal = true};
  TesSpace *space = flow_space(ctx, &f);
  TesFunction *a, *b[2];
  TesOperator *op;
  TesSmoother *smoother;
  double first, rest;
  (void)state;
  assert_ok(ctx, tes_function_create_constant(ctx, 1e-9, &a));
  assert_ok(ctx, tes_function_create_expression(ctx, "1 + y", &b[0]));
  assert_ok(ctx, tes_function_create_expression(ctx, "x - 2", &b[1]));
  const TesTermDesc term[] = {{.term = TES_TERM_DIFFUSION, .a = {.all = a}},
                              {.term = TES_TERM_TRANSPORT, .b = {b[0], b[1]}}};
  assert_ok(ctx, tes_operator_create(ctx, &(TesOperatorDesc){.space = space, .form = {2, term, 0}}, &op));
  assert_ok(ctx, tes_smoother_create(ctx, &(TesSmootherDesc){.op = op}, &smoother));
  double *values = flow_random(space, 8);
  TesVector *x = flow_vector(ctx, space, TES_DOUBLE, NULL), *r = flow_vector(ctx, space, TES_DOUBLE, values);
  TesVector *load = flow_vector(ctx, space, TES_DOUBLE, values);
  assert_ok(ctx, tes_vector_norm(load, &first));
  assert_ok(ctx, tes_smoother_apply(smoother, load, x, TES_FORWARD, true));
  assert_ok(ctx, tes_operator_residual(op, load, x, r));
  assert_ok(ctx, tes_vector_norm(r, &rest));
  assert_true(rest < 1e-4 * first);
  tes_vector_destroy(&x), tes_vector_destroy(&r), tes_vector_destroy(&load);
  free(values);
  tes_smoother_destroy(&smoother);
  tes_operator_destroy(&op);
  for (int d = 0; d < 2; d++) tes_function_destroy(&b[d]);
  tes_function_destroy(&a);
  tes_space_destroy(&space);
  close_context(ctx);
}

static void streamlines_are_refused(void **state) {
  TesContext *ctx = open_context(1);
  const Flow f = {.dim = 2, .degree = 2, .cells = {2, 2}, .modal = true};
  TesSpace *space = flow_space(ctx, &f);
  Velocity v = upwind_velocity(ctx, true);
  TesOperator *op;
  (void)state;
  const TesTermDesc term[] = {{.term = TES_TERM_DIFFUSION},
                              {.term = TES_TERM_TRANSPORT, .b = {v.b[0]}, .streamline = TES_STREAMLINE_ALWAYS}};
  assert_int_equal(tes_operator_create(ctx, &(TesOperatorDesc){.space = space, .form = {2, term, 0}}, &op),
                   TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "streamline terms are of element q"));
  tes_context_clear(ctx);
  upwind_forget(&v);
  tes_space_destroy(&space);
  close_context(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(operators_are_their_definition),
                                     cmocka_unit_test(boundaries_have_their_parts),
                                     cmocka_unit_test(conservative_sums_are_zero),
                                     cmocka_unit_test(threads_do_not_matter),
                                     cmocka_unit_test(cells_are_solved),
                                     cmocka_unit_test(one_step_is_a_solution),
                                     cmocka_unit_test(streamlines_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
