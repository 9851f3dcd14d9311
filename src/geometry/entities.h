/* Vertices, edges and faces that cells share, as slots for nodes: the first half of a numbering. A slot is a place
 * for one node; equal slots of two cells are the same node, whatever the orientation the cells see its edge or face
 * in. */
#ifndef TESI_ENTITIES_H
#define TESI_ENTITIES_H

#include "geometry/geometry.h"

/* slot[cells][(degree+1)^dim], *slots of them (some may be unused); boundary[*slots] (may be NULL): nodes on faces
 * of one cell only. */
TesStatus tesi_entities_slots(const TesiGeometry *g, int degree, int64_t *slot, int64_t *slots,
                              char **boundary);

#endif
