/* Set-up, and the solution at the start: see coupled.h. */
#include "problem/flow/coupled/coupled.h"
#include <math.h>
#include "device/kernel.h"
#include "functional/rt/rt_functional.h"
#include "krylov/solver.h"
#include "problem/problem_memory.h"
#include "problem/equation/stokes.h"

TesStatus tesi_coupled_check(TesProblem *p, const TesProblemDesc *desc) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  double nu, alpha;
  TES_TRY(tesi_problem_flow_numbers(p, &nu, &alpha));
  TES_TRY(tesi_coupled_drive_check(p, desc));
  TES_TRY(tesi_stokes_check(p, desc));
done:
  return status;
}

/* On devices known nodes are set to zero by a product with 0 and 1. */
static TesStatus mark_free(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesVector *marks = NULL;
  if (!tesi_has_kernels(ctx) || p->space->dofs == p->space->length) return TES_OK;
  TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, &marks));
  TES_TRY(tes_vector_fill(marks, 1));
  TES_TRY(tesi_problem_clear(p, marks));
  p->lifting.free = marks, marks = NULL;
done:
  tes_vector_destroy(&marks);
  return status;
}

static TesStatus create_vectors(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiCoupled *flow = tesi_coupled_of(p);
  TesVector **const vectors[] = {&p->u,
                                 &flow->old[0],
                                 &flow->old[1],
                                 &flow->old[2],
                                 &flow->carried[0],
                                 &flow->carried[1],
                                 &flow->carried[2],
                                 &flow->b,
                                 &flow->r,
                                 &flow->d,
                                 &flow->x,
                                 &flow->w,
                                 &flow->sum};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
    TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, vectors[i]));
  for (int i = 0; i < 2; i++)
    TES_TRY(tes_vector_create(ctx, p->space->length, p->chosen.cycle, &flow->cycle[i]));
  TES_TRY(mark_free(p));
done:
  return status;
}

/* The length of the first step. */
static double choose_first(TesProblem *p) {
  return tesi_march_choose(&p->in_time->march, &tesi_coupled_scheme,
                           &(TesiLimits){.crossed = tesi_coupled_crossed(p), .longest = INFINITY});
}

/* u <- the interpolated initial velocity, if it is divergence-free and has the boundary values. Else u <- the nearest
 * velocity with both properties in the norm of sigma (u, u) + nu (grad u, grad u). */
static TesStatus begin(TesProblem *p, const TesProblemDesc *desc) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiCoupled *flow = tesi_coupled_of(p);
  const int dim = p->mesh->dim;
  const bool own = desc->initial[0] || !desc->exact[0];
  TesFunction *now[TESI_AXES + 1] = {NULL};
  double norm, size;
  TesSolveResult result = {0};
  for (int c = 0; c <= dim; c++) {
    const TesFunction *f = own ? desc->initial[c] : desc->exact[c];
    if (f) TES_TRY(tesi_function_at(f, p->in_time->march.time, &now[c]));
  }
  TES_TRY(tesi_rt_interpolate(p->space, (const TesFunction *const *)now, p->u));
  /* a step this long is shortened by the choice by the flow */
  TES_TRY(tesi_coupled_carry(p));
  const double dt = choose_first(p);
  TES_TRY(tesi_coupled_use(p, p->in_time->march.time, 1 / dt));
  TES_TRY(tes_vector_copy(p->u, 1, flow->x));
  TES_TRY(tesi_coupled_give(p, flow->x));
  TES_TRY(tes_vector_fill(flow->b, 0));
  TES_TRY(tes_operator_residual(p->op, flow->b, flow->x, flow->r));
  TesVector velocity = tesi_vector_range(flow->r, 0, p->space->first[dim]);
  TES_TRY(tes_vector_fill(&velocity, 0));
  TES_TRY(tes_vector_norm(flow->r, &norm));
  TES_TRY(tes_vector_norm(flow->x, &size)); /* norm is |div u|; this is about |u| over the root of a length */
  if (norm * sqrt(tesi_stokes_extent(p)) > 1e-13 * size) {
    TesVector part;
    tesi_solver_set_tolerance(p->solver, 1e-10);
    TES_TRY(tes_vector_fill(flow->d, 0));
    TES_TRY(tes_solver_solve(p->solver, flow->r, flow->d, &result));
    part = tesi_space_range(p->space, flow->d, dim);
    TES_TRY(tes_vector_fill(&part, 0)); /* its pressure has no meaning */
    TES_TRY(tes_vector_axpy(1, flow->d, flow->x));
  }
  TES_TRY(tesi_coupled_clean(p, flow->x));
  TES_TRY(tes_vector_copy(flow->x, 1, p->u));
  tesi_coupled_forget(flow);
  if (p->in_time->march.varies) p->in_time->march.dt = 0, p->in_time->march.chosen = false;
  TES_TRY(tesi_coupled_carry(p));
  choose_first(p);
  tesi_march_count(&p->in_time->march);
