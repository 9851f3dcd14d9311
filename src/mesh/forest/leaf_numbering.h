/* What hangs in a forest, and numbers of the nodes of continuous elements on it. */
#ifndef TESI_LEAF_NUMBERING_H
#define TESI_LEAF_NUMBERING_H

#include "mesh/forest/forest.h"

/* Makes f->mask when it is first asked for: *mask, the mesh's. Other meshes have none: NULL. */
TesStatus tesi_forest_masks(const TesMesh *f, const uint16_t **mask);
/* index[cells][(degree+1)^dim], numbered in the order in which cells meet them; the nodes of an entity follow one
 * another, as its first cell sees them. *nodes have a number; *hanging have none. Both count all ranks.
 * nodes->sharers is to be freed, after failure too. On several ranks p4est numbers. */
TesStatus tesi_forest_number(const TesMesh *f, int degree, int32_t *index, TesiForestNodes *nodes,
                             int64_t *hanging);

/* The same two on several ranks, by p4est: ours know this rank's cells alone. */
TesStatus tesi_shared_masks(const TesMesh *f, uint16_t *mask);
TesStatus tesi_shared_number(const TesMesh *f, int degree, int32_t *index, TesiForestNodes *nodes,
                             int64_t *hanging);

#endif
