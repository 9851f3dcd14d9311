/* Operators on mapped cells: checks, tables, numbering; then the device's implementation takes over. */
#include "operator/mapped/mapped.h"
#include <math.h>
#include <string.h>
#include "base/integer.h"
#include "basis/lagrange.h"
#include "basis/gauss.h"
#include "device/kernel.h"
#include "operator/form.h"
#include "operator/mapped/mapped_robin.h"
#include "geometry/geometry.h"
#include "mesh/forest/hanging.h"

static TesStatus check_desc(TesContext *ctx, const TesiMappedDesc *d, int dim) {
  TesStatus status = TES_OK;
  TES_CHECK(d->degree >= 1 && d->degree <= TESI_MAPPED_DEGREE, "degree is %d, expected 1..%d", d->degree,
            TESI_MAPPED_DEGREE);
  TES_CHECK(d->terms >= 0 && d->terms <= TESI_STIFFNESS_MASS, "terms are %d, expected 1..3 or 0",
            (int)d->terms);
  TES_CHECK(d->points == 0 || d->collocated || (d->points > d->degree && d->points <= d->degree + 3),
            "%d points per direction, expected degree + 1 .. degree + 3, or 0", d->points);
  TES_CHECK(d->components >= 0 && d->components <= TESI_MAPPED_COMPONENTS, "%d components, expected 1..%d",
            d->components, TESI_MAPPED_COMPONENTS);
  TES_CHECK(d->lambda >= 0 && isfinite(d->lambda), "lambda is %g, expected >= 0", d->lambda);
  TES_CHECK(d->precision == TES_DOUBLE || d->precision == TES_SINGLE, "precision is %d, expected 0 or 1",
            (int)d->precision);
  TES_CHECK(d->form == TESI_GLOBAL_VECTORS || d->form == TESI_ELEMENT_VECTORS, "form is %d, expected 0 or 1",
            (int)d->form);
  TES_CHECK(d->factors >= TES_FACTORS_AUTO && d->factors <= TES_FACTORS_HALVES,
            "factors are %d, expected 0..6", (int)d->factors);
  TES_CHECK(d->conflicts >= TES_CONFLICTS_AUTO && d->conflicts <= TES_CONFLICTS_COLOURS,
            "conflicts are %d, expected 0..2", (int)d->conflicts);
  TES_CHECK(!d->index || d->form == TESI_GLOBAL_VECTORS, "an index belongs to the global form");
  TES_CHECK(!d->index || (d->nodes >= (tesi_ranks(ctx) == 1) && d->nodes <= INT32_MAX),
            "%lld nodes, expected 1..2^31-1", (long long)d->nodes);
  TES_CHECK(!d->masks || (d->index && d->degree <= TESI_HANGING_NODES - 1 && d->components <= 1),
            "masks of hanging nodes go with an index, degrees 1..8 and one component");
  TES_CHECK(!d->part || d->parts >= 0, "%d parts, expected at least 0", d->parts);
  TES_CHECK(!tesi_function_is_matrix(d->a) || tesi_function_matrix_dim(d->a) == dim,
            "a is a matrix of dimension %d, the cells have %d", tesi_function_matrix_dim(d->a), dim);
done:
  return status;
}

static void set_sizes(TesiMapped *m) {
  TesiMappedDesc *d = &m->desc;
  if (!d->terms) d->terms = TESI_STIFFNESS;
  if (!d->components) d->components = 1;
  if (d->lambda == 0) d->lambda = 1;
  if (d->collocated) d->points = d->degree + 1;
  if (!d->points) d->points = d->degree + 2;
  m->dim = m->geometry->dim;
  m->degree = d->degree, m->n = d->degree + 1, m->q = d->points;
  m->components = d->components;
  m->stiffness = d->terms & TESI_STIFFNESS, m->mass = d->terms & TESI_MASS;
  m->collocated = d->collocated;
  m->lambda = d->lambda;
  m->precision = d->precision;
  m->global = d->form == TESI_GLOBAL_VECTORS;
  m->cells = m->geometry->cells;
  m->cell_nodes = tesi_power(m->n, m->dim), m->cell_points = tesi_power(m->q, m->dim);
  m->factors = (m->stiffness ? m->dim * (m->dim + 1) / 2 : 0) + (m->mass ? 1 : 0);
}

