/* Operators on mapped cells: every kernel against the plain version, and what is known exactly of the operators.
 * Quick: 1-4,7,11
 * Labels: heavy simd */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "operator/mapped/mapped.h"
#include "operator/assembled/matrix.h"
#include "basis/gauss.h"
#include "failing_allocator.h"
#include "geometry/geometry.h"
#include "tessera/tessera.h"
#include "operator/operator.h"

static TesContext *ctx;

/* What a geometry is made of, by name. */
typedef enum Shape { CUBE, PERTURBED, SHUFFLED, CURVED, ANALYTIC, SHAPES } Shape;

static TesMesh *geometry(int dim, Shape shape, int cells) {
  static const char *const texts[2][3] = {
      {"x + 0.06*sin(pi*x)*sin(pi*y)", "y - 0.05*sin(pi*x)*sin(2*pi*y)", NULL},
      {"x + 0.06*sin(pi*x)*sin(pi*y)*sin(pi*z)", "y - 0.05*sin(pi*x)*sin(2*pi*y)*sin(pi*z)",
       "z + 0.04*sin(pi*x)*sin(pi*y)*sin(pi*z)"}};
  TesMesh *g;
  TesFunction *map[3] = {NULL};
  TesMeshDesc desc = {.kind = TES_MESH_CELLS, .dim = dim, .cells = {cells, dim == 3 ? 2 : 3, 2}, .seed = 11};
  if (shape != CUBE) desc.perturbation = 0.15;
  if (shape == SHUFFLED) desc.shuffle = 5;
  for (int d = 0; shape >= CURVED && d < dim; d++) {
    assert_ok(ctx, tes_function_create_expression(ctx, texts[dim - 2][d], &map[d]));
    desc.map[d] = map[d];
  }
  if (shape == CURVED) desc.geometry_degree = 2;
  assert_ok(ctx, tes_mesh_create(ctx, &desc, &g));
  for (int d = 0; d < 3; d++) tes_function_destroy(&map[d]);
  return g;
}

static TesVector *vector(const TesOperator *op, uint64_t seed) {
  TesVector *v;
  const int64_t n = tes_operator_info(op).length;
  double *values = malloc((size_t)n * sizeof *values);
  for (int64_t i = 0; i < n; i++) values[i] = test_random(&seed);
  assert_ok(ctx, tes_vector_create(ctx, n, tes_operator_info(op).precision, &v));
  assert_ok(ctx, tes_vector_set(v, values));
  free(values);
  return v;
}

static double *values_of(const TesVector *v) {
  double *values = malloc((size_t)tes_vector_length(v) * sizeof *values);
  assert_ok(ctx, tes_vector_get(v, values));
  return values;
}

/* |v - expected| <= tolerance max |expected| everywhere. */
static void compare(const TesVector *v, const double *expected, double tolerance, const char *what) {
  double *values = values_of(v), largest = 0;
  for (int64_t i = 0; i < tes_vector_length(v); i++) largest = fmax(largest, fabs(expected[i]));
  for (int64_t i = 0; i < tes_vector_length(v); i++)
    if (!(fabs(values[i] - expected[i]) <= tolerance * largest))
      fail_msg("%s: entry %lld is %.17g, expected %.17g (largest %.3g)", what, (long long)i, values[i],
               expected[i], largest);
  free(values);
}

