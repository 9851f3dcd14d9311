/* Common definitions of all parts of stokes_lanes.cu: sizes, tables of a kind of intervals, cells, small products. */
#ifndef TESK_STOKES_LANES_TABLES_H
#define TESK_STOKES_LANES_TABLES_H

#include "four.h"
#include "stokes_arguments.h"

#define N (2 * N1)
#define M (N - 1)
#define CUBE (N1 * N1 * N1)
#define VALUES (4 * CUBE)
#define G TESK_LANES_GROUP
#define TASKS (THREADS / LANES)
#define LANE_NUMBERS (TESK_LANES_ROWS * LANES)
#define PITCH (LINES ? N + 1 : N) /* of rows of a plane: tasks of a warp then use different banks */
#define PLANE (N * PITCH + 1)
#define PLANES ((N + 3) * PLANE)
#define SZ 1 /* steps of q: [x][y][z], rows padded */
#define SY (N + 1)
#define SX (N * (N + 1) + 1)

/* Tables of a kind of intervals, rows padded to four numbers. */
#define ROW_N ((N + 3) / 4 * 4)
#define ROW_M ((M + 3) / 4 * 4)
#define ROW_1 ((N1 + 3) / 4 * 4)
#define AT_FORWARD 0                         /* Zd': [N][ROW_N] */
#define AT_BACK (AT_FORWARD + N * ROW_N)     /* Zd */
#define AT_NODES (AT_BACK + N * ROW_N)       /* Zc' M inside: [M][ROW_M] */
#define AT_NODES_BACK (AT_NODES + M * ROW_M) /* Zc */
#define AT_G (AT_NODES_BACK + M * ROW_M)     /* G: [N][ROW_M] */
#define AT_GT (AT_G + N * ROW_M)             /* G': [M][ROW_N] */
#define AT_LOW (AT_GT + M * ROW_N)           /* nu Ld, lower cell and its neighbour below: [N1][ROW_1] */
#define AT_HIGH (AT_LOW + N1 * ROW_1)        /* the same above */
#define AT_OWN (AT_HIGH + N1 * ROW_1)        /* added to nu Ld in a cell treated as at a wall */
#define AT_ENDS (AT_OWN + N1 * ROW_1)        /* by mode: Zc' M at both ends, nu Zc' Lc there: [M][4] */
#define AT_GE (AT_ENDS + M * 4)              /* Zd' D at both ends: [N][4], the last two 0 */
#define AT_LC (AT_GE + N * 4)                /* nu lc, nu ld */
#define AT_LD (AT_LC + ROW_M)
#define TABLE (AT_LD + ROW_N)

TESK_DEVICE int step_of(int d) {
  return d == 0 ? SX : d == 1 ? SY : SZ;
}

typedef struct Place {
  int lane, task;
  const int *lanes; /* of the block (TESK_LANES_ROWS), in shared memory */
  /* [three directions]: numbers that depend on the mode; `x`: the table of the first direction */
  const real *table;
  const real *matrix; /* all other numbers; with `one`, one matrix for all directions */
  int x;
  int even;                /* a constant: whether modes of all directions are even, then odd */
  int one;                 /* a constant */
  int far_x, far_y, far_z; /* TeskLanesBlock, of the lane's kind of x; unused with `one` */
} Place;

/* The tables of the common kind of all three directions, a kernel argument: reading them costs no instruction. */
typedef struct TESK_ALIGNED(16) Inner {
  real v[TABLE];
} Inner;

TESK_DEVICE const real *table_of(const Place *p, int d, int at) {
  return p->table + (d == 0 ? p->x : d) * TABLE + at;
}
TESK_DEVICE const real *matrix_of(const Place *p, int d, int at) {
  return p->one ? p->matrix + at : table_of(p, d, at);
}

/* The first entry of cell `at` (-1 .. 2; the patch has 0 and 1) in direction d. */
TESK_DEVICE int offset_of(const Place *p, int d, int at) {
  return p->lanes[(d * 4 + at + 1) * LANES + p->lane];
}

