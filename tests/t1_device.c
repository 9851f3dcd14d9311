/* Run: ctest -R t1_device. Vector operations of every device of this machine against plain sums, the emulator
 * against planted faults, names of devices. With a GPU its device is tested too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device/emulator/fiber.h"
#include "device/kernel.h"
#include "device/columns.h"
#include "device/split_sums.h"
#include "device_testing.h"

enum { N = 10007 };
static const char *const devices[] = {"cpu", "emulator", "cuda"};

static TesVector *random_vector(TesContext *ctx, TesPrecision precision, double *values, uint64_t *seed) {
  TesVector *v;
  assert_int_equal(tes_vector_create(ctx, N, precision, &v), TES_OK);
  for (int i = 0; i < N; i++) values[i] = (double)(float)test_random(seed);
  assert_int_equal(tes_vector_set(v, values), TES_OK);
  return v;
}

static void expect(const TesVector *v, const double *expected) {
  static double got[N];
  const double tolerance = tes_vector_precision(v) == TES_DOUBLE ? 1e-15 : 5e-7;
  for (int i = 0; i < N; i++) got[i] = NAN;
  assert_int_equal(tes_vector_get(v, got), TES_OK);
  for (int i = 0; i < N; i++) assert_near(got[i], expected[i], tolerance);
}

/* One pass gives the bits of three: r <- r + a q, z <- d r, rz = r.z. r: as it was after. */
static void check_diagonal_residual(TesContext *ctx, TesPrecision precision, TesVector *q, TesVector *d,
                                    TesVector *r) {
  static double before[N], of_one[2][N], of_three[2][N];
  const TesiDevice *device = tesi_context_device(ctx);
  TesVector *z = NULL;
  double one = NAN, three = NAN;
  void *const data[] = {tes_vector_data(q), tes_vector_data(d), tes_vector_data(r)};
  assert_int_equal(tes_vector_get(r, before), TES_OK);
  assert_int_equal(tes_vector_create(ctx, N, precision, &z), TES_OK);
  assert_int_equal(tes_vector_fill(z, NAN), TES_OK);
  assert_int_equal(tesi_device_diagonal_residual(ctx, precision, N, -0.3, data[0], data[1], data[2],
                                                 tes_vector_data(z), &one),
                   TES_OK);
  assert_int_equal(tes_vector_get(r, of_one[0]), TES_OK);
  assert_int_equal(tes_vector_get(z, of_one[1]), TES_OK);
  assert_int_equal(tes_vector_set(r, before), TES_OK);
  assert_int_equal(device->axpy(ctx, N, -0.3, precision, data[0], precision, data[2]), TES_OK);
  assert_int_equal(tesi_device_multiply(ctx, precision, N, 1, data[2], data[1], tes_vector_data(z)), TES_OK);
  assert_int_equal(device->dot(ctx, precision, N, data[2], tes_vector_data(z), &three), TES_OK);
  assert_int_equal(tes_vector_get(r, of_three[0]), TES_OK);
  assert_int_equal(tes_vector_get(z, of_three[1]), TES_OK);
  for (int i = 0; i < N; i++) assert_true(of_one[0][i] == of_three[0][i] && of_one[1][i] == of_three[1][i]);
  assert_true(one == three);
  assert_int_equal(tes_vector_set(r, before), TES_OK);
  tes_vector_destroy(&z);
}

/* A pass of a polynomial with its three factors zero or not, with and without a next residual, which takes the place of
 * r; what has the factor 0 is NaN. From way 16 on p is not kept. */
