/* Messages between GPUs of ranks by NVIDIA's NCCL, within a host and between hosts. libnccl is opened by dlopen; the
 * variable TESSERA_LIBNCCL names a file that is tried alone. Messages are queued on the stream of a context, and can be
 * recorded, but not in the body of a loop. */
#ifndef TESI_NCCL_H
#define TESI_NCCL_H

#include "parallel/comm.h"

typedef struct TesiNccl TesiNccl;

/* Connects the GPUs of all ranks; every rank calls it, with its GPU's context current. Errors: TES_MISSING, on every
 * rank (no library, a GPU that two ranks have, no way between GPUs). */
TesStatus tesi_nccl_create(TesContext *ctx, TesiNccl **nccl);
void tesi_nccl_destroy(TesContext *ctx, TesiNccl **nccl);
/* Addresses of device memory. */
TesStatus tesi_nccl_send(TesContext *ctx, TesiNccl *nccl, void *stream, int n, const TesiMessage *message);

#endif
