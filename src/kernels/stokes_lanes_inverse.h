/* The product with S^+ of stokes_lanes.cu, included with its macros: each thread a tile of rows of WIDTH lanes, in
 * registers.
 *
 * S^+ consists of parity blocks. In patches of cubes with the same tables in all directions, two of the three
 * directions of a block, a and b, have equal parities, and S^+ commutes with their swap. So the sums and the
 * differences of the numbers (i, a, b) and (i, b, a) have one table each, which halves the products. There are only
 * four such blocks, whose tables stay in the L1 cache. A thread forms sums and differences when it reads, and has the
 * rows of both of its numbers. Where these rows do not fit (TOGETHER), sums are stored at (i, a, b) and differences
 * at (i, b, a) during the product.
 *
 * Lanes whose kind of x is not the block's have their own tables: the threads after the block's own tasks multiply
 * them at the same time. */
#include "stokes_lanes_tables.h"

#define GROUPS (LANES / WIDTH)
#define ROW_OF(tile) (((tile) + 3) / 4 * 4)
#define TILE_ROW ROW_OF(TILE)

/* Rows of a parity block with a = b, and with a < b; their tiles and tasks: first tasks with differences, then, in
 * new warps, tasks of sums alone. */
#define TOGETHER TESK_LANES_TOGETHER(N1)
#define ALIKE (N1 * N1)
#define PAIRS (N1 * N1 * (N1 - 1) / 2)
#define SUMS (ALIKE + PAIRS) /* columns; differences have PAIRS */
#define PAIR_TILES (PAIRS / TILE)
#define SUM_TILES ((TOGETHER ? ALIKE : SUMS) / TILE)
#define PAIR_COLUMNS (TOGETHER ? CUBE : PAIRS)
/* numbers of one of four types: tiles of sums, then of pairs */
#define SWAPPED_SIZE ((SUM_TILES * SUMS + PAIR_TILES * PAIR_COLUMNS) * TILE_ROW)
#define PAIR_TASKS (8 * PAIR_TILES * GROUPS)
#define PAIR_WARPS ((PAIR_TASKS + 31) / 32 * 32)
#define SWAPPED_TASKS (PAIR_WARPS + 8 * SUM_TILES * GROUPS)

/* Without swaps: PLAIN rows per tile. */
#define PLAIN_ROW ROW_OF(PLAIN)
#define PLAIN_TILES (N * N * N / PLAIN)
#define PLAIN_SIZE (PLAIN_TILES * CUBE * PLAIN_ROW) /* numbers, where all directions are split */
#define PLAIN_TASKS (PLAIN_TILES * GROUPS)
#define AHEAD (PLAIN < 8 && N1 < 5 ? N1 : 1) /* columns whose loads are under way together */

/* Threads from OTHERS on work for lanes of other kinds. */
#define OTHERS (((SWAPPED_TASKS > PLAIN_TASKS ? SWAPPED_TASKS : PLAIN_TASKS) + 31) / 32 * 32)
#define OTHER_LANES (THREADS > OTHERS ? (THREADS - OTHERS) / PLAIN_TILES : 0)

#if PLAIN_TASKS > THREADS || SWAPPED_TASKS > THREADS
#error "each tile of S^+ needs a thread"
#endif
#if HELD && 4 * SWAPPED_SIZE > PLAIN_SIZE
#error "the shared memory of S^+ is that of a plain one"
#endif

/* ---- all parity blocks ----------------------------------------------------------------------------------- */

/* A parity block: its extents, and the place of its first number in q. */
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

/* The place of number `row` of a block in q. */
TESK_DEVICE int place_of(const Parity *b, int row) {
  const int z = row % b->extent[2], y = row / b->extent[2] % b->extent[1],
            x = row / b->extent[2] / b->extent[1];
  return b->first + x * SX + y * SY + z * SZ;
}

/* WIDTH lanes of a number. */
typedef struct Wide {
  Four of[WIDTH / 4];
} Wide;

/* sum[tile] += a column of a tile times a number. */
TESK_DEVICE void add_column(int tile, const real *A, const Wide *v, real (*sum)[WIDTH]) {
  TESK_UNROLL
  for (int r = 0; r < tile; r += 4) {
    const Four a = *(const Four *)(A + r);
    TESK_UNROLL
    for (int e = 0; e < 4; e++) {
      TESK_UNROLL
      for (int l = 0; l < WIDTH; l++)
        if (r + e < tile) sum[r + e][l] += a.v[e] * v->of[l / 4].v[l % 4];
    }
  }
}

