/* u_t - div(a grad u) + b . grad u + c u = f with discontinuous Q_k: interior penalties for diffusion and upwind traces
 * for the velocity (operator/transport/upwind.h). Boundary values are given weakly: in the diffusion as in
 * poisson_dg.c, in the transport where the velocity is inward. */
#include <math.h>
#include <string.h>
#include "device/kernel.h"
#include "operator/dg/dg.h"
#include "operator/transport/transport_operator.h"
#include "problem/modal.h"
#include "problem/equation/equations.h"
#include "problem/in_time.h"
#include "problem/step_control.h"
#include "smoother/flow_patch/flow_patch.h"

/* The operator with the transport term, NULL: there is none; and the operator of diffusion. */
static const TesiTransport *transport_of(const TesProblem *p, const TesOperator *op) {
  return tesi_transport_of(p->in_time && p->in_time->carrier ? p->in_time->carrier : op);
}

static double diffusion_of(const TesOperator *op) {
  const TesiTransport *t = tesi_transport_of(op);
  return tesi_stokes_of(t ? t->symmetric : op)->nu;
}

/* y += factor int (that part of b.n) g v over a boundary. `part`: inflow or outflow. */
static TesStatus add_boundary(const TesiTransport *t, int boundary, TesiUpwindPart part, double factor,
                              const TesFunction *g, TesVector *y) {
  TesContext *ctx = y->context;
  TesStatus status = TES_OK;
  double *values = NULL;
  TES_TRY(tesi_vector_read(y, &values));
  TES_TRY(tesi_upwind_boundary(&t->upwind, boundary, part, factor, g, values));
  TES_TRY(tes_vector_set(y, values));
done:
  tesi_free(ctx, &values);
  return status;
}

static bool is_periodic(const TesProblem *p, int boundary) {
  return p->mesh->box_periodic[boundary / 2];
}

static TesStatus load_rows(const TesProblem *p, const TesOperator *whole, TesVector *b) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesOperator *op = whole ? whole : p->op;
  const TesiTransport *t = transport_of(p, op);
  const TesiGiven *given = p->numbered.given;
  TES_TRY(tesi_rt_load(p->space, p->numbered.data.f, diffusion_of(op), given, p->options.penalty, b));
  for (int i = 0; t && i < 2 * p->mesh->dim; i++)
    if (given[i].how[0] == TESI_WEAK && given[i].g[0] && !is_periodic(p, i))
      TES_TRY(add_boundary(t, i, TESI_UPWIND_IN, -1, given[i].g[0], b));
done:
  return status;
}

static TesStatus load(const TesProblem *p, TesVector *b) {
  return load_rows(p, NULL, b);
}

/* ---- amounts ------------------------------------------------------------------------------------------- */

/* y <- the load of one boundary alone; g NULL: 0. */
static TesStatus load_face(const TesProblem *p, double nu, int boundary, const TesFunction *g, TesVector *y) {
  const TesFunction *none[3] = {NULL};
  TesiGiven given[6];
  memcpy(given, p->numbered.given, 2 * (size_t)p->mesh->dim * sizeof *given);
  for (int i = 0; i < 2 * p->mesh->dim; i++) given[i].g[0] = i == boundary ? g : NULL;
  return tesi_rt_load(p->space, none, nu, given, p->options.penalty, y);
}

TesStatus tesi_modal_enter(const TesProblem *p, const TesOperator *op, int boundary, TesVector *y) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiTransport *t = tesi_transport_of(op);
  const bool given = tesi_problem_given(p, boundary, 0),
             closed = p->numbered.given[boundary].how[0] == TESI_FLUX;
  TesFunction *minus = NULL; /* the outflow takes u itself in place of given values */
  TES_TRY(tes_function_create_constant(ctx, -1, &minus));
  TES_TRY(load_face(p, diffusion_of(op), boundary, given ? minus : NULL, y));
  if (t && !closed && !is_periodic(p, boundary))
    TES_TRY(add_boundary(t, boundary, given ? TESI_UPWIND_OUT : TESI_UPWIND_BOTH, -1, NULL, y));
