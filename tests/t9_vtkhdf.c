/* Run: ctest -R t9_vtkhdf$. output.vtkhdf by the program: steps in time with their times, also where the mesh follows
 * the solution; runs that go on have the steps and numbers of one that went through; what is refused, and how a run is
 * ended by a signal. t9_vtkhdf_read.py compares files with those of output.vtu. */
#ifdef TESI_HDF5
#include <hdf5.h>
#endif
#include <signal.h>
#include <sys/resource.h>
#include "program_testing.h"

static const char head[] =
    "problem: transport\nmesh: {kind: forest, box: {cells: [8, 8]}}\nspace: {degree: 3}\n"
    "data: {b: [1, 0.5], a: 0.001, initial: \"exp(-60*(pow(x-0.3,2)+pow(y-0.4,2)))\"}\n"
    "boundary: {all: {dirichlet: 0}}\n";

static void write_case(const char *rest) {
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fprintf(file, "%s%s", head, rest);
  assert_int_equal(fclose(file), 0);
}

#ifdef TESI_HDF5
static hid_t open_file(const char *path) {
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) fail_msg("%s cannot be opened", path);
  return file;
}

/* All of a list of the file as numbers; the caller frees. */
static double *read_list(hid_t file, const char *name, int *count) {
  const hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
  if (set < 0) fail_msg("there is no %s", name);
  const hid_t space = H5Dget_space(set);
  *count = (int)H5Sget_simple_extent_npoints(space);
  double *values = calloc((size_t)*count + 1, sizeof *values);
  assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Sclose(space);
  H5Dclose(set);
  return values;
}

static int steps_of(hid_t file) {
  int steps = -1;
  const hid_t list = H5Gopen2(file, "VTKHDF/Steps", H5P_DEFAULT), count = H5Aopen(list, "NSteps", H5P_DEFAULT);
  assert_true(H5Aread(count, H5T_NATIVE_INT, &steps) >= 0);
  H5Aclose(count);
  H5Gclose(list);
  return steps;
}

static double at(hid_t file, const char *name, int row) {
  int count;
  double *values = read_list(file, name, &count);
  assert_in_range(row, 0, count - 1);
  const double value = values[row];
  free(values);
  return value;
}

/* Points and values of a step; returns how many, the caller frees. */
static int read_step(hid_t file, int step, double **u, double **x) {
  int all;
  const int part = (int)at(file, "VTKHDF/Steps/PartOffsets", step),
            n = (int)at(file, "VTKHDF/NumberOfPoints", part),
            first = (int)at(file, "VTKHDF/Steps/PointDataOffsets/u", step),
            place = (int)at(file, "VTKHDF/Steps/PointOffsets", step);
  double *values = read_list(file, "VTKHDF/PointData/u", &all), *points;
  assert_true(first + n <= all);
  memmove(values, values + first, (size_t)n * sizeof *values);
  points = read_list(file, "VTKHDF/Points", &all);
  assert_true(3 * (place + n) <= all);
  memmove(points, points + 3 * place, (size_t)(3 * n) * sizeof *points);
  *u = values, *x = points;
  return n;
}

static void assert_same_step(hid_t one, hid_t other, int step) {
  double *u[2], *x[2];
  const int n = read_step(one, step, &u[0], &x[0]);
  assert_int_equal(read_step(other, step, &u[1], &x[1]), n);
  assert_true(at(one, "VTKHDF/Steps/Values", step) == at(other, "VTKHDF/Steps/Values", step));
  for (int i = 0; i < n; i++) assert_near(u[0][i], u[1][i], 1e-12);
  for (int i = 0; i < 3 * n; i++) assert_near(x[0][i], x[1][i], 1e-12);
  for (int i = 0; i < 2; i++) free(u[i]), free(x[i]);
}

