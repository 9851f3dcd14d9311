/* Rigid motions that nothing holds: translations and rotations whose combinations vanish at all constrained entries
 * and stretch no spring. With r_k the motions, they are the null space of the small matrix
 *   H_kl = sum over constrained entries r_k r_l + scale times the energy of the springs. */
#include "operator/elasticity/elasticity.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>
#include "basis/blas.h"
#include "operator/mapped/mapped_robin.h"
#include "space/slip.h"

enum { MOST = 6 };

/* raw[count][length] */
static void fill_raw(const TesSpace *space, const double *x, double *raw) {
  const int dim = space->dim;
  const int64_t n = space->part[0]->length;
  TesiRigid rigid;
  double value[MOST * 3];
  tesi_rigid_of(space->context, dim, n, x, &rigid);
  for (int64_t i = 0; i < n; i++) {
    tesi_rigid_at(&rigid, x + i * dim, value);
    for (int e = 0; e < rigid.count * dim; e++) raw[e / dim * space->length + e % dim * n + i] = value[e];
  }
}

/* H += the parts of the motions along normals, summed over nodes with slip, without given components. */
static void add_normals(const TesSpace *space, int count, const double *raw, double *H) {
  const TesiSlip *s = space->slip;
  for (int64_t i = 0; i < s->count; i++) {
    double along[MOST][3] = {{0}};
    if (!tesi_layout_owns(space->part[0]->layout, s->node[i])) continue;
    for (int k = 0; k < count; k++)
      for (int r = 0; r < s->dim; r++)
        for (int c = 0; c < s->dim; c++)
          along[k][r] += tesi_slip_given(s, i, r) ? 0
                                                  : ((r == c) - s->P[(r * s->dim + c) * s->count + i]) *
                                                        raw[k * space->length + c * s->length + s->node[i]];
    for (int k = 0; k < count; k++)
      for (int l = 0; l < count; l++)
        for (int r = 0; r < s->dim; r++) H[k * MOST + l] += along[k][r] * along[l][r];
  }
}

static double trace(int count, const double *H) {
  double sum = 0;
  for (int k = 0; k < count; k++) sum += H[k * MOST + k];
  return sum;
}

/* H += the energies of the springs, scaled to the size of the entries of H. y: the terms that the springs of this
 * rank's cells add to nodes; copies of other ranks' nodes are included, so the sum runs over all entries of y. */
static TesStatus add_springs(const TesOperator *op, int count, const double *raw, double *H) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiElasticity *e = op->plan;
  double *y = NULL, S[MOST * MOST] = {0};
  TES_ALLOC(&y, op->length);
  for (int k = 0; k < count; k++) {
    memset(y, 0, (size_t)op->length * sizeof *y);
    for (int c = 0; c < op->space->dim; c++) {
      const int64_t at = op->space->part_first[c];
      if (e->springs[c])
        tesi_robin_add(e->springs[c], TES_DOUBLE, 1, true, raw + k * op->length + at, y + at);
    }
    for (int l = 0; l < count; l++)
      for (int64_t i = 0; i < op->length; i++) S[k * MOST + l] += raw[l * op->length + i] * y[i];
  }
  tesi_reduce(ctx, TESI_SUM, MOST * MOST, S);
  const double springs = trace(count, S), rest = trace(count, H);
  for (int i = 0; springs > 0 && i < MOST * MOST; i++) H[i] += S[i] / springs * (rest > 0 ? rest : 1);
done:
  tesi_free(ctx, &y);
  return status;
}

/* The *free_count null vectors of H, at the beginning of vectors[MOST][count], by rows. */
static TesStatus find_null(TesContext *ctx, int count, const double *H, int *free_count, double *vectors) {
  TesStatus status = TES_OK;
  double values[MOST];
  memset(vectors, 0, MOST * MOST * sizeof *vectors);
  for (int k = 0; k < count; k++)
    for (int l = 0; l < count; l++) vectors[k * count + l] = H[k * MOST + l];
  TES_TRY(tesi_blas_begin(ctx, count));
  const int info = (int)LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'L', count, vectors, count, values);
  if (info != 0)
    TES_FAIL(
        TES_NAN,
        "the eigenproblem of rigid motions failed (LAPACK dsyev: %d): coefficients are too large for float64",
        info);
  *free_count = 0;
  while (*free_count < count && values[*free_count] <= 1e-10 * values[count - 1]) (*free_count)++;
done:
  return status;
}

/* Gram-Schmidt, twice. */
static void orthonormalize(const TesiLayout *layout, int count, double *motion) {
  const int64_t n = layout->length;
  for (int k = 0; k < count; k++) {
    double *v = motion + k * n;
    for (int pass = 0; pass < 2; pass++) {
      tesi_elasticity_project(layout, k, motion, v);
      const double norm = sqrt(tesi_layout_product(layout, v, v));
      for (int64_t i = 0; i < n; i++) v[i] /= norm;
    }
  }
}