static void check_diagonal_step(TesContext *ctx, TesPrecision precision) {
  static double r[N], d[N], p[N], x[N], b[N];
  for (int way = 0; way < (tesi_has_kernels(ctx) ? 32 : 8); way++) {
    uint64_t seed = 11;
    const bool kept = way < 16;
    const double c = way & 1 && kept ? -0.75 : 0, keep = way & 2 ? 0.5 : 0;
    TesVector *vr = random_vector(ctx, precision, r, &seed), *vd = random_vector(ctx, precision, d, &seed),
              *vp = random_vector(ctx, precision, p, &seed), *vx = random_vector(ctx, precision, x, &seed),
              *vb = random_vector(ctx, precision, b, &seed);
    TesVector *const all[] = {vr, vd, vp, vx, vb};
    const TesiDiagonalStep step = {.s = 0.25,
                                   .c = c,
                                   .keep = keep,
                                   .r = tes_vector_data(vr),
                                   .d = tes_vector_data(vd),
                                   .p = kept ? tes_vector_data(vp) : NULL,
                                   .x = tes_vector_data(vx),
                                   .b = way & 4 ? tes_vector_data(vb) : NULL,
                                   .q = way & 8 ? tes_vector_data(vb) : NULL,
                                   .next = tes_vector_data(vr)};
    if (c == 0) assert_int_equal(tes_vector_fill(vp, NAN), TES_OK);
    if (keep == 0) assert_int_equal(tes_vector_fill(vx, NAN), TES_OK);
    assert_int_equal(tesi_device_diagonal_step(ctx, precision, N, &step), TES_OK);
    for (int i = 0; i < N; i++) {
      p[i] = (c == 0 ? 0 : c * p[i]) + 0.25 * (way & 8 ? r[i] - b[i] : r[i]) * d[i];
      x[i] = (keep == 0 ? 0 : keep * x[i]) + p[i];
    }
    if (kept) expect(vp, p);
    expect(vx, x);
    expect(vr, way & 4 ? b : r);
    for (int i = 0; i < 5; i++) tes_vector_destroy((TesVector **)&all[i]);
  }
}

static void check_updates(TesContext *ctx, TesPrecision px, TesPrecision py) {
  static double x[N], y[N], d[N], e[N];
  uint64_t seed = 3;
  TesVector *vx = random_vector(ctx, px, x, &seed), *vy = random_vector(ctx, py, y, &seed);
  const TesiDevice *device = tesi_context_device(ctx);
  assert_int_equal(tes_vector_axpy(-0.5, vx, vy), TES_OK);
  for (int i = 0; i < N; i++) y[i] -= 0.5 * x[i];
  expect(vy, y);
  assert_int_equal(tes_vector_fill(vy, NAN), TES_OK);
  assert_int_equal(tes_vector_copy(vx, 3, vy), TES_OK);
  for (int i = 0; i < N; i++) y[i] = 3 * x[i];
  expect(vy, y);
  if (px == py) {
    assert_int_equal(tes_vector_xpay(vx, 0.25, vy), TES_OK);
    for (int i = 0; i < N; i++) y[i] = x[i] + 0.25 * y[i];
    expect(vy, y);
    TesVector *vd = random_vector(ctx, px, d, &seed);
    assert_int_equal(
        device->multiply_add(ctx, px, N, 0.5, tes_vector_data(vx), tes_vector_data(vd), tes_vector_data(vy)),
        TES_OK);
    for (int i = 0; i < N; i++) e[i] = y[i] + 0.5 * x[i] * d[i];
    expect(vy, e);
    check_diagonal_residual(ctx, px, vx, vd, vy);
    check_diagonal_step(ctx, px);
    tes_vector_destroy(&vd);
  }
  assert_int_equal(tes_vector_fill(vy, -2), TES_OK);
  for (int i = 0; i < N; i++) y[i] = -2;
  expect(vy, y);
  tes_vector_destroy(&vx);
  tes_vector_destroy(&vy);
}

/* Sums of 1 to 5 vectors, into another one or the last of them. */
static void check_combinations(TesContext *ctx) {
  static double x[TESI_COMBINED][N], y[N];
  static const double a[TESI_COMBINED] = {0.5, -2, 0.25, 3, -0.125};
  for (int count = 1; count <= TESI_COMBINED; count++)
    for (int own = 0; own < 2; own++) {
      TesVector *v[TESI_COMBINED], *to;
      uint64_t seed = 5;
      for (int i = 0; i < TESI_COMBINED; i++) v[i] = random_vector(ctx, TES_DOUBLE, x[i], &seed);
      assert_int_equal(tes_vector_create(ctx, N, TES_DOUBLE, &to), TES_OK);
      assert_int_equal(tes_vector_fill(to, NAN), TES_OK);
      TesVector *const result = own ? v[count - 1] : to;
      assert_int_equal(tesi_vector_combine(count, a, (const TesVector *const *)v, result), TES_OK);
      for (int i = 0; i < N; i++) {
        y[i] = 0;
        for (int k = 0; k < count; k++) y[i] += a[k] * x[k][i];
      }
      expect(result, y);
      for (int i = 0; i < TESI_COMBINED; i++) tes_vector_destroy(&v[i]);
      tes_vector_destroy(&to);
    }
}

