/* The diagonal of elasticity operators. For component c it is the diagonal of a scalar operator with the metric M =
 * w|J| K (mu I + (lambda + mu) e_c e_c') K' and the same mass. As in mapped_diagonal.cu, it is computed with squares
 * of 1D tables; at hanging nodes with sums over the points of functions C phi_i (hanging_points.h).
 * A block has a component of a cell, a thread every 128th number of it. Shared memory: N + 3 N^DIM float64, with
 * hanging nodes 7 N^DIM more. Flops per cell and component: 7 times 2 * 3 N^4 in 3D.
 * Macros: real, DIM, N, Q (equal to N), NUMBERS, MASS, HANGING, and for mapped_points.h STIFFNESS=1, GEOMETRY=0,
 * factor.
 * tables [3][N][N]: squares of values, values times derivatives, squares of derivatives. Where nodes hang, [6][N][N]
 * follow: values and derivatives, the same of functions interpolated in lower children, the same in upper children.
 * weights [N]. */
#include "kernel.h"
#include "elasticity_arguments.h"
#include "mapped_points.h"
#include "hanging_points.h"
#include "elasticity_points.h"

/* m[0..5] <- packed entries of M, m[6] <- the mass. */
TESK_DEVICE void metric_at(const TeskElastic *a, long long cell, int p, const real *weights, int component,
                           double m[7]) {
  real number[ENTRIES_ELASTIC];
  elastic_numbers(a, cell, p, weights, number);
  for (int d = 0; d < DIM; d++)
    for (int e = d; e < DIM; e++) {
      double sum = ((double)number[OWN] + (double)number[OWN + 1]) * (double)ELASTIC_K(number, d, component) *
                   (double)ELASTIC_K(number, e, component);
      for (int r = 0; r < DIM; r++)
        sum += (double)number[OWN + 1] * (double)ELASTIC_K(number, d, r) * (double)ELASTIC_K(number, e, r);
      m[packed(d, e)] = sum;
    }
  m[6] = MASS ? (double)number[ENTRIES_ELASTIC - 1] : 0;
}

TESK_KERNEL(tesk_elasticity_diagonal, THREADS, 1, (real *)diagonal, (TeskElastic)a) {
  TESK_SHARED(memory);
  const double *const tables = (const double *)a.tables;
  double *const A = (double *)memory, *const B = A + POINTS, *const sum = B + POINTS, *const M = sum + POINTS;
  real *const weights = (real *)(M + (HANGING ? 7 * POINTS : 0));
  const long long at = blockIdx.x / DIM, cell = a.order ? a.order[at] : at;
  const int component = (int)(blockIdx.x % DIM), mask = HANGING ? a.masks[cell] : 0;
  FOR_EACH_OF(i, N) weights[i] = (real)tables[(HANGING ? 9 : 3) * TABLE + i];
  FOR_EACH_OF(i, NODES) sum[i] = 0;
  __syncthreads();
  for (int c = 0; c <= (MASS ? DIM : DIM - 1); c++) /* DIM: the mass */
    for (int e = c; e < (c < DIM ? DIM : DIM + 1); e++) {
      const double *t[3];
      for (int k = 0; k < 3; k++) t[k] = tables + ((k == c) + (k == e)) * TABLE;
      FOR_EACH_OF(p, POINTS) {
        double m[7];
        metric_at(&a, cell, p, weights, component, m);
        A[p] = c == DIM ? m[6] : (c == e ? 1 : 2) * m[packed(c, e)];
      }
      __syncthreads();
      contract(0, t[0], A, t[0], 0, B);
      __syncthreads();
      contract(1, t[1], B, t[1], 0, A);
      __syncthreads();
      if (DIM == 3) contract(2, t[2], A, t[2], 0, B);
      if (DIM == 3) __syncthreads();
      FOR_EACH_OF(i, NODES) sum[i] += DIM == 3 ? B[i] : A[i];
      __syncthreads();
    }
  if (TESK_HANGS(mask)) {
    FOR_EACH_OF(p, POINTS) {
      double m[7];
      metric_at(&a, cell, p, weights, component, m);
      for (int s = 0; s < 7; s++) M[s * POINTS + p] = m[s];
    }
    __syncthreads();
    FOR_EACH_OF(i, NODES) {
      const Node node = find_node(mask, i);
      if (is_interpolated(&node)) sum[i] = interpolated_entry(&node, tables + 3 * TABLE, M);
    }
    __syncthreads();
  }
  FOR_EACH_OF(i, NODES) {
    const int index = a.index[cell * NODES + i], node = index < 0 ? ~index : index;
    if (index >= 0 || !(a.given[node] >> component & 1))
      TESK_ADD(diagonal + component * a.length + node, (real)sum[i]);
  }
}

/* Rows of given entries: 1. */
TESK_KERNEL(tesk_elasticity_ones, THREADS, 1, (real *)diagonal, (TeskElastic)a) {
  const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
  if (i < a.rows) diagonal[a.row[i]] = 1;
}
