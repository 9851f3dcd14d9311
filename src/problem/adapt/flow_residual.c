/* Terms in the residuals of flows beside diffusion: the pressure, alpha u, convection, and open faces. See
 * estimate.h. */
#include <math.h>
#include "problem/adapt/estimate.h"

static const double *pressure_of(const TesiResidual *s) {
  return s->u + s->components * s->space->length;
}

static void take_pressure(TesiResidualAt *at, double *slope) {
  const TesiResidual *s = at->s;
  tesi_residual_read(at, s->pressure, false, 1, pressure_of(s), NULL, at->local);
  tesi_residual_evaluate(at, s->pressure->n, s->pressure_rule.B, at->local, at->p);
  tesi_residual_differentiate(at, at->p, slope);
}

void tesi_residual_of_flow(TesiResidualAt *at) {
  const TesiResidual *s = at->s;
  const int dim = s->rule.dim;
  const int64_t n = at->n;
  double *const slope = at->spare[0];
  take_pressure(at, slope);
  for (int64_t i = 0; i < dim * n; i++) at->r[i] -= slope[i];
  for (int64_t i = 0; s->alpha != 0 && i < dim * n; i++) at->r[i] -= s->alpha * at->u[i];
  for (int64_t i = 0; i < n; i++) at->divergence[i] = at->G[i];
  for (int c = 1; c < dim; c++)
    for (int64_t i = 0; i < n; i++) at->divergence[i] += at->G[(c * dim + c) * n + i];
  for (int i = 0; s->carried && i < dim * dim; i++)
    s->loops.add_product(at->points, -1, at->u + i % dim * n, at->G + i * n, at->r + i / dim * n);
}

bool tesi_residual_open_face(TesiResidualAt *at, int name) {
  const TesiResidual *s = at->s;
  const int dim = s->rule.dim;
  const int64_t n = at->n;
  const TesiGiven *on = &s->data->given[name >= 0 ? name : tes_mesh_boundaries(s->space->mesh)];
  const bool open = tesi_given_open(on, dim);
  const double *const more[3] = {at->normal, at->normal + n, at->normal + 2 * n};
  double *const p = at->spare[0], *const inward = at->spare[1], *const g = at->spare[2];
  int counts = 0;
  tesi_residual_read(at, s->pressure, false, 1, pressure_of(s), NULL, at->local);
  tesi_residual_face_values(at, &s->table.pressure_side, at->local, p);
  tesi_residual_values(at, open ? on->g[dim] : NULL, 0, more, g);
  for (int64_t i = 0; i < n; i++) p[i] -= g[i], inward[i] = 0;
  for (int d = 0; open && s->carried && d < dim; d++)
    for (int64_t i = 0; i < n; i++) inward[i] += at->u[d * n + i] * at->normal[d * n + i];
  for (int64_t i = 0; i < n; i++) inward[i] = fmin(inward[i], 0) / 2;
  for (int c = 0; c < dim; c++) {
    const bool is_given = tesi_cells_given(s->part[c], name);
    double *const r = at->r + c * n;
    counts += !is_given;
    tesi_residual_values(at, open ? on->g[c] : NULL, 0, more, g);
    for (int64_t i = 0; i < n; i++)
      r[i] = is_given ? 0 : r[i] - (g[i] + p[i] * at->normal[c * n + i] + inward[i] * at->u[c * n + i]);
  }
  if (on->how[0] == TESI_NORMAL) tesi_residual_leave_tangential(at);
  return counts > 0;
}
