/* Diffusion over boxes with periodic directions: the operator of the box cut open, of the same kind, between a spread
 * and a sum over copies (space/periodic.h). */
#ifndef TESI_OPERATOR_PERIODIC_H
#define TESI_OPERATOR_PERIODIC_H

#include "operator/operator.h"

/* Sets table, plan and description of an operator over such a space, whose kind is separable or quadrature and whose
 * data exist. */
TesStatus tesi_operator_periodic_init(TesOperator *op);

#endif
