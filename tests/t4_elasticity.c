/* Run: ctest -R t4_elasticity. Operators of kind elasticity against the plain version from the definition: boxes,
 * graded boxes, deformed cells, a ball, forests with hanging nodes, 2D and 3D, degrees to 8, both precisions; constant
 * and varying coefficients, masses, springs, components that are free on a boundary; diagonal by unit vectors, lifting,
 * symmetry, rigid motions, the same bits for any number of threads, refusals.
 * Labels: threads */
#include "elasticity_operator_testing.h"

static void operators_are_their_definition(void **state) {
  TesContext *ctx;
  (void)state;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0), TES_OK);
  for (int kind = 0; kind < KINDS; kind++)
    for (int dim = 2; dim <= 3; dim++)
      for (int degree = 1; degree <= (dim == 2 ? 8 : 3); degree++)
        for (int precision = TES_DOUBLE; precision <= TES_SINGLE; precision++) {
          Place p;
          char what[120];
          if (make_place(ctx, kind, dim, degree, degree == 2 ? ALL : SOME, &p))
            for (int terms = 0; terms < 8; terms += degree % 2 ? 1 : 7) {
              TesOperator *op;
              if (degree == 2 && terms & SPRINGS) continue;
              snprintf(what, sizeof what, "%s in %dD, degree %d, float%d, terms %d", kinds[kind], dim, degree,
                       precision == TES_DOUBLE ? 64 : 32, terms);
              assert_ok(ctx, create(&p, terms, (TesPrecision)precision, &op));
              check_products(&p, op, what);
              if (degree < 5) check_diagonal(&p, op, what);
              tes_operator_destroy(&op);
            }
          leave(&p);
        }
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

/* b - A u for values that are given, with an operator of all nodes. */
static void liftings_are_subtracted(void **state) {
  TesContext *ctx;
  (void)state;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0), TES_OK);
  for (int kind = 0; kind < KINDS; kind++) {
    Place p, whole;
    TesOperator *op, *all;
    uint64_t seed = 3;
    if (make_place(ctx, kind, 3, 2, SOME, &p)) {
      assert_true(make_place(ctx, kind, 3, 2, NONE, &whole));
      assert_ok(ctx, create(&p, SPRINGS | VARIES, TES_DOUBLE, &op));
      assert_ok(ctx, create(&whole, SPRINGS | VARIES, TES_DOUBLE, &all));
      TesVector *u = make_vector(&p, TES_DOUBLE, 0, false), *b = make_vector(&p, TES_DOUBLE, 4, false),
                *expected = make_vector(&whole, TES_DOUBLE, 0, true);
      const TesiElasticity *e = tesi_elasticity_of(op);
      double *values = calloc((size_t)op->length, sizeof *values);
      for (int64_t i = 0; i < e->constrained; i++) values[e->list[i]] = test_random(&seed);
      assert_ok(ctx, tes_vector_set(u, values));
      free(values);
      assert_ok(ctx, tes_operator_residual(all, b, u, expected));
      values = numbers_of(&p, expected);
      for (int64_t i = 0; i < e->constrained; i++) values[e->list[i]] = 0;
      assert_ok(ctx, tes_vector_set(expected, values));
      free(values);
      assert_ok(ctx, tes_operator_lift(op, u, b));
      assert_close(&p, b, expected, 1e-13, kinds[kind]);
      tes_vector_destroy(&u), tes_vector_destroy(&b), tes_vector_destroy(&expected);
      tes_operator_destroy(&op), tes_operator_destroy(&all);
      leave(&whole);
    }
    leave(&p);
  }
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

