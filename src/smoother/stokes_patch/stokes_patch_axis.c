/* Intervals of one or two cells in a direction: their entries, colours and kinds. */
#include <math.h>
#include "base/work.h"
#include "smoother/stokes_patch/stokes_patch.h"

/* Whether a node at an end of interval v is an unknown of it. Two cells: at an open end of the box. One cell: unless
 * the node is known. */
static bool has_end(const TesiAxis *a, const TesiStokesPatchAxis *p, int v, int side) {
  const bool at_box = !a->periodic && v == (side ? p->vertices - 1 : 0);
  return at_box ? a->end[side] != TESI_STRONG : p->span == 1;
}

static int list_nodes(const TesiAxis *a, const TesiStokesPatchAxis *p, int v, int *node) {
  int count = 0;
  for (int i = !has_end(a, p, v, 0); i < p->span * a->step + has_end(a, p, v, 1); i++)
    node[count++] = (v * a->step + i) % a->nodes;
  return count;
}

/* In a periodic direction with an odd number of vertices the last vertex has its own colour. */
static int colour_of(const TesiAxis *a, int v, int vertices) {
  return a->periodic && vertices % 2 && v == vertices - 1 ? 2 : v % 2;
}

/* ---- what lies outside --------------------------------------------------------------------------------- */

static int cell_at(const TesiAxis *a, int c) {
  return a->periodic ? (c + a->cells) % a->cells : c;
}

static TesStatus fill_outer(TesContext *ctx, const TesiAxis *a, const TesiStokesAxis *s, int v, int nodes,
                            const TesiStokesPatchAxis *p, TesiStokesPatchOuter *o) {
  TesStatus status = TES_OK;
  const int n = a->step, N = p->span * n, *node = p->node + (int64_t)v * p->most,
            *mode = p->mode + (int64_t)v * N, *at = p->node_at + (int64_t)v * (N + 1);
  for (int side = 0; side < 2; side++) {
    o->end[side] = !has_end(a, p, v, side);
    o->neighbour[side] = a->periodic || (side ? v + p->span < a->cells : v > 0);
  }
  if (p->span == 1) return TES_OK; /* their residuals are those of the whole mesh */
  o->size = nodes * (N + 3) + 2 * N + N * N + 2 * n * n + 2;
  TES_ALLOC(&o->values, o->size);
  double *next = o->values;
  for (int i = 0; i < nodes; i++)
    for (int side = 0; side < 2; side++, next++)
      if (o->end[side]) *next = tesi_band_entry(&s->stiffness, node[i], at[side ? N : 0]);
  for (int i = 0; i < nodes; i++)
    for (int j = 0; j <= N; j++) *next++ = tesi_band_entry(&s->mass, node[i], at[j]);
  for (int q = 0; q < N; q++)
    for (int side = 0; side < 2; side++, next++)
      if (o->end[side]) *next = tesi_band_entry(&s->derivative, mode[q], at[side ? N : 0]);
  for (int q = 0; q < N; q++)
    for (int j = 0; j < N; j++) *next++ = tesi_band_entry(&s->penalty, mode[q], mode[j]);
  for (int side = 0; side < 2; side++)
    for (int q = 0; q < n; q++)
      for (int j = 0; j < n; j++, next++)
        if (o->neighbour[side])
          *next = tesi_band_entry(&s->penalty, mode[side * n + q], cell_at(a, side ? v + 2 : v - 1) * n + j);
  const double h[2] = {a->h[v], a->h[cell_at(a, v + 1)]};
  for (int side = 0; side < 2; side++) *next++ = sqrt(h[side] / (h[0] + h[1]));
done:
  return status;
}

static bool outer_equal(const TesiStokesPatchOuter *a, const TesiStokesPatchOuter *b) {
  double largest = 0, difference = 0;
  if (a->size != b->size) return false;
  for (int side = 0; side < 2; side++)
    if (a->end[side] != b->end[side] || a->neighbour[side] != b->neighbour[side]) return false;
  for (int i = 0; i < a->size; i++) {
    largest = fmax(largest, fabs(a->values[i]));
    difference = fmax(difference, fabs(a->values[i] - b->values[i]));
  }
  return difference <= 1e-12 * largest;
}

