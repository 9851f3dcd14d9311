/* The entries of A and of B are found by products with unit vectors (for A: operator/assembled/probe.c). For B, nodes
 * are taken together if no two of them share a pressure; then the divergence of the sum of their unit vectors has one
 * entry of B in each row. */
#include "problem/flow/steady/steady_direct.h"
#include <string.h>
#include "multigrid/coarse/factorization.h"
#include "operator/assembled/matrix.h"
#include "problem/flow/split/split.h"

struct TesiSteadyDirect {
  TesContext *context;
  int64_t n, held; /* length of the system; index of the pressure that is 0, -1: none */
  double *x;       /* host */
  TesiFactorization *factors;
};

/* ---- the pattern of B, and colours --------------------------------------------------------------------- */

/* Velocities and pressures of cells. */
typedef struct Divergence {
  const TesProblem *problem;
  TesContext *context;
  const TesiCellView *velocity, *pressure;
  TesiMatrix B, T; /* pattern for one component, without values; T: pattern of the transpose */
  int32_t *colour; /* [nodes of velocity] */
  int64_t *first;  /* [colours + 1] entries by colour of their columns: place[first[c]] .. */
  int64_t *place;  /* [entries] */
  int32_t *row_of; /* [entries] */
  int colours;
} Divergence;

static void free_divergence(Divergence *v) {
  TesContext *ctx = v->context;
  tesi_matrix_destroy(ctx, &v->B);
  tesi_matrix_destroy(ctx, &v->T);
  tesi_free(ctx, &v->colour);
  tesi_free(ctx, &v->first);
  tesi_free(ctx, &v->place);
  tesi_free(ctx, &v->row_of);
}

/* A node of a cell, whether its value is given or not. */
static int64_t node_of(const TesiCellView *view, int64_t cell, int64_t i) {
  const int32_t index = view->index[cell * view->cell_nodes + i];
  return index < 0 ? -1 - index : index;
}

/* cells of a pressure: cell[first[i]] .. */
static TesStatus find_cells(const TesiCellView *view, TesContext *ctx, int64_t **first, int32_t **cell) {
  TesStatus status = TES_OK;
  TES_ALLOC(first, view->length + 2);
  TES_ALLOC(cell, view->cells * view->cell_nodes);
  for (int64_t c = 0; c < view->cells; c++)
    for (int64_t i = 0; i < view->cell_nodes; i++) (*first)[node_of(view, c, i) + 2]++;
  for (int64_t i = 0; i < view->length; i++) (*first)[i + 2] += (*first)[i + 1];
  for (int64_t c = 0; c < view->cells; c++)
    for (int64_t i = 0; i < view->cell_nodes; i++) (*cell)[(*first)[node_of(view, c, i) + 1]++] = (int32_t)c;
done:
  return status;
}

/* Rows of B: the velocities of all cells of a pressure, each listed once. */
static TesStatus find_rows(Divergence *v) {
  TesContext *ctx = v->context;
  TesStatus status = TES_OK;
  const TesiCellView *u = v->velocity, *p = v->pressure;
  int64_t *first = NULL, *seen = NULL, count = 0;
  int32_t *cell = NULL;
  TES_TRY(find_cells(p, ctx, &first, &cell));
  TES_ALLOC(&seen, u->length);
  TES_ALLOC(&v->B.row, p->length + 1);
  TES_ALLOC(&v->B.column, p->cells * p->cell_nodes * u->cell_nodes);
  v->B.rows = p->length;
  for (int64_t i = 0; i < p->length; i++) {
    for (int64_t k = first[i]; k < first[i + 1]; k++)
      for (int64_t j = 0; j < u->cell_nodes; j++) {
        const int64_t node = node_of(u, cell[k], j);
        if (seen[node] != i + 1) seen[node] = i + 1, v->B.column[count++] = (int32_t)node;
      }
    v->B.row[i + 1] = count;
  }
  v->B.entries = count;
done:
  tesi_free(ctx, &first);
  tesi_free(ctx, &seen);
  tesi_free(ctx, &cell);
  return status;
}

/* Nodes that share a pressure have different colours: each node gets the lowest free colour. */
static TesStatus colour_nodes(Divergence *v) {
  TesContext *ctx = v->context;
  TesStatus status = TES_OK;
  const int64_t nodes = v->velocity->length;
  int64_t *used = NULL;
  TES_ALLOC(&used, nodes + 1);
  TES_ALLOC(&v->colour, nodes);
  for (int64_t j = 0; j < nodes; j++) v->colour[j] = -1;
  for (int64_t j = 0; j < nodes; j++) {
    int32_t colour = 0;
    for (int64_t k = v->T.row[j]; k < v->T.row[j + 1]; k++)
      for (int64_t e = v->B.row[v->T.column[k]]; e < v->B.row[v->T.column[k] + 1]; e++)
        if (v->colour[v->B.column[e]] >= 0) used[v->colour[v->B.column[e]]] = j + 1;
    while (used[colour] == j + 1) colour++;
    v->colour[j] = colour;
    v->colours = tesi_max(v->colours, colour + 1);
  }
done:
  tesi_free(ctx, &used);
  return status;
}

/* ---- the system ---------------------------------------------------------------------------------------- */

