/* Run: ctest -R t5_stokes_varying_kernels. Stokes with a viscosity that varies and the symmetric gradient by kernels:
 * operator, patches and the coarsest solve against the definition and against the processor, on the emulator with the
 * threads in several orders, and on a GPU where there is one. Ends of all kinds, periodic directions, graded cells,
 * odd counts, all degrees; outputs are poisoned. Brief: one precision a flow, in turns.
 * Quick: 1-3
 * Labels: heavy */
#include "device/emulator/fiber.h"
#include "host_testing.h"
#include "device_testing.h"
#include "multigrid/coarse/coarse.h"
#include "operator/stokes_varying/stokes_varying.h"
#include "smoother/smoother.h"
#include "stokes_testing.h"

static const char *const devices[] = {"emulator", "cuda"};

static const char *const smooth = "1 + 0.5*sin(3*x) + x*y + y*y + 0.3*z", *const steep = "1 + 40*x*x*y",
                         *const jump = "1 + 9*(x > 0.5 && y > 0.4)";

typedef struct Case {
  Flow flow;
  bool gradient; /* form */
  const char *const *nu;
} Case;

static const Case cases[] = {
    {{.dim = 2, .degree = 1, .cells = {5, 4}}, false, &smooth},
    {{.dim = 2, .degree = 1, .cells = {7, 5}, .given = "ppvo", .alpha = 2}, true, &jump},
    {{.dim = 2, .degree = 2, .cells = {3, 4}, .given = "vosv", .graded = true}, false, &jump},
    {{.dim = 2, .degree = 2, .cells = {5, 5}, .given = "ppvv", .alpha = 7}, false, &steep},
    {{.dim = 2, .degree = 3, .cells = {3, 3}, .given = "ppvo", .alpha = 2}, true, &smooth},
    {{.dim = 2, .degree = 4, .cells = {2, 3}, .given = "svos"}, false, &smooth},
    {{.dim = 2, .degree = 5, .cells = {2, 3}, .given = "ppvv"}, true, &smooth},
    {{.dim = 2, .degree = 6, .cells = {2, 2}, .graded = true}, false, &steep},
    {{.dim = 2, .degree = 7, .cells = {2, 3}, .given = "vvov"}, false, &smooth},
    {{.dim = 2, .degree = 8, .cells = {2, 2}}, true, &smooth},
    {{.dim = 2, .degree = 12, .cells = {2, 2}, .given = "ppvv"}, false, &smooth},
    {{.dim = 3, .degree = 1, .cells = {3, 2, 3}, .given = "vvppos", .alpha = 1}, false, &jump},
    {{.dim = 3, .degree = 1, .cells = {2, 5, 2}, .given = "vovspp", .graded = true}, true, &steep},
    {{.dim = 3, .degree = 2, .cells = {2, 2, 3}, .graded = true}, false, &smooth},
    {{.dim = 3, .degree = 2, .cells = {3, 2, 2}, .given = "ppvvos", .alpha = 4}, true, &jump},
    {{.dim = 3, .degree = 3, .cells = {2, 2, 2}, .given = "vvvvpp"}, false, &smooth},
    {{.dim = 3, .degree = 4, .cells = {2, 2, 2}, .given = "vvvvvs"}, false, &smooth},
    {{.dim = 3, .degree = 8, .cells = {2, 2, 2}}, false, &smooth}};
enum { CASES = sizeof cases / sizeof *cases, DENSE = 900 /* unknowns up to which dense twins are asked */ };

/* The same problem on a device and on the host, there in float64. */
typedef struct Pair {
  const Case *its;
  TesContext *ctx;
  TesPrecision precision;
  TesSpace *space, *exact_space;
  TesOperator *op, *exact;
  double *values, *other;
} Pair;

static TesOperator *make(TesContext *ctx, const Case *c, const TesSpace *space, TesPrecision precision) {
  TesOperator *op;
  TesFunction *alpha, *nu;
  assert_ok(ctx, tes_function_create_constant(ctx, c->flow.alpha, &alpha));
  assert_ok(ctx, tes_function_create_expression(ctx, *c->nu, &nu));
  const TesTermDesc terms[] = {{.term = c->gradient ? TES_TERM_DIFFUSION : TES_TERM_STRAIN, .a = {.all = nu}},
                               {.term = TES_TERM_MASS, .a = {.all = alpha}},
                               {.term = TES_TERM_DIVERGENCE}};
  const TesOperatorDesc desc = {
      .space = space, .form = {3, terms, c->flow.penalty}, .precision = precision, .kind = "stokes_varying"};
  assert_ok(ctx, tes_operator_create(ctx, &desc, &op));
  tes_function_destroy(&alpha);
  tes_function_destroy(&nu);
  return op;
}

