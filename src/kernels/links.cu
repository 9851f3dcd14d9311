/* Ranks give numbers of a vector to each other: kernels pack the numbers of each link to another rank, and take the
 * numbers that have come. blockIdx.y is the link. Each thread moves one number at a time; no shared memory, no flops
 * but one addition per copy. Bytes per number: the number twice, and its index. Macros: real. */
#include "kernel.h"
#include "links_arguments.h"

#define THREADS 256

TESK_DEVICE real *out_of(TeskLinks links) {
  return (real *)links.out[(*links.round & 1) * gridDim.y + blockIdx.y];
}

TESK_DEVICE const real *in_of(TeskLinks links) {
  return (const real *)(links.in + ((*links.round + 1) & 1) * links.half); /* of the last round */
}

/* x at entry[first] .. entry[first of the next link - 1]. */
TESK_KERNEL(tesk_pack_entries, THREADS, 1, (const real *TESK_RESTRICT)x, (const int *TESK_RESTRICT)entry,
            (TeskLinks)links) {
  const long long first = links.first[blockIdx.y], count = links.first[blockIdx.y + 1] - first;
  real *to = out_of(links);
  for (long long i = blockIdx.x * THREADS + threadIdx.x; i < count; i += gridDim.x * THREADS)
    to[i] = x[entry[first + i]];
  TESK_FENCE_SYSTEM();
}

/* The same entries for each link: entry[count]. */
TESK_KERNEL(tesk_pack_for_all, THREADS, 1, (const real *TESK_RESTRICT)x, (const int *TESK_RESTRICT)entry,
            (long long)count, (TeskLinks)links) {
  real *to = out_of(links);
  for (long long i = blockIdx.x * THREADS + threadIdx.x; i < count; i += gridDim.x * THREADS)
    to[i] = x[entry[i]];
  TESK_FENCE_SYSTEM();
}

/* to[i] <- x[entry[i]] */
TESK_KERNEL(tesk_pick_entries, THREADS, 1, (const real *TESK_RESTRICT)x, (const int *TESK_RESTRICT)entry,
            (long long)count, (real *)to) {
  for (long long i = blockIdx.x * THREADS + threadIdx.x; i < count; i += gridDim.x * THREADS)
    to[i] = x[entry[i]];
}

/* x[entry[i]] <- the sum of its copies, rank after rank: place[first[i]] .. is a number that came, or -1: x itself. */
TESK_KERNEL(tesk_sum_copies, THREADS, 1, (real *)x, (const int *TESK_RESTRICT)entry,
            (const int *TESK_RESTRICT)first, (const int *TESK_RESTRICT)place, (long long)count,
            (TeskLinks)links) {
  const real *in = in_of(links);
  for (long long i = blockIdx.x * THREADS + threadIdx.x; i < count; i += gridDim.x * THREADS) {
    real sum = 0;
    for (int c = first[i]; c < first[i + 1]; c++) sum += place[c] < 0 ? x[entry[i]] : in[place[c]];
    x[entry[i]] = sum;
  }
}

/* start[link], count[link]: a block of x. */
TESK_KERNEL(tesk_pack_blocks, THREADS, 1, (const real *TESK_RESTRICT)x, (const long long *TESK_RESTRICT)start,
            (const long long *TESK_RESTRICT)count, (TeskLinks)links) {
  const long long from = start[blockIdx.y], n = count[blockIdx.y];
  real *to = out_of(links);
  for (long long i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) to[i] = x[from + i];
  TESK_FENCE_SYSTEM();
}

TESK_KERNEL(tesk_take_blocks, THREADS, 1, (real *)x, (const long long *TESK_RESTRICT)start,
            (const long long *TESK_RESTRICT)count, (TeskLinks)links) {
  const long long to = start[blockIdx.y], n = count[blockIdx.y];
  const real *in = in_of(links) + links.first[blockIdx.y];
  for (long long i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) x[to + i] = in[i];
}

/* Between packing and taking, where ranks write into each other's memory: a thread a link, in one block. Tells the
 * others that what goes to them is there, waits until what comes from them is, and counts the round. A flag has 64
 * bytes to itself. All flags are set before one is waited for. */
TESK_KERNEL(tesk_meet, THREADS, 1, (unsigned *const *)to, (const unsigned *)from, (int)count,
            (TeskLinks)links) {
  const unsigned round = *links.round + 1;
  TESK_FENCE_SYSTEM();
  for (int i = (int)threadIdx.x; i < count; i += THREADS) *(volatile unsigned *)to[i] = round;
  __syncthreads();
  for (int i = (int)threadIdx.x; i < count; i += THREADS)
    while ((int)(*(const volatile unsigned *)(from + 16 * i) - round) < 0) TESK_YIELD();
  TESK_FENCE_SYSTEM();
  __syncthreads();
  if (threadIdx.x == 0) *links.round = round;
}

/* x[entry[i]] <- 0 */
TESK_KERNEL(tesk_clear_entries, THREADS, 1, (real *)x, (const int *TESK_RESTRICT)entry, (long long)count) {
  for (long long i = blockIdx.x * THREADS + threadIdx.x; i < count; i += gridDim.x * THREADS) x[entry[i]] = 0;
}
