#include "operator/rt_convection/rt_convection_device.h"
#include "device/kernel.h"
#include "device/table_text.h"
#include "device/upload.h"
#include "kernels/rt_convection_arguments.h"
#include "space/rt_device.h"

enum { MOST_CELLS = 16 };

struct TesiRtConvectionDevice {
  TeskConvection arguments;
  TesiKernel cells, join;
  unsigned blocks, threads;
  size_t shared;
  TesVector *rates;  /* [blocks] */
  void *widths[3];   /* device */
  void *aside;       /* device */
  void *given[6][3]; /* device; NULL: 0 */
};

/* ---- the kernel ---------------------------------------------------------------------------------------- */

/* The division of cells into blocks, so that a block has about as many lines of points as threads. */
typedef struct Cut {
  int cells, threads, blocks; /* blocks per multiprocessor, at least */
} Cut;

static Cut cut_of(const TesiRtConvection *c) {
  static const Cut of_space[TESI_RT_CONVECTION_SPACE + 2] = {{0},         {0},         {4, 128, 4},
                                                             {2, 160, 3}, {1, 128, 5}, {1, 192, 3}};
  if (c->space->dim == 3) return of_space[c->n];
  const int cells = 128 / (2 * c->q);
  return (Cut){cells > MOST_CELLS ? MOST_CELLS : cells, 128, 3};
}

/* Numbers of shared memory, as in the kernel. */
static int64_t shared_of(const TesiRtConvection *c, const Cut *cut) {
  const int64_t dim = c->space->dim, n = c->n, q = c->q, size = (n + 1) * n * (dim == 3 ? n : 1);
  const int64_t points = dim * q * q * (dim == 3 ? q : 1), faces = 2 * dim * dim * (dim == 3 ? q * q : q);
  return cut->cells * (2 * dim * size + 2 * (points > faces ? points : faces)) + cut->threads;
}

static TesStatus make_tables(const TesiRtConvection *c, char **tables) {
  const int n = c->n, q = c->q;
  const double *const w = c->table.w;
  TesiTableText text = {.context = c->context, .type = "double"};
  tesi_table_text_add(&text, "modal", c->table.modal[0], q * n);
  tesi_table_text_add(&text, "nodal", c->table.nodal[0], q * (n + 1));
  tesi_table_text_weigh(&text, "modal_w", c->table.modal[0], w, q, n);
  tesi_table_text_weigh(&text, "nodal_w", c->table.nodal[0], w, q, n + 1);
  tesi_table_text_add(&text, "slope", c->derivative, q * q);
  tesi_table_text_add(&text, "root", c->end[1], n);
  return tesi_table_text_end(&text, tables);
}

static TesStatus get_kernels(const TesiRtConvection *c, TesiRtConvectionDevice *device) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  const Cut cut = cut_of(c);
  TesiProgram *program;
  char *tables = NULL;
  device->blocks = (unsigned)((c->cells + cut.cells - 1) / cut.cells);
  device->threads = (unsigned)cut.threads;
  device->shared = (size_t)shared_of(c, &cut) * sizeof(double);
  TES_TRY(make_tables(c, &tables));
  const TesiProgramDesc desc = {.file = "rt_convection.cu",
                                .macros = {{"DIM", c->space->dim},
                                           {"N", c->n},
                                           {"Q", c->q},
                                           {"CELLS", cut.cells},
                                           {"THREADS", cut.threads},
                                           {"MIN_BLOCKS", cut.blocks},
                                           {"TESK_CONSTANT_TABLES", 1}},
                                .tables = tables};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_rt_convection", device->shared, &device->cells));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_rt_convection_join", 0, &device->join));
done:
  tesi_free(ctx, &tables);
  return status;
}

/* ---- set-up -------------------------------------------------------------------------------------------- */

