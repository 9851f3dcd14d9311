/* Run: ctest -R t5_transfer. Prolongation and restriction against dense embeddings; polynomials are embedded exactly.
 * Every SIMD width that is there. Brief: one number of threads beside one.
 * Quick: 1-3,6,9
 * Labels: threads */
#include <string.h>
#include "testing.h"
#include "space/space.h"
#include "tessera/tessera.h"
#include "transfer/transfer.h"

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
  static double x[3][1024];
  TesMeshDesc box = {.dim = c->dim, .lower = {0, -1, 2}};
  for (int d = 0; d < 3; d++) {
    const int n = box.cells[d] = c->cells[d];
    box.upper[d] = box.lower[d] + n * (1 + 0.2 * d); /* so alike that all directions are halved */
    for (int i = 0; i <= n; i++)
      x[d][i] = c->widths == GRADED ? i + 0.3 * sin(2.0 * i + d)
                                    : i + (c->widths == WIDE_END ? 0.7 : -0.4) * (i == n);
    if (c->widths != EQUAL) box.coordinates[d] = x[d];
  }
  assert_int_equal(tes_mesh_create(ctx, &box, &mesh), TES_OK);
  TesSpaceDesc desc = {.mesh = mesh, .degree = c->degree};
  uint8_t given[6] = {1, 1, 1, 1, 1, 1};
  for (int f = 0; f < 6; f += 3) given[f] = !(c->natural);
  desc.given = given;
  assert_int_equal(tes_space_create(ctx, &desc, &space), TES_OK);
  tes_mesh_destroy(&mesh);
  return space;
}

