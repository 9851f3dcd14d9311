/* Run: ctest -R t4_operator_kernels. The separable operator's kernels against the plain version: on the emulator
 * with the threads in several orders, and on a GPU where there is one. Graded boxes, natural faces, Robin terms,
 * reaction. Brief: of the four kinds one a precision, another one each degree; all cuts.
 * Quick: 1-3,6
 * Labels: heavy */
#include <stdlib.h>
#include <string.h>
#include "operator_testing.h"
#include "device/emulator/fiber.h"
#include "kernel_testing.h"
#include "operator/operator.h"

typedef struct Case {
  int dim, degree, cells[3];
  bool graded, natural, mass; /* mass: the form has no diffusion term */
} Case;

static const char *const devices[] = {"emulator", "cuda"};

static TesSpace *make_space(TesContext *ctx, const Case *c) {
  TesMesh *mesh;
  TesSpace *space;
  double x[3][64];
  TesMeshDesc box = {.dim = c->dim, .upper = {1, 0.7, 1.3}};
  for (int d = 0; d < c->dim; d++) {
    box.cells[d] = c->cells[d];
    for (int i = 0; i <= c->cells[d]; i++) x[d][i] = i + 0.2 * sin(1.7 * i + d);
    if (c->graded) box.coordinates[d] = x[d];
  }
  assert_int_equal(tes_mesh_create(ctx, &box, &mesh), TES_OK);
  TesSpaceDesc desc = {.mesh = mesh, .degree = c->degree};
  uint8_t given[6] = {1, 1, 1, 1, 1, 1};
  for (int f = 0; f < 2 * c->dim; f++) given[f] = !(c->natural && f != 2);
  desc.given = given;
  assert_int_equal(tes_space_create(ctx, &desc, &space), TES_OK);
  tes_mesh_destroy(&mesh);
  return space;
}

static TesOperator *make_operator(TesContext *ctx, const Case *c, TesSpace *space, TesPrecision precision) {
  TesFunction *a, *reaction, *alpha;
  TesOperator *op;
  assert_int_equal(tes_function_create_constant(ctx, 1.5, &a), TES_OK);
  assert_int_equal(tes_function_create_constant(ctx, c->degree % 2 && !c->mass ? 0 : 20, &reaction), TES_OK);
  assert_int_equal(tes_function_create_constant(ctx, 0.8, &alpha), TES_OK);
  TestDiffusion desc = {.space = space,
                        .a = a,
                        .c = reaction,
                        .mass_alone = c->mass,
                        .precision = precision,
                        .kind = c->mass ? "separable" : NULL};
  for (int f = 0; f < 2 * c->dim; f++)
    if (!tes_space_given(space, (TesFace)f) && f != 1) desc.alpha[f] = alpha;
  if (test_operator_create(ctx, &desc, &op) != TES_OK) fail_msg("%s", tes_context_message(ctx));
  tes_function_destroy(&a);
  tes_function_destroy(&reaction);
  tes_function_destroy(&alpha);
  return op;
}

static void run_case(TesContext *ctx, const Case *c, TesPrecision precision) {
  TesSpace *space = make_space(ctx, c);
  TesOperator *op = make_operator(ctx, c, space, precision);
  const double tolerance = precision == TES_DOUBLE ? 1e-13 : 2e-6;
  uint64_t seed = 23;
  TesVector *x = test_random_vector(ctx, space, precision, &seed),
            *b = test_random_vector(ctx, space, precision, &seed), *y, *z;
  assert_int_equal(tes_vector_create(ctx, tes_space_length(space), precision, &y), TES_OK);
  assert_int_equal(tes_vector_create(ctx, tes_space_length(space), precision, &z), TES_OK);
  assert_int_equal(tes_vector_fill(y, NAN), TES_OK);
  if (tes_operator_apply(op, x, y) != TES_OK) fail_msg("%s", tes_context_message(ctx));
  assert_int_equal(tesi_operator_apply_ref(op, x, z), TES_OK);
  test_compare(y, z, tolerance, "apply", c->degree);
  assert_int_equal(tes_vector_xpay(b, -1, z), TES_OK);
  assert_int_equal(tes_operator_residual(op, b, x, b), TES_OK);
  test_compare(b, z, tolerance, "residual", c->degree);
  const int64_t n = tes_space_length(space);
  double *diagonal = test_malloc((size_t)n * sizeof *diagonal);
  assert_int_equal(tesi_diffusion_diagonal_ref(op, diagonal), TES_OK);
  assert_int_equal(tes_vector_set(z, diagonal), TES_OK);
  assert_int_equal(tes_vector_fill(y, NAN), TES_OK);
  assert_int_equal(tes_operator_diagonal(op, y), TES_OK);
  test_compare(y, z, tolerance, "diagonal", c->degree);
  test_free(diagonal);
  tes_vector_destroy(&x);
  tes_vector_destroy(&b);
  tes_vector_destroy(&y);
  tes_vector_destroy(&z);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
}

