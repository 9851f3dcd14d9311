/* u_t - div(a grad u) + b . grad u + c u = f: the form of poisson and, if there is a velocity, the transport term.
 * With streamline terms f is multiplied by their test functions too. In time numbered.c is c + sigma (in_time.h). */
#include <math.h>
#include <stdio.h>
#include "multigrid/coarse/coarse.h"
#include "multigrid/coarse/factorization.h"
#include "multigrid/multigrid.h"
#include "operator/transport/transport_operator.h"
#include "parallel/comm.h"
#include "problem/modal.h"
#include "problem/equation/equations.h"
#include "problem/in_time.h"
#include "smoother/flow_patch/flow_patch.h"
#include "smoother/ordered_cells/ordered_cells.h"

bool tesi_problem_transports(const TesProblem *p) {
  const TesFunction *const *b = p->numbered.data.b;
  bool any = false;
  double value;
  for (int d = 0; d < TESI_AXES; d++)
    any = any || (b[d] && !(tes_function_constant(b[d], &value) && value == 0));
  return any;
}

/* Whether steps take the transport term from old values. */
static bool carries(const TesProblem *p) {
  return p->in_time && tesi_in_time_method(p)->carries;
}

/* Of streamline terms, from the step that is being made. */
static double rate_of(const TesProblem *p) {
  const TesiInTime *it = p->in_time;
  return it ? 2 / (it->stepper ? it->stepper->dt : it->march.dt) : 0;
}

int tesi_transport_form(const TesProblem *p, TesTermDesc *term) {
  const int n = tesi_diffusion_form(p, term);
  const TesFunction *const *b = p->numbered.data.b;
  if (!tesi_problem_transports(p)) return n;
  for (int i = 0; i < tes_mesh_boundaries(p->mesh); i++) {
    const bool closed = p->numbered.given[i].how[0] == TESI_FLUX;
    p->form.through[i] = (signed char)(tesi_problem_given(p, i, 0) ? 0
                                       : p->variant.conservative   ? !closed
                                                                   : -closed);
  }
  term[n] = (TesTermDesc){.term = TES_TERM_TRANSPORT,
                          .b = {b[0], b[1], p->mesh->dim == 3 ? b[2] : NULL},
                          .streamline = carries(p) ? TES_STREAMLINE_NONE : p->variant.stabilization,
                          .conservative = p->variant.conservative,
                          .through = p->form.through,
                          .rate = rate_of(p)};
  return n + 1;
}

int tesi_transport_form_of_steps(const TesProblem *p, TesTermDesc *term) {
  return carries(p) ? tesi_diffusion_form(p, term) : tesi_transport_form(p, term);
}

/* Bytes on the finest level. On several ranks the levels that every rank has whole are added. */
static double ordered_bytes(const TesProblem *p) {
  const double own = tesi_ordered_cells_bytes(p->space);
  if (tesi_ranks(p->context) == 1) return own;
  return own + own / fmax(1, (double)p->space->dofs) * TESI_WHOLE_CARRIED;
}

/* The cycle of the symmetric part takes about 2 |b| L / a iterations, L the width of the domain: 17 at a ratio |b| L
 * / a of 8, 54 at 32 (Q2, 64 x 64 cells, 1e-9). Its set-up costs a tenth. Factors may take half of the free memory. */
static bool has_room(const TesProblem *p) {
  const double most = 0.5 * (double)tes_memory_available();
  return !tesi_reduce_any(p->context, !(ordered_bytes(p) < most));
}

static bool prevails(const TesProblem *p, const TesiTransport *t) {
  const double most = 20, across = pow((double)tes_mesh_info(p->mesh).all_cells, 1.0 / p->mesh->dim);
  return 2 * p->space->degree * t->peclet * across > most && has_room(p);
}

