/* Run: ctest -R t5_line_patch. Patches that are lines of stretched cells: across trees of any orientation, against
 * the dense reference on the host and by kernels, exact where a line is the whole problem, symmetric and definite;
 * and counts that do not depend on how far cells are stretched.
 * Brief: one precision a degree, in turns; counts of low degrees.
 * Quick: 1-3,6
 * Labels: simd */
#include <math.h>
#include "device/emulator/fiber.h"
#include "device/kernel.h"
#include "failing_allocator.h"
#include "forest_testing.h"
#include "kernel_testing.h"
#include "operator_testing.h"
#include "smoother/line_patch/line_patch.h"
#include "tessera/tessera.h"

typedef struct Case {
  TesSpace *space;
  TesFunction *a, *c;
  TesOperator *op;
} Case;

static void make_operator(TesContext *ctx, TesMesh *mesh, int degree, TesPrecision precision, bool varies,
                          const uint8_t *given, Case *s) {
  assert_ok(
      ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = degree, .given = given}, &s->space));
  assert_ok(ctx, tes_function_create_expression(ctx, varies ? "1 / (0.05 + 2*(x*x + y*y))" : "2", &s->a));
  assert_ok(ctx, tes_function_create_expression(ctx, varies ? "x*x" : "3", &s->c));
  assert_ok(ctx, test_operator_create(
                     ctx, &(TestDiffusion){.space = s->space, .a = s->a, .c = s->c, .precision = precision},
                     &s->op));
}

/* Trees in random orientations, short in the last direction, refined once as a whole and then in places. */
static Case make_case(TesContext *ctx, int dim, int degree, TesPrecision precision, int64_t most) {
  static const char *const low[] = {"low", NULL};
  uint64_t seed = (uint64_t)(10 * degree + dim);
  uint8_t given[16];
  Case s = {0};
  TesMesh *mesh, *finer;
  const double stretch[3] = {1, dim == 2 ? 0.05 : 1, 0.05};
  test_stretched_lattice(ctx, dim, (const int[3]){dim == 2 ? 2 : 1, 3, dim == 2 ? 1 : 3}, 0.1, stretch, &seed,
                         &mesh);
  test_set_geometry(mesh, 1);
  if (tes_mesh_info(mesh).cells * (1 << dim) <= most) {
    const int64_t cells = tes_mesh_info(mesh).cells;
    int8_t mark[16];
    for (int64_t c = 0; c < cells; c++) mark[c] = 1;
    assert_ok(ctx, tes_mesh_adapt(mesh, mark, &finer));
    tes_mesh_destroy(&mesh);
    mesh = finer;
  }
  while (tes_mesh_info(mesh).cells < most) test_adapt(ctx, &seed, 0.2, 0, most, &mesh);
  make_operator(ctx, mesh, degree, precision, true, test_given(ctx, mesh, low, given), &s);
  tes_mesh_destroy(&mesh);
  return s;
}

static void free_case(Case *s) {
  tes_operator_destroy(&s->op);
  tes_function_destroy(&s->a);
  tes_function_destroy(&s->c);
  tes_space_destroy(&s->space);
}

static TesVector *make_vector(TesContext *ctx, int64_t n, TesPrecision precision, uint64_t seed) {
  TesVector *v;
  double *values = test_malloc((size_t)n * sizeof *values);
  for (int64_t i = 0; i < n; i++) values[i] = seed ? (double)(float)test_random(&seed) : NAN;
  assert_ok(ctx, tes_vector_create(ctx, n, precision, &v));
  assert_ok(ctx, tes_vector_set(v, values));
  test_free(values);
  return v;
}

/* Each cell is in one line, and most of them in lines of several. */
static void check_lines(const TesiCellPatches *p) {
  const TesiLines *lines = &p->lines->lines;
  int64_t alone = 0;
  char *seen = test_calloc((size_t)p->m->cells, 1);
  assert_int_equal(lines->first[lines->count], p->m->cells);
  for (int64_t i = 0; i < p->m->cells; i++) {
    assert_false(seen[lines->cell[i].cell]);
    seen[lines->cell[i].cell] = 1;
  }
  for (int64_t l = 0; l < lines->count; l++) alone += lines->first[l + 1] == lines->first[l] + 1;
  assert_true(2 * alone < p->m->cells);
  test_free(seen);
}

