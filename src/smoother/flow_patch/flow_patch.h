/* Cells of discontinuous elements in the order in which the velocity goes through them, each solved exactly with the
 * present values of its neighbours: block Gauss-Seidel. Without diffusion and closed paths one step along the flow
 * gives the solution (Hackbusch and Probst, Downwind Gauss-Seidel smoothing for convection dominated problems, Numer.
 * Linear Algebra
 * Appl. 4, 1997).
 *
 *   x_K <- A_KK^-1 (b_K - sum over its faces A_KN x_N)
 *
 * A_KK is dense. Let N be the neighbour across a face with normal d. As the modes are orthonormal, interior penalties
 * need only a matrix in direction d, and the transport needs only the trace of x_N. With s, t modes of the face and i,
 * j modes along d:
 *
 *   (A_KN x)_(i s) = sum_j C_ij x_(j s) + l_i sum_t F_st sum_j l_j' x_(j t),    F_st = int (b.n)- phi_s phi_t.
 *
 * The order: a cell comes after the neighbours from which it receives more than it gives. Closed paths are cut where a
 * depth-first search meets a cell on its stack. Neighbours are never in the same layer, so that the cells of a layer
 * are solved at the same time. */
#ifndef TESI_FLOW_PATCH_H
#define TESI_FLOW_PATCH_H

#include "operator/transport/transport_operator.h"
#include "smoother/smoother.h"
#include "space/rt_cells.h"

typedef struct TesiFlowDevice TesiFlowDevice;
typedef struct TesiFlowPatch {
  const TesiTransport *transport;
  const TesSpace *space;
  double nu, alpha;
  int n, modes, across; /* number of entries per direction, per cell and per face */
  int64_t cells;
  int64_t *order;  /* [cells] */
  int64_t longest; /* cells of the longest closed path; 0: there is none */
  int layers;
  int64_t *first;                  /* [layers + 1] in order */
  TesiFlowDevice *device;          /* NULL on the host; else it has the matrices */
  double *inverse;                 /* [cells][modes][modes] */
  double *inflow;                  /* [cells][2 dim][across][across] F */
  bool *enters;                    /* [cells][2 dim] whether F is not 0 */
  double *jump[3];                 /* [cells of the axis][2][n][n] C */
  double ends[2][TESI_MAX_POINTS]; /* modes of the unit cell at 0 and 1 */
  int threads;
  double *work; /* [threads][4 modes] */
} TesiFlowPatch;

/* The cell across a face, -1: none. place: of the cell. */
int64_t tesi_flow_behind(const TesSpace *space, const int place[3], int face, int next[3]);
/* speeds[points of a face] <- (b.n) and weights at a face of a cell. */
void tesi_flow_speeds(const TesiFlowPatch *p, int64_t cell, int face, double *speeds);
/* Computes order, layers and first. */
TesStatus tesi_flow_order(TesContext *ctx, TesiFlowPatch *p);
/* Computes inverse, inflow, enters, jump. */
TesStatus tesi_flow_matrices(const TesOperator *op, TesiFlowPatch *p);

/* `longest`; 0 for other smoothers, NULL among them. */
int64_t tesi_smoother_flow_closed(const TesSmoother *smoother);
/* Bytes of the smoother on one level. */
double tesi_smoother_flow_bytes(const TesSpace *space);

#endif
