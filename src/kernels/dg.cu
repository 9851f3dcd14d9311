/* Diffusion and mass over discontinuous Q_k by interior penalties (src/operator/dg/dg.h) in one launch, 2D and 3D, any
 * cells and ends: y <- keep b + sign (nu (sum over directions of Ld) + alpha) x.
 *
 * A block has CELLS neighbouring cells in x. Shared memory holds their modes and the results, [z][y][x], in rows of
 * PITCH. Direction by direction a thread takes lines of N modes. It reads the lines of the two neighbours from global
 * memory (mostly L1 and L2) and keeps only their traces (stokes_faces.h). The last direction writes.
 * Shared memory: 2 PITCH N^(DIM - 1) numbers, PITCH about CELLS N. An entry and direction: 2 numbers of neighbours,
 * 10 + N / 2 multiply-adds. Traffic with main memory: 2 numbers per entry, 3 with b; neighbours from L2: 2 DIM more.
 * Registers: `bench_registers`.
 * VELOCITY 1 or 2: with the transport by a velocity that is the same everywhere, convective or conservative, and its
 * upwind traces; 2 more multiply-adds per entry and direction, and no further traffic.
 * Macros: real, DIM, N (modes of a cell), CELLS, THREADS, VELOCITY (0: none). */
#include "kernel.h"
#include "dg_arguments.h"
#include "stokes_faces.h"

#define PITCH (CELLS * N | 1)
#define LAYERS (DIM == 3 ? N : 1) /* modes in z */
#define SIZE (PITCH * N * LAYERS)

typedef struct Tile {
  int cell[3], width; /* width: numbers in x */
  long long step[3];  /* of the vector */
  const real *x;      /* the tile's first number */
} Tile;

TESK_DEVICE Tile tile_of(const TeskDg *s, const real *x) {
  const unsigned tiles = (unsigned)(s->cells[0] + CELLS - 1) / CELLS, row = blockIdx.x / tiles;
  Tile t;
  t.cell[0] = (int)(blockIdx.x - row * tiles) * CELLS;
  t.cell[2] = (int)(row / (unsigned)s->cells[1]);
  t.cell[1] = (int)row - t.cell[2] * s->cells[1];
  t.width = s->cells[0] - t.cell[0];
  t.width = N * (t.width < CELLS ? t.width : CELLS);
  t.step[0] = 1;
  t.step[1] = (long long)N * s->cells[0];
  t.step[2] = t.step[1] * N * s->cells[1];
  t.x = x + t.cell[0] * N + t.cell[1] * N * t.step[1] + t.cell[2] * LAYERS * t.step[2];
  return t;
}

/* Line `id` of direction d: its first number in the tile, as x, y, z; the cell. False: there is none. */
TESK_DEVICE int line_of(const Tile *t, const int d, int id, int at[3], int *cell) {
  if (d == 0) { /* rows first: neighbours in a warp have other banks */
    const int of = id / (N * LAYERS), row = id - of * (N * LAYERS);
    at[0] = of * N, at[1] = row % N, at[2] = row / N;
    *cell = t->cell[0] + of;
  } else {
    at[0] = id % PITCH, at[1] = d == 1 ? 0 : id / PITCH, at[2] = d == 1 ? id / PITCH : 0;
    *cell = t->cell[d];
  }
  return at[0] < t->width;
}

#if VELOCITY
/* out <- out + the terms of the velocity along a direction for a line of modes. With l_i the modes of [0, 1] and v_i
 * =
 * (2 i + 1)^(1/2) = l_i(1), (l_i, l_j') is 2 v_i v_j for j = i + 1, i + 3, ... and 0 else. Numbers c and k: of
 * diffusion and of the velocity, both of `all` cells. */
