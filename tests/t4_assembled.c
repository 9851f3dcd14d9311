/* Run: ctest -R t4_assembled. Assembled operators over random forests, hanging nodes eliminated or as a sparse
 * matrix, against the plain matrix-free operator: on the host, on the emulator, and on a GPU where there is one.
 * The space without constraints, against reading cell by cell and against positions. Brief: one case a degree, of
 * the degrees named.
 * Quick: 2,3
 * Labels: heavy */
#include "operator/assembled/matrix.h"
#include "operator_testing.h"
#include "failing_allocator.h"
#include "forest_testing.h"
#include "kernel_testing.h"
#include "matrix_testing.h"
#include "space/space.h"
#include "operator/operator.h"

/* Lattices of trees in random orientations, or balls; Dirichlet conditions on one side, everywhere, nowhere. */
static TestMesh make_mesh(TesContext *ctx, int dim, int degree, int i, int64_t cells) {
  static const char *const low[] = {"low", NULL}, *const none[] = {NULL};
  uint64_t seed = (uint64_t)(31 * i + degree);
  const bool ball = i % 3 == 2;
  TesMesh *forest = ball ? test_ball(ctx, dim) : NULL;
  if (!ball) test_lattice(ctx, dim, (const int[3]){2, 2, 1}, 0.15, &seed, &forest);
  test_refine(ctx, &seed, 0.4, cells, &forest);
  return test_mesh(ctx, forest, degree, ball ? 2 : 1, ball ? NULL : i % 3 ? none : low);
}

/* known[i]: entry i is given. */
static bool *find_given(TesContext *ctx, const TesSpace *space) {
  bool *known = test_calloc((size_t)space->length, sizeof *known);
  for (int s = 0; s < space->scalars; s++) {
    const TesiCellView *cells;
    assert_ok(ctx, tesi_space_cells(space->scalar[s], &cells));
    for (int64_t i = 0; i < cells->length - cells->dofs; i++)
      known[space->first[s] + cells->constrained[i]] = true;
  }
  return known;
}

/* v <- v with zeros at given entries, which all kinds but mapped may count on. */
static void clear_given(TesContext *ctx, const TesSpace *space, TesVector *v) {
  bool *known = find_given(ctx, space);
  double *values = test_malloc((size_t)space->length * sizeof *values);
  assert_ok(ctx, tes_vector_get(v, values));
  for (int64_t i = 0; i < space->length; i++)
    if (known[i]) values[i] = 0;
  assert_ok(ctx, tes_vector_set(v, values));
  test_free(values);
  test_free(known);
}

/* Product, residual (in place too) and plain product, against the plain product of the matrix-free operator, which is
 * in float64. */
static void check_products(TesContext *ctx, const TesOperator *op, const TesOperator *twin) {
  const TesPrecision precision = tes_operator_info(twin).precision;
  const double tolerance = precision == TES_DOUBLE ? 1e-12 : 3e-6;
  const char *const name = tes_operator_info(twin).description;
  const int degree = tes_space_degree(tes_operator_info(op).space);
  const int64_t n = tes_operator_info(op).length;
  assert_int_equal(tes_operator_info(twin).length, n);
  assert_true(tes_operator_info(twin).cost.bytes > 8.0 * (double)n);
  TesVector *x = test_vector(ctx, n, TES_DOUBLE, 1), *z = test_vector(ctx, n, TES_DOUBLE, 0),
            *u = test_vector(ctx, n, precision, 1), *b = test_vector(ctx, n, precision, 2),
            *y = test_vector(ctx, n, precision, 0), *r = test_vector(ctx, n, TES_DOUBLE, 2);
  if (op->kind != &tesi_operator_mapped) {
    clear_given(ctx, op->space, x);
    clear_given(ctx, op->space, u);
  }
  assert_ok(ctx, tesi_operator_apply_ref(op, x, z));
  assert_ok(ctx, tes_operator_apply(twin, u, y));
  test_compare(y, z, tolerance, name, degree);
  assert_ok(ctx, tes_vector_axpy(-1, z, r));
  assert_ok(ctx, tes_vector_fill(y, NAN));
  assert_ok(ctx, tes_operator_residual(twin, b, u, y));
  test_compare(y, r, tolerance, name, degree);
  assert_ok(ctx, tes_operator_residual(twin, b, u, b));
  test_compare(b, r, tolerance, name, degree);
  assert_ok(ctx, tes_vector_fill(r, NAN));
  assert_ok(ctx, tesi_operator_apply_ref(twin, x, r));
  test_compare(r, z, tolerance, name, degree);
  TesVector *const all[] = {x, z, u, b, y, r};
  for (int i = 0; i < 6; i++) {
    TesVector *v = all[i];
    tes_vector_destroy(&v);
  }
}