/* apply, residual (in place too) and diagonal against apply_ref. */
static void check_operator(const TesiMappedDesc *desc, const char *name) {
  TesOperator *op;
  char what[256];
  const double tolerance = desc->precision == TES_DOUBLE ? 1e-12 : 2e-5;
  assert_ok(ctx, tesi_mapped_create(ctx, desc, &op));
  snprintf(what, sizeof what, "%s: %s", name, tes_operator_info(op).description);
  TesVector *x = vector(op, 3), *y = vector(op, 4), *b = vector(op, 5), *r = vector(op, 6), *d = vector(op, 7);
  const int64_t n = tes_operator_info(op).length;
  assert_ok(ctx, tesi_operator_apply_ref(op, x, y));
  double *expected = values_of(y), *rhs = values_of(b);
  assert_ok(ctx, tes_vector_fill(y, NAN));
  assert_ok(ctx, tes_operator_apply(op, x, y));
  compare(y, expected, tolerance, what);
  for (int64_t i = 0; i < n; i++) rhs[i] -= expected[i];
  assert_ok(ctx, tes_vector_fill(r, NAN));
  assert_ok(ctx, tes_operator_residual(op, b, x, r));
  compare(r, rhs, tolerance, what);
  assert_ok(ctx, tes_operator_residual(op, b, x, b));
  compare(b, rhs, tolerance, what);
  /* the diagonal entry of a few rows: e_i A e_i */
  double *unit = calloc((size_t)n, sizeof *unit), *diagonal;
  assert_ok(ctx, tes_vector_fill(d, NAN));
  assert_ok(ctx, tes_operator_diagonal(op, d));
  diagonal = values_of(d);
  for (int64_t i = 0; i < n; i++) assert_true(diagonal[i] > 0);
  for (int64_t i = n / 7; i < n; i += n / 2 + 1) {
    unit[i] = 1;
    assert_ok(ctx, tes_vector_set(x, unit));
    assert_ok(ctx, tes_operator_apply(op, x, y));
    double *column = values_of(y);
    assert_near(diagonal[i] / column[i], 1, tolerance);
    free(column);
    unit[i] = 0;
  }
  assert_true(tes_operator_info(op).cost.flops > 0 && tes_operator_info(op).cost.bytes > 0);
  free(unit), free(diagonal), free(expected), free(rhs);
  tes_vector_destroy(&x), tes_vector_destroy(&y), tes_vector_destroy(&b), tes_vector_destroy(&r),
      tes_vector_destroy(&d);
  tes_operator_destroy(&op);
}

/* Every degree, 2D and 3D, Gauss and collocated, mass, stiffness, both, all ways to have the factors, both
 * precisions. */
static void check_degrees(int dim, int lowest, int highest) {
  for (int k = lowest; k <= highest; k++)
    for (int shape = CUBE; shape <= PERTURBED && test_degree(k); shape++) {
      TesMesh *g = geometry(dim, (Shape)shape, k > 8 ? 2 : 11);
      for (int collocated = 0; collocated < 2; collocated++)
        for (int terms = TESI_STIFFNESS; terms <= TESI_STIFFNESS_MASS; terms++)
          for (int factors = TES_FACTORS_STORED; factors <= TES_FACTORS_WEIGHTS; factors++) {
            if (factors == TES_FACTORS_AFFINE && shape != CUBE) continue;
            if (factors == TES_FACTORS_MATRIX && (k > 2 || shape == CUBE)) continue;
            if (factors == TES_FACTORS_WEIGHTS && (terms == TESI_MASS || shape == CUBE)) continue;
            if (k > 8 && (terms != TESI_STIFFNESS_MASS || (dim == 3 && factors != TES_FACTORS_STORED)))
              continue;
            if (dim == 3 && k > 4 && k <= 8 && terms == TESI_MASS && collocated) continue;
            TesiMappedDesc desc = {
                .mesh = g,
                .degree = k,
                .terms = (TesiMappedTerms)terms,
                .collocated = collocated,
                .lambda = 0.7,
                .factors = (TesFactors)factors,
                .numbering = {.order = (TesNumberingOrder)((k + factors) % 3), .seed = 3, .dirichlet = k % 2}};
            check_operator(&desc, "degrees");
            if (dim == 3 && k > 4 && terms != TESI_STIFFNESS_MASS) continue;
            desc.precision = TES_SINGLE;
            check_operator(&desc, "degrees");
          }
      tes_mesh_destroy(&g);
    }
}

static void test_degrees_2d(void **state) {
  (void)state;
  check_degrees(2, 1, 15);
}

static void test_degrees_3d(void **state) {
  (void)state;
  check_degrees(3, 1, 6);
}

