/* Run: ctest -R t5_stokes_kernels. Stokes over Raviart-Thomas spaces, and diffusion over discontinuous Q_k, by kernels:
 * operator, patches, transfers, the coarsest solve, cleared nodes and right-hand sides against the plain versions of
 * the processor, on the emulator with the threads in several orders, and on a GPU where there is one. Ends of all
 * kinds, periodic directions, graded cells, odd counts; outputs are poisoned. Brief: one precision a flow; few large
 * ones.
 * Quick: 2-3
 * Labels: heavy */
#include "device/emulator/fiber.h"
#include "host_testing.h"
#include "device_testing.h"
#include "functional/rt/rt_functional.h"
#include "multigrid/coarse/coarse.h"
#include "multigrid/coarse/coarse_stokes_box.h"
#include "operator/operator.h"
#include "smoother/smoother.h"
#include "space/rt_device.h"
#include "stokes_testing.h"
#include "transfer/transfer.h"

static const char *const devices[] = {"emulator", "cuda"};
/* smoothers compared in 3D up to degree 4, and how many of them stokes_lanes.cu serves */
static int boxes, in_lanes, ordered, flat, in_planes; /* the last two in 2D up to degree 8, stokes_plane.cu */

static const Flow flows[] = {
    {.dim = 2, .degree = 1, .cells = {3, 2}, .given = "vvvvvv", .nu = 1},
    {.dim = 2, .degree = 2, .cells = {3, 4}, .given = "vovsvv", .graded = true, .nu = 2, .alpha = 3},
    {.dim = 2, .degree = 3, .cells = {2, 3}, .given = "oosvvv", .nu = 1, .penalty = TES_PENALTY_PAPER},
    {.dim = 2, .degree = 2, .cells = {5, 3}, .given = "ppvsvv", .nu = 1},
    {.dim = 2, .degree = 1, .cells = {2, 5}, .given = "ppppvv", .graded = true, .nu = 0.5, .alpha = 1},
    {.dim = 2, .degree = 4, .cells = {4, 3}, .given = "vvvvvv", .nu = 1},
    {.dim = 2, .degree = 5, .cells = {3, 2}, .given = "svsosv", .nu = 1, .alpha = 10},
    {.dim = 2, .degree = 6, .cells = {2, 3}, .given = "vvppvv", .nu = 1},
    {.dim = 2, .degree = 7, .cells = {3, 2}, .given = "vvvvvv", .nu = 1},
    {.dim = 2, .degree = 8, .cells = {2, 2}, .given = "vovvvv", .nu = 1},
    {.dim = 2, .degree = 12, .cells = {2, 2}, .given = "vvvvvv", .nu = 1},
    {.dim = 3, .degree = 1, .cells = {5, 4, 3}, .given = "vvvvvv", .nu = 1},
    {.dim = 3, .degree = 1, .cells = {3, 2, 3}, .given = "vvvvvv", .nu = 2, .alpha = 1}, /* the dense sweep */
    {.dim = 3, .degree = 1, .cells = {2, 3, 3}, .given = "vovspp", .graded = true, .nu = 1, .alpha = 1},
    {.dim = 3, .degree = 2, .cells = {4, 3, 4}, .given = "vvvvvv", .nu = 3},
    {.dim = 3, .degree = 2, .cells = {2, 2, 4}, .given = "svppov", .nu = 1},
    {.dim = 3, .degree = 3, .cells = {3, 2, 2}, .given = "vvvvpp", .nu = 1},
    {.dim = 3, .degree = 4, .cells = {2, 2, 2}, .given = "vvvvvv", .nu = 1},
    {.dim = 3, .degree = 1, .cells = {19, 2, 4}, .given = "vvsspp", .nu = 2, .alpha = 5},
    {.dim = 3, .degree = 2, .cells = {4, 5, 4}, .given = "ppvspp", .nu = 0.5, .alpha = 40},
    {.dim = 3, .degree = 3, .cells = {4, 3, 2}, .given = "ppsvvv", .nu = 1, .alpha = 2},
    {.dim = 3, .degree = 4, .cells = {3, 2, 4}, .given = "vvvvpp", .nu = 1},
    {.dim = 3, .degree = 1, .cells = {4, 4, 4}, .given = "vvvvvv", .nu = 1},
    {.dim = 3, .degree = 2, .cells = {4, 4, 4}, .given = "vvsspp", .nu = 2, .alpha = 7},
    {.dim = 3, .degree = 3, .cells = {2, 2, 2}, .given = "vvvvvv", .nu = 1},
    {.dim = 3, .degree = 5, .cells = {2, 2, 2}, .given = "vovvvv", .nu = 1}};
