/* Splits cells at the middles of their edges and faces and at their centres. Each vertex of a cell gets a quadrilateral
 * or hexahedron: 3 from a triangle, 4 from a quadrilateral or tetrahedron, 6 from a prism, 8 from a hexahedron. All
 * cells are split, so that cells of different shape still share whole faces.
 * The apex of a pyramid has four edges, and no hexahedron has such a vertex. (A pyramid whose faces are split as above
 * can be filled by hexahedra, but it takes 36 of poor shape: Verhetsel, Pellerin, Remacle, A 44-element mesh of
 * Schneiders' pyramid, 2018.) Therefore, if the mesh has pyramids, all cells are first cut into tetrahedra, and each
 * tetrahedron into 4 hexahedra. The vertex of a cell with the smallest number is joined with the triangles of the faces
 * that do not have it. A face of four vertices is cut from its vertex with the smallest number, in the same way on both
 * sides (pulling: De Loera, Rambau, Santos, Triangulations, 4.3.2).
 * Elements of degree 2 stay curved: their parts are polynomials of degree 2 in each direction through points of the
 * element's map. For triangles and tetrahedra, and for all elements in meshes without pyramids, the parts have exactly
 * this map. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "mesh/forest/gmsh_shapes.h"

enum { PLACES = 27 }; /* vertices, middles of edges and faces, and the centre of a hexahedron */

/* The corners of the part of one vertex, in Gmsh's order of a line, quadrilateral or hexahedron: corner c is the middle
 * of the vertices set[c][count[c]], which are {vertex}, {edge}, {face} and so on. */
typedef struct Corners {
  int8_t set[8][8];
  int count[8];
} Corners;

/* The middle of an edge or a face, found by its vertices. */
typedef struct Middle {
  int32_t vertex[4]; /* ascending; -1: fewer */
  int32_t node;
} Middle;

typedef struct Middles {
  Middle *entry; /* [size], a power of two; node -1: free */
  int64_t size, count;
} Middles;

typedef struct Splitter {
  TesContext *ctx;
  TesiGmsh *mesh;
  Middles middles;
  int64_t number_room, element_room, node_room;
  TesiGmshElement *element; /* the new ones */
  int64_t *element_node;
  int64_t elements, element_nodes;
  int dim;        /* of cells */
  bool simplices; /* all cells become triangles and tetrahedra first */
  int32_t *rank;  /* [nodes of the file] numbers that define the smallest vertex; NULL: its index */
  TesiGmshCurve curve;
  int64_t bent, bent_room; /* nodes of mesh->bent */
  const TesiGmshShapeTable *shape;
  Corners corners[8]; /* of the vertices of this shape */
} Splitter;

/* An element, or a simplex of some of its vertices. */
typedef struct Part {
  const TesiGmshElement *of;
  const TesiGmshShapeTable *shape;
  int8_t own[8];        /* numbers of its vertices in the element */
  int32_t vertex[8];    /* and in the mesh */
  const double (*x)[3]; /* nodes of the element of degree 2; else NULL */
} Part;

/* The middle of some vertices of a part. */
typedef struct Place {
  int64_t node;
  double xi[3]; /* in the element's reference coordinates; degree 2 */
} Place;

/* ---- middles ------------------------------------------------------------------------------------------- */

static void sort_four(int32_t v[4]) {
  for (int i = 1; i < 4; i++)
    for (int j = i; j > 0 && v[j] > v[j - 1]; j--) {
      const int32_t swap = v[j];
      v[j] = v[j - 1];
      v[j - 1] = swap;
    }
}

/* The slot that has these vertices, or a free slot for them. */
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
  TES_TRY(make_middles(ctx, 2 * m->size, &larger));
  for (int64_t i = 0; i < m->size; i++)
    if (m->entry[i].node >= 0) *find(&larger, m->entry[i].vertex) = m->entry[i];
  larger.count = m->count;
  tesi_free(ctx, &m->entry);
  *m = larger;
done:
  return status;
}

