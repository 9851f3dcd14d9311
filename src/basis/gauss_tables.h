/* The 1D tables of the quadrature form as text for kernels (tables.h): N = degree + 1 Gauss-Lobatto nodes and Gauss
 * points, H = (N+1)/2, G = N/2. Even-odd halves of a centrosymmetric or anti-centrosymmetric T, with e_j = v_j +
 * v_(N-1-j) (the middle one alone), o_j = v_j - v_(N-1-j): T v = E e + O o in the first half, +-(E e - O o) in the
 * second; E [H][H], O [H][G].
 *   tesk_bee, tesk_beo   B: nodes to points       tesk_bte, tesk_bto   B'
 *   tesk_dde, tesk_ddo   D: derivative at points  tesk_dte, tesk_dto   D'
 *   tesk_b, tesk_b2, tesk_g2 [point][node]: B, its squares, squares of the derivative; tesk_w: weights */
#ifndef TESI_GAUSS_TABLES_H
#define TESI_GAUSS_TABLES_H

#include "base/base.h"

/* `text` is to be freed with tesi_free. type: "double" or "float". */
TesStatus tesi_quadrature_tables(TesContext *ctx, int degree, const char *type, char **text);

#endif
