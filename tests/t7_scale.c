/* Run: ctest -R t7_scale. Units do not matter: a, f or all lengths times 1e-30 or 1e30 leave the count as it is,
 * and the solution becomes 1/s, s or s^2 times what it was; right-hand sides whose squares float64 does not hold,
 * too. The emulator has 2D alone. */
#include "device_testing.h"

enum { A, F, LENGTH };

typedef struct Scales {
  double a, f, length, c;
} Scales;

typedef struct Answer {
  int iterations;
  double largest;
} Answer;

static void evaluate_a(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                       double *out) {
  const Scales *s = user;
  (void)z, (void)t;
  for (int64_t i = 0; i < n; i++) out[i] = s->a * (1 + x[i] / s->length * (y[i] / s->length));
}

static Answer solve(TesContext *ctx, TesMeshKind kind, int dim, bool varies, Scales s) {
  TesMesh *mesh;
  TesFunction *a, *f, *c;
  TesProblem *problem;
  TesSolveResult result;
  const int refine = dim == 2 ? 2 : 1;
  const TesMeshDesc box = {
      .kind = kind, .dim = dim, .cells = {2, 2, 2}, .refine = refine, .upper = {s.length, s.length, s.length}};
  assert_ok(ctx, tes_mesh_create(ctx, &box, &mesh));
  if (varies)
    assert_ok(ctx, tes_function_create_callback(ctx, evaluate_a, &s, NULL, &a));
  else
    assert_ok(ctx, tes_function_create_constant(ctx, s.a, &a));
  assert_ok(ctx, tes_function_create_constant(ctx, s.f, &f));
  assert_ok(ctx, tes_function_create_constant(ctx, s.c, &c));
  const TesProblemDesc desc = {.mesh = mesh, .degree = 3, .data = {.a = a, .c = c, .f = {f}}};
  assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
  assert_ok(ctx, tes_problem_solve(problem, &result));
  const TesVector *u = tes_problem_solution(problem);
  double *values = test_malloc((size_t)tes_vector_length(u) * sizeof *values), largest = 0;
  assert_ok(ctx, tes_vector_get(u, values));
  for (int64_t i = 0; i < tes_vector_length(u); i++) largest = test_larger(largest, values[i]);
  test_free(values);
  tes_problem_destroy(&problem);
  tes_function_destroy(&a);
  tes_function_destroy(&f);
  tes_function_destroy(&c);
  tes_mesh_destroy(&mesh);
  return (Answer){result.iterations, largest};
}

static void compare(TesContext *ctx, TesMeshKind kind, int dim, bool varies) {
  static const double scale[] = {1e-30, 1e30};
  const Scales ones = {1, 1, 1, 0};
  const Answer one = solve(ctx, kind, dim, varies, ones);
  for (int what = A; what <= LENGTH; what++)
    for (int i = 0; i < 2; i++) {
      const double s = scale[i], power[] = {1 / s, s, s * s};
      Scales scales = ones;
      *(what == A ? &scales.a : what == F ? &scales.f : &scales.length) = s;
      const Answer now = solve(ctx, kind, dim, varies, scales);
      if (now.iterations != one.iterations)
        fail_msg("%s, kind %d, %dD, data %d times %g: %d iterations, %d before", tes_context_device(ctx),
                 (int)kind, dim, what, s, now.iterations, one.iterations);
      assert_near(now.largest / power[what], one.largest, 1e-7 * one.largest);
    }
  for (int i = 0; i < 2; i++) {
    const double s = i ? 1e160 : 1e-160;
    const Answer now = solve(ctx, kind, dim, varies, (Scales){1, s, 1, 0});
    assert_int_equal(now.iterations, one.iterations);
    assert_near(now.largest / s, one.largest, 1e-7 * one.largest);
  }
}

static bool has_forests(TesContext *ctx) {
  TesMesh *mesh = NULL;
  const TesStatus status = tes_mesh_create(ctx, &(TesMeshDesc){.kind = TES_MESH_FOREST, .dim = 2}, &mesh);
  tes_mesh_destroy(&mesh);
  tes_context_clear(ctx);
  return status == TES_OK;
}

static void on(const char *device, int most) {
  TesContext *ctx = test_context(&(TesContextDesc){.device = device, .threads = 1, .verbosity = TES_QUIET});
  if (!ctx) return;
  for (int dim = 2; dim <= most; dim++)
    for (int varies = 0; varies < 2; varies++) {
      compare(ctx, TES_MESH_BOX, dim, varies);
      if (has_forests(ctx)) compare(ctx, TES_MESH_FOREST, dim, varies);
    }
  tes_context_destroy(&ctx);
}

static void processor(void **state) {
  (void)state;
  on("cpu", 3);
}

static void emulator(void **state) {
  (void)state;
  on("emulator", 2);
}

static void gpu(void **state) {
  (void)state;
  on("cuda", 3);
}

/* A reaction far above the diffusion: u is f / c nearly everywhere. */
static void reaction(void **state) {
  (void)state;
  TesContext *ctx = test_device("cpu");
  if (!ctx || !has_forests(ctx)) skip();
  const Answer now = solve(ctx, TES_MESH_FOREST, 2, false, (Scales){1, 1, 1, 1e14});
  assert_true(now.iterations < 10);
  assert_true(now.largest * 1e14 > 1 && now.largest * 1e14 < 3);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(processor), cmocka_unit_test(emulator),
                                     cmocka_unit_test(gpu), cmocka_unit_test(reaction)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
