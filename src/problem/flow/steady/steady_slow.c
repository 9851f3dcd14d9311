#include "problem/flow/steady/steady_slow.h"
#include <math.h>
#include <stdio.h>
#include "multigrid/coarse/factorization.h"
#include "multigrid/multigrid.h"
#include "operator/operator.h"
#include "parallel/comm.h"
#include "problem/flow/split/split.h"
#include "problem/flow/steady/steady_direct.h"
#include "problem/flow/steady/steady_schur.h"

/* A solve is looked at before iterations 4, 8, .. 32, by the rate of the last four, and every AGAIN iterations once it
 * was helped. */
enum { LOOK = 4, LAST = 32, AGAIN = 16, MANY = 32 };
/* A cycle is poor if its second step leaves more than this part of the velocity's error; a cycle whose polynomials are
 * longer already, if it leaves more than the second part. Measured: tetrahedra 0.15 to 0.25, flat and curved tetrahedra
 * 0.4 to 0.8; flat cells with slip 0.7 to 1.6, then 0.55 to 0.7. */
enum { TIMES = 2, LONGER = 3 }; /* times the degree */
static const double poor[TIMES] = {0.25, 0.5};
/* Factors are taken up to these figures: a minute or two. */
static const double most_flops = 4e11, most_unknowns = 1e6;

/* The iterations that the solve takes at the rate of the last `window`. */
static double expect(const TesiSteady *s, int done, int window, double tolerance) {
  const double rate = log(s->residuals[done] / s->residuals[done - window]) / window;
  return rate < 0 ? done + log(tolerance / s->residuals[done]) / rate : INFINITY;
}

/* ---- the cycle ----------------------------------------------------------------------------------------- */

/* *factor <- what the second step of descent with the cycle leaves of the error of A e = r, in the energy norm. s:
 * scratch. */
static TesStatus find_factor(TesProblem *p, TesiSteadyCycle cycle, const TesVector *r, TesVector *w,
                             TesVector *s, double *factor) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  double now, next, energy;
  TES_TRY(tes_vector_copy(r, 1, s));
  pr->steady.cycle_norm = 0;
  TES_TRY(cycle(p, s, w));
  TES_TRY(tes_vector_dot(s, w, &now));
  *factor = 0;
  for (int step = 0; step < 2 && now > 0; step++, now = next) {
    TES_TRY(tes_operator_apply(pr->op, w, pr->work.r));
    TES_TRY(tes_vector_dot(w, pr->work.r, &energy));
    TES_TRY(tes_vector_axpy(-now / energy, pr->work.r, s));
    TES_TRY(cycle(p, s, w));
    TES_TRY(tes_vector_dot(s, w, &next));
    *factor = sqrt(fmax(next, 0) / now);
  }
done:
  return status;
}

static TesStatus improve_cycle(TesProblem *p, TesiSteadyCycle cycle, const TesVector *r, TesVector *w,
                               TesVector *s) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesSolveOptions *o = &p->options;
  int degree = tesi_multigrid_polynomial(p->multigrid);
  if (degree == 0 || o->smoother_degree || o->pre || o->post) return TES_OK;
  for (int i = 0; i < TIMES && LONGER * degree <= TESI_MOST_STEPS; i++) {
    double factor;
    TES_TRY(find_factor(p, cycle, r, w, s, &factor));
    tesi_log(ctx, TES_LOG_DETAIL, "slow: a step with the cycle reduces the velocity's error by %.3f", factor);
    if (factor <= poor[i]) break;
    degree *= LONGER;
    TES_TRY(tesi_multigrid_change(p->multigrid, degree, false, false));
  }
done:
  return status;
}

/* ---- factors ------------------------------------------------------------------------------------------- */

static TesStatus take_factors(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSteady *s = &tesi_split_of(p)->steady;
  if (tesi_ranks(ctx) > 1 || tesi_factorization_missing(ctx) || s->motions ||
      (double)p->space->layout->global > most_unknowns)
    return TES_OK;
  const TesStatus made = tesi_steady_direct_create(p, most_flops, &s->direct);
  if (made == TES_OUT_OF_MEMORY)
    tes_context_clear(ctx); /* cycles go on */
  else
    TES_TRY(made);
  if (!s->direct) return TES_OK;
  snprintf(
      p->text.method, sizeof p->text.method,
      "flexible GMRES, block-triangular, then sparse factors: cycles would not have reached the tolerance");
done:
  return status;
}

/* ---- looks --------------------------------------------------------------------------------------------- */

static TesStatus take_mobility(TesProblem *p, TesiSteadyCycle cycle) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSteady *s = &tesi_split_of(p)->steady;
  if (!s->schur) return TES_OK; /* it has been there from the start */
  TES_TRY(tesi_steady_schur_subtract(s->schur, p, -s->resistance));
  TES_TRY(tesi_steady_take_mobility(p, cycle));
  TES_TRY(tesi_steady_schur_subtract(s->schur, p, s->resistance));
done:
  return status;
}

static TesStatus help(TesProblem *p, TesiSteadyCycle cycle, const TesVector *r) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  const double norm = pr->steady.cycle_norm;
  TesVector *w = NULL;
  TES_TRY(tesi_vector_create_on(pr->full->layout, TES_DOUBLE, &w));
  TES_TRY(take_mobility(p, cycle));
  TES_TRY(improve_cycle(p, cycle, r, w, pr->work.d));
  pr->steady.cycle_norm = norm;
done:
  tes_vector_destroy(&w);
  return status;
}

TesStatus tesi_steady_help(TesProblem *p, TesiSteadyCycle cycle, int most, const TesVector *r) {
  TesiSteady *s = &tesi_split_of(p)->steady;
  const int done = s->applied++;
  if (s->helped < 0) return TES_OK; /* nothing is left to do */
  if (s->helped) {
    if (done <= s->helped || (done - s->helped) % AGAIN) return TES_OK;
    if (expect(s, done, AGAIN / 2, p->chosen.tolerance) <= most) return TES_OK;
    s->helped = -1;
    return take_factors(p);
  }
  if (done == 0 || done > LAST || done % LOOK || !(expect(s, done, LOOK, p->chosen.tolerance) > MANY))
    return TES_OK;
  s->helped = done;
  return help(p, cycle, r);
}
