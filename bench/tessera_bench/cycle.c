/* tessera bench cycle: the time of a V-cycle by part and by level (patch-smoothers-cui-2024, Figures 10 to 12 and
 * 16). Each part is timed separately on every level: two smoothing sweeps, one residual, restriction and
 * prolongation, and the solver of the coarsest level. */
#include <string.h>
#include "bench.h"

enum {
  DIM,
  DEGREE,
  PRECISION,
  LEVEL,
  CELLS,
  DOFS,
  SMOOTH,
  RESIDUAL,
  TRANSFER,
  COARSE,
  SUM,
  SHARE,
  SERIES,
  COLUMNS
};

static const CliColumn columns[COLUMNS] = {
    [DIM] = {"dim", 3, 0},           [DEGREE] = {"degree", 6, 0},         [PRECISION] = {"precision", 9, -1},
    [LEVEL] = {"level", 5, 0},       [CELLS] = {"cells", 6, 0},           [DOFS] = {"dofs", 10, 0},
    [SMOOTH] = {"smooth_ms", 10, 3}, [RESIDUAL] = {"residual_ms", 11, 3}, [TRANSFER] = {"transfer_ms", 11, 3},
    [COARSE] = {"coarse_ms", 10, 3}, [SUM] = {"sum_ms", 10, 3},           [SHARE] = {"percent", 7, 1},
    [SERIES] = {"series", 6, -1}};

/* The objects of a level; the coarsest level only has `coarse`. */
typedef struct Parts {
  TesMultigridLevel level;
  TesTransfer *transfer;
  TesMultigrid *coarse;
  TesVector *b, *x, *below;
} Parts;

static void release(Parts *p) {
  tes_transfer_destroy(&p->transfer);
  tes_multigrid_destroy(&p->coarse);
  tes_vector_destroy(&p->b);
  tes_vector_destroy(&p->x);
  tes_vector_destroy(&p->below);
}

static TesStatus end(const Parts *p, TesStatus status) {
  return status == TES_OK ? bench_wait(p->level.op) : status;
}

static TesStatus smooth(void *data) {
  const Parts *p = data;
  TesStatus status = tes_smoother_apply(p->level.smoother, p->b, p->x, TES_FORWARD, true);
  if (status == TES_OK) status = tes_smoother_apply(p->level.smoother, p->b, p->x, TES_FORWARD, false);
  return end(p, status);
}

static TesStatus residual(void *data) {
  const Parts *p = data;
  return end(p, tes_operator_apply(p->level.op, p->b, p->x));
}

static TesStatus transfer(void *data) {
  const Parts *p = data;
  TesStatus status = tes_transfer_restrict(p->transfer, p->b, p->below);
  if (status == TES_OK) status = tes_transfer_prolongate(p->transfer, p->below, true, p->x);
  return end(p, status);
}

static TesStatus coarse(void *data) {
  const Parts *p = data;
  return end(p, tes_multigrid_cycle(p->coarse, p->b, p->x, true));
}

static TesStatus prepare(TesContext *ctx, const TesMultigrid *mg, int l, Parts *p) {
  TesStatus status = TES_OK;
  *p = (Parts){.level = tes_multigrid_level(mg, l)};
  const TesPrecision precision = tes_operator_info(p->level.op).precision;
  const int64_t length = tes_space_length(p->level.space);
  TES_TRY(tes_vector_create(ctx, length, precision, &p->b));
  TES_TRY(tes_vector_create(ctx, length, precision, &p->x));
  TES_TRY(bench_random(p->level.space, p->b));
  if (l == 0) {
    TES_TRY(tes_multigrid_create(
        ctx, &(TesMultigridDesc){.op = p->level.op, .precision = precision, .coarsening = TES_COARSEN_NONE},
        &p->coarse));
    goto done;
  }
  const TesSpace *below = tes_multigrid_level(mg, l - 1).space;
  TES_TRY(tes_transfer_create(
      ctx, &(TesTransferDesc){.coarse = below, .fine = p->level.space, .precision = precision}, &p->transfer));
  TES_TRY(tes_vector_create(ctx, tes_space_length(below), precision, &p->below));
done:
  if (status != TES_OK) release(p);
  return status;
}

/* ms <- milliseconds of the parts of a level. */
static TesStatus measure_level(TesContext *ctx, const BenchOptions *o, const TesMultigrid *mg, int l,
                               double ms[BENCH_PARTS]) {
  static const BenchCall calls[BENCH_PARTS] = {
      [BENCH_SMOOTH] = smooth, [BENCH_RESIDUAL] = residual, [BENCH_TRANSFER] = transfer, [BENCH_COARSE] = coarse};
  TesStatus status = TES_OK;
  Parts parts;
  TES_TRY(prepare(ctx, mg, l, &parts));
  for (int i = 0; i < BENCH_PARTS; i++) {
    BenchTime time = {0};
    if ((i == BENCH_COARSE) == (l == 0)) status = bench_time(calls[i], &parts, o->seconds, &time);
    if (status != TES_OK) break;
    ms[i] = 1e3 * time.median;
  }
  release(&parts);
done:
  return status;
}

