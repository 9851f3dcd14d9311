/* Run: ctest -R t5_stokes. Stokes over Raviart-Thomas spaces piece by piece: the operator against quadrature, its
 * symmetry and null space; patches against pseudo-inverses of assembled ones. Brief: a third of the ways through
 * patches, small ones.
 * Quick: 1-8
 * Labels: threads simd */
#include <stdio.h>
#include "kernels/stokes_dense.h"
#include "operator/operator.h"
#include "smoother/stokes_patch/stokes_patch.h"
#include "smoother/smoother.h"
#include "context_testing.h"
#include "stokes_flows.h"

static void operator_is_what_quadrature_says(void **state) {
  (void)state;
  for (int i = 0; i < FLOWS; i++)
    for (TesPrecision precision = TES_DOUBLE; precision <= TES_SINGLE; precision++) {
      TesSpace *space = flow_space(ctx, &flows[i]);
      TesOperator *op = flow_operator(ctx, &flows[i], space, precision);
      double *values = flow_random(space, 7 + (uint64_t)i), *other = flow_random(space, 70 + (uint64_t)i);
      TesVector *x = flow_vector(ctx, space, precision, values), *y = flow_vector(ctx, space, precision, NULL),
                *expected = flow_vector(ctx, space, precision, NULL),
                *b = flow_vector(ctx, space, precision, other), *r = flow_vector(ctx, space, precision, NULL);
      const double tolerance = precision == TES_DOUBLE ? 2e-13 : 2e-6;
      assert_ok(ctx, tesi_operator_apply_ref(op, x, expected));
      assert_ok(ctx, tes_operator_apply(op, x, y));
      assert_near(flow_difference(ctx, y, expected), 0, tolerance);
      assert_ok(ctx, tes_operator_residual(op, b, x, r));
      assert_ok(ctx, tes_vector_axpy(1, r, y)); /* b again */
      assert_near(flow_difference(ctx, y, b), 0, 1e3 * tolerance);
      TesVector *vectors[] = {x, y, expected, b, r};
      for (int v = 0; v < 5; v++) tes_vector_destroy(&vectors[v]);
      free(values);
      free(other);
      tes_operator_destroy(&op);
      tes_space_destroy(&space);
    }
}

/* (K x, y) = (x, K y), the diagonal, and K (0, constant) = 0 where no face is open. */
static void operator_is_symmetric(void **state) {
  (void)state;
  for (int i = 0; i < FLOWS; i++) {
    TesSpace *space = flow_space(ctx, &flows[i]);
    TesOperator *op = flow_operator(ctx, &flows[i], space, TES_DOUBLE);
    double *a = flow_random(space, 3), *c = flow_random(space, 4), Kab, Kba, norm, null;
    TesVector *x = flow_vector(ctx, space, TES_DOUBLE, a), *y = flow_vector(ctx, space, TES_DOUBLE, c),
              *Kx = flow_vector(ctx, space, TES_DOUBLE, NULL), *Ky = flow_vector(ctx, space, TES_DOUBLE, NULL);
    assert_ok(ctx, tes_operator_apply(op, x, Kx));
    assert_ok(ctx, tes_operator_apply(op, y, Ky));
    assert_ok(ctx, tes_vector_dot(Kx, y, &Kab));
    assert_ok(ctx, tes_vector_dot(x, Ky, &Kba));
    assert_ok(ctx, tes_vector_norm(Kx, &norm));
    assert_near(Kab, Kba, 1e-12 * norm * sqrt((double)tes_space_length(space)));
    assert_ok(ctx, tes_operator_diagonal(op, Ky));
    assert_ok(ctx, tes_vector_get(Ky, c));
    for (int64_t j = 0; j < tes_space_length(space); j += 17) {
      memset(a, 0, (size_t)tes_space_length(space) * sizeof *a);
      a[j] = 1;
      tesi_rt_clear(space, a);
      const bool known = a[j] == 0;
      assert_ok(ctx, tes_vector_set(x, a));
      assert_ok(ctx, tes_operator_apply(op, x, Kx));
      assert_ok(ctx, tes_vector_get(Kx, a));
      assert_near(c[j], known ? 1 : a[j], 1e-11 * fabs(c[j]));
    }
    assert_int_equal(tes_operator_info(op).singular, strchr(flows[i].given, 'o') == NULL);
    if (op->null) {
      assert_ok(ctx, tes_vector_fill(x, 0));
      TesVector pressure = tesi_operator_null_range(op, x);
      assert_ok(ctx, tes_vector_copy(op->null, 1, &pressure));
      assert_ok(ctx, tes_operator_apply(op, x, Kx));
      assert_ok(ctx, tes_vector_maximum(Kx, &null));
      assert_near(null, 0, 1e-13);
    }
    TesVector *vectors[] = {x, y, Kx, Ky};
    for (int v = 0; v < 4; v++) tes_vector_destroy(&vectors[v]);
    free(a);
    free(c);
    tes_operator_destroy(&op);
    tes_space_destroy(&space);
  }
}

