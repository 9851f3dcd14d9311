/* Run: ctest -R t3_gmsh_cells. Gmsh files of all kinds of cells that are split, of first and second degree, in any
 * order of cells and nodes, and periodic ones. Files of tests/fuzz/corpus/mesh were written by Gmsh 4.15. Names: degree
 * (s: serendipity). gmsh-mixed: a cube of one hexahedron, a pyramid on it, and tetrahedra. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "basis/gauss.h"
#include "mesh/forest/gmsh.h"
#include "testing.h"

static TesContext *ctx;

static size_t read_corpus(const char *name, char *text, size_t room) {
  char path[512];
  snprintf(path, sizeof path, TESI_SOURCE_DIR "/tests/fuzz/corpus/mesh/%s", name);
  FILE *file = fopen(path, "rb");
  if (!file) fail_msg("cannot open %s", path);
  const size_t size = fread(text, 1, room - 1, file);
  fclose(file);
  text[size] = 0;
  return size;
}

static TesStatus parse(const char *text, size_t length, TesiGmshOptions options, TesiTrees **trees) {
  TesiGmsh mesh;
  *trees = NULL;
  TesStatus status = tesi_gmsh_parse(ctx, text, length, "t.msh", options, &mesh);
  if (status == TES_OK) status = tesi_gmsh_trees(&mesh, 0, trees);
  tesi_gmsh_free(&mesh);
  return status;
}

static TesiTrees *read_file(const char *name, TesiGmshOptions options) {
  static char text[1 << 17];
  TesiTrees *trees;
  const size_t size = read_corpus(name, text, sizeof text);
  if (parse(text, size, options, &trees)) fail_msg("%s: %s", name, tes_context_message(ctx));
  return trees;
}

/* Area or volume: |J| by central differences, exact for trees of second degree, at Gauss points of degree 7. */
static double measure(const TesiTrees *t) {
  enum { N = 4 };
  const int dim = t->dim;
  const double h = 1e-3;
  double node[N], weight[N], sum = 0;
  tesi_gauss(N, node, weight);
  for (int64_t tree = 0; tree < t->trees; tree++)
    for (int p = 0; p < (dim == 2 ? N * N : N * N * N); p++) {
      const int at[3] = {p % N, p / N % N, p / N / N};
      double J[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, w = 1, xi[3] = {0};
      for (int d = 0; d < dim; d++) xi[d] = node[at[d]], w *= weight[at[d]];
      for (int c = 0; c < dim; c++) {
        double plus[3], minus[3], to[3];
        memcpy(to, xi, sizeof to);
        to[c] = xi[c] + h;
        tesi_trees_evaluate(t, tree, 1, to, plus);
        to[c] = xi[c] - h;
        tesi_trees_evaluate(t, tree, 1, to, minus);
        for (int r = 0; r < dim; r++) J[r][c] = (plus[r] - minus[r]) / (2 * h);
      }
      sum += w * (J[0][0] * (J[1][1] * J[2][2] - J[1][2] * J[2][1]) -
                  J[0][1] * (J[1][0] * J[2][2] - J[1][2] * J[2][0]) +
                  J[0][2] * (J[1][0] * J[2][1] - J[1][1] * J[2][0]));
    }
  return sum;
}

static int count_faces(const TesiTrees *t, int value) {
  int count = 0;
  for (int64_t i = 0; i < t->trees * 2 * t->dim; i++) count += t->boundary[i] == value;
  return count;
}

/* The farthest that points of the boundary lie from the unit sphere (3D prisms: from the cylinder), unless they are in
 * a plane z = 0 or 1. */
static double off_sphere(const TesiTrees *t, bool cylinder) {
  double most = 0;
  for (int64_t i = 0; i < t->trees * 2 * t->dim; i++) {
    const int face = (int)(i % (2 * t->dim));
    if (t->boundary[i] == TESI_TREES_INSIDE) continue;
    for (int p = 0; p < 9; p++) {
      double xi[3] = {0.1 + 0.4 * (p % 3), 0.1 + 0.4 * (p / 3), 0}, x[3] = {0};
      if (t->dim == 3 && face / 2 < 2) xi[2] = face / 2 ? xi[1] : xi[0];
      xi[face / 2] = face & 1;
      tesi_trees_evaluate(t, i / (2 * t->dim), 1, xi, x);
      if (cylinder && (fabs(x[2]) < 1e-9 || fabs(x[2] - 1) < 1e-9)) continue;
      most = test_larger(most, fabs(sqrt(x[0] * x[0] + x[1] * x[1] + (cylinder ? 0 : x[2] * x[2])) - 1));
    }
  }
  return most;
}

/* Cells of second degree keep their curve: the outline is as far from the circle or sphere as that of a parabola
 * through three points, and not as far as a chord. */
static void test_curved(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int trees;
    bool cylinder;
    double size, near, off;
  } files[] = {{"gmsh-disk-2.msh", 251, false, 4 * 0.78539816339744828, 1e-4, 1e-4},
               {"gmsh-ball-2.msh", 200, false, 4.1887902047863905, 0.05, 0.03},
               {"gmsh-prisms-2.msh", 42, true, 3.14159265358979323, 0.01, 0.01}};
  for (int i = 0; i < 6; i++) {
    char name[64];
    snprintf(name, sizeof name, "%s", files[i / 2].name);
    if (i % 2) strcpy(strstr(name, ".msh"), "s.msh");
    TesiTrees *t = read_file(name, (TesiGmshOptions){.split = true});
    assert_int_equal(t->trees, files[i / 2].trees);
    assert_int_equal(t->degree, 2);
    assert_near(measure(t), files[i / 2].size, files[i / 2].near);
    assert_true(off_sphere(t, files[i / 2].cylinder) < files[i / 2].off);
    tesi_trees_release(&t);
  }
}

