/* The levels of smoothed aggregation for a symmetric matrix, finest first, made on the host.
 *
 * A level has its matrix A, the inverse of its diagonal D, an estimate of the largest eigenvalue of D^-1 A, and but for
 * the last one a prolongation P, with R = P': the next matrix is R A P. Columns of P without an entry, which near-null
 * vectors that depend on each other leave, get 1 on the diagonal of the next matrix: they are 0 for ever. The last
 * level has the inverse of its matrix as a dense matrix; near-null vectors that A sends to zero are added to the matrix
 * before, so that the inverse exists, and is that of A for right-hand sides without a part in them. */
#ifndef TESI_HIERARCHY_H
#define TESI_HIERARCHY_H

#include "multigrid/coarse/aggregation/prolongation.h"

enum {
  TESI_AGGREGATION_LEVELS = 16,
  TESI_AGGREGATION_STEPS = 3,  /* of the smoother, before and after */
  TESI_AGGREGATION_CYCLES = 12 /* of a solve, at most */
};

typedef struct TesiAggregationLevel {
  TesiBlockMatrix A, P, R;
  int64_t length; /* rows of A times high */
  double lambda;
  double *inverse; /* [length] 1 / D */
  double s[TESI_AGGREGATION_STEPS],
      c[TESI_AGGREGATION_STEPS]; /* of the steps of the smoother (block_matrix.h) */
  double *b, *x, *y, *p;         /* [length] work of the host's cycle; b NULL on the finest level */
  /* Cycles that the level above asks for, or the caller: z by a cycle for the residual, q <- keep q + gain z,
   * sum <- sum + q. One cycle: its z. */
  int cycles;
  double gain[TESI_AGGREGATION_CYCLES], keep[TESI_AGGREGATION_CYCLES];
  double *sum, *r, *q; /* [length]; NULL for one cycle */
} TesiAggregationLevel;

typedef struct TesiHierarchy {
  TesContext *context;
  int levels;
  TesiAggregationLevel level[TESI_AGGREGATION_LEVELS];
  double *inverse;   /* [n][n] of the last level */
  double complexity; /* entries of all matrices A, divided by the entries of the first matrix */
} TesiHierarchy;

typedef struct TesiHierarchyDesc {
  TesiBlockMatrix *A; /* taken, becomes {0} */
  int vectors;        /* of the near-null space, TESI_BLOCK_MOST at most */
  int loose;          /* the first of them that A sends to zero */
  const double *B;    /* [nodes][high][vectors], zero at entries with given values */
  int64_t last;       /* unknowns of the last level, about */
} TesiHierarchyDesc;

/* Errors: TES_NAN where the matrix of the last level is not positive definite. */
TesStatus tesi_hierarchy_create(TesContext *ctx, const TesiHierarchyDesc *desc, TesiHierarchy **hierarchy);
void tesi_hierarchy_destroy(TesiHierarchy **hierarchy);
/* From now on a level has so many cycles, by the Chebyshev polynomial of the first kind for a spectrum of cycle times
 * matrix in least .. largest. Levels between the first and the last are made with two, for 1/4 .. 1: V-cycles grow
 * weaker with every level, of which the next has some 20 times fewer unknowns. */
TesStatus tesi_hierarchy_accelerate(TesiHierarchy *hierarchy, int level, int cycles, double least,
                                    double largest);
/* x <- one cycle from zero for A x = b, host arrays; a symmetric linear map. x is not b. */
void tesi_hierarchy_cycle(const TesiHierarchy *hierarchy, const double *b, double *x);
/* The same by as many cycles as the finest level has. */
void tesi_hierarchy_solve(const TesiHierarchy *hierarchy, const double *b, double *x);

/* Largest eigenvalue of D^-1 A by ten steps of Lanczos from a fixed vector, and a tenth more. */
TesStatus tesi_aggregation_largest(TesContext *ctx, const TesiBlockMatrix *A, const double *inverse,
                                   double *lambda);
/* Least and largest eigenvalue of M A, M a cycle, by `steps` of preconditioned conjugate gradients (at most
 * TESI_AGGREGATION_TEST) for A times a fixed vector that is zero where given[i]. The least one is an estimate from
 * above. */
enum { TESI_AGGREGATION_TEST = 16 };
TesStatus tesi_aggregation_spectrum(const TesiHierarchy *hierarchy, const uint8_t *given, int steps,
                                    double *least, double *largest);

#endif
