/* How the kernels of transfer_box_kernels.h run over a box, for the *_simd.c files.
 *
 * A task goes through its layers of coarse cells in z, and in each layer through blocks of cells in y. A block does
 * its three directions at once, so that the values between two directions stay in the near caches. Along x LANES
 * rows are transposed in registers.
 * Values that two layers share are kept in one plane (`plane`), values that two cells share in y in one row per coarse
 * plane. In restriction a task also works on one layer of cells below its own, per direction, and keeps only the sums
 * that this layer adds to the first nodes of the task. So the result has the same bits for any number
 * of tasks. */
#ifndef TESI_TRANSFER_BOX_PLANES_H
#define TESI_TRANSFER_BOX_PLANES_H

#include "transfer/box/transfer_box_kernels.h"

typedef struct March {
  const TesiTransferAxis *x, *y, *z;
  const TesiTransferPlan *plan;
  const TesiTransferTask *task;
  int planes;          /* coarse planes of a layer, both ends counted: 1 in 2D */
  ptrdiff_t line;      /* numbers from row to row in `rows`, with room for one more vector */
  ptrdiff_t row_plane; /* from plane to plane in `rows` */
  ptrdiff_t between;   /* from plane to plane in `planes_between` */
  /* workspace */
  V *coarse, *fine;     /* a chunk of LANES rows as columns */
  Real *rows;           /* [planes][block degree + 1][line]: fine in x, coarse in y and z */
  Real *planes_between; /* [planes - 2 or - 1][block step + 1 rows without gaps]: fine in x and y, coarse in z */
  Real *plane[2];       /* the same, one plane of all rows of the task: shared by two layers */
  Real *carry_y;        /* [planes][line] */
  Real *waste;          /* [line] */
  /* rows waiting to be contracted along x together */
  const Real *from[LANES];
  Real *to[LANES];
  int waiting;
} March;

/* Lays the buffers out from `base`; returns the bytes used. */
static size_t lay_out(March *m, char *base) {
  const TesiTransferTask *task = m->task;
  const size_t nx = (size_t)m->x->fine_nodes, block = (size_t)m->plan->block, chunk = (size_t)m->plan->chunk,
               planes = (size_t)m->planes;
  const size_t longer = (size_t)tesi_max(m->y->last_step - m->y->step, 0),
               task_rows = (size_t)((task->last[0] - task->first[0] + 1) * m->y->step + 1) + longer;
  const size_t rows = block * (size_t)m->y->degree + 1, fine_rows = block * (size_t)m->y->step + 1 + longer;
  /* an odd number of cache lines from row to row and plane to plane: they do not fall on the same sets of a cache */
  const size_t unit = 64 / sizeof(Real);
  const size_t line = (((nx + LANES + unit - 1) / unit) | 1) * unit;
  const size_t between = (((fine_rows * nx + LANES + unit - 1) / unit) | 1) * unit;
  char *next = base;
  m->line = (ptrdiff_t)line;
  m->row_plane = (ptrdiff_t)(rows * line);
  m->between = (ptrdiff_t)between;
#define TAKE(pointer, type, count)                                                                           \
  (pointer) = (type *)next;                                                                                  \
  next += ((size_t)(count) * sizeof(type) + 63) / 64 * 64
  TAKE(m->coarse, V, chunk * (size_t)m->x->degree + 1 + LANES);
  TAKE(m->fine, V, chunk * (size_t)m->x->step + (size_t)m->x->last_step + 1 + LANES);
  TAKE(m->rows, Real, planes * rows * line);
  TAKE(m->carry_y, Real, planes * line);
  TAKE(m->waste, Real, line);
  if (m->plan->dim == 3) {
    TAKE(m->planes_between, Real, (planes - 1) * between);
    TAKE(m->plane[0], Real, task_rows * nx + LANES);
    TAKE(m->plane[1], Real, task_rows * nx + LANES);
  }
#undef TAKE
  return (size_t)(next - base);
}

static March begin(const TesiTransferPlan *plan, const TesiTransferTask *task) {
  March m = {.plan = plan, .task = task};
  m.x = &plan->axis[0], m.y = &plan->axis[1], m.z = &plan->axis[2];
  m.planes = m.z->degree + 1;
  return m;
}

