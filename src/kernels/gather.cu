/* Sums the values that cells store in their own array, node by node, in an order that does not depend on the blocks.
 * One thread per node; blockIdx.y: number of the vector in values[vectors][places].
 * No shared memory; the index and one sum in registers. Bytes per node: y and first, and for each of its places a
 * value and its number. Macros: real. */
#include "kernel.h"

#define THREADS 256

/* y <- for each node the sum over its places in the cells, entry[first[node]] .. ; without any: zero. */
TESK_KERNEL(tesk_gather, THREADS, 1, (const real *TESK_RESTRICT)values, (real *)y,
            (const int *TESK_RESTRICT)first, (const int *TESK_RESTRICT)entry, (int)nodes, (long long)places) {
  const int node = (int)(blockIdx.x * THREADS + threadIdx.x);
  if (node >= nodes) return;
  real sum = 0;
  values += blockIdx.y * places;
  for (int e = first[node]; e < first[node + 1]; e++) sum += values[entry[e]];
  y[(long long)blockIdx.y * nodes + node] = sum;
}
