/* What the tests of transport operators share: places with data, forms, vectors, and the comparison with the plain
 * version. */
#ifndef TESI_TRANSPORT_TESTING_H
#define TESI_TRANSPORT_TESTING_H

#include <math.h>
#include <stdio.h>
#include "operator/transport/transport_operator.h"
#include "tessera/tessera.h"
#include "testing.h"

typedef struct Place {
  TesContext *ctx;
  TesPrecision precision; /* of operators and vectors */
  TesMesh *mesh;
  TesSpace *space;
  TesFunction *a, *c, *b[3];
} Place;

static inline TesFunction *expression(TesContext *on, const char *text) {
  TesFunction *f;
  assert_ok(on, tes_function_create_expression(on, text, &f));
  return f;
}

static const char *const kinds[] = {"box", "forest", "ball", "equal cells", "graded cells"};

enum { BOX, FOREST, BALL, EQUAL, GRADED, PLACES }; /* equal and graded: and constant coefficients */

/* a <- [[a, 0.05 y, 0], [0.05 y, 0.3, 0], [0, 0, a]] */
static inline void make_matrix(int dim, Place *p) {
  TesFunction *beside = expression(p->ctx, "0.05*y"), *number = expression(p->ctx, "0.3"), *matrix;
  const TesFunction *of_3d[9] = {p->a, beside, NULL, beside, number, NULL, NULL, NULL, p->a},
                    *of_2d[4] = {p->a, beside, beside, number};
  assert_ok(p->ctx, tes_function_create_matrix(p->ctx, dim, dim == 3 ? of_3d : of_2d, &matrix));
  tes_function_destroy(&p->a), tes_function_destroy(&beside), tes_function_destroy(&number);
  p->a = matrix;
}

/* False: a build without p4est. Values are given on boundary 0 alone (all: everywhere). */
static inline bool make_place(TesContext *ctx, int kind, int dim, int degree, bool all, Place *p) {
  *p = (Place){.ctx = ctx,
               .precision = TES_DOUBLE,
               .a = expression(ctx, kind >= EQUAL ? "0.3" : "0.1 + x*x"),
               .c = expression(ctx, kind >= EQUAL ? "2" : "1 + y")};
  const double graded[] = {0, 0.2, 0.5, 1};
  TesFunction *corner = expression(ctx, "0.1 - x - y - z");
  const TesMeshDesc desc[] = {
      {.dim = dim, .cells = {3, 2, 2}, .coordinates = {graded}, .kind = TES_MESH_BOX},
      {.dim = dim, .cells = {2, 2, 2}, .refine_where = corner, .kind = TES_MESH_FOREST},
      {.dim = dim, .domain = TES_DOMAIN_BALL, .radius = 1, .geometry_degree = 2},
      {.dim = dim, .cells = {3, 2, 2}, .kind = TES_MESH_BOX},
      {.dim = dim, .cells = {3, 2, 2}, .coordinates = {graded}, .kind = TES_MESH_BOX},
  };
  const uint8_t given[8] = {1};
  const TesStatus status = tes_mesh_create(ctx, &desc[kind], &p->mesh);
  if (kind == FOREST || kind == BALL) make_matrix(dim, p);
  tes_function_destroy(&corner);
  static const char *const varying[] = {"1 + y", "x - 0.3*y", "-0.4 + z"}, *const equal[] = {"1.2", "-0.7",
                                                                                             "0.4"};
  for (int d = 0; d < 3; d++) p->b[d] = expression(ctx, kind >= EQUAL ? equal[d] : varying[d]);
  if (status == TES_MISSING) return false;
  assert_ok(ctx, status);
  assert_ok(ctx, tes_space_create(
                     ctx, &(TesSpaceDesc){.mesh = p->mesh, .degree = degree, .given = all ? NULL : given},
                     &p->space));
  return true;
}

static inline void leave(Place *p) {
  tes_space_destroy(&p->space);
  tes_mesh_destroy(&p->mesh);
  tes_function_destroy(&p->a), tes_function_destroy(&p->c);
  for (int d = 0; d < 3; d++) tes_function_destroy(&p->b[d]);
}

