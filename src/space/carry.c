/* Moves functions to another mesh or another degree. */
#include <math.h>
#include <string.h>
#include "base/team.h"
#include "basis/lagrange.h"
#include "device/vector.h"
#include "mesh/mesh.h"
#include "space/space.h"
#include "tensor/contract.h"

enum { CELL_MOST = TESI_HANGING_NODES * TESI_HANGING_NODES * TESI_HANGING_NODES };

/* ---- forests ------------------------------------------------------------------------------------------- */

/* The place of a new node: cell of `from`, and reference coordinates in it. */
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

/* If the new cell is an old cell or its child and the degree is the same, all nodes are moved at once. */
static void carry_same(const TesiCellView *from, const double *u, const TesiCellView *to,
                       const TesRelation *r, int64_t cell, double *v) {
  const int n = to->n, nodes = to->cell_nodes;
  const int32_t *index = to->index + cell * nodes;
  double local[CELL_MOST], next[CELL_MOST];
  int extent[3] = {n, n, to->dim == 3 ? n : 1};
  tesi_cells_read(from, r->from, u, local);
  for (int d = 0; d < to->dim && r->kinship == TES_KIN_CHILD; d++) {
    tesi_contract(to->halves + (r->child >> d & 1) * n * n, n, n, false, extent, d, local, next);
    memcpy(local, next, (size_t)nodes * sizeof *local);
  }
  for (int p = 0; p < nodes; p++)
    if (!tesi_hanging_directions(to->dim, n, to->mask[cell], (const int[3]){p % n, p / n % n, p / n / n}))
      v[tesi_cells_node(index[p])] = local[p];
}

static void carry_cell(const TesiCellView *from, const double *u, const TesiCellView *to,
                       const TesRelation *r, int64_t cell, double *v) {
  const int n = to->n;
  double local[CELL_MOST];
  int64_t last = -1, source;
  if (r->kinship != TES_KIN_PARENT && from->degree == to->degree) {
    carry_same(from, u, to, r, cell, v);
    return;
  }
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

/* Nodes that hang in all cells of this rank get their values from other ranks; all copies agree. */
static TesStatus share_values(const TesiCellView *s, double *v) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  double *known = NULL;
  if (!s->layout->shared) return TES_OK;
  TES_ALLOC(&known, s->length);
  for (int64_t i = 0; i < s->length; i++) known[i] = !isnan(v[i]);
  tesi_exchange_mean(s->layout->shared, known, v);
done:
  tesi_free(ctx, &known);
  return status;
}

static TesStatus carry_cells(const TesSpace *old, const double *u, const TesSpace *space, double *v) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const TesiCellView *from, *to;
  TesRelation *relation = NULL;
  TES_TRY(tesi_space_cells(old, &from));
  TES_TRY(tesi_space_cells(space, &to));
  TES_CHECK(from->cell_nodes <= CELL_MOST && to->cell_nodes <= CELL_MOST,
            "functions are carried between spaces to degree %d", TESI_HANGING_NODES - 1);
  TES_ALLOC(&relation, to->cells);
  if (from->mesh == to->mesh)
    for (int64_t c = 0; c < to->cells; c++)
      relation[c] = (TesRelation){.from = (int32_t)c, .kinship = TES_KIN_SAME};
  else
    TES_TRY(tes_mesh_relate(from->mesh, to->mesh, relation));
  for (int64_t i = 0; to->layout->shared && i < to->length; i++) v[i] = NAN;
  for (int64_t c = 0; c < to->cells; c++) carry_cell(from, u, to, &relation[c], c, v);
  TES_TRY(share_values(to, v));
done:
  tesi_free(ctx, &relation);
  return status;
}

/* ---- boxes --------------------------------------------------------------------------------------------- */

/* The values of the basis functions of one direction at the nodes of another axis. Node i has the values of functions
 * first[i] .. first[i] + degree. */
typedef struct Line {
  int n;          /* degree + 1 */
  int64_t *first; /* [nodes] */
  double *value;  /* [nodes][n] */
} Line;

static TesStatus make_line(TesContext *ctx, const TesiAxis *from, const TesiAxis *to, Line *line) {
  TesStatus status = TES_OK;
  double node[TESI_MAX_POINTS] = {0};
  int cell = 0;
  line->n = from->degree + 1;
  TES_ALLOC(&line->first, to->nodes);
  TES_ALLOC(&line->value, to->nodes * line->n);
  if (from->degree) tesi_gauss_lobatto(line->n, node, NULL);
  for (int i = 0; i < to->nodes; i++) {
    line->value[(int64_t)i * line->n] = 1;
    if (!from->degree) continue; /* a direction that does not exist */
    while (cell + 1 < from->cells && to->x[i] >= from->x[(cell + 1) * from->degree]) cell++;
    const double xi = (to->x[i] - from->x[cell * from->degree]) / from->h[cell];
    line->first[i] = (int64_t)cell * from->degree;
    tesi_lagrange(line->n, node, 1, &xi, line->value + (int64_t)i * line->n, NULL);
  }
done:
  return status;
}

