/* What tests of elasticity share: a context, the cube of adaptive-multigrid-liebchen and its meshes. */
#ifndef TESI_ELASTICITY_TESTING_H
#define TESI_ELASTICITY_TESTING_H

#include <math.h>
#include <stdio.h>
#include "tessera/tessera.h"
#include "testing.h"

static TesContext *ctx;

static inline int set_up(void **state) {
  (void)state;
  return tes_context_create(&(TesContextDesc){.device = "cpu", .verbosity = TES_QUIET}, &ctx, NULL, 0) !=
         TES_OK;
}

static inline int tear_down(void **state) {
  (void)state;
  const bool clean = tes_context_memory(ctx) == 0;
  tes_context_destroy(&ctx);
  return !clean;
}

static inline TesFunction *expression(const char *text) {
  TesFunction *f;
  assert_ok(ctx, tes_function_create_expression(ctx, text, &f));
  return f;
}

static inline TesFunction *constant(double value) {
  TesFunction *f;
  assert_ok(ctx, tes_function_create_constant(ctx, value, &f));
  return f;
}

/* Functions of a test, given back at its end. */
static TesFunction *kept[64];
static int kept_count;

static inline TesFunction *keep(TesFunction *f) {
  assert_true(kept_count < 64);
  return kept[kept_count++] = f;
}

static inline void forget(void) {
  while (kept_count) tes_function_destroy(&kept[--kept_count]);
}

static inline double value_of(const TesProblem *problem, TesValue what) {
  double value;
  assert_ok(ctx, tes_problem_value(problem, &what, &value));
  return value;
}

static inline TesMesh *box(int dim, int n) {
  TesMesh *mesh;
  assert_ok(
      ctx, tes_mesh_create(ctx, &(TesMeshDesc){.kind = TES_MESH_BOX, .dim = dim, .cells = {n, n, n}}, &mesh));
  return mesh;
}

static inline TesProblem *solve(const TesProblemDesc *desc, TesSolveResult *result) {
  TesProblem *problem;
  assert_ok(ctx, tes_problem_create(ctx, desc, &problem));
  assert_ok(ctx, tes_problem_solve(problem, result));
  return problem;
}

static inline TesProblemDesc cube(const TesMesh *mesh, int degree) {
  return (TesProblemDesc){
      .equation = TES_ELASTICITY,
      .mesh = mesh,
      .degree = degree,
      .data = {.lambda = keep(constant(8e4)), .a = keep(constant(2e4)), .f = {NULL, keep(constant(-1)), NULL}},
      .solver = {.tolerance = 1e-11}};
}

static inline void check_cube(const TesMesh *mesh, int degree, double compliance, double middle,
                              const char *what) {
  TesSolveResult result;
  const TesProblemDesc desc = cube(mesh, degree);
  TesProblem *problem = solve(&desc, &result);
  const double c = -value_of(problem, (TesValue){.kind = TES_VALUE_INTEGRAL, .of = "v"}),
               u = value_of(problem, (TesValue){.kind = TES_VALUE_POINT, .point = {0.5, 0.5, 0.5}, .of = "v"});
  print_message("%s, Q%d: %d iterations, int f.u %.10e, u_y %.10e; %s\n", what, degree, result.iterations, c,
                u, tes_problem_info(problem).smoother);
  assert_near(c, compliance, 2e-9 * compliance);
  assert_near(u, middle, 2e-9 * fabs(middle));
  tes_problem_destroy(&problem);
  forget();
}

/* ---- the paper's meshes: 8^3 cells, then those in {z, (y), (x)} < 2^-l are halved ---------------------- */

static inline TesMesh *paper_mesh(const char *where, int level) {
  TesMesh *mesh = NULL, *next;
  char text[80];
  if (tes_mesh_create(ctx, &(TesMeshDesc){.kind = TES_MESH_FOREST, .dim = 3, .cells = {1, 1, 1}, .refine = 3},
                      &mesh) != TES_OK) {
    tes_context_clear(ctx);
    return NULL;
  }
  for (int l = 1; l < level; l++) {
    const int64_t cells = tes_mesh_info(mesh).cells;
    signed char *marks = calloc((size_t)cells, 1);
    snprintf(text, sizeof text, where, pow(0.5, l));
    TesFunction *f = expression(text);
    const double xi[3] = {0.5, 0.5, 0.5};
    for (int64_t c = 0; c < cells; c++) {
      double x[3], value;
      assert_ok(ctx, tes_mesh_evaluate(mesh, c, 1, xi, x, NULL));
      assert_ok(ctx, tes_function_evaluate(f, 1, &x[0], &x[1], &x[2], 0, &value));
      marks[c] = value > 0;
    }
    assert_ok(ctx, tes_mesh_adapt(mesh, marks, &next));
    free(marks);
    tes_function_destroy(&f);
    tes_mesh_destroy(&mesh);
    mesh = next;
  }
  return mesh;
}

#endif
