/* Common parts of the kernels of the nested sweep: the workspace of a thread, and the slab that it works on. */
#ifndef TESI_PATCH_WORK_H
#define TESI_PATCH_WORK_H

#include "smoother/patch/patch_plan.h"
#include "smoother/patch/patch_vector.h"

/* Coefficients of one line of unequal cells; [cells] with padding. Arrays with numbers per bubble have whole vectors
 * (stride). */
typedef struct LineTables {
  int stride;
  Real *w, *d;                      /* [B][stride] */
  Real *same;                       /* t_00 of each cell */
  Real *even_cells, *odd_cells;     /* t_01 of cells 0, 2, .. and 1, 3, .. */
  Real *inverse_even, *inverse_odd; /* 1 / diagonal, placed as vertices in a row */
} LineTables;

typedef struct LineWork {
  Real *left, *right, *left2, *right2; /* contributions of cells to their vertices */
  Real *even, *odd;                    /* right-hand sides of vertices; even[-1] is vertex 0 */
  Real *coefficients;                  /* [2 B + 4, and 2 B + 3 of an odd end][coefficient_stride] */
  int coefficient_stride;
  LineTables tables;
} LineWork;

enum { MAX_MODES = 2 * 20 - 1 };

/* The workspace of one thread; the length of a row is plan->row.pitch. */
typedef struct Work {
  LineWork line;
  Real *b, *x; /* 3D: [modes][4 cells][degree rows] */
  ptrdiff_t mode_stride;
  Real *lines, *old; /* [modes] */
  Real *line_row[MAX_MODES], *old_row[MAX_MODES], *plane[MAX_MODES];
  Real *values;                               /* one line of nodes */
  Real *face;                                 /* [degree + 1] */
  Real *block_mass[2], *block_stiffness[2];   /* one each */
  Real *mass[2], *stiffness[2], *G[2], *H[2]; /* [degree + 1] each */
  Real *carry[2];                             /* [2] */
} Work;

/* A row of values: g = upper + weight lower. */
typedef struct FaceRow {
  const Real *lower, *upper;
  Real weight;
} FaceRow;

/* The values on the faces of a block, for one mode of the slab: rows of the middle direction, NULL: no face. */
typedef struct BlockFaces {
  const Real *lower, *upper;
} BlockFaces;

/* The contribution stiffness G + mass H of the two faces of a block to each mode: from their sum (0) to even modes,
 * from their difference (1) to odd modes. */
typedef struct Coupling {
  const Real *G[2], *H[2]; /* rows */
  Real stiffness[MAX_MODES], mass[MAX_MODES];
} Coupling;

typedef struct Slab {
  const TesiPatchPlan *plan;
  Work *work;
  const TesiPatchInterval *interval;
  const TesiPatchKind *kind;
  const Real *b;
  Real *x;
  ptrdiff_t plane;           /* from one node to the next in the outer direction */
  const Real *lower, *upper; /* planes that bound the slab; NULL: zero, or none */
  TesSweep sweep;
  bool zero, faces;     /* the old values inside are zero; one of the planes is not zero */
  int old_from, old_to; /* columns that the first colour in x reads */
} Slab;

/* ---- workspace: the same function counts it and distributes it ------------------------------------------ */

typedef struct Arena {
  Real *memory; /* NULL: only count */
  size_t used;
} Arena;

/* Room for `before` + count numbers, in separate cache lines; returns the address after the first `before`. */
static Real *take(Arena *arena, size_t before, size_t count) {
  const size_t line = 64 / sizeof(Real), first = arena->used;
  arena->used += (before + count + line - 1) / line * line;
  return arena->memory ? arena->memory + first + before : NULL;
}

static void place_line_work(const TesiPatchPlan *plan, Arena *arena, LineWork *line) {
  const size_t along = (size_t)plan->cells + 4 * LANES, modes = 2 * (size_t)plan->degree - 1;
  line->left = take(arena, 0, along), line->right = take(arena, 0, along);
  line->left2 = take(arena, 0, along), line->right2 = take(arena, 0, along);
  line->even = take(arena, LANES, along), line->odd = take(arena, 0, along);
  line->coefficient_stride = (int)((modes + LANES - 1) / LANES * LANES);
  line->coefficients = take(arena, 0, (4 * (size_t)plan->degree + 3) * (size_t)line->coefficient_stride);
  if (!plan->graded) return;
  LineTables *tables = &line->tables;
  tables->stride = (plan->cells + LANES - 1) / LANES * LANES;
  const size_t bubbles = (size_t)(plan->degree - 1) * (size_t)tables->stride;
  tables->w = take(arena, 0, bubbles), tables->d = take(arena, 0, bubbles),
  tables->same = take(arena, 0, along);
  tables->even_cells = take(arena, 0, along), tables->odd_cells = take(arena, 0, along);
  tables->inverse_even = take(arena, LANES, along), tables->inverse_odd = take(arena, 0, along);
}

