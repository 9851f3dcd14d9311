/* See step_control.h. Lengths that differ stand on a ladder of factors 2^(1/4), so that operators stay for many
 * steps. */
#include "problem/step_control.h"
#include <math.h>
#include "basis/gauss.h"
#include "operator/operator.h"
#include "operator/transport/transport_operator.h"

TesStatus tesi_steps_create(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiInTime *it = p->in_time;
  const TesTimeDesc *t = &it->desc;
  const double whole = t->end - t->start;
  it->varies = t->cfl > 0 || t->tolerance > 0;
  if (!it->varies) goto done;
  TES_CHECK(t->tolerance == 0 || p->equation->second_order || tesi_time_named(t->method) == TES_TIME_BDF2,
            "time.tolerance is of the method bdf2, whose error the extrapolation of old values tells");
  TES_CHECK(
      t->tolerance == 0 || (int)t->method != TESI_TIME_SECOND_EULER,
      "time.tolerance is of the methods generalized_alpha and newmark, whose error the extrapolation of old "
      "values tells");
  TES_CHECK(t->cfl == 0 || tesi_problem_transports(p),
            "time.cfl is of a velocity, and there is none: take time.step "
            "or time.tolerance");
  it->base = t->max_step > 0 ? fmin(t->max_step, whole) : whole / 100;
  it->dt = t->tolerance > 0 ? tesi_step_rung(it->base, 0.1 * whole * cbrt(t->tolerance)) : it->base;
  it->steps = it->all_steps = 1;
done:
  return status;
}

/* ---- by the velocity ----------------------------------------------------------------------------------- */

double tesi_steps_crossed(const TesProblem *p) {
  const TesiTransport *transport = tesi_transport_of(p->in_time->carrier ? p->in_time->carrier : p->op);
  return transport ? transport->rate : 0;
}

double tesi_steps_rate_of(const TesProblem *p, double crossed) {
  double node[TESI_MAX_POINTS];
  tesi_gauss_lobatto(p->space->degree + 1, node, NULL);
  return crossed / (node[1] - node[0]);
}

double tesi_steps_rate(const TesProblem *p) {
  return tesi_steps_rate_of(p, tesi_steps_crossed(p));
}

/* The longest rung that is allowed: down at once, up by one after ten steps. */
static void follow_velocity(TesProblem *p) {
  enum { WAIT = 10 };
  TesiInTime *it = p->in_time;
  const double rate = tesi_steps_rate(p),
               longest = rate > 0 ? tesi_step_rung(it->base, it->desc.cfl / rate) : it->base;
  it->since++;
  if (longest < it->dt * (1 - 1e-9) || it->step == 0) it->dt = longest, it->since = 0;
  if (it->since >= WAIT && longest > it->dt * (1 + 1e-9))
    it->dt = fmin(it->dt * pow(2, 0.25), longest), it->since = 0;
}

/* ---- by the error -------------------------------------------------------------------------------------- */

/* |v| in L2; where its square over- or underflows the largest value in place of it, which the ratios of sizes that are
 * asked for hardly notice. it->d is written over. */
static TesStatus find_size(TesProblem *p, const TesVector *v, double *size) {
  TesiInTime *it = p->in_time;
  double square = 0;
  TesStatus status = tes_operator_apply(it->mass, v, it->d);
  if (status == TES_OK) status = tes_vector_dot(v, it->d, &square);
  *size = sqrt(fmax(square, 0));
  if (status == TES_OK && (square == 0 || !isfinite(square))) status = tes_vector_maximum(v, size);
  return status;
}

