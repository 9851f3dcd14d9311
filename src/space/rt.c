/* Raviart-Thomas spaces: axes and offsets. */
#include "space/rt.h"
#include <math.h>
#include "basis/gauss.h"

static TesStatus fill_axis(TesContext *ctx, const TesMesh *mesh, int d, int n, const uint8_t *given,
                           bool scalar, TesiRtAxis *a) {
  TesStatus status = TES_OK;
  const bool exists = d < mesh->dim;
  a->cells = exists ? mesh->box[d] : 1;
  a->n = exists ? n : 1;
  a->periodic = exists && mesh->box_periodic[d];
  a->modes = a->cells * a->n;
  a->nodes = exists ? a->modes + !a->periodic : 1;
  a->x = mesh->coordinates[d];
  for (int end = 0; end < 2; end++) {
    a->normal[end] = exists && !a->periodic && (given[2 * d + end] & 1);
    a->tangential[end] = exists && !a->periodic && (given[2 * d + end] & (scalar ? 1 : 2));
  }
  TES_ALLOC(&a->h, a->cells);
  const double mean = (a->x[a->cells] - a->x[0]) / a->cells,
               extent = fmax(fabs(a->x[0]), fabs(a->x[a->cells]));
  bool equal = true;
  for (int c = 0; c < a->cells; c++) {
    a->h[c] = a->x[c + 1] - a->x[c];
    equal = equal && fabs(a->h[c] - mean) <= 1e-15 * extent;
  }
  for (int c = 0; c < a->cells && equal; c++) a->h[c] = mean;
done:
  return status;
}

TesStatus tesi_rt_create(TesContext *ctx, const TesMesh *mesh, int degree, const uint8_t *given, bool scalar,
                         TesiRt **rt) {
  TesStatus status = TES_OK;
  TesiRt *r = NULL;
  *rt = NULL;
  TES_NEW(&r);
  r->dim = mesh->dim;
  r->n = degree + 1;
  r->parts = mesh->dim + 1;
  r->scalar = scalar;
  for (int d = 0; d < 3; d++) TES_TRY(fill_axis(ctx, mesh, d, r->n, given, scalar, &r->axis[d]));
  for (int p = 0; p < r->parts; p++) {
    int64_t size = 1;
    for (int d = 0; d < 3; d++) {
      r->extent[p][d] = d == p && p < r->dim ? r->axis[d].nodes : r->axis[d].modes;
      if (scalar && p < r->dim) r->extent[p][d] = 0;
      size *= r->extent[p][d];
    }
    r->offset[p + 1] = r->offset[p] + size;
  }
  *rt = r;
  r = NULL;
done:
  tesi_rt_destroy(ctx, &r);
  return status;
}

void tesi_rt_destroy(TesContext *ctx, TesiRt **rt) {
  if (!*rt) return;
  for (int d = 0; d < 3; d++) tesi_free(ctx, &(*rt)->axis[d].h);
  tesi_free(ctx, rt);
}

int64_t tesi_rt_dofs(const TesiRt *rt) {
  int64_t dofs = tesi_rt_size(rt, rt->dim);
  for (int i = 0; i < rt->dim; i++) {
    const TesiRtAxis *a = &rt->axis[i];
    dofs += tesi_rt_size(rt, i) / a->nodes * (tesi_rt_end(a) - tesi_rt_first(a));
  }
  return dofs;
}

bool tesi_rt_closed(const TesiRt *rt) {
  for (int d = 0; d < rt->dim; d++)
    if (!rt->axis[d].periodic && !(rt->axis[d].normal[0] && rt->axis[d].normal[1])) return false;
  return true;
}

bool tesi_rt_knows(const TesiRt *rt) {
  for (int d = 0; d < rt->dim; d++)
    if (tesi_rt_first(&rt->axis[d]) > 0 || tesi_rt_end(&rt->axis[d]) < rt->axis[d].nodes) return true;
  return false;
}

void tesi_rt_legendre(int n, double h, double t, double *out, double *derivative) {
  for (int j = 0; j < n; j++) {
    double value, slope;
    tesi_legendre(j, 2 * t - 1, &value, &slope);
    out[j] = sqrt((2 * j + 1) / h) * value;
    if (derivative) derivative[j] = sqrt((2 * j + 1) / h) * slope * 2 / h;
  }
}
