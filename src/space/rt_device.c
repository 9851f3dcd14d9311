#include "space/rt_device.h"
#include <limits.h>
#include <string.h>

int64_t tesi_rt_largest(const TesiRt *rt) {
  int64_t most = 0;
  for (int p = 0; p < rt->parts; p++) most = tesi_rt_size(rt, p) > most ? tesi_rt_size(rt, p) : most;
  return most;
}

TesStatus tesi_rt_parts(TesContext *ctx, const TesiRt *rt, TeskParts *parts) {
  TesStatus status = TES_OK;
  TES_CHECK(tesi_rt_largest(rt) < INT_MAX, "a component has %lld unknowns, kernels number at most %d of them",
            (long long)tesi_rt_largest(rt), INT_MAX);
  *parts = (TeskParts){.dim = rt->dim};
  memcpy(parts->extent, rt->extent, sizeof parts->extent);
  for (int p = 0; p <= rt->parts; p++) parts->offset[p] = rt->offset[p];
done:
  return status;
}
