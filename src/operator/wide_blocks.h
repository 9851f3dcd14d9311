/* Which entries a wide box (operator_wide.h) gets from whom. A box is a product of directions, and so is the part of a
 * rank, its wide box, and what one of them needs of another: runs of layers in each direction. Products of runs are
 * blocks of entries that follow each other in two vectors. */
#ifndef TESI_WIDE_BLOCKS_H
#define TESI_WIDE_BLOCKS_H

#include "device/moves.h"
#include "operator/operator_wide.h"

/* Cells of a direction: of a rank, or of its wide box. In a ring they may lie beyond the ends of the box, where they
 * stand for the cells at its other end. */
typedef struct TesiWideWindow {
  int first, end;
} TesiWideWindow;

/* A direction of the box of all ranks. */
typedef struct TesiWideLine {
  int cells, parts, part; /* part: this rank's */
  bool ring;              /* periodic */
  int *first;             /* [parts + 1] first cells of the parts */
  int layers, step;       /* the reach */
} TesiWideLine;

/* One scalar of the space. */
typedef struct TesiWidePiece {
  bool nodes[3];       /* by direction; else modes, which are in one cell each */
  int step[3];         /* layers per cell */
  int64_t at, wide_at; /* its first entry in vectors of the rank and in wide vectors */
} TesiWidePiece;

TesStatus tesi_wide_line_create(const TesMesh *mesh, int d, TesiReach reach, TesiWideLine *line);
TesiWideWindow tesi_wide_part(const TesiWideLine *line, int part);
/* The part with the layers added. What would reach around a ring is all of it. */
TesiWideWindow tesi_wide_window(const TesiWideLine *line, int part);
/* Whether a wide box is all of a ring, and so periodic. */
bool tesi_wide_is_round(const TesiWideLine *line, TesiWideWindow wide);
/* The entries of a piece in wide vectors. */
int64_t tesi_wide_length(const TesiWidePiece *piece, const TesiWideLine line[3]);

/* Appends the entries of the rank's vectors: from there to wide vectors. */
void tesi_wide_add_own(const TesiWidePiece *piece, const TesiWideLine line[3], TesiMoveList *blocks);
/* Appends the entries that the wide box of the rank with parts `to` needs of the rank with parts `from`: from wide
 * vectors there to wide vectors here. The piece begins at `at` in the vector that is this rank's. */
void tesi_wide_add_needed(const TesiWidePiece *piece, const TesiWideLine line[3], const int from[3],
                          const int to[3], int64_t at, TesiMoveList *blocks);

#endif
