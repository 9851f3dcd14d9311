#include "device/cuda/nccl.h"
#include <dlfcn.h>
#include <stdlib.h>
#include "device/library.h"

enum { ONE_BYTE = 0 /* ncclInt8 */ };

typedef struct Id {
  char bytes[128];
} Id;

/* X(result, name here, exported symbol, arguments) */
#define NCCL_LIST(X)                                                                                         \
  X(const char *, text, "ncclGetErrorString", (int))                                                         \
  X(int, id, "ncclGetUniqueId", (Id *))                                                                      \
  X(int, create, "ncclCommInitRank", (void **, int, Id, int))                                                \
  X(int, destroy, "ncclCommDestroy", (void *))                                                               \
  X(int, begin, "ncclGroupStart", (void))                                                                    \
  X(int, end, "ncclGroupEnd", (void))                                                                        \
  X(int, send, "ncclSend", (const void *, size_t, int, int, void *, void *))                                 \
  X(int, receive, "ncclRecv", (void *, size_t, int, int, void *, void *))

struct TesiNccl {
#define X(result, name, symbol, arguments) result(*name) arguments;
  NCCL_LIST(X)
#undef X
  void *library, *communicator;
};

#define NCCL(nccl, code, call)                                                                               \
  do {                                                                                                       \
    const int error_ = (nccl)->call;                                                                         \
    if (error_) TES_FAIL(code, "NCCL: %s in %s", (nccl)->text(error_), #call);                               \
  } while (0)

static TesStatus open_library(TesContext *ctx, TesiNccl *n) {
  static const char *const names[] = {"libnccl.so.2", "libnccl.so", NULL};
  TesStatus status = TES_OK;
  n->library = tesi_library_open(getenv("TESSERA_LIBNCCL"), names);
  if (!n->library)
    TES_FAIL(TES_MISSING, "no libnccl for messages between GPUs (%s): install it, or set TESSERA_LIBNCCL",
             dlerror());
#define X(result, name, symbol, arguments)                                                                   \
  TES_TRY(tesi_library_get(ctx, n->library, "libnccl", symbol, &n->name));
  NCCL_LIST(X)
#undef X
done:
  return status;
}

/* On every rank, if one rank failed. */
static TesStatus together(TesContext *ctx, TesStatus status) {
  if (!tesi_reduce_any(ctx, status != TES_OK)) return TES_OK;
  if (status == TES_OK) TES_FAIL(TES_MISSING, "NCCL does not work on another rank");
done:
  return status;
}

static TesStatus make_id(TesContext *ctx, TesiNccl *n, Id *id) {
  TesStatus status = TES_OK;
  if (tesi_context_communicator(ctx)->rank == 0) NCCL(n, TES_MISSING, id(id));
done:
  return status;
}

/* Messages go from rank to rank alone. For those the library needs no multicast between GPUs, which takes memory. */
static TesStatus connect_ranks(TesContext *ctx, TesiNccl *n, Id id) {
  TesStatus status = TES_OK;
  setenv("NCCL_NVLS_ENABLE", "0", 0);
  NCCL(n, TES_MISSING, create(&n->communicator, tesi_ranks(ctx), id, tesi_context_communicator(ctx)->rank));
done:
  return status;
}

TesStatus tesi_nccl_create(TesContext *ctx, TesiNccl **nccl) {
  TesStatus status = TES_OK;
  TesiNccl *n = NULL;
  Id id = {{0}};
  *nccl = NULL;
  status = tesi_alloc(ctx, 1, sizeof *n, (void **)&n);
  if (status == TES_OK) status = open_library(ctx, n);
  TES_TRY(together(ctx, status));
  TES_TRY(together(ctx, make_id(ctx, n, &id)));
  tesi_broadcast(ctx, 0, sizeof id, &id);
  TES_TRY(together(ctx, connect_ranks(ctx, n, id)));
  *nccl = n;
  n = NULL;
done:
  tesi_nccl_destroy(ctx, &n);
  return status;
}

/* The library stays open, as its threads may still run. */
void tesi_nccl_destroy(TesContext *ctx, TesiNccl **nccl) {
  TesiNccl *n = *nccl;
  if (!n) return;
  if (n->communicator) n->destroy(n->communicator);
  tesi_free(ctx, nccl);
}

/* If a call within the group fails, the group must still end. */
TesStatus tesi_nccl_send(TesContext *ctx, TesiNccl *nccl, void *stream, int n, const TesiMessage *message) {
  TesStatus status = TES_OK;
  int error = 0;
  NCCL(nccl, TES_INTERNAL, begin());
  for (int i = 0; i < n && !error; i++) {
    const TesiMessage *m = &message[i];
    error = nccl->send(m->sent, (size_t)m->bytes, ONE_BYTE, m->rank, nccl->communicator, stream);
    if (!error)
      error = nccl->receive(m->received, (size_t)m->bytes, ONE_BYTE, m->rank, nccl->communicator, stream);
  }
  const int ended = nccl->end();
  if (error || ended)
    TES_FAIL(TES_INTERNAL, "NCCL: %s in messages to %d ranks", nccl->text(error ? error : ended), n);
done:
  return status;
}
