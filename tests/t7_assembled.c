/* Run: ctest -R t7_assembled. Problems in time whose products are those of assembled matrices (tesi_problem_assemble,
 * tesi_explicit_flow_assemble): the same iterations and the same solutions as without matrices. Transport and
 * diffusion over boxes, elasticity over forests with hanging nodes, steps of Algorithm 4; on the host, the emulator
 * and a GPU. */
#include <stdio.h>
#include "device_testing.h"
#include "forest_testing.h"
#include "operator/assembled/assembled.h"
#include "problem/flow/explicit/explicit_flow.h"
#include "problem/problem.h"

enum { STEPS = 3 };

static TesFunction *expression(TesContext *ctx, const char *text) {
  TesFunction *f;
  assert_ok(ctx, tes_function_create_expression(ctx, text, &f));
  return f;
}

/* Steps of a problem, with and without matrices; takes the description's functions as they are. */
static void check_problem(TesContext *ctx, const TesProblemDesc *desc, double most, const char *what) {
  TesProblem *p[2];
  TesSolveResult result[2];
  double norm, difference;
  for (int j = 0; j < 2; j++) {
    int64_t iterations = 0;
    assert_ok(ctx, tes_problem_create(ctx, desc, &p[j]));
    if (j) assert_ok(ctx, tesi_problem_assemble(p[j]));
    for (int i = 0; i < STEPS; i++) {
      assert_ok(ctx, tes_problem_step(p[j], &result[j]));
      iterations += result[j].iterations;
    }
    result[j].iterations = (int)iterations;
  }
  assert_true(result[0].iterations >= STEPS);
  if (result[0].iterations != result[1].iterations)
    fail_msg("%s: %d iterations, with matrices %d", what, result[0].iterations, result[1].iterations);
  assert_ok(ctx, tes_vector_norm(p[0]->u, &norm));
  assert_ok(ctx, tes_vector_axpy(-1, p[1]->u, p[0]->u));
  assert_ok(ctx, tes_vector_norm(p[0]->u, &difference));
  assert_true(norm > 0);
  if (!(difference <= most * norm)) fail_msg("%s: off by %g of %g", what, difference, norm);
  assert_true(tesi_assembled_bytes(p[1]->assembled) > 8 * (double)p[1]->space->length);
  assert_int_equal(tesi_problem_assemble(p[1]), TES_INVALID_INPUT);
  tes_context_clear(ctx);
  for (int j = 0; j < 2; j++) tes_problem_destroy(&p[j]);
}

static void check_transport(TesContext *ctx, int dim, int degree) {
  TesMesh *mesh;
  TesFunction *a = expression(ctx, "0.01"), *b = expression(ctx, "-1"),
              *f = expression(ctx, "sin(3*x + t) + y"), *u = expression(ctx, "x*y + t");
  const TesBoundary boundary = {.g = {u}};
  assert_ok(
      ctx, tes_mesh_create(ctx, &(TesMeshDesc){.kind = TES_MESH_BOX, .dim = dim, .cells = {8, 8, 4}}, &mesh));
  const TesProblemDesc desc = {
      .equation = TES_TRANSPORT,
      .mesh = mesh,
      .degree = degree,
      .stabilization = TES_STREAMLINE_NONE,
      .data = {.a = a, .b = {NULL, b}, .f = {f}},
      .initial = {u},
      .boundary = &boundary,
      .boundaries = 1,
      .time = {.end = 1, .step = 0.1, .method = TES_TIME_BACKWARD_EULER},
      .solver = {.tolerance = 1e-9, .method = TES_METHOD_GMRES, .smoother = TES_SMOOTHER_JACOBI}};
  check_problem(ctx, &desc, 1e-7, "transport");
  tes_mesh_destroy(&mesh);
  tes_function_destroy(&a);
  tes_function_destroy(&b);
  tes_function_destroy(&f);
  tes_function_destroy(&u);
}

