/* With L L' = A for each block of components that A couples, and G the columns of B': S = sum of (L^-1 G)' (L^-1 G).
 * Every rank has all of S, in a numbering on which all ranks agree. */
#include "problem/flow/steady/steady_schur.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>
#include "base/team.h"
#include "basis/blas.h"
#include "multigrid/multigrid.h"
#include "operator/operator_by_part.h"
#include "parallel/comm.h"
#include "problem/flow/split/split.h"
#include "space/slip.h"
#include "tensor/dense_device.h"
#include "tensor/matmul.h"
#include "transfer/transfer.h"

enum { MOST = TESI_MULTIGRID_LEVELS + 1, MOST_NODES = 5000 };
/* Limits of the flops for the matrices: per unknown of the problem, about the flops of ten products with A; at least
 * and at most these totals. */
static const double flops_per_unknown = 4e4, few = 1e9, many = 2e10;

struct TesiSteadySchur {
  TesContext *context;
  int levels; /* of pressures: on the problem's mesh, then on coarser ones */
  TesSpace *space[MOST];
  TesTransfer *transfer[MOST]; /* between a level and the previous one */
  TesVector *v[MOST];
  int n;          /* number of coarse pressures of all ranks */
  double *number; /* [here] of each */
  double *C;      /* [n][n], symmetric */
  double *in, *out, *here;
  /* With kernels, on one rank. */
  TesiDenseDevice matrix;
  TesVector *product;
};

/* ---- vectors of all ranks ------------------------------------------------------------------------------ */

/* to[layout->global] <- the entries of all ranks, each once. */
static void gather(TesContext *ctx, const TesiLayout *layout, const double *v, double *to) {
  memset(to, 0, (size_t)layout->global * sizeof *to);
  for (int64_t i = 0, runs = tesi_layout_runs(layout); i < runs; i++) {
    const TesiOwned own = tesi_layout_run(layout, i);
    memcpy(to + own.first, v + own.start, (size_t)own.owned * sizeof *v);
  }
  tesi_reduce(ctx, TESI_SUM, (int)layout->global, to);
}

/* An operator as a dense matrix: *A [n][n], n entries over all ranks; multiply: y <- A e. */
typedef struct Columns {
  TesContext *context;
  const TesiLayout *from, *to;
  void *user;
  TesStatus (*multiply)(void *user, const TesVector *e, TesVector *y);
} Columns;

static TesStatus find_columns(const Columns *c, double **A) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  const int64_t columns = c->from->global, rows = c->to->global;
  TesVector *e = NULL, *y = NULL;
  double *number = NULL, *unit = NULL, *here = NULL;
  TES_ALLOC(A, rows * columns);
  TES_ALLOC(&unit, c->from->length);
  TES_ALLOC(&here, c->to->length);
  TES_TRY(tesi_layout_numbers(c->from, &number));
  TES_TRY(tesi_vector_create_on(c->from, TES_DOUBLE, &e));
  TES_TRY(tesi_vector_create_on(c->to, TES_DOUBLE, &y));
  for (int64_t j = 0; j < columns; j++) {
    for (int64_t i = 0; i < c->from->length; i++) unit[i] = number[i] == (double)j;
    TES_TRY(tes_vector_set(e, unit));
    TES_TRY(c->multiply(c->user, e, y));
    TES_TRY(tes_vector_get(y, here));
    gather(ctx, c->to, here, *A + j * rows);
  }
done:
  tes_vector_destroy(&e);
  tes_vector_destroy(&y);
  tesi_free(ctx, &number);
  tesi_free(ctx, &unit);
  tesi_free(ctx, &here);
  return status;
}

static TesStatus apply_operator(void *user, const TesVector *e, TesVector *y) {
  return tes_operator_apply(user, e, y);
}

static TesStatus matrix_of(const TesOperator *op, double **A) {
  const TesiLayout *layout = op->space->layout;
  return find_columns(&(Columns){op->context, layout, layout, (void *)(uintptr_t)op, apply_operator}, A);
}

/* Sets 1 on the diagonal at given values: operators over boxes have rows of zeros there, and nobody needs their
 * columns. */
static void hold(int64_t n, double *A) {
  for (int64_t g = 0; g < n; g++) {
    if (A[g * n + g] != 0) continue;
    for (int64_t i = 0; i < n; i++) A[g * n + i] = A[i * n + g] = 0;
    A[g * n + g] = 1;
  }
}

/* ---- matrices ------------------------------------------------------------------------------------------ */

