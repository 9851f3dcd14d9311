/* S^+ of all combinations of kinds, tile by tile in the order in which the kernel reads it: see stokes_lanes.h. */
#include "smoother/stokes_patch/stokes_lanes.h"

static int count_combinations(const TesiLanesKinds *k) {
  return k->count[0] * k->count[1] * k->count[2];
}

static void kinds_of(const TesiLanesKinds *k, int combination, int kind[3]) {
  kind[0] = combination % k->count[0];
  kind[1] = combination / k->count[0] % k->count[1];
  kind[2] = combination / k->count[0] / k->count[1];
}

static bool is_swapped(const TesiLanesKinds *k, const int kind[3]) {
  return kind[0] == k->swapped[0] && kind[1] == k->swapped[1] && kind[2] == k->swapped[2];
}

static void splits_of(const TesiLanesKinds *k, const int kind[3], bool split[3]) {
  for (int d = 0; d < 3; d++) split[d] = k->split[d][kind[d]];
}

/* The combination whose S^+ is used: its mirror image, if it has the same S^+, else the combination itself. */
static int keeper_of(const TesiLanesKinds *k, int combination) {
  int kind[3], image[3];
  kinds_of(k, combination, kind);
  for (int d = 0; d < 3; d++) image[d] = k->image[d][kind[d]];
  return is_swapped(k, image) == is_swapped(k, kind)
             ? image[0] + k->count[0] * (image[1] + k->count[1] * image[2])
             : combination;
}

static int64_t size_of(const TesiLanesKinds *k, TesiLanesShape shape, int combination) {
  int kind[3];
  bool split[3];
  kinds_of(k, combination, kind);
  splits_of(k, kind, split);
  return is_swapped(k, kind) ? tesi_lanes_swapped_size(shape) : tesi_lanes_inverse_size(shape, split);
}

static void fill_tiles(const TesiLanesKinds *k, TesiLanesShape shape, int combination, const double *S,
                       double *tiles) {
  int kind[3];
  bool split[3];
  kinds_of(k, combination, kind);
  splits_of(k, kind, split);
  if (is_swapped(k, kind))
    tesi_lanes_fill_swapped(shape, S, tiles);
  else
    tesi_lanes_fill_inverse(shape, split, S, tiles);
}

/* S[combination] <- S^+ of those that keep one, parity block after parity block. */
static TesStatus invert(TesContext *ctx, const TesiStokes *s, const TesiLanesKinds *k, double **S) {
  TesStatus status = TES_OK;
  TesiStokesLocal *local = NULL;
  TesiStokesInverse *one = NULL;
  TesiStokesBlock block[8];
  int count = 0;
  TES_ALLOC(&local, count_combinations(k));
  TES_ALLOC(&one, 8 * count_combinations(k));
  for (int i = 0; i < count_combinations(k); i++) {
    int kind[3];
    if (keeper_of(k, i) != i) continue;
    kinds_of(k, i, kind);
    local[i] = (TesiStokesLocal){.dim = 3, .nu = s->nu, .alpha = s->alpha, .closed = true};
    for (int d = 0; d < 3; d++) local[i].axis[d] = &k->local[d][kind[d]];
    const int blocks = tesi_stokes_local_blocks(&local[i], block);
    const int64_t size = (int64_t)block[0].size * block[0].size;
    TES_ALLOC(&S[i], blocks * size);
    for (int b = 0; b < blocks; b++) one[count++] = (TesiStokesInverse){&local[i], block[b], S[i] + b * size};
  }
  TES_TRY(tesi_stokes_local_invert_all(ctx, count, one));
done:
  tesi_free(ctx, &local);
  tesi_free(ctx, &one);
  return status;
}

TesStatus tesi_lanes_make_inverses(TesContext *ctx, const TesiStokes *s, const TesiLanesKinds *k,
                                   TesiLanesShape shape, int64_t *at, double **tiles, int64_t *numbers) {
  TesStatus status = TES_OK;
  const int count = count_combinations(k);
  double **S = NULL;
  *numbers = 0;
  TES_ALLOC(&S, count);
  for (int i = 0; i < count; i++) {
    const int keeper = keeper_of(k, i); /* its own, or an earlier one */
    at[i] = keeper == i ? *numbers : at[keeper];
    if (keeper == i) *numbers += size_of(k, shape, i);
  }
  TES_TRY(invert(ctx, s, k, S));
  TES_ALLOC(tiles, *numbers);
  for (int i = 0; i < count; i++)
    if (S[i]) fill_tiles(k, shape, i, S[i], *tiles + at[i]);
done:
  for (int i = 0; S && i < count; i++) tesi_free(ctx, &S[i]);
  tesi_free(ctx, &S);
  return status;
}
