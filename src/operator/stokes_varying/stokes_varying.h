/* The Stokes operator with a viscosity that varies, or with the symmetric gradient, by quadrature cell by cell:
 *   a(u, v) = int nu (grad u + s grad u') : grad v + alpha u v              s = 1: symmetric, 2 nu eps(u) : eps(v)
 *           + sum over faces with normal d, components i other than d, of
 *             int gamma nu_F [u_i][v_i] - nu_F {t_i(u)} [v_i] - nu_F {t_i(v)} [u_i],
 *   t_i(u) = du_i/dx_d + s du_d/dx_i,
 * [v] = v- - v+, {t} the mean of both sides; at faces with given tangential values [v] = +-v and {t} = t. nu_F is the
 * harmonic mean of the values on both sides: what a jump of nu lets through. K = [A, -B'; -B, 0] as in
 * stokes_operator.h. The symmetric form needs gamma doubled: with k (k + 1) / h it is indefinite for k = 1.
 * k + 3 Gauss points per direction, where nu is stored. On the processor vectors are float64 inside; on devices with
 * kernels they are what they are, and the same numbers of nu stand on both. */
#ifndef TESI_STOKES_VARYING_H
#define TESI_STOKES_VARYING_H

#include "functional/rt/rt_functional.h"
#include "operator/stokes/stokes_operator.h"

typedef struct TesiStokesVaryingDevice TesiStokesVaryingDevice;
typedef struct TesiStokesVarying {
  TesiStokes stokes; /* rt, alpha; nu: the mean over the box; bands of the gradient form with this penalty */
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
/* Bytes of memory that a thread needs for tesi_stokes_varying_cell(), as doubles. */
int64_t tesi_stokes_varying_work(const TesiStokesVarying *s);
/* y <- y + what row of a cell's unknowns K x has from the cell and its faces; host float64. Rows of known nodes get
 * it too. */
void tesi_stokes_varying_cell(const TesiStokesVarying *s, const int cell[3], const double *x, double *work,
                              double *y);
/* b <- b + what given values g of component i, at the points of a cell's face on the boundary and times their weights,
 * leave to the right-hand side. */
void tesi_stokes_varying_face(const TesiStokesVarying *s, const int cell[3], int d, int end, int i,
                              const double *g, double *work, double *b);
/* b <- b + the same for the tangential velocities of all faces, face[2 dim]: int nu (gamma (g, v) - (g, t(v))). */
TesStatus tesi_stokes_varying_load(const TesOperator *op, const TesiGiven *given, TesVector *b);
/* The matrix K[n][n] of some unknowns, list[n] ascending by part, that live in the cells cell[cells]: as if x were 0
 * elsewhere. zero: [length] of zeros twice, left so. work: as above. Errors: TES_INTERRUPTED. */
TesStatus tesi_stokes_varying_matrix(TesContext *ctx, const TesiStokesVarying *s, int cells,
                                     const int (*cell)[3], int n, const int64_t *list, double *zero,
                                     double *work, double *K);
/* The same matrix, factored: K[n][n] with pivot[n] is its L U (LAPACK's; the matrix is symmetric). closed: the matrix
 * is singular; e[n] <- the constant pressure of norm 1, which spans its null space, and *factor <- the number by which
 * e e' is to be added to the inverse. Else e is not touched. */
TesStatus tesi_stokes_varying_factor(const TesOperator *op, int cells, const int (*cell)[3], bool closed,
                                     int n, const int64_t *list, double *K, int *pivot, double *e,
                                     double *factor);
/* K[n][n] <- the pseudo-inverse of that matrix; closed: its null space is the constant pressure. */
TesStatus tesi_stokes_varying_invert(const TesOperator *op, int cells, const int (*cell)[3], bool closed,
                                     int n, const int64_t *list, double *K);
/* From the definition, basis function by basis function (stokes/stokes_ref.c). nu is evaluated anew. */
TesStatus tesi_stokes_varying_apply_ref(const TesOperator *op, const double *x, double *y);

#endif
