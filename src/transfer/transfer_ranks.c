/* Transfers of kinds box and rt on several ranks: each has the coarse cells over its fine ones, and cuts lie on coarse
 * vertices. So prolongation needs nobody. A node on a cut is restricted by the rank that owns it alone, and what comes
 * to coarse nodes from both sides is summed. */
#include <string.h>
#include "device/copies.h"
#include "transfer/transfer.h"

static TesStatus prolongate(const TesTransfer *t, const void *coarse, bool add, void *fine) {
  return t->local->prolongate(t, coarse, add, fine);
}

static TesStatus restrict_(const TesTransfer *t, const void *fine, void *coarse) {
  TesContext *ctx = t->context;
  TesStatus status = TES_OK;
  const size_t size = tesi_precision_size(t->precision);
  const TesiLayout *layout = t->fine->layout;
  for (int64_t i = 0, runs = tesi_layout_runs(layout); i < runs; i++) {
    const TesiOwned own = tesi_layout_run(layout, i);
    const size_t start = (size_t)own.start * size;
    TES_TRY(tesi_context_device(ctx)->copy(ctx, own.owned, 1, t->precision, (const char *)fine + start,
                                           t->precision, (char *)t->owned + start));
  }
  TES_TRY(t->local->restrict_(t, t->owned, coarse));
  TES_TRY(tesi_sum_copies(ctx, t->coarse->layout->sum, t->precision, coarse));
done:
  return status;
}

/* The transfer whose cells are this rank's. */
static const TesTransfer *part_of(const TesTransfer *t, void **coarse) {
  const TesTransfer *part = tesi_transfer_part(t, coarse);
  return part ? part : t;
}

bool tesi_transfer_takes_parts(const TesTransfer *t, const TesOperator *op) {
  void *coarse;
  return part_of(t, &coarse)->local && op->local && op->local->residual && !op->wide;
}

/* b on a cut counts for its owner alone. */
TesStatus tesi_transfer_restrict_residual(const TesTransfer *t, const TesOperator *op, const TesVector *b,
                                          const TesVector *x, TesVector *r, TesVector *coarse) {
  TesContext *ctx = t->context;
  TesStatus status = TES_OK;
  void *to = coarse->data;
  const TesTransfer *part = part_of(t, &to);
  const size_t size = tesi_precision_size(op->precision);
  TES_TRY(op->local->residual(op, b->data, x->data, r->data));
  for (int64_t i = 0, start, runs = tesi_layout_runs(t->fine->layout); i <= runs; i++) {
    const int64_t others = tesi_layout_others(t->fine->layout, i, &start);
    if (others)
      TES_TRY(tesi_context_device(ctx)->axpy(ctx, others, -1, op->precision,
                                             (const char *)b->data + (size_t)start * size, op->precision,
                                             (char *)r->data + (size_t)start * size));
  }
  TES_TRY(part->local->restrict_(part, r->data, to));
  TES_TRY(tesi_sum_copies(ctx, part->coarse->layout->sum, t->precision, to));
  if (part != t) TES_TRY(tesi_transfer_collect(t, coarse->data));
done:
  return status;
}

static void destroy(TesTransfer *t) {
  t->local->destroy(t);
  tesi_context_device(t->context)->release(t->context, &t->owned);
}

static TesStatus prolongate_ref(const TesTransfer *t, const double *coarse, bool add, double *fine) {
  return t->local->prolongate_ref(t, coarse, add, fine);
}

static TesStatus restrict_ref(const TesTransfer *t, const double *fine, double *coarse) {
  TesContext *ctx = t->context;
  TesStatus status = TES_OK;
  const TesiLayout *layout = t->fine->layout;
  double *owned = NULL;
  TES_ALLOC(&owned, t->fine_length);
  for (int64_t i = 0, runs = tesi_layout_runs(layout); i < runs; i++) {
    const TesiOwned own = tesi_layout_run(layout, i);
    memcpy(owned + own.start, fine + own.start, (size_t)own.owned * sizeof *owned);
  }
  TES_TRY(t->local->restrict_ref(t, owned, coarse));
  tesi_exchange_sum(t->coarse->layout->sum, TES_DOUBLE, coarse);
done:
  tesi_free(ctx, &owned);
  return status;
}

static const TesiTransferTable table = {.prolongate = prolongate,
                                        .restrict_ = restrict_,
                                        .destroy = destroy,
                                        .prolongate_ref = prolongate_ref,
                                        .restrict_ref = restrict_ref};

TesStatus tesi_transfer_share(TesTransfer *t) {
  TesContext *ctx = t->context;
  TesStatus status = TES_OK;
  const size_t bytes = (size_t)t->fine_length * tesi_precision_size(t->precision);
  TES_TRY(tesi_context_device(ctx)->allocate(ctx, bytes, &t->owned));
  TES_TRY(tesi_prepare_copies(ctx, t->coarse->layout->sum));
  t->local = t->table;
  t->table = &table;
done:
  return status;
}
