/* Forests: refinement, coarsening, relations, boundaries, the built-in domains, what is refused, memory that runs
 * out. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <stdio.h>
#include "failing_allocator.h"
#include "forest_testing.h"
#include "mesh/forest/forest.h"

static TesContext *ctx;

/* Area or volume, from |J| by central differences at 4^dim midpoints a cell. */
static double measure(const TesMesh *f) {
  enum { N = 4 };
  const int dim = tes_mesh_info(f).dim;
  double sum = 0;
  for (int64_t cell = 0; cell < tes_mesh_info(f).cells; cell++)
    for (int p = 0; p < (dim == 2 ? N * N : N * N * N); p++) {
      const double h = 1e-3;
      double J[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
             at[3] = {(p % N + 0.5) / N, (p / N % N + 0.5) / N, (p / N / N + 0.5) / N};
      for (int c = 0; c < dim; c++) {
        double plus[3], minus[3];
        at[c] += h;
        tesi_mesh_map(f, cell, 1, at, plus);
        at[c] -= 2 * h;
        tesi_mesh_map(f, cell, 1, at, minus);
        at[c] += h;
        for (int r = 0; r < dim; r++) J[r][c] = (plus[r] - minus[r]) / (2 * h);
      }
      const double det = J[0][0] * (J[1][1] * J[2][2] - J[1][2] * J[2][1]) -
                         J[0][1] * (J[1][0] * J[2][2] - J[1][2] * J[2][0]) +
                         J[0][2] * (J[1][0] * J[2][1] - J[1][1] * J[2][0]);
      assert_true(det > 0);
      sum += det / pow(N, dim);
    }
  return sum;
}

/* Boundary faces by the number of their names. */
static void count_boundary(const TesMesh *f, int64_t count[8]) {
  for (int i = 0; i < 8; i++) count[i] = 0;
  for (int64_t c = 0; c < tes_mesh_info(f).cells; c++)
    for (int face = 0, name; face < 2 * tes_mesh_info(f).dim; face++)
      if (tes_mesh_on_boundary(f, c, face, &name)) count[1 + name]++;
}

static void test_domains(void **state) {
  (void)state;
  const double pi = 4 * atan(1), cylinder = pi * 0.05 * 0.05;
  const struct {
    TesMeshDesc desc;
    int64_t trees, boundary[8]; /* unnamed, then by number, of the trees */
    double measure;
  } domains[] = {
      {{.domain = TES_DOMAIN_BOX, .dim = 2, .cells = {3, 2}}, 6, {0, 2, 2, 3, 3}, 1},
      {{.domain = TES_DOMAIN_BOX, .cells = {3, 2, 1}, .upper = {3, 2, 2}}, 6, {0, 2, 2, 3, 3, 6, 6}, 12},
      {{.domain = TES_DOMAIN_BOX, .cells = {3, 2, 1}, .periodic = {true, false, true}}, 6, {0, 0, 0, 3, 3}, 1},
      {{.domain = TES_DOMAIN_BALL, .dim = 2, .radius = 2}, 5, {0, 4}, 4 * pi},
      {{.domain = TES_DOMAIN_BALL}, 7, {0, 6}, 4 * pi / 3},
      {{.domain = TES_DOMAIN_SHELL, .dim = 2}, 8, {0, 8, 8}, pi * 0.75},
      {{.domain = TES_DOMAIN_SHELL, .inner_radius = 0.25}, 6, {0, 6, 6}, 4 * pi / 3 * (1 - 1.0 / 64)},
      {{.domain = TES_DOMAIN_L_SHAPE, .dim = 2}, 3, {0, 6, 2}, 3},
      {{.domain = TES_DOMAIN_L_SHAPE}, 3, {0, 6, 2, 3, 3}, 3},
      {{.domain = TES_DOMAIN_FICHERA, .dim = 2}, 3, {0, 6, 2}, 3},
      {{.domain = TES_DOMAIN_FICHERA}, 7, {0, 21, 3}, 7},
      {{.domain = TES_DOMAIN_CHANNEL, .dim = 2}, 34, {0, 2, 2, 22, 8}, 2.2 * 0.41 - cylinder},
      {{.domain = TES_DOMAIN_CHANNEL}, 68, {0, 4, 4, 108, 16}, 0.41 * (2.5 * 0.41 - cylinder)},
  };
  for (size_t i = 0; i < sizeof domains / sizeof *domains; i++) {
    TesMesh *trees, *finer;
    TesMeshDesc desc = domains[i].desc;
    int64_t boundary[8];
    assert_ok(ctx, tes_mesh_create(ctx, &desc, &trees));
    desc.refine = 2;
    assert_ok(ctx, tes_mesh_create(ctx, &desc, &finer));
    const int dim = tes_mesh_info(trees).dim;
    if (desc.domain != TES_DOMAIN_CHANNEL) assert_int_equal(tes_mesh_info(trees).trees, domains[i].trees);
    assert_int_equal(tes_mesh_info(finer).cells, tes_mesh_info(trees).trees << (2 * dim));
    count_boundary(trees, boundary);
    for (int b = 0; b < 8 && desc.domain != TES_DOMAIN_CHANNEL; b++)
      assert_int_equal(boundary[b], domains[i].boundary[b]);
    assert_int_equal(boundary[0], 0);
    assert_int_equal(tesi_mesh_unnamed(trees, NULL, NULL), 0);
    for (int b = 1; b <= tes_mesh_boundaries(trees); b++) {
      int64_t fine[8];
      count_boundary(finer, fine);
      assert_int_equal(fine[b], boundary[b] << (2 * (dim - 1)));
    }
    assert_near(measure(finer), domains[i].measure, 1e-2 * domains[i].measure);
    tes_mesh_destroy(&trees);
    tes_mesh_destroy(&finer);
  }
}

/* Curved boundaries: vertices of leaves lie on the sphere, the cylinder. */
static void test_curved(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; dim++) {
    TesMesh *f;
    int64_t seen = 0;
    const double centre[3] = {0.5, -0.25, 0.125};
    assert_ok(ctx, tes_mesh_create(ctx,
                                   &(TesMeshDesc){.domain = TES_DOMAIN_BALL,
                                                  .dim = dim,
                                                  .refine = 2,
                                                  .radius = 3,
                                                  .centre = {centre[0], centre[1], centre[2]}},
                                   &f));
    for (int64_t c = 0; c < tes_mesh_info(f).cells; c++)
      for (int face = 0; face < 2 * dim; face++) {
        double xi[3] = {0.3, 0.3, 0.3}, x[3], r = 0;
        if (!tes_mesh_on_boundary(f, c, face, NULL)) continue;
        xi[face / 2] = face & 1;
        tesi_mesh_map(f, c, 1, xi, x);
        for (int d = 0; d < dim; d++) r += (x[d] - centre[d]) * (x[d] - centre[d]);
        assert_near(sqrt(r), 3, 1e-12);
        seen++;
      }
    assert_int_equal(seen, dim == 2 ? 16 : 96);
    tes_mesh_destroy(&f);
  }
}

