/* Spaces over meshes of all kinds for the tests of loads, boundary values, errors and values: boxes with cells of
 * any widths, deformed ones, forests with hanging nodes, materials and curved cells. */
#ifndef TESI_FUNCTIONAL_TESTING_H
#define TESI_FUNCTIONAL_TESTING_H

#include "forest_testing.h"
#include "space/space.h"
#include "tessera/functional.h"

typedef enum TestKind { TEST_BOX, TEST_CELLS, TEST_LATTICE, TEST_BALL, TEST_UNIT } TestKind;

/* natural: bits of the boundaries without given values. */
typedef struct TestCase {
  TestKind kind;
  int dim, degree;
  unsigned natural;
  int cells; /* a box: along x; a forest: about as many in all */
} TestCase;

typedef struct TestPlace {
  TesContext *ctx;
  TestCase is;
  TesMesh *mesh;
  TesSpace *space;
  int boundaries;
  int64_t length, cells;
} TestPlace;

static inline TesMesh *test_place_box(TesContext *ctx, const TestCase *is) {
  TesMesh *mesh;
  double x[3][64];
  const int cells[3] = {is->cells, 3, 2};
  TesMeshDesc box = {.dim = is->dim, .seed = 3};
  uint64_t seed = 17;
  if (is->kind == TEST_CELLS) box.kind = TES_MESH_CELLS, box.perturbation = 0.2, box.shuffle = 7;
  for (int d = 0; d < is->dim; d++) {
    box.cells[d] = cells[d], box.coordinates[d] = x[d], x[d][0] = -0.25;
    for (int i = 0; i < cells[d]; i++) x[d][i + 1] = x[d][i] + (1 + 0.4 * test_random(&seed)) / cells[d];
  }
  assert_ok(ctx, tes_mesh_create(ctx, &box, &mesh));
  return mesh;
}

static inline TesMesh *test_place_forest(TesContext *ctx, const TestCase *is) {
  uint64_t seed = 5;
  TesMesh *forest = NULL;
  const TesMeshDesc unit = {.dim = is->dim, .kind = TES_MESH_FOREST, .geometry_degree = 1};
  if (is->kind == TEST_BALL)
    forest = test_ball(ctx, is->dim);
  else if (is->kind == TEST_UNIT)
    assert_ok(ctx, tes_mesh_create(ctx, &unit, &forest));
  else
    test_lattice(ctx, is->dim, (const int[3]){2, 2, 1}, 0.15, &seed, &forest);
  test_refine(ctx, &seed, 0.3, is->cells, &forest);
  test_set_geometry(forest, is->kind == TEST_BALL ? 3 : 1);
  return forest;
}

/* Takes the mesh over. */
static inline TestPlace test_place_on(TesContext *ctx, const TestCase *is, TesMesh *mesh) {
  TestPlace p = {.ctx = ctx, .is = *is, .mesh = mesh, .boundaries = tes_mesh_boundaries(mesh)};
  uint8_t given[16];
  for (int b = 0; b < p.boundaries; b++) given[b] = !(is->natural >> b & 1);
  const TesSpaceDesc desc = {.mesh = mesh, .degree = is->degree, .given = given};
  assert_ok(ctx, tes_space_create(ctx, &desc, &p.space));
  p.length = tes_space_length(p.space);
  p.cells = tes_mesh_info(mesh).cells;
  return p;
}

static inline TestPlace test_place(TesContext *ctx, const TestCase *is) {
  return test_place_on(ctx, is, (is->kind <= TEST_CELLS ? test_place_box : test_place_forest)(ctx, is));
}

static inline void test_place_free(TestPlace *p) {
  tes_space_destroy(&p->space);
  tes_mesh_destroy(&p->mesh);
}

/* Coordinates of the nodes, x[length][3]. */
static inline double *test_place_nodes(const TestPlace *p) {
  const size_t n = (size_t)p->length, dim = (size_t)p->is.dim;
  double *x = test_calloc(3 * n, sizeof *x), *packed = test_malloc(dim * n * sizeof *packed);
  assert_ok(p->ctx, tes_space_coordinates(p->space, packed));
  for (size_t i = 0; i < n; i++) memcpy(x + 3 * i, packed + dim * i, dim * sizeof *x);
  test_free(packed);
  return x;
}

/* A vector with the values of a function at the nodes; f NULL: NaN, for what is to be written. */
static inline TesVector *test_place_vector(const TestPlace *p, const TesFunction *f) {
  TesVector *v;
  double *x = test_place_nodes(p), *values = test_malloc((size_t)p->length * sizeof *values);
  for (int64_t i = 0; i < p->length; i++) {
    values[i] = NAN;
    if (f)
      assert_ok(p->ctx, tes_function_evaluate(f, 1, x + 3 * i, x + 3 * i + 1, x + 3 * i + 2, 0, &values[i]));
  }
  assert_ok(p->ctx, tes_vector_create(p->ctx, p->length, TES_DOUBLE, &v));
  assert_ok(p->ctx, tes_vector_set(v, values));
  test_free(x), test_free(values);
  return v;
}

static inline TesFunction *test_expression(TesContext *ctx, const char *text) {
  TesFunction *f;
  assert_ok(ctx, tes_function_create_expression(ctx, text, &f));
  return f;
}

/* max |a - b| <= tolerance max |b|; a NaN fails. */
static inline void test_close(const double *a, const double *b, int64_t n, double tolerance,
                              const TestCase *is, const char *what) {
  double largest = 0, error = 0;
  for (int64_t i = 0; i < n; i++) {
    largest = test_larger(largest, fabs(b[i]));
    error = test_larger(error, fabs(a[i] - b[i]));
  }
  if (!(error <= tolerance * largest))
    fail_msg("%s: error %.3g of %.3g; kind %d dim %d degree %d natural %x", what, error, largest,
             (int)is->kind, is->dim, is->degree, is->natural);
}

#endif
