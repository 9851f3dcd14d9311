/* Largest eigenvalues by conjugate gradients: the Lanczos matrix of B A is known from the step lengths (Saad, Iterative
 * Methods for Sparse Linear Systems, 2nd ed., section 6.7.3):
 *   T[j][j] = 1/alpha_j + beta_{j-1}/alpha_{j-1},   T[j][j+1] = sqrt(beta_j)/alpha_j. */
#include "smoother/spectrum.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>
#include "base/random.h"
#include "base/real.h"
#include "base/team.h"
#include "basis/blas.h"
#include "device/kernel.h"
#include "operator/operator_by_part.h"

enum { MAX_STEPS = 64 };

typedef struct Vectors {
  TesVector *r, *z, *p, *q;
} Vectors;

static double start_value(int64_t n) {
  return (double)(int64_t)tesi_random_mix(((uint64_t)n + 1) * 0x9e3779b97f4a7c15u) / 9223372036854775808.0;
}

void tesi_start_vector(const TesSpace *space, double *v) {
  const TesiAxis *axis = space->axis;
  int64_t n = 0;
  for (int k = 0; k < axis[2].nodes; k++)
    for (int j = 0; j < axis[1].nodes; j++)
      for (int i = 0; i < axis[0].nodes; i++, n++) {
        const bool unknown = i >= tesi_axis_first(&axis[0]) && i < tesi_axis_end(&axis[0]) &&
                             j >= tesi_axis_first(&axis[1]) && j < tesi_axis_end(&axis[1]) &&
                             k >= tesi_axis_first(&axis[2]) && k < tesi_axis_end(&axis[2]);
        v[n] = unknown ? start_value(tesi_space_number(space, (const int64_t[3]){i, j, k})) : 0;
      }
}

typedef struct Start {
  void *values;
  int64_t first; /* number of node 0 among those of all ranks */
} Start;

static void fill_double(const void *data, TesiSpan span) {
  const Start *start = data;
  for (int64_t i = span.first; i < span.end; i++)
    ((double *)start->values)[i] = start_value(start->first + i);
}

static void fill_float(const void *data, TesiSpan span) {
  const Start *start = data;
  for (int64_t i = span.first; i < span.end; i++)
    ((float *)start->values)[i] = (float)start_value(start->first + i);
}

/* Nodes of one scalar over a forest, numbered as cells meet them: entries `first` .. of the values. */
typedef struct ForestStart {
  const TesiCellView *view;
  TesPrecision precision;
  void *values;
  int64_t first;
} ForestStart;

/* One more than the last number of a cell's nodes. */
static int64_t end_of_numbers(const TesiCellView *view, int64_t cell) {
  int64_t end = 0;
  for (int p = 0; p < view->cell_nodes; p++) {
    const int64_t node = tesi_cells_node(view->index[cell * view->cell_nodes + p]);
    end = node >= end ? node + 1 : end;
  }
  return end;
}

/* The nodes that a cell is first to have are counted x fastest, whatever their order in the vector. All cells are the
 * first to have their inside, so that the numbers of one end where those of the next begin. */
static void fill_forest(const void *data, TesiSpan span) {
  const ForestStart *s = data;
  for (int64_t c = span.first; c < span.end; c++) {
    const int32_t *index = s->view->index + c * s->view->cell_nodes;
    const int64_t begin = c ? end_of_numbers(s->view, c - 1) : 0;
    int64_t count = s->first + begin;
    for (int p = 0; p < s->view->cell_nodes; p++) {
      const int64_t node = tesi_cells_node(index[p]);
      if (node < begin) continue;
      const double value = start_value(count++);
      tesi_number_set(s->precision, s->values, s->first + node, value);
    }
  }
}

/* Over a forest on one rank. Up to degree 2 each part of a cell has one node, so that both orders are one. */
static void fill_forests(const TesOperator *op, TesPrecision precision, void *values) {
  const TesSpace *space = op->space;
  const size_t size = tesi_precision_size(precision);
  for (int s = 0; s < space->scalars; s++) {
    const TesiCellView *view = space->scalar[s]->view;
    const int64_t first = space->first[s];
    const int threads = tesi_team_threads(op->context, view->length);
    if (view->degree > 2)
      tesi_team_for(threads, view->cells, fill_forest, &(ForestStart){view, precision, values, first});
    else
      tesi_team_for(threads, view->length, precision == TES_DOUBLE ? fill_double : fill_float,
                    &(Start){(char *)values + (size_t)first * size, first});
  }
}