/* The columns of a block, y and z by N1 at a time: their loads are under way together. */
TESK_DEVICE void add_columns(const Parity *b, const real *A, const real *Q, real (*sum)[WIDTH]) {
  TESK_ROLL
  for (int x = 0; x < b->extent[0]; x++) {
    TESK_ROLL
    for (int y = 0; y < b->extent[1]; y += AHEAD) {
      const real *q = Q + (b->first + x * SX + y * SY) * LANES;
      TESK_ROLL
      for (int z = 0; z < b->extent[2]; z += N1) {
        TESK_UNROLL
        for (int j = 0; j < AHEAD * N1; j++)
          add_column(PLAIN, A + (j / N1 * b->extent[2] + z + j % N1) * PLAIN_ROW,
                     (const Wide *)(q + (j / N1 * SY + z + j % N1) * LANES), sum);
      }
      A += AHEAD * b->extent[2] * PLAIN_ROW;
    }
  }
}

/* ---- sums and differences ---------------------------------------------------------------------------------- */

/* A thread's task: whether its tile consists of pairs, which tile of a parity block, which block. */
typedef struct Swapped {
  int busy, pairs, tile, number;
} Swapped;

TESK_DEVICE Swapped swapped_of(int tid) {
  const int pairs = tid < PAIR_WARPS, tiles = pairs ? PAIR_TILES : SUM_TILES,
            group = (pairs ? tid : tid - PAIR_WARPS) / GROUPS;
  const Swapped t = {pairs ? tid < PAIR_TASKS : tid < SWAPPED_TASKS, pairs, group % tiles, group / tiles};
  return t;
}

/* The rows of the block's S^+ for a thread. */
typedef struct Rows {
  real sum[TILE][WIDTH], difference[TILE][WIDTH];
} Rows;

/* Numbers of a pair to their sum and difference, and back. */
TESK_DEVICE void swap_pairs(const Place *p, const int *places, real *Q) {
  if (p->x) return; /* lanes of other kinds */
  for (int t = p->task; t < 8 * PAIRS; t += TASKS) {
    const int pair = TESK_READ(places + t / PAIRS * SUMS + ALIKE + t % PAIRS);
    real *const low = Q + (pair & 0xffff) * LANES + p->lane, *const high = Q + (pair >> 16) * LANES + p->lane;
    const real a = *low, b = *high;
    *low = a + b;
    *high = a - b;
  }
}

/* The columns, TOGETHER: of sums, and for pairs also of differences. si: the step of the direction with the other
 * parity. */
TESK_DEVICE void add_together(const real *A, const real *q, int si, int sa, int sb, int pairs, Rows *rows) {
  TESK_ROLL
  for (int i = 0; i < N1; i++, q += si * LANES) {
    TESK_UNROLL
    for (int a = 0; a < N1; a++) {
      TESK_UNROLL
      for (int b = a; b < N1; b++) {
        Wide sum = *(const Wide *)(q + (a * sa + b * sb) * LANES), difference = sum;
        if (b > a) {
          const Wide other = *(const Wide *)(q + (b * sa + a * sb) * LANES);
          TESK_UNROLL
          for (int l = 0; l < WIDTH; l++) {
            sum.of[l / 4].v[l % 4] += other.of[l / 4].v[l % 4];
            difference.of[l / 4].v[l % 4] -= other.of[l / 4].v[l % 4];
          }
        }
        add_column(TILE, A, &sum, rows->sum);
        A += TILE_ROW;
        if (pairs && b > a) {
          add_column(TILE, A, &difference, rows->difference);
          A += TILE_ROW;
        }
      }
    }
  }
}

/* The columns of sums, or of differences. */
TESK_DEVICE void add_apart(const real *A, const real *q, int si, int sa, int sb, int pairs, Rows *rows) {
  TESK_ROLL
  for (int i = 0; i < N1; i++, q += si * LANES) {
    TESK_UNROLL
    for (int a = 0; a < N1; a++) {
      TESK_UNROLL
      for (int b = pairs ? a + 1 : a; b < N1; b++) {
        add_column(TILE, A, (const Wide *)(q + (pairs ? b * sa + a * sb : a * sa + b * sb) * LANES),
                   rows->sum);
        A += TILE_ROW;
      }
    }
  }
}

