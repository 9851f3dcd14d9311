/* Finds nodes of a Gmsh file by their coordinates. Nodes are sorted by their distance along a direction in which hardly
 * any two nodes have the same distance. */
#ifndef TESI_GMSH_PLACES_H
#define TESI_GMSH_PLACES_H

#include "mesh/forest/gmsh.h"

typedef struct TesiGmshPlace {
  double at;
  int32_t node; /* position in TesiGmsh.node */
} TesiGmshPlace;

TesiGmshPlace tesi_gmsh_place(const TesiGmsh *mesh, int32_t node);
void tesi_gmsh_sort_places(int64_t count, TesiGmshPlace *list);
/* The node of the sorted list at x, each coordinate to `near`; -1: none. */
int32_t tesi_gmsh_node_at(const TesiGmsh *mesh, int64_t count, const TesiGmshPlace *list, const double x[3],
                          double near);

#endif
