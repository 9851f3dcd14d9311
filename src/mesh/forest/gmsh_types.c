/* Gmsh's types of elements, and where their nodes lie: sections 9.1 and 9.2 of its manual. */
#include "mesh/forest/gmsh.h"

static const TesiGmshType types[] = {
    {1, 1, 1, 2, TESI_GMSH_LINE, "line"},
    {2, 2, 1, 3, TESI_GMSH_TRIANGLE, "triangle"},
    {3, 2, 1, 4, TESI_GMSH_QUADRILATERAL, "quadrilateral"},
    {4, 3, 1, 4, TESI_GMSH_TETRAHEDRON, "tetrahedron"},
    {5, 3, 1, 8, TESI_GMSH_HEXAHEDRON, "hexahedron"},
    {6, 3, 1, 6, TESI_GMSH_PRISM, "prism"},
    {7, 3, 1, 5, TESI_GMSH_PYRAMID, "pyramid"},
    {8, 1, 2, 3, TESI_GMSH_LINE, "line of 3 nodes"},
    {9, 2, 2, 6, TESI_GMSH_TRIANGLE, "triangle of 6 nodes"},
    {10, 2, 2, 9, TESI_GMSH_QUADRILATERAL, "quadrilateral of 9 nodes"},
    {11, 3, 2, 10, TESI_GMSH_TETRAHEDRON, "tetrahedron of 10 nodes"},
    {12, 3, 2, 27, TESI_GMSH_HEXAHEDRON, "hexahedron of 27 nodes"},
    {13, 3, 2, 18, TESI_GMSH_PRISM, "prism of 18 nodes"},
    {14, 3, 2, 14, TESI_GMSH_PYRAMID, "pyramid of 14 nodes"},
    {15, 0, 1, 1, TESI_GMSH_POINT, "point"},
    {16, 2, 2, 8, TESI_GMSH_QUADRILATERAL, "quadrilateral of 8 nodes"},
    {17, 3, 2, 20, TESI_GMSH_HEXAHEDRON, "hexahedron of 20 nodes"},
    {18, 3, 2, 15, TESI_GMSH_PRISM, "prism of 15 nodes"},
    {19, 3, 2, 13, TESI_GMSH_PYRAMID, "pyramid of 13 nodes"},
    {21, 2, 3, 10, TESI_GMSH_OTHER, "triangle of 10 nodes"},
    {26, 1, 3, 4, TESI_GMSH_LINE, "line of 4 nodes"},
    {27, 1, 4, 5, TESI_GMSH_LINE, "line of 5 nodes"},
    {28, 1, 5, 6, TESI_GMSH_LINE, "line of 6 nodes"},
    {29, 3, 3, 20, TESI_GMSH_OTHER, "tetrahedron of 20 nodes"},
    {36, 2, 3, 16, TESI_GMSH_QUADRILATERAL, "quadrilateral of 16 nodes"},
    {37, 2, 4, 25, TESI_GMSH_QUADRILATERAL, "quadrilateral of 25 nodes"},
    {38, 2, 5, 36, TESI_GMSH_QUADRILATERAL, "quadrilateral of 36 nodes"},
    {39, 2, 3, 12, TESI_GMSH_OTHER, "quadrilateral of 12 nodes"},
    {47, 2, 6, 49, TESI_GMSH_QUADRILATERAL, "quadrilateral of 49 nodes"},
    {48, 2, 7, 64, TESI_GMSH_QUADRILATERAL, "quadrilateral of 64 nodes"},
    {49, 2, 8, 81, TESI_GMSH_QUADRILATERAL, "quadrilateral of 81 nodes"},
    {62, 1, 6, 7, TESI_GMSH_LINE, "line of 7 nodes"},
    {63, 1, 7, 8, TESI_GMSH_LINE, "line of 8 nodes"},
    {64, 1, 8, 9, TESI_GMSH_LINE, "line of 9 nodes"},
    {92, 3, 3, 64, TESI_GMSH_HEXAHEDRON, "hexahedron of 64 nodes"},
    {93, 3, 4, 125, TESI_GMSH_HEXAHEDRON, "hexahedron of 125 nodes"},
    {94, 3, 5, 216, TESI_GMSH_HEXAHEDRON, "hexahedron of 216 nodes"},
    {95, 3, 6, 343, TESI_GMSH_HEXAHEDRON, "hexahedron of 343 nodes"},
    {96, 3, 7, 512, TESI_GMSH_HEXAHEDRON, "hexahedron of 512 nodes"},
    {97, 3, 8, 729, TESI_GMSH_HEXAHEDRON, "hexahedron of 729 nodes"},
    {99, 3, 3, 32, TESI_GMSH_OTHER, "hexahedron of 32 nodes"},
};