/* One form, against the matrix-free operator; diagonals too. */
static void check_form(TesContext *ctx, const TestDiffusion *desc, const char *kind) {
  TestDiffusion exact = *desc, assembled = *desc;
  TesOperator *op, *twin;
  exact.precision = TES_DOUBLE;
  assert_ok(ctx, test_operator_create(ctx, &exact, &op));
  assembled.kind = kind;
  assert_ok(ctx, test_operator_create(ctx, &assembled, &twin));
  assert_int_equal(tes_operator_info(twin).precision, desc->precision);
  check_products(ctx, op, twin);
  const int64_t n = tes_operator_info(op).length;
  TesVector *y = test_vector(ctx, n, desc->precision, 0), *z = test_vector(ctx, n, TES_DOUBLE, 0);
  assert_ok(ctx, tes_operator_diagonal(op, z));
  assert_ok(ctx, tes_operator_diagonal(twin, y));
  test_compare(y, z, desc->precision == TES_DOUBLE ? 1e-12 : 3e-6, tes_operator_info(twin).description,
               tes_space_degree(desc->space));
  tes_vector_destroy(&y);
  tes_vector_destroy(&z);
  tes_operator_destroy(&twin);
  tes_operator_destroy(&op);
}

/* The matrix that kernels make, Robin faces included, is the one of the host; so is the diagonal. */
static void check_kernels(TesContext *ctx, const TestDiffusion *desc) {
  TesOperator *op;
  TesiMatrix a;
  TesiDeviceMatrix b;
  TestDiffusion exact = *desc;
  exact.precision = TES_DOUBLE;
  assert_ok(ctx, test_operator_create(ctx, &exact, &op));
  assert_ok(ctx, tesi_operator_assemble(op, &a));
  assert_ok(ctx, tesi_operator_assemble_device(op, &b));
  test_compare_matrices(ctx, &a, &b, 1e-12, tes_operator_info(op).description);
  const int64_t n = tes_operator_info(op).length;
  TesVector *d = test_vector(ctx, n, TES_DOUBLE, 0), *e = test_vector(ctx, n, TES_DOUBLE, 0);
  double *values = test_malloc((size_t)n * sizeof *values);
  for (int64_t i = 0; i < n; i++)
    for (int64_t at = a.row[i]; at < a.row[i + 1]; at++)
      if (a.column[at] == i) values[i] = a.value[at];
  assert_ok(ctx, tes_vector_set(e, values));
  assert_ok(ctx, tes_operator_diagonal(op, d));
  test_compare(d, e, 1e-12, "diagonal", tes_space_degree(desc->space));
  test_free(values);
  tes_vector_destroy(&d);
  tes_vector_destroy(&e);
  tesi_device_matrix_destroy(op, &b);
  tesi_matrix_destroy(desc->space->context, &a);
  tes_operator_destroy(&op);
}

static int64_t check_case(TesContext *ctx, int dim, int degree, int i) {
  const int64_t cells = dim == 2 ? 40 : degree < 3 ? 16 : 6;
  TestMesh m = make_mesh(ctx, dim, degree, i, cells);
  TesFunction *a, *c;
  assert_ok(ctx, tes_function_create_expression(ctx, "1 / (0.05 + 2*(x*x + y*y + z*z))", &a));
  assert_ok(ctx, tes_function_create_expression(ctx, "1 + x*x", &c));
  const TestDiffusion desc = {.space = m.space,
                              .a = a,
                              .c = i % 2 ? c : NULL,
                              .alpha = {[1] = i % 3 == 2 ? NULL : c}, /* lattices: Robin terms on "rest" */
                              .skip_given = true,
                              .precision = i % 4 == 3 ? TES_SINGLE : TES_DOUBLE};
  check_form(ctx, &desc, "assembled");
  check_form(ctx, &desc, "assembled_hanging");
  if (strcmp(tes_context_device(ctx), "cpu")) check_kernels(ctx, &desc);
  const int64_t hanging = tes_space_hanging(m.space);
  tes_function_destroy(&a);
  tes_function_destroy(&c);
  test_mesh_free(&m);
  return hanging;
}

