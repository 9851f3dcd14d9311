/* A channel round a cylinder: a ring of eight trees around the circle, eight trees from the ring to a block of the
 * channel's height, and rows of two trees before and behind the block; in 3D two such layers. */
#include <math.h>
#include <string.h>
#include "mesh/forest/sketch.h"

enum { INFLOW, OUTFLOW, WALLS, CYLINDER };

typedef struct Channel {
  TesiSketch s;
  double length, height, centre[2], radius, ring; /* ring: radius round the trees at the cylinder */
  double block[2];                                /* from, to in x */
  int before, behind, layers, points; /* trees in x before and behind the block; points of the 2D mesh */
} Channel;

/* Adds the layers over a quadrilateral with corners x[4] numbered id[4], its sides having these names. */
static void add_layers(Channel *c, TesiTreeMap map, const int32_t id[4], const double x[4][2],
                       const int32_t name[4]) {
  const int dim = c->s.dim;
  for (int layer = 0; layer < c->layers; layer++) {
    int32_t number[8];
    double at[8][3];
    for (int v = 0; v < 1 << dim; v++) {
      number[v] = id[v & 3] + (layer + (v >> 2)) * c->points;
      at[v][0] = x[v & 3][0];
      at[v][1] = x[v & 3][1];
      at[v][2] = c->height * (layer + (v >> 2)) / c->layers;
    }
    const int t = tesi_sketch_add(&c->s, map, number, (const double(*)[3])at);
    int32_t *boundary = c->s.boundary + t * 2 * dim;
    memcpy(boundary, name, 4 * sizeof *boundary);
    if (dim == 3 && layer == 0) boundary[4] = WALLS;
    if (dim == 3 && layer == c->layers - 1) boundary[5] = WALLS;
  }
}

/* Points: 0..7 on the circle, 8..15 round the ring, 16..23 round the block from the right counterclockwise, then
 * columns of three. */
enum { SIDES = 8, BLOCK = 2 * SIDES, COLUMNS = 3 * SIDES };

static void block_point(const Channel *c, int k, double x[2]) {
  static const int column[SIDES] = {2, 2, 1, 0, 0, 0, 1, 2}, row[SIDES] = {1, 2, 2, 2, 1, 0, 0, 0};
  const double xs[3] = {c->block[0], c->centre[0], c->block[1]}, ys[3] = {0, c->centre[1], c->height};
  x[0] = xs[column[k]];
  x[1] = ys[row[k]];
}

/* The point of a circle in the direction of a point of the block. */
static void circle_point(const Channel *c, double radius, int k, double x[2]) {
  block_point(c, k, x);
  const double u[2] = {x[0] - c->centre[0], x[1] - c->centre[1]};
  for (int r = 0; r < 2; r++) x[r] = c->centre[r] + radius * u[r] / hypot(u[0], u[1]);
}

/* A tree at the cylinder, and the tree outside of it. */
static void add_side(Channel *c, int k) {
  const int at[2] = {(k + 1) % SIDES, k}; /* clockwise, so that outwards is to the left of it */
  double inner[4][2], outer[4][2];
  int32_t inner_id[4], outer_id[4], at_cylinder[4] = {-1, -1, CYLINDER, -1}, outside[4] = {-1, -1, -1, -1};
  for (int v = 0; v < 2; v++) {
    circle_point(c, c->radius, at[v], inner[v]);
    circle_point(c, c->ring, at[v], inner[2 + v]);
    memcpy(outer[v], inner[2 + v], sizeof outer[v]);
    block_point(c, at[v], outer[2 + v]);
    inner_id[v] = at[v];
    inner_id[2 + v] = outer_id[v] = SIDES + at[v];
    outer_id[2 + v] = BLOCK + at[v];
  }
  if (k == 1 || k == 2 || k == 5 || k == 6) outside[3] = WALLS;
  if ((k == 3 || k == 4) && !c->before) outside[3] = INFLOW;
  if ((k == 0 || k == 7) && !c->behind) outside[3] = OUTFLOW;
  add_layers(c, TESI_MAP_ANNULUS, inner_id, (const double(*)[2])inner, at_cylinder);
  add_layers(c, TESI_MAP_RING, outer_id, (const double(*)[2])outer, outside);
}

/* Number of the point in row 0..2 of column i of n + 1 from x = from to x = to; the column that touches the block
 * is `shared`. */
