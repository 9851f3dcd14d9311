/* States of problems in time in checkpoints. All fields are over one space. A shorter vector, such as a pressure, is
 * stored at the beginning of a field, with zeros after it. */
#include <math.h>
#include <string.h>
#include "io/checkpoint.h"
#include "problem/in_time.h"
#include "tessera/checkpoint.h"

/* ---- writing ------------------------------------------------------------------------------------------- */

/* *value and *name: [returned count] numbers and their names. */
static TesStatus flatten(const TesiState *s, double **value, const char ***name, int *count) {
  TesContext *ctx = s->space->context;
  TesStatus status = TES_OK;
  int all = 0;
  *count = 0;
  for (int k = 0; k < s->numbers; k++) all += s->number[k].count;
  TES_ALLOC(value, all + 1);
  TES_ALLOC(name, all + 1);
  for (int k = 0; k < s->numbers; k++) {
    for (int i = 0; i < s->number[k].count; i++) {
      (*name)[*count] = s->number[k].name;
      (*value)[(*count)++] = tesi_state_get(&s->number[k], i);
    }
  }
done:
  return status;
}

TesStatus tesi_state_write(const TesiState *s, double time, int64_t step, int64_t notes, const double *note,
                           const char *path) {
  TesContext *ctx = s->space->context;
  TesStatus status = TES_OK;
  const TesSpace *over[TESI_STATE_VECTORS];
  TesCheckpointField field[TESI_STATE_VECTORS];
  TesCheckpointDesc desc = {.space = s->space,
                            .count = s->vectors,
                            .fields = field,
                            .time = time,
                            .step = step,
                            .notes = notes,
                            .note = note};
  double *value = NULL;
  const char **name = NULL;
  TES_TRY(flatten(s, &value, &name, &desc.states));
  desc.state = value, desc.state_name = name;
  for (int i = 0; i < s->vectors; i++) {
    const TesiStateVector *v = &s->vector[i];
    over[i] = v->space;
    field[i] = (TesCheckpointField){v->name, v->vector};
  }
  TES_TRY(tesi_checkpoint_write(ctx, &desc, over, path));
done:
  tesi_free(ctx, &value);
  tesi_free(ctx, &name);
  return status;
}

/* ---- steady flows -------------------------------------------------------------------------------------- */

const char tesi_flow_name[] = "velocity, pressure";

TesStatus tesi_flow_write(const TesCheckpointDesc *desc, const char *path) {
  const TesSpace *space = desc->space;
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TES_CHECK(space->parts == 2 && desc->count == 1 && !strcmp(desc->fields[0].name, tesi_flow_name) &&
                desc->fields[0].vector->length == space->length,
            "a checkpoint holds fields of one space; of products it holds one field \"%s\"", tesi_flow_name);
  TesVector velocity = tesi_space_range(space, desc->fields[0].vector, 0),
            pressure = tesi_space_range(space, desc->fields[0].vector, 1);
  TesiState state = {.space = space->part[0]};
  tesi_state_add(&state, "u", 0, space->part[0], &velocity, TESI_STATE_PROJECTED);
  tesi_state_add(&state, "pressure", 0, space->part[1], &pressure, TESI_STATE_PROJECTED);
  status = tesi_state_write(&state, desc->time, desc->step, desc->notes, desc->note, path);
done:
  return status;
}

/* v <- a field at the nodes of a space over the same mesh; the field is over `from`, with zeros after it. */
static TesStatus carry_field(const TesCheckpoint *checkpoint, const char *name, const TesSpace *from,
                             const TesSpace *to, TesVector *v) {
  TesContext *ctx = to->context;
  TesStatus status = TES_OK;
  TesVector *u = NULL;
  TES_CHECK(tes_checkpoint_values(checkpoint, name), "the checkpoint holds no field '%s'", name);
  TES_TRY(tesi_vector_create_on(from->layout, TES_DOUBLE, &u));
  TES_TRY(tesi_checkpoint_take(checkpoint, name, from, u));
  TES_TRY(tes_space_carry(from, u, to, v));
done:
  tes_vector_destroy(&u);
  return status;
}

/* The degree of a pressure is one less than the degree of its velocity. */
static TesStatus create_pressure(const TesSpace *velocity, int degree, TesSpace **pressure) {
  return tes_space_create(velocity->context, &(TesSpaceDesc){.mesh = velocity->mesh, .degree = degree - 1},
                          pressure);
}

