/* Spaces over forests: reading through index and mask is the explicit constraint matrix, and reproduces
 * polynomials. Brief: two random forests a degree. */
#include <stdlib.h>
#include "forest_testing.h"
#include "space/space.h"

static TesContext *ctx;

enum { MOST = 729 };

/* Corner, edge, face or inside: which of the 3^dim parts of a cell its node p lies in. */
static int part_of(int n, int dim, int p) {
  int part = 0;
  for (int d = 0, third = 1; d < dim; d++, p /= n, third *= 3)
    part += third * (p % n == 0 ? 0 : p % n == n - 1 ? 2 : 1);
  return part;
}

/* Index and masks against p4est's own nodes, which are numbered anew as cells meet them, part by part. */
static void compare_with_p4est(const TesMesh *forest, int degree, const TesiCellView *view) {
  const int64_t entries = view->cells * view->cell_nodes;
  int32_t *index = malloc((size_t)entries * sizeof *index), next = 0;
  uint16_t *mask = malloc((size_t)view->cells * sizeof *mask);
  TesiForestNodes of_p4est = {0};
  assert_ok(ctx, forest->p4est->number(ctx, forest->forest, degree, index, mask, &of_p4est));
  tesi_sharers_free(ctx, &of_p4est.sharers);
  const int64_t nodes = of_p4est.nodes;
  assert_int_equal(nodes, view->length);
  int32_t *number = malloc((size_t)nodes * sizeof *number);
  for (int64_t i = 0; i < nodes; i++) number[i] = -1;
  for (int64_t first = 0; first < entries; first += view->cell_nodes)
    for (int part = 0; part < 27; part++)
      for (int p = 0; p < view->cell_nodes; p++) {
        if (part_of(view->n, view->dim, p) != part) continue;
        const int64_t i = first + p;
        if (number[index[i]] < 0) number[index[i]] = next++;
        assert_int_equal(number[index[i]], tesi_cells_node(view->index[i]));
      }
  for (int64_t c = 0; c < view->cells; c++) assert_int_equal(mask[c], view->mask[c]);
  free(index);
  free(mask);
  free(number);
}

/* What a cell's nodes get by index and mask, against the rows of the matrix, whose columns are matched with nodes
 * on the way: a node of a coarse cell's own is one column. */
static void compare(const TesMesh *forest, int degree, const double *period, uint64_t *seed) {
  TesSpace *space;
  TesiConstraints c;
  assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = forest, .degree = degree}, &space));
  assert_ok(ctx, tesi_constraints_ref(forest, degree, period, &c));
  const int64_t length = tes_space_length(space), cells = tes_mesh_info(forest).cells;
  const int32_t *index = space->view->index;
  const int nodes = space->view->cell_nodes, n = degree + 1;
  assert_int_equal(c.columns, length);
  compare_with_p4est(forest, degree, space->view);
  int32_t *node_of = malloc((size_t)length * sizeof *node_of);
  double *x = malloc((size_t)length * sizeof *x), local[MOST];
  for (int64_t i = 0; i < length; i++) node_of[i] = -1, x[i] = test_random(seed);
  for (int64_t row = 0; row < c.rows; row++) { /* columns of nodes that do not hang */
    const int p = (int)(row % nodes), at[3] = {p % n, p / n % n, p / n / n};
    const int32_t node = index[row] < 0 ? -1 - index[row] : index[row];
    if (tesi_hanging_directions(space->dim, n, space->view->mask[row / nodes], at)) continue;
    assert_int_equal(c.first[row + 1], c.first[row] + 1);
    int32_t *known = &node_of[c.column[c.first[row]]];
    assert_true(*known < 0 || *known == node);
    *known = node;
  }
  for (int64_t i = 0; i < length; i++) assert_true(node_of[i] >= 0);
  for (int64_t cell = 0; cell < cells; cell++) {
    for (int p = 0; p < MOST; p++) local[p] = NAN;
    tesi_cells_read(space->view, cell, x, local);
    for (int p = 0; p < nodes; p++) {
      double sum = 0;
      for (int64_t e = c.first[cell * nodes + p]; e < c.first[cell * nodes + p + 1]; e++)
        sum += c.value[e] * x[node_of[c.column[e]]];
      assert_near(local[p], sum, 1e-11);
    }
  }
  free(node_of);
  free(x);
  tesi_constraints_free(ctx, &c);
  tes_space_destroy(&space);
}

/* v' (R u) = (R' v)' u for reading R and adding R'. */
static void check_transpose(const TesMesh *forest, int degree, uint64_t *seed) {
  TesSpace *space;
  assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = forest, .degree = degree}, &space));
  const int64_t length = tes_space_length(space);
  double *u = malloc((size_t)length * sizeof *u), *y = calloc((size_t)length, sizeof *y), v[MOST], local[MOST];
  double left = 0, right = 0;
  for (int64_t i = 0; i < length; i++) u[i] = test_random(seed);
  for (int64_t cell = 0; cell < tes_mesh_info(forest).cells; cell++) {
    tesi_cells_read(space->view, cell, u, local);
    for (int p = 0; p < space->view->cell_nodes; p++) left += local[p] * (v[p] = test_random(seed));
    tesi_cells_add(space->view, cell, v, y);
  }
  for (int64_t i = 0; i < length; i++) right += y[i] * u[i];
  assert_near(left, right, 1e-10 * (1 + fabs(left)) * sqrt((double)length));
  free(u);
  free(y);
  tes_space_destroy(&space);
}