static Pair open_pair(TesContext *ctx, const Case *c, TesPrecision precision) {
  Pair p = {.its = c, .ctx = ctx, .precision = precision};
  p.space = flow_space(ctx, &c->flow);
  p.exact_space = flow_space(host, &c->flow);
  p.op = make(ctx, c, p.space, precision);
  p.exact = make(host, c, p.exact_space, TES_DOUBLE);
  p.values = flow_random(p.exact_space, 7);
  p.other = flow_random(p.exact_space, 8);
  return p;
}

static void close_pair(Pair *p) {
  tes_operator_destroy(&p->op);
  tes_operator_destroy(&p->exact);
  tes_space_destroy(&p->space);
  tes_space_destroy(&p->exact_space);
  free(p->values);
  free(p->other);
}

static TesVector *here(const Pair *p, const double *values) {
  return flow_vector(p->ctx, p->space, p->precision, values);
}
static TesVector *there(const Pair *p, const double *values) {
  return flow_vector(host, p->exact_space, TES_DOUBLE, values);
}

static void check(const Pair *p, const TesVector *a, const TesVector *expected, double factor,
                  const char *what) {
  const double difference = flow_difference(p->ctx, a, expected),
               most = factor * p->its->flow.degree * (p->precision == TES_DOUBLE ? 4e-13 : 4e-6);
  if (!(difference <= most))
    fail_msg("%s of RT_%d, %dD, case %d, in float%d: error %.3g", what, p->its->flow.degree, p->its->flow.dim,
             (int)(p->its - cases), p->precision == TES_DOUBLE ? 64 : 32, difference);
}

static bool is_small(const Pair *p) {
  return tes_space_length(p->space) <= DENSE;
}

static void compare_operator(const Pair *p) {
  TesVector *x = here(p, p->values), *b = here(p, p->other), *y = here(p, NULL);
  TesVector *xe = there(p, p->values), *be = there(p, p->other), *ye = there(p, NULL);
  assert_ok(host,
            is_small(p) ? tesi_operator_apply_ref(p->exact, xe, ye) : tes_operator_apply(p->exact, xe, ye));
  assert_ok(p->ctx, tes_operator_apply(p->op, x, y));
  check(p, y, ye, 1, "product");
  assert_ok(host, tes_vector_axpy(-1, ye, be));
  assert_ok(p->ctx, tes_vector_fill(y, NAN));
  assert_ok(p->ctx, tes_operator_residual(p->op, b, x, y));
  check(p, y, be, 1, "residual");
  assert_ok(p->ctx, tes_operator_residual(p->op, b, x, b));
  check(p, b, be, 1, "residual in place");
  if (is_small(p)) {
    assert_ok(p->ctx, tes_operator_diagonal(p->op, y));
    assert_ok(host, tes_operator_diagonal(p->exact, ye));
    check(p, y, ye, 1, "diagonal");
  }
  TesVector *all[] = {x, b, y, xe, be, ye};
  for (int i = 0; i < 6; i++) tes_vector_destroy(&all[i]);
}

/* Known nodes take part as columns. */
static void compare_lift(const Pair *p) {
  if (p->precision != TES_DOUBLE) return;
  double *u = malloc((size_t)tes_space_length(p->space) * sizeof *u);
  uint64_t seed = 3;
  for (int64_t i = 0; i < tes_space_length(p->space); i++) u[i] = test_random(&seed);
  TesVector *x = here(p, u), *b = here(p, p->other), *xe = there(p, u), *be = there(p, p->other);
  assert_ok(p->ctx, tes_operator_lift(p->op, x, b));
  assert_ok(host, tes_operator_lift(p->exact, xe, be));
  check(p, b, be, 1, "lifting");
  TesVector *all[] = {x, b, xe, be};
  for (int i = 0; i < 4; i++) tes_vector_destroy(&all[i]);
  free(u);
}

