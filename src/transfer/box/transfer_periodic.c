/* Transfers between boxes with periodic directions: P = T P_open F, by the embedding of the boxes cut open. F spreads
 * coarse nodes to their copies, and T omits copies of fine nodes. Restriction is P' = F' P_open' T'. */
#include "space/periodic.h"
#include "transfer/transfer.h"

typedef struct Plan {
  TesTransfer *open;
  TesiPeriodic coarse, fine;
  void *coarse_vector, *fine_vector; /* of the open boxes */
} Plan;

static TesStatus prolongate(const TesTransfer *t, const void *coarse, bool add, void *fine) {
  TesContext *ctx = t->context;
  TesStatus status = TES_OK;
  const Plan *plan = t->plan;
  TES_TRY(tesi_periodic_spread(&plan->coarse, coarse, false, plan->coarse_vector));
  TES_TRY(plan->open->table->prolongate(plan->open, plan->coarse_vector, false, plan->fine_vector));
  TES_TRY(tesi_periodic_collect(&plan->fine, plan->fine_vector, add ? fine : NULL, 1, fine));
done:
  return status;
}

static TesStatus restrict_(const TesTransfer *t, const void *fine, void *coarse) {
  TesContext *ctx = t->context;
  TesStatus status = TES_OK;
  const Plan *plan = t->plan;
  TES_TRY(tesi_periodic_spread(&plan->fine, fine, true, plan->fine_vector));
  TES_TRY(plan->open->table->restrict_(plan->open, plan->fine_vector, plan->coarse_vector));
  TES_TRY(tesi_periodic_collect(&plan->coarse, plan->coarse_vector, NULL, 1, coarse));
done:
  return status;
}

static void destroy(TesTransfer *t) {
  TesContext *ctx = t->context;
  const TesiDevice *device = tesi_context_device(ctx);
  Plan *plan = t->plan;
  if (!plan) return;
  tes_transfer_destroy(&plan->open);
  device->release(ctx, &plan->coarse_vector);
  device->release(ctx, &plan->fine_vector);
  tesi_free(ctx, &t->plan);
}

static const TesiTransferTable table = {.prolongate = prolongate,
                                        .restrict_ = restrict_,
                                        .destroy = destroy,
                                        .prolongate_ref = tesi_transfer_box_prolongate_ref,
                                        .restrict_ref = tesi_transfer_box_restrict_ref};

TesStatus tesi_transfer_periodic_init(TesTransfer *t) {
  TesContext *ctx = t->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const size_t size = tesi_precision_size(t->precision);
  const TeskPeriodic coarse_box = tesi_periodic_cut(t->coarse->axis),
                     fine_box = tesi_periodic_single(t->fine->axis);
  TesSpace *coarse = NULL, *fine = NULL;
  Plan *plan;
  t->table = &table;
  TES_NEW(&plan);
  t->plan = plan;
  TES_TRY(tesi_space_create_open(t->coarse, &coarse));
  TES_TRY(tesi_space_create_open(t->fine, &fine));
  TES_TRY(tes_transfer_create(
      ctx,
      &(TesTransferDesc){
          .coarse = coarse, .fine = fine, .precision = t->precision, .kind = tesi_transfer_box.name},
      &plan->open));
  TES_TRY(tesi_periodic_create(ctx, t->precision, &coarse_box, &plan->coarse));
  TES_TRY(tesi_periodic_create(ctx, t->precision, &fine_box, &plan->fine));
  TES_TRY(device->allocate(ctx, (size_t)coarse->length * size, &plan->coarse_vector));
  TES_TRY(device->allocate(ctx, (size_t)fine->length * size, &plan->fine_vector));
done:
  tes_space_destroy(&coarse);
  tes_space_destroy(&fine);
  return status;
}
