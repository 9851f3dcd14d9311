/* Batches of an elasticity operator. Included like mapped_lines_body.h, after elastic_stress(). n: nodes per
 * direction, and as many points. */
#include "operator/mapped/host/mapped_lines_body.h"
#include "operator/mapped/host/mapped_tensor_body.h"
#include "operator/mapped/host/mapped_rows_body.h"
#include "operator/mapped/host/mapped_hang_body.h"

/* Where the numbers of a plane are, for component c: values at values + c apart, slopes in x at gx + c n^2, in y at
 * gy + c n^2, in the slow direction at d + c apart; kept: of the mass, [dim][n^2]. 2D: the plane is the whole cell,
 * without gy. */
typedef struct LINE(ElasticPlane) {
  V *values, *d, *gx, *gy, *kept;
  int64_t apart;
} LINE(ElasticPlane);

/* Replaces slopes by fluxes at the points of plane s (2D: at all points); kept <- the mass. */
TESI_INLINE void LINE(elastic_points)(int dim, int n, const TesiElasticity *e, const V *numbers, int s,
                                      const LINE(ElasticPlane) * p) {
  const Real *w = e->host.weights_1d;
  const bool at_points = e->kind == TESI_ELASTIC_POINTS, aligned = e->kind == TESI_ELASTIC_ALIGNED;
  const int own = aligned ? dim : dim * dim, entries = e->entries;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      const int at = j * n + i;
      const V *K = at_points ? numbers + (int64_t)(s * n * n + at) * entries : numbers;
      const Real weight = at_points ? 1 : w[i] * w[j] * (dim == 3 ? w[s] : 1);
      V g[9];
      TESI_UNROLL for (int c = 0; c < dim; c++) {
        g[c * dim] = p->gx[c * n * n + at];
        if (dim == 3) g[c * dim + 1] = p->gy[c * n * n + at];
        g[c * dim + dim - 1] = p->d[c * p->apart + at];
        if (e->mass) p->kept[c * n * n + at] = weight * K[own + 2] * p->values[c * p->apart + at];
      }
      if (aligned)
        elastic_stress(dim, true, K, weight * K[own], weight * K[own + 1], g);
      else
        elastic_stress(dim, false, K, weight * K[own], weight * K[own + 1], g);
      TESI_UNROLL for (int c = 0; c < dim; c++) {
        p->gx[c * n * n + at] = g[c * dim];
        if (dim == 3) p->gy[c * n * n + at] = g[c * dim + 1];
        p->d[c * p->apart + at] = g[c * dim + dim - 1];
      }
    }
}

TESI_INLINE void LINE(elastic_plane)(int dim, int n, const TesiElasticity *e, const V *numbers, int s,
                                     const LINE(ElasticPlane) * p) {
  const Real *tables = e->host.tables;
  const int size = n * n;
  for (int c = 0; c < dim; c++) {
    V *const v = p->values + c * p->apart;
    LINE(differentiate)(n, n, tables, TESI_DM_EVEN, v, 1, n, p->gx + c * size, 1, n);
    if (dim == 3) LINE(differentiate)(n, n, tables, TESI_DM_EVEN, v, n, 1, p->gy + c * size, n, 1);
  }
  LINE(elastic_points)(dim, n, e, numbers, s, p);
  for (int c = 0; c < dim; c++) {
    V *const v = p->values + c * p->apart;
    LINE(differentiate)(n, n, tables, TESI_DMT_EVEN, p->gx + c * size, 1, n, v, 1, n);
    if (dim == 3) LINE(add_transposed)(n, n, tables, p->gy + c * size, n, 1, v, n, 1);
    for (int i = 0; e->mass && i < size; i++) v[i] += p->kept[c * size + i];
  }
}

/* u[dim][n^dim] <- A u; rest: room for 2 dim n^dim + (3 dim + 1) n^2 vectors. */
TESI_INLINE void LINE(elastic_cell)(int dim, int n, const TesiElasticity *e, const V *numbers, V *u, V *rest) {
  const Real *tables = e->host.tables;
  const int size = n * n, count = dim == 3 ? size : n, planes = dim == 3 ? n : 1;
  const int64_t points = (int64_t)size * planes;
  V *const values = rest, *const d = rest + dim * points, *const plane = d + dim * points;
  LINE(ElasticPlane)
  p = {.gx = plane, .gy = plane + dim * size, .kept = plane + 2 * dim * size, .apart = points};
  for (int c = 0; c < dim; c++) {
    LINE(in)(dim, n, n, tables, u + c * points, values + c * points, plane);
    LINE(lines)(n, n, count, true, tables, values + c * points, d + c * points);
  }
  for (int s = 0; s < planes; s++) {
    p.values = values + s * size, p.d = d + s * size;
    LINE(elastic_plane)(dim, n, e, numbers, s, &p);
  }
  for (int c = 0; c < dim; c++) {
    LINE(lines_out)(n, n, count, true, tables, values + c * points, d + c * points);
    LINE(out)(dim, n, n, tables, values + c * points, u + c * points, plane);
  }
}

TESI_INLINE void LINE(run)(int dim, int n, const TesiMappedHost *plan, const TesiMappedStep *step, Real sign,
                           const Real *b, const Real *x, Real *y, void *work) {
  const TesiElasticity *e = (const TesiElasticity *)plan;
  const int64_t length = plan->m->nodes, nodes = plan->nodes;
  V *u = (V *)(((uintptr_t)work + 63) / 64 * 64), *rest = u + dim * nodes;
  for (int64_t i = step->first; i < step->end; i++) {
    const TesiMappedBatch *batch = &plan->batch[i];
    for (int c = 0; c < dim; c++) {
      LINE(gather)(n, plan, batch, 0, x + c * length, u + c * nodes);
      if (batch->hanging >= 0) LINE(hang)(n, plan, batch, false, u + c * nodes, rest);
    }
    LINE(elastic_cell)(dim, n, e, (const V *)((const Real *)plan->g + i * plan->stride), u, rest);
    for (int c = 0; c < dim; c++) {
      if (batch->hanging >= 0) LINE(hang)(n, plan, batch, true, u + c * nodes, rest);
      LINE(scatter)(n, plan, batch, 0, sign, b ? b + c * length : NULL, u + c * nodes, y + c * length);
    }
  }
}