static TesStatus fill_arguments(const TesiRtConvection *c, TesiRtConvectionDevice *device) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  TeskConvection *to = &device->arguments;
  int64_t aside = 0;
  TES_TRY(tesi_rt_parts(ctx, c->space, &to->parts));
  to->all = (int)c->cells;
  for (int d = 0; d < 3; d++) {
    const TesiAxis *a = tesi_modal(c->space, d);
    to->cells[d] = a->cells, to->periodic[d] = a->periodic;
    to->aside_at[d] = c->aside_at[d];
    aside += c->aside_size[d] * c->cells;
    TES_TRY(tesi_upload(ctx, a->h, (size_t)a->cells * sizeof *a->h, &device->widths[d]));
    to->h[d] = device->widths[d];
  }
  TES_TRY(tesi_context_device(ctx)->allocate(ctx, (size_t)aside * sizeof(double), &device->aside));
done:
  return status;
}

TesStatus tesi_rt_convection_device_create(const TesiRtConvection *c, TesiRtConvectionDevice **result) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  TesiRtConvectionDevice *device = NULL;
  *result = NULL;
  TES_NEW(&device);
  TES_TRY(fill_arguments(c, device));
  TES_TRY(get_kernels(c, device));
  TES_TRY(tes_vector_create(ctx, device->blocks, TES_DOUBLE, &device->rates));
  *result = device;
  device = NULL;
done:
  tesi_rt_convection_device_destroy(ctx, &device);
  return status;
}

void tesi_rt_convection_device_destroy(TesContext *ctx, TesiRtConvectionDevice **device) {
  TesiRtConvectionDevice *d = *device;
  const TesiDevice *table = tesi_context_device(ctx);
  if (!d) return;
  for (int i = 0; i < 3; i++) table->release(ctx, &d->widths[i]);
  for (int i = 0; i < 18; i++) table->release(ctx, &d->given[i / 3][i % 3]);
  table->release(ctx, &d->aside);
  tes_vector_destroy(&d->rates);
  tesi_free(ctx, device);
}

TesStatus tesi_rt_convection_device_sides(TesiRtConvection *c) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  TesiRtConvectionDevice *device = c->device;
  const TesiDevice *table = tesi_context_device(ctx);
  const size_t points = (size_t)(c->space->dim == 2 ? c->q : c->q * c->q) * sizeof(double);
  for (int side = 0; side < 2 * c->space->dim; side++) {
    const TesiHow along = c->how[side][side < 2]; /* a component along the side */
    TeskConvectionSide *to = &device->arguments.side[side];
    to->kind = along == TESI_FLUX   ? TESK_SIDE_SLIP
               : along == TESI_OPEN ? TESK_SIDE_OUTFLOW
                                    : TESK_SIDE_VELOCITY;
    for (int i = 0; i < c->space->dim; i++) {
      void **given = &device->given[side][i];
      const size_t bytes = (size_t)tesi_rt_convection_side_cells(c, side) * points;
      const double *from = c->given[side][i];
      if (!from) table->release(ctx, given);
      if (from && *given) TES_TRY(table->to_device(ctx, *given, from, bytes));
      if (from && !*given) TES_TRY(tesi_upload(ctx, from, bytes, given));
      to->g[i] = *given;
    }
  }
done:
  return status;
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

TesStatus tesi_rt_convection_device_apply(TesiRtConvection *c, const TesVector *u, TesVector *b, double *rate) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  TesiRtConvectionDevice *d = c->device;
  const TesSpace *space = c->space;
  TesVector pressure = tesi_space_range(space, b, space->dim);
  void *cells[] = {(void *)&u->data, &b->data, &d->aside, &d->rates->data, &d->arguments},
       *join[] = {&d->aside, &b->data, &d->arguments};
  const unsigned most = (unsigned)((c->cells * c->aside_size[0] + d->threads - 1) / d->threads);
  TES_TRY(tesi_kernel_launch(ctx, &d->cells, (TesiGrid){d->blocks, 1, 1}, d->threads, d->shared, cells));
  TES_TRY(tesi_kernel_launch(ctx, &d->join, (TesiGrid){most, (unsigned)space->dim, 1}, d->threads, 0, join));
  TES_TRY(tes_vector_fill(&pressure, 0));
  TES_TRY(tes_vector_maximum(d->rates, rate));
done:
  return status;
}
