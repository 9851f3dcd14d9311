/* Run: ctest -R t7_time_device. Steps in time on devices with kernels beside those of the host, and what a step asks of
 * the device: no memory, and no more numbers than are told.
 * Labels: heavy */
#include <string.h>
#include "device/emulator/fiber.h"
#include "device/kernel.h"
#include "device/recorded.h"
#include "host_testing.h"
#include "problem/in_time.h"
#include "problem/problem.h"
#include "time_testing.h"

enum { STEPS = 8, MANY = 400 };

/* Transport or (no velocity) heat on the square: values on all sides but for a flux at the top, where `flux`. */
typedef struct Case {
  TesMeshKind kind;
  int degree, cells;
  TesTimeMethod method;
  bool velocity, flux, priorities;
  TesMethod solver;
  const char *f, *g, *b; /* NULL: those below */
} Case;

static const char *const source = "sin(3*t)*(1 + x) + y", *const value = "cos(2*t) + x*y*t";

static TesStatus create(TesContext *ctx, const Case *c, TesProblem **problem) {
  TesMesh *mesh;
  TesFunction *a = expression(ctx, "0.1"), *b = expression(ctx, c->b ? c->b : "-1"),
              *f = expression(ctx, c->f ? c->f : source), *g = expression(ctx, c->g ? c->g : value),
              *other = expression(ctx, "1 + t"),
              *flux = expression(ctx, c->kind == TES_MESH_BOX ? "x*t" : "x");
  const TesBoundary boundary[] = {
      {.g = {g}},
      {.name = "left", .g = {other}, .priority = c->priorities ? -1 : 0},
      {.name = "top", .condition = c->flux ? TES_NEUMANN : TES_DIRICHLET, .g = {c->flux ? flux : other}}};
  assert_true(make_mesh(ctx, c->kind, c->cells, &mesh));
  const TesStatus status =
      tes_problem_create(ctx,
                         &(TesProblemDesc){.equation = TES_TRANSPORT,
                                           .mesh = mesh,
                                           .degree = c->degree,
                                           .stabilization = TES_STREAMLINE_NONE,
                                           .data = {.a = a, .b = {NULL, c->velocity ? b : NULL}, .f = {f}},
                                           .boundary = boundary,
                                           .boundaries = 3,
                                           .time = {.end = 0.6, .step = 0.6 / STEPS, .method = c->method},
                                           .solver = {.tolerance = 1e-11, .method = c->solver}},
                         problem);
  TesFunction **all[] = {&a, &b, &f, &g, &other, &flux};
  for (int i = 0; i < 6; i++) tes_function_destroy(all[i]);
  tes_mesh_destroy(&mesh);
  return status;
}

/* A body: on one side a displacement that moves, on another none across it, on a third a traction; loads in one or in
 * both directions. */
typedef struct Body {
  TesMeshKind kind;
  int degree;
  TesTimeMethod method;
  int guess;
  const char *f[2];
  double tolerance; /* 0: steps of one length */
} Body;

static TesStatus create_body(TesContext *ctx, const Body *c, TesProblem **problem) {
  TesMesh *mesh;
  TesFunction *lambda = expression(ctx, "2"), *mu = expression(ctx, "1"), *f[2] = {NULL},
              *g = expression(ctx, "0.1*sin(t)*(1 + y)"), *zero = expression(ctx, "0"),
              *traction = expression(ctx, c->kind == TES_MESH_BOX ? "y*t" : "y");
  for (int i = 0; i < 2; i++)
    if (c->f[i]) f[i] = expression(ctx, c->f[i]);
  const TesBoundary boundary[] = {{.condition = TES_NEUMANN},
                                  {.name = "left", .g = {g, zero}},
                                  {.name = "bottom", .condition = TES_SLIP},
                                  {.name = "right", .condition = TES_NEUMANN, .g = {NULL, traction}}};
  assert_true(make_mesh(ctx, c->kind, c->kind == TES_MESH_BOX ? 6 : 2, &mesh));
  const TesStatus status =
      tes_problem_create(ctx,
                         &(TesProblemDesc){.equation = TES_ELASTICITY,
                                           .mesh = mesh,
                                           .degree = c->degree,
                                           .data = {.lambda = lambda, .a = mu, .f = {f[0], f[1]}},
                                           .boundary = boundary,
                                           .boundaries = 4,
                                           .time = {.end = 0.6,
                                                    .step = c->tolerance > 0 ? 0 : 0.6 / STEPS,
                                                    .tolerance = c->tolerance,
                                                    .max_step = c->tolerance > 0 ? 0.05 : 0,
                                                    .method = c->method,
                                                    .rho_inf = 0.5},
                                           .solver = {.tolerance = 1e-11, .guess = c->guess}},
                         problem);
  TesFunction **all[] = {&lambda, &mu, &f[0], &f[1], &g, &zero, &traction};
  for (int i = 0; i < 7; i++) tes_function_destroy(all[i]);
  tes_mesh_destroy(&mesh);
  return status;
}

