#include "operator/stokes_varying/stokes_varying_device.h"
#include <stdlib.h>
#include "basis/lagrange.h"
#include "device/kernel.h"
#include "device/table_text.h"
#include "device/upload.h"
#include "kernels/stokes_varying_arguments.h"
#include "space/rt_device.h"

enum {
  SHARED_MOST = 227 * 1024,
  WAVE = 264,       /* blocks of a launch that works in global memory */
  LINES = 128,      /* of points that a block has, about */
  MOST_CELLS = 16,  /* of a block */
  UNROLLED_MOST = 7 /* modes of a cell up to which loops of lines are unrolled */
};

struct TesiStokesVaryingDevice {
  TesPrecision precision;
  TeskStokesVarying arguments;
  TesiKernel cells, join;
  int of_block; /* cells */
  unsigned threads;
  size_t shared;                                            /* 0: in global memory */
  void *widths[3], *gamma[3], *nu, *face_nu, *aside, *work; /* device */
};

/* ---- the kernel ---------------------------------------------------------------------------------------- */

/* Numbers of work memory per cell, as in the kernel. */
static int64_t numbers_of(const TesiStokesVarying *s) {
  const int64_t dim = s->stokes.space->dim, n = s->stokes.space->degree + 1, layers = dim == 3 ? n : 1,
                all = dim * (n + 1) * n * layers + n * n * layers,
                faces = 2 * dim * (2 * (dim - 1) + s->symmetric) * s->face_points;
  const int64_t a = (dim + 1) * s->points, b = dim * dim * s->points;
  return 2 * all + (a > faces ? a : faces) + (b > faces ? b : faces);
}

static void cut(const TesiStokesVarying *s, TesiStokesVaryingDevice *device) {
  const size_t size = (size_t)numbers_of(s) * tesi_precision_size(device->precision);
  const int lines = s->stokes.space->dim * s->face_points;
  device->of_block = tesi_max(1, tesi_min(LINES / lines, MOST_CELLS));
  device->threads = (unsigned)tesi_min(256, (device->of_block * lines + 31) / 32 * 32);
  device->shared = size > SHARED_MOST || getenv("TESSERA_PATCH_GLOBAL") /* for tests */
                       ? 0
                       : (size_t)device->of_block * size;
}

/* slope[r][c]: the derivative at point r of the basis polynomial of point c; back[r][c]: slope[c][r] times the weight
 * of c over the weight of r. */
static TesStatus make_tables(const TesOperator *op, char **tables) {
  const TesiStokesVarying *s = tesi_stokes_varying_of(op);
  const TesiRtTables *t = &s->cell;
  const int n = t->n, q = t->points;
  double slope[TESI_RT_POINTS * TESI_RT_POINTS], back[TESI_RT_POINTS * TESI_RT_POINTS];
  tesi_lagrange(q, t->x, q, t->x, NULL, slope);
  for (int r = 0; r < q; r++)
    for (int c = 0; c < q; c++) back[r * q + c] = t->w[c] * slope[c * q + r] / t->w[r];
  TesiTableText text = {.context = op->context, .type = "real"};
  tesi_table_text_add(&text, "modal", t->modal[0], q * n);
  tesi_table_text_add(&text, "nodal", t->nodal[0], q * (n + 1));
  tesi_table_text_weigh(&text, "modal_w", t->modal[0], t->w, q, n);
  tesi_table_text_weigh(&text, "nodal_w", t->nodal[0], t->w, q, n + 1);
  tesi_table_text_add(&text, "slope", slope, q * q);
  tesi_table_text_add(&text, "slope_back", back, q * q);
  tesi_table_text_add(&text, "root", s->end[1].modal[0], n);
  tesi_table_text_add(&text, "bend", s->end[1].modal[1], n);
  return tesi_table_text_end(&text, tables);
}

