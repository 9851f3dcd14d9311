/* Means in time of velocity and pressure and of their squares: see projection.h. */
#include <math.h>
#include "problem/projection/projection.h"

TesStatus tesi_average_create(TesProblem *p, const TesProblemDesc *desc) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiProjection *pr = tesi_projection_of(p);
  TesiAverage *a = &pr->average;
  if (!desc->average) return TES_OK;
  TES_CHECK(isfinite(desc->average_from), "the time from which means are taken is not finite");
  a->from = desc->average_from;
  for (int i = 0; i < 2; i++) {
    TES_TRY(tes_vector_create(ctx, pr->full->length, TES_DOUBLE, &a->velocity[i]));
    TES_TRY(tes_vector_create(ctx, pr->p.length, TES_DOUBLE, &a->pressure[i]));
    TES_TRY(tes_vector_fill(a->velocity[i], 0));
    TES_TRY(tes_vector_fill(a->pressure[i], 0));
    for (int c = 0; c < pr->mixed->dim; c++)
      a->component[i][c] =
          tesi_vector_range(a->velocity[i], c * pr->mixed->velocity->length, pr->mixed->velocity->length);
  }
done:
  return status;
}

void tesi_average_free(TesiAverage *a) {
  for (int i = 0; i < 2; i++) {
    tes_vector_destroy(&a->velocity[i]);
    tes_vector_destroy(&a->pressure[i]);
  }
}

/* The means of so much time get `share` of a value in the place of their own. */
static TesStatus mix(const TesVector *value, double share, TesVector *mean, TesVector *square) {
  TesContext *ctx = value->context;
  TesStatus status = TES_OK;
  TES_TRY(tes_vector_copy(mean, 1 - share, mean));
  TES_TRY(tes_vector_axpy(share, value, mean));
  TES_TRY(tes_vector_copy(square, 1 - share, square));
  TES_TRY(tesi_context_device(ctx)->multiply_add(ctx, TES_DOUBLE, value->length, share, value->data,
                                                 value->data, square->data));
done:
  return status;
}

TesStatus tesi_average_add(TesiProjection *pr, double begin, double end, bool at_end) {
  TesiAverage *a = &pr->average;
  const double part = end - fmax(begin, a->from), early = part * part / (2 * (end - begin));
  if (!a->velocity[0] || !(part > 0)) return TES_OK;
  const double weight = at_end ? part - early : early;
  a->time += weight;
  const TesStatus status = mix(&pr->u, weight / a->time, a->velocity[0], a->velocity[1]);
  return status == TES_OK ? mix(&pr->p, weight / a->time, a->pressure[0], a->pressure[1]) : status;
}

void tesi_average_list(TesiProjection *pr, TesiState *state) {
  static const char *const names[2][2] = {{"mean-velocity", "mean-pressure"},
                                          {"mean-velocity-squares", "mean-pressure-squares"}};
  TesiAverage *a = &pr->average;
  if (!a->velocity[0]) return;
  tesi_state_add_real(state, "averaged", 1, &a->time);
  for (int i = 0; i < 2; i++) {
    tesi_state_add(state, names[i][0], 0, pr->full, a->velocity[i], TESI_STATE_PROJECTED)->optional = true;
    tesi_state_add(state, names[i][1], 0, pr->mixed->pressure, a->pressure[i], TESI_STATE_PROJECTED)
        ->optional = true;
  }
}
