#include "time/average.h"
#include <math.h>
#include <stdio.h>

TesStatus tesi_average_follow(TesiAverage *a, const TesiAveraged *of) {
  TesContext *ctx = of->space->context;
  TesStatus status = TES_OK;
  TesiAveraged *row = &a->of[a->count];
  *row = *of;
  a->count++;
  for (int i = 0; i < TESI_AVERAGE_POWERS; i++) {
    TES_TRY(tes_vector_create(ctx, of->value->length, TES_DOUBLE, &row->mean[i]));
    TES_TRY(tes_vector_fill(row->mean[i], 0));
    for (int c = 0; c < of->space->parts && c < 3 && of->space->part[c]; c++)
      row->component[i][c] = tesi_space_range(of->space, row->mean[i], c);
  }
  if (of->square) TES_TRY(tes_vector_create(ctx, of->value->length, TES_DOUBLE, &row->work));
done:
  return status;
}

void tesi_average_free(TesiAverage *a) {
  for (int k = 0; k < a->count; k++) {
    for (int i = 0; i < TESI_AVERAGE_POWERS; i++) tes_vector_destroy(&a->of[k].mean[i]);
    tes_vector_destroy(&a->of[k].work);
  }
  a->count = 0;
}

/* The mean moves towards a value by `share` of the difference. */
static TesStatus mix(TesiAveraged *row, const TesVector *value, double share) {
  TesContext *ctx = value->context;
  TesStatus status = TES_OK;
  TesVector *mean = row->mean[0], *square = row->mean[1];
  TES_TRY(tes_vector_copy(mean, 1 - share, mean));
  TES_TRY(tes_vector_axpy(share, value, mean));
  TES_TRY(tes_vector_copy(square, 1 - share, square));
  if (row->square) {
    TES_TRY(row->square(row->user, value, row->work));
    TES_TRY(tes_vector_axpy(share, row->work, square));
  } else {
    TES_TRY(tesi_context_device(ctx)->multiply_add(ctx, TES_DOUBLE, value->length, share, value->data,
                                                   value->data, square->data));
  }
done:
  return status;
}

TesStatus tesi_average_add(TesiAverage *a, double begin, double end, bool at_end) {
  TesStatus status = TES_OK;
  const double part = end - fmax(begin, a->from), early = part * part / (2 * (end - begin));
  if (!a->count || !(part > 0)) return TES_OK;
  const double weight = at_end ? part - early : early;
  a->time += weight;
  for (int k = 0; k < a->count && status == TES_OK; k++) {
    TesiAveraged *row = &a->of[k];
    status = mix(row, at_end || !row->old ? row->value : *row->old, weight / a->time);
  }
  return status;
}

void tesi_average_list(TesiAverage *a, TesiState *state) {
  char name[TESI_STATE_NAME];
  if (!a->count) return;
  tesi_state_add_real(state, "averaged", 1, &a->time);
  for (int k = 0; k < a->count; k++) {
    const TesiAveraged *row = &a->of[k];
    for (int i = 0; i < TESI_AVERAGE_POWERS; i++) {
      snprintf(name, sizeof name, "%.20s%s", row->name, i ? "-squares" : "");
      tesi_state_add(state, name, 0, row->space, row->mean[i], TESI_STATE_PROJECTED)->optional = true;
    }
  }
}
