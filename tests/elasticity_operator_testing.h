/* Operators of kind elasticity in tests: places where they stand, and what is promised of each of them. */
#ifndef TESI_ELASTICITY_OPERATOR_TESTING_H
#define TESI_ELASTICITY_OPERATOR_TESTING_H

#include <math.h>
#include <stdio.h>
#include "operator/elasticity/elasticity.h"
#include "tessera/tessera.h"
#include "testing.h"

typedef struct Place {
  TesContext *ctx;
  TesMesh *mesh;
  TesSpace *space;
} Place;

static inline TesFunction *expression(TesContext *on, const char *text) {
  TesFunction *f;
  assert_ok(on, tes_function_create_expression(on, text, &f));
  return f;
}

enum { BOX, GRADED, FOREST, BALL, SHEARED, KINDS };
static const char *const kinds[KINDS] = {"box", "graded box", "forest", "ball", "sheared cells"};

/* False: a build without p4est. Component 0 has values on boundary 0, component 1 on the first two, and in 3D
 * component 2 on boundary 3 (a ball: component 1 on its surface); all: all have everywhere; none: nothing is given. */
typedef enum Given { SOME, ALL, NONE } Given;

static inline bool make_place(TesContext *ctx, int kind, int dim, int degree, Given given, Place *p) {
  static const uint8_t some[8] = {3, 2, 0, 4}, round[8] = {2}, none[8];
  const double graded[] = {0, 0.2, 0.5, 1};
  TesFunction *corner = expression(ctx, "0.1 - x - y - z"), *map[3];
  map[0] = expression(ctx, "x + 0.3*y"), map[1] = expression(ctx, "y + 0.2*x"),
  map[2] = expression(ctx, "z + 0.1*x");
  const TesMeshDesc desc[] = {
      {.dim = dim, .cells = {2, 2, 2}, .kind = TES_MESH_BOX},
      {.dim = dim, .cells = {3, 2, 2}, .coordinates = {graded}, .kind = TES_MESH_BOX},
      {.dim = dim, .cells = {2, 2, 2}, .refine_where = corner, .kind = TES_MESH_FOREST},
      {.dim = dim, .domain = TES_DOMAIN_BALL, .radius = 1, .geometry_degree = 2},
      {.dim = dim, .cells = {3, 2, 2}, .map = {map[0], map[1], dim == 3 ? map[2] : NULL}, .kind = TES_MESH_CELLS},
  };
  *p = (Place){.ctx = ctx};
  const TesStatus status = tes_mesh_create(ctx, &desc[kind], &p->mesh);
  tes_function_destroy(&corner);
  for (int d = 0; d < 3; d++) tes_function_destroy(&map[d]);
  if (status == TES_MISSING) return false;
  assert_ok(ctx, status);
  assert_ok(ctx, tes_space_create(ctx,
                                  &(TesSpaceDesc){.mesh = p->mesh,
                                                  .degree = degree,
                                                  .components = dim,
                                                  .given = given == ALL    ? NULL
                                                           : given == SOME ? (kind == BALL ? round : some)
                                                                           : none},
                                  &p->space));
  return true;
}

static inline void leave(Place *p) {
  tes_space_destroy(&p->space);
  tes_mesh_destroy(&p->mesh);
}

enum { VARIES = 1, MASS = 2, SPRINGS = 4 };

static inline TesStatus create(const Place *p, int what, TesPrecision precision, TesOperator **op) {
  TesFunction *mu = expression(p->ctx, what & VARIES ? "1 + x*x" : "2"),
              *lambda = expression(p->ctx, what & VARIES ? "3 + y - 2*x" : "5"),
              *c = expression(p->ctx, "0.7"), *alpha = expression(p->ctx, "1.3 + x");
  TesTermDesc term[4] = {{.term = TES_TERM_STRAIN, .a = {.all = mu}},
                         {.term = TES_TERM_GRAD_DIV, .a = {.all = lambda}}};
  int terms = 2;
  if (what & MASS) term[terms++] = (TesTermDesc){.term = TES_TERM_MASS, .a = {.all = c}};
  if (what & SPRINGS) {
    const int last = tes_mesh_boundaries(p->mesh) - 1;
    term[terms++] = (TesTermDesc){.term = TES_TERM_ROBIN, .a = {.all = alpha}, .boundary = last};
  }
  const TesStatus status = tes_operator_create(
      p->ctx, &(TesOperatorDesc){.space = p->space, .form = {terms, term, 0}, .precision = precision}, op);
  TesFunction **all[] = {&mu, &lambda, &c, &alpha};
  for (int i = 0; i < 4; i++) tes_function_destroy(all[i]);
  return status;
}

