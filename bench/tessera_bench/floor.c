/* The floor of a cost on this machine: the larger of flops / peak and bytes / bandwidth. */
#include <math.h>
#include "bench.h"
#include "kernels/peak.h"

double bench_floor(TesContext *ctx, TesPrecision precision, TesCost cost, const char **bound) {
  static double peak[2], bandwidth; /* of the only context of a run */
  if (peak[precision] == 0 && bench_peak_flops(ctx, precision, &peak[precision]) != TES_OK) return NAN;
  if (bandwidth == 0 && bench_peak_bandwidth(ctx, &bandwidth) != TES_OK) return NAN;
  const double by_flops = cost.flops / peak[precision], by_bytes = cost.bytes / bandwidth;
  *bound = by_flops > by_bytes ? "flops" : "memory";
  return fmax(by_flops, by_bytes);
}
