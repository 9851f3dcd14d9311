/* Run: ctest -R t7_estimate. Jumps of the residual on faces, by sum factorization, against point by point
 * evaluation of both cells: random forests of trees in random orientations, curved cells, hanging faces, materials'
 * coefficients and boundary terms.
 * Labels: simd */
#include "forest_testing.h"
#include "problem/adapt/estimate.h"

static TesContext *ctx;

/* a grad u . normal at points of a cell, plainly. */
static void plain_flux(const TesiResidual *s, int64_t cell, const double *xi, const double *normal,
                       double *flux) {
  enum { MOST = TESI_FACE_MOST };
  const int dim = s->rule.dim, n = s->face_rule.points;
  double local[TESI_CELL_MOST], g[3 * MOST], x[3 * MOST], J[9 * MOST];
  tesi_cells_read(s->space, cell, s->u, local);
  tesi_local_values(dim, s->space->degree, local, n, xi, NULL, g);
  assert_ok(ctx, tesi_geometry_evaluate(s->geometry, cell, n, xi, x, J));
  for (int p = 0; p < n; p++) {
    const double *j = J + p * dim * dim, *y = x + p * dim;
    double A[3][4], a, sum = 0;
    const double z = dim == 3 ? y[2] : 0;
    assert_ok(ctx, tes_function_evaluate(s->data->data.a, 1, &y[0], &y[1], &z, 0, &a));
    for (int c = 0; c < dim; c++) { /* J' (grad u) = reference gradient, by elimination */
      for (int r = 0; r < dim; r++) A[c][r] = j[r * dim + c];
      A[c][dim] = g[p * dim + c];
    }
    for (int i = 0; i < dim; i++) {
      int pivot = i;
      for (int k = i; k < dim; k++)
        if (fabs(A[k][i]) > fabs(A[pivot][i])) pivot = k;
      for (int c = 0; c <= dim; c++) {
        const double swap = A[i][c];
        A[i][c] = A[pivot][c];
        A[pivot][c] = swap;
      }
      for (int k = 0; k < dim; k++)
        for (int c = dim; k != i && c >= i; c--) A[k][c] -= A[k][i] / A[i][i] * A[i][c];
    }
    for (int r = 0; r < dim; r++) sum += A[r][dim] / A[r][r] * normal[p * dim + r];
    flux[p] = a * sum;
  }
}

/* What tesi_residual_face() is to give; returns whether the face counts. */
static bool plain_face(const TesiResidual *s, const TesiFacePair *pair, double *j, double *weight) {
  const int dim = s->rule.dim, n = s->face_rule.points;
  double xi[3 * TESI_FACE_MOST], x[3 * TESI_FACE_MOST], normal[3 * TESI_FACE_MOST], other[TESI_FACE_MOST],
      u[TESI_FACE_MOST], local[TESI_CELL_MOST];
  tesi_face_geometry(&s->face_rule, s->geometry, pair->cell, pair->face, x, weight, normal);
  tesi_pair_points(s, pair, false, xi);
  plain_flux(s, pair->cell, xi, normal, j);
  if (pair->other >= 0) {
    tesi_pair_points(s, pair, true, xi);
    plain_flux(s, pair->other, xi, normal, other);
    for (int p = 0; p < n; p++) j[p] -= other[p];
    return true;
  }
  int name;
  assert_true(tes_mesh_on_boundary(s->space->mesh, pair->cell, pair->face, &name));
  if (tesi_cells_given(s->space, name)) return false;
  const TesiGiven *b = &s->data->given[name];
  tesi_cells_read(s->space, pair->cell, s->u, local);
  tesi_local_values(dim, s->space->degree, local, n, xi, u, NULL);
  for (int p = 0; p < n; p++) {
    const double *y = x + p * dim, z = dim == 3 ? y[2] : 0;
    double g = 0, alpha = 0;
    if (b->g[0]) assert_ok(ctx, tes_function_evaluate(b->g[0], 1, &y[0], &y[1], &z, 0, &g));
    if (b->alpha) assert_ok(ctx, tes_function_evaluate(b->alpha, 1, &y[0], &y[1], &z, 0, &alpha));
    j[p] += alpha * u[p] - g;
  }
  return true;
}

