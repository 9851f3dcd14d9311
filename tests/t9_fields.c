/* Run: ctest -R t9_fields. Checkpoints as data: a run in two parts over two meshes ends where one run ends; a velocity
 * that a solve of Stokes left carries as its expression does; a flow begins with Stokes' velocity; what is refused. */
#include "program_testing.h"
#include "tessera/tessera.h"

/* A number of the first point of a.json. */
static double at_point(const char *field) {
  cJSON *json = read_json("a.json");
  const cJSON *point = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "points"), 0),
              *item = cJSON_GetObjectItem(point, field);
  if (cJSON_IsArray(item)) item = cJSON_GetArrayItem(item, 0);
  assert_true(cJSON_IsNumber(item));
  const double value = cJSON_GetNumberValue(item);
  cJSON_Delete(json);
  return value;
}

static const char heat[] = "problem: transport\n"
                           "mesh: {box: {cells: [6, 6]}}\n"
                           "space: {degree: 4}\n"
                           "data: {a: 0.01, initial: \"sin(pi*x)*sin(pi*y)\"}\n"
                           "time: {end: 0.1, step: 0.01, method: crank_nicolson}\n"
                           "solver: {tolerance: 1e-8}\n"
                           "output: {points: [[0.3, 0.4]]}\n";

static void a_run_in_two_parts(void **state) {
  (void)state;
  if (!tes_has_part("hdf5")) skip();
  write_file("heat.yaml", heat);
  assert_run("solve heat.yaml --quiet --json a.json --set time.end=0.2", 0);
  const double whole = at_point("u");
  assert_run("solve heat.yaml --quiet --set output.checkpoint=h.h5", 0);
  assert_run(
      "solve heat.yaml --quiet --json a.json --set mesh.box.cells=[7,8] --set data.initial={file: h.h5} "
      "--set time.start=0.1 --set time.end=0.2",
      2); /* the shell cuts at blanks */
  assert_run(
      "solve heat.yaml --quiet --json a.json --set mesh.box.cells=[7,8] --set \"data.initial={file: h.h5}\" "
      "--set time.start=0.1 --set time.end=0.2",
      0);
  assert_near(at_point("u"), whole, 2e-6);
}

static const char turning[] = "problem: stokes\n"
                              "mesh: {box: {cells: [4, 4]}}\n"
                              "space: {element: rt, degree: 1}\n"
                              "data: {exact: {velocity: [\"0.5 - y\", \"x - 0.5\"], pressure: 0}}\n"
                              "boundary: {all: {velocity: [\"0.5 - y\", \"x - 0.5\"]}}\n"
                              "solver: {tolerance: 1e-11}\n"
                              "output: {checkpoint: turning.h5}\n";
static const char carried[] = "problem: transport\n"
                              "mesh: {box: {cells: [6, 6]}}\n"
                              "space: {degree: 3}\n"
                              "data: {a: 0.01, b: {file: turning.h5}, initial: x*x}\n"
                              "boundary: {all: {neumann: 0}}\n"
                              "time: {end: 0.2, step: 0.02}\n"
                              "solver: {tolerance: 1e-8}\n"
                              "output: {points: [[0.3, 0.4]]}\n";
static const char flow[] = "problem: navier_stokes\n"
                           "mesh: {box: {cells: [4, 4]}}\n"
                           "space: {degree: 3}\n"
                           "data: {nu: 0.1, initial: {file: turning.h5}}\n"
                           "boundary: {all: {velocity: [\"0.5 - y\", \"x - 0.5\"]}}\n"
                           "time: {end: 0.01, step: 0.001}\n"
                           "output: {checkpoint: flow.h5, points: [[0.3, 0.4]]}\n";

