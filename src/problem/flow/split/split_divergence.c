/* Removes the divergence of velocities that come from another mesh: see split.h.
 *
 *   u <- u - D^-1 B' s,   (B D^-1 B') s = B u + K phi
 *
 * B is the divergence, K the stiffness of the pressures, D the row-sum mass of the velocities without the entries
 * with given values. D keeps means, 1' M D^-1 B' s = 1' B' s = 0, and costs one product. For fields that vary slowly
 * B D^-1 B' is close to K. So flexible GMRES with the V-cycle of the pressure's problem solves the system. */
#include <math.h>
#include "krylov/flexible.h"
#include "operator/operator.h"
#include "problem/flow/split/split.h"

typedef struct Removal {
  TesProblem *problem;
  TesVector *inverse; /* of D */
  TesVector *v;       /* velocities */
  TesVector *cycle_b, *cycle_x;
} Removal;

/* v <- D^-1 B' s, at the unknowns and without components along normals of slip, since D is equal in all directions. */
static TesStatus find_gradient(const Removal *m, const TesVector *s) {
  TesContext *ctx = m->problem->context;
  TesStatus status = TES_OK;
  const TesiSplit *pr = tesi_split_of(m->problem);
  TES_TRY(tesi_taylor_hood_gradient(pr->taylor_hood, s, m->v));
  TES_TRY(tesi_walls_put(&pr->walls, false, m->v));
  TES_TRY(tesi_device_multiply(ctx, TES_DOUBLE, m->v->length, 1, m->v->data, m->inverse->data, m->v->data));
done:
  return status;
}

/* Rows of open boundaries become 0, since they have no test function. Without open boundaries the sum of b becomes
 * 0. */
static TesStatus restrict_rows(const Removal *m, TesVector *b) {
  TesiSplit *pr = tesi_split_of(m->problem);
  const TesStatus status = tesi_split_balance(pr, b);
  return status == TES_OK ? tesi_problem_clear(pr->poisson, b) : status;
}

static TesStatus apply(void *user, const TesVector *s, TesVector *b) {
  const Removal *m = user;
  TesContext *ctx = m->problem->context;
  TesStatus status = TES_OK;
  TES_TRY(find_gradient(m, s));
  TES_TRY(tesi_taylor_hood_divergence(tesi_split_of(m->problem)->taylor_hood, m->v, b));
  TES_TRY(restrict_rows(m, b));
done:
  return status;
}

/* x <- the V-cycle of the Poisson problem, in its precision, applied to a right-hand side of norm 1. */
static TesStatus precondition(void *user, const TesVector *r, TesVector *z) {
  const Removal *m = user;
  TesContext *ctx = m->problem->context;
  TesStatus status = TES_OK;
  TesMultigrid *multigrid = tesi_split_of(m->problem)->poisson->multigrid;
  double norm;
  TES_TRY(tes_vector_norm(r, &norm));
  TES_TRY(tes_vector_fill(z, 0));
  if (!(norm > 0)) goto done;
  TES_TRY(tes_vector_copy(r, 1 / norm, m->cycle_b));
  TES_TRY(tes_multigrid_cycle(multigrid, m->cycle_b, m->cycle_x, true));
  TES_TRY(tes_vector_axpy(norm, m->cycle_x, z));
  TES_TRY(restrict_rows(m, z));
done:
  return status;
}

static TesStatus find_inverse(Removal *m) {
  TesContext *ctx = m->problem->context;
  TesStatus status = TES_OK;
  const TesiSplit *pr = tesi_split_of(m->problem);
  double *value = NULL;
  TES_TRY(tes_vector_fill(m->inverse, 1));
  TES_TRY(tes_operator_apply(pr->mass, m->inverse, m->v));
  TES_TRY(tesi_vector_read(m->v, &value));
  for (int64_t i = 0; i < m->v->length; i++) {
    TES_CHECK(value[i] > 0,
              "a cell is so distorted that the integral of one of its functions is not positive");
    value[i] = 1 / value[i];
  }
  TES_TRY(tes_vector_set(m->inverse, value));
done:
  tesi_free(ctx, &value);
  return status;
}

static TesStatus create(TesProblem *p, Removal *m) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiSplit *pr = tesi_split_of(p);
  m->problem = p;
  TES_TRY(tesi_vector_create_on(pr->full->layout, TES_DOUBLE, &m->inverse));
  TES_TRY(tesi_vector_create_on(pr->full->layout, TES_DOUBLE, &m->v));
  TES_TRY(tesi_vector_create_on(pr->taylor_hood->pressure->layout, pr->poisson->chosen.cycle, &m->cycle_b));
  TES_TRY(tesi_vector_create_on(pr->taylor_hood->pressure->layout, pr->poisson->chosen.cycle, &m->cycle_x));
  TES_TRY(find_inverse(m));
done:
  return status;
}

/* b <- B u + K phi. */
static TesStatus find_defect(const Removal *m, const TesVector *phi, const TesVector *u, TesVector *b) {
  TesContext *ctx = m->problem->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(m->problem);
  TesOperator *stiffness = NULL;
  TES_TRY(tesi_operator_on(pr->poisson->op, pr->taylor_hood->pressure, TES_DOUBLE, &stiffness));
  TES_TRY(tes_operator_apply(stiffness, phi, pr->work.pr));
  TES_TRY(tesi_taylor_hood_divergence(pr->taylor_hood, u, b));
  TES_TRY(tes_vector_axpy(1, pr->work.pr, b));
  TES_TRY(restrict_rows(m, b));
done:
  tes_operator_destroy(&stiffness);
  return status;
}

/* The L2 norm of the pressure with these integrals. b is unchanged. */
static TesStatus measure(TesProblem *p, const TesVector *b, double *norm) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  TES_TRY(tes_vector_copy(b, 1, pr->work.pr));
  TES_TRY(tesi_split_project(p, pr->work.pr, fmin(1e-4, 0.1 * p->chosen.tolerance), false, pr->work.pn));
  TES_TRY(tes_vector_dot(b, pr->work.pn, norm));
  *norm = sqrt(fmax(*norm, 0));
done:
  return status;
}

TesStatus tesi_split_remove_divergence(TesProblem *p, const TesVector *phi, TesVector *s, TesVector *u,
                                       double *removed) {
  enum { MOST = 100 };
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  Removal m = {0};
  double residuals[MOST + 1];
  TesSolveResult result = {0};
  TES_TRY(create(p, &m));
  TES_TRY(find_defect(&m, phi, u, pr->work.pb));
  TES_TRY(measure(p, pr->work.pb, removed));
  const TesiFlexible system = {.context = ctx,
                               .length = pr->p.length,
                               .user = &m,
                               .apply = apply,
                               .precondition = precondition,
                               .tolerance = 1e-4,
                               .max_iterations = MOST,
                               .residuals = residuals};
  status = tesi_flexible_solve(&system, pr->work.pb, s, &result);
  if (status == TES_NOT_CONVERGED) status = TES_OK; /* the next pressure takes the divergence that is left */
  TES_TRY(status);
  tesi_log(ctx, TES_LOG_DETAIL, "divergence of %.3g removed in %d iterations", *removed, result.iterations);
  TES_TRY(find_gradient(&m, s));
  TES_TRY(tes_vector_axpy(-1, m.v, u));
done:
  tes_vector_destroy(&m.inverse);
  tes_vector_destroy(&m.v);
  tes_vector_destroy(&m.cycle_b);
  tes_vector_destroy(&m.cycle_x);
  return status;
}
