/* Run: ctest -R t7_estimate. Residuals of eight cells and faces at a time against residuals point by point: random
 * forests of trees in random orientations, curved cells, hanging faces, balls, boxes, two materials; scalars with
 * numbers and matrices as coefficients, transport in both forms, elasticity with thermal stress, flows, terms in time.
 * The sums over cells do not depend on the number of threads. Labels: simd */
#include "forest_testing.h"
#include "residual_ref.h"

static TesContext *ctx;

/* The largest difference of v[fields][points] of a cell from a lane of the batch; *largest: of the values. */
static double differ(const TesiResidualAt *at, int lane, int fields, const double *v, const double *batch,
                     double *largest) {
  double error = 0;
  for (int64_t i = 0; i < fields * at->points; i++) {
    *largest = test_larger(*largest, fabs(v[i]));
    error = test_larger(error, fabs(v[i] - batch[i * TESI_LANES + lane]));
  }
  return error;
}

typedef struct Compared {
  double error, largest;
} Compared;

static void compare_cells(const TesiResidual *s, TesiResidualAt *at, Compared *of) {
  static double r[3 * TESI_CELL_POINTS], weight[TESI_CELL_POINTS], divergence[TESI_CELL_POINTS];
  int64_t met = 0;
  for (int64_t b = 0; b < s->cells.batches; b++) {
    double unit = 0;
    for (int64_t i = 0; i < 3 * TESI_LANES * s->rule.points && i < 1000; i++) at->spare[0][i] = NAN;
    tesi_residual_cells(at, b);
    for (int l = 0; l < TESI_LANES; l++) {
      met += l < at->count;
      ref_cell(ctx, s, at->item[l], r, weight, divergence);
      of->error = test_larger(of->error, differ(at, l, s->components, r, at->r, &of->largest));
      if (s->pressure)
        of->error = test_larger(of->error, differ(at, l, 1, divergence, at->divergence, &of->largest));
      if (l < at->count) assert_near(differ(at, l, 1, weight, at->weight, &unit) / unit, 0, 1e-12);
      for (int64_t i = 0; l >= at->count && i < at->points; i++)
        assert_true(at->weight[i * TESI_LANES + l] == 0);
    }
  }
  assert_int_equal(met, s->space->cells);
}

static void compare_faces(const TesiResidual *s, TesiResidualAt *at, Compared *of, int64_t counts[3]) {
  double j[3 * TESI_FACE_MOST], weight[TESI_FACE_MOST], unit = 0;
  int64_t met = 0;
  for (int64_t b = 0; b < s->faces.batches; b++) {
    const bool counted = tesi_residual_faces(at, b);
    for (int l = 0; l < at->count; l++, met++) {
      const TesiFacePair *pair = &s->pair[at->item[l]];
      assert_int_equal(counted, ref_face(ctx, s, pair, j, weight));
      counts[pair->other < 0 ? 0 : pair->number[0] % 3 ? 2 : 1]++;
      assert_near(differ(at, l, 1, weight, at->weight, &unit) / unit, 0, 1e-12);
      if (counted) of->error = test_larger(of->error, differ(at, l, s->components, j, at->r, &of->largest));
    }
  }
  assert_int_equal(met, s->pairs);
}

/* Residuals of random functions; terms in time are switched on in every other case. */
static void compare(const TesProblem *problem, bool in_time, uint64_t *seed, int64_t counts[3]) {
  TesiResidual *s;
  TesiResidualAt *at;
  Compared cells = {0}, faces = {0};
  assert_ok(ctx, tesi_residual_create(problem, &s));
  const int64_t length = s->components * s->space->length;
  double *rate = in_time ? malloc((size_t)length * sizeof *rate) : NULL;
  for (int64_t i = 0; i < problem->space->length; i++) s->u[i] = test_random(seed);
  for (int64_t i = 0; rate && i < length; i++) rate[i] = test_random(seed);
  s->rate = rate;
  s->carried = s->pressure && in_time;
  if (s->carried) s->alpha = 0.7;
  assert_ok(ctx, tesi_residual_at_create(s, 1, &at));
  compare_cells(s, at, &cells);
  compare_faces(s, at, &faces, counts);
  if (!(cells.error <= 3e-12 * cells.largest))
    fail_msg("residuals differ by %.3g of %.3g", cells.error, cells.largest);
  if (!(faces.error <= 3e-12 * faces.largest))
    fail_msg("jumps differ by %.3g of %.3g", faces.error, faces.largest);
  s->rate = NULL;
  free(rate);
  tesi_residual_at_free(ctx, 1, &at);
  tesi_residual_destroy(ctx, &s);
}

/* Condition i % 2 on boundary i; returns how many. */
static int conditions(const TesMesh *mesh, const TesBoundary *from, TesBoundary *to) {
  const int count = tes_mesh_boundaries(mesh);
  for (int i = 0; i < count; i++) to[i] = from[i % 2], to[i].name = tes_mesh_boundary_name(mesh, i);
  return count;
}

static TesFunction *kept[16];
static int kept_count;

static const TesFunction *expression(const char *text) {
  assert_ok(ctx, tes_function_create_expression(ctx, text, &kept[kept_count]));
  return kept[kept_count++];
}

enum { POISSON, MATRIX, CONVECTIVE, CONSERVATIVE, ELASTIC, FLOW, SYMMETRIC_FLOW, KINDS };

