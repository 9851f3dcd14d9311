#include "multigrid/coarse/coarse.h"
#include <math.h>
#include <string.h>
#include "basis/gauss.h"
#include "device/recorded.h"
#include "multigrid/coarse/aggregation/aggregation.h"
#include "multigrid/coarse/coarse_cg.h"
#include "multigrid/coarse/coarse_device.h"
#include "multigrid/coarse/coarse_dg.h"
#include "multigrid/coarse/coarse_lu.h"
#include "operator/transport/transport_operator.h"
#include "multigrid/coarse/coarse_stokes_box.h"
#include "multigrid/coarse/coarse_stokes_device.h"
#include "multigrid/coarse/coarse_stokes_varying.h"
#include "multigrid/coarse/factorization.h"
#include "operator/dg/dg.h"
#include "operator/mapped/mapped.h"
#include "operator/operator_by_part.h"
#include "operator/operator_wide.h"
#include "operator/stokes_varying/stokes_varying.h"
#include "parallel/comm.h"

/* Of the iteration: a cycle, which reduces errors by some 0.1 and is corrected by the next one, does not profit
 * from more. */
static const double tolerance = 1e-8;

struct TesiCoarse {
  TesContext *context;
  TesOperator *op; /* float64 */
  /* For operators that couple no parts: a solver per part; NULL: part same[] has the solver. */
  int parts, same[TESI_SCALARS];
  TesiCoarse *part[TESI_SCALARS];
  TesiDiagonalization *diagonalization;
  /* Of a box of several ranks: each solves all of it, with vectors of its own. */
  TesiWide *wide;
  TesiCoarse *whole;
  TesVector *whole_b, *whole_x;
  TesiCoarseMatrix *matrix; /* of mapped operators */
  TesiCoarseStokes *stokes;
  TesiCoarseStokesBox *stokes_box;
  TesiCoarseStokesVarying *stokes_varying;
  TesiCoarseDg *dg;
  TesiCoarseLu *lu;
  TesiCoarseStokesDevice *stokes_device[2]; /* by precision of the vectors; float64 ones for all, float32 for a cycle */
  TesiCoarseDevice *device;                 /* the same on a device with kernels, else NULL */
  TesiCoarseDevice *device_double; /* for float64 vectors, where the cycle has float32 ones */
  TesiCoarseDense *dense;          /* quadrature form on such a device, where the level is small */
  TesiCoarseCg *cg;                /* mapped operators on such a device, where it is large */
  TesiAggregation *aggregation;    /* the same, and elasticity; on the host `matrix` has it */
  bool single;                     /* `dense` is for float32 vectors alone */
  int64_t length;
  double *b, *x, *z;            /* host */
  double *scale;                /* host; sqrt(diag(A_0) / diag(A)), A_0 with mean coefficients */
  TesVector *r, *p, *q, *guess; /* device, for conjugate gradients */
};

