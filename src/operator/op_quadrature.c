#include "operator/op_plain.h"

TesStatus tesi_operator_quadrature_init(TesOperator *op) {
  return tesi_operator_plain_init(op);
}
