/* The coarse mesh: from arrays, its names, references. */
#include "mesh/forest/trees.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/integer.h"
#include "base/team.h"
#include "base/text.h"
#include "basis/gauss.h"
#include "mesh/forest/forest_p4est.h"
#include "mesh/inner_faces.h"

TesiTrees *tesi_trees_retain(TesiTrees *coarse) {
  atomic_fetch_add(&coarse->references, 1);
  return coarse;
}

static void free_names(TesContext *ctx, int count, char ***names) {
  for (int i = 0; *names && i < count; i++) tesi_free(ctx, &(*names)[i]);
  tesi_free(ctx, names);
}

void tesi_trees_release(TesiTrees **coarse) {
  TesiTrees *c = *coarse;
  *coarse = NULL;
  if (!c || atomic_fetch_sub(&c->references, 1) != 1) return;
  TesContext *ctx = c->context;
  if (c->connectivity) tesi_p4est(c->dim)->disconnect(c->connectivity);
  free_names(ctx, c->boundaries, &c->boundary_name);
  free_names(ctx, c->materials, &c->material_name);
  for (int d = 0; d < 3; d++) tes_function_destroy(&c->deform[d]);
  tesi_free(ctx, &c->nodes);
  tesi_free(ctx, &c->vertices);
  tesi_free(ctx, &c->map);
  tesi_free(ctx, &c->boundary);
  tesi_free(ctx, &c->material);
  tesi_free(ctx, &c->part);
  tesi_free(ctx, &c);
  tes_context_destroy(&ctx);
}

static TesStatus copy_names(TesContext *ctx, int count, const char *const *from, char ***to) {
  TesStatus status = TES_OK;
  if (!count) return TES_OK;
  TES_ALLOC(to, count);
  for (int i = 0; i < count; i++) {
    TES_CHECK(from && from[i] && *from[i], "name %d of a boundary or material is empty", i);
    for (int j = 0; j < i; j++) TES_CHECK(strcmp(from[i], from[j]) != 0, "the name %s stands twice", from[i]);
    TES_TRY(tesi_copy_text(ctx, from[i], &(*to)[i]));
  }
done:
  return status;
}

/* Numbers of nodes; the first that is not finite, INT64_MAX: none. */
typedef struct Nodes {
  const double *from;
  double *to;
  int64_t wrong;
} Nodes;

static void check_nodes(const void *data, TesiSpan span) {
  Nodes *n = (Nodes *)data;
  for (int64_t i = span.first; i < span.end; i++)
    if (!isfinite(n->from[i])) {
      tesi_team_least(&n->wrong, i);
      return;
    }
}

static void copy_nodes(const void *data, TesiSpan span) {
  const Nodes *n = data;
  memcpy(n->to + span.first, n->from + span.first, (size_t)(span.end - span.first) * sizeof *n->to);
}

static TesStatus check_cells(TesContext *ctx, int dim, const TesCellsDesc *c) {
  TesStatus status = TES_OK;
  const int degree = c->degree ? c->degree : 1;
  TES_CHECK(dim == 2 || dim == 3, "dim is %d, expected 2 or 3", dim);
  TES_CHECK(c->trees >= 1 && c->trees <= 1 << 26, "%lld trees, expected 1..2^26", (long long)c->trees);
  TES_CHECK(degree >= 1 && degree <= TESI_TREES_DEGREE, "the trees' degree is %d, expected 1..%d", degree,
            TESI_TREES_DEGREE);
  TES_CHECK(c->nodes && c->vertices, "a coarse mesh needs nodes and vertices");
  TES_CHECK(c->boundaries >= 0 && c->materials >= 0, "a negative number of names");
  Nodes nodes = {.from = c->nodes, .wrong = INT64_MAX};
  const int64_t count = c->trees * tesi_power(degree + 1, dim) * dim;
  tesi_team_for(tesi_team_threads(ctx, count), count, check_nodes, &nodes);
  if (nodes.wrong < INT64_MAX)
    TES_FAIL(TES_NAN, "tree %lld has a node that is not finite",
             (long long)(nodes.wrong / (tesi_power(degree + 1, dim) * dim)));
  for (int64_t i = 0; i < c->trees << dim; i++)
    TES_CHECK(c->vertices[i] >= 0, "vertex %d of tree %lld has number %d", (int)(i % (1 << dim)),
              (long long)(i >> dim), c->vertices[i]);
  for (int64_t i = 0; c->boundary && i < c->trees * 2 * dim; i++)
    TES_CHECK(c->boundary[i] >= -1 && c->boundary[i] < c->boundaries,
              "face %d of tree %lld has boundary %d, expected -1..%d", (int)(i % (2 * dim)),
              (long long)(i / (2 * dim)), c->boundary[i], c->boundaries - 1);
  for (int64_t i = 0; c->material && i < c->trees; i++)
    TES_CHECK(c->material[i] >= -1 && c->material[i] < c->materials,
              "tree %lld has material %d, expected -1..%d", (long long)i, c->material[i], c->materials - 1);
done:
  return status;
}

