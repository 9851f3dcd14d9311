/* The cost of one application of a mapped operator. */
#include <math.h>
#include "device/kernel.h"
#include "geometry/geometry.h"
#include "operator/mapped/mapped.h"

/* Additions and multiplications of a line r <- T u by even-odd halves, T [rows][columns]. */
static double line_flops(int rows, int columns) {
  const int even = ((rows + 1) / 2) * ((columns + 1) / 2), odd = (rows / 2) * (columns / 2);
  return 2.0 * (even + odd) + 2.0 * (columns / 2) + 2.0 * (rows / 2);
}

static double contraction_flops(const TesiMapped *m) {
  const double n = m->n, q = m->q;
  const double down = m->dim == 3 ? n * n + n * q + q * q : n + q, lines = m->dim == 3 ? q * q : q;
  double flops = 0;
  if (!m->collocated) flops += down * (line_flops(m->q, m->n) + line_flops(m->n, m->q));
  if (m->stiffness) flops += 2 * m->dim * lines * line_flops(m->q, m->q);
  return flops;
}

TesCost tesi_mapped_cost(const TesOperator *op) {
  const TesiMapped *m = tesi_mapped_of(op);
  const int dim = m->dim;
  const double cells = (double)m->cells, size = (double)tesi_precision_size(m->precision);
  double point = 0, factors = 0; /* flops per point and component; numbers per cell */
  if (m->stiffness) point += dim == 3 ? 15 : 6;
  if (m->mass) point += m->stiffness ? 2 : 1;
  double flops = cells * m->components * (contraction_flops(m) + (double)m->cell_points * point);
  switch (m->desc.factors) {
  case TES_FACTORS_VERTICES:
    factors = dim << dim;
    flops += cells * (double)m->cell_points * (dim == 3 ? 48 : 14);
    break;
  case TES_FACTORS_AFFINE:
    factors = m->factors;
    break;
  case TES_FACTORS_WEIGHTS:
    factors = (double)((m->mass ? 2 : 1) * m->cell_points) + dim * (tesi_has_kernels(op->context)
                                                                        ? pow(m->cell_degree + 1, dim) - 1
                                                                        : (double)m->geometry->cell_nodes);
    flops += cells * (double)m->cell_points * (dim == 3 ? 72 : 16);
    break;
  case TES_FACTORS_HALVES:
    factors = (double)((m->factors + 1) / 2 * m->cell_points + 1);
    break;
  case TES_FACTORS_MATRIX:
    factors = (double)(m->cell_nodes * (m->cell_nodes + (m->mass ? 1 : -1)) / 2);
    flops = cells * m->components * 2 * (double)(m->cell_nodes * m->cell_nodes);
    break;
  default:
    factors = (double)(m->factors * m->cell_points);
  }
  const double index = m->global ? 4 * cells * (double)m->cell_nodes : 0;
  return (TesCost){.flops = flops, .bytes = size * (2 * (double)m->length + cells * factors) + index};
}
