/* See pressure_unit.h. */
#include "problem/pressure_unit.h"
#include <math.h>

double tesi_pressure_unit(const TesiFlowSize *s, double power) {
  if (!(s->nu > 0 && s->alpha >= 0)) return 1;
  const double length = pow(s->volume, 1.0 / s->dim), h = length / pow((double)s->cells, 1.0 / s->dim),
               unit = (s->nu + s->alpha * h * h) / pow(length, power);
  return isfinite(unit) ? unit : 1;
}
