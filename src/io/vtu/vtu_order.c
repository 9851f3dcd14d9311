/* The order of nodes in VTK's Lagrange cells (vtkHigherOrderQuadrilateral and vtkHigherOrderHexahedron,
 * PointIndexFromIJK). The quadrilateral is the bottom of the hexahedron.
 *
 *        7---------6        corners: as drawn
 *       /|        /|        edges, each along its ascending direction: 01 12 32 03 at the bottom, 45 56 76 47 at
 *       the top,
 *      4---------5 |        then 04 15 26 37. Files before version 2.2 had the last two of these swapped.
 *      | 3-------|-2        faces: x = 0, x = 1, y = 0, y = 1, z = 0, z = 1, each with its first direction fastest
 *      |/        |/         interior: x fastest
 *      0---------1 */
#include "io/vtu/vtu.h"

static int corner(int i, int j) {
  return i ? (j ? 2 : 1) : (j ? 3 : 0);
}

/* m = degree - 1 inner nodes per direction. */
static int edge(int m, int i, int j, int k, bool in_x, bool in_y) {
  if (in_x) return (i - 1) + (j ? 2 * m : 0) + (k ? 4 * m : 0);
  if (in_y) return (j - 1) + (i ? m : 3 * m) + (k ? 4 * m : 0);
  return 8 * m + (k - 1) + m * corner(i, j);
}

static int face(int m, int i, int j, int k, bool at_x, bool at_y) {
  if (at_x) return (j - 1) + m * (k - 1) + (i ? m * m : 0);
  if (at_y) return 2 * m * m + (i - 1) + m * (k - 1) + (j ? m * m : 0);
  return 4 * m * m + (i - 1) + m * (j - 1) + (k ? m * m : 0);
}

int tesi_vtu_node(int dim, int degree, int i, int j, int k) {
  const int m = degree - 1;
  const bool at_x = i == 0 || i == degree, at_y = j == 0 || j == degree, at_z = k == 0 || k == degree;
  const int walls = at_x + at_y + at_z;
  if (dim == 2) {
    if (walls == 3) return corner(i, j);
    if (walls == 2) return 4 + edge(m, i, j, 0, !at_x, !at_y);
    return 4 + 4 * m + (i - 1) + m * (j - 1);
  }
  if (walls == 3) return corner(i, j) + (k ? 4 : 0);
  if (walls == 2) return 8 + edge(m, i, j, k, !at_x, !at_y);
  if (walls == 1) return 8 + 12 * m + face(m, i, j, k, at_x, at_y);
  return 8 + 12 * m + 6 * m * m + (i - 1) + m * ((j - 1) + m * (k - 1));
}