static void velocities_carry_and_begin(void **state) {
  (void)state;
  if (!tes_has_part("hdf5")) skip();
  write_file("turning.yaml", turning);
  write_file("carried.yaml", carried);
  write_file("flow.yaml", flow);
  assert_run("solve turning.yaml --quiet", 0);
  assert_run("solve carried.yaml --quiet --json a.json", 0);
  const double from_file = at_point("u");
  assert_run("solve carried.yaml --quiet --json a.json --device emulator", 0);
  assert_near(at_point("u"), from_file, 1e-6);
  assert_run("solve carried.yaml --quiet --json a.json --set \"data.b=[0.5 - y, x - 0.5]\"", 0);
  assert_near(at_point("u"), from_file, 1e-6);
  /* of a turning fluid nothing changes; then its checkpoint carries too */
  assert_run("solve flow.yaml --quiet --json a.json", 0);
  assert_near(at_point("velocity"), 0.1, 1e-3);
  assert_run("solve carried.yaml --quiet --json a.json --set data.b.file=flow.h5", 0);
  assert_near(at_point("u"), from_file, 1e-3);
  assert_run(
      "solve flow.yaml --quiet --json a.json --set \"data.initial={file: flow.h5}\" --set time.start=0.01 "
      "--set time.end=0.02 --set output.checkpoint=later.h5",
      0);
  assert_near(at_point("velocity"), 0.1, 1e-3);
}

/* The pressure of element iso is on cells twice as wide as the velocity's. Widths differ by direction, and the number
 * of cells is odd in one of them. A rotating fluid, p = r^2/2 - 1/12 with the distance r from (1/2, 1/2), stays as it
 * is on the mesh of the file. */
static void element_iso_begins_from_a_file(void **state) {
  (void)state;
  if (!tes_has_part("hdf5")) skip();
  write_file("iso.yaml", "problem: navier_stokes\nmesh: {box: {cells: [24, 3]}}\nspace: {element: iso}\n"
                         "data: {nu: 0.1, initial: {velocity: [0.5 - y, x - 0.5],\n"
                         "  pressure: ((x - 0.5)*(x - 0.5) + (y - 0.5)*(y - 0.5))/2}}\n"
                         "boundary: {all: {velocity: [0.5 - y, x - 0.5]}}\ntime: {end: 0.05, step: 0.001}\n"
                         "output: {checkpoint: iso.h5, points: [[0.3, 0.4]]}\n");
  assert_run("solve iso.yaml --quiet --json a.json", 0);
  const double pressure = at_point("pressure"), velocity = at_point("velocity");
  assert_near(pressure, 0.025 - 1 / 12., 1e-3);
  static const struct {
    const char *options;
    double near;
  } other[] = {{"", 1e-9},
               {"--device emulator", 1e-9},
               {"--set mesh.box.cells=[12,4]", 0.01},
               {"--set \"space={element: q, degree: 3}\"", 0.01},
               {"--set \"space={element: rt}\"", 0.01}};
  for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
    char arguments[400];
    snprintf(
        arguments, sizeof arguments,
        "solve iso.yaml --quiet --json a.json --set \"data.initial={file: iso.h5}\" --set time.start=0.05 "
        "--set time.end=0.051 --set output.checkpoint=null %s",
        other[i].options);
    assert_run(arguments, 0);
    assert_near(at_point("velocity"), velocity, other[i].near);
    assert_near(at_point("pressure"), pressure, other[i].near);
  }
}

/* u = (1 + t) (1/2 - y, x - 1/2), which is of the space at all times, and linear between two checkpoints. */
static const char faster[] =
    "problem: navier_stokes\n"
    "mesh: {box: {cells: [4, 4]}}\n"
    "space: {degree: 3}\n"
    "data: {nu: 0.1, f: [\"0.5 - y\", \"x - 0.5\"], initial: {velocity: [\"0.5 - y\", \"x - 0.5\"]}}\n"
    "boundary: {all: {velocity: [\"(1 + t)*(0.5 - y)\", \"(1 + t)*(x - 0.5)\"]}}\n"
    "time: {end: 0.4, step: 0.01}\n"
    "output: {checkpoint: {file: faster.h5, every: {time: 0.1}, keep: true}}\n";

