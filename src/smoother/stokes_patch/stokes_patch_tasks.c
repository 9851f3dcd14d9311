/* Patches of a colour in groups of a SIMD vector, and the entries that none of them writes. */
#include "smoother/stokes_patch/stokes_patch.h"

/* Patches of a colour and kind, where all or none of a direction wrap round a periodic direction; with red-black
 * colours of one parity (else -1). */
typedef struct Group {
  int colour[3], type[3], parity;
  bool wraps[3];
} Group;

/* Lists while they are made. If task and vertices are NULL, entries are only counted. */
typedef struct Lists {
  int lanes, tasks, patches;
  TesiStokesPatchTask *task;
  int (*vertices)[3], *vertex[3]; /* vertex: working memory per direction */
  int *next[3];                   /* [vertices] the next vertex of the same type, -1: none */
} Lists;

static TesStatus chain_vertices(TesContext *ctx, const TesiStokesPatchAxis *a, int **next) {
  TesStatus status = TES_OK;
  int *last = NULL;
  TES_ALLOC(&last, a->types);
  TES_ALLOC(next, a->vertices);
  for (int v = 0; v < a->vertices; v++) {
    const int t = a->type[v];
    if (v > a->first[t]) (*next)[last[t]] = v;
    (*next)[v] = -1;
    last[t] = v;
  }
done:
  tesi_free(ctx, &last);
  return status;
}

static int pick_vertices(const TesiStokesPatchAxis *a, const Group *g, int d, const Lists *l) {
  int count = 0;
  for (int v = a->first[g->type[d]]; v >= 0; v = l->next[d][v])
    if (a->colour[v] == g->colour[d] && a->wraps[v] == g->wraps[d]) l->vertex[d][count++] = v;
  return count;
}

static void add_patch(const TesiStokesPatchPlan *p, const Group *g, const int vertex[3], int *in_group,
                      Lists *l) {
  if (*in_group % l->lanes == 0) {
    if (l->task)
      l->task[l->tasks] = (TesiStokesPatchTask){
          .type = {g->type[0], g->type[1], g->type[2]},
          .kind = g->type[0] + p->axis[0].types * (g->type[1] + p->axis[1].types * g->type[2]),
          .wraps = g->wraps[0] || g->wraps[1] || g->wraps[2],
          .vertex = l->vertices + l->patches};
    l->tasks++;
  }
  if (l->task) {
    l->task[l->tasks - 1].count++;
    for (int d = 0; d < 3; d++) l->vertices[l->patches][d] = vertex[d];
  }
  l->patches++;
  ++*in_group;
}

static void add_group(const TesiStokesPatchPlan *p, const Group *g, Lists *l) {
  int count[3], in_group = 0;
  for (int d = 0; d < 3; d++) count[d] = pick_vertices(&p->axis[d], g, d, l);
  for (int z = 0; z < count[2]; z++)
    for (int y = 0; y < count[1]; y++)
      for (int x = 0; x < count[0]; x++) {
        const int vertex[3] = {l->vertex[0][x], l->vertex[1][y], l->vertex[2][z]};
        if (g->parity < 0 || tesi_stokes_patch_parity(p->space->dim, vertex) == g->parity)
          add_patch(p, g, vertex, &in_group, l);
      }
}

/* All groups of colours of the axes. */
static void add_groups(const TesiStokesPatchPlan *p, const int colour[3], int parity, Lists *l) {
  const TesiStokesPatchAxis *a = p->axis;
  Group g = {.colour = {colour[0], colour[1], colour[2]}, .parity = parity};
  for (int t = 0; t < 8 * p->kinds; t++) {
    const int type = t / 8;
    for (int d = 0; d < 3; d++) g.wraps[d] = t >> d & 1;
    g.type[0] = type % a[0].types, g.type[1] = type / a[0].types % a[1].types;
    g.type[2] = type / a[0].types / a[1].types;
    add_group(p, &g, l);
  }
}

