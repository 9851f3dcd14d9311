/* Run: ctest -R t4_quadrature_kernels. The quadrature form's kernels against the plain version: varying a, c,
 * alpha, every boundary condition, graded cells, every degree; blocks that share nodes; degrees beyond the
 * specialised ones, with constant coefficients too, in one order and by atomics.
 * On the emulator with threads in several orders, on a GPU where there is one. Brief: boxes with natural faces and
 * without, one a precision, in turns; all cuts; beyond the specialised degrees the lowest in 2D and 3D, and atomics.
 * Quick: 1-3,6
 * Labels: heavy */
#include <string.h>
#include "operator_testing.h"
#include "device/emulator/fiber.h"
#include "kernel_testing.h"
#include "operator/operator.h"

typedef struct Case {
  int dim, degree, cells[3];
  bool natural, constant, unordered;
} Case;

static const char *const devices[] = {"emulator", "cuda"};

/* Graded in y. Not natural: face 2, and with `natural` false faces 0, 3 and 5 too. */
static TesSpace *make_space(TesContext *ctx, const Case *c) {
  TesMesh *mesh;
  TesSpace *space;
  double y[64];
  TesMeshDesc box = {.dim = c->dim, .upper = {1, 0.7, 1.3}};
  for (int d = 0; d < c->dim; d++) box.cells[d] = c->cells[d];
  for (int i = 0; i <= c->cells[1]; i++) y[i] = i + 0.2 * sin(1.7 * i);
  box.coordinates[1] = y;
  assert_int_equal(tes_mesh_create(ctx, &box, &mesh), TES_OK);
  TesSpaceDesc desc = {.mesh = mesh, .degree = c->degree};
  uint8_t given[6] = {1, 1, 1, 1, 1, 1};
  for (int f = 0; f < 2 * c->dim; f++) given[f] = !(f != 2 && (c->natural || f == 1 || f == 4));
  desc.given = given;
  assert_int_equal(tes_space_create(ctx, &desc, &space), TES_OK);
  tes_mesh_destroy(&mesh);
  return space;
}

static TesFunction *make_function(TesContext *ctx, const char *text, double constant, bool is_constant) {
  TesFunction *f;
  assert_int_equal(is_constant ? tes_function_create_constant(ctx, constant, &f)
                               : tes_function_create_expression(ctx, text, &f),
                   TES_OK);
  return f;
}

static TesOperator *make_operator(TesContext *ctx, const Case *c, TesSpace *space, TesPrecision precision) {
  TesFunction *a = make_function(ctx, "1/(0.2 + x*x + y) + z", 1.5, c->constant);
  TesFunction *reaction = make_function(ctx, "2 + 30*x*y", c->degree % 2 ? 0 : 20, c->constant);
  TesFunction *alpha = make_function(ctx, "0.3 + x + y*z", 0.8, c->constant);
  TesOperator *op;
  TestDiffusion desc = {.space = space, .a = a, .precision = precision};
  if (c->constant || c->degree % 3) desc.c = reaction;
  for (int f = 0; f < 2 * c->dim; f++)
    if (!tes_space_given(space, (TesFace)f) && f != 5) desc.alpha[f] = alpha;
  if (test_operator_create(ctx, &desc, &op) != TES_OK) fail_msg("%s", tes_context_message(ctx));
  tes_function_destroy(&a);
  tes_function_destroy(&reaction);
  tes_function_destroy(&alpha);
  return op;
}

static void compare_all(TesContext *ctx, TesOperator *op, TesSpace *space, int degree, TesPrecision precision) {
  const double tolerance = precision == TES_DOUBLE ? 1e-12 : 1e-5;
  const int64_t n = tes_space_length(space);
  uint64_t seed = 23;
  TesVector *x = test_random_vector(ctx, space, precision, &seed),
            *b = test_random_vector(ctx, space, precision, &seed), *y, *z;
  assert_int_equal(tes_vector_create(ctx, n, precision, &y), TES_OK);
  assert_int_equal(tes_vector_create(ctx, n, precision, &z), TES_OK);
  assert_int_equal(tes_vector_fill(y, NAN), TES_OK);
  if (tes_operator_apply(op, x, y) != TES_OK) fail_msg("%s", tes_context_message(ctx));
  assert_int_equal(tesi_operator_apply_ref(op, x, z), TES_OK);
  test_compare(y, z, tolerance, "apply", degree);
  assert_int_equal(tes_vector_xpay(b, -1, z), TES_OK);
  assert_int_equal(tes_vector_fill(y, NAN), TES_OK);
  assert_int_equal(tes_operator_residual(op, b, x, y), TES_OK);
  test_compare(y, z, tolerance, "residual", degree);
  assert_int_equal(tes_operator_residual(op, b, x, b), TES_OK);
  test_compare(b, z, tolerance, "residual in place", degree);
  double *diagonal = test_malloc((size_t)n * sizeof *diagonal);
  assert_int_equal(tesi_diffusion_diagonal_ref(op, diagonal), TES_OK);
  assert_int_equal(tes_vector_set(z, diagonal), TES_OK);
  assert_int_equal(tes_vector_fill(y, NAN), TES_OK);
  assert_int_equal(tes_operator_diagonal(op, y), TES_OK);
  test_compare(y, z, tolerance, "diagonal", degree);
  test_free(diagonal);
  tes_vector_destroy(&x);
  tes_vector_destroy(&b);
  tes_vector_destroy(&y);
  tes_vector_destroy(&z);
}

