/* The assembled twin of a mapped operator, compressed rows, on the device. In this order, with tesk_scan_* between:
 *   tesk_csr_count    cells of each free node, counted               | scan: first[nodes + 1]
 *   tesk_csr_place    cell[first[node] ..]: those cells              | tesk_csr_order: ascending
 *   tesk_csr_columns  columns of each row, counted                   | scan: row[nodes + 1]
 *   tesk_csr_columns  again, written: column[row[node] ..] ascending
 *   tesk_csr_values   cell matrices, added
 * A cell matrix is made column by column: the flux G grad phi_b at the points from products of 1D numbers, then tested with all phi_a by sum
 * factorization, 2 (9 q n (q + n) + ...) flops an entry. Macros: as mapped_points.h. */
#include "kernel.h"
#include "mapped_points.h"

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

/* So that the matrix does not depend on who came first. */
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

/* ---- exclusive sums: out[i] = in[0] + .. + in[i - 1], out[n] the whole; three kernels ----------------------------------------- */
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

/* One block: parts[count] become sums of those before; parts[count] the whole. */
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

/* ---- columns -------------------------------------------------------------------------------------------------------------------- */
/* Bitonic sort of size (a power of two) numbers by a block. */
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

/* A block has a row. Without column: count[row] <- its entries; else they are written, ascending. A row without cells has itself. Shared memory:
 * the nodes of the row's cells, up to a power of two, and THREADS numbers. */
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

/* ---- values --------------------------------------------------------------------------------------------------------------------- */
/* Where `wanted` is among the ascending columns of a row. */
TESK_DEVICE int find(const int *column, int begin, int end, int wanted) {
  while (end - begin > 1) {
    const int middle = begin + (end - begin) / 2;
    if (column[middle] <= wanted)
      begin = middle;
    else
      end = middle;
  }
  return begin;
}

/* F[0..DIM-1] <- G grad phi_b, F[DIM] <- W phi_b, at the points. */
TESK_DEVICE void make_flux(const TeskMapped *a, long long cell, int b, const double *I, const double *G,
                           double *F) {
  const int at[3] = {b % N, b / N % N, b / (N * N)};
  FOR_EACH_OF(point, POINTS) {
    const int p[3] = {point % Q, point / Q % Q, point / (Q * Q)};
    double m[7], gradient[3] = {1, 1, 1}, value = 1;
    factors_at(a, cell, point, m);
    for (int d = 0; d < DIM; d++) {
      value *= I[p[d] * N + at[d]];
      for (int e = 0; e < DIM; e++) gradient[e] *= (d == e ? G : I)[p[d] * N + at[d]];
    }
    for (int c = 0; c < DIM; c++) {
      double sum = 0;
      for (int e = 0; e < DIM && STIFFNESS; e++) sum += m[c < e ? packed(c, e) : packed(e, c)] * gradient[e];
      F[c * POINTS + point] = sum;
    }
    F[DIM * POINTS + point] = MASS ? m[6] * value : 0;
  }
}

/* A block has a cell. tables: I [Q][N], then its derivatives G. Shared memory: (DIM + 1) q^dim + 3 n q^(dim - 1) float64. */
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
    make_flux(&a, cell, b, I, G, F);
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
    FOR_EACH_OF(i, NODES)
    if (index[i] >= 0) TESK_ADD(value + find(column, row[index[i]], row[index[i] + 1], index[b]), K[i]);
    __syncthreads();
  }
}

/* Constrained rows: 1. */
TESK_KERNEL(tesk_csr_ones, THREADS, 1, (long long)nodes, (const int *)first, (const int *)row,
            (double *)value) {
  const long long node = (long long)blockIdx.x * THREADS + threadIdx.x;
  if (node < nodes && first[node] == first[node + 1]) value[row[node]] = 1;
}
