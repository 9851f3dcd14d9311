/* Run: ctest -R t7_ranks. Sums over entries are sums over all ranks: twins are two ranks with the same part, of which
 * one is here and the other is made up by doubling its sums. What does not depend on how often a part is there stays
 * as it is (iterations, relative residuals, means), squares of errors and integrals double; a sum that forgets the
 * others breaks one of them. And ranks other than the first are silent. Numbers of entries of all ranks pass 32
 * bits. */
#include <stdio.h>
#include "parallel/rank_slices.h"
#include "space/space.h"
#include "tessera/tessera.h"
#include "testing.h"

static int calls;

static void reduce(const TesCommunicator *communicator, TesiReduction reduction, int n, double *values) {
  for (int i = 0; i < n && reduction == TESI_SUM; i++) values[i] *= communicator->size;
  calls++;
}

static const TesiCommTable table = {.reduce = reduce};
static const TesCommunicator twins = {.table = &table, .rank = 0, .size = 2};

typedef struct Case {
  TesMeshKind kind;
  TesMethod method;
  TesSolvePrecision precision;
  bool neumann; /* a solution up to a constant */
  const char *a;
  double scale; /* of f */
} Case;

/* What is compared. */
typedef struct Told {
  int iterations, reductions;
  double history[64], l2, h1, mean, integral;
} Told;

static double value(TesContext *ctx, const TesProblem *problem, TesValueKind kind) {
  double value;
  assert_ok(ctx, tes_problem_value(problem, &(TesValue){.kind = kind}, &value));
  return value;
}

/* False: a build without this kind of mesh. */
static bool solve(const TesCommunicator *communicator, const Case *is, Told *told) {
  TesContext *ctx;
  TesMesh *mesh;
  TesProblem *problem;
  TesFunction *exact, *a, *f;
  TesSolveResult result;
  char text[200];
  const TesContextDesc here = {.device = "cpu", .verbosity = TES_QUIET, .communicator = communicator};
  const TesMeshDesc box = {
      .kind = is->kind, .dim = 2, .cells = {16, 16}}; /* levels are alike where it counts twice */
  calls = 0;
  assert_int_equal(tes_context_create(&here, &ctx, NULL, 0), TES_OK);
  const TesStatus status = tes_mesh_create(ctx, &box, &mesh);
  if (status == TES_MISSING) {
    tes_context_destroy(&ctx);
    return false;
  }
  assert_ok(ctx, status);
  /* of a = 1; u has no normal derivative on the boundary */
  snprintf(text, sizeof text, "%g*2*pi*pi*cos(pi*x)*cos(pi*y)", is->scale);
  assert_ok(ctx, tes_function_create_expression(ctx, text, &f));
  snprintf(text, sizeof text, "%g*cos(pi*x)*cos(pi*y)", is->scale);
  assert_ok(ctx, tes_function_create_expression(ctx, text, &exact));
  assert_ok(ctx, tes_function_create_expression(ctx, is->a ? is->a : "1", &a));
  const TesBoundary natural = {.condition = TES_NEUMANN}, given = {.condition = TES_DIRICHLET, .g = {exact}};
  const TesProblemDesc desc = {
      .mesh = mesh,
      .degree = 3,
      .data = {.a = a, .f = {f}},
      .boundaries = 1,
      .boundary = is->neumann ? &natural : &given,
      .exact = {exact},
      .solver = {.method = is->method, .tolerance = 1e-10, .precision = is->precision}};
  assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
  assert_ok(ctx, tes_problem_solve(problem, &result));
  *told = (Told){.iterations = result.iterations,
                 .mean = value(ctx, problem, TES_VALUE_MEAN),
                 .integral = value(ctx, problem, TES_VALUE_INTEGRAL)};
  assert_in_range(result.iterations, 1, 63);
  for (int i = 0; i <= result.iterations; i++) told->history[i] = result.residuals[i];
  assert_ok(ctx, tes_problem_errors(problem, &told->l2, &told->h1));
  told->reductions = calls;
  tes_problem_destroy(&problem);
  tes_function_destroy(&exact);
  tes_function_destroy(&a);
  tes_function_destroy(&f);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
  return true;
}

static void sums_are_of_all_ranks(void **state) {
  (void)state;
  static const Case cases[] = {{TES_MESH_BOX, TES_METHOD_FMG, TES_SOLVE_MIXED, false, NULL, 1},
                               {TES_MESH_BOX, TES_METHOD_VCYCLE, TES_SOLVE_DOUBLE, true, NULL, 1},
                               {TES_MESH_BOX, TES_METHOD_CG, TES_SOLVE_DOUBLE, false, NULL, 1e-200},
                               {TES_MESH_BOX, TES_METHOD_GMRES, TES_SOLVE_DOUBLE, false, "1 + x*y/2", 1},
                               {TES_MESH_FOREST, TES_METHOD_AUTO, TES_SOLVE_MIXED, false, NULL, 1},
                               {TES_MESH_FOREST, TES_METHOD_CG, TES_SOLVE_DOUBLE, true, NULL, 1},
                               {TES_MESH_FOREST, TES_METHOD_GMRES, TES_SOLVE_DOUBLE, false, "2 - x", 1}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    Told alone, both;
    if (!solve(NULL, &cases[c], &alone)) continue;
    assert_true(solve(&twins, &cases[c], &both));
    assert_int_equal(alone.reductions, 0);
    assert_true(both.reductions > both.iterations);
    if (both.iterations != alone.iterations)
      fail_msg("case %zu: %d iterations, not %d", c, both.iterations, alone.iterations);
    for (int i = 0; i <= alone.iterations; i++) {
      const double expected = alone.history[i];
      if (!(fabs(both.history[i] - expected) <= (cases[c].precision ? 1e-13 : 1e-8) + 1e-6 * expected))
        fail_msg("case %zu: residual %d is %.15g, not %.15g", c, i, both.history[i], expected);
    }
    assert_near(both.l2, sqrt(2) * alone.l2, 1e-6 * alone.l2);
    assert_near(both.h1, sqrt(2) * alone.h1, 1e-6 * alone.h1);
    assert_near(both.mean, alone.mean, 1e-9 * cases[c].scale);
    assert_near(both.integral, 2 * alone.integral, 1e-9 * cases[c].scale);
  }
}

