/* Run: ctest -R t4_transport_kernels. Transport on devices with kernels, against the plain version: degrees to 8, both
 * precisions, all forms, boxes, forests with hanging nodes and deformed cells, in the emulator in three orders of its
 * threads, and on a GPU where there is one; streamline mass, loads and liftings against those of the host; the same
 * bits where they are asked for.
 * Quick: 1-3
 * Labels: heavy */
#include "device/emulator/fiber.h"
#include "device_testing.h"
#include "transport_testing.h"

static const char *const devices[] = {"emulator", "cuda"};

static void check_place(TesContext *ctx, int kind, int dim, int degree) {
  Place p;
  char what[80];
  if (make_place(ctx, kind, dim, degree, degree % 2, &p)) {
    p.precision = degree % 3 == 2 ? TES_SINGLE : TES_DOUBLE;
    snprintf(what, sizeof what, "%s in %dD, degree %d", kinds[kind], dim, degree);
    const Form form = (Form)(2 * (degree / 2 % 2) + kind % 2);
    check_operator(&p, TES_STREAMLINE_NONE, form, what);
    if (kind != BALL || (degree >= 3 && (dim == 2 || form < CONSERVATIVE)))
      check_operator(&p, TES_STREAMLINE_ALWAYS, form, what);
  }
  leave(&p);
}

static void operators_are_their_definition(void **state) {
  (void)state;
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    if (!ctx) continue;
    for (int order = TESI_ORDER_FORWARD; order <= TESI_ORDER_SHUFFLED; order++) {
      tesi_fiber_order(order, 7);
      for (int kind = 0; kind < PLACES; kind++)
        for (int dim = 2; dim <= 3; dim++)
          for (int degree = 1; degree <= 8; degree++)
            if (test_degree(degree) && (order == TESI_ORDER_FORWARD || degree <= 3) &&
                (dim == 2 || kind != BALL || degree < 6))
              check_place(ctx, kind, dim, degree);
    }
    tesi_fiber_order(TESI_ORDER_FORWARD, 1);
    tes_context_destroy(&ctx);
  }
}

enum { MASS, LOAD, LIFT, SLOPES, PARTS };

/* One of the parts, to the host. The caller frees. */
static double *part_of(TesContext *ctx, int kind, int part, int64_t *length) {
  Place p;
  TesOperator *op;
  double *values = NULL;
  if (make_place(ctx, kind, 2, 2, false, &p)) {
    TesFunction *f = expression(ctx, "1 + x*y"), *g = expression(ctx, "1 + x - y*y");
    TesVector *x = make_vector(&p, 5, false), *y = make_vector(&p, 6, false);
    assert_ok(ctx, tes_space_interpolate(p.space, (const TesFunction *[]){g}, x));
    assert_ok(ctx, create_form(&p, TES_STREAMLINE_ALWAYS, CONVECTIVE_THROUGH, &op));
    if (part == MASS) assert_ok(ctx, tesi_transport_add_mass(op, x, y));
    if (part == LOAD) assert_ok(ctx, tesi_transport_load(op, f, NULL, y));
    if (part == LIFT) assert_ok(ctx, tes_operator_lift(op, x, y));
    if (part == SLOPES) assert_ok(ctx, tesi_transport_slopes(op, y));
    *length = p.space->length;
    values = calloc((size_t)*length, sizeof *values);
    assert_ok(ctx, tes_vector_get(y, values));
    tes_vector_destroy(&x), tes_vector_destroy(&y);
    tes_function_destroy(&f), tes_function_destroy(&g);
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
    for (int kind = 0; ctx && kind < PLACES; kind++)
      for (int part = 0; part < PARTS; part++) {
        int64_t n = 0;
        double *a = part_of(host, kind, part, &n), *b = part_of(ctx, kind, part, &n), most = 0;
        for (int64_t i = 0; a && i < n; i++) most = fmax(most, fabs(a[i]));
        for (int64_t i = 0; a && i < n; i++)
          if (!(fabs(a[i] - b[i]) <= 1e-12 * most))
            fail_msg("%s, part %d: entry %lld is %g, on the host %g", kinds[kind], part, (long long)i, b[i],
                     a[i]);
        free(a), free(b);
      }
    if (ctx) tes_context_destroy(&ctx);
  }
  tes_context_destroy(&host);
}

/* Colour by colour, whatever the order of the threads. */
static void bits_are_the_same(void **state) {
  (void)state;
  for (int d = 0; d < 2; d++) {
    double *bits[2] = {NULL};
    int64_t n = 0;
    for (int i = 0; i < 2; i++) {
      TesContext *ctx = test_context(&(TesContextDesc){.device = devices[d], .deterministic = true});
      if (!ctx) continue;
      tesi_fiber_order(i ? TESI_ORDER_REVERSE : TESI_ORDER_FORWARD, 1);
      bits[i] = part_of(ctx, FOREST, MASS, &n);
      tes_context_destroy(&ctx);
    }
    tesi_fiber_order(TESI_ORDER_FORWARD, 1);
    for (int64_t i = 0; bits[0] && i < n; i++) assert_true(bits[0][i] == bits[1][i]);
    free(bits[0]), free(bits[1]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(operators_are_their_definition),
                                     cmocka_unit_test(parts_are_those_of_the_host),
                                     cmocka_unit_test(bits_are_the_same)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
