/* Orders of unknowns. Morton order: cells by the interleaved bits of their indices, x lowest. */
#include "smoother/gauss_seidel/gauss_seidel.h"

typedef struct Walk {
  const TesSpace *space;
  int64_t *order, count;
} Walk;

static bool unknown(const TesiAxis *axis, int node) {
  return node >= tesi_axis_first(axis) && node < tesi_axis_end(axis);
}

/* The first visit of a node is in the adjacent cell with the lowest Morton code. Codes grow with each index, so this
 * cell has the lowest index in every direction. Hence a cell numbers its nodes except those on lower faces that it
 * shares with another cell.
 * Inside a cell: vertices, then nodes on lines, on faces, in the interior, each lexicographic. This order reproduces
 * all eight counts of patch-smoothers-cui-2024, Table 3; plain lexicographic order inside a cell reproduces four. */
static void number_cell(Walk *walk, const int cell[3]) {
  const TesiAxis *axis = walk->space->axis;
  int i[3], first[3];
  for (int d = 0; d < 3; d++) first[d] = cell[d] > 0 ? 1 : 0;
  for (int inside = 0; inside <= 3; inside++) /* vertices, lines, faces, interior */
    for (i[2] = first[2]; i[2] <= axis[2].degree; i[2]++)
      for (i[1] = first[1]; i[1] <= axis[1].degree; i[1]++)
        for (i[0] = first[0]; i[0] <= axis[0].degree; i[0]++) {
          int64_t node = 0;
          int interior = 0;
          for (int d = 0; d < 3; d++) interior += i[d] > 0 && i[d] < axis[d].degree;
          bool keep = interior == inside;
          for (int d = 2; d >= 0; d--) {
            const int n = cell[d] * axis[d].degree + i[d];
            keep = keep && unknown(&axis[d], n);
            node = node * axis[d].nodes + n;
          }
          if (keep) walk->order[walk->count++] = node;
        }
}

/* The cube of cells of side `size` at `corner`, clipped to the mesh. */
static void visit(Walk *walk, const int corner[3], int size) {
  for (int d = 0; d < 3; d++)
    if (corner[d] >= walk->space->axis[d].cells) return;
  if (size == 1) {
    number_cell(walk, corner);
    return;
  }
  for (int child = 0; child < 8; child++) {
    int c[3];
    for (int d = 0; d < 3; d++) c[d] = corner[d] + (child >> d & 1) * size / 2;
    visit(walk, c, size / 2);
  }
}

void tesi_morton_order(const TesSpace *space, int64_t *order) {
  Walk walk = {.space = space, .order = order};
  int size = 1;
  for (int d = 0; d < 3; d++)
    while (size < space->axis[d].cells) size *= 2;
  visit(&walk, (const int[3]){0, 0, 0}, size);
}

void tesi_lexicographic_order(const TesSpace *space, int64_t *order) {
  const TesiAxis *x = &space->axis[0], *y = &space->axis[1], *z = &space->axis[2];
  for (int k = tesi_axis_first(z); k < tesi_axis_end(z); k++)
    for (int j = tesi_axis_first(y); j < tesi_axis_end(y); j++)
      for (int i = tesi_axis_first(x); i < tesi_axis_end(x); i++)
        *order++ = ((int64_t)k * y->nodes + j) * x->nodes + i;
}
