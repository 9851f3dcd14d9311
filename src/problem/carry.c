/* Functions from mesh to mesh, and degree to degree. */
#include <math.h>
#include <string.h>
#include "basis/lagrange.h"
#include "problem/estimate.h"

/* Where the new cell's node stands: cell of `from`, and its reference coordinates there. */
static void locate(const TesRelation *r, int dim, const double *node, double *xi, int64_t *cell) {
  *cell = r->from;
  for (int d = 0; d < dim; d++) {
    if (r->kinship == TES_KIN_CHILD) {
      xi[d] = ((r->child >> d & 1) + node[d]) / 2;
    } else if (r->kinship == TES_KIN_PARENT) {
      const int upper = node[d] > 0.5;
      *cell += upper << d;
      xi[d] = 2 * node[d] - upper;
    } else {
      xi[d] = node[d];
    }
  }
}

static void carry_cell(const TesiCellView *from, const double *u, const TesiCellView *to,
                       const TesRelation *r, int64_t cell, double *v) {
  const int n = to->n;
  double local[TESI_CELL_MOST];
  int64_t last = -1, source;
  for (int p = 0; p < to->cell_nodes; p++) {
    const int at[3] = {p % n, p / n % n, p / n / n};
    const double node[3] = {to->node[at[0]], to->node[at[1]], to->node[at[2]]};
    const int32_t i = to->index[cell * to->cell_nodes + p];
    double xi[3];
    if (tesi_hanging_directions(to->dim, n, to->mask[cell], at)) continue;
    locate(r, to->dim, node, xi, &source);
    if (source != last) tesi_cells_read(from, source, u, local);
    last = source;
    tesi_local_values(to->dim, from->degree, local, 1, xi, &v[i < 0 ? ~i : i], NULL);
  }
}

TesStatus tes_space_carry(const TesSpace *old, const double *u, const TesSpace *space, double *v) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const TesiCellView *from, *to;
  TesRelation *relation = NULL;
  TES_TRY(tesi_space_cells(old, &from));
  TES_TRY(tesi_space_cells(space, &to));
  TES_ALLOC(&relation, to->cells);
  if (from->mesh == to->mesh)
    for (int64_t c = 0; c < to->cells; c++)
      relation[c] = (TesRelation){.from = (int32_t)c, .kinship = TES_KIN_SAME};
  else
    TES_TRY(tes_mesh_relate(from->mesh, to->mesh, relation));
  for (int64_t c = 0; c < to->cells; c++) carry_cell(from, u, to, &relation[c], c, v);
done:
  tesi_free(ctx, &relation);
  return status;
}
