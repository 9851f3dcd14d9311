/* The form of a Poisson problem. */
#ifndef TESI_PROBLEM_FORM_H
#define TESI_PROBLEM_FORM_H

#include "tessera/operator.h"

enum { TESI_FORM_TERMS = 64 };

/* -div(a grad u) + c u with alpha[boundaries] (NULL, NULL inside: none): terms of an array of TESI_FORM_TERMS. */
TesForm tesi_poisson_form(const TesCoefficient *a, const TesCoefficient *c, int boundaries,
                          const TesFunction *const *alpha, TesTermDesc *terms);

#endif
