/* Spreads vectors of a box with periodic directions to an open box, and sums them back: see src/space/periodic.h.
 * One thread per entry of the result; no shared memory. Bytes per entry: one number read, one written; sums also read
 * the base. Macros: real. */
#include "kernel.h"
#include "periodic_arguments.h"

#define THREADS 256

/* y <- x on all nodes of the open box. `own`: zero on nodes that are copies. */
TESK_KERNEL(tesk_periodic_spread, THREADS, 1, (const real *TESK_RESTRICT)x, (real *)y, (TeskPeriodic)r,
            (int)own) {
  const long long i = (long long)blockIdx.x * THREADS + threadIdx.x,
                  plane = (long long)r.count[0] * r.count[1];
  if (i >= plane * r.count[2]) return;
  const int at[3] = {(int)(i % r.count[0]), (int)(i % plane / r.count[0]), (int)(i / plane)};
  long long from = 0;
  int inside = 1;
  for (int d = 2; d >= 0; d--) {
    from = from * r.nodes[d] + (at[d] + r.shift[d]) % r.nodes[d];
    inside = inside && at[d] >= r.low[d] && at[d] < r.high[d];
  }
  y[i] = inside || !own ? x[from] : 0;
}

/* The first own node of the open box that is node i of a direction; beyond the last own node if there is none. */
TESK_DEVICE int first_copy(const TeskPeriodic *r, int d, int i) {
  const int n = r->nodes[d], offset = (i - r->shift[d] - r->low[d]) % n;
  return r->low[d] + (offset < 0 ? offset + n : offset);
}

/* x <- base + factor times the sum of the own copies in y; base NULL: zero. base may be x. */
TESK_KERNEL(tesk_periodic_collect, THREADS, 1, (const real *TESK_RESTRICT)y, (const real *)base, (real *)x,
            (TeskPeriodic)r, (real)factor) {
  const long long i = (long long)blockIdx.x * THREADS + threadIdx.x,
                  plane = (long long)r.nodes[0] * r.nodes[1];
  if (i >= plane * r.nodes[2]) return;
  const int first[3] = {first_copy(&r, 0, (int)(i % r.nodes[0])),
                        first_copy(&r, 1, (int)(i % plane / r.nodes[0])), first_copy(&r, 2, (int)(i / plane))};
  real sum = base ? base[i] : 0;
  for (int c = first[2]; c < r.high[2]; c += r.nodes[2])
    for (int b = first[1]; b < r.high[1]; b += r.nodes[1])
      for (int a = first[0]; a < r.high[0]; a += r.nodes[0])
        sum += factor * y[((long long)c * r.count[1] + b) * r.count[0] + a];
  x[i] = sum;
}
