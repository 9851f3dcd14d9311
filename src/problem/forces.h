/* Forces on boundaries for continuous elements: int sigma n, component by component, each node counted once.
 *
 * The weak form says r(phi_i) = K u + M u_t - F = int over the supports sigma n phi_i at the nodes of supports, which
 * are the boundaries that give this component; F has the given tractions of all other boundaries.
 *
 *   a given traction t     int t, since int sigma n is known for tractions, springs g - alpha u and pressures
 *   a support              sum of r_i over its nodes. F already has the tractions of other boundaries that
 *                          share a node, so the node belongs to the support entirely.
 *   supports that meet     r_i of a node is shared, component by component: support j gets
 *                          q r_i + int_j s phi_i - q sum over the supports l of int_l s phi_i
 *                          with s the stress of the solution there, and q the share of j in the faces of supports at
 *                          the node. These are the support's own part, and a share of the error of the stresses of
 *                          all of them. So forces do not depend on the number of names that a support has.
 *
 *   faces with slip        hold along their normals alone. At their nodes r_i, a vector, is shared by matrices in place
 *                          of q (force_shares.h), so that forces turn with a body.
 *
 * The forces of all boundaries sum up to sum of r_i + int t, which is the balance of the equation, to round-off.
 * Forces from the residual have order 2 k for smooth solutions. Where supports meet, the stress s of order k,
 * integrated over a cell, reduces the order to k + 1. */
#ifndef TESI_FORCES_H
#define TESI_FORCES_H

#include "problem/problem.h"

enum { TESI_STRESS_TEXT = 200 };

/* An equation's data for forces in a direction. */
typedef struct TesiForces {
  double sign; /* of a force as a value */
  /* The space of one component; r is given at its nodes. */
  const TesSpace *(*space)(const TesProblem *problem, int direction);
  /* r[length] over all nodes, host. */
  TesStatus (*residual)(const TesProblem *problem, int direction, double *r);
  /* *sum <- int of the traction that is given on a boundary without supports. */
  TesStatus (*traction)(const TesProblem *problem, int boundary, int direction, double *sum);
  /* (sigma n)_direction as an expression of the problem's fields. */
  void (*stress)(const TesProblem *problem, int direction, char text[TESI_STRESS_TEXT]);
  /* The space of all components. */
  const TesSpace *(*whole)(const TesProblem *problem);
} TesiForces;

/* *force <- component `direction` of int sigma n over a boundary; for a group of curves or points, the part that faces
 * of supports do not hold. */
TesStatus tesi_force_on(const TesProblem *problem, const TesiForces *of, int boundary, int direction,
                        double *force);

/* A force is sum over components c of weight_c,i r_c,i + int shared_c (sigma n)_c over the supports that give c + int
 * (shared . n) (n . sigma n) over the faces with slip, where `shared` has the values own on the boundary, a support,
 * and other on other supports; [length of a component], without of->sign. NULL: 0. */
typedef struct TesiForceWeights {
  double *weight[TESI_AXES], *own[TESI_AXES], *other[TESI_AXES];
} TesiForceWeights;
/* To be freed after failure too. */
TesStatus tesi_force_weights(const TesProblem *problem, const TesiForces *of, int boundary, int direction,
                             TesiForceWeights *weights);
void tesi_force_weights_free(TesContext *ctx, TesiForceWeights *weights);
/* The integrand of component c; slip: of a face with slip, where the sum over c is (shared . n) (n . sigma n). */
enum { TESI_SHARED_TEXT = 4 * TESI_STRESS_TEXT };
void tesi_force_write(int dim, char stress[TESI_AXES][TESI_STRESS_TEXT], int c, bool slip,
                      char text[TESI_SHARED_TEXT]);
/* Whether the stresses of component c on a boundary are shared; slip: the stresses along its normals. */
bool tesi_force_shares(const TesProblem *problem, int boundary, int c, bool slip);
/* A boundary whose faces are held in a direction; a face held along its normals has a force in all directions. */
bool tesi_force_is_support(const TesProblem *problem, int boundary, int direction);

#endif