static void run_case(TesContext *ctx, const Case *c, TesPrecision precision) {
  TesSpace *space = make_space(ctx, c);
  TesOperator *op = make_operator(ctx, c, space, precision);
  const bool beyond = c->degree > (c->dim == 3 ? 8 : 10);
  assert_non_null(strstr(tes_operator_info(op).description, !beyond        ? "blocks of"
                                                            : c->unordered ? "atomic"
                                                                           : "coloured"));
  assert_int_equal(strstr(tes_operator_info(op).description, "slower") != NULL, beyond);
  compare_all(ctx, op, space, c->degree, precision);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
}

static void run_degree(TesContext *ctx, bool emulated, int dim, int degree) {
  static const int sizes[][3] = {{5, 3, 2}, {3, 4, 3}, {2, 1, 1}, {1, 2, 3}};
  for (int kind = 0; kind < 4; kind++) {
    const bool first = kind == degree % 4, other = kind == 3 - degree % 4;  /* natural faces differ */
    if (emulated && degree > 2 && !first && (dim == 3 || !other)) continue; /* the emulator is slow */
    const int *cells = sizes[(dim == 3 && degree > 3 ? 2 + degree % 2 : (degree + kind) % 4)];
    const Case c = {dim, degree, {cells[0], cells[1], cells[2]}, kind % 2, false, false};
    tesi_fiber_order((TesiOrder)((degree + kind) % 3), (uint64_t)degree);
    if (first || !test_brief()) run_case(ctx, &c, TES_DOUBLE);
    if (test_brief() ? other : !emulated || first) run_case(ctx, &c, TES_SINGLE);
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

/* Boxes of several blocks in each direction, some of them in part outside: what they leave on their faces reaches
 * every neighbour. */
static void blocks_add_what_they_share(void **state) {
  (void)state;
  static const char *const cuts[] = {"2,1,1,0", "1,2,1,0", "2,2,1,0", "32,2,1,1"};
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    for (int dim = 2; ctx && dim <= 3; dim++)
      for (int i = 0; i < dim + 1; i++)
        for (int degree = 1; degree <= 3 - i / 3; degree++) /* whole cells are for low degrees */
          if (test_degree(degree)) {
            const Case c = {dim, degree, {i == 3 ? 35 : 5, 3 + i % 2, 3}, i != 1, false, false};
            tesi_fiber_order((TesiOrder)((degree + i) % 3), (uint64_t)degree);
            setenv("TESSERA_DIFFUSION_TILES", cuts[i], 1);
            run_case(ctx, &c, (degree + i) % 2 ? TES_DOUBLE : TES_SINGLE);
          }
    tes_context_destroy(&ctx);
  }
  unsetenv("TESSERA_DIFFUSION_TILES");
  tesi_fiber_order(TESI_ORDER_FORWARD, 1);
}

static void degrees_beyond_take_the_general_path(void **state) {
  (void)state;
  static const Case cases[] = {
      {2, 11, {2, 2, 1}, false, true, false},  {3, 9, {2, 1, 1}, true, true, false},
      {2, 20, {1, 2, 1}, false, true, true},   {2, 16, {3, 1, 1}, true, false, false},
      {3, 12, {1, 1, 2}, false, false, false}, {3, 20, {1, 1, 1}, true, true, false}};
  const size_t count = test_brief() ? 3 : sizeof cases / sizeof *cases;
  for (int d = 0; d < 2; d++)
    for (size_t i = 0; i < count; i++) {
      if (!test_degree(cases[i].degree) || (d == 0 && cases[i].dim == 3 && cases[i].degree > 9)) continue;
      TesContext *ctx = test_context(&(TesContextDesc){.device = devices[d], .unordered = cases[i].unordered});
      for (int precision = 0; ctx && precision < 2; precision++)
        run_case(ctx, &cases[i], (TesPrecision)precision);
      tes_context_destroy(&ctx);
    }
}

/* A coefficient that is refused: which one, where, and how. */
static void bad_coefficients_are_told(void **state) {
  (void)state;
  TesContext *ctx = test_device("emulator");
  if (!ctx) return;
  const Case c = {2, 3, {3, 2, 1}, true, false, false};
  TesSpace *space = make_space(ctx, &c);
  static const struct {
    const char *a, *c, *alpha, *message;
    TesStatus status;
  } bad[] = {{"x - 0.5", NULL, NULL, "the diffusion coefficient a is -", TES_INVALID_INPUT},
             {"1 + 0/(x - x)", NULL, NULL, "the diffusion coefficient a is", TES_NAN},
             {"1 + x", "y - 1", NULL, "the reaction coefficient c is -", TES_INVALID_INPUT},
             {"1 + x", NULL, "-1 - y", "the Robin coefficient alpha is -", TES_INVALID_INPUT}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    TesFunction *a = make_function(ctx, bad[i].a, 0, false), *reaction = NULL, *alpha = NULL;
    TesOperator *op = NULL;
    if (bad[i].c) reaction = make_function(ctx, bad[i].c, 0, false);
    if (bad[i].alpha) alpha = make_function(ctx, bad[i].alpha, 0, false);
    const TestDiffusion desc = {.space = space, .a = a, .c = reaction, .alpha = {NULL, alpha}};
    assert_int_equal(test_operator_create(ctx, &desc, &op), bad[i].status);
    assert_null(op);
    if (!strstr(tes_context_message(ctx), bad[i].message)) fail_msg("%s", tes_context_message(ctx));
    tes_context_clear(ctx);
    tes_function_destroy(&a);
    tes_function_destroy(&reaction);
    tes_function_destroy(&alpha);
  }
  tes_space_destroy(&space);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kernels_equal_the_plain_operator), cmocka_unit_test(blocks_add_what_they_share),
      cmocka_unit_test(degrees_beyond_take_the_general_path), cmocka_unit_test(bad_coefficients_are_told)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