static void set_tables(TesiMapped *m) {
  tesi_gauss_lobatto(m->n, m->node, NULL);
  if (m->collocated)
    tesi_gauss_lobatto(m->q, m->point, m->weight);
  else
    tesi_gauss(m->q, m->point, m->weight);
  tesi_lagrange(m->n, m->node, m->q, m->point, m->I, NULL);
  tesi_lagrange(m->q, m->point, m->q, m->point, NULL, m->D);
  for (int i = 0; m->collocated && i < m->q; i++)
    for (int j = 0; j < m->n; j++) m->I[i * m->n + j] = i == j;
}

/* The constants a[6] and c. Returns whether all coefficients are constant. */
static bool take_constants(TesiMapped *m) {
  const TesiMappedDesc *d = &m->desc;
  bool constant = true;
  m->c = 1;
  if (d->c && m->mass) constant = tes_function_constant(d->c, &m->c);
  for (int r = 0, at = 0; r < m->dim; r++)
    for (int c = r; c < m->dim; c++, at++) {
      const TesFunction *f = tesi_function_entry(d->a, r, c, &m->a[at]);
      if (f && m->stiffness && !tes_function_constant(f, &m->a[at])) constant = false;
      constant = constant && tesi_function_mirrored(d->a, r, c);
    }
  m->scalar = !tesi_function_is_matrix(d->a);
  for (int i = 0; i < m->parts; i++) m->scalar = m->scalar && !tesi_function_is_matrix(m->part_a[i]);
  return constant;
}

static TesStatus take_coefficients(TesContext *ctx, TesiMapped *m) {
  TesStatus status = TES_OK;
  const bool constant = take_constants(m) && !m->part;
  m->can_affine = constant && m->geometry->kind == TES_GEOMETRY_AFFINE;
  m->can_vertices = constant && m->scalar && m->geometry->kind <= TES_GEOMETRY_TRILINEAR;
  m->can_weights = m->stiffness && m->scalar && m->geometry->kind != TES_GEOMETRY_ANALYTIC &&
                   m->geometry->degree <= TESI_MAPPED_CELL_DEGREE;
  if (m->can_weights) m->cell_degree = tesi_mapped_cell_degree(m);
  TES_CHECK(m->desc.factors != TES_FACTORS_WEIGHTS || m->can_weights,
            "factors from weights need stiffness, a scalar coefficient, and cells of degree 1 or 2");
  TES_CHECK(m->desc.factors != TES_FACTORS_AFFINE || m->can_affine,
            "affine factors need affine cells and constant coefficients");
  TES_CHECK(m->desc.factors != TES_FACTORS_VERTICES || m->can_vertices,
            "factors from vertices need trilinear cells and constant scalar coefficients");
done:
  return status;
}

static TesStatus check_index(TesContext *ctx, const TesiMapped *m) {
  TesStatus status = TES_OK;
  const int32_t *index = m->desc.index;
  for (int64_t i = 0; i < m->cells * m->cell_nodes; i++) {
    const int64_t node = index[i] < 0 ? ~(int64_t)index[i] : index[i];
    TES_CHECK(node < m->nodes, "the index of node %lld of cell %lld is %d, there are %lld nodes",
              (long long)(i % m->cell_nodes), (long long)(i / m->cell_nodes), index[i], (long long)m->nodes);
  }
done:
  return status;
}

/* The constrained nodes, ascending, and the nodes in no cell. It is an error if one cell constrains a node and
 * another cell does not. */
