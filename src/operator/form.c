/* Forms: checks, copies, and the coefficients of a box. */
#include "operator/form.h"
#include <math.h>
#include "functional/functional.h"
#include <string.h>

static const char *const names[] = {"diffusion", "mass",      "Robin",   "divergence",
                                    "strain",    "transport", "grad-div"};

/* Only diffusion may have a matrix, with the dimension of the mesh. */
static TesStatus check_matrix(const TesSpace *space, const TesTermDesc *t, const TesFunction *f) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  if (!tesi_function_is_matrix(f)) return TES_OK;
  TES_CHECK(t->term == TES_TERM_DIFFUSION, "%sthe coefficient of the %s term is a matrix, expected a number",
            tesi_function_where(f), names[t->term]);
  TES_CHECK(tesi_function_matrix_dim(f) == space->dim, "%sa is a matrix of dimension %d, the mesh has %d",
            tesi_function_where(f), tesi_function_matrix_dim(f), space->dim);
done:
  return status;
}

static TesStatus check_matrices(const TesSpace *space, const TesTermDesc *t) {
  TesStatus status = check_matrix(space, t, t->a.all);
  for (int i = 0; t->a.material && i < tes_mesh_materials(space->mesh) && status == TES_OK; i++)
    status = check_matrix(space, t, t->a.material[i]);
  return status;
}

static TesStatus check_term(const TesSpace *space, const TesForm *form, int i) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const TesTermDesc *t = &form->term[i];
  TES_CHECK(t->term >= TES_TERM_DIFFUSION && t->term <= TES_TERM_GRAD_DIV,
            "term %d is of number %d, expected 0..6", i, (int)t->term);
  TES_CHECK(t->factor >= 0 && isfinite(t->factor), "the factor of the %s term is %g, expected > 0",
            names[t->term], t->factor);
  const int parts = space->product ? space->parts : 1;
  TES_CHECK(t->trial >= 0 && t->trial < parts && t->test >= 0 && t->test < parts,
            "the %s term stands on parts %d and %d, expected 0..%d", names[t->term], t->trial, t->test,
            parts - 1);
  for (int j = 0; j < i; j++)
    TES_CHECK(
        form->term[j].term != t->term || form->term[j].trial != t->trial || form->term[j].test != t->test ||
            (t->term == TES_TERM_ROBIN && form->term[j].boundary != t->boundary),
        "the form has two %s terms%s", names[t->term], t->term == TES_TERM_ROBIN ? " on one boundary" : "");
  TES_TRY(check_matrices(space, t));
  if (t->term != TES_TERM_ROBIN) goto done;
  TES_CHECK(t->boundary >= 0 && t->boundary < tes_mesh_boundaries(space->mesh),
            "a Robin term on boundary %d, the mesh has %d", t->boundary, tes_mesh_boundaries(space->mesh));
  const TesSpace *part = space->product ? space->part[t->test] : space;
  TES_CHECK(tes_space_given(part, t->boundary) + 1 != 1u << part->scalars,
            "a Robin coefficient on %s, where values are given",
            tes_mesh_boundary_name(space->mesh, t->boundary));
done:
  return status;
}

/* Factor f. Without a function: the constant, or no function if the constant is 1 and may be left out. */
static TesStatus copy_function(TesContext *ctx, const TesFunction *f, double factor, bool may_lack,
                               const TesFunction **copy) {
  TesStatus status = TES_OK;
  if (f)
    TES_TRY(tesi_function_affine(f, factor, 0, (TesFunction **)copy));
  else if (factor != 1 || !may_lack)
    TES_TRY(tes_function_create_constant(ctx, factor, (TesFunction **)copy));
done:
  return status;
}

