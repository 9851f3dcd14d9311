/* Run: ctest -R t9_units. Units behind numbers: both systems, powers and quotients, in constants, keys, lists and
 * expressions; kinds that do not fit, also within expressions, units that are unknown or come without a system. And the
 * name of a field: in reports, expressions, tables and files; what is refused. The unit of a picture. */
#include <math.h>
#include "program_testing.h"
#include "tessera/tessera.h"

static double value_of(const char *name) {
  cJSON *json = read_json("a.json");
  const cJSON *item = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "values"), name);
  const double value = cJSON_IsNumber(item) ? item->valuedouble : NAN;
  cJSON_Delete(json);
  return value;
}

/* A bar of 300 x 20 mm between rollers, E = 210 GPa, nu = 0, that hangs by 9.81 m/s^2, is pulled by 2 MPa, and is
 * warmed by 50 K with 12e-6/K. u = s L/E + rho g L^2/(2 E) + alpha T L. */
static const char bar[] =
    "problem: elasticity\nunits: %s\nconstants: {L: 30 cm, pull: 2 MPa, g: 981 cm/s^2}\n"
    "mesh: {box: {cells: [3, 1], upper: [L, 20 mm]}}\nspace: {degree: 2}\nsolver: {tolerance: 1e-11}\n"
    "data: {young: 210 GPa, poisson: 0, density: 7850 kg/m^3, gravity: [g, 0], expansion: 12e-6 K^-1, "
    "temperature: 50 K*(1 + 0*x/(1 mm))}\n"
    "boundary: {all: roller, right: {traction: [pull, 0]}, top: {traction: [0, 0]}}\n"
    "output: {values: {u: {mean: right, of: u}, E: {mean: domain, of: 2*mu}, L: {integral: top}, F: {force: "
    "left, of: "
    "x}}}\n";

static void numbers_have_units(void **state) {
  static const struct {
    const char *system;
    double length, stress;
  } systems[] = {{"SI", 1, 1}, {"mm-N-MPa", 1e3, 1e-6}};
  const double u = 2e6 * 0.3 / 210e9 + 7850 * 9.81 * 0.09 / (2 * 210e9) + 12e-6 * 50 * 0.3;
  (void)state;
  for (int i = 0; i < 2; i++) {
    char text[1200];
    const double length = systems[i].length, stress = systems[i].stress;
    snprintf(text, sizeof text, bar, systems[i].system);
    write_file("a.yaml", text);
    assert_run("solve a.yaml --quiet --json a.json --set output.values.L.of=1", 0);
    assert_near(value_of("u"), u * length, 1e-8 * u * length);
    assert_near(value_of("E"), 210e9 * stress, 1e-9 * 210e9 * stress);
    assert_near(value_of("L"), 0.3 * length, 1e-12 * length);
    /* a force per thickness: Pa m, MPa mm */
    const double force = (2e6 + 7850 * 9.81 * 0.3) * 0.02 * stress * length;
    assert_near(value_of("F"), -force, 1e-7 * force);
  }
  assert_run(
      "solve a.yaml --quiet --json a.json --set output.values.L.of=1 --set 'data.young=210e3 N/mm^2' --set "
      "'data.expansion=12e-6 1/K'",
      0);
  assert_near(value_of("u"), u * 1e3, 1e-8 * u * 1e3);
  assert_run(
      "solve a.yaml --quiet --json a.json --set output.values.L.of=1 --set 'data.young=0.21 MN/mm^2' --set "
      "'data.gravity=[9.81 N/kg, 0]'",
      0);
  assert_near(value_of("u"), u * 1e3, 1e-8 * u * 1e3);
}

static void rotations_and_times(void **state) {
  (void)state;
  write_file(
      "a.yaml",
      "problem: elasticity\nunits: SI\nmesh: {box: {cells: [2, 1], upper: [1 m, 0.5 m]}}\nspace: {degree: "
      "3}\nsolver: {tolerance: 1e-11}\ndata: {young: 1 kPa, poisson: 0, density: 2 g/cm^3, rotation: {speed: "
      "30 rpm}}\n"
      "boundary: {all: roller, right: {traction: [0, 0]}}\noutput: {values: {u: {mean: right, of: u}}}\n");
  assert_run("solve a.yaml --quiet --json a.json", 0);
  const double w = acos(-1);
  assert_near(value_of("u"), 2000 * w * w / 3000, 1e-7); /* rho w^2 L^3/(3 E) */
  write_file(
      "a.yaml",
      "problem: transport\nunits: SI\nmesh: {box: {cells: [4, 4]}}\nspace: {degree: 1}\ndata: {f: 1, a: 1}\n"
      "boundary: {all: {neumann: 0}}\ntime: {end: 0.1 min, step: 500 ms}\n"
      "output: {values: {u: {mean: domain}}}\n");
  assert_run("solve a.yaml --quiet --json a.json", 0);
  assert_near(value_of("u"), 6, 1e-3);
}

