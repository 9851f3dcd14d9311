/* Dense contractions of small arrays in float64: fast diagonalization of a box, on the device so that a cycle never
 * waits for the host. If all unknowns fit into the shared memory of a block, one block does all. In 2D four products of
 * matrices do it, tile by tile. If a plane fits in 3D, the work goes plane by plane. Otherwise each thread computes one
 * result; the arrays are a few kilobytes and stay in the caches. Macros: real (of the vectors of nodes). */
#include "kernel.h"

#define THREADS 128
#define PLANE 576 /* threads of a plane */
#define LINES 8
#define FOR_EACH(id, n)                                                                                      \
  for (int id = (int)(blockIdx.x * THREADS + threadIdx.x), tesk_end = (n); id < tesk_end;                    \
       id += (int)gridDim.x * THREADS)

/* Boxes of unknowns [n2][n1][n0] inside arrays of nodes, first unknown at `first`. */
typedef struct TeskBox {
  int n[3], first[3], nodes[3];
} TeskBox;

TESK_DEVICE int node_of(const TeskBox *box, int id) {
  const int x = id % box->n[0] + box->first[0], y = id / box->n[0] % box->n[1] + box->first[1],
            z = id / box->n[0] / box->n[1] + box->first[2];
  return (z * box->nodes[1] + y) * box->nodes[0] + x;
}

/* v <- unknowns of b. */
TESK_KERNEL(tesk_gather, THREADS, 1, (const real *)b, (double *)v, (TeskBox)box) {
  FOR_EACH(id, box.n[0] * box.n[1] * box.n[2]) v[id] = (double)b[node_of(&box, id)];
}

/* Unknowns of x <- v; the Dirichlet nodes around them are zeros. */
TESK_KERNEL(tesk_scatter, THREADS, 1, (const double *)v, (real *)x, (TeskBox)box) {
  FOR_EACH(id, box.nodes[0] * box.nodes[1] * box.nodes[2]) {
    const int at[3] = {id % box.nodes[0] - box.first[0], id / box.nodes[0] % box.nodes[1] - box.first[1],
                       id / box.nodes[0] / box.nodes[1] - box.first[2]};
    int inside = 1;
    for (int d = 0; d < 3; d++) inside = inside && at[d] >= 0 && at[d] < box.n[d];
    x[id] = inside ? (real)v[(at[2] * box.n[1] + at[1]) * box.n[0] + at[0]] : 0;
  }
}

/* to[o][i][c] = sum_j S[i][j] from[o][j][c], or S[j][i] if transposed. With lambda the result is divided by the sum
 * of eigenvalues: then [o][i][c] is [z][y][x] with inner = n0 n1, and lambda = lambda_x, lambda_y, lambda_z one after
 * the other; where the sum is at most `smallest` the result is 0. */
TESK_KERNEL(tesk_contract, THREADS, 1, (const double *)from, (double *)to, (const double *)S, (int)inner,
            (int)n, (int)outer, (int)transposed, (const double *)lambda, (int)n0, (double)smallest) {
  FOR_EACH(id, inner * n * outer) {
    const int c = id % inner, i = id / inner % n, o = id / inner / n;
    const double *v = from + o * n * inner + c;
    double sum = 0;
    for (int j = 0; j < n; j++) sum += (transposed ? S[j * n + i] : S[i * n + j]) * v[j * inner];
    if (lambda) {
      const int n1 = inner / n0;
      const double eigenvalue = lambda[c % n0] + lambda[n0 + c / n0] + lambda[n0 + n1 + i];
      sum = (eigenvalue < 0 ? -eigenvalue : eigenvalue) <= smallest ? 0 : sum / eigenvalue;
    }
    to[id] = sum;
  }
}

/* ---- 2D, tile by tile: four launches -------------------------------------------------------------------- */
#define TILE 16 /* rows and columns of a tile, and products at a time */
#define EACH 2  /* rows and columns of a thread */
#define TILE_THREADS (TILE / EACH * TILE / EACH)

/* The two matrices of a product, a tile of each in shared memory; the pitch keeps columns in different banks. */
typedef struct TeskTiles {
  double A[TILE][TILE + 1], B[TILE][TILE];
} TeskTiles;

/* sum[i][j] = sum over k < n of A(row + i, k) B(k, column + j) for the thread's rows and columns, which follow at a
 * distance of TILE / EACH. Entries beyond rows and columns count as 0. A: [rows][n], or unknowns of `b`. */
