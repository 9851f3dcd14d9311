/* What the tests of smoothers share: operators on small boxes, random vectors, one step of a smoother. */
#ifndef TESI_SMOOTHER_TESTING_H
#define TESI_SMOOTHER_TESTING_H

#include <stdlib.h>
#include <string.h>
#include "operator_testing.h"
#include "smoother/smoother.h"
#include "tessera/tessera.h"
#include "testing.h"

typedef struct Case {
  int dim, degree, cells[3];
  bool graded, variable;
  unsigned natural;   /* bit f: face f is free */
  unsigned periodic;  /* bit d: direction d is */
  double a, c, alpha; /* a = 0 means 1; alpha on all free faces; factors of functions when variable */
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

static inline bool is_unknown(const TesSpace *space, int64_t node) {
  for (int d = 0; d < 3; d++) {
    const TesiAxis *axis = &space->axis[d];
    const int i = (int)(node % axis->nodes);
    if (i < tesi_axis_first(axis) || i >= tesi_axis_end(axis)) return false;
    node /= axis->nodes;
  }
  return true;
}

static inline void fill_random(const TesSpace *space, uint64_t seed, double *v) {
  uint64_t state = seed;
  for (int64_t i = 0; i < space->length; i++) {
    v[i] = test_random(&state);
    if (!is_unknown(space, i)) v[i] = 0;
  }
}

static inline void create_space(Setup *s, const Case *c) {
  double coordinates[3][64] = {{0}};
  TesMeshDesc box = {.dim = c->dim};
  TesSpaceDesc desc = {.degree = c->degree};
  for (int d = 0; d < c->dim; d++) {
    box.cells[d] = c->cells[d];
    for (int i = 0; i <= c->cells[d]; i++) coordinates[d][i] = (1 + 0.3 * d) * i + 0.3 * sin(2.0 * i + d);
    if (c->graded) box.coordinates[d] = coordinates[d];
    box.periodic[d] = c->periodic >> d & 1;
    if (box.periodic[d]) box.kind = TES_MESH_BOX;
  }
  assert_int_equal(tes_mesh_create(s->ctx, &box, &s->mesh), TES_OK);
  desc.mesh = s->mesh;
  uint8_t given[6];
  for (int f = 0; f < 6; f++) given[f] = !(c->natural >> f & 1);
  desc.given = given;
  assert_int_equal(tes_space_create(s->ctx, &desc, &s->space), TES_OK);
}

/* *user times a smooth positive function; 1/(0.05 + 2|x|^2) varies by a factor of 40 over the unit box. */
static inline void varying(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                           double *out) {
  (void)t;
  for (int64_t i = 0; i < n; i++)
    out[i] = *(const double *)user / (0.05 + 2 * (x[i] * x[i] + y[i] * y[i] + z[i] * z[i]));
}

static inline TesFunction *coefficient(TesContext *ctx, const Case *c, const double *factor) {
  TesFunction *f;
  if (c->variable)
    assert_int_equal(tes_function_create_callback(ctx, varying, (void *)factor, NULL, &f), TES_OK);
  else
    assert_int_equal(tes_function_create_constant(ctx, *factor, &f), TES_OK);
  return f;
}

/* Without a smoother. The case must outlive the operator. */
static inline void setup_operator(Setup *s, TesContext *ctx, const Case *c, TesPrecision precision) {
  static const double one = 1;
  *s = (Setup){.ctx = ctx};
  create_space(s, c);
  TesFunction *a = coefficient(ctx, c, c->a != 0 ? &c->a : &one), *reaction = coefficient(ctx, c, &c->c),
              *alpha = coefficient(ctx, c, &c->alpha);
  TestDiffusion desc = {.space = s->space, .precision = precision, .a = a, .c = reaction};
  for (int f = 0; f < 6; f++)
    desc.alpha[f] = f < 2 * c->dim && (c->natural >> f & 1) && !(c->periodic >> f / 2 & 1) ? alpha : NULL;
  assert_int_equal(test_operator_create(ctx, &desc, &s->op), TES_OK);
  tes_function_destroy(&a), tes_function_destroy(&reaction), tes_function_destroy(&alpha);
  s->n = s->space->length;
  s->b = malloc(sizeof(double) * (size_t)s->n);
  s->x = malloc(sizeof(double) * (size_t)s->n);
  fill_random(s->space, 1, s->b);
  fill_random(s->space, 2, s->x);
}

/* desc->op is filled in. */
static inline void setup(Setup *s, TesContext *ctx, const Case *c, TesPrecision precision,
                         TesSmootherDesc desc) {
  setup_operator(s, ctx, c, precision);
  desc.op = s->op;
  if (tes_smoother_create(ctx, &desc, &s->smoother) != TES_OK)
    fail_msg("%s\n%s", tes_context_message(ctx), tes_context_trace(ctx));
}

static inline void teardown(Setup *s) {
  free(s->b), free(s->x);
  tes_smoother_destroy(&s->smoother);
  tes_operator_destroy(&s->op);
  tes_space_destroy(&s->space);
  tes_mesh_destroy(&s->mesh);
}

/* x <- one step from s->x (or from zero: then x holds NaN beforehand). */
static inline void sweep_once(const Setup *s, bool ref, TesSweep sweep, bool zero_guess, double *x) {
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

static inline double maximum(int64_t n, const double *v) {
  double largest = 0;
  for (int64_t i = 0; i < n; i++) largest = test_larger(largest, fabs(v[i]));
  return largest;
}

static inline void assert_equal_vectors(int64_t n, const double *actual, const double *expected,
                                        double tolerance, const Case *c, const char *what) {
  const double scale = maximum(n, expected);
  for (int64_t i = 0; i < n; i++)
    if (!(fabs(actual[i] - expected[i]) <= tolerance * scale))
      fail_msg(
          "%s, %dD Q%d %dx%dx%d%s%s natural %x, periodic %x: [%lld] = %.17g, expected %.17g (largest %.3g)",
          what, c->dim, c->degree, c->cells[0], c->cells[1], c->cells[2], c->graded ? " graded" : "",
          c->variable ? " variable" : "", c->natural, c->periodic, (long long)i, actual[i], expected[i],
          scale);
}

/* Fast against plain: both sweeps, both guesses. */
static inline void compare_with_plain(TesContext *ctx, const Case *c, TesPrecision precision,
                                      TesSmootherDesc desc, double tolerance) {
  Setup s;
  setup(&s, ctx, c, precision, desc);
  double *actual = malloc(sizeof(double) * (size_t)s.n), *expected = malloc(sizeof(double) * (size_t)s.n);
  for (int sweep = TES_FORWARD; sweep <= TES_BACKWARD; sweep++)
    for (int zero_guess = 0; zero_guess < 2; zero_guess++) {
      sweep_once(&s, true, (TesSweep)sweep, zero_guess, expected);
      sweep_once(&s, false, (TesSweep)sweep, zero_guess, actual);
      assert_equal_vectors(s.n, actual, expected, tolerance, c, tes_smoother_describe(s.smoother));
    }
  free(actual), free(expected);
  teardown(&s);
}

/* The same bits for 1 and 3 threads. */
static inline void compare_threads(const Case *c, TesPrecision precision, TesSmootherDesc desc) {
  double *x[2] = {NULL, NULL};
  int64_t n = 0;
  for (int i = 0; i < 2; i++) {
    TesContext *ctx;
    Setup s;
    assert_int_equal(tes_context_create(&(TesContextDesc){.threads = i ? 3 : 1}, &ctx, NULL, 0), TES_OK);
    setup(&s, ctx, c, precision, desc);
    n = s.n;
    x[i] = malloc(sizeof(double) * (size_t)n);
    sweep_once(&s, false, TES_FORWARD, false, x[i]);
    teardown(&s);
    tes_context_destroy(&ctx);
  }
  assert_memory_equal(x[0], x[1], sizeof(double) * (size_t)n);
  free(x[0]), free(x[1]);
}

#endif
