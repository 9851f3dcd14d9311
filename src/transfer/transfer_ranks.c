/* Transfers of kinds box and rt on several ranks: each has the coarse cells over its fine ones, and cuts lie on coarse
 * vertices. So prolongation needs nobody. A node on a cut is restricted by the rank that owns it alone, and what comes
 * to coarse nodes from both sides is summed. */
#include "device/copies.h"
#include "device/moves.h"
#include "transfer/transfer.h"

typedef struct TesiTransferShare {
  void *fine;               /* a fine vector with zeros in what others own */
  TesiMoveList own, others; /* entries of fine vectors */
  TesiMoves *copy, *subtract;
} TesiTransferShare;

static TesStatus prolongate(const TesTransfer *t, const void *coarse, bool add, void *fine) {
  return t->local->prolongate(t, coarse, add, fine);
}

static TesStatus restrict_(const TesTransfer *t, const void *fine, void *coarse) {
  TesContext *ctx = t->context;
  TesStatus status = TES_OK;
  const TesiTransferShare *share = t->share;
  TES_TRY(tesi_moves_run(share->copy, TESI_MOVE_COPY, t->precision, fine, share->fine, false));
  TES_TRY(t->local->restrict_(t, share->fine, coarse));
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
  TES_TRY(op->local->residual(op, b->data, x->data, r->data));
  TES_TRY(tesi_moves_run(part->share->subtract, TESI_MOVE_SUBTRACT, op->precision, b->data, r->data, false));
  TES_TRY(part->local->restrict_(part, r->data, to));
  TES_TRY(tesi_sum_copies(ctx, part->coarse->layout->sum, t->precision, to));
  if (part != t) TES_TRY(tesi_transfer_collect(t, coarse->data));
done:
  return status;
}

static void destroy(TesTransfer *t) {
  TesContext *ctx = t->context;
  TesiTransferShare *share = t->share;
  t->local->destroy(t);
  if (!share) return;
  tesi_moves_destroy(&share->copy);
  tesi_moves_destroy(&share->subtract);
  tesi_free(ctx, &share->own.list);
  tesi_free(ctx, &share->others.list);
  tesi_context_device(ctx)->release(ctx, &share->fine);
  tesi_free(ctx, &t->share);
}

static TesStatus prolongate_ref(const TesTransfer *t, const double *coarse, bool add, double *fine) {
  return t->local->prolongate_ref(t, coarse, add, fine);
}

static TesStatus restrict_ref(const TesTransfer *t, const double *fine, double *coarse) {
  TesContext *ctx = t->context;
  TesStatus status = TES_OK;
  double *owned = NULL;
  TES_ALLOC(&owned, t->fine_length);
  tesi_moves_host(&t->share->own, TESI_MOVE_COPY, TES_DOUBLE, fine, owned, false);
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
  TES_NEW(&t->share);
  TES_TRY(tesi_move_list_layout(t->fine->layout, false, &t->share->own));
  TES_TRY(tesi_move_list_layout(t->fine->layout, true, &t->share->others));
  TES_TRY(tesi_moves_create(ctx, &t->share->own, &t->share->copy));
  TES_TRY(tesi_moves_create(ctx, &t->share->others, &t->share->subtract));
  TES_TRY(tesi_context_device(ctx)->allocate(ctx, bytes, &t->share->fine));
  TES_TRY(tesi_prepare_copies(ctx, t->coarse->layout->sum));
done: /* what is there is released by this table */
  t->local = t->table;
  t->table = &table;
  return status;
}
