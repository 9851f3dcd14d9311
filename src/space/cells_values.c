/* Vectors cell by cell. */
#include <string.h>
#include "space/space.h"
#include <math.h>

void tesi_cells_read(const TesiCellView *s, int64_t cell, const double *x, double *local) {
  const int32_t *index = s->index + cell * s->cell_nodes;
  for (int p = 0; p < s->cell_nodes; p++) local[p] = x[tesi_cells_node(index[p])];
  if (s->mask[cell]) tesi_hanging_read(s->dim, s->n, s->halves, s->mask[cell], local);
}

void tesi_cells_add(const TesiCellView *s, int64_t cell, const double *local, double *x) {
  double u[TESI_HANGING_NODES * TESI_HANGING_NODES * TESI_HANGING_NODES];
  const int32_t *index = s->index + cell * s->cell_nodes;
  if (s->mask[cell]) {
    memcpy(u, local, (size_t)s->cell_nodes * sizeof *u);
    tesi_hanging_write(s->dim, s->n, s->halves, s->mask[cell], u);
    local = u;
  }
  for (int p = 0; p < s->cell_nodes; p++) x[tesi_cells_node(index[p])] += local[p];
}

static uint64_t mix(uint64_t x) { /* splitmix64 */
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static uint64_t entry_key(int32_t index, double value) {
  return mix(mix((uint64_t)tesi_cells_node(index) + 1) ^ (uint64_t)llround(ldexp(value, 30)));
}

uint64_t tesi_cells_node_key(int32_t index) {
  return entry_key(index, 1);
}

uint64_t tesi_cells_row_key(int n, const int32_t *index, const double *row) {
  uint64_t key = 0;
  for (int p = 0; p < n; p++)
    if (fabs(row[p]) >= TESI_CELLS_SMALL) key += entry_key(index[p], row[p]);
  return key;
}
