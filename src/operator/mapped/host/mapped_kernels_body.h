/* All kernels of one precision. Included by mapped_double_simd.c and mapped_float_simd.c, which choose the
 * precision. */
#include "operator/mapped/host/mapped_host.h"
#include "operator/quadrature/quadrature_rows.h"

enum {
  TESI_HANGING_LINE = 9,
  MAPPED_N = TESI_MAPPED_POINTS,
  PREFETCH = 4096 / TESI_SIMD_BYTES,
  MAPPED_ROWS = 9, /* sums that a general product keeps in registers: half of MAPPED_N */
  POLYNOMIALS = 27
};

#include "operator/mapped/host/mapped_gather_body.h"

/* The nodes of the next step, of x and of y, are prefetched in the order of memory during this step. As streams they
 * arrive twice as fast as row by row. Prefetches are spread over the work, so that they do not fill the queue to
 * memory. The factors of the next batch are prefetched too. */
typedef struct Ahead {
  const int32_t (*range)[2];
  int64_t line, end; /* position in the current range */
  int64_t rate, due; /* lines to prefetch each time, and the sum so far: in 2^-16 of a line */
  const char *x, *y;
  const char *factors; /* factors of the next batch: how far they have been prefetched */
  int lines;           /* of those, each time */
} Ahead;

TESI_INLINE void mapped_prefetch(Ahead *ahead) {
  for (int i = 0; i < ahead->lines; i++, ahead->factors += 64) __builtin_prefetch(ahead->factors, 0, 2);
  for (ahead->due += ahead->rate; ahead->due >= 1 << 16; ahead->due -= 1 << 16) {
    if (ahead->line == ahead->end) {
      ahead->range++;
      ahead->line = (*ahead->range)[0], ahead->end = (*ahead->range)[1];
    }
    __builtin_prefetch(ahead->x + 64 * ahead->line, 0, 2);
    __builtin_prefetch(ahead->y + 64 * ahead->line, 1, 2);
    ahead->line++;
  }
}

#define LINE(name) mapped_fixed_##name
#define LINE_UNROLL TESI_UNROLL
#define SPECIALISED 1
#include "operator/mapped/host/mapped_lines_body.h"
#include "operator/mapped/host/mapped_tensor_body.h"
#include "operator/mapped/host/mapped_points_body.h"
#include "operator/mapped/host/mapped_cells_body.h"
#include "operator/mapped/host/mapped_rows_body.h"
#include "operator/mapped/host/mapped_hang_body.h"
#undef LINE
#undef LINE_UNROLL
#undef SPECIALISED

#define LINE(name) mapped_any_##name
#define LINE_UNROLL
#define SPECIALISED 0
#define MAPPED_SECOND
#include "operator/mapped/host/mapped_lines_body.h"
#include "operator/mapped/host/mapped_tensor_body.h"
#include "operator/mapped/host/mapped_points_body.h"
#include "operator/mapped/host/mapped_cells_body.h"
#include "operator/mapped/host/mapped_rows_body.h"
#include "operator/mapped/host/mapped_hang_body.h"

/* The phases of a batch, one function each. Phases that depend only on n or only on q are shared. */
typedef struct Phases {
  void (*gather)(const TesiMappedHost *plan, const TesiMappedBatch *batch, int component, const Real *x, V *u);
  void (*scatter)(const TesiMappedHost *plan, const TesiMappedBatch *batch, int component, Real sign,
                  const Real *b, V *u, Real *y);
  /* interpolation of hanging nodes, or its transpose; W: work */
  void (*hang)(const TesiMappedHost *plan, const TesiMappedBatch *batch, bool transposed, V *u, V *W);
  void (*in)(const TesiMappedHost *plan, const V *u, V *values, V *plane);
  void (*out)(const TesiMappedHost *plan, const V *values, V *u, V *plane);
  void (*lines)(const TesiMappedHost *plan, V *values, V *d);
  void (*planes)(const TesiMappedHost *plan, Ahead *ahead, const V *g, const V *jacobian, V *values, V *d,
                 V *plane);
  void (*lines_out)(const TesiMappedHost *plan, V *values, const V *d);
  void (*mass)(const TesiMappedHost *plan, Ahead *ahead, const V *g, V *values);
  void (*matrix)(const TesiMappedHost *plan, const V *g, V *u);
} Phases;

/* For each y the polynomial jz.jz of x, [q][3], the middle coefficient halved. The column jz = m4 + y m6 + x (m5 + y
 * m7) of the trilinear map with monomials m[8][3] (bit 0 x, 1 y, 2 z) does not depend on z. */