TESK_DEVICE void add_velocity(const Modes *r, const real *TESK_RESTRICT c, const real *TESK_RESTRICT k,
                              int all, const real v[N], const Trace *below, const Trace *above, real out[N]) {
  const Trace t = trace_of(r, v);
  const real root = NUMBER(c, TESK_TILES_ROOT, all), carry = 2 * NUMBER(k, TESK_DG_CARRY, all),
             own0 = root * t.value[0], own1 = root * t.value[1],
             jump0 = NUMBER(c, TESK_TILES_BESIDE, all) * below->value[1] - own0,
             jump1 = NUMBER(c, TESK_TILES_BESIDE + 1, all) * above->value[0] - own1;
  const real flux0 = root * (NUMBER(k, TESK_DG_OWN, all) * own0 + NUMBER(k, TESK_DG_JUMP, all) * jump0),
             flux1 =
                 root * (NUMBER(k, TESK_DG_OWN + 1, all) * own1 + NUMBER(k, TESK_DG_JUMP + 1, all) * jump1);
  const real at_ends[2] = {flux1 + flux0, flux1 - flux0}; /* for even and odd modes */
  real sum[2] = {0, 0}; /* of v_j times modes, even and odd, on one side of i */
  TESK_UNROLL
  for (int m = 0; m < N; m++) {
    const int i = VELOCITY == 1 ? N - 1 - m : m;
    out[i] += r->value[i] * (at_ends[i % 2] + carry * sum[(i + 1) % 2]);
    sum[i % 2] += r->value[i] * v[i];
  }
}
#endif

/* Adds nu Ld in direction d, a constant; last: to y, else to W. */
TESK_DEVICE void add_direction(const TeskDg *s, const Modes *r, const Tile *t, const int d, const int last,
                               const real *U, real *W, const real *b, real *y, int keep, real sign) {
  const int step = d == 0   ? 1
                   : d == 1 ? PITCH
                            : PITCH * N,
            lines = d == 0 ? CELLS * N * LAYERS : PITCH * (d == 1 ? LAYERS : N);
  const long long far = t->step[d];
  TESK_ROLL
  for (int id = (int)threadIdx.x; id < lines; id += THREADS) {
    int at[3], cell;
    if (!line_of(t, d, id, at, &cell)) continue;
    const int first = (at[2] * N + at[1]) * PITCH + at[0];
    const long long place = at[0] + at[1] * t->step[1] + at[2] * t->step[2];
    const real *const x = t->x + place;
    const Trace below = trace_at(r, x + N * far * beside(s->cells, s->periodic, d, cell, 0), far),
                above = trace_at(r, x + N * far * beside(s->cells, s->periodic, d, cell, 1), far);
    real line[N], sum[N];
    TESK_UNROLL
    for (int l = 0; l < N; l++) {
      line[l] = U[first + l * step];
      sum[l] = d == 0 ? (real)s->alpha * line[l] : W[first + l * step];
    }
    add_across(r, (const real *)s->numbers[d] + cell, s->cells[d], line, &below, &above, sum);
#if VELOCITY
    add_velocity(r, (const real *)s->numbers[d] + cell, (const real *)s->velocity[d] + cell, s->cells[d],
                 line, &below, &above, sum);
#endif
    TESK_UNROLL
    for (int l = 0; l < N; l++) {
      if (last)
        y[place + l * far] = (keep ? b[place + l * far] : 0) + sign * sum[l];
      else
        W[first + l * step] = sum[l];
    }
  }
}

/* y may be b. Grid: tiles, x fastest. */
TESK_KERNEL(tesk_dg, THREADS, 1, (const real *TESK_RESTRICT)x, (const real *)b, (real *)y, (TeskDg)s,
            (Modes)r, (int)keep, (real)sign) {
  TESK_SHARED(U);
  real *const W = U + SIZE;
  const Tile t = tile_of(&s, x);
  const long long origin = t.x - x;
  TESK_ROLL
  for (int id = (int)threadIdx.x; id < SIZE; id += THREADS) {
    const int row = id / PITCH, column = id - row * PITCH;
    if (column < t.width) U[id] = TESK_READ(t.x + column + row % N * t.step[1] + row / N * t.step[2]);
  }
  __syncthreads();
  add_direction(&s, &r, &t, 0, 0, U, W, b, y, keep, sign);
  __syncthreads();
  add_direction(&s, &r, &t, 1, DIM == 2, U, W, b + origin, y + origin, keep, sign);
#if DIM == 3
  __syncthreads();
  add_direction(&s, &r, &t, 2, 1, U, W, b + origin, y + origin, keep, sign);
#endif
}
