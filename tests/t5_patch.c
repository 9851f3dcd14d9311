/* Run: ctest -R t5_patch. The multiplicative vertex-patch sweep: the plain version against dense solves, the fast
 * one against the plain one, and two-grid-and-more cycles against the residual histories of an independent prototype.
 * Labels: threads simd */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "operator_testing.h"
#include "basis/lagrange.h"
#include "basis/gauss.h"
#include "smoother/patch/patch.h"
#include "tessera/tessera.h"
#include "testing.h"
#include "operator/operator.h"
#include "smoother/smoother.h"

typedef struct Case {
  int dim, degree, cells[3];
  bool graded, odd_end; /* odd end: the last cell wider or narrower than the others, which are alike */
  unsigned natural;     /* bit f: face f is free */
  double a, c, alpha;   /* a = 0 means 1; alpha on all free faces */
} Case;

typedef struct Setup {
  TesContext *ctx;
  TesMesh *mesh;
  TesSpace *space;
  TesOperator *op;
  TesSmoother *smoother;
  int64_t n;
  double *b, *x; /* random, zero at Dirichlet nodes */
} Setup;

static bool is_unknown(const TesSpace *space, int64_t node) {
  for (int d = 0; d < 3; d++) {
    const TesiAxis *axis = &space->axis[d];
    const int i = (int)(node % axis->nodes);
    if (i < tesi_axis_first(axis) || i >= tesi_axis_end(axis)) return false;
    node /= axis->nodes;
  }
  return true;
}

static void fill_random(const TesSpace *space, uint64_t seed, double *v) {
  uint64_t state = seed;
  for (int64_t i = 0; i < space->length; i++) {
    v[i] = test_random(&state);
    if (!is_unknown(space, i)) v[i] = 0;
  }
}

static void create_space(Setup *s, const Case *c) {
  double coordinates[3][64] = {{0}};
  TesMeshDesc box = {.dim = c->dim};
  TesSpaceDesc desc = {.degree = c->degree};
  for (int d = 0; d < c->dim; d++) {
    box.cells[d] = c->cells[d];
    for (int i = 0; i <= c->cells[d]; i++) coordinates[d][i] = (1 + 0.3 * d) * i + 0.3 * sin(2.0 * i + d);
    if (c->odd_end) {
      for (int i = 0; i <= c->cells[d]; i++)
        coordinates[d][i] = (1 + 0.3 * d) * (i + (c->degree % 2 ? 0.6 : -0.5) * (i == c->cells[d]));
    }
    if (c->graded || c->odd_end) box.coordinates[d] = coordinates[d];
  }
  assert_int_equal(tes_mesh_create(s->ctx, &box, &s->mesh), TES_OK);
  desc.mesh = s->mesh;
  uint8_t given[6];
  for (int f = 0; f < 6; f++) given[f] = !(c->natural >> f & 1);
  desc.given = given;
  assert_int_equal(tes_space_create(s->ctx, &desc, &s->space), TES_OK);
}

static void setup(Setup *s, TesContext *ctx, const Case *c, TesPrecision precision) {
  TesFunction *a, *reaction, *alpha;
  *s = (Setup){.ctx = ctx};
  create_space(s, c);
  TestDiffusion desc = {.space = s->space, .precision = precision};
  assert_int_equal(tes_function_create_constant(ctx, c->a ? c->a : 1, &a), TES_OK);
  assert_int_equal(tes_function_create_constant(ctx, c->c, &reaction), TES_OK);
  assert_int_equal(tes_function_create_constant(ctx, c->alpha, &alpha), TES_OK);
  desc.a = a, desc.c = reaction;
  for (int f = 0; f < 6; f++) desc.alpha[f] = f < 2 * c->dim && (c->natural >> f & 1) ? alpha : NULL;
  assert_int_equal(test_operator_create(ctx, &desc, &s->op), TES_OK);
  tes_function_destroy(&a), tes_function_destroy(&reaction), tes_function_destroy(&alpha);
  assert_int_equal(
      tes_smoother_create(ctx, &(TesSmootherDesc){.op = s->op, .kind = TES_SMOOTHER_PATCH}, &s->smoother),
      TES_OK);
  s->n = s->space->length;
  s->b = malloc(sizeof(double) * (size_t)s->n);
  s->x = malloc(sizeof(double) * (size_t)s->n);
  fill_random(s->space, 1, s->b);
  fill_random(s->space, 2, s->x);
}

