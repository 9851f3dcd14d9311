/* See lanes.h; the loops over points are in lanes_simd.c. */
#include "geometry/lanes.h"
#include <string.h>
#include "base/simd_builds.h"

extern const TesiLanes tesi_lanes_128, tesi_lanes_256, tesi_lanes_512;

const TesiLanes *tesi_lanes(int bits) {
  return TESI_SIMD_PICK(bits, &tesi_lanes);
}

void tesi_lanes_nodes(const TesiGeometry *g, const int32_t cell[TESI_LANES], double *nodes) {
  const int64_t count = g->cell_nodes * g->dim;
  for (int l = 0; l < TESI_LANES; l++) {
    const double *from = g->nodes + cell[l] * count;
    for (int64_t i = 0; i < count; i++) nodes[i * TESI_LANES + l] = from[i];
  }
}

void tesi_lanes_points(const TesiGeometry *g, const TesiLanes *lanes, const int32_t cell[TESI_LANES], int q,
                       const double *B, const double *G, double *nodes, double *x, double *J) {
  const int64_t n = TESI_LANES * (int64_t)(g->dim == 3 ? q * q * q : q * q);
  tesi_lanes_nodes(g, cell, nodes);
  if (g->dim == 2) memset(x + 2 * n, 0, (size_t)n * sizeof *x);
  lanes->tensor(g->dim, g->degree + 1, q, B, G, nodes, x, J);
  if (g->map[0]) tesi_geometry_map(g, n, x, J);
}

void tesi_lanes_spread(int64_t count, const double *in, int cells, int64_t stride, double *out) {
  for (int l = 0; l < cells; l++)
    for (int64_t i = 0; i < count; i++) out[l * stride + i] = in[i * TESI_LANES + l];
}
