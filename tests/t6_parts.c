/* Run: ctest -R t6_parts. Operators, transfers, smoothers and multigrid over spaces of several components: the
 * numbers of each component are those of the same component alone, on boxes and forests, on the host and in the
 * emulator. And products, refusals, constants of one component. */
#include "forest_testing.h"
#include "operator/operator_by_part.h"
#include "space/space.h"
#include "tessera/tessera.h"
#include "testing.h"
#include "operator/operator.h"
#include "smoother/smoother.h"
#include "transfer/transfer.h"

static TesContext *ctx, *emulator;

enum { LEFT = 0, RIGHT = 1 };

/* Everywhere but component 0 on the right and component 1 on the left. */
static const uint8_t given[6] = {5, 6, 7, 7, 7, 7};

static TesFunction *expression(TesContext *on, const char *text) {
  TesFunction *f;
  assert_ok(on, tes_function_create_expression(on, text, &f));
  return f;
}

/* A box, or a forest with one cell of another size. False: a build without p4est. */
static bool make_mesh(TesContext *on, TesMeshKind kind, int dim, TesMesh **mesh) {
  TesFunction *corner = kind == TES_MESH_FOREST ? expression(on, "0.1 - x - y") : NULL;
  const TesMeshDesc desc = {.kind = kind, .dim = dim, .cells = {3, 2, 2}, .refine = 1, .refine_where = corner};
  const TesStatus status = tes_mesh_create(on, &desc, mesh);
  tes_function_destroy(&corner);
  if (status == TES_MISSING) return false;
  assert_ok(on, status);
  return true;
}

/* All components, and each alone. */
typedef struct World {
  TesContext *on;
  int components;
  TesSpace *space, *alone[3];
  TesOperator *op, *op_alone[3];
} World;

static TesOperator *make_operator(TesContext *on, const TesSpace *space, TesPrecision precision, bool varies,
                                  bool robin) {
  TesFunction *a = expression(on, varies ? "1 + x*y" : "2"), *alpha = expression(on, "3");
  const TesTermDesc term[] = {{.term = TES_TERM_DIFFUSION, .a = {.all = a}},
                              {.term = TES_TERM_MASS, .factor = 0.5},
                              {.term = TES_TERM_ROBIN, .a = {.all = alpha}, .boundary = RIGHT}};
  TesOperator *op;
  assert_ok(on, tes_operator_create(on,
                                    &(TesOperatorDesc){.space = space,
                                                       .form = {.terms = 2 + robin, .term = term},
                                                       .precision = precision},
                                    &op));
  tes_function_destroy(&a);
  tes_function_destroy(&alpha);
  return op;
}

static void make_world(World *w, TesContext *on, const TesMesh *mesh, int degree, TesPrecision precision,
                       bool varies) {
  *w = (World){.on = on, .components = tes_mesh_info(mesh).dim};
  const TesSpaceDesc all = {.mesh = mesh, .degree = degree, .components = w->components, .given = given};
  assert_ok(on, tes_space_create(on, &all, &w->space));
  w->op = make_operator(on, w->space, precision, varies, true);
  assert_string_equal(tes_operator_info(w->op).kind, "parts");
  for (int c = 0; c < w->components; c++) {
    uint8_t own[6];
    for (int b = 0; b < 6; b++) own[b] = given[b] >> c & 1;
    assert_ok(on, tes_space_create(on, &(TesSpaceDesc){.mesh = mesh, .degree = degree, .given = own},
                                   &w->alone[c]));
    w->op_alone[c] = make_operator(on, w->alone[c], precision, varies, !own[RIGHT]);
  }
}

static void free_world(World *w) {
  for (int c = 0; c < w->components; c++) {
    tes_operator_destroy(&w->op_alone[c]);
    tes_space_destroy(&w->alone[c]);
  }
  tes_operator_destroy(&w->op);
  tes_space_destroy(&w->space);
}

