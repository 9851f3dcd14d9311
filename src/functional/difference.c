/* See difference.h. The difference is a polynomial in each cell, and in each child of a coarsened cell; it is given by
 * its values at the nodes there. */
#include "functional/difference.h"
#include <string.h>
#include "functional/cell_rule.h"
#include "tensor/contract.h"

enum { CELL_MOST = TESI_HANGING_NODES * TESI_HANGING_NODES * TESI_HANGING_NODES };

typedef struct Difference {
  const TesiCellView *from, *to;
  const double *u, *v;
  double *b;
  TesiCellRule rule; /* of `to` */
  TesiCellPoints *at;
} Difference;

/* local <- T local, T[rows][columns] per direction. */
static void contract_all(int dim, const double *const T[3], int rows, int columns, bool transposed,
                         double *local) {
  double next[TESI_CELL_POINTS];
  const int n = transposed ? rows : columns;
  int extent[3] = {n, n, dim == 3 ? n : 1};
  for (int d = 0; d < dim; d++) {
    tesi_contract(T[d], rows, columns, transposed, extent, d, local, next);
    memcpy(local, next, (size_t)(extent[0] * extent[1] * extent[2]) * sizeof *local);
  }
}

/* From the values at the nodes of a parent to the values at the nodes of its child; transposed: the transpose of
 * that. */
static void to_child(const Difference *s, int child, bool transposed, double *local) {
  const int n = s->to->n;
  const double *T[3];
  for (int d = 0; d < 3; d++) T[d] = s->to->halves + (child >> d & 1) * n * n;
  contract_all(s->to->dim, T, n, n, transposed, local);
}

/* local <- int e phi, e by its values at the nodes; weight[points] = w |J|. */
static void weigh(const Difference *s, const double *weight, double *local) {
  double at[TESI_CELL_POINTS];
  const double *const T[3] = {s->rule.B, s->rule.B, s->rule.B};
  memcpy(at, local, (size_t)s->rule.nodes * sizeof *at);
  contract_all(s->rule.dim, T, s->rule.q, s->rule.n, false, at);
  for (int64_t p = 0; p < s->rule.points; p++) at[p] *= weight[p];
  contract_all(s->rule.dim, T, s->rule.q, s->rule.n, true, at);
  memcpy(local, at, (size_t)s->rule.nodes * sizeof *at);
}

/* w |J| of a cell at the points of one of its children. */
static TesStatus child_weights(const Difference *s, int64_t cell, int child, double *weight) {
  TesContext *ctx = s->to->context;
  TesStatus status = TES_OK;
  const TesiCellRule *r = &s->rule;
  const int dim = r->dim, q = r->q;
  for (int64_t p = 0; p < r->points; p++) {
    const int64_t at[3] = {p % q, p / q % q, p / q / q};
    double xi[3] = {0}, x[3], J[9], part = 1;
    for (int d = 0; d < dim; d++) {
      xi[d] = ((child >> d & 1) + r->point[at[d]]) / 2;
      part *= r->weight[at[d]] / 2;
    }
    TES_TRY(tesi_geometry_evaluate(r->geometry, cell, 1, xi, x, J));
    weight[p] = part * (dim == 2 ? J[0] * J[3] - J[1] * J[2]
                                 : J[0] * (J[4] * J[8] - J[5] * J[7]) - J[1] * (J[3] * J[8] - J[5] * J[6]) +
                                       J[2] * (J[3] * J[7] - J[4] * J[6]));
  }
done:
  return status;
}

/* For a cell whose children are cells of the old mesh. */
static TesStatus add_parent(const Difference *s, const TesRelation *r, int64_t cell) {
  TesContext *ctx = s->to->context;
  TesStatus status = TES_OK;
  const int nodes = s->to->cell_nodes;
  double e[CELL_MOST], v[CELL_MOST], below[CELL_MOST], sum[CELL_MOST] = {0}, weight[TESI_CELL_POINTS];
  tesi_cells_read(s->to, cell, s->v, v);
  for (int child = 0; child < 1 << s->to->dim; child++) {
    tesi_cells_read(s->from, r->from + child, s->u, e);
    memcpy(below, v, (size_t)nodes * sizeof *below);
    to_child(s, child, false, below);
    for (int i = 0; i < nodes; i++) e[i] -= below[i];
    TES_TRY(child_weights(s, cell, child, weight));
    weigh(s, weight, e);
    to_child(s, child, true, e);
    for (int i = 0; i < nodes; i++) sum[i] += e[i];
  }
  tesi_cells_add(s->to, cell, sum, s->b);
done:
  return status;
}

static TesStatus add_cell(const Difference *s, const TesRelation *r, int64_t cell) {
  double e[CELL_MOST], v[CELL_MOST];
  bool same = true;
  if (r->kinship == TES_KIN_PARENT) return add_parent(s, r, cell);
  tesi_cells_read(s->from, r->from, s->u, e);
  tesi_cells_read(s->to, cell, s->v, v);
  if (r->kinship == TES_KIN_CHILD) to_child(s, r->child, false, e);
  for (int i = 0; i < s->to->cell_nodes; i++) {
    e[i] -= v[i];
    same = same && e[i] == 0;
  }
  if (same) return TES_OK;
  tesi_cell_points(&s->rule, cell, s->at);
  weigh(s, s->at->weight, e);
  tesi_cells_add(s->to, cell, e, s->b);
  return TES_OK;
}

TesStatus tesi_functional_difference(const TesSpace *from, const double *u, const TesSpace *to,
                                     const double *v, double *b) {
  TesContext *ctx = to->context;
  TesStatus status = TES_OK;
  TesRelation *relation = NULL;
  Difference s = {.u = u, .v = v, .b = b};
  TES_TRY(tesi_space_cells(from, &s.from));
  TES_TRY(tesi_space_cells(to, &s.to));
  TES_CHECK(from->degree == to->degree && to->degree <= TESI_FOREST_DEGREE,
            "degrees %d and %d: functions of one degree up to %d are projected", from->degree, to->degree,
            TESI_FOREST_DEGREE);
  TES_ALLOC(&relation, s.to->cells);
  TES_ALLOC(&s.at, 1);
  TES_TRY(tes_mesh_relate(from->mesh, to->mesh, relation));
  TES_TRY(tesi_cell_rule(s.to, to->degree + 2, &s.rule));
  memset(b, 0, (size_t)s.to->length * sizeof *b);
  for (int64_t c = 0; c < s.to->cells; c++) TES_TRY(add_cell(&s, &relation[c], c));
  tesi_exchange_sum(s.to->layout->shared, TES_DOUBLE, b);
done:
  tesi_free(ctx, &relation);
  tesi_free(ctx, &s.at);
  return status;
}
