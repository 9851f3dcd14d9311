/* See functional_ref.h. */
#include "functional/functional_ref.h"
#include <math.h>
#include "basis/lagrange.h"

static int power(int base, int exponent) {
  return exponent ? base * power(base, exponent - 1) : 1;
}

TesStatus tesi_plain_init(const TesSpace *space, int q, TesiPlain *plain) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const int dim = space->dim, n = space->degree + 1;
  *plain = (TesiPlain){.space = space,
                       .dim = dim,
                       .n = n,
                       .q = q,
                       .nodes = power(n, dim),
                       .points = power(q, dim),
                       .cells = space->mesh->cells};
  TES_CHECK(plain->nodes <= TESI_PLAIN_NODES, "degree %d is more than the plain version does", n - 1);
  TES_TRY(tesi_space_cells(space, &plain->view));
  tesi_gauss_lobatto(n, plain->node, NULL);
  tesi_gauss(q, plain->point, plain->weight);
done:
  return status;
}

/* inverse[c][r] = d xi_c / d x_r by elimination; det J. */
static double invert(int dim, const double *J, double inverse[3][3]) {
  double a[3][6] = {{0}}, det = 1;
  for (int r = 0; r < dim; r++)
    for (int c = 0; c < dim; c++) a[r][c] = J[r * dim + c], a[r][dim + c] = r == c;
  for (int k = 0; k < dim; k++) {
    int pivot = k;
    for (int r = k; r < dim; r++)
      if (fabs(a[r][k]) > fabs(a[pivot][k])) pivot = r;
    det *= pivot == k ? a[k][k] : -a[pivot][k]; /* rows change places */
    for (int c = 0; c < 2 * dim; c++) {
      const double swap = a[k][c];
      a[k][c] = a[pivot][c];
      a[pivot][c] = swap;
    }
    const double scale = 1 / a[k][k];
    for (int c = 0; c < 2 * dim; c++) a[k][c] *= scale;
    for (int r = 0; r < dim; r++)
      for (int c = 2 * dim - 1; r != k && c >= 0; c--) a[r][c] -= a[r][k] * a[k][c];
  }
  for (int c = 0; c < dim; c++)
    for (int r = 0; r < dim; r++) inverse[c][r] = a[c][dim + r];
  return det;
}

TesStatus tesi_plain_point(const TesiPlain *plain, int64_t cell, int face, int p, TesiPlainPoint *at) {
  TesContext *ctx = plain->space->context;
  TesStatus status = TES_OK;
  const int dim = plain->dim, n = plain->n, normal = face < 0 ? -1 : face / 2;
  double xi[3] = {0}, J[9], B[3][TESI_MAX_POINTS], G[3][TESI_MAX_POINTS], area = 0;
  at->weight = 1;
  for (int d = 0; d < dim; d++) {
    xi[d] = d == normal ? face % 2 : plain->point[p % plain->q];
    if (d != normal) at->weight *= plain->weight[p % plain->q];
    if (d != normal) p /= plain->q;
    tesi_lagrange(n, plain->node, 1, &xi[d], B[d], G[d]);
  }
  at->x[2] = 0;
  TES_TRY(tes_mesh_evaluate(plain->space->mesh, cell, 1, xi, at->x, J));
  at->weight *= invert(dim, J, at->inverse);
  for (int r = 0; face >= 0 && r < dim; r++) area += at->inverse[normal][r] * at->inverse[normal][r];
  if (face >= 0) at->weight *= sqrt(area);
  for (int r = 0; face >= 0 && r < 3; r++)
    at->normal[r] = r < dim ? (face % 2 ? 1 : -1) * at->inverse[normal][r] / sqrt(area) : 0;
  for (int i = 0; i < plain->nodes; i++) {
    const int node[3] = {i % n, i / n % n, i / n / n};
    double value[3] = {1, 1, 1}, derivative[3] = {0};
    for (int d = 0; d < dim; d++) value[d] = B[d][node[d]], derivative[d] = G[d][node[d]];
    const double slope[3] = {derivative[0] * value[1] * value[2], value[0] * derivative[1] * value[2],
                             value[0] * value[1] * derivative[2]};
    at->phi[i] = value[0] * value[1] * value[2];
    for (int r = 0; r < dim; r++) {
      at->slope[r][i] = 0;
      for (int c = 0; c < dim; c++) at->slope[r][i] += at->inverse[c][r] * slope[c];
    }
  }
done:
  return status;
}
