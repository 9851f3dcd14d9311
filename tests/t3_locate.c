/* Run: ctest -R t3_locate. Which cell has a point: boxes, deformed and curved cells, forests with hanging nodes;
 * insides, faces, corners, outside. */
#include "functional_testing.h"
#include "basis/lagrange.h"
#include "geometry/cell_line.h"
#include "geometry/locate.h"

enum { POINTS = 300 };

/* Reference points: inside, on faces, at corners. */
static void pick(uint64_t *seed, int dim, int i, double *xi) {
  for (int d = 0; d < dim; d++) {
    const double inside = (test_random(seed) + 1) / 2;
    xi[d] = i % 3 == 2 || (i % 3 == 1 && d == i / 3 % dim) ? test_below(seed, 2) : inside;
  }
}

/* Images of reference points are found where they came from, or in a cell of smaller number that has them too. */
static void check_round_trip(const TestPlace *p) {
  const int dim = p->is.dim;
  double xi[POINTS * 3], x[POINTS * 3], found[POINTS * 3], back[3];
  int64_t cell[POINTS], of[POINTS];
  uint64_t seed = 11;
  for (int i = 0; i < POINTS; i++) {
    of[i] = test_below(&seed, (int)p->cells);
    pick(&seed, dim, i, xi + i * dim);
    assert_ok(p->ctx, tesi_mesh_points(p->mesh, of[i], 1, xi + i * dim, x + i * dim, NULL));
  }
  memset(cell, 0x7f, sizeof cell);
  for (int i = 0; i < POINTS * dim; i++) found[i] = NAN;
  assert_ok(p->ctx, tes_mesh_locate(p->mesh, POINTS, x, cell, found));
  for (int i = 0; i < POINTS; i++) {
    assert_in_range(cell[i], 0, of[i]);
    assert_ok(p->ctx, tesi_mesh_points(p->mesh, cell[i], 1, found + i * dim, back, NULL));
    for (int d = 0; d < dim; d++) {
      assert_near(back[d], x[i * dim + d], 1e-8);
      if (cell[i] == of[i]) assert_near(found[i * dim + d], xi[i * dim + d], 1e-8);
      assert_in_range((int)(found[i * dim + d] <= 1 && found[i * dim + d] >= 0), 1, 1);
    }
    if (i % 3 == 0) assert_int_equal(cell[i], of[i]);
  }
}

/* A vertex is found in each cell that has it: counted by the distances of all cells' corners. */
static void check_corners(const TestPlace *p) {
  const int dim = p->is.dim, corners = 1 << dim;
  double corner[8 * 3], at[3], x[8 * 3];
  TesiHit *hit;
  int64_t count, expected = 0;
  const int64_t middle = p->cells / 2;
  for (int v = 0; v < corners; v++)
    for (int d = 0; d < dim; d++) corner[v * dim + d] = v >> d & 1;
  assert_ok(p->ctx, tesi_mesh_points(p->mesh, middle, 1, corner + (corners - 1) * dim, at, NULL));
  for (int64_t c = 0; c < p->cells; c++) {
    assert_ok(p->ctx, tesi_mesh_points(p->mesh, c, corners, corner, x, NULL));
    for (int v = 0; v < corners; v++) {
      double distance = 0;
      for (int d = 0; d < dim; d++) distance = fmax(distance, fabs(x[v * dim + d] - at[d]));
      expected += distance < 1e-9;
    }
  }
  assert_ok(p->ctx, tesi_mesh_find(p->mesh, 1, at, 0, &hit, &count));
  if (count < expected)
    fail_msg("%lld cells have the corner, %lld were found", (long long)expected, (long long)count);
  for (int64_t i = 1; i < count; i++) assert_true(hit[i].cell > hit[i - 1].cell);
  tesi_free(p->ctx, &hit);
}

static void check_outside(const TestPlace *p) {
  const int dim = p->is.dim;
  double far[6] = {1e3, 0, 0, -7, 1e9, 3}, xi[6], bad[3] = {0, NAN, 0};
  int64_t cell[2] = {5, 5};
  TesiHit *hit;
  int64_t count;
  assert_ok(p->ctx, tes_mesh_locate(p->mesh, 2, far, cell, xi));
  assert_int_equal(cell[0], -1);
  assert_int_equal(cell[1], -1);
  for (int d = 0; d < dim; d++) assert_true(isnan(xi[d]));
  assert_ok(p->ctx, tes_mesh_locate(p->mesh, 0, far, cell, NULL));
  assert_int_equal(tes_mesh_locate(p->mesh, 1, bad, cell, xi), TES_INVALID_INPUT);
  tes_context_clear(p->ctx);
  assert_ok(p->ctx, tesi_mesh_find(p->mesh, 2, far, 0.01, &hit, &count));
  assert_int_equal(count, 0);
  tesi_free(p->ctx, &hit);
}

