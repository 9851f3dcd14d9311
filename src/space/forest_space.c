/* Continuous elements over a forest: creation and parts. */
#include "space/forest_space.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "basis/gauss.h"

TesForestSpace *tesi_forest_space_retain(const TesForestSpace *space) {
  TesForestSpace *s = (TesForestSpace *)space;
  atomic_fetch_add(&s->references, 1);
  return s;
}

void tes_forest_space_destroy(TesForestSpace **space) {
  if (!space || !*space) return;
  TesForestSpace *s = *space;
  *space = NULL;
  if (atomic_fetch_sub(&s->references, 1) != 1) return;
  TesContext *ctx = s->context;
  tes_forest_destroy(&s->forest);
  tesi_free(ctx, &s->dirichlet);
  tesi_free(ctx, &s->index);
  tesi_free(ctx, &s->mask);
  tesi_free(ctx, &s);
  tes_context_destroy(&ctx);
}

static TesStatus find_dirichlet(TesContext *context, const TesForestSpaceDesc *desc, TesForestSpace *s) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  const int names = tes_forest_boundaries(s->forest);
  TES_ALLOC(&s->dirichlet, names + 1);
  for (int i = 0; !desc->dirichlet && i <= names; i++) s->dirichlet[i] = true;
  for (int i = 0; desc->dirichlet && desc->dirichlet[i]; i++) {
    int number;
    TES_TRY(tes_forest_find_boundary(s->forest, desc->dirichlet[i], &number));
    s->dirichlet[number] = true;
  }
done:
  return status;
}

/* Numbers the nodes anew, in the order in which the cells meet them: neighbours in a cell get runs of numbers. */
static TesStatus renumber(TesContext *context, TesForestSpace *s) {
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
static void mark_face(const TesForestSpace *s, int64_t cell, int face, bool *marked) {
  const int n = s->n, d = face / 2, at = face & 1 ? n - 1 : 0;
  for (int p = 0; p < s->cell_nodes; p++)
    if ((const int[3]){p % n, p / n % n, p / n / n}[d] == at)
      marked[s->index[cell * s->cell_nodes + p]] = true;
}

static TesStatus constrain(TesContext *context, TesForestSpace *s) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  bool *marked = NULL;
  TES_ALLOC(&marked, s->length);
  for (int64_t c = 0; c < s->cells; c++)
    for (int f = 0, name; f < 2 * s->dim; f++)
      if (tes_forest_on_boundary(s->forest, c, f, &name) && tes_forest_space_dirichlet(s, name))
        mark_face(s, c, f, marked);
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
static uint64_t edge_key(const TesForestSpace *s, int64_t cell, int d) {
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
static TesStatus count_hanging(TesContext *context, TesForestSpace *s) {
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

static TesStatus number_nodes(TesContext *context, TesForestSpace *s) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  const double most = (double)s->cells * pow(s->degree, s->dim);
  if (most > INT32_MAX)
    TES_FAIL(TES_OUT_OF_MEMORY, "%lld cells of degree %d have about %.3g nodes; 2^31 - 1 are possible",
             (long long)s->cells, s->degree, most);
  TES_TRY(tesi_forest_afford(ctx, tes_forest_memory(s->dim, s->cells, s->degree, 1), "a space", s->cells));
  TES_ALLOC(&s->index, s->cells * s->cell_nodes);
  TES_ALLOC(&s->mask, s->cells);
  s->forest->p4est->number(s->forest->forest, s->degree, s->index, s->mask, &s->length);
  TES_TRY(renumber(ctx, s));
  TES_TRY(count_hanging(ctx, s));
  TES_TRY(constrain(ctx, s));
done:
  return status;
}

TesStatus tes_forest_space_create(TesContext *context, const TesForestSpaceDesc *desc,
                                  TesForestSpace **space) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesForestSpace *s = NULL;
  *space = NULL;
  TES_CHECK(desc->forest, "a space needs a forest");
  TES_CHECK(desc->degree >= 0 && desc->degree <= TESI_FOREST_DEGREE,
            "degree is %d, expected 1..%d on a forest", desc->degree, TESI_FOREST_DEGREE);
  TES_NEW(&s);
  atomic_init(&s->references, 1);
  s->context = tesi_context_retain(ctx);
  s->forest = tesi_forest_retain(desc->forest);
  s->dim = s->forest->dim;
  s->cells = s->forest->leaves.cells;
  s->degree = desc->degree ? desc->degree : 4;
  s->n = s->degree + 1;
  s->cell_nodes = s->dim == 2 ? s->n * s->n : s->n * s->n * s->n;
  tesi_gauss_lobatto(s->n, s->node, NULL);
  tesi_hanging_halves(s->n, s->halves);
  TES_TRY(find_dirichlet(ctx, desc, s));
  TES_TRY(number_nodes(ctx, s));
  *space = s;
  s = NULL;
done:
  tes_forest_space_destroy(&s);
  return status;
}

TesContext *tes_forest_space_context(const TesForestSpace *space) {
  return space->context;
}

const TesForest *tes_forest_space_forest(const TesForestSpace *space) {
  return space->forest;
}

int tes_forest_space_degree(const TesForestSpace *space) {
  return space->degree;
}

bool tes_forest_space_dirichlet(const TesForestSpace *space, int boundary) {
  const int names = tes_forest_boundaries(space->forest);
  return space->dirichlet[boundary >= 0 && boundary < names ? boundary : names];
}

int64_t tes_forest_space_length(const TesForestSpace *space) {
  return space->length;
}

int64_t tes_forest_space_dofs(const TesForestSpace *space) {
  return space->dofs;
}

int64_t tes_forest_space_hanging(const TesForestSpace *space) {
  return space->hanging;
}

const int32_t *tes_forest_space_index(const TesForestSpace *space) {
  return space->index;
}

const uint16_t *tes_forest_space_masks(const TesForestSpace *space) {
  return space->mask;
}

const double *tes_forest_space_halves(const TesForestSpace *space) {
  return space->halves;
}