static void add_colour(const TesiStokesPatchPlan *p, int c, Lists *l) {
  for (int i = 0; i < tesi_stokes_patch_boxes(p->axis); i++) {
    int box[3];
    tesi_stokes_patch_box(p->axis, i, box);
    if (tesi_stokes_patch_has_box(p->axis, p->red_black, c, box))
      add_groups(p, box, p->red_black ? c % 2 : -1, l);
  }
}

/* A patch also writes the lower end of each of its intervals, unchanged. */
static TesStatus fill_rest(TesContext *ctx, const TesiAxis *r, const TesiStokesPatchAxis *a, int n,
                           int colour, TesiStokesPatchRest *rest) {
  TesStatus status = TES_OK;
  const int modes = r->cells * n;
  TES_ALLOC(&rest->node, r->nodes);
  TES_ALLOC(&rest->mode, modes);
  TES_ALLOC(&rest->nodes, r->nodes);
  TES_ALLOC(&rest->modes, modes);
  for (int i = 0; i < r->nodes; i++) rest->node[i] = true;
  for (int i = 0; i < modes; i++) rest->mode[i] = true;
  for (int v = 0; v < a->vertices; v++) {
    if (a->colour[v] != colour) continue;
    const int *node = a->node_at + (int64_t)v * (2 * n + 1), *mode = a->mode_at + (int64_t)v * 4 * n + n;
    for (int i = 0; i < 2 * n; i++) rest->node[node[i]] = rest->mode[mode[i]] = false;
    if (!a->outer[a->type[v]].end[1]) rest->node[node[2 * n]] = false;
  }
  for (int i = 0; i < r->nodes; i++)
    if (rest->node[i]) rest->nodes[rest->node_count++] = i;
  for (int i = 0; i < modes; i++)
    if (rest->mode[i]) rest->modes[rest->mode_count++] = i;
done:
  return status;
}

TesStatus tesi_stokes_patch_tasks_create(TesContext *ctx, int lanes, TesiStokesPatchPlan *p) {
  TesStatus status = TES_OK;
  Lists l = {.lanes = lanes};
  for (int d = 0; d < 3; d++) {
    TES_ALLOC(&l.vertex[d], p->axis[d].vertices);
    TES_TRY(chain_vertices(ctx, &p->axis[d], &l.next[d]));
  }
  p->colours = tesi_stokes_patch_colours(p->axis, p->red_black);
  TES_ALLOC(&p->first_task, p->colours + 1);
  for (int c = 0; c < p->colours; c++) add_colour(p, c, &l);
  TES_ALLOC(&p->task, l.tasks);
  TES_ALLOC(&p->vertices, l.patches);
  l.task = p->task, l.vertices = p->vertices;
  l.tasks = l.patches = 0;
  for (int c = 0; c < p->colours; c++) {
    add_colour(p, c, &l);
    p->first_task[c + 1] = l.tasks;
  }
  for (int d = 0; d < p->space->dim && p->axis[d].span == 2; d++)
    for (int c = 0; c < p->axis[d].colours; c++)
      TES_TRY(fill_rest(ctx, tesi_nodal(p->space, d), &p->axis[d], p->space->degree + 1, c, &p->rest[d][c]));
done:
  for (int d = 0; d < 3; d++) {
    tesi_free(ctx, &l.vertex[d]);
    tesi_free(ctx, &l.next[d]);
  }
  return status;
}

void tesi_stokes_patch_tasks_free(TesContext *ctx, TesiStokesPatchPlan *p) {
  for (int d = 0; d < 3; d++)
    for (int c = 0; c < 3; c++) {
      tesi_free(ctx, &p->rest[d][c].node);
      tesi_free(ctx, &p->rest[d][c].mode);
      tesi_free(ctx, &p->rest[d][c].nodes);
      tesi_free(ctx, &p->rest[d][c].modes);
    }
  tesi_free(ctx, &p->first_task);
  tesi_free(ctx, &p->task);
  tesi_free(ctx, &p->vertices);
}
