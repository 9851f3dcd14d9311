/* The adaptive loop: solve, estimate, mark, refine. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "mesh/forest/forest.h"
#include "parallel/repartition.h"
#include "problem/adapt/estimate.h"
#include "problem/adapt/remesh.h"
#include "problem/adapt/room.h"
#include "functional/functional.h"
#include "problem/support.h"

typedef struct Loop {
  TesContext *context;
  const TesAdaptDesc *desc;
  TesProblemDesc desc_at; /* of the present step */
  TesValue goal;          /* DWR */
  int steps;
  double fraction;
  int64_t cells; /* of this rank */
  TesMesh *mesh; /* of later steps */
  TesProblem *problem;
  double *indicator;
  TesVector *guess;
  int8_t *mark;
  TesAdaptStep at, last; /* last: complete */
  double before;         /* upper figure of the step before `at` */
  double refine_seconds; /* seconds for making the mesh of `at` */
  int64_t next_dofs;     /* unknowns of the mesh that max_dofs forbids; 0: there is none */
  TesiRoom room;
} Loop;

static TesStatus set_up(Loop *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const double start = tesi_now();
  tesi_work_begin(ctx, "the set-up of step %d", s->at.step);
  status = tes_problem_create(ctx, &s->desc_at, &s->problem);
  tesi_work_end(ctx);
  TES_TRY(status);
  s->at.setup_seconds = s->refine_seconds + tesi_now() - start;
  const TesSpace *space = s->problem->space;
  const TesiCellView *view;
  TES_TRY(tesi_space_cells(space->scalar[0], &view));
  s->cells = view->cells, s->at.hanging = view->hanging;
  s->at.cells = tes_mesh_info(s->desc_at.mesh).all_cells, s->at.dofs = space->all_dofs;
  s->at.problem = s->problem, s->at.mesh = s->desc_at.mesh;
  TES_CHECK(s->at.step || !s->desc->max_dofs || space->all_dofs <= s->desc->max_dofs,
            "the first mesh has %lld unknowns, and max_dofs allows %lld", (long long)space->all_dofs,
            (long long)s->desc->max_dofs);
  if (s->desc->estimator == TES_ESTIMATE_DWR) TES_TRY(tesi_estimate_check(s->problem, &s->goal));
done:
  return status;
}

static TesStatus solve(Loop *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TES_TRY(set_up(s));
  TES_TRY(tes_problem_solve(s->problem, &s->at.result));
  s->at.iterations = s->at.result.iterations;
  s->at.solve_seconds = s->at.result.seconds;
done:
  return status;
}

/* |sqrt(a) grad e| with a at the middle of each cell, or the energy norm of elasticity; two norms for the report. */
static TesStatus energy_error(Loop *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const TesiCellView *space;
  double *l2 = NULL, *h1 = NULL, *energy = NULL, sum[3] = {0};
  const TesiOwn *own = s->problem->equation->own;
  if (own && own->errors) return own->errors(s->problem, &s->at.error_l2, &s->at.error_h1, &s->at.error);
  TES_TRY(tesi_space_cells(s->problem->space->part[0], &space));
  TesiResidual residual = {.data = &s->problem->numbered, .space = space};
  TES_TRY(tesi_mesh_geometry(space->mesh, &residual.geometry));
  TES_ALLOC(&l2, space->cells);
  TES_ALLOC(&h1, space->cells);
  TES_TRY(tes_functional_error(s->problem->space, s->problem->u,
                               (const TesFunction *const *)s->problem->exact, NULL, NULL, l2, h1));
  if (s->problem->equation->couples) {
    TES_ALLOC(&energy, space->cells);
    TES_TRY(tesi_elastic_error(s->problem, energy));
  }
  for (int64_t c = 0; c < space->cells; c++) {
    sum[0] += l2[c], sum[1] += h1[c];
    sum[2] += energy ? energy[c] : tesi_residual_diffusion(&residual, c) * h1[c];
  }
  tesi_reduce(ctx, TESI_SUM, 3, sum);
  s->at.error_l2 = sqrt(sum[0]), s->at.error_h1 = sqrt(sum[1]);
  if (s->desc->estimator == TES_ESTIMATE_RESIDUAL)
    s->at.error = sqrt(tesi_problem_transports(s->problem) ? sum[0] : sum[2]);
done:
  tesi_free(ctx, &l2);
  tesi_free(ctx, &h1);
  tesi_free(ctx, &energy);
  return status;
}

