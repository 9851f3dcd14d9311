/* Run: ctest -R t7_mpi_checkpoint. Files of several ranks and of one: the same arrays, and each reads the other's.
 * Ranks: 2 3 4 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "io/store.h"
#include "mesh/mesh.h"
#include "space/space.h"
#include "tessera/checkpoint.h"
#include "tessera/tessera.h"
#include "testing.h"
#include "mpi_testing.h"

static char of_one[200], of_all[200];

/* Meshes with hanging nodes, periodic ones, more ranks than cells, and boxes. */
typedef struct Case {
  TesMeshDesc mesh;
  int degree, components;
  bool gridded; /* ranks cut the first two directions of a box */
} Case;

static const Case cases[] = {
    {{.kind = TES_MESH_FOREST, .dim = 2, .cells = {5, 3}, .refine = 1, .periodic = {true}}, 3, 1, false},
    {{.kind = TES_MESH_FOREST, .domain = TES_DOMAIN_BALL, .dim = 3}, 2, 3, false},
    {{.kind = TES_MESH_FOREST, .domain = TES_DOMAIN_L_SHAPE, .dim = 3, .refine = 1}, 1, 2, false},
    {{.kind = TES_MESH_FOREST, .dim = 3, .cells = {2, 1, 1}}, 4, 1, false},
    {{.kind = TES_MESH_BOX, .dim = 3, .cells = {3, 2, 7}}, 2, 1, false},
    {{.kind = TES_MESH_BOX, .dim = 2, .cells = {4, 6}}, 5, 2, false},
    {{.kind = TES_MESH_BOX, .dim = 3, .cells = {3, 2, 7}}, 2, 1, true},
    {{.kind = TES_MESH_BOX, .dim = 2, .cells = {5, 6}}, 3, 2, true},
};

typedef struct Made {
  TesMesh *mesh;
  TesSpace *space;
  TesVector *u;
} Made;

static void interpolate(TesContext *ctx, const TesSpace *space, TesVector **u) {
  static const char *const texts[] = {"sin(2*pi*x) + y*y - z", "sin(4*pi*x) - y*y", "cos(2*pi*x) + z*z"};
  TesFunction *f[3];
  for (int i = 0; i < 3; i++) assert_ok(ctx, tes_function_create_expression(ctx, texts[i], &f[i]));
  assert_ok(ctx, tesi_vector_create_on(space->layout, TES_DOUBLE, u));
  assert_ok(ctx, tes_space_interpolate(space, (const TesFunction *const *)f, *u));
  for (int i = 0; i < 3; i++) tes_function_destroy(&f[i]);
}

static void refine(TesContext *ctx, TesMesh **mesh) {
  const double middle[3] = {0.5, 0.5, 0.5};
  TesMesh *adapted;
  int8_t *mark = calloc((size_t)(*mesh)->cells + 1, sizeof *mark);
  for (int64_t c = 0; c < (*mesh)->cells; c++) {
    double x[3];
    tesi_mesh_map(*mesh, c, 1, middle, x);
    mark[c] = x[0] + 0.9 * x[1] > 0.71;
  }
  assert_ok(ctx, tes_mesh_adapt(*mesh, mark, &adapted));
  free(mark);
  tes_mesh_destroy(mesh);
  *mesh = adapted;
}

static Made make(TesContext *ctx, const Case *c) {
  Made m;
  uint8_t given[64] = {1, 2, 1};
  TesMeshDesc mesh = c->mesh;
  if (c->gridded && ctx == together) {
    mesh.ranks_along[0] = world->size % 2 ? world->size : 2;
    mesh.ranks_along[1] = world->size / mesh.ranks_along[0];
  }
  assert_ok(ctx, tes_mesh_create(ctx, &mesh, &m.mesh));
  if (c->mesh.kind == TES_MESH_FOREST && c->mesh.cells[1] != 1) refine(ctx, &m.mesh);
  const TesSpaceDesc desc = {.mesh = m.mesh, .degree = c->degree, .components = c->components, .given = given};
  assert_ok(ctx, tes_space_create(ctx, &desc, &m.space));
  interpolate(ctx, m.space, &m.u);
  return m;
}

static void destroy(Made *m) {
  tes_vector_destroy(&m->u);
  tes_space_destroy(&m->space);
  tes_mesh_destroy(&m->mesh);
}