/* Mean of a function over the vertices and cell midpoints of the space's mesh: enough for a preconditioner. */
static TesStatus mean(TesContext *ctx, const TesSpace *space, const TesFunction *f, double otherwise,
                      double *value) {
  TesStatus status = TES_OK;
  double *x = NULL, sum[2] = {0, 0};
  *value = otherwise;
  if (!f) return TES_OK;
  int n[3];
  for (int d = 0; d < 3; d++) n[d] = d < space->dim ? 2 * tesi_modal(space, d)->cells + 1 : 1;
  const int64_t count = (int64_t)n[0] * n[1] * n[2];
  TES_ALLOC(&x, 4 * count);
  for (int64_t i = 0; i < count; i++) {
    const int64_t at[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
    for (int d = 0; d < 3; d++) {
      const double *v = space->mesh->coordinates[d];
      const int64_t c = at[d] / 2;
      x[d * count + i] = at[d] % 2 ? 0.5 * (v[c] + v[c + 1]) : v[c];
    }
  }
  TES_TRY(tes_function_evaluate(f, count, x, x + count, x + 2 * count, 0, x + 3 * count));
  for (int64_t i = 0; i < count; i++) sum[0] += x[3 * count + i];
  sum[1] = (double)count;
  tesi_reduce(ctx, TESI_SUM, 2, sum);
  *value = sum[0] / sum[1];
done:
  tesi_free(ctx, &x);
  return status;
}

static TesStatus mean_operator(const TesOperator *from, TesOperator **op) {
  TesContext *ctx = from->context;
  TesStatus status = TES_OK;
  const TesiDiffusion *d = tesi_diffusion_of(from);
  double a, c, alpha[6] = {0};
  *op = NULL;
  TES_TRY(mean(ctx, from->space, d->a_function, 1, &a));
  TES_TRY(mean(ctx, from->space, d->c_function, 0, &c));
  for (int face = 0; face < 6; face++)
    TES_TRY(mean(ctx, from->space, d->alpha_function[face], 0, &alpha[face]));
  TES_TRY(tesi_operator_create_constant(from->space, TES_DOUBLE, a, c, alpha, op));
done:
  return status;
}

/* scale <- sqrt(diag(A_0) / diag(A)), through the work vectors. */
static TesStatus fill_scale(TesiCoarse *c, const TesOperator *mean) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  TES_TRY(tes_operator_diagonal(mean, c->r));
  TES_TRY(tesi_vector_read(c->r, &c->scale));
  TES_TRY(tes_operator_diagonal(c->op, c->r));
  TES_TRY(tes_vector_get(c->r, c->z));
  for (int64_t i = 0; i < c->length; i++) c->scale[i] = sqrt(c->scale[i] / c->z[i]);
done:
  return status;
}

/* Whether many blocks are to solve it: more than a vertex patch. */
static bool is_many(const TesSpace *space) {
  const TesiAxis *a = tesi_space_last(space)->axis;
  const double cells = (double)a[0].cells * a[1].cells * a[2].cells;
  return tesi_coarse_stokes_box_serves(space) && cells > (space->dim == 2 ? 4 : 8);
}

/* Velocity and pressure: by kernels where they serve. */
static TesStatus create_stokes(TesiCoarse *c, TesPrecision precision) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  if (tesi_is_upwind(c->op)) return tesi_coarse_lu_create(ctx, c->op, precision, &c->lu);
  if (tesi_is_dg(c->op)) return tesi_coarse_dg_create(ctx, c->op, precision, &c->dg);
  if (tesi_is_stokes_varying(c->op)) return tesi_coarse_stokes_varying_create(ctx, c->op, &c->stokes_varying);
  if (tesi_has_kernels(ctx) && is_many(tesi_stokes_of(c->op)->space))
    return tesi_coarse_stokes_box_create(ctx, c->op, precision, &c->stokes_box);
  if (!tesi_coarse_stokes_on_device(c->op)) return tesi_coarse_stokes_create(ctx, c->op, &c->stokes);
  TES_TRY(tesi_coarse_stokes_device_create(ctx, c->op, TES_DOUBLE, &c->stokes_device[TES_DOUBLE]));
  if (precision == TES_SINGLE)
    TES_TRY(tesi_coarse_stokes_device_create(ctx, c->op, TES_SINGLE, &c->stokes_device[TES_SINGLE]));
done:
  return status;
}