/* Level differences over any shared point: corners of all cells, by position. */
static bool is_balanced(const TesMesh *f) {
  const int dim = tes_mesh_info(f).dim;
  const int64_t n = tes_mesh_info(f).cells;
  const int8_t *level = tes_mesh_info(f).levels;
  for (int64_t a = 0; a < n; a++)
    for (int64_t b = 0; b < n; b++) {
      double p[3], q[3];
      if (level[a] - level[b] < 2) continue;
      tesi_mesh_origin(f, a, p);
      tesi_mesh_origin(f, b, q);
      bool touch = true;
      for (int d = 0; d < dim; d++)
        touch = touch && p[d] <= q[d] + ldexp(1, -level[b]) && q[d] <= p[d] + ldexp(1, -level[a]);
      if (touch) return false;
    }
  return true;
}

/* What the marks ask for happens; relations say what happened, both ways; coarsening ends at the trees. */
static void test_adapt_and_relate(void **state) {
  (void)state;
  uint64_t seed = 5;
  for (int trial = 0; trial < 20; trial++) {
    const int dim = 2 + trial % 2;
    TesMesh *f;
    assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.kind = TES_MESH_FOREST, .dim = dim, .refine = 1}, &f));
    for (int pass = 0; pass < 4; pass++) {
      const int64_t cells = tes_mesh_info(f).cells;
      int8_t *mark = calloc((size_t)cells, 1);
      for (int64_t c = 0; c < cells; c++) mark[c] = cells > 300 ? 0 : (int8_t)(test_below(&seed, 4) == 0);
      TesMesh *g;
      assert_ok(ctx, tes_mesh_adapt(f, mark, &g));
      assert_true(is_balanced(g));
      const int64_t fine = tes_mesh_info(g).cells;
      TesRelation *down = calloc((size_t)fine, sizeof *down), *up = calloc((size_t)cells, sizeof *up);
      assert_ok(ctx, tes_mesh_relate(f, g, down));
      assert_ok(ctx, tes_mesh_relate(g, f, up));
      for (int64_t c = 0; c < fine; c++) {
        double p[3], q[3];
        const int64_t from = down[c].from;
        tesi_mesh_origin(g, c, p);
        tesi_mesh_origin(f, from, q);
        const double h = ldexp(1, -tes_mesh_info(f).levels[from]);
        for (int d = 0; d < dim; d++)
          assert_near(p[d], q[d] + (down[c].kinship == TES_KIN_CHILD ? h / 2 * (down[c].child >> d & 1) : 0),
                      0);
        if (down[c].kinship == TES_KIN_SAME) assert_true(mark[from] == 0 && up[from].from == c);
        assert_true(down[c].kinship != TES_KIN_PARENT);
      }
      for (int64_t c = 0; c < cells; c++) {
        if (mark[c] > 0) assert_int_equal(up[c].kinship, TES_KIN_PARENT);
        if (up[c].kinship == TES_KIN_PARENT) assert_int_equal(down[up[c].from + 1].child, 1);
      }
      free(down);
      free(up);
      free(mark);
      tes_mesh_destroy(&f);
      f = g;
    }
    for (TesMesh *coarse; f; f = coarse) {
      assert_ok(ctx, tes_mesh_coarsen(f, &coarse));
      assert_true(is_balanced(f));
      if (!coarse) assert_int_equal(tes_mesh_info(f).max_level, 0);
      if (coarse) assert_true(tes_mesh_info(coarse).max_level == tes_mesh_info(f).max_level - 1);
      tes_mesh_destroy(&f);
    }
  }
}

