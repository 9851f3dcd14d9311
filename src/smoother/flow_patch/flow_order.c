/* The order in which cells are solved: see flow_patch.h. */
#include <string.h>
#include "smoother/flow_patch/flow_patch.h"

int64_t tesi_flow_behind(const TesSpace *space, const int place[3], int face, int next[3]) {
  const int d = face / 2, cells = space->axis[d].cells;
  memcpy(next, place, 3 * sizeof *next);
  next[d] += face % 2 ? 1 : -1;
  if (next[d] < 0 || next[d] >= cells) {
    if (!space->axis[d].periodic) return -1;
    next[d] = face % 2 ? 0 : cells - 1;
  }
  return next[0] + space->axis[0].cells * (next[1] + (int64_t)space->axis[1].cells * next[2]);
}

void tesi_flow_speeds(const TesiFlowPatch *p, int64_t cell, int face, double *speeds) {
  const TesiUpwind *u = &p->transport->upwind;
  const TesiBatches *b = u->batches;
  const int x = p->space->axis[0].cells;
  const int64_t batch = cell / x * b->task_batches + cell % x / TESI_BATCH, lane = cell % x % TESI_BATCH,
                array = (int64_t)u->points * TESI_BATCH;
  const double *from = u->speed + ((u->uniform ? 0 : batch) * 2 * b->dim + face) * array + lane;
  for (int i = 0; i < u->points; i++) speeds[i] = from[(int64_t)i * TESI_BATCH];
}

/* A depth-first search against the flow, without recursion. */
typedef struct Search {
  const TesiFlowPatch *p;
  int64_t *stack, count; /* order so far */
  uint8_t *face;         /* [cells] the next face to look across, 255: the cell is in the order */
  int64_t *slot;         /* [cells] place on the stack */
  int64_t longest;       /* cells of the longest closed path */
} Search;

static bool takes(const TesiFlowPatch *p, int64_t cell, int face) {
  double speeds[TESI_MAX_POINTS * TESI_MAX_POINTS], sum = 0;
  tesi_flow_speeds(p, cell, face, speeds);
  for (int i = 0; i < p->transport->upwind.points; i++) sum += speeds[i];
  return sum < 0;
}

static void search_from(Search *s, int64_t start, int64_t *order) {
  enum { DONE = 255 };
  const TesiFlowPatch *p = s->p;
  int64_t top = 0;
  if (s->face[start] == DONE) return;
  s->slot[start] = top, s->stack[top++] = start;
  while (top > 0) {
    const int64_t cell = s->stack[top - 1];
    const int face = s->face[cell];
    int place[3], next[3];
    if (face == 2 * p->space->dim) {
      s->face[cell] = DONE, order[s->count++] = cell, top--;
      continue;
    }
    s->face[cell]++;
    tesi_rt_cell(p->space, cell, place);
    const int64_t behind = tesi_flow_behind(p->space, place, face, next);
    /* a neighbour that was visited is in the order, or on the stack: a closed path */
    if (behind < 0 || s->face[behind] == DONE || !takes(p, cell, face)) continue;
    if (s->face[behind] == 0)
      s->slot[behind] = top, s->stack[top++] = behind;
    else
      s->longest = tesi_max(s->longest, top - s->slot[behind]);
  }
}

/* layer[cell] <- 1 + the largest layer of its neighbours earlier in the order; returns the number of layers. */
static int find_layers(const TesiFlowPatch *p, const int64_t *order, int *layer) {
  int layers = 0;
  for (int64_t i = 0; i < p->cells; i++) layer[i] = -1;
  for (int64_t i = 0; i < p->cells; i++) {
    int place[3], next[3], own = 0;
    tesi_rt_cell(p->space, order[i], place);
    for (int f = 0; f < 2 * p->space->dim; f++) {
      const int64_t behind = tesi_flow_behind(p->space, place, f, next);
      if (behind >= 0) own = tesi_max(own, layer[behind] + 1);
    }
    layer[order[i]] = own;
    layers = tesi_max(layers, own + 1);
  }
  return layers;
}

TesStatus tesi_flow_order(TesContext *ctx, TesiFlowPatch *p) {
  TesStatus status = TES_OK;
  int *layer = NULL;
  int64_t *at = NULL;
  Search s = {.p = p};
  TES_ALLOC(&s.stack, p->cells);
  TES_ALLOC(&s.face, p->cells);
  TES_ALLOC(&s.slot, p->cells);
  TES_ALLOC(&layer, p->cells);
  TES_ALLOC(&p->order, p->cells);
  for (int64_t c = 0; c < p->cells; c++) search_from(&s, c, p->order);
  p->longest = s.longest;
  p->layers = find_layers(p, p->order, layer);
  TES_ALLOC(&p->first, p->layers + 1);
  TES_ALLOC(&at, p->layers + 1);
  for (int64_t c = 0; c < p->cells; c++) p->first[layer[c] + 1]++;
  for (int l = 0; l < p->layers; l++) p->first[l + 1] += p->first[l], at[l] = p->first[l];
  for (int64_t c = 0; c < p->cells; c++) p->order[at[layer[c]]++] = c;
done:
  tesi_free(ctx, &s.stack);
  tesi_free(ctx, &s.face);
  tesi_free(ctx, &s.slot);
  tesi_free(ctx, &layer);
  tesi_free(ctx, &at);
  return status;
}
