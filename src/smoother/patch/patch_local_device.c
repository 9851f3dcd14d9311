/* Patch smoothers in residual form on devices with kernels, for operators that the row kernel does not take:
 *   multiplicative: for each colour x_I <- x_I + omega A_p^-1 (b - A x)_I, with the residual of the whole operator;
 *   additive: the same for all colours with one residual.
 * With exact local matrices the multiplicative sweep equals the sweep of the row kernel, at the cost of 2^dim
 * residuals. */
#include "smoother/patch/patch_local.h"
#include <stdio.h>
#include <stdlib.h>
#include "smoother/patch/patch_device.h"
#include "smoother/spectrum.h"

enum { SHARED_MOST = 227 * 1024, WAVE = 264 /* blocks per launch that work in global memory */ };

typedef struct Plan {
  TesiPatchLocal local;
  void *r;
} Plan;

TesStatus tesi_patch_local_compile(const TesOperator *op, TesiPatchLocal *local) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const int dim = op->space->dim, nodes = tesi_max(1, 2 * op->space->degree - 1),
            lines = dim == 3 ? nodes * nodes : nodes;
  const size_t size = tesi_precision_size(op->precision), patch = (size_t)(lines * (nodes | 1)) * size;
  const int chunk = (int)(16 / size);
  TesiProgram *program;
  local->nodes = nodes;
  local->row = (nodes + chunk - 1) / chunk * chunk;
  local->table_size = (int64_t)(nodes + 1) * local->row;
  local->batch = tesi_max(1, (lines < 128 ? 128 : 256) / lines);
  local->threads = (unsigned)tesi_min(256, (local->batch * lines + 31) / 32 * 32);
  const bool fits =
      (size_t)local->batch * patch <= SHARED_MOST && !getenv("TESSERA_PATCH_GLOBAL"); /* for tests */
  local->shared = fits ? (size_t)local->batch * patch : 0;
  const TesiProgramDesc desc = {.file = "patch_local.cu",
                                .real = op->precision,
                                .macros = {{"DIM", dim},
                                           {"NODES", nodes},
                                           {"PATCHES", local->batch},
                                           {"THREADS", (int)local->threads},
                                           {"GLOBAL_WORK", local->shared == 0}}};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_patch_local", local->shared, &local->kernel));
  local->most = local->shared ? 0 : WAVE;
  if (!local->shared)
    TES_TRY(tesi_context_device(ctx)->allocate(ctx, WAVE * (size_t)local->batch * patch, &local->work));
done:
  return status;
}

TesStatus tesi_patch_local_solve(const TesOperator *op, const TesiPatchLocal *local, int colour, double omega,
                                 const void *r, void *x) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiAxis *axis = op->space->axis;
  const TesiLocalPatch *patches = local->patches;
  const int64_t end = local->first_of_colour[colour + 1],
                step = local->most ? (int64_t)local->most * local->batch : end;
  int pitch = axis[0].nodes;
  long long plane = (long long)pitch * axis[1].nodes;
  float single = (float)omega;
  const void *tables = local->tables;
  void *work = local->work;
  for (int64_t first = local->first_of_colour[colour]; first < end; first += step) {
    const TesiLocalPatch *from = patches + first;
    int count = (int)(end - first < step ? end - first : step);
    void *arguments[] = {
        &r,      &x,     &from,  &count,
        &tables, &pitch, &plane, op->precision == TES_SINGLE ? (void *)&single : (void *)&omega,
        &work};
    TES_TRY(tesi_kernel_launch(ctx, &local->kernel,
                               (TesiGrid){(unsigned)((count + local->batch - 1) / local->batch), 1, 1},
                               local->threads, local->shared, arguments));
  }
done:
  return status;
}

void tesi_patch_local_destroy(TesContext *ctx, TesiPatchLocal *local) {
  const TesiDevice *device = tesi_context_device(ctx);
  device->release(ctx, &local->patches);
  device->release(ctx, &local->tables);
  device->release(ctx, &local->work);
}

static TesStatus solve_colour(const TesSmoother *smoother, int colour, const void *r, void *x) {
  const Plan *plan = smoother->plan;
  return tesi_patch_local_solve(smoother->op, &plan->local, colour, smoother->omega, r, x);
}

