/* Run: ctest -R t4_operator_quadrature. The quadrature form of the diffusion operator against its plain version, exact
 * energies, symmetry, and its checks of coefficients.
 * Labels: threads simd */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "operator_testing.h"
#include "operator/operator.h"
#include "failing_allocator.h"
#include "testing.h"

typedef struct Case {
  int dim, degree, cells[3], natural; /* natural: faces by bits */
  bool c, alpha;
} Case;

static void a_values(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                     double *out) {
  (void)user, (void)t;
  for (int64_t i = 0; i < n; i++) out[i] = 1 / (0.3 + x[i] * x[i] + 2 * y[i] * y[i] + 0.5 * z[i]);
}

static void c_values(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                     double *out) {
  (void)user, (void)t;
  for (int64_t i = 0; i < n; i++) out[i] = 1.5 + sin(3 * x[i] - y[i] + 2 * z[i]);
}

static void alpha_values(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                         double *out) {
  (void)t;
  for (int64_t i = 0; i < n; i++)
    out[i] = *(const double *)user * (1 + x[i]) * (2 + cos(y[i])) * (1 + z[i] * z[i]);
}

static const double factors[6] = {1, 0.5, 2, 0.25, 3, 0.75};

static TesSpace *make_space(TesContext *context, const Case *t) {
  TesMesh *mesh;
  TesSpace *space;
  double x[3][32];
  TesMeshDesc box = {.dim = t->dim};
  uint64_t seed = 11;
  for (int d = 0; d < 3; d++) {
    box.cells[d] = t->cells[d], box.coordinates[d] = x[d], x[d][0] = -0.3;
    for (int i = 0; i < t->cells[d]; i++)
      x[d][i + 1] = x[d][i] + (1 + 0.5 * test_random(&seed)) / t->cells[d];
  }
  assert_ok(context, tes_mesh_create(context, &box, &mesh));
  TesSpaceDesc desc = {.mesh = mesh, .degree = t->degree};
  uint8_t given[6] = {1, 1, 1, 1, 1, 1};
  for (int f = 0; f < 6; f++) given[f] = !(t->natural >> f & 1);
  desc.given = given;
  assert_ok(context, tes_space_create(context, &desc, &space));
  tes_mesh_destroy(&mesh);
  return space;
}

static TesOperator *make_operator(TesContext *context, const Case *t, TesPrecision precision) {
  TesSpace *space = make_space(context, t);
  TesOperator *op;
  TesFunction *a, *c, *alpha[6] = {NULL};
  TestDiffusion desc = {.space = space, .precision = precision, .kind = "quadrature"};
  assert_ok(context, tes_function_create_callback(context, a_values, NULL, NULL, &a));
  assert_ok(context, tes_function_create_callback(context, c_values, NULL, NULL, &c));
  desc.a = a;
  if (t->c) desc.c = c;
  for (int f = 0; f < 2 * t->dim; f++)
    if (t->alpha && t->natural >> f & 1) {
      assert_ok(context,
                tes_function_create_callback(context, alpha_values, (void *)&factors[f], NULL, &alpha[f]));
      desc.alpha[f] = alpha[f];
    }
  assert_ok(context, test_operator_create(context, &desc, &op));
  for (int f = 0; f < 6; f++) tes_function_destroy(&alpha[f]);
  tes_function_destroy(&a), tes_function_destroy(&c);
  tes_space_destroy(&space);
  return op;
}

static bool is_unknown(const TesSpace *space, int64_t i) {
  bool unknown = true;
  for (int d = 0; d < 3; d++) {
    const TesiAxis *axis = &space->axis[d];
    const int node = (int)(i % axis->nodes);
    unknown = unknown && node >= tesi_axis_first(axis) && node < tesi_axis_end(axis);
    i /= axis->nodes;
  }
  return unknown;
}

/* Random values, zero at Dirichlet nodes. */
static void randomize(const TesSpace *space, uint64_t seed, double *values) {
  for (int64_t i = 0; i < space->length; i++) {
    const double value = test_random(&seed);
    values[i] = is_unknown(space, i) ? value : 0;
  }
}

static double largest(int64_t n, const double *v) {
  double m = 0;
  for (int64_t i = 0; i < n; i++) m = fabs(v[i]) > m ? fabs(v[i]) : m;
  return m;
}