/* With the processor's sweep; pseudo-inverses of assembled patches keep fewer digits where nu jumps. */
static void compare_sweep(const Pair *p, const TesSmoother *smoother, const TesSmoother *exact,
                          bool reference, TesSweep sweep, bool zero) {
  TesVector *b = here(p, p->values), *x = here(p, zero ? NULL : p->other);
  TesVector *be = there(p, p->values), *xe = there(p, p->other);
  assert_ok(p->ctx, tes_smoother_apply(smoother, b, x, sweep, zero));
  assert_ok(host, reference ? tesi_smoother_apply_ref(exact, be, xe, sweep, zero)
                            : tes_smoother_apply(exact, be, xe, sweep, zero));
  check(p, x, xe, reference && p->precision == TES_DOUBLE ? 1e4 : 100,
        reference ? "sweep of pseudo-inverses" : "sweep");
  TesVector *all[] = {b, x, be, xe};
  for (int i = 0; i < 4; i++) tes_vector_destroy(&all[i]);
}

static void compare_sweeps(const Pair *p, TesLocalSolver local) {
  TesSmoother *smoother, *exact;
  TesSmootherDesc desc = {.op = p->op, .kind = TES_SMOOTHER_PATCH, .local = local};
  assert_ok(p->ctx, tes_smoother_create(p->ctx, &desc, &smoother));
  desc.op = p->exact;
  assert_ok(host, tes_smoother_create(host, &desc, &exact));
  compare_sweep(p, smoother, exact, false, TES_FORWARD, false);
  compare_sweep(p, smoother, exact, false, TES_FORWARD, true);
  compare_sweep(p, smoother, exact, false, TES_BACKWARD, false);
  if (local == TES_LOCAL_EXACT) compare_sweep(p, smoother, exact, true, TES_FORWARD, true);
  tes_smoother_destroy(&smoother);
  tes_smoother_destroy(&exact);
}

/* Patches scaled, and a mixture; all of them by inverses where there are few unknowns. */
static void compare_smoother(const Pair *p) {
  compare_sweeps(p, TES_LOCAL_AUTO);
  compare_sweeps(p, TES_LOCAL_SCALED);
  if (is_small(p)) compare_sweeps(p, TES_LOCAL_EXACT);
}

static void compare_coarse(const Pair *p) {
  TesiCoarse *coarse, *exact;
  if (!is_small(p)) return;
  TesOperator *op = make(p->ctx, p->its, p->space, TES_DOUBLE);
  assert_ok(p->ctx, tesi_coarse_create(op, p->precision, TES_COARSE_AUTO, &coarse));
  assert_ok(host, tesi_coarse_create(p->exact, TES_DOUBLE, TES_COARSE_AUTO, &exact));
  TesVector *b = here(p, p->values), *x = here(p, NULL), *be = there(p, p->values), *xe = there(p, NULL);
  assert_ok(p->ctx, tesi_coarse_solve(coarse, b, x));
  assert_ok(host, tesi_coarse_solve(exact, be, xe));
  check(p, x, xe, 100, "coarsest solve");
  TesVector *all[] = {b, x, be, xe};
  for (int i = 0; i < 4; i++) tes_vector_destroy(&all[i]);
  tesi_coarse_destroy(&coarse);
  tesi_coarse_destroy(&exact);
  tes_operator_destroy(&op);
}

/* Each case in one order of threads and blocks a precision, so that all orders come with all parts. */
static void on_all(void (*compare)(const Pair *p)) {
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    for (int i = 0; ctx && i < CASES; i++)
      for (int single = 0; single < 2; single++) {
        const bool one = test_brief() || cases[i].flow.degree > 4; /* one precision a case */
        if (!test_degree(cases[i].flow.degree) || (one && single != i % 2)) continue;
        tesi_fiber_order((TesiOrder)((i + single) % 3), (uint64_t)i + 1);
        Pair p = open_pair(ctx, &cases[i], single ? TES_SINGLE : TES_DOUBLE);
        compare(&p);
        close_pair(&p);
      }
    tes_context_destroy(&ctx);
  }
  tesi_fiber_order(TESI_ORDER_FORWARD, 1);
}

static void operators(void **state) {
  (void)state;
  on_all(compare_operator);
  on_all(compare_lift);
}
static void compare_some(const Pair *p) {
  if (p->its->flow.degree == 2) compare_operator(p);
}
/* Work arrays, as of high degrees, in global memory. */
static void operators_in_global_memory(void **state) {
  (void)state;
  setenv("TESSERA_PATCH_GLOBAL", "1", 1);
  on_all(compare_some);
  unsetenv("TESSERA_PATCH_GLOBAL");
}
static void smoothers(void **state) {
  (void)state;
  on_all(compare_smoother);
}
static void coarsest_levels(void **state) {
  (void)state;
  on_all(compare_coarse);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(operators), cmocka_unit_test(operators_in_global_memory),
                                     cmocka_unit_test(smoothers), cmocka_unit_test(coarsest_levels)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
