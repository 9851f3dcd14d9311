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

/* Every inner face once, by halves where it hangs, and every boundary face. *pair is released with tesi_free. */
TesStatus tesi_face_pairs(const TesiCellView *space, TesiFacePair **pair, int64_t *count);

#endif
