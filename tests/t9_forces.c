/* Run: ctest -R t9_forces. Forces on boundaries, int sigma n: the forces of all boundaries sum up to the load on boxes,
 * forests, curved and file meshes, in 2D and 3D, with all conditions beside each other; right values by hand; one
 * number for one spring in two words; total forces; orders against smooth solutions; bodies in time; element rt beside
 * element q. */
#include <math.h>
#include "program_testing.h"
#include "tessera/tessera.h"

enum { FACES = 6 };
static const char *const faces[FACES] = {"left", "right", "bottom", "top", "back", "front"};

/* The forces of `text`, a case, on its boundaries; all of them: int f or minus it. */
typedef struct Forces {
  double on[FACES][3], sum[3];
} Forces;

static void write_case(const char *text, int dim, int count, const char *const *name) {
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fprintf(file, "%soutput:\n  values:\n", text);
  for (int i = 0; i < count; i++)
    for (int c = 0; c < dim; c++)
      fprintf(file, "    %s%c: {force: %s, of: %c}\n", name[i], "xyz"[c], name[i], "xyz"[c]);
  assert_int_equal(fclose(file), 0);
}

/* False: the build has no forests. */
static bool find_forces(const char *text, int dim, int count, const char *const *name, const char *options,
                        Forces *f) {
  char command[300];
  write_case(text, dim, count, name);
  snprintf(command, sizeof command, "solve a.yaml --quiet --json a.json %s", options);
  const int code = run(command);
  if (code == 3) return false;
  if (code) fail_msg("exit %d for\n%s\n%s", code, text, output);
  cJSON *json = read_json("a.json");
  const cJSON *values = cJSON_GetObjectItem(json, "values");
  *f = (Forces){.sum = {0}};
  for (int i = 0; i < count; i++)
    for (int c = 0; c < dim; c++) {
      char key[40];
      snprintf(key, sizeof key, "%s%c", name[i], "xyz"[c]);
      const cJSON *item = cJSON_GetObjectItem(values, key);
      assert_true(cJSON_IsNumber(item));
      f->on[i][c] = item->valuedouble;
      f->sum[c] += item->valuedouble;
    }
  cJSON_Delete(json);
  return true;
}

/* ---- sums ---------------------------------------------------------------------------------------------- */

/* Supports that meet each other, a roller, a spring, tractions, walls, a slip side and an open end. f = (1, x, 0): its
 * integral is (1, 1/2, 0). */
static const char
    elastic_2d[] =
        "data: {lambda: 1, mu: 1, f: [1, x]}\n"
        "boundary: {left: {displacement: [0, 0]}, bottom: {displacement: [0, x]}, right: {robin: {alpha: 1 "
        "+ y*y, g: [1, 0]}}, top: roller}\n",
    elastic_3d[] =
        "data: {lambda: 1, mu: 1, f: [1, x, 0]}\n"
        "boundary: {all: {traction: [0, 0, z]}, left: {displacement: [0, 0, 0]}, bottom: {displacement: "
        "[0, x, null]}, right: {robin: {alpha: 1 + y, g: [1, 0, 0]}}, front: roller}\n",
    flow_2d[] = "data: {nu: 0.3, f: [1, x]}\n"
                "boundary: {left: {velocity: [y*(1-y), 0]}, bottom: {velocity: [x*(1-x), 0]}, right: "
                "{pressure: 1 + y}, top: slip}\n",
    flow_3d[] = "data: {nu: 0.3, f: [1, x, 0]}\n"
                "boundary: {left: {velocity: [y*(1-y), 0, 0]}, bottom: {velocity: [x*(1-x), 0, 0]}, "
                "right: {outflow: [1 + y, 0, z]}, top: slip}\n";

