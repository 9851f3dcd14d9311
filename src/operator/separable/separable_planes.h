/* How the contractions of separable_kernels.h run over a box, for the *_simd.c files.
 *
 * A task owns a box of cells and writes their lower nodes (and the last nodes of the mesh where it touches its
 * upper faces). It computes the contributions of the cells below to its first nodes itself: one layer of cells
 * (`halo`) per direction, of which only the carry is kept. Nothing is scattered, so the bits of the result do not
 * depend on the number of tasks. A task consists of tiles in x and y that march in z, so small that U and W of k+1
 * planes stay in the level-2 cache. A tile consists of chunks of x. In a chunk LANES rows at once are transposed,
 * contracted along x, and transposed back; a complete row of cells is contracted along y. All this stays in the
 * level-1 cache; the next plane is prefetched meanwhile. */
#ifndef TESI_SEPARABLE_PLANES_H
#define TESI_SEPARABLE_PLANES_H

#include "operator/separable/separable_kernels.h"
#include "operator/separable/separable_put.h"

/* Cells of a tile, and sizes that follow from them. Rows and columns count from the tile's first node. */
typedef struct Tile {
  int x0, x1, y0, y1;
  bool halo_x, halo_y; /* a cell below exists but its carry is not at hand */
  int columns, rows;   /* nodes to write */
} Tile;

typedef struct March {
  const TesiSeparable *plan;
  const TesiSeparableTask *task;
  const Kernels *kernels;
  const TesiSeparableJob *job;
  int k, pitch, chunk_pitch;
  /* workspace */
  V *columns, *t_columns, *s_columns; /* [LANES + chunk k + 1 + LANES] columns of LANES rows */
  Real *t, *s;                        /* [window][chunk_pitch] rows waiting for the rest of their cell */
  V *carry_x;                         /* [groups of rows][3]: x, t, s of the node after the last */
  Real *carry_y;                      /* [planes][2][pitch] */
  Real *carry_z;                      /* [rows][pitch] */
  Real *U, *W;                        /* [k+1] planes of [rows][pitch], spaced by plan->plane */
  Real *stage;                        /* results on their way to memory */
  Real *waste;                        /* [k][pitch] of results that nobody needs */
  Real *corrected;                    /* rows of a plane of x, the correction added */
  V sum;                              /* of squares of the residual */
} March;

static const Real *record(const TesiSeparableAxis *axis, int cell) {
  return (const Real *)axis->records + cell * axis->stride;
}

static int groups(const TesiSeparable *plan) {
  return (plan->rows + plan->degree + LANES - 1) / LANES;
}

/* Lays the buffers out from `base`; returns the bytes used. */
static size_t lay_out(March *m, char *base) {
  const TesiSeparable *plan = m->plan;
  const size_t k = (size_t)plan->degree, pitch = (size_t)plan->pitch, line = sizeof(V);
  const size_t columns = (size_t)(2 * LANES) + (size_t)plan->chunk * k + 1;
  const size_t stage_rows = plan->dim == 3 ? k : (size_t)plan->rows;
  char *next = base;
  m->chunk_pitch = plan->chunk * plan->degree + LANES;
#define TAKE(pointer, type, count)                                                                           \
  (pointer) = (type *)next;                                                                                  \
  next += ((size_t)(count) * sizeof(type) + line - 1) / line * line + line
  TAKE(m->columns, V, columns);
  TAKE(m->t_columns, V, columns);
  TAKE(m->s_columns, V, columns);
  TAKE(m->t, Real, (size_t)tesi_separable_window(plan) * (size_t)m->chunk_pitch);
  TAKE(m->s, Real, (size_t)tesi_separable_window(plan) * (size_t)m->chunk_pitch);
  TAKE(m->carry_x, V, 3 * groups(plan));
  TAKE(m->carry_y, Real, (size_t)tesi_separable_planes(plan, m->task) * 2 * pitch);
  TAKE(m->stage, Real, stage_rows * pitch);
  TAKE(m->waste, Real, k * pitch);
  if (plan->dim == 3) {
    TAKE(m->carry_z, Real, (size_t)plan->rows * pitch);
    TAKE(m->corrected, Real, plan->corrects ? (size_t)(plan->rows * plan->axis[0].nodes) : 0);
    TAKE(m->U, Real, (k + 1) * plan->plane);
    TAKE(m->W, Real, (k + 1) * plan->plane);
  }
#undef TAKE
  return (size_t)(next - base);
}

