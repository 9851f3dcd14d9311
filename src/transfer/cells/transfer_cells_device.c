/* Transfers between forests as kernels: lists of the refined and of the other coarse cells, and the places of each
 * coarse node in the cells (src/kernels/transfer_cells.cu). */
#include <string.h>
#include "base/real.h"
#include "base/team.h"
#include "device/copies.h"
#include "device/gather.h"
#include "device/links.h"
#include "device/table_text.h"
#include "device/upload.h"
#include "space/space.h"
#include "transfer/cells/transfer_cells.h"

enum { LINES = 256, MOST_CELLS = 64 };

/* One launch: cells of a kind. */
typedef struct Kind {
  TesiKernel prolongate, restrict_;
  int count, cells, threads; /* cells and threads per block */
  size_t shared;
  void *list, *first, *tables; /* device: coarse cells, their first fine cells */
} Kind;

struct TesiCellsKernels {
  Kind kind[2];                      /* cells that are not refined; refined cells */
  TesiGather gather;                 /* of the restricted values of cells */
  void *index, *mask, *own, *others; /* device */
};

/* Cells with about LINES lines in the last pass together, and a thread for each line. */
static void choose_cells(const TesiCellsTransfer *t, int rows, size_t size, Kind *kind) {
  const int lines = t->dim == 3 ? rows * rows : rows, m = t->m, in = t->dim == 3 ? m * m : m;
  const int cell = in * m + rows * in + (t->dim == 3 ? rows * rows * m : 0);
  kind->cells = tesi_min(tesi_max(LINES / lines, 1), MOST_CELLS);
  kind->threads = (kind->cells * lines + 31) / 32 * 32;
  kind->shared = (size_t)(2 * m * m + kind->cells * cell) * size;
}

/* tables.h: even-odd halves of E[rows][m], which is symmetric under reversal of both (src/kernels/even_odd.h). */
static TesStatus make_tables(const TesTransfer *transfer, bool refined, char **text) {
  TesContext *ctx = transfer->context;
  TesStatus status = TES_OK;
  const TesiCellsTransfer *t = transfer->plan;
  const bool single = transfer->precision == TES_SINGLE;
  const int rows = refined ? 2 * t->n : t->n, m = t->m, half = (m + 1) / 2;
  double *even = NULL, *odd;
  TES_ALLOC(&even, 2 * rows * half);
  odd = even + rows * half;
  for (int r = 0; r < (rows + 1) / 2; r++)
    for (int c = 0; c < half; c++) {
      const int at = r * m + c, opposite = r * m + m - 1 - c;
      const double v = tesi_number_get(transfer->precision, t->E[refined], at),
                   w = tesi_number_get(transfer->precision, t->E[refined], opposite);
      even[r * half + c] = at == opposite ? v : (v + w) / 2;
      if (c < m / 2) odd[r * (m / 2) + c] = (v - w) / 2;
    }
  TesiTableText tables = {.context = ctx, .type = single ? "float" : "double"};
  tesi_table_text_add(&tables, "ee", even, (rows + 1) / 2 * half);
  tesi_table_text_add(&tables, "eo", odd, (rows + 1) / 2 * (m / 2));
  TES_TRY(tesi_table_text_end(&tables, text));
done:
  tesi_free(ctx, &even);
  return status;
}

static TesStatus get_kernels(const TesTransfer *transfer, bool refined, Kind *kind) {
  TesContext *ctx = transfer->context;
  TesStatus status = TES_OK;
  const TesiCellsTransfer *t = transfer->plan;
  char *tables = NULL;
  TesiProgram *program;
  TES_TRY(make_tables(transfer, refined, &tables));
  const TesiProgramDesc desc = {
      .file = "transfer_cells.cu",
      .tables = tables,
      .real = transfer->precision,
      .macros = {{"DIM", t->dim},
                 {"M", t->m},
                 {"N", t->n},
                 {"REFINED", refined},
                 {"CELLS", kind->cells},
                 {"THREADS", kind->threads},
                 {transfer->precision == TES_SINGLE ? NULL : "TESK_CONSTANT_TABLES", 1}}};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_prolongate_cells", kind->shared, &kind->prolongate));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_restrict_cells", kind->shared, &kind->restrict_));
done:
  tesi_free(ctx, &tables);
  return status;
}