typedef struct Functions {
  const TesFunction *a, *slope, *half, *two, *normal;
  TesFunction *matrix[4]; /* by dim */
} Functions;

static Functions make_functions(void) {
  Functions f = {expression("1 + x*x + 0.5*sin(y + z)"),
                 expression("0.3*x - y"),
                 expression("0.5"),
                 expression("2"),
                 expression("0.3 + x*y + ny"),
                 {NULL}};
  const TesFunction *const three[9] = {f.a, f.half, NULL, f.half, f.two, NULL, NULL, NULL, f.a},
                           *const two[4] = {f.a, f.half, f.half, f.two};
  assert_ok(ctx, tes_function_create_matrix(ctx, 2, two, &f.matrix[2]));
  assert_ok(ctx, tes_function_create_matrix(ctx, 3, three, &f.matrix[3]));
  return f;
}

static void describe(int kind, int dim, const Functions *f, TesProblemDesc *desc) {
  desc->data = (TesData){.a = f->a, .f = {f->slope, f->two, dim == 3 ? f->a : NULL}};
  if (kind < ELASTIC) desc->data.f[1] = desc->data.f[2] = NULL, desc->data.c = f->half;
  if (kind == MATRIX) desc->data.a = f->matrix[dim];
  if (kind == CONVECTIVE) desc->equation = TES_TRANSPORT, desc->data.b[0] = f->a, desc->data.b[1] = f->slope;
  if (kind == CONSERVATIVE)
    desc->equation = TES_TRANSPORT, desc->data.b[0] = f->half, desc->data.b[1] = f->two,
    desc->transport_form = TES_TRANSPORT_CONSERVATIVE;
  if (kind == ELASTIC)
    desc->equation = TES_ELASTICITY, desc->data.lambda = f->two, desc->data.expansion = f->half,
    desc->data.temperature = f->a;
  if (kind >= FLOW) desc->equation = TES_STOKES, desc->element = TES_ELEMENT_Q;
  if (kind >= FLOW) desc->data.a = f->two;
  if (kind == SYMMETRIC_FLOW) desc->flow_form = TES_FLOW_SYMMETRIC;
}

static void make_mesh(int dim, int turn, int degree, uint64_t *seed, TesMesh **mesh) {
  if (turn == 3) { /* affine cells, whole and hanging */
    const TesMeshDesc box = {.kind = TES_MESH_FOREST, .dim = dim, .cells = {2, 1, 1}, .upper = {2, 1.5, 1}};
    assert_ok(ctx, tes_mesh_create(ctx, &box, mesh));
  } else if (turn == 2) {
    assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.domain = TES_DOMAIN_BALL, .dim = dim}, mesh));
  } else {
    test_lattice(ctx, dim, degree > 4 ? (const int[3]){2, 1, 2} : (const int[3]){2, 2, 2}, 0.15, seed, mesh);
  }
  if (turn < 3) test_set_geometry(*mesh, 1 + turn);
  test_adapt(ctx, seed, degree > 5 ? 0.2 : 0.4, 0, degree < 4 ? 60 : 20, mesh);
}

static void residuals(void **state) {
  (void)state;
  if (!test_has_forests(ctx)) skip();
  uint64_t seed = 3;
  int64_t counts[3] = {0};
  Functions f = make_functions();
  const TesMaterial material = {.name = "one", .data = {.a = f.two}};
  for (int dim = 2; dim <= 3; dim++)
    for (int degree = 1; degree <= 8; degree++)
      for (int turn = 0; turn < 4; turn++)
        for (int kind = 0; kind < KINDS; kind++) {
          const bool flow = kind >= FLOW, in_turn = kind == (degree + 2 * turn) % KINDS;
          if (flow && degree == 1) continue;
          if (!in_turn && degree > (dim == 3 ? 2 : 4)) continue;
          const TesBoundary flux = {.condition = TES_NEUMANN, .g = {f.normal, f.half}},
                            spring = {.condition = TES_ROBIN, .alpha = f.a, .g = {f.normal}},
                            held = {.condition = TES_DIRICHLET};
          const TesBoundary boundary[2] = {held, flow || turn == 1 ? flux : spring};
          TesMesh *forest;
          TesProblem *problem;
          TesBoundary boundaries[16];
          make_mesh(dim, turn, degree, &seed, &forest);
          TesProblemDesc desc = {
              .mesh = forest, .degree = degree, .boundary = boundaries, .material = &material};
          desc.boundaries = turn == 2 ? 0 : conditions(forest, boundary, boundaries);
          desc.materials = turn < 2 && !flow && kind != MATRIX;
          describe(kind, dim, &f, &desc);
          assert_ok(ctx, tes_problem_create(ctx, &desc, &problem));
          compare(problem, (turn + kind) % 2, &seed, counts);
          tes_problem_destroy(&problem);
          tes_mesh_destroy(&forest);
        }
  for (int i = 0; i < 3; i++) assert_true(counts[i] > 200); /* on the boundary, whole, hanging */
  for (int i = 0; i < 4; i++) tes_function_destroy(&f.matrix[i]);
  while (kept_count) tes_function_destroy(&kept[--kept_count]);
}

static int setup(void **state) {
  (void)state;
  return tes_context_create(&(TesContextDesc){.device = "cpu", .threads = 1}, &ctx, NULL, 0) != TES_OK;
}

static int teardown(void **state) {
  (void)state;
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(residuals)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
