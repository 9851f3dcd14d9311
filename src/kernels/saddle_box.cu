/* The whole of a small box of Stokes in 2D, the coarsest level of a multigrid, x <- K^+ b by fast diagonalization and
 * S^+ (src/operator/saddle/saddle_local.h), any cells and ends, in four launches with many blocks each:
 *   forward   F^ = Z' F / Lam of a component, and its part G F^ of q; Zd' g
 *   inverse   p = -S^+ (Zd' g + sum of G F^), a block of S^+ for each parity
 *   lines     u^ = F^ + G' p / Lam, back along the own direction
 *   across    back across, written
 * "Own" is the direction of a component (x for the pressure), in which it has nodes, "across" the other. A block of
 * the first, third and fourth has ROWS numbers across and all along the own direction; what it needs comes to shared
 * memory first, all at once. A thread has a number. In `inverse` a block has TESK_ROWS rows, a thread a row and every
 * PARTS-th column.
 * Shared memory: forward N (M + 1) + M M + M N + N ROWS + 2 M ROWS numbers for M nodes and N modes, the others less.
 * Flops for N modes a direction: 40 N^3, and 2 N^4 / 4 in S^+ where both directions are mirrored. Bytes: S^+, N^4 / 4
 * numbers, which L2 keeps, and tables. Registers: about 40. Macros: real. */
#include "kernel.h"
#include "saddle_box_arguments.h"

#define THREADS 128
#define ROWS 2
#define S_ROWS 16
#define PARTS 16
#define AHEAD 12
#define FOR_ALL(id, n) for (int id = (int)threadIdx.x; id < (n); id += THREADS)

/* ---- a part ---------------------------------------------------------------------------------------------- */

typedef struct Part {
  int part, own, across;
  int along, others; /* eigenvectors of the own direction and across */
  int first, rows;   /* across, of this block */
} Part;

TESK_DEVICE Part part_of(const TeskSaddleBox *s) {
  Part p;
  p.part = (int)blockIdx.y;
  p.own = p.part == 1;
  p.across = 1 - p.own;
  p.along = p.part < 2 ? s->nodes[p.own] : s->modes[p.own];
  p.others = s->modes[p.across];
  p.first = (int)blockIdx.x * ROWS;
  p.rows = p.others - p.first < ROWS ? p.others - p.first : ROWS;
  return p;
}

enum { ZC, ZC_BACK, ZD, ZD_BACK, G_DOWN, G_UP, LC, LD };
TESK_DEVICE const real *table(const TeskSaddleBox *s, int d, int which) {
  const int M = s->nodes[d], N = s->modes[d];
  const real *at = (const real *)s->numbers[d];
  if (which > ZC) at += M * M;
  if (which > ZC_BACK) at += M * M;
  if (which > ZD) at += N * N;
  if (which > ZD_BACK) at += N * N;
  if (which > G_DOWN) at += M * N;
  if (which > G_UP) at += N * M;
  return which > LC ? at + M : at;
}

/* Eigenvectors of the own direction, (entry, eigenvector), or back. */
TESK_DEVICE const real *own_table(const TeskSaddleBox *s, const Part *p, int back) {
  return table(s, p->own, (p->part < 2 ? ZC : ZD) + back);
}

TESK_DEVICE real inverse_eigenvalue(const TeskSaddleBox *s, const Part *p, int row, int k) {
  return TESK_RECIPROCAL(table(s, p->own, LC)[k] + table(s, p->across, LD)[row] + (real)s->alpha);
}

/* Where entry i of the own direction, j across stands in a vector. */
TESK_DEVICE long long place_of(const TeskSaddleBox *s, const Part *p, int i, int j) {
  const int x = p->own ? j : i, y = p->own ? i : j;
  return s->parts.offset[p->part] + (long long)y * s->parts.extent[p->part][0] + x;
}

