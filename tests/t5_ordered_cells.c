/* Run: ctest -R t5_ordered_cells. Cells in the order of the flow: a step against dense incomplete factors of the plain
 * operator, the order against the streamlines of a uniform velocity, closed paths, fill where factors are poor without
 * it, a step that solves, refusals. On boxes, periodic directions, forests with hanging nodes and curved cells, on
 * the host and in the emulator.
 * Labels: threads */
#include "smoother/ordered_cells/ordered_cells.h"
#include "transport_testing.h"

static TesVector *vector(const Place *p, uint64_t seed) {
  const int64_t n = tes_space_length(p->space);
  double *values = malloc((size_t)n * sizeof *values);
  const TesiCellView *view;
  TesVector *v;
  assert_ok(p->ctx, tesi_space_cells(p->space, &view));
  for (int64_t i = 0; i < n; i++) values[i] = seed ? test_random(&seed) : NAN;
  for (int64_t i = 0; i < view->length - view->dofs; i++) values[view->constrained[i]] = 0;
  assert_ok(p->ctx, tes_vector_create(p->ctx, n, TES_DOUBLE, &v));
  assert_ok(p->ctx, tes_vector_set(v, values));
  free(values);
  return v;
}

/* |a - b| / |b|, NaN where either is. */
static double difference(const TesVector *a, const TesVector *b) {
  const int64_t n = tes_vector_length(a);
  double *x = malloc((size_t)n * sizeof *x), *y = malloc((size_t)n * sizeof *y), sum = 0, all = 0;
  assert_int_equal(tes_vector_get(a, x) || tes_vector_get(b, y), 0);
  for (int64_t i = 0; i < n; i++) sum += (x[i] - y[i]) * (x[i] - y[i]), all += y[i] * y[i];
  free(x), free(y);
  return sqrt(sum / all);
}

static void check_steps(const Place *p, const TesOperator *op) {
  TesSmoother *smoother;
  assert_ok(p->ctx, tes_smoother_create(
                        p->ctx, &(TesSmootherDesc){.op = op, .kind = TES_SMOOTHER_ORDERED_CELLS}, &smoother));
  TesVector *b = vector(p, 7), *x = vector(p, 0), *y = vector(p, 0);
  for (int step = 0; step < 3; step++) {
    const TesSweep sweep = step == 1 ? TES_BACKWARD : TES_FORWARD;
    assert_ok(p->ctx, tes_smoother_apply(smoother, b, x, sweep, step == 0));
    assert_ok(p->ctx, tesi_smoother_apply_ref(smoother, b, y, sweep, step == 0));
    const double error = difference(x, y);
    if (!(error < 1e-10)) fail_msg("step %d differs by %g: %s", step, error, tes_smoother_describe(smoother));
  }
  tes_vector_destroy(&b), tes_vector_destroy(&x), tes_vector_destroy(&y);
  tes_smoother_destroy(&smoother);
}

static void check_device(const char *device) {
  TesContext *ctx;
  if (tes_context_create(&(TesContextDesc){.device = device, .verbosity = TES_QUIET}, &ctx, NULL, 0) != TES_OK)
    skip();
  for (int kind = 0; kind < PLACES; kind++)
    for (int dim = 2; dim <= 3; dim++) {
      Place p;
      TesOperator *op;
      if (!make_place(ctx, kind, dim, dim == 2 ? 2 : 1, false, &p)) continue;
      /* plain streamline terms have the derivatives of J, which curved cells leave out */
      const TesStreamline streamline = kind == BALL ? TES_STREAMLINE_NONE : TES_STREAMLINE_ALWAYS;
      assert_ok(ctx, create_form(&p, streamline, CONVECTIVE, &op));
      check_steps(&p, op);
      tes_operator_destroy(&op);
      leave(&p);
    }
  if (!strcmp(device, "cpu")) assert_int_equal(tes_context_memory(ctx), 0); /* kernels are kept */
  tes_context_destroy(&ctx);
}

static void steps_are_their_definition(void **state) {
  (void)state;
  check_device("cpu");
}

static void steps_in_the_emulator(void **state) {
  (void)state;
  if (TEST_THREAD_SANITIZER) skip();
  check_device("emulator");
}

