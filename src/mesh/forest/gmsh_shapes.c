#include "mesh/forest/gmsh_shapes.h"

static const TesiGmshShapeTable
    line = {2, 1, 0, {{0}, {2}}, {{0, 1}}, {{0}}, {{0}}},
    triangle = {3, 3, 0, {{0, 0}, {2, 0}, {0, 2}}, {{0, 1}, {1, 2}, {2, 0}}, {{0}}, {{1, 2}, {2, 0}, {0, 1}}},
    quadrilateral = {4,
                     4,
                     0,
                     {{0, 0}, {2, 0}, {2, 2}, {0, 2}},
                     {{0, 1}, {1, 2}, {2, 3}, {3, 0}},
                     {{0}},
                     {{1, 3}, {2, 0}, {3, 1}, {0, 2}}},
    tetrahedron = {4,
                   6,
                   4,
                   {{0, 0, 0}, {2, 0, 0}, {0, 2, 0}, {0, 0, 2}},
                   {{0, 1}, {1, 2}, {2, 0}, {3, 0}, {2, 3}, {1, 3}},
                   {{0, 2, 1, -1}, {0, 1, 3, -1}, {0, 3, 2, -1}, {1, 2, 3, -1}},
                   {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}},
    hexahedron =
        {8,
         12,
         6,
         {{0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0}, {0, 0, 2}, {2, 0, 2}, {2, 2, 2}, {0, 2, 2}},
         {{0, 1}, {0, 3}, {0, 4}, {1, 2}, {1, 5}, {2, 3}, {2, 6}, {3, 7}, {4, 5}, {4, 7}, {5, 6}, {6, 7}},
         {{0, 3, 2, 1}, {0, 1, 5, 4}, {0, 4, 7, 3}, {1, 2, 6, 5}, {2, 3, 7, 6}, {4, 5, 6, 7}},
         {{1, 3, 4}, {2, 0, 5}, {3, 1, 6}, {0, 2, 7}, {7, 5, 0}, {4, 6, 1}, {5, 7, 2}, {6, 4, 3}}},
    prism = {6,
             9,
             5,
             {{0, 0, 0}, {2, 0, 0}, {0, 2, 0}, {0, 0, 2}, {2, 0, 2}, {0, 2, 2}},
             {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 4}, {2, 5}, {3, 4}, {3, 5}, {4, 5}},
             {{0, 1, 4, 3}, {0, 3, 5, 2}, {1, 2, 5, 4}, {0, 2, 1, -1}, {3, 4, 5, -1}},
             {{1, 2, 3}, {2, 0, 4}, {0, 1, 5}, {5, 4, 0}, {3, 5, 1}, {4, 3, 2}}},
    pyramid = {5,
               8,
               5,
               {{0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0}, {1, 1, 2}},
               {{0, 1}, {0, 3}, {0, 4}, {1, 2}, {1, 4}, {2, 3}, {2, 4}, {3, 4}},
               {{0, 3, 2, 1}, {0, 1, 4, -1}, {1, 2, 4, -1}, {2, 3, 4, -1}, {3, 0, 4, -1}},
               {{0}}};

const TesiGmshShapeTable *tesi_gmsh_shape(TesiGmshShape shape) {
  switch (shape) {
  case TESI_GMSH_LINE:
    return &line;
  case TESI_GMSH_TRIANGLE:
    return &triangle;
  case TESI_GMSH_QUADRILATERAL:
    return &quadrilateral;
  case TESI_GMSH_TETRAHEDRON:
    return &tetrahedron;
  case TESI_GMSH_HEXAHEDRON:
    return &hexahedron;
  case TESI_GMSH_PRISM:
    return &prism;
  case TESI_GMSH_PYRAMID:
    return &pyramid;
  default:
    return NULL;
  }
}

/* The factor of a hump along a direction. Bits say where its vertices are: lower side (bit 0), upper side (bit 1), or
 * both. */
static double along(double x, int sides) {
  return sides == 1 ? 1 - x : sides == 2 ? x : 4 * x * (1 - x);
}