static void mapped_slow_squares(int q, const Real *at, const V *m, V *zz) {
  for (int i = 0; i < q; i++, zz += 3) {
    V s[3], t[3];
    TESI_UNROLL for (int r = 0; r < 3; r++) {
      s[r] = m[12 + r] + at[i] * m[18 + r], t[r] = m[15 + r] + at[i] * m[21 + r];
    }
    zz[0] = dot3(s, s), zz[1] = dot3(s, t), zz[2] = dot3(t, t);
  }
}

/* Columns of the bilinear map: jx[slow], jz[x], each [2]. */
static void mapped_columns(int q, const Real *at, const V *m, V *jx, V *jz) {
  for (int i = 0; i < q; i++) TESI_UNROLL for (int r = 0; r < 2; r++) {
      jx[2 * i + r] = m[2 + r] + at[i] * m[6 + r];
      jz[2 * i + r] = m[4 + r] + at[i] * m[6 + r];
    }
}

static void mapped_geometry(const TesiMappedHost *plan, const V *g, V *to) {
  const int q = plan->q;
  if (plan->eliminates)
    mapped_slow_squares(q, plan->centred_1d, mapped_monomials(plan, g), to);
  else if (plan->factors == TES_FACTORS_VERTICES)
    mapped_columns(q, plan->points_1d, g, to, to + 2 * q);
}

static void mapped_cell(const TesiMappedHost *plan, const Phases *phase, Ahead *ahead, const V *g, V *u,
                        V *work) {
  const int q = plan->q;
  const bool interpolates = !plan->m->collocated;
  V *values = interpolates ? work : u, *d = interpolates ? u : work, *plane = work + plan->points,
    *jacobian = plane + q * q;
  if (plan->factors == TES_FACTORS_MATRIX) {
    mapped_prefetch(ahead);
    phase->matrix(plan, g, u);
    return;
  }
  if (interpolates) phase->in(plan, u, values, plane);
  if (plan->stiffness) {
    mapped_geometry(plan, g, jacobian);
    phase->lines(plan, values, d);
    phase->planes(plan, ahead, g, jacobian, values, d, plane);
    phase->lines_out(plan, values, d);
  } else {
    phase->mass(plan, ahead, g, values);
  }
  if (interpolates) phase->out(plan, values, u, plane);
}

/* A batch prefetches once per row of points. With cell matrices it prefetches once, and the matrices for itself. */
static Ahead mapped_ahead(const TesiMappedHost *plan, int64_t batches, const TesiMappedStep *next,
                          const void *x, const void *y) {
  const bool matrix = plan->factors == TES_FACTORS_MATRIX;
  const int64_t times = matrix ? 1 : plan->points / plan->q, size = plan->stride * (int64_t)sizeof(Real);
  Ahead ahead = {.lines = matrix ? 0 : (int)((size + 64 * times - 1) / (64 * times))};
  if (!next || !next->lines) return ahead;
  ahead.range = (const int32_t(*)[2])plan->ahead + next->ahead;
  ahead.line = (*ahead.range)[0], ahead.end = (*ahead.range)[1];
  ahead.rate = (next->lines << 16) / (batches * plan->components * times);
  ahead.x = x, ahead.y = y;
  return ahead;
}

static void mapped_run(const TesiMappedHost *plan, const TesiMappedStep *step, const TesiMappedStep *next,
                       double sign, const void *b, const void *x, void *y, void *work) {
  const Phases *phase = plan->kernels.phases;
  const int64_t batches = step->end - step->first;
  V *u = (V *)(((uintptr_t)work + 63) / 64 * 64),
    *rest = u + (plan->nodes > plan->points ? plan->nodes : plan->points);
  Ahead ahead = mapped_ahead(plan, batches, next, x, y);
  for (int64_t i = 0; i < batches; i++) {
    const TesiMappedBatch *batch = &plan->batch[step->first + i];
    const V *g = (const V *)((const Real *)plan->g + (step->first + i) * plan->stride);
    ahead.factors = (const char *)((const Real *)g + plan->stride);
    for (int c = 0; c < plan->components; c++) {
      phase->gather(plan, batch, c, x, u);
      if (batch->hanging >= 0) phase->hang(plan, batch, false, u, rest);
      mapped_cell(plan, phase, &ahead, g, u, rest);
      if (batch->hanging >= 0) phase->hang(plan, batch, true, u, rest);
      phase->scatter(plan, batch, c, (Real)sign, b, u, y);
    }
  }
}

