/* Run: ctest -R t7_navier_stokes_device. Flows with Q_k/Q_(k-1) on devices with kernels beside those of the
 * host: in time boxes, forests with hanging nodes and an open end, curved cells round a cylinder, a periodic channel
 * that is driven, the grad-div term, meshes that change; steady Stokes flows with hanging nodes, round a cylinder, in
 * space; velocity, pressure, forces, means in time, errors, lengths of steps, iterations; restarts bit for bit.
 * Quick: 1-9
 * Labels: heavy */
#include <stdio.h>
#include "device/emulator/fiber.h"
#include "device/kernel.h"
#include "problem/adapt/remesh.h"
#include "problem/problem.h"
#include "device_testing.h"

static TesFunction *expression(TesContext *on, const char *text) {
  TesFunction *f;
  assert_ok(on, tes_function_create_expression(on, text, &f));
  return f;
}

typedef enum Which {
  VORTEX,
  CAVITY,
  PLATES,
  CYLINDER,
  DRIVEN,
  BASES,            /* others have the mesh of one of these */
  CHANGING = BASES, /* plates whose mesh changes, with the grad-div term */
  FIRST_STEADY,
  STEADY_PLATES = FIRST_STEADY,
  STEADY_CYLINDER,
  STEADY_CAVITY,
  CASES
} Which;

static const char *const names[] = {"vortex",        "cavity",          "plates",
                                    "cylinder",      "driven channel",  "plates, meshes change",
                                    "steady plates", "steady cylinder", "steady cavity"};

/* Whose mesh and conditions it has. */
static Which base_of(Which which) {
  return which == STEADY_PLATES || which == CHANGING ? PLATES
         : which == STEADY_CYLINDER                  ? CYLINDER
         : which == STEADY_CAVITY                    ? CAVITY
                                                     : which;
}

enum { FUNCTIONS = 8, SERIES = 6, STEPS = 5 };

typedef struct Flow {
  TesFunction *f[FUNCTIONS];
  TesMesh *mesh;
  TesBoundary boundary[5];
  TesProblemDesc desc;
  int wall; /* on which the force is */
} Flow;

static TesStatus make_mesh(TesContext *ctx, Which which, TesFunction *where, TesMesh **mesh) {
  const TesMeshDesc desc[BASES] = {
      {.kind = TES_MESH_BOX, .dim = 2, .cells = {3, 2}},
      {.kind = TES_MESH_BOX, .dim = 3, .cells = {2, 2, 2}},
      {.kind = TES_MESH_FOREST, .dim = 2, .cells = {3, 2}, .upper = {3, 1}, .refine_where = where},
      {.kind = TES_MESH_FOREST, .dim = 2, .domain = TES_DOMAIN_CHANNEL},
      {.kind = TES_MESH_FOREST,
       .dim = 3,
       .cells = {3, 2, 1},
       .periodic = {true, false, true},
       .refine_where = where}};
  return tes_mesh_create(ctx, &desc[base_of(which)], mesh);
}

