/* The terms of a velocity in an operator over discontinuous Q_k, y <- y + sign T x: the term inside cells, and upwind
 * traces at their faces (src/operator/transport/upwind.h); 2D and 3D, any cells and ends.
 *
 * A block has CELLS cells, x fastest; shared memory holds their data. A thread loads a line of numbers into
 * registers, contracts it with a matrix of the unit cell, and stores it. First the faces, all 2 DIM of a cell at a
 * time:
 *   traces    in modes of the face: the cell's own, and the jump to the neighbour, whose modes are read from global
 *             memory, mostly from L1 and L2
 *   points    DIM - 1 contractions
 *   upwind    times (b.n)- or (b.n), and DIM - 1 contractions back
 * then the cell: DIM contractions to the points, one pass of b_d d/dx_d or of its transpose per direction, DIM
 * contractions back; the last pass adds the results of cells and faces to y. An entry has one writer: the bits do not
 * depend on the order of blocks, and y is read once.
 *
 * Numbers of shared memory per cell: SIZE + 2 DIM ACROSS + 2 WORK + POINTS, 37 KiB for degree 8 in 3D, float64.
 * Flops per cell: about DIM (4 Q + 2) per point, and 8 DIM (DIM - 1) SLOTS Q per point of a face. Bytes per cell:
 * modes three times, DIM numbers per point, and 2 DIM per point of a face; a constant velocity over equal cells has
 * the latter two only once.
 * Macros: real, DIM, N (modes of a cell), Q (points), CELLS, THREADS, CONSERVATIVE. Tables: modal [Q][N], slope [Q][Q],
 * root [N]: modes of the unit cell at its upper end. */
#include "kernel.h"
#include "tables.h"
#include "upwind_arguments.h"
#include "cell_sizes.h"

#define SLOTS                                                                                                \
  (CONSERVATIVE ? 2 : 1) /* arrays of a face: its own trace and the jump; or the data needed of both */
#define WORK (FACES * SLOTS * FACE > POINTS ? FACES * SLOTS * FACE : POINTS)
#define CELL (SIZE + FACES * ACROSS + 2 * WORK + POINTS)

/* The places of a cell's numbers: modes, faces in modes, two work arrays, sums at the points. */
#define OF_U(cell) (memory + (cell)*CELL)
#define OF_C(cell) (OF_U(cell) + SIZE)
#define OF_A(cell) (OF_C(cell) + FACES * ACROSS)
#define OF_B(cell) (OF_A(cell) + WORK)
#define OF_V(cell) (OF_B(cell) + WORK)

#include "cell_lines.h"

/* ---- lines ------------------------------------------------------------------------------------------------ */

CONTRACTION(to_points, Q, N, tesk_modal(r *N + c))
CONTRACTION(from_points, N, Q, tesk_modal(c *N + r))

/* A mode at an end; upper: 1, else -1. */
TESK_DEVICE real end_value(int mode, real upper) {
  return mode % 2 ? upper * tesk_root(mode) : tesk_root(mode);
}

/* ---- cells ------------------------------------------------------------------------------------------------ */

typedef struct Cell {
  int number, at[3];
} Cell;

/* Number d of three for a d that the compiler does not know: an array argument with a variable index would go to
 * local memory. */
TESK_DEVICE int pick(const int v[3], int d) {
  return d == 0 ? v[0] : d == 1 ? v[1] : v[2];
}

/* The condition at the end of the box behind a face. */
TESK_DEVICE int end_of(const TeskUpwind *s, int face) {
  return s->ends >> (2 * face) & 3;
}

/* Cells after the last repeat the last cell, and are not written. */
TESK_DEVICE Cell cell_of(const TeskUpwind *s, int of) {
  Cell c;
  const int number = (int)blockIdx.x * CELLS + of;
  c.number = number < s->all ? number : s->all - 1;
  const int row = c.number / s->cells[0];
  c.at[0] = c.number - row * s->cells[0];
  c.at[2] = row / s->cells[1];
  c.at[1] = row - c.at[2] * s->cells[1];
  return c;
}

