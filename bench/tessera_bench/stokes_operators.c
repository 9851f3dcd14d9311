/* Rows of tessera bench stokes --variant for the operator: the operator of programs (tiles), and the variants of
 * figures 8 and 9 of stokes-multigrid-cui-2025. */
#include <math.h>
#include <string.h>
#include "device/kernel.h"
#include "kernels/flow_solution.h"
#include "kernels/shared_rate.h"
#include "kernels/stokes_operators.h"
#include "kernels/stokes_published.h"
#include "stokes_variants.h"

typedef struct Product {
  TesOperator *op;
  BenchStokesOperator *variant; /* NULL: op itself */
  TesVector *x, *y, *plain;     /* plain: of op */
  double setup, rate;           /* rate: bytes of shared memory per second */
} Product;

static void release(Product *p) {
  TesVector **vectors[] = {&p->x, &p->y, &p->plain};
  for (int v = 0; v < 3; v++) tes_vector_destroy(vectors[v]);
  tes_operator_destroy(&p->op);
}

static TesStatus prepare(TesContext *ctx, const TesSpace *space, TesPrecision precision, Product *p) {
  TesStatus status = TES_OK;
  const TesTermDesc term[] = {{.term = TES_TERM_DIFFUSION}, {.term = TES_TERM_DIVERGENCE}};
  const TesOperatorDesc desc = {.space = space, .form = {2, term, 0}, .precision = precision};
  TesVector **vectors[] = {&p->x, &p->y, &p->plain};
  TES_TRY(tes_operator_create(ctx, &desc, &p->op));
  for (int v = 0; v < 3; v++) TES_TRY(tes_vector_create(ctx, tes_space_length(space), precision, vectors[v]));
  TES_TRY(flow_random_load(&(uint64_t){1}, space, p->x));
  TES_TRY(tes_operator_apply(p->op, p->x, p->plain));
  TES_TRY(bench_shared_rate(ctx, &p->rate));
done:
  if (status != TES_OK) release(p);
  return status;
}

static TesStatus apply(void *data) {
  const Product *p = data;
  const TesStatus status =
      p->variant ? bench_stokes_operator_apply(p->variant, tes_vector_data(p->x), tes_vector_data(p->y))
                 : tes_operator_apply(p->op, p->x, p->y);
  return status == TES_OK ? bench_wait(p->op) : status;
}

/* Conflicts are counted in the emulator only; they are the same on all devices. */
static double conflicts_of(TesContext *ctx, int form, int degree, TesPrecision precision) {
  BenchConflicts c;
  if (strcmp(tes_context_device(ctx), "emulator") != 0 ||
      bench_stokes_operator_conflicts(degree, (BenchStokesForm)form, precision, &c) != TES_OK)
    return NAN;
  return (double)c.excess / (double)c.wavefronts;
}

static double published(int form, int degree, TesPrecision precision) {
  for (size_t i = 0; i < sizeof stokes_times / sizeof *stokes_times; i++)
    if (form == BENCH_STOKES_CONFLICT_FREE && precision == TES_DOUBLE && stokes_times[i].degree == degree)
      return 1 / stokes_times[i].operator_ns;
  return NAN;
}

/* form < 0: the operator of programs. */
static TesStatus measure(TesContext *ctx, const BenchOptions *o, const TesSpace *space,
                         TesPrecision precision, int form, Product *p, CliTable *table) {
  TesStatus status = TES_OK;
  BenchTime time;
  double difference = NAN;
  const int degree = tes_space_degree(space);
  const double dofs = (double)tes_space_dofs(space), start = tesi_now();
  const TesCost cost = tes_operator_info(p->op).cost;
  BenchStokesWork work = {.flops = cost.flops, .bytes = cost.bytes, .shared_bytes = NAN};
  if (form >= 0) {
    TES_TRY(bench_stokes_operator_create(ctx, p->op, (BenchStokesForm)form, &p->variant));
    work = bench_stokes_operator_work(p->variant);
  }
  TES_TRY(apply(p));
  const double setup = tesi_now() - start;
  if (form >= 0) TES_TRY(bench_stokes_compare(ctx, p->y, p->plain, &difference));
  TES_TRY(bench_time(apply, p, o->seconds, &time));
  const char *name = form < 0 ? "tiles" : bench_stokes_forms[form];
  const double tflops = 1e-12 * work.flops / time.median, intensity = work.flops / work.shared_bytes;
  const CliCell row[STOKES_COLUMNS] = {
      [STOKES_DIM] = {3, NULL},
      [STOKES_DEGREE] = {degree, NULL},
      [STOKES_PRECISION] = {0, precision == TES_DOUBLE ? "double" : "single"},
      [STOKES_PART] = {0, "operator"},
      [STOKES_VARIANT] = {0, name},
      [STOKES_CELLS] = {tes_mesh_info(tes_space_mesh(space)).cells_along[0], NULL},
      [STOKES_DOFS] = {dofs, NULL},
      [STOKES_SETUP] = {setup, NULL},
      [STOKES_PS] = {1e12 * time.median / dofs, NULL},
      [STOKES_MDOFS] = {1e-6 * dofs / time.median, NULL},
      [STOKES_LOCAL] = {NAN, NULL},
      [STOKES_GDOFS] = {1e-9 * dofs / time.median, NULL},
      [STOKES_FLOPS] = {work.flops / dofs, NULL},
      [STOKES_BYTES] = {work.bytes / dofs, NULL},
      [STOKES_TFLOPS] = {tflops, NULL},
      [STOKES_GBYTES] = {1e-9 * work.bytes / time.median, NULL},
      [STOKES_INTENSITY] = {intensity, NULL},
      [STOKES_OPERATOR_TFLOPS] = {form < 0 ? NAN : tflops, NULL},
      [STOKES_ROOF] = {1e-12 * p->rate * intensity, NULL},
      [STOKES_CONFLICTS] = {form < 0 ? NAN : conflicts_of(ctx, form, degree, precision), NULL},
      [STOKES_MEMORY] = {NAN, NULL},
      [STOKES_DIFFERENCE] = {difference, NULL},
      [STOKES_PAPER_TFLOPS] = {form < 0 || precision == TES_SINGLE ? NAN : stokes_most_tflops[form], NULL},
      [STOKES_PAPER_GDOFS] = {published(form, degree, precision), NULL},
      [STOKES_PAPER_LOCAL] = {NAN, NULL},
      [STOKES_SERIES] = {0, bench_text("%s, %s", name, precision == TES_DOUBLE ? "float64" : "float32")}};
  if (!cli_table_add(table, row)) status = TES_OUT_OF_MEMORY;
done:
  bench_stokes_operator_destroy(&p->variant);
  return status;
}

TesStatus bench_stokes_operators(TesContext *ctx, const BenchOptions *o, const TesSpace *space,
                                 TesPrecision precision, CliTable *table) {
  TesStatus status = TES_OK;
  Product p = {0};
  bool any = false;
  for (int form = -1; form < BENCH_STOKES_FORMS; form++)
    any = any || !strcmp(o->variant, "all") ||
          !strcmp(o->variant, form < 0 ? "tiles" : bench_stokes_forms[form]);
  if (!any) return TES_OK;
  TES_TRY(prepare(ctx, space, precision, &p));
  for (int form = -1; form < BENCH_STOKES_FORMS && !tesi_context_interrupted(ctx); form++)
    if (!strcmp(o->variant, "all") || !strcmp(o->variant, form < 0 ? "tiles" : bench_stokes_forms[form]))
      TES_TRY(measure(ctx, o, space, precision, form, &p, table));
done:
  release(&p);
  return status;
}
