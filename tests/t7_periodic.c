/* Run: ctest -R t7_periodic. Problems with continuous elements on periodic boxes. A mesh of kind box gives the numbers
 * that a mesh of trees gives, for all equations, coefficients and kinds of ends, on the processor, the emulator and a
 * GPU where there is one; orders of convergence; iterations in periodic directions of any number of cells, odd ones
 * on all levels too; where all is periodic and nothing fixes the constant the mean is zero. Brief: fewer cases on
 * devices.
 * Quick: 1-9 */
#include <stdio.h>
#include "device_testing.h"

typedef struct Run {
  TesContext *ctx;
  TesCase *input;
  TesMesh *mesh;
  TesProblem *problem;
  TesSolveResult result;
} Run;

static Run solve(const char *device, const char *text, TesMeshKind kind, const char *const *set) {
  Run r = {.ctx = NULL};
  const char *all[12] = {kind == TES_MESH_BOX ? "mesh.kind=box" : "mesh.kind=forest"};
  int count = 1;
  for (; set && *set; set++) all[count++] = *set;
  r.ctx = test_device(device);
  if (!r.ctx) return r;
  assert_ok(r.ctx, tes_case_parse(r.ctx, text, "a.yaml", count, all, &r.input));
  assert_ok(r.ctx, tes_mesh_create(r.ctx, &r.input->mesh, &r.mesh));
  assert_int_equal(tes_mesh_info(r.mesh).kind, kind);
  r.input->problem.mesh = r.mesh;
  assert_ok(r.ctx, tes_problem_create(r.ctx, &r.input->problem, &r.problem));
  assert_ok(r.ctx, tes_problem_solve(r.problem, &r.result));
  return r;
}

static void drop(Run *r) {
  tes_problem_destroy(&r->problem);
  tes_mesh_destroy(&r->mesh);
  tes_case_destroy(&r->input);
  tes_context_destroy(&r->ctx);
}

/* Not where tests are for another device alone. */
static bool on_the_processor(void) {
  TesContext *ctx = test_device("cpu");
  const bool is = ctx;
  tes_context_destroy(&ctx);
  return is;
}

static bool has_forests(void) {
  TesContext *ctx;
  TesMesh *mesh;
  assert_int_equal(tes_context_create(NULL, &ctx, NULL, 0), TES_OK);
  const TesStatus status = tes_mesh_create(
      ctx, &(TesMeshDesc){.kind = TES_MESH_FOREST, .dim = 2, .cells = {4, 4}, .periodic = {true}}, &mesh);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
  return status == TES_OK;
}

/* Values and slopes at points, also on the seams and beside them, and integrals. */
static void compare(const Run *a, const Run *b, const char *what, double tolerance) {
  enum { POINTS = 5 };
  const double x[POINTS][3] = {
      {0.31, 0.42, 0.23}, {0, 0.7, 0.5}, {1, 0.7, 0.5}, {0.995, 0.003, 0.999}, {0.5, 1, 0}};
  static const char *const of[] = {"u", "ux", "uy"};
  const int dim = tes_mesh_info(a->mesh).dim;
  double points[3 * POINTS], value[2][3 * POINTS];
  assert_int_equal(tes_space_dofs(tes_problem_space(a->problem)),
                   tes_space_dofs(tes_problem_space(b->problem)));
  for (int i = 0; i < POINTS * dim; i++) points[i] = x[i / dim][i % dim];
  for (int i = 0; i < 2; i++) {
    const Run *r = i ? b : a;
    double moved[POINTS];
    assert_ok(r->ctx, tes_problem_sample(r->problem, POINTS, points, 3, of, value[i], moved));
  }
  double largest = 0;
  for (int i = 0; i < 3 * POINTS; i++) largest = test_larger(largest, fabs(value[1][i]));
  assert_true(largest > 1e-4);
  for (int i = 0; i < 3 * POINTS; i++)
    if (!(fabs(value[0][i] - value[1][i]) <= tolerance * largest))
      fail_msg("%s: %s at point %d is %.15g, %.15g on trees", what, of[i % 3], i / 3, value[0][i],
               value[1][i]);
  static const TesValue values[] = {{.kind = TES_VALUE_MEAN, .of = "u*u + ux*ux"},
                                    {.kind = TES_VALUE_INTEGRAL, .of = "x*u + y*uy"},
                                    {.kind = TES_VALUE_INTEGRAL}};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    double of_a, of_b;
    assert_ok(a->ctx, tes_problem_value(a->problem, &values[i], &of_a));
    assert_ok(b->ctx, tes_problem_value(b->problem, &values[i], &of_b));
    if (!(fabs(of_a - of_b) <= tolerance * (largest + largest * largest)))
      fail_msg("%s: value %zu is %.15g, %.15g on trees", what, i, of_a, of_b);
  }
}

