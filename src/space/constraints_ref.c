/* Constraints of hanging nodes as a sparse matrix, from positions alone: see space/space.h. Slow and plain. */
#include <math.h>
#include <string.h>
#include "basis/lagrange.h"
#include "basis/gauss.h"
#include "space/space.h"

/* ---- points by position: an open hash table of boxes of width `width`, far above round-off and far below
 * distances ----------- */

typedef struct Finder {
  TesContext *ctx;
  int dim;
  double width;
  const double *period;
  int64_t points, slots; /* slots: a power of two */
  double (*at)[3];       /* [points] */
  int64_t *slot;         /* [slots] point + 1; 0: free */
} Finder;

static TesStatus finder_begin(TesContext *context, int dim, const double *period, double width, int64_t room,
                              Finder *f) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  *f = (Finder){.ctx = ctx, .dim = dim, .width = width, .period = period, .slots = 16};
  while (f->slots < 3 * room) f->slots *= 2;
  TES_ALLOC(&f->at, room);
  TES_ALLOC(&f->slot, f->slots);
done:
  return status;
}

static void finder_free(Finder *f) {
  if (!f->ctx) return;
  tesi_free(f->ctx, &f->at);
  tesi_free(f->ctx, &f->slot);
}

/* The point in the first period. */
static void wrap(const Finder *f, const double *x, double y[3]) {
  for (int d = 0; d < 3; d++) {
    y[d] = d < f->dim ? x[d] : 0;
    if (f->period && f->period[d] > 0) y[d] -= f->period[d] * floor((y[d] + f->width / 2) / f->period[d]);
  }
}

static uint64_t box_hash(const int64_t box[3]) {
  uint64_t h = 0;
  for (int d = 0; d < 3; d++) h = (h ^ (uint64_t)box[d]) * 0x9e3779b97f4a7c15u + (h >> 29);
  return h ^ (h >> 31);
}

static int64_t find_in_box(const Finder *f, const int64_t box[3], const double y[3]) {
  for (uint64_t s = box_hash(box);; s++) {
    const int64_t point = f->slot[s & (uint64_t)(f->slots - 1)] - 1;
    if (point < 0) return -1;
    double distance = 0;
    for (int d = 0; d < f->dim; d++) distance = fmax(distance, fabs(f->at[point][d] - y[d]));
    if (distance < f->width / 8) return point;
  }
}

/* The point at x, or -1. It is looked for in all boxes that contain x or x shifted by a quarter of their width. */
static int64_t find_point(const Finder *f, const double *x) {
  double y[3];
  wrap(f, x, y);
  for (int shift = 0; shift < 1 << f->dim; shift++) {
    int64_t box[3] = {0};
    for (int d = 0; d < f->dim; d++)
      box[d] = (int64_t)floor(y[d] / f->width + (shift >> d & 1 ? 0.25 : -0.25));
    const int64_t point = find_in_box(f, box, y);
    if (point >= 0) return point;
  }
  return -1;
}

static int64_t find_or_add_point(Finder *f, const double *x) {
  int64_t point = find_point(f, x), box[3] = {0};
  if (point >= 0) return point;
  double y[3];
  wrap(f, x, y);
  for (int d = 0; d < f->dim; d++) box[d] = (int64_t)floor(y[d] / f->width);
  uint64_t s = box_hash(box);
  while (f->slot[s & (uint64_t)(f->slots - 1)]) s++;
  point = f->points++;
  memcpy(f->at[point], y, sizeof y);
  f->slot[s & (uint64_t)(f->slots - 1)] = point + 1;
  return point;
}

/* ---- entities: faces and edges of the reference cell, with `free` directions (bits) and sides (bits) of the
 * others ------------ */

typedef struct Entity {
  int free, side;
} Entity;

enum { ENTITIES = 18 }; /* 6 faces and 12 edges; in 2D 4 faces */

