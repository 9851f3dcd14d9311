/* Named groups of curves and points of a Gmsh file: the edges and corners of cells that are in these groups. */
#include <stdlib.h>
#include <string.h>
#include "base/ascending.h"
#include "mesh/forest/gmsh_build.h"

enum { NOT_FOUND = -1, LEFT_OUT = -2 };

/* A line or a point of a group; name: in TesiGmsh.name, number: of a boundary, once a cell has it. */
typedef struct Piece {
  int32_t vertex[2]; /* vertices, ascending; the second of a point is -1 */
  int32_t name;
} Piece;

typedef struct Pieces {
  Piece *piece;
  int64_t count;
  int32_t *number; /* [names of the file] of a boundary, or one of the constants above */
} Pieces;

static int by_vertices(const void *a, const void *b) {
  const Piece *p = a, *q = b;
  const int order = tesi_ascending_list(p->vertex, q->vertex, 2);
  return order ? order : p->name - q->name;
}

static Piece piece_of(int32_t v, int32_t w, int32_t name) {
  return w >= 0 && w < v ? (Piece){{w, v}, name} : (Piece){{v, w}, name};
}

static int32_t find_name(const TesiGmsh *mesh, int dim, int32_t tag) {
  for (int64_t i = 0; i < mesh->names; i++)
    if (mesh->name[i].dim == dim && mesh->name[i].tag == tag) return (int32_t)i;
  return -1;
}

static TesStatus list_pieces(const TesiGmshBuilder *b, Pieces *p) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  const TesiGmsh *mesh = b->mesh;
  TES_ALLOC(&p->piece, mesh->elements);
  TES_ALLOC(&p->number, mesh->names + 1);
  for (int64_t i = 0; i < mesh->names; i++) p->number[i] = NOT_FOUND;
  for (int64_t i = 0; i < mesh->elements; i++) {
    const TesiGmshElement *e = &mesh->element[i];
    const int dim = e->type->dim;
    const int32_t name = dim < b->dim - 1 && e->physical ? find_name(mesh, dim, e->physical) : -1;
    if (name < 0) continue;
    p->piece[p->count++] =
        piece_of((int32_t)tesi_gmsh_node_of(b, i, 0), dim ? (int32_t)tesi_gmsh_node_of(b, i, 1) : -1, name);
  }
  qsort(p->piece, (size_t)p->count, sizeof *p->piece, by_vertices);
done:
  return status;
}

/* The boundary of a group that has edges or corners of cells. A name of faces stays a name of faces. */
static TesStatus number_group(TesiGmshBuilder *b, Pieces *p, int32_t name, int faces) {
  const char *text = b->mesh->name[name].name;
  if (p->number[name] != NOT_FOUND) return TES_OK;
  for (int i = 0; i < faces; i++)
    if (!strcmp(b->names[0][i], text)) {
      tesi_log(b->ctx, TES_LOG_WARNING,
               "%s: %s is the name of faces, and the group of %s of this name is left out", b->mesh->file,
               text, b->mesh->name[name].dim ? "curves" : "points");
      p->number[name] = LEFT_OUT;
      return TES_OK;
    }
  return tesi_gmsh_add_name(b, 0, 0, text, &p->number[name]);
}

/* The pieces of the file that make up an edge or corner of a tree. */
static TesStatus take_part(TesiGmshBuilder *b, Pieces *p, int64_t tree, int at, Piece key, int faces) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  int64_t low = 0, high = p->count;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (by_vertices(&p->piece[middle], &key) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  for (int32_t last = -1; low < p->count; low++) {
    const Piece *found = &p->piece[low];
    if (found->vertex[0] != key.vertex[0] || found->vertex[1] != key.vertex[1]) break;
    if (found->name == last) continue;
    last = found->name;
    TES_TRY(number_group(b, p, last, faces));
    if (p->number[last] < 0) continue;
    TES_GROW(&b->part, b->desc.parts, b->desc.parts + 1, &b->part_room);
    b->part[b->desc.parts++] = (TesTreePart){(int32_t)tree, at, p->number[last]};
  }
done:
  return status;
}

/* For each direction 0, 1 or 2, as in TesTreePart.at; the ends along the free direction, or one vertex. */
static Piece key_of(const TesiGmshBuilder *b, int64_t tree, int at) {
  int low = 0, free = 0;
  for (int d = 0, t = at; d < b->dim; d++, t /= 3) {
    if (t % 3 == 2) low |= 1 << d;
    if (t % 3 == 1) free = 1 << d;
  }
  const int32_t *vertex = b->vertices + (tree << b->dim);
  return piece_of(vertex[low], free ? vertex[low | free] : -1, -1);
}

TesStatus tesi_gmsh_find_parts(TesiGmshBuilder *b) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  Pieces p = {0};
  const int faces = b->desc.boundaries, patterns = b->dim == 2 ? 9 : 27;
  TES_TRY(list_pieces(b, &p));
  for (int64_t k = 0; k < b->trees && p.count; k++)
    for (int at = 0; at < patterns; at++) {
      const int64_t tree = b->in_file[k];
      const int free = (at % 3 == 1) + (at / 3 % 3 == 1) + (at / 9 == 1);
      if (free < b->dim - 1) TES_TRY(take_part(b, &p, tree, at, key_of(b, tree, at), faces));
    }
  for (int64_t i = 0; i < p.count; i++)
    if (p.number[p.piece[i].name] == NOT_FOUND) {
      p.number[p.piece[i].name] = LEFT_OUT;
      tesi_log(ctx, TES_LOG_WARNING, "%s: the group %s lies on no edge or corner of a cell, and is left out",
               b->mesh->file, b->mesh->name[p.piece[i].name].name);
    }
done:
  tesi_free(ctx, &p.piece);
  tesi_free(ctx, &p.number);
  return status;
}
