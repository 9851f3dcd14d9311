/* Loads a row of nodes of LANES consecutive cells into registers and stores it: u[i][lane] = p[lane * k + i], i =
 * 0..k. Runs of up to four numbers per lane are loaded and transposed in registers; k is a literal. */
#ifndef TESI_QUADRATURE_ROWS_H
#define TESI_QUADRATURE_ROWS_H

#include "operator/quadrature/quadrature.h"
#include "tensor/simd_real.h"

#ifdef TESI_REAL_SINGLE
#define SHUFFLE TESI_SHUFFLE_F
#define BLOCK 4 /* numbers in 128 bits */
#else
#define SHUFFLE TESI_SHUFFLE_D
#define BLOCK 2
#endif
#define LANE_COUNT (TESI_SIMD_BITS / 64 * BLOCK / 2)

/* Lane lists of a two-vector shuffle. */
#define NEXT(l) ((l) + 1)
#define NEXT_OR_LAST(l) ((l) < LANE_COUNT - 1 ? (l) + 1 : 2 * LANE_COUNT - 1)
#define PREVIOUS(l) ((l) ? (l)-1 : LANE_COUNT)
#define UNZIP_EVEN(l) (2 * (l))
#define UNZIP_ODD(l) (2 * (l) + 1)
#define ZIP(l, H) ((l) / 2 + (H)*LANE_COUNT / 2 + ((l) % 2 ? LANE_COUNT : 0))
#define ZIP_LOW(l) ZIP(l, 0)
#define ZIP_HIGH(l) ZIP(l, 1)
#define LOW(l) TESI_UNPACK(LANE_COUNT, BLOCK, 0, l)
#define HIGH(l) TESI_UNPACK(LANE_COUNT, BLOCK, 1, l)

/* The start of the run of lane l: offset[l], or l k if offset is NULL. */
#define LANE_AT(l) (offset ? (int64_t)offset[l] : (int64_t)(l)*k)

#if LANE_COUNT == 2

enum { RUN = 2 };

/* c[i][lane] = p[lane * k + i] for i = 0, 1; and back. */
TESI_INLINE void load_runs(int k, const int32_t *offset, const Real *p, V c[RUN]) {
  const V a = load(p + LANE_AT(0)), b = load(p + LANE_AT(1));
  c[0] = SHUFFLE(a, b, LOW), c[1] = SHUFFLE(a, b, HIGH);
}

TESI_INLINE void store_runs(int k, const int32_t *offset, const V c[RUN], Real *p) {
  store(p + LANE_AT(0), SHUFFLE(c[0], c[1], LOW));
  store(p + LANE_AT(1), SHUFFLE(c[0], c[1], HIGH));
}

#else

enum { RUN = 4 };
typedef Real Run __attribute__((vector_size(4 * sizeof(Real)), may_alias));
typedef Real RunAnywhere __attribute__((vector_size(4 * sizeof(Real)), may_alias, aligned(sizeof(Real))));

/* The vector of the runs of lanes l, l + step, ... at p; and the reverse. */
TESI_INLINE V join_runs(int k, const int32_t *offset, const Real *p, int l, int step) {
#define AT(i) (*(const RunAnywhere *)(p + LANE_AT(l + (i)*step)))
#if LANE_COUNT == 4
  (void)step;
  return AT(0);
#else
  typedef Real Pair __attribute__((vector_size(8 * sizeof(Real)), may_alias));
  const Pair low = __builtin_shufflevector(AT(0), AT(1), 0, 1, 2, 3, 4, 5, 6, 7);
#if LANE_COUNT == 8
  return low;
#else
  const Pair high = __builtin_shufflevector(AT(2), AT(3), 0, 1, 2, 3, 4, 5, 6, 7);
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#endif
#endif
#undef AT
}

