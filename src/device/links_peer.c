/* Between devices of one host whose memory processes share: one kernel packs straight into the memory of the other
 * rank, tells so by a flag there, waits for its own flags, and takes what came (src/kernels/links_meet.h). A rank is
 * one round ahead of another at most, so that two buffers, taken in turns, are enough. */
#include <string.h>
#include "device/links_transport.h"
#include "device/upload.h"
#include "parallel/host.h"

enum { FLAG = 64 };

static size_t flags_of(int count) {
  return (size_t)(count + 3) / 4 * 4 * FLAG;
}

static TesStatus open_others(TesiLinks *l, void **flags) {
  TesContext *ctx = l->context;
  TesStatus status = TES_OK;
  for (int i = 0; i < l->count; i++) {
    TES_TRY(tesi_context_device(ctx)->open(ctx, &l->offer[i].name, &l->others[i]));
    flags[i] = (char *)l->others[i] + (size_t)(l->offer[i].place & 0xffffffff) * FLAG;
  }
done:
  return status;
}

/* Flags and two buffers of this rank, and the addresses of the others'. Ranks wait until all have opened these: what is
 * shared may be destroyed right away. */
static TesStatus create(TesiLinks *l) {
  TesContext *ctx = l->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  TesiLinksOffer *made = NULL;
  void **flags = NULL;
  int64_t first = 0;
  TES_ALLOC(&made, l->count);
  TES_ALLOC(&l->offer, l->count);
  TES_ALLOC(&l->others, l->count);
  TES_ALLOC(&flags, l->count);
  l->flags_bytes = flags_of(l->count);
  l->half = (size_t)l->total * sizeof(double);
  TES_TRY(device->share(ctx, l->flags_bytes + 2 * l->half, &l->own, (void **)&l->in));
  for (int i = 0; i < l->count; first += l->link[i].count, i++)
    made[i] = (TesiLinksOffer){l->own, first, l->total, (int64_t)l->count << 32 | i};
  tesi_links_trade(l, sizeof *made, made, l->offer);
  status = open_others(l, flags);
  tesi_reduce_any(ctx, status != TES_OK);
  TES_TRY(status);
  TES_TRY(tesi_upload(ctx, flags, (size_t)l->count * sizeof *flags, &l->flags));
done:
  tesi_free(ctx, &made);
  tesi_free(ctx, &flags);
  return status;
}

/* Opens memory of all other ranks. */
static TesStatus ready(TesContext *ctx) {
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const int ranks = tesi_ranks(ctx), own = tesi_context_communicator(ctx)->rank;
  TesiLinks l = {.context = ctx};
  TesiShared mine, *made = NULL, *others = NULL;
  void *address = NULL, *other = NULL;
  int host_rank, host_ranks;
  tesi_communicator_host(tesi_context_communicator(ctx), &host_rank, &host_ranks);
  if (tesi_reduce_any(ctx, host_ranks < ranks)) TES_FAIL(TES_MISSING, "the ranks are on several hosts");
  if (!device->share) TES_FAIL(TES_MISSING, "%s shares no memory with other processes", device->kind);
  TES_ALLOC(&l.link, ranks);
  TES_ALLOC(&l.message, ranks);
  TES_ALLOC(&made, ranks);
  TES_ALLOC(&others, ranks);
  const TesStatus shared = device->share(ctx, 1, &mine, &address);
  for (int r = 0; r < ranks; r++)
    if (r != own) l.link[l.count].rank = r, made[l.count++] = mine;
  tesi_links_trade(&l, sizeof *made, made, others);
  TES_TRY(shared);
  for (int i = 0; i < l.count; i++) {
    if (!strcmp(device->kind, "cuda") && others[i].device == mine.device)
      TES_FAIL(TES_MISSING, "rank %d has the same GPU as this one", l.link[i].rank);
    TES_TRY(device->open(ctx, &others[i], &other));
    device->close(ctx, &others[i], &other);
  }
done:
  if (tesi_reduce_any(ctx, status != TES_OK) && status == TES_OK)
    status = TES_MISSING; /* and none is open now */
  if (address) device->unshare(ctx, &mine, &address);
  tesi_free(ctx, &l.link);
  tesi_free(ctx, &l.message);
  tesi_free(ctx, &made);
  tesi_free(ctx, &others);
  return status;
}

static char *end_of(const TesiLinks *l, int i, int64_t first, bool odd, size_t size) {
  const TesiLinksOffer *o = &l->offer[i];
  (void)first;
  return (char *)l->others[i] + flags_of((int)(o->place >> 32)) + (size_t)(odd * o->total) * sizeof(double) +
         (size_t)o->first * size;
}

static void destroy(TesiLinks *l) {
  TesContext *ctx = l->context;
  const TesiDevice *device = tesi_context_device(ctx);
  for (int i = 0; l->others && i < l->count; i++) device->close(ctx, &l->offer[i].name, &l->others[i]);
  device->unshare(ctx, &l->own, (void **)&l->in);
  device->release(ctx, &l->flags);
  tesi_free(ctx, &l->offer);
  tesi_free(ctx, &l->others);
}

const TesiLinksTransport tesi_links_by_peer = {.name = "peer",
                                               .description = "ranks write into each other's memory",
                                               .queued = true,
                                               .loops = true,
                                               .ready = ready,
                                               .create = create,
                                               .destroy = destroy,
                                               .end = end_of};