done:
  for (int c = 0; c <= TESI_AXES; c++) tes_function_destroy(&now[c]);
  return status;
}

/* TesiAveraged.square: entries of u are not its values everywhere, so they cannot be squared. */
static TesStatus square(void *user, const TesVector *value, TesVector *to) {
  return tesi_rt_square(((const TesProblem *)user)->space, value, to);
}

static TesStatus create(TesProblem *p, const TesProblemDesc *desc) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiCoupled *flow;
  TES_NEW(&flow);
  p->own = flow;
  flow->order = desc->time.method == TES_TIME_IMEX_BDF3 ? 3 : 2;
  flow->drive.components = desc->mean_components;
  flow->guess = p->options.guess == 0 ? 3 : tesi_max(0, p->options.guess);
  TES_TRY(tesi_coupled_check(p, desc));
  TES_TRY(tesi_problem_create_space(p, desc->degree));
  TES_TRY(tesi_problem_choose_precision(p));
  TES_TRY(tesi_problem_check_memory(p));
  TES_TRY(create_vectors(p));
  TES_TRY(tesi_rt_convection_create(p->space, &flow->convection));
  const TesiNumbered *n = &p->in_time->numbers;
  flow->timed = tesi_numbered_timed(p->mesh, n, true) || tesi_numbered_timed(p->mesh, n, false);
  TES_TRY(begin(p, desc));
  TES_TRY(tesi_coupled_drive_create(p, desc));
  if (desc->average)
    TES_TRY(tesi_average_follow(
        &p->in_time->march.average,
        &(TesiAveraged){
            .name = "mean-velocity", .space = p->space, .value = p->u, .square = square, .user = p}));
done:
  return status;
}

static void mean_force(const TesProblem *p, double force[TESI_AXES]) {
  const TesiCoupledDrive *drive = &tesi_coupled_of(p)->drive;
  for (int c = 0; c < TESI_AXES; c++)
    if (drive->components >> c & 1) force[c] = drive->force[c];
}

static void destroy(TesProblem *p) {
  TesiCoupled *flow = tesi_coupled_of(p);
  if (!flow) return;
  TesVector **const vectors[] = {
      &flow->old[0], &flow->old[1],  &flow->old[2], &flow->carried[0], &flow->carried[1], &flow->carried[2],
      &flow->b,      &flow->r,       &flow->d,      &flow->x,          &flow->w,          &flow->sum,
      &flow->load,   &flow->uniform, &flow->pushes, &flow->given,      &flow->cycle[0],   &flow->cycle[1]};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) tes_vector_destroy(vectors[i]);
  tesi_coupled_drive_free(&flow->drive);
  for (int i = 0; i < TESI_COUPLED_SYSTEMS; i++) tesi_coupled_drop(&flow->system[i]);
  p->op = NULL, p->multigrid = NULL, p->solver = NULL;
  tesi_rt_convection_destroy(&flow->convection);
  tesi_free(p->context, &p->own);
}

const TesiOwn tesi_coupled_own = {
    .create = create, .destroy = destroy, .scheme = &tesi_coupled_scheme, .mean_force = mean_force};
