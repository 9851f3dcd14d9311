#include "problem/problem.h"
#include <math.h>
#include <string.h>
#include "multigrid/coarse/coarse.h"
#include "multigrid/coarse/coarse_device.h"
#include "multigrid/multigrid.h"
#include "operator/operator.h"
#include "operator/transport/transport_operator.h"
#include "krylov/solver.h"
#include "problem/balance.h"
#include "problem/below.h"
#include "problem/modal.h"
#include "problem/fault.h"
#include "problem/field_rows.h"
#include "problem/in_time.h"
#include "problem/problem_memory.h"
#include "problem/support.h"
#include "smoother/smoother.h"

/* ---- set-up -------------------------------------------------------------------------------------------- */

/* The equation's own terms, and those of Robin boundaries. */
static TesStatus create_form(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiGiven *given = p->numbered.given;
  const int names = tes_mesh_boundaries(p->mesh);
  tesi_free(ctx, &p->form.term), tesi_free(ctx, &p->form.through);
  TES_ALLOC(&p->form.term, TESI_TERMS + names);
  TES_ALLOC(&p->form.through, names + 1);
  int n = p->equation->form(p, p->form.term);
  for (int i = 0; i < names; i++)
    if (given[i].alpha)
      p->form.term[n++] = (TesTermDesc){.term = TES_TERM_ROBIN, .a = {.all = given[i].alpha}, .boundary = i};
  p->form.all = (TesForm){n, p->form.term, p->options.penalty};
done:
  return status;
}

bool tesi_problem_given(const TesProblem *p, int boundary, int component) {
  return tesi_is_given(p->numbered.given[boundary].how[component]);
}

bool tesi_problem_given_everywhere(const TesProblem *p) {
  return tesi_problem_given(p, tes_mesh_boundaries(p->mesh), 0);
}

/* Element rt distinguishes normal components, bit 0, from tangential components (TesSpaceDesc). */
bool tesi_problem_describe_given(const TesProblem *p, uint8_t *given, bool *slips, TesSpaceDesc *desc) {
  const bool mixed = tesi_element(desc->element)->with_pressure, everywhere = tesi_problem_given_everywhere(p);
  bool any = everywhere;
  for (int i = 0; i < tes_mesh_boundaries(p->mesh); i++) {
    for (int c = 0; c < TESI_GIVEN_SCALARS; c++)
      if (tesi_problem_given(p, i, c)) given[i] |= (uint8_t)(1 << (mixed ? c != i / 2 : c));
    slips[i] = p->numbered.given[i].how[0] == TESI_NORMAL;
    any = any || given[i] || slips[i];
  }
  desc->given = everywhere ? NULL : given, desc->slips = slips;
  return any;
}

/* Equations without a row use element q. */
static TesElement element_of(const TesiEquation *equation) {
  return equation->support ? equation->support->element : TES_ELEMENT_AUTO;
}

TesStatus tesi_problem_create_space(TesProblem *p, int degree) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  uint8_t *given = NULL;
  bool *slips = NULL;
  const int names = tes_mesh_boundaries(p->mesh);
  TES_ALLOC(&given, names + 1);
  TES_ALLOC(&slips, names + 1);
  TesSpaceDesc desc = {.mesh = p->mesh,
                       .degree = degree,
                       .components = p->equation->flow     ? 0
                                     : p->equation->vector ? p->mesh->dim
                                                           : 1,
                       .element = element_of(p->equation)};
  p->lifting.some_given = tesi_problem_describe_given(p, given, slips, &desc);
  TES_TRY(tes_space_create(ctx, &desc, &p->space));
done:
  tesi_free(ctx, &given);
  tesi_free(ctx, &slips);
  return status;
}

/* Refuses options and meshes that do not suit a problem with transport. */
static TesStatus check_transport(const TesProblem *p, const TesiTransport *t) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesMethod method = p->options.method;
  TES_CHECK(method == TES_METHOD_AUTO || method == TES_METHOD_GMRES || method == TES_METHOD_DIRECT,
            "solver.method: %s: transport is not symmetric and is solved by gmres or direct",
            method == TES_METHOD_CG ? "cg" : "a V-cycle");
  TES_CHECK(
      p->in_time || t->streamline || t->modal || !(t->peclet > 1),
      "space.stabilization: the cell Peclet number |b| h / (2 k a) is %.3g, above 1: without time and "
      "without stabilization the solution oscillates everywhere. Take stabilization supg, or a finer mesh",
      t->peclet);
  if (p->in_time && !p->before && p->in_time->march.desc.method == TES_TIME_BACKWARD_EULER && t->peclet > 1 &&
      t->speed * p->in_time->march.dt > 1)
    tesi_log(ctx, TES_LOG_WARNING,
             "warning: backward_euler damps what is carried over %.2g nodes per step: take crank_nicolson, "
             "bdf2, or shorter steps",
             t->speed * p->in_time->march.dt);
  TES_CHECK(
      !p->op->singular,
      "boundary: neither a boundary nor c determines u: give it a Dirichlet or Robin boundary, or c > 0");
