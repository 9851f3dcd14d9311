/* Run: ctest -R t6_refined. Conjugate gradients with the diagonal in float32 inside an iteration in float64: residuals
 * by the plain operator are below targets that float32 alone cannot reach, and those that one pass reaches; what is
 * there already is kept; counts of products; what rounding leaves is enough. */
#include <math.h>
#include "device/kernel.h"
#include "device_testing.h"
#include "krylov/refined_cg.h"

typedef struct System {
  TesOperator *op;
  TesVector *b, *inverse, *r, *x;
  int residuals; /* asked for */
} System;

static TesStatus residual(void *user, const TesVector *x, TesVector *r, double *norm) {
  System *s = user;
  const TesStatus status = tes_operator_residual(s->op, s->b, x, r);
  s->residuals++;
  return status == TES_OK ? tes_vector_norm(r, norm) : status;
}

static void set_up(TesContext *ctx, const TesMesh *mesh, int degree, System *s) {
  static const uint8_t none[8];
  TesSpace *space;
  TesFunction *c, *nu;
  const TesSpaceDesc desc = {.mesh = mesh, .degree = degree, .given = none};
  assert_ok(ctx, tes_space_create(ctx, &desc, &space));
  assert_ok(ctx, tes_function_create_constant(ctx, 3, &c));
  assert_ok(ctx, tes_function_create_constant(ctx, 1e-3, &nu));
  const TesTermDesc term[] = {{.term = TES_TERM_MASS, .a = {.all = c}},
                              {.term = TES_TERM_DIFFUSION, .a = {.all = nu}}};
  assert_ok(ctx, tes_operator_create(ctx, &(TesOperatorDesc){.space = space, .form = {2, term, 0}}, &s->op));
  const int64_t n = tes_operator_info(s->op).length;
  s->b = test_vector(ctx, n, TES_DOUBLE, 5);
  s->r = test_vector(ctx, n, TES_DOUBLE, 0);
  s->x = test_vector(ctx, n, TES_DOUBLE, 6);
  s->inverse = test_vector(ctx, n, TES_DOUBLE, 0);
  double *values = test_malloc((size_t)n * sizeof *values);
  assert_ok(ctx, tes_operator_diagonal(s->op, s->inverse));
  assert_ok(ctx, tes_vector_get(s->inverse, values));
  for (int64_t i = 0; i < n; i++) values[i] = 1 / values[i];
  assert_ok(ctx, tes_vector_set(s->inverse, values));
  test_free(values);
  tes_function_destroy(&c), tes_function_destroy(&nu);
  tes_space_destroy(&space);
}

/* b - A x by the plain operator, relative to b. */
static double true_residual(TesContext *ctx, const System *s) {
  const size_t n = (size_t)tes_operator_info(s->op).length;
  double *x = test_malloc(n * sizeof *x), *y = test_malloc(n * sizeof *y), *b = test_malloc(n * sizeof *b),
         sum = 0, size = 0;
  assert_ok(ctx, tes_vector_get(s->x, x));
  assert_ok(ctx, tes_vector_get(s->b, b));
  assert_ok(ctx, s->op->table->apply_ref(s->op, x, y));
  for (size_t i = 0; i < n; i++) sum += (b[i] - y[i]) * (b[i] - y[i]), size += b[i] * b[i];
  test_free(x), test_free(y), test_free(b);
  return sqrt(sum / size);
}

static void check(TesContext *ctx, const TesMesh *mesh, int degree, double tolerance, int most_residuals) {
  System s = {0};
  TesiRefined refined = {0};
  double norm, size;
  set_up(ctx, mesh, degree, &s);
  assert_ok(ctx, tesi_refined_create(s.op->space->layout, &refined));
  assert_ok(ctx, tesi_refined_use(&refined, s.op, s.inverse));
  assert_non_null(refined.op);
  assert_ok(ctx, tes_vector_norm(s.b, &size));
  assert_ok(ctx, residual(&s, s.x, s.r, &norm));
  s.residuals = 0;
  assert_ok(ctx, tesi_refined_solve(&refined, residual, &s, norm, tolerance * size, 200, s.r, s.x));
  const double left = true_residual(ctx, &s);
  if (!(left <= 1.1 * tolerance) || s.residuals > most_residuals)
    fail_msg("degree %d: %.3g is left, expected %.3g, after %d residuals", degree, left, tolerance,
             s.residuals);
  assert_ok(ctx, residual(&s, s.x, s.r, &norm));
  s.residuals = 0;
  assert_ok(ctx, tesi_refined_solve(&refined, residual, &s, norm, 2 * norm, 200, s.r, s.x));
  assert_int_equal(s.residuals, 0);
  assert_int_equal(tesi_refined_solve(&refined, residual, &s, norm, 1e-3 * norm, 1, s.r, s.x),
                   TES_NOT_CONVERGED);
  tesi_refined_destroy(&refined);
  tes_operator_destroy(&s.op);
  TesVector **const all[] = {&s.b, &s.inverse, &s.r, &s.x};
  for (int i = 0; i < 4; i++) tes_vector_destroy(all[i]);
}

/* To a target that rounding does not allow: what is left is near eps |b|, and is taken. */
static void check_beyond(TesContext *ctx, const TesMesh *mesh, int degree) {
  System s = {0};
  TesiRefined refined = {0};
  double norm, size;
  set_up(ctx, mesh, degree, &s);
  assert_ok(ctx, tesi_refined_create(s.op->space->layout, &refined));
  assert_ok(ctx, tesi_refined_use(&refined, s.op, s.inverse));
  assert_ok(ctx, tes_vector_norm(s.b, &size));
  assert_ok(ctx, residual(&s, s.x, s.r, &norm));
  assert_ok(ctx, tesi_refined_solve(&refined, residual, &s, norm, 1e-25 * size, 200, s.r, s.x));
  const double left = true_residual(ctx, &s);
  if (!(left <= 1e-14)) fail_msg("degree %d: %.3g is left", degree, left);
  tesi_refined_destroy(&refined);
  tes_operator_destroy(&s.op);
  TesVector **const all[] = {&s.b, &s.inverse, &s.r, &s.x};
  for (int i = 0; i < 4; i++) tes_vector_destroy(all[i]);
}

static void residuals_are_those_of_float64(void **state) {
  static const char *const devices[] = {"emulator", "cuda"};
  (void)state;
  for (int i = 0; i < 2; i++) {
    TesContext *ctx = test_device(devices[i]);
    TesMesh *mesh;
    if (!ctx) continue;
    const TesMeshDesc desc = {.kind = TES_MESH_BOX, .dim = 2, .cells = {5, 3}};
    assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
    for (int degree = 1; degree <= 4; degree++) {
      check(ctx, mesh, degree, 1e-3, 1);
      check(ctx, mesh, degree, 1e-12, 5);
      check_beyond(ctx, mesh, degree);
    }
    tes_mesh_destroy(&mesh);
    tes_context_destroy(&ctx);
  }
}

static void hosts_have_none(void **state) {
  (void)state;
  TesContext *ctx = test_device("cpu");
  TesiRefined refined = {0};
  if (!ctx) return;
  TesiLayout *layout;
  assert_ok(ctx, tesi_layout_create_plain(ctx, 10, &layout));
  assert_ok(ctx, tesi_refined_create(layout, &refined));
  assert_null(refined.device);
  tesi_refined_destroy(&refined);
  tesi_layout_destroy(&layout);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(residuals_are_those_of_float64),
                                     cmocka_unit_test(hosts_have_none)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