/* J(exact) - J(u): from the value at the point, or the integral of the interpolated exact solution in degree 8; not
 * available for forces. */
static TesStatus goal_error(Loop *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const TesValue *goal = &s->goal;
  const TesSpace *space = s->problem->space;
  const bool expression = tesi_goal_is_expression(goal);
  const TesFunction *known = s->problem->exact[expression ? 0 : tesi_goal_component(goal)];
  TesValue plain = *goal;
  double exact = NAN;
  uint8_t *none = NULL;
  TesSpace *fine = NULL;
  TesVector *v = NULL;
  plain.of = "u"; /* the space of one component */
  if (expression) {
    TES_TRY(tesi_goal_exact_expression(s->problem, goal, &exact));
  } else if (goal->kind == TES_VALUE_POINT) {
    TES_TRY(tes_function_evaluate(known, 1, &goal->point[0], &goal->point[1], &goal->point[2], 0, &exact));
  } else if (goal->kind != TES_VALUE_FORCE) {
    TES_ALLOC(&none, tes_mesh_boundaries(space->mesh) + 1);
    const TesSpaceDesc desc = {.mesh = space->mesh, .degree = tesi_min(space->degree + 3, 8), .given = none};
    TES_TRY(tes_space_create(ctx, &desc, &fine));
    TES_TRY(tesi_vector_create_on(fine->layout, TES_DOUBLE, &v));
    TES_TRY(tes_space_interpolate(fine, (const TesFunction *[]){known}, v));
    TES_TRY(tes_functional_value(fine, v, &plain, &exact));
  }
  s->at.error = exact - s->at.goal;
done:
  tes_space_destroy(&fine);
  tesi_free(ctx, &none);
  tes_vector_destroy(&v);
  return status;
}

static TesStatus estimate(Loop *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const double start = tesi_now();
  const bool dual = s->desc->estimator == TES_ESTIMATE_DWR;
  double sums[2] = {0, 0}; /* of the indicators, and of their absolute values */
  tesi_work_begin(ctx, "the estimate of step %d", s->at.step);
  TES_TRY(tesi_work_on(ctx, "%lld cells", (long long)s->at.cells));
  TES_ALLOC(&s->indicator, s->cells);
  s->at.goal = s->at.error = s->at.error_l2 = s->at.error_h1 = NAN;
  if (dual) {
    if (tesi_goal_is_expression(&s->goal)) TES_TRY(tesi_goal_check_expression(s->problem, &s->goal));
    if (tesi_goal_is_expression(&s->goal) && s->at.step == 0)
      TES_TRY(tesi_goal_tell_kinks(s->problem, &s->goal));
    TES_TRY(tes_problem_value(s->problem, &s->goal, &s->at.goal));
    TES_TRY(tesi_estimate_dwr(s->problem, &s->goal, s->indicator));
  } else {
    TES_TRY(tes_estimate_residual(s->problem, s->indicator));
  }
  for (int64_t c = 0; c < s->cells; c++) sums[0] += s->indicator[c], sums[1] += fabs(s->indicator[c]);
  tesi_reduce(ctx, TESI_SUM, 2, sums);
  s->at.estimate = dual ? sums[0] : sqrt(sums[0]);
  s->at.upper = dual ? sums[1] : s->at.estimate;
  if (!isfinite(sums[0]))
    TES_FAIL(TES_NAN, "the estimate is not a number: the data are not finite somewhere");
  s->at.estimate_seconds = tesi_now() - start;
  tesi_log(ctx, TES_LOG_DETAIL, "step %d: set up in %.3g s, solved in %.3g s, estimated in %.3g s",
           s->at.step, s->problem->times.total, s->at.solve_seconds, s->at.estimate_seconds);
  if (s->problem->exact[0]) {
    TES_TRY(energy_error(s));
    if (dual) TES_TRY(goal_error(s));
  }
  s->at.effectivity = s->at.estimate / s->at.error;
done:
  tesi_work_end(ctx);
  return status;
}

static TesStatus check_room(const Loop *s, const TesSpace *next) {
  const int64_t more = tes_mesh_info(next->mesh).all_cells, nodes_then = next->layout->global;
  const double cells = (double)more / (double)s->at.cells,
               nodes = (double)nodes_then / (double)s->problem->space->layout->global;
  return tesi_room_check(s->context, &s->room,
                         &(TesiNextMesh){.cells = more,
                                         .dofs = nodes_then,
                                         .growth = fmax(cells, nodes),
                                         .spare = tesi_problem_spare(s->problem)});
}

