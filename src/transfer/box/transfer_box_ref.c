/* The plain transfers: the whole 1D embedding matrices, written out, applied direction by direction. */
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

/* out[o][r][i] = sum over c of P(r, c) in[o][c][i], or of P(c, r) when transposed; `in` has `from` numbers a line, `out` has `to`. */
static void contract(const double *P, bool transpose, int from, int to, int64_t inner, int64_t outer,
                     const double *in, double *out) {
  for (int64_t o = 0; o < outer; o++)
    for (int r = 0; r < to; r++)
      for (int64_t i = 0; i < inner; i++) {
        double sum = 0;
        for (int c = 0; c < from; c++)
          sum += (transpose ? P[(int64_t)c * to + r] : P[(int64_t)r * from + c]) *
                 in[(o * from + c) * inner + i];
        out[(o * to + r) * inner + i] = sum;
      }
}

static TesStatus apply(const TesTransfer *t, const TesVector *from, bool transpose, bool add, TesVector *to) {
  TesContext *ctx = t->context;
  TesStatus status = TES_OK;
  double *P = NULL, *swap, *y = NULL, *in = NULL, *out = NULL;
  const int64_t longest = t->fine->length; /* every direction only lengthens */
  TES_ALLOC(&in, longest);
  TES_ALLOC(&out, longest);
  TES_ALLOC(&y, to->length);
  TES_TRY(tes_vector_get(from, in));
  if (add) TES_TRY(tes_vector_get(to, y));
  int64_t inner = 1, outer = from->length;
  for (int d = 0; d < 3; d++) {
    const TesiEmbedding *e = &t->embedding[d];
    const int before = transpose ? e->fine_nodes : e->coarse_nodes,
              after = transpose ? e->coarse_nodes : e->fine_nodes;
    TES_ALLOC(&P, (int64_t)e->fine_nodes * e->coarse_nodes);
    expand(e, P);
    outer /= before;
    contract(P, transpose, before, after, inner, outer, in, out);
    inner *= after;
    tesi_free(ctx, &P);
    swap = in, in = out, out = swap;
  }
  for (int64_t i = 0; i < to->length; i++) y[i] += in[i];
  TES_TRY(tes_vector_set(to, y));
done:
  tesi_free(ctx, &P);
  tesi_free(ctx, &in);
  tesi_free(ctx, &out);
  tesi_free(ctx, &y);
  return status;
}

/* By the plain entries of the table. */
static TesStatus apply_table(const TesTransfer *t, const TesVector *from, bool transpose, bool add,
                             TesVector *to) {
  TesContext *ctx = t->context;
  TesStatus status = TES_OK;
  double *in = NULL, *out = NULL;
  TES_ALLOC(&in, from->length);
  TES_ALLOC(&out, to->length);
  TES_TRY(tes_vector_get(from, in));
  if (add) TES_TRY(tes_vector_get(to, out));
  TES_TRY(transpose ? t->table->restrict_ref(t, in, out) : t->table->prolongate_ref(t, in, add, out));
  TES_TRY(tes_vector_set(to, out));
done:
  tesi_free(ctx, &in);
  tesi_free(ctx, &out);
  return status;
}

TesStatus tes_transfer_prolongate_ref(const TesTransfer *transfer, const TesVector *coarse, bool add,
                                      TesVector *fine) {
  if (transfer->table->prolongate_ref) return apply_table(transfer, coarse, false, add, fine);
  return apply(transfer, coarse, false, add, fine);
}

TesStatus tes_transfer_restrict_ref(const TesTransfer *transfer, const TesVector *fine, TesVector *coarse) {
  if (transfer->table->restrict_ref) return apply_table(transfer, fine, true, false, coarse);
  return apply(transfer, fine, true, false, coarse);
}
