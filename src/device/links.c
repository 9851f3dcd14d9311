/* By way of the host, which is right everywhere: one copy to pinned memory, messages of MPI, one copy back. */
#include "device/links.h"
#include "device/upload.h"
#include "device/vector.h"
#include "parallel/comm.h"

enum { THREADS = 256, BLOCKS = 1024 };

struct TesiLinks {
  TesContext *context;
  int count;
  TesiLink *link;
  TesiMessage *message;
  int64_t total, most;        /* numbers: of all links, of the longest */
  void *sent, *received;      /* host */
  char *out, *in;             /* device */
  void *first, *ends[2], *round; /* device; ends: by precision */
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

/* Where the numbers of each link begin, for kernels. */
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
      ends[i] = l->out + (size_t)first[i % l->count] * tesi_precision_size((TesPrecision)precision);
    TES_TRY(tesi_upload(ctx, ends, 2 * (size_t)l->count * sizeof *ends, &l->ends[precision]));
  }
done:
  tesi_free(ctx, &first);
  tesi_free(ctx, &ends);
  return status;
}

TesStatus tesi_links_create(TesContext *ctx, int count, const TesiLink *link, TesiLinks **links) {
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  TesiLinks *l = NULL;
  *links = NULL;
  TES_NEW(&l);
  l->context = ctx;
  l->count = count;
  TES_ALLOC(&l->link, count);
  TES_ALLOC(&l->message, count);
  for (int i = 0; i < count; i++) {
    l->link[i] = link[i];
    l->total += link[i].count;
    if (link[i].count > l->most) l->most = link[i].count;
  }
  const size_t bytes = (size_t)l->total * sizeof(double);
  TES_TRY(pin(ctx, bytes, &l->sent));
  TES_TRY(pin(ctx, bytes, &l->received));
  TES_TRY(device->allocate(ctx, bytes, (void **)&l->out));
  TES_TRY(device->allocate(ctx, bytes, (void **)&l->in));
  TES_TRY(device->allocate(ctx, sizeof(unsigned), &l->round));
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
  void **all[] = {(void **)&l->out, (void **)&l->in, &l->first, &l->ends[0], &l->ends[1], &l->round};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) device->release(ctx, all[i]);
  tesi_free(ctx, &l->link);
  tesi_free(ctx, &l->message);
  tesi_free(ctx, &l);
}

TeskLinks tesi_links_arguments(const TesiLinks *l, TesPrecision precision) {
  return (TeskLinks){.first = l->first, .out = l->ends[precision], .in = l->in, .round = l->round};
}

TesStatus tesi_links_run(TesiLinks *l, TesPrecision precision) {
  TesContext *ctx = l->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const TesCommunicator *communicator = tesi_context_communicator(ctx);
  const size_t size = tesi_precision_size(precision), bytes = (size_t)l->total * size;
  size_t at = 0;
  TES_TRY(device->to_host(ctx, l->sent, l->out, bytes));
  for (int i = 0; i < l->count; i++) {
    const size_t length = (size_t)l->link[i].count * size;
    l->message[i] = (TesiMessage){l->link[i].rank, (int64_t)length, (char *)l->sent + at, (char *)l->received + at};
    at += length;
  }
  communicator->table->begin(communicator, l->count, l->message);
  communicator->table->end(communicator);
  TES_TRY(device->to_device(ctx, l->in, l->received, bytes));
done:
  return status;
}

TesStatus tesi_links_launch(TesContext *ctx, TesiLinksKernel which, TesPrecision precision, int64_t n, int count,
                            void **arguments) {
  static const char *const names[TESI_LINKS_KERNELS] = {"tesk_pack_entries", "tesk_sum_copies", "tesk_pack_blocks",
                                                        "tesk_take_blocks", "tesk_clear_entries"};
  TesStatus status = TES_OK;
  TesiKernelState *state = tesi_context_device_state(ctx);
  TesiKernel *kernel = &state->links[precision][which];
  TesiProgram *program;
  const TesiProgramDesc desc = {.file = "links.cu",
                                .options = {precision == TES_SINGLE ? "real=float" : "real=double"}};
  if (!kernel->entry) {
    TES_TRY(tesi_program_get(ctx, &desc, &program));
    TES_TRY(tesi_kernel_get(ctx, program, names[which], 0, kernel));
  }
  const int64_t blocks = (n + THREADS - 1) / THREADS;
  TES_TRY(tesi_kernel_launch(ctx, kernel, (TesiGrid){(unsigned)(blocks < BLOCKS ? blocks : BLOCKS), (unsigned)count, 1},
                             THREADS, 0, arguments));
done:
  return status;
}
