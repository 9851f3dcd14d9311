/* Run: ctest -R t4_operator_separable. The separable diffusion operator against its plain version, and the plain
 * version against Kronecker products of assembled 1D matrices.
 * Labels: threads simd */
#include <stdlib.h>
#include <string.h>
#include "operator_testing.h"
#include "operator/operator.h"
#include "testing.h"

/* A box with graded cells, Dirichlet and natural ends by the bits of `natural`, constant coefficients. a = 0: the form
 * has no diffusion term. */
typedef struct Case {
  int dim, degree, cells[3], natural;
  bool graded;
  double a, c, alpha;
  TesPrecision precision;
} Case;

static TesOperator *make_operator(TesContext *context, const Case *t) {
  TesMesh *mesh;
  TesSpace *space;
  TesOperator *op;
  TesFunction *a, *c, *alpha[6];
  double *x[3];
  TesMeshDesc box = {.dim = t->dim, .upper = {1, 1.25, 0.75}};
  uint64_t seed = 5;
  for (int d = 0; d < 3; d++) {
    box.cells[d] = t->cells[d];
    x[d] = calloc((size_t)t->cells[d] + 1, sizeof *x[d]);
    for (int i = 0; i < t->cells[d]; i++) x[d][i + 1] = x[d][i] + 1 + 0.5 * test_random(&seed);
    if (t->graded) box.coordinates[d] = x[d];
  }
  assert_int_equal(tes_mesh_create(context, &box, &mesh), TES_OK);
  TesSpaceDesc space_desc = {.mesh = mesh, .degree = t->degree};
  uint8_t given[6] = {1, 1, 1, 1, 1, 1};
  for (int f = 0; f < 6; f++) given[f] = !(t->natural >> f & 1);
  space_desc.given = given;
  assert_int_equal(tes_space_create(context, &space_desc, &space), TES_OK);
  TestDiffusion desc = {.space = space, .precision = t->precision, .kind = "separable"};
  assert_int_equal(tes_function_create_constant(context, t->a, &a), TES_OK);
  assert_int_equal(tes_function_create_constant(context, t->c, &c), TES_OK);
  desc.a = a, desc.c = c, desc.mass_alone = t->a == 0;
  for (int f = 0; f < 6; f++) {
    assert_int_equal(tes_function_create_constant(context, t->alpha * (1 + f), &alpha[f]), TES_OK);
    if (!given[f] && f < 2 * t->dim && t->alpha != 0) desc.alpha[f] = alpha[f];
  }
  assert_int_equal(test_operator_create(context, &desc, &op), TES_OK);
  for (int f = 0; f < 6; f++) tes_function_destroy(&alpha[f]);
  tes_function_destroy(&a), tes_function_destroy(&c);
  tes_space_destroy(&space), tes_mesh_destroy(&mesh);
  for (int d = 0; d < 3; d++) free(x[d]);
  return op;
}

static bool is_unknown(const TesSpace *space, int64_t i) {
  bool unknown = true;
  for (int d = 0; d < 3; d++) {
    const TesiAxis *axis = &space->axis[d];
    const int node = (int)(i % axis->nodes);
    unknown = unknown && node >= tesi_axis_first(axis) && node < tesi_axis_end(axis);
    i /= axis->nodes;
  }
  return unknown;
}

/* Random values, zero at Dirichlet nodes. */
static void randomize(const TesSpace *space, uint64_t seed, double *values) {
  for (int64_t i = 0; i < space->length; i++) {
    const double value = test_random(&seed);
    values[i] = is_unknown(space, i) ? value : 0;
  }
}

static double largest(int64_t n, const double *v) {
  double m = 0;
  for (int64_t i = 0; i < n; i++) m = fabs(v[i]) > m ? fabs(v[i]) : m;
  return m;
}

