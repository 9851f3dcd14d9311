/* Operators on several ranks. Each rank applies the kind to its own cells, which leaves partial sums at the nodes of
 * its cuts; one exchange completes these sums in all copies. So kinds, and the callers of their tables, know nothing
 * of ranks. Copies of a vector agree before and after. Entries with given values are not exchanged: they stay as the
 * kind leaves them.
 *
 * Cells of discontinuous functions read values of their neighbours. Such kinds are applied to a wide box with one
 * more layer of cells at each cut, where all rows of this rank are complete. */
#include "device/copies.h"
#include "operator/operator_wide.h"

static TesStatus sum(const TesOperator *op, void *y) {
  return tesi_sum_copies(op->context, op->space->layout->sum, op->precision, y);
}

static TesStatus apply(const TesOperator *op, const void *x, void *y) {
  const TesStatus status = op->local->apply(op, x, y);
  return status == TES_OK ? sum(op, y) : status;
}

/* Every copy has b already. */
static TesStatus residual(const TesOperator *op, const void *b, const void *x, void *r) {
  return tesi_operator_residual_by(apply, op, b, x, r);
}

static TesStatus diagonal(const TesOperator *op, void *d) {
  const TesStatus status = op->local->diagonal(op, d);
  return status == TES_OK ? sum(op, d) : status;
}

/* b <- b - A u for a b that is equal in all copies: the parts of A u are first summed over the ranks. On boxes an
 * operator over all nodes does it, which is itself shared by all ranks. */
static TesStatus lift(const TesOperator *op, const TesVector *u, TesVector *b) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesVector *part = NULL;
  if (tesi_is_separable(op)) return op->local->lift(op, u, b);
  TES_TRY(tesi_vector_create_on(op->space->layout, TES_DOUBLE, &part));
  TES_TRY(op->local->lift(op, u, part));
  TES_TRY(sum(op, part->data));
  TES_TRY(tes_vector_axpy(1, part, b));
done:
  tes_vector_destroy(&part);
  return status;
}

static TesStatus apply_ref(const TesOperator *op, const double *x, double *y) {
  const TesStatus status = op->local->apply_ref(op, x, y);
  if (status == TES_OK) tesi_exchange_sum(op->space->layout->sum, TES_DOUBLE, y);
  return status;
}

static TesCost cost(const TesOperator *op) {
  return op->local->cost(op);
}

static void destroy(TesOperator *op) {
  op->local->destroy(op);
}

static const TesiOperatorTable table = {.apply = apply,
                                        .residual = residual,
                                        .diagonal = diagonal,
                                        .lift = lift,
                                        .apply_ref = apply_ref,
                                        .cost = cost,
                                        .destroy = destroy};

/* ---- kinds that read neighbours ------------------------------------------------------------------------ */

typedef struct TesiOperatorWide {
  TesiWide *wide;
  void *x, *y; /* of the wide operator */
} Wide;

static TesStatus apply_wide(const TesOperator *op, const void *x, void *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const Wide *w = op->wide;
  const TesOperator *inner = tesi_wide_operator(w->wide);
  TES_TRY(tesi_wide_fill(w->wide, op->precision, x, w->x));
  TES_TRY(tesi_wide_report(w->wide, inner->table->apply(inner, w->x, w->y)));
  TES_TRY(tesi_wide_take(w->wide, op->precision, w->y, y));
done:
  return status;
}

static TesStatus residual_wide(const TesOperator *op, const void *b, const void *x, void *r) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const Wide *w = op->wide;
  const TesOperator *inner = tesi_wide_operator(w->wide);
  TES_TRY(tesi_wide_fill(w->wide, op->precision, x, w->x));
  TES_TRY(tesi_wide_fill(w->wide, op->precision, b, w->y));
  TES_TRY(tesi_wide_report(w->wide, inner->table->residual(inner, w->y, w->x, w->y)));
  TES_TRY(tesi_wide_take(w->wide, op->precision, w->y, r));
done:
  return status;
}

static TesStatus diagonal_wide(const TesOperator *op, void *d) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const Wide *w = op->wide;
  const TesOperator *inner = tesi_wide_operator(w->wide);
  TES_TRY(tesi_wide_report(w->wide, inner->table->diagonal(inner, w->y)));
  TES_TRY(tesi_wide_take(w->wide, op->precision, w->y, d));
done:
  return status;
}

