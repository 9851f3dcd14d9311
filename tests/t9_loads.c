/* Run: ctest -R t9_loads. Forces and springs on groups of points and curves of mesh files: sums over curves with
 * hanging nodes, tips of beams, reactions, bodies on springs at rest and in time. Gravity and rotation: hanging bars,
 * rotating rings. Processor and emulator; what is refused. */
#include <math.h>
#include "program_testing.h"
#include "tessera/tessera.h"

/* ---- meshes -------------------------------------------------------------------------------------------- */

/* Boxes of cells [0, L] x [0, H] (x [0, 1]) with the faces `clamp` (x = 0) and `end` (x = L). 2D: the points `middle`
 * (L, H/2), `ends` (L, 0), (L, H) and `feet` (0, 0), (L, 0). 3D: the curves `edge` (x = L, z = 1) and `rails`
 * (z = 0, y = 0 and 1), and the point `corner` (L, 1, 1). In y lines lie at 0, H/2 and H, in 3D at 0, 0.3 H and H. */
typedef struct Grid {
  int dim, n; /* cells along x */
  double L, H;
} Grid;

static int node_at(const Grid *g, int i, int j, int k) {
  return 1 + i + (g->n + 1) * (j + 3 * k);
}

static void add_element(FILE *file, int *number, int type, int name, int count, const int *node) {
  fprintf(file, "%d %d 2 %d %d", ++*number, type, name, name);
  for (int i = 0; i < count; i++) fprintf(file, " %d", node[i]);
  fputs("\n", file);
}

static void add_elements(const Grid *g, FILE *file, int *number) {
  const int n = g->n;
  for (int k = 0; k < (g->dim == 3); k++)
    for (int j = 0; j < 2; j++) {
      for (int e = 0; e < 2; e++) {
        const int i = e * n, face[4] = {node_at(g, i, j, 0), node_at(g, i, j + 1, 0), node_at(g, i, j + 1, 1),
                                        node_at(g, i, j, 1)};
        add_element(file, number, 3, 1 + e, 4, face);
      }
      for (int i = 0; i < n; i++) {
        const int cell[8] = {node_at(g, i, j, 0),         node_at(g, i + 1, j, 0),
                             node_at(g, i + 1, j + 1, 0), node_at(g, i, j + 1, 0),
                             node_at(g, i, j, 1),         node_at(g, i + 1, j, 1),
                             node_at(g, i + 1, j + 1, 1), node_at(g, i, j + 1, 1)};
        add_element(file, number, 5, 6, 8, cell);
      }
      add_element(file, number, 1, 3, 2, (const int[]){node_at(g, n, j, 1), node_at(g, n, j + 1, 1)});
    }
  for (int i = 0; i < n && g->dim == 3; i++)
    for (int j = 0; j < 3; j += 2)
      add_element(file, number, 1, 4, 2, (const int[]){node_at(g, i, j, 0), node_at(g, i + 1, j, 0)});
  if (g->dim == 3) {
    add_element(file, number, 15, 5, 1, (const int[]){node_at(g, n, 2, 1)});
    return;
  }
  for (int j = 0; j < 2; j++) {
    for (int e = 0; e < 2; e++)
      add_element(file, number, 1, 1 + e, 2,
                  (const int[]){node_at(g, e * n, j, 0), node_at(g, e * n, j + 1, 0)});
    for (int i = 0; i < n; i++)
      add_element(file, number, 3, 6, 4,
                  (const int[]){node_at(g, i, j, 0), node_at(g, i + 1, j, 0), node_at(g, i + 1, j + 1, 0),
                                node_at(g, i, j + 1, 0)});
    add_element(file, number, 15, 4, 1, (const int[]){node_at(g, n, 2 * j, 0)});
    add_element(file, number, 15, 5, 1, (const int[]){node_at(g, j * n, 0, 0)});
  }
  add_element(file, number, 15, 3, 1, (const int[]){node_at(g, n, 1, 0)});
}

