/* Transfers of spaces of several parts: one transfer per part. Equal parts share a transfer, and are transferred in one
 * pass if the kind can do several vectors at once. */
#include "transfer/transfer.h"

typedef struct Plan {
  int count;
  TesTransfer *part[TESI_SCALARS]; /* NULL: the transfer of part same[] */
  int same[TESI_SCALARS];
} Plan;

static void *entry(const TesTransfer *t, const TesSpace *space, const void *vector, int part) {
  return (char *)vector + (size_t)space->part_first[part] * tesi_precision_size(t->precision);
}

/* Parts from p on that are transferred together, one after the other in the vector. */
static int together(const TesTransfer *t, int p) {
  const Plan *plan = t->plan;
  const TesTransfer *part = plan->part[plan->same[p]];
  int count = 1;
  while (part->table->expect && p + count < plan->count && plan->same[p + count] == plan->same[p] &&
         t->coarse->part_first[p + count] == t->coarse->part_first[p] + count * part->coarse_length &&
         t->fine->part_first[p + count] == t->fine->part_first[p] + count * part->fine_length)
    count++;
  return count;
}

static TesStatus by_part(const TesTransfer *t, bool up, const void *in, bool add, void *out) {
  const Plan *plan = t->plan;
  const TesSpace *of_in = up ? t->coarse : t->fine, *of_out = up ? t->fine : t->coarse;
  TesStatus status = TES_OK;
  for (int p = 0, count; p < plan->count && status == TES_OK; p += count) {
    const TesTransfer *part = plan->part[plan->same[p]];
    const TesiTransferTable *table = part->table;
    const void *from = entry(t, of_in, in, p);
    void *to = entry(t, of_out, out, p);
    count = together(t, p);
    if (up)
      status = count > 1 ? table->prolongate_all(part, count, from, add, to)
                         : table->prolongate(part, from, add, to);
    else
      status = count > 1 ? table->restrict_all(part, count, from, to) : table->restrict_(part, from, to);
  }
  return status;
}

static TesStatus prolongate(const TesTransfer *t, const void *coarse, bool add, void *fine) {
  return by_part(t, true, coarse, add, fine);
}

static TesStatus restrict_(const TesTransfer *t, const void *fine, void *coarse) {
  return by_part(t, false, fine, false, coarse);
}

static TesStatus by_part_ref(const TesTransfer *t, bool up, const double *in, bool add, double *out) {
  const Plan *plan = t->plan;
  const TesSpace *from = up ? t->coarse : t->fine, *to = up ? t->fine : t->coarse;
  TesStatus status = TES_OK;
  for (int p = 0; p < plan->count && status == TES_OK; p++) {
    const TesTransfer *part = plan->part[plan->same[p]];
    const double *x = in + from->part_first[p];
    double *y = out + to->part_first[p];
    status = up ? part->table->prolongate_ref(part, x, add, y) : part->table->restrict_ref(part, x, y);
  }
  return status;
}

static TesStatus prolongate_ref(const TesTransfer *t, const double *coarse, bool add, double *fine) {
  return by_part_ref(t, true, coarse, add, fine);
}

static TesStatus restrict_ref(const TesTransfer *t, const double *fine, double *coarse) {
  return by_part_ref(t, false, fine, false, coarse);
}

static void destroy(TesTransfer *t) {
  Plan *plan = t->plan;
  for (int p = 0; plan && p < TESI_SCALARS; p++) tes_transfer_destroy(&plan->part[p]);
  tesi_free(t->context, &t->plan);
}

static const TesiTransferTable table = {.prolongate = prolongate,
                                        .restrict_ = restrict_,
                                        .destroy = destroy,
                                        .prolongate_ref = prolongate_ref,
                                        .restrict_ref = restrict_ref};

static const char *refuses(const TesTransferDesc *desc) {
  if (desc->coarse->scalars == 1 && desc->fine->scalars == 1) return "the spaces have one component";
  return desc->coarse->parts != desc->fine->parts ? "the spaces have different numbers of parts" : NULL;
}

static TesStatus init(TesTransfer *t) {
  TesContext *ctx = t->context;
  TesStatus status = TES_OK;
  TesSpace *const *coarse = t->coarse->part, *const *fine = t->fine->part;
  Plan *plan;
  TES_NEW(&plan);
  t->plan = plan;
  t->table = &table;
  for (; plan->count < t->fine->parts; plan->count++) {
    const int p = plan->count;
    int same = 0;
    while (coarse[same] != coarse[p] || fine[same] != fine[p]) same++;
    plan->same[p] = same;
    if (same == p)
      TES_TRY(tes_transfer_create(
          ctx, &(TesTransferDesc){.coarse = coarse[p], .fine = fine[p], .precision = t->precision},
          &plan->part[p]));
  }
  for (int p = 0, count; p < plan->count; p += count) {
    TesTransfer *part = plan->part[plan->same[p]];
    count = together(t, p);
    if (count > 1) TES_TRY(part->table->expect(part, count));
  }
done:
  return status;
}

const TesiTransferKind tesi_transfer_by_part = {
    .name = "parts", .parts = true, .refuses = refuses, .init = init};
