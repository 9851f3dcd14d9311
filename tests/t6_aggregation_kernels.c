/* Run: ctest -R t6_aggregation_kernels. Cycles of smoothed aggregation by kernels against those of the processor, which
 * t6_aggregation_solve checks: one component and elasticity, 2D and 3D, free and given, vectors of both precisions,
 * poisoned results, solves that are recorded; emulator in three orders of threads, and GPU.
 * Labels: heavy */
#include <stdio.h>
#include "device/emulator/fiber.h"
#include "device/recorded.h"
#include "device_testing.h"
#include "multigrid/coarse/aggregation/aggregation.h"
#include "multigrid/coarse/coarse.h"

typedef struct Place {
  int dim, cells[3], degree;
  uint8_t given[6];
  bool elastic; /* a component a direction */
} Place;

static const Place places[] = {{2, {45, 43}, 1, {1, 1, 0, 1}, false},
                               {3, {13, 12, 14}, 1, {0, 0, 0, 0, 0, 0}, false}, /* singular */
                               {2, {17, 19}, 2, {3, 0, 2, 0}, true},
                               {3, {13, 8, 7}, 1, {7, 0, 0, 0, 0, 0}, true},
                               {3, {50, 4, 4}, 1, {1, 0, 0, 0, 0, 0}, true},
                               {3, {9, 8, 8}, 1, {0, 0, 0, 0, 0, 0}, true}}; /* singular */

/* A sheared body, so that all entries of blocks count. */
static TesOperator *make(TesContext *ctx, const Place *p) {
  TesMesh *mesh;
  TesSpace *space;
  TesOperator *op;
  TesFunction *map[3];
  const TesTermDesc elastic[] = {{.term = TES_TERM_STRAIN}, {.term = TES_TERM_GRAD_DIV}},
                    diffusion = {.term = TES_TERM_DIFFUSION};
  assert_ok(ctx, tes_function_create_expression(ctx, "x + 0.2*y", &map[0]));
  assert_ok(ctx, tes_function_create_expression(ctx, "y + 0.1*x*y", &map[1]));
  assert_ok(ctx, tes_function_create_expression(ctx, "z + 0.1*x", &map[2]));
  const TesMeshDesc desc = {.dim = p->dim,
                            .cells = {p->cells[0], p->cells[1], p->cells[2]},
                            .upper = {1, 1.5, 0.7},
                            .map = {map[0], map[1], p->dim == 3 ? map[2] : NULL},
                            .kind = TES_MESH_CELLS};
  assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
  for (int d = 0; d < 3; d++) tes_function_destroy(&map[d]);
  assert_ok(ctx, tes_space_create(ctx,
                                  &(TesSpaceDesc){.mesh = mesh,
                                                  .degree = p->degree,
                                                  .components = p->elastic ? p->dim : 1,
                                                  .given = p->given},
                                  &space));
  assert_ok(ctx, tes_operator_create(ctx,
                                     &(TesOperatorDesc){.space = space,
                                                        .form = p->elastic ? (TesForm){2, elastic, 0}
                                                                           : (TesForm){1, &diffusion, 0}},
                                     &op));
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
  return op;
}

typedef struct Solve {
  TesiCoarse *coarse;
  const TesVector *b;
  TesVector *x;
} Solve;

static TesStatus run(void *user) {
  const Solve *s = user;
  return tesi_coarse_solve(s->coarse, s->b, s->x);
}