/* The same of steps, sigma M + K: the velocity's part of waves of number kappa is |b| kappa / (sigma + a kappa^2) of
 * the symmetric part. Of the waves that the domain and the nodes have this is most where a kappa^2 is nearest to
 * sigma; with sigma = 0 it is |b| L / (pi a). The cycle takes about twice this ratio of iterations a digit of the
 * tolerance, and may take 38. On devices with kernels, which wait for these sweeps, tolerances count as 1e-3. */
static bool prevails_in_steps(const TesProblem *p, const TesiTransport *t) {
  enum { LEAST = 3 };
  const double tolerance = p->options.tolerance > 0 ? p->options.tolerance : pow(10, -LEAST);
  const double digits = tesi_has_kernels(p->context) ? LEAST : fmax(LEAST, -log10(tolerance));
  const double most = 60 / (M_PI * digits),
               across = pow((double)tes_mesh_info(p->mesh).all_cells, 1.0 / p->mesh->dim);
  const double shortest = M_PI, a = t->speed / (2 * t->peclet); /* a, |b|: in nodes */
  const double kappa = fmin(fmax(sqrt(p->in_time->sigma / a), M_PI / across / p->space->degree), shortest);
  return t->speed * kappa > most * (p->in_time->sigma + a * kappa * kappa) && has_room(p);
}

/* Bytes of the smoother ordered_cells for the memory that is checked before a solve. Problems in time seldom choose it
 * by themselves; if they do, they check their memory by has_room(). */
double tesi_transport_ordered_bytes(const TesProblem *p) {
  const TesSmootherKind asked = p->options.smoother;
  const bool chosen = asked == TES_SMOOTHER_AUTO && !p->in_time && has_room(p);
  if (!tesi_problem_transports(p) || !p->space->element->nodal) return 0;
  if (asked != TES_SMOOTHER_ORDERED_CELLS && !chosen) return 0;
  return ordered_bytes(p) * (p->mesh->dim == 3 ? 8 / 7. : 4 / 3.);
}

bool tesi_transport_whole(const TesProblem *p, const TesiTransport *t) {
  const TesSmootherKind asked = p->options.smoother;
  if (t->modal) return tesi_transport_dg_levels(p, t);
  if (p->in_time && p->in_time->moves) return false;
  if (asked != TES_SMOOTHER_AUTO) return asked == TES_SMOOTHER_ORDERED_CELLS;
  return p->in_time ? prevails_in_steps(p, t) : prevails(p, t);
}

/* Closed paths on all ranks, from a mesh that every rank has whole; a large mesh is coarsened before. */
static TesStatus find_closed(const TesOperator *op, int64_t *longest) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesSpace *part = tesi_space_retain(op->space), *coarser = NULL, *whole = NULL;
  TesOperator *of_whole = NULL;
  if (!op->local) {
    status = tesi_ordered_cells_closed(op, longest);
    goto done;
  }
  while (part->layout->global > TESI_WHOLE_CARRIED) {
    TES_TRY(tes_space_coarsen(part, &coarser));
    if (!coarser) break;
    tes_space_destroy(&part);
    part = coarser, coarser = NULL;
  }
  TES_TRY(tesi_multigrid_gather(part, &whole));
  status = tesi_operator_on(op, whole, TES_DOUBLE, &of_whole);
  if (status == TES_OK) status = tesi_ordered_cells_closed(of_whole, longest);
  if (status != TES_OK)
    status = tesi_fail(ctx, status, __FILE__, __LINE__, __func__, "%s", tes_context_message(whole->context));
done:
  tes_operator_destroy(&of_whole);
  tes_space_destroy(&whole);
  tes_space_destroy(&part);
  return status;
}

/* Most unknowns of a level of which sparse factors take so many flops. */
static int64_t most_unknowns(const TesProblem *p, double flops) {
  enum { ON_EVERY_RANK = 150000 };
  const double power = p->mesh->dim == 2 ? 1.5 : 2;
  if (tesi_factorization_missing(p->context)) return TESI_DENSE;
  const double most = (double)p->space->all_dofs * pow(flops / p->chosen.factor_flops, 1 / power);
  return (int64_t)fmin(most, tesi_ranks(p->context) > 1 ? ON_EVERY_RANK : INT32_MAX / 2);
}

