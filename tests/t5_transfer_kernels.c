/* Run: ctest -R t5_transfer_kernels. Transfers by kernels against the dense embedding: emulator, and a GPU where
 * there is one. Brief: one precision, in turns.
 * Quick: 1-3,6
 * Labels: heavy */
#include "device/emulator/fiber.h"
#include "kernel_testing.h"
#include "transfer/transfer.h"

static const char *const devices[] = {"emulator", "cuda"};

/* Wide, narrow end: all cells alike but the last, as odd numbers of equal cells become. Of an odd number the last one
 * stays single where it is wide, else the last three become one. */
enum { EQUAL, GRADED, WIDE_END, NARROW_END };

typedef struct Case {
  int dim, degree, cells[3], widths;
  bool natural;
} Case;

static TesSpace *make_space(TesContext *ctx, const Case *c) {
  TesMesh *mesh;
  TesSpace *space;
  double x[3][32];
  TesMeshDesc box = {.dim = c->dim};
  for (int d = 0; d < c->dim; d++) {
    const int n = box.cells[d] = c->cells[d];
    box.upper[d] = n * (1 + 0.2 * d); /* so alike that all directions are halved */
    for (int i = 0; i <= n; i++)
      x[d][i] = c->widths == GRADED ? i + 0.3 * sin(2.0 * i + d)
                                    : i + (c->widths == WIDE_END ? 0.7 : -0.4) * (i == n);
    if (c->widths != EQUAL) box.coordinates[d] = x[d];
  }
  assert_int_equal(tes_mesh_create(ctx, &box, &mesh), TES_OK);
  TesSpaceDesc desc = {.mesh = mesh, .degree = c->degree};
  uint8_t given[6] = {1, 1, 1, 1, 1, 1};
  for (int f = 0; f < 2 * c->dim; f += 3) given[f] = !(c->natural);
  desc.given = given;
  assert_int_equal(tes_space_create(ctx, &desc, &space), TES_OK);
  tes_mesh_destroy(&mesh);
  return space;
}

static void run_case(TesContext *ctx, const Case *c, TesPrecision precision) {
  TesSpace *fine = make_space(ctx, c), *coarse;
  TesTransfer *transfer;
  assert_int_equal(tes_space_coarsen(fine, &coarse), TES_OK);
  if (!coarse) coarse = make_space(ctx, c); /* nothing to halve: the embedding is the identity */
  const TesTransferDesc desc = {.coarse = coarse, .fine = fine, .precision = precision};
  if (tes_transfer_create(ctx, &desc, &transfer) != TES_OK) fail_msg("%s", tes_context_message(ctx));
  const double tolerance = precision == TES_DOUBLE ? 1e-13 : 2e-6;
  uint64_t seed = 7;
  TesVector *u = test_random_vector(ctx, coarse, precision, &seed),
            *v = test_random_vector(ctx, fine, precision, &seed),
            *w = test_random_vector(ctx, fine, precision, &seed),
            *r = test_random_vector(ctx, coarse, precision, &seed),
            *s = test_random_vector(ctx, coarse, precision, &seed);
  for (int add = 0; add < 2; add++) {
    if (add) assert_int_equal(tes_vector_copy(w, 1, v), TES_OK);
    if (!add) assert_int_equal(tes_vector_fill(v, NAN), TES_OK);
    assert_int_equal(tes_transfer_prolongate(transfer, u, add, v), TES_OK);
    assert_int_equal(tesi_transfer_prolongate_ref(transfer, u, add, w), TES_OK);
    test_compare(v, w, tolerance, "prolongate", c->degree);
  }
  assert_int_equal(tes_vector_fill(r, NAN), TES_OK);
  assert_int_equal(tes_transfer_restrict(transfer, v, r), TES_OK);
  assert_int_equal(tesi_transfer_restrict_ref(transfer, v, s), TES_OK);
  test_compare(r, s, tolerance, "restrict", c->degree);
  tes_vector_destroy(&u);
  tes_vector_destroy(&v);
  tes_vector_destroy(&w);
  tes_vector_destroy(&r);
  tes_vector_destroy(&s);
  tes_transfer_destroy(&transfer);
  tes_space_destroy(&fine);
  tes_space_destroy(&coarse);
}

static void kernels_equal_the_embedding(void **state) {
  (void)state;
  static const int sizes[][3] = {{4, 6, 4}, {8, 4, 2}, {4, 3, 4}, {5, 3, 3}},
                   odd[][3] = {{5, 7, 3}, {7, 4, 5}};
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    for (int dim = 2; ctx && dim <= 3; dim++)
      for (int degree = 1; degree <= (dim == 3 ? 9 : 16); degree += degree < 10 ? 1 : 6)
        if (test_degree(degree)) {
          const int s = degree == 3 ? 3 : dim == 3 && degree > 4 ? 2 : degree % 3;
          const Case c = {dim, degree, {sizes[s][0], sizes[s][1], sizes[s][2]}, degree % 2, degree % 4 > 1};
          const bool single = (degree + dim * test_brief()) % 3 == 0;
          tesi_fiber_order((TesiOrder)(degree % 3), (uint64_t)degree);
          run_case(ctx, &c, single ? TES_SINGLE : TES_DOUBLE);
          if (d && !test_brief()) run_case(ctx, &c, single ? TES_DOUBLE : TES_SINGLE);
          for (int o = 0; o < 2; o++) {
            const int *n = odd[(degree + o) % 2];
            const Case last = {dim, degree, {n[0], n[1], n[2]}, (o + degree) % 4, degree % 4 > 1};
            if (dim == 2 || degree < 4 || o == degree % 2)
              run_case(ctx, &last, single ? TES_SINGLE : TES_DOUBLE);
          }
        }
    tes_context_destroy(&ctx);
  }
  tesi_fiber_order(TESI_ORDER_FORWARD, 1);
}

/* Equal cells: one pass, with the blocks of small and of large boxes, which cover these boxes only in part. */
static void one_pass_equals_the_embedding(void **state) {
  (void)state;
  for (int large = 0; large < 2; large++) {
    if (large) setenv("TESSERA_TRANSFER", "large", 1);
    for (int d = 0; d < 2; d++) {
      TesContext *ctx = test_device(devices[d]);
      for (int degree = 1; ctx && degree <= 8; degree++)
        if (test_degree(degree)) {
          const Case c = {3, degree, {degree < 4 ? 14 : 6, 4, degree < 3 ? 10 : 2}, false, degree % 2};
          tesi_fiber_order((TesiOrder)(degree % 3), (uint64_t)degree);
          const bool single = (degree + large * test_brief()) % 3 == 0;
          run_case(ctx, &c, single ? TES_SINGLE : TES_DOUBLE);
          if (d && !test_brief()) run_case(ctx, &c, single ? TES_DOUBLE : TES_SINGLE);
        }
      tes_context_destroy(&ctx);
    }
    unsetenv("TESSERA_TRANSFER");
  }
  tesi_fiber_order(TESI_ORDER_FORWARD, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_equal_the_embedding),
                                     cmocka_unit_test(one_pass_equals_the_embedding)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
