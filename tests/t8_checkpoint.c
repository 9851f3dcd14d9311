/* Run: ctest -R t8_checkpoint. Checkpoints: what is read is what was written; damage and foreign files are refused;
 * what breaks while writing leaves the file before. */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "failing_allocator.h"
#include "forest_testing.h"
#include "io/store.h"
#include "space/space.h"
#include "tessera/checkpoint.h"
#include "tessera/problem.h"

static TesContext *ctx;
static const char file[] = TESI_BUILD_DIR "/t8_checkpoint.h5",
                  other[] = TESI_BUILD_DIR "/t8_checkpoint_other.h5";

typedef struct Made {
  TesMesh *forest;
  TesSpace *space;
  TesVector *u, *v;
} Made;

static Made make(TesMeshDesc desc, int degree, const char *const *dirichlet, uint64_t seed) {
  Made m;
  uint8_t given[16];
  desc.kind = TES_MESH_FOREST;
  assert_ok(ctx, tes_mesh_create(ctx, &desc, &m.forest));
  for (int pass = 0; pass < 2; pass++) test_adapt(ctx, &seed, 0.3, 0.1, 150, &m.forest);
  assert_ok(ctx, tes_space_create(ctx,
                                  &(TesSpaceDesc){.mesh = m.forest,
                                                  .degree = degree,
                                                  .given = test_given(ctx, m.forest, dirichlet, given)},
                                  &m.space));
  assert_ok(ctx, tes_vector_create(ctx, m.space->length, TES_DOUBLE, &m.u));
  assert_ok(ctx, tes_vector_create(ctx, m.space->length, TES_SINGLE, &m.v));
  double *values = malloc((size_t)m.space->length * sizeof *values);
  for (int64_t i = 0; i < m.space->length; i++) values[i] = test_random(&seed);
  assert_ok(ctx, tes_vector_set(m.u, values));
  for (int64_t i = 0; i < m.space->length; i++) values[i] = (double)(float)values[i];
  assert_ok(ctx, tes_vector_set(m.v, values));
  free(values);
  return m;
}

static void destroy(Made *m) {
  tes_vector_destroy(&m->u);
  tes_vector_destroy(&m->v);
  tes_space_destroy(&m->space);
  tes_mesh_destroy(&m->forest);
}

static TesStatus write_to(const Made *m, double time, const char *path) {
  const TesCheckpointField fields[] = {{"u", m->u}, {"v", m->v}};
  return tes_checkpoint_write(
      ctx, &(TesCheckpointDesc){.space = m->space, .count = 2, .fields = fields, .time = time, .step = 7},
      path);
}

static void compare(const Made *m, const TesCheckpoint *c) {
  const TesSpace *s = tes_checkpoint_space(c);
  assert_int_equal(s->length, m->space->length);
  assert_int_equal(s->dofs, m->space->dofs);
  assert_memory_equal(s->view->index, m->space->view->index,
                      (size_t)(s->view->cells * s->view->cell_nodes) * sizeof *s->view->index);
  assert_int_equal(tes_mesh_boundaries(s->mesh), tes_mesh_boundaries(m->forest));
  for (int b = 0; b < tes_mesh_boundaries(s->mesh); b++)
    assert_string_equal(tes_mesh_boundary_name(s->mesh, b), tes_mesh_boundary_name(m->forest, b));
  for (int64_t cell = 0; cell < s->view->cells; cell++) {
    double x[3] = {0}, y[3] = {0};
    tesi_mesh_map(s->mesh, cell, 1, (const double[3]){0.3, 0.9, 0.6}, x);
    tesi_mesh_map(m->forest, cell, 1, (const double[3]){0.3, 0.9, 0.6}, y);
    for (int d = 0; d < s->dim; d++) assert_near(x[d], y[d], 0);
    assert_int_equal(tes_mesh_material(s->mesh, cell), tes_mesh_material(m->forest, cell));
  }
  double *values = malloc((size_t)s->length * sizeof *values);
  assert_ok(ctx, tes_vector_get(m->u, values));
  assert_memory_equal(tes_checkpoint_values(c, "u"), values, (size_t)s->length * sizeof *values);
  assert_ok(ctx, tes_vector_get(m->v, values));
  assert_memory_equal(tes_checkpoint_values(c, "v"), values, (size_t)s->length * sizeof *values);
  assert_null(tes_checkpoint_values(c, "w"));
  free(values);
}

