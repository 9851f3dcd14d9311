/* Boundary values at nodes. */
#include <string.h>
#include "base/team.h"
#include "functional/batch_faces.h"
#include "functional/functional.h"
#include "basis/lagrange.h"
#include "device/kernel.h"

/* The nodes that get values, each once; the nodes of boundary i begin at first[i]. */
typedef struct Nodes {
  int64_t *first, *node; /* [boundaries + 1], [count] */
  double *x;             /* [3][count] */
  double *normal;        /* the same for normals; NULL: no function needs normals */
  int64_t count;
} Nodes;

static void free_nodes(TesContext *ctx, Nodes *nodes) {
  tesi_free(ctx, &nodes->first);
  tesi_free(ctx, &nodes->node);
  tesi_free(ctx, &nodes->x);
  tesi_free(ctx, &nodes->normal);
}

/* ---- boxes --------------------------------------------------------------------------------------------- */

/* Whether a wanted face after `face` has node i. */
static bool is_later(const TesSpace *space, const bool *wanted, int face, const int i[3]) {
  bool later = false;
  for (int f = face + 1; f < 2 * space->dim; f++)
    later = later || (wanted[f] && i[f / 2] == (f % 2 ? space->axis[f / 2].nodes - 1 : 0));
  return later;
}

static TesStatus list_box(const TesiBatches *b, const bool *wanted, Nodes *nodes) {
  TesContext *ctx = b->context;
  TesStatus status = TES_OK;
  const TesiAxis *axis = b->box->axis;
  int64_t most = 0, at = 0;
  for (int f = 0; f < b->boundaries; f++) most += wanted[f] ? tesi_box_face_nodes(b->box, f) : 0;
  TES_ALLOC(&nodes->node, most);
  TES_ALLOC(&nodes->x, 3 * most);
  nodes->count = most;
  for (int f = 0; f < b->boundaries; f++) {
    nodes->first[f] = at;
    for (int64_t n = 0; wanted[f] && n < tesi_box_face_nodes(b->box, f); n++) {
      const int64_t node = tesi_box_face_node(b->box, f, n);
      const int i[3] = {(int)(node % axis[0].nodes), (int)(node / axis[0].nodes % axis[1].nodes),
                        (int)(node / axis[0].nodes / axis[1].nodes)};
      if (is_later(b->box, wanted, f, i)) continue;
      for (int d = 0; d < b->dim; d++) nodes->x[d * most + at] = axis[d].x[i[d]];
      nodes->node[at++] = node;
    }
  }
  nodes->first[b->boundaries] = at;
done:
  return status;
}

/* ---- cells --------------------------------------------------------------------------------------------- */

/* mark[length] <- 1 + the largest number of a wanted boundary, on any rank, that has the node; 0: none. */
static TesStatus mark_nodes(const TesiBatches *b, const bool *wanted, int32_t *mark) {
  TesContext *ctx = b->context;
  TesStatus status = TES_OK;
  TesiBoundaryFace *face = NULL;
  int64_t faces;
  const int nodes = b->dim == 3 ? b->n * b->n : b->n;
  TesiExchange *shared = b->space->layout->shared;
  double *shared_mark = NULL;
  int32_t *number = NULL;
  if (shared) TES_ALLOC(&shared_mark, b->length);
  TES_TRY(tesi_boundary_faces(b, wanted, false, &face, &faces));
  for (int64_t i = 0; i < faces; i++)
    for (int p = 0; p < nodes; p++) {
      bool given;
      int32_t *to =
          &mark[b->kind->node(b, face[i].cell, tesi_face_node(b->dim, b->n, face[i].face, p), &given)];
      *to = tesi_max(*to, face[i].boundary + 1);
    }
  TES_ALLOC(&number, b->boundaries + 1);
  for (int i = 0; i < b->boundaries; i++) number[i] = wanted[i] ? i + 1 : 0;
  tesi_cells_mark_groups(b->view, number, mark);
  for (int64_t i = 0; i < b->length && shared; i++) shared_mark[i] = mark[i];
  tesi_exchange_begin(shared, TES_DOUBLE, shared_mark);
  tesi_exchange_end(shared, TESI_MAXIMUM, TES_DOUBLE, shared_mark);
  for (int64_t i = 0; i < b->length && shared; i++) mark[i] = (int32_t)shared_mark[i];
done:
  tesi_free(ctx, &face);
  tesi_free(ctx, &number);
  tesi_free(ctx, &shared_mark);
  return status;
}

/* A marked node in the first cell that has it as its own node; a cell that only interpolates from it does not count. */
typedef struct Place {
  int64_t cell;
  int p, boundary;
} Place;

static int64_t find_places(const TesiBatches *b, int32_t *mark, Place *place) {
  const TesiCellView *s = b->view;
  int64_t count = 0;
  for (int64_t c = 0; c < s->cells; c++)
    for (int p = 0; p < s->cell_nodes; p++) {
      const int32_t node = ~s->index[c * s->cell_nodes + p];
      const int i[3] = {p % s->n, p / s->n % s->n, p / s->n / s->n};
      if (node < 0 || !mark[node] || tesi_hanging_directions(s->dim, s->n, s->mask[c], i)) continue;
      place[count++] = (Place){c, p, mark[node] - 1};
      mark[node] = 0;
    }
  return count;
}