/* Incompatible right-hand sides too: the pseudo-inverse is what is computed. desc.ratio < 0: by the dense inverses of
 * the benches. */
static void compare_with_pseudo_inverses(const Flow *f, TesSmootherDesc desc, TesPrecision precision,
                                         TesSweep sweep) {
  TesSpace *space = flow_space(ctx, f);
  TesOperator *op = flow_operator(ctx, f, space, precision);
  TesSmoother *smoother;
  desc.op = op;
  assert_ok(ctx, desc.ratio < 0 ? bench_stokes_dense_create(ctx, op, &smoother)
                                : tes_smoother_create(ctx, &desc, &smoother));
  double *values = flow_random(space, 5 + (uint64_t)f->degree), *start = flow_random(space, 50);
  TesVector *b = flow_vector(ctx, space, precision, values), *x = flow_vector(ctx, space, precision, start),
            *expected = flow_vector(ctx, space, precision, start);
  const double tolerance = f->degree * (precision == TES_DOUBLE ? 1e-11 : 1e-4);
  assert_ok(ctx, tesi_smoother_apply_ref(smoother, b, expected, sweep, false));
  assert_ok(ctx, tes_smoother_apply(smoother, b, x, sweep, false));
  assert_near(flow_difference(ctx, x, expected), 0, tolerance);
  assert_ok(ctx, tesi_smoother_apply_ref(smoother, b, expected, sweep, true));
  assert_ok(ctx, tes_vector_fill(x, NAN));
  assert_ok(ctx, tes_smoother_apply(smoother, b, x, sweep, true));
  assert_near(flow_difference(ctx, x, expected), 0, tolerance);
  TesVector *vectors[] = {b, x, expected};
  for (int v = 0; v < 3; v++) tes_vector_destroy(&vectors[v]);
  free(values);
  free(start);
  tes_smoother_destroy(&smoother);
  tes_operator_destroy(&op);
  tes_space_destroy(&space);
}

static bool is_large(const Flow *f) {
  TesSpace *space = flow_space(ctx, f);
  const bool large = tes_space_length(space) > 500;
  tes_space_destroy(&space);
  return large;
}

static void patches_are_pseudo_inverses(void **state) {
  (void)state;
  for (int i = 0; i < FLOWS; i++)
    for (int way = 0; way < 16; way++) {
      const TesSmootherDesc desc = {.kind = TES_SMOOTHER_PATCH,
                                    .colours = way / 4 % 2 ? TES_COLOURS_RED_BLACK : TES_COLOURS_PARQUET,
                                    .unfused = way / 8 % 2};
      if (is_large(&flows[i]) ? way % (test_brief() ? 16 : 4) == 0 : !test_brief() || way % 3 == i % 3)
        compare_with_pseudo_inverses(&flows[i], desc, way % 2 ? TES_SINGLE : TES_DOUBLE,
                                     way / 2 % 2 ? TES_BACKWARD : TES_FORWARD);
    }
}

