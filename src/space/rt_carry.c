/* Functions of Raviart-Thomas spaces from degree to degree, a direction at a time. */
#include <string.h>
#include "basis/lagrange.h"
#include "space/space.h"

/* One line of modes: those that both have. */
static void carry_modes(const TesiRtAxis *from, const TesiRtAxis *to, int64_t step, const double *u,
                        double *v) {
  const int n = tesi_min(from->n, to->n);
  for (int c = 0; c < to->cells; c++)
    for (int j = 0; j < to->n; j++) v[(c * to->n + j) * step] = j < n ? u[(c * from->n + j) * step] : 0;
}

/* One line of nodes: W[to->n + 1][from->n + 1] on each cell. */
static void carry_nodes(const TesiRtAxis *from, const TesiRtAxis *to, const double *W, int64_t step,
                        const double *u, double *v) {
  for (int c = 0; c < to->cells; c++)
    for (int i = 0; i <= to->n; i++) {
      double sum = 0;
      for (int j = 0; j <= from->n; j++) sum += W[i * (from->n + 1) + j] * u[tesi_rt_node(from, c, j) * step];
      v[tesi_rt_node(to, c, i) * step] = sum;
    }
}

/* All lines of a part along direction d; extent becomes the new one. */
static void carry_lines(const TesiRtAxis *from, const TesiRtAxis *to, bool nodes, const double *W, int d,
                        int extent[3], const double *u, double *v) {
  const int in = extent[d], out = nodes ? to->nodes : to->modes;
  int64_t step = 1, outer = 1;
  for (int e = 0; e < d; e++) step *= extent[e];
  for (int e = d + 1; e < 3; e++) outer *= extent[e];
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < step; i++) {
      const double *line = u + o * in * step + i;
      double *to_line = v + o * out * step + i;
      if (nodes)
        carry_nodes(from, to, W, step, line, to_line);
      else
        carry_modes(from, to, step, line, to_line);
    }
  extent[d] = out;
}

TesStatus tesi_rt_carry(TesContext *ctx, const TesiRt *from, const double *u, const TesiRt *to, double *v) {
  TesStatus status = TES_OK;
  double W[TESI_MAX_POINTS * TESI_MAX_POINTS], nodes[TESI_MAX_POINTS], points[TESI_MAX_POINTS];
  double *work[2] = {NULL};
  const int n = tesi_max(from->n, to->n);
  int64_t most = 1;
  tesi_gauss_lobatto(from->n + 1, nodes, NULL);
  tesi_gauss_lobatto(to->n + 1, points, NULL);
  tesi_lagrange(from->n + 1, nodes, to->n + 1, points, W, NULL);
  for (int d = 0; d < to->dim; d++) most *= (int64_t)to->axis[d].cells * n + 1;
  for (int i = 0; i < 2; i++) TES_ALLOC(&work[i], most);
  for (int p = 0; p < to->parts; p++) {
    int extent[3];
    memcpy(extent, from->extent[p], sizeof extent);
    memcpy(work[0], u + from->offset[p], sizeof *u * (size_t)tesi_rt_size(from, p));
    for (int d = 0; d < to->dim; d++)
      carry_lines(&from->axis[d], &to->axis[d], d == p, W, d, extent, work[d % 2], work[(d + 1) % 2]);
    memcpy(v + to->offset[p], work[to->dim % 2], sizeof *v * (size_t)tesi_rt_size(to, p));
  }
done:
  for (int i = 0; i < 2; i++) tesi_free(ctx, &work[i]);
  return status;
}