/* Several tiles of stokes_tiles.cu in all directions: for operators alone. */
static const Flow tiled[] = {
    {.dim = 3, .degree = 1, .cells = {15, 5, 3}, .given = "vvvovv", .graded = true, .nu = 1, .alpha = 2},
    {.dim = 3, .degree = 2, .cells = {5, 10, 3}, .given = "vsppov", .nu = 3},
    {.dim = 3, .degree = 3, .cells = {7, 3, 2}, .given = "ppvvov", .graded = true, .nu = 1},
    {.dim = 3, .degree = 4, .cells = {2, 3, 6}, .given = "vovvpp", .nu = 2, .alpha = 1},
    {.dim = 3, .degree = 4, .cells = {5, 2, 6}, .given = "ppppvo", .graded = true, .nu = 1}};
/* Several blocks of stokes_plane.cu, periodic directions of odd lengths, ends of all kinds: for sweeps alone. */
static const Flow planes[] = {
    {.dim = 2, .degree = 1, .cells = {11, 9}, .given = "vvvv", .nu = 2, .alpha = 3},
    {.dim = 2, .degree = 1, .cells = {3, 7}, .given = "pppp", .nu = 1, .alpha = 1},
    {.dim = 2, .degree = 2, .cells = {12, 10}, .given = "vvvv", .nu = 1},
    {.dim = 2, .degree = 2, .cells = {9, 5}, .given = "ppvo", .graded = true, .nu = 3},
    {.dim = 2, .degree = 3, .cells = {5, 6}, .given = "svpp", .nu = 1, .alpha = 20},
    {.dim = 2, .degree = 4, .cells = {7, 3}, .given = "ovpp", .graded = true, .nu = 1},
    {.dim = 2, .degree = 5, .cells = {5, 5}, .given = "vvvv", .nu = 1},
    {.dim = 2, .degree = 6, .cells = {5, 4}, .given = "vovs", .nu = 1},
    {.dim = 2, .degree = 7, .cells = {3, 4}, .given = "ppvv", .nu = 1, .alpha = 2},
    {.dim = 2, .degree = 8, .cells = {4, 5}, .given = "vvvv", .nu = 1}};
static const Flow modal[] = {
    {.dim = 2, .degree = 1, .cells = {4, 3}, .modal = true, .nu = 1},
    {.dim = 2, .degree = 2, .cells = {5, 4}, .given = "voov", .graded = true, .modal = true, .nu = 2, .alpha = 3},
    {.dim = 2, .degree = 4, .cells = {3, 5}, .given = "ppvo", .modal = true, .nu = 1, .penalty = TES_PENALTY_PAPER},
    {.dim = 2, .degree = 7, .cells = {2, 3}, .given = "ppvv", .modal = true, .nu = 1},
    {.dim = 2, .degree = 3, .cells = {35, 2}, .given = "oooo", .modal = true, .nu = 1, .alpha = 1},
    {.dim = 2, .degree = 15, .cells = {2, 2}, .given = "voov", .modal = true, .nu = 1},
    {.dim = 2, .degree = 2, .cells = {2, 2}, .given = "oooo", .modal = true, .nu = 1},
    {.dim = 3, .degree = 1, .cells = {17, 3, 2}, .given = "vvppoo", .modal = true, .nu = 1},
    {.dim = 3, .degree = 2, .cells = {2, 2, 2}, .given = "ppoopp", .modal = true, .nu = 3},
    {.dim = 3, .degree = 3, .cells = {2, 2, 3}, .graded = true, .modal = true, .nu = 1, .alpha = 4},
    {.dim = 3, .degree = 4, .cells = {7, 2, 2}, .given = "vvvopp", .modal = true, .nu = 1},
    {.dim = 3, .degree = 7, .cells = {2, 2, 2}, .modal = true, .nu = 1}};
/* Coarsest levels of stokes_box.cu: directions that are equal, two or three of them, or not, mirrored, odd, periodic
 * directions, graded, closed and open; some hundred rows of S^+. */
