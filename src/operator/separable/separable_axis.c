/* The assembled 1D matrices of the separable form. */
#include <string.h>
#include "basis/lagrange.h"
#include "basis/gauss.h"
#include "operator/operator.h"

TesStatus tesi_operator_axis_matrices(const TesOperator *op, int d, double *K, double *M) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiAxis *axis = &op->space->axis[d];
  const int k = axis->degree, n = k + 1, nodes = axis->nodes;
  double mass[TESI_MAX_POINTS * TESI_MAX_POINTS], stiffness[TESI_MAX_POINTS * TESI_MAX_POINTS];
  TES_CHECK(tesi_is_separable(op), "1D matrices of an operator that is not separable");
  TES_CHECK(d >= 0 && d < op->space->dim, "direction %d of %d", d, op->space->dim);
  tesi_cell_matrices(k, mass, stiffness);
  memset(K, 0, sizeof *K * (size_t)nodes * (size_t)nodes);
  memset(M, 0, sizeof *M * (size_t)nodes * (size_t)nodes);
  for (int cell = 0; cell < axis->cells; cell++) {
    const double h = axis->h[cell];
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        const size_t entry =
            (size_t)tesi_axis_node(axis, cell, i) * (size_t)nodes + (size_t)tesi_axis_node(axis, cell, j);
        M[entry] += h * mass[i * n + j];
        K[entry] += tesi_diffusion_of(op)->a / h * stiffness[i * n + j] +
                    (d == 0 ? tesi_diffusion_of(op)->c * h * mass[i * n + j] : 0);
      }
  }
  K[0] += tesi_diffusion_of(op)->alpha[2 * d];
  K[(size_t)nodes * (size_t)nodes - 1] += tesi_diffusion_of(op)->alpha[2 * d + 1];
done:
  return status;
}
