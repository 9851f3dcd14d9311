/* The matrix of an elasticity operator in blocks of its components, one block row per node. One thread computes a row
 * from the cells of its node, in their order: sums have one order, and no thread waits for another.
 *
 * Let g_a be the gradient in space of basis function a, and let lambda, mu and the mass c include all weights. A
 * point adds
 *   lambda g_a[i] g_b[j] + mu g_a[j] g_b[i] + (i == j) (mu g_a . g_b + c phi_a phi_b)
 * to the entry of component i of node a and component j of node b. For a cell with hanging nodes all of its rows, K,
 * are computed first, then C' K C. */
#include <math.h>
#include <string.h>
#include "base/team.h"
#include "mesh/forest/hanging.h"
#include "operator/assembled/pattern.h"
#include "operator/elasticity/elasticity.h"
#include "space/slip.h"
#include "operator/mapped/mapped_robin.h"

typedef struct Assembly {
  const TesOperator *op;
  TesiElasticity numbers; /* kind, entries and mass; no batches */
  void *g;                /* [cell][entry][point], or [cell][entry] */
  const TesiCellView *view;
  int dim, nodes, points; /* of a cell */
  double *phi, *slope;    /* [point][node], [point][dim][node] on the reference cell */
  double *weight;         /* [point]; of numbers per cell */
  int32_t *index;         /* [cells][nodes] */
  uint8_t *given;         /* [dim][nodes of all] */
  TesiPattern pattern;
  TesiMatrix scalar; /* the pattern of one component */
  TesiBlockMatrix *A;
  double *work; /* [threads][share] */
  int64_t share;
} Assembly;

static void free_assembly(TesContext *ctx, Assembly *s) {
  tesi_pattern_free(ctx, &s->pattern);
  tesi_matrix_destroy(ctx, &s->scalar);
  tesi_free(ctx, &s->g);
  tesi_free(ctx, &s->phi);
  tesi_free(ctx, &s->slope);
  tesi_free(ctx, &s->weight);
  tesi_free(ctx, &s->index);
  tesi_free(ctx, &s->given);
  tesi_free(ctx, &s->work);
}

/* ---- tables ---------------------------------------------------------------------------------------- */
static void fill_point(const Assembly *s, const TesiBatches *b, const double *G, int p) {
  const int n = b->n, q = b->q, at[3] = {p % q, p / q % q, p / q / q};
  s->weight[p] = 1;
  for (int d = 0; d < s->dim; d++) s->weight[p] *= b->weight[at[d]];
  for (int a = 0; a < s->nodes; a++) {
    const int node[3] = {a % n, a / n % n, a / n / n};
    for (int c = -1; c < s->dim; c++) {
      double value = 1;
      for (int d = 0; d < s->dim; d++) value *= (c == d ? G : b->B)[at[d] * n + node[d]];
      if (c < 0)
        s->phi[p * s->nodes + a] = value;
      else
        s->slope[(p * s->dim + c) * s->nodes + a] = value;
    }
  }
}

static TesStatus make_tables(Assembly *s) {
  TesContext *ctx = s->op->context;
  TesStatus status = TES_OK;
  TesiBatches *b = NULL;
  double G[TESI_MAX_POINTS * TESI_MAX_POINTS] = {0};
  TES_TRY(tesi_batches_create(s->op->space->part[0], s->op->space->degree + 1, &b));
  for (int p = 0; p < b->q; p++)
    for (int i = 0; i < b->n; i++)
      for (int r = 0; r < b->q; r++) G[p * b->n + i] += b->D[p * b->q + r] * b->B[r * b->n + i];
  s->points = (int)b->points, s->nodes = (int)b->nodes;
  TES_ALLOC(&s->phi, s->points * s->nodes);
  TES_ALLOC(&s->slope, s->points * s->dim * s->nodes);
  TES_ALLOC(&s->weight, s->points);
  for (int p = 0; p < s->points; p++) fill_point(s, b, G, p);
done:
  tesi_batches_destroy(&b);
  return status;
}

