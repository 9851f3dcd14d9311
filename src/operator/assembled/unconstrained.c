/* The space of a forest without constraints, and the matrix H of hanging nodes from the original space to it.
 *
 *The key of a node on interpolated lines is its row of the interpolation C of its cell. Nodes whose rows have the
 *same nodes and numbers always have the same value, so they are one node. A row with the single number 1 is the node
 *that it names. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/ascending.h"
#include "base/team.h"
#include "operator/assembled/matrix.h"
#include "operator/mapped/mapped_robin.h"
#include "space/space.h"

enum { CELLS = 64 }; /* that a thread takes at a time */

/* A node of a cell on interpolated lines. */
typedef struct Hanging {
  uint64_t key;   /* of its row */
  int64_t order;  /* among all such nodes, in the order of cells */
  int32_t number; /* in the index of the new space */
  int16_t local;
  bool alias, leads; /* it is an unknown; it is the first node with its key */
} Hanging;

typedef struct Builder {
  const TesiCellView *s;
  TesContext *ctx;
  int64_t *first; /* [cells + 1] how many lie in the cells before */
  Hanging *node;  /* in the order of cells */
  double *work;   /* [threads][N][N] */
  int64_t distinct;
} Builder;

/* Rows of C, rows[q][p]. */
static void cell_rows(const TesiCellView *s, int64_t cell, double *rows) {
  double u[9 * 9 * 9];
  for (int p = 0; p < s->cell_nodes; p++) {
    memset(u, 0, sizeof u);
    u[p] = 1;
    tesi_hanging_read(s->dim, s->n, s->halves, s->mask[cell], u);
    for (int q = 0; q < s->cell_nodes; q++) rows[q * s->cell_nodes + p] = u[q];
  }
}

/* The key of a row. `alias` is set if the row is a single node. */
static void describe_row(const TesiCellView *s, const int32_t *index, const double *row, Hanging *node) {
  int count = 0;
  node->key = tesi_cells_row_key(s->cell_nodes, index, row);
  for (int p = 0; p < s->cell_nodes; p++) {
    if (fabs(row[p]) < TESI_CELLS_SMALL) continue;
    node->alias = ++count == 1 && fabs(row[p] - 1) < TESI_CELLS_SMALL;
    if (node->alias) node->number = index[p];
  }
}

static bool on_line(const TesiCellView *s, int64_t cell, int p) {
  const int n = s->n;
  return tesi_hanging_directions(s->dim, n, s->mask[cell], (const int[3]){p % n, p / n % n, p / n / n}) != 0;
}

static int threads_for(const Builder *b) {
  return tesi_team_threads(b->ctx, b->s->cells * b->s->cell_nodes);
}

static void describe_cells(const void *data, TesiSpan span) {
  const Builder *b = data;
  const TesiCellView *s = b->s;
  const int N = s->cell_nodes;
  double *rows = b->work + (int64_t)span.thread * N * N;
  for (int64_t c = span.first; c < span.end; c++) {
    int64_t at = b->first[c];
    if (b->first[c + 1] == at) continue;
    cell_rows(s, c, rows);
    for (int p = 0; p < N; p++) {
      if (!on_line(s, c, p)) continue;
      b->node[at] = (Hanging){.order = at, .local = (int16_t)p};
      describe_row(s, s->index + c * N, rows + p * N, &b->node[at++]);
    }
  }
}

static TesStatus find_hanging(Builder *b) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  const TesiCellView *s = b->s;
  const int N = s->cell_nodes, threads = threads_for(b);
  TES_ALLOC(&b->first, s->cells + 1);
  TES_ALLOC(&b->work, (int64_t)threads * N * N);
  for (int64_t c = 0; c < s->cells; c++) {
    b->first[c + 1] = b->first[c];
    for (int p = 0; s->mask[c] >> 3 && p < N; p++) b->first[c + 1] += on_line(s, c, p);
  }
  TES_ALLOC(&b->node, b->first[s->cells]);
  tesi_team_share(threads, s->cells, CELLS, describe_cells, b);
