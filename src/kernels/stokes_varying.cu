/* The Stokes operator with a viscosity that varies, or with the symmetric gradient
 * (src/operator/stokes_varying/stokes_varying.h), 2D and 3D, any cells, ends and degree, both precisions.
 *
 * A block has CELLS cells, x fastest. Their data are in shared memory, or with GLOBAL_WORK in global memory, each
 * part as [z][y][x]. A thread loads a line of numbers into registers, contracts it with a matrix of the unit cell,
 * and stores it. First the faces, all 2 DIM with their FIELDS fields side by side: jumps of the DIM - 1 tangential
 * components, their normal derivatives, and u.n where SYMMETRIC:
 *   trace       own modes, and the neighbour's modes from global memory
 *   points      DIM - 1 contractions; derivatives of u.n along the face
 *   flux        V = nu (gamma jump - mean stress), S = -nu jump, and the contribution of S to u.n
 *   back        DIM - 1 contractions; then the terms of the faces are added to each number of the cell
 * then the cell: DIM contractions to the points, derivatives along lines, stress, derivatives back, DIM contractions
 * back. Weights of the points are in the matrices that lead back. Contributions to the nodes at the upper face are
 * put aside: tesk_stokes_varying_join adds them to the cell above. So every number has one writer at a time, and the
 * bits do not depend on the order of blocks.
 *
 * Numbers of memory: CELLS CELL; 27 barriers in 3D. A cell takes about 2 (36 Q^4 + 16 Q^3 N) flops inside and
 * 2 (60 Q^2 N + 24 Q^3) at faces. Bytes per entry: x, y, and n^-3 (Q^3 + 6 Q^2) / 4 numbers of nu; from the caches the
 * cells beside it. Registers: `bench_registers`.
 * Macros: real, DIM, N (modes of a cell, k + 1), Q (points), CELLS, THREADS, SYMMETRIC, GLOBAL_WORK, ROLLED (loops of
 * lines are not unrolled). Tables: those of rt_cells.h, slope [Q][Q], slope_back [Q][Q]: its transpose between
 * weights, bend [N]: derivatives of the modes at the upper end. */
#include "kernel.h"
#include "tables.h"
#include "stokes_varying_arguments.h"
#define RT_ARGUMENTS TeskStokesVarying
#if ROLLED
#define RT_LOOP TESK_ROLL
#endif
#include "rt_cells.h"

#define SIDES (2 * DIM)
#define ACROSS (DIM - 1) /* tangential components of a face */
#define FIELDS (2 * ACROSS + SYMMETRIC)
#define SLOTS (SIDES * FIELDS)
#define MODES (N * N * (DIM == 3 ? N : 1))
#define ALL (DIM * SIZE + MODES) /* numbers of a cell */
#define WORK_A ((DIM + 1) * POINTS > SLOTS * FACE ? (DIM + 1) * POINTS : SLOTS * FACE)
#define WORK_B (DIM * DIM * POINTS > SLOTS * FACE ? DIM * DIM * POINTS : SLOTS * FACE)
#define NUMBERS ALL
#define FACE_LINES (DIM == 3 ? Q : 1)
#include "rt_blocks.h"

CONTRACTION(points_to_slopes, Q, Q, tesk_slope(r *Q + c))
CONTRACTION(points_from_slopes, Q, Q, tesk_slope_back(r *Q + c))

TESK_DEVICE real width_of(const TeskStokesVarying *s, int d, const Cell *c) {
  return (real)TESK_READ(s->h[d] + c->at[d]);
}

/* ---- faces ------------------------------------------------------------------------------------------------ */

/* For face (d, end): its directions a < b, and which of them is component `c`. */
typedef struct Side {
  int d, end, a, b;
} Side;

TESK_DEVICE Side side_of(int number) {
  Side f;
  f.d = number / 2;
  f.end = number - 2 * f.d;
  f.a = f.d == 0 ? 1 : 0;
  f.b = DIM == 2 ? 2 : f.d == 2 ? 1 : 2;
  return f;
}

/* The component that a field is of. The last field (SYMMETRIC) is of the component along the normal. */
TESK_DEVICE int component_of(const Side *f, int field) {
  return field == 2 * ACROSS ? f->d : field % ACROSS ? f->b : f->a;
}

