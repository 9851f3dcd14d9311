/** \file transfer.h
 *  Transfer between nested spaces: the embedding of the coarse space and its transpose. */
#ifndef TESSERA_TRANSFER_H
#define TESSERA_TRANSFER_H

#include "forest_space.h"
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

typedef struct TesForestTransferDesc {
  /** The cells of fine are those of coarse or their children (tes_forest_coarsen(), or the same forest); the degree of fine is the same or
   *  higher. References to both are kept. */
  const TesForestSpace *coarse, *fine;
  TesPrecision precision;
} TesForestTransferDesc;

/** The same between spaces with hanging nodes, cell by cell: a coarse cell reads its nodes (forest_space.h, steps 1 and 2),
 *  interpolates them to its child or children, and each fine node is written by one cell in which it does not hang:
 *  functions of the coarse space are continuous, so that any cell gives the same. Dirichlet nodes count as 0. Cost a coarse cell that
 *  is refined: about 2 (n m^3 + 2 n^2 m^2 + 4 n^3 m) multiply-adds in 3D, n and m nodes a direction of fine and coarse. Errors:
 *  TES_INVALID_INPUT (not nested), TES_OUT_OF_MEMORY. The result does not depend on the number of threads, nor on the order of blocks on a GPU. */
TesStatus tes_transfer_create_forest(TesContext *context, const TesForestTransferDesc *desc,
                                     TesTransfer **transfer);
void tes_transfer_destroy(TesTransfer **transfer);
/** fine <- fine + P coarse, or fine <- P coarse when `add` is false. */
TesStatus tes_transfer_prolongate(const TesTransfer *transfer, const TesVector *coarse, bool add,
                                  TesVector *fine);
/** coarse <- P' fine. */
TesStatus tes_transfer_restrict(const TesTransfer *transfer, const TesVector *fine, TesVector *coarse);
/** Plain versions: the 1D embedding matrices as dense rows; between forests all coarse basis functions at each fine node. For tests;
 *  slow. */
TesStatus tes_transfer_prolongate_ref(const TesTransfer *transfer, const TesVector *coarse, bool add,
                                      TesVector *fine);
TesStatus tes_transfer_restrict_ref(const TesTransfer *transfer, const TesVector *fine, TesVector *coarse);

#ifdef __cplusplus
}
#endif
#endif
