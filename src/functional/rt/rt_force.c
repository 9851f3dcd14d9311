/* Forces on the faces of the box, by the residual of the equation. With v = phi(x_d) e_d, phi = 1 on the face with
 * normal d and 0 from the second layer of cells on,
 *   int over the face (sigma n)_d = int over the layer sigma_dd phi' + (alpha u_d - f_d) phi
 *                                   - sum over other boundary faces of the layer int (sigma n)_d phi.
 * In time u_t and convection, tested with phi e_d, stand beside alpha u_d. The stress of a tangential component on a
 * face with given velocity is taken from the form:
 *   (sigma n)_i = nu (du_i/dn - gamma (u_i - g_i)), and + nu du_n/dx_i with the symmetric gradient.
 * Across inner faces phi e_d does not jump, and has no normal derivative. */
#include <math.h>
#include <string.h>
#include "basis/gauss.h"
#include "basis/lagrange.h"
#include "functional/batch_faces.h"
#include "functional/rt/rt_functional.h"
#include "parallel/comm.h"

enum { MOST = TESI_RT_POINTS * TESI_RT_POINTS * TESI_RT_POINTS };

/* Points of a cell or of a face of it. */
typedef struct Points {
  int count, cell[3];
  double xi[3 * MOST], x[3 * MOST], w[MOST]; /* [count][dim], [3][count] */
  double phi[MOST], slope[MOST];
} Points;

typedef struct Force {
  TesContext *context;
  const TesSpace *space;
  const TesiRtStress *stress;
  TesiRtTables t, nodes;
  double *u, *rate; /* rate NULL: 0 */
  int d, end;       /* the face */
  Points at;
  double value[MOST], gradient[3 * MOST], nu[MOST], other[MOST], normal[3 * MOST];
} Force;

/* phi and its derivative at xi, for the face with normal d. */
static void set_weights(Force *f) {
  double nodes[TESI_MAX_POINTS], basis[TESI_RT_LOCAL], slope[TESI_RT_LOCAL];
  const int n = f->space->degree + 2, last = f->end ? n - 1 : 0;
  Points *at = &f->at;
  tesi_gauss_lobatto(n, nodes, NULL);
  for (int q = 0; q < at->count; q++) {
    tesi_lagrange(n, nodes, 1, &at->xi[q * f->space->dim + f->d], basis, slope);
    at->phi[q] = basis[last];
    at->slope[q] = slope[last] / tesi_modal(f->space, f->d)->h[at->cell[f->d]];
  }
}

/* Gauss points of a cell, or of its face with normal a >= 0 at the lower or upper end. */
static void set_points(Force *f, const int cell[3], int a, int end) {
  const TesSpace *space = f->space;
  Points *at = &f->at;
  int count[3];
  for (int d = 0; d < 3; d++) count[d] = d >= space->dim || d == a ? 1 : f->t.points;
  at->count = count[0] * count[1] * count[2];
  memcpy(at->cell, cell, sizeof at->cell);
  for (int q = 0; q < at->count; q++) {
    int rest = q;
    at->w[q] = 1;
    for (int d = 0; d < 3; d++) {
      const TesiAxis *axis = tesi_modal(space, d);
      const int i = rest % count[d];
      const double xi = d == a ? end : f->t.x[i];
      rest /= count[d];
      at->x[d * at->count + q] = d < space->dim ? axis->vertices[cell[d]] + xi * axis->h[cell[d]] : 0;
      if (d < space->dim) at->xi[q * space->dim + d] = xi;
      if (d < space->dim && d != a) at->w[q] *= f->t.w[i] * axis->h[cell[d]];
    }
  }
  set_weights(f);
}