static void fill_range(const TesContext *ctx, TesPrecision precision, void *values, int64_t n, int64_t first) {
  tesi_team_for(tesi_team_threads(ctx, n), n, precision == TES_DOUBLE ? fill_double : fill_float,
                &(Start){values, first});
}

/* Over cells. Copies of other ranks' nodes are theirs. */
static void fill_cells(const TesOperator *op, TesPrecision precision, void *values) {
  const TesContext *ctx = op->context;
  const TesiLayout *layout = op->space ? op->space->layout : NULL;
  const size_t size = tesi_precision_size(precision);
  if (!layout || tesi_ranks(ctx) == 1) {
    if (op->space && op->space->mesh->kind == TES_MESH_FOREST)
      fill_forests(op, precision, values);
    else
      fill_range(ctx, precision, values, op->length, 0);
    return;
  }
  memset(values, 0, (size_t)layout->length * size);
  for (int64_t r = 0, runs = tesi_layout_runs(layout); r < runs; r++) {
    const TesiOwned own = tesi_layout_run(layout, r);
    fill_range(ctx, precision, (char *)values + (size_t)own.start * size, own.owned, own.first);
  }
  tesi_exchange_sum(layout->sum, precision, values);
}

/* Alike parts get the same values. */
static void fill_start(const TesOperator *op, double *start) {
  const TesiOperatorByPart *parts = tesi_operator_by_part_of(op);
  for (int p = 0; parts && p < parts->count; p++)
    fill_start(parts->part[p], start + op->space->part_first[p]);
  if (parts) return;
  if (tesi_is_diffusion(op))
    tesi_start_vector(op->space, start);
  else
    fill_cells(op, TES_DOUBLE, start);
}

static TesStatus make_vectors(const TesOperator *op, Vectors *v) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesVector **all[] = {&v->r, &v->z, &v->p, &v->q};
  for (int i = 0; i < 4; i++) TES_TRY(tesi_operator_new_vector(op, op->precision, all[i]));
done:
  return status;
}

static void clear_given(const TesSpace *space, TesPrecision precision, void *v) {
  for (int s = 0; s < space->scalars; s++) {
    const TesiCellView *cells = space->scalar[s]->view;
    for (int64_t i = 0; cells && i < cells->length - cells->dofs; i++) {
      const int64_t at = space->first[s] + cells->constrained[i];
      tesi_number_set(precision, v, at, 0);
    }
  }
}

/* r <- random numbers, on one rank at Dirichlet nodes of operators over cells too unless `unknowns`. */
static TesStatus set_start(const TesOperator *op, bool unknowns, const Vectors *v) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  double *start = NULL;
  if (tesi_ranks(ctx) > 1) unknowns = true;
  if (!tesi_has_kernels(ctx) && !tesi_is_diffusion(op) && !tesi_operator_by_part_of(op)) {
    fill_cells(op, op->precision, v->r->data);
    if (unknowns) clear_given(op->space, op->precision, v->r->data);
    return TES_OK;
  }
  TES_ALLOC(&start, op->length);
  fill_start(op, start);
  if (unknowns) clear_given(op->space, TES_DOUBLE, start);
  TES_TRY(tes_vector_set(v->r, start));
done:
  tesi_free(ctx, &start);
  return status;
}

/* r, z <- B r, rz <- r.z. Rows of Dirichlet nodes are those of the identity, of which no large eigenvalue comes;
 * but where coefficients are large their part of r.z would be all that is seen, and r is zero there. */
static TesStatus begin(const TesOperator *op, TesiPrecondition precondition, void *user, const Vectors *v,
                       double *rz) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const bool given =
      op->space && !tesi_is_diffusion(op) && tesi_reduce_any(ctx, op->space->dofs < op->space->length);
  double part = 0;
  for (int pass = given ? 0 : 1; pass < 3; pass++) {
    TES_TRY(set_start(op, pass != 1, v));
    TES_TRY(precondition(user, v->r->data, v->z->data));
    TES_TRY(tes_vector_dot(v->r, v->z, pass ? rz : &part));
    if (pass == 1 && (!given || *rz < 1e4 * part)) break;
  }
