/* Terms in the residuals of flows beside diffusion: the pressure, alpha u, convection, and open faces. See
 * estimate.h. */
#include <math.h>
#include "problem/adapt/estimate.h"

static const double *pressure_of(const TesiResidual *s) {
  return s->u + s->components * s->space->length;
}

void tesi_residual_velocity(const TesiResidual *s, int64_t cell, double *velocity) {
  double local[TESI_CELL_MOST];
  for (int c = 0; c < s->components; c++) {
    tesi_cells_read(s->space, cell, s->u + c * s->space->length, local);
    tesi_cell_evaluate(&s->rule, -1, local, velocity + c * s->rule.points);
  }
}

void tesi_residual_of_flow(const TesiResidual *s, int64_t cell, const TesiCellPoints *at,
                           const double *gradient, double *r) {
  const int dim = s->rule.dim;
  const int64_t n = s->rule.points;
  double local[TESI_CELL_MOST], slope[3 * TESI_CELL_POINTS], u[3 * TESI_CELL_POINTS];
  tesi_cells_read(s->pressure, cell, pressure_of(s), local);
  for (int d = 0; d < dim; d++) tesi_cell_evaluate(&s->pressure_rule, d, local, slope + d * n);
  tesi_cell_gradient(&s->pressure_rule, at, slope, slope);
  for (int64_t i = 0; i < dim * n; i++) r[i] -= slope[i];
  if (!s->carried && s->alpha == 0) return;
  tesi_residual_velocity(s, cell, u);
  for (int64_t i = 0; i < dim * n; i++) r[i] -= s->alpha * u[i];
  if (!s->carried) return;
  for (int c = 0; c < dim; c++)
    for (int d = 0; d < dim; d++)
      for (int64_t p = 0; p < n; p++) r[c * n + p] -= u[d * n + p] * gradient[(c * dim + d) * n + p];
}

void tesi_residual_divergence(const TesiResidual *s, int64_t cell, const TesiCellPoints *at,
                              double *divergence) {
  const int dim = s->rule.dim;
  const int64_t n = s->rule.points;
  double gradient[9 * TESI_CELL_POINTS];
  tesi_residual_gradient(s, cell, at, gradient);
  for (int64_t p = 0; p < n; p++) {
    divergence[p] = 0;
    for (int c = 0; c < dim; c++) divergence[p] += gradient[(c * dim + c) * n + p];
  }
}

static void values_of(const TesFunction *f, const TesiOpenFace *face, int n, const double *const more[3],
                      double *value) {
  for (int p = 0; p < n && !f; p++) value[p] = 0;
  if (f) tesi_function_values_over(f, n, face->x, face->x + n, face->x + 2 * n, 0, more, value);
}

bool tesi_residual_open_face(const TesiResidual *s, const TesiOpenFace *face, double *j) {
  const int dim = s->rule.dim, n = s->face_rule.points;
  const TesiGiven *on = &s->data->given[face->name >= 0 ? face->name : tes_mesh_boundaries(s->space->mesh)];
  const bool open = tesi_given_open(on, dim);
  double local[TESI_CELL_MOST], xi[3 * TESI_FACE_MOST], p[TESI_FACE_MOST], given[TESI_FACE_MOST],
      g[TESI_FACE_MOST], out[3 * TESI_FACE_MOST] = {0};
  int counts = 0;
  for (int i = 0; i < n; i++)
    for (int d = 0; d < dim; d++) out[d * n + i] = face->normal[i * dim + d];
  const double *const more[3] = {out, out + n, out + 2 * n};
  tesi_pair_points(s, face->pair, false, xi);
  tesi_cells_read(s->pressure, face->pair->cell, pressure_of(s), local);
  tesi_local_values(dim, s->pressure->degree, local, n, xi, p, NULL);
  values_of(open ? on->g[dim] : NULL, face, n, more, given);
  for (int c = 0; c < dim; c++) {
    const bool is_given = tesi_cells_given(s->part[c], face->name);
    counts += !is_given;
    values_of(open ? on->g[c] : NULL, face, n, more, g);
    for (int i = 0; i < n; i++) {
      double through = 0;
      for (int d = 0; open && s->carried && d < dim; d++) through += face->u[d * n + i] * out[d * n + i];
      const double stress =
          g[i] + (p[i] - given[i]) * out[c * n + i] + fmin(through, 0) / 2 * face->u[c * n + i];
      j[c * n + i] = is_given ? 0 : j[c * n + i] - stress;
    }
  }
  if (on->how[0] == TESI_NORMAL) tesi_residual_leave_tangential(dim, n, out, j);
  return counts > 0;
}