/* y_i = sum over d of K_d (x) M_others, entry by entry. */
static void plain_is_the_kronecker_product(void **state) {
  static const Case cases[] = {
      {2, 3, {2, 3, 1}, 0, true, 1, 0, 0, TES_DOUBLE},
      {2, 2, {3, 1, 1}, 0x5, true, 2.5, 0.75, 1.5, TES_DOUBLE},
      {3, 2, {2, 1, 3}, 0x12, true, 0.5, 3, 0.25, TES_DOUBLE},
      {3, 4, {1, 2, 1}, 0x3f, false, 1, 0, 0, TES_DOUBLE},
      {3, 2, {2, 3, 1}, 0x12, true, 0, 1.5, 0, TES_DOUBLE},
  };
  TesContext *context;
  (void)state;
  assert_int_equal(tes_context_create(NULL, &context, NULL, 0), TES_OK);
  for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
    TesOperator *op = make_operator(context, &cases[t]);
    const TesSpace *space = op->space;
    const int64_t n = space->length;
    double *K[3], *M[3], one = 1, zero = 0;
    for (int d = 0; d < 3; d++) {
      const size_t nodes = (size_t)space->axis[d].nodes;
      K[d] = malloc(nodes * nodes * sizeof *K[d]), M[d] = malloc(nodes * nodes * sizeof *M[d]);
      if (d < space->dim)
        assert_int_equal(tesi_operator_axis_matrices(op, d, K[d], M[d]), TES_OK);
      else
        *K[d] = zero, *M[d] = one;
    }
    double *x = malloc((size_t)n * sizeof *x), *y = malloc((size_t)n * sizeof *y);
    randomize(space, 7 + t, x);
    assert_int_equal(op->table->apply_ref(op, x, y), TES_OK);
    for (int64_t i = 0; i < n; i++) {
      double sum = 0;
      for (int64_t j = 0; j < n; j++) {
        double m[3], k[3];
        int64_t ri = i, rj = j;
        for (int d = 0; d < 3; d++) {
          const int nodes = space->axis[d].nodes;
          const int64_t entry = ri % nodes * nodes + rj % nodes;
          m[d] = M[d][entry], k[d] = K[d][entry], ri /= nodes, rj /= nodes;
        }
        sum += (k[0] * m[1] * m[2] + m[0] * k[1] * m[2] + m[0] * m[1] * k[2]) * x[j];
      }
      assert_near(y[i], is_unknown(space, i) ? sum : 0, 1e-12 * largest(n, y));
    }
    assert_true(tes_operator_info(op).singular == (t == 3));
    free(x), free(y);
    for (int d = 0; d < 3; d++) free(K[d]), free(M[d]);
    tes_operator_destroy(&op);
  }
  assert_int_equal(tes_context_memory(context), 0);
  tes_context_destroy(&context);
}

/* ---- the fast operator against the plain one --------------------------------------------------------------------- */

static TesContext *make_context(int threads, int bits) {
  TesContext *context;
  const TesContextDesc desc = {.device = "cpu", .threads = threads, .simd_bits = bits};
  return tes_context_create(&desc, &context, NULL, 0) == TES_OK ? context : NULL;
}

/* A vector that holds `values`; NaN where NULL. */
static TesVector *make_vector(const TesOperator *op, const double *values) {
  TesVector *v;
  assert_int_equal(tes_vector_create(op->context, op->space->length, op->precision, &v), TES_OK);
  if (values)
    assert_int_equal(tes_vector_set(v, values), TES_OK);
  else
    assert_int_equal(tes_vector_fill(v, NAN), TES_OK);
  return v;
}

static void assert_vector(const TesOperator *op, const TesVector *v, const double *expected, double tolerance) {
  double *actual = malloc((size_t)v->length * sizeof *actual);
  assert_int_equal(tes_vector_get(v, actual), TES_OK);
  for (int64_t i = 0; i < v->length; i++)
    if (!(fabs(actual[i] - expected[i]) <= tolerance))
      fail_msg("%s, %d x %d x %d cells: node %lld of %lld is %.17g, expected %.17g +- %.3g", op->description,
               op->space->axis[0].cells, op->space->axis[1].cells, op->space->axis[2].cells, (long long)i,
               (long long)v->length, actual[i], expected[i], tolerance);
  free(actual);
}

/* What the fast operators are compared with: computed once a case. */
typedef struct Plain {
  double *x, *b, *y, *r, *d; /* d NULL on large meshes */
} Plain;

