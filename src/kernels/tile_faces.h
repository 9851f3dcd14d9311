/* Blocks of TILE_X x TILE_Y columns of cells that march up through `layers` layers of a box and write each of their
 * results once. Nodes on a block's upper faces belong to its neighbours: the block leaves its part of the sums there
 * in `faces`, and tesk_tile_faces adds these parts to y afterwards, in one order. The lower faces of a block belong
 * to the block.
 *
 * A block leaves [x-face][z][y], [y-face][z][x] and [z-face][y][x], all with both ends, together block_faces numbers;
 * an edge counts in the first face that has it. On an x-face each number costs a whole sector of y (read and
 * written), so blocks should be long in x. With HALO 1 there are none:
 * a block's first column of cells in x is its neighbour's last column, computed again for its contribution to the
 * nodes of the block's own cells.
 *
 * Before it: real, DIM, DEGREE (or K), TILE_X (with the halo), TILE_Y, RESIDUAL, HALO (else 0), and ARGUMENTS, the
 * type of the kernel's arguments with cells, dirichlet, layers, pitch, plane, block_faces and sign. */
#ifndef TESK_TILE_FACES_H
#define TESK_TILE_FACES_H

#ifndef HALO
#define HALO 0
#endif
#define OWN_X (TILE_X - HALO)    /* cells of a block in x without the halo */
#define NX (TILE_X * DEGREE + 1) /* nodes, both ends counted */
#define NY (TILE_Y * DEGREE + 1)

/* Data common to all threads of a block. */
typedef struct Block {
  int x0, y0, z0, z1; /* first cells (-1 in x: the halo is outside the box); end of the layers */
  int nodes[3];
  int inner[2]; /* whether there is a block behind it in x, y */
  int inside;   /* whether no node of the block is on the boundary in x and y */
  real *x_face, *y_face, *z_face;
} Block;