/* The cell of an interval that replaces a cell beyond a wall. */
static TesiStokesFar far_of(const TesiAxis *a, const TesiStokesPatchAxis *p, int v) {
  if (!p->mirrored || a->periodic || p->span != 2 || p->vertices == 1) return TESI_STOKES_FAR_NONE;
  return v == 0 ? TESI_STOKES_FAR_HIGH : v == p->vertices - 1 ? TESI_STOKES_FAR_LOW : TESI_STOKES_FAR_NONE;
}

typedef struct Pair {
  const TesiStokesPatchAxis *axis;
  const TesiStokesLocalAxis *local;
  const TesiStokesPatchOuter *outer;
} Pair;

static bool is_equal(const void *user, int t) {
  const Pair *p = user;
  return tesi_stokes_local_equal(&p->axis->local[t], p->local) && outer_equal(&p->axis->outer[t], p->outer);
}

static bool is_image(const void *user, int t) {
  const Pair *p = user;
  return tesi_stokes_local_mirrors(&p->axis->local[t], p->local);
}

static TesStatus add_type(TesContext *ctx, const TesiAxis *a, const TesiStokesAxis *s, int v, int nodes,
                          TesiStokesPatchAxis *p) {
  TesStatus status = TES_OK;
  const int modes = p->span * a->step;
  TesiStokesLocalAxis *local = &p->local[p->types];
  TesiStokesPatchOuter *outer = &p->outer[p->types];
  status = tesi_stokes_local_create(ctx, s, nodes, p->node + (int64_t)v * p->most, modes,
                                    p->mode + (int64_t)v * modes, far_of(a, p, v), local);
  if (status == TES_OK) status = fill_outer(ctx, a, s, v, nodes, p, outer);
  if (status == TES_OK) status = tesi_work_go_on(ctx);
  const Pair pair = {p, local, outer};
  const double key = status == TES_OK ? tesi_stokes_local_key(local) : 1;
  const int same = status == TES_OK ? tesi_near_find(&p->by_key, key, is_equal, &pair) : -1, t = p->types;
  p->type[v] = same < 0 ? t : same;
  if (same >= 0 || status != TES_OK) {
    tesi_stokes_local_free(ctx, local);
    tesi_free(ctx, &outer->values);
    return status;
  }
  p->far[t] = far_of(a, p, v);
  p->first[t] = v;
  const int image = p->span == 2 ? tesi_near_find(&p->by_key, key, is_image, &pair) : -1;
  p->image[t] = image < 0 ? t : image;
  if (image >= 0) tesi_stokes_local_mirror(&p->local[image], local);
  tesi_near_add(&p->by_key, key);
  tesi_near_add(&p->by_shape, tesi_stokes_local_shape(local));
  p->types++;
  return status;
}

/* Places beyond the ends of the box have the index of the nearest entry; they are never used. */
static void list_places(const TesiAxis *a, int v, TesiStokesPatchAxis *p) {
  const int n = a->step, N = p->span * n, modes = a->cells * n;
  int *node = p->node_at + (int64_t)v * (N + 1), *mode = p->mode_at + (int64_t)v * (N + 2 * n);
  for (int i = 0; i <= N; i++) node[i] = (v * n + i) % a->nodes;
  for (int i = 0; i < N + 2 * n; i++) {
    const int m = v * n - n + i;
    mode[i] = a->periodic ? (m + modes) % modes : tesi_max(0, tesi_min(m, modes - 1));
  }
  p->wraps[v] = a->periodic && (v == 0 || v + p->span >= a->cells);
}

