#include "transfer/transfer.h"
#include <string.h>
#include "basis/lagrange.h"
#include "basis/gauss.h"
#include "device/kernel.h"

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
  TES_CHECK(parts * coarse->cells == fine->cells && (parts == 1 || parts == 2),
            "direction %c: %d fine cells on %d coarse ones, expected as many or twice as many", "xyz"[d],
            fine -> cells, coarse -> cells);
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

TesStatus tes_transfer_create(TesContext *context, const TesTransferDesc *desc, TesTransfer **transfer) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesTransfer *t = NULL;
  *transfer = NULL;
  TES_CHECK(desc->coarse->degree == desc->fine->degree && desc->coarse->dim == desc->fine->dim,
            "coarse and fine space differ in degree or dimension");
  TES_NEW(&t);
  t->context = tesi_context_retain(ctx);
  t->coarse = tesi_space_retain(desc->coarse);
  t->fine = tesi_space_retain(desc->fine);
  t->coarse_length = t->coarse->length, t->fine_length = t->fine->length;
  t->precision = desc->precision;
  for (int d = 0; d < 3; d++) TES_TRY(fill_embedding(t, d));
  TES_TRY(tesi_has_kernels(ctx) ? tesi_transfer_device_init(t) : tesi_transfer_host_init(t));
  *transfer = t;
  t = NULL;
done:
  tes_transfer_destroy(&t);
  return status;
}

void tes_transfer_destroy(TesTransfer **transfer) {
  if (!transfer || !*transfer) return;
  TesTransfer *t = *transfer;
  TesContext *ctx = t->context;
  *transfer = NULL;
  if (t->table) t->table->destroy(t);
  for (int d = 0; d < 3; d++) tesi_free(ctx, &t->embedding[d].E);
  tes_space_destroy(&t->coarse);
  tes_space_destroy(&t->fine);
  tesi_free(ctx, &t);
  tes_context_destroy(&ctx);
}

static TesStatus check(const TesTransfer *transfer, const TesVector *coarse, const TesVector *fine) {
  TesContext *ctx = transfer->context;
  TesStatus status = TES_OK;
  TES_CHECK(coarse->length == transfer->coarse_length && fine->length == transfer->fine_length,
            "transfer between vectors of length %lld and %lld, expected %lld and %lld",
            (long long)coarse->length, (long long)fine->length, (long long)transfer->coarse_length,
            (long long)transfer->fine_length);
  TES_CHECK(coarse->precision == transfer->precision && fine->precision == transfer->precision,
            "transfer between vectors of another precision");
done:
  return status;
}

TesStatus tes_transfer_prolongate(const TesTransfer *transfer, const TesVector *coarse, bool add,
                                  TesVector *fine) {
  const TesStatus status = check(transfer, coarse, fine);
  return status != TES_OK ? status : transfer->table->prolongate(transfer, coarse->data, add, fine->data);
}

TesStatus tes_transfer_restrict(const TesTransfer *transfer, const TesVector *fine, TesVector *coarse) {
  const TesStatus status = check(transfer, coarse, fine);
  return status != TES_OK ? status : transfer->table->restrict_(transfer, fine->data, coarse->data);
}
