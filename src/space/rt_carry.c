/* Moves functions of elements rt and dg to another degree over the same cells, direction by direction: nodal values
 * along axes of nodes, the common modes along axes of modes. A divergence-free function stays divergence-free if the
 * degree does not fall. */
#include <string.h>
#include "basis/lagrange.h"
#include "space/space.h"

/* One line of modes: copies the modes that both degrees have. */
static void carry_modes(const TesiAxis *from, const TesiAxis *to, int64_t step, const double *u, double *v) {
  for (int c = 0; c < to->cells; c++)
    for (int j = 0; j < to->step; j++)
      v[(c * to->step + j) * step] = j < from->step ? u[(c * from->step + j) * step] : 0;
}

/* One line of nodes. */
static void carry_nodes(const TesiAxis *from, const TesiAxis *to, int64_t step, const double *u, double *v) {
  double W[TESI_MAX_POINTS * TESI_MAX_POINTS], nodes[TESI_MAX_POINTS], points[TESI_MAX_POINTS];
  const int n = from->degree + 1;
  tesi_gauss_lobatto(n, nodes, NULL);
  tesi_gauss_lobatto(to->degree + 1, points, NULL);
  tesi_lagrange(n, nodes, to->degree + 1, points, W, NULL);
  for (int c = 0; c < to->cells; c++)
    for (int i = 0; i <= to->degree; i++) {
      double sum = 0;
      for (int j = 0; j < n; j++) sum += W[i * n + j] * u[tesi_axis_node(from, c, j) * step];
      v[tesi_axis_node(to, c, i) * step] = sum;
    }
}

/* All lines along direction d; extent <- the new extent. */
static void carry_lines(const TesiAxis *from, const TesiAxis *to, int d, int extent[3], const double *u,
                        double *v) {
  int64_t step = 1, outer = 1;
  for (int e = 0; e < d; e++) step *= extent[e];
  for (int e = d + 1; e < 3; e++) outer *= extent[e];
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < step; i++)
      (to->basis == TESI_NODES ? carry_nodes : carry_modes)(from, to, step, u + o * extent[d] * step + i,
                                                            v + o * to->nodes * step + i);
  extent[d] = to->nodes;
}

TesStatus tesi_rt_carry(const TesSpace *from, const double *u, const TesSpace *to, double *v) {
  TesContext *ctx = to->context;
  TesStatus status = TES_OK;
  double *work[2] = {NULL};
  int64_t most = 1;
  for (int d = 0; d < to->dim; d++)
    most *= (int64_t)tesi_modal(to, d)->cells * (tesi_max(from->degree, to->degree) + 1) + 1;
  for (int i = 0; i < 2; i++) TES_ALLOC(&work[i], most);
  for (int p = 0; p < to->scalars; p++) {
    const TesSpace *a = from->scalar[p], *b = to->scalar[p];
    int extent[3] = TESI_EXTENT(a);
    memcpy(work[0], u + from->first[p], sizeof *u * (size_t)a->length);
    for (int d = 0; d < to->dim; d++)
      carry_lines(&a->axis[d], &b->axis[d], d, extent, work[d % 2], work[(d + 1) % 2]);
    memcpy(v + to->first[p], work[to->dim % 2], sizeof *v * (size_t)b->length);
  }
done:
  for (int i = 0; i < 2; i++) tesi_free(ctx, &work[i]);
  return status;
}
