/* Run: ctest -R t7_misuse_objects. What a C program gets wrong with objects and numbers: half an allocator, objects of
 * other contexts, one boundary twice, places and counts that are not there, one vector for two, numbers that overflow.
 * Each is refused with a message, and what is right beside it is taken. */
#include <limits.h>
#include "tessera/tessera.h"
#include "testing.h"

enum { BOX, FOREST, KINDS };

static void ignore(void *user, TesLogLevel level, const char *line) {
  (void)user, (void)level, (void)line;
}

static TesContext *make_context(void) {
  TesContext *ctx;
  const TesContextDesc desc = {.device = "cpu", .verbosity = TES_QUIET, .log = ignore, .threads = 1};
  assert_int_equal(tes_context_create(&desc, &ctx, NULL, 0), TES_OK);
  return ctx;
}

static TesMesh *make_mesh(TesContext *ctx, int kind) {
  TesMesh *mesh;
  const TesMeshDesc desc = {.kind = kind == FOREST ? TES_MESH_FOREST : TES_MESH_BOX, .dim = 2, .cells = {4, 4}};
  assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
  return mesh;
}

static void assert_refused(TesContext *ctx, TesStatus status, const char *message) {
  if (status != TES_INVALID_INPUT) fail_msg("%s in place of '%s'", tes_status_name(status), message);
  if (!strstr(tes_context_message(ctx), message))
    fail_msg("'%s' is not in '%s'", message, tes_context_message(ctx));
  tes_context_clear(ctx);
}

/* ---- allocators ---------------------------------------------------------------------------------------- */

static void *take(void *user, size_t bytes) {
  (void)user;
  return aligned_alloc(64, (bytes + 63) / 64 * 64);
}
static void give(void *user, void *block) {
  (void)user;
  free(block);
}

static void half_an_allocator(void **state) {
  TesContext *ctx;
  char message[200];
  (void)state;
  const TesContextDesc half[] = {{.allocator = {.allocate = take}}, {.allocator = {.release = give}}};
  for (int i = 0; i < 2; i++) {
    assert_int_equal(tes_context_create(&half[i], &ctx, message, sizeof message), TES_INVALID_INPUT);
    assert_null(ctx);
    assert_non_null(strstr(message, i ? "has no allocate" : "has no release"));
  }
  const TesContextDesc whole = {.device = "cpu", .allocator = {.allocate = take, .release = give}};
  assert_int_equal(tes_context_create(&whole, &ctx, message, sizeof message), TES_OK);
  tes_context_destroy(&ctx);
}

/* ---- problems ------------------------------------------------------------------------------------------ */

static const TesTimeDesc steps = {.end = 1, .step = 0.5};

static void assert_problem_refused(TesContext *ctx, const TesProblemDesc *desc, const char *message) {
  TesProblem *problem;
  assert_refused(ctx, tes_problem_create(ctx, desc, &problem), message);
  assert_null(problem);
}

static void wrong_numbers_of_problems(void **state) {
  (void)state;
  TesContext *ctx = make_context();
  const TesBoundary twice[] = {{.name = "left"}, {.name = "right"}, {.name = "left"}},
                    all_twice[] = {{0}, {0}};
  const TesTimeDesc wrong = {.end = 1, .tolerance = 1e-3, .min_step = 5, .max_step = 1};
  for (int kind = 0; kind < KINDS; kind++)
    for (int e = 0; e <= TES_NAVIER_STOKES; e++) {
      TesMesh *mesh = make_mesh(ctx, kind);
      const bool moves = e == TES_TRANSPORT || e == TES_ELASTICITY || e == TES_NAVIER_STOKES;
      TesProblemDesc desc = {.mesh = mesh,
                             .equation = (TesEquation)e,
                             .degree = 2,
                             .time = e == TES_NAVIER_STOKES ? steps : (TesTimeDesc){0}};
      const TesProblemDesc right = desc;
      desc.solver.tolerance = 2;
      assert_problem_refused(ctx, &desc, "tolerance is 2");
      desc = right, desc.solver.pre = INT_MAX;
      assert_problem_refused(ctx, &desc, "solver.pre is 2147483647, expected -1..100");
      desc = right, desc.solver.smoother_degree = INT_MAX;
      assert_problem_refused(ctx, &desc, "solver.smoother_degree is 2147483647, expected 0..100");
      desc = right, desc.boundaries = 3, desc.boundary = twice;
      assert_problem_refused(ctx, &desc, "boundary.left: conditions are given twice, in the entries 0 and 2");
      desc = right, desc.boundaries = 2, desc.boundary = all_twice;
      assert_problem_refused(ctx, &desc, "boundary.all: conditions are given twice");
      desc = right, desc.time = wrong;
      if (moves) assert_problem_refused(ctx, &desc, "time.min_step is 5, above time.max_step");
      tes_mesh_destroy(&mesh);
    }
  tes_context_destroy(&ctx);
}