/* A <- A^-1 of a symmetric matrix. closed: constants span its null space, and the result is the pseudo-inverse.
 * *definite: whether it is positive. */
static TesStatus invert(TesContext *ctx, int n, bool closed, double *A, bool *definite) {
  TesStatus status = TES_OK;
  double mean = 0;
  hold(n, A);
  for (int64_t i = 0; i < n; i++) mean += A[i * n + i] / n;
  for (int64_t i = 0; closed && i < (int64_t)n * n; i++) A[i] += mean / n;
  TES_TRY(tesi_blas_begin(ctx, n));
  *definite = LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', n, A, n) == 0 &&
              LAPACKE_dpotri(LAPACK_COL_MAJOR, 'L', n, A, n) == 0;
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < j; i++) A[j * n + i] = A[i * n + j];
  for (int64_t i = 0; closed && i < (int64_t)n * n; i++) A[i] -= 1 / (mean * n);
done:
  return status;
}

typedef struct Coarse {
  const TesProblem *problem;
  TesSpace *velocity, *full; /* of Q_2; full: of one component without given values */
  TesiTaylorHood *taylor_hood;
  TesOperator *op;
} Coarse;

static TesStatus gradient(void *user, const TesVector *e, TesVector *y) {
  const Coarse *c = user;
  TesContext *ctx = e->context;
  TesStatus status = TES_OK;
  double *u = NULL;
  TES_TRY(tesi_taylor_hood_gradient(c->taylor_hood, e, y));
  TES_TRY(tesi_space_project(c->velocity, TES_DOUBLE, y->data));
  TES_TRY(tesi_vector_read(y, &u));
  for (int p = 0; p < c->velocity->parts; p++) {
    const TesiCellView *view;
    TES_TRY(tesi_space_cells(c->velocity->part[p], &view));
    for (int64_t i = 0; i < view->length - view->dofs; i++)
      u[c->velocity->part_first[p] + view->constrained[i]] = 0;
  }
  TES_TRY(tes_vector_set(y, u));
done:
  tesi_free(ctx, &u);
  return status;
}

/* Rows of S: each thread makes some. */
typedef struct Squares {
  TesiMatmul multiply;
  int n, m;
  const double *Y, *transposed; /* [n][m], [m][n] */
  double *S, *part;             /* [n][n] */
} Squares;

static void multiply_rows(const void *data, TesiSpan span) {
  const Squares *q = data;
  const int64_t n = q->n, first = span.first, rows = span.end - span.first;
  if (rows <= 0) return;
  q->multiply((int)rows, q->n, q->m, q->Y + first * q->m, q->m, q->transposed, q->n, q->part + first * n,
              q->n);
  for (int64_t i = first * n; i < span.end * n; i++) q->S[i] += q->part[i];
}

/* S[n][n] += (L^-1 G)' (L^-1 G), G[n][m] in steps of `step`, L of A = L L'. */
static TesStatus add_squares(TesContext *ctx, int n, int m, const double *G, int64_t step, const double *L,
                             double *S) {
  TesStatus status = TES_OK;
  double *Y = NULL, *transposed = NULL, *part = NULL;
  TES_ALLOC(&Y, (int64_t)n * m);
  TES_ALLOC(&transposed, (int64_t)n * m);
  TES_ALLOC(&part, (int64_t)n * n);
  for (int64_t j = 0; j < n; j++) memcpy(Y + j * m, G + j * step, (size_t)m * sizeof *Y);
  TES_TRY(tesi_blas_begin(ctx, m));
  LAPACKE_dtrtrs(LAPACK_COL_MAJOR, 'L', 'N', 'N', m, n, L, m, Y, m);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < m; i++) transposed[i * n + j] = Y[j * m + i];
  const Squares squares = {tesi_matmul(tes_context_simd_bits(ctx)), n, m, Y, transposed, S, part};
  tesi_team_for(tes_context_threads(ctx), n, multiply_rows, &squares);
done:
  tesi_free(ctx, &Y);
  tesi_free(ctx, &transposed);
  tesi_free(ctx, &part);
  return status;
}

static TesStatus factorize(const TesOperator *op, double **A, bool *definite) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const int m = (int)op->space->layout->global;
  tesi_free(ctx, A);
  TES_TRY(matrix_of(op, A));
  hold(m, *A);
  TES_TRY(tesi_blas_begin(ctx, m));
  *definite = LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', m, *A, m) == 0;
done:
  return status;
}