static double dot(int64_t n, const double *v, const double *w) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += v[i] * w[i];
  return sum;
}

/* Vectors of one operator: x random, b random, y to be written. */
typedef struct Vectors {
  int64_t n;
  TesVector *x, *b, *y;
  double *xs, *bs, *ys, *expected;
} Vectors;

static Vectors make_vectors(TesContext *context, const TesOperator *op) {
  Vectors v = {.n = op->space->length};
  TesVector **const vectors[3] = {&v.x, &v.b, &v.y};
  double **const values[4] = {&v.xs, &v.bs, &v.ys, &v.expected};
  for (int i = 0; i < 4; i++) *values[i] = malloc((size_t)v.n * sizeof **values[i]);
  for (int i = 0; i < 3; i++) assert_ok(context, tes_vector_create(context, v.n, op->precision, vectors[i]));
  randomize(op->space, 3, v.xs), randomize(op->space, 4, v.bs);
  assert_ok(context, tes_vector_set(v.x, v.xs));
  assert_ok(context, tes_vector_set(v.b, v.bs));
  assert_ok(context, tes_vector_get(v.x, v.xs)); /* as rounded */
  assert_ok(context, tes_vector_get(v.b, v.bs));
  return v;
}

static void destroy_vectors(Vectors *v) {
  tes_vector_destroy(&v->x), tes_vector_destroy(&v->b), tes_vector_destroy(&v->y);
  free(v->xs), free(v->bs), free(v->ys), free(v->expected);
}

static void assert_equal_vectors(const Vectors *v, double tolerance) {
  const double scale = largest(v->n, v->expected);
  assert_true(scale > 0);
  for (int64_t i = 0; i < v->n; i++) assert_near(v->ys[i], v->expected[i], tolerance * scale);
}

/* apply, residual (in place too) and diagonal of one case against the plain version. */
static void check_against_plain(TesContext *context, const Case *t, TesPrecision precision) {
  const double tolerance = precision == TES_DOUBLE ? 2e-13 : 5e-5;
  TesOperator *op = make_operator(context, t, precision);
  Vectors v = make_vectors(context, op);
  assert_true(op->kind == &tesi_operator_quadrature);
  assert_ok(context, op->table->apply_ref(op, v.xs, v.expected));
  assert_ok(context, tes_vector_fill(v.y, NAN));
  assert_ok(context, tes_operator_apply(op, v.x, v.y));
  assert_ok(context, tes_vector_get(v.y, v.ys));
  assert_equal_vectors(&v, tolerance);
  for (int64_t i = 0; i < v.n; i++)
    if (!is_unknown(op->space, i)) assert_true(v.ys[i] == 0);
  for (int64_t i = 0; i < v.n; i++) v.expected[i] = v.bs[i] - v.expected[i];
  assert_ok(context, tes_vector_fill(v.y, NAN));
  assert_ok(context, tes_operator_residual(op, v.b, v.x, v.y));
  assert_ok(context, tes_vector_get(v.y, v.ys));
  assert_equal_vectors(&v, tolerance);
  assert_ok(context, tes_operator_residual(op, v.b, v.x, v.b));
  assert_ok(context, tes_vector_get(v.b, v.ys));
  assert_equal_vectors(&v, tolerance);
  assert_ok(context, tesi_diffusion_diagonal_ref(op, v.expected));
  assert_ok(context, tes_vector_fill(v.y, NAN));
  assert_ok(context, tes_operator_diagonal(op, v.y));
  assert_ok(context, tes_vector_get(v.y, v.ys));
  assert_equal_vectors(&v, tolerance);
  destroy_vectors(&v);
  tes_operator_destroy(&op);
}

static TesContext *make_context(int threads, int simd_bits) {
  TesContext *context;
  const TesContextDesc desc = {.threads = threads, .simd_bits = simd_bits};
  assert_int_equal(tes_context_create(&desc, &context, NULL, 0), TES_OK);
  return context;
}