/* ---- x ------------------------------------------------------------------------------------------------- */

/* columns[j][lane] = row[lane][at + j] for j < count. */
static void load_columns(Real *const row[LANES], ptrdiff_t at, int count, V *columns) {
  if (count < LANES) {
    for (int j = 0; j < count; j++)
      for (int l = 0; l < LANES; l++) ((Real *)&columns[j])[l] = row[l][at + j];
    return;
  }
  for (int j = 0; j < count; j += LANES) {
    const int first = j + LANES <= count ? j : count - LANES; /* the last block overlaps the block before it */
    V block[LANES];
    TESI_UNROLL for (int l = 0; l < LANES; l++) block[l] = load(row[l] + at + first);
    transpose(block);
    TESI_UNROLL for (int l = 0; l < LANES; l++) columns[first + l] = block[l];
  }
}

/* row[lane][at + j] = columns[j][lane] for j < count. */
static void store_columns(const V *columns, int count, Real *const row[LANES], ptrdiff_t at) {
  if (count < LANES) {
    for (int j = 0; j < count; j++)
      for (int l = 0; l < LANES; l++) row[l][at + j] = ((const Real *)&columns[j])[l];
    return;
  }
  for (int j = 0; j < count; j += LANES) {
    const int first = j + LANES <= count ? j : count - LANES;
    V block[LANES];
    TESI_UNROLL for (int l = 0; l < LANES; l++) block[l] = columns[first + l];
    transpose(block);
    TESI_UNROLL for (int l = 0; l < LANES; l++) store(row[l] + at + first, block[l]);
  }
}

/* The cells first .. last with the common table, then the last cell if its table differs. */
static void lift_chunk(const March *m, int first, int last) {
  const TesiTransferAxis *x = m->x;
  const int alike = tesi_min(last, x->alike) - first;
  const Cell cell = cell_of(x, tesi_min(first, x->alike - 1)), end = cell_of(x, last - 1);
  if (alike > 0) cell.kernels->lift_cells(x->degree, alike, cell.table, x->stride, m->coarse, m->fine);
  if (first + alike < last)
    end.kernels->lift_cells(x->degree, 1, end.table, 0, m->coarse + alike * x->degree,
                            m->fine + alike * x->step);
}

static void lower_chunk(const March *m, int first, int last, V *carry) {
  const TesiTransferAxis *x = m->x;
  const int alike = tesi_min(last, x->alike) - first;
  const Cell cell = cell_of(x, tesi_min(first, x->alike - 1)), end = cell_of(x, last - 1);
  if (alike > 0)
    cell.kernels->lower_cells(x->degree, alike, cell.table, x->stride, m->fine, m->coarse, carry);
  if (first + alike < last)
    end.kernels->lower_cells(x->degree, 1, end.table, 0, m->fine + alike * x->step,
                             m->coarse + alike * x->degree, carry);
}

static void lift_lines(March *m) {
  const TesiTransferAxis *x = m->x;
  for (int c = 0; c < x->cells; c += m->plan->chunk) {
    const int last = tesi_min(c + m->plan->chunk, x->cells);
    load_columns((Real *const *)m->from, (ptrdiff_t)c * x->degree, (last - c) * x->degree + 1, m->coarse);
    lift_chunk(m, c, last);
    store_columns(m->fine, steps_of(x, c, last) + 1, m->to, (ptrdiff_t)c * x->step);
  }
}

static void lower_lines(March *m) {
  const TesiTransferAxis *x = m->x;
  V carry = {0};
  for (int c = 0; c < x->cells; c += m->plan->chunk) {
    const int last = tesi_min(c + m->plan->chunk, x->cells), count = (last - c) * x->degree;
    const bool end = last == x->cells;
    load_columns((Real *const *)m->from, (ptrdiff_t)c * x->step, steps_of(x, c, last) + 1, m->fine);
    lower_chunk(m, c, last, &carry);
    if (c == 0 && !x->natural[0]) m->coarse[0] = (V){0};
    if (end && !x->natural[1]) m->coarse[count] = (V){0};
    store_columns(m->coarse, count + end, m->to, (ptrdiff_t)c * x->degree);
  }
}

