/* Run: ctest -R t7_mpi_stokes. Stokes with element rt on several ranks against the same on one: mpirun starts as many
 * processes as the test's name ends with, each of which computes both, and compares entry by entry, copies too.
 * Everything is done with NaN first, so that a layer of another rank that an exchange leaves out shows. Brief: three
 * cases, the patches that are usual, and closed cells.
 * Ranks: 2 3 4
 * Ranks on the emulator: 2 3 */
#include <stdio.h>
#include "device/kernel.h"
#include "operator/rt_convection/rt_convection.h"
#include "operator/stokes/stokes_operator.h"
#include "smoother/smoother.h"
#include "stokes_testing.h"
#include "transfer/transfer.h"
#include "mpi_testing.h"

typedef struct Case {
  Flow flow;
  const char *nu;  /* that varies, by the symmetric gradient; NULL: flow.nu */
  bool equal_bits; /* cells of lengths without rounding: sweeps have the bits of one rank */
} Case;

static const Case cases[] = {
    {.flow = {.dim = 2, .degree = 2, .cells = {4, 16}, .given = "vvvvvv", .nu = 1}, .equal_bits = true},
    {.flow = {.dim = 2, .degree = 1, .cells = {4, 8}, .given = "ovvosv", .nu = 2, .alpha = 3},
     .equal_bits = true},
    {.flow = {.dim = 2, .degree = 3, .cells = {3, 7}, .given = "svvovv", .graded = true, .nu = 1}},
    {.flow = {.dim = 2, .degree = 2, .cells = {4, 8}, .given = "ppvsvv", .nu = 1}, .equal_bits = true},
    {.flow = {.dim = 3, .degree = 1, .cells = {4, 3, 5}, .given = "ppppvv", .nu = 1}, .equal_bits = false},
    {.flow = {.dim = 3, .degree = 1, .cells = {4, 2, 8}, .given = "vvvvvv", .nu = 1}, .equal_bits = true},
    {.flow = {.dim = 3, .degree = 2, .cells = {2, 3, 5}, .given = "vovsov", .graded = true, .nu = 1, .alpha = 1}},
    {.flow = {.dim = 2, .degree = 2, .cells = {4, 8}, .given = "vvovvv"}, .nu = "1 + x + 5*y*y"},
    {.flow = {.dim = 3, .degree = 1, .cells = {2, 2, 6}, .given = "vvvvvo"}, .nu = "exp(3*z + x)"},
    /* rings of ranks: wide boxes that are arcs, or all of the ring; colours that do not close; a coefficient that is
     * periodic by the box alone */
    {.flow = {.dim = 2, .degree = 2, .cells = {4, 16}, .given = "vvppvv", .nu = 1}},
    {.flow = {.dim = 2, .degree = 1, .cells = {4, 12}, .given = "ppppvv", .nu = 1, .alpha = 1}},
    {.flow = {.dim = 2, .degree = 2, .cells = {3, 9}, .given = "vsppvv", .graded = true, .nu = 1}},
    {.flow = {.dim = 3, .degree = 1, .cells = {2, 2, 12}, .given = "vvvvpp", .nu = 1}},
    {.flow = {.dim = 2, .degree = 2, .cells = {4, 12}, .given = "voppvv"}, .nu = "1 + x + y*(1 - y)"}};
enum { CASES = sizeof cases / sizeof *cases };

/* On a device with kernels some cases, of each kind: the emulator takes its time. */
static bool is_left_out(int c) {
  static const bool kept[CASES] = {[0] = true, [5] = true, [7] = true, [9] = true};
  return getenv("TESSERA_TEST_BRIEF") && tesi_has_kernels(together) && !kept[c];
}

typedef struct Side {
  TesContext *ctx;
  TesSpace *space;
  TesOperator *op;
} Side;

