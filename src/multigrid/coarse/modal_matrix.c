/* The matrix of an operator over modes of a box: see modal_matrix.h. */
#include "multigrid/coarse/modal_matrix.h"
#include "smoother/flow_patch/flow_patch.h"
#include "space/rt_cells.h"

enum { NEAR = 7 };

typedef struct Modal {
  TesContext *context;
  const TesSpace *space;
  int n, modes, colours;
  int64_t cells;
  int64_t *near; /* [cells][NEAR] the cell, then its neighbours, each once; -1: no more */
  uint8_t *colour;
  double *x, *y; /* [length] */
} Modal;

/* Entry of a mode of a cell. */
static int64_t entry_of(const Modal *m, int64_t cell, int mode) {
  const int extent[3] = TESI_EXTENT(m->space), n = m->n;
  int place[3];
  tesi_rt_cell(m->space, cell, place);
  int64_t entry = 0;
  for (int d = m->space->dim - 1, step = m->modes / n; d >= 0; d--, step /= n)
    entry = entry * extent[d] + (int64_t)place[d] * n + mode / step % n;
  return entry;
}

static void find_near(const Modal *m, int64_t cell) {
  int64_t *near = m->near + cell * NEAR;
  int place[3], next[3], count = 0;
  tesi_rt_cell(m->space, cell, place);
  near[count++] = cell;
  for (int f = 0; f < 2 * m->space->dim; f++) {
    const int64_t other = tesi_flow_behind(m->space, place, f, next);
    bool known = other < 0;
    for (int i = 0; i < count; i++) known = known || near[i] == other;
    if (!known) near[count++] = other;
  }
  while (count < NEAR) near[count++] = -1;
}

/* Cells with a neighbour in common have different colours. */
static void colour_cells(Modal *m) {
  for (int64_t c = 0; c < m->cells; c++) {
    uint64_t taken = 0;
    int colour = 0;
    for (int i = 0; i < NEAR && m->near[c * NEAR + i] >= 0; i++)
      for (int j = 0; j < NEAR; j++) {
        const int64_t other = m->near[m->near[c * NEAR + i] * NEAR + j];
        if (other >= 0 && other < c) taken |= UINT64_C(1) << m->colour[other];
      }
    while (taken >> colour & 1) colour++;
    m->colour[c] = (uint8_t)colour;
    m->colours = tesi_max(m->colours, colour + 1);
  }
}

/* The pattern: all modes of the cells near a row's cell. */
static TesStatus make_pattern(const Modal *m, TesiMatrix *A) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  A->rows = m->cells * m->modes;
  TES_ALLOC(&A->row, A->rows + 1);
  for (int64_t c = 0; c < m->cells; c++)
    for (int k = 0; k < m->modes; k++)
      for (int i = 0; i < NEAR && m->near[c * NEAR + i] >= 0; i++) A->row[entry_of(m, c, k) + 1] += m->modes;
  for (int64_t r = 0; r < A->rows; r++) A->row[r + 1] += A->row[r];
  A->entries = A->row[A->rows];
  TES_ALLOC(&A->column, A->entries);
  TES_ALLOC(&A->value, A->entries);
  for (int64_t c = 0; c < m->cells; c++)
    for (int i = 0; i < NEAR && m->near[c * NEAR + i] >= 0; i++)
      for (int j = 0; j < m->modes; j++) {
        const int64_t column = entry_of(m, m->near[c * NEAR + i], j);
        for (int k = 0; k < m->modes; k++)
          A->column[A->row[entry_of(m, c, k)] + (int64_t)i * m->modes + j] = (int32_t)column;
      }
done:
  return status;
}

/* Columns of a mode of all cells of a colour, from the product with the sum of their unit vectors. */
static TesStatus take_columns(const Modal *m, const TesOperator *op, int colour, int mode, TesiMatrix *A) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  for (int64_t r = 0; r < A->rows; r++) m->x[r] = 0;
  for (int64_t c = 0; c < m->cells; c++)
    if (m->colour[c] == colour) m->x[entry_of(m, c, mode)] = 1;
  TES_TRY(op->table->apply(op, m->x, m->y));
  for (int64_t c = 0; c < m->cells; c++)
    for (int i = 0; i < NEAR && m->near[c * NEAR + i] >= 0; i++) {
      if (m->colour[m->near[c * NEAR + i]] != colour) continue;
      for (int k = 0; k < m->modes; k++) {
        const int64_t row = entry_of(m, c, k);
        A->value[A->row[row] + (int64_t)i * m->modes + mode] = m->y[row];
      }
    }
done:
  return status;
}

TesStatus tesi_modal_matrix(const TesOperator *op, TesiMatrix *A) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  Modal m = {.context = ctx, .space = op->space, .n = op->space->degree + 1, .modes = 1};
  for (int d = 0; d < op->space->dim; d++) m.modes *= m.n;
  m.cells = tesi_rt_cells(op->space);
  TES_ALLOC(&m.near, m.cells * NEAR);
  TES_ALLOC(&m.colour, m.cells);
  TES_ALLOC(&m.x, op->length);
  TES_ALLOC(&m.y, op->length);
  for (int64_t c = 0; c < m.cells; c++) find_near(&m, c);
  colour_cells(&m);
  TES_TRY(make_pattern(&m, A));
  for (int colour = 0; colour < m.colours; colour++)
    for (int mode = 0; mode < m.modes; mode++) {
      TES_TRY(tesi_work_go_on(ctx));
      TES_TRY(take_columns(&m, op, colour, mode, A));
    }
done:
  tesi_free(ctx, &m.near);
  tesi_free(ctx, &m.colour);
  tesi_free(ctx, &m.x);
  tesi_free(ctx, &m.y);
  return status;
}
