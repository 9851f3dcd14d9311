/* Run: ctest -R t4_iso. Parts of explicit steps with velocities on halved cells (operator/iso) against their
 * definition: graded boxes of odd and even counts, one cell too, 2D and 3D, given components that differ by face,
 * poisoned outputs; all SIMD widths, threads, emulator and GPU.
 * Labels: threads */
#include <stdio.h>
#include "device/emulator/fiber.h"
#include "device_testing.h"
#include "operator/iso/iso_matrices.h"

typedef struct Sizes {
  int dim, cells[3];
} Sizes;

static const Sizes sizes[] = {{2, {1, 1}},    {2, {3, 2}},    {2, {17, 5}},     {2, {40, 9}},
                              {3, {1, 1, 1}}, {3, {2, 3, 4}}, {3, {17, 4, 11}}, {3, {5, 9, 2}}};
static const uint8_t masks[][6] = {{7, 7, 7, 7, 7, 7}, {1, 5, 2, 7, 4, 4}, {0, 0, 0, 0, 0, 0}};

static TesMesh *graded(TesContext *ctx, const Sizes *s) {
  double x[3][64];
  TesMesh *mesh;
  for (int d = 0; d < 3; d++)
    for (int i = 0; i <= s->cells[d]; i++) x[d][i] = (d + 1) * (i + 0.3 * sin(1.7 * i)) / (s->cells[d] + 1.);
  const TesMeshDesc desc = {.dim = s->dim,
                            .cells = {s->cells[0], s->cells[1], s->cells[2]},
                            .coordinates = {x[0], x[1], s->dim == 3 ? x[2] : NULL},
                            .kind = TES_MESH_BOX};
  assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
  return mesh;
}

static double *values_of(TesContext *ctx, const TesVector *v, int64_t n) {
  double *values = test_malloc((size_t)n * sizeof *values);
  assert_ok(ctx, tes_vector_get(v, values));
  return values;
}

/* Entries of v are those of `expected`, up to round-off of a number of the largest one's size. */
static void check(TesContext *ctx, const TesVector *v, const double *expected, int64_t n, const char *what) {
  double *values = values_of(ctx, v, n), largest = 0, error = 0;
  for (int64_t i = 0; i < n; i++) {
    largest = test_larger(largest, fabs(expected[i]));
    error = test_larger(error, fabs(values[i] - expected[i]));
  }
  assert_true(largest > 0);
  if (!(error <= 2e-13 * largest)) fail_msg("%s: off by %g of %g", what, error, largest);
  test_free(values);
}

/* The assembled form: momentum, divergence, and the same pressures as loops or kernels. */
static void check_matrices(TesContext *ctx, TesiIso *iso, const TesiIsoStep *loops, const char *what) {
  const int64_t n = iso->dim * iso->nodes, m = iso->pressures;
  TesiIsoMatrices *twin;
  TesiIsoStep step = *loops;
  assert_ok(ctx, tesi_iso_matrices_create(iso, step.nu, &twin));
  TesVector *next = test_vector(ctx, n, TES_DOUBLE, 0), *b = test_vector(ctx, m, TES_DOUBLE, 0), *p[2],
            *sum[2], *q = test_vector(ctx, m, TES_DOUBLE, 13);
  double *U = values_of(ctx, step.u, n), *S = values_of(ctx, step.s, m), *G = values_of(ctx, step.given, n),
         *F = step.load ? values_of(ctx, step.load, n) : NULL, *plain = test_malloc((size_t)n * sizeof *plain);
  step.next = next;
  assert_ok(ctx, tesi_iso_matrices_momentum(twin, &step));
  assert_ok(ctx, tesi_iso_momentum_ref(iso, step.k, step.nu, U, S, G, F, plain));
  check(ctx, next, plain, n, what);
  assert_ok(ctx, tesi_iso_matrices_divergence(twin, -3, step.u, b));
  assert_ok(ctx, tesi_iso_divergence_ref(iso, -3, U, plain));
  check(ctx, b, plain, m, what);
  for (int j = 0; j < 2; j++)
    p[j] = test_vector(ctx, m, TES_DOUBLE, 11), sum[j] = test_vector(ctx, m, TES_DOUBLE, 0);
  assert_ok(ctx, tesi_iso_matrices_pressure(twin, 0.4, q, b, p[0], sum[0]));
  assert_ok(ctx, tesi_iso_pressure(iso, 0.4, q, b, p[1], sum[1]));
  for (int j = 0; j < 2; j++) {
    double *expected = values_of(ctx, j ? sum[1] : p[1], m);
    check(ctx, j ? sum[0] : p[0], expected, m, what);
    test_free(expected);
  }
  assert_true(tesi_iso_matrices_bytes(twin) > 12 * (double)n);
  if (!strcmp(tes_context_device(ctx), "cpu")) assert_string_equal(tesi_iso_matrices_how(twin), "threads");
  TesVector *const all[] = {next, b, q, p[0], p[1], sum[0], sum[1]};
  for (int j = 0; j < 7; j++) tes_vector_destroy((TesVector **)&all[j]);
  double *const arrays[] = {U, S, G, F, plain};
  for (int j = 0; j < 5; j++)
    if (arrays[j]) test_free(arrays[j]);
  tesi_iso_matrices_destroy(&twin);
}

