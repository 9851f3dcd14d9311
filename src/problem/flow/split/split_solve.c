/* The solves of a step: see split.h. */
#include <math.h>
#include "operator/diagonal_cg.h"
#include "krylov/solver.h"
#include "operator/operator.h"
#include "problem/flow/split/split.h"

enum { MOST = 1000 /* iterations */ };

static TesStatus add_grad_div(void *user, const TesVector *x, TesVector *y) {
  return tesi_grad_div_add(user, 1, true, x, y);
}

TesStatus tesi_split_cg(TesiSplit *pr, double norm, double target, TesVector *r, TesVector *d) {
  const TesiJacobi cg = {.op = pr->op,
                         .inverse = pr->diagonal.inverse,
                         .z = pr->work.z,
                         .q = pr->work.q,
                         .p = pr->work.s,
                         .device = d == pr->work.d && !pr->grad_div.gamma ? pr->diagonal.jacobi : NULL,
                         .add = pr->grad_div.gamma ? add_grad_div : NULL,
                         .user = pr};
  return tesi_jacobi_cg(&cg, norm, target, MOST, r, d);
}

static TesStatus find_inverse(const TesOperator *op, TesVector **inverse) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  if (!*inverse) TES_TRY(tesi_vector_create_on(op->space->layout, TES_DOUBLE, inverse));
  TES_TRY(tes_operator_diagonal(op, *inverse));
  TES_TRY(tesi_vector_invert(*inverse));
done:
  return status;
}

/* ---- velocities ---------------------------------------------------------------------------------------- */

TesStatus tesi_split_use_sigma(TesProblem *p, double sigma) {
  TesiSplit *pr = tesi_split_of(p);
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesFunction *nu = NULL, *c = NULL;
  if (pr->op && pr->sigma == sigma) return TES_OK;
  tes_operator_destroy(&pr->op);
  tes_operator_destroy(&pr->whole);
  TES_TRY(tes_function_create_constant(ctx, pr->nu, &nu));
  TES_TRY(tes_function_create_constant(ctx, sigma, &c));
  const bool symmetric = p->variant.flow == TES_FLOW_SYMMETRIC; /* 2 nu eps(u) */
  const TesTermDesc term[] = {{.term = symmetric ? TES_TERM_STRAIN : TES_TERM_DIFFUSION, .a = {.all = nu}},
                              {.term = TES_TERM_MASS, .a = {.all = c}}};
  TES_TRY(tes_operator_create(
      ctx, &(TesOperatorDesc){.space = pr->velocity, .form = {sigma > 0 ? 2 : 1, term, 0}}, &pr->op));
  TES_TRY(tesi_operator_on(pr->op, pr->full, TES_DOUBLE, &pr->whole));
  if (p->in_time) TES_TRY(find_inverse(pr->op, &pr->diagonal.inverse));
  if (p->in_time) TES_TRY(tesi_refined_use(&pr->diagonal.refined, pr->op, pr->diagonal.inverse));
  pr->sigma = sigma;
  tesi_jacobi_device_forget(ctx, pr->diagonal.jacobi);
done:
  tes_function_destroy(&nu);
  tes_function_destroy(&c);
  return status;
}

/* r <- b - (sigma M + nu K) x at the unknowns, 0 at given values, as b is; returns its norm. */
static TesStatus find_residual(TesiSplit *pr, const TesVector *b, const TesVector *x, TesVector *r,
                               double *norm) {
  TesContext *ctx = b->context;
  TesStatus status = TES_OK;
  TES_TRY(tes_operator_apply(pr->whole, x, pr->work.q));
  TES_TRY(tesi_grad_div_add(pr, 1, true, x, pr->work.q));
  TES_TRY(tesi_walls_put(&pr->walls, false, pr->work.q));
  TES_TRY(tesi_vector_difference(b, pr->work.q, r, norm));
done:
  return status;
}

typedef struct System {
  TesiSplit *projection;
  const TesVector *b;
} System;

