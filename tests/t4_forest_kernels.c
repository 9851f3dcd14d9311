/* Run: ctest -R t4_forest_kernels. Mapped operators with hanging nodes on devices with kernels, on random forests
 * of trees in random orientations, against the plain version and the assembled matrix: every degree, geometries,
 * terms, points, precisions, conflicts; on the emulator, and on a GPU where there is one. Brief: all, in the plane
 * on a quarter of the cells.
 * Quick: 1-3,6
 * Labels: heavy */
#include "operator/mapped/mapped.h"
#include "operator/assembled/matrix.h"
#include "forest_testing.h"
#include "kernel_testing.h"
#include "matrix_testing.h"
#include "operator/operator.h"

/* Lattices of trees, refined at random till there are about `cells` cells; curved: a ball. */
static TestMesh make_mesh(TesContext *ctx, int dim, int degree, int cell_degree, int64_t cells, bool affine,
                          bool curved, uint64_t seed) {
  static const char *const low[] = {"low", NULL};
  TesMesh *forest = curved ? test_ball(ctx, dim) : NULL;
  if (!curved)
    test_lattice(ctx, dim, (const int[3]){2, 2, degree < 5 ? 2 : 1}, affine ? 0 : 0.15, &seed, &forest);
  test_refine(ctx, &seed, 0.3, cells, &forest);
  return test_mesh(ctx, forest, degree, cell_degree, curved ? NULL : low);
}

/* z <- A x and d <- the diagonal, by the assembled matrix; by_kernels: which is compared with the one made by
 * kernels. */
static void multiply(TesContext *ctx, const TesOperator *op, const TesVector *x, TesVector *z, TesVector *d,
                     bool by_kernels) {
  const int64_t n = tes_operator_info(op).length;
  double *u = test_malloc((size_t)n * sizeof *u), *v = test_malloc((size_t)n * sizeof *v);
  TesiMatrix matrix;
  assert_ok(ctx, tesi_mapped_assemble(op, &matrix));
  assert_ok(ctx, tes_vector_get(x, u));
  tesi_matrix_apply(ctx, &matrix, u, v);
  assert_ok(ctx, tes_vector_set(z, v));
  for (int64_t i = 0; i < n; i++)
    for (int64_t e = matrix.row[i]; e < matrix.row[i + 1]; e++)
      if (matrix.column[e] == i) v[i] = matrix.value[e];
  assert_ok(ctx, tes_vector_set(d, v));
  if (by_kernels) {
    TesiDeviceMatrix made;
    assert_ok(ctx, tesi_mapped_assemble_device(op, &made));
    test_compare_matrices(ctx, &matrix, &made, tes_operator_info(op).precision == TES_DOUBLE ? 1e-12 : 1e-5,
                          tes_operator_info(op).description);
    tesi_device_matrix_destroy(op, &made);
  }
  tesi_matrix_destroy(op->context, &matrix);
  test_free(u);
  test_free(v);
}

static void check(TesContext *ctx, const TesiMappedDesc *desc, bool assemble) {
  const double tolerance = desc->precision == TES_DOUBLE         ? 1e-12
                           : desc->factors == TES_FACTORS_HALVES ? 1e-3
                                                                 : 1e-5;
  TesOperator *op;
  assert_ok(ctx, tesi_mapped_create(ctx, desc, &op));
  const char *const name = tes_operator_info(op).description;
  TesVector *x = test_vector_of(ctx, op, 1), *b = test_vector_of(ctx, op, 2), *y = test_vector_of(ctx, op, 0),
            *z = test_vector_of(ctx, op, 0), *d = test_vector_of(ctx, op, 0);
  assert_ok(ctx, tes_operator_apply(op, x, y));
  assert_ok(ctx, tesi_operator_apply_ref(op, x, z));
  test_compare(y, z, tolerance, name, desc->degree);
  if (assemble) {
    multiply(ctx, op, x, z, d, desc->degree < 4);
    test_compare(y, z, tolerance, name, desc->degree);
    assert_ok(ctx, tes_vector_fill(y, NAN));
    assert_ok(ctx, tes_operator_diagonal(op, y));
    test_compare(y, d, tolerance, name, desc->degree);
  }
  assert_ok(ctx, tes_operator_residual(op, b, x, d));
  assert_ok(ctx, tes_vector_xpay(b, -1, z)); /* z = b - A x */
  test_compare(d, z, tolerance, name, desc->degree);
  tes_vector_destroy(&x);
  tes_vector_destroy(&b);
  tes_vector_destroy(&y);
  tes_vector_destroy(&z);
  tes_vector_destroy(&d);
  tes_operator_destroy(&op);
}