static const Flow solved[] = {
    {.dim = 2, .degree = 1, .cells = {16, 16}, .given = "vvvv", .nu = 1},
    {.dim = 2, .degree = 2, .cells = {8, 6}, .given = "vvss", .nu = 2, .alpha = 3},
    {.dim = 2, .degree = 3, .cells = {4, 4}, .given = "vvss", .nu = 1},
    {.dim = 3, .degree = 1, .cells = {8, 8, 2}, .given = "vvvvvv", .nu = 1},
    {.dim = 3, .degree = 1, .cells = {6, 5, 4}, .given = "vovspp", .graded = true, .nu = 2, .alpha = 3},
    {.dim = 3, .degree = 1, .cells = {4, 4, 4}, .given = "pppppp", .nu = 1, .alpha = 1},
    {.dim = 3, .degree = 2, .cells = {4, 4, 4}, .given = "vvvvvv", .nu = 3, .alpha = 10},
    {.dim = 3, .degree = 2, .cells = {3, 3, 3}, .given = "vvvvvv", .nu = 1},
    {.dim = 3, .degree = 2, .cells = {4, 2, 4}, .given = "vvssvv", .nu = 1},
    {.dim = 3, .degree = 2, .cells = {2, 4, 4}, .given = "sovvvv", .nu = 1},
    {.dim = 3, .degree = 3, .cells = {4, 4, 2}, .given = "ssvvvv", .nu = 1},
    {.dim = 3, .degree = 3, .cells = {2, 3, 2}, .given = "ppvovv", .nu = 1, .alpha = 2},
    {.dim = 3, .degree = 4, .cells = {2, 4, 2}, .given = "vvvvvv", .nu = 1},
    {.dim = 3, .degree = 4, .cells = {3, 2, 2}, .given = "vvvvvv", .nu = 0.5, .alpha = 1}};
enum {
  MODAL = sizeof modal / sizeof *modal,
  TILED = sizeof tiled / sizeof *tiled,
  PLANES = sizeof planes / sizeof *planes,
  SOLVED = sizeof solved / sizeof *solved,
  FLOWS = sizeof flows / sizeof *flows,
  REFERENCE = 800 /* entries: above, the host's fast version is asked */
};

/* The same problem on the host, in float64 where the plain versions are, and on a device. */
typedef struct Pair {
  const Flow *flow;
  TesContext *ctx;
  TesPrecision precision;
  TesSpace *space, *exact_space;
  TesOperator *op, *exact;
  double *values, *other;
  double tolerance;
} Pair;

static Pair open_pair(TesContext *ctx, const Flow *f, TesPrecision precision) {
  Pair p = {.flow = f, .ctx = ctx, .precision = precision};
  p.space = flow_space(ctx, f);
  p.exact_space = flow_space(host, f);
  p.op = flow_operator(ctx, f, p.space, precision);
  p.exact = flow_operator(host, f, p.exact_space, TES_DOUBLE);
  p.values = flow_random(p.exact_space, 7);
  p.other = flow_random(p.exact_space, 8);
  p.tolerance = f->degree * (precision == TES_DOUBLE ? 1e-13 : 4e-6);
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
  const double difference = flow_difference(p->ctx, a, expected);
  if (!(difference <= factor * p->tolerance))
    fail_msg("%s of %s_%d, %dD, %s, in float%d: error %.3g", what, p->flow->modal ? "dg" : "RT",
             p->flow->degree, p->flow->dim, p->flow->given ? p->flow->given : "vvvvvv",
             p->precision == TES_DOUBLE ? 64 : 32, difference);
}

/* Of float32 vectors, in float64 arithmetic. */
static void compare_single(const Pair *p) {
  const int64_t n = tes_space_length(p->space);
  double *rounded = test_malloc((size_t)n * sizeof *rounded);
  for (int64_t i = 0; i < n; i++) rounded[i] = (float)p->values[i];
  TesVector *x = flow_vector(p->ctx, p->space, TES_SINGLE, rounded), *xe = there(p, rounded),
            *ye = there(p, NULL);
  assert_ok(host, tesi_operator_apply_ref(p->exact, xe, ye));
  for (int single = 0; single < 2; single++) {
    const TesPrecision of_y = single ? TES_SINGLE : TES_DOUBLE;
    TesVector *y = flow_vector(p->ctx, p->space, of_y, NULL);
    bool ready;
    assert_ok(p->ctx, p->op->table->ready_single(p->op, of_y, &ready));
    assert_true(ready);
    assert_ok(p->ctx, p->op->table->apply_single(p->op, x->data, of_y, y->data));
    check(p, y, ye, single ? 1e-7 / p->tolerance : 1, "product of a float32 vector");
    tes_vector_destroy(&y);
  }
  TesVector *all[] = {x, xe, ye};
  for (int i = 0; i < 3; i++) tes_vector_destroy(&all[i]);
  test_free(rounded);
}