static void check(TesContext *host, TesContext *ctx, const Place *p, TesPrecision precision,
                  const char *where) {
  TesOperator *of_host = make(host, p), *op = make(ctx, p);
  TesiCoarse *exact, *coarse;
  TesiRecorded recorded = {0};
  const int64_t n = tes_operator_info(op).length;
  TesVector *random = test_vector(host, n, TES_DOUBLE, 3), *b = test_vector(host, n, TES_DOUBLE, 0),
            *x = test_vector(host, n, TES_DOUBLE, 0), *c = test_vector(ctx, n, precision, 0),
            *y = test_vector(ctx, n, precision, 0);
  double *values = test_calloc((size_t)n, sizeof *values), *others = test_calloc((size_t)n, sizeof *others),
         largest = 0;
  assert_true(n > 1500);
  assert_ok(host, tes_operator_apply(of_host, random, b)); /* in the range */
  assert_ok(host, tes_vector_get(b, values));
  assert_ok(ctx, tes_vector_set(c, values));
  assert_ok(ctx, tes_vector_get(c, values)); /* rounded */
  assert_ok(host, tes_vector_set(b, values));
  assert_ok(host, tesi_coarse_create(of_host, TES_DOUBLE, TES_COARSE_AGGREGATION, &exact));
  assert_ok(ctx, tesi_coarse_create(op, precision, TES_COARSE_AGGREGATION, &coarse));
  assert_string_equal(tesi_coarse_describe(coarse), tesi_coarse_describe(exact));
  assert_true(tesi_coarse_takes_double(coarse));
  assert_ok(host, tesi_coarse_solve(exact, b, x));
  for (int i = 0; i < 3; i++) { /* plain, recorded, replayed */
    double error = 0;
    assert_ok(ctx, tes_vector_fill(y, NAN));
    assert_ok(ctx, tesi_recorded_run(ctx, &recorded, run, &(Solve){coarse, c, y}));
    assert_ok(host, tes_vector_get(x, values));
    assert_ok(ctx, tes_vector_get(y, others));
    for (int64_t k = 0; k < n; k++) {
      largest = test_larger(largest, fabs(values[k]));
      error = test_larger(error, fabs(values[k] - others[k]));
    }
    assert_true(largest > 0.1);
    if (!(error <= (precision == TES_DOUBLE ? 1e-10 : 1e-6) * largest))
      fail_msg("%s, %dD, %d x %d x %d cells, degree %d: off by %g of %g", where, p->dim, p->cells[0],
               p->cells[1], p->cells[2], p->degree, error, largest);
  }
  assert_false(recorded.refused);
  tesi_recorded_release(ctx, &recorded);
  test_free(values), test_free(others);
  TesVector *all[] = {random, b, x, c, y};
  for (int i = 0; i < 5; i++) tes_vector_destroy(&all[i]);
  tesi_coarse_destroy(&exact), tesi_coarse_destroy(&coarse);
  tes_operator_destroy(&of_host), tes_operator_destroy(&op);
}

static void check_all(TesContext *ctx, size_t first, size_t end, const char *where) {
  TesContext *host;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &host, NULL, 0), TES_OK);
  for (size_t i = first; i < end; i++)
    for (int precision = 0; precision < 2; precision++)
      if (i < 2 || precision == (int)(i % 2)) /* they differ in what stands round the cycles */
        check(host, ctx, &places[i], precision ? TES_SINGLE : TES_DOUBLE, where);
  assert_int_equal(tes_context_memory(host), 0);
  tes_context_destroy(&host);
}

static void kernels_solve_as_the_processor_does(void **state) {
  enum { PLACES = sizeof places / sizeof *places };
  (void)state;
  for (int order = TESI_ORDER_FORWARD; order <= TESI_ORDER_SHUFFLED; order++) {
    TesContext *ctx = test_device("emulator");
    if (!ctx) break;
    tesi_fiber_order((TesiOrder)order, 29);
    const size_t first = (size_t)(order - TESI_ORDER_FORWARD);
    check_all(ctx, first, test_brief() ? first + 1 : first ? first + 1 : PLACES, "emulator");
    tes_context_destroy(&ctx);
  }
  tesi_fiber_order(TESI_ORDER_FORWARD, 0);
  TesContext *ctx = test_device("cuda");
  if (ctx) check_all(ctx, 0, PLACES, "cuda");
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_solve_as_the_processor_does)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
