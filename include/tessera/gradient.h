/** \file gradient.h
 *  Derivatives of values by data: of one value by any number of data, from one adjoint solve.
 *
 *  A steady linear problem A(m) u = b(m) has data m, and J(u, m) is a value of its solution. With z from A' z = dJ/du
 *
 *      dJ/dm = dJ/dm (of the same u) + z . (db/dm - dA/dm u) + (dJ/du - A' z) . du_D/dm,
 *
 *  u_D the given boundary values. dA/dm and db/dm are the forms and loads of the problem with a direction in the place
 *  of the data, by the problem's own quadrature: the result is the derivative of the discrete value, up to the
 *  tolerance of both solves. Meshes stay as they are; in adaptive solves the mesh is the last one.
 *
 *  Of poisson, transport, elasticity and steady stokes with element q. A is symmetric without a velocity that carries:
 *  then the adjoint solve is one more solve with the multigrid that is there. With such a velocity the transposed
 *  problem is set up, which costs as much as the problem.
 *
 *  Values are integrals, means and values at points of any expression that is differentiable in the fields, and forces
 *  on boundaries that give a velocity or a displacement. Where boundaries of a flow meet, the velocity of smaller
 *  length holds, also while it varies. */
#ifndef TESSERA_GRADIENT_H
#define TESSERA_GRADIENT_H

#include "case.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A direction in the data: the derivative is that of J(m + s direction) at s = 0. All functions are directions, and
 *  NULL is 0. Which boundary has a value, a flux or alpha is known from the problem. */
typedef struct TesVariation {
  /** Where a material has a function of its own the direction of the whole domain does not reach it. b: also of the
   *  velocity. expansion: of the thermal strain, expansion times temperature; temperature is ignored. */
  TesData data;
  int materials;
  const TesMaterial *material; /**< [materials] name and data */
  int boundaries;
  const TesBoundary *boundary; /**< [boundaries] name (NULL: all others), g and alpha */
  /** [cells of the mesh, on several ranks of this one], filled: the part of each cell, which is the derivative by the
   *  direction in this cell alone.
   *  NULL: not wanted. Boundaries, b, data of heated bodies, and forces where supports meet have no parts. */
  double *cells;
  double derivative; /**< filled */
} TesVariation;

/** The derivatives of a value of the last solution in some directions. Cost: an adjoint solve, and per direction and
 *  function some sums over the cells. The monitor of the solve is not called. Errors: TES_INVALID_INPUT (problems in
 *  time, elements rt and dg, streamline terms, a solution that is determined up to a constant or a rigid motion; values
 *  with kinks as the largest, forces of given stresses; a direction whose velocities have a net flux in a closed
 *  domain; names and functions as tes_problem_create()), the errors of tes_solver_solve(). */
TesStatus tes_problem_gradient(TesProblem *problem, const TesValue *what, int count, TesVariation *variation);

/** A datum of a case, by which a value is differentiated. */
typedef struct TesCaseDatum {
  /** A name of `constants`, by which everything that is made of it is differentiated; or the path of a number or
   *  expression below `data` or `boundary` that the case gives, to which a number is added: data.a, data.young,
   *  data.f[0], data.materials.NAME.a, boundary.NAME.dirichlet, boundary.NAME.robin.alpha. `data.` may be left out. */
  const char *key;
  double *cells;     /**< as TesVariation.cells */
  double derivative; /**< filled */
} TesCaseDatum;

/** The same of a value of a case by its name in output.values, and by data of the case. `problem` is the solved
 *  problem of the case. Values that are made of other values cost one adjoint solve for each of those. Errors: also a
 *  value or a key that the case does not have, and a key on which the mesh or a number of the case depends; files of
 *  the case are read again. */
TesStatus tes_case_gradient(const TesCase *input, TesProblem *problem, const char *value, int count,
                            TesCaseDatum *datum);

#ifdef __cplusplus
}
#endif
#endif