/* Modes of a cell are the modes of [0, 1] times this. */
TESK_DEVICE real scale_of(const TeskUpwind *s, const int at[3]) {
  real scale = 1;
  TESK_UNROLL
  for (int d = 0; d < DIM; d++) scale *= TESK_READ((const real *)s->root[d] + at[d]);
  return scale;
}

/* The place of a cell's first mode. */
TESK_DEVICE long long place_of(const TeskUpwind *s, const int at[3]) {
  const long long row = s->cells[0] * N, layer = row * s->cells[1] * N;
  return at[0] * N + at[1] * N * row + (DIM == 3 ? at[2] * N * layer : 0);
}

/* The step from one mode to the next in direction d. */
TESK_DEVICE long long far_of(const TeskUpwind *s, int d) {
  const long long row = s->cells[0] * N;
  return d == 0 ? 1 : d == 1 ? row : row * s->cells[1] * N;
}

TESK_DEVICE int near_of(int d) {
  return d == 0 ? 1 : d == 1 ? N : N * N;
}

/* Whether there is a cell beyond face (d, end). */
TESK_DEVICE int is_inner(const TeskUpwind *s, int d, int end, const int at[3]) {
  return (s->periodic >> d & 1) || (end ? pick(at, d) < pick(s->cells, d) - 1 : pick(at, d) > 0);
}

/* A mode of the block: its cell, its place there and in vectors. Consecutive threads take modes that are side by side
 * in memory. */
typedef struct Mode {
  int of, m[3], valid;
  long long place;
  real scale;
} Mode;

TESK_DEVICE Mode mode_of(const TeskUpwind *s, int id) {
  Mode mode;
  const int row = id / (CELLS * N), column = id - row * (CELLS * N);
  mode.of = column / N;
  mode.m[0] = column - mode.of * N;
  mode.m[1] = row % N;
  mode.m[2] = row / N;
  const Cell c = cell_of(s, mode.of);
  mode.valid = (int)blockIdx.x * CELLS + mode.of < s->all;
  mode.scale = scale_of(s, c.at);
  mode.place = place_of(s, c.at);
  TESK_UNROLL
  for (int d = 0; d < DIM; d++) mode.place += mode.m[d] * far_of(s, d);
  return mode;
}

/* ---- faces ------------------------------------------------------------------------------------------------ */

/* The neighbour's value at face (d, end), for modes a and b across. */
TESK_DEVICE real beyond(const TeskUpwind *s, const Cell *c, const real *TESK_RESTRICT x, int d, int end,
                        const int m[3], real upper) {
  int at[3] = {c->at[0], c->at[1], c->at[2]};
  const int last = pick(s->cells, d) - 1;
  TESK_UNROLL
  for (int e = 0; e < DIM; e++)
    if (e == d) at[e] = end ? (at[e] == last ? 0 : at[e] + 1) : (at[e] == 0 ? last : at[e] - 1);
  long long place = place_of(s, at);
  TESK_UNROLL
  for (int e = 0; e < DIM; e++) place += m[e] * far_of(s, e);
  const long long step = far_of(s, d);
  real sum = 0;
  TESK_UNROLL
  for (int i = 0; i < N; i++) sum += end_value(i, -upper) * TESK_READ(x + place + i * step);
  return scale_of(s, at) * sum;
}

/* Own traces and jumps in modes, [b][a]. At a face that nothing passes, the convective form needs the own trace. */
TESK_DEVICE void take_traces(const TeskUpwind *s, const real *TESK_RESTRICT x, real *memory) {
  EACH(id, FACES * ACROSS) {
    const int of = id / (FACES * ACROSS), rest = id - of * (FACES * ACROSS), face = rest / ACROSS,
              number = rest - face * ACROSS, d = face / 2, end = face - 2 * d, b = number / N,
              a = number - b * N;
    const int m[3] = {d == 0 ? 0 : a, d == 0 ? a : d == 1 ? 0 : b, d == 2 ? 0 : b};
    const Cell c = cell_of(s, of);
    const real upper = end ? 1 : -1, *const line = OF_U(of) + m[0] + m[1] * N + m[2] * N * N;
    real own = 0, jump = 0;
    TESK_UNROLL
    for (int i = 0; i < N; i++) own += end_value(i, upper) * line[i * near_of(d)];
    if (is_inner(s, d, end, c.at))
      jump = beyond(s, &c, x, d, end, m, upper) - own;
    else if (end_of(s, face) != TESK_UPWIND_OPEN)
      jump = end_of(s, face) == TESK_UPWIND_GIVEN ? -own : own;
    real *const to = (DIM == 3 ? OF_A(of) : OF_B(of)) + face * SLOTS * FACE + number;
    to[(SLOTS - 1) * FACE] = jump;
    if (CONSERVATIVE) to[0] = own;
  }
  __syncthreads();
}