/* Derivatives of modes at an end; upper: 1, else -1. */
TESK_DEVICE real end_slope(int mode, real upper) {
  return mode % 2 ? tesk_bend(mode) : upper * tesk_bend(mode);
}

/* The cell beyond a face. */
TESK_DEVICE Cell beyond(const TeskStokesVarying *s, const Side *f, const Cell *c) {
  Cell next = *c;
  TESK_UNROLL
  for (int d = 0; d < DIM; d++)
    if (d == f->d)
      next.at[d] = f->end ? (c->at[d] == s->cells[d] - 1 ? 0 : c->at[d] + 1)
                          : (c->at[d] == 0 ? s->cells[d] - 1 : c->at[d] - 1);
  return next;
}

/* Jump, and mean outward normal derivative, for number (ka, kb) of component i. */
TESK_DEVICE void take_trace(const TeskStokesVarying *s, const real *TESK_RESTRICT x, const real *u,
                            const Side *f, const Cell *c, int i, int ka, int kb, real *jump, real *mean) {
  const real upper = f->end ? 1 : -1;
  const real *const own = u + i * SIZE + ka * step_of(i, f->a) + kb * step_of(i, f->b);
  const int step = step_of(i, f->d);
  real value = 0, slope = 0;
  RT_LOOP
  for (int m = 0; m < N; m++) {
    value += end_value(m, upper) * own[m * step];
    slope += end_slope(m, upper) * own[m * step];
  }
  *jump = value;
  *mean = upper * slope / width_of(s, f->d, c);
  if (!is_inner(s, f->d, f->end, c->at)) return;
  const Cell next = beyond(s, f, c);
  const int *const e = s->parts.extent[i];
  const long long stride = f->d == 0 ? 1 : f->d == 1 ? e[0] : (long long)e[0] * e[1];
  const real scale = scale_of(s, i, next.at);
  const real *const there = x + place_of(s, i, next.at, f->a == 0 ? ka : 0,
                                         f->a == 1   ? ka
                                         : f->b == 1 ? kb
                                                     : 0,
                                         f->b == 2 ? kb : 0);
  value = slope = 0;
  RT_LOOP
  for (int m = 0; m < N; m++) {
    const real v = TESK_READ(there + m * stride);
    value += end_value(m, -upper) * v;
    slope += end_slope(m, -upper) * v;
  }
  *jump -= scale * value;
  *mean = (real)0.5 * (*mean + upper * scale * slope / width_of(s, f->d, &next));
}

/* Coefficients of all fields, [b][a], where the contractions begin. */
TESK_DEVICE void take_traces(const TeskStokesVarying *s, const real *TESK_RESTRICT x, real *memory) {
  EACH(id, SIDES * DIM * COEFFICIENTS) {
    const int each = SIDES * DIM * COEFFICIENTS, of = id / each, rest = id - of * each,
              slot = rest / COEFFICIENTS, number = rest - slot * COEFFICIENTS, side = slot / DIM,
              which = slot - side * DIM; /* a tangential component, or the normal one */
    const Side f = side_of(side);
    const int normal = which == ACROSS, i = normal ? f.d : which ? f.b : f.a;
    const int ea = EXTENT(i, f.a), eb = EXTENT(i, f.b), kb = number / ea, ka = number - kb * ea;
    real *const to = (DIM == 3 ? OF_A(of) : OF_B(of)) + side * FIELDS * FACE + number;
    const Cell c = cell_of(s, of);
    if (kb >= eb || (normal && !SYMMETRIC)) continue;
    if (normal) {
      const real value =
          (OF_U(of) + i * SIZE)[f.end * N * step_of(i, f.d) + ka * step_of(i, f.a) + kb * step_of(i, f.b)];
      to[2 * ACROSS * FACE] = f.end ? value : -value;
    } else {
      take_trace(s, x, OF_U(of), &f, &c, i, ka, kb, to + which * FACE, to + (ACROSS + which) * FACE);
    }
  }
  __syncthreads();
}

