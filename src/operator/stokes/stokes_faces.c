#include "operator/stokes/stokes_faces.h"
#include <math.h>
#include "basis/gauss.h"
#include "device/upload.h"
#include "kernels/stokes_arguments.h"

/* The face of cell c below (side 0) or above. */
static void fill_face(const TesOperator *op, int d, int c, int side, double *at) {
  const TesiStokes *s = tesi_stokes_of(op);
  const TesiAxis *a = &s->axis[d].modal;
  const bool end = c == (side ? a->cells - 1 : 0) && !a->periodic;
  const double h = a->h[c], beside = end ? 0 : a->h[(c + (side ? 1 : a->cells - 1)) % a->cells];
  if (end && a->end[side] != TESI_WEAK) return;
  at[(TESK_TILES_OWN + side) * a->cells] = s->nu * (end ? 1 : 0.5) * pow(h, -1.5);
  at[(TESK_TILES_PENALTY + side) * a->cells] = s->nu * s->axis[d].boundary[side];
  if (end) return;
  at[(TESK_TILES_PENALTY + side) * a->cells] =
      s->nu * tesi_penalty_factor(op->desc.form.penalty, a->degree, side ? h : beside, side ? beside : h);
  at[(TESK_TILES_BESIDE + side) * a->cells] = 1 / sqrt(beside);
  at[(TESK_TILES_OTHER + side) * a->cells] = s->nu * 0.5 * pow(beside, -1.5);
}

TesStatus tesi_stokes_faces_upload(const TesOperator *op, int d, void **on_device) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokes *s = tesi_stokes_of(op);
  const TesiAxis *a = &s->axis[d].modal;
  double *numbers = NULL;
  TES_ALLOC(&numbers, (int64_t)a->cells * TESK_TILES_NUMBERS);
  for (int c = 0; c < a->cells; c++) {
    double *at = numbers + c;
    at[TESK_TILES_WIDTH * a->cells] = a->h[c];
    at[TESK_TILES_STIFFNESS * a->cells] = s->nu / a->h[c];
    at[TESK_TILES_ROOT * a->cells] = 1 / sqrt(a->h[c]);
    at[TESK_TILES_BENDING * a->cells] = s->nu / (a->h[c] * a->h[c]);
    for (int side = 0; side < 2; side++) fill_face(op, d, c, side, at);
  }
  TES_TRY(tesi_upload_numbers(ctx, numbers, (int64_t)a->cells * TESK_TILES_NUMBERS, op->precision, on_device));
done:
  tesi_free(ctx, &numbers);
  return status;
}

int tesi_stokes_faces_modes(int n, double *modes) {
  double points[TESI_MAX_POINTS], weights[TESI_MAX_POINTS], l[TESI_MAX_POINTS], dl[TESI_MAX_POINTS];
  double *const value = modes, *const slope = value + n, *const bending = slope + n;
  tesi_rt_legendre(n, 1, 1, value, slope);
  for (int i = 0; i < n * n; i++) bending[i] = 0;
  tesi_gauss(n, points, weights);
  for (int g = 0; g < n; g++) {
    tesi_rt_legendre(n, 1, points[g], l, dl);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) bending[i * n + j] += weights[g] * dl[i] * dl[j];
  }
  return 2 * n + n * n;
}
