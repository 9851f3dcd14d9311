/* Gmsh files: those of tests/fuzz/corpus/mesh were written by Gmsh 4.8 (a quarter of a ring; two layers of it in
 * 3D); broken ones are made of text here. Names of files: degree (s: serendipity), format, b: binary. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mesh/forest/gmsh.h"
#include "testing.h"

static TesContext *ctx;
static char warning[512];
static TesiGmshOptions options;

static void keep_warning(void *user, TesLogLevel level, const char *line) {
  (void)user;
  if (level == TES_LOG_WARNING) snprintf(warning, sizeof warning, "%s", line);
}

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

static TesStatus parse(const char *text, size_t length, int dim, TesiTrees **trees) {
  TesiGmsh mesh;
  *trees = NULL;
  TesStatus status = tesi_gmsh_parse(ctx, text, length, "t.msh", options, &mesh);
  if (status == TES_OK) status = tesi_gmsh_trees(&mesh, dim, trees);
  tesi_gmsh_free(&mesh);
  return status;
}

/* Area or volume: the divergence theorem is no help for wrong maps, so |J| by central differences at midpoints of a
 * fine grid. */
static double measure(const TesiTrees *t) {
  enum { N = 6 };
  const int dim = t->dim;
  double sum = 0;
  for (int64_t tree = 0; tree < t->trees; tree++)
    for (int p = 0; p < (dim == 2 ? N * N : N * N * N); p++) {
      const double h = 1e-4;
      double J[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
             at[3] = {(p % N + 0.5) / N, (p / N % N + 0.5) / N, (p / N / N + 0.5) / N};
      for (int c = 0; c < dim; c++) {
        double plus[3], minus[3];
        at[c] += h;
        tesi_trees_evaluate(t, tree, 1, at, plus);
        at[c] -= 2 * h;
        tesi_trees_evaluate(t, tree, 1, at, minus);
        at[c] += h;
        for (int r = 0; r < dim; r++) J[r][c] = (plus[r] - minus[r]) / (2 * h);
      }
      sum += (J[0][0] * (J[1][1] * J[2][2] - J[1][2] * J[2][1]) -
              J[0][1] * (J[1][0] * J[2][2] - J[1][2] * J[2][0]) +
              J[0][2] * (J[1][0] * J[2][1] - J[1][1] * J[2][0])) /
             pow(N, dim);
    }
  return sum;
}

static int count_faces(const TesiTrees *t, int value) {
  int count = 0;
  for (int64_t i = 0; i < t->trees * 2 * t->dim; i++) count += t->boundary[i] == value;
  return count;
}

static int number_of(int count, char *const *names, const char *name) {
  for (int i = 0; i < count; i++)
    if (!strcmp(names[i], name)) return i;
  fail_msg("there is no %s", name);
  return -1;
}

static void check_ring(const TesiTrees *t, const char *kind) {
  assert_int_equal(t->dim, 2);
  assert_int_equal(t->trees, 6);
  assert_int_equal(t->boundaries, 4);
  assert_int_equal(count_faces(t, number_of(t->boundaries, t->boundary_name, "axis x")), 2);
  assert_int_equal(count_faces(t, number_of(t->boundaries, t->boundary_name, "outer")), 3);
  assert_int_equal(count_faces(t, number_of(t->boundaries, t->boundary_name, "9")), 3);
  assert_int_equal(count_faces(t, TESI_TREES_UNNAMED), 0);
  assert_string_equal(t->material_name[t->material[5]], "steel");
  const double exact = 0.75 * 4 * atan(1), polygon = 4.5 * sin(atan(1) * 2 / 3);
  assert_near(measure(t), kind[0] == '1' ? polygon : exact, kind[0] == '1' ? 1e-6 : 2e-3);
  if (kind[0] == '2') assert_true(fabs(measure(t) - polygon) > 0.05);
}

static void check_block(const TesiTrees *t, const char *kind) {
  assert_int_equal(t->dim, 3);
  assert_int_equal(t->trees, 4);
  assert_int_equal(t->boundaries, 2);
  assert_int_equal(count_faces(t, number_of(t->boundaries, t->boundary_name, "top")), 2);
  assert_int_equal(count_faces(t, TESI_TREES_UNNAMED), 12);
  int lower = 0;
  for (int i = 0; i < 4; i++)
    lower += t->material[i] == number_of(t->materials, t->material_name, "lower part");
  assert_int_equal(lower, 2);
  const double exact = 0.75 * 4 * atan(1) * 2, polygon = 2 * 3 * sin(atan(1));
  assert_near(measure(t), kind[0] == '1' ? polygon : exact, kind[0] == '1' ? 1e-6 : 2e-2);
}

/* Every format says the same. */
static void test_formats(void **state) {
  (void)state;
  static const char *const bases[] = {"ring", "block"}, *const kinds[] = {"1", "2", "2s"},
                           *const formats[] = {"msh22", "msh22b", "msh41", "msh41b"};
  for (int b = 0; b < 2; b++)
    for (int k = 0; k < 3; k++) {
      TesiTrees *first = NULL;
      for (int f = 0; f < 4; f++) {
        static char text[1 << 16];
        char name[64];
        TesiTrees *trees;
        snprintf(name, sizeof name, "%s-%s-%s.msh", bases[b], kinds[k], formats[f]);
        assert_ok(ctx, parse(text, read_corpus(name, text, sizeof text), 0, &trees));
        (b ? check_block : check_ring)(trees, kinds[k]);
        for (int64_t i = 0; first && i < trees->trees * trees->tree_nodes * trees->dim; i++)
          assert_near(trees->nodes[i], first->nodes[i], 1e-14);
        if (first)
          tesi_trees_release(&trees);
        else
          first = trees;
      }
      tesi_trees_release(&first);
    }
}

/* Files cut anywhere, or with a byte changed: refused or read, never more. */
static void test_damage(void **state) {
  (void)state;
  static const char *const names[] = {"ring-2-msh22.msh", "ring-1-msh22b.msh", "ring-2s-msh41.msh",
                                      "block-1-msh41b.msh"};
  uint64_t seed = 3;
  for (int n = 0; n < 4; n++) {
    static char text[1 << 16], damaged[1 << 16];
    const size_t size = read_corpus(names[n], text, sizeof text);
    int refused = 0;
    for (size_t length = 0; length < size; length += 7) {
      TesiTrees *trees;
      memcpy(damaged, text, length);
      damaged[length] = 0;
      const TesStatus cut = parse(damaged, length, 0, &trees);
      assert_true(cut == TES_OK || cut == TES_INVALID_INPUT);
      refused += cut != TES_OK;
      tesi_trees_release(&trees);
      memcpy(damaged, text, size + 1);
      damaged[length] = (char)(128 * (test_random(&seed) + 1));
      const TesStatus changed = parse(damaged, size, 0, &trees);
      assert_true(changed == TES_OK || changed == TES_INVALID_INPUT || changed == TES_OUT_OF_MEMORY);
      tesi_trees_release(&trees);
      tes_context_clear(ctx);
    }
    assert_true(refused > (int)(size / 7) - 4);
  }
}

#define HEAD "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define SIX "$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 2 0 0\n6 2 1 0\n$EndNodes\n"

/* What is wrong is named. */
static void test_refusals(void **state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } bad[] = {
      {"hello", "not a Gmsh file"},
      {"$MeshFormat\n3 0 8\n$EndMeshFormat\n",
       "t.msh:2: format 3 is not read; save the mesh as version 4.1, 4.0 or 2.2"},
      {"$Comments\nno mesh\n", "section $Comments has no end"},
      {"$Comments\nno mesh\n$EndComments\nhello", "not a Gmsh file"},
      {"$NOD\n1\n1 0 0 0\n$EndNodes\n", "found $EndNodes where $EndNOD should stand"},
      {"$NOD\n4\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n$ENDNOD\n$ELM\n1\n1 3 0 0 5 1 2 3 4\n$ENDELM\n",
       "t.msh:10: element 1, a quadrilateral, has 5 nodes, expected 4"},
      {"$MeshFormat\n2.2 2 8\n$EndMeshFormat\n", "file type 2"},
      {HEAD "$Nodes\n1\n1 0 0 x\n$EndNodes\n",
       "t.msh:6: found \"x\" where a coordinate of a node should stand"},
      {HEAD "$Nodes\n1\n1 0 0 nan\n$EndNodes\n", "not finite"},
      {HEAD "$Nodes\n999999999\n1 0 0 0\n$EndNodes\n", "the number of nodes is 999999999, and the file has"},
      {HEAD "$Nodes\n2\n1 0 0 0\n1 1 0 0\n$EndNodes\n", "node 1 stands twice"},
      {HEAD SIX, "no lines, quadrilaterals or hexahedra"},
      {HEAD SIX "$Elements\n1\n1 1 0 1 2\n$EndElements\n", "there are lines and no quadrilaterals"},
      {HEAD SIX "$Elements\n2\n1 3 0 1 2 3 4\n2 2 0 2 5 3\n$EndElements\n",
       "t.msh:16: element 2 is a triangle; lines, quadrilaterals of 4, 8 or 9 nodes"},
      {HEAD SIX "$Elements\n1\n7 4 0 1 2 3 4\n$EndElements\n", "element 7 is a tetrahedron"},
      {HEAD SIX "$Elements\n1\n7 46 0 1 2 3 4\n$EndElements\n", "element 7 is of Gmsh's type 46"},
      {HEAD SIX "$Elements\n1\n7 7 0 1 2 3 4 5\n$EndElements\n", "element 7 is a pyramid"},
      {HEAD SIX "$Elements\n1\n7 39 0 1 2 3 4\n$EndElements\n", "element 7 is a quadrilateral of 12 nodes"},
      {HEAD SIX "$Elements\n1\n7 3 0 1 2 3 8\n$EndElements\n", "element 7 has node 8, which does not exist"},
      {HEAD SIX "$Elements\n2\n1 3 0 1 2 3 4\n2 3 0 2 3 5 6\n$EndElements\n",
       "element 2 (a quadrilateral, line 16): inverted or degenerate: |J| = "},
      {HEAD SIX "$Elements\n1\n1 3 0 1 2 3 3\n$EndElements\n", "node 3 stands twice in it"},
      {HEAD SIX "$Elements\n1\n1 3 0 1 2 5 4\n$EndElements\n", "inverted or degenerate"},
      {HEAD "$Nodes\n8\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 2 0 0\n6 2 1 0\n7 2 -1 0\n8 2 3 0\n$EndNodes\n"
            "$Elements\n3\n1 3 0 1 2 3 4\n2 3 0 2 5 6 3\n5 3 0 2 7 8 3\n$EndElements\n",
       "t.msh: element 1 (line 17), element 5 (line 19) and element 2 (line 18) meet at one face; two can"},
      {HEAD SIX "$Elements\n3\n1 3 0 1 2 3 4\n2 3 0 2 5 6 3\n3 3 0 3 4 1 2\n$EndElements\n",
       "element 3 (a quadrilateral, line 17): it has the vertices of element 1, and lies on it"},
      {HEAD "$Nodes\n8\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 2 0 0\n6 2 .5 0\n7 1 .5 0\n8 2 1 0\n$EndNodes\n"
            "$Elements\n3\n1 3 0 1 2 3 4\n2 3 0 2 5 6 7\n3 3 0 7 6 8 3\n$EndElements\n",
       "element 2 (line 18) and element 1 (line 17) meet at a vertex, round which the first shares no face"},
      {HEAD "$Nodes\n14\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 1 2 0\n6 0 2 0\n7 1 3 0\n8 0 3 0\n9 2 0 0\n10 "
            "2 1 0\n11 2 2 0\n12 2 3 0\n13 2 1.5 0\n14 1 1.5 0\n$EndNodes\n"
            "$Elements\n7\n1 3 0 1 2 3 4\n2 3 0 4 3 5 6\n3 3 0 6 5 7 8\n4 3 0 2 9 10 3\n5 3 0 5 11 12 7\n6 3 "
            "0 3 10 13 14\n7 3 0 14 13 11 5\n$EndElements\n",
       "node 14 lies in the middle of a side, at (1, 1.5, 0): cells must share whole faces"},
      {HEAD
       "$Nodes\n8\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 .5 0 0\n6 1 .5 0\n7 .5 1 .1\n8 0 .5 0\n$EndNodes\n"
       "$Elements\n1\n1 16 0 1 2 3 4 5 6 7 8\n$EndElements\n",
       "element 1 (a quadrilateral of 8 nodes, line 17): it does not lie in the plane z = 0"},
      {HEAD "$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 1 2 0\n6 0 2 0\n$EndNodes\n"
            "$Elements\n2\n1 3 0 1 2 3 4\n2 3 0 1 2 5 6\n$EndElements\n",
       "element 1 (line 15) and element 2 (line 16) lie on one side of the face that they share"},
      {HEAD "$Nodes\n12\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 0 0 1\n6 1 0 1\n7 1 1 1\n8 0 1 1\n9 0 0 2\n10 "
            "1 0 2\n"
            "11 1 1 2\n12 0 1 2\n$EndNodes\n"
            "$Elements\n2\n1 5 0 1 2 3 4 5 6 7 8\n2 5 0 1 2 3 4 9 10 11 12\n$EndElements\n",
       "element 1 (line 21) and element 2 (line 22) lie on one side of the face that they share"},
      {HEAD "$Nodes\n14\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 .5 0 0\n6 1.1 .5 0\n7 .5 1 0\n8 0 .5 0\n9 2 "
            "0 0\n10 2 1 0\n11 1.5 0 0\n12 2 .5 0\n13 1.5 1 0\n14 1 .5 0\n$EndNodes\n"
            "$Elements\n2\n5 16 0 1 2 3 4 5 6 7 8\n6 16 0 2 9 10 3 11 12 13 14\n$EndElements\n",
       "element 6 (a quadrilateral of 8 nodes, line 24): it shares an edge with element 5 and bends it "
       "otherwise: at "
       "(1, 0.5, "
       "0), 0.1 from where"},
      {HEAD SIX "$Elements\n1\n1 3 0 1 2 3 4\n", "the file ends"},
      {HEAD SIX "$Elements\n1\n1 3 0 1 2 3 4\n$EndNodes\n", "found $EndNodes where $EndElements"},
      {HEAD "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 1\n$EndNodes\n$Elements\n1\n1 3 0 1 2 3 "
            "4\n$EndElements\n",
       "does not lie in the plane"},
      {HEAD "$Nodes\n7\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 1 0 0\n6 2 0 0\n7 2 1 0\n$EndNodes\n"
            "$Elements\n2\n1 3 0 1 2 3 4\n2 3 0 5 6 7 3\n$EndElements\n",
       "nodes 2 and 5 are at one point"},
      {HEAD "$Elements\n1\n1 3 0 1 2 3 4\n$EndElements\n", "elements stand before nodes"},
      {HEAD "$Strange\nabc\n", "section $Strange has no end"},
      {HEAD SIX SIX, "section $Nodes stands twice"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    TesiTrees *trees;
    tes_context_clear(ctx);
    assert_int_equal(parse(bad[i].text, strlen(bad[i].text), 0, &trees), TES_INVALID_INPUT);
    if (!strstr(tes_context_message(ctx), bad[i].message))
      fail_msg("%s\nis not\n%s", tes_context_message(ctx), bad[i].message);
    assert_null(trees);
  }
  tes_context_clear(ctx);
}

/* Two hexahedra of 20 nodes side by side, the second with nodes of its own in the middle of the sides of the face that
 * they share: at the same places, or one of them moved. Which one of the four edges (in 3D) is told by its point. */
static void write_hexahedra(double moved, char *text, size_t room) {
  static const int corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                   {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}},
                   edge[12][2] = {{0, 1}, {0, 3}, {0, 4}, {1, 2}, {1, 5}, {2, 3},
                                  {2, 6}, {3, 7}, {4, 5}, {4, 7}, {5, 6}, {6, 7}};
  size_t used = (size_t)snprintf(text, room, HEAD "$Nodes\n36\n");
  for (int i = 0; i < 12; i++) /* three layers of corners in x: number 1 + x + 3 (y + 2 z) */
    used += (size_t)snprintf(text + used, room - used, "%d %d %d %d\n", i + 1, i % 3, i / 3 % 2, i / 6);
  for (int c = 0; c < 2; c++)
    for (int e = 0; e < 12; e++) {
      double x[3];
      for (int d = 0; d < 3; d++) x[d] = (corner[edge[e][0]][d] + corner[edge[e][1]][d]) / 2.0;
      const double bent = c == 1 && x[0] == 0 && x[1] == 1 && x[2] == 0.5 ? moved : 0;
      used += (size_t)snprintf(text + used, room - used, "%d %.17g %.17g %g\n", 13 + 12 * c + e,
                               x[0] + c + bent, x[1], x[2]);
    }
  used += (size_t)snprintf(text + used, room - used, "$EndNodes\n$Elements\n2\n");
  for (int c = 0; c < 2; c++) {
    used += (size_t)snprintf(text + used, room - used, "%d 17 0", c + 1);
    for (int i = 0; i < 8; i++)
      used += (size_t)snprintf(text + used, room - used, " %d",
                               1 + c + corner[i][0] + 3 * (corner[i][1] + 2 * corner[i][2]));
    for (int e = 0; e < 12; e++) used += (size_t)snprintf(text + used, room - used, " %d", 13 + 12 * c + e);
    used += (size_t)snprintf(text + used, room - used, "\n");
  }
  snprintf(text + used, room - used, "$EndElements\n");
}