typedef struct Fill {
  const TesiBatches *b;
  const Place *place;
  const int64_t *to;
  const Nodes *nodes;
  double B[TESI_MAX_POINTS * (TESI_GEOMETRY_DEGREE + 1)];
} Fill;

static void fill_span(const void *data, TesiSpan span) {
  const Fill *f = data;
  const TesiCellView *s = f->b->view;
  const Nodes *nodes = f->nodes;
  for (int64_t i = span.first; i < span.end; i++) {
    double x[3];
    const Place *place = &f->place[i];
    nodes->node[f->to[i]] = ~s->index[place->cell * s->cell_nodes + place->p];
    tesi_geometry_node(f->b->geometry, place->cell, s->n, f->B, place->p, x);
    for (int d = 0; d < 3; d++) nodes->x[d * nodes->count + f->to[i]] = x[d];
  }
}

static void fill_nodes(const TesiBatches *b, const Place *place, const int64_t *to, const Nodes *nodes) {
  const TesiCellView *s = b->view;
  Fill fill = {.b = b, .place = place, .to = to, .nodes = nodes};
  tesi_geometry_tables(b->geometry, s->n, s->node, fill.B, NULL);
  tesi_team_for(tesi_team_threads(b->context, nodes->count * s->n), nodes->count, fill_span, &fill);
}

static TesStatus list_cells(const TesiBatches *b, const bool *wanted, Nodes *nodes) {
  TesContext *ctx = b->context;
  TesStatus status = TES_OK;
  int32_t *mark = NULL;
  Place *place = NULL;
  int64_t *to = NULL, *next = NULL, most = 0;
  TES_ALLOC(&mark, b->length);
  TES_TRY(mark_nodes(b, wanted, mark));
  for (int64_t i = 0; i < b->length; i++) most += mark[i] > 0;
  TES_ALLOC(&place, most);
  nodes->count = find_places(b, mark, place);
  TES_ALLOC(&to, nodes->count);
  TES_ALLOC(&next, b->boundaries + 1);
  TES_ALLOC(&nodes->node, nodes->count);
  TES_ALLOC(&nodes->x, 3 * nodes->count);
  for (int64_t i = 0; i < nodes->count; i++) nodes->first[place[i].boundary + 1]++;
  for (int i = 0; i < b->boundaries; i++) next[i + 1] = nodes->first[i + 1] += nodes->first[i];
  for (int64_t i = 0; i < nodes->count; i++) to[i] = next[place[i].boundary]++;
  fill_nodes(b, place, to, nodes);
done:
  tesi_free(ctx, &mark);
  tesi_free(ctx, &place);
  tesi_free(ctx, &to);
  tesi_free(ctx, &next);
  return status;
}

/* ---- normals ------------------------------------------------------------------------------------------- */

/* Those of the last face of its own boundary that a node is on. */
static void put_normals(const TesiBatches *b, const TesiFaceRule *rule, const TesiBoundaryFace *face,
                        const int32_t *slot, Nodes *nodes) {
  enum { MOST = TESI_MAX_POINTS * TESI_MAX_POINTS };
  double x[3 * MOST], weight[MOST], normal[3 * MOST];
  b->kind->face(b, rule, face->cell, face->face, x, weight, normal);
  for (int p = 0; p < rule->nodes; p++) {
    bool given;
    const int64_t node = b->kind->node(b, face->cell, tesi_face_node(b->dim, b->n, face->face, p), &given);
    const int64_t i = (int64_t)slot[node] - 1;
    if (i < nodes->first[face->boundary] || i >= nodes->first[face->boundary + 1]) continue;
    for (int d = 0; d < 3; d++) nodes->normal[d * nodes->count + i] = normal[d * rule->points + p];
  }
}

static TesStatus list_normals(const TesiBatches *b, const bool *wanted, Nodes *nodes) {
  TesContext *ctx = b->context;
  TesStatus status = TES_OK;
  TesiBoundaryFace *face = NULL;
  TesiFaceRule *rule = NULL;
  int32_t *slot = NULL;
  int64_t faces;
  TES_ALLOC(&nodes->normal, 3 * nodes->count);
  TES_ALLOC(&slot, b->length);
  for (int64_t i = 0; i < nodes->first[b->boundaries]; i++) slot[nodes->node[i]] = (int32_t)(i + 1);
  TES_NEW(&rule);
  tesi_face_node_rule(b->dim, b->n - 1, b->geometry, rule);
  TES_TRY(tesi_boundary_faces(b, wanted, false, &face, &faces));
  for (int64_t i = 0; i < faces; i++) put_normals(b, rule, &face[i], slot, nodes);
done:
  tesi_free(ctx, &face);
  tesi_free(ctx, &rule);
  tesi_free(ctx, &slot);
  return status;
}

