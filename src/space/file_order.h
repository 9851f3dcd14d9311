/* Where the values of a space stand in files: as one rank numbers its nodes, whatever the number of ranks. */
#ifndef TESI_FILE_ORDER_H
#define TESI_FILE_ORDER_H

#include "space/space.h"

/* Of a scalar space. Every node is put into files by one rank, by the first that has a cell with it; the numbers of a
 * rank's own nodes follow one another, and the numbers of the rank before. */
typedef struct TesiFileOrder {
  TesContext *context;
  int64_t all;    /* nodes of all ranks */
  int64_t own;    /* put into files by this rank: */
  int32_t *entry; /* [own] ascending by number; NULL: start, start + 1, .. */
  int64_t start;
  int64_t *number; /* [length] of each entry; NULL: shift + entry */
  int64_t shift;
} TesiFileOrder;

/* Every rank calls it. */
TesStatus tesi_file_order_create(const TesSpace *scalar, TesiFileOrder *order);
/* The numbers alone, of the nodes of trees that are a box of equal cells: as kind box numbers them. */
TesStatus tesi_file_order_create_box(const TesSpace *scalar, TesiFileOrder *order);
void tesi_file_order_free(TesiFileOrder *order);
static inline int64_t tesi_file_number(const TesiFileOrder *order, int64_t entry) {
  return order->number ? order->number[entry] : order->shift + entry;
}
static inline int64_t tesi_file_entry(const TesiFileOrder *order, int64_t i) {
  return order->entry ? order->entry[i] : order->start + i;
}
/* Of index and masks of all cells: another numbering, as of another version of p4est, would put values in wrong
 * places. The same on any number of ranks. Every rank calls it. */
uint64_t tesi_file_order_hash(const TesiCellView *cells, const TesiFileOrder *order);
/* Whether the trees of a forest are a box whose cells all have one level; cells[3] a direction, 1 where there is
 * none. */
bool tesi_mesh_box_of_trees(const TesMesh *mesh, int64_t cells[3]);

#endif
