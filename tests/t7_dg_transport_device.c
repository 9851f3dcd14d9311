/* Run: ctest -R t7_dg_transport_device. Transport with discontinuous elements on devices with kernels beside the host:
 * steady and by steps of all methods, 2D and 3D, both forms, all conditions, data and velocities that change in time;
 * the same solutions, balances and about the same iterations; refusals. Brief: half of the cases.
 * Quick: 1-9
 * Labels: heavy */
#include <stdio.h>
#include "device/emulator/fiber.h"
#include "device/kernel.h"
#include "device/recorded.h"
#include "host_testing.h"
#include "device_testing.h"
#include "stokes_testing.h"

static const char *const devices[] = {"emulator", "cuda"};

typedef struct Case {
  Flow f;
  TesTimeMethod method;
  bool steady, conservative;
  TesSmootherKind smoother;
  double a;
  const char *b[3], *source, *value; /* NULL: 0 */
  bool ends;                         /* on the left a flux, at the right an outflow */
  bool chosen;                       /* the smoother */
} Case;

typedef struct Outcome {
  double *u;
  int64_t length;
  int iterations;
  TesBalance balance;
} Outcome;

static TesFunction *function(TesContext *ctx, const char *text) {
  TesFunction *f = NULL;
  if (text) assert_ok(ctx, tes_function_create_expression(ctx, text, &f));
  return f;
}

enum { STEPS = 5 };

static TesProblem *create(TesContext *ctx, const Case *c, bool balance) {
  char number[32];
  snprintf(number, sizeof number, "%.17g", c->a);
  TesFunction *a = function(ctx, number), *alpha = function(ctx, "0.5"), *f = function(ctx, c->source),
              *g = function(ctx, c->value), *flux = function(ctx, "0.3 + y"),
              *start = function(ctx, "x*(1 - y)"), *b[3];
  for (int d = 0; d < 3; d++) b[d] = function(ctx, c->b[d]);
  const TesBoundary boundary[] = {{.g = {g}},
                                  {.name = "left", .condition = TES_FLUX, .g = {flux}},
                                  {.name = "right", .condition = TES_NEUMANN}};
  TesMesh *mesh = flow_mesh(ctx, &c->f);
  TesProblem *problem;
  TesProblemDesc desc = {
      .equation = TES_TRANSPORT,
      .element = TES_ELEMENT_DG,
      .mesh = mesh,
      .degree = c->f.degree,
      .data = {.a = a, .b = {b[0], b[1], b[2]}, .c = alpha, .f = {f}},
      .boundary = boundary,
      .boundaries = c->ends ? 3 : 1,
      .balance = balance && c->method != TES_TIME_IMEX_BDF2,
      .transport_form = c->conservative ? TES_TRANSPORT_CONSERVATIVE : TES_TRANSPORT_CONVECTIVE,
      .solver = {.tolerance = 1e-11,
                 .smoother = c->steady || c->smoother || c->chosen ? c->smoother : TES_SMOOTHER_PATCH}};
  if (!c->steady) {
    desc.time = (TesTimeDesc){.end = 0.05, .step = 0.05 / STEPS, .method = c->method};
    desc.initial[0] = start;
  }
  assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
  tes_mesh_destroy(&mesh);
  TesFunction **all[] = {&a, &alpha, &f, &g, &flux, &start, &b[0], &b[1], &b[2]};
  for (int i = 0; i < 9; i++) tes_function_destroy(all[i]);
  return problem;
}

static Outcome solve(TesContext *ctx, const Case *c, bool balance) {
  Outcome out = {.iterations = 0};
  TesSolveResult result;
  TesProblem *problem = create(ctx, c, balance);
  assert_ok(ctx, tes_problem_solve(problem, &result));
  out.iterations = result.iterations;
  out.balance = tes_problem_info(problem).balance;
  out.balance.flux = NULL;
  out.length = tes_vector_length(tes_problem_solution(problem));
  out.u = calloc((size_t)out.length, sizeof *out.u);
  assert_ok(ctx, tes_vector_get(tes_problem_solution(problem), out.u));
  tes_problem_destroy(&problem);
  return out;
}