/* The distance of modes is an odd number of cache lines. */
static void place_periodic(const TesiPatchPlan *plan, Arena *arena, size_t modes, Work *work) {
  const size_t line = 64 / sizeof(Real);
  size_t stride = 4 * (size_t)plan->degree * (size_t)plan->row.pitch;
  stride += stride / line % 2 ? 0 : line;
  work->mode_stride = (ptrdiff_t)stride;
  work->b = take(arena, 0, modes * stride);
  work->x = take(arena, 0, modes * stride);
}

static void place_work(const TesiPatchPlan *plan, Arena *arena, Work *work) {
  const size_t pitch = (size_t)plan->row.pitch, modes = 2 * (size_t)plan->degree - 1,
               rows = (size_t)plan->degree + 1;
  place_line_work(plan, arena, &work->line);
  if (plan->dim == 3) place_periodic(plan, arena, modes, work);
  for (size_t i = 0; i < modes; i++) work->line_row[i] = take(arena, 0, pitch);
  for (size_t i = 0; i < modes; i++) work->old_row[i] = take(arena, 0, pitch);
  for (size_t i = 0; i < modes; i++) work->plane[i] = take(arena, 0, pitch);
  work->lines = work->line_row[0], work->old = work->old_row[0];
  work->values = take(arena, 0, (size_t)plan->nodes + LANES);
  work->face = take(arena, 0, rows * pitch);
  for (int side = 0; side < 2; side++) {
    work->mass[side] = take(arena, 0, rows * pitch), work->stiffness[side] = take(arena, 0, rows * pitch);
    work->G[side] = take(arena, 0, rows * pitch), work->H[side] = take(arena, 0, rows * pitch);
    work->carry[side] = take(arena, 0, 2 * pitch);
    work->block_mass[side] = take(arena, 0, pitch), work->block_stiffness[side] = take(arena, 0, pitch);
  }
}

/* ---- small questions ----------------------------------------------------------------------------------- */

/* The two faces of an interval as its modes need them: symmetric kinds need their sum (even modes) and difference (odd
 * modes). */
TESI_INLINE void face_weights(const TesiPatchKind *kind, int side, Real weight[2]) {
  weight[0] = (Real)(kind->symmetric ? (side ? -1 : 1) : !side);
  weight[1] = (Real)(kind->symmetric || side);
}

/* The faces that mode j couples to, with their factors. */
TESI_INLINE int select_faces(const TesiPatchKind *kind, int mode, int side[2], Real stiffness[2],
                             Real mass[2]) {
  const int faces = kind->symmetric ? 1 : 2;
  for (int f = 0; f < faces; f++) {
    side[f] = kind->symmetric ? mode > kind->below : f;
    stiffness[f] = ((const Real *)kind->stiffness[kind->symmetric ? 0 : f])[mode];
    mass[f] = ((const Real *)kind->mass[kind->symmetric ? 0 : f])[mode];
  }
  return faces;
}

/* The place of vertex v in a row. */
static inline int vertex_at(const TesiPatchRow *at, int v) {
  return v % 2 ? at->odd + v / 2 : at->even + v / 2 - 1;
}

static bool is_middle_unknown(const TesiPatchPlan *plan, int y) {
  return (y > 0 || plan->middle.natural[0]) && (y < plan->middle.nodes - 1 || plan->middle.natural[1]);
}

static ptrdiff_t line_at(const Slab *slab, int y) {
  return slab->interval->first * slab->plane + (ptrdiff_t)y * slab->plan->nodes;
}

TESI_INLINE V load_face_values(const FaceRow *g, int at) {
  return load(g->upper + at) + g->weight * load(g->lower + at);
}

TESI_INLINE void gather_face_vertices(const TesiPatchPlan *plan, const Real *left, const Real *right,
                                      Real *out) {
  const TesiPatchRow *at = &plan->row;
  for (int i = 0; i < at->bubbles - at->odd; i += LANES) {
    V v[2] = {load(right + 2 * i) + load(left + 2 * i + 1),
              load(right + 2 * i + LANES) + load(left + 2 * i + LANES + 1)};
    unzip_prime(2, v);
    store(out + at->odd + i, v[0]);
    store(out + at->even + i, v[1]);
  }
  out[at->even - 1] = left[0];
}

#endif
