/* Flows in time in checkpoints. Fields are over the space of velocities; a pressure, which has fewer entries, stands at
 * the beginning of one, zeros behind it. */
#include <math.h>
#include <stdio.h>
#include "io/checkpoint.h"
#include "problem/explicit/explicit_flow.h"
#include "problem/flow_steps.h"
#include "problem/projection/projection.h"
#include "tessera/checkpoint.h"

enum {
  F_CFL,
  F_DT,
  F_START,
  F_KNOWN,
  F_STEP,
  F_OLDER_STEP,
  F_GUESSES,
  F_KEPT,
  F_SINCE,
  F_LARGEST,
  F_BEFORE,
  F_GUESS_AT,
  F_FORCE = F_GUESS_AT + TESI_PROJECTION_GUESSES /* in files without them the forces are 0 */,
  F_AVERAGED = F_FORCE + TESI_AXES /* in files without it there are no means */,
  F_CROSSED /* by the flow since the mesh was changed; files without it are of before such meshes */
};
enum { STATES = F_CROSSED + 1, MEANS = 7 + TESI_PROJECTION_GUESSES, FIELDS = MEANS + 4 };

static const char *const names[FIELDS] = {"u",
                                          "u-1",
                                          "u-2",
                                          "carried-1",
                                          "pressure",
                                          "phi",
                                          "phi-1",
                                          "guess-1",
                                          "guess-2",
                                          "guess-3",
                                          "guess-4",
                                          "mean-velocity",
                                          "mean-velocity-squares",
                                          "mean-pressure",
                                          "mean-pressure-squares"};

/* The vectors in the order of their names; NULL: not there. */
static void list(const TesiProjection *pr, const TesVector *vector[FIELDS]) {
  const TesiExplicitFlow *flow = pr->explicit_flow;
  for (int i = 0; i < FIELDS; i++) vector[i] = NULL;
  if (flow) { /* all that its steps are made of */
    vector[0] = flow->u[flow->now], vector[4] = flow->p, vector[5] = flow->q;
    return;
  }
  const TesVector *const all[FIELDS] = {&pr->u,
                                        pr->known > 0 ? pr->old[0] : NULL,
                                        pr->known > 1 ? pr->old[1] : NULL,
                                        pr->known > 0 ? pr->carried[1] : NULL,
                                        &pr->p,
                                        pr->phi[0],
                                        pr->phi[1]};
  for (int i = 0; i < 7; i++) vector[i] = all[i];
  for (int i = 0; i < TESI_PROJECTION_GUESSES; i++)
    vector[7 + i] = i < pr->guess.count ? pr->guess.value[i] : NULL;
  for (int i = 0; i < 2 && pr->average.time > 0; i++) {
    vector[MEANS + i] = pr->average.velocity[i];
    vector[MEANS + 2 + i] = pr->average.pressure[i];
  }
}

static void fill_state(const TesProblem *p, double state[STATES]) {
  const TesiProjection *pr = tesi_projection_of(p);
  const TesiInTime *it = p->in_time;
  state[F_CFL] = it->desc.cfl > 0 ? it->desc.cfl : it->desc.tolerance, state[F_DT] = it->dt,
  state[F_START] = it->desc.start;
  state[F_KNOWN] = pr->known, state[F_STEP] = pr->step[0], state[F_OLDER_STEP] = pr->step[1];
  state[F_GUESSES] = pr->guess.count, state[F_KEPT] = pr->guesses_kept, state[F_SINCE] = it->since;
  state[F_LARGEST] = it->largest, state[F_BEFORE] = it->before;
  for (int i = 0; i < TESI_PROJECTION_GUESSES; i++) state[F_GUESS_AT + i] = pr->guess.at[i];
  for (int i = 0; i < TESI_AXES; i++) state[F_FORCE + i] = pr->drive.force[i];
  state[F_AVERAGED] = pr->average.time, state[F_CROSSED] = it->crossed;
}

/* to <- a vector of pressures, zeros behind. */
static TesStatus pad(const TesVector *from, int64_t length, TesVector **to) {
  TesContext *ctx = from->context;
  TesStatus status = TES_OK;
  TES_TRY(tes_vector_create(ctx, length, TES_DOUBLE, to));
  TesVector part = tesi_vector_range(*to, 0, from->length);
  TES_TRY(tes_vector_copy(from, 1, &part));
done:
  return status;
}

TesStatus tesi_checkpoint_write_flow(const TesProblem *p, const char *path) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiProjection *pr = tesi_projection_of(p);
  const TesVector *vector[FIELDS];
  TesVector *padded[FIELDS] = {NULL};
  TesCheckpointField field[FIELDS];
  double state[STATES];
  int count = 0;
  list(pr, vector);
  fill_state(p, state);
  for (int i = 0; i < FIELDS; i++) {
    if (!vector[i]) continue;
    if (vector[i]->length != pr->velocity->length) TES_TRY(pad(vector[i], pr->velocity->length, &padded[i]));
    field[count++] = (TesCheckpointField){names[i], padded[i] ? padded[i] : vector[i]};
  }
  TES_TRY(tes_checkpoint_write(ctx,
                               &(TesCheckpointDesc){.space = pr->velocity,
                                                    .count = count,
                                                    .fields = field,
                                                    .time = p->in_time->time,
                                                    .step = p->in_time->step,
                                                    .states = STATES,
                                                    .state = state,
                                                    .notes = p->in_time->notes,
                                                    .note = p->in_time->note},
                               path));