/* Place of a pressure in the order of S^+; k, row: eigenvectors of the own direction and across. */
TESK_DEVICE int pressure_at(const TeskSaddleBox *s, const Part *p, int k, int row) {
  const int x = p->own ? row : k, y = p->own ? k : row;
  const int ex = s->split[0] ? s->modes[0] / 2 : s->modes[0],
            ey = s->split[1] ? s->modes[1] / 2 : s->modes[1];
  const int block = y / ey * (s->modes[0] / ex) + x / ex;
  return (block * ey + y % ey) * ex + x % ex;
}

TESK_DEVICE void copy(const real *from, int count, real *to) {
  FOR_ALL(id, count) TESK_COPY(to + id, from + id, 1);
}

/* sum over c < n of a[c * step] * v[c * other]. */
TESK_DEVICE real product(const real *a, int step, const real *v, int other, int n) {
  real sum = 0, odd = 0;
  for (int c = 0; c + 1 < n; c += 2) {
    sum += a[c * step] * v[c * other];
    odd += a[(c + 1) * step] * v[(c + 1) * other];
  }
  if (n % 2) sum += a[(n - 1) * step] * v[(n - 1) * other];
  return sum + odd;
}

/* ---- forward ----------------------------------------------------------------------------------------------- */

/* Grid: groups of rows, parts. */
TESK_KERNEL(tesk_saddle_box_forward, THREADS, 1, (TeskSaddleBox)s, (const real *)b) {
  TESK_SHARED(V); /* [across][along], then tables and lines */
  const Part p = part_of(&s);
  if (p.rows <= 0) return; /* the whole block */
  const int n = p.along, pitch = n | 1, N = s.modes[p.own], first = p.part < 2 ? s.first[p.own] : 0;
  real *const Z = V + p.others * pitch, *const G = Z + n * n, *const D = G + (p.part < 2 ? n * N : 0),
              *const T = D + p.others * ROWS, *const F = T + n * ROWS;
  const int width = p.own ? p.others : n; /* in x: neighbours in memory */
  FOR_ALL(id, n * p.others) {
    const int x = id % width, y = id / width, i = p.own ? y : x, j = p.own ? x : y;
    TESK_COPY(V + j * pitch + i, b + place_of(&s, &p, first + i, j), 1);
  }
  copy(own_table(&s, &p, 0), n * n, Z);
  if (p.part < 2) copy(table(&s, p.own, G_DOWN), n * N, G);
  FOR_ALL(id, p.others * ROWS) {
    const int row = id % ROWS;
    TESK_COPY(D + id, table(&s, p.across, ZD) + id / ROWS * p.others + p.first + (row < p.rows ? row : 0), 1);
  }
  TESK_COPY_WAIT();
  __syncthreads();
  FOR_ALL(id, p.rows * n) T[id] = product(D + id / n, ROWS, V + id % n, pitch, p.others);
  __syncthreads();
  FOR_ALL(id, p.rows * n) {
    const int k = id % n, row = p.first + id / n;
    const real sum = product(Z + k, n, T + id / n * n, 1, n);
    if (p.part == 2) {
      ((real *)s.q[2])[pressure_at(&s, &p, k, row)] = sum;
    } else {
      F[id] = sum * inverse_eigenvalue(&s, &p, row, k);
      ((real *)s.F[p.part])[row * n + k] = F[id];
    }
  }
  if (p.part == 2) return; /* the whole block */
  __syncthreads();
  FOR_ALL(id, p.rows * N)
  ((real *)s.q[p.part])[pressure_at(&s, &p, id % N, p.first + id / N)] =
      product(G + id % N, N, F + id / N * n, 1, n);
}

/* ---- S^+ ----------------------------------------------------------------------------------------------------- */