static void dense_patches_are_pseudo_inverses(void **state) {
  (void)state;
  for (int i = 0; i < FLOWS; i++)
    for (int way = 0; way < 4; way++)
      if ((way == 0 && !test_brief()) || !is_large(&flows[i]))
        compare_with_pseudo_inverses(&flows[i], (TesSmootherDesc){.ratio = -1},
                                     way % 2 ? TES_SINGLE : TES_DOUBLE, way / 2 ? TES_BACKWARD : TES_FORWARD);
}

/* Two colours, or 2^dim and more where a periodic direction has an odd number of cells. Graded, and long enough to
 * fill vectors. */
static void closed_cells_are_pseudo_inverses(void **state) {
  (void)state;
  static const Flow more[] = {
      {.dim = 2,
       .degree = 2,
       .cells = {7, 5},
       .given = "vvsovv",
       .graded = true,
       .nu = 1,
       .penalty = TES_PENALTY_STANDARD},
      {.dim = 2, .degree = 1, .cells = {11, 2}, .given = "ppovvv", .nu = 1, .alpha = 2},
      {.dim = 2, .degree = 4, .cells = {3, 2}, .given = "vvvvvv", .nu = 1, .penalty = TES_PENALTY_STANDARD}};
  for (int i = 0; i < FLOWS + 3; i++)
    for (int way = 0; way < 4; way++) {
      const Flow *f = i < FLOWS ? &flows[i] : &more[i - FLOWS];
      if (way == 0 || !is_large(f))
        compare_with_pseudo_inverses(f, (TesSmootherDesc){.kind = TES_SMOOTHER_CELL_PATCH},
                                     way % 2 ? TES_SINGLE : TES_DOUBLE, way / 2 ? TES_BACKWARD : TES_FORWARD);
    }
}

/* One patch alone, or those of a periodic direction of two cells, of every kind of end: the local solver to
 * round-off. */
static const char *const ends[] = {"vvvvvv", "vvsvvo", "pppppp", "ovvvsv"};

static void local_solves_are_exact(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int k = 1; k <= (dim == 2 ? 4 : 2); k++)
      for (int g = test_brief() ? k % 2 : 0; g < 4; g += test_brief() ? 2 : 1) {
        const Flow f = {.dim = dim, .degree = k, .cells = {2, 2, 2}, .given = ends[g], .nu = 1, .alpha = g};
        TesSpace *space = flow_space(ctx, &f);
        TesOperator *op = flow_operator(ctx, &f, space, TES_DOUBLE);
        TesSmoother *smoother;
        assert_ok(ctx, tes_smoother_create(ctx, &(TesSmootherDesc){.op = op, .kind = TES_SMOOTHER_PATCH},
                                           &smoother));
        double *values = flow_random(space, 5);
        TesVector *b = flow_vector(ctx, space, TES_DOUBLE, values),
                  *x = flow_vector(ctx, space, TES_DOUBLE, NULL),
                  *expected = flow_vector(ctx, space, TES_DOUBLE, NULL);
        assert_ok(ctx, tesi_smoother_apply_ref(smoother, b, expected, TES_FORWARD, true));
        assert_ok(ctx, tes_smoother_apply(smoother, b, x, TES_FORWARD, true));
        assert_near(flow_difference(ctx, x, expected), 0, 1e-12);
        TesVector *vectors[] = {b, x, expected};
        for (int v = 0; v < 3; v++) tes_vector_destroy(&vectors[v]);
        free(values);
        tes_smoother_destroy(&smoother);
        tes_operator_destroy(&op);
        tes_space_destroy(&space);
      }
}

