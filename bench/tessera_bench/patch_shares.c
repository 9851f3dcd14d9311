/* tessera bench patch-figures --figure 10, 11, 12, 16: the time of a solve by part, as in patch-smoothers-cui-2024:
 * GMRES in float64, preconditioned by V-cycles in float32. Parts of a cycle are timed separately. The time of GMRES
 * is the time of the solve minus its cycles; it is negative if a recorded cycle is faster than its parts. 10: seconds
 * for 1e9 unknowns by part; 11: shares by part; 12: by level; 16: by part in 3D, with the paper's basic kernel on the
 * finest level, and with the kernel that has the boundary shortcut. */
#include <string.h>
#include "bench.h"
#include "device/kernel.h"

enum { DIM, DEGREE, KERNEL, PART, LEVEL, DOFS, ITERATIONS, MS, SHARE, EACH, SERIES, COLUMNS };

static const CliColumn columns[COLUMNS] = {[DIM] = {"dim", 3, 0},
                                           [DEGREE] = {"degree", 6, 0},
                                           [KERNEL] = {"kernel", 8, -1},
                                           [PART] = {"part", 26, -1},
                                           [LEVEL] = {"level", 5, 0},
                                           [DOFS] = {"dofs", 10, 0},
                                           [ITERATIONS] = {"iterations", 10, 0},
                                           [MS] = {"iteration_ms", 12, 3},
                                           [SHARE] = {"percent", 7, 1},
                                           [EACH] = {"s_per_gdof", 10, 4},
                                           [SERIES] = {"series", 0, -1}};

/* For one space: a V-cycle, and the solve with it. */
typedef struct Shares {
  const BenchOptions *options;
  int dim, degree, levels, iterations;
  double dofs, seconds; /* of the solve */
  double ms[BENCH_LEVELS][BENCH_PARTS];
} Shares;

static bool add(const Shares *s, const char *kernel, const char *part, int level, double ms, double all,
                CliTable *table) {
  const char *name = s->options->figure == 12 ? bench_text("Q%d", s->degree) : part;
  const char *series = s->options->figure == 16 ? bench_text("%s: %s", kernel, name)
                       : s->options->dims > 1   ? bench_text("%dD %s", s->dim, name)
                                                : name;
  const CliCell row[COLUMNS] = {[DIM] = {s->dim, NULL},
                                [DEGREE] = {s->degree, NULL},
                                [KERNEL] = {0, kernel},
                                [PART] = {0, part},
                                [LEVEL] = {level, NULL},
                                [DOFS] = {s->dofs, NULL},
                                [ITERATIONS] = {s->iterations, NULL},
                                [MS] = {ms, NULL},
                                [SHARE] = {100 * ms / all, NULL},
                                [EACH] = {1e6 * ms * s->iterations / s->dofs, NULL},
                                [SERIES] = {0, series}};
  return cli_table_add(table, row);
}

/* Milliseconds of an iteration of the solve, with this smoothing on the finest level. */
static bool add_parts(const Shares *s, const char *kernel, double smooth, CliTable *table) {
  const int finest = s->levels - 1;
  const double *top = s->ms[finest], below = bench_sum(s->ms[0], finest * BENCH_PARTS),
               cycle = below + bench_sum(top, BENCH_PARTS),
               outside = s->iterations ? 1e3 * s->seconds / s->iterations - cycle : 0,
               all = cycle + outside + smooth - top[BENCH_SMOOTH];
  return add(s, kernel, "finest level: sweeps", finest, smooth, all, table) &&
         add(s, kernel, "finest level: residual", finest, top[BENCH_RESIDUAL], all, table) &&
         add(s, kernel, "finest level: transfers", finest, top[BENCH_TRANSFER], all, table) &&
         add(s, kernel, "coarser levels", finest - 1, below, all, table) &&
         add(s, kernel, "GMRES", finest, outside, all, table);
}