/* Faces are free in all directions but one, corners in none. A boundary has either parts or faces. */
static TesStatus check_parts(TesContext *ctx, int dim, const TesCellsDesc *c) {
  TesStatus status = TES_OK;
  bool *faces = NULL;
  TES_CHECK(c->parts >= 0 && (!c->parts || c->part), "%lld parts of trees, and the list of them is NULL",
            (long long)c->parts);
  TES_ALLOC(&faces, c->boundaries + 1);
  for (int64_t i = 0; c->boundary && i < c->trees * 2 * dim; i++)
    if (c->boundary[i] >= 0) faces[c->boundary[i]] = true;
  for (int64_t i = 0; i < c->parts; i++) {
    const TesTreePart *p = &c->part[i];
    const int at = p->at % TESI_OTHER_SIDE,
              free = (at % 3 == 1) + (at / 3 % 3 == 1) + (dim == 3 && at / 9 == 1);
    TES_CHECK(p->tree >= 0 && p->tree < c->trees && p->at >= 0 && at < (dim == 2 ? 9 : 27) && free < dim &&
                  p->at < (free == dim - 1 ? 2 : 1) * TESI_OTHER_SIDE,
              "part %lld lies at place %d of tree %d: expected an edge (3D) or a corner of a tree, or a face "
              "that two share",
              (long long)i, p->at, p->tree);
    TES_CHECK(p->boundary >= 0 && p->boundary < c->boundaries && !faces[p->boundary],
              "part %lld has boundary %d, expected one of 0..%d without faces", (long long)i, p->boundary,
              c->boundaries - 1);
  }
done:
  tesi_free(ctx, &faces);
  return status;
}

static int by_tree(const void *a, const void *b) {
  const TesTreePart *p = a, *q = b;
  if (p->tree != q->tree) return p->tree < q->tree ? -1 : 1;
  return p->at != q->at ? p->at - q->at : p->boundary - q->boundary;
}

void tesi_trees_sort_parts(TesiTrees *c) {
  qsort(c->part, (size_t)c->parts, sizeof *c->part, by_tree);
}

/* The arrays of a mesh with names, not yet checked. */
static TesStatus copy_arrays(TesContext *ctx, const TesCellsDesc *d, TesiTrees *c) {
  TesStatus status = TES_OK;
  const int dim = c->dim;
  c->trees = d->trees;
  c->degree = d->degree ? d->degree : 1;
  c->tree_nodes = tesi_power(c->degree + 1, dim);
  tesi_gauss_lobatto(c->degree + 1, c->node, NULL);
  TES_ALLOC(&c->nodes, c->trees * c->tree_nodes * dim);
  const int64_t count = c->trees * c->tree_nodes * dim;
  tesi_team_for(tesi_team_threads(ctx, count), count, copy_nodes, &(Nodes){.from = d->nodes, .to = c->nodes});
  TES_ALLOC(&c->vertices, c->trees << dim);
  for (int64_t i = 0; i < c->trees << dim; i++) {
    c->vertices[i] = d->vertices[i];
    if (d->vertices[i] >= c->vertex_count) c->vertex_count = d->vertices[i] + (int64_t)1;
  }
  TES_ALLOC(&c->boundary, c->trees * 2 * dim);
  for (int64_t i = 0; i < c->trees * 2 * dim; i++)
    c->boundary[i] = d->boundary ? d->boundary[i] : TESI_TREES_UNNAMED;
  TES_ALLOC(&c->material, c->trees);
  for (int64_t i = 0; i < c->trees; i++) c->material[i] = d->material ? d->material[i] : TESI_TREES_UNNAMED;
  c->parts = d->parts;
  if (c->parts) {
    TES_ALLOC(&c->part, c->parts);
    memcpy(c->part, d->part, (size_t)c->parts * sizeof *c->part);
    tesi_trees_sort_parts(c);
  }
  c->boundaries = d->boundaries;
  c->materials = d->materials;
  TES_TRY(copy_names(ctx, d->boundaries, d->boundary_names, &c->boundary_name));
  TES_TRY(copy_names(ctx, d->materials, d->material_names, &c->material_name));
done:
  return status;
}