static void check_parts(TesContext *ctx, const Sizes *s, const uint8_t *given, bool loaded, const char *what) {
  TesMesh *mesh = graded(ctx, s);
  TesiIso *iso;
  assert_ok(ctx, tesi_iso_create(mesh, given, &iso));
  const int64_t n = s->dim * iso->nodes, m = iso->pressures;
  TesVector *u = test_vector(ctx, n, TES_DOUBLE, 3), *g = test_vector(ctx, n, TES_DOUBLE, 5),
            *load = test_vector(ctx, n, TES_DOUBLE, 7), *next = test_vector(ctx, n, TES_DOUBLE, 0),
            *pressure = test_vector(ctx, m, TES_DOUBLE, 9), *b = test_vector(ctx, m, TES_DOUBLE, 0);
  double *U = values_of(ctx, u, n), *S = values_of(ctx, pressure, m), *G = values_of(ctx, g, n),
         *F = values_of(ctx, load, n), *plain = test_malloc((size_t)n * sizeof *plain);
  const TesiIsoStep step = {0.03, 0.7, u, pressure, g, loaded ? load : NULL, next};
  assert_ok(ctx, tesi_iso_momentum(iso, &step));
  assert_ok(ctx, tesi_iso_momentum_ref(iso, 0.03, 0.7, U, S, G, loaded ? F : NULL, plain));
  check(ctx, next, plain, n, what);
  assert_ok(ctx, tesi_iso_divergence(iso, -3, u, b));
  assert_ok(ctx, tesi_iso_divergence_ref(iso, -3, U, plain));
  check(ctx, b, plain, m, what);
  /* p + q + rate b / (sums of the mass matrix): by products of the lengths round a node */
  TesVector *p = test_vector(ctx, m, TES_DOUBLE, 11), *q = test_vector(ctx, m, TES_DOUBLE, 13),
            *sum = test_vector(ctx, m, TES_DOUBLE, 0);
  double *P = values_of(ctx, p, m), *Q = values_of(ctx, q, m);
  assert_ok(ctx, tesi_iso_pressure(iso, 0.4, q, b, p, sum));
  for (int64_t i = 0; i < m; i++) {
    double mass = 1;
    int64_t rest = i;
    for (int d = 0; d < s->dim; d++) {
      const TesiIsoAxis *a = &iso->axis[d];
      const int at = (int)(rest % a->coarse);
      rest /= a->coarse;
      mass *= (a->x[2 * (at < a->cells ? at + 1 : at)] - a->x[2 * (at ? at - 1 : at)]) / 2;
    }
    P[i] += Q[i] + 0.4 * plain[i] / mass;
    plain[i] = P[i] + Q[i];
  }
  check(ctx, p, P, m, what);
  check(ctx, sum, plain, m, what);
  check_matrices(ctx, iso, &step, what);
  TesVector *const all[] = {u, g, load, next, pressure, b, p, q, sum};
  for (int j = 0; j < 9; j++) tes_vector_destroy((TesVector **)&all[j]);
  double *const arrays[] = {U, S, G, F, plain, P, Q};
  for (int j = 0; j < 7; j++) test_free(arrays[j]);
  tesi_iso_destroy(&iso);
  tes_mesh_destroy(&mesh);
}

static void check_all(TesContext *ctx, const char *where) {
  for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++)
    for (int mask = 0; mask < 3; mask++) {
      char what[128];
      snprintf(what, sizeof what, "%s, %dD, %d x %d x %d cells, mask %d", where, sizes[j].dim,
               sizes[j].cells[0], sizes[j].cells[1], sizes[j].cells[2], mask);
      check_parts(ctx, &sizes[j], masks[mask], mask == 1, what);
    }
}

static void loops_are_their_definition(void **state) {
  (void)state;
  for (int bits = 128; bits <= 512; bits *= 2)
    for (int threads = 1; threads <= 3; threads += 2) {
      if (!test_has_simd(bits)) continue;
      TesContext *ctx =
          test_context(&(TesContextDesc){.device = "cpu", .simd_bits = bits, .threads = threads});
      if (!ctx) continue;
      check_all(ctx, "cpu");
      assert_int_equal(tes_context_memory(ctx), 0);
      tes_context_destroy(&ctx);
    }
}

/* Under the thread sanitizer too, in one order: its switches of fibers must not disturb it. */
static void kernels_are_their_definition(void **state) {
  (void)state;
  const TesiOrder last = TEST_THREAD_SANITIZER ? TESI_ORDER_FORWARD : TESI_ORDER_SHUFFLED;
  TesContext *ctx = test_device("emulator");
  for (int order = TESI_ORDER_FORWARD; ctx && order <= (int)last; order++) {
    tesi_fiber_order((TesiOrder)order, 17);
    check_all(ctx, "emulator");
  }
  tesi_fiber_order(TESI_ORDER_FORWARD, 0);
  tes_context_destroy(&ctx);
  if (!(ctx = test_device("cuda"))) return;
  check_all(ctx, "cuda");
  tes_context_destroy(&ctx);
}

static void what_cannot_be_is_refused(void **state) {
  TesContext *ctx = test_device("cpu");
  TesMesh *mesh;
  TesiIso *iso;
  (void)state;
  if (!ctx) skip();
  const TesMeshDesc desc = {.dim = 2, .cells = {4, 4}, .periodic = {true}, .kind = TES_MESH_BOX};
  assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
  assert_int_equal(tesi_iso_create(mesh, masks[0], &iso), TES_INVALID_INPUT);
  assert_null(iso);
  assert_non_null(strstr(tes_context_message(ctx), "x is periodic"));
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loops_are_their_definition),
      cmocka_unit_test(kernels_are_their_definition),
      cmocka_unit_test(what_cannot_be_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
