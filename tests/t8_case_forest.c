/* Run: ctest -R t8_case_forest. Case files with meshes of trees: domains, names of the mesh as keys, adaptation,
 * and what is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bare_testing.h"
#include "failing_allocator.h"
#include "tessera/case.h"

static const char full[] =
    "problem: poisson\n"
    "mesh: {file: part.msh, refine: 2, refine_where: x - 0.5, refine_times: 3, geometry_degree: 3}\n"
    "data: {a: 2, materials: {steel: {a: 50, c: 1}, air: {f: x}}}\n"
    "boundary: {all: {neumann: 0}, inlet: {dirichlet: y}, shell: {robin: {alpha: 2, g: 3}}}\n"
    "adapt: {estimator: dwr, goal: {mean: shell}, marking: fraction, fraction: 0.3, steps: 4, tolerance: "
    "1e-5, max_dofs: 5000}\n";

/* A square whose names the case above uses; part.msh and a.msh of a folder of their own. */
static char folder[] = "/tmp/tessera-t8-XXXXXX";

static int write_files(void **state) {
  (void)state;
  static const char *const files[] = {"part.msh", "a.msh"};
  if (!mkdtemp(folder) || chdir(folder)) return 1;
  for (int i = 0; i < 2; i++) {
    FILE *file = fopen(files[i], "w");
    if (!file) return 1;
    fputs("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n4\n1 1 \"inlet\"\n1 2 \"shell\"\n"
          "2 3 \"steel\"\n2 4 \"air\"\n$EndPhysicalNames\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n"
          "$EndNodes\n$Elements\n1\n1 3 2 3 1 1 2 3 4\n$EndElements\n",
          file);
    if (fclose(file)) return 1;
  }
  return 0;
}

static int remove_files(void **state) {
  (void)state;
  return remove("part.msh") || remove("a.msh") || chdir("/") || rmdir(folder);
}

static double constant(const TesFunction *f) {
  double value = NAN;
  assert_non_null(f);
  assert_true(tes_function_constant(f, &value));
  return value;
}

static void everything_is_read(void **state) {
  (void)state;
  TesCase *c;
  if (tes_case_parse(ctx, full, "a.yaml", 0, NULL, &c)) fail_msg("%s", tes_context_message(ctx));
  assert_int_equal(c->mesh.kind, TES_MESH_FOREST);
  assert_true(c->mesh.domain == TES_DOMAIN_FILE && c->mesh.dim == 2);
  assert_string_equal(c->mesh.file, "part.msh");
  assert_int_equal(c->mesh.refine, 2);
  assert_int_equal(c->mesh.refine_times, 3);
  assert_int_equal(c->mesh.geometry_degree, 3);
  assert_non_null(c->mesh.refine_where);
  assert_string_equal(c->mesh.rest, "rest");
  const TesProblemDesc *p = &c->problem;
  assert_int_equal(p->boundaries, 3);
  assert_string_equal(p->boundary[0].name, "inlet");
  assert_int_equal(p->boundary[0].condition, TES_DIRICHLET);
  assert_string_equal(p->boundary[1].name, "shell");
  assert_int_equal(p->boundary[1].condition, TES_ROBIN);
  assert_near(constant(p->boundary[1].alpha), 2, 0);
  assert_near(constant(p->boundary[1].g[0]), 3, 0);
  assert_null(p->boundary[2].name);
  assert_int_equal(p->boundary[2].condition, TES_NEUMANN);
  assert_int_equal(p->materials, 2);
  assert_near(constant(p->material[0].data.a), 50, 0);
  assert_near(constant(p->material[0].data.c), 1, 0);
  assert_null(p->material[0].data.f[0]);
  assert_non_null(p->material[1].data.f[0]);
  assert_near(constant(p->data.a), 2, 0);
  assert_true(c->adaptive);
  assert_int_equal(c->adapt.goal.kind, TES_GOAL_MEAN);
  assert_int_equal(c->adapt.estimator, TES_ESTIMATE_DWR);
  assert_string_equal(c->adapt.goal.where, "shell");
  assert_int_equal(c->adapt.marking, TES_MARK_FRACTION);
  assert_near(c->adapt.fraction, 0.3, 0);
  assert_int_equal(c->adapt.steps, 4);
  assert_near(c->adapt.tolerance, 1e-5, 0);
  assert_int_equal(c->adapt.max_dofs, 5000);
  tes_case_destroy(&c);
}

