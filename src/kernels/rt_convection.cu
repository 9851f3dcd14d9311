/* Convection of a velocity of element rt by itself, by upwind traces (src/operator/rt_convection/rt_convection.h), 2D
 * and 3D, any cells and ends, float64.
 *
 * A block has CELLS cells, x fastest; shared memory holds their data, each component as [z][y][x]. A thread loads a
 * line of numbers of one component into registers, contracts it with a matrix of the unit cell (an operand in the
 * constant bank), and stores it. First the faces, all 2 DIM with all components side by side:
 *   trace       u.n, and the jump of the other components: own modes minus the neighbour's, from global memory
 *   points      DIM - 1 contractions
 *   upwind      times |u.n| where u enters, and the first contraction back; DIM - 2 more
 *   gather      adds the terms of the faces to each number of the cell
 * then the cell: DIM contractions to the points, DIM passes of u_d d/dx_d, DIM contractions back, the last of which
 * writes. Contributions to the nodes at the upper face are put aside: tesk_rt_convection_join adds them to the cell
 * above. So every number has one writer at a time, and the bits do not depend on the order of blocks.
 *
 * Numbers of shared memory: CELLS (2 DIM SIZE + 2 WORK) + THREADS. In 3D 16 barriers, and 8 of the maximum; a cell
 * takes about 2 (18 Q^4 + 12 Q^3 N + 72 Q^2 N) flops. Bytes to and from memory: at least 16 per entry of the
 * velocity; for traces 2 DIM (DIM - 1) / DIM times the velocity more, from the caches; 16 N^(DIM - 1) DIM per cell
 * put aside. Registers: `bench_registers`.
 * Macros: real = double, DIM, N (modes of a cell, k + 1), Q (points), CELLS, THREADS, MIN_BLOCKS. Tables: modal [Q][N],
 * nodal [Q][N + 1], both times the weights of the points too (_w), slope [Q][Q], root [N]: modes at the upper end. */
#include "kernel.h"
#include "tables.h"
#include "rt_convection_arguments.h"
#define RT_ARGUMENTS TeskConvection
#include "rt_cells.h"

#define SLOTS (2 * DIM * DIM) /* of faces and components: [direction][end][component] */
#define NUMBERS (DIM * SIZE)
#define WORK (DIM * POINTS > SLOTS * FACE ? DIM * POINTS : SLOTS * FACE)
#define WORK_A WORK
#define WORK_B WORK
#include "rt_blocks.h"

/* ---- cells ------------------------------------------------------------------------------------------------ */

/* Whether face (d, end) is an open part of the boundary. */
TESK_DEVICE int is_open(const TeskConvection *s, int d, int end, const int at[3]) {
  return !is_inner(s, d, end, at) && s->side[2 * d + end].kind == TESK_SIDE_OUTFLOW;
}

/* ---- faces ------------------------------------------------------------------------------------------------ */

/* For component i at face (d, end): the other directions a < b, and the component's extents there. */
typedef struct Slot {
  int i, d, end, a, b, ea, eb;
} Slot;

TESK_DEVICE Slot slot_of(int number) {
  Slot f;
  const int face = number / DIM;
  f.i = number - face * DIM;
  f.d = face / 2;
  f.end = face - 2 * f.d;
  f.a = f.d == 0 ? 1 : 0;
  f.b = DIM == 2 ? 2 : f.d == 2 ? 1 : 2;
  f.ea = f.a == f.i ? P : N;
  f.eb = EXTENT(f.i, f.b);
  return f;
}