static void equal_the_plain_operator(void **state) {
  (void)state;
  static const char *const devices[] = {"cpu", "emulator", "cuda"};
  for (int device = 0; device < 3; device++) {
    TesContext *ctx = test_context(&(TesContextDesc){.device = devices[device], .threads = 2});
    if (!ctx) continue;
    if (!test_has_forests(ctx)) skip();
    int64_t hanging = 0;
    for (int dim = 2, i = 0; dim <= 3; dim++)
      for (int degree = 1; degree <= (dim == 2 ? 6 : 3); degree++)
        for (int turn = 0; turn < (test_brief() ? 1 : degree < 2 ? 4 : 2); turn++, i++)
          if (test_degree(degree)) hanging += check_case(ctx, dim, degree, i);
    assert_true(hanging > (test_brief() || getenv("TESSERA_TEST_DEGREES") ? 0 : 1000));
    tes_context_destroy(&ctx);
  }
}

/* ---- forms without cell matrices: transport, elasticity, several components ---------------------------- */

/* Some entries of the diagonal, by the plain product with unit vectors. */
static void check_diagonal(TesContext *ctx, const TesOperator *op, const TesOperator *twin) {
  enum { LOOKED_AT = 9 };
  const int64_t n = op->length;
  bool *known = find_given(ctx, op->space);
  double *e = test_calloc((size_t)n, sizeof *e), *y = test_calloc((size_t)n, sizeof *y),
         *d = test_calloc((size_t)n, sizeof *d);
  TesVector *v = test_vector(ctx, n, twin->precision, 0);
  assert_ok(ctx, tes_operator_diagonal(twin, v));
  assert_ok(ctx, tes_vector_get(v, d));
  for (int64_t k = 0; k < LOOKED_AT; k++) {
    const int64_t i = k * (n - 1) / (LOOKED_AT - 1);
    e[i] = 1;
    assert_ok(ctx, op->table->apply_ref(op, e, y));
    if (known[i]) y[i] = 1;
    assert_near(d[i], y[i], (twin->precision == TES_DOUBLE ? 1e-12 : 3e-6) * fabs(y[i]));
    e[i] = 0;
  }
  test_free(known);
  test_free(e);
  test_free(y);
  test_free(d);
  tes_vector_destroy(&v);
}

enum { CONVECTIVE, CONSERVATIVE, STREAMLINES, ELASTIC, SPRINGS, APART, FORMS };

static TesFunction *expression(TesContext *ctx, const char *text) {
  TesFunction *f;
  assert_ok(ctx, tes_function_create_expression(ctx, text, &f));
  return f;
}

/* Fills the terms of a form over a space whose boundary 1 is free, with functions of `f`; returns how many. */
static int form_terms(int form, TesFunction *const f[3], const signed char *through, TesTermDesc *term) {
  const TesTermDesc diffusion = {.term = TES_TERM_DIFFUSION, .a = {.all = f[0]}},
                    mass = {.term = TES_TERM_MASS, .a = {.all = f[1]}},
                    robin = {.term = TES_TERM_ROBIN, .a = {.all = f[1]}, .boundary = 1},
                    divergence = {.term = TES_TERM_GRAD_DIV, .a = {.all = f[1]}},
                    strain = {.term = TES_TERM_STRAIN, .a = {.all = f[0]}};
  TesTermDesc transport = {.term = TES_TERM_TRANSPORT, .b = {f[1], f[2], f[0]}};
  transport.conservative = form == CONSERVATIVE;
  transport.streamline = form == STREAMLINES ? TES_STREAMLINE_ALWAYS : TES_STREAMLINE_NONE;
  transport.through = form == CONSERVATIVE ? through : NULL;
  term[0] = form == ELASTIC || form == SPRINGS ? strain : diffusion;
  term[1] = form == ELASTIC || form == SPRINGS ? divergence : mass;
  term[2] = form == SPRINGS || form == APART ? robin : form == ELASTIC ? mass : transport;
  return 3;
}

