/* Run: ctest -R t5_upwind_kernels. Transport between discontinuous elements by kernels, on the emulator with the
 * threads in three orders, and on a GPU where there is one: against the plain version from the definition and against
 * the processor; degrees to 8, 2D and 3D, both precisions and forms, equal and graded cells, periodic directions,
 * all ends, odd counts, velocities that vary and another one put in; outputs are poisoned. Brief: one kind of ends a
 * degree.
 * Quick: 1-3
 * Labels: heavy */
#include "device/emulator/fiber.h"
#include "host_testing.h"
#include "device_testing.h"
#include "smoother/smoother.h"
#include "upwind_testing.h"

static const char *const devices[] = {"emulator", "cuda"};

/* y <- T of another operator of the same form on the host, of the same numbers. */
static void apply_on_host(const Flow *f, bool constant, bool conservative, const double *values, double *y) {
  TesSpace *space = flow_space(host, f);
  Velocity v = upwind_velocity(host, constant);
  TesOperator *op = upwind_operator(host, space, f, &v, conservative, TES_DOUBLE);
  TesVector *x = flow_vector(host, space, TES_DOUBLE, values),
            *out = flow_vector(host, space, TES_DOUBLE, NULL);
  assert_ok(host, tes_operator_apply(op, x, out));
  assert_ok(host, tes_vector_get(out, y));
  tes_vector_destroy(&x), tes_vector_destroy(&out);
  upwind_forget(&v);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
}

static void expect(TesContext *ctx, const TesVector *y, const TesVector *expected, const Flow *f, int way,
                   const char *what) {
  const double tolerance = tes_vector_precision(y) == TES_DOUBLE ? 2e-13 : 1e-4,
               difference = flow_difference(ctx, y, expected);
  if (!(difference <= tolerance * (f->degree + 1)))
    fail_msg("Q_%d, %dD, ends %s, way %d, %s: off by %.3g of the largest", f->degree, f->dim,
             f->given ? f->given : "v", way, what, difference);
}

/* way: bits for a constant velocity, the conservative form, float32. */
static void check(TesContext *ctx, const Flow *f, int way) {
  const bool constant = way & 1, conservative = way >> 1 & 1;
  const TesPrecision precision = way >> 2 ? TES_SINGLE : TES_DOUBLE;
  TesSpace *space = flow_space(ctx, f);
  Velocity v = upwind_velocity(ctx, constant), other = upwind_velocity(ctx, !constant);
  TesOperator *op = upwind_operator(ctx, space, f, &v, conservative, precision);
  double *values = flow_random(space, 3 + (uint64_t)way), *image = flow_random(space, 3);
  for (int64_t i = 0; i < tes_space_length(space); i++) values[i] = (double)(float)(values[i] - 0.5);
  TesVector *x = flow_vector(ctx, space, precision, values), *y = flow_vector(ctx, space, precision, NULL),
            *z = flow_vector(ctx, space, precision, NULL);
  assert_ok(ctx, tes_operator_apply(op, x, y));
  apply_on_host(f, constant, conservative, values, image);
  assert_ok(ctx, tes_vector_set(z, image));
  expect(ctx, y, z, f, way, "beside the host");
  const bool plain = f->degree <= (f->dim == 2 ? 8 : 3); /* it is slow */
  if (plain) {
    assert_ok(ctx, tesi_operator_apply_ref(op, x, z));
    expect(ctx, y, z, f, way, "beside the plain version");
  }
  assert_ok(ctx, tes_vector_fill(z, 0));
  assert_ok(ctx, tes_operator_residual(op, z, x, z));
  assert_ok(ctx, tes_vector_axpy(2, y, z)); /* -A x + 2 A x */
  expect(ctx, z, y, f, way, "residual");
  const TesiTransport *t = tesi_transport_of(op); /* the velocity's part alone: A x - T x is S x */
  assert_ok(ctx, tesi_transport_subtract(op, x, y));
  assert_ok(ctx, tes_operator_apply(t->symmetric, x, z));
  expect(ctx, y, z, f, way, "the velocity alone");
  assert_ok(ctx, tesi_transport_move(op, (const TesFunction *const *)other.b));
  assert_ok(ctx, tes_vector_fill(y, NAN));
  assert_ok(ctx, tes_operator_apply(op, x, y));
  if (plain) {
    assert_ok(ctx, tesi_operator_apply_ref(op, x, z));
    expect(ctx, y, z, f, way, "another velocity");
  }
  tes_vector_destroy(&x), tes_vector_destroy(&y), tes_vector_destroy(&z);
  free(values), free(image);
  upwind_forget(&v), upwind_forget(&other);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
}

