/* Shapes of elements that are split, and the maps of elements of second degree. */
#ifndef TESI_GMSH_SHAPES_H
#define TESI_GMSH_SHAPES_H

#include "mesh/forest/gmsh.h"

enum { TESI_GMSH_SECOND = 27 }; /* nodes of an element of second degree, at most */

/* Vertices of edges and of faces, in Gmsh's order of their nodes of second degree: faces of four vertices first. Faces
 * go round counterclockwise as seen from outside; a fourth vertex -1: a triangle. beside: of each vertex those at the
 * other ends of its edges, in the order of a right-handed cell; an apex of four edges has none. */
typedef struct TesiGmshShapeTable {
  int vertices, edges, faces;
  int8_t corner[8][3]; /* of the reference element, in halves */
  int8_t edge[12][2], face[6][4], beside[8][3];
} TesiGmshShapeTable;

/* NULL: a shape that is not split. */
const TesiGmshShapeTable *tesi_gmsh_shape(TesiGmshShape shape);

/* An element of second degree as a sum of humps: of each node, which is the middle of some of the vertices, one that is
 * 1 there and 0 at all nodes of fewer or as many vertices. On a face it is a hump of the face, whatever lies behind. */
typedef struct TesiGmshCurve {
  const TesiGmshType *type;
  int vertices[TESI_GMSH_SECOND];                       /* of each node: bits */
  double at[TESI_GMSH_SECOND][3];                       /* of the reference element */
  double of_before[TESI_GMSH_SECOND][TESI_GMSH_SECOND]; /* [k][j], j < k: hump j at node k */
} TesiGmshCurve;

void tesi_gmsh_curve_begin(const TesiGmshType *type, TesiGmshCurve *curve);
/* weight[nodes]: of the nodes of an element, for a point of the reference element. */
void tesi_gmsh_curve_weights(const TesiGmshCurve *curve, const double xi[3], double *weight);

#endif