/* A unit belongs to the number before it alone; a name of the case is no unit. */
static void what_a_unit_belongs_to_is_clear(void **state) {
  static const struct {
    const char *text, *message; /* NULL: the value is `value` */
    double value;
  } cases[] = {{"1/2 m", "number over a number with a unit at column 2", 0},
               {"r/3/2 m", "number over a number with a unit", 0},
               {"-1/2 mm", "write 0.5 m or 1/(2 m)", 0},
               {"3 m**2", "power behind a unit at column 4", 0},
               {"3 m^2^2", "power behind a unit", 0},
               {"2^3 mm", "write 8 m or 2^3*(1 m)", 0},
               {"1 + 20 kN*h", "'h' is a unit and a name of the case at column 11", 0},
               {"1 + 20 N/h", "blanks around * and / make it the name", 0},
               {"3 m/t + 1", "'t' is a unit and a name of the case", 0},
               {"3 t", "'t' is a variable here and no unit", 0},
               {"20 N * h * 3 N / h", NULL, 60},
               {"(3 m)**2 + 3 m^2", NULL, 9e6 + 3e6},
               {"1/2*3 m + 0*r/2 m*1 m + 1/(2 m)*1 m^2", NULL, 1500 + 500},
               {"2 m/2 + 3 m*2", NULL, 7000},
               {"2**3*1 mm", NULL, 8},
               {"2^3*(1 mm)", NULL, 8}};
  (void)state;
  write_file("a.yaml", "problem: poisson\nunits: mm-N-MPa\nconstants: {h: 2 m, speed: 10 m/h}\n"
                       "mesh: {box: {cells: [2, 2]}}\noutput: {values: {u: {integral: domain}}}\n");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char command[200];
    snprintf(command, sizeof command, "solve a.yaml --quiet --json a.json --set 'output.values.u.of=%s'",
             cases[i].text);
    assert_run(command, cases[i].message ? 2 : 0);
    if (cases[i].message)
      assert_output(cases[i].message);
    else
      assert_near(value_of("u"), cases[i].value, 1e-9 * cases[i].value);
  }
  assert_run("solve a.yaml --quiet --json a.json --set output.values.u.of=speed", 0);
  assert_near(value_of("u"), 1e4 / 3600, 1e-9); /* in a number alone: the hour */
  assert_run("solve a.yaml --set 'mesh.box.upper=[1/2 m, 1]'", 2);
  assert_output("number over a number with a unit");
  assert_run("solve a.yaml --set 'constants.L=1/2 m'", 2);
}