/* The solution of one patch, in the precision of the smoother. */
static void solve_patch(const TesSmoother *smoother, const TesSpace *space, TesPrecision precision,
                        const double *values, double *solution) {
  TesVector *b = flow_vector(ctx, space, precision, values), *x = flow_vector(ctx, space, precision, NULL);
  assert_ok(ctx, tes_smoother_apply(smoother, b, x, TES_FORWARD, true));
  assert_ok(ctx, tes_vector_get(x, solution));
  tes_vector_destroy(&b);
  tes_vector_destroy(&x);
}

/* The mean square of |x32 - x64| / |x64|, norms of all coefficients, for random right-hand sides that float32 knows: of
 * the pressure alone, or of all. With the first, p = S^+ b and nothing else but changes of the basis. */
static double loss_of_float32(const Flow *f, bool pressure_alone) {
  enum { COUNT = 8 };
  TesSpace *space = flow_space(ctx, f);
  const int64_t length = tes_space_length(space);
  TesOperator *op[2];
  TesSmoother *smoother[2];
  double *x[2], lost = 0;
  for (TesPrecision p = TES_DOUBLE; p <= TES_SINGLE; p++) {
    op[p] = flow_operator(ctx, f, space, p);
    assert_ok(ctx, tes_smoother_create(ctx, &(TesSmootherDesc){.op = op[p], .kind = TES_SMOOTHER_PATCH},
                                       &smoother[p]));
    x[p] = malloc((size_t)length * sizeof(double));
  }
  for (uint64_t seed = 1; seed <= COUNT; seed++) {
    double *b = flow_random(space, seed), difference = 0, norm = 0;
    for (int64_t i = 0; i < length; i++)
      b[i] = pressure_alone && i < space->first[space->dim] ? 0 : (double)(float)b[i];
    for (TesPrecision p = TES_DOUBLE; p <= TES_SINGLE; p++) solve_patch(smoother[p], space, p, b, x[p]);
    for (int64_t i = 0; i < length; i++) {
      difference += (x[1][i] - x[0][i]) * (x[1][i] - x[0][i]);
      norm += x[0][i] * x[0][i];
    }
    lost += difference / norm / COUNT;
    free(b);
  }
  for (TesPrecision p = TES_DOUBLE; p <= TES_SINGLE; p++) {
    free(x[p]);
    tes_smoother_destroy(&smoother[p]);
    tes_operator_destroy(&op[p]);
  }
  tes_space_destroy(&space);
  return lost;
}

/* S^+ in float32, where sums are as long as a patch has pressures, 512 of RT_3 in 3D; a little more in whole local
 * solves. Root mean squares, over ends too. */
static void float32_loses_round_off_alone(void **state) {
  (void)state;
  static const char *const alone[] = {"vvvvvv", "vvsvvo", "ovvvsv"};
  for (int dim = 2; dim <= 3; dim++)
    for (int k = 1; k <= (dim == 2 ? 8 : 3) - test_brief(); k++) {
      double inverse = 0, solve = 0;
      for (int g = 0; g < 3; g++) {
        const Flow f = {.dim = dim, .degree = k, .cells = {2, 2, 2}, .given = alone[g], .nu = 1, .alpha = g};
        inverse += loss_of_float32(&f, true) / 3;
        solve += loss_of_float32(&f, false) / 3;
      }
      if (getenv("TESSERA_TEST_SHOW")) printf("%dD RT_%d: %.3g, %.3g\n", dim, k, sqrt(inverse), sqrt(solve));
      if (!(sqrt(inverse) <= 2e-7 && sqrt(solve) <= 2.2e-7))
        fail_msg("RT_%d in %dD: float32 loses %.3g in S^+, %.3g in all", k, dim, sqrt(inverse), sqrt(solve));
    }
}

/* Larger meshes than the pseudo-inverses are for: residuals inside the patches are those of the operator, in all
 * degrees that have loops of their own and above, with patches enough to fill vectors, and where they stand alone. */
