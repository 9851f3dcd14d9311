/* Run: ctest -R t7_supports. Supports of elasticity on groups of curves and points: forces on beams as statics has
 * them, a strip whose solution elements hold, on the host and by kernels, hanging nodes among them; springs against a
 * rod in one dimension; groups of Gmsh files and what is refused. */
#include "elasticity_testing.h"

/* ---- coarse meshes: a row of unit cells along x -------------------------------------------------------- */

enum { LENGTH = 4 };

/* Groups: 0 the corner or edge at x = z = 0 (2D: y = 0), 1 that at x = LENGTH. Faces: 2 at x = 0, 3 at x = LENGTH, 4
 * all others. False: no trees. */
static bool beam(int dim, const TesFunction *refined, TesMesh **mesh) {
  static const char *const names[] = {"pin", "slide", "left", "right", "sides"};
  double nodes[LENGTH * 24];
  int32_t vertices[LENGTH * 8], boundary[LENGTH * 6];
  for (int t = 0; t < LENGTH; t++)
    for (int v = 0; v < 1 << dim; v++) {
      double *x = nodes + ((t << dim) + v) * dim;
      x[0] = t + (v & 1), x[1] = v >> 1 & 1;
      if (dim == 3) x[2] = v >> 2 & 1;
      vertices[(t << dim) + v] = t + (v & 1) + (LENGTH + 1) * (v >> 1);
    }
  for (int i = 0; i < LENGTH * 2 * dim; i++) {
    const int t = i / (2 * dim), f = i % (2 * dim);
    boundary[i] = f > 1 ? 4 : (f == 0 && t == 0) ? 2 : (f == 1 && t == LENGTH - 1) ? 3 : -1;
  }
  /* 2D: corners (0, 0), (2, 0); 3D: edges along y */
  const TesTreePart part[] = {{LENGTH - 1, dim == 2 ? 2 : 5, 1}, {0, dim == 2 ? 0 : 3, 0}};
  const TesCellsDesc cells = {.trees = LENGTH,
                              .nodes = nodes,
                              .vertices = vertices,
                              .boundary = boundary,
                              .boundaries = 5,
                              .boundary_names = names,
                              .parts = 2,
                              .part = part};
  const TesStatus made = tes_mesh_create(ctx,
                                         &(TesMeshDesc){.domain = TES_DOMAIN_CELLS,
                                                        .kind = TES_MESH_FOREST,
                                                        .dim = dim,
                                                        .trees = &cells,
                                                        .refine = 1,
                                                        .refine_where = refined},
                                         mesh);
  if (made == TES_MISSING) tes_context_clear(ctx);
  if (made != TES_MISSING) assert_ok(ctx, made);
  return made == TES_OK;
}

static double force_on(const TesProblem *problem, int number, const char *of) {
  return value_of(problem,
                  (TesValue){.kind = TES_VALUE_FORCE, .where = TES_ON_BOUNDARY, .number = number, .of = of});
}

/* A strip that is pulled, plane stress: u = s x / E, v = -nu s y / E, held in a corner, and in height in another. */
static void check_strip(void) {
  TesMesh *mesh;
  TesSolveResult result;
  double l2, h1;
  for (int refined = 0; refined < 2; refined++) {
    if (!beam(2, refined ? keep(expression("1.6 - x - y")) : NULL, &mesh)) return;
    const double E = 10, nu = 0.25, s = 3;
    const TesBoundary boundary[] = {{.condition = TES_NEUMANN},
                                    {.name = "left", .condition = TES_NEUMANN, .g = {keep(constant(-s))}},
                                    {.name = "right", .condition = TES_NEUMANN, .g = {keep(constant(s))}},
                                    {.name = "pin", .condition = TES_DIRICHLET, .g = {keep(constant(0.5))}},
                                    {.name = "slide", .condition = TES_DIRICHLET, .components = 2}};
    TesProblemDesc desc = {.equation = TES_ELASTICITY,
                           .mesh = mesh,
                           .degree = 2,
                           .plane = TES_PLANE_STRESS,
                           .data = {.lambda = keep(constant(E * nu / ((1 + nu) * (1 - 2 * nu)))),
                                    .a = keep(constant(E / (2 * (1 + nu))))},
                           .exact = {keep(expression("0.5 + 0.3*x")), keep(expression("-0.075*y"))},
                           .boundary = boundary,
                           .boundaries = 5,
                           .solver = {.tolerance = 1e-12}};
    TesProblem *problem = solve(&desc, &result);
    assert_ok(ctx, tes_problem_errors(problem, &l2, &h1));
    assert_near(l2, 0, 1e-9);
    assert_near(h1, 0, 1e-9);
    for (int i = 0; i < 2; i++) assert_near(force_on(problem, i, "y"), 0, 1e-9);
    const TesSpace *space = tes_problem_space(problem);
    assert_int_equal(tes_space_length(space) - tes_space_dofs(space), 3); /* a point's two, and one */
    tes_problem_destroy(&problem);
    tes_mesh_destroy(&mesh);
    forget();
  }
}

