/* Operators: creation, references, and the public calls with their argument checks. */
#include "operator/mapped/mapped.h"
#include <math.h>
#include <string.h>

static TesStatus check_desc(TesContext *ctx, const TesDiffusionDesc *desc) {
  TesStatus status = TES_OK;
  static const char *const names[6] = {"left", "right", "bottom", "top", "back", "front"};
  TES_CHECK(desc->space, "an operator needs a space");
  TES_CHECK(desc->precision == TES_DOUBLE || desc->precision == TES_SINGLE,
            "precision is %d, expected 0 or 1", (int)desc->precision);
  TES_CHECK(desc->form >= TES_FORM_AUTO && desc->form <= TES_FORM_QUADRATURE, "form is %d, expected 0..2",
            (int)desc->form);
  for (int face = 0; face < 6; face++) {
    const bool free_face = face / 2 < desc->space->dim && desc->space->axis[face / 2].natural[face % 2];
    TES_CHECK(!desc->alpha[face] || free_face, "a Robin coefficient on face %s, which is not a natural face",
              names[face]);
  }
done:
  return status;
}

/* The value of a coefficient, `otherwise` where it is not given, NaN where it varies. */
static double constant_value(const TesFunction *function, double otherwise) {
  double value = otherwise;
  if (function && !tes_function_constant(function, &value)) return NAN;
  return value;
}

/* Copies the coefficients; *constant tells whether all of them are. */
static TesStatus set_coefficients(TesOperator *op, const TesDiffusionDesc *desc, bool *constant) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  op->a_function = tesi_function_retain(desc->a);
  op->c_function = tesi_function_retain(desc->c);
  op->a = constant_value(desc->a, 1);
  op->c = constant_value(desc->c, 0);
  *constant = !isnan(op->a) && !isnan(op->c);
  op->singular = op->c == 0;
  TES_CHECK(isnan(op->a) || (op->a > 0 && isfinite(op->a)), "the diffusion coefficient a is %g, expected > 0",
            op->a);
  TES_CHECK(isnan(op->c) || (op->c >= 0 && isfinite(op->c)),
            "the reaction coefficient c is %g, expected >= 0", op->c);
  for (int face = 0; face < 6; face++) {
    const double alpha = constant_value(desc->alpha[face], 0);
    op->alpha_function[face] = tesi_function_retain(desc->alpha[face]);
    op->alpha[face] = alpha;
    TES_CHECK(isnan(alpha) || (alpha >= 0 && isfinite(alpha)),
              "a Robin coefficient alpha is %g, expected >= 0", alpha);
    *constant = *constant && !isnan(alpha);
    op->singular = op->singular && alpha == 0 && op->space->axis[face / 2].natural[face % 2];
  }
done:
  return status;
}

TesStatus tes_operator_create_diffusion(TesContext *context, const TesDiffusionDesc *desc, TesOperator **op) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesOperator *o = NULL;
  bool constant = false;
  *op = NULL;
  TES_TRY(check_desc(ctx, desc));
  TES_NEW(&o);
  atomic_init(&o->references, 1);
  o->context = tesi_context_retain(ctx);
  o->space = tesi_space_retain(desc->space);
  o->length = o->space->length;
  o->precision = desc->precision;
  TES_TRY(set_coefficients(o, desc, &constant));
  TES_CHECK(desc->form != TES_FORM_SEPARABLE || constant,
            "the separable form needs constant coefficients; use the quadrature form");
  o->form = desc->form == TES_FORM_QUADRATURE || !constant ? TES_FORM_QUADRATURE : TES_FORM_SEPARABLE;
  if (o->form == TES_FORM_SEPARABLE)
    TES_TRY(tesi_operator_separable_init(o));
  else
    TES_TRY(tesi_operator_quadrature_init(o));
  *op = o;
  o = NULL;
done:
  tes_operator_destroy(&o);
  return status;
}

TesOperator *tesi_operator_retain(const TesOperator *op) {
  TesOperator *o = (TesOperator *)op;
  atomic_fetch_add(&o->references, 1);
  return o;
}

void tes_operator_destroy(TesOperator **op) {
  if (!op || !*op) return;
  TesOperator *o = *op;
  *op = NULL;
  if (atomic_fetch_sub(&o->references, 1) != 1) return;
  TesContext *ctx = o->context;
  if (o->table) o->table->destroy(o);
  if (o->work) tesi_context_device(ctx)->release(ctx, &o->work);
  tes_function_destroy(&o->a_function);
  tes_function_destroy(&o->c_function);
  for (int face = 0; face < 6; face++) tes_function_destroy(&o->alpha_function[face]);
  tes_space_destroy(&o->space);
  tesi_mapped_release(ctx, &o->mapped);
  tesi_free(ctx, &o);
  tes_context_destroy(&ctx);
}

static TesStatus check_vector(const TesOperator *op, const TesVector *v, const char *name,
                              bool any_precision) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TES_CHECK(v, "vector %s is NULL", name);
  TES_CHECK(v->length == op->length, "vector %s has length %lld, the space has %lld nodes", name,
            (long long)v->length, (long long)op->length);
  TES_CHECK(any_precision || v->precision == op->precision, "vector %s is %s, the operator is %s", name,
            v->precision == TES_DOUBLE ? "float64" : "float32",
            op->precision == TES_DOUBLE ? "float64" : "float32");
done:
  return status;
}

TesStatus tes_operator_apply(const TesOperator *op, const TesVector *x, TesVector *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TES_TRY(check_vector(op, x, "x", false));
  TES_TRY(check_vector(op, y, "y", false));
  TES_CHECK(x->data != y->data, "x and y are the same vector");
  TES_TRY(op->table->apply(op, x->data, y->data));
done:
  return status;
}

TesStatus tes_operator_residual(const TesOperator *op, const TesVector *b, const TesVector *x, TesVector *r) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TES_TRY(check_vector(op, b, "b", false));
  TES_TRY(check_vector(op, x, "x", false));
  TES_TRY(check_vector(op, r, "r", false));
  TES_CHECK(x->data != r->data, "x and r are the same vector");
  TES_TRY(op->table->residual(op, b->data, x->data, r->data));
done:
  return status;
}

TesStatus tes_operator_diagonal(const TesOperator *op, TesVector *d) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TES_TRY(check_vector(op, d, "d", false));
  TES_TRY(op->table->diagonal(op, d->data));
done:
  return status;
}

TesStatus tes_operator_apply_ref(const TesOperator *op, const TesVector *x, TesVector *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  double *xs = NULL, *ys = NULL;
  TES_TRY(check_vector(op, x, "x", true));
  TES_TRY(check_vector(op, y, "y", true));
  TES_ALLOC(&xs, x->length);
  TES_ALLOC(&ys, y->length);
  TES_TRY(tes_vector_get(x, xs));
  TES_TRY(op->table->apply_ref(op, xs, ys));
  TES_TRY(tes_vector_set(y, ys));
done:
  tesi_free(ctx, &xs);
  tesi_free(ctx, &ys);
  return status;
}

const TesSpace *tes_operator_space(const TesOperator *op) {
  return op->space;
}

int64_t tes_operator_length(const TesOperator *op) {
  return op->length;
}

TesPrecision tes_operator_precision(const TesOperator *op) {
  return op->precision;
}

TesCost tes_operator_cost(const TesOperator *op) {
  return op->table->cost(op);
}

bool tes_operator_singular(const TesOperator *op) {
  return op->singular;
}

const char *tes_operator_describe(const TesOperator *op) {
  return op->description;
}
