/* tessera/petsc.h: conjugate gradients of PETSc beside those of the library, on Poisson and elasticity problems over
 * boxes and trees: as many iterations, the same solutions. What PETSc sees at given nodes, singular operators,
 * near-null spaces, errors. Built where pkg-config finds PETSc.
 *
 *   build/tests/t6_petsc
 *
 * Labels: slow heavy */
#include "testing.h"
#include <stdio.h>
#include "tessera/petsc.h"
#include "tessera/tessera.h"

#define CALL(call) assert_int_equal(call, 0)
#define OK(call) assert_int_equal(call, TES_OK)

enum { MOST_TERMS = 3 };

/* What is solved. */
typedef struct Example {
  const char *name;
  TesMeshDesc mesh;
  bool refined; /* trees: where x < 0.4, once more */
  int degree, components;
  unsigned char given[6];
  int terms;
  TesTerm term[MOST_TERMS];
  const char *a[MOST_TERMS];
  TesPrecision cycle;
  const char *device;
} Example;

static const Example examples[] = {{"poisson on a box",
                                    {.dim = 2, .cells = {12, 12}},
                                    false,
                                    4,
                                    1,
                                    {1, 1, 1, 1},
                                    1,
                                    {TES_TERM_DIFFUSION},
                                    {"1 + x*y"},
                                    TES_DOUBLE,
                                    "cpu"},
                                   {"poisson on a box, float32",
                                    {.dim = 3, .cells = {4, 4, 4}},
                                    false,
                                    3,
                                    1,
                                    {1, 0, 1, 0, 0, 0},
                                    1,
                                    {TES_TERM_DIFFUSION},
                                    {"1"},
                                    TES_SINGLE,
                                    "cpu"},
                                   {"poisson on trees with hanging nodes",
                                    {.kind = TES_MESH_FOREST, .dim = 2, .cells = {4, 4}},
                                    true,
                                    3,
                                    1,
                                    {1, 1, 1, 0},
                                    2,
                                    {TES_TERM_DIFFUSION, TES_TERM_MASS},
                                    {"1 + x*x", "y"},
                                    TES_DOUBLE,
                                    "cpu"},
                                   {"poisson in the emulator",
                                    {.dim = 2, .cells = {6, 6}},
                                    false,
                                    2,
                                    1,
                                    {1, 1, 1, 1},
                                    1,
                                    {TES_TERM_DIFFUSION},
                                    {"1 + x"},
                                    TES_SINGLE,
                                    "emulator"},
                                   {"elasticity on a box",
                                    {.dim = 3, .cells = {12, 4, 4}, .upper = {3, 1, 1}},
                                    false,
                                    2,
                                    3,
                                    {7, 0, 2, 0, 0, 0},
                                    2,
                                    {TES_TERM_STRAIN, TES_TERM_GRAD_DIV},
                                    {"1", "1.5 + 0.5*x"},
                                    TES_DOUBLE,
                                    "cpu"},
                                   {"elasticity on trees",
                                    {.kind = TES_MESH_FOREST, .dim = 2, .cells = {8, 4}, .upper = {2, 1}},
                                    true,
                                    3,
                                    2,
                                    {3, 0, 0, 0},
                                    2,
                                    {TES_TERM_STRAIN, TES_TERM_GRAD_DIV},
                                    {"1", "2"},
                                    TES_SINGLE,
                                    "cpu"}};

/* What it is made of. */
typedef struct Parts {
  TesContext *ctx;
  TesFunction *function[MOST_TERMS], *f[3];
  TesMesh *mesh;
  TesSpace *space;
  TesOperator *op;
  TesMultigrid *multigrid;
  TesVector *b, *u;
} Parts;

static void make_mesh(Parts *p, const Example *e) {
  OK(tes_mesh_create(p->ctx, &e->mesh, &p->mesh));
  const int64_t cells = tes_mesh_info(p->mesh).cells;
  if (!e->refined) return;
  int8_t *mark = calloc((size_t)cells, 1);
  for (int64_t c = 0; c < cells; c++) {
    double x[2];
    OK(tes_mesh_evaluate(p->mesh, c, 1, (const double[]){0.5, 0.5}, x, NULL));
    mark[c] = x[0] < 0.4;
  }
  TesMesh *fine;
  OK(tes_mesh_adapt(p->mesh, mark, &fine));
  free(mark);
  tes_mesh_destroy(&p->mesh);
  p->mesh = fine;
}

