/* tessera bench patch-figures --figure 19, 20: rooflines in 3D as in patch-smoothers-cui-2024. 19: operations and bytes
 * of main memory of the algorithms (TesCost), below the measured rate of a copy; 20: operations and bytes that the
 * contractions read and write in shared memory (equation 18), below its measured rate. */
#include <math.h>
#include "bench.h"
#include "device/kernel.h"
#include "kernels/patch_ladder.h"
#include "kernels/shared_rate.h"

enum { DEGREE, PRECISION, KERNEL, DOFS, MS, GFLOPS, INTENSITY, ROOF, SHARE, SERIES, COLUMNS };

static const CliColumn columns[COLUMNS] = {[DEGREE] = {"degree", 6, 0},
                                           [PRECISION] = {"precision", 9, -1},
                                           [KERNEL] = {"kernel", 14, -1},
                                           [DOFS] = {"dofs", 10, 0},
                                           [MS] = {"ms", 10, 3},
                                           [GFLOPS] = {"gflops", 9, 1},
                                           [INTENSITY] = {"flops_per_byte", 14, 3},
                                           [ROOF] = {"roof_gflops", 11, 1},
                                           [SHARE] = {"share_of_roof", 13, 3},
                                           [SERIES] = {"series", 0, -1}};

static bool add(int degree, TesPrecision precision, const char *kernel, double dofs, double ms, double gflops,
                double intensity, double rate, CliTable *table) {
  const double roof = 1e-9 * rate * intensity;
  const char *kind = precision == TES_DOUBLE ? "double" : "single";
  const CliCell row[COLUMNS] = {[DEGREE] = {degree, NULL},
                                [PRECISION] = {0, kind},
                                [KERNEL] = {0, kernel},
                                [DOFS] = {dofs, NULL},
                                [MS] = {ms, NULL},
                                [GFLOPS] = {gflops, NULL},
                                [INTENSITY] = {intensity, NULL},
                                [ROOF] = {roof, NULL},
                                [SHARE] = {gflops / roof, NULL},
                                [SERIES] = {0, bench_text("%s, %s", kernel, kind)}};
  return cli_table_add(table, row);
}

static TesStatus apply(void *data) {
  const BenchSubject *s = data;
  const TesStatus status = tes_operator_apply(s->op, s->b, s->y);
  return status == TES_OK ? bench_wait(s->op) : status;
}

static TesStatus measure_operator(TesContext *ctx, const BenchOptions *o, int degree, double dofs,
                                  TesPrecision precision, double rate, CliTable *table) {
  TesStatus status = TES_OK;
  BenchSubject s = {0};
  TesSpace *space;
  BenchTime time;
  TES_TRY(bench_space(ctx, 3, degree, dofs, true, &space));
  TES_TRY(bench_subject(ctx, space, false, precision, &s));
  TES_TRY(bench_time(apply, &s, o->seconds, &time));
  const TesCost cost = tes_operator_info(s.op).cost;
  if (!add(degree, precision, "operator", (double)tes_space_dofs(space), 1e3 * time.median,
           1e-9 * cost.flops / time.median, cost.flops / cost.bytes, rate, table))
    status = TES_OUT_OF_MEMORY;
done:
  bench_subject_release(&s);
  return status;
}

/* Bytes of shared memory that the contractions of all patches move in a sweep. TesCost gives the number of patches. */
static double shared_bytes(const CliCell *row, TesPrecision precision) {
  const int degree = (int)row[BENCH_VARIANT_DEGREE].number;
  const double patches = pow(row[BENCH_VARIANT_CELLS].number + 1.0 / degree, 3);
  return patches * bench_ladder_accesses(bench_ladder_find(row[BENCH_VARIANT_NAME].text), 3, degree) *
         (double)tesi_precision_size(precision);
}

static TesStatus measure_sweeps(TesContext *ctx, const BenchOptions *o, int degree, double dofs,
                                TesPrecision precision, double rate, CliTable *table) {
  TesStatus status = TES_OK;
  const bool shared = o->figure == 20;
  BenchResult scratch;
  BenchOptions quiet = *o;
  quiet.common.verbosity = TES_QUIET;
  bench_variants_begin(&quiet, &scratch);
  TES_TRY(bench_variants_measure(ctx, &quiet, shared ? "conflict_free lines even_odd" : "rows conflict_free",
                                 3, degree, dofs, precision, &scratch.table));
  for (int r = 0; r < scratch.table.rows; r++) {
    const CliCell *row = scratch.table.cells + (size_t)r * BENCH_VARIANT_COLUMNS;
    const double gflops = row[BENCH_VARIANT_GFLOPS].number, ms = row[BENCH_VARIANT_MS].number,
                 bytes = shared ? shared_bytes(row, precision) : 1e6 * row[BENCH_VARIANT_GBYTES].number * ms;
    if (!add(degree, precision, row[BENCH_VARIANT_NAME].text, row[BENCH_VARIANT_DOFS].number, ms, gflops,
             1e6 * gflops * ms / bytes, rate, table))
      TES_FAIL(TES_OUT_OF_MEMORY, "no memory for a row");
  }
done:
  cli_table_end(&scratch.table);
  return status;
}

TesStatus bench_patch_roofline(TesContext *ctx, const BenchOptions *options, BenchResult *result) {
  TesStatus status = TES_OK;
  const BenchOptions *o = options;
  const bool shared = o->figure == 20;
  double rate;
  cli_table_begin(&result->table, columns, COLUMNS, o->common.verbosity >= TES_NORMAL);
  result->plot = (CliPlot){.title = shared ? "Figure 20: roofline of shared memory (dashed), sweeps in 3D"
                                           : "Figure 19: roofline of main memory (dashed), in 3D",
                           .x_label = shared ? "operations a byte of shared memory"
                                             : "operations a byte of main memory (least traffic)",
                           .y_label = "GFLOP/s",
                           .x = INTENSITY,
                           .y = GFLOPS,
                           .series = SERIES,
                           .beside = {{.y = ROOF, .name = "roof"}},
                           .log_x = true,
                           .log_y = true};
  if (!tesi_has_kernels(ctx))
    TES_FAIL(TES_MISSING, "these figures are of kernels: --device cuda or emulator");
  TES_TRY(shared ? bench_shared_rate(ctx, &rate) : bench_copy_rate(ctx, &rate));
  for (int precision = TES_DOUBLE; precision <= TES_SINGLE; precision++)
    for (int k = 0; k < o->degrees; k++)
      for (int s = 0; s < o->sizes && !tesi_context_interrupted(ctx); s++) {
        if (!(precision == TES_DOUBLE ? o->double_precision : o->single_precision)) continue;
        if (!shared)
          TES_TRY(measure_operator(ctx, o, o->degree[k], o->dofs[s], (TesPrecision)precision, rate,
                                   &result->table));
        TES_TRY(
            measure_sweeps(ctx, o, o->degree[k], o->dofs[s], (TesPrecision)precision, rate, &result->table));
      }
done:
  return status;
}