static Side create(TesContext *ctx, const Case *is, TesPrecision precision) {
  Side s = {.ctx = ctx, .space = flow_space(ctx, &is->flow)};
  TesFunction *nu;
  if (!is->nu) {
    s.op = flow_operator(ctx, &is->flow, s.space, precision);
    return s;
  }
  assert_ok(ctx, tes_function_create_expression(ctx, is->nu, &nu));
  const TesTermDesc term[] = {{.term = TES_TERM_STRAIN, .a = {.all = nu}}, {.term = TES_TERM_DIVERGENCE}};
  const TesOperatorDesc desc = {.space = s.space, .form = {2, term, TES_PENALTY_AUTO}, .precision = precision};
  assert_ok(ctx, tes_operator_create(ctx, &desc, &s.op));
  tes_function_destroy(&nu);
  return s;
}

static void release(Side *s) {
  tes_operator_destroy(&s->op);
  tes_space_destroy(&s->space);
}

/* A number of the entry that one rank gives each, the same on any number of ranks; zeros at known nodes. */
static TesVector *random_vector(const Side *s, const TesSpace *space, TesPrecision precision, uint64_t seed) {
  const int64_t n = tes_space_length(space);
  double *values, *number;
  TesVector *v;
  assert_ok(s->ctx, tesi_layout_numbers(space->layout, &number));
  values = malloc((size_t)n * sizeof *values);
  for (int64_t i = 0; i < n; i++) {
    uint64_t own = seed + 7919 * (uint64_t)number[i];
    test_random(&own);
    values[i] = test_random(&own);
  }
  tesi_rt_clear(space, values);
  assert_ok(s->ctx, tesi_vector_create_on(space->layout, precision, &v));
  assert_ok(s->ctx, tes_vector_set(v, values));
  tesi_free(s->ctx, &number);
  free(values);
  return v;
}

static TesVector *of_nans(const Side *s, const TesSpace *space, TesPrecision precision) {
  TesVector *v;
  assert_ok(s->ctx, tesi_vector_create_on(space->layout, precision, &v));
  assert_ok(s->ctx, tes_vector_fill(v, NAN));
  return v;
}

/* tolerance 0: the same bits. */
static void compare(const char *what, int of, const TesSpace *whole, const TesVector *one,
                    const TesSpace *part, const TesVector *many, double tolerance) {
  const int64_t n = tes_space_length(whole), own = tes_space_length(part);
  double *x = malloc((size_t)n * sizeof *x), *y = malloc((size_t)own * sizeof *y), *number, largest = 0;
  assert_ok(alone, tes_vector_get(one, x));
  assert_ok(together, tes_vector_get(many, y));
  assert_ok(together, tesi_layout_numbers(part->layout, &number));
  assert_int_equal(part->layout->global, n);
  for (int64_t i = 0; i < n; i++) largest = fmax(largest, fabs(x[i]));
  for (int64_t i = 0; i < own; i++)
    if (!(fabs(y[i] - x[(int64_t)number[i]]) <= tolerance * largest))
      fail_msg("%s of case %d on rank %d: entry %lld is %.17g, not %.17g", what, of, world->rank,
               (long long)number[i], y[i], x[(int64_t)number[i]]);
  tesi_free(together, &number);
  free(x);
  free(y);
}

/* ---- operators ----------------------------------------------------------------------------------------- */

typedef struct Products {
  TesVector *y, *r, *d, *ref, *mass;
  double stretching;
} Products;

static Products multiply(const Side *s, TesPrecision precision) {
  TesVector *x = random_vector(s, s->space, precision, 3), *b = random_vector(s, s->space, precision, 4),
            *nan = of_nans(s, s->space, precision);
  Products p = {.y = of_nans(s, s->space, precision),
                .r = of_nans(s, s->space, precision),
                .d = of_nans(s, s->space, precision),
                .ref = of_nans(s, s->space, precision)};
  assert_ok(s->ctx, tes_operator_residual(s->op, nan, nan, p.r));
  assert_ok(s->ctx, tes_operator_apply(s->op, x, p.y));
  assert_ok(s->ctx, tes_operator_residual(s->op, nan, nan, p.r));
  assert_ok(s->ctx, tes_operator_residual(s->op, b, x, p.r));
  assert_ok(s->ctx, tes_operator_diagonal(s->op, p.d));
  assert_ok(s->ctx, tesi_operator_apply_ref(s->op, x, p.ref));
  if (precision == TES_DOUBLE && s->op->kind == &tesi_operator_stokes) {
    TesVector *divergence = of_nans(s, s->space, TES_DOUBLE);
    p.mass = random_vector(s, s->space, TES_DOUBLE, 5);
    assert_ok(s->ctx, tesi_stokes_add_mass(s->op, 2, x, p.mass));
    assert_ok(s->ctx, tesi_stokes_divergence(s->op, x, divergence, &p.stretching));
    const TesVector from = tesi_space_range(s->space, divergence, s->space->dim);
    TesVector to = tesi_space_range(s->space, p.mass, s->space->dim);
    assert_ok(s->ctx, tes_vector_copy(&from, 1, &to));
    tes_vector_destroy(&divergence);
  }
  tes_vector_destroy(&x);
  tes_vector_destroy(&b);
  tes_vector_destroy(&nan);
  return p;
}

