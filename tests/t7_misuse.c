/* Run: ctest -R t7_misuse. What a C program gets wrong is refused with a message: NULL, enums out of range, too
 * many threads. A context that was interrupted can be used again. */
#include <math.h>
#include <stdio.h>
#include "tessera/tessera.h"
#include "testing.h"

static TesContext *make_context(void) {
  TesContext *ctx;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu", .verbosity = TES_QUIET, .threads = 1},
                                      &ctx, NULL, 0),
                   TES_OK);
  return ctx;
}

static TesMesh *make_mesh(TesContext *ctx) {
  TesMesh *mesh;
  assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.kind = TES_MESH_BOX, .dim = 2, .cells = {4, 4}}, &mesh));
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
  } wrong[] = {{{.method = (TesMethod)77}, "solver.method is 77, expected 0..5"},
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
  assert_refused(ctx, tes_problem_create(ctx, &desc, &problem), "is 77, expected 0..4");
  const TesBoundary slip = {.condition = TES_SLIP};
  assert_refused(
      ctx,
      tes_problem_create(ctx, &(TesProblemDesc){.mesh = mesh, .boundary = &slip, .boundaries = 1}, &problem),
      "boundary.all: poisson with element q has dirichlet, neumann and robin; slip belongs to stokes, "
      "elasticity and navier_stokes");
  TesVector *v = NULL;
  assert_refused(ctx, tes_vector_create(ctx, 3, (TesPrecision)77, &v), "precision is 77");
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
}

/* ---- NULL ------------------------------------------------------------------------------------------------------- */

#define CREATION(noun, Noun)                                                                                 \
  static TesStatus create_##noun(TesContext *ctx, const void *desc, void *result) {                          \
    return tes_##noun##_create(ctx, (const Tes##Noun##Desc *)desc, (Tes##Noun **)result);                    \
  }
CREATION(mesh, Mesh)
CREATION(space, Space)
CREATION(operator, Operator)
CREATION(smoother, Smoother)
CREATION(transfer, Transfer)
CREATION(multigrid, Multigrid)
CREATION(solver, Solver)
CREATION(problem, Problem)

static TesStatus find_scaling(TesContext *ctx, const void *desc, void *result) {
  return tes_problem_scaling(ctx, (const TesProblemDesc *)desc, true, 1, (TesProblemScaling *)result);
}

static TesStatus find_memory(TesContext *ctx, const void *desc, void *result) {
  return tes_problem_memory(ctx, (const TesProblemDesc *)desc, (TesProblemMemory *)result);
}

static TesStatus run_adapt(TesContext *ctx, const void *desc, void *result) {
  (void)result;
  return tes_adapt_run(ctx, (const TesProblemDesc *)desc, (const TesAdaptDesc *)desc, NULL);
}

static TesStatus read_case(TesContext *ctx, const void *desc, void *result) {
  return tes_case_read(ctx, (const char *)desc, 0, NULL, (TesCase **)result);
}

static TesStatus parse_case(TesContext *ctx, const void *desc, void *result) {
  return tes_case_parse(ctx, (const char *)desc, "a", 0, NULL, (TesCase **)result);
}

static TesStatus read_checkpoint(TesContext *ctx, const void *desc, void *result) {
  return tes_checkpoint_read(ctx, (const char *)desc, 0, (TesCheckpoint **)result);
}

static TesStatus create_expression(TesContext *ctx, const void *desc, void *result) {
  return tes_function_create_expression(ctx, (const char *)desc, (TesFunction **)result);
}

static TesStatus create_product(TesContext *ctx, const void *desc, void *result) {
  return tes_space_create_product(ctx, 1, (const TesSpace *const *)desc, (TesSpace **)result);
}

static TesStatus create_derivative(TesContext *ctx, const void *desc, void *result) {
  (void)ctx;
  return tes_function_create_derivative((const TesFunction *)desc, 0, (TesFunction **)result);
}

static TesStatus create_vector(TesContext *ctx, const void *desc, void *result) {
  (void)desc;
  return tes_vector_create(ctx, 3, TES_DOUBLE, (TesVector **)result);
}

