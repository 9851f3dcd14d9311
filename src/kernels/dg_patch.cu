/* Vertex patches of discontinuous Q_k (src/smoother/dg_patch/dg_patch.h): x <- x + K^-1 r for the P^DIM unknowns of
 * each patch, P = 2 N, by fast diagonalization, K = nu (sum over directions of Ld) + alpha. Patches of a launch have
 * no unknowns in common. 2D and 3D, any kinds of intervals.
 * tesk_dg_sweep does a colour without a separate residual: y <- x, and in the patches K^-1 (b - K x outside). The
 * outside enters by its traces at the faces, cell by cell (stokes_faces.h), first along x, through shared memory. The
 * last blocks copy the cells that are in no patch. Per unknown: DIM + 1 numbers read, all but two of them from L2,
 * and one written; 4 DIM more multiply-adds. 2 or 3 more barriers.
 *
 * A block has PATCHES patches, a thread works on lines of them. The last direction comes first: it is read from
 * global memory and transformed to modes. The others are transformed in shared memory (GLOBAL_WORK: in `work`). Lines
 * along x are transformed, divided by the eigenvalues, and transformed back in one pass. At the end the last
 * direction is added to x. 5 passes in 3D, 4 barriers. Shared memory: PATCHES P^(DIM - 1) (P + 1) numbers. Per
 * unknown: 4 DIM N multiply-adds, or half as many where intervals are symmetric; 3 numbers of traffic. Tables are
 * read through the L1 cache, four numbers per load, the same for all threads of a patch. Registers:
 * `bench_registers`. Macros: real, DIM, N, PATCHES, THREADS, MIN_BLOCKS, GLOBAL_WORK. */
#include "kernel.h"
#include "dg_arguments.h"
#include "four.h"
#include "stokes_faces.h"

#define P (2 * N)
#define ROW ((P + 3) / 4 * 4)
#define AT_BACK (P * ROW)
#define AT_VALUES (2 * P * ROW)
#define TABLE (AT_VALUES + ROW)
#define LAYERS (DIM == 3 ? P : 1)
#define LINES (P * (DIM == 3 ? P : 1)) /* of a direction */
#define SIZE ((P + 1) * P * LAYERS)

/* A line of a patch: its numbers u and v across, the lower direction first. */
typedef struct Line {
  const TeskDgPatch *patch;
  int u, v, first; /* first: of the patch in shared memory */
} Line;

/* False: there is none. */
TESK_DEVICE int line_of(const TeskDgPatches *s, int id, int count, Line *l) {
  const int own = id / LINES, number = (int)blockIdx.x * PATCHES + own;
  l->patch = s->patch + number;
  l->u = (id - own * LINES) % P;
  l->v = (id - own * LINES) / P;
  l->first = own * SIZE;
  return own < PATCHES && number < count;
}

TESK_DEVICE const real *table_of(const TeskDgPatches *s, const Line *l, int d) {
  return (const real *)s->table[d] + l->patch->kind[d] * TABLE;
}

/* In intervals that are their own mirror images the first N modes are even, the others odd, and mode j of the lower
 * cell is mirrored to (-1)^j times mode j of the upper cell. So sums and differences each need only half of a
 * table. */
#define SIGN(j) ((j) % 2 ? -1 : 1)
#define IS_EVEN(l, d) ((l)->patch->even >> (d)&1)

/* out <- Zd' in of direction d. */
TESK_DEVICE void to_modes(const TeskDgPatches *s, const Line *l, int d, const real in[P], real out[P]) {
  const real *const A = table_of(s, l, d);
  if (IS_EVEN(l, d)) {
    real even[N], odd[N];
    TESK_UNROLL
    for (int j = 0; j < N; j++) {
      even[j] = in[j] + SIGN(j) * in[N + j];
      odd[j] = in[j] - SIGN(j) * in[N + j];
    }
    multiply(A, N, N, ROW, even, out);
    multiply(A + N * ROW, N, N, ROW, odd, out + N);
  } else {
    multiply(A, P, P, ROW, in, out);
  }
}

/* out <- Zd in; the rows of the lower cell, from the sum and difference. */
TESK_DEVICE void from_modes(const TeskDgPatches *s, const Line *l, int d, const real in[P], real out[P]) {
  const real *const A = table_of(s, l, d) + AT_BACK;
  if (IS_EVEN(l, d)) {
    TESK_UNROLL
    for (int j = 0; j < N; j++) {
      real sum[2] = {0, 0};
      TESK_UNROLL
      for (int c = 0; c < P; c += 4) {
        const Four a = *(const Four *)(A + j * ROW + c);
        TESK_UNROLL
        for (int e = 0; e < 4; e++)
          if (c + e < P) sum[(c + e) / N] += a.v[e] * in[c + e];
      }
      out[j] = sum[0] + sum[1];
      out[N + j] = SIGN(j) * (sum[0] - sum[1]);
    }
  } else {
    multiply(A, P, P, ROW, in, out);
  }
}

