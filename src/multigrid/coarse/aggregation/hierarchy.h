/* The levels of smoothed aggregation for a symmetric matrix, finest first, made on the host.
 *
 * A level has its matrix A, the inverse of its diagonal D, an estimate of the largest eigenvalue of D^-1 A, and,
 * except on the last level, a prolongation P with R = P'. The next matrix is R A P. Linearly dependent near-null
 * vectors leave empty columns in P. These columns get 1 on the diagonal of the next matrix, so that their unknowns
 * stay 0. The last level has the dense inverse of its matrix. Before the inversion, v v' is added for near-null
 * vectors v with A v = 0. So the inverse exists, and for right-hand sides orthogonal to these v it gives a solution
 * with A. */
#ifndef TESI_HIERARCHY_H
#define TESI_HIERARCHY_H

#include "multigrid/coarse/aggregation/prolongation.h"
#include "tessera/vector.h"

enum {
  TESI_AGGREGATION_LEVELS = 16,
  TESI_AGGREGATION_STEPS = 3,  /* steps of the smoother, before and after the coarse correction */
  TESI_AGGREGATION_CYCLES = 12 /* largest number of cycles of a solve */
};

typedef struct TesiAggregationLevel {
  TesiBlockMatrix A, P, R;
  int64_t length; /* rows of A times block height */
  double lambda;
  double *inverse; /* [length] 1 / D */
  double s[TESI_AGGREGATION_STEPS],
      c[TESI_AGGREGATION_STEPS]; /* factors of the steps of the smoother (block_matrix.h) */
  double *b, *x, *y, *p;         /* [length] work of the host's cycle; b NULL on the finest level */
  /* Several cycles, for the level above or the caller: z <- a cycle for the residual, q <- keep q + gain z, sum <- sum
   * + q. One cycle: the result is z. */
  int cycles;
  double gain[TESI_AGGREGATION_CYCLES], keep[TESI_AGGREGATION_CYCLES];
  double *sum, *r, *q; /* [length]; NULL for one cycle */
} TesiAggregationLevel;

typedef struct TesiHierarchy {
  TesContext *context;
  int levels;
  TesiAggregationLevel level[TESI_AGGREGATION_LEVELS];
  double *inverse;   /* [n][n] inverse on the last level */
  double complexity; /* entries of all matrices A, divided by the entries of the first matrix */
} TesiHierarchy;

typedef struct TesiHierarchyDesc {
  TesiBlockMatrix *A; /* taken, becomes {0} */
  int vectors;        /* number of near-null vectors, at most TESI_BLOCK_MOST */
  int loose;          /* number of the first of them that A maps to zero */
  const double *B;    /* [nodes][high][vectors], zero at entries with given values */
  int64_t last;       /* about the number of unknowns of the last level */
} TesiHierarchyDesc;

/* Errors: TES_NAN if the matrix of the last level is not positive definite. */
TesStatus tesi_hierarchy_create(TesContext *ctx, const TesiHierarchyDesc *desc, TesiHierarchy **hierarchy);
void tesi_hierarchy_destroy(TesiHierarchy **hierarchy);
/* From now on a level makes so many cycles, by the Chebyshev polynomial of the first kind for a spectrum of cycle times
 * matrix in least .. largest. Levels between the first and the last are made with two cycles, for 1/4 .. 1: V-cycles
 * become weaker with every level, and the next level has about 20 times fewer unknowns. */
TesStatus tesi_hierarchy_accelerate(TesiHierarchy *hierarchy, int level, int cycles, double least,
                                    double largest);
/* x <- one cycle from zero for A x = b, host arrays; a symmetric linear map. x is not b. */
void tesi_hierarchy_cycle(const TesiHierarchy *hierarchy, const double *b, double *x);
/* The same, with as many cycles as the finest level makes. */
void tesi_hierarchy_solve(const TesiHierarchy *hierarchy, const double *b, double *x);

/* Largest eigenvalue of D^-1 A by ten steps of Lanczos from a fixed vector, increased by a tenth. */
TesStatus tesi_aggregation_largest(TesContext *ctx, const TesiBlockMatrix *A, const double *inverse,
                                   double *lambda);
/* The finest matrix and a cycle, on the host or on a device; vectors are float64 and ordered node by node. */
typedef struct TesiCycleOf {
  TesContext *context;
  int64_t length;
  void *user;
  TesStatus (*multiply)(void *user, const TesVector *x, TesVector *y);
  TesStatus (*cycle)(void *user, const TesVector *b, TesVector *x);
} TesiCycleOf;
/* Least and largest eigenvalue of M A, M a cycle, by `steps` of preconditioned conjugate gradients (at most
 * TESI_AGGREGATION_TEST) for A times a fixed vector that is zero where given[i]. The smallest eigenvalue is an estimate
 * from above. */
enum { TESI_AGGREGATION_TEST = 16 };
TesStatus tesi_aggregation_spectrum(const TesiCycleOf *of, const uint8_t *given, int steps, double *least,
                                    double *largest);

#endif
