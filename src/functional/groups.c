#include "functional/groups.h"
#include <math.h>
#include <string.h>
#include "functional/batch_faces.h"
#include "mesh/group_owners.h"

/* The direction along an edge; -1: a corner. */
static int free_direction(int dim, int at) {
  for (int d = 0; d < dim; d++, at /= 3)
    if (at % 3 == 1) return d;
  return -1;
}

int tesi_group_points(const TesiGeometry *geometry, int64_t cell, int at, int q, const double *point,
                      const double *weight, double *x, double *w) {
  const int dim = geometry->dim, along = free_direction(dim, at), n = along < 0 ? 1 : q;
  for (int p = 0; p < n; p++) {
    double xi[3] = {0}, to[3] = {0}, J[9], length = 0;
    for (int d = 0, t = at; d < dim; d++, t /= 3) xi[d] = d == along ? point[p] : t % 3 == 2;
    w[p] = tesi_geometry_evaluate(geometry, cell, 1, xi, to, J) == TES_OK ? 1 : NAN;
    for (int d = 0; d < 3; d++) x[d * n + p] = to[d];
    if (along < 0) continue;
    for (int r = 0; r < dim; r++) length += J[r * dim + along] * J[r * dim + along];
    w[p] *= weight[p] * sqrt(length);
  }
  return n;
}

/* values += int g phi over an edge or corner of a cell. */
static TesStatus add_part(const TesiBatches *b, int64_t cell, int at, const TesFunction *g, double *values) {
  double x[3 * TESI_MAX_POINTS], w[TESI_MAX_POINTS], value[TESI_MAX_POINTS], local[TESI_CELL_MOST];
  const TesiCellView *s = b->view;
  const int along = free_direction(b->dim, at),
            n = tesi_group_points(b->geometry, cell, at, b->q, b->point, b->weight, x, w);
  const TesStatus status = tesi_boundary_values(g, n, x, NULL, value);
  if (status != TES_OK) return status;
  memset(local, 0, (size_t)s->cell_nodes * sizeof *local);
  for (int a = 0; a < (along < 0 ? 1 : s->n); a++) {
    int node = 0;
    double sum = along < 0 ? w[0] * value[0] : 0;
    for (int d = 0, t = at, step = 1; d < b->dim; d++, t /= 3, step *= s->n)
      node += step * (d == along ? a : t % 3 == 2 ? s->n - 1 : 0);
    for (int p = 0; p < n && along >= 0; p++) sum += w[p] * value[p] * b->B[p * s->n + a];
    local[node] = sum;
  }
  tesi_cells_add(s, cell, local, values);
  return TES_OK;
}

TesStatus tesi_groups_add(const TesiBatches *b, const TesFunction *const *g, bool *any, double *values) {
  TesContext *ctx = b->context;
  TesStatus status = TES_OK;
  const TesMesh *mesh = b->space->mesh;
  bool *counts = NULL;
  *any = false;
  for (int64_t i = 0; mesh->coarse && i < mesh->coarse->parts; i++)
    *any = *any || g[mesh->coarse->part[i].boundary];
  if (!*any) return TES_OK;
  TES_TRY(tesi_mesh_group_owners(mesh, &counts));
  for (int64_t c = 0; c < b->view->cells; c++)
    for (int64_t i = -1; (i = tesi_mesh_next_part(mesh, c, i)) >= 0;) {
      const TesTreePart *part = &mesh->coarse->part[i];
      if (counts[i] && g[part->boundary]) TES_TRY(add_part(b, c, part->at, g[part->boundary], values));
    }
done:
  tesi_free(ctx, &counts);
  return status;
}