static int list_entities(int dim, Entity list[ENTITIES]) {
  int n = 0;
  for (int free = 1; free < (1 << dim) - 1; free++)
    for (int side = 0; side < 1 << dim; side++)
      if (!(side & free)) list[n++] = (Entity){free, side};
  return n;
}

static int directions(int bits) {
  return (bits & 1) + (bits >> 1 & 1) + (bits >> 2 & 1);
}

/* xi <- the point of the reference cell with coordinates t[..] along the free directions of the entity, ascending. */
static void entity_point(int dim, Entity e, const double *t, double xi[3]) {
  for (int d = 0, i = 0; d < dim; d++) xi[d] = e.free >> d & 1 ? t[i++] : e.side >> d & 1;
}

/* ---- the matrix ---------------------------------------------------------------------------------------- */

typedef struct Search {
  TesContext *ctx;
  const TesMesh *forest;
  int dim, n, cell_nodes, entities;
  double node[TESI_HANGING_NODES];
  Entity entity[ENTITIES];
  Finder points, parts; /* all nodes; middles of all halves (quarters) of faces and edges */
  int64_t *part_owner;  /* [parts] cell * ENTITIES + entity */
  int64_t *column;      /* [points] -1: not met yet */
  int64_t columns;
  double *row;      /* [points] the row being made */
  int64_t *touched; /* [points] its entries */
  int64_t touched_count;
} Search;

/* The middles of the halves of the entity, or its own middle (halves 1). */
static void part_middle(const Search *s, int64_t cell, int entity, int halves, int part, double x[3]) {
  double t[2], xi[3];
  for (int i = 0; i < 2; i++) t[i] = ((part >> i & (halves - 1)) + 0.5) / halves;
  entity_point(s->dim, s->entity[entity], t, xi);
  tesi_mesh_map(s->forest, cell, 1, xi, x);
}

static TesStatus find_parts(Search *s) {
  TesContext *ctx = s->ctx;
  TesStatus status = TES_OK;
  const int64_t cells = s->forest->leaves.cells, room = cells * s->entities * 4;
  TES_TRY(finder_begin(ctx, s->dim, s->points.period, s->points.width, room, &s->parts));
  TES_ALLOC(&s->part_owner, room);
  for (int64_t c = 0; c < cells; c++)
    for (int e = 0; e < s->entities; e++)
      for (int part = 0; part < 1 << directions(s->entity[e].free); part++) {
        double x[3] = {0};
        part_middle(s, c, e, 2, part, x);
        s->part_owner[find_or_add_point(&s->parts, x)] = c * ENTITIES + e;
      }
done:
  return status;
}

/* Finds the coarser cell and its entity on which an entity of a cell hangs; false: it does not hang. */
static bool hangs_on(const Search *s, int64_t cell, int entity, int64_t *coarse, int *coarse_entity) {
  double x[3] = {0};
  part_middle(s, cell, entity, 1, 0, x);
  const int64_t part = find_point(&s->parts, x);
  if (part < 0) return false;
  *coarse = s->part_owner[part] / ENTITIES;
  *coarse_entity = (int)(s->part_owner[part] % ENTITIES);
  return true;
}

static bool same_position(const Search *s, const double *a, const double *b) {
  double x[3], y[3], distance = 0;
  wrap(&s->points, a, x);
  wrap(&s->points, b, y);
  for (int d = 0; d < s->dim; d++) distance = fmax(distance, fabs(x[d] - y[d]));
  return distance < s->points.width / 8;
}

/* The coordinates on the coarse entity of the point with coordinates t on the fine entity. The corners of the fine
 * entity are searched among the 3 or 9 points of the coarse entity with coordinates 0, 1/2, 1; between them the map is
 * affine. */