/* ---- x ------------------------------------------------------------------------------------------------- */

/* columns[j][lane] = row[lane][j] for j in [0, count), count >= 1; columns has room for LANES vectors before and
 * after. */
static void load_columns(const Real *const row[LANES], int before, int count, V *columns) {
  if (before + count < LANES) {
    for (int j = 0; j < count; j++)
      for (int l = 0; l < LANES; l++) ((Real *)&columns[j])[l] = row[l][j];
    return;
  }
  for (int j = 0; j < count; j += LANES) {
    const int first = j + LANES <= count ? j : count - LANES; /* the last block overlaps the one before */
    V block[LANES];
    TESI_UNROLL for (int l = 0; l < LANES; l++) block[l] = load(row[l] + first);
    transpose(block);
    TESI_UNROLL for (int l = 0; l < LANES; l++) columns[first + l] = block[l];
  }
}

/* rows[lane][j] = columns[j][lane]; count is rounded up to a multiple of LANES. */
static void store_columns(const V *columns, int count, Real *rows, ptrdiff_t pitch) {
  for (int j = 0; j < count; j += LANES) {
    V block[LANES];
    TESI_UNROLL for (int l = 0; l < LANES; l++) block[l] = columns[j + l];
    transpose(block);
    TESI_UNROLL for (int l = 0; l < LANES; l++) * (V *)&rows[l * pitch + j] = block[l];
  }
}

/* The carry at the left end of a tile: zero, the end term, or the cell to the left. */
static void begin_x(const March *m, const Tile *tile, const Real *const row[LANES], V carry[3]) {
  const TesiSeparableAxis *axis = &m->plan->axis[0];
  const int k = m->k;
  const Real *dot = m->plan->dot;
  carry[0] = carry[1] = carry[2] = (V){0};
  for (int l = 0; l < LANES; l++) ((Real *)carry)[l] = row[l][tile->x0 * k];
  if (tile->x0 == 0) {
    carry[2] = (Real)axis->end[0] * carry[0];
    return;
  }
  const Real *halo[LANES];
  for (int l = 0; l < LANES; l++) halo[l] = row[l] + (tile->x0 - 1) * k;
  load_columns(halo, 0, k + 1, m->columns);
  m->kernels->x_cells(k, 1, record(axis, tile->x0 - 1), 0, dot, m->columns, m->t_columns, m->s_columns,
                      carry + 1);
}

/* t and s of LANES rows in the cells [first, last) of x. ahead: distance from the numbers that are read to the
 * numbers that are prefetched. */
static void x_rows(const March *m, const Tile *tile, const Real *const row[LANES], int first, int last,
                   ptrdiff_t ahead, V carry[3], Real *t, Real *s) {
  const TesiSeparableAxis *axis = &m->plan->axis[0];
  const int k = m->k, count = (last - first) * k;
  V *columns = m->columns + LANES;
  const Real *from[LANES];
  if (first == tile->x0) begin_x(m, tile, row, carry);
  for (int l = 0; l < LANES; l++) {
    from[l] = row[l] + first * k + 1;
    for (int j = 0; j < count; j += 64 / (int)sizeof(Real)) __builtin_prefetch(from[l] + ahead + j, 0, 2);
  }
  load_columns(from, first * k + 1, count, columns + 1);
  columns[0] = carry[0];
  carry[0] = columns[count];
  m->kernels->x_cells(k, last - first, record(axis, first), axis->stride, m->plan->dot, columns, m->t_columns,
                      m->s_columns, carry + 1);
  store_columns(m->t_columns, count, t, m->chunk_pitch);
  store_columns(m->s_columns, count, s, m->chunk_pitch);
  if (last == axis->cells) { /* the last node of the mesh */
    const V end = carry[2] + (Real)axis->end[1] * carry[0];
    for (int l = 0; l < LANES; l++) {
      t[l * m->chunk_pitch + count] = ((const Real *)&carry[1])[l];
      s[l * m->chunk_pitch + count] = ((const Real *)&end)[l];
    }
  }
}

/* ---- y ------------------------------------------------------------------------------------------------- */

/* The place of a chunk's results: 3D: rows of U and W; 2D: rows of the stage. Both point to the tile's first row. */
typedef struct Out {
  Real *U, *W, *carry;
  int column, vectors;
} Out;