static void write_grid(const Grid *g) {
  static const char *const
      names_2d = "1 1 \"clamp\"\n1 2 \"end\"\n0 3 \"middle\"\n0 4 \"ends\"\n0 5 \"feet\"\n2 6 \"body\"\n",
      *const names_3d = "2 1 \"clamp\"\n2 2 \"end\"\n1 3 \"edge\"\n1 4 \"rails\"\n0 5 "
                        "\"corner\"\n3 6 \"body\"\n";
  const int nodes = 3 * (g->n + 1) * (g->dim - 1);
  int count = 0, again = 0;
  char *text = NULL;
  size_t size;
  FILE *elements = open_memstream(&text, &size), *file = fopen("grid.msh", "w");
  assert_non_null(elements);
  assert_non_null(file);
  add_elements(g, elements, &count);
  fclose(elements);
  fprintf(file, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n6\n%s$EndPhysicalNames\n$Nodes\n%d\n",
          g->dim == 2 ? names_2d : names_3d, nodes);
  for (int k = 0; k < g->dim - 1; k++)
    for (int j = 0; j < 3; j++)
      for (int i = 0; i <= g->n; i++)
        fprintf(file, "%d %.17g %.17g %d\n", ++again, g->L * i / g->n,
                g->H * (j == 1 ? g->dim == 2 ? 0.5 : 0.3 : 0.5 * j), k);
  fprintf(file, "$EndNodes\n$Elements\n%d\n%s$EndElements\n", count, text);
  free(text);
  assert_int_equal(fclose(file), 0);
}

/* ---- runs ---------------------------------------------------------------------------------------------- */

static void write_case(const char *text) {
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fprintf(file, "problem: elasticity\n%s", text);
  assert_int_equal(fclose(file), 0);
}

/* False: the build has no forests. */
static bool solve(const char *options) {
  char command[600];
  snprintf(command, sizeof command, "solve a.yaml --quiet --json a.json %s", options);
  const int code = run(command);
  if (code != 0 && code != 3) fail_msg("exit %d for %s\n%s", code, options, output);
  return code == 0;
}

static double value_of(const char *name) {
  cJSON *json = read_json("a.json");
  const cJSON *item = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "values"), name);
  const double value = cJSON_IsNumber(item) ? item->valuedouble : NAN;
  cJSON_Delete(json);
  return value;
}

/* ---- sums ---------------------------------------------------------------------------------------------- */

/* int_edge phi_i: its moments of y are int y^m ds = 1/(m + 1), whatever hangs; of points each counts 1. */
static void curves_are_integrated_once(void **state) {
  static const struct {
    const char *name;
    double moment[3];
  } groups[] = {{"edge", {1, 1 / 2., 1 / 3.}}, {"rails", {6, 3, 3}}, {"corner", {1, 1, 1}}};
  TesContext *ctx;
  TesFunction *one, *where;
  (void)state;
  if (!has_forests()) return;
  write_grid(&(Grid){3, 2, 3, 1});
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu", .threads = 2}, &ctx, NULL, 0),
                   TES_OK);
  assert_int_equal(tes_function_create_constant(ctx, 1, &one), TES_OK);
  assert_int_equal(tes_function_create_expression(ctx, "x + y - 3.4", &where), TES_OK);
  for (int i = 0; i < 6; i++) {
    const int degree = i / 3 ? 4 : 1;
    TesMesh *mesh;
    TesSpace *space;
    TesVector *b;
    int number;
    assert_int_equal(tes_mesh_create(ctx,
                                     &(TesMeshDesc){.domain = TES_DOMAIN_FILE,
                                                    .kind = TES_MESH_FOREST,
                                                    .file = "grid.msh",
                                                    .file_groups = true,
                                                    .geometry_degree = 1,
                                                    .refine_where = where,
                                                    .refine_times = 2},
                                     &mesh),
                     TES_OK);
    const uint8_t given[8] = {0};
    assert_int_equal(
        tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = degree, .given = given}, &space),
        TES_OK);
    const int64_t n = tes_space_length(space);
    double *values = test_malloc((size_t)n * sizeof *values), *x = test_malloc((size_t)(3 * n) * sizeof *x);
    const TesFunction *g[8] = {NULL};
    assert_int_equal(tes_mesh_find_boundary(mesh, groups[i % 3].name, &number), TES_OK);
    g[number] = one;
    assert_int_equal(tes_vector_create(ctx, n, TES_DOUBLE, &b), TES_OK);
    assert_int_equal(tes_functional_load(&(TesLoadDesc){.space = space, .g = {g}}, b), TES_OK);
    assert_int_equal(tes_vector_get(b, values), TES_OK);
    assert_int_equal(tes_space_coordinates(space, x), TES_OK);
    for (int m = 0; m < (degree == 1 ? 2 : 3); m++) {
      double sum = 0;
      for (int64_t k = 0; k < n; k++) sum += values[k] * pow(x[3 * k + 1], m);
      assert_near(sum, groups[i % 3].moment[m], 1e-12);
    }
    test_free(values), test_free(x);
    tes_vector_destroy(&b), tes_space_destroy(&space), tes_mesh_destroy(&mesh);
  }
  tes_function_destroy(&one), tes_function_destroy(&where);
  tes_context_destroy(&ctx);
}