typedef struct Flow2D {
  TesContext *ctx;
  TesMesh *mesh;
  TesSpace *space;
  TesOperator *op;
} Flow2D;

/* -a Lap u + b . grad u on n x n squares. */
static Flow2D open_flow(const char *bx, const char *by, const char *a, int n, int degree, bool ring) {
  Flow2D f;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &f.ctx, NULL, 0), TES_OK);
  TesFunction *b[2] = {expression(f.ctx, bx), expression(f.ctx, by)}, *diffusion = expression(f.ctx, a);
  const TesMeshDesc mesh = {.dim = 2, .cells = {n, n}, .periodic = {ring}};
  assert_ok(f.ctx, tes_mesh_create(f.ctx, &mesh, &f.mesh));
  assert_ok(f.ctx, tes_space_create(f.ctx, &(TesSpaceDesc){.mesh = f.mesh, .degree = degree}, &f.space));
  const TesTermDesc term[] = {{.term = TES_TERM_DIFFUSION, .a = {.all = diffusion}},
                              {.term = TES_TERM_TRANSPORT, .b = {b[0], b[1]}}};
  assert_ok(f.ctx,
            tes_operator_create(
                f.ctx, &(TesOperatorDesc){.space = f.space, .form = {.terms = 2, .term = term}}, &f.op));
  tes_function_destroy(&b[0]), tes_function_destroy(&b[1]), tes_function_destroy(&diffusion);
  return f;
}

static void close_flow(Flow2D *f) {
  tes_operator_destroy(&f->op);
  tes_space_destroy(&f->space);
  tes_mesh_destroy(&f->mesh);
  tes_context_destroy(&f->ctx);
}

/* Along a uniform velocity every node comes after the one before it on its grid line, in either direction; each node
 * comes once. */
static void nodes_follow_the_velocity(void **state) {
  static const char *const to[4][2] = {{"1", "0"}, {"-1", "0"}, {"0", "2"}, {"-0.3", "-1"}};
  (void)state;
  for (int w = 0; w < 4; w++) {
    enum { N = 5, K = 2, NODES = N * K + 1 };
    Flow2D f = open_flow(to[w][0], to[w][1], "1e-3", N, K, false);
    int32_t order[NODES * NODES], rank[NODES * NODES];
    int64_t longest = -1;
    const double bx = atof(to[w][0]), by = atof(to[w][1]);
    assert_int_equal(tes_space_length(f.space), NODES * NODES);
    assert_ok(f.ctx, tesi_ordered_cells_order(f.op, order, &longest, NULL));
    assert_int_equal(longest, 0);
    for (int i = 0; i < NODES * NODES; i++) rank[i] = -1;
    for (int i = 0; i < NODES * NODES; i++) rank[order[i]] = i;
    for (int y = 0; y < NODES; y++)
      for (int x = 0; x < NODES; x++) {
        const int32_t here = rank[x + NODES * y];
        assert_true(here >= 0);
        if (x > 0 && bx != 0) assert_true((here > rank[x - 1 + NODES * y]) == (bx > 0));
        if (y > 0 && by != 0) assert_true((here > rank[x + NODES * (y - 1)]) == (by > 0));
      }
    close_flow(&f);
  }
}

static int64_t longest_path(const char *bx, const char *by, bool ring) {
  Flow2D f = open_flow(bx, by, "1e-3", 12, 1, ring);
  int64_t longest = -1;
  assert_ok(f.ctx, tesi_ordered_cells_closed(f.op, &longest));
  close_flow(&f);
  return longest;
}

/* A vortex has paths round its middle, a periodic direction its way round, of 12 cells; a flow to a point and a
 * shear have none. */
static void closed_paths_are_seen(void **state) {
  (void)state;
  assert_true(longest_path("0.5 - y", "x - 0.5", false) >= 12);
  assert_true(longest_path("1", "0", true) == 12);
  assert_int_equal(longest_path("1 + y", "0.2", false), 0);
  assert_int_equal(longest_path("0.51 - x", "0.51 - y", false), 0);
}