/* Over a box: fast diagonalization, or what stands for it where coefficients vary. */
static TesStatus create_box(TesiCoarse *c, TesPrecision precision) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  TesOperator *separable = NULL;
  if (tesi_is_separable(c->op)) {
    TesiDiagonalizationAxis axis[3];
    TES_TRY(tesi_diagonalization_create(ctx, c->op, &c->diagonalization));
    for (int d = 0; d < 3; d++) axis[d] = tesi_diagonalization_axis(c->diagonalization, d);
    if (tesi_has_kernels(ctx)) TES_TRY(tesi_coarse_device_create(ctx, axis, precision, &c->device));
    if (tesi_has_kernels(ctx) && precision == TES_SINGLE)
      TES_TRY(tesi_coarse_device_create(ctx, axis, TES_DOUBLE, &c->device_double));
  } else if (tesi_has_kernels(ctx) && c->length <= TESI_COARSE_DENSE) {
    TES_TRY(tesi_coarse_dense_create(ctx, c->op, precision, &c->dense));
  } else {
    TES_TRY(mean_operator(c->op, &separable));
    TES_TRY(tesi_diagonalization_create(ctx, separable, &c->diagonalization));
    TES_ALLOC(&c->z, c->length);
    TES_TRY(tesi_operator_new_vector(c->op, TES_DOUBLE, &c->r));
    TES_TRY(tesi_operator_new_vector(c->op, TES_DOUBLE, &c->p));
    TES_TRY(tesi_operator_new_vector(c->op, TES_DOUBLE, &c->q));
    TES_TRY(tesi_operator_new_vector(c->op, TES_DOUBLE, &c->guess));
    TES_TRY(fill_scale(c, separable));
  }
done:
  tes_operator_destroy(&separable);
  return status;
}

/* All of the box on every rank. */
static TesStatus create_on_ranks(TesiCoarse *c) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  TES_TRY(tesi_wide_create(c->op, tesi_reach_all(), &c->wide));
  const TesOperator *op = tesi_wide_operator(c->wide);
  TES_TRY(tesi_wide_report(c->wide, tesi_coarse_create(op, TES_DOUBLE, TES_COARSE_DIRECT, &c->whole)));
  TES_TRY(tesi_wide_report(c->wide, tesi_operator_new_vector(op, TES_DOUBLE, &c->whole_b)));
  TES_TRY(tesi_wide_report(c->wide, tesi_operator_new_vector(op, TES_DOUBLE, &c->whole_x)));
  TES_TRY(tesi_operator_new_vector(c->op, TES_DOUBLE, &c->r));
done:
  return status;
}

static TesStatus solve_on_ranks(TesiCoarse *c, const TesVector *b, TesVector *x) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  TES_TRY(tes_vector_copy(b, 1, c->r));
  TES_TRY(tesi_wide_fill(c->wide, TES_DOUBLE, c->r->data, c->whole_b->data));
  TES_TRY(tesi_wide_report(c->wide, tesi_coarse_solve(c->whole, c->whole_b, c->whole_x)));
  TES_TRY(tesi_wide_take(c->wide, TES_DOUBLE, c->whole_x->data, c->r->data));
  TES_TRY(tes_vector_copy(c->r, 1, x));
done:
  return status;
}

/* Transport of continuous elements: sparse factors beyond what dense ones take. */
static TesStatus create_carried(TesiCoarse *c, TesPrecision precision, TesCoarseKind kind) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  const bool sparse = kind == TES_COARSE_SPARSE ||
                      (kind == TES_COARSE_AUTO && c->length > 800 && !tesi_factorization_missing(ctx));
  TES_CHECK(
      sparse || kind == TES_COARSE_AUTO || kind == TES_COARSE_DIRECT,
      "solver.coarse: the coarsest level of transport is direct or sparse: the other kinds are for symmetric "
      "operators");
  TES_TRY(sparse ? tesi_coarse_matrix_create(ctx, c->op, TES_COARSE_SPARSE, &c->matrix)
                 : tesi_coarse_lu_create(ctx, c->op, precision, &c->lu));
done:
  return status;
}

