/* The nodes of cells, in blocks of TESK_ELASTIC_BLOCK cells, for src/kernels/elasticity_corners.cu. A block lists its
 * nodes in the order in which its cells first have them, and for each node the corners of cells that lie at this
 * node. */
#ifndef TESI_ELASTICITY_BLOCKS_H
#define TESI_ELASTICITY_BLOCKS_H

#include "base/base.h"
#include "kernels/elasticity_arguments.h"

typedef struct TesiElasticityBlocks {
  TeskElasticBlocks arguments;                       /* addresses of these: */
  void *first, *node, *corner, *place_first, *place; /* device */
  int64_t count;
} TesiElasticityBlocks;

/* index[cells][corners]: node, or ~node; nodes: how many there are. May be destroyed after failure too. */
TesStatus tesi_elasticity_blocks_create(TesContext *ctx, int64_t cells, int corners, const int32_t *index,
                                        int64_t nodes, TesiElasticityBlocks *blocks);
void tesi_elasticity_blocks_destroy(TesContext *ctx, TesiElasticityBlocks *blocks);

#endif