/* Random, zero at given nodes; or NaN. */
static TesVector *make_vector(TesContext *on, const TesSpace *space, TesPrecision precision, uint64_t seed) {
  TesVector *v;
  const int64_t n = tes_space_length(space);
  double *values = calloc((size_t)n, sizeof *values);
  for (int64_t i = 0; i < n; i++) values[i] = seed ? test_random(&seed) : NAN;
  for (int s = 0; s < space->scalars && seed; s++) {
    const TesiCellView *cells;
    assert_ok(on, tesi_space_cells(space->scalar[s], &cells));
    for (int64_t i = 0; i < cells->length - cells->dofs; i++)
      values[space->first[s] + cells->constrained[i]] = 0;
  }
  assert_ok(on, tes_vector_create(on, n, precision, &v));
  assert_ok(on, tes_vector_set(v, values));
  free(values);
  return v;
}

static void assert_same(TesContext *on, const TesVector *a, const TesVector *b, double tolerance) {
  const int64_t n = tes_vector_length(a);
  double *x = calloc((size_t)n, sizeof *x), *y = calloc((size_t)n, sizeof *y), largest = 0;
  assert_int_equal(tes_vector_length(b), n);
  assert_ok(on, tes_vector_get(a, x));
  assert_ok(on, tes_vector_get(b, y));
  for (int64_t i = 0; i < n; i++) largest = test_larger(largest, fabs(y[i]));
  for (int64_t i = 0; i < n; i++) assert_near(x[i], y[i], tolerance * largest);
  free(x);
  free(y);
}

/* What is done, and with what, for one space. */
typedef struct Deed {
  const TesOperator *op;
  TesSmootherKind smoother;
  int what;
} Deed;
enum { APPLY, RESIDUAL, DIAGONAL, TRANSFER, SMOOTH, CYCLE, DEEDS };

static void transfer(TesContext *on, const Deed *deed, const TesVector *b, TesVector *y) {
  const TesSpace *fine = tes_operator_info(deed->op).space;
  const TesPrecision precision = tes_operator_info(deed->op).precision;
  TesSpace *coarse;
  TesTransfer *t;
  TesVector *low, *high;
  assert_ok(on, tes_space_coarsen(fine, &coarse));
  assert_non_null(coarse);
  assert_ok(on, tes_transfer_create(
                    on, &(TesTransferDesc){.coarse = coarse, .fine = fine, .precision = precision}, &t));
  assert_ok(on, tes_vector_create(on, tes_space_length(coarse), precision, &low));
  assert_ok(on, tes_vector_create(on, tes_space_length(fine), precision, &high));
  assert_ok(on, tes_transfer_restrict(t, b, low));
  assert_ok(on, tes_transfer_prolongate(t, low, false, y));
  assert_ok(on, tes_transfer_prolongate(t, low, true, y));
  TesVector *plain = low;
  assert_ok(on, tesi_transfer_restrict_ref(t, b, plain));
  assert_ok(on, tesi_transfer_prolongate_ref(t, plain, false, high));
  assert_ok(on, tesi_transfer_prolongate_ref(t, plain, true, high));
  assert_same(on, y, high, precision == TES_SINGLE ? 1e-5 : 1e-13);
  tes_vector_destroy(&low);
  tes_vector_destroy(&high);
  tes_transfer_destroy(&t);
  tes_space_destroy(&coarse);
}

static void smooth(TesContext *on, const Deed *deed, const TesVector *b, TesVector *y) {
  TesSmoother *s;
  assert_ok(on, tes_smoother_create(on, &(TesSmootherDesc){.op = deed->op, .kind = deed->smoother}, &s));
  assert_ok(on, tes_smoother_apply(s, b, y, TES_FORWARD, true));
  assert_ok(on, tes_smoother_apply(s, b, y, TES_BACKWARD, false));
  tes_smoother_destroy(&s);
}

