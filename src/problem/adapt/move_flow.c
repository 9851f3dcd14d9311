/* The state of a flow in time goes to another mesh: see remesh.h. A step takes u, u(t - dt) and their convection, p,
 * and phi of now and before, which with the velocities fulfil (grad phi, grad psi) = - (div u, psi): the rest of the
 * step's divergence, which the next pressure takes for its own. Projected velocities would not: what they miss is
 * removed, so that the pressure does not jump (its error were of the order of 1 / dt). */
#include "problem/adapt/remesh.h"
#include "problem/projection/projection.h"

typedef struct Move {
  const TesiProjection *from;
  TesiProjection *to;
} Move;

#define ACCURACY 1e-4 /* of projections; what they leave of a divergence is removed too */

static TesStatus move_velocity(const Move *m, const TesVector *u, TesVector *v) {
  return tesi_move_projected(m->from->full, u, m->to->mass, ACCURACY, v);
}

static TesStatus move_pressure(const Move *m, const TesVector *p, TesVector *q) {
  return tesi_move_projected(m->from->mixed->pressure, p, m->to->pressure_mass, ACCURACY, q);
}

static TesStatus carry_pressure(const Move *m, const TesVector *p, TesVector *q) {
  return tes_space_carry(m->from->mixed->pressure, p, m->to->mixed->pressure, q);
}

static void move_numbers(const Move *m) {
  const TesiProjection *from = m->from;
  TesiProjection *to = m->to;
  to->known = from->known, to->guess.count = from->guess.count, to->largest = from->largest;
  to->warned = from->warned, to->warned_of_cells = from->warned_of_cells;
  to->average.time = from->average.time;
  for (int i = 0; i < TESI_PROJECTION_OLD; i++) to->step[i] = from->step[i];
  for (int i = 0; i < TESI_PROJECTION_GUESSES; i++) to->guess.at[i] = from->guess.at[i];
  for (int c = 0; c < TESI_AXES; c++) to->drive.force[c] = from->drive.force[c];
}

static TesStatus move_vectors(const Move *m) {
  TesContext *ctx = m->to->full->context;
  TesStatus status = TES_OK;
  const TesiProjection *from = m->from;
  TesiProjection *to = m->to;
  TES_TRY(move_velocity(m, &from->u, &to->u));
  TES_TRY(move_pressure(m, &from->p, &to->p));
  if (from->known > 0) TES_TRY(move_velocity(m, from->old[0], to->old[0]));
  if (from->known > 1) TES_TRY(tes_space_carry(from->full, from->old[1], to->full, to->old[1]));
  for (int i = 0; i < 2; i++) TES_TRY(carry_pressure(m, from->phi[i], to->phi[i]));
  for (int i = 0; i < from->guess.count; i++)
    TES_TRY(carry_pressure(m, from->guess.value[i], to->guess.value[i]));
  for (int i = 0; i < 2 && from->average.velocity[i]; i++) {
    TES_TRY(move_velocity(m, from->average.velocity[i], to->average.velocity[i]));
    TES_TRY(move_pressure(m, from->average.pressure[i], to->average.pressure[i]));
  }
done:
  return status;
}

/* u, of a time, gets its boundary values and, with a phi, loses what the projection added to its divergence. s: for
 * that of a velocity at another time that of this one is a guess. */
static TesStatus settle(TesProblem *p, double time, const TesVector *phi, TesVector *s, TesVector *u,
                        double *removed) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiProjection *pr = tesi_projection_of(p);
  TES_TRY(tesi_in_time_at(p, time));
  TES_TRY(tesi_walls_update(p, time, &pr->walls));
  TES_TRY(tesi_walls_put(&pr->walls, true, u));
  if (phi) TES_TRY(tesi_projection_remove_divergence(p, phi, s, u, removed));
done:
  return status;
}

TesStatus tesi_move_flow(const TesProblem *from, TesProblem *next, double *removed) {
  TesContext *ctx = next->context;
  TesStatus status = TES_OK;
  TesiProjection *pr = tesi_projection_of(next);
  const Move m = {tesi_projection_of(from), pr};
  const double time = next->in_time->time, none = 0;
  double before = time, ignored, rate;
  TesVector *s = NULL;
  TES_TRY(tes_vector_create(ctx, pr->p.length, TES_DOUBLE, &s));
  TES_TRY(tes_vector_fill(s, 0));
  move_numbers(&m);
  TES_TRY(move_vectors(&m));
  TES_TRY(settle(next, time, pr->phi[0], s, &pr->u, removed));
  for (int i = 0; i < pr->known; i++) {
    before -= pr->step[i];
    TES_TRY(settle(next, before, i == 0 ? pr->phi[1] : NULL, s, pr->old[i], &ignored));
  }
  TES_TRY(tesi_in_time_at(next, time));
  if (!pr->walls.any_open) TES_TRY(tesi_projection_remove_mean(next, &pr->p));
  TES_TRY(tesi_projection_give_pressure(next, &none));
  if (!pr->known) goto done;
  TES_TRY(tesi_mixed_convection(pr->mixed, pr->old[0], pr->carried[1], &rate));
  if (pr->open.count) TES_TRY(tesi_mixed_backflow(pr->mixed, &pr->open, pr->old[0], pr->carried[1]));
done:
  tes_vector_destroy(&s);
  return status;
}