/* W of both halves. */
static TesStatus upload_tables(const TesTransfer *transfer, Kind *kind) {
  TesContext *ctx = transfer->context;
  TesStatus status = TES_OK;
  const TesiCellsTransfer *t = transfer->plan;
  const size_t W = (size_t)(t->m * t->m) * tesi_precision_size(transfer->precision);
  char *tables = NULL;
  TES_ALLOC(&tables, 2 * W);
  for (size_t i = 0; i < 2; i++) memcpy(tables + i * W, t->half[i], W);
  TES_TRY(tesi_upload(ctx, tables, 2 * W, &kind->tables));
done:
  tesi_free(ctx, &tables);
  return status;
}

static TesStatus make_kind(const TesTransfer *transfer, bool refined, Kind *kind) {
  TesContext *ctx = transfer->context;
  TesStatus status = TES_OK;
  const TesiCellsTransfer *t = transfer->plan;
  int32_t *list = NULL, *first = NULL;
  for (int64_t c = 0; c < t->cells; c++) kind->count += t->family[c].refined == refined;
  if (!kind->count) return TES_OK;
  TES_ALLOC(&list, kind->count);
  TES_ALLOC(&first, kind->count);
  for (int64_t c = 0, at = 0; c < t->cells; c++)
    if (t->family[c].refined == refined) list[at] = (int32_t)c, first[at++] = t->family[c].first;
  TES_TRY(tesi_upload(ctx, list, (size_t)kind->count * sizeof *list, &kind->list));
  TES_TRY(tesi_upload(ctx, first, (size_t)kind->count * sizeof *first, &kind->first));
  TES_TRY(upload_tables(transfer, kind));
  choose_cells(t, refined ? 2 * t->n : t->n, tesi_precision_size(transfer->precision), kind);
  TES_TRY(get_kernels(transfer, refined, kind));
done:
  tesi_free(ctx, &list);
  tesi_free(ctx, &first);
  return status;
}

typedef struct Own {
  const TesiCellsTransfer *t;
  int32_t *own; /* [fine cells][fine_nodes], of tesi_cells_own() */
} Own;

static void list_own(const void *data, TesiSpan span) {
  const Own *o = data;
  for (int64_t c = span.first; c < span.end; c++)
    for (int64_t p = 0; p < o->t->fine_nodes; p++)
      o->own[c * o->t->fine_nodes + p] = tesi_cells_own(o->t, c, p);
}

static TesStatus upload_own(TesContext *ctx, const TesiCellsTransfer *t, TesiCellsKernels *k) {
  TesStatus status = TES_OK;
  Own o = {.t = t};
  const int64_t count = t->fine_cells * t->fine_nodes;
  TES_ALLOC(&o.own, count);
  tesi_team_for(tesi_team_threads(ctx, count), t->fine_cells, list_own, &o);
  TES_TRY(tesi_upload(ctx, o.own, (size_t)count * sizeof *o.own, &k->own));
done:
  tesi_free(ctx, &o.own);
  return status;
}

TesStatus tesi_cells_kernels_create(const TesTransfer *transfer, TesiCellsKernels **kernels) {
  TesContext *ctx = transfer->context;
  TesStatus status = TES_OK;
  const TesiCellsTransfer *t = transfer->plan;
  TES_NEW(kernels);
  TesiCellsKernels *k = *kernels;
  for (int refined = 0; refined < 2; refined++) TES_TRY(make_kind(transfer, refined, &k->kind[refined]));
  TES_TRY(tesi_gather_create(ctx, transfer->precision, t->cells * t->coarse_nodes, t->coarse->index,
                             transfer->coarse_length, &k->gather));
  TES_TRY(
      tesi_upload(ctx, t->coarse->index, (size_t)(t->cells * t->coarse_nodes) * sizeof(int32_t), &k->index));
  TES_TRY(tesi_upload(ctx, t->coarse->mask, (size_t)t->cells * sizeof(uint16_t), &k->mask));
  TES_TRY(upload_own(ctx, t, k));
  if (t->others_count)
    TES_TRY(tesi_upload(ctx, t->others, (size_t)t->others_count * sizeof *t->others, &k->others));
done:
  return status;
}

void tesi_cells_kernels_destroy(TesContext *ctx, TesiCellsKernels **kernels) {
  const TesiDevice *device = tesi_context_device(ctx);
  TesiCellsKernels *k = *kernels;
  if (!k) return;
  void **all[] = {
      &k->index,         &k->mask,           &k->own,          &k->others,        &k->kind[0].list,
      &k->kind[0].first, &k->kind[0].tables, &k->kind[1].list, &k->kind[1].first, &k->kind[1].tables};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) device->release(ctx, all[i]);
  tesi_gather_release(ctx, &k->gather);
  tesi_free(ctx, kernels);
}

static TesiGrid blocks_of(const Kind *kind, int vectors) {
  return (TesiGrid){(unsigned)((kind->count + kind->cells - 1) / kind->cells), (unsigned)vectors, 1};
}