/* A new node; its number is larger than all others. */
static TesStatus add_node(Splitter *s, const double x[3], int32_t *node) {
  TesContext *ctx = s->ctx;
  TesStatus status = TES_OK;
  TesiGmsh *m = s->mesh;
  TES_CHECK(m->nodes < INT32_MAX, "%s: more than 2^31 nodes after mesh.split", m->file);
  TES_GROW(&m->node_number, m->nodes, m->nodes + 1, &s->number_room);
  TES_GROW(&m->node, m->nodes, m->nodes + 1, &m->node_room);
  *node = (int32_t)m->nodes;
  m->node_number[m->nodes] = m->node_number[m->nodes - 1] + 1;
  memcpy(m->node[m->nodes++], x, 3 * sizeof *x);
done:
  return status;
}

/* The point of an element of degree 2. */
static void evaluate(const TesiGmshCurve *curve, const double (*nodes)[3], const double xi[3], double x[3]) {
  double weight[TESI_GMSH_SECOND];
  tesi_gmsh_curve_weights(curve, xi, weight);
  for (int d = 0; d < 3; d++) {
    x[d] = 0;
    for (int k = 0; k < curve->type->nodes; k++) x[d] += weight[k] * nodes[k][d];
  }
}

/* x <- the mean of vertices, summed in the order of their indices, so that all cells get the same digits. */
static void mean_of(const TesiGmsh *m, int count, const int32_t *vertex, double x[3]) {
  for (int d = 0; d < 3; d++) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum += m->node[vertex[i]][d];
    x[d] = sum / count;
  }
}

/* Places the middle of `count` vertices of a part. */
static TesStatus place_node(Splitter *s, const Part *part, int count, const int32_t *vertex,
                            const double xi[3], int32_t *node) {
  double x[3];
  if (part->x)
    evaluate(&s->curve, part->x, xi, x);
  else
    mean_of(s->mesh, count, vertex, x);
  return add_node(s, x, node);
}

/* The middle of one vertex of a part, of the vertices of an edge or a face, or of all vertices. All cells that share an
 * edge or a face share its middle: the first cell places it. */
static TesStatus find_place(Splitter *s, const Part *part, int count, const int8_t *vertices, Place *place) {
  TesContext *ctx = s->ctx;
  TesStatus status = TES_OK;
  const TesiGmshShapeTable *whole = tesi_gmsh_shape(part->of->type->shape);
  int32_t key[8] = {-1, -1, -1, -1}, made = -1;
  memset(place->xi, 0, sizeof place->xi);
  for (int i = 0; i < count; i++) {
    key[i] = part->vertex[vertices[i]];
    for (int d = 0; d < 3; d++) place->xi[d] += 0.5 * whole->corner[part->own[vertices[i]]][d] / count;
  }
  if (count == 1) {
    made = key[0];
  } else if (count > 4) {
    TES_TRY(place_node(s, part, count, key, place->xi, &made));
  } else {
    sort_four(key);
    if (2 * (s->middles.count + 1) > s->middles.size) TES_TRY(grow_middles(ctx, &s->middles));
    Middle *entry = find(&s->middles, key);
    if (entry->node < 0) {
      TES_TRY(place_node(s, part, count, key, place->xi, &made));
      memcpy(entry->vertex, key, sizeof entry->vertex);
      entry->node = made;
      s->middles.count++;
    }
    made = entry->node;
  }
  place->node = made;
done:
  return status;
}

/* ---- elements ------------------------------------------------------------------------------------------ */

static TesStatus add_element(Splitter *s, const TesiGmshElement *of, int type, const int64_t *nodes) {
  TesContext *ctx = s->ctx;
  TesStatus status = TES_OK;
  const TesiGmshType *t = tesi_gmsh_type(type);
  TES_GROW(&s->element, s->elements, s->elements + 1, &s->element_room);
  TES_GROW(&s->element_node, s->element_nodes, s->element_nodes + t->nodes, &s->node_room);
  TesiGmshElement *e = &s->element[s->elements++];
  *e = *of;
  e->part_of = of->type;
  e->type = t;
  e->first = s->element_nodes;
  memcpy(s->element_node + s->element_nodes, nodes, (size_t)t->nodes * sizeof *nodes);
  s->element_nodes += t->nodes;
done:
  return status;
}