double bench_sum(const double *values, int count) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += values[i];
  return sum;
}

static TesStatus add_rows(const TesMultigrid *mg, TesPrecision precision, double (*const ms)[BENCH_PARTS],
                          CliTable *table) {
  const int levels = tes_multigrid_levels(mg);
  const double all = bench_sum(ms[0], levels * BENCH_PARTS);
  for (int l = levels - 1; l >= 0; l--) {
    const TesSpace *space = tes_multigrid_level(mg, l).space;
    const TesMeshInfo mesh = tes_mesh_info(tes_space_mesh(space));
    const double sum = bench_sum(ms[l], BENCH_PARTS);
    const CliCell row[COLUMNS] = {[DIM] = {mesh.dim, NULL},
                                  [DEGREE] = {tes_space_degree(space), NULL},
                                  [PRECISION] = {0, precision == TES_DOUBLE ? "double" : "single"},
                                  [LEVEL] = {l, NULL},
                                  [CELLS] = {mesh.cells_along[0], NULL},
                                  [DOFS] = {(double)tes_space_dofs(space), NULL},
                                  [SMOOTH] = {ms[l][BENCH_SMOOTH], NULL},
                                  [RESIDUAL] = {ms[l][BENCH_RESIDUAL], NULL},
                                  [TRANSFER] = {ms[l][BENCH_TRANSFER], NULL},
                                  [COARSE] = {ms[l][BENCH_COARSE], NULL},
                                  [SUM] = {sum, NULL},
                                  [SHARE] = {100 * sum / all, NULL},
                                  [SERIES] = {0, bench_text("%dD Q%d", mesh.dim, tes_space_degree(space))}};
    if (!cli_table_add(table, row)) return TES_OUT_OF_MEMORY;
  }
  return TES_OK;
}

TesStatus bench_cycle_multigrid(TesContext *ctx, const BenchOptions *o, int dim, int degree, double dofs,
                                TesPrecision precision, TesMultigrid **mg) {
  TesStatus status = TES_OK;
  TesSpace *space = NULL;
  TesFunction *a = NULL;
  TesOperator *op = NULL;
  *mg = NULL;
  TES_TRY(bench_space(ctx, dim, degree, dofs, true, &space));
  TES_TRY(bench_coefficient(ctx, o->variable, &a));
  TES_TRY(tes_operator_create(
      ctx, &(TesOperatorDesc){.space = space, .form = {.terms = 1, .term = &(TesTermDesc){.a = {.all = a}}}},
      &op));
  TES_TRY(tes_multigrid_create(
      ctx, &(TesMultigridDesc){.op = op, .precision = precision, .smoother = {.kind = o->smoother}}, mg));
done:
  tes_operator_destroy(&op);
  tes_function_destroy(&a);
  tes_space_destroy(&space);
  return status;
}

TesStatus bench_cycle_times(TesContext *ctx, const BenchOptions *o, const TesMultigrid *mg,
                            double ms[BENCH_LEVELS][BENCH_PARTS]) {
  TesStatus status = TES_OK;
  const int levels = tes_multigrid_levels(mg);
  memset(ms, 0, BENCH_LEVELS * sizeof *ms);
  TES_CHECK(levels <= BENCH_LEVELS, "%d levels, expected at most %d", levels, BENCH_LEVELS);
  for (int l = 0; l < levels; l++) TES_TRY(measure_level(ctx, o, mg, l, ms[l]));
done:
  return status;
}

static TesStatus measure(TesContext *ctx, const BenchOptions *o, int dim, int degree, double dofs,
                         TesPrecision precision, CliTable *table) {
  TesStatus status = TES_OK;
  TesMultigrid *mg = NULL;
  double ms[BENCH_LEVELS][BENCH_PARTS];
  TES_TRY(bench_cycle_multigrid(ctx, o, dim, degree, dofs, precision, &mg));
  TES_TRY(bench_cycle_times(ctx, o, mg, ms));
  TES_TRY(add_rows(mg, precision, ms, table));
done:
  tes_multigrid_destroy(&mg);
  return status;
}

TesStatus bench_cycle(TesContext *ctx, const BenchOptions *options, BenchResult *result) {
  TesStatus status = TES_OK;
  const BenchOptions *o = options;
  cli_table_begin(&result->table, columns, COLUMNS, o->common.verbosity >= TES_NORMAL);
  result->plot = (CliPlot){.title = "share of a V-cycle by level",
                           .x_label = "level",
                           .y_label = "percent of the time",
                           .x = LEVEL,
                           .y = SHARE,
                           .series = SERIES};
  for (int precision = TES_DOUBLE; precision <= TES_SINGLE; precision++)
    for (int d = 0; d < o->dims; d++)
      for (int k = 0; k < o->degrees; k++)
        for (int s = 0; s < o->sizes && !tesi_context_interrupted(ctx); s++)
          if (precision == TES_DOUBLE ? o->double_precision : o->single_precision)
            TES_TRY(measure(ctx, o, o->dim[d], o->degree[k], o->dofs[s], (TesPrecision)precision,
                            &result->table));
done:
  return status;
}