/* `most`: cells. The same bits in every order of threads. */
static void compare(TesContext *ctx, int dim, int degree, TesPrecision precision, int64_t most) {
  Case s = make_case(ctx, dim, degree, precision, most);
  const int64_t n = tes_operator_info(s.op).length;
  const size_t bytes = (size_t)n * sizeof(double);
  double *values = test_malloc(bytes), *reference = test_malloc(bytes), *before = test_malloc(bytes);
  TesVector *r = make_vector(ctx, n, precision, 3), *z = make_vector(ctx, n, precision, 0),
            *expected = make_vector(ctx, n, TES_DOUBLE, 0);
  TesiCellPatches *p;
  assert_ok(ctx, tesi_cell_patches_create_lines(s.op, &p));
  check_lines(p);
  assert_ok(ctx, tes_vector_get(r, values));
  assert_ok(ctx, tesi_cell_patches_apply_ref(p, values, reference));
  assert_ok(ctx, tes_vector_set(expected, reference));
  for (int order = TESI_ORDER_FORWARD; order <= TESI_ORDER_SHUFFLED; order++) {
    tesi_fiber_order((TesiOrder)order, (uint64_t)degree);
    assert_ok(ctx, tes_vector_fill(z, NAN));
    assert_ok(ctx, tesi_cell_patches_apply(p, r->data, z->data));
    test_compare(z, expected, precision == TES_DOUBLE ? 1e-10 : 1e-3, "lines", degree);
    assert_ok(ctx, tes_vector_get(z, values));
    if (order > 0) assert_memory_equal(values, before, bytes);
    memcpy(before, values, bytes);
  }
  tesi_fiber_order(TESI_ORDER_FORWARD, 1);
  tesi_cell_patches_destroy(&p);
  tes_vector_destroy(&r), tes_vector_destroy(&z), tes_vector_destroy(&expected);
  test_free(values), test_free(reference), test_free(before);
  free_case(&s);
}

static void all_degrees(TesContext *ctx, bool both) {
  for (int dim = 2; dim <= 3; dim++)
    for (int degree = 1; degree <= 8; degree++) {
      if (!test_degree(degree)) continue;
      /* The reference takes seconds for larger lines. */
      const int64_t most = dim == 2 ? 60 : degree < 3 ? 40 : 3;
      if (dim == 3 && degree > 4) continue;
      const bool turn = (degree + dim) % 2;
      compare(ctx, dim, degree, turn ? TES_DOUBLE : TES_SINGLE, most);
      if (both && !test_brief()) compare(ctx, dim, degree, turn ? TES_SINGLE : TES_DOUBLE, most);
    }
}

static void the_host_equals_the_reference(void **state) {
  (void)state;
  TesContext *ctx;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu", .threads = 2}, &ctx, NULL, 0),
                   TES_OK);
  if (!test_has_forests(ctx)) skip();
  all_degrees(ctx, true);
  tes_context_destroy(&ctx);
}

static void kernels_equal_the_reference(void **state) {
  (void)state;
  static const char *const devices[] = {"emulator", "cuda"};
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    if (!ctx) continue;
    if (!test_has_forests(ctx)) skip();
    all_degrees(ctx, d == 1);
    tes_context_destroy(&ctx);
  }
}

/* z <- B r, the outer weight included; float64, host. */
static void precondition(TesContext *ctx, const Case *s, const TesiCellPatches *p, const double *r, double *z) {
  assert_ok(ctx, tesi_cell_patches_apply(p, r, z));
  for (int64_t i = 0; i < tes_operator_info(s->op).length; i++) z[i] *= ((const double *)p->weight)[i];
}

