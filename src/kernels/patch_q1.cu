/* Coloured vertex sweep for Q1 on equal cells with Dirichlet ends: every vertex patch has one unknown, so the patch
 * smoother is a coloured point Gauss-Seidel with the 27-point stencil (9 in 2D). One launch does both x-colours of
 * one (y, z)-colour: a block owns the rows y, y + 2, ... of one plane, a thread the vertices 2t + 1 and 2t + 2 of
 * each row.
 *
 * A row needs the rows y - 1, y, y + 1 of its own plane and of the neighbouring planes; the rows y + 1 are also used
 * for the next row. In x:
 *   q = scale b - Q(x) - P(x-1) - P(x+1),   v = (q - off (x_left + x_right)) / diagonal
 * with Q, P the rows around weighted by the stencil at the same and the neighbouring x.
 * Floor per launch: x read once in the neighbourhood of the colour, b read and x written at a quarter of the
 * vertices. Macros: real, DIM, THREADS; MIN_BLOCKS and STAGED of the plane kernel. */
#include "kernel.h"

#define ROWS 16 /* rows per block */

/* Stencil: s[i][j], i = 0: same x, 1: neighbouring x; j = 0: own row, 1: dy, 2: dz, 3: dy and dz. */
typedef struct TeskStencil {
  double s[2][4], scale;
} TeskStencil;

typedef struct Row {
  real c, e; /* own plane; sum of the planes below and above */
} Row;

TESK_DEVICE Row load_row(const real *x, long long plane, int valid) {
  Row row;
  row.c = valid ? x[0] : 0;
#if DIM == 3
  row.e = valid ? x[-plane] + x[plane] : 0;
#else
  row.e = 0;
#endif
  return row;
}

/* x, b: nodes [..][..][cells + 1]; rows y = 1 + colour_y + 2 i below cells_y, planes z = 1 + colour_z + 2 blockIdx.x.
 * first: parity of the first colour (0: odd vertices, 1: even). */
TESK_KERNEL(tesk_patch_q1, THREADS, 1, (real *)x, (const real *)b, (int)cells, (int)cells_y, (int)colour_y,
            (int)colour_z, (int)first, (long long)plane, (TeskStencil)a) {
  TESK_SHARED(memory); /* twice P and x of a row: [2][2][2 THREADS + 3] */
  enum { SIZE = 2 * THREADS + 3 };
  const int t = (int)threadIdx.x, pitch = cells + 1;
  const real s00 = (real)(1 / a.s[0][0]), s10 = (real)a.s[1][0], scale = (real)a.scale;
  const real q1 = (real)a.s[0][1], q2 = (real)a.s[0][2], q3 = (real)a.s[0][3], p1 = (real)a.s[1][1],
             p2 = (real)a.s[1][2], p3 = (real)a.s[1][3];
  int y = 1 + colour_y + 2 * ROWS * (int)blockIdx.x;
  const long long in_plane = (DIM == 3 ? (1 + colour_z + 2 * (long long)blockIdx.y) * plane : 0) + 2 * t + 1;
  const int on[2] = {2 * t + 1 < cells, 2 * t + 2 < cells};
  for (int i = t; i < 4 * SIZE; i += THREADS) memory[i] = 0;
  Row below[2], own[2], above[2], next_own[2], next_above[2];
  real f[2], next_f[2];
  TESK_UNROLL
  for (int i = 0; i < 2; i++) {
    const long long at = in_plane + (long long)y * pitch + i;
    const int valid = on[i] && y < cells_y;
    below[i] = load_row(x + at - pitch, plane, valid);
    own[i] = load_row(x + at, plane, valid);
    above[i] = load_row(x + at + pitch, plane, valid);
    f[i] = valid ? b[at] : 0;
  }
  __syncthreads();
  for (int r = 0; r < ROWS && y < cells_y; r++, y += 2) {
    real *const P = memory + (r & 1) * 2 * SIZE + 2 * t + 1, *const X = P + SIZE; /* at vertex 2 t + 1 */
    real q[2], v[2];
    const int more = y + 2 < cells_y && r + 1 < ROWS;
    TESK_UNROLL
    for (int i = 0; i < 2; i++) {
      const long long at = in_plane + (long long)(y + 2) * pitch + i;
      next_own[i] = load_row(x + at, plane, on[i] && more);
      next_above[i] = load_row(x + at + pitch, plane, on[i] && more);
      next_f[i] = on[i] && more ? b[at] : 0;
      const real Y = below[i].c + above[i].c, Z = own[i].e, D = below[i].e + above[i].e;
      q[i] = scale * f[i] - (q1 * Y + q2 * Z + q3 * D);
      P[i] = p1 * Y + p2 * Z + p3 * D;
      X[i] = own[i].c;
    }
    __syncthreads();
    TESK_UNROLL
    for (int i = 0; i < 2; i++) q[i] -= P[i - 1] + P[i + 1];
    if (first == 0)
      v[0] = s00 * (q[0] - s10 * (X[-1] + X[1]));
    else
      v[1] = on[1] ? s00 * (q[1] - s10 * (X[0] + X[2])) : 0;
    /* only the first colour is written, only the second has been read */
    if (first == 0 && on[0]) X[0] = v[0];
    if (first == 1 && on[1]) X[1] = v[1];
    __syncthreads();
    if (first == 0)
      v[1] = s00 * (q[1] - s10 * (X[0] + X[2]));
    else
      v[0] = s00 * (q[0] - s10 * (X[-1] + X[1]));
    TESK_UNROLL
    for (int i = 0; i < 2; i++) {
      if (on[i]) x[in_plane + (long long)y * pitch + i] = v[i];
      below[i] = above[i];
      own[i] = next_own[i];
      above[i] = next_above[i];
      f[i] = next_f[i];
    }
  }
}