/* The neighbour's value at the face, for numbers ka, kb. */
TESK_DEVICE real beyond(const TeskConvection *s, const Slot *f, const Cell *c, const real *TESK_RESTRICT u,
                        const int k[3], real upper) {
  int at[3] = {c->at[0], c->at[1], c->at[2]};
  const int *const e = s->parts.extent[f->i];
  const int last = s->cells[f->d] - 1;
  TESK_UNROLL
  for (int d = 0; d < DIM; d++)
    if (d == f->d) at[d] = f->end ? (at[d] == last ? 0 : at[d] + 1) : (at[d] == 0 ? last : at[d] - 1);
  const long long step = f->d == 0 ? 1 : f->d == 1 ? e[0] : (long long)e[0] * e[1];
  const real *const x = u + place_of(s, f->i, at, k[0], k[1], k[2]);
  real sum = 0;
  TESK_UNROLL
  for (int m = 0; m < N; m++) sum += end_value(m, -upper) * TESK_READ(x + m * step);
  return scale_of(s, f->i, at) * sum;
}

/* Coefficients, [b][a], of u.n and of jumps. Where there is no neighbour, the jump is the own trace. */
TESK_DEVICE void take_traces(const TeskConvection *s, const real *TESK_RESTRICT u, real *memory) {
  EACH(id, SLOTS * COEFFICIENTS) {
    const int of = id / (SLOTS * COEFFICIENTS), rest = id - of * (SLOTS * COEFFICIENTS),
              slot = rest / COEFFICIENTS, number = rest - slot * COEFFICIENTS;
    const Slot f = slot_of(slot);
    const int kb = number / f.ea, ka = number - kb * f.ea, step = step_of(f.i, f.d);
    if (kb >= f.eb) continue;
    const real *const own = OF_U(of) + f.i * SIZE + ka * step_of(f.i, f.a) + kb * step_of(f.i, f.b);
    real value = 0;
    if (f.i == f.d) {
      value = own[f.end * N * step];
    } else {
      const real upper = f.end ? 1 : -1;
      const Cell c = cell_of(s, of);
      TESK_UNROLL
      for (int m = 0; m < N; m++) value += end_value(m, upper) * own[m * step];
      if (is_inner(s, f.d, f.end, c.at)) {
        const int k[3] = {f.a == 0 ? ka : 0, f.a == 1 ? ka : f.b == 1 ? kb : 0, f.b == 2 ? kb : 0};
        value -= beyond(s, &f, &c, u, k, upper);
      }
    }
    (DIM == 3 ? OF_A(of) : OF_B(of))[slot * FACE + number] = value;
  }
  __syncthreads();
}

/* Values at the points of the faces, [b][a], in A. */
TESK_DEVICE void faces_to_points(real *memory) {
  EACH(id, SLOTS * (DIM == 3 ? P : 1)) {
    const int each = SLOTS * (DIM == 3 ? P : 1), of = id / each, rest = id - of * each,
              slot = rest / (DIM == 3 ? P : 1), line = rest - slot * (DIM == 3 ? P : 1);
    const Slot f = slot_of(slot);
    if (line >= f.eb) continue;
    to_points(f.i == f.a, (DIM == 3 ? OF_A(of) : OF_B(of)) + slot * FACE + line * f.ea, 1,
              (DIM == 3 ? OF_B(of) : OF_A(of)) + slot * FACE + line * Q, 1);
  }
  __syncthreads();
#if DIM == 3
  EACH(id, SLOTS * Q) {
    const int of = id / (SLOTS * Q), rest = id - of * (SLOTS * Q), slot = rest / Q, line = rest - slot * Q;
    const Slot f = slot_of(slot);
    to_points(f.i == f.b, OF_B(of) + slot * FACE + line, Q, OF_A(of) + slot * FACE + line, Q);
  }
  __syncthreads();
#endif
}

/* Given values of a component at the points of a cell's face; NULL: 0. */
TESK_DEVICE const double *given_of(const TeskConvection *s, const Slot *f, const Cell *c) {
  const double *const g = s->side[2 * f->d + f->end].g[f->i];
  const int a = c->at[f->a], b = DIM == 3 ? c->at[f->b] : 0;
  return g ? g + (long long)(b * s->cells[f->a] + a) * FACE : g;
}

