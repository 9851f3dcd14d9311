/* The pattern of an assembled operator: each cell's nodes are sorted once; a row's columns are the union of the
 * lists of its cells. */
#include <stdlib.h>
#include <string.h>
#include "base/afford.h"
#include "base/ascending.h"
#include "base/team.h"
#include "operator/assembled/pattern.h"

typedef struct Keyed {
  int32_t node;
  int16_t place;
} Keyed;

/* Nodes ascending, -1 behind the last. */
static void sort_cell(const TesiPatternCells *m, int64_t cell, TesiPattern *p) {
  enum { MOST = 16 * 16 * 16 };
  Keyed list[MOST];
  int64_t count = 0;
  const int64_t N = m->cell_nodes;
  for (int64_t a = 0; a < N; a++)
    if (m->index[cell * N + a] >= 0) list[count++] = (Keyed){m->index[cell * N + a], (int16_t)a};
  qsort(list, (size_t)count, sizeof *list, tesi_ascending_int32);
  for (int64_t a = 0; a < N; a++) {
    p->sorted[cell * N + a] = a < count ? list[a].node : -1;
    p->place[cell * N + a] = a < count ? list[a].place : -1;
  }
}

typedef struct Cells {
  const TesiPatternCells *m;
  TesiPattern *pattern;
} Cells;

static void sort_span(const void *data, TesiSpan span) {
  const Cells *cells = data;
  for (int64_t c = span.first; c < span.end; c++) sort_cell(cells->m, c, cells->pattern);
}

static TesStatus sort_cells(const TesiPatternCells *m, TesiPattern *p) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  const int64_t entries = m->cells * m->cell_nodes;
  TES_ALLOC(&p->sorted, entries);
  TES_ALLOC(&p->place, entries);
  TES_ALLOC(&p->first, m->nodes + 2);
  TES_ALLOC(&p->cell, entries);
  tesi_team_for(tesi_team_threads(ctx, entries), m->cells, sort_span, &(Cells){m, p});
  for (int64_t i = 0; i < entries; i++)
    if (m->index[i] >= 0) p->first[m->index[i] + 2]++;
  for (int64_t i = 0; i < m->nodes; i++) p->first[i + 2] += p->first[i + 1];
  for (int64_t i = 0; i < entries; i++)
    if (m->index[i] >= 0) p->cell[p->first[m->index[i] + 1]++] = (int32_t)(i / m->cell_nodes);
done:
  return status;
}

/* out <- the union of a[count] and a cell's list; returns its length. */
static int64_t merge(const int32_t *a, int64_t count, const int32_t *b, int64_t most, int32_t *out) {
  int64_t i = 0, j = 0, length = 0;
  while (i < count || (j < most && b[j] >= 0)) {
    const int32_t left = i < count ? a[i] : INT32_MAX;
    const int32_t right = j < most && b[j] >= 0 ? b[j] : INT32_MAX;
    const int32_t next = left < right ? left : right;
    while (i < count && a[i] == next) i++;
    while (j < most && b[j] == next) j++;
    out[length++] = next;
  }
  return length;
}

/* The columns of a row, in one of the two buffers of `size` numbers; a constrained row has only its diagonal. */
static int64_t row_columns(const TesiPatternCells *m, const TesiPattern *p, int64_t row, int64_t size,
                           int32_t *buffers, const int32_t **columns) {
  int32_t *from = buffers, *to = buffers + size;
  int64_t count = 0;
  for (int64_t c = p->first[row]; c < p->first[row + 1]; c++) {
    count = merge(from, count, p->sorted + p->cell[c] * m->cell_nodes, m->cell_nodes, to);
    int32_t *const swap = from;
    from = to, to = swap;
  }
  if (count == 0) from[count++] = (int32_t)row;
  *columns = from;
  return count;
}

TesStatus tesi_matrix_check_memory(TesContext *ctx, int64_t rows, int64_t entries) {
  return tesi_afford(ctx, 12.0 * (double)entries + 8.0 * (double)rows, (double)tes_memory_available(), NULL,
                     "the matrix of %lld rows and %lld entries needs", (long long)rows, (long long)entries);
}

typedef struct Rows {
  const TesiPatternCells *m;
  const TesiPattern *pattern;
  int64_t size; /* of each of a thread's two buffers */
  int32_t *buffers;
  TesiMatrix *matrix;
} Rows;

