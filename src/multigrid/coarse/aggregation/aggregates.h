/* Aggregates of the nodes of a matrix: each is a node with those of its neighbours that are in no other aggregate. */
#ifndef TESI_AGGREGATES_H
#define TESI_AGGREGATES_H

#include "operator/assembled/block_matrix.h"

typedef struct TesiAggregates {
  int64_t count;
  int32_t *of;     /* [rows] aggregate of a node; -1: none, for nodes without neighbours */
  int64_t *first;  /* [count + 1] */
  int32_t *member; /* nodes of aggregate a: member[first[a]] .., ascending */
} TesiAggregates;

/* Aggregates of the graph of a square matrix, where the neighbours of I are the other columns of row I. The first pass
 * visits the nodes in their order: if no neighbour of a node has an aggregate, the node and all its neighbours become
 * an aggregate. In the second pass a remaining node joins the aggregate of the first pass that most of its neighbours
 * have (the lowest number wins). If there is none, it makes an aggregate with the remaining neighbours. On one
 * thread. */
TesStatus tesi_aggregates_create(TesContext *ctx, const TesiBlockMatrix *A, TesiAggregates *aggregates);
void tesi_aggregates_free(TesContext *ctx, TesiAggregates *aggregates);

#endif