done:
  return status;
}

static void free_vectors(Vectors *v) {
  TesVector **all[] = {&v->r, &v->z, &v->p, &v->q};
  for (int i = 0; i < 4; i++) tes_vector_destroy(all[i]);
}

static TesStatus largest_of_tridiagonal(TesContext *ctx, int n, double *diagonal, double *off, double *lambda) {
  TesStatus status = TES_OK;
  TES_TRY(tesi_blas_begin(ctx, n));
  const int info = LAPACKE_dsterf(n, diagonal, off);
  if (info != 0)
    TES_FAIL(TES_INTERNAL, "the tridiagonal eigenproblem of size %d failed (LAPACK dsterf: %d)", n, info);
  *lambda = diagonal[n - 1];
done:
  return status;
}

/* r <- r + a q, z <- B r, rz <- r.z. d: of a diagonal B = D, which one pass does on one rank, or NULL. */
static TesStatus update(const TesOperator *op, TesiPrecondition precondition, void *user, const void *d,
                        double a, const Vectors *v, double *rz) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  if (d && !tesi_context_communicator(ctx))
    return tesi_device_diagonal_residual(ctx, op->precision, op->length, a, v->q->data, d, v->r->data,
                                         v->z->data, rz);
  TES_TRY(tes_vector_axpy(a, v->q, v->r));
  TES_TRY(precondition(user, v->r->data, v->z->data));
  TES_TRY(tes_vector_dot(v->r, v->z, rz));
done:
  return status;
}

/* d: see update(). */
static TesStatus largest_eigenvalue(const TesOperator *op, TesiPrecondition precondition, void *user,
                                    const void *d, int steps, double *lambda) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  Vectors v = {0};
  double diagonal[MAX_STEPS], off[MAX_STEPS], rz, rz_first, beta = 0, alpha = 1;
  int count = 0;
  TES_TRY(make_vectors(op, &v));
  TES_TRY(begin(op, precondition, user, &v, &rz));
  TES_TRY(tes_vector_copy(v.z, 1, v.p));
  rz_first = rz;
  while (count < tesi_min(steps, MAX_STEPS)) {
    double pq;
    TES_TRY(tesi_work_go_on(ctx));
    TES_TRY(op->table->apply(op, v.p->data, v.q->data));
    TES_TRY(tes_vector_dot(v.p, v.q, &pq));
    if (!isfinite(pq) || !isfinite(rz))
      TES_FAIL(TES_NAN, "the operator or its preconditioner gives NaN or infinity");
    if (!(pq > 0) || !(rz > 1e-10 * rz_first)) break; /* the Krylov space is exhausted */
    diagonal[count] = beta / alpha;
    alpha = rz / pq;
    diagonal[count] += 1 / alpha;
    const double before = rz;
    TES_TRY(update(op, precondition, user, d, -alpha, &v, &rz));
    beta = rz / before;
    off[count++] = sqrt(fmax(beta, 0)) / alpha;
    TES_TRY(tes_vector_xpay(v.z, beta, v.p));
  }
  if (count == 0) TES_FAIL(TES_INTERNAL, "the operator is not positive definite");
  TES_TRY(largest_of_tridiagonal(ctx, count, diagonal, off, lambda));
done:
  free_vectors(&v);
  return status;
}

/* A step; *gain <- by how much it lowers the energy of the error, 0: by nothing that can be seen. pq: of the step
 * before, then of this one. */