static void every_degree_equals_the_plain_version(void **state) {
  (void)state;
  for (int bits = 128; bits <= 512; bits *= 2) {
    if (!test_has_simd(bits)) continue;
    TesContext *context = make_context(2, bits);
    for (int degree = 1; degree <= 12; degree++)
      for (int precision = 0; precision < 2; precision++) {
        const int few = degree > 6 ? 1 : 2;
        const Case two = {2, degree, {17 + degree % 2, 2, 1}, 0x9, degree % 2, true};
        const Case three = {3, degree, {degree > 4 ? 9 : 17, few, 1}, 0x26, degree % 2 == 0, degree % 3 == 0};
        check_against_plain(context, &two, (TesPrecision)precision);
        if (degree <= 4 || (degree + bits / 128) % 3 == 0)
          check_against_plain(context, &three, (TesPrecision)precision);
      }
    assert_int_equal(tes_context_memory(context), 0);
    tes_context_destroy(&context);
  }
}

static void every_shape_equals_the_plain_version(void **state) {
  (void)state;
  static const Case cases[] = {
      {2, 1, {1, 1, 1}, 0x5, false, true},   {2, 3, {1, 7, 1}, 0xf, false, true},
      {2, 2, {5, 4, 1}, 0, true, false},     {2, 2, {8, 1, 1}, 0x6, true, true},
      {2, 1, {31, 30, 1}, 0x5, true, true},  {2, 20, {2, 1, 1}, 0x3, true, true},
      {3, 2, {1, 1, 1}, 0x3f, true, true},   {3, 1, {5, 4, 7}, 0, false, false},
      {3, 2, {5, 4, 7}, 0x2a, true, true},   {3, 3, {2, 3, 2}, 0x3f, false, true},
      {3, 1, {16, 9, 10}, 0x15, true, true}, {3, 1, {3, 17, 18}, 0x3f, true, true},
      {3, 3, {3, 1, 4}, 0x30, true, false},  {3, 4, {8, 2, 1}, 0x3f, true, true},
  };
  for (int bits = 128; bits <= 512; bits *= 2) {
    if (!test_has_simd(bits)) continue;
    TesContext *context = make_context(2, bits);
    for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) check_against_plain(context, &cases[t], t % 2);
    tes_context_destroy(&context);
  }
}

static void bits_do_not_depend_on_threads(void **state) {
  (void)state;
  static const Case cases[] = {{2, 3, {19, 23, 1}, 0xf, true, true}, {3, 2, {9, 11, 10}, 0x3f, true, true}};
  for (size_t t = 0; t < 2; t++)
    for (int precision = 0; precision < 2; precision++) {
      double *results[3];
      int64_t n = 0;
      for (int threads = 1; threads <= 3; threads++) {
        TesContext *context = make_context(threads, 0);
        TesOperator *op = make_operator(context, &cases[t], (TesPrecision)precision);
        Vectors v = make_vectors(context, op);
        n = v.n;
        assert_ok(context, tes_operator_residual(op, v.b, v.x, v.y));
        results[threads - 1] = malloc((size_t)n * sizeof(double));
        assert_ok(context, tes_vector_get(v.y, results[threads - 1]));
        destroy_vectors(&v);
        tes_operator_destroy(&op), tes_context_destroy(&context);
      }
      assert_memory_equal(results[0], results[1], (size_t)n * sizeof(double));
      assert_memory_equal(results[0], results[2], (size_t)n * sizeof(double));
      for (int i = 0; i < 3; i++) free(results[i]);
    }
}

static void the_operator_is_symmetric(void **state) {
  (void)state;
  TesContext *context = make_context(2, 0);
  for (int dim = 2; dim <= 3; dim++) {
    const Case t = {dim, 5, {9, 3, 2}, 0x1b, true, true};
    TesOperator *op = make_operator(context, &t, TES_DOUBLE);
    Vectors v = make_vectors(context, op);
    assert_ok(context, tes_operator_apply(op, v.x, v.y));
    assert_ok(context, tes_vector_get(v.y, v.ys));
    const double bax = dot(v.n, v.bs, v.ys), scale = sqrt(dot(v.n, v.ys, v.ys) * dot(v.n, v.bs, v.bs));
    assert_ok(context, tes_operator_apply(op, v.b, v.y));
    assert_ok(context, tes_vector_get(v.y, v.ys));
    assert_near(dot(v.n, v.xs, v.ys), bax, 1e-14 * scale);
    destroy_vectors(&v);
    tes_operator_destroy(&op);
  }
  tes_context_destroy(&context);
}

