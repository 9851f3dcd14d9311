/* Run: ctest -R t7_mpi_dg. Discontinuous elements on several ranks against the same on one, entry by entry:
 * diffusion, upwind traces in both forms, moved velocities, what boundaries let in, sweeps of vertex patches. Cells in
 * the order of a velocity against their plain version, and against one rank where the flow is along the cuts. NaN are
 * there first, so that a layer of another rank that an exchange leaves out shows.
 * Ranks: 2 3 4
 * Ranks on the emulator: 2 */
#include <stdio.h>
#include "device/kernel.h"
#include "operator/transport/transport_operator.h"
#include "smoother/smoother.h"
#include "mpi_testing.h"

typedef struct Case {
  int dim, degree, cells[3];
  const char *a, *b[3];              /* b NULL: diffusion alone */
  bool conservative, given[6], ring; /* ring: periodic in the direction that is cut */
} Case;

static const double graded[] = {0, 0.1, 0.15, 0.3, 0.5, 0.6, 0.8, 0.9, 1};
static const Case cases[] = {
    {2, 3, {4, 16, 0}, "0.02", {NULL, NULL, NULL}, false, {true, true, true, true}, false},
    {2, 2, {3, 8, 0}, "0.02", {NULL, NULL, NULL}, false, {true, false, false, true}, false},
    {3, 1, {3, 4, 9}, "0.02", {NULL, NULL, NULL}, false, {false, false, false, false, true, false}, false},
    {2, 2, {4, 8, 0}, "0.02", {"0.3", "-1", NULL}, false, {true, true, true, true}, false},
    {2, 3, {9, 8, 0}, "0.02", {"0.5 - y", "x - 0.4", NULL}, true, {true, false, false, true}, false},
    {3, 2, {3, 2, 8}, "0.02", {"1 + z", "x", "y - 0.4"}, false, {true, true, false, false, true, true}, false},
    {2, 2, {8, 7, 0}, "1e-13", {"1 + y*y", "0", NULL}, false, {true, true, true, true}, false},
    {2, 3, {4, 12, 0}, "0.02", {NULL, NULL, NULL}, false, {true, true}, true},
    {2, 2, {3, 9, 0}, "0.02", {NULL, NULL, NULL}, false, {true, false}, true},
    {3, 1, {3, 2, 6}, "0.02", {"1 + z*(1 - z)", "x", "1 + x*y"}, false, {true, true}, true},
    {2, 2, {4, 8, 0}, "0.02", {"y*(1 - y)", "x - 0.4", NULL}, true, {true, false}, true}};
enum { CASES = sizeof cases / sizeof *cases, ALONG = 6 /* nothing crosses cuts */ };

/* On devices with kernels some cases: the emulator takes its time. */
static bool is_left_out(int c) {
  return tesi_has_kernels(together) && c != 1 && c != 3 && c != ALONG + 1 && c != CASES - 1;
}

typedef struct Side {
  TesContext *ctx;
  TesMesh *mesh;
  TesSpace *space;
  TesOperator *op;
} Side;

static TesFunction *expression(TesContext *ctx, const char *text) {
  TesFunction *f = NULL;
  if (text) assert_ok(ctx, tes_function_create_expression(ctx, text, &f));
  return f;
}

static Side create(TesContext *ctx, const Case *is) {
  static const signed char through[6] = {1, 1, 1, 1, 1, 1};
  Side s = {.ctx = ctx};
  TesMeshDesc mesh = {.dim = is->dim, .kind = TES_MESH_BOX};
  uint8_t given[6] = {0};
  TesFunction *a = expression(ctx, is->a), *c = expression(ctx, "0.5"), *b[3];
  for (int d = 0; d < 3; d++) b[d] = expression(ctx, is->b[d]), mesh.cells[d] = is->cells[d];
  if (is->cells[is->dim - 1] == 8) mesh.coordinates[is->dim - 1] = graded;
  for (int f = 0; f < 2 * is->dim; f++) given[f] = is->given[f];
  mesh.periodic[is->dim - 1] = is->ring;
  assert_ok(ctx, tes_mesh_create(ctx, &mesh, &s.mesh));
  const TesSpaceDesc space = {.mesh = s.mesh, .degree = is->degree, .element = TES_ELEMENT_DG, .given = given};
  assert_ok(ctx, tes_space_create(ctx, &space, &s.space));
  const TesTermDesc term[] = {{.term = TES_TERM_DIFFUSION, .a = {.all = a}},
                              {.term = TES_TERM_MASS, .a = {.all = c}},
                              {.term = TES_TERM_TRANSPORT,
                               .b = {b[0], b[1], b[2]},
                               .conservative = is->conservative,
                               .through = is->conservative ? through : NULL,
                               .streamline = TES_STREAMLINE_NONE}};
  const TesOperatorDesc form = {.space = s.space, .form = {.terms = is->b[0] ? 3 : 2, .term = term}};
  assert_ok(ctx, tes_operator_create(ctx, &form, &s.op));
  for (int d = 0; d < 3; d++) tes_function_destroy(&b[d]);
  tes_function_destroy(&a), tes_function_destroy(&c);
  return s;
}