static TesStatus take_constrained(TesContext *ctx, TesiMapped *m) {
  TesStatus status = TES_OK;
  char *state = NULL; /* 1: seen free, 2: seen constrained */
  TES_ALLOC(&state, m->nodes);
  for (int64_t i = 0; i < m->cells * m->cell_nodes; i++) {
    const bool constrained = m->index[i] < 0;
    char *s = &state[constrained ? ~m->index[i] : m->index[i]];
    *s = (char)(*s | (constrained ? 2 : 1));
    TES_CHECK(*s != 3, "node %d is constrained in one cell and free in another; cell %lld",
              constrained ? ~m->index[i] : m->index[i], (long long)(i / m->cell_nodes));
  }
  for (int64_t i = 0; i < m->nodes; i++) m->constrained += state[i] != 1;
  TES_ALLOC(&m->own_constrained, m->constrained);
  for (int64_t i = 0, at = 0; i < m->nodes; i++)
    if (state[i] != 1) m->own_constrained[at++] = (int32_t)i;
  m->constrained_nodes = m->own_constrained;
done:
  tesi_free(ctx, &state);
  return status;
}

/* The numbers of nodes, if no space has them: the caller's, checked, or made here. */
static TesStatus make_index(TesContext *ctx, TesiMapped *m) {
  TesStatus status = TES_OK;
  TesNumberingDesc numbering = m->desc.numbering;
  TES_ALLOC(&m->own_index, m->cells * m->cell_nodes);
  m->index = m->own_index;
  if (m->desc.index) {
    m->nodes = m->desc.nodes;
    TES_TRY(check_index(ctx, m));
    memcpy(m->own_index, m->desc.index, (size_t)(m->cells * m->cell_nodes) * sizeof *m->own_index);
  } else {
    numbering.degree = m->degree;
    TES_TRY(tesi_geometry_number(m->geometry, &numbering, m->own_index, &m->nodes));
  }
  TES_TRY(take_constrained(ctx, m));
done:
  return status;
}

static TesStatus take_index(TesContext *ctx, TesiMapped *m, const TesiCellView *view) {
  TesStatus status = TES_OK;
  m->length = m->cells * m->cell_nodes * m->components;
  if (!m->global) return TES_OK;
  if (view) {
    m->view = tesi_cells_retain(view);
    m->index = view->index, m->nodes = view->length;
    m->constrained = view->length - view->dofs, m->constrained_nodes = view->constrained;
  } else {
    TES_TRY(make_index(ctx, m));
  }
  m->length = m->nodes * m->components;
done:
  return status;
}

static TesStatus take_masks(TesContext *ctx, TesiMapped *m) {
  TesStatus status = TES_OK;
  if (!m->desc.masks) return TES_OK;
  if (m->view) {
    m->mask = m->view->mask;
    return TES_OK;
  }
  TES_ALLOC(&m->own_mask, m->cells);
  memcpy(m->own_mask, m->desc.masks, (size_t)m->cells * sizeof *m->own_mask);
  m->mask = m->own_mask;
done:
  return status;
}

static TesStatus take_parts(TesContext *ctx, TesiMapped *m) {
  TesStatus status = TES_OK;
  const TesiMappedDesc *d = &m->desc;
  if (!d->part || d->parts == 0) return TES_OK;
  TES_ALLOC(&m->part_a, d->parts);
  TES_ALLOC(&m->part_c, d->parts);
  m->parts = d->parts;
  for (int i = 0; i < d->parts; i++) {
    m->part_a[i] = d->part_a ? tesi_function_retain(d->part_a[i]) : NULL;
    m->part_c[i] = d->part_c ? tesi_function_retain(d->part_c[i]) : NULL;
  }
  TES_ALLOC(&m->part, m->cells);
  for (int64_t c = 0; c < m->cells; c++) {
    m->part[c] = d->part[c];
    TES_CHECK(m->part[c] >= -1 && m->part[c] < m->parts, "cell %lld is of part %d, there are %d",
              (long long)c, m->part[c], m->parts);
  }
done:
  return status;
}

static void retain_functions(TesiMapped *m) {
  if (m->desc.a) tesi_function_retain(m->desc.a);
  if (m->desc.c) tesi_function_retain(m->desc.c);
}

TesiMapped *tesi_mapped_retain(TesiMapped *mapped) {
  mapped->references++;
  return mapped;
}

