#include "device/gathered.h"
#include <string.h>
#include "device/kernel.h"
#include "device/links.h"
#include "device/upload.h"
#include "device/vector.h"

struct TesiGathered {
  TesContext *context;
  TesiLinks *links;
  int others;
  int64_t own, own_first, length, most, all; /* most: entries of any rank */
  /* device: own entries; where each entry is; and of the other ranks' entries the first one
   * in the whole, and how many they are */
  void *entries, *place, *first, *count;
  /* the host, in the place of these: the lists of the caller, and a message from and to each other rank */
  const int32_t *own_entry, *places;
  const int32_t *number; /* [all] of the caller; NULL: numbers are places */
  void *numbers;         /* the same there */
  void *by_number;       /* [all] in device memory or host memory, float64 or less */
  int64_t *others_first, *others_count;
  TesiMessage *message;
  double *sent, *received; /* [most], [others][most] */
};

/* first[ranks], count[ranks] */
static void share_ranges(const TesiGathered *g, double *first, double *count) {
  const int ranks = tesi_ranks(g->context), rank = tesi_context_communicator(g->context)->rank;
  for (int r = 0; r < ranks; r++) first[r] = count[r] = 0;
  first[rank] = (double)g->own_first, count[rank] = (double)g->own;
  tesi_reduce(g->context, TESI_SUM, ranks, first);
  tesi_reduce(g->context, TESI_SUM, ranks, count);
}

/* first, count: of the ranks. */
static TesStatus create_messages(TesiGathered *g, const double *first, const double *count) {
  TesContext *ctx = g->context;
  TesStatus status = TES_OK;
  const int ranks = tesi_ranks(ctx), rank = tesi_context_communicator(ctx)->rank;
  TES_ALLOC(&g->others_first, ranks);
  TES_ALLOC(&g->others_count, ranks);
  TES_ALLOC(&g->message, ranks);
  TES_ALLOC(&g->sent, g->most);
  TES_ALLOC(&g->received, ranks * g->most);
  for (int r = 0, i = 0; r < ranks; r++) {
    if (r == rank) continue;
    g->others_first[i] = (int64_t)first[r], g->others_count[i] = (int64_t)count[r];
    g->message[i] = (TesiMessage){.rank = r, .sent = g->sent, .received = g->received + i * g->most};
    i++;
  }
done:
  return status;
}

static void collect_host(TesiGathered *g, size_t size, const char *x, char *whole) {
  const TesCommunicator *communicator = tesi_context_communicator(g->context);
  char *const sent = (char *)g->sent;
  for (int64_t i = 0; i < g->own; i++)
    memcpy(sent + (size_t)i * size, x + (size_t)g->own_entry[i] * size, size);
  memcpy(whole + (size_t)g->own_first * size, sent, (size_t)g->own * size);
  for (int i = 0; i < g->others; i++)
    g->message[i].bytes = (g->own > g->others_count[i] ? g->own : g->others_count[i]) * (int64_t)size;
  communicator->table->begin(communicator, g->others, g->message);
  communicator->table->end(communicator);
  for (int i = 0; i < g->others; i++)
    memcpy(whole + (size_t)g->others_first[i] * size, g->message[i].received,
           (size_t)g->others_count[i] * size);
}

static TesStatus create_links(TesiGathered *g) {
  TesContext *ctx = g->context;
  TesStatus status = TES_OK;
  const int ranks = tesi_ranks(ctx), rank = tesi_context_communicator(ctx)->rank;
  TesiLink *link = NULL;
  long long *blocks = NULL;
  double *first = NULL, *count = NULL;
  TES_ALLOC(&link, ranks);
  TES_ALLOC(&blocks, 2 * ranks);
  TES_ALLOC(&first, ranks);
  TES_ALLOC(&count, ranks);
  share_ranges(g, first, count);
  for (int r = 0; r < ranks; r++) {
    if ((int64_t)count[r] > g->most) g->most = (int64_t)count[r];
    if (r == rank) continue;
    link[g->others] = (TesiLink){r, (int64_t)count[r] > g->own ? (int64_t)count[r] : g->own};
    blocks[g->others] = (long long)first[r], blocks[ranks + g->others++] = (long long)count[r];
  }
  if (!tesi_has_kernels(ctx)) {
    TES_TRY(create_messages(g, first, count));
    goto done;
  }
  TES_TRY(tesi_upload(ctx, blocks, (size_t)g->others * sizeof *blocks, &g->first));
  TES_TRY(tesi_upload(ctx, blocks + ranks, (size_t)g->others * sizeof *blocks, &g->count));
  TES_TRY(tesi_links_create(ctx, g->others, link, &g->links));
done:
  tesi_free(ctx, &link);
  tesi_free(ctx, &blocks);
  tesi_free(ctx, &first);
  tesi_free(ctx, &count);
  return status;
}