/* Contracts the rows that wait. If they do not fill a vector, the last row is repeated, and the results of the
 * repetitions are not used. */
static void flush(March *m, void (*lines)(March *)) {
  if (m->waiting == 0) return;
  for (int l = m->waiting; l < LANES; l++) m->from[l] = m->from[m->waiting - 1], m->to[l] = m->waste;
  lines(m);
  m->waiting = 0;
}

static void push(March *m, void (*lines)(March *), const Real *from, Real *to) {
  m->from[m->waiting] = from;
  m->to[m->waiting++] = to;
  if (m->waiting == LANES) flush(m, lines);
}

/* ---- y and z: rows of any length ----------------------------------------------------------------------- */

typedef struct Lift {
  const Real *first, *middle, *last;
  ptrdiff_t pitch;
  Real *out;
  ptrdiff_t out_pitch;
  bool end, add;
} Lift;

/* The rest of a row goes through a copy of one vector's length. */
static void lift_rest(int k, const Cell *cell, ptrdiff_t at, int count, const Lift *l) {
  const int step = cell->step + l->end;
  V in[N], out[3 * N];
  const size_t bytes = sizeof(Real) * (size_t)count;
  memset(in, 0, sizeof *in * (size_t)(k + 1));
  memcpy(&in[0], l->first + at, bytes);
  for (int p = 1; p < k; p++) memcpy(&in[p], l->middle + (p - 1) * l->pitch + at, bytes);
  memcpy(&in[k], l->last + at, bytes);
  for (int f = 0; f < step && l->add; f++) memcpy(&out[f], l->out + f * l->out_pitch + at, bytes);
  cell->kernels->lift_rows(k, cell->table, LANES, (Real *)&in[0], (Real *)&in[1], LANES, (Real *)&in[k],
                           (Real *)out, LANES, l->end, l->add);
  for (int f = 0; f < step; f++) memcpy(l->out + f * l->out_pitch + at, &out[f], bytes);
}

static void lift_rows(const TesiTransferAxis *axis, int c, ptrdiff_t count, const Lift *l) {
  const ptrdiff_t whole = count / LANES * LANES;
  const int k = axis->degree;
  const Cell cell = cell_of(axis, c);
  if (whole > 0)
    cell.kernels->lift_rows(k, cell.table, whole, l->first, l->middle, l->pitch, l->last, l->out,
                            l->out_pitch, l->end, l->add);
  if (whole == count) return;
  const ptrdiff_t at = count - LANES;
  if (whole > 0 && !l->add) /* the last vector overlaps the vector before it */
    cell.kernels->lift_rows(k, cell.table, LANES, l->first + at, l->middle + at, l->pitch, l->last + at,
                            l->out + at, l->out_pitch, l->end, false);
  else
    lift_rest(k, &cell, whole, (int)(count - whole), l);
}

/* Reads no number behind the rows; writes whole vectors to `out` but not to `carry`. */
static void lower_rows(const TesiTransferAxis *axis, int c, ptrdiff_t count, const Real *from,
                       ptrdiff_t pitch, bool end, Real *out, ptrdiff_t out_pitch, Real *carry) {
  const ptrdiff_t whole = count / LANES * LANES;
  const Cell cell = cell_of(axis, c);
  if (whole > 0)
    cell.kernels->lower_rows(axis->degree, cell.table, whole, from, pitch, end, out, out_pitch, carry);
  if (whole == count) return;
  const size_t bytes = sizeof(Real) * (size_t)(count - whole);
  V in[3 * N], left = {0};
  for (int f = 0; f < cell.step + end; f++) {
    in[f] = (V){0};
    memcpy(&in[f], from + f * pitch + whole, bytes);
  }
  memcpy(&left, carry + whole, bytes);
  cell.kernels->lower_rows(axis->degree, cell.table, LANES, (Real *)in, LANES, end, out + whole, out_pitch,
                           (Real *)&left);
  memcpy(carry + whole, &left, bytes);
}

/* ---- prolongation -------------------------------------------------------------------------------------- */

