#include "krylov/krylov_device.h"

enum { THREADS = 256, ENTRIES = 1024 /* a block, at least */, MOST_SUMS = 2 /* of conjugate gradients */ };

/* Numbers of device memory after the scalars: partial sums, and the small arrays of GMRES with n columns (0: conjugate
 * gradients). */
static size_t count_numbers(size_t n) {
  const size_t sums = n ? 2 * n + 1 : 3;
  return sums * TESK_PARTS + n * (n + 1) + n * n + 4 * n + 1 + 3 * n;
}

static double *carve(double **at, size_t numbers) {
  double *first = *at;
  *at += numbers;
  return first;
}

static void place(TesiKrylovDevice *d, size_t n, size_t history) {
  double *at = (double *)((char *)d->memory + sizeof(TeskKrylov));
  d->scalars = d->memory;
  d->history = carve(&at, history);
  d->partial = carve(&at, (n ? 2 * n : 2) * TESK_PARTS);
  d->squares = carve(&at, TESK_PARTS);
  if (!n) return;
  d->arnoldi = (TeskArnoldi){.scalars = d->scalars, .n = (int)n};
  d->arnoldi.parts = d->sums ? tesi_ranks(d->context) : (int)d->parts;
  d->arnoldi.H = carve(&at, n * (n + 1));
  d->arnoldi.L = carve(&at, n * n);
  d->arnoldi.cosine = carve(&at, n);
  d->arnoldi.sine = carve(&at, n);
  d->arnoldi.g = carve(&at, n + 1);
  d->arnoldi.y = carve(&at, n);
  d->arnoldi.scale = carve(&at, n);
  d->arnoldi.basis = (void *const *)carve(&at, n);
  d->arnoldi.image = (void *const *)carve(&at, n);
}

/* Addresses of the basis and of its images. */
static TesStatus send_addresses(TesiKrylovDevice *d, const TesSolver *s, int n) {
  TesContext *ctx = d->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  void **address = NULL;
  TES_ALLOC(&address, n);
  for (int i = 0; i < n; i++) address[i] = s->basis[i]->data;
  TES_TRY(device->to_device(ctx, (void *)(uintptr_t)d->arnoldi.basis, address, (size_t)n * sizeof *address));
  for (int i = 0; i < n; i++) address[i] = s->images[i]->data;
  TES_TRY(device->to_device(ctx, (void *)(uintptr_t)d->arnoldi.image, address, (size_t)n * sizeof *address));
done:
  tesi_free(ctx, &address);
  return status;
}

TesStatus tesi_krylov_kernels(TesiKrylovDevice *device, int count, const char *const *names,
                              TesiKernel *kernel) {
  TesContext *ctx = device->context;
  TesStatus status = TES_OK;
  for (int i = 0; i < count; i++)
    TES_TRY(tesi_kernel_get(ctx, device->program, names[i], 256 * sizeof(double), &kernel[i]));
done:
  return status;
}

static TesStatus get_kernels(const TesSolver *solver, TesiKrylovDevice *d) {
  switch (solver->desc.method) {
  case TES_METHOD_CG:
    return tesi_cg_device_kernels(d);
  case TES_METHOD_GMRES:
    return tesi_gmres_device_kernels(d);
  default:
    return tesi_cycle_device_kernels(d);
  }
}

TesStatus tesi_krylov_device_create(TesSolver *solver, TesiKrylovDevice **device) {
  TesContext *ctx = solver->context;
  TesStatus status = TES_OK;
  TesiKrylovDevice *d = NULL;
  const bool gmres = solver->desc.method == TES_METHOD_GMRES;
  const size_t n = gmres ? (size_t)solver->desc.restart : 0;
  const size_t history = (size_t)solver->desc.max_iterations + 1;
  const int64_t blocks = (solver->desc.op->length + ENTRIES - 1) / ENTRIES;
  *device = NULL;
  TES_NEW(&d);
  d->context = tesi_context_retain(ctx);
  d->parts = (unsigned)tesi_max(1, blocks < TESK_PARTS ? (int)blocks : TESK_PARTS);
  const bool narrow = solver->desc.narrow_basis;
  const TesiProgramDesc desc = {
      .file = "krylov.cu",
      .real = solver->mg_b ? TES_SINGLE : TES_DOUBLE,
      .types = {narrow ? "basis_real=float" : "basis_real=double",
                narrow && solver->takes_single ? "product_real=float" : "product_real=double"},
      .macros = {{tesi_ranks(ctx) > 1 ? "ranked" : NULL, 1}}};
  TES_TRY(tesi_program_get(ctx, &desc, &d->program));
  TES_TRY(get_kernels(solver, d));
  const int sums = gmres ? 2 * (int)n : MOST_SUMS;
  if (tesi_ranks(ctx) > 1) TES_TRY(tesi_links_create_sums(ctx, sums, &d->sums));
  TES_TRY(tesi_context_device(ctx)->allocate(
      ctx, sizeof(TeskKrylov) + (history + count_numbers(n)) * sizeof(double), &d->memory));
  place(d, n, history);
  if (gmres) {
    if (d->sums) d->arnoldi.own = tesi_layout_ranges(solver->r->layout);
    tesi_gmres_device_place(solver, TESI_ANY_COLUMN, &d->arnoldi);
    TES_ALLOC(&d->steps, n + 1);
    d->columns = (int)n;
    TES_TRY(send_addresses(d, solver, (int)n));
  }
  *device = d;
  d = NULL;
done:
  tesi_krylov_device_destroy(&d);
  return status;
}

