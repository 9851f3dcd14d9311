/* The plan of transfers between Raviart-Thomas spaces. */
#ifndef TESI_TRANSFER_RT_H
#define TESI_TRANSFER_RT_H

#include "tensor/band.h"
#include "transfer/transfer.h"

typedef struct TesiTransferRtDevice TesiTransferRtDevice;
typedef struct TesiTransferRt {
  TesiBand up[3][2], down[3][2]; /* by direction and TesiBasis; empty where no part has this basis */
  void *work[2];
  TesiTransferRtDevice *device; /* kernels, used in the place of `work`; NULL on the host */
} TesiTransferRt;

/* src/kernels/transfer_rt.cu. The plan must have its bands; *device is NULL after a failure. */
TesStatus tesi_transfer_rt_device_create(const TesTransfer *t, TesiTransferRtDevice **device);
void tesi_transfer_rt_device_destroy(TesContext *ctx, TesiTransferRtDevice **device);
TesStatus tesi_transfer_rt_device_prolongate(const TesTransfer *t, const void *coarse, bool add, void *fine);
TesStatus tesi_transfer_rt_device_restrict(const TesTransfer *t, const void *fine, void *coarse);
TesStatus tesi_transfer_rt_device_restrict_pressures(const TesTransfer *t, const void *fine, void *coarse);
/* Prolongates into the order PARITY, if there is a kernel for it. */
bool tesi_transfer_rt_device_writes(const TesTransfer *t, TesiEntryOrderKind order);
TesStatus tesi_transfer_rt_device_prolongate_ordered(const TesTransfer *t, const void *coarse,
                                                     const TesiEntryOrder *fine);

#endif
