/* A sweep from the definition: the dense matrix of the operator, restricted to the unknowns whose functions vanish
 * outside of a patch, and its pseudo-inverse by eigenvectors. For tests; small meshes. */
#include <lapacke.h>
#include <math.h>
#include "basis/blas.h"
#include "smoother/stokes_patch/stokes_patch.h"

/* Whether cell c is one of the interval's. */
static bool in_interval(const TesiAxis *a, int span, int v, int c) {
  return c == v || (span == 2 && c == (v + 1) % a->cells);
}

/* Whether the function of an entry along an axis vanishes outside the interval, or, for a closed cell, is not zero in
 * it. Known nodes never count. */
static bool inside(const TesiAxis *a, int span, int entry, int v) {
  const int n = a->step;
  if (a->basis == TESI_MODES) return in_interval(a, span, v, entry / n);
  if (entry < tesi_axis_first(a) || entry >= tesi_axis_end(a)) return false;
  if (entry % n) return in_interval(a, span, v, entry / n);
  if (span == 1) return entry == v * n || entry == (v + 1) * n % a->nodes;
  const int above = entry / n, below = above > 0 ? above - 1 : a->periodic ? a->cells - 1 : -1;
  const bool up = above >= a->cells || in_interval(a, span, v, above),
             down = below < 0 || in_interval(a, span, v, below);
  /* in a periodic direction of two cells every function lies in the patch, but the node between its ends is not an
   * unknown of the patch */
  return up && down && !(a->periodic && a->cells == 2 && above == v);
}

static int list_unknowns(const TesSpace *space, int span, const int vertex[3], int *list) {
  int count = 0;
  for (int p = 0; p < space->parts; p++)
    for (int64_t j = 0; j < space->scalar[p]->length; j++) {
      const int e[3] = TESI_EXTENT(space->scalar[p]);
      const int at[3] = {(int)(j % e[0]), (int)(j / e[0] % e[1]), (int)(j / e[0] / e[1])};
      bool all = true;
      for (int d = 0; d < space->dim; d++)
        all = all && inside(&space->scalar[p]->axis[d], span, at[d], vertex[d]);
      if (all) list[count++] = (int)(space->first[p] + j);
    }
  return count;
}

/* The difference between the local matrix of a mirrored axis and K, for two entries of a patch: across a wall, Ld of
 * the cell at the wall, mirrored, replaces Ld of the other cell. */
static double mirrored_entry(const TesOperator *op, const TesiStokesPatchAxis axis[3], const int vertex[3],
                             int i, int j) {
  const TesiStokes *s = tesi_stokes_of(op);
  const TesSpace *space = s->space;
  const int n = space->degree + 1;
  int part = 0, at[2][3];
  double sum = 0;
  while (i >= space->first[part + 1]) part++;
  if (part >= space->dim || j < space->first[part] || j >= space->first[part + 1]) return 0;
  for (int k = 0; k < 2; k++) {
    const int64_t entry = (k ? j : i) - space->first[part];
    const int e[3] = TESI_EXTENT(space->scalar[part]);
    at[k][0] = (int)(entry % e[0]);
    at[k][1] = (int)(entry / e[0] % e[1]);
    at[k][2] = (int)(entry / e[0] / e[1]);
  }
  for (int d = 0; d < space->dim; d++) {
    const int v = vertex[d], last = axis[d].vertices - 1, low = at[0][d] / n;
    const bool at_wall =
        axis[d].mirrored && !tesi_modal(space, d)->periodic && last > 0 && (v == 0 || v == last);
    const int wall = v == 0 ? 0 : tesi_modal(space, d)->cells - 1, far = v == 0 ? 1 : v;
    bool beside = d != part && at_wall && low == far && at[1][d] / n == far;
    for (int e = 0; e < space->dim; e++) beside = beside && (e == d || e == part || at[0][e] == at[1][e]);
    if (!beside) continue;
    const int q = at[0][d] % n, r = at[1][d] % n;
    const double mirrored = ((q + r) % 2 ? -1 : 1) *
                            tesi_band_entry(&s->axis[d].penalty, wall * n + q, wall * n + r),
                 own = tesi_band_entry(&s->axis[d].penalty, far * n + q, far * n + r);
    sum += s->nu * tesi_band_entry(&s->axis[part].mass, at[0][part], at[1][part]) * (mirrored - own);
  }
  return sum;
}