#define PLANE                                                                                                \
  "problem: poisson\nmesh: {box: {cells: [12, 8], periodic: x}}\nspace: {degree: 3}\n"                       \
  "data: {f: exp(sin(2*pi*x)) + y}\nsolver: {tolerance: 1e-11}\n"
#define SPACE                                                                                                \
  "problem: poisson\nmesh: {box: {cells: [4, 5, 6], periodic: xz}}\nspace: {degree: 3}\n"                    \
  "data: {f: exp(sin(2*pi*x)) + y*cos(2*pi*z)}\nsolver: {tolerance: 1e-11}\n"
#define HEAT                                                                                                 \
  "problem: transport\nmesh: {box: {cells: [6, 6], periodic: x}}\nspace: {degree: 3}\n"                      \
  "data: {a: 0.05, f: \"10*exp(-20*pow(y - 0.5, 2) + sin(2*pi*(x - t)))\", initial: cos(2*pi*x)*y}\n"        \
  "boundary: {top: {robin: {alpha: 0.1, g: 1}}, bottom: {dirichlet: sin(t + 2*pi*x)}}\n"                     \
  "time: {end: 0.1, step: 0.02}\nsolver: {tolerance: 1e-10}\n"
#define PLATE                                                                                                \
  "problem: elasticity\nmesh: {box: {cells: [6, 6], periodic: x}}\nspace: {degree: 3}\n"                     \
  "data: {young: 1, poisson: 0.3, f: [sin(2*pi*x), y]}\nsolver: {tolerance: 1e-11}\n"                        \
  "boundary: {bottom: {displacement: [0, 0]}, top: {traction: [0, sin(2*pi*x)]}}\n"
#define CHANNEL                                                                                              \
  "problem: navier_stokes\nmesh: {box: {cells: [5, 4], periodic: x}}\nspace: {degree: 3, element: q}\n"      \
  "data: {nu: 0.01, mean_velocity: [1, null], initial: {velocity: [\"6*y*(1 - y) + "                         \
  "sin(2*pi*x)*y*y*(1-y)\", 0]}}\n"                                                                          \
  "time: {end: 0.06, step: 0.02}\nsolver: {tolerance: 1e-10}\n"
#define SLOW                                                                                                 \
  "problem: stokes\nmesh: {box: {cells: [6, 4], periodic: x}}\nspace: {degree: 3, element: q}\n"             \
  "data: {nu: 1, f: [10*sin(2*pi*x)*y + 10, y*cos(2*pi*x)]}\nsolver: {tolerance: 1e-11}\n"                   \
  "boundary: {all: {velocity: [0, 0]}}\n"