static const Flow fused[] = {
    {.dim = 2, .degree = 1, .cells = {9, 23}, .given = "vvvvvv", .nu = 1},
    {.dim = 2, .degree = 2, .cells = {7, 6}, .given = "ppsovv", .nu = 2, .alpha = 5},
    {.dim = 2, .degree = 3, .cells = {8, 5}, .given = "ppppvv", .nu = 1, .alpha = 1},
    {.dim = 2, .degree = 4, .cells = {5, 7}, .given = "ovvsvv", .graded = true, .nu = 1},
    {.dim = 2, .degree = 5, .cells = {6, 4}, .given = "vvvvvv", .nu = 0.1},
    {.dim = 2, .degree = 6, .cells = {4, 6}, .given = "vvppvv", .nu = 1, .alpha = 100},
    {.dim = 2, .degree = 7, .cells = {3, 5}, .given = "svvsvv", .nu = 1},
    {.dim = 2, .degree = 8, .cells = {5, 3}, .given = "vvvovv", .nu = 1},
    {.dim = 2, .degree = 9, .cells = {3, 4}, .given = "vovvvv", .nu = 1},
    {.dim = 3, .degree = 1, .cells = {9, 5, 6}, .given = "vvvvvv", .nu = 1},
    {.dim = 3, .degree = 2, .cells = {7, 4, 5}, .given = "ppsovv", .nu = 1, .alpha = 7},
    {.dim = 3, .degree = 2, .cells = {3, 4, 5}, .given = "vvpppp", .graded = true, .nu = 1},
    {.dim = 3, .degree = 3, .cells = {5, 4, 3}, .given = "vvvvvv", .nu = 1},
    {.dim = 3, .degree = 4, .cells = {2, 3, 4}, .given = "vvvopp", .nu = 1},
    {.dim = 3, .degree = 5, .cells = {2, 2, 3}, .given = "vvvovv", .nu = 1}};

static void residuals_inside_patches(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof fused / sizeof *fused; i++)
    for (int way = 0; way < 4 && test_degree(fused[i].degree); way++) {
      const TesPrecision precision = way % 2 ? TES_SINGLE : TES_DOUBLE;
      TesSpace *space = flow_space(ctx, &fused[i]);
      TesOperator *op = flow_operator(ctx, &fused[i], space, precision);
      TesSmootherDesc desc = {.op = op,
                              .kind = TES_SMOOTHER_PATCH,
                              .colours = way / 2 ? TES_COLOURS_RED_BLACK : TES_COLOURS_PARQUET};
      TesSmoother *inside, *outside;
      assert_ok(ctx, tes_smoother_create(ctx, &desc, &inside));
      desc.unfused = true;
      assert_ok(ctx, tes_smoother_create(ctx, &desc, &outside));
      double *values = flow_random(space, 5 + i), *start = flow_random(space, 50);
      TesVector *b = flow_vector(ctx, space, precision, values),
                *x = flow_vector(ctx, space, precision, start),
                *expected = flow_vector(ctx, space, precision, start);
      const double tolerance = precision == TES_SINGLE ? 2e-5 * fused[i].degree
                               : fused[i].degree <= 8  ? 1e-13
                                                       : 5e-13;
      for (TesSweep sweep = TES_FORWARD; sweep <= TES_BACKWARD; sweep++)
        for (int zero = 0; zero < 2; zero++) {
          assert_ok(ctx, zero ? tes_vector_fill(x, NAN) : tes_vector_set(x, start));
          assert_ok(ctx, zero ? tes_vector_fill(expected, NAN) : tes_vector_set(expected, start));
          assert_ok(ctx, tes_smoother_apply(outside, b, expected, sweep, zero));
          assert_ok(ctx, tes_smoother_apply(inside, b, x, sweep, zero));
          assert_near(flow_difference(ctx, x, expected), 0, tolerance);
        }
      TesVector *vectors[] = {b, x, expected};
      for (int v = 0; v < 3; v++) tes_vector_destroy(&vectors[v]);
      free(values);
      free(start);
      tes_smoother_destroy(&inside);
      tes_smoother_destroy(&outside);
      tes_operator_destroy(&op);
      tes_space_destroy(&space);
    }
}