static void teardown(Setup *s) {
  free(s->b), free(s->x);
  tes_smoother_destroy(&s->smoother);
  tes_operator_destroy(&s->op);
  tes_space_destroy(&s->space);
  tes_mesh_destroy(&s->mesh);
}

/* x <- one step from s->x (or from zero: then x holds NaN beforehand). */
static void sweep_once(const Setup *s, bool ref, TesSweep sweep, bool zero_guess, double *x) {
  TesVector *bv, *xv;
  const TesPrecision precision = s->op->precision;
  assert_int_equal(tes_vector_create(s->ctx, s->n, precision, &bv), TES_OK);
  assert_int_equal(tes_vector_create(s->ctx, s->n, precision, &xv), TES_OK);
  assert_int_equal(tes_vector_set(bv, s->b), TES_OK);
  assert_int_equal(tes_vector_set(xv, s->x), TES_OK);
  if (zero_guess) assert_int_equal(tes_vector_fill(xv, NAN), TES_OK);
  assert_int_equal(
      (ref ? tesi_smoother_apply_ref : tes_smoother_apply)(s->smoother, bv, xv, sweep, zero_guess), TES_OK);
  assert_int_equal(tes_vector_get(xv, x), TES_OK);
  tes_vector_destroy(&bv);
  tes_vector_destroy(&xv);
}

static double maximum(int64_t n, const double *v) {
  double largest = 0;
  for (int64_t i = 0; i < n; i++) largest = test_larger(largest, fabs(v[i]));
  return largest;
}

static void assert_equal_vectors(int64_t n, const double *actual, const double *expected, double tolerance,
                                 const Case *c, const char *what) {
  const double scale = maximum(n, expected);
  for (int64_t i = 0; i < n; i++)
    if (!(fabs(actual[i] - expected[i]) <= tolerance * scale))
      fail_msg("%s, %dD Q%d %dx%dx%d%s natural %x: [%lld] = %.17g, expected %.17g (largest %.3g)", what,
               c->dim, c->degree, c->cells[0], c->cells[1], c->cells[2],
               c->graded    ? " graded"
               : c->odd_end ? " odd end"
                            : "",
               c->natural, (long long)i, actual[i], expected[i], scale);
}

/* ---- the plain version against dense solves with the operator's matrix --------------------------------- */

/* A[n][n] by applying the operator to unit vectors. */
static double *dense_matrix(const Setup *s) {
  const size_t n = (size_t)s->n;
  double *A = malloc(sizeof(double) * n * n), *unit = calloc(n, sizeof(double));
  TesVector *xv, *yv;
  assert_int_equal(tes_vector_create(s->ctx, s->n, TES_DOUBLE, &xv), TES_OK);
  assert_int_equal(tes_vector_create(s->ctx, s->n, TES_DOUBLE, &yv), TES_OK);
  for (size_t j = 0; j < n; j++) {
    unit[j] = 1;
    assert_int_equal(tes_vector_set(xv, unit), TES_OK);
    assert_int_equal(tesi_operator_apply_ref(s->op, xv, yv), TES_OK);
    assert_int_equal(tes_vector_get(yv, A + j * n), TES_OK); /* symmetric: rows are columns */
    unit[j] = 0;
  }
  tes_vector_destroy(&xv), tes_vector_destroy(&yv);
  free(unit);
  return A;
}

/* The nodes of patch p, whose directions are intervals[d][p[d]]. */
static int patch_nodes(const TesSpace *space, TesiPatchInterval *const intervals[3], const int p[3],
                       int64_t *nodes) {
  const TesiPatchInterval *ix = &intervals[0][p[0]], *iy = &intervals[1][p[1]], *iz = &intervals[2][p[2]];
  int m = 0;
  for (int k = iz->first; k < iz->end; k++)
    for (int j = iy->first; j < iy->end; j++)
      for (int i = ix->first; i < ix->end; i++)
        nodes[m++] = ((int64_t)k * space->axis[1].nodes + j) * space->axis[0].nodes + i;
  return m;
}

