/* The built-in domains. */
#include <math.h>
#include <string.h>
#include "mesh/forest/sketch.h"

/* ---- boxes, some of whose parts may be missing --------------------------------------------------------- */

typedef struct Lattice {
  TesDomain domain;
  int dim, n[3];
  double lower[3], upper[3];
} Lattice;

static bool in_lattice(const Lattice *l, const int i[3]) {
  for (int d = 0; d < 3; d++)
    if (i[d] < 0 || i[d] >= l->n[d]) return false;
  return true;
}

static bool is_hole(const Lattice *l, const int i[3]) {
  if (l->domain == TES_DOMAIN_L_SHAPE) return i[0] == 1 && i[1] == 0;
  if (l->domain == TES_DOMAIN_FICHERA) return i[0] == 1 && i[1] == 1 && (l->dim == 2 || i[2] == 1);
  return false;
}

static void add_lattice_tree(TesiSketch *s, const Lattice *l, const int i[3]) {
  int32_t id[8];
  double x[8][3];
  for (int v = 0; v < 1 << l->dim; v++) {
    int at[3];
    for (int d = 0; d < 3; d++) {
      at[d] = i[d] + (v >> d & 1);
      x[v][d] = (l->lower[d] * (l->n[d] - at[d]) + l->upper[d] * at[d]) / l->n[d];
    }
    id[v] = (int32_t)(at[0] + (l->n[0] + 1) * (at[1] + (int64_t)(l->n[1] + 1) * at[2]));
  }
  const int t = tesi_sketch_add(s, TESI_MAP_POLYNOMIAL, id, (const double(*)[3])x);
  for (int f = 0; f < 2 * l->dim; f++) {
    int next[3] = {i[0], i[1], i[2]};
    next[f / 2] += f & 1 ? 1 : -1;
    int *name = &s->boundary[t * 2 * l->dim + f];
    if (l->domain == TES_DOMAIN_BOX)
      *name = f;
    else if (in_lattice(l, next))
      *name = is_hole(l, next) ? 1 : -1;
    else
      *name = l->domain == TES_DOMAIN_L_SHAPE && f >= 4 ? f - 2 : 0;
  }
}

static TesStatus box_lattice(TesContext *context, const TesMeshDesc *desc, Lattice *l) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  for (int d = 0; d < l->dim; d++) {
    const char axis = "xyz"[d];
    const bool unit = desc->lower[d] == 0 && desc->upper[d] == 0;
    l->n[d] = desc->cells[d] ? desc->cells[d] : 1;
    l->lower[d] = desc->lower[d];
    l->upper[d] = unit ? 1 : desc->upper[d];
    TES_CHECK(l->n[d] >= 1 && l->n[d] <= 1 << 20, "%d cells in direction %c, expected 1..2^20", l->n[d], axis);
    TES_CHECK(isfinite(l->lower[d]) && isfinite(l->upper[d]) && l->lower[d] < l->upper[d],
              "the box is reversed, empty or not finite in direction %c: lower %g, upper %g", axis,
              l->lower[d], l->upper[d]);
    const double width = (l->upper[d] - l->lower[d]) / l->n[d];
    TES_CHECK(tesi_mesh_is_width(width), "cells are %g wide in direction %c, expected " TESI_MESH_WIDTHS,
              width, axis);
  }
done:
  return status;
}

TesStatus tesi_trees_lattice(TesContext *context, const TesMeshDesc *desc, int dim, TesiTrees **coarse) {
  static const char *const faces[] = {"left", "right", "bottom", "top", "back", "front"}, *const corner[] = {
                                                                                              "outer", "notch",
                                                                                              "back", "front"};
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  const bool box = desc->domain == TES_DOMAIN_BOX, prism = desc->domain == TES_DOMAIN_L_SHAPE && dim == 3;
  Lattice l = {.domain = desc->domain, .dim = dim, .n = {1, 1, 1}};
  TesiSketch s = {.ctx = ctx};
  for (int d = 0; d < dim; d++) {
    l.n[d] = prism && d == 2 ? 1 : 2;
    l.lower[d] = prism && d == 2 ? 0 : -1;
    l.upper[d] = 1;
  }
  if (box) TES_TRY(box_lattice(ctx, desc, &l));
  TES_TRY(tesi_sketch_begin(ctx, dim, (int64_t)l.n[0] * l.n[1] * l.n[2], &s));
  for (int64_t t = 0; t < (int64_t)l.n[0] * l.n[1] * l.n[2]; t++) {
    const int i[3] = {(int)(t % l.n[0]), (int)(t / l.n[0] % l.n[1]), (int)(t / l.n[0] / l.n[1])};
    if (!is_hole(&l, i)) add_lattice_tree(&s, &l, i);
  }
  TES_TRY(tesi_sketch_end(&s, box ? 2 * dim : prism ? 4 : 2, box ? faces : corner, coarse));
  for (int d = 0; box && d < dim; d++) {
    (*coarse)->box[d] = l.n[d];
    (*coarse)->periodic[d] = desc->periodic[d];
    for (int64_t t = 0; desc->periodic[d] && t < s.trees; t++)
      for (int f = 2 * d; f < 2 * d + 2; f++) (*coarse)->boundary[t * 2 * dim + f] = TESI_TREES_INSIDE;
  }
done:
  tesi_sketch_free(&s);
  if (status != TES_OK) tesi_trees_release(coarse);
  return status;
}