done:
  return status;
}

TesStatus tesi_problem_create_whole(const TesSpace *space, TesSpace **whole) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  uint8_t *none = NULL;
  TES_ALLOC(&none, tes_mesh_boundaries(space->mesh) + 1);
  TES_TRY(
      tes_space_create(ctx,
                       &(TesSpaceDesc){.mesh = space->mesh,
                                       .degree = space->degree,
                                       .components = space->element->nodal ? tes_space_components(space) : 0,
                                       .given = none,
                                       .element = space->element->element},
                       whole));
done:
  tesi_free(ctx, &none);
  return status;
}

/* Discontinuous elements have no nodes with given values. */
TesStatus tesi_problem_create_full(const TesProblem *p, TesSpace **full) {
  if (p->equation->flow) *full = tesi_space_retain(p->space);
  return p->equation->flow ? TES_OK : tesi_problem_create_whole(p->space, full);
}

/* The largest level that a direct solver of the coarsest level serves in a few launches: on boxes fast diagonalization,
 * of 2D boxes by one block, else a dense inverse. In steady problems the inverse, which is made in float64, takes no
 * more memory than a vector of the finest level: it saves only some iterations of one solve. */
static int64_t most_in_few_launches(const TesProblem *p) {
  enum { ONE_BLOCK = 1200, BOX = 36000, FINER = 16 };
  const TesOperator *op = p->levels;
  const int64_t length = op->space->layout->global / tesi_ranks(op->context); /* the same on all ranks */
  if (tesi_is_separable(op) && (op->space->dim == 2 || length < FINER * ONE_BLOCK)) return ONE_BLOCK;
  if (tesi_is_separable(op)) return length / FINER < BOX ? length / FINER : BOX;
  if (op->kind != &tesi_operator_elasticity && op->kind != &tesi_operator_mapped) return 0;
  const int64_t part = length / FINER; /* a small problem keeps its levels */
  const int64_t room = p->in_time ? part : (int64_t)sqrt((double)length);
  const int64_t most = part < room ? part : room;
  return most < TESI_COARSE_DENSE ? most : TESI_COARSE_DENSE;
}

/* A device waits for launches. A level of at most this many unknowns is solved directly, by a few launches
 * (contract.cu). This replaces the smoothers of all levels below, which are nine launches or more per level. On boxes
 * it pays in time only. */
static int64_t enough(const TesProblem *p) {
  const TesSolveOptions *o = &p->options;
  const bool trees = p->levels->kind == &tesi_operator_mapped,
             serves = (p->in_time || trees) && tesi_has_kernels(p->context) &&
                      o->smoother == TES_SMOOTHER_AUTO && o->coarsening == TES_COARSEN_AUTO &&
                      o->coarse == TES_COARSE_AUTO;
  return serves ? most_in_few_launches(p) : 0;
}