/* The carry below the first row of cells of a task: zero, or the end term. */
static void begin_y(const March *m, bool wall, const Out *out, const Real *t) {
  const TesiSeparableAxis *axis = &m->plan->axis[1];
  const Real end = wall ? (Real)axis->end[0] : 0;
  Real *carry = out->carry + out->column;
  for (int v = 0; v < out->vectors * LANES; v += LANES) {
    const V value = end * *(const V *)&t[v];
    if (m->plan->dim == 3) {
      *(V *)&carry[v] = (V){0};
      *(V *)&carry[m->pitch + v] = value;
    } else
      *(V *)&carry[v] = value;
  }
}

static void y_rows(const March *m, const Tile *tile, int cell, const Out *out, const Real *t, const Real *s) {
  const TesiSeparable *plan = m->plan;
  const bool wanted = cell >= tile->y0;
  const ptrdiff_t row = (ptrdiff_t)(cell - tile->y0) * m->k * m->pitch + out->column;
  const Real *cell_record = record(&plan->axis[1], cell);
  Real *carry = out->carry + out->column, *U = wanted ? out->U + row : m->waste;
  if (plan->dim == 3)
    m->kernels->y_cell(m->k, cell_record, plan->dot, out->vectors, t, s, m->chunk_pitch, U,
                       wanted ? out->W + row : m->waste, m->pitch, carry, carry + m->pitch);
  else
    m->kernels->last_cell(m->k, cell_record, plan->dot, out->vectors, t, s, m->chunk_pitch, U, m->pitch,
                          carry, (const Real *)plan->scale[0] + tile->x0 * m->k + out->column, 1);
}

/* The last row of the mesh. */
static void end_y(const March *m, const Tile *tile, const Out *out, const Real *t) {
  const Real end = (Real)m->plan->axis[1].end[1];
  const Real *carry = out->carry + out->column;
  const ptrdiff_t row = (ptrdiff_t)(tile->rows - 1) * m->pitch + out->column;
  const Real *scale = (const Real *)m->plan->scale[0] + tile->x0 * m->k + out->column;
  for (int v = 0; v < out->vectors * LANES; v += LANES) {
    const V value = end * *(const V *)&t[v];
    if (m->plan->dim == 3) {
      *(V *)&out->U[row + v] = *(const V *)&carry[v];
      *(V *)&out->W[row + v] = *(const V *)&carry[m->pitch + v] + value;
    } else
      *(V *)&out->U[row + v] = load(&scale[v]) * (*(const V *)&carry[v] + value);
  }
}

/* One chunk of x of one plane, all rows of the tile. `plane` points to the plane's first node. */
static void chunk_rows(const March *m, const Tile *tile, const Real *plane, int first, int last,
                       ptrdiff_t ahead, Out *out) {
  const TesiSeparable *plan = m->plan;
  const int k = m->k, start = tile->y0 - tile->halo_y, count = (tile->y1 - start) * k + 1;
  const int window = tesi_separable_window(plan);
  const ptrdiff_t row_length = plan->axis[0].nodes;
  const Real *from = plane + (ptrdiff_t)start * k * row_length;
  int base = 0, have = 0, cell = start;
  out->column = (first - tile->x0) * k;
  out->vectors = ((last - first) * k + (last == plan->axis[0].cells) + LANES - 1) / LANES;
  for (int r = 0; r < count; r += LANES) {
    const Real *row[LANES];
    const int fresh = count - r < LANES ? count - r : LANES;
    for (int l = 0; l < LANES; l++) row[l] = from + (r + (l < fresh ? l : fresh - 1)) * row_length;
    if (base + have + LANES > window) {
      memmove(m->t, m->t + base * m->chunk_pitch, sizeof(Real) * (size_t)(have * m->chunk_pitch));
      memmove(m->s, m->s + base * m->chunk_pitch, sizeof(Real) * (size_t)(have * m->chunk_pitch));
      base = 0;
    }
    const ptrdiff_t at = (ptrdiff_t)(base + have) * m->chunk_pitch;
    x_rows(m, tile, row, first, last, ahead, m->carry_x + 3 * (r / LANES), m->t + at, m->s + at);
    have += fresh;
    if (r == 0 && (start == 0 || tile->halo_y)) begin_y(m, start == 0, out, m->t);
    for (; have > k; have -= k, base += k, cell++)
      y_rows(m, tile, cell, out, m->t + base * m->chunk_pitch, m->s + base * m->chunk_pitch);
  }
  if (tile->y1 == plan->axis[1].cells) end_y(m, tile, out, m->t + base * m->chunk_pitch);
}

/* ---- results to memory --------------------------------------------------------------------------------- */

