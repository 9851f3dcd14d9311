/* The assembled twin of a mapped operator: rows found by counting and sorting, then cell matrices added. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include "operator/op_mapped_dense.h"

typedef struct Assembly {
  const TesiMapped *m;
  TesMatrix matrix;
  int64_t *first; /* [nodes + 1] cells of a node: cell[first[i]] .. */
  int32_t *cell;
} Assembly;

static int ascending(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* The cells of each free node. */
static TesStatus find_cells(TesContext *ctx, Assembly *s) {
  TesStatus status = TES_OK;
  const TesiMapped *m = s->m;
  const int64_t entries = m->cells * m->cell_nodes;
  TES_ALLOC(&s->first, m->nodes + 2);
  TES_ALLOC(&s->cell, entries);
  for (int64_t i = 0; i < entries; i++)
    if (m->index[i] >= 0) s->first[m->index[i] + 2]++;
  for (int64_t i = 0; i < m->nodes; i++) s->first[i + 2] += s->first[i + 1];
  for (int64_t i = 0; i < entries; i++)
    if (m->index[i] >= 0) s->cell[s->first[m->index[i] + 1]++] = (int32_t)(i / m->cell_nodes);
done:
  return status;
}

/* Columns of a row, ascending and once each, to list; returns how many. A constrained row has itself. */
static int64_t row_columns(const Assembly *s, int64_t row, int32_t *list) {
  const TesiMapped *m = s->m;
  int64_t count = 0, kept = 0;
  for (int64_t c = s->first[row]; c < s->first[row + 1]; c++)
    for (int64_t a = 0; a < m->cell_nodes; a++) {
      const int32_t node = m->index[s->cell[c] * m->cell_nodes + a];
      if (node >= 0) list[count++] = node;
    }
  if (count == 0) list[count++] = (int32_t)row;
  qsort(list, (size_t)count, sizeof *list, ascending);
  for (int64_t i = 0; i < count; i++)
    if (i == 0 || list[i] != list[i - 1]) list[kept++] = list[i];
  return kept;
}

static TesStatus check_memory(TesContext *ctx, int64_t rows, int64_t entries) {
  TesStatus status = TES_OK;
  const double bytes = 12.0 * (double)entries + 8.0 * (double)rows,
               available = (double)tesi_memory_available();
  tesi_log(ctx, TES_LOG_DETAIL, "assembly: %lld rows, %lld entries, %.3g GiB", (long long)rows,
           (long long)entries, bytes / (1 << 30));
  if (bytes > available)
    TES_FAIL(TES_OUT_OF_MEMORY, "the matrix of %lld entries needs %.3g GiB, %.3g GiB are free",
             (long long)entries, bytes / (1 << 30), available / (1 << 30));
done:
  return status;
}

static TesStatus find_rows(TesContext *ctx, Assembly *s) {
  TesStatus status = TES_OK;
  const TesiMapped *m = s->m;
  int32_t *list = NULL;
  int64_t most = 1;
  TES_TRY(find_cells(ctx, s));
  for (int64_t i = 0; i < m->nodes; i++)
    if (s->first[i + 1] - s->first[i] > most) most = s->first[i + 1] - s->first[i];
  TES_ALLOC(&list, most * m->cell_nodes);
  TES_ALLOC(&s->matrix.row, m->nodes + 1);
  for (int64_t i = 0; i < m->nodes; i++) s->matrix.row[i + 1] = s->matrix.row[i] + row_columns(s, i, list);
  s->matrix.rows = m->nodes, s->matrix.entries = s->matrix.row[m->nodes];
  TES_TRY(check_memory(ctx, s->matrix.rows, s->matrix.entries));
  TES_ALLOC(&s->matrix.column, s->matrix.entries);
  TES_ALLOC(&s->matrix.value, s->matrix.entries);
  for (int64_t i = 0; i < m->nodes; i++) {
    const int64_t count = row_columns(s, i, list);
    memcpy(s->matrix.column + s->matrix.row[i], list, (size_t)count * sizeof *list);
  }
done:
  tesi_free(ctx, &list);
  return status;
}

static void add_cell(Assembly *s, int64_t cell, const double *matrix) {
  const TesiMapped *m = s->m;
  const int32_t *index = m->index + cell * m->cell_nodes;
  for (int64_t a = 0; a < m->cell_nodes; a++) {
    if (index[a] < 0) continue;
    const int64_t begin = s->matrix.row[index[a]], count = s->matrix.row[index[a] + 1] - begin;
    for (int64_t b = 0; b < m->cell_nodes; b++) {
      if (index[b] < 0) continue;
      const int32_t *at = bsearch(&index[b], s->matrix.column + begin, (size_t)count, sizeof *at, ascending);
      double *to = &s->matrix.value[at - s->matrix.column];
#pragma omp atomic
      *to += matrix[a * m->cell_nodes + b];
    }
  }
}

static TesStatus add_cells(TesContext *ctx, Assembly *s) {
  TesStatus status = TES_OK;
  const TesiMapped *m = s->m;
  const int64_t n = m->cell_nodes, share = n * n + (m->dim + 2) * n;
  const int threads = tes_context_threads(ctx);
  double *work = NULL;
  TES_ALLOC(&work, threads * share);
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads)
  for (int64_t c = 0; c < m->cells; c++) {
    double *matrix = work + omp_get_thread_num() * share;
    tesi_mapped_matrix(m, c, matrix + n * n, matrix);
    if (tesi_mapped_hangs(m, c)) tesi_mapped_hang_matrix(m, c, matrix);
    add_cell(s, c, matrix);
  }
  for (int64_t i = 0; i < m->constrained; i++) s->matrix.value[s->matrix.row[m->constrained_nodes[i]]] = 1;
done:
  tesi_free(ctx, &work);
  return status;
}

TesStatus tes_mapped_assemble(const TesOperator *op, TesMatrix *matrix) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  Assembly s = {.m = op->mapped};
  *matrix = (TesMatrix){0};
  TES_CHECK(op->mapped && op->mapped->global, "only mapped operators in the global form are assembled");
  TES_TRY(find_rows(ctx, &s));
  TES_TRY(add_cells(ctx, &s));
  *matrix = s.matrix;
done:
  tesi_free(ctx, &s.first);
  tesi_free(ctx, &s.cell);
  if (status != TES_OK) tes_mapped_matrix_free(op, &s.matrix);
  return status;
}

void tes_mapped_matrix_free(const TesOperator *op, TesMatrix *matrix) {
  TesContext *ctx = op->context;
  tesi_free(ctx, &matrix->row);
  tesi_free(ctx, &matrix->column);
  tesi_free(ctx, &matrix->value);
  *matrix = (TesMatrix){0};
}
