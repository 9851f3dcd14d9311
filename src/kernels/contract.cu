/* Dense contractions of small arrays in float64: fast diagonalization of a coarsest level, on the device so that a
 * cycle never waits for the host. One result a thread; a few kilobytes live in the caches. Macros: real (of the
 * vectors of nodes). */
#include "kernel.h"

#define THREADS 128
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

/* to[o][i][c] = sum_j S[i][j] from[o][j][c], or S[j][i] where transposed; divided by the eigenvalue sum where
 * lambda is given: then
 * [o][i][c] is [z][y][x] with inner = n0 n1 and lambda = lambda_x, lambda_y, lambda_z behind each other; sums up to
 * `smallest` give 0. */
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

/* x <- A b for a dense A [n][n] of all nodes, a row a block. Bytes: A once. */
TESK_KERNEL(tesk_dense, THREADS, 1, (const double *)A, (const real *)b, (real *)x, (int)n) {
  TESK_SHARED(memory);
  double *sums = (double *)memory, sum = 0;
  const int t = (int)threadIdx.x;
  const double *row = A + (long long)blockIdx.x * n;
  for (int j = t; j < n; j += THREADS) sum += row[j] * (double)b[j];
  sums[t] = sum;
  for (int half = THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) sums[t] += sums[t + half];
  }
  if (t == 0) x[blockIdx.x] = (real)sums[0];
}

/* ---- all of it by one block ---------------------------------------------------------------------------- */
#define BLOCK 512
#define FOR_ALL(id, n) for (int id = (int)threadIdx.x; id < (n); id += BLOCK)

/* One direction, from shared to shared memory: as tesk_contract, with the division behind the last transposed one. */
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
