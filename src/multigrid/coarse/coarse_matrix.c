/* The coarsest level of a forest. Sparse: coarse_sparse.h. Direct: unit vectors give the operator's matrix, which is
 * factorized once. A singular operator (constants in its null space) gets s 1 1' added, s = trace / n^2: for right-hand
 * sides of mean zero the solution then has mean zero. */
#include <lapacke.h>
#include <math.h>
#include <string.h>
#include "base/afford.h"
#include "multigrid/coarse/aggregation/aggregation.h"
#include "multigrid/coarse/amg.h"
#include "multigrid/coarse/coarse.h"
#include "multigrid/coarse/coarse_sparse.h"
#include "operator/operator.h"
#include "operator/assembled/matrix.h"
#include "basis/blas.h"
#include "operator/elasticity/elasticity_motions.h"

enum { MOST_STEPS = 2000 };

struct TesiCoarseMatrix {
  TesContext *context;
  TesOperator *op;
  int64_t length;
  int64_t size;     /* size of the matrix: length, on several ranks the number of entries of all ranks */
  double *number;   /* [length] on several ranks: row of an entry in the matrix; NULL: its index */
  double *gathered; /* [size] on several ranks */
  TesiCoarseSparse *sparse;     /* sparse factors; NULL: the members below are used */
  double *factor;               /* [size][size], lower triangle; NULL: conjugate gradients */
  TesiAggregation *aggregation; /* the solve is cycles of it alone */
  TesiAmg *amg;                 /* preconditioner of conjugate gradients; NULL: the diagonal */
  int motions;                  /* rigid motions that nothing holds */
  double *motion;               /* [motions][length], orthonormal */
  double *diagonal, *r, *z;     /* [length] inverse; host */
  TesVector *p, *q;             /* device */
};

/* to[size] <- the entries b[length] of all ranks, on each rank. */
static void gather(const TesiCoarseMatrix *m, const double *b, double *to) {
  const TesiLayout *layout = m->op->space->layout;
  memset(to, 0, (size_t)m->size * sizeof *to);
  for (int64_t i = 0, runs = tesi_layout_runs(layout); i < runs; i++) {
    const TesiOwned own = tesi_layout_run(layout, i);
    memcpy(to + own.first, b + own.start, (size_t)own.owned * sizeof *b);
  }
  tesi_reduce(m->context, TESI_SUM, (int)m->size, to);
}

static bool is_entry(const TesiCoarseMatrix *m, int64_t i, int64_t row) {
  return m->number ? m->number[i] == (double)row : i == row;
}

static TesStatus assemble(TesiCoarseMatrix *m) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  const int64_t n = m->size;
  TES_ALLOC(&m->factor, n * n);
  for (int64_t row = 0; row < n; row++) {
    double *const to = m->factor + row * n;
    for (int64_t i = 0; i < m->length; i++) m->r[i] = is_entry(m, i, row);
    TES_TRY(tes_vector_set(m->p, m->r));
    TES_TRY(tes_operator_apply(m->op, m->p, m->q));
    TES_TRY(tes_vector_get(m->q, m->number ? m->r : to));
    if (m->number) gather(m, m->r, to);
  }
done:
  return status;
}

/* Common numbers of the entries on all ranks. */
static TesStatus number_entries(TesiCoarseMatrix *m) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  const TesiLayout *layout = m->op->space->layout;
  TES_TRY(tesi_layout_numbers(layout, &m->number));
  TES_ALLOC(&m->gathered, m->size);
done:
  return status;
}

