/* Run: ctest -R t5_transfer. Prolongation and restriction against dense embeddings; polynomials are embedded exactly.
 * Labels: threads */
#include <string.h>
#include "testing.h"
#include "tessera/tessera.h"

typedef struct Case {
  int dim, degree, cells[3];
  bool graded, natural;
} Case;

static TesSpace *make_space(TesContext *ctx, const Case *c) {
  TesMesh *mesh;
  TesSpace *space;
  double x[3][32];
  TesBoxDesc box = {.dim = c->dim, .lower = {0, -1, 2}, .upper = {1, 2, 3}};
  for (int d = 0; d < 3; d++) {
    box.cells[d] = c->cells[d];
    for (int i = 0; i <= c->cells[d]; i++) x[d][i] = i + 0.3 * sin(2.0 * i + d);
    if (c->graded) box.coordinates[d] = x[d];
  }
  assert_int_equal(tes_mesh_create_box(ctx, &box, &mesh), TES_OK);
  TesSpaceDesc desc = {.mesh = mesh, .degree = c->degree};
  for (int f = 0; f < 6; f += 3) desc.natural[f] = c->natural;
  assert_int_equal(tes_space_create(ctx, &desc, &space), TES_OK);
  tes_mesh_destroy(&mesh);
  return space;
}

static void fill_random(const TesSpace *space, TesVector *v, uint64_t *seed) {
  const int64_t n = tes_space_length(space);
  double *values = test_malloc((size_t)n * sizeof *values);
  const int nx = tes_space_nodes(space, 0), ny = tes_space_nodes(space, 1), nz = tes_space_nodes(space, 2);
  for (int64_t i = 0; i < n; i++) {
    const int at[3] = {(int)(i % nx), (int)(i / nx % ny), (int)(i / nx / ny)}, count[3] = {nx, ny, nz};
    values[i] = test_random(seed);
    for (int d = 0; d < tes_space_dim(space); d++)
      if ((at[d] == 0 && !tes_space_natural(space, 2 * d)) ||
          (at[d] == count[d] - 1 && !tes_space_natural(space, 2 * d + 1)))
        values[i] = 0;
  }
  assert_int_equal(tes_vector_set(v, values), TES_OK);
  test_free(values);
}

static void compare(const TesVector *a, const TesVector *b, double tolerance) {
  const int64_t n = tes_vector_length(a);
  double *x = test_malloc((size_t)n * sizeof *x), *y = test_malloc((size_t)n * sizeof *y);
  assert_int_equal(tes_vector_get(a, x), TES_OK);
  assert_int_equal(tes_vector_get(b, y), TES_OK);
  for (int64_t i = 0; i < n; i++) assert_near(x[i], y[i], tolerance);
  test_free(x);
  test_free(y);
}

