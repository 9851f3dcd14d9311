/* Orders for qsort() and bsearch(): by the number that an item is or begins with, ascending. */
#ifndef TESI_ASCENDING_H
#define TESI_ASCENDING_H

#include <stdint.h>

static inline int tesi_ascending_int32(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

static inline int tesi_ascending_int64(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static inline int tesi_ascending_uint64(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static inline int tesi_ascending_double(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Lists of `count` numbers, the first that differ decide. */
static inline int tesi_ascending_list(const int32_t *a, const int32_t *b, int count) {
  for (int i = 0; i < count; i++)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  return 0;
}

/* A few numbers. */
static inline void tesi_sort_few(int count, int32_t *v) {
  for (int i = 1; i < count; i++)
    for (int j = i; j > 0 && v[j] < v[j - 1]; j--) {
      const int32_t swap = v[j];
      v[j] = v[j - 1], v[j - 1] = swap;
    }
}

#endif