/* False: a build without p4est. */
static bool make_flow(TesContext *ctx, Which which, Flow *s) {
  static const char *const text[CASES][FUNCTIONS] = {
      {"sin(pi*x)*cos(pi*y)*exp(-0.2*t)", "-cos(pi*x)*sin(pi*y)*exp(-0.2*t)",
       "(cos(2*pi*x) + cos(2*pi*y))*exp(-0.4*t)/4", "t*y"},
      {"x*(1 - x)", "0", "x*t"},
      {"4*y*(1 - y)*(1 + t)", "0", "0.5 - x", "t*(1 - y)", "0.3 - abs(x - 2.2) - abs(y - 0.2)",
       "sin(3*y)*(1.5 - x)"},
      {"6*y*(0.41 - y)/(0.41*0.41)*sin(4*t)", "0"},
      {"6*y*(1 - y)", "0.1*sin(2*pi*x)*sin(pi*y)", "0.1", "0", "0.3 - x - y", "0.05*cos(2*pi*x)"},
      {"4*y*(1 - y)*(1 + t)", "0", "0.5 - x", "t*(1 - y)", "0.3 - abs(x - 2.2) - abs(y - 0.2)",
       "sin(3*y)*(1.5 - x)"},
      {"4*y*(1 - y)", "0", "0.5 - x", "x - y", "0.3 - abs(x - 2.2) - abs(y - 0.2)"},
      {"6*y*(0.41 - y)/(0.41*0.41)", "0"},
      {"x*(1 - x)", "0", "x*y"}};
  const Which base = base_of(which);
  *s = (Flow){.wall = base == PLATES || base == DRIVEN ? 2 : base == VORTEX ? 0 : 3};
  for (int i = 0; i < FUNCTIONS; i++) s->f[i] = expression(ctx, text[which][i] ? text[which][i] : "0");
  const TesStatus status = make_mesh(ctx, which, s->f[4], &s->mesh);
  if (status == TES_MISSING) return false;
  assert_ok(ctx, status);
  TesFunction *const *f = s->f;
  const TesBoundary of[BASES][3] = {
      {{.g = {f[0], f[1]}}},
      {{.name = "top", .g = {f[0], f[1], f[1]}}},
      {{.g = {f[1], f[1]}},
       {.name = "left", .g = {f[0], f[1]}},
       {.name = "right", .condition = TES_NEUMANN, .g = {f[3], NULL, f[2]}}},
      {{.name = "inflow", .g = {f[0], f[1]}}, {.name = "outflow", .condition = TES_NEUMANN}},
      {{.g = {f[3], f[3], f[3]}}}};
  static const int boundaries[BASES] = {1, 1, 3, 2, 1}, degree[BASES] = {3, 2, 3, 2, 2};
  for (int i = 0; i < 3; i++) s->boundary[i] = of[base][i];
  s->desc = (TesProblemDesc){.equation = TES_NAVIER_STOKES,
                             .mesh = s->mesh,
                             .degree = degree[base],
                             .boundaries = boundaries[base],
                             .boundary = s->boundary,
                             .time = {.end = 0.05, .step = 0.05 / STEPS},
                             .solver = {.tolerance = 1e-9}};
  if (which == VORTEX) {
    for (int i = 0; i < 3; i++) s->desc.exact[i] = f[i];
    s->desc.data.f[0] = f[3];
    s->desc.average = true, s->desc.average_from = 0.01;
  }
  if (base == CAVITY) s->desc.data.f[2] = f[2];
  if (which == PLATES || which == CHANGING) s->desc.initial[0] = f[5];
  if (base == PLATES) s->desc.data.f[1] = f[3];
  s->desc.grad_div = which == CHANGING || which == CAVITY;
  if (which == CYLINDER) s->desc.time = (TesTimeDesc){.end = 0.1, .cfl = 0.5, .max_step = 0.02};
  if (which == DRIVEN) {
    s->desc.initial[0] = f[0], s->desc.initial[1] = f[1], s->desc.initial[2] = f[5];
    s->desc.data.a = f[2];
    s->desc.mean_components = 1, s->desc.mean_velocity[0] = 1;
  }
  if (which >= FIRST_STEADY) {
    s->desc.equation = TES_STOKES, s->desc.element = TES_ELEMENT_Q;
    s->desc.time = (TesTimeDesc){0};
  }
  return true;
}

static void drop(Flow *s) {
  for (int i = 0; i < FUNCTIONS; i++) tes_function_destroy(&s->f[i]);
  tes_mesh_destroy(&s->mesh);
}

typedef struct Outcome {
  int64_t length, velocities;
  double *values, series[SERIES];
  int steps, iterations;
} Outcome;

static double value_of(const TesProblem *p, TesContext *ctx, const TesValue *what) {
  double value;
  assert_ok(ctx, tes_problem_value(p, what, &value));
  return value;
}

