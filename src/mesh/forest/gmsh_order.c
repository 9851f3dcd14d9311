/* The order of cells and vertices of a Gmsh file. The file may have them in any order. */
#include <stdlib.h>
#include <string.h>
#include "base/hilbert.h"
#include "mesh/forest/gmsh_build.h"

typedef struct Placed {
  uint64_t key;
  int32_t at; /* index of the cell in the file */
} Placed;

static int by_key(const void *a, const void *b) {
  const Placed *p = a, *q = b;
  if (p->key != q->key) return p->key < q->key ? -1 : 1;
  return (p->at > q->at) - (p->at < q->at);
}

static void find_middle(const TesiGmshBuilder *b, int32_t element, double x[3]) {
  const int corners = 1 << b->dim;
  for (int d = 0; d < 3; d++) {
    x[d] = 0;
    for (int i = 0; i < corners; i++) x[d] += b->mesh->node[tesi_gmsh_node_of(b, element, i)][d] / corners;
  }
}

TesStatus tesi_gmsh_order_cells(TesiGmshBuilder *b) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  Placed *list = NULL;
  int32_t *cell = NULL;
  double(*x)[3] = NULL;
  TES_ALLOC(&list, b->trees);
  TES_ALLOC(&x, b->trees);
  TES_ALLOC(&cell, b->trees);
  TES_ALLOC(&b->in_file, b->trees);
  for (int64_t t = 0; t < b->trees; t++) find_middle(b, b->cell[t], x[t]);
  const TesiHilbert curve = tesi_hilbert_around(b->dim, b->trees, x[0], 3);
  for (int64_t t = 0; t < b->trees; t++) list[t] = (Placed){tesi_hilbert_key(&curve, x[t]), (int32_t)t};
  qsort(list, (size_t)b->trees, sizeof *list, by_key);
  for (int64_t t = 0; t < b->trees; t++) {
    cell[t] = b->cell[list[t].at];
    b->in_file[list[t].at] = (int32_t)t;
  }
  memcpy(b->cell, cell, (size_t)b->trees * sizeof *cell);
done:
  tesi_free(ctx, &cell);
  tesi_free(ctx, &list);
  tesi_free(ctx, &x);
  return status;
}

TesStatus tesi_gmsh_number_vertices(TesiGmshBuilder *b) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  int32_t *root = NULL, *number = NULL, count = 0;
  TES_ALLOC(&root, b->mesh->nodes);
  TES_ALLOC(&number, b->mesh->nodes); /* 0: not yet met, else number + 1 */
  TES_ALLOC(&b->number_of, b->trees << b->dim);
  TES_TRY(tesi_gmsh_periodic_roots(b->mesh, root));
  for (int64_t i = 0; i < b->trees << b->dim; i++) {
    int32_t *of = &number[root[b->vertices[i]]];
    if (!*of) *of = ++count;
    b->number_of[i] = *of - 1;
  }
done:
  tesi_free(ctx, &root);
  tesi_free(ctx, &number);
  return status;
}
