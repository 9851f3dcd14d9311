/* Operators: kinds, creation, references, and the public calls with their argument checks. */
#include "operator/form.h"
#include "operator/mapped/mapped.h"
#include <stdio.h>
#include <string.h>

static const TesiOperatorKind *const kinds[] = {
    &tesi_operator_separable,  &tesi_operator_quadrature,     &tesi_operator_mapped,
    &tesi_operator_stokes,     &tesi_operator_stokes_varying, &tesi_operator_dg,
    &tesi_operator_transport,  &tesi_operator_assembled,      &tesi_operator_assembled_hanging,
    &tesi_operator_elasticity, &tesi_operator_by_part};
enum { KINDS = sizeof kinds / sizeof *kinds };

static TesStatus check_desc(TesContext *ctx, const TesOperatorDesc *desc) {
  TesStatus status = TES_OK;
  TES_CHECK(desc->space, "an operator needs a space");
  TES_CHECK(desc->space->context == ctx, "the space belongs to another context than the operator");
  TES_CHECK(desc->form.terms >= 0 && (desc->form.term || !desc->form.terms), "a form of %d terms, %s",
            desc->form.terms, desc->form.terms < 0 ? "expected 0 or more" : "and the list is NULL");
  TES_CHECK(desc->precision == TES_DOUBLE || desc->precision == TES_SINGLE,
            "precision is %d, expected 0 or 1", (int)desc->precision);
  TES_CHECK(desc->factors >= TES_FACTORS_AUTO && desc->factors <= TES_FACTORS_HALVES,
            "factors are %d, expected 0..6", (int)desc->factors);
  TES_CHECK(desc->conflicts >= TES_CONFLICTS_AUTO && desc->conflicts <= TES_CONFLICTS_COLOURS,
            "conflicts are %d, expected 0..2", (int)desc->conflicts);
  const int degree = desc->space->degree;
  TES_CHECK(desc->points == 0 || (desc->points > degree && desc->points <= degree + 3),
            "%d points per direction, expected degree + 1 .. degree + 3, or 0", desc->points);
done:
  return status;
}

#define TERM(name)                                                                                           \
  { "the form has a " name " term", "the form has no " name " term" }
static const char *const term_texts[][2] = {TERM("diffusion"),  TERM("mass"),   TERM("Robin"),
                                            TERM("divergence"), TERM("strain"), TERM("transport"),
                                            TERM("grad-div")};

/* What is said of the first of these terms; NULL: there are none. */
static const char *text_of_first(unsigned terms, bool lacks) {
  for (int t = 0; t <= TES_TERM_GRAD_DIV; t++)
    if (terms >> t & 1) return term_texts[t][lacks];
  return NULL;
}

const char *tesi_operator_refuses(const TesiOperatorKind *kind, const TesOperatorDesc *desc) {
  if (tes_space_components(desc->space) > 1 && !kind->parts) return "the space has several components";
  if (tesi_mesh_gridded(desc->space->mesh) && kind != &tesi_operator_separable)
    return "ranks cut the box in other directions than the last one";
  unsigned terms = 0;
  for (int i = 0; i < desc->form.terms; i++) terms |= 1u << desc->form.term[i].term;
  if (terms & ~kind->takes) return text_of_first(terms & ~kind->takes, false);
  if (!kind->matrices && tesi_form_has_matrix(&desc->form, tes_mesh_materials(desc->space->mesh)))
    return "a is a matrix";
  const char *reason = kind->refuses(desc);
  return reason ? reason : text_of_first(kind->needs & ~terms, true);
}

/* The kind that the desc names, or the first kind that can do the desc. */
static TesStatus choose(TesContext *ctx, const TesOperatorDesc *desc, const TesiOperatorKind **kind) {
  TesStatus status = TES_OK;
  char reasons[500] = "";
  size_t length = 0;
  bool known = !desc->kind;
  for (int i = 0; i < KINDS; i++) {
    if (desc->kind && strcmp(desc->kind, kinds[i]->name) != 0) continue;
    if (!desc->kind && (kinds[i]->named || kinds[i]->parts != (tes_space_components(desc->space) > 1)))
      continue;
    const char *reason = tesi_operator_refuses(kinds[i], desc);
    known = true;
    *kind = kinds[i];
    if (!reason) return TES_OK;
    if (length < sizeof reasons)
      length += (size_t)snprintf(reasons + length, sizeof reasons - length, "%skind %s: %s",
                                 length ? "; " : "", kinds[i]->name, reason);
  }
  TES_CHECK(known,
            "there is no operator of kind %s; there are separable, quadrature, mapped, stokes, "
            "stokes_varying, dg, transport, "
            "assembled, assembled_hanging, elasticity and parts",
            desc->kind);
  TES_FAIL(TES_INVALID_INPUT, "no operator of this form on this space: %s", reasons);
done:
  return status;
}