static bool on_coarse(const Search *s, int64_t fine, int fine_entity, int64_t coarse, int coarse_entity,
                      const double t[2], double on[2]) {
  const int free = directions(s->entity[fine_entity].free);
  double corner[3][2] = {{0}};
  for (int v = 0; v <= free; v++) { /* the origin, and one corner per direction */
    const double at[2] = {v == 1, v == 2};
    double xi[3], x[3] = {0};
    bool found = false;
    entity_point(s->dim, s->entity[fine_entity], at, xi);
    tesi_mesh_map(s->forest, fine, 1, xi, x);
    for (int q = 0; q < (free == 2 ? 9 : 3) && !found; q++) {
      const double half[2] = {q % 3 / 2.0, q / 3 / 2.0};
      double y[3] = {0};
      entity_point(s->dim, s->entity[coarse_entity], half, xi);
      tesi_mesh_map(s->forest, coarse, 1, xi, y);
      found = same_position(s, x, y);
      if (found) memcpy(corner[v], half, sizeof half);
    }
    if (!found) return false;
  }
  for (int i = 0; i < 2; i++) {
    on[i] = corner[0][i];
    for (int v = 1; v <= free; v++) on[i] += t[v - 1] * (corner[v][i] - corner[0][i]);
  }
  return true;
}

static bool on_entity(const Search *s, Entity e, const int i[3]) {
  for (int d = 0; d < s->dim; d++)
    if (!(e.free >> d & 1) && i[d] != (e.side >> d & 1 ? s->n - 1 : 0)) return false;
  return true;
}

static void node_position(const Search *s, int64_t cell, const int i[3], double x[3]) {
  double xi[3];
  for (int d = 0; d < s->dim; d++) xi[d] = s->node[i[d]];
  tesi_mesh_map(s->forest, cell, 1, xi, x);
}

static bool add_node(Search *s, int64_t cell, const int i[3], double weight, int depth);

/* Adds weight times the coarse polynomial at the point `on` of an entity. */
static bool add_polynomial(Search *s, int64_t cell, int entity, const double on[2], double weight, int depth) {
  const Entity e = s->entity[entity];
  double B[2][TESI_HANGING_NODES];
  const int free = directions(e.free), n = s->n;
  for (int d = 0; d < free; d++) tesi_lagrange(n, s->node, 1, &on[d], B[d], NULL);
  for (int q = 0; q < (free == 2 ? n * n : n); q++) {
    const int at[2] = {q % n, q / n};
    const double w = weight * B[0][at[0]] * (free == 2 ? B[1][at[1]] : 1);
    int i[3];
    for (int d = 0, f = 0; d < s->dim; d++) i[d] = e.free >> d & 1 ? at[f++] : e.side >> d & 1 ? n - 1 : 0;
    if (fabs(w) > 1e-14 && !add_node(s, cell, i, w, depth + 1)) return false;
  }
  return true;
}

/* Adds weight times the value at a node of a cell to the row. If the node lies on a hanging entity (faces first, which
 * contain their edges), the value is that of the coarse polynomial; else it is the unknown at its position. False: the
 * mesh is not a valid forest. */
static bool add_node(Search *s, int64_t cell, const int i[3], double weight, int depth) {
  double x[3] = {0};
  if (depth > 8) return false;
  for (int faces = s->dim - 1; faces > 0; faces--)
    for (int e = 0; e < s->entities; e++) {
      int64_t coarse;
      int coarse_entity;
      double t[2] = {0}, on[2];
      if (directions(s->entity[e].free) != faces || !on_entity(s, s->entity[e], i)) continue;
      if (!hangs_on(s, cell, e, &coarse, &coarse_entity)) continue;
      for (int d = 0, f = 0; d < s->dim; d++)
        if (s->entity[e].free >> d & 1) t[f++] = s->node[i[d]];
      return on_coarse(s, cell, e, coarse, coarse_entity, t, on) &&
             add_polynomial(s, coarse, coarse_entity, on, weight, depth);
    }
  node_position(s, cell, i, x);
  const int64_t point = find_point(&s->points, x);
  if (point < 0) return false;
  if (s->row[point] == 0) s->touched[s->touched_count++] = point;
  s->row[point] += weight;
  return true;
}

