#include "geometry/normals.h"
#include <math.h>
#include <string.h>
#include "base/team.h"
#include "mesh/mesh.h"
#include "parallel/comm.h"

/* Files have coordinates of six digits or more, so normals of one plane differ by less than STRAIGHT. Where the angle
 * between two planes is smaller than 30 degrees, they belong to a curved face. */
#define STRAIGHT 4.5e-5
#define SMOOTH 0.866

enum { PLANES = (int)(sizeof((TesiNormals *)0)->plane / sizeof *((TesiNormals *)0)->plane) };

static void add_normal(const double *n, TesiNormals *normals) {
  for (int k = 0; k < normals->planes; k++) {
    const double *of = normals->plane[k], apart[3] = {n[0] - of[0], n[1] - of[1], n[2] - of[2]};
    if (apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2] < STRAIGHT * STRAIGHT) return;
    normals->curved = normals->curved || of[0] * n[0] + of[1] * n[1] + of[2] * n[2] > SMOOTH;
  }
  for (int d = 0; d < 3; d++) normals->axes |= (unsigned)(fabs(n[d]) > STRAIGHT) << d;
  if (normals->planes < PLANES)
    memcpy(normals->plane[normals->planes++], n, sizeof normals->plane[0]);
  else
    normals->curved = true;
}

static void add_normals(const TesiNormals *from, TesiNormals *to) {
  for (int k = 0; k < from->planes; k++) add_normal(from->plane[k], to);
  to->axes |= from->axes;
  to->curved = to->curved || from->curved;
}

typedef struct Cells {
  const TesMesh *mesh;
  const TesiGeometry *geometry;
  int boundaries;
  TesiNormals *of; /* [threads][boundaries] */
  TesStatus *status;
} Cells;

/* At points near the corners of a face, so that normals of a curved face differ. */
static TesStatus look_at_face(const Cells *c, int64_t cell, int face, TesiNormals *normals) {
  const int dim = c->mesh->dim, points = dim == 3 ? 4 : 2;
  double xi[12], x[12], J[36];
  for (int p = 0; p < points; p++)
    for (int d = 0, e = 0; d < dim; d++)
      xi[p * dim + d] = d == face / 2 ? face & 1 : 0.1 + 0.8 * (p >> e++ & 1);
  const TesStatus status = tesi_geometry_evaluate(c->geometry, cell, points, xi, x, J);
  for (int p = 0; p < points && status == TES_OK; p++) {
    double n[3] = {0};
    tesi_face_normal(dim, J + p * dim * dim, face, n);
    const double size = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int d = 0; d < dim; d++) n[d] /= size;
    add_normal(n, normals);
  }
  return status;
}

static void look_at_cells(const void *data, TesiSpan span) {
  const Cells *c = data;
  TesStatus status = TES_OK;
  for (int64_t cell = span.first; cell < span.end; cell++)
    for (int face = 0, name; face < 2 * c->mesh->dim; face++)
      if (tes_mesh_on_boundary(c->mesh, cell, face, &name) && name >= 0 && status == TES_OK)
        status = look_at_face(c, cell, face, &c->of[(int64_t)span.thread * c->boundaries + name]);
  c->status[span.thread] = status;
}

/* Boundary d of a box, in the order of TesFace, is normal to direction d / 2; it has no faces if it is periodic. */
static void take_faces_of_box(const TesMesh *mesh, TesiNormals *normals) {
  for (int face = 0; face < 2 * mesh->dim; face++) {
    double n[3] = {0};
    n[face / 2] = face & 1 ? 1 : -1;
    if (!mesh->box_periodic[face / 2]) add_normal(n, &normals[face]);
  }
}

/* In the order of ranks, so that all ranks get the same. */
static TesStatus add_ranks(TesContext *ctx, int boundaries, TesiNormals *normals) {
  TesStatus status = TES_OK;
  TesiNormals *of = NULL, *sum = NULL;
  const size_t bytes = (size_t)boundaries * sizeof *normals;
  if (tesi_ranks(ctx) == 1) return TES_OK;
  TES_ALLOC(&of, boundaries + 1);
  TES_ALLOC(&sum, boundaries + 1);
  for (int rank = 0; rank < tesi_ranks(ctx); rank++) {
    memcpy(of, normals, bytes);
    tesi_broadcast(ctx, rank, (int64_t)bytes, of);
    for (int b = 0; b < boundaries; b++) add_normals(&of[b], &sum[b]);
  }
  memcpy(normals, sum, bytes);
done:
  tesi_free(ctx, &of);
  tesi_free(ctx, &sum);
  return status;
}

TesStatus tesi_mesh_normals(const TesMesh *mesh, TesiNormals *normals) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  const int boundaries = tes_mesh_boundaries(mesh), threads = tesi_team_threads(ctx, 10 * mesh->cells);
  Cells c = {.mesh = mesh, .boundaries = boundaries};
  memset(normals, 0, (size_t)boundaries * sizeof *normals);
  if (mesh->kind == TES_MESH_BOX) {
    take_faces_of_box(mesh, normals);
    return TES_OK;
  }
  TES_TRY(tesi_mesh_geometry(mesh, &c.geometry));
  TES_ALLOC(&c.of, (int64_t)threads * boundaries + 1);
  TES_ALLOC(&c.status, threads);
  tesi_team_for(threads, mesh->cells, look_at_cells, &c);
  for (int t = 0; t < threads; t++) {
    TES_TRY(c.status[t]);
    for (int b = 0; b < boundaries; b++) add_normals(&c.of[(int64_t)t * boundaries + b], &normals[b]);
  }
done:
  status = tesi_agree(ctx, status);
  if (status == TES_OK) status = add_ranks(ctx, boundaries, normals);
  tesi_free(ctx, &c.of);
  tesi_free(ctx, &c.status);
  return status;
}