/* The first cell is halved, and with it what must be. */
static void change_mesh(TesContext *ctx, TesProblem *p) {
  const TesMesh *mesh = p->mesh;
  int8_t *mark = calloc((size_t)tes_mesh_info(mesh).cells, 1);
  TesMesh *next;
  TesRemesh remesh = {0};
  mark[0] = 1;
  assert_ok(ctx, tes_mesh_adapt(mesh, mark, &next));
  assert_ok(ctx, tesi_change_mesh(p, next, &remesh));
  tes_mesh_destroy(&next);
  free(mark);
}

static bool run(TesContext *ctx, Which which, Outcome *out) {
  Flow s;
  TesProblem *p;
  TesSolveResult result;
  TesFlowResult flow;
  const bool there = make_flow(ctx, which, &s);
  *out = (Outcome){0};
  if (there) {
    assert_ok(ctx, tes_problem_create(ctx, &s.desc, &p));
    assert_ok(ctx, which < FIRST_STEADY ? tes_problem_step(p, &result) : tes_problem_solve(p, &result));
    if (which == CHANGING) change_mesh(ctx, p);
    const char *const axes[] = {"x", "y"};
    for (int i = 0; i < 2; i++)
      out->series[i] = value_of(
          p, ctx,
          &(TesValue){.kind = TES_VALUE_FORCE, .where = TES_ON_BOUNDARY, .number = s.wall, .of = axes[i]});
    assert_ok(ctx, tes_problem_solve(p, &result));
    for (int i = 0; i < 2; i++)
      out->series[2 + i] = value_of(
          p, ctx,
          &(TesValue){.kind = TES_VALUE_FORCE, .where = TES_ON_BOUNDARY, .number = s.wall, .of = axes[i]});
    out->series[4] = value_of(
        p, ctx, &(TesValue){.kind = TES_VALUE_INTEGRAL, .of = which == VORTEX ? "mean_u + mean_pp" : "p*ux"});
    assert_ok(ctx, tes_problem_flow(p, &flow));
    out->series[5] = which == VORTEX ? flow.pressure_l2 : flow.divergence_l2;
    const TesVector *u = tes_problem_solution(p);
    out->steps = tes_problem_info(p).step, out->iterations = result.iterations;
    out->length = tes_vector_length(u);
    out->values = malloc((size_t)out->length * sizeof *out->values);
    assert_ok(ctx, tes_vector_get(u, out->values));
    out->velocities = tes_space_length(tes_space_part(tes_problem_space(p), 0));
    tes_problem_destroy(&p);
  }
  drop(&s);
  return there;
}

/* The largest difference of entries first .. end - 1, relative to the largest of them. */
static double distance(const Outcome *a, const Outcome *b, int64_t first, int64_t end) {
  double most = 0, size = 0;
  for (int64_t i = first; i < end; i++) {
    most = test_larger(most, fabs(a->values[i] - b->values[i]));
    size = test_larger(size, fabs(b->values[i]));
  }
  return most / size;
}

static void flows_are_those_of_the_host(const char *device) {
  TesContext *ctx = test_device(device), *host;
  if (!ctx) skip();
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &host, NULL, 0), TES_OK);
  for (Which which = 0; which < CASES; which++) {
    Outcome a, b;
    if (test_brief() && (base_of(which) == CAVITY || which == DRIVEN)) continue;
    if (!run(host, which, &b)) continue;
    tesi_fiber_order(which % 2 ? TESI_ORDER_REVERSE : TESI_ORDER_SHUFFLED, 3);
    assert_true(run(ctx, which, &a));
    assert_int_equal(a.length, b.length);
    assert_int_equal(a.steps, b.steps);
    const double u = distance(&a, &b, 0, b.velocities), pressure = distance(&a, &b, b.velocities, b.length);
    printf("%s, %d steps, %d iterations (host %d): velocity %.1e, pressure %.1e\n", names[which], b.steps,
           a.iterations, b.iterations, u, pressure);
    if (which >= FIRST_STEADY) assert_in_range(a.iterations, b.iterations - 1, b.iterations + 1);
    if (!(u < 1e-8 && pressure < 1e-6)) fail_msg("%s: off by %g, %g", names[which], u, pressure);
    for (int i = 0; i < SERIES; i++) {
      printf("  %.8g, host %.8g\n", a.series[i], b.series[i]);
      assert_near(a.series[i], b.series[i], 1e-6 * fabs(b.series[i]) + 1e-7);
    }
    free(a.values), free(b.values);
  }
  tesi_fiber_order(TESI_ORDER_FORWARD, 1);
  tes_context_destroy(&ctx), tes_context_destroy(&host);
}