done:
  return status;
}

static int by_key(const void *a, const void *b) {
  const Hanging *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->order > y->order) - (x->order < y->order);
}

/* Numbers behind the unknowns, in the order in which cells have the nodes. */
static TesStatus number_hanging(Builder *b) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  const int64_t count = b->first[b->s->cells];
  Hanging *sorted = NULL;
  int64_t *leader = NULL;
  if (count == 0) return TES_OK;
  TES_ALLOC(&sorted, count);
  TES_ALLOC(&leader, count);
  memcpy(sorted, b->node, (size_t)count * sizeof *sorted);
  qsort(sorted, (size_t)count, sizeof *sorted, by_key);
  for (int64_t i = 0; i < count; i++)
    leader[sorted[i].order] =
        i > 0 && sorted[i].key == sorted[i - 1].key ? leader[sorted[i - 1].order] : sorted[i].order;
  for (int64_t i = 0; i < count; i++) {
    if (b->node[i].alias) continue;
    b->node[i].leads = leader[i] == i;
    b->node[i].number = b->node[i].leads ? (int32_t)(b->s->length + b->distinct++) : b->node[leader[i]].number;
  }
  if (b->s->length + b->distinct > INT32_MAX)
    TES_FAIL(TES_OUT_OF_MEMORY, "too many nodes: at most 2^31 - 1 with those that hang");
done:
  tesi_free(ctx, &sorted);
  tesi_free(ctx, &leader);
  return status;
}

/* The entries of a row at unknowns; column and value may be NULL (counting). */
static int64_t put_row(const TesiCellView *s, const int32_t *index, const double *row, int32_t *column,
                       double *value) {
  int64_t count = 0;
  for (int p = 0; p < s->cell_nodes; p++) {
    if (index[p] < 0 || fabs(row[p]) < TESI_CELLS_SMALL) continue;
    if (column) column[count] = index[p], value[count] = row[p];
    count++;
  }
  return count;
}

typedef struct Rows {
  const Builder *b;
  const TesiMatrix *H;
} Rows;

static void visit_cells(const void *data, TesiSpan span) {
  const Builder *b = ((const Rows *)data)->b;
  const TesiMatrix *H = ((const Rows *)data)->H;
  const TesiCellView *s = b->s;
  const int N = s->cell_nodes;
  double *rows = b->work + (int64_t)span.thread * N * N;
  for (int64_t c = span.first; c < span.end; c++) {
    bool leads = false;
    for (int64_t i = b->first[c]; i < b->first[c + 1]; i++) leads |= b->node[i].leads;
    if (!leads) continue;
    cell_rows(s, c, rows);
    for (int64_t i = b->first[c]; i < b->first[c + 1]; i++) {
      const Hanging *node = &b->node[i];
      if (!node->leads) continue;
      int64_t *const at = &H->row[node->number];
      const double *row = rows + node->local * N;
      if (H->value)
        put_row(s, s->index + c * N, row, H->column + *at, H->value + *at);
      else
        at[1] = put_row(s, s->index + c * N, row, NULL, NULL);
    }
  }
}

/* The rows of first nodes of a key: their lengths to H->row[. + 1] (H->value NULL), or their entries. */
static void visit_rows(const Builder *b, const TesiMatrix *H) {
  tesi_team_share(threads_for(b), b->s->cells, CELLS, visit_cells, &(Rows){b, H});
}

/* Columns ascending in the rows of hanging nodes. */
static void sort_rows(const TesiCellView *s, TesiMatrix *H) {
  typedef struct Entry {
    int32_t column;
    double value;
  } Entry;
  for (int64_t i = s->length; i < H->rows; i++) {
    Entry list[9 * 9 * 9];
    const int64_t first = H->row[i], count = H->row[i + 1] - first;
    for (int64_t e = 0; e < count; e++) list[e] = (Entry){H->column[first + e], H->value[first + e]};
    qsort(list, (size_t)count, sizeof *list, tesi_ascending_int32);
    for (int64_t e = 0; e < count; e++)
      H->column[first + e] = list[e].column, H->value[first + e] = list[e].value;
  }
}