static void sums_are_the_load(void **state) {
  static const struct {
    int dim;
    const char *mesh;
  } mesh[] = {{2, "box: {cells: [4, 3]}"},
              {2, "box: {cells: [4, 3]}, kind: forest, refine_where: \"x + y < 0.7\""},
              {3, "box: {cells: [3, 2, 2]}"},
              {3, "box: {cells: [2, 2, 2]}, kind: forest, refine_where: \"x + y + z < 0.9\""}};
  static const char *const devices[] = {"--device cpu", "--device emulator"};
  (void)state;
  for (int i = 0; i < 16; i++) {
    const int dim = mesh[i / 4].dim, flow = i / 2 % 2;
    char text[1000];
    Forces f;
    snprintf(text, sizeof text,
             "problem: %s\nmesh: {%s}\nspace: {degree: 2%s}\nsolver: {tolerance: 1e-11}\n%s",
             flow ? "stokes" : "elasticity", mesh[i / 4].mesh, flow ? ", element: q" : "",
             dim == 2 ? flow ? flow_2d : elastic_2d
             : flow   ? flow_3d
                      : elastic_3d);
    if (!find_forces(text, dim, 2 * dim, faces, devices[i % 2], &f)) continue;
    for (int c = 0; c < dim; c++) {
      /* the 3D body also has tractions (0, 0, z) on top and back, of which the faces' forces are the integrals */
      const double load = c == 0 ? 1 : c == 1 ? 0.5 : 0;
      assert_near(f.sum[c], flow ? load : -load, 1e-9);
    }
    if (dim == 3 && !flow) assert_near(f.on[3][2], 0.5, 1e-12); /* top: int z */
    if (dim == 2 && flow) assert_near(f.on[1][0], 1.5, 1e-12);  /* right: int 1 + y */
    if (dim == 3 && flow) assert_near(f.on[1][2], -0.5, 1e-12);
  }
}

/* A ring under a traction on its inner side, held outside; a mesh file of four cells with a clamp, and two supports
 * that share a node. */
static void curved_and_file_meshes(void **state) {
  static const char *const ring[] = {"inner", "outer"}, *const plate[] = {"clamp", "slide", "free", "pulled"};
  static const double pull[2] = {1, 2};
  Forces f;
  (void)state;
  if (find_forces("problem: elasticity\nmesh: {shell: {dim: 2, radius: 2, inner_radius: 1}, refine: "
                  "1}\nspace: {degree: "
                  "2}\nsolver: {tolerance: 1e-11}\ndata: {lambda: 1, mu: 1, f: [0, 0]}\n"
                  "boundary: {inner: {traction: [1, 0]}, outer: {displacement: [0, 0]}}\n",
                  2, 2, ring, "--device cpu", &f)) {
    assert_near(f.on[0][0], 2 * acos(-1), 1e-3); /* cells of degree 2 are not the circle */
    for (int c = 0; c < 2; c++) assert_near(f.sum[c], 0, 1e-9);
  }
  FILE *file = fopen("plate.msh", "w");
  assert_non_null(file);
  fputs("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n5\n1 1 \"clamp\"\n1 2 \"slide\"\n1 3 "
        "\"free\"\n1 4 "
        "\"pulled\"\n2 5 \"body\"\n$EndPhysicalNames\n$Nodes\n9\n"
        "1 0 0 0\n2 1 0 0\n3 2 0 0\n4 0 1 0\n5 1.1 0.9 0\n6 2 1 0\n7 0 2 0\n8 1 2 0\n9 2 2 0\n$EndNodes\n"
        "$Elements\n12\n1 1 2 1 1 1 4\n2 1 2 1 1 4 7\n3 1 2 2 1 1 2\n4 1 2 2 1 2 3\n5 1 2 3 1 7 8\n6 1 2 3 1 "
        "8 9\n"
        "7 1 2 4 1 3 6\n8 1 2 4 1 6 9\n9 3 2 5 1 1 2 5 4\n10 3 2 5 1 2 3 6 5\n11 3 2 5 1 4 5 8 7\n12 3 2 5 1 "
        "5 6 9 8\n"
        "$EndElements\n",
        file);
  assert_int_equal(fclose(file), 0);
  if (!find_forces(
          "problem: elasticity\nmesh: {file: plate.msh}\nspace: {degree: 3}\nsolver: {tolerance: 1e-11}\n"
          "data: {lambda: 1, mu: 1, f: [0, 0]}\nboundary: {clamp: {displacement: [0, 0]}, slide: "
          "{displacement: [null, 0]}, free: {traction: [0, 0]}, pulled: {traction: [1, 2]}}\n",
          2, 4, plate, "--device cpu", &f))
    return;
  for (int c = 0; c < 2; c++) {
    assert_near(f.sum[c], 0, 1e-9);
    assert_near(f.on[2][c], 0, 1e-14);
    assert_near(f.on[3][c], 2 * pull[c], 1e-12);
  }
  assert_near(f.on[0][0], -2, 1e-9); /* the slide holds y alone */
}

