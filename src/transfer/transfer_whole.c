/* Transfers between a level of which each rank has a part, and one that every rank has whole, in a context of its own
 * that knows nothing of ranks. Between the fine level and the rank's part of the coarse one they are what they are on
 * other levels; one exchange makes restricted vectors whole. Where the coarse level adds by atomics the ranks have
 * different rounding in it; prolongation between forests gives all copies of a fine node the value of one rank. */
#include "device/gathered.h"
#include "operator/operator_wide.h"
#include "parallel/rank_slices.h"
#include "space/file_order.h"
#include "transfer/transfer.h"

typedef struct Plan {
  TesTransfer *part;             /* to this rank's part of the coarse level */
  void *coarse;                  /* of that level */
  TesiWide *wide;                /* of elements rt and dg, in the place of what follows */
  TesiGathered *gathered;        /* of each scalar of the space */
  int32_t *place, *own, *number; /* of the plain versions too: tesi_gathered_create() */
  int64_t owned;
} Plan;

/* The vectors of a scalar of both levels, in arrays of entries of this size. */
static void *part_of(const TesTransfer *t, int scalar, size_t size) {
  const Plan *plan = t->plan;
  return (char *)plan->coarse +
         (size_t)scalar * size * (size_t)(plan->part->coarse_length / t->coarse->scalars);
}

static size_t whole_at(const TesTransfer *t, int scalar) {
  return (size_t)scalar * (size_t)(t->coarse_length / t->coarse->scalars);
}

static TesStatus prolongate(const TesTransfer *t, const void *coarse, bool add, void *fine) {
  TesContext *ctx = t->context;
  TesStatus status = TES_OK;
  const Plan *plan = t->plan;
  const size_t size = tesi_precision_size(t->precision);
  if (plan->wide) TES_TRY(tesi_wide_cut(plan->wide, t->precision, coarse, plan->coarse));
  for (int c = 0; c < t->coarse->scalars && !plan->wide; c++)
    TES_TRY(tesi_gathered_cut(plan->gathered, t->precision, (const char *)coarse + whole_at(t, c) * size,
                              part_of(t, c, size)));
  TES_TRY(plan->part->table->prolongate(plan->part, plan->coarse, add, fine));
done:
  return status;
}

static TesStatus restrict_(const TesTransfer *t, const void *fine, void *coarse) {
  TesContext *ctx = t->context;
  TesStatus status = TES_OK;
  const Plan *plan = t->plan;
  TES_TRY(plan->part->table->restrict_(plan->part, fine, plan->coarse));
  TES_TRY(tesi_transfer_collect(t, coarse));
done:
  return status;
}

static void destroy(TesTransfer *t) {
  Plan *plan = t->plan;
  if (!plan) return;
  tes_transfer_destroy(&plan->part);
  tesi_gathered_destroy(&plan->gathered);
  tesi_wide_destroy(&plan->wide);
  tesi_free(t->context, &plan->place);
  tesi_free(t->context, &plan->own);
  tesi_free(t->context, &plan->number);
  tesi_context_device(t->context)->release(t->context, &plan->coarse);
  tesi_free(t->context, &t->plan);
}

static TesStatus prolongate_ref(const TesTransfer *t, const double *coarse, bool add, double *fine) {
  TesContext *ctx = t->context;
  TesStatus status = TES_OK;
  const Plan *plan = t->plan;
  double *part = NULL;
  TES_ALLOC(&part, plan->part->coarse_length);
  if (plan->wide) tesi_wide_cut_host(plan->wide, TES_DOUBLE, coarse, part);
  const int64_t length = plan->part->coarse_length / t->coarse->scalars;
  for (int64_t i = 0; i < plan->part->coarse_length && !plan->wide; i++)
    part[i] = coarse[whole_at(t, (int)(i / length)) + (size_t)plan->place[i % length]];
  TES_TRY(plan->part->table->prolongate_ref(plan->part, part, add, fine));
done:
  tesi_free(ctx, &part);
  return status;
}

static TesStatus restrict_ref(const TesTransfer *t, const double *fine, double *coarse) {
  TesContext *ctx = t->context;
  TesStatus status = TES_OK;
  const Plan *plan = t->plan;
  double *part = NULL;
  TES_ALLOC(&part, plan->part->coarse_length);
  TES_TRY(plan->part->table->restrict_ref(plan->part, fine, part));
  if (plan->wide) {
    tesi_wide_fill_host(plan->wide, TES_DOUBLE, part, coarse);
    goto done;
  }
  for (int64_t i = 0; i < t->coarse_length; i++) coarse[i] = 0;
  const int64_t length = plan->part->coarse_length / t->coarse->scalars;
  for (int c = 0; c < t->coarse->scalars; c++)
    for (int64_t i = 0; i < plan->owned; i++)
      coarse[whole_at(t, c) + (size_t)plan->place[plan->own[i]]] = part[c * length + plan->own[i]];
  tesi_reduce(ctx, TESI_SUM, (int)t->coarse_length, coarse);
done:
  tesi_free(ctx, &part);
  return status;
}

