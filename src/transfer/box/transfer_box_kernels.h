/* Lifting and lowering (formulas: transfer_box_plan.h), for the *_simd.c files: inline bodies with the degree as an
 * argument, called with literal degrees 1..10. A vector holds LANES rows in *_cells, LANES consecutive nodes of a
 * row in *_rows. */
#ifndef TESI_TRANSFER_BOX_KERNELS_H
#define TESI_TRANSFER_BOX_KERNELS_H

#include "basis/gauss.h"
#include "tensor/simd_real.h"
#include "transfer/box/transfer_box_plan.h"

enum { N = TESI_MAX_DEGREE + 1 };

/* Cells along x, u[cells k + 1] -> w[cells step + 1]. */
typedef void (*LiftCells)(int k, int cells, const Real *table, ptrdiff_t stride, const V *u, V *w);
/* v[cells step + 1] -> s[cells k + 1]; carry: the sum passed from cell to cell. The last s is complete at the end of
 * the line. */
typedef void (*LowerCells)(int k, int cells, const Real *table, ptrdiff_t stride, const V *v, V *s, V *carry);
/* One cell of y or z: rows first, middle[k-1][pitch], last -> out[step, one more at the end][out_pitch]. count: a
 * multiple of LANES. */
typedef void (*LiftRows)(int k, const Real *table, ptrdiff_t count, const Real *first, const Real *middle,
                         ptrdiff_t pitch, const Real *last, Real *out, ptrdiff_t out_pitch, bool end,
                         bool add);
/* from[step, one more at the end][pitch] -> out[k][out_pitch], and carry, read and written. */
typedef void (*LowerRows)(int k, const Real *table, ptrdiff_t count, const Real *from, ptrdiff_t pitch,
                          bool end, Real *out, ptrdiff_t out_pitch, Real *carry);

typedef struct Kernels {
  LiftCells lift_cells;
  LowerCells lower_cells;
  LiftRows lift_rows;
  LowerRows lower_rows;
} Kernels;

#define BODY(name) name##_literal
#define UNROLL TESI_UNROLL
#include "transfer/box/transfer_box_body.h"
#undef BODY
#undef UNROLL
#define BODY(name) name##_sized
#define UNROLL
#include "transfer/box/transfer_box_body.h"
#undef BODY
#undef UNROLL

/* The four functions of a kind: degree D, with the bodies named B. A degree below 1 is excluded for the compiler's
 * sake. */
#define FUNCTIONS(NAME, B, D, KIND)                                                                          \
  static void lift_cells_##NAME##_##KIND(int k, int cells, const Real *table, ptrdiff_t stride, const V *u,  \
                                         V *w) {                                                             \
    if (k >= 1) lift_cells_##B(D, KIND, cells, table, stride, u, w);                                         \
  }                                                                                                          \
  static void lower_cells_##NAME##_##KIND(int k, int cells, const Real *table, ptrdiff_t stride, const V *v, \
                                          V *s, V *carry) {                                                  \
    if (k >= 1) lower_cells_##B(D, KIND, cells, table, stride, v, s, carry);                                 \
  }                                                                                                          \
  static void lift_rows_##NAME##_##KIND(int k, const Real *table, ptrdiff_t count, const Real *first,        \
                                        const Real *middle, ptrdiff_t pitch, const Real *last, Real *out,    \
                                        ptrdiff_t out_pitch, bool end, bool add) {                           \
    if (k >= 1) lift_rows_##B(D, KIND, table, count, first, middle, pitch, last, out, out_pitch, end, add);  \
  }                                                                                                          \
  static void lower_rows_##NAME##_##KIND(int k, const Real *table, ptrdiff_t count, const Real *from,        \
                                         ptrdiff_t pitch, bool end, Real *out, ptrdiff_t out_pitch,          \
                                         Real *carry) {                                                      \
    if (k >= 1) lower_rows_##B(D, KIND, table, count, from, pitch, end, out, out_pitch, carry);              \
  }
#define MIRRORED(D) FUNCTIONS(D, literal, D, TESI_MIRRORED)
#define GENERAL(D) FUNCTIONS(D, literal, D, TESI_GENERAL)
TESI_EACH_DEGREE(MIRRORED)
TESI_EACH_DEGREE(GENERAL)
FUNCTIONS(any, sized, k, TESI_MIRRORED)
FUNCTIONS(any, sized, k, TESI_GENERAL)
FUNCTIONS(any, sized, k, TESI_IDENTITY)
FUNCTIONS(any, sized, k, TESI_THREE)
#undef MIRRORED
#undef GENERAL
#undef FUNCTIONS

#define ENTRY(D, KIND)                                                                                       \
  {lift_cells_##D##_##KIND, lower_cells_##D##_##KIND, lift_rows_##D##_##KIND, lower_rows_##D##_##KIND},
#define MIRRORED(D) ENTRY(D, TESI_MIRRORED)
#define GENERAL(D) ENTRY(D, TESI_GENERAL)
/* By kind and degree; the first of a kind is the fallback. */
static const Kernels kernels[4][TESI_DEGREES + 1] = {
    {ENTRY(any, TESI_IDENTITY)},
    {ENTRY(any, TESI_MIRRORED) TESI_EACH_DEGREE(MIRRORED)},
    {ENTRY(any, TESI_GENERAL) TESI_EACH_DEGREE(GENERAL)},
    {ENTRY(any, TESI_THREE)},
};
#undef ENTRY
#undef MIRRORED
#undef GENERAL

static const Kernels *kernels_of(TesiEmbeddingKind kind, int degree) {
  const bool literal = (kind == TESI_MIRRORED || kind == TESI_GENERAL) && degree <= TESI_DEGREES;
  return &kernels[kind][literal ? degree : 0];
}

/* The functions and the table for one coarse cell of an axis. */
typedef struct Cell {
  const Kernels *kernels;
  const Real *table;
  int step;
} Cell;

static Cell cell_of(const TesiTransferAxis *axis, int cell) {
  if (cell >= axis->alike)
    return (Cell){kernels_of(axis->last_kind, axis->degree), axis->last_table, axis->last_step};
  return (Cell){kernels_of(axis->kind, axis->degree), (const Real *)axis->tables + cell * axis->stride,
                axis->step};
}

/* Fine nodes of the cells first .. last, without the end of the last cell. */
static int steps_of(const TesiTransferAxis *axis, int first, int last) {
  return (last - first) * axis->step +
         (last == axis->cells && last > first ? axis->last_step - axis->step : 0);
}

#endif