TesStatus tesi_flow_restart(const TesCheckpoint *checkpoint, int degree, TesVector **u) {
  const TesSpace *from = tes_checkpoint_space(checkpoint);
  TesContext *ctx = from->context;
  TesStatus status = TES_OK;
  TesSpace *space[2] = {NULL}, *old = NULL, *product = NULL;
  *u = NULL;
  degree = tesi_space_usual_degree(from->element->element, degree);
  TES_CHECK(from->degree > 1 && degree > 1,
            "the checkpoint holds a flow of degree %d, the problem has degree %d", from->degree, degree);
  TES_TRY(tes_space_create(
      ctx, &(TesSpaceDesc){.mesh = from->mesh, .degree = degree, .components = from->scalars}, &space[0]));
  TES_TRY(create_pressure(from, degree, &space[1]));
  TES_TRY(create_pressure(from, from->degree, &old));
  TES_TRY(tes_space_create_product(ctx, 2, (const TesSpace *const *)space, &product));
  TES_TRY(tesi_vector_create_on(product->layout, TES_DOUBLE, u));
  TesVector velocity = tesi_space_range(product, *u, 0), pressure = tesi_space_range(product, *u, 1);
  TES_TRY(carry_field(checkpoint, "u", from, space[0], &velocity));
  TES_TRY(carry_field(checkpoint, "pressure", old, space[1], &pressure));
done:
  if (status != TES_OK) tes_vector_destroy(u);
  for (int i = 0; i < 2; i++) tes_space_destroy(&space[i]);
  tes_space_destroy(&old);
  tes_space_destroy(&product);
  return status;
}

/* ---- problems in time ---------------------------------------------------------------------------------- */

TesStatus tes_problem_write(const TesProblem *problem, const char *path) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  const TesiInTime *it = problem->in_time;
  TesiState state;
  TES_CHECK(it, "%s is steady: its solution is written by tes_checkpoint_write()", problem->equation->name);
  tesi_problem_state((TesProblem *)problem, &state); /* the listed data are only read */
  status = tesi_state_write(&state, it->march.time, it->march.step, it->notes.count, it->notes.value, path);
done:
  return status;
}

TesStatus tes_problem_note(TesProblem *problem, int64_t notes, const double *note) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  TES_CHECK(problem->in_time && notes >= 0 && (notes == 0 || note),
            "%lld notes of %s, expected 0 or more of a problem in time", (long long)notes,
            problem->equation->name);
  problem->in_time->notes.count = notes, problem->in_time->notes.value = note;
done:
  return status;
}

/* ---- numbers of files ---------------------------------------------------------------------------------- */

/* The numbers of a file, with their names. */
typedef struct Numbers {
  int count;
  const char *const *name;
  const double *value;
  const char **own_name; /* NULL: the file has names */
} Numbers;

/* Numbers of one name in files of version 0.1, which have no names. count -n: n times the number of amounts in the
 * file. */
typedef struct Run {
  const char *name;
  int count;
} Run;

static const Run steps_of_before[] = {{"method", 1},  {"dt", 1},   {"start", 1},    {"squares", 1},
                                      {"known", 1},   {"kept", 1}, {"largest", 1},  {"mass", 1},
                                      {"since", 1},   {"when", 4}, {"entered", -1}, {"entered-before", -4},
                                      {"crossed", 1}, {NULL, 0}};
static const Run flows_of_before[] = {{"chosen", 1},   {"dt", 1},      {"start", 1},    {"known", 1},
                                      {"steps", 2},    {"guesses", 1}, {"kept", 1},     {"since", 1},
                                      {"largest", 1},  {"before", 1},  {"guess-at", 4}, {"force", 3},
                                      {"averaged", 1}, {"crossed", 1}, {NULL, 0}};
static const Run rt_of_before[] = {{"order", 1}, {"chosen", 1}, {"dt", 1},      {"start", 1},
                                   {"known", 1}, {"since", 1},  {"largest", 1}, {"before", 1},
                                   {"when", 4},  {"force", 3},  {NULL, 0}};

static bool is_rt(const TesCheckpoint *checkpoint) {
  return tes_checkpoint_space(checkpoint)->element->with_pressure;
}

static const Run *find_runs(const TesCheckpoint *checkpoint) {
  return is_rt(checkpoint)                               ? rt_of_before
         : tes_checkpoint_values(checkpoint, "pressure") ? flows_of_before
                                                         : steps_of_before;
}