/* A line of |u.n| (u - beyond) where u enters, times the face's area, is contracted along a, from A to B, [b][a]. */
TESK_DEVICE void upwind(const TeskConvection *s, real *memory) {
  EACH(id, SLOTS * (FACE / Q)) {
    const int each = SLOTS * (FACE / Q), of = id / each, rest = id - of * each, slot = rest / (FACE / Q),
              line = rest - slot * (FACE / Q);
    const Slot f = slot_of(slot);
    const Cell c = cell_of(s, of);
    const int inner = is_inner(s, f.d, f.end, c.at), kind = s->side[2 * f.d + f.end].kind;
    if (f.i == f.d && !is_open(s, f.d, f.end, c.at)) continue;
    const double *const given = inner ? (const double *)0 : given_of(s, &f, &c);
    const real *const normal = OF_A(of) + (2 * f.d + f.end) * DIM * FACE + f.d * FACE + line * Q,
                      *const jump = OF_A(of) + slot * FACE + line * Q;
    real area = inner || kind == TESK_SIDE_VELOCITY ? 1 : kind == TESK_SIDE_OUTFLOW ? 0.5 : 0, value[Q];
    TESK_UNROLL
    for (int d = 0; d < DIM; d++)
      if (d != f.d) area *= TESK_READ(s->h[d] + c.at[d]);
    TESK_UNROLL
    for (int q = 0; q < Q; q++) {
      const real in = f.end ? -normal[q] : normal[q], known = given ? TESK_READ(given + line * Q + q) : 0;
      value[q] = in > 0 || in != in ? area * in * (jump[q] - known) : 0;
    }
    from_points(f.i == f.a, value, 1, OF_B(of) + slot * FACE + line * f.ea, 1);
  }
  __syncthreads();
#if DIM == 3
  EACH(id, SLOTS * P) {
    const int of = id / (SLOTS * P), rest = id - of * (SLOTS * P), slot = rest / P, line = rest - slot * P;
    const Slot f = slot_of(slot);
    if (line >= f.ea || (f.i == f.d && !is_open(s, f.d, f.end, cell_of(s, of).at))) continue;
    from_points(f.i == f.b, OF_B(of) + slot * FACE + line, f.ea, OF_A(of) + slot * FACE + line, f.ea);
  }
  __syncthreads();
#endif
}

/* Adds the terms of the faces to each number of the cell. For the component along the normal only outflows have
 * terms. */
TESK_DEVICE void gather_faces(const TeskConvection *s, real *memory) {
  EACH(id, DIM * SIZE) {
    const int of = id / (DIM * SIZE), number = id - of * (DIM * SIZE), i = number / SIZE,
              k = number - i * SIZE, row = k / EXTENT(i, 0), layer = row / EXTENT(i, 1);
    const int at[3] = {k - row * EXTENT(i, 0), row - layer * EXTENT(i, 1), layer};
    const Cell c = cell_of(s, of);
    const real *const from = DIM == 3 ? OF_A(of) : OF_B(of);
    real sum = 0;
    TESK_UNROLL
    for (int d = 0; d < DIM; d++) {
      const int a = d == 0 ? 1 : 0, b = d == 2 ? 1 : 2;
      const int place = at[a] + (DIM == 3 ? at[b] * EXTENT(i, a) : 0);
      TESK_UNROLL
      for (int end = 0; end < 2; end++) {
        const real *const slot = from + (2 * d + end) * DIM * FACE + i * FACE;
        if (d != i) {
          const real root = tesk_root(at[d]);
          sum += (at[d] % 2 && !end ? -root : root) * slot[place];
        } else if (at[d] == end * N && is_open(s, d, end, c.at)) {
          sum += slot[place];
        }
      }
    }
    OF_OUT(of)[number] = sum;
  }
  __syncthreads();
}

/* ---- cells ------------------------------------------------------------------------------------------------ */

/* Lines of all components side by side: finds the component of line `rest`, which becomes the line's number in this
 * component. */
