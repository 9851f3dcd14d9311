/* The plain transfers: the whole 1D embedding matrices, written out, and one sum over all coarse nodes for each fine node. */
#include "transfer/transfer.h"

/* dense[fine_nodes][coarse_nodes]; rows of shared fine nodes agree from both sides. Dirichlet columns are zero. */
static void expand(const TesiEmbedding *e, double *dense) {
  for (int c = 0; c < e->cells; c++)
    for (int f = 0; f <= e->step; f++)
      for (int p = 0; p <= e->degree; p++)
        dense[(int64_t)(c * e->step + f) * e->coarse_nodes + c * e->degree + p] =
            tesi_embedding_cell(e, c)[f * (e->degree + 1) + p];
  for (int f = 0; f < e->fine_nodes; f++) {
    if (!e->natural[0]) dense[(int64_t)f * e->coarse_nodes] = 0;
    if (!e->natural[1]) dense[(int64_t)f * e->coarse_nodes + e->coarse_nodes - 1] = 0;
  }
}

static double weight(double *const *P, const TesTransfer *t, int64_t fine, int64_t coarse) {
  double w = 1;
  for (int d = 0; d < 3; d++) {
    const TesiEmbedding *e = &t->embedding[d];
    w *= P[d][fine % e->fine_nodes * e->coarse_nodes + coarse % e->coarse_nodes];
    fine /= e->fine_nodes, coarse /= e->coarse_nodes;
  }
  return w;
}

static TesStatus apply(const TesTransfer *t, const TesVector *from, bool transpose, bool add, TesVector *to) {
  TesContext *ctx = t->context;
  TesStatus status = TES_OK;
  double *P[3] = {NULL, NULL, NULL}, *x = NULL, *y = NULL;
  TES_ALLOC(&x, from->length);
  TES_ALLOC(&y, to->length);
  for (int d = 0; d < 3; d++) {
    TES_ALLOC(&P[d], (int64_t)t->embedding[d].fine_nodes * t->embedding[d].coarse_nodes);
    expand(&t->embedding[d], P[d]);
  }
  TES_TRY(tes_vector_get(from, x));
  if (add) TES_TRY(tes_vector_get(to, y));
  for (int64_t i = 0; i < to->length; i++)
    for (int64_t j = 0; j < from->length; j++)
      y[i] += (transpose ? weight(P, t, j, i) : weight(P, t, i, j)) * x[j];
  TES_TRY(tes_vector_set(to, y));
done:
  for (int d = 0; d < 3; d++) tesi_free(ctx, &P[d]);
  tesi_free(ctx, &x);
  tesi_free(ctx, &y);
  return status;
}

TesStatus tes_transfer_prolongate_ref(const TesTransfer *transfer, const TesVector *coarse, bool add,
                                      TesVector *fine) {
  return apply(transfer, coarse, false, add, fine);
}

TesStatus tes_transfer_restrict_ref(const TesTransfer *transfer, const TesVector *fine, TesVector *coarse) {
  return apply(transfer, fine, true, false, coarse);
}