/* Boxes with fewer cells than a block, as many, and more; the four kinds in turn. */
static void run_degree(TesContext *ctx, bool emulated, int dim, int degree) {
  static const int sizes[][3] = {{8, 5, 3}, {3, 7, 5}, {2, 2, 4}, {4, 3, 2}};
  const bool few = test_brief() || (emulated && dim == 3 && degree > 3); /* the emulator is slow */
  for (int kind = 0; kind < 4; kind++) {
    const bool first = kind == degree % 4, second = test_brief() ? kind == (degree + dim) % 4 : first;
    const int *cells = sizes[dim == 3 && degree > 3 ? 2 + kind % 2 : (degree + kind) % 4];
    const Case c = {dim, degree, {cells[0], cells[1], cells[2]}, kind % 2, kind / 2, false},
               mass = {dim, degree, {cells[0], cells[1], cells[2]}, kind % 2, kind / 2, true};
    tesi_fiber_order((TesiOrder)((degree + kind) % 3), (uint64_t)degree);
    if (first || !few) run_case(ctx, &c, TES_DOUBLE);
    if (second || (!emulated && !few)) run_case(ctx, &c, TES_SINGLE);
    if (kind == (degree + 1) % 4 && !few) run_case(ctx, &mass, TES_DOUBLE);
  }
  tesi_fiber_order(TESI_ORDER_FORWARD, 1);
}

static void kernels_equal_the_plain_operator(void **state) {
  (void)state;
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    for (int dim = 2; ctx && dim <= 3; dim++)
      for (int degree = 1; degree <= (dim == 3 ? 8 : 10); degree++)
        if (test_degree(degree)) run_degree(ctx, d == 0, dim, degree);
    tes_context_destroy(&ctx);
  }
}

/* Several blocks in every direction. */
static void blocks_fit_together(void **state) {
  (void)state;
  static const Case cases[] = {{3, 1, {33, 17, 6}, false, true, false},
                               {3, 2, {16, 8, 5}, true, false, false},
                               {3, 3, {11, 5, 4}, false, false, false},
                               {3, 2, {9, 8, 5}, false, false, true},
                               {2, 4, {19, 9, 1}, true, true, false}};
  TesContext *ctx = test_device("emulator");
  for (size_t i = 0; ctx && i < sizeof cases / sizeof *cases; i++) {
    tesi_fiber_order(i % 2 ? TESI_ORDER_REVERSE : TESI_ORDER_SHUFFLED, i);
    run_case(ctx, &cases[i], TES_DOUBLE);
  }
  tes_context_destroy(&ctx);
  tesi_fiber_order(TESI_ORDER_FORWARD, 1);
}

/* What timing chooses from: in place and not, one or two cells of a column a thread, rows padded or not, without a
 * halo and with one in x alone; natural and graded too. */
static void run_cuts(TesContext *ctx) {
  static const char *const cuts[] = {"4,4,3,1,32,1,1,1,2", "2,4,3,1,32,1,1,1,2", "3,4,3,1,32,1,1,1,2",
                                     "4,4,4,1,32,1,1,1,2", "2,4,3,2,32,1,1,1,1", "4,4,2,1,32,0,0,1,2",
                                     "2,2,2,2,32,1,1,1,1", "2,2,2,2,32,1,1,0,1", "2,2,0,2,0,0,0,0,0",
                                     "4,1,0,1,0,0,0,0,0",  "1,2,0,1,0,0,0,0,0",  "3,1,0,1,0,0,1,0,0",
                                     "2,2,0,2,0,0,1,0,0"};
  for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
    const int degree = 2 + (int)(i % 4);
    if (!test_degree(degree)) continue;
    const bool plain =
        strstr(cuts[i], ",0,") == cuts[i] + 3; /* blocks without a halo: equal cells, Dirichlet faces */
    const Case c = {3, degree, {5, 6, 3}, !plain && i % 3 == 1, !plain && i % 3 == 2, false};
    tesi_fiber_order((TesiOrder)(i % 3), i);
    setenv("TESSERA_SEPARABLE_CUT", cuts[i], 1);
    run_case(ctx, &c, i % 2 ? TES_SINGLE : TES_DOUBLE);
  }
  unsetenv("TESSERA_SEPARABLE_CUT");
  tesi_fiber_order(TESI_ORDER_FORWARD, 1);
}

static void all_cuts_equal_the_plain_operator(void **state) {
  (void)state;
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    if (ctx) run_cuts(ctx);
    tes_context_destroy(&ctx);
  }
}

/* With choices by timing, twice: what is timed and what is remembered give the same operator. */
static void timed_choices_equal_the_plain_operator(void **state) {
  (void)state;
  const Case c = {3, 2, {5, 6, 3}, false, false, false};
  setenv("TESSERA_TUNE", "on", 1);
  for (int i = 0; i < 2; i++) {
    TesContext *ctx = test_device("emulator");
    if (ctx) run_case(ctx, &c, TES_DOUBLE);
    tes_context_destroy(&ctx);
  }
  unsetenv("TESSERA_TUNE");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_equal_the_plain_operator),
                                     cmocka_unit_test(blocks_fit_together),
                                     cmocka_unit_test(all_cuts_equal_the_plain_operator),
                                     cmocka_unit_test(timed_choices_equal_the_plain_operator)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
