/* Run: ctest -R t7_memory. What tes_problem_memory() tells, beside what a problem and its solve held at most: on the
 * processor and, on devices with kernels, the emulator. Brief: every second row, the first in the emulator.
 * Quick: 1-9 */
#include <string.h>
#include "device/blocks.h"
#include "problem/problem.h"
#include "tessera/tessera.h"
#include "testing.h"

typedef struct Row {
  const char *name;
  TesMeshDesc mesh;
  TesProblemDesc problem;
  const char *a, *b; /* b: of both directions */
  double most;       /* told, in units of what is taken; 0: 2 */
  bool emulator;
} Row;

static const Row rows[] = {
    {.name = "box",
     .mesh = {.kind = TES_MESH_BOX, .dim = 2, .cells = {64, 64}},
     .problem = {.degree = 4},
     .emulator = true},
    {.name = "box, 3D",
     .mesh = {.kind = TES_MESH_BOX, .dim = 3, .cells = {16, 16, 16}},
     .problem = {.degree = 3}},
    {.name = "box, a varies",
     .mesh = {.kind = TES_MESH_BOX, .dim = 2, .cells = {64, 64}},
     .problem = {.degree = 2},
     .a = "1 + x*y",
     .emulator = true},
    {.name = "box, a varies, 3D",
     .mesh = {.kind = TES_MESH_BOX, .dim = 3, .cells = {12, 12, 12}},
     .problem = {.degree = 3},
     .a = "1 + x*y"},
    {.name = "heat",
     .mesh = {.kind = TES_MESH_BOX, .dim = 2, .cells = {64, 64}},
     .problem = {.equation = TES_TRANSPORT, .degree = 2, .time = {.end = 0.1, .step = 0.02}}},
    {.name = "L",
     .mesh = {.domain = TES_DOMAIN_L_SHAPE, .dim = 2, .refine = 4},
     .problem = {.degree = 4},
     .emulator = true},
    {.name = "disk",
     .mesh = {.domain = TES_DOMAIN_BALL, .dim = 2, .refine = 5},
     .problem = {.degree = 2},
     .emulator = true},
    {.name = "ball", .mesh = {.domain = TES_DOMAIN_BALL, .dim = 3, .refine = 2}, .problem = {.degree = 4}},
    {.name = "Fichera corner",
     .mesh = {.domain = TES_DOMAIN_FICHERA, .dim = 3, .refine = 3},
     .problem = {.degree = 2},
     .most = 3.3},
    {.name = "stokes",
     .mesh = {.kind = TES_MESH_BOX, .dim = 2, .cells = {32, 32}},
     .problem = {.equation = TES_STOKES},
     .emulator = true},
    {.name = "stokes, 3D",
     .mesh = {.kind = TES_MESH_BOX, .dim = 3, .cells = {8, 8, 8}},
     .problem = {.equation = TES_STOKES}},
    {.name = "stokes, nu varies",
     .mesh = {.kind = TES_MESH_BOX, .dim = 2, .cells = {32, 32}},
     .problem = {.equation = TES_STOKES},
     .a = "1 + x*y"},
    {.name = "dg",
     .mesh = {.kind = TES_MESH_BOX, .dim = 2, .cells = {48, 48}},
     .problem = {.degree = 4, .element = TES_ELEMENT_DG}},
    {.name = "dg, 3D",
     .mesh = {.kind = TES_MESH_BOX, .dim = 3, .cells = {12, 12, 12}},
     .problem = {.degree = 2, .element = TES_ELEMENT_DG}},
    {.name = "steady flow",
     .mesh = {.kind = TES_MESH_BOX, .dim = 2, .cells = {32, 32}},
     .problem = {.equation = TES_TRANSPORT, .degree = 3},
     .a = "0.001",
     .b = "1 + x"},
    {.name = "steady flow, 3D",
     .mesh = {.kind = TES_MESH_BOX, .dim = 3, .cells = {8, 8, 8}},
     .problem = {.equation = TES_TRANSPORT, .degree = 2},
     .a = "0.001",
     .b = "1 + x"},
    {.name = "dg, steady flow",
     .mesh = {.kind = TES_MESH_BOX, .dim = 2, .cells = {32, 32}},
     .problem = {.equation = TES_TRANSPORT, .degree = 3, .element = TES_ELEMENT_DG},
     .b = "1 + x",
     .emulator = true},
    {.name = "dg, flow in time",
     .mesh = {.kind = TES_MESH_BOX, .dim = 2, .cells = {32, 32}},
     .problem = {.equation = TES_TRANSPORT,
                 .degree = 3,
                 .element = TES_ELEMENT_DG,
                 .time = {.end = 0.01, .step = 0.005}},
     .b = "1 + x",
     .emulator = true}};