static const struct {
  const char *text, *set[4];
  double tolerance; /* 0: 1e-10 */
} cases[] = {{PLANE, {NULL}, 0},
             {PLANE, {"data.c=3"}, 0},
             {PLANE, {"data.a=1 + 0.5*sin(2*pi*x)*y", "data.c=1 + y"}, 0},
             {PLANE, {"data.a=[[2, 0.5], [0.5, 1]]"}, 0},
             {PLANE, {"boundary={top: {robin: {alpha: 2, g: 1 + sin(2*pi*x)}}, bottom: {neumann: 2}}"}, 0},
             {PLANE, {"boundary={all: {dirichlet: sin(2*pi*x)*(1 + y)}}"}, 1e-9},
             {PLANE, {"boundary={all: {neumann: 0}}", "data.f=exp(cos(2*pi*x))*sin(2*pi*x) + cos(pi*y)"}, 0},
             {PLANE, {"mesh.box.cells=[9, 7]", "space.degree=2"}, 0},
             {PLANE, {"mesh.box.cells=[15, 7]", "mesh.box.periodic=xy", "data.c=1"}, 0},
             {PLANE, {"mesh.box.periodic=xy", "data.f=sin(2*pi*x + 1)*exp(cos(2*pi*y))"}, 0},
             {PLANE, {"space.degree=8", "mesh.box.cells=[4, 4]"}, 1e-9},
             {PLANE, {"solver.smoother=chebyshev"}, 0},
             {PLANE, {"solver.smoother=jacobi", "solver.method=cg"}, 0},
             {PLANE, {"solver.method=gmres", "solver.precision=double"}, 0},
             {SPACE, {NULL}, 1e-9},
             {SPACE, {"mesh.box.periodic=xyz", "data.c=1", "space.degree=1"}, 1e-9},
             {SPACE, {"data.a=1 + 0.5*sin(2*pi*x)*y", "space.degree=2"}, 1e-9},
             {HEAT, {NULL}, 1e-6},
             {HEAT, {"data.b=[1, 0.3*sin(2*pi*x)]"}, 1e-6},
             {HEAT, {"data.b=[1, 0.3]", "time.method=crank_nicolson"}, 1e-6},
             {PLATE, {NULL}, 0},
             {CHANNEL, {NULL}, 1e-6},
             {SLOW, {NULL}, 1e-6}};

static void boxes_equal_trees(void **state) {
  (void)state;
  static const char *const devices[] = {"cpu", "emulator", "cuda"};
  if (!has_forests()) skip();
  for (int device = 0; device < 3; device++)
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      char what[300];
      if (device && test_brief() && i % 5) continue;
      Run box = solve(devices[device], cases[i].text, TES_MESH_BOX, cases[i].set);
      if (!box.ctx) break;
      Run trees = solve("cpu", cases[i].text, TES_MESH_FOREST, cases[i].set);
      if (!trees.ctx) trees = solve(devices[device], cases[i].text, TES_MESH_FOREST, cases[i].set);
      snprintf(what, sizeof what, "case %zu on %s: %.40s, %s", i, devices[device], cases[i].text,
               cases[i].set[0] ? cases[i].set[0] : "");
      compare(&box, &trees, what, cases[i].tolerance > 0 ? cases[i].tolerance : 1e-10);
      drop(&box);
      drop(&trees);
    }
}

/* Of the error in L2, on boxes of n and 2n cells; a graded direction beside the periodic direction. */
static void errors_have_their_orders(void **state) {
  (void)state;
  if (!on_the_processor()) skip();
  static const char text[] = "problem: poisson\nmesh: {box: {periodic: x, spacing: {y: s*s*(1 + "
                             "s)/2}}}\nsolver: {tolerance: 1e-11}\n"
                             "data: {f: (4*pi*pi*y*(1 - y) + 2)*sin(2*pi*x), exact: sin(2*pi*x)*y*(1 - y)}\n";
  for (int degree = 1; degree <= 4; degree++)
    for (int odd = 0; odd < 2; odd++) {
      double l2[2], h1;
      for (int fine = 0; fine < 2; fine++) {
        char cells[64], of[64];
        snprintf(cells, sizeof cells, "mesh.box.cells=[%d, %d]", (5 + odd) << fine, 8 << fine);
        snprintf(of, sizeof of, "space.degree=%d", degree);
        Run r = solve("cpu", text, TES_MESH_BOX, (const char *const[]){cells, of, NULL});
        assert_ok(r.ctx, tes_problem_errors(r.problem, &l2[fine], &h1));
        drop(&r);
      }
      const double order = log2(l2[0] / l2[1]);
      if (!(order > degree + 0.7))
        fail_msg("degree %d: errors %g, %g, order %g", degree, l2[0], l2[1], order);
    }
}

