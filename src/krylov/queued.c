#include "krylov/queued.h"
#include <math.h>
#include "krylov/krylov_device.h"

enum { SQUARES, CHOOSE, TAKE, STARTS };
enum { ROUND, ADD, SQUARE, FINISH, CYCLES };

/* ---- a cycle as the iteration itself ------------------------------------------------------------------- */

TesStatus tesi_cycle_device_kernels(TesiKrylovDevice *device) {
  static const char *const names[CYCLES] = {"tesk_krylov_round", "tesk_cycle_add", "tesk_cycle_square",
                                            "tesk_cycle_finish"};
  return tesi_krylov_kernels(device, CYCLES, names, device->kernel);
}

/* x <- x + MG r, r <- b - A x */
TesStatus tesi_cycle_device_step(void *iteration) {
  const TesiIteration *work = iteration;
  TesSolver *s = work->solver;
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TesiKrylovDevice *d = s->device;
  long long n = s->desc.op->length;
  int scaled = s->mg_b != NULL, parts = (int)d->parts;
  const TesVector *in = scaled ? s->mg_b : work->r;
  TesVector *out = scaled ? s->mg_x : s->z;
  void *round[] = {&n, &work->r->data, (void *)&in->data, &d->scalars},
       *add[] = {&n, &out->data, &work->x->data, &scaled, &d->scalars},
       *square[] = {&n, &work->r->data, &d->squares}, *finish[] = {&parts, &d->squares, &d->scalars};
  if (scaled) {
    TES_TRY(tesi_krylov_launch(d, ROUND, 1, 0, round));
  }
  TES_TRY(tes_multigrid_cycle(s->desc.multigrid, in, out, true));
  TES_TRY(tesi_krylov_launch(d, ADD, 1, 0, add));
  TES_TRY(tes_operator_residual(s->desc.op, work->b, work->x, work->r));
  TES_TRY(tesi_krylov_launch(d, SQUARE, 1, 0, square));
  TES_TRY(tesi_krylov_launch(d, FINISH, 0, 0, finish));
done:
  return status;
}

/* ---- the start ----------------------------------------------------------------------------------------- */

TesStatus tesi_solver_can_queue(TesSolver *s, bool *can) {
  static const char *const names[STARTS] = {"tesk_start_squares", "tesk_start_choose", "tesk_start_take"};
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  *can = tesi_has_kernels(ctx) && !s->desc.op->singular && tesi_ranks(ctx) == 1 &&
         s->desc.method != TES_METHOD_FMG && !s->desc.full_start;
  if (!*can) return TES_OK;
  if (!s->device) TES_TRY(tesi_krylov_device_create(s, &s->device));
  if (!s->device->start[0].entry) TES_TRY(tesi_krylov_kernels(s->device, STARTS, names, s->device->start));
done:
  return status;
}

static TesiWork step_of(const TesSolver *s) {
  return s->desc.method == TES_METHOD_CG      ? tesi_cg_device_step
         : s->desc.method == TES_METHOD_GMRES ? tesi_gmres_device_step
                                              : tesi_cycle_device_step;
}

static TesiIteration iteration_of(TesSolver *s, const TesiStarts *starts) {
  return (TesiIteration){
      .solver = s, .b = starts->r, .x = starts->old, .r = starts->old_r, .column = TESI_ANY_COLUMN};
}

static TesStatus launch(TesiKrylovDevice *d, int kernel, bool one_block, void **arguments) {
  enum { THREADS = 256 };
  const TesiGrid grid = {one_block ? 1 : d->parts, 1, 1};
  return tesi_kernel_launch(d->context, &d->start[kernel], grid, THREADS, THREADS * sizeof(double), arguments);
}

/* Of GMRES: columns. */
static int most_iterations(const TesSolver *s) {
  return s->desc.method == TES_METHOD_GMRES ? tesi_min(s->desc.restart, s->desc.max_iterations)
                                            : s->desc.max_iterations;
}

