/* Run: ctest -R t4_elasticity. Operators of kind elasticity against the plain version from the definition: boxes,
 * graded boxes, deformed cells, a ball, forests with hanging nodes, 2D and 3D, degrees to 8, both precisions; constant
 * and varying coefficients, masses, springs, components that are free on a boundary; diagonal by unit vectors, lifting,
 * symmetry, rigid motions, the same bits for any number of threads, refusals.
 * Labels: threads */
#include <math.h>
#include <stdio.h>
#include "operator/elasticity/elasticity.h"
#include "tessera/tessera.h"
#include "testing.h"

typedef struct Place {
  TesContext *ctx;
  TesMesh *mesh;
  TesSpace *space;
} Place;

static TesFunction *expression(TesContext *on, const char *text) {
  TesFunction *f;
  assert_ok(on, tes_function_create_expression(on, text, &f));
  return f;
}

enum { BOX, GRADED, FOREST, BALL, SHEARED, KINDS };
static const char *const kinds[] = {"box", "graded box", "forest", "ball", "sheared cells"};

/* False: a build without p4est. Component 0 has values on boundary 0, component 1 on the first two, and in 3D
 * component 2 on boundary 3 (a ball: component 1 on its surface); all: all have everywhere; none: nothing is given. */
typedef enum Given { SOME, ALL, NONE } Given;

static bool make_place(TesContext *ctx, int kind, int dim, int degree, Given given, Place *p) {
  static const uint8_t some[8] = {3, 2, 0, 4}, round[8] = {2}, none[8];
  const double graded[] = {0, 0.2, 0.5, 1};
  TesFunction *corner = expression(ctx, "0.1 - x - y - z"), *map[3];
  map[0] = expression(ctx, "x + 0.3*y"), map[1] = expression(ctx, "y + 0.2*x"),
  map[2] = expression(ctx, "z + 0.1*x");
  const TesMeshDesc desc[] = {
      {.dim = dim, .cells = {2, 2, 2}, .kind = TES_MESH_BOX},
      {.dim = dim, .cells = {3, 2, 2}, .coordinates = {graded}, .kind = TES_MESH_BOX},
      {.dim = dim, .cells = {2, 2, 2}, .refine_where = corner, .kind = TES_MESH_FOREST},
      {.dim = dim, .domain = TES_DOMAIN_BALL, .radius = 1, .geometry_degree = 2},
      {.dim = dim,
       .cells = {3, 2, 2},
       .map = {map[0], map[1], dim == 3 ? map[2] : NULL},
       .kind = TES_MESH_CELLS},
  };
  *p = (Place){.ctx = ctx};
  const TesStatus status = tes_mesh_create(ctx, &desc[kind], &p->mesh);
  tes_function_destroy(&corner);
  for (int d = 0; d < 3; d++) tes_function_destroy(&map[d]);
  if (status == TES_MISSING) return false;
  assert_ok(ctx, status);
  assert_ok(ctx, tes_space_create(ctx,
                                  &(TesSpaceDesc){.mesh = p->mesh,
                                                  .degree = degree,
                                                  .components = dim,
                                                  .given = given == ALL    ? NULL
                                                           : given == SOME ? (kind == BALL ? round : some)
                                                                           : none},
                                  &p->space));
  return true;
}

static void leave(Place *p) {
  tes_space_destroy(&p->space);
  tes_mesh_destroy(&p->mesh);
}

enum { VARIES = 1, MASS = 2, SPRINGS = 4 };

static TesStatus create(const Place *p, int what, TesPrecision precision, TesOperator **op) {
  TesFunction *mu = expression(p->ctx, what & VARIES ? "1 + x*x" : "2"),
              *lambda = expression(p->ctx, what & VARIES ? "3 + y - 2*x" : "5"),
              *c = expression(p->ctx, "0.7"), *alpha = expression(p->ctx, "1.3 + x");
  TesTermDesc term[4] = {{.term = TES_TERM_STRAIN, .a = {.all = mu}},
                         {.term = TES_TERM_GRAD_DIV, .a = {.all = lambda}}};
  int terms = 2;
  if (what & MASS) term[terms++] = (TesTermDesc){.term = TES_TERM_MASS, .a = {.all = c}};
  if (what & SPRINGS) {
    const int last = tes_mesh_boundaries(p->mesh) - 1;
    term[terms++] = (TesTermDesc){.term = TES_TERM_ROBIN, .a = {.all = alpha}, .boundary = last};
  }
  const TesStatus status = tes_operator_create(
      p->ctx, &(TesOperatorDesc){.space = p->space, .form = {terms, term, 0}, .precision = precision}, op);
  TesFunction **all[] = {&mu, &lambda, &c, &alpha};
  for (int i = 0; i < 4; i++) tes_function_destroy(all[i]);
  return status;
}

