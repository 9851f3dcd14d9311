/* Operators on several ranks: each applies its kind to its own cells, which leaves parts of sums in the nodes at its
 * cuts; one exchange makes them whole in all copies. So kinds, and what calls their tables, know nothing of ranks.
 * Copies of a vector agree before and after. Entries where values are given are shared with nobody: they are what the
 * kind makes of them. */
#include "device/copies.h"
#include "operator/operator.h"

static TesStatus sum(const TesOperator *op, void *y) {
  return tesi_sum_copies(op->context, op->space->layout->sum, op->precision, y);
}

static TesStatus apply(const TesOperator *op, const void *x, void *y) {
  const TesStatus status = op->local->apply(op, x, y);
  return status == TES_OK ? sum(op, y) : status;
}

/* b is in every copy already. r may be b. */
static TesStatus residual(const TesOperator *op, const void *b, const void *x, void *r) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  void *product = r;
  if (r == b)
    TES_TRY(device->allocate(ctx, (size_t)op->length * tesi_precision_size(op->precision), &product));
  TES_TRY(apply(op, x, product));
  if (r == b)
    TES_TRY(device->axpy(ctx, op->length, -1, op->precision, product, op->precision, r));
  else
    TES_TRY(device->xpay(ctx, op->precision, op->length, b, -1, r));
done:
  if (product != r) device->release(ctx, &product);
  return status;
}

static TesStatus diagonal(const TesOperator *op, void *d) {
  const TesStatus status = op->local->diagonal(op, d);
  return status == TES_OK ? sum(op, d) : status;
}

/* b <- b - A u for b that is the same in every copy: the parts of A u are summed over the ranks first. On boxes an
 * operator on all nodes does it, which works on all ranks itself. */
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

TesStatus tesi_operator_share(TesOperator *op) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  if (tesi_ranks(ctx) == 1 || op->kind == &tesi_operator_by_part) return TES_OK; /* parts have their own */
  const TesMeshKind mesh = op->space->mesh->kind;
  const bool known = mesh == TES_MESH_FOREST
                         ? op->kind == &tesi_operator_mapped || op->kind == &tesi_operator_elasticity ||
                               op->kind == &tesi_operator_transport
                         : mesh == TES_MESH_BOX && tesi_is_separable(op);
  TES_CHECK(
      known,
      "several ranks have operators of kinds mapped, elasticity and transport (on forests), separable and "
      "parts; this one is of kind %s",
      op->kind->name);
  op->local = op->table;
  op->table = &table;
  if (tesi_reduce_any(ctx, !op->singular)) op->singular = 0;
done:
  return status;
}