#if DIM == 2
enum { HEIGHT = 8 }; /* vertices of a thread */

/* The rows beside y at x: the sums of both neighbours, and the own row. */
typedef struct Beside {
  real own, sides;
} Beside;

TESK_DEVICE Beside beside(const real *x, int valid) {
  Beside b = {0, 0};
  if (valid) {
    b.own = x[0];
    b.sides = x[-1] + x[1];
  }
  return b;
}

/* One colour of vertices, (colour_x, colour_y): a thread has HEIGHT vertices of a column, neighbours in a warp are
 * neighbours in memory. Vertices of a colour do not depend on each other, so wide boxes may be cut anywhere. Per
 * colour x and half of the rows of b are read, and half of the rows written: 64 bytes per unknown in a sweep in
 * float64. */
TESK_KERNEL(tesk_patch_q1_points, THREADS, 1, (real *)x, (const real *)b, (int)cells, (int)cells_y,
            (int)colour_x, (int)colour_y, (TeskStencil)a) {
  const int column = 1 + colour_x + 2 * (int)(blockIdx.x * THREADS + threadIdx.x), pitch = cells + 1;
  const real s00 = (real)(1 / a.s[0][0]), s10 = (real)a.s[1][0], scale = (real)a.scale, q1 = (real)a.s[0][1],
             p1 = (real)a.s[1][1];
  int y = 1 + colour_y + 2 * HEIGHT * (int)blockIdx.y;
  if (column >= cells || y >= cells_y) return; /* no barrier follows */
  long long at = (long long)y * pitch + column;
  Beside below = beside(x + at - pitch, 1), above;
  TESK_UNROLL
  for (int i = 0; i < HEIGHT; i++) {
    const int valid = y < cells_y;
    const Beside own = beside(x + at, valid);
    above = beside(x + at + pitch, valid);
    const real v = s00 * (scale * (valid ? b[at] : 0) - q1 * (below.own + above.own) -
                          p1 * (below.sides + above.sides) - s10 * own.sides);
    if (valid) x[at] = v;
    below = above;
    y += 2;
    at += 2 * pitch;
  }
}
#endif

#if DIM == 3
/* The same with both y-colours in one launch. A block owns a plane and marches through its rows, the second y-colour
 * one row behind the first, so that x is read once instead of twice: 4 values per unknown in a sweep instead of 6.
 * Nobody writes the planes around meanwhile. A thread has the vertices t + 1 and t + 1 + THREADS: neighbours in a
 * warp are neighbours in memory. */