static const char thin[] = "problem: transport\n"
                           "mesh: {box: {cells: [6, 6]}}\n"
                           "space: {degree: 3}\n"
                           "data: {a: 0.001, b: {file: faster-*.h5}, initial: x*x*y}\n"
                           "boundary: {all: {neumann: 0}}\n"
                           "time: {end: 0.4, step: 0.02}\n"
                           "solver: {tolerance: 1e-8}\n"
                           "output: {points: [[0.3, 0.4]]}\n";

static void a_series_of_checkpoints_carries(void **state) {
  (void)state;
  if (!tes_has_part("hdf5")) skip();
  write_file("faster.yaml", faster);
  write_file("thin.yaml", thin);
  assert_run("solve faster.yaml --quiet", 0);
  assert_run("solve thin.yaml --quiet --json a.json --set \"data.b=[0.5 - y, x - 0.5]\"", 0);
  const double steady = at_point("u");
  assert_run("solve thin.yaml --quiet --json a.json --set "
             "\"data.b=[(1 + t)*(0.5 - y), (1 + t)*(x - 0.5)]\"",
             0);
  const double exact = at_point("u");
  assert_true(fabs(steady - exact) > 1e-3);
  static const char *const options[] = {"", " --device emulator", " --set space.element=dg",
                                        " --set time.method=sdirk2",
                                        " --set \"data.b.file=faster-0[0-4]0.h5\""};
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    char arguments[300];
    snprintf(arguments, sizeof arguments,
             "solve thin.yaml --quiet --json a.json --set \"data.b.file=faster*.h5\"%s", options[i]);
    assert_run(arguments, 0);
    assert_near(at_point("u"), exact, 2e-5);
  }
  /* a file whose name looks like a pattern is that file alone */
  assert_int_equal(rename("turning.h5", "turning[1].h5"), 0);
  assert_run("solve carried.yaml --quiet --set \"data.b.file=turning[1].h5\"", 0);
  /* and so is a folder */
  assert_int_equal(system("mkdir 'run[1]*' && cp faster-*.h5 'run[1]*'"), 0);
  assert_run("solve thin.yaml --quiet --json a.json --set \"data.b.file=run[1]*/faster-*.h5\"", 0);
  assert_near(at_point("u"), exact, 2e-5);
  assert_run("solve thin.yaml --quiet --json a.json --set \"data.b.file=r*/faster-*.h5\"", 0);
  assert_near(at_point("u"), exact, 2e-5);
  /* each of them is a start, and the start is one */
  assert_run("solve faster.yaml --quiet --restart faster-030.h5", 0);
  static const char *const wrong[][2] = {
      {"--set time.end=0.5 --set \"data.b.file=faster-*.h5\"",
       "has times from 0 to 0.4, the run goes from 0 to 0.5"},
      {"--set \"data.b.file=faster-00*.h5\"", "matches checkpoints of one time, t = 0"},
      {"--set \"data.b.file=slower-*.h5\"", "data.b.file: no file matches slower-*.h5"},
      {"--set \"data.b.file=faster-*.h5\" --set output.checkpoint=faster-010.h5",
       "would overwrite the checkpoint"},
      {"--set time=null --set data.initial=null --set \"data.b.file=faster-*.h5\"",
       "are for problems in time"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char arguments[300];
    snprintf(arguments, sizeof arguments, "solve thin.yaml --quiet %s", wrong[i][0]);
    assert_run(arguments, 2);
    assert_output(wrong[i][1]);
  }
  write_file("faster-020.h5", "no checkpoint");
  assert_run("solve thin.yaml --quiet --set \"data.b.file=faster-*.h5\"", 2);
  assert_output("faster-020.h5");
}

static const char plate[] =
    "problem: elasticity\n"
    "mesh: {box: {cells: [4, 1], upper: [4, 1]}}\n"
    "space: {degree: 2}\n"
    "data: {young: 100, poisson: 0.3}\n"
    "boundary: {all: {traction: [0, 0]}, left: {displacement: [0, 0]}, right: {traction: [1, 0]}}\n"
    "output: {points: [[4, 0.5]]}\n";

