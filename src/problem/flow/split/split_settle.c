/* Moves the state of a flow in time to another mesh: see remesh.h. A step uses u, u(t - dt) and their convection, p,
 * and the present and the previous phi. Each phi and its velocity fulfil (grad phi, grad psi) = - (div u, psi): phi
 * holds the divergence that the step left, which the next pressure removes. Projected velocities do not fulfil this.
 * The difference is removed, so that the pressure does not jump (by an error of order 1 / dt). */
#include "problem/flow/split/split.h"

/* u, at a time, gets its boundary values and, if there is a phi, loses the divergence that the projection added. s:
 * on entry a guess, such as the result for the velocity at another time. */
static TesStatus settle(TesProblem *p, double time, const TesVector *phi, TesVector *s, TesVector *u,
                        double *removed) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(p);
  TES_TRY(tesi_in_time_at(p, time));
  TES_TRY(tesi_walls_update(p, time, &pr->walls));
  TES_TRY(tesi_walls_put(&pr->walls, true, u));
  if (phi) TES_TRY(tesi_split_remove_divergence(p, phi, s, u, removed));
done:
  return status;
}

TesStatus tesi_split_settle(const TesProblem *from, TesProblem *next, double *removed) {
  TesContext *ctx = next->context;
  TesStatus status = TES_OK;
  TesiSplit *pr = tesi_split_of(next);
  const double time = next->in_time->march.time;
  double before = time, ignored, rate;
  TesVector *s = NULL;
  pr->warned_of_cells = tesi_split_of(from)->warned_of_cells;
  TES_TRY(tesi_vector_create_on(pr->taylor_hood->pressure->layout, TES_DOUBLE, &s));
  TES_TRY(tes_vector_fill(s, 0));
  TES_TRY(settle(next, time, pr->state.phi[0], s, &pr->u, removed));
  for (int i = 0; i < pr->state.known; i++) {
    before -= pr->state.step[i];
    TES_TRY(settle(next, before, i == 0 ? pr->state.phi[1] : NULL, s, pr->state.old[i], &ignored));
  }
  TES_TRY(tesi_in_time_at(next, time));
  if (!pr->walls.any_open) TES_TRY(tesi_split_remove_mean(next, &pr->p));
  TES_TRY(tesi_split_change_pressure(next, 0));
  if (!pr->state.known) goto done;
  TES_TRY(tesi_taylor_hood_convection(pr->taylor_hood, pr->state.old[0], pr->state.carried[1], &rate));
  TES_TRY(tesi_taylor_hood_backflow(pr->taylor_hood, &pr->open, pr->state.old[0], pr->state.carried[1]));
done:
  tes_vector_destroy(&s);
  return status;
}
