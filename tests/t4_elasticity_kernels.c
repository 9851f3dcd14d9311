/* Run: ctest -R t4_elasticity_kernels. Elasticity on devices with kernels, against the plain version from the
 * definition: degrees to 8, both precisions, boxes, graded boxes, forests with hanging nodes, a ball, sheared cells;
 * masses, springs, varying coefficients; diagonals by unit vectors, liftings and products with given values against
 * those of the host; in the emulator in three orders of its threads, and on a GPU where there is one; the same bits
 * where they are asked for.
 * With TESSERA_TEST_BRIEF: forests and sheared cells, one order.
 * Quick: 1-3
 * Labels: heavy */
#include <string.h>
#include "device/emulator/fiber.h"
#include "device_testing.h"
#include "elasticity_operator_testing.h"

static const char *const devices[] = {"emulator", "cuda"};

static void check_place(TesContext *ctx, int kind, int dim, int degree) {
  Place p;
  char what[120];
  if (make_place(ctx, kind, dim, degree, degree == 2 ? ALL : SOME, &p)) {
    const TesPrecision precision = (degree + kind) % 2 ? TES_SINGLE : TES_DOUBLE;
    const int terms = degree == 2 ? (MASS | VARIES) & -(kind % 2) : (degree + kind) % 8;
    TesOperator *op;
    snprintf(what, sizeof what, "%s in %dD, degree %d, float%d, terms %d", kinds[kind], dim, degree,
             precision == TES_DOUBLE ? 64 : 32, terms);
    assert_ok(ctx, create(&p, terms, precision, &op));
    check_products(&p, op, what);
    if (degree < (dim == 2 ? 5 : 3)) check_diagonal(&p, op, what);
    tes_operator_destroy(&op);
  }
  leave(&p);
}

static void operators_are_their_definition(void **state) {
  (void)state;
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    if (!ctx) continue;
    for (int order = TESI_ORDER_FORWARD; order <= (test_brief() ? TESI_ORDER_FORWARD : TESI_ORDER_SHUFFLED);
         order++) {
      tesi_fiber_order(order, 7);
      for (int kind = 0; kind < KINDS; kind++)
        for (int dim = 2; dim <= 3; dim++)
          for (int degree = 1; degree <= 8; degree++)
            if (test_degree(degree) && (!test_brief() || kind == FOREST || kind == SHEARED) &&
                (order == TESI_ORDER_FORWARD || degree <= 3) && (dim == 2 || kind == SHEARED || degree < 6))
              check_place(ctx, kind, dim, degree);
    }
    tesi_fiber_order(TESI_ORDER_FORWARD, 1);
    tes_context_destroy(&ctx);
  }
}

/* Of all terms at once, in this precision. */
static void all_terms(TesContext *ctx, int kind, int dim, int degree, TesPrecision precision) {
  Place p;
  if (make_place(ctx, kind, dim, degree, SOME, &p)) {
    TesOperator *op;
    assert_ok(ctx, create(&p, VARIES | MASS | SPRINGS, precision, &op));
    check_products(&p, op, kinds[kind]);
    check_diagonal(&p, op, kinds[kind]);
    tes_operator_destroy(&op);
  }
  leave(&p);
}

static void terms_and_precisions_go_together(void **state) {
  (void)state;
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    for (int kind = FOREST; ctx && kind <= BALL; kind++)
      for (int dim = 2; dim <= 3; dim++)
        for (int precision = TES_DOUBLE; precision <= TES_SINGLE; precision++)
          if (test_degree(2)) all_terms(ctx, kind, dim, 2, (TesPrecision)precision);
    if (ctx) tes_context_destroy(&ctx);
  }
}

enum { LIFT, WHOLE, DIAGONAL, PARTS };

/* One of the parts, to the host. The caller frees. */
static double *part_of(TesContext *ctx, int kind, int dim, int part, int64_t *length) {
  Place p;
  TesOperator *op;
  double *values = NULL;
  if (make_place(ctx, kind, dim, 3, SOME, &p)) {
    TesVector *x = make_vector(&p, TES_DOUBLE, 5, false), *y = make_vector(&p, TES_DOUBLE, 6, false);
    double *numbers = numbers_of(&p, x);
    uint64_t seed = 3;
    for (int64_t i = 0; i < p.space->length; i++)
      if (numbers[i] == 0) numbers[i] = test_random(&seed);
    assert_ok(ctx, tes_vector_set(x, numbers));
    free(numbers);
    assert_ok(ctx, create(&p, VARIES | MASS | SPRINGS, TES_DOUBLE, &op));
    if (part == LIFT) assert_ok(ctx, tes_operator_lift(op, x, y));
    if (part == WHOLE) assert_ok(ctx, tesi_elasticity_apply_whole(op, x, y));
    if (part == DIAGONAL) assert_ok(ctx, tes_operator_diagonal(op, y));
    *length = p.space->length;
    values = numbers_of(&p, y);
    tes_vector_destroy(&x), tes_vector_destroy(&y);
    tes_operator_destroy(&op);
  }
  leave(&p);
  return values;
}

