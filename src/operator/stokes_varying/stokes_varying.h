/* The Stokes operator with a viscosity that varies, or with the symmetric gradient, by quadrature cell by cell:
 *   a(u, v) = int nu (grad u + s grad u') : grad v + alpha u v              s = 1: symmetric, 2 nu eps(u) : eps(v)
 *           + sum over faces with normal d, components i other than d, of
 *             int gamma nu_F [u_i][v_i] - nu_F {t_i(u)} [v_i] - nu_F {t_i(v)} [u_i],
 *   t_i(u) = du_i/dx_d + s du_d/dx_i,
 * [v] = v- - v+, {t} the mean of both sides. At faces with given tangential values [v] = +-v and {t} = t. nu_F is the
 * harmonic mean of the values on both sides, the effective viscosity across a jump of nu. K = [A, -B'; -B, 0] as in
 * stokes_operator.h. The symmetric form needs gamma doubled: with k (k + 1) / h it is indefinite for k = 1.
 * nu is stored at k + 3 Gauss points per direction. The processor computes in float64; devices with kernels compute
 * in the precision of the vectors. Both have the same values of nu. */
#ifndef TESI_STOKES_VARYING_H
#define TESI_STOKES_VARYING_H

#include "functional/rt/rt_functional.h"
#include "operator/stokes/stokes_operator.h"

typedef struct TesiStokesVaryingDevice TesiStokesVaryingDevice;
typedef struct TesiStokesVarying {
  TesiStokes stokes; /* rt, alpha, the mean nu; bands of the gradient form, with its penalty */
  bool symmetric;
  TesPenalty penalty;              /* doubled where symmetric */
  TesiRtTables cell, end[2];       /* at Gauss points; at 0 and at 1 */
  int points, face_points;         /* of a cell, of a face */
  double *nu;                      /* [cells][points] */
  double *face_nu;                 /* [cells][2 dim][face_points] nu_F; 0 where there is no term */
  double *mean, *least, *largest;  /* [cells] of nu over a cell */
  double *x, *y;                   /* work; on devices with kernels NULL */
  TesiStokesVaryingDevice *device; /* NULL on the host */
} TesiStokesVarying;

extern const TesiOperatorKind tesi_operator_stokes_varying;
static inline const TesiStokesVarying *tesi_stokes_varying_of(const TesOperator *op) {
  return op->data;
}
static inline bool tesi_is_stokes_varying(const TesOperator *op) {
  return op->kind == &tesi_operator_stokes_varying;
}
/* The doubles of work memory that a thread needs for tesi_stokes_varying_cell(), in bytes. */
int64_t tesi_stokes_varying_work(const TesiStokesVarying *s);
/* y <- y + the part of K x that a cell and its faces contribute to the rows of the cell's unknowns; host float64.
 * Rows of known nodes get it too. */
void tesi_stokes_varying_cell(const TesiStokesVarying *s, const int cell[3], const double *x, double *work,
                              double *y);
/* b <- b + the contribution of given values g of component i to the right-hand side. g: values at the points of a
 * cell's face on the boundary, times the weights of the points. */
void tesi_stokes_varying_face(const TesiStokesVarying *s, const int cell[3], int d, int end, int i,
                              const double *g, double *work, double *b);
/* b <- b + the same for the tangential velocities of all faces, face[2 dim]: int nu (gamma (g, v) - (g, t(v))). */
TesStatus tesi_stokes_varying_load(const TesOperator *op, const TesiGiven *given, TesVector *b);
/* The matrix K[n][n] of the unknowns list[n], ascending by part, in the cells cell[cells]: x is 0 elsewhere. zero:
 * [length] zeros twice, zeros again afterwards. work: as above. Errors: TES_INTERRUPTED. */
TesStatus tesi_stokes_varying_matrix(TesContext *ctx, const TesiStokesVarying *s, int cells,
                                     const int (*cell)[3], int n, const int64_t *list, double *zero,
                                     double *work, double *K);
/* The same matrix, factored: K[n][n] with pivot[n] is its LU factorization by LAPACK (the matrix is symmetric).
 * closed: the matrix is singular; e[n] <- the constant pressure of norm 1, which spans its null space; *factor e e'
 * is to be added to the inverse. Otherwise e is not touched. */
TesStatus tesi_stokes_varying_factor(const TesOperator *op, int cells, const int (*cell)[3], bool closed,
                                     int n, const int64_t *list, double *K, int *pivot, double *e,
                                     double *factor);
/* K[n][n] <- the pseudo-inverse of that matrix; closed: its null space is the constant pressure. */
TesStatus tesi_stokes_varying_invert(const TesOperator *op, int cells, const int (*cell)[3], bool closed,
                                     int n, const int64_t *list, double *K);
/* From the definition, basis function by basis function (stokes/stokes_ref.c). nu is evaluated again, not read from
 * the operator. */
TesStatus tesi_stokes_varying_apply_ref(const TesOperator *op, const double *x, double *y);

#endif