/* ---- beams --------------------------------------------------------------------------------------------- */

/* E = 1000, nu = 0, F = 1 at the end of a beam of L : 1: F L^3/(3 E I) + 6 F L/(5 G A), by the end's mean. Supports
 * that clamp the section and forces at a point change that by less than F h^3/(E I). */
static double tip(double L) {
  return L * L * L * 12 / 3000 + 1.2 * L / 500;
}

static void beams_bend_under_points(void **state) {
  static const char *const options[] = {"", "--set \"mesh.refine_where=x - 19.2\"", "--device emulator"};
  (void)state;
  write_grid(&(Grid){2, 20, 20, 1});
  write_case(
      "mesh: {file: grid.msh}\nspace: {degree: 3}\nsolver: {tolerance: 1e-11, max_iterations: 300}\n"
      "data: {young: 1000, poisson: 0, plane: stress}\n"
      "boundary: {all: {traction: [0, 0]}, clamp: {displacement: [0, 0]}, middle: {force: [0, -1]}}\n"
      "output: {values: {v: {mean: end, of: v}, u: {mean: end, of: u}, held: {force: clamp, of: y}, given: "
      "{force: middle, of: y}, pull: {force: clamp, of: x}}}\n");
  for (int i = 0; i < 3; i++) {
    if (!solve(options[i])) return;
    assert_near(value_of("v"), -tip(20), 2e-3 * tip(20));
    assert_near(value_of("held"), 1, 1e-6);
    assert_near(value_of("given"), -1, 1e-12);
  }
  /* two points in equal parts: the same; and no bending where both are pulled: u = F L/(E A) */
  assert_true(solve("--set boundary.middle=null --set boundary.ends.force=[0,-1]"));
  assert_near(value_of("v"), -tip(20), 2e-3 * tip(20));
  assert_near(value_of("held"), 1, 1e-6);
  assert_true(solve("--set boundary.middle=null --set boundary.ends.force=[10,0]"));
  assert_near(value_of("u"), 10 * 20 / 1000., 5e-3 * 0.2);
  assert_near(value_of("v"), 0, 1e-7);
  assert_near(value_of("pull"), -10, 1e-6);
  /* a traction at points is the force of each of them */
  assert_true(solve("--set boundary.middle=null --set boundary.ends.traction=[10,0]"));
  assert_near(value_of("pull"), -20, 1e-6);
}

static void beams_bend_under_curves(void **state) {
  static const char *const options[] = {"", "--set \"mesh.refine_where=x - 9\"",
                                        "--device emulator --set space.degree=2"};
  (void)state;
  write_grid(&(Grid){3, 8, 10, 1});
  write_case(
      "mesh: {file: grid.msh}\nspace: {degree: 3}\nsolver: {tolerance: 1e-11, max_iterations: 300}\n"
      "data: {young: 1000, poisson: 0}\n"
      "boundary: {all: {traction: [0, 0, 0]}, clamp: {displacement: [0, 0, 0]}, edge: {force: [0, 0, -1]}}\n"
      "output: {values: {w: {mean: end, of: w}, twist: {mean: end, of: wy}, held: {force: clamp, of: z}, "
      "given: {force: edge, of: z}}}\n");
  for (int i = 0; i < 3; i++) {
    if (!solve(options[i])) return;
    assert_near(value_of("w"), -tip(10), 5e-3 * tip(10));
    assert_near(value_of("twist"), 0, 1e-3); /* parts of length 0.3 and 0.7: uniform along both */
    assert_near(value_of("held"), 1, 1e-6);
    assert_near(value_of("given"), -1, 1e-10);
  }
  assert_true(solve("--set boundary.edge=null --set boundary.corner.force=[0,0,-1]"));
  assert_near(value_of("held"), 1, 1e-6);
  assert_true(value_of("twist") < -0.01); /* beside the axis: M L/(G I_t) = 0.5 * 10/(500 * 0.141) = 0.07 */
  assert_near(value_of("twist"), -0.0711, 5e-3);
}