/* Wherever a number stands: expressions of values, points, lines, slices, ranges, times of outputs. */
static void units_stand_anywhere(void **state) {
  (void)state;
  write_file(
      "a.yaml",
      "problem: elasticity\nunits: mm-N-MPa\nmesh: {box: {cells: [2, 1, 1], upper: [30 cm, 20 mm, 10]}}\n"
      "data: {young: 210 GPa, poisson: 0}\nsolver: {tolerance: 1e-11}\n"
      "boundary: {all: roller, right: {traction: [2 MPa, 0, 0]}}\n"
      "output:\n  points: {end: [0.3 m, 1 cm, 0.2 in]}\n"
      "  values: {u: {point: [0.3 m, 0.01 m, 5 mm], of: u/(1 um)}, limit: {of: 235 MPa/top}, top: {max: "
      "domain, "
      "of: "
      "sxx + 1 bar}}\n"
      "  lines: [{from: [0, 1 cm, 5], to: [0.3 m, 1 cm, 5], count: 3, file: l.csv}]\n");
  assert_run(
      "solve a.yaml --set 'output.values.s={min: right, of: sxx}' --set 'output.values.F={force: left, "
      "of: x}'",
      0);
  assert_output("value     s = 2 MPa  at ("); /* of single names and forces; u/(1 um) and sums may be anything */
  assert_output("value     F = -400 N\n");
  assert_run("solve a.yaml --set output.values.u.of=u --set units=SI --set mesh.box.upper=[1,2,3] --set "
             "output.values.u.point=[1,1,1] --set output.points=null --set output.lines=null",
             0);
  assert_output(" m\n");
  assert_run("solve a.yaml --quiet --json a.json", 0);
  assert_null(strstr(output, "value"));
  const double u = 2. / 210e3 * 300;
  assert_near(value_of("u"), u * 1e3, 1e-6 * u * 1e3);
  assert_near(value_of("top"), 2.1, 1e-7);
  assert_near(value_of("limit"), 235 / 2.1, 1e-5);
  if (!tes_has_part("png")) return;
  assert_run(
      "solve a.yaml --quiet --set 'output.png={file: a.png, of: sxx, slice: \"x=1 cm\", range: [0, 10 MPa], "
      "warp: 2*50}'",
      0);
  assert_run("solve a.yaml --quiet --set 'output.png={file: a.png, slice: \"x=3 s\"}'", 2);
  assert_output("output.png: expected a length, as 3 mm, got '3 s'");
  for (int i = 0; i < 2; i++) { /* before anything is computed */
    assert_int_equal(run(i ? "solve a.yaml --set 'output.png={file: a.png, slice: \"x=90 cm\"}'"
                           : "check a.yaml --set 'output.png={file: a.png, slice: \"x=90 cm\"}'"),
                     2);
    assert_output("the slice x = 900 misses the mesh");
    assert_null(strstr(output, i ? "set-up" : "unknowns"));
  }
  write_file("a.yaml", "problem: transport\nunits: SI\nmesh: {box: {cells: [2, 2]}}\nspace: {degree: 1}\n"
                       "data: {b: [1 mm/s, 0]}\ntime: {end: 0.1 min, step: 500 ms}\n"
                       "output: {vtu: {file: a.vtu, every: {time: 3000 ms}}, values: {u: {mean: domain}}, "
                       "average: {from: 2000 ms}}\n");
  assert_run("solve a.yaml --quiet", 0);
  assert_true(exists("a-002.vtu") && !exists("a-003.vtu"));
  assert_run("solve a.yaml --quiet --set 'output.vtu.every={time: 3 mm}'", 2);
  assert_output("output.vtu.every: expected a time, as 2 s, got '3 mm'");
  assert_run("solve a.yaml --quiet --set 'data.b=[1 mm, 0]'", 2);
  assert_output("data.b: expected a velocity, as 2 m/s, got '1 mm'");
  write_file("a.yaml",
             "problem: stokes\nunits: SI\nmesh: {box: {cells: [2, 2]}}\nspace: {element: q, degree: 2}\n"
             "data: {nu: 1e-3 Pa*s, f: [0, -9.81 kN/m^3]}\nboundary: {right: {pressure: 2 kPa}}\n");
  assert_run("solve a.yaml --quiet", 0);
  assert_run("solve a.yaml --quiet --set 'data.nu=2 m'", 2);
  assert_output("data.nu: expected a viscosity, as 1e-3 Pa*s or 1e-6 m^2/s, got '2 m'");
  assert_run("solve a.yaml --quiet --set 'boundary.right.pressure=3 m'", 2);
  assert_output("expected a pressure, as 2 kPa, or by density, in m^2/s^2, got '3 m'");
}

/* Kinds are found within expressions; a number without a unit, and a name of the solution, suit all of them. */
static void what_suits(void **state) {
  static const char *const allowed[] = {"'data.young=2*105 GPa'",
                                        "'data.young=210 GPa*(1 + x*y)'",
                                        "'data.young=210 GPa*(1 + x/L)^2'",
                                        "'data.young=sqrt(4 GPa*9 GPa*(1 + x/L))'",
                                        "'data.young=x > 3 mm && y*y < 2 m^2 ? 210 GPa : 80e9'",
                                        "'data.young=max(pull*hypot(x, 3 mm)/L, 210 GPa) + 3'",
                                        "'data.young=1 GPa*exp(-x/L)*cos(30 deg) + E0'",
                                        "'data.density=pull/(10 m/s)^2'",
                                        "'data.gravity=[E0*x, 3*g - (r/L)^3*g]'",
                                        "'boundary.right.traction=[pull*y/(20 mm)*nx, t]'",
                                        "'mesh.box.upper=[(L^2)^0.5 + 3, 20 mm*(1 + 1)]'",
                                        "'output.values.L.of=u/(1 mm) + sxx/pull + (x < L)'"};
  char text[1200], command[300];
  (void)state;
  snprintf(text, sizeof text, bar, "SI");
  write_file("a.yaml", text);
  for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
    snprintf(command, sizeof command, "check a.yaml --set constants.E0=2 --set output.values.L.of=1 --set %s",
             allowed[i]);
    assert_run(command, 0);
  }
}

