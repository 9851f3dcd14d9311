/* Run: ctest -R t7_rt_flow_device. Flows in time with Raviart-Thomas elements by kernels beside the processor, on the
 * emulator and on a GPU where there is one: periodic directions, walls that move, channels, mean velocities that are
 * kept, steps by error, in the plane and in space; forces; checkpoints that go on on another device; what is
 * refused. Brief: two steps in the plane.
 * Quick: 1-3
 * Labels: heavy */
#include <stdio.h>
#include "device_testing.h"
#include "problem/flow/coupled/coupled.h"

static const char *const devices[] = {"emulator", "cuda"};

typedef struct Flow {
  TesContext *ctx;
  TesCase *input;
  TesMesh *mesh;
  TesProblem *problem;
} Flow;

static TesStatus try_flow(const char *device, const char *text, const char *const *set, Flow *s) {
  int count = 0;
  *s = (Flow){.ctx = test_context(&(TesContextDesc){.device = device})};
  if (!s->ctx) return TES_MISSING;
  while (set && set[count]) count++;
  assert_ok(s->ctx, tes_case_parse(s->ctx, text, "a.yaml", count, set, &s->input));
  assert_ok(s->ctx, tes_mesh_create(s->ctx, &s->input->mesh, &s->mesh));
  s->input->problem.mesh = s->mesh;
  return tes_problem_create(s->ctx, &s->input->problem, &s->problem);
}

static TesContext *host(void) {
  TesContext *ctx;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0), TES_OK);
  return ctx;
}

static Flow on_host(const char *text, const char *const *set) {
  Flow s = {.ctx = host()};
  int count = 0;
  while (set && set[count]) count++;
  assert_ok(s.ctx, tes_case_parse(s.ctx, text, "a.yaml", count, set, &s.input));
  assert_ok(s.ctx, tes_mesh_create(s.ctx, &s.input->mesh, &s.mesh));
  s.input->problem.mesh = s.mesh;
  assert_ok(s.ctx, tes_problem_create(s.ctx, &s.input->problem, &s.problem));
  return s;
}

static void drop(Flow *s) {
  tes_problem_destroy(&s->problem);
  tes_mesh_destroy(&s->mesh);
  tes_case_destroy(&s->input);
  tes_context_destroy(&s->ctx);
}

static void step(Flow *s, int count) {
  TesSolveResult result;
  for (int i = 0; i < count; i++) assert_ok(s->ctx, tes_problem_step(s->problem, &result));
}

/* Of all entries, velocities and pressures apart: the largest difference, of the largest number. */
static void assert_same(const Flow *a, const Flow *b, double tolerance) {
  const TesVector *x = tes_problem_solution(a->problem), *y = tes_problem_solution(b->problem);
  const TesSpace *space = tes_problem_space(a->problem);
  const int64_t n = tes_vector_length(x);
  double *of_a = test_malloc((size_t)n * sizeof *of_a), *of_b = test_malloc((size_t)n * sizeof *of_b);
  assert_ok(a->ctx, tes_vector_get(x, of_a));
  assert_ok(b->ctx, tes_vector_get(y, of_b));
  for (int part = 0; part < 2; part++) {
    double worst = 0, largest = 0;
    for (int64_t i = part ? space->first[space->dim] : 0; i < (part ? n : space->first[space->dim]); i++) {
      worst = test_larger(worst, fabs(of_a[i] - of_b[i]));
      largest = test_larger(largest, fabs(of_b[i]));
    }
    printf("%s: %.1e of %.1e\n", part ? "pressure" : "velocity", worst, largest);
    if (!(largest > 0 && worst <= tolerance * largest))
      fail_msg("%s off by %g of %g", part ? "pressures" : "velocities", worst, largest);
  }
  test_free(of_a);
  test_free(of_b);
}

/* As many steps on the processor and a device: the same times, the same flow to the tolerance of solves, no
 * divergence. */
