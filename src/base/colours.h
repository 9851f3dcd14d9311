/* Colours of items that share nodes, for example cells. Two items of the same colour have no node in common, so threads
 * work on one colour at a time. The number of colours has no limit, since a node may have any number of cells. */
#ifndef TESI_COLOURS_H
#define TESI_COLOURS_H

#include "base/base.h"

/* Bit k % 64 of mask[k / 64][node]: an item of colour k has the node. */
typedef struct TesiColouring {
  TesContext *context;
  int64_t nodes;
  int planes, colours; /* colours so far */
  uint64_t **mask;     /* [planes][nodes] */
  uint64_t *taken;     /* [planes] colours that the present item must not have */
} TesiColouring;

/* To be ended after failure too. */
TesStatus tesi_colouring_begin(TesContext *ctx, int64_t nodes, TesiColouring *colouring);
void tesi_colouring_end(TesiColouring *colouring);
/* For each item in turn: meet() each of its nodes, choose() its colour, mark() its nodes with the colour. */
static inline void tesi_colouring_meet(TesiColouring *c, int64_t node) {
  for (int p = 0; p < c->planes; p++) c->taken[p] |= c->mask[p][node];
}
/* *colour <- the lowest free colour. */
TesStatus tesi_colouring_choose(TesiColouring *colouring, int32_t *colour);
static inline void tesi_colouring_mark(TesiColouring *c, int64_t node, int32_t colour) {
  c->mask[colour / 64][node] |= (uint64_t)1 << colour % 64;
}

/* Items sorted by colour, and by number within a colour: colour k has (*order)[(*first)[k]] .. (*order)[(*first)[k + 1]
 * - 1]. Both are released with tesi_free(), after failure too. */
TesStatus tesi_colours_sort(TesContext *ctx, int64_t count, int colours, const int32_t *colour,
                            int64_t **first, int32_t **order);

#endif