TesStatus tesi_gathered_create(TesContext *ctx, int64_t own, int64_t own_first, const int32_t *own_entry,
                               int64_t length, const int32_t *place, int64_t all, const int32_t *number,
                               TesiGathered **gathered) {
  TesStatus status = TES_OK;
  TesiGathered *g = NULL;
  *gathered = NULL;
  TES_NEW(&g);
  *g = (TesiGathered){
      .context = tesi_context_retain(ctx), .own = own, .own_first = own_first, .length = length};
  g->own_entry = own_entry, g->places = place, g->number = number, g->all = all;
  TES_TRY(create_links(g));
  if (tesi_has_kernels(ctx)) {
    TES_TRY(tesi_upload(ctx, own_entry, (size_t)own * sizeof *own_entry, &g->entries));
    TES_TRY(tesi_upload(ctx, place, (size_t)length * sizeof *place, &g->place));
    if (number) TES_TRY(tesi_upload(ctx, number, (size_t)all * sizeof *number, &g->numbers));
  }
  if (number) TES_TRY(tesi_context_device(ctx)->allocate(ctx, (size_t)all * sizeof(double), &g->by_number));
  *gathered = g;
  g = NULL;
done:
  tesi_gathered_destroy(&g);
  return status;
}

void tesi_gathered_destroy(TesiGathered **gathered) {
  TesiGathered *g = *gathered;
  if (!g) return;
  TesContext *ctx = g->context;
  const TesiDevice *device = tesi_context_device(ctx);
  *gathered = NULL;
  tesi_links_destroy(&g->links);
  void **all[] = {&g->entries, &g->place, &g->first, &g->count, &g->numbers, &g->by_number};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) device->release(ctx, all[i]);
  tesi_free(ctx, &g->others_first);
  tesi_free(ctx, &g->others_count);
  tesi_free(ctx, &g->message);
  tesi_free(ctx, &g->sent);
  tesi_free(ctx, &g->received);
  tesi_free(ctx, &g);
  tes_context_destroy(&ctx);
}

/* to[i] <- x[entry[i]] */
static TesStatus pick(const TesiGathered *g, TesPrecision precision, int64_t n, const int32_t *entry,
                      void *entry_there, const void *x, void *to) {
  long long length = n;
  const size_t size = tesi_precision_size(precision);
  void *arguments[] = {&x, &entry_there, &length, &to};
  if (tesi_has_kernels(g->context))
    return tesi_links_launch(g->context, TESI_PICK_ENTRIES, precision, n, arguments);
  for (int64_t i = 0; i < n; i++)
    memcpy((char *)to + (size_t)i * size, (const char *)x + (size_t)entry[i] * size, size);
  return TES_OK;
}

static TesStatus collect(TesiGathered *g, TesPrecision precision, const void *x, void *whole) {
  long long own = g->own, own_first = g->own_first;
  if (!tesi_has_kernels(g->context)) {
    collect_host(g, tesi_precision_size(precision), x, whole);
    return TES_OK;
  }
  void *arguments[] = {NULL, NULL, &x, &g->entries, &own, &whole, &own_first, &g->first, &g->count};
  return tesi_links_exchange(g->links, TESI_EXCHANGE_PARTS, precision, g->most, arguments);
}

TesStatus tesi_gathered_collect(TesiGathered *g, TesPrecision precision, const void *x, void *whole) {
  const TesStatus status = collect(g, precision, x, g->number ? g->by_number : whole);
  if (status != TES_OK || !g->number) return status;
  return pick(g, precision, g->all, g->number, g->numbers, g->by_number, whole);
}

TesStatus tesi_gathered_cut(TesiGathered *g, TesPrecision precision, const void *whole, void *x) {
  return pick(g, precision, g->length, g->places, g->place, whole, x);
}