/* Iterations hardly depend on the number of cells of a periodic direction, whose coarser levels are odd or even as
 * they come. */
static void counts_on_all_rings(void **state) {
  (void)state;
  if (!on_the_processor()) skip();
  static const char text[] =
      "problem: poisson\nmesh: {box: {}}\nspace: {degree: 2}\n"
      "data: {c: 1, f: exp(sin(2*pi*x)) + cos(2*pi*y)}\nsolver: {tolerance: 1e-9, method: gmres}\n";
  static const char *const rings[] = {"x", "xy"};
  for (int ring = 0; ring < 2; ring++)
    for (int n = 5; n <= 35; n += n < 19 ? 1 : 4) {
      char cells[64], periodic[64];
      snprintf(cells, sizeof cells, "mesh.box.cells=[%d, %d]", n, n);
      snprintf(periodic, sizeof periodic, "mesh.box.periodic=%s", rings[ring]);
      Run r = solve("cpu", text, TES_MESH_BOX, (const char *const[]){cells, periodic, NULL});
      const char *smoother = tes_problem_info(r.problem).smoother;
      if (r.result.iterations > 6) fail_msg("%s %s: %d iterations", cells, periodic, r.result.iterations);
      assert_true((strstr(smoother, "three colours") != NULL) == (n % 2 != 0));
      drop(&r);
    }
}

/* Solved directly on the only level; the mean of the solution, which nothing fixes, is zero or that of `exact`. */
static void means_and_direct_solves(void **state) {
  (void)state;
  if (!on_the_processor()) skip();
  static const char text[] =
      "problem: poisson\nmesh: {box: {cells: [6, 5], periodic: xy}}\nspace: {degree: 3}\n"
      "data: {f: 4*pi*pi*sin(2*pi*x)}\nsolver: {tolerance: 1e-11}\n";
  static const char *const sets[][3] = {{NULL}, {"solver.method=direct"}, {"data.exact=sin(2*pi*x) + 3"}};
  for (int i = 0; i < 3; i++) {
    double mean, at;
    Run r = solve("cpu", text, TES_MESH_BOX, sets[i]);
    assert_ok(r.ctx, tes_problem_value(r.problem, &(TesValue){.kind = TES_VALUE_MEAN}, &mean));
    assert_ok(r.ctx,
              tes_problem_value(r.problem, &(TesValue){.kind = TES_VALUE_POINT, .point = {0.25, 0.4}}, &at));
    assert_near(mean, i == 2 ? 3 : 0, 1e-10);
    assert_near(at - mean, 1, 1e-3);
    drop(&r);
  }
}

/* ---- functions in periodic directions: files, and other meshes
 * ------------------------------------------------------- */

/* A function that all spaces hold up to its values at nodes; on cells that do not move by round-off. */
static TesVector *interpolate(TesContext *ctx, const TesSpace *space, const char *text) {
  TesFunction *f;
  TesVector *u;
  assert_ok(ctx, tes_function_create_expression(ctx, text, &f));
  assert_ok(ctx, tes_vector_create(ctx, tes_space_length(space), TES_DOUBLE, &u));
  assert_ok(ctx, tes_space_interpolate(space, (const TesFunction *const[]){f}, u));
  tes_function_destroy(&f);
  return u;
}