static void compare(const char *text, const char *const *set, int steps, double tolerance) {
  if (test_brief()) steps = 2;
  Flow exact = on_host(text, set);
  step(&exact, steps);
  for (int d = 0; d < 2; d++) {
    Flow s;
    TesFlowResult flow;
    const TesStatus status = try_flow(devices[d], text, set, &s);
    if (!s.ctx) continue;
    if (status != TES_OK) fail_msg("%s", tes_context_message(s.ctx));
    step(&s, steps);
    assert_near(tes_problem_info(s.problem).time, tes_problem_info(exact.problem).time, 1e-12);
    assert_same(&s, &exact, tolerance);
    assert_ok(s.ctx, tes_problem_flow(s.problem, &flow));
    assert_true(flow.divergence_relative <= 1e-12);
    for (int c = 0; c < 3; c++) {
      const double force = tes_problem_info(exact.problem).mean_force[c],
                   ours = tes_problem_info(s.problem).mean_force[c];
      assert_int_equal(isnan(force), isnan(ours));
      if (!isnan(force)) assert_near(ours, force, tolerance * (1 + fabs(force)));
    }
    drop(&s);
  }
  drop(&exact);
}

#define LAYERS                                                                                               \
  "problem: navier_stokes\n"                                                                                 \
  "mesh: {box: {cells: [6, 5], periodic: xy}}\n"                                                             \
  "space: {element: rt, degree: 2}\n"                                                                        \
  "data: {nu: 1e-4, initial: {velocity: [\"tanh(30*(0.25 - abs(y - 0.5)))\", \"0.05*sin(2*pi*x)\"]}}\n"      \
  "time: {end: 1, cfl: 0.4}\n"                                                                               \
  "solver: {tolerance: 1e-7}\n"

static void layers(void **state) {
  (void)state;
  compare(LAYERS, NULL, 12, 1e-5);
  compare(LAYERS,
          (const char *const[]){"time.method=imex_bdf3", "space.degree=3", "mesh.box.cells=[4, 4]", NULL}, 6,
          1e-5);
}

/* u = curl psi, psi = sin(x + 2 t) cos(3 y / 2 - t): the load and the velocity on the boundary depend on t. */
static void walls_that_move(void **state) {
  static const char text[] =
      "problem: navier_stokes\n"
      "mesh: {box: {cells: [3, 4]}}\n"
      "space: {element: rt, degree: 3}\n"
      "data:\n"
      "  nu: 0.1\n"
      "  f: [\"sin(x + t)\", \"cos(y - t)\"]\n"
      "  exact: {velocity: [\"-1.5*sin(x + 2*t)*sin(1.5*y - t)\", \"-cos(x + 2*t)*cos(1.5*y - t)\"]}\n"
      "time: {end: 1, step: 0.02}\n"
      "solver: {tolerance: 1e-8}\n";
  (void)state;
  compare(text, NULL, 6, 1e-6);
}

static void channels(void **state) {
  static const char text[] = "problem: navier_stokes\n"
                             "mesh: {box: {cells: [6, 3], upper: [2, 1]}}\n"
                             "space: {element: rt, degree: 2}\n"
                             "data: {nu: 0.01}\n"
                             "boundary: {left: {velocity: [\"4*y*(1 - y)\", 0]}, right: outflow, top: slip}\n"
                             "time: {end: 0.4, step: 0.02}\n"
                             "solver: {tolerance: 1e-8}\n";
  (void)state;
  compare(text, NULL, 6, 1e-6);
}

/* Mean velocities that forces keep: in two periodic directions, of steps that differ; between walls, in space. */
static void driven_flows(void **state) {
  static const char text[] =
      "problem: navier_stokes\n"
      "mesh: {box: {cells: [3, 2, 3], periodic: xz}}\n"
      "space: {element: rt, degree: 1}\n"
      "data: {nu: 0.1, mean_velocity: [1, null, 0.5], f: [sin(2*pi*z), y*y, cos(2*pi*x)]}\n"
      "time: {end: 0.4, step: 0.02}\n"
      "solver: {tolerance: 1e-8}\n";
  (void)state;
  compare(LAYERS, (const char *const[]){"data.mean_velocity=[0.5, 0.1]", NULL}, 5, 1e-5);
  compare(text, NULL, 4, 1e-6);
}

/* Steps by the error of the velocity. */
static void steps_by_error(void **state) {
  (void)state;
  compare(LAYERS, (const char *const[]){"time={end: 1, tolerance: 1e-3}", NULL}, 6, 1e-5);
}