done:
  tes_function_destroy(&minus);
  return status;
}

TesStatus tesi_modal_given_load(const TesProblem *p, const TesOperator *op, int boundary,
                                const TesFunction *g, TesVector *y) {
  const TesiTransport *t = tesi_transport_of(op);
  const TesStatus status = load_face(p, diffusion_of(op), boundary, g, y);
  if (status != TES_OK || !t || !tesi_problem_given(p, boundary, 0) || is_periodic(p, boundary))
    return status;
  return add_boundary(t, boundary, TESI_UPWIND_IN, -1, g, y);
}

TesStatus tesi_modal_project(const TesSpace *space, const TesFunction *f, TesVector *u) {
  const TesFunction *of[3] = {f};
  return tesi_rt_load(space, of, 0, NULL, TES_PENALTY_AUTO, u);
}

/* All levels, in units of the finest. */
static double levels_of(const TesProblem *p) {
  return p->mesh->dim == 3 ? 8 / 7. : 4 / 3.;
}

static double all_levels(const TesProblem *p) {
  return levels_of(p) * tesi_smoother_flow_bytes(p->space);
}

/* Whether they fit into half of the free memory. */
static bool fits(const TesProblem *p) {
  return all_levels(p) < 0.5 * (double)tesi_context_device(p->context)->available(p->context);
}

/* Whether the multigrid smooths cells in the order of the flow: if it was asked for, or if memory allows it. On
 * devices with kernels every layer of cells is one launch. There, steps in time whose systems are close to their
 * symmetric part use the cycle of this part; close means that the flow crosses at most SHORT node distances per step.
 * rate: node distances per unit of time. */
static bool by_flow(const TesProblem *p, double rate) {
  enum { SHORT = 2 };
  const TesSmootherKind asked = p->options.smoother;
  const bool near = p->in_time && tesi_has_kernels(p->context) && rate * p->in_time->march.dt <= SHORT;
  return asked == TES_SMOOTHER_CELL_PATCH || (asked == TES_SMOOTHER_AUTO && !near && fits(p));
}

/* Whether the multigrid has matrices of cells. It has none if the velocity changes, since they would belong to an old
 * velocity. */
bool tesi_transport_dg_levels(const TesProblem *p, const TesiTransport *t) {
  return t->modal && !(p->in_time && p->in_time->moves) && by_flow(p, tesi_steps_rate_of(p, t->rate));
}

/* Numbers of a varying velocity: one set at the points of cells, two at the points of faces. In time two operators
 * have them. Before operators are made, steps are taken to be short. */
static double velocity_bytes(const TesProblem *p) {
  const int dim = p->mesh->dim;
  const double q = p->space->degree + TESI_TRANSPORT_MORE, points = pow(q, dim),
               numbers = (1 + dim) * points + 4 * dim * points / q,
               operators = p->in_time      ? 2
                           : by_flow(p, 0) ? levels_of(p)
                                           : 1;
  double value;
  bool varies = false;
  for (int d = 0; d < dim; d++)
    varies = varies || (p->numbered.data.b[d] && !tes_function_constant(p->numbered.data.b[d], &value));
  return varies ? 8 * operators * numbers * (double)tes_mesh_info(p->mesh).cells : 0;
}

double tesi_transport_dg_bytes(const TesProblem *p) {
  if (p->equation != &tesi_transport_dg || !tesi_problem_transports(p)) return 0;
  return velocity_bytes(p) + (by_flow(p, 0) ? all_levels(p) : 0);
}

/* ---- the equation -------------------------------------------------------------------------------------- */

static TesStatus check(TesProblem *p, const TesProblemDesc *desc) {
  (void)desc;
  p->variant.stabilization = TES_STREAMLINE_NONE;
  return TES_OK;
}

static const TesiFlowEquation modal = {.scalar = true,
                                       .check = check,
                                       .lift = tesi_modal_balance,
                                       .load_faces = tesi_modal_load_faces,
                                       .complete = tesi_modal_complete};
