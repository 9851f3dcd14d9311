/* See march.h. Lengths that differ stand on a ladder of factors 2^(1/4), so that operators stay for many steps. */
#include "time/march.h"
#include <limits.h>
#include <math.h>
#include "time/stepper.h"

enum { WAIT = 10 /* steps before a longer one */ };

static double longest_step(const TesTimeDesc *desc) {
  const double whole = desc->end - desc->start;
  return desc->max_step > 0 ? fmin(desc->max_step, whole) : whole / 100;
}

void tesi_march_begin(TesiMarch *m, const TesTimeDesc *desc) {
  const double whole = desc->end - desc->start;
  *m = (TesiMarch){.desc = *desc, .time = desc->start, .steps = 1};
  if (desc->step > 0) m->steps = tesi_max(1, (int)ceil(whole / desc->step * (1 - 1e-9)));
  m->all_steps = m->steps;
  m->dt = whole / m->steps;
  if (fabs(m->dt - desc->step) <= 1e-9 * m->dt) m->dt = desc->step;
  m->varies = desc->cfl > 0 || desc->tolerance > 0;
  m->base = longest_step(desc);
  if (m->varies) m->dt = 0; /* chosen when there is a flow */
}

/* ---- how long ------------------------------------------------------------------------------------------ */

/* By the flow. */
static void follow_flow(TesiMarch *m, double longest) {
  const double up = pow(2, 0.25);
  m->since++;
  if (!m->chosen || longest < m->dt * (1 - 1e-9)) m->dt = longest, m->since = 0;
  m->chosen = true;
  if (m->since >= WAIT && longest > m->dt * (1 + 1e-9)) m->dt = fmin(m->dt * up, longest), m->since = 0;
}

/* Of steps whose errors are not known yet. */
static double first_by_error(const TesiMarch *m, int order) {
  const double whole = m->desc.end - m->desc.start, tolerance = m->desc.tolerance;
  return tesi_step_rung(m->base, 0.1 * whole * (order == 1 ? sqrt(tolerance) : cbrt(tolerance)));
}

double tesi_march_choose(TesiMarch *m, const TesiScheme *s, const TesiLimits *limits) {
  const double left = m->desc.end - m->time, most = m->desc.cfl > 0 ? m->desc.cfl
                                                    : s->stable > 0 ? 0.9 * s->stable
                                                                    : INFINITY;
  if (!m->varies) return m->dt;
  const double by_flow = limits->crossed > 0 ? most / limits->crossed : INFINITY,
               longest = tesi_step_rung(m->base, fmin(m->base, fmin(by_flow, limits->longest)));
  if (m->desc.cfl > 0)
    follow_flow(m, longest);
  else
    m->dt = fmin(m->dt > 0 ? m->dt : first_by_error(m, s->order), longest);
  if (m->dt >= left * (1 - 1e-9)) return left;
  return 2 * m->dt > left ? left / 2 : m->dt;
}

/* After a try of m->last whose error was too large. */
static void shorten(TesiMarch *m, const TesiScheme *s, double error) {
  m->dt = fmin(tesi_step_next(m->base, m->last, error, s->order), tesi_step_rung(m->base, m->last * 0.99));
  m->since = 0;
}

/* After a step with that error. */
static void lengthen(TesiMarch *m, const TesiScheme *s, double error) {
  if (error < 0 || !(m->last > m->dt * (1 - 1e-9))) return;
  const double next = tesi_step_next(m->base, m->dt, error, s->order);
  const bool waits = s->patient && next > m->dt * (1 + 1e-9) && m->since + 1 < WAIT;
  m->since = waits ? m->since + 1 : 0;
  if (!waits) m->dt = next;
}

/* Warns once of steps of a given length that the flow makes unstable; refuses one that is too short. */
static TesStatus watch(TesContext *ctx, TesiMarch *m, const TesiScheme *s, double crossed) {
  TesStatus status = TES_OK;
  const double dt = m->last, courant = dt * crossed, left = m->desc.end - m->time,
               least = fmax(m->desc.min_step, 1e-12 * (m->desc.end - m->desc.start));
  if (!m->varies && !m->warned && s->stable > 0 && courant > s->stable) {
    m->warned = true;
    tesi_log(
        ctx, TES_LOG_WARNING,
        "warning: the flow crosses %.2g node distances per step of %.3g at t = %.6g; steps are stable up "
        "to about %.1g: take time.step %.2g or less, or time.cfl",
        courant, dt, m->time, s->stable, 0.5 / courant * dt);
  }
  if (!(dt >= least * (1 - 1e-9)) && !(dt >= left * (1 - 1e-9)))
    TES_FAIL(TES_STEP_TOO_SMALL, "a step of %.3g at t = %.6g is shorter than %s, %.3g", dt, m->time,
             m->desc.min_step > 0 ? "time.min_step" : "round-off allows", least);
done:
  return status;
}

void tesi_march_count(TesiMarch *m) {
  const double left = m->desc.end - m->time;
  if (!m->varies) return;
  m->steps = m->step + (left > 0 ? (int)fmin(1e8, ceil(left / m->dt * (1 - 1e-9))) : 0);
  m->all_steps = m->steps;
}