/* x + a bend of second degree. */
static void bend(double x[3]) {
  const double y[3] = {x[0], x[1], x[2]};
  x[0] = y[0] + 0.15 * y[1] * (1 - y[1]) + 0.1 * y[2] * y[2];
  x[1] = y[1] + 0.1 * y[0] * y[2];
  x[2] = y[2] + 0.12 * y[0] * (1 - y[0]) - 0.1 * y[0] * y[1];
}

/* Its volume over the unit cube, by Gauss points of the determinant of its derivatives. */
static double bent_volume(void) {
  enum { N = 5 };
  double node[N], weight[N], sum = 0;
  tesi_gauss(N, node, weight);
  for (int p = 0; p < N * N * N; p++) {
    const double x = node[p % N], y = node[p / N % N], z = node[p / N / N];
    const double J[3][3] = {
        {1, 0.15 * (1 - 2 * y), 0.2 * z}, {0.1 * z, 1, 0.1 * x}, {0.12 * (1 - 2 * x) - 0.1 * y, -0.1 * x, 1}};
    sum += weight[p % N] * weight[p / N % N] * weight[p / N / N] *
           (J[0][0] * (J[1][1] * J[2][2] - J[1][2] * J[2][1]) -
            J[0][1] * (J[1][0] * J[2][2] - J[1][2] * J[2][0]) +
            J[0][2] * (J[1][0] * J[2][1] - J[1][1] * J[2][0]));
  }
  return sum;
}

/* The text of a file of format 2.2 with nodes moved. */
static void move_nodes(const char *from, void (*move)(double x[3]), char *to, size_t room) {
  const char *nodes = strstr(from, "$Nodes\n"), *end = strstr(from, "$EndNodes");
  assert_true(nodes && end);
  const char *at = strchr(nodes + 7, '\n') + 1;
  size_t used = (size_t)(at - from);
  memcpy(to, from, used);
  while (at < end) {
    long number;
    double x[3];
    assert_int_equal(sscanf(at, "%ld %lf %lf %lf", &number, &x[0], &x[1], &x[2]), 4);
    move(x);
    used += (size_t)snprintf(to + used, room - used, "%ld %.17g %.17g %.17g\n", number, x[0], x[1], x[2]);
    at = strchr(at, '\n') + 1;
  }
  snprintf(to + used, room - used, "%s", end);
}

