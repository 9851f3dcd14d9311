/* Geometry: kinds found from the data, positions and Jacobians, refused cells, numberings. */
#include <stdlib.h>
#include <string.h>
#include "failing_allocator.h"
#include "basis/gauss.h"
#include "geometry/lanes.h"
#include "tessera/tessera.h"

static TesContext *ctx;

static TesFunction *expression(const char *text) {
  TesFunction *f;
  assert_ok(ctx, tes_function_create_expression(ctx, text, &f));
  return f;
}

/* x + s sin(pi x) sin(pi y)..., a smooth map that keeps the box. */
static void smooth_map(int dim, TesFunction *map[3]) {
  static const char *const texts[2][3] = {
      {"x + 0.06*sin(pi*x)*sin(pi*y)", "y - 0.05*sin(pi*x)*sin(2*pi*y)", NULL},
      {"x + 0.06*sin(pi*x)*sin(pi*y)*sin(pi*z)", "y - 0.05*sin(pi*x)*sin(2*pi*y)*sin(pi*z)",
       "z + 0.04*sin(pi*x)*sin(pi*y)*sin(pi*z)"}};
  map[2] = NULL;
  for (int d = 0; d < dim; d++) map[d] = expression(texts[dim - 2][d]);
}

static void destroy_map(TesFunction *map[3]) {
  for (int d = 0; d < 3; d++) tes_function_destroy(&map[d]);
}

static double volume(const TesiGeometry *g) {
  enum { Q = 8 };
  double point[Q], weight[Q], sum = 0;
  const int dim = g->dim;
  tesi_gauss(Q, point, weight);
  for (int64_t c = 0; c < g->cells; c++)
    for (int p = 0; p < (dim == 3 ? Q * Q * Q : Q * Q); p++) {
      const int i[3] = {p % Q, p / Q % Q, p / Q / Q};
      double xi[3], x[3], J[9], w = 1;
      for (int d = 0; d < dim; d++) xi[d] = point[i[d]], w *= weight[i[d]];
      assert_ok(ctx, tesi_geometry_evaluate(g, c, 1, xi, x, J));
      sum += w * (dim == 2 ? J[0] * J[3] - J[1] * J[2]
                           : J[0] * (J[4] * J[8] - J[5] * J[7]) - J[1] * (J[3] * J[8] - J[5] * J[6]) +
                                 J[2] * (J[3] * J[7] - J[4] * J[6]));
    }
  return sum;
}

static void test_kinds(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; dim++) {
    TesFunction *map[3], *linear[3] = {expression("2*x + y"), expression("y - 0.5*x"), expression("z + x")};
    smooth_map(dim, map);
    const struct {
      TesMeshDesc desc;
      TesiGeometryKind kind;
      double volume;
    } cases[] = {{{.kind = TES_MESH_CELLS}, TES_GEOMETRY_AFFINE, 1},
                 {{.perturbation = 0.2, .seed = 5}, TES_GEOMETRY_TRILINEAR, 1},
                 {{.perturbation = 0.2, .seed = 5, .shuffle = 3}, TES_GEOMETRY_TRILINEAR, 1},
                 {{.map = {map[0], map[1], map[2]}}, TES_GEOMETRY_ANALYTIC, 1},
                 {{.map = {map[0], map[1], map[2]}, .geometry_degree = 3}, TES_GEOMETRY_CURVED, 1},
                 {{.map = {linear[0], linear[1], dim == 3 ? linear[2] : NULL}}, TES_GEOMETRY_AFFINE, 2.5},
                 {{.map = {linear[0], linear[1], dim == 3 ? linear[2] : NULL}, .geometry_degree = 2},
                  TES_GEOMETRY_AFFINE,
                  2.5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      TesMeshDesc desc = cases[i].desc;
      TesMesh *mesh;
      const TesiGeometry *geometry;
      desc.dim = dim, desc.cells[0] = 3, desc.cells[1] = 2, desc.cells[2] = 3;
      assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
      assert_ok(ctx, tesi_mesh_geometry(mesh, &geometry));
      assert_int_equal(geometry->kind, cases[i].kind);
      assert_near(volume(geometry), cases[i].volume, cases[i].kind == TES_GEOMETRY_ANALYTIC ? 1e-9 : 1e-13);
      tes_mesh_destroy(&mesh);
    }
    destroy_map(map);
    destroy_map(linear);
  }
}