TESK_DEVICE Block make_block(const ARGUMENTS *a, real *faces) {
  Block block;
  block.x0 = (int)blockIdx.x * OWN_X - HALO;
  block.y0 = (int)blockIdx.y * TILE_Y;
  block.z0 = (int)blockIdx.z * a->layers;
  block.z1 = block.z0 + a->layers < a->cells[2] ? block.z0 + a->layers : a->cells[2];
  TESK_UNROLL
  for (int d = 0; d < 3; d++) block.nodes[d] = d < DIM ? a->cells[d] * DEGREE + 1 : 1;
  block.inner[0] = block.x0 + TILE_X < a->cells[0];
  block.inner[1] = block.y0 + TILE_Y < a->cells[1];
  block.inside = block.inner[0] && block.inner[1] && block.x0 + HALO > 0 && block.y0 > 0;
  const long long number = ((long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const int planes = DIM == 3 ? a->layers * DEGREE + 1 : 1;
  block.x_face = faces + number * a->block_faces;
  block.y_face = block.x_face + planes * NY;
  block.z_face = block.y_face + planes * NX;
  return block;
}

/* Node i of direction d, of the whole box, lies on a Dirichlet face. */
TESK_DEVICE int is_fixed(const ARGUMENTS *a, int d, int i, int nodes) {
  return (i == 0 && a->dirichlet[2 * d]) || (i == nodes - 1 && a->dirichlet[2 * d + 1]);
}

/* The place of a column of results: in y, or on a face of the block. */
typedef struct Target {
  real *to, *top; /* first row, row TILE_Y DEGREE */
  const real *b;
  int zero, owned;
  long long step;
} Target;

TESK_DEVICE Target make_target(const ARGUMENTS *a, const Block *block, int ix, int iz, real *y, const real *b) {
  Target target;
  const int x = block->x0 * DEGREE + ix, z = block->z0 * DEGREE + iz;
  const int x_face = !HALO && ix == NX - 1 && block->inner[0],
            z_face = DIM == 3 && iz == (block->z1 - block->z0) * DEGREE && block->z1 < a->cells[2];
  const long long at = z * a->plane + (long long)block->y0 * DEGREE * a->pitch + x;
  target.zero = is_fixed(a, 0, x, block->nodes[0]) || (DIM == 3 && is_fixed(a, 2, z, block->nodes[2]));
  target.owned = !x_face && !z_face;
  target.to = x_face ? block->x_face + iz * NY : z_face ? block->z_face + ix : y + at;
  target.step = x_face ? 1 : z_face ? NX : a->pitch;
  target.b = RESIDUAL ? b + at : b; /* read where owned */
  target.top = target.to + TILE_Y * DEGREE * target.step;
  if (!x_face && block->inner[1]) target.top = block->y_face + iz * NX + ix;
  return target;
}

TESK_DEVICE void put(const Target *target, int owned, int zero, real *to, const real *b, real value) {
#if RESIDUAL
  if (owned) value = *b - value;
#else
  (void)target, (void)owned, (void)b;
#endif
  *to = zero ? 0 : value;
}

/* Writes the next DEGREE results of a column, for a cell whose first row is `row` in the whole box. */
TESK_DEVICE void put_cell(const ARGUMENTS *a, const Block *block, Target *target, int row, const real *value) {
  if (block->inside && !target->zero) { /* nothing to look at */
    TESK_UNROLL
    for (int l = 0; l < DEGREE; l++) {
      put(target, target->owned, 0, target->to, target->b, value[l]);
      target->to += target->step;
      if (RESIDUAL) target->b += target->step;
    }
    return;
  }
  const int lines = block->nodes[1] - row;
  TESK_UNROLL
  for (int l = 0; l < DEGREE; l++) {
    if (l < lines)
      put(target, target->owned, target->zero || (l == 0 && is_fixed(a, 1, row, block->nodes[1])), target->to,
          target->b, value[l]);
    target->to += target->step;
    if (RESIDUAL) target->b += target->step;
  }
}

/* Writes the column's last result, in row TILE_Y DEGREE of the block. */
TESK_DEVICE void put_top(const ARGUMENTS *a, const Block *block, const Target *target, real value) {
  const int row = (block->y0 + TILE_Y) * DEGREE;
  if (row < block->nodes[1])
    put(target, target->owned && !block->inner[1], target->zero || is_fixed(a, 1, row, block->nodes[1]),
        target->top, target->b, value);
}

/* ---- what blocks share --------------------------------------------------------------------------------- */
/* The place of a node: its block's number in each direction, its place in the block, and whether a block below has it
 * too. */
typedef struct Place {
  int block[3], at[3], shared[3];
} Place;

TESK_DEVICE void find_place(const ARGUMENTS *a, int d, int node, Place *place) {
  const int size = d == 0 ? OWN_X * DEGREE : d == 1 ? TILE_Y * DEGREE : DIM == 3 ? a->layers * DEGREE : 1;
  const int blocks = d < DIM ? (a->cells[d] * DEGREE + size - 1) / size : 1;
  place->block[d] = node / size < blocks ? node / size : blocks - 1;
  place->at[d] = node - place->block[d] * size;
  place->shared[d] = place->at[d] == 0 && place->block[d] > 0 && !(HALO && d == 0);
}

/* y <- y + sign * the parts that the blocks below left for this node: at most seven, one after another. */
TESK_DEVICE void add_shared(const ARGUMENTS *a, const real *faces, int blocks_x, int blocks_y,
                            const Place *place, real *y) {
  const int planes = DIM == 3 ? a->layers * DEGREE + 1 : 1;
  const real before = *y;
  real sum = 0;
  TESK_UNROLL
  for (int i = 1; i < 8; i++) {
    const int below[3] = {i & 1, i / 2 & 1, i / 4};
    if (below[0] > place->shared[0] || below[1] > place->shared[1] || below[2] > place->shared[2]) continue;
    const int bx = place->block[0] - below[0], by = place->block[1] - below[1],
              bz = place->block[2] - below[2];
    const int ix = below[0] ? TILE_X * DEGREE : place->at[0] + HALO * DEGREE,
              iy = below[1] ? TILE_Y * DEGREE : place->at[1],
              iz = below[2] ? a->layers * DEGREE : place->at[2];
    const real *x_face = faces + (((long long)bz * blocks_y + by) * blocks_x + bx) * a->block_faces,
               *y_face = x_face + planes * NY, *z_face = y_face + planes * NX;
    sum += below[0] ? x_face[iz * NY + iy] : below[1] ? y_face[iz * NX + ix] : z_face[iy * NX + ix];
  }
  *y = before + (real)a->sign * sum;
}

/* Does the nodes of a line, one warp together. node: of the line, except in the line's direction `along`; kind:
 * direction of the plane between blocks. */
TESK_DEVICE void add_line(const ARGUMENTS *a, const real *faces, const int *blocks, const int *nodes,
                          int kind, int along, const int *node, real *y) {
  Place place;
  int skip = 0;
  TESK_UNROLL
  for (int d = 0; d < 3; d++) {
    if (d == along) continue;
    find_place(a, d, node[d], &place);
    skip = skip || (d < DIM && is_fixed(a, d, node[d], nodes[d]));
  }
  if (skip || (kind == 2 && place.shared[1])) return; /* the second part: of a plane in y */
  const long long step = along ? a->pitch : 1;
  y += node[2] * a->plane + (along ? node[0] : (long long)node[1] * a->pitch);
  for (int j = (int)threadIdx.x % 32; j < nodes[along]; j += 32) {
    find_place(a, along, j, &place);
    if ((along == 0 && place.shared[0]) || is_fixed(a, along, j, nodes[along])) continue;
    add_shared(a, faces, blocks[0], blocks[1], &place, y + j * step);
  }
}

/* Nodes on planes between blocks: first planes in x (lines in y), then planes in y and in z (lines in x). */
TESK_KERNEL(tesk_tile_faces, 256, 4, (real *)y, (const real *)faces, (ARGUMENTS)a) {
  const int nodes[3] = {a.cells[0] * DEGREE + 1, a.cells[1] * DEGREE + 1,
                        DIM == 3 ? a.cells[2] * DEGREE + 1 : 1};
  const int blocks[3] = {(a.cells[0] + OWN_X - 1) / OWN_X, (a.cells[1] + TILE_Y - 1) / TILE_Y,
                         DIM == 3 ? (a.cells[2] + a.layers - 1) / a.layers : 1};
  const int of_x = HALO ? 0 : (blocks[0] - 1) * nodes[2], of_y = (blocks[1] - 1) * nodes[2],
            of_z = (blocks[2] - 1) * nodes[1];
  for (int line = (int)(blockIdx.x * 8 + threadIdx.x / 32); line < of_x + of_y + of_z;
       line += (int)gridDim.x * 8) {
    const int kind = line < of_x ? 0 : line < of_x + of_y ? 1 : 2;
    const int i = kind == 0 ? line : kind == 1 ? line - of_x : line - of_x - of_y;
    const int rows = kind == 2 ? nodes[1] : nodes[2], row = i % rows, plane = i / rows + 1;
    const int node[3] = {plane * OWN_X * DEGREE, kind == 1 ? plane * TILE_Y * DEGREE : row,
                         kind == 2 ? plane * a.layers * DEGREE : row};
    if (kind == 0)
      add_line(&a, faces, blocks, nodes, 0, 1, node, y);
    else
      add_line(&a, faces, blocks, nodes, kind, 0, node, y);
  }
}

#endif