/* The force in time: t F, in steps that are long beside the period of none: rho_inf = 0 damps. */
static void forces_may_depend_on_time(void **state) {
  (void)state;
  write_grid(&(Grid){2, 4, 4, 1});
  write_case(
      "mesh: {file: grid.msh}\nspace: {degree: 2}\nsolver: {tolerance: 1e-10}\n"
      "data: {young: 1e6, poisson: 0, plane: stress}\ntime: {end: 1, step: 0.1, method: backward_euler}\n"
      "boundary: {all: {traction: [0, 0]}, clamp: {displacement: [0, 0]}, ends: {force: [3*t, 0]}}\n"
      "output: {values: {held: {force: clamp, of: x}, given: {force: ends, of: x}}}\n");
  for (int i = 0; i < 2; i++) {
    if (!solve(i ? "--device emulator" : "")) return;
    assert_near(value_of("held"), -3, 1e-3);
    assert_near(value_of("given"), 3, 1e-12);
  }
}

/* ---- springs ------------------------------------------------------------------------------------------- */

/* A stiff body of weight W on springs k: it sinks by W/(sum of k), less than 1e-3 of it is bent. */
static void bodies_stand_on_springs(void **state) {
  static const char *const options[] = {"", "--set mesh.refine_where=1-x", "--device emulator",
                                        "--set solver.method=direct"};
  (void)state;
  write_grid(&(Grid){2, 4, 4, 1});
  write_case(
      "mesh: {file: grid.msh}\nspace: {degree: 2}\nsolver: {tolerance: 1e-12}\n"
      "data: {young: 1e7, poisson: 0.3, f: [0, -5]}\n"
      "boundary: {all: {traction: [0, 0]}, feet: {robin: {alpha: 100, g: [0, 0]}}}\n"
      "output: {values: {v: {mean: domain, of: v}, u: {mean: domain, of: u}, held: {force: feet, of: y}}}\n");
  for (int i = 0; i < 4; i++) {
    if (!solve(options[i])) return;
    assert_near(value_of("v"), -20 / 200., 1e-4);
    assert_near(value_of("u"), 0, 1e-6);
    assert_near(value_of("held"), 20, 1e-5);
  }
  /* a spring that pulls: g = alpha times where it wants to be */
  assert_true(solve("--set boundary.feet.robin.g=[0,10]"));
  assert_near(value_of("v"), -20 / 200. + 0.1, 1e-4);
  assert_near(value_of("held"), 20, 1e-5);
  /* swinging: v = -W/k (1 - cos(omega t)), omega^2 = k/m = 200/4, at t = pi/omega twice as deep */
  assert_true(solve("--set time.end=0.4442882938 --set time.step=0.004442882938 --set time.rho_inf=1"));
  assert_near(value_of("v"), -2 * 20 / 200., 2e-3);
  write_grid(&(Grid){3, 3, 4, 1});
  write_case("mesh: {file: grid.msh}\nspace: {degree: 2}\nsolver: {tolerance: 1e-12}\n"
             "data: {young: 1e7, poisson: 0.3, f: [0, 0, -5]}\n"
             "boundary: {all: {traction: [0, 0, 0]}, rails: {robin: {alpha: 25, g: [0, 0, 0]}}}\n"
             "output: {values: {v: {mean: domain, of: w}, u: {mean: domain, of: u}, held: {force: rails, of: "
             "z}}}\n");
  for (int i = 0; i < 3; i++) {
    if (!solve(options[i])) return;
    assert_near(value_of("v"), -20 / (25. * 8), 1e-4); /* two rails of length 4 */
    assert_near(value_of("held"), 20, 1e-5);
  }
  /* a spring whose stiffness is greater at the far end: alpha = 25 x/2; the resultant stays */
  assert_true(solve("--set boundary.rails.robin.alpha=25*x/2"));
  assert_near(value_of("held"), 20, 1e-5);
  assert_int_equal(run("solve a.yaml --quiet --set boundary.rails.robin.alpha=x-1"), 2);
  assert_output("the Robin coefficient on rails is -");
}

/* ---- body forces --------------------------------------------------------------------------------------- */

/* Bars of length 3 and section 0.5 (x 0.5) between rollers, E = 1000, nu = 0, density 2. Hanging:
 * u = rho g L^2/(2 E), weight rho g L A. Turning about an axis across that goes through x = -1:
 * u = rho w^2 (L^3/3 + L^2/2)/E; about (1, 1, 0) through the origin u = rho w^2 L^3/(6 E). */