static void test_shared_edges(void **state) {
  (void)state;
  char text[4096];
  TesiTrees *trees;
  write_hexahedra(0, text, sizeof text);
  if (parse(text, strlen(text), 0, &trees)) fail_msg("%s", tes_context_message(ctx));
  assert_near(measure(trees), 2, 1e-9);
  tesi_trees_release(&trees);
  write_hexahedra(0.05, text, sizeof text);
  assert_int_equal(parse(text, strlen(text), 0, &trees), TES_INVALID_INPUT);
  if (!strstr(tes_context_message(ctx),
              "element 2 (a hexahedron of 20 nodes, line 46): it shares an edge with element 1 and "
              "bends it otherwise: at (1.05, 1, 0.5), 0.05 from where"))
    fail_msg("%s", tes_context_message(ctx));
  tes_context_clear(ctx);
}

static void read_file(const char *name, TesiGmshOptions of, TesiTrees **trees) {
  static char text[1 << 17];
  options = of;
  const size_t size = read_corpus(name, text, sizeof text);
  if (parse(text, size, 0, trees)) fail_msg("%s: %s", name, tes_context_message(ctx));
  options = (TesiGmshOptions){0};
}

/* How far points of this boundary lie from the circle of radius 2, at most. */
static double off_circle(const TesiTrees *t, int number) {
  double most = 0;
  for (int64_t i = 0; i < t->trees * 4; i++)
    for (int p = 0; p < 7 && t->boundary[i] == number; p++) {
      const int face = (int)(i % 4);
      double xi[2] = {(p + 0.5) / 7, (p + 0.5) / 7}, x[2];
      xi[face / 2] = face & 1;
      tesi_trees_evaluate(t, i / 4, 1, xi, x);
      assert_true(isfinite(x[0]) && isfinite(x[1]));
      most = fmax(most, fabs(hypot(x[0], x[1]) - 2));
    }
  return most;
}

