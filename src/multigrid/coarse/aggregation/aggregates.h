/* Aggregates of the nodes of a matrix: each is a node with its neighbours, as far as these are free. */
#ifndef TESI_AGGREGATES_H
#define TESI_AGGREGATES_H

#include "operator/assembled/block_matrix.h"

typedef struct TesiAggregates {
  int64_t count;
  int32_t *of;     /* [rows] aggregate of a node; -1: none, as of nodes without neighbours */
  int64_t *first;  /* [count + 1] */
  int32_t *member; /* nodes of aggregate a: member[first[a]] .., ascending */
} TesiAggregates;

/* Of the graph of a square matrix: neighbours of I are the other columns of row I. One pass over the nodes, in their
 * order: a node of which no neighbour has an aggregate makes one with all of its neighbours. Then a node that is
 * left joins the aggregate that most of its neighbours have (of the first pass; the lowest number wins), else it makes
 * one with the neighbours that are left. On one thread. */
TesStatus tesi_aggregates_create(TesContext *ctx, const TesiBlockMatrix *A, TesiAggregates *aggregates);
void tesi_aggregates_free(TesContext *ctx, TesiAggregates *aggregates);

#endif