/* A block of coarse cells in y of one layer. */
typedef struct Block {
  int layer, first, last; /* cells */
  int first_plane;        /* the rows below are still there from the layer before */
  bool end_y, end_z;
  ptrdiff_t fine_rows, offset; /* rows without gaps: to write; numbers before them in `plane` */
} Block;

static Block make_block(const March *m, int layer, int first, int start) {
  Block b = {.layer = layer, .first = first};
  b.last = tesi_min(first + m->plan->block, m->task->last[0]);
  b.end_y = b.last == m->y->cells;
  b.end_z = layer + 1 == m->z->cells;
  b.fine_rows = (ptrdiff_t)steps_of(m->y, first, b.last) + b.end_y;
  b.offset = (ptrdiff_t)(first - start) * m->y->step * m->x->fine_nodes;
  return b;
}

static void lift_block_x(March *m, const Block *b, const Real *coarse) {
  const TesiTransferAxis *y = m->y;
  const bool follows = b->first > m->task->first[0];
  const int rows = (b->last - b->first) * y->degree;
  for (int p = b->first_plane; p < m->planes; p++) {
    Real *to = m->rows + p * m->row_plane;
    const ptrdiff_t row =
        (ptrdiff_t)(b->layer * m->z->degree + p) * y->coarse_nodes + (ptrdiff_t)b->first * y->degree;
    if (follows)
      memcpy(to, to + m->plan->block * y->degree * m->line, sizeof(Real) * (size_t)m->x->fine_nodes);
    for (int r = follows; r <= rows; r++)
      push(m, lift_lines, coarse + (row + r) * m->x->coarse_nodes, to + r * m->line);
  }
  flush(m, lift_lines);
}

/* Plane p of the block on its way from y to z. */
static Real *plane_between(const March *m, const Block *b, int p) {
  if (p == 0 || p == m->planes - 1) return m->plane[(b->layer + (p > 0)) % 2] + b->offset;
  return m->planes_between + (p - 1) * m->between;
}

static void lift_block_y(const March *m, const Block *b, int p, Real *out, bool add) {
  const TesiTransferAxis *y = m->y;
  const ptrdiff_t nx = m->x->fine_nodes;
  for (int c = b->first; c < b->last; c++, out += y->step * nx) {
    const Real *in = m->rows + p * m->row_plane + (c - b->first) * y->degree * m->line;
    const Lift lift = {.first = in,
                       .middle = in + m->line,
                       .last = in + y->degree * m->line,
                       .pitch = m->line,
                       .out = out,
                       .out_pitch = nx,
                       .end = c + 1 == y->cells,
                       .add = add};
    lift_rows(y, c, nx, &lift);
  }
}

static void lift_block(March *m, const Block *b, const Real *coarse, bool add, Real *fine) {
  const TesiTransferAxis *y = m->y, *z = m->z;
  const ptrdiff_t nx = m->x->fine_nodes, first_row = (ptrdiff_t)b->first * y->step;
  lift_block_x(m, b, coarse);
  if (m->plan->dim == 2) {
    lift_block_y(m, b, 0, fine + first_row * nx, add);
    return;
  }
  for (int p = b->first_plane; p < m->planes; p++) lift_block_y(m, b, p, plane_between(m, b, p), false);
  const Lift lift = {.first = plane_between(m, b, 0),
                     .middle = m->planes_between,
                     .last = plane_between(m, b, z->degree),
                     .pitch = m->between,
                     .out = fine + ((ptrdiff_t)b->layer * z->step * y->fine_nodes + first_row) * nx,
                     .out_pitch = nx * y->fine_nodes,
                     .end = b->end_z,
                     .add = add};
  lift_rows(z, b->layer, b->fine_rows * nx, &lift);
}

void REAL_NAME(tesk_prolongate)(const TesiTransferPlan *plan, const TesiTransferTask *task,
                                const void *coarse, bool add, void *fine) {
  March m = begin(plan, task);
  lay_out(&m, task->workspace);
  for (int layer = task->first[1]; layer < task->last[1]; layer++)
    for (int c = task->first[0]; c < task->last[0]; c += plan->block) {
      Block b = make_block(&m, layer, c, task->first[0]);
      b.first_plane = layer > task->first[1];
      lift_block(&m, &b, coarse, add, fine);
    }
}