static void make(Parts *p, const Example *e) {
  TesTermDesc term[MOST_TERMS] = {{0}};
  *p = (Parts){0};
  OK(tes_context_create(&(TesContextDesc){.device = e->device, .threads = 1, .verbosity = TES_QUIET}, &p->ctx,
                        NULL, 0));
  make_mesh(p, e);
  OK(tes_space_create(
      p->ctx,
      &(TesSpaceDesc){.mesh = p->mesh, .degree = e->degree, .components = e->components, .given = e->given},
      &p->space));
  for (int i = 0; i < e->terms; i++) {
    OK(tes_function_create_expression(p->ctx, e->a[i], &p->function[i]));
    term[i] = (TesTermDesc){.term = e->term[i], .a = {.all = p->function[i]}};
  }
  OK(tes_operator_create(p->ctx, &(TesOperatorDesc){.space = p->space, .form = {e->terms, term}}, &p->op));
  OK(tes_multigrid_create(p->ctx, &(TesMultigridDesc){.op = p->op, .precision = e->cycle, .symmetric = true},
                          &p->multigrid));
  OK(tes_vector_create(p->ctx, tes_space_length(p->space), TES_DOUBLE, &p->b));
  OK(tes_vector_create(p->ctx, tes_space_length(p->space), TES_DOUBLE, &p->u));
  static const char *const loads[] = {"1 + x", "sin(3*x) - y", "0.5"};
  TesLoadDesc load = {.space = p->space};
  for (int c = 0; c < e->components; c++) {
    OK(tes_function_create_expression(p->ctx, loads[c], &p->f[c]));
    load.f[c] = p->f[c];
  }
  OK(tes_functional_load(&load, p->b));
}

static void end(Parts *p) {
  tes_vector_destroy(&p->b);
  tes_vector_destroy(&p->u);
  tes_multigrid_destroy(&p->multigrid);
  tes_operator_destroy(&p->op);
  tes_space_destroy(&p->space);
  tes_mesh_destroy(&p->mesh);
  for (int i = 0; i < MOST_TERMS; i++) tes_function_destroy(&p->function[i]);
  for (int i = 0; i < 3; i++) tes_function_destroy(&p->f[i]);
  tes_context_destroy(&p->ctx);
}

/* The library's own conjugate gradients. */
static int solve_by_tessera(Parts *p, double tolerance) {
  TesSolver *solver;
  TesSolveResult result;
  OK(tes_solver_create(
      p->ctx,
      &(TesSolverDesc){.op = p->op, .multigrid = p->multigrid, .method = TES_METHOD_CG, .tolerance = tolerance},
      &solver));
  OK(tes_solver_solve(solver, p->b, p->u, &result));
  tes_solver_destroy(&solver);
  return result.iterations;
}

static Vec copy_of(const TesVector *v) {
  Vec x;
  double *values;
  CALL(VecCreateSeq(PETSC_COMM_SELF, (PetscInt)tes_vector_length(v), &x));
  CALL(VecGetArrayWrite(x, &values));
  OK(tes_vector_get(v, values));
  CALL(VecRestoreArrayWrite(x, &values));
  return x;
}

static KSP make_ksp(Mat A, KSPType type, double tolerance) {
  KSP ksp;
  CALL(KSPCreate(PETSC_COMM_SELF, &ksp));
  CALL(KSPSetOperators(ksp, A, A));
  CALL(KSPSetType(ksp, type));
  CALL(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  CALL(KSPSetTolerances(ksp, tolerance, 0, 1e6, 200));
  return ksp;
}

static PC pc_of(KSP ksp) {
  PC pc;
  CALL(KSPGetPC(ksp, &pc));
  return pc;
}

static double distance(Vec x, Vec y) {
  double d, n;
  CALL(VecNorm(y, NORM_2, &n));
  CALL(VecAXPY(x, -1, y));
  CALL(VecNorm(x, NORM_2, &d));
  return d / n;
}

static void test_same_counts(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
    const Example *e = &examples[i];
    Parts p;
    Mat A;
    PetscInt count;
    if (e->mesh.kind == TES_MESH_FOREST && !tes_has_part("p4est")) continue;
    make(&p, e);
    const int expected = solve_by_tessera(&p, 1e-9);
    CALL(tes_petsc_operator(p.ctx, p.op, &A));
    KSP ksp = make_ksp(A, KSPCG, 1e-9);
    CALL(tes_petsc_multigrid(p.ctx, p.multigrid, pc_of(ksp)));
    Vec b = copy_of(p.b), u = copy_of(p.u), x;
    CALL(VecDuplicate(b, &x));
    CALL(KSPSolve(ksp, b, x));
    CALL(KSPGetIterationNumber(ksp, &count));
    const double apart = distance(x, u);
    printf("%-40s %d and %d iterations, apart by %.1e\n", e->name, expected, (int)count, apart);
    assert_in_range(expected, 3, 60);
    assert_int_equal(count, expected);
    assert_true(apart < 1e-7);
    CALL(VecDestroy(&b));
    CALL(VecDestroy(&u));
    CALL(VecDestroy(&x));
    CALL(KSPDestroy(&ksp));
    CALL(MatDestroy(&A));
    end(&p);
  }
}

