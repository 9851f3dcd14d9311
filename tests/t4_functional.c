/* Run: ctest -R t4_functional. Loads, boundary values, errors and values on boxes, deformed boxes and forests:
 * against the plain versions for every degree, exact integrals, orders of convergence, the same bits for any number
 * of threads, what is refused, and failing allocations.
 * TESSERA_TEST_DEGREES leaves degrees out.
 * Labels: threads simd */
#include "device_testing.h"
#include "failing_allocator.h"
#include "functional/functional.h"
#include "functional_testing.h"

static const char smooth_text[] = "sin(2*x + 0.3)*cos(y - 0.2) + 0.5*exp(0.7*z)*x*y";
static const char other_text[] = "2 + x*y - z";

static double smooth(double x, double y, double z) {
  return sin(2 * x + 0.3) * cos(y - 0.2) + 0.5 * exp(0.7 * z) * x * y;
}

static void smooth_values(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                          double *out) {
  (void)user, (void)t;
  for (int64_t i = 0; i < n; i++) out[i] = smooth(x[i], y[i], z[i]);
}

static TesContext *make_context(int threads) {
  TesContext *context;
  const TesContextDesc desc = {.device = "cpu", .threads = threads};
  assert_int_equal(tes_context_create(&desc, &context, NULL, 0), TES_OK);
  return context;
}

/* ---- against the plain versions ------------------------------------------------------------------------ */

typedef struct Data {
  TesFunction *f, *other, *callback, *constant;
  const TesFunction *material[2], *g[6];
} Data;

/* Everywhere an expression, a callback or a constant stands somewhere. */
static Data make_data(const TestPlace *p) {
  Data d = {.f = test_expression(p->ctx, smooth_text), .other = test_expression(p->ctx, other_text)};
  assert_ok(p->ctx, tes_function_create_callback(p->ctx, smooth_values, NULL, NULL, &d.callback));
  assert_ok(p->ctx, tes_function_create_constant(p->ctx, 1.5, &d.constant));
  d.material[0] = d.other;
  const TesFunction *const g[3] = {d.callback, d.constant, d.other};
  for (int b = 0; b < p->boundaries; b++)
    if (p->is.natural >> b & 1) d.g[b] = g[b % 3];
  return d;
}

static void free_data(Data *d) {
  tes_function_destroy(&d->f), tes_function_destroy(&d->other);
  tes_function_destroy(&d->callback), tes_function_destroy(&d->constant);
}

static void check_load(const TestPlace *p, const TesLoadDesc *desc) {
  double *expected = test_malloc((size_t)p->length * sizeof *expected),
         *values = test_malloc((size_t)p->length * sizeof *values);
  TesVector *b = test_place_vector(p, NULL);
  assert_ok(p->ctx, tes_functional_load(desc, b));
  assert_ok(p->ctx, tes_vector_get(b, values));
  assert_ok(p->ctx, tesi_load_ref(desc, false, p->is.degree + 3, expected));
  test_close(values, expected, p->length, 1e-13 * (10 + p->is.degree), &p->is, "load");
  tes_vector_destroy(&b);
  test_free(expected), test_free(values);
}

/* int h d phi / d x_c, h of materials and of all. */
static void check_slopes(const TestPlace *p, const Data *d) {
  double *expected = test_malloc((size_t)p->length * sizeof *expected),
         *values = test_malloc((size_t)p->length * sizeof *values);
  TesVector *b = test_place_vector(p, NULL);
  for (int c = 0; c < p->is.dim; c++) {
    const TesiLoad load = {.space = p->space, .h = d->f, .material_h = d->material, .direction = c};
    assert_ok(p->ctx, tesi_functional_load(&load, c == 0, b));
    assert_ok(p->ctx, tes_vector_get(b, values));
    assert_ok(p->ctx, tesi_load_component_ref(&load, c == 0, p->is.degree + 3, expected));
    test_close(values, expected, p->length, 1e-13 * (10 + p->is.degree), &p->is, "load of slopes");
  }
  tes_vector_destroy(&b);
  test_free(expected), test_free(values);
}

