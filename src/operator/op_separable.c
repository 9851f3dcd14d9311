/* The separable form: constant coefficients on a box. */
#include "operator/op_plain.h"

TesStatus tesi_operator_separable_init(TesOperator *op) {
  return tesi_operator_plain_init(op);
}