static const char bar_2d[] =
    "mesh: {box: {cells: [3, 2], lower: [0, -0.25], upper: [3, 0.25]}}\nspace: {degree: 3}\nsolver: "
    "{tolerance: "
    "1e-12}\n"
    "data: {young: 1000, poisson: 0, density: 2%s}\nboundary: {all: roller, right: {traction: [0, 0]}}\n"
    "output: {values: {u: {mean: right, of: u}, held: {force: left, of: x}}}\n",
                  bar_3d[] = "mesh: {box: {cells: [3, 2, 2], lower: [0, -0.25, -0.25], upper: [3, 0.25, "
                             "0.25]}}\nspace: {degree: 3}\nsolver: {tolerance: 1e-12}\n"
                             "data: {young: 1000, poisson: 0, density: 2%s}\nboundary: {all: roller, right: "
                             "{traction: [0, 0, 0]}}\n"
                             "output: {values: {u: {mean: right, of: u}, held: {force: left, of: x}}}\n";

static void bars_hang_and_turn(void **state) {
  static const struct {
    int dim;
    const char *data;
    double u, held;
  } bars[] = {{2, ", gravity: [9.81, 0]", 2 * 9.81 * 9 / 2000, -2 * 9.81 * 1.5},
              {3, ", gravity: [9.81, 0, 0]", 2 * 9.81 * 9 / 2000, -2 * 9.81 * 0.75},
              {2, ", gravity: [9.81, 0], f: [1, 0]", (2 * 9.81 + 1) * 9 / 2000, -(2 * 9.81 + 1) * 1.5},
              {2, ", rotation: {speed: 4, point: [-1, 0]}", 2 * 16 * (9 + 4.5) / 1000, -2 * 16 * 7.5 * 0.5},
              {3, ", rotation: {speed: 4, point: [-1, 0, 0], axis: [0, 2, 0]}", 2 * 16 * (9 + 4.5) / 1000,
               -2 * 16 * 7.5 * 0.25},
              {3, ", rotation: {speed: 4, axis: [1, 1, 0]}", 2 * 16 * 27 / 6000., -2 * 16 * 4.5 * 0.25 / 2}};
  static const char *const options[] = {"", "--set mesh.kind=forest", "--device emulator"};
  (void)state;
  for (size_t i = 0; i < sizeof bars / sizeof *bars; i++)
    for (int k = 0; k < (i ? 2 : 3); k++) {
      char text[1000];
      snprintf(text, sizeof text, bars[i].dim == 2 ? bar_2d : bar_3d, bars[i].data);
      write_case(text);
      if (!solve(options[k])) continue;
      assert_near(value_of("u"), bars[i].u, 1e-8);
      assert_near(value_of("held"), bars[i].held, 1e-7);
    }
}

/* A ring of radii 1 and 2 in plane stress (Timoshenko and Goodier, section 32): at the inner side
 * sigma = rho w^2 ((3 + nu) b^2 + (1 - nu) a^2)/4 along it, and u = a sigma/E outwards. A shell of a sphere that turns
 * about any axis has the same energy. */
static void rings_turn(void **state) {
  const double sigma = 2 * 9 * (3.3 * 4 + 0.7) / 4;
  double energy[2];
  (void)state;
  write_case("mesh: {shell: {dim: 2, radius: 2, inner_radius: 1}, geometry_degree: 5}\nspace: {degree: "
             "6}\nsolver: {tolerance: 1e-11}\n"
             "data: {young: 1000, poisson: 0.3, plane: stress, density: 2, rotation: {speed: 3}}\n"
             "boundary: {all: {traction: [0, 0]}}\n"
             "output: {values: {u: {mean: inner, of: sqrt(u*u + v*v)}, s: {mean: inner, of: von_mises}}}\n");
  if (!solve("")) return;
  assert_near(value_of("u"), sigma / 1000, 1e-4 * sigma / 1000);
  assert_near(value_of("s"), sigma, 1e-3 * sigma);
  write_case("mesh: {shell: {dim: 3, radius: 2, inner_radius: 1}, geometry_degree: 2}\nspace: {degree: "
             "2}\nsolver: {tolerance: 1e-9}\n"
             "data: {young: 1000, poisson: 0.3, density: 2, rotation: {speed: 3}}\n"
             "boundary: {all: {traction: [0, 0, 0]}}\noutput: {values: {e: {integral: domain, of: "
             "strain_energy}}}\n");
  for (int i = 0; i < 2; i++) {
    assert_true(solve(i ? "--set data.rotation.axis=[0,3,0]" : ""));
    energy[i] = value_of("e");
  }
  assert_near(energy[1], energy[0], 1e-6 * energy[0]);
  assert_true(energy[0] > 0);
}