static void count_rows(const void *data, TesiSpan span) {
  const Rows *r = data;
  const int32_t *columns;
  for (int64_t i = span.first; i < span.end; i++)
    r->matrix->row[i + 1] =
        row_columns(r->m, r->pattern, i, r->size, r->buffers + 2 * span.thread * r->size, &columns);
}

static void fill_rows(const void *data, TesiSpan span) {
  const Rows *r = data;
  const int32_t *columns;
  for (int64_t i = span.first; i < span.end; i++) {
    const int64_t count =
        row_columns(r->m, r->pattern, i, r->size, r->buffers + 2 * span.thread * r->size, &columns);
    memcpy(r->matrix->column + r->matrix->row[i], columns, (size_t)count * sizeof *columns);
  }
}

TesStatus tesi_pattern_create(const TesiPatternCells *m, TesiPattern *pattern, TesiMatrix *matrix) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  enum { ROWS = 256 }; /* that a thread takes at a time */
  const int threads = tesi_team_threads(ctx, m->cells * m->cell_nodes);
  int32_t *buffers = NULL;
  int64_t most = 1;
  TES_TRY(sort_cells(m, pattern));
  for (int64_t i = 0; i < m->nodes; i++)
    if (pattern->first[i + 1] - pattern->first[i] > most) most = pattern->first[i + 1] - pattern->first[i];
  const int64_t size = most * m->cell_nodes;
  TES_ALLOC(&buffers, 2 * threads * size);
  TES_ALLOC(&matrix->row, m->nodes + 1);
  const Rows rows = {m, pattern, size, buffers, matrix};
  tesi_team_share(threads, m->nodes, ROWS, count_rows, &rows);
  for (int64_t i = 0; i < m->nodes; i++) matrix->row[i + 1] += matrix->row[i];
  matrix->rows = m->nodes, matrix->entries = matrix->row[m->nodes];
  TES_TRY(tesi_matrix_check_memory(ctx, matrix->rows, matrix->entries));
  TES_ALLOC(&matrix->column, matrix->entries);
  TES_ALLOC(&matrix->value, matrix->entries);
  tesi_team_share(threads, m->nodes, ROWS, fill_rows, &rows);
done:
  tesi_free(ctx, &buffers);
  return status;
}

/* ---- cells --------------------------------------------------------------------------------------------- */

typedef struct Addition {
  const TesiPatternCells *m;
  const TesiPattern *pattern;
  int64_t first, count;
  const double *K;
  TesiMatrix *matrix;
  int threads;
} Addition;

/* Adds row a of a cell's matrix to the matrix: both lists of columns ascend. */
static void add_row(const int32_t *sorted, const int16_t *place, int64_t count, const double *K,
                    const int32_t *column, double *value) {
  int64_t e = 0;
  for (int64_t i = 0; i < count && sorted[i] >= 0; i++) {
    while (column[e] < sorted[i]) e++;
    value[e] += K[place[i]];
  }
}

/* A thread has the rows whose number modulo the threads is the thread's own, and adds cell after cell. So sums have
 * one order for any number of threads, and neighbouring rows, which the same cells have, go to different threads. */
static void add_span(const void *data, TesiSpan span) {
  const Addition *b = data;
  const TesiPattern *p = b->pattern;
  const TesiMatrix *A = b->matrix;
  const int64_t N = b->m->cell_nodes;
  for (int64_t t = span.first; t < span.end; t++)
    for (int64_t c = b->first; c < b->first + b->count; c++)
      for (int64_t a = 0; a < N; a++) {
        const int32_t row = b->m->index[c * N + a];
        if (row >= 0 && row % b->threads == t)
          add_row(p->sorted + c * N, p->place + c * N, N, b->K + ((c - b->first) * N + a) * N,
                  A->column + A->row[row], A->value + A->row[row]);
      }
}

void tesi_pattern_add(const TesiPatternCells *cells, const TesiPattern *pattern, int64_t first, int64_t count,
                      const double *K, TesiMatrix *matrix) {
  const int threads = tes_context_threads(cells->context);
  tesi_team_for(threads, threads, add_span, &(Addition){cells, pattern, first, count, K, matrix, threads});
}

void tesi_pattern_free(TesContext *ctx, TesiPattern *pattern) {
  tesi_free(ctx, &pattern->sorted);
  tesi_free(ctx, &pattern->place);
  tesi_free(ctx, &pattern->first);
  tesi_free(ctx, &pattern->cell);
}
