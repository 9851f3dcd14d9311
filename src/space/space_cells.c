/* The cell view of a space: which node is which in each cell, Dirichlet nodes, hanging nodes. */
#include "space/space.h"
#include <math.h>
#include <string.h>
#include "base/work.h"
#include "basis/gauss.h"
#include "mesh/forest/leaf_numbering.h"

TesiCellView *tesi_cells_retain(const TesiCellView *cells) {
  TesiCellView *s = (TesiCellView *)cells;
  atomic_fetch_add(&s->references, 1);
  return s;
}

/* ---- views of one numbering ---------------------------------------------------------------------------- */

/* A mesh knows the last view of each degree, whose numbers the next one takes, which has other given nodes. It does not
 * keep it: a view that nobody has any more is forgotten. */
static TesiCellView *take_last(const TesMesh *mesh, int degree) {
  TesiCellView *last = NULL;
#pragma omp critical(tesi_mesh_view)
  {
    TesiCellView *const v = mesh->view[degree];
    int references = v ? atomic_load(&v->references) : 0;
    while (references > 0 && !atomic_compare_exchange_weak(&v->references, &references, references + 1)) {
    }
    if (references > 0) last = v;
  }
  return last;
}

static void remember(TesiCellView *view) {
#pragma omp critical(tesi_mesh_view)
  view->mesh->view[view->degree] = view;
}

static void forget(const TesiCellView *view) {
#pragma omp critical(tesi_mesh_view)
  if (view->mesh->view[view->degree] == view) view->mesh->view[view->degree] = NULL;
}

void tesi_cells_destroy(TesiCellView **cells) {
  if (!cells || !*cells) return;
  TesiCellView *s = *cells;
  *cells = NULL;
  if (atomic_fetch_sub(&s->references, 1) != 1) return;
  TesContext *ctx = s->context;
  if (s->mesh) forget(s);
  tes_mesh_destroy(&s->mesh);
  tesi_free(ctx, &s->given);
  tesi_free(ctx, &s->index);
  tesi_free(ctx, &s->constrained);
  tesi_layout_destroy(&s->layout);
  tesi_free(ctx, &s->no_mask);
  tesi_free(ctx, &s);
  tes_context_destroy(&ctx);
}

/* Marks the nodes of one face of a cell: several cells may at a time. */
static void mark_face(const TesiCellView *s, int64_t cell, int face, _Atomic char *marked) {
  const int nodes = s->dim == 3 ? s->n * s->n : s->n, d = face / 2, at = face & 1 ? s->n - 1 : 0;
  const int step[3] = {1, s->n, s->n * s->n}, e = d == 0 ? 1 : 0, f = d == 2 ? 1 : 2;
  for (int i = 0; i < nodes; i++) {
    const int p = at * step[d] + i % s->n * step[e] + (s->dim == 3 ? i / s->n * step[f] : 0);
    atomic_store_explicit(&marked[s->index[cell * s->cell_nodes + p]], 1, memory_order_relaxed);
  }
}

void tesi_cells_mark_groups(const TesiCellView *s, const int32_t *number, int32_t *mark) {
  if (!s->mesh->coarse || !s->mesh->coarse->parts) return;
  for (int64_t c = 0; c < s->cells; c++)
    for (int64_t i = -1; (i = tesi_mesh_next_part(s->mesh, c, i)) >= 0;) {
      const TesTreePart *part = &s->mesh->coarse->part[i];
      for (int p = 0; p < s->cell_nodes && number[part->boundary]; p++) {
        const int at[3] = {p % s->n, p / s->n % s->n, p / s->n / s->n};
        bool on = true;
        for (int d = 0, t = part->at; d < s->dim; d++, t /= 3)
          on = on && (t % 3 == 1 || at[d] == (t % 3 ? s->n - 1 : 0));
        int32_t *to = &mark[tesi_cells_node(s->index[c * s->cell_nodes + p])];
        if (on) *to = tesi_max(*to, number[part->boundary]);
      }
    }
}

/* Those of groups whose values are given. */
static TesStatus mark_groups(const TesiCellView *s, _Atomic char *marked) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const int names = tes_mesh_boundaries(s->mesh);
  int32_t *number = NULL, *mark = NULL;
  if (!s->mesh->coarse || !s->mesh->coarse->parts) return TES_OK;
  TES_ALLOC(&number, names + 1);
  TES_ALLOC(&mark, s->length);
  for (int i = 0; i < names; i++) number[i] = s->given[i] != 0;
  tesi_cells_mark_groups(s, number, mark);
  for (int64_t i = 0; i < s->length; i++)
    if (mark[i]) atomic_store_explicit(&marked[i], 1, memory_order_relaxed);