TesStatus tesi_trees_from_cells(TesContext *context, int dim, const TesCellsDesc *cells,
                                const TesiTreeLabel *label, TesiTrees **coarse) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesiTrees *c = NULL;
  *coarse = NULL;
  TES_TRY(check_cells(ctx, dim, cells));
  TES_TRY(check_parts(ctx, dim, cells));
  TES_NEW(&c);
  atomic_init(&c->references, 1);
  c->context = tesi_context_retain(ctx);
  c->dim = dim;
  TES_TRY(copy_arrays(ctx, cells, c));
  TES_TRY(tesi_trees_match_faces(ctx, label, c));
  TES_TRY(tesi_trees_take_inner(cells->boundary, c));
  TES_TRY(tesi_trees_check_pinches(ctx, label, c));
  *coarse = c;
  c = NULL;
done:
  tesi_trees_release(&c);
  return status;
}

static uint64_t find_identity(const TesiTrees *c) {
  const struct {
    int64_t dim, degree, trees, periodic;
    double round[6];
  } head = {c->dim,
            c->degree,
            c->trees,
            c->periodic[0] + 2 * c->periodic[1] + 4 * c->periodic[2],
            {c->centre[0], c->centre[1], c->centre[2], c->radius, c->inner, c->core}};
  uint64_t hash = tesi_hash(TESI_HASH, &head, sizeof head);
  hash = tesi_hash(hash, c->nodes, (size_t)(c->trees * c->tree_nodes * c->dim) * sizeof *c->nodes);
  hash = tesi_hash(hash, c->vertices, (size_t)(c->trees << c->dim) * sizeof *c->vertices);
  hash = tesi_hash(hash, c->boundary, (size_t)(c->trees * 2 * c->dim) * sizeof *c->boundary);
  hash = tesi_hash(hash, c->material, (size_t)c->trees * sizeof *c->material);
  if (c->map) hash = tesi_hash(hash, c->map, (size_t)c->trees);
  if (c->parts) hash = tesi_hash(hash, c->part, (size_t)c->parts * sizeof *c->part);
  for (int d = 0; d < c->dim && c->deform[0]; d++) {
    const char *text = tes_function_text(c->deform[d]);
    hash = tesi_hash(hash, text, strlen(text) + 1);
  }
  for (int i = 0; i < c->boundaries; i++)
    hash = tesi_hash(hash, c->boundary_name[i], strlen(c->boundary_name[i]) + 1);
  for (int i = 0; i < c->materials; i++)
    hash = tesi_hash(hash, c->material_name[i], strlen(c->material_name[i]) + 1);
  return hash;
}

/* Threads that ask at the same time find the same. */
uint64_t tesi_trees_identity(const TesiTrees *c) {
  uint64_t *known = (uint64_t *)&c->identity, identity = __atomic_load_n(known, __ATOMIC_RELAXED);
  if (identity) return identity;
  identity = find_identity(c);
  __atomic_store_n(known, identity, __ATOMIC_RELAXED);
  return identity;
}

/* Gives this name to faces of the boundary without a name. The name may already exist. */
static TesStatus name_rest(TesiTrees *c, const char *name) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  const int64_t faces = c->trees * 2 * c->dim;
  int64_t unnamed = 0;
  char **names = NULL;
  int number = 0;
  for (int64_t i = 0; i < faces; i++) unnamed += c->boundary[i] == TESI_TREES_UNNAMED;
  if (!unnamed) return TES_OK;
  while (number < c->boundaries && strcmp(c->boundary_name[number], name) != 0) number++;
  if (number == c->boundaries) {
    TES_ALLOC(&names, number + 1);
    if (number) memcpy(names, c->boundary_name, (size_t)number * sizeof *names);
    TES_TRY(tesi_copy_text(ctx, name, &names[number]));
    tesi_free(ctx, &c->boundary_name);
    c->boundary_name = names, names = NULL;
    c->boundaries++;
  }
  for (int64_t i = 0; i < faces; i++)
    if (c->boundary[i] == TESI_TREES_UNNAMED) c->boundary[i] = number;
done:
  tesi_free(ctx, &names);
  return status;
}