TESK_DEVICE int component_of(int *rest, const int first, const int second) {
  const int i = (*rest >= first) + (DIM == 3 && *rest >= first + second);
  *rest -= (i > 0 ? first : 0) + (i > 1 ? second : 0);
  return i;
}

/* Direction d, a constant: the directions before d are at points already. */
TESK_DEVICE void cells_to_points(const int d, real *memory, const int from, const int from_size, const int to) {
  const int inner = d == 0 ? 1 : d == 1 ? Q : Q * Q;
#define LINES(i) (inner * (d < 1 ? EXTENT(i, 1) : 1) * (d < 2 ? EXTENT(i, 2) : 1))
  const int all = LINES(0) + LINES(1) + (DIM == 3 ? LINES(2) : 0);
  EACH(id, all) {
    const int of = id / all;
    int line = id - of * all;
    const int i = component_of(&line, LINES(0), LINES(1)), o = line / inner, at = line - o * inner;
    to_points(i == d, OF_U(of) + from + i * from_size + o * inner * (i == d ? P : N) + at, inner,
              OF_U(of) + to + i * POINTS + o * inner * Q + at, inner);
  }
#undef LINES
  __syncthreads();
}

/* The larger value; NaN if either is NaN. */
TESK_DEVICE real larger(real a, real b) {
  return a >= b || a != a ? a : b;
}

/* B <- u . grad u, direction by direction; u in A. Returns the largest |u_d| / h_d of the thread's lines. */
TESK_DEVICE real carry(const TeskConvection *s, const int d, real *memory, real most) {
  const int inner = d == 0 ? 1 : d == 1 ? Q : Q * Q;
  EACH(id, DIM * (POINTS / Q)) {
    const int of = id / (DIM * (POINTS / Q)), rest = id - of * (DIM * (POINTS / Q)), i = rest / (POINTS / Q),
              line = rest - i * (POINTS / Q), o = line / inner, first = o * inner * Q + line - o * inner;
    const real *const v = OF_A(of) + i * POINTS + first, *const w = OF_A(of) + d * POINTS + first;
    real *const sum = OF_B(of) + i * POINTS + first;
    const real rate = 1 / TESK_READ(s->h[d] + cell_of(s, of).at[d]);
    real values[Q];
    TESK_UNROLL
    for (int q = 0; q < Q; q++) values[q] = v[q * inner];
    TESK_UNROLL
    for (int q = 0; q < Q; q++) {
      const real speed = rate * w[q * inner];
      real slope = 0;
      TESK_UNROLL
      for (int c = 0; c < Q; c++) slope += tesk_slope(q * Q + c) * values[c];
      sum[q * inner] = d == 0 ? speed * slope : sum[q * inner] + speed * slope;
      if (i == d) most = larger(most, speed < 0 ? -speed : speed);
    }
  }
  __syncthreads();
  return most;
}

/* Direction d, a constant: the directions before d are coefficients already. */
TESK_DEVICE void points_to_cells(const int d, real *memory, const int from, const int to) {
  const int outer = d == DIM - 1 ? 1 : d == DIM - 2 ? Q : Q * Q;
#define INNER(i) ((d > 0 ? EXTENT(i, 0) : 1) * (d > 1 ? EXTENT(i, 1) : 1))
  const int all = outer * (INNER(0) + INNER(1) + (DIM == 3 ? INNER(2) : 0));
  EACH(id, all) {
    const int of = id / all;
    int line = id - of * all;
    const int i = component_of(&line, outer * INNER(0), outer * INNER(1)), inner = INNER(i), o = line / inner,
              at = line - o * inner;
    from_points(i == d, OF_U(of) + from + i * POINTS + o * inner * Q + at, inner,
                OF_U(of) + to + i * POINTS + o * inner * (i == d ? P : N) + at, inner);
  }
#undef INNER
  __syncthreads();
}

