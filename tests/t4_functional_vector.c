/* Run: ctest -R t4_functional_vector. Loads, boundary values, errors and values of several components, and of
 * products of spaces: against the plain versions and by integrals that are known. */
#include "device_testing.h"
#include "functional/functional.h"
#include "functional_testing.h"

enum { COMPONENTS = 3 };

static const char *const text[COMPONENTS] = {"sin(2*x + 0.3) + y*y", "x*y - 0.5*z", "exp(0.5*x) - y"};

/* Component c has values on boundary c alone. */
static TesSpace *make_space(const TestPlace *p, int components) {
  TesSpace *space;
  uint8_t given[16] = {0};
  for (int c = 0; c < components && c < p->boundaries; c++) given[c] = (uint8_t)(1 << c);
  const TesSpaceDesc desc = {.mesh = p->mesh, .degree = p->is.degree, .components = components, .given = given};
  assert_ok(p->ctx, tes_space_create(p->ctx, &desc, &space));
  return space;
}

/* Scalars of degree k and k + 1. */
static TesSpace *make_product(const TestPlace *p) {
  TesSpace *part[2], *space;
  const uint8_t given[16] = {1};
  for (int c = 0; c < 2; c++) {
    const TesSpaceDesc desc = {.mesh = p->mesh, .degree = p->is.degree + c, .given = given};
    assert_ok(p->ctx, tes_space_create(p->ctx, &desc, &part[c]));
  }
  assert_ok(p->ctx, tes_space_create_product(p->ctx, 2, (const TesSpace *const *)part, &space));
  for (int c = 0; c < 2; c++) tes_space_destroy(&part[c]);
  return space;
}

typedef struct Pair {
  TesVector *vector;
  double *values, *expected;
} Pair;

/* What is to be written holds NaN. */
static Pair make_pair(const TestPlace *p, const TesSpace *space) {
  const int64_t n = tes_space_length(space);
  Pair pair = {.values = test_malloc((size_t)n * sizeof(double)),
               .expected = test_malloc((size_t)n * sizeof(double))};
  assert_ok(p->ctx, tes_vector_create(p->ctx, n, TES_DOUBLE, &pair.vector));
  assert_ok(p->ctx, tes_vector_fill(pair.vector, NAN));
  return pair;
}

static void free_pair(Pair *pair) {
  tes_vector_destroy(&pair->vector);
  test_free(pair->values), test_free(pair->expected);
}

static void check_load(const TestPlace *p, const TesSpace *space, TesFunction *const f[COMPONENTS]) {
  const TesFunction *fluxes[COMPONENTS][16] = {{NULL}}, *material[2] = {NULL, f[2]};
  TesLoadDesc desc = {.space = space};
  for (int c = 0; c < tes_space_components(space); c++) {
    for (int b = 0; b < p->boundaries; b++)
      if (!(tes_space_given(space, b) >> c & 1)) fluxes[c][b] = f[(b + c) % COMPONENTS];
    desc.f[c] = f[c], desc.g[c] = fluxes[c];
  }
  desc.material_f[1] = material;
  Pair b = make_pair(p, space);
  assert_ok(p->ctx, tes_functional_load(&desc, b.vector));
  assert_ok(p->ctx, tes_vector_get(b.vector, b.values));
  assert_ok(p->ctx, tesi_load_ref(&desc, false, p->is.degree + 3, b.expected));
  /* The rule of the second space of a product has a point more than the plain one. */
  const int64_t n = tes_space_length(space->product ? tes_space_part(space, 0) : space);
  test_close(b.values, b.expected, n, 1e-12, &p->is, "load");
  test_close(b.values + n, b.expected + n, tes_space_length(space) - n, 1e-6, &p->is, "load");
  free_pair(&b);
}

/* The interpolant of f, boundary values included. */
static TesVector *interpolate(const TestPlace *p, const TesSpace *space, TesFunction *const f[COMPONENTS]) {
  TesVector *u;
  assert_ok(p->ctx, tes_vector_create(p->ctx, tes_space_length(space), TES_DOUBLE, &u));
  assert_ok(p->ctx, tes_space_interpolate(space, (const TesFunction *const *)f, u));
  return u;
}

static void check_errors(const TestPlace *p, const TesSpace *space, TesFunction *const f[COMPONENTS]) {
  TesFunction *const turned[COMPONENTS] = {f[1], f[2], f[0]};
  const size_t n = (size_t)p->cells;
  TesVector *u = interpolate(p, space, f);
  double *cells = test_malloc(4 * n * sizeof *cells),
         *at = test_malloc((size_t)tes_space_length(space) * sizeof *at), l2, h1, sums[2] = {0};
  for (size_t i = 0; i < 4 * n; i++) cells[i] = NAN;
  assert_ok(p->ctx, tes_vector_get(u, at));
  for (int known = 0; known < 2; known++) {
    const TesFunction *const *exact = known ? (const TesFunction *const *)turned : NULL;
    assert_ok(p->ctx, tes_functional_error(space, u, exact, &l2, &h1, cells, cells + n));
    assert_ok(p->ctx, tesi_error_ref(space, at, exact, p->is.degree + 4, cells + 2 * n, cells + 3 * n));
    test_close(cells, cells + 2 * n, p->cells, 1e-6, &p->is, "cells' L2");
    test_close(cells + n, cells + 3 * n, p->cells, 1e-6, &p->is, "cells' H1");
    sums[0] = sums[1] = 0;
    for (size_t i = 0; i < 2 * n; i++) sums[i / n] += cells[i];
    assert_near(l2 * l2, sums[0], 1e-11 * sums[0]);
    assert_near(h1 * h1, sums[1], 1e-11 * sums[1]);
  }
  tes_vector_destroy(&u);
  test_free(cells), test_free(at);
}

