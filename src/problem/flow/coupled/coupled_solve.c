/* Systems and solves of a step: see coupled.h. */
#include <math.h>
#include <stdio.h>
#include "krylov/solver.h"
#include "operator/stokes/stokes_operator.h"
#include "problem/flow/coupled/coupled.h"
#include "problem/equation/stokes.h"

/* ---- systems ------------------------------------------------------------------------------------------- */

static void show_system(TesProblem *p, const TesiCoupledSystem *s) {
  p->op = s->op, p->levels = s->op, p->multigrid = s->multigrid, p->solver = s->solver;
}

void tesi_coupled_drop(TesiCoupledSystem *s) {
  for (int c = 0; c < TESI_AXES; c++) tes_vector_destroy(&s->response[c]);
  tes_solver_destroy(&s->solver);
  tes_multigrid_destroy(&s->multigrid);
  tes_operator_destroy(&s->op);
}

static void describe(TesProblem *p) {
  char solver[sizeof p->text.method];
  snprintf(solver, sizeof solver, "%s", p->text.method);
  snprintf(p->text.method, sizeof p->text.method, "BDF%d, convection extrapolated, upwind; %.100s",
           tesi_coupled_of(p)->order, solver);
}

TesStatus tesi_coupled_use(TesProblem *p, double time, double sigma) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiCoupled *flow = tesi_coupled_of(p);
  TesiCoupledSystem wanted = {.sigma = sigma};
  int i = 0;
  TES_TRY(tesi_in_time_shift(p, time, sigma));
  TES_TRY(tesi_stokes_choose_unit(p));
  while (i < TESI_COUPLED_SYSTEMS - 1 && flow->system[i].op && flow->system[i].sigma != sigma) i++;
  if (flow->system[i].op && flow->system[i].sigma == sigma) {
    wanted = flow->system[i];
  } else {
    tesi_coupled_drop(&flow->system[i]);
    show_system(p, &wanted);
    status = tesi_problem_create_system(p);
    wanted = (TesiCoupledSystem){.sigma = sigma, .op = p->op, .multigrid = p->multigrid, .solver = p->solver};
    if (status != TES_OK) {
      tesi_coupled_drop(&wanted);
      show_system(p, &flow->system[0]);
      goto done;
    }
    describe(p);
  }
  for (; i > 0; i--) flow->system[i] = flow->system[i - 1];
  flow->system[0] = wanted;
  show_system(p, &wanted);
done:
  return status;
}

/* ---- properties of a solution --------------------------------------------------------------------------- */

/* The lifting at the time of the problem's numbers, if it has not been made for this time. */
static TesStatus find_given(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiCoupled *flow = tesi_coupled_of(p);
  double flux[2];
  TES_TRY(tesi_rt_lifting(p->space, p->numbered.given, flow->w, flux));
  flow->gives = flux[0] > 0;
  if (flow->gives) {
    TES_TRY(tes_vector_fill(flow->r, 0));
    TES_TRY(tes_operator_residual(p->op, flow->r, flow->w, flow->r));
    TES_TRY(tesi_stokes_balance(p, flux, &flow->defect_told, flow->r));
    if (!flow->given) TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, &flow->given));
    TES_TRY(tes_vector_copy(flow->w, 1, flow->given));
  }
  flow->checked = true;
done:
  return status;
}

TesStatus tesi_coupled_give(TesProblem *p, TesVector *x) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiCoupled *flow = tesi_coupled_of(p);
  if (!flow->checked || flow->timed) TES_TRY(find_given(p));
  TES_TRY(tesi_problem_clear(p, x));
  if (flow->gives) TES_TRY(tes_vector_axpy(1, flow->given, x));
done:
  return status;
}

/* *divergence <- |div x| in L2. *size <- the scale for comparison, at most about |grad x|; a *size of 0 or more
 * stays. The pressure rows of r hold div x. */
static TesStatus measure(const TesProblem *p, const TesVector *x, double *divergence, double *size) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiCoupled *flow = tesi_coupled_of(p);
  double stretching, energy;
  const double extent = tesi_stokes_extent(p);
  TES_TRY(tesi_stokes_divergence(p->op, x, flow->r, &stretching));
  const TesVector part = tesi_space_range(p->space, flow->r, p->space->dim);
  TES_TRY(tes_vector_norm(&part, divergence));
  if (*size >= 0) goto done;
  TES_TRY(tes_vector_fill(flow->w, 0));
  TES_TRY(tesi_stokes_add_mass(p->op, 1, x, flow->w));
  TES_TRY(tes_vector_dot(x, flow->w, &energy));
  *size = sqrt(stretching + fmax(energy, 0) / (extent * extent));
done:
  return status;
}

TesStatus tesi_coupled_clean(TesProblem *p, TesVector *x) {
  enum { CYCLES = 8 };
  const double small = 3e-13;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  double divergence, size = -1;
  for (int i = 0; i < CYCLES; i++) {
    TES_TRY(measure(p, x, &divergence, &size));
    if (!(divergence > small * size) || !isfinite(divergence)) break;
    TES_TRY(tesi_stokes_correct(p, tesi_coupled_of(p)->r, divergence, tesi_coupled_of(p)->cycle, p->unit, x));
  }
  TES_TRY(tesi_operator_remove_null(p->op, x));
done:
  return status;
}

/* ---- a solve ------------------------------------------------------------------------------------------- */

TesStatus tesi_coupled_solve(TesProblem *p, double reference, TesVector *x, TesSolveResult *result) {
  enum { ONE_CYCLE = 2 };
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiCoupled *flow = tesi_coupled_of(p);
  TesSolveResult one = {0};
  double norm;
  TES_TRY(tes_operator_residual(p->op, flow->b, x, flow->r));
  TES_TRY(tes_vector_norm(flow->r, &norm));
  if (!isfinite(norm)) return TES_NAN;
  if (norm > 0 && norm > 1e-15 * reference) {
    tesi_solver_set_tolerance(p->solver,
                              fmin(fmax(p->chosen.tolerance * reference / norm, 1e-13), 1. / ONE_CYCLE));
    TES_TRY(tes_vector_fill(flow->d, 0));
    TES_TRY(tes_solver_solve(p->solver, flow->r, flow->d, &one));
    TES_TRY(tes_vector_axpy(1, flow->d, x));
  }
  TES_TRY(tesi_stokes_scale_pressure(p, p->unit, x));
  TES_TRY(tesi_coupled_clean(p, x));
  one.iterations += result->iterations;
  one.fractional_iterations = NAN;
  tesi_problem_take_floor(p, &one);
  *result = one;
done:
  return status;
}
