/* The unit in which the systems of flows have their pressures, so that norms mean something.
 *
 * Rows of the momentum equation are forces, rows of div u = 0 are velocities over lengths: the Euclidean norm of a
 * residual of both depends on the units of the data, and so do stopping, GMRES and all that is counted. With p = s p'
 * a system
 *
 *   A u - B' p = f,  -B u = g      becomes      A u - s B' p' = f,  -s B u = s g
 *
 * or, divided by s, (A / s) u - B' p' = f / s, -B u = g: then both kinds of rows have one unit, and so have both kinds
 * of unknowns. The factor is
 *
 *   s = (nu + alpha h^2) / L^power,    L^dim the volume of the domain, h^dim that of a cell,
 *
 * power = 1 for nodal elements (q), whose rows are f h^dim and div u h^dim; 1/2 for element rt, whose pressures are
 * orthonormal and whose velocities are nodal in one direction. Nothing of it depends on the choice of units: with other
 * units of length, time and mass the whole system is multiplied by one number, and its iteration takes the same steps.
 * On the unit square or cube with nu = 1 it is 1.
 *
 * What is outside of a system has its own units: solutions, forces and errors are those of the data. */
#ifndef TESI_PRESSURE_UNIT_H
#define TESI_PRESSURE_UNIT_H

#include <stdint.h>

typedef struct TesiFlowSize {
  double nu, alpha; /* nu that varies: the geometric mean */
  int dim;
  double volume;
  int64_t cells;
} TesiFlowSize;

/* s; 1 where the numbers are none that a system is made of. */
double tesi_pressure_unit(const TesiFlowSize *size, double power);

#endif