static void test_degrees_3d_high(void **state) {
  (void)state;
  for (int k = 7; k <= 15; k++) {
    if (!test_degree(k)) continue;
    TesMesh *g = geometry(3, PERTURBED, k > 8 ? 1 : 2);
    for (int collocated = 0; collocated < 2; collocated++) {
      if (k > 9 && collocated == k % 2) continue;
      check_operator(&(TesiMappedDesc){.mesh = g,
                                       .degree = k,
                                       .terms = TESI_STIFFNESS_MASS,
                                       .collocated = collocated,
                                       .factors = k % 2 ? TES_FACTORS_STORED : TES_FACTORS_VERTICES},
                     "high degrees");
    }
    tes_mesh_destroy(&g);
  }
}

/* Forms, components, numberings, Dirichlet rows, geometries, coefficients, points. */
static void test_variants(void **state) {
  (void)state;
  static const char *const tensors[6] = {"2 + x", "0.3*y", "0.2*z", "3 + y*y", "0.1", "2.5 + sin(x)"};
  static const int place[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
  TesFunction *a[6], *c, *matrix[2][2];
  for (int i = 0; i < 6; i++) assert_ok(ctx, tes_function_create_expression(ctx, tensors[i], &a[i]));
  for (int dim = 2; dim <= 3; dim++)
    for (int full = 0; full < 2; full++) {
      const TesFunction *entry[9];
      for (int i = 0; i < dim * dim; i++)
        entry[i] = full || i / dim == i % dim ? a[place[i / dim][i % dim]] : NULL;
      assert_ok(ctx, tes_function_create_matrix(ctx, dim, entry, &matrix[dim - 2][full]));
    }
  assert_ok(ctx, tes_function_create_expression(ctx, "1 + x*y", &c));
  for (int dim = 2; dim <= 3; dim++)
    for (int shape = CUBE; shape < SHAPES; shape++) {
      TesMesh *g = geometry(dim, (Shape)shape, 9);
      for (int variant = dim == 3 ? shape % 2 : 0; variant < 16; variant += dim == 3 ? 2 : 1)
        for (int form = TESI_GLOBAL_VECTORS; form <= TESI_ELEMENT_VECTORS; form++) {
          const int k = 1 + (variant + shape) % 6;
          TesiMappedDesc desc = {.mesh = g,
                                 .degree = k,
                                 .form = (TesiVectorForm)form,
                                 .terms = (TesiMappedTerms)(1 + (variant + form) % 3),
                                 .collocated = variant / 2 % 2,
                                 .points = variant % 5 == 0   ? k + 1
                                           : variant % 7 == 0 ? k + 3
                                                              : 0,
                                 .components = 1 + variant % 4,
                                 .lambda = 1.5,
                                 .precision = variant % 5 == 4 ? TES_SINGLE : TES_DOUBLE,
                                 .numbering = {.order = (TesNumberingOrder)(variant / 4 % 3),
                                               .seed = 8,
                                               .dirichlet = variant % 2}};
          if (form == TESI_ELEMENT_VECTORS) desc.numbering = (TesNumberingDesc){0};
          if (variant % 3) desc.a = matrix[dim - 2][variant % 3 == 2];
          if (variant % 6 == 3) desc.a = a[0];
          if (variant % 4 == 1) desc.c = c;
          check_operator(&desc, "variants");
        }
      tes_mesh_destroy(&g);
    }
  for (int i = 0; i < 6; i++) tes_function_destroy(&a[i]);
  for (int i = 0; i < 4; i++) tes_function_destroy(&matrix[i / 2][i % 2]);
  tes_function_destroy(&c);
}

/* A caller's index without any pattern, some nodes constrained, one touched by no cell. */
static void test_own_index(void **state) {
  (void)state;
  TesMesh *g = geometry(3, PERTURBED, 5);
  const int k = 6, points = 343;
  int32_t *index = malloc((size_t)(20 * points) * sizeof *index);
  int64_t nodes;
  assert_ok(ctx, tesi_geometry_number(g->geometry, &(TesNumberingDesc){.degree = k}, index, &nodes));
  for (int i = 0; i < 20 * points; i++) {
    const int32_t node = (int32_t)(nodes - index[i]); /* 1 .. nodes, backwards */
    index[i] = node % 5 == 0 ? -1 - node : node;
  }
  check_operator(
      &(TesiMappedDesc){.mesh = g, .degree = k, .terms = TESI_MASS, .index = index, .nodes = nodes + 1},
      "index");
  index[342] = index[342] < 0 ? ~index[342] : -1 - index[342]; /* a corner that cells share */
  TesOperator *op = NULL;
  TesiMappedDesc desc = {.mesh = g, .degree = k, .index = index, .nodes = nodes + 1};
  assert_int_equal(tesi_mapped_create(ctx, &desc, &op), TES_INVALID_INPUT); /* constrained in one cell only */
  tes_context_clear(ctx);
  desc.nodes = 10;
  assert_int_equal(tesi_mapped_create(ctx, &desc, &op), TES_INVALID_INPUT);
  assert_null(op);
  tes_context_clear(ctx);
  free(index);
  tes_mesh_destroy(&g);
}

static double energy(const TesOperator *op, TesVector *x, const TesVector *z) {
  TesVector *y = vector(op, 1);
  double dot;
  assert_ok(ctx, tes_operator_apply(op, x, y));
  assert_ok(ctx, tes_vector_dot(z, y, &dot));
  tes_vector_destroy(&y);
  return dot;
}

/* Values at the nodes of an affine function of x: c0 + c.x, by the geometry's own positions. */
static TesVector *affine_field(const TesOperator *op, const TesMesh *g, int k, const double c[4]) {
  const int dim = tes_mesh_info(g).dim, n = k + 1, points = dim == 3 ? n * n * n : n * n;
  double at[16];
  int64_t nodes;
  const int32_t *index = tesi_mapped_index(op, &nodes);
  double *values = calloc((size_t)nodes, sizeof *values);
  tesi_gauss_lobatto(n, at, NULL);
  for (int64_t i = 0; i < tes_mesh_info(g).cells * points; i++) {
    const int p = (int)(i % points);
    const double xi[3] = {at[p % n], at[p / n % n], at[p / n / n]};
    double x[3] = {0};
    assert_ok(ctx, tes_mesh_evaluate(g, i / points, 1, xi, x, NULL));
    values[index[i]] = c[0] + c[1] * x[0] + c[2] * x[1] + c[3] * x[2];
  }
  TesVector *v = vector(op, 1);
  assert_ok(ctx, tes_vector_set(v, values));
  free(values);
  return v;
}

/* Mass of 1 is the volume, stiffness of 1 is 0, A is symmetric; the energy of a linear field on isoparametric cells
 * is exact:
 * |grad|^2 times the volume (1: the boundary of the box does not move). */
static void test_exact(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int shape = CUBE; shape <= CURVED; shape++)
      for (int k = 2; k <= 5; k++) {
        TesMesh *g = geometry(dim, (Shape)shape, 3);
        TesOperator *mass, *stiffness;
        const TesNumberingDesc numbering = {.order = TES_NUMBER_SHUFFLED, .seed = 2};
        assert_ok(
            ctx, tesi_mapped_create(
                     ctx,
                     &(TesiMappedDesc){
                         .mesh = g, .degree = k, .points = k + 3, .terms = TESI_MASS, .numbering = numbering},
                     &mass));
        assert_ok(ctx,
                  tesi_mapped_create(
                      ctx, &(TesiMappedDesc){.mesh = g, .degree = k, .points = k + 3, .numbering = numbering},
                      &stiffness));
        assert_true(tes_operator_info(stiffness).singular && !tes_operator_info(mass).singular);
        const double c[4] = {0.3, 1, -2, 0.5};
        TesVector *one = vector(mass, 1), *u = vector(mass, 2), *v = vector(mass, 3), *zero = vector(mass, 4);
        TesVector *linear = affine_field(mass, g, k, c);
        double largest;
        assert_ok(ctx, tes_vector_fill(one, 1));
        assert_near(energy(mass, one, one), 1, shape == CURVED ? 2e-3 : 1e-12);
        assert_ok(ctx, tes_operator_apply(stiffness, one, zero));
        assert_ok(ctx, tes_vector_maximum(zero, &largest));
        assert_near(largest, 0, 1e-12);
        assert_near(energy(stiffness, u, v), energy(stiffness, v, u), 1e-10);
        assert_near(energy(mass, u, v), energy(mass, v, u), 1e-13);
        const double squares = c[1] * c[1] + c[2] * c[2] + (dim == 3 ? c[3] * c[3] : 0);
        assert_near(energy(stiffness, linear, linear), squares * energy(mass, one, one), 1e-11);
        tes_vector_destroy(&one), tes_vector_destroy(&u), tes_vector_destroy(&v), tes_vector_destroy(&zero);
        tes_vector_destroy(&linear);
        tes_operator_destroy(&mass), tes_operator_destroy(&stiffness);
        tes_mesh_destroy(&g);
      }
}

