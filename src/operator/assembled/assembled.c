/* Assembled operators: y = A x, or y = H' A H x with the matrix H of hanging nodes. For mapped operators A is made by
 * loops over cells or by kernels, for others from products. */
#include "operator/assembled/assembled.h"
#include <stdio.h>
#include <string.h>
#include "device/kernel.h"
#include "operator/assembled/sparse.h"
#include "operator/assembled/matrix.h"

typedef struct Plan {
  TesiSparse *A, *H, *transposed; /* H, H': NULL without hanging nodes */
  void *u, *v;                    /* device: H x, A H x */
  void *diagonal;                 /* device, [length] */
} Plan;

/* ---- the table ----------------------------------------------------------------------------------------- */
static TesStatus apply(const TesOperator *op, const void *x, void *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const Plan *p = op->plan;
  if (!p->H) return tesi_sparse_apply(ctx, p->A, x, y);
  TES_TRY(tesi_sparse_apply(ctx, p->H, x, p->u));
  TES_TRY(tesi_sparse_apply(ctx, p->A, p->u, p->v));
  TES_TRY(tesi_sparse_apply(ctx, p->transposed, p->v, y));
done:
  return status;
}

static TesStatus residual(const TesOperator *op, const void *b, const void *x, void *r) {
  return tesi_operator_residual_by(apply, op, b, x, r);
}

static TesStatus diagonal(const TesOperator *op, void *d) {
  return tesi_context_device(op->context)
      ->copy(op->context, op->length, 1, op->precision, ((const Plan *)op->plan)->diagonal, op->precision, d);
}

static TesStatus apply_ref(const TesOperator *op, const double *x, double *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const Plan *p = op->plan;
  double *u = NULL, *v = NULL;
  if (!p->H) return tesi_sparse_apply_ref(ctx, p->A, x, y);
  TES_ALLOC(&u, tesi_sparse_rows(p->A));
  TES_ALLOC(&v, tesi_sparse_rows(p->A));
  TES_TRY(tesi_sparse_apply_ref(ctx, p->H, x, u));
  TES_TRY(tesi_sparse_apply_ref(ctx, p->A, u, v));
  TES_TRY(tesi_sparse_apply_ref(ctx, p->transposed, v, y));
done:
  tesi_free(ctx, &u);
  tesi_free(ctx, &v);
  return status;
}

double tesi_assembled_bytes(const TesOperator *op) {
  const Plan *p = op->plan;
  const double matrix = tesi_sparse_bytes(p->A);
  if (!p->H) return matrix;
  return matrix + tesi_sparse_bytes(p->H) + tesi_sparse_bytes(p->transposed) +
         2 * (double)tesi_precision_size(op->precision) * (double)tesi_sparse_rows(p->A);
}

const char *tesi_assembled_how(const TesOperator *op) {
  return tesi_sparse_how(((const Plan *)op->plan)->A);
}

/* Each matrix once, and the vectors that the products read and write. */
static TesCost cost(const TesOperator *op) {
  const Plan *p = op->plan;
  const double size = (double)tesi_precision_size(op->precision), rows = (double)tesi_sparse_rows(p->A);
  TesCost c = {.flops = 2 * (double)tesi_sparse_entries(p->A),
               .bytes = tesi_sparse_bytes(p->A) + 2 * size * (double)op->length};
  if (!p->H) return c;
  c.flops += 4 * (double)tesi_sparse_entries(p->H);
  c.bytes += tesi_sparse_bytes(p->H) + tesi_sparse_bytes(p->transposed) + 4 * size * rows;
  return c;
}

static void destroy(TesOperator *op) {
  TesContext *ctx = op->context;
  Plan *p = op->plan;
  if (!p) return;
  tesi_sparse_destroy(ctx, &p->A);
  tesi_sparse_destroy(ctx, &p->H);
  tesi_sparse_destroy(ctx, &p->transposed);
  tesi_context_device(ctx)->release(ctx, &p->u);
  tesi_context_device(ctx)->release(ctx, &p->v);
  tesi_context_device(ctx)->release(ctx, &p->diagonal);
  tesi_free(ctx, &op->plan);
}

