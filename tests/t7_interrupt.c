/* Run: ctest -R t7_interrupt. What is made of a solution is interrupted: errors, values, pictures and files, which
 * leave nothing then. After a call that has told an interruption they are made, so that what was found is written.
 * Steps that fail can be made again. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>
#include "tessera/tessera.h"
#include "testing.h"

typedef struct Stop {
  TesContext *ctx;
  bool armed;
} Stop;

static void stop_here(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                      double *out) {
  const Stop *stop = user;
  (void)z, (void)t;
  if (stop->armed) tes_context_interrupt(stop->ctx);
  for (int64_t i = 0; i < n; i++) out[i] = x[i] * y[i];
}

typedef struct Solved {
  Stop stop;
  TesMesh *mesh;
  TesProblem *problem;
  TesSolveResult result;
} Solved;

/* -div grad u = 1 with an exact solution that interrupts where it is asked for. */
static void make(Solved *s, TesTimeDesc time) {
  TesFunction *exact;
  *s = (Solved){{0}, NULL, NULL, {0}};
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu", .verbosity = TES_QUIET, .threads = 1},
                                      &s->stop.ctx, NULL, 0),
                   TES_OK);
  TesContext *ctx = s->stop.ctx;
  assert_ok(ctx, tes_function_create_callback(ctx, stop_here, &s->stop, NULL, &exact));
  assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {8, 8}}, &s->mesh));
  const TesProblemDesc desc = {.mesh = s->mesh,
                               .degree = 3,
                               .equation = time.end > 0 ? TES_TRANSPORT : TES_POISSON,
                               .exact = {exact},
                               .time = time};
  assert_ok(ctx, tes_problem_create(ctx, &desc, &s->problem));
  tes_function_destroy(&exact);
}

static void destroy(Solved *s) {
  tes_problem_destroy(&s->problem);
  tes_mesh_destroy(&s->mesh);
  tes_context_destroy(&s->stop.ctx);
}

static const char file[] = "t7_interrupt.vtu", picture[] = "t7_interrupt.png";

/* The calls by number; none: -1. */
enum { CALLS = 5 };
static TesStatus call(const Solved *s, int which) {
  double l2, h1, value, at[2] = {0.5, 0.5};
  static const char *const u[] = {NULL};
  switch (which) {
  case 0:
    return tes_problem_errors(s->problem, &l2, &h1);
  case 1:
    return tes_vtu_write_problem(s->problem, 0, NULL, file);
  case 2:
    return tes_problem_value(s->problem, &(TesValue){.kind = TES_VALUE_INTEGRAL}, &value);
  case 3:
    return tes_problem_sample(s->problem, 1, at, 1, u, &value, NULL);
  default:
    return tes_has_part("png") ? tes_picture_write(s->problem, &(TesPictureDesc){0}, picture) : TES_OK;
  }
}

static const char *const told[CALLS] = {"interrupted in the errors", "interrupted in writing t7_interrupt.vtu",
                                        "interrupted in a value", "interrupted in values at points",
                                        "interrupted in drawing t7_interrupt.png"};

static void results_are_interrupted(void **state) {
  (void)state;
  Solved s;
  make(&s, (TesTimeDesc){0});
  TesContext *ctx = s.stop.ctx;
  assert_ok(ctx, tes_problem_solve(s.problem, &s.result));
  for (int i = 0; i < CALLS; i++) {
    if (i == 4 && !tes_has_part("png")) continue;
    s.stop.armed = i < 2; /* within the loops; else before the call */
    if (!s.stop.armed) tes_context_interrupt(ctx);
    assert_int_equal(call(&s, i), TES_INTERRUPTED);
    if (!strstr(tes_context_message(ctx), told[i])) fail_msg("%s: %s", told[i], tes_context_message(ctx));
    s.stop.armed = false;
    assert_int_not_equal(access(file, F_OK), 0);
    assert_int_not_equal(access(picture, F_OK), 0);
    assert_ok(ctx, call(&s, i)); /* it has been told */
    remove(file), remove(picture);
    tes_context_clear(ctx);
  }
  destroy(&s);
}

static void what_was_found_is_written(void **state) {
  (void)state;
  Solved s;
  TesProblem *other;
  make(&s, (TesTimeDesc){0});
  TesContext *ctx = s.stop.ctx;
  tes_context_interrupt(ctx);
  assert_int_equal(tes_problem_solve(s.problem, &s.result), TES_INTERRUPTED);
  for (int i = 0; i < CALLS; i++) assert_ok(ctx, call(&s, i));
  assert_int_equal(access(file, F_OK), 0);
  remove(file), remove(picture);
  assert_int_equal(tes_problem_create(ctx, &(TesProblemDesc){.mesh = s.mesh, .degree = 2}, &other),
                   TES_INTERRUPTED);
  tes_context_clear(ctx);
  assert_ok(ctx, tes_problem_solve(s.problem, &s.result));
  destroy(&s);
}