/* Case i: what the kernels know, in turns that meet. Returns how many nodes hang. */
static int64_t check_case(TesContext *ctx, TesFactors factors, int dim, int degree, int i) {
  const bool weights = factors == TES_FACTORS_WEIGHTS, halves = factors == TES_FACTORS_HALVES,
             varies = factors == TES_FACTORS_STORED || weights || halves, curved = varies && i % 2;
  /* cells of second degree on lattices are multilinear but for rounding */
  const int cell_degree = curved || (weights && i % 4 == 2) ? 2 : 1;
  const int64_t few = degree < 3   ? 40
                      : degree < 5 ? 20
                                   : 9,
                cells = dim == 3 ? few : (test_brief() ? 3 : 6) * few;
  TestMesh m = make_mesh(ctx, dim, degree, cell_degree, cells, factors == TES_FACTORS_AFFINE, curved,
                         (uint64_t)(97 * i + degree));
  TesFunction *a, *c;
  assert_ok(ctx, tes_function_create_expression(ctx, varies ? "1 / (0.05 + 2*(x*x + y*y + z*z))" : "2.5", &a));
  assert_ok(ctx, tes_function_create_expression(ctx, varies ? "1 + x*x" : "0.7", &c));
  const TesiMappedDesc desc = {
      .mesh = m.forest,
      .degree = degree,
      .terms = (TesiMappedTerms)(weights || halves ? 1 + 2 * (i / 2 % 2) : 1 + (i + degree) % 3),
      .points = degree + 1 + i / 2 % 2,
      .collocated = i % 5 == 4,
      .lambda = 1.3,
      .a = a,
      .c = c,
      .precision = halves || i % 4 == 3 ? TES_SINGLE : TES_DOUBLE,
      .index = m.space->view->index,
      .nodes = tes_space_length(m.space),
      .masks = m.space->view->mask,
      .factors = factors,
      .conflicts = i % 7 == 6 ? TES_CONFLICTS_COLOURS : TES_CONFLICTS_ATOMIC};
  check(ctx, &desc, (degree < 5 || dim == 2) && !halves); /* twins are assembled of float64 factors */
  const int64_t hanging = tes_space_hanging(m.space);
  tes_function_destroy(&a);
  tes_function_destroy(&c);
  test_mesh_free(&m);
  return hanging;
}

static void equal_the_plain_operator(void **state) {
  (void)state;
  static const char *const devices[] = {"emulator", "cuda"};
  for (int device = 0; device < 2; device++) {
    TesContext *ctx = test_device(devices[device]);
    if (!ctx) continue;
    if (!test_has_forests(ctx)) skip();
    int64_t hanging = 0;
    for (int dim = 2, i = 0; dim <= 3; dim++)
      for (int degree = 1; degree <= 8; degree++)
        for (int turn = 0; turn < (degree < 4 && !test_brief() ? 3 : 1); turn++, i++)
          if (test_degree(degree)) hanging += check_case(ctx, (TesFactors)(1 + i % 3), dim, degree, i);
    for (int dim = 2, i = 0; dim <= 3; dim++)
      for (int degree = 1; degree <= 8; degree++)
        for (int turn = 0; turn < (degree < 4 ? (test_brief() ? 2 : 4) : 1); turn++, i++)
          if (test_degree(degree)) hanging += check_case(ctx, TES_FACTORS_WEIGHTS, dim, degree, i);
    for (int degree = 1; degree <= 8; degree++)
      if (test_degree(degree)) hanging += check_case(ctx, TES_FACTORS_HALVES, 3, degree, degree + 2);
    assert_true(hanging > (test_brief() || getenv("TESSERA_TEST_DEGREES") ? 0 : 1000));
    tes_context_destroy(&ctx);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(equal_the_plain_operator)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