static void check_errors(const TestPlace *p, const TesFunction *u_of, const TesFunction *exact) {
  const size_t n = (size_t)p->cells;
  TesVector *u = test_place_vector(p, u_of);
  double *cells = test_malloc(4 * n * sizeof *cells), *at = test_malloc((size_t)p->length * sizeof *at),
         l2 = NAN, h1 = NAN, squares[2] = {0, 0}, alone = NAN;
  for (size_t i = 0; i < 4 * n; i++) cells[i] = NAN;
  assert_ok(p->ctx, tes_vector_get(u, at));
  assert_ok(p->ctx,
            tes_functional_error(p->space, u, (const TesFunction *[]){exact}, &l2, &h1, cells, cells + n));
  assert_ok(p->ctx, tesi_error_ref(p->space, at, (const TesFunction *[]){exact}, p->is.degree + 3,
                                   cells + 2 * n, cells + 3 * n));
  test_close(cells, cells + 2 * n, p->cells, 1e-9, &p->is, "cells' L2");
  test_close(cells + n, cells + 3 * n, p->cells, 1e-9, &p->is, "cells' H1");
  for (size_t i = 0; i < 2 * n; i++) squares[i / n] += cells[2 * n + i];
  assert_near(l2 * l2, squares[0], 1e-11 * squares[0]);
  assert_near(h1 * h1, squares[1], 1e-11 * squares[1]);
  assert_ok(p->ctx,
            tes_functional_error(p->space, u, (const TesFunction *[]){exact}, &alone, NULL, NULL, NULL));
  assert_true(alone == l2);
  tes_vector_destroy(&u);
  test_free(cells), test_free(at);
}

/* int u and its mean over the domain and boundaries, by the weights of the plain load. */
static void check_integrals(const TestPlace *p, const TesFunction *u_of) {
  TesVector *u = test_place_vector(p, u_of);
  TesFunction *one;
  double *w = test_malloc((size_t)p->length * sizeof *w), *at = test_malloc((size_t)p->length * sizeof *at);
  assert_ok(p->ctx, tes_function_create_constant(p->ctx, 1, &one));
  assert_ok(p->ctx, tes_vector_get(u, at));
  for (int b = -1; b < p->boundaries; b++) {
    const TesFunction *g[6] = {NULL};
    double value = NAN, size = NAN, mean = NAN, expected = 0, scale = 0, area = 0;
    if (b >= 0) g[b] = one;
    assert_ok(p->ctx, tesi_load_ref(&(TesLoadDesc){.space = p->space, .f = {b < 0 ? one : NULL}, .g = {g}},
                                    true, p->is.degree + 3, w));
    for (int64_t i = 0; i < p->length; i++)
      expected += w[i] * at[i], scale += fabs(w[i] * at[i]), area += w[i];
    TesValue what = {.kind = TES_VALUE_INTEGRAL, .where = b < 0 ? TES_ON_DOMAIN : TES_ON_BOUNDARY, .number = b};
    assert_ok(p->ctx, tes_functional_value(p->space, u, &what, &value));
    assert_ok(p->ctx, tes_functional_value(p->space, NULL, &what, &size));
    what.kind++; /* the mean */
    assert_ok(p->ctx, tes_functional_value(p->space, u, &what, &mean));
    assert_near(value, expected, 1e-12 * scale);
    assert_near(size, area, 1e-12 * area);
    assert_near(mean, expected / area, 1e-12 * scale / area);
  }
  tes_vector_destroy(&u), tes_function_destroy(&one);
  test_free(w), test_free(at);
}

static void check_place(TesContext *ctx, const TestCase *is) {
  TestPlace p = test_place(ctx, is);
  Data d = make_data(&p);
  const TesLoadDesc all = {.space = p.space, .f = {d.f}, .material_f = {d.material}, .g = {d.g}};
  const TesLoadDesc constant = {.space = p.space, .f = {d.constant}}, fluxes = {.space = p.space, .g = {d.g}},
                    parts = {.space = p.space, .material_f = {d.material}};
  check_load(&p, &all);
  check_load(&p, &constant);
  check_load(&p, &fluxes);
  check_load(&p, &parts);
  check_slopes(&p, &d);
  check_errors(&p, d.other, d.f);
  check_errors(&p, d.f, NULL);
  check_integrals(&p, d.f);
  free_data(&d);
  test_place_free(&p);
}