static TesStatus find_again(void *user, const TesVector *x, TesVector *r, double *norm) {
  const System *s = user;
  return find_residual(s->projection, s->b, x, r, norm);
}

/* Corrects x until its residual r, whose norm is given, is at most the target. */
static TesStatus improve(TesiSplit *pr, const TesVector *b, double norm, double target, TesVector *r,
                         TesVector *x) {
  TesContext *ctx = b->context;
  TesStatus status = TES_OK;
  System system = {pr, b};
  if (pr->diagonal.refined.op) {
    TES_TRY(tesi_refined_solve(&pr->diagonal.refined, find_again, &system, norm, target, MOST, r, x));
    return pr->velocity->slip ? tesi_walls_put(&pr->walls, true, x) : TES_OK; /* normals of float32 */
  }
  TES_TRY(tesi_split_cg(pr, norm, target, r, pr->work.d));
  TES_TRY(tes_vector_axpy(1, pr->work.d, x));
done:
  return status;
}

/* |r| of the old solution with the new boundary values. Since the old solution solved the last system, r is the
 * change of b. */
static TesStatus find_reference(TesiSplit *pr, const TesVector *b, const TesVector *old, double *reference) {
  TesContext *ctx = b->context;
  TesStatus status = TES_OK;
  if (pr->last.is_under) {
    TES_TRY(tesi_vector_difference(b, pr->last.b, pr->work.r, reference));
  } else {
    TES_TRY(tes_vector_copy(old, 1, pr->work.d));
    TES_TRY(tesi_walls_put(&pr->walls, true, pr->work.d));
    TES_TRY(find_residual(pr, b, pr->work.d, pr->work.r, reference));
  }
done:
  return status;
}

/* The tolerance is relative to the residual of the old solution with the new boundary values; and it is a fraction of
 * the pressure's tolerance, since the remainder is noise in the pressure's right-hand side and guesses. */
TesStatus tesi_split_velocity(TesProblem *p, const TesVector *b, const TesVector *old, TesVector *x) {
  const double share = 1e-3;
  TesiSplit *pr = tesi_split_of(p);
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  double reference, norm;
  TES_TRY(find_reference(pr, b, old, &reference));
  TES_TRY(tesi_walls_put(&pr->walls, true, x));
  TES_TRY(find_residual(pr, b, x, pr->work.r, &norm));
  if (!isfinite(norm) || !isfinite(reference)) return TES_NAN;
  if (reference < norm) {
    TES_TRY(tes_vector_copy(old, 1, x));
    TES_TRY(tesi_walls_put(&pr->walls, true, x));
    TES_TRY(find_residual(pr, b, x, pr->work.r, &norm));
  }
  TES_TRY(improve(pr, b, norm, fmax(share * p->chosen.tolerance * reference, 1e-15 * norm), pr->work.r, x));
done:
  return status;
}

/* ---- pressures ----------------------------------------------------------------------------------------- */

/* The Lagrange polynomial through the old values. */
static TesStatus extrapolate(const TesiPast *past, double time, double factor, TesVector *value) {
  double weight[TESI_SPLIT_GUESSES];
  const TesVector *old[TESI_SPLIT_GUESSES];
  if (!past->count) return tes_vector_fill(value, 0);
  for (int j = 0; j < past->count; j++) {
    weight[j] = factor, old[j] = past->value[j];
    for (int i = 0; i < past->count; i++)
      if (i != j) weight[j] *= (time - past->at[i]) / (past->at[j] - past->at[i]);
  }
  return tesi_vector_combine(past->count, weight, old, value);
}

static TesStatus keep(TesiPast *past, int most, double time, double factor, const TesVector *value) {
  if (most < 1) return TES_OK;
  TesVector *oldest = past->value[most - 1];
  for (int i = most - 1; i > 0; i--) past->value[i] = past->value[i - 1], past->at[i] = past->at[i - 1];
  past->value[0] = oldest, past->at[0] = time;
  past->count = tesi_min(past->count + 1, most);
  return tes_vector_copy(value, 1 / factor, oldest);
}

