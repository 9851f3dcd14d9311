/* What hangs in a forest, and numbers of the nodes of continuous elements on it. */
#ifndef TESI_LEAF_NUMBERING_H
#define TESI_LEAF_NUMBERING_H

#include "mesh/forest/forest.h"

/* Makes f->mask when it is first asked for: *mask, the mesh's. Other meshes have none: NULL. */
TesStatus tesi_forest_masks(const TesMesh *f, const uint16_t **mask);
/* index[cells][(degree+1)^dim], numbered as cells meet them; *nodes of them, and *hanging besides without a number. */
TesStatus tesi_forest_number(const TesMesh *f, int degree, int32_t *index, int64_t *nodes, int64_t *hanging);

#endif
