#include "mesh/forest/gmsh_places.h"
#include <math.h>
#include <stdlib.h>

static double along(const double x[3]) {
  return x[0] + 0.7548776662 * x[1] + 0.5698402910 * x[2];
}

static int by_place(const void *a, const void *b) {
  const TesiGmshPlace *p = a, *q = b;
  if (p->at != q->at) return p->at < q->at ? -1 : 1;
  return (p->node > q->node) - (p->node < q->node);
}

TesiGmshPlace tesi_gmsh_place(const TesiGmsh *mesh, int32_t node) {
  return (TesiGmshPlace){along(mesh->node[node]), node};
}

void tesi_gmsh_sort_places(int64_t count, TesiGmshPlace *list) {
  qsort(list, (size_t)count, sizeof *list, by_place);
}

int32_t tesi_gmsh_node_at(const TesiGmsh *mesh, int64_t count, const TesiGmshPlace *list, const double x[3],
                          double near) {
  int64_t low = 0, high = count;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (list[middle].at < along(x) - 3 * near)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < count && list[low].at <= along(x) + 3 * near; low++) {
    const double *y = mesh->node[list[low].node];
    if (fabs(x[0] - y[0]) <= near && fabs(x[1] - y[1]) <= near && fabs(x[2] - y[2]) <= near)
      return list[low].node;
  }
  return -1;
}