static void release(Side *s) {
  tes_operator_destroy(&s->op);
  tes_space_destroy(&s->space);
  tes_mesh_destroy(&s->mesh);
}

/* Numbers of the entries that one rank has, the same on any number of ranks; seed 0: NaN. */
static TesVector *vector(const Side *s, uint64_t seed) {
  const int64_t n = tes_space_length(s->space);
  double *values = malloc((size_t)n * sizeof *values), *number;
  TesVector *v;
  assert_ok(s->ctx, tesi_layout_numbers(s->space->layout, &number));
  for (int64_t i = 0; i < n; i++) {
    uint64_t own = seed + 7919 * (uint64_t)number[i];
    test_random(&own);
    values[i] = seed ? test_random(&own) : NAN;
  }
  assert_ok(s->ctx, tesi_vector_create_on(s->space->layout, TES_DOUBLE, &v));
  assert_ok(s->ctx, tes_vector_set(v, values));
  tesi_free(s->ctx, &number);
  free(values);
  return v;
}

/* Destroys both. */
static void compare(const char *what, int of, const Side *one, TesVector *a, const Side *many, TesVector *b,
                    double tolerance) {
  const int64_t n = tes_space_length(one->space), own = tes_space_length(many->space);
  double *x = malloc((size_t)n * sizeof *x), *y = malloc((size_t)own * sizeof *y), *number, largest = 1;
  assert_ok(alone, tes_vector_get(a, x));
  assert_ok(together, tes_vector_get(b, y));
  assert_ok(together, tesi_layout_numbers(many->space->layout, &number));
  assert_int_equal(many->space->layout->global, n);
  for (int64_t i = 0; i < n; i++) largest = fmax(largest, fabs(x[i]));
  for (int64_t i = 0; i < own; i++)
    if (!(fabs(y[i] - x[(int64_t)number[i]]) <= tolerance * largest))
      fail_msg("%s of case %d on rank %d: entry %lld is %.17g, not %.17g", what, of, world->rank,
               (long long)number[i], y[i], x[(int64_t)number[i]]);
  tesi_free(together, &number);
  tes_vector_destroy(&a), tes_vector_destroy(&b);
  free(x), free(y);
}

/* What an operator makes of a vector, by its number. */
enum { APPLY, RESIDUAL, DIAGONAL, REFERENCE, SUBTRACT, SLOPES, MOVED, WAYS };

static TesVector *made(const Side *s, int way) {
  TesVector *x = vector(s, 3), *y = vector(s, way == RESIDUAL || way == SUBTRACT ? 4 : 0),
            *nan = vector(s, 0), *other = vector(s, 0);
  TesFunction *moved[3] = {expression(s->ctx, "y"), expression(s->ctx, "1 - x"),
                           s->space->dim == 3 ? expression(s->ctx, "x*y") : NULL};
  const TesFunction *b[3] = {moved[0], moved[1], moved[2]};
  assert_ok(s->ctx, tes_operator_apply(s->op, nan, other));
  if (way == MOVED) assert_ok(s->ctx, tesi_transport_move(s->op, b));
  assert_ok(s->ctx, way == APPLY || way == MOVED ? tes_operator_apply(s->op, x, y)
                    : way == RESIDUAL            ? tes_operator_residual(s->op, y, x, y)
                    : way == DIAGONAL            ? tes_operator_diagonal(s->op, y)
                    : way == REFERENCE           ? tesi_operator_apply_ref(s->op, x, y)
                    : way == SUBTRACT            ? tesi_transport_subtract(s->op, x, y)
                                                 : tesi_transport_slopes(s->op, y));
  for (int d = 0; d < 3; d++) tes_function_destroy(&moved[d]);
  tes_vector_destroy(&x), tes_vector_destroy(&nan), tes_vector_destroy(&other);
  return y;
}

static void operators_are_one(void **state) {
  (void)state;
  for (int c = 0; c < CASES; c++) {
    if (is_left_out(c)) continue;
    Side one = create(alone, &cases[c]), many = create(together, &cases[c]);
    const bool carried = tesi_is_upwind(one.op);
    assert_int_equal(one.op->singular, many.op->singular);
    assert_int_equal(tes_space_dofs(one.space), tes_space_dofs(many.space));
    for (int way = 0; way < WAYS; way++) {
      char what[40];
      snprintf(what, sizeof what, "way %d", way);
      if (carried ? way == DIAGONAL : way > REFERENCE) continue;
      if (carried && cases[c].ring && way == REFERENCE)
        continue; /* it differentiates b, which goes on here */
      compare(what, c, &one, made(&one, way), &many, made(&many, way), 1e-12);
    }
    release(&one), release(&many);
  }
}

