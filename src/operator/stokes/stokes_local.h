/* Exact solution of the Stokes problem on a product of intervals (a vertex patch or the whole box), by fast
 * diagonalization and the inverse of its Schur complement S = B A^-1 B' (stokes-multigrid-cui-2025, section 3, with a
 * table in place of conjugate gradients).
 * Eigenvectors: Lc z = lc Mc z and Ld z = ld z in each direction. Lam_i = nu (sum of lc in direction i and ld in the
 * other directions) + alpha, G = Zd' D Zc. The steps, which solve A u - B' p = F, -B u = g:
 *   F^ = Z' F,   r = -Zd' g - sum over i of G F^_i / Lam_i,   p = S^+ r,
 *   u^_i = (F^_i + G' p) / Lam_i,   u = Z u^,   p <- Zd p.
 * Until the last step pressures are in the modes of Ld. S^+ = (S + s e e')^-1 - e e' / s, e the constant pressure. */
#ifndef TESI_STOKES_LOCAL_H
#define TESI_STOKES_LOCAL_H

#include "operator/stokes/stokes_operator.h"

typedef struct TesiStokesLocalAxis {
  int nodes, modes, n; /* n: modes of a cell */
  double *Zc, *Zd;     /* [nodes][nodes], [modes][modes]: eigenvectors in columns */
  double *lc, *ld;
  double *G;        /* [modes][nodes] */
  double *e;        /* [modes]: the constant 1 */
  double *matrices; /* Lc, Mc, Ld, D, one after the other: equal intervals have equal numbers here */
  /* An even number of cells, mirror images in pairs. Eigenvectors are even or odd: first the even, ascending, then
   * the odd. Node j is mirrored to nodes - 1 - j, mode j of a cell to (-1)^j times mode j of its image. G takes even
   * to odd and odd to even, and S has no entries between pressures of different parity. */
  bool symmetric;
} TesiStokesLocalAxis;

/* Which of two cells gets the mirrored entries of Ld of the other cell: both cells then have the same neighbour
 * beyond their outer faces. */
typedef enum TesiStokesFar {
  TESI_STOKES_FAR_NONE = -1,
  TESI_STOKES_FAR_LOW,
  TESI_STOKES_FAR_HIGH
} TesiStokesFar;
/* For the entries node[nodes] and mode[modes] of a direction. s NULL: the direction does not exist. */
TesStatus tesi_stokes_local_create(TesContext *ctx, const TesiStokesAxis *s, int nodes, const int *node,
                                   int modes, const int *mode, TesiStokesFar far, TesiStokesLocalAxis *local);
void tesi_stokes_local_free(TesContext *ctx, TesiStokesLocalAxis *local);
/* A positive number that equal intervals, and mirror images, share to round-off. The second function gives a number
 * that intervals share if scaling of all lengths makes them equal or mirror images. */
double tesi_stokes_local_key(const TesiStokesLocalAxis *l);
double tesi_stokes_local_shape(const TesiStokesLocalAxis *l);
/* Whether both intervals have the same matrices, to round-off. */
bool tesi_stokes_local_equal(const TesiStokesLocalAxis *a, const TesiStokesLocalAxis *b);
/* Whether two intervals of two cells are mirror images. The second function sets the eigenvectors of the image l to
 * the mirrored eigenvectors of `from`. Then G is equal to G of `from` up to its sign, and S of a patch is the
 * same. */
bool tesi_stokes_local_mirrors(const TesiStokesLocalAxis *a, const TesiStokesLocalAxis *b);
void tesi_stokes_local_mirror(const TesiStokesLocalAxis *from, TesiStokesLocalAxis *l);
/* Whether interval a is interval b with lengths divided by *scale, to round-off, in the same eigenvectors. If this
 * holds in all directions of a patch with one scale, S without alpha is the same. */
bool tesi_stokes_local_scales(const TesiStokesLocalAxis *a, const TesiStokesLocalAxis *b, double *scale);

typedef struct TesiStokesLocal {
  int dim;
  const TesiStokesLocalAxis *axis[3];
  double nu, alpha;
  bool closed; /* the constant pressure is in the null space */
} TesiStokesLocal;
int tesi_stokes_local_pressures(const TesiStokesLocal *l);

/* Pressures first[d] .. first[d] + extent[d] - 1 in each direction: S couples only these. */
typedef struct TesiStokesBlock {
  int first[3], extent[3], size;
} TesiStokesBlock;
/* 1, 2, 4 or 8 blocks, by the directions that are symmetric. */
int tesi_stokes_local_blocks(const TesiStokesLocal *l, TesiStokesBlock block[8]);
/* S[size][size] <- S^+ of each block, for blocks of any patches, on all threads. */
typedef struct TesiStokesInverse {
  const TesiStokesLocal *local;
  TesiStokesBlock block;
  double *S;
} TesiStokesInverse;
TesStatus tesi_stokes_local_invert_all(TesContext *ctx, int count, const TesiStokesInverse *one);
/* e[size] <- the constant pressure, of norm 1. It is even, so that it lies in block 0. Returns the mean of the
 * diagonal of S, which is the factor s of e e'. */
double tesi_stokes_local_constant(const TesiStokesLocal *l, const TesiStokesBlock *block, double *e);
/* S[n][n] <- S^+, n pressures. */
TesStatus tesi_stokes_local_invert(TesContext *ctx, const TesiStokesLocal *l, double *S);
/* The length of a part: component i of the velocity, or, for i = dim, the pressure. The second function: the length
 * of the largest part. */
int tesi_stokes_local_size(const TesiStokesLocal *l, int part);
int tesi_stokes_local_most(const TesiStokesLocal *l);
/* part[0 .. dim] holds F and g, and becomes u and p, each [z][y][x] over its unknowns. S: S^+; work: twice the
 * largest part. */
void tesi_stokes_local_solve(const TesiStokesLocal *l, const double *S, double *const *part, double *work);
/* Element dg: x <- (nu (sum of Ld over directions) + alpha)^-1 x, over all modes. closed: the pseudo-inverse; the
 * null vector is the constant. work: as many numbers as x. */
void tesi_stokes_local_solve_scalar(const TesiStokesLocal *l, double *x, double *work);

#endif
