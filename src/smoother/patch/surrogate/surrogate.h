/* Surrogate local solvers of vertex patches for varying coefficients.
 *
 * On patch p the coefficient is replaced by a product f_x(x) f_y(y) f_z(z), so that the local matrix is separable,
 *   A~_p = K_x (x) M_y (x) M_z + M_x (x) K_y (x) M_z + M_x (x) M_y (x) K_z,
 *   (M_d)_ij = int f_d phi_i phi_j,  (K_d)_ij = int f_d phi_i' phi_j' + (d = x: c_0 (M_x)_ij) + end terms alpha_0 f_d,
 * with its own eigenbases S_d. c_0 and alpha_0 are means of c/a and alpha/a (tesi_coefficient_ratio). */
#ifndef TESI_SURROGATE_H
#define TESI_SURROGATE_H

#include "basis/gauss.h"
#include "smoother/patch/patch.h"
#include "smoother/spectrum.h"

enum { TESI_PATCH_LANES = 16, TESI_FACTOR = 2 * (TESI_MAX_DEGREE + 1) };

/* Mean over the box, or over a face (0..5; -1: none), of f/a at cell centres; 0 for f = NULL. */
TesStatus tesi_coefficient_ratio(const TesOperator *op, const TesFunction *f, int face, double *mean);

/* For nodal scaling: the largest ratio of D = diag(A) / diag(A_0) between nodes of one cell. */
double tesi_nodal_variation(const TesSmoother *smoother);

/* Intervals (patches of one direction) of one colour and shape. */
typedef struct TesiPatchFamily {
  int colour, m, cells; /* m nodes inside 1 or 2 cells */
  int skip;             /* nodes of the first cell outside the interval: 1, or 0 at a natural lower end */
  bool end[2];          /* whether it contains the lower, upper end node of the axis */
  int count, *interval; /* [count] */
} TesiPatchFamily;

enum { TESI_MAX_FAMILIES = 6 };

typedef struct TesiSurrogateAxis {
  int count, families;
  TesiPatchInterval *interval; /* [count] */
  TesiPatchFamily family[TESI_MAX_FAMILIES];
} TesiSurrogateAxis;

TesStatus tesi_surrogate_axis_create(TesContext *ctx, const TesiAxis *axis, TesiSurrogateAxis *patches);
void tesi_surrogate_axis_destroy(TesContext *ctx, TesiSurrogateAxis *patches);

/* First cell of an interval. */
static inline int tesi_interval_cell(const TesiAxis *axis, const TesiPatchInterval *interval) {
  return axis->degree && interval->first > 0 ? (interval->first - 1) / axis->degree : 0;
}

/* The data for the 1D matrices of a surrogate. */
typedef struct TesiSurrogateData {
  const TesSpace *space;
  int points;                                  /* Gauss points per cell and direction: degree + 1 */
  double weights[TESI_MAX_POINTS];             /* on [0, 1] */
  double B[TESI_MAX_POINTS * TESI_MAX_POINTS]; /* [points][degree + 1] */
  double G[TESI_MAX_POINTS * TESI_MAX_POINTS];
  double reaction, robin[6]; /* c_0, alpha_0 */
} TesiSurrogateData;

/* The factors f_d at the Gauss points of the patches of one plane (all patches with z-interval pz),
 * [py][px][3][TESI_FACTOR], from a at the Gauss points of its cell layers: layer[0..1] [cells y][qz][qy][cells x *
 * points], logs likewise. */
typedef struct TesiLayer {
  double *a, *log_a;
} TesiLayer;

void tesi_fit_factors(const TesiSurrogateData *data, const TesiSurrogateAxis axis[3], TesLocalSolver local,
                      int pz, const TesiLayer layer[2], int threads, double *factors);
/* a in cell layer cz. Errors: TES_NAN, TES_INVALID_INPUT if a is not positive, with the point. */
TesStatus tesi_evaluate_layer(const TesOperator *op, const TesiSurrogateData *data, int cz, TesiLayer *layer);

/* Lanes of one group: patches of one colour and shape, solved together. */
typedef struct TesiPatchGroup {
  int64_t node[TESI_PATCH_LANES]; /* first node of each patch */
  int count, colour, m[3];        /* lanes in use; unused ones repeat the first */
  int64_t tables; /* begin in `values` of S_d [m_d][m_d][lanes] and lambda_d [m_d][lanes], d = x, y, z */
} TesiPatchGroup;

typedef struct TesiSurrogate {
  TesiSurrogateData data;
  TesLocalSolver local;
  int lanes;
  TesiSurrogateAxis axis[3];
  int64_t groups, first_of_colour[9];
  TesiPatchGroup *group; /* sorted by colour */
  void *tables;
} TesiSurrogate;

/* Builds all groups and tables for an operator's precision. */
TesStatus tesi_surrogate_create(const TesOperator *op, TesLocalSolver local, TesiSurrogate *surrogate);
void tesi_surrogate_destroy(TesContext *ctx, TesiSurrogate *surrogate);

/* One precision and SIMD width. */
typedef struct TesiSurrogateKernels {
  /* x_I <- x_I + omega A~^-1 r_I for the patches of a group; work: 2 * m_x m_y m_z * lanes values, aligned to 64
   * bytes */
  void (*solve)(const TesiPatchGroup *group, const void *tables, int64_t stride_y, int64_t stride_z,
                double omega, const void *r, void *x, void *work);
  /* the tables of direction d of a group from lanes of factors [TESI_FACTOR][8] and cell widths [2][8]; lanes
   * first..first+7 of the group; false when an eigenproblem fails */
  bool (*fill)(const TesiSurrogateData *data, const TesiPatchFamily *family, int d, const double *factors,
               const double *widths, int first, void *tables);
} TesiSurrogateKernels;

extern const TesiSurrogateKernels tesi_surrogate_kernels_128[2], tesi_surrogate_kernels_256[2],
    tesi_surrogate_kernels_512[2];
const TesiSurrogateKernels *tesi_surrogate_kernels(const TesOperator *op);

/* One sweep patch by patch: factors by plain loops, dense local matrices, elimination. float64 host arrays. */
TesStatus tesi_surrogate_apply_ref(const TesSmoother *smoother, const double *b, double *x, TesSweep sweep);

#endif
