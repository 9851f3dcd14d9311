/* The order of the values of a space in files: as one rank would number its nodes, whatever the number of ranks. */
#ifndef TESI_FILE_ORDER_H
#define TESI_FILE_ORDER_H

#include "space/space.h"

/* The order for a scalar space. One rank puts each node into files: the first rank with a cell that has it. The numbers
 * of a rank's own nodes are consecutive, and follow the numbers of the rank before. */
typedef struct TesiFileOrder {
  TesContext *context;
  int64_t all; /* nodes of all ranks */
  int64_t own; /* nodes that this rank puts into files; of a box that ranks cut in other directions than the last one
                   * tesi_file_order_slab() has them, else: */
  const TesiLayout *grid; /* of such a box; NULL: it is none */
  int32_t *entry;         /* [own] ascending by number; NULL: start, start + 1, .. */
  int64_t start;
  int64_t *number; /* [length] number of each entry; NULL: shift + entry */
  int64_t shift;
} TesiFileOrder;

/* Every rank calls it. */
TesStatus tesi_file_order_create(const TesSpace *scalar, TesiFileOrder *order);
/* The numbers alone, for trees that are a box of equal cells: the same numbers as for kind box. */
TesStatus tesi_file_order_create_box(const TesSpace *scalar, TesiFileOrder *order);
void tesi_file_order_free(TesiFileOrder *order);
/* slab[own] <- the numbers start .. start + own - 1 of a box with a grid, from the parts of all ranks, values[length].
 * Every rank calls it. */
TesStatus tesi_file_order_slab(const TesiFileOrder *order, const double *values, double *slab);
static inline int64_t tesi_file_number(const TesiFileOrder *order, int64_t entry) {
  return order->number ? order->number[entry] : order->shift + entry;
}
static inline int64_t tesi_file_entry(const TesiFileOrder *order, int64_t i) {
  return order->entry ? order->entry[i] : order->start + i;
}
/* A hash of index and masks of all cells. Another numbering, for example by another version of p4est, would put values
 * in wrong places. It does not depend on the number of ranks. Every rank calls it. */
uint64_t tesi_file_order_hash(const TesiCellView *cells, const TesiFileOrder *order);
/* Whether the trees of a forest form a box whose cells all have one level; cells[3] per direction, 1 in a direction
 * that does not exist. */
bool tesi_mesh_box_of_trees(const TesMesh *mesh, int64_t cells[3]);

#endif