static void a_strip_on_two_points(void **state) {
  TesContext *const host = ctx;
  (void)state;
  check_strip();
  assert_int_equal(
      tes_context_create(&(TesContextDesc){.device = "emulator", .verbosity = TES_QUIET}, &ctx, NULL, 0),
      TES_OK);
  check_strip();
  tes_context_destroy(&ctx);
  ctx = host;
}

/* On two edges, under f = (0, 0, -(1 + x)) and a shear on its end: forces on the supports by the balance of forces and
 * moments, whatever the elements. */
static void a_beam_on_two_edges(void **state) {
  TesMesh *mesh;
  TesSolveResult result;
  (void)state;
  for (int degree = 1; degree <= 3; degree++) {
    if (!beam(3, degree == 2 ? keep(expression("1.2 - x")) : NULL, &mesh)) return;
    const TesFunction *shear = keep(constant(-2));
    const TesBoundary boundary[] = {{.condition = TES_NEUMANN},
                                    {.name = "right", .condition = TES_NEUMANN, .g = {NULL, NULL, shear}},
                                    {.name = "pin", .condition = TES_DIRICHLET},
                                    {.name = "slide", .condition = TES_DIRICHLET, .components = 4}};
    const TesProblemDesc desc = {.equation = TES_ELASTICITY,
                                 .mesh = mesh,
                                 .degree = degree,
                                 .data = {.lambda = keep(constant(8e2)),
                                          .a = keep(constant(5e2)),
                                          .f = {NULL, NULL, keep(expression("-1 - x"))}},
                                 .boundary = boundary,
                                 .boundaries = 4,
                                 .solver = {.tolerance = 1e-11}};
    TesProblem *problem = solve(&desc, &result);
    const double L = LENGTH, weight = L + L * L / 2 + 2, moment = L * L / 2 + L * L * L / 3 + 2 * L;
    print_message("Q%d: %d iterations, %.10g on the pin, %.10g on the slide\n", degree, result.iterations,
                  force_on(problem, 0, "z"), force_on(problem, 1, "z"));
    assert_near(force_on(problem, 1, "z"), moment / L, 1e-8 * weight);
    assert_near(force_on(problem, 0, "z"), weight - moment / L, 1e-8 * weight);
    assert_near(force_on(problem, 0, "x"), 0, 1e-8 * weight);
    const TesBalance balance = tes_problem_info(problem).balance;
    assert_near(balance.load[2], -weight, 1e-9 * weight);
    assert_near(balance.reaction[2], weight, 1e-8 * weight);
    tes_problem_destroy(&problem);
    tes_mesh_destroy(&mesh);
    forget();
  }
}

/* E u'' + f = 0, u(0) = 0, E u'(1) + alpha u(1) = g: u = a x - f x^2 / (2 E); without Poisson's ratio nothing moves
 * across. */