static TesStatus write_to(TesContext *ctx, const Made *m, const char *path) {
  const TesCheckpointField field = {"u", m->u};
  const double state[2] = {3, 4}, note = 0.5;
  const TesCheckpointDesc desc = {.space = m->space,
                                  .count = 1,
                                  .fields = &field,
                                  .time = 0.25,
                                  .step = 7,
                                  .states = 2,
                                  .state = state,
                                  .notes = 1,
                                  .note = &note};
  return tes_checkpoint_write(ctx, &desc, path);
}

/* What was read is the function at the nodes of the space that was made. */
static void check_contents(TesContext *ctx, const TesCheckpoint *c, const Made *m) {
  const TesSpace *space = tes_checkpoint_space(c);
  TesVector *expected;
  assert_int_equal(space->layout->global, m->space->layout->global);
  assert_int_equal(space->all_dofs, m->space->all_dofs);
  interpolate(ctx, space, &expected);
  const double *values = tes_checkpoint_values(c, "u");
  for (int64_t i = 0; i < space->length; i++) assert_near(values[i], ((double *)expected->data)[i], 1e-12);
  assert_int_equal(tes_checkpoint_contents(c)->step, 7);
  assert_int_equal(tes_checkpoint_contents(c)->states, 2);
  assert_near(tes_checkpoint_contents(c)->note[0], 0.5, 0);
  tes_vector_destroy(&expected);
}

/* Each rank alone. */
static void compare_arrays(const char *name, TesiStoreType type, double tolerance) {
  TesiStore *a, *b;
  void *x, *y;
  int64_t n, count;
  assert_ok(alone, tesi_store_open(alone, of_one, &a));
  assert_ok(alone, tesi_store_open(alone, of_all, &b));
  assert_int_equal(tesi_store_has(a, name), tesi_store_has(b, name));
  if (tesi_store_has(a, name)) {
    assert_ok(alone, tesi_store_get(a, name, type, -1, &x, &n));
    assert_ok(alone, tesi_store_get(b, name, type, n, &y, &count));
    const size_t size = type == TESI_STORE_BYTES ? 1 : type == TESI_STORE_INT32 ? 4 : 8;
    if (tolerance == 0) assert_memory_equal(x, y, (size_t)n * size);
    for (int64_t i = 0; tolerance > 0 && i < n; i++)
      assert_near(((double *)x)[i], ((double *)y)[i], tolerance);
    tesi_free(alone, &x);
    tesi_free(alone, &y);
  }
  tesi_store_close(&a);
  tesi_store_close(&b);
}

static void wait_for_all(void) {
  assert_int_equal(tesi_reduce_count(together, 1), world->size);
}

static void files_of_one_and_of_several_are_the_same(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Made one = make(alone, &cases[i]), all = make(together, &cases[i]);
    TesCheckpoint *c;
    if (world->rank == 0) assert_ok(alone, write_to(alone, &one, of_one));
    assert_ok(together, write_to(together, &all, of_all));
    compare_arrays("head", TESI_STORE_INT64, 0);
    compare_arrays("dirichlet", TESI_STORE_BYTES, 0);
    compare_arrays("cell_tree", TESI_STORE_INT32, 0);
    compare_arrays("cell_level", TESI_STORE_BYTES, 0);
    compare_arrays("cell_origin", TESI_STORE_INT32, 0);
    compare_arrays("x", TESI_STORE_DOUBLE, 0);
    compare_arrays(cases[i].mesh.dim == 3 ? "z" : "y", TESI_STORE_DOUBLE, 0);
    compare_arrays("field_0_values", TESI_STORE_DOUBLE, 1e-12);
    assert_ok(together, tes_checkpoint_read(together, of_one, 0, &c));
    check_contents(together, c, &all);
    tes_checkpoint_destroy(&c);
    assert_ok(together, tes_checkpoint_read(together, of_all, 0, &c));
    check_contents(together, c, &all);
    tes_checkpoint_destroy(&c);
    assert_ok(alone, tes_checkpoint_read(alone, of_all, 0, &c));
    check_contents(alone, c, &one);
    tes_checkpoint_destroy(&c);
    wait_for_all();
    destroy(&one);
    destroy(&all);
  }
}

