/* Run: ctest -R t5_modal_load_kernels. Right-hand sides over discontinuous elements by kernels beside those of the
 * host, in the emulator with the threads in three orders, and on a GPU where there is one: degrees to 8, 2D and 3D,
 * graded cells, values with and without what a velocity carries in, fluxes, periodic directions, ends and sources
 * without a function; at two times of the clock, outputs poisoned; a value that is none. Brief: one kind of ends a
 * degree.
 * Quick: 1-3
 * Labels: heavy */
#include "device/emulator/fiber.h"
#include "host_testing.h"
#include "device_testing.h"
#include "functional/rt/rt_load_device.h"
#include "functional/device_text.h"
#include "operator/transport/upwind_device.h"
#include "upwind_testing.h"

static const char *const devices[] = {"emulator", "cuda"};

typedef struct Data {
  TesFunction *f, *g[6];
  TesiGiven given[6];
} Data;

/* Functions of x and t, or (time not NaN) of x at a time. On the lower end of y nothing is given. */
static Data make_data(TesContext *ctx, const Flow *f, bool source, double time) {
  static const char *const text[6] = {"1 + x*y - t", "y*y + z", "2", "cos(t)*x + y", "x - z*t", "1 + t"};
  Data d = {.f = NULL};
  TesFunction *of_time = NULL;
  for (int i = -1; i < 2 * f->dim; i++) {
    if (i < 0 ? !source : i == 2) continue;
    assert_ok(ctx,
              tes_function_create_expression(ctx, i < 0 ? "sin(x + 2*y)*(1 + t*z) + t" : text[i], &of_time));
    TesFunction **to = i < 0 ? &d.f : &d.g[i];
    if (isnan(time))
      *to = of_time;
    else
      assert_ok(ctx, tesi_function_at(of_time, time, to));
    if (!isnan(time)) tes_function_destroy(&of_time);
    of_time = NULL;
  }
  for (int i = 0; i < 2 * f->dim; i++) {
    d.given[i] = flow_side(f, i);
    d.given[i].g[0] = d.g[i];
  }
  return d;
}

static void forget(Data *d) {
  tes_function_destroy(&d->f);
  for (int i = 0; i < 6; i++) tes_function_destroy(&d->g[i]);
}

/* By the host's functions. */
static double *expected_load(const Flow *f, bool source, bool carried, double time) {
  TesSpace *space = flow_space(host, f);
  Velocity v = upwind_velocity(host, false);
  TesOperator *op = upwind_operator(host, space, f, &v, false, TES_DOUBLE);
  Data d = make_data(host, f, source, time);
  TesVector *b = flow_vector(host, space, TES_DOUBLE, NULL);
  double *values = calloc((size_t)tes_space_length(space), sizeof *values);
  assert_ok(host, tesi_rt_load(space, (const TesFunction *[3]){d.f}, 0.7, d.given, TES_PENALTY_PAPER, b));
  assert_ok(host, tes_vector_get(b, values));
  for (int i = 0; i < 2 * f->dim; i++)
    if (carried && f->given[i] == 'v' && d.g[i])
      assert_ok(host,
                tesi_upwind_boundary(&tesi_transport_of(op)->upwind, i, TESI_UPWIND_IN, -1, d.g[i], values));
  tes_vector_destroy(&b);
  forget(&d);
  upwind_forget(&v);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
  return values;
}

static void check(TesContext *ctx, const Flow *f, bool source, bool carried) {
  TesSpace *space = flow_space(ctx, f);
  Velocity v = upwind_velocity(ctx, false);
  TesOperator *op = upwind_operator(ctx, space, f, &v, false, TES_DOUBLE);
  Data d = make_data(ctx, f, source, NAN);
  TesiModalLoad *plan;
  TesiInflow inflow;
  void *clock;
  const TesiTransport *t = tesi_transport_of(op);
  inflow.speed = tesi_upwind_device_speed(t->upwind_device, &inflow.step);
  assert_ok(ctx, tesi_modal_load_create(space, d.f, 0.7, d.given, TES_PENALTY_PAPER,
                                        carried ? t->batches->q : 0, &plan));
  assert_non_null(plan);
  assert_ok(ctx, tesi_clock_create(ctx, 0.25, &clock));
  for (int when = 0; when < 2; when++) {
    double *expected = expected_load(f, source, carried, when ? 0.5 : 0.25);
    TesVector *b = flow_vector(ctx, space, TES_DOUBLE, NULL),
              *e = flow_vector(ctx, space, TES_DOUBLE, expected);
    if (when) assert_ok(ctx, tesi_clock_set(ctx, clock, 0.5));
    assert_ok(ctx, tesi_modal_load_run(plan, clock, carried ? &inflow : NULL, b));
    const double difference = flow_difference(ctx, b, e);
    if (!(difference <= 1e-12))
      fail_msg("Q_%d, %dD, ends %s, source %d, carried %d: off by %.3g", f->degree, f->dim, f->given, source,
               carried, difference);
    tes_vector_destroy(&b), tes_vector_destroy(&e);
    free(expected);
  }
  tesi_context_device(ctx)->release(ctx, &clock);
  tesi_modal_load_destroy(&plan);
  forget(&d);
  upwind_forget(&v);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
}

