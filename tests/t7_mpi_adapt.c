/* Run: ctest -R t7_mpi_adapt. What adaptation on several ranks consists of, against one rank: marks, refinement,
 * functions that go to other ranks with their cells.
 * Ranks: 2 3 */
#include <stdlib.h>
#include "mesh/forest/forest.h"
#include "parallel/repartition.h"
#include "space/space.h"
#include "tessera/adapt.h"
#include "tessera/tessera.h"
#include "testing.h"
#include "mpi_testing.h"

static const TesMeshDesc cases[] = {
    {.kind = TES_MESH_FOREST, .dim = 2, .cells = {5, 3}, .refine = 1},
    {.kind = TES_MESH_FOREST, .domain = TES_DOMAIN_BALL, .dim = 3, .refine = 1},
    {.kind = TES_MESH_FOREST, .domain = TES_DOMAIN_L_SHAPE, .dim = 3, .refine = 1}};

static TesFunction *expression(TesContext *ctx, const char *text) {
  TesFunction *f;
  assert_ok(ctx, tes_function_create_expression(ctx, text, &f));
  return f;
}

/* A mesh, refined where the middle of a cell lies beyond a line. */
static void refine(TesContext *ctx, const TesMeshDesc *is, TesMesh **adapted) {
  TesMesh *mesh;
  const double middle[3] = {0.5, 0.5, 0.5};
  assert_ok(ctx, tes_mesh_create(ctx, is, &mesh));
  int8_t *mark = calloc((size_t)mesh->cells + 1, sizeof *mark);
  for (int64_t c = 0; c < mesh->cells; c++) {
    double x[3];
    tesi_mesh_map(mesh, c, 1, middle, x);
    mark[c] = x[0] + 0.9 * x[1] > 0.71;
  }
  assert_ok(ctx, tes_mesh_adapt(mesh, mark, adapted));
  free(mark);
  tes_mesh_destroy(&mesh);
}

/* A function of x at the nodes of an adapted mesh goes to its cells in equal shares: in every copy of an entry it is
 * what it is there. */
static void functions_go_with_cells(void **state) {
  (void)state;
  TesFunction *f[2] = {expression(together, "sin(5*x) + y"), expression(together, "x - y*y")};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    TesMesh *whole, *mesh, *shared;
    TesSpace *from, *to;
    TesVector *u, *v, *expected;
    refine(alone, &cases[c], &whole);
    refine(together, &cases[c], &mesh);
    assert_int_equal(tes_mesh_info(mesh).all_cells, whole->cells);
    assert_ok(together, tesi_mesh_share_out(mesh, &shared));
    assert_int_equal(tes_mesh_info(shared).all_cells, whole->cells);
    uint8_t given[64] = {1, 2, 3};
    const TesSpaceDesc on_mesh = {.mesh = mesh, .degree = 1 + (int)c, .components = 2, .given = given},
                       on_shared = {.mesh = shared, .degree = 1 + (int)c, .components = 2, .given = given};
    assert_ok(together, tes_space_create(together, &on_mesh, &from));
    assert_ok(together, tes_space_create(together, &on_shared, &to));
    assert_ok(together, tesi_vector_create_on(from->layout, TES_DOUBLE, &u));
    assert_ok(together, tesi_vector_create_on(to->layout, TES_DOUBLE, &v));
    assert_ok(together, tesi_vector_create_on(to->layout, TES_DOUBLE, &expected));
    assert_ok(together, tes_space_interpolate(from, (const TesFunction *const *)f, u));
    assert_ok(together, tes_space_interpolate(to, (const TesFunction *const *)f, expected));
    double *here = calloc((size_t)from->length, sizeof *here),
           *there = malloc((size_t)to->length * sizeof *there),
           *right = malloc((size_t)to->length * sizeof *right);
    assert_ok(together, tes_vector_get(u, here));
    assert_ok(together, tesi_layout_move(from->layout, here, to->layout, there));
    assert_ok(together, tes_vector_get(expected, right));
    for (int64_t i = 0; i < to->length; i++) assert_near(there[i], right[i], 1e-12);
    free(here);
    free(there);
    free(right);
    tes_vector_destroy(&u);
    tes_vector_destroy(&v);
    tes_vector_destroy(&expected);
    tes_space_destroy(&from);
    tes_space_destroy(&to);
    tes_mesh_destroy(&whole);
    tes_mesh_destroy(&mesh);
    tes_mesh_destroy(&shared);
  }
  for (int i = 0; i < 2; i++) tes_function_destroy(&f[i]);
}

/* A part of all cells, or of their sum, is marked as on one rank; equal ones together, of none the first. */
static void the_same_cells_are_marked(void **state) {
  (void)state;
  enum { ALL = 60 };
  const int ranks = world->size, rank = world->rank;
  for (int kind = 0; kind < 4; kind++) {
    double all[ALL], own[ALL];
    int8_t expected[ALL], mark[ALL];
    int64_t count = 0, first = (int64_t)ALL * rank / ranks, cells = (int64_t)ALL * (rank + 1) / ranks - first;
    for (int i = 0; i < ALL; i++) all[i] = kind == 2 ? i % 20 == 0 : kind == 3 ? 0 : (i * 37 % ALL) * 0.01;
    for (int64_t i = 0; i < cells; i++) own[i] = all[first + i];
    const TesMarking marking = kind ? TES_MARK_FRACTION : TES_MARK_BULK;
    const int64_t marked = tes_mark_cells(alone, marking, 0.3, ALL, all, expected);
    assert_true(marked > 0 && marked < ALL);
    if (kind) assert_int_equal(marked, 18);
    tes_mark_cells(together, marking, 0.3, cells, own, mark);
    for (int64_t i = 0; i < cells; i++) assert_int_equal(mark[i], expected[first + i]);
    for (int i = 0; i < ALL; i++) count += expected[i];
    assert_int_equal(count, marked);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(functions_go_with_cells),
                                     cmocka_unit_test(the_same_cells_are_marked)};
  const int status = begin_on_ranks(NULL);
  if (status) return status;
  return end_on_ranks(cmocka_run_group_tests(tests, NULL, NULL));
}