static void cycle(TesContext *on, const Deed *deed, const TesVector *b, TesVector *y) {
  TesMultigrid *mg;
  const TesMultigridDesc desc = {.op = deed->op,
                                 .precision = tes_operator_info(deed->op).precision,
                                 .smoother = {.kind = deed->smoother}};
  assert_ok(on, tes_multigrid_create(on, &desc, &mg));
  assert_true(tes_multigrid_levels(mg) > 1);
  assert_ok(on, tes_multigrid_cycle(mg, b, y, true));
  assert_ok(on, tes_multigrid_cycle(mg, b, y, false));
  tes_multigrid_destroy(&mg);
}

/* y <- what the deed makes of b and x. */
static void act(TesContext *on, const Deed *deed, const TesVector *b, const TesVector *x, TesVector *y) {
  switch (deed->what) {
  case APPLY:
    assert_ok(on, tes_operator_apply(deed->op, x, y));
    break;
  case RESIDUAL:
    assert_ok(on, tes_operator_residual(deed->op, b, x, y));
    break;
  case DIAGONAL:
    assert_ok(on, tes_operator_diagonal(deed->op, y));
    break;
  case TRANSFER:
    transfer(on, deed, b, y);
    break;
  case SMOOTH:
    smooth(on, deed, b, y);
    break;
  default:
    cycle(on, deed, b, y);
  }
}

/* Component by component against what is done to each alone. Emulated kernels add in another order. */
static void compare(const World *w, int what, TesSmootherKind smoother) {
  const TesPrecision precision = tes_operator_info(w->op).precision;
  const double round_off = precision == TES_SINGLE ? 1e-5 : 1e-13;
  TesVector *b = make_vector(w->on, w->space, precision, 3), *x = make_vector(w->on, w->space, precision, 5),
            *y = make_vector(w->on, w->space, precision, 0);
  act(w->on, &(Deed){w->op, smoother, what}, b, x, y);
  for (int c = 0; c < w->components; c++) {
    TesVector *of_b, *of_x, *of_y, *expected = make_vector(w->on, w->alone[c], precision, 0);
    assert_ok(w->on, tes_vector_part(w->space, b, c, &of_b));
    assert_ok(w->on, tes_vector_part(w->space, x, c, &of_x));
    assert_ok(w->on, tes_vector_part(w->space, y, c, &of_y));
    act(w->on, &(Deed){w->op_alone[c], smoother, what}, of_b, of_x, expected);
    assert_same(w->on, of_y, expected, w->on == emulator ? round_off : 0);
    tes_vector_destroy(&expected);
    tes_vector_destroy(&of_b);
    tes_vector_destroy(&of_x);
    tes_vector_destroy(&of_y);
  }
  if (what == APPLY) {
    TesVector *plain = make_vector(w->on, w->space, precision, 0);
    assert_ok(w->on, tesi_operator_apply_ref(w->op, x, plain));
    assert_same(w->on, y, plain, round_off);
    tes_vector_destroy(&plain);
  }
  tes_vector_destroy(&b);
  tes_vector_destroy(&x);
  tes_vector_destroy(&y);
}

static void compare_all(TesContext *on, TesMeshKind kind, int dim, TesPrecision precision, bool varies) {
  World w;
  TesMesh *mesh;
  if (!make_mesh(on, kind, dim, &mesh)) return;
  make_world(&w, on, mesh, dim == 2 ? 3 : 2, precision, varies);
  const TesSmootherKind by_part = kind == TES_MESH_BOX ? TES_SMOOTHER_PATCH : TES_SMOOTHER_CELL_PATCH;
  for (int what = 0; what < DEEDS; what++) compare(&w, what, by_part);
  assert_int_equal(tesi_operator_constant(w.op), kind == TES_MESH_BOX && !varies);
  free_world(&w);
  tes_mesh_destroy(&mesh);
}

static void components_are_as_alone(void **state) {
  (void)state;
  for (TesMeshKind kind = TES_MESH_BOX; kind <= TES_MESH_FOREST; kind++)
    for (int dim = 2; dim <= 3; dim++)
      for (int varies = 0; varies < (kind == TES_MESH_BOX ? 2 : 1); varies++)
        compare_all(ctx, kind, dim, dim == 2 ? TES_DOUBLE : TES_SINGLE, varies);
}

