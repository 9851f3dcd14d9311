/* Run: ctest -R t4_transport. Operators of kind transport, with and without streamline terms, against the plain version
 * from the definition: graded boxes, deformed balls and forests with hanging nodes, 2D and 3D, degrees to 5, data
 * that vary; the same bits for any number of threads; refusals.
 * Labels: threads */
#include "transport_testing.h"

static void operators_are_their_definition(void **state) {
  TesContext *ctx;
  (void)state;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0), TES_OK);
  for (int kind = 0; kind < PLACES; kind++)
    for (int dim = 2; dim <= 3; dim++)
      for (int degree = 1; degree <= (dim == 2 ? 5 : 3); degree++) {
        Place p;
        char what[80];
        snprintf(what, sizeof what, "%s in %dD, degree %d", kinds[kind], dim, degree);
        if (make_place(ctx, kind, dim, degree, degree == 2, &p)) {
          for (Form form = CONVECTIVE; form <= CONSERVATIVE_THROUGH; form++) {
            check_operator(&p, TES_STREAMLINE_NONE, form, what);
            /* div b and the gradient of a are exact where |J| B and a are polynomials of degree q - 1 in each
             * direction */
            if (kind != BALL || (degree >= 3 && (dim == 2 || form < CONSERVATIVE)))
              check_operator(&p, TES_STREAMLINE_ALWAYS, form, what);
          }
        }
        leave(&p);
      }
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

/* The matrix, of products or of cells, is the operator: hanging nodes, curved cells, velocities through boundaries. */
static void matrices_are_the_operator(void **state) {
  TesContext *ctx;
  (void)state;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu", .threads = 3}, &ctx, NULL, 0),
                   TES_OK);
  for (int kind = 0; kind < PLACES; kind++)
    for (int i = 0; i < 4 * 2; i++) {
      const int dim = 2 + i % 2, degree = dim == 2 ? 3 : 2;
      Place p;
      TesOperator *op;
      TesiMatrix A = {0};
      if (make_place(ctx, kind, dim, degree, false, &p)) {
        TesVector *x = make_vector(&p, 3, false), *y = make_vector(&p, 0, true),
                  *product = make_vector(&p, 0, true);
        double *in = calloc((size_t)p.space->length, sizeof *in),
               *out = calloc((size_t)p.space->length, sizeof *out);
        assert_ok(ctx, create_form(&p, i % 4 < 2 ? TES_STREAMLINE_NONE : TES_STREAMLINE_ALWAYS, (Form)(i / 2),
                                   &op));
        assert_int_equal(tesi_transport_by_cells(op), kind == FOREST || kind == BALL);
        assert_ok(ctx, tesi_operator_probe(op, &A));
        assert_ok(ctx, tes_vector_get(x, in));
        tesi_matrix_apply(ctx, &A, in, out);
        assert_ok(ctx, tes_vector_set(product, out));
        assert_ok(ctx, tes_operator_apply(op, x, y));
        assert_close(&p, product, y, 1e-13, kinds[kind]);
        tesi_matrix_destroy(ctx, &A);
        tes_vector_destroy(&x), tes_vector_destroy(&y), tes_vector_destroy(&product);
        free(in), free(out);
        tes_operator_destroy(&op);
      }
      leave(&p);
    }
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

