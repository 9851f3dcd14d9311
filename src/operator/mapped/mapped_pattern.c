/* The pattern of an assembled operator: each cell's nodes are sorted once; a row's columns are the union of the lists of its cells. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include "operator/assembled/matrix.h"
#include "geometry/geometry.h"
#include "operator/mapped/mapped_matrix.h"

typedef struct Keyed {
  int32_t node;
  int16_t place;
} Keyed;

static int by_node(const void *a, const void *b) {
  const Keyed *x = a, *y = b;
  return (x->node > y->node) - (x->node < y->node);
}

/* Free nodes ascending, -1 behind the last. */
static void sort_cell(const TesiMapped *m, int64_t cell, TesiPattern *p) {
  enum { MOST = 16 * 16 * 16 };
  Keyed list[MOST];
  int64_t count = 0;
  const int64_t N = m->cell_nodes;
  for (int64_t a = 0; a < N; a++)
    if (m->index[cell * N + a] >= 0) list[count++] = (Keyed){m->index[cell * N + a], (int16_t)a};
  qsort(list, (size_t)count, sizeof *list, by_node);
  for (int64_t a = 0; a < N; a++) {
    p->sorted[cell * N + a] = a < count ? list[a].node : -1;
    p->place[cell * N + a] = a < count ? list[a].place : -1;
  }
}

static TesStatus sort_cells(const TesiMapped *m, TesiPattern *p) {
  TesContext *ctx = m->geometry->context;
  TesStatus status = TES_OK;
  const int64_t entries = m->cells * m->cell_nodes;
  TES_ALLOC(&p->sorted, entries);
  TES_ALLOC(&p->place, entries);
  TES_ALLOC(&p->first, m->nodes + 2);
  TES_ALLOC(&p->cell, entries);
#pragma omp parallel for schedule(static) num_threads(tes_context_threads(ctx))
  for (int64_t c = 0; c < m->cells; c++) sort_cell(m, c, p);
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

/* Columns of a row, into one of the two buffers of `size` numbers; a constrained row has itself. */
static int64_t row_columns(const TesiMapped *m, const TesiPattern *p, int64_t row, int64_t size,
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

static TesStatus check_memory(TesContext *ctx, int64_t rows, int64_t entries) {
  TesStatus status = TES_OK;
  const double bytes = 12.0 * (double)entries + 8.0 * (double)rows,
               available = (double)tes_memory_available();
  tesi_log(ctx, TES_LOG_DETAIL, "assembly: %lld rows, %lld entries, %.3g GiB", (long long)rows,
           (long long)entries, bytes / (1 << 30));
  if (bytes > available)
    TES_FAIL(TES_OUT_OF_MEMORY, "the matrix of %lld entries needs %.3g GiB, %.3g GiB are free",
             (long long)entries, bytes / (1 << 30), available / (1 << 30));
done:
  return status;
}

TesStatus tesi_pattern_create(const TesiMapped *m, TesiPattern *pattern, TesiMatrix *matrix) {
  TesContext *ctx = m->geometry->context;
  TesStatus status = TES_OK;
  const int threads = tes_context_threads(ctx);
  int32_t *buffers = NULL;
  int64_t most = 1;
  TES_TRY(sort_cells(m, pattern));
  for (int64_t i = 0; i < m->nodes; i++)
    if (pattern->first[i + 1] - pattern->first[i] > most) most = pattern->first[i + 1] - pattern->first[i];
  const int64_t size = most * m->cell_nodes;
  TES_ALLOC(&buffers, 2 * threads * size);
  TES_ALLOC(&matrix->row, m->nodes + 1);
#pragma omp parallel for schedule(dynamic, 256) num_threads(threads)
  for (int64_t i = 0; i < m->nodes; i++) {
    const int32_t *columns;
    matrix->row[i + 1] =
        row_columns(m, pattern, i, size, buffers + 2 * omp_get_thread_num() * size, &columns);
  }
  for (int64_t i = 0; i < m->nodes; i++) matrix->row[i + 1] += matrix->row[i];
  matrix->rows = m->nodes, matrix->entries = matrix->row[m->nodes];
  TES_TRY(check_memory(ctx, matrix->rows, matrix->entries));
  TES_ALLOC(&matrix->column, matrix->entries);
  TES_ALLOC(&matrix->value, matrix->entries);
#pragma omp parallel for schedule(dynamic, 256) num_threads(threads)
  for (int64_t i = 0; i < m->nodes; i++) {
    const int32_t *columns;
    const int64_t count =
        row_columns(m, pattern, i, size, buffers + 2 * omp_get_thread_num() * size, &columns);
    memcpy(matrix->column + matrix->row[i], columns, (size_t)count * sizeof *columns);
  }
done:
  tesi_free(ctx, &buffers);
  return status;
}

void tesi_pattern_free(TesContext *ctx, TesiPattern *pattern) {
  tesi_free(ctx, &pattern->sorted);
  tesi_free(ctx, &pattern->place);
  tesi_free(ctx, &pattern->first);
  tesi_free(ctx, &pattern->cell);
}