/* The local error, in what is allowed; 0 while too little is known. */
static TesStatus find_error(TesProblem *p, double *error) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiInTime *it = p->in_time;
  double size, difference;
  *error = 0;
  if (!(it->desc.tolerance > 0)) return TES_OK;
  TES_TRY(find_size(p, p->u, &size));
  it->largest = fmax(it->largest, size);
  if (it->stepper->known < 3) goto done;
  TES_TRY(tesi_stepper_difference(it->stepper, p->u, it->r));
  TES_TRY(find_size(p, it->r, &difference));
  if (it->largest > 0)
    *error = difference * tesi_stepper_error_share(it->stepper) / (it->desc.tolerance * it->largest);
done:
  return status;
}

/* ---- steps --------------------------------------------------------------------------------------------- */

/* A step, of the length that it->last is; after a failure the state is that before it. */
static TesStatus make_one(TesProblem *p) {
  TesiInTime *it = p->in_time;
  const TesStatus status = tesi_stepper_step(it->stepper, it->time, p->u);
  if (status == TES_OK) return TES_OK;
  (void)tesi_stepper_undo(it->stepper, p->u);
  (void)tesi_in_time_at(p, it->time);
  return status;
}

/* The step that is made: the last two are alike. */
static double cut(const TesiInTime *it) {
  const double left = it->desc.end - it->time;
  return it->dt >= left * (1 - 1e-9) ? left : 2 * it->dt > left ? left / 2 : it->dt;
}

static TesStatus check_length(const TesProblem *p, double dt) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiInTime *it = p->in_time;
  const double least = fmax(it->desc.min_step, 1e-12 * (it->desc.end - it->desc.start));
  if (dt < least * (1 - 1e-9) && dt < (it->desc.end - it->time) * (1 - 1e-9))
    TES_FAIL(TES_STEP_TOO_SMALL, "a step of %.3g at t = %.6g is shorter than %s, %.3g", dt, it->time,
             it->desc.min_step > 0 ? "time.min_step" : "round-off allows", least);
done:
  return status;
}

/* The length after a step with that error. Of second order a longer one comes when ten steps have allowed it: u_ttt of
 * an oscillation is small twice a period. */
static double follow_error(TesiInTime *it, bool second, double error) {
  enum { WAIT = 10 };
  const double next = tesi_step_next(it->base, it->dt, error);
  const bool waits = second && next > it->dt * (1 + 1e-9) && it->since + 1 < WAIT;
  it->since = waits ? it->since + 1 : 0;
  return waits ? it->dt : next;
}

static TesStatus make_varying(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiInTime *it = p->in_time;
  double error;
  if (it->desc.cfl > 0) follow_velocity(p);
  for (;;) {
    const double dt = cut(it);
    TES_TRY(check_length(p, dt));
    it->stepper->dt = it->last = dt;
    TES_TRY(make_one(p));
    TES_TRY(find_error(p, &error));
    if (error <= 1) break;
    TES_TRY(tesi_stepper_undo(it->stepper, p->u));
    it->dt = fmin(tesi_step_next(it->base, dt, error), tesi_step_rung(it->base, dt * 0.99));
    it->since = 0;
  }
  const bool known = it->stepper->known >= 3 && it->desc.tolerance > 0;
  if (known && it->last > it->dt * (1 - 1e-9)) it->dt = follow_error(it, p->equation->second_order, error);
  const bool end = it->time + it->last >= it->desc.end - 1e-9 * it->last;
  const double time = end ? it->desc.end : it->time + it->last, left = it->desc.end - time;
  it->step++, it->before = it->time;
  it->steps = it->all_steps = it->step + (end ? 0 : (int)fmin(1e8, ceil(left / it->dt * (1 - 1e-9))));
  TES_TRY(tesi_in_time_at(p, time));
  it->time = time;
done:
  return status;
}

static TesStatus make_equal(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiInTime *it = p->in_time;
  it->last = it->dt;
  TES_TRY(make_one(p));
  TES_TRY(tesi_in_time_go_to(p, it->step + 1));
done:
  return status;
}

TesStatus tesi_steps_make(TesProblem *p) {
  return p->in_time->varies ? make_varying(p) : make_equal(p);
}
