#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device/links_transport.h"
#include "device/upload.h"
#include "device/vector.h"

enum { THREADS = TESI_LINKS_THREADS, BLOCKS = 1024, COUNTS = 4 /* TeskLinks.round */ };

void tesi_links_trade(const TesiLinks *l, size_t bytes, const void *sent, void *received) {
  const TesCommunicator *communicator = tesi_context_communicator(l->context);
  for (int i = 0; i < l->count; i++)
    l->message[i] = (TesiMessage){l->link[i].rank, (int64_t)bytes, (const char *)sent + (size_t)i * bytes,
                                  (char *)received + (size_t)i * bytes};
  communicator->table->begin(communicator, l->count, l->message);
  communicator->table->end(communicator);
}

void tesi_links_messages(const TesiLinks *l, TesPrecision precision, const void *sent, void *received) {
  size_t at = 0;
  for (int i = 0; i < l->count; i++) {
    const size_t bytes = (size_t)l->link[i].count * tesi_precision_size(precision);
    l->message[i] =
        (TesiMessage){l->link[i].rank, (int64_t)bytes, (const char *)sent + at, (char *)received + at};
    at += bytes;
  }
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
      ends[i] = l->transport->end(l, i % l->count, first[i % l->count], i >= l->count,
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
  l->transport = state->transport;
  TES_ALLOC(&l->link, count);
  TES_ALLOC(&l->message, count);
  for (int i = 0; i < count; i++) l->link[i] = link[i], l->total += link[i].count;
  TES_TRY(l->transport->create(l));
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
  l->transport->destroy(l);
  void **all[] = {&l->first, &l->ends[0], &l->ends[1], &l->round};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) device->release(ctx, all[i]);
  tesi_free(ctx, &l->link);
  tesi_free(ctx, &l->message);
  tesi_free(ctx, &l);
}

static TeskLinks arguments_of(const TesiLinks *l, TesPrecision precision) {
  return (TeskLinks){.first = l->first,
                     .out = l->ends[precision],
                     .in = l->in + l->flags_bytes,
                     .half = (long long)l->half,
                     .round = l->round,
                     .to = l->flags,
                     .from = (const unsigned *)(void *)l->in,
                     .links = l->count};
}

static TesStatus get_kernel(TesContext *ctx, TesiLinksKernel which, TesPrecision precision,
                            TesiKernel **kernel) {
  static const char *const names[TESI_LINKS_KERNELS] = {"tesk_exchange_copies", "tesk_exchange_blocks",
                                                        "tesk_exchange_parts",  "tesk_pick_entries",
                                                        "tesk_clear_entries",   "tesk_move_ranges"};
  TesStatus status = TES_OK;
  TesiKernelState *state = tesi_context_device_state(ctx);
  TesiProgram *program;
  const TesiProgramDesc desc = {.file = "links.cu", .real = precision};
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
  int phases = l->transport->move ? TESK_LINKS_PACK : TESK_LINKS_BOTH;
  arguments[0] = &phases, arguments[1] = &links;
  count_exchange(ctx);
  TES_TRY(launch(ctx, which, precision, blocks, arguments));
  if (phases == TESK_LINKS_BOTH) return TES_OK;
  TES_TRY(l->transport->move(l, precision));
  phases = TESK_LINKS_TAKE;
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
  const TesiProgramDesc desc = {.file = "links_sums.cu"};
  TesiProgram *program;
  TesiLink *link = NULL;
  *links = NULL;
  TES_ALLOC(&link, ranks);
  for (int r = 0; r < ranks - 1; r++) link[r] = (TesiLink){r + (r >= own), sums};
  TES_TRY(tesi_links_create(ctx, ranks - 1, link, links));
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_links_sums", THREADS * sizeof(double), &(*links)->sums));
done:
  tesi_free(ctx, &link);
  return status;
}

static TesStatus launch_sums(TesiLinks *l, int phases, int sums, int stride, int parts, double *partial) {
  TeskLinks links = arguments_of(l, TES_DOUBLE);
  int own = tesi_context_communicator(l->context)->rank;
  void *arguments[] = {&phases, &links, &sums, &parts, &stride, &own, &partial};
  return tesi_kernel_launch(l->context, &l->sums, (TesiGrid){1, 1, 1}, THREADS, THREADS * sizeof(double),
                            arguments);
}

TesStatus tesi_links_sums(TesiLinks *l, int sums, int stride, int parts, double *partial) {
  TesContext *ctx = l->context;
  TesStatus status = TES_OK;
  const bool moved = l->transport->move != NULL;
  count_exchange(ctx);
  TES_TRY(launch_sums(l, moved ? TESK_LINKS_PACK : TESK_LINKS_BOTH, sums, stride, parts, partial));
  if (!moved) return TES_OK;
  TES_TRY(l->transport->move(l, TES_DOUBLE));
  TES_TRY(launch_sums(l, TESK_LINKS_TAKE, sums, stride, parts, partial));
done:
  return status;
}

/* ---- which transport ----------------------------------------------------------------------------------- */

static const TesiLinksTransport *transport_of(const TesContext *ctx) {
  const TesiKernelState *state = tesi_has_kernels(ctx) ? tesi_context_device_state(ctx) : NULL;
  return tesi_ranks(ctx) > 1 && state ? state->transport : NULL;
}

bool tesi_links_queued(const TesContext *ctx) {
  const TesiLinksTransport *transport = transport_of(ctx);
  return transport && transport->queued;
}

bool tesi_links_loop(const TesContext *ctx) {
  const TesiLinksTransport *transport = transport_of(ctx);
  return !transport || transport->loops;
}

/* Without a wish: the first that works. */
TesStatus tesi_links_choose(TesContext *ctx) {
  static const TesiLinksTransport *const all[] = {&tesi_links_by_peer, &tesi_links_by_nccl,
                                                  &tesi_links_by_mpi};
  enum { COUNT = sizeof all / sizeof *all };
  TesStatus status = TES_OK;
  const char *wish = getenv("TESSERA_TRANSPORT");
  const bool any = !wish || !*wish || !strcmp(wish, "auto");
  bool known = any;
  char reason[256];
  if (!tesi_has_kernels(ctx) || tesi_ranks(ctx) == 1) return TES_OK;
  TesiKernelState *state = tesi_context_device_state(ctx);
  for (int i = 0; i < COUNT; i++) known |= !any && !strcmp(wish, all[i]->name);
  TES_CHECK(known, "TESSERA_TRANSPORT is '%s', expected auto, peer, nccl or mpi", wish);
  for (int i = 0; i < COUNT && !state->transport; i++) {
    if (!any && strcmp(wish, all[i]->name)) continue;
    if (all[i]->ready(ctx) == TES_OK)
      state->transport = all[i];
    else
      snprintf(reason, sizeof reason, "%s", tes_context_message(ctx));
    tesi_context_forget(ctx);
    if (!state->transport && !any)
      TES_FAIL(TES_MISSING, "TESSERA_TRANSPORT is %s, which does not work here: %s", wish, reason);
    if (!state->transport) tesi_log(ctx, TES_LOG_DETAIL, "no transport %s: %s", all[i]->name, reason);
  }
  tesi_log(ctx, TES_LOG_DETAIL, "transport %s: %s", state->transport->name, state->transport->description);
done:
  return tesi_agree(ctx, status);
}
