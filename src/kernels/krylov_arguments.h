/* The scalars of conjugate gradients and GMRES, which stay in device memory; the host includes this text too. */
#ifndef TESK_KRYLOV_ARGUMENTS_H
#define TESK_KRYLOV_ARGUMENTS_H

#include "owned.h"

enum { TESK_PARTS = 1024 }; /* largest number of blocks, each of which writes a part of a sum */

typedef struct TeskKrylov {
  double relative;           /* for the host: |r| / |b|, or its estimate; -1: p.Ap <= 0 */
  double b_norm, pq, factor; /* factor: a power of two that brings the residual to entries of about 1 */
  double inverse;            /* GMRES: 1 / |u| of the last vector of the basis */
  double root;               /* sqrt(length) */
  long long column;          /* GMRES: the Arnoldi step under way */
  double tolerance;          /* the target of `relative`, if the device decides */
  long long old;             /* whether the second start was taken */
  /* For solves that the device ends: whether another iteration follows; the number of iterations, and its limit;
   * `relative` after each iteration, [most + 1], or NULL. */
  int go_on, done, most;
  double *history;
  double best; /* the last `relative` that was much lower than those before, and its iteration */
  int best_at;
} TeskKrylov;

typedef struct TeskJacobi {
  double norm, rz, old; /* |r|, r.z, and r.z before, 0 at the start */
  double target;        /* the target of |r| */
  int go_on, done, most;
} TeskJacobi;

/* For GMRES: addresses of the vectors, and the small least-squares problem with n = restart columns. The vectors of
 * the basis are v_j = scale[j] u_j with u_j as computed, about `factor` long, so that their entries are about 1. The
 * last u_j is the input of the cycle. If a step is recorded for each column, u_j, e and the next u have their own
 * places. If one recorded step serves all columns, they have the same addresses in all steps (next is last), and move
 * to their own places when the next vector is computed. */
typedef struct TeskArnoldi {
  TeskKrylov *scalars;
  void *last, *next;             /* the last u_j and the next vector, of type basis_real */
  void *in;                      /* the last u_j in the cycle's precision; NULL: it is the basis's */
  const void *out;               /* e = MG u_j, of the cycle's precision */
  void *const *basis;            /* [n]: u_j, of type basis_real; not the last u_j where it moves */
  void *const *image;            /* [n]: e = MG u_j, of the cycle's precision */
  double *H;                     /* [n][n + 1], column by column; upper triangular once rotated */
  double *L;                     /* [n][n]: v_i . v_k, k < i */
  double *cosine, *sine, *g, *y; /* [n], [n], [n + 1], [n] */
  double *scale;                 /* [n] */
  TeskOwned own;                 /* whose products this rank adds up */
  int n;
  int parts; /* of each sum: blocks, or, once the ranks have met, ranks */
} TeskArnoldi;

#endif
