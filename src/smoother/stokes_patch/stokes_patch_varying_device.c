/* Vertex patches of Stokes with a viscosity that varies on devices with kernels (src/kernels/stokes_patch.cu): of
 * each colour the scaled patches in one launch, as patches of constant viscosity c, and the exact patches in another
 * launch. */
#include "smoother/stokes_patch/stokes_patch_varying.h"

/* In each colour the scaled patches come first. */
static void list_places(TesiStokesVaryingPlan *p, TesiStokesPlace *place) {
  for (int colour = 0; colour < p->colours; colour++) {
    const int first = p->first[colour], end = p->first[colour + 1];
    int count[2] = {0, 0}; /* scaled, exact */
    for (int i = first; i < end; i++) p->scaled[colour] += !p->patch[i].exact;
    for (int i = first; i < end; i++) {
      TesiVaryingPatch *patch = &p->patch[i];
      const bool exact = patch->exact != NULL;
      if (!exact) tesi_stokes_varying_round(p, patch);
      TesiStokesPlace *to = &place[first + (exact ? p->scaled[colour] : 0) + count[exact]++];
      *to = (TesiStokesPlace){.nu = patch->c, .exact = patch->exact};
      for (int d = 0; d < 3; d++) to->vertex[d] = patch->vertex[d], to->kind[d] = patch->type[d];
    }
  }
}

TesStatus tesi_stokes_varying_patches_create(const TesSmoother *smoother, TesiStokesVaryingPlan *p) {
  const TesOperator *op = smoother->op;
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const int all = p->first[p->colours];
  TesiStokesPlace *place = NULL;
  TesiStokesKind *kind[3] = {NULL, NULL, NULL};
  TES_ALLOC(&p->scaled, p->colours);
  TES_ALLOC(&place, all);
  for (int d = 0; d < 3; d++)
    TES_TRY(tesi_stokes_patch_kinds(ctx, p->stokes->stokes.space, d, &p->axis[d], &kind[d]));
  list_places(p, place);
  TES_TRY(tesi_stokes_patches_create(op, op->precision, (const TesiStokesKind *const *)kind,
                                     (const int[]){p->axis[0].types, p->axis[1].types, p->axis[2].types},
                                     place, all, &p->patches));
done:
  for (int d = 0; d < 3; d++) tesi_free(ctx, &kind[d]);
  tesi_free(ctx, &place);
  return status;
}

TesStatus tesi_stokes_varying_patches_solve(TesContext *ctx, const TesiStokesVaryingPlan *p, int colour,
                                            const void *r, void *x) {
  TesStatus status = TES_OK;
  const int first = p->first[colour], scaled = p->scaled[colour], all = p->first[colour + 1] - first;
  if (scaled) TES_TRY(tesi_stokes_patches_solve(ctx, &p->patches, false, first, scaled, r, x));
  if (all > scaled)
    TES_TRY(tesi_stokes_patches_solve(ctx, &p->patches, true, first + scaled, all - scaled, r, x));
done:
  return status;
}