static void check_elasticity(TesContext *ctx, int dim, int degree, TesMethod method, TesSmootherKind smoother) {
  TesMesh *mesh;
  TesFunction *corner = expression(ctx, "0.2 - x*y - z"), *f = expression(ctx, "-1"),
              *lambda = expression(ctx, "8"), *mu = expression(ctx, "2");
  const TesMeshDesc box = {.kind = TES_MESH_FOREST, .dim = dim, .cells = {2, 2, 2}, .refine_where = corner};
  assert_ok(ctx, tes_mesh_create(ctx, &box, &mesh));
  const TesProblemDesc desc = {.equation = TES_ELASTICITY,
                               .mesh = mesh,
                               .degree = degree,
                               .data = {.lambda = lambda, .a = mu, .f = {NULL, f, NULL}},
                               .time = {.end = 1, .step = 0.1, .method = TES_TIME_BACKWARD_EULER},
                               .solver = {.guess = -1,
                                          .tolerance = 1e-9,
                                          .tolerance_of = TES_TOLERANCE_LOAD,
                                          .method = method,
                                          .smoother = smoother}};
  check_problem(ctx, &desc, 1e-7, "elasticity");
  tes_mesh_destroy(&mesh);
  tes_function_destroy(&corner);
  tes_function_destroy(&f);
  tes_function_destroy(&lambda);
  tes_function_destroy(&mu);
}

/* The lid moves in y; both ways of the pressure's solve. */
static void check_flow(TesContext *ctx, bool direct) {
  static const uint8_t walls[] = {7, 7, 7, 7, 7, 7};
  TesMesh *mesh;
  TesiExplicitFlow *flow[2];
  double energy[2];
  assert_ok(ctx,
            tes_mesh_create(ctx, &(TesMeshDesc){.kind = TES_MESH_BOX, .dim = 3, .cells = {4, 4, 8}}, &mesh));
  for (int j = 0; j < 2; j++) {
    assert_ok(ctx, tesi_explicit_flow_create(mesh, NULL, walls, 1e-2, 1e-3, direct, &flow[j]));
    if (j) assert_ok(ctx, tesi_explicit_flow_assemble(flow[j]));
    const TesiIso *iso = flow[j]->iso;
    double *g = calloc((size_t)(3 * iso->nodes), sizeof *g);
    for (int64_t i = iso->axis[0].fine - 1; i < iso->nodes; i += iso->axis[0].fine) g[iso->nodes + i] = 1;
    assert_ok(ctx, tes_vector_set(flow[j]->given, g));
    assert_ok(ctx, tes_vector_set(flow[j]->u[0], g));
    free(g);
    assert_ok(ctx, tesi_explicit_flow_begin(flow[j]));
    for (int i = 0; i < 2 * STEPS; i++) assert_ok(ctx, tesi_explicit_flow_step(flow[j]));
    assert_ok(ctx, tesi_explicit_flow_energy(flow[j], &energy[j]));
  }
  assert_true(energy[0] > 0);
  assert_near(energy[1], energy[0], (direct ? 1e-12 : 1e-7) * energy[0]);
  for (int j = 0; j < 2; j++) tesi_explicit_flow_destroy(&flow[j]);
  tes_mesh_destroy(&mesh);
}

static void check_all(TesContext *ctx) {
  for (int degree = 1; degree <= 2; degree++) check_transport(ctx, 2, degree);
  check_transport(ctx, 3, 1);
  if (test_has_forests(ctx)) {
    check_elasticity(ctx, 2, 2, TES_METHOD_GMRES, TES_SMOOTHER_JACOBI);
    check_elasticity(ctx, 3, 1, TES_METHOD_GMRES, TES_SMOOTHER_JACOBI);
    check_elasticity(ctx, 3, 1, TES_METHOD_AUTO, TES_SMOOTHER_AUTO);
  }
  check_flow(ctx, true);
  check_flow(ctx, false);
}

static void solutions_are_the_same(void **state) {
  (void)state;
  static const char *const devices[] = {"cpu", "emulator", "cuda"};
  for (int device = 0; device < 3; device++) {
    TesContext *ctx = test_context(&(TesContextDesc){.device = devices[device], .threads = 2});
    if (!ctx) continue;
    check_all(ctx);
    tes_context_destroy(&ctx);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(solutions_are_the_same)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