/* A box of one rank is trees on several, and the other way round. */
static void boxes_become_trees_and_trees_boxes(void **state) {
  (void)state;
  static const Case boxes[] = {
      {{.kind = TES_MESH_BOX, .dim = 2, .cells = {6, 4}, .upper = {2, 1}}, 3, 2, false},
      {{.kind = TES_MESH_BOX, .dim = 3, .cells = {4, 2, 2}, .periodic = {true}}, 2, 1, false}};
  for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
    Case trees = boxes[i], other = boxes[i];
    trees.mesh.kind = TES_MESH_FOREST;
    trees.mesh.refine = 1;
    for (int d = 0; d < trees.mesh.dim; d++) trees.mesh.cells[d] /= 2, other.mesh.cells[d] += 1;
    other.mesh.kind = TES_MESH_FOREST;
    TesMesh *forest, *box, *wrong;
    TesCheckpoint *c;
    Made one = make(alone, &boxes[i]), all;
    assert_ok(together, tes_mesh_create(together, &trees.mesh, &forest));
    assert_ok(together, tes_mesh_create(together, &other.mesh, &wrong));
    assert_ok(alone, tes_mesh_create(alone, &boxes[i].mesh, &box));
    if (world->rank == 0) assert_ok(alone, write_to(alone, &one, of_one));
    wait_for_all();
    assert_ok(together, tes_checkpoint_read_for(together, of_one, forest, &c));
    assert_ptr_equal(tes_space_mesh(tes_checkpoint_space(c)), forest);
    all.mesh = forest;
    assert_ok(together, tes_space_create(together,
                                         &(TesSpaceDesc){.mesh = forest,
                                                         .degree = trees.degree,
                                                         .components = trees.components,
                                                         .given = (uint8_t[64]){0}},
                                         &all.space));
    interpolate(together, all.space, &all.u);
    check_contents(together, c, &all);
    tes_checkpoint_destroy(&c);
    assert_ok(together, write_to(together, &all, of_all));
    assert_ok(alone, tes_checkpoint_read_for(alone, of_all, box, &c));
    assert_ptr_equal(tes_space_mesh(tes_checkpoint_space(c)), box);
    TesVector *expected;
    interpolate(alone, tes_checkpoint_space(c), &expected);
    for (int64_t k = 0; k < one.space->length; k++)
      assert_near(tes_checkpoint_values(c, "u")[k], ((double *)expected->data)[k], 1e-12);
    tes_vector_destroy(&expected);
    tes_checkpoint_destroy(&c);
    assert_ok(together, tes_checkpoint_read_for(together, of_all, wrong, &c)); /* other cells: as in the file */
    assert_ptr_not_equal(tes_space_mesh(tes_checkpoint_space(c)), wrong);
    tes_checkpoint_destroy(&c);
    wait_for_all();
    tes_mesh_destroy(&wrong);
    tes_mesh_destroy(&box);
    destroy(&one);
    destroy(&all);
  }
}

/* What rank 0 cannot open is told by all, without a number. */
static void failures_are_of_all(void **state) {
  (void)state;
  TesCheckpoint *c;
  Made all = make(together, &cases[3]);
  assert_int_equal(tes_checkpoint_read(together, "nowhere/a.h5", 0, &c), TES_IO);
  assert_null(c);
  assert_string_equal(tes_context_message(together), "cannot read nowhere/a.h5: No such file or directory");
  tes_context_clear(together);
  assert_int_equal(write_to(together, &all, "nowhere/a.h5"), TES_IO);
  assert_non_null(strstr(tes_context_message(together), "cannot write nowhere/a.h5"));
  tes_context_clear(together);
  if (world->rank == 0) {
    FILE *file = fopen(of_one, "w");
    fputs("no HDF5", file);
    fclose(file);
  }
  wait_for_all();
  assert_int_equal(tes_checkpoint_read(together, of_one, 0, &c), TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(together), "no HDF5 file"));
  tes_context_clear(together);
  wait_for_all();
  if (world->rank == 0) unlink(of_one), unlink(of_all);
  destroy(&all);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(files_of_one_and_of_several_are_the_same),
                                     cmocka_unit_test(boxes_become_trees_and_trees_boxes),
                                     cmocka_unit_test(failures_are_of_all)};
  if (!tes_has_part("hdf5")) return 77;
  const int status = begin_on_ranks("cpu");
  if (status) return status;
  snprintf(of_one, sizeof of_one, "%s/t7_mpi_checkpoint_one_%d.h5", TESI_BUILD_DIR, world->size);
  snprintf(of_all, sizeof of_all, "%s/t7_mpi_checkpoint_all_%d.h5", TESI_BUILD_DIR, world->size);
  return end_on_ranks(cmocka_run_group_tests(tests, NULL, NULL));
}
