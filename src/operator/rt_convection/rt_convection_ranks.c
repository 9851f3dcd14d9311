/* Convection on several ranks. Cells read the cells beside them, so each rank works on a wide box with one more layer
 * of cells at each cut, and keeps its own entries. */
#include <string.h>
#include "operator/operator_wide.h"
#include "operator/rt_convection/rt_convection.h"

struct TesiRtConvectionRanks {
  TesContext *context;
  TesiWide *wide;
  TesiRtConvection *inner; /* of the wide space */
  TesVector *u, *b;
};

TesStatus tesi_rt_convection_ranks_create(const TesSpace *space, TesiRtConvectionRanks **ranks) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesiRtConvectionRanks *r = NULL;
  *ranks = NULL;
  TES_NEW(&r);
  r->context = ctx;
  TES_TRY(tesi_wide_create_space(space, tesi_reach(1, 2), &r->wide));
  const TesSpace *wide = tesi_wide_space(r->wide);
  TES_TRY(tesi_wide_report(r->wide, tesi_rt_convection_create(wide, &r->inner)));
  TES_TRY(tesi_wide_report(r->wide, tesi_vector_create_on(wide->layout, TES_DOUBLE, &r->u)));
  TES_TRY(tesi_wide_report(r->wide, tesi_vector_create_on(wide->layout, TES_DOUBLE, &r->b)));
  *ranks = r;
  r = NULL;
done:
  tesi_rt_convection_ranks_destroy(&r);
  return status;
}

void tesi_rt_convection_ranks_destroy(TesiRtConvectionRanks **ranks) {
  TesiRtConvectionRanks *r = *ranks;
  *ranks = NULL;
  if (!r) return;
  TesContext *ctx = r->context;
  tes_vector_destroy(&r->u);
  tes_vector_destroy(&r->b);
  tesi_rt_convection_destroy(&r->inner);
  tesi_wide_destroy(&r->wide);
  tesi_free(ctx, &r);
}

/* Where the wide box ends inside the whole box, values are unknown and not needed. */
TesStatus tesi_rt_convection_ranks_give(TesiRtConvectionRanks *r, const TesiGiven *given) {
  TesiGiven own[6];
  const int faces = 2 * tesi_wide_space(r->wide)->dim;
  memcpy(own, given, (size_t)faces * sizeof *own);
  for (int f = 0; f < faces; f++)
    if (tesi_wide_ends(r->wide, f)) own[f] = (TesiGiven){.how = {TESI_OPEN, TESI_OPEN, TESI_OPEN}};
  return tesi_agree(r->context, tesi_wide_report(r->wide, tesi_rt_convection_give(r->inner, own)));
}

TesStatus tesi_rt_convection_ranks_apply(TesiRtConvectionRanks *r, const TesVector *u, TesVector *b,
                                         double *rate) {
  TesContext *ctx = r->context;
  TesStatus status = TES_OK;
  TES_TRY(tesi_wide_fill(r->wide, TES_DOUBLE, u->data, r->u->data));
  TES_TRY(tesi_wide_report(r->wide, tesi_rt_convection_apply(r->inner, r->u, r->b, rate)));
  TES_TRY(tesi_wide_take(r->wide, TES_DOUBLE, r->b->data, b->data));
  tesi_reduce(ctx, TESI_MAXIMUM, 1, rate);
done:
  return status;
}
