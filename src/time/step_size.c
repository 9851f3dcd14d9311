/* Steps of varying length: coefficients of the formulas for unequal steps, and the length of the next step. */
#include <math.h>
#include "time/stepper.h"

bool tesi_stepper_equal(const TesiStepper *s, int count) {
  for (int j = 1; j < count; j++)
    if (fabs(s->when[0] - s->when[j] - j * s->dt) > 1e-9 * s->dt) return false;
  return true;
}

void tesi_stepper_extrapolation(const TesiStepper *s, int count, double at, double *weight) {
  const double t = s->when[0] + at * s->dt;
  const bool equal = tesi_stepper_equal(s, count);
  for (int j = 0; j < count; j++) {
    weight[j] = 1;
    for (int i = 0; i < count; i++)
      if (i != j) weight[j] *= equal ? (at + i) / (i - j) : (t - s->when[i]) / (s->when[j] - s->when[i]);
  }
}

void tesi_stepper_backward(const TesiStepper *s, const TesiTimeMethod *method, double *sigma, double *back) {
  const double t = s->when[0] + s->dt;
  *sigma = method->sigma;
  for (int j = 0; j < method->old; j++) back[j] = method->back[j];
  if (tesi_stepper_equal(s, method->old)) return;
  *sigma = 0;
  for (int j = 0; j < method->old; j++) {
    double weight = 1 / (t - s->when[j]);
    *sigma += s->dt / (t - s->when[j]);
    for (int i = 0; i < method->old; i++)
      if (i != j) weight *= (t - s->when[i]) / (s->when[j] - s->when[i]);
    back[j] = s->dt * weight;
  }
}

double tesi_stepper_error_share(const TesiStepper *s) {
  const double h = s->dt, h0 = s->when[0] - s->when[1], h1 = s->when[1] - s->when[2];
  if (!tesi_time_is_second(s->method)) return tesi_step_error_share(h, h0, h1);
  const double formula = tesi_time_second_error(s->method, s->rho) * h * h * h;
  return formula / (formula + h * (h + h0) * (h + h0 + h1) / 6);
}

double tesi_step_error_share(double h, double h0, double h1) {
  const double ratio = h / h0;
  const double formula = h * h * h * (1 + ratio) * (1 + ratio) / (6 * ratio * (1 + 2 * ratio)),
               guess = h * (h + h0) * (h + h0 + h1) / 6;
  return formula / (formula + guess);
}

double tesi_step_rung(double base, double step) {
  return step >= base ? base : base * pow(2, floor(4 * log2(step / base) + 1e-9) / 4);
}

double tesi_step_next(double base, double step, double error, int order) {
  const double factor = error > 0 ? fmin(fmax(0.9 * pow(error, -1. / (order + 1)), 0.5), 2) : 2,
               wanted = tesi_step_rung(base, step * factor);
  return wanted > step && factor < 1.25 ? step : wanted;
}