/* The operator knows a polynomial: with u = x + 2 y the transport term alone is int (b1 + 2 b2) v, a load. */
static void polynomials_are_transported(void **state) {
  TesContext *ctx;
  (void)state;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0), TES_OK);
  for (int kind = 0; kind < 2; kind++) {
    static const uint8_t none[8];
    Place p;
    TesOperator *op;
    TesVector *u, *y, *b;
    TesFunction *linear = expression(ctx, "x + 2*y"), *known = expression(ctx, "1 + y + 2*(x - 0.3*y)");
    if (make_place(ctx, kind, 2, 3, false, &p)) {
      tes_space_destroy(&p.space);
      assert_ok(ctx,
                tes_space_create(ctx, &(TesSpaceDesc){.mesh = p.mesh, .degree = 3, .given = none}, &p.space));
      assert_ok(ctx, create(&p, TES_STREAMLINE_NONE, &op));
      u = make_vector(&p, 1, false), y = make_vector(&p, 0, true), b = make_vector(&p, 0, true);
      assert_ok(ctx, tes_space_interpolate(p.space, (const TesFunction *[]){linear}, u));
      assert_ok(ctx, tes_operator_apply(tesi_transport_of(op)->symmetric, u, y));
      assert_ok(ctx, tes_functional_load(&(TesLoadDesc){.space = p.space, .f = {known}}, b));
      assert_ok(ctx, tes_vector_axpy(1, y, b));
      assert_ok(ctx, tes_operator_apply(op, u, y));
      assert_close(&p, y, b, 1e-12, kinds[kind]);
      tes_vector_destroy(&u), tes_vector_destroy(&y), tes_vector_destroy(&b);
      tes_operator_destroy(&op);
    }
    tes_function_destroy(&linear), tes_function_destroy(&known);
    leave(&p);
  }
  tes_context_destroy(&ctx);
}

/* The whole residual is tested with streamlines, the gradient of a in it: a polynomial of the space that vanishes on
 * the boundary satisfies the equation of its f node by node, whatever tau is. Quadrature is exact from degree 3 on. */
static void whole_residuals_vanish(void **state) {
#define UX "(1 - 2*x)*y*(1 - y)"
#define UY "x*(1 - x)*(1 - 2*y)"
  TesContext *ctx;
  (void)state;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0), TES_OK);
  TesFunction *known = expression(ctx, "x*(1 - x)*y*(1 - y)"),
              *f = expression(ctx, "(1 + y)*x*(1 - x)*y*(1 - y) + (1 + y)*" UX " + (x - 0.3*y)*" UY
                                   " + 2*(0.1 + x*x)*(y*(1 - y) + x*(1 - x)) - 2*x*" UX);
  for (int degree = 3; degree <= 5; degree++) {
    Place p;
    TesOperator *op;
    assert_true(make_place(ctx, BOX, 2, degree, true, &p));
    TesVector *u = make_vector(&p, 1, false), *y = make_vector(&p, 0, true), *b = make_vector(&p, 0, true);
    assert_ok(ctx, create(&p, TES_STREAMLINE_ALWAYS, &op));
    assert_ok(ctx, tes_space_interpolate(p.space, (const TesFunction *[]){known}, u));
    assert_ok(ctx, tes_operator_apply(op, u, y));
    assert_ok(ctx, tes_functional_load(&(TesLoadDesc){.space = p.space, .f = {f}}, b));
    assert_ok(ctx, tesi_transport_load(op, f, NULL, b));
    double *of_y = calloc((size_t)p.space->length, sizeof *of_y),
           *of_b = calloc((size_t)p.space->length, sizeof *of_b);
    const TesiCellView *cells;
    assert_ok(ctx, tesi_space_cells(p.space, &cells));
    assert_ok(ctx, tes_vector_get(y, of_y));
    assert_ok(ctx, tes_vector_get(b, of_b));
    for (int64_t i = 0; i < cells->length - cells->dofs; i++) of_b[cells->constrained[i]] = 0;
    for (int64_t i = 0; i < p.space->length; i++) assert_near(of_y[i], of_b[i], 1e-14);
    free(of_y), free(of_b);
    tes_vector_destroy(&u), tes_vector_destroy(&y), tes_vector_destroy(&b);
    tes_operator_destroy(&op);
    leave(&p);
  }
  tes_function_destroy(&known), tes_function_destroy(&f);
  tes_context_destroy(&ctx);
}