/* Hexahedra, pyramids and tetrahedra in one file become cells that fill it without gaps: its volume, whole faces (each
 * on the boundary lies in one of the six sides: 20 cells in the plane a side at most), and no node in the middle of a
 * side. Faces that are bent in second degree, which tetrahedra and the sides of pyramids keep exactly. */
static void test_pyramids(void **state) {
  (void)state;
  static char text[1 << 14], bent[1 << 15];
  TesiTrees *t = read_file("gmsh-mixed-1.msh", (TesiGmshOptions){.split = true});
  assert_int_equal(t->trees, 128); /* a hexahedron: 6 tetrahedra, a pyramid: 2, and 24; 4 of each */
  assert_near(measure(t), 1, 1e-9);
  tesi_trees_release(&t);
  read_corpus("gmsh-mixed-2.msh", text, sizeof text);
  move_nodes(text, bend, bent, sizeof bent);
  if (parse(bent, strlen(bent), (TesiGmshOptions){.split = true}, &t))
    fail_msg("%s", tes_context_message(ctx));
  assert_int_equal(t->trees, 128);
  assert_near(measure(t), bent_volume(), 1e-9);
  assert_int_equal(count_faces(t, TESI_TREES_INSIDE) % 2, 0);
  tesi_trees_release(&t);
  read_corpus("gmsh-mixed-2s.msh", text, sizeof text);
  move_nodes(text, bend, bent, sizeof bent);
  if (parse(bent, strlen(bent), (TesiGmshOptions){.split = true}, &t))
    fail_msg("%s", tes_context_message(ctx));
  assert_near(measure(t), bent_volume(), 1e-9); /* all products of this bend have fewer than two squares */
  tesi_trees_release(&t);
}

/* ---- order ------------------------------------------------------------------------------------------------- */

/* A square of n x n cells; cells and nodes shuffled by `seed`, 0: in order. */
static char *write_square(int n, uint64_t seed) {
  const int nodes = (n + 1) * (n + 1), cells = n * n;
  const size_t room = (size_t)(100 * (nodes + cells) + 1000);
  char *text = malloc(room);
  int *number = malloc((size_t)nodes * sizeof *number), *cell = malloc((size_t)cells * sizeof *cell);
  for (int i = 0; i < nodes; i++) number[i] = i;
  for (int i = 0; i < cells; i++) cell[i] = i;
  for (int pass = 0; pass < 2 && seed; pass++)
    for (int i = (pass ? cells : nodes) - 1; i > 0; i--) {
      int *list = pass ? cell : number, j = (int)((test_random(&seed) + 1) / 2 * (i + 1));
      const int swap = list[i];
      list[i] = list[j], list[j] = swap;
    }
  size_t used =
      (size_t)snprintf(text, room,
                       "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n1 5 \"right\"\n1 4 "
                       "\"left\"\n$EndPhysicalNames\n$Nodes\n%d\n",
                       nodes);
  for (int i = 0; i < nodes; i++)
    used += (size_t)snprintf(text + used, room - used, "%d %.17g %.17g 0\n", number[i] + 1,
                             i % (n + 1) / (double)n, i / (n + 1) / (double)n);
  used += (size_t)snprintf(text + used, room - used, "$EndNodes\n$Elements\n%d\n", cells + 2);
  used += (size_t)snprintf(text + used, room - used, "%d 1 2 5 5 %d %d\n", cells + 1, number[n] + 1,
                           number[2 * n + 1] + 1);
  used += (size_t)snprintf(text + used, room - used, "%d 1 2 4 4 %d %d\n", cells + 2, number[0] + 1,
                           number[n + 1] + 1);
  for (int k = 0; k < cells; k++) {
    const int at = cell[k] % n + (n + 1) * (cell[k] / n);
    used += (size_t)snprintf(text + used, room - used, "%d 3 2 1 1 %d %d %d %d\n", cell[k] + 1, number[at] + 1,
                             number[at + 1] + 1, number[at + n + 2] + 1, number[at + n + 1] + 1);
  }
  snprintf(text + used, room - used, "$EndElements\n");
  free(number);
  free(cell);
  return text;
}

