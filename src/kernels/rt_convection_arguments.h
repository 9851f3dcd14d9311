/* Arguments by value of rt_convection.cu; the host includes this text too. */
#ifndef TESK_RT_CONVECTION_ARGUMENTS_H
#define TESK_RT_CONVECTION_ARGUMENTS_H

#include "stokes_arguments.h"

/* The condition on a side of the box. Inflow terms count in full at walls and by half at outflows; slip sides have
 * none. */
enum { TESK_SIDE_VELOCITY = 0, TESK_SIDE_SLIP = 1, TESK_SIDE_OUTFLOW = 2 };

typedef struct TeskConvectionSide {
  const double *g[3]; /* [cells of the side][points]; NULL: 0 */
  int kind, unused;
} TeskConvectionSide;

typedef struct TeskConvection {
  TeskParts parts;
  int cells[3], periodic[3];
  int all, first;        /* number of cells; first cell of the first block */
  long long aside_at[3]; /* where the numbers of a component begin */
  const double *h[3];    /* widths of the cells of a direction */
  TeskConvectionSide side[6];
} TeskConvection;

#endif