/* Each material has its density, or the body's: the clamp holds all weight. In time gravity may change: g(t). */
static void materials_have_their_weight(void **state) {
  (void)state;
  write_grid(&(Grid){2, 4, 4, 1});
  write_case(
      "mesh: {file: grid.msh}\nspace: {degree: 2}\nsolver: {tolerance: 1e-11}\n"
      "data: {young: 1, poisson: 0.3, density: 7, gravity: [0, -10], materials: {body: {density: 3}}}\n"
      "boundary: {all: {traction: [0, 0]}, clamp: {displacement: [0, 0]}}\n"
      "output: {values: {held: {force: clamp, of: y}}}\n");
  if (!solve("")) return;
  assert_near(value_of("held"), 4 * 3 * 10, 1e-6);
  assert_run("solve a.yaml", 0);
  assert_output("poisson = 0.3\n          density = 7\n          gravity = [0, -10]\n          body:");
  assert_run("check a.yaml", 0);
  assert_output("boundary  feet             size 2, no outer faces");
  assert_null(strstr(output, "clamp            size"));
  assert_true(solve("--set data.density=null"));
  assert_near(value_of("held"), 4 * 3 * 10, 1e-6);
  assert_true(solve("--set data.materials.body.density=null --set data.materials.body.f=[0,1]"));
  assert_near(value_of("held"), 4 * (7 * 10 - 1), 1e-6);
  assert_run("solve a.yaml --quiet --set data.density=null --set data.materials=null", 2);
  assert_output("data.gravity: data.density is missing");
  assert_run("solve a.yaml --quiet --set data.gravity=null", 2);
  assert_output("data.density: belongs to elasticity with `time`, `data.gravity` or `data.rotation`");
  assert_true(
      solve("--set units=SI --set \"data.gravity=[0, -10 m/s^2]\" --set \"data.rotation={speed: t}\""));
  assert_near(value_of("held"), 4 * 3 * 10, 1e-6); /* texts of keys are put together; each was compared alone */
  assert_run("solve a.yaml --quiet --set \"data.rotation={speed: 1, axis: [1, 0]}\"", 2);
  assert_output("data.rotation.axis: is for three dimensions");
  assert_run("solve a.yaml --quiet --set data.rotation.point=[1,0]", 2);
  assert_output("speed");
  assert_run("solve " CASES "elastic-cube.yaml --quiet --set \"data.rotation={speed: 1, axis: [0, 0, 0]}\"",
             2);
  assert_output("expected a list of three numbers that are not all 0");
  assert_run("solve " CASES "poisson.yaml --quiet --set data.gravity=[0,1]", 2);
  assert_output("data.gravity: belongs to elasticity");
}

static void what_is_refused(void **state) {
  (void)state;
  write_grid(&(Grid){2, 4, 4, 1});
  write_case("mesh: {file: grid.msh}\nspace: {degree: 2}\ndata: {young: 1, poisson: 0}\n"
             "boundary: {all: {traction: [0, 0]}, clamp: {displacement: [0, 0]}, ends: {force: [1, 0]}}\n");
  assert_run("solve a.yaml --quiet", 0);
  assert_run("solve a.yaml --quiet --set boundary.ends=roller", 2);
  assert_output("ends is a group of curves or points, which have a displacement, a force, a traction");
  assert_run("solve a.yaml --quiet --set \"boundary.ends={pressure: 1}\"", 2);
  assert_output("curves and points have no normal");
  assert_run("solve a.yaml --quiet --set boundary.ends.force=[x,0]", 2);
  assert_output("a total force may depend on t alone");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(curves_are_integrated_once),
                                     cmocka_unit_test(beams_bend_under_points),
                                     cmocka_unit_test(beams_bend_under_curves),
                                     cmocka_unit_test(forces_may_depend_on_time),
                                     cmocka_unit_test(bodies_stand_on_springs),
                                     cmocka_unit_test(bars_hang_and_turn),
                                     cmocka_unit_test(rings_turn),
                                     cmocka_unit_test(materials_have_their_weight),
                                     cmocka_unit_test(what_is_refused)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