#define GATHER_ARGUMENTS                                                                                     \
  const TesiMappedHost *plan, const TesiMappedBatch *batch, int component, const Real *x, V *u
#define SCATTER_ARGUMENTS                                                                                    \
  const TesiMappedHost *plan, const TesiMappedBatch *batch, int component, Real sign, const Real *b, V *u,   \
      Real *y
#define HANG_ARGUMENTS const TesiMappedHost *plan, const TesiMappedBatch *batch, bool transposed, V *u, V *W
#define IN_ARGUMENTS const TesiMappedHost *plan, const V *u, V *values, V *plane
#define OUT_ARGUMENTS const TesiMappedHost *plan, const V *values, V *u, V *plane
#define LINES_ARGUMENTS const TesiMappedHost *plan, V *values, V *d
#define LINES_OUT_ARGUMENTS const TesiMappedHost *plan, V *values, const V *d
#define PLANES_ARGUMENTS                                                                                     \
  const TesiMappedHost *plan, Ahead *ahead, const V *g, const V *jacobian, V *values, V *d, V *plane
#define MASS_ARGUMENTS const TesiMappedHost *plan, Ahead *ahead, const V *g, V *values
#define COUNT(dim, q) ((dim) == 3 ? (q) * (q) : (q))

static void mapped_any_phase_mass(MASS_ARGUMENTS);

#if TESI_DEGREES > 0

#define SPECIALISE_NODES(n)                                                                                  \
  static void mapped_gather_##n(GATHER_ARGUMENTS) {                                                          \
    mapped_fixed_gather(n, plan, batch, component, x, u);                                                    \
  }                                                                                                          \
  static void mapped_scatter_##n(SCATTER_ARGUMENTS) {                                                        \
    mapped_fixed_scatter(n, plan, batch, component, sign, b, u, y);                                          \
  }                                                                                                          \
  static void mapped_hang_##n(HANG_ARGUMENTS) {                                                              \
    mapped_fixed_hang(n, plan, batch, transposed, u, W);                                                     \
  }
#define SPECIALISE_POINTS(dim, q)                                                                            \
  static void mapped_planes_##dim##d_##q(PLANES_ARGUMENTS) {                                                 \
    mapped_fixed_planes(dim, q, plan, ahead, g, jacobian, values, d, plane);                                 \
  }
#define SPECIALISE_COLLOCATED(dim, q)                                                                        \
  static void mapped_lines_##dim##d_##q(LINES_ARGUMENTS) {                                                   \
    mapped_fixed_lines(q, q, COUNT(dim, q), false, plan->tables, values, d);                                 \
  }                                                                                                          \
  static void mapped_lines_out_##dim##d_##q(LINES_OUT_ARGUMENTS) {                                           \
    mapped_fixed_lines_out(q, q, COUNT(dim, q), false, plan->tables, values, d);                             \
  }
#define SPECIALISE_GAUSS(dim, n, q)                                                                          \
  static void mapped_in_##dim##d_##n(IN_ARGUMENTS) {                                                         \
    mapped_fixed_in(dim, n, q, plan->tables, u, values, plane);                                              \
  }                                                                                                          \
  static void mapped_out_##dim##d_##n(OUT_ARGUMENTS) {                                                       \
    mapped_fixed_out(dim, n, q, plan->tables, values, u, plane);                                             \
  }                                                                                                          \
  static void mapped_gauss_lines_##dim##d_##n(LINES_ARGUMENTS) {                                             \
    mapped_fixed_lines(n, q, COUNT(dim, q), true, plan->tables, values, d);                                  \
  }                                                                                                          \
  static void mapped_gauss_lines_out_##dim##d_##n(LINES_OUT_ARGUMENTS) {                                     \
    mapped_fixed_lines_out(n, q, COUNT(dim, q), true, plan->tables, values, d);                              \
  }                                                                                                          \
  static void mapped_mass_##dim##d_##n(MASS_ARGUMENTS) {                                                     \
    mapped_fixed_mass(dim, n, q, true, plan, ahead, g, values);                                              \
  }