/* g has the leaves of a forest of p4est, which is destroyed. */
static void assert_leaves_of(const TesMesh *f, void *balanced, const TesMesh *g) {
  assert_int_equal(f->p4est->cells(balanced), tes_mesh_info(g).cells);
  TesiLeaves l = {.cells = tes_mesh_info(g).cells};
  l.tree = calloc((size_t)l.cells, sizeof *l.tree), l.origin = calloc((size_t)l.cells, 3 * sizeof *l.origin);
  l.level = calloc((size_t)l.cells, 1), l.child = calloc((size_t)l.cells, 1);
  f->p4est->leaves(balanced, &l);
  assert_memory_equal(l.level, g->leaves.level, (size_t)l.cells);
  assert_memory_equal(l.tree, g->leaves.tree, (size_t)l.cells * sizeof *l.tree);
  assert_memory_equal(l.origin, g->leaves.origin, 3 * (size_t)l.cells * sizeof *l.origin);
  f->p4est->destroy(balanced);
  free(l.tree), free(l.origin), free(l.level), free(l.child);
}

/* Marks are closed, and families coarsened, as p4est balances: the same leaves, over trees that meet at faces, edges
 * and vertices, turned and periodic. */
static void compare_with_balance(const TesMeshDesc *desc, uint64_t *seed) {
  TesMesh *f;
  assert_ok(ctx, tes_mesh_create(ctx, desc, &f));
  for (int pass = 0; pass < 5; pass++) {
    const int64_t cells = tes_mesh_info(f).cells;
    int8_t *mark = calloc((size_t)cells, 1);
    TesMesh *g, *coarse;
    for (int64_t c = 0; c < cells; c++)
      mark[c] = test_below(seed, 40 + (uint64_t)cells / 50) == 0 && tes_mesh_info(f).levels[c] < 12;
    mark[test_below(seed, (uint64_t)cells)] = 1;
    assert_ok(ctx, tes_mesh_adapt(f, mark, &g));
    assert_leaves_of(f, f->p4est->adapt(f->forest, mark, false, false), g);
    free(mark);
    tes_mesh_destroy(&f);
    f = g;
    assert_ok(ctx, tes_mesh_coarsen(f, &coarse));
    if (coarse) assert_leaves_of(f, f->p4est->adapt(f->forest, NULL, false, false), coarse);
    tes_mesh_destroy(&coarse);
  }
  tes_mesh_destroy(&f);
}

