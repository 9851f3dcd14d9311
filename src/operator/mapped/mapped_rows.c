/* An index whose rows in x are consecutive nodes needs one number per row. This takes a fifth to a third of the bytes
 * of one int32 per node. */
#include "operator/mapped/device/mapped_kernel.h"

/* The code of a row (row_node() of src/kernels/mapped.cu). False if there is none. The ends of a row may be
 * constrained, or all nodes. */
static bool code_row(const int32_t *row, int n, int32_t *code) {
  const int32_t first = row[0] < 0 ? ~row[0] : row[0];
  int constrained = 0;
  for (int i = 0; i < n; i++) {
    if ((row[i] < 0 ? ~row[i] : row[i]) != first + i) return false;
    constrained += row[i] < 0;
  }
  const int ends = (row[0] < 0) + 2 * (row[n - 1] < 0);
  *code = constrained == n ? ~first : 4 * first + ends;
  return constrained == n || (constrained == (ends & 1) + (ends >> 1) && first < INT32_MAX / 4 - n);
}

bool tesi_mapped_find_rows(const int32_t *index, int n, int64_t rows, int32_t *code) {
  for (int64_t i = 0; i < rows; i++)
    if (!code_row(index + i * n, n, &code[i])) return false;
  return true;
}
