/* Run: ctest -R t9_mesh_files. Cases with Gmsh files as strangers bring them: faces without a name, names that are
 * nowhere, parts that hang loose, coefficients that fail; what an adaptive solve leaves, also on a full disk. */
#include <signal.h>
#include <sys/resource.h>
#include "program_testing.h"

/* Two unit squares side by side; `lines` are its elements of dimension 1. */
static void write_squares(const char *path, const char *names, const char *lines) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  int count = 2;
  for (const char *c = lines; *c; c++) count += *c == '\n';
  fprintf(file, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n%s", names);
  fprintf(file,
          "$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 2 0 0\n6 2 1 0\n$EndNodes\n"
          "$Elements\n%d\n%s98 3 2 10 1 1 2 3 4\n99 3 2 11 1 2 5 6 3\n$EndElements\n",
          count, lines);
  fclose(file);
}

static void write_case(const char *path, const char *mesh) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "problem: poisson\nmesh: {file: %s}\nspace: {degree: 2}\n", mesh);
  fclose(file);
}

#define NAMES                                                                                                \
  "$PhysicalNames\n5\n1 1 \"bottom side\"\n1 2 \"出口\"\n1 3 \"round\"\n2 10 \"steel\"\n2 11 "             \
  "\"air\"\n$EndPhysicalNames\n"
#define BOTTOM "1 1 2 1 1 1 2\n2 1 2 1 1 2 5\n"
#define OUTLET "3 1 2 2 1 5 6\n"
#define REST "4 1 2 3 1 6 3\n5 1 2 3 1 3 4\n6 1 2 3 1 4 1\n"

/* `all` that stands in the case holds on faces without a name, the default does not. */
static void faces_without_a_name(void **state) {
  (void)state;
  if (!has_forests()) skip();
  write_squares("bare.msh", "", "");
  write_squares("part.msh", NAMES, BOTTOM);
  write_case("bare.yaml", "bare.msh");
  write_case("part.yaml", "part.msh");
  assert_run("solve bare.yaml", 2);
  assert_output("6 faces of the coarse mesh lie on the boundary and have no name");
  assert_output("round (0, 0.5, 0)");
  assert_run("solve bare.yaml --set data.f=0 --set data.exact=1 --set boundary.all.dirichlet=1", 0);
  assert_output("error     L2 ");
  assert_run("solve part.yaml --set boundary.all.neumann=0", 2);
  assert_output("only fluxes are given");
  assert_run("solve part.yaml --set data.f=0 --set data.exact=3 --set boundary.all.neumann=0 "
             "--set \"boundary.bottom side.dirichlet=3\"",
             0);
  assert_run("solve part.yaml --set \"boundary={all: {neumann: 0}, rest: {dirichlet: 0}}\"", 0);
  assert_int_equal(system("rm -f bare.* part.*"), 0);
}

static void names_from_the_command_line(void **state) {
  (void)state;
  if (!has_forests()) skip();
  write_squares("s.msh", NAMES, BOTTOM OUTLET REST "7 1 2 7 1 2 3\n");
  write_case("s.yaml", "s.msh");
  assert_run("solve s.yaml --set \"boundary.出口={robin: {alpha: 1, g: x}}\" --set \"boundary.bottom "
             "side={neumann: 1}\" --set \"data.materials.air.a=x > 1 ? 2 : 3\" --set "
             "\"data.materials.steel={c: 1}\"",
             0);
  assert_run("solve s.yaml --set boundary.outlet.neumann=1", 2);
  assert_output("--set boundary.outlet.neumann=1: the mesh has no boundary called outlet; it has: bottom "
                "side, 出口, round");
  assert_run("solve s.yaml --set boundary.all.neumann=0 --set boundary.round.dirichlet=0 --set "
             "\"adapt={estimator: dwr, goal: {mean: 7}}\"",
             2);
  assert_output("the goal is the mean on 7, whose faces all lie between cells");
  assert_run("solve " CASES
             "plate.yaml --set adapt.tolerance=0 --set adapt.steps=1 --set boundary.hole.dirichlet=1",
             0);
  assert_run("solve " CASES
             "l-shape.yaml --set adapt.tolerance=0 --set adapt.steps=1 --set boundary.notch=null",
             0); /* as `all` then */
  assert_run("solve s.yaml --set data.materials.steel.b=1", 2);
  assert_output("unknown key 'b'; known keys: a, c, f");
  assert_int_equal(system("rm -f s.*"), 0);
}