enum { LENGTH = 2 * THREADS + 2 }; /* of a row in shared memory, boundary vertices included */

typedef struct Weights {
  real s00, s10, scale, q1, q2, q3, p1, p2, p3;
} Weights;

/* Two vertices of one row: own values, sums of the planes below and above, right-hand side. */
typedef struct Pair {
  real c[2], e[2], f[2];
} Pair;

TESK_DEVICE void load_pair(const real *x, const real *b, long long plane, int valid, const int *on, Pair *row) {
  TESK_UNROLL
  for (int i = 0; i < 2; i++) {
    const int at = i * THREADS, good = valid && on[i];
    row->c[i] = good ? x[at] : 0;
    row->e[i] = good ? x[at - plane] + x[at + plane] : 0;
    row->f[i] = good ? b[at] : 0;
  }
}

/* Both x-colours of a row; v: the new values. Y, D: sums of the two rows beside it in this plane and in the planes
 * around. P: this thread's place in a row of shared memory; the place of x follows. Two such pairs alternate, so that
 * two barriers per row are enough. */
TESK_DEVICE void solve_row(const Weights *a, real *P, const Pair *row, const real *Y, const real *D,
                           int mine_first, const int *on, int valid, real *v) {
  real *const X = P + LENGTH, q[2];
  TESK_UNROLL
  for (int i = 0; i < 2; i++) {
    q[i] = a->scale * row->f[i] - (a->q1 * Y[i] + a->q2 * row->e[i] + a->q3 * D[i]);
    P[i * THREADS] = a->p1 * Y[i] + a->p2 * row->e[i] + a->p3 * D[i];
    X[i * THREADS] = row->c[i];
  }
  __syncthreads();
  TESK_UNROLL
  for (int i = 0; i < 2; i++) q[i] -= P[i * THREADS - 1] + P[i * THREADS + 1];
  if (mine_first) { /* reads the other colour, which no thread writes yet */
    TESK_UNROLL
    for (int i = 0; i < 2; i++) {
      v[i] = a->s00 * (q[i] - a->s10 * (X[i * THREADS - 1] + X[i * THREADS + 1]));
      if (!valid || !on[i]) v[i] = 0;
      X[i * THREADS] = v[i];
    }
  }
  __syncthreads();
  if (!mine_first) {
    TESK_UNROLL
    for (int i = 0; i < 2; i++) {
      v[i] = a->s00 * (q[i] - a->s10 * (X[i * THREADS - 1] + X[i * THREADS + 1]));
      if (!valid || !on[i]) v[i] = 0;
    }
  }
}

/* STAGED: the next two rows are copied through shared memory, 16 numbers per thread that no other thread reads,
 * instead of through 24 registers (float64): then more planes run at a time. */
TESK_DEVICE void copy_pair(const real *x, const real *b, long long plane, int valid, const int *on,
                           real *stage) {
  TESK_UNROLL
  for (int i = 0; i < 2; i++) {
    const int at = i * THREADS, good = valid && on[i];
    const long long z = good ? plane : 0, to = 4 * i * THREADS;
    const real *const from = good ? x + at : x - threadIdx.x - 1; /* somewhere inside */
    TESK_COPY(stage + to, from, good);
    TESK_COPY(stage + to + THREADS, from - z, good);
    TESK_COPY(stage + to + 2 * THREADS, from + z, good);
    TESK_COPY(stage + to + 3 * THREADS, good ? b + at : from, good);
  }
}

TESK_DEVICE void read_pair(const real *stage, Pair *row) {
  TESK_UNROLL
  for (int i = 0; i < 2; i++) {
    row->c[i] = stage[4 * i * THREADS];
    row->e[i] = stage[(4 * i + 1) * THREADS] + stage[(4 * i + 2) * THREADS];
    row->f[i] = stage[(4 * i + 3) * THREADS];
  }
}

