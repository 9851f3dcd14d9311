/* Run: ctest -R t7_mpi_grid. Boxes that ranks cut in several directions, by all grids of so many ranks, against one
 * rank: layouts, operators, sweeps to the last bit, levels, solves. A grid that leaves an exchange across a face, an
 * edge or a corner out fails.
 * Ranks: 2 4 6 8
 * Ranks on the emulator: 2 4 */
#include <stdio.h>
#include <stdlib.h>
#include "device/kernel.h"
#include "operator/operator.h"
#include "smoother/smoother.h"
#include "tessera/tessera.h"
#include "testing.h"
#include "mpi_testing.h"

typedef struct Case {
  int dim, cells[3], degree;
  bool periodic[3], graded;
  int most;     /* ranks */
  bool kernels; /* on devices with kernels too: the emulator takes its time */
} Case;

/* Coordinates are multiples of 1/8, so that widths have no round-off. Sweeps have the same bits where rows are whole;
 * else vectors of patches begin elsewhere in a row, and the last one is rounded differently. */
static const Case cases[] = {
    {2, {16, 16}, 2, {false}, false, 8, false},  {2, {32, 24}, 4, {false}, true, 8, false},
    {2, {8, 9}, 3, {false}, false, 8, true},     {2, {7, 6}, 1, {false}, false, 6, false},
    {3, {8, 8, 8}, 2, {false}, false, 8, false}, {3, {16, 6, 8}, 1, {false}, true, 8, false},
    {3, {1, 4, 5}, 3, {false}, false, 8, true},  {3, {4, 4, 4}, 4, {false}, false, 4, false}};
enum { CASES = sizeof cases / sizeof *cases };

typedef struct Parts {
  TesMesh *mesh;
  TesSpace *space;
  TesOperator *op;
  TesVector *x, *y, *r, *d;
} Parts;

static double *values_of(TesContext *ctx, const TesVector *v) {
  double *values = malloc((size_t)tes_vector_length(v) * sizeof *values);
  assert_ok(ctx, tes_vector_get(v, values));
  return values;
}

/* tolerance 0: the same bits. */
static void compare(const char *what, const TesVector *whole, const TesVector *part, const int64_t *match,
                    double tolerance) {
  double *x = values_of(alone, whole), *y = values_of(together, part), largest = 0, a, b;
  for (int64_t i = 0; i < tes_vector_length(whole); i++) largest = fmax(largest, fabs(x[i]));
  for (int64_t i = 0; i < tes_vector_length(part); i++)
    if (!(fabs(y[i] - x[match[i]]) <= tolerance * largest))
      fail_msg("%s: node %lld is %.17g, not %.17g", what, (long long)i, y[i], x[match[i]]);
  assert_ok(alone, tes_vector_norm(whole, &a));
  assert_ok(together, tes_vector_norm(part, &b));
  assert_near(b, a, fmax(tolerance, 1e-13) * a + 1e-300);
  free(x);
  free(y);
}

static void create(TesContext *ctx, const Case *is, const int grid[3], Parts *to) {
  double x[3][33];
  TesMeshDesc desc = {.kind = TES_MESH_BOX, .dim = is->dim};
  for (int d = 0; d < is->dim; d++) {
    for (int i = 0; i <= is->cells[d]; i++) x[d][i] = (is->graded ? i + i / 3 : i) / 8.;
    desc.cells[d] = is->cells[d], desc.coordinates[d] = x[d], desc.periodic[d] = is->periodic[d];
    desc.ranks_along[d] = grid ? grid[d] : 0;
  }
  assert_ok(ctx, tes_mesh_create(ctx, &desc, &to->mesh));
  const uint8_t given[6] = {1, 0, 0, 1, 1, 0};
  assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = to->mesh, .degree = is->degree, .given = given},
                                  &to->space));
  assert_ok(ctx, tes_operator_create(ctx, &(TesOperatorDesc){.space = to->space}, &to->op));
  TesVector **vectors[] = {&to->x, &to->y, &to->r, &to->d};
  for (int i = 0; i < 4; i++) assert_ok(ctx, tesi_operator_new_vector(to->op, TES_DOUBLE, vectors[i]));
}