static double polynomial(int dim, int degree, const double *x) {
  double value = 1;
  for (int d = 0; d < dim; d++) value *= pow(x[d] - 0.3 - 0.1 * d, degree) + 0.5 * x[d] + 0.2;
  return value;
}

/* A polynomial of degree k a direction on a box, known at the unknowns alone, comes out at all nodes of all cells. */
static void check_polynomials(const TesMesh *forest, int degree) {
  TesSpace *space;
  assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = forest, .degree = degree}, &space));
  const int64_t length = tes_space_length(space), cells = tes_mesh_info(forest).cells;
  const int nodes = space->view->cell_nodes, n = degree + 1, dim = space->dim;
  double *u = malloc((size_t)length * sizeof *u), *x = malloc((size_t)(nodes * dim) * sizeof *x),
         *xi = malloc((size_t)(nodes * dim) * sizeof *x), local[MOST];
  for (int64_t i = 0; i < length; i++) u[i] = NAN;
  for (int p = 0; p < nodes; p++)
    for (int d = 0; d < dim; d++)
      xi[p * dim + d] = space->view->node[(const int[3]){p % n, p / n % n, p / n / n}[d]];
  for (int pass = 0; pass < 2; pass++)
    for (int64_t cell = 0; cell < cells; cell++) {
      tesi_mesh_map(forest, cell, nodes, xi, x);
      if (pass) tesi_cells_read(space->view, cell, u, local);
      for (int p = 0; p < nodes; p++) {
        const double value = polynomial(dim, degree, x + p * dim);
        const int32_t raw = space->view->index[cell * nodes + p];
        if (pass)
          assert_near(local[p], value, 1e-11 * (1 + fabs(value)));
        else if (!tesi_hanging_directions(dim, n, space->view->mask[cell],
                                          (const int[3]){p % n, p / n % n, p / n / n}))
          u[raw < 0 ? -1 - raw : raw] = value;
      }
    }
  free(u);
  free(x);
  free(xi);
  tes_space_destroy(&space);
}

/* All degrees, many random forests: trees in mixed orientations. */
static void test_lattices(void **state) {
  (void)state;
  uint64_t seed = 7;
  int forests = 0;
  for (int dim = 2; dim <= 3; dim++)
    for (int degree = 1; degree <= 8; degree++)
      for (int trial = 0; trial < (test_brief() ? 2
                                   : dim == 2   ? 12
                                   : degree < 4 ? 8
                                                : 3);
           trial++, forests++) {
        const int n[3] = {1 + test_below(&seed, 2), 1 + test_below(&seed, 3), 1 + test_below(&seed, 2)};
        const int64_t most = dim == 2 ? 200 : degree < 4 ? 150 : 40;
        TesMesh *forest;
        test_lattice(ctx, dim, n, 0.2, &seed, &forest);
        for (int pass = 0; pass < 3; pass++)
          test_adapt(ctx, &seed, dim == 2 ? 0.3 : 0.15, 0.1, most, &forest);
        compare(forest, degree, NULL, &seed);
        check_transpose(forest, degree, &seed);
        tes_mesh_destroy(&forest);
      }
  print_message("%d random forests\n", forests);
}

static void test_boxes(void **state) {
  (void)state;
  uint64_t seed = 11;
  for (int dim = 2; dim <= 3; dim++)
    for (int degree = 1; degree <= 8; degree++)
      for (int trial = 0; trial < 3 && test_degree(degree); trial++) {
        const double period[3] = {trial & 1 ? 1 : 0, trial & 2 ? 1 : 0, trial & 1 ? 1 : 0};
        TesMesh *forest;
        const TesMeshDesc desc = {.kind = TES_MESH_FOREST,
                                  .dim = dim,
                                  .refine = 1,
                                  .cells = {1 + test_below(&seed, 2), 1 + test_below(&seed, 3), 1},
                                  .periodic = {trial & 1, trial >> 1 & 1, trial & 1}};
        assert_ok(ctx, tes_mesh_create(ctx, &desc, &forest));
        for (int pass = 0; pass < 2; pass++) test_adapt(ctx, &seed, 0.2, 0.1, dim == 2 ? 150 : 40, &forest);
        compare(forest, degree, period, &seed);
        if (trial == 0) check_polynomials(forest, degree);
        tes_mesh_destroy(&forest);
      }
}

