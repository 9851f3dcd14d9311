/* Forms that couple no parts, over spaces with several: one operator per part. Terms of a space with several
 * components apply to each component; equal components share an operator. */
#include "operator/operator_by_part.h"
#include <math.h>
#include <stdio.h>
#include "operator/form.h"

/* A vector consists of the vectors of the parts, one after the other. */
static void *entry(const TesOperator *op, const void *vector, int part, TesPrecision precision) {
  return (char *)vector + (size_t)op->space->part_first[part] * tesi_precision_size(precision);
}

static TesStatus apply(const TesOperator *op, const void *x, void *y) {
  const TesiOperatorByPart *plan = op->plan;
  TesStatus status = TES_OK;
  for (int p = 0; p < plan->count && status == TES_OK; p++)
    status = plan->part[p]->table->apply(plan->part[p], entry(op, x, p, op->precision),
                                         entry(op, y, p, op->precision));
  return status;
}

static TesStatus residual(const TesOperator *op, const void *b, const void *x, void *r) {
  const TesiOperatorByPart *plan = op->plan;
  TesStatus status = TES_OK;
  for (int p = 0; p < plan->count && status == TES_OK; p++)
    status = plan->part[p]->table->residual(plan->part[p], entry(op, b, p, op->precision),
                                            entry(op, x, p, op->precision), entry(op, r, p, op->precision));
  return status;
}

static TesStatus correct_residual(const TesOperator *op, const TesiCorrection *correction, double *norm) {
  const TesiOperatorByPart *plan = op->plan;
  TesStatus status = TES_OK;
  double square = 0, one;
  for (int p = 0; p < plan->count && status == TES_OK; p++) {
    TesiCorrection c = *correction;
    c.b = entry(op, c.b, p, TES_DOUBLE);
    c.x = entry(op, c.x, p, TES_DOUBLE);
    c.e = c.e ? entry(op, c.e, p, TES_SINGLE) : NULL;
    c.r = entry(op, c.r, p, TES_SINGLE);
    status = plan->part[p]->table->correct_residual(plan->part[p], &c, norm ? &one : NULL);
    if (norm) square += one * one;
  }
  if (norm) *norm = sqrt(square);
  return status;
}

static TesStatus diagonal(const TesOperator *op, void *d) {
  const TesiOperatorByPart *plan = op->plan;
  TesStatus status = TES_OK;
  for (int p = 0; p < plan->count && status == TES_OK; p++)
    status = plan->part[p]->table->diagonal(plan->part[p], entry(op, d, p, op->precision));
  return status;
}

static TesStatus lift(const TesOperator *op, const TesVector *u, TesVector *b) {
  const TesiOperatorByPart *plan = op->plan;
  TesStatus status = TES_OK;
  for (int p = 0; p < plan->count && status == TES_OK; p++) {
    const TesVector of_u = tesi_space_range(op->space, u, p);
    TesVector of_b = tesi_space_range(op->space, b, p);
    status = tes_operator_lift(plan->part[p], &of_u, &of_b);
  }
  return status;
}

static TesStatus apply_ref(const TesOperator *op, const double *x, double *y) {
  const TesiOperatorByPart *plan = op->plan;
  TesStatus status = TES_OK;
  for (int p = 0; p < plan->count && status == TES_OK; p++)
    status = plan->part[p]->table->apply_ref(plan->part[p], x + op->space->part_first[p],
                                             y + op->space->part_first[p]);
  return status;
}

static TesCost cost(const TesOperator *op) {
  const TesiOperatorByPart *plan = op->plan;
  TesCost sum = {0};
  for (int p = 0; p < plan->count; p++) {
    const TesCost one = plan->part[p]->table->cost(plan->part[p]);
    sum.flops += one.flops, sum.bytes += one.bytes;
  }
  return sum;
}

static void destroy(TesOperator *op) {
  TesiOperatorByPart *plan = op->plan;
  for (int p = 0; p < plan->count; p++) tes_operator_destroy(&plan->part[p]);
  tesi_free(op->context, &op->plan);
}

static const TesiOperatorTable table = {.apply = apply,
                                        .residual = residual,
                                        .diagonal = diagonal,
                                        .lift = lift,
                                        .apply_ref = apply_ref,
                                        .cost = cost,
                                        .destroy = destroy},
                               table_of_correcting = {.apply = apply,
                                                      .residual = residual,
                                                      .correct_residual = correct_residual,
                                                      .diagonal = diagonal,
                                                      .lift = lift,
                                                      .apply_ref = apply_ref,
                                                      .cost = cost,
                                                      .destroy = destroy};