static void release(Parts *of) {
  TesVector **vectors[] = {&of->x, &of->y, &of->r, &of->d};
  for (int i = 0; i < 4; i++) tes_vector_destroy(vectors[i]);
  tes_operator_destroy(&of->op);
  tes_space_destroy(&of->space);
  tes_mesh_destroy(&of->mesh);
}

/* A function of a node's number on one rank. */
static double noise(int64_t i) {
  return (double)(int64_t)(((uint64_t)i + 1) * 0x9e3779b97f4a7c15u >> 11) / 9007199254740992. - 0.25;
}

static void put_noise(const Parts *of, const int64_t *match, TesVector *v) {
  TesContext *ctx = of->op->context;
  const int64_t n = tes_vector_length(v);
  double *values = malloc((size_t)n * sizeof *values);
  const TesiCellView *view;
  assert_ok(ctx, tesi_space_cells(of->space, &view));
  for (int64_t i = 0; i < n; i++) values[i] = noise(match ? match[i] : i);
  for (int64_t i = 0; i < view->length - view->dofs; i++) values[view->constrained[i]] = 0;
  assert_ok(ctx, tes_vector_set(v, values));
  free(values);
}

static void check_layout(const Parts *whole, const Parts *part, const int64_t *match) {
  const TesiLayout *layout = part->space->layout;
  double *number, *copies = malloc((size_t)layout->length * sizeof *copies);
  assert_int_equal(layout->global, whole->space->length);
  assert_int_equal(tes_space_dofs(part->space), tes_space_dofs(whole->space));
  assert_int_equal(tesi_reduce_count(together, part->mesh->cells), whole->mesh->cells);
  assert_ok(together, tesi_layout_numbers(layout, &number));
  for (int64_t i = 0; i < layout->length; i++) assert_true((int64_t)number[i] == match[i]);
  for (int64_t i = 0; i < layout->length; i++) copies[i] = tesi_layout_owns(layout, i);
  tesi_exchange_sum(layout->shared, TES_DOUBLE, copies); /* each has one owner */
  for (int64_t i = 0; i < layout->length; i++) assert_true(copies[i] == 1);
  tesi_free(together, &number);
  free(copies);
}

static void check_operator(Parts *whole, Parts *part, const int64_t *match) {
  Parts *of[2] = {whole, part};
  for (int i = 0; i < 2; i++) {
    TesContext *ctx = of[i]->op->context;
    put_noise(of[i], i ? match : NULL, of[i]->x);
    assert_ok(ctx, tes_operator_apply(of[i]->op, of[i]->x, of[i]->y));
    assert_ok(ctx, tes_operator_residual(of[i]->op, of[i]->x, of[i]->x, of[i]->r));
    assert_ok(ctx, tes_operator_diagonal(of[i]->op, of[i]->d));
  }
  compare("A x", whole->y, part->y, match, 1e-14);
  compare("b - A x", whole->r, part->r, match, 1e-14);
  compare("diagonal", whole->d, part->d, match, 1e-14);
}

static void smooth(const Parts *of, const TesSmootherDesc *wanted, TesSweep sweep, const TesVector *b,
                   TesVector *x) {
  TesContext *ctx = of->op->context;
  TesSmoother *smoother;
  TesSmootherDesc desc = *wanted;
  desc.op = of->op;
  assert_ok(ctx, tes_smoother_create(ctx, &desc, &smoother));
  assert_ok(ctx, tes_vector_copy(of->x, 1, x));
  assert_ok(ctx, tes_smoother_apply(smoother, b, x, sweep, false));
  assert_ok(ctx, tes_smoother_apply(smoother, b, x, sweep, false));
  tes_smoother_destroy(&smoother);
}