static void put_row(March *m, ptrdiff_t offset, const Real *values, int count) {
  const TesiSeparableJob *job = m->job;
  const Real *b = job->b ? (const Real *)job->b + offset : NULL;
  if (job->rounded)
    put_rounded(values, b, job->rounded + offset, (Real)job->factor, count, &m->sum);
  else
    put(values, b, (Real *)job->y + offset, count, job->stream);
}

static bool is_dirichlet(const TesiSeparableAxis *axis, int node) {
  return (node == 0 && !axis->natural[0]) || (node == axis->nodes - 1 && !axis->natural[1]);
}

/* ---- z ------------------------------------------------------------------------------------------------- */

/* Contracts a layer of cells along z, row by row, and writes its planes. U, W: the layer's lowest plane; `step` leads
 * to the next one. The last node of the mesh is written too where the layer is the last. */
static void layer_rows(March *m, const Tile *tile, int layer, const Real *U, const Real *W, ptrdiff_t step) {
  const TesiSeparable *plan = m->plan;
  const TesiSeparableAxis *axis = &plan->axis[2];
  const int k = m->k, vectors = (tile->columns + LANES - 1) / LANES;
  const bool wanted = layer >= m->task->first[2], is_last = layer == axis->cells - 1;
  const Real *scale = (const Real *)plan->scale[0] + tile->x0 * k;
  for (int r = 0; r < tile->rows; r++) {
    const int y = tile->y0 * k + r;
    const Real *u = U + (ptrdiff_t)r * m->pitch, *w = W + (ptrdiff_t)r * m->pitch;
    const Real scale_y = ((const Real *)plan->scale[1])[y];
    Real *carry = m->carry_z + (ptrdiff_t)r * m->pitch;
    if (layer == 0)
      for (int v = 0; v < vectors * LANES; v += LANES)
        *(V *)&carry[v] = (Real)axis->end[0] * *(const V *)&u[v];
    else if (!wanted)
      memset(carry, 0, sizeof(Real) * (size_t)(vectors * LANES));
    m->kernels->last_cell(k, record(axis, layer), plan->dot, vectors, u, w, step, m->stage, m->pitch, carry,
                          scale, scale_y);
    for (int i = 0; wanted && i < k + is_last; i++) {
      const int z = layer * k + i;
      Real *values = m->stage + (ptrdiff_t)(i < k ? i : 0) * m->pitch;
      if (i == k)
        for (int v = 0; v < vectors * LANES; v += LANES)
          *(V *)&values[v] = load(&scale[v]) * scale_y *
                             (*(const V *)&carry[v] + (Real)axis->end[1] * *(const V *)&u[k * step + v]);
      if (is_dirichlet(axis, z)) memset(values, 0, sizeof(Real) * (size_t)tile->columns);
      put_row(m, ((ptrdiff_t)z * plan->axis[1].nodes + y) * plan->axis[0].nodes + tile->x0 * k, values,
              tile->columns);
    }
  }
}

/* Plane z of x for this tile, corrected if the job has a correction. Planes of other tasks were corrected before
 * (save_planes); the next tile writes the rows above this tile. */
static const Real *plane_of(March *m, const Tile *tile, int z) {
  const TesiSeparable *plan = m->plan;
  const TesiSeparableTask *task = m->task;
  const TesiSeparableJob *job = m->job;
  const int k = m->k, rows = (tile->y1 - tile->y0) * k + 1;
  const ptrdiff_t row = plan->axis[0].nodes, plane = row * plan->axis[1].nodes;
  const ptrdiff_t skip = (ptrdiff_t)tile->y0 * k * row;
  Real *x = (Real *)job->x + z * plane;
  if (!job->e) return x;
  if (z < task->first[2] * k) return (const Real *)task->saved + (z - task->first[2] * k + k) * plane;
  if (z == task->last[2] * k && task->last[2] < plan->axis[2].cells)
    return (const Real *)task->saved + k * plane;
  add_correction(x + skip, job->e + z * plane + skip, (Real)job->scale, tile->rows * row, rows * row,
                 m->corrected);
  return m->corrected - skip;
}