/* ---- a step -------------------------------------------------------------------------------------------- */

/* *error: in what is allowed; -1: not known, or not asked for. */
static TesStatus judge(TesiMarch *m, const TesiScheme *s, void *user, double *error) {
  double size = 0;
  *error = -1;
  if (!(m->desc.tolerance > 0) || !s->judge) return TES_OK;
  const TesStatus status = s->judge(user, m->last, &size, error);
  m->largest = fmax(m->largest, size);
  if (*error >= 0) *error = m->largest > 0 ? *error / (m->desc.tolerance * m->largest) : 0;
  return status;
}

static TesStatus undo(const TesiScheme *s, void *user) {
  return s->undo ? s->undo(user) : TES_OK;
}

/* Tries shorter and shorter steps until one is good enough. */
static TesStatus try_steps(TesContext *ctx, TesiMarch *m, const TesiScheme *s, void *user,
                           TesSolveResult *result, double *error) {
  TesStatus status = TES_OK;
  TesiLimits limits = {.longest = INFINITY};
  if (s->begin) TES_TRY(s->begin(user, &limits));
  for (;;) {
    m->last = tesi_march_choose(m, s, &limits);
    TES_TRY(watch(ctx, m, s, limits.crossed));
    status = s->advance(user, m->last, result);
    if (status == TES_OK) status = judge(m, s, user, error);
    const bool good = status == TES_OK && *error <= 1;
    if (good && s->complete) status = s->complete(user, m->last, result);
    if (good && status == TES_OK) break;
    const TesStatus undone = undo(s, user);
    TES_TRY(status);
    TES_TRY(undone);
    shorten(m, s, *error);
  }
done:
  return status;
}

double tesi_march_next(const TesiMarch *m) {
  const bool last =
      m->varies ? m->time + m->last >= m->desc.end - 1e-9 * m->last : m->step + 1 == m->all_steps;
  return last ? m->desc.end : m->varies ? m->time + m->last : m->desc.start + (m->step + 1) * m->dt;
}

static void go_on(TesiMarch *m) {
  m->before = m->time;
  m->time = tesi_march_next(m);
  m->step++;
}

/* The last step becomes this one where the state no longer changes. */
static TesStatus end_if_steady(TesiMarch *m, const TesiScheme *s, void *user) {
  double size, change;
  if (!(m->desc.steady > 0) || !s->change) return TES_OK;
  const TesStatus status = s->change(user, &size, &change);
  if (status != TES_OK) return status;
  m->largest = fmax(m->largest, size);
  m->change = m->largest > 0 ? change / (m->largest * m->last) : 0;
  if (change <= m->desc.steady * m->largest * m->last) m->steps = m->step;
  return status;
}

TesStatus tesi_march_leave(TesiMarch *m, double dt) {
  m->left = true;
  return tesi_average_add(&m->average, m->time, m->time + dt, false);
}

TesStatus tesi_march_step(TesContext *ctx, TesiMarch *m, const TesiScheme *s, void *user,
                          TesSolveResult *result) {
  TesStatus status = TES_OK;
  double error;
  m->left = false;
  TES_TRY(try_steps(ctx, m, s, user, result, &error));
  if (!m->left) TES_TRY(tesi_march_leave(m, m->last));
  if (s->commit) TES_TRY(s->commit(user, m->last));
  lengthen(m, s, error);
  go_on(m);
  if (s->arrive) TES_TRY(s->arrive(user));
  tesi_march_count(m);
  TES_TRY(tesi_average_add(&m->average, m->before, m->before + m->last, true));
  TES_TRY(end_if_steady(m, s, user));
done:
  return status;
}

/* ---- its state ----------------------------------------------------------------------------------------- */

void tesi_march_list(TesiMarch *m, const TesiScheme *s, void *user, TesiState *state) {
  *state = (TesiState){.vectors = 0};
  tesi_state_add_fixed(state, "method", tesi_time_named(m->desc.method));
  tesi_state_add_fixed(state, "chosen", m->desc.cfl > 0 ? m->desc.cfl : m->desc.tolerance);
  tesi_state_add_fixed(state, "start", m->desc.start);
  tesi_state_add_real(state, "dt", 1, &m->dt);
  tesi_state_add_real(state, "base", 1, &m->base);
  tesi_state_add_whole(state, "since", INT_MAX, &m->since);
  tesi_state_add_real(state, "largest", 1, &m->largest);
  tesi_state_add_real(state, "before", 1, &m->before);
  tesi_state_add_real(state, "crossed", 1, &m->crossed);
  s->list(user, state);
  tesi_average_list(&m->average, state);
}

TesStatus tesi_march_resume(TesContext *ctx, TesiMarch *m, const TesiScheme *s, void *user, double time,
                            int64_t step) {
  TesStatus status = TES_OK;
  m->time = time, m->step = (int)step, m->chosen = m->dt > 0;
  if (m->desc.max_step > 0) m->base = longest_step(&m->desc); /* else the longest step of the state stays */
  if (s->resume) TES_TRY(s->resume(user));
  tesi_march_count(m);
done:
  return status;
}
