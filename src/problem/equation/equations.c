#include "problem/equation/equations.h"

/* In the order in which messages and tables name them. */
const TesiEquation *tesi_equations[TESI_EQUATION_ROOM] = {
    &tesi_poisson,          &tesi_poisson_dg,       &tesi_stokes,     &tesi_stokes_q,
    &tesi_transport,        &tesi_transport_dg,     &tesi_elasticity, &tesi_navier_stokes,
    &tesi_navier_stokes_rt, &tesi_navier_stokes_iso};
enum { LIBRARY = 10 };
int tesi_equation_count = LIBRARY;

_Static_assert((int)TES_NAVIER_STOKES + 1 == (int)TESI_OWN_EQUATION, "the first number behind TesEquation");

bool tesi_equation_add(const TesiEquation *equation) {
  int words = 0;
  while (tesi_equation_words[words]) words++;
  const int number = equation->support ? (int)equation->support->equation : -1;
  const bool known = number >= TESI_OWN_EQUATION && number < words; /* with another element */
  if (tesi_equation_count == TESI_EQUATION_ROOM || (!known && number != words)) return false;
  tesi_equation_words[number] = equation->name;
  tesi_equations[tesi_equation_count++] = equation;
  return true;
}