/* Values at the points of the faces, [b][a], in A. */
TESK_DEVICE void faces_to_points(real *memory) {
  EACH(id, FACES * SLOTS * (ACROSS / N)) {
    const int each = FACES * SLOTS * (ACROSS / N), of = id / each, rest = id - of * each,
              slot = rest / (ACROSS / N), line = rest - slot * (ACROSS / N);
    to_points((DIM == 3 ? OF_A(of) : OF_B(of)) + slot * FACE + line * N, 1,
              (DIM == 3 ? OF_B(of) : OF_A(of)) + slot * FACE + line * Q, 1);
  }
  __syncthreads();
#if DIM == 3
  EACH(id, FACES * SLOTS * Q) {
    const int of = id / (FACES * SLOTS * Q), rest = id - of * (FACES * SLOTS * Q), slot = rest / Q,
              line = rest - slot * Q;
    to_points(OF_B(of) + slot * FACE + line, Q, OF_A(of) + slot * FACE + line, Q);
  }
  __syncthreads();
#endif
}

/* The flux at a line of points times its weights, contracted along a, and along b: in C, [b][a] of modes. */
TESK_DEVICE void upwind(const TeskUpwind *s, real *memory) {
  EACH(id, FACES * (FACE / Q)) {
    const int each = FACES * (FACE / Q), of = id / each, rest = id - of * each, face = rest / (FACE / Q),
              line = rest - face * (FACE / Q), d = face / 2;
    const Cell c = cell_of(s, of);
    const int closed = !is_inner(s, d, face - 2 * d, c.at) && end_of(s, face) == TESK_UPWIND_CLOSED;
    const real *const speed = (const real *)s->speed + c.number * s->speed_step + face * FACE + line * Q,
                      *const own = OF_A(of) + face * SLOTS * FACE + line * Q,
                      *const jump = own + (SLOTS - 1) * FACE;
    real value[Q];
    TESK_UNROLL
    for (int q = 0; q < Q; q++) {
      const real bn = TESK_READ(speed + q), in = bn < 0 ? bn : 0;
      if (CONSERVATIVE)
        value[q] = closed ? 0 : bn * own[q] + in * jump[q];
      else
        value[q] = (closed ? -bn : in) * jump[q];
    }
    from_points(value, 1, DIM == 3 ? OF_B(of) + face * FACE + line * N : OF_C(of) + face * ACROSS, 1);
  }
  __syncthreads();
#if DIM == 3
  EACH(id, FACES * N) {
    const int of = id / (FACES * N), rest = id - of * (FACES * N), face = rest / N, line = rest - face * N;
    from_points(OF_B(of) + face * FACE + line, N, OF_C(of) + face * ACROSS + line, N);
  }
  __syncthreads();
#endif
}

/* The contribution of the faces to a mode. */
TESK_DEVICE real faces_of(const real *C, const int m[3]) {
  real sum = 0;
  TESK_UNROLL
  for (int d = 0; d < DIM; d++) {
    const int number = (d == 0 ? m[1] : m[0]) + (DIM == 3 ? (d == 2 ? m[1] : m[2]) * N : 0);
    sum += end_value(m[d], -1) * C[2 * d * ACROSS + number] +
           end_value(m[d], 1) * C[(2 * d + 1) * ACROSS + number];
  }
  return sum;
}

/* ---- the cell --------------------------------------------------------------------------------------------- */

/* Line `id` of a brick whose directions below d have `low` numbers and whose directions above d have `high`: the
 * line's first number, for lines of `length`. */
TESK_DEVICE int first_of(int line, int inner, int length) {
  const int outer = line / inner;
  return outer * length * inner + line - outer * inner;
}