/* A quarter of a unit box, halved where lines or planes say so; or the box itself. Boundary 1 is free. */
static TesStatus make_refined(TesContext *ctx, int dim, bool box, TesMesh **mesh) {
  static const double graded[] = {0, 0.3, 0.5, 1};
  TesFunction *corner = expression(ctx, "0.2 - x*y - z");
  const TesMeshDesc forest = {.dim = dim, .cells = {2, 2, 2}, .refine_where = corner, .kind = TES_MESH_FOREST},
                    cells = {.dim = dim, .cells = {3, 2, 2}, .coordinates = {graded}, .kind = TES_MESH_BOX};
  const TesStatus status = tes_mesh_create(ctx, box ? &cells : &forest, mesh);
  tes_function_destroy(&corner);
  return status;
}

/* Its number of hanging nodes. */
static int64_t check_other(TesContext *ctx, int dim, int degree, bool box, int form, TesPrecision precision) {
  static const signed char through[8] = {0, 1, 0, -1};
  static const uint8_t one[8] = {1, 0, 0, 1},
                       several[8] = {3, 0, 2, 4, 7}; /* by boundary, a bit per component */
  const bool parts = form >= ELASTIC;
  TesFunction *f[] = {expression(ctx, "2 + x*y"), expression(ctx, "1 + x - z/2"), expression(ctx, "y - 2")};
  TesMesh *mesh;
  TesSpace *space;
  TesOperator *op, *twin;
  TesTermDesc term[3];
  if (make_refined(ctx, dim, box, &mesh) == TES_MISSING) skip();
  assert_ok(ctx, tes_space_create(ctx,
                                  &(TesSpaceDesc){.mesh = mesh,
                                                  .degree = degree,
                                                  .components = parts ? dim : 1,
                                                  .given = parts ? several : one},
                                  &space));
  TesOperatorDesc desc = {.space = space, .form = {form_terms(form, f, through, term), term, 0}};
  assert_ok(ctx, tes_operator_create(ctx, &desc, &op));
  assert_string_equal(tes_operator_info(op).kind, form == APART ? "parts"
                                                  : parts       ? "elasticity"
                                                                : "transport");
  desc.kind = "assembled", desc.precision = precision;
  assert_ok(ctx, tes_operator_create(ctx, &desc, &twin));
  check_products(ctx, op, twin);
  check_diagonal(ctx, op, twin);
  const int64_t hanging = tes_space_hanging(space);
  tes_operator_destroy(&op);
  tes_operator_destroy(&twin);
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
  for (int i = 0; i < 3; i++) tes_function_destroy(&f[i]);
  return hanging;
}

static void equal_other_operators(void **state) {
  (void)state;
  static const char *const devices[] = {"cpu", "emulator", "cuda"};
  for (int device = 0; device < 3; device++) {
    TesContext *ctx = test_context(&(TesContextDesc){.device = devices[device], .threads = 2});
    if (!ctx) continue;
    if (!test_has_forests(ctx)) skip();
    int64_t hanging = 0;
    for (int dim = 2, i = 0; dim <= 3; dim++)
      for (int degree = 1; degree <= (dim == 2 ? 4 : 2); degree++)
        for (int form = 0; form < FORMS && test_degree(degree); form++, i++)
          for (int box = i % 2; box < (test_brief() ? i % 2 + 1 : 2); box++)
            hanging += check_other(ctx, dim, degree, box, form, i % 3 ? TES_DOUBLE : TES_SINGLE);
    assert_true(hanging > 0 || getenv("TESSERA_TEST_DEGREES"));
    tes_context_destroy(&ctx);
  }
}

