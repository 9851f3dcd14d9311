/* Smoothers: creation, and the public calls with their argument checks. */
#include "smoother/smoother.h"
#include "operator/operator_by_part.h"
#include "operator/transport/transport_operator.h"

enum { MOST_DEGREE = 100 };

static TesStatus check_desc(TesContext *ctx, const TesSmootherDesc *desc) {
  TesStatus status = TES_OK;
  TES_CHECK(desc->op, "a smoother needs an operator");
  TES_CHECK(desc->op->context == ctx, "the operator belongs to another context than the smoother");
  TES_CHECK(desc->kind >= TES_SMOOTHER_AUTO && desc->kind < TES_SMOOTHER_COUNT,
            "smoother kind is %d, expected 0..%d", (int)desc->kind, TES_SMOOTHER_COUNT - 1);
  TES_CHECK(desc->local >= TES_LOCAL_AUTO && desc->local <= TES_LOCAL_DENSE,
            "local solver is %d, expected 0..%d", (int)desc->local, (int)TES_LOCAL_DENSE);
  TES_CHECK(desc->omega >= 0 && desc->omega <= 2,
            "damping omega is %g, expected 0 < omega <= 2 or 0 for the default", desc->omega);
  TES_CHECK(desc->degree >= 0 && desc->degree <= MOST_DEGREE,
            "chebyshev degree is %d, expected 1..%d or 0 for the default", desc->degree, MOST_DEGREE);
  TES_CHECK(desc->ratio == 0 || (desc->ratio > 1 && desc->ratio <= 1e6),
            "chebyshev ratio is %g, expected 1 < ratio <= 1e6 or 0 for none", desc->ratio);
  TES_CHECK(
      desc->local != TES_LOCAL_EXACT || tesi_operator_constant(desc->op) || tesi_smoother_is_modal(desc->op),
      "solver.local_solver: exact local solves need constant coefficients (the separable form); use %s",
      tesi_space_is_periodic(desc->op->space) ? "the smoother chebyshev or jacobi, as the box is periodic"
                                              : "nodal, rank1 or scaled");
  TES_CHECK(desc->local != TES_LOCAL_CG || desc->op->kind == &tesi_operator_stokes,
            "solver.local_solver: cg is for patches of stokes with a constant viscosity");
  TES_CHECK(desc->local != TES_LOCAL_DENSE ||
                ((desc->op->kind == &tesi_operator_stokes || desc->op->kind == &tesi_operator_stokes_varying) &&
                 desc->kind != TES_SMOOTHER_CELL_PATCH),
            "solver.local_solver: dense is for vertex patches of stokes with element rt");
done:
  return status;
}

static const TesiSmootherKind *const all[] = {
    &tesi_smoother_own,           &tesi_smoother_by_part,   &tesi_smoother_trial,
    &tesi_smoother_ranks,         &tesi_smoother_dg,        &tesi_smoother_stokes_varying,
    &tesi_smoother_stokes,        &tesi_smoother_flow,      &tesi_smoother_periodic,
    &tesi_smoother_local_trial,   &tesi_smoother_nodal,     &tesi_smoother_exact,
    &tesi_smoother_surrogate,     &tesi_smoother_jacobi,    &tesi_smoother_gauss_seidel,
    &tesi_smoother_ordered_cells, &tesi_smoother_chebyshev,
};

/* The first kind that does not refuse; NULL: none, with the last reason. */
static const TesiSmootherKind *find(const TesSmoother *smoother, const char **reason) {
  *reason = TESI_ELSEWHERE;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (!(all[i]->kinds & TESI_SMOOTHES(smoother->kind))) continue;
    *reason = all[i]->refuses(smoother);
    if (!*reason) return all[i];
  }
  return NULL;
}

/* The kind that auto means, if no implementation of auto itself takes the operator. */
static TesSmootherKind choose(const TesOperator *op) {
  const bool open = tesi_is_diffusion(op) && !tesi_space_is_periodic(op->space);
  return open || tesi_smoother_is_modal(op) || tesi_is_separable(op) ? TES_SMOOTHER_PATCH
         : tesi_is_upwind(op)                                        ? TES_SMOOTHER_CELL_PATCH
         : tesi_transport_of(op)                                     ? TES_SMOOTHER_ORDERED_CELLS
                                                                     : TES_SMOOTHER_CHEBYSHEV;
}

static TesStatus init(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  static const char *const names[TES_SMOOTHER_COUNT] = {[TES_SMOOTHER_AUTO] = "auto",
                                                        [TES_SMOOTHER_PATCH] = "patch",
                                                        [TES_SMOOTHER_PATCH_ADDITIVE] = "patch_additive",
                                                        [TES_SMOOTHER_JACOBI] = "jacobi",
                                                        [TES_SMOOTHER_CHEBYSHEV] = "chebyshev",
                                                        [TES_SMOOTHER_GAUSS_SEIDEL] = "gauss_seidel",
                                                        [TES_SMOOTHER_CELL_PATCH] = "cell_patch",
                                                        [TES_SMOOTHER_LINE_PATCH] = "line_patch",
                                                        [TES_SMOOTHER_ORDERED_CELLS] = "ordered_cells",
                                                        [TES_SMOOTHER_GAUSS_SEIDEL_MORTON] =
                                                            "gauss_seidel_morton"};
  const char *reason;
  const TesiSmootherKind *kind = find(smoother, &reason);
  if (!kind && smoother->kind == TES_SMOOTHER_AUTO) {
    smoother->kind = choose(smoother->op);
    kind = find(smoother, &reason);
  }
  TES_CHECK(kind, "solver.smoother: no smoother %s for this operator: %s", names[smoother->kind], reason);
  TES_TRY(kind->init(smoother));
done:
  return status;
}