static TesStatus lift_wide(const TesOperator *op, const TesVector *u, TesVector *b) {
  return residual_wide(op, b->data, u->data, b->data);
}

static TesStatus apply_ref_wide(const TesOperator *op, const double *x, double *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const Wide *w = op->wide;
  const TesOperator *inner = tesi_wide_operator(w->wide);
  double *wide_x = NULL, *wide_y = NULL;
  TES_ALLOC(&wide_x, inner->length);
  TES_ALLOC(&wide_y, inner->length);
  tesi_wide_fill_host(w->wide, TES_DOUBLE, x, wide_x);
  TES_TRY(tesi_wide_report(w->wide, inner->table->apply_ref(inner, wide_x, wide_y)));
  tesi_wide_take_host(w->wide, TES_DOUBLE, wide_y, y);
done:
  tesi_free(ctx, &wide_x);
  tesi_free(ctx, &wide_y);
  return status;
}

static void destroy_wide(TesOperator *op) {
  TesContext *ctx = op->context;
  if (op->wide) {
    tesi_wide_destroy(&op->wide->wide);
    tesi_context_device(ctx)->release(ctx, &op->wide->x);
    tesi_context_device(ctx)->release(ctx, &op->wide->y);
    tesi_free(ctx, &op->wide);
  }
  op->local->destroy(op);
}

static const TesiOperatorTable of_wide = {.apply = apply_wide,
                                          .residual = residual_wide,
                                          .diagonal = diagonal_wide,
                                          .lift = lift_wide,
                                          .apply_ref = apply_ref_wide,
                                          .cost = cost,
                                          .destroy = destroy_wide};

TesOperator *tesi_operator_widened(const TesOperator *op) {
  return op->wide ? (TesOperator *)tesi_wide_operator(op->wide->wide) : NULL;
}

TesStatus tesi_operator_continue(const TesOperator *op, const TesFunction *f, TesFunction **result) {
  return tesi_wide_continue(op->wide->wide, f, result);
}

TesStatus tesi_operator_in_wide(const TesOperator *op, TesiInWide *call, const void *user, const void *x,
                                void *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const Wide *w = op->wide;
  TES_TRY(tesi_wide_fill(w->wide, op->precision, x, w->x));
  TES_TRY(tesi_wide_fill(w->wide, op->precision, y, w->y));
  TES_TRY(tesi_wide_report(w->wide, call(tesi_wide_operator(w->wide), user, w->x, w->y)));
  TES_TRY(tesi_wide_take(w->wide, op->precision, w->y, y));
done:
  return status;
}

/* Whether cells read their neighbours. */
static bool is_read_across(const TesOperator *op) {
  return op->kind == &tesi_operator_stokes || op->kind == &tesi_operator_stokes_varying ||
         op->kind == &tesi_operator_dg || (op->kind == &tesi_operator_transport && op->space->element->weak);
}

static TesStatus widen(TesOperator *op) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  op->local = op->table;
  op->table = &of_wide;
  TES_NEW(&op->wide);
  TES_TRY(tesi_wide_create(op, tesi_reach(1, 2), &op->wide->wide));
  const size_t bytes = (size_t)tesi_wide_operator(op->wide->wide)->length * tesi_precision_size(op->precision);
  TES_TRY(device->allocate(ctx, bytes, &op->wide->x));
  TES_TRY(device->allocate(ctx, bytes, &op->wide->y));
done:
  return status;
}

TesStatus tesi_operator_share(TesOperator *op) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  if (tesi_ranks(ctx) == 1 || op->kind == &tesi_operator_by_part) return TES_OK; /* parts have their own */
  if (is_read_across(op)) return widen(op);
  const TesMeshKind mesh = op->space->mesh->kind;
  const bool known =
      mesh == TES_MESH_FOREST
          ? op->kind == &tesi_operator_mapped || op->kind == &tesi_operator_elasticity ||
                op->kind == &tesi_operator_transport
          : mesh == TES_MESH_BOX && (tesi_is_separable(op) || op->kind == &tesi_operator_mapped);
  TES_CHECK(known,
            "several ranks have operators of kinds mapped, elasticity and transport (on forests), separable, "
            "stokes, stokes_varying, dg and parts; this one is of kind %s",
            op->kind->name);
  op->local = op->table;
  op->table = &table;
  if (tesi_reduce_any(ctx, !op->singular)) op->singular = 0;
done:
  return status;
}