/* Values at the points of the faces, [b][a], in A. */
TESK_DEVICE void faces_to_points(real *memory) {
  EACH(id, SLOTS * (DIM == 3 ? P : 1)) {
    const int lines = DIM == 3 ? P : 1, each = SLOTS * lines, of = id / each, rest = id - of * each,
              slot = rest / lines, line = rest - slot * lines;
    const Side f = side_of(slot / FIELDS);
    const int i = component_of(&f, slot % FIELDS), ea = EXTENT(i, f.a);
    if (line >= EXTENT(i, f.b)) continue;
    to_points(i == f.a, (DIM == 3 ? OF_A(of) : OF_B(of)) + slot * FACE + line * ea, 1,
              (DIM == 3 ? OF_B(of) : OF_A(of)) + slot * FACE + line * Q, 1);
  }
  __syncthreads();
#if DIM == 3
  EACH(id, SLOTS * Q) {
    const int of = id / (SLOTS * Q), rest = id - of * (SLOTS * Q), slot = rest / Q, line = rest - slot * Q;
    const Side f = side_of(slot / FIELDS);
    const int i = component_of(&f, slot % FIELDS);
    to_points(i == f.b, OF_B(of) + slot * FACE + line, Q, OF_A(of) + slot * FACE + line, Q);
  }
  __syncthreads();
#endif
}

/* A line of a face's points in its direction a (0) or b. */
TESK_DEVICE int line_at(int direction, int line) {
  return direction ? line : line * Q;
}

#if SYMMETRIC
/* Normal derivatives += derivatives of u.n. */
TESK_DEVICE void add_tangential(const TeskStokesVarying *s, real *memory) {
  EACH(id, SIDES * ACROSS * FACE_LINES) {
    const int each = SIDES * ACROSS * FACE_LINES, of = id / each, rest = id - of * each,
              slot = rest / FACE_LINES, side = slot / ACROSS, which = slot - side * ACROSS;
    const Side f = side_of(side);
    const Cell c = cell_of(s, of);
    const int at = line_at(which, rest - slot * FACE_LINES), step = which ? Q : 1;
    real *const fields = OF_A(of) + side * FIELDS * FACE,
                line[Q], *const to = fields + (ACROSS + which) * FACE + at;
    const real rate = 1 / width_of(s, which ? f.b : f.a, &c);
    points_to_slopes(fields + 2 * ACROSS * FACE + at, step, line, 1);
    RT_LOOP
    for (int q = 0; q < Q; q++) to[q * step] += rate * line[q];
  }
  __syncthreads();
}
#endif

/* Jumps and means become V and S, times the area of the face. */
TESK_DEVICE void take_fluxes(const TeskStokesVarying *s, real *memory) {
  EACH(id, SIDES * FACE) {
    const int of = id / (SIDES * FACE), rest = id - of * (SIDES * FACE), side = rest / FACE,
              q = rest - side * FACE;
    const Side f = side_of(side);
    const Cell c = cell_of(s, of);
    const real gamma = TESK_READ((const real *)s->gamma[f.d] + 2 * c.at[f.d] + f.end),
               share = is_inner(s, f.d, f.end, c.at) ? (real)0.5 : 1;
    real *const fields = OF_A(of) + side * FIELDS * FACE + q;
    real nu = TESK_READ((const real *)s->face_nu + (long long)c.number * (SIDES * FACE) + rest);
    TESK_UNROLL
    for (int d = 0; d < DIM; d++)
      if (d != f.d) nu *= width_of(s, d, &c);
    TESK_UNROLL
    for (int which = 0; which < ACROSS; which++) {
      real *const jump = fields + which * FACE, *const mean = fields + (ACROSS + which) * FACE;
      const real of_jump = *jump;
      *jump = nu * (gamma * of_jump - *mean);
      *mean = f.end ? -nu * share * of_jump : nu * share * of_jump;
    }
  }
  __syncthreads();
}

#if SYMMETRIC
/* The contribution of S to u.n, stored in place of S. */
TESK_DEVICE void give_tangential(const TeskStokesVarying *s, const int which, real *memory) {
  EACH(id, SIDES * FACE_LINES) {
    const int of = id / (SIDES * FACE_LINES), rest = id - of * (SIDES * FACE_LINES), side = rest / FACE_LINES;
    const Side f = side_of(side);
    const Cell c = cell_of(s, of);
    const int at = line_at(which, rest - side * FACE_LINES), step = which ? Q : 1;
    real *const fields = OF_A(of) + side * FIELDS * FACE, line[Q], *const to = fields + 2 * ACROSS * FACE + at;
    const real rate = 1 / width_of(s, which ? f.b : f.a, &c);
    points_from_slopes(fields + (ACROSS + which) * FACE + at, step, line, 1);
    RT_LOOP
    for (int q = 0; q < Q; q++) to[q * step] = (which ? to[q * step] : 0) + rate * line[q];
  }
  __syncthreads();
}
#endif