/* Coarse meshes carry along closed paths what the finest mesh does not. So levels end when sparse factors of the
 * whole operator take less time than the factors of smoothers: 5 s on one core in 2D, a second in 3D. */
TesStatus tesi_transport_enough(const TesProblem *p, int64_t *dofs) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiTransport *t = tesi_transport_of(p->levels);
  int64_t longest = 0;
  *dofs = 0;
  if (!t || t->modal || p->options.method == TES_METHOD_DIRECT || !(t->peclet > 3)) return TES_OK;
  TES_TRY(find_closed(p->levels, &longest));
  if (longest > TESI_ORDERED_PATH) *dofs = most_unknowns(p, p->mesh->dim == 2 ? 4e10 : 8e9);
done:
  return status;
}

/* ---- broken factors ------------------------------------------------------------------------------------ */

/* *inflow <- the flow into the domain through a boundary. */
static TesStatus find_inflow(const TesProblem *p, int boundary, double *inflow) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiFaceMass faces = {0};
  signed char *through = NULL;
  *inflow = 0;
  TES_ALLOC(&through, tes_mesh_boundaries(p->mesh) + 1);
  through[boundary] = 1;
  TES_TRY(tesi_transport_faces(p->space, p->numbered.data.b, through, &faces));
  for (int64_t i = 0; i < faces.faces * faces.rule.points; i++) *inflow += fmax(0, -faces.weight[i]);
  tesi_reduce(ctx, TESI_SUM, 1, inflow);
done:
  tesi_face_mass_free(ctx, &faces);
  tesi_free(ctx, &through);
  return status;
}

/* *name <- the name of the boundary with the largest inflow among boundaries without values; NULL: none is known. */
static TesStatus find_entry(const TesProblem *p, const char **name) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  double most = 0, inflow;
  *name = NULL;
  for (int i = 0;
       i < tes_mesh_boundaries(p->mesh) && p->space->degree <= p->equation->support->degree.on_cells; i++) {
    if (tesi_problem_given(p, i, 0) || p->numbered.given[i].how[0] == TESI_FLUX) continue;
    TES_TRY(find_inflow(p, i, &inflow));
    if (inflow > most) most = inflow, *name = tes_mesh_boundary_name(p->mesh, i);
  }
done:
  return status;
}

static TesStatus advise_factors(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const char *name;
  TES_TRY(find_entry(p, &name));
  snprintf(p->text.advice, sizeof p->text.advice, "%s%s%s",
           tesi_factorization_missing(ctx) ? "take a finer mesh" : "use solver.method: direct",
           name ? ", or give a value or the flux where the flow enters: boundary." : "", name ? name : "");
done:
  return status;
}

/* The finest level whose factors are poor (ordered_cells.h); 0: no level. */
static int find_poor(const TesProblem *p) {
  int level = tes_multigrid_levels(p->multigrid) - 1;
  for (; level > 0; level--) {
    const double left = tesi_ordered_cells_left(tes_multigrid_level(p->multigrid, level).smoother);
    if (tesi_reduce_any(p->context, left >= 1)) break;
  }
  return tesi_max(level, 0);
}

