/* tessera bench smoother --variant: the patch kernels that are there to be compared, each checked against the sweep
 * of programs. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "bench.h"
#include "device/kernel.h"
#include "kernels/patch_ladder.h"

enum {
  DEGREE,
  PRECISION,
  VARIANT,
  CELLS,
  DOFS,
  MS,
  FASTEST,
  SPREAD,
  PS,
  GFLOPS,
  GBYTES,
  DIFFERENCE,
  COLUMNS
};

static const CliColumn columns[COLUMNS] = {
    [DEGREE] = {"degree", 6, 0},        [PRECISION] = {"precision", 9, -1},
    [VARIANT] = {"variant", 17, -1},    [CELLS] = {"cells", 6, 0},
    [DOFS] = {"dofs", 10, 0},           [MS] = {"sweep_ms", 10, 3},
    [FASTEST] = {"fastest_ms", 10, 3},  [SPREAD] = {"spread", 7, 3},
    [PS] = {"ps_per_dof", 10, 1},       [GFLOPS] = {"gflops", 9, 1},
    [GBYTES] = {"gbytes_per_s", 12, 1}, [DIFFERENCE] = {"difference", 10, -2}};

static TesStatus sweep(void *data) {
  const BenchSubject *s = data;
  const TesStatus status = tes_smoother_apply(s->smoother, s->b, s->x, TES_FORWARD, false);
  return status == TES_OK ? bench_wait(s->op) : status;
}

static TesStatus prepare(TesContext *ctx, int degree, double dofs, TesPrecision precision, BenchSubject *s) {
  TesStatus status = TES_OK;
  TesSpace *space;
  TES_TRY(bench_space(ctx, 3, degree, dofs, true, &space));
  TES_TRY(bench_subject(ctx, space, false, precision, s));
  status = tes_vector_create(ctx, tes_space_length(space), precision, &s->x);
  if (status != TES_OK) bench_subject_release(s);
done:
  return status;
}

/* Largest difference between one sweep from zero and that of programs (kept in y), relative to the latter's largest
 * value. */
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

static TesStatus measure(TesContext *ctx, const BenchOptions *o, BenchSubject *s, const char *name,
                         CliTable *table) {
  TesStatus status = TES_OK;
  BenchTime time;
  double difference;
  TES_TRY(compare(ctx, s, &difference));
  TES_TRY(bench_time(sweep, s, o->seconds, &time));
  const TesSpace *space = s->space;
  const double unknowns = (double)tes_space_dofs(space);
  const TesCost cost = tes_smoother_cost(s->smoother);
  const CliCell row[COLUMNS] = {
      [DEGREE] = {tes_space_degree(space), NULL},
      [PRECISION] = {0, tes_vector_precision(s->x) == TES_DOUBLE ? "double" : "single"},
      [VARIANT] = {0, name},
      [CELLS] = {tes_mesh_info(tes_space_mesh(space)).cells_along[0], NULL},
      [DOFS] = {unknowns, NULL},
      [MS] = {1e3 * time.median, NULL},
      [FASTEST] = {1e3 * time.fastest, NULL},
      [SPREAD] = {(time.slowest - time.fastest) / time.median / 2, NULL},
      [PS] = {1e12 * time.median / unknowns, NULL},
      [GFLOPS] = {1e-9 * cost.flops / time.median, NULL},
      [GBYTES] = {1e-9 * cost.bytes / time.median, NULL},
      [DIFFERENCE] = {difference, NULL}};
  if (!cli_table_add(table, row)) status = TES_OUT_OF_MEMORY;
done:
  return status;
}

/* The smoother of programs first ("rows"), then all variants that serve. */
static TesStatus measure_space(TesContext *ctx, const BenchOptions *o, int degree, double dofs,
                               TesPrecision precision, CliTable *table) {
  TesStatus status = TES_OK;
  BenchSubject s;
  TES_TRY(prepare(ctx, degree, dofs, precision, &s));
  TES_TRY(tes_smoother_create(ctx, &(TesSmootherDesc){.op = s.op, .kind = TES_SMOOTHER_PATCH}, &s.smoother));
  TES_TRY(tes_smoother_apply(s.smoother, s.b, s.y, TES_FORWARD, true));
  if (!strcmp(o->variant, "all") || !strcmp(o->variant, "rows")) TES_TRY(measure(ctx, o, &s, "rows", table));
  tes_smoother_destroy(&s.smoother);
  for (const BenchLadderVariant *v = bench_ladder_variants; v->name && !tesi_context_interrupted(ctx); v++) {
    if ((strcmp(o->variant, "all") && strcmp(o->variant, v->name)) || !bench_ladder_serves(v, s.op)) continue;
    TES_TRY(bench_ladder_create(ctx, s.op, v, &s.smoother));
    TES_TRY(measure(ctx, o, &s, v->name, table));
    tes_smoother_destroy(&s.smoother);
  }
done:
  bench_subject_release(&s);
  return status;
}

static void list_variants(void) {
  printf("  %-18s %s\n", "rows", "the kernel of programs: rows of patches, both x-colours in one launch");
  for (const BenchLadderVariant *v = bench_ladder_variants; v->name; v++)
    printf("  %-18s %s\n", v->name, v->text);
}

TesStatus bench_variants(TesContext *ctx, const BenchOptions *options, BenchResult *result) {
  TesStatus status = TES_OK;
  const BenchOptions *o = options;
  const bool named = strcmp(o->variant, "all") && strcmp(o->variant, "rows");
  cli_table_begin(&result->table, columns, COLUMNS,
                  o->common.verbosity >= TES_NORMAL && strcmp(o->variant, "list"));
  result->plot = (CliPlot){.title = "one smoothing sweep, variants",
                           .x_label = "degree",
                           .y_label = "ps an unknown",
                           .x = DEGREE,
                           .y = PS,
                           .series = VARIANT};
  if (!strcmp(o->variant, "list")) {
    list_variants();
    return TES_OK;
  }
  TES_CHECK(!named || bench_ladder_find(o->variant), "there is no variant '%s': see --variant list",
            o->variant);
  if (!tesi_has_kernels(ctx)) TES_FAIL(TES_MISSING, "variants are kernels: --device cuda or emulator");
  for (int precision = TES_DOUBLE; precision <= TES_SINGLE; precision++)
    for (int k = 0; k < o->degrees; k++)
      for (int s = 0; s < o->sizes; s++) {
        if (tesi_context_interrupted(ctx)) goto done;
        if (o->degree[k] <= 8 && (precision == TES_DOUBLE ? o->double_precision : o->single_precision))
          TES_TRY(measure_space(ctx, o, o->degree[k], o->dofs[s], (TesPrecision)precision, &result->table));
      }
done:
  return status;
}
