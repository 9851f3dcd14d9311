/* A small kernel with selectable faults; the emulator's test must find each of them. y <- each chunk of x reversed
 * twice, with a shift between. FAULT 0: none, 1: first barrier missing, 2: second barrier missing, 3: wrong index, 4:
 * last output unwritten, 5: divergent barrier. Macros: real, CHUNK, FAULT. */
#include "kernel.h"

TESK_KERNEL(tesk_selftest, CHUNK, 1, (const real *)x, (real *)y) {
  TESK_SHARED(s);
  const int t = (int)threadIdx.x;
  const long long first = (long long)blockIdx.x * CHUNK;
  s[t] = x[first + t];
#if FAULT != 1
  __syncthreads();
#endif
  const real reversed = s[CHUNK - 1 - t] + s[(t + (FAULT == 3)) % CHUNK];
#if FAULT == 5
  if (t > 0)
#elif FAULT != 2
  if (t >= 0)
#else
  if (t < 0)
#endif
    __syncthreads();
  s[t] = reversed;
  __syncthreads();
  if (FAULT != 4 || t < CHUNK - 1) y[first + t] = s[(t + 1) % CHUNK];
}
