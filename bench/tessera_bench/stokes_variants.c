/* tessera bench stokes --variant: one sweep of patches of Stokes, by its ways to solve the local problems and to get at
 * residuals, as in figure 10 of stokes-multigrid-cui-2025; random right-hand sides, walls without slip. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "bench.h"
#include "device/kernel.h"
#include "kernels/flow_solution.h"
#include "kernels/stokes_dense.h"

enum { DIM, DEGREE, PRECISION, VARIANT, CELLS, DOFS, SETUP, PS, MDOFS, MEMORY, DIFFERENCE, SERIES, COLUMNS };

static const CliColumn columns[COLUMNS] = {[DIM] = {"dim", 3, 0},
                                           [DEGREE] = {"degree", 6, 0},
                                           [PRECISION] = {"precision", 9, -1},
                                           [VARIANT] = {"variant", 9, -1},
                                           [CELLS] = {"cells", 5, 0},
                                           [DOFS] = {"dofs", 10, 0},
                                           [SETUP] = {"setup_s", 8, 3},
                                           [PS] = {"sweep_ps", 11, 1},
                                           [MDOFS] = {"mdofs_per_s", 11, 2},
                                           [MEMORY] = {"mib", 9, 1},
                                           [DIFFERENCE] = {"difference", 10, -2},
                                           [SERIES] = {"series", 0, -1}};

/* The first is the one of programs, with which the others are compared where they compute the same sweep. */
typedef struct Variant {
  const char *name;
  TesSmootherDesc desc;
  bool dense; /* kernels/stokes_dense.h */
  bool same;  /* the same iterate as the first, but for what the local solver leaves */
} Variant;
static const Variant variants[] = {
    {.name = "exact", .desc = {.kind = TES_SMOOTHER_PATCH}, .same = true},
    {.name = "unfused", .desc = {.kind = TES_SMOOTHER_PATCH, .unfused = true}, .same = true},
    {.name = "cg", .desc = {.kind = TES_SMOOTHER_PATCH, .local = TES_LOCAL_CG}, .same = true},
    {.name = "dense", .dense = true, .same = true},
    {.name = "red_black", .desc = {.kind = TES_SMOOTHER_PATCH, .colours = TES_COLOURS_RED_BLACK}},
    {.name = "cells", .desc = {.kind = TES_SMOOTHER_CELL_PATCH}}};
enum { VARIANTS = sizeof variants / sizeof *variants };

typedef struct Sweep {
  TesOperator *op;
  TesSmoother *smoother;
  TesVector *b, *x;
  double setup;
} Sweep;

static void release(Sweep *s) {
  tes_vector_destroy(&s->b);
  tes_vector_destroy(&s->x);
  tes_smoother_destroy(&s->smoother);
  tes_operator_destroy(&s->op);
}

static TesStatus prepare(TesContext *ctx, const TesSpace *space, const Variant *v, TesPrecision precision,
                         Sweep *s) {
  TesStatus status = TES_OK;
  const TesTermDesc term[] = {{.term = TES_TERM_DIFFUSION}, {.term = TES_TERM_DIVERGENCE}};
  const TesOperatorDesc desc = {.space = space, .form = {2, term, 0}, .precision = precision};
  TesSmootherDesc smoother = v->desc;
  *s = (Sweep){0};
  TES_TRY(tes_operator_create(ctx, &desc, &s->op));
  const double start = tesi_now();
  smoother.op = s->op;
  TES_TRY(v->dense ? bench_stokes_dense_create(ctx, s->op, &s->smoother)
                   : tes_smoother_create(ctx, &smoother, &s->smoother));
  s->setup = tesi_now() - start;
  TES_TRY(tes_vector_create(ctx, tes_space_length(space), precision, &s->b));
  TES_TRY(tes_vector_create(ctx, tes_space_length(space), precision, &s->x));
  TES_TRY(flow_random_load(&(uint64_t){1}, space, s->b));
  TES_TRY(tes_smoother_apply(s->smoother, s->b, s->x, TES_FORWARD, true));
done:
  if (status != TES_OK) release(s);
  return status;
}

static TesStatus sweep(void *data) {
  const Sweep *s = data;
  const TesStatus status = tes_smoother_apply(s->smoother, s->b, s->x, TES_FORWARD, false);
  return status == TES_OK ? bench_wait(s->op) : status;
}

/* Largest difference of x from what the first variant computed, over its largest entry. */
static TesStatus compare(TesContext *ctx, const TesVector *x, TesVector *first, double *difference) {
  TesStatus status = TES_OK;
  double largest;
  TesVector *rest = NULL;
  TES_TRY(tes_vector_create(ctx, tes_vector_length(x), tes_vector_precision(x), &rest));
  TES_TRY(tes_vector_copy(x, 1, rest));
  TES_TRY(tes_vector_maximum(first, &largest));
  TES_TRY(tes_vector_axpy(-1, first, rest));
  TES_TRY(tes_vector_maximum(rest, difference));
  *difference /= largest;
done:
  tes_vector_destroy(&rest);
  return status;
}

static const char *series_name(int degree, int variant, TesPrecision precision) {
  static char names[21][VARIANTS][2][32];
  char *const name = names[degree][variant][precision];
  snprintf(name, sizeof names[0][0][0], "%s, %s", variants[variant].name,
           precision == TES_DOUBLE ? "float64" : "float32");
  return name;
}