static TesStatus take_map(const TesMeshDesc *desc, TesiTrees *c) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  bool periodic = false;
  if (!desc->map[0] && !desc->map[1] && !desc->map[2]) return TES_OK;
  for (int d = 0; d < c->dim; d++) {
    TES_CHECK(desc->map[d], "a map of %d dimensions needs as many functions", c->dim);
    periodic = periodic || c->periodic[d];
  }
  TES_CHECK(!periodic, "a periodic box is not deformed by a map");
  for (int d = 0; d < c->dim; d++) c->deform[d] = tesi_function_retain(desc->map[d]);
done:
  return status;
}

TesStatus tesi_trees_create(TesContext *context, const TesMeshDesc *desc, TesiTrees **coarse) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesiTrees *c = NULL;
  const int dim = desc->dim ? desc->dim : 3;
  *coarse = NULL;
  TES_CHECK(dim == 2 || dim == 3, "dim is %d, expected 2 or 3", desc->dim);
  switch (desc->domain) {
  case TES_DOMAIN_BOX:
  case TES_DOMAIN_L_SHAPE:
  case TES_DOMAIN_FICHERA:
    TES_TRY(tesi_trees_lattice(ctx, desc, dim, &c));
    break;
  case TES_DOMAIN_BALL:
  case TES_DOMAIN_SHELL:
    TES_TRY(tesi_trees_round(ctx, desc, dim, &c));
    break;
  case TES_DOMAIN_CHANNEL:
    TES_TRY(tesi_trees_channel(ctx, desc, dim, &c));
    break;
  case TES_DOMAIN_FILE:
    TES_CHECK(desc->file && *desc->file, "a mesh file needs a name");
    TES_TRY(tesi_trees_file(ctx, desc, &c));
    break;
  case TES_DOMAIN_CELLS:
    TES_CHECK(desc->trees, "TES_DOMAIN_CELLS needs trees");
    TES_TRY(tesi_trees_from_cells(ctx, dim, desc->trees, NULL, &c));
    TES_TRY(tesi_trees_check_trees(ctx, c));
    TES_TRY(tesi_trees_check_sides(ctx, NULL, c));
    break;
  default:
    TES_FAIL(TES_INVALID_INPUT, "there is no domain %d", (int)desc->domain);
  }
  TES_CHECK(!desc->rest || *desc->rest, "the name of the rest of the boundary is empty");
  if (desc->rest) TES_TRY(name_rest(c, desc->rest));
  TES_TRY(take_map(desc, c));
  *coarse = c;
  c = NULL;
done:
  tesi_trees_release(&c);
  return status;
}

TesStatus tesi_trees_restore(TesContext *context, const TesiTrees *image, TesiTrees **trees) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesiTrees *t = NULL;
  const int64_t faces = image->trees * 2 * image->dim;
  const TesCellsDesc cells = {.trees = image->trees,
                              .degree = image->degree,
                              .nodes = image->nodes,
                              .vertices = image->vertices,
                              .material = image->material,
                              .parts = image->parts,
                              .part = image->part,
                              .boundaries = image->boundaries,
                              .boundary_names = (const char *const *)image->boundary_name,
                              .materials = image->materials,
                              .material_names = (const char *const *)image->material_name};
  *trees = NULL;
  TES_TRY(tesi_trees_from_cells(ctx, image->dim, &cells, NULL, &t));
  for (int64_t i = 0; i < faces; i++)
    TES_CHECK(image->boundary[i] >= TESI_TREES_INSIDE && image->boundary[i] < image->boundaries &&
                  (t->boundary[i] != TESI_TREES_INSIDE || image->boundary[i] == TESI_TREES_INSIDE),
              "face %lld has boundary %d", (long long)i, image->boundary[i]);
  memcpy(t->boundary, image->boundary, (size_t)faces * sizeof *t->boundary);
  if (image->map) {
    TES_ALLOC(&t->map, t->trees);
    memcpy(t->map, image->map, (size_t)t->trees);
  }
  memcpy(t->centre, image->centre, sizeof t->centre);
  memcpy(t->box, image->box, sizeof t->box);
  memcpy(t->periodic, image->periodic, sizeof t->periodic);
  t->radius = image->radius;
  t->inner = image->inner;
  t->core = image->core;
  TES_CHECK(tesi_trees_identity(t) == image->identity, "the coarse mesh is not the one that was written");
  *trees = t;
  t = NULL;
done:
  tesi_trees_release(&t);
  return status;
}