/* How many kinds of a level have the very numbers of S^+ of the same kind on the level below. */
static int count_taken(const TesSmoother *smoother, const TesSmoother *below) {
  const TesiStokesPatchPlan *p = smoother->plan, *q = below->plan;
  const size_t size = tesi_precision_size(smoother->op->precision);
  int count = 0;
  for (int i = 0; i < p->kinds && p->kinds == q->kinds; i++) {
    const TesiStokesPatchKind *a = p->kind[i], *b = q->kind[i];
    const size_t numbers = (size_t)a->block[0].size * (size_t)a->block[0].size;
    count += !memcmp((const char *)a->inverses + (size_t)a->S[0] * size,
                     (const char *)b->inverses + (size_t)b->S[0] * size, numbers * size);
  }
  return count;
}

/* Patches take S^+ from the level below where it is the same: no alpha, all lengths twice as large. */
static const Flow levels[] = {{.dim = 3, .degree = 2, .cells = {4, 4, 4}, .given = "vvvvvv", .nu = 2},
                              {.dim = 3, .degree = 1, .cells = {4, 5, 4}, .given = "vvvosv", .nu = 1},
                              {.dim = 2, .degree = 3, .cells = {6, 4}, .given = "vvpp", .nu = 1},
                              {.dim = 2, .degree = 2, .cells = {4, 4}, .given = "vvvv", .nu = 1, .alpha = 3}};

static void levels_share_tables(void **state) {
  (void)state;
  for (int i = 0; i < 8; i++) {
    const Flow *coarse = &levels[i / 2];
    const TesPrecision precision = i % 2 ? TES_SINGLE : TES_DOUBLE;
    Flow fine = *coarse;
    for (int d = 0; d < fine.dim; d++) fine.cells[d] *= 2;
    TesSpace *space = flow_space(ctx, &fine), *space_below = flow_space(ctx, coarse);
    TesOperator *op = flow_operator(ctx, &fine, space, precision),
                *op_below = flow_operator(ctx, coarse, space_below, precision);
    const TesSmootherDesc desc = {.op = op, .kind = TES_SMOOTHER_PATCH},
                          desc_below = {.op = op_below, .kind = TES_SMOOTHER_PATCH};
    TesSmoother *below, *alone, *above;
    assert_ok(ctx, tes_smoother_create(ctx, &desc_below, &below));
    assert_ok(ctx, tes_smoother_create(ctx, &desc, &alone));
    assert_ok(ctx, tesi_smoother_create_above(ctx, &desc, below, &above));
    const int kinds = ((TesiStokesPatchPlan *)above->plan)->kinds;
    assert_int_equal(count_taken(above, below), coarse->alpha > 0 ? 0 : kinds);
    double *values = flow_random(space, 3);
    TesVector *b = flow_vector(ctx, space, precision, values), *x = flow_vector(ctx, space, precision, NULL),
              *expected = flow_vector(ctx, space, precision, NULL);
    assert_ok(ctx, tes_smoother_apply(alone, b, expected, TES_FORWARD, true));
    assert_ok(ctx, tes_smoother_apply(above, b, x, TES_FORWARD, true));
    assert_near(flow_difference(ctx, x, expected), 0, precision == TES_SINGLE ? 1e-6 : 1e-13);
    TesVector *vectors[] = {b, x, expected};
    for (int v = 0; v < 3; v++) tes_vector_destroy(&vectors[v]);
    TesSmoother **const smoothers[] = {&above, &alone, &below};
    for (int s = 0; s < 3; s++) tes_smoother_destroy(smoothers[s]);
    free(values);
    tes_operator_destroy(&op);
    tes_operator_destroy(&op_below);
    tes_space_destroy(&space);
    tes_space_destroy(&space_below);
  }
}

