/* Run: ctest -R t7_misuse. What a C program gets wrong is refused with a message: NULL, enums out of range, too
 * many threads. A context that was interrupted can be used again. */
#include <stdio.h>
#include "tessera/tessera.h"
#include "testing.h"

static TesContext *make_context(void) {
  TesContext *ctx;
  assert_int_equal(
      tes_context_create(&(TesContextDesc){.device = "cpu", .verbosity = TES_QUIET, .threads = 1}, &ctx, NULL,
                         0),
      TES_OK);
  return ctx;
}

static TesMesh *make_mesh(TesContext *ctx) {
  TesMesh *mesh;
  assert_ok(ctx,
            tes_mesh_create(ctx, &(TesMeshDesc){.kind = TES_MESH_BOX, .dim = 2, .cells = {4, 4}}, &mesh));
  return mesh;
}

static void assert_refused(TesContext *ctx, TesStatus status, const char *message) {
  assert_int_equal(status, TES_INVALID_INPUT);
  if (!strstr(tes_context_message(ctx), message))
    fail_msg("'%s' is not in '%s'", message, tes_context_message(ctx));
  tes_context_clear(ctx);
}

static void enums_out_of_range(void **state) {
  (void)state;
  static const struct {
    TesSolveOptions options;
    const char *message;
  } wrong[] = {{{.method = (TesMethod)77}, "solver.method is 77, expected 0..4"},
               {{.smoother = (TesSmootherKind)77}, "solver.smoother is 77"},
               {{.local = (TesLocalSolver)77}, "solver.local is 77"},
               {{.order = (TesOrder)77}, "solver.order is 77"},
               {{.coarse = (TesCoarseKind)77}, "solver.coarse is 77"},
               {{.coarsening = (TesCoarsening)77}, "solver.coarsening is 77"},
               {{.precision = (TesSolvePrecision)77}, "solver.precision is 77"}};
  TesContext *ctx = make_context();
  TesMesh *mesh = make_mesh(ctx);
  TesProblem *problem = NULL;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    const TesProblemDesc desc = {.mesh = mesh, .degree = 2, .solver = wrong[i].options};
    assert_refused(ctx, tes_problem_create(ctx, &desc, &problem), wrong[i].message);
    assert_null(problem);
  }
  const TesBoundary odd = {.condition = (TesCondition)77};
  const TesProblemDesc desc = {.mesh = mesh, .degree = 2, .boundary = &odd, .boundaries = 1};
  assert_refused(ctx, tes_problem_create(ctx, &desc, &problem), "is 77, expected 0..3");
  const TesBoundary slip = {.condition = TES_SLIP};
  assert_refused(
      ctx,
      tes_problem_create(ctx, &(TesProblemDesc){.mesh = mesh, .boundary = &slip, .boundaries = 1}, &problem),
      "boundary left: slip is for flows, poisson is none");
  TesVector *v = NULL;
  assert_refused(ctx, tes_vector_create(ctx, 3, (TesPrecision)77, &v), "precision is 77");
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
}

static void null_arguments(void **state) {
  (void)state;
  TesContext *ctx = make_context();
  TesMesh *mesh = make_mesh(ctx), *other;
  TesProblem *problem;
  TesSpace *space;
  TesOperator *op;
  TesSmoother *smoother;
  TesTransfer *transfer;
  TesMultigrid *multigrid;
  TesSolver *solver;
  TesFunction *f;
  assert_refused(ctx, tes_mesh_create(ctx, NULL, &other), "is NULL");
  assert_refused(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2}, NULL), "is NULL");
  assert_int_equal(tes_mesh_create(NULL, &(TesMeshDesc){.dim = 2}, &other), TES_INVALID_INPUT);
  assert_refused(ctx, tes_problem_create(ctx, NULL, &problem), "is NULL");
  assert_refused(ctx, tes_problem_create(ctx, &(TesProblemDesc){.mesh = mesh}, NULL), "is NULL");
  assert_refused(ctx, tes_space_create(ctx, NULL, &space), "is NULL");
  assert_refused(ctx, tes_operator_create(ctx, NULL, &op), "is NULL");
  assert_refused(ctx, tes_smoother_create(ctx, NULL, &smoother), "is NULL");
  assert_refused(ctx, tes_transfer_create(ctx, NULL, &transfer), "is NULL");
  assert_refused(ctx, tes_multigrid_create(ctx, NULL, &multigrid), "is NULL");
  assert_refused(ctx, tes_solver_create(ctx, NULL, &solver), "is NULL");
  assert_refused(ctx, tes_vector_create(ctx, 3, TES_DOUBLE, NULL), "is NULL");
  assert_refused(ctx, tes_function_create_expression(ctx, NULL, &f), "is NULL");
  assert_refused(ctx, tes_function_create_callback(ctx, NULL, NULL, NULL, &f), "is NULL");
  assert_refused(ctx, tes_function_create_constant(ctx, 1, NULL), "is NULL");
  assert_int_equal(tes_context_create(NULL, NULL, NULL, 0), TES_INVALID_INPUT);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
}