static TesStatus find_nodes(Search *s, const double *period) {
  TesContext *ctx = s->ctx;
  TesStatus status = TES_OK;
  const int64_t cells = s->forest->leaves.cells, room = cells * s->cell_nodes;
  double size = 0;
  for (int64_t c = 0; c < cells; c++) {
    double x[3] = {0};
    tesi_mesh_map(s->forest, c, 1, (const double[3]){0.5, 0.5, 0.5}, x);
    for (int d = 0; d < s->dim; d++) size = fmax(size, fabs(x[d]));
  }
  TES_TRY(finder_begin(ctx, s->dim, period, 1e-8 * size, room, &s->points));
  TES_ALLOC(&s->column, room);
  TES_ALLOC(&s->row, room);
  TES_ALLOC(&s->touched, room);
  for (int64_t c = 0; c < cells; c++)
    for (int p = 0; p < s->cell_nodes; p++) {
      double x[3] = {0};
      node_position(s, c, (const int[3]){p % s->n, p / s->n % s->n, p / s->n / s->n}, x);
      s->column[find_or_add_point(&s->points, x)] = -1;
    }
done:
  return status;
}

/* Moves the row that has been made to the matrix; with c->column NULL entries are only counted. */
static void store_row(Search *s, int64_t row, TesiConstraints *c) {
  int64_t at = c->first[row];
  for (int64_t t = 0; t < s->touched_count; t++) {
    const int64_t point = s->touched[t];
    if (s->row[point] != 0) {
      if (s->column[point] < 0) s->column[point] = s->columns++;
      if (c->column) {
        c->column[at] = (int32_t)s->column[point];
        c->value[at] = s->row[point];
      }
      at++;
    }
    s->row[point] = 0;
  }
  s->touched_count = 0;
  c->first[row + 1] = at;
}

static TesStatus make_rows(Search *s, TesiConstraints *c) {
  TesContext *ctx = s->ctx;
  TesStatus status = TES_OK;
  for (int64_t row = 0; row < c->rows; row++) {
    const int p = (int)(row % s->cell_nodes), i[3] = {p % s->n, p / s->n % s->n, p / s->n / s->n};
    if (!add_node(s, row / s->cell_nodes, i, 1, 0))
      TES_FAIL(TES_INTERNAL, "node %d of cell %lld hangs on nothing", p, (long long)(row / s->cell_nodes));
    store_row(s, row, c);
  }
done:
  return status;
}

TesStatus tesi_constraints_ref(const TesMesh *forest, int degree, const double period[3], TesiConstraints *c) {
  TesContext *ctx = forest->context;
  TesStatus status = TES_OK;
  const int n = degree + 1;
  Search s = {.ctx = ctx, .forest = forest, .dim = forest->dim, .n = n};
  *c = (TesiConstraints){0};
  s.cell_nodes = s.dim == 2 ? n * n : n * n * n;
  s.entities = list_entities(s.dim, s.entity);
  tesi_gauss_lobatto(n, s.node, NULL);
  TES_TRY(find_nodes(&s, period));
  TES_TRY(find_parts(&s));
  c->rows = forest->leaves.cells * s.cell_nodes;
  TES_ALLOC(&c->first, c->rows + 1);
  TES_TRY(make_rows(&s, c));
  TES_ALLOC(&c->column, c->first[c->rows]);
  TES_ALLOC(&c->value, c->first[c->rows]);
  TES_TRY(make_rows(&s, c));
  c->columns = s.columns;
done:
  finder_free(&s.points);
  finder_free(&s.parts);
  tesi_free(ctx, &s.part_owner);
  tesi_free(ctx, &s.column);
  tesi_free(ctx, &s.row);
  tesi_free(ctx, &s.touched);
  if (status != TES_OK) tesi_constraints_free(ctx, c);
  return status;
}

void tesi_constraints_free(TesContext *ctx, TesiConstraints *c) {
  tesi_free(ctx, &c->first);
  tesi_free(ctx, &c->column);
  tesi_free(ctx, &c->value);
}