/* r <- A^-1 r by Gaussian elimination; A positive definite. */
static void dense_solve(int m, double *A, double *r) {
  for (int p = 0; p < m; p++)
    for (int i = p + 1; i < m; i++) {
      const double factor = A[i * m + p] / A[p * m + p];
      for (int j = p; j < m; j++) A[i * m + j] -= factor * A[p * m + j];
      r[i] -= factor * r[p];
    }
  for (int i = m - 1; i >= 0; i--) {
    for (int j = i + 1; j < m; j++) r[i] -= A[i * m + j] * r[j];
    r[i] /= A[i * m + i];
  }
}

static void dense_update(const Setup *s, const double *A, int m, const int64_t *nodes, double *x) {
  const size_t n = (size_t)s->n, size = (size_t)m;
  double *local = malloc(sizeof(double) * size * size), *r = malloc(sizeof(double) * size);
  for (int i = 0; i < m; i++) {
    r[i] = s->b[nodes[i]];
    for (size_t j = 0; j < n; j++) r[i] -= A[(size_t)nodes[i] * n + j] * x[j];
    for (int j = 0; j < m; j++)
      local[(size_t)i * size + (size_t)j] = A[(size_t)nodes[i] * n + (size_t)nodes[j]];
  }
  dense_solve(m, local, r);
  for (int i = 0; i < m; i++) x[nodes[i]] += r[i];
  free(local), free(r);
}

static void dense_sweep(const Setup *s, TesSweep sweep, double *x) {
  TesiPatchInterval storage[3][16], *const intervals[3] = {storage[0], storage[1], storage[2]};
  int count[3], p[3];
  double *A = dense_matrix(s);
  int64_t *nodes = malloc(sizeof *nodes * (size_t)s->n);
  for (int d = 0; d < 3; d++) count[d] = tesi_patch_intervals(&s->space->axis[d], intervals[d]);
  for (int i = 0; i < 8; i++) {
    const int colour = sweep == TES_FORWARD ? i : 7 - i;
    for (p[2] = 0; p[2] < count[2]; p[2]++)
      for (p[1] = 0; p[1] < count[1]; p[1]++)
        for (p[0] = 0; p[0] < count[0]; p[0]++)
          if (storage[0][p[0]].colour + 2 * storage[1][p[1]].colour + 4 * storage[2][p[2]].colour == colour)
            dense_update(s, A, patch_nodes(s->space, intervals, p, nodes), nodes, x);
  }
  free(nodes), free(A);
}

static void plain_version_equals_dense_solves(void **state) {
  (void)state;
  static const Case cases[] = {
      {.dim = 2, .degree = 1, .cells = {4, 3}},
      {.dim = 2, .degree = 2, .cells = {1, 3}, .natural = 0x2},
      {.dim = 2, .degree = 4, .cells = {4, 3}, .graded = true, .natural = 0x5, .alpha = 2, .a = 1.5, .c = 3},
      {.dim = 2, .degree = 3, .cells = {1, 1}},
      {.dim = 3, .degree = 1, .cells = {3, 4, 2}, .natural = 0x21, .graded = true},
      {.dim = 3, .degree = 2, .cells = {3, 2, 4}},
      {.dim = 3, .degree = 3, .cells = {2, 1, 3}, .natural = 0x12, .alpha = 0.5, .graded = true},
      {.dim = 3, .degree = 2, .cells = {1, 2, 1}, .natural = 0x3f, .c = 0.7},
  };
  TesContext *ctx;
  assert_int_equal(tes_context_create(NULL, &ctx, NULL, 0), TES_OK);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int sweep = TES_FORWARD; sweep <= TES_BACKWARD; sweep++) {
      Setup s;
      setup(&s, ctx, &cases[i], TES_DOUBLE);
      double *actual = malloc(sizeof(double) * (size_t)s.n), *expected = malloc(sizeof(double) * (size_t)s.n);
      memcpy(expected, s.x, sizeof(double) * (size_t)s.n);
      dense_sweep(&s, (TesSweep)sweep, expected);
      sweep_once(&s, true, (TesSweep)sweep, false, actual);
      assert_equal_vectors(s.n, actual, expected, 1e-12, &cases[i], "plain");
      free(actual), free(expected);
      teardown(&s);
    }
  tes_context_destroy(&ctx);
}

