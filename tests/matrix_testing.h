/* Comparison of a matrix made by kernels with one made on the host. */
#ifndef TESI_MATRIX_TESTING_H
#define TESI_MATRIX_TESTING_H

#include "operator/assembled/matrix.h"
#include "device/device.h"
#include "tessera/tessera.h"
#include "testing.h"

static inline void *test_download(TesContext *ctx, const void *address, size_t bytes) {
  void *values = test_malloc(bytes);
  assert_int_equal(tesi_context_device(ctx)->to_host(ctx, values, address, bytes), TES_OK);
  return values;
}

/* The same pattern, the same values. */
static inline void test_compare_matrices(TesContext *ctx, const TesiMatrix *a, const TesiDeviceMatrix *b,
                                         double tolerance, const char *name) {
  double largest = 0, error = 0;
  assert_int_equal(a->rows, b->rows);
  assert_int_equal(a->entries, b->entries);
  int32_t *row = test_download(ctx, b->row, (size_t)(b->rows + 1) * sizeof *row),
          *column = test_download(ctx, b->column, (size_t)b->entries * sizeof *column);
  double *value = test_download(ctx, b->value, (size_t)b->entries * sizeof *value);
  for (int64_t i = 0; i <= a->rows; i++) assert_int_equal(a->row[i], row[i]);
  for (int64_t i = 0; i < a->entries; i++) {
    assert_int_equal(a->column[i], column[i]);
    largest = test_larger(largest, fabs(a->value[i]));
    error = test_larger(error, fabs(a->value[i] - value[i]));
  }
  if (!(error <= tolerance * largest))
    fail_msg("%s: entries of the matrix differ by %.3g of %.3g", name, error, largest);
  test_free(row);
  test_free(column);
  test_free(value);
}

#endif