static TesStatus find_nodes(Assembly *s) {
  TesContext *ctx = s->op->context;
  TesStatus status = TES_OK;
  const int64_t entries = s->view->cells * s->view->cell_nodes, nodes = s->view->length;
  TES_ALLOC(&s->index, entries);
  TES_ALLOC(&s->given, s->dim * nodes);
  for (int64_t i = 0; i < entries; i++) s->index[i] = tesi_cells_node(s->view->index[i]);
  for (int c = 0; c < s->dim; c++) {
    const TesiCellView *view;
    TES_TRY(tesi_space_cells(s->op->space->part[c], &view));
    for (int64_t i = 0; i < view->length - view->dofs; i++) s->given[c * nodes + view->constrained[i]] = 1;
  }
  TES_TRY(tesi_pattern_create(&(TesiPatternCells){ctx, s->view->cells, nodes, s->view->cell_nodes, s->index},
                              &s->pattern, &s->scalar));
done:
  return status;
}

/* ---- columns --------------------------------------------------------------------------------------- */
static bool all_given(const Assembly *s, int64_t node) {
  bool all = true;
  for (int c = 0; c < s->dim; c++) all = all && s->given[c * s->view->length + node];
  return all;
}

/* Nodes without unknowns have the block of the diagonal alone. */
static bool is_kept(const Assembly *s, int64_t row, int64_t column) {
  return row == column || (!all_given(s, row) && !all_given(s, column));
}

static TesStatus make_columns(const Assembly *s) {
  TesContext *ctx = s->op->context;
  TesStatus status = TES_OK;
  TesiBlockMatrix *A = s->A;
  const TesiMatrix *n = &s->scalar;
  *A = (TesiBlockMatrix){.rows = n->rows, .columns = n->rows, .high = s->dim, .wide = s->dim};
  TES_ALLOC(&A->row, A->rows + 1);
  for (int64_t i = 0; i < n->rows; i++) {
    A->row[i + 1] = A->row[i];
    for (int64_t e = n->row[i]; e < n->row[i + 1]; e++) A->row[i + 1] += is_kept(s, i, n->column[e]);
  }
  TES_TRY(tesi_block_allocate(ctx, A));
  for (int64_t i = 0; i < n->rows; i++) {
    int64_t at = A->row[i];
    for (int64_t e = n->row[i]; e < n->row[i + 1]; e++)
      if (is_kept(s, i, n->column[e])) A->column[at++] = n->column[e];
  }
done:
  return status;
}

/* ---- cells ----------------------------------------------------------------------------------------- */
static double number(const Assembly *s, int64_t cell, int p, int entry) {
  const double *g = s->g;
  const int entries = s->numbers.entries;
  return s->numbers.kind == TESI_ELASTIC_POINTS ? g[(cell * entries + entry) * s->points + p]
                                                : g[cell * entries + entry];
}

/* K of a cell at a point, and lambda, mu and the mass with all weights. */
static void at_point(const Assembly *s, int64_t cell, int p, double K[3][3], double coefficient[3]) {
  const TesiElasticity *e = &s->numbers;
  const double weight = e->kind == TESI_ELASTIC_POINTS ? 1 : s->weight[p];
  int i = 0;
  for (int d = 0; d < s->dim; d++)
    for (int r = 0; r < s->dim; r++)
      K[d][r] = e->kind == TESI_ELASTIC_ALIGNED && r != d ? 0 : number(s, cell, p, i++);
  coefficient[2] = 0;
  for (int k = 0; k < 2 + e->mass; k++) coefficient[k] = weight * number(s, cell, p, i++);
}

/* to[dim][nodes] <- the gradients in space of all basis functions. */
static void fill_gradients(const Assembly *s, int p, double K[3][3], double *to) {
  for (int r = 0; r < s->dim; r++)
    for (int a = 0; a < s->nodes; a++) {
      double sum = 0;
      for (int d = 0; d < s->dim; d++) sum += K[d][r] * s->slope[(p * s->dim + d) * s->nodes + a];
      to[r * s->nodes + a] = sum;
    }
}

/* row[i][j][node b] += the rows of node a of the cell at a point. */
static void add_point(const Assembly *s, int a, int p, const double *g, const double coefficient[3],
                      double *row) {
  const int dim = s->dim, n = s->nodes;
  const double lambda = coefficient[0], mu = coefficient[1], mass = coefficient[2] * s->phi[p * n + a];
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++) {
      double *to = row + (i * dim + j) * n;
      const double li = lambda * g[i * n + a], mj = mu * g[j * n + a];
      for (int b = 0; b < n; b++) to[b] += li * g[j * n + b] + mj * g[i * n + b];
    }
  for (int i = 0; i < dim; i++) {
    double *to = row + (i * dim + i) * n;
    for (int r = 0; r < dim; r++)
      for (int b = 0; b < n; b++) to[b] += mu * g[r * n + a] * g[r * n + b];
    for (int b = 0; b < n; b++) to[b] += mass * s->phi[p * n + b];
  }
}