TESI_INLINE void part_runs(int k, const int32_t *offset, V v, Real *p, int l, int step) {
#define AT(i) (*(RunAnywhere *)(p + LANE_AT(l + (i)*step)))
  AT(0) = __builtin_shufflevector(v, v, 0, 1, 2, 3);
#if LANE_COUNT >= 8
  AT(1) = __builtin_shufflevector(v, v, 4, 5, 6, 7);
#endif
#if LANE_COUNT == 16
  AT(2) = __builtin_shufflevector(v, v, 8, 9, 10, 11);
  AT(3) = __builtin_shufflevector(v, v, 12, 13, 14, 15);
#endif
  (void)step;
#undef AT
}

#ifdef TESI_REAL_SINGLE

/* A run is a block of 128 bits: transposes of 4 x 4 inside the blocks. */
TESI_INLINE void transpose_runs(V c[RUN]) {
  const V a = SHUFFLE(c[0], c[2], LOW), b = SHUFFLE(c[1], c[3], LOW);
  const V d = SHUFFLE(c[0], c[2], HIGH), e = SHUFFLE(c[1], c[3], HIGH);
  c[0] = SHUFFLE(a, b, LOW), c[1] = SHUFFLE(a, b, HIGH);
  c[2] = SHUFFLE(d, e, LOW), c[3] = SHUFFLE(d, e, HIGH);
}

TESI_INLINE void load_runs(int k, const int32_t *offset, const Real *p, V c[RUN]) {
  TESI_UNROLL for (int l = 0; l < RUN; l++) c[l] = join_runs(k, offset, p, l, 4);
  transpose_runs(c);
}

TESI_INLINE void store_runs(int k, const int32_t *offset, const V c[RUN], Real *p) {
  V v[RUN] = {c[0], c[1], c[2], c[3]};
  transpose_runs(v);
  TESI_UNROLL for (int l = 0; l < RUN; l++) part_runs(k, offset, v[l], p, l, 4);
}

#else

#define BLOCKS_EVEN(l) TESI_BLOCKS(LANE_COUNT, BLOCK, 0, l)
#define BLOCKS_ODD(l) TESI_BLOCKS(LANE_COUNT, BLOCK, 1, l)
/* The lower or the upper halves (blocks of 128 bits) of two vectors, alternating. */
#define BLOCKS_ZIP(l, H) ((l) / 4 * 2 + (l) % 2 + (H)*LANE_COUNT / 2 + ((l) / 2 % 2 ? LANE_COUNT : 0))
#define BLOCKS_LOW(l) BLOCKS_ZIP(l, 0)
#define BLOCKS_HIGH(l) BLOCKS_ZIP(l, 1)

/* A run is two blocks of 128 bits: numbers inside the blocks first, then the blocks. 512 bits hold the runs of two
 * lanes. */
TESI_INLINE void load_runs(int k, const int32_t *offset, const Real *p, V c[RUN]) {
  enum { H = LANE_COUNT / 2 };
  const V a = join_runs(k, offset, p, 0, 2), b = join_runs(k, offset, p, 1, 2);
  const V d = join_runs(k, offset, p, H, 2), e = join_runs(k, offset, p, H + 1, 2);
  const V ab = SHUFFLE(a, b, LOW), de = SHUFFLE(d, e, LOW);
  c[0] = SHUFFLE(ab, de, BLOCKS_EVEN), c[2] = SHUFFLE(ab, de, BLOCKS_ODD);
  const V ab1 = SHUFFLE(a, b, HIGH), de1 = SHUFFLE(d, e, HIGH);
  c[1] = SHUFFLE(ab1, de1, BLOCKS_EVEN), c[3] = SHUFFLE(ab1, de1, BLOCKS_ODD);
}

