#include "space/face_nodes.h"

TesStatus tesi_face_nodes(const TesiCellView *v, const TesiGeometry *geometry, int64_t cell, int face,
                          int boundary, TesiFaceVisit visit, void *user) {
  enum { MOST = 16 * 16 };
  const int dim = v->dim, n = v->n, a = face / 2 == 0 ? 1 : 0, b = face / 2 == 2 ? 1 : 2;
  const int points = dim == 3 ? n * n : n;
  double xi[3 * MOST] = {0}, x[3 * MOST], J[9 * MOST];
  for (int p = 0; p < points; p++) {
    xi[p * dim + face / 2] = face & 1;
    xi[p * dim + a] = v->node[p % n];
    if (dim == 3) xi[p * dim + b] = v->node[p / n];
  }
  const TesStatus status = tesi_geometry_evaluate(geometry, cell, points, xi, x, J);
  for (int p = 0; p < points && status == TES_OK; p++) {
    const int step[3] = {1, n, n * n};
    int i[3] = {0};
    double normal[3] = {0};
    i[face / 2] = face & 1 ? n - 1 : 0, i[a] = p % n;
    if (dim == 3) i[b] = p / n;
    if (tesi_hanging_directions(dim, n, v->mask[cell], i)) continue;
    const int64_t node =
        tesi_cells_node(v->index[cell * v->cell_nodes + i[0] + i[1] * step[1] + i[2] * step[2]]);
    tesi_face_normal(dim, J + p * dim * dim, face, normal);
    visit(user, node, boundary, x + p * dim, normal);
  }
  return status;
}