/* The same with as many points as nodes. */
#define SPECIALISE_FEWER(dim, n)                                                                             \
  static void mapped_fewer_in_##dim##d_##n(IN_ARGUMENTS) {                                                   \
    mapped_fixed_in(dim, n, n, plan->tables, u, values, plane);                                              \
  }                                                                                                          \
  static void mapped_fewer_out_##dim##d_##n(OUT_ARGUMENTS) {                                                 \
    mapped_fixed_out(dim, n, n, plan->tables, values, u, plane);                                             \
  }                                                                                                          \
  static void mapped_fewer_lines_##dim##d_##n(LINES_ARGUMENTS) {                                             \
    mapped_fixed_lines(n, n, COUNT(dim, n), true, plan->tables, values, d);                                  \
  }                                                                                                          \
  static void mapped_fewer_lines_out_##dim##d_##n(LINES_OUT_ARGUMENTS) {                                     \
    mapped_fixed_lines_out(n, n, COUNT(dim, n), true, plan->tables, values, d);                              \
  }
#define SPECIALISE(n, q)                                                                                     \
  SPECIALISE_NODES(n)                                                                                        \
  SPECIALISE_FEWER(2, n)                                                                                     \
  SPECIALISE_FEWER(3, n)                                                                                     \
  SPECIALISE_COLLOCATED(2, n)                                                                                \
  SPECIALISE_COLLOCATED(3, n)                                                                                \
  SPECIALISE_POINTS(2, q) SPECIALISE_POINTS(3, q) SPECIALISE_GAUSS(2, n, q) SPECIALISE_GAUSS(3, n, q)

SPECIALISE_POINTS(2, 2)
SPECIALISE_POINTS(3, 2)
/* Nodes, and points of the Gauss rule, by degree. */
#define SIZES_1 2, 3
#define SIZES_2 3, 4
#define SIZES_3 4, 5
#define SIZES_4 5, 6
#define SIZES_5 6, 7
#define SIZES_6 7, 8
#define SIZES_7 8, 9
#define SIZES_8 9, 10
#define SPECIALISE_SIZES(...) SPECIALISE(__VA_ARGS__)
#define SPECIALISE_DEGREE(k) SPECIALISE_SIZES(SIZES_##k)
TESI_EACH_DEGREE_8(SPECIALISE_DEGREE)

static void mapped_matrix_4(const TesiMappedHost *plan, const V *g, V *u) {
  if (plan->mass)
    mapped_fixed_matrix(4, true, g, u);
  else
    mapped_fixed_matrix(4, false, g, u);
}
static void mapped_matrix_8(const TesiMappedHost *plan, const V *g, V *u) {
  if (plan->mass)
    mapped_fixed_matrix(8, true, g, u);
  else
    mapped_fixed_matrix(8, false, g, u);
}

/* [degree - 1][dim - 2] */
#define GAUSS(dim, n, q)                                                                                     \
  {                                                                                                          \
    .gather = mapped_gather_##n, .scatter = mapped_scatter_##n, .hang = mapped_hang_##n,                     \
    .in = mapped_in_##dim##d_##n, .out = mapped_out_##dim##d_##n, .lines = mapped_gauss_lines_##dim##d_##n,  \
    .planes = mapped_planes_##dim##d_##q, .lines_out = mapped_gauss_lines_out_##dim##d_##n,                  \
    .mass = mapped_mass_##dim##d_##n                                                                         \
  }
#define FEWER(dim, n, q)                                                                                     \
  {                                                                                                          \
    .gather = mapped_gather_##n, .scatter = mapped_scatter_##n, .hang = mapped_hang_##n,                     \
    .in = mapped_fewer_in_##dim##d_##n, .out = mapped_fewer_out_##dim##d_##n,                                \
    .lines = mapped_fewer_lines_##dim##d_##n, .planes = mapped_planes_##dim##d_##n,                          \
    .lines_out = mapped_fewer_lines_out_##dim##d_##n, .mass = mapped_any_phase_mass                          \
  }
#define COLLOCATED(dim, n, q)                                                                                \
  {                                                                                                          \
    .gather = mapped_gather_##n, .scatter = mapped_scatter_##n, .hang = mapped_hang_##n,                     \
    .lines = mapped_lines_##dim##d_##n, .planes = mapped_planes_##dim##d_##n,                                \
    .lines_out = mapped_lines_out_##dim##d_##n, .mass = mapped_any_phase_mass                                \
  }
#define BOTH(KIND, ...) {KIND(2, __VA_ARGS__), KIND(3, __VA_ARGS__)},
#define GAUSS_DEGREE(k) BOTH(GAUSS, SIZES_##k)
#define FEWER_DEGREE(k) BOTH(FEWER, SIZES_##k)
#define COLLOCATED_DEGREE(k) BOTH(COLLOCATED, SIZES_##k)
#endif

