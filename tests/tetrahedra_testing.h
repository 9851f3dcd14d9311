/* Cases of polynomial solutions for meshes of tetrahedra, and text of meshes that are made here. */
#ifndef TESI_TETRAHEDRA_TESTING_H
#define TESI_TETRAHEDRA_TESTING_H

#include "program_testing.h"

/* A case whose exact solution is a polynomial of degree `exact`; error: the key of the report. */
typedef struct ExactCase {
  const char *text, *error;
  int exact;
} ExactCase;

/* Exact solutions are about 1: coordinates are multiplied by g, 1/100 for the bracket, which is 100 long. */
static const ExactCase tetrahedra_poisson = {
    "problem: poisson\nconstants: {g: 1}\n"
    "data: {exact: \"g*g*(x*x - y*y + 3*x*y + x*z) + g*z\", f: 0}\nboundary: {all: {dirichlet: exact}}\n",
    "l2", 2};
static const ExactCase tetrahedra_linear = {
    "problem: poisson\ndata: {exact: \"x + y\", f: 0}\nboundary: {all: {dirichlet: exact}}\n", "l2", 1};
static const ExactCase tetrahedra_smooth = {
    "problem: poisson\ndata: {f: 1}\nboundary: {all: {dirichlet: 0}}\n"
    "output: {values: {mean: {integral: domain, of: u}}}\n",
    NULL, 0};
static const ExactCase tetrahedra_transport = {
    "problem: transport\nconstants: {g: 1}\n"
    "data: {a: 1, b: [0.02, 0.01, -0.01], exact: \"g*g*(x*x - y*y + 3*x*y + x*z)\",\n"
    "  f: \"g*g*(0.02*(2*x + 3*y + z) + 0.01*(3*x - 2*y) - 0.01*x)\"}\nboundary: {all: {dirichlet: exact}}\n",
    "l2", 2};
static const ExactCase tetrahedra_elasticity = {"problem: elasticity\nconstants: {g: 1}\n"
                                                "data: {lambda: 1, mu: 1, exact: [\"g*g*x*y\", \"g*g*y*z\", "
                                                "\"g*g*x*z\"], f: [\"-2*g*g\", \"-2*g*g\", \"-2*g*g\"]}\n"
                                                "boundary: {all: {displacement: exact}}\n",
                                                "l2", 2};
/* nu = 1, -Lap u + grad p = f */
static const ExactCase tetrahedra_stokes = {"problem: stokes\nconstants: {g: 1}\n"
                                            "data: {nu: 1, exact: {velocity: [\"g*g*y*y\", \"g*g*z*z\", "
                                            "\"g*g*x*x\"], pressure: \"g*g*x\"}, f: [\"-g*g\", "
                                            "\"-2*g*g\", \"-2*g*g\"]}\n"
                                            "boundary: {all: {velocity: exact}}\n",
                                            "velocity_l2", 2};
static const ExactCase tetrahedra_navier_stokes = {
    "problem: navier_stokes\nconstants: {g: 1}\ntime: {end: 0.03, step: 0.01}\n"
    "data: {nu: 1, exact: {velocity: [\"g*g*y*y\", \"g*g*z*z\", \"g*g*x*x\"], pressure: \"g*g*x\"},\n"
    "  f: [\"-g*g + 2*g*g*g*g*y*z*z\", \"-2*g*g + 2*g*g*g*g*z*x*x\", \"-2*g*g + 2*g*g*g*g*x*y*y\"]}\n"
    "boundary: {all: {velocity: exact}}\n",
    "velocity_l2", 2};

static inline double error_in(const cJSON *json, const char *key) {
  const cJSON *error = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "errors"), key);
  assert_non_null(error);
  return cJSON_GetNumberValue(error);
}

/* Runs a case, on a file here or of tests/data (then split), and reads its report. */
static inline cJSON *run_case(const ExactCase *c, const char *mesh, int degree, const char *options) {
  char command[1600];
  const bool here = exists(mesh);
  FILE *file = fopen("exact.yaml", "w");
  assert_non_null(file);
  fprintf(file, "%smesh: {file: \"%s%s\", split: %s}\nspace: {degree: %d, element: q}\n", c->text,
          here ? "" : TESI_SOURCE_DIR "/tests/data/", mesh, here ? "false" : "true", degree);
  fclose(file);
  snprintf(command, sizeof command, "solve exact.yaml --quiet --json exact.json %s",
           strstr(options, "--device") ? options : "--device cpu");
  if (!strstr(options, "--device"))
    snprintf(command + strlen(command), sizeof command - strlen(command), " %s", options);
  if (strstr(mesh, "bracket"))
    snprintf(command + strlen(command), sizeof command - strlen(command), " --set constants.g=0.01");
  assert_run(command, 0);
  return read_json("exact.json");
}

/* The error is that of the tolerance where the space has the solution, and at degree 1 that of a coarse mesh. */
static inline void solve_exactly(const ExactCase *c, const char *mesh, int degree, const char *options) {
  cJSON *json = run_case(c, mesh, degree, options);
  const double error = error_in(json, c->error);
  const double iterations = cJSON_GetNumberValue(cJSON_GetObjectItem(json, "iterations"));
  const bool bracket = strstr(mesh, "bracket") != NULL; /* volume 7e4: the norm of 1 is 270 */
  const double near = (degree >= c->exact ? 1e-6 : 0.05) * (bracket ? 300 : 1);
  if (!(error < near)) fail_msg("%s, degree %d %s: error %g", mesh, degree, options, error);
  if (!(iterations <= 60)) fail_msg("%s, degree %d %s: %g iterations", mesh, degree, options, iterations);
  cJSON_Delete(json);
}