/* ---- restriction --------------------------------------------------------------------------------------- */

static bool is_dirichlet(const TesiTransferAxis *axis, int node) {
  return (node == 0 && !axis->natural[0]) || (node == axis->coarse_nodes - 1 && !axis->natural[1]);
}

/* Rows of coarse plane p, summed in z, are summed in y. */
static void lower_block_y(const March *m, const Block *b, int p, const Real *from, ptrdiff_t count) {
  const TesiTransferAxis *y = m->y;
  const ptrdiff_t nx = m->x->fine_nodes;
  Real *carry = m->carry_y + p * m->line, *out = m->rows + p * m->row_plane;
  for (int c = b->first; c < b->last; c++, from += y->step * nx, out += y->degree * m->line)
    lower_rows(y, c, count, from, nx, c + 1 == y->cells, out, m->line, carry);
  if (b->end_y) memcpy(out, carry, sizeof(Real) * (size_t)nx);
}

static void lower_block_x(March *m, const Block *b, int planes, Real *coarse) {
  const TesiTransferAxis *y = m->y, *z = m->z;
  const int skip = tesi_max(m->task->first[0] - b->first, 0) * y->degree; /* the cell below the task */
  for (int p = 0; p < planes; p++)
    for (int r = skip; r < (b->last - b->first) * y->degree + b->end_y; r++) {
      const int row_y = b->first * y->degree + r, row_z = b->layer * z->degree + p;
      Real *to = coarse + ((ptrdiff_t)row_z * y->coarse_nodes + row_y) * m->x->coarse_nodes;
      if (is_dirichlet(y, row_y) || is_dirichlet(z, row_z))
        memset(to, 0, sizeof(Real) * (size_t)m->x->coarse_nodes);
      else
        push(m, lower_lines, m->rows + p * m->row_plane + r * m->line, to);
    }
  flush(m, lower_lines);
}

static void lower_block(March *m, const Block *b, const Real *fine, Real *coarse) {
  const TesiTransferAxis *y = m->y, *z = m->z;
  const ptrdiff_t nx = m->x->fine_nodes, padded = (nx + LANES - 1) / LANES * LANES;
  const Real *from =
      fine + ((ptrdiff_t)b->layer * z->step * y->fine_nodes + (ptrdiff_t)b->first * y->step) * nx;
  if (m->plan->dim == 2) {
    lower_block_y(m, b, 0, from, nx);
    lower_block_x(m, b, 1, coarse);
    return;
  }
  Real *carry = m->plane[0] + b->offset;
  lower_rows(z, b->layer, b->fine_rows * nx, from, nx * y->fine_nodes, b->end_z, m->planes_between,
             m->between, carry);
  if (b->layer < m->task->first[1]) return; /* only the carry was needed */
  for (int p = 0; p < z->degree; p++) lower_block_y(m, b, p, m->planes_between + p * m->between, padded);
  if (b->end_z) lower_block_y(m, b, z->degree, carry, padded);
  lower_block_x(m, b, z->degree + b->end_z, coarse);
}

void REAL_NAME(tesk_restrict)(const TesiTransferPlan *plan, const TesiTransferTask *task, const void *fine,
                              void *coarse) {
  March m = begin(plan, task);
  lay_out(&m, task->workspace);
  const int start_y = task->first[0] - (task->first[0] > 0), start_z = task->first[1] - (task->first[1] > 0);
  if (plan->dim == 3) {
    const size_t rows = (size_t)steps_of(m.y, start_y, task->last[0]) + 1;
    memset(m.plane[0], 0, sizeof(Real) * rows * (size_t)m.x->fine_nodes);
  }
  for (int layer = start_z; layer < task->last[1]; layer++) {
    memset(m.carry_y, 0, sizeof(Real) * (size_t)(m.planes * m.line));
    for (int c = start_y; c < task->last[0]; c += plan->block) {
      const Block b = make_block(&m, layer, c, start_y);
      lower_block(&m, &b, fine, coarse);
    }
  }
}

size_t REAL_NAME(tesk_transfer_workspace)(const TesiTransferPlan *plan, const TesiTransferTask *task) {
  March m = begin(plan, task);
  return lay_out(&m, NULL);
}

#endif