static TesStatus create_constant(TesContext *ctx, const void *desc, void *result) {
  (void)desc;
  return tes_function_create_constant(ctx, 1, (TesFunction **)result);
}

typedef struct Creation {
  const char *name;
  TesStatus (*create)(TesContext *, const void *, void *);
  bool no_context, no_desc; /* it takes none */
  bool no_zeros;            /* a description of zeros is none of its arguments, or is right */
} Creation;

static const Creation creations[] = {
    {.name = "mesh", .create = create_mesh},
    {.name = "space", .create = create_space},
    {.name = "operator", .create = create_operator},
    {.name = "smoother", .create = create_smoother},
    {.name = "transfer", .create = create_transfer},
    {.name = "multigrid", .create = create_multigrid},
    {.name = "solver", .create = create_solver},
    {.name = "problem", .create = create_problem},
    {.name = "memory", .create = find_memory},
    {.name = "scaling", .create = find_scaling},
    {.name = "case", .create = read_case, .no_zeros = true},
    {.name = "case text", .create = parse_case, .no_zeros = true},
    {.name = "checkpoint", .create = read_checkpoint, .no_zeros = true},
    {.name = "expression", .create = create_expression},
    {.name = "product", .create = create_product},
    {.name = "derivative", .create = create_derivative, .no_context = true, .no_zeros = true},
    {.name = "vector", .create = create_vector, .no_desc = true},
    {.name = "constant", .create = create_constant, .no_desc = true}};

/* NULL for the context, the description, its objects (all zero), or for where the result goes. */
static void null_arguments(void **state) {
  (void)state;
  TesContext *ctx = make_context();
  static const union {
    void *align;
    char bytes[8192];
  } zeros = {NULL};
  const size_t before = tes_context_memory(ctx);
  for (size_t i = 0; i < sizeof creations / sizeof *creations; i++) {
    const Creation *c = &creations[i];
    void *result[8] = {NULL};
    if (!c->no_context && c->create(NULL, &zeros, result) != TES_INVALID_INPUT) fail_msg("%s", c->name);
    if (!c->no_context) assert_refused(ctx, c->create(ctx, &zeros, NULL), "is NULL");
    if (!c->no_desc) {
      assert_int_equal(c->create(ctx, NULL, result), TES_INVALID_INPUT);
      if (!c->no_context) assert_non_null(strstr(tes_context_message(ctx), "is NULL"));
      tes_context_clear(ctx);
    }
    if (!c->no_desc && !c->no_zeros) {
      if (c->create(ctx, &zeros, result) != TES_INVALID_INPUT || !tes_context_message(ctx)[0])
        fail_msg("%s: zeros", c->name);
      tes_context_clear(ctx);
    }
    assert_int_equal(tes_context_memory(ctx), before);
  }
  TesFunction *f;
  assert_refused(ctx, tes_function_create_callback(ctx, NULL, NULL, NULL, &f), "is NULL");
  assert_refused(ctx, run_adapt(ctx, NULL, NULL), "is NULL");
  assert_refused(ctx, run_adapt(ctx, &zeros, NULL), "mesh");
  assert_refused(ctx, tes_vtu_write(ctx, NULL, "a.vtu"), "is NULL");
  assert_refused(ctx, tes_checkpoint_write(ctx, NULL, "a.h5"), "is NULL");
  assert_refused(ctx, tes_report_write(ctx, NULL, "a.json"), "is NULL");
  assert_int_equal(tes_context_create(NULL, NULL, NULL, 0), TES_INVALID_INPUT);
  tes_context_destroy(&ctx);
}

