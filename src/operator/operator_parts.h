/* Operators that consist of one a part. */
#ifndef TESI_OPERATOR_PARTS_H
#define TESI_OPERATOR_PARTS_H

#include "operator/operator.h"

typedef struct TesiOperatorParts {
  int count;
  TesOperator *part[TESI_SCALARS]; /* alike parts are one object */
} TesiOperatorParts;

/* NULL: an operator of another kind. */
const TesiOperatorParts *tesi_operator_parts_of(const TesOperator *op);
/* Whether it is separable, or all its parts are. */
bool tesi_operator_constant(const TesOperator *op);

#endif