/* A plate that is let go: at first where it was, then on its way back. */
static void bodies_begin_where_they_were(void **state) {
  (void)state;
  if (!tes_has_part("hdf5")) skip();
  write_file("plate.yaml", plate);
  assert_run("solve plate.yaml --quiet --json a.json --set output.checkpoint=plate.h5", 0);
  const double drawn = at_point("displacement");
  assert_true(drawn > 0.03);
  assert_run("solve plate.yaml --quiet --json a.json --set \"data.initial={file: plate.h5}\" --set "
             "\"time={end: 1e-3, step: 5e-4}\" --set \"boundary.right={traction: [0, 0]}\" --set "
             "output.checkpoint=b.h5",
             0);
  assert_near(at_point("displacement"), drawn, 1e-2 * drawn);
  assert_run("solve plate.yaml --quiet --json a.json --set \"data.initial={file: b.h5}\" --set "
             "\"time={start: 1e-3, end: 0.2, step: 0.01}\" --set \"boundary.right={traction: [0, 0]}\"",
             0);
  assert_true(at_point("displacement") < 0.9 * drawn);
}

static void what_is_refused(void **state) {
  (void)state;
  if (!tes_has_part("hdf5")) skip();
  write_file("heat.yaml", heat);
  write_file("carried.yaml", carried);
  write_file("flow.yaml", flow);
  write_file("plate.yaml", plate);
  write_file("turning.yaml", turning);
  assert_run("solve heat.yaml --quiet --set output.checkpoint=h.h5", 0);
  assert_run("solve plate.yaml --quiet --set output.checkpoint=e.h5", 0);
  assert_run("solve turning.yaml --quiet --set output.checkpoint=f.h5", 0);
  static const char *const wrong[][2] = {
      {"heat.yaml --set \"data.initial={file: none.h5}\"", "data.initial.file: cannot read none.h5"},
      {"heat.yaml --set \"data.initial={file: heat.yaml}\"", "data.initial.file: heat.yaml"},
      {"heat.yaml --set \"data.initial={file: h.h5}\" --set mesh.box.upper=[1.5,1]",
       "u of h.h5 (nan outside of its mesh) is nan at (1.0"},
      {"heat.yaml --set \"data.initial={file: h.h5}\" --set mesh.box.cells=[2,2,2]",
       "of 2 dimensions, the mesh has 3"},
      {"heat.yaml --set \"data.initial={velocity: [x, y]}\"", "belongs to elasticity and navier_stokes"},
      {"heat.yaml --set \"data.initial={file: h.h5}\" --set output.checkpoint=h.h5",
       "would overwrite the checkpoint"},
      {"carried.yaml --set data.b.file=h.h5", "data.b.file: h.h5 holds a scalar, expected a flow"},
      {"carried.yaml --set data.b.file=e.h5", "e.h5 holds a displacement, expected a flow"},
      {"carried.yaml --set 'data.b.file=[he].h5'", "e.h5 holds a displacement, expected a flow"},
      {"heat.yaml --set \"data.initial={file: f.h5}\"", "f.h5 holds a flow, expected a scalar"},
      {"heat.yaml --set \"data.initial={file: e.h5}\"", "e.h5 holds a displacement, expected a scalar"},
      {"plate.yaml --set \"data.initial={file: f.h5}\" --set \"time={end: 1, step: 0.5}\"",
       "f.h5 holds a flow, expected a displacement"},
      {"carried.yaml --set data.b.fiel=h.h5", "did you mean 'file'?"},
      {"flow.yaml --set data.initial.file=h.h5", "data.initial.file: h.h5 holds a scalar, expected a flow"},
      {"flow.yaml --set data.initial.pressure=x", "data.initial.pressure: data.initial.file gives it"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char arguments[300];
    snprintf(arguments, sizeof arguments, "solve %s --quiet", wrong[i][0]);
    assert_run(arguments, 2);
    assert_output(wrong[i][1]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_run_in_two_parts),
      cmocka_unit_test(velocities_carry_and_begin),
      cmocka_unit_test(element_iso_begins_from_a_file),
      cmocka_unit_test(a_series_of_checkpoints_carries),
      cmocka_unit_test(bodies_begin_where_they_were),
      cmocka_unit_test(what_is_refused),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