static TesStatus factorize(TesiCoarseMatrix *m) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  const int64_t n = m->size;
  double trace = 0;
  if (tesi_ranks(ctx) > 1) TES_TRY(number_entries(m));
  TES_TRY(assemble(m));
  for (int64_t i = 0; i < n; i++) trace += m->factor[i * n + i];
  for (int64_t i = 0; m->op->singular && i < n * n; i++) m->factor[i] += trace / ((double)n * (double)n);
  for (int k = 0; k < m->motions; k++) {
    const double *v = m->motion + k * m->length;
    if (m->number) gather(m, v, m->gathered), v = m->gathered;
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < n; j++) m->factor[i * n + j] += trace / (double)n * v[i] * v[j];
  }
  TES_TRY(tesi_blas_begin(ctx, (int)n));
  const int info = (int)LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', (lapack_int)n, m->factor, (lapack_int)n);
  if (info != 0)
    TES_FAIL(TES_NAN,
             "the matrix of the coarsest level is %s (LAPACK dpotrf: %d): coefficients are too large, or too "
             "far apart, for float64",
             info < 0 ? "not finite" : "not positive definite", info);
done:
  return status;
}

/* Large enough for the coarsest level of the algebraic multigrid to be solvable, too small to matter elsewhere. */
static void shift_diagonal(TesiMatrix *A) {
  for (int64_t i = 0; i < A->rows; i++)
    for (int64_t e = A->row[i]; e < A->row[i + 1]; e++)
      if (A->column[e] == i) A->value[e] *= 1 + 1e-8;
}

static TesStatus create_amg(TesiCoarseMatrix *m) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  TesiMatrix A = {0};
  const double start = tesi_now();
  if (!tesi_amg_available()) return tesi_amg_create(ctx, &A, &m->amg); /* says why */
  TES_TRY(tesi_operator_assemble(m->op, &A));
  if (m->op->singular) shift_diagonal(&A);
  TES_TRY(tesi_amg_create(ctx, &A, &m->amg));
  tesi_log(ctx, TES_LOG_DETAIL, "coarsest level: %lld unknowns, algebraic multigrid, set up in %.3g s",
           (long long)m->length, tesi_now() - start);
done:
  tesi_free(ctx, &A.row);
  tesi_free(ctx, &A.column);
  tesi_free(ctx, &A.value);
  return status;
}

static TesStatus invert_diagonal(TesiCoarseMatrix *m) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  tesi_log(ctx, TES_LOG_DETAIL, "coarsest level: %lld unknowns, conjugate gradients with the diagonal",
           (long long)m->length);
  TES_TRY(tes_operator_diagonal(m->op, m->p));
  TES_TRY(tesi_vector_read(m->p, &m->diagonal));
  for (int64_t i = 0; i < m->length; i++) m->diagonal[i] = 1 / m->diagonal[i];
done:
  return status;
}

static TesStatus check_memory(const TesiCoarseMatrix *m) {
  return tesi_afford(m->context, 8 * (double)m->size * (double)m->size, (double)tes_memory_available(), NULL,
                     "the coarsest level has %lld unknowns: a direct solver needs", (long long)m->size);
}

/* Constants that nothing fixes are treated like other motions. */
static TesStatus order_sparse(TesiCoarseMatrix *m) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  if (m->op->singular && !m->motions) {
    TES_ALLOC(&m->motion, m->length);
    for (int64_t i = 0; i < m->length; i++) m->motion[i] = 1 / sqrt((double)m->length);
    m->motions = 1;
  }
  TES_TRY(tesi_coarse_sparse_create(m->op, m->motions, m->motion, &m->sparse));
done:
  return status;
}

/* Estimated seconds on one core: of sparse factors with all their solves, and of the iterations that would replace
 * them; from Poisson in 2D and 3D and bodies of elasticity. */
static double sparse_seconds(double n, TesiFactorizationCost cost) {
  enum { SOLVES = 10 };
  return 4e-6 * n + cost.flops / 1e10 + SOLVES * (5e-7 * n + 2e-9 * cost.entries);
}