/* ---- the fast version against the plain one ------------------------------------------------------------ */

static void compare_with_plain(TesContext *ctx, const Case *c, TesPrecision precision) {
  Setup s;
  setup(&s, ctx, c, precision);
  double *actual = malloc(sizeof(double) * (size_t)s.n), *expected = malloc(sizeof(double) * (size_t)s.n);
  for (int sweep = TES_FORWARD; sweep <= TES_BACKWARD; sweep++)
    for (int zero_guess = 0; zero_guess < 2; zero_guess++) {
      sweep_once(&s, true, (TesSweep)sweep, zero_guess, expected);
      sweep_once(&s, false, (TesSweep)sweep, zero_guess, actual);
      assert_equal_vectors(s.n, actual, expected, (precision == TES_DOUBLE ? 2e-13 : 5e-6) * (4 + c->degree),
                           c, sweep == TES_FORWARD ? "forward" : "backward");
    }
  free(actual), free(expected);
  teardown(&s);
}

/* Cases for every degree: even, odd, one cell, graded, free ends. */
static const Case shapes[] = {
    {.dim = 2, .cells = {4, 4}},
    {.dim = 2, .cells = {3, 5}, .graded = true, .natural = 0x6, .alpha = 1.5, .a = 2, .c = 3},
    {.dim = 2, .cells = {2, 1}, .natural = 0x1},
    {.dim = 2, .cells = {9, 2}, .natural = 0xf, .alpha = 0.5},
    {.dim = 3, .cells = {2, 3, 5}},
    {.dim = 3, .cells = {4, 2, 3}, .graded = true, .c = 0.5},
    {.dim = 3, .cells = {3, 3, 2}, .natural = 0x15, .alpha = 2, .a = 0.5},
    {.dim = 3, .cells = {1, 4, 1}, .natural = 0x2a, .c = 1},
    {.dim = 2, .cells = {5, 4}, .odd_end = true, .c = 2},
    {.dim = 2, .cells = {2, 3}, .odd_end = true, .natural = 0xf, .alpha = 0.5},
    {.dim = 2, .cells = {8, 2}, .odd_end = true, .natural = 0x6, .alpha = 2, .a = 0.7},
    {.dim = 3, .cells = {4, 3, 3}, .odd_end = true, .natural = 0x2a, .alpha = 1.5, .a = 2, .c = 0.5},
};

static void compare_degree(TesContext *ctx, int degree) {
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    Case c = shapes[i];
    c.degree = degree;
    if (degree == 1) c.natural |= (c.cells[1] == 1) << 2 | (c.cells[2] == 1) << 4; /* else without unknowns */
    for (int d = 0; d < 3 && c.dim == 3 && degree > 4; d++)
      c.cells[d] = c.cells[d] < 2 ? c.cells[d] : 2 + (d == 1);
    compare_with_plain(ctx, &c, TES_DOUBLE);
    compare_with_plain(ctx, &c, TES_SINGLE);
  }
}