/* Files of Gmsh 4.15 in all formats and degrees: area or volume, and names. */
static void test_other_formats(void **state) {
  (void)state;
  static const char *const formats[] = {"msh10", "msh20", "msh21b", "msh22", "msh40", "msh41b"};
  const double quarter = 0.75 * 4 * atan(1);
  TesiTrees *t;
  char name[80];
  for (int i = 0; i < 12; i++) {
    const bool block = i >= 6;
    snprintf(name, sizeof name, "gmsh-%s-3-%s.msh", block ? "block" : "ring", formats[i % 6]);
    read_file(name, (TesiGmshOptions){0}, &t);
    assert_int_equal(t->trees, block ? 12 : 6);
    assert_int_equal(t->degree, 3);
    assert_near(measure(t), block ? 2 * quarter : quarter, 3e-3);
    const bool named = strcmp(formats[i % 6], "msh10") != 0; /* format 1 has no names */
    assert_int_equal(count_faces(t, number_of(t->boundaries, t->boundary_name,
                                              !named  ? "7"
                                              : block ? "bottom"
                                                      : "outer")),
                     block ? 6 : 3);
    assert_string_equal(t->material_name[t->material[0]], named ? "steel" : "3");
    tesi_trees_release(&t);
  }
  static const double error[] = {0, 0, 0, 0, 1e-5, 1e-6, 0, 0, 1e-9};
  for (int k = 4; k <= 8; k = k == 5 ? 8 : k + 1) {
    snprintf(name, sizeof name, "gmsh-ring-%d-msh41b.msh", k);
    read_file(name, (TesiGmshOptions){0}, &t);
    assert_int_equal(t->degree, k);
    assert_near(measure(t), quarter, 3e-3);
    assert_true(off_circle(t, number_of(t->boundaries, t->boundary_name, "outer")) < error[k]);
    tesi_trees_release(&t);
  }
  read_file("gmsh-block-4-msh41b.msh", (TesiGmshOptions){0}, &t);
  assert_near(measure(t), 2 * quarter, 3e-3);
  tesi_trees_release(&t);
}