static void test_round_trip(void **state) {
  (void)state;
  static const char *const some[] = {"left", NULL}, *const none[] = {NULL};
  const TesMeshDesc descs[] = {
      {.dim = 2, .cells = {3, 2}, .periodic = {false, true}},
      {.domain = TES_DOMAIN_BALL, .centre = {1, 2, 3}},
      {.domain = TES_DOMAIN_SHELL, .dim = 2, .refine = 1},
      {.domain = TES_DOMAIN_CHANNEL, .dim = 2},
      {.domain = TES_DOMAIN_FILE, .file = TESI_SOURCE_DIR "/tests/fuzz/corpus/mesh/block-2-msh41.msh"},
  };
  for (size_t i = 0; i < sizeof descs / sizeof *descs; i++) {
    Made m = make(descs[i], 1 + (int)i, i == 0 ? some : i == 1 ? none : NULL, 100 + i);
    TesCheckpoint *c;
    TesMesh *coarse;
    assert_ok(ctx, write_to(&m, 0.25, file));
    assert_ok(ctx, tes_checkpoint_read(ctx, file, 0, &c));
    assert_near(tes_checkpoint_contents(c)->time, 0.25, 0);
    assert_int_equal(tes_checkpoint_contents(c)->step, 7);
    assert_int_equal(tes_checkpoint_contents(c)->fields, 2);
    assert_string_equal(tes_checkpoint_contents(c)->name[1], "v");
    compare(&m, c);
    /* and it goes on: relations to what was there, refinement, coarsening */
    TesRelation *relation = calloc((size_t)m.space->view->cells, sizeof *relation);
    assert_ok(ctx, tes_mesh_relate(m.forest, tes_space_mesh(tes_checkpoint_space(c)), relation));
    assert_ok(ctx, tes_mesh_coarsen(tes_space_mesh(tes_checkpoint_space(c)), &coarse));
    free(relation);
    tes_mesh_destroy(&coarse);
    tes_checkpoint_destroy(&c);
    destroy(&m);
  }
}

static char *load(const char *path, long *size) {
  FILE *f = fopen(path, "rb");
  assert_non_null(f);
  fseek(f, 0, SEEK_END);
  *size = ftell(f);
  rewind(f);
  char *bytes = malloc((size_t)*size);
  assert_int_equal(fread(bytes, 1, (size_t)*size, f), *size);
  fclose(f);
  return bytes;
}

static void save(const char *path, const char *bytes, long size) {
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(bytes, 1, (size_t)size, f), size);
  fclose(f);
}

/* Every change of a byte is found, or changes nothing that is read. */
static void test_damage(void **state) {
  (void)state;
  uint64_t seed = 21;
  long size;
  int refused = 0, unchanged = 0;
  Made m = make((TesMeshDesc){.kind = TES_MESH_FOREST, .dim = 2, .cells = {2, 1}}, 2, NULL, 3);
  assert_ok(ctx, write_to(&m, 1, file));
  char *bytes = load(file, &size);
  for (int trial = 0; trial < 200; trial++) {
    TesCheckpoint *c;
    const long at = test_below(&seed, (int)size);
    const char kept = bytes[at];
    bytes[at] = (char)(kept ^ (1 << test_below(&seed, 8)));
    save(other, bytes, size);
    bytes[at] = kept;
    const TesStatus status = tes_checkpoint_read(ctx, other, 0, &c);
    if (status == TES_OK) {
      compare(&m, c);
      unchanged++;
    } else {
      assert_int_equal(status, TES_INVALID_INPUT);
      assert_non_null(strstr(tes_context_message(ctx), "t8_checkpoint_other.h5"));
      refused++;
    }
    tes_checkpoint_destroy(&c);
    tes_context_clear(ctx);
  }
  assert_true(refused > 40);
  print_message("%d refused, %d without effect\n", refused, unchanged);
  for (long cut = 0; cut < size; cut += size / 23 + 1) {
    TesCheckpoint *c;
    save(other, bytes, cut);
    assert_int_equal(tes_checkpoint_read(ctx, other, 0, &c), TES_INVALID_INPUT);
    assert_null(c);
    tes_context_clear(ctx);
  }
  free(bytes);
  destroy(&m);
  unlink(other);
}

