/* Messages that the devices send to each other, queued as kernels are: NCCL, which carries them between hosts too. The
 * emulator sends such messages by MPI. */
#include "device/links_transport.h"

static TesStatus ready(TesContext *ctx) {
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  if (!device->connect) TES_FAIL(TES_MISSING, "%s has no messages between devices", device->kind);
  TES_TRY(device->connect(ctx));
done:
  return status;
}

static TesStatus move(TesiLinks *l, TesPrecision precision) {
  tesi_links_messages(l, precision, l->out, l->in);
  return tesi_context_device(l->context)->send(l->context, l->count, l->message);
}

const TesiLinksTransport tesi_links_by_nccl = {.name = "nccl",
                                               .description = "messages between devices",
                                               .queued = true,
                                               .ready = ready,
                                               .create = tesi_links_buffers,
                                               .destroy = tesi_links_release,
                                               .end = tesi_links_end,
                                               .move = move};