/* Back to coefficients: in A, in 2D in B. */
TESK_DEVICE void points_to_faces(real *memory) {
  EACH(id, SLOTS * FACE_LINES) {
    const int each = SLOTS * FACE_LINES, of = id / each, rest = id - of * each, slot = rest / FACE_LINES,
              line = rest - slot * FACE_LINES;
    const Side f = side_of(slot / FIELDS);
    const int i = component_of(&f, slot % FIELDS);
    from_points(i == f.a, OF_A(of) + slot * FACE + line * Q, 1,
                OF_B(of) + slot * FACE + line * EXTENT(i, f.a), 1);
  }
  __syncthreads();
#if DIM == 3
  EACH(id, SLOTS * P) {
    const int of = id / (SLOTS * P), rest = id - of * (SLOTS * P), slot = rest / P, line = rest - slot * P;
    const Side f = side_of(slot / FIELDS);
    const int i = component_of(&f, slot % FIELDS), ea = EXTENT(i, f.a);
    if (line >= ea) continue;
    from_points(i == f.b, OF_B(of) + slot * FACE + line, ea, OF_A(of) + slot * FACE + line, ea);
  }
  __syncthreads();
#endif
}

/* Adds the terms of the faces to each number of the velocity in the cell. */
TESK_DEVICE void gather_faces(const TeskStokesVarying *s, real *memory) {
  EACH(id, ALL) {
    const int of = id / ALL, number = id - of * ALL, i = number / SIZE, k = number - i * SIZE,
              row = k / EXTENT(i, 0), layer = row / EXTENT(i, 1);
    const int at[3] = {k - row * EXTENT(i, 0), row - layer * EXTENT(i, 1), layer};
    const Cell c = cell_of(s, of);
    const real *const from = DIM == 3 ? OF_A(of) : OF_B(of);
    real sum = 0;
    TESK_UNROLL
    for (int d = 0; i < DIM && d < DIM; d++) {
      const int a = d == 0 ? 1 : 0, b = d == 2 ? 1 : 2, which = i == a ? 0 : 1;
      const int place = at[a] + (DIM == 3 ? at[b] * EXTENT(i, a) : 0);
      TESK_UNROLL
      for (int end = 0; end < 2; end++) {
        const real *const fields = from + (2 * d + end) * FIELDS * FACE + place;
        const real upper = end ? 1 : -1;
        if (d != i)
          sum += end_value(at[d], upper) * fields[which * FACE] +
                 end_slope(at[d], upper) / width_of(s, d, &c) * fields[(ACROSS + which) * FACE];
        else if (SYMMETRIC && at[d] == end * N)
          sum += fields[2 * ACROSS * FACE];
      }
    }
    OF_OUT(of)[number] = sum;
  }
  __syncthreads();
}

/* ---- cells ------------------------------------------------------------------------------------------------ */

/* Lines of a part in direction d. The directions before d are at points already (to_points) or still
 * (from_points). */
#define LINES_TO(i, d, inner) ((inner) * ((d) < 1 ? EXTENT(i, 1) : 1) * ((d) < 2 ? EXTENT(i, 2) : 1))
#define LINES_FROM(i, d, outer) ((outer) * ((d) > 0 ? EXTENT(i, 0) : 1) * ((d) > 1 ? EXTENT(i, 1) : 1))

/* Direction d, a constant, of all parts. */
TESK_DEVICE void cells_to_points(const int d, real *memory, const int from, const int from_size, const int to) {
  const int inner = d == 0   ? 1
                    : d == 1 ? Q
                             : Q * Q,
            most = inner * (d < 1 ? P : 1) * (d < 2 && DIM == 3 ? P : 1);
  EACH(id, (DIM + 1) * most) {
    const int of = id / ((DIM + 1) * most), rest = id - of * ((DIM + 1) * most), i = rest / most,
              line = rest - i * most, o = line / inner, at = line - o * inner;
    if (line >= LINES_TO(i, d, inner)) continue;
    to_points(i == d, OF_U(of) + from + i * from_size + o * inner * (i == d ? P : N) + at, inner,
              OF_U(of) + to + i * POINTS + o * inner * Q + at, inner);
  }
  __syncthreads();
}