#define VORTEX                                                                                               \
  "problem: navier_stokes\n"                                                                                 \
  "mesh: {box: {cells: [4, 4, 4], upper: [2*pi, 2*pi, 2*pi], periodic: xyz}}\n"                              \
  "space: {element: rt, degree: 1}\n"                                                                        \
  "data: {nu: 0.01, initial: {velocity: [sin(x)*cos(y)*cos(z), -cos(x)*sin(y)*cos(z), 0]}}\n"                \
  "time: {end: 8, cfl: 0.4, method: imex_bdf3}\n"                                                            \
  "solver: {tolerance: 1e-6}\n"

static void vortex_in_space(void **state) {
  (void)state;
  if (test_brief()) return;
  compare(VORTEX, NULL, 4, 1e-5);
  compare(VORTEX, (const char *const[]){"space.degree=2", "mesh.box.cells=[3, 4, 3]", NULL}, 2, 1e-5);
}

static double force_of(const Flow *s, const char *direction) {
  double force;
  const TesValue value = {.kind = TES_VALUE_FORCE, .where = TES_ON_BOUNDARY, .number = 2, .of = direction};
  assert_ok(s->ctx, tes_problem_value(s->problem, &value, &force));
  return force;
}

/* Energy by a value, and the force on a wall. */
static void values(void **state) {
  static const char text[] = "problem: navier_stokes\n"
                             "mesh: {box: {cells: [4, 4]}}\n"
                             "space: {element: rt, degree: 2}\n"
                             "data: {nu: 0.1}\n"
                             "boundary: {top: {velocity: [\"16*x*x*(1 - x)*(1 - x)\", 0]}}\n"
                             "time: {end: 1, step: 0.02}\n"
                             "solver: {tolerance: 1e-9}\n";
  const TesValue energy = {.kind = TES_VALUE_INTEGRAL, .of = "(u*u + v*v)/2"};
  double exact, value;
  (void)state;
  Flow a = on_host(text, NULL);
  step(&a, 5);
  assert_ok(a.ctx, tes_problem_value(a.problem, &energy, &exact));
  for (int d = 0; d < 2; d++) {
    Flow s;
    const TesStatus status = try_flow(devices[d], text, NULL, &s);
    if (!s.ctx) continue;
    assert_ok(s.ctx, status);
    step(&s, 5);
    assert_ok(s.ctx, tes_problem_value(s.problem, &energy, &value));
    assert_near(value, exact, 1e-7 * exact);
    assert_near(force_of(&s, "x"), force_of(&a, "x"), 1e-5 * fabs(force_of(&a, "x")));
    drop(&s);
  }
  drop(&a);
}

/* A checkpoint of a device goes on on the processor as the flow itself does. */
static void checkpoints_move(void **state) {
  (void)state;
  if (!tes_has_part("hdf5")) return;
  for (int d = 0; d < 2; d++) {
    Flow s, t = on_host(LAYERS, NULL);
    TesCheckpoint *checkpoint;
    const TesStatus status = try_flow(devices[d], LAYERS, NULL, &s);
    if (s.ctx) {
      assert_ok(s.ctx, status);
      step(&s, 5);
      assert_ok(s.ctx, tes_problem_write(s.problem, "rt-flow-device.h5"));
      step(&s, 4);
      assert_ok(t.ctx, tes_checkpoint_read(t.ctx, "rt-flow-device.h5", 2, &checkpoint));
      assert_ok(t.ctx, tes_problem_read(t.problem, checkpoint));
      step(&t, 4);
      assert_same(&s, &t, 1e-5);
      tes_checkpoint_destroy(&checkpoint);
      remove("rt-flow-device.h5");
    }
    drop(&s), drop(&t);
  }
}

static void degrees_without_kernels_are_refused(void **state) {
  Flow s;
  (void)state;
  const TesStatus status = try_flow("emulator", VORTEX, (const char *const[]){"space.degree=5", NULL}, &s);
  if (s.ctx) {
    assert_int_equal(status, TES_MISSING);
    assert_non_null(strstr(tes_context_message(s.ctx),
                           "1 to 4 for navier_stokes with element rt on devices with kernels, got 5"));
  }
  drop(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(layers),
                                     cmocka_unit_test(walls_that_move),
                                     cmocka_unit_test(channels),
                                     cmocka_unit_test(driven_flows),
                                     cmocka_unit_test(steps_by_error),
                                     cmocka_unit_test(vortex_in_space),
                                     cmocka_unit_test(values),
                                     cmocka_unit_test(checkpoints_move),
                                     cmocka_unit_test(degrees_without_kernels_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