/* Partitioned files in one piece are the mesh. */
static void test_partitions(void **state) {
  (void)state;
  static const char *const names[] = {"gmsh-parts-msh22.msh", "gmsh-parts-msh40.msh", "gmsh-parts-msh41.msh",
                                      "gmsh-parts3-msh41.msh"};
  TesiTrees *t;
  for (int i = 0; i < 4; i++) {
    read_file(names[i], (TesiGmshOptions){0}, &t);
    assert_int_equal(t->trees, i == 3 ? 12 : 6);
    assert_near(measure(t), i == 3 ? 4.5 : 2.25, 1e-6);
    assert_int_equal(count_faces(t, number_of(t->boundaries, t->boundary_name, i == 3 ? "bottom" : "outer")),
                     i == 3 ? 6 : 3);
    assert_string_equal(t->material_name[t->material[5]], "steel");
    tesi_trees_release(&t);
  }
}

/* A square whose left and right are one: of 4 x 4 quadrilaterals, and of triangles that are split. */
static void test_periodic(void **state) {
  (void)state;
  static const char *const formats[] = {"msh40", "msh41", "msh41b"};
  for (int i = 0; i < 6; i++) {
    const bool split = i >= 3;
    TesiTrees *t;
    char name[80];
    snprintf(name, sizeof name, "gmsh-periodic%s-%s.msh", split ? "-triangles" : "", formats[i % 3]);
    read_file(name, (TesiGmshOptions){.split = split, .periodic = true}, &t);
    assert_near(measure(t), 1, 1e-6);
    assert_int_equal(count_faces(t, number_of(t->boundaries, t->boundary_name, "bottom")), split ? 8 : 4);
    assert_int_equal(count_faces(t, number_of(t->boundaries, t->boundary_name, "top")), split ? 8 : 4);
    assert_int_equal(count_faces(t, TESI_TREES_UNNAMED), 0);
    tesi_trees_release(&t);
    read_file(name, (TesiGmshOptions){.split = split}, &t);
    assert_int_equal(count_faces(t, TESI_TREES_UNNAMED), split ? 16 : 8);
    tesi_trees_release(&t);
  }
  static const char narrow[] =
      HEAD SIX "$Elements\n2\n1 3 0 1 2 3 4\n2 3 0 2 5 6 3\n$EndElements\n$Periodic\n1\n1 2 4\n"
               "Affine 1 0 0 2 0 1 0 0 0 0 1 0 0 0 0 1\n2\n5 1\n6 4\n$EndPeriodic\n";
  TesiTrees *t;
  options.periodic = true;
  assert_int_equal(parse(narrow, sizeof narrow - 1, 0, &t), TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "needs 3 cells at least"));
  tes_context_clear(ctx);
  static const char missing[] = HEAD SIX
      "$Elements\n2\n1 3 0 1 2 3 4\n2 3 0 2 5 6 3\n$EndElements\n$Periodic\n1\n1 2 4\n1\n9 1\n$EndPeriodic\n";
  assert_int_equal(parse(missing, sizeof missing - 1, 0, &t), TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "$Periodic names node 9, which does not exist"));
  tes_context_clear(ctx);
  static const char none[] = HEAD SIX "$Elements\n1\n1 3 0 1 2 3 4\n$EndElements\n";
  assert_int_equal(parse(none, sizeof none - 1, 0, &t), TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "no section $Periodic"));
  tes_context_clear(ctx);
  options.periodic = false;
}

