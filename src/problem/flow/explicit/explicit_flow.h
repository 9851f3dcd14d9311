/* Algorithm 4 of Liebchen et al. exactly: explicit steps of the Navier-Stokes equations with a velocity of Q_1 on
 * halved cells, lumped masses and pressure correction (operator/iso/iso.h has the parts):
 *
 *   u <- momentum(u, p + q), with boundary values of the new time
 *   (grad q, grad psi) = -1/k (div u, psi)            q of mean zero
 *   p <- p + q - nu n^-1 (div u, psi)                 p of mean zero
 *
 * q is found by fast diagonalization, exactly, or by conjugate gradients with V-cycles from the last q to 1e-3 of the
 * right-hand side. The mean of q is subtracted if cycles computed q; by fast diagonalization it is zero. On devices
 * with kernels a step with fast diagonalization is one graph. */
#ifndef TESI_EXPLICIT_FLOW_H
#define TESI_EXPLICIT_FLOW_H

#include "device/recorded.h"
#include "multigrid/coarse/coarse.h"
#include "operator/iso/iso_matrices.h"
#include "tessera/solver.h"
#include "time/state.h"

typedef struct TesiExplicitFlow {
  TesContext *context;
  TesiIso *iso;
  TesiIsoMatrices *matrices; /* used for products in the place of iso; NULL: iso */
  TesSpace *pressure;
  TesiLayout *velocity;             /* of u */
  TesOperator *laplace, *assembled; /* assembled: used for the solver's products; NULL: laplace */
  TesiCoarse *direct;               /* NULL: by cycles */
  TesMultigrid *multigrid;
  TesSolver *solver; /* NULL: direct */
  double k, nu;      /* k: of the last step */
  double recorded_k;
  int now;                                                  /* index of the present u */
  TesVector *u[2];                                          /* [component][fine nodes] */
  TesVector *given, *load, *p, *q, *s, *b, *weights, *ones; /* weights of the integral of a pressure */
  double volume;
  bool loaded; /* load is not zero */
  int cycles;  /* of the last step: number of iterations */
  TesiRecorded recorded[2];
  double kept_time;
  TesiKept kept; /* the last good state, of a step and a time */
  int kept_step;
} TesiExplicitFlow;

/* mesh: of the pressure; velocity: the layout of velocities (NULL: one rank); given: as tesi_iso_create(); u, p and q
 * begin as zero. Errors: those of tesi_iso_create(); TES_INVALID_INPUT if the mean of q is not free. */
TesStatus tesi_explicit_flow_create(const TesMesh *mesh, const TesiLayout *velocity, const uint8_t *given,
                                    double nu, double k, bool direct, TesiExplicitFlow **flow);
void tesi_explicit_flow_destroy(TesiExplicitFlow **flow);
/* The state becomes u and p (p <- p minus its mean); q is 0. */
TesStatus tesi_explicit_flow_begin(TesiExplicitFlow *flow);
/* From now on all parts except a direct solver multiply by assembled matrices: for comparisons. */
TesStatus tesi_explicit_flow_assemble(TesiExplicitFlow *flow);
/* The three parts of a step around the solve: the next u from the present u; b from u; p and s from q and b. */
TesStatus tesi_explicit_flow_momentum(TesiExplicitFlow *flow);
TesStatus tesi_explicit_flow_divergence(TesiExplicitFlow *flow, const TesVector *u);
TesStatus tesi_explicit_flow_pressure(TesiExplicitFlow *flow, double rate, const TesVector *q);
/* One step, with boundary values in flow->given and the load in flow->load. Errors: TES_NAN, TES_NOT_CONVERGED from the
 * solver; the velocity is not checked for finite values. */
TesStatus tesi_explicit_flow_step(TesiExplicitFlow *flow);
/* *energy <- 1/2 int |u|^2, by exact integration. */
TesStatus tesi_explicit_flow_energy(const TesiExplicitFlow *flow, double *energy);

#endif