/* rows[count][dim][dim][nodes] of the cell's nodes first .. first + count - 1. g: [dim][nodes]. */
static void make_rows(const Assembly *s, int64_t cell, int first, int count, double *g, double *rows) {
  const int64_t size = s->dim * s->dim * s->nodes;
  memset(rows, 0, (size_t)(count * size) * sizeof *rows);
  for (int p = 0; p < s->points; p++) {
    double K[3][3], coefficient[3];
    at_point(s, cell, p, K, coefficient);
    fill_gradients(s, p, K, g);
    for (int a = 0; a < count; a++) add_point(s, first + a, p, g, coefficient, rows + a * size);
  }
}

/* rows <- C' rows C, rows[node][dim][dim][node]; column: [nodes]. */
static void hang(const Assembly *s, int64_t cell, double *column, double *rows) {
  const TesiCellView *v = s->view;
  const int64_t n = s->nodes, planes = s->dim * s->dim;
  for (int64_t i = 0; i < n * planes; i++)
    tesi_hanging_write(v->dim, v->n, v->halves, v->mask[cell], rows + i * n);
  for (int64_t plane = 0; plane < planes; plane++)
    for (int64_t b = 0; b < n; b++) {
      for (int64_t a = 0; a < n; a++) column[a] = rows[(a * planes + plane) * n + b];
      tesi_hanging_write(v->dim, v->n, v->halves, v->mask[cell], column);
      for (int64_t a = 0; a < n; a++) rows[(a * planes + plane) * n + b] = column[a];
    }
}

/* A's block row of `node` += row[dim][dim][nodes] of a cell: both lists of columns ascend. */
static void add_row(const Assembly *s, int64_t node, int64_t cell, const double *row) {
  const TesiBlockMatrix *A = s->A;
  const int dim = s->dim, n = s->nodes;
  const int32_t *sorted = s->pattern.sorted + cell * n, *column = A->column + A->row[node];
  const int16_t *place = s->pattern.place + cell * n;
  const int64_t count = A->row[node + 1] - A->row[node];
  double *value = tesi_block_at(A, node);
  int64_t e = 0;
  for (int i = 0; i < n && sorted[i] >= 0; i++) {
    while (e < count && column[e] < sorted[i]) e++;
    if (e == count || column[e] != sorted[i]) continue;
    for (int r = 0; r < dim; r++)
      for (int c = 0; c < dim; c++) value[(r * count + e) * dim + c] += row[(r * dim + c) * n + place[i]];
  }
}

/* Rows and columns of given values become rows and columns of the identity. */
static void clear_given(const Assembly *s, int64_t node) {
  const TesiBlockMatrix *A = s->A;
  const int dim = s->dim;
  const int64_t count = A->row[node + 1] - A->row[node], all = s->view->length;
  double *value = tesi_block_at(A, node);
  for (int r = 0; r < dim; r++)
    for (int64_t e = 0; e < count; e++) {
      const int32_t column = A->column[A->row[node] + e];
      for (int c = 0; c < dim; c++)
        if (s->given[r * all + node] || s->given[c * all + column])
          value[(r * count + e) * dim + c] = column == node && c == r ? 1 : 0;
    }
}

static void gather_rows(const void *data, TesiSpan span) {
  const Assembly *s = data;
  const int n = s->nodes;
  const int64_t size = s->dim * s->dim * n;
  double *g = s->work + span.thread * s->share, *column = g + s->dim * n, *rows = column + n;
  for (int64_t node = span.first; node < span.end; node++) {
    for (int64_t k = s->pattern.first[node]; k < s->pattern.first[node + 1]; k++) {
      const int64_t cell = s->pattern.cell[k];
      const bool hangs = s->view->mask[cell] >> 3;
      if (k > s->pattern.first[node] && cell == s->pattern.cell[k - 1]) continue;
      if (hangs) make_rows(s, cell, 0, n, g, rows);
      if (hangs) hang(s, cell, column, rows);
      for (int a = 0; a < n; a++) {
        if (s->index[cell * n + a] != node) continue;
        if (!hangs) make_rows(s, cell, a, 1, g, rows);
        add_row(s, node, cell, hangs ? rows + a * size : rows);
      }
    }
    clear_given(s, node);
  }
}