static void compare_operator(const Pair *p) {
  TesVector *x = here(p, p->values), *b = here(p, p->other), *y = here(p, NULL);
  TesVector *xe = there(p, p->values), *be = there(p, p->other), *ye = there(p, NULL);
  assert_ok(host, tesi_operator_apply_ref(p->exact, xe, ye));
  assert_ok(p->ctx, tes_operator_apply(p->op, x, y));
  check(p, y, ye, 1, "product");
  assert_ok(host, tes_vector_axpy(-1, ye, be));
  assert_ok(p->ctx, tes_vector_fill(y, NAN));
  assert_ok(p->ctx, tes_operator_residual(p->op, b, x, y));
  check(p, y, be, 1, "residual");
  assert_ok(p->ctx, tes_operator_residual(p->op, b, x, b));
  check(p, b, be, 1, "residual in place");
  assert_ok(p->ctx, tes_operator_diagonal(p->op, y));
  assert_ok(host, tes_operator_diagonal(p->exact, ye));
  check(p, y, ye, 1, "diagonal");
  TesVector *all[] = {x, b, y, xe, be, ye};
  for (int i = 0; i < 6; i++) tes_vector_destroy(&all[i]);
  if (!p->flow->modal && p->precision == TES_DOUBLE) compare_single(p);
}

static void set_components(const TesSpace *space, double value, TesVector *v) {
  TesVector components = tesi_vector_range(v, 0, space->first[space->dim]);
  assert_ok(v->context, tes_vector_fill(&components, value));
}

/* Patches that are cells of a mesh half as fine, for pressures alone. With lanes, where zeros of b are not read, they
 * are NaN. */
static void compare_solve_cells(const Pair *p, const TesSmoother *smoother, const TesSmoother *exact) {
  TesVector *b = here(p, p->other), *be = there(p, p->other), *x = here(p, p->values),
            *xe = there(p, p->values);
  const bool unread = strstr(tes_smoother_describe(smoother), "lanes") != NULL;
  set_components(p->space, unread ? NAN : 0, b);
  set_components(p->exact_space, 0, be);
  assert_ok(host, exact->table->solve_cells(exact, be->data, false, xe->data));
  assert_ok(p->ctx, smoother->table->solve_cells(smoother, b->data, false, x->data));
  check(p, x, xe, 100, "cells");
  TesVector *all[] = {b, be, x, xe};
  for (int i = 0; i < 4; i++) tes_vector_destroy(&all[i]);
}

/* A sweep from a given x divides the round-off of its residual by eigenvalues of a patch, which span k^4 for element
 * dg: 0.6 to 1.6 times eps k^4 came back (dg_7 in 3D, dg_15 in 2D, emulator and GPU); 2e-7 from zero. */
static double sweep_factor(const Pair *p, bool zero) {
  const double eps = p->precision == TES_DOUBLE ? 2.3e-16 : 1.2e-7, k2 = p->flow->degree * p->flow->degree;
  return p->flow->modal && !zero ? fmax(100, 4 * eps * k2 * k2 / p->tolerance) : 100;
}

static void compare_kind(const Pair *p, TesSmootherDesc desc) {
  TesSmoother *smoother, *exact;
  desc.op = p->op;
  assert_ok(p->ctx, tes_smoother_create(p->ctx, &desc, &smoother));
  desc.op = p->exact;
  const bool mirrored = strstr(tes_smoother_describe(smoother), "mirrored") != NULL;
  if (mirrored) setenv("TESSERA_PATCH_MIRRORED", "1", 1);
  assert_ok(host, tes_smoother_create(host, &desc, &exact));
  unsetenv("TESSERA_PATCH_MIRRORED");
  boxes += p->flow->dim == 3 && p->flow->degree <= 4 && !p->flow->modal;
  in_lanes += strstr(tes_smoother_describe(smoother), "lanes") != NULL;
  flat += p->flow->dim == 2 && p->flow->degree <= 8 && !p->flow->modal;
  in_planes += strstr(tes_smoother_describe(smoother), "launch") != NULL;
  TesVector *b = here(p, p->values), *be = there(p, p->values);
  for (int way = 0; way < 3; way++) {
    const bool zero = way == 1, reference = tes_space_length(p->space) <= REFERENCE && way < 2;
    const TesSweep sweep = way == 2 ? TES_BACKWARD : TES_FORWARD;
    TesVector *x = here(p, zero ? NULL : p->other), *xe = there(p, p->other);
    assert_ok(host, reference ? tesi_smoother_apply_ref(exact, be, xe, sweep, zero)
                              : tes_smoother_apply(exact, be, xe, sweep, zero));
    assert_ok(p->ctx, tes_smoother_apply(smoother, b, x, sweep, zero));
    check(p, x, xe, sweep_factor(p, zero), zero ? "first sweep" : "sweep");
    tes_vector_destroy(&x), tes_vector_destroy(&xe);
  }
  if (!p->flow->modal && tesi_smoother_has_cells(smoother)) compare_solve_cells(p, smoother, exact);
  tes_vector_destroy(&b), tes_vector_destroy(&be);
  tes_smoother_destroy(&smoother);
  tes_smoother_destroy(&exact);
}