/* Conjugate gradients on the Schur complements, plain and with tables of patches that are nearly the same: a sweep is
 * the exact one to what 1e-3 leaves. */
static void iterations_are_nearly_exact(void **state) {
  (void)state;
  for (int j = 0; j < FLOWS + 2; j++)
    for (int way = 0; way < 4; way++) {
      const Flow *f = j < FLOWS ? &flows[j] : &fused[j == FLOWS ? 3 : 11]; /* the last two: graded, larger */
      const TesPrecision precision = way % 2 ? TES_SINGLE : TES_DOUBLE;
      const bool tables = way / 2;
      TesSpace *space = flow_space(ctx, f);
      TesOperator *op = flow_operator(ctx, f, space, precision);
      TesSmootherDesc desc = {
          .op = op, .kind = TES_SMOOTHER_PATCH, .local = tables ? TES_LOCAL_AUTO : TES_LOCAL_CG};
      TesSmoother *near, *exact;
      assert_ok(ctx, tes_smoother_create(ctx, &(TesSmootherDesc){.op = op}, &exact));
      if (tables) setenv("TESSERA_STOKES_TABLES", "1", 1);
      assert_ok(ctx, tes_smoother_create(ctx, &desc, &near));
      unsetenv("TESSERA_STOKES_TABLES");
      assert_non_null(strstr(tes_smoother_describe(near), "conjugate gradients"));
      assert_int_equal(strstr(tes_smoother_describe(near), " tables") != NULL, tables);
      double *values = flow_random(space, 5 + (uint64_t)j), *start = flow_random(space, 50);
      TesVector *b = flow_vector(ctx, space, precision, values),
                *x = flow_vector(ctx, space, precision, start),
                *expected = flow_vector(ctx, space, precision, start);
      assert_ok(ctx, tes_smoother_apply(exact, b, expected, TES_FORWARD, false));
      assert_ok(ctx, tes_smoother_apply(near, b, x, TES_FORWARD, false));
      assert_near(flow_difference(ctx, x, expected), 0, 1e-2);
      TesVector *vectors[] = {b, x, expected};
      for (int v = 0; v < 3; v++) tes_vector_destroy(&vectors[v]);
      free(values);
      free(start);
      tes_smoother_destroy(&near);
      tes_smoother_destroy(&exact);
      tes_operator_destroy(&op);
      tes_space_destroy(&space);
    }
}

/* Dense inverses of the patches' own matrices, in the emulator too: the sweep by tables of the processor. */
static void dense_inverses_are_exact(void **state) {
  TesContext *emulator;
  (void)state;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "emulator"}, &emulator, NULL, 0), TES_OK);
  for (int j = 0; j < FLOWS; j++)
    for (int way = 0; way < 3; way++) {
      const Flow *f = &flows[j];
      TesContext *on = way == 2 ? emulator : ctx;
      const TesPrecision precision = way == 1 ? TES_SINGLE : TES_DOUBLE;
      TesSpace *space = flow_space(ctx, f), *there = flow_space(on, f);
      TesOperator *op = flow_operator(ctx, f, space, precision),
                  *op_there = flow_operator(on, f, there, precision);
      TesSmoother *dense, *exact;
      double *values = flow_random(space, 5 + (uint64_t)j), *start = flow_random(space, 50);
      if (on == emulator && f->dim == 3 && f->degree > 2) goto next; /* large matrices, slow there */
      assert_ok(ctx, tes_smoother_create(ctx, &(TesSmootherDesc){.op = op}, &exact));
      assert_ok(
          on, tes_smoother_create(
                  on, &(TesSmootherDesc){.op = op_there, .kind = TES_SMOOTHER_PATCH, .local = TES_LOCAL_DENSE},
                  &dense));
      TesVector *b = flow_vector(ctx, space, precision, values),
                *expected = flow_vector(ctx, space, precision, start),
                *b_there = flow_vector(on, there, precision, values),
                *x_there = flow_vector(on, there, precision, start);
      assert_ok(ctx, tes_smoother_apply(exact, b, expected, TES_FORWARD, false));
      assert_ok(on, tes_smoother_apply(dense, b_there, x_there, TES_FORWARD, false));
      assert_ok(on, tes_vector_get(x_there, values));
      TesVector *x = flow_vector(ctx, space, precision, values);
      assert_near(flow_difference(ctx, x, expected), 0, precision == TES_DOUBLE ? 1e-9 : 1e-3);
      TesVector *vectors[] = {b, x, expected, b_there, x_there};
      for (int v = 0; v < 5; v++) tes_vector_destroy(&vectors[v]);
      tes_smoother_destroy(&dense);
      tes_smoother_destroy(&exact);
    next:
      free(values);
      free(start);
      tes_operator_destroy(&op), tes_operator_destroy(&op_there);
      tes_space_destroy(&space), tes_space_destroy(&there);
    }
  tes_context_destroy(&emulator);
}

