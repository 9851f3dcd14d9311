/* Run: ctest -R t6_least. The start of least residual (src/krylov/least.h) beside a dense matrix: after it the residual
 * is that of the new x, and orthogonal to the images of all differences of old solutions, so that it is the least;
 * directions that are dependent, zero or not finite are left out; images are made again exactly where they are not
 * those of the solutions. By the host's numbers on each device, and by kernels alone in the emulator, and on a GPU
 * where there is one. */
#include <math.h>
#include "device_testing.h"
#include "krylov/least.h"

enum { SOLUTIONS = TESK_LEAST + 1 };

typedef struct Fixture {
  TesContext *ctx;
  int64_t n;
  double *A; /* [n][n] */
  TesiLeast *least;
  TesVector *solution[SOLUTIONS], *base, *of_base, *x, *r;
} Fixture;

static void get(const TesVector *v, double *values) {
  assert_ok(v->context, tes_vector_get(v, values));
}

static void multiply(const Fixture *f, const double *x, double *y) {
  for (int64_t i = 0; i < f->n; i++) {
    y[i] = 0;
    for (int64_t j = 0; j < f->n; j++) y[i] += f->A[i * f->n + j] * x[j];
  }
}

static double product(int64_t n, const double *a, const double *b) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

static Fixture create(TesContext *ctx, int64_t n, int directions) {
  Fixture f = {.ctx = ctx, .n = n, .A = test_malloc((size_t)(n * n) * sizeof(double))};
  uint64_t seed = 11;
  TesiLayout *layout;
  for (int64_t i = 0; i < n * n; i++) f.A[i] = test_random(&seed);
  assert_ok(ctx, tesi_layout_create_plain(ctx, n, &layout));
  assert_ok(ctx, tesi_least_create(ctx, layout, directions, &f.least));
  tesi_layout_destroy(&layout);
  for (int i = 0; i < SOLUTIONS; i++) f.solution[i] = test_vector(ctx, n, TES_DOUBLE, 100 + (uint64_t)i);
  f.base = test_vector(ctx, n, TES_DOUBLE, 7);
  f.of_base = test_vector(ctx, n, TES_DOUBLE, 8);
  f.x = test_vector(ctx, n, TES_DOUBLE, 0);
  f.r = test_vector(ctx, n, TES_DOUBLE, 0);
  return f;
}

static void forget(Fixture *f) {
  for (int i = 0; i < SOLUTIONS; i++) tes_vector_destroy(&f->solution[i]);
  tes_vector_destroy(&f->base);
  tes_vector_destroy(&f->of_base);
  tes_vector_destroy(&f->x);
  tes_vector_destroy(&f->r);
  tesi_least_destroy(&f->least);
  test_free(f->A);
}

/* image <- A (v_i - v_(i+1)); difference [n] */
static void make_image(Fixture *f, int i, double *difference, double *image) {
  double *older = test_malloc((size_t)f->n * sizeof *older);
  get(f->solution[i], difference);
  get(f->solution[i + 1], older);
  for (int64_t k = 0; k < f->n; k++) difference[k] -= older[k];
  multiply(f, difference, image);
  test_free(older);
}

static void make_images(Fixture *f, int count) {
  double *difference = test_malloc((size_t)f->n * sizeof *difference),
         *image = test_malloc((size_t)f->n * sizeof *image);
  const double when[SOLUTIONS] = {4, 3, 2, 1};
  tesi_least_plan(f->least, 0, count, when);
  assert_int_equal(f->least->count, count);
  for (int i = 0; i < count; i++) {
    make_image(f, i, difference, image);
    assert_ok(f->ctx, tes_vector_set(f->least->image[i], image));
  }
  test_free(difference);
  test_free(image);
}

static void start(const Fixture *f, bool kernels) {
  TesiLeastStart *const run = kernels ? tesi_least_queue : tesi_least_reduce;
  assert_ok(f->ctx, run(f->least, f->solution, f->base, f->of_base, f->x, f->r));
}

/* Starts; the least residual's conditions hold. */
static void check(Fixture *f, int count, bool kernels) {
  const size_t bytes = (size_t)f->n * sizeof(double);
  double *before = test_malloc(bytes), *r = test_malloc(bytes), *x = test_malloc(bytes),
         *Ax = test_malloc(bytes);
  get(f->base, x);
  get(f->of_base, before);
  multiply(f, x, Ax);
  for (int64_t i = 0; i < f->n; i++) before[i] += Ax[i]; /* b */
  start(f, kernels);
  get(f->x, x);
  get(f->r, r);
  multiply(f, x, Ax);
  for (int64_t i = 0; i < f->n; i++) assert_near(r[i], before[i] - Ax[i], 1e-11 * (double)f->n);
  for (int i = 0; i < count; i++) {
    make_image(f, i, x, Ax);
    assert_near(product(f->n, Ax, r), 0, 1e-11 * sqrt(product(f->n, Ax, Ax) * product(f->n, r, r)));
  }
  test_free(before);
  test_free(r);
  test_free(x);
  test_free(Ax);
}