/* The hump of a cube for these vertices: bit d of sides[] as above. */
static double cube_hump(int dim, const TesiGmshShapeTable *s, int vertices, const double *xi) {
  double value = 1;
  for (int d = 0; d < dim; d++) {
    int sides = 0;
    for (int v = 0; v < s->vertices; v++)
      if (vertices >> v & 1) sides |= s->corner[v][d] ? 2 : 1;
    value *= along(xi[d], sides);
  }
  return value;
}

/* The hump of one or two vertices of a simplex of this dimension. */
static double simplex_hump(int dim, int vertices, const double *xi) {
  double value = 1, first = 1;
  int count = 0;
  for (int d = 0; d < dim; d++) first -= xi[d];
  for (int v = 0; v <= dim; v++)
    if (vertices >> v & 1) value *= v ? xi[v - 1] : first, count++;
  return count == 2 ? 4 * value : value;
}

static double prism_hump(int vertices, const double *xi) {
  const int lower = vertices & 7, upper = vertices >> 3;
  return simplex_hump(2, lower | upper, xi) * along(xi[2], (lower != 0) + 2 * (upper != 0));
}

/* A square that shrinks towards the apex. */
static double pyramid_hump(int vertices, const double *xi) {
  const double t = xi[2], rest = 1 - t;
  const int base = vertices & 15;
  if (!base) return t;
  const double at[2] = {rest > 0 ? (xi[0] - t / 2) / rest : 0.5, rest > 0 ? (xi[1] - t / 2) / rest : 0.5};
  const double value = cube_hump(2, &quadrilateral, base, at) * rest;
  if (base != vertices) return 4 * t * value;
  return base & (base - 1) ? value * rest : value;
}

static double hump(TesiGmshShape shape, int vertices, const double *xi) {
  switch (shape) {
  case TESI_GMSH_TRIANGLE:
    return simplex_hump(2, vertices, xi);
  case TESI_GMSH_TETRAHEDRON:
    return simplex_hump(3, vertices, xi);
  case TESI_GMSH_PRISM:
    return prism_hump(vertices, xi);
  case TESI_GMSH_PYRAMID:
    return pyramid_hump(vertices, xi);
  default: {
    const TesiGmshShapeTable *s = tesi_gmsh_shape(shape);
    return cube_hump(s->vertices == 2 ? 1 : s->vertices == 4 ? 2 : 3, s, vertices, xi);
  }
  }
}

/* Vertices, edges, faces of four vertices, and the whole. */
static int vertices_of_node(const TesiGmshShapeTable *s, int node) {
  if (node < s->vertices) return 1 << node;
  node -= s->vertices;
  if (node < s->edges) return 1 << s->edge[node][0] | 1 << s->edge[node][1];
  node -= s->edges;
  if (node >= s->faces || s->face[node][3] < 0) return (1 << s->vertices) - 1;
  return 1 << s->face[node][0] | 1 << s->face[node][1] | 1 << s->face[node][2] | 1 << s->face[node][3];
}

void tesi_gmsh_curve_begin(const TesiGmshType *type, TesiGmshCurve *c) {
  const TesiGmshShapeTable *s = tesi_gmsh_shape(type->shape);
  *c = (TesiGmshCurve){.type = type};
  for (int k = 0; k < type->nodes; k++) {
    int count = 0;
    c->vertices[k] = vertices_of_node(s, k);
    for (int v = 0; v < s->vertices; v++) {
      if (!(c->vertices[k] >> v & 1)) continue;
      count++;
      for (int d = 0; d < 3; d++) c->at[k][d] += 0.5 * s->corner[v][d];
    }
    for (int d = 0; d < 3; d++) c->at[k][d] /= count;
    for (int j = 0; j < k; j++) c->of_before[k][j] = hump(type->shape, c->vertices[j], c->at[k]);
  }
}

/* x = sum_k hump_k d_k with d_k = x_k - sum_{j < k} hump_j(node k) d_j: the transpose is solved backwards. */
void tesi_gmsh_curve_weights(const TesiGmshCurve *c, const double xi[3], double *weight) {
  const int nodes = c->type->nodes;
  for (int k = 0; k < nodes; k++) weight[k] = hump(c->type->shape, c->vertices[k], xi);
  for (int k = nodes - 1; k > 0; k--)
    for (int j = 0; j < k; j++) weight[j] -= c->of_before[k][j] * weight[k];
}