static TesStatus create_operators(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesSolveOptions *o = &p->options;
  TesSmootherKind smoother;
  int64_t carried; /* the coarsest level of transport needs it */
  TES_TRY(tesi_work_on(ctx, "operator of %lld unknowns", (long long)p->space->dofs));
  TES_TRY(tes_operator_create(ctx, &(TesOperatorDesc){.space = p->space, .form = p->form.all}, &p->op));
  const TesiTransport *transport = tesi_transport_of(p->op);
  const bool whole = !transport || o->method == TES_METHOD_DIRECT || tesi_transport_whole(p, transport);
  p->levels = whole ? p->op : transport->symmetric;
  if (transport && p->levels == p->op) p->chosen.cycle = TES_DOUBLE;
  if (transport) TES_TRY(check_transport(p, transport));
  TES_TRY(tesi_problem_choose(p, &smoother));
  TES_TRY(tesi_transport_enough(p, &carried));
  const bool symmetric =
      o->order == TES_ORDER_AUTO ? p->chosen.method == TES_METHOD_CG : o->order == TES_ORDER_REVERSED;
  const bool couples = p->equation->couples, direct = o->method == TES_METHOD_DIRECT;
  const TesMultigridDesc mg = {.op = p->levels,
                               .precision = p->chosen.cycle,
                               .smoother = {.kind = smoother,
                                            .own = o->own_smoother,
                                            .local = o->local,
                                            .degree = p->chosen.polynomial,
                                            .ratio = couples ? 15 : 0,
                                            .colours = o->colours},
                               .coarsening = direct ? TES_COARSEN_NONE : p->chosen.coarsening,
                               .coarse = o->coarse,
                               .coarse_dofs = enough(p) > carried ? enough(p) : carried,
                               .thin = p->chosen.thin,
                               .pre = o->pre,
                               .post = o->post,
                               .post_below = p->chosen.post_below,
                               .full_steps = p->chosen.full_steps,
                               .symmetric = symmetric,
                               .spread =
                                   p->chosen.method == TES_METHOD_FMG}; /* below.h has spaces of all levels */
  TES_TRY(tes_multigrid_create(ctx, &mg, &p->multigrid));
  TES_TRY(tesi_transport_mend(p, &mg));
  TES_TRY(tesi_problem_tune(p));
done:
  return status;
}

TesStatus tesi_problem_take_guess(TesProblem *p, const TesVector *guess) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  if (!guess) return TES_OK;
  TES_CHECK(guess->length == p->space->length,
            "the guess has %lld values, the space of the problem has %lld nodes", (long long)guess->length,
            (long long)p->space->length);
  TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, &p->start));
  TES_TRY(tes_vector_copy(guess, 1, p->start));
done:
  return status;
}

static TesStatus create_iteration(TesProblem *p) {
  const TesiFlowEquation *flow = p->equation->flow;
  const TesSolverDesc solver = {.op = p->op,
                                .start_cycles = flow && flow->start_cycles ? flow->start_cycles(p) : 1,
                                .multigrid = p->multigrid,
                                .method = p->chosen.method,
                                .full_start = p->chosen.full_start,
                                .smooths_rough = p->chosen.smooths_rough,
                                .narrow_basis = tesi_problem_has_narrow_basis(p),
                                .tolerance = p->chosen.tolerance,
                                .max_iterations = p->options.max_iterations,
                                .monitor = p->options.monitor,
                                .monitor_user = p->options.monitor_user};
  const TesStatus status = tes_solver_create(p->context, &solver, &p->solver);
  if (status == TES_OK && p->below) tesi_solver_set_below(p->solver, p->below->b);
  if (status == TES_OK && p->text.advice[0]) tesi_solver_advise(p->solver, p->text.advice);
  if (status == TES_OK && flow && flow->complete) tesi_solver_keep_null(p->solver);
  if (status == TES_OK && p->chosen.factors_serve) tesi_solver_give_up_early(p->solver);
  return status;
}

TesStatus tesi_problem_create_system(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TES_TRY(create_form(p));
  TES_TRY(create_operators(p));
  TES_TRY(create_iteration(p));
done:
  return status;
}

TesStatus tesi_problem_create_solver(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesOperator *before = p->op;
  const TesOperator *levels_before = p->levels;
  tes_solver_destroy(&p->solver); /* and the residuals of its last solve */
  if (p->in_time) p->in_time->sum.residuals = NULL, p->in_time->sum.residual_count = 0;
  tes_multigrid_destroy(&p->multigrid);
  p->op = NULL;
  TES_TRY(tesi_problem_create_system(p));
done:
  if (status != TES_OK) { /* the state that exists stays, without levels */
    tes_multigrid_destroy(&p->multigrid);
    tes_operator_destroy(&p->op);
    p->op = before, p->levels = levels_before;
    before = NULL;
  }
  tes_operator_destroy(&before);
  return status;
}

/* Small data, from which the memory of all other objects follows. */
static TesStatus describe(TesProblem *p, const TesProblemDesc *desc) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  if (p->equation->flow) TES_TRY(p->equation->flow->check(p, desc));
  if (p->equation->check) TES_TRY(p->equation->check(p, desc));
  if (tesi_problem_is_timed(&desc->time)) TES_TRY(tesi_in_time_create(p, desc));
  TES_TRY(create_form(p));
  TES_TRY(tesi_problem_check_parts(p));
  TES_TRY(tesi_problem_create_space(p, desc->degree));
  TES_TRY(tesi_problem_choose_precision(p));
done:
  return status;
}

