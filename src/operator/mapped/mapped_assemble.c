/* The assembled form of a mapped operator: the matrices of the cells added to the rows of assembled/pattern.c. */
#include "base/integer.h"
#include "base/team.h"
#include "operator/assembled/matrix.h"
#include "geometry/geometry.h"
#include "operator/mapped/mapped_matrix.h"

/* Some cells, their factors and matrices. */
typedef struct Block {
  const TesiMapped *m;
  const TesiCellMatrix *cells;
  const double *g;  /* [count][size] */
  double *K, *work; /* [count][N][N]; [threads][share] */
  int64_t first, count, size, share;
} Block;

static void make_span(const void *data, TesiSpan span) {
  const Block *b = data;
  const int64_t N = b->m->cell_nodes;
  for (int64_t c = span.first; c < span.end; c++)
    tesi_cell_matrix(b->cells, b->first + c, b->g + c * b->size, b->work + span.thread * b->share,
                     b->K + c * N * N);
}

/* Factors and matrices are made for as many cells at a time as fit in NUMBERS, and for LEAST at least. */
static TesStatus add_cells(const TesiMapped *m, const TesiPatternCells *all, const TesiPattern *pattern,
                           TesiMatrix *matrix) {
  enum { LEAST = 256, NUMBERS = 1 << 19, CELLS = 16 /* that a thread takes at a time */ };
  TesContext *ctx = m->geometry->context;
  TesStatus status = TES_OK;
  TesiCellMatrix *cells = NULL;
  const int64_t N = m->cell_nodes, size = m->factors * m->cell_points;
  const int threads = tes_context_threads(ctx);
  const int64_t block = NUMBERS / size > LEAST ? NUMBERS / size : LEAST;
  const int64_t some = tesi_min64(block, NUMBERS / (N * N) > threads ? NUMBERS / (N * N) : threads);
  double *work = NULL, *g = NULL, *K = NULL;
  TES_TRY(tesi_cell_matrix_create(m, &cells));
  const int64_t share = tesi_cell_matrix_work(cells);
  TES_ALLOC(&work, threads * share);
  TES_ALLOC(&g, block * size);
  TES_ALLOC(&K, some * N * N);
  for (int64_t first = 0; first < m->cells; first += block) {
    const int64_t count = tesi_min64(block, m->cells - first);
    TES_TRY(tesi_mapped_fill_factors(m, first, count, g));
    for (int64_t c = 0; c < count; c += some) {
      const Block b = {m, cells, g + c * size, K, work, first + c, tesi_min64(some, count - c), size, share};
      tesi_team_share(threads, b.count, CELLS, make_span, &b);
      tesi_pattern_add(all, pattern, b.first, b.count, K, matrix);
    }
  }
  for (int64_t i = 0; i < m->constrained; i++) matrix->value[matrix->row[m->constrained_nodes[i]]] = 1;
done:
  tesi_cell_matrix_destroy(&cells);
  tesi_free(ctx, &work);
  tesi_free(ctx, &g);
  tesi_free(ctx, &K);
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
  const TesiPatternCells all = {ctx, m->cells, m->nodes, m->cell_nodes, m->index};
  TES_TRY(tesi_pattern_create(&all, &pattern, &A));
  TES_TRY(add_cells(m, &all, &pattern, &A));
  *matrix = A;
done:
  tesi_pattern_free(ctx, &pattern);
  if (status != TES_OK) tesi_matrix_destroy(ctx, &A);
  return status;
}