static void compare(const TesProblem *problem, uint64_t *seed, int64_t counts[3]) {
  TesiResidual *s;
  assert_ok(ctx, tesi_residual_create(problem, &s));
  double largest = 0, error = 0;
  for (int64_t i = 0; i < s->space->length; i++) s->u[i] = test_random(seed);
  for (int64_t i = 0; i < s->pairs; i++) {
    double j[2][TESI_FACE_MOST], weight[2][TESI_FACE_MOST];
    for (int p = 0; p < TESI_FACE_MOST; p++) j[0][p] = weight[0][p] = NAN;
    const bool counted = tesi_residual_face(s, i, j[0], weight[0]);
    assert_int_equal(counted, plain_face(s, &s->pair[i], j[1], weight[1]));
    counts[s->pair[i].other < 0 ? 0 : fabs(s->pair[i].axis[0][0] + s->pair[i].axis[0][1]) < 0.75 ? 2 : 1]++;
    for (int p = 0; p < s->face_rule.points; p++) {
      assert_near(weight[0][p], weight[1][p], 1e-13);
      if (!counted) continue;
      largest = test_larger(largest, fabs(j[1][p]));
      error = test_larger(error, fabs(j[0][p] - j[1][p]));
    }
  }
  if (!(error <= 1e-12 * largest)) fail_msg("jumps differ by %.3g of %.3g", error, largest);
  tesi_residual_destroy(ctx, &s);
}

/* Condition i % 2 on boundary i; returns how many. */
static int conditions(const TesMesh *mesh, const TesBoundary *from, TesBoundary *to) {
  const int count = tes_mesh_boundaries(mesh);
  for (int i = 0; i < count; i++) to[i] = from[i % 2], to[i].name = tes_mesh_boundary_name(mesh, i);
  return count;
}

static void jumps(void **state) {
  (void)state;
  if (!test_has_forests(ctx)) skip();
  uint64_t seed = 3;
  int64_t counts[3] = {0};
  TesFunction *a, *g;
  assert_ok(ctx, tes_function_create_expression(ctx, "1 + x*x + 0.5*sin(y + z)", &a));
  assert_ok(ctx, tes_function_create_expression(ctx, "0.3 + x*y", &g));
  const TesBoundary boundary[3] = {{.condition = TES_DIRICHLET},
                                   {.condition = TES_ROBIN, .alpha = a, .g = {g}},
                                   {.condition = TES_NEUMANN, .g = {g}}};
  for (int dim = 2; dim <= 3; dim++)
    for (int degree = 1; degree <= 8; degree++)
      for (int turn = 0; turn < 3; turn++) {
        TesMesh *forest;
        TesProblem *problem;
        TesBoundary boundaries[16];
        if (turn == 2)
          assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.domain = TES_DOMAIN_BALL, .dim = dim}, &forest));
        else
          test_lattice(ctx, dim, (const int[3]){2, 2, 2}, 0.15, &seed, &forest);
        test_set_geometry(forest, 1 + turn);
        test_adapt(ctx, &seed, 0.4, 0, degree < 4 ? 60 : 20, &forest);
        const TesProblemDesc desc = {.mesh = forest,
                                     .degree = degree,
                                     .data = {.a = a, .f = {a}},
                                     .boundary = boundaries,
                                     .boundaries =
                                         turn == 2 ? 0 : conditions(forest, boundary + turn, boundaries)};
        assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
        compare(problem, &seed, counts);
        tes_problem_destroy(&problem);
        tes_mesh_destroy(&forest);
      }
  for (int i = 0; i < 3; i++) assert_true(counts[i] > 200); /* on the boundary, whole, hanging */
  tes_function_destroy(&a);
  tes_function_destroy(&g);
}

static int setup(void **state) {
  (void)state;
  return tes_context_create(&(TesContextDesc){.device = "cpu", .threads = 1}, &ctx, NULL, 0) != TES_OK;
}

static int teardown(void **state) {
  (void)state;
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(jumps)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