static void components_in_the_emulator(void **state) {
  (void)state;
  for (TesMeshKind kind = TES_MESH_BOX; kind <= TES_MESH_FOREST; kind++)
    compare_all(emulator, kind, 2, TES_SINGLE, false);
}

/* Jacobi and Chebyshev take all components as one: against the plain version. */
static void diagonal_smoothers_take_all(void **state) {
  (void)state;
  static const TesSmootherKind kinds[] = {TES_SMOOTHER_JACOBI, TES_SMOOTHER_CHEBYSHEV};
  for (TesMeshKind kind = TES_MESH_BOX; kind <= TES_MESH_FOREST; kind++)
    for (int i = 0; i < 2; i++) {
      World w;
      TesMesh *mesh;
      TesSmoother *s;
      if (!make_mesh(ctx, kind, 2, &mesh)) continue;
      make_world(&w, ctx, mesh, 2, TES_DOUBLE, true);
      TesVector *b = make_vector(ctx, w.space, TES_DOUBLE, 3), *x = make_vector(ctx, w.space, TES_DOUBLE, 5),
                *plain = make_vector(ctx, w.space, TES_DOUBLE, 5);
      assert_ok(ctx, tes_smoother_create(ctx, &(TesSmootherDesc){.op = w.op, .kind = kinds[i]}, &s));
      assert_ok(ctx, tes_smoother_apply(s, b, x, TES_FORWARD, false));
      assert_ok(ctx, tesi_smoother_apply_ref(s, b, plain, TES_FORWARD, false));
      assert_same(ctx, x, plain, 1e-12);
      tes_smoother_destroy(&s);
      tes_vector_destroy(&b);
      tes_vector_destroy(&x);
      tes_vector_destroy(&plain);
      free_world(&w);
      tes_mesh_destroy(&mesh);
    }
}

#define ELASTICITY "kind elasticity: the form has a diffusion term; "
/* Diffusion on the velocity, a mass on the pressure. */
static void products_take_terms_by_part(void **state) {
  (void)state;
  static const uint8_t none[6] = {0};
  static const TesTermDesc terms[] = {{.term = TES_TERM_DIFFUSION},
                                      {.term = TES_TERM_MASS, .trial = 1, .test = 1, .factor = 2},
                                      {.term = TES_TERM_MASS, .trial = 0, .test = 1},
                                      {.term = TES_TERM_MASS, .trial = 2, .test = 2}};
  static const char *const messages[] = {
      "no operator of this form on this space: " ELASTICITY "kind parts: a part has no term", NULL,
      "no operator of this form on this space: " ELASTICITY "kind parts: a term couples two parts",
      "the mass term stands on parts 2 and 2, expected 0..1"};
  TesMesh *mesh;
  TesSpace *velocity, *pressure, *space;
  assert_true(make_mesh(ctx, TES_MESH_BOX, 2, &mesh));
  assert_ok(ctx,
            tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 2, .components = 2}, &velocity));
  assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 1, .given = none}, &pressure));
  assert_ok(ctx, tes_space_create_product(ctx, 2, (const TesSpace *[]){velocity, pressure}, &space));
  for (int i = 0; i < 4; i++) {
    const TesOperatorDesc desc = {.space = space, .form = {.terms = tesi_max(i + 1, 1), .term = terms}};
    TesOperator *op;
    const TesStatus status = tes_operator_create(ctx, &desc, &op);
    if (messages[i]) {
      assert_int_equal(status, TES_INVALID_INPUT);
      assert_string_equal(tes_context_message(ctx), messages[i]);
      tes_context_clear(ctx);
      continue;
    }
    assert_ok(ctx, status);
    TesVector *x = make_vector(ctx, space, TES_DOUBLE, 7), *y = make_vector(ctx, space, TES_DOUBLE, 0),
              *plain = make_vector(ctx, space, TES_DOUBLE, 0);
    assert_ok(ctx, tes_operator_apply(op, x, y));
    assert_ok(ctx, tesi_operator_apply_ref(op, x, plain));
    assert_same(ctx, y, plain, 1e-13);
    tes_vector_destroy(&x);
    tes_vector_destroy(&y);
    tes_vector_destroy(&plain);
    tes_operator_destroy(&op);
  }
  tes_space_destroy(&space);
  tes_space_destroy(&pressure);
  tes_space_destroy(&velocity);
  tes_mesh_destroy(&mesh);
}

