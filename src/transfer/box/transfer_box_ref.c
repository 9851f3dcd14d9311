/* The plain transfers: the whole 1D embedding matrices, written out, applied direction by direction. */
#include <string.h>
#include "transfer/transfer.h"

/* The last node of a periodic direction is its first. */
static int node_of(const TesiEmbedding *e, int nodes, int i) {
  return e->periodic && i == nodes ? 0 : i;
}

/* dense[fine_nodes][coarse_nodes]; rows of shared fine nodes agree from both sides. Dirichlet columns are zero. */
static void expand(const TesiEmbedding *e, double *dense) {
  for (int c = 0; c < e->cells; c++)
    for (int f = 0; f <= tesi_embedding_step(e, c); f++)
      for (int p = 0; p <= e->degree; p++)
        dense[(int64_t)node_of(e, e->fine_nodes, c * e->step + f) * e->coarse_nodes +
              node_of(e, e->coarse_nodes, c * e->degree + p)] =
            tesi_embedding_cell(e, c)[f * (e->degree + 1) + p];
  for (int f = 0; f < e->fine_nodes; f++) {
    if (!e->natural[0]) dense[(int64_t)f * e->coarse_nodes] = 0;
    if (!e->natural[1]) dense[(int64_t)f * e->coarse_nodes + e->coarse_nodes - 1] = 0;
  }
}

/* out[o][r][i] = sum over c of P(r, c) in[o][c][i], or of P(c, r) when transposed; `in` has `from` numbers per line,
 * `out` has `to`. */
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

/* to <- P from, or P' from; + to when adding. */
static TesStatus apply(const TesTransfer *t, const double *from, bool transpose, bool add, double *to) {
  TesContext *ctx = t->context;
  TesStatus status = TES_OK;
  double *P = NULL, *swap, *in = NULL, *out = NULL;
  const int64_t longest = t->fine->length; /* every direction only lengthens */
  const int64_t length = transpose ? t->coarse->length : t->fine->length;
  int64_t inner = 1, outer = transpose ? t->fine->length : t->coarse->length;
  TES_ALLOC(&in, longest);
  TES_ALLOC(&out, longest);
  memcpy(in, from, (size_t)outer * sizeof *in);
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
  for (int64_t i = 0; i < length; i++) to[i] = (add ? to[i] : 0) + in[i];
done:
  tesi_free(ctx, &P);
  tesi_free(ctx, &in);
  tesi_free(ctx, &out);
  return status;
}

TesStatus tesi_transfer_box_prolongate_ref(const TesTransfer *transfer, const double *coarse, bool add,
                                           double *fine) {
  return apply(transfer, coarse, false, add, fine);
}

TesStatus tesi_transfer_box_restrict_ref(const TesTransfer *transfer, const double *fine, double *coarse) {
  return apply(transfer, fine, true, false, coarse);
}