static TesStatus make_matrix(const Builder *b, TesiMatrix *H) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  const int64_t length = b->s->length;
  H->rows = length + b->distinct;
  TES_ALLOC(&H->row, H->rows + 1);
  for (int64_t i = 0; i < length; i++) H->row[i + 1] = 1;
  visit_rows(b, H);
  for (int64_t i = 0; i < H->rows; i++) H->row[i + 1] += H->row[i];
  H->entries = H->row[H->rows];
  TES_ALLOC(&H->column, H->entries);
  TES_ALLOC(&H->value, H->entries);
  for (int64_t i = 0; i < length; i++) H->column[i] = (int32_t)i, H->value[i] = 1;
  visit_rows(b, H);
  sort_rows(b->s, H);
done:
  return status;
}

/* The same cells with an index of all nodes, and without masks. */
static TesStatus make_cells(const Builder *b, TesiCellView **cells) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  const TesiCellView *s = b->s;
  const int names = tes_mesh_boundaries(s->mesh);
  TES_NEW(cells);
  TesiCellView *all = *cells;
  *all = *s;
  atomic_init(&all->references, 1);
  all->context = tesi_context_retain(ctx);
  all->mesh = tesi_mesh_retain(s->mesh);
  all->layout = NULL, all->index = NULL, all->constrained = NULL, all->mask = NULL, all->no_mask = NULL,
  all->given = NULL;
  all->length += b->distinct, all->dofs += b->distinct, all->hanging = 0;
  TES_TRY(tesi_layout_create_plain(ctx, all->length, &all->layout));
  TES_ALLOC(&all->given, names + 1);
  TES_ALLOC(&all->index, s->cells * s->cell_nodes);
  TES_ALLOC(&all->no_mask, s->cells);
  TES_ALLOC(&all->constrained, s->length - s->dofs);
  for (int64_t i = 0; i < s->length - s->dofs; i++) all->constrained[i] = s->constrained[i];
  all->mask = all->no_mask;
  memcpy(all->given, s->given, (size_t)names + 1);
  memcpy(all->index, s->index, (size_t)(s->cells * s->cell_nodes) * sizeof *all->index);
  for (int64_t c = 0; c < s->cells; c++)
    for (int64_t i = b->first[c]; i < b->first[c + 1]; i++)
      all->index[c * s->cell_nodes + b->node[i].local] = b->node[i].number;
done:
  return status;
}

/* Makes a space of these cells, and takes ownership of them. */
static TesStatus make_space(const TesSpace *space, TesiCellView **cells, TesSpace **all) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const int names = tes_mesh_boundaries(space->mesh);
  TES_TRY(tesi_space_new(ctx, space->mesh, space->degree, space->element, all));
  TesSpace *s = *all;
  s->length = (*cells)->length, s->dofs = (*cells)->dofs;
  s->layout = tesi_layout_retain((*cells)->layout);
  s->view = *cells, *cells = NULL;
  tesi_space_be_own_part(s);
  TES_ALLOC(&s->given, names + 1);
  memcpy(s->given, space->given, (size_t)names + 1);
done:
  return status;
}

TesStatus tesi_space_unconstrain(const TesSpace *space, TesSpace **all, TesiMatrix *H) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesiCellView *cells = NULL;
  Builder b = {.ctx = ctx};
  *all = NULL;
  *H = (TesiMatrix){0};
  TES_TRY(tesi_space_cells(space, &b.s));
  TES_TRY(find_hanging(&b));
  TES_TRY(number_hanging(&b));
  TES_TRY(make_matrix(&b, H));
  TES_TRY(make_cells(&b, &cells));
  TES_TRY(make_space(space, &cells, all));
done:
  tesi_cells_destroy(&cells);
  tesi_free(ctx, &b.first);
  tesi_free(ctx, &b.node);
  tesi_free(ctx, &b.work);
  if (status != TES_OK) tesi_matrix_destroy(ctx, H);
  if (status != TES_OK) tes_space_destroy(all);
  return status;
}
