/* Run: ctest -R t4_mapped_device. Mapped operators on devices with kernels, through the public header, against the
 * plain version: on the emulator, and on a GPU where there is one. The kernels themselves: t4_mapped_kernels.
 * Brief: the first half of the cases, which has every value of every choice. */
#include <string.h>
#include "operator/mapped/mapped.h"
#include "operator/assembled/matrix.h"
#include "kernel_testing.h"
#include "matrix_testing.h"
#include "operator/mapped/mapped_desc.h"
#include "operator/operator.h"

static void must(TesContext *ctx, TesStatus status) {
  if (status != TES_OK) fail_msg("%s\n%s", tes_context_message(ctx), tes_context_trace(ctx));
}

static TesMesh *make_mesh(TesContext *ctx, int dim, bool affine) {
  TesMesh *mesh;
  const TesMeshDesc desc = {.kind = TES_MESH_CELLS,
                            .dim = dim,
                            .cells = {3, 2, 2},
                            .upper = {1, 0.8, 1.3},
                            .seed = 11,
                            .perturbation = affine ? 0 : 0.15};
  must(ctx, tes_mesh_create(ctx, &desc, &mesh));
  return mesh;
}

static void check_matrix(TesContext *ctx, const TesOperator *op, double tolerance) {
  TesiMatrix a;
  TesiDeviceMatrix b;
  must(ctx, tesi_mapped_assemble(op, &a));
  must(ctx, tesi_mapped_assemble_device(op, &b));
  test_compare_matrices(ctx, &a, &b, tolerance, tes_operator_info(op).description);
  tesi_device_matrix_destroy(op, &b);
  tesi_matrix_destroy(op->context, &a);
}

/* Of two vectors, over the largest entry. */
static double difference(const TesVector *y, const TesVector *z) {
  const int64_t n = tes_vector_length(y);
  double *a = test_malloc((size_t)n * sizeof *a), *b = test_malloc((size_t)n * sizeof *b), most = 0, size = 0;
  assert_int_equal(tes_vector_get(y, a), TES_OK);
  assert_int_equal(tes_vector_get(z, b), TES_OK);
  for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(a[i] - b[i])), size = fmax(size, fabs(b[i]));
  test_free(a);
  test_free(b);
  return most / size;
}

/* apply, residual (in place too), and the diagonal as e_i A e_i for a few rows. Factors in float16 are 2^-12 off at
 * most, each: far from the plain version's, and as close. */
static void check(TesContext *ctx, const TesiMappedDesc *desc) {
  TesOperator *op;
  must(ctx, tesi_mapped_create(ctx, desc, &op));
  const bool halves = desc->factors == TES_FACTORS_HALVES;
  const double round = desc->precision == TES_DOUBLE ? 1e-12 : 2e-5, tolerance = halves ? 1e-3 : round;
  const char *const name = tes_operator_info(op).description;
  const int64_t n = tes_operator_info(op).length;
  TesVector *x = test_vector_of(ctx, op, 1), *b = test_vector_of(ctx, op, 2), *y = test_vector_of(ctx, op, 3),
            *z = test_vector_of(ctx, op, 4);
  must(ctx, tes_vector_fill(y, NAN));
  must(ctx, tes_operator_apply(op, x, y));
  must(ctx, tesi_operator_apply_ref(op, x, z));
  test_compare(y, z, tolerance, name, desc->degree);
  if (halves) assert_true(difference(y, z) > 1e-5);
  must(ctx, tes_vector_xpay(b, -1, z)); /* z = b - A x */
  must(ctx, tes_vector_fill(y, NAN));
  must(ctx, tes_operator_residual(op, b, x, y));
  test_compare(y, z, tolerance, name, desc->degree);
  must(ctx, tes_operator_residual(op, b, x, b));
  test_compare(b, z, tolerance, name, desc->degree);
  must(ctx, tes_vector_fill(z, NAN));
  must(ctx, tes_operator_diagonal(op, z));
  double *unit = test_calloc((size_t)n, sizeof *unit), *diagonal = test_malloc((size_t)n * sizeof *diagonal);
  must(ctx, tes_vector_get(z, diagonal));
  for (int64_t i = n / 5; i < n; i += n / 3 + 1) {
    unit[i] = 1;
    must(ctx, tes_vector_set(x, unit));
    must(ctx, tes_operator_apply(op, x, y));
    must(ctx, tes_vector_get(y, unit));
    if (!(fabs(unit[i] - diagonal[i]) <= round * fabs(diagonal[i])))
      fail_msg("%s: diagonal entry %lld is %.17g, A e gives %.17g", name, (long long)i, diagonal[i], unit[i]);
    memset(unit, 0, (size_t)n * sizeof *unit);
  }
  if (desc->form == TESI_GLOBAL_VECTORS && desc->degree < 4) check_matrix(ctx, op, tolerance);
  test_free(unit);
  test_free(diagonal);
  tes_vector_destroy(&x);
  tes_vector_destroy(&b);
  tes_vector_destroy(&y);
  tes_vector_destroy(&z);
  tes_operator_destroy(&op);
}

