/* Run: ctest -R t3_space_parts. Spaces of several components and products: their parts against spaces of one
 * component made alone, what is shared, views of vectors, functions at the nodes and from mesh to mesh, refusals,
 * scalars on axes over boxes, failing allocations. */
#include "device/vector.h"
#include "failing_allocator.h"
#include "forest_testing.h"
#include "space/space.h"
#include "tessera/tessera.h"
#include "context_testing.h"

enum { LEFT = 0, RIGHT = 1 };

static TesFunction *expression(const char *text) {
  TesFunction *f;
  assert_ok(ctx, tes_function_create_expression(ctx, text, &f));
  return f;
}

/* A box, or a forest with one cell of another size. False: a build without p4est. */
static bool make_mesh(TesContext *on, TesMeshKind kind, int dim, TesMesh **mesh) {
  TesFunction *corner = NULL;
  if (kind == TES_MESH_FOREST) corner = expression("0.1 - x - y");
  const TesMeshDesc desc = {.kind = kind, .dim = dim, .cells = {2, 2, 2}, .refine = 1, .refine_where = corner};
  const TesStatus status = tes_mesh_create(on, &desc, mesh);
  tes_function_destroy(&corner);
  if (status == TES_MISSING) return false;
  assert_ok(on, status);
  return true;
}

/* Component c is given everywhere but on the right for c = 0, on the left for c = 2. */
static void put_given(uint8_t given[6]) {
  for (int b = 0; b < 6; b++) given[b] = 7;
  given[RIGHT] = 6, given[LEFT] = 3;
}

static TesSpace *alone(const TesMesh *mesh, int degree, const uint8_t given[6], int component) {
  TesSpace *space;
  uint8_t own[6];
  for (int b = 0; b < 6; b++) own[b] = given[b] >> component & 1;
  assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = degree, .given = own}, &space));
  return space;
}

static void check_component(const TesSpace *space, int c, const uint8_t given[6]) {
  TesSpace *one = alone(tes_space_mesh(space), tes_space_degree(space), given, c);
  const TesSpace *part = tes_space_part(space, c);
  const int32_t *index, *expected;
  assert_int_equal(tes_space_length(part), tes_space_length(one));
  assert_int_equal(tes_space_dofs(part), tes_space_dofs(one));
  assert_ok(ctx, tes_space_index(part, &index, NULL));
  assert_ok(ctx, tes_space_index(one, &expected, NULL));
  assert_memory_equal(index, expected, (size_t)one->view->cells * (size_t)one->view->cell_nodes * 4);
  for (int b = 0; b < tes_mesh_boundaries(tes_space_mesh(space)); b++) {
    assert_int_equal(tes_space_given(part, b), tes_space_given(one, b));
    assert_int_equal(tes_space_given(space, b), given[b]);
  }
  tes_space_destroy(&one);
}

static void components_are_spaces(void **state) {
  (void)state;
  uint8_t given[6];
  put_given(given);
  for (TesMeshKind kind = TES_MESH_BOX; kind <= TES_MESH_FOREST; kind++)
    for (int dim = 2; dim <= 3; dim++) {
      TesMesh *mesh;
      TesSpace *space, *coarse, *same;
      if (!make_mesh(ctx, kind, dim, &mesh)) continue;
      assert_ok(
          ctx, tes_space_create(
                   ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 3, .components = 3, .given = given}, &space));
      assert_int_equal(tes_space_parts(space), 3);
      assert_int_equal(tes_space_components(space), 3);
      assert_null(tes_space_part(space, 3));
      assert_null(tesi_space_box(space));
      int64_t length = 0, dofs = 0;
      for (int c = 0; c < 3; c++) {
        check_component(space, c, given);
        length += tes_space_length(tes_space_part(space, c)), dofs += tes_space_dofs(tes_space_part(space, c));
      }
      assert_int_equal(tes_space_length(space), length);
      assert_int_equal(tes_space_dofs(space), dofs);
      assert_ok(ctx, tes_space_coarsen(space, &coarse));
      for (int c = 0; c < 3; c++) check_component(coarse, c, given);
      assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .components = 2}, &same));
      assert_ptr_equal(tes_space_part(same, 0), tes_space_part(same, 1));
      assert_int_equal(tes_space_given(same, -1), 3);
      tes_space_destroy(&same);
      tes_space_destroy(&coarse);
      tes_space_destroy(&space);
      tes_mesh_destroy(&mesh);
    }
}