static void loads_are_those_of_the_host(void **state) {
  static const char *const given[2][3] = {{"vvvv", "voov", "ppvv"}, {"vvvvvv", "ovvovo", "vvppov"}};
  (void)state;
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    for (int degree = 1; ctx && degree <= 8; degree++)
      for (int i = 0; i < 6; i++) {
        const int dim = 2 + i / 3;
        if (!test_degree(degree) || ((test_brief() || degree > 3) && i % 3 != degree % 3)) continue;
        tesi_fiber_order((TesiOrder)((degree + i) % 3), (uint64_t)i + 1);
        check(ctx,
              &(Flow){.dim = dim,
                      .degree = degree,
                      .cells = {4, 3, 2},
                      .given = given[i / 3][i % 3],
                      .graded = i % 2 == 0,
                      .modal = true},
              (degree + i) % 4 != 0, i % 3 != 1 || degree % 2);
      }
    tes_context_destroy(&ctx);
  }
  tesi_fiber_order(TESI_ORDER_FORWARD, 1);
}

/* One inside a cell, one on a face. */
static void values_that_are_none_are_seen(void **state) {
  TesContext *ctx = test_device("emulator");
  const Flow f = {.dim = 2, .degree = 2, .cells = {3, 2}, .given = "vvvv", .modal = true};
  (void)state;
  if (!ctx) skip();
  for (int way = 0; way < 3; way++) {
    TesSpace *space = flow_space(ctx, &f);
    TesFunction *bad, *good;
    TesiGiven given[6] = {{.how = {TESI_WEAK}}};
    TesiModalLoad *plan;
    void *clock;
    bool refused;
    assert_ok(ctx, tes_function_create_expression(ctx, "sqrt(0.9 - x)", &bad));
    assert_ok(ctx, tes_function_create_expression(ctx, "x", &good));
    given[1].g[0] = way == 1 ? bad : good;
    assert_ok(ctx, tesi_modal_load_create(space, way == 2 ? bad : good, 1, given, TES_PENALTY_AUTO, 0, &plan));
    TesVector *b = flow_vector(ctx, space, TES_DOUBLE, NULL);
    assert_ok(ctx, tesi_clock_create(ctx, 0, &clock));
    assert_ok(ctx, tesi_modal_load_run(plan, clock, NULL, b));
    assert_ok(ctx, tesi_clock_refused(ctx, clock, &refused));
    assert_int_equal(refused, way > 0);
    tesi_context_device(ctx)->release(ctx, &clock);
    tes_vector_destroy(&b);
    tesi_modal_load_destroy(&plan);
    tes_function_destroy(&bad), tes_function_destroy(&good);
    tes_space_destroy(&space);
  }
  tes_context_destroy(&ctx);
}

/* Functions that ask for the normal are the host's. */
static void normals_are_left_to_the_host(void **state) {
  TesContext *ctx = test_device("emulator");
  const Flow f = {.dim = 2, .degree = 2, .cells = {3, 2}, .given = "vvvv", .modal = true};
  (void)state;
  if (!ctx) skip();
  TesSpace *space = flow_space(ctx, &f);
  TesFunction *g;
  TesiGiven given[6] = {{.how = {TESI_WEAK}}};
  TesiModalLoad *plan;
  assert_ok(ctx, tes_function_create_expression(ctx, "x*nx + ny", &g));
  given[0].g[0] = g;
  assert_ok(ctx, tesi_modal_load_create(space, NULL, 1, given, TES_PENALTY_AUTO, 0, &plan));
  assert_null(plan);
  tes_function_destroy(&g);
  tes_space_destroy(&space);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(loads_are_those_of_the_host),
                                     cmocka_unit_test(values_that_are_none_are_seen),
                                     cmocka_unit_test(normals_are_left_to_the_host)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
