/* GMRES as in gmres.c. An Arnoldi step runs without the host. The step of each column is recorded separately, with the
 * addresses of its vectors. If the device ends a solve (queued.h), one recorded step serves all columns: device memory
 * holds the number of the column, and vectors are copied. On several ranks sums are over owned entries; the ranks meet
 * twice a step, after the products of the column and after its square. */
#include <stdlib.h>
#include "krylov/krylov_device.h"

enum { READ_AT_ONCE = 8 /* coefficients; the compiler reads pairs beyond the last one */ };
enum { BEGIN, WIDEN, DOTS, PROJECT, UPDATE, FINISH, SOLVE, CORRECT, KERNELS };

TesStatus tesi_gmres_device_kernels(TesiKrylovDevice *device) {
  static const char *const names[KERNELS] = {"tesk_gmres_begin",   "tesk_gmres_widen",  "tesk_gmres_dots",
                                             "tesk_gmres_project", "tesk_gmres_update", "tesk_gmres_finish",
                                             "tesk_gmres_solve",   "tesk_gmres_correct"};
  return tesi_krylov_kernels(device, KERNELS, names, device->kernel);
}

/* A float64 basis around a float32 cycle. */
static bool is_apart(const TesSolver *s) {
  return s->mg_b && !s->desc.narrow_basis;
}

/* u_j, if the steps of each column are recorded; if one step serves all columns, the last vector is the input of the
 * cycle. */
static TesVector *basis_at(const TesSolver *s, int j) {
  if (j >= 0 && j < s->desc.restart) return s->basis[j];
  return is_apart(s) ? s->basis[s->desc.restart] : s->mg_b ? s->mg_b : s->z;
}

/* Input and output of the cycle; without a multigrid both are one vector. */
static TesVector *in_of(const TesSolver *s, int column) {
  return is_apart(s) ? s->mg_b : basis_at(s, column);
}
static TesVector *out_of(const TesSolver *s, int column) {
  if (column >= 0) return s->images[column];
  return s->mg_x ? s->mg_x : s->desc.multigrid ? s->r : s->z;
}

void tesi_gmres_device_place(const TesSolver *s, int column, TeskArnoldi *arnoldi) {
  arnoldi->last = basis_at(s, column)->data;
  arnoldi->next = basis_at(s, column < 0 ? column : column + 1)->data;
  arnoldi->in = is_apart(s) ? s->mg_b->data : NULL;
  arnoldi->out = out_of(s, column)->data;
}

/* The place of products: the residual, which is free during a restart cycle, unless it is the operator's input. */
static TesVector *product_of(const TesSolver *s) {
  return s->takes_single ? s->r : s->q;
}

/* w <- A e */
static TesStatus multiply(TesSolver *s, const TesVector *e, TeskArnoldi *arnoldi) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const TesOperator *op = s->desc.op;
  long long n = op->length;
  void *widen[] = {&n, &s->r->data, arnoldi};
  if (s->takes_single)
    return op->table->apply_single(op, e->data, s->desc.narrow_basis ? TES_SINGLE : TES_DOUBLE,
                                   product_of(s)->data);
  if (e->precision == TES_SINGLE) TES_TRY(tesi_krylov_launch(s->device, WIDEN, 1, 0, widen));
  TES_TRY(tes_operator_apply(op, e->precision == TES_SINGLE ? s->r : e, product_of(s)));
done:
  return status;
}

static TesStatus cycle(const TesSolver *s, const TesiIteration *work) {
  TesMultigrid *mg = s->desc.multigrid;
  TesVector *in = in_of(s, work->column), *out = out_of(s, work->column);
  return mg ? tesi_multigrid_cycle_level(mg, tes_multigrid_levels(mg) - 1,
                                         work->rough ? TESI_CYCLE_ROUGH : TESI_CYCLE_USUAL, in, out)
            : TES_OK;
}