static const TesiOperatorTable table = {.apply = apply,
                                        .residual = residual,
                                        .diagonal = diagonal,
                                        .apply_ref = apply_ref,
                                        .cost = cost,
                                        .destroy = destroy};

/* ---- set-up ---------------------------------------------------------------------------------------- */
static bool is_mapped(const TesOperatorDesc *desc) {
  return !tesi_operator_refuses(&tesi_operator_mapped, desc);
}

static TesStatus make_diagonal(const TesOperator *from, const TesOperator *op, Plan *p) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  void *d = NULL;
  TES_TRY(device->allocate(ctx, (size_t)op->length * sizeof(double), &d));
  TES_TRY(tesi_operator_vector(op, &p->diagonal));
  TES_TRY(from->table->diagonal(from, d));
  TES_TRY(device->copy(ctx, op->length, 1, TES_DOUBLE, d, op->precision, p->diagonal));
  TES_TRY(device->synchronize(ctx));
done:
  device->release(ctx, &d);
  return status;
}

/* The matrix A of an operator, which is destroyed. */
static TesStatus make_matrix(TesContext *ctx, TesOperator **from, TesPrecision precision, TesiSparse **A) {
  TesStatus status = TES_OK;
  TesiMatrix host = {0};
  TesiDeviceMatrix made = {0};
  const int64_t length = (*from)->length;
  const double start = tesi_now();
  if (tesi_has_kernels(ctx) && !tesi_context_deterministic(ctx)) { /* kernels add by atomics */
    TES_TRY(tesi_operator_assemble_device(*from, &made));
    tesi_log(ctx, TES_LOG_DETAIL, "assembled by kernels in %.3g s", tesi_now() - start);
    tes_operator_destroy(from);
    TES_TRY(tesi_sparse_create_device(ctx, &made, length, precision, A));
  } else {
    TES_TRY(tesi_operator_assemble(*from, &host));
    tesi_log(ctx, TES_LOG_DETAIL, "assembled on the host in %.3g s", tesi_now() - start);
    tes_operator_destroy(from);
    TES_TRY(tesi_sparse_create(ctx, &host, length, precision, A));
  }
done:
  return status;
}

/* A and its diagonal from products of the operator that would be chosen for the form. */
static TesStatus make_by_products(const TesOperator *from, TesOperator *op, Plan *p) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  TesiMatrix A = {0};
  TesVector *d = NULL;
  double *values = NULL;
  TES_TRY(tesi_operator_probe(from, &A));
  TES_ALLOC(&values, A.rows);
  for (int64_t i = 0; i < A.rows; i++)
    for (int64_t e = A.row[i]; e < A.row[i + 1]; e++)
      if (A.column[e] == i) values[i] = A.value[e];
  TES_TRY(tes_vector_create(ctx, A.rows, op->precision, &d));
  TES_TRY(tes_vector_set(d, values));
  TES_TRY(device->allocate(ctx, (size_t)A.rows * tesi_precision_size(op->precision), &p->diagonal));
  TES_TRY(device->copy(ctx, A.rows, 1, op->precision, d->data, op->precision, p->diagonal));
  TES_TRY(device->synchronize(ctx));
  TES_TRY(tesi_sparse_create(ctx, &A, op->length, op->precision, &p->A));
done:
  tes_vector_destroy(&d);
  tesi_free(ctx, &values);
  tesi_matrix_destroy(ctx, &A);
  return status;
}

