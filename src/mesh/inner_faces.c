#include "mesh/inner_faces.h"
#include "base/ascending.h"
#include <stdlib.h>
#include <string.h>

typedef struct Inner {
  int32_t vertex[4]; /* ascending; 2D: the last two are -1 */
  int64_t face;      /* 2 dim tree + face */
  int32_t name;
} Inner;

static int by_vertices(const void *a, const void *b) {
  const Inner *f = a, *g = b;
  const int order = tesi_ascending_list(f->vertex, g->vertex, 4);
  return order ? order : (f->face > g->face) - (f->face < g->face);
}

static Inner make_inner(const TesiTrees *c, int64_t face, int32_t name) {
  const int dim = c->dim, side = (int)(face % (2 * dim));
  Inner inner = {{-1, -1, -1, -1}, face, name};
  int n = 0;
  for (int v = 0; v < 1 << dim; v++) {
    if ((v >> (side / 2) & 1) != (side & 1)) continue;
    const int32_t vertex = c->vertices[(face / (2 * dim) << dim) + v];
    int at = n++;
    for (; at > 0 && inner.vertex[at - 1] > vertex; at--) inner.vertex[at] = inner.vertex[at - 1];
    inner.vertex[at] = vertex;
  }
  return inner;
}

/* The place of a face as in TesTreePart, and back: -1 for edges and corners. */
static int place_of(int dim, int side) {
  int at = 0;
  for (int d = dim - 1; d >= 0; d--) at = 3 * at + (d != side / 2 ? 1 : side & 1 ? 2 : 0);
  return at;
}

static int side_at(int dim, int at) {
  for (int side = 0; side < 2 * dim; side++)
    if (place_of(dim, side) == at % TESI_OTHER_SIDE) return side;
  return -1;
}

bool tesi_part_is_face(int dim, int at) {
  return side_at(dim, at) >= 0;
}

/* The list is sorted by vertices, so the two sides of a face follow one another; the second becomes the other side. */
static TesStatus add_parts(TesiTrees *c, int64_t count, const Inner *list) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  TesTreePart *part = NULL;
  if (!count) return TES_OK;
  TES_ALLOC(&part, c->parts + count);
  if (c->parts) memcpy(part, c->part, (size_t)c->parts * sizeof *part);
  for (int64_t i = 0; i < count; i++) {
    const int side = (int)(list[i].face % (2 * c->dim));
    const bool other = i && !memcmp(list[i].vertex, list[i - 1].vertex, sizeof list->vertex);
    part[c->parts++] = (TesTreePart){(int32_t)(list[i].face / (2 * c->dim)),
                                     place_of(c->dim, side) + (other ? TESI_OTHER_SIDE : 0), list[i].name};
  }
  tesi_free(ctx, &c->part);
  c->part = part;
  tesi_trees_sort_parts(c);
done:
  return status;
}

/* list[..] <- inner faces whose name no face on the boundary has (list NULL: they are only counted). */
static int64_t list_inner(const TesiTrees *c, const int32_t *names, const bool *outside, Inner *list) {
  int64_t count = 0;
  for (int64_t i = 0; i < c->trees * 2 * c->dim; i++) {
    if (names[i] < 0 || c->boundary[i] != TESI_TREES_INSIDE || outside[names[i]]) continue;
    if (list) list[count] = make_inner(c, i, names[i]);
    count++;
  }
  return count;
}

TesStatus tesi_trees_take_inner(const int32_t *names, TesiTrees *c) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  const int64_t faces = c->trees * 2 * c->dim;
  Inner *list = NULL;
  bool *outside = NULL;
  int64_t left = 0;
  for (int64_t i = 0; i < c->parts; i++) {
    const int side = side_at(c->dim, c->part[i].at);
    TES_CHECK(side < 0 || c->boundary[(int64_t)c->part[i].tree * 2 * c->dim + side] == TESI_TREES_INSIDE,
              "part %lld lies at place %d of tree %d: expected an edge (3D) or a corner of a tree, or a face "
              "that two "
              "share",
              (long long)i, c->part[i].at, c->part[i].tree);
  }
  if (!names) return TES_OK;
  TES_ALLOC(&outside, c->boundaries + 1);
  for (int64_t i = 0; i < faces; i++)
    if (c->boundary[i] >= 0) outside[c->boundary[i]] = true;
  for (int64_t i = 0; i < faces; i++)
    left += names[i] >= 0 && c->boundary[i] == TESI_TREES_INSIDE && outside[names[i]];
  if (left)
    tesi_log(ctx, TES_LOG_DETAIL,
             "mesh: %lld faces between cells have names of boundaries, which mean nothing there",
             (long long)left);
  const int64_t count = list_inner(c, names, outside, NULL);
  TES_ALLOC(&list, count);
  list_inner(c, names, outside, list);
  qsort(list, (size_t)count, sizeof *list, by_vertices);
  TES_TRY(add_parts(c, count, list));
done:
  tesi_free(ctx, &list);
  tesi_free(ctx, &outside);
  return status;
}

bool tesi_mesh_is_inner(const TesMesh *mesh, int boundary) {
  const TesiTrees *c = mesh->coarse;
  for (int64_t i = 0; c && i < c->parts; i++)
    if (c->part[i].boundary == boundary && side_at(c->dim, c->part[i].at) >= 0) return true;
  return false;
}

bool tesi_mesh_inner_face(const TesMesh *mesh, int64_t cell, int face, bool both, int *boundary) {
  const int place = place_of(mesh->dim, face);
  for (int64_t i = -1; (i = tesi_mesh_next_part(mesh, cell, i)) >= 0;) {
    const TesTreePart *part = &mesh->coarse->part[i];
    if (part->at != place && !(both && part->at == place + TESI_OTHER_SIDE)) continue;
    *boundary = part->boundary;
    return true;
  }
  return false;
}

bool tesi_mesh_has_name(const TesMesh *mesh, int64_t cell, int face, int *boundary) {
  return tes_mesh_on_boundary(mesh, cell, face, boundary) ||
         tesi_mesh_inner_face(mesh, cell, face, false, boundary);
}