static void on_all(void (*run)(TesContext *ctx, bool kernels)) {
  static const char *const names[] = {"cpu", "emulator", "cuda"};
  for (int i = 0; i < 3; i++) {
    TesContext *ctx = test_device(names[i]);
    if (!ctx) continue;
    run(ctx, false);
    if (i) run(ctx, true);
    tes_context_destroy(&ctx);
  }
}

static void run_random(TesContext *ctx, bool kernels) {
  const int64_t sizes[] = {5, 37, 301};
  for (int s = 0; s < 3; s++)
    for (int count = 1; count <= TESK_LEAST; count++) {
      Fixture f = create(ctx, sizes[s], count);
      make_images(&f, count);
      check(&f, count, kernels);
      forget(&f);
    }
}
static void random_solutions(void **state) {
  (void)state;
  on_all(run_random);
}

/* v0 - v1 is a multiple of v1 - v2, then 0, then all images are NaN. */
static void run_dependent(TesContext *ctx, bool kernels) {
  Fixture f = create(ctx, 37, TESK_LEAST);
  const TesVector *const from[] = {f.solution[1], f.solution[2]};
  double values[37];
  assert_ok(ctx, tesi_vector_combine(2, (const double[]){3, -2}, from, f.solution[0]));
  make_images(&f, TESK_LEAST);
  check(&f, TESK_LEAST, kernels);
  assert_ok(ctx, tes_vector_copy(f.solution[1], 1, f.solution[0]));
  make_images(&f, TESK_LEAST);
  check(&f, TESK_LEAST, kernels);
  for (int i = 0; i < TESK_LEAST; i++) assert_ok(ctx, tes_vector_copy(f.solution[0], 1, f.solution[i + 1]));
  make_images(&f, TESK_LEAST);
  check(&f, TESK_LEAST, kernels);
  assert_ok(ctx, tes_vector_fill(f.least->image[1], 1e200)); /* its square is not finite */
  start(&f, kernels);
  get(f.r, values);
  for (int i = 0; i < 37; i++) assert_true(isfinite(values[i]));
  forget(&f);
}
static void dependent_solutions(void **state) {
  (void)state;
  on_all(run_dependent);
}

/* The images that are kept, by marks in their first entries. */
static void run_plans(TesContext *ctx, bool kernels) {
  static const struct Plan {
    int stage, count;
    double when[SOLUTIONS];
    bool same, forget;
    int fresh;
    double marks[TESK_LEAST]; /* after the move */
  } plans[] = {
      {0, 0, {0}, false, false, 0, {0}},
      {0, 1, {1, 0}, false, false, 1, {1}},
      {0, 2, {2, 1, 0}, false, false, 1, {2, 1}},
      {0, 3, {3, 2, 1, 0}, false, false, 1, {3, 2, 1}},
      {1, 3, {3, 2, 1, 0}, false, false, 0, {3, 2, 1}}, /* the second stage of this step */
      {0, 3, {4, 3, 2, 1}, true, false, 1, {6, 3, 2}},
      {1, 3, {4, 3, 2, 1}, true, false, 0, {6, 3, 2}},
      {0, 3, {4, 3, 2, 1}, false, false, 0, {6, 3, 2}}, /* a step again */
      {0, 3, {5, 3, 2, 1}, false, false, 3, {9, 9, 9}}, /* another history */
      {0, 2, {6, 5, 3}, false, false, 1, {10, 9}},
      {0, 2, {7, 6, 5}, true, true, 2, {11, 11}}, /* another operator */
  };
  Fixture f = create(ctx, 3, TESK_LEAST);
  if (kernels) goto done;
  for (int i = 0; i < (int)(sizeof plans / sizeof *plans); i++) {
    const struct Plan *p = &plans[i];
    if (p->forget) tesi_least_forget(f.least);
    const bool same = tesi_least_plan(f.least, p->stage, p->count, p->when);
    if (!p->forget) assert_int_equal(same, p->same);
    assert_int_equal(f.least->fresh, p->fresh);
    assert_ok(ctx, tesi_least_move(f.least));
    for (int k = 0; k < p->fresh; k++)
      assert_ok(ctx, tes_vector_fill(f.least->image[k], i + (i < 5 ? 0 : 1)));
    for (int k = 0; k < p->count; k++) {
      double values[3];
      get(f.least->image[k], values);
      assert_near(values[0], p->marks[k], 0);
    }
  }
done:
  forget(&f);
}
static void plans_of_images(void **state) {
  (void)state;
  on_all(run_plans);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_solutions),
                                     cmocka_unit_test(dependent_solutions), cmocka_unit_test(plans_of_images)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