/* The matrix and the cycle are the identity at given nodes, whatever the numbers there are; entry by entry. */
static void test_given_nodes(void **state) {
  (void)state;
  Parts p;
  Mat A;
  Vec x, y, d;
  const double *at, *of, *diagonal;
  make(&p, &examples[4]);
  const int64_t n = tes_space_length(p.space), part = n / 3;
  double *place = malloc((size_t)n * 3 * sizeof *place);
  OK(tes_space_coordinates(p.space, place));
  CALL(tes_petsc_operator(p.ctx, p.op, &A));
  KSP ksp = make_ksp(A, KSPCG, 1e-9);
  CALL(tes_petsc_multigrid(p.ctx, p.multigrid, pc_of(ksp)));
  CALL(MatCreateVecs(A, &x, &y));
  CALL(VecDuplicate(x, &d));
  CALL(MatGetDiagonal(A, d));
  for (int what = 0; what < 2; what++) {
    CALL(VecSetRandom(x, NULL));
    CALL(VecSet(y, NAN));
    if (what)
      CALL(PCApply(pc_of(ksp), x, y));
    else
      CALL(MatMult(A, x, y));
    CALL(VecGetArrayRead(x, &at));
    CALL(VecGetArrayRead(y, &of));
    CALL(VecGetArrayRead(d, &diagonal));
    int64_t given = 0;
    for (int64_t i = 0; i < n; i++) {
      const bool held = place[3 * i] == 0 || (i / part == 1 && place[3 * i + 1] == 0);
      assert_true(isfinite(of[i]));
      assert_int_equal(held ? of[i] == at[i] : of[i] != at[i], 1);
      if (held) assert_true(diagonal[i] == 1);
      given += held;
    }
    assert_int_equal(n - given, tes_space_dofs(p.space));
    CALL(VecRestoreArrayRead(x, &at));
    CALL(VecRestoreArrayRead(y, &of));
    CALL(VecRestoreArrayRead(d, &diagonal));
  }
  /* and so the products do not depend on what stood there: A (x + e) = A x + e for e at given nodes */
  double *values;
  Vec z, e;
  CALL(VecDuplicate(x, &z));
  CALL(VecDuplicate(x, &e));
  CALL(VecGetArrayWrite(e, &values));
  for (int64_t i = 0; i < n; i++)
    values[i] = place[3 * i] == 0 || (i / part == 1 && place[3 * i + 1] == 0) ? 1 + (double)i : 0;
  CALL(VecRestoreArrayWrite(e, &values));
  CALL(MatMult(A, x, y));
  CALL(VecAXPY(y, 1, e));
  CALL(VecAXPY(x, 1, e));
  CALL(MatMult(A, x, z));
  assert_true(distance(z, y) < 1e-15);
  free(place);
  CALL(VecDestroy(&x));
  CALL(VecDestroy(&y));
  CALL(VecDestroy(&z));
  CALL(VecDestroy(&e));
  CALL(VecDestroy(&d));
  CALL(KSPDestroy(&ksp));
  CALL(MatDestroy(&A));
  end(&p);
}

/* Rigid motions have no energy: without given nodes A v = 0 for all of them, 3 in 2D and 6 in 3D; constants alone for
 * one component, which a singular operator has as its null space. */
