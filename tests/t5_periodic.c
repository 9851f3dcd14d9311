/* Run: ctest -R t5_periodic. Continuous elements on boxes with periodic directions: vectors spread on open boxes and
 * back, operators, transfers and sweeps of vertex patches against their plain versions, in periodic directions of
 * two cells and more, even and odd, beside all kinds of ends. On the processor, the emulator, and a GPU where there
 * is one. Brief: fewer shapes on the emulator.
 * Labels: heavy */
#include "device_testing.h"
#include "smoother/patch/patch.h"
#include "smoother_testing.h"
#include "space/periodic.h"
#include "transfer/transfer.h"

static const char *const devices[] = {"cpu", "emulator", "cuda"};
enum { DEVICES = sizeof devices / sizeof *devices, PRECISIONS = 2 };

/* ---- spread and sum ------------------------------------------------------------------------------------ */

static void check_rings(TesContext *ctx, TesPrecision precision, const TeskPeriodic *box, uint64_t seed) {
  TesiPeriodic rings;
  const double tolerance = precision == TES_DOUBLE ? 1e-14 : 1e-5;
  assert_ok(ctx, tesi_periodic_create(ctx, precision, box, &rings));
  const size_t n = (size_t)rings.length, m = (size_t)rings.open_length, most = n > m ? n : m;
  double *x = test_malloc(n * sizeof *x), *y = test_malloc(m * sizeof *y), *z = test_malloc(most * sizeof *z);
  for (int own = 0; own < 2; own++) {
    TesVector *from = test_vector(ctx, rings.length, precision, seed),
              *to = test_vector(ctx, rings.open_length, precision, 0);
    assert_ok(ctx, tesi_periodic_spread(&rings, from->data, own, to->data));
    assert_ok(ctx, tes_vector_get(from, x));
    assert_ok(ctx, tes_vector_get(to, y));
    tesi_periodic_spread_ref(box, x, own, z);
    for (size_t i = 0; i < m; i++) assert_true(y[i] == z[i]);
    tes_vector_destroy(&from);
    tes_vector_destroy(&to);
  }
  for (int base = 0; base < 3; base++) { /* none, another vector, the same */
    TesVector *from = test_vector(ctx, rings.open_length, precision, seed + 1),
              *with = test_vector(ctx, rings.length, precision, seed + 2),
              *to = test_vector(ctx, rings.length, precision, base == 2 ? seed + 2 : 0);
    assert_ok(ctx, tes_vector_get(from, y));
    assert_ok(ctx, tes_vector_get(with, x));
    tesi_periodic_collect_ref(box, y, base ? x : NULL, -0.5, z);
    assert_ok(ctx, tesi_periodic_collect(&rings, from->data,
                                         base == 0   ? NULL
                                         : base == 1 ? with->data
                                                     : to->data,
                                         -0.5, to->data));
    assert_ok(ctx, tes_vector_get(to, x));
    for (size_t i = 0; i < n; i++) assert_near(x[i], z[i], tolerance);
    tes_vector_destroy(&from);
    tes_vector_destroy(&with);
    tes_vector_destroy(&to);
  }
  test_free(x), test_free(y), test_free(z);
}

static void vectors_go_round_rings(void **state) {
  (void)state;
  const TeskPeriodic boxes[] = {{{4, 3, 1}, {5, 3, 1}, {0, 0, 0}, {0, 0, 0}, {5, 3, 1}},
                                {{4, 3, 1}, {5, 4, 1}, {0, 0, 0}, {0, 0, 0}, {4, 3, 1}},
                                {{6, 5, 7}, {22, 9, 7}, {4, 3, 0}, {8, 2, 0}, {14, 7, 7}},
                                {{6, 5, 7}, {5, 13, 8}, {4, 0, 0}, {1, 4, 1}, {4, 9, 7}},
                                {{2, 3, 4}, {19, 17, 9}, {1, 2, 3}, {8, 8, 4}, {10, 11, 8}}};
  for (int d = 0; d < DEVICES; d++) {
    TesContext *ctx = test_device(devices[d]);
    for (size_t i = 0; ctx && i < sizeof boxes / sizeof *boxes; i++)
      for (int precision = 0; precision < PRECISIONS; precision++)
        check_rings(ctx, (TesPrecision)precision, &boxes[i], 7 + i);
    tes_context_destroy(&ctx);
  }
}

/* ---- operators ----------------------------------------------------------------------------------------- */

