/* Run: ctest -R t7_navier_stokes. Flows in time with Q_k/Q_(k-1): errors of a vortex in space and in time beside those
 * of an independent program, on boxes and forests; steps that the flow chooses; forces; what is refused. */
#include <stdio.h>
#include "base/base.h"
#include "tessera/tessera.h"
#include "testing.h"

static TesFunction *expression(TesContext *on, const char *text) {
  TesFunction *f;
  assert_ok(on, tes_function_create_expression(on, text, &f));
  return f;
}

static TesContext *make_context(void) {
  TesContext *ctx;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0), TES_OK);
  return ctx;
}

typedef struct Flow {
  TesContext *ctx;
  TesMesh *mesh;
  TesFunction *f[3], *nu;
  TesBoundary boundary;
  TesProblemDesc desc;
} Flow;

/* The vortex of Taylor and Green on a square whose boundary values are given, nu = 0.01. */
static void make_vortex(TesContext *ctx, TesMeshKind kind, int cells, int degree, double end, int steps,
                        Flow *s) {
  *s = (Flow){.ctx = ctx};
  const TesMeshDesc mesh = {.kind = kind, .dim = 2, .cells = {cells, cells}};
  s->f[0] = expression(ctx, "sin(pi*x)*cos(pi*y)*exp(-0.02*pi*pi*t)");
  s->f[1] = expression(ctx, "-cos(pi*x)*sin(pi*y)*exp(-0.02*pi*pi*t)");
  s->f[2] = expression(ctx, "(cos(2*pi*x) + cos(2*pi*y))*exp(-0.04*pi*pi*t)/4");
  assert_ok(ctx, tes_function_create_constant(ctx, 0.01, &s->nu));
  assert_ok(ctx, tes_mesh_create(ctx, &mesh, &s->mesh));
  s->boundary = (TesBoundary){.g = {s->f[0], s->f[1]}};
  s->desc = (TesProblemDesc){.equation = TES_NAVIER_STOKES,
                             .mesh = s->mesh,
                             .degree = degree,
                             .data = {.a = s->nu},
                             .boundaries = 1,
                             .boundary = &s->boundary,
                             .exact = {s->f[0], s->f[1], s->f[2]},
                             .time = {.end = end, .step = end / steps},
                             .solver = {.tolerance = 1e-8}};
}

static void drop(Flow *s) {
  for (int c = 0; c < 3; c++) tes_function_destroy(&s->f[c]);
  tes_function_destroy(&s->nu);
  tes_mesh_destroy(&s->mesh);
}

static TesFlowResult errors_of(const Flow *s) {
  TesProblem *p;
  TesSolveResult result;
  TesFlowResult flow;
  assert_ok(s->ctx, tes_problem_create(s->ctx, &s->desc, &p));
  assert_ok(s->ctx, tes_problem_solve(p, &result));
  assert_ok(s->ctx, tes_problem_flow(p, &flow));
  tes_problem_destroy(&p);
  return flow;
}

static void assert_errors(const Flow *s, double velocity, double pressure, double digits, const char *what) {
  const TesFlowResult r = errors_of(s);
  printf("%s: %.5e / %.5e, expected %.5e / %.5e\n", what, r.velocity_l2, r.pressure_l2, velocity, pressure);
  assert_near(r.velocity_l2, velocity, digits * velocity);
  if (pressure > 0) assert_near(r.pressure_l2, pressure, digits * pressure);
}

/* T = 0.1, 200 steps. */
static void space_errors_are_known(void **state) {
  static const struct {
    int degree, cells;
    double velocity, pressure;
  } rows[] = {{2, 16, 2.4002e-4, 1.4066e-3}, {3, 16, 5.2508e-5, 8.5145e-5}, {4, 8, 4.1297e-6, 1.9017e-5}};
  TesContext *ctx = make_context();
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    Flow s;
    make_vortex(ctx, TES_MESH_BOX, rows[i].cells, rows[i].degree, 0.1, 200, &s);
    assert_errors(&s, rows[i].velocity, rows[i].pressure, 1e-3, "space");
    drop(&s);
  }
  tes_context_destroy(&ctx);
}

/* T = 1, from a pressure of 0. */
static void time_errors_are_of_second_order(void **state) {
  static const double velocity[] = {5.203e-5, 1.311e-5};
  TesContext *ctx = make_context();
  (void)state;
  for (int i = 0; i < 2; i++) {
    Flow s;
    make_vortex(ctx, TES_MESH_BOX, 3, 8, 1, 100 << i, &s);
    s.desc.initial[0] = s.f[0], s.desc.initial[1] = s.f[1];
    assert_errors(&s, velocity[i], 0, 1e-3, "time");
    drop(&s);
  }
  tes_context_destroy(&ctx);
}

static void assert_refused(Flow *s, const char *part) {
  TesProblem *p;
  tesi_context_forget(s->ctx);
  assert_int_equal(tes_problem_create(s->ctx, &s->desc, &p), TES_INVALID_INPUT);
  if (!strstr(tes_context_message(s->ctx), part)) fail_msg("%s: no '%s'", tes_context_message(s->ctx), part);
}

static void what_cannot_be_is_refused(void **state) {
  TesContext *ctx = make_context();
  Flow s;
  TesFunction *zero = expression(ctx, "0"), *one = expression(ctx, "1");
  (void)state;
  make_vortex(ctx, TES_MESH_BOX, 4, 1, 1, 10, &s);
  assert_refused(&s, "the degree of the velocity is 1, expected 2..8");
  s.desc.degree = 2, s.desc.time.method = TES_TIME_BDF3;
  assert_refused(&s, "the method in time of navier_stokes is imex_bdf2");
  s.desc.time.method = TES_TIME_AUTO, s.desc.time.cfl = 0.5;
  assert_refused(&s, "time.step is 0.1 and time.cfl 0.5");
  s.desc.time.cfl = 0, s.desc.data.a = zero;
  assert_refused(&s, "nu is 0, expected > 0");
  const TesBoundary in[] = {{.g = {zero, zero}}, {.name = "left", .g = {one, zero}}};
  s.desc.data.a = s.nu, s.desc.boundary = in, s.desc.boundaries = 2;
  assert_refused(&s, "lets more in than out: its net flux is -1, of 1");
  drop(&s);
  tes_function_destroy(&zero), tes_function_destroy(&one);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(space_errors_are_known),
                                     cmocka_unit_test(time_errors_are_of_second_order),
                                     cmocka_unit_test(what_cannot_be_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