static void test_closed_marks(void **state) {
  (void)state;
  static const char *const files[] = {"plate", "cylinder", "step", "bracket"};
  uint64_t seed = 11;
  for (int trial = 0; trial < 6; trial++) {
    char path[512];
    for (int dim = 2; dim <= 3; dim++) {
      compare_with_balance(
          &(TesMeshDesc){.domain = TES_DOMAIN_BALL, .dim = dim, .radius = 1, .refine = trial % 2}, &seed);
      compare_with_balance(&(TesMeshDesc){.kind = TES_MESH_FOREST,
                                          .dim = dim,
                                          .cells = {trial + 1, 2, 1},
                                          .periodic = {trial & 1, trial & 2, trial & 4}},
                           &seed);
    }
    if (trial > 3) continue;
    snprintf(path, sizeof path, TESI_SOURCE_DIR "/cases/%s.msh", files[trial]);
    compare_with_balance(&(TesMeshDesc){.file = path, .kind = TES_MESH_FOREST}, &seed);
  }
}

/* Where cells lie in their trees, and the names of a file. */
static void test_places_and_names(void **state) {
  (void)state;
  TesMesh *f;
  int number;
  assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.domain = TES_DOMAIN_BALL, .dim = 2, .refine = 2}, &f));
  for (int64_t c = 0; c < tes_mesh_info(f).cells; c++) {
    assert_int_equal(f->leaves.tree[c], c / 16);
    assert_int_equal(f->leaves.child[c], c % 4);
  }
  tes_mesh_destroy(&f);
  const TesMeshDesc desc = {.domain = TES_DOMAIN_FILE, .dim = 2, .file = TESI_SOURCE_DIR "/cases/plate.msh"};
  assert_ok(ctx, tes_mesh_create(ctx, &desc, &f));
  assert_ok(ctx, tes_mesh_find_material(f, "sleeve", &number));
  assert_string_equal(tes_mesh_material_name(f, number), "sleeve");
  assert_string_not_equal(tes_mesh_material_name(f, !number), "sleeve");
  tes_mesh_destroy(&f);
}

static void test_coarsening_marks(void **state) {
  (void)state;
  TesMesh *f, *g;
  TesRelation relation[13];
  int8_t mark[16];
  memset(mark, -1, sizeof mark);
  mark[5] = 0; /* the second family stays */
  assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.kind = TES_MESH_FOREST, .dim = 2, .refine = 2}, &f));
  assert_ok(ctx, tes_mesh_adapt(f, mark, &g));
  assert_int_equal(tes_mesh_info(g).cells, 7);
  assert_ok(ctx, tes_mesh_relate(f, g, relation));
  assert_int_equal(relation[0].kinship, TES_KIN_PARENT);
  assert_int_equal(relation[1].kinship, TES_KIN_SAME);
  assert_int_equal(relation[1].from, 4);
  tes_mesh_destroy(&f);
  assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.domain = TES_DOMAIN_BALL, .dim = 2}, &f));
  assert_int_equal(tes_mesh_relate(f, g, relation), TES_INVALID_INPUT);
  tes_context_clear(ctx);
  tes_mesh_destroy(&f);
  tes_mesh_destroy(&g);
}

/* Leaves make the same forest again; wrong ones are refused. */
static void test_rebuild(void **state) {
  (void)state;
  uint64_t seed = 9;
  for (int dim = 2; dim <= 3; dim++) {
    TesMesh *f, *g;
    assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.domain = TES_DOMAIN_SHELL, .dim = dim}, &f));
    for (int pass = 0; pass < 3; pass++) test_adapt(ctx, &seed, 0.3, 0, 200, &f);
    TesiLeaves leaves = f->leaves;
    assert_ok(ctx, tesi_forest_rebuild(ctx, f->coarse, 0, &leaves, &g));
    assert_int_equal(g->leaves.cells, leaves.cells);
    assert_memory_equal(g->leaves.level, leaves.level, (size_t)leaves.cells);
    assert_memory_equal(g->leaves.origin, leaves.origin, (size_t)leaves.cells * 3 * sizeof *leaves.origin);
    tes_mesh_destroy(&g);
    leaves.cells--;
    assert_int_equal(tesi_forest_rebuild(ctx, f->coarse, 0, &leaves, &g), TES_INVALID_INPUT);
    tes_context_clear(ctx);
    tes_mesh_destroy(&f);
  }
}