TesStatus tesi_gmres_device_step(void *iteration) {
  const TesiIteration *work = iteration;
  TesSolver *s = work->solver;
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TesiKrylovDevice *d = s->device;
  TeskArnoldi arnoldi = d->arnoldi;
  long long n = s->desc.op->length;
  const int products = 2 * (work->column >= 0 ? work->column + 1 : arnoldi.n);
  void *w = product_of(s)->data;
  void *dots[] = {&n, &w, &d->partial, &arnoldi}, *project[] = {&d->partial, &arnoldi},
       *update[] = {&n, &w, &d->squares, &arnoldi}, *finish[] = {&d->squares, &arnoldi};
  tesi_gmres_device_place(s, work->column, &arnoldi);
  TES_TRY(cycle(s, work));
  TES_TRY(multiply(s, out_of(s, work->column), &arnoldi));
  TES_TRY(tesi_krylov_launch(d, DOTS, ((unsigned)products / 2 + 3) / 4, 0, dots));
  TES_TRY(tesi_krylov_meet(d, products, d->partial));
  TES_TRY(tesi_krylov_launch(d, PROJECT, 0, 0, project));
  TES_TRY(tesi_krylov_launch(d, UPDATE, 1, arnoldi.n + READ_AT_ONCE, update));
  TES_TRY(tesi_krylov_meet(d, 1, d->squares));
  TES_TRY(tesi_krylov_launch(d, FINISH, 0, 0, finish));
done:
  return status;
}

/* Which recorded step a restart cycle uses. Copies of short vectors take less time than the launches of a step per
 * column that is not yet recorded, as in the first solve; ranks would add up the products of all columns. Without a
 * cycle the images are the basis, which has to be copied. */
static int column_of(const TesSolver *s, int column) {
  enum { LONG = 1 << 20 };
  const bool stay =
      s->desc.op->length >= LONG || s->device->sums || getenv("TESSERA_GMRES_STAY"); /* for tests */
  return s->desc.multigrid && stay ? column : TESI_ANY_COLUMN;
}

/* Vectors of the basis have norm 1, so one factor serves all of them except the first, which comes from the
 * residual. */
static TesStatus begin(TesSolver *s, void *data, double relative) {
  (void)data;
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TesiKrylovDevice *d = s->device;
  const TesiDevice *device = tesi_context_device(ctx);
  const double norm = relative * s->b_norm;
  double scale = tesi_solver_factor(s, norm);
  const TeskKrylov scalars = {
      .b_norm = s->b_norm, .factor = tesi_solver_factor(s, 1), .inverse = 1 / (scale * norm)};
  long long n = s->desc.op->length;
  TeskArnoldi arnoldi = d->arnoldi;
  void *arguments[] = {&n, &s->r->data, &scale, &arnoldi};
  tesi_gmres_device_place(s, column_of(s, 0), &arnoldi);
  TES_TRY(tesi_krylov_launch(d, BEGIN, 1, 0, arguments));
  TES_TRY(device->to_device(ctx, d->scalars, &scalars, sizeof scalars));
  TES_TRY(device->to_device(ctx, d->arnoldi.g, &relative, sizeof relative)); /* in units of |b| */
done:
  return status;
}

static TesStatus advance(TesSolver *s, void *data, int column, double *relative) {
  (void)data;
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TesiKrylovDevice *d = s->device;
  TesiIteration work = {.solver = s, .column = column_of(s, column)};
  TES_TRY(tesi_solver_smooths_before(s, in_of(s, work.column), &work.rough));
  TesiRecorded *recorded = work.rough         ? &d->steps[d->columns]
                           : work.column >= 0 ? &d->steps[work.column]
                                              : &d->step;
  TES_TRY(tesi_recorded_run(ctx, recorded, tesi_gmres_device_step, &work));
  TES_TRY(tesi_krylov_relative(d, relative));
done:
  return status;
}

TesStatus tesi_gmres_device_correct(TesSolver *s, TesVector *x) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TesiKrylovDevice *d = s->device;
  long long n = s->desc.op->length;
  void *arguments[] = {&n, &x->data, &d->arnoldi};
  TES_TRY(tesi_kernel_launch(ctx, &d->kernel[SOLVE], (TesiGrid){1, 1, 1}, 32, 0, &arguments[2]));
  TES_TRY(tesi_krylov_launch(d, CORRECT, 1, d->arnoldi.n + READ_AT_ONCE, arguments));
done:
  return status;
}

static TesStatus correct(TesSolver *s, void *data, int columns, TesVector *x) {
  (void)data, (void)columns;
  return tesi_gmres_device_correct(s, x);
}

TesStatus tesi_solver_gmres_device(TesSolver *solver, const TesVector *b, TesVector *x) {
  return tesi_solver_restarted(solver, &(TesiArnoldi){begin, advance, correct, NULL}, b, x);
}