/* The amounts of a balance are between 13 other numbers and the last number: at the present time, and at four earlier
 * times. */
static int amounts_in(int states) {
  enum { OTHERS = 13, TIMES = 5 };
  return tesi_max(0, states - OTHERS) / TIMES;
}

static TesStatus find_numbers(const TesCheckpoint *checkpoint, Numbers *n) {
  TesContext *ctx = tes_checkpoint_space(checkpoint)->context;
  TesStatus status = TES_OK;
  const TesCheckpointContents *found = tes_checkpoint_contents(checkpoint);
  *n = (Numbers){.count = found->states, .name = found->state_name, .value = found->state};
  if (n->name) return TES_OK;
  int at = 0;
  TES_ALLOC(&n->own_name, n->count + 1);
  for (const Run *run = find_runs(checkpoint); run->name; run++) {
    const int count = run->count > 0 ? run->count : -run->count * amounts_in(n->count);
    for (int i = 0; i < count && at < n->count; i++) n->own_name[at++] = run->name;
  }
  while (at < n->count) n->own_name[at++] = "";
  n->name = n->own_name;
done:
  return status;
}

/* The place of the numbers of a name; NULL: there are none, or their count differs. */
static const double *find(const Numbers *n, const char *name, int count) {
  int first = 0, last;
  while (first < n->count && strcmp(n->name[first], name) != 0) first++;
  for (last = first; last < n->count && !strcmp(n->name[last], name);) last++;
  return first < n->count && last - first == count ? n->value + first : NULL;
}

static TesStatus refuse_fixed(TesContext *ctx, const char *name, double found, double wanted) {
  TesStatus status = TES_OK;
  TES_CHECK(strcmp(name, "method") != 0, "the checkpoint holds histories of %s, the problem steps by %s",
            tesi_time_name((int)found), tesi_time_name((int)wanted));
  TES_CHECK(strcmp(name, "kept") != 0,
            "the checkpoint holds guesses of other old values: solver.guess differs");
  TES_CHECK(strcmp(name, "start") != 0, "the checkpoint's time begins at %g, that of the problem at %g",
            found, wanted);
  TES_CHECK(strcmp(name, "chosen") != 0, "the checkpoint holds steps %s",
            found > 0 ? "whose length was chosen, the problem has time.step"
                      : "of one length, those of the problem are chosen");
  TES_FAIL(TES_INVALID_INPUT, "the checkpoint has %s %.10g, the problem has %.10g", name, found, wanted);
done:
  return status;
}

static TesStatus check_numbers(TesContext *ctx, const Numbers *found, const TesiState *state) {
  TesStatus status = TES_OK;
  for (int k = 0; k < state->numbers; k++) {
    const TesiStateNumber *n = &state->number[k];
    const double *value = find(found, n->name, n->count);
    const bool fixed = !n->real && !n->whole, chosen = fixed && !strcmp(n->name, "chosen");
    if (!value) continue;
    if (chosen ? (*value > 0) != (n->fixed > 0) : fixed && *value != n->fixed)
      TES_TRY(refuse_fixed(ctx, n->name, *value, n->fixed));
    TES_CHECK(!n->whole || (*value >= 0 && *value <= n->most), "the checkpoint is damaged: its %s is %g",
              n->name, *value);
  }
done:
  return status;
}

static void take_numbers(const Numbers *found, const TesiState *state) {
  for (int k = 0; k < state->numbers; k++) {
    const TesiStateNumber *n = &state->number[k];
    const double *value = find(found, n->name, n->count);
    for (int i = 0; value && i < n->count; i++) tesi_state_set(n, i, value[i]);
  }
}

/* ---- reading ------------------------------------------------------------------------------------------- */

static TesStatus take_vectors(const TesCheckpoint *checkpoint, const TesiState *state) {
  TesContext *ctx = state->space->context;
  TesStatus status = TES_OK;
  for (int i = 0; i < state->vectors; i++) {
    const TesiStateVector *v = &state->vector[i];
    const double *values = tes_checkpoint_values(checkpoint, v->name);
    TES_CHECK(values || v->optional, "the checkpoint holds no field '%s'", v->name);
    if (values) TES_TRY(tesi_checkpoint_take(checkpoint, v->name, v->space, v->vector));
  }
done:
  return status;
}

