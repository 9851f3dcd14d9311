/* The faces between cells of a forest, found from names of their nodes: cells on both sides of a face have the same
 * nodes; on hanging faces both use the nodes of the coarse side. A corner of a face may hang on a third cell: its name
 * is its interpolation (tesi_cells_row_key()). */
#ifndef TESI_FACE_PAIRS_H
#define TESI_FACE_PAIRS_H

#include "space/space.h"

/* A face as its finer side sees it. Direction d of the other side's face runs along the finer side's direction d, or
 * (swapped) along the one of both that is not d; number[d] = 3 backwards + half of direction d, where half is 0 if the
 * other side has the whole of it, 1 its lower, 2 its upper half. Directions of faces ascend. */
typedef struct TesiFacePair {
  int32_t cell, other; /* other -1: on the boundary */
  int8_t face, other_face, number[2];
  bool swapped;
} TesiFacePair;

/* Data of faces at cuts between ranks: the sides that this rank sends to other ranks, and the cells of other ranks
 * across such faces. The numbers of these cells follow the numbers of this rank's cells. Empty on one rank. */
typedef struct TesiAcross {
  int64_t shown, cells, seen;
  int32_t *cell;  /* [shown] */
  int8_t *face;   /* [shown] */
  int32_t *place; /* [seen] index in `cells` of each side that other ranks send; -1: no face here needs it */
} TesiAcross;

/* In the order of the cells: all inner faces, each once (a hanging face half by half), and all boundary faces; faces at
 * cuts are on both ranks. *pair is released with tesi_free. `across`, which is zero at entry, is released with
 * tesi_across_free(), after failure too. */
TesStatus tesi_face_pairs(const TesiCellView *space, TesiAcross *across, TesiFacePair **pair, int64_t *count);
/* Allocates values[cells][size] <- the rows of shown[shown][size] on the ranks that own these cells. */
TesStatus tesi_across_values(const TesiCellView *space, const TesiAcross *across, size_t size,
                             const void *shown, void *values);
void tesi_across_free(TesContext *ctx, TesiAcross *across);

#endif