static void steps_in_time(void **state) {
  (void)state;
  write_case("time: {end: 0.1, step: 0.01}\noutput: {folder: runs, vtkhdf: {file: u.vtkhdf, every: 2}}\n");
  assert_run("solve a.yaml --json a.json", 0);
  assert_output("written   runs/u.vtkhdf");
  cJSON *json = read_json("a.json");
  assert_string_equal(cJSON_GetObjectItem(json, "vtkhdf")->valuestring, "runs/u.vtkhdf");
  cJSON_Delete(json);
  const hid_t file = open_file("runs/u.vtkhdf");
  assert_int_equal(steps_of(file), 6);
  for (int step = 0; step < 6; step++) {
    double *u, *x;
    assert_near(at(file, "VTKHDF/Steps/Values", step), 0.02 * step, 1e-12);
    const int n = read_step(file, step, &u, &x);
    assert_int_equal(n, 64 * 16);
    /* at the start the initial values, at the nodes exactly: vertices of cells are nodes */
    for (int i = 0; i < n && !step; i++)
      if (fmod(8 * x[3 * i], 1) == 0 && fmod(8 * x[3 * i + 1], 1) == 0 && x[3 * i] > 0 && x[3 * i] < 1 &&
          x[3 * i + 1] > 0 && x[3 * i + 1] < 1)
        assert_near(u[i], exp(-60 * (pow(x[3 * i] - 0.3, 2) + pow(x[3 * i + 1] - 0.4, 2))), 1e-12);
    free(u), free(x);
  }
  int parts;
  free(read_list(file, "VTKHDF/NumberOfPoints", &parts));
  assert_int_equal(parts, 1); /* the mesh stays */
  H5Fclose(file);
}

/* With a mesh that changes, too; a run that went beyond its checkpoint loses the steps behind it. */
static void runs_that_go_on(void **state) {
  static const char rest[] =
      "time: {end: 0.2, step: 0.01}\nadapt: {every: 5, max_level: 2}\n"
      "output: {vtkhdf: {file: whole.vtkhdf, every: 2}, checkpoint: {file: c.h5, every: 10}}\n";
  (void)state;
  write_case(rest);
  assert_run("solve a.yaml --quiet --deterministic", 0);
  assert_run("solve a.yaml --quiet --deterministic --set output.vtkhdf.file=part.vtkhdf --set time.end=0.14 "
             "--set output.checkpoint.file=d.h5",
             0);
  hid_t part = open_file("part.vtkhdf");
  assert_int_equal(steps_of(part), 8);
  H5Fclose(part);
  assert_run("solve a.yaml --quiet --deterministic --set output.vtkhdf.file=part.vtkhdf --restart d.h5", 0);
  const hid_t whole = open_file("whole.vtkhdf");
  part = open_file("part.vtkhdf");
  assert_int_equal(steps_of(whole), 11);
  assert_int_equal(steps_of(part), 11);
  for (int step = 0; step < 11; step++) assert_same_step(whole, part, step);
  int parts;
  free(read_list(whole, "VTKHDF/NumberOfPoints", &parts));
  assert_in_range(parts, 2, 5);
  H5Fclose(whole);
  H5Fclose(part);
}

/* The mesh of a run that goes on, and data that stay, are there once. */
static void what_stays_is_there_once(void **state) {
  int parts, rows;
  (void)state;
  write_case(
      "time: {end: 0.05, step: 0.01}\noutput: {vtkhdf: {file: on.vtkhdf, every: 1}, checkpoint: g.h5}\n");
  assert_run("solve a.yaml --quiet --deterministic", 0);
  assert_run("solve a.yaml --quiet --deterministic --set time.end=0.1 --set output.vtkhdf.file=all.vtkhdf "
             "--set output.checkpoint=null",
             0);
  assert_run("solve a.yaml --quiet --deterministic --set time.end=0.1 --restart g.h5", 0);
  const hid_t all = open_file("all.vtkhdf"), on = open_file("on.vtkhdf");
  for (int step = 0; step < 11; step++) assert_same_step(all, on, step);
  free(read_list(on, "VTKHDF/NumberOfPoints", &parts));
  assert_int_equal(parts, 1);
  free(read_list(on, "VTKHDF/PointData/b1", &parts));
  free(read_list(all, "VTKHDF/PointData/b1", &rows));
  assert_int_equal(parts, rows);
  H5Fclose(all);
  H5Fclose(on);
}

static void an_interrupted_run(void **state) {
  (void)state;
  write_case("time: {end: 50, step: 0.001}\noutput: {vtkhdf: {file: i.vtkhdf, every: 1}}\n");
  const pid_t child = fork();
  if (!child) execl(PROGRAM, PROGRAM, "solve", "a.yaml", "--quiet", (char *)NULL);
  assert_true(child > 0);
  for (int i = 0; i < 500 && !exists("i.vtkhdf"); i++) usleep(10000);
  usleep(100000);
  assert_int_equal(kill(child, SIGINT), 0);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) || WIFSIGNALED(status));
  const hid_t file = open_file("i.vtkhdf");
  const int steps = steps_of(file);
  assert_true(steps >= 1);
  assert_same_step(file, file, steps - 1);
  H5Fclose(file);
}

