/* Problems in time in checkpoints: what a step depends on, written and read. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "problem/balance.h"
#include "io/checkpoint.h"
#include "problem/in_time.h"
#include "tessera/checkpoint.h"

/* The numbers of a state. */
enum {
  S_METHOD,
  S_STEP,
  S_START,
  S_SQUARES,
  S_KNOWN,
  S_KEPT,
  S_LARGEST,
  S_MASS,
  S_SINCE,
  S_WHEN,
  STATES = S_WHEN + TESI_STEPPER_OLD
};

static const char *const names[] = {"u", "u-1", "u-2", "u-3", "u-4"};
/* Behind the old values, of second order. */
static const char *const rates[] = {"u_t", "u_tt"};

/* Behind them the amounts of the balance, now and before; in files without them there is none. */
static int amounts_of(const TesProblem *p) {
  return p->balance ? (1 + TESI_STEPPER_OLD) * p->balance->amounts.count : 0;
}

/* Last what the flow has crossed since the mesh was changed, in cells; files without it are of before such meshes. */
static int states_of(const TesProblem *p) {
  return STATES + amounts_of(p) + 1;
}

static void put_amounts(const TesProblem *p, double *state) {
  if (!p->balance) return;
  const TesiAmounts *a = &p->balance->amounts;
  state[S_MASS] = p->balance->start;
  memcpy(state + STATES, a->now, (size_t)a->count * sizeof *state);
  memcpy(state + STATES + a->count, a->old, (size_t)(TESI_STEPPER_OLD * a->count) * sizeof *state);
}

static void take_amounts(TesProblem *p, const TesCheckpointContents *found) {
  if (!p->balance) return;
  const TesiAmounts *a = &p->balance->amounts;
  const double *state = found->state;
  const bool counted = found->states == states_of(p) || found->states == states_of(p) - 1;
  p->balance->start = counted ? state[S_MASS] : NAN;
  if (isnan(p->balance->start)) return;
  memcpy(a->now, state + STATES, (size_t)a->count * sizeof *state);
  memcpy(a->old, state + STATES + a->count, (size_t)(TESI_STEPPER_OLD * a->count) * sizeof *state);
}

TesStatus tes_problem_write(const TesProblem *problem, const char *path) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  const TesiInTime *it = problem->in_time;
  double *state = NULL;
  TesCheckpointField field[3 + TESI_STEPPER_OLD] = {{names[0], problem->u}};
  int count = 1;
  TES_CHECK(it, "%s is steady: its solution is written by tes_checkpoint_write()", problem->equation->name);
  if (problem->rt_flow) return tesi_checkpoint_write_rt(problem, path);
  if (problem->equation->march) return tesi_checkpoint_write_flow(problem, path);
  const TesiStepper *s = it->stepper;
  const double numbers[STATES] = {[S_METHOD] = tesi_time_named(s->method),
                                  [S_STEP] = it->dt,
                                  [S_START] = it->desc.start,
                                  [S_SQUARES] = it->squares,
                                  [S_KNOWN] = s->known,
                                  [S_KEPT] = s->kept,
                                  [S_LARGEST] = it->largest,
                                  [S_MASS] = NAN,
                                  [S_SINCE] = it->since};
  TES_ALLOC(&state, states_of(problem));
  memcpy(state, numbers, sizeof numbers);
  memcpy(state + S_WHEN, s->when, sizeof s->when);
  put_amounts(problem, state);
  state[states_of(problem) - 1] = it->crossed;
  for (int i = 0; i < s->known; i++) field[count++] = (TesCheckpointField){names[1 + i], s->old[i]};
  if (s->rate) field[count++] = (TesCheckpointField){rates[0], s->rate};
  if (s->rate) field[count++] = (TesCheckpointField){rates[1], s->second};
  TES_TRY(tes_checkpoint_write(ctx,
                               &(TesCheckpointDesc){.space = problem->space,
                                                    .count = count,
                                                    .fields = field,
                                                    .time = it->time,
                                                    .step = it->step,
                                                    .states = states_of(problem),
                                                    .state = state,
                                                    .notes = it->notes,
                                                    .note = it->note},
                               path));
done:
  tesi_free(ctx, &state);
  return status;
}

TesStatus tes_problem_note(TesProblem *problem, int64_t notes, const double *note) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  TES_CHECK(problem->in_time && notes >= 0 && (notes == 0 || note),
            "%lld notes of %s, expected 0 or more of a problem in time", (long long)notes,
            problem->equation->name);
  problem->in_time->notes = notes, problem->in_time->note = note;
done:
  return status;
}