TESK_DEVICE void multiply_tiles(TeskTiles *t, const double *TESK_RESTRICT A, const real *TESK_RESTRICT b,
                                const double *TESK_RESTRICT B, int rows, int n, int columns, int first_row,
                                int first_column, TeskBox box, double sum[EACH][EACH]) {
  const int id = (int)threadIdx.x, own_row = id / (TILE / EACH), own_column = id % (TILE / EACH);
  for (int start = 0; start < n; start += TILE) {
    __syncthreads();
    for (int at = id; at < TILE * TILE; at += TILE_THREADS) {
      const int r = first_row + at / TILE, k = start + at % TILE, q = start + at / TILE,
                c = first_column + at % TILE;
      const int has_a = r >= 0 && r < rows && k < n, has_b = q < n && c >= 0 && c < columns;
      const int node = (r + box.first[1]) * box.nodes[0] + k + box.first[0];
      t->A[at / TILE][at % TILE] = !has_a ? 0 : b ? (double)b[node] : A[r * n + k];
      t->B[at / TILE][at % TILE] = has_b ? TESK_READ(B + q * columns + c) : 0;
    }
    __syncthreads();
    TESK_UNROLL
    for (int k = 0; k < TILE; k++)
      for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++)
          sum[i][j] += t->A[own_row + i * (TILE / EACH)][k] * t->B[k][own_column + j * (TILE / EACH)];
  }
}

/* to[rows][columns] = A[rows][n] B[n][columns]. b instead of A (NULL: A): unknowns of a vector. With lambda the result
 * is divided by the sum of eigenvalues lambda_x of its column and lambda_y of its row; where the sum is at most
 * `smallest` the result is 0. Grid: tiles of columns, of rows. Flops: 2 n per result; bytes: A and B once per tile. */
TESK_KERNEL(tesk_product, TILE_THREADS, 4, (const double *TESK_RESTRICT)A, (const real *TESK_RESTRICT)b,
            (const double *TESK_RESTRICT)B, (double *)to, (int)rows, (int)n, (int)columns,
            (const double *TESK_RESTRICT)lambda, (TeskBox)box, (double)smallest) {
  TESK_SHARED(memory);
  const int row = (int)blockIdx.y * TILE, column = (int)blockIdx.x * TILE, id = (int)threadIdx.x;
  double sum[EACH][EACH] = {{0}};
  multiply_tiles((TeskTiles *)memory, A, b, B, rows, n, columns, row, column, box, sum);
  for (int i = 0; i < EACH; i++)
    for (int j = 0; j < EACH; j++) {
      const int r = row + id / (TILE / EACH) + i * (TILE / EACH),
                c = column + id % (TILE / EACH) + j * (TILE / EACH);
      if (r >= rows || c >= columns) continue;
      double value = sum[i][j];
      if (lambda) {
        const double eigenvalue = TESK_READ(lambda + c) + TESK_READ(lambda + columns + r);
        value = (eigenvalue < 0 ? -eigenvalue : eigenvalue) <= smallest ? 0 : value / eigenvalue;
      }
      to[r * columns + c] = value;
    }
}

/* Unknowns of x <- A[rows][n] B[n][columns]; the Dirichlet nodes around them are zeros. Grid: tiles of nodes. */
TESK_KERNEL(tesk_product_nodes, TILE_THREADS, 4, (const double *TESK_RESTRICT)A,
            (const double *TESK_RESTRICT)B, (real *)x, (TeskBox)box) {
  TESK_SHARED(memory);
  const int rows = box.n[1], columns = box.n[0], id = (int)threadIdx.x;
  const int row = (int)blockIdx.y * TILE - box.first[1], column = (int)blockIdx.x * TILE - box.first[0];
  double sum[EACH][EACH] = {{0}};
  multiply_tiles((TeskTiles *)memory, A, 0, B, rows, columns, columns, row, column, box, sum);
  for (int i = 0; i < EACH; i++)
    for (int j = 0; j < EACH; j++) {
      const int r = row + id / (TILE / EACH) + i * (TILE / EACH),
                c = column + id % (TILE / EACH) + j * (TILE / EACH);
      const int Y = r + box.first[1], X = c + box.first[0];
      if (Y < box.nodes[1] && X < box.nodes[0])
        x[Y * box.nodes[0] + X] = r >= 0 && r < rows && c >= 0 && c < columns ? (real)sum[i][j] : 0;
    }
}

