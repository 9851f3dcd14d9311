/* tessera bench patch-figures: the figures of patch-smoothers-cui-2024 that compare kernels (3, 5, 7, 8, 9, 15, 17)
 * and solves over sizes (18), each from its own table, beside the paper's results. Its figures have no numbers, but
 * its Tables 5 to 7 have some. Shares of the time (10 to 12, 16) are in patch_shares.c, rooflines (19, 20) in
 * patch_roofline.c. */
#include <math.h>
#include <string.h>
#include "bench.h"
#include "device/kernel.h"
#include "kernels/patch_published.h"

/* `variants`: of bench/kernels/patch_ladder.c; "rows" is the smoother of programs. */
typedef struct Figure {
  int number;
  const char *title, *variants;
} Figure;
static const Figure figures[] = {
    {3, "Figure 3: local solves by a dense inverse and by fast diagonalization", "dense conflict_free"},
    {5, "Figure 5: a thread a line (fused) and a thread a node (blocks_3d)", "fused blocks_3d"},
    {7, "Figure 7: patches a block of threads",
     "patches_1 patches_2 patches_4 patches_8 patches_16 patches_32"},
    {8, "Figure 8: one patch and several a block of threads",
     "patches_1 patches_2 patches_4 patches_8 patches_16 patches_32"},
    {9, "Figure 9: global, separate and fused kernels, basic", "global separate_basic fused"},
    {15, "Figure 15: steps of the fused kernel, and the kernel of programs (rows)",
     "fused linear_layers layers boundary_layers conflict_free rows"},
    {17, "Figure 17: fused and separate kernels, conflict-free and with the boundary shortcut",
     "conflict_free boundary separate separate_boundary"}};

/* The paper's result for a kernel in this figure, as the time of a sweep of eight colours. */
static bool add_published(const BenchOptions *o, const Figure *figure, CliTable *table) {
  bool good = true;
  for (int i = 0; i < PATCH_KERNEL_TIMES && good; i++) {
    const PatchKernelTimes *p = &patch_kernel_times[i];
    if (p->part || !bench_has_name(figure->variants, p->variant) || figure->number == 7) continue;
    const double seconds = 8e-3 * p->colour_ms;
    CliCell row[BENCH_VARIANT_COLUMNS];
    for (int c = 0; c < BENCH_VARIANT_COLUMNS; c++) row[c] = (CliCell){NAN, NULL};
    row[BENCH_VARIANT_DIM].number = 3;
    row[BENCH_VARIANT_DEGREE].number = p->degree;
    row[BENCH_VARIANT_PRECISION].text = "double";
    row[BENCH_VARIANT_NAME].text = bench_text("paper, Table %d: %s", p->table, p->kernel);
    row[BENCH_VARIANT_DOFS].number = p->dofs;
    row[BENCH_VARIANT_MS].number = 1e3 * seconds;
    row[BENCH_VARIANT_PS].number = 1e12 * seconds / p->dofs;
    row[BENCH_VARIANT_RATE].number = 1e-9 * p->dofs / seconds;
    row[BENCH_VARIANT_GFLOPS].number = 0.01 * p->peak_percent * patch_peak_gflops;
    row[BENCH_VARIANT_BLOCKS].number = p->blocks;
    row[BENCH_VARIANT_SERIES].text = bench_text("%sA100, %s", o->dims > 1 ? "3D " : "", p->kernel);
    good = cli_table_add(table, row);
  }
  return good;
}

/* For rows with one patch per block and with several: the first, and the fastest of the others. */
static bool add_best(const BenchOptions *o, const CliTable *all, CliTable *table) {
  CliCell row[BENCH_VARIANT_COLUMNS];
  const CliCell *one = NULL, *best = NULL;
  for (int r = 0; r < all->rows; r++) {
    const CliCell *cells = all->cells + (size_t)r * (size_t)all->columns;
    if (cells[BENCH_VARIANT_PATCHES].number == 1)
      one = cells;
    else if (!best || cells[BENCH_VARIANT_RATE].number > best[BENCH_VARIANT_RATE].number)
      best = cells;
  }
  for (int i = 0; i < 2; i++) {
    const CliCell *from = i ? best : one;
    if (!from) continue;
    memcpy(row, from, sizeof row);
    row[BENCH_VARIANT_SERIES].text = o->dims > 1 ? bench_text("%.0fD %s", row[BENCH_VARIANT_DIM].number,
                                                              i ? "several patches" : "one patch")
                                     : i         ? "several patches"
                                                 : "one patch";
    if (!cli_table_add(table, row)) return false;
  }
  return true;
}