static double iterated_seconds(const TesiCoarseMatrix *m, TesCoarseKind kind) {
  const TesSpace *space = m->op->space;
  const double n = (double)m->size, neighbours = space->dim == 2 ? 9 : 27;
  if (kind == TES_COARSE_AGGREGATION)
    return 3e-7 * neighbours * space->scalars * n *
           (m->aggregation ? tesi_aggregation_cycles(m->aggregation) : 1);
  return (kind == TES_COARSE_AMG ? 3e-5 : 4e-4) * n;
}

/* Whether sparse factors, whose unknowns are ordered, cost less than the alternative times a factor. */
static bool serves_sparse(const TesiCoarseMatrix *m, TesCoarseKind otherwise, double factor) {
  const TesiFactorizationCost cost = tesi_coarse_sparse_cost(m->sparse);
  return cost.bytes < (double)tes_memory_available() &&
         (otherwise == TES_COARSE_DIRECT ||
          sparse_seconds((double)m->size, cost) < factor * iterated_seconds(m, otherwise));
}

/* The number of aggregation cycles per solve is known only after set-up: one for compact bodies, eight and more for
 * thin bodies, whose factors are cheap. If the estimates are close, factors are made at once. If the aggregation turns
 * out to need many cycles, factors replace it. Unknowns of larger levels are ordered only then. */
static TesStatus try_sparse(TesiCoarseMatrix *m, TesCoarseKind otherwise, TesCoarseKind *kind) {
  enum { MOST = 50000, MOST_SLOW = 500000, SLOW = 4, NEAR = 2 };
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  const bool cycles = otherwise == TES_COARSE_AGGREGATION, large = m->size > MOST;
  *kind = otherwise;
  if (m->size > (cycles ? MOST_SLOW : MOST) || tesi_ranks(ctx) > 1 || tesi_factorization_missing(ctx))
    return TES_OK;
  if (large) {
    TES_TRY(tesi_aggregation_create(m->op, &m->aggregation));
    if (tesi_aggregation_cycles(m->aggregation) < SLOW) return TES_OK;
  }
  TES_TRY(order_sparse(m));
  bool serves = serves_sparse(m, otherwise, cycles && !large ? NEAR : 1);
  if (cycles && !large && !serves) {
    TES_TRY(tesi_aggregation_create(m->op, &m->aggregation));
    serves = serves_sparse(m, otherwise, 1);
  }
  if (serves) {
    *kind = TES_COARSE_SPARSE;
    tesi_aggregation_destroy(&m->aggregation);
  } else {
    tesi_coarse_sparse_destroy(&m->sparse);
  }
done:
  return status;
}

/* The best solver without sparse factors. On one core aggregation takes less time than hypre too: 0.3 and 0.5 times for
 * Poisson with 16 k and 118 k unknowns. */
static TesCoarseKind best_otherwise(const TesiCoarseMatrix *m) {
  const bool amg =
      tesi_amg_available() && tes_space_components(m->op->space) == 1 && tesi_ranks(m->context) == 1;
  if (m->size > TESI_DENSE && !tesi_aggregation_refuses(m->op)) return TES_COARSE_AGGREGATION;
  return m->size <= TESI_DENSE ? TES_COARSE_DIRECT : amg ? TES_COARSE_AMG : TES_COARSE_CG;
}

/* For so few unknowns dense factors are used, and no library is opened. */
static TesStatus choose(TesiCoarseMatrix *m, TesCoarseKind *kind) {
  enum { FEW = 800 };
  if (*kind != TES_COARSE_AUTO) return TES_OK;
  *kind = best_otherwise(m);
  return m->size <= FEW ? TES_OK : try_sparse(m, *kind, kind);
}

static TesStatus refuse(const TesiCoarseMatrix *m, TesCoarseKind kind) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  const bool several = tesi_ranks(ctx) > 1;
  TES_CHECK(!several || (kind != TES_COARSE_AMG && kind != TES_COARSE_SPARSE),
            "solver.coarse: %s is for one rank; several have direct and cg on their coarsest level",
            kind == TES_COARSE_AMG ? "amg" : "sparse");
  TES_CHECK(
      kind != TES_COARSE_AMG || !tesi_is_elasticity(m->op),
      "solver.coarse: amg is for one component; elasticity has sparse, aggregation, direct and cg on its "
      "coarsest level");