static TesStatus measure(TesContext *ctx, const BenchOptions *o, const TesSpace *space, int variant,
                         TesPrecision precision, TesVector **first, CliTable *table) {
  TesStatus status = TES_OK;
  const Variant *v = &variants[variant];
  const TesMeshInfo mesh = tes_mesh_info(tes_space_mesh(space));
  const double before = (double)tes_context_memory(ctx), dofs = (double)tes_space_dofs(space);
  Sweep s;
  BenchTime time;
  double difference = NAN;
  TES_TRY(prepare(ctx, space, v, precision, &s));
  const double memory = (double)tes_context_memory(ctx) - before;
  if (*first && v->same) status = compare(ctx, s.x, *first, &difference);
  if (status == TES_OK && !*first) {
    status = tes_vector_create(ctx, tes_vector_length(s.x), precision, first);
    if (status == TES_OK) status = tes_vector_copy(s.x, 1, *first);
  }
  if (status == TES_OK) status = bench_time(sweep, &s, o->seconds, &time);
  release(&s);
  if (status != TES_OK) goto done;
  const CliCell row[COLUMNS] = {[DIM] = {mesh.dim, NULL},
                                [DEGREE] = {tes_space_degree(space), NULL},
                                [PRECISION] = {0, precision == TES_DOUBLE ? "double" : "single"},
                                [VARIANT] = {0, v->name},
                                [CELLS] = {mesh.cells_along[0], NULL},
                                [DOFS] = {dofs, NULL},
                                [SETUP] = {s.setup, NULL},
                                [PS] = {1e12 * time.median / dofs, NULL},
                                [MDOFS] = {1e-6 * dofs / time.median, NULL},
                                [MEMORY] = {memory / 1048576, NULL},
                                [DIFFERENCE] = {difference, NULL},
                                [SERIES] = {0, series_name(tes_space_degree(space), variant, precision)}};
  if (!cli_table_add(table, row)) status = TES_OUT_OF_MEMORY;
done:
  return status;
}

/* All that are asked for, the first one always first: it is what the others are compared with. */
static TesStatus measure_space(TesContext *ctx, const BenchOptions *o, const TesSpace *space,
                               TesPrecision precision, CliTable *table) {
  TesStatus status = TES_OK;
  TesVector *first = NULL;
  const bool kernels = tesi_has_kernels(ctx), all = !strcmp(o->variant, "all");
  for (int v = 0; v < VARIANTS && !tesi_context_interrupted(ctx); v++) {
    const bool host_only = variants[v].desc.local == TES_LOCAL_CG || variants[v].dense;
    if ((!all && strcmp(o->variant, variants[v].name) != 0) || (kernels && host_only)) continue;
    TES_TRY(measure(ctx, o, space, v, precision, &first, table));
  }
done:
  tes_vector_destroy(&first);
  return status;
}

static TesStatus create_space(TesContext *ctx, int dim, int degree, int cells, TesSpace **space) {
  TesStatus status = TES_OK;
  TesMesh *mesh = NULL;
  TES_TRY(tes_mesh_create(
      ctx, &(TesMeshDesc){.kind = TES_MESH_BOX, .dim = dim, .cells = {cells, cells, cells}}, &mesh));
  TES_TRY(tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = degree, .element = TES_ELEMENT_RT},
                           space));
done:
  tes_mesh_destroy(&mesh);
  return status;
}

static TesStatus check_variant(TesContext *ctx, const char *name) {
  TesStatus status = TES_OK;
  bool known = !strcmp(name, "all");
  for (int v = 0; v < VARIANTS; v++) known = known || !strcmp(name, variants[v].name);
  TES_CHECK(known, "--variant: expected all, exact, unfused, cg, dense, red_black or cells, got '%s'", name);
done:
  return status;
}

TesStatus bench_stokes_variants(TesContext *ctx, const BenchOptions *options, BenchResult *result) {
  const BenchOptions *o = options;
  TesStatus status = TES_OK;
  TesSpace *space = NULL;
  cli_table_begin(&result->table, columns, COLUMNS, o->common.verbosity >= TES_NORMAL);
  result->plot = (CliPlot){.title = "One sweep of patches of Stokes",
                           .x_label = o->cells > 1 ? "unknowns" : "degree",
                           .y_label = "million unknowns a second",
                           .x = o->cells > 1 ? DOFS : DEGREE,
                           .y = MDOFS,
                           .series = SERIES,
                           .log_x = o->cells > 1,
                           .log_y = true};
  TES_TRY(check_variant(ctx, o->variant));
  if (o->seconds == 0) return TES_OK;
  for (int d = 0; d < o->dims; d++)
    for (int k = 0; k < o->degrees; k++)
      for (int c = 0; c < o->cells; c++) {
        TES_TRY(create_space(ctx, o->dim[d], o->degree[k], (int)o->cell_counts[c], &space));
        if (o->double_precision) TES_TRY(measure_space(ctx, o, space, TES_DOUBLE, &result->table));
        if (o->single_precision) TES_TRY(measure_space(ctx, o, space, TES_SINGLE, &result->table));
        tes_space_destroy(&space);
      }
done:
  tes_space_destroy(&space);
  return status;
}
