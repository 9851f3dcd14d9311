/* Trees from a Gmsh file: cells, their curved maps, the names of their faces. */
#include "mesh/forest/gmsh.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Positions of Gmsh's nodes in {0, 1, 2}^3, two bits a direction: section 9.2 of Gmsh's manual. Quadrilaterals and
 * hexahedra of first degree have the first 4 or 8 of them, serendipity ones the first 8 or 20. */
#define AT(x, y, z) ((x) + 3 * (y) + 9 * (z))
static const int8_t quadrilateral[9] = {AT(0, 0, 0), AT(2, 0, 0), AT(2, 2, 0), AT(0, 2, 0), AT(1, 0, 0),
                                        AT(2, 1, 0), AT(1, 2, 0), AT(0, 1, 0), AT(1, 1, 0)};
static const int8_t hexahedron[27] = {
    AT(0, 0, 0), AT(2, 0, 0), AT(2, 2, 0), AT(0, 2, 0), AT(0, 0, 2), AT(2, 0, 2), AT(2, 2, 2),
    AT(0, 2, 2), AT(1, 0, 0), AT(0, 1, 0), AT(0, 0, 1), AT(2, 1, 0), AT(2, 0, 1), AT(1, 2, 0),
    AT(2, 2, 1), AT(0, 2, 1), AT(1, 0, 2), AT(0, 1, 2), AT(2, 1, 2), AT(1, 2, 2), AT(1, 1, 0),
    AT(1, 0, 1), AT(0, 1, 1), AT(2, 1, 1), AT(1, 2, 1), AT(1, 1, 2), AT(1, 1, 1)};

typedef struct Side {
  int32_t vertex[4]; /* ascending; 2D: the first two are -1 */
  int32_t element;
} Side;

typedef struct Builder {
  TesContext *ctx;
  const TesiGmsh *mesh;
  int dim, degree;
  int64_t trees, sides;
  int32_t *cell;     /* [trees] element */
  Side *side;        /* [sides] elements of dimension dim - 1 */
  TesCellsDesc desc; /* points to the following */
  double *nodes;
  int32_t *vertices, *boundary, *material;
  char **names[2]; /* of boundaries and materials */
  int32_t *tags[2], *number[2], name_count[2];
} Builder;

static TesStatus refuse(const Builder *b, int64_t element, const char *format, ...) TESI_PRINTF(3, 4);
static TesStatus refuse(const Builder *b, int64_t element, const char *format, ...) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  char text[400];
  const TesiGmshElement *e = &b->mesh->element[element];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  TES_FAIL(TES_INVALID_INPUT, "%s: element %lld (a %s, %s %lld): %s", b->mesh->file, (long long)e->number,
           e->type->name, b->mesh->binary ? "byte" : "line", (long long)e->line, text);
done:
  return status;
}

/* ---- which elements are cells, which are sides ---- */

static TesStatus choose_dim(Builder *b, int dim) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  int highest = 0;
  for (int64_t i = 0; i < b->mesh->elements; i++) highest = tesi_max(highest, b->mesh->element[i].type->dim);
  if (highest < 2)
    TES_FAIL(TES_INVALID_INPUT, "%s: there are lines and no quadrilaterals or hexahedra", b->mesh->file);
  if (dim && dim != highest)
    TES_FAIL(TES_INVALID_INPUT, "%s: the mesh has %d dimensions, and %d are asked for", b->mesh->file,
             highest, dim);
  b->dim = highest;
done:
  return status;
}

static TesStatus sort_elements(Builder *b) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  TES_ALLOC(&b->cell, b->mesh->elements);
  TES_ALLOC(&b->side, b->mesh->elements);
  for (int64_t i = 0; i < b->mesh->elements; i++) {
    const TesiGmshType *type = b->mesh->element[i].type;
    if (type->dim == b->dim) {
      if (b->trees && type->degree != b->degree)
        TES_TRY(refuse(b, i, "cells of first and second degree are mixed; make all alike (SetOrder)"));
      b->degree = type->degree;
      b->cell[b->trees++] = (int32_t)i;
    } else if (type->dim == b->dim - 1) {
      b->side[b->sides++].element = (int32_t)i;
    }
  }
done:
  return status;
}

/* ---- cells ---- */

static int64_t node_of(const Builder *b, int64_t element, int i) {
  return b->mesh->element_node[b->mesh->element[element].first + i];
}

