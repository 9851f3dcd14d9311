/* Run: ctest -R t7_room. The memory of the next mesh, as an adaptive solve predicts it, beside what that mesh then
 * takes; and what a device without room ends with. On the processor and on the emulator, whose memory
 * TESSERA_EMULATOR_MIB bounds. */
#include <stdlib.h>
#include <string.h>
#include "device/blocks.h"
#include "problem/adapt/room.h"
#include "problem/problem.h"
#include "tessera/tessera.h"
#include "testing.h"

enum { STEPS = 4, FIXED = 1 << 18 /* bytes: what does not grow with the mesh, times its growth */ };

/* What each step held at most on the device in use, beyond what was held before, and its cells. */
typedef struct Steps {
  TesContext *context;
  int count;
  double cells[STEPS], bytes[STEPS];
} Steps;

static TesiUsage usage_of(TesContext *ctx) {
  return tesi_has_kernels(ctx) ? tesi_usage_device(ctx) : tesi_usage_host(ctx);
}

static TesStatus note(void *user, const TesAdaptStep *step) {
  Steps *s = user;
  s->cells[s->count] = (double)step->cells;
  s->bytes[s->count++] = (double)usage_of(s->context).high;
  return TES_OK;
}

/* 128 bits where they are built: work space and the last batch of a colour are as wide as vectors are, and do not
 * grow with the mesh; at 512 bits they are a twentieth of what 768 cells take. Cells of the L from degree 2 on have
 * one kind of factors, so that nothing is chosen by the clock. */
static TesContext *open(const char *device, const char *mib) {
  TesContext *ctx;
  setenv("TESSERA_EMULATOR_MIB", mib, 1);
  const TesContextDesc desc = {
      .device = device, .verbosity = TES_QUIET, .threads = 1, .simd_bits = test_narrow_simd()};
  assert_int_equal(tes_context_create(&desc, &ctx, NULL, 0), TES_OK);
  unsetenv("TESSERA_EMULATOR_MIB");
  return ctx;
}

/* Every cell of the L refined a step, so that the meshes grow by 4. */
static TesStatus run(TesContext *ctx, TesEstimator estimator, TesMethod method, int most, Steps *steps,
                     TesAdaptStep *last) {
  TesMesh *forest;
  const TesStatus status =
      tes_mesh_create(ctx, &(TesMeshDesc){.domain = TES_DOMAIN_L_SHAPE, .dim = 2, .refine = 2}, &forest);
  if (status == TES_MISSING) {
    tes_context_destroy(&ctx);
    skip();
  }
  assert_int_equal(status, TES_OK);
  *steps = (Steps){.context = ctx};
  const TesProblemDesc problem = {.mesh = forest, .degree = 2, .solver = {.method = method}};
  const TesAdaptDesc desc = {.estimator = estimator,
                             .goal = {.kind = TES_GOAL_POINT, .point = {-0.5, 0.5}},
                             .marking = TES_MARK_FRACTION,
                             .fraction = 1,
                             .steps = most,
                             .report = note,
                             .report_user = steps};
  const TesStatus outcome = tes_adapt_run(ctx, &problem, &desc, last);
  tes_mesh_destroy(&forest);
  return outcome;
}

/* In proportion to the cells: not below what comes, and at most a quarter above it, and the fixed part, from a thousand
 * unknowns on. */
static void predictions_hold(void **state) {
  (void)state;
  static const char *const devices[] = {"cpu", "emulator"};
  for (int d = 0; d < 2; d++)
    for (TesEstimator e = TES_ESTIMATE_RESIDUAL; e <= TES_ESTIMATE_DWR; e++) {
      TesContext *ctx = open(devices[d], "0");
      Steps s;
      TesAdaptStep last;
      const int steps = d ? STEPS - (int)e : STEPS; /* the emulator is slow */
      assert_ok(ctx, run(ctx, e, TES_METHOD_AUTO, steps, &s, &last));
      for (int i = 1; i < steps; i++) {
        const double predicted = 1.03 * s.bytes[i - 1] * s.cells[i] / s.cells[i - 1];
        print_message("%s, %s: %5.0f cells, %9.0f bytes, predicted %9.0f\n", devices[d],
                      e ? "goal" : "residual", s.cells[i], s.bytes[i], predicted);
        assert_true(predicted > s.bytes[i]);
        if (s.cells[i - 1] > 300) assert_true(predicted < 1.25 * s.bytes[i] + FIXED);
      }
      assert_int_equal(usage_of(ctx).held < 1 << 16, 1);
      tes_context_destroy(&ctx);
    }
}

/* The last of four meshes needs 1.6 MiB on the device. With 1 MiB the loop ends before it, with the third step as
 * its result; with 2 it fits. */