/* The i-th node from the first that node `at` reads; the last node of a periodic direction is its first. */
static int64_t node_of(const Line *line, int64_t at, int i, const TesiAxis *from) {
  const int64_t node = line->first[at] + i;
  return node == from->nodes ? 0 : node;
}

static double point_value(const Line line[3], const int64_t at[3], const TesiAxis *from, const double *u) {
  double sum = 0;
  for (int k = 0; k < line[2].n; k++)
    for (int j = 0; j < line[1].n; j++) {
      const double *row =
          u + (node_of(&line[2], at[2], k, &from[2]) * from[1].nodes + node_of(&line[1], at[1], j, &from[1])) *
                  from[0].nodes;
      const double weight = line[2].value[at[2] * line[2].n + k] * line[1].value[at[1] * line[1].n + j];
      for (int i = 0; i < line[0].n; i++)
        sum += weight * line[0].value[at[0] * line[0].n + i] * row[node_of(&line[0], at[0], i, &from[0])];
    }
  return sum;
}

typedef struct Carry {
  const TesSpace *from, *to;
  const Line *line; /* [3] */
  const double *u;
  double *v;
} Carry;

static void carry_nodes(const void *data, TesiSpan span) {
  const Carry *c = data;
  const int64_t nx = c->to->axis[0].nodes, ny = c->to->axis[1].nodes;
  for (int64_t i = span.first; i < span.end; i++)
    c->v[i] = point_value(c->line, (const int64_t[3]){i % nx, i / nx % ny, i / nx / ny}, c->from->axis, c->u);
}

static TesStatus carry_box(const TesSpace *from, const double *u, const TesSpace *to, double *v) {
  TesContext *ctx = to->context;
  TesStatus status = TES_OK;
  Line line[3] = {{0}};
  for (int d = 0; d < 3; d++) TES_TRY(make_line(ctx, &from->axis[d], &to->axis[d], &line[d]));
  tesi_team_for(tesi_team_threads(ctx, 16 * to->length), to->length, carry_nodes,
                &(Carry){from, to, line, u, v});
done:
  for (int d = 0; d < 3; d++) {
    tesi_free(ctx, &line[d].first);
    tesi_free(ctx, &line[d].value);
  }
  return status;
}

/* Whether two boxes cover the same domain. */
static bool same_corners(const TesMesh *a, const TesMesh *b) {
  bool same = a->dim == b->dim;
  for (int d = 0; d < a->dim && same; d++) {
    const double *x = a->coordinates[d], *y = b->coordinates[d], round_off = 1e-12 * (x[a->box[d]] - x[0]);
    same = fabs(x[0] - y[0]) <= round_off && fabs(x[a->box[d]] - y[b->box[d]]) <= round_off;
  }
  return same;
}

/* -------------------------------------------------------------------------------------------------------- */

static TesStatus check(const TesSpace *from, const TesVector *u, const TesSpace *to, const TesVector *v) {
  TesContext *ctx = to->context;
  TesStatus status = TES_OK;
  const bool box = from->mesh->kind == TES_MESH_BOX;
  TES_CHECK(u->length == from->length && v->length == to->length && u->precision == TES_DOUBLE &&
                v->precision == TES_DOUBLE,
            "a function is carried between float64 vectors of its two spaces");
  TES_CHECK(from->scalars == to->scalars, "a function of %d components is carried to a space of %d",
            from->scalars, to->scalars);
  TES_CHECK(from->mesh->kind == to->mesh->kind, "a function is carried between meshes of one kind");
  TES_CHECK(!box || same_corners(from->mesh, to->mesh),
            "a function is carried between boxes with the same corners");
  TES_CHECK(from->element == to->element, "a function is carried between spaces of one element");
  for (int d = 0; d < to->dim; d++)
    TES_CHECK(from->mesh->box_periodic[d] == to->mesh->box_periodic[d],
              "a function is carried between boxes that are periodic in the same directions");
  for (int d = 0; d < to->dim && !to->element->nodal; d++)
    TES_CHECK(from->mesh->box[d] == to->mesh->box[d],
              "functions of element rt are carried between degrees, on the same cells");
done:
  return status;
}

TesStatus tes_space_carry(const TesSpace *from, const TesVector *u, const TesSpace *to, TesVector *v) {
  TesContext *ctx = to->context;
  TesStatus status = TES_OK;
  double *in = NULL, *out = NULL;
  const bool box = from->mesh->kind == TES_MESH_BOX;
  TES_TRY(check(from, u, to, v));
  TES_ALLOC(&out, to->length);
  TES_TRY(tesi_vector_read(u, &in));
  if (!to->element->nodal) TES_TRY(tesi_rt_carry(from, in, to, out));
  for (int i = 0; i < to->scalars && to->element->nodal; i++)
    TES_TRY((box ? carry_box : carry_cells)(from->scalar[i], in + from->first[i], to->scalar[i],
                                            out + to->first[i]));
  TES_TRY(tes_vector_set(v, out));
done:
  tesi_free(ctx, &in);
  tesi_free(ctx, &out);
  return status;
}