/* Nothing smooths a whole box without a solution. */
static void compare_smoother(const Pair *p) {
  const bool split = p->flow->dim == 2 && p->flow->alpha > 0 && !p->flow->modal;
  if (p->flow->modal && p->exact->singular) return;
  compare_kind(p, (TesSmootherDesc){.colours = TES_COLOURS_PARQUET});
  if (split) compare_kind(p, (TesSmootherDesc){.colours = TES_COLOURS_RED_BLACK});
}

static void compare_cells(const Pair *p) {
  compare_kind(p, (TesSmootherDesc){.kind = TES_SMOOTHER_CELL_PATCH});
}

/* A prolongation into the order of sweeps, among NaN, and two sweeps that begin there: as one after the other. */
static void compare_ordered(const Pair *p, const Flow *fine_flow, const TesTransfer *t,
                            const TesVector *coarse, TesSpace *fine) {
  TesOperator *op = flow_operator(p->ctx, fine_flow, fine, p->precision);
  TesSmoother *s;
  assert_ok(p->ctx, tes_smoother_create(p->ctx, &(TesSmootherDesc){.op = op}, &s));
  TesiEntryOrder order = {0};
  const bool writes = s->table->order && s->table->order(s, &order) && t->table->writes(t, order.kind);
  double *values = flow_random(fine, 9);
  TesVector *b = flow_vector(p->ctx, fine, p->precision, values),
            *x = flow_vector(p->ctx, fine, p->precision, NULL),
            *xe = flow_vector(p->ctx, fine, p->precision, NULL);
  for (int cells = 0; cells < 2 && writes; cells++) {
    ordered++;
    const int64_t length = 8 * (int64_t)((const TeskLanes *)order.numbers)->class_size;
    if (cells) set_components(fine, 0, b);
    assert_ok(p->ctx, tesi_context_device(p->ctx)->fill(p->ctx, p->precision, length, NAN, order.values));
    assert_ok(p->ctx, t->table->prolongate_ordered(t, coarse->data, &order));
    assert_ok(p->ctx, cells ? s->table->solve_cells(s, b->data, true, x->data)
                            : s->table->apply_ordered(s, b->data, x->data, TES_FORWARD, 2));
    assert_ok(p->ctx, tes_transfer_prolongate(t, coarse, false, xe));
    assert_ok(p->ctx, cells ? s->table->solve_cells(s, b->data, false, xe->data)
                            : tes_smoother_apply(s, b, xe, TES_FORWARD, false));
    if (!cells) assert_ok(p->ctx, tes_smoother_apply(s, b, xe, TES_FORWARD, false));
    check(p, x, xe, 10, cells ? "cells in order" : "sweeps in order");
  }
  free(values);
  tes_vector_destroy(&b), tes_vector_destroy(&x), tes_vector_destroy(&xe);
  tes_smoother_destroy(&s);
  tes_operator_destroy(&op);
}

