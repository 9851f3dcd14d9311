/* tessera bench stokes --variant: one sweep of patches of Stokes, for several ways to solve the local problems and to
 * compute residuals, as in figure 10 of stokes-multigrid-cui-2025. On devices with kernels also the operator, as in
 * its figures 8 and 9 (stokes_operators.c). Random right-hand sides, no-slip walls. */
#include <math.h>
#include <string.h>
#include "bench.h"
#include "device/kernel.h"
#include "kernels/flow_solution.h"
#include "kernels/stokes_dense.h"
#include "kernels/stokes_operators.h"
#include "kernels/stokes_published.h"
#include "stokes_variants.h"

static const CliColumn columns[STOKES_COLUMNS] = {[STOKES_DIM] = {"dim", 3, 0},
                                                  [STOKES_DEGREE] = {"degree", 6, 0},
                                                  [STOKES_PRECISION] = {"precision", 9, -1},
                                                  [STOKES_PART] = {"part", 8, -1},
                                                  [STOKES_VARIANT] = {"variant", 13, -1},
                                                  [STOKES_CELLS] = {"cells", 5, 0},
                                                  [STOKES_DOFS] = {"dofs", 10, 0},
                                                  [STOKES_SETUP] = {"setup_s", 8, 3},
                                                  [STOKES_PS] = {"ps", 9, 1},
                                                  [STOKES_MDOFS] = {"mdofs_per_s", 11, 2},
                                                  [STOKES_LOCAL] = {"local_mdofs_per_s", 17, 2},
                                                  [STOKES_GDOFS] = {"operator_gdofs_per_s", 0, 4},
                                                  [STOKES_FLOPS] = {"flops_per_dof", 13, 1},
                                                  [STOKES_BYTES] = {"bytes_per_dof", 13, 1},
                                                  [STOKES_TFLOPS] = {"tflops", 8, 3},
                                                  [STOKES_GBYTES] = {"gbytes_per_s", 12, 1},
                                                  [STOKES_INTENSITY] = {"flops_per_shared_byte", 0, 4},
                                                  [STOKES_OPERATOR_TFLOPS] = {"operator_tflops", 0, 4},
                                                  [STOKES_ROOF] = {"roof_tflops", 0, 4},
                                                  [STOKES_CONFLICTS] = {"conflicts", 9, 3},
                                                  [STOKES_MEMORY] = {"mib", 9, 1},
                                                  [STOKES_DIFFERENCE] = {"difference", 10, -2},
                                                  [STOKES_PAPER_TFLOPS] = {"paper_tflops", 0, 2},
                                                  [STOKES_PAPER_GDOFS] = {"paper_operator_gdofs_per_s", 0, 3},
                                                  [STOKES_PAPER_LOCAL] = {"paper_mdofs_per_s", 0, 1},
                                                  [STOKES_SERIES] = {"series", 0, -1}};

/* The first variant is the one of programs. Other variants that compute the same sweep are compared with it. */
typedef struct Variant {
  const char *name;
  enum { ANYWHERE, HOST, KERNELS } where;
  TesSmootherDesc desc;
  bool dense;             /* kernels/stokes_dense.h */
  bool same;              /* the same iterate as the first of its kind, up to the error of the local solver */
  BenchStokesLocal local; /* of kernels */
} Variant;
/* On devices with kernels the first variant mirrors patches at walls. So the variants after "tables" are compared
 * with "tables". */