done:
  tesi_free(ctx, &number);
  tesi_free(ctx, &mark);
  return status;
}

/* Nodes on boundaries whose values are given. */
typedef struct Marks {
  const TesiCellView *s;
  _Atomic char *marked; /* [length] */
  _Atomic int64_t *count;
} Marks;

static void mark_cells(const void *data, TesiSpan span) {
  const Marks *m = data;
  const TesiCellView *s = m->s;
  for (int64_t c = span.first; c < span.end; c++)
    for (int f = 0, name; f < 2 * s->dim; f++)
      if (tes_mesh_on_boundary(s->mesh, c, f, &name) && tesi_cells_given(s, name))
        mark_face(s, c, f, m->marked);
}

static void count_marked(const void *data, TesiSpan span) {
  const Marks *m = data;
  int64_t count = 0;
  for (int64_t i = span.first; i < span.end; i++)
    count += atomic_load_explicit(&m->marked[i], memory_order_relaxed);
  atomic_fetch_add(m->count, count);
}

static void change_signs(const void *data, TesiSpan span) {
  const Marks *m = data;
  int32_t *index = m->s->index;
  for (int64_t i = span.first; i < span.end; i++)
    if (atomic_load_explicit(&m->marked[index[i]], memory_order_relaxed)) index[i] = -1 - index[i];
}

/* Lists the marked nodes, and changes the sign of their entries. */
static TesStatus list_constrained(TesContext *ctx, TesiCellView *s, _Atomic char *marked) {
  TesStatus status = TES_OK;
  _Atomic int64_t count = 0;
  const Marks marks = {s, marked, &count};
  const int64_t entries = s->cells * s->cell_nodes;
  int64_t at = 0;
  tesi_team_for(tesi_team_threads(ctx, s->length), s->length, count_marked, &marks);
  const int64_t constrained = count;
  s->dofs = s->length - constrained;
  TES_ALLOC(&s->constrained, constrained);
  for (int64_t i = 0; i < s->length && at < constrained; i++)
    if (atomic_load_explicit(&marked[i], memory_order_relaxed)) s->constrained[at++] = (int32_t)i;
  TES_TRY(tesi_work_for(ctx, tesi_team_threads(ctx, entries), entries, change_signs, &marks));
done:
  return status;
}

/* A cell of another rank may have the face on the boundary that a node here is on. */
static TesStatus share_marks(TesiCellView *s, _Atomic char *marked) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  double *marks = NULL;
  if (!s->layout->shared) return TES_OK;
  TES_ALLOC(&marks, s->length);
  for (int64_t i = 0; i < s->length; i++) marks[i] = atomic_load_explicit(&marked[i], memory_order_relaxed);
  tesi_exchange_sum(s->layout->shared, TES_DOUBLE, marks);
  for (int64_t i = 0; i < s->length; i++)
    atomic_store_explicit(&marked[i], marks[i] > 0, memory_order_relaxed);
done:
  tesi_free(ctx, &marks);
  return status;
}

static TesStatus constrain(TesiCellView *s, const TesiSharers *sharers) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  _Atomic char *marked = NULL;
  bool *left_out = NULL;
  TES_ALLOC(&marked, s->length);
  TES_TRY(tesi_work_for(ctx, tesi_team_threads(ctx, 16 * s->cells), s->cells, mark_cells,
                        &(Marks){s, marked, NULL}));
  TES_TRY(mark_groups(s, marked));
  TES_TRY(share_marks(s, marked));
  TES_TRY(list_constrained(ctx, s, marked));
  if (!s->layout->shared || s->layout->sum) goto done;
  TES_ALLOC(&left_out, s->length);
  for (int64_t i = 0; i < s->length - s->dofs; i++) left_out[s->constrained[i]] = true;
  TES_TRY(tesi_exchange_create(ctx, sharers, left_out, &s->layout->sum));
done:
  tesi_free(ctx, &marked);
  tesi_free(ctx, &left_out);
  return status;
}

typedef struct Boxes {
  TesiCellView *s;
  int nodes[3];
} Boxes;

/* The last node of a periodic direction is its first. */
static void number_cells(const void *data, TesiSpan span) {
  const Boxes *boxes = data;
  const TesiCellView *s = boxes->s;
  const int n = s->n, k = s->degree, *nodes = boxes->nodes;
  for (int64_t c = span.first; c < span.end; c++) {
    int at[3];
    tesi_mesh_at(s->mesh, c, at);
    for (int p = 0; p < s->cell_nodes; p++) {
      const int64_t x = (at[0] * k + p % n) % nodes[0], y = (at[1] * k + p / n % n) % nodes[1],
                    z = s->dim == 3 ? (at[2] * k + p / n / n) % nodes[2] : 0;
      s->index[c * s->cell_nodes + p] = (int32_t)(x + nodes[0] * (y + nodes[1] * z));
    }
  }
}

