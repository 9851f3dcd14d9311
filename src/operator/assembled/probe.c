/* The matrix of any operator over continuous elements, read off from products. Take nodes of which no two share a
 * row: A times the sum of their unit vectors has in each row the entry of one column. Nodes are coloured accordingly,
 * one after the other, each with the smallest free colour. The matrix needs one product per colour and component,
 * about (2k + 1)^dim times components on boxes. */
#include <stdlib.h>
#include <string.h>
#include "base/ascending.h"
#include "operator/assembled/pattern.h"
#include "operator/form.h"
#include "operator/transport/transport_operator.h"
#include "parallel/comm.h"

typedef struct Probe {
  const TesOperator *op;
  TesContext *context;
  int components, blocks; /* blocks: the blocks, of other components and its own, in which a row has entries */
  TesiPatternCells cells; /* over all nodes, nodes with given values included */
  int32_t *index;
  uint8_t *given; /* [components][nodes] */
  TesiPattern pattern;
  TesiMatrix nodes; /* the pattern of one component */
  int32_t *colour;  /* [nodes] */
  int colours;
  int64_t *first;       /* [colours + 1] */
  int64_t *place;       /* [entries of nodes], by colour of their columns */
  int32_t *row_of;      /* [entries of nodes] */
  TesVector *x, *y;     /* of the operator */
  double *in, *product; /* the same on the host */
} Probe;

static void free_probe(Probe *p) {
  TesContext *ctx = p->context;
  tesi_free(ctx, &p->index);
  tesi_free(ctx, &p->given);
  tesi_pattern_free(ctx, &p->pattern);
  tesi_matrix_destroy(ctx, &p->nodes);
  tesi_free(ctx, &p->colour);
  tesi_free(ctx, &p->first);
  tesi_free(ctx, &p->place);
  tesi_free(ctx, &p->row_of);
  tesi_free(ctx, &p->in);
  tesi_free(ctx, &p->product);
  tes_vector_destroy(&p->x);
  tes_vector_destroy(&p->y);
}

/* ---- nodes --------------------------------------------------------------------------------------------- */

/* Components have the same nodes with the same numbers; their nodes with given values may differ. */
static TesStatus find_nodes(Probe *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesSpace *space = p->op->space;
  const TesiCellView *view;
  TES_TRY(tesi_space_cells(space->scalar[0], &view));
  const int64_t entries = view->cells * view->cell_nodes;
  TES_ALLOC(&p->index, entries);
  for (int64_t i = 0; i < entries; i++)
    p->index[i] = view->index[i] < 0 ? -1 - view->index[i] : view->index[i];
  p->cells = (TesiPatternCells){ctx, view->cells, view->length, view->cell_nodes, p->index};
  TES_ALLOC(&p->given, p->components * view->length);
  for (int c = 0; c < p->components; c++) {
    TES_TRY(tesi_space_cells(space->scalar[c], &view));
    TES_CHECK(view->length == p->cells.nodes, "components of different nodes are not assembled");
    for (int64_t i = 0; i < view->length - view->dofs; i++)
      p->given[c * p->cells.nodes + view->constrained[i]] = 1;
  }
  TES_TRY(tesi_pattern_create(&p->cells, &p->pattern, &p->nodes));
done:
  return status;
}

/* seen[cells] and used[nodes + 1] are marked with the number of the node. */
static void mark_cells(const Probe *p, int64_t node, int64_t row, int64_t *seen, int64_t *used) {
  const TesiPattern *a = &p->pattern;
  const int64_t N = p->cells.cell_nodes;
  for (int64_t k = a->first[row]; k < a->first[row + 1]; k++) {
    const int64_t cell = a->cell[k];
    if (seen[cell] == node) continue;
    seen[cell] = node;
    for (int64_t q = 0; q < N; q++) {
      const int32_t taken = p->colour[p->index[cell * N + q]];
      if (taken >= 0) used[taken] = node;
    }
  }
}