done:
  return status;
}

static TesStatus create_kind(TesiCoarseMatrix *m, TesCoarseKind kind) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  TES_TRY(refuse(m, kind));
  TES_TRY(choose(m, &kind));
  if (kind == TES_COARSE_SPARSE) {
    if (!m->sparse) TES_TRY(order_sparse(m));
    TES_TRY(tesi_coarse_sparse_factorize(m->sparse));
  } else if (kind == TES_COARSE_AGGREGATION) {
    if (!m->aggregation) TES_TRY(tesi_aggregation_create(m->op, &m->aggregation));
  } else if (kind == TES_COARSE_DIRECT) {
    TES_TRY(check_memory(m));
    TES_TRY(factorize(m));
  } else {
    TES_TRY(kind == TES_COARSE_AMG ? create_amg(m) : invert_diagonal(m));
  }
done:
  return status;
}

TesStatus tesi_coarse_matrix_create(TesContext *ctx, const TesOperator *op, TesCoarseKind kind,
                                    TesiCoarseMatrix **matrix) {
  TesStatus status = TES_OK;
  TesiCoarseMatrix *m = NULL;
  *matrix = NULL;
  TES_CHECK(op->precision == TES_DOUBLE, "the operator of a coarse solver is in float64");
  TES_NEW(&m);
  m->context = tesi_context_retain(ctx);
  m->op = tesi_operator_retain(op);
  m->length = op->length;
  m->size = tesi_ranks(ctx) > 1 ? op->space->layout->global : op->length;
  TES_ALLOC(&m->r, m->length);
  TES_ALLOC(&m->z, m->length);
  TES_TRY(tesi_operator_new_vector(op, TES_DOUBLE, &m->p));
  TES_TRY(tesi_operator_new_vector(op, TES_DOUBLE, &m->q));
  TES_TRY(tesi_elasticity_motions(op, &m->motions, &m->motion));
  TES_TRY(create_kind(m, kind));
  *matrix = m;
  m = NULL;
done:
  tesi_coarse_matrix_destroy(&m);
  return status;
}

void tesi_coarse_matrix_destroy(TesiCoarseMatrix **matrix) {
  if (!matrix || !*matrix) return;
  TesiCoarseMatrix *m = *matrix;
  TesContext *ctx = m->context;
  *matrix = NULL;
  tesi_aggregation_destroy(&m->aggregation);
  tesi_amg_destroy(&m->amg);
  tesi_coarse_sparse_destroy(&m->sparse);
  tesi_free(ctx, &m->number);
  tesi_free(ctx, &m->gathered);
  tesi_free(ctx, &m->factor);
  tesi_free(ctx, &m->motion);
  tesi_free(ctx, &m->diagonal);
  tesi_free(ctx, &m->r);
  tesi_free(ctx, &m->z);
  tes_vector_destroy(&m->p);
  tes_vector_destroy(&m->q);
  tes_operator_destroy(&m->op);
  tesi_free(ctx, &m);
  tes_context_destroy(&ctx);
}

const char *tesi_coarse_matrix_describe(const TesiCoarseMatrix *matrix) {
  if (matrix->aggregation) return tesi_aggregation_describe(matrix->aggregation);
  return matrix->sparse   ? "solved directly, by sparse factors"
         : matrix->factor ? "solved directly"
         : matrix->amg    ? "conjugate gradients with algebraic multigrid"
                          : "conjugate gradients with the diagonal";
}

/* Removes the part of b for which a singular operator has no solution. */
static double mean_of(const TesiCoarseMatrix *m, const double *b) {
  if (!m->op->singular) return 0;
  const TesiLayout *layout = m->op->space->layout;
  return tesi_layout_product(layout, b, NULL) / (double)layout->global;
}

