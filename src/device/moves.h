/* Ranges of entries that are copied between two vectors, cleared, or subtracted: a few long ones, or rows of a box. */
#ifndef TESI_MOVES_H
#define TESI_MOVES_H

#include "device/device.h"
#include "parallel/layout.h"

typedef struct TesiMove {
  int64_t from, to, count;
} TesiMove;

/* A list of them that grows; list NULL: they are counted. */
typedef struct TesiMoveList {
  int64_t count;
  TesiMove *list;
  TesiMove last;
} TesiMoveList;

/* What follows does not continue the last range. */
void tesi_move_begin(TesiMoveList *moves);
/* Appends; a range that continues the last one becomes part of it. */
void tesi_move_add(TesiMoveList *moves, int64_t from, int64_t to, int64_t count);
/* The entries that this rank owns, or the others: each to its own place. */
TesStatus tesi_move_list_layout(const TesiLayout *layout, bool others, TesiMoveList *moves);

/* The values are of src/kernels/links.cu. */
typedef enum TesiMoving { TESI_MOVE_COPY, TESI_MOVE_CLEAR, TESI_MOVE_SUBTRACT } TesiMoving;

typedef struct TesiMoves TesiMoves;
/* The list is to stay as long as the object. */
TesStatus tesi_moves_create(TesContext *ctx, const TesiMoveList *list, TesiMoves **moves);
void tesi_moves_destroy(TesiMoves **moves);
/* y[to ..] <- x[from ..], or 0, or y - x; back: the other way round, x[from ..] <- y[to ..]. Vectors in the memory of
 * the context's device; ranges that are in their place already are left alone. */
TesStatus tesi_moves_run(const TesiMoves *moves, TesiMoving how, TesPrecision precision, const void *x,
                         void *y, bool back);
/* Copies, or clears y, in host memory. */
void tesi_moves_host(const TesiMoveList *list, TesiMoving how, TesPrecision precision, const void *x, void *y,
                     bool back);

#endif