static void test_refusals(void **state) {
  (void)state;
  TesCheckpoint *c;
  TesiStore *store;
  Made m = make((TesMeshDesc){.kind = TES_MESH_FOREST, .dim = 2}, 1, NULL, 3),
       n = make((TesMeshDesc){.kind = TES_MESH_FOREST, .dim = 2, .refine = 3}, 1, NULL, 4);
  assert_int_equal(tes_checkpoint_read(ctx, "/no/such.h5", 0, &c), TES_IO);
  tes_context_clear(ctx);
  assert_int_equal(tes_checkpoint_read(ctx, TESI_SOURCE_DIR "/README.md", 0, &c), TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "is no HDF5 file"));
  tes_context_clear(ctx);
  assert_ok(ctx, tesi_store_create(ctx, other, &store));
  assert_ok(ctx, tesi_store_put(store, "data", TESI_STORE_DOUBLE, 2, (const double[2]){1, 2}));
  assert_ok(ctx, tesi_store_commit(&store));
  assert_int_equal(tes_checkpoint_read(ctx, other, 0, &c), TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "is an HDF5 file, and no checkpoint of Tessera"));
  tes_context_clear(ctx);
  assert_int_equal(write_to(&m, 0, "/no/such/folder/c.h5"), TES_IO);
  tes_context_clear(ctx);
  const TesCheckpointField wrong[] = {{"u", n.u}}, nameless[] = {{"", m.u}};
  assert_int_equal(
      tes_checkpoint_write(ctx, &(TesCheckpointDesc){.space = m.space, .count = 1, .fields = wrong}, other),
      TES_INVALID_INPUT);
  tes_context_clear(ctx);
  assert_int_equal(
      tes_checkpoint_write(ctx, &(TesCheckpointDesc){.space = m.space, .count = 1, .fields = nameless}, other),
      TES_INVALID_INPUT);
  tes_context_clear(ctx);
  unlink(other);
  destroy(&m);
  destroy(&n);
}

/* A process that dies between two arrays leaves the checkpoint before, and the next one is written over its remains. */
static void test_killed_while_writing(void **state) {
  (void)state;
  TesCheckpoint *c;
  int status;
  Made m = make((TesMeshDesc){.kind = TES_MESH_FOREST, .dim = 2, .refine = 1}, 3, NULL, 5);
  assert_ok(ctx, write_to(&m, 1, file));
  const pid_t child = fork();
  if (child == 0) {
    TesiStore *store;
    if (tesi_store_create(ctx, file, &store) == TES_OK)
      tesi_store_put(store, "head", TESI_STORE_BYTES, 4, "half");
    kill(getpid(), SIGKILL);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status));
  assert_ok(ctx, tes_checkpoint_read(ctx, file, 0, &c));
  compare(&m, c);
  tes_checkpoint_destroy(&c);
  assert_ok(ctx, write_to(&m, 2, file));
  assert_ok(ctx, tes_checkpoint_read(ctx, file, 0, &c));
  assert_near(tes_checkpoint_contents(c)->time, 2, 0);
  assert_int_not_equal(access(TESI_BUILD_DIR "/t8_checkpoint.h5.part", F_OK), 0);
  tes_checkpoint_destroy(&c);
  destroy(&m);
}

static TesStatus read_again(TesContext *context, void *user) {
  TesCheckpoint *c;
  const TesStatus status = tes_checkpoint_read(context, user, 0, &c);
  tes_checkpoint_destroy(&c);
  return status;
}