void tesi_mapped_release(TesContext *ctx, TesiMapped **mapped) {
  TesiMapped *m = *mapped;
  *mapped = NULL;
  if (!m || --m->references > 0) return;
  tesi_geometry_destroy(&m->geometry);
  tes_function_destroy((TesFunction **)&m->desc.a);
  tes_function_destroy((TesFunction **)&m->desc.c);
  tesi_cells_destroy(&m->view);
  tesi_free(ctx, &m->own_index);
  tesi_free(ctx, &m->own_constrained);
  for (int i = 0; i < m->parts; i++) {
    tes_function_destroy(&m->part_a[i]);
    tes_function_destroy(&m->part_c[i]);
  }
  tesi_free(ctx, &m->part_a);
  tesi_free(ctx, &m->part_c);
  tesi_free(ctx, &m->part);
  tesi_free(ctx, &m->own_mask);
  tesi_free(ctx, &m);
}

static TesStatus set_up(TesContext *ctx, const TesiMappedDesc *desc, const TesiGeometry *geometry,
                        const TesiCellView *view, TesiMapped **mapped) {
  TesStatus status = TES_OK;
  TES_NEW(mapped);
  TesiMapped *m = *mapped;
  m->references = 1;
  m->desc = *desc;
  m->geometry = tesi_geometry_retain(geometry);
  retain_functions(m);
  set_sizes(m);
  set_tables(m);
  TES_TRY(take_parts(ctx, m));
  TES_TRY(take_coefficients(ctx, m));
  TES_TRY(take_index(ctx, m, view));
  TES_TRY(take_masks(ctx, m));
  m->desc.index = NULL, m->desc.masks = NULL;
done:
  return status;
}

TesStatus tesi_mapped_create(TesContext *context, const TesiMappedDesc *desc, TesOperator **op) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  const TesiGeometry *geometry;
  *op = NULL;
  TES_CHECK(desc->mesh, "an operator on mapped cells needs a mesh");
  TES_TRY(tesi_mesh_geometry(desc->mesh, &geometry));
  TES_TRY(tesi_mapped_create_over(ctx, desc, geometry, op));
done:
  return status;
}

/* Everything except the space. view NULL: no view; else the numbers of nodes and the masks of desc belong to the
 * view, and are shared. */
static TesStatus complete(TesOperator *o, const TesiMappedDesc *desc, const TesiGeometry *geometry,
                          const TesiCellView *view) {
  TesContext *ctx = o->context;
  TesStatus status = TES_OK;
  TesiMapped *m = NULL;
  const TesStatus made = set_up(ctx, desc, geometry, view, &m);
  o->data = m;
  TES_TRY(made);
  o->length = m->length;
  o->singular = m->global && !m->mass && !m->constrained && m->components == 1;
  TES_TRY(tesi_has_kernels(ctx) ? tesi_mapped_device_init(o) : tesi_mapped_host_init(o));
done:
  return status;
}

TesStatus tesi_mapped_create_over(TesContext *ctx, const TesiMappedDesc *desc, const TesiGeometry *geometry,
                                  TesOperator **op) {
  TesStatus status = TES_OK;
  TesOperator *o = NULL;
  *op = NULL;
  TES_TRY(check_desc(ctx, desc, geometry->dim));
  TES_NEW(&o);
  atomic_init(&o->references, 1);
  o->context = tesi_context_retain(ctx);
  o->precision = desc->precision;
  o->kind = &tesi_operator_mapped;
  TES_TRY(complete(o, desc, geometry, NULL));
  *op = o;
  o = NULL;
done:
  tes_operator_destroy(&o);
  return status;
}

static const char *refuses(const TesOperatorDesc *desc) {
  const bool robin = tesi_form_term(&desc->form, TES_TERM_ROBIN, 0) || tesi_robin_faces(desc);
  if (desc->space && !desc->space->element->nodal) return "the element is not q";
  if (!tesi_form_term(&desc->form, TES_TERM_DIFFUSION, 0) && !tesi_form_term(&desc->form, TES_TERM_MASS, 0))
    return "the form has neither a diffusion nor a mass term";
  if (desc->space->degree > TESI_MAPPED_DEGREE) return "the degree is above 15";
  if (robin && desc->space->degree > TESI_FOREST_DEGREE) return "Robin terms are for degrees up to 8";
  return NULL;
}

static bool vanishes(const TesFunction *c) {
  double value;
  return !c || (tes_function_constant(c, &value) && value == 0);
}

