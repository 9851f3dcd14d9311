/* The scalars of conjugate gradients and GMRES, which stay in device memory; the host includes this text too. */
#ifndef TESK_KRYLOV_ARGUMENTS_H
#define TESK_KRYLOV_ARGUMENTS_H

enum { TESK_PARTS = 1024 }; /* most blocks, each of which leaves a part of a sum */

typedef struct TeskKrylov {
  double relative;           /* what the host is sent: |r| / |b|, or its estimate; -1: p.Ap <= 0 */
  double b_norm, pq, factor; /* factor: a power of two that brings the residual to entries of about 1 */
  double inverse;            /* GMRES: 1 / |v| of the basis vector that is to be normalised */
  double root;               /* sqrt(length) */
  long long column;          /* GMRES: the Arnoldi step under way */
  double tolerance;          /* what `relative` is to become, where the device decides it */
  long long old;             /* whether the second start was taken */
  /* Of solves that the device ends: whether another iteration follows, and how many there were, may be; `relative`
   * after each, [most + 1], or NULL. */
  int go_on, done, most;
  double *history;
} TeskKrylov;

/* Of conjugate gradients with the diagonal. */
typedef struct TeskJacobi {
  double norm, rz, old; /* |r|, r.z, and r.z before, 0 at the start */
  double target;        /* what |r| is to become */
  int go_on, done, most;
} TeskJacobi;

/* Of GMRES: addresses of the vectors, and the small least-squares problem with n = restart columns. */
typedef struct TeskArnoldi {
  TeskKrylov *scalars;
  void *const *basis; /* [n + 1] numbers of type basis_real, as they came: v_j is scale[j] times basis j */
  void *const *image; /* [n], of the cycle's precision */
  double *H;          /* [n][n + 1], column by column; upper triangular once rotated */
  double *L;          /* [n][n]: v_i . v_k, k < i */
  double *cosine, *sine, *g, *y; /* [n], [n], [n + 1], [n] */
  double *scale;                 /* [n + 1] */
  int n, parts;
} TeskArnoldi;

#endif