static void test_allocations(void **state) {
  (void)state;
  assert_true(allocations_fail(read_again, (void *)(uintptr_t)file, 0) > 20);
  unlink(file);
}

static TesProblem *solve_on(TesContext *device, const TesMesh *forest, const TesVector *guess,
                            int *iterations) {
  TesProblem *problem;
  TesSolveResult result;
  const TesProblemDesc desc = {
      .mesh = forest, .degree = 2, .guess = guess, .solver = {.tolerance = guess ? 1e-8 : 1e-10}};
  assert_ok(device, tes_problem_create(device, &desc, &problem));
  assert_ok(device, tes_problem_solve(problem, &result));
  *iterations = result.iterations;
  return problem;
}

/* Solved and written on one device, read on another: there it is the solution at once. */
static void restart(TesContext *from, TesContext *to, const TesMesh *mesh) {
  TesVector *read;
  TesCheckpoint *c;
  int iterations;
  TesProblem *first = solve_on(from, mesh, NULL, &iterations);
  assert_true(iterations > 0);
  const TesSpace *space = tes_problem_space(first);
  const size_t length = (size_t)space->length;
  double *values[2] = {malloc(length * sizeof(double)), malloc(length * sizeof(double))};
  const TesCheckpointField field = {"u", tes_problem_solution(first)};
  assert_ok(from, tes_checkpoint_write(
                      from, &(TesCheckpointDesc){.space = space, .count = 1, .fields = &field}, file));
  assert_ok(to, tes_checkpoint_read(to, file, 0, &c));
  assert_ok(to, tes_checkpoint_restart(c, "u", mesh, 2, &read));
  TesProblem *second = solve_on(to, tes_space_mesh(tes_checkpoint_space(c)), read, &iterations);
  assert_int_equal(iterations, 0);
  assert_ok(from, tes_vector_get(tes_problem_solution(first), values[0]));
  assert_ok(to, tes_vector_get(tes_problem_solution(second), values[1]));
  for (size_t i = 0; i < length; i++) assert_near(values[1][i], values[0][i], 1e-12);
  for (int i = 0; i < 2; i++) free(values[i]);
  tes_problem_destroy(&first);
  tes_problem_destroy(&second);
  tes_checkpoint_destroy(&c);
  tes_vector_destroy(&read);
}

static void restart_both(TesContext *from, TesContext *to) {
  TesMesh *forest, *box;
  uint64_t seed = 3;
  assert_ok(from, tes_mesh_create(from, &(TesMeshDesc){.domain = TES_DOMAIN_BALL, .dim = 2}, &forest));
  for (int pass = 0; pass < 2; pass++) test_adapt(from, &seed, 0.4, 0, 100, &forest);
  restart(from, to, forest);
  assert_ok(from, tes_mesh_create(from, &(TesMeshDesc){.dim = 2, .cells = {6, 4}, .upper = {2, 1}}, &box));
  restart(from, to, box);
  tes_mesh_destroy(&box);
  tes_mesh_destroy(&forest);
}