static void free_products(Products *p) {
  TesVector **vectors[] = {&p->y, &p->r, &p->d, &p->ref, &p->mass};
  for (int i = 0; i < 5; i++) tes_vector_destroy(vectors[i]);
}

static void operators_are_one(void **state) {
  (void)state;
  for (int c = 0; c < CASES; c++)
    for (TesPrecision precision = TES_DOUBLE; precision <= TES_SINGLE && !is_left_out(c); precision++) {
      const double tolerance = precision == TES_DOUBLE ? 1e-13 : 2e-6;
      Side one = create(alone, &cases[c], precision), many = create(together, &cases[c], precision);
      Products a = multiply(&one, precision), b = multiply(&many, precision);
      assert_int_equal(one.op->singular, many.op->singular);
      assert_int_equal(tes_space_dofs(one.space), tes_space_dofs(many.space));
      if (one.op->null) assert_near(many.op->null_square, one.op->null_square, 1e-14);
      compare("K x", c, one.space, a.y, many.space, b.y, tolerance);
      compare("b - K x", c, one.space, a.r, many.space, b.r, tolerance);
      compare("the diagonal", c, one.space, a.d, many.space, b.d, tolerance);
      compare("K x by quadrature", c, one.space, a.ref, many.space, b.ref, tolerance);
      if (a.mass) compare("M x and div x", c, one.space, a.mass, many.space, b.mass, tolerance);
      if (a.mass) assert_near(b.stretching, a.stretching, 1e-12 * a.stretching);
      free_products(&a);
      free_products(&b);
      release(&one);
      release(&many);
    }
}

/* ---- sweeps -------------------------------------------------------------------------------------------- */

static const TesSmootherDesc smoothers[] = {{.kind = TES_SMOOTHER_PATCH},
                                            {.kind = TES_SMOOTHER_PATCH, .unfused = true},
                                            {.kind = TES_SMOOTHER_PATCH, .colours = TES_COLOURS_RED_BLACK},
                                            {.kind = TES_SMOOTHER_PATCH, .colours = TES_COLOURS_LEXICOGRAPHIC},
                                            {.kind = TES_SMOOTHER_PATCH, .local = TES_LOCAL_CG},
                                            {.kind = TES_SMOOTHER_CELL_PATCH}};
enum { SMOOTHERS = sizeof smoothers / sizeof *smoothers };

/* Two sweeps, the first from zero or from x; then the cells of the mesh half as fine, where there are such patches. */
static TesVector *smooth(const Side *s, int which, TesSweep sweep, bool zero) {
  const TesPrecision precision = s->op->precision;
  TesSmootherDesc desc = smoothers[which];
  TesSmoother *smoother;
  TesVector *b = random_vector(s, s->space, precision, 8), *x = random_vector(s, s->space, precision, 9),
            *nan = of_nans(s, s->space, precision), *other = of_nans(s, s->space, precision);
  desc.op = s->op;
  assert_ok(s->ctx, tes_smoother_create(s->ctx, &desc, &smoother));
  assert_ok(s->ctx, tes_smoother_apply(smoother, nan, other, sweep, false));
  assert_ok(s->ctx, tes_smoother_apply(smoother, b, x, sweep, zero));
  assert_ok(s->ctx, tes_smoother_apply(smoother, nan, other, sweep, false));
  assert_ok(s->ctx, tes_smoother_apply(smoother, b, x, sweep, false));
  if (tesi_smoother_has_cells(smoother))
    assert_ok(s->ctx, smoother->table->solve_cells(smoother, b->data, false, x->data));
  tes_vector_destroy(&b);
  tes_vector_destroy(&nan);
  tes_vector_destroy(&other);
  tes_smoother_destroy(&smoother);
  return x;
}