TESK_DEVICE void store_pair(real *x, const int *on, int valid, const real *v) {
  TESK_UNROLL
  for (int i = 0; i < 2; i++)
    if (valid && on[i]) x[i * THREADS] = v[i];
}

/* Plane z = 1 + colour_z + 2 blockIdx.x. first: parity in x and y of the first colour (0: odd, 1: even). */
TESK_KERNEL(tesk_patch_q1_plane, THREADS, MIN_BLOCKS, (real *)x, (const real *)b, (int)cells, (int)cells_y,
            (int)colour_z, (int)first, (long long)plane, (TeskStencil)s) {
  TESK_SHARED(memory); /* [2][P, x][LENGTH], STAGED: [16][THREADS] */
  const int t = (int)threadIdx.x, pitch = cells + 1, mine_first = t % 2 == first;
  const Weights a = {(real)(1 / s.s[0][0]), (real)s.s[1][0], (real)s.scale,
                     (real)s.s[0][1],       (real)s.s[0][2], (real)s.s[0][3],
                     (real)s.s[1][1],       (real)s.s[1][2], (real)s.s[1][3]};
  const int on[2] = {t + 1 < cells, t + 1 + THREADS < cells};
  const long long begin = (1 + colour_z + 2 * (long long)blockIdx.x) * plane + t + 1;
  for (int i = t; i < 4 * LENGTH; i += THREADS) memory[i] = 0;
  int y = 1 + first; /* row of the first colour; the second colour is at y - 1 */
  Pair behind, row, ahead;
#if STAGED
  real *const stage = memory + 4 * LENGTH + t;
#else
  Pair next_row, next_ahead;
#endif
  real done[2] = {0, 0}, done_e[2] = {0, 0}; /* of row y - 2: new values, sums */
  load_pair(x + begin + (long long)(y - 1) * pitch, b + begin + (long long)(y - 1) * pitch, plane,
            y > 1 && y - 1 < cells_y, on, &behind);
  load_pair(x + begin + (long long)y * pitch, b + begin + (long long)y * pitch, plane, y < cells_y, on, &row);
  load_pair(x + begin + (long long)(y + 1) * pitch, b + begin + (long long)(y + 1) * pitch, plane,
            y + 1 < cells_y, on, &ahead);
  __syncthreads();
  for (; y - 1 < cells_y; y += 2) {
    const long long at = begin + (long long)y * pitch;
    real Y[2], D[2], v[2], w[2];
#if STAGED
    copy_pair(x + at + 2 * pitch, b + at + 2 * pitch, plane, y + 2 < cells_y, on, stage);
    copy_pair(x + at + 3 * pitch, b + at + 3 * pitch, plane, y + 3 < cells_y, on, stage + 8 * THREADS);
#else
    load_pair(x + at + 2 * pitch, b + at + 2 * pitch, plane, y + 2 < cells_y, on, &next_row);
    load_pair(x + at + 3 * pitch, b + at + 3 * pitch, plane, y + 3 < cells_y, on, &next_ahead);
#endif
    TESK_UNROLL
    for (int i = 0; i < 2; i++) {
      Y[i] = behind.c[i] + ahead.c[i];
      D[i] = behind.e[i] + ahead.e[i];
    }
    solve_row(&a, memory + t + 1, &row, Y, D, mine_first, on, y < cells_y, v);
    store_pair(x + at, on, y < cells_y, v);
    TESK_UNROLL
    for (int i = 0; i < 2; i++) {
      Y[i] = done[i] + v[i];
      D[i] = done_e[i] + row.e[i];
    }
    solve_row(&a, memory + 2 * LENGTH + t + 1, &behind, Y, D, mine_first, on, y > 1, w);
    store_pair(x + at - pitch, on, y > 1, w);
    TESK_UNROLL
    for (int i = 0; i < 2; i++) {
      done[i] = v[i];
      done_e[i] = row.e[i];
    }
    behind = ahead;
#if STAGED
    TESK_COPY_WAIT();
    read_pair(stage, &row);
    read_pair(stage + 8 * THREADS, &ahead);
#else
    row = next_row;
    ahead = next_ahead;
#endif
  }
}
#endif
