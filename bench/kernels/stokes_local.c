/* Local solvers of figure 10 of stokes-multigrid-cui-2025 on devices: stokes_local.cu; and dense inverses, by the
 * kernel that programs use for patches with a varying viscosity. */
#include <stdio.h>
#include <string.h>
#include "device/upload.h"
#include "device/vector.h"
#include "kernels/stokes_dense.h"
#include "kernels/stokes_operators.h"
#include "kernels/texts.h"
#include "smoother/stokes_patch/stokes_patches.h"

enum { STEPS = 15, NOTE_STEPS = 1 };
static const double paper_accuracy = 1e-3;

typedef struct Plan {
  BenchStokesLocal local;
  TesiStokesPatchAxis axis[3];
  TesiStokesPatches patches;
  int colours, *first; /* [colours + 1]: first patch of each colour */
  int kinds;
  void **inverse; /* [kinds] on the device, if it exists */
  void *r;
  TesiKernel kernel; /* of conjugate gradients */
  unsigned threads;
  size_t shared;
  double accuracy;
  int steps, notes;
} Plan;

/* ---- set-up --------------------------------------------------------------------------------------------- */
static int combination(const Plan *p, const int kind[3]) {
  return kind[0] + p->axis[0].types * (kind[1] + p->axis[1].types * kind[2]);
}

static TesiStokesLocal local_of(const TesiStokes *s, const Plan *p, const int kind[3]) {
  TesiStokesLocal l = {.dim = 3, .nu = s->nu, .alpha = s->alpha, .closed = true};
  for (int d = 0; d < 3; d++) l.axis[d] = &p->axis[d].local[kind[d]];
  return l;
}

static TesStatus send_inverse(const TesOperator *op, Plan *p, const int kind[3]) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokesLocal l = local_of(tesi_stokes_of(op), p, kind);
  void *inverse = NULL;
  int size;
  TES_TRY(bench_stokes_dense_inverse(ctx, &l, op->precision, &size, &inverse));
  TES_TRY(tesi_upload(ctx, inverse, (size_t)size * (size_t)size * tesi_precision_size(op->precision),
                      &p->inverse[combination(p, kind)]));
done:
  tesi_free(ctx, &inverse);
  return status;
}

/* Colour by colour. Conjugate gradients do not use S^+: its address only must not be NULL. */
static TesStatus list_places(const TesOperator *op, Plan *p, TesiStokesPlace *place) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokesPatchAxis *a = p->axis;
  const int vertices = a[0].vertices * a[1].vertices * a[2].vertices;
  for (int c = 0, count = 0; c < p->colours; c++) {
    for (int v = 0; v < vertices; v++) {
      const int at[3] = {v % a[0].vertices, v / a[0].vertices % a[1].vertices,
                         v / a[0].vertices / a[1].vertices};
      const int kind[3] = {a[0].type[at[0]], a[1].type[at[1]], a[2].type[at[2]]}, k = combination(p, kind);
      if (tesi_stokes_patch_colour(a, 3, false, at) != c) continue;
      if (p->local == BENCH_STOKES_DIRECT && !p->inverse[k]) TES_TRY(send_inverse(op, p, kind));
      place[count] = (TesiStokesPlace){.nu = tesi_stokes_of(op)->nu,
                                       .exact = p->local == BENCH_STOKES_DIRECT   ? p->inverse[k]
                                                : p->local == BENCH_STOKES_TABLES ? NULL
                                                                                  : p->r};
      memcpy(place[count].vertex, at, sizeof at);
      memcpy(place[count].kind, kind, sizeof kind);
      p->first[c + 1] = ++count;
    }
  }
done:
  return status;
}

static TesStatus fill_patches(const TesOperator *op, Plan *p) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokes *s = tesi_stokes_of(op);
  const TesiStokesPatchAxis *a = p->axis;
  TesiStokesPlace *place = NULL;
  TesiStokesKind *kind[3] = {NULL, NULL, NULL};
  p->kinds = 1;
  for (int d = 0; d < 3; d++) {
    TES_TRY(tesi_stokes_patch_axis_create(ctx, s, d, 2, &p->axis[d]));
    TES_TRY(tesi_stokes_patch_kinds(ctx, s->space, d, &p->axis[d], &kind[d]));
    p->kinds *= a[d].types;
  }
  p->colours = tesi_stokes_patch_colours(a, false);
  TES_ALLOC(&p->first, p->colours + 1);
  TES_ALLOC(&p->inverse, p->kinds);
  TES_ALLOC(&place, (int64_t)a[0].vertices * a[1].vertices * a[2].vertices);
  TES_TRY(tesi_context_device(ctx)->allocate(ctx, (size_t)op->length * tesi_precision_size(op->precision),
                                             &p->r));
  TES_TRY(list_places(op, p, place));
  TES_TRY(tesi_stokes_patches_create(op, op->precision, (const TesiStokesKind *const *)kind,
                                     (const int[]){a[0].types, a[1].types, a[2].types}, place,
                                     p->first[p->colours], &p->patches));