static TesStatus measure(TesContext *ctx, const BenchOptions *o, const Figure *figure, int dim, int degree,
                         double dofs, TesPrecision precision, CliTable *table) {
  TesStatus status = TES_OK;
  CliTable all;
  if (figure->number != 8)
    return bench_variants_measure(ctx, o, figure->variants, dim, degree, dofs, precision, table);
  cli_table_begin(&all, table->column, table->columns, false);
  TES_TRY(bench_variants_measure(ctx, o, figure->variants, dim, degree, dofs, precision, &all));
  if (!add_best(o, &all, table)) status = TES_OUT_OF_MEMORY;
done:
  cli_table_end(&all);
  return status;
}

static TesStatus draw_kernels(TesContext *ctx, const BenchOptions *o, const Figure *figure,
                              BenchResult *result) {
  TesStatus status = TES_OK;
  bench_variants_begin(o, result);
  result->plot.title = figure->title;
  result->plot.y = BENCH_VARIANT_RATE;
  result->plot.y_label = "1e9 unknowns a second, one sweep";
  if (figure->number == 7) {
    result->plot.x = BENCH_VARIANT_PATCHES;
    result->plot.x_label = "patches a block of threads";
    result->plot.log_x = true;
  }
  if (!tesi_has_kernels(ctx))
    TES_FAIL(TES_MISSING, "these figures are of kernels: --device cuda or emulator");
  for (int precision = TES_DOUBLE; precision <= TES_SINGLE; precision++)
    for (int d = 0; d < o->dims; d++)
      for (int k = 0; k < o->degrees; k++)
        for (int s = 0; s < o->sizes && !tesi_context_interrupted(ctx); s++)
          if (precision == TES_DOUBLE ? o->double_precision : o->single_precision)
            TES_TRY(measure(ctx, o, figure, o->dim[d], o->degree[k], o->dofs[s], (TesPrecision)precision,
                            &result->table));
  if (o->dim[o->dims - 1] == 3 && o->double_precision && !add_published(o, figure, &result->table))
    status = TES_OUT_OF_MEMORY;
done:
  return status;
}

/* Figure 18, with the points of Table 7. Sizes that need too much memory are left out. */
static TesStatus draw_solves(TesContext *ctx, const BenchOptions *o, BenchResult *result) {
  TesStatus status = TES_OK;
  BenchOptions one = *o;
  one.sizes = one.degrees = 1;
  bench_solver_begin(o, result);
  result->plot.title = "Figure 18: solves in 3D to 1e-9, by precision";
  for (int k = 0; k < o->degrees; k++) {
    one.degree[0] = o->degree[k];
    for (int s = 0; s < o->sizes && !tesi_context_interrupted(ctx); s++) {
      one.dofs[0] = o->dofs[s];
      status = bench_solver_rows(ctx, &one, &result->table);
      if (status == TES_OUT_OF_MEMORY) tes_context_clear(ctx), status = TES_OK;
      TES_TRY(status);
    }
    TES_TRY(bench_solver_published(o->degree[k], &result->table));
  }
done:
  return status;
}

TesStatus bench_patch_figures(TesContext *ctx, const BenchOptions *options, BenchResult *result) {
  for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
    if (figures[i].number == options->figure) return draw_kernels(ctx, options, &figures[i], result);
  return options->figure == 18  ? draw_solves(ctx, options, result)
         : options->figure > 18 ? bench_patch_roofline(ctx, options, result)
                                : bench_patch_shares(ctx, options, result);
}