/* Of what newer descriptions hold. */
static void newer_enums_out_of_range(void **state) {
  (void)state;
  TesContext *ctx = make_context();
  TesMesh *mesh = make_mesh(ctx), *other;
  TesProblem *problem;
  TesSpace *space;
  TesOperator *op;
  const TesTimeDesc time = {.end = 1, .step = 0.5};
  const struct {
    TesProblemDesc desc;
    const char *message;
  } wrong[] = {
      {{.time = {.end = 1, .step = 0.5, .method = (TesTimeMethod)77}}, "77"},
      {{.time = time, .solver = {.tolerance_of = (TesToleranceOf)77}}, "77"},
      {{.time = time, .solver = {.guess = 77}}, "77"},
      {{.stabilization = (TesStreamline)77}, "77"},
      {{.equation = TES_STOKES, .flow_form = (TesFlowForm)77}, "flow_form is 77"},
      {{.equation = TES_STOKES, .solver = {.penalty = (TesPenalty)77}}, "77"},
      {{.equation = TES_STOKES, .solver = {.colours = (TesColours)77}}, "solver.colours is 77"},
      {{.equation = TES_STOKES, .element = (TesElement)77}, "77"},
      {{.equation = TES_POISSON, .element = TES_ELEMENT_DG, .solver = {.penalty = (TesPenalty)77}}, "77"},
      {{.solver = {.pre = -7}}, "-7"},
      {{.solver = {.post = -7}}, "-7"},
      {{.solver = {.max_iterations = -7}}, "-7"},
      {{.solver = {.smoother_degree = -7}}, "-7"},
      {{.boundaries = -7}, "-7"},
      {{.materials = -7}, "-7"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    TesProblemDesc desc = wrong[i].desc;
    desc.mesh = mesh, desc.degree = 2;
    if (desc.equation == TES_POISSON && desc.element == TES_ELEMENT_AUTO) desc.equation = TES_TRANSPORT;
    const TesStatus status = tes_problem_create(ctx, &desc, &problem);
    if (status != TES_INVALID_INPUT || !strstr(tes_context_message(ctx), wrong[i].message))
      fail_msg("row %d: status %d, %s\n", (int)i, (int)status, tes_context_message(ctx));
    if (status == TES_OK) tes_problem_destroy(&problem);
    tes_context_clear(ctx);
  }
  assert_refused(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.kind = (TesMeshKind)77, .dim = 2}, &other), "77");
  assert_refused(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.domain = (TesDomain)77, .dim = 2}, &other), "77");
  assert_refused(
      ctx,
      tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 2, .element = (TesElement)77}, &space),
      "77");
  assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 2}, &space));
  const TesTermDesc term = {.term = (TesTerm)77};
  assert_refused(
      ctx, tes_operator_create(ctx, &(TesOperatorDesc){.space = space, .form = {1, &term, 0}}, &op), "77");
  tes_space_destroy(&space);
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

/* Constants that are no numbers, and steps that times lose in rounding. */
static void numbers_that_are_none(void **state) {
  (void)state;
  TesContext *ctx = make_context();
  TesMesh *mesh = make_mesh(ctx);
  TesProblem *problem = NULL;
  TesFunction *nan;
  assert_ok(ctx, tes_function_create_constant(ctx, (double)NAN, &nan));
  const TesBoundary robin = {.condition = TES_ROBIN, .alpha = nan};
  const struct {
    TesProblemDesc desc;
    const char *message;
  } wrong[] = {{{.data = {.a = nan}}, "the diffusion coefficient a is nan, expected > 0"},
               {{.data = {.c = nan}}, "the reaction coefficient c is nan, expected >= 0"},
               {{.boundary = &robin, .boundaries = 1}, "a Robin coefficient alpha is nan, expected >= 0"},
               {{.equation = TES_TRANSPORT, .time = {.start = 1e16, .end = 1e16 + 8, .step = 1}},
                "so short that these times lose them in rounding"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    TesProblemDesc desc = wrong[i].desc;
    desc.mesh = mesh, desc.degree = 2;
    assert_refused(ctx, tes_problem_create(ctx, &desc, &problem), wrong[i].message);
  }
  tes_function_destroy(&nan);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
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
  } cases[] = {{"the estimate of step 1", 1}, {"refining after step 1", 2}, {"the set-up of step 2: nodes", 2}};
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
      cmocka_unit_test(enums_out_of_range),       cmocka_unit_test(null_arguments),
      cmocka_unit_test(newer_enums_out_of_range), cmocka_unit_test(too_many_threads),
      cmocka_unit_test(numbers_that_are_none),    cmocka_unit_test(an_interrupted_context_goes_on),
      cmocka_unit_test(set_ups_are_interrupted),  cmocka_unit_test(adaptive_solves_are_interrupted)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
