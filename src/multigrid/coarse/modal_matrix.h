/* The matrix of a float64 operator over discontinuous elements, on the host: cells and their neighbours, from products
 * with sums of unit vectors. Columns do not ascend. */
#ifndef TESI_MODAL_MATRIX_H
#define TESI_MODAL_MATRIX_H

#include "operator/assembled/matrix.h"

TesStatus tesi_modal_matrix(const TesOperator *op, TesiMatrix *A);

#endif