done:
  for (int i = 0; i < FIELDS; i++) tes_vector_destroy(&padded[i]);
  return status;
}

static TesStatus check(const TesProblem *p, const TesCheckpointContents *found, const TesSpace *space) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiProjection *pr = tesi_projection_of(p);
  const TesiInTime *it = p->in_time;
  TES_CHECK(found->states == STATES || found->states == F_FORCE || found->states == F_AVERAGED ||
                found->states == F_CROSSED,
            "the checkpoint holds no flow in time");
  const double *s = found->state;
  if (pr->explicit_flow) TES_TRY(tesi_checkpoint_compare("the checkpoint", space->mesh, p->mesh));
  TES_CHECK(space->length == pr->velocity->length && space->degree == pr->velocity->degree,
            "the checkpoint holds velocities of degree %d, the problem has degree %d", space->degree,
            pr->velocity->degree);
  TES_CHECK(s[F_START] == it->desc.start, "the checkpoint's time begins at %g, that of the problem at %g",
            s[F_START], it->desc.start);
  TES_CHECK((s[F_CFL] > 0) == it->varies, "the checkpoint holds steps %s",
            s[F_CFL] > 0 ? "whose length was chosen, the problem has time.step"
                         : "of one length, those of the problem are chosen");
  TES_CHECK(it->varies || fabs(s[F_DT] - it->dt) <= 1e-9 * it->dt,
            "the checkpoint holds histories of steps of %.10g, the problem has steps of %.10g", s[F_DT],
            it->dt);
  TES_CHECK(found->time < it->desc.end,
            "the checkpoint is of time %g, the problem ends at %g: let it end later", found->time,
            it->desc.end);
  TES_CHECK(s[F_KEPT] == pr->guesses_kept,
            "the checkpoint holds guesses of other old values: solver.guess differs");
  TES_CHECK(s[F_KNOWN] >= 0 && s[F_KNOWN] <= TESI_PROJECTION_OLD && s[F_GUESSES] >= 0 &&
                s[F_GUESSES] <= s[F_KEPT],
            "the checkpoint is damaged: its counts are %g and %g", s[F_KNOWN], s[F_GUESSES]);
done:
  return status;
}

static void take_state(TesProblem *p, const TesCheckpointContents *found) {
  TesiProjection *pr = tesi_projection_of(p);
  TesiInTime *it = p->in_time;
  const double *s = found->state;
  pr->known = (int)s[F_KNOWN], pr->step[0] = s[F_STEP], pr->step[1] = s[F_OLDER_STEP];
  pr->guess.count = (int)s[F_GUESSES], it->since = (int)s[F_SINCE];
  for (int i = 0; i < TESI_PROJECTION_GUESSES; i++) pr->guess.at[i] = s[F_GUESS_AT + i];
  if (pr->average.velocity[0]) pr->average.time = found->states > F_AVERAGED ? s[F_AVERAGED] : 0;
  it->crossed = found->states > F_CROSSED ? s[F_CROSSED] : 0;
  for (int i = 0; i < TESI_AXES && found->states > F_FORCE; i++) pr->drive.force[i] = s[F_FORCE + i];
  pr->is_carried = pr->is_balanced = false;
  pr->last_sigma = pr->most = NAN;
  it->dt = s[F_DT], it->largest = s[F_LARGEST], it->before = s[F_BEFORE];
  it->time = found->time, it->step = (int)found->step;
}

TesStatus tesi_checkpoint_read_flow(TesProblem *p, const TesCheckpoint *checkpoint) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiProjection *pr = tesi_projection_of(p);
  const TesCheckpointContents *found = tes_checkpoint_contents(checkpoint);
  const TesVector *vector[FIELDS];
  const double none = 0;
  TES_TRY(check(p, found, tes_checkpoint_space(checkpoint)));
  take_state(p, found);
  list(pr, vector);
  for (int i = 0; i < FIELDS; i++) {
    if (!vector[i]) continue;
    const double *values = tes_checkpoint_values(checkpoint, names[i]);
    TES_CHECK(values, "the checkpoint holds no field '%s'", names[i]);
    TES_TRY(tes_vector_set((TesVector *)vector[i], values));
  }
  TES_TRY(tesi_in_time_at(p, found->time));
  if (pr->explicit_flow) {
    TES_TRY(tesi_explicit_resume(p));
    goto done;
  }
  TES_TRY(tesi_walls_update(p, found->time, &pr->walls));
  if (pr->given_pressure) TES_TRY(tesi_projection_give_pressure(p, &none));
  tesi_flow_steps_count(p);
done:
  return status;
}