/* Mode i of a direction, counted on the whole axis. */
TESK_DEVICE int mode_of(const TeskDgPatches *s, const Line *l, int d, int i) {
  const int mode = l->patch->vertex[d] * N + i;
  return mode < s->extent[d] ? mode : mode - s->extent[d];
}

/* A line of the last direction in the vector: the line's entry i. */
TESK_DEVICE long long entry_of(const TeskDgPatches *s, const Line *l, int i) {
  const long long x = mode_of(s, l, 0, l->u);
  if (DIM == 2) return x + (long long)s->extent[0] * mode_of(s, l, 1, i);
  return x +
         (long long)s->extent[0] * (mode_of(s, l, 1, l->v) + (long long)s->extent[1] * mode_of(s, l, 2, i));
}

TESK_DEVICE void take(const TeskDgPatches *s, const Line *l, const real *TESK_RESTRICT r, real *U) {
  const int first = l->first + l->v * (P + 1) + l->u, step = DIM == 2 ? P + 1 : P * (P + 1);
  real in[P], out[P];
  TESK_UNROLL
  for (int i = 0; i < P; i++) in[i] = TESK_READ(r + entry_of(s, l, i));
  to_modes(s, l, DIM - 1, in, out);
  TESK_UNROLL
  for (int i = 0; i < P; i++) U[first + i * step] = out[i];
}

TESK_DEVICE void put(const TeskDgPatches *s, const Line *l, const real *U, real *x) {
  const int first = l->first + l->v * (P + 1) + l->u, step = DIM == 2 ? P + 1 : P * (P + 1);
  real in[P], out[P];
  TESK_UNROLL
  for (int i = 0; i < P; i++) in[i] = U[first + i * step];
  from_modes(s, l, DIM - 1, in, out);
  TESK_UNROLL
  for (int i = 0; i < P; i++) x[entry_of(s, l, i)] += out[i];
}

#if DIM == 3
/* Along y, in place, to modes or back. */
TESK_DEVICE void middle(const TeskDgPatches *s, const Line *l, const int back, real *U) {
  const int first = l->first + l->v * P * (P + 1) + l->u;
  real in[P], out[P];
  TESK_UNROLL
  for (int i = 0; i < P; i++) in[i] = U[first + i * (P + 1)];
  if (back)
    from_modes(s, l, 1, in, out);
  else
    to_modes(s, l, 1, in, out);
  TESK_UNROLL
  for (int i = 0; i < P; i++) U[first + i * (P + 1)] = out[i];
}
#endif

/* Along x to modes, divided, and back; u, v: modes of the others. */
TESK_DEVICE void divide(const TeskDgPatches *s, const Line *l, real alpha, real *U) {
  const real *const value = table_of(s, l, 0) + AT_VALUES;
  real *const line = U + l->first + (l->v * P + l->u) * (P + 1);
  real across = alpha + table_of(s, l, 1)[AT_VALUES + l->u], in[P], out[P];
  if (DIM == 3) across += table_of(s, l, 2)[AT_VALUES + l->v];
  TESK_UNROLL
  for (int i = 0; i < P; i++) in[i] = line[i];
  to_modes(s, l, 0, in, out);
  TESK_UNROLL
  for (int i = 0; i < P; i++)
    out[i] = s->closed && i + l->u + l->v == 0 ? 0 : out[i] * TESK_RECIPROCAL(value[i] + across);
  from_modes(s, l, 0, out, in);
  TESK_UNROLL
  for (int i = 0; i < P; i++) line[i] = in[i];
}

#define FOR_LINES(l)                                                                                         \
  for (int id = (int)threadIdx.x; id < PATCHES * LINES; id += THREADS)                                       \
    if (line_of(&s, id, count, &l))

/* Grid: groups of PATCHES patches. work: SIZE numbers for each. */
TESK_KERNEL(tesk_dg_patch, THREADS, MIN_BLOCKS, (TeskDgPatches)s, (int)count, (real)alpha,
            (const real *TESK_RESTRICT)r, (real *)x, (real *)work) {
  TESK_SHARED(shared);
  real *const U = GLOBAL_WORK ? work + (long long)blockIdx.x * (PATCHES * SIZE) : shared;
  Line l;
  FOR_LINES(l) take(&s, &l, r, U);
  __syncthreads();
#if DIM == 3
  FOR_LINES(l) middle(&s, &l, 0, U);
  __syncthreads();
#endif
  FOR_LINES(l) divide(&s, &l, alpha, U);
  __syncthreads();
#if DIM == 3
  FOR_LINES(l) middle(&s, &l, 1, U);
  __syncthreads();
#endif
  FOR_LINES(l) put(&s, &l, U, x);
}