static void goals_are_known(void **state) {
  static const struct {
    const char *text;
    TesGoalKind kind;
    const char *where, *of;
  } goals[] = {{"{point: [0.5, 0.25], of: v}", TES_GOAL_POINT, NULL, "v"},
               {"{mean: domain}", TES_GOAL_MEAN, "domain", NULL},
               {"{integral: notch, of: u}", TES_GOAL_INTEGRAL, "notch", "u"},
               {"{force: outer, of: y}", TES_GOAL_FORCE, "outer", "y"}};
  (void)state;
  for (size_t i = 0; i < sizeof goals / sizeof *goals; i++) {
    char text[300];
    TesCase *c;
    snprintf(text, sizeof text,
             "problem: elasticity\nmesh: {l_shape: {dim: 2}}\ndata: {young: 1, poisson: 0.3}\n"
             "solver: {smoother: chebyshev, smoother_degree: 7}\nadapt: {estimator: dwr, goal: %s}\n",
             goals[i].text);
    if (tes_case_parse(ctx, text, "a.yaml", 0, NULL, &c)) fail_msg("%s", tes_context_message(ctx));
    assert_int_equal(c->adapt.goal.kind, goals[i].kind);
    assert_int_equal(!c->adapt.goal.where, !goals[i].where);
    if (goals[i].where) assert_string_equal(c->adapt.goal.where, goals[i].where);
    assert_int_equal(!c->adapt.goal.of, !goals[i].of);
    if (goals[i].of) assert_string_equal(c->adapt.goal.of, goals[i].of);
    assert_int_equal(c->problem.solver.smoother_degree, 7);
    assert_true(c->mesh.file_groups);
    tes_case_destroy(&c);
  }
}

static void domains_are_known(void **state) {
  (void)state;
  static const struct {
    const char *mesh;
    TesDomain domain;
    int dim;
  } rows[] = {{"ball: {radius: 2}", TES_DOMAIN_BALL, 3},
              {"ball: {dim: 2}, refine: 3", TES_DOMAIN_BALL, 2},
              {"shell: {inner_radius: 0.25}", TES_DOMAIN_SHELL, 3},
              {"l_shape: {dim: 3}", TES_DOMAIN_L_SHAPE, 3},
              {"fichera: {dim: 3}", TES_DOMAIN_FICHERA, 3},
              {"channel: {dim: 2}", TES_DOMAIN_CHANNEL, 2},
              {"box: {cells: [2, 3]}, refine: 1, kind: forest", TES_DOMAIN_BOX, 2}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[200];
    TesCase *c;
    snprintf(text, sizeof text, "problem: poisson\nmesh: {%s}\n", rows[i].mesh);
    if (tes_case_parse(ctx, text, "a.yaml", 0, NULL, &c)) fail_msg("%s\n%s", text, tes_context_message(ctx));
    assert_int_equal(c->mesh.kind, TES_MESH_FOREST);
    assert_int_equal(c->mesh.domain, rows[i].domain);
    assert_int_equal(c->mesh.dim, rows[i].dim);
    tes_case_destroy(&c);
  }
}

/* Maps too, which would be there with the defaults of their keys else. */
static void null_takes_away(void **state) {
  (void)state;
  static const char *const null[] = {"adapt=null", "mesh.file=null", "mesh.ball=~"};
  static const char *const ball[] = {"adapt.goal=null", "adapt.estimator=residual", "mesh.file=null",
                                     "mesh.ball.dim=3"};
  TesCase *c;
  assert_int_equal(tes_case_parse(ctx, full, "a.yaml", 3, null, &c), TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "expected exactly one of box, ball"));
  tes_context_clear(ctx);
  if (tes_case_parse(ctx, full, "a.yaml", 1, null, &c)) fail_msg("%s", tes_context_message(ctx));
  assert_false(c->adaptive);
  tes_case_destroy(&c);
  if (tes_case_parse(ctx, full, "a.yaml", 4, ball, &c)) fail_msg("%s", tes_context_message(ctx));
  assert_true(c->adaptive && c->mesh.domain == TES_DOMAIN_BALL);
  assert_string_equal(c->problem.boundary[0].where, "a.yaml:4:31");
  assert_string_equal(c->problem.material[1].where, "a.yaml:3:48");
  tes_case_destroy(&c);
}

static void trees_have_no_patches(void **state) {
  (void)state;
  static const char *const set[] = {"solver.local_solver=mean", "solver.order=same"};
  TesCase *c;
  if (tes_case_parse(ctx, full, "a.yaml", 2, set, &c)) fail_msg("%s", tes_context_message(ctx));
  assert_int_equal(c->warning_count, 2);
  assert_non_null(strstr(c->warnings[0], "solver.local_solver: has no effect on meshes of trees"));
  tes_case_destroy(&c);
}

