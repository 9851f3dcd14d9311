#include "kernels/mapped_ladder.h"
#include <stdio.h>
#include <string.h>
#include "kernels/texts.h"
#include "operator/mapped/device/mapped_device.h"

const char *const bench_mapped_rungs[BENCH_MAPPED_RUNGS] = {"global",   "shared",   "registers",
                                                            "unrolled", "barriers", "symmetric"};

/* Numbers of shared memory, as the kernel's head says. */
static int count_shared(int rung, int n, int q) {
  if (rung == 0) return 0;
  if (rung == 1) return 4 * q * q * q;
  return (rung < 4 ? 3 * q * q : 3 * q * q * q) + q * n + q * q;
}

/* I [q][n], then D [q][q], in the kernel's precision. */
static TesStatus upload_tables(TesContext *ctx, const TesiMappedKernelDesc *d, BenchMappedLadder *ladder) {
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const size_t size = tesi_precision_size(d->precision);
  const int ni = d->q * d->n, nd = d->q * d->q;
  double *values = NULL;
  TES_ALLOC(&values, ni + nd);
  memcpy(values, d->I, (size_t)ni * sizeof *values);
  memcpy(values + ni, d->D, (size_t)nd * sizeof *values);
  if (d->precision == TES_SINGLE)
    for (int i = 0; i < ni + nd; i++) ((float *)values)[i] = (float)values[i];
  TES_TRY(device->allocate(ctx, (size_t)(ni + nd) * size, &ladder->tables));
  TES_TRY(device->to_device(ctx, ladder->tables, values, (size_t)(ni + nd) * size));
  ladder->D = (char *)ladder->tables + (size_t)ni * size;
done:
  tesi_free(ctx, &values);
  return status;
}

TesStatus bench_mapped_ladder_make(TesContext *ctx, const TesiMappedKernelDesc *d, int rung, int64_t cells,
                                   BenchMappedLadder *ladder) {
  TesStatus status = TES_OK;
  TesiProgram *program;
  char text[6][24];
  const size_t size = tesi_precision_size(d->precision);
  memset(ladder, 0, sizeof *ladder);
  TES_CHECK(d->dim == 3 && d->components == 1 && d->output == TESI_MAPPED_ELEMENT &&
                d->geometry == TESI_MAPPED_STORED && d->factors == d->precision,
            "the ladder's kernels are for element vectors of one component, 3D, stored factors");
  const int values[] = {d->n, d->q, d->collocated, d->mass, d->stiffness, rung};
  static const char *const names[] = {"N", "Q", "COLLOCATED", "MASS", "STIFFNESS", "LEVEL"};
  TesiProgramDesc desc = {.file = "mapped_ladder.cu",
                          .options = {d->precision == TES_SINGLE ? "real=float" : "real=double"}};
  for (int i = 0; i < 6; i++) {
    snprintf(text[i], sizeof text[i], "%s=%d", names[i], values[i]);
    desc.options[i + 1] = text[i];
  }
  ladder->threads = d->q * d->q;
  ladder->shared = (size_t)count_shared(rung, d->n, d->q) * size;
  ladder->mass = 1;
  TES_TRY(bench_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_mapped_ladder", ladder->shared, &ladder->kernel));
  TES_TRY(upload_tables(ctx, d, ladder));
  if (rung == 0)
    TES_TRY(tesi_context_device(ctx)->allocate(ctx, (size_t)(4 * cells * d->q * d->q * d->q) * size,
                                               &ladder->work));
done:
  if (status != TES_OK) bench_mapped_ladder_release(ctx, ladder);
  return status;
}

TesStatus bench_mapped_ladder_of(const TesOperator *op, int rung, BenchMappedLadder *ladder) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiMapped *m = tesi_mapped_of(op);
  const TesiMappedPlan *plan = op->plan;
  const TesiMappedKernelDesc desc = tesi_mapped_kernel_desc(m, plan->factors);
  TES_TRY(bench_mapped_ladder_make(ctx, &desc, rung, m->cells, ladder));
  ladder->geometry = plan->geometry;
  ladder->mass = m->lambda;
done:
  return status;
}

TesStatus bench_mapped_ladder_run(TesContext *ctx, const BenchMappedLadder *ladder, int64_t cells,
                                  const void *x, void *y) {
  const void *geometry = ladder->geometry, *I = ladder->tables, *D = ladder->D;
  void *work = ladder->work;
  double mass = ladder->mass;
  void *arguments[] = {&x, &y, &geometry, &I, &D, &mass, &work};
  return tesi_kernel_launch(ctx, &ladder->kernel, (TesiGrid){(unsigned)cells, 1, 1},
                            (unsigned)ladder->threads, ladder->shared, arguments);
}

void bench_mapped_ladder_release(TesContext *ctx, BenchMappedLadder *ladder) {
  const TesiDevice *device = tesi_context_device(ctx);
  device->release(ctx, &ladder->tables);
  device->release(ctx, &ladder->work);
}
