/* Arguments by value of the kernel of cells in the order of a velocity; the host includes this text too. */
#ifndef TESK_FLOW_PATCH_ARGUMENTS_H
#define TESK_FLOW_PATCH_ARGUMENTS_H

typedef struct TeskFlowPatch {
  int cells[3], periodic;      /* bit d: direction d is one */
  const int *order;            /* [cells] */
  const void *inverse;         /* real: [cells][column][row] A_KK^-1 */
  const void *inflow;          /* real: [cells][2 dim][column][row] F (flow_patch.h) */
  const unsigned char *enters; /* [cells][2 dim] whether F is not 0 */
  const void *jump[3];         /* real: [cells of the axis][2][N][N] C */
  const void *root[3];         /* real: h^(-1/2) of the cells of a direction */
} TeskFlowPatch;

#endif
