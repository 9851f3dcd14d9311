/* The matrix of a transport operator over trees is a sum: the matrix of its symmetric part, the cell matrices of the
 * velocity's term, eight cells at a time, and the matrices of faces. */
#include <string.h>
#include "base/integer.h"
#include "base/team.h"
#include "mesh/forest/hanging.h"
#include "operator/assembled/pattern.h"
#include "operator/mapped/mapped.h"
#include "operator/mapped/mapped_robin.h"
#include "operator/transport/transport_operator.h"

/* Some batches and the matrices of their cells. */
typedef struct Block {
  const TesiTransport *t;
  double *K; /* [cells][nodes of tests][nodes] */
  int64_t first;
} Block;

/* u <- basis function j at the points, in all lanes. */
static void fill_basis(const TesiBatches *b, int j, double *u) {
  const int node[3] = {j % b->n, j / b->n % b->n, j / b->n / b->n};
  for (int64_t p = 0; p < b->points; p++) {
    const int64_t at[3] = {p % b->q, p / b->q % b->q, p / b->q / b->q};
    double value = 1;
    for (int d = 0; d < b->dim; d++) value *= b->B[at[d] * b->n + node[d]];
    for (int l = 0; l < TESI_BATCH; l++) u[p * TESI_BATCH + l] = value;
  }
}

/* The transpose of the evaluation at the points; returns which of the two arrays has the values at the nodes. */
static const double *project(const TesiBatches *b, double *values, double *other) {
  int size[3] = {b->q, b->q, b->dim == 3 ? b->q : 1};
  for (int d = b->dim - 1; d >= 0; d--) {
    b->loops.contract(size, d, b->q, b->n, true, b->B, values, other);
    size[d] = b->n;
    double *const swap = values;
    values = other, other = swap;
  }
  return values;
}

/* K <- C' K C of a cell with hanging nodes. */
static void hang(const TesiCellView *s, int64_t cell, double *K) {
  const int n = s->cell_nodes;
  double column[TESI_CELL_MOST];
  for (int a = 0; a < n; a++) tesi_hanging_write(s->dim, s->n, s->halves, s->mask[cell], K + a * n);
  for (int j = 0; j < n; j++) {
    for (int a = 0; a < n; a++) column[a] = K[a * n + j];
    tesi_hanging_write(s->dim, s->n, s->halves, s->mask[cell], column);
    for (int a = 0; a < n; a++) K[a * n + j] = column[a];
  }
}

static void make_span(const void *data, TesiSpan span) {
  const Block *block = data;
  const TesiTransport *t = block->t;
  const TesiBatches *b = t->batches;
  const int64_t N = b->nodes;
  double *const u = t->memory + span.thread * t->share;
  for (int64_t k = span.first; k < span.end; k++) {
    const TesiBatch batch = b->kind->batch(b, block->first + k);
    double *K = block->K + k * TESI_BATCH * N * N;
    for (int j = 0; j < N; j++) {
      fill_basis(b, j, u);
      double *const v = tesi_transport_carry(t, block->first + k, span.thread);
      const double *const rows = project(b, v, v + tesi_batches_array(b));
      for (int l = 0; l < batch.count; l++)
        for (int a = 0; a < N; a++) K[(l * N + a) * N + j] = rows[a * TESI_BATCH + l];
    }
    for (int l = 0; l < batch.count; l++)
      if (b->view->mask[batch.first + l]) hang(b->view, batch.first + l, K + l * N * N);
  }
}

static TesStatus add_cells(const TesiTransport *t, const TesiPatternCells *cells, const TesiPattern *pattern,
                           TesiMatrix *A) {
  enum { NUMBERS = 1 << 20 /* of matrices of cells at a time */ };
  TesContext *ctx = cells->context;
  TesStatus status = TES_OK;
  const TesiBatches *b = t->batches;
  const int64_t each = TESI_BATCH * b->nodes * b->nodes,
                some = NUMBERS / each > t->threads ? NUMBERS / each : t->threads;
  double *K = NULL;
  TES_ALLOC(&K, some * each);
  for (int64_t first = 0; first < b->batches; first += some) {
    const Block block = {t, K, first};
    const int64_t count = tesi_min64(some, b->batches - first),
                  end = tesi_min64((first + count) * TESI_BATCH, b->cells);
    TES_TRY(tesi_work_go_on(ctx));
    tesi_team_share(t->threads, count, 1, make_span, &block);
    tesi_pattern_add(cells, pattern, first * TESI_BATCH, end - first * TESI_BATCH, K, A);
  }
done:
  tesi_free(ctx, &K);
  return status;
}

bool tesi_transport_by_cells(const TesOperator *op) {
  const TesiTransport *t = tesi_transport_of(op);
  const TesiMapped *m = t ? tesi_mapped_of(tesi_robin_inner(t->symmetric)) : NULL;
  return m && m->global && t->batches->geometry && !t->modal && !op->local;
}

TesStatus tesi_transport_assemble(const TesOperator *op, TesiMatrix *matrix) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiTransport *t = op->plan;
  const TesiCellView *s = t->batches->view;
  const TesiPatternCells cells = {ctx, s->cells, s->length, s->cell_nodes, s->index};
  TesiPattern pattern = {0};
  TesiMatrix A = {0}, symmetric = {0};
  *matrix = A;
  TES_TRY(tesi_pattern_create(&cells, &pattern, &A));
  TES_TRY(add_cells(t, &cells, &pattern, &A));
  tesi_face_mass_entries(&t->through, &A);
  TES_TRY(tesi_operator_assemble(t->symmetric, &symmetric));
  TES_CHECK(symmetric.entries == A.entries, "the symmetric part has other nodes");
  for (int64_t e = 0; e < A.entries; e++) A.value[e] += symmetric.value[e];
  *matrix = A;
  A = (TesiMatrix){0};
done:
  tesi_pattern_free(ctx, &pattern);
  tesi_matrix_destroy(ctx, &symmetric);
  tesi_matrix_destroy(ctx, &A);
  return status;
}
