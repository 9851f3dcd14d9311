#include "functional/cells_device.h"
#include <string.h>
#include "basis/lagrange.h"
#include "device/upload.h"

/* CELL_TABLES of cells_points.h. */
static int64_t count_tables(const TesiBatches *b) {
  const int m = b->geometry->degree + 1;
  return 2 * b->q * (b->n + m) + 2 * b->n * b->n + b->q;
}

static TesStatus send_tables(TesiCellsDevice *c) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  const TesiBatches *b = c->batches;
  const int q = b->q, n = b->n, m = b->geometry->degree + 1;
  double *tables = NULL;
  TES_ALLOC(&tables, count_tables(b));
  double *at = tables;
  tesi_lagrange(n, b->view->node, q, b->point, at, at + q * n);
  at += 2 * q * n;
  tesi_geometry_tables(b->geometry, q, b->point, at, at + q * m);
  at += 2 * q * m;
  memcpy(at, b->view->halves, (size_t)(2 * n * n) * sizeof *at);
  at += 2 * n * n;
  memcpy(at, b->weight, (size_t)q * sizeof *at);
  TES_TRY(tesi_upload(ctx, tables, (size_t)count_tables(b) * sizeof *tables, &c->tables));
done:
  tesi_free(ctx, &tables);
  return status;
}

TesStatus tesi_cells_device_create(const TesSpace *space, int q, TesiCellsDevice **cells) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesiCellsDevice *c = NULL;
  *cells = NULL;
  TES_NEW(&c);
  c->context = ctx;
  TES_TRY(tesi_batches_create(space, q, &c->batches));
  const TesiCellView *s = c->batches->view;
  const TesiGeometry *g = c->batches->geometry;
  if (g->map[0] || s->n > TESI_HANGING_NODES) goto done;
  TES_TRY(send_tables(c));
  TES_TRY(
      tesi_upload(ctx, g->nodes, (size_t)(g->cells * g->cell_nodes * g->dim) * sizeof *g->nodes, &c->nodes));
  TES_TRY(tesi_upload(ctx, s->index, (size_t)(s->cells * s->cell_nodes) * sizeof *s->index, &c->index));
  TES_TRY(tesi_upload(ctx, s->mask, (size_t)s->cells * sizeof *s->mask, &c->mask));
  *cells = c;
  c = NULL;
done:
  tesi_cells_device_destroy(&c);
  return status;
}

void tesi_cells_device_destroy(TesiCellsDevice **cells) {
  TesiCellsDevice *c = *cells;
  if (!c) return;
  TesContext *ctx = c->context;
  void **all[] = {&c->nodes, &c->index, &c->mask, &c->tables};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) tesi_context_device(ctx)->release(ctx, all[i]);
  tesi_batches_destroy(&c->batches);
  tesi_free(ctx, cells);
}

TesStatus tesi_cells_kernel(const TesiCellsDevice *cells, const char *file, const char *name,
                            const char *text, int64_t numbers, size_t *shared, TesiKernel *kernel) {
  TesContext *ctx = cells->context;
  TesStatus status = TES_OK;
  const TesiBatches *b = cells->batches;
  TesiProgram *program;
  *shared = (size_t)(count_tables(b) + b->geometry->cell_nodes * b->dim + numbers) * sizeof(double);
  if (*shared > TESI_CELLS_SHARED) {
    *shared = 0;
    return TES_OK;
  }
  const TesiProgramDesc desc = {
      .file = file,
      .macros = {{"DIM", b->dim}, {"N", b->n}, {"Q", b->q}, {"M", b->geometry->degree + 1}},
      .tables = text};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, name, *shared, kernel));
done:
  return status;
}