/* ---- values by hand ------------------------------------------------------------------------------------------ */

/* An inlet, walls and an open end under a pressure of 5, or a stress of (1, 2); elements q and rt. */
static void open_ends_have_their_pressure(void **state) {
  Forces q, rt;
  char text[600];
  (void)state;
  for (int i = 0; i < 4; i++) {
    snprintf(
        text, sizeof text,
        "problem: stokes\nmesh: {box: {cells: [6, 6]}}\nspace: {degree: 2, element: %s}\n"
        "data: {nu: 1, f: [0.3, 0.1]}\nboundary: {all: {velocity: [0, 0]}, left: {velocity: [y*(1-y), 0]}, "
        "right: %s}\n",
        i % 2 ? "rt" : "q", i / 2 ? "{outflow: [1, 2]}" : "{pressure: 5}");
    assert_true(find_forces(text, 2, 4, faces, "--device cpu", i % 2 ? &rt : &q));
    const Forces *f = i % 2 ? &rt : &q;
    assert_near(f->on[1][0], i / 2 ? -1 : 5, 1e-8);
    assert_near(f->sum[0], 0.3, 1e-7);
    assert_near(f->sum[1], 0.1, 1e-7);
    if (i % 2 == 0) assert_near(f->on[1][1], i / 2 ? -2 : 0, 1e-12);
    if (i % 2)
      for (int k = 0; k < 4; k++) assert_near(q.on[k][0], rt.on[k][0], 2e-2);
  }
}

/* A flow between plates, u = y (1 - y), p = 2 nu (1 - x), in steps that leave it: the walls get nu each, the inlet
 * p = 2 nu, the outlet 0. Degree 2 has this flow. */
static void plates_are_exact(void **state) {
  static const char *const problems[] = {"stokes", "navier_stokes"};
  static const double known[4][2] = {{-0.2, 0}, {0, 0}, {0.1, -0.1}, {0.1, 0.1}};
  Forces f;
  char text[800];
  (void)state;
  for (int i = 0; i < 2; i++) {
    snprintf(
        text, sizeof text,
        "problem: %s\nmesh: {box: {cells: [3, 4]}}\nspace: {degree: 2, element: q}\nsolver: {tolerance: "
        "1e-11}\n"
        "data: {nu: 0.1, f: [0, 0]%s}\nboundary: {all: {velocity: [0, 0]}, left: {velocity: [y*(1-y), 0]}, "
        "right: {outflow: 0}}\n%s",
        problems[i], i ? ", initial: {velocity: [y*(1-y), 0], pressure: 0.2*(1-x)}" : "",
        i ? "time: {end: 0.1, step: 0.01}\n" : "");
    assert_true(find_forces(text, 2, 4, faces, "--device cpu", &f));
    for (int k = 0; k < 4; k++)
      for (int c = 0; c < 2; c++) assert_near(f.on[k][c], known[k][c], i ? 1e-6 : 1e-8);
  }
}

/* A free side beside a support has no force, whatever the mesh; and the support has the whole load. */
static void free_sides_are_free(void **state) {
  Forces f;
  char text[600];
  (void)state;
  for (int n = 2; n <= 8; n *= 2) {
    snprintf(text, sizeof text,
             "problem: elasticity\nmesh: {box: {cells: [%d, %d]}}\nspace: {degree: 2}\nsolver: {tolerance: "
             "1e-11}\n"
             "data: {lambda: 1, mu: 1, f: [0.5, 0.25]}\nboundary: {all: {traction: [0, 0]}, left: "
             "{displacement: [0, "
             "0]}, right: {traction: [1, 2]}}\n",
             n, n);
    assert_true(find_forces(text, 2, 4, faces, "--device cpu", &f));
    for (int k = 2; k < 4; k++)
      for (int c = 0; c < 2; c++) assert_near(f.on[k][c], 0, 0);
    assert_near(f.on[0][0], -1.5, 1e-9);
    assert_near(f.on[0][1], -2.25, 1e-9);
    assert_near(f.on[1][0], 1, 1e-12);
  }
}

