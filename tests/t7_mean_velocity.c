/* Run: ctest -R t7_mean_velocity. Channels that a uniform force keeps at a mean velocity, with elements q and rt: the
 * force of a flow that is known at all times, in two orders of steps; drag; restarts; directions that are not
 * periodic. */
#include <stdio.h>
#include "base/base.h"
#include "tessera/tessera.h"
#include "testing.h"

/* Between plates at y = 0 and 1 the flow
 *
 *   u = 6 y (1 - y) + e^(-nu k^2 t) (cos(k (y - 1/2)) - cos(k / 2)),   F = 12 nu + nu k^2 cos(k / 2) e^(-nu k^2 t)
 *
 * has the mean 1 at all times where tan(k / 2) = k / 2. */
#define NU 0.02
#define HALF 4.493409457909064
#define K (2 * HALF)

static TesContext *make_context(void) {
  TesContext *ctx;
  assert_int_equal(
      tes_context_create(&(TesContextDesc){.device = "cpu", .deterministic = true}, &ctx, NULL, 0), TES_OK);
  return ctx;
}

static TesFunction *expression(TesContext *ctx, const char *text) {
  TesFunction *f;
  assert_ok(ctx, tes_function_create_expression(ctx, text, &f));
  return f;
}

static const TesElement elements[] = {TES_ELEMENT_Q, TES_ELEMENT_RT};

typedef struct Channel {
  TesContext *ctx;
  TesMesh *mesh;
  TesFunction *u, *zero, *nu;
  TesBoundary walls;
  TesProblemDesc desc;
} Channel;

static TesStatus make_channel(TesContext *ctx, int dim, TesElement element, Channel *s) {
  const bool rt = element == TES_ELEMENT_RT;
  char text[200];
  *s = (Channel){.ctx = ctx};
  snprintf(text, sizeof text, "6*y*(1 - y) + exp(%.17g*t)*(cos(%.17g*(y - 0.5)) - cos(%.17g))", -NU * K * K,
           K, HALF);
  s->u = expression(ctx, text), s->zero = expression(ctx, "0");
  assert_ok(ctx, tes_function_create_constant(ctx, NU, &s->nu));
  s->walls = (TesBoundary){.g = {s->zero, s->zero, dim == 3 ? s->zero : NULL}};
  const TesStatus status = tes_mesh_create(ctx,
                                           &(TesMeshDesc){.kind = rt ? TES_MESH_BOX : TES_MESH_FOREST,
                                                          .dim = dim,
                                                          .cells = {rt ? 3 : 2, rt ? 6 : 3, rt ? 3 : 2},
                                                          .upper = {2, 1, 1},
                                                          .periodic = {true, false, true}},
                                           &s->mesh);
  s->desc = (TesProblemDesc){.equation = TES_NAVIER_STOKES,
                             .mesh = s->mesh,
                             .element = element,
                             .degree = rt         ? (dim == 3 ? 3 : 5)
                                       : dim == 3 ? 4
                                                  : 6,
                             .data = {.a = s->nu},
                             .boundaries = 1,
                             .boundary = &s->walls,
                             .exact = {s->u, s->zero, dim == 3 ? s->zero : NULL},
                             .mean_components = 1,
                             .mean_velocity = {1},
                             .solver = {.tolerance = 1e-8}};
  return status;
}

static void drop(Channel *s) {
  tes_function_destroy(&s->u), tes_function_destroy(&s->zero), tes_function_destroy(&s->nu);
  tes_mesh_destroy(&s->mesh);
}

static double value_of(TesContext *ctx, const TesProblem *p, const TesValue *what) {
  double value;
  assert_ok(ctx, tes_problem_value(p, what, &value));
  return value;
}

/* Errors of velocity and force after so many steps; the mean, and the drag of what does not accelerate. */
static void find_errors(Channel *s, int steps, double *velocity, double *force) {
  TesProblem *p;
  TesSolveResult result;
  TesFlowResult flow;
  s->desc.time = (TesTimeDesc){.end = 0.5, .step = 0.5 / steps};
  assert_ok(s->ctx, tes_problem_create(s->ctx, &s->desc, &p));
  assert_ok(s->ctx, tes_problem_solve(p, &result));
  assert_ok(s->ctx, tes_problem_flow(p, &flow));
  const double decay = NU * K * K * exp(-NU * K * K * 0.5),
               mean = value_of(s->ctx, p, &(TesValue){.kind = TES_VALUE_MEAN, .of = "u"});
  assert_near(mean, 1, 1e-12);
  assert_true(isnan(tes_problem_info(p).mean_force[1]));
  *velocity = flow.velocity_l2;
  *force = tes_problem_info(p).mean_force[0] - (12 * NU + decay * cos(HALF));
  printf("%d steps: velocity %.3e, force %.3e\n", steps, *velocity, *force);
  tes_problem_destroy(&p);
}

static void the_force_is_known(void **state) {
  TesContext *ctx = make_context();
  (void)state;
  for (int way = 0; way < 4; way++) {
    const int dim = 2 + way % 2;
    Channel s;
    double velocity[2], force[2];
    if (make_channel(ctx, dim, elements[way / 2], &s) == TES_OK) {
      const int steps = dim == 3 ? 10 : 40;
      find_errors(&s, steps, &velocity[0], &force[0]);
      find_errors(&s, 2 * steps, &velocity[1], &force[1]);
      assert_true(velocity[0] < 2e-2 && fabs(force[0]) < 2e-2);
      if (dim == 2) assert_true(velocity[1] < 2e-5 && log2(force[0] / force[1]) > 1.8);
    }
    drop(&s);
  }
  tes_context_destroy(&ctx);
}

