/* Faces between cells with a name, such as electrodes and baffles in a mesh file. They are groups
 * (tesi_mesh_is_group()) whose faces are parts of the trees on both sides. */
#ifndef TESI_INNER_FACES_H
#define TESI_INNER_FACES_H

#include "mesh/mesh.h"

/* Added to TesTreePart.at of a face on its second side, which sums over faces skip; the places in a tree are 0 ..
 * 26. */
enum { TESI_OTHER_SIDE = 27 };

/* Makes parts of the inner faces with names[trees][2 dim] (NULL: none) that no face on the boundary has. */
TesStatus tesi_trees_take_inner(const int32_t *names, TesiTrees *trees);
/* Whether a place in a tree of this dimension, TesTreePart.at, is a face. */
bool tesi_part_is_face(int dim, int at);
/* Sorts parts by trees, as TesiTrees needs them. */
void tesi_trees_sort_parts(TesiTrees *trees);

/* Whether a group has faces. */
bool tesi_mesh_is_inner(const TesMesh *mesh, int boundary);
/* Whether a face of a cell lies between two cells and is in a group. both: true for either side; else for one side of
 * each face. */
bool tesi_mesh_inner_face(const TesMesh *mesh, int64_t cell, int face, bool both, int *boundary);
/* As tes_mesh_on_boundary(), and also for named faces between cells, from one side each. */
bool tesi_mesh_has_name(const TesMesh *mesh, int64_t cell, int face, int *boundary);

#endif