static void what_is_refused(void **state) {
  static const char *const refused[][2] = {
      {"'data.young=3 mm'",
       "data.young: expected a stress, as 210 GPa, got '3 mm', which is of another kind"},
      {"'data.density=3 kg'", "data.density: expected a density, as 7850 kg/m^3, got '3 kg'"},
      {"'data.poisson=0.3 K'", "data.poisson: expected a number without a unit"},
      {"'data.gravity=[9.81 m/s, 0]'",
       "data.gravity: expected an acceleration, as 9.81 m/s^2, got '9.81 m/s'"},
      {"'boundary.right.traction=[3 N, 0]'", "traction: expected a stress, as 2 MPa, or along curves"},
      {"'mesh.box.upper=[3 s, 1]'", "mesh.box.upper: expected a length, as 3 mm, got '3 s'"},
      {"'data.f=[3 kN, 0]'", "data.f: expected a force per volume, as 78 kN/m^3, got '3 kN'"},
      {"data.young=L", "data.young: expected a stress, as 210 GPa, got 'L', which is of another kind"},
      {"'mesh.box.upper=[-pull, 1]'", "mesh.box.upper: expected a length, as 3 mm, got '-pull'"},
      {"'boundary.right={robin: {alpha: 3 mm, g: [0, 0]}}'", "expected a stress per length, as 5 N/mm^3"},
      {"'boundary.right={robin: {alpha: 3, g: [1 mm, 0]}}'",
       "expected a stress, along curves a force per length"},
      {"'mesh.map=[x + 1 mm, 3 s]'", "mesh.map: expected a length, as 3 mm, got '3 s'"},
      {"'output.points=[[3 s, 0]]'", "output.points: expected a length, as 3 mm, got '3 s'"},
      {"'output.lines=[{from: [0, 0], to: [3 kN, 0], file: l.csv}]'", "output.lines.to: expected a length"},
      {"'output.values.L={point: [2 K, 0], of: u}'",
       "output.values.L.point: expected a length, as 3 mm, got '2 K'"},
      {"'solver.tolerance=1 mm'", "solver.tolerance: expected a number without a unit"},
      {"'data.young=210 Gpa'", "unknown unit 'Gpa' at column 5"},
      {"'data.young=210 GPa GPa'", "data.young"},
      {"'mesh.box.upper=[3 furlong, 1]'", "unknown unit 'furlong'"},
      {"'constants.L=3 foot'", "unknown unit 'foot'"},
      {"'constants.L=2 x'", "unknown unit 'x'"},
      {"'data.f=[2 x, 0]'", "a product is written with *"},
      {"'data.density=2*7850 kg/m^2'",
       "data.density: expected a density, as 7850 kg/m^3, got '2*7850 kg/m^2'"},
      {"'data.young=210 MPa*(1 + 0.01 mm)'", "data.young: expected a stress"},
      {"'data.young=210 GPa*x/L*x'", "data.young: expected a stress"},
      {"'data.young=sqrt(L*L)'", "data.young: expected a stress"},
      {"'data.young=pull^2'", "data.young: expected a stress"},
      {"'data.young=x > 3 s ? 210 GPa : 80 GPa'",
       "data.young: '>' joins units of different kinds at column 3"},
      {"'data.young=x > L ? 210 GPa : 3 mm'", "data.young: ':' joins units of different kinds"},
      {"'data.young=210 GPa + L'", "data.young: '+' joins units of different kinds at column 9"},
      {"'data.young=max(210 GPa, L)'", "data.young: 'max' joins units of different kinds"},
      {"'data.young=1 GPa*sin(L)'", "data.young: sin() of a number with a unit at column 7"},
      {"'boundary.right.traction=[pull*y*y, 0]'", "traction: expected a stress, as 2 MPa, or along curves"},
      {"'mesh.box.upper=[3 m + 2 s, 1]'", "mesh.box.upper: '+' joins units of different kinds"},
      {"'mesh.box.upper=[L*L, 1]'", "mesh.box.upper: expected a length"},
      {"'constants.H=L + pull'", "constants: H: '+' joins units of different kinds"},
      {"'output.values.L.of=u + 3 s > 2 mm'", "output.values.L.of: '>' joins units of different kinds"},
      {"units=imperial", "expected none, SI or mm-N-MPa"},
      {"units=null", "'GPa' is a unit at column"}};
  char text[1200], command[300];
  (void)state;
  snprintf(text, sizeof text, bar, "SI");
  write_file("a.yaml", text);
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    snprintf(command, sizeof command, "solve a.yaml --quiet --set %s", refused[i][0]);
    assert_run(command, 2);
    assert_output(refused[i][1]);
  }
  assert_output("units: SI or units: mm-N-MPa");
}

