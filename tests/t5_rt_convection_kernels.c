/* Run: ctest -R t5_rt_convection_kernels. Convection of element rt by kernels beside that of the processor, on the
 * emulator with the threads in three orders, and on a GPU where there is one: ends of all kinds, periodic
 * directions, graded cells, odd counts, all degrees that have kernels; outputs are poisoned. Brief: one kind of ends
 * a degree.
 * Quick: 1-3
 * Labels: heavy */
#include "device/emulator/fiber.h"
#include "host_testing.h"
#include "device_testing.h"
#include "functional/rt/rt_functional.h"
#include "operator/rt_convection/rt_convection.h"
#include "stokes_testing.h"

static const char *const devices[] = {"emulator", "cuda"};

static void set_faces(TesiRtConvection *c, const Flow *f) {
  static const char *const text[3] = {"0.3 + x*y - z", "x - y*z", "y*nx + 0.5*ny"};
  TesFunction *g[3];
  TesiGiven given[6];
  for (int d = 0; d < 3; d++)
    assert_ok(c->context, tes_function_create_expression(c->context, text[d], &g[d]));
  for (int i = 0; i < 2 * f->dim; i++) {
    given[i] = flow_side(f, i);
    for (int d = 0; d < f->dim; d++) given[i].g[d] = (i + d) % 3 ? g[d] : NULL; /* some are zero */
  }
  for (int twice = 0; twice < 2; twice++) assert_ok(c->context, tesi_rt_convection_give(c, given));
  for (int d = 0; d < 3; d++) tes_function_destroy(&g[d]);
}

/* N(u) of random numbers, those of known nodes too; twice, for the same bits. */
static TesVector *convect(TesContext *on, const Flow *f, TesSpace **space, double *rate) {
  TesiRtConvection *c;
  TesVector *b[2];
  *space = flow_space(on, f);
  const int64_t n = tes_space_length(*space);
  TesVector *u = test_vector(on, n, TES_DOUBLE, 11), *half = test_vector(on, n, TES_DOUBLE, 0);
  assert_ok(on, tes_vector_fill(half, 0.5));
  assert_ok(on, tes_vector_axpy(-1, half, u)); /* of both signs */
  for (int64_t i = 0; i < 2; i++) {
    b[i] = test_vector(on, n, TES_DOUBLE, 0);
    assert_ok(on, tesi_rt_convection_create(*space, &c));
    set_faces(c, f);
    assert_ok(on, tesi_rt_convection_apply(c, u, b[i], rate));
    tesi_rt_convection_destroy(&c);
  }
  assert_near(flow_difference(on, b[0], b[1]), 0, 0);
  tes_vector_destroy(&half);
  tes_vector_destroy(&u);
  tes_vector_destroy(&b[1]);
  return b[0];
}

static void compare(TesContext *ctx, const Flow *f) {
  TesSpace *space, *exact_space;
  double rate, exact_rate;
  TesVector *b = convect(ctx, f, &space, &rate), *exact = convect(host, f, &exact_space, &exact_rate);
  const double difference = flow_difference(ctx, b, exact);
  if (!(difference <= 1e-13 * (f->degree + 1)))
    fail_msg("RT_%d, %dD, %s: off by %.3g of the largest", f->degree, f->dim, f->given, difference);
  assert_near(rate, exact_rate, 1e-13 * exact_rate);
  tes_vector_destroy(&b);
  tes_vector_destroy(&exact);
  tes_space_destroy(&space);
  tes_space_destroy(&exact_space);
}

static void on_devices(int dim, int degrees, int kinds, const char *const *given) {
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    for (int degree = 1; ctx && degree <= degrees; degree++)
      for (int i = 0; i < kinds; i++) {
        if (!test_degree(degree) || (test_brief() && i != degree % kinds)) continue;
        tesi_fiber_order((TesiOrder)((degree + i) % 3), (uint64_t)i + 1);
        const Flow f = {.dim = dim,
                        .degree = degree,
                        .cells = {dim == 2     ? 7
                                  : degree < 3 ? 5
                                               : 3,
                                  3, degree < 3 ? 3 : 2},
                        .given = given[i],
                        .graded = i % 2 == 0};
        compare(ctx, &f);
      }
    tes_context_destroy(&ctx);
  }
  tesi_fiber_order(TESI_ORDER_FORWARD, 1);
}

static void in_the_plane(void **state) {
  static const char *const given[] = {"vvvvvv", "ppvsoo", "osppvo", "pppppp", "vooovo"};
  (void)state;
  on_devices(2, TESI_RT_CONVECTION_DEGREE, 5, given);
}

static void in_space(void **state) {
  static const char *const given[] = {"vvvvvv", "ppvsoo", "osppvo", "pppppp", "vovspp"};
  (void)state;
  on_devices(3, TESI_RT_CONVECTION_SPACE, 5, given);
}

/* The smallest boxes: in a periodic direction of two cells both neighbours are the same. */
static void two_cells(void **state) {
  (void)state;
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    if (!ctx) continue;
    compare(ctx, &(Flow){.dim = 2, .degree = 2, .cells = {2, 2}, .given = "vovs"});
    compare(ctx, &(Flow){.dim = 3, .degree = 1, .cells = {2, 2, 2}, .given = "vvppvo"});
    tes_context_destroy(&ctx);
  }
}

static void nan_is_told(void **state) {
  (void)state;
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    if (!ctx) continue;
    TesiRtConvection *c;
    double rate;
    TesSpace *space = flow_space(ctx, &(Flow){.dim = 2, .degree = 2, .cells = {4, 3}, .given = "pppp"});
    const int64_t n = tes_space_length(space);
    double *values = flow_random(space, 3);
    values[n / 5] = NAN;
    TesVector *u = flow_vector(ctx, space, TES_DOUBLE, values), *b = test_vector(ctx, n, TES_DOUBLE, 0);
    assert_ok(ctx, tesi_rt_convection_create(space, &c));
    assert_ok(ctx, tesi_rt_convection_apply(c, u, b, &rate));
    assert_true(isnan(rate));
    free(values);
    tes_vector_destroy(&u);
    tes_vector_destroy(&b);
    tesi_rt_convection_destroy(&c);
    tes_space_destroy(&space);
    tes_context_destroy(&ctx);
  }
}

static void degrees_without_kernels_are_refused(void **state) {
  (void)state;
  TesContext *ctx = test_device("emulator");
  TesiRtConvection *c;
  if (!ctx) skip();
  TesSpace *space = flow_space(ctx, &(Flow){.dim = 3, .degree = 5, .cells = {2, 2, 2}, .given = "pppppp"});
  assert_int_equal(tesi_rt_convection_create(space, &c), TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "degrees 1 to 4 in space, got 5"));
  tes_space_destroy(&space);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(in_the_plane), cmocka_unit_test(in_space),
                                     cmocka_unit_test(two_cells), cmocka_unit_test(nan_is_told),
                                     cmocka_unit_test(degrees_without_kernels_are_refused)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