static void parts_are_those_of_the_host(void **state) {
  TesContext *host;
  (void)state;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &host, NULL, 0), TES_OK);
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    for (int kind = 0; ctx && kind < KINDS && test_degree(3); kind++)
      for (int part = 0; part < PARTS; part++)
        for (int dim = 2; dim <= 3; dim++) {
          int64_t n = 0;
          double *a = part_of(host, kind, dim, part, &n), *b = part_of(ctx, kind, dim, part, &n), most = 0;
          for (int64_t i = 0; a && i < n; i++) most = fmax(most, fabs(a[i]));
          for (int64_t i = 0; a && i < n; i++)
            if (!(fabs(a[i] - b[i]) <= 1e-12 * most))
              fail_msg("%s in %dD, part %d: entry %lld is %g, on the host %g", kinds[kind], dim, part,
                       (long long)i, b[i], a[i]);
          free(a), free(b);
        }
    if (ctx) tes_context_destroy(&ctx);
  }
  tes_context_destroy(&host);
}

/* Colour by colour, whatever the order of the threads. */
static void bits_are_the_same(void **state) {
  (void)state;
  for (int d = 0; d < 2; d++)
    for (int part = WHOLE; part < PARTS && test_degree(3); part++) {
      double *bits[2] = {NULL};
      int64_t n = 0;
      for (int i = 0; i < 2; i++) {
        TesContext *ctx = test_context(&(TesContextDesc){.device = devices[d], .deterministic = true});
        if (!ctx) continue;
        tesi_fiber_order(i ? TESI_ORDER_REVERSE : TESI_ORDER_FORWARD, 1);
        bits[i] = part_of(ctx, FOREST, 2, part, &n);
        tes_context_destroy(&ctx);
      }
      tesi_fiber_order(TESI_ORDER_FORWARD, 1);
      for (int64_t i = 0; bits[0] && i < n; i++) assert_true(bits[0][i] == bits[1][i]);
      free(bits[0]), free(bits[1]);
    }
}

/* Degree 1 over cells along the axes in several blocks, the last of them not full, with nodes that hang on edges and
 * faces: all boundary values, both precisions, with and without a mass. Nothing without p4est. */
static void check_blocks(TesContext *ctx, int dim, bool forest, int what) {
  static const uint8_t none[6], some[6] = {3, 2, 0, 4};
  const uint8_t *const given[] = {none, some, NULL};
  const TesPrecision precision = what % 2 ? TES_SINGLE : TES_DOUBLE;
  Place p = {.ctx = ctx};
  TesOperator *op;
  TesFunction *corner = expression(ctx, "0.3 - x*(0.5 + y) - z");
  const TesMeshDesc desc = {.dim = dim,
                            .cells = {9, dim == 3 ? 5 : 17, 4},
                            .refine_where = forest ? corner : NULL,
                            .kind = forest ? TES_MESH_FOREST : TES_MESH_BOX};
  const TesStatus status = tes_mesh_create(ctx, &desc, &p.mesh);
  tes_function_destroy(&corner);
  if (status == TES_MISSING) {
    tes_context_clear(ctx);
    return;
  }
  assert_ok(ctx, status);
  const TesSpaceDesc space = {.mesh = p.mesh, .degree = 1, .components = dim, .given = given[what / 4]};
  assert_ok(ctx, tes_space_create(ctx, &space, &p.space));
  assert_ok(ctx, create(&p, what % 4 / 2 ? MASS : 0, precision, &op));
  assert_non_null(strstr(tes_operator_info(op).description, "128 cells per block of 128 threads"));
  check_products(&p, op, forest ? "blocks of a forest" : "blocks of a box");
  check_diagonal(&p, op, "blocks");
  tes_operator_destroy(&op);
  leave(&p);
}

static void blocks_are_their_definition(void **state) {
  (void)state;
  for (int d = 0; d < 2 && test_degree(1); d++) {
    TesContext *ctx = test_device(devices[d]);
    for (int what = 0; ctx && what < 12; what++)
      for (int dim = 2; dim <= 3; dim++) {
        tesi_fiber_order(what % 3 ? TESI_ORDER_SHUFFLED : TESI_ORDER_REVERSE, 3);
        check_blocks(ctx, dim, false, what);
        check_blocks(ctx, dim, true, what);
      }
    tesi_fiber_order(TESI_ORDER_FORWARD, 1);
    if (ctx) tes_context_destroy(&ctx);
  }
}

static void other_degrees_are_refused(void **state) {
  TesContext *ctx = test_device("emulator");
  Place p;
  TesOperator *op;
  (void)state;
  if (!ctx) return;
  if (make_place(ctx, BOX, 2, 9, SOME, &p)) {
    assert_int_equal(create(&p, 0, TES_DOUBLE, &op), TES_MISSING);
    assert_non_null(strstr(tes_context_message(ctx), "elasticity has kernels up to degree 8, got 9"));
    tes_context_clear(ctx);
  }
  leave(&p);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(operators_are_their_definition), cmocka_unit_test(terms_and_precisions_go_together),
      cmocka_unit_test(parts_are_those_of_the_host),    cmocka_unit_test(bits_are_the_same),
      cmocka_unit_test(blocks_are_their_definition),    cmocka_unit_test(other_degrees_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