/* Two sums of 1 to 3 vectors at once, and differences with their norms. */
static void check_pairs(TesContext *ctx) {
  static double x[TESI_PAIRED][N], y[N], z[N];
  static const double a[TESI_PAIRED] = {0.5, -2, 0.25}, b[TESI_PAIRED] = {3, 1, -0.125};
  TesVector *v[TESI_PAIRED], *to[2];
  uint64_t seed = 5;
  double norm, square = 0;
  for (int i = 0; i < TESI_PAIRED; i++) v[i] = random_vector(ctx, TES_DOUBLE, x[i], &seed);
  for (int i = 0; i < 2; i++) assert_int_equal(tes_vector_create(ctx, N, TES_DOUBLE, &to[i]), TES_OK);
  for (int count = 1; count <= TESI_PAIRED; count++) {
    for (int i = 0; i < 2; i++) assert_int_equal(tes_vector_fill(to[i], NAN), TES_OK);
    assert_int_equal(tesi_vector_combine_pair(count, a, b, (const TesVector *const *)v, to[0], to[1]), TES_OK);
    for (int i = 0; i < N; i++) {
      y[i] = z[i] = 0;
      for (int k = 0; k < count; k++) y[i] += a[k] * x[k][i], z[i] += b[k] * x[k][i];
    }
    expect(to[0], y);
    expect(to[1], z);
  }
  assert_int_equal(tes_vector_fill(to[0], NAN), TES_OK);
  assert_int_equal(tesi_vector_difference(v[0], v[1], to[0], &norm), TES_OK);
  for (int i = 0; i < N; i++) y[i] = x[0][i] - x[1][i], square += y[i] * y[i];
  expect(to[0], y);
  assert_near(norm, sqrt(square), 1e-13 * sqrt(square));
  for (int i = 0; i < TESI_PAIRED; i++) tes_vector_destroy(&v[i]);
  for (int i = 0; i < 2; i++) tes_vector_destroy(&to[i]);
}

static void split_sums_ref(int split, const double *x, const double *b, const double *r, double sums[2]) {
  sums[0] = sums[1] = 0;
  for (int i = 0; i < N; i++) sums[i >= split] += i < split ? x[i] * (b[i] - r[i]) : r[i] * r[i];
}

/* Entries of one kind, of both, and of the other; the same bits again. What is not read is NaN. */
static void check_split_sums(TesContext *ctx) {
  static double x[3][N];
  static const int splits[] = {0, 1, N / 2, N - 1, N};
  for (size_t s = 0; s < sizeof splits / sizeof *splits; s++) {
    TesVector *v[3];
    uint64_t seed = 5;
    double sums[2] = {NAN, NAN}, again[2], expected[2];
    for (int i = 0; i < 3; i++) v[i] = random_vector(ctx, TES_DOUBLE, x[i], &seed);
    split_sums_ref(splits[s], x[0], x[1], x[2], expected);
    for (int i = 0; i < 2; i++) {
      TesVector unread = tesi_vector_range(v[i], splits[s], N - splits[s]);
      assert_int_equal(tes_vector_fill(&unread, NAN), TES_OK);
    }
    assert_int_equal(tesi_vector_split_sums(v[0], v[1], v[2], splits[s], sums), TES_OK);
    assert_int_equal(tesi_vector_split_sums(v[0], v[1], v[2], splits[s], again), TES_OK);
    for (int i = 0; i < 2; i++) {
      assert_near(sums[i], expected[i], 1e-13 * N);
      assert_true(sums[i] == again[i]);
    }
    for (int i = 0; i < 3; i++) tes_vector_destroy(&v[i]);
  }
}

