/* Gauss-Legendre and Gauss-Lobatto points and weights on [0, 1], ascending and symmetric to the last bit. */
#ifndef TESI_GAUSS_H
#define TESI_GAUSS_H

enum { TESI_MAX_DEGREE = 20, TESI_MAX_POINTS = 32 };

/* n >= 1 Gauss-Legendre points, exact for polynomials of degree 2n-1. */
void tesi_gauss(int n, double *points, double *weights);
/* n >= 2 Gauss-Lobatto points, end points included, exact for degree 2n-3. weights may be NULL. */
void tesi_gauss_lobatto(int n, double *points, double *weights);
/* Legendre polynomial of degree n and its derivative at x in [-1, 1]. */
void tesi_legendre(int n, double x, double *value, double *derivative);

#endif
