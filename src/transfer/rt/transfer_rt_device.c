/* Transfers of Raviart-Thomas spaces as kernels. In 3D, where all cells are halved in equal parts in all directions,
 * one launch (src/kernels/transfer_rt_box.cu); otherwise (src/kernels/transfer_rt.cu) each direction is one launch, x
 * first in prolongation and last in restriction, or, in 2D between small meshes, both are one launch. */
#include <math.h>
#include "device/kernel.h"
#include "device/table_text.h"
#include "space/rt_device.h"
#include "tensor/band_device.h"
#include "transfer/rt/transfer_rt.h"

/* PRODUCTS: the most products of both directions in one launch, which takes some microseconds. */
enum { THREADS = 256, UP = 0, DOWN = 1, BOX_POINTS = 9, PRODUCTS = 1 << 24 };

/* All directions at once; cells: coarse cells per block. */
typedef struct Box {
  TesiKernel kernel[2], classes; /* classes: prolongation into the order of sweeps */
  size_t shared[2];
  int cells[3];
  TeskRtBox arguments;
} Box;

struct TesiTransferRtDevice {
  bool in_box;
  Box box;
  TesiKernel kernel;     /* else */
  TesiKernel both;       /* 2D */
  bool at_once[2];       /* whether this kernel is used: prolongation, restriction */
  TeskRtPass pass[2][3]; /* prolongation and restriction, with the directions in their order */
  void *memory[2][3][2]; /* device: bands by direction; nodes, modes */
  void *work[2];         /* device: between the directions */
};

/* ---- all directions at once ---------------------------------------------------------------------------- */

static bool halves_axis(const TesiAxis *coarse, const TesiAxis *fine) {
  bool equal = fine->cells == 2 * coarse->cells && coarse->cells > 1;
  for (int c = 0; c + 1 < fine->cells && equal; c += 2)
    equal = fabs(fine->h[c] - fine->h[c + 1]) <= 1e-12 * fine->h[c];
  return equal;
}

static bool is_box(const TesSpace *coarse, const TesSpace *fine) {
  bool box = fine->dim == 3 && fine->degree < BOX_POINTS;
  for (int d = 0; d < fine->dim; d++) box = box && halves_axis(tesi_modal(coarse, d), tesi_modal(fine, d));
  return box;
}

/* Fine rows that fill a warp; about 30 KiB of shared memory in float32, up to 100 from n = 6 on. */
static void choose_cells(int n, int cells[3]) {
  static const int all[BOX_POINTS + 1][3] = {{0},       {8, 4, 4}, {8, 4, 2}, {8, 2, 1}, {4, 2, 1},
                                             {4, 1, 1}, {2, 1, 1}, {2, 1, 1}, {2, 1, 1}, {2, 1, 1}};
  for (int d = 0; d < 3; d++) cells[d] = all[n][d];
}

/* The rows of the first cell. */
static TesStatus print_tables(const TesTransfer *t, char **text) {
  static const char *const names[2] = {[TESI_NODES] = "nodes", [TESI_MODES] = "modes"};
  const int n = t->fine->degree + 1;
  TesiTableText tables = {.context = t->context, .type = t->precision == TES_SINGLE ? "float" : "double"};
  for (int b = 0; b < 2; b++) {
    const TesiBand *band = &((const TesiTransferRt *)t->plan)->up[0][b];
    const int nodes = b == TESI_NODES;
    double entry[(2 * BOX_POINTS + 1) * (BOX_POINTS + 1)], *at = entry;
    for (int f = 0; f < 2 * n + nodes; f++)
      for (int j = 0; j < n + nodes; j++) *at++ = band->rows ? tesi_band_entry(band, f, j) : 0;
    tesi_table_text_add(&tables, names[b], entry, (int)(at - entry));
  }
  return tesi_table_text_end(&tables, text);
}