/* The same for two lines, in[2][columns] to out[2][rows]: the table is read once. */
TESK_DEVICE void multiply_pair(const real *A, int rows, int columns, int row, const real *in, real *out) {
  TESK_UNROLL
  for (int r = 0; r < rows; r++) {
    real sum[2] = {0, 0};
    TESK_UNROLL
    for (int c = 0; c < row; c += 4) {
      const Four a = *(const Four *)(A + r * row + c);
      TESK_UNROLL
      for (int e = 0; e < 8; e++)
        if (c + e % 4 < columns) sum[e / 4] += a.v[e % 4] * in[e / 4 * columns + c + e % 4];
    }
    out[r] = sum[0];
    out[rows + r] = sum[1];
  }
}

/* ---- modes of a direction ------------------------------------------------------------------------------ */

/* In intervals that are their own mirror images the first N1 modes are even, then come the odd modes: sums and
 * differences of mirrored numbers each need only half of a table. Mode j of the lower cell is mirrored to (-1)^j
 * times mode j of the upper cell, node i to node M - 1 - i. */
#define SIGN(j) ((j) % 2 ? -1 : 1)

/* out <- Zd' in of direction d. */
TESK_DEVICE void to_modes(const Place *p, int d, const real *in, real *out) {
  const real *A = matrix_of(p, d, AT_FORWARD);
  real even[N1], odd[N1];
  if (!p->even) {
    multiply(A, N, N, ROW_N, in, out);
    return;
  }
  TESK_UNROLL
  for (int j = 0; j < N1; j++) {
    even[j] = in[j] + SIGN(j) * in[N1 + j];
    odd[j] = in[j] - SIGN(j) * in[N1 + j];
  }
  multiply(A, N1, N1, ROW_N, even, out);
  multiply(A + N1 * ROW_N, N1, N1, ROW_N, odd, out + N1);
}

/* out <- Zd in. */
TESK_DEVICE void from_modes(const Place *p, int d, const real *in, real *out) {
  const real *A = matrix_of(p, d, AT_BACK);
  if (!p->even) {
    multiply(A, N, N, ROW_N, in, out);
    return;
  }
  TESK_UNROLL
  for (int j = 0; j < N1; j++) {
    real even = 0, odd = 0;
    TESK_UNROLL
    for (int m = 0; m < N1; m++) {
      even += A[j * ROW_N + m] * in[m];
      odd += A[j * ROW_N + N1 + m] * in[N1 + m];
    }
    out[j] = even + odd;
    out[N1 + j] = SIGN(j) * (even - odd);
  }
}

/* The same for two lines, in[2][N] to out[2][N]. */
TESK_DEVICE void pair_to_modes(const Place *p, int d, const real *in, real *out) {
  if (p->even) {
    to_modes(p, d, in, out);
    to_modes(p, d, in + N, out + N);
  } else {
    multiply_pair(matrix_of(p, d, AT_FORWARD), N, N, ROW_N, in, out);
  }
}
TESK_DEVICE void pair_from_modes(const Place *p, int d, const real *in, real *out) {
  if (p->even) {
    from_modes(p, d, in, out);
    from_modes(p, d, in + N, out + N);
  } else {
    multiply_pair(matrix_of(p, d, AT_BACK), N, N, ROW_N, in, out);
  }
}

/* out <- Zc' M in, for inner nodes. */
TESK_DEVICE void to_node_modes(const Place *p, int d, const real *in, real *out) {
  const real *A = matrix_of(p, d, AT_NODES);
  real even[N1], odd[N1];
  if (!p->even) {
    multiply(A, M, M, ROW_M, in, out);
    return;
  }
  TESK_UNROLL
  for (int i = 0; i < N1 - 1; i++) {
    even[i] = in[i] + in[M - 1 - i];
    odd[i] = in[i] - in[M - 1 - i];
  }
  even[N1 - 1] = in[N1 - 1];
  multiply(A, N1, N1, ROW_M, even, out);
  multiply(A + N1 * ROW_M, N1 - 1, N1 - 1, ROW_M, odd, out + N1);
}

