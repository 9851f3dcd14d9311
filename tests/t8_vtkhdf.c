/* VTKHDF files, read with HDF5 alone, as another program would: values at points and times, meshes that stay and that
 * change, files that go on. A process that is killed while it writes leaves a file with all steps that it has counted,
 * and so does a full disk. t9_vtu_values.py reads files of the program with VTK.
 *
 *   build/tests/t8_vtkhdf */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "host_testing.h"
#include "base/base.h"
#include "tessera/tessera.h"

#ifdef TESI_HDF5
#include "vtkhdf_testing.h"

static int64_t rows_of(hid_t file, const char *name) {
  const hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
  hsize_t all[2];
  H5Sget_simple_extent_dims(space, all, NULL);
  H5Sclose(space);
  H5Dclose(set);
  return (int64_t)all[0];
}

static void check_version(hid_t file, int expected) {
  int version[2] = {-1, -1};
  char type[17] = "";
  const hid_t root = H5Gopen2(file, "VTKHDF", H5P_DEFAULT), number = H5Aopen(root, "Version", H5P_DEFAULT),
              name = H5Aopen(root, "Type", H5P_DEFAULT), kind = H5Aget_type(name);
  assert_true(H5Aread(number, H5T_NATIVE_INT, version) >= 0);
  assert_int_equal(version[0], expected);
  assert_int_equal(version[1], 0);
  assert_int_equal(H5Tget_class(kind), H5T_STRING);
  assert_int_equal(H5Tis_variable_str(kind), 0);
  assert_int_equal(H5Tget_size(kind), 16);
  assert_true(H5Aread(name, kind, type) >= 0);
  assert_string_equal(type, "UnstructuredGrid");
  H5Tclose(kind);
  H5Aclose(number);
  H5Aclose(name);
  H5Gclose(root);
}

static TesVtkhdf *create(const char *path, bool steps) {
  TesVtkhdf *file;
  assert_int_equal(tes_vtkhdf_create(host, &(TesVtkhdfDesc){.path = path, .steps = steps}, &file), TES_OK);
  return file;
}

static void one_solution(void **state) {
  static const struct {
    int dim, degree;
    int64_t cells;
  } of[] = {{2, 1, 1}, {2, 3, 5}, {3, 1, 3}, {3, 3, 64}, {3, 3, 65}, {2, 3, 3000}};
  (void)state;
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    Made m = made(of[i].dim, of[i].degree, of[i].cells, 0.5);
    TesVtkhdf *file = create("one.vtkhdf", false);
    assert_int_equal(write_made(file, &m), TES_OK);
    assert_int_equal(write_made(file, &m), TES_INVALID_INPUT);
    tes_context_clear(host);
    tes_vtkhdf_destroy(&file);
    const hid_t h = open_file("one.vtkhdf");
    check_version(h, 1);
    assert_int_equal(H5Lexists(h, "VTKHDF/Steps", H5P_DEFAULT), 0);
    assert_int_equal(rows_of(h, "VTKHDF/PointData/u"), m.cells * m.n);
    check_step(h, false, 0, &m);
    H5Fclose(h);
  }
}

/* Meshes of other sizes; the file is read after each step, while it is written. */
static void steps(void **state) {
  static const int64_t cells[] = {70, 70, 3, 200, 70};
  (void)state;
  TesVtkhdf *file = create("steps.vtkhdf", true);
  for (int step = 0; step < 5; step++) {
    Made m = made(3, 3, cells[step], 0.1 * step);
    assert_int_equal(write_made(file, &m), TES_OK);
    const hid_t h = open_file("steps.vtkhdf");
    check_version(h, 2);
    assert_int_equal(steps_of(h), step + 1);
    for (int s = 0; s <= step; s++) {
      int columns;
      m = made(3, 3, cells[s], 0.1 * s);
      double *time = read_rows(h, "VTKHDF/Steps/Values", s, 1, &columns);
      assert_true(*time == m.time);
      free(time);
      check_step(h, true, s, &m);
    }
    H5Fclose(h);
  }
  tes_vtkhdf_destroy(&file);
}