/* To twice the cells, and `more` in x. */
static void compare_transfer_of(const Pair *p, int more) {
  Flow twice = *p->flow;
  for (int d = 0; d < twice.dim; d++) twice.cells[d] = 2 * twice.cells[d] + (d == 0 ? more : 0);
  TesMesh *of_fine = flow_mesh(p->ctx, &twice), *of_coarse;
  assert_ok(p->ctx, tes_mesh_coarsen(of_fine, &of_coarse));
  TesSpace *coarse = flow_space_on(p->ctx, p->flow, of_coarse), *fine = flow_space_on(p->ctx, &twice, of_fine);
  TesTransfer *t;
  const TesTransferDesc desc = {.coarse = coarse, .fine = fine, .precision = p->precision};
  assert_ok(p->ctx, tes_transfer_create(p->ctx, &desc, &t));
  double *a = flow_random(coarse, 1);
  TesVector *x = flow_vector(p->ctx, coarse, p->precision, a),
            *y = flow_vector(p->ctx, fine, p->precision, NULL),
            *ye = flow_vector(p->ctx, fine, p->precision, NULL),
            *r = flow_vector(p->ctx, coarse, p->precision, NULL),
            *re = flow_vector(p->ctx, coarse, p->precision, NULL);
  for (int add = 0; add < 2; add++) {
    assert_ok(p->ctx, tes_transfer_prolongate(t, x, add, y));
    assert_ok(p->ctx, tesi_transfer_prolongate_ref(t, x, add, ye));
    check(p, y, ye, 1, "prolongation");
  }
  assert_ok(p->ctx, tes_transfer_restrict(t, y, r));
  assert_ok(p->ctx, tesi_transfer_restrict_ref(t, y, re));
  check(p, r, re, 1, "restriction");
  if (!p->flow->modal) {
    compare_ordered(p, &twice, t, x, fine);
    set_components(fine, 0, y);
    assert_ok(p->ctx, tes_vector_fill(r, NAN));
    assert_ok(p->ctx, tesi_transfer_restrict_pressures(t, y, r));
    assert_ok(p->ctx, tesi_transfer_restrict_ref(t, y, re));
    check(p, r, re, 1, "restriction of pressures");
  }
  TesVector *all[] = {x, y, ye, r, re};
  for (int i = 0; i < 5; i++) tes_vector_destroy(&all[i]);
  free(a);
  tes_transfer_destroy(&t);
  tes_space_destroy(&coarse);
  tes_space_destroy(&fine);
  tes_mesh_destroy(&of_coarse);
  tes_mesh_destroy(&of_fine);
}

static void compare_transfer(const Pair *p) {
  for (int more = 0; more < 2; more++)
    if (!test_brief() || more == p->flow->cells[0] % 2) compare_transfer_of(p, more);
}

static void compare_coarse(const Pair *p) {
  TesiCoarse *coarse, *exact;
  if (test_brief() && tes_space_length(p->space) > 8000) return; /* half a minute */
  TesOperator *op = flow_operator(p->ctx, p->flow, p->space, TES_DOUBLE);
  assert_ok(p->ctx, tesi_coarse_create(op, p->precision, TES_COARSE_AUTO, &coarse));
  assert_ok(host, tesi_coarse_create(p->exact, TES_DOUBLE, TES_COARSE_AUTO, &exact));
  TesVector *b = here(p, p->values), *x = here(p, NULL), *be = there(p, p->values), *xe = there(p, NULL);
  assert_ok(p->ctx, tesi_coarse_solve(coarse, b, x));
  assert_ok(host, tesi_coarse_solve(exact, be, xe));
  check(p, x, xe, 100, "coarsest solve");
  TesVector *all[] = {b, x, be, xe};
  for (int i = 0; i < 4; i++) tes_vector_destroy(&all[i]);
  tesi_coarse_destroy(&coarse), tesi_coarse_destroy(&exact);
  tes_operator_destroy(&op);
}

/* Entry by entry; element dg has no nodes. */
static void clear_plainly(const TesSpace *space, double *v) {
  for (int i = 0; i < space->dim && space->scalars > 1; i++) {
    int64_t inner = 1;
    for (int d = 0; d < i; d++) inner *= space->scalar[i]->axis[d].nodes;
    for (int64_t j = 0; j < space->scalar[i]->length; j++) {
      const int node = (int)(j / inner % tesi_nodal(space, i)->nodes);
      if (node < tesi_axis_first(tesi_nodal(space, i)) || node >= tesi_axis_end(tesi_nodal(space, i)))
        v[space->first[i] + j] = 0;
    }
  }
}

/* Mode by mode; returns its square. */
static double constant_plainly(const TesSpace *space, double *p) {
  double square = 0;
  for (int64_t q = 0; q < tesi_space_last(space)->length; q++) {
    int64_t rest = q;
    double volume = 1;
    for (int d = 0; d < space->dim; d++) {
      const int mode = (int)(rest % tesi_modal(space, d)->nodes);
      volume *= mode % (space->degree + 1) ? 0 : tesi_modal(space, d)->h[mode / (space->degree + 1)];
      rest /= tesi_modal(space, d)->nodes;
    }
    p[q] = sqrt(volume);
    square += volume;
  }
  return square;
}

