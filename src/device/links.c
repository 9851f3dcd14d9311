/* Two transports. By way of the host, which is right everywhere: one copy to pinned memory, messages of MPI, one copy
 * back. Between devices of one host whose memory processes share: one kernel packs straight into the memory of
 * the other rank, tells so by a flag there, waits for its own flags, and takes what came (src/kernels/links_meet.h). A
 * rank is one round ahead of another at most, so that two buffers, taken in turns, are enough, and all of it can be
 * recorded. */
#include "device/links.h"
#include <stdlib.h>
#include <string.h>
#include "device/upload.h"
#include "device/vector.h"
#include "parallel/host.h"

enum { THREADS = 256, BLOCKS = 1024, FLAG = 64, COUNTS = 4 /* TeskLinks.round */ };
enum { PACK = 1, TAKE = 2, BOTH = 3 }; /* links.cu */

/* What a rank tells another one of the memory in which it receives. */
typedef struct Offer {
  TesiShared name;
  int64_t first, total; /* numbers before those of the other rank there, and all */
  int64_t place;        /* of the other rank's flag */
} Offer;

struct TesiLinks {
  TesContext *context;
  bool peer;
  int count;
  TesiLink *link;
  TesiMessage *message;
  int64_t total;         /* numbers, of all links */
  void *sent, *received; /* host; by way of it */
  char *out, *in;        /* device */
  TesiShared own;        /* peer: `in`, behind flags; and the same of the others */
  Offer *offer;
  void **others, *flags;
  void *first, *ends[2], *round; /* device; ends: by precision */
  TesiKernel sums;               /* tesk_meet_sums */
};

static TesStatus pin(TesContext *ctx, size_t bytes, void **address) {
  const TesiDevice *device = tesi_context_device(ctx);
  return device->pin ? device->pin(ctx, bytes, address) : tesi_alloc(ctx, bytes, 1, address);
}

static void unpin(TesContext *ctx, void **address) {
  const TesiDevice *device = tesi_context_device(ctx);
  if (device->unpin)
    device->unpin(ctx, address);
  else
    tesi_free(ctx, address);
}

static void trade(const TesiLinks *l, size_t bytes, const void *sent, void *received) {
  const TesCommunicator *communicator = tesi_context_communicator(l->context);
  for (int i = 0; i < l->count; i++)
    l->message[i] = (TesiMessage){l->link[i].rank, (int64_t)bytes, (const char *)sent + (size_t)i * bytes,
                                  (char *)received + (size_t)i * bytes};
  communicator->table->begin(communicator, l->count, l->message);
  communicator->table->end(communicator);
}

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
static TesStatus create_peer(TesiLinks *l) {
  TesContext *ctx = l->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  Offer *made = NULL;
  void **flags = NULL;
  int64_t first = 0;
  TES_ALLOC(&made, l->count);
  TES_ALLOC(&l->offer, l->count);
  TES_ALLOC(&l->others, l->count);
  TES_ALLOC(&flags, l->count);
  const size_t bytes = flags_of(l->count) + 2 * (size_t)l->total * sizeof(double);
  TES_TRY(device->share(ctx, bytes, &l->own, (void **)&l->in));
  for (int i = 0; i < l->count; first += l->link[i].count, i++)
    made[i] = (Offer){l->own, first, l->total, (int64_t)l->count << 32 | i};
  trade(l, sizeof *made, made, l->offer);
  status = open_others(l, flags);
  tesi_reduce_any(ctx, status != TES_OK);
  TES_TRY(status);
  TES_TRY(tesi_upload(ctx, flags, (size_t)l->count * sizeof *flags, &l->flags));
done:
  tesi_free(ctx, &made);
  tesi_free(ctx, &flags);
  return status;
}

static TesStatus create_by_host(TesiLinks *l) {
  TesContext *ctx = l->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const size_t bytes = (size_t)l->total * sizeof(double);
  TES_TRY(pin(ctx, bytes, &l->sent));
  TES_TRY(pin(ctx, bytes, &l->received));
  TES_TRY(device->allocate(ctx, bytes, (void **)&l->out));
  TES_TRY(device->allocate(ctx, bytes, (void **)&l->in));
done:
  return status;
}