/* Lexicographic over the whole box. */
static void number_box(TesiCellView *s) {
  Boxes boxes = {.s = s};
  s->length = 1;
  for (int d = 0; d < s->dim; d++) {
    boxes.nodes[d] = s->mesh->box[d] * s->degree + !s->mesh->box_periodic[d];
    s->length *= boxes.nodes[d];
  }
  tesi_team_for(tesi_team_threads(s->context, s->cells * s->cell_nodes), s->cells, number_cells, &boxes);
}

typedef struct Copy {
  const int32_t *from;
  int32_t *to;
} Copy;

static void copy_numbers(const void *data, TesiSpan span) {
  const Copy *c = data;
  for (int64_t i = span.first; i < span.end; i++) c->to[i] = tesi_cells_node(c->from[i]);
}

/* Of trees: by the last view of this degree, or anew. */
static TesStatus number_trees(TesiCellView *s, TesiForestNodes *nodes) {
  TesStatus status = TES_OK;
  const int64_t entries = s->cells * s->cell_nodes;
  TesiCellView *last = tesi_ranks(s->context) == 1 ? take_last(s->mesh, s->degree) : NULL;
  if (last) {
    tesi_team_for(tesi_team_threads(s->context, entries), entries, copy_numbers,
                  &(Copy){last->index, s->index});
    *nodes = (TesiForestNodes){last->length, last->length, 0, {0}};
    s->hanging = last->hanging;
    tesi_cells_destroy(&last);
  } else {
    status = tesi_forest_number(s->mesh, s->degree, s->index, nodes, &s->hanging);
  }
  s->length = nodes->nodes;
  return status;
}

/* layout: the space's, of a box; NULL: it follows from the nodes. */
static TesStatus number_nodes(TesiCellView *s, const TesiLayout *layout) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const TesiGeometry *geometry;
  const TesNumberingDesc by_cells = {.degree = s->degree};
  TesiForestNodes nodes = {0};
  const double most = (double)s->cells * pow(s->degree, s->dim);
  if (most > INT32_MAX)
    TES_FAIL(TES_OUT_OF_MEMORY, "%lld cells of degree %d have about %.3g nodes; 2^31 - 1 are possible",
             (long long)s->cells, s->degree, most);
  TES_TRY(tesi_forest_afford(ctx, tesi_mesh_memory(s->dim, s->cells, s->degree, 1), "a space", s->cells));
  TES_ALLOC(&s->index, s->cells * s->cell_nodes);
  TES_TRY(tesi_forest_masks(s->mesh, &s->mask));
  if (!s->mask) {
    TES_ALLOC(&s->no_mask, s->cells);
    s->mask = s->no_mask;
  }
  if (s->mesh->kind == TES_MESH_FOREST) {
    TES_TRY(number_trees(s, &nodes));
  } else if (s->mesh->kind == TES_MESH_BOX) {
    number_box(s);
  } else {
    TES_TRY(tesi_mesh_geometry(s->mesh, &geometry));
    TES_TRY(tesi_geometry_number(geometry, &by_cells, s->index, &s->length));
  }
  if (layout)
    s->layout = tesi_layout_retain(layout);
  else if (s->mesh->kind == TES_MESH_FOREST)
    TES_TRY(tesi_layout_create(ctx, s->length, tesi_owned(0, nodes.owned, nodes.first), &nodes.sharers,
                               &s->layout));
  else
    TES_TRY(tesi_layout_create_plain(ctx, s->length, &s->layout));
  TES_TRY(constrain(s, &nodes.sharers));
done:
  tesi_sharers_free(ctx, &nodes.sharers);
  return status;
}

TesStatus tesi_cells_create(const TesSpace *space, TesiCellView **cells) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesiCellView *s = NULL;
  const int names = tes_mesh_boundaries(space->mesh);
  *cells = NULL;
  TES_TRY(tesi_work_on(ctx, "nodes of %lld cells, degree %d", (long long)space->mesh->cells, space->degree));
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
  TES_TRY(number_nodes(s, space->layout));
  if (s->mesh->kind == TES_MESH_FOREST) remember(s);
  *cells = s;
  s = NULL;
done:
  tesi_cells_destroy(&s);
  return status;
}