/* ---- values -------------------------------------------------------------------------------------------- */

enum { BLOCK = 512 };

typedef struct Values {
  const Nodes *nodes;
  const TesFunction *g;
  int64_t first;
  double *u;
  int *failed;
} Values;

/* A block of nodes. */
static void put_block(const void *data, TesiSpan span) {
  const Values *v = data;
  const Nodes *nodes = v->nodes;
  double value[BLOCK], x[6 * BLOCK];
  const int64_t n = span.end - span.first, at = v->first + span.first;
  for (int d = 0; d < 3; d++) {
    memcpy(x + d * n, nodes->x + d * nodes->count + at, (size_t)n * sizeof *x);
    if (nodes->normal) memcpy(x + (3 + d) * n, nodes->normal + d * nodes->count + at, (size_t)n * sizeof *x);
  }
  const TesStatus status = tesi_boundary_values(v->g, (int)n, x, x + 3 * n, value);
  for (int64_t p = 0; p < n; p++) v->u[nodes->node[at + p]] = value[p];
  if (status != TES_OK) {
#pragma omp atomic write
    *v->failed = status;
  }
}

/* u <- g at nodes first .. end - 1. */
static TesStatus put_values(const Nodes *nodes, const TesFunction *g, int64_t first, int64_t end, double *u) {
  int failed = TES_OK;
  const Values values = {nodes, g, first, u, &failed};
  tesi_team_share(tesi_team_threads(tesi_function_context(g), 4 * (end - first)), end - first, BLOCK,
                  put_block, &values);
  return (TesStatus)failed;
}

/* Values of nodes that hang in all cells of this rank come from other ranks, which use the same boundary. */
static TesStatus share_values(const TesSpace *space, const Nodes *nodes, double *u) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  double *known = NULL;
  if (!space->layout->shared) return TES_OK;
  TES_ALLOC(&known, space->length);
  for (int64_t i = 0; i < nodes->count; i++) known[nodes->node[i]] = 1;
  tesi_exchange_mean(space->layout->shared, known, u);
done:
  tesi_free(ctx, &known);
  return status;
}

static TesStatus lift_on_host(const TesSpace *space, const TesFunction *const *g, double *u) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesiBatches *b = NULL;
  Nodes nodes = {0};
  bool *wanted = NULL, any = false, normals = false;
  TES_TRY(tesi_batches_create(space, space->degree + 1, &b));
  TES_ALLOC(&wanted, b->boundaries + 1);
  TES_ALLOC(&nodes.first, b->boundaries + 1);
  for (int i = 0; g && i < b->boundaries; i++) {
    wanted[i] = g[i] && tes_space_given(space, i) && (!b->box || !tesi_mesh_cut(space->mesh, i));
    any = any || wanted[i];
    normals = normals || (wanted[i] && tesi_function_uses(g[i]));
  }
  if (any) TES_TRY(b->box ? list_box(b, wanted, &nodes) : list_cells(b, wanted, &nodes));
  if (normals) TES_TRY(list_normals(b, wanted, &nodes));
  for (int i = 0; any && i < b->boundaries; i++)
    if (wanted[i]) TES_TRY(put_values(&nodes, g[i], nodes.first[i], nodes.first[i + 1], u));
  if (!b->box) TES_TRY(share_values(space, &nodes, u));
done:
  free_nodes(ctx, &nodes);
  tesi_free(ctx, &wanted);
  tesi_batches_destroy(&b);
  return status;
}

static TesStatus lift(const TesSpace *space, const TesFunction *const *g, TesVector *u) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  double *values = NULL;
  bool done = false;
  const bool device = tesi_has_kernels(ctx);
  if (device) TES_TRY(tesi_lifting_device(space, g, u, &done));
  if (done) goto done;
  TES_TRY(tes_vector_fill(u, 0));
  if (device) TES_ALLOC(&values, u->length);
  TES_TRY(lift_on_host(space, g, device ? values : u->data));
  if (device) TES_TRY(tes_vector_set(u, values));
done:
  tesi_free(ctx, &values);
  return status;
}

TesStatus tes_functional_lifting(const TesSpace *space, const TesFunction *const *const *g, TesVector *u) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TES_TRY(tesi_functional_check(space, u, "a lifting"));
  for (int c = 0; c < space->scalars; c++) {
    TesVector of_u = tesi_space_scalar_range(space, u, c);
    TES_TRY(lift(space->scalar[c], g[c], &of_u));
  }
done:
  return status;
}

TesStatus tesi_functional_clear(const TesSpace *space, TesVector *v) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  double *values = NULL;
  if (tesi_has_kernels(ctx) && tesi_space_box(space)) return tesi_clear_device(space, v);
  TES_TRY(tesi_vector_read(v, &values));
  tesi_box_clear(space, values);
  TES_TRY(tes_vector_set(v, values));
done:
  tesi_free(ctx, &values);
  return status;
}