static TesStatus check_state(const TesCheckpoint *checkpoint, const Numbers *found, const TesiState *state) {
  const TesSpace *space = tes_checkpoint_space(checkpoint);
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TES_CHECK(space->element == state->space->element, "the checkpoint holds histories of another element");
  TES_TRY(tesi_checkpoint_compare("the checkpoint", space->mesh, state->space->mesh));
  TES_CHECK(space->length == state->space->length && space->degree == state->space->degree,
            "the checkpoint holds histories of degree %d, the problem has degree %d", space->degree,
            state->space->degree);
  TES_TRY(check_numbers(ctx, found, state));
done:
  return status;
}

TesStatus tesi_state_read(const TesCheckpoint *checkpoint, TesiStateList list, void *user) {
  TesContext *ctx = tes_checkpoint_space(checkpoint)->context;
  TesStatus status = TES_OK;
  TesiState state;
  Numbers found = {0};
  list(user, &state);
  TES_TRY(find_numbers(checkpoint, &found));
  TES_TRY(check_state(checkpoint, &found, &state));
  take_numbers(&found, &state);
  list(user, &state);
  TES_TRY(take_vectors(checkpoint, &state));
done:
  tesi_free(ctx, &found.own_name);
  return status;
}

/* The equation whose steps the checkpoint holds. Older files do not store it: there flows have a pressure or element
 * rt, and bodies have u_tt. */
static const char *equation_in(const TesCheckpoint *checkpoint) {
  const TesCheckpointContents *found = tes_checkpoint_contents(checkpoint);
  const size_t length = strlen(TESI_STATE_OF);
  for (int i = 0; found->state_name && i < found->states; i++)
    if (!strncmp(found->state_name[i], TESI_STATE_OF, length)) return found->state_name[i] + length;
  return is_rt(checkpoint) || tes_checkpoint_values(checkpoint, "pressure") ? "navier_stokes"
         : tes_checkpoint_values(checkpoint, "u_t")                         ? "elasticity"
                                                                            : "transport";
}

static TesStatus check(const TesProblem *p, const TesCheckpoint *checkpoint) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesCheckpointContents *found = tes_checkpoint_contents(checkpoint);
  const char *equation = equation_in(checkpoint);
  TES_CHECK(!found->states || !strcmp(equation, p->equation->name),
            "the checkpoint holds steps of %s, the problem is %s", equation, p->equation->name);
  TES_CHECK(p->in_time, "%s is steady: it takes no history", p->equation->name);
  TES_CHECK(found->states, "the checkpoint holds a steady solution, without the history of steps in time");
done:
  return status;
}

/* To be called before anything is changed. */
static TesStatus check_steps(TesProblem *p, const TesCheckpoint *checkpoint) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiInTime *it = p->in_time;
  const TesCheckpointContents *found = tes_checkpoint_contents(checkpoint);
  TesiState state;
  Numbers numbers = {0};
  tesi_problem_state(p, &state);
  TES_TRY(find_numbers(checkpoint, &numbers));
  TES_TRY(check_state(checkpoint, &numbers, &state));
  const double *dt = find(&numbers, "dt", 1);
  TES_CHECK(dt, "the checkpoint is damaged: it has no length of steps");
  TES_CHECK(it->march.varies || fabs(*dt - it->march.dt) <= 1e-9 * it->march.dt,
            "the checkpoint holds histories of steps of %.10g, the problem has steps of %.10g", *dt,
            it->march.dt);
  TES_CHECK(
      found->step >= 0 &&
          (it->march.varies ? found->time < it->march.desc.end : found->step < it->march.all_steps),
      "the checkpoint is of step %lld at time %g, the problem ends with step %d at %g: let it end later",
      (long long)found->step, found->time, it->march.all_steps, it->march.desc.end);
done:
  tesi_free(ctx, &numbers.own_name);
  return status;
}

static void list_problem(void *user, TesiState *state) {
  tesi_problem_state(user, state);
}

TesStatus tes_problem_read(TesProblem *problem, const TesCheckpoint *checkpoint) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  const TesCheckpointContents *found = tes_checkpoint_contents(checkpoint);
  TES_TRY(check(problem, checkpoint));
  TES_TRY(check_steps(problem, checkpoint));
  TES_TRY(tesi_state_read(checkpoint, list_problem, problem));
  TES_TRY(tesi_in_time_at(problem, found->time));
  TES_TRY(tesi_march_resume(ctx, &problem->in_time->march, tesi_in_time_scheme(problem), problem, found->time,
                            found->step));
  if (!found->step) problem->in_time->remeshed = 0; /* the mesh of the start has been fitted */
done:
  return status;
}