/* Whatever the order in the file, the trees are the same, and each shares a face with the one before: the Hilbert curve
 * of 2^l x 2^l cells goes from each to a neighbour. Vertices are numbered as trees meet them. */
static void test_order(void **state) {
  (void)state;
  enum { N = 16 };
  TesiTrees *t[2];
  for (int i = 0; i < 2; i++) {
    char *text = write_square(N, i ? 77 : 0);
    if (parse(text, strlen(text), (TesiGmshOptions){0}, &t[i])) fail_msg("%s", tes_context_message(ctx));
    free(text);
    int32_t met = 0;
    for (int64_t k = 0; k < N * N * 4; k++) {
      assert_true(t[i]->vertices[k] <= met);
      met += t[i]->vertices[k] == met;
    }
    assert_int_equal(met, (N + 1) * (N + 1));
  }
  assert_memory_equal(t[0]->nodes, t[1]->nodes, N * N * 4 * 2 * sizeof(double));
  assert_memory_equal(t[0]->vertices, t[1]->vertices, N * N * 4 * sizeof(int32_t));
  assert_memory_equal(t[0]->boundary, t[1]->boundary, N * N * 4 * sizeof(int32_t));
  assert_int_equal(t[0]->boundaries, 2);
  for (int64_t k = 1; k < N * N; k++) {
    const double *x = t[1]->nodes + 8 * k, *y = x - 8;
    assert_near(fabs(x[0] - y[0]) + fabs(x[1] - y[1]), 1.0 / N, 1e-12);
  }
  for (int i = 0; i < 2; i++) tesi_trees_release(&t[i]);
}

/* ---- periodic ---------------------------------------------------------------------------------------------- */