/* The kernels of the start of conjugate gradients, which run once. */
static TesStatus prepare_start(TesSolver *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  double norm;
  if (s->mg_b) TES_TRY(tes_vector_copy(s->r, 1, s->mg_b));
  if (s->mg_x) TES_TRY(tes_vector_copy(s->mg_x, 1, s->q));
  TES_TRY(tes_operator_residual(s->desc.op, s->q, s->p, s->r));
  TES_TRY(tes_vector_norm(s->r, &norm));
done:
  return status;
}

TesStatus tesi_krylov_device_prepare(TesSolver *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const bool gmres = s->desc.method == TES_METHOD_GMRES;
  const TeskKrylov scalars = {.b_norm = 1, .factor = 1, .inverse = 1, .root = s->root};
  TesiIteration work = {.solver = s, .x = s->p, .column = s->desc.multigrid ? 0 : TESI_ANY_COLUMN};
  if (!gmres) TES_TRY(prepare_start(s));
  TES_TRY(tesi_context_device(ctx)->to_device(ctx, s->device->scalars, &scalars, sizeof scalars));
  const TesiCounts *counts = &((TesiKernelState *)tesi_context_device_state(ctx))->counts, before = *counts;
  TES_TRY(gmres ? tesi_gmres_device_step(&work) : tesi_cg_device_step(&work));
  tesi_log(ctx, TES_LOG_DETAIL, "an iteration is %lld launches, %lld of which are exchanges between ranks",
           counts->launches - before.launches, counts->exchanges - before.exchanges);
  if (s->desc.multigrid) tesi_multigrid_forget_times(s->desc.multigrid);
  TES_TRY(tesi_context_device(ctx)->synchronize(ctx)); /* else the first solve would wait for it */
done:
  return status;
}

void tesi_krylov_device_forget(TesiKrylovDevice *d) {
  tesi_recorded_release(d->context, &d->step);
  for (int i = 0; d->steps && i <= d->columns; i++) tesi_recorded_release(d->context, &d->steps[i]);
}

void tesi_krylov_device_destroy(TesiKrylovDevice **device) {
  if (!device || !*device) return;
  TesiKrylovDevice *d = *device;
  TesContext *ctx = d->context;
  *device = NULL;
  tesi_krylov_device_forget(d);
  tesi_links_destroy(&d->sums);
  tesi_free(ctx, &d->steps);
  if (d->memory) tesi_context_device(ctx)->release(ctx, &d->memory);
  tesi_free(ctx, &d);
  tes_context_destroy(&ctx);
}

TesStatus tesi_krylov_launch(TesiKrylovDevice *device, int kernel, unsigned rows, int extra, void **arguments) {
  const TesiGrid grid = rows ? (TesiGrid){device->parts, rows, 1} : (TesiGrid){1, 1, 1};
  return tesi_kernel_launch(device->context, &device->kernel[kernel], grid, THREADS,
                            (size_t)(THREADS + extra) * sizeof(double), arguments);
}

TesStatus tesi_krylov_meet(TesiKrylovDevice *device, int count, double *sums) {
  return device->sums ? tesi_links_sums(device->sums, count, TESK_PARTS, (int)device->parts, sums) : TES_OK;
}

TesStatus tesi_krylov_relative(TesiKrylovDevice *device, double *relative) {
  return tesi_context_device(device->context)
      ->to_host(device->context, relative, &device->scalars->relative, sizeof *relative);
}