static void compare_degrees(int simd_bits, int first, int last) {
  TesContext *ctx;
  assert_int_equal(tes_context_create(&(TesContextDesc){.simd_bits = simd_bits}, &ctx, NULL, 0), TES_OK);
  for (int degree = first; degree <= last; degree++) compare_degree(ctx, degree);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

static void sweep_equals_plain_version(void **state) {
  (void)state;
  compare_degrees(0, 1, 10);
}

static void fallback_equals_plain_version(void **state) {
  (void)state;
  compare_degrees(0, 12, 12);
}

static void every_simd_width_equals_plain_version(void **state) {
  (void)state;
  for (int bits = 128; bits <= 512; bits *= 2)
    if (test_has_simd(bits)) compare_degrees(bits, 1, 5);
}

/* Lines longer than a vector, with and without a tail, and every number of cells modulo what the ring of the sweep
 * holds. */
static void long_lines_and_all_cell_counts(void **state) {
  (void)state;
  TesContext *ctx;
  assert_int_equal(tes_context_create(NULL, &ctx, NULL, 0), TES_OK);
  for (int cells = 1; cells <= 9; cells++)
    for (int degree = 1; degree <= 3; degree += 1 + (cells > 5)) {
      compare_with_plain(ctx, &(Case){.dim = 3, .degree = degree, .cells = {2, cells, 2}, .natural = 0x8},
                         TES_DOUBLE);
      compare_with_plain(ctx, &(Case){.dim = 3, .degree = degree, .cells = {2, 3, cells}, .natural = 0x10},
                         TES_DOUBLE);
    }
  for (int cells = 14; cells <= 35; cells += 3) {
    const Case c = {.dim = 2,
                    .degree = 1 + cells % 4,
                    .cells = {cells, 3},
                    .natural = (unsigned)cells % 4,
                    .alpha = 1,
                    .graded = cells % 4 == 1,
                    .odd_end = cells % 4 > 1};
    compare_with_plain(ctx, &c, TES_DOUBLE);
    compare_with_plain(ctx, &c, TES_SINGLE);
  }
  tes_context_destroy(&ctx);
}

static void threads_do_not_change_bits(void **state) {
  (void)state;
  static const Case cases[] = {
      {.dim = 2, .degree = 3, .cells = {6, 11}},
      {.dim = 3, .degree = 2, .cells = {4, 3, 9}, .natural = 0x30},
      {.dim = 3, .degree = 1, .cells = {5, 6, 8}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int sweep = TES_FORWARD; sweep <= TES_BACKWARD; sweep++)
      for (int zero_guess = 0; zero_guess < 2; zero_guess++) {
        double *x[4];
        for (int threads = 1; threads <= 4; threads++) {
          TesContext *ctx;
          Setup s;
          assert_int_equal(tes_context_create(&(TesContextDesc){.threads = threads}, &ctx, NULL, 0), TES_OK);
          setup(&s, ctx, &cases[i], TES_DOUBLE);
          x[threads - 1] = malloc(sizeof(double) * (size_t)s.n);
          sweep_once(&s, false, (TesSweep)sweep, zero_guess, x[threads - 1]);
          assert_memory_equal(x[threads - 1], x[0], sizeof(double) * (size_t)s.n);
          teardown(&s);
          tes_context_destroy(&ctx);
        }
        for (int threads = 0; threads < 4; threads++) free(x[threads]);
      }
}

/* ---- V-cycles against the histories of an independent prototype ---------------------------------------- */

enum { LEVELS = 3 };

/* out over the fine nodes of one direction, from coarse values: embedding of Q_k on intervals halved; transposed:
 * its transpose. */
static void embed_axis(int degree, int coarse_cells, int before, int after, bool transposed, const double *in,
                       double *out) {
  const int k = degree, nc = coarse_cells * k + 1, nf = 2 * coarse_cells * k + 1;
  double nodes[TESI_MAX_POINTS], points[2 * TESI_MAX_POINTS], B[2 * TESI_MAX_POINTS * TESI_MAX_POINTS];
  tesi_gauss_lobatto(k + 1, nodes, NULL);
  for (int i = 0; i <= 2 * k; i++) points[i] = i <= k ? nodes[i] / 2 : 0.5 + nodes[i - k] / 2;
  tesi_lagrange(k + 1, nodes, 2 * k + 1, points, B, NULL);
  memset(out, 0, sizeof(double) * (size_t)(before * after * (transposed ? nc : nf)));
  for (int a = 0; a < before; a++)
    for (int cell = 0; cell < coarse_cells; cell++)
      for (int i = cell ? 1 : 0; i <= 2 * k; i++)
        for (int j = 0; j <= k; j++)
          for (int l = 0; l < after; l++) {
            const int f = (a * nf + cell * 2 * k + i) * after + l, c = (a * nc + cell * k + j) * after + l;
            if (transposed)
              out[c] += B[i * (k + 1) + j] * in[f];
            else
              out[f] += B[i * (k + 1) + j] * in[c];
          }
}

/* All directions of a cube. The result replaces v, which has room for the fine vector. */
static void embed(const TesSpace *coarse, bool transposed, double *v, double *work) {
  const int cells = tes_mesh_info(coarse->mesh).cells_along[0], nc = coarse->axis[0].nodes,
            nf = 2 * (nc - 1) + 1;
  for (int d = 0; d < coarse->dim; d++) { /* directions < d are done */
    int before = 1, after = 1;
    for (int e = 0; e < d; e++) after *= transposed ? nc : nf;
    for (int e = d + 1; e < coarse->dim; e++) before *= transposed ? nf : nc;
    embed_axis(coarse->degree, cells, before, after, transposed, v, work);
    memcpy(v, work, sizeof(double) * (size_t)(before * after * (transposed ? nc : nf)));
  }
  for (int64_t i = 0; transposed && i < coarse->length; i++)
    if (!is_unknown(coarse, i)) v[i] = 0;
}

typedef struct Level {
  Setup setup;
  TesVector *b, *x, *r;
} Level;

static void level_residual(Level *l) {
  assert_int_equal(tes_operator_residual(l->setup.op, l->b, l->x, l->r), TES_OK);
}

static void vcycle(Level *levels, int l, bool zero_guess, double *v, double *work) {
  Level *fine = &levels[l];
  assert_int_equal(tes_smoother_apply(fine->setup.smoother, fine->b, fine->x, TES_FORWARD, zero_guess),
                   TES_OK);
  if (l == 0) return; /* one patch: exact */
  Level *coarse = &levels[l - 1];
  level_residual(fine);
  assert_int_equal(tes_vector_get(fine->r, v), TES_OK);
  embed(coarse->setup.space, true, v, work);
  assert_int_equal(tes_vector_set(coarse->b, v), TES_OK);
  vcycle(levels, l - 1, true, v, work);
  assert_int_equal(tes_vector_get(coarse->x, v), TES_OK);
  embed(coarse->setup.space, false, v, work);
  assert_int_equal(tes_vector_set(fine->r, v), TES_OK);
  assert_int_equal(tes_vector_axpy(1, fine->r, fine->x), TES_OK);
  assert_int_equal(tes_smoother_apply(fine->setup.smoother, fine->b, fine->x, TES_FORWARD, false), TES_OK);
}

/* b_i = int phi_i over the unit box: products of the 1D weights. */
static void load_vector(const TesSpace *space, double *b) {
  double points[TESI_MAX_POINTS], w[TESI_MAX_POINTS];
  tesi_gauss_lobatto(space->degree + 1, points, w);
  for (int64_t i = 0; i < space->length; i++) {
    int64_t rest = i;
    b[i] = is_unknown(space, i);
    for (int d = 0; d < space->dim; d++) {
      const int node = (int)(rest % space->axis[d].nodes), k = space->degree;
      rest /= space->axis[d].nodes;
      b[i] *= (node % k ? w[node % k] : 2 * w[0]) * space->axis[d].h[0];
    }
  }
}

static void compare_history(TesContext *ctx, int dim, int degree, const cJSON *expected, double norm_rhs) {
  Level levels[LEVELS];
  const int count = dim == 2 ? 3 : 2;
  double norm, reference;
  for (int l = 0; l < count; l++) {
    const int n = 2 << l;
    setup(&levels[l].setup, ctx, &(Case){.dim = dim, .degree = degree, .cells = {n, n, n}}, TES_DOUBLE);
    assert_int_equal(tes_vector_create(ctx, levels[l].setup.n, TES_DOUBLE, &levels[l].b), TES_OK);
    assert_int_equal(tes_vector_create(ctx, levels[l].setup.n, TES_DOUBLE, &levels[l].x), TES_OK);
    assert_int_equal(tes_vector_create(ctx, levels[l].setup.n, TES_DOUBLE, &levels[l].r), TES_OK);
  }
  Level *finest = &levels[count - 1];
  double *v = malloc(sizeof(double) * (size_t)finest->setup.n),
         *work = malloc(sizeof(double) * (size_t)finest->setup.n);
  load_vector(finest->setup.space, finest->setup.b);
  assert_int_equal(tes_vector_set(finest->b, finest->setup.b), TES_OK);
  assert_int_equal(tes_vector_norm(finest->b, &reference), TES_OK);
  assert_near(reference, norm_rhs, 1e-5 * norm_rhs);
  for (int i = 1; i < cJSON_GetArraySize(expected); i++) {
    const double value = cJSON_GetArrayItem(expected, i)->valuedouble;
    vcycle(levels, count - 1, i == 1, v, work);
    level_residual(finest);
    assert_int_equal(tes_vector_norm(finest->r, &norm), TES_OK);
    if (value > 1e-11) assert_near(norm / reference, value, 0.01 * value);
  }
  free(v), free(work);
  for (int l = 0; l < count; l++) {
    tes_vector_destroy(&levels[l].b), tes_vector_destroy(&levels[l].x), tes_vector_destroy(&levels[l].r);
    teardown(&levels[l].setup);
  }
}

/* data/patch_prototype.json; 2D 8x8 and 3D 4x4x4. */
static void cycles_reproduce_residual_histories(void **state) {
  (void)state;
  static char text[1 << 16];
  FILE *file = fopen(TESI_SOURCE_DIR "/tests/data/patch_prototype.json", "r");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  cJSON *root = cJSON_Parse(text), *run;
  int compared = 0;
  TesContext *ctx;
  assert_non_null(root);
  assert_int_equal(tes_context_create(NULL, &ctx, NULL, 0), TES_OK);
  cJSON_ArrayForEach(run, cJSON_GetObjectItem(root, "runs")) {
    const int dim = cJSON_GetObjectItem(run, "dim")->valueint,
              cells = cJSON_GetObjectItem(run, "cells")->valueint;
    const int degree = cJSON_GetObjectItem(run, "degree")->valueint;
    if (cells != (dim == 2 ? 8 : 4) || (dim == 3 && degree > 3)) continue;
    compare_history(ctx, dim, degree, cJSON_GetObjectItem(run, "vcycle_residuals"),
                    cJSON_GetObjectItem(run, "norm_rhs")->valuedouble);
    compared++;
  }
  assert_int_equal(compared, 13);
  tes_context_destroy(&ctx);
  cJSON_Delete(root);
}

/* ---- trouble ------------------------------------------------------------------------------------------- */

static void bad_arguments_are_refused(void **state) {
  (void)state;
  TesContext *ctx;
  TesSmoother *smoother;
  TesVector *wrong;
  Setup s;
  assert_int_equal(tes_context_create(NULL, &ctx, NULL, 0), TES_OK);
  setup(&s, ctx, &(Case){.dim = 2, .degree = 2, .cells = {2, 2}}, TES_DOUBLE);
  assert_int_equal(tes_smoother_create(ctx, &(TesSmootherDesc){0}, &smoother), TES_INVALID_INPUT);
  assert_null(smoother);
  assert_int_equal(tes_smoother_create(ctx, &(TesSmootherDesc){.op = s.op, .omega = -1}, &smoother),
                   TES_INVALID_INPUT);
  assert_int_equal(
      tes_smoother_create(ctx, &(TesSmootherDesc){.op = s.op, .kind = TES_SMOOTHER_PATCH, .omega = 0.5},
                          &smoother),
      TES_INVALID_INPUT);
  assert_int_equal(
      tes_smoother_create(ctx, &(TesSmootherDesc){.op = s.op, .kind = (TesSmootherKind)99}, &smoother),
      TES_INVALID_INPUT);
  assert_int_equal(tes_vector_create(ctx, s.n, TES_SINGLE, &wrong), TES_OK);
  assert_int_equal(tes_smoother_apply(s.smoother, wrong, wrong, TES_FORWARD, false), TES_INVALID_INPUT);
  tes_vector_destroy(&wrong);
  assert_int_equal(tes_vector_create(ctx, s.n, TES_DOUBLE, &wrong), TES_OK);
  assert_int_equal(tes_smoother_apply(s.smoother, wrong, wrong, TES_FORWARD, false), TES_INVALID_INPUT);
  tes_vector_destroy(&wrong);
  teardown(&s);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plain_version_equals_dense_solves),
      cmocka_unit_test(sweep_equals_plain_version),
      cmocka_unit_test(fallback_equals_plain_version),
      cmocka_unit_test(every_simd_width_equals_plain_version),
      cmocka_unit_test(long_lines_and_all_cell_counts),
      cmocka_unit_test(threads_do_not_change_bits),
      cmocka_unit_test(cycles_reproduce_residual_histories),
      cmocka_unit_test(bad_arguments_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
