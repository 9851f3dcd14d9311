/* Shapes of elements that are split, and the maps of elements of second degree. */
#ifndef TESI_GMSH_SHAPES_H
#define TESI_GMSH_SHAPES_H

#include "mesh/forest/gmsh.h"

enum { TESI_GMSH_SECOND = 27 }; /* largest number of nodes of an element of degree 2 */

/* Vertices of edges and of faces, in Gmsh's order of their nodes of second degree: faces of four vertices first. The
 * vertices of a face are counterclockwise as seen from outside; the fourth vertex of a triangle is -1. beside: for each
 * vertex the vertices at the other ends of its edges, in the order of a right-handed cell; an apex with four edges has
 * no entry. */
typedef struct TesiGmshShapeTable {
  int vertices, edges, faces;
  int8_t corner[8][3]; /* of the reference element, in halves */
  int8_t edge[12][2], face[6][4], beside[8][3];
} TesiGmshShapeTable;

/* NULL: a shape that cannot be split. */
const TesiGmshShapeTable *tesi_gmsh_shape(TesiGmshShape shape);

/* An element of degree 2 as a sum of hump functions. A node is the middle of some of the vertices. Its hump is 1 at the
 * node, and 0 at all nodes that are the middle of fewer or equally many vertices. On a face a hump depends on the face
 * alone, whatever the shape of the cell. */
typedef struct TesiGmshCurve {
  const TesiGmshType *type;
  int vertices[TESI_GMSH_SECOND];                       /* for each node: bits of its vertices */
  double at[TESI_GMSH_SECOND][3];                       /* nodes of the reference element */
  double of_before[TESI_GMSH_SECOND][TESI_GMSH_SECOND]; /* [k][j], j < k: hump j at node k */
} TesiGmshCurve;

void tesi_gmsh_curve_begin(const TesiGmshType *type, TesiGmshCurve *curve);
/* weight[nodes] of an element's nodes, for a point of the reference element. */
void tesi_gmsh_curve_weights(const TesiGmshCurve *curve, const double xi[3], double *weight);

#endif