static bool is_empty(const TesSmoother *smoother, int colour) {
  const int64_t *first = ((const Plan *)smoother->plan)->local.first_of_colour + colour;
  return first[0] == first[1];
}

static TesStatus apply(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep, bool zero_guess) {
  static const TesiResidualSweep colours = {solve_colour, is_empty};
  const Plan *plan = smoother->plan;
  return tesi_sweep_residuals(smoother, &colours, plan->r, tesi_all_colours(8, sweep), b, x, zero_guess);
}

static TesStatus apply_ref(const TesSmoother *smoother, const double *b, double *x, TesSweep sweep) {
  return smoother->local == TES_LOCAL_EXACT && smoother->kind == TES_SMOOTHER_PATCH
             ? tesi_smoother_patch_apply_ref(smoother, b, x, sweep)
             : tesi_surrogate_apply_ref(smoother, b, x, sweep);
}

static TesCost cost(const TesSmoother *smoother) {
  const Plan *plan = smoother->plan;
  const TesiPatchLocal *local = &plan->local;
  const TesOperator *op = smoother->op;
  const TesCost residual = op->table->cost(op);
  const double size = (double)tesi_precision_size(op->precision), patches = (double)local->first_of_colour[8];
  double nodes = 1;
  int residuals = 0;
  for (int d = 0; d < op->space->dim; d++) nodes *= local->nodes;
  for (int c = 0; c < 8; c++) residuals += local->first_of_colour[c] < local->first_of_colour[c + 1];
  if (smoother->kind == TES_SMOOTHER_PATCH_ADDITIVE) residuals = 1;
  return (TesCost){.flops = residuals * residual.flops +
                            patches * nodes * (4.0 * op->space->dim * local->nodes + 4),
                   .bytes = residuals * residual.bytes +
                            size * (3 * patches * nodes + (double)(local->table_count * local->table_size))};
}

static void destroy(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  Plan *plan = smoother->plan;
  if (plan) {
    tesi_patch_local_destroy(ctx, &plan->local);
    tesi_context_device(ctx)->release(ctx, &plan->r);
  }
  tesi_free(ctx, &smoother->plan);
}

static const TesiSmootherTable table = {
    .apply = apply, .apply_ref = apply_ref, .cost = cost, .destroy = destroy};

/* The host makes the whole surrogate, which is then copied to the device. */
static TesStatus fill_local(const TesSmoother *smoother, TesiPatchLocal *local) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  TesiSurrogate surrogate = {.local = smoother->local};
  if (tesi_is_separable(smoother->op)) return tesi_patch_local_separable(smoother->op, local);
  TES_TRY(tesi_surrogate_create(smoother->op, smoother->local, &surrogate));
  TES_TRY(tesi_patch_local_surrogate(smoother->op, &surrogate, local));
done:
  tesi_surrogate_destroy(ctx, &surrogate);
  return status;
}

TesStatus tesi_smoother_patch_local_init(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  static const char *const names[] = {"auto", "exact", "mean", "scaled", "rank1", "nodal"};
  const TesOperator *op = smoother->op;
  const bool additive = smoother->kind == TES_SMOOTHER_PATCH_ADDITIVE,
             slow = op->space->degree > (op->space->dim == 3 ? 8 : 10);
  Plan *plan;
  TES_NEW(&plan);
  smoother->table = &table;
  smoother->plan = plan;
  TES_TRY(tesi_patch_local_compile(op, &plan->local));
  TES_TRY(fill_local(smoother, &plan->local));
  TES_TRY(tesi_operator_vector(op, &plan->r));
  TES_TRY(tesi_patch_damping(smoother));
  smoother->symmetric = true;
  snprintf(smoother->description, sizeof smoother->description,
           "patch%s, %s local solves, omega %.3g, patch by patch in kernels: %d a block, %u threads%s%s",
           additive ? " additive" : "", names[smoother->local], smoother->omega, plan->local.batch,
           plan->local.threads, plan->local.shared ? "" : " in global memory",
           slow ? "; beyond the specialised degrees, slower" : "");
done:
  return status;
}