/* ---- names --------------------------------------------------------------------------------------------- */

static void fields_have_names(void **state) {
  static const char *const elements[] = {"q", "dg"};
  (void)state;
  for (int i = 0; i < 2; i++) {
    char text[800];
    snprintf(text, sizeof text,
             "problem: transport\nspace: {degree: 2, element: %s, name: temperature}\nmesh: {box: {cells: "
             "[4, 4]}}\n"
             "data: {f: 0, a: 1, exact: 1 + x + t}\ntime: {end: 0.5, step: 0.1}\n"
             "boundary: {all: {dirichlet: exact}}\n"
             "output: {points: {middle: [0.5, 0.5]}, series: a.csv, lines: [{from: [0, 0], to: [1, 1], "
             "count: 3, file: "
             "line.csv}], values: {a: {mean: domain, of: temperature}, b: {mean: domain, of: u}, c: {mean: "
             "domain, of: "
             "temperaturex + temperaturey}, d: {mean: right, of: temperature*nx}}}\n",
             elements[i]);
    write_file("a.yaml", text);
    assert_run("solve a.yaml --quiet --json a.json --vtu a.vtu --set data.f=1", 0);
    assert_near(value_of("a"), 2, 1e-3);
    assert_near(value_of("b"), value_of("a"), 0);
    assert_near(value_of("c"), 1, 1e-2);
    assert_near(value_of("d"), 2.5, 1e-3);
    cJSON *json = read_json("a.json");
    const cJSON *point = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "points"), 0);
    assert_true(cJSON_IsNumber(cJSON_GetObjectItem(point, "temperature")));
    assert_null(cJSON_GetObjectItem(point, "u"));
    cJSON_Delete(json);
    assert_int_equal(system("head -n 1 a.csv | grep -q 'middle.temperature'"), 0);
    assert_int_equal(system("head -n 1 line.csv | grep -q ',temperature'"), 0);
    assert_int_equal(system("cat a*.vtu | grep -a -q 'Name=\"temperature\"'"), 0);
    assert_int_equal(system("cat a*.vtu | grep -a -q 'Name=\"u\"'"), 256);
  }
  assert_run("solve a.yaml --quiet --json a.json --set space.element=q --set data.f=1 --set "
             "'adapt={every: 2, max_level: 1}'",
             0);
  assert_near(value_of("a"), 2, 1e-3);
}

static void names_that_are_taken(void **state) {
  static const char *const refused[][2] = {
      {"space.name=v", "space.name: v: expressions have this name already"},
      {"space.name=nx", "space.name: nx: expressions have this name already"},
      {"space.name=sin", "space.name: sin: expressions have this constant or function already"},
      {"space.name=T --set constants.T=1", "space.name: T: a constant of the case has this name already"},
      {"space.name=T --set constants.Tx=1", "space.name: Tx: a constant of the case has this name already"},
      {"'space.name=my field'", "space.name: my field: a name is made of letters, digits and _"},
      {"space.name=mean_u", "space.name: mean_u: expressions have this name already"},
      {"space.name=a --set output.values.m={mean:domain,of:b}", "output.values"}};
  (void)state;
  write_file("a.yaml", "problem: poisson\nmesh: {box: {cells: [4, 4]}}\nspace: {degree: 2}\n");
  assert_run("solve a.yaml --quiet --set space.name=T", 0);
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    char command[300];
    snprintf(command, sizeof command, "solve a.yaml --quiet --set %s", refused[i][0]);
    assert_run(command, 2);
    assert_output(refused[i][1]);
  }
  assert_run("solve " CASES "elastic-cube.yaml --quiet --set space.name=displacement", 2);
  assert_output("space.name: belongs to");
}

static const char a_flow[] =
    "problem: %s\nunits: SI\nmesh: {box: {cells: [2, 2]}}\n"
    "space: {degree: 2, element: q}\ndata: {nu: %s}\nboundary: {all: {velocity: [0, 0]}}\n";

/* Of the values of a picture: by the meaning of names; none where a scalar may be anything, of expressions, and where
 * the case has no system. */
