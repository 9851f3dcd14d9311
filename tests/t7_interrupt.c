/* Run: ctest -R t7_interrupt. What is made of a solution is interrupted: errors, values, pictures and files, which
 * leave nothing then. After a call that has told an interruption they are made, so that what was found is written. */
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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(results_are_interrupted),
                                     cmocka_unit_test(what_was_found_is_written),
                                     cmocka_unit_test(a_run_in_time_ends_at_its_next_step)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
