#include "problem/form.h"

TesForm tesi_poisson_form(const TesCoefficient *a, const TesCoefficient *c, int boundaries,
                          const TesFunction *const *alpha, TesTermDesc *terms) {
  int count = 0;
  terms[count++] = (TesTermDesc){.term = TES_TERM_DIFFUSION, .a = *a};
  if (c->all || c->material) terms[count++] = (TesTermDesc){.term = TES_TERM_MASS, .a = *c};
  for (int i = 0; alpha && i < boundaries && count < TESI_FORM_TERMS; i++)
    if (alpha[i])
      terms[count++] = (TesTermDesc){.term = TES_TERM_ROBIN, .a = {.all = alpha[i]}, .boundary = i};
  return (TesForm){count, terms};
}