/* The solution after all steps, the caller's to free; *length, and what the last step asked for and took. Of `c`, or
 * of a body the step before the last. */
static double *run(TesContext *ctx, const Case *c, const Body *body, int64_t *length, TesiCounts *last,
                   int *iterations) {
  TesProblem *problem;
  TesSolveResult result;
  TesiCounts before = {0};
  const TesiKernelState *state = tesi_has_kernels(ctx) ? tesi_context_device_state(ctx) : NULL;
  assert_ok(ctx, c ? create(ctx, c, &problem) : create_body(ctx, body, &problem));
  for (int i = 0; i < STEPS; i++) {
    if (state) before = state->counts;
    assert_ok(ctx, tes_problem_step(problem, &result));
    if (body && i == STEPS - 1) break; /* it sums forces too */
    *iterations = result.iterations;
    if (state)
      *last = (TesiCounts){.to_host = state->counts.to_host - before.to_host,
                           .to_device = state->counts.to_device - before.to_device,
                           .allocations = state->counts.allocations - before.allocations,
                           .launches = state->counts.launches - before.launches,
                           .graphs = state->counts.graphs - before.graphs};
  }
  const TesVector *u = tes_problem_solution(problem);
  *length = tes_vector_length(u);
  double *values = malloc((size_t)*length * sizeof *values);
  assert_ok(ctx, tes_vector_get(u, values));
  tes_problem_destroy(&problem);
  return values;
}

static void compare(TesContext *ctx, const Case *c) {
  TesiCounts counts = {0};
  int64_t n, m;
  int iterations, stages = c->method == TES_TIME_SDIRK2 ? 2 : 1;
  double *expected = run(host, c, NULL, &n, NULL, &iterations),
         *got = run(ctx, c, NULL, &m, &counts, &iterations);
  assert_int_equal(n, m);
  for (int64_t i = 0; i < n; i++)
    if (!(fabs(got[i] - expected[i]) <= 1e-9))
      fail_msg("node %lld of degree %d: %.17g, expected %.17g", (long long)i, c->degree, got[i], expected[i]);
  if (counts.allocations || counts.to_device)
    fail_msg("a step allocates %lld times and sends %lld times", counts.allocations, counts.to_device);
  /* A graph a stage, and what became of it; where the device does not decide, one a further iteration too. */
  const int answers = tesi_recorded_can_loop(ctx) ? stages : iterations;
  if (counts.to_host != answers || counts.graphs != answers)
    fail_msg("%d iterations of %d stages: %lld numbers for the host, %lld graphs", iterations, stages,
             counts.to_host, counts.graphs);
  free(expected), free(got);
}

static void test_as_on_the_host(void **state) {
  static const char *const devices[] = {"emulator", "cuda"};
  static const Case cases[] = {
      {TES_MESH_BOX, 1, 8, TES_TIME_BACKWARD_EULER, true, false, false, TES_METHOD_AUTO, NULL, NULL, NULL},
      {TES_MESH_BOX, 2, 4, TES_TIME_BDF2, true, true, true, TES_METHOD_AUTO, NULL, NULL, NULL},
      {TES_MESH_BOX, 4, 3, TES_TIME_CRANK_NICOLSON, true, true, false, TES_METHOD_AUTO, NULL, NULL, NULL},
      {TES_MESH_BOX, 3, 4, TES_TIME_SDIRK2, false, true, false, TES_METHOD_AUTO, NULL, NULL, NULL},
      {TES_MESH_BOX, 2, 5, TES_TIME_BDF3, false, true, true, TES_METHOD_DIRECT, NULL, NULL, NULL},
      {TES_MESH_BOX, 1, 8, TES_TIME_BACKWARD_EULER, false, false, false, TES_METHOD_CG, NULL, "1 + x", NULL},
      {TES_MESH_FOREST, 2, 2, TES_TIME_BDF2, true, true, true, TES_METHOD_AUTO, NULL, NULL, NULL},
      {TES_MESH_FOREST, 3, 2, TES_TIME_CRANK_NICOLSON, false, false, false, TES_METHOD_AUTO, "x", NULL, NULL},
  };
  (void)state;
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    for (size_t i = 0; ctx && i < sizeof cases / sizeof *cases; i++) {
      tesi_fiber_order((TesiOrder)(i % 3), i + 1);
      if (cases[i].kind == TES_MESH_BOX || tes_has_part("p4est")) compare(ctx, &cases[i]);
    }
    tesi_fiber_order(TESI_ORDER_FORWARD, 1);
    if (ctx) tes_context_destroy(&ctx);
  }
}

