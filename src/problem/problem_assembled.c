/* A problem whose products use assembled matrices, for comparison in benches. */
#include "krylov/solver.h"
#include "multigrid/multigrid.h"
#include "problem/in_time.h"

/* The same iteration with the operator `assembled`. */
static TesStatus replace_solver(TesProblem *p) {
  TesSolverDesc desc = p->solver->desc;
  desc.op = p->assembled;
  if (p->in_time) p->in_time->sum.residuals = NULL, p->in_time->sum.residual_count = 0;
  tes_solver_destroy(&p->solver);
  return tes_solver_create(p->context, &desc, &p->solver);
}

TesStatus tesi_problem_assemble(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiInTime *it = p->in_time;
  TES_CHECK(p->solver && p->multigrid && !p->assembled, "a problem is assembled once, before its solves");
  p->assembled = tesi_operator_retain(p->op);
  TES_TRY(tesi_operator_become_assembled(&p->assembled));
  TES_TRY(tesi_multigrid_assemble(p->multigrid));
  TES_TRY(replace_solver(p));
  if (it) {
    tesi_in_time_forget(p);
    TES_TRY(tesi_operator_become_assembled(&it->whole));
    TES_TRY(tesi_operator_become_assembled(&it->mass));
  }
  if (tesi_has_kernels(ctx)) tesi_kernels_wait(ctx);
done:
  return status;
}