done:
  for (int d = 0; d < 3; d++) tesi_free(ctx, &kind[d]);
  tesi_free(ctx, &place);
  return status;
}

static TesStatus get_kernel(const TesOperator *op, Plan *p) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const int N = 2 * (tesi_stokes_of(op)->space->degree + 1), M = N - 1,
            form = p->local == BENCH_STOKES_SCHUR_FREE, size = (form ? N + 1 : N) * N * N,
            threads = N > 8 || (N == 8 && form) ? 128
                      : N > 4                   ? 64
                                                : 32;
  const int numbers = 3 * (M * M + N * N + N * M + M + N) + threads + 13 * size;
  TesiProgram *program;
  p->threads = (unsigned)threads;
  p->shared = (size_t)numbers * tesi_precision_size(op->precision);
  const TesiProgramDesc desc = {
      .file = "stokes_local.cu",
      .real = op->precision,
      .macros = {{"N", N}, {"THREADS", threads}, {"FORM", form}, {"NOTES", p->notes}}};
  TES_TRY(bench_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_stokes_local", p->shared, &p->kernel));
done:
  return status;
}

/* ---- sweeps --------------------------------------------------------------------------------------------- */
static TesStatus launch(const TesSmoother *smoother, int colour, const void *r, void *x, long long *log) {
  TesContext *ctx = smoother->context;
  const Plan *p = smoother->plan;
  const int first = p->first[colour], count = p->first[colour + 1] - first;
  double accuracy = p->accuracy;
  int steps = p->steps;
  if (p->local < BENCH_STOKES_SCHUR)
    return tesi_stokes_patches_solve(ctx, &p->patches, p->local == BENCH_STOKES_DIRECT, first, count, r, x);
  const TeskStokesPatch *patches = (const TeskStokesPatch *)p->patches.patches + first;
  void *arguments[] = {(void *)&p->patches.arguments, &patches, &r, &x, &accuracy, &steps, &log};
  return tesi_kernel_launch(ctx, &p->kernel, (TesiGrid){(unsigned)count, 1, 1}, p->threads, p->shared,
                            arguments);
}

static TesStatus apply(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep, bool zero_guess) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const Plan *p = smoother->plan;
  const TesOperator *op = smoother->op;
  if (zero_guess) TES_TRY(tesi_context_device(ctx)->fill(ctx, op->precision, op->length, 0, x));
  for (int i = 0; i < p->colours; i++) {
    TES_TRY(op->table->residual(op, b, x, p->r));
    TES_TRY(launch(smoother, sweep == TES_FORWARD ? i : p->colours - 1 - i, p->r, x, NULL));
  }
done:
  return status;
}

TesStatus bench_stokes_local_run(const TesSmoother *smoother, const void *r, void *x) {
  TesStatus status = TES_OK;
  const Plan *p = smoother->plan;
  for (int c = 0; c < p->colours && status == TES_OK; c++) status = launch(smoother, c, r, x, NULL);
  return status;
}

static TesStatus apply_ref(const TesSmoother *smoother, const double *b, double *x, TesSweep sweep) {
  const Plan *p = smoother->plan;
  return tesi_stokes_patch_sweep_ref(smoother->op, p->axis, false, b, x, sweep);
}

/* The work of all local solves. Conjugate gradients take 54 contractions, and 18 per step, each of about N^4
 * multiply-adds. Bytes: residuals read, x read and written, and the inverses of patches and S. Tables: the pressure
 * is multiplied by their eigenvectors too. */
static TesCost cost(const TesSmoother *smoother) {
  const Plan *p = smoother->plan;
  const double N = 2.0 * tesi_stokes_of(smoother->op)->space->degree + 1, M = N - 1,
               numbers = 3 * M * N * N + N * N * N, patches = p->first[p->colours],
               size = (double)tesi_precision_size(smoother->op->precision);
  const double velocity = M * N * N, across = 2 * N * velocity /* two directions */,
               modes = across + M * velocity, coupling = across + N * velocity,
               gradients = 3 * 2 * (2 * modes + (2 + 2.0 * p->steps) * coupling),
               square = N * N * N * N * N * N,
               tables = 3 * 2 * (2 * modes + 2 * N * velocity) + 2 * 6 * N * N * N * N + 2 * square;
  const bool direct = p->local == BENCH_STOKES_DIRECT, table = p->local == BENCH_STOKES_TABLES;
  return (TesCost){.flops = patches * (direct  ? 2 * numbers * numbers
                                       : table ? tables
                                               : gradients),
                   .bytes = patches * size *
                            (3 * numbers + (direct  ? numbers * numbers
                                            : table ? square
                                                    : 0))};
}