/* A spring towards a place u0 in two words: g = alpha u0, or alpha in two springs' sum written as an expression; a
 * spring of alpha = 0 is a traction. */
static void springs_have_one_number(void **state) {
  static const char *const words[][2] = {
      {"{robin: {alpha: 3, g: [1, x]}}", "{robin: {alpha: 1 + 2, g: [1, x]}}"},
      {"{robin: {alpha: 0, g: [1, x]}}", "{traction: [1, x]}"}};
  Forces f[2];
  char text[600];
  (void)state;
  for (int i = 0; i < 4; i++) {
    snprintf(
        text, sizeof text,
        "problem: elasticity\nmesh: {box: {cells: [3, 3]}}\nspace: {degree: 2}\nsolver: {tolerance: 1e-12}\n"
        "data: {lambda: 1, mu: 1, f: [0.5, 0.25]}\nboundary: {all: {traction: [0, 0]}, left: {displacement: "
        "[0, "
        "0]}, bottom: {robin: {alpha: y + x*x, g: [0, 1]}}, top: %s}\n",
        words[i / 2][i % 2]);
    assert_true(find_forces(text, 2, 4, faces, "--device cpu", &f[i % 2]));
    assert_near(f[i % 2].sum[0], -0.5, 1e-9);
    assert_near(f[i % 2].sum[1], -0.25, 1e-9);
    for (int k = 0; k < 4 && i % 2; k++)
      for (int c = 0; c < 2; c++) assert_near(f[0].on[k][c], f[1].on[k][c], 1e-9);
    if (i == 3) assert_near(f[1].on[3][1], 0.5, 1e-12);
  }
  /* int g - alpha u by an integral of its own */
  assert_run("solve a.yaml --quiet --json a.json --set output.values.own={integral: bottom, of: \"-x*x*u\"}",
             2);
  assert_run(
      "solve a.yaml --quiet --json a.json --set 'output.values={own: {integral: bottom, of: \"-x*x*u\"}}'", 0);
  cJSON *json = read_json("a.json");
  const cJSON *own = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "values"), "own");
  assert_near(own->valuedouble, f[1].on[2][0], 1e-9);
  cJSON_Delete(json);
}

/* u = t^2/2 (x, 0), which steps of Newmark have: u_tt = (x, 0), sigma = t^2/2 diag(3, 1). */
static void bodies_in_time(void **state) {
  static const double known[4][2] = {{-1.5 * 0.04, 0}, {1.5 * 0.04, 0}, {0, -0.02}, {0, 0.02}};
  Forces f;
  (void)state;
  assert_true(find_forces(
      "problem: elasticity\nmesh: {box: {cells: [3, 2]}}\nspace: {degree: 2}\nsolver: {tolerance: "
      "1e-12}\ndata: {lambda: 1, mu: 1, f: [x, 0]}\ntime: {method: newmark, end: 0.2, step: 0.05}\n"
      "boundary: {all: {displacement: [t*t/2*x, 0]}, top: {traction: [0, t*t/2]}}\n",
      2, 4, faces, "--device cpu", &f));
  for (int k = 0; k < 4; k++)
    for (int c = 0; c < 2; c++) assert_near(f.on[k][c], known[k][c], 1e-8);
}

/* ---- orders --------------------------------------------------------------------------------------------- */

/* u = (sin(x + 2 y), y cos x), lambda = mu = 1: sxx = 3 cos(x + 2 y) + cos x, sxy = 2 cos(x + 2 y) - y sin x, and
 * supports on all sides, which meet at corners: order k + 1. */
static const char
    meeting[] = "data: {lambda: 1, mu: 1, f: [\"7*sin(x+2*y)+2*sin(x)\", \"4*sin(x+2*y)+y*cos(x)\"], "
                "exact: [\"sin(x+2*y)\", \"y*cos(x)\"]}\nboundary: {all: {displacement: exact}}\n",
    /* u = (sin x, 0) between rollers, lambda = 0, mu = exp(x): sxx = 2 exp(x) cos x. No support of x has neighbours. */
    apart[] = "data: {lambda: 0, mu: exp(x), f: [\"2*exp(x)*(sin(x)-cos(x))\", 0]}\nboundary: {left: "
              "{displacement: [0, "
              "null]}, right: {displacement: [sin(1), null]}, bottom: roller, top: roller}\n";

