/* Chooses the smoother for a varying coefficient, by its variation and by trial.
 *
 * Nodal scaling costs one residual and one sweep, the other surrogates 2^dim residuals. If sqrt(a) is smooth on the
 * scale of cells, nodal scaling is better than all of them. If it is not (jumps of a), a few steps on a random error
 * decide: the energy e' A e must fall at once, as it does for rough errors, and still fall at the end. The limits
 * are from counts of GMRES for twelve coefficients, smooth ones and jumps by 3 to 1000, degrees 1 to 7. */
#include <math.h>
#include "smoother/patch/surrogate/surrogate.h"

enum { STEPS = 6, EARLY = 2 };

static const double mild_variation = 2, wild_variation = 20, early_limit = 0.15;

/* Steps x <- x + S (0 - A x): the relative energy norm after the first steps, and the reduction by the last step. */
static TesStatus try_steps(const TesSmoother *smoother, double *early, double *last) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesOperator *op = smoother->op;
  const int64_t n = op->space->length;
  double *start = NULL, energy[STEPS + 1];
  TesVector *e = NULL, *zero = NULL, *Ae = NULL, **all[] = {&e, &zero, &Ae};
  TES_ALLOC(&start, n);
  tesi_start_vector(op->space, start);
  for (int i = 0; i < 3; i++) TES_TRY(tes_vector_create(ctx, n, op->precision, all[i]));
  TES_TRY(tes_vector_set(e, start));
  for (int i = 0; i <= STEPS; i++) {
    if (i > 0)
      TES_TRY(smoother->table->apply(smoother, zero->data, e->data, i % 2 ? TES_FORWARD : TES_BACKWARD, false));
    if (i != 0 && i != EARLY && i < STEPS - 1) continue;
    TES_TRY(op->table->apply(op, e->data, Ae->data));
    TES_TRY(tes_vector_dot(e, Ae, &energy[i]));
  }
  *early = sqrt(energy[EARLY] / energy[0]);
  *last = sqrt(energy[STEPS] / energy[STEPS - 1]);
done:
  tesi_free(ctx, &start);
  for (int i = 0; i < 3; i++) tes_vector_destroy(all[i]);
  return status;
}

/* Destroys the implementation, so that another can be tried. */
static void reset(TesSmoother *smoother) {
  if (smoother->table) smoother->table->destroy(smoother);
  smoother->table = NULL;
  smoother->plan = NULL;
}

static TesStatus try_nodal(TesSmoother *smoother, bool *good) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  double early, last;
  smoother->local = TES_LOCAL_NODAL;
  TES_TRY(tesi_smoother_nodal.init(smoother));
  const double variation = tesi_nodal_variation(smoother);
  *good = variation <= mild_variation;
  if (*good || !(variation <= wild_variation)) goto done;
  TES_TRY(try_steps(smoother, &early, &last));
  *good = early <= early_limit && last <= 1; /* not for NaN */
done:
  return status;
}

static TesStatus try_surrogate(TesSmoother *smoother, TesLocalSolver local, double omega, bool *good) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  double early, last;
  reset(smoother);
  smoother->local = local;
  smoother->omega = omega;
  TES_TRY(tesi_smoother_surrogate.init(smoother));
  TES_TRY(try_steps(smoother, &early, &last));
  *good = last <= 1;
done:
  return status;
}

static TesStatus choose_local(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const double omega = smoother->omega;
  bool good;
  TES_TRY(try_nodal(smoother, &good));
  if (!good) TES_TRY(try_surrogate(smoother, TES_LOCAL_RANK1, omega, &good));
  if (!good) TES_TRY(try_surrogate(smoother, TES_LOCAL_SCALED, omega, &good));
  if (!good)
    tesi_log(ctx, TES_LOG_WARNING, "the diffusion coefficient jumps too much for patches: use chebyshev");
done:
  return status;
}

static const char *refuses_local(const TesSmoother *smoother) {
  const char *reason = tesi_smoother_wants_patches(smoother);
  return reason ? reason : smoother->local == TES_LOCAL_AUTO ? NULL : TESI_ELSEWHERE;
}

const TesiSmootherKind tesi_smoother_local_trial = {TESI_SMOOTHES(TES_SMOOTHER_PATCH) |
                                                        TESI_SMOOTHES(TES_SMOOTHER_PATCH_ADDITIVE),
                                                    refuses_local, choose_local};

static TesStatus choose_kind(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  bool good;
  smoother->kind = TES_SMOOTHER_PATCH;
  TES_TRY(try_nodal(smoother, &good));
  if (!good) {
    reset(smoother);
    smoother->kind = TES_SMOOTHER_CHEBYSHEV;
    smoother->omega = 0;
    TES_TRY(tesi_smoother_chebyshev.init(smoother));
  }
done:
  return status;
}

static const char *refuses(const TesSmoother *smoother) {
  const TesOperator *op = smoother->op;
  return tesi_is_diffusion(op) && !tesi_space_is_periodic(op->space) && smoother->local == TES_LOCAL_AUTO
             ? NULL
             : TESI_ELSEWHERE;
}

const TesiSmootherKind tesi_smoother_trial = {TESI_SMOOTHES(TES_SMOOTHER_AUTO), refuses, choose_kind};
