/* Sets y to zero inside the kernels that add to it, mapped.cu and mapped_layers.cu, which include this. If all blocks
 * run at the same time (MEET), they write zeros, and meet before they add; otherwise a separate pass does it. Macros:
 * THREADS, MEET. */
#ifndef TESK_MAPPED_ZEROS_H
#define TESK_MAPPED_ZEROS_H

/* MEET: zeros in y, then all blocks meet in a round, whose number this returns; they run at a time. */
TESK_DEVICE int make_zeros(const TeskMapped *a, real *y) {
  int round = 0;
#if MEET
  round = TESK_ACQUIRE(a->meeting + 1);
  for (long long i = (long long)blockIdx.x * THREADS + threadIdx.x, step = (long long)gridDim.x * THREADS;
       i < a->zeros; i += step)
    y[i] = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    TESK_FENCE();
    if (TESK_TAKE(a->meeting) == (int)gridDim.x - 1) {
      a->meeting[0] = 0;
      TESK_FENCE();
      (void)TESK_TAKE(a->meeting + 1);
    }
  }
#endif
  (void)a, (void)y;
  return round;
}

/* Until y is zero. */
TESK_DEVICE void await_zeros(const TeskMapped *a, int round) {
#if MEET
  while (TESK_ACQUIRE(a->meeting + 1) == round) {
  }
#endif
  (void)a, (void)round;
}

#endif
