/* Smoothers: creation, and the public calls with their argument checks. */
#include "smoother/smoother.h"
#include "operator/dg/dg.h"
#include "operator/operator_parts.h"
#include "smoother/dg_patch/dg_patch.h"
#include "smoother/flow_patch/flow_patch.h"
#include "smoother/ordered_cells/ordered_cells.h"
#include "smoother/saddle_patch/saddle_patch_varying.h"

static bool is_saddle(const TesOperator *op) {
  return op->kind == &tesi_operator_saddle || tesi_is_saddle_varying(op);
}

/* Kinds of operators whose patches are of discontinuous functions. */
static bool is_broken(const TesOperator *op) {
  return is_saddle(op) || tesi_is_dg(op);
}

enum { MOST_DEGREE = 100 };

static TesStatus check_desc(TesContext *ctx, const TesSmootherDesc *desc) {
  TesStatus status = TES_OK;
  TES_CHECK(desc->op, "a smoother needs an operator");
  TES_CHECK(desc->op->context == ctx, "the operator belongs to another context than the smoother");
  TES_CHECK(desc->kind >= TES_SMOOTHER_AUTO && desc->kind <= TES_SMOOTHER_GAUSS_SEIDEL_MORTON,
            "smoother kind is %d, expected 0..%d", (int)desc->kind, (int)TES_SMOOTHER_GAUSS_SEIDEL_MORTON);
  TES_CHECK(desc->local >= TES_LOCAL_AUTO && desc->local <= TES_LOCAL_CG,
            "local solver is %d, expected 0..%d", (int)desc->local, (int)TES_LOCAL_CG);
  TES_CHECK(desc->omega >= 0 && desc->omega <= 2,
            "damping omega is %g, expected 0 < omega <= 2 or 0 for the default", desc->omega);
  TES_CHECK(desc->degree >= 0 && desc->degree <= MOST_DEGREE,
            "chebyshev degree is %d, expected 1..%d or 0 for the default", desc->degree, MOST_DEGREE);
  TES_CHECK(desc->ratio == 0 || (desc->ratio > 1 && desc->ratio <= 1e6),
            "chebyshev ratio is %g, expected 1 < ratio <= 1e6 or 0 for none", desc->ratio);
  TES_CHECK(desc->local != TES_LOCAL_EXACT || tesi_operator_constant(desc->op) || is_broken(desc->op),
            "solver.local_solver: exact local solves need constant coefficients (the separable form); use %s",
            tesi_space_has_rings(desc->op->space) ? "the smoother chebyshev or jacobi, as the box is periodic"
                                                  : "nodal, rank1 or scaled");
  TES_CHECK(desc->local != TES_LOCAL_CG || desc->op->kind == &tesi_operator_saddle,
            "solver.local_solver: cg is for patches of stokes with a constant viscosity");
done:
  return status;
}

static TesStatus init_patch(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  if (smoother->op->local)
    TES_TRY(tesi_smoother_ranks_init(smoother));
  else if (tesi_is_dg(smoother->op))
    TES_TRY(tesi_smoother_dg_init(smoother));
  else if (tesi_is_saddle_varying(smoother->op))
    TES_TRY(tesi_smoother_saddle_varying_init(smoother));
  else if (is_saddle(smoother->op))
    TES_TRY(tesi_smoother_saddle_init(smoother));
  else if (tesi_space_has_rings(smoother->op->space))
    TES_TRY(tesi_smoother_rings_init(smoother));
  else if (smoother->local == TES_LOCAL_AUTO)
    TES_TRY(tesi_smoother_choose_local(smoother));
  else if (smoother->local == TES_LOCAL_NODAL)
    TES_TRY(tesi_smoother_nodal_init(smoother));
  else if (smoother->local == TES_LOCAL_EXACT && smoother->kind == TES_SMOOTHER_PATCH)
    TES_TRY(tesi_smoother_patch_init(smoother));
  else
    TES_TRY(tesi_smoother_surrogate_init(smoother));
done:
  return status;
}

/* Of the smoothers by patches and by nodes rings have the exact patches. */
static const char *wants_open_box(const TesOperator *op) {
  return !tesi_is_diffusion(op) ? "it is for operators over a box (separable, quadrature)"
         : tesi_space_has_rings(op->space)
             ? "the box is periodic; use chebyshev or jacobi, where a and c are "
               "numbers patch"
             : NULL;
}

static const char *wants_patches(const TesOperator *op) {
  if (tesi_space_has_rings(op->space) && !tesi_is_separable(op))
    return "the box is periodic and a coefficient varies; use chebyshev or jacobi";
  return tesi_is_diffusion(op) || is_broken(op)
             ? NULL
             : "it is for operators over a box (separable, quadrature, saddle, dg)";
}

static const char *wants_diagonal(const TesOperator *op) {
  return is_saddle(op)           ? "the pressure has no diagonal; use patch"
         : tesi_is_upwind(op)    ? "transport tells no diagonal; use cell_patch"
         : tesi_transport_of(op) ? "transport tells no diagonal; use ordered_cells"
                                 : NULL;
}