/* Mapped operators: a matrix. */
static TesStatus create_mapped(TesiCoarse *c, TesPrecision precision, TesCoarseKind kind) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  const bool kernels = tesi_has_kernels(ctx) && tesi_ranks(ctx) == 1;
  if (kernels && c->length <= TESI_COARSE_DENSE && kind == TES_COARSE_AUTO)
    TES_TRY(tesi_coarse_dense_create(ctx, c->op, precision, &c->dense));
  else if (kernels &&
           (kind == TES_COARSE_AGGREGATION || (kind == TES_COARSE_AUTO && !tesi_aggregation_refuses(c->op))))
    TES_TRY(tesi_aggregation_create(c->op, &c->aggregation));
  else if (tesi_mapped_of(c->op) && (kind == TES_COARSE_AUTO || kind == TES_COARSE_CG) && kernels &&
           tesi_recorded_can_loop(ctx))
    TES_TRY(tesi_coarse_cg_create(c->op, &c->cg));
  else
    TES_TRY(tesi_coarse_matrix_create(ctx, c->op, kind, &c->matrix));
done:
  return status;
}

static TesStatus create_parts(TesiCoarse *c, TesPrecision precision, TesCoarseKind kind) {
  TesStatus status = TES_OK;
  const TesiOperatorByPart *parts = tesi_operator_by_part_of(c->op);
  for (; c->parts < parts->count && status == TES_OK; c->parts++) {
    const int p = c->parts;
    int same = 0;
    while (parts->part[same] != parts->part[p]) same++;
    c->same[p] = same;
    if (same == p) status = tesi_coarse_create(parts->part[p], precision, kind, &c->part[p]);
  }
  return status;
}

static TesStatus create_whole(TesiCoarse *c, TesPrecision precision, TesCoarseKind kind) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  const bool stokes = c->op->kind == &tesi_operator_stokes || tesi_is_stokes_varying(c->op) ||
                      tesi_is_dg(c->op) || tesi_is_upwind(c->op),
             box = tesi_is_diffusion(c->op) || stokes;
  const bool sparse = kind == TES_COARSE_SPARSE && !stokes;
  TES_CHECK(!box || sparse || kind == TES_COARSE_AUTO || kind == TES_COARSE_DIRECT,
            "solver.coarse: the coarsest level of a box is solved by fast diagonalization, or coarse sparse "
            "with element q: "
            "the other kinds are for other meshes");
  TES_ALLOC(&c->b, c->length);
  TES_ALLOC(&c->x, c->length);
  const bool carried = tesi_transport_of(c->op) && !stokes;
  TES_TRY(carried               ? create_carried(c, precision, kind)
          : sparse              ? create_mapped(c, precision, kind)
          : box && c->op->local ? create_on_ranks(c)
          : stokes              ? create_stokes(c, precision)
          : box                 ? create_box(c, precision)
                                : create_mapped(c, precision, kind));
  c->single = c->dense && precision == TES_SINGLE;
done:
  return status;
}

TesStatus tesi_coarse_create(const TesOperator *op, TesPrecision precision, TesCoarseKind kind,
                             TesiCoarse **coarse) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiCoarse *c = NULL;
  *coarse = NULL;
  TES_NEW(&c);
  c->context = tesi_context_retain(ctx);
  c->op = tesi_operator_retain(op);
  c->length = op->length;
  const bool parts = tesi_operator_by_part_of(op) && !op->space->slip; /* which couples them */
  TES_TRY(parts ? create_parts(c, precision, kind) : create_whole(c, precision, kind));
  *coarse = c;
  c = NULL;
done:
  tesi_coarse_destroy(&c);
  return status;
}