static TesStatus set_up(TesProblem *p, const TesProblemDesc *desc) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const double start = tesi_now();
  if (p->equation->own) {
    if (p->equation->in_time) TES_TRY(tesi_in_time_create(p, desc));
    TES_TRY(p->equation->own->create(p, desc));
    p->times.total = p->times.operators = tesi_now() - start;
    goto done;
  }
  TES_TRY(describe(p, desc));
  TES_TRY(tesi_problem_check_memory(p));
  TES_TRY(tesi_problem_take_guess(p, desc->guess));
  if (p->start) TES_TRY(tesi_problem_clear(p, p->start));
  TES_TRY(create_operators(p));
  if (!p->before && !desc->guess) tesi_problem_tell_unused(p);
  p->times.operators = tesi_now() - start;
  TES_TRY(tesi_work_on(ctx, "right-hand side"));
  TES_TRY(tesi_problem_create_right_hand_side(p, desc));
  TES_TRY(create_iteration(p));
  if (p->in_time) TES_TRY(tesi_in_time_begin(p, desc));
  if (p->multigrid) tesi_multigrid_forget_times(p->multigrid);
  p->times.total = tesi_now() - start;
done:
  return status;
}

static TesStatus check_lists(TesContext *ctx, const TesProblemDesc *desc) {
  TesStatus status = TES_OK;
  TES_TRY(tesi_support_check_problem(ctx, desc));
  TES_CHECK(!desc->boundaries || desc->boundary, "%d boundaries, and the list of them is NULL",
            desc->boundaries);
  TES_CHECK(!desc->materials || desc->material, "%d materials, and the list of them is NULL", desc->materials);
done:
  return status;
}

/* All components have an exact solution, or none has; the pressure of a flow may be unknown. */
static TesStatus take_exact(TesProblem *p, const TesProblemDesc *desc) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const bool flow = tesi_problem_is_flow(p);
  const int components = flow || p->equation->vector ? p->mesh->dim : 1;
  for (int c = 0; c < components + flow; c++) {
    TES_CHECK(!desc->exact[c] == !desc->exact[0] || (c == components && !desc->exact[c]),
              "the exact solution of component %d is %s", c,
              desc->exact[c] ? "given, that of component 0 is not" : "missing");
    p->exact[c] = tesi_function_retain(desc->exact[c]);
  }
done:
  return status;
}

/* *problem <- the description with numbers for names. `numbered`: replaces the names of the description; NULL: they
 * are used. before: the problem that it continues from; NULL: none. */
static TesStatus begin(TesContext *ctx, const TesiEquation *equation, const void *user,
                       const TesProblemDesc *desc, const TesiNumbered *numbered, const TesProblem *before,
                       TesProblem **problem) {
  TesStatus status = TES_OK;
  TesProblem *p = NULL;
  TES_CHECK(desc->mesh, "a problem needs a mesh");
  TES_CHECK(desc->mesh->context == ctx, "the mesh belongs to another context than the problem");
  TES_TRY(check_lists(ctx, desc));
  if (equation->support) TES_TRY(tesi_problem_allow(ctx, equation->support, desc, 0));
  TES_NEW(&p);
  *problem = p;
  p->context = tesi_context_retain(ctx);
  p->equation = equation;
  p->user = user;
  p->before = before;
  p->mesh = tesi_mesh_retain(desc->mesh);
  TES_TRY(take_exact(p, desc));
  p->options = desc->solver;
  p->variant.stabilization = desc->stabilization;
  p->variant.conservative = desc->transport_form == TES_TRANSPORT_CONSERVATIVE;
  p->variant.balanced = desc->balance, p->variant.plane = desc->plane;
  tesi_field_names_set(desc->name, &p->names);
  for (int d = 0; d < TESI_AXES; d++) p->totals.load[d] = p->totals.reaction[d] = NAN;
  TES_TRY(numbered ? tesi_numbered_copy(p->mesh, numbered, &p->numbered)
                   : tesi_numbered_create(ctx, equation, desc, equation->f, &p->numbered));
  TES_TRY(tesi_problem_allow_numbers(p));
done:
  return status;
}

static TesStatus create(TesContext *ctx, const TesiEquation *equation, const void *user,
                        const TesProblemDesc *desc, const TesiNumbered *numbered, const TesProblem *before,
                        TesProblem **problem) {
  TesStatus status = TES_OK;
  *problem = NULL;
  tesi_work_begin(ctx, "the set-up");
  TES_TRY(begin(ctx, equation, user, desc, numbered, before, problem));
  TES_TRY(set_up(*problem, desc));
  (*problem)->before = NULL;
done:
  if (status != TES_OK) tes_problem_destroy(problem);
  tesi_work_end(ctx);
  return status;
}

