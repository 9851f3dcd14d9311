/* The product with S^+ of saddle_lanes.cu, included with its macros: each thread TILE rows of WIDTH lanes, in registers.
 *
 * S^+ falls into parity blocks. In patches of cubes whose tables are the same in all directions two of the three
 * directions a, b of a block have like parities, and S^+ commutes with their swap: sums and differences of the numbers
 * (i, a, b) and (i, b, a) meet a table each, half of the products, and four blocks are all there are, whose tables stay
 * in the L1 cache: 7 KB for n = 3 in place of 31. Sums stand at (i, a, b), differences at (i, b, a), a < b.
 *
 * Lanes of other kinds of x than the block's have tables of their own: threads behind those that work for the block
 * multiply them meanwhile. */
#include "saddle_lanes_tables.h"

#define GROUPS (LANES / WIDTH)
#define TILES (N * N * N / TILE)
#define TILE_ROW ((TILE + 3) / 4 * 4)
#define PLAIN_SIZE (TILES * CUBE * TILE_ROW) /* numbers, where all directions are split */
#define AHEAD (TILE < 8 && N1 < 5 ? N1 : 1)  /* rows of columns whose loads are under way together */

/* Rows of sums and of differences of a parity block, their tiles, and their tasks, which begin with a warp. */
#define SUMS (N1 * N1 * (N1 + 1) / 2)
#define DIFFERENCES (CUBE - SUMS)
#define SUM_TILES (SUMS / TILE)
#define DIFFERENCE_TILES (DIFFERENCES / TILE)
/* numbers of one of four types */
#define SWAPPED_SIZE ((SUM_TILES * SUMS + DIFFERENCE_TILES * DIFFERENCES) * TILE_ROW)
#define SUM_TASKS (8 * SUM_TILES * GROUPS)
#define SUM_WARPS ((SUM_TASKS + 31) / 32 * 32)
#define SWAPPED_TASKS (SUM_WARPS + 8 * DIFFERENCE_TILES * GROUPS)

/* Threads from OTHERS on are for lanes of other kinds. */
#define PLAIN_TASKS (TILES * GROUPS)
#define OTHERS (((SWAPPED_TASKS > PLAIN_TASKS ? SWAPPED_TASKS : PLAIN_TASKS) + 31) / 32 * 32)
#define OTHER_LANES (THREADS > OTHERS ? (THREADS - OTHERS) / TILES : 0)

/* ---- all parity blocks ----------------------------------------------------------------------------------- */

/* A parity block: extents, and where its first number stands in q. */
typedef struct Parity {
  int extent[3], first, rows;
} Parity;

TESK_DEVICE Parity parity_of(const Place *p, const TeskLanesBlock *block, int number) {
  Parity b;
  b.rows = 1;
  b.first = 0;
  TESK_UNROLL
  for (int d = 0; d < 3; d++) {
    const int split = EVEN || p->even || block->split[d];
    b.extent[d] = split ? N1 : N;
    b.rows *= b.extent[d];
    if (split) {
      b.first += number % 2 * N1 * step_of(d);
      number /= 2;
    }
  }
  return b;
}

/* Number `row` of a block in q. */
TESK_DEVICE int place_of(const Parity *b, int row) {
  const int z = row % b->extent[2], y = row / b->extent[2] % b->extent[1],
            x = row / b->extent[2] / b->extent[1];
  return b->first + x * SX + y * SY + z * SZ;
}

/* sum += a column of a tile times a number of WIDTH lanes. */
TESK_DEVICE void add_column(const real *A, const real *q, real sum[TILE][WIDTH]) {
  Four v[WIDTH / 4];
  TESK_UNROLL
  for (int g = 0; g < WIDTH / 4; g++) v[g] = ((const Four *)q)[g];
  TESK_UNROLL
  for (int r = 0; r < TILE_ROW; r += 4) {
    const Four a = *(const Four *)(A + r);
    TESK_UNROLL
    for (int e = 0; e < 4; e++) {
      TESK_UNROLL
      for (int l = 0; l < WIDTH; l++)
        if (r + e < TILE) sum[r + e][l] += a.v[e] * v[l / 4].v[l % 4];
    }
  }
}

/* The columns of a block, y and z by N1 at a time: their loads are under way together. */
TESK_DEVICE void add_columns(const Parity *b, const real *A, const real *Q, real sum[TILE][WIDTH]) {
  TESK_ROLL
  for (int x = 0; x < b->extent[0]; x++) {
    TESK_ROLL
    for (int y = 0; y < b->extent[1]; y += AHEAD) {
      const real *q = Q + (b->first + x * SX + y * SY) * LANES;
      TESK_ROLL
      for (int z = 0; z < b->extent[2]; z += N1) {
        TESK_UNROLL
        for (int j = 0; j < AHEAD * N1; j++)
          add_column(A + (j / N1 * b->extent[2] + z + j % N1) * TILE_ROW,
                     q + (j / N1 * SY + z + j % N1) * LANES, sum);
      }
      A += AHEAD * b->extent[2] * TILE_ROW;
    }
  }
}