static void orders_of_forces(void **state) {
  (void)state;
  for (int beside = 0; beside < 2; beside++)
    for (int k = 2; k <= (beside ? 3 : 4); k++) {
      const double known = beside ? -2 : -(1.5 * sin(2) + 1);
      double error[3];
      for (int i = 0; i < 3; i++) {
        const int n = (beside ? 1 : 2) << i;
        char text[1200];
        Forces f;
        snprintf(
            text, sizeof text,
            "problem: elasticity\nmesh: {box: {cells: [%d, %d]}}\nspace: {degree: %d}\nsolver: {tolerance: "
            "1e-13}\n%s",
            n, n, k, beside ? apart : meeting);
        assert_true(find_forces(text, 2, 4, faces, "--device cpu", &f));
        error[i] = fabs(f.on[0][0] - known);
      }
      printf("Q%d, supports %s: %.2e %.2e %.2e, orders %.2f %.2f\n", k, beside ? "apart" : "meet", error[0],
             error[1], error[2], log2(error[0] / error[1]), log2(error[1] / error[2]));
      assert_true(log2(error[1] / error[2]) > (beside ? 2 * k - 0.3 : k + 0.7));
    }
}

/* ---- what is rounding --------------------------------------------------------------------------------- */

static double value_of(const char *key) {
  cJSON *json = read_json("a.json");
  const double value = cJSON_GetNumberValue(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "values"), key));
  cJSON_Delete(json);
  return value;
}

/* Couette's flow in a ring, u = r/3 (4/r^2 - 1), goes along the walls: what rounding lets through them is no net flux.
 * Its torque is 16 pi / 3; stresses are of order k. */
static void flows_along_walls_are_closed(void **state) {
  (void)state;
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fputs(
      "problem: stokes\nmesh: {shell: {dim: 2, radius: 2, inner_radius: 1}, refine: 2, geometry_degree: 4}\n"
      "space: {degree: 4}\nboundary: {inner: {velocity: [-y, x]}, outer: {velocity: [0, 0]}}\noutput: "
      "{values: {fx: "
      "{force: inner, of: x}, torque: {integral: inner, of: \"x*((uy+vx)*nx + 2*vy*ny) - y*(2*ux*nx + "
      "(uy+vx)*ny) "
      "- p*(x*ny-y*nx)\"}}}\n",
      file);
  assert_int_equal(fclose(file), 0);
  for (int refine = 2; refine <= 3; refine++) {
    char command[200];
    snprintf(command, sizeof command, "solve a.yaml --quiet --json a.json --device cpu --set mesh.refine=%d",
             refine);
    const int code = run(command);
    if (code == 3) skip();
    if (code) fail_msg("%s", output);
    assert_near(value_of("torque"), 16 * acos(-1) / 3, refine == 2 ? 2e-3 : 2e-4);
    assert_near(value_of("fx"), 0, 1e-7);
  }
  assert_run("solve a.yaml --quiet --set 'boundary.inner.velocity=[-y + 1e-3*x, x + 1e-3*y]'", 2);
  assert_output("its net flux is -0.00628");
}

/* The lid of a box with element rt whose normal velocity is rounding; and one that is not. */
static void lids_are_closed(void **state) {
  (void)state;
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fputs("problem: stokes\nmesh: {box: {cells: [4, 4]}}\nspace: {degree: 2, element: rt}\ndata: {nu: 1, f: "
        "[0, 0]}\n"
        "boundary: {all: {velocity: [0, 0]}, top: {velocity: [1, \"1e-17*sin(x)\"]}}\n",
        file);
  assert_int_equal(fclose(file), 0);
  assert_run("solve a.yaml --quiet --device cpu", 0);
  assert_run("solve a.yaml --quiet --device cpu --set 'boundary.top.velocity=[1, 1e-4]'", 2);
  assert_output("its net flux is 0.0001");
}

