/* Exact solution of the Stokes problem on a product of intervals, a vertex patch or the whole box, by fast
 * diagonalization and the inverse of its Schur complement S = B A^-1 B' (stokes-multigrid-cui-2025, section 3, with
 * a table in the place of conjugate gradients).
 *   Lc z = lc Mc z, Ld z = ld z in each direction; Lam_i = nu (sum of lc in direction i and ld in the others) +
 *   alpha, G = Zd' D Zc F^ = Z' F    r = -Zd' g - sum over i of G F^_i / Lam_i    p = S^+ r    u^_i = (F^_i + G' p)
 *   / Lam_i    u = Z u^, p <- Zd p
 * solves A u - B' p = F, -B u = g; pressures are in the modes of Ld all the while. S^+ = (S + s e e')^-1 - e e' /
 * s, e the constant pressure. */
#ifndef TESI_STOKES_LOCAL_H
#define TESI_STOKES_LOCAL_H

#include "operator/stokes/stokes_operator.h"

typedef struct TesiStokesLocalAxis {
  int nodes, modes, n; /* n: modes of a cell */
  double *Zc, *Zd;     /* [nodes][nodes], [modes][modes]: eigenvectors in columns */
  double *lc, *ld;
  double *G;        /* [modes][nodes] */
  double *e;        /* [modes]: the constant 1 */
  double *matrices; /* Lc, Mc, Ld, D, one after the other: what tells intervals apart */
  /* An even number of cells, mirror images in pairs: eigenvectors are even, first and ascending, or odd. Node j is
   * mirrored to nodes - 1 - j, mode j of a cell to (-1)^j times mode j of its image. G takes even to odd and odd to
   * even, and S has no entries between pressures of different parity. */
  bool symmetric;
} TesiStokesLocalAxis;

/* Which of two cells gets the mirrored entries of Ld of the other cell, as if both had the same neighbour beyond
 * their outer faces. */
typedef enum TesiStokesFar {
  TESI_STOKES_FAR_NONE = -1,
  TESI_STOKES_FAR_LOW,
  TESI_STOKES_FAR_HIGH
} TesiStokesFar;
/* Of the entries node[nodes], mode[modes] of a direction. s NULL: a direction that does not exist. */
TesStatus tesi_stokes_local_create(TesContext *ctx, const TesiStokesAxis *s, int nodes, const int *node,
                                   int modes, const int *mode, TesiStokesFar far, TesiStokesLocalAxis *local);
void tesi_stokes_local_free(TesContext *ctx, TesiStokesLocalAxis *local);
/* A number above 0 that equal intervals, and mirror images, share to round-off; the same for intervals that are so with
 * all lengths scaled. */
double tesi_stokes_local_key(const TesiStokesLocalAxis *l);
double tesi_stokes_local_shape(const TesiStokesLocalAxis *l);
/* Whether both have the same matrices, to round-off. */
bool tesi_stokes_local_equal(const TesiStokesLocalAxis *a, const TesiStokesLocalAxis *b);
/* Whether two intervals of two cells are mirror images; the eigenvectors of `from`, mirrored, for its image l. G is
 * then equal to G of `from` up to its sign, and S of a patch is the same. */
bool tesi_stokes_local_mirrors(const TesiStokesLocalAxis *a, const TesiStokesLocalAxis *b);
void tesi_stokes_local_mirror(const TesiStokesLocalAxis *from, TesiStokesLocalAxis *l);
/* Whether interval a is interval b with lengths divided by *scale, to round-off, in the same eigenvectors. Where all
 * directions of a patch are so, with one scale, S is the same without alpha. */
bool tesi_stokes_local_scales(const TesiStokesLocalAxis *a, const TesiStokesLocalAxis *b, double *scale);

typedef struct TesiStokesLocal {
  int dim;
  const TesiStokesLocalAxis *axis[3];
  double nu, alpha;
  bool closed; /* the constant pressure is in the null space */
} TesiStokesLocal;
int tesi_stokes_local_pressures(const TesiStokesLocal *l);

/* Pressures first[d] .. first[d] + extent[d] - 1 in each direction: what S couples. */
typedef struct TesiStokesBlock {
  int first[3], extent[3], size;
} TesiStokesBlock;
/* 1, 2, 4 or 8 blocks, by the directions that are symmetric. */
int tesi_stokes_local_blocks(const TesiStokesLocal *l, TesiStokesBlock block[8]);
/* S[size][size] <- S^+ of a block; of many, of any patches, by all threads. */
typedef struct TesiStokesInverse {
  const TesiStokesLocal *local;
  TesiStokesBlock block;
  double *S;
} TesiStokesInverse;
TesStatus tesi_stokes_local_invert_all(TesContext *ctx, int count, const TesiStokesInverse *one);
/* e[size] <- the constant pressure, of norm 1, which is even: it stands in block 0. The mean of the diagonal of S, the
 * factor s of e e'. */
double tesi_stokes_local_constant(const TesiStokesLocal *l, const TesiStokesBlock *block, double *e);
/* S[n][n] <- S^+, n pressures. */
TesStatus tesi_stokes_local_invert(TesContext *ctx, const TesiStokesLocal *l, double *S);
/* Numbers of a part: component i of the velocity, or, i = dim, the pressure; and of the largest part. */
int tesi_stokes_local_size(const TesiStokesLocal *l, int part);
int tesi_stokes_local_most(const TesiStokesLocal *l);
/* part[0 .. dim], F and g, become u and p; [z][y][x] of their unknowns. S: S^+; work: twice the largest part. */
void tesi_stokes_local_solve(const TesiStokesLocal *l, const double *S, double *const *part, double *work);
/* Element dg: x <- (nu (sum of Ld over directions) + alpha)^-1 x, of all modes; closed: pseudo-inverse, the null
 * vector is the constant. work: as many numbers. */
void tesi_stokes_local_solve_scalar(const TesiStokesLocal *l, double *x, double *work);

#endif
