/* x <- K^+ b for the whole of a small box of Stokes, the coarsest level of a multigrid, by fast diagonalization and
 * S^+ (src/operator/stokes/stokes_local.h). Any cells and ends; four launches with many blocks each:
 *   forward   F^ = Z' F / Lam of a component, and its part G F^ of q; Zd' g
 *   inverse   p = -S^+ (Zd' g + sum of G F^), a block of S^+ for each parity
 *   lines     u^ = F^ + G' p / Lam, back along the own direction
 *   across    back across, written
 * "Own" is the direction of a component (x for the pressure), in which it has nodes. Across, it has modes: in 2D one
 * direction, "outer"; in 3D two, "inner" and "outer", of which outer is slower in memory. In the first, third and
 * fourth launch a block has TESK_BOX_OUTER entries of the outer direction and all entries of the others, hence rows
 * of lines along the own direction. It loads all of its data into shared memory at once; then a thread computes one
 * number. In `inverse` a block has S_ROWS rows of a matrix and all vectors of this matrix; a thread takes one row and
 * every PARTS-th column.
 * Shared memory in 3D for N modes and nodes per direction: forward and across N^3 and some N^2 numbers (the part and
 * its tables), lines some N^2, inverse VECTORS (size + S_ROWS PARTS). Flops: 60 N^4 in 3D, 32 N^3 in 2D, and two per
 * number of S^+ and vector, size^2 numbers per parity. Bytes: S^+, size^2 numbers per matrix, which stay in L2 if
 * they are few; the part, read by each of its blocks from L2, in 3D 4 N^4 numbers forward and as many across. Macros:
 * real, DIM, VECTORS of a matrix at most, S_ROWS. */
#include "kernel.h"
#include "stokes_box_tables.h"

#define PARTS TESK_BOX_PARTS
#define AHEAD TESK_BOX_AHEAD
#define OUTER TESK_BOX_OUTER(DIM)
#define FOR_ALL(id, n) for (int id = (int)threadIdx.x; id < (n); id += (int)blockDim.x)

/* ---- a part ---------------------------------------------------------------------------------------------- */

typedef unsigned long long Over;

typedef struct Part {
  int part, own, inner, outer; /* directions; in 2D inner is the direction that does not exist */
  int along, beside, others;   /* eigenvectors of the own, inner and outer direction */
  int first, rows;             /* outer entries from `first` on, and lines of this block */
  Over over_along, over_beside;
} Part;

TESK_DEVICE int quotient(int i, Over over) {
  return (int)((unsigned)i * over >> 32);
}

TESK_DEVICE Part part_of(const TeskStokesBox *s) {
  Part p;
  p.part = (int)blockIdx.y;
  p.own = p.part < DIM ? p.part : 0;
  p.inner = DIM == 2 ? 2 : p.own == 0;
  p.outer = DIM == 2 ? 1 - p.own : p.own == 2 ? 1 : 2;
  const int kind = p.part < DIM ? TESK_BOX_NODES : TESK_BOX_MODES;
  p.along = p.part < DIM ? s->nodes[p.own] : s->modes[p.own];
  p.beside = s->modes[p.inner];
  p.others = s->modes[p.outer];
  p.over_along = s->over[kind][p.own];
  p.over_beside = s->over[TESK_BOX_MODES][p.inner];
  p.first = (int)blockIdx.x * OUTER;
  const int left = p.others - p.first, count = left < OUTER ? left : OUTER;
  p.rows = DIM == 2 ? count : count > 0 ? p.beside : 0;
  return p;
}

/* For line `row` of a block: its place in the inner direction, and in the outer direction counted from `first`. */
TESK_DEVICE int inner_of(int row) {
  return DIM == 2 ? 0 : row;
}
TESK_DEVICE int outer_of(int row) {
  return DIM == 2 ? row : 0;
}

/* Eigenvectors of the own direction, (entry, eigenvector), or their transpose. */
TESK_DEVICE const real *own_table(const TeskStokesBox *s, const Part *p, int back) {
  return table(s, p->own, (p->part < DIM ? ZC : ZD) + back);
}

/* Entry i of the own direction of a line. */
typedef struct Entry {
  int x, y, z;
} Entry;
TESK_DEVICE Entry entry_of(const Part *p, int i, int row) {
  const int j = inner_of(row), o = p->first + outer_of(row);
  Entry e;
  e.x = p->own == 0 ? i : DIM == 2 ? o : j;
  e.y = p->own == 1 ? i : DIM == 2 || p->own == 2 ? o : j;
  e.z = DIM == 2 ? 0 : p->own == 2 ? i : o;
  return e;
}

