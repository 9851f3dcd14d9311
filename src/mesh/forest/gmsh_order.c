/* The order of cells and vertices of a Gmsh file. The file may have them in any order. */
#include <string.h>
#include "base/hilbert.h"
#include "base/key_order.h"
#include "base/team.h"
#include "mesh/forest/gmsh_build.h"

static void find_middle(const TesiGmshBuilder *b, int32_t element, double x[3]) {
  const int corners = 1 << b->dim;
  for (int d = 0; d < 3; d++) {
    x[d] = 0;
    for (int i = 0; i < corners; i++) x[d] += b->mesh->node[tesi_gmsh_node_of(b, element, i)][d] / corners;
  }
}

typedef struct Middles {
  const TesiGmshBuilder *b;
  double (*x)[3];
  TesiHilbert curve;
  uint64_t *key;
} Middles;

static void find_middles(const void *data, TesiSpan span) {
  const Middles *m = data;
  for (int64_t t = span.first; t < span.end; t++) find_middle(m->b, m->b->cell[t], m->x[t]);
}

static void find_keys(const void *data, TesiSpan span) {
  const Middles *m = data;
  for (int64_t t = span.first; t < span.end; t++) m->key[t] = tesi_hilbert_key(&m->curve, m->x[t]);
}

TesStatus tesi_gmsh_order_cells(TesiGmshBuilder *b) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  const int threads = tesi_team_threads(ctx, 16 * b->trees);
  int32_t *cell = NULL, *order = NULL;
  Middles m = {.b = b};
  TES_ALLOC(&m.key, b->trees);
  TES_ALLOC(&m.x, b->trees);
  TES_ALLOC(&cell, b->trees);
  TES_ALLOC(&order, b->trees);
  TES_ALLOC(&b->in_file, b->trees);
  tesi_team_for(threads, b->trees, find_middles, &m);
  m.curve = tesi_hilbert_around(b->dim, b->trees, m.x[0], 3);
  tesi_team_for(threads, b->trees, find_keys, &m);
  TES_TRY(tesi_order_by_key(ctx, b->trees, m.key, order));
  for (int64_t t = 0; t < b->trees; t++) {
    cell[t] = b->cell[order[t]];
    b->in_file[order[t]] = (int32_t)t;
  }
  memcpy(b->cell, cell, (size_t)b->trees * sizeof *cell);
done:
  tesi_free(ctx, &cell);
  tesi_free(ctx, &order);
  tesi_free(ctx, &m.key);
  tesi_free(ctx, &m.x);
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
