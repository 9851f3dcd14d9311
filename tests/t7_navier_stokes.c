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
  for (size_t i = test_brief() ? 2 : 0; i < sizeof rows / sizeof *rows; i++) {
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

/* The same cells as trees: the same errors. */
static void trees_are_as_good(void **state) {
  TesContext *ctx = make_context();
  Flow s;
  (void)state;
  make_vortex(ctx, TES_MESH_FOREST, 8, 4, 0.1, 200, &s);
  assert_errors(&s, 4.1297e-6, 1.9017e-5, 1e-3, "trees");
  drop(&s);
  tes_context_destroy(&ctx);
}

/* The grad-div term vanishes for the exact solution: orders stay, and div u is less; nu = 1e-3, where without it the
 * pressure's error is a large part of the velocity's. */
static void grad_div_takes_divergence(void **state) {
  TesContext *ctx = make_context();
  (void)state;
  for (int degree = 2; degree <= (test_brief() ? 2 : 3); degree++) {
    TesFlowResult r[2][2]; /* [term][refined] */
    for (int i = 0; i < 4; i++) {
      Flow s;
      make_vortex(ctx, i & 1 ? TES_MESH_FOREST : TES_MESH_BOX, 8 << (i & 1), degree, 0.2, 100, &s);
      tes_function_destroy(&s.nu);
      assert_ok(ctx, tes_function_create_constant(ctx, 1e-3, &s.nu));
      s.desc.data.a = s.nu, s.desc.grad_div = i >= 2;
      for (int c = 0; c < 3; c++) tes_function_destroy(&s.f[c]);
      s.f[0] = expression(ctx, "sin(pi*x)*cos(pi*y)*exp(-0.002*pi*pi*t)");
      s.f[1] = expression(ctx, "-cos(pi*x)*sin(pi*y)*exp(-0.002*pi*pi*t)");
      s.f[2] = expression(ctx, "(cos(2*pi*x) + cos(2*pi*y))*exp(-0.004*pi*pi*t)/4");
      for (int c = 0; c < 3; c++) s.desc.exact[c] = s.f[c];
      s.boundary = (TesBoundary){.g = {s.f[0], s.f[1]}};
      r[i / 2][i & 1] = errors_of(&s);
      drop(&s);
    }
    for (int term = 0; term < 2; term++)
      printf("degree %d, %s: %.3e and %.3e in u, %.3e and %.3e in div u\n", degree,
             term ? "grad-div" : "without", r[term][0].velocity_l2, r[term][1].velocity_l2,
             r[term][0].divergence_l2, r[term][1].divergence_l2);
    for (int i = 0; i < 2; i++) {
      assert_true(r[1][i].divergence_l2 < 0.5 * r[0][i].divergence_l2);
      assert_true(r[1][i].velocity_l2 < r[0][i].velocity_l2);
    }
    assert_true(r[1][0].velocity_l2 > 6 * r[1][1].velocity_l2);
  }
  tes_context_destroy(&ctx);
}

/* Steps of the flow's own choice: as accurate, and their lengths follow `cfl`. */
static void the_flow_chooses_steps(void **state) {
  TesContext *ctx = make_context();
  TesProblem *p;
  TesSolveResult result;
  TesFlowResult errors;
  Flow s;
  double dt[2], velocity[2];
  (void)state;
  for (int i = 0; i < 2; i++) {
    make_vortex(ctx, TES_MESH_BOX, 4, 6, 0.5, 1, &s);
    s.desc.time.step = 0, s.desc.time.cfl = i ? 0.25 : 0.5, s.desc.time.max_step = 0.1;
    assert_ok(ctx, tes_problem_create(ctx, &s.desc, &p));
    assert_ok(ctx, tes_problem_step(p, &result));
    const TesProblemInfo info = tes_problem_info(p);
    assert_true(info.varies && info.step == 1 && info.steps > 10);
    dt[i] = info.time;
    assert_ok(ctx, tes_problem_solve(p, &result));
    assert_near(tes_problem_info(p).time, 0.5, 0);
    assert_ok(ctx, tes_problem_flow(p, &errors));

    velocity[i] = errors.velocity_l2;
    tes_problem_destroy(&p);
    drop(&s);
  }
  printf("steps of the flow: %.3g and %.3g, errors %.3e and %.3e\n", dt[0], dt[1], velocity[0], velocity[1]);
  assert_true(dt[1] < dt[0] && dt[1] > dt[0] / 3);
  assert_true(velocity[0] < 2e-3 && velocity[1] < 0.5 * velocity[0]);
  tes_context_destroy(&ctx);
}

/* Flow between plates, u = (4 y (1 - y), 0 (, 0)), p = 8 (3 - x), between an inflow and an open end: all steps keep it,
 * and the friction on the wall at the bottom is 4 times its area. */
static void flow_between_plates_stays(void **state) {
  TesContext *ctx = make_context();
  (void)state;
  for (int kind = 0; kind < 2; kind++)
    for (int dim = 2; dim <= 3; dim++) {
      const double upper[3] = {3, 1, 1};
      TesFunction *corner = expression(ctx, "0.4 - y - abs(x - 1)"), *u = expression(ctx, "4*y*(1 - y)"),
                  *zero = expression(ctx, "0"), *pressure = expression(ctx, "8*(3 - x)");
      TesMesh *mesh;
      TesProblem *p;
      TesSolveResult result;
      TesFlowResult flow;
      double drag;
      const TesMeshDesc desc = {.kind = kind ? TES_MESH_FOREST : TES_MESH_BOX,
                                .dim = dim,
                                .cells = {3, 2, 1},
                                .upper = {upper[0], upper[1], upper[2]},
                                .refine_where = kind ? corner : NULL};
      const TesStatus status = tes_mesh_create(ctx, &desc, &mesh);
      if (status != TES_MISSING) {
        assert_ok(ctx, status);
        const TesBoundary boundary[] = {{.g = {zero, zero, dim == 3 ? zero : NULL}},
                                        {.name = "left", .g = {u, zero, dim == 3 ? zero : NULL}},
                                        {.name = "right", .condition = TES_NEUMANN},
                                        {.name = "back", .condition = TES_SLIP},
                                        {.name = "front", .condition = TES_SLIP}};
        TesProblemDesc flow_desc = {.equation = TES_NAVIER_STOKES,
                                    .mesh = mesh,
                                    .degree = 2,
                                    .boundaries = dim == 3 ? 5 : 3,
                                    .boundary = boundary,
                                    .exact = {u, zero, dim == 3 ? zero : pressure, dim == 3 ? pressure : NULL},
                                    .time = {.end = 0.1, .step = 0.01},
                                    .solver = {.tolerance = 1e-10}};
        assert_ok(ctx, tes_problem_create(ctx, &flow_desc, &p));
        assert_ok(ctx, tes_problem_solve(p, &result));
        assert_ok(ctx, tes_problem_flow(p, &flow));
        assert_true(flow.velocity_l2 < 1e-9 && flow.pressure_l2 < 1e-7 && flow.divergence_l2 < 1e-8);
        assert_near(flow.flux[0], -2 / 3., 1e-10);
        assert_near(flow.flux[1], 2 / 3., 1e-10);
        assert_ok(
            ctx, tes_problem_value(
                     p, &(TesValue){.kind = TES_VALUE_FORCE, .where = TES_ON_BOUNDARY, .number = 2, .of = "x"},
                     &drag));
        assert_near(drag, 12, 1e-6);
        tes_problem_destroy(&p);
      }
      tes_mesh_destroy(&mesh);
      tes_function_destroy(&corner), tes_function_destroy(&u);
      tes_function_destroy(&zero), tes_function_destroy(&pressure);
    }
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

/* Between two open ends without friction, P = 2 t where the flow enters and 0 where it leaves: there P is p + u^2 / 2,
 * so that 2 u' = 2 t - u^2 / 2 and p = u' (2 - x). */
static void pressures_may_change_in_time(void **state) {
  TesContext *ctx = make_context();
  TesFunction *push = expression(ctx, "2*t");
  TesMesh *mesh;
  TesProblem *p;
  TesSolveResult result;
  enum { FINE = 100000 };
  double u, pressure, known = 0;
  const double x[2] = {1, 0.5};
  (void)state;
  assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {4, 2}, .upper = {2, 1}}, &mesh));
  const TesBoundary boundary[] = {{.condition = TES_SLIP},
                                  {.name = "left", .condition = TES_NEUMANN, .g = {[2] = push}},
                                  {.name = "right", .condition = TES_NEUMANN}};
  const TesProblemDesc desc = {.equation = TES_NAVIER_STOKES,
                               .mesh = mesh,
                               .degree = 3,
                               .boundaries = 3,
                               .boundary = boundary,
                               .time = {.end = 1, .step = 0.05}};
  assert_ok(ctx, tes_problem_create(ctx, &desc, &p));
  assert_ok(ctx, tes_problem_solve(p, &result));
  assert_ok(ctx, tes_problem_sample(p, 1, x, 1, (const char *const[]){"u"}, &u, NULL));
  assert_ok(ctx, tes_problem_sample(p, 1, x, 1, (const char *const[]){"p"}, &pressure, NULL));
  for (int i = 0; i < FINE; i++) known += ((i + 0.5) / FINE - known * known / 4) / FINE;
  assert_near(u, known, 2e-3);
  assert_near(pressure, 1 - known * known / 4, 2e-3);
  tes_problem_destroy(&p);
  tes_mesh_destroy(&mesh);
  tes_function_destroy(&push);
  tes_context_destroy(&ctx);
}

