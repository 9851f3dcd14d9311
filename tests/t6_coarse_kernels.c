/* Run: ctest -R t6_coarse_kernels. Fast diagonalization of boxes by kernels, in one block, tile by tile, plane by plane
 * and entry by entry, and dense inverses of trees and of elasticity, against the direct solvers of the processor: odd
 * sizes, given and free faces, 2D and 3D, both precisions, poisoned results; emulator in three orders of threads, and
 * GPU. Then levels of many trees, which conjugate gradients take: what is left of the residual, given and singular.
 * Labels: heavy */
#include <stdio.h>
#include "device/emulator/fiber.h"
#include "device_testing.h"
#include "multigrid/coarse/coarse.h"

typedef struct Place {
  int dim, cells[3], degree;
  uint8_t given[6];
  TesMeshKind kind;
  bool elastic;   /* a component a direction */
  const char *by; /* kind of the operator; NULL: the first that serves */
} Place;

static const Place places[] = {
    {2, {3, 4}, 2, {1, 1, 0, 1}, TES_MESH_BOX, false, NULL},             /* one block */
    {2, {40, 37}, 2, {1, 0, 1, 1}, TES_MESH_BOX, false, NULL},           /* tiles */
    {2, {49, 31}, 1, {0, 0, 0, 0}, TES_MESH_BOX, false, NULL},           /* tiles, singular */
    {2, {7, 90}, 3, {1, 1, 1, 1}, TES_MESH_BOX, false, NULL},            /* tiles */
    {3, {3, 2, 4}, 2, {1, 1, 1, 1, 1, 1}, TES_MESH_BOX, false, NULL},    /* one block */
    {3, {9, 8, 11}, 2, {1, 1, 0, 1, 0, 0}, TES_MESH_BOX, false, NULL},   /* planes */
    {3, {19, 20, 17}, 1, {0, 0, 0, 0, 0, 0}, TES_MESH_BOX, false, NULL}, /* planes, singular */
    {3, {6, 5, 7}, 3, {1, 1, 1, 1, 1, 0}, TES_MESH_BOX, false, NULL},    /* planes */
    {3, {80, 41, 1}, 1, {0, 1, 1, 0, 1, 0}, TES_MESH_BOX, false, NULL},  /* entries: one plane */
    {2, {5, 3}, 3, {1, 0, 1, 1}, TES_MESH_FOREST, false, NULL},
    {3, {3, 2, 4}, 2, {1, 0, 0, 0, 1, 0}, TES_MESH_FOREST, false, NULL},
    {3, {2, 3, 2}, 1, {0, 0, 0, 0, 0, 0}, TES_MESH_FOREST, false, NULL}, /* singular */
    {2, {6, 5}, 2, {1, 0, 0, 0}, TES_MESH_BOX, true, NULL},
    {3, {3, 2, 2}, 2, {1, 0, 1, 0, 0, 0}, TES_MESH_FOREST, true, NULL},
    /* a dense matrix over nodes in lexicographic order: rows of nodes in the middle vanish on linear numbers */
    {2, {2, 2}, 2, {1, 0, 0, 0}, TES_MESH_BOX, false, "quadrature"},
    {2, {4, 4}, 1, {1, 0, 0, 0}, TES_MESH_BOX, false, "quadrature"},
    {3, {2, 2, 2}, 2, {1, 0, 0, 0, 0, 0}, TES_MESH_BOX, false, "quadrature"},
};

static TesOperator *make(TesContext *ctx, const Place *p) {
  TesMesh *mesh;
  TesSpace *space;
  TesOperator *op;
  uint8_t given[6]; /* all components of a boundary */
  for (int i = 0; i < 6; i++)
    given[i] = (uint8_t)(p->elastic && p->given[i] ? (1 << p->dim) - 1 : p->given[i]);
  const TesTermDesc elastic[] = {{.term = TES_TERM_STRAIN}, {.term = TES_TERM_GRAD_DIV}},
                    diffusion = {.term = TES_TERM_DIFFUSION};
  const TesMeshDesc desc = {
      .dim = p->dim, .cells = {p->cells[0], p->cells[1], p->cells[2]}, .upper = {1, 1.5, 0.7}, .kind = p->kind};
  assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
  assert_ok(ctx, tes_space_create(ctx,
                                  &(TesSpaceDesc){.mesh = mesh,
                                                  .degree = p->degree,
                                                  .components = p->elastic ? p->dim : 1,
                                                  .given = given},
                                  &space));
  assert_ok(ctx, tes_operator_create(ctx,
                                     &(TesOperatorDesc){.space = space,
                                                        .kind = p->by,
                                                        .form = p->elastic ? (TesForm){2, elastic, 0}
                                                                           : (TesForm){1, &diffusion, 0}},
                                     &op));
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
  return op;
}

