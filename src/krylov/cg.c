/* Conjugate gradients with a preconditioner that is symmetric only up to float32 round-off: the new direction is made
 * A-conjugate to the last one explicitly, p <- z - (z.q / p.q) p with q = A p, instead of by the ratio of residuals. */
#include <math.h>
#include "krylov/solver.h"

/* p <- next search direction from the residual solver->r. */
static TesStatus next_direction(TesSolver *s, bool first, double pq, double norm) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  double zq;
  TES_TRY(tesi_solver_precondition(s, s->r, norm, s->z));
  if (first) {
    TES_TRY(tes_vector_copy(s->z, 1, s->p));
  } else {
    TES_TRY(tes_vector_dot(s->z, s->q, &zq));
    TES_TRY(tes_vector_xpay(s->z, -zq / pq, s->p));
  }
done:
  return status;
}

TesStatus tesi_solver_cg(TesSolver *solver, const TesVector *b, TesVector *x) {
  TesSolver *s = solver;
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  double relative, pq = 0, rp, norm;
  TesiProgress progress = {.again = true};
  TES_TRY(tesi_solver_begin(s, b, x, &relative));
  progress.outcome = tesi_solver_record(s, 0, relative, &progress.stop);
  for (int iteration = 1; !progress.stop; iteration++) {
    TES_TRY(next_direction(s, progress.again, pq, relative * s->b_norm));
    TES_TRY(tes_operator_apply(s->desc.op, s->p, s->q));
    TES_TRY(tes_vector_dot(s->p, s->q, &pq));
    TES_TRY(tes_vector_dot(s->p, s->r, &rp));
    if (!(pq > 0))
      return tesi_solver_record(s, iteration, isfinite(pq) ? INFINITY : NAN,
                                &progress.stop); /* not positive definite */
    TES_TRY(tes_vector_axpy(rp / pq, s->p, x));
    TES_TRY(tes_vector_axpy(-rp / pq, s->q, s->r));
    TES_TRY(tes_vector_norm(s->r, &norm));
    relative = norm / s->b_norm;
    TES_TRY(tesi_solver_follow(s, b, x, iteration, &relative, &progress));
  }
  status = tesi_solver_tell(s, b, x, progress.outcome);
done:
  return status;
}
