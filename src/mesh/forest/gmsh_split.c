/* Cells split at the middles of their edges, faces and of themselves: each vertex of a cell gets a quadrilateral or
 * hexahedron, 3 of a triangle, 4 of a quadrilateral or tetrahedron, 6 of a prism, 8 of a hexahedron. All cells are
 * split, so that those of different shape still share whole faces. */
#include <stdlib.h>
#include <string.h>
#include "mesh/forest/gmsh.h"

/* The middle of an edge or a face, found by its vertices. */
typedef struct Middle {
  int32_t vertex[4]; /* ascending; -1: fewer */
  int32_t node;
} Middle;

typedef struct Middles {
  Middle *entry; /* [size], a power of two; node -1: free */
  int64_t size, count;
} Middles;

/* Faces by their vertices, and for each vertex of a cell those beside it, in the order of a right-handed cell. */
typedef struct Shape {
  int vertices, faces;
  int8_t face[6][4], beside[8][3];
} Shape;

static const Shape
    triangle = {3, 0, {{0}}, {{1, 2}, {2, 0}, {0, 1}}},
    quadrilateral = {4, 0, {{0}}, {{1, 3}, {2, 0}, {3, 1}, {0, 2}}},
    tetrahedron = {4,
                   4,
                   {{0, 1, 2, -1}, {0, 1, 3, -1}, {0, 2, 3, -1}, {1, 2, 3, -1}},
                   {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}},
    prism = {6,
             5,
             {{0, 1, 2, -1}, {3, 4, 5, -1}, {0, 1, 4, 3}, {1, 2, 5, 4}, {0, 2, 5, 3}},
             {{1, 2, 3}, {2, 0, 4}, {0, 1, 5}, {5, 4, 0}, {3, 5, 1}, {4, 3, 2}}},
    hexahedron = {8,
                  6,
                  {{0, 1, 2, 3}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {0, 3, 7, 4}},
                  {{1, 3, 4}, {2, 0, 5}, {3, 1, 6}, {0, 2, 7}, {7, 5, 0}, {4, 6, 1}, {5, 7, 2}, {6, 4, 3}}};

typedef struct Splitter {
  TesContext *ctx;
  TesiGmsh *mesh;
  Middles middles;
  int64_t number_room, element_room, node_room;
  TesiGmshElement *element; /* the new ones */
  int64_t *element_node;
  int64_t elements, element_nodes;
} Splitter;

/* ---- middles ------------------------------------------------------------------------------------------- */

static void sort_four(int32_t v[4]) {
  for (int i = 1; i < 4; i++)
    for (int j = i; j > 0 && v[j] > v[j - 1]; j--) {
      const int32_t swap = v[j];
      v[j] = v[j - 1];
      v[j - 1] = swap;
    }
}

/* Where these vertices are, or belong. */
static Middle *find(const Middles *m, const int32_t vertex[4]) {
  uint64_t h = 0;
  for (int i = 0; i < 4; i++) h = (h ^ (uint32_t)vertex[i]) * 0x9e3779b97f4a7c15u, h ^= h >> 31;
  for (;; h++) {
    Middle *entry = &m->entry[h & (uint64_t)(m->size - 1)];
    if (entry->node < 0 || !memcmp(entry->vertex, vertex, sizeof entry->vertex)) return entry;
  }
}

static TesStatus make_middles(TesContext *ctx, int64_t size, Middles *m) {
  TesStatus status = TES_OK;
  *m = (Middles){.size = size};
  TES_ALLOC(&m->entry, size);
  for (int64_t i = 0; i < size; i++) m->entry[i].node = -1;
done:
  return status;
}

static TesStatus grow_middles(TesContext *ctx, Middles *m) {
  TesStatus status = TES_OK;
  Middles larger = {0};
  TES_TRY(make_middles(ctx, m->size ? 2 * m->size : 1024, &larger));
  for (int64_t i = 0; i < m->size; i++)
    if (m->entry[i].node >= 0) *find(&larger, m->entry[i].vertex) = m->entry[i];
  larger.count = m->count;
  tesi_free(ctx, &m->entry);
  *m = larger;
done:
  return status;
}