/* A field of cells with one value, which counts how often it is asked for. */
typedef struct Counted {
  double value;
  int asked;
} Counted;

static TesStatus fill_counted(void *user, int64_t first, int64_t count, double *values) {
  Counted *counted = user;
  counted->asked += first == 0;
  for (int64_t c = 0; c < count; c++) values[c] = counted->value;
  return TES_OK;
}

/* A problem over the mesh with this f. */
static TesProblem *problem_of(const TesMesh *mesh, const char *text) {
  TesFunction *function;
  TesProblem *problem;
  assert_int_equal(tes_function_create_expression(host, text, &function), TES_OK);
  assert_int_equal(
      tes_problem_create(host, &(TesProblemDesc){.mesh = mesh, .degree = 2, .data.f = {function}}, &problem),
      TES_OK);
  tes_function_destroy(&function);
  return problem;
}

/* Values with the version of the step before are not asked for; others are, and are written where they differ. */
static void versions(void **state) {
  (void)state;
  static const struct {
    double value;
    uint64_t version;
    int problem, asked;
    hsize_t rows; /* of c and f in the file, in chunks of 4096 rows, the last one less */
    hsize_t rows_of_f;
  } step[] = {{1, 7, 0, 1, 16, 144},
              {2, 7, 0, 1, 16, 144}, /* the caller's word is taken: nobody asks for the value */
              {1, 8, 0, 2, 16, 144}, /* a new version of the same values */
              {1, 8, 0, 2, 16, 144},
              {3, 9, 1, 4, 4096 + 16, 4096 + 144}, /* two: they are compared, then written */
              {3, 9, 1, 4, 4096 + 16, 4096 + 144},
              {3, 0, 1, 5, 2 * 4096 + 16, 4096 + 144}}; /* without a version what has changed is written */
  TesMesh *mesh;
  assert_int_equal(tes_mesh_create(host, &(TesMeshDesc){.dim = 2, .cells = {4, 4}}, &mesh), TES_OK);
  TesProblem *problem[] = {problem_of(mesh, "x + y"), problem_of(mesh, "x - y")};
  TesVtkhdf *file = create("versions.vtkhdf", true);
  Counted counted = {.asked = 0};
  for (size_t i = 0; i < sizeof step / sizeof *step; i++) {
    counted.value = step[i].value;
    const TesVtuArray cells = {.name = "c", .fill = fill_counted, .user = &counted, .version = step[i].version};
    assert_int_equal(tes_vtkhdf_write_problem(file, problem[step[i].problem], (double)i, 1, &cells), TES_OK);
    assert_int_equal(counted.asked, step[i].asked);
    const hid_t h = open_file("versions.vtkhdf");
    assert_int_equal(rows_of(h, "VTKHDF/CellData/c"), step[i].rows);
    assert_int_equal(rows_of(h, "VTKHDF/PointData/f"), step[i].rows_of_f);
    H5Fclose(h);
  }
  tes_vtkhdf_destroy(&file);
  for (int i = 0; i < 2; i++) tes_problem_destroy(&problem[i]);
  tes_mesh_destroy(&mesh);
}