/* A file of n x m quadrilaterals in [0, 1]^2 whose sides x = 0 and x = 1 are one; map: only by an affine map. */
static char *write_ring(int n, int m, bool map) {
  const size_t room = 1 << 16;
  char *text = malloc(room);
  size_t used =
      (size_t)snprintf(text, room, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n", (n + 1) * (m + 1));
  for (int i = 0; i < (n + 1) * (m + 1); i++)
    used += (size_t)snprintf(text + used, room - used, "%d %.17g %.17g 0\n", i + 1, i % (n + 1) / (double)n,
                             i / (n + 1) / (double)m);
  used += (size_t)snprintf(text + used, room - used, "$EndNodes\n$Elements\n%d\n", n * m + 2 * m);
  for (int k = 0; k < n * m; k++) {
    const int at = k % n + (n + 1) * (k / n) + 1;
    used += (size_t)snprintf(text + used, room - used, "%d 3 2 1 1 %d %d %d %d\n", k + 1, at, at + 1,
                             at + n + 2, at + n + 1);
  }
  for (int k = 0; k < 2 * m; k++) {
    const int at = (n + 1) * (k % m) + 1 + (k < m ? 0 : n);
    used += (size_t)snprintf(text + used, room - used, "%d 1 2 0 %d %d %d\n", n * m + k + 1, k < m ? 4 : 2,
                             at, at + n + 1);
  }
  used += (size_t)snprintf(text + used, room - used,
                           "$EndElements\n$Periodic\n1\n1 2 4\nAffine 1 0 0 1 0 1 0 0 0 0 1 0 0 0 0 1\n%d\n",
                           map ? 0 : m + 1);
  for (int j = 0; j <= m && !map; j++)
    used += (size_t)snprintf(text + used, room - used, "%d %d\n", (n + 1) * (j + 1), (n + 1) * j + 1);
  snprintf(text + used, room - used, "$EndPeriodic\n");
  return text;
}

/* Any number of cells from 3 on, odd ones too. */
static void test_rings(void **state) {
  (void)state;
  for (int n = 3; n <= 9; n++)
    for (int map = 0; map < 2; map++) {
      TesiTrees *t;
      char *text = write_ring(n, 3, map);
      if (parse(text, strlen(text), (TesiGmshOptions){.periodic = true}, &t))
        fail_msg("%d: %s", n, tes_context_message(ctx));
      free(text);
      assert_near(measure(t), 1, 1e-9);
      assert_int_equal(count_faces(t, TESI_TREES_INSIDE), 4 * 3 * n - 2 * n);
      tesi_trees_release(&t);
    }
}

/* Hexahedra as Gmsh 4.15 writes them, 3 x 3 x 3: surfaces with a map and no pairs. */
static void test_maps(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int ends; /* faces on the boundary */
  } files[] = {{"gmsh-maps-msh22.msh", 36}, {"gmsh-maps-msh40.msh", 18}, {"gmsh-maps-msh41.msh", 18}};
  for (int i = 0; i < 3; i++) {
    TesiTrees *t = read_file(files[i].name, (TesiGmshOptions){.periodic = true});
    assert_int_equal(t->trees, 27);
    assert_near(measure(t), 1, 1e-9);
    assert_int_equal(count_faces(t, TESI_TREES_INSIDE), 27 * 6 - files[i].ends);
    tesi_trees_release(&t);
  }
  static char text[1 << 14];
  TesiTrees *t;
  read_corpus("gmsh-maps-msh22.msh", text, sizeof text);
  char *map = strstr(text, "Affine 1 0 0 1 ");
  assert_non_null(map);
  memcpy(map, "Affine 1 0 0 2 ", 15);
  assert_int_equal(parse(text, strlen(text), (TesiGmshOptions){.periodic = true}, &t), TES_INVALID_INPUT);
  if (!strstr(tes_context_message(ctx), "$Periodic: no node of surface 2 lies at (2, "))
    fail_msg("%s", tes_context_message(ctx));
  tes_context_clear(ctx);
}

/* $ParametricNodes of format 2: parameters stand behind the nodes. */
static void test_parametric(void **state) {
  (void)state;
  static const char text[] = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$ParametricNodes\n6\n1 0 0 0 0 1\n2 1 0 "
                             "0 1 3 0.5\n3 1 1 0 2 1 0.25 0.75\n"
                             "4 0 1 0 0 2\n5 2 0 0 3 1\n6 2 1 0 0 9\n$EndParametricNodes\n$Elements\n2\n1 3 "
                             "0 1 2 3 4\n2 3 0 2 5 6 3\n"
                             "$EndElements\n";
  TesiTrees *t;
  if (parse(text, strlen(text), (TesiGmshOptions){0}, &t)) fail_msg("%s", tes_context_message(ctx));
  assert_near(measure(t), 2, 1e-9);
  tesi_trees_release(&t);
  t = read_file("gmsh-parametric-msh22b.msh", (TesiGmshOptions){0});
  assert_true(t->trees > 0 && measure(t) > 0);
  tesi_trees_release(&t);
}

int main(void) {
  assert_int_equal(tes_context_create(&(TesContextDesc){.verbosity = TES_QUIET}, &ctx, NULL, 0), TES_OK);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_curved), cmocka_unit_test(test_pyramids),
                                     cmocka_unit_test(test_order),  cmocka_unit_test(test_rings),
                                     cmocka_unit_test(test_maps),   cmocka_unit_test(test_parametric)};
  const int failures = cmocka_run_group_tests(tests, NULL, NULL);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
  return failures;
}
