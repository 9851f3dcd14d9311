/* Run: ctest -R t7_mpi_levels. Cycles on several ranks: levels that every rank has whole, and vectors that stand where
 * smoothers have them best, against the cycle of one rank and against cycles whose levels are all spread.
 * Ranks: 2 3
 * Ranks on the emulator: 2 3 */
#include <stdlib.h>
#include "device/kernel.h"
#include "multigrid/multigrid.h"
#include "operator/operator.h"
#include "tessera/tessera.h"
#include "testing.h"
#include "mpi_testing.h"

typedef struct Case {
  TesMeshDesc mesh;
  int degree;
  const char *where, *a; /* refined where positive */
} Case;

static const Case cases[] = {
    {{.kind = TES_MESH_BOX, .dim = 2, .cells = {8, 32}}, 2, NULL, "1"},
    {{.kind = TES_MESH_BOX, .dim = 3, .cells = {4, 4, 24}, .upper = {1, 1, 3}}, 1, NULL, "2"},
    {{.kind = TES_MESH_BOX, .dim = 3, .cells = {4, 6, 12}, .upper = {1, 1, 2}}, 3, NULL, "1"},
    {{.kind = TES_MESH_FOREST, .dim = 2, .cells = {4, 3}, .refine = 2}, 3, "0.4 - x - y*y", "1 + x*y"},
    {{.kind = TES_MESH_FOREST, .dim = 3, .cells = {2, 2, 2}, .refine = 1}, 2, "0.3 - x", "1"}};

typedef struct Built {
  TesContext *context;
  TesMesh *mesh;
  TesSpace *space;
  TesOperator *op;
  TesMultigrid *multigrid;
  TesVector *b, *x;
} Built;

static TesFunction *expression(TesContext *ctx, const char *text) {
  TesFunction *f;
  assert_ok(ctx, tes_function_create_expression(ctx, text, &f));
  return f;
}

/* b: of the cycle's precision. */
static void build(TesContext *ctx, const Case *is, TesPrecision precision, bool spread, Built *to) {
  TesFunction *where = is->where ? expression(ctx, is->where) : NULL, *a = expression(ctx, is->a),
              *f = expression(ctx, "1 + sin(7*x)*y");
  const TesTermDesc term = {.term = TES_TERM_DIFFUSION, .a = {.all = a}};
  TesMeshDesc desc = is->mesh;
  TesVector *load;
  *to = (Built){.context = ctx};
  desc.refine_where = where, desc.refine_times = where != NULL;
  assert_ok(ctx, tes_mesh_create(ctx, &desc, &to->mesh));
  assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = to->mesh, .degree = is->degree}, &to->space));
  const TesOperatorDesc form = {.space = to->space, .form = {.terms = 1, .term = &term}};
  assert_ok(ctx, tes_operator_create(ctx, &form, &to->op));
  const TesMultigridDesc mg = {.op = to->op, .precision = precision, .symmetric = true, .spread = spread};
  assert_ok(ctx, tes_multigrid_create(ctx, &mg, &to->multigrid));
  assert_ok(ctx, tesi_operator_new_vector(to->op, TES_DOUBLE, &load));
  assert_ok(ctx, tesi_operator_new_vector(to->op, precision, &to->b));
  assert_ok(ctx, tesi_operator_new_vector(to->op, precision, &to->x));
  assert_ok(ctx, tes_functional_load(&(TesLoadDesc){.space = to->space, .f = {f}}, load));
  assert_ok(ctx, tes_vector_copy(load, 1, to->b));
  tes_vector_destroy(&load);
  tes_function_destroy(&where);
  tes_function_destroy(&a);
  tes_function_destroy(&f);
}

static void release(Built *of) {
  tes_vector_destroy(&of->b);
  tes_vector_destroy(&of->x);
  tes_multigrid_destroy(&of->multigrid);
  tes_operator_destroy(&of->op);
  tes_space_destroy(&of->space);
  tes_mesh_destroy(&of->mesh);
}

/* The start of full multigrid, a cycle that goes on from it, and a cycle from zero of its result. */
static void run(Built *of, TesVector *b, TesVector *x) {
  TesContext *ctx = of->context;
  assert_ok(ctx, tesi_multigrid_start(of->multigrid, b, NULL, 1, TESI_CYCLE_USUAL, x));
  assert_ok(ctx, tes_multigrid_cycle(of->multigrid, b, x, false));
  assert_ok(ctx, tes_vector_copy(x, 1, b));
  assert_ok(ctx, tes_multigrid_cycle(of->multigrid, b, x, true));
}

static double *values_of(const TesVector *v) {
  double *values = malloc((size_t)tes_vector_length(v) * sizeof *values);
  assert_ok(v->context, tes_vector_get(v, values));
  return values;
}

