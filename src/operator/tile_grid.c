#include "operator/tile_grid.h"

enum { MOST_LAYERS = 32, ENOUGH = 1056 /* blocks: eight per multiprocessor of the largest GPUs */ };

static int divide_up(int64_t a, int64_t b) {
  return (int)((a + b - 1) / b);
}

TesiTileGrid tesi_tile_grid(const TesSpace *space, int x, int y, int halo) {
  const TesiAxis *axis = space->axis;
  const int dim = space->dim, k = space->degree, cells_z = dim == 3 ? axis[2].cells : 1;
  const int64_t nx = x * k + 1, ny = y * k + 1;
  const int blocks_x = divide_up(axis[0].cells, x - halo), blocks_y = divide_up(axis[1].cells, y);
  int layers = tesi_min(MOST_LAYERS, cells_z);
  while (layers > 1 && (int64_t)blocks_x * blocks_y * divide_up(cells_z, layers) < ENOUGH)
    layers = (layers + 1) / 2;
  const int blocks_z = divide_up(cells_z, layers);
  const int64_t planes = dim == 3 ? layers * k + 1 : 1, length = space->length;
  const int64_t shared = length / axis[0].nodes * (blocks_x - 1) + length / axis[1].nodes * (blocks_y - 1) +
                         (dim == 3 ? length / axis[2].nodes * (blocks_z - 1) : 0);
  TesiTileGrid grid = {.grid = {(unsigned)blocks_x, (unsigned)blocks_y, (unsigned)blocks_z},
                       .layers = layers,
                       .block_faces = planes * (nx + ny) + (dim == 3 ? nx * ny : 0),
                       .face_blocks = (unsigned)tesi_min(divide_up(shared, 256), 8192)};
  grid.values = grid.block_faces * blocks_x * blocks_y * blocks_z;
  return grid;
}