static void sweeps_are_one(void **state) {
  (void)state;
  for (int c = 0; c < CASES; c++)
    for (int which = 0; which < SMOOTHERS; which++)
      for (int way = 0; way < 4; way++) {
        const TesPrecision precision = way / 2 ? TES_SINGLE : TES_DOUBLE;
        const TesSweep sweep = way % 2 ? TES_BACKWARD : TES_FORWARD;
        const double rounding = precision == TES_DOUBLE ? 1e-10 : 1e-3;
        const bool by_cg = smoothers[which].local == TES_LOCAL_CG && tesi_has_kernels(together);
        const bool brief = getenv("TESSERA_TEST_BRIEF") && which > 0 && which < SMOOTHERS - 1;
        if (by_cg || brief || is_left_out(c) || (cases[c].nu && which > 0)) continue;
        Side one = create(alone, &cases[c], precision), many = create(together, &cases[c], precision);
        TesVector *a = smooth(&one, which, sweep, way == 1), *b = smooth(&many, which, sweep, way == 1);
        char what[40];
        snprintf(what, sizeof what, "smoother %d, way %d", which, way);
        compare(what, c, one.space, a, many.space, b, cases[c].equal_bits && which != 1 ? 0 : rounding);
        tes_vector_destroy(&a);
        tes_vector_destroy(&b);
        release(&one);
        release(&many);
      }
}

/* By assembled patches and their pseudo-inverses. */
static void sweeps_are_what_references_say(void **state) {
  (void)state;
  Side many = create(together, &cases[1], TES_DOUBLE);
  TesSmoother *smoother;
  TesVector *b = random_vector(&many, many.space, TES_DOUBLE, 8),
            *x = random_vector(&many, many.space, TES_DOUBLE, 9),
            *y = random_vector(&many, many.space, TES_DOUBLE, 9);
  assert_ok(together, tes_smoother_create(
                          together, &(TesSmootherDesc){.op = many.op, .kind = TES_SMOOTHER_PATCH}, &smoother));
  assert_ok(together, tes_smoother_apply(smoother, b, x, TES_FORWARD, false));
  assert_ok(together, tesi_smoother_apply_ref(smoother, b, y, TES_FORWARD, false));
  assert_near(flow_difference(together, x, y), 0, 1e-10);
  TesVector **vectors[] = {&b, &x, &y};
  for (int i = 0; i < 3; i++) tes_vector_destroy(vectors[i]);
  tes_smoother_destroy(&smoother);
  release(&many);
}

/* ---- transfers ----------------------------------------------------------------------------------------- */

/* Coarse values up, fine ones down; to[2]. false: the mesh cannot be halved. */
static bool transfer(const Side *s, TesPrecision precision, TesSpace **coarse, TesVector *to[2]) {
  TesTransfer *t;
  assert_ok(s->ctx, tes_space_coarsen(s->space, coarse));
  if (!*coarse) return false;
  const TesTransferDesc desc = {.coarse = *coarse, .fine = s->space, .precision = precision};
  assert_ok(s->ctx, tes_transfer_create(s->ctx, &desc, &t));
  TesVector *low = random_vector(s, *coarse, precision, 1), *high = random_vector(s, s->space, precision, 2),
            *nan = of_nans(s, s->space, precision);
  to[0] = of_nans(s, s->space, precision), to[1] = of_nans(s, *coarse, precision);
  assert_ok(s->ctx, tes_transfer_restrict(t, nan, to[1]));
  assert_ok(s->ctx, tes_transfer_prolongate(t, low, false, to[0]));
  assert_ok(s->ctx, tes_transfer_restrict(t, high, to[1]));
  TesVector *ref = of_nans(s, *coarse, precision);
  assert_ok(s->ctx, tesi_transfer_restrict_ref(t, high, ref));
  assert_near(flow_difference(s->ctx, to[1], ref), 0, precision == TES_DOUBLE ? 1e-14 : 1e-6);
  tes_vector_destroy(&ref);
  tes_vector_destroy(&low);
  tes_vector_destroy(&high);
  tes_vector_destroy(&nan);
  tes_transfer_destroy(&t);
  return true;
}