/* K <- (A; -s B), a complete lower triangle; the entries of B have no values yet. */
static TesStatus join(const Divergence *v, const TesiMatrix *A, TesiMatrix *K) {
  TesContext *ctx = v->context;
  TesStatus status = TES_OK;
  const int dim = v->problem->mesh->dim;
  const TesiMatrix *B = &v->B;
  K->rows = A->rows + B->rows, K->entries = A->entries + dim * B->entries;
  TES_CHECK(K->rows < INT32_MAX, "%lld unknowns are too many for sparse factors", (long long)K->rows);
  TES_ALLOC(&K->row, K->rows + 1);
  TES_ALLOC(&K->column, K->entries);
  TES_ALLOC(&K->value, K->entries);
  memcpy(K->row, A->row, (size_t)(A->rows + 1) * sizeof *A->row);
  memcpy(K->column, A->column, (size_t)A->entries * sizeof *A->column);
  memcpy(K->value, A->value, (size_t)A->entries * sizeof *A->value);
  for (int64_t i = 0; i < B->rows; i++) {
    int64_t at = K->row[A->rows + i];
    for (int d = 0; d < dim; d++)
      for (int64_t e = B->row[i]; e < B->row[i + 1]; e++)
        K->column[at++] = (int32_t)(d * v->velocity->length + B->column[e]);
    K->row[A->rows + i + 1] = at;
  }
done:
  return status;
}

/* Reads the entries of B, one component and one colour at a time. */
static TesStatus probe(const Divergence *v, TesiMatrix *K) {
  TesContext *ctx = v->context;
  TesStatus status = TES_OK;
  const TesiSplit *pr = tesi_split_of(v->problem);
  const int64_t nodes = v->velocity->length, length = pr->full->length, *row = K->row + length;
  double *in = NULL, *out = NULL;
  TES_ALLOC(&in, length);
  TES_ALLOC(&out, v->B.rows);
  for (int d = 0; d < v->problem->mesh->dim; d++)
    for (int c = 0; c < v->colours; c++) {
      memset(in, 0, (size_t)length * sizeof *in);
      for (int64_t j = 0; j < nodes; j++) in[d * nodes + j] = v->colour[j] == c;
      TES_TRY(tes_vector_set(pr->work.d, in));
      TES_TRY(tesi_walls_put(&pr->walls, false, pr->work.d));
      TES_TRY(tesi_taylor_hood_divergence(pr->taylor_hood, pr->work.d, pr->work.pb));
      TES_TRY(tes_vector_get(pr->work.pb, out));
      for (int64_t k = v->first[c]; k < v->first[c + 1]; k++) {
        const int64_t e = v->place[k], i = v->row_of[e];
        K->value[row[i] + d * (v->B.row[i + 1] - v->B.row[i]) + e - v->B.row[i]] = -pr->steady.unit * out[i];
      }
    }
done:
  tesi_free(ctx, &in);
  tesi_free(ctx, &out);
  return status;
}

static TesStatus assemble(const TesProblem *p, TesiMatrix *K) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiSplit *pr = tesi_split_of(p);
  Divergence v = {.problem = p, .context = ctx};
  TesiMatrix A = {0};
  TES_TRY(tesi_space_cells(pr->full->part[0], &v.velocity));
  TES_TRY(tesi_space_cells(p->space->part[1], &v.pressure));
  TES_TRY(tesi_operator_probe(pr->op, &A));
  TES_TRY(find_rows(&v));
  TES_TRY(tesi_matrix_transpose(ctx, &v.B, v.velocity->length, &v.T));
  TES_TRY(colour_nodes(&v));
  TES_TRY(tesi_matrix_by_colour(ctx, &v.B, v.colours, v.colour, &v.first, &v.place, &v.row_of));
  TES_TRY(join(&v, &A, K));
  TES_TRY(probe(&v, K));
done:
  tesi_matrix_destroy(ctx, &A);
  free_divergence(&v);
  return status;
}

TesStatus tesi_steady_direct_create(const TesProblem *p, double most, TesiSteadyDirect **direct) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiSplit *pr = tesi_split_of(p);
  TesiSteadyDirect *s = NULL;
  TesiMatrix K = {0};
  *direct = NULL;
  if (tesi_factorization_missing(ctx)) TES_FAIL(TES_MISSING, "%s", tesi_factorization_missing(ctx));
  TES_NEW(&s);
  s->context = tesi_context_retain(ctx);
  s->n = p->space->length;
  s->held = pr->walls.any_open ? -1 : pr->full->length;
  TES_ALLOC(&s->x, s->n);
  TES_TRY(assemble(p, &K));
  TES_TRY(tesi_factorization_create(ctx, &K, TESI_MATRIX_SYMMETRIC, s->held >= 0, &s->held, &s->factors));
  tesi_matrix_destroy(ctx, &K);
  if (tesi_factorization_cost(s->factors).flops > most) goto done;
  TES_TRY(tesi_work_on(ctx, "factors of %lld unknowns", (long long)s->n));
  TES_TRY(tesi_factorization_compute(s->factors));
  *direct = s;
  s = NULL;
done:
  tesi_matrix_destroy(ctx, &K);
  tesi_steady_direct_destroy(&s);
  return status;
}

void tesi_steady_direct_destroy(TesiSteadyDirect **direct) {
  if (!direct || !*direct) return;
  TesiSteadyDirect *s = *direct;
  TesContext *ctx = s->context;
  *direct = NULL;
  tesi_factorization_destroy(&s->factors);
  tesi_free(ctx, &s->x);
  tesi_free(ctx, &s);
  tes_context_destroy(&ctx);
}

TesStatus tesi_steady_direct_solve(TesiSteadyDirect *s, const TesVector *r, TesVector *z) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TES_TRY(tes_vector_get(r, s->x));
  if (s->held >= 0) s->x[s->held] = 0;
  TES_TRY(tesi_factorization_solve(s->factors, s->x));
  TES_TRY(tes_vector_set(z, s->x));
done:
  return status;
}