/* A new node in the middle of these; its number is behind all others. */
static TesStatus add_node(Splitter *s, int count, const int32_t *vertex, int32_t *node) {
  TesContext *ctx = s->ctx;
  TesStatus status = TES_OK;
  TesiGmsh *m = s->mesh;
  TES_CHECK(m->nodes < INT32_MAX, "%s: more than 2^31 nodes after mesh.split", m->file);
  TES_TRY(
      tesi_gmsh_grow(ctx, &m->node_number, sizeof *m->node_number, m->nodes, m->nodes + 1, &s->number_room));
  TES_TRY(tesi_gmsh_grow(ctx, &m->node, sizeof *m->node, m->nodes, m->nodes + 1, &m->node_room));
  *node = (int32_t)m->nodes;
  m->node_number[m->nodes] = m->node_number[m->nodes - 1] + 1;
  for (int d = 0; d < 3; d++) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum += m->node[vertex[i]][d];
    m->node[m->nodes][d] = sum / count;
  }
  m->nodes++;
done:
  return status;
}

/* Of an edge or a face, the same for all cells that have it. */
static TesStatus middle(Splitter *s, int count, const int32_t *vertex, int64_t *node) {
  TesContext *ctx = s->ctx;
  TesStatus status = TES_OK;
  int32_t key[4] = {-1, -1, -1, -1}, made = -1;
  memcpy(key, vertex, (size_t)count * sizeof *key);
  sort_four(key);
  if (2 * (s->middles.count + 1) > s->middles.size) TES_TRY(grow_middles(ctx, &s->middles));
  Middle *entry = find(&s->middles, key);
  if (entry->node < 0) {
    TES_TRY(add_node(s, count, key, &made));
    memcpy(entry->vertex, key, sizeof key);
    entry->node = made;
    s->middles.count++;
  }
  *node = entry->node;
done:
  return status;
}

/* ---- elements ------------------------------------------------------------------------------------------ */

static TesStatus add_element(Splitter *s, const TesiGmshElement *of, int type, const int64_t *nodes) {
  TesContext *ctx = s->ctx;
  TesStatus status = TES_OK;
  const TesiGmshType *t = tesi_gmsh_type(type);
  TES_TRY(
      tesi_gmsh_grow(ctx, &s->element, sizeof *s->element, s->elements, s->elements + 1, &s->element_room));
  TES_TRY(tesi_gmsh_grow(ctx, &s->element_node, sizeof *s->element_node, s->element_nodes,
                         s->element_nodes + t->nodes, &s->node_room));
  TesiGmshElement *e = &s->element[s->elements++];
  *e = *of;
  e->type = t;
  e->first = s->element_nodes;
  memcpy(s->element_node + s->element_nodes, nodes, (size_t)t->nodes * sizeof *nodes);
  s->element_nodes += t->nodes;
done:
  return status;
}

static TesStatus middle_of_edge(Splitter *s, const int32_t *v, int i, int j, int64_t *node) {
  return middle(s, 2, (const int32_t[2]){v[i], v[j]}, node);
}

/* The face that has all three. */
static TesStatus middle_of_face(Splitter *s, const Shape *shape, const int32_t *v, int i, int j, int k,
                                int64_t *node) {
  for (int f = 0; f < shape->faces; f++) {
    int32_t vertex[4];
    int count = 0, met = 0;
    for (int c = 0; c < 4 && shape->face[f][c] >= 0; c++) {
      const int at = shape->face[f][c];
      vertex[count++] = v[at];
      met += at == i || at == j || at == k;
    }
    if (met == 3) return middle(s, count, vertex, node);
  }
  return TES_INTERNAL;
}

static TesStatus split_plane(Splitter *s, const TesiGmshElement *e, const Shape *shape, const int32_t *v) {
  TesContext *ctx = s->ctx;
  TesStatus status = TES_OK;
  for (int i = 0; i < shape->vertices; i++) {
    int64_t node[4] = {v[i]};
    TES_TRY(middle_of_edge(s, v, i, shape->beside[i][0], &node[1]));
    TES_TRY(middle(s, shape->vertices, v, &node[2]));
    TES_TRY(middle_of_edge(s, v, i, shape->beside[i][1], &node[3]));
    TES_TRY(add_element(s, e, 3, node));
  }
done:
  return status;
}