/* A million cells per direction: numbers that 64 bits do not hold. */
static void unknowns_beyond_counting(void **state) {
  (void)state;
  TesContext *ctx = make_context();
  TesMesh *mesh;
  TesProblem *problem;
  const TesMeshDesc desc = {.dim = 3, .cells = {1000000, 1000000, 1000000}};
  assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
  assert_int_equal(
      tes_problem_create(ctx, &(TesProblemDesc){.mesh = mesh, .degree = 2, .equation = TES_STOKES}, &problem),
      TES_OUT_OF_MEMORY);
  assert_non_null(strstr(tes_context_message(ctx), "exceed the address space"));
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
}

/* A displacement with one component is zero in the other. */
static void an_initial_state_in_part(void **state) {
  (void)state;
  TesContext *ctx = make_context();
  TesMesh *mesh = make_mesh(ctx, BOX);
  TesFunction *f, *one;
  assert_ok(ctx, tes_function_create_expression(ctx, "x*(1-x)*y*(1-y)", &f));
  assert_ok(ctx, tes_function_create_constant(ctx, 1, &one));
  for (int c = 0; c < 2; c++) {
    TesProblem *problem;
    double of[2];
    TesProblemDesc desc = {.mesh = mesh,
                           .equation = TES_ELASTICITY,
                           .degree = 2,
                           .data = {.a = one, .lambda = one},
                           .time = steps};
    desc.initial[c] = f;
    assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
    assert_ok(ctx, tes_problem_value(problem, &(TesValue){.kind = TES_VALUE_INTEGRAL, .of = "u*u"}, &of[0]));
    assert_ok(ctx, tes_problem_value(problem, &(TesValue){.kind = TES_VALUE_INTEGRAL, .of = "v*v"}, &of[1]));
    assert_near(of[c], 1. / 900, 1e-12); /* (int x^2 (1-x)^2)^2 = (1/30)^2 */
    assert_near(of[1 - c], 0, 1e-15);
    tes_problem_destroy(&problem);
  }
  tes_function_destroy(&f);
  tes_function_destroy(&one);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
}

/* ---- objects of other contexts ------------------------------------------------------------------------- */

typedef struct Objects {
  TesContext *ctx;
  TesMesh *mesh;
  TesSpace *space;
  TesOperator *op;
  TesMultigrid *multigrid;
  TesVector *v;
} Objects;

static const TesTermDesc diffusion = {.term = TES_TERM_DIFFUSION};
static const TesForm form = {.terms = 1, .term = &diffusion};

static Objects make_objects(void) {
  Objects o = {.ctx = make_context()};
  o.mesh = make_mesh(o.ctx, BOX);
  assert_ok(o.ctx, tes_space_create(o.ctx, &(TesSpaceDesc){.mesh = o.mesh, .degree = 2}, &o.space));
  assert_ok(o.ctx, tes_operator_create(o.ctx, &(TesOperatorDesc){.space = o.space, .form = form}, &o.op));
  assert_ok(o.ctx, tes_multigrid_create(o.ctx, &(TesMultigridDesc){.op = o.op}, &o.multigrid));
  assert_ok(o.ctx, tes_vector_create(o.ctx, tes_space_length(o.space), TES_DOUBLE, &o.v));
  return o;
}