static TesStatus fill_axis(TesContext *ctx, const TesiAxis *a, const TesiStokesAxis *s,
                           TesiStokesPatchAxis *p) {
  TesStatus status = TES_OK;
  const int N = p->span * a->step;
  p->vertices = a->periodic ? a->cells : a->cells + 1 - p->span;
  p->most = N + 1;
  p->ring_of_two = p->span == 2 && a->periodic && a->cells == 2;
  TES_ALLOC(&p->type, p->vertices);
  TES_ALLOC(&p->colour, p->vertices);
  TES_ALLOC(&p->image, p->vertices);
  TES_ALLOC(&p->far, p->vertices);
  TES_ALLOC(&p->wraps, p->vertices);
  TES_ALLOC(&p->node, (int64_t)p->vertices * p->most);
  TES_ALLOC(&p->mode, (int64_t)p->vertices * N);
  TES_ALLOC(&p->node_at, (int64_t)p->vertices * (N + 1));
  TES_ALLOC(&p->mode_at, (int64_t)p->vertices * (N + 2 * a->step));
  TES_ALLOC(&p->local, p->vertices);
  TES_ALLOC(&p->outer, p->vertices);
  TES_ALLOC(&p->first, p->vertices);
  TES_TRY(tesi_near_create(ctx, p->vertices, &p->by_key));
  TES_TRY(tesi_near_create(ctx, p->vertices, &p->by_shape));
  for (int v = 0; v < p->vertices; v++) {
    const int nodes = list_nodes(a, p, v, p->node + (int64_t)v * p->most);
    for (int i = 0; i < N; i++) p->mode[(int64_t)v * N + i] = (v * a->step + i) % (a->cells * a->step);
    list_places(a, v, p);
    p->colour[v] = colour_of(a, v, p->vertices);
    p->colours = tesi_max(p->colours, p->colour[v] + 1);
    TES_TRY(add_type(ctx, a, s, v, nodes, p));
  }
done:
  return status;
}

/* A direction that does not exist: one interval with one mode. */
static TesStatus fill_nothing(TesContext *ctx, TesiStokesPatchAxis *p) {
  TesStatus status = TES_OK;
  static const int zero = 0;
  *p = (TesiStokesPatchAxis){.span = p->span, .vertices = 1, .colours = 1, .types = 1, .most = 1};
  TES_ALLOC(&p->type, 1);
  TES_ALLOC(&p->wraps, 1);
  TES_ALLOC(&p->node_at, 1);
  TES_ALLOC(&p->mode_at, 1);
  TES_ALLOC(&p->outer, 1);
  TES_ALLOC(&p->colour, 1);
  TES_ALLOC(&p->image, 1);
  TES_ALLOC(&p->far, 1);
  TES_ALLOC(&p->node, 1);
  TES_ALLOC(&p->mode, 1);
  TES_ALLOC(&p->local, 1);
  TES_ALLOC(&p->first, 1);
  TES_TRY(tesi_near_create(ctx, 1, &p->by_shape));
  TES_TRY(tesi_stokes_local_create(ctx, NULL, 1, &zero, 1, &zero, TESI_STOKES_FAR_NONE, &p->local[0]));
  tesi_near_add(&p->by_shape, tesi_stokes_local_shape(&p->local[0]));
done:
  return status;
}

TesStatus tesi_stokes_patch_axis_create(TesContext *ctx, const TesiStokes *stokes, int d, int span,
                                        TesiStokesPatchAxis *p) {
  p->span = span;
  return d < stokes->space->dim ? fill_axis(ctx, &stokes->axis[d].nodal, &stokes->axis[d], p)
                                : fill_nothing(ctx, p);
}

void tesi_stokes_patch_axis_free(TesContext *ctx, TesiStokesPatchAxis *a) {
  for (int t = 0; a->local && t < a->types; t++) tesi_stokes_local_free(ctx, &a->local[t]);
  for (int t = 0; a->outer && t < a->types; t++) tesi_free(ctx, &a->outer[t].values);
  int **const lists[] = {&a->type, &a->colour,  &a->image,   &a->node,
                         &a->mode, &a->node_at, &a->mode_at, &a->first};
  for (int i = 0; i < 8; i++) tesi_free(ctx, lists[i]);
  tesi_near_free(ctx, &a->by_key);
  tesi_near_free(ctx, &a->by_shape);
  tesi_free(ctx, &a->local);
  tesi_free(ctx, &a->outer);
  tesi_free(ctx, &a->far);
  tesi_free(ctx, &a->wraps);
}