TESK_DEVICE void add_swapped(const real *A, const real *q, int si, int sa, int sb, int pairs, Rows *rows) {
  if (TOGETHER)
    add_together(A, q, si, sa, sb, pairs, rows);
  else
    add_apart(A, q, si, sa, sb, pairs, rows);
}

/* Q: at the first of the thread's lanes. */
TESK_DEVICE void multiply_swapped(const real *A, const Swapped *t, const real *Q, Rows *rows) {
  const int number = t->number, x = number & 1, y = number >> 1 & 1, z = number >> 2, odd = x + y + z;
  /* the direction whose parity differs from the parity of the others, as one bit */
  const int unlike = odd == 1 ? number : odd == 2 ? 7 - number : 1;
  const int si = step_of(unlike / 2), sa = step_of(unlike == 4 ? 0 : unlike / 2 + 1),
            sb = step_of(unlike == 1 ? 2 : unlike / 2 - 1);
  if (!t->busy) return;
  TESK_UNROLL
  for (int r = 0; r < TILE; r++) {
    TESK_UNROLL
    for (int l = 0; l < WIDTH; l++) rows->sum[r][l] = rows->difference[r][l] = 0;
  }
  Q += N1 * (x * SX + y * SY + z * SZ) * LANES;
  A += odd * SWAPPED_SIZE + (t->pairs ? SUM_TILES * SUMS + t->tile * PAIR_COLUMNS : t->tile * SUMS) * TILE_ROW;
  if (t->pairs)
    add_swapped(A, Q, si, sa, sb, 1, rows);
  else
    add_swapped(A, Q, si, sa, sb, 0, rows);
}

/* ---- lanes of other kinds ---------------------------------------------------------------------------------- */

/* A thread's tile of a lane of another kind of x. */
typedef struct Other {
  int busy, lane, tile;
  Parity parity;
  real sum[PLAIN];
} Other;

/* The thread's tile, counted from the first tile of lane `first`. */
TESK_DEVICE void multiply_other(const Place *p, const TeskLanesBlock *block, int first, int thread, int lanes,
                                const real *Q, Other *o) {
  const int tile = thread % PLAIN_TILES, group = thread / PLAIN_TILES;
  o->busy = thread >= 0 && group < lanes && first + group < block->lanes;
  TESK_UNROLL
  for (int r = 0; r < PLAIN; r++) o->sum[r] = 0;
  if (!o->busy) return;
  o->lane = block->lane[first + group];
  o->parity = parity_of(p, block, 0);
  const int rows = o->parity.rows;
  o->tile = tile % (rows / PLAIN);
  o->parity = parity_of(p, block, tile / (rows / PLAIN));
  const Parity *const b = &o->parity;
  const real *A = (const real *)block->inverse[p->lanes[TESK_LANES_KIND * LANES + o->lane]] +
                  (long long)tile * rows * PLAIN_ROW;
  TESK_GLOBAL(A);
  TESK_ROLL
  for (int x = 0; x < b->extent[0]; x++) {
    TESK_ROLL
    for (int y = 0; y < b->extent[1]; y += AHEAD) {
      TESK_UNROLL
      for (int j = 0; j < AHEAD * N1; j++) { /* the loads are under way together */
        const real v = Q[(b->first + x * SX + (y + j / N1) * SY + j % N1 * SZ) * LANES + o->lane];
        TESK_UNROLL
        for (int r = 0; r < PLAIN_ROW; r += 4) {
          const Four a = *(const Four *)(A + j * PLAIN_ROW + r);
          TESK_UNROLL
          for (int e = 0; e < 4; e++)
            if (r + e < PLAIN) o->sum[r + e] += a.v[e] * v;
        }
      }
      A += AHEAD * N1 * PLAIN_ROW;
    }
  }
}

TESK_DEVICE void write_other(const Other *o, real *Q) {
  TESK_UNROLL
  for (int r = 0; r < PLAIN; r++)
    if (o->busy) Q[place_of(&o->parity, o->tile * PLAIN + r) * LANES + o->lane] = o->sum[r];
}

/* ---- the product ------------------------------------------------------------------------------------------- */

/* A thread's rows of S^+ by parity. */
typedef struct Plain {
  int busy, tile;
  Parity parity;
  real sum[PLAIN][WIDTH];
} Plain;