/* out <- Zc in. */
TESK_DEVICE void from_node_modes(const Place *p, int d, const real *in, real *out) {
  const real *A = matrix_of(p, d, AT_NODES_BACK);
  if (!p->even) {
    multiply(A, M, M, ROW_M, in, out);
    return;
  }
  TESK_UNROLL
  for (int i = 0; i < N1; i++) {
    real even = 0, odd = 0;
    TESK_UNROLL
    for (int m = 0; m < N1; m++) even += A[i * ROW_M + m] * in[m];
    TESK_UNROLL
    for (int m = N1; m < M && i < N1 - 1; m++) odd += A[i * ROW_M + m] * in[m];
    out[M - 1 - i] = even - odd;
    out[i] = even + odd;
  }
}

/* out <- G in: odd modes of nodes to even modes, and the other way round. */
TESK_DEVICE void to_divergence(const Place *p, int d, const real *in, real *out) {
  const real *A = matrix_of(p, d, AT_G);
  TESK_UNROLL
  for (int q = 0; q < N; q++) {
    real sum = 0;
    TESK_UNROLL
    for (int m = 0; m < M; m++)
      if (!p->even || q < N1 != m < N1) sum += A[q * ROW_M + m] * in[m];
    out[q] = sum;
  }
}

/* out <- G' in. */
TESK_DEVICE void to_gradient(const Place *p, int d, const real *in, real *out) {
  const real *A = matrix_of(p, d, AT_GT);
  TESK_UNROLL
  for (int m = 0; m < M; m++) {
    real sum = 0;
    TESK_UNROLL
    for (int q = 0; q < N; q++)
      if (!p->even || q < N1 != m < N1) sum += A[m * ROW_N + q] * in[q];
    out[m] = sum;
  }
}

/* Keeps the compiler from holding tables in registers from one line to the next. */
#ifdef TESK_EMULATOR
#define FORGET() ((void)0)
#else
#define FORGET() asm volatile("" ::: "memory")
#endif

/* w -= A (a line of the neighbour), in N1 numbers of w from `at` on. */
TESK_DEVICE void subtract(const real *A, const real *line, real *w, int at, int step) {
  real out[N1];
  multiply(A, N1, N1, ROW_1, line, out);
  TESK_UNROLL
  for (int i = 0; i < N1; i++) w[at + i * step] -= out[i];
}

/* The couplings of cell `end` (0, 1) of direction d beyond that end: its neighbour, source 0, and the cell itself if
 * it is treated as a cell at a wall. */
TESK_DEVICE int sources_of(const Place *p, int d, int end) {
  return EVEN && !p->one && (d == 0 ? p->far_x : d == 1 ? p->far_y : p->far_z) == end ? 2 : 1;
}
TESK_DEVICE int source_cell(int end, int source) {
  return source ? end : end ? 2 : -1;
}
TESK_DEVICE int source_table(int end, int source) {
  return source ? AT_OWN : end ? AT_HIGH : AT_LOW;
}

/* The place of plane j of component c. The last plane, j = N, is the first plane of the cell above; beside a wall any
 * cell serves, since its factors are zero. */
TESK_DEVICE int plane_at(const Place *p, int c, int j) {
  const int cell = j < N1 ? 0 : j < N ? 1 : 2;
  return offset_of(p, c, cell) + (c * CUBE + (j - cell * N1) * N1 * N1) * G;
}

/* The place of plane j of the pressure on its way back: in planes of U that lines of velocities do not use. */
TESK_DEVICE int spare_plane(int j) {
  return j / 4 * PLANES + (j % 4 == 0 ? 0 : N - 1 + j % 4) * PLANE;
}

/* The mean of the pressure in the patch, in its first modes. */
TESK_DEVICE real mean_of(const Place *p, const real *x) {
  real sum = 0;
  for (int h = 0; h < 8; h++)
    sum += TESK_READ(x + offset_of(p, 0, h % 2) + offset_of(p, 1, h / 2 % 2) + offset_of(p, 2, h / 4) +
                     3 * CUBE * G);
  return sum / 8;
}

#endif