/* The part of the net flux that rounding and the interpolation of boundary values cause is not part of the equation. */
TesStatus tesi_split_balance(TesiSplit *pr, TesVector *b) {
  TesContext *ctx = b->context;
  TesStatus status = TES_OK;
  double sum;
  if (pr->walls.any_open) return TES_OK;
  TES_TRY(tes_vector_dot(pr->mean.ones, b, &sum));
  TES_TRY(tes_vector_axpy(-sum / (double)b->layout->global, pr->mean.ones, b));
done:
  return status;
}

static TesStatus poisson_residual(TesiSplit *pr, const TesVector *b, const TesVector *phi, TesVector *r,
                                  double *norm) {
  TesContext *ctx = b->context;
  TesStatus status = TES_OK;
  TES_TRY(tes_operator_residual(pr->poisson->op, b, phi, r));
  TES_TRY(tesi_problem_clear(pr->poisson, r));
  TES_TRY(tes_vector_norm(r, norm));
done:
  return status;
}

TesStatus tesi_split_potential(TesProblem *p, double time, double factor, TesVector *b, TesVector *phi,
                               TesSolveResult *result) {
  enum { ONE_CYCLE = 2 };
  TesiSplit *pr = tesi_split_of(p);
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesSolveResult one = {0};
  double load, norm;
  TES_TRY(tesi_split_balance(pr, b));
  TES_TRY(tesi_problem_clear(pr->poisson, b));
  TES_TRY(tes_vector_norm(b, &load));
  TES_TRY(extrapolate(&pr->guess.phi, time, factor, phi));
  TES_TRY(poisson_residual(pr, b, phi, pr->work.pr, &norm));
  if (!isfinite(load) || !isfinite(norm)) return TES_NAN;
  if (norm > load) {
    TES_TRY(tes_vector_fill(phi, 0));
    TES_TRY(tes_vector_copy(b, 1, pr->work.pr));
    norm = load;
  }
  if (load > 0 && norm > 1e-15 * load) {
    tesi_solver_set_tolerance(pr->poisson->solver,
                              fmin(fmax(p->chosen.tolerance * load / norm, 1e-14), 1. / ONE_CYCLE));
    TES_TRY(tesi_solver_solve_from_zero(pr->poisson->solver, pr->work.pr, pr->work.pd, &one));
    TES_TRY(tes_vector_axpy(1, pr->work.pd, phi));
  }
  TES_TRY(keep(&pr->guess.phi, pr->guess.kept, time, factor, phi));
  one.iterations += result->iterations;
  one.fractional_iterations = NAN;
  tesi_problem_take_floor(p, &one);
  *result = one;
done:
  return status;
}

static TesStatus find_mass_residual(void *user, const TesVector *x, TesVector *r, double *norm) {
  const System *s = user;
  const TesStatus status = tes_operator_residual(s->projection->pressure_mass, s->b, x, r);
  return status == TES_OK ? tes_vector_norm(r, norm) : status;
}

static TesStatus ready_to_project(TesiSplit *pr) {
  TesContext *ctx = pr->pressure_mass->context;
  TesStatus status = TES_OK;
  if (pr->pressure_diagonal.inverse) return TES_OK;
  TES_TRY(find_inverse(pr->pressure_mass, &pr->pressure_diagonal.inverse));
  TES_TRY(tesi_refined_use(&pr->pressure_diagonal.refined, pr->pressure_mass, pr->pressure_diagonal.inverse));
done:
  return status;
}

/* r <- b - M x for the guess x or for x = 0, whichever has the smaller residual. of_b: |b|. */
static TesStatus begin_projection(const System *system, double of_b, bool guess, TesVector *x, TesVector *r,
                                  double *norm) {
  TesContext *ctx = x->context;
  TesStatus status = TES_OK;
  if (guess) TES_TRY(find_mass_residual((void *)system, x, r, norm));
  if (guess && *norm < of_b) return TES_OK;
  TES_TRY(tes_vector_fill(x, 0));
  TES_TRY(tes_vector_copy(system->b, 1, r));
  *norm = of_b;
done:
  return status;
}