TesStatus tesi_problem_create(TesContext *context, const TesiEquation *equation, const void *user,
                              const TesProblemDesc *desc, TesProblem **problem) {
  return create(context, equation, user, desc, NULL, NULL, problem);
}

TesStatus tesi_problem_create_like(const TesProblem *problem, const TesProblemDesc *desc,
                                   const TesiNumbered *numbered, TesProblem **other) {
  return create(problem->context, problem->equation, problem->user, desc, numbered, NULL, other);
}

TesStatus tesi_problem_create_next(const TesProblem *p, const TesMesh *mesh, TesProblem **next) {
  const TesiInTime *it = p->in_time;
  TesProblemDesc desc = {.mesh = mesh,
                         .degree = p->space->degree,
                         .flow_form = p->variant.flow,
                         .transport_form =
                             p->variant.conservative ? TES_TRANSPORT_CONSERVATIVE : TES_TRANSPORT_CONVECTIVE,
                         .balance = p->variant.balanced,
                         .plane = p->variant.plane,
                         .name = p->names.name,
                         .add_load = it->add_load,
                         .add_load_user = it->add_load_user,
                         .average = it->march.average.count > 0,
                         .average_from = it->march.average.from,
                         .time = it->march.desc,
                         .stabilization = p->variant.stabilization,
                         .solver = p->options};
  for (int c = 0; c <= TESI_AXES; c++) desc.exact[c] = it->exact[c];
  if ((int)it->march.desc.method == TESI_TIME_SECOND_EULER) desc.time.method = TES_TIME_BACKWARD_EULER;
  if (p->equation->own && p->equation->own->describe) p->equation->own->describe(p, &desc);
  return create(p->context, p->equation, p->user, &desc, &it->numbers, p, next);
}

TesStatus tes_problem_create(TesContext *context, const TesProblemDesc *desc, TesProblem **problem) {
  TES_REFUSE_NULL(context, desc, problem);
  *problem = NULL;
  const TesiEquation *equation;
  TesStatus status = tesi_problem_find_equation(context, desc, &equation);
  if (status == TES_OK)
    status = tesi_name_fault(context, desc, create(context, equation, NULL, desc, NULL, NULL, problem));
  status = tesi_agree(context, status);
  if (status != TES_OK) tes_problem_destroy(problem);
  return status;
}

/* *p <- a problem of which only the space is made. */
static TesStatus create_space_alone(TesContext *ctx, const TesProblemDesc *desc, TesProblem **p) {
  const TesiEquation *equation;
  TesStatus status = tesi_problem_find_equation(ctx, desc, &equation);
  if (status == TES_OK) status = begin(ctx, equation, NULL, desc, NULL, NULL, p);
  if (status == TES_OK && (!equation->own || equation->flow)) status = describe(*p, desc);
  return status;
}

TesStatus tes_problem_memory(TesContext *context, const TesProblemDesc *desc, TesProblemMemory *memory) {
  TesProblem *p = NULL;
  TES_REFUSE_NULL(context, desc, memory);
  const TesStatus status = create_space_alone(context, desc, &p);
  if (status == TES_OK) *memory = tesi_problem_memory(p, desc->degree);
  tes_problem_destroy(&p);
  return status;
}

TesStatus tes_problem_scaling(TesContext *context, const TesProblemDesc *desc, bool gpus, int count,
                              TesProblemScaling *scaling) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesProblem *p = NULL;
  TES_REFUSE_NULL(context, desc, scaling);
  TES_TRY(tesi_one_rank(ctx, "a prediction for several ranks"));
  TES_TRY(create_space_alone(ctx, desc, &p));
  TES_TRY(tesi_problem_scale(p, desc, gpus, count, scaling));
done:
  tes_problem_destroy(&p);
  return status;
}

