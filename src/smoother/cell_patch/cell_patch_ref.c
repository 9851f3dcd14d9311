/* Cell patches from the definition: A_c as a dense matrix, by elimination. No eigenvectors. */
#include <string.h>
#include "smoother/cell_patch/cell_patch.h"
#include "smoother/line_patch/line_patch.h"
#include "smoother/solve_ref.h"

enum { MOST = TESI_CELL_PATCH_NODES };

/* Whether a node is on a side of the cell without unknowns. */
static bool is_gone(const TesiCellPatches *p, int64_t c, int at) {
  const int n = p->m->n, i[3] = {at % n, at / n % n, at / n / n};
  for (int d = 0; d < p->m->dim; d++)
    if ((i[d] == 0 && p->end[c][d][0] == TESI_END_GONE) || (i[d] == n - 1 && p->end[c][d][1] == TESI_END_GONE))
      return true;
  return false;
}

/* The entries of A_c between the `count` nodes at[]. */
static void assemble(const TesiCellPatches *p, int64_t c, int count, const int *at, double *A) {
  const TesiMapped *m = p->m;
  const int n = m->n, step[3] = {1, n, n * n};
  double K[3][MOST * MOST], M[3][MOST * MOST];
  for (int d = 0; d < m->dim; d++) tesi_cell_patch_matrices(n, p->end[c][d], K[d], M[d]);
  for (int i = 0; i < count; i++)
    for (int j = 0; j < count; j++) {
      double sum = 0;
      for (int t = 0; t <= m->dim; t++) {
        double product = p->g[c][t < m->dim ? t : 3];
        for (int d = 0; d < m->dim; d++)
          product *= (d == t ? K : M)[d][at[i] / step[d] % n * n + at[j] / step[d] % n];
        sum += product;
      }
      A[i * count + j] = sum;
    }
}

static TesStatus apply_cells(const TesiCellPatches *p, const double *r, double *z) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiMapped *m = p->m;
  double *A = NULL, *weight = NULL, x[MOST * MOST * MOST];
  int at[MOST * MOST * MOST];
  const TesVector w = {.context = ctx, .length = m->length, .precision = m->precision, .data = p->weight};
  TES_ALLOC(&A, m->cell_nodes * m->cell_nodes);
  TES_TRY(tesi_vector_read(&w, &weight));
  memset(z, 0, (size_t)m->length * sizeof *z);
  for (int64_t c = 0; c < m->cells; c++) {
    const int32_t *index = m->index + c * m->cell_nodes;
    int count = 0;
    for (int i = 0; i < (int)m->cell_nodes; i++)
      if (!is_gone(p, c, i)) at[count++] = i;
    for (int i = 0; i < count; i++)
      x[i] = tesi_cell_patch_has(m, c, at[i]) ? weight[index[at[i]]] * r[index[at[i]]] : 0;
    assemble(p, c, count, at, A);
    tesi_solve_ref(count, A, x);
    for (int i = 0; i < count; i++)
      if (tesi_cell_patch_has(m, c, at[i])) z[index[at[i]]] += x[i];
  }
done:
  tesi_free(ctx, &A);
  tesi_free(ctx, &weight);
  return status;
}

TesStatus tesi_cell_patches_apply_ref(const TesiCellPatches *p, const double *r, double *z) {
  const TesStatus status = p->lines ? tesi_line_patches_apply_ref(p, r, z) : apply_cells(p, r, z);
  if (status == TES_OK) tesi_exchange_sum(p->sum, TES_DOUBLE, z);
  return status;
}