/* Where the numbers of link i go in a round. */
static char *end_of(const TesiLinks *l, int i, int64_t first, int odd, size_t size) {
  if (!l->peer) return l->out + (size_t)first * size;
  const Offer *o = &l->offer[i];
  return (char *)l->others[i] + flags_of((int)(o->place >> 32)) + (size_t)(odd * o->total) * sizeof(double) +
         (size_t)o->first * size;
}

/* For kernels. */
static TesStatus upload_ends(TesiLinks *l) {
  TesContext *ctx = l->context;
  TesStatus status = TES_OK;
  long long *first = NULL;
  char **ends = NULL;
  TES_ALLOC(&first, l->count + 1);
  TES_ALLOC(&ends, 2 * l->count);
  for (int i = 0; i < l->count; i++) first[i + 1] = first[i] + l->link[i].count;
  TES_TRY(tesi_upload(ctx, first, (size_t)(l->count + 1) * sizeof *first, &l->first));
  for (int precision = 0; precision < 2; precision++) {
    for (int i = 0; i < 2 * l->count; i++)
      ends[i] = end_of(l, i % l->count, first[i % l->count], i / l->count,
                       tesi_precision_size((TesPrecision)precision));
    TES_TRY(tesi_upload(ctx, ends, 2 * (size_t)l->count * sizeof *ends, &l->ends[precision]));
  }
done:
  tesi_free(ctx, &first);
  tesi_free(ctx, &ends);
  return status;
}

TesStatus tesi_links_create(TesContext *ctx, int count, const TesiLink *link, TesiLinks **links) {
  TesStatus status = TES_OK;
  const TesiKernelState *state = tesi_context_device_state(ctx);
  TesiLinks *l = NULL;
  *links = NULL;
  TES_NEW(&l);
  l->context = ctx;
  l->count = count;
  l->peer = state->transport == TESI_LINKS_PEER;
  TES_ALLOC(&l->link, count);
  TES_ALLOC(&l->message, count);
  for (int i = 0; i < count; i++) l->link[i] = link[i], l->total += link[i].count;
  TES_TRY(l->peer ? create_peer(l) : create_by_host(l));
  TES_TRY(tesi_context_device(ctx)->allocate(ctx, COUNTS * sizeof(unsigned), &l->round));
  TES_TRY(upload_ends(l));
  *links = l;
  l = NULL;
done:
  tesi_links_destroy(&l);
  return status;
}

void tesi_links_destroy(TesiLinks **links) {
  TesiLinks *l = *links;
  if (!l) return;
  TesContext *ctx = l->context;
  const TesiDevice *device = tesi_context_device(ctx);
  *links = NULL;
  unpin(ctx, &l->sent);
  unpin(ctx, &l->received);
  for (int i = 0; l->others && i < l->count; i++) device->close(ctx, &l->offer[i].name, &l->others[i]);
  if (l->peer) device->unshare(ctx, &l->own, (void **)&l->in);
  void **all[] = {(void **)&l->out, (void **)&l->in, &l->first, &l->ends[0],
                  &l->ends[1],      &l->round,       &l->flags};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) device->release(ctx, all[i]);
  tesi_free(ctx, &l->offer);
  tesi_free(ctx, &l->others);
  tesi_free(ctx, &l->link);
  tesi_free(ctx, &l->message);
  tesi_free(ctx, &l);
}

static TeskLinks arguments_of(const TesiLinks *l, TesPrecision precision) {
  return (TeskLinks){.first = l->first,
                     .out = l->ends[precision],
                     .in = l->peer ? l->in + flags_of(l->count) : l->in,
                     .half = l->peer ? (long long)(l->total * (int64_t)sizeof(double)) : 0,
                     .round = l->round,
                     .to = l->flags,
                     .from = (const unsigned *)(void *)l->in,
                     .links = l->count};
}