/* S <- G' A^-1 G, component by component if A couples none. Equal components mostly follow each other. */
static TesStatus find_schur(const Coarse *c, int n, double *S, bool *definite) {
  TesContext *ctx = c->op->context;
  TesStatus status = TES_OK;
  const TesiOperatorByPart *parts = c->velocity->slip ? NULL : tesi_operator_by_part_of(c->op);
  const int64_t rows = c->velocity->layout->global;
  const Columns columns = {ctx, c->taylor_hood->pressure->layout, c->velocity->layout, (void *)(uintptr_t)c,
                           gradient};
  double *G = NULL, *A = NULL;
  int64_t first = 0;
  TES_TRY(find_columns(&columns, &G));
  *definite = true;
  for (int p = 0; p < (parts ? parts->count : 1) && *definite; p++) {
    const TesOperator *op = parts ? parts->part[p] : c->op;
    const int m = (int)op->space->layout->global;
    if (p == 0 || parts->part[p - 1] != op) TES_TRY(factorize(op, &A, definite));
    if (*definite) TES_TRY(add_squares(ctx, n, m, G + first, rows, A, S));
    first += m;
  }
done:
  tesi_free(ctx, &G);
  tesi_free(ctx, &A);
  return status;
}

/* C <- C - factor of^-1. */
static TesStatus subtract_inverse(TesContext *ctx, const TesOperator *of, double factor, bool closed, int n,
                                  double *C) {
  TesStatus status = TES_OK;
  const TesSpace *space = of->space;
  double *A = NULL, *held = NULL, *all = NULL;
  bool definite;
  const TesiCellView *view;
  TES_TRY(matrix_of(of, &A));
  TES_TRY(invert(ctx, n, closed, A, &definite));
  TES_TRY(tesi_space_cells(space, &view));
  TES_ALLOC(&held, space->length);
  TES_ALLOC(&all, n);
  for (int64_t i = 0; i < view->length - view->dofs; i++) held[view->constrained[i]] = 1;
  gather(ctx, space->layout, held, all);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n && !(all[i] > 0); j++)
      if (!(all[j] > 0)) C[i * n + j] -= factor * A[i * n + j];
done:
  tesi_free(ctx, &A);
  tesi_free(ctx, &held);
  tesi_free(ctx, &all);
  return status;
}

/* C <- C - factor L_c^-1 */
static TesStatus subtract_laplacian(const TesProblem *p, double factor, TesiSteadySchur *s) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiSplit *pr = tesi_split_of(p);
  const TesSpace *pressure = s->space[s->levels - 1];
  TesOperator *laplacian = NULL;
  TesSpace *given = NULL;
  if (!pr->poisson) return TES_OK;
  TES_TRY(tesi_space_create_on(pr->poisson->space, pressure->mesh, pressure->degree, &given));
  TES_TRY(tesi_operator_on(pr->poisson->op, given, TES_DOUBLE, &laplacian));
  TES_TRY(subtract_inverse(ctx, laplacian, factor, !pr->walls.any_open, s->n, s->C));
done:
  tes_operator_destroy(&laplacian);
  tes_space_destroy(&given);
  return status;
}

/* C <- S_c^-1 - nu M_c^-1 - alpha L_c^-1 */
static TesStatus find_matrix(const TesProblem *p, TesiSteadySchur *s, const Coarse *c, bool *definite) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiSplit *pr = tesi_split_of(p);
  TesOperator *mass = NULL;
  TES_ALLOC(&s->C, (int64_t)s->n * s->n);
  TES_TRY(find_schur(c, s->n, s->C, definite));
  if (*definite) TES_TRY(invert(ctx, s->n, !pr->walls.any_open, s->C, definite));
  if (!*definite) return TES_OK;
  TES_TRY(tesi_operator_on(pr->pressure_mass, s->space[s->levels - 1], TES_DOUBLE, &mass));
  TES_TRY(subtract_inverse(ctx, mass, pr->nu, false, s->n, s->C));
  TES_TRY(subtract_laplacian(p, pr->steady.alpha, s));
done:
  tes_operator_destroy(&mass);
  return status;
}

/* ---- creation ------------------------------------------------------------------------------------------ */

/* Whether a mesh of this many cells has at least three cells per direction and matrices that take a small part of the
 * work. */
static bool serves(const TesProblem *p, const TesMesh *mesh, double most) {
  const TesiSplit *pr = tesi_split_of(p);
  const int dim = mesh->dim;
  const double along = pow((double)tes_mesh_info(mesh).all_cells, 1. / dim), nodes = pow(2 * along + 1, dim),
               pressures = pow(along + 1, dim);
  const bool coupled = pr->velocity->slip || !tesi_operator_by_part_of(pr->op);
  const double block = coupled ? dim * nodes : nodes,
               flops = block * block * (block / 3 + pressures * (coupled ? 1 : dim)) +
                       pressures * pressures * (pressures + dim * nodes);
  return along >= 3 - 1e-9 && block <= MOST_NODES && flops <= most;
}