/* z <- the preconditioned residual, with mean zero if constants are in the null space. */
static TesStatus precondition(TesiCoarseMatrix *m) {
  TesStatus status = TES_OK;
  if (m->amg)
    status = tesi_amg_apply(m->amg, m->r, m->z);
  else
    for (int64_t i = 0; i < m->length; i++) m->z[i] = m->r[i] * m->diagonal[i];
  const double mean = mean_of(m, m->z);
  for (int64_t i = 0; i < m->length; i++) m->z[i] -= mean;
  tesi_elasticity_project(m->op->space->layout, m->motions, m->motion, m->z);
  return status;
}

/* To 1e-10, from zero. p <- z + beta p and q = A p go through host memory, since the level is small. */
static TesStatus conjugate_gradients(TesiCoarseMatrix *m, const double *b, double *x) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  const int64_t n = m->length;
  const TesiLayout *layout = m->op->space->layout;
  double *direction = NULL, *image = NULL, first, norm, rz = 0;
  TES_ALLOC(&direction, n);
  TES_ALLOC(&image, n);
  const double mean = mean_of(m, b);
  for (int64_t i = 0; i < n; i++) m->r[i] = b[i] - mean, x[i] = 0;
  tesi_elasticity_project(layout, m->motions, m->motion, m->r);
  norm = first = tesi_layout_product(layout, m->r, m->r);
  for (int step = 0; step < MOST_STEPS && norm > 1e-20 * first; step++) {
    TES_TRY(precondition(m));
    const double next = tesi_layout_product(layout, m->r, m->z);
    for (int64_t i = 0; i < n; i++) direction[i] = m->z[i] + (step ? next / rz : 0) * direction[i];
    rz = next;
    TES_TRY(tes_vector_set(m->p, direction));
    TES_TRY(tes_operator_apply(m->op, m->p, m->q));
    TES_TRY(tes_vector_get(m->q, image));
    const double pq = tesi_layout_product(layout, direction, image);
    if (!(pq > 0)) break; /* round-off of a vanishing direction; a NaN shows in the outer residual */
    for (int64_t i = 0; i < n; i++) {
      x[i] += rz / pq * direction[i];
      m->r[i] -= rz / pq * image[i];
    }
    norm = tesi_layout_product(layout, m->r, m->r);
  }
done:
  tesi_free(ctx, &direction);
  tesi_free(ctx, &image);
  return status;
}

TesStatus tesi_coarse_matrix_solve(TesiCoarseMatrix *matrix, const double *b, double *x) {
  TesContext *ctx = matrix->context;
  TesStatus status = TES_OK;
  const int64_t n = matrix->size;
  const double mean = mean_of(matrix, b);
  double *const all = matrix->number ? matrix->gathered : x;
  if (matrix->sparse) return tesi_coarse_sparse_solve(matrix->sparse, b, x);
  if (matrix->aggregation) return tesi_aggregation_solve(matrix->aggregation, b, x);
  if (!matrix->factor) return conjugate_gradients(matrix, b, x);
  for (int64_t i = 0; i < matrix->length; i++) x[i] = b[i] - mean;
  tesi_elasticity_project(matrix->op->space->layout, matrix->motions, matrix->motion, x);
  if (matrix->number) gather(matrix, x, all);
  const int info = (int)LAPACKE_dpotrs(LAPACK_COL_MAJOR, 'L', (lapack_int)n, 1, matrix->factor, (lapack_int)n,
                                       all, (lapack_int)n);
  if (info != 0)
    TES_FAIL(TES_NAN,
             "a residual on the coarsest level is not finite (LAPACK dpotrs: %d): numbers of the problem are "
             "too large for float64",
             info);
  for (int64_t i = 0; matrix->number && i < matrix->length; i++) x[i] = all[(int64_t)matrix->number[i]];
done:
  return status;
}