static void on_devices(int dim, int kinds, const char *const *given) {
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    for (int degree = 1; ctx && degree <= 8; degree++)
      for (int i = 0; i < kinds; i++) {
        if (!test_degree(degree) || ((test_brief() || (dim == 3 && degree > 4)) && i != degree % kinds))
          continue;
        const Flow f = {.dim = dim,
                        .degree = degree,
                        .cells = {dim == 2     ? 19 - degree
                                  : degree < 4 ? 5
                                               : 3,
                                  3, 2},
                        .given = given[i],
                        .graded = i % 2 == 0,
                        .modal = true,
                        .alpha = i};
        for (int way = degree > 3 ? i % 2 : 0; way<8; way += degree> 3 ? 2 : 1) {
          tesi_fiber_order((TesiOrder)((degree + i + way) % 3), (uint64_t)i + 1);
          check(ctx, &f, way);
        }
      }
    tes_context_destroy(&ctx);
  }
  tesi_fiber_order(TESI_ORDER_FORWARD, 1);
}

static void in_the_plane(void **state) {
  static const char *const given[] = {"vvvv", "voco", "ppvc", "ocpp"};
  (void)state;
  on_devices(2, 4, given);
}

static void in_space(void **state) {
  static const char *const given[] = {"vvvvvv", "vcppov", "ovcvpp", "ppoocc"};
  (void)state;
  on_devices(3, 4, given);
}

/* x after a sweep of cells in the order of the velocity, from a start or from nothing; the caller's to free. */
static double *smooth(TesContext *ctx, const Flow *f, int way, TesPrecision precision) {
  TesSpace *space = flow_space(ctx, f);
  Velocity v = upwind_velocity(ctx, way & 1);
  TesOperator *op = upwind_operator(ctx, space, f, &v, way >> 1 & 1, precision);
  TesSmoother *smoother;
  assert_ok(ctx, tes_smoother_create(ctx, &(TesSmootherDesc){.op = op}, &smoother));
  assert_non_null(strstr(tes_smoother_describe(smoother), "in the order of the flow"));
  double *values = flow_random(space, 5), *start = flow_random(space, 50);
  TesVector *b = flow_vector(ctx, space, precision, values),
            *x = flow_vector(ctx, space, precision, way & 4 ? start : NULL);
  assert_ok(ctx, tes_smoother_apply(smoother, b, x, way & 8 ? TES_BACKWARD : TES_FORWARD, !(way & 4)));
  assert_ok(ctx, tes_vector_get(x, start));
  tes_vector_destroy(&b), tes_vector_destroy(&x);
  free(values);
  upwind_forget(&v);
  tes_smoother_destroy(&smoother);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
  return start;
}

static void compare_cells(TesContext *ctx, const Flow *f, int way) {
  const TesPrecision precision = (way + f->degree) % 2 ? TES_SINGLE : TES_DOUBLE;
  TesSpace *space = flow_space(host, f);
  const int64_t n = tes_space_length(space);
  double *expected = smooth(host, f, way, TES_DOUBLE), *got = smooth(ctx, f, way, precision), worst = 0,
         size = 0;
  for (int64_t i = 0; i < n; i++) {
    worst = test_larger(worst, fabs(got[i] - expected[i]));
    size = test_larger(size, fabs(expected[i]));
  }
  if (!(worst <= (precision == TES_DOUBLE ? 1e-11 : 1e-4) * size))
    fail_msg("Q_%d, %dD, way %d: off by %.3g of %.3g", f->degree, f->dim, way, worst, size);
  free(expected), free(got);
  tes_space_destroy(&space);
}