static void test_assembled(void **state) {
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int k = 1; k <= 3; k++) {
      TesMesh *g = geometry(dim, CURVED, 3);
      TesOperator *op;
      TesiMatrix A;
      const TesiMappedDesc desc = {
          .mesh = g, .degree = k, .terms = TESI_STIFFNESS_MASS, .numbering = {.dirichlet = k != 2}};
      assert_ok(ctx, tesi_mapped_create(ctx, &desc, &op));
      assert_ok(ctx, tesi_mapped_assemble(op, &A));
      TesVector *x = vector(op, 3), *y = vector(op, 4);
      double *in = values_of(x), *out = calloc((size_t)A.rows, sizeof *out);
      assert_int_equal(A.rows, tes_operator_info(op).length);
      assert_int_equal(A.row[A.rows], A.entries);
      for (int64_t i = 0; i < A.rows; i++)
        for (int64_t e = A.row[i]; e < A.row[i + 1]; e++) {
          assert_true(e == A.row[i] || A.column[e] > A.column[e - 1]);
          out[i] += A.value[e] * in[A.column[e]];
        }
      assert_ok(ctx, tes_operator_apply(op, x, y));
      compare(y, out, 1e-12, "assembled");
      tesi_matrix_destroy(op->context, &A);
      free(in), free(out);
      tes_vector_destroy(&x), tes_vector_destroy(&y);
      tes_operator_destroy(&op);
      tes_mesh_destroy(&g);
    }
}