/* Lines of points in direction d: the first number of line `at`. */
TESK_DEVICE int first_of(int d, int line) {
  const int inner = d == 0 ? 1 : d == 1 ? Q : Q * Q, o = line / inner;
  return o * inner * Q + line - o * inner;
}

/* B [component][direction] <- derivatives of the velocities in A. */
TESK_DEVICE void take_slopes(real *memory) {
  const int lines = POINTS / Q;
  EACH(id, DIM * DIM * lines) {
    const int of = id / (DIM * DIM * lines), rest = id - of * (DIM * DIM * lines), slot = rest / lines,
              i = slot / DIM, d = slot - i * DIM, first = first_of(d, rest - slot * lines),
              step = d == 0   ? 1
                     : d == 1 ? Q
                              : Q * Q;
    points_to_slopes(OF_A(of) + i * POINTS + first, step, OF_B(of) + slot * POINTS + first, step);
  }
  __syncthreads();
}

/* Derivatives become stresses, and the pressure becomes the divergence, times the volume. */
TESK_DEVICE void take_stresses(const TeskStokesVarying *s, real *memory) {
  EACH(id, POINTS) {
    const int of = id / POINTS, q = id - of * POINTS;
    const Cell c = cell_of(s, of);
    const real nu = TESK_READ((const real *)s->nu + (long long)c.number * POINTS + q),
               pressure = (OF_A(of) + DIM * POINTS)[q];
    real g[DIM][DIM], rate[DIM], volume = 1, divergence = 0;
    TESK_UNROLL
    for (int d = 0; d < DIM; d++) {
      const real h = width_of(s, d, &c);
      volume *= h;
      rate[d] = 1 / h;
    }
    TESK_UNROLL
    for (int i = 0; i < DIM; i++) {
      TESK_UNROLL
      for (int d = 0; d < DIM; d++) g[i][d] = rate[d] * (OF_B(of) + (i * DIM + d) * POINTS)[q];
      divergence += g[i][i];
    }
    TESK_UNROLL
    for (int i = 0; i < DIM; i++) {
      TESK_UNROLL
      for (int d = 0; d < DIM; d++)
        (OF_B(of) + (i * DIM + d) * POINTS)[q] =
            volume * rate[d] * (nu * (g[i][d] + (SYMMETRIC ? g[d][i] : 0)) - (i == d ? pressure : 0));
      (OF_A(of) + i * POINTS)[q] *= (real)s->alpha * volume;
    }
    (OF_A(of) + DIM * POINTS)[q] = -volume * divergence;
  }
  __syncthreads();
}

/* A += the contribution of stresses in direction d. */
TESK_DEVICE void give_slopes(const int d, real *memory) {
  const int lines = POINTS / Q, step = d == 0 ? 1 : d == 1 ? Q : Q * Q;
  EACH(id, DIM * lines) {
    const int of = id / (DIM * lines), rest = id - of * (DIM * lines), i = rest / lines,
              first = first_of(d, rest - i * lines);
    real line[Q], *const to = OF_A(of) + i * POINTS + first;
    points_from_slopes(OF_B(of) + (i * DIM + d) * POINTS + first, step, line, 1);
    RT_LOOP
    for (int q = 0; q < Q; q++) to[q * step] += line[q];
  }
  __syncthreads();
}

/* Direction d, a constant: the directions before d are coefficients already. */
TESK_DEVICE void points_to_cells(const int d, real *memory, const int from, const int to) {
  const int outer = d == DIM - 1   ? 1
                    : d == DIM - 2 ? Q
                                   : Q * Q,
            most = outer * (d > 0 ? P : 1) * (d > 1 ? P : 1);
  EACH(id, (DIM + 1) * most) {
    const int of = id / ((DIM + 1) * most), rest = id - of * ((DIM + 1) * most), i = rest / most,
              line = rest - i * most, inner = LINES_FROM(i, d, 1), o = line / inner, at = line - o * inner;
    if (line >= LINES_FROM(i, d, outer)) continue;
    from_points(i == d, OF_U(of) + from + i * POINTS + o * inner * Q + at, inner,
                OF_U(of) + to + i * POINTS + o * inner * (i == d ? P : N) + at, inner);
  }
  __syncthreads();
}