static TesStatus get_kernels(const TesOperator *op, TesiStokesVaryingDevice *device) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokesVarying *s = tesi_stokes_varying_of(op);
  const int n = s->stokes.space->degree + 1;
  char *tables = NULL;
  TesiProgram *program;
  TES_TRY(make_tables(op, &tables));
  const TesiProgramDesc desc = {.file = "stokes_varying.cu",
                                .real = op->precision,
                                .macros = {{"TESK_CONSTANT_TABLES", 1},
                                           {"DIM", s->stokes.space->dim},
                                           {"N", n},
                                           {"Q", s->cell.points},
                                           {"CELLS", device->of_block},
                                           {"THREADS", (int)device->threads},
                                           {"SYMMETRIC", s->symmetric},
                                           {"GLOBAL_WORK", !device->shared},
                                           {"ROLLED", n > UNROLLED_MOST}},
                                .tables = tables};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_stokes_varying", device->shared, &device->cells));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_stokes_varying_join", 0, &device->join));
done:
  tesi_free(ctx, &tables);
  return status;
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

static TesStatus upload_axis(const TesOperator *op, int d, TesiStokesVaryingDevice *device) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokesVarying *s = tesi_stokes_varying_of(op);
  const TesiAxis *a = tesi_modal(s->stokes.space, d);
  TeskStokesVarying *to = &device->arguments;
  const int k = s->stokes.space->degree, last = a->cells - 1;
  double *gamma = NULL;
  to->cells[d] = a->cells, to->periodic[d] = a->periodic;
  if (d >= s->stokes.space->dim) return TES_OK;
  for (int end = 0; end < 2; end++) to->known[d][end] = s->stokes.axis[d].nodal.end[end] == TESI_STRONG;
  TES_ALLOC(&gamma, 2 * a->cells);
  for (int c = 0; c < a->cells; c++)
    for (int end = 0; end < 2; end++) {
      const bool inner = a->periodic || c != (end ? last : 0);
      const int next = (c + (end ? 1 : last)) % a->cells;
      gamma[2 * c + end] = inner ? tesi_penalty_factor(s->penalty, k, a->h[c], a->h[next])
                                 : tesi_rt_boundary_penalty(s->penalty, k, a->h[c]);
    }
  TES_TRY(tesi_upload(ctx, a->h, (size_t)a->cells * sizeof *a->h, &device->widths[d]));
  TES_TRY(tesi_upload_numbers(ctx, gamma, 2 * a->cells, op->precision, &device->gamma[d]));
  to->h[d] = device->widths[d], to->gamma[d] = device->gamma[d];
done:
  tesi_free(ctx, &gamma);
  return status;
}

/* nu_F with zeros at faces of the boundary where no tangential velocity is given. */
static TesStatus upload_nu(const TesOperator *op, int64_t cells, TesiStokesVaryingDevice *device) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokesVarying *s = tesi_stokes_varying_of(op);
  const TesSpace *space = s->stokes.space;
  const int sides = 2 * space->dim;
  const int64_t faces = cells * sides;
  double *nu = NULL;
  TES_ALLOC(&nu, faces * s->face_points);
  for (int64_t face = 0; face < faces; face++) {
    const int d = (int)(face % sides) / 2, end = (int)(face % 2);
    const TesiAxis *a = tesi_modal(space, d);
    int64_t cell = face / sides;
    for (int e = 0; e < d; e++) cell /= tesi_modal(space, e)->cells;
    const bool inner = a->periodic || (int)(cell % a->cells) != (end ? a->cells - 1 : 0);
    for (int q = 0; q < s->face_points && (inner || a->end[end] == TESI_WEAK); q++)
      nu[face * s->face_points + q] = s->face_nu[face * s->face_points + q];
  }
  TES_TRY(tesi_upload_numbers(ctx, s->nu, cells * s->points, op->precision, &device->nu));
  TES_TRY(tesi_upload_numbers(ctx, nu, faces * s->face_points, op->precision, &device->face_nu));
  device->arguments.nu = device->nu, device->arguments.face_nu = device->face_nu;