/* Fast tensor-product evaluation against the pointwise one; Jacobians against differences of positions. */
static void test_evaluation(void **state) {
  (void)state;
  for (int kind = 0; kind < 3; kind++)
    for (int dim = 2; dim <= 3; dim++) {
      enum { Q = 4 };
      TesMesh *mesh;
      TesFunction *map[3] = {NULL};
      double point[Q], weight[Q], B[Q * 9], G[Q * 9], x[3 * 2 * 64], J[9 * 2 * 64];
      if (kind) smooth_map(dim, map);
      const TesMeshDesc desc = {.dim = dim,
                                .cells = {2, 3, 2},
                                .perturbation = 0.2,
                                .map = {map[0], map[1], map[2]},
                                .geometry_degree = kind == 2 ? 4 : 0};
      assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
      const TesiGeometry *g = mesh->geometry;
      tesi_gauss(Q, point, weight);
      tesi_geometry_tables(g, Q, point, B, G);
      tesi_geometry_tensor(g, 1, 2, Q, B, G, x, J);
      const int points = dim == 3 ? Q * Q * Q : Q * Q, n = 2 * points;
      for (int p = 0; p < n; p++) {
        const int local = p % points;
        const double h = 1e-6;
        double xi[3] = {point[local % Q], point[local / Q % Q], point[local / Q / Q % Q]}, at[3], jacobian[9];
        assert_ok(ctx, tesi_geometry_evaluate(g, 1 + p / points, 1, xi, at, jacobian));
        for (int r = 0; r < dim; r++) {
          assert_near(x[r * n + p], at[r], 1e-14);
          for (int c = 0; c < dim; c++) {
            double low[3], high[3], moved[3];
            memcpy(moved, xi, sizeof moved);
            moved[c] = xi[c] + h;
            assert_ok(ctx, tesi_geometry_evaluate(g, 1 + p / points, 1, moved, high, NULL));
            moved[c] = xi[c] - h;
            assert_ok(ctx, tesi_geometry_evaluate(g, 1 + p / points, 1, moved, low, NULL));
            assert_near(J[(r * dim + c) * n + p], jacobian[r * dim + c], 1e-13);
            assert_near(jacobian[r * dim + c], (high[r] - low[r]) / (2 * h), 1e-8);
          }
        }
      }
      destroy_map(map);
      tes_mesh_destroy(&mesh);
    }
}

/* Eight cells at a time, on every width: the same bits as cell by cell. */
static void test_lanes(void **state) {
  (void)state;
  enum { Q = 4, N = 64 * TESI_LANES };
  static _Alignas(64) double nodes[3 * 125 * TESI_LANES], x[3 * N], J[9 * N], det[N];
  static const int32_t cell[TESI_LANES] = {3, 0, 1, 1, 7, 11, 2, 5};
  for (int i = 0; i < 2 * 5 * 3; i++) {
    const int dim = 2 + i % 2, degree = i / 2 % 5, bits = 128 << i / 10;
    double point[Q], weight[Q], B[Q * 9], G[Q * 9], one[3 * 64], jacobian[9 * 64], own[64];
    TesMesh *mesh;
    TesFunction *map[3] = {NULL};
    smooth_map(dim, map);
    const TesMeshDesc desc = {.dim = dim,
                              .cells = {2, 3, 2},
                              .perturbation = 0.2,
                              .map = {map[0], map[1], map[2]},
                              .geometry_degree = degree};
    assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
    const TesiGeometry *g = mesh->geometry;
    tesi_gauss(Q, point, weight);
    tesi_geometry_tables(g, Q, point, B, G);
    const TesiLanes *lanes = tesi_lanes(tesi_min(bits, tes_context_simd_bits(ctx)));
    const int points = dim == 3 ? Q * Q * Q : Q * Q, cells = dim == 3 ? 12 : 6;
    int32_t there[TESI_LANES];
    for (int l = 0; l < TESI_LANES; l++) there[l] = cell[l] % cells;
    memset(x, 0xff, sizeof x), memset(J, 0xff, sizeof J);
    tesi_lanes_points(g, lanes, there, Q, B, G, nodes, x, J);
    lanes->determinant(dim, points, J, det);
    for (int l = 0; l < TESI_LANES; l++) {
      tesi_geometry_tensor(g, there[l], 1, Q, B, G, one, jacobian);
      tesi_geometry_determinant(dim, points, jacobian, own);
      for (int p = 0; p < points; p++) assert_true(det[p * TESI_LANES + l] == own[p]);
      for (int p = 0; p < 3 * points; p++) assert_true(x[p * TESI_LANES + l] == one[p]);
      for (int p = 0; p < dim * dim * points; p++) assert_true(J[p * TESI_LANES + l] == jacobian[p]);
    }
    assert_int_equal(lanes->faulty(points, true, det), 0);
    det[3 * TESI_LANES + 2] = NAN, det[5 * TESI_LANES + 7] = 0, det[6] = INFINITY;
    assert_int_equal(lanes->faulty(points, true, det), 1 << 2 | 1 << 7 | 1 << 6);
    assert_int_equal(lanes->faulty(points, false, det), 1 << 2 | 1 << 6);
    destroy_map(map);
    tes_mesh_destroy(&mesh);
  }
}

