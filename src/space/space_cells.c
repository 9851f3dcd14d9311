/* The cell view of a space: which node is which in each cell, Dirichlet nodes, hanging nodes. */
#include "space/space.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "basis/gauss.h"

TesiCellView *tesi_cells_retain(const TesiCellView *cells) {
  TesiCellView *s = (TesiCellView *)cells;
  atomic_fetch_add(&s->references, 1);
  return s;
}

void tesi_cells_destroy(TesiCellView **cells) {
  if (!cells || !*cells) return;
  TesiCellView *s = *cells;
  *cells = NULL;
  if (atomic_fetch_sub(&s->references, 1) != 1) return;
  TesContext *ctx = s->context;
  tes_mesh_destroy(&s->mesh);
  tesi_free(ctx, &s->given);
  tesi_free(ctx, &s->index);
  tesi_free(ctx, &s->mask);
  tesi_free(ctx, &s);
  tes_context_destroy(&ctx);
}

/* Numbers the nodes anew, in the order in which the cells meet them: neighbours in a cell get runs of numbers. */
static TesStatus renumber(TesContext *context, TesiCellView *s) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  int32_t *number = NULL, next = 0;
  TES_ALLOC(&number, s->length);
  for (int64_t i = 0; i < s->length; i++) number[i] = -1;
  for (int64_t i = 0; i < s->cells * s->cell_nodes; i++) {
    int32_t *to = &number[s->index[i]];
    if (*to < 0) *to = next++;
    s->index[i] = *to;
  }
  if (next != s->length) TES_FAIL(TES_INTERNAL, "%lld nodes stand in no cell", (long long)(s->length - next));
done:
  tesi_free(ctx, &number);
  return status;
}

/* Marks the nodes of one face of a cell. */
static void mark_face(const TesiCellView *s, int64_t cell, int face, bool *marked) {
  const int n = s->n, d = face / 2, at = face & 1 ? n - 1 : 0;
  for (int p = 0; p < s->cell_nodes; p++)
    if ((const int[3]){p % n, p / n % n, p / n / n}[d] == at)
      marked[s->index[cell * s->cell_nodes + p]] = true;
}

static TesStatus constrain(TesContext *context, TesiCellView *s) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  bool *marked = NULL;
  TES_ALLOC(&marked, s->length);
  for (int64_t c = 0; c < s->cells; c++)
    for (int f = 0, name; f < 2 * s->dim; f++)
      if (tes_mesh_on_boundary(s->mesh, c, f, &name) && tesi_cells_given(s, name)) mark_face(s, c, f, marked);
  s->dofs = s->length;
  for (int64_t i = 0; i < s->length; i++) s->dofs -= marked[i];
  for (int64_t i = 0; i < s->cells * s->cell_nodes; i++)
    if (marked[s->index[i]]) s->index[i] = -1 - s->index[i];
done:
  tesi_free(ctx, &marked);
  return status;
}

static int by_value(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* What tells a coarse edge, the line along d at the outer corner of the child: its least inner node, or its ends. */
static uint64_t edge_key(const TesiCellView *s, int64_t cell, int d) {
  const int n = s->n, step[3] = {1, n, n * n};
  const int32_t *index = s->index + cell * s->cell_nodes;
  uint32_t least = UINT32_MAX, most = 0;
  for (int e = 0; e < 3; e++)
    if (e != d) index += (s->mask[cell] >> e & 1) * (n - 1) * step[e];
  for (int i = n > 2 ? 1 : 0; i < (n > 2 ? n - 1 : n); i++) {
    const int32_t raw = index[i * step[d]];
    const uint32_t node = (uint32_t)(raw < 0 ? -1 - raw : raw);
    least = node < least ? node : least;
    most = node > most ? node : most;
  }
  return (uint64_t)least << 32 | most;
}

/* Coarse faces that hang have (2k-1)^(dim-1) fine nodes inside, coarse edges in 3D 2k-1. A face is seen by 2^(dim-1) cells, an edge
 * by any number. */
static TesStatus count_hanging(TesContext *context, TesiCellView *s) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  uint64_t *edge = NULL;
  int64_t faces = 0, edges = 0, distinct = 0;
  const int fine = 2 * s->degree - 1;
  for (int64_t c = 0; c < s->cells; c++)
    for (int d = 0; d < s->dim; d++) {
      faces += s->mask[c] >> (3 + d) & 1;
      edges += s->dim == 3 && tes_mask_line(s->mask[c], d, true, true);
    }
  s->hanging = s->dim == 2 ? faces / 2 * fine : faces / 4 * fine * fine;
  if (!edges) return TES_OK;
  TES_ALLOC(&edge, edges);
  edges = 0;
  for (int64_t c = 0; c < s->cells; c++)
    for (int d = 0; d < 3; d++)
      if (tes_mask_line(s->mask[c], d, true, true)) edge[edges++] = edge_key(s, c, d);
  qsort(edge, (size_t)edges, sizeof *edge, by_value);
  for (int64_t i = 0; i < edges; i++) distinct += i == 0 || edge[i] != edge[i - 1];
  s->hanging += distinct * fine;
done:
  tesi_free(ctx, &edge);
  return status;
}