/* ---- set-up -------------------------------------------------------------------------------------------- */

static bool stands_on(const TesSpace *space, const TesTermDesc *term, int part) {
  return !space->product || term->test == part;
}

static const char *refuses(const TesOperatorDesc *desc) {
  const TesSpace *space = desc->space;
  if (!space->element->nodal) return "the element is not q";
  for (int i = 0; i < desc->form.terms; i++)
    if (desc->form.term[i].trial != desc->form.term[i].test) return "a term couples two parts";
  for (int p = 0; p < space->parts; p++) {
    bool any = false;
    for (int i = 0; i < desc->form.terms; i++) any = any || stands_on(space, &desc->form.term[i], p);
    if (!any) return "a part has no term";
  }
  return space->scalars == 1 ? "the space has one component" : NULL;
}

/* The terms of a part, without Robin terms on boundaries where the component has given values. */
static int pick_terms(const TesOperator *op, int p, TesTermDesc *term) {
  const TesSpace *part = op->space->part[p];
  const TesForm *form = &op->desc.form;
  int count = 0;
  for (int i = 0; i < form->terms; i++) {
    const TesTermDesc *t = &form->term[i];
    if (!stands_on(op->space, t, p)) continue;
    if (t->term == TES_TERM_ROBIN && part->scalars == 1 && tes_space_given(part, t->boundary)) continue;
    term[count] = *t;
    term[count].trial = term[count].test = 0;
    count++;
  }
  return count;
}

static TesStatus create_part(TesOperator *op, int p) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiOperatorByPart *plan = op->plan;
  TesTermDesc *term = NULL;
  TesOperatorDesc desc = op->desc;
  for (int other = 0; other < p && !op->space->product; other++)
    if (op->space->part[other] == op->space->part[p]) {
      plan->part[p] = tesi_operator_retain(plan->part[other]);
      return TES_OK;
    }
  TES_ALLOC(&term, op->desc.form.terms);
  desc.space = op->space->part[p];
  desc.form = (TesForm){.terms = pick_terms(op, p, term), .term = term};
  desc.kind = NULL;
  TES_TRY(tes_operator_create(ctx, &desc, &plan->part[p]));
done:
  tesi_free(ctx, &term);
  return status;
}

static void describe(TesOperator *op) {
  const TesiOperatorByPart *plan = op->plan;
  size_t length = 0;
  bool same = true;
  for (int p = 1; p < plan->count; p++) same = same && plan->part[p] == plan->part[0];
  for (int p = 0; p < (same ? 1 : plan->count) && length < sizeof op->description; p++)
    length += (size_t)snprintf(op->description + length, sizeof op->description - length, "%s%s",
                               p ? "; " : "", plan->part[p]->description);
  if (same && length < sizeof op->description)
    snprintf(op->description + length, sizeof op->description - length, ", each of %d parts", plan->count);
}

static TesStatus init(TesOperator *op) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiOperatorByPart *plan;
  bool correcting = true;
  int scalar = 0;
  TES_NEW(&plan);
  op->plan = plan;
  op->table = &table;
  for (; plan->count < op->space->parts; plan->count++) {
    const int p = plan->count;
    TES_TRY(create_part(op, p));
    correcting = correcting && plan->part[p]->table->correct_residual;
    op->singular |= plan->part[p]->singular << scalar;
    scalar += op->space->part[p]->scalars;
  }
  if (correcting) op->table = &table_of_correcting;
  describe(op);
done:
  return status;
}

const TesiOperatorKind tesi_operator_by_part = {.name = "parts",
                                                .parts = true,
                                                .matrices = true,
                                                .takes =
                                                    TESI_TERM(DIFFUSION) | TESI_TERM(MASS) | TESI_TERM(ROBIN),
                                                .refuses = refuses,
                                                .init = init};

const TesiOperatorByPart *tesi_operator_by_part_of(const TesOperator *op) {
  return op->kind == &tesi_operator_by_part ? op->plan : NULL;
}

bool tesi_operator_constant(const TesOperator *op) {
  const TesiOperatorByPart *plan = tesi_operator_by_part_of(op);
  bool constant = plan || tesi_is_separable(op);
  for (int p = 0; plan && p < plan->count; p++) constant = constant && tesi_operator_constant(plan->part[p]);
  return constant;
}
