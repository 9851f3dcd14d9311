/* tessera bench smoother --variant: the patch kernels for comparison, each checked against the sweep of programs.
 * blocks: number on a multiprocessor at one time. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "bench.h"
#include "device/kernel.h"
#include "kernels/patch_ladder.h"

enum { COLUMNS = BENCH_VARIANT_COLUMNS };

static const CliColumn columns[COLUMNS] = {[BENCH_VARIANT_DEGREE] = {"degree", 6, 0},
                                           [BENCH_VARIANT_PRECISION] = {"precision", 9, -1},
                                           [BENCH_VARIANT_NAME] = {"variant", 31, -1},
                                           [BENCH_VARIANT_CELLS] = {"cells", 6, 0},
                                           [BENCH_VARIANT_DOFS] = {"dofs", 10, 0},
                                           [BENCH_VARIANT_MS] = {"sweep_ms", 10, 3},
                                           [BENCH_VARIANT_FASTEST] = {"fastest_ms", 10, 3},
                                           [BENCH_VARIANT_SPREAD] = {"spread", 7, 3},
                                           [BENCH_VARIANT_PS] = {"ps_per_dof", 10, 1},
                                           [BENCH_VARIANT_GFLOPS] = {"gflops", 9, 1},
                                           [BENCH_VARIANT_GBYTES] = {"gbytes_per_s", 12, 1},
                                           [BENCH_VARIANT_DIFFERENCE] = {"difference", 10, -2},
                                           [BENCH_VARIANT_DIM] = {"dim", 3, 0},
                                           [BENCH_VARIANT_PATCHES] = {"patches", 7, 0},
                                           [BENCH_VARIANT_BLOCKS] = {"blocks", 6, 0},
                                           [BENCH_VARIANT_RATE] = {"gdofs_per_s", 11, 3},
                                           [BENCH_VARIANT_SERIES] = {"series", 0, -1}};

static TesStatus sweep(void *data) {
  const BenchSubject *s = data;
  const TesStatus status = tes_smoother_apply(s->smoother, s->b, s->x, TES_FORWARD, false);
  return status == TES_OK ? bench_wait(s->op) : status;
}

static TesStatus prepare(TesContext *ctx, int dim, int degree, double dofs, TesPrecision precision,
                         BenchSubject *s) {
  TesStatus status = TES_OK;
  TesSpace *space;
  TES_TRY(bench_space(ctx, dim, degree, dofs, true, &space));
  TES_TRY(bench_subject(ctx, space, false, precision, s));
  status = tes_vector_create(ctx, tes_space_length(space), precision, &s->x);
  if (status != TES_OK) bench_subject_release(s);
done:
  return status;
}

/* Largest difference between one sweep from zero and the sweep of programs (kept in y), divided by the latter's
 * largest value. */
static TesStatus compare(TesContext *ctx, BenchSubject *s, double *difference) {
  TesStatus status = TES_OK;
  double largest, rest;
  TES_TRY(tes_smoother_apply(s->smoother, s->b, s->x, TES_FORWARD, true));
  TES_TRY(tes_vector_maximum(s->y, &largest));
  TES_TRY(tes_vector_axpy(-1, s->y, s->x));
  TES_TRY(tes_vector_maximum(s->x, &rest));
  *difference = rest / largest;
done:
  return status;
}

/* The name of a line of the plot. */
static const char *series_of(const BenchOptions *o, int dim, int degree, TesPrecision precision,
                             const char *name) {
  const char *kind =
      o->single_precision && o->double_precision ? precision == TES_DOUBLE ? ", float64" : ", float32" : "";
  if (o->figure == 7) return bench_text("%dD Q%d%s", dim, degree, kind);
  return o->dims > 1 ? bench_text("%dD %s%s", dim, name, kind) : bench_text("%s%s", name, kind);
}

/* variant NULL: the smoother of programs. */
static TesStatus measure(TesContext *ctx, const BenchOptions *o, BenchSubject *s,
                         const BenchLadderVariant *variant, CliTable *table) {
  TesStatus status = TES_OK;
  BenchTime time;
  BenchLadderBlock block = {0};
  double difference = NAN;
  const char *name = variant ? variant->name : "rows";
  if (!variant || !variant->data) TES_TRY(compare(ctx, s, &difference));
  if (variant) TES_TRY(bench_ladder_block(s->smoother, BENCH_LADDER_SOLVE, &block));
  TES_TRY(bench_time(sweep, s, o->seconds, &time));
  const TesSpace *space = s->space;
  const TesPrecision precision = tes_vector_precision(s->x);
  const TesMeshInfo mesh = tes_mesh_info(tes_space_mesh(space));
  const double unknowns = (double)tes_space_dofs(space);
  const TesCost cost = tes_smoother_cost(s->smoother);
  const CliCell row[COLUMNS] = {
      [BENCH_VARIANT_DEGREE] = {tes_space_degree(space), NULL},
      [BENCH_VARIANT_PRECISION] = {0, precision == TES_DOUBLE ? "double" : "single"},
      [BENCH_VARIANT_NAME] = {0, name},
      [BENCH_VARIANT_CELLS] = {mesh.cells_along[0], NULL},
      [BENCH_VARIANT_DOFS] = {unknowns, NULL},
      [BENCH_VARIANT_MS] = {1e3 * time.median, NULL},
      [BENCH_VARIANT_FASTEST] = {1e3 * time.fastest, NULL},
      [BENCH_VARIANT_SPREAD] = {(time.slowest - time.fastest) / time.median / 2, NULL},
      [BENCH_VARIANT_PS] = {1e12 * time.median / unknowns, NULL},
      [BENCH_VARIANT_GFLOPS] = {1e-9 * cost.flops / time.median, NULL},
      [BENCH_VARIANT_GBYTES] = {1e-9 * cost.bytes / time.median, NULL},
      [BENCH_VARIANT_DIFFERENCE] = {difference, NULL},
      [BENCH_VARIANT_DIM] = {mesh.dim, NULL},
      [BENCH_VARIANT_PATCHES] = {variant ? block.patches : NAN, NULL},
      [BENCH_VARIANT_BLOCKS] = {block.resident ? block.resident : NAN, NULL},
      [BENCH_VARIANT_RATE] = {1e-9 * unknowns / time.median, NULL},
      [BENCH_VARIANT_SERIES] = {0, series_of(o, mesh.dim, tes_space_degree(space), precision, name)}};
  if (!cli_table_add(table, row)) status = TES_OUT_OF_MEMORY;
done:
  return status;
}