static void a_full_device_ends_the_loop(void **state) {
  (void)state;
  static const struct {
    const char *mib;
    TesMethod method;
    int steps;
  } limits[] = {{"1", TES_METHOD_AUTO, STEPS - 1}, {"2", TES_METHOD_AUTO, STEPS}};
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    TesContext *ctx = open("emulator", limits[i].mib);
    Steps s;
    TesAdaptStep last;
    const TesStatus outcome = run(ctx, TES_ESTIMATE_RESIDUAL, limits[i].method, STEPS, &s, &last);
    if (s.count != limits[i].steps || (outcome == TES_OK) != (s.count == STEPS))
      fail_msg("%s MiB: %d steps, %s", limits[i].mib, s.count, tes_context_message(ctx));
    assert_int_equal(last.step, s.count - 1);
    assert_int_equal(last.cells, s.cells[s.count - 1]);
    assert_true(last.estimate > 0 && last.iterations > 0);
    if (outcome != TES_OK) {
      assert_int_equal(outcome, TES_OUT_OF_MEMORY);
      assert_non_null(
          strstr(tes_context_message(ctx), "the next mesh, of 3072 cells and 12545 unknowns, needs about"));
    }
    tes_context_destroy(&ctx);
  }
}

/* Sums and marks: blocks in any order. */
static void blocks_are_counted(void **state) {
  (void)state;
  TesContext *ctx = open("cpu", "0");
  TesiBlocks blocks = {0};
  char place[700];
  for (int i = 0; i < 700; i++) assert_ok(ctx, tesi_blocks_add(ctx, &blocks, &place[i], 10));
  for (int i = 0; i < 700; i += 2) tesi_blocks_remove(&blocks, &place[i]);
  assert_int_equal(blocks.held, 3500);
  assert_int_equal(blocks.high, 7000);
  for (int i = 699; i > 0; i -= 2) tesi_blocks_remove(&blocks, &place[i]);
  tesi_blocks_remove(&blocks, &place[0]); /* not there any more */
  assert_int_equal(blocks.held, 0);
  assert_int_equal(blocks.count, 0);
  tesi_blocks_free(ctx, &blocks);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

/* What is optional does not count against the next mesh; what another mesh of this growth takes does. */
static void room_is_compared(void **state) {
  (void)state;
  TesContext *ctx = open("emulator", "1");
  TesVector *v;
  TesiRoom room;
  tesi_room_begin(ctx, &room);
  assert_ok(ctx, tes_vector_create(ctx, 1 << 16, TES_DOUBLE, &v)); /* half of the memory */
  assert_ok(ctx, tesi_room_check(ctx, &room, &(TesiNextMesh){.cells = 1, .dofs = 1, .growth = 1.9}));
  assert_int_equal(tesi_room_check(ctx, &room, &(TesiNextMesh){.cells = 1, .dofs = 1, .growth = 2}),
                   TES_OUT_OF_MEMORY);
  assert_non_null(strstr(tes_context_message(ctx), "on the device"));
  tes_context_clear(ctx);
  assert_ok(ctx, tesi_room_check(ctx, &room,
                                 &(TesiNextMesh){.cells = 1, .dofs = 1, .growth = 3, .spare = 1 << 18}));
  assert_int_equal(
      tesi_room_check(ctx, &room, &(TesiNextMesh){.cells = 1, .dofs = 1, .growth = 1e9, .spare = 1 << 19}),
      TES_OUT_OF_MEMORY);
  assert_non_null(strstr(tes_context_message(ctx), "on the host"));
  tes_context_clear(ctx);
  tes_vector_destroy(&v);
  assert_int_equal(tes_vector_create(ctx, 1 << 18, TES_DOUBLE, &v), TES_OUT_OF_MEMORY);
  assert_non_null(strstr(tes_context_message(ctx), "the emulator has no room"));
  tes_context_destroy(&ctx);
}

/* Of 20 columns of GMRES five must be there; conjugate gradients have nothing to spare. */
static void columns_can_be_spared(void **state) {
  (void)state;
  TesContext *ctx = open("emulator", "0");
  TesMesh *forest;
  TesProblem *problem;
  if (tes_mesh_create(ctx, &(TesMeshDesc){.domain = TES_DOMAIN_L_SHAPE, .dim = 2, .refine = 1}, &forest) !=
      TES_OK) {
    tes_context_destroy(&ctx);
    skip();
  }
  static const TesMethod methods[] = {TES_METHOD_GMRES, TES_METHOD_CG};
  for (int i = 0; i < 2; i++) {
    assert_ok(ctx, tes_problem_create(
                       ctx, &(TesProblemDesc){.mesh = forest, .degree = 2, .solver = {.method = methods[i]}},
                       &problem));
    const int64_t length = tes_space_length(tes_problem_space(problem));
    assert_int_equal(tesi_problem_spare(problem), i ? 0 : 15 * 16 * length);
    tes_problem_destroy(&problem);
  }
  tes_mesh_destroy(&forest);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_are_counted), cmocka_unit_test(room_is_compared),
                                     cmocka_unit_test(columns_can_be_spared),
                                     cmocka_unit_test(predictions_hold),
                                     cmocka_unit_test(a_full_device_ends_the_loop)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