TesStatus tesi_cells_kernels_expect(TesTransfer *transfer, int vectors) {
  TesiCellsTransfer *t = transfer->plan;
  return tesi_gather_expect(transfer->context, transfer->precision, vectors, &t->kernels->gather);
}

TesStatus tesi_cells_kernels_prolongate(const TesTransfer *transfer, const void *coarse, bool add, void *fine) {
  return tesi_cells_kernels_prolongate_all(transfer, 1, coarse, add, fine);
}

TesStatus tesi_cells_kernels_restrict(const TesTransfer *transfer, const void *fine, void *coarse) {
  return tesi_cells_kernels_restrict_all(transfer, 1, fine, coarse);
}

/* Before an addition: values that another rank writes come from that rank. */
static TesStatus clear_others(const TesTransfer *transfer, void *fine) {
  const TesiCellsTransfer *t = transfer->plan;
  long long count = t->others_count;
  void *arguments[] = {&fine, &t->kernels->others, &count};
  return count
             ? tesi_links_launch(transfer->context, TESI_CLEAR_ENTRIES, transfer->precision, count, arguments)
             : TES_OK;
}

/* Sums all copies of the nodes of `vectors` vectors, which lie one after the other. */
static TesStatus sum_copies(const TesTransfer *transfer, TesiExchange *exchange, int vectors, int64_t length,
                            void *x) {
  const size_t bytes = (size_t)length * tesi_precision_size(transfer->precision);
  TesStatus status = TES_OK;
  for (int v = 0; v < vectors && status == TES_OK; v++)
    status = tesi_sum_copies(transfer->context, exchange, transfer->precision, (char *)x + (size_t)v * bytes);
  return status;
}

TesStatus tesi_cells_kernels_prolongate_all(const TesTransfer *transfer, int vectors, const void *coarse,
                                            bool add, void *fine) {
  TesContext *ctx = transfer->context;
  TesStatus status = TES_OK;
  const TesiCellsTransfer *t = transfer->plan;
  const TesiCellsKernels *k = t->kernels;
  const size_t bytes = (size_t)transfer->fine_length * tesi_precision_size(transfer->precision);
  int adds = add;
  long long coarse_length = transfer->coarse_length, fine_length = transfer->fine_length;
  if (!add)
    TES_TRY(tesi_context_device(ctx)->fill(ctx, transfer->precision, vectors * transfer->fine_length, 0, fine));
  for (int v = 0; v < vectors && add; v++) TES_TRY(clear_others(transfer, (char *)fine + (size_t)v * bytes));
  for (int i = 0; i < 2; i++) {
    const Kind *kind = &k->kind[i];
    if (!kind->count) continue;
    void *arguments[] = {&coarse,
                         &fine,
                         (void *)&kind->list,
                         (void *)&kind->first,
                         (void *)&kind->count,
                         (void *)&k->index,
                         (void *)&k->mask,
                         (void *)&k->own,
                         (void *)&kind->tables,
                         &adds,
                         &coarse_length,
                         &fine_length};
    TES_TRY(tesi_kernel_launch(ctx, &kind->prolongate, blocks_of(kind, vectors), (unsigned)kind->threads,
                               kind->shared, arguments));
  }
  TES_TRY(sum_copies(transfer, t->shared, vectors, fine_length, fine));
done:
  return status;
}

TesStatus tesi_cells_kernels_restrict_all(const TesTransfer *transfer, int vectors, const void *fine,
                                          void *coarse) {
  TesContext *ctx = transfer->context;
  TesStatus status = TES_OK;
  const TesiCellsKernels *k = ((const TesiCellsTransfer *)transfer->plan)->kernels;
  long long fine_length = transfer->fine_length, places = k->gather.places;
  for (int i = 0; i < 2; i++) {
    const Kind *kind = &k->kind[i];
    if (!kind->count) continue;
    void *arguments[] = {&fine,
                         (void *)&k->gather.values,
                         (void *)&kind->list,
                         (void *)&kind->first,
                         (void *)&kind->count,
                         (void *)&k->mask,
                         (void *)&k->own,
                         (void *)&kind->tables,
                         &fine_length,
                         &places};
    TES_TRY(tesi_kernel_launch(ctx, &kind->restrict_, blocks_of(kind, vectors), (unsigned)kind->threads,
                               kind->shared, arguments));
  }
  TES_TRY(tesi_gather_run_all(ctx, &k->gather, vectors, coarse));
  TES_TRY(sum_copies(transfer, transfer->coarse->layout->sum, vectors, transfer->coarse_length, coarse));
done:
  return status;
}