/* Face and inner nodes that a serendipity cell lacks, from its vertices and edges: its shape functions at (0, 0)
 * are -1/4 and 1/2, at (0, 0, 0)
 * -1/4 and 1/4. */
static void complete_serendipity(int dim, double x[27][3]) {
  for (int p = 0; p < (dim == 2 ? 9 : 27); p++) {
    const int at[3] = {p % 3, p / 3 % 3, p / 9};
    int middle = 0;
    for (int d = 0; d < dim; d++) middle += at[d] == 1;
    if (middle < 2) continue;
    for (int r = 0; r < 3; r++) x[p][r] = 0;
    for (int q = 0; q < (dim == 2 ? 9 : 27); q++) {
      const int to[3] = {q % 3, q / 3 % 3, q / 9};
      int free = 0;
      bool on = true;
      for (int d = 0; d < dim; d++) {
        on = on && (at[d] == 1 || to[d] == at[d]);
        free += to[d] == 1;
      }
      if (!on || free > 1) continue;
      const double weight = free == 0 ? -0.25 : middle == 2 ? 0.5 : 0.25;
      for (int r = 0; r < 3; r++) x[p][r] += weight * x[q][r];
    }
  }
}

static TesStatus fill_cell(Builder *b, int64_t tree) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  const int dim = b->dim, n = b->degree + 1, points = dim == 2 ? n * n : n * n * n;
  const int64_t element = b->cell[tree];
  const TesiGmshType *type = b->mesh->element[element].type;
  const int8_t *position = dim == 2 ? quadrilateral : hexahedron;
  double x[27][3] = {{0}};
  for (int i = 0; i < type->nodes; i++) {
    const int64_t node = node_of(b, element, i);
    memcpy(x[position[i]], b->mesh->node[node], sizeof x[0]);
    if (i >= 1 << dim) continue;
    const int at = position[i], v = (at % 3 != 0) + 2 * (at / 3 % 3 != 0) + 4 * (at / 9 != 0);
    b->vertices[(tree << dim) + v] = (int32_t)node;
  }
  for (int v = 0; v < 1 << dim; v++)
    for (int w = 0; w < v; w++)
      if (b->vertices[(tree << dim) + v] == b->vertices[(tree << dim) + w])
        TES_TRY(refuse(b, element, "degenerate: node %lld stands twice in it",
                       (long long)b->mesh->node_number[b->vertices[(tree << dim) + v]]));
  if (type->degree == 2 && type->nodes < points) complete_serendipity(dim, x);
  for (int p = 0; p < points; p++) {
    const int step = 2 / b->degree, at[3] = {p % n * step, p / n % n * step, p / n / n * step};
    for (int r = 0; r < dim; r++) b->nodes[(tree * points + p) * dim + r] = x[AT(at[0], at[1], at[2])][r];
  }
done:
  return status;
}

/* ---- names ---- */

/* The number of the name of a physical group: of boundaries (kind 0) or materials (1). Groups without a name are
 * called by their tag. */
static TesStatus find_name(Builder *b, int kind, int32_t tag, int32_t *number) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  const int dim = kind ? b->dim : b->dim - 1;
  char text[16];
  const char *name = text;
  *number = -1;
  if (tag == 0) return TES_OK;
  for (int i = 0; i < b->name_count[kind]; i++)
    if (b->tags[kind][i] == tag) {
      *number = b->number[kind][i];
      return TES_OK;
    }
  snprintf(text, sizeof text, "%d", tag);
  for (int64_t i = 0; i < b->mesh->names; i++)
    if (b->mesh->name[i].dim == dim && b->mesh->name[i].tag == tag) name = b->mesh->name[i].name;
  const int count = b->name_count[kind];
  int distinct = kind ? b->desc.materials : b->desc.boundaries;
  int64_t room = count, room_tags = count, room_numbers = count;
  TES_TRY(tesi_gmsh_grow(ctx, &b->names[kind], sizeof **b->names, count, count + 1, &room));
  TES_TRY(tesi_gmsh_grow(ctx, &b->tags[kind], sizeof **b->tags, count, count + 1, &room_tags));
  TES_TRY(tesi_gmsh_grow(ctx, &b->number[kind], sizeof **b->number, count, count + 1, &room_numbers));
  for (int i = 0; i < distinct && *number < 0; i++)
    if (!strcmp(b->names[kind][i], name)) *number = i;
  if (*number < 0) {
    b->names[kind][distinct] = tesi_strdup(ctx, name);
    if (!b->names[kind][distinct]) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for names");
    *number = distinct++;
  }
  if (kind)
    b->desc.materials = distinct;
  else
    b->desc.boundaries = distinct;
  b->tags[kind][count] = tag;
  b->number[kind][count] = *number;
  b->name_count[kind]++;