static bool add_levels(const Shares *s, CliTable *table) {
  const double all = bench_sum(s->ms[0], s->levels * BENCH_PARTS);
  for (int l = s->levels - 1; l >= 0; l--)
    if (!add(s, "rows", "all of the level", l, bench_sum(s->ms[l], BENCH_PARTS), all, table)) return false;
  return true;
}

/* Two sweeps of the paper's kernels on the finest level, in float32. */
static TesStatus add_kernels(TesContext *ctx, const Shares *s, double dofs, CliTable *table) {
  TesStatus status = TES_OK;
  BenchResult sweeps;
  BenchOptions quiet = *s->options;
  quiet.common.verbosity = TES_QUIET;
  bench_variants_begin(&quiet, &sweeps);
  TES_TRY(bench_variants_measure(ctx, &quiet, "fused boundary_layers", s->dim, s->degree, dofs, TES_SINGLE,
                                 &sweeps.table));
  for (int r = 0; r < sweeps.table.rows; r++) {
    const CliCell *row = sweeps.table.cells + (size_t)r * BENCH_VARIANT_COLUMNS;
    const bool basic = !strcmp(row[BENCH_VARIANT_NAME].text, "fused");
    if (!add_parts(s, basic ? "basic" : "boundary", 2 * row[BENCH_VARIANT_MS].number, table))
      TES_FAIL(TES_OUT_OF_MEMORY, "no memory for a row");
  }
done:
  cli_table_end(&sweeps.table);
  return status;
}

static TesStatus measure(TesContext *ctx, const BenchOptions *o, int dim, int degree, double dofs,
                         CliTable *table) {
  TesStatus status = TES_OK;
  TesMultigrid *mg = NULL;
  Shares s = {.options = o, .dim = dim, .degree = degree};
  bool good;
  TES_TRY(bench_cycle_multigrid(ctx, o, dim, degree, dofs, TES_SINGLE, &mg));
  TES_TRY(bench_cycle_times(ctx, o, mg, s.ms));
  s.levels = tes_multigrid_levels(mg);
  tes_multigrid_destroy(&mg);
  TES_TRY(bench_solver_once(ctx, o, dim, degree, dofs, &s.dofs, &s.seconds, &s.iterations));
  good = o->figure == 12 ? add_levels(&s, table)
                         : add_parts(&s, "rows", s.ms[s.levels - 1][BENCH_SMOOTH], table);
  if (!good) TES_FAIL(TES_OUT_OF_MEMORY, "no memory for a row");
  if (o->figure == 16) TES_TRY(add_kernels(ctx, &s, dofs, table));
done:
  tes_multigrid_destroy(&mg);
  return status;
}

TesStatus bench_patch_shares(TesContext *ctx, const BenchOptions *options, BenchResult *result) {
  TesStatus status = TES_OK;
  const BenchOptions *o = options;
  const bool by_level = o->figure == 12;
  cli_table_begin(&result->table, columns, COLUMNS, o->common.verbosity >= TES_NORMAL);
  result->plot = (CliPlot){
      .title = bench_text("Figure %d: the time of a solve by %s", o->figure, by_level ? "level" : "part"),
      .x_label = by_level ? "level" : "degree",
      .y_label = o->figure == 10 ? "seconds for 1e9 unknowns" : "percent of the time",
      .x = by_level ? LEVEL : DEGREE,
      .y = o->figure == 10 ? EACH : SHARE,
      .series = SERIES};
  if (o->figure == 16 && !tesi_has_kernels(ctx))
    TES_FAIL(TES_MISSING, "figure 16 is of kernels: --device cuda or emulator");
  for (int d = 0; d < o->dims; d++)
    for (int k = 0; k < o->degrees; k++)
      for (int s = 0; s < o->sizes && !tesi_context_interrupted(ctx); s++)
        TES_TRY(measure(ctx, o, o->dim[d], o->degree[k], o->dofs[s], &result->table));
done:
  return status;
}