/* With a balance the host looks at each load, so that nothing is recorded. */
static void compare(TesContext *ctx, const Case *c, int number, bool balance) {
  const Outcome expected = solve(host, c, balance), got = solve(ctx, c, balance);
  double size = 0, worst = 0;
  assert_int_equal(got.length, expected.length);
  for (int64_t i = 0; i < got.length; i++) {
    size = test_larger(size, fabs(expected.u[i]));
    worst = test_larger(worst, fabs(got.u[i] - expected.u[i]));
  }
  if (!(worst <= 1e-8 * size)) fail_msg("case %d: off by %.3g of %.3g", number, worst, size);
  if (abs(got.iterations - expected.iterations) > 1 + expected.iterations / 10)
    fail_msg("case %d: %d iterations, %d on the host", number, got.iterations, expected.iterations);
  assert_int_equal(isnan(got.balance.in), isnan(expected.balance.in)); /* none where b moves */
  if (!isnan(expected.balance.in)) {
    assert_near(got.balance.in, expected.balance.in, 1e-7);
    assert_near(got.balance.stored, expected.balance.stored, 1e-7);
    assert_near(got.balance.defect, 0, 1e-7);
  }
  free(expected.u), free(got.u);
}

static const Case cases[] = {{.f = {.dim = 2, .degree = 1, .cells = {8, 6}},
                              .method = TES_TIME_BACKWARD_EULER,
                              .a = 0.1,
                              .b = {"1", "-0.5"},
                              .source = "1 + x*t",
                              .value = "y"},
                             {.f = {.dim = 2, .degree = 2, .cells = {6, 4}, .given = "ppvv"},
                              .method = TES_TIME_BDF2,
                              .a = 0.01,
                              .b = {"1 + y", "0.2"},
                              .source = "x",
                              .value = "1"},
                             {.f = {.dim = 2, .degree = 4, .cells = {4, 4}, .graded = true},
                              .method = TES_TIME_CRANK_NICOLSON,
                              .conservative = true,
                              .a = 0.02,
                              .b = {"1 + x*y", "y - 0.5"},
                              .source = "1",
                              .value = "x",
                              .ends = true},
                             {.f = {.dim = 2, .degree = 3, .cells = {4, 6}},
                              .method = TES_TIME_SDIRK2,
                              .a = 0.1,
                              .b = {"y - 0.5", "0.5 - x"},
                              .source = "sin(3*t)",
                              .value = "cos(2*t) + x*y*t"},
                             {.f = {.dim = 2, .degree = 2, .cells = {4, 4}},
                              .method = TES_TIME_SDIRK3,
                              .smoother = TES_SMOOTHER_CELL_PATCH,
                              .a = 0.1,
                              .b = {"1", "1"},
                              .value = "x",
                              .ends = true},
                             {.f = {.dim = 2, .degree = 2, .cells = {6, 4}},
                              .method = TES_TIME_BDF3,
                              .conservative = true,
                              .a = 0.1,
                              .b = {"x*t", "1 - t*y"},
                              .source = "x*t",
                              .value = "y"},
                             {.f = {.dim = 2, .degree = 2, .cells = {6, 4}},
                              .method = TES_TIME_IMEX_BDF2,
                              .a = 0.1,
                              .b = {"1", "y"},
                              .source = "x + t",
                              .value = "t"},
                             {.f = {.dim = 2, .degree = 2, .cells = {4, 4}},
                              .method = TES_TIME_BDF2,
                              .smoother = TES_SMOOTHER_CHEBYSHEV,
                              .a = 0.1,
                              .b = {"1", "y"},
                              .source = "x"},
                             {.f = {.dim = 2, .degree = 3, .cells = {4, 4}, .given = "vvpp"},
                              .method = TES_TIME_BDF2,
                              .a = 0.1,
                              .source = "x*t",
                              .value = "y*t"},
                             {.f = {.dim = 3, .degree = 1, .cells = {4, 4, 2}},
                              .method = TES_TIME_BACKWARD_EULER,
                              .a = 0.1,
                              .b = {"1", "z", "x - y"},
                              .source = "x*t",
                              .value = "z"},
                             {.f = {.dim = 3, .degree = 2, .cells = {4, 2, 4}, .given = "vvppvv"},
                              .method = TES_TIME_BDF2,
                              .conservative = true,
                              .a = 0.05,
                              .b = {"1", "0.5", "-0.25"},
                              .source = "x",
                              .value = "1"},
                             {.f = {.dim = 2, .degree = 3, .cells = {6, 4}},
                              .steady = true,
                              .a = 1e-3,
                              .b = {"1 + y", "x - 0.3"},
                              .source = "1",
                              .value = "x*y"},
                             {.f = {.dim = 3, .degree = 1, .cells = {4, 4, 4}},
                              .steady = true,
                              .conservative = true,
                              .smoother = TES_SMOOTHER_PATCH,
                              .a = 1,
                              .b = {"1", "-2", "x"},
                              .source = "1",
                              .value = "z",
                              .ends = true},
                             {.f = {.dim = 3, .degree = 2, .cells = {4, 4, 2}, .given = "vvppvv"},
                              .steady = true,
                              .a = 0.1,
                              .b = {"1 + y", "0.5", "0.3"},
                              .source = "1"}};