/* Velocity of two components and pressure: what is written to the second component stands behind the first. */
static void products_nest(void **state) {
  (void)state;
  TesMesh *mesh;
  TesSpace *velocity, *pressure, *product, *coarse;
  TesVector *v, *of_velocity, *of_component;
  uint8_t none[6] = {0};
  assert_true(make_mesh(ctx, TES_MESH_BOX, 2, &mesh));
  assert_ok(ctx,
            tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 2, .components = 2}, &velocity));
  assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 1, .given = none}, &pressure));
  assert_ok(ctx, tes_space_create_product(ctx, 2, (const TesSpace *[]){velocity, pressure}, &product));
  assert_int_equal(tes_space_parts(product), 2);
  assert_int_equal(tes_space_components(product), 3);
  assert_ptr_equal(tes_space_part(product, 0), velocity);
  assert_int_equal(tes_space_given(product, LEFT), 3);
  assert_int_equal(tes_space_length(product), 2 * 81 + 25);
  assert_int_equal(tes_space_dofs(product), 2 * 49 + 25);
  for (int precision = 0; precision < 2; precision++) {
    double values[187];
    assert_ok(ctx, tes_vector_create(ctx, 187, precision ? TES_SINGLE : TES_DOUBLE, &v));
    assert_ok(ctx, tes_vector_part(product, v, 0, &of_velocity));
    assert_ok(ctx, tes_vector_part(velocity, of_velocity, 1, &of_component));
    assert_ok(ctx, tes_vector_fill(of_component, 2));
    assert_ok(ctx, tes_vector_get(v, values));
    for (int i = 0; i < 187; i++) assert_near(values[i], i >= 81 && i < 162 ? 2 : 0, 0);
    tes_vector_destroy(&of_component);
    tes_vector_destroy(&of_velocity);
    tes_vector_destroy(&v);
  }
  assert_ok(ctx, tes_space_coarsen(product, &coarse));
  assert_int_equal(tes_space_length(coarse), 2 * 25 + 9);
  assert_int_equal(tes_space_degree(tes_space_part(coarse, 1)), 1);
  assert_ptr_equal(coarse->scalar[0], coarse->scalar[1]);
  tes_space_destroy(&coarse);
  tes_space_destroy(&product);
  tes_space_destroy(&pressure);
  tes_space_destroy(&velocity);
  tes_mesh_destroy(&mesh);
}

/* A polynomial field is carried to a finer degree, where it is at the nodes what it was. */
static void functions_go_component_by_component(void **state) {
  (void)state;
  TesFunction *f[2] = {expression("x*x - y"), expression("3 + x*y")};
  for (TesMeshKind kind = TES_MESH_BOX; kind <= TES_MESH_FOREST; kind++) {
    TesMesh *mesh;
    TesSpace *space[2];
    TesVector *u[2];
    double *values[2];
    if (!make_mesh(ctx, kind, 2, &mesh)) continue;
    for (int i = 0; i < 2; i++) {
      const TesSpaceDesc desc = {.mesh = mesh, .degree = 2 + i, .components = 2};
      assert_ok(ctx, tes_space_create(ctx, &desc, &space[i]));
      const int64_t n = tes_space_length(space[i]);
      values[i] = calloc((size_t)n, sizeof(double));
      assert_ok(ctx, tes_vector_create(ctx, n, TES_DOUBLE, &u[i]));
      assert_ok(ctx, tes_space_interpolate(space[i], (const TesFunction *[]){f[0], f[1]}, u[i]));
      assert_ok(ctx, tes_vector_get(u[i], values[i]));
    }
    const int64_t n = tes_space_length(space[1]);
    double *x = calloc((size_t)n * 2, sizeof(double)), *carried = calloc((size_t)n, sizeof(double));
    assert_ok(ctx, tes_space_coordinates(space[1], x));
    assert_ok(ctx, tes_space_carry(space[0], u[0], space[1], u[1]));
    assert_ok(ctx, tes_vector_get(u[1], carried));
    for (int64_t i = 0; i < n; i++) {
      const double *at = x + 2 * i, expected = i < n / 2 ? at[0] * at[0] - at[1] : 3 + at[0] * at[1];
      assert_near(values[1][i], expected, 1e-14);
      assert_near(carried[i], expected, 1e-13);
    }
    for (int i = 0; i < 2; i++) {
      tes_vector_destroy(&u[i]);
      tes_space_destroy(&space[i]);
      free(values[i]);
    }
    free(x);
    free(carried);
    tes_mesh_destroy(&mesh);
  }
  for (int i = 0; i < 2; i++) tes_function_destroy(&f[i]);
}

