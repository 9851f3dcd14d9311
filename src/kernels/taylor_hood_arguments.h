/* Arguments by value of the kernels that couple velocities and pressures; the host includes this text too. */
#ifndef TESK_TAYLOR_HOOD_ARGUMENTS_H
#define TESK_TAYLOR_HOOD_ARGUMENTS_H

typedef struct TeskTaylorHood {
  long long cells;                /* of this launch */
  long long velocities;           /* entries of a component of the velocity */
  const int *order;               /* [cells]; NULL: 0, 1, ... */
  const int *velocity, *pressure; /* [cell][N^DIM], [cell][(N - 1)^DIM] nodes; none is given */
  const unsigned short *velocity_mask, *pressure_mask; /* [cell] TesMask */
  const double *velocity_halves, *pressure_halves;     /* [2][n][n] of hanging lines */
  /* C = |J| J^-1 at the points of a cell, then 1 / |J|: [cell][DIM^2 + 1][points]; or once per cell, [cell][DIM^2 +
   * 1]; or only C's diagonal, [cell][DIM + 1] */
  const double *numbers;
} TeskTaylorHood;

#endif