static void solutions_are_those_of_the_host(void **state) {
  (void)state;
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    for (int i = 0; ctx && i < (int)(sizeof cases / sizeof *cases); i++) {
      if (test_brief() && i % 2) continue;
      tesi_fiber_order((TesiOrder)(i % 3), (uint64_t)i + 1);
      compare(ctx, &cases[i], i, true);
      if (!cases[i].steady) compare(ctx, &cases[i], i, false);
    }
    tesi_fiber_order(TESI_ORDER_FORWARD, 1);
    tes_context_destroy(&ctx);
  }
}

/* Steps in which the flow crosses many cells are far from their symmetric part: cells in the order of the flow are
 * chosen on devices too, with the iterations of the host. */
static void long_steps_go_with_the_flow(void **state) {
  (void)state;
  const Case c = {.f = {.dim = 2, .degree = 3, .cells = {8, 8}},
                  .method = TES_TIME_BACKWARD_EULER,
                  .a = 1e-6,
                  .b = {"40 + 20*y", "30"},
                  .source = "1",
                  .value = "1",
                  .chosen = true};
  TesContext *ctx = test_device("emulator");
  if (!ctx) skip();
  compare(ctx, &c, 0, true);
  tes_context_destroy(&ctx);
}

/* A step evaluates, allocates and sends nothing on the host, and is one graph a stage where the device ends loops. */
static void steps_are_recorded(void **state) {
  static const Case timed[] = {{.f = {.dim = 2, .degree = 2, .cells = {6, 4}},
                                .method = TES_TIME_BDF2,
                                .a = 0.1,
                                .b = {"1 + y", "x"},
                                .source = "x*t",
                                .value = "cos(3*t)*y",
                                .ends = true},
                               {.f = {.dim = 2, .degree = 1, .cells = {4, 4}},
                                .method = TES_TIME_SDIRK2,
                                .a = 0.1,
                                .b = {"1", "0.5"},
                                .value = "t"},
                               {.f = {.dim = 2, .degree = 2, .cells = {4, 4}},
                                .method = TES_TIME_IMEX_BDF2,
                                .a = 0.1,
                                .b = {"1", "x"},
                                .source = "y*t"}};
  (void)state;
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    for (int i = 0; ctx && i < 3; i++) {
      const TesiKernelState *device = tesi_context_device_state(ctx);
      TesSolveResult result;
      TesProblem *problem = create(ctx, &timed[i], false);
      for (int k = 1; k < STEPS; k++) assert_ok(ctx, tes_problem_step(problem, &result));
      const TesiCounts before = device->counts;
      assert_ok(ctx, tes_problem_step(problem, &result));
      const TesiCounts after = device->counts;
      const int answers = tesi_recorded_can_loop(ctx) ? 1 + i % 2 : result.iterations;
      assert_int_equal(after.allocations, before.allocations);
      assert_int_equal(after.to_device, before.to_device);
      assert_int_equal(after.to_host - before.to_host, answers);
      assert_int_equal(after.graphs - before.graphs, answers);
      tes_problem_destroy(&problem);
    }
    tes_context_destroy(&ctx);
  }
}

/* A function that is not a number: kernels see it, the host says which. */
static void values_that_are_none_are_told(void **state) {
  const Case none = {.f = {.dim = 2, .degree = 2, .cells = {4, 4}},
                     .method = TES_TIME_BACKWARD_EULER,
                     .a = 0.1,
                     .b = {"1"},
                     .source = "1",
                     .value = "sqrt(0.025 - t)"};
  TesContext *ctx = test_device("emulator");
  TesSolveResult result;
  (void)state;
  if (!ctx) skip();
  TesProblem *problem = create(ctx, &none, false);
  assert_int_equal(tes_problem_solve(problem, &result), TES_NAN);
  assert_non_null(strstr(tes_context_message(ctx), "sqrt(0.025 - t)"));
  tes_context_clear(ctx);
  tes_problem_destroy(&problem);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(solutions_are_those_of_the_host), cmocka_unit_test(long_steps_go_with_the_flow),
      cmocka_unit_test(steps_are_recorded), cmocka_unit_test(values_that_are_none_are_told)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