static const char *wants_one_box(const TesOperator *op) {
  return op->local ? "it goes from node to node, and so is for one rank; use patch, chebyshev or jacobi"
                   : wants_open_box(op);
}

static const char *wants_mapped(const TesOperator *op) {
  return op->kind == &tesi_operator_mapped ? NULL
                                           : "it is for mapped operators; boxes have vertex patches (patch)";
}

static const char *wants_cells(const TesOperator *op) {
  return op->kind == &tesi_operator_saddle || tesi_is_upwind(op) ? NULL : wants_mapped(op);
}

static const char *wants_order(const TesOperator *op) {
  return !tesi_transport_of(op) ? "it is for transport with its velocity, steady or with one that stays"
         : tesi_is_upwind(op)   ? "elements dg have cell_patch, whose cells are in this order"
         : op->local            ? "it goes from cell to cell, and so is for one rank"
         : op->precision == TES_SINGLE ? "it is in float64"
                                       : NULL;
}

static TesStatus init_cells(TesSmoother *smoother) {
  if (tesi_is_upwind(smoother->op)) return tesi_smoother_flow_init(smoother);
  return is_saddle(smoother->op) ? tesi_smoother_saddle_init(smoother)
                                 : tesi_smoother_chebyshev_init(smoother);
}

/* Kinds, by number. `refuses` (NULL: never): why a kind cannot smooth for an operator, NULL: it can. `init` sets
 * table and plan. */
static const struct {
  const char *name;
  const char *(*refuses)(const TesOperator *op);
  TesStatus (*init)(TesSmoother *smoother);
} kinds[] = {[TES_SMOOTHER_PATCH] = {"patch", wants_patches, init_patch},
             [TES_SMOOTHER_PATCH_ADDITIVE] = {"patch_additive", wants_open_box, init_patch},
             [TES_SMOOTHER_JACOBI] = {"jacobi", wants_diagonal, tesi_smoother_jacobi_init},
             [TES_SMOOTHER_CHEBYSHEV] = {"chebyshev", wants_diagonal, tesi_smoother_chebyshev_init},
             [TES_SMOOTHER_GAUSS_SEIDEL] = {"gauss_seidel", wants_one_box, tesi_smoother_gauss_seidel_init},
             [TES_SMOOTHER_GAUSS_SEIDEL_MORTON] = {"gauss_seidel_morton", wants_one_box,
                                                   tesi_smoother_gauss_seidel_init},
             [TES_SMOOTHER_CELL_PATCH] = {"cell_patch", wants_cells, init_cells},
             [TES_SMOOTHER_LINE_PATCH] = {"line_patch", wants_mapped, tesi_smoother_chebyshev_init},
             [TES_SMOOTHER_ORDERED_CELLS] = {"ordered_cells", wants_order, tesi_smoother_ordered_cells_init}};

/* Jacobi and Chebyshev need no more than residuals and the diagonal, of whatever space. */
static bool goes_by_part(const TesSmoother *smoother) {
  const bool box = smoother->op->space && smoother->op->space->mesh->kind == TES_MESH_BOX;
  const TesSmootherKind kind = smoother->kind;
  return tesi_operator_parts_of(smoother->op) && kind != TES_SMOOTHER_JACOBI &&
         kind != TES_SMOOTHER_CHEBYSHEV && (kind != TES_SMOOTHER_AUTO || box);
}

static TesStatus init(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  if (goes_by_part(smoother)) return tesi_smoother_parts_init(smoother);
  const bool any = smoother->kind == TES_SMOOTHER_AUTO, box = tesi_is_diffusion(smoother->op),
             rings = tesi_space_has_rings(smoother->op->space);
  if (any)
    smoother->kind = (box && !rings) || is_broken(smoother->op) || tesi_is_separable(smoother->op)
                         ? TES_SMOOTHER_PATCH
                     : tesi_is_upwind(smoother->op)    ? TES_SMOOTHER_CELL_PATCH
                     : tesi_transport_of(smoother->op) ? TES_SMOOTHER_ORDERED_CELLS
                                                       : TES_SMOOTHER_CHEBYSHEV;
  if (any && box && !rings && smoother->local == TES_LOCAL_AUTO) return tesi_smoother_choose_kind(smoother);
  const char *reason = kinds[smoother->kind].refuses ? kinds[smoother->kind].refuses(smoother->op) : NULL;
  TES_CHECK(!reason, "solver.smoother: no smoother %s for this operator: %s", kinds[smoother->kind].name,
            reason);
  TES_TRY(kinds[smoother->kind].init(smoother));
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
  s->kind = desc->kind;
  s->local = desc->local;
  if (s->local == TES_LOCAL_AUTO && tesi_is_separable(desc->op)) s->local = TES_LOCAL_EXACT;
  s->omega = desc->omega;
  s->degree = desc->degree;
  s->ratio = desc->ratio;
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
  TES_ALLOC(&bs, b->length);
  TES_ALLOC(&xs, x->length); /* zeros */
  TES_TRY(tes_vector_get(b, bs));
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