static const Case shapes[] = {
    {.dim = 2, .cells = {3, 2}, .periodic = 1, .a = 2},
    {.dim = 2, .cells = {2, 4}, .periodic = 2, .natural = 0x3, .alpha = 1.5, .c = 3},
    {.dim = 2, .cells = {5, 3}, .periodic = 3, .graded = true, .c = 1},
    {.dim = 2, .cells = {4, 6}, .periodic = 3},
    {.dim = 3, .cells = {3, 2, 2}, .periodic = 1, .graded = true, .natural = 0x30, .alpha = 2},
    {.dim = 3, .cells = {2, 3, 4}, .periodic = 6, .c = 0.5},
    {.dim = 3, .cells = {3, 4, 5}, .periodic = 5, .natural = 4, .alpha = 1},
    {.dim = 3, .cells = {3, 3, 2}, .periodic = 7, .graded = true}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* One shape of each dimension on the emulator in brief rounds. */
static bool is_wanted(int device, int degree, int shape) {
  return devices[device][0] != 'e' || !test_brief() || shape == (degree % 2 ? 2 : 4);
}

static void check_operator(const Setup *s, const Case *c, double tolerance) {
  const int64_t n = s->n;
  TesVector *x, *b, *y;
  double *fast = test_malloc((size_t)n * sizeof *fast), *plain = test_malloc((size_t)n * sizeof *plain);
  const TesPrecision precision = s->op->precision;
  assert_ok(s->ctx, tes_vector_create(s->ctx, n, precision, &x));
  assert_ok(s->ctx, tes_vector_create(s->ctx, n, precision, &b));
  assert_ok(s->ctx, tes_vector_create(s->ctx, n, precision, &y));
  assert_ok(s->ctx, tes_vector_set(x, s->x));
  assert_ok(s->ctx, tes_vector_set(b, s->b));
  assert_ok(s->ctx, tesi_operator_apply_ref(s->op, x, y));
  assert_ok(s->ctx, tes_vector_get(y, plain));
  assert_ok(s->ctx, tes_vector_fill(y, NAN));
  assert_ok(s->ctx, tes_operator_apply(s->op, x, y));
  assert_ok(s->ctx, tes_vector_get(y, fast));
  assert_equal_vectors(n, fast, plain, tolerance, c, tes_operator_info(s->op).description);
  for (int64_t i = 0; i < n; i++) plain[i] = s->b[i] - plain[i];
  assert_ok(s->ctx, tes_vector_fill(y, NAN));
  assert_ok(s->ctx, tes_operator_residual(s->op, b, x, y));
  assert_ok(s->ctx, tes_vector_get(y, fast));
  assert_equal_vectors(n, fast, plain, tolerance, c, "residual");
  assert_ok(s->ctx, s->op->table->subtract(s->op, x->data, b->data));
  assert_ok(s->ctx, tes_vector_get(b, fast));
  assert_equal_vectors(n, fast, plain, tolerance, c, "subtract");
  assert_ok(s->ctx, tes_vector_fill(y, NAN));
  assert_ok(s->ctx, tes_operator_diagonal(s->op, y));
  assert_ok(s->ctx, tes_vector_get(y, fast));
  assert_ok(s->ctx, tesi_diffusion_diagonal_ref(s->op, plain));
  assert_equal_vectors(n, fast, plain, tolerance, c, "diagonal");
  tes_vector_destroy(&x);
  tes_vector_destroy(&b);
  tes_vector_destroy(&y);
  test_free(fast), test_free(plain);
}

static void operators_equal_their_plain_versions(void **state) {
  (void)state;
  for (int d = 0; d < DEVICES; d++) {
    TesContext *ctx = test_device(devices[d]);
    for (int degree = 1; ctx && degree <= (devices[d][0] == 'e' ? 3 : 8); degree++)
      for (int shape = 0; shape < SHAPES; shape++)
        for (int kind = 0; kind < 2 * PRECISIONS; kind++) {
          Setup s;
          Case c = shapes[shape];
          if (!is_wanted(d, degree, shape) || (c.dim == 3 && degree > 5)) continue;
          c.degree = degree, c.variable = kind / 2;
          setup_operator(&s, ctx, &c, (TesPrecision)(kind % 2));
          check_operator(&s, &c, kind % 2 ? 1e-4 : 1e-12);
          teardown(&s);
        }
    tes_context_destroy(&ctx);
  }
}

/* Sums of 1D matrices: of the periodic direction itself, whose rows add up to zero but for the reaction. */
static void axis_matrices_are_of_the_ring(void **state) {
  (void)state;
  TesContext *ctx = test_device("cpu");
  if (!ctx) skip();
  const Case c = {.dim = 2, .degree = 3, .cells = {4, 3}, .periodic = 3, .graded = true};
  enum { NODES = 12 };
  Setup s;
  double K[NODES * NODES], M[NODES * NODES], all = 0;
  setup_operator(&s, ctx, &c, TES_DOUBLE);
  assert_int_equal(s.n, 12 * 9);
  assert_int_equal(tes_space_dofs(s.space), s.n);
  assert_true(tes_operator_info(s.op).singular);
  assert_ok(ctx, tesi_operator_axis_matrices(s.op, 0, K, M));
  for (int i = 0; i < NODES; i++) {
    double sum = 0;
    for (int j = 0; j < NODES; j++) sum += K[i * NODES + j], all += M[i * NODES + j];
    assert_near(sum, 0, 1e-13 * K[i * NODES + i]);
    assert_near(K[i * NODES + (i + 1) % NODES], K[(i + 1) % NODES * NODES + i], 1e-13);
  }
  const double *x = s.mesh->coordinates[0];
  assert_near(all, x[4] - x[0], 1e-13 * all);
  assert_true(K[NODES - 1] != 0); /* the first node knows the last one */
  teardown(&s);
  tes_context_destroy(&ctx);
}

/* ---- transfers ----------------------------------------------------------------------------------------- */

static TesVector *random_vector(TesContext *ctx, const TesSpace *space, TesPrecision precision, uint64_t seed) {
  TesVector *v = test_vector(ctx, tes_space_length(space), precision, 0);
  double *values = test_malloc((size_t)space->length * sizeof *values);
  fill_random(space, seed, values);
  assert_ok(ctx, tes_vector_set(v, values));
  test_free(values);
  return v;
}

static void compare(TesVector *a, TesVector *b, double tolerance) {
  double norm, difference;
  assert_ok(b->context, tes_vector_norm(b, &norm));
  assert_ok(b->context, tes_vector_axpy(-1, a, b));
  assert_ok(b->context, tes_vector_norm(b, &difference));
  if (!(difference <= tolerance * norm)) fail_msg("differ by %g of %g", difference, norm);
  tes_vector_destroy(&a);
  tes_vector_destroy(&b);
}

static void check_transfer(TesContext *ctx, const Case *c, TesPrecision precision) {
  Setup s;
  TesSpace *coarse;
  TesTransfer *t;
  const double tolerance = precision == TES_DOUBLE ? 1e-13 : 1e-5;
  setup_operator(&s, ctx, c, precision);
  assert_ok(ctx, tes_space_coarsen(s.space, &coarse));
  if (coarse) {
    assert_ok(ctx,
              tes_transfer_create(
                  ctx, &(TesTransferDesc){.coarse = coarse, .fine = s.space, .precision = precision}, &t));
    for (int add = 0; add < 2; add++) {
      TesVector *from = random_vector(ctx, coarse, precision, 5),
                *fast = random_vector(ctx, s.space, precision, 6),
                *plain = random_vector(ctx, s.space, precision, 6);
      if (!add) assert_ok(ctx, tes_vector_fill(fast, NAN));
      assert_ok(ctx, tes_transfer_prolongate(t, from, add, fast));
      assert_ok(ctx, tesi_transfer_prolongate_ref(t, from, add, plain));
      compare(fast, plain, tolerance);
      tes_vector_destroy(&from);
    }
    TesVector *from = random_vector(ctx, s.space, precision, 8),
              *fast = random_vector(ctx, coarse, precision, 9),
              *plain = random_vector(ctx, coarse, precision, 9);
    assert_ok(ctx, tes_vector_fill(fast, NAN));
    assert_ok(ctx, tes_transfer_restrict(t, from, fast));
    assert_ok(ctx, tesi_transfer_restrict_ref(t, from, plain));
    compare(fast, plain, tolerance);
    tes_vector_destroy(&from);
    tes_transfer_destroy(&t);
  }
  tes_space_destroy(&coarse);
  teardown(&s);
}

static void transfers_equal_their_plain_versions(void **state) {
  (void)state;
  static const Case wide[] = {{.dim = 2, .cells = {6, 4}, .periodic = 1},
                              {.dim = 2, .cells = {7, 5}, .periodic = 3, .graded = true},
                              {.dim = 2, .cells = {9, 4}, .periodic = 2, .natural = 1},
                              {.dim = 3, .cells = {4, 5, 4}, .periodic = 5},
                              {.dim = 3, .cells = {6, 4, 7}, .periodic = 7, .graded = true}};
  for (int d = 0; d < DEVICES; d++) {
    TesContext *ctx = test_device(devices[d]);
    for (int degree = 1; ctx && degree <= (devices[d][0] == 'e' ? 2 : 6); degree++)
      for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        for (int precision = 0; precision < PRECISIONS; precision++) {
          Case c = wide[i];
          if (c.dim == 3 && degree > 3) continue;
          c.degree = degree;
          check_transfer(ctx, &c, (TesPrecision)precision);
        }
    tes_context_destroy(&ctx);
  }
}

/* ---- patches ------------------------------------------------------------------------------------------- */

/* Patches of one colour share no node, even and odd periodic directions have two and three colours, and all nodes
 * have a patch. */
static void rings_are_coloured(void **state) {
  (void)state;
  enum { MOST = 9, DEGREE = 4 };
  for (int cells = 2; cells <= MOST; cells++)
    for (int degree = 1; degree <= DEGREE; degree++) {
      const TesiAxis axis = {
          .degree = degree, .cells = cells, .nodes = cells * degree, .step = degree, .periodic = true};
      TesiPatchInterval interval[MOST + 1];
      bool met[3][MOST * DEGREE] = {{false}};
      assert_int_equal(tesi_patch_intervals(&axis, interval), cells);
      for (int p = 0; p < cells; p++) {
        assert_int_equal(interval[p].end - interval[p].first, 2 * degree - 1);
        assert_true(interval[p].colour < 2 + cells % 2);
        for (int i = interval[p].first; i < interval[p].end; i++) {
          assert_false(met[interval[p].colour][i % axis.nodes]);
          met[interval[p].colour][i % axis.nodes] = true;
        }
      }
      for (int i = 0; i < axis.nodes; i++) assert_true(met[0][i] || met[1][i] || met[2][i]);
    }
}

static void sweeps_equal_the_plain_sweep(void **state) {
  (void)state;
  for (int d = 0; d < DEVICES; d++) {
    TesContext *ctx = test_device(devices[d]);
    for (int degree = 1; ctx && degree <= (devices[d][0] == 'e' ? 2 : 6); degree++)
      for (int shape = 0; shape < SHAPES; shape++) {
        Case c = shapes[shape];
        if (!is_wanted(d, degree, shape) || (c.dim == 3 && degree > (devices[d][0] == 'e' ? 1 : 4))) continue;
        c.degree = degree;
        compare_with_plain(ctx, &c, TES_DOUBLE, (TesSmootherDesc){.kind = TES_SMOOTHER_PATCH}, 1e-11);
        if (devices[d][0] != 'e' || shape % 2)
          compare_with_plain(ctx, &c, TES_SINGLE, (TesSmootherDesc){.kind = TES_SMOOTHER_PATCH}, 2e-4);
      }
    tes_context_destroy(&ctx);
  }
}

/* Larger periodic directions, on which a sweep goes round more than once within its halo or not at all. */
static void sweeps_go_round_rings_of_all_sizes(void **state) {
  (void)state;
  TesContext *ctx = test_device("cpu");
  if (!ctx) skip();
  for (int cells = 2; cells <= 13; cells++) {
    const Case plane = {.dim = 2, .degree = 2, .cells = {cells, 15 - cells}, .periodic = 3},
               space = {.dim = 3, .degree = 1, .cells = {cells, 3 + cells % 4, 2 + cells % 3}, .periodic = 7};
    compare_with_plain(ctx, &plane, TES_DOUBLE, (TesSmootherDesc){.kind = TES_SMOOTHER_PATCH}, 1e-11);
    compare_with_plain(ctx, &space, TES_DOUBLE, (TesSmootherDesc){.kind = TES_SMOOTHER_PATCH}, 1e-11);
  }
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

static void what_rings_do_not_have_is_told(void **state) {
  (void)state;
  TesContext *ctx = test_device("cpu");
  if (!ctx) skip();
  static const TesSmootherDesc no[] = {{.kind = TES_SMOOTHER_PATCH_ADDITIVE},
                                       {.kind = TES_SMOOTHER_GAUSS_SEIDEL},
                                       {.kind = TES_SMOOTHER_PATCH, .local = TES_LOCAL_NODAL},
                                       {.kind = TES_SMOOTHER_PATCH, .omega = 0.5}};
  Case c = {.dim = 2, .degree = 2, .cells = {4, 3}, .periodic = 1};
  for (size_t i = 0; i <= sizeof no / sizeof *no; i++) {
    Setup s;
    c.variable = i == sizeof no / sizeof *no;
    setup_operator(&s, ctx, &c, TES_DOUBLE);
    TesSmootherDesc desc = c.variable ? (TesSmootherDesc){.kind = TES_SMOOTHER_PATCH} : no[i];
    desc.op = s.op;
    assert_int_equal(tes_smoother_create(ctx, &desc, &s.smoother), TES_INVALID_INPUT);
    assert_non_null(strstr(tes_context_message(ctx), "periodic"));
    teardown(&s);
  }
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(vectors_go_round_rings),
                                     cmocka_unit_test(operators_equal_their_plain_versions),
                                     cmocka_unit_test(axis_matrices_are_of_the_ring),
                                     cmocka_unit_test(transfers_equal_their_plain_versions),
                                     cmocka_unit_test(rings_are_coloured),
                                     cmocka_unit_test(sweeps_equal_the_plain_sweep),
                                     cmocka_unit_test(sweeps_go_round_rings_of_all_sizes),
                                     cmocka_unit_test(what_rings_do_not_have_is_told)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
