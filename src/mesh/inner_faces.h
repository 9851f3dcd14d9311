/* Faces between cells that have a name, as electrodes and baffles in a mesh file: groups (tesi_mesh_is_group()) whose
 * faces are parts of trees on both sides. */
#ifndef TESI_INNER_FACES_H
#define TESI_INNER_FACES_H

#include "mesh/mesh.h"

/* TesTreePart.at of a face on the side that does not count where each face counts once: this more, which the places
 * 0 .. 26 in a tree leave free. */
enum { TESI_OTHER_SIDE = 27 };

/* Faces between trees with names[trees][2 dim] (NULL: none) that no face on the boundary has become parts. */
TesStatus tesi_trees_take_inner(const int32_t *names, TesiTrees *trees);
/* Whether a place in a tree of so many dimensions, TesTreePart.at, is a face. */
bool tesi_part_is_face(int dim, int at);
/* By trees, as TesiTrees has them. */
void tesi_trees_sort_parts(TesiTrees *trees);

/* Whether a group has faces. */
bool tesi_mesh_is_inner(const TesMesh *mesh, int boundary);
/* Whether a face of a cell lies between cells and is in a group: both: on either side, else on one side of each. */
bool tesi_mesh_inner_face(const TesMesh *mesh, int64_t cell, int face, bool both, int *boundary);
/* As tes_mesh_on_boundary(), and faces between cells, each once. */
bool tesi_mesh_has_name(const TesMesh *mesh, int64_t cell, int face, int *boundary);

#endif