static void test_null_spaces(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; dim++) {
    Example e = examples[4];
    Parts p;
    Mat A;
    MatNullSpace near_null, null;
    const Vec *v;
    PetscInt count;
    PetscBool constant;
    Vec y;
    double norm;
    memset(e.given, 0, sizeof e.given);
    e.mesh.dim = e.components = dim;
    e.mesh.cells[2] = dim == 3 ? 2 : 0;
    make(&p, &e);
    CALL(tes_petsc_operator(p.ctx, p.op, &A));
    CALL(tes_petsc_near_null_space(A));
    CALL(MatGetNearNullSpace(A, &near_null));
    CALL(MatNullSpaceGetVecs(near_null, &constant, &count, &v));
    assert_int_equal(count, dim == 2 ? 3 : 6);
    CALL(MatCreateVecs(A, NULL, &y));
    for (int i = 0; i < count; i++) {
      CALL(VecNorm(v[i], NORM_2, &norm));
      assert_near(norm, 1, 1e-12);
      CALL(MatMult(A, v[i], y));
      CALL(VecNorm(y, NORM_2, &norm));
      assert_true(norm < 1e-12);
    }
    CALL(MatGetNullSpace(A, &null));
    CALL(VecDestroy(&y));
    CALL(MatDestroy(&A));
    end(&p);
  }
}

/* A singular problem: PETSc takes the null space from the matrix. */
static void test_singular(void **state) {
  (void)state;
  Example e = examples[0];
  Parts p;
  Mat A;
  Vec x, y;
  PetscInt count;
  double sum;
  memset(e.given, 0, sizeof e.given);
  make(&p, &e);
  CALL(tes_petsc_operator(p.ctx, p.op, &A));
  KSP ksp = make_ksp(A, KSPCG, 1e-9);
  CALL(tes_petsc_multigrid(p.ctx, p.multigrid, pc_of(ksp)));
  Vec b = copy_of(p.b);
  CALL(VecDuplicate(b, &x));
  CALL(VecDuplicate(b, &y));
  CALL(VecSum(b, &sum));
  CALL(VecShift(b, -sum / (double)tes_space_length(p.space)));
  CALL(KSPSolve(ksp, b, x));
  CALL(KSPGetIterationNumber(ksp, &count));
  assert_in_range(count, 3, 30);
  CALL(MatMult(A, x, y));
  assert_true(distance(y, b) < 2e-9);
  CALL(VecSum(x, &sum));
  assert_true(fabs(sum) < 1e-8);
  CALL(VecDestroy(&b));
  CALL(VecDestroy(&x));
  CALL(VecDestroy(&y));
  CALL(KSPDestroy(&ksp));
  CALL(MatDestroy(&A));
  end(&p);
}

/* A smoother as a preconditioner, and a solver inside flexible GMRES, which it leaves nothing to do. */
static void test_other_preconditioners(void **state) {
  (void)state;
  Parts p;
  Mat A;
  Vec x;
  PetscInt count, plain;
  TesSolver *solver;
  TesSmoother *smoother;
  make(&p, &examples[0]);
  solve_by_tessera(&p, 1e-12);
  Vec b = copy_of(p.b), u = copy_of(p.u);
  CALL(VecDuplicate(b, &x));
  CALL(tes_petsc_operator(p.ctx, p.op, &A));
  OK(tes_smoother_create(p.ctx, &(TesSmootherDesc){.op = p.op, .kind = TES_SMOOTHER_CHEBYSHEV}, &smoother));
  OK(tes_solver_create(
      p.ctx,
      &(TesSolverDesc){
          .op = p.op, .multigrid = p.multigrid, .method = TES_METHOD_CG, .tolerance = 1e-4, .max_iterations = 5},
      &solver));
  KSP ksp = make_ksp(A, KSPCG, 1e-9);
  CALL(PCSetType(pc_of(ksp), PCJACOBI)); /* by the diagonal of the matrix */
  CALL(KSPSolve(ksp, b, x));
  CALL(KSPGetIterationNumber(ksp, &plain));
  assert_true(distance(x, u) < 1e-7);
  CALL(VecSet(x, 0));
  CALL(tes_petsc_smoother(p.ctx, smoother, p.op, pc_of(ksp)));
  CALL(KSPSolve(ksp, b, x));
  CALL(KSPGetIterationNumber(ksp, &count));
  assert_true(distance(x, u) < 1e-7);
  assert_true(count < plain);
  CALL(KSPDestroy(&ksp));
  ksp = make_ksp(A, KSPFGMRES, 1e-9);
  CALL(tes_petsc_solver(p.ctx, solver, p.op, pc_of(ksp)));
  CALL(VecSet(x, 0));
  CALL(KSPSolve(ksp, b, x));
  CALL(KSPGetIterationNumber(ksp, &count));
  assert_in_range(count, 2, 4);
  assert_true(distance(x, u) < 1e-7);
  CALL(KSPDestroy(&ksp));
  CALL(VecDestroy(&b));
  CALL(VecDestroy(&u));
  CALL(VecDestroy(&x));
  CALL(MatDestroy(&A));
  tes_solver_destroy(&solver);
  tes_smoother_destroy(&smoother);
  end(&p);
}