/* The mesh of a problem is written once as long as it stays. */
static void a_mesh_stays(void **state) {
  (void)state;
  TesMesh *mesh;
  TesProblem *problem;
  TesSolveResult result;
  assert_int_equal(tes_mesh_create(host, &(TesMeshDesc){.dim = 2, .cells = {4, 4}}, &mesh), TES_OK);
  assert_int_equal(tes_problem_create(host, &(TesProblemDesc){.mesh = mesh, .degree = 2}, &problem), TES_OK);
  assert_int_equal(tes_problem_solve(problem, &result), TES_OK);
  TesVtkhdf *file = create("mesh.vtkhdf", true);
  for (int step = 0; step < 3; step++)
    assert_int_equal(tes_vtkhdf_write_problem(file, problem, step, 0, NULL), TES_OK);
  tes_vtkhdf_destroy(&file);
  const hid_t h = open_file("mesh.vtkhdf");
  assert_int_equal(steps_of(h), 3);
  assert_int_equal(rows_of(h, "VTKHDF/NumberOfPoints"), 1);
  assert_int_equal(rows_of(h, "VTKHDF/Points"), 16 * 9);
  assert_int_equal(number_at(h, "VTKHDF/Steps/PointOffsets", 2), 0);
  assert_int_equal(rows_of(h, "VTKHDF/PointData/f"), 16 * 9); /* and so is a field that stays */
  H5Fclose(h);
  tes_problem_destroy(&problem);
  tes_mesh_destroy(&mesh);
}

/* A file that goes on has the mesh of its last step once more only if the mesh is another one, with as many cells. */
static void a_mesh_stays_when_a_file_goes_on(void **state) {
  (void)state;
  for (int round = 0; round < 4; round++) {
    TesMesh *mesh;
    TesProblem *problem;
    TesSolveResult result;
    TesVtkhdf *file;
    const TesVtkhdfDesc desc = {
        .path = "again.vtkhdf", .steps = true, .goes_on = round > 0, .last = 2 * round, .behind = true};
    const double upper = round < 2 ? 1 : 2;
    assert_int_equal(
        tes_mesh_create(host, &(TesMeshDesc){.dim = 2, .cells = {4, 4}, .upper = {upper, 1}}, &mesh), TES_OK);
    assert_int_equal(tes_problem_create(host, &(TesProblemDesc){.mesh = mesh, .degree = 2}, &problem), TES_OK);
    assert_int_equal(tes_problem_solve(problem, &result), TES_OK);
    assert_int_equal(tes_vtkhdf_create(host, &desc, &file), TES_OK);
    for (int step = 1; step < 3; step++)
      assert_int_equal(tes_vtkhdf_write_problem(file, problem, 2 * round + step, 0, NULL), TES_OK);
    tes_vtkhdf_destroy(&file);
    const hid_t h = open_file("again.vtkhdf");
    assert_int_equal(steps_of(h), 2 * round + 2);
    const int meshes = round < 2 ? 1 : 2;
    assert_int_equal(rows_of(h, "VTKHDF/NumberOfPoints"), meshes);
    assert_int_equal(number_at(h, "VTKHDF/Steps/PartOffsets", 2 * round + 1), meshes - 1);
    assert_true((rows_of(h, "VTKHDF/PointData/f") > 16 * 9) == (round >= 2));
    H5Fclose(h);
    tes_problem_destroy(&problem);
    tes_mesh_destroy(&mesh);
  }
}

static void a_file_goes_on(void **state) {
  (void)state;
  TesVtkhdf *file = create("on.vtkhdf", true);
  for (int step = 0; step < 4; step++) {
    Made m = made(2, 3, 10 + step, step);
    assert_int_equal(write_made(file, &m), TES_OK);
  }
  tes_vtkhdf_destroy(&file);
  const TesVtkhdfDesc desc = {.path = "on.vtkhdf", .steps = true, .goes_on = true, .last = 1};
  assert_int_equal(tes_vtkhdf_create(host, &desc, &file), TES_OK);
  for (int step = 2; step < 5; step++) {
    Made m = made(2, 3, 20 + step, step + 0.5);
    assert_int_equal(write_made(file, &m), TES_OK);
  }
  tes_vtkhdf_destroy(&file);
  const hid_t h = open_file("on.vtkhdf");
  assert_int_equal(steps_of(h), 5);
  for (int step = 0; step < 5; step++) {
    const Made m = made(2, 3, (step < 2 ? 10 : 20) + step, step < 2 ? step : step + 0.5);
    check_step(h, true, step, &m);
  }
  H5Fclose(h);
}