TesStatus tes_smoother_create(TesContext *context, const TesSmootherDesc *desc, TesSmoother **smoother) {
  return tesi_smoother_create_above(context, desc, NULL, smoother);
}

TesStatus tesi_smoother_create_above(TesContext *context, const TesSmootherDesc *desc,
                                     const TesSmoother *below, TesSmoother **smoother) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesSmoother *s = NULL;
  TES_REFUSE_NULL(context, desc, smoother);
  *smoother = NULL;
  TES_TRY(check_desc(ctx, desc));
  TES_NEW(&s);
  s->context = tesi_context_retain(ctx);
  s->op = tesi_operator_retain(desc->op);
  s->own = desc->own;
  s->kind = desc->kind;
  s->local = desc->local;
  if (s->local == TES_LOCAL_AUTO && tesi_is_separable(desc->op)) s->local = TES_LOCAL_EXACT;
  s->omega = desc->omega;
  s->degree = desc->degree;
  s->ratio = desc->ratio;
  s->optimal = desc->optimal;
  s->red_black = desc->colours == TES_COLOURS_RED_BLACK;
  s->lexicographic = desc->colours == TES_COLOURS_LEXICOGRAPHIC;
  s->unfused = desc->unfused;
  s->below = below;
  TES_TRY(init(s));
  s->below = NULL;
  *smoother = s;
  s = NULL;
done:
  tes_smoother_destroy(&s);
  return status;
}

void tes_smoother_destroy(TesSmoother **smoother) {
  if (!smoother || !*smoother) return;
  TesSmoother *s = *smoother;
  TesContext *ctx = s->context;
  *smoother = NULL;
  if (s->table) s->table->destroy(s);
  tes_operator_destroy(&s->op);
  tesi_free(ctx, &s);
  tes_context_destroy(&ctx);
}

TesStatus tesi_sweep_residuals(const TesSmoother *smoother, const TesiResidualSweep *sweep, void *work,
                               TesiColours colours, const void *b, void *x, bool zero_guess) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesOperator *op = smoother->op;
  const void *r = b; /* the residual of x = 0 */
  bool known = zero_guess;
  if (zero_guess) TES_TRY(tesi_context_device(ctx)->fill(ctx, op->precision, op->length, 0, x));
  for (int i = 0; i < colours.count; i++) {
    const int colour = colours.first + i * colours.step;
    if (sweep->empty && sweep->empty(smoother, colour)) continue;
    if (!known) {
      TES_TRY(op->table->residual(op, b, x, work));
      r = work;
    }
    TES_TRY(sweep->solve(smoother, colour, r, x));
    known = smoother->kind == TES_SMOOTHER_PATCH_ADDITIVE;
  }
done:
  return status;
}

TesStatus tesi_sweep_all_colours(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep,
                                 bool zero_guess) {
  const TesiSmootherTable *table = smoother->table;
  return table->apply_colours(smoother, b, x, tesi_all_colours(table->colours(smoother), sweep), zero_guess);
}

static TesStatus check_arguments(const TesSmoother *smoother, const TesVector *b, const TesVector *x,
                                 TesSweep sweep, bool any_precision) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesOperator *op = smoother->op;
  TES_CHECK(b && x, "vector %s is NULL", b ? "x" : "b");
  TES_CHECK(b->length == op->length && x->length == op->length,
            "vectors of length %lld and %lld, the space has %lld nodes", (long long)b->length,
            (long long)x->length, (long long)op->length);
  TES_CHECK(any_precision || (b->precision == op->precision && x->precision == op->precision),
            "a vector has another precision than the smoother, which is %s",
            op->precision == TES_DOUBLE ? "float64" : "float32");
  TES_CHECK(b->data != x->data, "b and x are the same vector");
  TES_CHECK(sweep == TES_FORWARD || sweep == TES_BACKWARD, "sweep is %d, expected 0 or 1", (int)sweep);
done:
  return status;
}

TesStatus tes_smoother_apply(const TesSmoother *smoother, const TesVector *b, TesVector *x, TesSweep sweep,
                             bool zero_guess) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  TES_TRY(check_arguments(smoother, b, x, sweep, false));
  TES_TRY(smoother->table->apply(smoother, b->data, x->data, sweep, zero_guess));
done:
  return status;
}

TesStatus tesi_smoother_apply_ref(const TesSmoother *smoother, const TesVector *b, TesVector *x,
                                  TesSweep sweep, bool zero_guess) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  double *bs = NULL, *xs = NULL;
  TES_TRY(check_arguments(smoother, b, x, sweep, true));
  TES_ALLOC(&xs, x->length); /* zeros */
  TES_TRY(tesi_vector_read(b, &bs));
  if (!zero_guess) TES_TRY(tes_vector_get(x, xs));
  TES_TRY(smoother->table->apply_ref(smoother, bs, xs, sweep));
  TES_TRY(tes_vector_set(x, xs));
done:
  tesi_free(ctx, &bs);
  tesi_free(ctx, &xs);
  return status;
}

TesCost tes_smoother_cost(const TesSmoother *smoother) {
  return smoother->table->cost(smoother);
}

const char *tes_smoother_describe(const TesSmoother *smoother) {
  return smoother->description;
}