/* Those of the host are compared with the plain version in t5_upwind. */
static void cells_are_solved(void **state) {
  static const char *const given[2] = {"vopp", "cvovpp"};
  (void)state;
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    for (int degree = 1; ctx && degree <= 8; degree++)
      for (int dim = 2; dim <= 3; dim++) {
        if (!test_degree(degree) || (dim == 3 && degree > 4)) continue;
        const Flow f = {.dim = dim,
                        .degree = degree,
                        .cells = {dim == 3 && degree > 2 ? 3 : 5, 3, 2},
                        .given = given[dim - 2],
                        .graded = degree % 2,
                        .modal = true,
                        .alpha = 1};
        for (int way = 0; way < 16; way += test_brief() || degree > 2 ? 5 : 1) {
          tesi_fiber_order((TesiOrder)((degree + way) % 3), 3);
          compare_cells(ctx, &f, way);
        }
      }
    tes_context_destroy(&ctx);
  }
  tesi_fiber_order(TESI_ORDER_FORWARD, 1);
}

/* In a periodic direction of two cells both neighbours are the same; a block has one cell, or more than there are. */
static void small_boxes(void **state) {
  (void)state;
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    if (!ctx) continue;
    for (int way = 0; way < 8; way++) {
      check(ctx, &(Flow){.dim = 2, .degree = 2, .cells = {2, 2}, .given = "ppvo", .modal = true}, way);
      check(ctx, &(Flow){.dim = 3, .degree = 1, .cells = {2, 2, 2}, .given = "pppppp", .modal = true}, way);
    }
    tes_context_destroy(&ctx);
  }
}

/* What the host does with numbers of the device: slopes, and the parts of boundaries. */
static void slopes_are_those_of_the_host(void **state) {
  (void)state;
  const Flow f = {.dim = 2, .degree = 3, .cells = {5, 4}, .given = "voco", .modal = true};
  for (int d = 0; d < 2; d++) {
    TesContext *on[2] = {host, test_device(devices[d])};
    double *values[2] = {NULL};
    int64_t n = 0;
    for (int i = 0; i < 2 && on[1]; i++) {
      TesSpace *space = flow_space(on[i], &f);
      Velocity v = upwind_velocity(on[i], false);
      TesOperator *op = upwind_operator(on[i], space, &f, &v, true, TES_DOUBLE);
      TesVector *y = flow_vector(on[i], space, TES_DOUBLE, NULL);
      n = tes_space_length(space);
      values[i] = calloc((size_t)n, sizeof **values);
      assert_ok(on[i], tesi_transport_slopes(op, y));
      assert_ok(on[i], tes_vector_get(y, values[i]));
      tes_vector_destroy(&y);
      upwind_forget(&v);
      tes_operator_destroy(&op);
      tes_space_destroy(&space);
    }
    for (int64_t i = 0; i < n; i++) assert_near(values[1][i], values[0][i], 1e-14);
    free(values[0]), free(values[1]);
    if (on[1]) tes_context_destroy(&on[1]);
  }
}

static void degrees_without_kernels_are_refused(void **state) {
  (void)state;
  TesContext *ctx = test_device("emulator");
  TesOperator *op;
  if (!ctx) skip();
  const Flow f = {.dim = 2, .degree = 9, .cells = {2, 2}, .modal = true};
  TesSpace *space = flow_space(ctx, &f);
  Velocity v = upwind_velocity(ctx, true);
  const TesTermDesc term[] = {{.term = TES_TERM_DIFFUSION},
                              {.term = TES_TERM_TRANSPORT, .b = {v.b[0], v.b[1]}}};
  assert_int_equal(tes_operator_create(ctx, &(TesOperatorDesc){.space = space, .form = {2, term, 0}}, &op),
                   TES_MISSING);
  assert_non_null(
      strstr(tes_context_message(ctx), "transport with element dg has kernels up to degree 8, got 9"));
  tes_context_clear(ctx);
  upwind_forget(&v);
  tes_space_destroy(&space);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(in_the_plane),
                                     cmocka_unit_test(in_space),
                                     cmocka_unit_test(small_boxes),
                                     cmocka_unit_test(cells_are_solved),
                                     cmocka_unit_test(slopes_are_those_of_the_host),
                                     cmocka_unit_test(degrees_without_kernels_are_refused)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