static const Variant variants[] = {
    {.name = "exact", .desc = {.kind = TES_SMOOTHER_PATCH}, .same = true},
    {.name = "unfused", .where = HOST, .desc = {.kind = TES_SMOOTHER_PATCH, .unfused = true}, .same = true},
    {.name = "cg", .where = HOST, .desc = {.kind = TES_SMOOTHER_PATCH, .local = TES_LOCAL_CG}, .same = true},
    {.name = "dense", .where = HOST, .dense = true, .same = true},
    {.name = "tables", .where = KERNELS, .local = BENCH_STOKES_TABLES, .same = true},
    {.name = "dense", .where = KERNELS, .local = BENCH_STOKES_DIRECT, .same = true},
    {.name = "cg", .where = KERNELS, .local = BENCH_STOKES_SCHUR, .same = true},
    {.name = "cg_free", .where = KERNELS, .local = BENCH_STOKES_SCHUR_FREE, .same = true},
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
  if (v->where == KERNELS)
    TES_TRY(bench_stokes_local_create(ctx, s->op, v->local, 0, 0, &s->smoother));
  else
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

/* The local solves of all colours. */
static TesStatus solve(void *data) {
  const Sweep *s = data;
  const TesStatus status = bench_stokes_local_run(s->smoother, tes_vector_data(s->b), tes_vector_data(s->x));
  return status == TES_OK ? bench_wait(s->op) : status;
}

/* Largest difference between x and the result of the first variant, divided by its largest entry. */
TesStatus bench_stokes_compare(TesContext *ctx, const TesVector *x, const TesVector *first,
                               double *difference) {
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

/* Accesses of the local solves that have conflicts; NaN outside the emulator. */
static double conflicts_of(TesContext *ctx, const Variant *v, int degree, TesPrecision precision) {
  BenchConflicts c;
  if (v->where != KERNELS || v->local < BENCH_STOKES_SCHUR ||
      strcmp(tes_context_device(ctx), "emulator") != 0 ||
      bench_stokes_local_conflicts(degree, v->local, precision, &c) != TES_OK)
    return NAN;
  return (double)c.excess / (double)c.wavefronts;
}

/* The time of a sweep in the paper's Table 2, on 32^3 cells; NaN: it has none. */
static double published(const Variant *v, int degree, int cells, TesPrecision precision) {
  for (size_t i = 0; i < sizeof stokes_times / sizeof *stokes_times; i++)
    if (v->where == KERNELS && v->local == BENCH_STOKES_SCHUR_FREE && precision == TES_DOUBLE &&
        cells == 32 && stokes_times[i].degree == degree)
      return 1e3 / stokes_times[i].smoothing_ns;
  return NAN;
}

/* Rows of local solves: per sweep, and per colour without residuals if these are separate; the sweep of programs
 * includes them. */
static TesStatus measure(TesContext *ctx, const BenchOptions *o, const TesSpace *space, const Variant *v,
                         TesPrecision precision, TesVector **first, CliTable *table) {
  TesStatus status = TES_OK;
  const TesMeshInfo mesh = tes_mesh_info(tes_space_mesh(space));
  const double before = (double)tes_context_memory(ctx), dofs = (double)tes_space_dofs(space),
               colours = mesh.dim == 3 ? 8 : 4;
  const int degree = tes_space_degree(space);
  Sweep s;
  BenchTime time, local = {.median = NAN};
  double difference = NAN;
  TES_TRY(prepare(ctx, space, v, precision, &s));
  const double memory = (double)tes_context_memory(ctx) - before;
  if (*first && v->same) status = bench_stokes_compare(ctx, s.x, *first, &difference);
  if (status == TES_OK && !*first) {
    status = tes_vector_create(ctx, tes_vector_length(s.x), precision, first);
    if (status == TES_OK) status = tes_vector_copy(s.x, 1, *first);
  }
  if (status == TES_OK) status = bench_time(sweep, &s, o->seconds, &time);
  if (status == TES_OK && v->where == KERNELS) status = bench_time(solve, &s, o->seconds, &local);
  if (status == TES_OK && tesi_has_kernels(ctx) && !strcmp(v->name, "exact")) local = time;
  const TesCost cost = status == TES_OK ? tes_smoother_cost(s.smoother) : (TesCost){0};
  release(&s);
  if (status != TES_OK) goto done;
  const double seconds = v->where == KERNELS ? local.median : time.median;
  const CliCell row[STOKES_COLUMNS] = {
      [STOKES_DIM] = {mesh.dim, NULL},
      [STOKES_DEGREE] = {degree, NULL},
      [STOKES_PRECISION] = {0, precision == TES_DOUBLE ? "double" : "single"},
      [STOKES_PART] = {0, "sweep"},
      [STOKES_VARIANT] = {0, v->name},
      [STOKES_CELLS] = {mesh.cells_along[0], NULL},
      [STOKES_DOFS] = {dofs, NULL},
      [STOKES_SETUP] = {s.setup, NULL},
      [STOKES_PS] = {1e12 * time.median / dofs, NULL},
      [STOKES_MDOFS] = {1e-6 * dofs / time.median, NULL},
      [STOKES_LOCAL] = {1e-6 * dofs * colours / local.median, NULL},
      [STOKES_GDOFS] = {NAN, NULL},
      [STOKES_FLOPS] = {cost.flops / dofs, NULL},
      [STOKES_BYTES] = {cost.bytes / dofs, NULL},
      [STOKES_TFLOPS] = {1e-12 * cost.flops / seconds, NULL},
      [STOKES_GBYTES] = {1e-9 * cost.bytes / seconds, NULL},
      [STOKES_INTENSITY] = {NAN, NULL},
      [STOKES_OPERATOR_TFLOPS] = {NAN, NULL},
      [STOKES_ROOF] = {NAN, NULL},
      [STOKES_CONFLICTS] = {conflicts_of(ctx, v, degree, precision), NULL},
      [STOKES_MEMORY] = {tesi_has_kernels(ctx) ? NAN : memory / 1048576, NULL},
      [STOKES_DIFFERENCE] = {difference, NULL},
      [STOKES_PAPER_TFLOPS] = {NAN, NULL},
      [STOKES_PAPER_GDOFS] = {NAN, NULL},
      [STOKES_PAPER_LOCAL] = {published(v, degree, mesh.cells_along[0], precision), NULL},
      [STOKES_SERIES] = {0, bench_text("%s, %s", v->name, precision == TES_DOUBLE ? "float64" : "float32")}};
  if (!cli_table_add(table, row)) status = TES_OUT_OF_MEMORY;
done:
  return status;
}

static bool is_asked_for(const BenchOptions *o, const char *name) {
  return !strcmp(o->variant, "all") || !strcmp(o->variant, name);
}

/* All requested variants. The variants for comparison come first: the one of programs, and for kernels "tables". */
static TesStatus measure_space(TesContext *ctx, const BenchOptions *o, const TesSpace *space,
                               TesPrecision precision, CliTable *table) {
  TesStatus status = TES_OK;
  TesVector *first = NULL;
  const bool kernels = tesi_has_kernels(ctx), ladder = kernels &&
                                                       tes_space_degree(space) <= BENCH_STOKES_MOST &&
                                                       tes_mesh_info(tes_space_mesh(space)).dim == 3;
  if (ladder) TES_TRY(bench_stokes_operators(ctx, o, space, precision, table));
  for (int v = 0; v < VARIANTS && !tesi_context_interrupted(ctx); v++) {
    const Variant *its = &variants[v];
    if (!is_asked_for(o, its->name)) continue;
    if ((its->where == HOST && kernels) || (its->where == KERNELS && !ladder)) continue;
    if (its->where == KERNELS && its->local == BENCH_STOKES_TABLES) tes_vector_destroy(&first);
    TES_TRY(measure(ctx, o, space, its, precision, &first, table));
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
  bool known = !strcmp(name, "all") || !strcmp(name, "tiles");
  for (int v = 0; v < VARIANTS; v++) known = known || !strcmp(name, variants[v].name);
  for (int form = 0; form < BENCH_STOKES_FORMS; form++)
    known = known || !strcmp(name, bench_stokes_forms[form]);
  TES_CHECK(
      known,
      "--variant: expected all, of sweeps exact, unfused, cg, cg_free, dense, tables, red_black or cells, of "
      "operators tiles, padded, basic, shared or conflict_free, got '%s'",
      name);
done:
  return status;
}

/* Figure 10, or on the processor complete sweeps; figures 9 and 8. */
static CliPlot describe_plot(const BenchOptions *o, bool kernels) {
  const bool sizes = o->cells > 1;
  CliPlot plot = {.title = kernels ? "Local solves of patches of Stokes, a colour"
                                   : "One sweep of patches of Stokes",
                  .x_label = sizes ? "unknowns" : "degree",
                  .y_label = "million unknowns a second",
                  .x = sizes ? STOKES_DOFS : STOKES_DEGREE,
                  .y = kernels ? STOKES_LOCAL : STOKES_MDOFS,
                  .series = STOKES_SERIES,
                  .log_x = sizes,
                  .log_y = true};
  if (o->drawn == BENCH_DRAW_OPERATOR) {
    plot.title = "The operator of Stokes", plot.y = STOKES_GDOFS, plot.y_label = "billion unknowns a second";
    plot.beside[0] = (CliBeside){.y = STOKES_PAPER_GDOFS, .name = "paper, A100", .marks = true};
  }
  if (o->drawn == BENCH_DRAW_ROOFLINE)
    plot = (CliPlot){.title = "The operator of Stokes, roofline of shared memory (dashed)",
                     .x_label = "operations a byte of shared memory",
                     .y_label = "TFLOP/s",
                     .x = STOKES_INTENSITY,
                     .y = STOKES_OPERATOR_TFLOPS,
                     .series = STOKES_SERIES,
                     .beside = {{.y = STOKES_ROOF, .name = "roof"}},
                     .log_x = true,
                     .log_y = true};
  return plot;
}

TesStatus bench_stokes_variants(TesContext *ctx, const BenchOptions *options, BenchResult *result) {
  const BenchOptions *o = options;
  TesStatus status = TES_OK;
  TesSpace *space = NULL;
  cli_table_begin(&result->table, columns, STOKES_COLUMNS, o->common.verbosity >= TES_NORMAL);
  result->plot = describe_plot(o, tesi_has_kernels(ctx));
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
  if (!result->table.rows && !tesi_context_interrupted(ctx))
    TES_FAIL(TES_MISSING,
             "--variant %s: unfused is of the processor; operators, tables and cg_free are kernels, in 3D, "
             "of degree "
             "%d at most: --device cuda or emulator",
             o->variant, BENCH_STOKES_MOST);
done:
  tes_space_destroy(&space);
  return status;
}