/* Two nodes share a row if they are in cells that have a common node. */
static TesStatus colour_nodes(Probe *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiPattern *a = &p->pattern;
  const int64_t N = p->cells.cell_nodes, nodes = p->cells.nodes;
  int64_t *seen = NULL, *used = NULL;
  TES_ALLOC(&seen, p->cells.cells);
  TES_ALLOC(&used, nodes + 1);
  TES_ALLOC(&p->colour, nodes);
  for (int64_t c = 0; c < p->cells.cells; c++) seen[c] = -1;
  for (int64_t i = 0; i <= nodes; i++) used[i] = -1;
  for (int64_t i = 0; i < nodes; i++) p->colour[i] = -1;
  for (int64_t i = 0; i < nodes; i++) {
    int32_t colour = 0;
    if (i % 256 == 0) TES_TRY(tesi_work_go_on(ctx));
    for (int64_t k = a->first[i]; k < a->first[i + 1]; k++)
      for (int64_t q = 0; q < N; q++) mark_cells(p, i, p->index[a->cell[k] * N + q], seen, used);
    while (used[colour] == i) colour++;
    p->colour[i] = colour;
    if (colour >= p->colours) p->colours = colour + 1;
  }
done:
  tesi_free(ctx, &seen);
  tesi_free(ctx, &used);
  return status;
}

/* ---- entries ------------------------------------------------------------------------------------------- */

/* A has, in each row, the entries of the pattern for each of its blocks. */
static TesStatus create_matrix(const Probe *p, TesiMatrix *A) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiMatrix *n = &p->nodes;
  const int64_t *first = p->op->space->first;
  A->rows = p->op->length, A->entries = p->components * p->blocks * n->entries;
  TES_TRY(tesi_matrix_check_memory(ctx, A->rows, A->entries));
  TES_ALLOC(&A->row, A->rows + 1);
  TES_ALLOC(&A->column, A->entries);
  TES_ALLOC(&A->value, A->entries);
  for (int c = 0; c < p->components; c++)
    for (int64_t i = 0; i < n->rows; i++) {
      const int64_t length = n->row[i + 1] - n->row[i];
      int64_t at = (c * n->entries + n->row[i]) * p->blocks;
      for (int block = 0; block < p->blocks; block++)
        for (int64_t e = n->row[i]; e < n->row[i + 1]; e++)
          A->column[at++] = (int32_t)(first[p->blocks > 1 ? block : c] + n->column[e]);
      A->row[first[c] + i + 1] = A->row[first[c] + i] + p->blocks * length;
    }
done:
  return status;
}

/* The columns of the nodes of one colour, for one component. */
static TesStatus probe_colour(const Probe *p, int component, int colour, TesiMatrix *A) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiMatrix *n = &p->nodes;
  const int64_t *first = p->op->space->first;
  const uint8_t *given = p->given + component * n->rows;
  TES_TRY(tesi_work_go_on(ctx));
  memset(p->in, 0, (size_t)p->op->length * sizeof *p->in);
  for (int64_t i = 0; i < n->rows; i++)
    if (p->colour[i] == colour && !given[i]) p->in[first[component] + i] = 1;
  TES_TRY(tes_vector_set(p->x, p->in));
  TES_TRY(p->op->local ? p->op->local->apply(p->op, p->x->data, p->y->data)
                       : tes_operator_apply(p->op, p->x, p->y));
  TES_TRY(tes_vector_get(p->y, p->product));
  for (int c = 0; c < p->components; c++)
    for (int64_t k = p->first[colour]; k < p->first[colour + 1] && (p->blocks > 1 || c == component); k++) {
      const int64_t e = p->place[k], i = p->row_of[e], length = n->row[i + 1] - n->row[i];
      const int64_t block = p->blocks > 1 ? component : 0, row = A->row[first[c] + i];
      A->value[row + block * length + e - n->row[i]] = p->product[first[c] + i];
    }
done:
  return status;
}

/* Rows of given values are rows of the identity; their columns are left out. */
static void drop_given(const Probe *p, TesiMatrix *A) {
  int64_t end = 0, begin = 0;
  for (int64_t i = 0; i < A->rows; i++) {
    const int64_t from = begin;
    begin = A->row[i + 1];
    A->row[i] = end;
    if (p->given[i]) A->column[end] = (int32_t)i, A->value[end++] = 1;
    for (int64_t e = from; e < begin && !p->given[i]; e++)
      if (!p->given[A->column[e]]) A->column[end] = A->column[e], A->value[end++] = A->value[e];
  }
  A->row[A->rows] = A->entries = end;
}

/* ---- several ranks ------------------------------------------------------------------------------------- */

/* An entry between two nodes that other ranks have too, with numbers of all ranks. */
typedef struct Shared {
  double row, column, value;
} Shared;

typedef struct Known {
  double number;
  int32_t entry;
} Known;