static void loose_parts_are_refused(void **state) {
  (void)state;
  if (!has_forests()) skip();
  FILE *file = fopen("apart.msh", "w");
  fputs("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n1 1 \"hot\"\n$EndPhysicalNames\n"
        "$Nodes\n8\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 3 0 0\n6 4 0 0\n7 4 1 0\n8 3 1 0\n$EndNodes\n"
        "$Elements\n3\n1 1 2 1 1 1 2\n2 3 2 9 1 1 2 3 4\n3 3 2 10 1 5 6 7 8\n$EndElements\n",
        file);
  fclose(file);
  write_case("apart.yaml", "apart.msh");
  const char loose[] = "solve apart.yaml --set \"boundary={hot: {dirichlet: 1}, all: {neumann: 0}}\"";
  char held[300];
  assert_run(loose, 2);
  assert_output("that of cell 1 of the coarse mesh (from 0), round (3.5, 0.5, 0)");
  snprintf(held, sizeof held, "%s --set data.materials.10.c=1", loose);
  assert_run(held, 0);
  assert_run("solve apart.yaml --set boundary.all.neumann=0 --set data.f=0", 2);
  assert_run("solve apart.yaml --set boundary.all.dirichlet=0", 0);
  assert_int_equal(system("rm -f apart.*"), 0);
}

/* Value, point and expression of what is wrong with the data. */
static void data_that_fail_are_named(void **state) {
  (void)state;
  static const struct {
    const char *set;
    int status;
    const char *message;
  } rows[] = {
      {"data.a=x-0.5", 2,
       "the coefficient a is -0.387298 at (0.112702, 0.112702, 0) in cell 0, expected > 0: x-0.5"},
      {"data.materials.air.a=0.5-x", 2, "in cell 1, expected > 0: 0.5-x"},
      {"\"data.a=sqrt(x-1.5)\"", 2, "is nan at (0.112702, 0.112702, 0) in cell 0, expected > 0: sqrt(x-1.5)"},
      {"data.c=-1", 2, "the coefficient c is -1 at"},
      {"\"boundary.bottom side={robin: {alpha: x-1, g: 0}}\"", 2,
       "the Robin coefficient on bottom side is -0."},
      {"\"data.f=log(x-1)\"", 2, "log(x-1) is nan at (0.0469101, 0.0469101, 0) in cell 0"},
      {"\"boundary.round.neumann=log(x-1.01)\"", 2, "log(x-1.01) is nan at (0"},
      {"adapt.max_dofs=2", 2, "the first mesh has 3 unknowns, and max_dofs allows 2"},
      {"adapt.fraction=0", 2, "adapt.fraction: expected a number from 0.001 to 1, got '0'"},
      {"adapt.goal.mean=round", 2, "the residual estimator serves the energy norm"},
      {"\"adapt={estimator: dwr, goal: {mean: no}}\"", 2, "no boundary called no; it has: round"},
      {"\"adapt={estimator: dwr, goal: {point: [1, 1]}}\" --set data.f=0 --set boundary.all.neumann=0", 2,
       "u is determined up to a constant, and so is the goal"},
      {"\"boundary.all={robin: {alpha: 0, g: 0}}\"", 2,
       "a solution exists only if int f + int g = 0; here it is 2"},
      {"\"boundary.all={robin: {alpha: x > 3, g: x - 1}}\" --set data.f=0", 0, "converged"},
      {"\"adapt={estimator: dwr, goal: {point: [3, 3]}}\"", 2, "the point (3, 3, 0) lies in no cell"}};
  if (!has_forests()) skip();
  write_squares("s.msh", NAMES, BOTTOM OUTLET REST);
  write_case("s.yaml", "s.msh");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char arguments[300];
    snprintf(arguments, sizeof arguments, "solve s.yaml --set %s", rows[i].set);
    assert_run(arguments, rows[i].status);
    assert_output(rows[i].message);
  }
  assert_int_equal(system("rm -f s.*"), 0);
}

