/* See sketch.h. */
#include "mesh/forest/sketch.h"
#include <string.h>

TesStatus tesi_sketch_begin(TesContext *context, int dim, int64_t room, TesiSketch *s) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  *s = (TesiSketch){.ctx = ctx, .dim = dim};
  TES_CHECK(room <= 1 << 26, "%lld trees, expected 1..2^26", (long long)room);
  TES_ALLOC(&s->nodes, (room << dim) * dim);
  TES_ALLOC(&s->vertices, room << dim);
  TES_ALLOC(&s->boundary, room * 2 * dim);
  TES_ALLOC(&s->map, room);
  for (int64_t i = 0; i < room * 2 * dim; i++) s->boundary[i] = -1;
done:
  return status;
}

void tesi_sketch_free(TesiSketch *s) {
  tesi_free(s->ctx, &s->nodes);
  tesi_free(s->ctx, &s->vertices);
  tesi_free(s->ctx, &s->boundary);
  tesi_free(s->ctx, &s->map);
}

TesStatus tesi_sketch_end(TesiSketch *s, int names, const char *const *name, TesiTrees **coarse) {
  TesContext *ctx = s->ctx;
  TesStatus status = TES_OK;
  bool curved = false;
  const TesCellsDesc cells = {.trees = s->trees,
                              .nodes = s->nodes,
                              .vertices = s->vertices,
                              .boundary = s->boundary,
                              .boundaries = names,
                              .boundary_names = name};
  TES_TRY(tesi_trees_from_cells(ctx, s->dim, &cells, NULL, coarse));
  for (int t = 0; t < s->trees; t++) curved = curved || s->map[t] != TESI_MAP_POLYNOMIAL;
  if (curved) {
    (*coarse)->map = s->map;
    s->map = NULL;
  }
done:
  return status;
}

int tesi_sketch_add(TesiSketch *s, TesiTreeMap map, const int32_t *id, const double (*x)[3]) {
  const int t = s->trees++;
  for (int v = 0; v < 1 << s->dim; v++) {
    s->vertices[(t << s->dim) + v] = id[v];
    memcpy(s->nodes + ((t << s->dim) + v) * s->dim, x[v], (size_t)s->dim * sizeof(double));
  }
  s->map[t] = (int8_t)map;
  return t;
}