static TesStatus number_forest(TesContext *context, TesiCellView *s) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  s->mesh->p4est->number(s->mesh->forest, s->degree, s->index, s->mask, &s->length);
  TES_TRY(renumber(ctx, s));
  TES_TRY(count_hanging(ctx, s));
done:
  return status;
}

/* Lexicographic over the whole box. */
static void number_box(TesiCellView *s) {
  const int *box = s->mesh->box, n = s->n, k = s->degree;
  const int64_t nx = (int64_t)box[0] * k + 1, ny = (int64_t)box[1] * k + 1;
  s->length = nx * ny * (s->dim == 3 ? (int64_t)box[2] * k + 1 : 1);
#pragma omp parallel for schedule(static) num_threads(tes_context_threads(s->context))
  for (int64_t c = 0; c < s->cells; c++) {
    int at[3];
    tesi_mesh_at(s->mesh, c, at);
    const int64_t first =
        (int64_t)at[0] * k + nx * ((int64_t)at[1] * k + ny * (s->dim == 3 ? (int64_t)at[2] * k : 0));
    for (int p = 0; p < s->cell_nodes; p++)
      s->index[c * s->cell_nodes + p] = (int32_t)(first + p % n + nx * (p / n % n + ny * (p / n / n)));
  }
}

static TesStatus number_nodes(TesContext *context, TesiCellView *s) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  const TesGeometry *geometry;
  const TesNumberingDesc by_cells = {.degree = s->degree};
  const double most = (double)s->cells * pow(s->degree, s->dim);
  if (most > INT32_MAX)
    TES_FAIL(TES_OUT_OF_MEMORY, "%lld cells of degree %d have about %.3g nodes; 2^31 - 1 are possible",
             (long long)s->cells, s->degree, most);
  TES_TRY(tesi_forest_afford(ctx, tesi_mesh_memory(s->dim, s->cells, s->degree, 1), "a space", s->cells));
  TES_ALLOC(&s->index, s->cells * s->cell_nodes);
  TES_ALLOC(&s->mask, s->cells);
  if (s->mesh->kind == TES_MESH_FOREST) {
    TES_TRY(number_forest(ctx, s));
  } else if (s->mesh->kind == TES_MESH_BOX) {
    number_box(s);
  } else {
    TES_TRY(tesi_mesh_geometry(s->mesh, &geometry));
    TES_TRY(tesi_geometry_number(geometry, &by_cells, s->index, &s->length));
  }
  TES_TRY(constrain(ctx, s));
done:
  return status;
}

TesStatus tesi_cells_create(const TesSpace *space, TesiCellView **cells) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesiCellView *s = NULL;
  const int names = tes_mesh_boundaries(space->mesh);
  *cells = NULL;
  TES_NEW(&s);
  atomic_init(&s->references, 1);
  s->context = tesi_context_retain(ctx);
  s->mesh = tesi_mesh_retain(space->mesh);
  s->dim = space->dim;
  s->cells = space->mesh->cells;
  s->degree = space->degree;
  s->n = s->degree + 1;
  s->cell_nodes = s->dim == 2 ? s->n * s->n : s->n * s->n * s->n;
  TES_ALLOC(&s->given, names + 1);
  memcpy(s->given, space->given, (size_t)names + 1);
  tesi_gauss_lobatto(s->n, s->node, NULL);
  if (s->n <= TESI_HANGING_NODES) tesi_hanging_halves(s->n, s->halves);
  TES_TRY(number_nodes(ctx, s));
  *cells = s;
  s = NULL;
done:
  tesi_cells_destroy(&s);
  return status;
}