TesStatus tes_operator_create(TesContext *context, const TesOperatorDesc *desc, TesOperator **op) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesOperator *o = NULL;
  TES_REFUSE_NULL(context, desc, op);
  *op = NULL;
  TES_TRY(check_desc(ctx, desc));
  TES_NEW(&o);
  atomic_init(&o->references, 1);
  o->context = tesi_context_retain(ctx);
  o->space = tesi_space_retain(desc->space);
  o->length = o->space->length;
  o->precision = desc->precision;
  o->desc = *desc;
  o->desc.form = (TesForm){0};
  TES_TRY(tesi_form_copy(desc->space, &desc->form, &o->desc.form));
  TES_TRY(choose(ctx, &o->desc, &o->kind));
  o->desc.kind = desc->kind ? o->kind->name : NULL;
  TES_TRY(o->kind->init(o));
  TES_TRY(tesi_operator_share(o));
  if (o->space->slip) TES_TRY(tesi_operator_slip(o));
  *op = o;
  o = NULL;
done:
  tes_operator_destroy(&o);
  return status;
}

TesStatus tesi_operator_on(const TesOperator *op, const TesSpace *space, TesPrecision precision,
                           TesOperator **other) {
  TesOperatorDesc desc = op->desc;
  desc.space = space;
  desc.precision = precision;
  return tes_operator_create(space->context, &desc, other);
}

TesStatus tesi_operator_residual_by(TesStatus (*apply)(const TesOperator *op, const void *x, void *y),
                                    const TesOperator *op, const void *b, const void *x, void *r) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  void *product = r;
  if (r == b) TES_TRY(tesi_operator_vector(op, &product));
  TES_TRY(apply(op, x, product));
  TES_TRY(r == b ? device->axpy(ctx, op->length, -1, op->precision, product, op->precision, r)
                 : device->xpay(ctx, op->precision, op->length, b, -1, r));
done:
  if (product != r) device->release(ctx, &product);
  return status;
}

TesStatus tesi_operator_below(const TesOperator *op, const TesSpace *space, TesPrecision precision,
                              TesOperator **other) {
  TesOperatorDesc desc = op->desc;
  desc.space = space;
  desc.precision = precision;
  desc.rough = precision == TES_SINGLE;
  return tes_operator_create(space->context, &desc, other);
}

TesStatus tesi_operator_become_assembled(TesOperator **op) {
  TesContext *ctx = (*op)->context;
  TesStatus status = TES_OK;
  TesOperator *assembled = NULL;
  TesOperatorDesc desc = (*op)->desc;
  desc.space = (*op)->space, desc.kind = tesi_operator_assembled.name;
  TES_TRY(tes_operator_create(ctx, &desc, &assembled));
  tes_operator_destroy(op);
  *op = assembled;
done:
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
  if (o->kind && o->kind->release) o->kind->release(o);
  tesi_form_release(ctx, o->space ? tes_mesh_materials(o->space->mesh) : 0, &o->desc.form);
  tes_space_destroy(&o->space);
  tesi_free(ctx, &o);
  tes_context_destroy(&ctx);
}

TesStatus tesi_operator_new_vector(const TesOperator *op, TesPrecision precision, TesVector **vector) {
  return op->space ? tesi_vector_create_on(op->space->layout, precision, vector)
                   : tes_vector_create(op->context, op->length, precision, vector);
}

static TesStatus check_vector(const TesOperator *op, const TesVector *v, const char *name, bool any_precision) {
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

TesStatus tesi_operator_apply_ref(const TesOperator *op, const TesVector *x, TesVector *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  double *xs = NULL, *ys = NULL;
  TES_TRY(check_vector(op, x, "x", true));
  TES_TRY(check_vector(op, y, "y", true));
  TES_ALLOC(&ys, y->length);
  TES_TRY(tesi_vector_read(x, &xs));
  TES_TRY(op->table->apply_ref(op, xs, ys));
  TES_TRY(tes_vector_set(y, ys));
done:
  tesi_free(ctx, &xs);
  tesi_free(ctx, &ys);
  return status;
}

TesStatus tes_operator_lift(const TesOperator *op, const TesVector *u, TesVector *b) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TES_TRY(check_vector(op, u, "u", false));
  TES_TRY(check_vector(op, b, "b", false));
  TES_CHECK(op->precision == TES_DOUBLE, "a lifting is subtracted in float64");
  TES_CHECK(op->table->lift, "an operator of kind %s subtracts no lifting", op->kind->name);
  TES_TRY(op->table->lift(op, u, b));
done:
  return status;
}

TesOperatorInfo tes_operator_info(const TesOperator *op) {
  return (TesOperatorInfo){.space = op->space,
                           .length = op->length,
                           .precision = op->precision,
                           .kind = op->kind->name,
                           .description = op->description,
                           .factors = tesi_mapped_factors(op),
                           .cost = op->table->cost(op),
                           .singular = op->singular != 0};
}

TesStatus tesi_operator_remove_null(const TesOperator *op, TesVector *v) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  double sum;
  if (!op->null) return TES_OK;
  TesVector part = tesi_operator_null_range(op, v);
  TES_TRY(tes_vector_dot(&part, op->null, &sum));
  TES_TRY(tes_vector_axpy(-sum / op->null_square, op->null, &part));
done:
  return status;
}