static void transfers_are_one(void **state) {
  (void)state;
  int compared = 0;
  for (int c = 0; c < CASES; c++)
    for (TesPrecision precision = TES_DOUBLE; precision <= TES_SINGLE; precision++) {
      Side one = create(alone, &cases[c], precision), many = create(together, &cases[c], precision);
      TesSpace *coarse[2];
      TesVector *a[2] = {NULL}, *b[2] = {NULL};
      const bool first = transfer(&one, precision, &coarse[0], a),
                 both = transfer(&many, precision, &coarse[1], b) && first;
      if (both && coarse[0]->length == coarse[1]->layout->global) { /* cuts may keep directions as they are */
        const double tolerance = precision == TES_DOUBLE ? 1e-14 : 1e-6;
        compare("P x", c, one.space, a[0], many.space, b[0], tolerance);
        compare("P' x", c, coarse[0], a[1], coarse[1], b[1], tolerance);
        compared++;
      }
      for (int i = 0; i < 2; i++) {
        tes_vector_destroy(&a[i]);
        tes_vector_destroy(&b[i]);
        tes_space_destroy(&coarse[i]);
      }
      release(&one);
      release(&many);
    }
  assert_true(compared >= 6);
}

/* ---- convection ---------------------------------------------------------------------------------------- */

static TesVector *carry(const Side *s, const Case *is, double *rate) {
  TesiGiven given[6];
  TesiRtConvection *convection;
  TesVector *u = random_vector(s, s->space, TES_DOUBLE, 6), *nan = of_nans(s, s->space, TES_DOUBLE),
            *to = of_nans(s, s->space, TES_DOUBLE);
  TesFunction *g;
  assert_ok(s->ctx, tes_function_create_expression(s->ctx, "1 + x*y", &g));
  for (int side = 0; side < 6; side++) {
    given[side] = flow_side(&is->flow, side);
    for (int i = 0; i < 3; i++)
      if (given[side].how[i] == TESI_WEAK) given[side].g[i] = g;
  }
  assert_ok(s->ctx, tesi_rt_convection_create(s->space, &convection));
  assert_ok(s->ctx, tesi_rt_convection_give(convection, given));
  assert_ok(s->ctx, tesi_rt_convection_apply(convection, nan, to, rate));
  assert_ok(s->ctx, tesi_rt_convection_apply(convection, u, to, rate));
  tesi_rt_convection_destroy(&convection);
  tes_function_destroy(&g);
  tes_vector_destroy(&u);
  tes_vector_destroy(&nan);
  return to;
}

static void convection_is_one(void **state) {
  (void)state;
  for (int c = 0; c < CASES; c++) {
    Side one = create(alone, &cases[c], TES_DOUBLE), many = create(together, &cases[c], TES_DOUBLE);
    double rate[2];
    TesVector *a = carry(&one, &cases[c], &rate[0]), *b = carry(&many, &cases[c], &rate[1]);
    compare("N(u)", c, one.space, a, many.space, b, 1e-13);
    assert_near(rate[1], rate[0], 1e-13 * rate[0]);
    tes_vector_destroy(&a);
    tes_vector_destroy(&b);
    release(&one);
    release(&many);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(operators_are_one), cmocka_unit_test(sweeps_are_one),
                                     cmocka_unit_test(sweeps_are_what_references_say),
                                     cmocka_unit_test(transfers_are_one), cmocka_unit_test(convection_is_one)};
  const int status = begin_on_ranks(NULL);
  return status ? status : end_on_ranks(cmocka_run_group_tests(tests, NULL, NULL));
}