/* The files of a step are complete; the next step is not made. */
static void a_run_in_time_ends_at_its_next_step(void **state) {
  (void)state;
  Solved s;
  make(&s, (TesTimeDesc){.end = 1, .step = 0.5});
  TesContext *ctx = s.stop.ctx;
  assert_ok(ctx, tes_problem_step(s.problem, &s.result));
  tes_context_interrupt(ctx);
  for (int i = 0; i < CALLS; i++) assert_ok(ctx, call(&s, i));
  assert_int_equal(access(file, F_OK), 0);
  remove(file), remove(picture);
  assert_int_equal(tes_problem_step(s.problem, &s.result), TES_INTERRUPTED);
  destroy(&s);
}

/* f, which fails once where it is asked for. */
static void fail_here(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                      double *out) {
  Stop *stop = user;
  (void)z;
  for (int64_t i = 0; i < n; i++) out[i] = stop->armed ? NAN : sin(40 * t) * x[i] + y[i] * y[i];
}

typedef struct March {
  TesEquation equation;
  TesElement element;
  TesTimeMethod method;
  bool steers; /* steps are chosen by their error */
} March;

static double integral_after(const March *march, int steps, int failed) {
  Stop stop = {0};
  TesFunction *f, *a;
  TesMesh *mesh;
  TesProblem *problem;
  TesSolveResult result;
  double value;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu", .verbosity = TES_QUIET, .threads = 1},
                                      &stop.ctx, NULL, 0),
                   TES_OK);
  assert_ok(stop.ctx, tes_function_create_callback(stop.ctx, fail_here, &stop, NULL, &f));
  assert_ok(stop.ctx, tes_function_create_constant(stop.ctx, 1, &a));
  assert_ok(stop.ctx, tes_mesh_create(stop.ctx, &(TesMeshDesc){.dim = 2, .cells = {6, 5}}, &mesh));
  const TesProblemDesc desc = {.mesh = mesh,
                               .degree = 2,
                               .equation = march->equation,
                               .element = march->element,
                               .data = {.f = {f}, .a = a},
                               .time = {.end = 1,
                                        .step = march->steers                       ? 0
                                                : march->element == TES_ELEMENT_ISO ? 0.002
                                                                                    : 0.02,
                                        .tolerance = march->steers ? 1e-3 : 0,
                                        .method = march->method},
                               .solver = {.tolerance = 1e-10}};
  assert_ok(stop.ctx, tes_problem_create(stop.ctx, &desc, &problem));
  for (int i = 0; i < steps; i++) {
    stop.armed = i == failed;
    if (stop.armed) assert_int_equal(tes_problem_step(problem, &result), TES_NAN);
    stop.armed = false;
    tes_context_clear(stop.ctx);
    assert_ok(stop.ctx, tes_problem_step(problem, &result));
  }
  assert_ok(stop.ctx,
            tes_problem_value(problem, &(TesValue){.kind = TES_VALUE_INTEGRAL, .of = "u*u"}, &value));
  tes_problem_destroy(&problem);
  tes_mesh_destroy(&mesh);
  tes_function_destroy(&f), tes_function_destroy(&a);
  tes_context_destroy(&stop.ctx);
  return value;
}

/* Its start took images of other solutions, and the solve another residual. (Element iso goes back to the state that it
 * checked last.) */
static void a_failed_step_is_made_again(void **state) {
  static const March marches[] = {{.equation = TES_TRANSPORT, .method = TES_TIME_BDF2},
                                  {.equation = TES_TRANSPORT, .method = TES_TIME_CRANK_NICOLSON},
                                  {.equation = TES_TRANSPORT, .method = TES_TIME_SDIRK2},
                                  {.equation = TES_TRANSPORT, .element = TES_ELEMENT_DG},
                                  {.equation = TES_TRANSPORT, .steers = true},
                                  {.equation = TES_ELASTICITY},
                                  {.equation = TES_NAVIER_STOKES, .element = TES_ELEMENT_Q},
                                  {.equation = TES_NAVIER_STOKES, .element = TES_ELEMENT_Q, .steers = true},
                                  {.equation = TES_NAVIER_STOKES, .element = TES_ELEMENT_RT}};
  (void)state;
  for (size_t i = 0; i < sizeof marches / sizeof *marches; i++) {
    const double straight = integral_after(&marches[i], 8, -1);
    for (int failed = 0; failed <= 5; failed += 5) {
      const double again = integral_after(&marches[i], 8, failed);
      if (!(fabs(again - straight) <= 1e-9 * fabs(straight)))
        fail_msg("march %zu, step %d: %.10g, expected %.10g", i, failed, again, straight);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(results_are_interrupted), cmocka_unit_test(what_was_found_is_written),
      cmocka_unit_test(a_failed_step_is_made_again), cmocka_unit_test(a_run_in_time_ends_at_its_next_step)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