static void mapped_any_phase_gather(GATHER_ARGUMENTS) {
  mapped_any_gather(plan->n, plan, batch, component, x, u);
}
static void mapped_any_phase_scatter(SCATTER_ARGUMENTS) {
  mapped_any_scatter(plan->n, plan, batch, component, sign, b, u, y);
}
static void mapped_any_phase_hang(HANG_ARGUMENTS) {
  mapped_any_hang(plan->n, plan, batch, transposed, u, W);
}
static void mapped_any_phase_in(IN_ARGUMENTS) {
  mapped_any_in(plan->dim, plan->n, plan->q, plan->tables, u, values, plane);
}
static void mapped_any_phase_out(OUT_ARGUMENTS) {
  mapped_any_out(plan->dim, plan->n, plan->q, plan->tables, values, u, plane);
}
static void mapped_any_phase_lines(LINES_ARGUMENTS) {
  mapped_any_lines(plan->n, plan->q, COUNT(plan->dim, plan->q), !plan->m->collocated, plan->tables, values, d);
}
static void mapped_any_phase_planes(PLANES_ARGUMENTS) {
  mapped_any_planes(plan->dim, plan->q, plan, ahead, g, jacobian, values, d, plane);
}
static void mapped_any_phase_lines_out(LINES_OUT_ARGUMENTS) {
  mapped_any_lines_out(plan->n, plan->q, COUNT(plan->dim, plan->q), !plan->m->collocated, plan->tables,
                       values, d);
}
static void mapped_any_phase_mass(MASS_ARGUMENTS) {
  mapped_any_mass(plan->dim, plan->n, plan->q, !plan->m->collocated, plan, ahead, g, values);
}
static void mapped_any_phase_matrix(const TesiMappedHost *plan, const V *g, V *u) {
  mapped_any_matrix((int)plan->nodes, plan->mass, g, u);
}

static const Phases mapped_any_phases = {.gather = mapped_any_phase_gather,
                                         .scatter = mapped_any_phase_scatter,
                                         .hang = mapped_any_phase_hang,
                                         .in = mapped_any_phase_in,
                                         .out = mapped_any_phase_out,
                                         .lines = mapped_any_phase_lines,
                                         .planes = mapped_any_phase_planes,
                                         .lines_out = mapped_any_phase_lines_out,
                                         .mass = mapped_any_phase_mass,
                                         .matrix = mapped_any_phase_matrix};

TesiMappedKernels REAL_NAME(tesi_mapped_kernels)(const TesiMappedHost *plan);

TesiMappedKernels REAL_NAME(tesi_mapped_kernels)(const TesiMappedHost *plan) {
  TesiMappedKernels kernels = {.lanes = LANES, .run = mapped_run, .phases = &mapped_any_phases};
#if TESI_DEGREES > 0
  static const Phases gauss[][2] = {TESI_EACH_DEGREE_8(GAUSS_DEGREE)};
  static const Phases fewer[][2] = {TESI_EACH_DEGREE_8(FEWER_DEGREE)};
  static const Phases collocated[][2] = {TESI_EACH_DEGREE_8(COLLOCATED_DEGREE)};
  static const Phases matrix[2] = {
      {.gather = mapped_gather_2, .scatter = mapped_scatter_2, .hang = mapped_hang_2, .matrix = mapped_matrix_4},
      {.gather = mapped_gather_2,
       .scatter = mapped_scatter_2,
       .hang = mapped_hang_2,
       .matrix = mapped_matrix_8}};
  const int degree = plan->n - 1, at = plan->dim - 2;
  const bool is_matrix = plan->factors == TES_FACTORS_MATRIX;
  if (is_matrix && degree == 1)
    kernels.phases = &matrix[at], kernels.specialised = true;
  else if (!is_matrix && degree <= TESI_DEGREES_8 && plan->m->collocated)
    kernels.phases = &collocated[degree - 1][at], kernels.specialised = true;
  else if (!is_matrix && degree <= TESI_DEGREES_8 && plan->q == plan->n + 1)
    kernels.phases = &gauss[degree - 1][at], kernels.specialised = true;
  else if (!is_matrix && degree <= TESI_DEGREES_8 && plan->q == plan->n)
    kernels.phases = &fewer[degree - 1][at], kernels.specialised = true;
#else
  (void)plan;
#endif
  return kernels;
}