/* Known nodes cleared, on the device and on the host, and the constant pressure. */
static void compare_vectors(const Pair *p) {
  const TesSpace *space = p->space;
  const int64_t n = tes_space_length(p->space);
  double *values = malloc((size_t)n * sizeof *values);
  uint64_t seed = 5;
  for (int64_t i = 0; i < n; i++) values[i] = test_random(&seed);
  TesVector *v = here(p, values), *ve = there(p, values);
  assert_ok(p->ctx, tesi_rt_clear_on(p->ctx, space, p->precision, v->data));
  clear_plainly(space, values);
  assert_ok(host, tesi_rt_clear_on(host, space, TES_DOUBLE, ve->data));
  assert_memory_equal(ve->data, values, (size_t)n * sizeof *values);
  check(p, v, ve, 1, "clearing");
  const TesOperator *const ops[] = {p->op, p->exact};
  for (int i = 0; i < 2 && p->op->null; i++) {
    double *const null = malloc((size_t)ops[i]->null->length * sizeof *null);
    assert_ok(p->ctx, tes_vector_get(ops[i]->null, null));
    assert_near(ops[i]->null_square, constant_plainly(space, values), 1e-13);
    for (int64_t q = 0; q < ops[i]->null->length; q++) assert_near(null[q], values[q], 1e-14);
    free(null);
  }
  tes_vector_destroy(&v), tes_vector_destroy(&ve);
  free(values);
}

/* Nothing, zeros, velocities or stresses at faces, a force: the host's, and zeros where nothing is given. */
static void compare_loads(const Pair *p) {
  TesFunction *zero, *force;
  assert_ok(p->ctx, tes_function_create_constant(p->ctx, 0, &zero));
  assert_ok(p->ctx, tes_function_create_expression(p->ctx, "1 + x * y", &force));
  for (int way = 0; way < 4; way++) {
    const TesFunction *const g = way == 1   ? zero
                                 : way == 2 ? force
                                            : NULL,
                             *const f[3] = {way == 3 ? force : NULL};
    TesiGiven given[6];
    double flux[2], of_host[2], largest;
    for (int i = 0; i < 2 * p->flow->dim; i++) {
      given[i] = flow_side(p->flow, i);
      given[i].g[0] = given[i].how[i < 2] == TESI_FLUX ? NULL : g;
    }
    TesVector *b = flow_vector(p->ctx, p->space, TES_DOUBLE, NULL), *be = there(p, NULL);
    for (int lifting = 0; lifting < (p->flow->modal ? 1 : 2); lifting++) {
      assert_ok(p->ctx, lifting ? tesi_rt_lifting(p->space, given, b, flux)
                                : tesi_rt_load(p->space, f, 3, given, TES_PENALTY_AUTO, b));
      assert_ok(host, lifting ? tesi_rt_lifting(p->exact_space, given, be, of_host)
                              : tesi_rt_load(p->exact_space, f, 3, given, TES_PENALTY_AUTO, be));
      if (lifting)
        for (int i = 0; i < 2; i++) assert_true(flux[i] == of_host[i] && (way == 2 || flux[i] == 0));
      assert_ok(p->ctx, tes_vector_maximum(b, &largest));
      assert_true(way == 3 ? lifting ? largest == 0 : largest > 0 : way == 2 || largest == 0);
      if (largest > 0) check(p, b, be, 1, "load");
    }
    tes_vector_destroy(&b);
    tes_vector_destroy(&be);
  }
  tes_function_destroy(&zero);
  tes_function_destroy(&force);
}

/* Each flow in one order of threads and blocks a precision, so that all orders come with all parts. */
static void on_list(const Flow *list, int count, void (*compare)(const Pair *p)) {
  for (int d = 0; d < 2; d++) {
    TesContext *ctx = test_device(devices[d]);
    for (int i = 0; ctx && i < count; i++)
      for (int single = 0; single < 2; single++) {
        const bool in_turn = single == i % 2 && (list != solved || i % 3 == 2); /* not the largest */
        if (!test_degree(list[i].degree) || (test_brief() && !in_turn)) continue;
        tesi_fiber_order((TesiOrder)((i + single) % 3), (uint64_t)i + 1);
        Pair p = open_pair(ctx, &list[i], single ? TES_SINGLE : TES_DOUBLE);
        compare(&p);
        close_pair(&p);
      }
    tes_context_destroy(&ctx);
  }
  tesi_fiber_order(TESI_ORDER_FORWARD, 1);
}

static void on_all(void (*compare)(const Pair *p)) {
  on_list(flows, FLOWS, compare);
  on_list(modal, MODAL, compare);
}