/* The lifting is the interpolant where a component is given, and 0 elsewhere. */
static void check_lifting(const TestPlace *p, const TesSpace *space, TesFunction *const f[COMPONENTS]) {
  const TesFunction *g[COMPONENTS][16] = {{NULL}};
  const TesFunction *const *lists[COMPONENTS] = {g[0], g[1], g[2]};
  Pair u = make_pair(p, space);
  for (int c = 0; c < tes_space_components(space); c++)
    for (int b = 0; b < p->boundaries; b++) g[c][b] = f[c];
  assert_ok(p->ctx, tes_functional_lifting(space, lists, u.vector));
  assert_ok(p->ctx, tes_vector_get(u.vector, u.values));
  assert_ok(p->ctx, tes_space_interpolate(space, (const TesFunction *const *)f, u.vector));
  assert_ok(p->ctx, tes_vector_get(u.vector, u.expected));
  for (int c = 0, i = 0; c < tes_space_components(space); c++) {
    int64_t lifted = 0;
    bool given = false;
    for (int b = 0; b < p->boundaries; b++) given = given || tes_space_given(space, b) >> c & 1;
    for (const int end = (int)space->first[c + 1]; i < end; i++) {
      lifted += u.values[i] != 0;
      if (u.values[i] != 0) assert_near(u.values[i], u.expected[i], 1e-12);
    }
    assert_true((lifted > 0) == given && lifted <= space->scalar[c]->length - space->scalar[c]->dofs);
  }
  free_pair(&u);
}

/* Expressions know all components; a field of the space itself is integrated exactly. */
static void check_values(const TestPlace *p, const TesSpace *space) {
  TesFunction *f[COMPONENTS] = {test_expression(p->ctx, "1 + x"), test_expression(p->ctx, "y"),
                                test_expression(p->ctx, "2 - y")};
  TesVector *u = interpolate(p, space, f);
  double value, volume, first;
  assert_ok(p->ctx, tes_functional_value(space, NULL, &(TesValue){.kind = TES_VALUE_INTEGRAL}, &volume));
  assert_ok(p->ctx, tes_functional_value(space, u, &(TesValue){.kind = TES_VALUE_INTEGRAL}, &first));
  assert_ok(p->ctx,
            tes_functional_value(
                space, u, &(TesValue){.kind = TES_VALUE_INTEGRAL, .of = "u - x + vy + (v - y)*vx"}, &value));
  assert_near(value, 2 * volume, 1e-8 * volume);
  assert_ok(p->ctx,
            tes_functional_value(space, u, &(TesValue){.kind = TES_VALUE_INTEGRAL, .of = "u"}, &value));
  assert_near(first, value, 1e-12 * fabs(value));
  if (tes_space_components(space) == COMPONENTS) {
    assert_ok(p->ctx,
              tes_functional_value(space, u, &(TesValue){.kind = TES_VALUE_MEAN, .of = "v + w"}, &value));
    assert_near(value, 2, 1e-8);
  }
  tes_vector_destroy(&u);
  for (int c = 0; c < COMPONENTS; c++) tes_function_destroy(&f[c]);
}

static void check_place(TesContext *ctx, const TestCase *is) {
  TestPlace p = test_place(ctx, is);
  TesFunction *f[COMPONENTS];
  for (int c = 0; c < COMPONENTS; c++) f[c] = test_expression(ctx, text[c]);
  for (int kind = 0; kind < 3; kind++) {
    TesSpace *space = kind < 2 ? make_space(&p, 2 + kind) : make_product(&p);
    check_load(&p, space, f);
    check_errors(&p, space, f);
    check_lifting(&p, space, f);
    check_values(&p, space);
    tes_space_destroy(&space);
  }
  for (int c = 0; c < COMPONENTS; c++) tes_function_destroy(&f[c]);
  test_place_free(&p);
}

static void check_device(const char *device) {
  TesContext *ctx = test_context(&(TesContextDesc){.device = device});
  if (!ctx) return;
  check_place(ctx, &(TestCase){TEST_BOX, 2, 3, 0, 4});
  check_place(ctx, &(TestCase){TEST_BOX, 3, 2, 0, 3});
  check_place(ctx, &(TestCase){TEST_CELLS, 2, 2, 0, 4});
  if (test_has_forests(ctx)) check_place(ctx, &(TestCase){TEST_LATTICE, 2, 2, 0, 20});
  tes_context_destroy(&ctx);
}

static void all_components_are_there(void **state) {
  (void)state;
  check_device("cpu");
  check_device("emulator");
}

/* Integrals of flows are those of their problem. */
static void spaces_of_flows_are_refused(void **state) {
  (void)state;
  TesContext *ctx;
  TesMesh *mesh;
  TesSpace *space;
  TesVector *v;
  double l2;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0), TES_OK);
  assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {2, 2}}, &mesh));
  assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 1, .element = TES_ELEMENT_RT},
                                  &space));
  assert_ok(ctx, tes_vector_create(ctx, tes_space_length(space), TES_DOUBLE, &v));
  assert_int_equal(tes_functional_load(&(TesLoadDesc){.space = space}, v), TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "a load over a space of element rt"));
  assert_int_equal(tes_functional_lifting(space, (const TesFunction *const *[]){NULL}, v), TES_INVALID_INPUT);
  assert_int_equal(tes_functional_error(space, v, NULL, &l2, NULL, NULL, NULL), TES_INVALID_INPUT);
  assert_int_equal(tes_functional_value(space, v, &(TesValue){0}, &l2), TES_INVALID_INPUT);
  tes_vector_destroy(&v);
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(all_components_are_there),
                                     cmocka_unit_test(spaces_of_flows_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