done:
  return status;
}

static void sort_vertices(int32_t v[4]) {
  for (int i = 1; i < 4; i++)
    for (int j = i; j > 0 && v[j] < v[j - 1]; j--) {
      const int32_t swap = v[j];
      v[j] = v[j - 1];
      v[j - 1] = swap;
    }
}

static int by_vertices(const void *a, const void *b) {
  const Side *f = a, *g = b;
  for (int i = 0; i < 4; i++)
    if (f->vertex[i] != g->vertex[i]) return f->vertex[i] < g->vertex[i] ? -1 : 1;
  return 0;
}

static int by_vertices_and_place(const void *a, const void *b) {
  const int order = by_vertices(a, b);
  return order ? order : ((const Side *)a)->element - ((const Side *)b)->element;
}

/* Elements that lie on one another, sorted by their place in the file, become the first of them that is in a
 * physical group. */
static void join_sides(Builder *b) {
  int64_t kept = 0, several = 0;
  for (int64_t i = 0; i < b->sides; i++) {
    const TesiGmshElement *element = &b->mesh->element[b->side[i].element];
    Side *last = kept ? &b->side[kept - 1] : NULL;
    if (!last || by_vertices(last, &b->side[i])) {
      b->side[kept++] = b->side[i];
      continue;
    }
    const int32_t group = b->mesh->element[last->element].physical;
    if (!group) last->element = b->side[i].element;
    several += group && element->physical && element->physical != group;
  }
  b->sides = kept;
  if (several)
    tesi_log(b->ctx, TES_LOG_WARNING,
             "%s: %lld %s are in more than one physical group; the group that stands first names them",
             b->mesh->file, (long long)several, b->dim == 2 ? "lines" : "quadrilaterals");
}

/* Names of tree faces, from the elements that lie on them. */
static TesStatus name_faces(Builder *b) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  int64_t used = 0;
  for (int64_t i = 0; i < b->sides; i++) {
    for (int v = 0; v < 4; v++)
      b->side[i].vertex[v] = v < 1 << (b->dim - 1) ? (int32_t)node_of(b, b->side[i].element, v) : -1;
    sort_vertices(b->side[i].vertex);
  }
  qsort(b->side, (size_t)b->sides, sizeof *b->side, by_vertices_and_place);
  join_sides(b);
  for (int64_t t = 0; t < b->trees; t++)
    for (int f = 0; f < 2 * b->dim; f++) {
      Side key = {.vertex = {-1, -1, -1, -1}};
      for (int v = 0, n = 0; v < 1 << b->dim; v++)
        if ((v >> (f / 2) & 1) == (f & 1)) key.vertex[n++] = b->vertices[(t << b->dim) + v];
      sort_vertices(key.vertex);
      const Side *side = b->sides ? bsearch(&key, b->side, (size_t)b->sides, sizeof key, by_vertices) : NULL;
      b->boundary[t * 2 * b->dim + f] = -1;
      if (!side) continue;
      used++;
      TES_TRY(find_name(b, 0, b->mesh->element[side->element].physical, &b->boundary[t * 2 * b->dim + f]));
    }
  if (b->sides && !used)
    tesi_log(ctx, TES_LOG_WARNING, "%s: none of the %lld %s lies on a face of a cell", b->mesh->file,
             (long long)b->sides, b->dim == 2 ? "lines" : "quadrilaterals");
done:
  return status;
}

/* ---- what is wrong with the whole ---- */

static const double (*compared)[3]; /* qsort has no argument for it */

static int by_position(const void *a, const void *b) {
  const double *x = compared[*(const int32_t *)a], *y = compared[*(const int32_t *)b];
  for (int d = 0; d < 3; d++)
    if (x[d] != y[d]) return x[d] < y[d] ? -1 : 1;
  return 0;
}

/* Two vertices at one point are a crack nobody sees. Equal to the last digit, as Gmsh writes them. */
static TesStatus check_duplicates(const Builder *b) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  const int64_t corners = b->trees << b->dim;
  int32_t *vertex = NULL;
  TES_ALLOC(&vertex, corners);
  memcpy(vertex, b->vertices, (size_t)corners * sizeof *vertex);