static void check(TesContext *host, TesContext *ctx, const Place *p, TesPrecision precision,
                  const char *where) {
  TesOperator *of_host = make(host, p), *op = make(ctx, p);
  TesiCoarse *exact, *coarse;
  const int64_t n = tes_operator_info(op).length;
  TesVector *random = test_vector(host, n, TES_DOUBLE, 3), *b = test_vector(host, n, TES_DOUBLE, 0),
            *x = test_vector(host, n, TES_DOUBLE, 0), *c = test_vector(ctx, n, precision, 0),
            *y = test_vector(ctx, n, precision, 0);
  double *values = calloc((size_t)n, sizeof *values), *others = calloc((size_t)n, sizeof *others),
         largest = 0, error = 0;
  assert_ok(host, tes_operator_apply(of_host, random, b)); /* zeros where values are given, and of mean zero */
  assert_ok(host, tes_vector_get(b, values));
  assert_ok(ctx, tes_vector_set(c, values));
  assert_ok(host, tesi_coarse_create(of_host, TES_DOUBLE, TES_COARSE_AUTO, &exact));
  assert_ok(ctx, tesi_coarse_create(op, precision, TES_COARSE_AUTO, &coarse));
  assert_ok(host, tesi_coarse_solve(exact, b, x));
  assert_ok(ctx, tesi_coarse_solve(coarse, c, y));
  assert_ok(host, tes_vector_get(x, values));
  assert_ok(ctx, tes_vector_get(y, others));
  for (int64_t i = 0; i < n; i++) {
    largest = test_larger(largest, fabs(values[i]));
    error = test_larger(error, fabs(values[i] - others[i]));
  }
  assert_true(largest > 0.1);
  if (!(error <= (precision == TES_DOUBLE ? 1e-11 : 1e-5) * largest))
    fail_msg("%s, %dD, %d x %d x %d cells, degree %d: off by %g of %g", where, p->dim, p->cells[0],
             p->cells[1], p->cells[2], p->degree, error, largest);
  free(values), free(others);
  TesVector *all[] = {random, b, x, c, y};
  for (int i = 0; i < 5; i++) tes_vector_destroy(&all[i]);
  tesi_coarse_destroy(&exact), tesi_coarse_destroy(&coarse);
  tes_operator_destroy(&of_host), tes_operator_destroy(&op);
}

static void check_all(TesContext *ctx, const char *where) {
  TesContext *host;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &host, NULL, 0), TES_OK);
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    for (int precision = 0; precision < 2; precision++)
      check(host, ctx, &places[i], precision ? TES_SINGLE : TES_DOUBLE, where);
  assert_int_equal(tes_context_memory(host), 0);
  tes_context_destroy(&host);
}

static void kernels_solve_as_the_processor_does(void **state) {
  TesContext *ctx = test_device("emulator");
  (void)state;
  for (int order = TESI_ORDER_FORWARD; ctx && order <= TESI_ORDER_SHUFFLED; order++) {
    tesi_fiber_order((TesiOrder)order, 29);
    check_all(ctx, "emulator");
  }
  tesi_fiber_order(TESI_ORDER_FORWARD, 0);
  tes_context_destroy(&ctx);
  if (!(ctx = test_device("cuda"))) return;
  check_all(ctx, "cuda");
  tes_context_destroy(&ctx);
}

/* Of many trees: more unknowns than are inverted. */
static TesOperator *make_trees(TesContext *ctx, bool given) {
  static const uint8_t none[6] = {0}, some[6] = {1, 1, 0, 1, 0, 0};
  TesMesh *mesh;
  TesSpace *space;
  TesOperator *op;
  const TesTermDesc diffusion = {.term = TES_TERM_DIFFUSION};
  const TesMeshDesc desc = {
      .kind = TES_MESH_FOREST, .domain = TES_DOMAIN_BOX, .dim = 2, .cells = {53, 49, 1}, .upper = {1, 1.5, 1}};
  assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
  assert_ok(ctx, tes_space_create(
                     ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 1, .given = given ? some : none}, &space));
  assert_ok(ctx,
            tes_operator_create(ctx, &(TesOperatorDesc){.space = space, .form = {1, &diffusion, 0}}, &op));
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
  return op;
}

static void check_trees(TesContext *ctx, bool given, TesPrecision precision) {
  TesOperator *op = make_trees(ctx, given);
  TesiCoarse *coarse;
  const int64_t n = tes_operator_info(op).length;
  TesVector *random = test_vector(ctx, n, TES_DOUBLE, 3), *b = test_vector(ctx, n, TES_DOUBLE, 0),
            *x = test_vector(ctx, n, TES_DOUBLE, 0), *r = test_vector(ctx, n, TES_DOUBLE, 0),
            *c = test_vector(ctx, n, precision, 0), *y = test_vector(ctx, n, precision, 0);
  double norm, left;
  assert_true(n > 2500);
  assert_ok(ctx, tes_operator_apply(op, random, b)); /* of mean zero where nothing is given */
  assert_ok(ctx, tes_vector_copy(b, 1, c));
  assert_ok(ctx, tes_vector_fill(y, NAN));
  assert_ok(ctx, tesi_coarse_create(op, precision, TES_COARSE_CG, &coarse));
  assert_string_equal(tesi_coarse_describe(coarse), "conjugate gradients with the diagonal");
  for (int i = 0; i < 2; i++) assert_ok(ctx, tesi_coarse_solve(coarse, c, y));
  assert_ok(ctx, tes_vector_copy(y, 1, x));
  assert_ok(ctx, tes_operator_residual(op, b, x, r));
  assert_ok(ctx, tes_vector_norm(b, &norm));
  assert_ok(ctx, tes_vector_norm(r, &left));
  if (!(left <= 1.1e-4 * norm)) fail_msg("given %d: %g of the residual is left", given, left / norm);
  TesVector *all[] = {random, b, x, r, c, y};
  for (int i = 0; i < 6; i++) tes_vector_destroy(&all[i]);
  tesi_coarse_destroy(&coarse);
  tes_operator_destroy(&op);
}

static void many_trees_are_iterated_on(void **state) {
  static const char *const devices[] = {"emulator", "cuda"};
  (void)state;
  for (int i = 0; i < 2; i++) {
    TesContext *ctx = test_device(devices[i]);
    for (int given = 0; ctx && given < 2; given++)
      for (int precision = 0; precision < 2; precision++)
        check_trees(ctx, given, precision ? TES_SINGLE : TES_DOUBLE);
    tes_context_destroy(&ctx);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_solve_as_the_processor_does),
                                     cmocka_unit_test(many_trees_are_iterated_on)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