/* Random numbers, zero where values are given; or NaN. */
static TesVector *make_vector(const Place *p, TesPrecision precision, uint64_t seed, bool nan) {
  TesVector *v;
  double *values = calloc((size_t)p->space->length, sizeof *values);
  for (int64_t i = 0; i < p->space->length; i++) values[i] = nan ? NAN : test_random(&seed);
  for (int c = 0; c < p->space->parts && !nan; c++) {
    const TesiCellView *cells;
    assert_ok(p->ctx, tesi_space_cells(p->space->part[c], &cells));
    for (int64_t i = 0; i < cells->length - cells->dofs; i++)
      values[p->space->part_first[c] + cells->constrained[i]] = 0;
  }
  assert_ok(p->ctx, tes_vector_create(p->ctx, p->space->length, precision, &v));
  assert_ok(p->ctx, tes_vector_set(v, values));
  free(values);
  return v;
}

static double *numbers_of(const Place *p, const TesVector *v) {
  double *values = calloc((size_t)p->space->length, sizeof *values);
  assert_ok(p->ctx, tes_vector_get(v, values));
  return values;
}

/* |v - scale w| is at most so much of |w|. */
static void assert_close(const Place *p, const TesVector *v, const TesVector *w, double most,
                         const char *what) {
  double *a = numbers_of(p, v), *b = numbers_of(p, w), distance = 0, size = 0;
  for (int64_t i = 0; i < p->space->length; i++)
    distance += (a[i] - b[i]) * (a[i] - b[i]), size += b[i] * b[i];
  if (!(sqrt(distance) <= most * sqrt(size)))
    fail_msg("%s: off by %g of %g", what, sqrt(distance), sqrt(size));
  free(a);
  free(b);
}

static void check_products(const Place *p, const TesOperator *op, const char *what) {
  const TesPrecision precision = op->precision;
  const double most = precision == TES_DOUBLE ? 1e-12 : 1e-5;
  double xy, yx;
  TesVector *x = make_vector(p, precision, 7, false), *y = make_vector(p, precision, 0, true),
            *plain = make_vector(p, TES_DOUBLE, 0, true), *b = make_vector(p, precision, 9, false),
            *r = make_vector(p, precision, 0, true);
  assert_string_equal(tes_operator_info(op).kind, "elasticity");
  assert_ok(p->ctx, tes_operator_apply(op, x, y));
  assert_ok(p->ctx, tesi_operator_apply_ref(op, x, plain));
  assert_close(p, y, plain, most, what);
  assert_ok(p->ctx, tes_operator_residual(op, b, x, r));
  assert_ok(p->ctx, tes_vector_axpy(1, y, r));
  assert_close(p, r, b, 100 * most, what);
  assert_ok(p->ctx, tes_vector_copy(b, 1, r)); /* in place */
  assert_ok(p->ctx, tes_operator_residual(op, r, x, r));
  assert_ok(p->ctx, tes_vector_axpy(1, y, r));
  assert_close(p, r, b, 100 * most, what);
  assert_ok(p->ctx, tes_vector_dot(b, y, &xy));
  assert_ok(p->ctx, tes_operator_apply(op, b, r));
  assert_ok(p->ctx, tes_vector_dot(x, r, &yx));
  assert_near(xy, yx, 10 * most * fabs(xy) + 100 * most);
  TesVector *const all[] = {x, y, plain, b, r};
  for (int i = 0; i < 5; i++) tes_vector_destroy((TesVector **)&all[i]);
}

/* By unit vectors: rows of constrained nodes are those of the identity. */
static void check_diagonal(const Place *p, const TesOperator *op, const char *what) {
  const int64_t n = p->space->length, stride = 1 + n / 60;
  TesVector *d = make_vector(p, op->precision, 0, true), *x = make_vector(p, op->precision, 0, true),
            *y = make_vector(p, op->precision, 0, true);
  double *one = calloc((size_t)n, sizeof *one);
  assert_ok(p->ctx, tes_operator_diagonal(op, d));
  double *diagonal = numbers_of(p, d);
  for (int64_t i = 0; i < n; i += stride) {
    one[i] = 1;
    assert_ok(p->ctx, tes_vector_set(x, one));
    one[i] = 0;
    assert_ok(p->ctx, tes_operator_apply(op, x, y));
    double *column = numbers_of(p, y);
    if (!(fabs(column[i] - diagonal[i]) <= (op->precision == TES_DOUBLE ? 1e-11 : 1e-4) * diagonal[i]))
      fail_msg("%s: the diagonal is %.12g at %lld, told as %.12g", what, column[i], (long long)i,
               diagonal[i]);
    free(column);
  }
  free(one);
  free(diagonal);
  tes_vector_destroy(&d), tes_vector_destroy(&x), tes_vector_destroy(&y);
}

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
  refuse(&p, "1", "1", TES_TERM_DIFFUSION, "a term is none of strain, grad-div, mass and Robin");
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