#pragma omp critical(tesi_gmsh)
  {
    compared = (const double(*)[3])b->mesh->node;
    qsort(vertex, (size_t)corners, sizeof *vertex, by_position);
  }
  for (int64_t i = 1; i < corners; i++)
    if (vertex[i] != vertex[i - 1] &&
        !memcmp(b->mesh->node[vertex[i]], b->mesh->node[vertex[i - 1]], sizeof *b->mesh->node))
      TES_FAIL(TES_INVALID_INPUT,
               "%s: nodes %lld and %lld are at one point, (%g, %g, %g); join them (Coherence Mesh)",
               b->mesh->file, (long long)b->mesh->node_number[vertex[i - 1]],
               (long long)b->mesh->node_number[vertex[i]], b->mesh->node[vertex[i]][0],
               b->mesh->node[vertex[i]][1], b->mesh->node[vertex[i]][2]);
done:
  tesi_free(ctx, &vertex);
  return status;
}

static int32_t find_root(int32_t *parent, int32_t v) {
  while (parent[v] != v) v = parent[v] = parent[parent[v]];
  return v;
}

static TesStatus tell_parts(const Builder *b) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  int32_t *parent = NULL;
  char *seen = NULL;
  int parts = 0;
  TES_ALLOC(&parent, b->mesh->nodes);
  TES_ALLOC(&seen, b->mesh->nodes);
  for (int64_t i = 0; i < b->mesh->nodes; i++) parent[i] = (int32_t)i;
  for (int64_t i = 0; i < b->trees << b->dim; i++)
    parent[find_root(parent, b->vertices[i])] = find_root(parent, b->vertices[i >> b->dim << b->dim]);
  for (int64_t i = 0; i < b->trees << b->dim; i++) {
    const int32_t root = find_root(parent, b->vertices[i]);
    parts += !seen[root];
    seen[root] = 1;
  }
  if (parts > 1)
    tesi_log(ctx, TES_LOG_WARNING, "%s: the mesh consists of %d parts that share no vertex", b->mesh->file,
             parts);
done:
  tesi_free(ctx, &parent);
  tesi_free(ctx, &seen);
  return status;
}

/* A mesh in the plane has one z, nodes on edges included. */
static TesStatus check_plane(const Builder *b) {
  double size = 0;
  const double z = b->mesh->node[b->vertices[0]][2];
  for (int64_t i = 0; i < b->trees << 2; i++)
    for (int d = 0; d < 2; d++) size = fmax(size, fabs(b->mesh->node[b->vertices[i]][d]));
  for (int64_t t = 0; t < b->trees; t++)
    for (int i = 0; i < b->mesh->element[b->cell[t]].type->nodes; i++)
      if (fabs(b->mesh->node[node_of(b, b->cell[t], i)][2] - z) > 1e-9 * size)
        return refuse(b, b->cell[t],
                      "it does not lie in the plane z = %g: quadrilaterals make a mesh of the plane", z);
  return TES_OK;
}

typedef struct Twin {
  int32_t vertex[8], tree; /* ascending; 2D: the last four are -1 */
} Twin;

static int by_twins(const void *a, const void *b) {
  const Twin *f = a, *g = b;
  for (int i = 0; i < 8; i++)
    if (f->vertex[i] != g->vertex[i]) return f->vertex[i] < g->vertex[i] ? -1 : 1;
  return f->tree - g->tree;
}

static int by_number(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* Two cells of the same vertices lie on one another: format 2 writes a cell once for each of its physical groups. */
static TesStatus check_twins(const Builder *b) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  const int corners = 1 << b->dim;
  Twin *twin = NULL;
  TES_ALLOC(&twin, b->trees);
  for (int64_t t = 0; t < b->trees; t++) {
    twin[t].tree = (int32_t)t;
    for (int v = 0; v < 8; v++) twin[t].vertex[v] = v < corners ? b->vertices[t * corners + v] : -1;
    qsort(twin[t].vertex, (size_t)corners, sizeof *twin[t].vertex, by_number);
  }
  qsort(twin, (size_t)b->trees, sizeof *twin, by_twins);
  for (int64_t i = 1; i < b->trees; i++)
    if (!memcmp(twin[i].vertex, twin[i - 1].vertex, sizeof twin[i].vertex))
      TES_TRY(
          refuse(b, b->cell[twin[i].tree],
                 "it has the vertices of element %lld, and lies on it: format 2 writes a cell once for each "
                 "of its physical groups; give it one, or save format 4.1",
                 (long long)b->mesh->element[b->cell[twin[i - 1].tree]].number));
done:
  tesi_free(ctx, &twin);
  return status;
}