static TesStatus run_by_host(TesiLinks *l, TesPrecision precision) {
  TesContext *ctx = l->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const TesCommunicator *communicator = tesi_context_communicator(ctx);
  const size_t size = tesi_precision_size(precision), bytes = (size_t)l->total * size;
  size_t at = 0;
  TES_TRY(device->to_host(ctx, l->sent, l->out, bytes));
  for (int i = 0; i < l->count; i++) {
    const size_t length = (size_t)l->link[i].count * size;
    l->message[i] =
        (TesiMessage){l->link[i].rank, (int64_t)length, (char *)l->sent + at, (char *)l->received + at};
    at += length;
  }
  communicator->table->begin(communicator, l->count, l->message);
  communicator->table->end(communicator);
  TES_TRY(device->to_device(ctx, l->in, l->received, bytes));
done:
  return status;
}

static TesStatus get_kernel(TesContext *ctx, TesiLinksKernel which, TesPrecision precision,
                            TesiKernel **kernel) {
  static const char *const names[TESI_LINKS_KERNELS] = {"tesk_exchange_copies", "tesk_exchange_blocks",
                                                        "tesk_exchange_parts", "tesk_pick_entries",
                                                        "tesk_clear_entries"};
  TesStatus status = TES_OK;
  TesiKernelState *state = tesi_context_device_state(ctx);
  TesiProgram *program;
  const TesiProgramDesc desc = {.file = "links.cu",
                                .options = {precision == TES_SINGLE ? "real=float" : "real=double"}};
  *kernel = &state->links[precision][which];
  if ((*kernel)->entry) return TES_OK;
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, names[which], 0, *kernel));
done:
  return status;
}

static TesStatus launch(TesContext *ctx, TesiLinksKernel which, TesPrecision precision, int64_t blocks,
                        void **arguments) {
  TesStatus status = TES_OK;
  TesiKernel *kernel;
  TES_TRY(get_kernel(ctx, which, precision, &kernel));
  TES_TRY(tesi_kernel_launch(ctx, kernel, (TesiGrid){(unsigned)blocks, 1, 1}, THREADS, 0, arguments));
done:
  return status;
}

static int64_t blocks_of(int64_t n, int64_t most) {
  const int64_t blocks = (n + THREADS - 1) / THREADS;
  return blocks < most ? blocks : most;
}

static void count_exchange(TesContext *ctx) {
  TesiKernelState *state = tesi_context_device_state(ctx);
  state->counts.exchanges++;
}

/* Blocks that wait for each other run at the same time. */
TesStatus tesi_links_exchange(TesiLinks *l, TesiLinksKernel which, TesPrecision precision, int64_t n,
                              void **arguments) {
  enum { EACH = 4 /* blocks on a multiprocessor, which has room for more */ };
  TesContext *ctx = l->context;
  TesStatus status = TES_OK;
  const int64_t most = blocks_of(n, tesi_kernel_resident(ctx, EACH)), blocks = most > 0 ? most : 1;
  TeskLinks links = arguments_of(l, precision);
  int phases = l->peer ? BOTH : PACK;
  arguments[0] = &phases, arguments[1] = &links;
  count_exchange(ctx);
  TES_TRY(launch(ctx, which, precision, blocks, arguments));
  if (l->peer) return TES_OK;
  TES_TRY(run_by_host(l, precision));
  phases = TAKE;
  TES_TRY(launch(ctx, which, precision, blocks, arguments));
done:
  return status;
}

TesStatus tesi_links_launch(TesContext *ctx, TesiLinksKernel which, TesPrecision precision, int64_t n,
                            void **arguments) {
  return launch(ctx, which, precision, blocks_of(n, BLOCKS), arguments);
}

/* ---- sums ---------------------------------------------------------------------------------------------- */

