/* Singly diagonally implicit Runge-Kutta methods whose last stage is the new solution. */
#include "time/stepper.h"

typedef struct Begin {
  TesiStepper *s;
  const TesiTimeMethod *method;
  int stage;
  double sigma, at;
  TesVector *u;
} Begin;

/* The part of a stage before its iterations. */
static TesStatus begin_stage(void *data) {
  const Begin *begin = data;
  TesiStepper *s = begin->s;
  TesContext *ctx = s->evolution.context;
  TesStatus status = TES_OK;
  const TesiEvolution *e = &s->evolution;
  const double *a = begin->method->a[begin->stage];
  TES_TRY(tes_vector_copy(s->old[0], 1, s->y));
  for (int j = 0; j < begin->stage; j++) TES_TRY(tes_vector_axpy(s->dt * a[j], s->slope[j], s->y));
  TES_TRY(e->load(e->user, begin->at, s->b));
  TES_TRY(tesi_stepper_add_mass(s, begin->sigma, s->y));
  TES_TRY(tesi_stepper_guess(s, begin->method->c[begin->stage], begin->u));
  TES_TRY(tesi_stepper_start(s, begin->sigma, begin->at, begin->u));
done:
  return status;
}

/* Stage i: y = u0 + dt sum_(j < i) a[i][j] k_j; (sigma M + K) x = F(t + c[i] dt) + sigma M y; k_i = sigma (x - y).
 * The slopes k_i are computed from the solutions alone. So no mass matrix is inverted, the slopes at nodes with
 * boundary values are slopes of these values, and the residual of a solve is not multiplied by 1 / dt in later
 * stages. */
static TesStatus stage(TesiStepper *s, const TesiTimeMethod *method, int i, double time, TesVector *u) {
  TesContext *ctx = s->evolution.context;
  TesStatus status = TES_OK;
  const TesiEvolution *e = &s->evolution;
  const double sigma = method->sigma / s->dt, at = time + method->c[i] * s->dt;
  Begin begin = {s, method, i, sigma, at, u};
  TES_TRY(tesi_stepper_begin(s, i, sigma, 1, &at, begin_stage, &begin));
  TES_TRY(e->solve(e->user, sigma, at, s->b, s->old[0], u));
  TES_TRY(tesi_stepper_rates(s, sigma, at, u));
  tesi_stepper_add_amounts(s, s->dt * method->a[method->stages - 1][i]);
  if (i == method->stages - 1) goto done;
  TES_TRY(tesi_vector_combine(2, (const double[]){sigma, -sigma}, (const TesVector *const[]){u, s->y},
                              s->slope[i]));
done:
  return status;
}

TesStatus tesi_runge_kutta(TesiStepper *s, const TesiTimeMethod *method, double time, TesVector *u) {
  TesContext *ctx = s->evolution.context;
  TesStatus status = TES_OK;
  for (int i = 0; i < method->stages - 1; i++)
    if (!s->slope[i]) TES_TRY(tes_vector_create(ctx, s->evolution.length, TES_DOUBLE, &s->slope[i]));
  const double one = 1;
  tesi_stepper_begin_amounts(s, 1, &one);
  for (int i = 0; i < method->stages; i++) TES_TRY(stage(s, method, i, time, u));
done:
  return status;
}
