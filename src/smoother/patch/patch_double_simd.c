/* The nested vertex-patch sweep in float64. */
#include "smoother/patch/patch_sweep_body.h"

void TESI_SIMD(tesk_patch_double)(const TesiPatchPlan *plan, const void *b, void *x, TesSweep sweep,
                                  bool zero_guess) {
  smooth_all(plan, b, x, sweep, zero_guess);
}

size_t TESI_SIMD(tesk_patch_work_double)(const TesiPatchPlan *plan) {
  Arena arena = {NULL, 0};
  Work work;
  place_work(plan, &arena, &work);
  return arena.used * sizeof(Real);
}
