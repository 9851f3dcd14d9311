/* What goes in and out of a problem, and its sources: sums of all rows of the discrete equation, so that they fit as
 * exactly as it is solved.
 *
 * The rows of all nodes, those with given values too, are r = b - A u; r is zero at unknowns, but for the solver's
 * tolerance, and - r at given nodes is what their boundary lets in: int a du/dn phi, conservative
 * int (a du/dn - b.n u) phi. A node of several given boundaries belongs to them as its int phi there do. The sum of
 * all rows is that with v = 1. With W_i = int_i b.n phi, Z_i = int_i alpha phi, C = int c phi, V = int b . grad phi:
 *
 *   enters through i   given: - (share of r) [convective: - W_i u]; flux: int_i g; others: int_i g - Z_i u - W_i u
 *   sources            int f - C u [convective: - V u + sum of all W_i u, that is int u div b]
 *
 * Discontinuous elements have no given nodes: their rows are all equations, and what boundaries let in is linear in u
 * and in what is given (modal.h).
 *
 * Streamline terms have the sum 0. C comes from the operator times 1, W_i from the operator's own faces; only Z_i has
 * a quadrature of its own where alpha is no constant and several boundaries have one. */
#ifndef TESI_BALANCE_H
#define TESI_BALANCE_H

#include "problem/problem.h"
#include "time/stepper.h"

/* What is linear in a vector: in the sources, and entering through boundaries; NULL inside: 0. */
typedef struct TesiWeights {
  TesVector *source, **enter; /* enter[boundaries] */
} TesiWeights;

typedef struct TesiBalance {
  int boundaries;
  TesVector *one, *mass;    /* 1, and M 1; mass NULL: a steady problem */
  TesVector **share;        /* [boundaries] of r; NULL: none */
  TesiWeights weights;      /* of u */
  TesiWeights carried;      /* of what steps take transport from, where they do; else it is in those of u */
  double *carried_rate;     /* [boundaries + 1] by the last call of tesi_balance_carried() */
  double *g;                /* [boundaries] int g; NaN: it depends on time */
  double loaded[2], sum[2]; /* the last two times that loads were made for, and the sums of these */
  double start;             /* int u at the start */
  double *flux;             /* [boundaries] that went out, a unit of time */
  TesVector *work;
  TesiAmounts amounts; /* entered by boundary, sources */
} TesiBalance;

/* whole: A over all nodes, of sigma; carrier: NULL, or the operator with the transport that A lacks; mass: M, NULL in
 * steady problems. */
TesStatus tesi_balance_create(TesProblem *problem, const TesOperator *whole, const TesOperator *carrier,
                              const TesOperator *mass, double sigma, TesiBalance **balance);
void tesi_balance_destroy(const TesProblem *problem, TesiBalance **balance);
/* A right-hand side of all rows was made for a time. */
TesStatus tesi_balance_loaded(TesiBalance *balance, double time, const TesVector *b);
/* The step takes transport from e. */
TesStatus tesi_balance_carried(TesiBalance *balance, const TesVector *e);
/* The rates of u at a time, and of the residual of all rows, added to rate[boundaries + 1]. */
TesStatus tesi_balance_exchange(const TesProblem *problem, double time, const TesVector *u, double *rate);
TesStatus tesi_balance_leak(const TesProblem *problem, const TesVector *r, double *rate);
/* int u is now the start. */
TesStatus tesi_balance_begin(TesProblem *problem);
/* After the solution of a steady problem: all its amounts, a unit of time. */
TesStatus tesi_balance_steady(TesProblem *problem);
/* What is told; NaN where there is none. */
TesBalance tesi_balance_result(const TesProblem *problem);

#endif