static TesStatus copy_term(const TesSpace *space, const TesTermDesc *from, TesTermDesc *to) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const int materials = tes_mesh_materials(space->mesh);
  const TesFunction **by_material = NULL;
  signed char *through = NULL;
  const double factor = from->factor > 0 ? from->factor : 1;
  *to = *from;
  to->factor = 1;
  to->a = (TesCoefficient){0};
  TES_TRY(copy_function(ctx, from->a.all, factor,
                        from->term == TES_TERM_DIFFUSION || from->term == TES_TERM_STRAIN, &to->a.all));
  for (int d = 0; d < 3; d++) to->b[d] = tesi_function_retain(from->b[d]);
  to->through = NULL;
  if (from->through) {
    TES_ALLOC(&through, tes_mesh_boundaries(space->mesh) + 1);
    memcpy(through, from->through, (size_t)tes_mesh_boundaries(space->mesh));
    to->through = through;
  }
  if (!from->a.material || !materials) goto done;
  TES_ALLOC(&by_material, materials);
  to->a.material = by_material;
  for (int i = 0; i < materials; i++)
    if (from->a.material[i]) TES_TRY(copy_function(ctx, from->a.material[i], factor, true, &by_material[i]));
done:
  return status;
}

TesStatus tesi_form_copy(const TesSpace *space, const TesForm *form, TesForm *copy) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  static const TesTermDesc laplace = {.term = TES_TERM_DIFFUSION};
  const TesForm whole = form->terms ? *form : (TesForm){1, &laplace, form->penalty};
  TesTermDesc *terms = NULL;
  *copy = (TesForm){0};
  TES_CHECK(whole.terms > 0 && whole.term, "a form has %d terms", whole.terms);
  TES_ALLOC(&terms, whole.terms);
  *copy = (TesForm){whole.terms, terms, form->penalty};
  for (int i = 0; i < whole.terms; i++) {
    TES_TRY(check_term(space, &whole, i));
    TES_TRY(copy_term(space, &whole.term[i], &terms[i]));
  }
done:
  if (status != TES_OK) tesi_form_release(ctx, tes_mesh_materials(space->mesh), copy);
  return status;
}

void tesi_form_release(TesContext *ctx, int materials, TesForm *copy) {
  TesTermDesc *terms = (TesTermDesc *)copy->term;
  for (int i = 0; terms && i < copy->terms; i++) {
    TesFunction **by_material = (TesFunction **)terms[i].a.material;
    tes_function_destroy((TesFunction **)&terms[i].a.all);
    for (int d = 0; d < 3; d++) tes_function_destroy((TesFunction **)&terms[i].b[d]);
    tesi_free(ctx, (signed char **)&terms[i].through);
    if (!by_material) continue;
    for (int m = 0; m < materials; m++) tes_function_destroy(&by_material[m]);
    tesi_free(ctx, &by_material);
  }
  tesi_free(ctx, &terms);
  *copy = (TesForm){0};
}

bool tesi_coefficient_is_matrix(const TesCoefficient *a, int materials) {
  bool matrix = tesi_function_is_matrix(a->all);
  for (int i = 0; a->material && i < materials; i++)
    matrix = matrix || tesi_function_is_matrix(a->material[i]);
  return matrix;
}

bool tesi_form_has_matrix(const TesForm *form, int materials) {
  for (int i = 0; i < form->terms; i++)
    if (tesi_coefficient_is_matrix(&form->term[i].a, materials)) return true;
  return false;
}

const TesTermDesc *tesi_form_term(const TesForm *form, TesTerm term, int boundary) {
  for (int i = 0; i < form->terms; i++)
    if (form->term[i].term == term && (term != TES_TERM_ROBIN || form->term[i].boundary == boundary))
      return &form->term[i];
  return NULL;
}

bool tesi_coefficient_constant(const TesCoefficient *a, int materials, double *value) {
  *value = 1;
  for (int i = 0; a->material && i < materials; i++)
    if (a->material[i]) return false;
  return !a->all || tes_function_constant(a->all, value);
}

const char *tesi_diffusion_refuses(const TesOperatorDesc *desc) {
  if (!tesi_space_axes(desc->space)) return "the mesh is not of kind box, or the element is not q";
  return desc->factors || desc->points || desc->ignore_hanging ? "points and factors are choices of mapped"
                                                               : NULL;
}