static TesStatus create_box(const TesTransfer *t, Box *box) {
  TesContext *ctx = t->context;
  TesStatus status = TES_OK;
  const TesSpace *coarse = t->coarse, *fine = t->fine;
  const int n = fine->degree + 1, *c = box->cells;
  char *tables = NULL;
  TesiProgram *program;
  choose_cells(n, box->cells);
  TES_TRY(tesi_rt_parts(ctx, coarse, &box->arguments.coarse));
  TES_TRY(tesi_rt_parts(ctx, fine, &box->arguments.fine));
  for (int d = 0; d < 3; d++) {
    const TesiAxis *a = fine->element->with_pressure ? tesi_nodal(coarse, d) : tesi_modal(coarse, d);
    box->arguments.cells[d] = a->cells;
    box->arguments.periodic[d] = a->periodic;
    box->arguments.known[d] = (tesi_axis_first(a) > 0) + 2 * (tesi_axis_end(a) < a->nodes);
  }
  TES_TRY(print_tables(t, &tables));
  const TesiProgramDesc desc = {.file = "transfer_rt_box.cu",
                                .real = t->precision,
                                .macros = {{"N1", n}, {"CELLS_X", c[0]}, {"CELLS_Y", c[1]}, {"CELLS_Z", c[2]}},
                                .tables = tables};
  const size_t size = tesi_precision_size(t->precision),
               node[3] = {(size_t)(c[0] * n) + 1, (size_t)(c[1] * n) + 1, (size_t)(c[2] * n) + 1},
               fine_x = (size_t)(2 * c[0] * n) + 1, fine_y = (size_t)(2 * c[1] * n) + 1,
               wide_x = (size_t)(2 * (c[0] + 1) * n), wide_y = (size_t)(2 * (c[1] + 1) * n);
  box->shared[UP] = node[2] * (node[1] + fine_y) * fine_x * size;
  box->shared[DOWN] = node[2] * (node[1] + wide_y) * wide_x * size;
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_prolongate_rt_box", box->shared[UP], &box->kernel[UP]));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_prolongate_rt_classes", box->shared[UP], &box->classes));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_restrict_rt_box", box->shared[DOWN], &box->kernel[DOWN]));
done:
  tesi_free(ctx, &tables);
  return status;
}

static TesStatus launch_box(const TesTransfer *t, const TesiKernel *kernel, size_t shared, void **arguments) {
  const Box *box = &((const TesiTransferRt *)t->plan)->device->box;
  const int *cells = box->arguments.cells, parts = t->fine->dim + 1;
  unsigned tiles[3];
  for (int d = 0; d < 3; d++) tiles[d] = (unsigned)((cells[d] + box->cells[d] - 1) / box->cells[d]);
  return tesi_kernel_launch(t->context, kernel, (TesiGrid){tiles[0] * tiles[1], tiles[2], (unsigned)parts},
                            THREADS, shared, arguments);
}

/* still: the restricted vector is zero except for the pressures. */
static TesStatus run_box(const TesTransfer *t, int way, const void *from, bool still, bool add, void *to) {
  Box *box = &((const TesiTransferRt *)t->plan)->device->box;
  TeskRtBox values = box->arguments;
  int adds = add;
  values.still = still;
  void *arguments[] = {&values, &from, &to, &adds};
  return launch_box(t, &box->kernel[way], box->shared[way], arguments);
}

/* ---- one launch per direction ------------------------------------------------------------------------------ */

/* `from` becomes the array after direction d. */
static void turn(const TesSpace *to, int d, TeskParts *parts) {
  for (int p = to->dim + 1 - to->scalars, from = 0; p <= to->dim; p++) {
    parts->extent[p][d] = to->scalar[from++]->axis[d].nodes;
    const int *e = parts->extent[p];
    parts->offset[p + 1] = parts->offset[p] + (long long)e[0] * e[1] * e[2];
  }
}

static TesStatus fill_passes(const TesTransfer *t, TesiTransferRtDevice *device, int way, int64_t *most) {
  TesContext *ctx = t->context;
  TesStatus status = TES_OK;
  const TesiTransferRt *plan = t->plan;
  const TesSpace *coarse = t->coarse, *fine = t->fine;
  const int dim = fine->dim;
  TeskParts parts;
  TES_TRY(tesi_rt_parts(ctx, way == UP ? coarse : fine, &parts));
  for (int i = 0; i < dim; i++) {
    TeskRtPass *pass = &device->pass[way][i];
    const int d = way == UP ? i : dim - 1 - i;
    const TesiBand *band = way == UP ? plan->up[d] : plan->down[d];
    void **memory = device->memory[way][d];
    pass->direction = d;
    pass->from = parts;
    turn(way == UP ? fine : coarse, d, &parts);
    pass->to = parts;
    if (fine->element->with_pressure)
      TES_TRY(tesi_band_upload(ctx, &band[TESI_NODES], t->precision, &pass->nodes, &memory[TESI_NODES]));
    TES_TRY(tesi_band_upload(ctx, &band[TESI_MODES], t->precision, &pass->modes, &memory[TESI_MODES]));
    if (i < dim - 1 && parts.offset[dim + 1] > *most) *most = parts.offset[dim + 1];
  }
done:
  return status;
}

static void choose_launches(const TesTransfer *t, TesiTransferRtDevice *device) {
  const TesSpace *coarse = t->coarse, *fine = t->fine;
  const double up = fine->degree + 2, down = 4 * (fine->degree + 1);
  device->at_once[UP] = fine->dim == 2 && (double)fine->length * up * up <= PRODUCTS;
  device->at_once[DOWN] = fine->dim == 2 && (double)coarse->length * down * down <= PRODUCTS;
}