static int32_t column_point(const Channel *c, bool behind, int i, int row) {
  static const int left[3] = {BLOCK + 5, BLOCK + 4, BLOCK + 3}, right[3] = {BLOCK + 7, BLOCK, BLOCK + 1};
  if (!behind) return i == c->before ? left[row] : COLUMNS + 3 * i + row;
  return i == 0 ? right[row] : COLUMNS + 3 * c->before + 3 * (i - 1) + row;
}

static void add_rows(Channel *c, bool behind) {
  const int n = behind ? c->behind : c->before;
  const double from = behind ? c->block[1] : 0, to = behind ? c->length : c->block[0],
               ys[3] = {0, c->centre[1], c->height};
  for (int i = 0; i < n; i++)
    for (int row = 0; row < 2; row++) {
      double x[4][2];
      int32_t id[4], name[4] = {!behind && i == 0 ? INFLOW : -1, behind && i == n - 1 ? OUTFLOW : -1,
                                row == 0 ? WALLS : -1, row == 1 ? WALLS : -1};
      for (int v = 0; v < 4; v++) {
        const int column = i + (v & 1);
        id[v] = column_point(c, behind, column, row + (v >> 1));
        x[v][0] = (from * (n - column) + to * column) / n;
        x[v][1] = ys[row + (v >> 1)];
      }
      add_layers(c, TESI_MAP_POLYNOMIAL, id, (const double(*)[2])x, name);
    }
}

static TesStatus measure(TesContext *context, const TesMeshDesc *desc, int dim, Channel *c) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  const bool placed = desc->cylinder[0] != 0 || desc->cylinder[1] != 0;
  c->length = desc->length == 0 ? (dim == 2 ? 2.2 : 2.5) : desc->length;
  c->height = desc->height == 0 ? 0.41 : desc->height;
  c->radius = desc->cylinder_radius == 0 ? 0.05 : desc->cylinder_radius;
  c->centre[0] = placed ? desc->cylinder[0] : dim == 2 ? 0.2 : 0.5;
  c->centre[1] = placed ? desc->cylinder[1] : 0.2;
  TES_CHECK(isfinite(c->length) && c->length > 0 && isfinite(c->height) && c->height > 0,
            "the channel is %g long and %g high, expected positive numbers", c->length, c->height);
  const double room =
      fmin(fmin(c->centre[0], c->length - c->centre[0]), fmin(c->centre[1], c->height - c->centre[1]));
  TES_CHECK(c->radius > 0 && c->radius < 0.9 * room,
            "a cylinder of radius %g at (%g, %g) does not fit into the channel: 0 < radius < %g there",
            c->radius, c->centre[0], c->centre[1], 0.9 * room);
  const double half = fmin(fmin(c->centre[0], c->length - c->centre[0]),
                           fmax(c->centre[1], c->height - c->centre[1])),
               tiny = 1e-9 * c->length;
  c->block[0] = c->centre[0] - half < tiny ? 0 : c->centre[0] - half;
  c->block[1] = c->length - (c->centre[0] + half) < tiny ? c->length : c->centre[0] + half;
  c->before = c->block[0] > 0 ? tesi_max(1, (int)lround(2 * c->block[0] / c->height)) : 0;
  c->behind =
      c->block[1] < c->length ? tesi_max(1, (int)lround(2 * (c->length - c->block[1]) / c->height)) : 0;
  TES_CHECK(c->before <= 10000 && c->behind <= 10000, "the channel is too long for its height: %g and %g",
            c->length, c->height);
  c->layers = dim == 3 ? 2 : 1;
  c->points = COLUMNS + 3 * (c->before + c->behind);
  c->ring = c->radius + fmin(0.5 * c->radius, (room - c->radius) / 3);
done:
  return status;
}

TesStatus tesi_trees_channel(TesContext *context, const TesMeshDesc *desc, int dim, TesiTrees **coarse) {
  static const char *const names[] = {"inflow", "outflow", "walls", "cylinder"};
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  Channel c = {.s = {.ctx = ctx}};
  TES_TRY(measure(ctx, desc, dim, &c));
  TES_TRY(tesi_sketch_begin(ctx, dim, (int64_t)c.layers * (2 * SIDES + 2 * (c.before + c.behind)), &c.s));
  for (int k = 0; k < SIDES; k++) add_side(&c, k);
  add_rows(&c, false);
  add_rows(&c, true);
  TES_TRY(tesi_sketch_end(&c.s, 4, names, coarse));
  memcpy((*coarse)->centre, c.centre, sizeof c.centre);
  (*coarse)->radius = c.radius;
done:
  tesi_sketch_free(&c.s);
  return status;
}