void tesi_coarse_destroy(TesiCoarse **coarse) {
  if (!coarse || !*coarse) return;
  TesiCoarse *c = *coarse;
  TesContext *ctx = c->context;
  *coarse = NULL;
  for (int p = 0; p < TESI_SCALARS; p++) tesi_coarse_destroy(&c->part[p]);
  tesi_free(ctx, &c->b);
  tesi_free(ctx, &c->x);
  tesi_free(ctx, &c->z);
  tesi_free(ctx, &c->scale);
  tes_vector_destroy(&c->r);
  tes_vector_destroy(&c->p);
  tes_vector_destroy(&c->q);
  tes_vector_destroy(&c->guess);
  tesi_coarse_device_destroy(&c->device);
  tesi_coarse_device_destroy(&c->device_double);
  tesi_coarse_dense_destroy(&c->dense);
  tesi_coarse_cg_destroy(&c->cg);
  tesi_aggregation_destroy(&c->aggregation);
  tesi_coarse_matrix_destroy(&c->matrix);
  tesi_coarse_stokes_destroy(&c->stokes);
  tesi_coarse_stokes_box_destroy(&c->stokes_box);
  tesi_coarse_stokes_varying_destroy(&c->stokes_varying);
  tesi_coarse_dg_destroy(&c->dg);
  tesi_coarse_lu_destroy(&c->lu);
  for (int p = 0; p < 2; p++) tesi_coarse_stokes_device_destroy(&c->stokes_device[p]);
  tesi_diagonalization_destroy(&c->diagonalization);
  tes_vector_destroy(&c->whole_b);
  tes_vector_destroy(&c->whole_x);
  tesi_coarse_destroy(&c->whole);
  tesi_wide_destroy(&c->wide);
  tes_operator_destroy(&c->op);
  tesi_free(ctx, &c);
  tes_context_destroy(&ctx);
}

bool tesi_coarse_takes_double(const TesiCoarse *coarse) {
  bool all = !coarse->single;
  for (int p = 0; p < coarse->parts; p++)
    all = all && (!coarse->part[p] || tesi_coarse_takes_double(coarse->part[p]));
  return all;
}

const char *tesi_coarse_describe(const TesiCoarse *coarse) {
  if (coarse->parts) return tesi_coarse_describe(coarse->part[0]);
  if (coarse->lu) return tesi_coarse_lu_describe(coarse->lu);
  if (coarse->cg) return "conjugate gradients with the diagonal";
  if (coarse->aggregation) return tesi_aggregation_describe(coarse->aggregation);
  return coarse->matrix ? tesi_coarse_matrix_describe(coarse->matrix) : "solved directly";
}

/* z <- D A_0^-1 D r with D = scale, into the host array c->z: D^-1 A_0 D^-1 differs from A by a term of lower order
 * where a is smooth (see smoother/surrogate/surrogate_nodal.c), so the count of iterations hardly depends on how
 * much a varies. */
static TesStatus precondition(TesiCoarse *c) {
  const TesStatus status = tes_vector_get(c->r, c->b);
  if (status != TES_OK) return status;
  for (int64_t i = 0; i < c->length; i++) c->x[i] = c->b[i] * c->scale[i];
  tesi_diagonalization_solve(c->diagonalization, c->x, c->z);
  for (int64_t i = 0; i < c->length; i++) c->z[i] *= c->scale[i];
  return status;
}

/* r <- r without its mean if constants are in the null space: right-hand sides of float32 cycles have one by rounding,
 * which conjugate gradients would never reduce. */
static TesStatus remove_mean(TesiCoarse *c) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  double sum, count;
  if (!c->op->singular) return TES_OK;
  TES_TRY(tes_vector_fill(c->q, 1));
  TES_TRY(tes_vector_dot(c->q, c->r, &sum));
  TES_TRY(tes_vector_dot(c->q, c->q, &count));
  TES_TRY(tes_vector_axpy(-sum / count, c->q, c->r));
done:
  return status;
}