void tes_problem_destroy(TesProblem **problem) {
  if (!problem || !*problem) return;
  TesProblem *p = *problem;
  TesContext *ctx = p->context;
  *problem = NULL;
  if (p->equation->own) p->equation->own->destroy(p);
  tesi_in_time_destroy(p);
  tes_solver_destroy(&p->solver);
  tes_multigrid_destroy(&p->multigrid);
  tes_operator_destroy(&p->op);
  tes_operator_destroy(&p->assembled);
  TesVector **const vectors[] = {&p->b,    &p->u, &p->lifting.shift, &p->constants.weights, &p->lifting.free,
                                 &p->start};
  for (int c = 0; c < TESI_AXES; c++) tes_vector_destroy(&p->component[c]); /* views of u */
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) tes_vector_destroy(vectors[i]);
  tesi_below_destroy(p);
  for (int c = 0; c <= TESI_AXES; c++) tes_function_destroy(&p->exact[c]);
  tes_space_destroy(&p->space);
  tesi_free(ctx, &p->form.term);
  tesi_free(ctx, &p->form.through);
  tesi_balance_destroy(p, &p->balance);
  tesi_free(ctx, &p->motion);
  tesi_numbered_free(p->mesh, &p->numbered);
  tes_mesh_destroy(&p->mesh);
  tesi_free(ctx, &p);
  tes_context_destroy(&ctx);
}

/* ---- its parts ----------------------------------------------------------------------------------------- */

bool tesi_problem_is_flow(const TesProblem *problem) {
  const TesiEquation *e = problem->equation;
  return e->own || (e->flow && !e->flow->scalar);
}

const TesProblem *tesi_problem_solved(const TesProblem *problem) {
  const TesiOwn *own = problem->equation->own;
  const TesProblem *solved = own && own->solved ? own->solved(problem) : NULL;
  return solved ? solved : problem;
}

const TesSpace *tes_problem_space(const TesProblem *problem) {
  return problem->space;
}

const TesOperator *tes_problem_operator(const TesProblem *problem) {
  return problem->op;
}

const TesMultigrid *tes_problem_multigrid(const TesProblem *problem) {
  const TesiOwn *own = problem->equation->own;
  return own && own->multigrid ? own->multigrid(problem) : tesi_problem_solved(problem)->multigrid;
}

static const char *describe_smoother(const TesProblem *problem) {
  const TesMultigrid *mg = tes_problem_multigrid(problem);
  if (!mg) return "none";
  const TesSmoother *smoother = tes_multigrid_level(mg, tes_multigrid_levels(mg) - 1).smoother;
  if (smoother) return tes_smoother_describe(smoother);
  return problem->mesh->kind == TES_MESH_BOX ? "none: solved directly on the only level"
                                             : "none: there is one level alone";
}

static const char *describe_coarse(const TesProblem *problem) {
  const TesiOwn *own = problem->equation->own;
  const TesMultigrid *multigrid = tes_problem_multigrid(problem);
  if (own && own->is_direct && own->is_direct(problem)) return "solved directly, by sparse factors";
  return multigrid ? tesi_coarse_describe(tesi_multigrid_coarse(multigrid)) : "none";
}

void tesi_problem_mean_force(const TesProblem *problem, double force[TESI_AXES]) {
  const TesiOwn *own = problem->equation->own;
  for (int c = 0; c < TESI_AXES; c++) force[c] = NAN;
  if (own && own->mean_force && problem->own) own->mean_force(problem, force);
}

TesProblemInfo tes_problem_info(const TesProblem *problem) {
  TesProblemInfo info = {.op = problem->op->description,
                         .smoother = describe_smoother(problem),
                         .method = problem->text.method,
                         .precision = problem->text.precision,
                         .coarse = describe_coarse(problem),
                         .tolerance = problem->chosen.tolerance,
                         .floor = problem->chosen.floor,
                         .times = problem->times};
  const TesiInTime *it = problem->in_time;
  info.l2_space_time = it && it->march.step && it->exact[0] ? sqrt(it->error.squares) : NAN;
  info.balance = tesi_balance_result(problem);
  tesi_problem_mean_force(problem, info.mean_force);
  memcpy(info.balance.load, problem->totals.load, sizeof problem->totals.load);
  memcpy(info.balance.reaction, problem->totals.reaction, sizeof problem->totals.reaction);
  if (it)
    info.time = it->march.time, info.dt = it->march.dt, info.step = it->march.step,
    info.steps = it->march.steps, info.change = it->march.change;
  if (it && it->march.varies) info.varies = true, info.before = it->march.before;
  TesiField field[TESI_FIELDS];
  const int count = tesi_problem_fields(problem, field);
  for (int i = 0; i < count && info.fields < TES_PROBLEM_FIELDS; i++)
    if (field[i].derivative == TESI_FIELD_VALUE && !field[i].unlisted)
      info.field[info.fields++] = field[i].name;
  return info;
}