static int32_t entry_of(const Known *known, int64_t count, double number) {
  const Known key = {.number = number};
  const Known *found =
      count ? bsearch(&key, known, (size_t)count, sizeof *known, tesi_ascending_double) : NULL;
  return found ? found->entry : -1;
}

/* known[*count] <- the shared unknowns, by number; mine[*entries] <- this rank's entries between shared unknowns. */
static TesStatus list_shared(const TesOperator *op, const TesiMatrix *A, Known **known, int64_t *count,
                             Shared **mine, int64_t *entries) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const int32_t *entry;
  double *number = NULL;
  bool *shared = NULL;
  TES_TRY(tesi_layout_numbers(op->space->layout, &number));
  TES_ALLOC(&shared, op->length);
  *count = tesi_exchange_entries(op->space->layout->sum, &entry);
  TES_ALLOC(known, *count);
  for (int64_t i = 0; i < *count; i++) {
    (*known)[i] = (Known){number[entry[i]], entry[i]};
    shared[entry[i]] = true;
  }
  for (int64_t i = 0; i < *count; i++) *entries += A->row[entry[i] + 1] - A->row[entry[i]];
  TES_ALLOC(mine, *entries);
  *entries = 0;
  for (int64_t i = 0; i < *count; i++)
    for (int64_t e = A->row[entry[i]]; e < A->row[entry[i] + 1]; e++)
      if (shared[A->column[e]])
        (*mine)[(*entries)++] = (Shared){number[entry[i]], number[A->column[e]], A->value[e]};
  if (*count) qsort(*known, (size_t)*count, sizeof **known, tesi_ascending_double);
done:
  tesi_free(ctx, &number);
  tesi_free(ctx, &shared);
  return status;
}

/* Adds the contributions of other ranks' cells to entries on this rank. */
static TesStatus add_shared(const TesOperator *op, TesiMatrix *A) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  Known *known = NULL;
  Shared *mine = NULL, *theirs = NULL;
  int64_t count = 0, entries = 0, total = 0;
  TES_TRY(list_shared(op, A, &known, &count, &mine, &entries));
  TES_TRY(tesi_exchange_records(ctx, op->space->layout->sum, entries, sizeof *mine, mine, &total, &theirs));
  for (int64_t k = 0; k < total; k++) {
    const int32_t row = entry_of(known, count, theirs[k].row),
                  column = entry_of(known, count, theirs[k].column);
    for (int64_t e = row < 0 ? 0 : A->row[row]; row >= 0 && column >= 0 && e < A->row[row + 1]; e++)
      if (A->column[e] == column) A->value[e] += theirs[k].value;
  }
done:
  tesi_free(ctx, &known);
  tesi_free(ctx, &mine);
  tesi_free(ctx, &theirs);
  return status;
}

TesStatus tesi_operator_probe(const TesOperator *op, TesiMatrix *matrix) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  Probe p = {.op = op, .context = ctx, .components = op->space->scalars};
  TesiMatrix A = {0};
  *matrix = A;
  if (tesi_transport_by_cells(op)) return tesi_transport_assemble(op, matrix);
  p.blocks = op->kind == &tesi_operator_by_part && !op->space->slip ? 1 : p.components;
  if (!op->local) TES_TRY(tesi_one_rank(ctx, "a matrix made from products"));
  TES_TRY(find_nodes(&p));
  TES_TRY(colour_nodes(&p));
  TES_TRY(tesi_matrix_by_colour(ctx, &p.nodes, p.colours, p.colour, &p.first, &p.place, &p.row_of));
  TES_TRY(create_matrix(&p, &A));
  TES_TRY(tesi_operator_new_vector(op, TES_DOUBLE, &p.x));
  TES_TRY(tesi_operator_new_vector(op, TES_DOUBLE, &p.y));
  TES_ALLOC(&p.in, op->length);
  TES_ALLOC(&p.product, op->length);
  for (int c = 0; c < p.components; c++)
    for (int colour = 0; colour < p.colours; colour++) TES_TRY(probe_colour(&p, c, colour, &A));
  drop_given(&p, &A);
  if (op->local) TES_TRY(add_shared(op, &A));
  tesi_log(ctx, TES_LOG_DETAIL, "%lld entries from %d products", (long long)A.entries,
           p.components * p.colours);
  *matrix = A;
  A = (TesiMatrix){0};
done:
  tesi_matrix_destroy(ctx, &A);
  free_probe(&p);
  return status;
}
