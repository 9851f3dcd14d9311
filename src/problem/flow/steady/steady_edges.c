/* Pressures at edges and corners of walls: the weights W of steady_schur.h. */
#include <math.h>
#include "parallel/comm.h"
#include "problem/flow/split/split.h"
#include "problem/flow/steady/steady_schur.h"

static bool is_wall(const TesProblem *p, int boundary) {
  const TesiGiven *given = p->numbered.given;
  bool wall = boundary >= 0 && boundary < tesi_split_of(p)->walls.boundaries;
  if (!given) return true; /* nothing was asked for */
  for (int c = 0; c < p->mesh->dim && wall; c++) wall = given[boundary].how[c] == TESI_STRONG;
  return wall;
}

/* Sets factor[node] at the nodes of a cell that are on two or more walls. sides: bit f, face f is a wall. */
static bool mark_cell(const TesiCellView *view, int64_t cell, unsigned sides, double *factor) {
  const int n = view->n;
  bool any = false;
  for (int64_t i = 0; i < view->cell_nodes; i++) {
    const int64_t at[3] = {i % n, i / n % n, i / n / n};
    int walls = 0;
    for (int d = 0; d < view->dim; d++)
      walls += (at[d] == 0 && sides >> 2 * d & 1) || (at[d] == n - 1 && sides >> (2 * d + 1) & 1);
    if (walls < 2) continue;
    double *f = &factor[tesi_cells_node(view->index[cell * view->cell_nodes + i])];
    *f = fmax(*f, sqrt(1 << (walls - 1)));
    any = true;
  }
  return any;
}

TesStatus tesi_steady_edges(const TesProblem *p, TesVector **factor) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiSplit *pr = tesi_split_of(p);
  const TesSpace *pressure = pr->taylor_hood->pressure;
  const int names = tes_mesh_boundaries(p->mesh);
  const TesiCellView *view;
  TesiBoundaryFace *face = NULL;
  bool *wanted = NULL;
  uint8_t *sides = NULL; /* of cells */
  double *values = NULL, any = 0;
  int64_t count = 0;
  *factor = NULL;
  TES_ALLOC(&wanted, names + 1);
  TES_ALLOC(&values, pressure->length);
  for (int b = 0; b <= names; b++) wanted[b] = is_wall(p, b);
  for (int64_t i = 0; i < pressure->length; i++) values[i] = 1;
  TES_TRY(tesi_space_cells(pressure, &view));
  TES_TRY(tesi_boundary_faces(pr->taylor_hood->p, wanted, false, &face, &count));
  TES_ALLOC(&sides, view->cells);
  for (int64_t f = 0; f < count; f++) sides[face[f].cell] |= (uint8_t)(1u << face[f].face);
  for (int64_t cell = 0; cell < view->cells; cell++)
    if (sides[cell] & (sides[cell] - 1) && mark_cell(view, cell, sides[cell], values)) any = 1;
  tesi_reduce(ctx, TESI_MAXIMUM, 1, &any);
  if (!(any > 0)) goto done;
  tesi_exchange_begin(pressure->layout->shared, TES_DOUBLE, values);
  tesi_exchange_end(pressure->layout->shared, TESI_MAXIMUM, TES_DOUBLE, values);
  TES_TRY(tesi_vector_create_on(pressure->layout, TES_DOUBLE, factor));
  TES_TRY(tes_vector_set(*factor, values));
done:
  tesi_free(ctx, &wanted);
  tesi_free(ctx, &values);
  tesi_free(ctx, &face);
  tesi_free(ctx, &sides);
  return status;
}
