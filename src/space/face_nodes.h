/* Nodes of faces with their normals. */
#ifndef TESI_FACE_NODES_H
#define TESI_FACE_NODES_H

#include "geometry/geometry.h"
#include "space/space.h"

/* x, and the outer normal of the face there, of any length. */
typedef void (*TesiFaceVisit)(void *user, int64_t node, int boundary, const double *x, const double *normal);
/* Visits each node of a cell's face that does not hang. The nodes of the coarse side, which the index has at hanging
 * places, belong to another cell of the boundary. */
TesStatus tesi_face_nodes(const TesiCellView *view, const TesiGeometry *geometry, int64_t cell, int face,
                          int boundary, TesiFaceVisit visit, void *user);

#endif
