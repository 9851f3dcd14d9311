/* Run: ctest -R t5_rt_convection. Upwind convection of element rt: against the version from the definition on random
 * velocities, all degrees, odd sizes, graded and periodic boxes and all kinds of boundaries; that more points change
 * nothing where nothing changes its sign; energy; the same bits for any number of threads.
 * Labels: threads */
#include "functional/rt/rt_functional.h"
#include "operator/rt_convection/rt_convection.h"
#include "context_testing.h"
#include "stokes_testing.h"

static TesFunction *expression(TesContext *on, const char *text) {
  TesFunction *f;
  assert_ok(on, tes_function_create_expression(on, text, &f));
  return f;
}

static void set_faces(TesiRtConvection *c, const Flow *f, TesFunction *const g[3]) {
  TesiGiven given[6];
  for (int i = 0; i < 2 * f->dim; i++) {
    given[i] = flow_side(f, i);
    for (int d = 0; d < f->dim; d++) given[i].g[d] = g[d];
  }
  assert_ok(c->context, tesi_rt_convection_give(c, given));
}

static TesVector *random_vector(TesContext *on, int64_t length, bool nan) {
  TesVector *v;
  uint64_t seed = 17;
  double *values = calloc((size_t)length, sizeof *values);
  for (int64_t i = 0; i < length; i++) values[i] = nan ? NAN : test_random(&seed) - 0.5;
  assert_ok(on, tes_vector_create(on, length, TES_DOUBLE, &v));
  assert_ok(on, tes_vector_set(v, values));
  free(values);
  return v;
}

static void check_against_definition(const Flow *f) {
  TesSpace *space = flow_space(ctx, f);
  TesiRtConvection *c;
  TesFunction *const g[3] = {expression(ctx, "0.3 + x*y - z"), NULL, expression(ctx, "y*nx + 0.5*ny")};
  assert_ok(ctx, tesi_rt_convection_create(space, &c));
  set_faces(c, f, g);
  const int64_t n = tes_space_length(space);
  TesVector *u = random_vector(ctx, n, false), *b = random_vector(ctx, n, true);
  double *plain = calloc((size_t)n, sizeof *plain), rate, plain_rate, distance = 0, size = 0;
  assert_ok(ctx, tesi_rt_convection_apply(c, u, b, &rate));
  tesi_rt_convection_ref(c, c->q, tes_vector_data_const(u), plain, &plain_rate);
  const double *values = tes_vector_data_const(b);
  for (int64_t i = 0; i < n; i++) {
    distance = test_larger(distance, fabs(values[i] - plain[i]));
    size = test_larger(size, fabs(plain[i]));
  }
  if (!(size > 0 && distance <= 1e-12 * size))
    fail_msg("RT_%d, %d dimensions, %s: off by %g of %g", f->degree, f->dim, f->given, distance, size);
  assert_near(rate, plain_rate, 1e-12 * plain_rate);
  free(plain);
  for (int i = 0; i < 3; i++) tes_function_destroy((TesFunction **)&g[i]);
  tes_vector_destroy(&u);
  tes_vector_destroy(&b);
  tesi_rt_convection_destroy(&c);
  tes_space_destroy(&space);
}

static void test_against_the_definition(void **state) {
  (void)state;
  static const char *const given[] = {"vvvvvv", "ppvsoo", "osppvo", "pppppp", "vopppp"};
  for (int degree = 1; degree <= (test_brief() ? 3 : 8); degree++)
    for (int i = 0; i < 5; i++)
      check_against_definition(&(Flow){.dim = 2,
                                       .degree = degree,
                                       .cells = {degree < 4 ? 5 : 3, degree < 4 ? 4 : 2},
                                       .given = given[i],
                                       .graded = given[i][i] != 'p' || i == 1});
  for (int degree = 1; degree <= 2; degree++)
    for (int i = 0; i < (degree == 1 ? 5 : 2); i++)
      check_against_definition(
          &(Flow){.dim = 3, .degree = degree, .cells = {3, 2, 2}, .given = given[i], .graded = i != 3});
}

/* All degrees in space, by a cell or two. */
static void test_degrees_in_space(void **state) {
  (void)state;
  for (int degree = 3; degree <= (test_brief() ? 3 : 4); degree++)
    check_against_definition(&(Flow){.dim = 3, .degree = degree, .cells = {2, 2, 2}, .given = "vovsoo"});
}

