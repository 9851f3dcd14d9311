/* Values of functions at listed nodes of boundaries, one thread per node. The functions are tesk_value(number, x, y, z,
 * t) of "tables.h"; the time is in `when`. Bytes per node: 44. Cost: the evaluations of the functions. No shared
 * memory.
 *   tesk_give         u <- the value of function number[i] at node[i]
 *   tesk_take_given   u <- 0 there
 * x[3][count]. Macros: real = double. */
#include "kernel.h"
#include "tables.h"
#include "clock.h"

#define EACH(i)                                                                                              \
  for (long long i = (long long)blockIdx.x * 256 + threadIdx.x; i < count; i += (long long)gridDim.x * 256)

TESK_KERNEL(tesk_give, 256, 1, (double *)u, (const long long *)node, (const int *)number, (const double *)x,
            (long long)count, (TeskClock *)when) {
  const double time = when->time;
  EACH(i) {
    const double value = tesk_value(number[i], x[i], x[count + i], x[2 * count + i], time);
    if (!(value - value == 0)) when->refused = 1;
    u[node[i]] = value;
  }
}

TESK_KERNEL(tesk_take_given, 256, 1, (double *)u, (const long long *)node, (long long)count) {
  EACH(i) u[node[i]] = 0;
}