/* The sum over all ranks of what boundaries let in; cuts are none. */
static void boundaries_are_one(void **state) {
  (void)state;
  for (int c = 0; c < CASES; c++) {
    if (is_left_out(c)) continue;
    Side side[2] = {create(alone, &cases[c]), create(together, &cases[c])};
    for (int f = 0; f < 2 * cases[c].dim && cases[c].b[0]; f++) {
      TesVector *y[2];
      for (int i = 0; i < 2; i++) {
        const TesiTransport *t = tesi_transport_of(side[i].op);
        const int64_t n = tes_space_length(side[i].space);
        double *values = calloc((size_t)n, sizeof *values);
        y[i] = vector(&side[i], 0);
        assert_ok(side[i].ctx, tesi_upwind_boundary(&t->upwind, f, TESI_UPWIND_BOTH, -1, NULL, values));
        assert_ok(side[i].ctx, tes_vector_set(y[i], values));
        free(values);
      }
      compare("a boundary", c, &side[0], y[0], &side[1], y[1], 1e-13);
    }
    release(&side[0]), release(&side[1]);
  }
}

/* Two sweeps, the first from zero or from x. */
static TesVector *smooth(const Side *s, TesSmootherKind kind, TesSweep sweep, bool zero, bool reference) {
  TesSmoother *smoother;
  TesVector *b = vector(s, 8), *x = vector(s, zero ? 0 : 9), *nan = vector(s, 0), *other = vector(s, 0);
  assert_ok(s->ctx, tes_smoother_create(s->ctx, &(TesSmootherDesc){.op = s->op, .kind = kind}, &smoother));
  if (!reference) assert_ok(s->ctx, tes_smoother_apply(smoother, nan, other, sweep, false));
  for (int i = 0; i < 2; i++)
    assert_ok(s->ctx, reference ? tesi_smoother_apply_ref(smoother, b, x, sweep, zero && i == 0)
                                : tes_smoother_apply(smoother, b, x, sweep, zero && i == 0));
  tes_vector_destroy(&b), tes_vector_destroy(&nan), tes_vector_destroy(&other);
  tes_smoother_destroy(&smoother);
  return x;
}

static void sweeps_are_one(void **state) {
  (void)state;
  for (int c = 0; c < CASES; c++)
    for (int way = 0; way < 4; way++) {
      const TesSweep sweep = way % 2 ? TES_BACKWARD : TES_FORWARD;
      if (is_left_out(c) || (tesi_has_kernels(together) && way % 3)) continue;
      Side one = create(alone, &cases[c]), many = create(together, &cases[c]);
      const bool carried = tesi_is_upwind(one.op), zero = way / 2;
      const TesSmootherKind kind = carried ? TES_SMOOTHER_CELL_PATCH : TES_SMOOTHER_PATCH;
      if (!carried || c == ALONG)
        compare("a sweep", c, &one, smooth(&one, kind, sweep, zero, false), &many,
                smooth(&many, kind, sweep, zero, false), carried ? 1e-8 : 1e-11);
      if (carried && !(cases[c].ring && tesi_has_kernels(together))) { /* that one differentiates b too */
        TesVector *x = smooth(&many, kind, sweep, zero, false), *y = smooth(&many, kind, sweep, zero, true);
        double size, difference;
        assert_ok(together, tes_vector_norm(y, &size));
        assert_ok(together, tes_vector_axpy(-1, x, y));
        assert_ok(together, tes_vector_norm(y, &difference));
        assert_true(difference <= 1e-11 * size);
        tes_vector_destroy(&x), tes_vector_destroy(&y);
      }
      release(&one), release(&many);
    }
}

/* What is solved stays: cells of other ranks are read as they are. */
static void solutions_stay(void **state) {
  (void)state;
  for (int c = 0; c < CASES; c++) {
    if (is_left_out(c)) continue;
    Side many = create(together, &cases[c]);
    TesSmoother *smoother;
    TesVector *x = vector(&many, 9), *b = vector(&many, 0), *y = vector(&many, 9);
    double size, change;
    const TesSmootherKind kind = tesi_is_upwind(many.op) ? TES_SMOOTHER_CELL_PATCH : TES_SMOOTHER_PATCH;
    assert_ok(together, tes_operator_apply(many.op, x, b));
    assert_ok(together,
              tes_smoother_create(together, &(TesSmootherDesc){.op = many.op, .kind = kind}, &smoother));
    assert_ok(together, tes_smoother_apply(smoother, b, x, TES_FORWARD, false));
    assert_ok(together, tes_vector_norm(x, &size));
    assert_ok(together, tes_vector_axpy(-1, x, y));
    assert_ok(together, tes_vector_norm(y, &change));
    if (!(change <= 1e-10 * size)) fail_msg("case %d: a solution changes by %g", c, change / size);
    tes_vector_destroy(&x), tes_vector_destroy(&y), tes_vector_destroy(&b);
    tes_smoother_destroy(&smoother);
    release(&many);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(operators_are_one), cmocka_unit_test(boundaries_are_one),
                                     cmocka_unit_test(sweeps_are_one), cmocka_unit_test(solutions_stay)};
  const int status = begin_on_ranks(NULL);
  if (status) return status;
  return end_on_ranks(cmocka_run_group_tests(tests, NULL, NULL));
}