static void on_the_emulator(void **state) {
  (void)state;
  flows_are_those_of_the_host("emulator");
}

static void on_a_gpu(void **state) {
  (void)state;
  flows_are_those_of_the_host("cuda");
}

static void make_steps(TesContext *ctx, TesProblem *p, int count) {
  TesSolveResult result;
  for (int i = 0; i < count; i++) assert_ok(ctx, tes_problem_step(p, &result));
}

/* Colour by colour the bits of a flow that goes on from a checkpoint are those of one that was not interrupted,
 * whatever the order of the threads. */
static void restarts_are_the_same(const char *device) {
  static const char *const file = "flow-device.h5";
  TesContext *ctx = test_context(&(TesContextDesc){.device = device, .deterministic = true});
  TesProblem *p, *q;
  TesCheckpoint *checkpoint;
  Flow s;
  if (!ctx) skip();
  if (make_flow(ctx, PLATES, &s) && tes_has_part("hdf5")) {
    assert_ok(ctx, tes_problem_create(ctx, &s.desc, &p));
    make_steps(ctx, p, 2);
    assert_ok(ctx, tes_problem_write(p, file));
    make_steps(ctx, p, STEPS - 2);
    tesi_fiber_order(TESI_ORDER_REVERSE, 1);
    assert_ok(ctx, tes_checkpoint_read(ctx, file, 2, &checkpoint));
    assert_ok(ctx, tes_problem_create(ctx, &s.desc, &q));
    assert_ok(ctx, tes_problem_read(q, checkpoint));
    make_steps(ctx, q, STEPS - 2);
    tesi_fiber_order(TESI_ORDER_FORWARD, 1);
    const int64_t n = tes_vector_length(tes_problem_solution(p));
    double *values[2] = {calloc((size_t)n, sizeof(double)), calloc((size_t)n, sizeof(double))};
    assert_ok(ctx, tes_vector_get(tes_problem_solution(p), values[0]));
    assert_ok(ctx, tes_vector_get(tes_problem_solution(q), values[1]));
    assert_memory_equal(values[0], values[1], (size_t)n * sizeof(double));
    free(values[0]), free(values[1]);
    tes_checkpoint_destroy(&checkpoint);
    tes_problem_destroy(&p), tes_problem_destroy(&q);
    remove(file);
  }
  drop(&s);
  tes_context_destroy(&ctx);
}

/* The programs that a context keeps are there after the first time. */
static void flows_leave_nothing(void **state) {
  TesContext *ctx = test_device("emulator");
  size_t held[3];
  (void)state;
  if (!ctx) skip();
  for (int i = 0; i < 3; i++) {
    Outcome out;
    if (run(ctx, PLATES, &out)) free(out.values);
    held[i] = ((const TesiKernelState *)tesi_context_device_state(ctx))->blocks.held + tes_context_memory(ctx);
  }
  assert_int_equal(held[1], held[2]);
  tes_context_destroy(&ctx);
}

static void restarts_on_the_emulator(void **state) {
  (void)state;
  restarts_are_the_same("emulator");
}

static void restarts_on_a_gpu(void **state) {
  (void)state;
  restarts_are_the_same("cuda");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(on_the_emulator), cmocka_unit_test(on_a_gpu), cmocka_unit_test(flows_leave_nothing),
      cmocka_unit_test(restarts_on_the_emulator), cmocka_unit_test(restarts_on_a_gpu)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
