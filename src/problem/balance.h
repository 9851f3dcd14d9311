/* Inflow, outflow and sources of a problem, from sums of all rows of the discrete equation. So they balance as exactly
 * as the equation is solved.
 *
 * The rows of all nodes, those with given values too, are r = b - A u; r is zero at unknowns, up to the solver's
 * tolerance, and - r at given nodes is the inflow through their boundary: int a du/dn phi, conservative
 * int (a du/dn - b.n u) phi. The inflow at a node of several given boundaries is shared in proportion to int phi over
 * each boundary. The sum of all rows is the equation tested with v = 1. With W_i = int_i b.n phi, Z_i = int_i alpha
 * phi, C = int c phi, V = int b . grad phi:
 *
 *   enters through i   given: - (share of r) [convective: - W_i u]; flux: int_i g; others: int_i g - Z_i u - W_i u
 *   sources            int f - C u [convective: - V u + sum of all W_i u, that is int u div b]
 *
 * Discontinuous elements have no given nodes: all their rows are equations, and the inflow through boundaries is linear
 * in u and in the given values (modal.h).
 *
 * Streamline terms have the sum 0. C comes from the operator times 1, W_i from the operator's own faces; Z_i has its
 * own quadrature if alpha is not constant and several boundaries have an alpha. */
#ifndef TESI_BALANCE_H
#define TESI_BALANCE_H

#include "problem/problem.h"
#include "time/stepper.h"

/* Amounts that are linear in a vector: its contribution to the sources, and its inflow through boundaries. NULL: the
 * amount is 0. */
typedef struct TesiWeights {
  TesVector *source, **enter; /* enter[boundaries] */
} TesiWeights;

typedef struct TesiBalance {
  int boundaries;
  TesVector *one, *mass; /* 1, and M 1; mass NULL: a steady problem */
  TesVector **share;     /* [boundaries] of r; NULL: none */
  TesiWeights weights;   /* of u */
  TesiWeights carried; /* the vector from which steps take transport, if they do; NULL: transport is in the terms
                             * of u */
  double *carried_rate;     /* [boundaries + 1] by the last call of tesi_balance_carried() */
  double *g;                /* [boundaries] int g; NaN: g depends on time */
  double loaded[2], sum[2]; /* the last two times for which loads were made, and the sums of these loads */
  double start;             /* int u at the start */
  double *flux;             /* [boundaries] outflow per unit of time */
  TesVector *work;
  TesiAmounts amounts; /* entered by boundary, sources */
} TesiBalance;

/* whole: A over all nodes, of sigma; carrier: NULL, or the operator with the transport that A lacks; mass: M, NULL in
 * steady problems. */
TesStatus tesi_balance_create(TesProblem *problem, const TesOperator *whole, const TesOperator *carrier,
                              const TesOperator *mass, double sigma, TesiBalance **balance);
void tesi_balance_destroy(const TesProblem *problem, TesiBalance **balance);
/* To be called when a right-hand side of all rows was made for a time. */
TesStatus tesi_balance_loaded(TesiBalance *balance, double time, const TesVector *b);
/* To be called when the step takes transport from e. */
TesStatus tesi_balance_carried(TesiBalance *balance, const TesVector *e);
/* The rates of u at a time, and of the residual of all rows, added to rate[boundaries + 1]. */
TesStatus tesi_balance_exchange(const TesProblem *problem, double time, const TesVector *u, double *rate);
TesStatus tesi_balance_leak(const TesProblem *problem, const TesVector *r, double *rate);
/* The start of the balance is the present int u. */
TesStatus tesi_balance_begin(TesProblem *problem);
/* To be called after the solution of a steady problem: all its amounts, per unit of time. */
TesStatus tesi_balance_steady(TesProblem *problem);
/* The balance for reports; NaN: not known. */
TesBalance tesi_balance_result(const TesProblem *problem);

#endif
