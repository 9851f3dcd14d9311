/* The assembled twin of a mapped operator: the matrices of the cells added to the rows of assembled/pattern.c. */
#include "base/team.h"
#include "operator/assembled/matrix.h"
#include "geometry/geometry.h"
#include "operator/mapped/mapped_matrix.h"

/* Row a of a cell's matrix to the matrix: both lists of columns ascend. */
static void add_row(const int32_t *sorted, const int16_t *place, int64_t count, const double *K,
                    const int32_t *column, double *value, bool shared) {
  int64_t e = 0;
  for (int64_t i = 0; i < count && sorted[i] >= 0; i++) {
    while (column[e] < sorted[i]) e++;
    if (shared) {
#pragma omp atomic
      value[e] += K[place[i]];
    } else {
      value[e] += K[place[i]];
    }
  }
}

static void add_cell(const TesiMapped *m, const TesiPattern *p, int64_t cell, const double *K,
                     TesiMatrix *A) {
  const int64_t N = m->cell_nodes;
  const int32_t *index = m->index + cell * N;
  for (int64_t a = 0; a < N; a++) {
    const int64_t row = index[a];
    if (row < 0) continue;
    add_row(p->sorted + cell * N, p->place + cell * N, N, K + a * N, A->column + A->row[row],
            A->value + A->row[row], p->first[row + 1] - p->first[row] > 1);
  }
}

/* A block of cells and its factors. */
typedef struct Block {
  const TesiMapped *m;
  const TesiPattern *pattern;
  const TesiCellMatrix *cells;
  TesiMatrix *matrix;
  const double *g;
  double *work; /* [threads][share] */
  int64_t first, size, share;
} Block;

static void add_span(const void *data, TesiSpan span) {
  const Block *b = data;
  const int64_t N = b->m->cell_nodes;
  double *K = b->work + span.thread * b->share;
  for (int64_t c = span.first; c < span.end; c++) {
    tesi_cell_matrix(b->cells, b->first + c, b->g + c * b->size, K + N * N, K);
    add_cell(b->m, b->pattern, b->first + c, K, b->matrix);
  }
}

/* Cells in blocks, whose factors are made at a time. */
static TesStatus add_cells(const TesiMapped *m, const TesiPattern *pattern, TesiMatrix *matrix) {
  enum { BLOCK = 256, CELLS = 4 /* that a thread takes at a time */ };
  TesContext *ctx = m->geometry->context;
  TesStatus status = TES_OK;
  TesiCellMatrix *cells = NULL;
  const int64_t N = m->cell_nodes, size = m->factors * m->cell_points;
  const int threads = tes_context_threads(ctx);
  double *work = NULL, *g = NULL;
  TES_TRY(tesi_cell_matrix_create(m, &cells));
  const int64_t share = tesi_cell_matrix_work(cells) + N * N;
  TES_ALLOC(&work, threads * share);
  TES_ALLOC(&g, BLOCK * size);
  for (int64_t first = 0; first < m->cells; first += BLOCK) {
    const int64_t count = first + BLOCK < m->cells ? BLOCK : m->cells - first;
    TES_TRY(tesi_mapped_fill_factors(m, first, count, g));
    const Block block = {m, pattern, cells, matrix, g, work, first, size, share};
    tesi_team_share(threads, count, CELLS, add_span, &block);
  }
  for (int64_t i = 0; i < m->constrained; i++) matrix->value[matrix->row[m->constrained_nodes[i]]] = 1;
done:
  tesi_cell_matrix_destroy(&cells);
  tesi_free(ctx, &work);
  tesi_free(ctx, &g);
  return status;
}

TesStatus tesi_mapped_assemble(const TesOperator *op, TesiMatrix *matrix) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiPattern pattern = {0};
  TesiMatrix A = {0};
  *matrix = A;
  TES_CHECK(tesi_mapped_of(op) && tesi_mapped_of(op)->global,
            "only mapped operators in the global form are assembled");
  const TesiMapped *const m = tesi_mapped_of(op);
  TES_TRY(tesi_pattern_create(&(TesiPatternCells){ctx, m->cells, m->nodes, m->cell_nodes, m->index}, &pattern,
                              &A));
  TES_TRY(add_cells(m, &pattern, &A));
  *matrix = A;
done:
  tesi_pattern_free(ctx, &pattern);
  if (status != TES_OK) tesi_matrix_destroy(ctx, &A);
  return status;
}
