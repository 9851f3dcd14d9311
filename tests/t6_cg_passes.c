/* Run: ctest -R t6_cg_passes. The vector passes of conjugate gradients (src/krylov/cg_passes.h) beside plain loops:
 * both precisions of z, odd lengths, several threads, vectors that own ranges of their entries. What is written only
 * begins as NaN.
 * Labels: threads */
#include <math.h>
#include "device/vector.h"
#include "device_testing.h"
#include "krylov/cg_passes.h"

static TesContext *ctx;

static double *values_of(const TesVector *v) {
  double *values = test_malloc((size_t)v->length * sizeof *values);
  assert_ok(ctx, tes_vector_get(v, values));
  return values;
}

/* The product over owned entries. */
static double dot(const TesVector *v, const double *a, const double *b) {
  const TesiLayout *layout = v->layout;
  long double sum = 0;
  for (int64_t i = 0; i < v->length; i++) {
    bool owned = !layout;
    for (int k = 0; layout && k < layout->blocks; k++)
      owned = owned || (i >= layout->block[k].start && i < layout->block[k].start + layout->block[k].owned);
    if (owned) sum += (long double)a[i] * b[i];
  }
  return (double)sum;
}

static void compare(int64_t n, const TesVector *found, const double *expected, double eps) {
  double *values = values_of(found);
  for (int64_t i = 0; i < n; i++) assert_near(values[i], expected[i], eps * (1 + fabs(expected[i])));
  test_free(values);
}

/* A layout of two ranges with a gap that another rank owns; NULL: everything is owned. */
static TesiLayout *layout_of(int64_t n, bool partly) {
  TesiLayout *layout = NULL;
  if (!partly) return NULL;
  assert_ok(ctx, tesi_layout_create_plain(ctx, n, &layout));
  layout->blocks = 2;
  layout->block[0] = tesi_owned(0, n / 3, 0);
  layout->block[1] = tesi_owned(n / 2, n - n / 2, n / 3);
  layout->owned = n / 3 + n - n / 2;
  return layout;
}

static TesVector *vector(int64_t n, const TesiLayout *layout, TesPrecision precision, uint64_t seed) {
  TesVector *v = test_vector(ctx, n, precision, seed);
  tesi_layout_destroy(&v->layout);
  v->layout = layout ? tesi_layout_retain(layout) : NULL;
  return v;
}

static void check(int64_t n, TesPrecision precision, bool partly) {
  TesiLayout *layout = layout_of(n, partly);
  TesVector *z = vector(n, layout, precision, 1), *q = vector(n, layout, TES_DOUBLE, 2),
            *p = vector(n, layout, TES_DOUBLE, 0), *r = vector(n, layout, TES_DOUBLE, 4),
            *x = vector(n, layout, TES_DOUBLE, 5), *rounded = vector(n, layout, TES_SINGLE, 0);
  const TesiImage image = {z, 0.25};
  double *vz = values_of(z), *vq = values_of(q), *vp = test_malloc((size_t)n * sizeof *vp),
         *vr = values_of(r), *vx = values_of(x), found[2], square;
  assert_ok(ctx, tesi_cg_product(&image, q, found));
  assert_near(found[0], 0.25 * dot(q, vz, vq), 1e-13 * (double)n);
  for (int first = 1; first >= 0; first--) { /* the first direction is made of z alone */
    assert_ok(ctx, tesi_cg_direction(&image, first ? 0 : -1.5, p));
    for (int64_t i = 0; i < n; i++) vp[i] = 0.25 * vz[i] - (first ? 0 : 1.5 * vp[i]);
    compare(n, p, vp, 1e-15);
  }
  assert_ok(ctx, tesi_cg_products(p, q, r, found));
  assert_near(found[0], dot(p, vp, vq), 1e-13 * (double)n);
  assert_near(found[1], dot(p, vp, vr), 1e-13 * (double)n);
  for (int with = 0; with < 2; with++) {
    assert_ok(ctx, tesi_cg_update(&(TesiCgUpdate){0.75, 64, p, q, x, r, with ? rounded : NULL}, &square));
    for (int64_t i = 0; i < n; i++) vx[i] += 0.75 * vp[i], vr[i] -= 0.75 * vq[i];
    compare(n, x, vx, 2e-15);
    compare(n, r, vr, 2e-15);
    assert_near(square, dot(r, vr, vr), 1e-13 * (double)n);
  }
  for (int64_t i = 0; i < n; i++) vr[i] *= 64;
  compare(n, rounded, vr, 1e-6);
  TesVector **all[] = {&z, &q, &p, &r, &x, &rounded};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) tes_vector_destroy(all[i]);
  test_free(vz), test_free(vq), test_free(vp), test_free(vr), test_free(vx);
  tesi_layout_destroy(&layout);
}

static void passes_are_the_plain_loops(void **state) {
  (void)state;
  static const int64_t lengths[] = {1, 2, 255, 1023, 1025, 262144, 300007};
  for (int threads = 1; threads <= 3; threads += 2) {
    ctx = test_context(&(TesContextDesc){.device = "cpu", .threads = threads});
    if (!ctx) skip();
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
      for (int precision = TES_DOUBLE; precision <= TES_SINGLE; precision++)
        for (int partly = 0; partly < 2; partly++) check(lengths[l], (TesPrecision)precision, partly);
    tes_context_destroy(&ctx);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(passes_are_the_plain_loops)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
