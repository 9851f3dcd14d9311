/* Run: ctest -R t7_rt_flow. Flows in time with Raviart-Thomas elements: orders in time with walls that move, orders in
 * space, flows that are exact, 2D and 3D; divergence and energy of a flow that is not resolved; steps that the flow
 * chooses; checkpoints; what ends a run and what is refused. */
#include <stdio.h>
#include "problem/flow/coupled/coupled.h"
#include "tessera/tessera.h"
#include "testing.h"

static TesContext *make_context(void) {
  TesContext *ctx;
  assert_int_equal(
      tes_context_create(&(TesContextDesc){.device = "cpu", .deterministic = true}, &ctx, NULL, 0), TES_OK);
  return ctx;
}

typedef struct Flow {
  TesContext *ctx;
  TesCase *input;
  TesMesh *mesh;
  TesProblem *problem;
} Flow;

/* Of a case file, with some keys set otherwise, up to NULL. */
static TesStatus try_flow(const char *text, const char *const *set, Flow *s) {
  TesStatus status;
  int count = 0;
  *s = (Flow){.ctx = make_context()};
  while (set && set[count]) count++;
  status = tes_case_parse(s->ctx, text, "a.yaml", count, set, &s->input);
  if (status == TES_OK) status = tes_mesh_create(s->ctx, &s->input->mesh, &s->mesh);
  if (status != TES_OK) return status;
  s->input->problem.mesh = s->mesh;
  return tes_problem_create(s->ctx, &s->input->problem, &s->problem);
}

static Flow make_flow(const char *text, const char *const *set) {
  Flow s;
  if (try_flow(text, set, &s) != TES_OK) fail_msg("%s", tes_context_message(s.ctx));
  return s;
}

static void drop(Flow *s) {
  tes_problem_destroy(&s->problem);
  tes_mesh_destroy(&s->mesh);
  tes_case_destroy(&s->input);
  assert_int_equal(tes_context_memory(s->ctx), 0);
  tes_context_destroy(&s->ctx);
}

static TesFlowResult errors_of(const char *text, const char *const *set) {
  Flow s = make_flow(text, set);
  TesSolveResult result;
  TesFlowResult flow;
  assert_ok(s.ctx, tes_problem_solve(s.problem, &result));
  assert_ok(s.ctx, tes_problem_flow(s.problem, &flow));
  drop(&s);
  return flow;
}

static double energy_of(const Flow *s) {
  double energy;
  const bool flat = s->mesh && tes_mesh_info(s->mesh).dim == 2;
  assert_ok(s->ctx, tes_problem_value(s->problem,
                                      &(TesValue){.kind = TES_VALUE_INTEGRAL,
                                                  .of = flat ? "(u*u + v*v)/2" : "(u*u + v*v + w*w)/2"},
                                      &energy));
  return energy;
}

/* ---- orders -------------------------------------------------------------------------------------------- */

/* u = curl psi, psi = sin(x + 2 t) cos(3 y / 2 - t), p = cos(x - y + t), whose velocity on the boundary moves. */
#define MOVING                                                                                               \
  "problem: navier_stokes\n"                                                                                 \
  "mesh: {box: {cells: [3, 3]}}\n"                                                                           \
  "space: {element: rt, degree: 5}\n"                                                                        \
  "data:\n"                                                                                                  \
  "  nu: 0.1\n"                                                                                              \
  "  f: [\"-3*cos(x + 2*t)*sin(1.5*y - t) + 1.5*sin(x + 2*t)*cos(1.5*y - t)"                                 \
  " + 2.25*sin(x + 2*t)*cos(x + 2*t)"                                                                        \
  " - 0.325*1.5*sin(x + 2*t)*sin(1.5*y - t) - sin(x - y + t)\",\n"                                           \
  "      \"2*sin(x + 2*t)*cos(1.5*y - t) - cos(x + 2*t)*sin(1.5*y - t)"                                      \
  " - 1.5*sin(1.5*y - t)*cos(1.5*y - t)"                                                                     \
  " - 0.325*cos(x + 2*t)*cos(1.5*y - t) + sin(x - y + t)\"]\n"                                               \
  "  exact: {velocity: [\"-1.5*sin(x + 2*t)*sin(1.5*y - t)\", \"-cos(x + 2*t)*cos(1.5*y - t)\"],"            \
  " pressure: \"cos(x - y + t)\"}\n"                                                                         \
  "boundary: {all: {velocity: [\"-1.5*sin(x + 2*t)*sin(1.5*y - t)\","                                        \
  " \"-cos(x + 2*t)*cos(1.5*y - t)\"]}}\n"                                                                   \
  "time: {end: 1, step: 0.05}\n"                                                                             \
  "solver: {tolerance: 1e-9}\n"

