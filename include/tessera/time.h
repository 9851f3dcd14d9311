/** \file time.h
 *  Methods in time for M u' + K u = F(t), M the mass matrix. A step solves (sigma M + K) x = b once per stage, with
 *  sigma = (constant of the method) / dt, so that sigma M + K is one operator with one multigrid.
 *
 *      method           formula                                                       solves  order  damping
 *      backward_euler   M (u1 - u0) / dt + K u1 = F1                                    1       1    all
 *      crank_nicolson   M (u1 - u0) / dt + K (u1 + u0) / 2 = (F1 + F0) / 2              1       2    none at infinity
 *      bdf2, bdf3, bdf4 M (derivative at t1 of the polynomial through u1, u0, ..)       1       2, 3, 4  at infinity
 *                         + K u1 = F1
 *      sdirk2           two stages, gamma = 1 - 1 / sqrt 2, L-stable                    2       2    at infinity
 *      sdirk3           three stages, gamma = 0.43586652, L-stable (Alexander 1977)     3       3    at infinity
 *      imex_bdf2        bdf2 with the transport term C of the velocity explicit:              1       2    at infinity
 *                         M (derivative) + K u1 = F1 - C (2 u0 - u-1)
 *
 *  For M u'' + K u = F (elasticity) there is one solve per step, with sigma = (constant) / dt^2:
 *
 *      backward_euler     v1 = (u1 - u0) / dt, M (v1 - v0) / dt + K u1 = F1                   1    all
 *      newmark            the trapezoidal rule for u and v (beta 1/4, gamma 1/2)              2    none
 *      generalized_alpha  Chung and Hulbert 1993, by rho_inf                                  2    rho_inf at infinity
 *
 *  newmark and generalized_alpha begin with a solve of M u'' = F - K u by conjugate gradients.
 *
 *  bdf2 is started by a step of sdirk2, bdf3 and bdf4 by two and three steps of sdirk3. Where boundary values change
 *  in time the stages of sdirk3 lose half an order; the BDF methods lose nothing. imex_bdf2 begins with a step of order
 *  one. It is stable while the flow crosses at most about 0.6 node distances per step. Its operators are symmetric.
 */
#ifndef TESSERA_TIME_H
#define TESSERA_TIME_H

#include "context.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TesTimeMethod {
  TES_TIME_AUTO, /**< bdf2; elasticity: generalized_alpha */
  TES_TIME_BACKWARD_EULER,
  TES_TIME_CRANK_NICOLSON,
  TES_TIME_BDF2,
  TES_TIME_BDF3,
  TES_TIME_BDF4,
  TES_TIME_SDIRK2,
  TES_TIME_SDIRK3,
  TES_TIME_IMEX_BDF2, /**< transport with a velocity */
  TES_TIME_NEWMARK,   /**< elasticity, as TES_GENERALIZED_ALPHA */
  TES_TIME_GENERALIZED_ALPHA,
  TES_TIME_EXPLICIT, /**< Navier-Stokes with element iso: Algorithm 4 of adaptive-multigrid-liebchen */
  TES_TIME_IMEX_BDF3 /**< Navier-Stokes with element rt */
} TesTimeMethod;

/** What a tolerance is relative to: |b - A x| <= tolerance times */
typedef enum TesToleranceOf {
  TES_TOLERANCE_AUTO, /**< the right-hand side b for steps in time, else the load */
  TES_TOLERANCE_STEP, /**< |b - A u|, where u is the old solution with the new boundary values; at least one iteration
                       *   is made */
  TES_TOLERANCE_LOAD /**< |b| */
} TesToleranceOf;

/** From `start` to `end` > `start` in equal steps, which end at `end`. The number of steps is the smallest for which
 *  they are not longer than `step` > 0 (up to 1e-9 of it). */
typedef struct TesTimeDesc {
  double start, end, step;
  /** Navier-Stokes and transport with a velocity, instead of `step`: the flow crosses at most `cfl` node distances per
   *  step. This number is the largest |u_i| dt / distance over cells and directions (Gauss-Lobatto nodes).
   *  Navier-Stokes without `cfl` and `step`: 0.3, element rt 0.5. Step lengths are on a ladder of factors 2^(1/4); they
   *  become shorter at once, and longer by one rung after ten steps. */
  double cfl;
  /** Instead of `step`: the largest local error of a step, in L2, relative to the largest |u| so far. For transport by
   *  bdf2, Navier-Stokes with elements q and rt by imex_bdf2 (error of the velocity), and elasticity by
   *  generalized_alpha and newmark (norm weighted by the density). The estimate of the error is a multiple of the
   *  difference between the solution and the extrapolation of the last three values. A step with a larger error is
   *  repeated with a shorter length; the next step is 0.5 to 2 times as long, on the same ladder. The first steps have
   *  no estimate: their length is a tenth of the cube root of the tolerance times the whole time, and at most
   *  max_step. */
  double tolerance;
  double max_step; /**< with cfl and tolerance: the longest step; 0: a hundredth of the whole time */
  double min_step; /**< with cfl and tolerance: a shorter step ends the run, TES_STEP_TOO_SMALL; 0: no limit */
  /** > 0: the run ends earlier, as soon as |u1 - u0| / dt <= steady times the largest |u| so far, in L2. */
  double steady;
  TesTimeMethod method;
  double rho_inf; /**< generalized_alpha: the factor per step of the highest frequencies, up to 1; 0: 0.8, -1: they
                   *   vanish */
} TesTimeDesc;

#ifdef __cplusplus
}
#endif
#endif