/* value and gradient of a part at the points. */
static void evaluate(Force *f, const double *u, int part) {
  double local[TESI_RT_LOCAL * TESI_RT_LOCAL * TESI_RT_LOCAL];
  const TesSpace *space = f->space;
  const Points *at = &f->at;
  tesi_rt_node_values(space, &f->nodes, part, tesi_rt_cell_number(space, at->cell), u, local);
  tesi_local_values(space->dim, space->degree + 1, local, at->count, at->xi, f->value, f->gradient);
  for (int q = 0; q < at->count; q++)
    for (int d = 0; d < space->dim; d++)
      f->gradient[q * space->dim + d] /= tesi_modal(space, d)->h[at->cell[d]];
}

static TesStatus take(const Force *f, const TesFunction *function, double otherwise, double *out) {
  const Points *at = &f->at;
  for (int q = 0; q < at->count && !function; q++) out[q] = otherwise;
  return function ? tes_function_evaluate(function, at->count, at->x, at->x + at->count,
                                          at->x + 2 * at->count, 0, out)
                  : TES_OK;
}

/* other <- what is given on a face with normal a. */
static TesStatus take_boundary(Force *f, const TesFunction *function, int a, double outwards) {
  const int count = f->at.count;
  memset(f->other, 0, sizeof *f->other * (size_t)count);
  for (int q = 0; q < 3 * count; q++) f->normal[q] = q / count == a ? outwards : 0;
  return function ? tesi_boundary_values(function, count, f->at.x, f->normal, f->other) : TES_OK;
}

/* *sum += factor int (sigma n)_i over a face of a cell with normal a, i != a, weighted by phi or by 1. */
static TesStatus add_stress(Force *f, const int cell[3], int a, int end, int i, bool weighted, double factor,
                            double *sum) {
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  const TesiGiven *given = &f->stress->given[2 * a + end];
  const int dim = f->space->dim;
  const TesiAxis *axis = tesi_modal(f->space, a);
  const double sign = end ? 1 : -1, gamma = tesi_rt_boundary_penalty(f->stress->penalty, f->space->degree,
                                                                     axis->h[end ? axis->cells - 1 : 0]);
  Points *at = &f->at;
  if (given->how[i] == TESI_FLUX) return TES_OK;
  set_points(f, cell, a, end);
  TES_TRY(take_boundary(f, given->g[i], a, sign));
  TES_TRY(take(f, f->stress->nu, 1, f->nu));
  if (!weighted)
    for (int q = 0; q < at->count; q++) at->phi[q] = 1;
  for (int q = 0; q < at->count && given->how[i] == TESI_OPEN; q++)
    *sum += factor * at->w[q] * at->phi[q] * f->other[q];
  if (given->how[i] == TESI_OPEN) goto done;
  evaluate(f, f->u, i);
  for (int q = 0; q < at->count; q++)
    *sum += factor * at->w[q] * at->phi[q] * f->nu[q] *
            (sign * f->gradient[q * dim + a] - gamma * (f->value[q] - f->other[q]));
  if (!f->stress->symmetric) goto done;
  evaluate(f, f->u, a);
  for (int q = 0; q < at->count; q++)
    *sum += factor * at->w[q] * at->phi[q] * f->nu[q] * sign * f->gradient[q * dim + i];
done:
  return status;
}

/* *sum += int sigma_dd phi' + (alpha u_d - f_d) phi over a cell of the layer. */
static TesStatus add_cell(Force *f, const int cell[3], double *sum) {
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  const int dim = f->space->dim, d = f->d;
  const double viscous = f->stress->symmetric ? 2 : 1;
  Points *at = &f->at;
  set_points(f, cell, -1, 0);
  TES_TRY(take(f, f->stress->f[d], 0, f->other));
  TES_TRY(take(f, f->stress->nu, 1, f->nu));
  evaluate(f, f->u, d);
  for (int q = 0; q < at->count; q++)
    *sum += at->w[q] * (viscous * f->nu[q] * f->gradient[q * dim + d] * at->slope[q] +
                        (f->stress->alpha * f->value[q] - f->other[q]) * at->phi[q]);
  evaluate(f, f->u, dim);
  for (int q = 0; q < at->count; q++) *sum -= at->w[q] * f->value[q] * at->slope[q];
  if (!f->rate) goto done;
  evaluate(f, f->rate, d);
  for (int q = 0; q < at->count; q++) *sum += at->w[q] * f->value[q] * at->phi[q];
done:
  return status;
}