static void list_corners(const TesiGmshShapeTable *shape, int dim, int i, Corners *to) {
  const int8_t *beside = shape->beside[i];
  static const int8_t towards[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                       {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
  for (int c = 0; c < 1 << dim; c++) {
    int8_t *const own = to->set[c];
    int *const count = &to->count[c];
    const int free = towards[c][0] + towards[c][1] + towards[c][2];
    own[0] = (int8_t)i, *count = 1;
    for (int d = 0; d < dim; d++)
      if (towards[c][d]) own[(*count)++] = dim == 1 ? (int8_t)(1 - i) : beside[d];
    if (free == dim) {
      *count = shape->vertices;
      for (int v = 0; v < *count; v++) own[v] = (int8_t)v;
      continue;
    }
    for (int f = 0; free == 2 && f < shape->faces; f++) { /* the face that has all three */
      int met = 0;
      for (int k = 0; k < 4; k++)
        for (int j = 0; j < 3; j++) met += shape->face[f][k] == own[j];
      if (met < 3) continue;
      *count = shape->face[f][3] < 0 ? 3 : 4;
      memcpy(own, shape->face[f], 4);
      break;
    }
  }
}

static const int8_t from_bits[8] = {0, 1, 3, 2, 4, 5, 7, 6}; /* corners in Gmsh's order */

/* xi <- the position of point p of 3^dim between the corners of a cell. */
static void between(int dim, int p, const Place *corner, double xi[3]) {
  const int at[3] = {p % 3, p / 3 % 3, p / 9};
  for (int d = 0; d < 3; d++) xi[d] = 0;
  for (int v = 0; v < 1 << dim; v++) {
    double weight = 1;
    for (int d = 0; d < dim; d++) weight *= v >> d & 1 ? 0.5 * at[d] : 1 - 0.5 * at[d];
    for (int d = 0; d < 3; d++) xi[d] += weight * corner[from_bits[v]].xi[d];
  }
}

/* A corner at x, placed by the first cell that has it. */
static TesStatus join_corner(const Splitter *s, const Part *part, int64_t node, double x[3]) {
  TesContext *ctx = s->ctx;
  TesStatus status = TES_OK;
  const double *own = s->mesh->node[node];
  double apart = 0, near = 0;
  for (int d = 0; d < 3; d++) {
    apart = fmax(apart, fabs(own[d] - x[d]));
    near = fmax(near, 1e-9 * fabs(part->x[0][d] - part->x[1][d]) + 1e3 * DBL_EPSILON * fabs(x[d]));
  }
  TES_CHECK(apart <= near,
            "%s: element %lld (a %s, %s %lld) bends an edge or a face otherwise than its neighbour: at (%g, "
            "%g, %g), "
            "%g from where that element has it; cells must share the inner nodes too",
            s->mesh->file, (long long)part->of->number, part->of->type->name,
            s->mesh->binary ? "byte" : "line", (long long)part->of->line, x[0], x[1], x[2], apart);
  memcpy(x, own, 3 * sizeof *x);
done:
  return status;
}

/* The nodes of degree 2 of a cell between these corners. */
static TesStatus add_bent(Splitter *s, const Part *part, const Place *corner, int64_t *bent) {
  TesContext *ctx = s->ctx;
  TesStatus status = TES_OK;
  TesiGmsh *m = s->mesh;
  const int points = s->dim == 2 ? 9 : 27, last = s->dim == 2 ? 4 : 8;
  static const int8_t at_corner[8] = {0, 2, 6, 8, 18, 20, 24, 26};
  TES_GROW(&m->bent, s->bent, s->bent + points, &s->bent_room);
  double(*x)[3] = m->bent + s->bent;
  for (int p = 0; p < points; p++) {
    double xi[3];
    between(s->dim, p, corner, xi);
    evaluate(&s->curve, part->x, xi, x[p]);
  }
  for (int v = 0; v < last; v++) TES_TRY(join_corner(s, part, corner[from_bits[v]].node, x[at_corner[v]]));
  *bent = s->bent;
  s->bent += points;
done:
  return status;
}

static TesStatus split_part(Splitter *s, const Part *part) {
  static const int type[] = {15, 1, 3, 5};
  TesContext *ctx = s->ctx;
  TesStatus status = TES_OK;
  const int dim = part->of->type->dim;
  Place place[PLACES];
  int8_t at[256]; /* the number of the place of a set of vertices; -1: not found yet */
  int places = 0;
  memset(at, -1, sizeof at);
  for (int i = 0; s->shape != part->shape && i < part->shape->vertices; i++)
    list_corners(part->shape, dim, i, &s->corners[i]);
  s->shape = part->shape;
  for (int i = 0; i < part->shape->vertices; i++) {
    const Corners *of = &s->corners[i];
    int64_t node[8], bent = -1;
    Place corner[8];
    for (int c = 0; c < 1 << dim; c++) {
      unsigned set = 0;
      for (int k = 0; k < of->count[c]; k++) set |= 1u << of->set[c][k];
      if (at[set] < 0) {
        TES_TRY(find_place(s, part, of->count[c], of->set[c], &place[places]));
        at[set] = (int8_t)places++;
      }
      corner[c] = place[at[set]];
      node[c] = corner[c].node;
    }
    if (part->x && dim == s->dim) TES_TRY(add_bent(s, part, corner, &bent));
    TES_TRY(add_element(s, part->of, type[dim], node));
    s->element[s->elements - 1].bent = bent;
  }
done:
  return status;
}

static int32_t rank_of(const Splitter *s, int32_t node) {
  return s->rank ? s->rank[node] : node;
}

/* A simplex of `vertices` of a part. */
static TesStatus split_simplex(Splitter *s, const Part *whole, int count, const int8_t *vertices) {
  Part part = {.of = whole->of,
               .shape = tesi_gmsh_shape(count == 3 ? TESI_GMSH_TRIANGLE : TESI_GMSH_TETRAHEDRON),
               .x = whole->x};
  for (int i = 0; i < count; i++) {
    part.own[i] = whole->own[vertices[i]];
    part.vertex[i] = whole->vertex[vertices[i]];
  }
  return split_part(s, &part);
}

static int least_of(const Splitter *s, const Part *part, int count, const int8_t *vertices) {
  int least = 0;
  for (int i = 1; i < count; i++)
    if (rank_of(s, part->vertex[vertices[i]]) < rank_of(s, part->vertex[vertices[least]])) least = i;
  return least;
}

/* See the head of this file. face: the vertices round a face; apex: a vertex that is not on the face, -1: none. */
static TesStatus split_face(Splitter *s, const Part *part, int count, const int8_t *face, int apex) {
  const int least = least_of(s, part, count, face);
  TesStatus status = TES_OK;
  for (int i = 1; i + 1 < count && status == TES_OK;
       i++) { /* seen from the apex the vertices of the face have the opposite order */
    const int8_t a = face[least], b = face[(least + i) % count], c = face[(least + i + 1) % count];
    status = apex < 0 ? split_simplex(s, part, 3, (const int8_t[]){a, b, c})
                      : split_simplex(s, part, 4, (const int8_t[]){a, c, b, (int8_t)apex});
  }
  return status;
}

static TesStatus split_by_simplices(Splitter *s, const Part *part) {
  static const int8_t all[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  const TesiGmshShapeTable *shape = part->shape;
  const int apex = least_of(s, part, shape->vertices, all);
  TesStatus status = TES_OK;
  if (part->of->type->dim == 2) return split_face(s, part, shape->vertices, all, -1);
  for (int f = 0; f < shape->faces && status == TES_OK; f++) {
    const int count = shape->face[f][3] < 0 ? 3 : 4;
    bool has = false;
    for (int k = 0; k < count; k++) has = has || shape->face[f][k] == apex;
    if (!has) status = split_face(s, part, count, shape->face[f], apex);
  }
  return status;
}

static TesStatus split_element(Splitter *s, const TesiGmshElement *e) {
  const int64_t *node = &s->mesh->element_node[e->first];
  double x[TESI_GMSH_SECOND][3];
  Part part = {.of = e, .shape = tesi_gmsh_shape(e->type->shape)};
  if (e->type->dim == 0) return add_element(s, e, e->type->type, node);
  for (int i = 0; i < part.shape->vertices; i++) {
    part.own[i] = (int8_t)i;
    part.vertex[i] = (int32_t)node[i];
  }
  if (e->type->degree == 2) {
    for (int i = 0; i < e->type->nodes; i++) memcpy(x[i], s->mesh->node[node[i]], sizeof x[i]);
    if (s->curve.type != e->type) tesi_gmsh_curve_begin(e->type, &s->curve);
    part.x = (const double(*)[3])x;
  }
  return s->simplices && e->type->dim > 1 ? split_by_simplices(s, &part) : split_part(s, &part);
}

/* ---- nodes that are one -------------------------------------------------------------------------------- */

/* Middles are identified if $Periodic identifies their vertices. */
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
    TES_GROW(&m->pair, m->pairs, m->pairs + 1, &m->pair_room);
    m->pair[m->pairs][0] = m->node_number[own->node];
    m->pair[m->pairs++][1] = m->node_number[entry->node];
  }
done:
  tesi_free(ctx, &root);
  tesi_free(ctx, &joined.entry);
  return status;
}

/* Identified nodes have the same rank, so that identified faces are cut in the same way. */
static TesStatus rank_nodes(Splitter *s) {
  TesContext *ctx = s->ctx;
  TesStatus status = TES_OK;
  if (!s->mesh->pairs || !s->simplices) return TES_OK;
  TES_ALLOC(&s->rank, s->mesh->nodes);
  TES_TRY(tesi_gmsh_periodic_roots(s->mesh, s->rank));
done:
  return status;
}

/* Room for the parts of elements that are not cut into simplices first, and for about three middles an element. */
static TesStatus make_room(Splitter *s) {
  TesContext *ctx = s->ctx;
  TesStatus status = TES_OK;
  int64_t elements = 1, nodes = 1, size = 1024;
  for (int64_t i = 0; i < s->mesh->elements; i++) {
    const TesiGmshType *type = s->mesh->element[i].type;
    const int parts = type->dim == 0 ? 1 : tesi_gmsh_shape(type->shape)->vertices;
    elements += parts, nodes += (int64_t)parts << type->dim;
  }
  TES_GROW(&s->element, 0, elements, &s->element_room);
  TES_GROW(&s->element_node, 0, nodes, &s->node_room);
  while (size < 6 * s->mesh->elements) size *= 2;
  TES_TRY(make_middles(ctx, size, &s->middles));
done:
  return status;
}

TesStatus tesi_gmsh_split(TesiGmsh *mesh) {
  TesContext *ctx = mesh->ctx;
  TesStatus status = TES_OK;
  Splitter s = {.ctx = ctx, .mesh = mesh, .number_room = mesh->nodes};
  for (int64_t i = 0; i < mesh->elements; i++) {
    s.dim = tesi_max(s.dim, mesh->element[i].type->dim);
    s.simplices = s.simplices || mesh->element[i].type->shape == TESI_GMSH_PYRAMID;
  }
  TES_TRY(rank_nodes(&s));
  TES_TRY(make_room(&s));
  mesh->node_room = mesh->nodes;
  tesi_free(ctx, &mesh->node_at);          /* the list of $Periodic does not have the new nodes */
  for (int cells = 1; cells >= 0; cells--) /* cells first: their curves place the middles */
    for (int64_t i = 0; i < mesh->elements; i++)
      if ((mesh->element[i].type->dim == s.dim) == cells) TES_TRY(split_element(&s, &mesh->element[i]));
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
  tesi_free(ctx, &s.rank);
  return status;
}
