/* The reference cell of the nested sweep: modes of its bubbles, and how they couple to its vertices. */
#include "base/real.h"
#include "basis/eigen.h"
#include "basis/lagrange.h"
#include "smoother/patch/patch_plan.h"

/* A matrix without its first and last row and column. */
static void inner_part(int n, const double *A, double *inner) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++) inner[(i - 1) * (n - 2) + j - 1] = A[i * n + j];
}

static void fill_couplings(int n, const double *K, const double *M, TesiPatchCell *cell) {
  const int bubbles = n - 2;
  cell->stiffness[0] = K[0], cell->stiffness[1] = K[n - 1];
  cell->mass[0] = M[0], cell->mass[1] = M[n - 1];
  for (int j = 0; j < bubbles; j++) {
    for (int i = 0; i < bubbles; i++) {
      const double s = cell->modes[i * bubbles + j];
      cell->p[j] += s * K[i + 1];
      cell->q[j] += s * M[i + 1];
      for (int l = 0; l < bubbles; l++) cell->inverse[j * bubbles + l] += s * M[(i + 1) * n + l + 1];
    }
    const double rest = cell->q[j] - cell->p[j] / cell->lambda[j];
    cell->r[j] = rest * rest;
  }
}

TesStatus tesi_patch_cell_create(TesContext *ctx, int degree, TesiPatchCell *cell) {
  TesStatus status = TES_OK;
  const int n = degree + 1, bubbles = degree - 1;
  double *K = NULL, *M = NULL, *inner_K = NULL, *inner_M = NULL;
  TES_ALLOC(&K, n * n);
  TES_ALLOC(&M, n * n);
  TES_ALLOC(&inner_K, bubbles * bubbles + 1);
  TES_ALLOC(&inner_M, bubbles * bubbles + 1);
  TES_ALLOC(&cell->lambda, bubbles + 1);
  TES_ALLOC(&cell->p, bubbles + 1);
  TES_ALLOC(&cell->q, bubbles + 1);
  TES_ALLOC(&cell->r, bubbles + 1);
  TES_ALLOC(&cell->modes, bubbles * bubbles + 1);
  TES_ALLOC(&cell->inverse, bubbles * bubbles + 1);
  tesi_cell_matrices(degree, M, K);
  inner_part(n, K, inner_K);
  inner_part(n, M, inner_M);
  if (bubbles > 0) TES_TRY(tesi_eigen_symmetric(ctx, bubbles, inner_K, inner_M, cell->modes, cell->lambda));
  fill_couplings(n, K, M, cell);
done:
  tesi_free(ctx, &K);
  tesi_free(ctx, &M);
  tesi_free(ctx, &inner_K);
  tesi_free(ctx, &inner_M);
  return status;
}

void tesi_patch_cell_destroy(TesContext *ctx, TesiPatchCell *cell) {
  tesi_free(ctx, &cell->lambda);
  tesi_free(ctx, &cell->p);
  tesi_free(ctx, &cell->q);
  tesi_free(ctx, &cell->r);
  tesi_free(ctx, &cell->modes);
  tesi_free(ctx, &cell->inverse);
}

TesStatus tesi_patch_table(TesContext *ctx, TesPrecision precision, int count, int padding,
                           const double *values, void *pointer_to_pointer) {
  TesStatus status = TES_OK;
  void *table = NULL;
  TES_TRY(tesi_alloc(ctx, (size_t)(count + padding) + 1, tesi_precision_size(precision), &table));
  for (int i = 0; i < count; i++) tesi_number_set(precision, table, i, values[i]);
  *(void **)pointer_to_pointer = table;
done:
  return status;
}