static void pictures_have_units(void **state) {
  enum { ELASTIC, STOKES, STOKES_BY_DENSITY, STOKES_PLAIN, NAVIER_STOKES, HEAT, TEXTS };
  static const struct {
    int number;
    const char *of, *si, *mm;
  } rows[] = {{ELASTIC, "u", "m", "mm"},
              {ELASTIC, "von_mises", "Pa", "MPa"},
              {ELASTIC, "strain_energy", "Pa", "MPa"},
              {ELASTIC, "ux", "", ""},
              {ELASTIC, "2*u", "", ""},
              {STOKES, "v", "m/s", "mm/s"},
              {STOKES, "vy", "1/s", "1/s"},
              {STOKES, "p", "Pa", "MPa"},
              {STOKES, "py", "Pa/m", "MPa/mm"},
              {STOKES_BY_DENSITY, "p", "m^2/s^2", "mm^2/s^2"},
              {STOKES_PLAIN, "p", "", ""},
              {NAVIER_STOKES, "p", "m^2/s^2", "mm^2/s^2"},
              {NAVIER_STOKES, "ut", "m/s^2", "mm/s^2"},
              {HEAT, "u", "", ""},
              {HEAT, "temperature", "K", "K"},
              {HEAT, "temperaturex", "K/m", "K/mm"}};
  TesContext *ctx = NULL;
  char text[TEXTS][1200];
  (void)state;
  snprintf(text[ELASTIC], sizeof *text, bar, "SI");
  snprintf(text[STOKES], sizeof *text, a_flow, "stokes", "2 Pa*s");
  snprintf(text[STOKES_BY_DENSITY], sizeof *text, a_flow, "stokes", "2 m^2/s");
  snprintf(text[STOKES_PLAIN], sizeof *text, a_flow, "stokes", "2");
  snprintf(text[NAVIER_STOKES], sizeof *text, a_flow, "navier_stokes", "2}\ntime: {end: 1, step: 0.1");
  snprintf(text[HEAT], sizeof *text, "problem: poisson\nunits: SI\nmesh: {box: {cells: [2, 2]}}\n");
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0), TES_OK);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (int system = 0; system < 3; system++) {
      char of[80], name[40] = "units=", *overrides[] = {of, name, "space.name=temperature"};
      TesCase *c;
      const bool named = rows[i].number == HEAT && strcmp(rows[i].of, "u") != 0;
      const char *expected = system == 0 ? rows[i].si : system == 1 ? rows[i].mm : "";
      if (system == 2 && rows[i].number < NAVIER_STOKES && rows[i].number != STOKES_PLAIN) continue;
      strcat(name, system == 0 ? "SI" : system == 1 ? "mm-N-MPa" : "none");
      snprintf(of, sizeof of, "output.png={file: a.png, of: %s}", rows[i].of);
      write_file("a.yaml", text[rows[i].number]);
      if (tes_case_read(ctx, "a.yaml", named ? 3 : 2, (const char *const *)overrides, &c))
        fail_msg("%s", tes_context_message(ctx));
      assert_string_equal(c->picture.unit, expected);
      tes_case_destroy(&c);
    }
  tes_context_destroy(&ctx);
}

/* Above the colours there is a unit, and nowhere else. */
static void pictures_show_units(void **state) {
  (void)state;
  write_file("a.yaml", "problem: poisson\nunits: SI\nmesh: {box: {cells: [2, 2]}}\ndata: {f: 1}\n"
                       "space: {name: temperature}\noutput: {png: {file: a.png, title: t}}\n");
  assert_run("solve a.yaml --quiet", 0);
  assert_run("solve a.yaml --quiet --set units=none --png b.png", 0);
  assert_int_equal(system("cmp -s a.png b.png"), 256);
  assert_run("solve a.yaml --quiet --set output.png.of=1*temperature", 0);
  assert_run("solve a.yaml --quiet --set output.png.of=1*temperature --set units=none --png b.png", 0);
  assert_int_equal(system("cmp -s a.png b.png"), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_have_units),
                                     cmocka_unit_test(rotations_and_times),
                                     cmocka_unit_test(what_a_unit_belongs_to_is_clear),
                                     cmocka_unit_test(units_stand_anywhere),
                                     cmocka_unit_test(what_suits),
                                     cmocka_unit_test(what_is_refused),
                                     cmocka_unit_test(fields_have_names),
                                     cmocka_unit_test(names_that_are_taken),
                                     cmocka_unit_test(pictures_have_units),
                                     cmocka_unit_test(pictures_show_units)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