/* Reciprocals; float32 ones are those of float64, rounded. */
static void check_reciprocals(TesContext *ctx, TesPrecision precision) {
  static double x[N];
  uint64_t seed = 5;
  TesVector *v = random_vector(ctx, precision, x, &seed);
  assert_int_equal(tesi_kernel_invert(ctx, precision, N, tes_vector_data(v)), TES_OK);
  for (int i = 0; i < N; i++) x[i] = precision == TES_DOUBLE ? 1 / x[i] : (double)(float)(1 / x[i]);
  expect(v, x);
  tes_vector_destroy(&v);
}

/* Products with 1 to 9 columns, and what is left without them. */
static void check_columns(TesContext *ctx) {
  enum { MOST = 9 };
  static double x[MOST + 2][N];
  static const double a[MOST] = {0.5, -2, 0.25, 3, -0.125, 1, -1, 0.75, 2};
  TesiLayout *layout;
  TesiColumns *columns;
  TesVector *v[MOST + 2];
  uint64_t seed = 5;
  assert_int_equal(tesi_layout_create_plain(ctx, N, &layout), TES_OK);
  assert_int_equal(tesi_columns_create(ctx, layout, MOST, &columns), TES_OK);
  for (int k = 0; k < MOST; k++) assert_int_equal(tes_vector_length(columns->v[k]), N);
  for (int k = 0; k < MOST + 2; k++) v[k] = random_vector(ctx, TES_DOUBLE, x[k], &seed);
  double *const w = x[MOST], *const y = x[MOST + 1];
  for (int count = 1; count <= MOST; count++) {
    double product[2 * MOST], square = NAN, expected = 0;
    assert_int_equal(tesi_columns_products(columns, count, v, v[MOST], v[count - 1], product), TES_OK);
    for (int k = 0; k < count; k++) {
      double of_w = 0, of_v = 0;
      for (int i = 0; i < N; i++) of_w += x[k][i] * w[i], of_v += x[k][i] * x[count - 1][i];
      assert_near(product[2 * k], of_w, 1e-13 * N);
      assert_near(product[2 * k + 1], of_v, 1e-13 * N);
    }
    assert_int_equal(tesi_columns_subtract(columns, count, a, v, v[MOST + 1], count % 2 ? &square : NULL),
                     TES_OK);
    for (int i = 0; i < N; i++) {
      for (int k = 0; k < count; k++) y[i] -= a[k] * x[k][i];
      expected += y[i] * y[i];
    }
    expect(v[MOST + 1], y);
    if (count % 2) assert_near(square, expected, 1e-13 * expected);
  }
  for (int k = 0; k < MOST + 2; k++) tes_vector_destroy(&v[k]);
  tesi_columns_destroy(&columns);
  tesi_layout_destroy(&layout);
}

static void check_reductions(TesContext *ctx, TesPrecision precision) {
  static double x[N], y[N];
  uint64_t seed = 5;
  TesVector *vx = random_vector(ctx, precision, x, &seed), *vy = random_vector(ctx, precision, y, &seed);
  double sum = 0, largest = 0, dot = NAN, again = NAN, maximum = NAN;
  for (int i = 0; i < N; i++) {
    sum += x[i] * y[i];
    largest = fmax(largest, fabs(x[i]));
  }
  assert_int_equal(tes_vector_dot(vx, vy, &dot), TES_OK);
  assert_int_equal(tes_vector_dot(vx, vy, &again), TES_OK);
  assert_near(dot, sum, 1e-11);
  assert_true(dot == again);
  assert_int_equal(tes_vector_maximum(vx, &maximum), TES_OK);
  assert_true(maximum == largest);
  for (int bad = 0; bad < 2; bad++) {
    x[N / 3] = bad ? INFINITY : NAN;
    assert_int_equal(tes_vector_set(vx, x), TES_OK);
    assert_int_equal(tes_vector_maximum(vx, &maximum), TES_OK);
    assert_true(isnan(maximum));
  }
  tes_vector_destroy(&vx);
  tes_vector_destroy(&vy);
}