/* A box is a box unless something needs trees; refinement doubles its cells, and as trees it has as few as can be. */
static void kinds_are_chosen(void **state) {
  (void)state;
  static const struct {
    const char *mesh;
    TesMeshKind kind;
    int cells, refine;
  } rows[] = {
      {"mesh: {box: {dim: 2, cells: 12}}", TES_MESH_BOX, 12, 0},
      {"mesh: {box: {dim: 2, cells: 12}, refine: 3}", TES_MESH_BOX, 12, 3},
      {"mesh: {box: {dim: 2, cells: 12}, kind: box}", TES_MESH_BOX, 12, 0},
      {"mesh: {box: {dim: 2, cells: 12}, kind: forest, refine: 1}", TES_MESH_FOREST, 3, 3},
      {"mesh: {box: {dim: 2, cells: 12}, refine_where: x}", TES_MESH_FOREST, 3, 2},
      {"mesh: {box: {dim: 2, cells: 12}}\nadapt: {steps: 2}", TES_MESH_FOREST, 3, 2},
      {"mesh: {box: {dim: 2, cells: 12, periodic: x}}", TES_MESH_BOX, 12, 0},
      {"mesh: {box: {dim: 2, cells: 12, periodic: x}}\nsolver: {smoother: jacobi}", TES_MESH_BOX, 12, 0},
      {"mesh: {box: {dim: 2, cells: 12, periodic: x}}\nsolver: {smoother: cell_patch}", TES_MESH_FOREST, 3, 2},
      {"mesh: {box: {dim: 2, cells: 12, periodic: x}}\nsolver: {coarse: cg}", TES_MESH_FOREST, 3, 2},
      {"mesh: {box: {dim: 2, cells: 12, periodic: x}}\nsolver: {coarsening: degree}", TES_MESH_FOREST, 3, 2},
      {"mesh: {box: {dim: 2, cells: 12, periodic: x}}\nadapt: {steps: 2}", TES_MESH_FOREST, 3, 2},
      {"mesh: {box: {dim: 2, cells: 12, periodic: x}, kind: forest}", TES_MESH_FOREST, 3, 2},
      {"mesh: {box: {dim: 2, cells: 4, periodic: x}, kind: forest}", TES_MESH_FOREST, 2, 1}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[200];
    TesCase *c;
    snprintf(text, sizeof text, "problem: poisson\n%s\n", rows[i].mesh);
    if (tes_case_parse(ctx, text, "a.yaml", 0, NULL, &c)) fail_msg("%s\n%s", text, tes_context_message(ctx));
    assert_int_equal(c->mesh.kind, rows[i].kind);
    assert_int_equal(c->mesh.cells[1], rows[i].cells);
    assert_int_equal(c->mesh.refine, rows[i].refine);
    tes_case_destroy(&c);
  }
}