/* A graded box with some Dirichlet sides, degree above what forests have; and what is another box. */
static void test_boxes(void **state) {
  (void)state;
  static const double y[] = {-1, 0, 0.25, 4};
  static const uint8_t given[] = {1, 0, 0, 1};
  TesMesh *mesh, *other;
  TesSpace *space;
  TesVector *u, *finer, *back;
  TesFunction *f;
  TesCheckpoint *c;
  const TesMeshDesc desc = {.dim = 2, .cells = {5, 3}, .upper = {3, 0}, .coordinates = {NULL, y}};
  assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
  assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 11, .given = given}, &space));
  assert_ok(ctx, tes_function_create_expression(ctx, "x*x*x - 2*x*y + y*y*y", &f));
  const size_t length = (size_t)tes_space_length(space);
  double *values = malloc(length * sizeof *values), *again = malloc(length * sizeof *again);
  assert_ok(ctx, tes_vector_create(ctx, (int64_t)length, TES_DOUBLE, &u));
  assert_ok(ctx, tes_space_interpolate(space, (const TesFunction *[]){f}, u));
  assert_ok(ctx, tes_vector_get(u, values));
  const TesCheckpointField field = {"u", u};
  assert_ok(ctx,
            tes_checkpoint_write(
                ctx, &(TesCheckpointDesc){.space = space, .count = 1, .fields = &field, .step = 3}, file));
  assert_ok(ctx, tes_checkpoint_read(ctx, file, 0, &c));
  const TesSpace *read = tes_checkpoint_space(c);
  assert_int_equal(tes_mesh_info(tes_space_mesh(read)).kind, TES_MESH_BOX);
  assert_int_equal(tes_space_degree(read), 11);
  assert_int_equal(tes_space_dofs(read), tes_space_dofs(space));
  assert_int_equal(tes_checkpoint_contents(c)->step, 3);
  assert_memory_equal(tes_mesh_info(tes_space_mesh(read)).coordinates[1], y, sizeof y);
  assert_memory_equal(tes_checkpoint_values(c, "u"), values, length * sizeof *values);
  /* the polynomial in degree 3, and back */
  assert_ok(ctx, tes_checkpoint_restart(c, "u", mesh, 3, &finer));
  TesSpace *low;
  assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 3}, &low));
  assert_ok(ctx, tes_vector_create(ctx, (int64_t)length, TES_DOUBLE, &back));
  assert_ok(ctx, tes_space_carry(low, finer, space, back));
  assert_ok(ctx, tes_vector_get(back, again));
  for (size_t i = 0; i < length; i++) assert_near(again[i], values[i], 1e-11);
  tes_vector_destroy(&finer);
  TesMeshDesc wrong = desc;
  wrong.upper[0] = 3.5;
  assert_ok(ctx, tes_mesh_create(ctx, &wrong, &other));
  assert_int_equal(tes_checkpoint_restart(c, "u", other, 3, &finer), TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "but they stand elsewhere in direction x"));
  assert_null(finer);
  tes_context_clear(ctx);
  tes_mesh_destroy(&other);
  wrong.cells[0] = 4;
  assert_ok(ctx, tes_mesh_create(ctx, &wrong, &other));
  assert_int_equal(tes_checkpoint_restart(c, "u", other, 3, &finer), TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "5 cells in direction x, not 4"));
  tes_context_clear(ctx);
  tes_mesh_destroy(&other);
  tes_checkpoint_destroy(&c);
  free(values);
  free(again);
  tes_vector_destroy(&u);
  tes_vector_destroy(&back);
  tes_function_destroy(&f);
  tes_space_destroy(&low);
  tes_space_destroy(&space);
  tes_mesh_destroy(&mesh);
}

static void test_restart_on_another_device(void **state) {
  (void)state;
  TesContext *emulator;
  char message[1000];
  if (tes_context_create(&(TesContextDesc){.device = "emulator"}, &emulator, message, sizeof message))
    fail_msg("%s", message);
  restart_both(ctx, emulator);
  restart_both(emulator, ctx);
  tes_context_destroy(&emulator);
  remove(file);
}

int main(void) {
  assert_int_equal(tes_context_create(NULL, &ctx, NULL, 0), TES_OK);
  TesiStore *store;
  const TesStatus hdf5 = tesi_store_create(ctx, other, &store);
  tesi_store_close(&store);
  tes_context_clear(ctx);
  if (hdf5 == TES_MISSING || !test_has_forests(ctx)) {
    print_message("built without p4est or HDF5\n");
    tes_context_destroy(&ctx);
    return 0;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip),
                                     cmocka_unit_test(test_boxes),
                                     cmocka_unit_test(test_damage),
                                     cmocka_unit_test(test_refusals),
                                     cmocka_unit_test(test_killed_while_writing),
                                     cmocka_unit_test(test_allocations),
                                     cmocka_unit_test(test_restart_on_another_device)};
  const int failures = cmocka_run_group_tests(tests, NULL, NULL);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
  return failures;
}
