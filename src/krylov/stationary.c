/* Multigrid as the iteration itself: x <- x + MG (b - A x), defect correction in float64. */
#include <math.h>
#include "krylov/solver.h"
#include "multigrid/multigrid.h"

/* x <- x + MG r by one cycle, |r| = norm; with a float32 cycle the correction is added as it is. */
static TesStatus correct(TesSolver *s, TesiCycleKind kind, double norm, TesVector *x) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const double factor = tesi_solver_factor(s, norm);
  if (!s->mg_b) {
    TES_TRY(tesi_multigrid_cycle(s->desc.multigrid, kind, s->r, s->z));
    TES_TRY(tes_vector_axpy(1, s->z, x));
    return TES_OK;
  }
  TES_TRY(tes_vector_copy(s->r, factor, s->mg_b));
  TES_TRY(tesi_multigrid_cycle(s->desc.multigrid, kind, s->mg_b, s->mg_x));
  TES_TRY(tes_vector_axpy(1 / factor, s->mg_x, x));
done:
  return status;
}

/* The last V-cycles of the start correct a defect computed in float64: a cycle that computes x itself leaves a residual
 * of its round-off times |A| |x|. In float32 this is far too large, and in float64 it is still visible at high degrees
 * (patch solves replace values instead of correcting them). */
static TesStatus full_multigrid(TesSolver *s, const TesVector *b, TesVector *x) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  double relative;
  if (s->full)
    TES_TRY(tesi_full_start(s->full, b, s->below, tesi_solver_factor(s, s->b_norm), x));
  else
    TES_TRY(tesi_multigrid_start(s->desc.multigrid, b, s->below, tesi_solver_cycles_below(s),
                                 tesi_solver_start_kind(s), x));
  for (int i = 0; i < s->desc.start_cycles; i++) {
    TES_TRY(tesi_solver_residual(s, b, x, &relative));
    TES_TRY(correct(s, tesi_solver_start_kind(s), relative * s->b_norm, x));
  }
done:
  return status;
}

/* Ends an iteration whose residual was computed from x. */
static TesStatus record(TesSolver *s, const TesVector *b, TesVector *x, int iteration, double relative,
                        TesiProgress *progress) {
  progress->outcome = tesi_solver_record(s, iteration, relative, &progress->stop);
  return tesi_solver_settle(s, b, x, INFINITY, false, progress);
}

/* The same around a float32 cycle, for operators that correct x, round the residual and compute its norm in one pass.
 * The scaling uses the previous norm: of b, then of the last residual. */
static TesStatus stationary_rounded(TesSolver *s, const TesVector *b, TesVector *x) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  double norm = s->b_norm;
  TesiProgress progress = {.again = true};
  TesiCorrection correction = {.b = b->data, .x = x->data, .r = s->mg_b->data};
  if (s->full) TES_TRY(tesi_full_start(s->full, b, s->below, tesi_solver_factor(s, norm), x));
  for (int iteration = s->full ? -s->desc.start_cycles : 0;; iteration++) {
    correction.factor = tesi_solver_factor(s, norm);
    TES_TRY(s->desc.op->table->correct_residual(s->desc.op, &correction, &norm));
    if (iteration >= 0) TES_TRY(record(s, b, x, iteration, norm / s->b_norm, &progress));
    if (progress.stop) break;
    TES_TRY(tesi_multigrid_cycle(
        s->desc.multigrid, iteration < 0 ? tesi_solver_start_kind(s) : TESI_CYCLE_USUAL, s->mg_b, s->mg_x));
    correction.e = s->mg_x->data;
    correction.scale = 1 / correction.factor;
  }
  status = progress.outcome;
done:
  return status;
}

TesStatus tesi_solver_stationary(TesSolver *solver, const TesVector *b, TesVector *x) {
  TesContext *ctx = solver->context;
  TesStatus status = TES_OK;
  double relative;
  TesiProgress progress = {.again = true};
  if (tesi_solver_rounds(solver)) return stationary_rounded(solver, b, x);
  if (solver->desc.method == TES_METHOD_FMG) TES_TRY(full_multigrid(solver, b, x));
  for (int iteration = 0;; iteration++) {
    TES_TRY(tesi_solver_residual(solver, b, x, &relative));
    TES_TRY(record(solver, b, x, iteration, relative, &progress));
    if (progress.stop) break;
    TES_TRY(correct(solver, TESI_CYCLE_USUAL, relative * solver->b_norm, x));
  }
  status = progress.outcome;
done:
  return status;
}