typedef enum Form { CONVECTIVE, CONVECTIVE_THROUGH, CONSERVATIVE, CONSERVATIVE_THROUGH } Form;

/* `through` where no value is given, of both signs. */
static inline TesStatus create_form(const Place *p, TesStreamline streamline, Form form, TesOperator **op) {
  signed char through[8] = {0};
  for (int i = 0; i < tes_mesh_boundaries(p->mesh); i++)
    through[i] = (signed char)(tes_space_given(p->space, i) ? 0 : i % 2 ? 1 : -1);
  const TesTermDesc term[] = {{.term = TES_TERM_DIFFUSION, .a = {.all = p->a}},
                              {.term = TES_TERM_MASS, .a = {.all = p->c}},
                              {.term = TES_TERM_TRANSPORT,
                               .b = {p->b[0], p->b[1], p->b[2]},
                               .streamline = streamline,
                               .rate = 3,
                               .conservative = form >= CONSERVATIVE,
                               .through = form % 2 ? through : NULL}};
  return tes_operator_create(
      p->ctx, &(TesOperatorDesc){.space = p->space, .form = {3, term, 0}, .precision = p->precision}, op);
}

static inline TesStatus create(const Place *p, TesStreamline streamline, TesOperator **op) {
  return create_form(p, streamline, CONVECTIVE, op);
}

/* Random numbers, zero where values are given: the diagonal of the symmetric part is 1 there, and the operator's own
 * answer tells, for which entries stay zero. */
static inline TesVector *make_vector(const Place *p, uint64_t seed, bool nan) {
  TesVector *v;
  const TesiCellView *cells;
  double *values = calloc((size_t)p->space->length, sizeof *values);
  assert_ok(p->ctx, tesi_space_cells(p->space, &cells));
  for (int64_t i = 0; i < p->space->length; i++) values[i] = nan ? NAN : test_random(&seed);
  for (int64_t i = 0; !nan && i < cells->length - cells->dofs; i++) values[cells->constrained[i]] = 0;
  assert_ok(p->ctx, tes_vector_create(p->ctx, p->space->length, p->precision, &v));
  assert_ok(p->ctx, tes_vector_set(v, values));
  free(values);
  return v;
}

/* |v - w| is at most so much of |w|. */
static inline void assert_close(const Place *p, const TesVector *v, const TesVector *w, double most,
                                const char *what) {
  TesVector *d;
  double distance, size;
  assert_ok(p->ctx, tes_vector_create(p->ctx, p->space->length, p->precision, &d));
  assert_ok(p->ctx, tes_vector_copy(v, 1, d));
  assert_ok(p->ctx, tes_vector_axpy(-1, w, d));
  assert_ok(p->ctx, tes_vector_norm(d, &distance));
  assert_ok(p->ctx, tes_vector_norm(w, &size));
  if (!(distance <= most * size)) fail_msg("%s: off by %g of %g", what, distance, size);
  tes_vector_destroy(&d);
}

static inline void check_operator(const Place *p, TesStreamline streamline, Form form, const char *what) {
  TesOperator *op;
  TesVector *x = make_vector(p, 7, false), *y = make_vector(p, 0, true), *plain = make_vector(p, 0, true),
            *b = make_vector(p, 9, false), *r = make_vector(p, 0, true);
  assert_ok(p->ctx, create_form(p, streamline, form, &op));
  assert_string_equal(tes_operator_info(op).kind, "transport");
  assert_ok(p->ctx, tes_operator_apply(op, x, y));
  assert_ok(p->ctx, tesi_operator_apply_ref(op, x, plain));
  assert_close(p, y, plain, p->precision == TES_DOUBLE ? 1e-12 : 3e-5, what);
  assert_ok(p->ctx, tes_operator_residual(op, b, x, r));
  assert_ok(p->ctx, tes_vector_axpy(1, y, r));
  assert_close(p, r, b, p->precision == TES_DOUBLE ? 1e-11 : 3e-4, what);
  TesVector *const all[] = {x, y, plain, b, r};
  for (int i = 0; i < 5; i++) tes_vector_destroy((TesVector **)&all[i]);
  tes_operator_destroy(&op);
}

#endif
