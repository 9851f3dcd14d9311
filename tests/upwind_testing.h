/* What tests of transport between discontinuous elements share: velocities, and operators with them. */
#ifndef TESI_UPWIND_TESTING_H
#define TESI_UPWIND_TESTING_H

#include "operator/transport/transport_operator.h"
#include "stokes_testing.h"

typedef struct Velocity {
  TesFunction *b[3];
} Velocity;

static inline Velocity upwind_velocity(TesContext *ctx, bool constant) {
  static const char *const texts[2][3] = {{"1 + y - 2*x*z", "x - 0.4", "0.3 - x*y"}, {"1.2", "-0.7", "0.4"}};
  Velocity v;
  for (int d = 0; d < 3; d++)
    assert_ok(ctx, tes_function_create_expression(ctx, texts[constant][d], &v.b[d]));
  return v;
}

static inline void upwind_forget(Velocity *v) {
  for (int d = 0; d < 3; d++) tes_function_destroy(&v->b[d]);
}

/* given: v values, o open, c closed, p periodic. */
static inline TesOperator *upwind_operator(TesContext *ctx, const TesSpace *space, const Flow *f,
                                           const Velocity *v, bool conservative, TesPrecision precision) {
  TesOperator *op;
  TesFunction *alpha;
  signed char through[7] = {0};
  for (int i = 0; i < 2 * f->dim && f->given; i++)
    through[i] = (signed char)(conservative ? f->given[i] == 'o' : -(f->given[i] == 'c'));
  assert_ok(ctx, tes_function_create_constant(ctx, f->alpha, &alpha));
  const TesTermDesc term[] = {{.term = TES_TERM_DIFFUSION, .factor = 0.3},
                              {.term = TES_TERM_MASS, .a = {.all = alpha}},
                              {.term = TES_TERM_TRANSPORT,
                               .b = {v->b[0], v->b[1], f->dim == 3 ? v->b[2] : NULL},
                               .conservative = conservative,
                               .through = through}};
  const TesOperatorDesc desc = {.space = space, .form = {3, term, 0}, .precision = precision};
  assert_ok(ctx, tes_operator_create(ctx, &desc, &op));
  assert_string_equal(tes_operator_info(op).kind, "transport");
  tes_function_destroy(&alpha);
  return op;
}

#endif
