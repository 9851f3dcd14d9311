/* Hashes of bytes (FNV-1a), which begin with TESI_HASH. */
#ifndef TESI_HASH_H
#define TESI_HASH_H

#include <stddef.h>
#include <stdint.h>

#define TESI_HASH 0xcbf29ce484222325u

static inline uint64_t tesi_hash(uint64_t hash, const void *data, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) hash = (hash ^ ((const unsigned char *)data)[i]) * 0x100000001b3u;
  return hash;
}

#endif
