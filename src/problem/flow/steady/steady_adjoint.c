/* Gradients of steady Stokes flow (variation.h). With p = s p' the system K is symmetric, so that the transposed
 * system has the same solver: K (z, z_p / s) = (b_u, s b_p). Where nothing fixes the constant of the pressure a value
 * sees a pressure of mean 0, and slopes by pressures lose what a constant has of them. */
#include "operator/operator.h"
#include "problem/flow/split/split.h"
#include "problem/flow/steady/steady.h"
#include "problem/variation.h"

static const char *refused(const TesProblem *p) {
  const TesiSplit *pr = tesi_split_of(p);
  return pr->steady.motions
             ? "boundary: rigid motions along faces with slip are held by no boundary, and so the "
               "gradient is not determined"
             : NULL;
}

static TesStatus solve(TesProblem *p, TesVector *b, TesVector *z) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  TesVector b_u = tesi_space_range(p->space, b, 0), b_p = tesi_space_range(p->space, b, 1),
            z_p = tesi_space_range(p->space, z, 1);
  TesSolveResult result;
  TES_TRY(tesi_walls_put(&pr->walls, false, &b_u));
  if (!pr->walls.any_open) TES_TRY(tesi_split_spread_flux(p, &b_p));
  TES_TRY(tes_vector_copy(&b_p, pr->steady.unit, &b_p));
  TES_TRY(tes_vector_fill(z, 0));
  TES_TRY(tesi_steady_iterate(p, false, b, z, &result));
  TES_TRY(tes_vector_copy(&z_p, pr->steady.unit, &z_p));
  if (!pr->walls.any_open) TES_TRY(tesi_split_remove_mean(p, &z_p));
done:
  return status;
}

/* y <- (A x, - B x) */
static TesStatus apply(TesProblem *p, const TesVector *x, TesVector *y) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  const TesVector u = tesi_space_range(p->space, x, 0);
  TesVector to_u = tesi_space_range(p->space, y, 0), to_p = tesi_space_range(p->space, y, 1);
  TES_TRY(tes_operator_apply(pr->whole, &u, &to_u));
  TES_TRY(tesi_taylor_hood_divergence(pr->taylor_hood, &u, &to_p));
  TES_TRY(tes_vector_copy(&to_p, -1, &to_p));
done:
  return status;
}

static TesStatus load(const TesProblem *like, TesVector *b) {
  TesContext *ctx = like->context;
  TesStatus status = TES_OK;
  TesiSplit flow = *tesi_split_of(like);
  TesProblem p = *like;
  TesVector b_u = tesi_space_range(p.space, b, 0);
  flow.load = (TesiSplitLoad){.constant = NULL};
  p.own = &flow;
  TES_TRY(tes_vector_fill(b, 0));
  TES_TRY(tesi_split_load(&p, flow.work.b));
  TES_TRY(tes_vector_copy(flow.work.b, 1, &b_u));
done:
  tes_vector_destroy(&flow.load.constant);
  return status;
}

static TesStatus lift(TesProblem *p, const TesiGiven *direction, TesVector *u, TesVector *r) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  TesVector velocity = tesi_space_range(p->space, u, 0), r_p = tesi_space_range(p->space, r, 1);
  TesProblem like = *p;
  like.numbered.given = (TesiGiven *)direction;
  TES_TRY(tesi_split_check_flux(&like)); /* what flows in flows out */
  TES_TRY(tes_vector_fill(u, 0));
  TES_TRY(tesi_walls_vary(p, direction, &pr->walls));
  TES_TRY(tesi_walls_put(&pr->walls, true, &velocity));
  TES_TRY(apply(p, u, r));
  TES_TRY(tes_vector_copy(r, -1, r));
  TES_TRY(tesi_split_balance(pr, &r_p));
done:
  return status == TES_OK ? tesi_walls_update(p, 0, &pr->walls) : status;
}

const TesiAdjointOf tesi_steady_adjoint = {.forces = &tesi_split_forces,
                                           .refused = refused,
                                           .solve = solve,
                                           .apply = apply,
                                           .load = load,
                                           .lift = lift,
                                           .stress = tesi_split_write_viscous};