/* A little outside of a boundary face: found with some reach, on the face; without it not. */
static void check_reach(const TestPlace *p) {
  const int dim = p->is.dim;
  double xi[3], x[3], J[9];
  int64_t c = 0, cell, count;
  int face = 0;
  TesiHit *hit;
  while (!tes_mesh_on_boundary(p->mesh, c, face, NULL))
    if (++face == 2 * dim) c++, face = 0;
  for (int d = 0; d < dim; d++) xi[d] = d == face / 2 ? face & 1 : 0.37;
  assert_ok(p->ctx, tesi_mesh_points(p->mesh, c, 1, xi, x, J));
  for (int d = 0; d < dim; d++) x[d] += (face & 1 ? 1 : -1) * 0.004 * J[d * dim + face / 2];
  assert_ok(p->ctx, tes_mesh_locate(p->mesh, 1, x, &cell, NULL));
  assert_int_equal(cell, -1);
  assert_ok(p->ctx, tesi_mesh_find(p->mesh, 1, x, 0.01, &hit, &count));
  assert_int_equal(count, 1);
  assert_int_equal(hit->cell, c);
  assert_near(hit->moved, 0.004, 1e-3);
  assert_near(hit->xi[face / 2], face & 1, 0);
  tesi_free(p->ctx, &hit);
  assert_ok(p->ctx, tesi_mesh_find(p->mesh, 1, x, 0.001, &hit, &count));
  assert_int_equal(count, 0);
  tesi_free(p->ctx, &hit);
}

static void test_kinds(void **state) {
  static const TestCase cases[] = {{TEST_BOX, 2, 1, 0, 5},      {TEST_BOX, 3, 1, 0, 4},
                                   {TEST_CELLS, 2, 1, 0, 6},    {TEST_CELLS, 3, 1, 0, 5},
                                   {TEST_UNIT, 2, 1, 0, 40},    {TEST_UNIT, 3, 1, 0, 60},
                                   {TEST_LATTICE, 2, 1, 0, 40}, {TEST_LATTICE, 3, 1, 0, 60},
                                   {TEST_BALL, 2, 1, 0, 60},    {TEST_BALL, 3, 1, 0, 100}};
  TesContext *ctx;
  (void)state;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0), TES_OK);
  const bool forests = test_has_forests(ctx);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (cases[i].kind > TEST_CELLS && !forests) continue;
    TestPlace p = test_place(ctx, &cases[i]);
    check_round_trip(&p);
    check_corners(&p);
    check_outside(&p);
    check_reach(&p);
    test_place_free(&p);
  }
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

/* An analytic map: a bent box, whose points are known by formula. */
static void test_map(void **state) {
  TesContext *ctx;
  TesMesh *mesh;
  int64_t cell;
  double xi[2];
  (void)state;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0), TES_OK);
  TesFunction *map[2] = {test_expression(ctx, "(1 + x)*cos(2*y)"), test_expression(ctx, "(1 + x)*sin(2*y)")};
  const TesMeshDesc desc = {.kind = TES_MESH_CELLS, .dim = 2, .cells = {4, 5}, .map = {map[0], map[1]}};
  assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
  const double s = 0.3, t = 0.9, x[2] = {(1 + s) * cos(2 * t), (1 + s) * sin(2 * t)};
  assert_ok(ctx, tes_mesh_locate(mesh, 1, x, &cell, xi));
  assert_int_equal(cell, 1 + 4 * 4);
  assert_near(xi[0], 0.2, 1e-9);
  assert_near(xi[1], 0.5, 1e-9);
  tes_mesh_destroy(&mesh);
  for (int d = 0; d < 2; d++) tes_function_destroy(&map[d]);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

/* Bernstein coefficients of polynomials by their values: the sum of Bernstein polynomials has these values, elsewhere
 * it lies between the coefficients. */
static void test_coefficients(void **state) {
  enum { MOST = TESI_GEOMETRY_DEGREE, PLACES = 41 };
  uint64_t seed = 5;
  (void)state;
  for (int degree = 1; degree <= MOST; degree++) {
    const TesiLine *line = tesi_line(degree);
    const int n = degree + 1;
    double value[MOST + 1], c[MOST + 1], least = INFINITY, largest = -INFINITY, place[PLACES],
                                         B[PLACES * (MOST + 1)], G[PLACES * (MOST + 1)];
    for (int i = 0; i < n; i++) value[i] = test_random(&seed);
    for (int i = 0; i < n; i++) {
      c[i] = 0;
      for (int j = 0; j < n; j++) c[i] += line->control[i * n + j] * value[j];
      least = fmin(least, c[i]), largest = fmax(largest, c[i]);
    }
    for (int p = 0; p < PLACES; p++) place[p] = p / (PLACES - 1.);
    tesi_lagrange(n, line->point, PLACES, place, B, G);
    for (int p = 0; p < PLACES; p++) {
      double lagrange = 0, bernstein = 0, binomial = 1;
      for (int j = 0; j < n; j++) {
        lagrange += B[p * n + j] * value[j];
        bernstein += c[j] * binomial * pow(place[p], j) * pow(1 - place[p], degree - j);
        binomial *= (double)(degree - j) / (j + 1);
      }
      assert_near(bernstein, lagrange, 1e-11);
      assert_true(lagrange >= least - 1e-11 && lagrange <= largest + 1e-11);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_coefficients), cmocka_unit_test(test_kinds),
                                     cmocka_unit_test(test_map)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