static const TesiTransferTable table = {.prolongate = prolongate,
                                        .restrict_ = restrict_,
                                        .destroy = destroy,
                                        .prolongate_ref = prolongate_ref,
                                        .restrict_ref = restrict_ref};

/* plan->number <- of the places in the whole: whose entries are counted rank by rank. */
static TesStatus number_by_rank(const TesSpace *part, int64_t first, Plan *plan) {
  TesContext *ctx = part->context;
  TesStatus status = TES_OK;
  const int64_t all = part->layout->global;
  double *number = NULL;
  TES_ALLOC(&number, all);
  TES_ALLOC(&plan->number, all);
  for (int64_t i = 0; i < plan->owned; i++) number[plan->place[plan->own[i]]] = (double)(first + i);
  tesi_reduce(ctx, TESI_SUM, (int)all, number);
  for (int64_t i = 0; i < all; i++) plan->number[i] = (int32_t)number[i];
done:
  tesi_free(ctx, &number);
  return status;
}

/* Nodes have the number that one rank gives them. Those that a rank of a grid owns do not follow one another. */
static TesStatus number_nodes(const TesSpace *part, Plan *plan) {
  TesContext *ctx = part->context;
  TesStatus status = TES_OK;
  const TesiLayout *layout = part->layout;
  TesiFileOrder order;
  TesiSlices slices = {0};
  TES_TRY(tesi_file_order_create(part, &order));
  plan->owned = order.grid ? layout->owned : order.own;
  TES_ALLOC(&plan->place, part->length);
  TES_ALLOC(&plan->own, plan->owned);
  for (int64_t i = 0; i < part->length; i++) plan->place[i] = (int32_t)tesi_file_number(&order, i);
  for (int64_t i = 0; i < order.own && !order.grid; i++) plan->own[i] = (int32_t)tesi_file_entry(&order, i);
  for (int64_t i = 0, n = 0; i < part->length && order.grid; i++)
    if (tesi_layout_owns(layout, i)) plan->own[n++] = (int32_t)i;
  int64_t first = plan->owned ? plan->place[plan->own[0]] : 0;
  if (order.grid) {
    TES_TRY(tesi_slices_create(ctx, plan->owned, &slices));
    first = slices.first;
    TES_TRY(number_by_rank(part, first, plan));
  }
  TES_TRY(tesi_gathered_create(ctx, plan->owned, first, plan->own, part->length, plan->place, layout->global,
                               plan->number, &plan->gathered));
done:
  tesi_slices_free(&slices);
  tesi_file_order_free(&order);
  return status;
}

TesStatus tesi_transfer_create_whole(const TesTransferDesc *desc, const TesSpace *whole,
                                     TesTransfer **transfer) {
  TesContext *ctx = desc->fine->context;
  TesStatus status = TES_OK;
  TesTransfer *t = NULL;
  Plan *plan;
  *transfer = NULL;
  TES_CHECK(whole->length == desc->coarse->layout->global, "a whole level of %lld entries, expected %lld",
            (long long)whole->length, (long long)desc->coarse->layout->global);
  TES_NEW(&t);
  *t = (TesTransfer){.table = &table,
                     .context = tesi_context_retain(ctx),
                     .coarse = tesi_space_retain(whole),
                     .fine = tesi_space_retain(desc->fine),
                     .coarse_length = whole->length,
                     .fine_length = desc->fine->length,
                     .precision = desc->precision};
  TES_NEW(&plan);
  t->plan = plan;
  TES_TRY(tes_transfer_create(ctx, desc, &plan->part));
  TES_TRY(!whole->element->nodal ? tesi_wide_create_space(desc->coarse, tesi_reach_all(), &plan->wide)
                                 : number_nodes(desc->coarse->scalar[0], plan));
  TES_TRY(tesi_context_device(ctx)->allocate(
      ctx, (size_t)desc->coarse->length * tesi_precision_size(desc->precision), &plan->coarse));
  *transfer = t;
  t = NULL;
done:
  tes_transfer_destroy(&t);
  return status;
}

const TesTransfer *tesi_transfer_part(const TesTransfer *t, void **coarse) {
  const Plan *plan = t->plan;
  if (t->table != &table) return NULL;
  *coarse = plan->coarse;
  return plan->part;
}

TesStatus tesi_transfer_collect(const TesTransfer *t, void *whole) {
  TesContext *ctx = t->context;
  TesStatus status = TES_OK;
  const Plan *plan = t->plan;
  const size_t size = tesi_precision_size(t->precision);
  if (plan->wide) return tesi_wide_fill(plan->wide, t->precision, plan->coarse, whole);
  for (int c = 0; c < t->coarse->scalars; c++)
    TES_TRY(tesi_gathered_collect(plan->gathered, t->precision, part_of(t, c, size),
                                  (char *)whole + whole_at(t, c) * size));
done:
  return status;
}