/* Whether alpha h^2 is far above nu on the cells of a mesh. Such cells do not resolve the effect of nu at walls, and
 * the coarse matrix would cost iterations. */
static TesStatus find_dominance(const TesProblem *p, const TesMesh *mesh, bool *dominates) {
  const double most = 100;
  const TesiSplit *pr = tesi_split_of(p);
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  double volume;
  *dominates = false;
  if (!(pr->steady.alpha > 0)) return TES_OK;
  TES_TRY(tes_operator_apply(pr->pressure_mass, pr->mean.ones, pr->work.pb));
  TES_TRY(tes_vector_dot(pr->work.pb, pr->mean.ones, &volume));
  *dominates =
      pr->steady.alpha * pow(volume / (double)tes_mesh_info(mesh).all_cells, 2. / mesh->dim) > most * pr->nu;
done:
  return status;
}

/* The finest mesh that serves, else the coarsest one if its matrices are cheap; NULL: none. */
static const TesMesh *find_mesh(const TesProblem *p) {
  const int levels = tes_multigrid_levels(p->multigrid);
  for (int l = levels - 1; l >= 0; l--) {
    const TesMesh *mesh = tes_multigrid_level(p->multigrid, l).space->mesh;
    if (serves(p, mesh, fmin(many, fmax(few, flops_per_unknown * (double)p->space->layout->global))))
      return mesh;
  }
  for (int l = 0; l < levels; l++) {
    const TesMesh *mesh = tes_multigrid_level(p->multigrid, l).space->mesh;
    if (serves(p, mesh, many)) return mesh;
  }
  return NULL;
}

static TesStatus add_level(TesiSteadySchur *s, const TesMesh *mesh, int degree) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const int l = s->levels;
  TES_TRY(tesi_space_create_on(s->space[l - 1], mesh, degree, &s->space[l]));
  s->levels++;
  const TesTransferDesc desc = {.coarse = s->space[l], .fine = s->space[l - 1], .precision = TES_DOUBLE};
  TES_TRY(tes_transfer_create(ctx, &desc, &s->transfer[l]));
  TES_TRY(tesi_vector_create_on(s->space[l]->layout, TES_DOUBLE, &s->v[l]));
done:
  return status;
}

/* Makes degree 1 on the problem's mesh, then coarsens mesh by mesh. */
static TesStatus create_levels(const TesProblem *p, const TesMesh *mesh, TesiSteadySchur *s) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesSpace *pressure = tesi_split_of(p)->taylor_hood->pressure;
  s->space[s->levels++] = tesi_space_retain(pressure);
  TES_TRY(tesi_vector_create_on(pressure->layout, TES_DOUBLE, &s->v[0]));
  if (pressure->degree > 1) TES_TRY(add_level(s, pressure->mesh, 1));
  for (int l = tes_multigrid_levels(p->multigrid) - 1; l >= 0; l--) {
    const TesMesh *last = s->space[s->levels - 1]->mesh,
                  *next = tes_multigrid_level(p->multigrid, l).space->mesh;
    if (last == mesh) break;
    if (next != last) TES_TRY(add_level(s, next, 1));
  }
  const TesSpace *coarse = s->space[s->levels - 1];
  s->n = (int)coarse->layout->global;
  TES_ALLOC(&s->in, s->n);
  TES_ALLOC(&s->out, s->n);
  TES_ALLOC(&s->here, coarse->length);
  TES_TRY(tesi_layout_numbers(coarse->layout, &s->number));
done:
  return status;
}

static void free_coarse(Coarse *c) {
  tes_operator_destroy(&c->op);
  tesi_taylor_hood_destroy(&c->taylor_hood);
  tes_space_destroy(&c->velocity);
  tes_space_destroy(&c->full);
}

static TesStatus create_coarse(const TesProblem *p, const TesSpace *pressure, Coarse *c) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiSplit *pr = tesi_split_of(p);
  TES_TRY(tesi_space_create_on(pr->velocity, pressure->mesh, pressure->degree + 1, &c->velocity));
  TES_TRY(tesi_space_create_on(pr->full->part[0], pressure->mesh, pressure->degree + 1, &c->full));
  TES_TRY(tesi_taylor_hood_create(c->full, pressure, &c->taylor_hood));
  TES_TRY(tesi_operator_on(pr->op, c->velocity, TES_DOUBLE, &c->op));