/* ---- a colour with its residual inside ------------------------------------------------------------------- */

/* The number of cell v + k of direction d, modulo the cells in periodic directions; v + k itself if the cell does not
 * exist. */
TESK_DEVICE int cell_of(const TeskDg *g, int d, int v, int k) {
  const int cell = v + k, all = g->cells[d];
  if (cell >= 0 && cell < all) return cell;
  return g->periodic[d] ? (cell < 0 ? cell + all : cell - all) : v + (k > 0);
}

/* K x for the modes of both cells, from the lines beside them; numbers of missing cells are zero. */
TESK_DEVICE void from_outside(const TeskDg *g, const Modes *r, int d, int v, const real below[N],
                              const real above[N], real out[P]) {
  const Trace low = trace_of(r, below), high = trace_of(r, above);
  const real *const c = (const real *)g->numbers[d] + v, *const e = (const real *)g->numbers[d] +
                                                                    cell_of(g, d, v, 1);
  const int all = g->cells[d];
  const real jump0 = NUMBER(c, TESK_TILES_BESIDE, all) * low.value[1],
             jump1 = -NUMBER(e, TESK_TILES_BESIDE + 1, all) * high.value[0],
             mean0 = NUMBER(c, TESK_TILES_OTHER, all) * low.slope[1],
             mean1 = NUMBER(e, TESK_TILES_OTHER + 1, all) * high.slope[0],
             p0 = NUMBER(c, TESK_TILES_ROOT, all) * (NUMBER(c, TESK_TILES_PENALTY, all) * jump0 - mean0),
             p1 = NUMBER(e, TESK_TILES_ROOT, all) * (NUMBER(e, TESK_TILES_PENALTY + 1, all) * jump1 - mean1),
             q0 = NUMBER(c, TESK_TILES_OWN, all) * jump0, q1 = NUMBER(e, TESK_TILES_OWN + 1, all) * jump1;
  TESK_UNROLL
  for (int i = 0; i < N; i++) {
    const real slope = i > 0 ? r->slope[i] : 0;
    out[i] = -SIGN(i) * (r->value[i] * p0 - slope * q0);
    out[N + i] = r->value[i] * p1 - slope * q1;
  }
}

/* Number i of a line beside the patch: first the cell below, then the cell above. */
TESK_DEVICE int mode_beside(const TeskDg *g, const Line *l, int d, int i) {
  const int v = l->patch->vertex[d];
  return cell_of(g, d, v, i < N ? -1 : 2) * N + i % N;
}

/* Loads lines beside the patches along x to the places of the patches' numbers. */
TESK_DEVICE void take_beside(const TeskDgPatches *s, const TeskDg *g, int count, const real *x, real *U) {
  TESK_ROLL
  for (int id = (int)threadIdx.x; id < PATCHES * LINES * P; id += THREADS) {
    Line l;
    const int i = id % P;
    if (!line_of(s, id / P, count, &l)) continue;
    long long row = mode_of(s, &l, 1, l.u);
    if (DIM == 3) row += (long long)s->extent[1] * mode_of(s, &l, 2, l.v);
    U[l.first + (l.v * P + l.u) * (P + 1) + i] = x[row * s->extent[0] + mode_beside(g, &l, 0, i)];
  }
}

TESK_DEVICE void couple_rows(const TeskDg *g, const Modes *r, const Line *l, real *U) {
  real *const line = U + l->first + (l->v * P + l->u) * (P + 1);
  real in[P], out[P];
  TESK_UNROLL
  for (int i = 0; i < P; i++) in[i] = line[i];
  from_outside(g, r, 0, l->patch->vertex[0], in, in + N, out);
  TESK_UNROLL
  for (int i = 0; i < P; i++) line[i] = out[i];
}

