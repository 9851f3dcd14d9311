/* The edges and corners of the coarse mesh in groups of curves and points, each once, for sums over them. */
#ifndef TESI_GROUP_OWNERS_H
#define TESI_GROUP_OWNERS_H

#include "mesh/mesh.h"

/* counts[parts] <- whether a part of mesh->coarse is an edge or a corner, and its tree the first of those that have it.
 * Leaves of this tree cover the edge once. */
TesStatus tesi_mesh_group_owners(const TesMesh *mesh, bool **counts);

#endif