static void refused(TesStatus status, const char *message) {
  assert_int_equal(status, TES_INVALID_INPUT);
  assert_string_equal(tes_context_message(ctx), message);
  tes_context_clear(ctx);
}

static void wrong_parts_are_told(void **state) {
  (void)state;
  TesMesh *mesh, *other = NULL;
  TesSpace *space, *elsewhere, *none;
  TesVector *v, *view;
  TesOperator *op;
  const int32_t *index;
  assert_true(make_mesh(ctx, TES_MESH_BOX, 2, &mesh) && make_mesh(ctx, TES_MESH_BOX, 2, &other));
  assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 1, .components = 5}, &space));
  assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = other, .degree = 1}, &elsewhere));
  assert_ok(ctx, tes_vector_create(ctx, 3, TES_DOUBLE, &v));
  refused(tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .components = 7}, &none),
          "a space of 7 components, expected 1..6, or 0 for 1");
  refused(tes_space_create_product(ctx, 2, (const TesSpace *[]){space, elsewhere}, &none),
          "part 1 of a product is over another mesh than part 0");
  refused(tes_space_create_product(ctx, 2, (const TesSpace *[]){space, space}, &none),
          "a space of more than 8 components in all");
  refused(tes_space_create_product(ctx, 0, (const TesSpace *[]){space}, &none),
          "a product of 0 spaces, expected 1..8");
  refused(tes_vector_part(space, v, 5, &view), "part 5 of a space of 5");
  refused(tes_vector_part(space, v, 4, &view), "a vector of length 3, the space has 125 nodes");
  refused(tes_space_index(space, &index, NULL), "cells have the nodes of one component, the space has 5");
  refused(tes_operator_create(ctx, &(TesOperatorDesc){.space = space, .kind = "mapped"}, &op),
          "no operator of this form on this space: kind mapped: the space has several components");
  tes_vector_destroy(&v);
  tes_space_destroy(&elsewhere);
  tes_space_destroy(&space);
  tes_mesh_destroy(&other);
  tes_mesh_destroy(&mesh);
}

static TesStatus make_parts(TesContext *on) {
  TesMesh *mesh = NULL;
  TesSpace *space = NULL, *product = NULL, *coarse = NULL;
  uint8_t given[6];
  put_given(given);
  TesStatus status =
      tes_mesh_create(on, &(TesMeshDesc){.kind = TES_MESH_BOX, .dim = 2, .cells = {4, 4}}, &mesh);
  if (status == TES_OK)
    status = tes_space_create(on, &(TesSpaceDesc){.mesh = mesh, .degree = 2, .components = 3, .given = given},
                              &space);
  if (status == TES_OK)
    status = tes_space_create_product(on, 2, (const TesSpace *[]){space, space}, &product);
  if (status == TES_OK) status = tes_space_coarsen(product, &coarse);
  tes_space_destroy(&coarse);
  tes_space_destroy(&product);
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
  return status;
}

/* ---- scalars on axes ----------------------------------------------------------------------------------- */

static TesSpace *on_axes(TesContext *on, TesElement element, bool ring, TesStatus *status) {
  TesMesh *mesh = NULL;
  TesSpace *space = NULL;
  /* the left end: the normal component; the right one: both; the lower one: the tangential one */
  const uint8_t given[4] = {1, 3, 2, 0};
  const TesMeshDesc desc = {.kind = TES_MESH_BOX, .dim = 2, .cells = {3, 2}, .periodic = {ring, false}};
  *status = tes_mesh_create(on, &desc, &mesh);
  if (*status == TES_OK)
    *status = tes_space_create(
        on, &(TesSpaceDesc){.mesh = mesh, .degree = 1, .given = given, .element = element}, &space);
  tes_mesh_destroy(&mesh);
  return space;
}

