/* An operator table made of the plain versions alone. */
#ifndef TESI_OP_PLAIN_H
#define TESI_OP_PLAIN_H

#include "operator/operator.h"

TesStatus tesi_operator_plain_init(TesOperator *op);

#endif