/* Element dg: levels end at sparse factors where the velocity has closed paths; TES_OK and no change elsewhere. */
static TesStatus mend_modal(TesProblem *p, const TesMultigridDesc *desc) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiTransport *t = tesi_transport_of(p->levels);
  const TesSolveOptions *o = &p->options;
  const int levels = tes_multigrid_levels(p->multigrid);
  const int64_t closed = tesi_smoother_flow_closed(tes_multigrid_level(p->multigrid, levels - 1).smoother);
  TesMultigridDesc shorter = *desc;
  shorter.coarse_dofs = most_unknowns(p, 4e11); /* 100 s on one core */
  if (closed <= TESI_ORDERED_PATH || !(t->peclet > 3) || p->in_time || o->smoother != TES_SMOOTHER_AUTO ||
      o->coarse != TES_COARSE_AUTO || tesi_has_kernels(ctx) || tesi_factorization_missing(ctx))
    goto done;
  tes_multigrid_destroy(&p->multigrid);
  TES_TRY(tes_multigrid_create(ctx, &shorter, &p->multigrid));
done:
  return status;
}

TesStatus tesi_transport_mend(TesProblem *p, const TesMultigridDesc *desc) {
  if (tesi_is_upwind(p->levels)) return mend_modal(p, desc);
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const double most = 4e11; /* flops: 100 s on one core */
  const TesSolveOptions *o = &p->options;
  TesMultigridDesc shorter = *desc;
  const int level = find_poor(p);
  if (level == 0) goto done;
  TES_TRY(advise_factors(p));
  shorter.coarse_dofs = tes_multigrid_level(p->multigrid, level).space->layout->global;
  if (o->smoother != TES_SMOOTHER_AUTO || o->coarse != TES_COARSE_AUTO ||
      shorter.coarse_dofs > most_unknowns(p, most))
    goto done;
  tesi_log(ctx, TES_LOG_DETAIL, "incomplete factors of level %d are poor: it is solved directly", level);
  tes_multigrid_destroy(&p->multigrid);
  TES_TRY(tes_multigrid_create(ctx, &shorter, &p->multigrid));
done:
  return status;
}

/* The load of the unknowns; or (whole: the operator over all nodes) of all rows. */
static TesStatus load_rows(const TesProblem *p, const TesOperator *whole, TesVector *b) {
  const TesiNumbered *n = &p->numbered;
  const TesOperator *op = whole ? whole : p->op;
  const TesStatus status = tesi_problem_load(p, n->data.f, n->f, whole, b);
  return status == TES_OK && tesi_transport_of(op) ? tesi_transport_load(op, n->data.f[0], n->f[0], b)
                                                   : status;
}

static TesStatus load(const TesProblem *p, TesVector *b) {
  return load_rows(p, NULL, b);
}

int tesi_transport_shown(const TesProblem *p, TesiShown *shown) {
  const int n = tesi_diffusion_shown(p, shown);
  static const char *const names[] = {"b1", "b2", "b3"};
  int count = n;
  for (int d = 0; d < p->mesh->dim && tesi_problem_transports(p); d++)
    if (p->numbered.data.b[d]) shown[count++] = (TesiShown){names[d], {p->numbered.data.b[d]}, NULL};
  return count;
}

