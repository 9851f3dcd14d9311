/* Diagonal and cost of mapped operators. */
#include <math.h>
#include <omp.h>
#include <string.h>
#include "device/kernel.h"
#include "geometry/geometry.h"
#include "operator/mapped/mapped.h"

/* d[n^dim] += sum over points of g[q^dim] t0[q][n] (x) t1 (x) t2; work holds 2 q^dim numbers and more. */
static void add_squares(int dim, int n, int q, const double *const t[3], double factor, const double *g,
                        double *work, double *d) {
  const double *in = g;
  double *out = work;
  int inner = 1, outer = dim == 3 ? q * q : q; /* contracted so far, still to do */
  for (int e = 0; e < dim; e++) {
    for (int o = 0; o < outer; o++)
      for (int i = 0; i < n; i++)
        for (int l = 0; l < inner; l++) {
          double sum = 0;
          for (int p = 0; p < q; p++) sum += t[e][p * n + i] * in[(o * q + p) * inner + l];
          out[(o * n + i) * inner + l] = sum;
        }
    in = out;
    out = out == work ? work + q * q * q : work;
    inner *= n;
    outer /= q;
  }
  for (int i = 0; i < inner; i++) d[i] += factor * in[i];
}

/* Products of functions at points: t[0] squares of values, t[1] value times derivative, t[2] squares of derivatives. */
static void square_tables(const TesiMapped *m, double *t) {
  const int n = m->n, q = m->q, size = q * n;
  for (int p = 0; p < q; p++)
    for (int i = 0; i < n; i++) {
      double value = m->I[p * n + i], slope = 0;
      for (int s = 0; s < q; s++) slope += m->D[p * q + s] * m->I[s * n + i];
      t[p * n + i] = value * value;
      t[size + p * n + i] = value * slope;
      t[2 * size + p * n + i] = slope * slope;
    }
}

static void cell_diagonal(const TesiMapped *m, const double *tables, const double *g, double *work,
                          double *d) {
  const int size = m->q * m->n;
  memset(d, 0, (size_t)m->cell_nodes * sizeof *d);
  for (int c = 0; m->stiffness && c < m->dim; c++)
    for (int e = c; e < m->dim; e++, g += m->cell_points) {
      const double *t[3];
      for (int k = 0; k < 3; k++) t[k] = tables + size * ((k == c) + (k == e));
      add_squares(m->dim, m->n, m->q, t, c == e ? 1 : 2, g, work, d);
    }
  const double *const t[3] = {tables, tables, tables};
  if (m->mass) add_squares(m->dim, m->n, m->q, t, m->lambda, g, work, d);
}

static void add_cell(const TesiMapped *m, int64_t cell, const double *values, double *d) {
  for (int64_t p = 0; p < m->cell_nodes; p++)
    for (int c = 0; c < m->components; c++) {
      if (!m->global) {
        d[(cell * m->components + c) * m->cell_nodes + p] = values[p];
        continue;
      }
      const int32_t node = m->index[cell * m->cell_nodes + p];
      if (node < 0) continue;
#pragma omp atomic
      d[(int64_t)node * m->components + c] += values[p];
    }
}

TesStatus tesi_mapped_diagonal_host(const TesOperator *op, double *d) {
  enum { BLOCK = 512 };
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiMapped *m = op->mapped;
  const int threads = tes_context_threads(ctx);
  const int64_t share = 2 * (int64_t)m->q * m->q * m->q + m->cell_nodes, size = m->factors * m->cell_points;
  double *tables = NULL, *g = NULL, *work = NULL;
  TesiHangingDiagonal *hanging = NULL;
  if (m->mask) TES_TRY(tesi_hanging_diagonal_create(m, &hanging));
  TES_ALLOC(&tables, 3 * m->q * m->n);
  TES_ALLOC(&g, BLOCK * size);
  TES_ALLOC(&work, threads * share);
  square_tables(m, tables);
  memset(d, 0, (size_t)m->length * sizeof *d);
  for (int64_t first = 0; first < m->cells; first += BLOCK) {
    const int64_t count = first + BLOCK < m->cells ? BLOCK : m->cells - first;
    TES_TRY(tesi_mapped_fill_factors(m, first, count, g));
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t c = 0; c < count; c++) {
      double *own = work + omp_get_thread_num() * share, *values = own + share - m->cell_nodes;
      cell_diagonal(m, tables, g + c * size, own, values);
      if (tesi_mapped_hangs(m, first + c))
        tesi_hanging_diagonal_cell(hanging, m->mask[first + c], g + c * size, values);
      add_cell(m, first + c, values, d);
    }
  }
  for (int64_t i = 0; i < m->constrained; i++)
    for (int c = 0; c < m->components; c++) d[(int64_t)m->constrained_nodes[i] * m->components + c] = 1;
done:
  tesi_free(ctx, &hanging);
  tesi_free(ctx, &tables);
  tesi_free(ctx, &g);
  tesi_free(ctx, &work);
  return status;
}

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
  const TesiMapped *m = op->mapped;
  const int dim = m->dim;
  const double cells = (double)m->cells, size = (double)tesi_precision_size(m->precision);
  double point = 0, factors = 0; /* flops a point and component; numbers a cell */
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