static void what_is_not_there_is_told(void **state) {
  (void)state;
  static const Flow box = {.dim = 2, .degree = 2, .cells = {2, 2}, .given = "vvvvvv", .nu = 1},
                    loose = {.dim = 2, .degree = 2, .cells = {2, 2}, .given = "ppsoss", .nu = 1};
  TesSpace *space = flow_space(ctx, &box), *other, *free_space = flow_space(ctx, &loose);
  TesOperator *op;
  TesMesh *mesh = flow_mesh(ctx, &box), *periodic = flow_mesh(ctx, &loose);
  const TesiCellView *cells;
  const TesTermDesc term[] = {{.term = TES_TERM_DIFFUSION}, {.term = TES_TERM_DIVERGENCE}};
  assert_int_equal(tesi_space_cells(space, &cells), TES_INVALID_INPUT);
  tes_context_clear(ctx);
  assert_int_equal(tes_operator_create(ctx, &(TesOperatorDesc){.space = space}, &op), TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "stokes: the form has no divergence term"));
  tes_context_clear(ctx);
  assert_int_equal(tes_operator_create(ctx, &(TesOperatorDesc){.space = free_space, .form = {2, term, 0}}, &op),
                   TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "nothing fixes the velocity in direction x"));
  tes_context_clear(ctx);
  assert_int_equal(
      tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = 16, .element = TES_ELEMENT_RT}, &other),
      TES_INVALID_INPUT);
  tes_context_clear(ctx);
  assert_int_equal(tes_space_create(ctx, &(TesSpaceDesc){.mesh = periodic, .degree = 9}, &other),
                   TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "expected 1..8 on a periodic box"));
  tes_context_clear(ctx);
  tes_mesh_destroy(&mesh);
  tes_mesh_destroy(&periodic);
  tes_space_destroy(&space);
  tes_space_destroy(&free_space);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(operator_is_what_quadrature_says),
                                     cmocka_unit_test(operator_is_symmetric),
                                     cmocka_unit_test(patches_are_pseudo_inverses),
                                     cmocka_unit_test(closed_cells_are_pseudo_inverses),
                                     cmocka_unit_test(dense_patches_are_pseudo_inverses),
                                     cmocka_unit_test(local_solves_are_exact),
                                     cmocka_unit_test(float32_loses_round_off_alone),
                                     cmocka_unit_test(residuals_inside_patches),
                                     cmocka_unit_test(levels_share_tables),
                                     cmocka_unit_test(iterations_are_nearly_exact),
                                     cmocka_unit_test(dense_inverses_are_exact),
                                     cmocka_unit_test(what_is_not_there_is_told)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
