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
  /** A cell of `fine` is a cell of `coarse`, or a child of one. Boxes: in each direction `fine` has as many cells as
   *  `coarse`, or twice as many, or one more or one less than twice as many. Forests: the mesh of `coarse` is
   *  tes_mesh_coarsen() of the mesh of `fine`. Both spaces may also have the same mesh. The degree of `fine` is the
   *  same or higher. References to both are kept. */
  const TesSpace *coarse, *fine;
  TesPrecision precision;
  /** "box": 1D embeddings; "cells": cell by cell, hanging nodes too; NULL: the first kind that takes the spaces */
  const char *kind;
} TesTransferDesc;

/** Kind cells: a coarse cell reads its nodes (space.h, steps 1 and 2), interpolates them to its child or children,
 *  and each fine node is written by one cell in which it does not hang: functions of the coarse space are continuous,
 *  so that every such cell gives the same value. Values at Dirichlet nodes are taken as 0. Cost per refined coarse
 *  cell: about 2 (n m^3 + 2 n^2 m^2 + 4 n^3 m) multiply-adds in 3D, with n fine and m coarse nodes per direction. The
 *  result does not depend on the number of threads, nor on the order of blocks on a GPU.
 *  Errors: TES_INVALID_INPUT (spaces that are not nested: why each kind refuses them), TES_OUT_OF_MEMORY. */
TesStatus tes_transfer_create(TesContext *context, const TesTransferDesc *desc, TesTransfer **transfer);
void tes_transfer_destroy(TesTransfer **transfer);
/** fine <- fine + P coarse, or fine <- P coarse when `add` is false. */
TesStatus tes_transfer_prolongate(const TesTransfer *transfer, const TesVector *coarse, bool add,
                                  TesVector *fine);
/** coarse <- P' fine. */
TesStatus tes_transfer_restrict(const TesTransfer *transfer, const TesVector *fine, TesVector *coarse);

#ifdef __cplusplus
}
#endif
#endif
