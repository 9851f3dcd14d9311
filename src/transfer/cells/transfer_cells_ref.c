/* Transfers between forests from the definition: at each fine node the sum over all basis functions of the coarse
 * cell there. */
#include <string.h>
#include "basis/lagrange.h"
#include "basis/gauss.h"
#include "transfer/cells/transfer_cells.h"

/* Values of all basis functions of a coarse cell at node p of a fine cell. */
static void functions_at(const TesiCellsTransfer *t, bool refined, int child, int64_t p, double *value) {
  const int m = t->m, n = t->n;
  const int at[3] = {(int)(p % n), (int)(p / n % n), (int)(p / n / n)};
  double coarse[TESI_FOREST_NODES], fine[TESI_FOREST_NODES], B[3][TESI_FOREST_NODES];
  tesi_gauss_lobatto(m, coarse, NULL);
  tesi_gauss_lobatto(n, fine, NULL);
  for (int d = 0; d < t->dim; d++) {
    const double xi = refined ? ((child >> d & 1) + fine[at[d]]) / 2 : fine[at[d]];
    tesi_lagrange(m, coarse, 1, &xi, B[d], NULL);
  }
  for (int64_t a = 0; a < t->coarse_nodes; a++)
    value[a] = B[0][a % m] * B[1][a / m % m] * (t->dim == 3 ? B[2][a / m / m] : 1);
}

/* y (which may be x) <- x with zeros at the Dirichlet nodes of the coarse space. */
static void clear_dirichlet(const TesiCellsTransfer *t, const double *x, double *y) {
  const int32_t *index = t->coarse->index;
  if (x != y) memcpy(y, x, (size_t)t->coarse->length * sizeof *y);
  for (int64_t i = 0; i < t->cells * t->coarse_nodes; i++)
    if (index[i] < 0) y[~index[i]] = 0;
}

static int children(const TesiCellsTransfer *t, int64_t cell) {
  return t->family[cell].refined ? 1 << t->dim : 1;
}

TesStatus tesi_cells_prolongate_ref(const TesTransfer *transfer, const double *coarse, bool add, double *fine) {
  TesContext *ctx = transfer->context;
  TesStatus status = TES_OK;
  const TesiCellsTransfer *t = transfer->plan;
  double *x = NULL, u[TESI_FOREST_CELL], value[TESI_FOREST_CELL];
  TES_ALLOC(&x, transfer->coarse_length);
  clear_dirichlet(t, coarse, x);
  if (!add) memset(fine, 0, (size_t)transfer->fine_length * sizeof *fine);
  for (int64_t c = 0; c < t->cells; c++) {
    tesi_cells_read(t->coarse, c, x, u);
    for (int k = 0; k < children(t, c); k++)
      for (int64_t p = 0; p < t->fine_nodes; p++) {
        const int32_t own = tesi_cells_own(t, t->family[c].first + k, p);
        if (own < 0) continue;
        functions_at(t, t->family[c].refined, k, p, value);
        for (int64_t a = 0; a < t->coarse_nodes; a++) fine[own] += value[a] * u[a];
      }
  }
done:
  tesi_free(ctx, &x);
  return status;
}

TesStatus tesi_cells_restrict_ref(const TesTransfer *transfer, const double *fine, double *coarse) {
  const TesiCellsTransfer *t = transfer->plan;
  double u[TESI_FOREST_CELL], value[TESI_FOREST_CELL];
  memset(coarse, 0, (size_t)transfer->coarse_length * sizeof *coarse);
  for (int64_t c = 0; c < t->cells; c++) {
    memset(u, 0, sizeof u);
    for (int k = 0; k < children(t, c); k++)
      for (int64_t p = 0; p < t->fine_nodes; p++) {
        const int32_t own = tesi_cells_own(t, t->family[c].first + k, p);
        if (own < 0) continue;
        functions_at(t, t->family[c].refined, k, p, value);
        for (int64_t a = 0; a < t->coarse_nodes; a++) u[a] += value[a] * fine[own];
      }
    tesi_cells_add(t->coarse, c, u, coarse);
  }
  clear_dirichlet(t, coarse, coarse);
  return TES_OK;
}
