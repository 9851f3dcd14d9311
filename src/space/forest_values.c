/* Vectors over a forest, cell by cell. */
#include <string.h>
#include "space/forest_space.h"

void tes_forest_space_read(const TesForestSpace *s, int64_t cell, const double *x, double *local) {
  const int32_t *index = s->index + cell * s->cell_nodes;
  for (int p = 0; p < s->cell_nodes; p++) local[p] = x[tesi_forest_node(index[p])];
  tesi_hanging_read(s->dim, s->n, s->halves, s->mask[cell], local);
}

void tes_forest_space_add(const TesForestSpace *s, int64_t cell, const double *local, double *x) {
  double u[TESI_HANGING_NODES * TESI_HANGING_NODES * TESI_HANGING_NODES];
  const int32_t *index = s->index + cell * s->cell_nodes;
  memcpy(u, local, (size_t)s->cell_nodes * sizeof *u);
  tesi_hanging_write(s->dim, s->n, s->halves, s->mask[cell], u);
  for (int p = 0; p < s->cell_nodes; p++) x[tesi_forest_node(index[p])] += u[p];
}
