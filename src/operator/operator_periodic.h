/* Diffusion over boxes with periodic directions. An operator of the same kind over the box cut open works between two
 * steps: values spread to all copies of a node before, and sums over copies after (space/periodic.h). */
#ifndef TESI_OPERATOR_PERIODIC_H
#define TESI_OPERATOR_PERIODIC_H

#include "operator/operator.h"

/* Sets table, plan and description of an operator over such a space. Its kind is separable or quadrature, and its
 * data exist. */
TesStatus tesi_operator_periodic_init(TesOperator *op);

#endif