/* A free body whose loads cancel at each of its nodes: what is left of them is rounding of what was added. */
static void loads_that_cancel_balance(void **state) {
  (void)state;
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fputs("problem: elasticity\nmesh: {box: {cells: [1, 1], upper: [0.7, 1.3]}}\nspace: {degree: 1}\n"
        "data: {lambda: 1, mu: 1, f: [0.3 + 0.6, 0]}\nboundary: {all: {traction: [0, 0]}, left: {traction: "
        "[-0.315, "
        "0]}, right: {traction: [-0.315, 0]}}\n",
        file);
  assert_int_equal(fclose(file), 0);
  assert_run("solve a.yaml --quiet --device cpu", 0);
  assert_run("solve a.yaml --quiet --device cpu --set 'boundary.right.traction=[-0.31501, 0]'", 2);
  assert_output("the loads do not balance there");
}

/* alpha = exp(2 y) at the points of a and c: boxes and forests have the same number, on the emulator too. */
static void alpha_has_one_rule(void **state) {
  static const char *const options[] = {"mesh.kind=box --device cpu", "mesh.kind=box --device emulator",
                                        "mesh.kind=forest --device cpu", "mesh.kind=forest --device emulator"};
  double value[4] = {NAN};
  (void)state;
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fputs("problem: poisson\nmesh: {box: {cells: [2, 2]}}\nspace: {degree: 1}\nboundary: {left: {dirichlet: "
        "0}, right: "
        "{robin: {alpha: exp(2*y), g: 0}}}\nsolver: {tolerance: 1e-12}\noutput: {values: {B: {integral: "
        "right, of: u}}}\n",
        file);
  assert_int_equal(fclose(file), 0);
  for (int i = 0; i < 4; i++) {
    char command[200];
    snprintf(command, sizeof command, "solve a.yaml --quiet --json a.json --set %s", options[i]);
    const int code = run(command);
    if (code == 3) continue;
    if (code) fail_msg("%s", output);
    value[i] = value_of("B");
    assert_near(value[i], value[0], 1e-11);
  }
  assert_near(value[0], 0.0349305033, 1e-9); /* two Gauss points an edge: a dense solve apart */
}

/* Bars of length 2 between rollers, pulled by F = 3 at the right end. nu = 0: u = F L / (E A) there, with E = 10 and
 * the area A = 0.6 * 0.5, in 2D A = 0.6. */
static void total_forces_pull_bars(void **state) {
  static const char *const supports[2] = {"bottom: roller", "bottom: roller, back: roller"},
                           *const forces[2] = {"[3, 0]", "[3, 0, 0]"},
                           *const options[] = {"", "mesh.kind=forest", "space.degree=1"};
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int i = 0; i < 3; i++) {
      char command[200];
      FILE *file = fopen("a.yaml", "w");
      assert_non_null(file);
      fprintf(file,
              "problem: elasticity\nmesh: {box: {cells: [%s], upper: [%s]}}\nspace: {degree: 2}\ndata: "
              "{young: 10, "
              "poisson: 0}\nboundary: {all: {traction: [%s]}, left: roller, right: {force: %s}, %s}\noutput: "
              "{values: {u: {mean: right, of: u}, F: {force: left, of: x}}}\n",
              dim == 2 ? "4, 2" : "4, 2, 2", dim == 2 ? "2, 0.6" : "2, 0.6, 0.5",
              dim == 2 ? "0, 0" : "0, 0, 0", forces[dim - 2], supports[dim - 2]);
      assert_int_equal(fclose(file), 0);
      snprintf(command, sizeof command, "solve a.yaml --quiet --json a.json%s%s",
               *options[i] ? " --set " : "", options[i]);
      const int code = run(command);
      if (code == 3) continue;
      if (code) fail_msg("%s", output);
      assert_near(value_of("u"), 3 * 2 / (10 * 0.6 * (dim == 3 ? 0.5 : 1)), 1e-7);
      assert_near(value_of("F"), -3, 1e-7);
    }
}

