/* The scalars of conjugate gradients and GMRES, which stay in device memory; the host includes this text too. */
#ifndef TESK_KRYLOV_ARGUMENTS_H
#define TESK_KRYLOV_ARGUMENTS_H

enum { TESK_PARTS = 1024 }; /* most blocks, each of which leaves a part of a sum */

typedef struct TeskKrylov {
  double relative;           /* what the host is sent: |r| / |b|, or its estimate; -1: p.Ap <= 0 */
  double b_norm, pq, factor; /* factor: a power of two that brings the residual to entries of about 1 */
  double inverse;            /* GMRES: 1 / |u| of the last vector of the basis */
  double root;               /* sqrt(length) */
  long long column;          /* GMRES: the Arnoldi step under way */
  double tolerance;          /* what `relative` is to become, where the device decides it */
  long long old;             /* whether the second start was taken */
  /* Of solves that the device ends: whether another iteration follows, and how many there were, may be; `relative`
   * after each, [most + 1], or NULL. */
  int go_on, done, most;
  double *history;
  double best; /* the last `relative` that was much lower than those before, and the iteration that it is of */
  int best_at;
} TeskKrylov;

/* Of conjugate gradients with the diagonal: entries of which this rank takes the products, in ranges; the others are
 * copies of what other ranks own. */
enum { TESK_OWNED = 4 };
typedef struct TeskOwned {
  long long first[TESK_OWNED], end[TESK_OWNED];
} TeskOwned;

typedef struct TeskJacobi {
  double norm, rz, old; /* |r|, r.z, and r.z before, 0 at the start */
  double target;        /* what |r| is to become */
  int go_on, done, most;
} TeskJacobi;

/* Of GMRES: addresses of the vectors, and the small least-squares problem with n = restart columns. The vectors of the
 * basis are v_j = scale[j] u_j with u_j as they came, about `factor` long, so that their entries are about 1. The last
 * u_j is what the cycle is given. Where a step is recorded for each column, u_j, e and the next u stand in their own
 * places; where one serves all, at the same addresses in all steps (next is last), and move to their own when the next
 * one is made. */
typedef struct TeskArnoldi {
  TeskKrylov *scalars;
  void *last, *next;             /* the last u_j and the one that is made, of type basis_real */
  void *in;                      /* the same in the cycle's precision; NULL: that is the basis's */
  const void *out;               /* e = MG u_j, of the cycle's precision */
  void *const *basis;            /* [n]: u_j, of type basis_real; but the last one where it moves */
  void *const *image;            /* [n]: e = MG u_j, of the cycle's precision */
  double *H;                     /* [n][n + 1], column by column; upper triangular once rotated */
  double *L;                     /* [n][n]: v_i . v_k, k < i */
  double *cosine, *sine, *g, *y; /* [n], [n], [n + 1], [n] */
  double *scale;                 /* [n] */
  int n, parts;
} TeskArnoldi;

#endif
