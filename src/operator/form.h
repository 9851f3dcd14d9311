/* The operators' own copies of forms. In a copy every factor is 1, and every coefficient except the coefficient of
 * diffusion is given. */
#ifndef TESI_FORM_H
#define TESI_FORM_H

#include "operator/operator.h"

/* Checks a form against the space and copies it. Errors: TES_INVALID_INPUT (terms given twice, a Robin term on a
 * boundary that is not free, factors). */
TesStatus tesi_form_copy(const TesSpace *space, const TesForm *form, TesForm *copy);
void tesi_form_release(TesContext *ctx, int materials, TesForm *copy);
/* The term of a kind; for Robin terms, the term on boundary number `boundary`; NULL if the form has none. */
const TesTermDesc *tesi_form_term(const TesForm *form, TesTerm term, int boundary);
/* Whether a coefficient is constant everywhere, and its value (1 without a function). */
bool tesi_coefficient_constant(const TesCoefficient *a, int materials, double *value);

/* Whether a coefficient of diffusion is a matrix somewhere. */
bool tesi_coefficient_is_matrix(const TesCoefficient *a, int materials);
bool tesi_form_has_matrix(const TesForm *form, int materials);

/* Over a box: op->data <- the TesiDiffusion of the operator's form. Checks the form. */
TesStatus tesi_diffusion_create(TesOperator *op);
void tesi_diffusion_release(TesOperator *op);
/* The table's lift, computed as a residual of an operator over all nodes. */
TesStatus tesi_diffusion_lift(const TesOperator *op, const TesVector *u, TesVector *b);
/* The reason why a form is not a diffusion over a box; NULL: it is. */
const char *tesi_diffusion_refuses(const TesOperatorDesc *desc);

#endif