TesStatus tesi_split_project(TesProblem *p, TesVector *b, double tolerance, bool guess, TesVector *x) {
  TesiSplit *pr = tesi_split_of(p);
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  System system = {pr, b};
  double of_b, norm;
  TES_TRY(ready_to_project(pr));
  TES_TRY(tes_vector_norm(b, &of_b));
  const double target = tolerance * of_b;
  const TesiJacobi cg = {.op = pr->pressure_mass,
                         .inverse = pr->pressure_diagonal.inverse,
                         .z = pr->work.pz,
                         .q = pr->work.pq,
                         .p = pr->work.pd,
                         .device = pr->pressure_diagonal.jacobi};
  if (pr->pressure_diagonal.refined.op) {
    TES_TRY(begin_projection(&system, of_b, guess, x, pr->work.pz, &norm));
    return tesi_refined_solve(&pr->pressure_diagonal.refined, find_mass_residual, &system, norm, target, MOST,
                              pr->work.pz, x);
  }
  if (!guess) return tesi_jacobi_cg(&cg, of_b, target, MOST, b, x);
  TES_TRY(begin_projection(&system, of_b, true, x, pr->work.pr, &norm));
  TES_TRY(tesi_jacobi_cg(&cg, norm, target, MOST, pr->work.pr, b));
  TES_TRY(tes_vector_axpy(1, b, x));
done:
  return status;
}

TesStatus tesi_split_spread(TesProblem *p, double time, double factor, TesVector *b, TesVector *x) {
  TesiSplit *pr = tesi_split_of(p);
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const bool guess = pr->guess.spread.count > 0;
  if (guess) TES_TRY(extrapolate(&pr->guess.spread, time, factor, x));
  TES_TRY(tesi_split_project(p, b, fmin(1e-3, p->chosen.tolerance), guess, x));
  if (pr->guess.spread.value[0]) TES_TRY(keep(&pr->guess.spread, pr->guess.kept, time, factor, x));
done:
  return status;
}

/* The integrals of the pressure's nodal functions, by the quadrature of loads and values. The quadrature of the mass
 * matrix is not exact on curved cells, and output.values would then give a mean other than zero. */
static TesStatus make_weights(TesProblem *p) {
  TesiSplit *pr = tesi_split_of(p);
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesFunction *one = NULL;
  TES_TRY(tes_function_create_constant(ctx, 1, &one));
  TES_TRY(tesi_vector_create_on(pr->taylor_hood->pressure->layout, TES_DOUBLE, &pr->mean.weights));
  TES_TRY(
      tes_functional_load(&(TesLoadDesc){.space = pr->taylor_hood->pressure, .f = {one}}, pr->mean.weights));
  TES_TRY(tes_vector_dot(pr->mean.weights, pr->mean.ones, &pr->mean.volume));
done:
  tes_function_destroy(&one);
  return status;
}

/* v <- v - (from, v) / volume * along. */
static TesStatus take_out(TesProblem *p, TesVector *const *from, TesVector *const *along, TesVector *v) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  double sum;
  if (!tesi_split_of(p)->mean.weights) TES_TRY(make_weights(p));
  TES_TRY(tes_vector_dot(*from, v, &sum));
  TES_TRY(tes_vector_axpy(-sum / tesi_split_of(p)->mean.volume, *along, v));
done:
  return status;
}

TesStatus tesi_split_spread_flux(TesProblem *p, TesVector *v) {
  TesiSplit *pr = tesi_split_of(p);
  return take_out(p, &pr->mean.ones, &pr->mean.weights, v);
}

TesStatus tesi_split_remove_mean(TesProblem *p, TesVector *v) {
  TesiSplit *pr = tesi_split_of(p);
  return take_out(p, &pr->mean.weights, &pr->mean.ones, v);
}