/* ---- ball and shell ------------------------------------------------------------------------------------ */

/* A tree between the inner and the outer copy of a patch of the cube's surface: corners y[2^(dim-1)] (right-handed
 * with the outer normal), and their numbers. */
static void add_sector(TesiSketch *s, TesiTreeMap map, int corners, const double (*y)[3], const int32_t *id) {
  int32_t both[8];
  double x[8][3];
  for (int v = 0; v < corners; v++) {
    both[v] = 2 * id[v];
    both[corners + v] = 2 * id[v] + 1;
    memcpy(x[v], y[v], sizeof x[v]);
    memcpy(x[corners + v], y[v], sizeof x[v]);
  }
  const int t = tesi_sketch_add(s, map, both, (const double(*)[3])x);
  int32_t *name = s->boundary + t * 2 * s->dim + 2 * (s->dim - 1);
  name[0] = map == TESI_MAP_SHELL ? 0 : -1;
  name[1] = map == TESI_MAP_SHELL ? 1 : 0;
}

/* The faces of the cube [-1, 1]^3, or the sides of the square; vertices numbered by the bits of their positive
 * coordinates. */
static void add_cube_sectors(TesiSketch *s, TesiTreeMap map) {
  const int dim = s->dim, corners = 1 << (dim - 1);
  for (int f = 0; f < 2 * dim; f++) {
    const int e = f / 2;
    double normal[3] = {0}, u[3] = {0}, v[3] = {0}, y[4][3];
    int32_t id[4];
    normal[e] = f & 1 ? 1 : -1;
    if (dim == 2) { /* u, normal right-handed */
      u[0] = normal[1];
      u[1] = -normal[0];
    } else { /* u, v, normal right-handed */
      u[(e + 1) % 3] = normal[e];
      v[(e + 2) % 3] = 1;
    }
    for (int c = 0; c < corners; c++) {
      id[c] = 0;
      for (int r = 0; r < 3; r++) {
        y[c][r] = normal[r] + (c & 1 ? u[r] : -u[r]) + (c & 2 ? v[r] : -v[r]);
        if (dim == 2) y[c][r] = normal[r] + (c & 1 ? u[r] : -u[r]);
        if (r < dim && y[c][r] > 0) id[c] |= 1 << r;
      }
    }
    add_sector(s, map, corners, (const double(*)[3])y, id);
  }
}

/* Eight equal angles: the sides of the square, halved. */
static void add_ring_sectors(TesiSketch *s) {
  static const double on_square[8][3] = {{1, 0},  {1, 1},   {0, 1},  {-1, 1},
                                         {-1, 0}, {-1, -1}, {0, -1}, {1, -1}};
  for (int k = 0; k < 8; k++) {
    const int next = (k + 1) % 8;
    double y[2][3];
    memcpy(y[0], on_square[next], sizeof y[0]);
    memcpy(y[1], on_square[k], sizeof y[1]);
    add_sector(s, TESI_MAP_SHELL, 2, (const double(*)[3])y, (const int32_t[2]){next, k});
  }
}

TesStatus tesi_trees_round(TesContext *context, const TesMeshDesc *desc, int dim, TesiTrees **coarse) {
  static const char *const ball_names[] = {"surface"}, *const shell_names[] = {"inner", "outer"};
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesiSketch s = {.ctx = ctx};
  const bool ball = desc->domain == TES_DOMAIN_BALL;
  const double radius = desc->radius == 0 ? 1 : desc->radius,
               inner = desc->inner_radius == 0 ? radius / 2 : desc->inner_radius, core = 0.3 * radius;
  TES_CHECK(isfinite(radius) && radius > 0, "the radius is %g, expected a positive number", radius);
  TES_CHECK(ball || (inner > 0 && inner < radius), "the inner radius is %g, expected one in (0, %g)", inner,
            radius);
  for (int d = 0; d < dim; d++)
    TES_CHECK(isfinite(desc->centre[d]), "the centre is not finite in direction %c", "xyz"[d]);
  TES_TRY(tesi_sketch_begin(ctx, dim, 8, &s));
  if (ball) { /* the core first, its vertices the inner ones of the sectors */
    double x[8][3];
    int32_t id[8];
    for (int v = 0; v < 1 << dim; v++) {
      id[v] = 2 * v;
      for (int r = 0; r < dim; r++) x[v][r] = desc->centre[r] + (v >> r & 1 ? core : -core);
    }
    tesi_sketch_add(&s, TESI_MAP_POLYNOMIAL, id, (const double(*)[3])x);
  }
  if (ball || dim == 3)
    add_cube_sectors(&s, ball ? TESI_MAP_BALL : TESI_MAP_SHELL);
  else
    add_ring_sectors(&s);
  TES_TRY(tesi_sketch_end(&s, ball ? 1 : 2, ball ? ball_names : shell_names, coarse));
  memcpy((*coarse)->centre, desc->centre, sizeof desc->centre);
  (*coarse)->radius = radius;
  (*coarse)->inner = inner;
  (*coarse)->core = core;
done:
  tesi_sketch_free(&s);
  return status;
}