static void too_many_threads(void **state) {
  (void)state;
  TesContext *ctx = NULL;
  char message[200];
  assert_int_equal(tes_context_create(&(TesContextDesc){.threads = 4097}, &ctx, message, sizeof message),
                   TES_INVALID_INPUT);
  assert_null(ctx);
  assert_string_equal(message, "threads is 4097, expected 1..4096, or 0 (all)");
}

static void an_interrupted_context_goes_on(void **state) {
  (void)state;
  TesContext *ctx = make_context();
  TesMesh *mesh = make_mesh(ctx);
  TesProblem *problem;
  TesSolveResult result;
  assert_ok(ctx, tes_problem_create(ctx, &(TesProblemDesc){.mesh = mesh, .degree = 2}, &problem));
  tes_context_interrupt(ctx);
  assert_int_equal(tes_problem_solve(problem, &result), TES_INTERRUPTED);
  assert_int_equal(tes_problem_solve(problem, &result), TES_INTERRUPTED);
  tes_context_clear(ctx);
  assert_ok(ctx, tes_problem_solve(problem, &result));
  tes_problem_destroy(&problem);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
}

/* ---- set-ups are interrupted ------------------------------------------------------------------------------------- */

typedef struct Stop {
  TesContext *ctx;
  const char *at; /* the progress at which it is asked */
  int steps;      /* that were reported */
} Stop;

static void stop_there(void *user, TesLogLevel level, const char *line) {
  const Stop *s = user;
  if (level == TES_LOG_PROGRESS && s->at && strstr(line, s->at)) tes_context_interrupt(s->ctx);
}

static TesStatus count_step(void *user, const TesAdaptStep *step) {
  (void)step;
  ((Stop *)user)->steps++;
  return TES_OK;
}

/* At the part at hand, told; what was made before is released, and the context goes on. */
static void set_ups_are_interrupted(void **state) {
  (void)state;
  static const char *const parts[] = {"operator of", "level 1 of", "right-hand side"};
  Stop stop = {0};
  const TesContextDesc desc = {.log = stop_there, .log_user = &stop};
  TesContext *ctx;
  TesProblem *problem;
  char expected[64];
  assert_int_equal(tes_context_create(&desc, &ctx, NULL, 0), TES_OK);
  stop.ctx = ctx;
  TesMesh *mesh = make_mesh(ctx);
  const size_t before = tes_context_memory(ctx);
  const TesProblemDesc problem_desc = {.mesh = mesh, .degree = 2};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    stop.at = parts[i];
    assert_int_equal(tes_problem_create(ctx, &problem_desc, &problem), TES_INTERRUPTED);
    assert_null(problem);
    snprintf(expected, sizeof expected, "interrupted in the set-up (%s", parts[i]);
    if (strncmp(tes_context_message(ctx), expected, strlen(expected)) != 0)
      fail_msg("%s: %s", expected, tes_context_message(ctx));
    assert_int_equal(tes_context_memory(ctx), before);
    tes_context_clear(ctx);
  }
  stop.at = NULL;
  assert_ok(ctx, tes_problem_create(ctx, &problem_desc, &problem));
  tes_problem_destroy(&problem);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
}

static void adaptive_solves_are_interrupted(void **state) {
  (void)state;
  static const struct {
    const char *at;
    int steps;
  } cases[] = {
      {"the estimate of step 1", 1}, {"refining after step 1", 2}, {"the set-up of step 2: nodes", 2}};
  Stop stop = {0};
  const TesContextDesc desc = {.log = stop_there, .log_user = &stop};
  TesContext *ctx;
  TesMesh *mesh;
  assert_int_equal(tes_context_create(&desc, &ctx, NULL, 0), TES_OK);
  stop.ctx = ctx;
  const TesMeshDesc l = {.kind = TES_MESH_FOREST, .domain = TES_DOMAIN_L_SHAPE, .dim = 2, .refine = 2};
  if (tes_mesh_create(ctx, &l, &mesh) == TES_MISSING) {
    tes_context_destroy(&ctx);
    skip();
  }
  const size_t before = tes_context_memory(ctx);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    stop.at = cases[i].at, stop.steps = 0;
    const TesAdaptDesc adapt = {.steps = 4, .report = count_step, .report_user = &stop};
    assert_int_equal(tes_adapt_run(ctx, &(TesProblemDesc){.mesh = mesh, .degree = 2}, &adapt, NULL),
                     TES_INTERRUPTED);
    assert_int_equal(stop.steps, cases[i].steps);
    if (!strstr(tes_context_message(ctx), "interrupted in ")) fail_msg("%s", tes_context_message(ctx));
    assert_true(tes_context_memory(ctx) <= before + 100000); /* the mesh keeps what was asked of it */
    tes_context_clear(ctx);
  }
  tes_mesh_destroy(&mesh);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(enums_out_of_range),      cmocka_unit_test(null_arguments),
      cmocka_unit_test(too_many_threads),        cmocka_unit_test(an_interrupted_context_goes_on),
      cmocka_unit_test(set_ups_are_interrupted), cmocka_unit_test(adaptive_solves_are_interrupted)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