/* ---- plane by plane: three launches ------------------------------------------------------------------- */
#define GROUP 1 /* results that a thread computes at a time */
#define AHEAD 8 /* numbers that a thread loads at a time */

/* sum[g] += over j < n of value(j) table(j, i + g), for a table [n][n] in global memory; i + g beyond the table
 * counts as n - 1. */
TESK_DEVICE void add_products(const double *values, int step, const double *TESK_RESTRICT table, int n, int i,
                              double sum[GROUP]) {
  int at[GROUP], j = 0;
  for (int g = 0; g < GROUP; g++) at[g] = i + g < n ? i + g : n - 1;
  for (; j + AHEAD <= n; j += AHEAD) {
    double value[AHEAD], number[AHEAD][GROUP];
    TESK_UNROLL
    for (int a = 0; a < AHEAD; a++) {
      value[a] = values[(j + a) * step];
      for (int g = 0; g < GROUP; g++) number[a][g] = TESK_READ(table + (j + a) * n + at[g]);
    }
    TESK_UNROLL
    for (int a = 0; a < AHEAD; a++)
      for (int g = 0; g < GROUP; g++) sum[g] += value[a] * number[a][g];
  }
  for (; j < n; j++)
    for (int g = 0; g < GROUP; g++) sum[g] += values[j * step] * TESK_READ(table + j * n + at[g]);
}

/* to <- (A1' (x) A0') from, for half of a plane's columns, which the block computes, all in shared memory, through
 * `between`; A0[n0][n0], A1[n1][n1]. `to` and `between` have `width` columns from `first` on. All threads must call
 * this; the caller adds the last barrier. */
TESK_DEVICE void contract_plane(const double *from, double *between, double *to,
                                const double *TESK_RESTRICT A0, const double *TESK_RESTRICT A1, int n0,
                                int n1, int first, int width) {
  const int groups = (n1 + GROUP - 1) / GROUP;
  __syncthreads();
  for (int id = (int)threadIdx.x; id < width * groups; id += PLANE) {
    const int i = first + id % width, y = id / width * GROUP;
    double sum[GROUP] = {0};
    const double *row[GROUP];
    for (int g = 0; g < GROUP; g++) row[g] = from + (y + g < n1 ? y + g : n1 - 1) * n0;
    int j = 0;
    for (; j + AHEAD <= n0; j += AHEAD) {
      double number[AHEAD];
      TESK_UNROLL
      for (int a = 0; a < AHEAD; a++) number[a] = TESK_READ(A0 + (j + a) * n0 + i);
      TESK_UNROLL
      for (int a = 0; a < AHEAD; a++)
        for (int g = 0; g < GROUP; g++) sum[g] += number[a] * row[g][j + a];
    }
    for (; j < n0; j++)
      for (int g = 0; g < GROUP; g++) sum[g] += TESK_READ(A0 + j * n0 + i) * row[g][j];
    for (int g = 0; g < GROUP && y + g < n1; g++) between[(y + g) * width + i - first] = sum[g];
  }
  __syncthreads();
  for (int id = (int)threadIdx.x; id < width * groups; id += PLANE) {
    const int x = id % width, i = id / width * GROUP;
    double sum[GROUP] = {0};
    add_products(between + x, width, A1, n1, i, sum);
    for (int g = 0; g < GROUP && i + g < n1; g++) to[(i + g) * width + x] = sum[g];
  }
  __syncthreads();
}

/* The columns of the block: half of n, from *first on. */
TESK_DEVICE int half_of(int n, int *first) {
  const int width = (n + 1) / 2;
  *first = (int)blockIdx.y * width;
  return n - *first < width ? n - *first : width;
}

/* v <- (S1' (x) S0') of the unknowns of b in a plane of z; grid: planes, 2 halves of their columns. Shared: two
 * planes. Flops per number: 2 (n0 + n1); bytes: b twice, v once, tables from the caches. */
