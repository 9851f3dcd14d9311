/* Kinks of the mesh at the point of a goal: the polynomial faces of cells that meet on a smooth face of the body form
 * an angle. The stress near a kink behaves as at a corner: at 27 degrees it grows by a sixth with each refinement. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/grow.h"
#include "geometry/locate.h"
#include "problem/adapt/estimate.h"
#include "space/face_nodes.h"

/* Sines of angles: 1 degree is reported; from 30 degrees on it is an edge of the body. */
#define TOLD 0.0175
#define EDGE 0.5

typedef struct Entry {
  int64_t node;
  double x[3], n[3];
} Entry;

/* Nodes of faces near a point. */
typedef struct Near {
  TesContext *context;
  int dim;
  const double *point;
  double reach;
  Entry *entry;
  int64_t count, room;
  TesStatus status;
} Near;

static double distance(int dim, const double *x, const double *y) {
  double square = 0;
  for (int d = 0; d < dim; d++) square += (x[d] - y[d]) * (x[d] - y[d]);
  return sqrt(square);
}

static void add(void *user, int64_t node, int boundary, const double *x, const double *normal) {
  Near *s = user;
  static const double zero[3] = {0};
  const double size = distance(s->dim, normal, zero);
  (void)boundary;
  if (distance(s->dim, x, s->point) > s->reach || s->status != TES_OK) return;
  s->status = tesi_grow(s->context, &s->entry, sizeof *s->entry, s->count, s->count + 1, &s->room);
  if (s->status != TES_OK) return;
  Entry *e = &s->entry[s->count++];
  *e = (Entry){.node = node};
  for (int d = 0; d < s->dim; d++) e->x[d] = x[d], e->n[d] = normal[d] / size;
}

/* The largest sine of an angle below EDGE between faces at a node; *entry: the node's entry. */
static double largest_kink(const Near *s, const Entry **at) {
  double largest = 0;
  for (int64_t i = 0; i < s->count; i++)
    for (int64_t j = 0; j < i; j++) {
      const double *a = s->entry[i].n, *b = s->entry[j].n;
      if (s->entry[i].node != s->entry[j].node) continue;
      const double sine = 2 * sqrt(fmax(0, (1 - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]) / 2));
      if (sine < EDGE && sine > largest) largest = sine, *at = &s->entry[i];
    }
  return largest;
}

/* The largest distance between corners of a cell. */
static TesStatus find_reach(const TesMesh *mesh, int64_t cell, double *reach) {
  double xi[24], x[24];
  const int dim = mesh->dim, corners = 1 << dim;
  for (int i = 0; i < corners * dim; i++) xi[i] = i / dim >> i % dim & 1;
  const TesStatus status = tesi_mesh_points(mesh, cell, corners, xi, x, NULL);
  *reach = 0;
  for (int i = 0; i < corners && status == TES_OK; i++)
    for (int j = 0; j < i; j++) *reach = fmax(*reach, distance(dim, x + i * dim, x + j * dim));
  return status;
}

static void tell(const Near *s, double kink, const double *x) {
  char z[40] = "";
  double place[3];
  for (int d = 0; d < 3; d++) place[d] = fabs(x[d]) < 1e-9 * s->reach ? 0 : x[d];
  if (s->dim == 3) snprintf(z, sizeof z, ", %.6g", place[2]);
  tesi_log(s->context, TES_LOG_WARNING,
           "warning: adapt.goal: cells meet at an angle of %.2g degrees at (%.6g, %.6g%s), next to the "
           "point. Where the "
           "body is smooth, the goal is that of a corner that the body has not, and does not converge: give "
           "the mesh "
           "smaller cells there, or cells of a higher degree",
           57.29577951308232 * kink, place[0], place[1], z);
}

TesStatus tesi_goal_tell_kinks(const TesProblem *p, const TesValue *goal) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesMesh *mesh = p->mesh;
  const TesiCellView *view;
  const TesiGeometry *geometry;
  const Entry *at = NULL;
  Near s = {.context = ctx, .dim = mesh->dim, .point = goal->point};
  TesiHit *hit = NULL;
  int64_t hits;
  if (mesh->kind == TES_MESH_BOX || tesi_ranks(ctx) > 1) return TES_OK;
  TES_TRY(tesi_mesh_find(mesh, 1, goal->point, 0.01, &hit, &hits));
  if (!hits) goto done;
  TES_TRY(find_reach(mesh, hit[0].cell, &s.reach));
  TES_TRY(tesi_mesh_geometry(mesh, &geometry));
  TES_TRY(tesi_space_cells(p->space->part[0], &view));
  for (int64_t c = 0; c < view->cells; c++)
    for (int f = 0, name; f < 2 * mesh->dim; f++)
      if (tes_mesh_on_boundary(mesh, c, f, &name))
        TES_TRY(tesi_face_nodes(view, geometry, c, f, name, add, &s));
  TES_TRY(s.status);
  const double kink = largest_kink(&s, &at);
  if (kink > TOLD) tell(&s, kink, at->x);
done:
  tesi_free(ctx, &s.entry);
  tesi_free(ctx, &hit);
  return status;
}
