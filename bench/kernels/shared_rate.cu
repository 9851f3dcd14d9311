/* Measures the rate at which a device reads its shared memory. Every thread reads 8 bytes in turn from each of PARTS
 * parts of it, without bank conflicts. The barrier prevents the compiler from reading only once for all rounds.
 * Bytes: 8 PARTS rounds per thread. Macros: real (double), PARTS. */
#include "kernel.h"

#define THREADS 256

TESK_KERNEL(tesk_shared_rate, THREADS, 6, (int)rounds, (real *)out) {
  TESK_SHARED(memory);
  const int t = (int)threadIdx.x;
  real sum = 0;
  for (int i = 0; i < PARTS; i++) memory[i * THREADS + t] = (real)(i + t);
  for (int round = 0; round < rounds; round++) {
    __syncthreads();
    TESK_UNROLL
    for (int i = 0; i < PARTS; i++) sum += memory[i * THREADS + t];
  }
  out[(long long)blockIdx.x * THREADS + t] = sum;
}