TESK_KERNEL(tesk_planes_forward, PLANE, 2, (const real *)b, (double *)v, (const double *TESK_RESTRICT)S0,
            (const double *TESK_RESTRICT)S1, (TeskBox)box) {
  TESK_SHARED(memory);
  const int n0 = box.n[0], n1 = box.n[1], count = n0 * n1, z = (int)blockIdx.x;
  int first;
  const int width = half_of(n0, &first);
  double *const plane = (double *)memory, *const between = plane + count, *const to = between + width * n1;
  for (int id = (int)threadIdx.x; id < count; id += PLANE)
    plane[id] = (double)b[node_of(&box, z * count + id)];
  contract_plane(plane, between, to, S0, S1, n0, n1, first, width);
  for (int id = (int)threadIdx.x; id < width * n1; id += PLANE)
    v[(long long)z * count + id / width * n0 + first + id % width] = to[id];
}

/* Unknowns of x in a plane of z <- (S1 (x) S0) v, with the transposes T of S; zeros at the Dirichlet nodes around
 * them, and in planes without unknowns. Grid: planes of nodes, 2 halves of the unknowns' columns; each half also
 * writes the nodes beside it. */
TESK_KERNEL(tesk_planes_backward, PLANE, 2, (const double *)v, (real *)x, (const double *TESK_RESTRICT)T0,
            (const double *TESK_RESTRICT)T1, (TeskBox)box) {
  TESK_SHARED(memory);
  const int n0 = box.n[0], n1 = box.n[1], count = n0 * n1, z = (int)blockIdx.x - box.first[2];
  const int here = z >= 0 && z < box.n[2], nodes = box.nodes[0] * box.nodes[1], right = (int)blockIdx.y;
  int first;
  const int width = half_of(n0, &first);
  const int begin = right ? first + box.first[0] : 0, end = right ? box.nodes[0] : width + box.first[0];
  double *const plane = (double *)memory, *const between = plane + count, *const to = between + width * n1;
  if (here) {
    for (int id = (int)threadIdx.x; id < count; id += PLANE) plane[id] = v[(long long)z * count + id];
    contract_plane(plane, between, to, T0, T1, n0, n1, first, width);
  }
  for (int id = (int)threadIdx.x; id < (end - begin) * box.nodes[1]; id += PLANE) {
    const int column = begin + id % (end - begin), line = id / (end - begin),
              i = column - box.first[0] - first, j = line - box.first[1];
    const int inside = here && i >= 0 && i < width && j >= 0 && j < n1;
    x[(long long)blockIdx.x * nodes + line * box.nodes[0] + column] = inside ? (real)to[j * width + i] : 0;
  }
}

/* v <- S2 (S2' v / sums of eigenvalues) along z. A block has LINES lines, [z][line] in shared memory, twice. T2: the
 * transpose. lambda: of x, y, z one after the other. */
TESK_KERNEL(tesk_planes_lines, PLANE, 2, (double *)v, (const double *TESK_RESTRICT)S2,
            (const double *TESK_RESTRICT)T2, (const double *TESK_RESTRICT)lambda, (TeskBox)box,
            (double)smallest) {
  TESK_SHARED(memory);
  const int n0 = box.n[0], count = n0 * box.n[1], n = box.n[2], first = (int)blockIdx.x * LINES;
  const int lines = first + LINES < count ? LINES : count - first, groups = (n + GROUP - 1) / GROUP;
  double *const u = (double *)memory, *const w = u + n * LINES;
  for (int id = (int)threadIdx.x; id < n * LINES; id += PLANE)
    u[id] = id % LINES < lines ? v[(long long)(id / LINES) * count + first + id % LINES] : 0;
  for (int pass = 0; pass < 2; pass++) {
    __syncthreads();
    for (int id = (int)threadIdx.x; id < groups * LINES; id += PLANE) {
      const int c = id % LINES, i = id / LINES * GROUP;
      double sum[GROUP] = {0};
      if (c >= lines) continue;
      add_products((pass ? w : u) + c, LINES, pass ? T2 : S2, n, i, sum);
      for (int g = 0; g < GROUP && i + g < n; g++) {
        if (pass) {
          v[(long long)(i + g) * count + first + c] = sum[g];
        } else {
          const double eigenvalue = TESK_READ(lambda + (first + c) % n0) +
                                    TESK_READ(lambda + n0 + (first + c) / n0) +
                                    TESK_READ(lambda + n0 + box.n[1] + i + g);
          w[(i + g) * LINES + c] =
              (eigenvalue < 0 ? -eigenvalue : eigenvalue) <= smallest ? 0 : sum[g] / eigenvalue;
        }
      }
    }
  }
}

/* x <- A b for a dense A [n][n] over the free entries entry[n]; place[]: the number of an entry of x among the free
 * entries, -1: the entry is 0. One block per entry of x. Bytes: A once. */