/* ---- springs --------------------------------------------------------------------------------------- */
static void add_springs(const Assembly *s, int component, const TesOperator *springs) {
  TesiMatrix n = s->scalar;
  const TesiBlockMatrix *A = s->A;
  memset(n.value, 0, (size_t)n.entries * sizeof *n.value);
  tesi_mapped_add_faces(springs, &n);
  for (int64_t i = 0; i < n.rows; i++) {
    const int64_t count = A->row[i + 1] - A->row[i];
    int64_t e = 0;
    for (int64_t k = n.row[i]; k < n.row[i + 1]; k++) {
      if (!is_kept(s, i, n.column[k])) continue;
      tesi_block_at(A, i)[(component * count + e++) * s->dim + component] += n.value[k];
    }
  }
}

/* A <- P A P + (I - P) S; S: the largest free diagonal entry of a node (operator/operator_slip.c). */
static TesStatus project(const Assembly *s) {
  TesContext *ctx = s->op->context;
  TesStatus status = TES_OK;
  const TesiSlip *slip = s->op->space->slip;
  const TesiBlockMatrix *A = s->A;
  const int dim = s->dim;
  int32_t *at = NULL;
  TES_ALLOC(&at, s->view->length);
  for (int64_t i = 0; i < slip->count; i++) at[slip->node[i]] = (int32_t)i + 1;
  for (int64_t node = 0; node < s->view->length; node++) {
    const int64_t count = A->row[node + 1] - A->row[node];
    double scale = 0;
    for (int64_t e = 0; e < count; e++) {
      const int32_t column = A->column[A->row[node] + e];
      double block[9], *value = tesi_block_at(A, node) + e * dim;
      for (int i = 0; i < dim * dim; i++) block[i] = value[i / dim * count * dim + i % dim];
      for (int c = 0; c < dim && column == node && at[node]; c++)
        if (!tesi_slip_given(slip, at[node] - 1, c)) scale = fmax(scale, block[c * dim + c]);
      if (at[node]) tesi_slip_block(slip, at[node] - 1, false, block);
      if (at[column]) tesi_slip_block(slip, at[column] - 1, true, block);
      for (int i = 0; i < dim * dim; i++) {
        const double P = at[node] ? slip->P[i * slip->count + at[node] - 1] : 0;
        if (column == node && at[node]) block[i] += scale * ((i / dim == i % dim) - P);
        value[i / dim * count * dim + i % dim] = block[i];
      }
    }
  }
done:
  tesi_free(ctx, &at);
  return status;
}

TesStatus tesi_elasticity_assemble(const TesOperator *op, TesiBlockMatrix *A) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  enum { ROWS = 16 /* that a thread takes at a time */ };
  const TesiElasticity *e = op->plan;
  Assembly s = {.op = op, .dim = op->space->dim, .A = A};
  *A = (TesiBlockMatrix){0};
  TES_CHECK(op->precision == TES_DOUBLE, "the operator of a matrix is in float64");
  TES_TRY(tesi_space_cells(op->space->part[0], &s.view));
  TES_TRY(make_tables(&s));
  TES_TRY(tesi_elasticity_fill(op, &s.numbers, &s.g));
  TES_TRY(find_nodes(&s));
  TES_TRY(make_columns(&s));
  const int64_t rows = s.view->hanging > 0 ? s.nodes : 1;
  const int threads = tesi_team_threads(ctx, s.view->length * s.nodes * s.points);
  s.share = (s.dim + 1) * s.nodes + rows * s.dim * s.dim * s.nodes;
  s.share = (s.share + 7) / 8 * 8;
  TES_ALLOC(&s.work, threads * s.share);
  tesi_team_share(threads, s.view->length, ROWS, gather_rows, &s);
  for (int c = 0; c < s.dim; c++)
    if (e->springs[c]) add_springs(&s, c, e->springs[c]);
  if (op->space->slip) TES_TRY(project(&s));
done:
  free_assembly(ctx, &s);
  if (status != TES_OK) tesi_block_free(ctx, A);
  return status;
}