static int degree_of(int i) {
  return 1 + i % 4;
}

/* Case i: forms, terms, points, factors, components, precisions, conflicts, boundary, in turns that meet. */
/* a <- [[a, a / 4, 0], [a / 4, 2, 0], [0, 0, a]] */
static void make_matrix(TesContext *ctx, int dim, TesFunction **a) {
  TesFunction *beside, *two, *matrix;
  must(ctx, tes_function_create_expression(ctx, "(1 + x*x + 0.3*y) / 4", &beside));
  must(ctx, tes_function_create_constant(ctx, 2, &two));
  const TesFunction *of_3d[9] = {*a, beside, NULL, beside, two, NULL, NULL, NULL, *a},
                    *of_2d[4] = {*a, beside, beside, two};
  must(ctx, tes_function_create_matrix(ctx, dim, dim == 3 ? of_3d : of_2d, &matrix));
  tes_function_destroy(a), tes_function_destroy(&beside), tes_function_destroy(&two);
  *a = matrix;
}

static void check_case(TesContext *ctx, int i) {
  const int dim = 2 + i % 2, factors = i / 2 % 4;
  TesMesh *g = make_mesh(ctx, dim, factors == TES_FACTORS_AFFINE);
  TesFunction *a = NULL;
  TesiMappedDesc desc = {.mesh = g,
                         .degree = degree_of(i),
                         .terms = (TesiMappedTerms)(1 + i % 3),
                         .collocated = i / 3 % 2,
                         .components = 1 + i / 4 % 4,
                         .lambda = 1.7,
                         .precision = i % 5 == 3 ? TES_SINGLE : TES_DOUBLE,
                         .form = i % 7 < 2 ? TESI_ELEMENT_VECTORS : TESI_GLOBAL_VECTORS,
                         .factors = (TesFactors)factors,
                         .conflicts = (TesConflicts)(i / 5 % 3),
                         .numbering = {.order = (TesNumberingOrder)(i % 3), .seed = 3, .dirichlet = i / 2 % 2}};
  if (factors == TES_FACTORS_STORED) {
    must(ctx, tes_function_create_expression(ctx, "1 + x*x + 0.3*y", &a));
    if (i % 3 == 0) make_matrix(ctx, dim, &a);
    desc.a = a;
  } else if (factors != TES_FACTORS_AUTO) {
    must(ctx, tes_function_create_constant(ctx, 2.5, &a));
    desc.a = a;
  }
  check(ctx, &desc);
  tes_function_destroy(&a);
  tes_mesh_destroy(&g);
}