TesStatus tesi_solver_queue(TesSolver *s, const TesiStarts *starts) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TesiKrylovDevice *d = s->device;
  const bool gmres = s->desc.method == TES_METHOD_GMRES, cg = s->desc.method == TES_METHOD_CG;
  long long n = s->desc.op->length;
  int parts = (int)d->parts, either = starts->either, most = most_iterations(s);
  double tolerance = starts->tolerance, root = s->root,
         factor = gmres ? tesi_solver_factor(s, 1) : 0; /* vectors of the basis have norm 1 */
  double *g = gmres ? d->arnoldi.g : NULL;
  void *copy = gmres ? NULL
               : cg  ? s->r->data
                     : starts->old_r->data,
       *last = gmres ? d->arnoldi.last : NULL, *in = gmres ? d->arnoldi.in : NULL,
       *p = cg ? s->p->data : NULL, *q = cg ? s->q->data : NULL;
  void *squares[] = {&n, &starts->r->data, &starts->old_r->data, &d->partial},
       *choose[] = {&parts, &d->partial, &either, &tolerance,  &factor,
                    &root,  &g,          &most,   &d->history, &d->scalars},
       *take[] = {&n,
                  &starts->old->data,
                  &starts->old_r->data,
                  &starts->x->data,
                  &starts->r->data,
                  &copy,
                  &p,
                  &q,
                  &last,
                  &in,
                  &d->scalars};
  TesiIteration iteration = iteration_of(s, starts);
  TES_TRY(launch(d, SQUARES, false, squares));
  TES_TRY(launch(d, CHOOSE, true, choose));
  TES_TRY(launch(d, TAKE, false, take));
  TES_TRY(tesi_recorded_can_loop(ctx) ? tesi_recorded_while(ctx, &d->scalars->go_on, step_of(s), &iteration)
                                      : step_of(s)(&iteration));
done:
  return status;
}

/* ---- the rest ------------------------------------------------------------------------------------------ */

/* Continues from the present correction: if GMRES did not converge within its columns, if a number is NaN, or if a
 * residual must be reported. */
static TesStatus solve_on(TesSolver *s, const TesiStarts *starts, int done, TesSolveResult *result) {
  const TesStatus status = tes_solver_solve(s, starts->r, starts->old, result);
  result->iterations += done;
  return status;
}

/* The scalars, and after them the first residuals. */
typedef struct Outcome {
  TeskKrylov now;
  double history[32];
} Outcome;

static TesStatus read_outcome(const TesSolver *s, Outcome *outcome) {
  enum { FIRST = sizeof outcome->history / sizeof *outcome->history };
  const size_t count = (size_t)tesi_min(FIRST, s->desc.max_iterations + 1);
  return tesi_context_device(s->context)
      ->to_host(s->context, outcome, s->device->scalars, sizeof(TeskKrylov) + count * sizeof(double));
}

/* The residuals between the first and the last one. */
static TesStatus tell_history(TesSolver *s, const Outcome *outcome) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const int done = outcome->now.done;
  const double *residual = outcome->history;
  double *all = NULL;
  bool stop;
  if (done > (int)(sizeof outcome->history / sizeof *outcome->history)) {
    TES_ALLOC(&all, done);
    TES_TRY(tesi_context_device(ctx)->to_host(ctx, all, s->device->history, (size_t)done * sizeof *all));
    residual = all;
  }
  for (int i = 1; i < done; i++) tesi_solver_record(s, i, residual[i], &stop);
done:
  tesi_free(ctx, &all);
  return status;
}

TesStatus tesi_solver_finish(TesSolver *s, const TesiStarts *starts, TesSolveResult *result) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const double begin = tesi_now();
  const bool gmres = s->desc.method == TES_METHOD_GMRES;
  Outcome outcome;
  TeskKrylov *const now = &outcome.now;
  TesiIteration iteration = iteration_of(s, starts);
  bool stop = false;
  if (s->device->x != starts->old->data) tesi_recorded_release(ctx, &s->device->step);
  s->device->x = starts->old->data;
  TES_TRY(read_outcome(s, &outcome));
  tesi_solver_set_tolerance(s, now->tolerance);
  s->b_norm = now->b_norm;
  if (!isfinite(now->b_norm)) return solve_on(s, starts, 0, result);
  TES_TRY(tesi_solver_record(s, 0, now->b_norm > 0 ? 1 : 0, &stop));
  if (now->b_norm == 0) goto tell;
  TES_TRY(tell_history(s, &outcome));
  while (!stop && now->go_on) {
    if (tesi_solver_record(s, now->done, now->relative, &stop) != TES_OK) break;
    TES_TRY(tesi_recorded_run(ctx, &s->device->step, step_of(s), &iteration));
    TES_TRY(read_outcome(s, &outcome));
  }
  if (gmres && isfinite(now->relative)) TES_TRY(tesi_gmres_device_correct(s, starts->old));
  if (!(now->relative >= 0 && now->relative <= now->tolerance)) return solve_on(s, starts, now->done, result);
  TES_TRY(tesi_solver_record(s, now->done, now->relative, &stop));
tell:
  *result = (TesSolveResult){.iterations = s->iterations,
                             .residual_count = s->iterations + 1,
                             .residuals = s->residuals,
                             .seconds = tesi_now() - begin,
                             .fractional_iterations = NAN};
done:
  return status;
}