static Plain make_plain(const TesOperator *op) {
  const int64_t n = op->space->length;
  const size_t bytes = (size_t)n * sizeof(double);
  Plain p = {malloc(bytes), malloc(bytes), malloc(bytes), malloc(bytes), n <= 4096 ? malloc(bytes) : NULL};
  randomize(op->space, 11, p.x), randomize(op->space, 13, p.b);
  for (int64_t i = 0; i < n; i++) p.x[i] = (float)p.x[i], p.b[i] = (float)p.b[i];
  assert_int_equal(tesi_diffusion_apply_ref(op, p.x, p.y), TES_OK);
  for (int64_t i = 0; i < n; i++) p.r[i] = p.b[i] - p.y[i];
  if (p.d) assert_int_equal(tesi_diffusion_diagonal_ref(op, p.d), TES_OK);
  return p;
}

/* x <- x + scale e, r <- factor (b - A x) rounded, and its norm, in one call: from an x that lacks the correction;
 * then without one. */
static void correct_and_compare(const TesOperator *op, const double *right, const double *b,
                                const double *residual, double tolerance) {
  const int64_t n = op->length;
  double *x = malloc((size_t)n * sizeof *x), *scaled = malloc((size_t)n * sizeof *x), sum = 0, norm = NAN;
  float *e = malloc((size_t)n * sizeof *e);
  TesVector *r;
  uint64_t seed = 19;
  assert_int_equal(tes_vector_create(op->context, n, TES_SINGLE, &r), TES_OK);
  for (int64_t i = 0; i < n; i++) {
    e[i] = (float)test_random(&seed) * (right[i] != 0);
    x[i] = right[i] - 0.5 * e[i]; /* exact: right and e have 24 bits */
    scaled[i] = 4 * residual[i], sum += residual[i] * residual[i];
  }
  for (int corrected = 0; corrected < 2; corrected++) {
    const TesiCorrection job = {b, x, corrected ? NULL : e, 0.5, 4, r->data};
    assert_int_equal(tes_vector_fill(r, NAN), TES_OK);
    assert_int_equal(op->table->correct_residual(op, &job, &norm), TES_OK);
    assert_memory_equal(x, right, (size_t)n * sizeof *x);
    assert_vector(op, r, scaled, 4 * tolerance);
    assert_near(norm, sqrt(sum), 1e-10 * sqrt(sum) + 1e-14);
  }
  free(x), free(e), free(scaled);
  tes_vector_destroy(&r);
}

/* apply, residual (also with r = b) and diagonal, all outputs poisoned before. */
static void compare_with_plain(const TesOperator *op, const Plain *p) {
  const int64_t n = op->space->length;
  const double epsilon = op->precision == TES_DOUBLE ? 1e-12 : 1e-5, tolerance = epsilon * largest(n, p->y),
               rounding = (op->precision == TES_DOUBLE ? 2.3e-16 : 1.2e-7) * largest(n, p->r);
  TesVector *x = make_vector(op, p->x), *b = make_vector(op, p->b), *y = make_vector(op, NULL);
  assert_int_equal(tes_operator_apply(op, x, y), TES_OK);
  assert_vector(op, y, p->y, tolerance);
  assert_int_equal(tes_vector_fill(y, NAN), TES_OK);
  assert_int_equal(tes_operator_residual(op, b, x, y), TES_OK);
  assert_vector(op, y, p->r, tolerance + rounding);
  assert_int_equal(tes_operator_residual(op, b, x, b), TES_OK);
  assert_vector(op, b, p->r, tolerance + rounding);
  if (p->d) {
    assert_int_equal(tes_vector_fill(y, NAN), TES_OK);
    assert_int_equal(tes_operator_diagonal(op, y), TES_OK);
    assert_vector(op, y, p->d, epsilon * largest(n, p->d));
  }
  tes_vector_destroy(&x), tes_vector_destroy(&b), tes_vector_destroy(&y);
  if (op->precision == TES_DOUBLE)
    correct_and_compare(op, p->x, p->b, p->r, 1e-12 * largest(n, p->y) + 1e-7 * largest(n, p->r));
}