static void check_orders(const char *method, double order, const char *const step[2]) {
  TesFlowResult r[2];
  for (int i = 0; i < 2; i++) r[i] = errors_of(MOVING, (const char *const[]){method, step[i], NULL});
  const double u = log2(r[0].velocity_l2 / r[1].velocity_l2), p = log2(r[0].pressure_l2 / r[1].pressure_l2);
  printf("%s: %.3e %.3e, orders %.2f %.2f\n", method, r[1].velocity_l2, r[1].pressure_l2, u, p);
  assert_true(u > order - 0.15 && u < order + 0.4);
  assert_true(p > order - 0.15 && p < order + 0.4);
}

static void orders_in_time(void **state) {
  (void)state;
  check_orders("time.method=imex_bdf2", 2, (const char *const[]){"time.step=0.025", "time.step=0.0125"});
  check_orders("time.method=imex_bdf3", 3, (const char *const[]){"time.step=0.025", "time.step=0.0125"});
}

/* The vortex of Taylor and Green on a box with two periodic directions. */
#define VORTEX                                                                                               \
  "problem: navier_stokes\n"                                                                                 \
  "mesh: {box: {cells: [8, 8], periodic: xy}}\n"                                                             \
  "space: {element: rt, degree: 2}\n"                                                                        \
  "data:\n"                                                                                                  \
  "  nu: 0.01\n"                                                                                             \
  "  exact: {velocity: [\"sin(2*pi*x)*cos(2*pi*y)*exp(-8*pi*pi*0.01*t)\","                                   \
  " \"-cos(2*pi*x)*sin(2*pi*y)*exp(-8*pi*pi*0.01*t)\"],\n"                                                   \
  "    pressure: \"(cos(4*pi*x) + cos(4*pi*y))/4*exp(-16*pi*pi*0.01*t)\"}\n"                                 \
  "time: {end: 0.1, step: 0.005, method: imex_bdf3}\n"                                                       \
  "solver: {tolerance: 1e-7}\n"

static void orders_in_space(void **state) {
  static const char *const degree[] = {"space.degree=1", "space.degree=2", "space.degree=3"};
  (void)state;
  for (int k = 1; k <= 3; k++) {
    const TesFlowResult a = errors_of(VORTEX,
                                      (const char *const[]){degree[k - 1], "mesh.box.cells=[6, 6]", NULL}),
                        b = errors_of(VORTEX,
                                      (const char *const[]){degree[k - 1], "mesh.box.cells=[12, 12]", NULL});
    const double u = log2(a.velocity_l2 / b.velocity_l2), p = log2(a.pressure_l2 / b.pressure_l2);
    printf("RT_%d: %.3e %.3e, orders %.2f %.2f\n", k, b.velocity_l2, b.pressure_l2, u, p);
    assert_true(u > k + 0.7);
    assert_true(p > k + 0.7);
    assert_true(b.divergence_relative <= 1e-12);
  }
}

