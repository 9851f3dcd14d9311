/* Run: ctest -R t4_mapped_ladder. The kernels of the ladder of tensor-product-bp-swirydowicz-2019 (bench/kernels)
 * against the plain operator:
 * all rungs, BP1, BP3 and BP5 with mass or without, both precisions; on the emulator with the threads in several
 * orders, and on a GPU where there is one. Outputs are poisoned beforehand. Brief: one problem a rung, of the
 * degrees named.
 * Quick: 2-3
 * Labels: heavy */
#include "device/emulator/fiber.h"
#include "kernel_testing.h"
#include "kernels/mapped_ladder.h"
#include "operator/mapped/mapped.h"
#include "operator/operator.h"

static void must(TesContext *ctx, TesStatus status) {
  if (status != TES_OK) fail_msg("%s\n%s", tes_context_message(ctx), tes_context_trace(ctx));
}

static TesMesh *make_mesh(TesContext *ctx) {
  TesMesh *mesh;
  const TesMeshDesc desc = {
      .kind = TES_MESH_CELLS, .dim = 3, .cells = {3, 2, 1}, .seed = 11, .perturbation = 0.15};
  must(ctx, tes_mesh_create(ctx, &desc, &mesh));
  return mesh;
}

static void check(TesContext *ctx, const TesiMappedDesc *desc, int rung) {
  TesOperator *op;
  BenchMappedLadder ladder;
  must(ctx, tesi_mapped_create(ctx, desc, &op));
  must(ctx, bench_mapped_ladder_of(op, rung, &ladder));
  TesVector *x = test_vector_of(ctx, op, 1), *y = test_vector_of(ctx, op, 2), *z = test_vector_of(ctx, op, 3);
  must(ctx, tes_vector_fill(y, NAN));
  must(ctx, bench_mapped_ladder_run(ctx, &ladder, tes_mesh_info(desc->mesh).cells, x->data, y->data));
  must(ctx, tesi_operator_apply_ref(op, x, z));
  test_compare(y, z, desc->precision == TES_DOUBLE ? 1e-12 : 1e-5, bench_mapped_rungs[rung].name,
               desc->degree);
  bench_mapped_ladder_release(ctx, &ladder);
  tes_vector_destroy(&x);
  tes_vector_destroy(&y);
  tes_vector_destroy(&z);
  tes_operator_destroy(&op);
}

/* Whether a rung can do this problem; the degree: planes of threads of degrees 6 and 7 have rows of 8 numbers, which
 * are padded. */
static bool choose(int i, int *rung, int *bp, int *degree) {
  *rung = i % BENCH_MAPPED_RUNGS;
  *bp = i / BENCH_MAPPED_RUNGS % 3; /* BP1, BP3, BP5 */
  const bool cube = bench_mapped_rungs[*rung].cube,
             padded = !cube && bench_mapped_rungs[*rung].level >= 4 && *bp != *rung % 3;
  *degree = padded ? (*bp == 2 ? 7 : 6) : 1 + (*rung + 2 * *bp) % (cube ? 4 : 5);
  if (test_brief() && *bp != (*rung + 1) % 3) return false;
  return !bench_mapped_rung_refuses(*rung, *degree + 1 + (*bp < 2), *bp == 2) && test_degree(*degree);
}

static void rungs_equal_the_plain_operator(void **state) {
  (void)state;
  static const char *const devices[] = {"emulator", "cuda"};
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    if (!ctx) continue;
    TesMesh *mesh = make_mesh(ctx);
    for (int i = 0; i < 3 * BENCH_MAPPED_RUNGS; i++) {
      int rung, bp, degree;
      if (!choose(i, &rung, &bp, &degree)) continue;
      const TesiMappedDesc desc = {.mesh = mesh,
                                   .degree = degree,
                                   .terms = bp == 0                ? TESI_MASS
                                            : (rung + bp) % 2 == 0 ? TESI_STIFFNESS_MASS
                                                                   : TESI_STIFFNESS,
                                   .collocated = bp == 2,
                                   .points = degree + 1 + (bp < 2),
                                   .lambda = 1.7,
                                   .precision = i % 4 == 3 ? TES_SINGLE : TES_DOUBLE,
                                   .form = TESI_ELEMENT_VECTORS,
                                   .factors = TES_FACTORS_STORED};
      tesi_fiber_order((TesiOrder)(i % 3), (uint64_t)i);
      check(ctx, &desc, rung);
    }
    tesi_fiber_order(TESI_ORDER_FORWARD, 1);
    tes_mesh_destroy(&mesh);
    tes_context_destroy(&ctx);
  }
}

static void other_forms_are_refused(void **state) {
  (void)state;
  TesContext *ctx = test_device("emulator");
  if (!ctx) return;
  TesMesh *mesh = make_mesh(ctx);
  TesOperator *op;
  BenchMappedLadder ladder;
  const TesiMappedDesc desc = {.mesh = mesh, .degree = 2, .factors = TES_FACTORS_STORED}; /* global vectors */
  must(ctx, tesi_mapped_create(ctx, &desc, &op));
  assert_int_equal(bench_mapped_ladder_of(op, 1, &ladder), TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "the ladder's kernels are for element vectors"));
  tes_operator_destroy(&op);
  assert_int_equal(bench_mapped_rung_find("cubes"), -1);
  assert_non_null(bench_mapped_rung_refuses(bench_mapped_rung_find("cube_shared"), 11, false));
  assert_null(bench_mapped_rung_refuses(bench_mapped_rung_find("cube_shared"), 10, false));
  assert_non_null(bench_mapped_rung_refuses(bench_mapped_rung_find("split"), 3, true));
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
}

/* Numbers of shared memory, counted by hand for one cell of two points per direction. */
static void traffic_is_counted(void **state) {
  (void)state;
  /* matrices 8; two columns of 4 threads x 4 entries; 3 writes and 4 sums of 2 x (value, entry), 2 layers, 4 threads */
  assert_int_equal((int)bench_mapped_rung_traffic(bench_mapped_rung_find("unrolled"), 2, 2, true, true),
                   8 + 2 * 16 + 3 * 8 + 4 * 4 * 2 * 4);
  /* the same, half of the columns' entries, and in a sum one entry for both layers */
  assert_int_equal((int)bench_mapped_rung_traffic(bench_mapped_rung_find("symmetric"), 2, 2, true, true),
                   8 + 2 * 8 + 3 * 8 + 4 * 4 * 2 * 3);
  /* matrices 8; 6 sums of 2 x (value, entry) and 4 writes at 8 points */
  assert_int_equal((int)bench_mapped_rung_traffic(bench_mapped_rung_find("cube_shared"), 2, 2, true, true),
                   8 + 6 * 2 * 2 * 8 + 4 * 8);
  /* matrices 3 x (2 + 1), one node, two points: entries alone, n = 1 */
  assert_int_equal((int)bench_mapped_rung_traffic(bench_mapped_rung_find("split"), 1, 2, false, false),
                   3 * (2 + 4) + 1 * (2 + 4 + 8) + 2 * (4 + 2 + 1));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rungs_equal_the_plain_operator),
                                     cmocka_unit_test(other_forms_are_refused),
                                     cmocka_unit_test(traffic_is_counted)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
