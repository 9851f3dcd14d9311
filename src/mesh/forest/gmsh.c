/* Trees from a Gmsh file: cells, their curved maps, and the names of their faces. */
#include "base/ascending.h"
#include "base/team.h"
#include "base/text.h"
#include "mesh/forest/gmsh_build.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TesStatus tesi_gmsh_refuse(const TesiGmshBuilder *b, int64_t element, const char *format, ...) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  char text[400];
  const TesiGmshElement *e = &b->mesh->element[element];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  TES_FAIL(TES_INVALID_INPUT, "%s: element %lld (%s %s, %s %lld): %s", b->mesh->file, (long long)e->number,
           e->part_of ? "part of a" : "a", e->part_of ? e->part_of->name : e->type->name,
           b->mesh->binary ? "byte" : "line", (long long)e->line, text);
done:
  return status;
}

/* ---- which elements are cells, which are sides ---- */

static TesStatus choose_dim(TesiGmshBuilder *b, int dim) {
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

static TesStatus sort_elements(TesiGmshBuilder *b) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  TES_ALLOC(&b->cell, b->mesh->elements);
  TES_ALLOC(&b->side, b->mesh->elements);
  for (int64_t i = 0; i < b->mesh->elements; i++) {
    const TesiGmshType *type = b->mesh->element[i].type;
    if (type->dim == b->dim) {
      const int degree = b->mesh->element[i].bent >= 0 ? 2 : type->degree;
      if (b->trees && degree != b->degree)
        TES_TRY(tesi_gmsh_refuse(b, i, "cells of degree %d and %d are mixed; make all alike (SetOrder)",
                                 b->degree, degree));
      b->degree = degree;
      b->cell[b->trees++] = (int32_t)i;
    } else if (type->dim == b->dim - 1) {
      b->side[b->sides++].element = (int32_t)i;
    }
  }
done:
  return status;
}

/* ---- names ---- */

