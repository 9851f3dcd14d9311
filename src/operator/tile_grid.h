/* The division of a box into blocks that march and leave results on their upper faces to other blocks
 * (src/kernels/tile_faces.h). */
#ifndef TESI_TILE_GRID_H
#define TESI_TILE_GRID_H

#include "device/kernel.h"
#include "space/space.h"

typedef struct TesiTileGrid {
  TesiGrid grid;
  int layers;           /* layers of cells that a block marches through */
  int64_t block_faces;  /* how many numbers a block may leave */
  int64_t values;       /* of all blocks */
  unsigned face_blocks; /* blocks of tesk_tile_faces, 256 threads each */
} TesiTileGrid;

/* Blocks of x times y columns of cells. The first `halo` columns in x belong to the neighbouring block. */
TesiTileGrid tesi_tile_grid(const TesSpace *space, int x, int y, int halo);

#endif
