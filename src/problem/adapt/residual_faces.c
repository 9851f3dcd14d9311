/* Residuals on faces, one face of eight cells at a time: see estimate.h. */
#include <math.h>
#include <string.h>
#include "base/key_order.h"
#include "base/team.h"
#include "basis/lagrange.h"
#include "mesh/inner_faces.h"
#include "problem/adapt/estimate.h"

void tesi_side_tables(int n, const TesiFaceRule *rule, TesiSideTables *t) {
  static const double ends[2] = {0, 1};
  double node[TESI_HANGING_NODES], point[TESI_FACE_POINTS];
  t->n = n;
  tesi_gauss_lobatto(n, node, NULL);
  tesi_lagrange(n, node, 2, ends, NULL, t->ends);
  for (int i = 0; i < TESI_SIDES; i++) {
    const int half = i % 3;
    for (int p = 0; p < rule->q; p++)
      point[p] = (half == 2 ? 0.5 : 0) + (half ? 0.5 : 1) * (i < 3 ? rule->point[p] : 1 - rule->point[p]);
    tesi_lagrange(n, node, rule->q, point, t->B[i], t->G[i]);
  }
}

static TesiFaceTables tables_of(const TesiResidualAt *at, const TesiSideTables *t, bool other) {
  const int8_t *number = other ? at->pair->number : (const int8_t[2]){0, 0};
  return (TesiFaceTables){.n = t->n,
                          .q = at->s->face_rule.q,
                          .B = {t->B[number[0]], t->B[number[1]]},
                          .G = {t->G[number[0]], t->G[number[1]]},
                          .ends = t->ends};
}

/* The gradient along the cell's own coordinates, and values (may be NULL), of fields local[fields][nodes]. */
static void evaluate_side(const TesiResidualAt *at, const TesiSideTables *side, bool other, int fields,
                          const double *local, double *values, double *gradient) {
  const TesiResidual *s = at->s;
  const int dim = s->rule.dim, n = side->n, nodes = n * n * (dim == 3 ? n : 1) * TESI_LANES;
  const TesiFaceTables t = tables_of(at, side, other);
  for (int c = 0; c < fields; c++)
    s->loops.face(dim, other ? at->pair->other_face : at->pair->face, other && at->pair->swapped, &t,
                  local + c * nodes, 1, values ? values + c * at->n : NULL,
                  gradient ? gradient + c * dim * at->n : NULL, at->n);
}

void tesi_residual_face_values(const TesiResidualAt *at, const TesiSideTables *side, const double *local,
                               double *value) {
  evaluate_side(at, side, false, 1, local, value, NULL);
}

/* x and the inverse of the Jacobian on one side; affine cells: one matrix, and no x. */
static void place(TesiResidualAt *at, bool other, double *x) {
  const TesiResidual *s = at->s;
  const int32_t *of = other ? at->other : at->cell;
  const bool across = of[0] >= s->space->cells;
  const TesiGeometry *g = across ? &s->geometry_across : s->geometry;
  const int dim = g->dim;
  const bool affine = g->kind == TES_GEOMETRY_AFFINE;
  int32_t cell[TESI_LANES];
  for (int l = 0; l < TESI_LANES; l++) cell[l] = of[l] - (across ? (int32_t)s->space->cells : 0);
  if (affine) {
    tesi_lanes_points(g, s->lanes, cell, 1, s->table.middle_B, s->table.middle_G, at->nodes, at->spare[0],
                      at->J);
  } else {
    const TesiFaceTables t = tables_of(at, across ? &s->table.across_side : &s->table.geometry_side, other);
    tesi_lanes_nodes(g, cell, at->nodes);
    memset(x + 2 * at->n, 0, (size_t)at->n * sizeof *x);
    for (int r = 0; r < dim; r++)
      s->loops.face(dim, other ? at->pair->other_face : at->pair->face, other && at->pair->swapped, &t,
                    at->nodes + r * TESI_LANES, dim, x + r * at->n, at->J + r * dim * at->n, at->n);
    if (g->map[0]) tesi_geometry_map(g, at->n, x, at->J);
  }
  at->inverse = (TesiBatchInverse){at->J, at->det, !affine};
  s->loops.invert(dim, affine ? 1 : at->points, at->J, at->det);
}