static void fill_random(const TesSpace *space, TesVector *v, uint64_t *seed) {
  const int64_t n = tes_space_length(space);
  double *values = test_malloc((size_t)n * sizeof *values);
  const int nx = tes_space_nodes_along(space, 0), ny = tes_space_nodes_along(space, 1),
            nz = tes_space_nodes_along(space, 2);
  for (int64_t i = 0; i < n; i++) {
    const int at[3] = {(int)(i % nx), (int)(i / nx % ny), (int)(i / nx / ny)}, count[3] = {nx, ny, nz};
    values[i] = test_random(seed);
    for (int d = 0; d < tes_mesh_info(tes_space_mesh(space)).dim; d++)
      if ((at[d] == 0 && tes_space_given(space, 2 * d)) ||
          (at[d] == count[d] - 1 && tes_space_given(space, 2 * d + 1)))
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

typedef struct Job {
  TesContext *ctx;
  TesSpace *fine, *coarse;
  TesTransfer *transfer;
  TesVector *coarse_in, *coarse_out, *fine_in, *fine_out, *fine_sum;
} Job;

static TesVector *make_vector(TesContext *ctx, const TesSpace *space, TesPrecision precision) {
  TesVector *v;
  assert_ok(ctx, tes_vector_create(ctx, tes_space_length(space), precision, &v));
  return v;
}

static Job make_job(const Case *c, TesPrecision precision, int threads, int bits) {
  Job j;
  const TesContextDesc desc = {.threads = threads, .simd_bits = bits};
  assert_int_equal(tes_context_create(&desc, &j.ctx, NULL, 0), TES_OK);
  j.fine = make_space(j.ctx, c);
  assert_ok(j.ctx, tes_space_coarsen(j.fine, &j.coarse));
  if (!j.coarse) j.coarse = make_space(j.ctx, c); /* nothing to halve: the embedding is the identity */
  const TesTransferDesc desc_transfer = {.coarse = j.coarse, .fine = j.fine, .precision = precision};
  assert_ok(j.ctx, tes_transfer_create(j.ctx, &desc_transfer, &j.transfer));
  j.coarse_in = make_vector(j.ctx, j.coarse, precision);
  j.coarse_out = make_vector(j.ctx, j.coarse, precision);
  j.fine_in = make_vector(j.ctx, j.fine, precision);
  j.fine_out = make_vector(j.ctx, j.fine, precision);
  j.fine_sum = make_vector(j.ctx, j.fine, precision);
  uint64_t seed = 7;
  fill_random(j.coarse, j.coarse_in, &seed);
  fill_random(j.fine, j.fine_in, &seed);
  return j;
}

static void destroy_job(Job *j) {
  TesVector **vectors[] = {&j->coarse_in, &j->coarse_out, &j->fine_in, &j->fine_out, &j->fine_sum};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) tes_vector_destroy(vectors[i]);
  tes_transfer_destroy(&j->transfer);
  tes_space_destroy(&j->fine);
  tes_space_destroy(&j->coarse);
  assert_int_equal(tes_context_memory(j->ctx), 0);
  tes_context_destroy(&j->ctx);
}

/* Twice: what a call leaves in the workspace must not show in the next one. */
static void run_job(Job *j) {
  assert_ok(j->ctx, tes_vector_copy(j->fine_in, 1, j->fine_sum));
  for (int i = 0; i < 2; i++) {
    assert_ok(j->ctx, tes_vector_fill(j->fine_out, NAN));
    assert_ok(j->ctx, tes_transfer_prolongate(j->transfer, j->coarse_in, false, j->fine_out));
    assert_ok(j->ctx, tes_vector_fill(j->coarse_out, NAN));
    assert_ok(j->ctx, tes_transfer_restrict(j->transfer, j->fine_in, j->coarse_out));
    assert_ok(j->ctx, tes_transfer_prolongate(j->transfer, j->coarse_in, true, j->fine_sum));
  }
}

static void run_case(const Case *c, TesPrecision precision, int threads, int bits) {
  Job j = make_job(c, precision, threads, bits);
  const double tolerance = precision == TES_DOUBLE ? 2e-13 : 1e-4;
  TesVector *coarse = make_vector(j.ctx, j.coarse, precision), *fine = make_vector(j.ctx, j.fine, precision);
  run_job(&j);
  assert_ok(j.ctx, tesi_transfer_prolongate_ref(j.transfer, j.coarse_in, false, fine));
  compare(j.fine_out, fine, tolerance);
  assert_ok(j.ctx, tesi_transfer_restrict_ref(j.transfer, j.fine_in, coarse));
  compare(j.coarse_out, coarse, 20 * tolerance);
  assert_ok(j.ctx, tes_vector_copy(j.fine_in, 1, fine));
  for (int i = 0; i < 2; i++)
    assert_ok(j.ctx, tesi_transfer_prolongate_ref(j.transfer, j.coarse_in, true, fine));
  compare(j.fine_sum, fine, tolerance);
  tes_vector_destroy(&coarse);
  tes_vector_destroy(&fine);
  destroy_job(&j);
}

static const int widths[] = {128, 256, 512};

/* Small and odd shapes, directions that are not halved, lines shorter than a vector; even and graded; both kinds of
 * ends. */
static void matches_dense_embedding(void **state) {
  (void)state;
  const int sizes[][3] = {{4, 4, 4}, {6, 4, 2}, {2, 3, 4}, {3, 2, 5},  {10, 6, 2},
                          {5, 3, 1}, {9, 7, 5}, {4, 8, 6}, {5, 5, 11}, {7, 4, 5}};
  const int widths_of[] = {EQUAL, GRADED, EQUAL, GRADED, EQUAL, GRADED, EQUAL, WIDE_END, NARROW_END, GRADED};
  for (int dim = 2; dim <= 3; dim++)
    for (int degree = 1; degree <= 12; degree++)
      for (int s = 0; s < 10 && test_degree(degree); s++) {
        if (dim == 3 && degree > 4 && s % 5 != degree % 5) continue;
        if (degree == 1 && s == 5) continue; /* a cell without unknowns */
        const Case c = {
            dim, degree, {sizes[s][0], sizes[s][1], sizes[s][2]}, widths_of[s], (s + degree) % 3 == 0};
        for (int w = 0; w < 3 && test_has_simd(widths[w]); w++) {
          run_case(&c, TES_DOUBLE, 1, widths[w]);
          run_case(&c, TES_SINGLE, 1, widths[w]);
        }
      }
}

/* Long lines are transposed piece by piece, long columns worked on block by block; several threads. */
static void matches_on_larger_meshes(void **state) {
  (void)state;
  const Case cases[] = {{2, 1, {600, 70}, GRADED, false},     {2, 3, {194, 22}, EQUAL, true},
                        {2, 12, {30, 16}, EQUAL, false},      {3, 1, {34, 70, 22}, EQUAL, true},
                        {3, 2, {18, 38, 10}, GRADED, false},  {3, 5, {10, 8, 6}, EQUAL, false},
                        {2, 2, {601, 73}, EQUAL, true},       {2, 4, {193, 51}, NARROW_END, false},
                        {3, 3, {33, 19, 13}, WIDE_END, true}, {3, 2, {31, 17, 23}, EQUAL, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i += test_brief() ? 3 : 1)
    for (int w = 0; w < 3 && test_has_simd(widths[w]); w++) {
      run_case(&cases[i], TES_DOUBLE, 2, widths[w]);
      run_case(&cases[i], TES_SINGLE, 3, widths[w]);
    }
}

static void assert_same(const TesVector *a, const TesVector *b, TesPrecision precision) {
  const size_t size = precision == TES_DOUBLE ? sizeof(double) : sizeof(float);
  assert_memory_equal(tes_vector_data_const(a), tes_vector_data_const(b), (size_t)tes_vector_length(a) * size);
}

static void bits_do_not_depend_on_threads(void **state) {
  (void)state;
  for (int degree = 1; degree <= 12; degree++)
    for (int w = 0; w < 3 && test_degree(degree) && test_has_simd(widths[w]); w++) {
      const TesPrecision precision = (degree + w) % 2 ? TES_DOUBLE : TES_SINGLE;
      const int flat = 200 / degree / 2 * 2, cube = (34 / degree / 2 + 1) * 2;
      const Case cases[] = {{2, degree, {flat, flat}, w == 1, false},
                            {3, degree, {cube, cube + 2, 4}, w == 2, true},
                            {3, degree, {cube, cube, cube}, EQUAL, false},
                            {2, degree, {flat + 1, flat + 3}, w == 1 ? NARROW_END : EQUAL, true},
                            {3, degree, {cube + 1, cube, cube + 1}, w == 2 ? NARROW_END : EQUAL, false}};
      for (int i = 0; i < 5; i++) {
        Job one = make_job(&cases[i], precision, 1, widths[w]);
        assert_true(tes_space_length(one.fine) >= 32768 || i == 1); /* below, one thread does it all */
        run_job(&one);
        const int threads[] = {2, 3, 7};
        for (int t = test_brief() ? 2 : 0; t < 3; t++) {
          Job more = make_job(&cases[i], precision, threads[t], widths[w]);
          run_job(&more);
          assert_same(one.fine_out, more.fine_out, precision);
          assert_same(one.coarse_out, more.coarse_out, precision);
          assert_same(one.fine_sum, more.fine_sum, precision);
          destroy_job(&more);
        }
        destroy_job(&one);
      }
    }
}

/* A polynomial of degree k a direction is reproduced at every fine node: independent of the embedding's tables. */
static double polynomial(int k, double x, double y, double z) {
  return pow(1 + 0.3 * x, k) * pow(1 - 0.2 * y, k) + 0.1 * x * z;
}

static void sample(const TesSpace *space, double *values) {
  const int nx = tes_space_nodes_along(space, 0), ny = tes_space_nodes_along(space, 1);
  for (int64_t i = 0; i < tes_space_length(space); i++)
    values[i] = polynomial(tes_space_degree(space), space->axis[0].x[i % nx], space->axis[1].x[i / nx % ny],
                           space->axis[2].x[i / nx / ny]);
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
      const double x[] = {0, 0.4, 1, 1.3, 2, 2.3};
      assert_int_equal(tes_context_create(NULL, &ctx, NULL, 0), TES_OK);
      const TesMeshDesc box = {.dim = dim, .cells = {5, 5, 2}, .upper = {1, 2.3, 1}, .coordinates = {x}};
      assert_int_equal(tes_mesh_create(ctx, &box, &mesh), TES_OK);
      const TesSpaceDesc desc = {.mesh = mesh, .degree = degree, .given = (const uint8_t[6]){0}};
      assert_int_equal(tes_space_create(ctx, &desc, &fine), TES_OK);
      assert_int_equal(tes_space_coarsen(fine, &coarse), TES_OK);
      assert_int_equal(tes_mesh_info(tes_space_mesh(coarse)).cells_along[0], 2);
      assert_int_equal(tes_mesh_info(tes_space_mesh(coarse)).cells_along[1], 3);
      const TesTransferDesc td = {.coarse = coarse, .fine = fine, .precision = TES_DOUBLE};
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
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matches_dense_embedding), cmocka_unit_test(matches_on_larger_meshes),
      cmocka_unit_test(bits_do_not_depend_on_threads), cmocka_unit_test(embeds_polynomials_exactly)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
