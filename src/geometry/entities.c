/* Slots for the nodes of vertices, edges, faces and cells. Edges and faces are found in a hash table by their vertices.
 * Their nodes are counted in an orientation that does not depend on the cell: from the vertex with the smallest number,
 * first towards its neighbour with the smaller number. (Gauss-Lobatto points are symmetric, so that the nodes of all
 * orientations coincide.) */
#include "geometry/entities.h"
#include <string.h>
#include "base/ascending.h"
#include "base/random.h"

typedef struct Entity {
  int32_t vertex[4]; /* ascending; -1 where there are fewer; vertex[0] = -1: free */
  int32_t number, cells;
} Entity;

typedef struct Table {
  Entity *entity; /* [mask + 1], open addressing */
  uint64_t mask;
  int32_t count;
} Table;

typedef struct Work {
  const TesiGeometry *g;
  int dim, k, n;
  Table edges, faces;                   /* faces: 3D only; in 2D edges bound cells */
  int64_t edges_at, faces_at, cells_at; /* first slot of each kind */
} Work;

static TesStatus table_create(TesContext *ctx, int64_t most, Table *table) {
  TesStatus status = TES_OK;
  uint64_t size = 16;
  while (size < (uint64_t)most + (uint64_t)most / 2) size *= 2;
  table->mask = size - 1;
  TES_ALLOC(&table->entity, size);
  for (uint64_t i = 0; i < size; i++) table->entity[i].vertex[0] = -1;
done:
  return status;
}

static Entity *table_find(Table *table, const int32_t vertex[4]) {
  uint64_t hash = 0;
  for (int i = 0; i < 4; i++) hash = tesi_random_hash(hash ^ (uint32_t)vertex[i]);
  for (uint64_t at = hash & table->mask;; at = (at + 1) & table->mask) {
    Entity *e = &table->entity[at];
    if (e->vertex[0] >= 0 && memcmp(e->vertex, vertex, sizeof e->vertex)) continue;
    if (e->vertex[0] < 0) {
      memcpy(e->vertex, vertex, sizeof e->vertex);
      e->number = table->count++;
    }
    return e;
  }
}

/* The entity with the cell's local corners `corner`. */
static Entity *find(Table *table, const int32_t *vertices, int count, const int *corner) {
  int32_t key[4] = {-1, -1, -1, -1};
  for (int i = 0; i < count; i++) key[i] = vertices[corner[i]];
  tesi_sort_few(count, key);
  return table_find(table, key);
}

/* Position of node s = 1..k-1 on an edge from a to b. */
static int64_t edge_position(int k, int32_t a, int32_t b, int s) {
  return a < b ? s - 1 : k - 1 - s;
}

/* Position of node (s, t) on a face with corners v[0..3], bit 0: s, bit 1: t. */
static int64_t face_position(int k, const int32_t v[4], int s, int t) {
  int origin = 0;
  for (int i = 1; i < 4; i++)
    if (v[i] < v[origin]) origin = i;
  if (origin & 1) s = k - s;
  if (origin & 2) t = k - t;
  const bool swap = v[origin ^ 1] > v[origin ^ 2];
  return swap ? (int64_t)(s - 1) * (k - 1) + t - 1 : (int64_t)(t - 1) * (k - 1) + s - 1;
}

/* Slots of the inner nodes of the local entity that spans the directions in `free` (a bit mask) from corner `low`. */
static void entity_slots(Work *w, int64_t cell, int free, int low, int64_t *slot) {
  const int32_t *vertices = w->g->vertices + (cell << w->dim);
  const int k = w->k, stride[3] = {1, w->n, w->n * w->n};
  int direction[3], dims = 0, at = 0, corner[4];
  for (int d = 0; d < w->dim; d++) {
    if (free >> d & 1) direction[dims++] = d;
    if (low >> d & 1) at += k * stride[d];
  }
  if (dims == 0) {
    slot[at] = vertices[low];
    return;
  }
  if (dims == w->dim) {
    int64_t next = w->cells_at + cell * (dims == 3 ? (k - 1) * (k - 1) * (k - 1) : (k - 1) * (k - 1));
    for (int u = 1; u < (dims == 3 ? k : 2); u++)
      for (int t = 1; t < k; t++)
        for (int s = 1; s < k; s++) slot[s + t * stride[1] + (dims == 3 ? u * stride[2] : 0)] = next++;
    return;
  }
  int32_t v[4] = {0};
  for (int i = 0; i < 1 << dims; i++) {
    corner[i] = low | (i & 1) << direction[0] | (dims == 2 ? (i >> 1) << direction[1] : 0);
    v[i] = vertices[corner[i]];
  }
  Entity *e = find(dims == 1 ? &w->edges : &w->faces, vertices, 1 << dims, corner);
  e->cells++;
  if (dims == 1)
    for (int s = 1; s < k; s++)
      slot[at + s * stride[direction[0]]] =
          w->edges_at + (int64_t)e->number * (k - 1) + edge_position(k, v[0], v[1], s);
  else
    for (int t = 1; t < k; t++)
      for (int s = 1; s < k; s++)
        slot[at + s * stride[direction[0]] + t * stride[direction[1]]] =
            w->faces_at + (int64_t)e->number * (k - 1) * (k - 1) + face_position(k, v, s, t);
}

