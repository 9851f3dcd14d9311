/* Forces on boundaries for continuous elements: int sigma n, component by component, each node counted once.
 *
 * The weak form says r(phi_i) = K u + M u_t - F = int over the supports sigma n phi_i at the nodes of supports, which
 * are the boundaries that give this component; F has the given tractions of all other boundaries.
 *
 *   a given traction t     int t, since int sigma n is known for tractions, springs g - alpha u and pressures
 *   a support              sum of r_i over its nodes. F already has the tractions of other boundaries that
 *                          share a node, so the node belongs to the support entirely.
 *   supports that meet     r_i of a node is shared: support j gets
 *                          q r_i + int_j s phi_i - q sum over the supports l of int_l s phi_i
 *                          with s the stress of the solution there, and q the share of j in the faces of supports at
 *                          the node. These are the support's own part, and a share of the error of the stresses of
 *                          all of them. So forces do not depend on the number of names that a support has.
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
} TesiForces;

/* *force <- component `direction` of int sigma n over a boundary; for a group of curves or points, the part that faces
 * of supports do not hold. */
TesStatus tesi_force_on(const TesProblem *problem, const TesiForces *of, int boundary, int direction,
                        double *force);

/* The force is sum of weight_i r_i + sum over all supports of int shared (sigma n), where `shared` has the values own
 * on the boundary, a support, and other on other supports. All are times of->sign, [length of the space]. */
typedef struct TesiForceWeights {
  double *weight, *own, *other;
} TesiForceWeights;
TesStatus tesi_force_weights(const TesProblem *problem, const TesiForces *of, int boundary, int direction,
                             const TesiForceWeights *weights);
/* A boundary whose faces are held in a direction; a face held along its normals has a force in all directions. */
bool tesi_force_is_support(const TesProblem *problem, int boundary, int direction);

#endif