const TesiGmshType *tesi_gmsh_type(int64_t number) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (types[i].type == number) return types + i;
  return NULL;
}

/* Lattice points, in Gmsh's order, of the side from `a` to `b`, ends left out. */
static int put_edge(int degree, const int a[3], const int b[3], int16_t (*at)[3], int count) {
  for (int i = 1; i < degree; i++, count++)
    for (int d = 0; d < 3; d++) at[count][d] = (int16_t)(a[d] + i * (b[d] - a[d]) / degree);
  return count;
}

/* A quadrilateral from `origin` with sides u and v of `degree` steps: corners, edges, then the same inside. */
static int put_quadrilateral(int degree, const int origin[3], const int u[3], const int v[3],
                             int16_t (*at)[3], int count) {
  static const int round[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  int corner[4][3], inner[3];
  for (int i = 0; i < 4; i++)
    for (int d = 0; d < 3; d++) {
      corner[i][d] = origin[d] + degree * (round[i][0] * u[d] + round[i][1] * v[d]);
      inner[d] = origin[d] + u[d] + v[d];
    }
  for (int i = 0; i < (degree ? 4 : 1); i++, count++)
    for (int d = 0; d < 3; d++) at[count][d] = (int16_t)corner[i][d];
  for (int i = 0; i < 4; i++) count = put_edge(degree, corner[i], corner[(i + 1) % 4], at, count);
  return degree >= 2 ? put_quadrilateral(degree - 2, inner, u, v, at, count) : count;
}

static const int8_t cube[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                  {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
static const int8_t edges[12][2] = {{0, 1}, {0, 3}, {0, 4}, {1, 2}, {1, 5}, {2, 3},
                                    {2, 6}, {3, 7}, {4, 5}, {4, 7}, {5, 6}, {6, 7}};
static const int8_t faces[6][4] = {{0, 3, 2, 1}, {0, 1, 5, 4}, {0, 4, 7, 3},
                                   {1, 2, 6, 5}, {2, 3, 7, 6}, {4, 5, 6, 7}};

/* A cube whose lowest corner is (origin, origin, origin): corners, edges, faces, then the same inside. */
static int put_hexahedron(int degree, int origin, int16_t (*at)[3], int count) {
  int corner[8][3];
  for (int i = 0; i < 8; i++)
    for (int d = 0; d < 3; d++) corner[i][d] = origin + degree * cube[i][d];
  for (int i = 0; i < (degree ? 8 : 1); i++, count++)
    for (int d = 0; d < 3; d++) at[count][d] = (int16_t)corner[i][d];
  for (int i = 0; i < 12; i++) count = put_edge(degree, corner[edges[i][0]], corner[edges[i][1]], at, count);
  for (int i = 0; i < 6 && degree >= 2; i++) {
    const int8_t *f = faces[i];
    int u[3], v[3], inner[3];
    for (int d = 0; d < 3; d++) {
      u[d] = cube[f[1]][d] - cube[f[0]][d];
      v[d] = cube[f[3]][d] - cube[f[0]][d];
      inner[d] = corner[f[0]][d] + u[d] + v[d];
    }
    count = put_quadrilateral(degree - 2, inner, u, v, at, count);
  }
  return degree >= 2 ? put_hexahedron(degree - 2, origin + 1, at, count) : count;
}

void tesi_gmsh_positions(const TesiGmshType *type, int16_t at[TESI_GMSH_NODES][3]) {
  static const int zero[3], x[3] = {1, 0, 0}, y[3] = {0, 1, 0};
  if (type->dim == 2)
    put_quadrilateral(type->degree, zero, x, y, at, 0);
  else
    put_hexahedron(type->degree, 0, at, 0);
}