TesStatus tesi_links_create_sums(TesContext *ctx, int sums, TesiLinks **links) {
  TesStatus status = TES_OK;
  const int ranks = tesi_ranks(ctx), own = tesi_context_communicator(ctx)->rank;
  const TesiProgramDesc desc = {.file = "links_sums.cu", .options = {"real=double"}};
  TesiProgram *program;
  TesiLink *link = NULL;
  *links = NULL;
  TES_ALLOC(&link, ranks);
  for (int r = 0; r < ranks - 1; r++) link[r] = (TesiLink){r + (r >= own), sums};
  TES_TRY(tesi_links_create(ctx, ranks - 1, link, links));
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_meet_sums", THREADS * sizeof(double), &(*links)->sums));
done:
  tesi_free(ctx, &link);
  return status;
}

TesStatus tesi_links_sums(TesiLinks *l, int sums, int stride, int parts, double *partial) {
  TeskLinks links = arguments_of(l, TES_DOUBLE);
  int own = tesi_context_communicator(l->context)->rank;
  void *arguments[] = {&links, &sums, &parts, &stride, &own, &partial};
  count_exchange(l->context);
  return tesi_kernel_launch(l->context, &l->sums, (TesiGrid){1, 1, 1}, THREADS, THREADS * sizeof(double),
                            arguments);
}

/* ---- which transport ----------------------------------------------------------------------------------- */

bool tesi_links_peer(const TesContext *ctx) {
  const TesiKernelState *state = tesi_has_kernels(ctx) ? tesi_context_device_state(ctx) : NULL;
  return tesi_ranks(ctx) > 1 && state && state->transport == TESI_LINKS_PEER;
}

/* Opens memory of all other ranks. */
static TesStatus try_peer(TesContext *ctx) {
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const int ranks = tesi_ranks(ctx), own = tesi_context_communicator(ctx)->rank;
  TesiLinks l = {.context = ctx};
  TesiShared mine, *made = NULL, *others = NULL;
  void *address = NULL, *other = NULL;
  TES_ALLOC(&l.link, ranks);
  TES_ALLOC(&l.message, ranks);
  TES_ALLOC(&made, ranks);
  TES_ALLOC(&others, ranks);
  const TesStatus shared = device->share(ctx, 1, &mine, &address);
  for (int r = 0; r < ranks; r++)
    if (r != own) l.link[l.count].rank = r, made[l.count++] = mine;
  trade(&l, sizeof *made, made, others);
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

TesStatus tesi_links_choose(TesContext *ctx) {
  TesStatus status = TES_OK;
  int rank, ranks;
  const char *wish = getenv("TESSERA_TRANSPORT");
  const bool any = !wish || !*wish || !strcmp(wish, "auto"), peer = wish && !strcmp(wish, "peer");
  if (!tesi_has_kernels(ctx) || tesi_ranks(ctx) == 1) return TES_OK;
  TesiKernelState *state = tesi_context_device_state(ctx);
  state->transport = TESI_LINKS_MPI;
  TES_CHECK(any || peer || !strcmp(wish, "mpi"), "TESSERA_TRANSPORT is '%s', expected auto, mpi or peer",
            wish);
  tesi_communicator_host(tesi_context_communicator(ctx), &rank, &ranks);
  if ((any || peer) && tesi_context_device(ctx)->share && ranks == tesi_ranks(ctx)) {
    const TesStatus tried = try_peer(ctx);
    if (tried == TES_OK) state->transport = TESI_LINKS_PEER;
    if (tried != TES_OK)
      tesi_log(ctx, TES_LOG_DETAIL, "ranks do not write into each other's memory: %s",
               tes_context_message(ctx));
    tesi_context_forget(ctx);
  }
  if (peer && state->transport != TESI_LINKS_PEER)
    TES_FAIL(TES_MISSING, "TESSERA_TRANSPORT is peer, but ranks cannot write into each other's memory here");
  tesi_log(ctx, TES_LOG_DETAIL, "transport %s",
           state->transport == TESI_LINKS_PEER ? "peer: ranks write into each other's memory"
                                               : "mpi, by way of the host");
done:
  return tesi_agree(ctx, status);
}
