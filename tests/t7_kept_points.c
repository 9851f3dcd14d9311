/* Run: ctest -R t7_kept_points. Points that a mesh keeps: samples have the same bits as samples that search; kept hits
 * are used, of exactly these points; old sets leave; a point outside is not kept. Points of lattices of all cells. */
#include "geometry/kept.h"
#include "tessera/tessera.h"
#include "testing.h"

enum { POINTS = 200, NAMES = 3, DIM = 2 };
static const char *const names[NAMES] = {"u", "ux", "exp(u)*uy + x"};

typedef struct Setup {
  TesContext *ctx;
  TesMesh *mesh;
  TesFunction *f;
  TesProblem *problem;
  double x[POINTS * DIM];
} Setup;

/* Cells of a disk: points are found by Newton's method. */
static void set_up(Setup *s) {
  uint64_t seed = 3;
  *s = (Setup){.ctx = NULL};
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &s->ctx, NULL, 0), TES_OK);
  assert_ok(s->ctx, tes_mesh_create(s->ctx, &(TesMeshDesc){.dim = DIM, .domain = TES_DOMAIN_BALL}, &s->mesh));
  assert_ok(s->ctx, tes_function_create_expression(s->ctx, "1 + x", &s->f));
  assert_ok(s->ctx,
            tes_problem_create(s->ctx, &(TesProblemDesc){.mesh = s->mesh, .degree = 3, .data = {.f = {s->f}}},
                               &s->problem));
  assert_ok(s->ctx, tes_problem_solve(s->problem, &(TesSolveResult){0}));
  for (int i = 0; i < POINTS * DIM; i++) s->x[i] = 0.7 * test_random(&seed);
}

static void tear_down(Setup *s) {
  tes_problem_destroy(&s->problem);
  tes_function_destroy(&s->f);
  tes_mesh_destroy(&s->mesh);
  tes_context_destroy(&s->ctx);
}

static void sample(const Setup *s, const double *x, double *values) {
  double moved[POINTS];
  for (int i = 0; i < POINTS * NAMES; i++) values[i] = NAN;
  assert_ok(s->ctx, tes_problem_sample(s->problem, POINTS, x, NAMES, names, values, moved));
}

static bool is_kept(const Setup *s, int64_t n, const double *x) {
  TesiHit *hit;
  int64_t count;
  bool found;
  assert_ok(s->ctx, tesi_kept_find(s->mesh, n, x, &hit, &count, &found));
  assert_int_equal(hit != NULL, found);
  tesi_free(s->ctx, &hit);
  return found;
}

static TesStatus keep(const Setup *s, int64_t n, const double *x) {
  double moved[POINTS];
  return tes_problem_sample(s->problem, n, x, 0, NULL, NULL, moved);
}

static void test_same_bits(void **state) {
  Setup s;
  double searched[POINTS * NAMES], kept[POINTS * NAMES];
  (void)state;
  set_up(&s);
  sample(&s, s.x, searched);
  assert_false(is_kept(&s, POINTS, s.x));
  assert_ok(s.ctx, keep(&s, POINTS, s.x));
  assert_true(is_kept(&s, POINTS, s.x));
  sample(&s, s.x, kept);
  assert_memory_equal(kept, searched, sizeof kept);
  tear_down(&s);
}

/* The hit of the origin as the place of another point: its value is that of the origin. */
static void test_kept_hits_are_used(void **state) {
  Setup s;
  double at_origin, value, moved;
  const double origin[DIM] = {0, 0}, other[DIM] = {0.4, 0.3};
  TesiHit *hit;
  int64_t count;
  (void)state;
  set_up(&s);
  assert_ok(s.ctx, tesi_mesh_find(s.mesh, 1, origin, 0.01, &hit, &count));
  assert_ok(s.ctx, tesi_kept_add(s.mesh, 1, other, count, hit));
  assert_ok(s.ctx, tes_problem_sample(s.problem, 1, origin, 1, names, &at_origin, &moved));
  assert_ok(s.ctx, tes_problem_sample(s.problem, 1, other, 1, names, &value, &moved));
  assert_true(value == at_origin);
  assert_ok(s.ctx, tes_problem_sample(s.problem, 1, other, 1, names, &value, NULL));
  assert_true(value < at_origin);
  tesi_free(s.ctx, &hit);
  tear_down(&s);
}

