/* Ranks that write into each other's memory meet within a kernel: flags announce that its blocks have written data for
 * other ranks, and the blocks wait for the flags of the others. So an exchange is one launch. The host ensures that all
 * blocks run at the same time, as they wait for each other. Define THREADS before. */
#ifndef TESK_LINKS_MEET_H
#define TESK_LINKS_MEET_H

/* All threads call this once per launch, between writing and reading; the last block announces the data. Blocks of
 * this rank are waited for too: numbers may arrive in memory that they still read. */
TESK_DEVICE void meet(TeskLinks links, unsigned round) {
  TESK_FENCE_SYSTEM();
  __syncthreads();
  if (threadIdx.x == 0 && TESK_TAKE((int *)links.round + 2) == (int)gridDim.x - 1) {
    links.round[2] = 0;
    TESK_FENCE_SYSTEM();
    *(volatile unsigned *)(links.round + 1) = round;
    for (int i = 0; i < links.links; i++) *(volatile unsigned *)links.to[i] = round;
  }
  for (int i = (int)threadIdx.x; i <= links.links; i += THREADS) {
    const volatile unsigned *flag = i < links.links ? links.from + 16 * i : links.round + 1;
    while ((int)(*flag - round) < 0) TESK_YIELD();
  }
  TESK_FENCE_SYSTEM();
  __syncthreads();
}

/* To be called at the end of the kernel. */
TESK_DEVICE void end_round(TeskLinks links, unsigned round) {
  __syncthreads();
  if (threadIdx.x == 0 && TESK_TAKE((int *)links.round + 3) == (int)gridDim.x - 1) {
    links.round[3] = 0;
    *links.round = round;
  }
}

#endif