static void test_refused(void **state) {
  (void)state;
  TesMesh *g = geometry(2, CURVED, 3), *affine = geometry(2, CUBE, 3);
  TesFunction *negative, *mirrored, *one, *other_dim, *indefinite, *askew;
  TesOperator *op = NULL;
  assert_ok(ctx, tes_function_create_expression(ctx, "x - 0.5", &negative));
  assert_ok(ctx, tes_function_create_expression(ctx, "x * 0.5 - y", &mirrored));
  assert_ok(ctx, tes_function_create_constant(ctx, 1, &one));
  assert_ok(ctx, tes_function_create_matrix(
                     ctx, 3, (const TesFunction *[9]){one, NULL, NULL, NULL, one, NULL, NULL, NULL, one},
                     &other_dim));
  assert_ok(ctx, tes_function_create_matrix(ctx, 2, (const TesFunction *[4]){one, NULL, NULL, negative},
                                            &indefinite));
  assert_ok(ctx, tes_function_create_matrix(ctx, 2, (const TesFunction *[4]){one, negative, mirrored, one},
                                            &askew));
  const TesiMappedDesc bad[] = {
      {.degree = 2},
      {.mesh = g},
      {.mesh = g, .degree = 16},
      {.mesh = g, .degree = 2, .components = 5},
      {.mesh = g, .degree = 2, .points = 2},
      {.mesh = g, .degree = 2, .lambda = -1},
      {.mesh = g, .degree = 2, .factors = TES_FACTORS_VERTICES},
      {.mesh = g, .degree = 2, .factors = TES_FACTORS_AFFINE},
      {.mesh = g, .degree = 3, .factors = TES_FACTORS_MATRIX},
      {.mesh = affine, .degree = 2, .terms = TESI_MASS, .factors = TES_FACTORS_WEIGHTS},
      {.mesh = affine, .degree = 2, .a = negative},
      {.mesh = affine, .degree = 2, .a = other_dim},
      {.mesh = affine, .degree = 2, .a = indefinite},
      {.mesh = affine, .degree = 2, .a = askew},
      {.mesh = affine, .degree = 2, .terms = TESI_MASS, .c = negative},
      {.mesh = affine, .degree = 1, .a = negative, .factors = TES_FACTORS_MATRIX}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    if (tesi_mapped_create(ctx, &bad[i], &op) != TES_INVALID_INPUT) fail_msg("case %zu was not refused", i);
    assert_null(op);
    tes_context_clear(ctx);
  }
  assert_ok(ctx, tesi_mapped_create(ctx, &(TesiMappedDesc){.mesh = g, .degree = 2}, &op));
  assert_null(tes_operator_info(op).space);
  TesSmoother *smoother = NULL;
  assert_int_equal(
      tes_smoother_create(ctx, &(TesSmootherDesc){.op = op, .kind = TES_SMOOTHER_PATCH}, &smoother),
      TES_INVALID_INPUT);
  tes_context_clear(ctx);
  tes_operator_destroy(&op);
  tes_function_destroy(&negative), tes_function_destroy(&mirrored), tes_function_destroy(&one);
  tes_function_destroy(&other_dim), tes_function_destroy(&indefinite), tes_function_destroy(&askew);
  tes_mesh_destroy(&g);
  tes_mesh_destroy(&affine);
}