TESK_DEVICE void multiply_parities(const Place *p, const TeskLanesBlock *block, const real *A, int tid,
                                   const real *Q, Plain *rows) {
  const int tile = tid / GROUPS, of_block = parity_of(p, block, 0).rows, tiles = of_block / PLAIN;
  rows->busy = tile < PLAIN_TILES;
  if (!rows->busy) return;
  TESK_UNROLL
  for (int r = 0; r < PLAIN; r++) {
    TESK_UNROLL
    for (int l = 0; l < WIDTH; l++) rows->sum[r][l] = 0;
  }
  rows->parity = parity_of(p, block, tile / tiles);
  rows->tile = tile % tiles;
  add_columns(&rows->parity, A + (long long)tile * of_block * PLAIN_ROW, Q, rows->sum);
}

/* Whether lane l is of the block's kind. */
TESK_DEVICE int is_own(const Place *p, int others, int l) {
  return !others || p->lanes[TESK_LANES_KIND * LANES + l] == 0;
}

/* places: (i, a, b) + 65536 (i, b, a), which are the same where a = b. */
TESK_DEVICE void write_swapped(const Place *p, const int *places, const Rows *rows, int first, int others,
                               real *Q) {
  const Swapped t = swapped_of((int)threadIdx.x);
  if (!t.busy) return;
  TESK_UNROLL
  for (int r = 0; r < TILE; r++) {
    const int place = TESK_READ(places + t.number * SUMS + (t.pairs ? ALIKE : 0) + t.tile * TILE + r);
    real *const low = Q + (place & 0xffff) * LANES + first, *const high = Q + (place >> 16) * LANES + first;
    TESK_UNROLL
    for (int l = 0; l < WIDTH; l++) {
      if (!is_own(p, others, first + l)) continue;
      if (!TOGETHER) {
        (t.pairs ? high : low)[l] = rows->sum[r][l];
      } else {
        low[l] = rows->sum[r][l] + rows->difference[r][l];
        if (t.pairs) high[l] = rows->sum[r][l] - rows->difference[r][l];
      }
    }
  }
}

TESK_DEVICE void write_plain(const Place *p, const Plain *rows, int first, int others, real *Q) {
  TESK_UNROLL
  for (int r = 0; r < PLAIN; r++) {
    if (!rows->busy) continue;
    real *const q = Q + place_of(&rows->parity, rows->tile * PLAIN + r) * LANES + first;
    TESK_UNROLL
    for (int l = 0; l < WIDTH; l++)
      if (is_own(p, others, first + l)) q[l] = rows->sum[r][l];
  }
}

/* Q <- S^+ Q; A: S^+ of the block. */
TESK_DEVICE void multiply_inverse(const Place *p, const TeskLanes *s, const TeskLanesBlock *block,
                                  const real *A, real *Q) {
  const int swapped = EVEN && (p->one || block->swapped), others = EVEN && !p->one ? block->lanes : 0;
  const int tid = (int)threadIdx.x, first = tid % GROUPS * WIDTH;
  if (!HELD && N1 != 4) TESK_GLOBAL(A); /* n = 4: more loads under way would spill registers */
  Rows rows;
  Plain plain;
  Other o;
  o.busy = 0;
  if (swapped && !TOGETHER) {
    swap_pairs(p, s->places, Q);
    __syncthreads();
  }
  if (swapped) {
    const Swapped t = swapped_of(tid);
    multiply_swapped(A, &t, Q + first, &rows);
  } else {
    multiply_parities(p, block, A, tid, Q + first, &plain);
  }
  if (others && OTHER_LANES > 0) multiply_other(p, block, 0, tid - OTHERS, OTHER_LANES, Q, &o);
  __syncthreads();
  if (swapped)
    write_swapped(p, s->places, &rows, first, others, Q);
  else
    write_plain(p, &plain, first, others, Q);
  if (others) write_other(&o, Q);
  __syncthreads();
  if (swapped && !TOGETHER) {
    swap_pairs(p, s->places, Q);
    __syncthreads();
  }
  for (int next = OTHER_LANES; next < others; next += THREADS / PLAIN_TILES) {
    multiply_other(p, block, next, tid, THREADS / PLAIN_TILES, Q, &o);
    __syncthreads();
    write_other(&o, Q);
    __syncthreads();
  }
}