/* Beltrami's flow, whose convection is a gradient: exact in space. */
static void beltrami(void **state) {
  static const char text[] =
      "problem: navier_stokes\n"
      "mesh: {box: {cells: [4, 3, 4], upper: [\"2*pi\", \"2*pi\", \"2*pi\"], periodic: xyz}}\n"
      "space: {element: rt, degree: 3}\n"
      "data:\n"
      "  nu: 0.1\n"
      "  exact: {velocity: [\"(sin(z) + cos(y))*exp(-0.1*t)\", \"(sin(x) + cos(z))*exp(-0.1*t)\","
      " \"(sin(y) + cos(x))*exp(-0.1*t)\"],\n"
      "    pressure: \"-(cos(x)*sin(y) + cos(y)*sin(z) + cos(z)*sin(x))*exp(-0.2*t)\"}\n"
      "time: {end: 0.2, step: 0.05}\n"
      "solver: {tolerance: 1e-6}\n";
  (void)state;
  const TesFlowResult r = errors_of(text, NULL);
  printf("Beltrami: %.3e %.3e, div %.1e\n", r.velocity_l2, r.pressure_l2, r.divergence_relative);
  assert_true(r.velocity_l2 < 0.1 && r.pressure_l2 < 0.1); /* of 27 and 19 */
  assert_true(r.divergence_relative <= 1e-12);
}

/* A parabola that flows in, out through an open end, between walls or a wall and its plane of symmetry: exact. */
static void channels_are_exact(void **state) {
  static const char text[] = "problem: navier_stokes\n"
                             "mesh: {box: {cells: [5, 3], upper: [2, 1]}}\n"
                             "space: {element: rt, degree: 2}\n"
                             "data:\n"
                             "  nu: 0.5\n"
                             "  exact: {velocity: [\"4*y*(1 - y)\", 0], pressure: \"4*(2 - x)\"}\n"
                             "boundary: {left: {velocity: [\"4*y*(1 - y)\", 0]}, right: outflow}\n"
                             "time: {end: 0.4, step: 0.02}\n"
                             "solver: {tolerance: 1e-9}\n";
  (void)state;
  const char *const half[] = {"mesh.box.upper=[2, 0.5]", "boundary.top=slip", NULL};
  for (int i = 0; i < 2; i++) {
    const TesFlowResult r = errors_of(text, i ? half : NULL);
    assert_true(r.velocity_l2 < 1e-11 && r.pressure_l2 < 1e-10);
    assert_near(r.flux[1], i ? 1. / 3 : 2. / 3, 1e-12);
  }
}

/* Beside - int sigma n of the exact solution, whose pressure has the mean (2 sin(1/2))^2 cos t. */
static void forces_converge(void **state) {
  static const char *const cells[] = {"mesh.box.cells=[3, 3]", "mesh.box.cells=[6, 6]"};
  static const char *const exact[] = {
      "-(0.1*-1.5*cos(x + 2*t)*sin(1.5*y - t) - cos(x - y + t) + pow(2*sin(0.5), 2)*cos(t))",
      "-(0.1*sin(x + 2*t)*cos(1.5*y - t))"};
  (void)state;
  for (int direction = 0; direction < 2; direction++) {
    double error[2];
    for (int i = 0; i < 2; i++) {
      Flow s = make_flow(MOVING, (const char *const[]){cells[i], "space.degree=2", "time.method=imex_bdf3",
                                                       "time.end=0.2", "time.step=0.01", NULL});
      TesSolveResult result;
      double force, known;
      assert_ok(s.ctx, tes_problem_solve(s.problem, &result));
      assert_ok(s.ctx, tes_problem_value(s.problem,
                                         &(TesValue){.kind = TES_VALUE_FORCE,
                                                     .where = TES_ON_BOUNDARY,
                                                     .number = 1,
                                                     .of = direction ? "y" : "x"},
                                         &force));
      assert_ok(s.ctx, tes_problem_value(s.problem,
                                         &(TesValue){.kind = TES_VALUE_INTEGRAL,
                                                     .where = TES_ON_BOUNDARY,
                                                     .number = 1,
                                                     .of = exact[direction]},
                                         &known));
      error[i] = fabs(force - known);
      printf("force %d: %.6f, exact %.6f\n", direction, force, known);
      drop(&s);
    }
    assert_true(error[1] < 5e-5 && error[1] < error[0] / 2);
  }
}