/* normal and weight from row d of |J| J^-1, of faces with normal d in the cell. */
static void normals(TesiResidualAt *at) {
  const TesiResidual *s = at->s;
  const int dim = s->rule.dim, face = at->pair->face, step = at->inverse.step;
  const int64_t n = at->n, between = step ? n : TESI_LANES, d = face / 2;
  const double sign = face & 1 ? 1 : -1, *row = at->inverse.matrix + d * dim * between;
  if (dim == 2) memset(at->normal + 2 * n, 0, (size_t)n * sizeof *at->normal);
  for (int64_t i = 0; i < n; i++) {
    const int64_t from = step ? i : i % TESI_LANES;
    double square = 0;
    for (int r = 0; r < dim; r++) square += row[r * between + from] * row[r * between + from];
    const double size = sqrt(square);
    at->weight[i] = i % TESI_LANES < at->count ? s->table.face_w[i / TESI_LANES] * at->det[from] * size : 0;
    for (int r = 0; r < dim; r++) at->normal[r * n + i] = sign * row[r * between + from] / size;
  }
}

/* r += factor a grad u . normal, or sigma normal, of one side, with the gradient along its coordinates in G. */
static void add_flux(TesiResidualAt *at, double factor) {
  const TesiResidual *s = at->s;
  const int dim = s->rule.dim;
  const int64_t n = at->n;
  s->loops.to_space(dim, s->components, at->points, &at->inverse, at->G);
  tesi_residual_flux(at, at->G);
  tesi_residual_take_off_thermal(at, at->G);
  for (int c = 0; c < s->components; c++)
    for (int d = 0; d < dim; d++)
      s->loops.add_product(at->points, factor, at->G + (c * dim + d) * n, at->normal + d * n, at->r + c * n);
}

static int material_of(const TesiResidual *s, int64_t cell) {
  const int64_t across = cell - s->space->cells;
  return across < 0 ? tes_mesh_material(s->space->mesh, cell) : s->names_across[across].material;
}

static void begin(TesiResidualAt *at, int64_t batch) {
  const TesiResidual *s = at->s;
  const int32_t *item = s->faces.item + batch * TESI_LANES;
  at->points = s->face_rule.points, at->n = at->points * TESI_LANES;
  at->count = 0;
  for (int l = 0; l < TESI_LANES; l++) {
    at->item[l] = tesi_cells_node(item[l]);
    at->cell[l] = s->pair[at->item[l]].cell, at->other[l] = s->pair[at->item[l]].other;
    at->count += item[l] >= 0;
  }
  at->pair = &s->pair[at->item[0]];
  at->placed =
      (at->cell[0] < s->space->cells ? s->geometry : &s->geometry_across)->kind != TES_GEOMETRY_AFFINE;
  memset(at->r, 0, (size_t)(s->components * at->n) * sizeof *at->r);
}

/* ---- boundaries ----------------------------------------------------------------------------------------------- */

void tesi_residual_leave_tangential(TesiResidualAt *at) {
  const int components = at->s->components;
  const int64_t n = at->n;
  for (int64_t i = 0; i < n; i++) {
    double along = 0;
    for (int c = 0; c < components; c++) along += at->normal[c * n + i] * at->r[c * n + i];
    for (int c = 0; c < components; c++) at->r[c * n + i] -= along * at->normal[c * n + i];
  }
}

/* On faces of the boundary `name`: turns r, the flux, into its difference from the condition. */
static bool named_faces(TesiResidualAt *at, int name) {
  const TesiResidual *s = at->s;
  const int64_t n = at->n;
  const TesiGiven *on = &s->data->given[name >= 0 ? name : tes_mesh_boundaries(s->space->mesh)];
  const double *const more[3] = {at->normal, at->normal + n, at->normal + 2 * n};
  double *const alpha = at->spare[0], *const g = at->spare[1];
  int counts = 0;
  tesi_residual_values(at, on->alpha, 0, more, alpha);
  for (int c = 0; c < s->components; c++) {
    const bool given = tesi_cells_given(s->part[c], name);
    double *const r = at->r + c * n;
    counts += !given;
    tesi_residual_values(at, given ? NULL : on->g[c], 0, more, g);
    for (int64_t i = 0; i < n; i++) r[i] = given ? 0 : r[i] + alpha[i] * at->u[c * n + i] - g[i];
  }
  if (on->how[0] == TESI_NORMAL) tesi_residual_leave_tangential(at);
  for (int d = 0; on->how[0] == TESI_FLUX && s->transports && d < s->rule.dim; d++) {
    tesi_residual_values(at, s->data->data.b[d], 0, NULL, g);
    for (int64_t i = 0; i < n; i++) at->r[i] -= g[i] * at->normal[d * n + i] * at->u[i];
  }
  return counts > 0;
}

static bool has_name(const TesiResidual *s, int64_t cell, int face, int *name) {
  const int64_t across = cell - s->space->cells;
  if (across < 0) return tesi_mesh_has_name(s->space->mesh, cell, face, name);
  *name = s->names_across[across].face;
  return *name >= 0;
}