static void mistakes_are_told(void **state) {
  (void)state;
  static const struct {
    const char *rest, *message;
  } rows[] = {
      {"mesh: {}", "expected exactly one of box, ball"},
      {"mesh: {ball: {dim: 3}, refine_times: 2}", "mesh.refine_times: expected mesh.refine_where beside it"},
      {"mesh: {kind: box, ball: {dim: 3}}", "a.yaml:2:14: mesh.kind: a mesh of kind box is the grid of a "
                                            "box: leave mesh.ball out, or kind: forest"},
      {"mesh: {kind: box, file: a.msh}", "leave mesh.file out"},
      {"mesh: {kind: box, box: {cells: [4, 4]}, refine_where: x}", "leave mesh.refine_where out"},
      {"mesh: {box: {cells: [4, 4], periodic: x}, kind: box}\nsolver: {smoother: gauss_seidel}",
       "a.yaml:3:20: solver.smoother: poisson with element q has auto, patch, jacobi and chebyshev on "
       "periodic boxes; gauss_seidel is for boxes"},
      {"mesh: {kind: box, box: {cells: [4, 4], periodic: x}}\nspace: {degree: 9}",
       "a.yaml:3:17: space.degree: expected 1 to 8 for poisson with element q on this mesh, got 9"},
      {"mesh: {kind: box, box: {cells: [4, 4]}}\nadapt: {steps: 2}",
       "a.yaml:2:14: mesh.kind: a mesh of kind box is one grid, whose cells are not refined in places: leave "
       "adapt out"},
      {"mesh: {kind: boxes, box: {cells: [4, 4]}}", "mesh.kind: expected auto, box or forest, got 'boxes'"},
      {"mesh: {box: {cells: [4, 4]}}\ndata: {materials: {steel: {a: 2}}}",
       "data.materials: a box has no materials: they are for meshes that name them"},
      {"mesh: {box: {cells: [4, 4]}}\nsolver: {coarse: amg}",
       "solver.coarse: only meshes of trees have this; a box becomes one with mesh.kind: forest"},
      {"mesh: {refine: 2}",
       "expected exactly one of box, ball, shell, l_shape, fichera, channel, file, got 0"},
      {"mesh: {ball: {dim: 3}, l_shape: {dim: 2}}", "got 2"},
      {"mesh: {ball: {dim: 2, centre: [1, 2, 3]}}",
       "mesh.ball.centre: expected 2 entries, as dim is 2, got 3"},
      {"mesh: {shell: {radius: 2, inner_radius: 3}}",
       "a.yaml:2:41: mesh.shell.inner_radius: expected less than the outer radius 2, got 3"},
      {"mesh: {box: {cells: [4, 4], spacing: {x: s*s}}, kind: forest}",
       "(adapt, refine_where, kind: forest) has equal cells: leave spacing out"},
      {"mesh: {ball: {dim: 3}}\nsolver: {smoother: patch}",
       "a.yaml:3:20: solver.smoother: poisson with element q has auto, jacobi, chebyshev, cell_patch and "
       "line_patch on meshes of trees; patch is for boxes, and periodic boxes"},
      {"mesh: {l_shape: {dim: 2}}\nadapt: {estimator: dwr, goal: {point: [0, 0, 0]}}",
       "adapt.goal.point: expected 2 entries"},
      {"mesh: {ball: {dim: 4}}", "mesh.ball.dim: expected an integer from 2 to 3"},
      {"mesh: {ball: {dim: 3}}\nspace: {degree: 9}",
       "a.yaml:3:17: space.degree: expected 1 to 8 for poisson with element q on this mesh, got 9"},
      {"mesh: {ball: {dim: 3}}\nboundary: {surface: {dirichlet: 1, neumann: 2}}",
       "boundary.surface: expected exactly one of"},
      {"mesh: {ball: {dim: 3}}\nboundary: {surface: {robin: {alpha: 2, g: y+}}}",
       "a.yaml:3:43: boundary.surface.robin.g: expected a number"},
      {"mesh: {ball: {dim: 3}}\ndata: {materials: {steel: {a: 2+}}}",
       "a.yaml:3:31: data.materials.steel.a: expected a number"},
      {"mesh: {ball: {dim: 3}}\ndata: {materials: 5}", "data.materials: expected keys with values (names)"},
      {"mesh: {ball: {dim: 3}}\nboundary: {surface: }", "expected keys with values (dirichlet"},
      {"mesh: {ball: {dim: 3}}\nadapt: {estimator: dwr}", "need one goal: point, mean, integral or force"},
      {"mesh: {ball: {dim: 3}}\nadapt: {fraction: 2}", "adapt.fraction: expected a number"},
      {"mesh: {ball: {dim: 3}}\ndata: {materials: {steel: {b: 2}}}", "unknown key 'b'; known keys: a, c, f"},
      {"mesh: {ball: {dim: 3}}\ndata: {materials: {steel: 5}}", "expected a, c or f of material steel"},
      {"mesh: {box: {cells: [2, 2]}}\nboundary: {surface: {dirichlet: 1}}", "unknown key 'surface'"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[300];
    TesCase *c = (TesCase *)&c;
    snprintf(text, sizeof text, "problem: poisson\n%s\n", rows[i].rest);
    assert_int_equal(tes_case_parse(ctx, text, "a.yaml", 0, NULL, &c), TES_INVALID_INPUT);
    assert_null(c);
    if (!strstr(tes_context_message(ctx), rows[i].message))
      fail_msg("%s\n%s", text, tes_context_message(ctx));
    tes_context_clear(ctx);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(everything_is_read, set_up, tear_down),
                                     cmocka_unit_test_setup_teardown(goals_are_known, set_up, tear_down),
                                     cmocka_unit_test_setup_teardown(domains_are_known, set_up, tear_down),
                                     cmocka_unit_test_setup_teardown(null_takes_away, set_up, tear_down),
                                     cmocka_unit_test_setup_teardown(trees_have_no_patches, set_up, tear_down),
                                     cmocka_unit_test_setup_teardown(kinds_are_chosen, set_up, tear_down),
                                     cmocka_unit_test_setup_teardown(mistakes_are_told, set_up, tear_down)};
  return cmocka_run_group_tests(tests, write_files, remove_files);
}