/* ---- structure ----------------------------------------------------------------------------------------- */

/* Layers that roll up, nearly without friction and not resolved: energy falls, the divergence stays at round-off. */
#define LAYERS                                                                                               \
  "problem: navier_stokes\n"                                                                                 \
  "mesh: {box: {cells: [6, 6], periodic: xy}}\n"                                                             \
  "space: {element: rt, degree: 2}\n"                                                                        \
  "data: {nu: 1e-9, initial: {velocity: [\"tanh(30*(0.25 - abs(y - 0.5)))\", \"0.05*sin(2*pi*x)\"]}}\n"      \
  "time: {end: 100, cfl: 0.4}\n"

static void energy_falls(void **state) {
  Flow s = make_flow(LAYERS, NULL);
  TesSolveResult result;
  TesFlowResult flow;
  double before = energy_of(&s);
  (void)state;
  for (int i = 0; i < (test_brief() ? 60 : 400); i++) {
    assert_ok(s.ctx, tes_problem_step(s.problem, &result));
    const double now = energy_of(&s);
    if (!(now <= before * (1 + 1e-5))) fail_msg("step %d: energy grows from %.10g to %.10g", i, before, now);
    before = now;
  }
  assert_ok(s.ctx, tes_problem_flow(s.problem, &flow));
  assert_true(flow.divergence_relative <= 1e-12);
  drop(&s);
}

/* Down at once, up by a rung of 2^(1/4) after ten steps; four systems are kept. */
static void the_flow_chooses_steps(void **state) {
  static const char text[] = "problem: navier_stokes\n"
                             "mesh: {box: {cells: [4, 4], periodic: xy}}\n"
                             "space: {element: rt, degree: 1}\n"
                             "data: {nu: 0.1, f: [\"40*cos(2*t)\", 0], initial: {velocity: [1, 0]}}\n"
                             "time: {end: 3, cfl: 0.4, max_step: 0.1}\n";
  Flow s = make_flow(text, NULL);
  TesSolveResult result;
  double last = 0;
  int up = 0, down = 0, since = 0;
  (void)state;
  for (int i = 0; tes_problem_info(s.problem).time < 2.9; i++) {
    const double dt = tes_problem_info(s.problem).dt;
    assert_ok(s.ctx, tes_problem_step(s.problem, &result));
    const double next = tes_problem_info(s.problem).dt, rungs = 4 * log2(next / dt);
    if (i > 0) assert_near(rungs, floor(rungs + 0.5), 1e-9);
    if (i > 0 && rungs > 0.5) assert_true(rungs < 1.5 && since >= 9), up++;
    if (i > 0 && rungs < -0.5) down++;
    since = fabs(rungs) > 0.5 ? 0 : since + 1;
    last = next;
    const TesiCoupledSystem *system = tesi_coupled_of(s.problem)->system;
    assert_true(system[0].op == tes_problem_operator(s.problem));
  }
  assert_true(up > 1 && down > 1 && last > 0);
  /* the velocity is that of the force: 1 + 20 sin(2 t) everywhere */
  const double at[] = {0.3, 0.6}, exact = 1 + 20 * sin(2 * tes_problem_info(s.problem).time);
  double u;
  assert_ok(s.ctx, tes_problem_sample(s.problem, 1, at, 1, (const char *const[]){"u"}, &u, NULL));
  assert_near(u, exact, 0.02 * 20);
  drop(&s);
}

static void make_steps(Flow *s, int count) {
  TesSolveResult result;
  for (int i = 0; i < count; i++) assert_ok(s->ctx, tes_problem_step(s->problem, &result));
}