/* On the outer side of a ring, whose cells are curved, the support gives back the force. */
static void total_forces_on_curved_faces(void **state) {
  static const char text[] = "problem: elasticity\nmesh: {shell: {dim: %d}, geometry_degree: 2}\nspace: "
                             "{degree: 2}\nsolver: {tolerance: "
                             "1e-11}\ndata: {young: 1, poisson: 0.3}\nboundary: {inner: {displacement: "
                             "[%s]}, outer: {force: [%s]}}\noutput: "
                             "{values: {x: {force: inner, of: x}, y: {force: inner, of: y}}}\n";
  (void)state;
  for (int dim = 2; dim <= 3; dim++) {
    FILE *file = fopen("a.yaml", "w");
    assert_non_null(file);
    fprintf(file, text, dim, dim == 2 ? "0, 0" : "0, 0, 0", dim == 2 ? "1, -2" : "1, -2, 0");
    assert_int_equal(fclose(file), 0);
    const int code = run("solve a.yaml --quiet --json a.json");
    if (code == 3) continue;
    if (code) fail_msg("%s", output);
    assert_near(value_of("x"), -1, 1e-8);
    assert_near(value_of("y"), 2, 1e-8);
  }
  assert_int_equal(run("solve a.yaml --quiet --set 'boundary.outer.force=[x, 0, 0]'"), 2);
  assert_non_null(strstr(output, "boundary.outer: a total force may depend on t alone"));
}

/* 2 bar round a flow of water change its pressure alone. */
static void surroundings_have_a_pressure(void **state) {
  static const char *const options[] = {"",
                                        "--set mesh.kind=forest",
                                        "--device emulator",
                                        "--restart a.h5",
                                        "--set space.element=rt",
                                        "--set space.element=rt --set 'data.nu=1e-3*(1 + 50*x)'",
                                        "--set space.element=rt --device emulator"};
  (void)state;
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fputs("problem: stokes\nmesh: {box: {cells: [4, 4], upper: [0.02, 0.01]}}\nspace: {element: q, degree: 2}\n"
        "data: {nu: 1e-3, f: [0, 10]}\nconstants: {bar: 0}\n"
        "boundary: {all: {velocity: [0, 0]}, left: {velocity: [0.01*sin(pi*y/0.01), 0]},\n"
        "  right: {pressure: bar*1e5}}\n"
        "output:\n  values:\n    u: {point: [0.01, 0.004], of: u}\n    p: {mean: domain, of: p}\n",
        file);
  assert_int_equal(fclose(file), 0);
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    double u[2], p[2];
    for (int high = 0; high < 2; high++) {
      char command[300];
      snprintf(command, sizeof command, "solve a.yaml --quiet --json a.json %s --set constants.bar=%d%s",
               options[i], 2 * high,
               i || !high || !tes_has_part("hdf5") ? "" : " --set output.checkpoint=a.h5");
      const int code = run(command);
      if (code == 3) break;
      if (code) fail_msg("exit %d for %s\n%s", code, command, output);
      cJSON *json = read_json("a.json");
      u[high] = number_in(json, "values", "u"), p[high] = number_in(json, "values", "p");
      cJSON_Delete(json);
      if (!high) continue;
      assert_near(u[1], u[0], 1e-6 * fabs(u[0]));
      assert_near(p[1] - p[0], 2e5, 1);
    }
  }
}

/* A flow in time begins with it, and follows it: a pressure of all openings moves nothing, whatever it is in time, and
 * however it is written, nor does the level of a given start. */