/* H, H', and A over all nodes. */
static TesStatus make_hanging(const TesOperator *o, Plan *p) {
  TesContext *ctx = o->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const TesPrecision precision = o->precision;
  TesOperatorDesc desc = o->desc;
  TesSpace *all = NULL;
  TesOperator *from = NULL;
  TesiMatrix H = {0}, transposed = {0};
  TES_TRY(tesi_space_unconstrain(o->space, &all, &H));
  desc.space = all, desc.precision = TES_DOUBLE, desc.kind = "mapped";
  const int64_t length = o->space->length, rows = H.rows;
  TES_TRY(tes_operator_create(ctx, &desc, &from));
  TES_TRY(make_matrix(ctx, &from, precision, &p->A));
  TES_TRY(tesi_matrix_transpose(ctx, &H, length, &transposed));
  TES_TRY(tesi_sparse_create(ctx, &transposed, rows, precision, &p->transposed));
  TES_TRY(tesi_sparse_create(ctx, &H, length, precision, &p->H));
  TES_TRY(device->allocate(ctx, (size_t)rows * tesi_precision_size(precision), &p->u));
  TES_TRY(device->allocate(ctx, (size_t)rows * tesi_precision_size(precision), &p->v));
done:
  tes_operator_destroy(&from);
  tesi_matrix_destroy(ctx, &H);
  tesi_matrix_destroy(ctx, &transposed);
  tes_space_destroy(&all);
  return status;
}

static void describe(TesOperator *o, const Plan *p) {
  const double gib = tesi_assembled_bytes(o) / (1 << 30);
  const char *const how = tesi_sparse_how(p->A);
  if (p->H)
    snprintf(o->description, sizeof o->description,
             "assembled, y = H' A H x: %lld + 2 x %lld entries, %.3g GiB, product by %s",
             (long long)tesi_sparse_entries(p->A), (long long)tesi_sparse_entries(p->H), gib, how);
  else
    snprintf(o->description, sizeof o->description,
             "assembled, hanging nodes eliminated: %lld entries, %.3g GiB, product by %s",
             (long long)tesi_sparse_entries(p->A), gib, how);
  tesi_log(o->context, TES_LOG_DETAIL, "%s", o->description);
}

static const char *refuses(const TesOperatorDesc *desc) {
  if (desc->ignore_hanging) return "an assembled operator does not ignore hanging nodes";
  if (!desc->space->element->nodal) return "the element is not q";
  return desc->space->product ? "the space is a product, not one of components" : NULL;
}

static const char *refuses_hanging(const TesOperatorDesc *desc) {
  const char *const reason = refuses(desc);
  return reason ? reason : tesi_operator_refuses(&tesi_operator_mapped, desc);
}

static TesStatus init(TesOperator *o) {
  TesContext *ctx = o->context;
  TesStatus status = TES_OK;
  TesOperatorDesc desc = o->desc;
  TesOperator *from = NULL;
  Plan *plan;
  const bool mapped = is_mapped(&desc);
  o->table = &table;
  TES_NEW(&plan);
  o->plan = plan;
  desc.space = o->space, desc.precision = TES_DOUBLE, desc.kind = mapped ? "mapped" : NULL;
  TES_TRY(tes_operator_create(ctx, &desc, &from));
  o->singular = from->singular;
  if (mapped) TES_TRY(make_diagonal(from, o, plan));
  if (!mapped) {
    TES_TRY(make_by_products(from, o, plan));
  } else if (o->kind == &tesi_operator_assembled_hanging && tes_space_hanging(o->space)) {
    tes_operator_destroy(&from);
    TES_TRY(make_hanging(o, plan));
  } else {
    TES_TRY(make_matrix(ctx, &from, o->precision, &plan->A));
  }
  describe(o, plan);
done:
  tes_operator_destroy(&from);
  return status;
}

const TesiOperatorKind tesi_operator_assembled = {.name = "assembled",
                                                  .named = true,
                                                  .parts = true,
                                                  .matrices = true,
                                                  .takes = ~TESI_TERM(DIVERGENCE),
                                                  .refuses = refuses,
                                                  .init = init};
const TesiOperatorKind tesi_operator_assembled_hanging = {.name = "assembled_hanging",
                                                          .named = true,
                                                          .matrices = true,
                                                          .takes = ~TESI_TERM(DIVERGENCE),
                                                          .refuses = refuses_hanging,
                                                          .init = init};