static void test_domains(void **state) {
  (void)state;
  uint64_t seed = 13;
  static const TesDomain domains[] = {TES_DOMAIN_BALL, TES_DOMAIN_SHELL, TES_DOMAIN_L_SHAPE,
                                      TES_DOMAIN_FICHERA, TES_DOMAIN_CHANNEL};
  for (int dim = 2; dim <= 3; dim++)
    for (size_t i = 0; i < sizeof domains / sizeof *domains; i++)
      for (int degree = 1; degree <= 4; degree++) {
        TesMesh *forest;
        assert_ok(ctx, tes_mesh_create(
                           ctx,
                           &(TesMeshDesc){
                               .kind = TES_MESH_FOREST, .domain = domains[i], .dim = dim, .refine = dim == 2},
                           &forest));
        for (int pass = 0; pass < 2; pass++) test_adapt(ctx, &seed, 0.2, 0.1, dim == 2 ? 300 : 100, &forest);
        compare(forest, degree, NULL, &seed);
        tes_mesh_destroy(&forest);
      }
}

/* Nodes on Dirichlet faces, by position: the box [0, 1]^dim with conditions at x = 0 alone. */
static void test_dirichlet(void **state) {
  (void)state;
  uint64_t seed = 17;
  static const char *const left[] = {"left", NULL}, *const none[] = {NULL};
  uint8_t given[16];
  for (int dim = 2; dim <= 3; dim++) {
    TesMesh *forest;
    TesSpace *space;
    assert_ok(
        ctx, tes_mesh_create(ctx, &(TesMeshDesc){.kind = TES_MESH_FOREST, .dim = dim, .refine = 1}, &forest));
    for (int pass = 0; pass < 2; pass++) test_adapt(ctx, &seed, 0.3, 0, 100, &forest);
    assert_ok(ctx,
              tes_space_create(
                  ctx,
                  &(TesSpaceDesc){.mesh = forest, .degree = 3, .given = test_given(ctx, forest, left, given)},
                  &space));
    int64_t seen = 0;
    char *at_left = calloc((size_t)space->length, 1);
    for (int64_t cell = 0; cell < space->view->cells; cell++)
      for (int p = 0; p < space->view->cell_nodes; p++) {
        const int i[3] = {p % 4, p / 4 % 4, p / 16};
        double xi[3], x[3];
        if (tesi_hanging_directions(dim, 4, space->view->mask[cell], i)) continue;
        for (int d = 0; d < dim; d++) xi[d] = space->view->node[i[d]];
        tesi_mesh_map(forest, cell, 1, xi, x);
        const int32_t raw = space->view->index[cell * space->view->cell_nodes + p];
        assert_int_equal(raw < 0, x[0] < 1e-12);
        if (raw < 0 && !at_left[-1 - raw]) seen += at_left[-1 - raw] = 1;
      }
    assert_int_equal(space->dofs, space->length - seen);
    assert_true(tes_space_given(space, 0) && !tes_space_given(space, 1));
    free(at_left);
    tes_space_destroy(&space);
    assert_ok(ctx,
              tes_space_create(
                  ctx,
                  &(TesSpaceDesc){.mesh = forest, .degree = 2, .given = test_given(ctx, forest, none, given)},
                  &space));
    assert_int_equal(space->dofs, space->length);
    tes_space_destroy(&space);
    int number;
    assert_int_equal(tes_mesh_find_boundary(forest, "lift", &number), TES_INVALID_INPUT);
    assert_non_null(strstr(tes_context_message(ctx), "left, right"));
    tes_context_clear(ctx);
    assert_int_equal(tes_space_create(ctx, &(TesSpaceDesc){.mesh = forest, .degree = 9}, &space),
                     TES_INVALID_INPUT);
    tes_context_clear(ctx);
    tes_mesh_destroy(&forest);
  }
}

/* Hanging nodes by hand: one of 4 (8) cells refined. 2D: two coarse edges, 2k - 1 nodes each. 3D: three coarse
 * faces, (2k-1)^2 each, and those nine of the refined cell's twelve edges that a coarse cell has too. */
static void test_hanging_count(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int k = 1; k <= 3; k++) {
      TesMesh *uniform, *forest;
      TesSpace *space;
      int8_t mark[8] = {1};
      assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.kind = TES_MESH_FOREST, .dim = dim, .refine = 1},
                                     &uniform));
      assert_ok(ctx, tes_mesh_adapt(uniform, mark, &forest));
      assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = forest, .degree = k}, &space));
      const int fine = 2 * k - 1;
      assert_int_equal(tes_space_hanging(space), dim == 2 ? 2 * fine : 3 * fine * fine + 9 * fine);
      tes_space_destroy(&space);
      tes_mesh_destroy(&uniform);
      tes_mesh_destroy(&forest);
    }
}

int main(void) {
  assert_int_equal(tes_context_create(NULL, &ctx, NULL, 0), TES_OK);
  if (!test_has_forests(ctx)) {
    print_message("built without p4est\n");
    tes_context_destroy(&ctx);
    return 0;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_hanging_count), cmocka_unit_test(test_dirichlet),
                                     cmocka_unit_test(test_boxes), cmocka_unit_test(test_domains),
                                     cmocka_unit_test(test_lattices)};
  const int failures = cmocka_run_group_tests(tests, NULL, NULL);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
  return failures;
}
