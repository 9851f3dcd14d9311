/* Intervals of two cells in a direction: their entries, colours and kinds. */
#include "smoother/saddle_patch/saddle_patch.h"

/* Nodes of the interval round vertex v: those inside, and the ends of the box where these are open. */
static int list_nodes(const TesiRtAxis *a, int v, int vertices, int *node) {
  const int n = a->n;
  int count = 0;
  const bool low = !a->periodic && v == 0 && !a->normal[0],
             high = !a->periodic && v == vertices - 1 && !a->normal[1];
  for (int i = low ? 0 : 1; i < 2 * n + high; i++) node[count++] = (v * n + i) % a->nodes;
  return count;
}

/* On a ring with an odd number of vertices the last one has a colour of its own. */
static int colour_of(const TesiRtAxis *a, int v, int vertices) {
  return a->periodic && vertices % 2 && v == vertices - 1 ? 2 : v % 2;
}

static TesStatus add_type(TesContext *ctx, const TesiRtAxis *a, const TesiSaddleAxis *s, int v, int nodes,
                          TesiSaddlePatchAxis *p) {
  TesStatus status = TES_OK;
  const int modes = 2 * a->n;
  TesiSaddleLocalAxis *local = &p->local[p->types];
  status = tesi_saddle_local_create(ctx, a, s, nodes, p->node + (int64_t)v * p->most, modes,
                                    p->mode + (int64_t)v * modes, local);
  int t = 0;
  while (status == TES_OK && t < p->types && !tesi_saddle_local_equal(&p->local[t], local)) t++;
  p->type[v] = t;
  if (t < p->types || status != TES_OK)
    tesi_saddle_local_free(ctx, local);
  else
    p->types++;
  return status;
}

static TesStatus fill_axis(TesContext *ctx, const TesiRtAxis *a, const TesiSaddleAxis *s,
                           TesiSaddlePatchAxis *p) {
  TesStatus status = TES_OK;
  p->vertices = a->periodic ? a->cells : a->cells - 1;
  p->most = 2 * a->n + 1;
  TES_ALLOC(&p->type, p->vertices);
  TES_ALLOC(&p->colour, p->vertices);
  TES_ALLOC(&p->node, (int64_t)p->vertices * p->most);
  TES_ALLOC(&p->mode, (int64_t)p->vertices * 2 * a->n);
  TES_ALLOC(&p->local, p->vertices);
  for (int v = 0; v < p->vertices; v++) {
    const int nodes = list_nodes(a, v, p->vertices, p->node + (int64_t)v * p->most);
    for (int i = 0; i < 2 * a->n; i++) p->mode[(int64_t)v * 2 * a->n + i] = (v * a->n + i) % a->modes;
    p->colour[v] = colour_of(a, v, p->vertices);
    p->colours = tesi_max(p->colours, p->colour[v] + 1);
    TES_TRY(add_type(ctx, a, s, v, nodes, p));
  }
done:
  return status;
}

/* A direction that does not exist: one interval with one mode. */
static TesStatus fill_nothing(TesContext *ctx, TesiSaddlePatchAxis *p) {
  TesStatus status = TES_OK;
  static const int zero = 0;
  *p = (TesiSaddlePatchAxis){.vertices = 1, .colours = 1, .types = 1, .most = 1};
  TES_ALLOC(&p->type, 1);
  TES_ALLOC(&p->colour, 1);
  TES_ALLOC(&p->node, 1);
  TES_ALLOC(&p->mode, 1);
  TES_ALLOC(&p->local, 1);
  TES_TRY(tesi_saddle_local_create(ctx, NULL, NULL, 1, &zero, 1, &zero, &p->local[0]));
done:
  return status;
}

TesStatus tesi_saddle_patch_axis_create(TesContext *ctx, const TesiSaddle *saddle, int d,
                                        TesiSaddlePatchAxis *p) {
  return d < saddle->rt->dim ? fill_axis(ctx, &saddle->rt->axis[d], &saddle->axis[d], p)
                             : fill_nothing(ctx, p);
}

void tesi_saddle_patch_axis_free(TesContext *ctx, TesiSaddlePatchAxis *a) {
  for (int t = 0; a->local && t < a->types; t++) tesi_saddle_local_free(ctx, &a->local[t]);
  tesi_free(ctx, &a->local);
  tesi_free(ctx, &a->type);
  tesi_free(ctx, &a->colour);
  tesi_free(ctx, &a->node);
  tesi_free(ctx, &a->mode);
}
