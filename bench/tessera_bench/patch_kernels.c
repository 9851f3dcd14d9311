/* tessera bench patch-tables --table 5, 6: kernels of patch-smoothers-cui-2024 beside ours, in float64. It prints
 * milliseconds of one of eight colours, the same if values are only moved, the number of blocks on a multiprocessor
 * at one time, and bank conflicts of shared memory in a block, counted in the emulator. */
#include <math.h>
#include <string.h>
#include "bench.h"
#include "device/kernel.h"
#include "kernels/patch_ladder.h"
#include "kernels/patch_published.h"

enum {
  TABLE,
  DEGREE,
  KERNEL,
  SOURCE,
  DOFS,
  TOTAL,
  DATA,
  BLOCKS,
  GFLOPS,
  ACCESSES,
  WAVEFRONTS,
  CONFLICTS,
  COLUMNS
};

static const CliColumn columns[COLUMNS] = {[TABLE] = {"table", 5, 0},
                                           [DEGREE] = {"degree", 6, 0},
                                           [KERNEL] = {"kernel", 19, -1},
                                           [SOURCE] = {"source", 14, -1},
                                           [DOFS] = {"dofs", 10, 0},
                                           [TOTAL] = {"colour_ms", 9, 3},
                                           [DATA] = {"data_ms", 9, 3},
                                           [BLOCKS] = {"blocks", 6, 0},
                                           [GFLOPS] = {"gflops", 9, 1},
                                           [ACCESSES] = {"accesses", 9, 0},
                                           [WAVEFRONTS] = {"wavefronts", 10, 0},
                                           [CONFLICTS] = {"conflicts", 9, 0}};

static bool add_published(const PatchKernelTimes *p, CliTable *table) {
  const CliCell row[COLUMNS] = {[TABLE] = {p->table, NULL},
                                [DEGREE] = {p->degree, NULL},
                                [KERNEL] = {0, p->kernel},
                                [SOURCE] = {0, "paper, A100"},
                                [DOFS] = {p->dofs, NULL},
                                [TOTAL] = {p->colour_ms, NULL},
                                [DATA] = {p->data_ms, NULL},
                                [BLOCKS] = {p->blocks, NULL},
                                [GFLOPS] = {0.01 * p->peak_percent * patch_peak_gflops, NULL},
                                [ACCESSES] = {NAN, NULL},
                                [WAVEFRONTS] = {NAN, NULL},
                                [CONFLICTS] = {p->conflicts, NULL}};
  return cli_table_add(table, row);
}

/* One part of a variant, or all of it. */
typedef struct Work {
  const BenchSubject *subject;
  bool all;
  BenchLadderPart part;
} Work;

static TesStatus run(void *data) {
  const Work *w = data;
  const BenchSubject *s = w->subject;
  const TesStatus status =
      w->all ? tes_smoother_apply(s->smoother, s->b, s->x, TES_FORWARD, false)
             : bench_ladder_run(s->smoother, w->part, tes_vector_data(s->b), tes_vector_data(s->x));
  return status == TES_OK ? bench_wait(s->op) : status;
}

/* Milliseconds of a colour, and properties of the kernel. */
static TesStatus time_variant(TesContext *ctx, const BenchOptions *o, BenchSubject *s, const char *name,
                              const PatchKernelTimes *p, double *ms, TesCost *cost, BenchLadderBlock *block) {
  TesStatus status = TES_OK;
  BenchTime time;
  Work work = {s, p->part == 0, p->part == 1 ? BENCH_LADDER_RESIDUAL : BENCH_LADDER_SOLVE};
  TES_TRY(bench_ladder_create(ctx, s->op, bench_ladder_find(name), &s->smoother));
  TES_TRY(tes_vector_fill(s->x, 0));
  TES_TRY(bench_time(run, &work, o->seconds, &time));
  TES_TRY(bench_ladder_block(s->smoother, work.part, block));
  *cost = tes_smoother_cost(s->smoother);
  *ms = 1e3 * time.median / 8;
done:
  tes_smoother_destroy(&s->smoother);
  return status;
}

/* The emulator's count; NaN: there is no C compiler. */
static BenchConflicts count_conflicts(const PatchKernelTimes *p, bool *known) {
  BenchConflicts c;
  *known = bench_ladder_conflicts(bench_ladder_find(p->variant), 3, p->degree, TES_DOUBLE,
                                  p->part == 1 ? BENCH_LADDER_RESIDUAL : BENCH_LADDER_SOLVE, &c) == TES_OK;
  return c;
}

static TesStatus measure(TesContext *ctx, const BenchOptions *o, const PatchKernelTimes *p, CliTable *table) {
  TesStatus status = TES_OK;
  BenchSubject s = {0};
  TesSpace *space;
  TesCost cost, ignored;
  BenchLadderBlock block;
  double ms, data_ms = NAN;
  bool known;
  TES_TRY(bench_space(ctx, 3, p->degree, o->sizes ? o->dofs[0] : p->dofs, true, &space));
  TES_TRY(bench_subject(ctx, space, false, TES_DOUBLE, &s));
  TES_TRY(tes_vector_create(ctx, tes_space_length(space), TES_DOUBLE, &s.x));
  if (p->table == 6)
    TES_TRY(time_variant(ctx, o, &s, p->part ? "separate_data" : "data", p, &data_ms, &ignored, &block));
  TES_TRY(time_variant(ctx, o, &s, p->variant, p, &ms, &cost, &block));
  const BenchConflicts c = count_conflicts(p, &known);
  const CliCell row[COLUMNS] = {[TABLE] = {p->table, NULL},
                                [DEGREE] = {p->degree, NULL},
                                [KERNEL] = {0, p->kernel},
                                [SOURCE] = {0, "ours"},
                                [DOFS] = {(double)tes_space_dofs(space), NULL},
                                [TOTAL] = {ms, NULL},
                                [DATA] = {data_ms, NULL},
                                [BLOCKS] = {block.resident ? block.resident : NAN, NULL},
                                [GFLOPS] = {p->part ? NAN : 1e-6 * cost.flops / (8 * ms), NULL},
                                [ACCESSES] = {known ? (double)c.accesses : NAN, NULL},
                                [WAVEFRONTS] = {known ? (double)c.wavefronts : NAN, NULL},
                                [CONFLICTS] = {known ? (double)c.excess : NAN, NULL}};
  if (!cli_table_add(table, row)) status = TES_OUT_OF_MEMORY;
done:
  bench_subject_release(&s);
  return status;
}

TesStatus bench_patch_kernels(TesContext *ctx, const BenchOptions *options, BenchResult *result) {
  TesStatus status = TES_OK;
  cli_table_begin(&result->table, columns, COLUMNS, options->common.verbosity >= TES_NORMAL);
  result->plot = (CliPlot){.title = "one colour of a sweep",
                           .x_label = "degree",
                           .y_label = "ms",
                           .x = DEGREE,
                           .y = TOTAL,
                           .series = KERNEL};
  if (!tesi_has_kernels(ctx))
    TES_FAIL(TES_MISSING, "tables 5 and 6 are of kernels: --device cuda or emulator");
  for (int i = 0; i < PATCH_KERNEL_TIMES && !tesi_context_interrupted(ctx); i++) {
    const PatchKernelTimes *p = &patch_kernel_times[i];
    if (p->table != options->paper_table) continue;
    if (!add_published(p, &result->table)) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for a row");
    TES_TRY(measure(ctx, options, p, &result->table));
  }
done:
  return status;
}
