/* tessera bench operator and smoother: one application or sweep, in unknowns per second, beside the floor. */
#include <math.h>
#include "bench.h"

void bench_subject_release(BenchSubject *s) {
  tes_vector_destroy(&s->b);
  tes_vector_destroy(&s->x);
  tes_vector_destroy(&s->y);
  tes_smoother_destroy(&s->smoother);
  tes_operator_destroy(&s->op);
  tes_function_destroy(&s->a);
  tes_space_destroy(&s->space);
}

TesStatus bench_subject(TesContext *ctx, TesSpace *space, bool variable, TesPrecision precision,
                        BenchSubject *s) {
  TesStatus status = TES_OK;
  *s = (BenchSubject){.space = space};
  TES_TRY(bench_coefficient(ctx, variable, &s->a));
  TES_TRY(
      tes_operator_create(ctx,
                          &(TesOperatorDesc){.space = s->space,
                                             .form = {.terms = 1, .term = &(TesTermDesc){.a = {.all = s->a}}},
                                             .precision = precision},
                          &s->op));
  TES_TRY(tes_vector_create(ctx, tes_space_length(s->space), precision, &s->b));
  TES_TRY(tes_vector_create(ctx, tes_space_length(s->space), precision, &s->y));
  TES_TRY(bench_random(s->space, s->b));
done:
  if (status != TES_OK) bench_subject_release(s);
  return status;
}

static TesStatus apply(void *data) {
  const BenchSubject *s = data;
  const TesStatus status = tes_operator_apply(s->op, s->b, s->y);
  return status == TES_OK ? bench_wait(s->op) : status;
}

static TesStatus sweep(void *data) {
  const BenchSubject *s = data;
  const TesStatus status = tes_smoother_apply(s->smoother, s->b, s->y, TES_FORWARD, false);
  return status == TES_OK ? bench_wait(s->op) : status;
}

enum {
  OP_DIM,
  OP_DEGREE,
  OP_PRECISION,
  OP_CELLS,
  OP_DOFS,
  OP_MS,
  OP_FASTEST,
  OP_RATE,
  OP_GFLOPS,
  OP_GBYTES,
  OP_FLOOR,
  OP_BOUND,
  OP_SERIES,
  OP_COLUMNS
};

static const CliColumn operator_columns[OP_COLUMNS] = {[OP_DIM] = {"dim", 3, 0},
                                                       [OP_DEGREE] = {"degree", 6, 0},
                                                       [OP_PRECISION] = {"precision", 9, -1},
                                                       [OP_CELLS] = {"cells", 6, 0},
                                                       [OP_DOFS] = {"dofs", 10, 0},
                                                       [OP_MS] = {"median_ms", 10, 3},
                                                       [OP_FASTEST] = {"fastest_ms", 10, 3},
                                                       [OP_RATE] = {"mdofs_per_s", 11, 1},
                                                       [OP_GFLOPS] = {"gflops", 8, 1},
                                                       [OP_GBYTES] = {"gbytes_per_s", 12, 1},
                                                       [OP_FLOOR] = {"share_of_floor", 14, 3},
                                                       [OP_BOUND] = {"bound", 7, -1},
                                                       [OP_SERIES] = {"series", 0, -1}};

static const char *series_name(int dim, int degree, TesPrecision precision) {
  return bench_text("%dD Q%d %s", dim, degree, precision == TES_DOUBLE ? "double" : "single");
}

static TesStatus measure_operator(TesContext *ctx, const BenchOptions *o, int dim, int degree, double dofs,
                                  TesPrecision precision, CliTable *table) {
  TesStatus status = TES_OK;
  BenchSubject s;
  TesSpace *space;
  BenchTime time;
  const char *bound;
  TES_TRY(bench_space(ctx, dim, degree, dofs, false, &space));
  TES_TRY(bench_subject(ctx, space, o->variable, precision, &s));
  status = bench_time(apply, &s, o->seconds, &time);
  if (status == TES_OK) {
    const TesCost cost = tes_operator_info(s.op).cost;
    const double unknowns = (double)tes_space_dofs(s.space), floor = bench_floor(ctx, precision, cost, &bound);
    const CliCell row[OP_COLUMNS] = {[OP_DIM] = {dim, NULL},
                                     [OP_DEGREE] = {degree, NULL},
                                     [OP_PRECISION] = {0, precision == TES_DOUBLE ? "double" : "single"},
                                     [OP_CELLS] = {tes_mesh_info(tes_space_mesh(s.space)).cells_along[0], NULL},
                                     [OP_DOFS] = {unknowns, NULL},
                                     [OP_MS] = {1e3 * time.median, NULL},
                                     [OP_FASTEST] = {1e3 * time.fastest, NULL},
                                     [OP_RATE] = {1e-6 * unknowns / time.median, NULL},
                                     [OP_GFLOPS] = {1e-9 * cost.flops / time.median, NULL},
                                     [OP_GBYTES] = {1e-9 * cost.bytes / time.median, NULL},
                                     [OP_FLOOR] = {floor / time.median, NULL},
                                     [OP_BOUND] = {0, bound},
                                     [OP_SERIES] = {0, series_name(dim, degree, precision)}};
    if (!cli_table_add(table, row)) status = TES_OUT_OF_MEMORY;
  }
  bench_subject_release(&s);
done:
  return status;
}