/* Grid: groups of rows, parity blocks; size: of one. Shared memory: size + S_ROWS PARTS numbers. */
TESK_KERNEL(tesk_saddle_box_inverse, S_ROWS *PARTS, 1, (TeskSaddleBox)s, (int)size) {
  TESK_SHARED(q);
  real *const sums = q + size;
  const int begin = (int)blockIdx.y * size, t = (int)threadIdx.x, part = t / S_ROWS,
            row = (int)blockIdx.x * S_ROWS + t % S_ROWS;
  const real *const S =
      (const real *)s.inverse + (long long)begin * size + (row < size ? row : size - 1); /* symmetric */
  real sum = 0;
  for (int c = t; c < size; c += S_ROWS * PARTS)
    q[c] = -((const real *)s.q[0])[begin + c] - ((const real *)s.q[1])[begin + c] -
           ((const real *)s.q[2])[begin + c];
  __syncthreads();
  int c = part;
  for (; c + (AHEAD - 1) * PARTS < size; c += AHEAD * PARTS) {
    real number[AHEAD];
    TESK_UNROLL
    for (int a = 0; a < AHEAD; a++) number[a] = TESK_READ(S + (long long)(c + a * PARTS) * size);
    TESK_UNROLL
    for (int a = 0; a < AHEAD; a++) sum += number[a] * q[c + a * PARTS];
  }
  for (; c < size; c += PARTS) sum += TESK_READ(S + (long long)c * size) * q[c];
  sums[t] = sum;
  __syncthreads();
  if (part > 0 || row >= size) return;
  for (int i = 1; i < PARTS; i++) sum += sums[t + i * S_ROWS];
  ((real *)s.p)[begin + row] = sum;
}

/* ---- back ---------------------------------------------------------------------------------------------------- */

/* Grid: groups of rows, parts. */
TESK_KERNEL(tesk_saddle_box_lines, THREADS, 1, (TeskSaddleBox)s) {
  TESK_SHARED(Z); /* (eigenvector, entry), then G, pressures and lines */
  const Part p = part_of(&s);
  if (p.rows <= 0) return; /* the whole block */
  const int n = p.along, N = s.modes[p.own];
  real *const G = Z + n * n, *const P = G + (p.part < 2 ? n * N : 0), *const U = P + N * ROWS;
  copy(own_table(&s, &p, 1), n * n, Z);
  if (p.part < 2) copy(table(&s, p.own, G_UP), n * N, G);
  FOR_ALL(id, p.rows * N)
  TESK_COPY(P + id, (const real *)s.p + pressure_at(&s, &p, id % N, p.first + id / N), 1);
  TESK_COPY_WAIT();
  __syncthreads();
  const real *from = P;
  if (p.part < 2) {
    FOR_ALL(id, p.rows * n) {
      const int k = id % n, row = p.first + id / n;
      U[id] = ((const real *)s.F[p.part])[row * n + k] +
              product(G + k, n, P + id / n * N, 1, N) * inverse_eigenvalue(&s, &p, row, k);
    }
    __syncthreads();
    from = U;
  }
  FOR_ALL(id, p.rows * n)
  ((real *)s.lines[p.part])[(p.first + id / n) * n + id % n] =
      product(Z + id % n, n, from + id / n * n, 1, n);
}

/* Entries outside the unknowns are known nodes: zero. Grid: groups of rows, parts. */
TESK_KERNEL(tesk_saddle_box_across, THREADS, 1, (TeskSaddleBox)s, (real *)x) {
  TESK_SHARED(W); /* lines [mode across][own], then rows of Zd */
  const Part p = part_of(&s);
  if (p.rows <= 0) return; /* the whole block */
  const int n = p.along, first = p.part < 2 ? s.first[p.own] : 0, all = s.parts.extent[p.part][p.own];
  real *const D = W + p.others * n;
  copy((const real *)s.lines[p.part], p.others * n, W);
  copy(table(&s, p.across, ZD) + p.first * p.others, p.rows * p.others, D);
  TESK_COPY_WAIT();
  __syncthreads();
  FOR_ALL(id, p.rows * all) {
    const int i = id % all - first, row = id / all, inside = i >= 0 && i < n;
    x[place_of(&s, &p, i + first, p.first + row)] =
        inside ? product(D + row * p.others, 1, W + (inside ? i : 0), n, p.others) : 0;
  }
}
