/* Marks each edge and corner of the coarse mesh that is in a group of curves and points once, for sums over them. */
#ifndef TESI_GROUP_OWNERS_H
#define TESI_GROUP_OWNERS_H

#include "mesh/mesh.h"

/* counts[parts] <- whether a part of mesh->coarse is an edge or a corner and its tree is the first tree that has it.
 * The leaves of this tree cover the edge once. */
TesStatus tesi_mesh_group_owners(const TesMesh *mesh, bool **counts);

#endif
