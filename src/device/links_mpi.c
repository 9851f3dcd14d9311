/* By way of the host, which is right everywhere: one copy to pinned memory, messages of MPI, one copy back. */
#include "device/links_transport.h"
#include "device/vector.h"

TesStatus tesi_links_buffers(TesiLinks *l) {
  TesContext *ctx = l->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const size_t bytes = (size_t)l->total * sizeof(double);
  TES_TRY(device->allocate(ctx, bytes, (void **)&l->out));
  TES_TRY(device->allocate(ctx, bytes, (void **)&l->in));
done:
  return status;
}

void tesi_links_release(TesiLinks *l) {
  const TesiDevice *device = tesi_context_device(l->context);
  device->release(l->context, (void **)&l->out);
  device->release(l->context, (void **)&l->in);
}

char *tesi_links_end(const TesiLinks *l, int i, int64_t first, bool odd, size_t size) {
  (void)i, (void)odd;
  return l->out + (size_t)first * size;
}

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

static TesStatus ready(TesContext *ctx) {
  (void)ctx;
  return TES_OK;
}

static TesStatus create(TesiLinks *l) {
  TesContext *ctx = l->context;
  TesStatus status = TES_OK;
  const size_t bytes = (size_t)l->total * sizeof(double);
  TES_TRY(pin(ctx, bytes, &l->sent));
  TES_TRY(pin(ctx, bytes, &l->received));
  TES_TRY(tesi_links_buffers(l));
done:
  return status;
}

static void destroy(TesiLinks *l) {
  unpin(l->context, &l->sent);
  unpin(l->context, &l->received);
  tesi_links_release(l);
}

static TesStatus move(TesiLinks *l, TesPrecision precision) {
  TesContext *ctx = l->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const TesCommunicator *communicator = tesi_context_communicator(ctx);
  const size_t bytes = (size_t)l->total * tesi_precision_size(precision);
  TES_TRY(device->to_host(ctx, l->sent, l->out, bytes));
  tesi_links_messages(l, precision, l->sent, l->received);
  communicator->table->begin(communicator, l->count, l->message);
  communicator->table->end(communicator);
  TES_TRY(device->to_device(ctx, l->in, l->received, bytes));
done:
  return status;
}

const TesiLinksTransport tesi_links_by_mpi = {.name = "mpi",
                                              .description = "by way of the host",
                                              .ready = ready,
                                              .create = create,
                                              .destroy = destroy,
                                              .end = tesi_links_end,
                                              .move = move};