/* A step from 0: what it leaves of a random vector; plain: it is the plain step, which takes long on many cells. */
static void check_factors(const Flow2D *f, double most, bool fill, bool plain) {
  TesSmoother *smoother;
  const Place p = {.ctx = f->ctx, .space = f->space};
  assert_ok(f->ctx,
            tes_smoother_create(f->ctx, &(TesSmootherDesc){.op = f->op, .kind = TES_SMOOTHER_ORDERED_CELLS},
                                &smoother));
  const TesiOrderedCells *plan = smoother->plan;
  TesVector *b = vector(&p, 5), *x = vector(&p, 0), *y = vector(&p, 0), *r = vector(&p, 0);
  double before, after;
  assert_ok(f->ctx, tes_smoother_apply(smoother, b, x, TES_FORWARD, true));
  assert_ok(f->ctx, tes_operator_residual(f->op, b, x, r));
  assert_ok(f->ctx, tes_vector_norm(b, &before));
  assert_ok(f->ctx, tes_vector_norm(r, &after));
  if ((plan->drop > 0) != fill)
    fail_msg("factors leave %g of %g, drop %g", plan->left, plan->poor, plan->drop);
  assert_true(plan->factors.F.entries <= TESI_INCOMPLETE_FILL * plan->A.entries);
  if (!(after < most * before)) fail_msg("a step leaves %g of the residual", after / before);
  if (plain) assert_ok(f->ctx, tesi_smoother_apply_ref(smoother, b, y, TES_FORWARD, true));
  if (plain && !(difference(x, y) < 1e-9)) fail_msg("the plain step differs by %g", difference(x, y));
  tes_vector_destroy(&b), tes_vector_destroy(&x), tes_vector_destroy(&y), tes_vector_destroy(&r);
  tes_smoother_destroy(&smoother);
}

/* Oblique to the cells, rows of factors without fill grow from cell to cell. Closed paths, which are cut, need fill on
 * small meshes. */
static void poor_factors_get_fill(void **state) {
  (void)state;
  Flow2D small = open_flow("0.3", "-1", "1e-7", 12, 1, false);
  check_factors(&small, 1, false, false);
  close_flow(&small);
  Flow2D oblique = open_flow("0.3", "-1", "1e-7", 60, 1, false);
  check_factors(&oblique, 0.2, true, false);
  close_flow(&oblique);
  Flow2D vortex = open_flow("sin(pi*x)*cos(pi*y)", "-cos(pi*x)*sin(pi*y)", "1e-3", 8, 2, false);
  check_factors(&vortex, 0.3, true, true);
  close_flow(&vortex);
}

/* With 1D upwinding, which SUPG of degree 1 is at large Peclet numbers, the matrix along a grid line is triangular: a
 * step leaves next to nothing. Against the flow it would leave nearly all. */
static void a_step_nearly_solves(void **state) {
  (void)state;
  Flow2D f = open_flow("1", "0", "1e-9", 16, 1, false);
  TesSmoother *smoother;
  const Place p = {.ctx = f.ctx, .space = f.space};
  assert_ok(f.ctx, tes_smoother_create(
                       f.ctx, &(TesSmootherDesc){.op = f.op, .kind = TES_SMOOTHER_ORDERED_CELLS}, &smoother));
  TesVector *b = vector(&p, 3), *x = vector(&p, 0), *r = vector(&p, 0);
  double before, after;
  assert_ok(f.ctx, tes_smoother_apply(smoother, b, x, TES_FORWARD, true));
  assert_ok(f.ctx, tes_operator_residual(f.op, b, x, r));
  assert_ok(f.ctx, tes_vector_norm(b, &before));
  assert_ok(f.ctx, tes_vector_norm(r, &after));
  if (!(after < 1e-6 * before)) fail_msg("a step leaves %g of the residual", after / before);
  tes_vector_destroy(&b), tes_vector_destroy(&x), tes_vector_destroy(&r);
  tes_smoother_destroy(&smoother);
  close_flow(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steps_are_their_definition), cmocka_unit_test(steps_in_the_emulator),
      cmocka_unit_test(nodes_follow_the_velocity),  cmocka_unit_test(closed_paths_are_seen),
      cmocka_unit_test(poor_factors_get_fill),      cmocka_unit_test(a_step_nearly_solves)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