static void test_old_sets_leave(void **state) {
  Setup s;
  const double zero[DIM] = {0, 0}, minus[DIM] = {0, -0.0};
  (void)state;
  set_up(&s);
  assert_ok(s.ctx, keep(&s, 1, zero));
  assert_false(is_kept(&s, 1, minus));
  for (int i = 0; i < TESI_KEPT_SETS; i++) {
    assert_true(is_kept(&s, 1, zero));
    assert_ok(s.ctx, keep(&s, 1 + i, s.x));
    assert_ok(s.ctx, keep(&s, 1 + i, s.x)); /* again: it takes no place */
  }
  assert_false(is_kept(&s, 1, zero));
  for (int i = 0; i < TESI_KEPT_SETS; i++) assert_true(is_kept(&s, 1 + i, s.x));
  tear_down(&s);
}

static void test_outside(void **state) {
  Setup s;
  const double outside[2 * DIM] = {0, 0, 3, 0};
  (void)state;
  set_up(&s);
  assert_int_equal(keep(&s, 2, outside), TES_INVALID_INPUT);
  assert_false(is_kept(&s, 2, outside));
  assert_ok(s.ctx,
            tes_problem_sample(s.problem, 1, outside, 0, NULL, NULL, NULL)); /* moves nothing: keeps nothing */
  assert_false(is_kept(&s, 1, outside));
  assert_ok(s.ctx, keep(&s, 0, NULL));
  tear_down(&s);
}

/* Lattices of all cells: what samples of their points tell; derivatives, which jump, inside of cells alone. */
static void test_lattices(void **state) {
  (void)state;
  enum { LINE = 4, EACH = LINE * LINE };
  Setup s;
  set_up(&s);
  const int64_t cells = tes_mesh_info(s.mesh).cells;
  double xi[EACH * DIM], x[POINTS * DIM], values[POINTS * NAMES], found[POINTS * NAMES];
  assert_true(cells * EACH <= POINTS);
  for (int i = 0; i < EACH; i++)
    xi[i * DIM] = i % LINE / (LINE - 1.), xi[i * DIM + 1] = i / LINE / (LINE - 1.);
  for (int64_t c = 0; c < cells; c++)
    assert_ok(s.ctx, tes_mesh_evaluate(s.mesh, c, EACH, xi, x + c * EACH * DIM, NULL));
  for (int i = 0; i < POINTS * NAMES; i++) values[i] = NAN;
  assert_ok(s.ctx, tes_problem_sample(s.problem, cells * EACH, NULL, NAMES, names, values, NULL));
  assert_ok(s.ctx, tes_problem_sample(s.problem, cells * EACH, x, NAMES, names, found, NULL));
  for (int i = 0; i < cells * EACH * NAMES; i++) {
    const int at[2] = {i / NAMES % LINE, i / NAMES % EACH / LINE};
    if (i % NAMES == 0 || (at[0] % (LINE - 1) && at[1] % (LINE - 1))) assert_near(values[i], found[i], 1e-9);
  }
  const int64_t wrong[] = {cells * EACH + 1, cells, cells * 8};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(tes_problem_sample(s.problem, wrong[i], NULL, 0, NULL, NULL, NULL), TES_INVALID_INPUT);
    assert_non_null(strstr(tes_context_message(s.ctx), "with p > 1"));
    tes_context_clear(s.ctx);
  }
  tear_down(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_lattices), cmocka_unit_test(test_same_bits),
                                     cmocka_unit_test(test_kept_hits_are_used),
                                     cmocka_unit_test(test_old_sets_leave), cmocka_unit_test(test_outside)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