static void one_plus_x(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                       double *out) {
  (void)user, (void)y, (void)z, (void)t;
  for (int64_t i = 0; i < n; i++) out[i] = 1 + x[i];
}

/* u = x^2 + y z on the unit cube, a = c = 1 + x, alpha = 1 + x on z = 1 alone:
 *   int a |grad u|^2 = int (1+x)(4x^2 + z^2 + y^2),  int c u^2 = int (1+x)(x^2 + yz)^2,  int_(z=1) (1+x)(x^2 + y)^2. */
static void energies_of_polynomials_are_exact(void **state) {
  (void)state;
  const double grad = 4 * (1. / 3 + 1. / 4) + 1.5 * 2 / 3,
               mass = 1. / 5 + 1. / 6 + 2 * (1. / 3 + 1. / 4) / 4 + 1.5 / 9;
  const double face = 1. / 5 + 1. / 6 + 2 * (1. / 3 + 1. / 4) / 2 + 1.5 / 3;
  TesContext *context = make_context(1, 0);
  TesFunction *f;
  assert_ok(context, tes_function_create_callback(context, one_plus_x, NULL, NULL, &f));
  for (int degree = 3; degree <= 12; degree += 3) {
    TesMesh *mesh;
    TesSpace *space;
    TesOperator *op;
    TesVector *x, *y;
    const double graded[4] = {0, 0.2, 0.7, 1};
    double energy;
    assert_ok(context,
              tes_mesh_create(
                  context, &(TesMeshDesc){.cells = {3, 2, 3}, .coordinates = {graded, NULL, graded}}, &mesh));
    const TesSpaceDesc sd = {.mesh = mesh, .degree = degree, .given = (const uint8_t[6]){0}};
    assert_ok(context, tes_space_create(context, &sd, &space));
    const TestDiffusion desc = {.space = space, .a = f, .c = f, .alpha = {[TES_FRONT] = f}};
    assert_ok(context, test_operator_create(context, &desc, &op));
    assert_false(tes_operator_info(op).singular);
    assert_ok(context, tes_vector_create(context, space->length, TES_DOUBLE, &x));
    assert_ok(context, tes_vector_create(context, space->length, TES_DOUBLE, &y));
    double *values = tes_vector_data(x);
    for (int k = 0, i = 0; k < space->axis[2].nodes; k++)
      for (int j = 0; j < space->axis[1].nodes; j++)
        for (int l = 0; l < space->axis[0].nodes; l++)
          values[i++] = pow(space->axis[0].x[l], 2) + space->axis[1].x[j] * space->axis[2].x[k];
    assert_ok(context, tes_operator_apply(op, x, y));
    assert_ok(context, tes_vector_dot(x, y, &energy));
    assert_near(energy, grad + mass + face, 1e-12);
    tes_vector_destroy(&x), tes_vector_destroy(&y), tes_operator_destroy(&op);
    tes_space_destroy(&space), tes_mesh_destroy(&mesh);
  }
  tes_function_destroy(&f);
  assert_int_equal(tes_context_memory(context), 0);
  tes_context_destroy(&context);
}

static void x_minus_half(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                         double *out) {
  (void)user, (void)y, (void)z, (void)t;
  for (int64_t i = 0; i < n; i++) out[i] = x[i] - 0.5;
}

static void nan_at_the_right(void *user, int64_t n, const double *x, const double *y, const double *z,
                             double t, double *out) {
  (void)user, (void)y, (void)z, (void)t;
  for (int64_t i = 0; i < n; i++) out[i] = sqrt(0.75 - x[i]);
}

static void vanishing(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                      double *out) {
  (void)user, (void)x, (void)y, (void)z, (void)t;
  memset(out, 0, (size_t)n * sizeof *out);
}