/* ---- all of it -------------------------------------------------------------------------------------------- */

/* y <- keep b + sign K x. Values for nodes of the next cell go to `aside`. The coefficients of part i begin at i
 * POINTS. */
TESK_DEVICE void write_cells(const TeskStokesVarying *s, const real *b, real *y, real *aside, int keep,
                             real sign, real *memory, const int from) {
  const int mine = s->all - s->first - (int)blockIdx.x * CELLS;
  EACH(id, ALL) {
    const int of = id / ALL, number = id - of * ALL, i = number / SIZE, k = number - i * SIZE,
              row = k / EXTENT(i, 0), layer = row / EXTENT(i, 1);
    const int at[3] = {k - row * EXTENT(i, 0), row - layer * EXTENT(i, 1), layer};
    if (of >= mine) continue;
    const Cell c = cell_of(s, of);
    real value = scale_of(s, i, c.at) * (OF_OUT(of)[number] + (OF_U(of) + from)[i * POINTS + k]);
    if (i < DIM && at[i] == N && is_inner(s, i, 1, c.at)) {
      const int a = i == 0 ? 1 : 0, b_axis = i == 2 ? 1 : 2;
      aside[s->aside_at[i] + (long long)c.number * (SIZE / P) + at[a] + (DIM == 3 ? at[b_axis] * N : 0)] =
          value;
      continue;
    }
    const long long place = place_of(s, i, c.at, at[0], at[1], at[2]);
    TESK_UNROLL
    for (int end = 0; end < 2; end++)
      if (i < DIM && at[i] == end * N && s->known[i][end] && !is_inner(s, i, end, c.at)) value = 0;
    y[place] = (keep ? b[place] : 0) + sign * value;
  }
}

/* Grid: CELLS cells per block, from s.first on. y may be b. */
TESK_KERNEL(tesk_stokes_varying, THREADS, 1, (const real *TESK_RESTRICT)x, (const real *)b, (real *)y,
            (real *)aside, (real *)work, (TeskStokesVarying)s, (int)keep, (real)sign) {
#if GLOBAL_WORK
  real *const memory = work + (long long)blockIdx.x * (CELLS * CELL);
#else
  TESK_SHARED(memory);
  (void)work;
#endif
  const int of_a = 2 * ALL, of_b = of_a + WORK_A;
  read_cells(&s, x, memory);
  take_traces(&s, x, memory);
  faces_to_points(memory);
#if SYMMETRIC
  add_tangential(&s, memory);
#endif
  take_fluxes(&s, memory);
#if SYMMETRIC
  for (int which = 0; which < ACROSS; which++) give_tangential(&s, which, memory);
#endif
  points_to_faces(memory);
  gather_faces(&s, memory);
#if DIM == 3
  cells_to_points(0, memory, 0, SIZE, of_a);
  cells_to_points(1, memory, of_a, POINTS, of_b);
  cells_to_points(2, memory, of_b, POINTS, of_a);
#else
  cells_to_points(0, memory, 0, SIZE, of_b);
  cells_to_points(1, memory, of_b, POINTS, of_a);
#endif
  take_slopes(memory);
  take_stresses(&s, memory);
  for (int d = 0; d < DIM; d++) give_slopes(d, memory);
  points_to_cells(0, memory, of_a, of_b);
  points_to_cells(1, memory, of_b, of_a);
#if DIM == 3
  points_to_cells(2, memory, of_a, of_b);
#endif
  write_cells(&s, b, y, aside, keep, sign, memory, DIM == 3 ? of_b : of_a);
}

/* y at the lower nodes of each cell += sign times the numbers that the cell below put aside. One thread per number: 3
 * numbers moved. Grid: blocks of numbers, components. */
TESK_KERNEL(tesk_stokes_varying_join, THREADS, 1, (const real *TESK_RESTRICT)aside, (real *)y,
            (TeskStokesVarying)s, (real)sign) {
  const int i = (int)blockIdx.y;
  const long long id = (long long)blockIdx.x * THREADS + threadIdx.x, place = aside_place(&s, i, id);
  if (place >= 0) y[place] += sign * TESK_READ(aside + s.aside_at[i] + id);
}