static void vectors_are_right_on_every_device(void **state) {
  (void)state;
  for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
    TesContext *ctx = test_device(devices[d]);
    if (!ctx) continue;
    assert_int_equal(strncmp(tes_context_device(ctx), devices[d], strlen(devices[d])), 0);
    for (int px = 0; px < 2; px++) {
      for (int py = 0; py < 2; py++) check_updates(ctx, (TesPrecision)px, (TesPrecision)py);
      check_reductions(ctx, (TesPrecision)px);
    }
    check_combinations(ctx);
    check_pairs(ctx);
    check_split_sums(ctx);
    for (int p = 0; p < 2 && tesi_has_kernels(ctx); p++) check_reciprocals(ctx, (TesPrecision)p);
    if (tesi_has_kernels(ctx)) check_columns(ctx);
    tes_context_destroy(&ctx);
  }
}

static void wrong_names_are_refused(void **state) {
  (void)state;
  static const char *const names[] = {"gpu", "cuda:", "cuda:0x", "cuda:1 ", ""};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    TesContext *ctx;
    char message[2048];
    const TesContextDesc desc = {.device = names[i]};
    assert_int_equal(tes_context_create(&desc, &ctx, message, sizeof message), TES_INVALID_INPUT);
    assert_null(ctx);
    assert_non_null(strstr(message, "expected auto"));
  }
}

/* The largest error of the kernel under one order of the threads; INFINITY where the launch itself was refused. */
static double run_selftest(TesContext *ctx, int fault, TesiOrder order) {
  enum { CHUNK = 64, BLOCKS = 3 };
  static double x[CHUNK * BLOCKS], y[CHUNK * BLOCKS];
  TesiProgram *program;
  TesiKernel kernel;
  uint64_t seed = 11;
  const double *px = x;
  double *py = y, error = 0;
  const TesiProgramDesc desc = {.file = "selftest.cu", .macros = {{"CHUNK", CHUNK}, {"FAULT", fault}}};
  for (int i = 0; i < CHUNK * BLOCKS; i++) {
    x[i] = test_random(&seed);
    y[i] = NAN;
  }
  assert_int_equal(tesi_program_get(ctx, &desc, &program), TES_OK);
  assert_int_equal(tesi_kernel_get(ctx, program, "tesk_selftest", sizeof x / BLOCKS, &kernel), TES_OK);
  void *arguments[] = {&px, &py};
  tesi_fiber_order(order, 1);
  const TesStatus status =
      tesi_kernel_launch(ctx, &kernel, (TesiGrid){BLOCKS, 1, 1}, CHUNK, sizeof x / BLOCKS, arguments);
  tesi_fiber_order(TESI_ORDER_FORWARD, 1);
  if (status != TES_OK) {
    assert_non_null(strstr(tes_context_message(ctx), "divergent"));
    tes_context_clear(ctx);
    return INFINITY;
  }
  for (int i = 0; i < CHUNK * BLOCKS; i++) {
    const int c = i / CHUNK * CHUNK, t = (i - c + 1) % CHUNK;
    const double difference = fabs(y[i] - (x[c + CHUNK - 1 - t] + x[c + t]));
    error = test_larger(error, difference);
  }
  return error;
}

static void emulator_finds_planted_faults(void **state) {
  (void)state;
  TesContext *ctx = test_device("emulator");
  if (getenv("TESSERA_TEST_DEVICE") && !ctx) skip();
  assert_non_null(ctx);
  for (int fault = 0; fault <= 5; fault++) {
    bool found = false;
    for (int order = 0; order <= TESI_ORDER_SHUFFLED; order++)
      if (!(run_selftest(ctx, fault, (TesiOrder)order) <= 0)) found = true;
    if (found != (fault > 0)) fail_msg("fault %d: found is %d", fault, found);
  }
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(vectors_are_right_on_every_device),
                                     cmocka_unit_test(wrong_names_are_refused),
                                     cmocka_unit_test(emulator_finds_planted_faults)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