/* Creates an operator on [0, 1]^2, 4 x 4 cells, all natural but the left, with one bad coefficient. */
static void check_refused(TesFunctionEvaluate evaluate, int which, TesStatus expected, const char *name) {
  TesContext *context = make_context(2, 0);
  TesMesh *mesh;
  TesSpace *space;
  TesOperator *op = (TesOperator *)1;
  TesFunction *f;
  assert_ok(context, tes_mesh_create(context, &(TesMeshDesc){.dim = 2, .cells = {4, 4}}, &mesh));
  assert_ok(context,
            tes_space_create(
                context, &(TesSpaceDesc){.mesh = mesh, .degree = 1, .given = (const uint8_t[]){1, 0, 0, 0}},
                &space));
  assert_ok(context, tes_function_create_callback(context, evaluate, NULL, NULL, &f));
  TestDiffusion desc = {.space = space};
  *(const TesFunction **[]){&desc.a, &desc.c, &desc.alpha[TES_TOP]}[which] = f;
  assert_int_equal(test_operator_create(context, &desc, &op), expected);
  assert_null(op);
  assert_non_null(strstr(tes_context_message(context), name));
  assert_non_null(
      strstr(tes_context_message(context), expected == TES_NAN ? " at (0.80283" : " at (0.0528312, "));
  tes_function_destroy(&f), tes_space_destroy(&space), tes_mesh_destroy(&mesh);
  assert_int_equal(tes_context_memory(context), 0);
  tes_context_destroy(&context);
}

static void bad_coefficients_are_refused_with_their_point(void **state) {
  (void)state;
  check_refused(x_minus_half, 0, TES_INVALID_INPUT, "diffusion coefficient a is -0.447169 at");
  check_refused(x_minus_half, 1, TES_INVALID_INPUT, "expected >= 0");
  check_refused(x_minus_half, 2, TES_INVALID_INPUT, "Robin coefficient alpha is");
  for (int which = 0; which < 3; which++) check_refused(nan_at_the_right, which, TES_NAN, "nan at");
}

static void coefficients_that_vanish_leave_the_operator_singular(void **state) {
  (void)state;
  TesContext *context = make_context(1, 0);
  TesMesh *mesh;
  TesSpace *space;
  TesOperator *op;
  TesFunction *f;
  assert_ok(context, tes_mesh_create(context, &(TesMeshDesc){.dim = 2, .cells = {4, 4}}, &mesh));
  assert_ok(context,
            tes_space_create(
                context, &(TesSpaceDesc){.mesh = mesh, .degree = 2, .given = (const uint8_t[]){0, 0, 0, 0}},
                &space));
  assert_ok(context, tes_function_create_callback(context, vanishing, NULL, NULL, &f));
  assert_ok(context,
            test_operator_create(context, &(TestDiffusion){.space = space, .c = f, .alpha = {f}}, &op));
  assert_true(tes_operator_info(op).singular);
  tes_operator_destroy(&op), tes_function_destroy(&f), tes_space_destroy(&space), tes_mesh_destroy(&mesh);
  tes_context_destroy(&context);
}

static TesStatus create_one(TesContext *ctx, void *user) {
  TesStatus status = TES_OK;
  TesMesh *mesh = NULL;
  TesSpace *space = NULL;
  TesFunction *f = NULL;
  TesOperator *op = NULL;
  (void)user;
  TES_TRY(tes_mesh_create(ctx, &(TesMeshDesc){.cells = {2, 2, 2}}, &mesh));
  TES_TRY(tes_space_create(
      ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 2, .given = (const uint8_t[]){0, 1, 1, 1, 1, 1}}, &space));
  TES_TRY(tes_function_create_callback(ctx, one_plus_x, NULL, NULL, &f));
  TES_TRY(test_operator_create(ctx, &(TestDiffusion){.space = space, .a = f, .c = f, .alpha = {f}}, &op));
done:
  tes_operator_destroy(&op), tes_function_destroy(&f), tes_space_destroy(&space), tes_mesh_destroy(&mesh);
  return status;
}

static void every_failing_allocation_is_told(void **state) {
  (void)state;
  assert_true(every_allocation_fails(create_one, NULL) > 12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_degree_equals_the_plain_version),
      cmocka_unit_test(every_shape_equals_the_plain_version),
      cmocka_unit_test(bits_do_not_depend_on_threads),
      cmocka_unit_test(the_operator_is_symmetric),
      cmocka_unit_test(energies_of_polynomials_are_exact),
      cmocka_unit_test(bad_coefficients_are_refused_with_their_point),
      cmocka_unit_test(coefficients_that_vanish_leave_the_operator_singular),
      cmocka_unit_test(every_failing_allocation_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
