/* Run: ctest -R t5_dg. Discontinuous Q_k: operator and patches against dense quadrature and dense inverses,
 * transfers, and the whole solver's counts.
 * Labels: threads */
#include "operator/dg/dg.h"
#include "smoother/smoother.h"
#include "stokes_testing.h"
#include "transfer/transfer.h"

static TesContext *ctx;

/* given: v values, o none, p periodic. */
static const Flow shapes[] = {
    {.dim = 2, .degree = 1, .cells = {4, 3}},
    {.dim = 2, .degree = 2, .cells = {3, 4}, .given = "voov", .graded = true, .alpha = 2},
    {.dim = 2, .degree = 4, .cells = {3, 5}, .given = "ppvo", .penalty = TES_PENALTY_PAPER},
    {.dim = 2, .degree = 7, .cells = {2, 3}, .given = "ppvv"},
    {.dim = 2, .degree = 3, .cells = {4, 2}, .given = "oooo"},
    {.dim = 3, .degree = 1, .cells = {2, 3, 2}, .given = "vvppoo"},
    {.dim = 3, .degree = 3, .cells = {2, 2, 3}, .graded = true}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static TesSpace *make_space(const Flow *f, int refine) {
  TesMesh *mesh;
  TesSpace *space;
  double x[3][64];
  uint8_t given[6] = {0};
  TesMeshDesc desc = {.kind = TES_MESH_BOX, .dim = f->dim, .refine = refine};
  for (int d = 0; d < f->dim; d++) {
    desc.cells[d] = f->cells[d];
    desc.periodic[d] = f->given && f->given[2 * d] == 'p';
    desc.upper[d] = 1;
    for (int i = 0; i <= f->cells[d]; i++) x[d][i] = (i + 0.25 * sin(2.0 * i + d)) / f->cells[d];
    if (f->graded) desc.coordinates[d] = x[d];
  }
  for (int i = 0; i < 6 && i < 2 * f->dim; i++) given[i] = !f->given || f->given[i] == 'v';
  assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
  const TesSpaceDesc of = {
      .mesh = mesh, .degree = f->degree, .given = f->given ? given : NULL, .element = TES_ELEMENT_DG};
  assert_ok(ctx, tes_space_create(ctx, &of, &space));
  tes_mesh_destroy(&mesh);
  return space;
}

static TesOperator *make(const TesSpace *space, const Flow *f, TesPrecision precision) {
  TesOperator *op;
  TesFunction *alpha;
  assert_ok(ctx, tes_function_create_constant(ctx, f->alpha, &alpha));
  const TesTermDesc term[] = {{.term = TES_TERM_DIFFUSION, .factor = f->nu},
                              {.term = TES_TERM_MASS, .a = {.all = alpha}}};
  assert_ok(
      ctx, tes_operator_create(
               ctx, &(TesOperatorDesc){.space = space, .form = {2, term, f->penalty}, .precision = precision},
               &op));
  tes_function_destroy(&alpha);
  return op;
}

static void operators_are_what_quadrature_says(void **state) {
  (void)state;
  for (int i = 0; i < SHAPES; i++)
    for (TesPrecision precision = TES_DOUBLE; precision <= TES_SINGLE; precision++) {
      TesSpace *space = make_space(&shapes[i], 0);
      const int64_t n = tes_space_length(space);
      TesOperator *op = make(space, &shapes[i], precision);
      assert_string_equal(tes_operator_info(op).kind, "dg");
      assert_int_equal(tes_space_dofs(space), n);
      double *values = flow_random(space, 3), *d = malloc((size_t)n * sizeof *d);
      TesVector *x = flow_vector(ctx, space, precision, values),
                *y = flow_vector(ctx, space, precision, NULL), *z = flow_vector(ctx, space, precision, NULL);
      const double tolerance = precision == TES_DOUBLE ? 1e-12 : 1e-5;
      assert_ok(ctx, tes_operator_apply(op, x, y));
      assert_ok(ctx, tesi_operator_apply_ref(op, x, z));
      assert_near(flow_difference(ctx, y, z), 0, tolerance);
      assert_ok(ctx, tes_operator_residual(op, y, x, z));
      double rest;
      assert_ok(ctx, tes_vector_maximum(z, &rest));
      assert_near(rest, 0, tolerance * 1e4);
      assert_ok(ctx, tes_operator_diagonal(op, z));
      assert_ok(ctx, tes_vector_get(z, d));
      for (int64_t j = i; j < n; j += 13) {
        memset(values, 0, (size_t)n * sizeof *values);
        values[j] = 1;
        assert_ok(ctx, tes_vector_set(x, values));
        assert_ok(ctx, tes_operator_apply(op, x, y));
        assert_ok(ctx, tes_vector_get(y, values));
        assert_near(d[j], values[j], tolerance * fabs(d[j]));
      }
      const bool singular = shapes[i].given && !strchr(shapes[i].given, 'v') && shapes[i].alpha == 0;
      assert_int_equal(tes_operator_info(op).singular, singular);
      TesVector *vectors[] = {x, y, z};
      for (int v = 0; v < 3; v++) tes_vector_destroy(&vectors[v]);
      free(values), free(d);
      tes_operator_destroy(&op);
      tes_space_destroy(&space);
    }
}

static void patches_are_inverses(void **state) {
  (void)state;
  for (int i = 0; i < SHAPES; i++)
    for (int way = 0; way < 4; way++) {
      const TesPrecision precision = way % 2 ? TES_SINGLE : TES_DOUBLE;
      const TesSweep sweep = way / 2 ? TES_BACKWARD : TES_FORWARD;
      TesSpace *space = make_space(&shapes[i], 0);
      TesOperator *op = make(space, &shapes[i], precision);
      TesSmoother *smoother;
      const TesSmootherDesc desc = {.op = op, .kind = way ? TES_SMOOTHER_PATCH : TES_SMOOTHER_AUTO};
      assert_ok(ctx, tes_smoother_create(ctx, &desc, &smoother));
      double *values = flow_random(space, 5 + (uint64_t)i), *start = flow_random(space, 50);
      TesVector *b = flow_vector(ctx, space, precision, values),
                *x = flow_vector(ctx, space, precision, start),
                *expected = flow_vector(ctx, space, precision, start);
      const double tolerance = precision == TES_DOUBLE ? 1e-10 : 1e-3;
      assert_ok(ctx, tesi_smoother_apply_ref(smoother, b, expected, sweep, false));
      assert_ok(ctx, tes_smoother_apply(smoother, b, x, sweep, false));
      assert_near(flow_difference(ctx, x, expected), 0, tolerance);
      assert_ok(ctx, tesi_smoother_apply_ref(smoother, b, expected, sweep, true));
      assert_ok(ctx, tes_vector_fill(x, NAN));
      assert_ok(ctx, tes_smoother_apply(smoother, b, x, sweep, true));
      assert_near(flow_difference(ctx, x, expected), 0, tolerance);
      TesVector *vectors[] = {b, x, expected};
      for (int v = 0; v < 3; v++) tes_vector_destroy(&vectors[v]);
      free(values), free(start);
      tes_smoother_destroy(&smoother);
      tes_operator_destroy(&op);
      tes_space_destroy(&space);
    }
}

/* Embeddings keep norms, as the modes of both are orthonormal, and agree with their plain version. */
static void transfers_are_embeddings(void **state) {
  (void)state;
  for (int i = 0; i < SHAPES; i++) {
    TesSpace *coarse = make_space(&shapes[i], 0), *fine = make_space(&shapes[i], 1);
    TesTransfer *transfer;
    const TesTransferDesc desc = {.coarse = coarse, .fine = fine};
    assert_ok(ctx, tes_transfer_create(ctx, &desc, &transfer));
    double *values = flow_random(coarse, 7), a, b;
    TesVector *x = flow_vector(ctx, coarse, TES_DOUBLE, values),
              *back = flow_vector(ctx, coarse, TES_DOUBLE, NULL),
              *y = flow_vector(ctx, fine, TES_DOUBLE, NULL), *z = flow_vector(ctx, fine, TES_DOUBLE, NULL);
    assert_ok(ctx, tes_transfer_prolongate(transfer, x, false, y));
    assert_ok(ctx, tesi_transfer_prolongate_ref(transfer, x, false, z));
    assert_near(flow_difference(ctx, y, z), 0, 1e-13);
    assert_ok(ctx, tes_vector_norm(x, &a));
    assert_ok(ctx, tes_vector_norm(y, &b));
    assert_near(b, a, 1e-12 * a);
    assert_ok(ctx, tes_transfer_restrict(transfer, y, back));
    assert_near(flow_difference(ctx, back, x), 0, 1e-12);
    TesVector *vectors[] = {x, back, y, z};
    for (int v = 0; v < 4; v++) tes_vector_destroy(&vectors[v]);
    free(values);
    tes_transfer_destroy(&transfer);
    tes_space_destroy(&coarse);
    tes_space_destroy(&fine);
  }
}

/* Random right-hand sides to 1e-8, V(1,1), GMRES from the right: two prototypes have these counts, by other random
 * numbers (+- 0.3). */
static void counts_are_those_of_the_prototypes(void **state) {
  (void)state;
  static const struct {
    Flow f;
    double fractional;
  } known[] = {{{.dim = 2, .degree = 2, .cells = {16, 16}}, 2.98},
               {{.dim = 2, .degree = 4, .cells = {16, 16}}, 2.61},
               {{.dim = 2, .degree = 7, .cells = {16, 16}}, 2.24},
               {{.dim = 2, .degree = 4, .cells = {32, 32}}, 2.62},
               {{.dim = 3, .degree = 2, .cells = {8, 8, 8}}, 2.42},
               {{.dim = 3, .degree = 3, .cells = {8, 8, 8}}, 2.30}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    for (TesPrecision precision = TES_DOUBLE; precision <= TES_SINGLE; precision++) {
      Flow f = known[i].f;
      f.penalty = TES_PENALTY_STANDARD;
      TesSpace *space = make_space(&f, 0);
      TesOperator *op = make(space, &f, TES_DOUBLE);
      TesMultigrid *mg;
      TesSolver *solver;
      TesSolveResult result;
      double *values = flow_random(space, 11);
      TesVector *b = flow_vector(ctx, space, TES_DOUBLE, values),
                *x = flow_vector(ctx, space, TES_DOUBLE, NULL);
      assert_ok(ctx, tes_multigrid_create(ctx, &(TesMultigridDesc){.op = op, .precision = precision}, &mg));
      const TesSolverDesc desc = {.op = op, .multigrid = mg, .method = TES_METHOD_GMRES, .tolerance = 1e-8};
      assert_ok(ctx, tes_solver_create(ctx, &desc, &solver));
      assert_ok(ctx, tes_vector_fill(x, 0));
      assert_ok(ctx, tes_solver_solve(solver, b, x, &result));
      assert_near(result.fractional_iterations, known[i].fractional, 0.3);
      TesVector *vectors[] = {b, x};
      for (int v = 0; v < 2; v++) tes_vector_destroy(&vectors[v]);
      free(values);
      tes_solver_destroy(&solver);
      tes_multigrid_destroy(&mg);
      tes_operator_destroy(&op);
      tes_space_destroy(&space);
    }
}

static int set_up(void **state) {
  (void)state;
  return tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0) != TES_OK;
}

static int tear_down(void **state) {
  (void)state;
  const size_t left = tes_context_memory(ctx);
  tes_context_destroy(&ctx);
  return left != 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(operators_are_what_quadrature_says), cmocka_unit_test(patches_are_inverses),
      cmocka_unit_test(transfers_are_embeddings), cmocka_unit_test(counts_are_those_of_the_prototypes)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
