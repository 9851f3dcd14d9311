/* Grid-stride loops, and sums over a block of THREADS threads. All threads get the same sum, the same in every run.
 * Define before: THREADS. */
#ifndef TESK_SUMS_H
#define TESK_SUMS_H

#define FOR_EACH(i, n)                                                                                       \
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x,                                       \
                 tesk_step = (long long)gridDim.x * blockDim.x;                                              \
       i < (n); i += tesk_step)

/* sums[0] <- the sum of the threads' values, for the first thread; sums[THREADS] in shared memory. */
TESK_DEVICE void add_to_first(double value, double *sums) {
  const int t = (int)threadIdx.x;
  sums[t] = value;
  for (int half = THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) sums[t] += sums[t + half];
  }
}

/* The same for all threads. */
TESK_DEVICE double add_threads(double value, double *sums) {
  add_to_first(value, sums);
  __syncthreads();
  value = sums[0];
  __syncthreads();
  return value;
}

/* The sum of partial[parts], for all threads. */
TESK_DEVICE double add_parts(const double *partial, int parts, double *sums) {
  double sum = 0;
  for (int i = (int)threadIdx.x; i < parts; i += THREADS) sum += partial[i];
  return add_threads(sum, sums);
}

#endif