static void test_refusals(void **state) {
  (void)state;
  static const int32_t two[8] = {0, 1, 2, 3, 1, 0, 3, 2};
  static const double square[16] = {0, 0, 1, 0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 0, 1};
  static const double flat[8] = {0, 0, 1, 0, 2, 0, 3, 0}, left[8] = {1, 0, 0, 0, 1, 1, 0, 1};
  const struct {
    TesMeshDesc desc;
    TesStatus status;
    const char *message;
  } bad[] = {
      {{.dim = 4}, TES_INVALID_INPUT, "dim is 4"},
      {{.domain = (TesDomain)99}, TES_INVALID_INPUT, "domain is 99"},
      {{.cells = {-1}}, TES_INVALID_INPUT, "-1 cells in direction x"},
      {{.lower = {1}, .upper = {1}}, TES_INVALID_INPUT, "reversed"},
      {{.refine = 19}, TES_INVALID_INPUT, "19 uniform refinements, expected 0..18"},
      {{.refine = 18}, TES_OUT_OF_MEMORY, "2^31 - 1"},
      {{.domain = TES_DOMAIN_BALL, .radius = -1}, TES_INVALID_INPUT, "radius is -1"},
      {{.domain = TES_DOMAIN_SHELL, .inner_radius = 2}, TES_INVALID_INPUT, "inner radius is 2"},
      {{.domain = TES_DOMAIN_CHANNEL, .cylinder_radius = 0.3}, TES_INVALID_INPUT, "does not fit"},
      {{.domain = TES_DOMAIN_FILE}, TES_INVALID_INPUT, "needs a name"},
      {{.domain = TES_DOMAIN_FILE, .file = "/no/such.msh"}, TES_IO, "/no/such.msh"},
      {{.domain = TES_DOMAIN_CELLS}, TES_INVALID_INPUT, "needs trees"},
      {{.domain = TES_DOMAIN_CELLS,
        .dim = 2,
        .trees = &(TesCellsDesc){.trees = 1, .nodes = flat, .vertices = two}},
       TES_INVALID_INPUT,
       "tree 0 is inverted or degenerate"},
      {{.domain = TES_DOMAIN_CELLS,
        .dim = 2,
        .trees = &(TesCellsDesc){.trees = 1, .nodes = left, .vertices = two}},
       TES_INVALID_INPUT,
       "tree 0 is inverted or degenerate: |J| = -1"},
      {{.domain = TES_DOMAIN_CELLS,
        .dim = 2,
        .trees =
            &(TesCellsDesc){.trees = 1, .nodes = square, .vertices = two, .boundary = two, .boundaries = 1}},
       TES_INVALID_INPUT,
       "boundary 1, expected -1..0"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    TesMesh *f;
    TesMeshDesc desc = bad[i].desc;
    desc.kind = TES_MESH_FOREST;
    tes_context_clear(ctx);
    assert_int_equal(tes_mesh_create(ctx, &desc, &f), bad[i].status);
    if (!strstr(tes_context_message(ctx), bad[i].message))
      fail_msg("%s\nis not\n%s", tes_context_message(ctx), bad[i].message);
    assert_null(f);
  }
  tes_context_clear(ctx);
  if (tes_memory_available() == SIZE_MAX) return; /* unknown here */
  assert_int_equal(tesi_forest_afford(ctx, (int64_t)1 << 60, "a forest", 7), TES_OUT_OF_MEMORY);
  assert_non_null(strstr(tes_context_message(ctx), "a forest of 7 cells needs about 1073741824.0 GiB"));
  tes_context_clear(ctx);
}

/* Cubes of a lattice that hang together by a vertex or an edge alone: p4est would read beside its arrays (a vertex,
 * three squares) or leave cells unbalanced. */
static void test_pinched(void **state) {
  (void)state;
  static const struct {
    int dim, trees;
    const char *at[10], *message;
  } rows[] = {
      {2, 3, {"000", "110", "210"}, "meet at a vertex"},
      {2, 3, {"000", "010", "110"}, NULL},
      {3, 3, {"000", "001", "111"}, "meet at a vertex"},
      {3, 10, {"000", "100", "010", "110", "001", "111", "002", "102", "012", "112"}, "meet at an edge"},
      {3, 9, {"000", "100", "010", "110", "001", "002", "102", "012", "112"}, NULL}};
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    const int dim = rows[r].dim;
    double nodes[10 * 8 * 3];
    int32_t vertices[10 * 8];
    TesMesh *f;
    for (int i = 0; i < rows[r].trees << dim; i++) {
      int number = 0;
      for (int d = dim - 1; d >= 0; d--) {
        const int x = rows[r].at[i >> dim][d] - '0' + (i >> d & 1);
        nodes[i * dim + d] = x;
        number = 4 * number + x;
      }
      vertices[i] = number;
    }
    const TesMeshDesc desc = {
        .domain = TES_DOMAIN_CELLS,
        .dim = dim,
        .trees = &(TesCellsDesc){.trees = rows[r].trees, .nodes = nodes, .vertices = vertices}};
    if (!rows[r].message) {
      TesMesh *coarse;
      assert_ok(ctx, tes_mesh_create(ctx, &desc, &f));
      assert_ok(ctx, tes_mesh_coarsen(f, &coarse));
      tes_mesh_destroy(&f);
      continue;
    }
    assert_int_equal(tes_mesh_create(ctx, &desc, &f), TES_INVALID_INPUT);
    if (!strstr(tes_context_message(ctx), rows[r].message))
      fail_msg("%s\nis not\n%s", tes_context_message(ctx), rows[r].message);
    tes_context_clear(ctx);
  }
}