/* H x has the values that cells read; each node is there once, by its position. */
static void check_space(TesContext *ctx, const TestMesh *m, int dim) {
  enum { MOST = 729 };
  TesSpace *all;
  TesiMatrix H;
  uint64_t seed = 5;
  assert_ok(ctx, tesi_space_unconstrain(m->space, &all, &H));
  const int64_t length = m->space->length, rows = tes_space_length(all);
  assert_int_equal(H.rows, rows);
  assert_true(rows <= length + tes_space_hanging(m->space));
  assert_int_equal(tes_space_hanging(all), 0);
  double *x = test_malloc((size_t)length * sizeof *x), *u = test_malloc((size_t)rows * sizeof *u), local[MOST];
  double(*at)[3] = test_malloc((size_t)rows * sizeof *at);
  for (int64_t i = 0; i < length; i++) x[i] = test_random(&seed);
  for (int64_t i = 0; i < rows; i++) at[i][0] = NAN;
  tesi_matrix_apply(ctx, &H, x, u);
  for (int64_t c = 0; c < m->space->mesh->cells; c++) {
    double xi[3 * MOST], position[3 * MOST];
    const int n = all->view->n;
    for (int p = 0; p < all->view->cell_nodes; p++)
      for (int d = 0; d < dim; d++)
        xi[p * dim + d] = all->view->node[(const int[3]){p % n, p / n % n, p / n / n}[d]];
    tesi_mesh_map(m->forest, c, all->view->cell_nodes, xi, position);
    tesi_cells_read(m->space->view, c, x, local);
    for (int p = 0; p < all->view->cell_nodes; p++) {
      const int32_t node = all->view->index[c * all->view->cell_nodes + p];
      assert_true(node >= 0);
      assert_near(u[node], local[p], 1e-12);
      for (int d = 0; d < dim && !isnan(at[node][0]); d++)
        assert_near(at[node][d], position[p * dim + d], 1e-10);
      for (int d = 0; d < dim; d++) at[node][d] = position[p * dim + d];
    }
  }
  for (int64_t i = 0; i < rows; i++) {
    assert_false(isnan(at[i][0]));
    for (int64_t j = 0; j < i; j++) {
      double distance = 0;
      for (int d = 0; d < dim && distance < 1e-8; d++) distance = fabs(at[i][d] - at[j][d]);
      if (distance < 1e-8) fail_msg("nodes %lld and %lld are one", (long long)i, (long long)j);
    }
  }
  test_free(x);
  test_free(u);
  test_free(at);
  tesi_matrix_destroy(m->space->context, &H);
  tes_space_destroy(&all);
}

static void spaces_without_constraints(void **state) {
  (void)state;
  TesContext *ctx = test_context(&(TesContextDesc){.device = "cpu", .threads = 2});
  if (!ctx || !test_has_forests(ctx)) skip();
  for (int dim = 2; dim <= 3; dim++)
    for (int degree = 1; degree <= 8; degree++) {
      TestMesh m = make_mesh(ctx, dim, degree, 1, dim == 2 ? 40 : degree < 4 ? 20 : 8);
      check_space(ctx, &m, dim);
      test_mesh_free(&m);
    }
  tes_context_destroy(&ctx);
}

static TesStatus make_assembled(TesContext *context, void *user) {
  (void)user;
  TesMesh *forest = NULL, *fine = NULL;
  TesSpace *space = NULL;
  TesOperator *op = NULL;
  static const int8_t mark[4] = {1, 0, 0, 0};
  TesStatus status = tes_mesh_create(
      context, &(TesMeshDesc){.kind = TES_MESH_FOREST, .dim = 2, .refine = 1, .geometry_degree = 1}, &forest);
  if (status == TES_OK) status = tes_mesh_adapt(forest, mark, &fine);
  if (status == TES_OK)
    status = tes_space_create(context, &(TesSpaceDesc){.mesh = fine, .degree = 2}, &space);
  const TesTermDesc terms[] = {{.term = TES_TERM_DIFFUSION}, {.term = TES_TERM_TRANSPORT}};
  for (int i = 0; i < 6 && status == TES_OK; i++) { /* the last two from products */
    const TesOperatorDesc desc = {.space = space,
                                  .form = {i < 4 ? 1 : 2, terms, 0},
                                  .precision = i % 2 ? TES_SINGLE : TES_DOUBLE,
                                  .kind = i / 2 == 1 ? "assembled_hanging" : "assembled"};
    status = tes_operator_create(context, &desc, &op);
    tes_operator_destroy(&op);
  }
  tes_space_destroy(&space);
  tes_mesh_destroy(&fine);
  tes_mesh_destroy(&forest);
  return status;
}

static void allocations(void **state) {
  (void)state;
  TesContext *ctx = test_context(&(TesContextDesc){.device = "cpu", .threads = 2});
  const bool forests = ctx && test_has_forests(ctx);
  tes_context_destroy(&ctx);
  if (!forests) skip();
  assert_true(allocations_fail(make_assembled, NULL, 12) > 40);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_the_plain_operator), cmocka_unit_test(equal_other_operators),
      cmocka_unit_test(spaces_without_constraints), cmocka_unit_test(allocations)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