/* ---- sums and differences ---------------------------------------------------------------------------------- */

/* Numbers of a pair to their sum and difference: before the product, and after it back. */
TESK_DEVICE void swap_pairs(const Place *p, const int *pairs, real *Q) {
  if (p->x) return; /* lanes of other kinds */
  for (int t = p->task; t < 8 * DIFFERENCES; t += TASKS) {
    const int pair = TESK_READ(pairs + t);
    real *const low = Q + (pair & 0xffff) * LANES + p->lane, *const high = Q + (pair >> 16) * LANES + p->lane;
    const real a = *low, b = *high;
    *low = a + b;
    *high = a - b;
  }
}

/* The columns of sums, or of differences. si: the step of the direction that is unlike. */
TESK_DEVICE void add_swapped(const real *A, const real *q, int si, int sa, int sb, int sums,
                             real sum[TILE][WIDTH]) {
  TESK_ROLL
  for (int i = 0; i < N1; i++, q += si * LANES) {
    TESK_UNROLL
    for (int a = 0; a < N1; a++) {
      TESK_UNROLL
      for (int b = sums ? a : a + 1; b < N1; b++) {
        add_column(A, q + (sums ? a * sa + b * sb : b * sa + a * sb) * LANES, sum);
        A += TILE_ROW;
      }
    }
  }
}

/* A thread's tile of them: its block's number, and the first of its rows in the list of a block's. */
typedef struct Swapped {
  int sums, tile, number, row;
} Swapped;

TESK_DEVICE Swapped swapped_of(int tid) {
  const int sums = tid < SUM_WARPS, tiles = sums ? SUM_TILES : DIFFERENCE_TILES,
            group = (sums ? tid : tid - SUM_WARPS) / GROUPS, tile = group % tiles;
  const Swapped w = {sums, tile, group / tiles, (sums ? 0 : SUMS) + tile * TILE};
  return w;
}

TESK_DEVICE void multiply_swapped(const real *A, const Swapped *w, const real *Q, real sum[TILE][WIDTH]) {
  const int x = w->number & 1, y = w->number >> 1 & 1, z = w->number >> 2, odd = x + y + z;
  /* by one bit: the direction whose parity the others do not have */
  const int unlike = odd == 1 ? w->number : odd == 2 ? 7 - w->number : 1;
  const int si = step_of(unlike / 2), sa = step_of(unlike == 4 ? 0 : unlike / 2 + 1),
            sb = step_of(unlike == 1 ? 2 : unlike / 2 - 1);
  const real *const q = Q + N1 * (x * SX + y * SY + z * SZ) * LANES;
  A += odd * SWAPPED_SIZE + (w->sums ? w->tile * SUMS : SUM_TILES * SUMS + w->tile * DIFFERENCES) * TILE_ROW;
  if (w->sums)
    add_swapped(A, q, si, sa, sb, 1, sum);
  else
    add_swapped(A, q, si, sa, sb, 0, sum);
}

/* ---- lanes of other kinds ---------------------------------------------------------------------------------- */

/* A thread's tile of a lane of another kind of x. */
typedef struct Other {
  int busy, lane, tile;
  Parity parity;
  real sum[TILE];
} Other;

/* The thread's tile among those of the lanes from number `first` on. */
TESK_DEVICE void multiply_other(const Place *p, const TeskLanesBlock *block, int first, int thread, int lanes,
                                const real *Q, Other *o) {
  const int tile = thread % TILES, group = thread / TILES;
  o->busy = thread >= 0 && group < lanes && first + group < block->lanes;
  TESK_UNROLL
  for (int r = 0; r < TILE; r++) o->sum[r] = 0;
  if (!o->busy) return;
  o->lane = block->lane[first + group];
  o->parity = parity_of(p, block, 0);
  const int rows = o->parity.rows;
  o->tile = tile % (rows / TILE);
  o->parity = parity_of(p, block, tile / (rows / TILE));
  const Parity *const b = &o->parity;
  const real *A = (const real *)block->inverse[p->lanes[TESK_LANES_KIND * LANES + o->lane]] +
                  (long long)tile * rows * TILE_ROW;
  TESK_GLOBAL(A);
  TESK_ROLL
  for (int x = 0; x < b->extent[0]; x++) {
    TESK_ROLL
    for (int y = 0; y < b->extent[1]; y += AHEAD) {
      TESK_UNROLL
      for (int j = 0; j < AHEAD * N1; j++) { /* the loads are under way together */
        const real v = Q[(b->first + x * SX + (y + j / N1) * SY + j % N1 * SZ) * LANES + o->lane];
        TESK_UNROLL
        for (int r = 0; r < TILE_ROW; r += 4) {
          const Four a = *(const Four *)(A + j * TILE_ROW + r);
          TESK_UNROLL
          for (int e = 0; e < 4; e++)
            if (r + e < TILE) o->sum[r + e] += a.v[e] * v;
        }
      }
      A += AHEAD * N1 * TILE_ROW;
    }
  }
}