TesStatus tesi_transfer_rt_device_create(const TesTransfer *t, TesiTransferRtDevice **result) {
  TesContext *ctx = t->context;
  TesStatus status = TES_OK;
  TesiTransferRtDevice *device = NULL;
  TesiProgram *program;
  int64_t most = 0;
  const size_t shared = THREADS * tesi_precision_size(t->precision);
  const TesiProgramDesc desc = {.file = "transfer_rt.cu", .real = t->precision};
  *result = NULL;
  TES_NEW(&device);
  device->in_box = is_box(t->coarse, t->fine);
  if (device->in_box) {
    TES_TRY(create_box(t, &device->box));
    *result = device;
    return TES_OK;
  }
  TES_TRY(fill_passes(t, device, UP, &most));
  TES_TRY(fill_passes(t, device, DOWN, &most));
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_transfer_rt", 0, &device->kernel));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_transfer_rt_both", shared, &device->both));
  choose_launches(t, device);
  for (int i = 0; i < t->fine->dim - 1; i++)
    TES_TRY(tesi_context_device(ctx)->allocate(ctx, (size_t)most * tesi_precision_size(t->precision),
                                               &device->work[i]));
  *result = device;
  device = NULL;
done:
  tesi_transfer_rt_device_destroy(ctx, &device);
  return status;
}

void tesi_transfer_rt_device_destroy(TesContext *ctx, TesiTransferRtDevice **device) {
  TesiTransferRtDevice *d = *device;
  const TesiDevice *table = tesi_context_device(ctx);
  if (!d) return;
  for (int i = 0; i < 12; i++) table->release(ctx, &d->memory[i / 6][i / 2 % 3][i % 2]);
  for (int i = 0; i < 2; i++) table->release(ctx, &d->work[i]);
  tesi_free(ctx, device);
}

/* entries: of a block */
static TesiGrid grid_of(const TesTransfer *t, const TeskRtPass *pass, int entries) {
  const int dim = t->fine->dim;
  long long most = 0;
  for (int p = 0; p <= dim; p++) {
    const long long size = pass->to.offset[p + 1] - pass->to.offset[p];
    most = size > most ? size : most;
  }
  return (TesiGrid){(unsigned)((most + entries - 1) / entries), (unsigned)dim + 1, 1};
}

static TesStatus run(const TesTransfer *t, int way, const void *from, bool add, void *to) {
  TesContext *ctx = t->context;
  TesStatus status = TES_OK;
  TesiTransferRtDevice *device = ((const TesiTransferRt *)t->plan)->device;
  TeskRtPass *pass = device->pass[way];
  const int dim = t->fine->dim;
  int keep = add;
  if (device->in_box) return run_box(t, way, from, false, add, to);
  if (device->at_once[way]) {
    int team = way == UP ? 4 : 16; /* of n + 1 or 4 n rows */
    void *arguments[] = {&from, &to, &pass[0], &pass[1], &keep, &team};
    return tesi_kernel_launch(ctx, &device->both, grid_of(t, &pass[1], THREADS / team), THREADS,
                              THREADS * tesi_precision_size(t->precision), arguments);
  }
  for (int i = 0; i < dim; i++) {
    void *target = i == dim - 1 ? to : device->work[i];
    keep = i == dim - 1 && add;
    void *arguments[] = {&from, &target, &pass[i], &keep};
    TES_TRY(tesi_kernel_launch(ctx, &device->kernel, grid_of(t, &pass[i], THREADS), THREADS, 0, arguments));
    from = target;
  }
done:
  return status;
}

TesStatus tesi_transfer_rt_device_prolongate(const TesTransfer *t, const void *coarse, bool add, void *fine) {
  return run(t, UP, coarse, add, fine);
}

TesStatus tesi_transfer_rt_device_restrict(const TesTransfer *t, const void *fine, void *coarse) {
  return run(t, DOWN, fine, false, coarse);
}

TesStatus tesi_transfer_rt_device_restrict_pressures(const TesTransfer *t, const void *fine, void *coarse) {
  const TesiTransferRtDevice *device = ((const TesiTransferRt *)t->plan)->device;
  return device->in_box ? run_box(t, DOWN, fine, true, false, coarse) : run(t, DOWN, fine, false, coarse);
}

bool tesi_transfer_rt_device_writes(const TesTransfer *t, TesiEntryOrderKind order) {
  const TesiTransferRtDevice *device = ((const TesiTransferRt *)t->plan)->device;
  return device && device->in_box && order == TESI_ORDER_PARITY;
}

TesStatus tesi_transfer_rt_device_prolongate_ordered(const TesTransfer *t, const void *coarse,
                                                     const TesiEntryOrder *fine) {
  Box *box = &((const TesiTransferRt *)t->plan)->device->box;
  TeskLanes lanes = *(const TeskLanes *)fine->numbers;
  void *values = fine->values;
  void *arguments[] = {&box->arguments, &lanes, &coarse, &values};
  return launch_box(t, &box->classes, box->shared[UP], arguments);
}