/* u . N(u) is half of what jumps lose, where u is divergence-free and nothing flows through boundaries: not negative,
 * and nothing where the faces of the jumps are not crossed. */
static void test_energy(void **state) {
  (void)state;
  const Flow f = {.dim = 2, .degree = 3, .cells = {4, 3}, .given = "pppppp"};
  TesSpace *space = flow_space(ctx, &f);
  TesiRtConvection *c;
  assert_ok(ctx, tesi_rt_convection_create(space, &c));
  const int64_t n = tes_space_length(space);
  TesVector *u = random_vector(ctx, n, false), *b = random_vector(ctx, n, true);
  double *values = calloc((size_t)n, sizeof *values), rate, product;
  uint64_t seed = 5;
  /* u constant along x in each row of cells, of random profile: divergence-free, and it jumps */
  const int nodes = space->scalar[0]->axis[0].nodes;
  for (int j = 0; j < space->scalar[0]->axis[1].nodes; j++) {
    const double profile = test_random(&seed) - 0.5;
    for (int i = 0; i < nodes; i++) values[i + nodes * j] = profile;
  }
  assert_ok(ctx, tes_vector_set(u, values));
  assert_ok(ctx, tesi_rt_convection_apply(c, u, b, &rate));
  assert_ok(ctx, tes_vector_dot(u, b, &product));
  assert_near(product, 0, 1e-13); /* it does not cross the faces where it jumps */
  /* with a constant velocity across these (the mode 0 of each cell) each jump loses energy */
  for (int j = 0; j < space->scalar[1]->axis[1].nodes; j++)
    for (int i = 0; i < space->scalar[1]->axis[0].nodes; i++)
      values[space->first[1] + i + (int64_t)space->scalar[1]->axis[0].nodes * j] =
          i % (space->degree + 1) == 0;
  assert_ok(ctx, tes_vector_set(u, values));
  assert_ok(ctx, tesi_rt_convection_apply(c, u, b, &rate));
  assert_ok(ctx, tes_vector_dot(u, b, &product));
  assert_true(product > 1e-3);
  free(values);
  tes_vector_destroy(&u);
  tes_vector_destroy(&b);
  tesi_rt_convection_destroy(&c);
  tes_space_destroy(&space);
}

static void test_threads(void **state) {
  (void)state;
  TesVector *b[2];
  TesContext *of[2];
  const Flow f = {.dim = 3, .degree = 2, .cells = {5, 4, 3}, .given = "vvppvo", .graded = true};
  for (int t = 0; t < 2; t++) {
    TesiRtConvection *c;
    TesFunction *const g[3] = {NULL, NULL, NULL};
    double rate;
    assert_int_equal(
        tes_context_create(&(TesContextDesc){.device = "cpu", .threads = t ? 3 : 1}, &of[t], NULL, 0), TES_OK);
    TesSpace *space = flow_space(of[t], &f);
    assert_ok(of[t], tesi_rt_convection_create(space, &c));
    set_faces(c, &f, g);
    TesVector *u = random_vector(of[t], tes_space_length(space), false);
    b[t] = random_vector(of[t], tes_space_length(space), true);
    assert_ok(of[t], tesi_rt_convection_apply(c, u, b[t], &rate));
    tes_vector_destroy(&u);
    tesi_rt_convection_destroy(&c);
    tes_space_destroy(&space);
  }
  assert_memory_equal(tes_vector_data_const(b[0]), tes_vector_data_const(b[1]),
                      (size_t)tes_vector_length(b[0]) * sizeof(double));
  for (int t = 0; t < 2; t++) tes_vector_destroy(&b[t]), tes_context_destroy(&of[t]);
}

static void test_degree_is_refused(void **state) {
  (void)state;
  TesSpace *space = flow_space(ctx, &(Flow){.dim = 2, .degree = 9, .cells = {2, 2}, .given = "pppp"});
  TesiRtConvection *c;
  assert_int_equal(tesi_rt_convection_create(space, &c), TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "degrees 1 to 8, got 9"));
  tes_space_destroy(&space);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_the_definition),
                                     cmocka_unit_test(test_degrees_in_space), cmocka_unit_test(test_energy),
                                     cmocka_unit_test(test_threads), cmocka_unit_test(test_degree_is_refused)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