static void assert_about(const Row *row, const char *where, double took, double told, double most) {
  print_message("%-18s %-9s took %10.0f bytes, told %10.0f\n", row->name, where, took, told);
  if (told < 0.5 * took || told > most * took) fail_msg("%s, %s: %g times", row->name, where, told / took);
}

static TesFunction *make_function(TesContext *ctx, const char *text) {
  TesFunction *f;
  assert_ok(ctx, tes_function_create_expression(ctx, text, &f));
  return f;
}

static void compare(const char *device, const Row *row) {
  TesContext *ctx;
  TesMesh *mesh;
  TesProblem *problem;
  TesSolveResult result;
  TesProblemMemory told;
  const TesContextDesc open = {
      .device = device, .verbosity = TES_QUIET, .threads = 1, .simd_bits = test_narrow_simd()};
  assert_int_equal(tes_context_create(&open, &ctx, NULL, 0), TES_OK);
  const TesStatus status = tes_mesh_create(ctx, &row->mesh, &mesh);
  if (status == TES_MISSING) {
    tes_context_destroy(&ctx);
    return;
  }
  assert_ok(ctx, status);
  TesFunction *f = make_function(ctx, "1 + y"), *a = row->a ? make_function(ctx, row->a) : NULL,
              *b = row->b ? make_function(ctx, row->b) : NULL;
  TesProblemDesc desc = row->problem;
  desc.mesh = mesh, desc.data.a = a, desc.data.f[0] = f, desc.data.b[0] = desc.data.b[1] = b;
  assert_ok(ctx, tes_problem_memory(ctx, &desc, &told));
  const double before = (double)tesi_usage_host(ctx).held, most = row->most > 0 ? row->most : 2;
  tesi_usage_mark(ctx);
  assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
  assert_ok(ctx, tes_problem_solve(problem, &result));
  const double programs =
      1 << 20; /* texts and images of kernels while they are compiled, whatever the problem */
  const double took = (double)tesi_usage_host(ctx).high - before, there = (double)tesi_usage_device(ctx).high;
  if (tesi_has_kernels(ctx)) {
    assert_about(row, "GPU", there, (double)told.gpu, most);
    assert_about(row, "its host", took - fmin(took / 2, programs), (double)told.gpu_host, 15);
  } else
    assert_about(row, "processor", took, (double)told.processor, most);
  tes_problem_destroy(&problem);
  tes_function_destroy(&a);
  tes_function_destroy(&b);
  tes_function_destroy(&f);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
}

static void figures_hold(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (test_brief() && i % 2) continue;
    compare("cpu", &rows[i]);
    if (rows[i].emulator && (!test_brief() || i == 0)) compare("emulator", &rows[i]);
  }
}

/* What is refused is what a problem would refuse, and nothing stays. */
static void refusals(void **state) {
  (void)state;
  TesContext *ctx;
  TesMesh *mesh;
  TesProblemMemory memory;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0), TES_OK);
  assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.kind = TES_MESH_BOX, .dim = 2, .cells = {4, 4}}, &mesh));
  const size_t before = tes_context_memory(ctx);
  const TesBoundary nowhere = {.name = "nowhere"};
  const TesProblemDesc wrong[] = {{.degree = 2},
                                  {.mesh = mesh, .equation = (TesEquation)77},
                                  {.mesh = mesh, .boundary = &nowhere, .boundaries = 1},
                                  {.mesh = mesh, .degree = 99}};
  static const char *const messages[] = {"needs a mesh", "equation is 77", "nowhere", "99"};
  for (int i = 0; i < 4; i++) {
    assert_int_equal(tes_problem_memory(ctx, &wrong[i], &memory), TES_INVALID_INPUT);
    if (!strstr(tes_context_message(ctx), messages[i])) fail_msg("%s", tes_context_message(ctx));
    tes_context_clear(ctx);
    assert_int_equal(tes_context_memory(ctx), before);
  }
  assert_int_equal(tes_problem_memory(ctx, NULL, &memory), TES_INVALID_INPUT);
  assert_int_equal(tes_problem_memory(ctx, &wrong[0], NULL), TES_INVALID_INPUT);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(figures_hold), cmocka_unit_test(refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
