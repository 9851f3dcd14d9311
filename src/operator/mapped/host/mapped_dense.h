/* Plain version of a mapped operator for tests: from the definition, point by point, without sum factorization or
 * shared tables. It keeps the basis functions of a cell at one point, and the weights there. */
#ifndef TESI_MAPPED_DENSE_H
#define TESI_MAPPED_DENSE_H

#include "operator/mapped/mapped.h"

/* Functions and their reference derivatives at one point, [1 + dim][n^dim]: value, d/dxi_0, ... */
void tesi_mapped_functions(const TesiMapped *m, const double xi[3], double *f);
/* At point p of a cell: xi, metric[dim][dim] = w |J| J^-1 a J^-T and mass = lambda w |J| c (0 where a term is
 * absent). */
void tesi_mapped_weights(const TesiMapped *m, int64_t cell, int64_t p, double xi[3], double metric[9],
                         double *mass);

#endif