static const TesiLack lacks[] = {TESI_LACKS_OF_SCALARS,
                                 {TESI_HAS_MATERIALS, "a box has no materials"},
                                 {TESI_HAS_ADAPT, "boxes are not refined in places"},
                                 {TESI_HAS_REMESH, "boxes are not refined in places"},
                                 {TESI_HAS_TIME, NULL}};
static const TesiSupport support = {
    .equation = TES_TRANSPORT,
    .element = TES_ELEMENT_DG,
    .meshes = TESI_ON_GRID | TESI_ON_RINGS,
    .degree = {.usual = 4, .least = 1, .most = 15, .kernels = 8},
    .has = TESI_HAS_ALWAYS | TESI_BIT(TESI_HAS_NAME) | TESI_HAS_IN_TIME | TESI_BIT(TESI_HAS_A) |
           TESI_BIT(TESI_HAS_C) | TESI_BIT(TESI_HAS_B) | TESI_BIT(TESI_HAS_PENALTY) | TESI_BIT(TESI_HAS_CFL) |
           TESI_BIT(TESI_HAS_TOLERANCE) | TESI_BIT(TESI_HAS_BALANCE) | TESI_BIT(TESI_HAS_CHECKPOINT) |
           TESI_BIT(TESI_HAS_FIELD_AVERAGE),
    .words = {[TESI_OF_CONDITION] = TESI_WORD(TESI_NAMED_DIRICHLET) | TESI_WORD(TESI_NAMED_NEUMANN) |
                                    TESI_WORD(TESI_NAMED_OUTFLOW) | TESI_WORD(TESI_NAMED_FLUX),
              [TESI_OF_FORM] = 1 | TESI_WORD(TESI_FORM_CONVECTIVE) | TESI_WORD(TESI_FORM_CONSERVATIVE),
              [TESI_OF_STABILIZATION] = 1 | TESI_WORD(TES_STREAMLINE_NONE),
              [TESI_OF_TIME_METHOD] =
                  TESI_ALL_WORDS & ~(TESI_WORD(TES_TIME_NEWMARK) | TESI_WORD(TES_TIME_GENERALIZED_ALPHA) |
                                     TESI_WORD(TES_TIME_EXPLICIT) | TESI_WORD(TES_TIME_IMEX_BDF3)),
              [TESI_OF_METHOD] = TESI_ALL_WORDS,
              [TESI_OF_LOCAL] = 1 | TESI_WORD(TES_LOCAL_EXACT),
              [TESI_OF_ORDER] = TESI_ALL_WORDS,
              [TESI_OF_COARSENING] = 1 | TESI_WORD(TES_COARSEN_MESH),
              [TESI_OF_COARSE] = TESI_ALL_WORDS},
    .smoother = TESI_SMOOTHERS(1 | TESI_WORD(TES_SMOOTHER_PATCH) | TESI_WORD(TES_SMOOTHER_JACOBI) |
                               TESI_WORD(TES_SMOOTHER_CHEBYSHEV) | TESI_WORD(TES_SMOOTHER_CELL_PATCH)),
    .because = {[TESI_OF_STABILIZATION] = "because its upwind traces need no more"},
    .lacks = lacks,
    .judged = TESI_WORD(TES_TIME_BDF2),
    .numbers = TESI_NUMBER_A | TESI_NUMBER_C,
    .modes = true,
    .field = "u",
    .unknowns = "u",
    .ranks = {.meshes = TESI_ON_GRID | TESI_ON_RINGS, .has = ~UINT64_C(0)},
    .tell = tesi_diffusion_tell};
const TesiEquation tesi_transport_dg = {.name = "transport",
                                        .support = &support,
                                        .in_time = true,
                                        .form = tesi_transport_form_of_steps,
                                        .load = load,
                                        .load_all = load_rows,
                                        .shown = tesi_transport_shown,
                                        .flow = &modal};