static void assert_axis(const TesSpace *scalar, int d, TesiBasis basis, int entries, TesiHow lower,
                        TesiHow upper) {
  const TesiAxis *axis = &scalar->axis[d];
  assert_int_equal(axis->basis, basis);
  assert_int_equal(axis->nodes, entries);
  assert_int_equal(axis->degree, basis == TESI_NODES ? 2 : 1);
  assert_int_equal(axis->step, 2);
  assert_int_equal(axis->end[0], lower);
  assert_int_equal(axis->end[1], upper);
  for (int c = 0; c < axis->cells; c++)
    assert_near(axis->vertices[c + 1] - axis->vertices[c], axis->h[c], 1e-15);
}

/* Three times two cells of degree 1: cells have 2 modes along an axis, or 3 nodes of which they share one. */
static void boxes_are_scalars_on_axes(void **state) {
  (void)state;
  for (int ring = 0; ring < 2; ring++) {
    TesStatus status;
    TesSpace *rt = on_axes(ctx, TES_ELEMENT_RT, ring, &status);
    assert_ok(ctx, status);
    const int nodes = ring ? 6 : 7;
    const TesiHow weak = ring ? TESI_OPEN : TESI_WEAK, strong = ring ? TESI_OPEN : TESI_STRONG;
    assert_int_equal(rt->scalars, 3);
    assert_axis(rt->scalar[0], 0, TESI_NODES, nodes, strong, strong);
    assert_axis(rt->scalar[0], 1, TESI_MODES, 4, TESI_WEAK, TESI_OPEN);
    assert_axis(rt->scalar[1], 0, TESI_MODES, 6, TESI_OPEN, weak);
    assert_axis(rt->scalar[1], 1, TESI_NODES, 5, TESI_OPEN, TESI_OPEN);
    assert_axis(rt->scalar[2], 0, TESI_MODES, 6, TESI_OPEN, TESI_OPEN);
    assert_axis(rt->scalar[2], 1, TESI_MODES, 4, TESI_OPEN, TESI_OPEN);
    assert_int_equal(rt->first[1], nodes * 4);
    assert_int_equal(rt->first[2], nodes * 4 + 6 * 5);
    assert_int_equal(tes_space_length(rt), nodes * 4 + 6 * 5 + 6 * 4);
    assert_int_equal(tes_space_dofs(rt), tes_space_length(rt) - (ring ? 0 : 2 * 4));
    assert_int_equal(tesi_axis_node(&rt->scalar[0]->axis[0], 2, 2), ring ? 0 : 6);
    assert_int_equal(tesi_axis_node(&rt->scalar[2]->axis[0], 2, 1), 5);
    assert_int_equal(tes_space_components(rt), 0); /* of element q */
    assert_null(tes_space_part(rt, 0));
    assert_null(tesi_space_axes(rt->scalar[0]));
    tes_space_destroy(&rt);
    TesSpace *dg = on_axes(ctx, TES_ELEMENT_DG, ring, &status);
    assert_ok(ctx, status);
    assert_int_equal(dg->scalars, 1);
    assert_ptr_equal(dg->scalar[0], dg);
    assert_axis(dg, 0, TESI_MODES, 6, weak, weak);
    assert_axis(dg, 1, TESI_MODES, 4, TESI_OPEN, TESI_OPEN);
    assert_int_equal(tes_space_dofs(dg), 24);
    assert_null(tesi_space_axes(dg));
    tes_space_destroy(&dg);
  }
}

static void failing_allocations_leave_nothing(void **state) {
  (void)state;
  TesStatus status = TES_OUT_OF_MEMORY;
  for (long n = 1; status != TES_OK; n++) {
    FailingAllocator allocator = {0};
    TesContext *on = failing_context(&allocator);
    allocator.fail_at = atomic_load(&allocator.count) + n;
    status = make_parts(on);
    if (status == TES_OK) {
      TesSpace *rt = on_axes(on, TES_ELEMENT_RT, false, &status);
      tes_space_destroy(&rt);
    }
    if (status != TES_OK) assert_int_equal(status, TES_OUT_OF_MEMORY);
    tes_context_clear(on);
    tes_context_destroy(&on);
    assert_int_equal(atomic_load(&allocator.live), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(components_are_spaces),
                                     cmocka_unit_test(products_nest),
                                     cmocka_unit_test(functions_go_component_by_component),
                                     cmocka_unit_test(wrong_parts_are_told),
                                     cmocka_unit_test(boxes_are_scalars_on_axes),
                                     cmocka_unit_test(failing_allocations_leave_nothing)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
