/* Nodes of a cell by the entity that they lie in: a corner, an edge, a face, or the cell. An entity is a pattern: for
 * each direction 0 low side, 1 between, 2 high side; pattern = t_x + 3 t_y + 9 t_z. */
#ifndef TESI_ENTITY_NODES_H
#define TESI_ENTITY_NODES_H

#include <stdint.h>

enum { TESI_PATTERNS = 27 };

/* Nodes of pattern p: node[begin[p]] .. node[begin[p + 1] - 1], ascending, x fastest; node[n^dim]. Returns how many
 * patterns there are, 3^dim. n: nodes per direction, at most 16. */
int tesi_entity_nodes(int dim, int n, int16_t begin[TESI_PATTERNS + 1], int16_t *node);

#endif