/* Splitting keeps the domain: one cell a vertex of each cell, right-handed without turning any. */
static void test_split(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int trees;
    double size;
  } files[] = {{"gmsh-triangles.msh", 36, 2.25},
               {"gmsh-tetrahedra.msh", 3732, 6},
               {"gmsh-prisms.msh", 144, 4.5},
               {"ring-1-msh41.msh", 24, 2.25},
               {"block-1-msh22b.msh", 32, 0}};
  for (int i = 0; i < 5; i++) {
    TesiTrees *t, *whole;
    *warning = 0;
    read_file(files[i].name, (TesiGmshOptions){.split = true}, &t);
    assert_int_equal(t->trees, files[i].trees);
    assert_string_equal(warning, "");
    if (files[i].size > 0) {
      assert_near(measure(t), files[i].size, t->dim == 2 ? 1e-6 : 1e-2); /* of the midpoint rule */
    } else {
      read_file(files[i].name, (TesiGmshOptions){0}, &whole);
      assert_near(measure(t), measure(whole), 1e-2);
      assert_int_equal(count_faces(t, 0), 4 * count_faces(whole, 0));
      tesi_trees_release(&whole);
    }
    tesi_trees_release(&t);
  }
  static const struct {
    const char *text, *message;
  } bad[] = {{HEAD SIX "$Elements\n1\n1 21 0 1 2 3 4 5 6 1 2 3 4\n$EndElements\n",
              "element 1 is a triangle of 10 nodes; mesh.split splits elements of first and second degree"},
             {HEAD SIX "$Elements\n2\n1 26 0 1 2 3 4\n2 3 0 1 2 3 4\n$EndElements\n",
              "element 1 is a line of 4 nodes; "},
             {HEAD SIX "$Elements\n1\n1 3 0 1 2 5 4\n$EndElements\n",
              "element 1 (part of a quadrilateral, line 15): "}};
  options.split = true;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    TesiTrees *t;
    assert_int_equal(parse(bad[i].text, strlen(bad[i].text), 0, &t), TES_INVALID_INPUT);
    if (!strstr(tes_context_message(ctx), bad[i].message)) fail_msg("%s", tes_context_message(ctx));
    tes_context_clear(ctx);
  }
  options.split = false;
}