static void check_restart(const char *text, const char *const *set) {
  Flow a = make_flow(text, set), b = make_flow(text, set);
  TesCheckpoint *checkpoint;
  make_steps(&a, 12);
  assert_ok(a.ctx, tes_problem_write(a.problem, "rt-flow.h5"));
  make_steps(&a, 8);
  assert_ok(b.ctx, tes_checkpoint_read(b.ctx, "rt-flow.h5", 2, &checkpoint));
  assert_ok(b.ctx, tes_problem_read(b.problem, checkpoint));
  make_steps(&b, 8);
  assert_near(tes_problem_info(a.problem).time, tes_problem_info(b.problem).time, 0);
  assert_memory_equal(tes_vector_data_const(tes_problem_solution(a.problem)),
                      tes_vector_data_const(tes_problem_solution(b.problem)),
                      (size_t)tes_vector_length(tes_problem_solution(a.problem)) * sizeof(double));
  tes_checkpoint_destroy(&checkpoint);
  remove("rt-flow.h5");
  drop(&a), drop(&b);
}

static void checkpoints_go_on_bit_for_bit(void **state) {
  (void)state;
  if (!tes_has_part("hdf5")) return;
  check_restart(LAYERS, (const char *const[]){"time.method=imex_bdf3", NULL});
  check_restart(MOVING, (const char *const[]){"space.degree=2", NULL});
}

/* ---- what ends a run ----------------------------------------------------------------------------------- */

static void unstable_steps_end(void **state) {
  Flow s = make_flow(LAYERS, (const char *const[]){"time.cfl=null", "time.step=0.25", NULL});
  TesSolveResult result;
  TesStatus status;
  double norm;
  (void)state;
  while ((status = tes_problem_step(s.problem, &result)) == TES_OK)
    assert_true(tes_problem_info(s.problem).step < 300);
  assert_true(status == TES_DIVERGED || status == TES_NAN);
  assert_non_null(strstr(tes_context_message(s.ctx), "unstable"));
  assert_ok(s.ctx, tes_vector_norm(tes_problem_solution(s.problem), &norm));
  assert_true(isfinite(norm));
  drop(&s);
}

static void assert_refused(const char *text, const char *const *set, const char *part) {
  Flow s;
  assert_int_equal(try_flow(text, set, &s), TES_INVALID_INPUT);
  if (!strstr(tes_context_message(s.ctx), part)) fail_msg("%s: no '%s'", tes_context_message(s.ctx), part);
  drop(&s);
}

static void what_cannot_be_is_refused(void **state) {
  (void)state;
  assert_refused(VORTEX, (const char *const[]){"mesh.kind=forest", NULL},
                 "element rt is for boxes of kind box");
  assert_refused(VORTEX, (const char *const[]){"space.degree=9", NULL},
                 "expected 1 to 8 for navier_stokes with element rt");
  assert_refused(VORTEX, (const char *const[]){"data.nu=1 + x", NULL}, "expected a number > 0");
  assert_refused(VORTEX, (const char *const[]){"data.alpha=1", NULL}, "data.alpha: belongs to stokes");
  assert_refused(VORTEX, (const char *const[]){"time.method=bdf2", NULL},
                 "element rt has auto, imex_bdf2 and imex_bdf3");
  assert_refused(VORTEX, (const char *const[]){"space.element=q", "mesh.box.periodic=null", NULL},
                 "element q has auto and imex_bdf2");
  assert_refused(VORTEX, (const char *const[]){"solver.local_solver=cg", NULL}, "others leave a divergence");
  assert_refused(VORTEX, (const char *const[]){"solver.method=fmg", NULL},
                 "has auto and gmres, because steps begin with a guess");
  assert_refused(MOVING, (const char *const[]){"boundary.left={velocity: [1 + t, 0]}", NULL},
                 "lets more in than out");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(orders_in_time),
                                     cmocka_unit_test(orders_in_space),
                                     cmocka_unit_test(beltrami),
                                     cmocka_unit_test(channels_are_exact),
                                     cmocka_unit_test(forces_converge),
                                     cmocka_unit_test(energy_falls),
                                     cmocka_unit_test(the_flow_chooses_steps),
                                     cmocka_unit_test(checkpoints_go_on_bit_for_bit),
                                     cmocka_unit_test(unstable_steps_end),
                                     cmocka_unit_test(what_cannot_be_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
