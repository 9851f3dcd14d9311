/* The Schur complement of a small box of Stokes, S = sum over directions i of G Lam_i^-1 G', of each matrix of its
 * parity blocks (TeskStokesBox), in float64: dense along one direction at a time, zero where places differ in two
 * directions. A thread has an entry. Flops: 4 M for each of about 3 N entries of a row, with M nodes and N modes per
 * direction; bytes: 8 per entry. Macros: real, double. */
#include "kernel.h"
#include "stokes_box_tables.h"

/* For direction i: its modes m and o, the eigenvalues `across` of the other directions. */
TESK_DEVICE real part_of(const TeskStokesBox *s, int i, int m, int o, real across) {
  const int M = s->nodes[i];
  const real *const G = table(s, i, G_UP), *const lc = table(s, i, LC);
  real sum = 0;
  for (int z = 0; z < M; z++)
    sum += TESK_READ(G + m * M + z) * TESK_READ(G + o * M + z) * TESK_RECIPROCAL(TESK_READ(lc + z) + across);
  return sum;
}

/* Grid: groups of entries, matrices. S[matrix][row][column]. */
TESK_KERNEL(tesk_stokes_schur, TESK_SCHUR_THREADS, 1, (TeskStokesBox)s, (double *)S) {
  const int id = (int)(blockIdx.x * TESK_SCHUR_THREADS + threadIdx.x), block = s.block[blockIdx.y];
  const int row = id / s.size, column = id % s.size, ex = s.extent[0], ey = s.extent[1];
  if (row >= s.size) return;
  const int fx = block % 2 * ex, fy = block / 2 % 2 * ey, fz = block / 4 * s.extent[2];
  const int x = fx + row % ex, y = fy + row / ex % ey, z = fz + row / ex / ey;
  const int ox = fx + column % ex, oy = fy + column / ex % ey, oz = fz + column / ex / ey;
  const real lx = table(&s, 0, LD)[x], ly = table(&s, 1, LD)[y], lz = table(&s, 2, LD)[z];
  real sum = 0;
  if (y == oy && z == oz) sum += part_of(&s, 0, x, ox, ly + lz + s.alpha);
  if (x == ox && z == oz) sum += part_of(&s, 1, y, oy, lx + lz + s.alpha);
  if (s.parts.dim == 3 && x == ox && y == oy) sum += part_of(&s, 2, z, oz, lx + ly + s.alpha);
  S[(long long)blockIdx.y * s.size * s.size + id] = sum;
}

/* S[n][n] <- S + factor e e'. Grid: groups of entries. */
TESK_KERNEL(tesk_stokes_schur_shift, TESK_SCHUR_THREADS, 1, (double *)S, (const double *)e, (double)factor,
            (int)n) {
  const int id = (int)(blockIdx.x * TESK_SCHUR_THREADS + threadIdx.x);
  if (id / n < n) S[id] += factor * e[id / n] * e[id % n];
}