/* Twice the area within the corners of a quadrilateral, negative where they run clockwise. */
static double signed_area(const Builder *b, int64_t tree) {
  static const int round[5] = {0, 1, 3, 2, 0};
  double area = 0;
  for (int i = 0; i < 4; i++) {
    const double *p = b->mesh->node[b->vertices[4 * tree + round[i]]],
                 *q = b->mesh->node[b->vertices[4 * tree + round[i + 1]]];
    area += p[0] * q[1] - q[0] * p[1];
  }
  return area;
}

/* As the check of trees, but telling Gmsh's element. */
static TesStatus check_shapes(const Builder *b, const TesiTrees *trees) {
  int64_t tree;
  double J, x[3] = {0};
  TesStatus status = tesi_trees_find_inverted(trees, &tree, &J, x);
  if (status == TES_OK && tree >= 0)
    status =
        refuse(b, b->cell[tree], "inverted or degenerate: |J| = %.3g at (%g, %g, %g)%s", J, x[0], x[1], x[2],
               b->dim == 2 && signed_area(b, tree) < 0
                   ? "; its nodes run clockwise, which ReverseMesh Surface{:} in Gmsh turns"
                   : "");
  return status;
}

/* What messages about trees call a cell. */
static void write_label(const void *user, int64_t tree, char *text, size_t size) {
  const Builder *b = user;
  const TesiGmshElement *e = &b->mesh->element[b->cell[tree]];
  snprintf(text, size, "element %lld (%s %lld)", (long long)e->number, b->mesh->binary ? "byte" : "line",
           (long long)e->line);
}

static void builder_free(Builder *b) {
  TesContext *ctx = b->ctx;
  for (int kind = 0; kind < 2; kind++) {
    for (int i = 0; i < (kind ? b->desc.materials : b->desc.boundaries); i++)
      tesi_free(ctx, &b->names[kind][i]);
    tesi_free(ctx, &b->names[kind]);
    tesi_free(ctx, &b->tags[kind]);
    tesi_free(ctx, &b->number[kind]);
  }
  tesi_free(ctx, &b->cell);
  tesi_free(ctx, &b->side);
  tesi_free(ctx, &b->nodes);
  tesi_free(ctx, &b->vertices);
  tesi_free(ctx, &b->boundary);
  tesi_free(ctx, &b->material);
}

static TesStatus build(Builder *b, TesiTrees **trees) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  const int n = b->degree + 1, points = b->dim == 2 ? n * n : n * n * n;
  char file[300];
  const TesiTreeLabel label = {file, write_label, b};
  snprintf(file, sizeof file, "%s: ", b->mesh->file);
  TES_ALLOC(&b->nodes, b->trees * points * b->dim);
  TES_ALLOC(&b->vertices, b->trees << b->dim);
  TES_ALLOC(&b->boundary, b->trees * 2 * b->dim);
  TES_ALLOC(&b->material, b->trees);
  for (int64_t t = 0; t < b->trees; t++) {
    TES_TRY(fill_cell(b, t));
    TES_TRY(find_name(b, 1, b->mesh->element[b->cell[t]].physical, &b->material[t]));
  }
  if (b->dim == 2) TES_TRY(check_plane(b));
  TES_TRY(check_duplicates(b));
  TES_TRY(check_twins(b));
  TES_TRY(name_faces(b));
  b->desc.trees = b->trees;
  b->desc.degree = b->degree;
  b->desc.nodes = b->nodes;
  b->desc.vertices = b->vertices;
  b->desc.boundary = b->boundary;
  b->desc.material = b->material;
  b->desc.boundary_names = (const char *const *)b->names[0];
  b->desc.material_names = (const char *const *)b->names[1];
  TES_TRY(tesi_trees_from_cells(ctx, b->dim, &b->desc, &label, trees));
  TES_TRY(check_shapes(b, *trees));
  TES_TRY(tell_parts(b));
done:
  if (status != TES_OK) tesi_trees_release(trees);
  return status;
}

TesStatus tesi_gmsh_trees(const TesiGmsh *mesh, int dim, TesiTrees **trees) {
  TesContext *ctx = mesh->ctx;
  TesStatus status = TES_OK;
  Builder b = {.ctx = ctx, .mesh = mesh};
  *trees = NULL;
  TES_TRY(choose_dim(&b, dim));
  TES_TRY(sort_elements(&b));
  TES_TRY(build(&b, trees));
done:
  builder_free(&b);
  return status;
}