/* Nodes in the order of the mirror image are turned; what changes its sign is refused. Comments may come first. */
static void test_left_handed(void **state) {
  (void)state;
  static const char left[] = "\xef\xbb\xbf\n$Comments\nMade by $hand\n$EndComments\n" HEAD SIX
                             "$Elements\n3\n1 3 0 1 2 3 4\n2 3 0 2 3 6 5\n3 1 1 8 5 6\n$EndElements\n";
  TesiTrees *t;
  *warning = 0;
  assert_ok(ctx, parse(left, sizeof left - 1, 0, &t));
  assert_non_null(strstr(warning, "1 of 2 cells are left-handed (|J| < 0); their nodes are reordered"));
  assert_near(measure(t), 2, 1e-8);
  assert_int_equal(count_faces(t, 0), 1);
  assert_int_equal(count_faces(t, TESI_TREES_INSIDE), 2);
  tesi_trees_release(&t);
}

static void test_warnings_and_dim(void **state) {
  (void)state;
  static const char apart[] =
      HEAD "$Nodes\n8\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 3 0 0\n6 4 0 0\n7 4 1 0\n8 3 1 0\n$EndNodes\n"
           "$Elements\n2\n1 3 0 1 2 3 4\n2 3 0 5 6 7 8\n$EndElements\n";
  TesiTrees *trees;
  assert_ok(ctx, parse(apart, sizeof apart - 1, 2, &trees));
  assert_non_null(strstr(warning, "2 parts that share no vertex"));
  tesi_trees_release(&trees);
  assert_int_equal(parse(apart, sizeof apart - 1, 3, &trees), TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "the mesh has 2 dimensions, and 3 are asked for"));
  tes_context_clear(ctx);
  static const char twice[] = HEAD SIX
      "$Elements\n6\n1 1 1 0 6 5\n2 1 1 9 5 6\n3 1 1 4 6 5\n4 1 1 9 1 2\n5 3 0 1 2 3 4\n6 3 0 2 5 6 3\n"
      "$EndElements\n";
  *warning = 0;
  assert_ok(ctx, parse(twice, sizeof twice - 1, 2, &trees));
  assert_non_null(strstr(warning, "1 lines are in more than one physical group"));
  assert_int_equal(trees->boundaries, 1);
  assert_string_equal(trees->boundary_name[trees->boundary[4 + 1]], "9");
  tesi_trees_release(&trees);
  static const char alike[] =
      HEAD "$PhysicalNames\n2\n1 4 \"wall\"\n1 9 \"wall\"\n$EndPhysicalNames\n" SIX
           "$Elements\n4\n1 1 1 4 6 5\n2 1 1 9 1 2\n3 3 0 1 2 3 4\n4 3 0 2 5 6 3\n$EndElements\n";
  *warning = 0;
  assert_ok(ctx, parse(alike, sizeof alike - 1, 2, &trees));
  assert_non_null(strstr(warning, "another physical group is called wall too; they are one boundary"));
  assert_int_equal(trees->boundaries, 1);
  tesi_trees_release(&trees);
  assert_int_equal(tesi_trees_file(ctx, &(TesMeshDesc){.file = "/no/such.msh"}, &trees), TES_IO);
  tes_context_clear(ctx);
  assert_int_equal(tesi_trees_file(ctx, &(TesMeshDesc){.file = TESI_SOURCE_DIR}, &trees), TES_IO);
  tes_context_clear(ctx);
}