static TesStatus take_constant(TesContext *ctx, const TesFunction *f, double otherwise, bool positive,
                               const char *what, double *value) {
  TesStatus status = TES_OK;
  const bool varies = f && !tes_function_constant(f, value);
  if (!f || varies) *value = varies ? NAN : otherwise;
  TES_CHECK(varies || ((positive ? *value > 0 : *value >= 0) && isfinite(*value)),
            "%s%s is %g, expected %s 0", tesi_function_where(f), what, *value, positive ? ">" : ">=");
done:
  return status;
}

TesStatus tesi_diffusion_create(TesOperator *op) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesForm *form = &op->desc.form;
  const TesTermDesc *a = tesi_form_term(form, TES_TERM_DIFFUSION, 0),
                    *c = tesi_form_term(form, TES_TERM_MASS, 0);
  TesiDiffusion *d;
  TES_NEW(&d);
  op->data = d;
  d->a_function = a ? (TesFunction *)a->a.all : NULL;
  d->c_function = c ? (TesFunction *)c->a.all : NULL;
  if (a) TES_TRY(take_constant(ctx, d->a_function, 1, true, "the diffusion coefficient a", &d->a));
  TES_TRY(take_constant(ctx, d->c_function, 0, false, "the reaction coefficient c", &d->c));
  op->singular = d->c == 0;
  for (int face = 0; face < 6; face++) {
    const bool inside = face < 2 * op->space->dim &&
                        (tesi_mesh_cut(op->space->mesh, face) || op->space->axis[face / 2].periodic);
    const TesTermDesc *robin = inside ? NULL : tesi_form_term(form, TES_TERM_ROBIN, face);
    d->alpha_function[face] = robin ? (TesFunction *)robin->a.all : NULL;
    TES_TRY(
        take_constant(ctx, d->alpha_function[face], 0, false, "a Robin coefficient alpha", &d->alpha[face]));
    op->singular =
        op->singular && d->alpha[face] == 0 && op->space->axis[face / 2].end[face % 2] != TESI_STRONG;
  }
done:
  return status;
}

void tesi_diffusion_release(TesOperator *op) {
  tesi_free(op->context, &op->data);
}

TesStatus tesi_diffusion_lift(const TesOperator *op, const TesVector *u, TesVector *b) {
  static const uint8_t none[6];
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesSpace *full = NULL;
  TesOperator *whole = NULL;
  TesVector *r = NULL;
  TES_TRY(tes_space_create(
      ctx, &(TesSpaceDesc){.mesh = op->space->mesh, .degree = op->space->degree, .given = none}, &full));
  TES_TRY(tesi_operator_on(op, full, TES_DOUBLE, &whole));
  TES_TRY(tes_vector_create(ctx, op->length, TES_DOUBLE, &r));
  TES_TRY(tes_operator_residual(whole, b, u, r));
  TES_TRY(tesi_functional_clear(op->space, r));
  TES_TRY(tes_vector_copy(r, 1, b));
done:
  tes_vector_destroy(&r);
  tes_operator_destroy(&whole);
  tes_space_destroy(&full);
  return status;
}

TesStatus tesi_operator_create_constant(const TesSpace *space, TesPrecision precision, double a, double c,
                                        const double alpha[6], TesOperator **op) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesFunction *f[8] = {NULL};
  TesTermDesc term[8] = {{.term = TES_TERM_DIFFUSION}, {.term = TES_TERM_MASS}};
  const double value[2] = {a, c};
  int terms = 2;
  *op = NULL;
  for (int i = 0; i < 2; i++) {
    TES_TRY(tes_function_create_constant(ctx, value[i], &f[i]));
    term[i].a.all = f[i];
  }
  for (int face = 0; alpha && face < 2 * space->dim; face++) {
    if (alpha[face] == 0) continue;
    TES_TRY(tes_function_create_constant(ctx, alpha[face], &f[terms]));
    term[terms] = (TesTermDesc){.term = TES_TERM_ROBIN, .boundary = face, .a = {.all = f[terms]}};
    terms++;
  }
  TES_TRY(tes_operator_create(
      ctx,
      &(TesOperatorDesc){
          .space = space, .form = {.terms = terms, .term = term}, .precision = precision, .kind = "separable"},
      op));
done:
  for (int i = 0; i < 8; i++) tes_function_destroy(&f[i]);
  return status;
}
