/* Diffusion and reaction in one struct, for tests that vary one thing at a time. */
#ifndef TESI_OPERATOR_TESTING_H
#define TESI_OPERATOR_TESTING_H

#include <stdlib.h>
#include "tessera/tessera.h"

typedef struct TestDiffusion {
  const TesSpace *space;
  const TesFunction *a, *c, *alpha[8]; /* NULL: 1, 0, none; alpha by number of the boundary */
  const TesFunction *const *material_a, *const *material_c;
  TesPrecision precision;
  int points;
  TesFactors factors;
  bool mass_alone; /* no diffusion term */
  bool ignore_hanging;
  bool skip_given; /* Robin terms only where the mesh has the boundary and it is free */
  const char *kind;
} TestDiffusion;

static inline TesStatus test_operator_create(TesContext *ctx, const TestDiffusion *d, TesOperator **op) {
  TesTermDesc terms[10] = {{.term = TES_TERM_DIFFUSION, .a = {d->a, d->material_a}}};
  TesFunction *zero = NULL;
  int count = d->mass_alone ? 0 : 1;
  *op = NULL;
  if (d->material_c && !d->c && tes_function_create_constant(ctx, 0, &zero) != TES_OK)
    return TES_OUT_OF_MEMORY;
  if (d->c || d->material_c)
    terms[count++] = (TesTermDesc){.term = TES_TERM_MASS, .a = {d->c ? d->c : zero, d->material_c}};
  for (int i = 0; i < 8; i++)
    if (d->alpha[i] && !(d->skip_given && (i >= tes_mesh_boundaries(tes_space_mesh(d->space)) ||
                                           tes_space_given(d->space, i))))
      terms[count++] = (TesTermDesc){.term = TES_TERM_ROBIN, .a = {.all = d->alpha[i]}, .boundary = i};
  const TesOperatorDesc desc = {.space = d->space,
                                .form = {.terms = count, .term = terms},
                                .precision = d->precision,
                                .points = d->points,
                                .factors = d->factors,
                                .ignore_hanging = d->ignore_hanging,
                                .kind = d->kind};
  const TesStatus status = tes_operator_create(ctx, &desc, op);
  tes_function_destroy(&zero);
  return status;
}

#endif
