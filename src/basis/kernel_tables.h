/* The numbers of one cell and of one vertex patch as text for kernels (tables.h), for cells of width 1.
 *
 * Even-odd halves of a centrosymmetric matrix A[n][n], h = (n+1)/2, g = n/2: E[h][h] maps e_j = u_j + u_{n-1-j}
 * (the middle one alone), O[g][g] maps o_j = u_j - u_{n-1-j}; the results are E e +- O o.
 *   cell:    tesk_me, tesk_mo, tesk_ke, tesk_ko    mass and stiffness, n = k+1
 *            tesk_mlast, tesk_klast                 their last rows, unfolded
 *   patch:   two cells, m = 2k-1 inner nodes, modes S'M S = I, S'K S = diag(lambda), k even ones, then k-1 odd ones:
 *            tesk_se [k][k], tesk_so [k-1][k-1] (node, mode); tesk_ie, tesk_io the same of (S^-1)' = M S;
 *            tesk_lambda, tesk_a = S' K_Ib, tesk_c = S' M_Ib (coupling to the lower end)
 *   bubbles: k-1 inner nodes of a cell: tesk_be, tesk_bo (node, mode) */
#ifndef TESI_KERNEL_TABLES_H
#define TESI_KERNEL_TABLES_H

#include "base/base.h"
#include "basis/gauss.h"

enum { TESI_PATCH_NODES = 2 * TESI_MAX_DEGREE - 1 };

typedef struct TesiPatchNumbers {
  int degree;
  double lambda[TESI_PATCH_NODES], a[TESI_PATCH_NODES], c[TESI_PATCH_NODES]; /* of the patch */
  double bubble_lambda[TESI_MAX_DEGREE];                                     /* even modes first */
  double p[TESI_MAX_DEGREE],
      q[TESI_MAX_DEGREE];    /* coupling of bubble modes to the left vertex by K and by M; to the
                                                    right one: the same for even, the negative for odd modes */
  double K00, K0k, M00, M0k; /* vertex entries of the cell matrices */
} TesiPatchNumbers;

/* `text` is to be freed with tesi_free; numbers may be NULL. type: "double" or "float". */
TesStatus tesi_kernel_tables(TesContext *ctx, int degree, const char *type, char **text,
                             TesiPatchNumbers *numbers);

#endif
