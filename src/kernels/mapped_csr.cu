/* The assembled form of a mapped operator, compressed rows, on the device. In this order, with tesk_scan_* between:
 *   tesk_csr_count    cells of each free node, counted               | scan: first[nodes + 1]
 *   tesk_csr_place    cell[first[node] ..]: those cells              | tesk_csr_order: ascending
 *   tesk_csr_columns  columns of each row, counted                   | scan: row[nodes + 1]
 *   tesk_csr_columns  again, written: column[row[node] ..] ascending
 *   tesk_csr_values   cell matrices, added
 * A cell matrix is made column by column: the flux G grad phi_b at the points from products of 1D numbers, then
 * tested with all phi_a by sum factorization, 2 (9 q n (q + n) + ...) flops per entry. Where nodes hang, C phi_b
 * replaces phi_b (hanging_points.h: about 50 flops per point more), and the result is multiplied by C', which gives
 * C' K C. Macros: as mapped_points.h, and HANGING. */
#include "kernel.h"
#include "mapped_points.h"
#include "csr.h"
#if HANGING
#define HANG_NUMBER double
#include "hanging_points.h"
#endif

#define CHUNK (32 * THREADS) /* numbers that a block scans */

TESK_KERNEL(tesk_csr_count, THREADS, 1, (long long)n, (const int *)index, (int *)count) {
  const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
  if (i < n && index[i] >= 0) (void)TESK_TAKE(count + index[i]);
}

/* used[] starts at zero. */
TESK_KERNEL(tesk_csr_place, THREADS, 1, (long long)n, (const int *)index, (const int *)first, (int *)used,
            (int *)cell) {
  const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
  if (i < n && index[i] >= 0) cell[first[index[i]] + TESK_TAKE(used + index[i])] = (int)(i / NODES);
}

/* Makes the matrix independent of the order in which threads arrive. */
TESK_KERNEL(tesk_csr_order, THREADS, 1, (long long)nodes, (const int *)first, (int *)cell) {
  const long long node = (long long)blockIdx.x * THREADS + threadIdx.x;
  if (node >= nodes) return;
  for (int i = first[node] + 1; i < first[node + 1]; i++) {
    const int moved = cell[i];
    int at = i;
    for (; at > first[node] && cell[at - 1] > moved; at--) cell[at] = cell[at - 1];
    cell[at] = moved;
  }
}

/* ---- exclusive sums: out[i] = in[0] + .. + in[i - 1], out[n] the whole; three kernels ------------------ */
TESK_KERNEL(tesk_scan_parts, THREADS, 1, (long long)n, (const int *)in, (int *)parts) {
  TESK_SHARED(memory);
  int *const sums = (int *)memory, t = (int)threadIdx.x;
  const long long first = (long long)blockIdx.x * CHUNK + t * (CHUNK / THREADS);
  int sum = 0;
  for (long long i = first; i < first + CHUNK / THREADS && i < n; i++) sum += in[i];
  sums[t] = sum;
  __syncthreads();
  if (t > 0) return;
  for (int i = 1; i < THREADS; i++) sum += sums[i];
  parts[blockIdx.x] = sum;
}

/* One block: parts[count] become the sums of the parts before; parts[count] the total. */
TESK_KERNEL(tesk_scan_whole, THREADS, 1, (int)count, (int *)parts) {
  TESK_SHARED(memory);
  int *const sums = (int *)memory, t = (int)threadIdx.x, share = (count + THREADS - 1) / THREADS;
  int sum = 0;
  for (int i = t * share; i < (t + 1) * share && i < count; i++) sum += parts[i];
  sums[t] = sum;
  __syncthreads();
  int before = 0;
  for (int i = 0; i < t; i++) before += sums[i];
  for (int i = t * share; i < (t + 1) * share && i < count; i++) {
    const int own = parts[i];
    parts[i] = before;
    before += own;
  }
  if (t == THREADS - 1) parts[count] = before;
}

TESK_KERNEL(tesk_scan_write, THREADS, 1, (long long)n, (const int *)in, (const int *)parts, (int *)out) {
  TESK_SHARED(memory);
  int *const sums = (int *)memory, t = (int)threadIdx.x;
  const long long first = (long long)blockIdx.x * CHUNK + t * (CHUNK / THREADS);
  int sum = 0;
  for (long long i = first; i < first + CHUNK / THREADS && i < n; i++) sum += in[i];
  sums[t] = sum;
  __syncthreads();
  int before = parts[blockIdx.x];
  for (int i = 0; i < t; i++) before += sums[i];
  for (long long i = first; i < first + CHUNK / THREADS && i < n; i++) {
    out[i] = before;
    before += in[i];
    if (i == n - 1) out[n] = before;
  }
}

/* ---- columns ------------------------------------------------------------------------------------------- */
/* Bitonic sort of `size` numbers (a power of two) by a block. */
TESK_DEVICE void sort(int *list, int size) {
  for (int width = 2; width <= size; width *= 2)
    for (int step = width / 2; step > 0; step /= 2) {
      __syncthreads();
      FOR_EACH_OF(i, size) {
        const int other = i ^ step;
        if (other < i) continue; /* the pair is the other one's */
        const int a = list[i], b = list[other];
        if ((a > b) == ((i & width) == 0)) {
          list[i] = b;
          list[other] = a;
        }
      }
    }
  __syncthreads();
}

/* A block has a row. Without column: count[row] <- the number of its entries; else the entries are written,
 * ascending. A row without cells has its diagonal entry. Shared memory: the nodes of the row's cells, up to a power
 * of two, and THREADS numbers. */