static void destroy(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  const TesiDevice *device = tesi_context_device(ctx);
  Plan *p = smoother->plan;
  if (!p) return;
  for (int k = 0; p->inverse && k < p->kinds; k++) device->release(ctx, &p->inverse[k]);
  for (int d = 0; d < 3; d++) tesi_stokes_patch_axis_free(ctx, &p->axis[d]);
  tesi_stokes_patches_free(ctx, &p->patches);
  device->release(ctx, &p->r);
  tesi_free(ctx, &p->inverse);
  tesi_free(ctx, &p->first);
  tesi_free(ctx, &smoother->plan);
}

static const TesiSmootherTable table = {
    .apply = apply, .apply_ref = apply_ref, .cost = cost, .destroy = destroy};

static TesStatus create_noting(TesContext *ctx, const TesOperator *op, BenchStokesLocal local,
                               double accuracy, int steps, int notes, TesSmoother **smoother) {
  TesStatus status = TES_OK;
  TesSmoother *s = NULL;
  Plan *plan = NULL;
  *smoother = NULL;
  bool serves = bench_stokes_operator_serves(op);
  for (int d = 0; serves && d < 3; d++)
    for (int e = 0; e < 2; e++)
      serves = serves && tesi_nodal(tesi_stokes_of(op)->space, d)->end[e] == TESI_STRONG;
  if (!serves)
    TES_FAIL(
        TES_MISSING,
        "variants of the local solvers of stokes need a device with kernels, equal cells in 3D, known normal "
        "velocities at all faces and degree at most %d",
        BENCH_STOKES_MOST);
  TES_NEW(&s);
  s->context = tesi_context_retain(ctx);
  s->op = tesi_operator_retain(op);
  s->kind = TES_SMOOTHER_PATCH;
  s->local = local < BENCH_STOKES_SCHUR ? TES_LOCAL_EXACT : TES_LOCAL_CG;
  s->omega = 1;
  s->table = &table;
  TES_NEW(&plan);
  s->plan = plan;
  plan->local = local;
  plan->accuracy = accuracy > 0 ? accuracy : paper_accuracy;
  plan->steps = steps > 0 ? steps : STEPS;
  plan->notes = notes;
  TES_TRY(fill_patches(op, plan));
  if (local >= BENCH_STOKES_SCHUR) TES_TRY(get_kernel(op, plan));
  snprintf(s->description, sizeof s->description, "vertex patches of stokes, %s",
           local == BENCH_STOKES_DIRECT   ? "dense inverses"
           : local == BENCH_STOKES_TABLES ? "S^+ from tables"
           : local == BENCH_STOKES_SCHUR  ? "conjugate gradients"
                                          : "conjugate gradients free of conflicts of banks");
  *smoother = s;
  s = NULL;
done:
  tes_smoother_destroy(&s);
  return status;
}

TesStatus bench_stokes_local_create(TesContext *ctx, const TesOperator *op, BenchStokesLocal local,
                                    double accuracy, int steps, TesSmoother **smoother) {
  return create_noting(ctx, op, local, accuracy, steps, 0, smoother);
}

/* ---- conflicts ------------------------------------------------------------------------------------------ */
static TesStatus note_patch(TesContext *ctx, const TesOperator *op, BenchStokesLocal local,
                            BenchConflicts *conflicts) {
  enum { ROOM = 1 << 17 };
  TesStatus status = TES_OK;
  TesSmoother *smoother = NULL;
  TesVector *r = NULL, *x = NULL;
  void *log = NULL;
  TES_TRY(create_noting(ctx, op, local, 0, NOTE_STEPS, ROOM, &smoother));
  const Plan *p = smoother->plan;
  TES_TRY(tes_vector_create(ctx, op->length, op->precision, &r));
  TES_TRY(tes_vector_create(ctx, op->length, op->precision, &x));
  TES_TRY(tes_vector_fill(r, 1));
  TES_TRY(tesi_context_device(ctx)->allocate(ctx, (size_t)p->threads * ROOM * sizeof(long long), &log));
  TES_TRY(launch(smoother, 0, tes_vector_data(r), tes_vector_data(x), log));
  TES_TRY(bench_conflicts_read(ctx, log, (int)p->threads, ROOM, tesi_precision_size(op->precision), conflicts));
done:
  if (log) tesi_context_device(ctx)->release(ctx, &log);
  tes_vector_destroy(&r);
  tes_vector_destroy(&x);
  tes_smoother_destroy(&smoother);
  return status;
}

TesStatus bench_stokes_local_conflicts(int degree, BenchStokesLocal local, TesPrecision precision,
                                       BenchConflicts *conflicts) {
  TesContext *ctx;
  TesOperator *op = NULL;
  *conflicts = (BenchConflicts){0};
  TesStatus status = tes_context_create(&(TesContextDesc){.device = "emulator", .threads = 1}, &ctx, NULL, 0);
  if (status != TES_OK) return status;
  TES_TRY(bench_stokes_box_operator(ctx, degree, precision, (const int[]){2, 2, 2}, &op));
  TES_TRY(note_patch(ctx, op, local, conflicts));
done:
  tes_operator_destroy(&op);
  tes_context_destroy(&ctx);
  return status;
}