/* Corners of a cavity are at rest, unless the lid has priority. */
static void walls_at_rest_win(void **state) {
  TesContext *ctx = make_context();
  TesFunction *zero = expression(ctx, "0"), *one = expression(ctx, "1");
  TesMesh *mesh;
  (void)state;
  assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {2, 2}}, &mesh));
  for (int priority = 0; priority < 2; priority++) {
    const TesBoundary boundary[] = {{.g = {zero, zero}},
                                    {.name = "top", .priority = priority, .g = {one, zero}}};
    TesProblemDesc desc = {.equation = TES_NAVIER_STOKES,
                           .mesh = mesh,
                           .degree = 2,
                           .boundaries = 2,
                           .boundary = boundary,
                           .time = {.end = 0.1, .step = 0.01}};
    TesProblem *p;
    double values[2];
    const double x[4] = {1, 1, 0.5, 1};
    assert_ok(ctx, tes_problem_create(ctx, &desc, &p));
    assert_ok(ctx, tes_problem_sample(p, 2, x, 1, (const char *const[]){"u"}, values, NULL));
    assert_near(values[0], priority, 0);
    assert_near(values[1], 1, 0);
    tes_problem_destroy(&p);
  }
  tes_mesh_destroy(&mesh);
  tes_function_destroy(&zero), tes_function_destroy(&one);
  tes_context_destroy(&ctx);
}

