#include "device/copies.h"
#include "device/links.h"
#include "device/upload.h"

typedef struct Copies {
  TesiLinks *links;
  int neighbours;
  int64_t shared;              /* entries of this rank's own list */
  void *lists;                 /* device: entries of the neighbours' lists, one behind the other */
  void *entry, *first, *place; /* device: of each shared entry, where its copies are (tesk_exchange_copies) */
} Copies;

static void destroy(TesContext *ctx, void *state) {
  Copies *t = state;
  const TesiDevice *device = tesi_context_device(ctx);
  tesi_links_destroy(&t->links);
  void **all[] = {&t->lists, &t->entry, &t->first, &t->place};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) device->release(ctx, all[i]);
  tesi_free(ctx, &t);
}

/* The lists of the neighbours without this rank's own. */
static TesStatus make_links(TesContext *ctx, const TesiSharers *s, int own, Copies *t) {
  TesStatus status = TES_OK;
  TesiLink *link = NULL;
  int32_t *lists = NULL;
  int64_t at = 0;
  TES_ALLOC(&link, s->ranks);
  TES_ALLOC(&lists, s->first[s->ranks]);
  for (int r = 0; r < s->ranks; r++) {
    const int64_t count = s->first[r + 1] - s->first[r];
    if (r == own) continue;
    link[t->neighbours++] = (TesiLink){s->rank[r], count};
    for (int64_t i = 0; i < count; i++) lists[at++] = s->entry[s->first[r] + i];
  }
  TES_TRY(tesi_upload(ctx, lists, (size_t)at * sizeof *lists, &t->lists));
  TES_TRY(tesi_links_create(ctx, t->neighbours, link, &t->links));
done:
  tesi_free(ctx, &link);
  tesi_free(ctx, &lists);
  return status;
}

/* first[i], place[]: of shared entry i, the numbers that come, in order of ranks, -1: its own. row[entry - least]:
 * i. */
static TesStatus find_places(TesContext *ctx, const TesiSharers *s, int own, int32_t least, int32_t *row,
                             Copies *t) {
  TesStatus status = TES_OK;
  int32_t *first = NULL, *place = NULL, *next = NULL, number = 0;
  const int32_t *entry = s->entry + s->first[own];
  TES_ALLOC(&first, t->shared + 1);
  TES_ALLOC(&next, t->shared + 1);
  TES_ALLOC(&place, s->first[s->ranks]);
  for (int64_t i = 0; i < t->shared; i++) row[entry[i] - least] = (int32_t)i;
  for (int64_t i = 0; i < s->first[s->ranks]; i++) first[row[s->entry[i] - least] + 1]++;
  for (int64_t i = 0; i < t->shared; i++) next[i] = first[i], first[i + 1] += first[i];
  for (int r = 0; r < s->ranks; r++)
    for (int64_t i = s->first[r]; i < s->first[r + 1]; i++)
      place[next[row[s->entry[i] - least]]++] = r == own ? -1 : number++;
  TES_TRY(tesi_upload(ctx, entry, (size_t)t->shared * sizeof *entry, &t->entry));
  TES_TRY(tesi_upload(ctx, first, (size_t)(t->shared + 1) * sizeof *first, &t->first));
  TES_TRY(tesi_upload(ctx, place, (size_t)s->first[s->ranks] * sizeof *place, &t->place));
done:
  tesi_free(ctx, &first);
  tesi_free(ctx, &next);
  tesi_free(ctx, &place);
  return status;
}

static TesStatus create(TesContext *ctx, TesiExchange *exchange, TesiExchangeDevice *device) {
  TesStatus status = TES_OK;
  int own;
  const TesiSharers *s = tesi_exchange_sharers(exchange, &own);
  int32_t *row = NULL, least = INT32_MAX, largest = 0;
  Copies *t = NULL;
  TES_NEW(&t);
  *device = (TesiExchangeDevice){t, destroy};
  t->shared = s->first[own + 1] - s->first[own];
  for (int64_t i = 0; i < s->first[s->ranks]; i++)
    least = tesi_min(least, s->entry[i]), largest = tesi_max(largest, s->entry[i]);
  TES_ALLOC(&row, (int64_t)largest - least + 1);
  TES_TRY(make_links(ctx, s, own, t));
  TES_TRY(find_places(ctx, s, own, least, row, t));
done:
  tesi_free(ctx, &row);
  return status;
}

TesStatus tesi_prepare_copies(TesContext *ctx, TesiExchange *exchange) {
  if (!exchange || !tesi_has_kernels(ctx)) return TES_OK;
  TesiExchangeDevice *device = tesi_exchange_device(exchange);
  return device->state ? TES_OK : create(ctx, exchange, device);
}

TesStatus tesi_sum_copies(TesContext *ctx, TesiExchange *exchange, TesPrecision precision, void *x) {
  TesStatus status = TES_OK;
  if (!exchange) return TES_OK;
  if (!tesi_has_kernels(ctx)) {
    tesi_exchange_sum(exchange, precision, x);
    return TES_OK;
  }
  TES_TRY(tesi_prepare_copies(ctx, exchange));
  Copies *t = tesi_exchange_device(exchange)->state;
  long long shared = t->shared;
  void *arguments[] = {NULL, NULL, &x, &t->lists, &t->entry, &t->first, &t->place, &shared};
  TES_TRY(tesi_links_exchange(t->links, TESI_EXCHANGE_COPIES, precision, shared, arguments));
done:
  return status;
}
