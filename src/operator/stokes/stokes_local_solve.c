/* Exact solution on a product of intervals: transforms, the Schur complement's inverse, and back. */
#include <string.h>
#include "operator/stokes/stokes_local.h"
#include "tensor/contract.h"

static void extents_of(const TesiStokesLocal *l, int part, int extent[3]) {
  for (int d = 0; d < 3; d++) extent[d] = d >= l->dim ? 1 : d == part ? l->axis[d]->nodes : l->axis[d]->modes;
}

int tesi_stokes_local_size(const TesiStokesLocal *l, int part) {
  int extent[3];
  extents_of(l, part, extent);
  return extent[0] * extent[1] * extent[2];
}

int tesi_stokes_local_most(const TesiStokesLocal *l) {
  int most = 0;
  for (int part = 0; part <= l->dim; part++) most = tesi_max(most, tesi_stokes_local_size(l, part));
  return most;
}

/* x <- Z' x or Z x. */
static void transform(const TesiStokesLocal *l, int part, bool back, double *x, double *work) {
  int extent[3];
  extents_of(l, part, extent);
  const size_t size = sizeof *x * (size_t)tesi_stokes_local_size(l, part);
  for (int d = 0; d < l->dim; d++) {
    const TesiStokesLocalAxis *a = l->axis[d];
    const int n = extent[d];
    tesi_contract(d == part ? a->Zc : a->Zd, n, n, !back, extent, d, x, work);
    memcpy(x, work, size);
  }
}

/* x <- x / Lam_i. */
static void divide(const TesiStokesLocal *l, int i, double *x) {
  int extent[3];
  extents_of(l, i, extent);
  for (int j = 0; j < extent[0] * extent[1] * extent[2]; j++) {
    const int m[3] = {j % extent[0], j / extent[0] % extent[1], j / extent[0] / extent[1]};
    double sum = 0;
    for (int d = 0; d < l->dim; d++) sum += d == i ? l->axis[d]->lc[m[d]] : l->axis[d]->ld[m[d]];
    x[j] /= l->nu * sum + l->alpha;
  }
}

void tesi_stokes_local_solve(const TesiStokesLocal *l, const double *S, double *const *part, double *work) {
  const int dim = l->dim, n = tesi_stokes_local_pressures(l), most = tesi_stokes_local_most(l);
  double *const r = work, *const other = work + most, *const p = part[dim];
  int extent[3];
  transform(l, dim, false, p, other);
  for (int j = 0; j < n; j++) r[j] = -p[j];
  for (int i = 0; i < dim; i++) {
    transform(l, i, false, part[i], other);
    divide(l, i, part[i]);
    extents_of(l, i, extent);
    tesi_contract(l->axis[i]->G, l->axis[i]->modes, l->axis[i]->nodes, false, extent, i, part[i], other);
    for (int j = 0; j < n; j++) r[j] -= other[j];
  }
  for (int row = 0; row < n; row++) {
    p[row] = 0;
    for (int j = 0; j < n; j++) p[row] += S[(int64_t)row * n + j] * r[j];
  }
  for (int i = 0; i < dim; i++) {
    extents_of(l, dim, extent);
    tesi_contract(l->axis[i]->G, l->axis[i]->modes, l->axis[i]->nodes, true, extent, i, p, other);
    divide(l, i, other);
    for (int j = 0; j < extent[0] * extent[1] * extent[2]; j++) part[i][j] += other[j];
    transform(l, i, true, part[i], other);
  }
  transform(l, dim, true, p, other);
}

void tesi_stokes_local_solve_scalar(const TesiStokesLocal *l, double *x, double *work) {
  transform(l, l->dim, false, x, work);
  divide(l, l->dim, x);
  if (l->closed) x[0] = 0; /* eigenvalues ascend: the first one of each direction belongs to the constant */
  transform(l, l->dim, true, x, work);
}
