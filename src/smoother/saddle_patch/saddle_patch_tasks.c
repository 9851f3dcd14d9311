/* Colours of patches, their patches in groups of a SIMD vector, and the entries that none of them writes. */
#include "smoother/saddle_patch/saddle_patch.h"

/* Patches of a colour and kind, where all or none of a direction wrap round a ring; with red-black colours of one
 * parity (else -1). */
typedef struct Group {
  int colour[3], type[3], parity;
  bool wraps[3];
} Group;

/* Lists that are being made; task and vertices NULL: they are only counted. */
typedef struct Lists {
  int lanes, tasks, patches;
  TesiSaddlePatchTask *task;
  int (*vertices)[3], *vertex[3]; /* vertex: of a direction, work */
} Lists;

static int parity_of(int dim, const int vertex[3]) {
  int sum = 0;
  for (int d = 0; d < dim; d++) sum += vertex[d] / 2;
  return sum % 2;
}

static bool in_two_colours(const TesiSaddlePatchAxis axis[3]) {
  return axis[0].span == 1 && axis[0].colours <= 2 && axis[1].colours <= 2 && axis[2].colours <= 2;
}

int tesi_saddle_patch_colour(const TesiSaddlePatchAxis axis[3], int dim, bool red_black,
                             const int vertex[3]) {
  int colour = 0;
  if (in_two_colours(axis)) return (vertex[0] + vertex[1] + vertex[2]) % 2;
  for (int d = 2; d >= 0; d--) colour = colour * axis[d].colours + axis[d].colour[vertex[d]];
  return red_black && axis[0].span == 2 ? 2 * colour + parity_of(dim, vertex) : colour;
}

int tesi_saddle_patch_colours(const TesiSaddlePatchAxis axis[3], bool red_black) {
  return in_two_colours(axis)
             ? 2
             : axis[0].colours * axis[1].colours * axis[2].colours * (red_black && axis[0].span == 2 ? 2 : 1);
}

static int pick_vertices(const TesiSaddlePatchAxis *a, const Group *g, int d, int *vertex) {
  int count = 0;
  for (int v = 0; v < a->vertices; v++)
    if (a->colour[v] == g->colour[d] && a->type[v] == g->type[d] && a->wraps[v] == g->wraps[d])
      vertex[count++] = v;
  return count;
}

static void add_patch(const TesiSaddlePatchPlan *p, const Group *g, const int vertex[3], int *in_group,
                      Lists *l) {
  if (*in_group % l->lanes == 0) {
    if (l->task)
      l->task[l->tasks] = (TesiSaddlePatchTask){
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

static void add_group(const TesiSaddlePatchPlan *p, const Group *g, Lists *l) {
  int count[3], in_group = 0;
  for (int d = 0; d < 3; d++) count[d] = pick_vertices(&p->axis[d], g, d, l->vertex[d]);
  for (int z = 0; z < count[2]; z++)
    for (int y = 0; y < count[1]; y++)
      for (int x = 0; x < count[0]; x++) {
        const int vertex[3] = {l->vertex[0][x], l->vertex[1][y], l->vertex[2][z]};
        if (g->parity < 0 || parity_of(p->rt->dim, vertex) == g->parity)
          add_patch(p, g, vertex, &in_group, l);
      }
}

/* All groups of colours of the axes. */
static void add_groups(const TesiSaddlePatchPlan *p, const int colour[3], int parity, Lists *l) {
  const TesiSaddlePatchAxis *a = p->axis;
  Group g = {.colour = {colour[0], colour[1], colour[2]}, .parity = parity};
  for (int t = 0; t < 8 * p->kinds; t++) {
    const int type = t / 8;
    for (int d = 0; d < 3; d++) g.wraps[d] = t >> d & 1;
    g.type[0] = type % a[0].types, g.type[1] = type / a[0].types % a[1].types;
    g.type[2] = type / a[0].types / a[1].types;
    add_group(p, &g, l);
  }
}

static void add_colour(const TesiSaddlePatchPlan *p, int c, Lists *l) {
  const TesiSaddlePatchAxis *a = p->axis;
  const bool two = in_two_colours(a);
  const int of_parity = p->red_black ? 2 : 1;
  for (int box = 0; box < a[0].colours * a[1].colours * a[2].colours; box++) {
    const int colour[3] = {box % a[0].colours, box / a[0].colours % a[1].colours,
                           box / a[0].colours / a[1].colours};
    if (two ? (colour[0] + colour[1] + colour[2]) % 2 == c : box == c / of_parity)
      add_groups(p, colour, p->red_black ? c % 2 : -1, l);
  }
}

/* A patch writes the lower end of each of its intervals too, as it was. */
static TesStatus fill_rest(TesContext *ctx, const TesiRtAxis *r, const TesiSaddlePatchAxis *a, int n,
                           int colour, TesiSaddlePatchRest *rest) {
  TesStatus status = TES_OK;
  TES_ALLOC(&rest->node, r->nodes);
  TES_ALLOC(&rest->mode, r->modes);
  TES_ALLOC(&rest->nodes, r->nodes);
  TES_ALLOC(&rest->modes, r->modes);
  for (int i = 0; i < r->nodes; i++) rest->node[i] = true;
  for (int i = 0; i < r->modes; i++) rest->mode[i] = true;
  for (int v = 0; v < a->vertices; v++) {
    if (a->colour[v] != colour) continue;
    const int *node = a->node_at + (int64_t)v * (2 * n + 1), *mode = a->mode_at + (int64_t)v * 4 * n + n;
    for (int i = 0; i < 2 * n; i++) rest->node[node[i]] = rest->mode[mode[i]] = false;
    if (!a->outer[a->type[v]].end[1]) rest->node[node[2 * n]] = false;
  }
  for (int i = 0; i < r->nodes; i++)
    if (rest->node[i]) rest->nodes[rest->node_count++] = i;
  for (int i = 0; i < r->modes; i++)
    if (rest->mode[i]) rest->modes[rest->mode_count++] = i;
done:
  return status;
}

TesStatus tesi_saddle_patch_tasks_create(TesContext *ctx, int lanes, TesiSaddlePatchPlan *p) {
  TesStatus status = TES_OK;
  Lists l = {.lanes = lanes};
  for (int d = 0; d < 3; d++) TES_ALLOC(&l.vertex[d], p->axis[d].vertices);
  p->colours = tesi_saddle_patch_colours(p->axis, p->red_black);
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
  for (int d = 0; d < p->rt->dim && p->axis[d].span == 2; d++)
    for (int c = 0; c < p->axis[d].colours; c++)
      TES_TRY(fill_rest(ctx, &p->rt->axis[d], &p->axis[d], p->rt->n, c, &p->rest[d][c]));
done:
  for (int d = 0; d < 3; d++) tesi_free(ctx, &l.vertex[d]);
  return status;
}

void tesi_saddle_patch_tasks_free(TesContext *ctx, TesiSaddlePatchPlan *p) {
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