static TesStatus make_and_adapt(TesContext *context, void *user) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesMesh *f = NULL, *g = NULL, *coarse = NULL;
  TesSpace *space = NULL;
  int8_t mark[64] = {1, 0, 1};
  TES_TRY(tes_mesh_create(ctx, user, &f));
  TES_TRY(tes_mesh_adapt(f, mark, &g));
  TES_TRY(tes_mesh_coarsen(g, &coarse));
  TES_TRY(tes_space_create(ctx, &(TesSpaceDesc){.mesh = g, .degree = 2}, &space));
done:
  tes_space_destroy(&space);
  tes_mesh_destroy(&coarse);
  tes_mesh_destroy(&g);
  tes_mesh_destroy(&f);
  return status;
}

static void test_allocations(void **state) {
  (void)state;
  TesMeshDesc ball = {.domain = TES_DOMAIN_BALL}, box = {.dim = 2, .cells = {2, 1}, .periodic = {true}},
              file = {.domain = TES_DOMAIN_FILE,
                      .file = TESI_SOURCE_DIR "/tests/fuzz/corpus/mesh/block-2-msh41.msh"};
  assert_true(allocations_fail(make_and_adapt, &ball, 0) > 10);
  assert_true(allocations_fail(make_and_adapt, &box, 0) > 10);
  assert_true(allocations_fail(make_and_adapt, &file, 0) > 10);
}

/* A process that is ended by a signal after MPI began says nothing: Open MPI would print a backtrace. */
static void no_backtraces(void **state) {
  (void)state;
  int ends[2], status;
  char text[256];
  assert_int_equal(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    tesi_p4est(2);
    raise(SIGABRT);
    _exit(0);
  }
  close(ends[1]);
  const ssize_t length = read(ends[0], text, sizeof text - 1);
  assert_in_range(length, 0, sizeof text - 1);
  text[length] = 0;
  assert_string_equal(text, "");
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  close(ends[0]);
}

int main(void) {
  assert_int_equal(tes_context_create(NULL, &ctx, NULL, 0), TES_OK);
  if (!test_has_forests(ctx)) {
    print_message("built without p4est\n");
    tes_context_destroy(&ctx);
    return 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_domains),          cmocka_unit_test(test_curved),
      cmocka_unit_test(test_adapt_and_relate), cmocka_unit_test(test_closed_marks),
      cmocka_unit_test(test_coarsening_marks), cmocka_unit_test(test_places_and_names),
      cmocka_unit_test(test_rebuild),          cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_pinched),          cmocka_unit_test(test_allocations),
      cmocka_unit_test(no_backtraces)};
  const int failures = cmocka_run_group_tests(tests, NULL, NULL);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
  return failures;
}