static TesStatus split_volume(Splitter *s, const TesiGmshElement *e, const Shape *shape, const int32_t *v) {
  TesContext *ctx = s->ctx;
  TesStatus status = TES_OK;
  int32_t centre;
  TES_TRY(add_node(s, shape->vertices, v, &centre));
  for (int i = 0; i < shape->vertices; i++) {
    const int a = shape->beside[i][0], b = shape->beside[i][1], c = shape->beside[i][2];
    int64_t node[8] = {v[i]};
    TES_TRY(middle_of_edge(s, v, i, a, &node[1]));
    TES_TRY(middle_of_face(s, shape, v, i, a, b, &node[2]));
    TES_TRY(middle_of_edge(s, v, i, b, &node[3]));
    TES_TRY(middle_of_edge(s, v, i, c, &node[4]));
    TES_TRY(middle_of_face(s, shape, v, i, a, c, &node[5]));
    node[6] = centre;
    TES_TRY(middle_of_face(s, shape, v, i, b, c, &node[7]));
    TES_TRY(add_element(s, e, 5, node));
  }
done:
  return status;
}

static TesStatus split_element(Splitter *s, const TesiGmshElement *e) {
  static const Shape *const shapes[] = {[TESI_GMSH_QUADRILATERAL] = &quadrilateral,
                                        [TESI_GMSH_HEXAHEDRON] = &hexahedron,
                                        [TESI_GMSH_TRIANGLE] = &triangle,
                                        [TESI_GMSH_TETRAHEDRON] = &tetrahedron,
                                        [TESI_GMSH_PRISM] = &prism};
  int32_t v[8];
  int64_t half[2];
  if (e->type->dim == 0) return add_element(s, e, e->type->type, &s->mesh->element_node[e->first]);
  for (int i = 0; i < e->type->nodes; i++) v[i] = (int32_t)s->mesh->element_node[e->first + i];
  if (e->type->dim == 2) return split_plane(s, e, shapes[e->type->shape], v);
  if (e->type->dim == 3) return split_volume(s, e, shapes[e->type->shape], v);
  half[0] = v[0];
  TesStatus status = middle_of_edge(s, v, 0, 1, &half[1]);
  if (status == TES_OK) status = add_element(s, e, 1, half);
  half[0] = v[1];
  return status == TES_OK ? add_element(s, e, 1, half) : status;
}

/* ---- nodes that are one -------------------------------------------------------------------------------- */

/* Middles whose vertices are one by $Periodic are one. */
static TesStatus pair_middles(Splitter *s) {
  TesContext *ctx = s->ctx;
  TesStatus status = TES_OK;
  TesiGmsh *m = s->mesh;
  Middles joined = {0};
  int32_t *root = NULL;
  TES_ALLOC(&root, m->nodes);
  TES_TRY(tesi_gmsh_periodic_roots(m, root));
  TES_TRY(make_middles(ctx, s->middles.size, &joined));
  for (int64_t i = 0; i < s->middles.size; i++) {
    const Middle *own = &s->middles.entry[i];
    int32_t key[4];
    if (own->node < 0) continue;
    for (int k = 0; k < 4; k++) key[k] = own->vertex[k] < 0 ? -1 : root[own->vertex[k]];
    sort_four(key);
    Middle *entry = find(&joined, key);
    if (entry->node < 0) {
      memcpy(entry->vertex, key, sizeof key);
      entry->node = own->node;
      continue;
    }
    TES_TRY(tesi_gmsh_grow(ctx, &m->pair, sizeof *m->pair, m->pairs, m->pairs + 1, &m->pair_room));
    m->pair[m->pairs][0] = m->node_number[own->node];
    m->pair[m->pairs++][1] = m->node_number[entry->node];
  }
done:
  tesi_free(ctx, &root);
  tesi_free(ctx, &joined.entry);
  return status;
}

TesStatus tesi_gmsh_split(TesiGmsh *mesh) {
  TesContext *ctx = mesh->ctx;
  TesStatus status = TES_OK;
  Splitter s = {.ctx = ctx, .mesh = mesh, .number_room = mesh->nodes};
  mesh->node_room = mesh->nodes;
  tesi_free(ctx, &mesh->node_at); /* it does not know the new ones */
  for (int64_t i = 0; i < mesh->elements; i++) TES_TRY(split_element(&s, &mesh->element[i]));
  if (mesh->pairs) TES_TRY(pair_middles(&s));
  tesi_free(ctx, &mesh->element);
  tesi_free(ctx, &mesh->element_node);
  mesh->element = s.element, mesh->element_node = s.element_node;
  mesh->elements = s.elements, mesh->element_nodes = s.element_nodes;
  s.element = NULL, s.element_node = NULL;
done:
  tesi_free(ctx, &s.element);
  tesi_free(ctx, &s.element_node);
  tesi_free(ctx, &s.middles.entry);
  return status;
}
