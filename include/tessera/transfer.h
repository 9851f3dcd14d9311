/** \file transfer.h
 *  Transfer between nested spaces: the embedding of the coarse space and its transpose. */
#ifndef TESSERA_TRANSFER_H
#define TESSERA_TRANSFER_H

#include "space.h"
#include "vector.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TesTransfer TesTransfer;

typedef struct TesTransferDesc {
  const TesSpace *coarse, *fine; /**< fine has, a direction, the same or twice the cells; same degree */
  TesPrecision precision;
} TesTransferDesc;

/** Errors: TES_INVALID_INPUT (spaces that are not nested), TES_OUT_OF_MEMORY. */
TesStatus tes_transfer_create(TesContext *context, const TesTransferDesc *desc, TesTransfer **transfer);
void tes_transfer_destroy(TesTransfer **transfer);
/** fine <- fine + P coarse, or fine <- P coarse when `add` is false. */
TesStatus tes_transfer_prolongate(const TesTransfer *transfer, const TesVector *coarse, bool add,
                                  TesVector *fine);
/** coarse <- P' fine. */
TesStatus tes_transfer_restrict(const TesTransfer *transfer, const TesVector *fine, TesVector *coarse);
/** Plain versions: the 1D embedding matrices as dense rows. For tests; slow. */
TesStatus tes_transfer_prolongate_ref(const TesTransfer *transfer, const TesVector *coarse, bool add,
                                      TesVector *fine);
TesStatus tes_transfer_restrict_ref(const TesTransfer *transfer, const TesVector *fine, TesVector *coarse);

#ifdef __cplusplus
}
#endif
#endif
