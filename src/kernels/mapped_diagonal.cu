/* The diagonal of mapped operators: entry i of a cell is the sum over points of G_ce d_c phi_i d_e phi_i + W
 * phi_i^2, and the squares of tensor products are tensor products of squares, so that each entry (c, e) of G is
 * contracted with one table per direction.
 * A block has a cell, and a thread every 128th number of the cell. Shared memory: 2 q^dim + n^dim float64. Flops per
 * cell: 7 times 2 (q^3 n + q^2 n^2 + q n^3) in 3D. Macros: as mapped_points.h, and COMPONENTS, GLOBAL, HANGING.
 *
 * At a hanging node the function is C phi_i (hanging_points.h), and its entry is summed over the points, node by
 * node. Shared memory: 7 q^dim float64 more. Flops per hanging node: about 60 q^dim. */
#include "kernel.h"
#include "mapped_points.h"
#include "hanging_points.h"

#if HANGING
/* Replaces the entries of hanging nodes. own: [2][Q][N] for the cell's functions, then for functions interpolated in
 * lower children, then in upper children. */
TESK_DEVICE void at_hanging_nodes(const TeskMapped *a, long long cell, const double *own, double *M,
                                  double *sum) {
  const int mask = a->masks[cell];
  if (!TESK_HANGS(mask)) return;
  FOR_EACH_OF(point, POINTS) {
    double m[7] = {0};
    factors_at(a, cell, point, m);
    for (int s = 0; s < 7; s++) M[s * POINTS + point] = m[s];
  }
  __syncthreads();
  FOR_EACH_OF(i, NODES) {
    const Node node = find_node(mask, i);
    if (is_interpolated(&node)) sum[i] = interpolated_entry(&node, own, M);
  }
}
#endif

/* tables[3][Q][N]: squares of values, value times derivative, squares of derivatives. Where nodes hang, values and
 * derivatives follow: of the cell's functions, of functions interpolated in lower children, and in upper children;
 * [9][Q][N] in all. d is zero before (global). */
TESK_KERNEL(tesk_mapped_diagonal, THREADS, 1, (TeskMapped)a, (const double *)tables, (real *)d) {
  TESK_SHARED(memory);
  double *const A = (double *)memory, *const B = A + POINTS, *const sum = B + POINTS;
  const long long cell = a.order ? a.order[blockIdx.x] : (int)blockIdx.x;
  FOR_EACH_OF(i, NODES) sum[i] = 0;
  for (int c = STIFFNESS ? 0 : DIM; c <= (MASS ? DIM : DIM - 1); c++) /* DIM: the mass */
    for (int e = c; e < (c < DIM ? DIM : DIM + 1); e++) {
      const double *t[3];
      for (int k = 0; k < 3; k++) t[k] = tables + ((k == c) + (k == e)) * (Q * N);
      FOR_EACH_OF(p, POINTS) {
        double m[7];
        factors_at(&a, cell, p, m);
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
#if HANGING
  at_hanging_nodes(&a, cell, tables + 3 * TABLE, sum + NODES, sum);
  __syncthreads();
#endif
  FOR_EACH_OF(i, NODES)
  for (int component = 0; component < COMPONENTS; component++) {
#if GLOBAL
    const int node = a.index[cell * NODES + i];
    if (node >= 0) TESK_ADD(d + (long long)node * COMPONENTS + component, (real)sum[i]);
#else
    d[(cell * COMPONENTS + component) * NODES + i] = (real)sum[i];
#endif
  }
}

/* Rows of constrained nodes, list[count]: 1. */
TESK_KERNEL(tesk_mapped_ones, THREADS, 1, (long long)count, (const int *)list, (real *)d) {
  const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
  if (i < count)
    for (int component = 0; component < COMPONENTS; component++)
      d[(long long)list[i] * COMPONENTS + component] = 1;
}
