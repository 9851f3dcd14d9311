/* Random forests for tests: lattices of trees in random orientations, built-in domains, boxes; random refinement. */
#ifndef TESI_FOREST_TESTING_H
#define TESI_FOREST_TESTING_H

#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "space/space.h"
#include "tessera/tessera.h"
#include "testing.h"

static inline int test_below(uint64_t *seed, int n) {
  return (int)((test_random(seed) + 1) / 2 * n) % n;
}

/* Skips the test where forests cannot be made; false then. */
static inline bool test_has_forests(TesContext *ctx) {
  TesMesh *forest;
  const TesStatus status = tes_mesh_create(ctx, &(TesMeshDesc){.kind = TES_MESH_FOREST, .dim = 2}, &forest);
  tes_mesh_destroy(&forest);
  tes_context_clear(ctx);
  return status != TES_MISSING;
}

/* A random symmetry of the cube with determinant 1: new direction d is old direction axis[d], reversed where
 * flip[d]. */
static inline void test_orientation(uint64_t *seed, int dim, int axis[3], int flip[3]) {
  int odd = 0;
  for (int d = 0; d < 3; d++) axis[d] = d, flip[d] = 0;
  for (int d = dim - 1; d > 0; d--) {
    const int e = test_below(seed, d + 1), swap = axis[d];
    axis[d] = axis[e];
    axis[e] = swap;
    odd ^= e != d;
  }
  for (int d = 0; d < dim; d++) odd ^= flip[d] = test_below(seed, 2);
  flip[0] ^= odd;
}

/* A lattice of n[d] trees with vertices moved by up to `shake` of an edge, in random orientations, then stretched;
 * boundary 0 "low" at x = 0, 1 "rest"; materials 0 "one", 1 "two" and none in turn. */
static inline void test_stretched_lattice(TesContext *ctx, int dim, const int n[3], double shake,
                                          const double stretch[3], uint64_t *seed, TesMesh **forest) {
  enum { MOST = 64 };
  double nodes[MOST * 8 * 3], vertex[4 * 4 * 4][3];
  int32_t vertices[MOST * 8], boundary[MOST * 6], material[MOST];
  const int nz = dim == 3 ? n[2] : 1, trees = n[0] * n[1] * nz;
  for (int v = 0; v < 64; v++)
    for (int d = 0; d < dim; d++)
      vertex[v][d] = stretch[d] * ((const int[3]){v % 4, v / 4 % 4, v / 16}[d] + shake * test_random(seed));
  for (int t = 0; t < trees; t++) {
    const int at[3] = {t % n[0], t / n[0] % n[1], t / n[0] / n[1]};
    int axis[3], flip[3];
    test_orientation(seed, dim, axis, flip);
    material[t] = (t + 1) % 3 - 1;
    for (int v = 0; v < 1 << dim; v++) {
      int i[3] = {at[0], at[1], at[2]};
      for (int d = 0; d < dim; d++) i[axis[d]] += (v >> d & 1) ^ flip[d];
      const int number = i[0] + 4 * i[1] + 16 * (dim == 3 ? i[2] : 0);
      vertices[(t << dim) + v] = number;
      memcpy(nodes + ((t << dim) + v) * dim, vertex[number], (size_t)dim * sizeof(double));
    }
    for (int f = 0; f < 2 * dim; f++)
      boundary[t * 2 * dim + f] = axis[f / 2] == 0 && ((f & 1) ^ flip[f / 2]) == 0 && at[0] == 0 ? 0 : 1;
  }
  static const char *const names[] = {"low", "rest"}, *const materials[] = {"one", "two"};
  const TesCellsDesc cells = {.trees = trees,
                              .nodes = nodes,
                              .vertices = vertices,
                              .boundary = boundary,
                              .boundaries = 2,
                              .boundary_names = names,
                              .material = material,
                              .materials = 2,
                              .material_names = materials};
  assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.domain = TES_DOMAIN_CELLS, .dim = dim, .trees = &cells},
                                 forest));
}

static inline void test_lattice(TesContext *ctx, int dim, const int n[3], double shake, uint64_t *seed,
                                TesMesh **forest) {
  test_stretched_lattice(ctx, dim, n, shake, (const double[3]){1, 1, 1}, seed, forest);
}

/* Replaces the forest by one whose cells were refined, or coarsened, with these probabilities, where it has less
 * than `most` cells. */
static inline void test_adapt(TesContext *ctx, uint64_t *seed, double refine, double coarsen, int64_t most,
                              TesMesh **forest) {
  const int64_t cells = tes_mesh_info(*forest).cells;
  int8_t *mark = calloc((size_t)cells, 1);
  TesMesh *adapted;
  for (int64_t c = 0; c < cells; c++) {
    const double r = (test_random(seed) + 1) / 2;
    mark[c] = r < refine && cells < most ? 1 : r > 1 - coarsen ? -1 : 0;
  }
  assert_ok(ctx, tes_mesh_adapt(*forest, mark, &adapted));
  free(mark);
  tes_mesh_destroy(forest);
  *forest = adapted;
}

/* Refined at random until there are so many cells. */
static inline void test_refine(TesContext *ctx, uint64_t *seed, double part, int64_t cells, TesMesh **forest) {
  do test_adapt(ctx, seed, part, 0, cells, forest);
  while (tes_mesh_info(*forest).cells < cells);
}

static inline TesMesh *test_ball(TesContext *ctx, int dim) {
  TesMesh *forest;
  assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.domain = TES_DOMAIN_BALL, .dim = dim}, &forest));
  return forest;
}

/* The mesh gets another geometry, before anything was made over it. */
static inline void test_set_geometry(TesMesh *mesh, int degree) {
  tesi_geometry_destroy(&mesh->geometry);
  mesh->geometry_degree = degree;
}

static inline const TesiGeometry *test_geometry(TesContext *ctx, const TesMesh *mesh) {
  const TesiGeometry *geometry;
  assert_ok(ctx, tesi_mesh_geometry(mesh, &geometry));
  return geometry;
}

/* given[boundaries] by the names, NULL behind the last; names NULL: everywhere. */
static inline const uint8_t *test_given(TesContext *ctx, const TesMesh *mesh, const char *const *names,
                                        uint8_t given[16]) {
  memset(given, 0, 16);
  for (int i = 0, number; names && names[i]; i++) {
    assert_ok(ctx, tes_mesh_find_boundary(mesh, names[i], &number));
    given[number] = 1;
  }
  return names ? given : NULL;
}

/* A forest with a space and cells of a degree on it. */
typedef struct TestMesh {
  TesMesh *forest;
  TesSpace *space;
} TestMesh;

/* Takes the forest over. dirichlet: names, NULL behind the last; NULL: everywhere. */
static inline TestMesh test_mesh(TesContext *ctx, TesMesh *forest, int degree, int cell_degree,
                                 const char *const *dirichlet) {
  TestMesh m = {.forest = forest};
  uint8_t given[16];
  test_set_geometry(forest, cell_degree);
  const TesSpaceDesc desc = {
      .mesh = forest, .degree = degree, .given = test_given(ctx, forest, dirichlet, given)};
  assert_ok(ctx, tes_space_create(ctx, &desc, &m.space));
  test_geometry(ctx, forest);
  return m;
}

static inline void test_mesh_free(TestMesh *m) {
  tes_space_destroy(&m->space);
  tes_mesh_destroy(&m->forest);
}

#endif
