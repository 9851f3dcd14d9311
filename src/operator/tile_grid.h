/* How a box is cut into blocks that march and leave their upper faces to others (src/kernels/tile_faces.h). */
#ifndef TESI_TILE_GRID_H
#define TESI_TILE_GRID_H

#include "device/kernel.h"
#include "space/space.h"

typedef struct TesiTileGrid {
  TesiGrid grid;
  int layers;           /* of cells a block marches through */
  int64_t block_faces;  /* numbers that a block may leave */
  int64_t values;       /* of all blocks */
  unsigned face_blocks; /* of tesk_tile_faces, 256 threads each */
} TesiTileGrid;

/* Blocks of x times y columns of cells, of which the first `halo` in x are their neighbour's. */
TesiTileGrid tesi_tile_grid(const TesSpace *space, int x, int y, int halo);

#endif