static void the_definitions_hold(void **state) {
  (void)state;
  TesContext *ctx = make_context(2);
  const bool forests = test_has_forests(ctx);
  for (int degree = 1; degree <= 12; degree++) {
    if (!test_degree(degree)) continue;
    check_place(ctx, &(TestCase){TEST_BOX, 2, degree, 0x6u + (unsigned)degree % 3, degree < 4 ? 9 : 2});
    check_place(ctx, &(TestCase){TEST_CELLS, 2, degree, 0x9, 3});
    if (degree > 8 || !forests) continue;
    check_place(ctx, &(TestCase){TEST_LATTICE, 2, degree, degree % 3u, 37});
    check_place(ctx, &(TestCase){TEST_BALL, 2, degree, degree % 2u, 21});
  }
  check_place(ctx, &(TestCase){TEST_BOX, 2, 20, 0xf, 1});
  check_place(ctx, &(TestCase){TEST_CELLS, 2, 15, 0x6, 1});
  for (int degree = 1; degree <= 3; degree++) {
    check_place(ctx, &(TestCase){TEST_BOX, 3, degree, 0x35, 3});
    check_place(ctx, &(TestCase){TEST_CELLS, 3, degree, 0x12, 3});
    if (!forests) continue;
    check_place(ctx, &(TestCase){TEST_LATTICE, 3, degree, 0x2, degree < 3 ? 40 : 20});
    check_place(ctx, &(TestCase){TEST_BALL, 3, degree, 0x1, degree < 3 ? 40 : 14});
  }
  if (forests) check_place(ctx, &(TestCase){TEST_LATTICE, 3, 4, 0x3, 5});
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

/* ---- exact values -------------------------------------------------------------------------------------- */

static void product(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                    double *out) {
  (void)user, (void)t;
  for (int64_t i = 0; i < n; i++) out[i] = x[i] * y[i] * z[i];
}

/* u = x y z on the unit cube of hanging cells, of which the space has it. */
static void check_unit(TesContext *ctx, int degree) {
  TestPlace p = test_place(ctx, &(TestCase){TEST_UNIT, 3, degree, 0x3f, 50});
  TesFunction *f;
  double l2, h1, value, dot;
  assert_ok(ctx, tes_function_create_callback(ctx, product, NULL, NULL, &f));
  TesVector *u = test_place_vector(&p, f), *b = test_place_vector(&p, NULL);
  assert_ok(ctx, tes_functional_load(&(TesLoadDesc){.space = p.space, .f = {f}}, b));
  assert_ok(ctx, tes_vector_dot(b, u, &dot));
  assert_near(dot, 1. / 27, 1e-14);
  const TesFunction *const g[6] = {[TES_FRONT] = f};
  assert_ok(ctx, tes_functional_load(&(TesLoadDesc){.space = p.space, .g = {g}}, b));
  assert_ok(ctx, tes_vector_dot(b, u, &dot));
  assert_near(dot, 1. / 9, 1e-13);
  assert_ok(ctx, tes_functional_value(p.space, u, &(TesValue){.kind = TES_VALUE_MEAN, .point = {0}}, &value));
  assert_near(value, 1. / 8, 1e-13);
  assert_ok(ctx, tes_functional_value(
                     p.space, u, &(TesValue){TES_VALUE_MEAN, TES_ON_BOUNDARY, TES_TOP, {0}, NULL}, &value));
  assert_near(value, 1. / 4, 1e-13);
  assert_ok(ctx, tes_functional_error(p.space, u, NULL, &l2, &h1, NULL, NULL));
  assert_near(l2 * l2, 1. / 27, 1e-14);
  assert_near(h1 * h1, 1. / 3, 1e-13);
  assert_ok(ctx, tes_functional_error(p.space, u, (const TesFunction *[]){f}, &l2, &h1, NULL, NULL));
  assert_near(l2, 0, 1e-13);
  assert_near(h1, 0, 1e-11);
  uint64_t seed = 3;
  for (int i = 0; i < 20; i++) {
    TesValue at = {.kind = TES_VALUE_POINT};
    for (int d = 0; d < 3; d++) at.point[d] = i ? (test_random(&seed) + 1) / 2 : 1;
    assert_ok(ctx, tes_functional_value(p.space, u, &at, &value));
    assert_near(value, at.point[0] * at.point[1] * at.point[2], 1e-13);
  }
  const TesValue outside = {.kind = TES_VALUE_POINT, .point = {0.5, 1.01, 0.7}};
  assert_int_equal(tes_functional_value(p.space, u, &outside, &value), TES_INVALID_INPUT);
  tes_context_clear(ctx);
  tes_vector_destroy(&u), tes_vector_destroy(&b), tes_function_destroy(&f);
  test_place_free(&p);
}

/* The same on [0, 2] x [0, 1] x [0, 3]. */
static void check_box(TesContext *ctx, int degree) {
  TesMesh *mesh;
  TesFunction *f;
  double dot, l2, h1, value;
  const TesMeshDesc box = {.cells = {3, 2, 1}, .upper = {2, 1, 3}};
  assert_ok(ctx, tes_mesh_create(ctx, &box, &mesh));
  TestPlace p = test_place_on(ctx, &(TestCase){TEST_BOX, 3, degree, 0x3f, 3}, mesh);
  assert_ok(ctx, tes_function_create_callback(ctx, product, NULL, NULL, &f));
  TesVector *u = test_place_vector(&p, f), *b = test_place_vector(&p, NULL);
  assert_ok(ctx, tes_functional_load(&(TesLoadDesc){.space = p.space, .f = {f}}, b));
  assert_ok(ctx, tes_vector_dot(b, u, &dot));
  assert_near(dot, 8. / 3 * 1. / 3 * 9, 1e-12); /* int (xyz)^2 */
  const TesFunction *const g[6] = {[TES_FRONT] = f};
  assert_ok(ctx, tes_functional_load(&(TesLoadDesc){.space = p.space, .g = {g}}, b));
  assert_ok(ctx, tes_vector_dot(b, u, &dot));
  assert_near(dot, 8. / 3 * 1. / 3 * 9, 1e-12); /* int over z = 3 of (3xy)^2 */
  assert_ok(ctx,
            tes_functional_value(p.space, u, &(TesValue){.kind = TES_VALUE_INTEGRAL, .point = {0}}, &value));
  assert_near(value, 2 * 0.5 * 4.5, 1e-12);
  assert_ok(ctx, tes_functional_value(p.space, u,
                                      &(TesValue){.kind = TES_VALUE_POINT, .point = {1.3, 1, 0.7}}, &value));
  assert_near(value, 1.3 * 0.7, 1e-13);
  assert_ok(ctx, tes_functional_error(p.space, u, NULL, &l2, &h1, NULL, NULL));
  assert_near(l2 * l2, 8, 1e-11);
  assert_near(h1 * h1, 6 + 24 + 8. / 3, 1e-10); /* |yz|^2 + |xz|^2 + |xy|^2 */
  assert_ok(ctx, tes_functional_error(p.space, u, (const TesFunction *[]){f}, &l2, &h1, NULL, NULL));
  assert_near(l2, 0, 1e-12);
  assert_near(h1, 0, 1e-10);
  const TesValue outside = {.kind = TES_VALUE_POINT, .point = {1.3, 1.01, 0.7}};
  assert_int_equal(tes_functional_value(p.space, u, &outside, &value), TES_INVALID_INPUT);
  tes_context_clear(ctx);
  tes_vector_destroy(&u), tes_vector_destroy(&b), tes_function_destroy(&f);
  test_place_free(&p);
}

/* Volume and surface of the ball, and int r^2, up to what cells of degree 3 give. */
static void check_ball(TesContext *ctx) {
  TestPlace p = test_place(ctx, &(TestCase){TEST_BALL, 3, 2, 1, 300});
  TesFunction *f = test_expression(ctx, "x*x + y*y + z*z");
  const TesFunction *const g[1] = {f};
  TesVector *b = test_place_vector(&p, NULL), *one = test_place_vector(&p, NULL);
  double value;
  assert_ok(ctx, tes_vector_fill(one, 1));
  assert_ok(ctx, tes_functional_value(p.space, NULL, &(TesValue){.kind = TES_VALUE_INTEGRAL, .point = {0}},
                                      &value));
  assert_near(value, 4 * M_PI / 3, 1e-4);
  assert_ok(ctx, tes_functional_value(p.space, NULL, &(TesValue){.where = TES_ON_BOUNDARY}, &value));
  assert_near(value, 4 * M_PI, 2e-3);
  assert_ok(ctx, tes_functional_load(&(TesLoadDesc){.space = p.space, .f = {f}, .g = {g}}, b));
  assert_ok(ctx, tes_vector_dot(b, one, &value));
  assert_near(value, 4 * M_PI / 5 + 4 * M_PI, 3e-3);
  tes_vector_destroy(&b), tes_vector_destroy(&one), tes_function_destroy(&f);
  test_place_free(&p);
}

static void integrals_are_exact(void **state) {
  (void)state;
  TesContext *ctx = make_context(2);
  for (int degree = 1; degree <= 20; degree += degree < 4 ? 1 : 8) check_box(ctx, degree);
  if (test_has_forests(ctx)) {
    for (int degree = 1; degree <= 8; degree += degree < 4 ? 1 : 2) check_unit(ctx, degree);
    check_ball(ctx);
  }
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

/* ---- orders -------------------------------------------------------------------------------------------- */

/* The ball, or a box of 4 2^level cells per direction. */
static TestPlace level_place(TesContext *ctx, bool forest, int dim, int degree, int level) {
  const int cells = 4 << level;
  const TestCase is = {forest ? TEST_BALL : TEST_BOX, dim, degree, 0, cells};
  TesMesh *mesh;
  TesMeshDesc desc = {.dim = dim, .cells = {cells, cells, cells}};
  if (forest)
    desc = (TesMeshDesc){.domain = TES_DOMAIN_BALL, .dim = dim, .refine = 1 + level, .geometry_degree = 4};
  assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
  return test_place_on(ctx, &is, mesh);
}

/* Errors of the interpolant: order k+1 in L2 and k in H1, the same from a callback as from an expression. */
static void errors_converge_with_the_right_orders(void **state) {
  (void)state;
  TesContext *ctx = make_context(2);
  TesFunction *callback, *expression = test_expression(ctx, smooth_text);
  assert_ok(ctx, tes_function_create_callback(ctx, smooth_values, NULL, NULL, &callback));
  for (int forest = 0; forest <= test_has_forests(ctx); forest++)
    for (int dim = 2; dim <= 3; dim++)
      for (int degree = 1; degree <= (forest ? 3 : 4); degree++) {
        double l2[2], h1[2], other_l2, other_h1;
        for (int level = 0; level < 2; level++) {
          TestPlace p = level_place(ctx, forest, dim, degree, level);
          TesVector *u = test_place_vector(&p, expression);
          assert_ok(ctx, tes_functional_error(p.space, u, (const TesFunction *[]){expression}, &l2[level],
                                              &h1[level], NULL, NULL));
          assert_ok(ctx, tes_functional_error(p.space, u, (const TesFunction *[]){callback}, &other_l2,
                                              &other_h1, NULL, NULL));
          assert_near(other_l2, l2[level], (forest ? 1e-3 : 1e-5) * l2[level]); /* coarse cells, curved */
          assert_near(other_h1, h1[level], (forest ? 1e-3 : 1e-5) * h1[level]);
          tes_vector_destroy(&u);
          test_place_free(&p);
        }
        assert_near(log2(l2[0] / l2[1]), degree + 1, forest ? 0.35 : 0.15);
        assert_near(log2(h1[0] / h1[1]), degree, forest ? 0.35 : 0.15);
      }
  tes_function_destroy(&callback), tes_function_destroy(&expression);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

/* ---- threads ------------------------------------------------------------------------------------------- */

enum { THREADS = 4 };

/* Load, lifting, cells' squares, norms and the integral behind each other. */
static double *all_values(const TestCase *is, int threads, size_t *count) {
  TesContext *ctx = make_context(threads);
  TestPlace p = test_place(ctx, is);
  Data d = make_data(&p);
  const TesFunction *lifted[6] = {NULL};
  TesVector *b = test_place_vector(&p, NULL), *u = test_place_vector(&p, NULL);
  *count = (size_t)(2 * p.length + 2 * p.cells + 3);
  double *values = malloc(*count * sizeof *values), *cells = values + 2 * p.length,
         *norms = cells + 2 * p.cells;
  for (int i = 0; i < p.boundaries; i++) lifted[i] = i % 2 ? d.callback : d.other;
  assert_ok(
      ctx,
      tes_functional_load(
          &(TesLoadDesc){.space = p.space, .f = {d.callback}, .material_f = {d.material}, .g = {d.g}}, b));
  assert_ok(ctx, tes_functional_lifting(p.space, (const TesFunction *const *[]){lifted}, u));
  assert_ok(ctx, tes_vector_get(b, values));
  assert_ok(ctx, tes_vector_get(u, values + p.length));
  assert_ok(ctx, tes_functional_error(p.space, b, (const TesFunction *[]){d.callback}, norms, norms + 1,
                                      cells, cells + p.cells));
  assert_ok(ctx, tes_functional_value(p.space, b, &(TesValue){.kind = TES_VALUE_INTEGRAL, .point = {0}},
                                      norms + 2));
  tes_vector_destroy(&b), tes_vector_destroy(&u), free_data(&d);
  test_place_free(&p);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
  return values;
}

static void check_threads(const TestCase *is) {
  size_t count, other;
  double *first = all_values(is, 1, &count);
  for (int threads = 2; threads <= THREADS; threads++) {
    double *values = all_values(is, threads, &other);
    assert_int_equal(count, other);
    assert_memory_equal(first, values, count * sizeof *values);
    free(values);
  }
  free(first);
}

static void bits_do_not_depend_on_threads(void **state) {
  (void)state;
  TesContext *ctx = make_context(1);
  const bool forests = test_has_forests(ctx);
  tes_context_destroy(&ctx);
  check_threads(&(TestCase){TEST_BOX, 3, 3, 0x15, 5});
  check_threads(&(TestCase){TEST_CELLS, 2, 3, 0x5, 60});
  if (!forests) return;
  check_threads(&(TestCase){TEST_LATTICE, 3, 2, 0x2, 1500}); /* some tasks of 512 cells */
  check_threads(&(TestCase){TEST_BALL, 2, 3, 0x0, 2000});
}

/* ---- boundary values ----------------------------------------------------------------------------------- */

/* boundary[length]: the largest number of those with given values and a function that a node is on, -1: none. */
static void find_boundaries(const TestPlace *p, const TesFunction *const *g, int *boundary) {
  const int n = p->is.degree + 1, nodes = p->is.dim == 3 ? n * n * n : n * n;
  const int32_t *index;
  assert_ok(p->ctx, tes_space_index(p->space, &index, NULL));
  for (int64_t i = 0; i < p->length; i++) boundary[i] = -1;
  for (int64_t c = 0; c < p->cells; c++)
    for (int f = 0, name; f < 2 * p->is.dim; f++) {
      if (!tes_mesh_on_boundary(p->mesh, c, f, &name) || !g[name] || (p->is.natural >> name & 1)) continue;
      for (int i = 0; i < nodes; i++) {
        const int at[3] = {i % n, i / n % n, i / n / n};
        if (at[f / 2] != (f % 2 ? n - 1 : 0)) continue;
        const int32_t node = tesi_cells_node(index[c * nodes + i]);
        boundary[node] = boundary[node] > name ? boundary[node] : name;
      }
    }
}

static void check_lifting(TesContext *ctx, const TestCase *is, unsigned with) {
  TestPlace p = test_place(ctx, is);
  Data d = make_data(&p);
  const TesFunction *g[6] = {NULL}, *const some[3] = {d.callback, d.constant, d.other};
  TesVector *u = test_place_vector(&p, NULL);
  double *x = test_place_nodes(&p), *values = test_malloc((size_t)p.length * sizeof *values);
  int *boundary = test_malloc((size_t)p.length * sizeof *boundary), lifted = 0;
  for (int b = 0; b < p.boundaries; b++) g[b] = with >> b & 1 ? some[b % 3] : NULL;
  assert_ok(ctx, tes_functional_lifting(p.space, (const TesFunction *const *[]){g}, u));
  assert_ok(ctx, tes_vector_get(u, values));
  find_boundaries(&p, g, boundary);
  for (int64_t i = 0; i < p.length; i++) {
    double expected = 0;
    if (boundary[i] >= 0)
      assert_ok(ctx, tes_function_evaluate(g[boundary[i]], 1, &x[3 * i], &x[3 * i + 1], &x[3 * i + 2], 0,
                                           &expected));
    lifted += boundary[i] >= 0;
    assert_near(values[i], expected, boundary[i] >= 0 ? 1e-13 : 0);
  }
  assert_true(lifted > 0);
  tes_vector_destroy(&u), free_data(&d);
  test_free(x), test_free(values), test_free(boundary);
  test_place_free(&p);
}

static void liftings_hold_the_boundary_values(void **state) {
  (void)state;
  TesContext *ctx = make_context(2);
  for (int degree = 1; degree <= 8; degree++) {
    if (!test_degree(degree)) continue;
    check_lifting(ctx, &(TestCase){TEST_BOX, 2, degree, 1 << TES_TOP, 2}, 0xf);
    check_lifting(ctx, &(TestCase){TEST_BOX, 3, degree, 0x20, 3}, 0x17);
    check_lifting(ctx, &(TestCase){TEST_CELLS, 3, degree, 0x20, 3}, 0x17);
    if (!test_has_forests(ctx)) continue;
    check_lifting(ctx, &(TestCase){TEST_LATTICE, 2, degree, 0, 60}, 0x3);
    check_lifting(ctx, &(TestCase){TEST_LATTICE, 3, degree, 0, 60}, 0x1);
    check_lifting(ctx, &(TestCase){TEST_LATTICE, 3, degree, 0x2, 60}, 0x3);
    check_lifting(ctx, &(TestCase){TEST_UNIT, 3, degree, 0x10, 60}, 0x3f);
    check_lifting(ctx, &(TestCase){TEST_BALL, 3, degree, 0, 60}, 0x1);
  }
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

/* ---- what is refused ----------------------------------------------------------------------------------- */

static void nan_behind(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                       double *out) {
  (void)user, (void)y, (void)z, (void)t;
  for (int64_t i = 0; i < n; i++) out[i] = sqrt(0.1 - x[i]);
}

static void check_refused(TesContext *ctx, const TestCase *is) {
  TestCase given = *is;
  TestPlace p = test_place(ctx, is);
  TesFunction *f;
  TesVector *b = test_place_vector(&p, NULL), *short_one;
  double l2, h1;
  const TesFunction *g[6] = {NULL};
  const TesValue nowhere = {TES_VALUE_MEAN, TES_ON_BOUNDARY, p.boundaries, {0}, NULL};
  assert_ok(ctx, tes_vector_fill(b, 0));
  assert_ok(ctx, tes_function_create_callback(ctx, nan_behind, NULL, NULL, &f));
  assert_int_equal(tes_functional_load(&(TesLoadDesc){.space = p.space, .f = {f}}, b), TES_NAN);
  assert_non_null(strstr(tes_context_message(ctx), "nan at (0."));
  tes_context_clear(ctx);
  for (int i = 0; i < p.boundaries; i++) g[i] = is->natural >> i & 1 ? f : NULL;
  assert_int_equal(tes_functional_load(&(TesLoadDesc){.space = p.space, .g = {g}}, b), TES_NAN);
  tes_context_clear(ctx);
  assert_int_equal(tes_functional_error(p.space, b, (const TesFunction *[]){f}, &l2, &h1, NULL, NULL),
                   TES_NAN);
  tes_context_clear(ctx);
  assert_int_equal(tes_functional_value(p.space, b, &nowhere, &l2), TES_INVALID_INPUT);
  tes_context_clear(ctx);
  assert_ok(ctx, tes_vector_create(ctx, p.length - 1, TES_DOUBLE, &short_one));
  assert_int_equal(tes_functional_load(&(TesLoadDesc){.space = p.space}, short_one), TES_INVALID_INPUT);
  tes_context_clear(ctx);
  assert_int_equal(tes_functional_error(p.space, short_one, NULL, &l2, &h1, NULL, NULL), TES_INVALID_INPUT);
  tes_context_clear(ctx);
  test_place_free(&p);
  given.natural = 0;
  p = test_place(ctx, &given);
  assert_int_equal(tes_functional_load(&(TesLoadDesc){.space = p.space, .g = {g}}, b), TES_INVALID_INPUT);
  tes_context_clear(ctx);
  assert_int_equal(tes_functional_lifting(p.space, (const TesFunction *const *[]){g}, b), TES_NAN);
  tes_context_clear(ctx);
  tes_vector_destroy(&b), tes_vector_destroy(&short_one), tes_function_destroy(&f);
  test_place_free(&p);
  assert_int_equal(tes_context_memory(ctx), 0);
}

static void wrong_data_are_told(void **state) {
  (void)state;
  TesContext *ctx = make_context(2);
  check_refused(ctx, &(TestCase){TEST_BOX, 2, 2, 0xf, 9});
  check_refused(ctx, &(TestCase){TEST_CELLS, 2, 2, 0xf, 9});
  if (test_has_forests(ctx)) check_refused(ctx, &(TestCase){TEST_BALL, 2, 2, 0x1, 30});
  tes_context_destroy(&ctx);
}

/* A pole outside of its material is none: batches have cells of several. */
static void materials_are_apart(void **state) {
  (void)state;
  TesContext *ctx = make_context(1);
  if (test_has_forests(ctx)) {
    TestPlace p = test_place(ctx, &(TestCase){TEST_LATTICE, 2, 2, 0x3, 1}); /* 4 trees: one, two, none, one */
    TesFunction *f[2] = {test_expression(ctx, "1"),
                         test_expression(ctx, "y < 1.5 && x > 0.5 ? 1 : log(-1 - x*x)")};
    const TesFunction *const by_material[2] = {f[0], f[1]};
    TesVector *b = test_place_vector(&p, NULL);
    assert_ok(ctx, tes_functional_load(&(TesLoadDesc){.space = p.space, .material_f = {by_material}}, b));
    tes_vector_destroy(&b), tes_function_destroy(&f[0]), tes_function_destroy(&f[1]);
    test_place_free(&p);
  }
  tes_context_destroy(&ctx);
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static TesStatus work(const TestPlace *p, const Data *d, TesVector *b, double *value) {
  const TesFunction *const lifted[6] = {d->f, d->other};
  TesStatus status = tes_functional_load(
      &(TesLoadDesc){.space = p->space, .f = {d->f}, .material_f = {d->material}, .g = {d->g}}, b);
  if (status == TES_OK)
    status = tes_functional_error(p->space, b, (const TesFunction *[]){d->f}, value, value, NULL, NULL);
  if (status == TES_OK)
    status =
        tes_functional_value(p->space, b, &(TesValue){TES_VALUE_MEAN, TES_ON_BOUNDARY, 0, {0}, NULL}, value);
  if (status == TES_OK)
    status =
        tes_functional_value(p->space, b, &(TesValue){.kind = TES_VALUE_POINT, .point = {0.2, 0.2}}, value);
  return status == TES_OK ? tes_functional_lifting(p->space, (const TesFunction *const *[]){lifted}, b)
                          : status;
}

static void check_allocations(const TestCase *is) {
  FailingAllocator allocator = {0};
  TesContext *ctx = failing_context(&allocator);
  TestPlace p = test_place(ctx, is);
  Data d = make_data(&p);
  TesVector *b = test_place_vector(&p, NULL);
  const long live = atomic_load(&allocator.live);
  double value;
  TesStatus status = TES_OUT_OF_MEMORY;
  long n = 0;
  while (status != TES_OK) {
    assert_true(n < 500);
    allocator.fail_at = atomic_load(&allocator.count) + ++n;
    status = work(&p, &d, b, &value);
    allocator.fail_at = 0;
    if (status != TES_OK) assert_int_equal(status, TES_OUT_OF_MEMORY);
    tes_context_clear(ctx);
    assert_int_equal(atomic_load(&allocator.live), live);
  }
  assert_true(n > 10);
  tes_vector_destroy(&b), free_data(&d);
  test_place_free(&p);
  tes_context_destroy(&ctx);
}

static void allocations_may_fail(void **state) {
  (void)state;
  TesContext *ctx = make_context(1);
  const bool forests = test_has_forests(ctx);
  tes_context_destroy(&ctx);
  check_allocations(&(TestCase){TEST_BOX, 2, 2, 0x5, 3});
  if (forests) check_allocations(&(TestCase){TEST_LATTICE, 2, 2, 0x2, 20});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_definitions_hold),
      cmocka_unit_test(integrals_are_exact),
      cmocka_unit_test(errors_converge_with_the_right_orders),
      cmocka_unit_test(bits_do_not_depend_on_threads),
      cmocka_unit_test(liftings_hold_the_boundary_values),
      cmocka_unit_test(wrong_data_are_told),
      cmocka_unit_test(materials_are_apart),
      cmocka_unit_test(allocations_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