static char told[2048];

static PetscErrorCode keep(MPI_Comm comm, int line, const char *function, const char *file,
                           PetscErrorCode code, PetscErrorType type, const char *message, void *user) {
  (void)comm, (void)line, (void)function, (void)file, (void)user;
  if (type == PETSC_ERROR_INITIAL) snprintf(told, sizeof told, "%s", message);
  return code;
}

static void test_errors(void **state) {
  (void)state;
  Parts p;
  Mat A;
  Vec x;
  TesMesh *mesh;
  TesOperator *narrow;
  make(&p, &examples[0]);
  CALL(PetscPushErrorHandler(keep, NULL));
  const TesStatus status = tes_mesh_create(p.ctx, &(TesMeshDesc){.dim = 5}, &mesh);
  assert_int_equal(tes_petsc_error(p.ctx, status), PETSC_ERR_ARG_WRONG);
  assert_non_null(strstr(told, "dim is 5"));
  assert_string_equal(tes_context_message(p.ctx), "");
  assert_int_equal(tes_petsc_error(NULL, TES_OUT_OF_MEMORY), PETSC_ERR_MEM);
  assert_int_equal(tes_petsc_error(NULL, TES_NAN), PETSC_ERR_FP);
  assert_int_equal(tes_petsc_error(NULL, TES_INTERRUPTED), PETSC_ERR_LIB);
  assert_int_equal(tes_petsc_error(p.ctx, TES_OK), 0);
  OK(tes_operator_create(p.ctx, &(TesOperatorDesc){.space = p.space, .precision = TES_SINGLE}, &narrow));
  assert_int_equal(tes_petsc_operator(p.ctx, narrow, &A), PETSC_ERR_ARG_WRONG);
  assert_non_null(strstr(told, "float32"));
  tes_operator_destroy(&narrow);
  TesVector *single;
  OK(tes_vector_create(p.ctx, 4, TES_SINGLE, &single));
  assert_int_equal(tes_petsc_vector(p.ctx, single, &x), PETSC_ERR_SUP);
  tes_vector_destroy(&single);
  CALL(PetscPopErrorHandler());
  end(&p);
}

static void test_element_rt(void **state) {
  (void)state;
  Parts p;
  TesSpace *rt;
  make(&p, &examples[0]);
  CALL(PetscPushErrorHandler(keep, NULL));
  OK(tes_space_create(p.ctx, &(TesSpaceDesc){.mesh = p.mesh, .degree = 1, .element = TES_ELEMENT_RT}, &rt));
  assert_int_equal(tes_petsc_check(rt), PETSC_ERR_SUP);
  assert_non_null(strstr(told, "element rt"));
  tes_space_destroy(&rt);
  CALL(PetscPopErrorHandler());
  end(&p);
}

static char *text_of(const char *path) {
  char name[900];
  snprintf(name, sizeof name, "%s/%s", TESI_SOURCE_DIR, path);
  FILE *file = fopen(name, "r");
  assert_non_null(file);
  char *text = calloc(1, 1 << 16);
  assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
  fclose(file);
  return text;
}

/* The program of the page is the example, which is compiled and run. */
static void test_page(void **state) {
  (void)state;
  char *page = text_of("docs/petsc.md"), *example = text_of("examples/petsc.c");
  assert_non_null(strstr(page, example));
  free(page);
  free(example);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_counts),
                                     cmocka_unit_test(test_given_nodes),
                                     cmocka_unit_test(test_null_spaces),
                                     cmocka_unit_test(test_singular),
                                     cmocka_unit_test(test_other_preconditioners),
                                     cmocka_unit_test(test_errors),
                                     cmocka_unit_test(test_element_rt),
                                     cmocka_unit_test(test_page)};
  if (PetscInitialize(&argc, &argv, NULL, NULL)) return 1;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  return PetscFinalize() || failed;
}