enum {
  SM_DIM,
  SM_DEGREE,
  SM_PRECISION,
  SM_CELLS,
  SM_DOFS,
  SM_MS,
  SM_RATE,
  SM_PS,
  SM_OPERATOR,
  SM_RATIO,
  SM_SERIES,
  SM_COLUMNS
};

static const CliColumn smoother_columns[SM_COLUMNS] = {[SM_DIM] = {"dim", 3, 0},
                                                       [SM_DEGREE] = {"degree", 6, 0},
                                                       [SM_PRECISION] = {"precision", 9, -1},
                                                       [SM_CELLS] = {"cells", 6, 0},
                                                       [SM_DOFS] = {"dofs", 10, 0},
                                                       [SM_MS] = {"sweep_ms", 10, 3},
                                                       [SM_RATE] = {"mdofs_per_s", 11, 1},
                                                       [SM_PS] = {"ps_per_dof", 10, 1},
                                                       [SM_OPERATOR] = {"operator_ms", 11, 3},
                                                       [SM_RATIO] = {"sweep_per_operator", 18, 2},
                                                       [SM_SERIES] = {"series", 0, -1}};

static TesStatus measure_smoother(TesContext *ctx, const BenchOptions *o, int dim, int degree, double dofs,
                                  TesPrecision precision, CliTable *table) {
  TesStatus status = TES_OK;
  BenchSubject s;
  TesSpace *space;
  BenchTime time, application;
  TES_TRY(bench_space(ctx, dim, degree, dofs, true, &space));
  TES_TRY(bench_subject(ctx, space, o->variable, precision, &s));
  status = tes_smoother_create(ctx, &(TesSmootherDesc){.op = s.op, .kind = o->smoother}, &s.smoother);
  if (status == TES_OK) status = bench_time(sweep, &s, o->seconds, &time);
  if (status == TES_OK) status = bench_time(apply, &s, o->seconds, &application);
  if (status == TES_OK) {
    const double unknowns = (double)tes_space_dofs(s.space);
    const CliCell row[SM_COLUMNS] = {[SM_DIM] = {dim, NULL},
                                     [SM_DEGREE] = {degree, NULL},
                                     [SM_PRECISION] = {0, precision == TES_DOUBLE ? "double" : "single"},
                                     [SM_CELLS] = {tes_mesh_info(tes_space_mesh(s.space)).cells_along[0], NULL},
                                     [SM_DOFS] = {unknowns, NULL},
                                     [SM_MS] = {1e3 * time.median, NULL},
                                     [SM_RATE] = {1e-6 * unknowns / time.median, NULL},
                                     [SM_PS] = {1e12 * time.median / unknowns, NULL},
                                     [SM_OPERATOR] = {1e3 * application.median, NULL},
                                     [SM_RATIO] = {time.median / application.median, NULL},
                                     [SM_SERIES] = {0, series_name(dim, degree, precision)}};
    if (!cli_table_add(table, row)) status = TES_OUT_OF_MEMORY;
  }
  bench_subject_release(&s);
done:
  return status;
}

typedef TesStatus (*Measure)(TesContext *ctx, const BenchOptions *o, int dim, int degree, double dofs,
                             TesPrecision precision, CliTable *table);

static TesStatus for_all(TesContext *ctx, const BenchOptions *o, Measure measure, CliTable *table) {
  TesStatus status = TES_OK;
  for (int d = 0; d < o->dims; d++)
    for (int precision = TES_DOUBLE; precision <= TES_SINGLE; precision++)
      for (int k = 0; k < o->degrees; k++)
        for (int s = 0; s < o->sizes; s++) {
          if (tesi_context_interrupted(ctx)) return TES_OK; /* the existing rows are written */
          if (precision == TES_DOUBLE ? o->double_precision : o->single_precision)
            TES_TRY(measure(ctx, o, o->dim[d], o->degree[k], o->dofs[s], (TesPrecision)precision, table));
        }
done:
  return status;
}

TesStatus bench_operator(TesContext *ctx, const BenchOptions *options, BenchResult *result) {
  const bool sizes = options->sizes > 1;
  cli_table_begin(&result->table, operator_columns, OP_COLUMNS, options->common.verbosity >= TES_NORMAL);
  result->plot = (CliPlot){.title = options->variable ? "operator application, variable coefficient"
                                                      : "operator application",
                           .x_label = sizes ? "unknowns" : "degree",
                           .y_label = "million unknowns a second",
                           .x = sizes ? OP_DOFS : OP_DEGREE,
                           .y = OP_RATE,
                           .series = sizes ? OP_SERIES : OP_PRECISION,
                           .log_x = sizes};
  return for_all(ctx, options, measure_operator, &result->table);
}

TesStatus bench_smoother(TesContext *ctx, const BenchOptions *options, BenchResult *result) {
  if (options->variant) return bench_variants(ctx, options, result);
  const bool sizes = options->sizes > 1;
  cli_table_begin(&result->table, smoother_columns, SM_COLUMNS, options->common.verbosity >= TES_NORMAL);
  result->plot = (CliPlot){.title = "one smoothing sweep",
                           .x_label = sizes ? "unknowns" : "degree",
                           .y_label = "million unknowns a second",
                           .x = sizes ? SM_DOFS : SM_DEGREE,
                           .y = SM_RATE,
                           .series = sizes ? SM_SERIES : SM_PRECISION,
                           .log_x = sizes};
  return for_all(ctx, options, measure_smoother, &result->table);
}
