#include "mesh/group_owners.h"
#include <stdlib.h>
#include "mesh/inner_faces.h"

/* The ends of an edge, ascending, or a corner twice. */
typedef struct Part {
  int32_t end[2], boundary;
  int64_t number;
} Part;

static Part part_of(const TesiTrees *c, int64_t number) {
  const TesTreePart *part = &c->part[number];
  int low = 0, free = 0;
  for (int d = 0, t = part->at; d < c->dim; d++, t /= 3) {
    if (t % 3 == 2) low |= 1 << d;
    if (t % 3 == 1) free = 1 << d;
  }
  const int32_t *vertex = c->vertices + ((int64_t)part->tree << c->dim), a = vertex[low],
                b = vertex[low | free];
  return (Part){{tesi_min(a, b), tesi_max(a, b)}, part->boundary, number};
}

static int by_place(const void *a, const void *b) {
  const Part *p = a, *q = b;
  if (p->boundary != q->boundary) return p->boundary < q->boundary ? -1 : 1;
  for (int i = 0; i < 2; i++)
    if (p->end[i] != q->end[i]) return p->end[i] < q->end[i] ? -1 : 1;
  return (p->number > q->number) - (p->number < q->number);
}

TesStatus tesi_mesh_group_owners(const TesMesh *mesh, bool **counts) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  const TesiTrees *c = mesh->coarse;
  Part *list = NULL;
  int64_t count = 0;
  TES_ALLOC(counts, (c ? c->parts : 0) + 1);
  TES_ALLOC(&list, (c ? c->parts : 0) + 1);
  for (int64_t i = 0; c && i < c->parts; i++)
    if (!tesi_part_is_face(c->dim, c->part[i].at)) list[count++] = part_of(c, i);
  qsort(list, (size_t)count, sizeof *list, by_place);
  for (int64_t i = 0; i < count; i++) {
    const Part *before = i ? &list[i - 1] : NULL;
    (*counts)[list[i].number] = !before || before->boundary != list[i].boundary ||
                                before->end[0] != list[i].end[0] || before->end[1] != list[i].end[1];
  }
done:
  tesi_free(ctx, &list);
  return status;
}
