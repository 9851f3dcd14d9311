/* Sums over all ranks by ranks that write into each other's memory (src/device/links.h), in one launch: one block adds
 * the parts of this rank's sums, puts them into the memory of all others, tells so by flags, waits for theirs, and
 * leaves the parts of all ranks, in their order, where its own parts were. Who adds these gets the same bits on every
 * rank. Bytes: the parts, and 8 a sum and rank. */
#include "kernel.h"
#include "links_arguments.h"

#define THREADS 256
#include "sums.h"

/* partial[sums][stride]: `parts` of each; then one of each rank. Link i is of rank i, or of i + 1 from `own` on. */
TESK_KERNEL(tesk_meet_sums, THREADS, 1, (int)sums, (int)parts, (int)stride, (int)own,
            (double *)partial, (unsigned *const *)to, (const unsigned *)from, (int)count, (TeskLinks)links) {
  TESK_SHARED(memory);
  const unsigned round = *links.round + 1;
  const volatile double *in = (const volatile double *)(links.in + ((round + 1) & 1) * links.half);
  for (int s = 0; s < sums; s++) {
    const double sum = add_parts(partial + (long long)s * stride, parts, (double *)memory);
    for (int i = (int)threadIdx.x; i < count; i += THREADS)
      ((volatile double *)links.out[(int)((round + 1) & 1) * count + i])[s] = sum;
    if (threadIdx.x == 0) partial[(long long)s * stride + own] = sum;
  }
  TESK_FENCE_SYSTEM();
  __syncthreads();
  for (int i = (int)threadIdx.x; i < count; i += THREADS) *(volatile unsigned *)to[i] = round;
  __syncthreads();
  for (int i = (int)threadIdx.x; i < count; i += THREADS)
    while ((int)(*(const volatile unsigned *)(from + 16 * i) - round) < 0) TESK_YIELD();
  TESK_FENCE_SYSTEM();
  __syncthreads();
  for (int i = (int)threadIdx.x; i < count; i += THREADS)
    for (int s = 0; s < sums; s++) partial[(long long)s * stride + i + (i >= own)] = in[links.first[i] + s];
  if (threadIdx.x == 0) *links.round = round;
}
