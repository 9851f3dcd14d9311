/* Arguments by value of stokes_varying.cu; the host includes this text too. */
#ifndef TESK_STOKES_VARYING_ARGUMENTS_H
#define TESK_STOKES_VARYING_ARGUMENTS_H

#include "stokes_arguments.h"

typedef struct TeskStokesVarying {
  TeskParts parts;
  int cells[3], periodic[3], known[3][2]; /* known: whether the nodes at an end of the box are known */
  int all, first;                         /* number of cells; first cell of the first block */
  double alpha;
  const double *h[3];       /* widths of the cells of a direction */
  const void *gamma[3];     /* real: [cells][2], at both ends of a direction's cells */
  const void *nu, *face_nu; /* real: [all][points], [all][2 dim][points of a face]; 0: no term */
  long long aside_at[3];    /* where a component's numbers begin */
} TeskStokesVarying;

#endif