static void test_refused(void **state) {
  (void)state;
  TesiGeometry *g = NULL;
  /* the second cell has two vertices exchanged */
  const double x[2][4][2] = {{{0, 0}, {1, 0}, {0, 1}, {1, 1}}, {{1, 0}, {2, 0}, {2, 1}, {1, 1}}};
  assert_int_equal(
      tesi_geometry_create(ctx, &(TesiGeometryDesc){.dim = 2, .cells = 2, .nodes = &x[0][0][0]}, &g),
      TES_INVALID_INPUT);
  assert_null(g);
  assert_non_null(strstr(tes_context_message(ctx), "cell 1 is inverted"));
  tes_context_clear(ctx);
  double nan[4][2] = {{0, 0}, {1, 0}, {0, NAN}, {1, 1}};
  assert_int_equal(
      tesi_geometry_create(ctx, &(TesiGeometryDesc){.dim = 2, .cells = 1, .nodes = &nan[0][0]}, &g), TES_NAN);
  tes_context_clear(ctx);
  const TesiGeometryDesc bad[] = {{.dim = 4, .cells = 1, .nodes = &nan[0][0]},
                                  {.dim = 2, .cells = 0, .nodes = &nan[0][0]},
                                  {.dim = 2, .cells = 1},
                                  {.dim = 2, .cells = 1, .degree = 9, .nodes = &nan[0][0]}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_equal(tesi_geometry_create(ctx, &bad[i], &g), TES_INVALID_INPUT);
    tes_context_clear(ctx);
  }
  TesMesh *mesh;
  TesFunction *fold[3] = {expression("x*x - x"), expression("y"), NULL};
  assert_int_equal(
      tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {2, 2}, .map = {fold[0], fold[1]}}, &mesh),
      TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "cell 0 is inverted"));
  tes_context_clear(ctx);
  assert_null(mesh);
  destroy_map(fold);
}

/* Nodes with equal numbers are at equal places, others are not; how many there are; constrained ones are on the
 * boundary. */
static void check_numbering(const TesiGeometry *g, const TesNumberingDesc *desc, int64_t expected) {
  const int dim = g->dim, n = desc->degree + 1, points = dim == 3 ? n * n * n : n * n;
  const int64_t entries = g->cells * points;
  int32_t *index = malloc((size_t)entries * sizeof *index);
  int64_t nodes = 0;
  double at[20];
  assert_ok(ctx, tesi_geometry_number(g, desc, index, &nodes));
  assert_int_equal(nodes, expected);
  double(*place)[3] = malloc((size_t)nodes * sizeof *place);
  for (int64_t i = 0; i < nodes; i++) place[i][0] = NAN;
  tesi_gauss_lobatto(n, at, NULL);
  for (int64_t i = 0; i < entries; i++) {
    const int p = (int)(i % points);
    const double xi[3] = {at[p % n], at[p / n % n], at[p / n / n]};
    double x[3] = {0};
    const int64_t node = index[i] < 0 ? ~index[i] : index[i];
    assert_true(node < nodes);
    assert_ok(ctx, tesi_geometry_evaluate(g, i / points, 1, xi, x, NULL));
    if (isnan(place[node][0]))
      memcpy(place[node], x, sizeof x);
    else
      for (int r = 0; r < dim; r++) assert_near(x[r], place[node][r], 1e-13);
    bool boundary = false;
    for (int r = 0; r < dim; r++) boundary = boundary || fabs(x[r]) < 1e-9 || fabs(x[r] - 1) < 1e-9;
    assert_int_equal(index[i] < 0, desc->dirichlet && boundary);
  }
  for (int64_t i = 0; i < nodes; i++)
    assert_false(isnan(place[i][0])); /* so all numbers occur, and as many as places */
  free(place);
  free(index);
}

static int64_t box_nodes(int dim, const int cells[3], int k) {
  int64_t nodes = 1;
  for (int d = 0; d < dim; d++) nodes *= cells[d] * k + 1;
  return nodes;
}

static TesMesh *deformed(int dim, const int cells[3], uint64_t shuffle) {
  TesMesh *mesh;
  const TesMeshDesc desc = {
      .dim = dim, .cells = {cells[0], cells[1], cells[2]}, .perturbation = 0.2, .seed = 9, .shuffle = shuffle};
  assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
  return mesh;
}

/* The cells of a box given one by one, each turned by a rotation of its own: shared faces are seen in all
 * orientations. */