#if DIM == 3
TESK_DEVICE void couple_middle(const TeskDgPatches *s, const TeskDg *g, const Modes *r, const Line *l,
                               const real *x, real *U) {
  const int first = l->first + l->v * P * (P + 1) + l->u;
  const long long place =
      mode_of(s, l, 0, l->u) + (long long)s->extent[0] * s->extent[1] * mode_of(s, l, 2, l->v);
  real in[P], out[P];
  TESK_UNROLL
  for (int i = 0; i < P; i++) in[i] = x[place + (long long)s->extent[0] * mode_beside(g, l, 1, i)];
  from_outside(g, r, 1, l->patch->vertex[1], in, in + N, out);
  TESK_UNROLL
  for (int i = 0; i < P; i++) U[first + i * (P + 1)] += out[i];
}
#endif

/* Along the last direction: b - K x outside, to modes; x NULL: zero. */
TESK_DEVICE void take_rest(const TeskDgPatches *s, const TeskDg *g, const Modes *r, const Line *l,
                           const real *TESK_RESTRICT b, const real *x, real *U) {
  const int first = l->first + l->v * (P + 1) + l->u, step = DIM == 2 ? P + 1 : P * (P + 1);
  long long place = mode_of(s, l, 0, l->u), far = s->extent[0];
  real in[P], out[P];
  if (DIM == 3) place += far * mode_of(s, l, 1, l->v), far *= s->extent[1];
  TESK_UNROLL
  for (int i = 0; i < P; i++) in[i] = TESK_READ(b + entry_of(s, l, i));
  if (x) {
    real beside[P];
    TESK_UNROLL
    for (int i = 0; i < P; i++) beside[i] = x[place + far * mode_beside(g, l, DIM - 1, i)];
    from_outside(g, r, DIM - 1, l->patch->vertex[DIM - 1], beside, beside + N, out);
    TESK_UNROLL
    for (int i = 0; i < P; i++) in[i] -= out[i] + U[first + i * step];
  }
  to_modes(s, l, DIM - 1, in, out);
  TESK_UNROLL
  for (int i = 0; i < P; i++) U[first + i * step] = out[i];
}

TESK_DEVICE void put_new(const TeskDgPatches *s, const Line *l, const real *U, real *y) {
  const int first = l->first + l->v * (P + 1) + l->u, step = DIM == 2 ? P + 1 : P * (P + 1);
  real in[P], out[P];
  TESK_UNROLL
  for (int i = 0; i < P; i++) in[i] = U[first + i * step];
  from_modes(s, l, DIM - 1, in, out);
  TESK_UNROLL
  for (int i = 0; i < P; i++) y[entry_of(s, l, i)] = out[i];
}

/* Cells in no patch: rows of a cell, `cells` of them. */
TESK_DEVICE void copy_cells(const TeskDgPatches *s, const int *rest, int cells, int block, int blocks,
                            const real *x, real *y) {
  const int size = DIM == 3 ? N * N * N : N * N;
  TESK_ROLL
  for (int id = block * THREADS + (int)threadIdx.x; id < cells * size; id += blocks * THREADS) {
    const int *const cell = rest + 3 * (id / size), at = id % size;
    long long place = cell[0] * N + at % N + (long long)s->extent[0] * (cell[1] * N + at / N % N);
    if (DIM == 3) place += (long long)s->extent[0] * s->extent[1] * (cell[2] * N + at / N / N);
    y[place] = x ? x[place] : 0;
  }
}

/* Grid: groups of PATCHES patches, then blocks that copy. */
TESK_KERNEL(tesk_dg_sweep, THREADS, MIN_BLOCKS, (TeskDgPatches)s, (TeskDg)g, (Modes)r, (int)count,
            (const int *)rest, (int)cells, (const real *)x, (const real *TESK_RESTRICT)b, (real *)y) {
  TESK_SHARED(U);
  const int groups = (count + PATCHES - 1) / PATCHES;
  Line l;
  if ((int)blockIdx.x >= groups) {
    copy_cells(&s, rest, cells, (int)blockIdx.x - groups, (int)gridDim.x - groups, x, y);
    return; /* the whole block */
  }
  if (x) {
    take_beside(&s, &g, count, x, U);
    __syncthreads();
    FOR_LINES(l) couple_rows(&g, &r, &l, U);
    __syncthreads();
#if DIM == 3
    FOR_LINES(l) couple_middle(&s, &g, &r, &l, x, U);
    __syncthreads();
#endif
  }
  FOR_LINES(l) take_rest(&s, &g, &r, &l, b, x, U);
  __syncthreads();
#if DIM == 3
  FOR_LINES(l) middle(&s, &l, 0, U);
  __syncthreads();
#endif
  FOR_LINES(l) divide(&s, &l, (real)g.alpha, U);
  __syncthreads();
#if DIM == 3
  FOR_LINES(l) middle(&s, &l, 1, U);
  __syncthreads();
#endif
  FOR_LINES(l) put_new(&s, &l, U, y);
}