static TesStatus conjugate_gradients(TesiCoarse *c, const TesVector *b, TesVector *x) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  double rz = 0, norm, first, pq;
  TES_TRY(tes_vector_copy(b, 1, c->r));
  TES_TRY(remove_mean(c));
  TES_TRY(tes_vector_fill(c->guess, 0));
  TES_TRY(tes_vector_norm(c->r, &first));
  for (int iteration = 0; iteration < 500; iteration++) {
    TES_TRY(tes_vector_norm(c->r, &norm));
    if (!(norm > tolerance * first)) break;
    TES_TRY(precondition(c));
    const double rz_new = tesi_layout_product(c->op->space->layout, c->b, c->z);
    TES_TRY(tes_vector_set(c->q, c->z));
    if (iteration == 0)
      TES_TRY(tes_vector_copy(c->q, 1, c->p));
    else
      TES_TRY(tes_vector_xpay(c->q, rz_new / rz, c->p));
    rz = rz_new;
    TES_TRY(tes_operator_apply(c->op, c->p, c->q));
    TES_TRY(tes_vector_dot(c->p, c->q, &pq));
    if (!(pq > 0)) break; /* round-off of a vanishing direction; a NaN shows in the outer residual */
    TES_TRY(tes_vector_axpy(rz / pq, c->p, c->guess));
    TES_TRY(tes_vector_axpy(-rz / pq, c->q, c->r));
  }
  TES_TRY(tes_vector_copy(c->guess, 1, x));
done:
  return status;
}

static TesStatus solve_parts(TesiCoarse *c, const TesVector *b, TesVector *x) {
  TesStatus status = TES_OK;
  for (int p = 0; p < c->parts && status == TES_OK; p++) {
    const TesVector of_b = tesi_space_range(c->op->space, b, p);
    TesVector of_x = tesi_space_range(c->op->space, x, p);
    status = tesi_coarse_solve(c->part[c->same[p]], &of_b, &of_x);
  }
  return status;
}

TesStatus tesi_coarse_solve(TesiCoarse *coarse, const TesVector *b, TesVector *x) {
  TesContext *ctx = coarse->context;
  TesStatus status = TES_OK;
  if (coarse->parts) return solve_parts(coarse, b, x);
  if (coarse->stokes_box)
    return tesi_coarse_stokes_box_solve(coarse->stokes_box, b->precision, b->data, x->data);
  if (coarse->stokes_device[b->precision])
    return tesi_coarse_stokes_device_solve(coarse->stokes_device[b->precision], b->data, x->data);
  if (coarse->dg && tesi_coarse_dg_on_device(coarse->dg))
    return tesi_coarse_dg_solve_device(coarse->dg, b, x);
  if (coarse->device_double && b->precision == TES_DOUBLE)
    return tesi_coarse_device_solve(coarse->device_double, b->data, x->data);
  if (coarse->device) return tesi_coarse_device_solve(coarse->device, b->data, x->data);
  if (coarse->dense) return tesi_coarse_dense_solve(coarse->dense, b->data, x->data);
  if (coarse->cg) return tesi_coarse_cg_solve(coarse->cg, b, x);
  if (coarse->aggregation) return tesi_aggregation_queue(coarse->aggregation, b->precision, b->data, x->data);
  if (coarse->lu) return tesi_coarse_lu_solve(coarse->lu, b->data, x->data);
  if (coarse->p) return conjugate_gradients(coarse, b, x);
  if (coarse->wide) return solve_on_ranks(coarse, b, x);
  TES_TRY(tes_vector_get(b, coarse->b));
  if (coarse->matrix)
    TES_TRY(tesi_coarse_matrix_solve(coarse->matrix, coarse->b, coarse->x));
  else if (coarse->dg)
    tesi_coarse_dg_solve(coarse->dg, coarse->b, coarse->x);
  else if (coarse->stokes_varying)
    tesi_coarse_stokes_varying_solve(coarse->stokes_varying, coarse->b, coarse->x);
  else if (coarse->stokes)
    tesi_coarse_stokes_solve(coarse->stokes, coarse->b, coarse->x);
  else
    tesi_diagonalization_solve(coarse->diagonalization, coarse->b, coarse->x);
  TES_TRY(tes_vector_set(x, coarse->x));
done:
  return status;
}