static TesStatus make_all(TesContext *context, void *user) {
  (void)user;
  TesMesh *g = NULL;
  TesOperator *op = NULL;
  TesiMatrix A = {0};
  TesStatus status =
      tes_mesh_create(context, &(TesMeshDesc){.dim = 2, .cells = {9, 2}, .perturbation = 0.1}, &g);
  for (int factors = 0; factors <= TES_FACTORS_WEIGHTS && status == TES_OK; factors++) {
    if (factors == TES_FACTORS_AFFINE) continue;
    const TesiMappedDesc desc = {
        .mesh = g, .degree = 1, .factors = (TesFactors)factors, .numbering = {.dirichlet = true}};
    status = tesi_mapped_create(context, &desc, &op);
    if (status == TES_OK && factors == TES_FACTORS_STORED) status = tesi_mapped_assemble(op, &A);
    if (status == TES_OK && factors == TES_FACTORS_STORED) tesi_matrix_destroy(op->context, &A);
    tes_operator_destroy(&op);
  }
  tes_mesh_destroy(&g);
  return status;
}

static void test_allocations(void **state) {
  (void)state;
  assert_true(every_allocation_fails(make_all, NULL) > 40);
}

static int setup(void **state) {
  (void)state;
  return tes_context_create(&(TesContextDesc){.device = "cpu", .threads = 2, .log = failing_log}, &ctx, NULL,
                            0) != TES_OK;
}

static int teardown(void **state) {
  (void)state;
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
  return 0;
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_exact),          cmocka_unit_test(test_variants),
      cmocka_unit_test(test_own_index),      cmocka_unit_test(test_assembled),
      cmocka_unit_test(test_refused),        cmocka_unit_test(test_allocations),
      cmocka_unit_test(test_degrees_2d),     cmocka_unit_test(test_degrees_3d),
      cmocka_unit_test(test_degrees_3d_high)};
  if (argc > 1) cmocka_set_test_filter(argv[1]);
  return cmocka_run_group_tests(tests, setup, teardown);
}