/* The boundary of a pair, -1: without a name; or -2: none. */
static int name_of(const TesiResidual *s, const TesiFacePair *pair) {
  int name = -1;
  if (pair->other < 0) return tes_mesh_on_boundary(s->space->mesh, pair->cell, pair->face, &name) ? name : -2;
  if (has_name(s, pair->cell, pair->face, &name)) return name;
  return has_name(s, pair->other, pair->other_face, &name) ? name : -2;
}

bool tesi_residual_faces(TesiResidualAt *at, int64_t batch) {
  const TesiResidual *s = at->s;
  begin(at, batch);
  const TesiFacePair *pair = at->pair;
  const int name = name_of(s, pair);
  if (pair->other < 0 && name < -1) return false;
  place(at, false, at->x);
  normals(at);
  at->material = material_of(s, pair->cell);
  tesi_residual_read(at, s->space, false, s->components, s->u, s->u_across, at->local);
  evaluate_side(at, &s->table.side, false, s->components, at->local, at->u, at->G);
  add_flux(at, 1);
  if (pair->other >= 0) {
    place(at, true, at->spare[4]);
    at->material = material_of(s, pair->other);
    tesi_residual_read(at, s->space, true, s->components, s->u, s->u_across, at->local);
    evaluate_side(at, &s->table.side, true, s->components, at->local, NULL, at->G);
    add_flux(at, -1);
    return name < -1 || named_faces(at, name);
  }
  return s->pressure ? tesi_residual_open_face(at, name) : named_faces(at, name);
}

/* ---- batches -------------------------------------------------------------------------------------------------- */

TesStatus tesi_item_batches(TesContext *ctx, int64_t items, const uint64_t *key, TesiItemBatches *batches) {
  TesStatus status = TES_OK;
  int32_t *item = NULL;
  int64_t count = 0;
  TES_ALLOC(&item, items);
  TES_TRY(tesi_order_by_key(ctx, items, key, item));
  for (int64_t i = 0, in = 0; i < items; i++, in++) {
    if (i == 0 || in == TESI_LANES || key[item[i]] != key[item[i - 1]]) in = 0;
    count += in == 0;
  }
  TES_ALLOC(&batches->item, count * TESI_LANES);
  batches->batches = count;
  for (int64_t i = 0, b = 0; b < count; b++)
    for (int l = 0; l < TESI_LANES; l++) {
      const bool next = i < items && (l == 0 || key[item[i]] == key[item[i - 1]]);
      if (next)
        batches->item[b * TESI_LANES + l] = item[i++];
      else
        batches->item[b * TESI_LANES + l] = -1 - item[i - 1];
    }
done:
  tesi_free(ctx, &item);
  return status;
}

typedef struct Keys {
  const TesiResidual *s;
  uint64_t *key;
} Keys;

static void find_keys(const void *data, TesiSpan span) {
  const Keys *k = data;
  const TesiResidual *s = k->s;
  const uint64_t materials = (uint64_t)tes_mesh_materials(s->space->mesh) + 1,
                 names = (uint64_t)tes_mesh_boundaries(s->space->mesh) + 2;
  for (int64_t i = span.first; i < span.end; i++) {
    const TesiFacePair *p = &s->pair[i];
    const bool inside = p->other >= 0;
    uint64_t key = (uint64_t)(name_of(s, p) + 2);
    key += names * (uint64_t)(material_of(s, p->cell) + 1);
    if (inside) key += names * materials * (uint64_t)(material_of(s, p->other) + 1);
    key = key << 3 |
          (uint64_t)(inside << 2 | (p->cell >= s->space->cells) << 1 | (p->other >= s->space->cells));
    key = ((key * 6 + (uint64_t)p->face) * 6 + (uint64_t)p->other_face) * 2 + p->swapped;
    k->key[i] = (key * TESI_SIDES + (uint64_t)p->number[0]) * TESI_SIDES + (uint64_t)p->number[1];
  }
}

TesStatus tesi_residual_batches(TesiResidual *s) {
  TesContext *ctx = s->space->context;
  TesStatus status = TES_OK;
  uint64_t *key = NULL;
  TES_ALLOC(&key, s->pairs > s->space->cells ? s->pairs : s->space->cells);
  for (int64_t c = 0; c < s->space->cells; c++) key[c] = (uint64_t)(tes_mesh_material(s->space->mesh, c) + 1);
  TES_TRY(tesi_item_batches(ctx, s->space->cells, key, &s->cells));
  tesi_team_for(tesi_team_threads(ctx, 16 * s->pairs), s->pairs, find_keys, &(Keys){s, key});
  TES_TRY(tesi_item_batches(ctx, s->pairs, key, &s->faces));
done:
  tesi_free(ctx, &key);
  return status;
}