void tesi_elasticity_project(const TesiLayout *layout, int count, const double *motion, double *v) {
  const int64_t n = layout->length;
  for (int k = 0; k < count; k++) {
    const double part = tesi_layout_product(layout, motion + k * n, v);
    for (int64_t i = 0; i < n; i++) v[i] -= part * motion[k * n + i];
  }
}

static TesStatus find_motions(const TesOperator *op, int *count, int *loose, double **motion) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiElasticity *e = op->plan;
  double *x = NULL, *raw = NULL, H[MOST * MOST] = {0}, vectors[MOST * MOST];
  const int dim = op->space->dim, all = dim * (dim + 1) / 2;
  const int64_t n = op->length;
  *count = all, *loose = 0, *motion = NULL;
  TES_ALLOC(&x, op->space->part[0]->length * dim);
  TES_ALLOC(&raw, all * n);
  TES_TRY(tes_space_coordinates(op->space->part[0], x));
  fill_raw(op->space, x, raw);
  for (int64_t i = 0; i < e->constrained; i++) {
    if (!tesi_layout_owns(op->space->layout, e->list[i])) continue;
    for (int k = 0; k < all; k++)
      for (int l = 0; l < all; l++) H[k * MOST + l] += raw[k * n + e->list[i]] * raw[l * n + e->list[i]];
  }
  if (op->space->slip) add_normals(op->space, all, raw, H);
  tesi_reduce(ctx, TESI_SUM, MOST * MOST, H);
  if (e->held) TES_TRY(add_springs(op, all, raw, H));
  TES_TRY(find_null(ctx, all, H, loose, vectors));
  TES_ALLOC(motion, all * n);
  for (int k = 0; k < all; k++)
    for (int l = 0; l < all; l++)
      for (int64_t i = 0; i < n; i++) (*motion)[k * n + i] += vectors[k * all + l] * raw[l * n + i];
  for (int k = 0; k < all; k++)
    for (int64_t i = 0; i < e->constrained; i++) (*motion)[k * n + e->list[i]] = 0;
  for (int k = 0; k < all && op->space->slip; k++)
    tesi_slip_finish_ref(op->space->slip, NULL, NULL, NULL, *motion + k * n);
done:
  tesi_free(ctx, &x);
  tesi_free(ctx, &raw);
  return status;
}

TesStatus tesi_elasticity_near_null(const TesOperator *op, int *count, int *loose, double **motion) {
  const TesStatus status = find_motions(op, count, loose, motion);
  if (((const TesiElasticity *)op->plan)->mass) *loose = 0;
  return status;
}

TesStatus tesi_elasticity_unheld(const TesOperator *op, int *loose) {
  double *motion;
  int all;
  *loose = 0;
  if (!tesi_is_elasticity(op)) return TES_OK;
  const TesStatus status = find_motions(op, &all, loose, &motion);
  tesi_free(op->context, &motion);
  return status;
}

TesStatus tesi_elasticity_motions(const TesOperator *op, int *count, double **motion) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  int all;
  *count = 0, *motion = NULL;
  if (!tesi_is_elasticity(op) || ((const TesiElasticity *)op->plan)->mass) return TES_OK;
  TES_TRY(tesi_elasticity_near_null(op, &all, count, motion));
  if (*count > 0)
    orthonormalize(op->space->layout, *count, *motion);
  else
    tesi_free(ctx, motion);
done:
  return status;
}

/* Fits a combination of rigid motions to each motion by least squares, since a motion has no value or another value
 * at nodes where a component is given or held. */
TesStatus tesi_elasticity_tell(const TesSpace *space, int count, const double *motion, size_t size,
                               char *text) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const int dim = space->dim;
  const int64_t n = space->part[0]->length;
  double *x = NULL, value[MOST * 3], A[MOST * MOST] = {0}, b[MOST * MOST] = {0};
  TesiRigid rigid;
  TES_ALLOC(&x, n * dim);
  TES_TRY(tes_space_coordinates(space->part[0], x));
  tesi_rigid_of(ctx, dim, n, x, &rigid);
  const int all = rigid.count;
  for (int64_t i = 0; i < n; i++) {
    if (!tesi_layout_owns(space->part[0]->layout, i)) continue;
    tesi_rigid_at(&rigid, x + i * dim, value);
    for (int d = 0; d < dim; d++)
      for (int k = 0; k < all; k++) {
        for (int l = 0; l < all; l++) A[k * all + l] += value[k * dim + d] * value[l * dim + d];
        for (int m = 0; m < count; m++)
          b[m * all + k] += value[k * dim + d] * motion[m * space->length + d * n + i];
      }
  }
  tesi_reduce(ctx, TESI_SUM, MOST * MOST, A);
  tesi_reduce(ctx, TESI_SUM, MOST * MOST, b);
  TES_TRY(tesi_blas_begin(ctx, all));
  const int info = (int)LAPACKE_dposv(LAPACK_COL_MAJOR, 'L', all, count, A, all, b, all);
  if (info != 0) TES_FAIL(TES_NAN, "the coordinates of nodes are not finite");
  tesi_rigid_tell(&rigid, count, b, size, text);
done:
  tesi_free(ctx, &x);
  return status;
}
