/* The unit of pressures in the systems of flows, so that norms are meaningful.
 *
 * Rows of the momentum equation are forces, rows of div u = 0 are velocities over lengths: the Euclidean norm of a
 * residual of both depends on the units of the data, and so would the stopping criterion, GMRES and iteration
 * counts. With p = s p' a system
 *
 *   A u - B' p = f,  -B u = g      becomes      A u - s B' p' = f,  -s B u = s g
 *
 * or, divided by s, (A / s) u - B' p' = f / s, -B u = g. Then both kinds of rows have the same unit, and both kinds
 * of unknowns too. The factor is
 *
 *   s = (nu + alpha h^2) / L^power,    L^dim the volume of the domain, h^dim the volume of a cell,
 *
 * power = 1 for nodal elements (q), whose rows are f h^dim and div u h^dim; 1/2 for element rt, whose pressures are
 * orthonormal and whose velocities are nodal in one direction. The iteration does not depend on the choice of units:
 * with other units of length, time and mass the whole system is multiplied by a number, and the iterates are the
 * same. On the unit square or cube with nu = 1, s is 1.
 *
 * Outside of a system, solutions, forces and errors have the units of the data. */
#ifndef TESI_PRESSURE_UNIT_H
#define TESI_PRESSURE_UNIT_H

#include <stdint.h>

typedef struct TesiFlowSize {
  double nu, alpha; /* nu of a varying viscosity: the geometric mean */
  int dim;
  double volume;
  int64_t cells;
} TesiFlowSize;

/* s; 1 if the numbers do not define a system. */
double tesi_pressure_unit(const TesiFlowSize *size, double power);

#endif
