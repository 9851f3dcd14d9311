/* Run: ctest -R t4_scattered. Functions by values at scattered points against a search of all points. */
#include <math.h>
#include <stdlib.h>
#include "functional/scattered.h"
#include "testing.h"

static TesContext *ctx;

static double square(const TesiSample *s, const double x[3]) {
  double sum = 0;
  for (int d = 0; d < 3; d++) sum += (s->x[d] - x[d]) * (s->x[d] - x[d]);
  return sum;
}

/* Values are numbers of samples. The value of each point is a sample that no other sample is nearer than. */
static void check(int64_t count, const TesiSample *sample, int dim, double spread) {
  enum { POINTS = 300 };
  double x[3][POINTS] = {{0}}, value[POINTS];
  TesFunction *f;
  for (int d = 0; d < dim; d++)
    for (int i = 0; i < POINTS; i++) x[d][i] = spread * (1.4 * rand() / RAND_MAX - 0.2);
  assert_ok(ctx, tesi_scattered_function(ctx, count, sample, "samples", &f));
  for (int i = 0; i < POINTS; i++) value[i] = NAN;
  assert_ok(ctx, tes_function_evaluate(f, POINTS, x[0], x[1], x[2], 0, value));
  for (int i = 0; i < POINTS; i++) {
    const double at[3] = {x[0][i], x[1][i], x[2][i]};
    double least = INFINITY;
    for (int64_t s = 0; s < count; s++) least = fmin(least, square(&sample[s], at));
    assert_true(value[i] >= 0 && value[i] < (double)count);
    assert_true(square(&sample[(int64_t)value[i]], at) == least);
  }
  tes_function_destroy(&f);
}

static void nearest_of_random_points(void **state) {
  (void)state;
  static const int64_t counts[] = {1, 2, 8, 9, 17, 100, 5000};
  TesiSample *sample = calloc(5000, sizeof *sample);
  for (int dim = 2; dim <= 3; dim++)
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
      for (int64_t i = 0; i < counts[k]; i++) {
        sample[i] = (TesiSample){.value = (double)i};
        for (int d = 0; d < dim; d++) sample[i].x[d] = 1e-6 * rand() / RAND_MAX;
      }
      check(counts[k], sample, dim, 1e-6);
    }
  free(sample);
}

/* Many equal coordinates, and points that are there twice. */
static void nearest_of_a_grid(void **state) {
  (void)state;
  enum { N = 7, COUNT = 2 * N * N * N };
  TesiSample sample[COUNT];
  for (int i = 0; i < COUNT; i++)
    sample[i] = (TesiSample){{i / 2 % N / 3, i / 2 / N % N, 100 * (i / 2 / N / N)}, i};
  check(COUNT, sample, 3, 10);
}

static int set_up(void **state) {
  (void)state;
  return tes_context_create(NULL, &ctx, NULL, 0) == TES_OK ? 0 : 1;
}

static int tear_down(void **state) {
  (void)state;
  tes_context_destroy(&ctx);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(nearest_of_random_points),
                                     cmocka_unit_test(nearest_of_a_grid)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