done:
  tesi_free(ctx, &nu);
  return status;
}

static TesStatus fill(const TesOperator *op, TesiStokesVaryingDevice *device) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokesVarying *s = tesi_stokes_varying_of(op);
  const TesSpace *space = s->stokes.space;
  const TesiDevice *table = tesi_context_device(ctx);
  const size_t size = tesi_precision_size(op->precision);
  TeskStokesVarying *to = &device->arguments;
  const int64_t cells = tesi_rt_cells(space), layer = space->dim == 3
                                                          ? (int64_t)(space->degree + 1) * (space->degree + 1)
                                                          : (space->degree + 1);
  TES_TRY(tesi_rt_parts(ctx, space, &to->parts));
  to->all = (int)cells;
  to->alpha = s->stokes.alpha;
  for (int d = 0; d < 3; d++) {
    TES_TRY(upload_axis(op, d, device));
    to->aside_at[d] = d * cells * layer;
  }
  TES_TRY(upload_nu(op, cells, device));
  TES_TRY(table->allocate(ctx, (size_t)(space->dim * cells * layer) * size, &device->aside));
  if (!device->shared)
    TES_TRY(table->allocate(ctx, WAVE * (size_t)(device->of_block * numbers_of(s)) * size, &device->work));
done:
  return status;
}

TesStatus tesi_stokes_varying_device_create(const TesOperator *op, TesiStokesVaryingDevice **result) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiStokesVaryingDevice *device = NULL;
  *result = NULL;
  TES_NEW(&device);
  device->precision = op->precision;
  cut(tesi_stokes_varying_of(op), device);
  TES_TRY(get_kernels(op, device));
  TES_TRY(fill(op, device));
  *result = device;
  device = NULL;
done:
  tesi_stokes_varying_device_destroy(ctx, &device);
  return status;
}

void tesi_stokes_varying_device_destroy(TesContext *ctx, TesiStokesVaryingDevice **device) {
  TesiStokesVaryingDevice *d = *device;
  const TesiDevice *table = tesi_context_device(ctx);
  if (!d) return;
  for (int i = 0; i < 3; i++) {
    table->release(ctx, &d->widths[i]);
    table->release(ctx, &d->gamma[i]);
  }
  void **const others[] = {&d->nu, &d->face_nu, &d->aside, &d->work};
  for (int i = 0; i < 4; i++) table->release(ctx, others[i]);
  tesi_free(ctx, device);
}

/* ---- products ------------------------------------------------------------------------------------------ */

TesStatus tesi_stokes_varying_device_add(const TesOperator *op, const void *b, double sign, const void *x,
                                         void *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiStokesVaryingDevice *d = tesi_stokes_varying_of(op)->device;
  TeskStokesVarying s = d->arguments;
  int keep = b != NULL;
  float single = (float)sign;
  const void *old = b ? b : y;
  void *factor = op->precision == TES_SINGLE ? (void *)&single : (void *)&sign;
  void *cells[] = {&x, &old, &y, &d->aside, &d->work, &s, &keep, factor},
       *join[] = {&d->aside, &y, &d->arguments, factor};
  const int blocks = (s.all + d->of_block - 1) / d->of_block, step = d->shared ? blocks : WAVE;
  const long long aside = s.aside_at[1];
  for (int i = 0; i < blocks; i += step) {
    s.first = i * d->of_block;
    TES_TRY(tesi_kernel_launch(ctx, &d->cells, (TesiGrid){(unsigned)tesi_min(step, blocks - i), 1, 1},
                               d->threads, d->shared, cells));
  }
  TES_TRY(tesi_kernel_launch(
      ctx, &d->join, (TesiGrid){(unsigned)((aside + d->threads - 1) / d->threads), (unsigned)s.parts.dim, 1},
      d->threads, 0, join));
done:
  return status;
}