static void symmetric_and_definite(void **state) {
  (void)state;
  TesContext *ctx = test_device("cpu");
  if (!ctx || !test_has_forests(ctx)) skip();
  for (int dim = 2; dim <= 3; dim++) {
    Case s = make_case(ctx, dim, 3, TES_DOUBLE, dim == 2 ? 100 : 60);
    const int64_t n = tes_operator_info(s.op).length;
    TesiCellPatches *p;
    uint64_t seed = 3;
    double *v[4], xy = 0, yx = 0, xx = 0, size = 0;
    for (int i = 0; i < 4; i++) v[i] = test_malloc((size_t)n * sizeof(double));
    for (int64_t i = 0; i < n; i++) v[0][i] = test_random(&seed), v[1][i] = test_random(&seed);
    assert_ok(ctx, tesi_cell_patches_create_lines(s.op, &p));
    precondition(ctx, &s, p, v[0], v[2]);
    precondition(ctx, &s, p, v[1], v[3]);
    for (int64_t i = 0; i < n; i++) {
      xy += v[1][i] * v[2][i], yx += v[0][i] * v[3][i];
      xx += v[0][i] * v[2][i], size += fabs(v[1][i] * v[2][i]);
    }
    assert_near(xy, yx, 1e-12 * size);
    assert_true(xx > 0);
    const int32_t *index;
    assert_int_equal(tes_space_index(s.space, &index, NULL), TES_OK); /* every unknown is in a patch */
    for (int64_t i = 0; i < p->m->cells * p->m->cell_nodes; i++)
      assert_true(index[i] < 0 || ((const double *)p->weight)[index[i]] > 0);
    tesi_cell_patches_destroy(&p);
    for (int i = 0; i < 4; i++) test_free(v[i]);
    free_case(&s);
  }
  tes_context_destroy(&ctx);
}

/* A row of flat cells with all sides Dirichlet is one line, which is the whole problem. */
static void a_whole_line_is_exact(void **state) {
  (void)state;
  TesContext *ctx = test_device("cpu");
  if (!ctx || !test_has_forests(ctx)) skip();
  for (int dim = 2; dim <= 3; dim++)
    for (int along = 0; along < dim; along++)
      for (int degree = 2; degree <= 5; degree++) {
        TesMeshDesc desc = {.kind = TES_MESH_FOREST, .dim = dim, .cells = {1, 1, 1}, .upper = {1, 2, 1.5}};
        Case s = {0};
        TesMesh *mesh;
        TesiCellPatches *p;
        uint64_t seed = 5;
        desc.cells[along] = 5, desc.upper[along] = 0.2;
        assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
        make_operator(ctx, mesh, degree, TES_DOUBLE, false, NULL, &s);
        const int64_t n = tes_operator_info(s.op).length;
        double *x = test_malloc((size_t)n * sizeof *x), *Ax = test_malloc((size_t)n * sizeof *x),
               *z = test_malloc((size_t)n * sizeof *x);
        assert_ok(ctx, tesi_cell_patches_create_lines(s.op, &p));
        assert_int_equal(p->lines->lines.count, 1);
        for (int64_t i = 0; i < n; i++) x[i] = ((const double *)p->weight)[i] == 0 ? 0 : test_random(&seed);
        assert_ok(ctx, s.op->table->apply(s.op, x, Ax));
        precondition(ctx, &s, p, Ax, z);
        for (int64_t i = 0; i < n; i++) assert_near(z[i], x[i], 1e-10);
        tesi_cell_patches_destroy(&p);
        test_free(x), test_free(Ax), test_free(z);
        tes_mesh_destroy(&mesh);
        free_case(&s);
      }
  tes_context_destroy(&ctx);
}

/* What is chosen by itself; over a box whose last direction is `height` long. */
static int iterations_over(TesContext *ctx, const TesMeshDesc *desc, int degree, const char *smoother) {
  TesMesh *mesh;
  TesProblem *problem;
  TesSolveResult result;
  TesSmoother *of_level;
  assert_ok(ctx, tes_mesh_create(ctx, desc, &mesh));
  assert_ok(ctx, tes_problem_create(ctx, &(TesProblemDesc){.mesh = mesh, .degree = degree}, &problem));
  of_level = (TesSmoother *)tes_multigrid_level(tes_problem_multigrid(problem), 1).smoother;
  if (!strstr(tes_smoother_describe(of_level), smoother)) fail_msg("%s", tes_smoother_describe(of_level));
  assert_ok(ctx, tes_problem_solve(problem, &result));
  tes_problem_destroy(&problem);
  tes_mesh_destroy(&mesh);
  return result.iterations;
}

static int iterations(TesContext *ctx, int dim, int refine, int degree, double height, const char *smoother) {
  TesMeshDesc desc = {.kind = TES_MESH_FOREST, .dim = dim, .refine = refine, .upper = {1, 1, 1}};
  desc.upper[dim - 1] = height;
  return iterations_over(ctx, &desc, degree, smoother);
}