static void springs_at_a_rod(void **state) {
  const double E = 7, f = 3, alpha = 5, g = 2, a = (g + f + alpha * f / (2 * E)) / (E + alpha);
  TesSolveResult result;
  double l2, h1;
  (void)state;
  for (int dim = 2; dim <= 3; dim++) {
    TesMesh *mesh = box(dim, 3);
    char text[80];
    snprintf(text, sizeof text, "%.17g*x - %.17g*x*x", a, f / (2 * E));
    const TesBoundary boundary[] = {
        {.condition = TES_NEUMANN},
        {.name = "left", .condition = TES_DIRICHLET},
        {.name = "right", .condition = TES_ROBIN, .alpha = keep(constant(alpha)), .g = {keep(constant(g))}}};
    TesProblemDesc desc = {.equation = TES_ELASTICITY,
                           .mesh = mesh,
                           .degree = 2,
                           .data = {.a = keep(constant(E / 2)), .f = {keep(constant(f))}},
                           .boundary = boundary,
                           .boundaries = 3,
                           .solver = {.tolerance = 1e-12}};
    for (int c = 0; c < dim; c++) desc.exact[c] = c ? keep(constant(0)) : keep(expression(text));
    TesProblem *problem = solve(&desc, &result);
    assert_ok(ctx, tes_problem_errors(problem, &l2, &h1));
    assert_near(l2, 0, 1e-9);
    assert_near(h1, 0, 1e-8);
    assert_near(force_on(problem, 1, "x"), g - alpha * (a - f / (2 * E)), 1e-8);
    tes_problem_destroy(&problem);
    tes_mesh_destroy(&mesh);
    forget();
  }
}

/* ---- Gmsh files and refusals --------------------------------------------------------------------------- */

static TesStatus read_file(const char *text, bool split, bool groups, TesMesh **mesh) {
  char path[] = "/tmp/tessera-supports-XXXXXX";
  FILE *file = fdopen(mkstemp(path), "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
  const TesStatus status = tes_mesh_create(ctx,
                                           &(TesMeshDesc){.domain = TES_DOMAIN_FILE,
                                                          .file = path,
                                                          .kind = TES_MESH_CELLS,
                                                          .split = split,
                                                          .file_groups = groups},
                                           mesh);
  remove(path);
  return status;
}

#define PLANE                                                                                                \
  "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n4\n0 1 \"pin\"\n0 2 \"side\"\n1 1 \"side\"\n0 3 "   \
  "\"loose\"\n$EndPhysicalNames\n$Nodes\n7\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 2 0 0\n6 2 1 0\n7 9 9 0\n" \
  "$EndNodes\n$Elements\n7\n1 15 2 1 1 1\n2 15 2 2 1 5\n3 15 2 3 1 7\n4 15 2 8 1 6\n5 1 2 1 1 5 6\n"         \
  "6 3 2 9 1 1 2 3 4\n7 3 2 9 1 2 5 6 3\n$EndElements\n"
/* Format 4.1: a cube with a curve and a point in groups. */
#define SPACE                                                                                                \
  "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n0 1 \"corner\"\n1 5 "                            \
  "\"edge\"\n$EndPhysicalNames\n"                                                                            \
  "$Entities\n1 1 0 1\n3 1 1 1 1 1\n2 0 0 0 1 0 0 1 5 0\n1 0 0 0 1 1 1 0 0\n$EndEntities\n"                  \
  "$Nodes\n1 8 1 8\n3 1 0 8\n1\n2\n3\n4\n5\n6\n7\n8\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n0 0 1\n1 0 1\n1 1 1\n0 1 "  \
  "1\n$EndNodes\n$Elements\n3 3 1 3\n0 3 15 1\n1 7\n1 2 1 1\n2 1 2\n3 1 5 1\n3 1 2 3 4 5 6 7 "               \
  "8\n$EndElements\n"

static int number_of(const TesMesh *mesh, const char *name) {
  for (int i = 0; i < tes_mesh_boundaries(mesh); i++)
    if (!strcmp(tes_mesh_boundary_name(mesh, i), name)) return i;
  return -1;
}

/* How many of the nodes of degree 2 a group has. */
static int64_t nodes_of(const TesMesh *mesh, const char *name) {
  uint8_t given[16] = {0};
  TesSpace *space;
  const int number = number_of(mesh, name);
  assert_true(number >= 0);
  given[number] = 1;
  assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 2, .given = given}, &space));
  const int64_t nodes = tes_space_length(space) - tes_space_dofs(space);
  tes_space_destroy(&space);
  return nodes;
}