done:
  return status;
}

static void release_device(TesiSteadySchur *s) {
  TesContext *ctx = s->context;
  tesi_dense_device_free(ctx, &s->matrix);
  tes_vector_destroy(&s->product);
}

static TesStatus send(TesiSteadySchur *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  if (!tesi_has_kernels(ctx) || tesi_ranks(ctx) > 1) return TES_OK;
  release_device(s);
  TES_TRY(tesi_dense_device_create(ctx, TES_DOUBLE, s->n, s->C, &s->matrix));
  TES_TRY(tesi_vector_create_on(s->space[s->levels - 1]->layout, TES_DOUBLE, &s->product));
done:
  return status;
}

TesStatus tesi_steady_schur_create(const TesProblem *p, TesiSteadySchur **schur) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesMesh *mesh = find_mesh(p);
  TesiSteadySchur *s = NULL;
  Coarse coarse = {.problem = p};
  bool definite, dominates;
  *schur = NULL;
  if (!mesh) return TES_OK;
  TES_TRY(find_dominance(p, mesh, &dominates));
  if (dominates) return TES_OK;
  TES_TRY(tesi_work_on(ctx, "the Schur complement on %lld cells", (long long)tes_mesh_info(mesh).all_cells));
  TES_NEW(&s);
  s->context = tesi_context_retain(ctx);
  TES_TRY(create_levels(p, mesh, s));
  TES_TRY(create_coarse(p, s->space[s->levels - 1], &coarse));
  TES_TRY(find_matrix(p, s, &coarse, &definite));
  if (!definite) goto done;
  TES_TRY(send(s));
  *schur = s;
  s = NULL;
done:
  free_coarse(&coarse);
  tesi_steady_schur_destroy(&s);
  return status;
}

void tesi_steady_schur_destroy(TesiSteadySchur **schur) {
  if (!schur || !*schur) return;
  TesiSteadySchur *s = *schur;
  TesContext *ctx = s->context;
  *schur = NULL;
  for (int l = 0; l < MOST; l++) {
    tes_transfer_destroy(&s->transfer[l]);
    tes_vector_destroy(&s->v[l]);
    tes_space_destroy(&s->space[l]);
  }
  double **const arrays[] = {&s->number, &s->C, &s->in, &s->out, &s->here};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) tesi_free(ctx, arrays[i]);
  release_device(s);
  tesi_free(ctx, &s);
  tes_context_destroy(&ctx);
}

TesStatus tesi_steady_schur_subtract(TesiSteadySchur *s, const TesProblem *p, double factor) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TES_TRY(subtract_laplacian(p, factor, s));
  TES_TRY(send(s));
done:
  return status;
}

int64_t tesi_steady_schur_cells(const TesiSteadySchur *schur) {
  return tes_mesh_info(schur->space[schur->levels - 1]->mesh).all_cells;
}

/* ---- application --------------------------------------------------------------------------------------- */

static TesStatus multiply(TesiSteadySchur *s, TesVector *v) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const TesSpace *space = s->space[s->levels - 1];
  if (s->matrix.matrix) {
    TES_TRY(tesi_dense_device_apply(ctx, &s->matrix, v->data, s->product->data));
    return tes_vector_copy(s->product, 1, v);
  }
  TES_TRY(tes_vector_get(v, s->here));
  gather(ctx, space->layout, s->here, s->in);
  for (int64_t i = 0; i < s->n; i++) {
    double sum = 0;
    for (int64_t j = 0; j < s->n; j++) sum += s->C[i * s->n + j] * s->in[j];
    s->out[i] = sum;
  }
  for (int64_t i = 0; i < space->length; i++) s->here[i] = s->out[(int64_t)s->number[i]];
  TES_TRY(tes_vector_set(v, s->here));
done:
  return status;
}

TesStatus tesi_steady_schur_add(TesiSteadySchur *s, double factor, const TesVector *r, TesVector *z) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const int last = s->levels - 1;
  TES_TRY(tes_vector_copy(r, 1, s->v[0]));
  for (int l = 1; l <= last; l++) TES_TRY(tes_transfer_restrict(s->transfer[l], s->v[l - 1], s->v[l]));
  TES_TRY(multiply(s, s->v[last]));
  for (int l = last; l > 0; l--)
    TES_TRY(tes_transfer_prolongate(s->transfer[l], s->v[l], false, s->v[l - 1]));
  TES_TRY(tes_vector_axpy(factor, s->v[0], z));
done:
  return status;
}