static const TesiLack lacks[] = {TESI_LACKS_OF_SCALARS, {TESI_HAS_TIME, NULL}};
static const TesiSupport support = {
    .equation = TES_TRANSPORT,
    .element = TES_ELEMENT_Q,
    .meshes = TESI_ON_GRID | TESI_ON_RINGS | TESI_ON_TREES,
    .usual = TESI_ON_GRID | TESI_ON_RINGS | TESI_ON_TREES,
    .degree = {.usual = 4, .least = 1, .most = 20, .on_cells = 8, .carrying = 8, .kernels = 8},
    .has = TESI_HAS_ALWAYS | TESI_BIT(TESI_HAS_NAME) | TESI_HAS_IN_TIME | TESI_BIT(TESI_HAS_A) |
           TESI_BIT(TESI_HAS_C) | TESI_BIT(TESI_HAS_B) | TESI_BIT(TESI_HAS_MATERIALS) |
           TESI_BIT(TESI_HAS_CFL) | TESI_BIT(TESI_HAS_TOLERANCE) | TESI_BIT(TESI_HAS_ADAPT) |
           TESI_BIT(TESI_HAS_REMESH) | TESI_BIT(TESI_HAS_FIELD_AVERAGE) | TESI_BIT(TESI_HAS_DWR) |
           TESI_BIT(TESI_HAS_BALANCE) | TESI_BIT(TESI_HAS_CHECKPOINT),
    .words = {[TESI_OF_CONDITION] = TESI_WORD(TESI_NAMED_DIRICHLET) | TESI_WORD(TESI_NAMED_NEUMANN) |
                                    TESI_WORD(TESI_NAMED_ROBIN) | TESI_WORD(TESI_NAMED_OUTFLOW) |
                                    TESI_WORD(TESI_NAMED_FLUX),
              [TESI_OF_FORM] = 1 | TESI_WORD(TESI_FORM_CONVECTIVE) | TESI_WORD(TESI_FORM_CONSERVATIVE),
              [TESI_OF_STABILIZATION] = 1 | TESI_WORD(TES_STREAMLINE_NONE) | TESI_WORD(TES_STREAMLINE_ALWAYS),
              [TESI_OF_TIME_METHOD] =
                  TESI_ALL_WORDS & ~(TESI_WORD(TES_TIME_NEWMARK) | TESI_WORD(TES_TIME_GENERALIZED_ALPHA) |
                                     TESI_WORD(TES_TIME_EXPLICIT) | TESI_WORD(TES_TIME_IMEX_BDF3)),
              [TESI_OF_METHOD] = TESI_ALL_WORDS,
              [TESI_OF_LOCAL] = TESI_LOCALS_OF_SCALARS,
              [TESI_OF_ORDER] = TESI_ALL_WORDS,
              [TESI_OF_COARSENING] = TESI_ALL_WORDS,
              [TESI_OF_COARSE] = TESI_ALL_WORDS},
    .smoother = TESI_Q_SMOOTHERS(TESI_WORD(TES_SMOOTHER_ORDERED_CELLS)),
    .lacks = lacks,
    .judged = TESI_WORD(TES_TIME_BDF2),
    .ranks = {.meshes = TESI_ON_GRID | TESI_ON_TREES,
              .has = TESI_BIT(TESI_HAS_NAME) | TESI_BIT(TESI_HAS_A) | TESI_BIT(TESI_HAS_C) |
                     TESI_BIT(TESI_HAS_MATERIALS) | TESI_BIT(TESI_HAS_ADDED_LOAD) |
                     TESI_BIT(TESI_HAS_POINTS) | TESI_BIT(TESI_HAS_VTU) | TESI_BIT(TESI_HAS_TIME) |
                     TESI_BIT(TESI_HAS_STEP) | TESI_BIT(TESI_HAS_TOLERANCE) | TESI_BIT(TESI_HAS_STEADY_END) |
                     TESI_BIT(TESI_HAS_SERIES) | TESI_BIT(TESI_HAS_AVERAGE) | TESI_BIT(TESI_HAS_BALANCE) |
                     TESI_BIT(TESI_HAS_FIELD_AVERAGE) | TESI_BIT(TESI_HAS_B) | TESI_BIT(TESI_HAS_CFL) |
                     TESI_BIT(TESI_HAS_ADAPT) | TESI_BIT(TESI_HAS_DWR) | TESI_BIT(TESI_HAS_CHECKPOINT) |
                     TESI_BIT(TESI_HAS_RESTART) | TESI_BIT(TESI_HAS_OTHER_RESTART) |
                     TESI_BIT(TESI_HAS_REMESH) | TESI_BIT(TESI_HAS_PNG) | TESI_BIT(TESI_HAS_VTKHDF)},
    .field = "u",
    .unknowns = "u",
    .tell = tesi_diffusion_tell};
const TesiEquation tesi_transport = {.name = "transport",
                                     .support = &support,
                                     .in_time = true,
                                     .form = tesi_transport_form_of_steps,
                                     .load = load,
                                     .load_all = load_rows,
                                     .shown = tesi_transport_shown};