static void flows_follow_their_surroundings(void **state) {
  static const char *const options[] = {"",
                                        "--set mesh.kind=forest",
                                        "--device emulator",
                                        "--set space.element=rt",
                                        "--set space.element=rt --set solver.tolerance_of=load",
                                        "--set space.element=rt --device emulator"};
  static const char *const condition[] = {"{pressure: 0}", "{pressure: 200}", "{pressure: 2e5*exp(10*t)}",
                                          "{outflow: [-2e5*exp(10*t), 0]}",
                                          "{outflow: 0}' --set 'data.initial.pressure=7"};
  (void)state;
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fputs("problem: navier_stokes\nmesh: {box: {cells: [6, 4], upper: [0.02, 0.01]}}\n"
        "space: {element: q, degree: 2}\ndata: {nu: 1.e-6}\n"
        "boundary: {all: {velocity: [0, 0]}, left: {velocity: [0.01*sin(pi*y/0.01), 0]}, right: {pressure: "
        "0}}\n"
        "time: {end: 0.2, step: 0.02}\nsolver: {tolerance: 1e-8}\n"
        "output: {values: {u: {point: [0.01, 0.005], of: u}, p: {mean: right, of: p}}}\n",
        file);
  assert_int_equal(fclose(file), 0);
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    double u[5] = {0}, p[5] = {0};
    const double end = strstr(options[i], "emulator") ? 0.06 : 0.2; /* the emulator is slow */
    for (int k = 0; k < 5; k++) {
      char command[300];
      snprintf(command, sizeof command,
               "solve a.yaml --quiet --json a.json %s --set time.end=%g --set 'boundary.right=%s'",
               options[i], end, condition[k]);
      const int code = run(command);
      if (code == 3) break;
      if (code) fail_msg("exit %d for %s\n%s", code, command, output);
      cJSON *json = read_json("a.json");
      u[k] = number_in(json, "values", "u"), p[k] = number_in(json, "values", "p");
      cJSON_Delete(json);
    }
    const double high = 2e5 * exp(10 * end), gauge[] = {0, 200, high, high, 0};
    for (int k = 1; k < 5; k++) {
      if (fabs(u[k] - u[0]) > (gauge[k] < high ? 1e-5 : 1e-4) * fabs(u[0]))
        fail_msg("u is %.10g and %.10g for %s, %s", u[k], u[0], condition[k], options[i]);
      assert_near(p[k] - p[0], u[0] == 0 ? 0 : gauge[k], 1e-7 * gauge[k] + 1e-9);
    }
  }
}

/* Openings of two pressures drive a flow by their difference alone. */
static void pumps_drive_by_differences(void **state) {
  static const char *const options[] = {"", "--set mesh.kind=forest", "--set space.element=rt"};
  (void)state;
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fputs(
      "problem: navier_stokes\nmesh: {box: {cells: [4, 3], upper: [2, 1]}}\nspace: {element: q, degree: 2}\n"
      "data: {nu: 0.01}\nconstants: {P: 0}\n"
      "boundary: {all: {velocity: [0, 0]}, left: {pressure: P + 0.1*t}, right: {pressure: P + 0.02}}\n"
      "time: {end: 0.4, step: 0.02}\nsolver: {tolerance: 1e-8}\n"
      "output: {values: {u: {point: [1, 0.5], of: u}}}\n",
      file);
  assert_int_equal(fclose(file), 0);
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    double u[2] = {0};
    for (int high = 0; high < 2; high++) {
      char command[300];
      snprintf(command, sizeof command, "solve a.yaml --quiet --json a.json %s --set constants.P=%d",
               options[i], 1000 * high);
      const int code = run(command);
      if (code == 3) break;
      if (code) fail_msg("exit %d for %s\n%s", code, command, output);
      cJSON *json = read_json("a.json");
      u[high] = number_in(json, "values", "u");
      cJSON_Delete(json);
    }
    if (fabs(u[1] - u[0]) > 1e-5 * fabs(u[0]))
      fail_msg("u is %.10g and %.10g for %s", u[1], u[0], options[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(total_forces_pull_bars),
                                     cmocka_unit_test(total_forces_on_curved_faces),
                                     cmocka_unit_test(sums_are_the_load),
                                     cmocka_unit_test(curved_and_file_meshes),
                                     cmocka_unit_test(plates_are_exact),
                                     cmocka_unit_test(open_ends_have_their_pressure),
                                     cmocka_unit_test(free_sides_are_free),
                                     cmocka_unit_test(springs_have_one_number),
                                     cmocka_unit_test(bodies_in_time),
                                     cmocka_unit_test(orders_of_forces),
                                     cmocka_unit_test(flows_along_walls_are_closed),
                                     cmocka_unit_test(lids_are_closed),
                                     cmocka_unit_test(loads_that_cancel_balance),
                                     cmocka_unit_test(surroundings_have_a_pressure),
                                     cmocka_unit_test(flows_follow_their_surroundings),
                                     cmocka_unit_test(pumps_drive_by_differences),
                                     cmocka_unit_test(alpha_has_one_rule)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