/* All smoothers are created before the first is measured, so that their kernels are compiled at the same time. */
TesStatus bench_variants_measure(TesContext *ctx, const BenchOptions *o, const char *names, int dim,
                                 int degree, double dofs, TesPrecision precision, CliTable *table) {
  enum { MOST = 40 };
  TesStatus status = TES_OK;
  BenchSubject s;
  TesSmoother *smoother[MOST] = {NULL};
  const BenchLadderVariant *const all = bench_ladder_variants;
  TES_TRY(prepare(ctx, dim, degree, dofs, precision, &s));
  for (int i = 0; i < MOST && all[i].name; i++)
    if ((!names || bench_has_name(names, all[i].name)) && bench_ladder_serves(&all[i], s.op))
      TES_TRY(bench_ladder_create(ctx, s.op, &all[i], &smoother[i]));
  TES_TRY(tes_smoother_create(ctx, &(TesSmootherDesc){.op = s.op, .kind = TES_SMOOTHER_PATCH}, &s.smoother));
  TES_TRY(tes_smoother_apply(s.smoother, s.b, s.y, TES_FORWARD, true));
  if (!names || bench_has_name(names, "rows")) TES_TRY(measure(ctx, o, &s, NULL, table));
  for (int i = 0; i < MOST && all[i].name && !tesi_context_interrupted(ctx); i++) {
    if (!smoother[i]) continue;
    tes_smoother_destroy(&s.smoother);
    s.smoother = smoother[i];
    smoother[i] = NULL;
    TES_TRY(measure(ctx, o, &s, &all[i], table));
  }
done:
  for (int i = 0; i < MOST; i++) tes_smoother_destroy(&smoother[i]);
  bench_subject_release(&s);
  return status;
}

static void list_variants(void) {
  printf("  %-18s %s\n", "rows", "the kernel of programs: rows of patches, both x-colours in one launch");
  for (const BenchLadderVariant *v = bench_ladder_variants; v->name; v++)
    printf("  %-18s %s\n", v->name, v->text);
}

void bench_variants_begin(const BenchOptions *o, BenchResult *result) {
  cli_table_begin(&result->table, columns, COLUMNS,
                  o->common.verbosity >= TES_NORMAL && (!o->variant || strcmp(o->variant, "list") != 0));
  result->plot = (CliPlot){.title = "one smoothing sweep, variants",
                           .x_label = "degree",
                           .y_label = "ps an unknown",
                           .x = BENCH_VARIANT_DEGREE,
                           .y = BENCH_VARIANT_PS,
                           .series = BENCH_VARIANT_SERIES};
}

TesStatus bench_variants(TesContext *ctx, const BenchOptions *options, BenchResult *result) {
  TesStatus status = TES_OK;
  const BenchOptions *o = options;
  const bool all = !strcmp(o->variant, "all");
  bench_variants_begin(o, result);
  if (!strcmp(o->variant, "list")) {
    list_variants();
    return TES_OK;
  }
  TES_CHECK(all || !strcmp(o->variant, "rows") || bench_ladder_find(o->variant),
            "there is no variant '%s': see --variant list", o->variant);
  if (!tesi_has_kernels(ctx)) TES_FAIL(TES_MISSING, "variants are kernels: --device cuda or emulator");
  for (int precision = TES_DOUBLE; precision <= TES_SINGLE; precision++)
    for (int d = 0; d < o->dims; d++)
      for (int k = 0; k < o->degrees; k++)
        for (int s = 0; s < o->sizes; s++) {
          if (tesi_context_interrupted(ctx)) goto done;
          if (o->degree[k] <= 8 && (precision == TES_DOUBLE ? o->double_precision : o->single_precision))
            TES_TRY(bench_variants_measure(ctx, o, all ? NULL : o->variant, o->dim[d], o->degree[k],
                                           o->dofs[s], (TesPrecision)precision, &result->table));
        }
done:
  return status;
}