/* The normal component: the cell, and its faces on other boundaries. */
static TesStatus add_layer(Force *f, const int cell[3], double *sum) {
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  TES_TRY(add_cell(f, cell, sum));
  for (int a = 0; a < f->space->dim; a++)
    for (int end = 0; end < 2; end++) {
      const TesiAxis *axis = tesi_modal(f->space, a);
      if (a == f->d || axis->periodic || cell[a] != (end ? axis->cells - 1 : 0)) continue;
      if (tesi_mesh_cut(f->space->mesh, 2 * a + end)) continue;
      TES_TRY(add_stress(f, cell, a, end, f->d, true, -1, sum));
    }
done:
  return status;
}

static TesStatus sum_layer(Force *f, int i, double *sum) {
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  const int layer = f->end ? tesi_modal(f->space, f->d)->cells - 1 : 0;
  for (int64_t c = 0; c < tesi_rt_cells(f->space); c++) {
    int cell[3];
    tesi_rt_cell(f->space, c, cell);
    if (cell[f->d] != layer) continue;
    TES_TRY(i == f->d ? add_layer(f, cell, sum) : add_stress(f, cell, f->d, f->end, i, false, 1, sum));
  }
done:
  return status;
}

/* Convection tested with phi e_d. Across, phi is 1, which is sqrt(area) times mode 0 of each cell. */
static TesStatus sum_carried(const Force *f, double *sum) {
  TesContext *ctx = f->context;
  TesStatus status = TES_OK;
  const TesSpace *space = f->space;
  const int extent[3] = TESI_EXTENT(space->scalar[f->d]);
  double *values = NULL;
  const int node = f->end ? extent[f->d] - 1 : 0;
  TES_TRY(tesi_vector_read(f->stress->carried, &values));
  for (int z = 0; z < extent[2]; z++)
    for (int y = 0; y < extent[1]; y++)
      for (int x = 0; x < extent[0]; x++) {
        const int at[3] = {x, y, z};
        double area = 1;
        bool first = at[f->d] == node;
        for (int d = 0; d < space->dim; d++) {
          if (d == f->d) continue;
          first = first && at[d] % (space->degree + 1) == 0;
          area *= tesi_modal(space, d)->h[at[d] / (space->degree + 1)];
        }
        if (first)
          *sum +=
              sqrt(area) * values[space->first[f->d] + x + (int64_t)extent[0] * (y + (int64_t)extent[1] * z)];
      }
done:
  tesi_free(ctx, &values);
  return status;
}

TesStatus tesi_rt_force(const TesSpace *space, const TesVector *u, const TesiRtStress *stress, int face,
                        int i, double *force) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  Force *f = NULL;
  double sum = 0;
  TES_NEW(&f);
  f->context = ctx, f->space = space, f->stress = stress, f->d = face / 2, f->end = face % 2;
  tesi_rt_tables(f->space->degree + 1, space->degree + 5, &f->t);
  tesi_rt_node_tables(f->space->degree + 1, &f->nodes);
  TES_TRY(tesi_vector_read(u, &f->u));
  if (stress->rate) TES_ALLOC(&f->rate, space->length);
  if (stress->rate) TES_TRY(tes_vector_get(stress->rate, f->rate));
  const bool here = !tesi_mesh_cut(space->mesh, face);
  if (here) TES_TRY(sum_layer(f, i, &sum));
  if (here && stress->carried && i == f->d) TES_TRY(sum_carried(f, &sum));
  tesi_reduce(ctx, TESI_SUM, 1, &sum);
  *force = -sum;
done:
  if (f) tesi_free(ctx, &f->u), tesi_free(ctx, &f->rate);
  tesi_free(ctx, &f);
  return status;
}
