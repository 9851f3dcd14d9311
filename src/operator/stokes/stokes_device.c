#include "operator/stokes/stokes_device.h"
#include "device/kernel.h"
#include "device/vector.h"
#include "operator/stokes/stokes_tiles.h"
#include "space/rt_device.h"
#include "tensor/band_device.h"

enum { THREADS = 256, BANDS = 5, BLOCKS = 1024 };

/* The two launches of stokes.cu. */
typedef struct Entries {
  TesiKernel across, rows;
} Entries;

struct TesiStokesDevice {
  TeskStokes arguments;
  Entries entries, single[2];    /* single: for a float32 x, by the precision of y */
  void *memory[3][BANDS], *work; /* device */
  TesiStokesTiles *tiles;        /* stokes_tiles.cu; where it serves, nothing else is created */
  TesiKernel mass, divergence;   /* of flows in time */
  TesVector *roots;              /* [blocks] parts of the divergence; NULL: kernels not yet asked for */
};

static TesStatus upload_axis(const TesOperator *op, int d, TesiStokesDevice *device) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokesAxis *a = &tesi_stokes_of(op)->axis[d];
  TeskStokes *s = &device->arguments;
  const TesiBand *const from[BANDS] = {&a->stiffness, &a->mass, &a->penalty, &a->derivative, &a->transposed};
  TeskBand *const to[BANDS] = {&s->stiffness[d], &s->mass[d], &s->penalty[d], &s->derivative[d],
                               &s->transposed[d]};
  for (int b = 0; b < BANDS; b++)
    TES_TRY(tesi_band_upload(ctx, from[b], op->precision, to[b], &device->memory[d][b]));
done:
  return status;
}

/* x and y: precisions of the two vectors. */
static TesStatus get_program(const TesOperator *op, TesPrecision x, TesPrecision y, TesiProgram **program) {
  const TesiProgramDesc desc = {.file = "stokes.cu",
                                .real = op->precision,
                                .types = {x == TES_SINGLE ? "in_real=float" : "in_real=double",
                                          y == TES_SINGLE ? "out_real=float" : "out_real=double"}};
  return tesi_program_get(op->context, &desc, program);
}

static TesStatus get_entries(const TesOperator *op, TesPrecision x, TesPrecision y, Entries *entries) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiProgram *program;
  TES_TRY(get_program(op, x, y, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_stokes_across", 0, &entries->across));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_stokes_rows", 0, &entries->rows));
done:
  return status;
}

/* The bands for kernels that use them. */
static TesStatus upload_axes(const TesOperator *op, TesiStokesDevice *device) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokes *s = tesi_stokes_of(op);
  TES_TRY(tesi_rt_parts(ctx, s->space, &device->arguments.parts));
  for (int d = 0; d < s->space->dim; d++) TES_TRY(upload_axis(op, d, device));
done:
  return status;
}

/* One thread per entry, in two launches: for operators that stokes_tiles.cu does not serve. */
static TesStatus create_entries(const TesOperator *op, TesiStokesDevice *device) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokes *s = tesi_stokes_of(op);
  device->arguments.nu = s->nu;
  device->arguments.alpha = s->alpha;
  TES_TRY(upload_axes(op, device));
  TES_TRY(get_entries(op, op->precision, op->precision, &device->entries));
  TES_TRY(tesi_context_device(ctx)->allocate(
      ctx, (size_t)s->space->first[s->space->dim] * tesi_precision_size(op->precision), &device->work));
done:
  return status;
}

TesStatus tesi_stokes_device_create(const TesOperator *op, TesiStokesDevice **result) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiStokesDevice *device = NULL;
  *result = NULL;
  TES_NEW(&device);
  TES_TRY(tesi_stokes_tiles_serve(op) ? tesi_stokes_tiles_create(op, &device->tiles)
                                      : create_entries(op, device));
  *result = device;
  device = NULL;
done:
  tesi_stokes_device_destroy(ctx, &device);
  return status;
}

void tesi_stokes_device_destroy(TesContext *ctx, TesiStokesDevice **device) {
  TesiStokesDevice *d = *device;
  const TesiDevice *table = tesi_context_device(ctx);
  if (!d) return;
  tesi_stokes_tiles_destroy(ctx, &d->tiles);
  for (int i = 0; i < 3 * BANDS; i++) table->release(ctx, &d->memory[i / BANDS][i % BANDS]);
  table->release(ctx, &d->work);
  tes_vector_destroy(&d->roots);
  tesi_free(ctx, device);
}

