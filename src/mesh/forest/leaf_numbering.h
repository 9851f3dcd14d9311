/* Hanging entities in a forest, and numbers of the nodes of continuous elements on it. */
#ifndef TESI_LEAF_NUMBERING_H
#define TESI_LEAF_NUMBERING_H

#include "mesh/forest/forest.h"

/* *mask <- the mesh's masks, made at the first call. Other meshes have no masks: NULL. */
TesStatus tesi_forest_masks(const TesMesh *f, const uint16_t **mask);
/* index[cells][(degree+1)^dim], numbered in the order in which cells meet them; the nodes of an entity follow one
 * another, as its first cell sees them. *nodes have a number; *hanging have none. Both count all ranks.
 * nodes->sharers is to be freed, after failure too. On several ranks p4est numbers. */
TesStatus tesi_forest_number(const TesMesh *f, int degree, int32_t *index, TesiForestNodes *nodes,
                             int64_t *hanging);

/* The same two on several ranks, by p4est: our own functions know only this rank's cells. */
TesStatus tesi_shared_masks(const TesMesh *f, uint16_t *mask);
TesStatus tesi_shared_number(const TesMesh *f, int degree, int32_t *index, TesiForestNodes *nodes,
                             int64_t *hanging);

#endif