static void expect_equal_copies(const TesSpace *space, const TesVector *v) {
  TesiExchange *shared = space->layout->shared;
  const int32_t *entry = NULL;
  double *least = values_of(v), *most = values_of(v);
  for (int64_t i = 0; i < space->length; i++) least[i] = -least[i];
  tesi_exchange_begin(shared, TES_DOUBLE, least);
  tesi_exchange_end(shared, TESI_MAXIMUM, TES_DOUBLE, least);
  tesi_exchange_begin(shared, TES_DOUBLE, most);
  tesi_exchange_end(shared, TESI_MAXIMUM, TES_DOUBLE, most);
  for (int64_t i = 0, n = tesi_exchange_entries(shared, &entry); i < n; i++)
    assert_true(-least[entry[i]] == most[entry[i]]);
  free(least);
  free(most);
}

static void expect_same_size(const TesVector *a, const TesVector *b, double tolerance) {
  double x, y;
  assert_ok(a->context, tes_vector_norm(a, &x));
  assert_ok(b->context, tes_vector_norm(b, &y));
  assert_near(y, x, tolerance * x);
  assert_ok(a->context, tes_vector_maximum(a, &x));
  assert_ok(b->context, tes_vector_maximum(b, &y));
  assert_near(y, x, tolerance * x);
}

/* All levels below the finest are whole; families stay together, so that the levels are those of one rank. */
static void whole_levels_are_of_one_rank(void **state) {
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    for (int precision = 0; precision < 2; precision++) {
      Built one, part;
      build(alone, &cases[c], (TesPrecision)precision, false, &one);
      build(together, &cases[c], (TesPrecision)precision, false, &part);
      const bool whole = tesi_has_kernels(together) && world->size > 1;
      const int levels = tes_multigrid_levels(part.multigrid);
      if (whole) assert_int_equal(levels, tes_multigrid_levels(one.multigrid));
      for (int l = 0; l < levels; l++)
        assert_int_equal(tes_multigrid_level(part.multigrid, l).op->context == together,
                         !whole || l + 1 == levels);
      run(&one, one.b, one.x);
      run(&part, part.b, part.x);
      const bool box =
          cases[c].mesh.kind == TES_MESH_BOX; /* eigenvalues are estimated from other vectors on trees */
      expect_same_size(one.x, part.x, !whole ? 0.05 : !box ? 1e-4 : precision == TES_SINGLE ? 3e-5 : 1e-10);
      expect_equal_copies(part.space, part.x);
      release(&one);
      release(&part);
    }
}

/* Levels that are spread keep the vertices at cuts. */
static bool have_same_levels(const Built *a, const Built *b) {
  const int levels = tes_multigrid_levels(a->multigrid);
  bool all = levels == tes_multigrid_levels(b->multigrid);
  for (int l = 0; l < levels && all; l++)
    all = tes_space_dofs(tes_multigrid_level(a->multigrid, l).space) ==
          tes_space_dofs(tes_multigrid_level(b->multigrid, l).space);
  return all;
}

/* Where vectors stand, and which levels are whole, changes rounding alone: on cuts ranks round differently. */
static void places_and_levels_change_nothing(void **state) {
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    const bool is_box = cases[c].mesh.kind == TES_MESH_BOX;
    Built part, spread;
    TesVector *b, *x;
    build(together, &cases[c], TES_DOUBLE, false, &part);
    build(together, &cases[c], TES_DOUBLE, true, &spread);
    assert_ok(together, tesi_multigrid_new_vectors(part.multigrid, &b, &x));
    assert_ok(together, tes_vector_copy(part.b, 1, b));
    run(&part, b, x);
    expect_equal_copies(part.space, x);
    double *home = values_of(x);
    run(&part, part.b, part.x);
    run(&spread, spread.b, spread.x);
    const bool same = is_box && have_same_levels(&part, &spread);
    double *here = values_of(part.x), *other = values_of(spread.x), largest;
    assert_ok(together, tes_vector_maximum(part.x, &largest));
    for (int64_t i = 0; i < tes_vector_length(x); i++) {
      assert_near(home[i], here[i], 1e-13 * largest);
      if (same) assert_near(other[i], here[i], 1e-12 * largest);
    }
    free(home);
    free(here);
    free(other);
    tes_vector_destroy(&b);
    tes_vector_destroy(&x);
    release(&part);
    release(&spread);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(whole_levels_are_of_one_rank),
                                     cmocka_unit_test(places_and_levels_change_nothing)};
  const int status = begin_on_ranks(NULL);
  if (status) return status;
  return end_on_ranks(cmocka_run_group_tests(tests, NULL, NULL));
}