static TesiGeometry *turned(int dim, const int cells[3]) {
  TesMesh *mesh = deformed(dim, cells, 0);
  const TesiGeometry *straight = mesh->geometry;
  TesiGeometry *g;
  const int corners = 1 << dim;
  double *x = malloc((size_t)(straight->cells * corners * dim) * sizeof *x);
  int32_t *v = malloc((size_t)(straight->cells * corners) * sizeof *v);
  for (int64_t c = 0; c < straight->cells; c++)
    for (int i = 0; i < corners; i++) {
      int from = i; /* quarter turns about z, and cyclic exchanges of the axes */
      for (int t = 0; t < (int)(c % 4); t++) from = (from & 4) | (from >> 1 & 1) | ((from & 1 ? 0 : 1) << 1);
      for (int t = 0; dim == 3 && t < (int)(c / 4 % 3); t++) from = (from >> 1) | (from & 1) << 2;
      v[c * corners + i] = straight->vertices[c * corners + from];
      memcpy(x + (c * corners + i) * dim, straight->nodes + (c * corners + from) * dim,
             (size_t)dim * sizeof *x);
    }
  assert_ok(
      ctx, tesi_geometry_create(
               ctx, &(TesiGeometryDesc){.dim = dim, .cells = straight->cells, .nodes = x, .vertices = v}, &g));
  free(x);
  free(v);
  tes_mesh_destroy(&mesh);
  return g;
}

static void test_numbering(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; dim++) {
    const int cells[3] = {3, 2, dim == 3 ? 3 : 0};
    TesMesh *mesh = deformed(dim, cells, 7);
    const TesiGeometry *g = mesh->geometry;
    TesiGeometry *t = turned(dim, cells);
    for (int k = 1; k <= 5; k++)
      for (int order = 0; order <= TES_NUMBER_SHUFFLED; order++)
        for (int dirichlet = 0; dirichlet < 2; dirichlet++) {
          const TesNumberingDesc desc = {
              .degree = k, .order = (TesNumberingOrder)order, .seed = 4, .dirichlet = dirichlet};
          check_numbering(g, &desc, box_nodes(dim, cells, k));
          if (order != TES_NUMBER_LEXICOGRAPHIC) check_numbering(t, &desc, box_nodes(dim, cells, k));
        }
    int32_t index[64];
    int64_t nodes;
    assert_int_equal(tesi_geometry_number(t,
                                          &(TesNumberingDesc){.degree = 1, .order = TES_NUMBER_LEXICOGRAPHIC},
                                          index, &nodes),
                     TES_INVALID_INPUT);
    tes_context_clear(ctx);
    tesi_geometry_destroy(&t);
    tes_mesh_destroy(&mesh);
  }
}

static TesStatus make_all(TesContext *context, void *user) {
  (void)user;
  TesContext *const kept = ctx;
  ctx = context;
  TesStatus status;
  TesMesh *mesh = NULL;
  TesFunction *map[3] = {NULL};
  TesiGeometry *g = NULL;
  int32_t index[4 * 9];
  int64_t nodes;
  status = tes_function_create_expression(ctx, "x + 0.1*x*y", &map[0]);
  if (status == TES_OK) status = tes_function_create_expression(ctx, "y", &map[1]);
  for (int degree = 0; degree <= 2 && status == TES_OK; degree += 2) {
    const TesMeshDesc desc = {.dim = 2,
                              .cells = {2, 2},
                              .perturbation = 0.1,
                              .map = {map[0], map[1]},
                              .geometry_degree = degree,
                              .shuffle = 1};
    status = tes_mesh_create(ctx, &desc, &mesh);
    for (int order = 0; order <= 2 && status == TES_OK; order += 2)
      status = tesi_geometry_number(
          mesh->geometry,
          &(TesNumberingDesc){.degree = 2, .order = (TesNumberingOrder)order, .dirichlet = true}, index,
          &nodes);
    tes_mesh_destroy(&mesh);
  }
  if (status == TES_OK) {
    const double x[4][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}};
    const int32_t v[4] = {3, 1, 2, 0};
    status = tesi_geometry_create(
        ctx, &(TesiGeometryDesc){.dim = 2, .cells = 1, .nodes = &x[0][0], .vertices = v}, &g);
    if (status == TES_OK)
      status = tesi_geometry_number(g, &(TesNumberingDesc){.degree = 2, .dirichlet = true}, index, &nodes);
    tesi_geometry_destroy(&g);
  }
  for (int d = 0; d < 2; d++) tes_function_destroy(&map[d]);
  ctx = kept;
  return status;
}

static void test_allocations(void **state) {
  (void)state;
  assert_true(every_allocation_fails(make_all, NULL) > 20);
}

static int setup(void **state) {
  (void)state;
  return tes_context_create(&(TesContextDesc){.device = "cpu", .threads = 2, .log = failing_log}, &ctx, NULL,
                            0) != TES_OK;
}

static int teardown(void **state) {
  (void)state;
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds),     cmocka_unit_test(test_evaluation),
                                     cmocka_unit_test(test_lanes),     cmocka_unit_test(test_refused),
                                     cmocka_unit_test(test_numbering), cmocka_unit_test(test_allocations)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
