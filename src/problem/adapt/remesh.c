/* Problems in time whose mesh follows the solution: tes_problem_remesh(). */
#include "problem/adapt/remesh.h"
#include <math.h>
#include "functional/functional.h"
#include "mesh/forest/forest.h"
#include "operator/operator.h"
#include "problem/adapt/estimate.h"
#include "problem/balance.h"
#include "problem/step_control.h"
#include "problem/support.h"

static TesStatus check(const TesProblem *p, const TesAdaptDesc *desc) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TES_CHECK(p->in_time, "a steady problem is adapted by solving it again: tes_adapt_run()");
  TES_TRY(tesi_adapt_check(ctx, desc, p->mesh));
  TES_TRY(tesi_problem_allow_more(p, TESI_BIT(TESI_HAS_REMESH)));
  TES_CHECK(desc->estimator == TES_ESTIMATE_RESIDUAL,
            "adapt.estimator: problems in time have the residual estimator");
  TES_CHECK(desc->max_level || desc->max_dofs,
            "adapt: max_level or max_dofs must bound the mesh of a problem in time");
  TES_CHECK(desc->every || tesi_problem_transports(p) || tesi_problem_is_flow(p),
            "adapt.every: there is no flow that says when the mesh changes: after how many steps?");
done:
  return status;
}

static bool is_due(const TesiInTime *it, const TesAdaptDesc *desc) {
  enum { CELLS = 2 };
  if (it->remeshed == it->march.step) return false;
  if (it->march.step == 0) return true;
  return desc->every ? it->march.step % desc->every == 0 : it->march.crossed >= CELLS * (1 - 1e-9);
}

/* The problem continues on another mesh: `next` gets the problem's old objects and is destroyed. */
static void take_over(TesProblem *p, TesProblem **next) {
  const TesProblem swap = *p;
  *p = **next, **next = swap;
  if (p->in_time->stepper) p->in_time->stepper->evolution.user = p;
  if ((*next)->in_time->stepper) (*next)->in_time->stepper->evolution.user = *next;
  p->times.load += (*next)->times.load;
  tes_problem_destroy(next);
}

/* ---- before the first step ----------------------------------------------------------------------------- */

/* eta2[cells] <- the squared L2 error of the interpolated initial functions; flows: of the velocity; sum: over all
 * cells. size: about |u|^2. */
static TesStatus find_initial_error(const TesProblem *p, const TesSpace *space, const TesFunction *const *f,
                                    double *eta2, double *sum, double *size) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesVector *u = NULL, *zero = NULL;
  TES_TRY(tesi_vector_create_on(space->layout, TES_DOUBLE, &u));
  TES_TRY(tesi_vector_create_on(space->layout, TES_DOUBLE, &zero));
  TES_TRY(tes_space_interpolate(space, f, u));
  TES_TRY(tes_functional_error(space, zero, f, size, NULL, NULL, NULL));
  TES_TRY(tes_functional_error(space, u, f, sum, NULL, eta2, NULL));
  *sum *= *sum, *size *= *size;
done:
  tes_vector_destroy(&u);
  tes_vector_destroy(&zero);
  return status;
}

/* *mesh <- the next mesh for the initial functions; NULL: the present mesh is fine enough. */
static TesStatus fit_once(const TesProblem *p, const TesSpace *space, const TesFunction *const *f,
                          const TesAdaptDesc *desc, TesMesh **mesh) {
  const double round_off = 1e-24;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  double *eta2 = NULL, sum, size;
  *mesh = NULL;
  TES_ALLOC(&eta2, space->mesh->cells);
  TES_TRY(find_initial_error(p, space->product ? space->part[0] : space, f, eta2, &sum, &size));
  const bool fine = sum <= round_off * size || (desc->tolerance > 0 && sqrt(sum) <= desc->tolerance);
  if (!fine) TES_TRY(tesi_regrid(space, desc, true, eta2, mesh));
done:
  tesi_free(ctx, &eta2);
  return status;
}