/* Random numbers, zero where values are given; or NaN. */
static inline TesVector *make_vector(const Place *p, TesPrecision precision, uint64_t seed, bool nan) {
  TesVector *v;
  double *values = calloc((size_t)p->space->length, sizeof *values);
  for (int64_t i = 0; i < p->space->length; i++) values[i] = nan ? NAN : test_random(&seed);
  for (int c = 0; c < p->space->parts && !nan; c++) {
    const TesiCellView *cells;
    assert_ok(p->ctx, tesi_space_cells(p->space->part[c], &cells));
    for (int64_t i = 0; i < cells->length - cells->dofs; i++)
      values[p->space->part_first[c] + cells->constrained[i]] = 0;
  }
  assert_ok(p->ctx, tes_vector_create(p->ctx, p->space->length, precision, &v));
  assert_ok(p->ctx, tes_vector_set(v, values));
  free(values);
  return v;
}

static inline double *numbers_of(const Place *p, const TesVector *v) {
  double *values = calloc((size_t)p->space->length, sizeof *values);
  assert_ok(p->ctx, tes_vector_get(v, values));
  return values;
}

/* |v - scale w| is at most so much of |w|. */
static inline void assert_close(const Place *p, const TesVector *v, const TesVector *w, double most,
                                const char *what) {
  double *a = numbers_of(p, v), *b = numbers_of(p, w), distance = 0, size = 0;
  for (int64_t i = 0; i < p->space->length; i++)
    distance += (a[i] - b[i]) * (a[i] - b[i]), size += b[i] * b[i];
  if (!(sqrt(distance) <= most * sqrt(size)))
    fail_msg("%s: off by %g of %g", what, sqrt(distance), sqrt(size));
  free(a);
  free(b);
}

static inline void check_products(const Place *p, const TesOperator *op, const char *what) {
  const TesPrecision precision = op->precision;
  const double most = precision == TES_DOUBLE ? 1e-12 : 1e-5;
  double xy, yx;
  TesVector *x = make_vector(p, precision, 7, false), *y = make_vector(p, precision, 0, true),
            *plain = make_vector(p, TES_DOUBLE, 0, true), *b = make_vector(p, precision, 9, false),
            *r = make_vector(p, precision, 0, true);
  assert_string_equal(tes_operator_info(op).kind, "elasticity");
  assert_ok(p->ctx, tes_operator_apply(op, x, y));
  assert_ok(p->ctx, tesi_operator_apply_ref(op, x, plain));
  assert_close(p, y, plain, most, what);
  assert_ok(p->ctx, tes_operator_residual(op, b, x, r));
  assert_ok(p->ctx, tes_vector_axpy(1, y, r));
  assert_close(p, r, b, 100 * most, what);
  assert_ok(p->ctx, tes_vector_copy(b, 1, r)); /* in place */
  assert_ok(p->ctx, tes_operator_residual(op, r, x, r));
  assert_ok(p->ctx, tes_vector_axpy(1, y, r));
  assert_close(p, r, b, 100 * most, what);
  assert_ok(p->ctx, tes_vector_dot(b, y, &xy));
  assert_ok(p->ctx, tes_operator_apply(op, b, r));
  assert_ok(p->ctx, tes_vector_dot(x, r, &yx));
  assert_near(xy, yx, 10 * most * fabs(xy) + 100 * most);
  TesVector *const all[] = {x, y, plain, b, r};
  for (int i = 0; i < 5; i++) tes_vector_destroy((TesVector **)&all[i]);
}

/* By unit vectors: rows of constrained nodes are those of the identity. */
static inline void check_diagonal(const Place *p, const TesOperator *op, const char *what) {
  const int64_t n = p->space->length, stride = 1 + n / 60;
  TesVector *d = make_vector(p, op->precision, 0, true), *x = make_vector(p, op->precision, 0, true),
            *y = make_vector(p, op->precision, 0, true);
  double *one = calloc((size_t)n, sizeof *one);
  assert_ok(p->ctx, tes_operator_diagonal(op, d));
  double *diagonal = numbers_of(p, d);
  for (int64_t i = 0; i < n; i += stride) {
    one[i] = 1;
    assert_ok(p->ctx, tes_vector_set(x, one));
    one[i] = 0;
    assert_ok(p->ctx, tes_operator_apply(op, x, y));
    double *column = numbers_of(p, y);
    if (!(fabs(column[i] - diagonal[i]) <= (op->precision == TES_DOUBLE ? 1e-11 : 1e-4) * diagonal[i]))
      fail_msg("%s: the diagonal is %.12g at %lld, told as %.12g", what, column[i], (long long)i, diagonal[i]);
    free(column);
  }
  free(one);
  free(diagonal);
  tes_vector_destroy(&d), tes_vector_destroy(&x), tes_vector_destroy(&y);
}

#endif