/* *number <- the number of a name, which may be new. The name is remembered by its tag. */
TesStatus tesi_gmsh_add_name(TesiGmshBuilder *b, int kind, int32_t tag, const char *name, int32_t *number) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  const int count = b->name_count[kind];
  int distinct = kind ? b->desc.materials : b->desc.boundaries;
  int64_t room = count, room_tags = count, room_numbers = count;
  *number = -1;
  TES_GROW(&b->names[kind], count, count + 1, &room);
  TES_GROW(&b->tags[kind], count, count + 1, &room_tags);
  TES_GROW(&b->number[kind], count, count + 1, &room_numbers);
  for (int i = 0; i < distinct && *number < 0; i++)
    if (!strcmp(b->names[kind][i], name)) *number = i;
  if (*number >= 0) {
    tesi_log(ctx, TES_LOG_WARNING, "%s: another physical group is called %s too; they are one %s",
             b->mesh->file, name, kind ? "material" : "boundary");
  } else {
    TES_TRY(tesi_copy_text(ctx, name, &b->names[kind][distinct]));
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

/* The number of the name of a physical group of boundaries (kind 0) or materials (1). A group without a name is called
 * by its tag. */
static TesStatus find_name(TesiGmshBuilder *b, int kind, int32_t tag, int32_t *number) {
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
    if ((b->mesh->name[i].dim == dim || b->mesh->name[i].dim == TESI_GMSH_ANY) && b->mesh->name[i].tag == tag)
      name = b->mesh->name[i].name;
  return tesi_gmsh_add_name(b, kind, tag, name, number);
}

static int by_vertices(const void *a, const void *b) {
  return tesi_ascending_list(((const TesiGmshSide *)a)->vertex, ((const TesiGmshSide *)b)->vertex, 4);
}

static int by_vertices_and_place(const void *a, const void *b) {
  const int order = by_vertices(a, b);
  return order ? order : ((const TesiGmshSide *)a)->element - ((const TesiGmshSide *)b)->element;
}

/* Elements are sorted by their place in the file. Elements with the same vertices become the first of them that is in a
 * physical group. */
static void join_sides(TesiGmshBuilder *b) {
  int64_t kept = 0, several = 0;
  for (int64_t i = 0; i < b->sides; i++) {
    const TesiGmshElement *element = &b->mesh->element[b->side[i].element];
    TesiGmshSide *last = kept ? &b->side[kept - 1] : NULL;
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

/* Names of tree faces, from the elements on these faces. */
static TesStatus name_faces(TesiGmshBuilder *b) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  int64_t used = 0;
  bool *on_side = NULL; /* of nodes: most faces of cells have a node that no side has */
  TES_ALLOC(&on_side, b->mesh->nodes);
  for (int64_t i = 0; i < b->sides; i++) {
    for (int v = 0; v < 4; v++)
      b->side[i].vertex[v] = v < 1 << (b->dim - 1) ? (int32_t)tesi_gmsh_node_of(b, b->side[i].element, v) : -1;
    for (int v = 0; v < 1 << (b->dim - 1); v++) on_side[b->side[i].vertex[v]] = true;
    tesi_sort_few(4, b->side[i].vertex);
  }
  qsort(b->side, (size_t)b->sides, sizeof *b->side, by_vertices_and_place);
  join_sides(b);
  for (int64_t k = 0; k < b->trees; k++)
    for (int f = 0; f < 2 * b->dim; f++) {
      const int64_t t = b->in_file[k];
      TesiGmshSide key = {.vertex = {-1, -1, -1, -1}};
      bool all = true;
      for (int v = 0, n = 0; v < 1 << b->dim; v++)
        if ((v >> (f / 2) & 1) == (f & 1)) {
          key.vertex[n++] = b->vertices[(t << b->dim) + v];
          all = all && on_side[key.vertex[n - 1]];
        }
      b->boundary[t * 2 * b->dim + f] = -1;
      if (!all) continue;
      tesi_sort_few(4, key.vertex);
      const TesiGmshSide *side = bsearch(&key, b->side, (size_t)b->sides, sizeof key, by_vertices);
      if (!side) continue;
      used++;
      TES_TRY(find_name(b, 0, b->mesh->element[side->element].physical, &b->boundary[t * 2 * b->dim + f]));
    }
  if (b->sides && !used)
    tesi_log(ctx, TES_LOG_WARNING, "%s: none of the %lld %s lies on a face of a cell", b->mesh->file,
             (long long)b->sides, b->dim == 2 ? "lines" : "quadrilaterals");
done:
  tesi_free(ctx, &on_side);
  return status;
}

/* ---- cells ---- */

int64_t tesi_gmsh_node_of(const TesiGmshBuilder *b, int64_t element, int i) {
  return b->mesh->element_node[b->mesh->element[element].first + i];
}

/* Two corners of a tree that are one node, the second of them; -1: none. */
static int doubled_corner(const TesiGmshBuilder *b, int64_t tree) {
  const int32_t *v = b->vertices + (tree << b->dim);
  for (int i = 0; i < 1 << b->dim; i++)
    for (int j = 0; j < i; j++)
      if (v[i] == v[j]) return i;
  return -1;
}

typedef struct Fill {
  const TesiGmshBuilder *b;
  int64_t turned, doubled; /* numbers of cells */
} Fill;

static void fill_span(const void *data, TesiSpan span) {
  Fill *fill = (Fill *)data;
  const TesiGmshBuilder *b = fill->b;
  const int n = b->degree + 1, points = b->dim == 2 ? n * n : n * n * n;
  int64_t turned = 0, doubled = 0;
  TesiGmshCells cells;
  tesi_gmsh_cells_begin(b->dim, b->degree, (const double(*)[3])b->mesh->node, &cells);
  for (int64_t t = span.first; t < span.end; t++) {
    const TesiGmshElement *e = &b->mesh->element[b->cell[t]];
    const double(*bent)[3] = e->bent >= 0 ? (const double(*)[3])b->mesh->bent + e->bent : NULL;
    turned += tesi_gmsh_cell(&cells, e->type, b->mesh->element_node + e->first, bent,
                             b->vertices + (t << b->dim), b->nodes + t * points * b->dim);
    doubled += doubled_corner(b, t) >= 0;
  }
  __atomic_fetch_add(&fill->turned, turned, __ATOMIC_RELAXED);
  __atomic_fetch_add(&fill->doubled, doubled, __ATOMIC_RELAXED);
}

/* Names are numbered, and faults are found, in the order of the file. */
static TesStatus fill_cells(TesiGmshBuilder *b) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  Fill fill = {.b = b};
  tesi_team_for(tesi_team_threads(ctx, 256 * b->trees), b->trees, fill_span, &fill);
  for (int64_t k = 0; k < b->trees; k++) {
    const int64_t t = b->in_file[k];
    const int twice = fill.doubled ? doubled_corner(b, t) : -1;
    if (twice >= 0)
      TES_TRY(tesi_gmsh_refuse(b, b->cell[t], "degenerate: node %lld stands twice in it",
                               (long long)b->mesh->node_number[b->vertices[(t << b->dim) + twice]]));
    TES_TRY(find_name(b, 1, b->mesh->element[b->cell[t]].physical, &b->material[t]));
  }
  if (fill.turned)
    tesi_log(ctx, TES_LOG_WARNING,
             "%s: %lld of %lld cells are left-handed (|J| < 0); their nodes are reordered", b->mesh->file,
             (long long)fill.turned, (long long)b->trees);
done:
  return status;
}

/* The same check as for trees, but the message names Gmsh's element. */
static TesStatus check_shapes(const TesiGmshBuilder *b, const TesiTrees *trees) {
  int64_t tree;
  double J, x[3] = {0};
  TesStatus status = tesi_trees_find_inverted(trees, &tree, &J, x);
  if (status == TES_OK && tree >= 0)
    status = tesi_gmsh_refuse(
        b, b->cell[tree], "inverted or degenerate: |J| = %.3g at (%g, %g, %g); %s", J, x[0], x[1], x[2],
        b->degree > 1 ? "Mesh.HighOrderOptimize = 2 mends bent cells, or make them smaller there"
                      : "mesh this place anew, with Mesh.Optimize or other sizes");
  return status;
}

/* The name of a cell in messages about trees. */
static void write_label(const void *user, int64_t tree, char *text, size_t size) {
  const TesiGmshBuilder *b = user;
  const TesiGmshElement *e = &b->mesh->element[b->cell[tree]];
  snprintf(text, size, "element %lld (%s %lld)", (long long)e->number, b->mesh->binary ? "byte" : "line",
           (long long)e->line);
}

static void builder_free(TesiGmshBuilder *b) {
  TesContext *ctx = b->ctx;
  for (int kind = 0; kind < 2; kind++) {
    for (int i = 0; i < (kind ? b->desc.materials : b->desc.boundaries); i++)
      tesi_free(ctx, &b->names[kind][i]);
    tesi_free(ctx, &b->names[kind]);
    tesi_free(ctx, &b->tags[kind]);
    tesi_free(ctx, &b->number[kind]);
  }
  tesi_free(ctx, &b->cell);
  tesi_free(ctx, &b->in_file);
  tesi_free(ctx, &b->side);
  tesi_free(ctx, &b->nodes);
  tesi_free(ctx, &b->vertices);
  tesi_free(ctx, &b->boundary);
  tesi_free(ctx, &b->material);
  tesi_free(ctx, &b->number_of);
  tesi_free(ctx, &b->part);
}

static TesStatus build(TesiGmshBuilder *b, TesiTrees **trees) {
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
  const double start = tesi_now();
  TES_TRY(fill_cells(b));
  const double filled = tesi_now();
  if (b->dim == 2) TES_TRY(tesi_gmsh_check_plane(b));
  TES_TRY(tesi_gmsh_check_duplicates(b));
  TES_TRY(tesi_gmsh_check_doubles(b));
  TES_TRY(tesi_gmsh_check_shared(b));
  TES_TRY(name_faces(b));
  if (b->mesh->options.groups) TES_TRY(tesi_gmsh_find_parts(b));
  TES_TRY(tesi_gmsh_number_vertices(b));
  if (b->mesh->pairs) TES_TRY(tesi_gmsh_check_periodic(b));
  b->desc.trees = b->trees;
  b->desc.degree = b->degree;
  b->desc.nodes = b->nodes;
  b->desc.vertices = b->number_of;
  b->desc.boundary = b->boundary;
  b->desc.material = b->material;
  b->desc.part = b->part;
  b->desc.boundary_names = (const char *const *)b->names[0];
  b->desc.material_names = (const char *const *)b->names[1];
  const double checked = tesi_now();
  TES_TRY(tesi_trees_from_cells(ctx, b->dim, &b->desc, &label, trees));
  const double joined = tesi_now();
  TES_TRY(check_shapes(b, *trees));
  TES_TRY(tesi_trees_check_sides(ctx, &label, *trees));
  TES_TRY(tesi_gmsh_check_middles(b, *trees));
  TES_TRY(tesi_gmsh_tell_parts(b));
  tesi_log(ctx, TES_LOG_DETAIL,
           "mesh: cells %.2f s, checks and names %.2f s, faces %.2f s, shapes and parts %.2f s",
           filled - start, checked - filled, joined - checked, tesi_now() - joined);
done:
  if (status != TES_OK) tesi_trees_release(trees);
  return status;
}

TesStatus tesi_gmsh_trees(const TesiGmsh *mesh, int dim, TesiTrees **trees) {
  TesContext *ctx = mesh->ctx;
  TesStatus status = TES_OK;
  TesiGmshBuilder b = {.ctx = ctx, .mesh = mesh};
  *trees = NULL;
  TES_TRY(choose_dim(&b, dim));
  TES_TRY(sort_elements(&b));
  TES_TRY(tesi_gmsh_order_cells(&b));
  TES_TRY(build(&b, trees));
done:
  builder_free(&b);
  return status;
}
