/* Small functions of integers. */
#ifndef TESI_INTEGER_H
#define TESI_INTEGER_H

#include <stdint.h>

static inline int64_t tesi_max64(int64_t a, int64_t b) {
  return a > b ? a : b;
}
static inline int64_t tesi_min64(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static inline int64_t tesi_power(int64_t base, int exponent) {
  int64_t result = 1;
  for (int i = 0; i < exponent; i++) result *= base;
  return result;
}

/* The root of v in a forest of parents; shortens the paths on the way. */
static inline int32_t tesi_root_of(int32_t *parent, int32_t v) {
  while (parent[v] != v) v = parent[v] = parent[parent[v]];
  return v;
}

#endif