/* On a forest, whose sums meet at nodes of several tasks. */
static void threads_do_not_matter(void **state) {
  double *bits[2] = {NULL};
  int64_t length = 0;
  (void)state;
  for (int i = 0; i < 2; i++) {
    TesContext *ctx;
    Place p;
    TesOperator *op;
    assert_int_equal(
        tes_context_create(&(TesContextDesc){.device = "cpu", .threads = 1 + 3 * i}, &ctx, NULL, 0), TES_OK);
    if (make_place(ctx, 1, 3, 3, true, &p)) {
      TesVector *x = make_vector(&p, 5, false), *y = make_vector(&p, 0, true);
      assert_ok(ctx, create(&p, TES_STREAMLINE_ALWAYS, &op));
      assert_ok(ctx, tes_vector_fill(y, 0));
      assert_ok(ctx, tesi_transport_add_mass(op, x, y));
      length = p.space->length;
      bits[i] = calloc((size_t)length, sizeof **bits);
      assert_ok(ctx, tes_vector_get(y, bits[i]));
      tes_vector_destroy(&x), tes_vector_destroy(&y);
      tes_operator_destroy(&op);
    }
    leave(&p);
    tes_context_destroy(&ctx);
  }
  for (int64_t k = 0; bits[0] && k < length; k++) assert_true(bits[0][k] == bits[1][k]);
  free(bits[0]), free(bits[1]);
}

static void what_cannot_be_is_refused(void **state) {
  TesContext *ctx;
  Place p;
  TesOperator *op;
  (void)state;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0), TES_OK);
  assert_true(make_place(ctx, 0, 2, 2, true, &p));
  const TesTermDesc term[] = {{.term = TES_TERM_TRANSPORT, .b = {p.b[0]}}, {.term = TES_TERM_DIFFUSION}};
  TesOperatorDesc desc = {.space = p.space, .form = {1, term, 0}};
  assert_int_equal(tes_operator_create(ctx, &desc, &op), TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "kind transport: the form has no diffusion term"));
  tes_context_clear(ctx);
  desc.form.terms = 2, desc.precision = TES_SINGLE;
  assert_int_equal(tes_operator_create(ctx, &desc, &op), TES_INVALID_INPUT);
  tes_context_clear(ctx);
  desc.precision = TES_DOUBLE, desc.kind = "quadrature";
  assert_int_equal(tes_operator_create(ctx, &desc, &op), TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "the form has a transport term"));
  leave(&p);
  tes_context_destroy(&ctx);
}

/* With b . n = 0 on the boundary, and whatever the quadrature: the sum of all rows of the conservative operator is that
 * of the symmetric part. */
static void conservative_sums_are_zero(void **state) {
  static const uint8_t none[8];
  TesContext *ctx;
  (void)state;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0), TES_OK);
  for (int kind = 0; kind < 3; kind++) {
    Place p;
    TesOperator *op;
    double sum[2], size;
    if (make_place(ctx, kind, 2, 3, false, &p)) {
      tes_space_destroy(&p.space);
      assert_ok(ctx,
                tes_space_create(ctx, &(TesSpaceDesc){.mesh = p.mesh, .degree = 3, .given = none}, &p.space));
      assert_ok(ctx, create_form(&p, TES_STREAMLINE_ALWAYS, CONSERVATIVE, &op));
      TesVector *x = make_vector(&p, 3, false), *y = make_vector(&p, 0, true), *one = make_vector(&p, 0, true);
      assert_ok(ctx, tes_vector_fill(one, 1));
      assert_ok(ctx, tes_operator_apply(op, x, y));
      assert_ok(ctx, tes_vector_dot(y, one, &sum[0]));
      assert_ok(ctx, tes_vector_norm(y, &size));
      assert_ok(ctx, tes_operator_apply(tesi_transport_of(op)->symmetric, x, y));
      assert_ok(ctx, tes_vector_dot(y, one, &sum[1]));
      assert_near(sum[0], sum[1], 1e-12 * size);
      tes_vector_destroy(&x), tes_vector_destroy(&y), tes_vector_destroy(&one);
      tes_operator_destroy(&op);
    }
    leave(&p);
  }
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(operators_are_their_definition), cmocka_unit_test(matrices_are_the_operator),
      cmocka_unit_test(polynomials_are_transported),    cmocka_unit_test(whole_residuals_vanish),
      cmocka_unit_test(conservative_sums_are_zero),     cmocka_unit_test(threads_do_not_matter),
      cmocka_unit_test(what_cannot_be_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