static void operators(void **state) {
  (void)state;
  on_all(compare_operator);
  on_list(tiled, TILED, compare_operator);
}
static void smoothers(void **state) {
  (void)state;
  boxes = in_lanes = flat = in_planes = 0;
  on_all(compare_smoother);
  on_list(planes, PLANES, compare_smoother);
  assert_true(in_lanes > 0 || boxes == 0);
  assert_true(in_planes > 0 || flat == 0);
}
static void closed_cells(void **state) {
  (void)state;
  on_list(flows, FLOWS, compare_cells);
}
static void smoothers_in_global_memory(void **state) {
  (void)state;
  setenv("TESSERA_PATCH_GLOBAL", "1", 1);
  on_all(compare_smoother);
  unsetenv("TESSERA_PATCH_GLOBAL");
}
/* As those of large boxes do it. */
static void smoothers_of_many_patches(void **state) {
  (void)state;
  setenv("TESSERA_PATCH_MANY", "1", 1);
  on_all(compare_smoother);
  on_list(planes, PLANES, compare_smoother);
  unsetenv("TESSERA_PATCH_MANY");
}
static void transfers(void **state) {
  (void)state;
  on_all(compare_transfer);
  assert_true(ordered > 0 || boxes == 0);
  setenv("TESSERA_PATCH_MANY", "1", 1);
  on_list(flows, FLOWS, compare_transfer);
  unsetenv("TESSERA_PATCH_MANY");
}
static void coarsest_levels(void **state) {
  (void)state;
  on_all(compare_coarse);
  on_list(solved, SOLVED, compare_coarse);
}
/* Which levels a multigrid ends with; all of `solved` are compared as such. */
static void small_boxes_are_solved_at_once(void **state) {
  static const struct {
    Flow flow;
    const char *most; /* numbers of S^+, NULL: as it is */
    bool served;
  } cases[] = {{{.dim = 2, .degree = 2, .cells = {8, 8}}, NULL, true},
               {{.dim = 2, .degree = 2, .cells = {16, 16}}, NULL, true},
               {{.dim = 2, .degree = 2, .cells = {16, 16}}, "9e5", false},
               {{.dim = 2, .degree = 3, .cells = {16, 16}}, NULL, false},
               {{.dim = 3, .degree = 1, .cells = {8, 8, 8}}, NULL, true},
               {{.dim = 3, .degree = 1, .cells = {8, 8, 8}}, "1e6", false},
               {{.dim = 3, .degree = 1, .cells = {16, 16, 16}}, NULL, false},
               {{.dim = 3, .degree = 2, .cells = {8, 8, 8}}, NULL, true},
               {{.dim = 3, .degree = 2, .cells = {8, 8, 8}}, "1e7", false},
               {{.dim = 3, .degree = 3, .cells = {8, 8, 8}}, NULL, false},
               {{.dim = 3, .degree = 3, .cells = {4, 4, 4}}, NULL, true},
               {{.dim = 3, .degree = 4, .cells = {4, 4, 4}}, NULL, true},
               {{.dim = 3, .degree = 4, .cells = {4, 4, 4}, .given = "vvssvo"}, "4e6", false},
               {{.dim = 3, .degree = 4, .cells = {8, 8, 8}}, "1e9", false}}; /* nor tables of a block */
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases + SOLVED; i++) {
    const bool listed = i < SOLVED;
    const Flow *f = listed ? &solved[i] : &cases[i - SOLVED].flow;
    TesSpace *space = flow_space(host, f);
    if (!listed && cases[i - SOLVED].most) setenv("TESSERA_BOX_NUMBERS", cases[i - SOLVED].most, 1);
    const bool served = tesi_coarse_stokes_box_serves(space);
    unsetenv("TESSERA_BOX_NUMBERS");
    if (served != (listed || cases[i - SOLVED].served))
      fail_msg("RT_%d on %d x %d x %d cells: served is %d", f->degree, f->cells[0], f->cells[1], f->cells[2],
               served);
    tes_space_destroy(&space);
  }
}
static void known_nodes_and_constants(void **state) {
  (void)state;
  on_all(compare_vectors);
}
static void loads(void **state) {
  (void)state;
  on_all(compare_loads);
}
static void coarsest_levels_by_one_block(void **state) {
  (void)state;
  setenv("TESSERA_BOX_NUMBERS", "0", 1);
  on_list(flows, FLOWS, compare_coarse);
  unsetenv("TESSERA_BOX_NUMBERS");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(operators),
                                     cmocka_unit_test(smoothers),
                                     cmocka_unit_test(closed_cells),
                                     cmocka_unit_test(smoothers_in_global_memory),
                                     cmocka_unit_test(smoothers_of_many_patches),
                                     cmocka_unit_test(transfers),
                                     cmocka_unit_test(coarsest_levels),
                                     cmocka_unit_test(small_boxes_are_solved_at_once),
                                     cmocka_unit_test(coarsest_levels_by_one_block),
                                     cmocka_unit_test(known_nodes_and_constants),
                                     cmocka_unit_test(loads)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