/* Writes to y, or aside; coefficients of component i are [POINTS] apart. */
TESK_DEVICE void write_cells(const TeskConvection *s, real *y, real *aside, real *memory, const int from) {
  const int mine = s->all - (int)blockIdx.x * CELLS;
  EACH(id, DIM * SIZE) {
    const int of = id / (DIM * SIZE), number = id - of * (DIM * SIZE), i = number / SIZE,
              k = number - i * SIZE, row = k / EXTENT(i, 0), layer = row / EXTENT(i, 1);
    const int at[3] = {k - row * EXTENT(i, 0), row - layer * EXTENT(i, 1), layer};
    if (of >= mine) continue;
    const Cell c = cell_of(s, of);
    real volume = 1;
    TESK_UNROLL
    for (int d = 0; d < DIM; d++) volume *= TESK_READ(s->h[d] + c.at[d]);
    const real value =
        scale_of(s, i, c.at) * (OF_OUT(of)[number] + volume * (OF_U(of) + from)[i * POINTS + k]);
    if (at[i] < N || !is_inner(s, i, 1, c.at)) {
      y[place_of(s, i, c.at, at[0], at[1], at[2])] = value;
    } else {
      const int a = i == 0 ? 1 : 0, b = i == 2 ? 1 : 2;
      aside[s->aside_at[i] + (long long)c.number * (SIZE / P) + at[a] + (DIM == 3 ? at[b] * N : 0)] = value;
    }
  }
}

/* rates[block] <- the largest of its threads. */
TESK_DEVICE void leave_rate(real most, real *shared, real *rates) {
  const int t = (int)threadIdx.x;
  shared[t] = most;
  TESK_ROLL
  for (int count = THREADS; count > 1;) {
    const int half = (count + 1) / 2;
    __syncthreads();
    if (t < count - half) shared[t] = larger(shared[t], shared[t + half]);
    count = half;
  }
  if (t == 0) rates[blockIdx.x] = shared[0];
}

/* y <- N(u) at the velocities, without the numbers put aside. Grid: CELLS cells per block. */
TESK_KERNEL(tesk_rt_convection, THREADS, MIN_BLOCKS, (const real *TESK_RESTRICT)u, (real *)y, (real *)aside,
            (real *)rates, (TeskConvection)s) {
  TESK_SHARED(memory);
  const int of_a = 2 * DIM * SIZE, of_b = of_a + WORK;
  real most = 0;
  read_cells(&s, u, memory);
  take_traces(&s, u, memory);
  faces_to_points(memory);
  upwind(&s, memory);
  gather_faces(&s, memory);
#if DIM == 3
  cells_to_points(0, memory, 0, SIZE, of_a);
  cells_to_points(1, memory, of_a, POINTS, of_b);
  cells_to_points(2, memory, of_b, POINTS, of_a);
#else
  cells_to_points(0, memory, 0, SIZE, of_b);
  cells_to_points(1, memory, of_b, POINTS, of_a);
#endif
  most = carry(&s, 0, memory, most);
  most = carry(&s, 1, memory, most);
#if DIM == 3
  most = carry(&s, 2, memory, most);
#endif
  points_to_cells(0, memory, of_b, of_a);
  points_to_cells(1, memory, of_a, of_b);
#if DIM == 3
  points_to_cells(2, memory, of_b, of_a);
#endif
  write_cells(&s, y, aside, memory, DIM == 3 ? of_a : of_b);
  leave_rate(most, memory + CELLS * CELL, rates);
}

/* y at the lower nodes of each cell <- y + the numbers that the cell below put aside. One thread per number: 24
 * bytes. Grid: blocks of numbers, components. */
TESK_KERNEL(tesk_rt_convection_join, THREADS, 1, (const real *TESK_RESTRICT)aside, (real *)y,
            (TeskConvection)s) {
  const int i = (int)blockIdx.y;
  const long long id = (long long)blockIdx.x * THREADS + threadIdx.x, place = aside_place(&s, i, id);
  if (place >= 0) y[place] += TESK_READ(aside + s.aside_at[i] + id);
}