static unsigned blocks_of(const TesSpace *space) {
  return (unsigned)((tesi_rt_largest(space) + THREADS - 1) / THREADS);
}

static TesStatus add_entries(const TesOperator *op, const Entries *entries, const void *b, double sign,
                             const void *x, void *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokes *s = tesi_stokes_of(op);
  TesiStokesDevice *d = s->device;
  int keep = b != NULL;
  float single = (float)sign;
  const unsigned blocks = blocks_of(s->space), dim = (unsigned)s->space->dim;
  void *across[] = {&x, &d->work, &d->arguments},
       *rows[] = {&x,
                  &d->work,
                  &b,
                  &y,
                  &d->arguments,
                  &keep,
                  op->precision == TES_SINGLE ? (void *)&single : (void *)&sign};
  TES_TRY(tesi_kernel_launch(ctx, &entries->across, (TesiGrid){blocks, dim, 1}, THREADS, 0, across));
  TES_TRY(tesi_kernel_launch(ctx, &entries->rows, (TesiGrid){blocks, dim + 1, 1}, THREADS, 0, rows));
done:
  return status;
}

TesStatus tesi_stokes_device_add(const TesOperator *op, const void *b, double sign, const void *x, void *y) {
  TesiStokesDevice *d = tesi_stokes_of(op)->device;
  return d->tiles ? tesi_stokes_tiles_add(op, d->tiles, b, sign, x, y)
                  : add_entries(op, &d->entries, b, sign, x, y);
}

TesStatus tesi_stokes_device_ready_single(const TesOperator *op, TesPrecision of_y) {
  TesiStokesDevice *d = tesi_stokes_of(op)->device;
  return d->tiles ? tesi_stokes_tiles_ready_single(op, d->tiles, of_y)
                  : get_entries(op, TES_SINGLE, of_y, &d->single[of_y]);
}

TesStatus tesi_stokes_device_apply_single(const TesOperator *op, const float *x, TesPrecision of_y, void *y) {
  TesiStokesDevice *d = tesi_stokes_of(op)->device;
  return d->tiles ? tesi_stokes_tiles_apply_single(op, d->tiles, x, of_y, y)
                  : add_entries(op, &d->single[of_y], NULL, 1, x, y);
}

/* ---- of flows in time ---------------------------------------------------------------------------------- */

static TesStatus prepare_flow(const TesOperator *op, TesiStokesDevice *d) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiProgram *program;
  if (d->roots) return TES_OK;
  if (d->tiles) TES_TRY(upload_axes(op, d));
  TES_TRY(get_program(op, op->precision, op->precision, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_stokes_mass", 0, &d->mass));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_stokes_divergence", THREADS * sizeof(double), &d->divergence));
  TES_TRY(tes_vector_create(ctx, BLOCKS, TES_DOUBLE, &d->roots));
done:
  return status;
}

TesStatus tesi_stokes_device_add_mass(const TesOperator *op, double factor, const void *x, void *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokes *s = tesi_stokes_of(op);
  TesiStokesDevice *d = s->device;
  void *arguments[] = {&x, &y, &d->arguments, &factor};
  TES_TRY(prepare_flow(op, d));
  TES_TRY(tesi_kernel_launch(ctx, &d->mass, (TesiGrid){blocks_of(s->space), (unsigned)s->space->dim, 1},
                             THREADS, 0, arguments));
done:
  return status;
}

TesStatus tesi_stokes_device_divergence(const TesOperator *op, const void *u, void *to, double *stretching) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiStokesDevice *d = tesi_stokes_of(op)->device;
  double norm;
  TES_TRY(prepare_flow(op, d));
  void *arguments[] = {&u, &to, &d->roots->data, &d->arguments};
  TES_TRY(tesi_kernel_launch(ctx, &d->divergence, (TesiGrid){BLOCKS, 1, 1}, THREADS, THREADS * sizeof(double),
                             arguments));
  TES_TRY(tes_vector_norm(d->roots, &norm));
  *stretching = norm * norm;
done:
  return status;
}
