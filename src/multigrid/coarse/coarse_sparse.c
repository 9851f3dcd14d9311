#include "multigrid/coarse/coarse_sparse.h"
#include <math.h>
#include <string.h>
#include "operator/elasticity/elasticity_motions.h"
#include "operator/mapped/mapped.h"
#include "operator/transport/transport_operator.h"

enum { MOST_NULLS = 6 };

struct TesiCoarseSparse {
  TesContext *context;
  TesiLayout *layout;
  int64_t n;
  int nulls;
  const double *null;       /* [nulls][n] orthonormal; owned by the caller */
  int64_t held[MOST_NULLS]; /* unknowns that are set to 0 in the factorization */
  TesiFactorization *factors; /* of the matrix in which the rows and columns of held unknowns are replaced by rows and
                               * columns of the identity */
};

/* s->held: the unknowns at which the null vectors differ most, by Gaussian elimination of their columns with the
 * largest remaining row as the pivot. A combination of null vectors that is 0 at all held unknowns is 0. */
static TesStatus choose_held(TesiCoarseSparse *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  double *rest = NULL;
  TES_ALLOC(&rest, s->nulls * s->n);
  if (s->nulls > 0) memcpy(rest, s->null, (size_t)(s->nulls * s->n) * sizeof *rest);
  for (int k = 0; k < s->nulls; k++) {
    int pivot = k;
    for (int v = k; v < s->nulls; v++)
      for (int64_t i = 0; i < s->n; i++)
        if (fabs(rest[v * s->n + i]) > fabs(rest[pivot * s->n + s->held[k]])) s->held[k] = i, pivot = v;
    for (int64_t i = 0; i < s->n && pivot != k; i++) {
      const double other = rest[k * s->n + i];
      rest[k * s->n + i] = rest[pivot * s->n + i], rest[pivot * s->n + i] = other;
    }
    for (int v = k + 1; v < s->nulls; v++) {
      const double factor = rest[v * s->n + s->held[k]] / rest[k * s->n + s->held[k]];
      for (int64_t i = 0; i < s->n; i++) rest[v * s->n + i] -= factor * rest[k * s->n + i];
    }
  }
done:
  tesi_free(ctx, &rest);
  return status;
}

TesStatus tesi_coarse_sparse_create(const TesOperator *op, int nulls, const double *null,
                                    TesiCoarseSparse **sparse) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiCoarseSparse *s = NULL;
  TesiMatrix A = {0};
  *sparse = NULL;
  if (tesi_factorization_missing(ctx)) TES_FAIL(TES_MISSING, "%s", tesi_factorization_missing(ctx));
  TES_NEW(&s);
  s->context = tesi_context_retain(ctx);
  s->layout = tesi_layout_retain(op->space->layout);
  s->n = op->length;
  s->nulls = nulls, s->null = null;
  TES_TRY(choose_held(s));
  TES_TRY(tesi_mapped_of(op) ? tesi_operator_assemble(op, &A) : tesi_operator_probe(op, &A));
  TES_TRY(tesi_factorization_create(ctx, &A, tesi_transport_of(op) ? TESI_MATRIX_GENERAL : TESI_MATRIX_DEFINITE,
                                    nulls, s->held, &s->factors));
  *sparse = s;
  s = NULL;
done:
  tesi_matrix_destroy(ctx, &A);
  tesi_coarse_sparse_destroy(&s);
  return status;
}

void tesi_coarse_sparse_destroy(TesiCoarseSparse **sparse) {
  if (!sparse || !*sparse) return;
  TesiCoarseSparse *s = *sparse;
  TesContext *ctx = s->context;
  *sparse = NULL;
  tesi_factorization_destroy(&s->factors);
  tesi_layout_destroy(&s->layout);
  tesi_free(ctx, &s);
  tes_context_destroy(&ctx);
}

TesiFactorizationCost tesi_coarse_sparse_cost(const TesiCoarseSparse *sparse) {
  return tesi_factorization_cost(sparse->factors);
}

TesStatus tesi_coarse_sparse_factorize(TesiCoarseSparse *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const TesiFactorizationCost cost = tesi_coarse_sparse_cost(s);
  const double start = tesi_now();
  TES_TRY(tesi_work_on(ctx, "factors of %lld unknowns, %.3g entries", (long long)s->n, cost.entries));
  TES_TRY(tesi_factorization_compute(s->factors));
  tesi_log(ctx, TES_LOG_DETAIL, "%lld unknowns: %.3g entries of factors, %.3g flops, made in %.3g s",
           (long long)s->n, cost.entries, cost.flops, tesi_now() - start);
done:
  return status;
}

TesStatus tesi_coarse_sparse_solve(TesiCoarseSparse *s, const double *b, double *x) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  if (x != b) memcpy(x, b, (size_t)s->n * sizeof *x);
  tesi_elasticity_project(s->layout, s->nulls, s->null, x);
  for (int k = 0; k < s->nulls; k++) x[s->held[k]] = 0;
  TES_TRY(tesi_factorization_solve(s->factors, x));
  tesi_elasticity_project(s->layout, s->nulls, s->null, x);
done:
  return status;
}