/* b is the same in both to the last bit. */
static void check_sweeps(Parts *whole, Parts *part, const int64_t *match) {
  static const TesSmootherDesc desc[] = {{.kind = TES_SMOOTHER_PATCH},
                                         {.kind = TES_SMOOTHER_PATCH, .colours = TES_COLOURS_LEXICOGRAPHIC},
                                         {.kind = TES_SMOOTHER_PATCH, .unfused = true},
                                         {.kind = TES_SMOOTHER_PATCH_ADDITIVE, .omega = 0.25},
                                         {.kind = TES_SMOOTHER_CHEBYSHEV},
                                         {.kind = TES_SMOOTHER_JACOBI}};
  put_noise(whole, NULL, whole->d);
  put_noise(part, match, part->d);
  for (int i = 0; i < 2 * (int)(sizeof desc / sizeof *desc); i++) {
    const TesSmootherDesc *d = &desc[i / 2];
    smooth(whole, d, i % 2 ? TES_BACKWARD : TES_FORWARD, whole->d, whole->y);
    smooth(part, d, i % 2 ? TES_BACKWARD : TES_FORWARD, part->d, part->y);
    const bool bits = d->kind == TES_SMOOTHER_PATCH && !tesi_mesh_parted(part->mesh, 0);
    compare("a sweep", whole->y, part->y, match, bits ? 0 : 1e-13);
  }
}

static void check_cycles(Parts *whole, Parts *part, const int64_t *match) {
  Parts *of[2] = {whole, part};
  for (int precision = TES_DOUBLE; precision <= TES_SINGLE; precision++)
    for (int i = 0; i < 2; i++) {
      TesContext *ctx = of[i]->op->context;
      TesMultigrid *mg;
      TesSolver *solver;
      TesSolveResult result;
      static int iterations;
      const TesMultigridDesc levels = {
          .op = of[i]->op, .precision = (TesPrecision)precision, .symmetric = true};
      assert_ok(ctx, tes_multigrid_create(ctx, &levels, &mg));
      const TesSolverDesc desc = {
          .op = of[i]->op, .method = TES_METHOD_CG, .multigrid = mg, .tolerance = 1e-11};
      assert_ok(ctx, tes_solver_create(ctx, &desc, &solver));
      put_noise(of[i], i ? match : NULL, of[i]->r);
      assert_ok(ctx, tes_vector_fill(of[i]->x, 0));
      assert_ok(ctx, tes_solver_solve(solver, of[i]->r, of[i]->x, &result));
      if (i == 0) iterations = result.iterations;
      assert_in_range(result.iterations, 1, iterations + 1); /* cuts may keep all cells: then it is direct */
      tes_solver_destroy(&solver);
      tes_multigrid_destroy(&mg);
    }
  compare("x of a solve", whole->x, part->x, match, 1e-10);
}

/* Calls `check` for each case and each grid of all ranks that fits it. */
static void on_all_grids(void (*check)(Parts *, Parts *, const int64_t *)) {
  const int ranks = world->size;
  for (int c = 0; c < CASES; c++) {
    Parts whole, part;
    if (ranks > cases[c].most || (tesi_has_kernels(together) && !cases[c].kernels)) continue;
    create(alone, &cases[c], NULL, &whole);
    for (int p = 1; p <= ranks; p++)
      for (int q = 1; q <= ranks; q++) {
        const int grid[3] = {p, q, ranks / p / q};
        const Case *is = &cases[c];
        const bool fits = p * q * grid[2] == ranks && (is->dim == 3 || grid[2] == 1) && p <= is->cells[0] &&
                          q <= is->cells[1] && (is->dim == 2 || grid[2] <= is->cells[2]);
        if (!fits) continue;
        create(together, is, grid, &part);
        int64_t *match = match_nodes(whole.space, part.space);
        check(&whole, &part, match);
        free(match);
        release(&part);
      }
    release(&whole);
  }
}

static void layouts_are_one(void **state) {
  (void)state;
  on_all_grids((void (*)(Parts *, Parts *, const int64_t *))check_layout);
}

static void operators_are_one(void **state) {
  (void)state;
  on_all_grids(check_operator);
}

static void sweeps_have_the_same_bits(void **state) {
  (void)state;
  on_all_grids(check_sweeps);
}

static void solves_are_one(void **state) {
  (void)state;
  on_all_grids(check_cycles);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(layouts_are_one), cmocka_unit_test(operators_are_one),
                                     cmocka_unit_test(sweeps_have_the_same_bits),
                                     cmocka_unit_test(solves_are_one)};
  const int status = begin_on_ranks(NULL);
  if (status) return status;
  return end_on_ranks(cmocka_run_group_tests(tests, NULL, NULL));
}