/* Files of later steps join those of the solve before. */
static void collections_go_on_after_a_restart(void **state) {
  (void)state;
  if (!has_forests()) skip();
  const int status = run(
      "solve " CASES
      "l-shape.yaml --set adapt.tolerance=0 --set adapt.steps=2 --vtu u.vtu --set output.checkpoint=u.h5");
  if (status == 3 && strstr(output, "without HDF5")) skip();
  assert_int_equal(status, 0);
  assert_output("written   u.pvd");
  assert_run(
      "solve " CASES "l-shape.yaml --set adapt.tolerance=0 --set adapt.steps=2 --vtu u.vtu --restart u.h5", 0);
  FILE *file = fopen("u.pvd", "r");
  const size_t length = fread(output, 1, sizeof output - 1, file);
  output[length] = 0;
  fclose(file);
  assert_output("timestep=\"0\" part=\"0\" file=\"u-000.vtu\"");
  assert_output("timestep=\"1\" part=\"0\" file=\"u-001.vtu\"");
  assert_output("timestep=\"2\" part=\"0\" file=\"u-002.vtu\"");
  assert_int_equal(system("rm -f u*"), 0);
}

/* A file that may not grow is like a full disk: told, the checkpoint before is kept, and the program ends by itself. */
static void a_full_disk_is_told(void **state) {
  (void)state;
  struct rlimit before, small;
  if (!has_forests()) skip();
  const int status = run(
      "solve " CASES "l-shape.yaml --set adapt.tolerance=0 --set adapt.steps=1 --set output.checkpoint=c.h5");
  if (status == 3 && strstr(output, "without HDF5")) skip();
  assert_int_equal(status, 0);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = (struct rlimit){4096, before.rlim_max};
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  const int full = run("solve " CASES "l-shape.yaml --set adapt.tolerance=0 --set adapt.steps=1 --set "
                       "mesh.refine=4 --set output.checkpoint=c.h5");
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, SIG_DFL);
  assert_int_equal(full, 4);
  assert_output("c.h5: File too large");
  assert_false(exists("c.h5.part"));
  assert_run("solve " CASES "l-shape.yaml --set adapt.tolerance=0 --set adapt.steps=1 --restart c.h5", 0);
  assert_output("12 cells on 3 trees");
  assert_int_equal(system("rm c.h5"), 0);
}

/* A place may be a boundary, a material or the domain: a name of two of them was taken as the first. */
static void names_of_two_places_are_refused(void **state) {
  static const char *const wrong[][3] = {
      {"{integral: air, of: 1}", "air", "air is the name of a boundary and of a material: give one of them"},
      {"{max: air}", "air", "air is the name of a boundary and of a material"},
      {"{integral: domain, of: 1}", "domain",
       "domain is the name of the whole domain and of a boundary: give that"}};
  (void)state;
  if (!has_forests()) skip();
  write_case("two.yaml", "two.msh");
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char names[300], command[300];
    snprintf(
        names, sizeof names,
        "$PhysicalNames\n4\n1 1 \"bottom\"\n1 2 \"%s\"\n2 10 \"steel\"\n2 11 \"air\"\n$EndPhysicalNames\n",
        wrong[i][1]);
    write_squares("two.msh", names, BOTTOM OUTLET);
    snprintf(command, sizeof command,
             "solve two.yaml --quiet --set boundary.all.dirichlet=0 --set 'output.values.v=%s'", wrong[i][0]);
    assert_run(command, 2);
    assert_output(wrong[i][2]);
    assert_run("solve two.yaml --quiet --set boundary.all.dirichlet=0 --set 'output.values.v={mean: steel}'",
               0);
  }
  assert_run(
      "solve two.yaml --quiet --set boundary.all.dirichlet=0 --set 'adapt={estimator: dwr, goal: {mean: "
      "domain}}'",
      2);
  assert_output("domain is the name of the whole domain");
  remove("two.yaml"), remove("two.msh");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(faces_without_a_name),
                                     cmocka_unit_test(names_from_the_command_line),
                                     cmocka_unit_test(names_of_two_places_are_refused),
                                     cmocka_unit_test(loose_parts_are_refused),
                                     cmocka_unit_test(data_that_fail_are_named),
                                     cmocka_unit_test(collections_go_on_after_a_restart),
                                     cmocka_unit_test(a_full_disk_is_told)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