/* The place of that entry in a vector, and in the vectors of pressures by parity. */
TESK_DEVICE long long place_of(const TeskStokesBox *s, const Part *p, Entry e) {
  const int *const extent = s->parts.extent[p->part];
  return s->parts.offset[p->part] + ((long long)e.z * extent[1] + e.y) * extent[0] + e.x;
}
TESK_DEVICE int pressure_at(const TeskStokesBox *s, const Part *p, int k, int row) {
  const Entry e = entry_of(p, k, row);
  const int x = e.x >= s->extent[0], y = e.y >= s->extent[1], z = e.z >= s->extent[2], b = x + 2 * y + 4 * z;
  return s->base[b] + (e.x - x * s->extent[0]) * s->stride[b][0] +
         (e.y - y * s->extent[1]) * s->stride[b][1] + (e.z - z * s->extent[2]) * s->stride[b][2];
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

/* Eigenvalues to shared memory: of the own direction, of the inner direction, and of the block's part of the outer
 * direction. */
TESK_DEVICE void copy_eigenvalues(const TeskStokesBox *s, const Part *p, real *to) {
  const int left = p->others - p->first;
  copy(table(s, p->own, LC), p->along, to);
  copy(table(s, p->inner, LD), p->beside, to + p->along);
  copy(table(s, p->outer, LD) + p->first, left < OUTER ? left : OUTER, to + p->along + p->beside);
}

TESK_DEVICE real inverse_eigenvalue(const TeskStokesBox *s, const Part *p, const real *L, int k, int row) {
  const int n = p->along;
  return TESK_RECIPROCAL(L[k] + L[n + inner_of(row)] + L[n + p->beside + outer_of(row)] + (real)s->alpha);
}

/* ---- forward ----------------------------------------------------------------------------------------------- */

/* V[y and z][x] <- the part. */
TESK_DEVICE void copy_part(const TeskStokesBox *s, const Part *p, const real *b, real *V) {
  const int *const extent = s->parts.extent[p->part];
  const int n = extent[0], pitch = n | 1;
  const Over over = s->over[p->part < DIM && p->own == 0 ? TESK_BOX_ALL : TESK_BOX_MODES][0];
  const real *const from = b + s->parts.offset[p->part];
  FOR_ALL(id, n * extent[1] * extent[2]) {
    const int line = quotient(id, over);
    TESK_COPY(V + line * pitch + id - line * n, from + id, 1);
  }
}

/* T[row][along] <- the part with the outer direction contracted with D[others][OUTER]. Neighbouring threads have
 * neighbours in x. */
TESK_DEVICE void contract_outer(const TeskStokesBox *s, const Part *p, const real *V, const real *D, real *T) {
  const int n = p->along, pitch = n | 1, first = p->part < DIM ? s->first[p->own] : 0;
  const int of_x = 1, of_y = s->parts.extent[p->part][0] | 1, of_z = of_y * s->parts.extent[p->part][1];
  const int along = p->own == 0   ? of_x
                    : p->own == 1 ? of_y
                                  : of_z,
            beside = p->inner == 0   ? of_x
                     : p->inner == 1 ? of_y
                                     : of_z,
            outer = p->outer == 0   ? of_x
                    : p->outer == 1 ? of_y
                                    : of_z;
  const int swapped = p->inner == 0;
  FOR_ALL(id, p->rows * n) {
    const int slow = quotient(id, swapped ? p->over_beside : p->over_along),
              fast = id - slow * (swapped ? p->beside : n), i = swapped ? slow : fast,
              row = swapped ? fast : slow;
    T[row * pitch + i] =
        product(D + outer_of(row), OUTER, V + (first + i) * along + inner_of(row) * beside, outer, p->others);
  }
}

/* Grid: groups of outer entries, parts. */
TESK_KERNEL(tesk_stokes_box_forward, TESK_BOX_MOST, 1, (TeskStokesBox)s, (const real *)b) {
  TESK_SHARED(V); /* the part, then tables and lines */
  const Part p = part_of(&s);
  if (p.rows <= 0) return; /* the whole block */
  const int n = p.along, pitch = n | 1, N = s.modes[p.own], *const extent = s.parts.extent[p.part];
  real *const Z = V + (extent[0] | 1) * extent[1] * extent[2], *const G = Z + n * n,
              *const D = G + (p.part < DIM ? n * N : 0), *const C = D + p.others * OUTER,
              *const L = C + p.beside * p.beside;
  real *from = L + n + p.beside + OUTER, *to = from + p.rows * pitch;
  copy_part(&s, &p, b, V);
  copy(own_table(&s, &p, 0), n * n, Z);
  if (p.part < DIM) {
    copy(table(&s, p.own, G_DOWN), n * N, G);
    copy_eigenvalues(&s, &p, L);
  }
  FOR_ALL(id, p.others * OUTER) {
    const int o = p.first + id % OUTER;
    TESK_COPY(D + id, table(&s, p.outer, ZD) + id / OUTER * p.others + (o < p.others ? o : p.first), 1);
  }
  if (DIM == 3) copy(table(&s, p.inner, ZD), p.beside * p.beside, C);
  TESK_COPY_WAIT();
  __syncthreads();
  contract_outer(&s, &p, V, D, from);
  __syncthreads();
  if (DIM == 3) {
    FOR_ALL(id, p.rows * n) {
      const int row = quotient(id, p.over_along), i = id - row * n;
      to[row * pitch + i] = product(C + row, p.beside, from + i, pitch, p.beside);
    }
    __syncthreads();
    real *const free = from;
    from = to, to = free;
  }
  FOR_ALL(id, p.rows * n) {
    const int row = quotient(id, p.over_along), k = id - row * n;
    const real sum = product(Z + k, n, from + row * pitch, 1, n);
    if (p.part == DIM) {
      ((real *)s.q[DIM])[pressure_at(&s, &p, k, row)] = sum;
    } else {
      to[row * pitch + k] = sum * inverse_eigenvalue(&s, &p, L, k, row);
      ((real *)s.F[p.part])[p.first * p.beside * n + id] = to[row * pitch + k];
    }
  }
  if (p.part == DIM) return; /* the whole block */
  __syncthreads();
  FOR_ALL(id, p.rows * N) {
    const int row = quotient(id, s.over[TESK_BOX_MODES][p.own]), k = id - row * N;
    ((real *)s.q[p.part])[pressure_at(&s, &p, k, row)] = product(G + k, N, to + row * pitch, 1, n);
  }
}

/* ---- S^+ ----------------------------------------------------------------------------------------------------- */

/* number[a] <- column `c + a PARTS` of a row, S + row since S is symmetric; beyond the last column the last
 * column. */
TESK_DEVICE void load(const real *S, int size, int c, real *number) {
  TESK_UNROLL
  for (int a = 0; a < AHEAD; a++) {
    const int column = c + a * PARTS;
    number[a] = TESK_READ(S + (long long)(column < size ? column : size - 1) * size);
  }
}

/* q[column][vector] <- the right-hand sides of S^+; zero beyond the last column and vector, up to `padded`. */
TESK_DEVICE void fill_right(const TeskStokesBox *s, int first, int count, int padded, real *q) {
  TESK_UNROLL
  for (int v = 0; v < VECTORS; v++) {
    for (int c = (int)threadIdx.x; c < padded; c += S_ROWS * PARTS) {
      const int at = (first + v) * s->size + c;
      real sum = 0;
      if (v < count && c < s->size) {
        sum = -((const real *)s->q[0])[at] - ((const real *)s->q[1])[at] - ((const real *)s->q[2])[at];
        if (DIM == 3) sum -= ((const real *)s->q[3])[at];
      }
      q[c * VECTORS + v] = sum;
    }
  }
}

/* Grid: groups of rows, matrices. Shared memory: VECTORS (size rounded up to AHEAD PARTS, + S_ROWS PARTS) numbers. */
TESK_KERNEL(tesk_stokes_box_inverse, S_ROWS *PARTS, sizeof(real) == 4 ? 2 : 1, (TeskStokesBox)s) {
  TESK_SHARED(q);
  const int size = s.size, matrix = (int)blockIdx.y, first = s.vector[matrix],
            count = s.vector[matrix + 1] - first, step = AHEAD * PARTS,
            padded = (size + step - 1) / step * step;
  const int t = (int)threadIdx.x, part = t / S_ROWS, top = (int)blockIdx.x * S_ROWS, row = top + t % S_ROWS;
  const real *const S =
      (const real *)s.inverse + (long long)matrix * size * size + (row < size ? row : size - 1);
  real *const sums = q + padded * VECTORS;
  real next[AHEAD], sum[VECTORS];
  TESK_UNROLL
  for (int v = 0; v < VECTORS; v++) sum[v] = 0;
  load(S, size, part, next);
  fill_right(&s, first, count, padded, q);
  __syncthreads();
  for (int c = part; c < padded; c += step) {
    real number[AHEAD];
    TESK_UNROLL
    for (int a = 0; a < AHEAD; a++) number[a] = next[a];
    if (c + step < padded) load(S, size, c + step, next);
    TESK_UNROLL
    for (int a = 0; a < AHEAD; a++) {
      TESK_UNROLL
      for (int v = 0; v < VECTORS; v++) sum[v] += number[a] * q[(c + a * PARTS) * VECTORS + v];
    }
  }
  TESK_UNROLL
  for (int v = 0; v < VECTORS; v++) sums[v * S_ROWS * PARTS + t] = sum[v];
  __syncthreads();
  const int vector = t / S_ROWS;
  if (vector >= count || row >= size) return;
  real all = 0;
  for (int i = 0; i < PARTS; i++) all += sums[(vector * PARTS + i) * S_ROWS + t % S_ROWS];
  ((real *)s.p)[(first + vector) * size + row] = all;
}

/* ---- back ---------------------------------------------------------------------------------------------------- */

/* Grid: groups of outer modes, parts. */
TESK_KERNEL(tesk_stokes_box_lines, TESK_BOX_MOST, 1, (TeskStokesBox)s) {
  TESK_SHARED(Z); /* (eigenvector, entry), then G, eigenvalues, lines and pressures */
  const Part p = part_of(&s);
  if (p.rows <= 0) return; /* the whole block */
  const int n = p.along, N = s.modes[p.own], at = p.first * p.beside * n;
  real *const G = Z + n * n, *const L = G + (p.part < DIM ? n * N : 0), *const U = L + n + p.beside + OUTER,
              *const P = U + p.rows * n;
  copy(own_table(&s, &p, 1), n * n, Z);
  if (p.part < DIM) {
    copy(table(&s, p.own, G_UP), n * N, G);
    copy_eigenvalues(&s, &p, L);
    copy((const real *)s.F[p.part] + at, p.rows * n, U);
  }
  FOR_ALL(id, p.rows * N) {
    const int row = quotient(id, s.over[TESK_BOX_MODES][p.own]), k = id - row * N;
    TESK_COPY(P + id, (const real *)s.p + pressure_at(&s, &p, k, row), 1);
  }
  TESK_COPY_WAIT();
  __syncthreads();
  const real *from = P;
  if (p.part < DIM) {
    FOR_ALL(id, p.rows * n) {
      const int row = quotient(id, p.over_along), k = id - row * n;
      U[id] += product(G + k, n, P + row * N, 1, N) * inverse_eigenvalue(&s, &p, L, k, row);
    }
    __syncthreads();
    from = U;
  }
  FOR_ALL(id, p.rows * n) {
    const int row = quotient(id, p.over_along), i = id - row * n;
    ((real *)s.lines[p.part])[at + id] = product(Z + i, n, from + row * n, 1, n);
  }
}

/* Entries outside the unknowns are known nodes: they become zero. Grid: groups of outer entries, parts. */
TESK_KERNEL(tesk_stokes_box_across, TESK_BOX_MOST, 1, (TeskStokesBox)s, (real *)x) {
  TESK_SHARED(
      W); /* lines [outer mode][inner mode][own], then rows of Zd of the outer direction, Zd of the inner one */
  const Part p = part_of(&s);
  if (p.rows <= 0) return; /* the whole block */
  const int n = p.along, first = p.part < DIM ? s.first[p.own] : 0, all = s.parts.extent[p.part][p.own],
            entries = DIM == 2 ? p.rows : 1;
  real *const D = W + p.others * p.beside * n, *const C = D + p.others * OUTER, *const T = C + p.beside * p.beside;
  copy((const real *)s.lines[p.part], p.others * p.beside * n, W);
  copy(table(&s, p.outer, ZD) + p.first * p.others, entries * p.others, D);
  if (DIM == 3) copy(table(&s, p.inner, ZD), p.beside * p.beside, C);
  TESK_COPY_WAIT();
  __syncthreads();
  if (DIM == 3) {
    FOR_ALL(id, p.rows * n) T[id] = product(D, 1, W + id, p.beside * n, p.others);
    __syncthreads();
  }
  const real *const from = DIM == 3 ? T : W, *const Zd = DIM == 3 ? C : D;
  const int count = DIM == 3 ? p.beside : p.others;
  const Over over = s.over[p.part < DIM ? TESK_BOX_ALL : TESK_BOX_MODES][p.own];
  FOR_ALL(id, p.rows * all) {
    const int row = quotient(id, over), i = id - row * all - first, inside = i >= 0 && i < n;
    x[place_of(&s, &p, entry_of(&p, i + first, row))] =
        inside ? product(Zd + row * count, 1, from + i, n, count) : 0;
  }
}