/* Distributes the cells of the mesh equally over ranks; *guess is moved too. */
static TesStatus share_out(const TesSpace *space, TesMesh **mesh, TesVector **guess) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesMesh *moved = NULL;
  TesSpace *to = NULL;
  TesVector *v = NULL;
  double *here = NULL, *there = NULL;
  if (tesi_ranks(ctx) == 1) return TES_OK;
  TES_TRY(tesi_mesh_share_out(*mesh, &moved));
  TES_TRY(tesi_space_create_on(space, moved, space->degree, &to));
  TES_TRY(tesi_vector_create_on(to->layout, TES_DOUBLE, &v));
  TES_ALLOC(&there, to->length);
  TES_TRY(tesi_vector_read(*guess, &here));
  TES_TRY(tesi_layout_move(space->layout, here, to->layout, there));
  TES_TRY(tes_vector_set(v, there));
  tes_mesh_destroy(mesh);
  tes_vector_destroy(guess);
  *mesh = moved, moved = NULL;
  *guess = v, v = NULL;
done:
  tesi_free(ctx, &here);
  tesi_free(ctx, &there);
  tes_vector_destroy(&v);
  tes_space_destroy(&to);
  tes_mesh_destroy(&moved);
  return status;
}

/* Makes the next mesh, and the solution on it as the initial guess. *stop: the next mesh would be too large. */
static TesStatus refine(Loop *s, double fraction, bool *stop) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TesMesh *next = NULL;
  TesSpace *space = NULL;
  const TesSpace *old = s->problem->space;
  const double start = tesi_now();
  tesi_work_begin(ctx, "refining after step %d", s->at.step);
  TES_TRY(tesi_work_on(ctx, "%lld cells", (long long)s->at.cells));
  TES_ALLOC(&s->mark, s->cells);
  for (int64_t c = 0; c < s->cells && s->desc->estimator == TES_ESTIMATE_DWR; c++)
    s->indicator[c] = fabs(s->indicator[c]);
  tes_mark_cells(ctx, s->desc->marking, fraction, s->cells, s->indicator, s->mark);
  TES_TRY(tes_mesh_adapt(s->desc_at.mesh, s->mark, &next));
  TES_TRY(tesi_space_create_on(old, next, old->degree, &space));
  *stop = s->desc->max_dofs > 0 && space->layout->global > s->desc->max_dofs;
  if (*stop) {
    s->next_dofs = space->layout->global;
    goto done;
  }
  TES_TRY(check_room(s, space));
  tes_vector_destroy(&s->guess);
  TES_TRY(tesi_vector_create_on(space->layout, TES_DOUBLE, &s->guess));
  TES_TRY(tes_space_carry(old, s->problem->u, space, s->guess));
  tes_problem_destroy(&s->problem);
  TES_TRY(share_out(space, &next, &s->guess));
  tes_mesh_destroy(&s->mesh);
  s->mesh = next, next = NULL;
  s->desc_at.mesh = s->mesh;
  s->desc_at.guess = s->guess;
  s->refine_seconds = tesi_now() - start;
done:
  tesi_work_end(ctx);
  tes_mesh_destroy(&next);
  tes_space_destroy(&space);
  tesi_free(ctx, &s->mark);
  return status;
}

/* Makes one step; the loop's indicators become eta_K for the report. */
static TesStatus step(Loop *s, int number) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  double *eta = NULL;
  s->before = s->at.upper;
  s->at = (TesAdaptStep){.step = number};
  tesi_room_begin(ctx, &s->room);
  TES_TRY(solve(s));
  TES_TRY(estimate(s));
  TES_ALLOC(&eta, s->cells);
  for (int64_t c = 0; c < s->cells; c++)
    eta[c] = s->desc->estimator == TES_ESTIMATE_DWR ? fabs(s->indicator[c]) : sqrt(s->indicator[c]);
  s->at.indicator = eta;
  s->last = s->at;
  if (s->desc->report) TES_TRY(s->desc->report(s->desc->report_user, &s->at));
done:
  s->at.indicator = NULL;
  tesi_free(ctx, &eta);
  return status;
}

