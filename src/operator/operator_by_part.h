/* Operators that consist of one operator per part. */
#ifndef TESI_OPERATOR_BY_PART_H
#define TESI_OPERATOR_BY_PART_H

#include "operator/operator.h"

typedef struct TesiOperatorByPart {
  int count;
  TesOperator *part[TESI_SCALARS]; /* equal parts share an object */
} TesiOperatorByPart;

/* NULL for operators of another kind. */
const TesiOperatorByPart *tesi_operator_by_part_of(const TesOperator *op);
/* Whether the operator is separable, or all its parts are. */
bool tesi_operator_constant(const TesOperator *op);

#endif
