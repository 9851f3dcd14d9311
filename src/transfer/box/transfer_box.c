/* Transfers between boxes: 1D embeddings. */
#include "basis/gauss.h"
#include "basis/lagrange.h"
#include "device/kernel.h"
#include "transfer/transfer.h"

/* Rows of the embedding of coarse cell c: the fine nodes of its one or two fine cells, in its reference coordinate. */
static void fill_cell(const TesiAxis *coarse, const TesiAxis *fine, int c, int parts, double *E) {
  const int k = coarse->degree;
  double nodes[TESI_MAX_POINTS], points[2 * TESI_MAX_POINTS];
  tesi_gauss_lobatto(k + 1, nodes, NULL);
  for (int part = 0; part < parts; part++) {
    const double first = part ? fine->h[parts * c] / coarse->h[c] : 0,
                 width = fine->h[parts * c + part] / coarse->h[c];
    for (int i = 0; i <= k; i++) points[part * k + i] = parts == 1 ? nodes[i] : first + width * nodes[i];
  }
  points[parts * k] = 1;
  tesi_lagrange(k + 1, nodes, parts * k + 1, points, E, NULL);
}

static TesStatus fill_embedding(TesTransfer *transfer, int d) {
  TesContext *ctx = transfer->context;
  TesStatus status = TES_OK;
  const TesiAxis *coarse = &transfer->coarse->axis[d], *fine = &transfer->fine->axis[d];
  TesiEmbedding *e = &transfer->embedding[d];
  const int parts = fine->cells / coarse->cells;
  e->cells = coarse->cells;
  e->degree = coarse->degree;
  e->step = parts * coarse->degree;
  e->coarse_nodes = coarse->nodes;
  e->fine_nodes = fine->nodes;
  e->uniform = parts == 1 || (coarse->uniform && fine->uniform);
  for (int end = 0; end < 2; end++) e->natural[end] = coarse->natural[end];
  const int size = (e->step + 1) * (e->degree + 1);
  TES_ALLOC(&e->E, size * (e->uniform ? 1 : e->cells));
  if (e->degree == 0)
    e->E[0] = 1;
  else
    for (int c = 0; c < (e->uniform ? 1 : e->cells); c++) fill_cell(coarse, fine, c, parts, e->E + c * size);
done:
  return status;
}

static const char *refuses(const TesTransferDesc *desc) {
  const TesSpace *coarse = desc->coarse, *fine = desc->fine;
  if (!tesi_space_box(coarse) || !tesi_space_box(fine)) return "both meshes have to be boxes";
  if (coarse->dim != fine->dim || coarse->degree != fine->degree) return "degree or dimension differ";
  for (int d = 0; d < 3; d++)
    if (fine->axis[d].cells != coarse->axis[d].cells && fine->axis[d].cells != 2 * coarse->axis[d].cells)
      return "a direction has neither as many nor twice as many fine cells as coarse ones";
  return NULL;
}

static TesStatus init(TesTransfer *transfer) {
  TesContext *ctx = transfer->context;
  TesStatus status = TES_OK;
  for (int d = 0; d < 3; d++) TES_TRY(fill_embedding(transfer, d));
  TES_TRY(tesi_has_kernels(ctx) ? tesi_transfer_device_init(transfer) : tesi_transfer_host_init(transfer));
done:
  return status;
}

const TesiTransferKind tesi_transfer_box = {.name = "box", .refuses = refuses, .init = init};