static void destroy_objects(Objects *o) {
  tes_vector_destroy(&o->v);
  tes_multigrid_destroy(&o->multigrid);
  tes_operator_destroy(&o->op);
  tes_space_destroy(&o->space);
  tes_mesh_destroy(&o->mesh);
  tes_context_destroy(&o->ctx);
}

static void objects_of_other_contexts(void **state) {
  (void)state;
  Objects a = make_objects(), b = make_objects();
  TesContext *ctx = b.ctx;
  TesSpace *space;
  TesOperator *op;
  TesMultigrid *multigrid;
  TesSmoother *smoother;
  TesTransfer *transfer;
  TesSolver *solver;
  const char *other = "another context";
  assert_problem_refused(ctx, &(TesProblemDesc){.mesh = a.mesh, .degree = 2}, other);
  assert_refused(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = a.mesh}, &space), other);
  assert_refused(ctx, tes_space_create_product(ctx, 1, (const TesSpace *const[]){a.space}, &space), other);
  assert_refused(ctx, tes_operator_create(ctx, &(TesOperatorDesc){.space = a.space, .form = form}, &op),
                 other);
  assert_refused(ctx, tes_smoother_create(ctx, &(TesSmootherDesc){.op = a.op}, &smoother), other);
  assert_refused(
      ctx, tes_transfer_create(ctx, &(TesTransferDesc){.coarse = a.space, .fine = b.space}, &transfer), other);
  assert_refused(ctx, tes_multigrid_create(ctx, &(TesMultigridDesc){.op = a.op}, &multigrid), other);
  assert_refused(ctx, tes_solver_create(ctx, &(TesSolverDesc){.op = a.op}, &solver), other);
  assert_refused(ctx, tes_solver_create(ctx, &(TesSolverDesc){.op = b.op, .multigrid = a.multigrid}, &solver),
                 other);
  assert_refused(ctx, tes_vector_axpy(1, a.v, b.v), "different contexts");
  const TesProblemDesc guessed = {
      .mesh = b.mesh, .degree = 2, .guess = a.v, .solver = {.method = TES_METHOD_CG}};
  assert_problem_refused(ctx, &guessed, "different contexts");
  destroy_objects(&a);
  destroy_objects(&b);
}

static void wrong_arguments_of_objects(void **state) {
  (void)state;
  Objects o = make_objects();
  TesContext *ctx = o.ctx;
  TesSolver *solver;
  TesOperator *op;
  TesSolveResult result;
  const TesSolverDesc gmres = {.op = o.op, .method = TES_METHOD_GMRES, .restart = INT_MAX};
  assert_refused(ctx, tes_solver_create(ctx, &gmres, &solver), "restart is 2147483647, expected 1..10000");
  assert_refused(ctx,
                 tes_operator_create(ctx, &(TesOperatorDesc){.space = o.space, .form = {.terms = 1}}, &op),
                 "a form of 1 terms, and the list is NULL");
  assert_ok(ctx, tes_solver_create(ctx, &(TesSolverDesc){.op = o.op, .multigrid = o.multigrid}, &solver));
  assert_refused(ctx, tes_solver_solve(solver, o.v, o.v, &result), "are the same vector");
  tes_solver_destroy(&solver);
  destroy_objects(&o);
}

/* ---- values, files, cases ------------------------------------------------------------------------------ */

static void values_of_nowhere(void **state) {
  (void)state;
  TesContext *ctx = make_context();
  TesMesh *mesh = make_mesh(ctx, BOX);
  TesProblem *problem;
  TesSolveResult result;
  double v, x[2] = {0.5, 0.5};
  const char *const u[] = {NULL};
  assert_ok(ctx, tes_problem_create(ctx, &(TesProblemDesc){.mesh = mesh, .degree = 2}, &problem));
  assert_ok(ctx, tes_problem_solve(problem, &result));
  const int wrong[] = {77, -1, INT_MAX, INT_MIN};
  for (int i = 0; i < 4; i++) {
    const TesValue place = {.where = (TesWhere)wrong[i]};
    TesValue on = {.where = TES_ON_MATERIAL, .number = wrong[i]};
    assert_refused(ctx, tes_problem_value(problem, &place, &v), "the place of a value is");
    assert_refused(ctx, tes_problem_value(problem, &on, &v), "material");
    on.where = TES_ON_BOUNDARY;
    assert_refused(ctx, tes_problem_value(problem, &on, &v), "boundary");
  }
  assert_refused(ctx, tes_problem_sample(problem, -1, x, 1, u, &v, NULL), "at -1 points");
  assert_refused(ctx, tes_problem_sample(problem, 1, x, -1, u, &v, NULL), "-1 values");
  tes_problem_destroy(&problem);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
}