static inline void solve_for(const ExactCase *c, const char *mesh, int degree, const char *options,
                             double *value, double *iterations) {
  cJSON *json = run_case(c, mesh, degree, options);
  *value = cJSON_GetNumberValue(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "values"), "mean"));
  *iterations = cJSON_GetNumberValue(cJSON_GetObjectItem(json, "iterations"));
  assert_true(isfinite(*value) && *iterations > 0);
  cJSON_Delete(json);
}

/* n quadrilaterals round one node, each with its corner there, or layers of n hexahedra round an axis. */
static inline void write_sectors(const char *path, int n, int layers) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  const int plane = 2 * n + 1, cells = n * (layers ? layers : 1);
  const double step = 2 * 3.14159265358979323846 / n;
  fprintf(file, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n", plane * (layers + 1));
  for (int k = 0; k <= layers; k++)
    for (int i = 0; i < plane; i++) {
      const double radius = i == 0   ? 0
                            : i <= n ? 1
                                     : 1.5,
                   angle = i <= n ? (i - 1) * step : (i - n - 0.5) * step;
      fprintf(file, "%d %.17g %.17g %g\n", k * plane + i + 1, radius * cos(angle), radius * sin(angle),
              0.3 * k);
    }
  fprintf(file, "$EndNodes\n$Elements\n%d\n", cells);
  for (int c = 0; c < cells; c++) {
    const int i = c % n, k = c / n;
    const int corner[4] = {1, 2 + i, 2 + n + i, 2 + (i + 1) % n};
    fprintf(file, "%d %d 0", c + 1, layers ? 5 : 3);
    for (int up = 0; up < (layers ? 2 : 1); up++)
      for (int v = 0; v < 4; v++) fprintf(file, " %d", corner[v] + (k + up) * plane);
    fprintf(file, "\n");
  }
  fprintf(file, "$EndElements\n");
  fclose(file);
}

/* order[count] <- 0, 1, .., shuffled by a seed that is not 0. */
static inline int *shuffled(int count, uint64_t *seed) {
  int *order = malloc((size_t)count * sizeof *order);
  assert_non_null(order);
  for (int i = 0; i < count; i++) order[i] = i;
  for (int i = count - 1; i > 0 && *seed; i--) {
    const int j = (int)((test_random(seed) + 1) / 2 * (i + 1)), swap = order[i];
    order[i] = order[j], order[j] = swap;
  }
  return order;
}

/* Points of a lattice of n cells per direction, in this order. */
static inline void write_lattice(FILE *file, int dim, int n, const int *number) {
  const int side = n + 1, nodes = dim == 2 ? side * side : side * side * side;
  int *at = malloc((size_t)nodes * sizeof *at);
  for (int i = 0; i < nodes; i++) at[number[i]] = i;
  fprintf(file, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n", nodes);
  for (int k = 0; k < nodes; k++)
    fprintf(file, "%d %.17g %.17g %.17g\n", k + 1, at[k] % side / (double)n, at[k] / side % side / (double)n,
            at[k] / side / side / (double)n);
  free(at);
}

/* A unit square or cube of n cells per direction; seed 0: in order. */
static inline void write_box(const char *path, int dim, int n, uint64_t seed) {
  const int side = n + 1, cells = dim == 2 ? n * n : n * n * n,
            nodes = dim == 2 ? side * side : side * side * side;
  static const int round[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                  {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  int *number = shuffled(nodes, &seed), *order = shuffled(cells, &seed);
  write_lattice(file, dim, n, number);
  fprintf(file, "$EndNodes\n$Elements\n%d\n", cells);
  for (int c = 0; c < cells; c++) {
    const int i = order[c] % n, j = order[c] / n % n, k = order[c] / n / n;
    fprintf(file, "%d %d 0", c + 1, dim == 2 ? 3 : 5);
    for (int v = 0; v < 1 << dim; v++)
      fprintf(file, " %d", 1 + number[i + round[v][0] + side * (j + round[v][1] + side * (k + round[v][2]))]);
    fprintf(file, "\n");
  }
  fprintf(file, "$EndElements\n");
  fclose(file);
  free(number);
  free(order);
}

/* A unit cube of 6 n^3 tetrahedra: those of each cube go along its edges, direction by direction in any of the 6
 * orders, from the lowest corner to the highest (Kuhn); shuffled. */
static inline void write_tetrahedra(const char *path, int n, uint64_t seed) {
  static const int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  const int side = n + 1, cells = 6 * n * n * n;
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  int *number = shuffled(side * side * side, &seed), *order = shuffled(cells, &seed);
  write_lattice(file, 3, n, number);
  fprintf(file, "$EndNodes\n$Elements\n%d\n", cells);
  for (int c = 0; c < cells; c++) {
    const int cube = order[c] / 6, which = order[c] % 6, step[3] = {1, side, side * side};
    int at = cube % n + side * (cube / n % n + side * (cube / n / n)), corner[4] = {number[at] + 1};
    for (int d = 0; d < 3; d++) corner[d + 1] = number[at += step[orders[which][d]]] + 1;
    const bool odd = which >= 3; /* of the mirror image: turned */
    fprintf(file, "%d 4 0 %d %d %d %d\n", c + 1, corner[0], corner[1], corner[odd ? 3 : 2],
            corner[odd ? 2 : 3]);
  }
  fprintf(file, "$EndElements\n");
  fclose(file);
  free(number);
  free(order);
}

#endif