/* The exit status of a run whose files must not grow beyond a bound, as on a full disk. */
static int run_bounded(rlim_t bytes, char *const arguments[]) {
  const pid_t child = fork();
  if (!child) {
    signal(SIGXFSZ, SIG_IGN);
    if (!setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, bytes}) && freopen("message.txt", "w", stderr))
      execv(PROGRAM, arguments);
    _exit(99);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The step that fails is written while the run goes on: the run ends with its message and status. The checkpoint is of
 * a step that the file has, so that a run that goes on from there leaves no step out. */
static void a_full_disk(void **state) {
  (void)state;
  enum { STEPS = 30, BOUND = 300000 };
  write_case(
      "time: {end: 0.3, step: 0.01}\noutput: {vtkhdf: {file: f.vtkhdf, every: 1}, checkpoint: {file: f.h5, "
      "every: 1}}\n");
  char *const solve[] = {PROGRAM, "solve", "a.yaml", "--quiet", NULL};
  assert_int_equal(run_bounded(BOUND, solve), 4);
  if (system("grep -q 'cannot write f.vtkhdf: File too large' message.txt")) fail_msg("another message");
  hid_t file = open_file("f.vtkhdf");
  assert_in_range(steps_of(file), 3, STEPS);
  H5Fclose(file);
  assert_run("solve a.yaml --quiet --restart f.h5", 0);
  file = open_file("f.vtkhdf");
  assert_int_equal(steps_of(file), STEPS + 1);
  for (int step = 0; step <= STEPS; step++)
    assert_near(at(file, "VTKHDF/Steps/Values", step), 0.01 * step, 1e-12);
  H5Fclose(file);
}

/* No other step follows the one that fails. */
static void a_disk_full_at_the_end(void **state) {
  (void)state;
  enum { STEPS = 3 };
  struct stat whole;
  char *const solve[] = {PROGRAM, "solve", "a.yaml", "--quiet", NULL};
  write_case("time: {end: 0.03, step: 0.01}\noutput: {vtkhdf: {file: e.vtkhdf, every: 1}}\n");
  assert_run("solve a.yaml --quiet", 0);
  assert_int_equal(stat("e.vtkhdf", &whole), 0);
  assert_int_equal(unlink("e.vtkhdf"), 0);
  assert_int_equal(run_bounded((rlim_t)whole.st_size - 1, solve), 4);
  const hid_t file = open_file("e.vtkhdf");
  assert_int_equal(steps_of(file), STEPS);
  H5Fclose(file);
}
#endif

static void what_is_refused(void **state) {
  (void)state;
  write_case("time: {end: 0.02, step: 0.01}\noutput: {vtkhdf: u.h5}\n");
  assert_refused(
      "a.yaml", "output.vtkhdf: u.h5: the file is of the format vtkhdf, whatever its name: call it u.vtkhdf");
  write_case("time: {end: 0.02, step: 0.01}\noutput: {vtu: u.vtkhdf}\n");
  assert_refused("a.yaml", "call it u.vtu");
  write_case("output: {vtkhdf: {file: u.vtkhdf, every: 2}}\n");
  assert_refused("a.yaml", "output.vtkhdf.every: belongs to problems in time");
  write_case(
      "time: {end: 0.02, step: 0.01}\noutput: {vtkhdf: u.vtkhdf, lines: [{from: [0, 0], to: [1, 1], file: "
      "u.vtkhdf}]}\n");
  assert_refused("a.yaml", "and the solution (output.vtkhdf) are one file: give another name");
  write_case("time: {end: 0.02, step: 0.01}\noutput: {vtkhdf: {every: 2}}\n");
  assert_refused("a.yaml", "output.vtkhdf.file: is missing");
  write_case("time: {end: 0.02, step: 0.01}\noutput: {vtkhdf: no/such/u.vtkhdf}\n");
#ifdef TESI_HDF5
  assert_run("solve a.yaml --quiet", 4);
  assert_output("cannot write no/such/u.vtkhdf: No such file or directory");
#else
  assert_run("solve a.yaml --quiet", 3);
  assert_output("install libhdf5-dev");
#endif
  assert_run("solve a.yaml --quiet --set output.vtkhdf=null", 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#ifdef TESI_HDF5
      cmocka_unit_test(steps_in_time),
      cmocka_unit_test(runs_that_go_on),
      cmocka_unit_test(what_stays_is_there_once),
      cmocka_unit_test(an_interrupted_run),
      cmocka_unit_test(a_full_disk),
      cmocka_unit_test(a_disk_full_at_the_end),
#endif
      cmocka_unit_test(what_is_refused)};
#ifdef TESI_HDF5
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
#endif
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