/* The issue of stretched cells: 1 : 100 took 49 iterations to more than 100. */
static void counts_do_not_depend_on_the_shape(void **state) {
  (void)state;
  TesContext *ctx = test_device("cpu");
  if (!ctx || !test_has_forests(ctx)) skip();
  static const double heights[] = {1 / 3., 0.25, 0.1, 0.01, 1e-3};
  for (int dim = 2; dim <= 3; dim++)
    for (int degree = 1; degree <= (dim == 2 ? 6 : 2); degree++)
      for (size_t i = 0; i < sizeof heights / sizeof *heights; i++) {
        const int count = iterations(ctx, dim, dim == 2 ? 5 : 3, degree, heights[i], "lines of cells");
        if (count > 7) fail_msg("%dD, degree %d, height %g: %d iterations", dim, degree, heights[i], count);
      }
  iterations(ctx, 2, 3, 2, 0.5, "jacobi"); /* is not stretched */
  tes_context_destroy(&ctx);
}

/* Bars, which are short in two directions, and lines that end where nodes hang across them: 29 and 36 iterations at
 * degree 4 with polynomials of degree 2. */
static void counts_where_couplings_leave_the_patches(void **state) {
  (void)state;
  TesContext *ctx = test_device("cpu");
  if (!ctx || !test_has_forests(ctx)) skip();
  for (int degree = 1; degree <= (test_brief() ? 2 : 5); degree++) {
    const TesMeshDesc bar = {
        .kind = TES_MESH_FOREST, .dim = 3, .refine = degree < 3 ? 4 : 3, .upper = {1, 0.01, 0.01}};
    const int count = iterations_over(ctx, &bar, degree, "cell patches");
    if (count > 20) fail_msg("bar, degree %d: %d iterations", degree, count);
  }
  for (int times = 1; times <= (test_brief() ? 1 : 3); times++)
    for (int degree = 1; degree <= 4; degree++) {
      TesFunction *where;
      assert_ok(ctx, tes_function_create_expression(ctx, "0.005 - y", &where));
      const TesMeshDesc cut = {.kind = TES_MESH_FOREST,
                               .dim = 2,
                               .refine = 4,
                               .upper = {1, 0.01},
                               .refine_where = where,
                               .refine_times = times};
      const int count = iterations_over(ctx, &cut, degree, "lines of cells");
      if (count > 25) fail_msg("cut lines, %d times, degree %d: %d iterations", times, degree, count);
      tes_function_destroy(&where);
    }
  tes_context_destroy(&ctx);
}

/* Every allocation of the set-up fails once, on host and device; programs stay with the context. */
static void allocations_of_the_set_up_fail(void **state) {
  (void)state;
  for (int d = 0; d < 2; d++) {
    FailingAllocator a = {0};
    const char *device = d ? "emulator" : "cpu";
    TesContext *ctx = test_device(device);
    if (!ctx) continue;
    if (!test_has_forests(ctx)) skip();
    tes_context_destroy(&ctx);
    const TesContextDesc desc = {
        .device = device, .allocator = {failing_allocate, failing_release, &a}, .log = failing_log};
    assert_int_equal(tes_context_create(&desc, &ctx, NULL, 0), TES_OK);
    Case s = make_case(ctx, 2, 1, TES_DOUBLE, 20);
    TesiCellPatches *p;
    assert_ok(ctx, tesi_cell_patches_create_lines(s.op, &p)); /* from now on the programs are there */
    tesi_cell_patches_destroy(&p);
    const long live = atomic_load(&a.live);
    long n = 0;
    for (TesStatus status = TES_OUT_OF_MEMORY; status != TES_OK; n++) {
      a.fail_at = atomic_load(&a.count) + n + 1;
      status = tesi_cell_patches_create_lines(s.op, &p);
      a.fail_at = 0;
      assert_true(status == TES_OK || status == TES_OUT_OF_MEMORY);
      assert_true((status == TES_OK) == (p != NULL));
      tesi_cell_patches_destroy(&p);
      tes_context_clear(ctx);
      assert_int_equal(atomic_load(&a.live), live);
    }
    assert_true(n > 20);
    free_case(&s);
    tes_context_destroy(&ctx);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_whole_line_is_exact),
                                     cmocka_unit_test(the_host_equals_the_reference),
                                     cmocka_unit_test(kernels_equal_the_reference),
                                     cmocka_unit_test(symmetric_and_definite),
                                     cmocka_unit_test(counts_do_not_depend_on_the_shape),
                                     cmocka_unit_test(counts_where_couplings_leave_the_patches),
                                     cmocka_unit_test(allocations_of_the_set_up_fail)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
