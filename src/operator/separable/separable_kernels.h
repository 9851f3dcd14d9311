/* The three contractions of the separable operator (formulas: separable.h), for the *_simd.c files. Each is an inline
 * body with the degree as an argument, and is called with literal degrees 1..10.
 * A vector holds LANES rows in x_cells, LANES consecutive nodes of a row in y_cell and last_cell. */
#ifndef TESI_SEPARABLE_KERNELS_H
#define TESI_SEPARABLE_KERNELS_H

#include "basis/gauss.h"
#include "operator/separable/separable.h"
#include "tensor/simd_real.h"

enum { N = TESI_MAX_DEGREE + 1 };

/* Runs over cells along x: u[cells k + 1] -> t, s[cells k]. carry: t and s of the node after the last. */
typedef void (*XCells)(int k, int cells, const Real *record, ptrdiff_t stride, const Real *dot, const V *u,
                       V *t, V *s, V carry[2]);
/* One row of cells: t, s [k+1][pitch] -> U, W [k][out_pitch]; carries as above, [vectors]. */
typedef void (*YCell)(int k, const Real *record, const Real *dot, int vectors, const Real *t, const Real *s,
                      ptrdiff_t pitch, Real *U, Real *W, ptrdiff_t out_pitch, Real *carry_U, Real *carry_W);
/* The last direction: U, W [k+1][pitch] -> out[k][out_pitch] = scale_row * scale[] * (K U + M W). */
typedef void (*LastCell)(int k, const Real *record, const Real *dot, int vectors, const Real *U,
                         const Real *W, ptrdiff_t pitch, Real *out, ptrdiff_t out_pitch, Real *carry,
                         const Real *scale, Real scale_row);

typedef struct Kernels {
  XCells x_cells;
  YCell y_cell;
  LastCell last_cell;
} Kernels;

#define BODY(name) name##_literal
#define UNROLL TESI_UNROLL
#include "operator/separable/separable_body.h"
#undef BODY
#undef UNROLL
#define BODY(name) name##_sized
#define UNROLL
#include "operator/separable/separable_body.h"
#undef BODY
#undef UNROLL

/* Literal degrees. */
#define DEGREE(D)                                                                                            \
  static void x_cells_##D(int k, int cells, const Real *record, ptrdiff_t stride, const Real *dot,           \
                          const V *u, V *t, V *s, V carry[2]) {                                              \
    (void)k;                                                                                                 \
    x_cells_literal(D, cells, record, stride, dot, u, t, s, carry);                                          \
  }                                                                                                          \
  static void y_cell_##D(int k, const Real *record, const Real *dot, int vectors, const Real *t,             \
                         const Real *s, ptrdiff_t pitch, Real *U, Real *W, ptrdiff_t out_pitch,              \
                         Real *carry_U, Real *carry_W) {                                                     \
    (void)k;                                                                                                 \
    y_cell_literal(D, record, dot, vectors, t, s, pitch, U, W, out_pitch, carry_U, carry_W);                 \
  }                                                                                                          \
  static void last_cell_##D(int k, const Real *record, const Real *dot, int vectors, const Real *U,          \
                            const Real *W, ptrdiff_t pitch, Real *out, ptrdiff_t out_pitch, Real *carry,     \
                            const Real *scale, Real scale_row) {                                             \
    (void)k;                                                                                                 \
    last_cell_literal(D, record, dot, vectors, U, W, pitch, out, out_pitch, carry, scale, scale_row);        \
  }
TESI_EACH_DEGREE(DEGREE)
#undef DEGREE

static void x_cells_any(int k, int cells, const Real *record, ptrdiff_t stride, const Real *dot, const V *u,
                        V *t, V *s, V carry[2]) {
  if (k < 1) return; /* tells the compiler */
  x_cells_sized(k, cells, record, stride, dot, u, t, s, carry);
}
static void y_cell_any(int k, const Real *record, const Real *dot, int vectors, const Real *t, const Real *s,
                       ptrdiff_t pitch, Real *U, Real *W, ptrdiff_t out_pitch, Real *carry_U, Real *carry_W) {
  if (k < 1) return;
  y_cell_sized(k, record, dot, vectors, t, s, pitch, U, W, out_pitch, carry_U, carry_W);
}
static void last_cell_any(int k, const Real *record, const Real *dot, int vectors, const Real *U,
                          const Real *W, ptrdiff_t pitch, Real *out, ptrdiff_t out_pitch, Real *carry,
                          const Real *scale, Real scale_row) {
  if (k < 1) return;
  last_cell_sized(k, record, dot, vectors, U, W, pitch, out, out_pitch, carry, scale, scale_row);
}

#define DEGREE(D) {x_cells_##D, y_cell_##D, last_cell_##D},
/* By degree; entry 0 is the version for any degree. */
static const Kernels kernels[TESI_DEGREES + 1] = {DEGREE(any) TESI_EACH_DEGREE(DEGREE)};
#undef DEGREE

#endif