static void run_case(const Case *c, TesPrecision precision, int threads, int bits) {
  TesContext *ctx;
  const TesContextDesc desc = {.threads = threads, .simd_bits = bits};
  assert_int_equal(tes_context_create(&desc, &ctx, NULL, 0), TES_OK);
  TesSpace *fine = make_space(ctx, c), *coarse;
  assert_int_equal(tes_space_coarsen(fine, &coarse), TES_OK);
  if (!coarse) coarse = make_space(ctx, c); /* nothing to halve: the embedding is the identity */
  TesTransfer *transfer;
  const TesTransferDesc td = {coarse, fine, precision};
  assert_int_equal(tes_transfer_create(ctx, &td, &transfer), TES_OK);
  TesVector *u, *v, *w, *r, *s;
  assert_int_equal(tes_vector_create(ctx, tes_space_length(coarse), precision, &u), TES_OK);
  assert_int_equal(tes_vector_create(ctx, tes_space_length(fine), precision, &v), TES_OK);
  assert_int_equal(tes_vector_create(ctx, tes_space_length(fine), precision, &w), TES_OK);
  assert_int_equal(tes_vector_create(ctx, tes_space_length(coarse), precision, &r), TES_OK);
  assert_int_equal(tes_vector_create(ctx, tes_space_length(coarse), precision, &s), TES_OK);
  uint64_t seed = 7;
  const double tolerance = precision == TES_DOUBLE ? 2e-13 : 1e-4;
  fill_random(coarse, u, &seed);
  assert_int_equal(tes_vector_fill(v, NAN), TES_OK);
  assert_int_equal(tes_transfer_prolongate(transfer, u, false, v), TES_OK);
  assert_int_equal(tes_transfer_prolongate_ref(transfer, u, false, w), TES_OK);
  compare(v, w, tolerance);
  fill_random(fine, v, &seed);
  assert_int_equal(tes_vector_copy(v, 1, w), TES_OK);
  assert_int_equal(tes_vector_fill(r, NAN), TES_OK);
  assert_int_equal(tes_transfer_restrict(transfer, v, r), TES_OK);
  assert_int_equal(tes_transfer_restrict_ref(transfer, v, s), TES_OK);
  compare(r, s, 20 * tolerance);
  assert_int_equal(tes_transfer_prolongate(transfer, u, true, v), TES_OK);
  assert_int_equal(tes_transfer_prolongate_ref(transfer, u, true, w), TES_OK);
  compare(v, w, tolerance);
  tes_vector_destroy(&u);
  tes_vector_destroy(&v);
  tes_vector_destroy(&w);
  tes_vector_destroy(&r);
  tes_vector_destroy(&s);
  tes_transfer_destroy(&transfer);
  tes_space_destroy(&fine);
  tes_space_destroy(&coarse);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

static void matches_dense_embedding(void **state) {
  (void)state;
  const int sizes[][3] = {{4, 4, 4}, {6, 4, 2}, {2, 3, 4}, {10, 6, 5}};
  for (int dim = 2; dim <= 3; dim++)
    for (int degree = 1; degree <= (dim == 2 ? 12 : 4); degree++)
      for (int s = 0; s < 4; s++) {
        if (dim == 3 ? s == 3 || (degree > 1 && s != 2) || degree > 3 : degree > 4 && s != 2) continue;
        const Case c = {dim, degree, {sizes[s][0], sizes[s][1], sizes[s][2]}, s % 2, s > 1};
        run_case(&c, TES_DOUBLE, 1 + s % 3, 0);
        run_case(&c, TES_SINGLE, 2, 128);
      }
}

/* A polynomial of degree k a direction is reproduced at every fine node: independent of the embedding's tables. */
static double polynomial(int k, double x, double y, double z) {
  return pow(1 + 0.3 * x, k) * pow(1 - 0.2 * y, k) + 0.1 * x * z;
}

static void sample(const TesSpace *space, double *values) {
  const int nx = tes_space_nodes(space, 0), ny = tes_space_nodes(space, 1);
  for (int64_t i = 0; i < tes_space_length(space); i++)
    values[i] = polynomial(tes_space_degree(space), tes_space_coordinates(space, 0)[i % nx],
                           tes_space_coordinates(space, 1)[i / nx % ny],
                           tes_space_coordinates(space, 2)[i / nx / ny]);
}

static void embeds_polynomials_exactly(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int degree = 1; degree <= (dim == 2 ? 20 : 8); degree++) {
      TesContext *ctx;
      TesMesh *mesh;
      TesSpace *fine, *coarse;
      TesTransfer *transfer;
      TesVector *u, *v;
      const double x[] = {0, 0.4, 1, 1.3, 2};
      assert_int_equal(tes_context_create(NULL, &ctx, NULL, 0), TES_OK);
      const TesBoxDesc box = {.dim = dim, .cells = {4, 4, 2}, .coordinates = {x}};
      assert_int_equal(tes_mesh_create_box(ctx, &box, &mesh), TES_OK);
      const TesSpaceDesc desc = {mesh, degree, {true, true, true, true, true, true}};
      assert_int_equal(tes_space_create(ctx, &desc, &fine), TES_OK);
      assert_int_equal(tes_space_coarsen(fine, &coarse), TES_OK);
      const TesTransferDesc td = {coarse, fine, TES_DOUBLE};
      assert_int_equal(tes_transfer_create(ctx, &td, &transfer), TES_OK);
      assert_int_equal(tes_vector_create(ctx, tes_space_length(coarse), TES_DOUBLE, &u), TES_OK);
      assert_int_equal(tes_vector_create(ctx, tes_space_length(fine), TES_DOUBLE, &v), TES_OK);
      double *expected = test_malloc((size_t)tes_space_length(fine) * sizeof *expected),
             *actual = tes_vector_data(v);
      sample(coarse, tes_vector_data(u));
      sample(fine, expected);
      assert_int_equal(tes_transfer_prolongate(transfer, u, false, v), TES_OK);
      for (int64_t i = 0; i < tes_space_length(fine); i++)
        assert_near(actual[i], expected[i], 1e-11 * fabs(expected[i]) + 1e-12);
      test_free(expected);
      tes_vector_destroy(&u);
      tes_vector_destroy(&v);
      tes_transfer_destroy(&transfer);
      tes_space_destroy(&fine);
      tes_space_destroy(&coarse);
      tes_mesh_destroy(&mesh);
      tes_context_destroy(&ctx);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(matches_dense_embedding),
                                     cmocka_unit_test(embeds_polynomials_exactly)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