static TesSpace *make_space(TesContext *ctx, int dim, int degree, int cells, unsigned periodic) {
  TesMesh *mesh;
  TesSpace *space;
  TesMeshDesc desc = {.kind = TES_MESH_BOX, .dim = dim, .cells = {cells, 4, 2}};
  for (int d = 0; d < dim; d++) desc.periodic[d] = periodic >> d & 1;
  assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
  assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = degree}, &space));
  tes_mesh_destroy(&mesh);
  return space;
}

static char *read_bytes(const char *path, size_t *size) {
  enum { MOST = 1 << 20 };
  char *bytes = test_malloc(MOST);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  *size = fread(bytes, 1, MOST, file);
  assert_true(*size > 500 && *size < MOST);
  fclose(file);
  return bytes;
}

/* Files hold cell by cell what the box cut open has there. The function is 0 to the last bit where periodic
 * directions close. */
static void files_are_those_of_open_boxes(void **state) {
  (void)state;
  TesContext *ctx = test_device("cpu");
  if (!ctx) skip();
  for (int dim = 2; dim <= 3; dim++)
    for (unsigned periodic = 1; periodic < 1u << dim; periodic++) {
      char *bytes[2];
      size_t size[2];
      for (int ring = 0; ring < 2; ring++) {
        TesSpace *space = make_space(ctx, dim, 2 + dim, 4, ring ? periodic : 0);
        TesVector *u =
            interpolate(ctx, space, dim == 2 ? "x*(1 - x)*y*(1 - y)" : "x*(1 - x)*y*(1 - y)*z*(1 - z)");
        assert_ok(ctx, tes_vtu_write_fields(space, 1, &(TesVtuField){.name = "u", .vector = u}, 0, NULL,
                                            "t7_periodic.vtu"));
        bytes[ring] = read_bytes("t7_periodic.vtu", &size[ring]);
        tes_vector_destroy(&u);
        tes_space_destroy(&space);
      }
      assert_int_equal(size[0], size[1]);
      assert_memory_equal(bytes[0], bytes[1], size[0]);
      test_free(bytes[0]), test_free(bytes[1]);
    }
  remove("t7_periodic.vtu");
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

/* Polynomials of the lower degree between degrees and numbers of cells. */
static void functions_are_carried(void **state) {
  (void)state;
  TesContext *ctx = test_device("cpu");
  if (!ctx) skip();
  for (int dim = 2; dim <= 3; dim++) {
    const char *text = dim == 2 ? "x*(1 - x)*(1 + y)" : "x*(1 - x)*(1 + y)*(2 - z)";
    TesSpace *from = make_space(ctx, dim, 2, 3, 1), *to = make_space(ctx, dim, 4, 6, 1),
             *open = make_space(ctx, dim, 4, 6, 0);
    TesVector *u = interpolate(ctx, from, text), *v = interpolate(ctx, to, "7"),
              *w = interpolate(ctx, to, text), *other = interpolate(ctx, open, "0");
    double largest;
    assert_ok(ctx, tes_space_carry(from, u, to, v));
    assert_ok(ctx, tes_vector_axpy(-1, w, v));
    assert_ok(ctx, tes_vector_norm(v, &largest));
    assert_near(largest, 0, 1e-12);
    assert_int_equal(tes_space_carry(from, u, open, other), TES_INVALID_INPUT);
    assert_non_null(strstr(tes_context_message(ctx), "periodic in the same directions"));
    tes_context_clear(ctx);
    TesVector **vectors[] = {&u, &v, &w, &other};
    for (int i = 0; i < 4; i++) tes_vector_destroy(vectors[i]);
    tes_space_destroy(&from), tes_space_destroy(&to), tes_space_destroy(&open);
  }
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(boxes_equal_trees),
                                     cmocka_unit_test(errors_have_their_orders),
                                     cmocka_unit_test(files_are_those_of_open_boxes),
                                     cmocka_unit_test(functions_are_carried),
                                     cmocka_unit_test(counts_on_all_rings),
                                     cmocka_unit_test(means_and_direct_solves)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
