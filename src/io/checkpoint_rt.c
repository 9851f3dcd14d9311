/* Flows in time with element rt in checkpoints: solutions of now and before, and convection of those before. */
#include <math.h>
#include <string.h>
#include "io/checkpoint.h"
#include "problem/rt_flow/rt_flow.h"

enum { R_ORDER, R_CFL, R_DT, R_START, R_KNOWN, R_SINCE, R_LARGEST, R_BEFORE, R_WHEN };
/* R_FORCE: that keeps a mean velocity; files without it end there. */
enum { R_FORCE = R_WHEN + TESI_RT_FLOW_TIMES, STATES = R_FORCE + TESI_AXES, FIELDS = TESI_RT_FLOW_TIMES + 2 };

static const char *const names[FIELDS] = {"u", "u-1", "u-2", "u-3", "carried-1", "carried-2"};

/* The vectors in the order of their names; returns how many there are of those that are known. */
static int list(const TesProblem *p, const char *name[FIELDS], const TesVector *vector[FIELDS]) {
  const TesiRtFlow *flow = p->rt_flow;
  int count = 0;
  for (int i = 0; i <= flow->known; i++)
    name[count] = names[i], vector[count++] = i ? flow->old[i - 1] : p->u;
  for (int i = 1; i < flow->order && i <= flow->known; i++)
    name[count] = names[TESI_RT_FLOW_OLD + i], vector[count++] = flow->carried[i];
  return count;
}

TesStatus tesi_checkpoint_write_rt(const TesProblem *p, const char *path) {
  const TesiRtFlow *flow = p->rt_flow;
  const TesiInTime *it = p->in_time;
  const char *name[FIELDS];
  const TesVector *vector[FIELDS];
  TesCheckpointField field[FIELDS];
  double state[STATES] = {
      [R_ORDER] = flow->order,   [R_CFL] = it->desc.cfl > 0 ? it->desc.cfl : it->desc.tolerance,
      [R_DT] = it->dt,           [R_START] = it->desc.start,
      [R_KNOWN] = flow->known,   [R_SINCE] = it->since,
      [R_LARGEST] = it->largest, [R_BEFORE] = it->before};
  memcpy(state + R_WHEN, flow->when, sizeof flow->when);
  memcpy(state + R_FORCE, flow->drive.force, sizeof flow->drive.force);
  const int count = list(p, name, vector);
  for (int i = 0; i < count; i++) field[i] = (TesCheckpointField){name[i], vector[i]};
  return tes_checkpoint_write(p->context,
                              &(TesCheckpointDesc){.space = p->space,
                                                   .count = count,
                                                   .fields = field,
                                                   .time = it->time,
                                                   .step = it->step,
                                                   .states = STATES,
                                                   .state = state,
                                                   .notes = it->notes,
                                                   .note = it->note},
                              path);
}

static TesStatus check(const TesProblem *p, const TesCheckpointContents *found, const TesSpace *space) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiInTime *it = p->in_time;
  TES_CHECK((found->states == STATES || found->states == R_FORCE) && space->element == TES_ELEMENT_RT,
            "the checkpoint holds no flow in time with element rt");
  const double *s = found->state;
  TES_TRY(tesi_checkpoint_compare("the checkpoint", space->mesh, p->mesh));
  TES_CHECK(space->length == p->space->length && space->degree == p->space->degree,
            "the checkpoint holds velocities of degree %d, the problem has degree %d", space->degree,
            p->space->degree);
  TES_CHECK(s[R_ORDER] == p->rt_flow->order,
            "the checkpoint holds histories of imex_bdf%g, the problem steps by "
            "imex_bdf%d",
            s[R_ORDER], p->rt_flow->order);
  TES_CHECK(s[R_START] == it->desc.start, "the checkpoint's time begins at %g, that of the problem at %g",
            s[R_START], it->desc.start);
  TES_CHECK((s[R_CFL] > 0) == it->varies, "the checkpoint holds steps %s",
            s[R_CFL] > 0 ? "whose length was chosen, the problem has time.step"
                         : "of one length, those of the problem are chosen");
  TES_CHECK(it->varies || fabs(s[R_DT] - it->dt) <= 1e-9 * it->dt,
            "the checkpoint holds histories of steps of %.10g, the problem has steps of %.10g", s[R_DT],
            it->dt);
  TES_CHECK(found->time < it->desc.end,
            "the checkpoint is of time %g, the problem ends at %g: let it end later", found->time,
            it->desc.end);
  TES_CHECK(s[R_KNOWN] >= 0 && s[R_KNOWN] <= TESI_RT_FLOW_OLD,
            "the checkpoint is damaged: it knows %g old values", s[R_KNOWN]);
done:
  return status;
}

static void take_state(TesProblem *p, const TesCheckpointContents *found) {
  TesiRtFlow *flow = p->rt_flow;
  TesiInTime *it = p->in_time;
  const double *s = found->state;
  tesi_rt_flow_forget(flow);
  flow->known = (int)s[R_KNOWN];
  memcpy(flow->when, s + R_WHEN, sizeof flow->when);
  if (found->states == STATES) memcpy(flow->drive.force, s + R_FORCE, sizeof flow->drive.force);
  it->dt = s[R_DT], it->since = (int)s[R_SINCE], it->largest = s[R_LARGEST], it->before = s[R_BEFORE];
  it->time = found->time, it->step = (int)found->step;
}

TesStatus tesi_checkpoint_read_rt(TesProblem *p, const TesCheckpoint *checkpoint) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesCheckpointContents *found = tes_checkpoint_contents(checkpoint);
  const char *name[FIELDS];
  const TesVector *vector[FIELDS];
  TES_TRY(check(p, found, tes_checkpoint_space(checkpoint)));
  take_state(p, found);
  const int count = list(p, name, vector);
  for (int i = 0; i < count; i++) {
    const double *values = tes_checkpoint_values(checkpoint, name[i]);
    TES_CHECK(values, "the checkpoint holds no field '%s'", name[i]);
    TES_TRY(tes_vector_set((TesVector *)vector[i], values));
  }
  TES_TRY(tesi_in_time_at(p, found->time));
  tesi_flow_steps_count(p);
done:
  return status;
}