static void assert_told(TesStatus status, TesStatus expected, const char *text) {
  if (status != expected || !strstr(tes_context_message(host), text))
    fail_msg("status %s: %s", tes_status_name(status), tes_context_message(host));
  tes_context_clear(host);
}

static void what_is_refused(void **state) {
  (void)state;
  TesVtkhdf *file;
  Made m = made(2, 1, 3, 0);
  TesVtkhdfDesc desc = {.path = "."};
  assert_told(tes_vtkhdf_create(host, &desc, &file), TES_IO, "it is a folder");
  desc.path = "/dev/null";
  assert_told(tes_vtkhdf_create(host, &desc, &file), TES_IO, "no ordinary file");
  desc.path = "no/such/u.vtkhdf";
  assert_told(tes_vtkhdf_create(host, &desc, &file), TES_IO, "No such file or directory");
  desc.path = "";
  assert_told(tes_vtkhdf_create(host, &desc, &file), TES_INVALID_INPUT, "empty");
  FILE *text = fopen("text.vtkhdf", "w");
  fputs("no HDF5\n", text);
  fclose(text);
  desc = (TesVtkhdfDesc){.path = "text.vtkhdf", .steps = true, .goes_on = true};
  assert_int_equal(tes_vtkhdf_create(host, &desc, &file), TES_OK);
  assert_told(write_made(file, &m), TES_INVALID_INPUT, "is no VTKHDF file of steps");
  tes_vtkhdf_destroy(&file);
  /* of one solution, and with other fields */
  file = create("other.vtkhdf", false);
  assert_int_equal(write_made(file, &m), TES_OK);
  tes_vtkhdf_destroy(&file);
  desc.path = "other.vtkhdf";
  assert_int_equal(tes_vtkhdf_create(host, &desc, &file), TES_OK);
  assert_told(write_made(file, &m), TES_INVALID_INPUT, "is no VTKHDF file of steps");
  tes_vtkhdf_destroy(&file);
  file = create("fields.vtkhdf", true);
  const double x[] = {0, 1, 0, 1, 0, 0, 1, 1}, value[] = {1, 2, 3, 4};
  const TesVtuArray field = {.name = "other", .values = value};
  const TesVtuDesc one = {.dim = 2,
                          .degree = 1,
                          .cells = 1,
                          .coordinates = {.values = x},
                          .point_fields = &field,
                          .point_field_count = 1};
  assert_int_equal(tes_vtkhdf_write(file, &one, 0), TES_OK);
  assert_told(write_made(file, &m), TES_INVALID_INPUT, "has steps with 1 fields of points and 0 of cells");
  tes_vtkhdf_destroy(&file);
  desc.path = "fields.vtkhdf", desc.last = 1;
  assert_int_equal(tes_vtkhdf_create(host, &desc, &file), TES_OK);
  assert_told(write_made(file, &m), TES_INVALID_INPUT, "steps with other fields");
  tes_vtkhdf_destroy(&file);
}

/* In another process, without end. */
static void write_for_ever(const char *path, bool behind) {
  TesVtkhdf *file;
  if (tes_vtkhdf_create(host, &(TesVtkhdfDesc){.path = path, .steps = true, .behind = behind}, &file))
    _exit(1);
  for (int64_t step = 0;; step++) {
    Made m = step_of(step);
    if (write_made(file, &m)) _exit(2);
  }
}