TESK_KERNEL(tesk_csr_columns, THREADS, 1, (const int *)index, (const int *)first, (const int *)cell,
            (const int *)row, (int *)count, (int *)column) {
  TESK_SHARED(memory);
  const int node = (int)blockIdx.x, t = (int)threadIdx.x, begin = first[node],
            used = (first[node + 1] - begin) * NODES, last = 0x7fffffff;
  int *const sums = (int *)memory, *const list = sums + THREADS;
  int size = 1;
  while (size < used) size *= 2;
  FOR_EACH_OF(i, size) {
    const int at = i < used ? index[(long long)cell[begin + i / NODES] * NODES + i % NODES] : -1;
    list[i] = used == 0 ? node : at < 0 ? last : at;
  }
  sort(list, size);
  const int share = (size + THREADS - 1) / THREADS;
  int own = 0;
  for (int i = t * share; i < (t + 1) * share && i < size; i++)
    own += list[i] != last && (i == 0 || list[i] != list[i - 1]);
  sums[t] = own;
  __syncthreads();
  int before = 0;
  for (int i = 0; i < t; i++) before += sums[i];
  if (!column) {
    if (t == THREADS - 1) count[node] = before + own;
    return;
  }
  for (int i = t * share; i < (t + 1) * share && i < size; i++)
    if (list[i] != last && (i == 0 || list[i] != list[i - 1])) column[row[node] + before++] = list[i];
}

/* ---- values -------------------------------------------------------------------------------------------- */
/* g[0..DIM-1] <- gradient, g[3] <- value of phi_b at a point; own: I, then G. */
TESK_DEVICE void basis_at(int b, const double *own, int point, double g[4]) {
  const int p[3] = {point % Q, point / Q % Q, point / (Q * Q)}, at[3] = {b % N, b / N % N, b / (N * N)};
  g[0] = g[1] = g[2] = g[3] = 1;
  for (int d = 0; d < DIM; d++) {
    const double *const value = own + p[d] * N + at[d];
    g[3] *= value[0];
    for (int e = 0; e < DIM; e++) g[e] *= value[d == e ? Q * N : 0];
  }
}

/* F[0..DIM-1] <- G grad phi_b, F[DIM] <- W phi_b, at the points. */
TESK_DEVICE void make_flux(const TeskMapped *a, long long cell, int b, const double *own, double *F) {
#if HANGING
  const Node node = find_node(a->masks[cell], b);
  const int interpolated = TESK_HANGS(node.mask) && is_interpolated(&node);
#endif
  FOR_EACH_OF(point, POINTS) {
    double m[7], g[4];
    factors_at(a, cell, point, m);
#if HANGING
    if (interpolated)
      interpolated_at(&node, own, point, g);
    else
#endif
      basis_at(b, own, point, g);
    for (int c = 0; c < DIM; c++) {
      double sum = 0;
      for (int e = 0; e < DIM && STIFFNESS; e++) sum += m[c < e ? packed(c, e) : packed(e, c)] * g[e];
      F[c * POINTS + point] = sum;
    }
    F[DIM * POINTS + point] = MASS ? m[6] * g[3] : 0;
  }
}

#if HANGING
/* K [NODES] <- C' K; W [2][N][N]. */
TESK_DEVICE void hang_back(int mask, const double *W, double *K) {
  if (!TESK_HANGS(mask)) return;
  for (int d = DIM - 1; d >= 0; d--) {
    FOR_EACH_OF(line, NODES / N) tesk_hang_line(DIM, N, mask, d, line, 1, W, K);
    __syncthreads();
  }
}
#endif

/* A block has a cell. tables: I [Q][N], then its derivatives G. Where nodes hang, the same follow for functions
 * interpolated in lower children and in upper children, and W [2][N][N]. Shared memory: (DIM + 1) q^dim + 3 n q^(dim
 * - 1) float64. */
TESK_KERNEL(tesk_csr_values, THREADS, 1, (TeskMapped)a, (const double *)tables, (const int *)row,
            (const int *)column, (double *)value) {
  TESK_SHARED(memory);
  const double *const I = tables, *const G = tables + Q * N;
  double *const F = (double *)memory, *const X = F + (DIM + 1) * POINTS;
  const int size = POINTS / Q * N;
  const long long cell = blockIdx.x;
  const int *const index = a.index + cell * NODES;
  for (int b = 0; b < NODES; b++) {
    if (index[b] < 0) continue;
    make_flux(&a, cell, b, tables, F);
    __syncthreads();
    contract(0, G, F, I, F + DIM * POINTS, X);
    for (int d = 1; d < DIM; d++) contract(0, I, F + d * POINTS, I, 0, X + d * size);
    __syncthreads();
    double *K = F; /* the flux is used up */
    contract(1, I, X, G, X + size, F);
    if (DIM == 3) contract(1, I, X + 2 * size, I, 0, F + POINTS);
    __syncthreads();
    if (DIM == 3) {
      contract(2, I, F, G, F + POINTS, X);
      K = X;
      __syncthreads();
    }
#if HANGING
    hang_back(a.masks[cell], tables + 6 * Q * N, K);
#endif
    FOR_EACH_OF(i, NODES)
    if (index[i] >= 0) TESK_ADD(value + tesk_find(column, row[index[i]], row[index[i] + 1], index[b]), K[i]);
    __syncthreads();
  }
}

/* Constrained rows: 1. */
TESK_KERNEL(tesk_csr_ones, THREADS, 1, (long long)nodes, (const int *)first, (const int *)row,
            (double *)value) {
  const long long node = (long long)blockIdx.x * THREADS + threadIdx.x;
  if (node < nodes && first[node] == first[node + 1]) value[row[node]] = 1;
}
