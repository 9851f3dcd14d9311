/* Reproducible random numbers: a hash of 64 bits (the finalizer of splitmix64), so that they do not depend on the order
 * of computation. */
#ifndef TESI_RANDOM_H
#define TESI_RANDOM_H

#include <stdint.h>

static inline uint64_t tesi_random_mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static inline uint64_t tesi_random_hash(uint64_t x) {
  return tesi_random_mix(x + 0x9e3779b97f4a7c15u);
}

/* Uniform in [0, 1). */
static inline double tesi_random_unit(uint64_t x) {
  return (double)(tesi_random_hash(x) >> 11) * 0x1p-53;
}

/* A random permutation of list[n]. */
static inline void tesi_random_shuffle(uint64_t seed, int64_t n, int32_t *list) {
  for (int64_t i = n - 1; i > 0; i--) {
    const int64_t j = (int64_t)(tesi_random_hash(seed ^ tesi_random_hash((uint64_t)i)) % (uint64_t)(i + 1));
    const int32_t swap = list[i];
    list[i] = list[j];
    list[j] = swap;
  }
}

#endif