/* All local entities of a cell: each direction is low, high or free. */
static void cell_slots(Work *w, int64_t cell, int64_t *slot) {
  for (int free = 0; free < 1 << w->dim; free++)
    for (int low = 0; low < 1 << w->dim; low++)
      if (!(free & low)) entity_slots(w, cell, free, low, slot);
}

/* Marks nodes of the faces that belong to one cell; a face of three cells is an error, reported for the first cell. */
static int64_t mark_boundary(Work *w, int64_t cell, const int64_t *slot, char *boundary) {
  const int32_t *vertices = w->g->vertices + (cell << w->dim);
  const int n = w->n, points = w->dim == 3 ? n * n * n : n * n, stride[3] = {1, n, n * n};
  int64_t bad = -1;
  for (int d = 0; d < w->dim; d++)
    for (int end = 0; end < 2; end++) {
      int corner[4], count = 0;
      for (int v = 0; v < 1 << w->dim; v++)
        if ((v >> d & 1) == end) corner[count++] = v;
      const Entity *e = find(w->dim == 3 ? &w->faces : &w->edges, vertices, count, corner);
      if (e->cells > 2) bad = cell;
      for (int p = 0; boundary && e->cells == 1 && p < points; p++)
        if (p / stride[d] % n == end * w->k) boundary[slot[p]] = 1;
    }
  return bad;
}

/* Every cell has its own slots: nothing is shared. */
static void separate_slots(const TesiGeometry *g, int64_t points, int64_t *slot, int64_t *slots) {
  *slots = g->cells * points;
  for (int64_t i = 0; i < *slots; i++) slot[i] = i;
}

TesStatus tesi_entities_slots(const TesiGeometry *g, int degree, int64_t *slot, int64_t *slots,
                              char **boundary) {
  TesContext *ctx = g->context;
  TesStatus status = TES_OK;
  const int n = degree + 1, points = g->dim == 3 ? n * n * n : n * n;
  Work w = {.g = g, .dim = g->dim, .k = degree, .n = n};
  int32_t vertices = 0;
  if (!g->vertices) {
    separate_slots(g, points, slot, slots);
    return TES_OK;
  }
  for (int64_t i = 0; i < g->cells << g->dim; i++) vertices = tesi_max(vertices, g->vertices[i] + 1);
  const int64_t most_edges = g->cells * (g->dim == 3 ? 12 : 4), most_faces = g->dim == 3 ? g->cells * 6 : 0;
  w.edges_at = vertices;
  w.faces_at = w.edges_at + most_edges * (degree - 1);
  w.cells_at = w.faces_at + most_faces * (degree - 1) * (degree - 1);
  TES_TRY(table_create(ctx, most_edges, &w.edges));
  TES_TRY(table_create(ctx, most_faces, &w.faces));
  for (int64_t c = 0; c < g->cells; c++) cell_slots(&w, c, slot + c * points);
  *slots = w.cells_at + g->cells * (g->dim == 3 ? (degree - 1) * (degree - 1) * (degree - 1)
                                                : (degree - 1) * (degree - 1));
  if (boundary) TES_ALLOC(boundary, *slots);
  for (int64_t c = 0; c < g->cells; c++)
    TES_CHECK(mark_boundary(&w, c, slot + c * points, boundary ? *boundary : NULL) < 0,
              "a face of cell %lld belongs to more than two cells", (long long)c);
done:
  tesi_free(ctx, &w.edges.entity);
  tesi_free(ctx, &w.faces.entity);
  return status;
}