/* Numbers have the bits that strtod() and strtoll() give them, also at the middle of two doubles, and end where these
 * end. */
static void test_numbers(void **state) {
  (void)state;
  static const char *const words[] = {"0",
                                      "-0",
                                      "1",
                                      ".5",
                                      "5.",
                                      "-.",
                                      "-",
                                      "1e",
                                      "1e-",
                                      "1e-5",
                                      "1E-5",
                                      "1e5",
                                      "1e+5",
                                      "0x1p3",
                                      "nan",
                                      "-inf",
                                      "1e-400",
                                      "9007199254740993",
                                      "9007199254740992.5",
                                      "4503599627370497.5",
                                      "123456789012345678",
                                      "1234567890123456789",
                                      "1,5",
                                      "1 2",
                                      "9223372036854775807",
                                      "-9223372036854775808",
                                      "9223372036854775808",
                                      "+7",
                                      "\v3",
                                      "0.30000000000000000000004",
                                      "0.000000000000000000001234567",
                                      "0.1e-26"};
  static const char *const formats[] = {"%.16g", "%.17g", "%.6g", "%.15f", "%.3e"};
  const int count = sizeof words / sizeof *words;
  uint64_t seed = 7;
  char text[64], *end;
  for (int i = 0; i < 200000; i++) {
    const double size = pow(10, 12 * test_random(&seed)), number = size * test_random(&seed);
    if (i < count)
      snprintf(text, sizeof text, "%s", words[i]);
    else if (i % 7 == 0) /* half of an odd number of 54 bits */
      snprintf(text, sizeof text, "%llu.5",
               (unsigned long long)((1LL << 52) + (int64_t)(fabs(number) * 1e3) % 10000));
    else
      snprintf(text, sizeof text, formats[i % 5], number);
    double value;
    int64_t whole;
    const double expected = strtod(text, &end);
    assert_ptr_equal(tesi_gmsh_parse_number(text, &value), end);
    if (memcmp(&value, &expected, sizeof value))
      fail_msg("%s is %.17g, and is read as %.17g", text, expected, value);
    const int64_t integer = strtoll(text, &end, 10);
    assert_ptr_equal(tesi_gmsh_parse_integer(text, &whole), end);
    assert_true(whole == integer);
  }
}

int main(void) {
  assert_int_equal(tes_context_create(&(TesContextDesc){.log = keep_warning}, &ctx, NULL, 0), TES_OK);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_formats),       cmocka_unit_test(test_damage),
      cmocka_unit_test(test_refusals),      cmocka_unit_test(test_shared_edges),
      cmocka_unit_test(test_other_formats), cmocka_unit_test(test_partitions),
      cmocka_unit_test(test_periodic),      cmocka_unit_test(test_split),
      cmocka_unit_test(test_left_handed),   cmocka_unit_test(test_warnings_and_dim),
      cmocka_unit_test(test_numbers)};
  const int failures = cmocka_run_group_tests(tests, NULL, NULL);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
  return failures;
}