/* to <- from contracted along d, a constant: to points (back 0), with the directions below d already at points, or
 * back. */
#define BRICK(d, back, from, to)                                                                             \
  {                                                                                                          \
    const int inner = (d) == 0   ? 1                                                                         \
                      : (d) == 1 ? Q                                                                         \
                                 : Q * Q,                                                                    \
              outer = DIM - 1 - (d) == 0   ? 1                                                               \
                      : DIM - 1 - (d) == 1 ? N                                                               \
                                           : N * N;                                                          \
    EACH(id, inner *outer) {                                                                                 \
      const int of = id / (inner * outer), line = id - of * (inner * outer);                                 \
      if (back)                                                                                              \
        from_points(from(of) + first_of(line, inner, Q), inner, to(of) + first_of(line, inner, N), inner);   \
      else                                                                                                   \
        to_points(from(of) + first_of(line, inner, N), inner, to(of) + first_of(line, inner, Q), inner);     \
    }                                                                                                        \
    __syncthreads();                                                                                         \
  }

#if DIM == 3
#define OF_VALUES OF_A
#define OF_TESTED OF_A
#else
#define OF_VALUES OF_B
#define OF_TESTED OF_B
#endif

/* V <- V + w|J| B_d times the derivative of u along d, or V minus the transposed derivative of w|J| B_d u. */
TESK_DEVICE void add_velocity(const TeskUpwind *s, const int d, real *memory) {
  const int inner = d == 0 ? 1 : d == 1 ? Q : Q * Q;
  EACH(id, FACE) {
    const int of = id / FACE, first = first_of(id - of * FACE, inner, Q);
    const real *const B = (const real *)s->velocity + cell_of(s, of).number * s->velocity_step + d * POINTS +
                          first,
                      *const u = OF_VALUES(of) + first;
    real line[Q], *const v = OF_V(of) + first;
    TESK_UNROLL
    for (int q = 0; q < Q; q++)
      line[q] = CONSERVATIVE ? -u[q * inner] * TESK_READ(B + q * inner) : u[q * inner];
    TESK_UNROLL
    for (int q = 0; q < Q; q++) {
      real sum = 0;
      TESK_UNROLL
      for (int j = 0; j < Q; j++) sum += tesk_slope(CONSERVATIVE ? j * Q + q : q * Q + j) * line[j];
      if (!CONSERVATIVE) sum *= TESK_READ(B + q * inner);
      v[q * inner] = d == 0 ? sum : v[q * inner] + sum;
    }
  }
  __syncthreads();
}

/* Grid: blocks of CELLS cells. */
TESK_KERNEL(tesk_upwind, THREADS, 1, (const real *TESK_RESTRICT)x, (real *)y, (TeskUpwind)s, (real)sign) {
  TESK_SHARED(memory);
  EACH(id, SIZE) {
    const Mode mode = mode_of(&s, id);
    OF_U(mode.of)[mode.m[0] + mode.m[1] * N + mode.m[2] * N * N] = mode.scale * TESK_READ(x + mode.place);
  }
  __syncthreads();
  take_traces(&s, x, memory);
  faces_to_points(memory);
  upwind(&s, memory);
  BRICK(0, 0, OF_U, OF_A)
  BRICK(1, 0, OF_A, OF_B)
#if DIM == 3
  BRICK(2, 0, OF_B, OF_A)
#endif
  add_velocity(&s, 0, memory);
  add_velocity(&s, 1, memory);
#if DIM == 3
  add_velocity(&s, 2, memory);
  BRICK(2, 1, OF_V, OF_A)
  BRICK(1, 1, OF_A, OF_B)
  BRICK(0, 1, OF_B, OF_A)
#else
  BRICK(1, 1, OF_V, OF_A)
  BRICK(0, 1, OF_A, OF_B)
#endif
  EACH(id, SIZE) {
    const Mode mode = mode_of(&s, id);
    const real sum =
        OF_TESTED(mode.of)[mode.m[0] + mode.m[1] * N + mode.m[2] * N * N] + faces_of(OF_C(mode.of), mode.m);
    if (mode.valid) y[mode.place] += sign * mode.scale * sum;
  }
}