static void count_lines(void *user, TesLogLevel level, const char *line) {
  (void)level;
  (void)line;
  ++*(int *)user;
}

static void the_first_rank_speaks(void **state) {
  (void)state;
  for (int rank = 0; rank < 2; rank++) {
    TesContext *ctx;
    int lines = 0;
    const TesCommunicator one = {.table = &table, .rank = rank, .size = 2};
    const TesContextDesc desc = {.device = "cpu", .log = count_lines, .log_user = &lines, .communicator = &one};
    assert_int_equal(tes_context_create(&desc, &ctx, NULL, 0), TES_OK);
    tesi_log(ctx, TES_LOG_WARNING, "a line");
    assert_int_equal(lines, rank == 0);
    tes_context_destroy(&ctx);
  }
}

/* ---- numbers beyond 32 bits ---------------------------------------------------------------------------- */

static TesiMessage sent;
static int messages;

static void begin(const TesCommunicator *communicator, int n, const TesiMessage *message) {
  (void)communicator;
  messages = n;
  if (n) sent = message[n - 1];
  for (int i = 0; i < n; i++) memset(message[i].received, 0, (size_t)message[i].bytes);
}

static void end(const TesCommunicator *communicator) {
  (void)communicator;
}

static bool meet(const TesCommunicator *communicator, double seconds, int own, int *all) {
  (void)seconds;
  for (int i = 0; i < communicator->size; i++) all[i] = own;
  return true;
}

static void broadcast(const TesCommunicator *communicator, int root, int64_t bytes, void *data) {
  (void)communicator, (void)root, (void)bytes, (void)data;
}

static const TesiCommTable alike = {reduce, begin, end, broadcast, meet, NULL};

/* The last of 40,000 ranks has a layer of cells of a box with 9.6e9 nodes. */
static void entries_of_a_box_pass_32_bits(void **state) {
  (void)state;
  const TesCommunicator last = {.table = &alike, .rank = 39999, .size = 40000};
  const int64_t row = 2 * 60000 + 1, rows = 2 * 40000 + 1;
  TesContext *ctx;
  TesMesh *mesh;
  TesSpace *space;
  double *number = NULL;
  assert_int_equal(
      tes_context_create(&(TesContextDesc){.device = "cpu", .communicator = &last}, &ctx, NULL, 0), TES_OK);
  const TesMeshDesc box = {.kind = TES_MESH_BOX, .dim = 2, .cells = {60000, 40000}};
  assert_ok(ctx, tes_mesh_create(ctx, &box, &mesh));
  assert_true(tes_mesh_info(mesh).all_cells == INT64_C(2400000000));
  assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 2}, &space));
  const TesiLayout *layout = space->layout;
  assert_true(layout->length == 3 * row && layout->owned == 2 * row);
  assert_true(layout->block[0].first == (rows - 2) * row);
  assert_true(layout->global == 40000 * 2 * row); /* this rank's nodes, counted as often as there are ranks */
  assert_ok(ctx, tesi_layout_numbers(layout, &number));
  assert_true((int64_t)number[layout->length - 1] == rows * row - 1);
  tesi_free(ctx, &number);
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
}

static double others[4]; /* counts of the other ranks, from place 1 on */

static void add_others(const TesCommunicator *communicator, TesiReduction reduction, int n, double *values) {
  for (int i = 0; i < n && n == communicator->size + 1 && reduction == TESI_SUM; i++) values[i] += others[i];
}

/* Ranks have 3e9, 8 and 2e9 numbers; four of them, in the second rank, go to the first rank. */
static void slices_pass_32_bits(void **state) {
  (void)state;
  static const TesiCommTable counted = {add_others, begin, end, broadcast, meet, NULL};
  static const double count[] = {3e9, 8, 2e9};
  double part[8] = {0}, slice[4] = {0};
  for (int rank = 0; rank < 2; rank++) {
    const TesCommunicator three = {.table = &counted, .rank = rank, .size = 3};
    TesContext *ctx;
    TesiSlices slices;
    for (int r = 0; r < 3; r++) others[r + 1] = r == rank ? 0 : count[r];
    assert_int_equal(
        tes_context_create(&(TesContextDesc){.device = "cpu", .communicator = &three}, &ctx, NULL, 0), TES_OK);
    assert_ok(ctx, tesi_slices_create(ctx, (int64_t)count[rank], &slices));
    assert_true(slices.first == (rank ? INT64_C(3000000000) : 0) && slices.all == INT64_C(5000000008));
    assert_ok(ctx, tesi_slices_collect(&slices, sizeof *part, part, INT64_C(3000000002), 4, slice));
    assert_int_equal(messages, 1);
    assert_int_equal(sent.rank, 1 - rank);
    assert_int_equal(sent.bytes, sizeof slice);
    if (rank)
      assert_ptr_equal(sent.sent, part + 2);
    else
      assert_ptr_equal(sent.received, slice);
    tesi_slices_free(&slices);
    tes_context_destroy(&ctx);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_are_of_all_ranks), cmocka_unit_test(the_first_rank_speaks),
      cmocka_unit_test(entries_of_a_box_pass_32_bits), cmocka_unit_test(slices_pass_32_bits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
