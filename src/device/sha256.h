/* SHA-256 (FIPS 180-4): keys and checksums of the kernel cache. */
#ifndef TESI_SHA256_H
#define TESI_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct TesiSha256 {
  uint32_t state[8];
  uint64_t length; /* bytes so far */
  unsigned char block[64];
  size_t used; /* bytes in block */
} TesiSha256;

void tesi_sha256_init(TesiSha256 *sha);
void tesi_sha256_add(TesiSha256 *sha, const void *data, size_t bytes);
/* 64 hexadecimal digits and a zero. The state cannot be used afterwards. */
void tesi_sha256_hex(TesiSha256 *sha, char hex[65]);

#endif