/* Cells of one mesh, 1e9 times as small in the last turn. */
static void check_halves(TesContext *ctx, int i) {
  TesMesh *g;
  TesFunction *a = NULL;
  const double unit = i == 7 ? 1e-9 : 1;
  must(ctx, tes_mesh_create(ctx,
                            &(TesMeshDesc){.kind = TES_MESH_CELLS,
                                           .dim = 3,
                                           .cells = {3, 2, 2},
                                           .upper = {unit, 0.01 * unit, 1.3 * unit},
                                           .seed = 11,
                                           .perturbation = 0.15},
                            &g));
  must(ctx, tes_function_create_expression(ctx, i == 7 ? "1" : "1 + x*x + 0.3*y", &a));
  if (i % 3 == 1 && i < 7) make_matrix(ctx, 3, &a);
  check(ctx, &(TesiMappedDesc){.mesh = g,
                               .degree = degree_of(i),
                               .terms = i % 2 ? TESI_STIFFNESS : TESI_STIFFNESS_MASS,
                               .points = degree_of(i) + 1 + i / 4,
                               .collocated = i == 2,
                               .components = 1 + i % 3,
                               .lambda = 1.7,
                               .a = a,
                               .precision = TES_SINGLE,
                               .form = i == 3 ? TESI_ELEMENT_VECTORS : TESI_GLOBAL_VECTORS,
                               .factors = TES_FACTORS_HALVES,
                               .conflicts = (TesConflicts)(i % 3),
                               .numbering = {.dirichlet = i / 2 % 2 && i < 7}});
  tes_function_destroy(&a);
  tes_mesh_destroy(&g);
}

static void factors_in_float16_are_as_close_as_they_say(void **state) {
  (void)state;
  static const char *const devices[] = {"emulator", "cuda"};
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    if (!ctx) continue;
    for (int i = 0; i < 8; i++)
      if (test_degree(degree_of(i))) check_halves(ctx, i);
    tes_context_destroy(&ctx);
  }
}

static void kernels_equal_the_plain_operator(void **state) {
  (void)state;
  enum { CASES = 40 };
  static const char *const devices[] = {"emulator", "cuda"};
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    if (!ctx) continue;
    for (int i = 0; i < (test_brief() ? CASES / 2 : CASES); i++)
      if (test_degree(degree_of(i))) check_case(ctx, i);
    tes_context_destroy(&ctx);
  }
}

/* What kernels do not have is refused, by name. */
static void refusals_tell_why(void **state) {
  (void)state;
  TesContext *ctx = test_device("emulator");
  if (!ctx) return;
  TesMesh *g = make_mesh(ctx, 3, false);
  TesOperator *op;
  TesiMappedDesc desc = {.mesh = g, .degree = 2, .factors = TES_FACTORS_MATRIX};
  assert_int_not_equal(tesi_mapped_create(ctx, &desc, &op), TES_OK);
  assert_null(op);
  assert_non_null(strstr(tes_context_message(ctx), "matrix"));
  desc.factors = TES_FACTORS_HALVES;
  tesi_context_forget(ctx);
  assert_int_not_equal(tesi_mapped_create(ctx, &desc, &op), TES_OK);
  assert_non_null(strstr(tes_context_message(ctx), "float32"));
  TesFunction *entry[4] = {NULL}, *sheared;
  const double value[4] = {1, 0.995, 0.999, 1}; /* determinant 0.01 */
  for (int i = 0; i < 4; i++) must(ctx, tes_function_create_constant(ctx, value[i], &entry[i]));
  must(ctx, tes_function_create_matrix(ctx, 3,
                                       (const TesFunction *[]){entry[0], entry[1], NULL, entry[1], entry[3],
                                                               NULL, NULL, NULL, entry[0]},
                                       &sheared));
  desc.a = sheared, desc.precision = TES_SINGLE;
  tesi_context_forget(ctx);
  assert_int_equal(tesi_mapped_create(ctx, &desc, &op), TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "sheared"));
  tes_function_destroy(&sheared);
  for (int i = 0; i < 4; i++) tes_function_destroy(&entry[i]);
  tes_mesh_destroy(&g);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_equal_the_plain_operator),
                                     cmocka_unit_test(factors_in_float16_are_as_close_as_they_say),
                                     cmocka_unit_test(refusals_tell_why)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