TESK_KERNEL(tesk_dense, THREADS, 1, (const real *)A, (const real *)b, (real *)x,
            (const int *TESK_RESTRICT)entry, (const int *TESK_RESTRICT)place, (int)n) {
  TESK_SHARED(memory);
  double *sums = (double *)memory, sum = 0;
  const int t = (int)threadIdx.x, at = place[blockIdx.x];
  const real *row = A + (long long)(at < 0 ? 0 : at) * n;
  for (int j = t; j < n && at >= 0; j += THREADS) sum += (double)row[j] * (double)b[entry[j]];
  sums[t] = sum;
  for (int half = THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) sums[t] += sums[t + half];
  }
  if (t == 0) x[blockIdx.x] = (real)sums[0];
}

/* column <- the free entries of y. */
TESK_KERNEL(tesk_dense_take, THREADS, 1, (const double *)y, (const int *)entry, (double *)column, (int)n) {
  FOR_EACH(i, n) column[i] = y[entry[i]];
}

/* ---- all of it by one block ---------------------------------------------------------------------------- */
#define BLOCK 512
#define FOR_ALL(id, n) for (int id = (int)threadIdx.x; id < (n); id += BLOCK)

/* One direction, from shared to shared memory: like tesk_contract, with the division after the last transposed
 * direction. */
TESK_DEVICE void contract_here(const double *from, double *to, const double *S, int inner, int n, int count,
                               int transposed, const double *lambda, int n0, double smallest) {
  __syncthreads();
  FOR_ALL(id, count) {
    const int c = id % inner, i = id / inner % n, o = id / inner / n;
    const double *v = from + o * n * inner + c, *row = transposed ? S + i : S + i * n;
    const int step = transposed ? n : 1;
    double sum = 0;
    for (int j = 0; j < n; j++) sum += row[j * step] * v[j * inner];
    if (lambda) {
      const int n1 = inner / n0;
      const double eigenvalue = lambda[c % n0] + lambda[n0 + c / n0] + lambda[n0 + n1 + i];
      sum = (eigenvalue < 0 ? -eigenvalue : eigenvalue) <= smallest ? 0 : sum / eigenvalue;
    }
    to[id] = sum;
  }
}

/* x <- A^-1 b on a box of few unknowns. numbers: S of the three directions, then their eigenvalues. Shared: two
 * arrays of unknowns, numbers. */
TESK_KERNEL(tesk_coarse, BLOCK, 1, (const real *)b, (real *)x, (const double *)numbers, (TeskBox)box,
            (double)smallest) {
  TESK_SHARED(memory);
  const int n0 = box.n[0], n1 = box.n[1], n2 = box.n[2], count = n0 * n1 * n2;
  const int numbers_count = n0 * (n0 + 1) + n1 * (n1 + 1) + n2 * (n2 + 1);
  double *const u = (double *)memory, *const v = u + count, *const S0 = v + count, *const S1 = S0 + n0 * n0,
                *const S2 = S1 + n1 * n1, *const lambda = S2 + n2 * n2;
  FOR_ALL(id, numbers_count) S0[id] = numbers[id];
  FOR_ALL(id, count) u[id] = (double)b[node_of(&box, id)];
  contract_here(u, v, S0, 1, n0, count, 1, 0, n0, smallest);
  contract_here(v, u, S1, n0, n1, count, 1, 0, n0, smallest);
  contract_here(u, v, S2, n0 * n1, n2, count, 1, lambda, n0, smallest);
  contract_here(v, u, S0, 1, n0, count, 0, 0, n0, smallest);
  contract_here(u, v, S1, n0, n1, count, 0, 0, n0, smallest);
  contract_here(v, u, S2, n0 * n1, n2, count, 0, 0, n0, smallest);
  __syncthreads();
  FOR_ALL(id, box.nodes[0] * box.nodes[1] * box.nodes[2]) {
    const int at[3] = {id % box.nodes[0] - box.first[0], id / box.nodes[0] % box.nodes[1] - box.first[1],
                       id / box.nodes[0] / box.nodes[1] - box.first[2]};
    int inside = 1;
    for (int d = 0; d < 3; d++) inside = inside && at[d] >= 0 && at[d] < box.n[d];
    x[id] = inside ? (real)u[(at[2] * n1 + at[1]) * n0 + at[0]] : 0;
  }
}