/* Every SIMD width that this processor has, both precisions. */
static void compare_case(int threads, const Case *t) {
  static const int widths[] = {128, 256, 512};
  Plain plain = {0};
  for (int w = 0; w < 3; w++)
    for (TesPrecision precision = TES_DOUBLE; precision <= TES_SINGLE; precision++) {
      TesContext *context = make_context(threads, widths[w]);
      if (!context) continue;
      Case with_precision = *t;
      with_precision.precision = precision;
      TesOperator *op = make_operator(context, &with_precision);
      if (!plain.x) plain = make_plain(op);
      compare_with_plain(op, &plain);
      tes_operator_destroy(&op);
      assert_int_equal(tes_context_memory(context), 0);
      tes_context_destroy(&context);
    }
  free(plain.x), free(plain.b), free(plain.y), free(plain.r), free(plain.d);
}

static void every_degree_in_3d(void **state) {
  (void)state;
  for (int degree = 1; degree <= 12; degree++) {
    const Case t = {3,    degree, {3, 2, 2}, 1 << (degree % 6), degree % 2 == 0, 1.5, 0.5 * (degree % 3),
                    0.75, 0};
    compare_case(1, &t);
  }
}

static void every_degree_in_2d(void **state) {
  (void)state;
  for (int degree = 1; degree <= 20; degree++) {
    const Case t = {2, degree, {5, 4, 1}, degree % 16, degree % 3 == 0, 1, 0.25 * (degree % 2), 1.25, 0};
    compare_case(2, &t);
  }
}

static void masses_alone(void **state) {
  (void)state;
  for (int degree = 1; degree <= 9; degree++) {
    const bool graded = degree % 2;
    compare_case(2, &(Case){2, degree, {5, 4, 1}, degree % 16, graded, 0, 2.5, degree % 3 ? 0 : 1.25, 0});
    compare_case(2, &(Case){3, degree, {3, 2, 2}, 1 << (degree % 6), graded, 0, 0.7, 0, 0});
  }
  TesContext *context = make_context(1, 0);
  TesOperator *op = make_operator(context, &(Case){2, 2, {3, 2, 1}, 0, false, 0, 1, 0, TES_DOUBLE});
  TesSmoother *smoother;
  assert_true(tes_smoother_create(context, &(TesSmootherDesc){.op = op}, &smoother) != TES_OK);
  assert_non_null(strstr(tes_context_message(context), "no diffusion term; use chebyshev or jacobi"));
  tes_operator_destroy(&op);
  tes_context_destroy(&context);
}

static void odd_sizes(void **state) {
  static const Case cases[] = {
      {3, 2, {1, 1, 1}, 0, false, 1, 0, 0, 0},     {3, 4, {1, 2, 3}, 0, false, 1, 0, 0, 0},
      {3, 3, {3, 3, 3}, 0x3f, true, 1, 0, 1, 0},   {3, 2, {5, 4, 7}, 0, false, 2, 0, 0, 0},
      {3, 1, {5, 4, 7}, 0x15, true, 1, 1, 1, 0},   {3, 1, {1, 1, 1}, 0x3f, false, 1, 0, 0, 0},
      {3, 2, {150, 1, 1}, 0, true, 1, 0, 0, 0},    {3, 2, {1, 150, 1}, 0, true, 1, 0, 0, 0},
      {3, 2, {1, 1, 150}, 0, true, 1, 0, 0, 0},    {3, 1, {300, 2, 3}, 1, true, 1, 0, 2, 0},
      {3, 3, {2, 120, 2}, 0x8, false, 1, 0, 2, 0}, {2, 1, {1, 1, 1}, 0xf, false, 1, 1, 1, 0},
      {2, 1, {5000, 3, 1}, 3, false, 1, 0, 2, 0},  {2, 3, {1500, 2, 1}, 1, true, 1, 0, 2, 0},
      {2, 2, {3, 4000, 1}, 8, true, 1, 0, 2, 0},   {2, 4, {1, 7, 1}, 0, false, 1, 0, 0, 0},
      {2, 5, {33, 17, 1}, 0x6, true, 1, 2, 3, 0},  {3, 8, {9, 8, 2}, 0, false, 1, 0, 0, 0},
  };
  (void)state;
  for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) compare_case(2, &cases[t]);
}

