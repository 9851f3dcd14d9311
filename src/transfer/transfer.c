/* Transfers: kinds, creation, and the public calls with their argument checks. */
#include "transfer/transfer.h"
#include <stdio.h>
#include <string.h>
#include "space/slip.h"

static const TesiTransferKind *const kinds[] = {&tesi_transfer_box, &tesi_transfer_cells, &tesi_transfer_rt,
                                                &tesi_transfer_by_part};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const char *refuses(const TesiTransferKind *kind, const TesTransferDesc *desc) {
  if (tes_space_components(desc->fine) > 1 && !kind->parts) return "the spaces have several components";
  return kind->refuses(desc);
}

/* The first kind that takes the spaces, or the one that is asked for. */
static TesStatus choose(TesContext *ctx, const TesTransferDesc *desc, const TesiTransferKind **kind) {
  TesStatus status = TES_OK;
  char reasons[400] = "";
  size_t length = 0;
  bool known = !desc->kind;
  for (int i = 0; i < KINDS; i++) {
    if (desc->kind && strcmp(desc->kind, kinds[i]->name) != 0) continue;
    if (!desc->kind && kinds[i]->parts != (tes_space_components(desc->fine) > 1)) continue;
    const char *reason = refuses(kinds[i], desc);
    known = true;
    *kind = kinds[i];
    if (!reason) return TES_OK;
    if (length < sizeof reasons)
      length += (size_t)snprintf(reasons + length, sizeof reasons - length, "%skind %s: %s",
                                 length ? "; " : "", kinds[i]->name, reason);
  }
  TES_CHECK(known, "there is no transfer of kind %s; there are box, cells, rt and parts", desc->kind);
  TES_FAIL(TES_INVALID_INPUT, "no transfer between these spaces: %s", reasons);
done:
  return status;
}

TesStatus tes_transfer_create(TesContext *context, const TesTransferDesc *desc, TesTransfer **transfer) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesTransfer *t = NULL;
  const TesiTransferKind *kind = NULL;
  TES_REFUSE_NULL(context, desc, transfer);
  *transfer = NULL;
  TES_CHECK(desc->coarse && desc->fine, "a transfer needs a coarse and a fine space");
  TES_CHECK(desc->coarse->context == ctx && desc->fine->context == ctx,
            "a space belongs to another context than the transfer");
  TES_TRY(choose(ctx, desc, &kind));
  TES_NEW(&t);
  t->context = tesi_context_retain(ctx);
  t->coarse = tesi_space_retain(desc->coarse);
  t->fine = tesi_space_retain(desc->fine);
  t->coarse_length = t->coarse->length, t->fine_length = t->fine->length;
  t->precision = desc->precision;
  TES_TRY(kind->init(t));
  const bool box = kind == &tesi_transfer_box || kind == &tesi_transfer_rt;
  if (box && tesi_ranks(ctx) > 1) TES_TRY(tesi_transfer_share(t));
  *transfer = t;
  t = NULL;
done:
  tes_transfer_destroy(&t);
  return status;
}

void tes_transfer_destroy(TesTransfer **transfer) {
  if (!transfer || !*transfer) return;
  TesTransfer *t = *transfer;
  TesContext *ctx = t->context;
  *transfer = NULL;
  if (t->table) t->table->destroy(t);
  for (int d = 0; d < 3; d++) tesi_free(ctx, &t->embedding[d].E);
  tes_space_destroy(&t->coarse);
  tes_space_destroy(&t->fine);
  tesi_free(ctx, &t);
  tes_context_destroy(&ctx);
}

static TesStatus check(const TesTransfer *transfer, const TesVector *coarse, const TesVector *fine) {
  TesContext *ctx = transfer->context;
  TesStatus status = TES_OK;
  TES_CHECK(coarse->length == transfer->coarse_length && fine->length == transfer->fine_length,
            "transfer between vectors of length %lld and %lld, expected %lld and %lld",
            (long long)coarse->length, (long long)fine->length, (long long)transfer->coarse_length,
            (long long)transfer->fine_length);
  TES_CHECK(coarse->precision == transfer->precision && fine->precision == transfer->precision,
            "transfer between vectors of another precision");
done:
  return status;
}

TesStatus tes_transfer_prolongate(const TesTransfer *transfer, const TesVector *coarse, bool add,
                                  TesVector *fine) {
  TesStatus status = check(transfer, coarse, fine);
  if (status == TES_OK) status = transfer->table->prolongate(transfer, coarse->data, add, fine->data);
  return status != TES_OK ? status : tesi_space_project(transfer->fine, fine->precision, fine->data);
}

TesStatus tes_transfer_restrict(const TesTransfer *transfer, const TesVector *fine, TesVector *coarse) {
  TesStatus status = check(transfer, coarse, fine);
  if (status == TES_OK) status = transfer->table->restrict_(transfer, fine->data, coarse->data);
  return status != TES_OK ? status : tesi_space_project(transfer->coarse, coarse->precision, coarse->data);
}

TesStatus tesi_transfer_restrict_pressures(const TesTransfer *transfer, const TesVector *fine,
                                           TesVector *coarse) {
  const TesiTransferTable *table = transfer->table;
  const TesStatus status = check(transfer, coarse, fine);
  if (status != TES_OK) return status;
  return (table->restrict_pressures ? table->restrict_pressures : table->restrict_)(transfer, fine->data,
                                                                                    coarse->data);
}

/* The plain versions, by way of the host. */
static TesStatus apply_ref(const TesTransfer *t, const TesVector *from, bool transpose, bool add,
                           TesVector *to) {
  TesContext *ctx = t->context;
  TesStatus status = TES_OK;
  double *in = NULL, *out = NULL;
  TES_ALLOC(&out, to->length);
  TES_TRY(tesi_vector_read(from, &in));
  if (add) TES_TRY(tes_vector_get(to, out));
  TES_TRY(transpose ? t->table->restrict_ref(t, in, out) : t->table->prolongate_ref(t, in, add, out));
  TES_TRY(tes_vector_set(to, out));
done:
  tesi_free(ctx, &in);
  tesi_free(ctx, &out);
  return status;
}

TesStatus tesi_transfer_prolongate_ref(const TesTransfer *transfer, const TesVector *coarse, bool add,
                                       TesVector *fine) {
  return apply_ref(transfer, coarse, false, add, fine);
}

TesStatus tesi_transfer_restrict_ref(const TesTransfer *transfer, const TesVector *fine, TesVector *coarse) {
  return apply_ref(transfer, fine, true, false, coarse);
}