static TesStatus step_of_error(const TesOperator *op, TesiPrecondition precondition, void *user, bool first,
                               const Vectors *v, double *pq, double *gain) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  double zq = 0, rp;
  *gain = 0;
  TES_TRY(tesi_work_go_on(ctx));
  if (!first) TES_TRY(precondition(user, v->r->data, v->z->data));
  if (!first) TES_TRY(tes_vector_dot(v->z, v->q, &zq));
  TES_TRY(first ? tes_vector_copy(v->z, 1, v->p) : tes_vector_xpay(v->z, -zq / *pq, v->p));
  TES_TRY(op->table->apply(op, v->p->data, v->q->data));
  TES_TRY(tes_vector_dot(v->p, v->q, pq));
  TES_TRY(tes_vector_dot(v->p, v->r, &rp));
  if (!isfinite(*pq) || !isfinite(rp)) TES_FAIL(TES_NAN, "the operator or its cycle gives NaN or infinity");
  if (!(*pq > 0)) return TES_OK;
  TES_TRY(tes_vector_axpy(-rp / *pq, v->q, v->r));
  *gain = rp * rp / *pq;
done:
  return status;
}

TesStatus tesi_reduction(const TesOperator *op, TesiPrecondition precondition, void *user, int steps,
                         double *factor) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  Vectors v = {0};
  double rz, pq = 0, gain, second = 0;
  *factor = 0;
  TES_TRY(make_vectors(op, &v));
  TES_TRY(begin(op, precondition, user, &v, &rz));
  for (int step = 0; step < steps + 2; step++) {
    TES_TRY(step_of_error(op, precondition, user, step == 0, &v, &pq, &gain));
    if (!(gain > 1e-12 * rz)) break; /* nothing is left */
    if (step == 1) second = gain;
    if (step > 1) *factor = pow(gain / second, 0.5 / (step - 1));
  }
done:
  free_vectors(&v);
  return status;
}

TesStatus tesi_largest_eigenvalue(const TesOperator *op, TesiPrecondition precondition, void *user, int steps,
                                  double *lambda) {
  return largest_eigenvalue(op, precondition, user, NULL, steps, lambda);
}

TesStatus tesi_diagonal_ref(const TesOperator *op, double *d) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesVector *v = NULL;
  const TesiOperatorByPart *parts = tesi_operator_by_part_of(op);
  for (int p = 0; parts && p < parts->count; p++)
    TES_TRY(tesi_diagonal_ref(parts->part[p], d + op->space->part_first[p]));
  if (parts) goto done;
  if (tesi_is_diffusion(op)) return tesi_diffusion_diagonal_ref(op, d);
  TES_TRY(tesi_operator_new_vector(op, op->precision, &v));
  TES_TRY(op->table->diagonal(op, v->data));
  TES_TRY(tes_vector_get(v, d));
done:
  tes_vector_destroy(&v);
  return status;
}

TesStatus tesi_inverse_diagonal(const TesOperator *op, void **d) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  *d = NULL;
  TES_TRY(tesi_operator_vector(op, d));
  TES_TRY(op->table->diagonal(op, *d));
  TesVector view = tesi_operator_view(op, *d);
  TES_TRY(tesi_vector_invert(&view));
done:
  if (status != TES_OK) tesi_context_device(ctx)->release(ctx, d);
  return status;
}

typedef struct Diagonal {
  const TesOperator *op;
  const void *inverse;
} Diagonal;

static TesStatus divide(void *user, const void *r, void *z) {
  const Diagonal *d = user;
  return tesi_device_multiply(d->op->context, d->op->precision, d->op->length, 1, r, d->inverse, z);
}

TesStatus tesi_largest_jacobi_eigenvalue(const TesOperator *op, const void *inverse_diagonal, double *lambda) {
  Diagonal d = {op, inverse_diagonal};
  return largest_eigenvalue(op, divide, &d, inverse_diagonal, TESI_EIGENVALUE_STEPS, lambda);
}

static TesStatus sweep(void *user, const void *r, void *z) {
  const TesSmoother *smoother = user;
  return smoother->table->apply(smoother, r, z, TES_FORWARD, true);
}

TesStatus tesi_patch_damping(TesSmoother *smoother) {
  double lambda;
  if (smoother->omega != 0) return TES_OK;
  smoother->omega = 1;
  if (smoother->kind != TES_SMOOTHER_PATCH_ADDITIVE) return TES_OK;
  const TesStatus status =
      tesi_largest_eigenvalue(smoother->op, sweep, smoother, TESI_EIGENVALUE_STEPS, &lambda);
  if (status == TES_OK) smoother->omega = 1.5 / lambda;
  return status;
}