static void compare_bodies(TesContext *ctx, const Body *c) {
  TesiCounts counts = {0};
  int64_t n, m;
  int iterations;
  double *expected = run(host, NULL, c, &n, NULL, &iterations),
         *got = run(ctx, NULL, c, &m, &counts, &iterations), size = 0;
  assert_int_equal(n, m);
  for (int64_t i = 0; i < n; i++) size = fmax(size, fabs(expected[i]));
  for (int64_t i = 0; i < n; i++)
    if (!(fabs(got[i] - expected[i]) <= 1e-9 * size))
      fail_msg("entry %lld of degree %d: %.17g, expected %.17g", (long long)i, c->degree, got[i], expected[i]);
  if (counts.allocations || counts.to_device || counts.to_host > iterations || counts.graphs == 0)
    fail_msg(
        "a step of %d iterations allocates %lld times, sends %lld times and gets %lld numbers, %lld graphs",
        iterations, counts.allocations, counts.to_device, counts.to_host, counts.graphs);
  free(expected), free(got);
}

static void test_bodies_as_on_the_host(void **state) {
  static const char *const devices[] = {"emulator", "cuda"}, *const wave = "sin(3*t)*(1 + x)";
  static const Body cases[] = {
      {TES_MESH_BOX, 1, TES_TIME_BACKWARD_EULER, -1, {wave, "y*t"}, 0},
      {TES_MESH_BOX, 2, TES_TIME_GENERALIZED_ALPHA, 0, {NULL, wave}, 0},
      {TES_MESH_FOREST, 1, TES_TIME_NEWMARK, 2, {wave, NULL}, 0},
      {TES_MESH_FOREST, 3, TES_TIME_GENERALIZED_ALPHA, 0, {"1", "x"}, 0},
  };
  (void)state;
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    for (size_t i = 0; ctx && i < sizeof cases / sizeof *cases; i++) {
      tesi_fiber_order((TesiOrder)(i % 3), i + 1);
      if (cases[i].kind == TES_MESH_BOX || tes_has_part("p4est")) compare_bodies(ctx, &cases[i]);
    }
    tesi_fiber_order(TESI_ORDER_FORWARD, 1);
    if (ctx) tes_context_destroy(&ctx);
  }
}

/* The times of all steps and the solution at the end, the caller's to free; *undone: steps that became shorter than
 * planned, but for those that are cut to end in time. */
static double *choose(TesContext *ctx, const Body *c, double *times, int *steps, int *undone, int64_t *length) {
  TesProblem *problem;
  TesSolveResult result;
  *steps = *undone = 0;
  assert_ok(ctx, create_body(ctx, c, &problem));
  const TesiInTime *it = problem->in_time;
  while (it->march.time < it->march.desc.end) {
    const double planned = it->march.dt;
    const bool cut = 2 * planned > it->march.desc.end - it->march.time;
    assert_true(*steps < MANY);
    assert_ok(ctx, tes_problem_step(problem, &result));
    *undone += !cut && it->march.last < 0.99 * planned;
    times[(*steps)++] = it->march.time;
  }
  const TesVector *u = tes_problem_solution(problem);
  *length = tes_vector_length(u);
  double *values = malloc((size_t)*length * sizeof *values);
  assert_ok(ctx, tes_vector_get(u, values));
  tes_problem_destroy(&problem);
  return values;
}