static void files_and_cases(void **state) {
  (void)state;
  TesContext *ctx = make_context();
  TesMesh *mesh = make_mesh(ctx, FOREST);
  TesCase *input;
  TesValue value;
  double x[] = {0, 0, 1, 0, 0, 1, 1, 1};
  const TesVtuDesc right = {.dim = 2, .degree = 1, .cells = 1, .coordinates = {.values = x}};
  TesVtuDesc desc = right;
  desc.precision = (TesPrecision)9;
  assert_refused(ctx, tes_vtu_write(ctx, &desc, "misuse.vtu"), "precision is 9");
  desc = right, desc.point_field_count = -1;
  assert_refused(ctx, tes_vtu_write(ctx, &desc, "misuse.vtu"), "-1 times a point field");
  desc = right, desc.cell_field_count = 2;
  assert_refused(ctx, tes_vtu_write(ctx, &desc, "misuse.vtu"), "and the list is NULL");
  assert_refused(ctx, tes_pvd_write(ctx, -1, NULL, "misuse.pvd"), "a series of -1 files");
  const TesProblemDesc problem = {.mesh = mesh, .degree = 2};
  assert_refused(ctx, tes_adapt_run(ctx, &problem, &(TesAdaptDesc){.estimator = (TesEstimator)77}, NULL),
                 "estimator is 77, expected 0..1");
  assert_refused(ctx, tes_adapt_run(ctx, &problem, &(TesAdaptDesc){.marking = (TesMarking)-1}, NULL),
                 "marking is -1, expected 0..1");
  const char *text = "problem: poisson\nmesh: {box: {cells: [4, 4]}}\n";
  assert_ok(ctx, tes_case_parse(ctx, text, "x", 0, NULL, &input));
  assert_refused(ctx, tes_case_value(input, 0, mesh, &value), "value 0, the case has 0");
  assert_refused(ctx, tes_case_value(input, -1, mesh, &value), "value -1, the case has 0");
  tes_case_destroy(&input);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
}

/* ---- overflow ------------------------------------------------------------------------------------------ */

static void large_in_part(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                          double *out) {
  (void)y, (void)z, (void)t;
  for (int64_t i = 0; i < n; i++) out[i] = x[i] > 0.6 ? *(const double *)user : 1;
}

static void large_everywhere(void *user, int64_t n, const double *x, const double *y, const double *z,
                             double t, double *out) {
  (void)x, (void)y, (void)z, (void)t;
  for (int64_t i = 0; i < n; i++) out[i] = *(const double *)user;
}

