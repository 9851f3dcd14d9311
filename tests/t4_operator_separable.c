/* Run: ctest -R t4_operator_separable. The separable diffusion operator against its plain version, and the plain version
 * against Kronecker products of assembled 1D matrices.
 * Labels: threads */
#include <stdlib.h>
#include <string.h>
#include "operator/operator.h"
#include "testing.h"

/* A box with graded cells, Dirichlet and natural ends by the bits of `natural`, constant coefficients. */
typedef struct Case {
  int dim, degree, cells[3], natural;
  bool graded;
  double a, c, alpha;
  TesPrecision precision;
} Case;

static TesOperator *make_operator(TesContext *context, const Case *t) {
  TesMesh *mesh;
  TesSpace *space;
  TesOperator *op;
  TesFunction *a, *c, *alpha[6];
  double *x[3];
  TesBoxDesc box = {.dim = t->dim, .upper = {1, 1.25, 0.75}};
  uint64_t seed = 5;
  for (int d = 0; d < 3; d++) {
    box.cells[d] = t->cells[d];
    x[d] = calloc((size_t)t->cells[d] + 1, sizeof *x[d]);
    for (int i = 0; i < t->cells[d]; i++) x[d][i + 1] = x[d][i] + 1 + 0.5 * test_random(&seed);
    if (t->graded) box.coordinates[d] = x[d];
  }
  assert_int_equal(tes_mesh_create_box(context, &box, &mesh), TES_OK);
  TesSpaceDesc space_desc = {.mesh = mesh, .degree = t->degree};
  for (int f = 0; f < 6; f++) space_desc.natural[f] = t->natural >> f & 1;
  assert_int_equal(tes_space_create(context, &space_desc, &space), TES_OK);
  TesDiffusionDesc desc = {.space = space, .precision = t->precision, .form = TES_FORM_SEPARABLE};
  assert_int_equal(tes_function_create_constant(context, t->a, &a), TES_OK);
  assert_int_equal(tes_function_create_constant(context, t->c, &c), TES_OK);
  desc.a = a, desc.c = c;
  for (int f = 0; f < 6; f++) {
    assert_int_equal(tes_function_create_constant(context, t->alpha * (1 + f), &alpha[f]), TES_OK);
    if (space_desc.natural[f] && f < 2 * t->dim && t->alpha != 0) desc.alpha[f] = alpha[f];
  }
  assert_int_equal(tes_operator_create_diffusion(context, &desc, &op), TES_OK);
  for (int f = 0; f < 6; f++) tes_function_destroy(&alpha[f]);
  tes_function_destroy(&a), tes_function_destroy(&c);
  tes_space_destroy(&space), tes_mesh_destroy(&mesh);
  for (int d = 0; d < 3; d++) free(x[d]);
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

/* y_i = sum over d of K_d (x) M_others, entry by entry. */
static void plain_is_the_kronecker_product(void **state) {
  static const Case cases[] = {
      {2, 3, {2, 3, 1}, 0, true, 1, 0, 0, TES_DOUBLE},
      {2, 2, {3, 1, 1}, 0x5, true, 2.5, 0.75, 1.5, TES_DOUBLE},
      {3, 2, {2, 1, 3}, 0x12, true, 0.5, 3, 0.25, TES_DOUBLE},
      {3, 4, {1, 2, 1}, 0x3f, false, 1, 0, 0, TES_DOUBLE},
  };
  TesContext *context;
  (void)state;
  assert_int_equal(tes_context_create(NULL, &context, NULL, 0), TES_OK);
  for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
    TesOperator *op = make_operator(context, &cases[t]);
    const TesSpace *space = op->space;
    const int64_t n = space->length;
    double *K[3], *M[3], one = 1, zero = 0;
    for (int d = 0; d < 3; d++) {
      const size_t nodes = (size_t)space->axis[d].nodes;
      K[d] = malloc(nodes * nodes * sizeof *K[d]), M[d] = malloc(nodes * nodes * sizeof *M[d]);
      if (d < space->dim)
        assert_int_equal(tesi_operator_axis_matrices(op, d, K[d], M[d]), TES_OK);
      else
        *K[d] = zero, *M[d] = one;
    }
    double *x = malloc((size_t)n * sizeof *x), *y = malloc((size_t)n * sizeof *y);
    randomize(space, 7 + t, x);
    assert_int_equal(op->table->apply_ref(op, x, y), TES_OK);
    for (int64_t i = 0; i < n; i++) {
      double sum = 0;
      for (int64_t j = 0; j < n; j++) {
        double m[3], k[3];
        int64_t ri = i, rj = j;
        for (int d = 0; d < 3; d++) {
          const int nodes = space->axis[d].nodes;
          const int64_t entry = ri % nodes * nodes + rj % nodes;
          m[d] = M[d][entry], k[d] = K[d][entry], ri /= nodes, rj /= nodes;
        }
        sum += (k[0] * m[1] * m[2] + m[0] * k[1] * m[2] + m[0] * m[1] * k[2]) * x[j];
      }
      assert_near(y[i], is_unknown(space, i) ? sum : 0, 1e-12 * largest(n, y));
    }
    assert_true(tes_operator_singular(op) == (t == 3));
    free(x), free(y);
    for (int d = 0; d < 3; d++) free(K[d]), free(M[d]);
    tes_operator_destroy(&op);
  }
  assert_int_equal(tes_context_memory(context), 0);
  tes_context_destroy(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plain_is_the_kronecker_product),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