/* Killed at moments that are spread over the first steps; every step that is counted is there. */
static void killed_at_any_moment(void **state) {
  enum { KILLS = 150, STEPS = 6 };
  int64_t most = 0;
  int seen = 0;
  (void)state;
  const double start = tesi_now();
  TesVtkhdf *file = create("killed.vtkhdf", true);
  for (int64_t step = 0; step < STEPS; step++) {
    Made m = step_of(step);
    assert_int_equal(write_made(file, &m), TES_OK);
  }
  tes_vtkhdf_destroy(&file);
  const double longest = 1.5 * (tesi_now() - start);
  for (int kill_number = 0; kill_number < KILLS; kill_number++) {
    unlink("killed.vtkhdf");
    const pid_t child = fork();
    if (!child) write_for_ever("killed.vtkhdf", kill_number % 2);
    assert_true(child > 0);
    const double wait = longest * kill_number / KILLS;
    nanosleep(&(struct timespec){(time_t)wait, (long)(1e9 * (wait - floor(wait)))}, NULL);
    assert_int_equal(kill(child, SIGKILL), 0);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    if (access("killed.vtkhdf", F_OK)) continue; /* before the first step */
    const hid_t h = open_file("killed.vtkhdf");
    const int64_t count = steps_of(h);
    assert_true(count >= 1);
    for (int64_t step = 0; step < count; step++) {
      const Made m = step_of(step);
      check_step(h, true, step, &m);
    }
    H5Fclose(h);
    most = count > most ? count : most;
    seen++;
  }
  printf("%d files of %d kills, %lld steps at most\n", seen, (int)KILLS, (long long)most);
  assert_true(seen > KILLS / 4 && most >= 2);
  if (system("rm -f killed.vtkhdf.*.part")) fail();
}

/* No file may grow beyond a bound, as on a full disk: a message, and the steps before stay; HDF5 survives it. */
static void fill_disk(bool behind) {
  const pid_t child = fork();
  if (!child) {
    TesVtkhdf *file;
    const struct rlimit bound = {1 << 20, 1 << 20};
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &bound)) _exit(1);
    if (tes_vtkhdf_create(host, &(TesVtkhdfDesc){.path = "full.vtkhdf", .steps = true, .behind = behind},
                          &file))
      _exit(2);
    for (int64_t step = 0; step < 10000; step++) {
      Made m = step_of(step);
      const TesStatus status = write_made(file, &m);
      if (status == TES_OK) continue;
      if (status != TES_IO || !strstr(tes_context_message(host), strerror(EFBIG))) _exit(3);
      if (write_made(file, &m) != TES_IO) _exit(4);
      tes_vtkhdf_destroy(&file);
      exit(0); /* as programs end: HDF5 cleans up */
    }
    _exit(5);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  const hid_t h = open_file("full.vtkhdf");
  const int64_t count = steps_of(h);
  assert_true(count >= 2);
  for (int64_t step = 0; step < count; step++) {
    const Made m = step_of(step);
    check_step(h, true, step, &m);
  }
  H5Fclose(h);
}

static void a_full_disk(void **state) {
  (void)state;
  for (int behind = 0; behind < 2; behind++) fill_disk(behind);
}

static void files_left(void **state) {
  (void)state;
  FILE *pipe = popen("ls -A | grep -v vtkhdf$ | wc -l", "r");
  int count = -1;
  assert_int_equal(fscanf(pipe, "%d", &count), 1);
  pclose(pipe);
  assert_int_equal(count, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(one_solution),
                                     cmocka_unit_test(steps),
                                     cmocka_unit_test(a_mesh_stays),
                                     cmocka_unit_test(a_file_goes_on),
                                     cmocka_unit_test(a_mesh_stays_when_a_file_goes_on),
                                     cmocka_unit_test(what_is_refused),
                                     cmocka_unit_test(killed_at_any_moment),
                                     cmocka_unit_test(a_full_disk),
                                     cmocka_unit_test(files_left),
                                     cmocka_unit_test(versions)};
  return cmocka_run_group_tests(tests, begin, end);
}
#else
/* A build without HDF5 says what to install. */
static void missing(void **state) {
  (void)state;
  TesVtkhdf *file;
  assert_int_equal(tes_vtkhdf_create(host, &(TesVtkhdfDesc){.path = "u.vtkhdf"}, &file), TES_MISSING);
  assert_non_null(strstr(tes_context_message(host), "libhdf5-dev"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(missing)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
#endif
