/* Dense systems of plain versions, for tests. */
#ifndef TESI_SOLVE_REF_H
#define TESI_SOLVE_REF_H

#include <stdint.h>

/* r <- A^-1 r by elimination with pivots; A[n][n] is lost. */
void tesi_solve_ref(int64_t n, double *A, double *r);

#endif