static void make_steps(TesContext *ctx, TesProblem *p, int count) {
  TesSolveResult result;
  for (int i = 0; i < count; i++) assert_ok(ctx, tes_problem_step(p, &result));
}

/* With steps by the flow, on trees with hanging nodes: the same bits as without the way through a file. */
static void checkpoints_go_on_bit_for_bit(void **state) {
  TesContext *ctx;
  TesFunction *lid, *zero, *corner;
  TesMesh *mesh;
  TesProblem *p, *q;
  TesCheckpoint *checkpoint;
  (void)state;
  assert_int_equal(
      tes_context_create(&(TesContextDesc){.device = "cpu", .deterministic = true}, &ctx, NULL, 0), TES_OK);
  lid = expression(ctx, "sin(3*t) + x"), zero = expression(ctx, "0"), corner = expression(ctx, "y - 0.8");
  const TesMeshDesc desc = {.kind = TES_MESH_FOREST, .dim = 2, .cells = {3, 3}, .refine_where = corner};
  const TesStatus status = tes_mesh_create(ctx, &desc, &mesh);
  if (status == TES_OK && tes_has_part("hdf5")) {
    const TesBoundary boundary[] = {{.g = {zero, zero}}, {.name = "top", .g = {lid, zero}}};
    TesProblemDesc flow = {.equation = TES_NAVIER_STOKES,
                           .mesh = mesh,
                           .degree = 3,
                           .boundaries = 2,
                           .boundary = boundary,
                           .time = {.end = 2, .cfl = 0.4}};
    assert_ok(ctx, tes_problem_create(ctx, &flow, &p));
    make_steps(ctx, p, 13);
    assert_ok(ctx, tes_problem_write(p, "flow.h5"));
    make_steps(ctx, p, 12);
    assert_ok(ctx, tes_checkpoint_read(ctx, "flow.h5", 2, &checkpoint));
    assert_ok(ctx, tes_problem_create(ctx, &flow, &q));
    assert_ok(ctx, tes_problem_read(q, checkpoint));
    make_steps(ctx, q, 12);
    assert_near(tes_problem_info(q).time, tes_problem_info(p).time, 0);
    assert_memory_equal(tes_vector_data_const(tes_problem_solution(p)),
                        tes_vector_data_const(tes_problem_solution(q)),
                        (size_t)tes_vector_length(tes_problem_solution(p)) * sizeof(double));
    tes_problem_destroy(&p), tes_problem_destroy(&q);
    tes_checkpoint_destroy(&checkpoint);
    remove("flow.h5");
  }
  tes_mesh_destroy(&mesh);
  tes_function_destroy(&lid), tes_function_destroy(&zero), tes_function_destroy(&corner);
  tes_context_destroy(&ctx);
}

