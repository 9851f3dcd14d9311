/* Solves, makes u from u_0, and finds errors. */
#include <math.h>
#include <stdio.h>
#include "base/work.h"
#include "functional/rt/rt_functional.h"
#include "functional/functional.h"
#include "krylov/solver.h"
#include "operator/operator.h"
#include "problem/balance.h"
#include "problem/below.h"
#include "problem/in_time.h"

/* u <- u_0 + u_D, or u_0 + a constant if the constant is free. */
static TesStatus complete(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  if (p->equation->flow) return p->equation->flow->complete(p);
  if (p->equation->complete) return p->equation->complete(p);
  for (int c = 0; c < p->space->parts && p->lifting.shift; c++) {
    const TesVector shift = tesi_space_range(p->space, p->lifting.shift, c);
    TesVector u = tesi_space_range(p->space, p->u, c);
    double factor = 1;
    if (p->op->singular >> c & 1) {
      const TesVector weights = tesi_space_range(p->space, p->constants.weights, c);
      TES_TRY(tes_vector_dot(&weights, &u, &factor));
      factor = (p->constants.mean[c] - factor) / p->constants.volume[c];
    }
    TES_TRY(tes_vector_axpy(factor, &shift, &u));
  }
done:
  return status;
}

/* Reports a solve that ended at its floor, once: a step in time may make several solves. */
void tesi_problem_take_floor(TesProblem *p, const TesSolveResult *result) {
  if (!(result->floor > p->chosen.floor)) return;
  if (!(p->chosen.floor > 0))
    tesi_log(
        p->context, TES_LOG_WARNING,
        "warning: tolerance %.1e is below the round-off floor: the solve ended at a relative residual of "
        "%.1e, which is what float64 allows",
        p->chosen.tolerance, result->residuals[result->residual_count - 1]);
  p->chosen.floor = result->floor;
}

/* The remaining steps. The result has iterations and seconds of all steps, and the residuals of the last one. */
static TesStatus solve_in_time(TesProblem *p, TesSolveResult *result) {
  TesStatus status = TES_OK;
  int iterations = 0;
  double seconds = 0;
  *result = (TesSolveResult){.fractional_iterations = NAN};
  while (status == TES_OK && p->in_time->march.step < p->in_time->march.steps) {
    status = tes_problem_step(p, result);
    result->iterations = iterations += result->iterations;
    result->seconds = seconds += result->seconds;
  }
  return status;
}

/* Cycles would not reach the tolerance: sparse factors solve the system, from here on. */
static TesStatus solve_by_factors(TesProblem *p, TesSolveResult *result) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const double start = tesi_now(), before = result->seconds;
  const int iterations = result->iterations;
  tesi_context_forget(ctx);
  tesi_log(ctx, TES_LOG_DETAIL, "cycles would not reach the tolerance: sparse factors after %d iterations",
           iterations);
  p->options.method = TES_METHOD_DIRECT;
  p->chosen = (TesiChosen){.tolerance = p->chosen.tolerance, .cycle = TES_DOUBLE};
  TES_TRY(tesi_problem_create_solver(p));
  snprintf(p->text.method, sizeof p->text.method,
           "sparse factors, since cycles would not have reached the tolerance (%d iterations before)",
           iterations);
  status = tes_solver_solve(p->solver, p->b, p->u, result);
  result->seconds = before + tesi_now() - start;
done:
  return status;
}

static TesStatus solve(TesProblem *p, TesSolveResult *result) {
  if (p->in_time) return solve_in_time(p, result);
  if (p->equation->own) {
    const TesStatus status = p->equation->own->solve(p, result);
    tesi_problem_take_floor(p, result);
    return status;
  }
  const TesVector *start = p->below ? p->below->start : p->start;
  const bool zero = !p->start && p->chosen.method == TES_METHOD_GMRES;
  TesStatus status = zero ? TES_OK : start ? tes_vector_copy(start, 1, p->u) : tes_vector_fill(p->u, 0);
  if (status != TES_OK) return status;
  TesStatus outcome = zero ? tesi_solver_solve_from_zero(p->solver, p->b, p->u, result)
                           : tes_solver_solve(p->solver, p->b, p->u, result);
  if (p->solver->gave_up) outcome = solve_by_factors(p, result);
  tesi_problem_take_floor(p, result);
  if (status == TES_OK) status = complete(p);
  if (status == TES_OK && p->variant.balanced) status = tesi_balance_steady(p);
  return outcome != TES_OK ? outcome : status;
}

TesStatus tes_problem_solve(TesProblem *p, TesSolveResult *result) {
  return tesi_agree(p->context, solve(p, result));
}

const TesVector *tes_problem_solution(const TesProblem *problem) {
  return problem->u;
}

TesStatus tes_problem_errors(const TesProblem *problem, double *l2, double *h1) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  tesi_work_begin_results(ctx, problem->in_time != NULL, "the errors");
  TES_CHECK(problem->exact[0], "there is no exact solution to compare with");
  if (problem->equation->flow && problem->equation->flow->scalar)
    TES_TRY(tesi_rt_scalar_errors(problem->space, problem->u, problem->exact[0], l2, h1));
  else
    TES_TRY(tes_functional_error(problem->space, problem->u, (const TesFunction *const *)problem->exact, l2,
                                 h1, NULL, NULL));
done:
  tesi_work_end(ctx);
  return tesi_agree(ctx, status);
}

size_t tesi_problem_spare(const TesProblem *problem) {
  return problem->solver ? tesi_solver_spare(problem->solver) : 0;
}