/* Finite numbers whose sums or quotients are not: no defect of the library. */
static void overflow_is_told(void **state) {
  (void)state;
  double large[] = {1e308, 1e200, 1e100};
  for (int i = 0; i < 3 * KINDS * (TES_NAVIER_STOKES + 1) * 4; i++) {
    const int what = i % 4, e = i / 4 % (TES_NAVIER_STOKES + 1),
              kind = i / 4 / (TES_NAVIER_STOKES + 1) % KINDS;
    TesContext *ctx = make_context();
    TesMesh *mesh = make_mesh(ctx, kind);
    TesFunction *f, *one;
    TesProblem *problem;
    TesSolveResult result;
    double *value = &large[i / 4 / (TES_NAVIER_STOKES + 1) / KINDS];
    assert_ok(ctx, tes_function_create_callback(ctx, large_in_part, value, NULL, &f));
    assert_ok(ctx, tes_function_create_constant(ctx, 1, &one));
    const TesBoundary moved = {.g = {f}};
    TesProblemDesc desc = {.mesh = mesh,
                           .equation = (TesEquation)e,
                           .degree = 2,
                           .data = {.lambda = e == TES_ELASTICITY ? what == 3 ? f : one : NULL},
                           .time = e == TES_NAVIER_STOKES ? steps : (TesTimeDesc){0}};
    if (what == 0) desc.data.a = f;
    if (what == 1) desc.data.f[0] = f;
    if (what == 2) desc.boundaries = 1, desc.boundary = &moved;
    TesStatus status = tes_problem_create(ctx, &desc, &problem);
    if (status == TES_OK) status = tes_problem_solve(problem, &result);
    if (status == TES_INTERNAL)
      fail_msg("equation %d, mesh %d, %d is %g: %s", e, kind, what, *value, tes_context_message(ctx));
    tes_problem_destroy(&problem);
    tes_function_destroy(&f);
    tes_function_destroy(&one);
    tes_mesh_destroy(&mesh);
    tes_context_destroy(&ctx);
  }
}

/* A function of C that gives NaN is named by what it is in the description, with the point. */
static void faulty_data_are_named(void **state) {
  (void)state;
  double nan_value = NAN;
  static const struct {
    const char *told;
    TesEquation equation;
  } rows[] = {{"data.a: ", TES_POISSON},
              {"data.f[0]: ", TES_ELASTICITY},
              {"boundary.left.g[0]: ", TES_POISSON},
              {"boundary.left.g[0]: ", TES_ELASTICITY},
              {"boundary.left.alpha: ", TES_POISSON},
              {"initial[0]: ", TES_TRANSPORT}};
  for (int i = 0; i < (int)(sizeof rows / sizeof *rows) * KINDS; i++) {
    const int row = i / KINDS, what[] = {0, 1, 2, 2, 3, 4};
    TesContext *ctx = make_context();
    TesMesh *mesh = make_mesh(ctx, i % KINDS);
    TesFunction *f, *one;
    TesProblem *problem;
    assert_ok(ctx, tes_function_create_callback(ctx, large_everywhere, &nan_value, NULL, &f));
    assert_ok(ctx, tes_function_create_constant(ctx, 1, &one));
    TesBoundary boundary[] = {{.name = "left"}, {0}};
    TesProblemDesc desc = {.mesh = mesh, .degree = 2, .equation = rows[row].equation, .boundary = boundary};
    if (desc.equation == TES_ELASTICITY) desc.data.lambda = one;
    if (what[row] == 0) desc.data.a = f;
    if (what[row] == 1) desc.data.f[0] = f;
    if (what[row] >= 2 && what[row] <= 3) desc.boundaries = 2;
    if (what[row] == 2) boundary[0].g[0] = f;
    if (what[row] == 3) boundary[0].condition = TES_ROBIN, boundary[0].alpha = f;
    if (what[row] == 4) desc.initial[0] = f, desc.time = steps;
    const TesStatus status = tes_problem_create(ctx, &desc, &problem);
    if (status != TES_NAN && status != TES_INVALID_INPUT)
      fail_msg("%s: %s", rows[row].told, tes_status_name(status));
    if (status == TES_NAN && strncmp(tes_context_message(ctx), rows[row].told, strlen(rows[row].told)) != 0)
      fail_msg("'%s' is no beginning of '%s'", rows[row].told, tes_context_message(ctx));
    assert_non_null(strstr(tes_context_message(ctx), " at ("));
    tes_function_destroy(&f);
    tes_function_destroy(&one);
    tes_mesh_destroy(&mesh);
    tes_context_destroy(&ctx);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(half_an_allocator),         cmocka_unit_test(wrong_numbers_of_problems),
      cmocka_unit_test(unknowns_beyond_counting),  cmocka_unit_test(an_initial_state_in_part),
      cmocka_unit_test(objects_of_other_contexts), cmocka_unit_test(wrong_arguments_of_objects),
      cmocka_unit_test(values_of_nowhere),         cmocka_unit_test(files_and_cases),
      cmocka_unit_test(overflow_is_told),          cmocka_unit_test(faulty_data_are_named)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
