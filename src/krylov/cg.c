/* Conjugate gradients with a preconditioner that is symmetric only up to float32 round-off: the new direction is made
 * A-conjugate to the last one explicitly, p <- z - (z.q / p.q) p with q = A p, instead of by the ratio of residuals. */
#include <math.h>
#include "device/kernel.h"
#include "krylov/cg_passes.h"
#include "krylov/solver.h"

/* image <- the result of the cycle for the residual solver->r. rounded: the factor with which mg_b holds it already, or
 * 0. */
static TesStatus precondition(TesSolver *s, double rounded, double norm, TesiImage *image) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const double factor = rounded != 0 ? rounded : tesi_solver_factor(s, norm);
  *image = (TesiImage){s->desc.multigrid ? s->z : s->r, 1};
  if (!s->desc.multigrid) return TES_OK;
  if (!s->mg_b) return tesi_solver_cycle(s, s->r, s->z);
  if (rounded == 0) TES_TRY(tes_vector_copy(s->r, factor, s->mg_b));
  TES_TRY(tesi_solver_cycle(s, s->mg_b, s->mg_x));
  if (tesi_has_kernels(ctx))
    TES_TRY(tes_vector_copy(s->mg_x, 1 / factor, s->z));
  else
    *image = (TesiImage){s->mg_x, 1 / factor};
done:
  return status;
}

/* p <- next search direction from the residual solver->r. */
static TesStatus next_direction(TesSolver *s, double rounded, bool first, double pq, double norm) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TesiImage image;
  double zq = 0;
  TES_TRY(precondition(s, rounded, norm, &image));
  if (!first) TES_TRY(tesi_cg_product(&image, s->q, &zq));
  TES_TRY(tesi_cg_direction(&image, first ? 0 : -zq / pq, s->p));
done:
  return status;
}

/* The residual before serves the factor: a power of two more or less changes no bit of a float32 cycle. */
static TesStatus update(TesSolver *s, double a, double norm, TesVector *x, double *rounded, double *after) {
  double square = 0;
  *rounded = s->desc.multigrid && s->mg_b ? tesi_solver_factor(s, norm) : 0;
  const TesStatus status = tesi_cg_update(
      &(TesiCgUpdate){a, *rounded, s->p, s->q, x, s->r, *rounded != 0 ? s->mg_b : NULL}, &square);
  *after = sqrt(square);
  return status;
}

TesStatus tesi_solver_cg(TesSolver *solver, const TesVector *b, TesVector *x) {
  TesSolver *s = solver;
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  double relative, dot[2] = {0, 0}, norm;
  double rounded = 0; /* factor of the residual in mg_b; 0: mg_b holds none */
  TesiProgress progress = {.again = true};
  TES_TRY(tesi_solver_begin(s, b, x, &relative));
  progress.outcome = tesi_solver_record(s, 0, relative, &progress.stop);
  for (int iteration = 1; !progress.stop; iteration++) {
    TES_TRY(next_direction(s, rounded, progress.again, dot[0], relative * s->b_norm));
    TES_TRY(tes_operator_apply(s->desc.op, s->p, s->q));
    TES_TRY(tesi_cg_products(s->p, s->q, s->r, dot));
    if (!(dot[0] > 0))
      return tesi_solver_record(s, iteration, isfinite(dot[0]) ? INFINITY : NAN,
                                &progress.stop); /* not positive definite */
    TES_TRY(update(s, dot[1] / dot[0], relative * s->b_norm, x, &rounded, &norm));
    const double claimed = relative = norm / s->b_norm;
    TES_TRY(tesi_solver_follow(s, b, x, iteration, &relative, &progress));
    if (relative != claimed || progress.again) rounded = 0; /* another residual */
  }
  status = tesi_solver_tell(s, b, x, progress.outcome);
done:
  return status;
}