static void march_tile(March *m, const Tile *tile) {
  const TesiSeparable *plan = m->plan;
  const TesiSeparableTask *task = m->task;
  const int k = m->k, start = task->first[2] - (task->first[2] > 0);
  const ptrdiff_t length = (ptrdiff_t)plan->axis[0].nodes * plan->axis[1].nodes;
  ptrdiff_t step = (ptrdiff_t)plan->plane, base = 0; /* the plane shared by two layers stays where it is */
  for (int layer = start; layer < task->last[2]; layer++, base += k * step, step = -step) {
    for (int i = layer > start; i <= k; i++) {
      const int z = layer * k + i;
      const ptrdiff_t ahead = z + 1 < plan->axis[2].nodes && !m->job->e ? length : 0;
      const Real *plane = plane_of(m, tile, z);
      Out out = {.U = m->U + base + i * step,
                 .W = m->W + base + i * step,
                 .carry = m->carry_y + (ptrdiff_t)(z - start * k) * 2 * m->pitch};
      for (int c = tile->x0; c < tile->x1; c += plan->chunk)
        chunk_rows(m, tile, plane, c, tesi_min(c + plan->chunk, tile->x1), ahead, &out);
    }
    layer_rows(m, tile, layer, m->U + base, m->W + base, step);
  }
}

/* 2D: the rows of a tile at once. */
static void rows_tile(March *m, const Tile *tile) {
  const TesiSeparable *plan = m->plan;
  Out out = {.U = m->stage, .W = NULL, .carry = m->carry_y};
  for (int c = tile->x0; c < tile->x1; c += plan->chunk) {
    const int next = tesi_min(c + plan->chunk, tile->x1);
    chunk_rows(m, tile, m->job->x, c, next, next < tile->x1 ? (next - c) * m->k : 0, &out);
  }
  for (int r = 0; r < tile->rows; r++) {
    const int y = tile->y0 * m->k + r;
    Real *values = m->stage + (ptrdiff_t)r * m->pitch;
    if (is_dirichlet(&plan->axis[1], y)) memset(values, 0, sizeof(Real) * (size_t)tile->columns);
    put_row(m, (ptrdiff_t)y * plan->axis[0].nodes + tile->x0 * m->k, values, tile->columns);
  }
}

size_t REAL_NAME(tesk_separable_workspace)(const TesiSeparable *plan, const TesiSeparableTask *task) {
  March m = {.plan = plan, .task = task};
  return lay_out(&m, NULL);
}

/* Corrected copies of the parts of x that this task reads but other tasks write: planes of the layer below, and the
 * plane above. */
void REAL_NAME(tesk_separable_save)(const TesiSeparable *plan, int number, const TesiSeparableJob *job) {
  const TesiSeparableTask *task = &plan->tasks[number];
  const int k = plan->degree;
  const ptrdiff_t plane = (ptrdiff_t)plan->axis[0].nodes * plan->axis[1].nodes;
  for (int i = 0; i <= k; i++) {
    const ptrdiff_t z = i < k ? task->first[2] * k - k + i : task->last[2] * k;
    if (z >= 0 && z < plan->axis[2].nodes - 1)
      add_correction((Real *)job->x + z * plane, job->e + z * plane, (Real)job->scale, 0, plane,
                     (Real *)task->saved + i * plane);
  }
}

void REAL_NAME(tesk_separable)(const TesiSeparable *plan, int number, const TesiSeparableJob *job) {
  const int k = plan->degree;
  const TesiSeparableTask *task = &plan->tasks[number];
  March m = {.plan = plan, .task = task, .job = job, .k = k, .pitch = plan->pitch};
  m.kernels = &kernels[k <= TESI_DEGREES ? k : 0];
  lay_out(&m, task->workspace);
  for (int x0 = task->first[0]; x0 < task->last[0]; x0 += plan->tile[0])
    for (int y0 = task->first[1]; y0 < task->last[1]; y0 += plan->tile[1]) {
      Tile tile = {.x0 = x0, .y0 = y0};
      tile.x1 = tesi_min(x0 + plan->tile[0], task->last[0]);
      tile.y1 = tesi_min(y0 + plan->tile[1], task->last[1]);
      tile.halo_x = x0 > 0;
      tile.halo_y = y0 > 0 && y0 == task->first[1];
      tile.columns = (tile.x1 - x0) * k + (tile.x1 == plan->axis[0].cells);
      tile.rows = (tile.y1 - y0) * k + (tile.y1 == plan->axis[1].cells);
      if (plan->dim == 3)
        march_tile(&m, &tile);
      else
        rows_tile(&m, &tile);
    }
  if (job->stream) tesi_stream_fence();
  if (job->rounded) {
    job->sums[number] = 0;
    for (int l = 0; l < LANES; l++) job->sums[number] += m.sum[l];
  }
}

#endif
