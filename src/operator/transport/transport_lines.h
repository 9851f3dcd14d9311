/* Transport with constant coefficients over a box: a sum of products of 1D matrices, of which the velocity's are not
 * symmetric,
 *
 *   A = A_x (x) M_y (x) M_z + M_x (x) A_y (x) M_z + M_x (x) M_y (x) A_z,   A_d = a K_d + b_d C_d (+ c M_x, d = x)
 *
 * with Robin terms and the flux through boundaries at the ends of A_d. A row of nodes in x at a time: t = M_x u, s =
 * A_x u;
 * U = M_y t, V = A_y t + M_y s; the result is V, in 3D A_z U + M_z V. A thread keeps the 2k + 1 rows of t and s, and
 * planes of U and V, that the next result needs. Rows of given nodes are zero. The host computes in float64; devices
 * with kernels use src/kernels/transport_lines.cu. */
#ifndef TESI_TRANSPORT_LINES_H
#define TESI_TRANSPORT_LINES_H

#include "operator/operator.h"
#include "space/periodic.h"

/* y <- A x, or b - A x; y may be b. */
typedef struct TesiLinesJob {
  const void *x, *b; /* b NULL: none */
  void *y;
} TesiLinesJob;

typedef struct TesiLinesDevice TesiLinesDevice;

typedef struct TesiLines {
  int dim, degree, width; /* width = 2 degree + 1 */
  int nodes[3]; /* per direction; 1 in the third direction of 2D; a periodic direction counts its end twice */
  /* x: diagonals [width][nodes], entry (i, i + o - degree) at [o][i]; y and z: rows [nodes][width], the same at
   * [i][o]; zeros beyond the ends */
  double *mass[3], *slope[3];
  double *memory; /* [threads][share] */
  int64_t share, row,
      plane; /* row: numbers from one row of t to the next; plane: from one plane of U to the next */
  int threads;
  TesiLinesDevice *device; /* NULL on the host */
  TesiPeriodic *periodic;  /* for boxes with periodic directions, else NULL: x and y on the open box */
  void *x, *y;
  void (*run)(const struct TesiLines *lines, const TesiLinesJob *job, int first, int end, double *memory);
} TesiLines;

/* The operator is of kind transport, and its symmetric part exists. *lines stays NULL if the operator is no such
 * sum. */
TesStatus tesi_lines_create(const TesOperator *op, const TesOperator *symmetric, TesiLines **lines);
void tesi_lines_destroy(TesContext *ctx, TesiLines **lines);
/* Addresses are of the device. */
TesStatus tesi_lines_run(TesContext *ctx, const TesiLines *lines, const TesiLinesJob *job);
TesCost tesi_lines_cost(const TesiLines *lines);

TesStatus tesi_lines_device_create(TesContext *ctx, const TesiLines *lines, TesPrecision precision,
                                   TesiLinesDevice **device);
void tesi_lines_device_destroy(TesContext *ctx, TesiLinesDevice **device);
TesStatus tesi_lines_device_run(TesContext *ctx, const TesiLines *lines, const void *x, const void *b,
                                void *y);

/* Rows of y (2D) or planes of z (3D), first .. end - 1. */
#define TESI_LINES_RUN(bits)                                                                                 \
  void tesk_lines_##bits(const TesiLines *lines, const TesiLinesJob *job, int first, int end, double *memory);
TESI_LINES_RUN(128)
TESI_LINES_RUN(256)
TESI_LINES_RUN(512)
#undef TESI_LINES_RUN

#endif