/* What nothing holds: all motions, none, those along a plane; and they are in the null space. */
static void rigid_motions_are_found(void **state) {
  TesContext *ctx;
  (void)state;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0), TES_OK);
  static const uint8_t none[8], roller[8] = {1}, rollers[8] = {1, 0, 2}, clamped[8] = {7};
  static const struct {
    const uint8_t *given;
    int what, count[2]; /* 2D, 3D */
  } cases[] = {{none, 0, {3, 6}},    {roller, 0, {1, 3}},     {rollers, 0, {0, 1}},     {clamped, 0, {0, 0}},
               {none, MASS, {0, 0}}, {none, SPRINGS, {0, 0}}, {roller, SPRINGS, {0, 0}}};
  for (int dim = 2; dim <= 3; dim++)
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      Place p;
      TesOperator *op;
      double *motion;
      int count;
      assert_true(make_place(ctx, GRADED, dim, 2, NONE, &p));
      tes_space_destroy(&p.space);
      assert_ok(ctx,
                tes_space_create(
                    ctx,
                    &(TesSpaceDesc){.mesh = p.mesh, .degree = 2, .components = dim, .given = cases[i].given},
                    &p.space));
      assert_ok(ctx, create(&p, cases[i].what, TES_DOUBLE, &op));
      assert_ok(ctx, tesi_elasticity_motions(op, &count, &motion));
      assert_int_equal(count, cases[i].count[dim - 2]);
      for (int k = 0; k < count; k++) {
        TesVector *r = make_vector(&p, TES_DOUBLE, 0, true), *y = make_vector(&p, TES_DOUBLE, 0, true);
        double norm;
        assert_ok(ctx, tes_vector_set(r, motion + k * op->length));
        assert_ok(ctx, tes_vector_norm(r, &norm));
        assert_near(norm, 1, 1e-12);
        assert_ok(ctx, tes_operator_apply(op, r, y));
        assert_ok(ctx, tes_vector_norm(y, &norm));
        assert_near(norm, 0, 1e-12);
        tes_vector_destroy(&r), tes_vector_destroy(&y);
      }
      if (motion) tesi_free(ctx, &motion);
      tes_operator_destroy(&op);
      leave(&p);
    }
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

static void threads_change_no_bit(void **state) {
  double *first = NULL;
  (void)state;
  for (int threads = 1; threads <= 4; threads++) {
    TesContext *ctx;
    Place p;
    TesOperator *op;
    assert_int_equal(
        tes_context_create(&(TesContextDesc){.device = "cpu", .threads = threads}, &ctx, NULL, 0), TES_OK);
    if (make_place(ctx, FOREST, 3, 2, SOME, &p)) {
      assert_ok(ctx, create(&p, VARIES | MASS | SPRINGS, TES_DOUBLE, &op));
      TesVector *x = make_vector(&p, TES_DOUBLE, 5, false), *y = make_vector(&p, TES_DOUBLE, 0, true);
      assert_ok(ctx, tes_operator_apply(op, x, y));
      double *values = numbers_of(&p, y);
      if (!first) first = numbers_of(&p, y);
      assert_memory_equal(values, first, (size_t)p.space->length * sizeof *values);
      free(values);
      tes_vector_destroy(&x), tes_vector_destroy(&y);
      tes_operator_destroy(&op);
    }
    leave(&p);
    tes_context_destroy(&ctx);
  }
  free(first);
}

static void refuse(const Place *p, const char *mu_text, const char *lambda_text, TesTerm extra,
                   const char *message) {
  TesFunction *mu = expression(p->ctx, mu_text), *lambda = expression(p->ctx, lambda_text);
  const TesTermDesc term[] = {{.term = TES_TERM_STRAIN, .a = {.all = mu}},
                              {.term = TES_TERM_GRAD_DIV, .a = {.all = lambda}},
                              {.term = extra}};
  TesOperator *op;
  const int terms = extra == TES_TERM_STRAIN ? 2 : 3;
  assert_int_equal(
      tes_operator_create(p->ctx, &(TesOperatorDesc){.space = p->space, .form = {terms, term, 0}}, &op),
      TES_INVALID_INPUT);
  if (!strstr(tes_context_message(p->ctx), message))
    fail_msg("'%s' is not in '%s'", message, tes_context_message(p->ctx));
  tes_context_clear(p->ctx);
  tes_function_destroy(&mu), tes_function_destroy(&lambda);
}

static void wrong_materials_are_told(void **state) {
  TesContext *ctx;
  Place p;
  (void)state;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0), TES_OK);
  assert_true(make_place(ctx, BOX, 2, 2, ALL, &p));
  refuse(&p, "-1", "1", TES_TERM_STRAIN, "lambda is 1 and mu is -1, expected mu > 0 and 2 lambda + 2 mu > 0");
  refuse(&p, "1", "-1", TES_TERM_STRAIN, "lambda is -1 and mu is 1");
  refuse(&p, "x - 0.5", "1", TES_TERM_STRAIN, "the material is not stable at (");
  refuse(&p, "1", "1", TES_TERM_DIFFUSION, "kind elasticity: the form has a diffusion term");
  leave(&p);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(operators_are_their_definition), cmocka_unit_test(liftings_are_subtracted),
      cmocka_unit_test(rigid_motions_are_found), cmocka_unit_test(threads_change_no_bit),
      cmocka_unit_test(wrong_materials_are_told)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