/* Whether the mass coefficient is nonzero anywhere. */
static bool has_mass(const TesTermDesc *mass, int materials) {
  if (!mass) return false;
  bool any = !vanishes(mass->a.all);
  for (int i = 0; mass->a.material && i < materials; i++)
    any = any || (mass->a.material[i] && !vanishes(mass->a.material[i]));
  return any;
}

/* The operator of a form, without its Robin terms. */
static TesStatus init_plain(TesOperator *op, const TesiCellView *s, const TesiGeometry *geometry) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesOperatorDesc *d = &op->desc;
  const int materials = tes_mesh_materials(s->mesh);
  const TesTermDesc *a = tesi_form_term(&d->form, TES_TERM_DIFFUSION, 0),
                    *c = tesi_form_term(&d->form, TES_TERM_MASS, 0);
  const bool mass = has_mass(c, materials) || !a;
  int32_t *part = NULL;
  TesiMappedDesc mapped = {.terms = a && mass ? TESI_STIFFNESS_MASS
                                    : a       ? TESI_STIFFNESS
                                              : TESI_MASS,
                           .degree = s->degree,
                           .points = d->points ? d->points : s->degree + 1,
                           .a = a ? a->a.all : NULL,
                           .c = mass ? c->a.all : NULL,
                           .precision = op->precision,
                           .factors = d->factors,
                           .rough = d->rough,
                           .conflicts = d->conflicts == TES_CONFLICTS_AUTO && tesi_context_deterministic(ctx)
                                            ? TES_CONFLICTS_COLOURS
                                            : d->conflicts,
                           .index = s->index,
                           .nodes = s->length,
                           .masks = d->ignore_hanging || s->hanging == 0 ? NULL : s->mask};
  if ((a && a->a.material) || (mass && c->a.material)) {
    TES_ALLOC(&part, s->cells);
    for (int64_t i = 0; i < s->cells; i++) part[i] = tes_mesh_material(s->mesh, i);
    mapped.part = part, mapped.parts = materials;
    mapped.part_a = a ? a->a.material : NULL, mapped.part_c = mass ? c->a.material : NULL;
  }
  TES_TRY(check_desc(ctx, &mapped, s->dim));
  TES_TRY(complete(op, &mapped, geometry, s));
done:
  tesi_free(ctx, &part);
  return status;
}

/* Wraps an operator without Robin terms, if the form has such terms. */
static TesStatus init(TesOperator *op) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesOperator *inner = NULL;
  const TesiCellView *cells;
  const TesiGeometry *geometry;
  TES_TRY(tesi_space_cells(op->space, &cells));
  TES_TRY(tesi_mesh_geometry(op->space->mesh, &geometry));
  if (!tesi_robin_faces(&op->desc)) return init_plain(op, cells, geometry);
  TES_NEW(&inner);
  atomic_init(&inner->references, 1);
  inner->context = tesi_context_retain(ctx);
  inner->kind = &tesi_operator_mapped;
  inner->precision = op->precision;
  inner->desc = op->desc;
  const TesStatus made = init_plain(inner, cells, geometry);
  inner->desc.form = (TesForm){0}; /* belongs to op */
  TES_TRY(made);
  TES_TRY(tesi_robin_init(op, &inner));
done:
  tes_operator_destroy(&inner);
  return status;
}

static void release(TesOperator *op) {
  TesiMapped *m = op->data;
  tesi_mapped_release(op->context, &m);
  op->data = NULL;
}

const TesiOperatorKind tesi_operator_mapped = {.name = "mapped",
                                               .matrices = true,
                                               .takes =
                                                   TESI_TERM(DIFFUSION) | TESI_TERM(MASS) | TESI_TERM(ROBIN),
                                               .refuses = refuses,
                                               .init = init,
                                               .release = release};

TesFactors tesi_mapped_factors(const TesOperator *op) {
  const TesiMapped *m = tesi_mapped_of(op);
  return m ? m->desc.factors : TES_FACTORS_AUTO;
}

const int32_t *tesi_mapped_index(const TesOperator *op, int64_t *nodes) {
  const TesiMapped *m = tesi_mapped_of(op);
  *nodes = m ? m->nodes : 0;
  return m ? m->index : NULL;
}