/* Reports a given tolerance that is not met, with advice. */
static TesStatus check_tolerance(const Loop *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const double upper = s->at.upper, tolerance = s->desc->tolerance, factor = upper / s->before;
  char more[64] = "", estimate[96];
  if (tolerance == 0 || upper <= tolerance) return TES_OK;
  snprintf(estimate, sizeof estimate, "estimate %.3g", s->at.estimate);
  if (s->desc->estimator == TES_ESTIMATE_DWR)
    snprintf(estimate, sizeof estimate, "sum of absolute indicators %.3g (estimate %.3g)", upper,
             s->at.estimate);
  if (factor < 0.99)
    snprintf(more, sizeof more, " (about %.0f more at the rate of the last)",
             ceil(log(tolerance / upper) / log(factor)));
  if (s->next_dofs)
    TES_FAIL(TES_ABOVE_TOLERANCE,
             "the %s is above the tolerance %.3g, and the next mesh has %lld unknowns where max_dofs "
             "allows %lld: raise max_dofs or the tolerance, or take a higher degree",
             estimate, tolerance, (long long)s->next_dofs, (long long)s->desc->max_dofs);
  TES_FAIL(TES_ABOVE_TOLERANCE,
           "the %s is above the tolerance %.3g after %d step%s, the last allowed: allow more steps%s, "
           "raise the tolerance, or take a higher degree",
           estimate, tolerance, s->at.step + 1, s->at.step ? "s" : "", more);
done:
  return status;
}

/* Refuses what the loop does not support; finds the number of its goal. */
static TesStatus begin(Loop *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const TesAdaptDesc *desc = s->desc;
  const TesProblemDesc *problem = &s->desc_at;
  const TesiEquation *equation;
  s->steps = desc->steps ? desc->steps : 10;
  s->fraction = desc->fraction != 0 ? desc->fraction : desc->marking == TES_MARK_BULK ? 0.5 : 0.2;
  TES_CHECK(problem->time.end == 0 && problem->time.step == 0,
            "problems in time are solved once, on meshes that change: tes_problem_remesh()");
  TES_TRY(tesi_adapt_check(ctx, desc, problem->mesh));
  TES_TRY(tesi_problem_find_equation(ctx, problem, &equation));
  TES_TRY(tesi_problem_allow(ctx, equation->support, problem,
                             TESI_BIT(desc->estimator == TES_ESTIMATE_DWR ? TESI_HAS_DWR : TESI_HAS_ADAPT)));
  const int components = equation->vector ? problem->mesh->dim : 1;
  if (desc->estimator == TES_ESTIMATE_DWR)
    TES_TRY(tesi_goal_number(problem->mesh, components, &desc->goal, &s->goal));
done:
  return status;
}

static void end(Loop *s) {
  tes_problem_destroy(&s->problem);
  tes_mesh_destroy(&s->mesh);
  tesi_free(s->context, &s->indicator);
  tes_vector_destroy(&s->guess);
  tesi_free(s->context, &s->mark);
}

TesStatus tes_adapt_check(TesContext *context, const TesProblemDesc *problem, const TesAdaptDesc *desc) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TES_REFUSE_NULL(context, problem, desc);
  Loop s = {.context = context, .desc = desc, .desc_at = *problem};
  TES_TRY(begin(&s));
  TES_TRY(set_up(&s));
done:
  end(&s);
  return tesi_agree(ctx, status);
}

TesStatus tes_adapt_run(TesContext *context, const TesProblemDesc *problem, const TesAdaptDesc *desc,
                        TesAdaptStep *last) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TES_REFUSE_NULL(context, problem, desc);
  Loop s = {.context = context, .desc = desc, .desc_at = *problem};
  bool stop = false;
  TES_TRY(begin(&s));
  for (int i = 0; i < s.steps && !stop; i++) {
    TES_TRY(step(&s, i));
    stop = i + 1 == s.steps || s.at.upper <= desc->tolerance;
    if (!stop && tesi_context_interrupted(ctx))
      TES_FAIL(TES_INTERRUPTED, "interrupted between two steps, the results of the first are there");
    if (!stop) TES_TRY(refine(&s, s.fraction, &stop));
    tesi_free(ctx, &s.indicator);
  }
  TES_TRY(check_tolerance(&s));
done:
  status = tesi_agree(ctx, status);
  if (last) {
    *last = s.last;
    last->mesh = NULL, last->problem = NULL, last->indicator = NULL, last->result.residuals = NULL;
  }
  if (desc->keep) *desc->keep = s.problem, s.problem = NULL;
  end(&s);
  return status;
}