/* Started from the parabola nothing changes, and the walls take what the force gives: 12 nu times the area. */
static void compare_drag(TesContext *ctx, TesElement element) {
  Channel s;
  if (make_channel(ctx, 2, element, &s) == TES_OK) {
    TesProblem *p;
    TesSolveResult result;
    TesFunction *parabola = expression(ctx, "6*y*(1 - y)");
    s.desc.exact[0] = parabola, s.desc.time = (TesTimeDesc){.end = 0.2, .step = 0.02};
    assert_ok(ctx, tes_problem_create(ctx, &s.desc, &p));
    assert_ok(ctx, tes_problem_solve(p, &result));
    const double force = tes_problem_info(p).mean_force[0];
    double drag = 0;
    for (int i = 2; i < 4; i++)
      drag += value_of(
          ctx, p, &(TesValue){.kind = TES_VALUE_FORCE, .where = TES_ON_BOUNDARY, .number = i, .of = "x"});
    assert_near(force, 12 * NU, 1e-6);
    assert_near(drag, 2 * 12 * NU, 1e-6);
    tes_problem_destroy(&p);
    tes_function_destroy(&parabola);
  }
  drop(&s);
}

static void drag_balances_the_force(void **state) {
  TesContext *ctx = make_context();
  (void)state;
  for (int way = 0; way < 2; way++) compare_drag(ctx, elements[way]);
  tes_context_destroy(&ctx);
}

static void make_steps(TesContext *ctx, TesProblem *p, int count) {
  TesSolveResult result;
  for (int i = 0; i < count; i++) assert_ok(ctx, tes_problem_step(p, &result));
}

static double drag_of(TesContext *ctx, const TesProblem *p) {
  return value_of(ctx, p,
                  &(TesValue){.kind = TES_VALUE_FORCE, .where = TES_ON_BOUNDARY, .number = 2, .of = "x"});
}

/* Forces are those of the state, also where others were asked for before. */
static void go_on_from_a_file(TesContext *ctx, TesElement element) {
  TesProblem *p, *q;
  TesCheckpoint *checkpoint;
  Channel s;
  if (make_channel(ctx, 2, element, &s) == TES_OK && tes_has_part("hdf5")) {
    s.desc.time = (TesTimeDesc){.end = 0.5, .step = 0.02};
    assert_ok(ctx, tes_problem_create(ctx, &s.desc, &p));
    make_steps(ctx, p, 5);
    const double drag = drag_of(ctx, p);
    assert_ok(ctx, tes_problem_write(p, "channel.h5"));
    make_steps(ctx, p, 5);
    assert_true(fabs(drag_of(ctx, p) - drag) > 1e-6 * fabs(drag));
    assert_ok(ctx, tes_checkpoint_read(ctx, "channel.h5", 2, &checkpoint));
    assert_ok(ctx, tes_problem_create(ctx, &s.desc, &q));
    drag_of(ctx, q);
    assert_ok(ctx, tes_problem_read(q, checkpoint));
    assert_near(drag_of(ctx, q), drag, 1e-12 * fabs(drag));
    make_steps(ctx, q, 5);
    assert_near(drag_of(ctx, q), drag_of(ctx, p), 0);
    assert_near(tes_problem_info(q).mean_force[0], tes_problem_info(p).mean_force[0], 0);
    assert_memory_equal(tes_vector_data_const(tes_problem_solution(p)),
                        tes_vector_data_const(tes_problem_solution(q)),
                        (size_t)tes_vector_length(tes_problem_solution(p)) * sizeof(double));
    tes_problem_destroy(&p), tes_problem_destroy(&q);
    tes_checkpoint_destroy(&checkpoint);
    remove("channel.h5");
  }
  drop(&s);
}

static void checkpoints_know_the_force(void **state) {
  TesContext *ctx = make_context();
  (void)state;
  for (int way = 0; way < 2; way++) go_on_from_a_file(ctx, elements[way]);
  tes_context_destroy(&ctx);
}

static void assert_refused(Channel *s, const char *part) {
  TesProblem *p;
  tesi_context_forget(s->ctx);
  assert_int_equal(tes_problem_create(s->ctx, &s->desc, &p), TES_INVALID_INPUT);
  if (!strstr(tes_context_message(s->ctx), part)) fail_msg("%s: no '%s'", tes_context_message(s->ctx), part);
}

static void what_cannot_be_is_refused(void **state) {
  TesContext *ctx = make_context();
  (void)state;
  for (int way = 0; way < 2; way++) {
    Channel s;
    if (make_channel(ctx, 2, elements[way], &s) == TES_OK) {
      s.desc.time = (TesTimeDesc){.end = 0.5, .step = 0.02};
      s.desc.mean_components = 2;
      assert_refused(&s, "in direction y it is kept by a force where the domain is periodic in y");
      s.desc.mean_components = 1, s.desc.mean_velocity[0] = NAN;
      assert_refused(&s, "the mean velocity in direction x is not finite");
      s.desc.mean_velocity[0] = 1, s.desc.equation = TES_STOKES, s.desc.element = TES_ELEMENT_Q;
      assert_refused(&s, "data.mean_velocity: belongs to navier_stokes with element q or rt");
    }
    drop(&s);
  }
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_force_is_known), cmocka_unit_test(drag_balances_the_force),
      cmocka_unit_test(checkpoints_know_the_force), cmocka_unit_test(what_cannot_be_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