/* Tiles and tasks: the same bits from any number of threads. */
static void threads_do_not_change_bits(void **state) {
  static const Case cases[] = {{3, 2, {70, 70, 12}, 0x21, true, 1, 0, 1, 0},
                               {3, 5, {12, 13, 9}, 0, false, 1, 0, 0, 0},
                               {2, 4, {100, 61, 1}, 0, false, 1, 0, 0, 0},
                               {2, 3, {1500, 8, 1}, 0, true, 1, 0, 0, 0}};
  (void)state;
  for (size_t t = 0; t < sizeof cases / sizeof *cases; t++)
    for (TesPrecision precision = TES_DOUBLE; precision <= TES_SINGLE; precision++) {
      double *first = NULL;
      for (int threads = 1; threads <= 12; threads += threads < 4 ? 1 : 4) {
        TesContext *context = make_context(threads, 0);
        Case with_precision = cases[t];
        with_precision.precision = precision;
        TesOperator *op = make_operator(context, &with_precision);
        const size_t bytes = (size_t)op->space->length * sizeof(double);
        double *x = malloc(bytes), *y = malloc(bytes);
        randomize(op->space, 17, x);
        TesVector *vx = make_vector(op, x), *vy = make_vector(op, NULL);
        assert_int_equal(tes_operator_apply(op, vx, vy), TES_OK);
        assert_int_equal(tes_vector_get(vy, y), TES_OK);
        if (precision ==
            TES_DOUBLE) { /* corrected in the pass or before, by tasks of any shape: as the plain residual */
          double *zero = calloc(1, bytes), *minus = malloc(bytes);
          for (int64_t i = 0; i < op->length; i++) x[i] = (float)x[i];
          assert_int_equal(tes_vector_set(vx, x), TES_OK);
          TesVector *vz = make_vector(op, NULL);
          assert_int_equal(tes_operator_apply(op, vx, vz), TES_OK);
          assert_int_equal(tes_vector_get(vz, minus), TES_OK);
          for (int64_t i = 0; i < op->length; i++) minus[i] = -minus[i];
          correct_and_compare(op, x, zero, minus, 1e-7 * largest(op->length, minus));
          tes_vector_destroy(&vz);
          free(zero), free(minus);
        }
        if (first)
          assert_memory_equal(first, y, bytes);
        else
          first = y, y = NULL;
        free(x), free(y);
        tes_vector_destroy(&vx), tes_vector_destroy(&vy);
        tes_operator_destroy(&op);
        tes_context_destroy(&context);
      }
      free(first);
    }
}

/* ---- creation ------------------------------------------------------------------------------------------ */

static void *allocate_some(void *user, size_t bytes) {
  int *left = user;
  return (*left)-- > 0 ? aligned_alloc(64, (bytes + 63) / 64 * 64) : NULL;
}

static void release_some(void *user, void *block) {
  (void)user;
  free(block);
}

/* Lets the n-th allocation of the creation fail, for every n. */
static void failing_allocations(void **state) {
  (void)state;
  for (int n = 0, created = 0; !created; n++) {
    int left = 1000;
    TesContext *context;
    TesMesh *mesh;
    TesSpace *space;
    TesOperator *op;
    const TesContextDesc desc = {.threads = 2, .allocator = {allocate_some, release_some, &left}};
    assert_int_equal(tes_context_create(&desc, &context, NULL, 0), TES_OK);
    assert_int_equal(tes_mesh_create(context, &(TesMeshDesc){.cells = {20, 20, 20}}, &mesh), TES_OK);
    assert_int_equal(tes_space_create(context, &(TesSpaceDesc){.mesh = mesh, .degree = 2}, &space), TES_OK);
    left = n;
    const TesStatus status = test_operator_create(context, &(TestDiffusion){.space = space}, &op);
    created = status == TES_OK;
    assert_true(created || (status == TES_OUT_OF_MEMORY && !op));
    assert_true(n < 100);
    left = 1000;
    tes_operator_destroy(&op), tes_space_destroy(&space), tes_mesh_destroy(&mesh);
    assert_int_equal(tes_context_memory(context), 0);
    tes_context_destroy(&context);
  }
}

static void refuses(TesContext *context, const TestDiffusion *desc, const char *words) {
  TesOperator *op;
  assert_int_equal(test_operator_create(context, desc, &op), TES_INVALID_INPUT);
  assert_null(op);
  if (!strstr(tes_context_message(context), words))
    fail_msg("'%s' lacks '%s'", tes_context_message(context), words);
  tes_context_clear(context);
}