/* Steps by their local error, of a load that jumps: some are undone, and all are those of the host. */
static void test_bodies_choose_steps(void **state) {
  static const char *const devices[] = {"emulator", "cuda"}, *const jump = "t > 0.3 ? 100 : 0";
  static const Body cases[] = {{TES_MESH_BOX, 2, TES_TIME_NEWMARK, 0, {jump, NULL}, 1e-2},
                               {TES_MESH_BOX, 1, TES_TIME_GENERALIZED_ALPHA, 0, {jump, "x"}, 1e-2}};
  double expected_times[MANY], times[MANY];
  (void)state;
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    for (int i = 0; ctx && i < 2; i++) {
      int expected_steps, steps, expected_undone, undone;
      int64_t n;
      double *expected = choose(host, &cases[i], expected_times, &expected_steps, &expected_undone, &n),
             *got = choose(ctx, &cases[i], times, &steps, &undone, &n), size = 0;
      print_message("%s: %d steps, %d undone; on the host %d, %d\n", devices[d], steps, undone,
                    expected_steps, expected_undone);
      assert_true(undone > 0 && undone == expected_undone && steps == expected_steps);
      for (int k = 0; k < steps; k++) assert_true(fabs(times[k] - expected_times[k]) <= 1e-12);
      for (int64_t k = 0; k < n; k++) size = fmax(size, fabs(expected[k]));
      for (int64_t k = 0; k < n; k++) assert_true(fabs(got[k] - expected[k]) <= 1e-8 * size);
      free(expected), free(got);
    }
    if (ctx) tes_context_destroy(&ctx);
  }
}

/* What was recorded of the operator sees the velocity of each step: on equal cells one number for all, on others one a
 * point, and first the one, then the other. */
static void test_velocities_that_move(void **state) {
  static const char *const devices[] = {"emulator", "cuda"}, *const b[] = {"10*t - 1", "10*x*t - 1", "x*t",
                                                                           "-y*(1 + t)"};
  (void)state;
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    for (int i = 0; ctx && i < 8; i++) {
      const Case c = {.kind = i % 2 ? TES_MESH_FOREST : TES_MESH_BOX,
                      .degree = 2,
                      .cells = i % 2 ? 2 : 4,
                      .method = TES_TIME_BDF2,
                      .velocity = true,
                      .b = b[i / 2]};
      TesiCounts counts;
      int64_t n;
      int iterations, expected_iterations;
      if (i % 2 && !tes_has_part("p4est")) continue;
      double *expected = run(host, &c, NULL, &n, NULL, &expected_iterations),
             *got = run(ctx, &c, NULL, &n, &counts, &iterations);
      for (int64_t k = 0; k < n; k++)
        if (!(fabs(got[k] - expected[k]) <= 1e-9))
          fail_msg("%s, node %lld: %.17g, expected %.17g", c.b, (long long)k, got[k], expected[k]);
      if (abs(iterations - expected_iterations) > 1)
        fail_msg("%s: %d iterations, %d on the host", c.b, iterations, expected_iterations);
      free(expected), free(got);
    }
    if (ctx) tes_context_destroy(&ctx);
  }
}

/* Kernels see that a value is none; the host says which. */
static void test_values_that_are_none(void **state) {
  static const Case cases[] = {
      {TES_MESH_BOX, 2, 4, TES_TIME_BACKWARD_EULER, true, false, false, TES_METHOD_AUTO, "sqrt(0.25 - t)",
       NULL, NULL},
      {TES_MESH_BOX, 2, 4, TES_TIME_BACKWARD_EULER, true, false, false, TES_METHOD_AUTO, NULL,
       "sqrt(0.25 - t)", NULL},
  };
  TesContext *ctx = test_device("emulator");
  (void)state;
  if (!ctx) skip();
  for (int i = 0; i < 2; i++) {
    TesProblem *problem;
    TesSolveResult result;
    assert_ok(ctx, create(ctx, &cases[i], &problem));
    TesStatus status = TES_OK;
    for (int step = 0; step < STEPS && status == TES_OK; step++) status = tes_problem_step(problem, &result);
    assert_int_equal(status, TES_NAN);
    if (!strstr(tes_context_message(ctx), "sqrt(0.25 - t)"))
      fail_msg("it says '%s'", tes_context_message(ctx));
    tes_context_clear(ctx);
    tes_problem_destroy(&problem);
  }
  if (ctx) tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_as_on_the_host), cmocka_unit_test(test_bodies_as_on_the_host),
      cmocka_unit_test(test_bodies_choose_steps), cmocka_unit_test(test_velocities_that_move),
      cmocka_unit_test(test_values_that_are_none)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