/* The mesh for the initial functions, one round per level; NULL: the problem's own mesh. */
static TesStatus fit_initial(const TesProblem *p, const TesAdaptDesc *desc, TesMesh **mesh) {
  enum { ROUNDS = 10 };
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesFunction *f[TESI_AXES] = {NULL};
  TesSpace *space = tesi_space_retain(p->space);
  TesMesh *shared = NULL;
  *mesh = NULL;
  if (!p->in_time->initial[0]) goto done;
  for (int c = 0; c < TESI_AXES; c++)
    if (p->in_time->initial[c])
      TES_TRY(tesi_function_at(p->in_time->initial[c], p->in_time->march.time, &f[c]));
  for (int i = 0; i < (desc->max_level ? desc->max_level : ROUNDS); i++) {
    TesMesh *next;
    TES_TRY(fit_once(p, space, (const TesFunction *const *)f, desc, &next));
    if (!next) break;
    tes_mesh_destroy(mesh);
    *mesh = next;
    if (tesi_ranks(ctx) > 1) TES_TRY(tesi_mesh_share_out(next, &shared));
    if (shared) tes_mesh_destroy(mesh), *mesh = next = shared, shared = NULL;
    tes_space_destroy(&space);
    TES_TRY(tesi_space_create_on(p->space, next, p->space->degree, &space));
  }
done:
  if (status != TES_OK) tes_mesh_destroy(mesh);
  tes_space_destroy(&space);
  for (int c = 0; c < TESI_AXES; c++) tes_function_destroy(&f[c]);
  return status;
}

/* ---- between steps ------------------------------------------------------------------------------------- */

static TesStatus fit(const TesProblem *p, const TesAdaptDesc *desc, TesRemesh *remesh, TesMesh **mesh) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  double *eta2 = NULL, sum = 0;
  const double start = tesi_now();
  *mesh = NULL;
  TES_ALLOC(&eta2, p->mesh->cells);
  TES_TRY(tes_estimate_residual(p, eta2));
  for (int64_t c = 0; c < p->mesh->cells; c++) sum += eta2[c];
  tesi_reduce(ctx, TESI_SUM, 1, &sum);
  if (!isfinite(sum)) TES_FAIL(TES_NAN, "the estimate is not a number: the data are not finite somewhere");
  remesh->estimate = sqrt(sum);
  remesh->estimate_seconds = tesi_now() - start;
  TES_TRY(tesi_regrid(p->space, desc, !(sqrt(sum) <= desc->tolerance), eta2, mesh));
done:
  tesi_free(ctx, &eta2);
  return status;
}

/* Errors of the initial functions. */
static TesStatus begin_anew(const TesProblem *p, TesProblem *next) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  for (int c = 0; c <= TESI_AXES; c++)
    next->in_time->initial[c] = tesi_function_retain(p->in_time->initial[c]);
  for (int c = 0; c < TESI_AXES; c++)
    next->in_time->initial_rate[c] = tesi_function_retain(p->in_time->initial_rate[c]);
  if (p->equation->own) return p->equation->own->begin(next);
  TES_TRY(tesi_in_time_interpolate(next));
  if (p->equation->second_order) TES_TRY(tesi_in_time_begin_rates(next));
  if (next->balance) TES_TRY(tesi_balance_begin(next));
done:
  return status;
}

TesStatus tesi_change_mesh(TesProblem *p, const TesMesh *mesh, TesRemesh *remesh) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesProblem *next = NULL;
  TesMesh *shared = NULL;
  const double start = tesi_now();
  if (tesi_ranks(ctx) > 1) TES_TRY(tesi_mesh_share_out(mesh, &shared));
  TES_TRY(tesi_problem_create_next(p, shared ? shared : mesh, &next));
  const double made = tesi_now();
  remesh->setup_seconds = made - start;
  if (p->in_time->march.step == 0)
    TES_TRY(begin_anew(p, next));
  else
    TES_TRY(tesi_move_state(p, next, shared ? mesh : NULL, &remesh->divergence_removed));
  remesh->move_seconds = tesi_now() - made;
  take_over(p, &next);
  remesh->changed = true;
done:
  tes_problem_destroy(&next);
  tes_mesh_destroy(&shared);
  return status;
}

TesStatus tes_problem_remesh(TesProblem *p, const TesAdaptDesc *desc, TesRemesh *remesh) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesMesh *mesh = NULL;
  TesAdaptDesc all = *desc;
  const double start = tesi_now();
  *remesh = (TesRemesh){.estimate = NAN, .divergence_removed = NAN};
  TES_TRY(check(p, desc));
  remesh->looked = is_due(p->in_time, desc);
  if (!remesh->looked) goto done;
  tesi_work_begin(ctx, "the mesh after step %d", p->in_time->march.step);
  if (!all.first) all.first = p->in_time->first;
  status = p->in_time->march.step ? fit(p, &all, remesh, &mesh) : fit_initial(p, &all, &mesh);
  if (status == TES_OK && mesh) status = tesi_change_mesh(p, mesh, remesh);
  tesi_work_end(ctx);
  TES_TRY(status);
  p->in_time->remeshed = p->in_time->march.step;
  p->in_time->march.crossed = 0;
done:
  tes_mesh_destroy(&mesh);
  remesh->cells = tes_mesh_info(p->mesh).all_cells, remesh->dofs = p->space->all_dofs;
  remesh->seconds = tesi_now() - start;
  return tesi_agree(ctx, status);
}
