/* The faces between cells of a forest, found from names of their nodes: cells on both sides of a face have the same
 * nodes, and on hanging faces name those of the coarse side. A corner of a face may hang on a third cell: its name
 * is its interpolation (tesi_cells_row_key()). */
#ifndef TESI_FACE_PAIRS_H
#define TESI_FACE_PAIRS_H

#include "space/space.h"

/* A face as the finer side sees it. Point s of its own face is t = origin + axis[0] s_0 + axis[1] s_1 of the
 * other's, face coordinates in ascending directions. */
typedef struct TesiFacePair {
  int32_t cell, other; /* other -1: on the boundary */
  int8_t face, other_face;
  double origin[2], axis[2][2];
} TesiFacePair;

/* Of faces at cuts between ranks: the sides that this rank shows to others, and the cells of others behind such faces,
 * which pairs number from the number of this rank's cells on. On one rank: none. */
typedef struct TesiAcross {
  int64_t shown, cells, seen;
  int32_t *cell;  /* [shown] */
  int8_t *face;   /* [shown] */
  int32_t *place; /* [seen] of each side that others show: which of `cells` it is; -1: no face here needs it */
} TesiAcross;

/* Every inner face once, by halves where it hangs, and every boundary face; at cuts both ranks have it. *pair is
 * released with tesi_free, `across`, which is zero before, with tesi_across_free(), after failure too. */
TesStatus tesi_face_pairs(const TesiCellView *space, TesiAcross *across, TesiFacePair **pair, int64_t *count);
/* values[cells][size], allocated <- what the ranks of these cells have in shown[shown][size]. */
TesStatus tesi_across_values(const TesiCellView *space, const TesiAcross *across, size_t size,
                             const void *shown, void *values);
void tesi_across_free(TesContext *ctx, TesiAcross *across);

#endif
