/* What the tests of kernels share, besides devices: boxes of equal cells, random vectors, comparison by the largest
 * relative difference. */
#ifndef TESI_KERNEL_TESTING_H
#define TESI_KERNEL_TESTING_H

#include <stdlib.h>
#include <string.h>
#include "operator_testing.h"
#include "device_testing.h"

static inline TesSpace *test_box_space(TesContext *ctx, int dim, int degree, const int *cells) {
  TesMesh *mesh;
  TesSpace *space;
  TesMeshDesc box = {.dim = dim, .lower = {0, 0, 0}, .upper = {1.1, 0.8, 0.9}};
  for (int d = 0; d < dim; d++) box.cells[d] = cells[d];
  assert_int_equal(tes_mesh_create(ctx, &box, &mesh), TES_OK);
  const TesSpaceDesc desc = {.mesh = mesh, .degree = degree};
  assert_int_equal(tes_space_create(ctx, &desc, &space), TES_OK);
  tes_mesh_destroy(&mesh);
  return space;
}

static inline TesOperator *test_operator(TesContext *ctx, TesSpace *space, double a, double c,
                                         TesPrecision precision) {
  TesFunction *fa, *fc;
  TesOperator *op;
  assert_int_equal(tes_function_create_constant(ctx, a, &fa), TES_OK);
  assert_int_equal(tes_function_create_constant(ctx, c, &fc), TES_OK);
  const TestDiffusion desc = {.space = space, .a = fa, .c = fc, .precision = precision};
  const TesStatus status = test_operator_create(ctx, &desc, &op);
  if (status != TES_OK) fail_msg("%s", tes_context_message(ctx));
  tes_function_destroy(&fa);
  tes_function_destroy(&fc);
  return op;
}

/* Random at unknowns, zero at Dirichlet nodes. */
static inline TesVector *test_random_vector(TesContext *ctx, TesSpace *space, TesPrecision precision,
                                            uint64_t *seed) {
  TesVector *v;
  const int64_t n = tes_space_length(space);
  double *values = test_malloc((size_t)n * sizeof *values);
  const int64_t nodes[3] = {tes_space_nodes_along(space, 0), tes_space_nodes_along(space, 1),
                            tes_space_nodes_along(space, 2)};
  for (int64_t i = 0; i < n; i++) {
    const int64_t at[3] = {i % nodes[0], i / nodes[0] % nodes[1], i / nodes[0] / nodes[1]};
    values[i] = (double)(float)test_random(seed);
    for (int d = 0; d < tes_mesh_info(tes_space_mesh(space)).dim; d++)
      if ((at[d] == 0 && tes_space_given(space, (TesFace)(2 * d))) ||
          (at[d] == nodes[d] - 1 && tes_space_given(space, (TesFace)(2 * d + 1))))
        values[i] = 0;
  }
  assert_int_equal(tes_vector_create(ctx, n, precision, &v), TES_OK);
  assert_int_equal(tes_vector_set(v, values), TES_OK);
  test_free(values);
  return v;
}

/* max |a - b| <= tolerance max |b| */
static inline void test_compare(const TesVector *a, const TesVector *b, double tolerance, const char *what,
                                int degree) {
  const int64_t n = tes_vector_length(a);
  double *x = test_malloc((size_t)n * sizeof *x), *y = test_malloc((size_t)n * sizeof *y), largest = 0,
         error = 0;
  int64_t at = 0;
  assert_int_equal(tes_vector_get(a, x), TES_OK);
  assert_int_equal(tes_vector_get(b, y), TES_OK);
  for (int64_t i = 0; i < n; i++) {
    if (!(fabs(x[i] - y[i]) <= error) && !isnan(error)) at = i;
    largest = test_larger(largest, fabs(y[i]));
    error = test_larger(error, fabs(x[i] - y[i]));
  }
  if (!(error <= tolerance * largest))
    fail_msg("%s, degree %d, %s: error %.3g of %.3g at entry %lld of %lld", what, degree,
             tes_vector_precision(a) == TES_DOUBLE ? "float64" : "float32", error, largest, (long long)at,
             (long long)n);
  test_free(x);
  test_free(y);
}

#endif