static void groups_of_files(void **state) {
  TesMesh *mesh;
  (void)state;
  for (int split = 0; split < 2; split++) {
    assert_ok(ctx, read_file(PLANE, split, false, &mesh));
    assert_int_equal(number_of(mesh, "pin"), -1);
    tes_mesh_destroy(&mesh);
    assert_ok(ctx, read_file(PLANE, split, true, &mesh));
    assert_int_equal(tes_mesh_boundaries(mesh),
                     2); /* of `side` the line, `loose` and the group without a name not */
    assert_int_equal(nodes_of(mesh, "pin"), 1);
    assert_int_equal(nodes_of(mesh, "side"), split ? 5 : 3);
    tes_mesh_destroy(&mesh);
    assert_ok(ctx, read_file(SPACE, split, true, &mesh));
    assert_int_equal(nodes_of(mesh, "corner"), 1);
    assert_int_equal(nodes_of(mesh, "edge"), split ? 5 : 3);
    tes_mesh_destroy(&mesh);
  }
}

static void what_is_refused(void **state) {
  static const double nodes[] = {0, 0, 1, 0, 0, 1, 1, 1};
  static const int32_t vertices[] = {0, 1, 2, 3}, faces[] = {0, 0, 0, 0};
  static const char *const names[] = {"wall", "pin"};
  static const TesTreePart wrong[] = {{0, 1, 1}, {0, 9, 1}, {1, 0, 1}, {0, 0, 0}, {0, 0, 2}},
                           right = {0, 0, 1};
  TesCellsDesc cells = {.trees = 1,
                        .nodes = nodes,
                        .vertices = vertices,
                        .boundary = faces,
                        .boundaries = 2,
                        .boundary_names = names,
                        .parts = 1};
  const TesMeshDesc desc = {.domain = TES_DOMAIN_CELLS, .kind = TES_MESH_CELLS, .dim = 2, .trees = &cells};
  TesMesh *mesh;
  TesProblem *problem;
  (void)state;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    cells.part = &wrong[i];
    assert_int_equal(tes_mesh_create(ctx, &desc, &mesh), TES_INVALID_INPUT);
    const char *const text =
        i < 3 ? "expected an edge (3D) or a corner" : "expected one of 0..1 without faces";
    if (!strstr(tes_context_message(ctx), text)) fail_msg("%s", tes_context_message(ctx));
    tes_context_clear(ctx);
  }
  cells.part = &right;
  assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
  TesBoundary boundary[] = {{.condition = TES_DIRICHLET}, {.name = "pin", .condition = TES_SLIP}};
  const TesProblemDesc pulled = {
      .equation = TES_ELASTICITY, .mesh = mesh, .degree = 1, .boundary = boundary, .boundaries = 2};
  for (int i = 0; i < 2; i++) {
    assert_int_equal(tes_problem_create(ctx, &pulled, &problem), TES_INVALID_INPUT);
    const char *const text =
        i ? "curves and points have no normal nx, ny, nz"
          : "boundary.pin: pin is a group of curves or points, which have a displacement, a force";
    if (!strstr(tes_context_message(ctx), text)) fail_msg("%s", tes_context_message(ctx));
    tes_context_clear(ctx);
    boundary[1].condition = TES_DIRICHLET;
    boundary[1].g[0] = keep(expression("nx"));
  }
  tes_mesh_destroy(&mesh);
  forget();
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_strip_on_two_points),
                                     cmocka_unit_test(a_beam_on_two_edges), cmocka_unit_test(springs_at_a_rod),
                                     cmocka_unit_test(groups_of_files), cmocka_unit_test(what_is_refused)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
