/* Cells of a Gmsh file as nodes of trees: order, degree and orientation. */
#include <string.h>
#include "basis/gauss.h"
#include "basis/lagrange.h"
#include "mesh/forest/gmsh_build.h"

/* Computes the face nodes and inner nodes that a serendipity cell of degree 2 lacks from its vertex and edge nodes,
 * with the shape functions at the centre: -1/4 and 1/2 at (0, 0), -1/4 and 1/4 at (0, 0, 0). */
static void complete_serendipity(int dim, double (*x)[3]) {
  for (int p = 0; p < (dim == 2 ? 9 : 27); p++) {
    const int at[3] = {p % 3, p / 3 % 3, p / 9};
    int middle = 0;
    for (int d = 0; d < dim; d++) middle += at[d] == 1;
    if (middle < 2) continue;
    for (int r = 0; r < 3; r++) x[p][r] = 0;
    for (int q = 0; q < (dim == 2 ? 9 : 27); q++) {
      const int to[3] = {q % 3, q / 3 % 3, q / 9};
      int free = 0;
      bool on = true;
      for (int d = 0; d < dim; d++) {
        on = on && (at[d] == 1 || to[d] == at[d]);
        free += to[d] == 1;
      }
      if (!on || free > 1) continue;
      const double weight = free == 0 ? -0.25 : middle == 2 ? 0.5 : 0.25;
      for (int r = 0; r < 3; r++) x[p][r] += weight * x[q][r];
    }
  }
}

/* Interpolates from Gmsh's equally spaced nodes to Gauss-Lobatto points; up to degree 2 they are equal. */
static void move_nodes(const TesiGmshCells *c, int n, double (*x)[3]) {
  const int step[3] = {1, n, n * n}, points = c->dim == 2 ? n * n : n * n * n;
  double line[TESI_TREES_DEGREE + 1][3];
  for (int d = 0; d < c->dim && n > 3; d++)
    for (int p = 0; p < points; p++) {
      if (p / step[d] % n) continue;
      for (int i = 0; i < n; i++)
        for (int r = 0; r < 3; r++) {
          line[i][r] = 0;
          for (int j = 0; j < n; j++) line[i][r] += c->to_lobatto[i * n + j] * x[p + j * step[d]][r];
        }
      for (int i = 0; i < n; i++) memcpy(x[p + i * step[d]], line[i], sizeof line[i]);
    }
}

/* The nodes of the cell mirrored in the first direction. */
static void mirror(const TesiGmshCells *c, int n, double (*x)[3], int32_t *vertices) {
  double swap[3];
  for (int p = 0; p < (c->dim == 2 ? n * n : n * n * n); p++) {
    const int i = p % n, q = p - i + n - 1 - i;
    if (q <= p) continue;
    memcpy(swap, x[p], sizeof swap);
    memcpy(x[p], x[q], sizeof swap);
    memcpy(x[q], swap, sizeof swap);
  }
  for (int v = 0; v < 1 << c->dim; v += 2) {
    const int32_t other = vertices[v];
    vertices[v] = vertices[v + 1];
    vertices[v + 1] = other;
  }
}

/* If |J| of the straight cell is negative at all corners, the nodes are in the order of the mirrored cell. */
static bool is_left_handed(const TesiGmshCells *c, const int32_t *vertices) {
  int negative = 0;
  for (int v = 0; v < 1 << c->dim; v++) {
    double e[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const double *x = c->node[vertices[v]];
    for (int d = 0; d < c->dim; d++)
      for (int r = 0; r < c->dim; r++)
        e[d][r] = (c->node[vertices[v ^ 1 << d]][r] - x[r]) * (v >> d & 1 ? -1 : 1);
    const double det = e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
                       e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
                       e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
    if (det > 0) return false;
    negative += det < 0;
  }
  return negative > 0;
}

void tesi_gmsh_cells_begin(int dim, int degree, const double (*node)[3], TesiGmshCells *c) {
  const int n = degree + 1;
  double equal[TESI_TREES_DEGREE + 1], lobatto[TESI_TREES_DEGREE + 1];
  *c = (TesiGmshCells){.dim = dim, .degree = degree, .node = node};
  for (int i = 0; i < n; i++) equal[i] = (double)i / degree;
  tesi_gauss_lobatto(n, lobatto, NULL);
  tesi_lagrange(n, equal, n, lobatto, c->to_lobatto, NULL);
}

bool tesi_gmsh_cell(TesiGmshCells *c, const TesiGmshType *type, const int64_t *nodes, const double (*bent)[3],
                    int32_t *vertices, double *to) {
  const int dim = c->dim, m = c->degree, n = m + 1, points = dim == 2 ? n * n : n * n * n;
  double x[TESI_GMSH_NODES][3];
  if (c->type != type) tesi_gmsh_positions(type, c->position);
  c->type = type;
  for (int i = 0; i < type->nodes; i++) {
    const int16_t *at = c->position[i];
    if (!bent) memcpy(x[at[0] + n * (at[1] + n * at[2])], c->node[nodes[i]], sizeof x[0]);
    if (i < 1 << dim) vertices[(at[0] > 0) + 2 * (at[1] > 0) + 4 * (at[2] > 0)] = (int32_t)nodes[i];
  }
  if (bent)
    memcpy(x, bent, (size_t)points * sizeof *x);
  else if (m == 2 && type->nodes < points)
    complete_serendipity(dim, x);
  move_nodes(c, n, x);
  const bool turned = is_left_handed(c, vertices);
  if (turned) mirror(c, n, x, vertices);
  for (int p = 0; p < points; p++)
    for (int r = 0; r < dim; r++) to[p * dim + r] = x[p][r];
  return turned;
}