/* A step far above what is stable ends with a sentence, and what was there before it stays. */
static void unstable_steps_end(void **state) {
  TesContext *ctx = make_context();
  TesProblem *p;
  TesSolveResult result;
  TesStatus status = TES_OK;
  double norm;
  Flow s;
  (void)state;
  make_vortex(ctx, TES_MESH_BOX, 8, 4, 100, 100, &s);
  s.desc.solver.tolerance = 1e-3;
  assert_ok(ctx, tes_problem_create(ctx, &s.desc, &p));
  for (int i = 0; i < 100 && status == TES_OK; i++) status = tes_problem_step(p, &result);
  assert_true(status == TES_NAN || status == TES_DIVERGED);
  assert_non_null(strstr(tes_context_message(ctx), "unstable"));
  assert_ok(ctx, tes_vector_maximum(tes_problem_solution(p), &norm));
  assert_true(isfinite(norm));
  tes_problem_destroy(&p);
  drop(&s);
  tes_context_destroy(&ctx);
}

/* Steady flow with continuous elements: orders on trees with hanging nodes, and iterations that do not grow. */
static void steady_flow_on_trees(void **state) {
  TesContext *ctx = make_context();
  TesFunction *corner = expression(ctx, "0.3 - x"), *u[2], *f[2], *pressure = expression(ctx, "x*y");
  double error[2][2];
  (void)state;
  u[0] = expression(ctx, "sin(pi*x)*cos(pi*y)"), u[1] = expression(ctx, "-cos(pi*x)*sin(pi*y)");
  f[0] = expression(ctx, "2*pi*pi*sin(pi*x)*cos(pi*y) + y");
  f[1] = expression(ctx, "-2*pi*pi*cos(pi*x)*sin(pi*y) + x");
  const TesBoundary boundary = {.g = {u[0], u[1]}};
  for (int degree = 2; degree <= 4; degree += 2)
    for (int level = 0; level < 2; level++) {
      TesMesh *mesh;
      TesProblem *p;
      TesSolveResult result;
      TesFlowResult flow;
      const int cells = 4 << level;
      const TesMeshDesc desc = {
          .kind = TES_MESH_FOREST, .dim = 2, .cells = {cells, cells}, .refine_where = corner};
      const TesStatus status = tes_mesh_create(ctx, &desc, &mesh);
      if (status == TES_MISSING) continue;
      assert_ok(ctx, status);
      const TesProblemDesc stokes = {.equation = TES_STOKES,
                                     .mesh = mesh,
                                     .degree = degree,
                                     .data = {.f = {f[0], f[1]}},
                                     .boundaries = 1,
                                     .boundary = &boundary,
                                     .exact = {u[0], u[1], pressure},
                                     .solver = {.tolerance = 1e-11}};
      assert_ok(ctx, tes_problem_create(ctx, &stokes, &p));
      assert_ok(ctx, tes_problem_solve(p, &result));
      assert_ok(ctx, tes_problem_flow(p, &flow));
      printf("steady, degree %d: %d iterations, errors %.3e and %.3e\n", degree, result.iterations,
             flow.velocity_l2, flow.pressure_l2);
      assert_true(result.iterations < 40);
      error[level][0] = flow.velocity_l2, error[level][1] = flow.pressure_l2;
      if (level) assert_true(log2(error[0][0] / error[1][0]) > degree + 0.7);
      if (level) assert_true(log2(error[0][1] / error[1][1]) > degree - 0.3);
      tes_problem_destroy(&p);
      tes_mesh_destroy(&mesh);
    }
  for (int c = 0; c < 2; c++) tes_function_destroy(&u[c]), tes_function_destroy(&f[c]);
  tes_function_destroy(&corner), tes_function_destroy(&pressure);
  assert_int_equal(tes_context_memory(ctx), 0);
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
  assert_refused(&s, "space.degree: expected 2 to 8 for navier_stokes with element q, got 1");
  s.desc.degree = 2, s.desc.time.method = TES_TIME_BDF3;
  assert_refused(
      &s, "time.method: navier_stokes with element q has auto and imex_bdf2; bdf3 belongs to transport");
  s.desc.time.method = TES_TIME_AUTO, s.desc.time.cfl = 0.5;
  assert_refused(&s, "time.step is 0.1, time.cfl 0.5");
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
                                     cmocka_unit_test(trees_are_as_good),
                                     cmocka_unit_test(grad_div_takes_divergence),
                                     cmocka_unit_test(the_flow_chooses_steps),
                                     cmocka_unit_test(flow_between_plates_stays),
                                     cmocka_unit_test(pressures_may_change_in_time),
                                     cmocka_unit_test(walls_at_rest_win),
                                     cmocka_unit_test(checkpoints_go_on_bit_for_bit),
                                     cmocka_unit_test(unstable_steps_end),
                                     cmocka_unit_test(steady_flow_on_trees),
                                     cmocka_unit_test(what_cannot_be_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