static TesStatus check(const TesProblem *p, const TesCheckpointContents *found, const TesSpace *space) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiInTime *it = p->in_time;
  TES_CHECK(it, "%s is steady: it takes no history", p->equation->name);
  TES_CHECK(found->states >= STATES,
            "the checkpoint holds a steady solution, without the history of steps in time");
  const double *s = found->state;
  TES_CHECK(space->length == p->space->length && space->degree == p->space->degree,
            "the checkpoint holds histories of degree %d, the problem has degree %d", space->degree,
            p->space->degree);
  TES_CHECK(space->element == p->space->element, "the checkpoint holds histories of another element");
  TES_CHECK(s[S_METHOD] >= TES_TIME_BACKWARD_EULER && s[S_METHOD] <= TESI_TIME_SECOND_EULER,
            "the checkpoint is damaged: it has a method of number %g", s[S_METHOD]);
  TES_CHECK((int)s[S_METHOD] == (int)tesi_time_named(it->stepper->method),
            "the checkpoint holds histories of %s, the problem steps by %s",
            tesi_time_method((TesTimeMethod)s[S_METHOD])->name, tesi_time_method(it->stepper->method)->name);
  TES_CHECK(it->varies || fabs(s[S_STEP] - it->dt) <= 1e-9 * it->dt,
            "the checkpoint holds histories of steps of %.10g, the problem has steps of %.10g", s[S_STEP],
            it->dt);
  TES_CHECK(s[S_START] == it->desc.start, "the checkpoint's time begins at %g, that of the problem at %g",
            s[S_START], it->desc.start);
  TES_CHECK(
      found->step >= 0 && (it->varies ? found->time < it->desc.end : found->step < it->steps),
      "the checkpoint is of step %lld at time %g, the problem ends with step %d at %g: let it end later",
      (long long)found->step, found->time, it->steps, it->desc.end);
  TES_CHECK(s[S_KNOWN] == found->fields - (it->stepper->rate ? 3 : 1) && s[S_KNOWN] <= TESI_STEPPER_OLD,
            "the checkpoint is damaged: it has %d fields", found->fields);
  TES_CHECK(s[S_KEPT] == it->stepper->kept,
            "the checkpoint holds guesses of other old values: solver.guess differs");
done:
  return status;
}

/* Whose steps the checkpoint holds, by the names of its fields: flows have a pressure or element rt, bodies u_tt. */
static const char *equation_in(const TesCheckpoint *checkpoint) {
  if (tes_checkpoint_values(checkpoint, "pressure") || tesi_space_rt(tes_checkpoint_space(checkpoint)))
    return "navier_stokes";
  return tes_checkpoint_values(checkpoint, rates[1]) ? "elasticity" : "transport";
}

/* A steady solution has no state, which is refused later. Elements dg of transport stand on axes as those of rt do. */
static TesStatus check_equation(const TesProblem *p, const TesCheckpoint *checkpoint) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const bool dg = tes_checkpoint_space(checkpoint)->element == TES_ELEMENT_DG;
  const char *found = dg ? "transport" : equation_in(checkpoint);
  TES_CHECK(!tes_checkpoint_contents(checkpoint)->states || !strcmp(found, p->equation->name),
            "the checkpoint holds steps of %s, the problem is %s", found, p->equation->name);
done:
  return status;
}

TesStatus tes_problem_read(TesProblem *problem, const TesCheckpoint *checkpoint) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  const TesCheckpointContents *found = tes_checkpoint_contents(checkpoint);
  TES_TRY(check_equation(problem, checkpoint));
  if (problem->rt_flow) return tesi_checkpoint_read_rt(problem, checkpoint);
  if (problem->equation->march) return tesi_checkpoint_read_flow(problem, checkpoint);
  TES_TRY(check(problem, found, tes_checkpoint_space(checkpoint)));
  TesiInTime *it = problem->in_time;
  const int old = (int)found->state[S_KNOWN];
  for (int i = 0; i < found->fields; i++) {
    const char *name = i <= old ? names[i] : rates[i - old - 1];
    const double *values = tes_checkpoint_values(checkpoint, name);
    TES_CHECK(values, "the checkpoint holds no field '%s'", name);
    TES_TRY(tes_vector_set(i == 0         ? problem->u
                           : i <= old     ? it->stepper->old[i - 1]
                           : i == old + 1 ? it->stepper->rate
                                          : it->stepper->second,
                           values));
  }
  it->stepper->started = true;
  it->stepper->known = (int)found->state[S_KNOWN];
  it->squares = found->state[S_SQUARES];
  it->largest = found->state[S_LARGEST];
  take_amounts(problem, found);
  if (found->states == states_of(problem)) it->crossed = found->state[found->states - 1];
  memcpy(it->stepper->when, found->state + S_WHEN, sizeof it->stepper->when);
  if (it->varies) {
    it->dt = found->state[S_STEP], it->since = (int)found->state[S_SINCE], it->time = found->time;
    it->step = (int)found->step, it->steps = it->all_steps = it->step + 1;
    TES_TRY(tesi_in_time_at(problem, found->time));
  } else {
    TES_TRY(tesi_in_time_go_to(problem, (int)found->step));
  }
done:
  return status;
}