/* Component 1 is free everywhere, so determined up to a constant: its mean is taken away, not that of component 0. */
static void constants_of_one_component(void **state) {
  (void)state;
  static const uint8_t first[6] = {1, 1, 1, 1, 1, 1};
  for (TesMeshKind kind = TES_MESH_BOX; kind <= TES_MESH_FOREST; kind++) {
    TesMesh *mesh;
    TesSpace *space;
    TesOperator *op;
    TesMultigrid *mg;
    TesSolver *solver;
    TesSolveResult result;
    if (!make_mesh(ctx, kind, 2, &mesh)) continue;
    assert_ok(ctx,
              tes_space_create(
                  ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 2, .components = 2, .given = first}, &space));
    assert_ok(ctx, tes_operator_create(ctx, &(TesOperatorDesc){.space = space}, &op));
    assert_true(tes_operator_info(op).singular);
    assert_ok(ctx, tes_multigrid_create(ctx, &(TesMultigridDesc){.op = op, .symmetric = true}, &mg));
    assert_ok(ctx, tes_solver_create(
                       ctx, &(TesSolverDesc){.op = op, .multigrid = mg, .method = TES_METHOD_GMRES}, &solver));
    TesVector *b = make_vector(ctx, space, TES_DOUBLE, 3), *x = make_vector(ctx, space, TES_DOUBLE, 0), *part;
    const int64_t n = tes_space_length(tes_space_part(space, 1));
    double *values = calloc((size_t)n, sizeof *values), sum = 0;
    assert_ok(ctx, tes_vector_fill(x, 0));
    assert_ok(ctx, tes_solver_solve(solver, b, x, &result));
    assert_true(result.iterations < 20);
    assert_ok(ctx, tes_vector_part(space, x, 1, &part));
    assert_ok(ctx, tes_vector_get(part, values));
    for (int64_t i = 0; i < n; i++) sum += values[i];
    assert_near(sum / (double)n, 0, 1e-12);
    tes_vector_destroy(&part);
    assert_ok(ctx, tes_vector_part(space, x, 0, &part));
    assert_ok(ctx, tes_vector_get(part, values));
    for (int64_t i = 0; i < n; i++) sum += values[i];
    assert_true(fabs(sum / (double)n) > 1e-6);
    tes_vector_destroy(&part);
    free(values);
    tes_vector_destroy(&b);
    tes_vector_destroy(&x);
    tes_solver_destroy(&solver);
    tes_multigrid_destroy(&mg);
    tes_operator_destroy(&op);
    tes_space_destroy(&space);
    tes_mesh_destroy(&mesh);
  }
}

static int set_up(void **state) {
  (void)state;
  return tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0) != TES_OK ||
         tes_context_create(&(TesContextDesc){.device = "emulator"}, &emulator, NULL, 0) != TES_OK;
}

static int tear_down(void **state) {
  (void)state;
  const size_t left = tes_context_memory(ctx);
  tes_context_destroy(&ctx);
  tes_context_destroy(&emulator); /* programs are in its memory until then */
  return left != 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(components_are_as_alone), cmocka_unit_test(components_in_the_emulator),
      cmocka_unit_test(diagonal_smoothers_take_all), cmocka_unit_test(products_take_terms_by_part),
      cmocka_unit_test(constants_of_one_component)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