/* x[list] += pseudo-inverse of the local matrix A[n][n] times r[list]. */
static TesStatus correct(TesContext *ctx, double *A, int n, const int *list, const double *r, double *x) {
  TesStatus status = TES_OK;
  double *w = NULL, largest = 0;
  TES_ALLOC(&w, n);
  TES_TRY(tesi_blas_begin(ctx, n));
  const int info = LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'V', 'U', n, A, n, w);
  if (info != 0) TES_FAIL(TES_INTERNAL, "eigenvalues of a patch failed (LAPACK dsyev: %d)", info);
  for (int i = 0; i < n; i++) largest = fmax(largest, fabs(w[i]));
  for (int m = 0; m < n; m++) {
    double sum = 0;
    if (fabs(w[m]) < 1e-12 * largest) continue;
    for (int i = 0; i < n; i++) sum += A[i * n + m] * r[list[i]];
    for (int i = 0; i < n; i++) x[list[i]] += A[i * n + m] * sum / w[m];
  }
done:
  tesi_free(ctx, &w);
  return status;
}

/* Rows are columns. */
static TesStatus assemble(const TesOperator *op, double *K) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  double *unit = NULL;
  TesOperator *exact = NULL;
  TesVector *x = NULL, *y = NULL;
  TES_TRY(tesi_operator_on(op, op->space, TES_DOUBLE, &exact));
  TES_TRY(tes_vector_create(ctx, op->length, TES_DOUBLE, &x));
  TES_TRY(tes_vector_create(ctx, op->length, TES_DOUBLE, &y));
  TES_ALLOC(&unit, op->length);
  for (int64_t j = 0; j < op->length; j++) {
    unit[j] = 1;
    TES_TRY(tes_vector_set(x, unit));
    TES_TRY(tes_operator_apply(exact, x, y));
    TES_TRY(tes_vector_get(y, K + j * op->length));
    unit[j] = 0;
  }
done:
  tes_vector_destroy(&x);
  tes_vector_destroy(&y);
  tes_operator_destroy(&exact);
  tesi_free(ctx, &unit);
  return status;
}

/* The entry in row i: columns were stored as rows, and columns of known nodes are not zero. */
static double residual_at(const double *K, int64_t length, int64_t i, const double *b, const double *x) {
  double sum = b[i];
  for (int64_t j = 0; j < length; j++) sum -= K[j * length + i] * x[j];
  return sum;
}

TesStatus tesi_stokes_patch_sweep_ref(const TesOperator *op, const TesiStokesPatchAxis axis[3],
                                      bool red_black, const double *b, double *x, TesSweep sweep) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesSpace *space = tesi_stokes_of(op)->space;
  const int colours = tesi_stokes_patch_colours(axis, red_black);
  const int64_t length = op->length;
  double *K = NULL, *A = NULL, *r = NULL;
  int *list = NULL;
  TES_ALLOC(&K, length * length);
  TES_ALLOC(&A, length * length);
  TES_ALLOC(&r, length);
  TES_ALLOC(&list, length);
  TES_TRY(assemble(op, K));
  for (int i = 0; i < colours; i++) {
    const int colour = sweep == TES_FORWARD ? i : colours - 1 - i;
    for (int64_t j = 0; j < length; j++) r[j] = residual_at(K, length, j, b, x);
    for (int v = 0; v < axis[0].vertices * axis[1].vertices * axis[2].vertices; v++) {
      const int vertex[3] = {v % axis[0].vertices, v / axis[0].vertices % axis[1].vertices,
                             v / axis[0].vertices / axis[1].vertices};
      if (tesi_stokes_patch_colour(axis, space->dim, red_black, vertex) != colour) continue;
      const int n = list_unknowns(space, axis[0].span, vertex, list);
      for (int k = 0; k < n * n; k++)
        A[k] = K[list[k / n] * length + list[k % n]] +
               mirrored_entry(op, axis, vertex, list[k / n], list[k % n]);
      TES_TRY(correct(ctx, A, n, list, r, x));
    }
  }
done:
  tesi_free(ctx, &K);
  tesi_free(ctx, &A);
  tesi_free(ctx, &r);
  tesi_free(ctx, &list);
  return status;
}