static void product_callback(void *user, int64_t n, const double *x, const double *y, const double *z,
                             double t, double *out) {
  (void)user, (void)z, (void)t;
  for (int64_t i = 0; i < n; i++) out[i] = 1 + x[i] * y[i];
}

static void bad_input_is_refused(void **state) {
  TesContext *context = make_context(1, 0);
  TesMesh *mesh;
  TesSpace *space, *other;
  TesOperator *op;
  TesVector *x, *y, *single;
  TesFunction *negative, *zero, *variable;
  (void)state;
  assert_int_equal(tes_mesh_create(context, &(TesMeshDesc){.cells = {2, 2, 2}}, &mesh), TES_OK);
  assert_int_equal(tes_space_create(context, &(TesSpaceDesc){.mesh = mesh, .degree = 2}, &space), TES_OK);
  assert_int_equal(tes_space_create(context, &(TesSpaceDesc){.mesh = mesh, .degree = 3}, &other), TES_OK);
  assert_int_equal(tes_function_create_constant(context, -1, &negative), TES_OK);
  assert_int_equal(tes_function_create_constant(context, 0, &zero), TES_OK);
  assert_int_equal(tes_function_create_callback(context, product_callback, NULL, NULL, &variable), TES_OK);
  refuses(context, &(TestDiffusion){.space = NULL}, "space");
  refuses(context, &(TestDiffusion){.space = space, .a = zero}, "expected > 0");
  refuses(context, &(TestDiffusion){.space = space, .c = negative}, "expected >= 0");
  refuses(context, &(TestDiffusion){.space = space, .alpha = {zero}}, "left");
  refuses(context, &(TestDiffusion){.space = space, .precision = (TesPrecision)7}, "precision");
  refuses(context, &(TestDiffusion){.space = space, .kind = "seperable"},
          "there is no operator of kind seperable");
  refuses(context, &(TestDiffusion){.space = space, .a = variable, .kind = "separable"},
          "a coefficient varies");
  assert_int_equal(test_operator_create(context, &(TestDiffusion){.space = space, .a = variable}, &op),
                   TES_OK);
  assert_ptr_equal(op->kind, &tesi_operator_quadrature);
  tes_operator_destroy(&op);
  assert_int_equal(test_operator_create(context, &(TestDiffusion){.space = space}, &op), TES_OK);
  assert_ptr_equal(op->kind, &tesi_operator_separable);
  assert_int_equal(tes_vector_create(context, tes_space_length(space), TES_DOUBLE, &x), TES_OK);
  assert_int_equal(tes_vector_create(context, tes_space_length(other), TES_DOUBLE, &y), TES_OK);
  assert_int_equal(tes_vector_create(context, tes_space_length(space), TES_SINGLE, &single), TES_OK);
  assert_int_equal(tes_operator_apply(op, x, x), TES_INVALID_INPUT);
  assert_int_equal(tes_operator_apply(op, x, y), TES_INVALID_INPUT);
  assert_int_equal(tes_operator_apply(op, x, single), TES_INVALID_INPUT);
  assert_int_equal(tes_operator_residual(op, y, x, x), TES_INVALID_INPUT);
  assert_int_equal(tes_operator_diagonal(op, NULL), TES_INVALID_INPUT);
  tes_vector_destroy(&x), tes_vector_destroy(&y), tes_vector_destroy(&single);
  tes_operator_destroy(&op);
  tes_function_destroy(&negative), tes_function_destroy(&zero), tes_function_destroy(&variable);
  tes_space_destroy(&space), tes_space_destroy(&other), tes_mesh_destroy(&mesh);
  assert_int_equal(tes_context_memory(context), 0);
  tes_context_destroy(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plain_is_the_kronecker_product),
      cmocka_unit_test(every_degree_in_3d),
      cmocka_unit_test(every_degree_in_2d),
      cmocka_unit_test(masses_alone),
      cmocka_unit_test(odd_sizes),
      cmocka_unit_test(threads_do_not_change_bits),
      cmocka_unit_test(failing_allocations),
      cmocka_unit_test(bad_input_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