TESI_INLINE void store_runs(int k, const int32_t *offset, const V c[RUN], Real *p) {
  enum { H = LANE_COUNT / 2 };
  const V a = SHUFFLE(c[0], c[1], LOW), b = SHUFFLE(c[2], c[3], LOW);
  const V d = SHUFFLE(c[0], c[1], HIGH), e = SHUFFLE(c[2], c[3], HIGH);
  part_runs(k, offset, SHUFFLE(a, b, BLOCKS_LOW), p, 0, 2);
  part_runs(k, offset, SHUFFLE(d, e, BLOCKS_LOW), p, 1, 2);
  part_runs(k, offset, SHUFFLE(a, b, BLOCKS_HIGH), p, H, 2);
  part_runs(k, offset, SHUFFLE(d, e, BLOCKS_HIGH), p, H + 1, 2);
}

#endif
#endif

/* The places of the lanes of a batch of cells. The cells of a whole batch lie in one row of cells. A split batch lies
 * in two rows, or ends before its last lane. A scattered batch lies anywhere. */
typedef struct Batch {
  enum { WHOLE, SPLIT, SCATTERED } shape;
  int n, cx, cy, cz, count;        /* nodes of a cell; first cell and number of cells */
  int part;                        /* lanes in the first row */
  int64_t base, second;            /* node 0 of lane 0, and of the (missing) lane 0 of the second row */
  int64_t offset[TESI_QUAD_LANES]; /* of scattered batches */
  V scale_x, scale_y;              /* h_slow^2 / h^2 */
} Batch;

/* Lanes below `part` from a, the other lanes from b. */
#ifdef TESI_REAL_SINGLE
typedef int32_t LaneMask __attribute__((vector_size(TESI_SIMD_BYTES)));
#else
typedef int64_t LaneMask __attribute__((vector_size(TESI_SIMD_BYTES)));
#endif

TESI_INLINE LaneMask lanes_below(int part) {
  LaneMask mask;
  for (int l = 0; l < LANES; l++) mask[l] = l < part ? -1 : 0;
  return mask;
}

TESI_INLINE V blend(LaneMask mask, V a, V b) {
  return (V)(((LaneMask)a & mask) | ((LaneMask)b & ~mask));
}

TESI_INLINE void load_row(int k, const Real *p, V *u) {
  if (k == 1) {
    u[0] = load(p), u[1] = load(p + 1);
    return;
  }
  const V end = p[LANES * k] - (V){0};
  if (k < RUN - 1) { /* k = 2 */
    const V a = load(p), b = load(p + LANES);
    u[0] = SHUFFLE(a, b, UNZIP_EVEN), u[1] = SHUFFLE(a, b, UNZIP_ODD);
    u[2] = SHUFFLE(u[0], end, NEXT);
    return;
  }
  TESI_UNROLL for (int s = 0; s < k; s += RUN)
      load_runs(k, NULL, p + tesi_min(s, k + 1 - RUN), u + tesi_min(s, k + 1 - RUN));
  if (k % RUN == 0) u[k] = SHUFFLE(u[0], end, NEXT); /* the last node is the first of the next lane */
}

/* Adds p[i], i = 0..LANES k, with sums where lanes meet. Runs overlap, with equal numbers. */
TESI_INLINE void store_row(int k, const V *u, Real *p) {
  const V first = u[0] + SHUFFLE(u[k], (V){0}, PREVIOUS);
  p[LANES * k] = u[k][LANES - 1];
  if (k == 1) {
    store(p, first);
  } else if (k < RUN - 1) {
    store(p, SHUFFLE(first, u[1], ZIP_LOW));
    store(p + LANES, SHUFFLE(first, u[1], ZIP_HIGH));
  } else if (k < RUN) { /* k = 3: the fourth node is the first node of the next lane */
    const V c[4] = {first, u[1], u[2], SHUFFLE(first, u[k], NEXT_OR_LAST)};
    store_runs(k, NULL, c, p);
  } else {
    TESI_UNROLL for (int t = 0; t < k; t += RUN) {
      const int s = tesi_min(t, k - RUN);
      V c[RUN];
      TESI_UNROLL for (int i = 0; i < RUN; i++) c[i] = s + i ? u[s + i] : first;
      store_runs(k, NULL, c, p + s);
    }
  }
}

#endif
