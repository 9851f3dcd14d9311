/* Transfers between boxes: 1D embeddings. */
#include "basis/gauss.h"
#include "basis/lagrange.h"
#include "device/kernel.h"
#include "transfer/transfer.h"

/* Rows of the embedding of coarse cell c: the fine nodes of its one, two or three fine cells from `first` on, in
 * its reference coordinate. */
static void fill_cell(const TesiAxis *coarse, const TesiAxis *fine, int c, int first, int parts, double *E) {
  const int k = coarse->degree;
  double nodes[TESI_MAX_POINTS], points[3 * TESI_MAX_POINTS], start = 0;
  tesi_gauss_lobatto(k + 1, nodes, NULL);
  for (int part = 0; part < parts; part++) {
    const double width = fine->h[first + part] / coarse->h[c];
    for (int i = 0; i <= k; i++) points[part * k + i] = parts == 1 ? nodes[i] : start + width * nodes[i];
    start += width;
  }
  points[parts * k] = 1;
  tesi_lagrange(k + 1, nodes, parts * k + 1, points, E, NULL);
}

static TesStatus fill_embedding(TesTransfer *transfer, int d) {
  TesContext *ctx = transfer->context;
  TesStatus status = TES_OK;
  const TesiAxis *coarse = &transfer->coarse->axis[d], *fine = &transfer->fine->axis[d];
  TesiEmbedding *e = &transfer->embedding[d];
  const int parts = fine->cells == coarse->cells ? 1 : 2,
            last_parts = fine->cells - parts * (coarse->cells - 1);
  e->cells = coarse->cells;
  e->degree = coarse->degree;
  e->step = parts * coarse->degree;
  e->last_step = last_parts * coarse->degree;
  e->coarse_nodes = coarse->nodes;
  e->fine_nodes = fine->nodes;
  e->periodic = fine->periodic;
  e->uniform = parts == 1 || ((coarse->uniform || coarse->odd_end) && (fine->uniform || fine->odd_end));
  e->odd_end = last_parts != parts || (parts == 2 && e->uniform && !(coarse->uniform && fine->uniform));
  for (int end = 0; end < 2; end++) e->natural[end] = coarse->end[end] != TESI_STRONG;
  const int size = (e->step + 1) * (e->degree + 1), tables = e->uniform ? 1 + e->odd_end : e->cells;
  TES_ALLOC(&e->E, size * (tables - 1) + (e->last_step + 1) * (e->degree + 1));
  if (e->degree == 0)
    e->E[0] = 1;
  else
    for (int i = 0; i < tables; i++) {
      const int c = i == tables - 1 && e->odd_end ? e->cells - 1 : i;
      fill_cell(coarse, fine, c, parts * c, c == e->cells - 1 ? last_parts : parts, e->E + i * size);
    }
done:
  return status;
}

static const char *refuses(const TesTransferDesc *desc) {
  const TesSpace *coarse = desc->coarse, *fine = desc->fine;
  if (!tesi_space_axes(coarse) || !tesi_space_axes(fine)) return "both meshes have to be boxes";
  if (coarse->dim != fine->dim || coarse->degree != fine->degree) return "degree or dimension differ";
  for (int d = 0; d < 3; d++) {
    const int nc = coarse->axis[d].cells, nf = fine->axis[d].cells;
    if (coarse->axis[d].periodic != fine->axis[d].periodic)
      return "one mesh is periodic in a direction, the other is not";
    if (nf != nc && nf / 2 != nc && (nf + 1) / 2 != nc)
      return "a direction has neither as many nor twice as many fine cells as coarse ones, or one more or "
             "less";
  }
  return NULL;
}

static TesStatus init(TesTransfer *transfer) {
  TesContext *ctx = transfer->context;
  TesStatus status = TES_OK;
  for (int d = 0; d < 3; d++) TES_TRY(fill_embedding(transfer, d));
  TES_TRY(tesi_space_is_periodic(transfer->fine) ? tesi_transfer_periodic_init(transfer)
          : tesi_has_kernels(ctx)                ? tesi_transfer_device_init(transfer)
                                                 : tesi_transfer_host_init(transfer));
done:
  return status;
}

const TesiTransferKind tesi_transfer_box = {.name = "box", .refuses = refuses, .init = init};