TESK_DEVICE void write_other(const Other *o, real *Q) {
  TESK_UNROLL
  for (int r = 0; r < TILE; r++)
    if (o->busy) Q[place_of(&o->parity, o->tile * TILE + r) * LANES + o->lane] = o->sum[r];
}

/* ---- the product ------------------------------------------------------------------------------------------- */

/* A thread's rows of the block's S^+, and where they stand in q. */
typedef struct Rows {
  int busy, place[TILE];
  real sum[TILE][WIDTH];
} Rows;

/* Of S^+ in halves; Q: at the first of the thread's lanes. */
TESK_DEVICE void multiply_halves(const TeskLanes *s, const real *A, int tid, const real *Q, Rows *rows) {
  const Swapped w = swapped_of(tid);
  rows->busy = tid < SUM_TASKS || (tid >= SUM_WARPS && tid < SWAPPED_TASKS);
  if (!rows->busy) return;
  multiply_swapped(A, &w, Q, rows->sum);
  TESK_UNROLL
  for (int r = 0; r < TILE; r++) rows->place[r] = TESK_READ(s->rows + w.number * CUBE + w.row + r);
}

/* Of S^+ by parity. */
TESK_DEVICE void multiply_parities(const Place *p, const TeskLanesBlock *block, const real *A, int tid,
                                   const real *Q, Rows *rows) {
  Parity b = parity_of(p, block, 0);
  const int tile = tid / GROUPS, tiles = b.rows / TILE;
  rows->busy = tile < TILES;
  if (!rows->busy) return;
  A += (long long)tile * b.rows * TILE_ROW;
  b = parity_of(p, block, tile / tiles);
  add_columns(&b, A, Q, rows->sum);
  TESK_UNROLL
  for (int r = 0; r < TILE; r++) rows->place[r] = place_of(&b, tile % tiles * TILE + r);
}

/* The thread's rows of the lanes that are of the block's kind. */
TESK_DEVICE void write_rows(const Place *p, const Rows *rows, int first, int others, real *Q) {
  TESK_UNROLL
  for (int l = 0; l < WIDTH; l++) {
    if (!rows->busy || (others && p->lanes[TESK_LANES_KIND * LANES + first + l])) continue;
    TESK_UNROLL
    for (int r = 0; r < TILE; r++) Q[rows->place[r] * LANES + first + l] = rows->sum[r][l];
  }
}

/* Q <- S^+ Q; A: S^+ of the block. */
TESK_DEVICE void multiply_inverse(const Place *p, const TeskLanes *s, const TeskLanesBlock *block,
                                  const real *A, real *Q) {
  const int swapped = EVEN && (p->one || block->swapped), others = EVEN && !p->one ? block->lanes : 0;
  const int tid = (int)threadIdx.x, first = tid % GROUPS * WIDTH;
  if (!HELD && N1 != 4) TESK_GLOBAL(A); /* n = 4: more loads under way would spill registers */
  Rows rows;
  Other o;
  TESK_UNROLL
  for (int r = 0; r < TILE; r++) {
    TESK_UNROLL
    for (int l = 0; l < WIDTH; l++) rows.sum[r][l] = 0;
  }
  o.busy = 0;
  if (swapped) {
    swap_pairs(p, s->pairs, Q);
    __syncthreads();
    multiply_halves(s, A, tid, Q + first, &rows);
  } else {
    multiply_parities(p, block, A, tid, Q + first, &rows);
  }
  if (others && OTHER_LANES > 0) multiply_other(p, block, 0, tid - OTHERS, OTHER_LANES, Q, &o);
  __syncthreads();
  write_rows(p, &rows, first, others, Q);
  if (others) write_other(&o, Q);
  __syncthreads();
  if (swapped) {
    swap_pairs(p, s->pairs, Q);
    __syncthreads();
  }
  for (int next = OTHER_LANES; next < others; next += THREADS / TILES) {
    multiply_other(p, block, next, tid, THREADS / TILES, Q, &o);
    __syncthreads();
    write_other(&o, Q);
    __syncthreads();
  }
}
