/* Operators on mapped cells: checks, tables, numbering; then the device's implementation takes over. */
#include "operator/mapped/mapped.h"
#include <math.h>
#include <string.h>
#include "basis/lagrange.h"
#include "basis/gauss.h"
#include "device/kernel.h"
#include "geometry/geometry.h"
#include "mesh/forest/hanging.h"

static int64_t power(int64_t base, int exponent) {
  int64_t result = 1;
  for (int i = 0; i < exponent; i++) result *= base;
  return result;
}

static TesStatus check_desc(TesContext *ctx, const TesMappedDesc *d, int dim) {
  TesStatus status = TES_OK;
  TES_CHECK(d->degree >= 1 && d->degree <= TESI_MAPPED_DEGREE, "degree is %d, expected 1..%d", d->degree,
            TESI_MAPPED_DEGREE);
  TES_CHECK(d->terms >= 0 && d->terms <= TES_STIFFNESS_MASS, "terms are %d, expected 1..3 or 0",
            (int)d->terms);
  TES_CHECK(d->points == 0 || d->collocated || (d->points > d->degree && d->points <= d->degree + 3),
            "%d points a direction, expected degree + 1 .. degree + 3, or 0", d->points);
  TES_CHECK(d->components >= 0 && d->components <= TESI_MAPPED_COMPONENTS, "%d components, expected 1..%d",
            d->components, TESI_MAPPED_COMPONENTS);
  TES_CHECK(d->lambda >= 0 && isfinite(d->lambda), "lambda is %g, expected >= 0", d->lambda);
  TES_CHECK(d->tensor >= TES_TENSOR_SCALAR && d->tensor <= TES_TENSOR_FULL, "tensor is %d, expected 0..2",
            (int)d->tensor);
  TES_CHECK(d->precision == TES_DOUBLE || d->precision == TES_SINGLE, "precision is %d, expected 0 or 1",
            (int)d->precision);
  TES_CHECK(d->form == TES_GLOBAL_VECTORS || d->form == TES_ELEMENT_VECTORS, "form is %d, expected 0 or 1",
            (int)d->form);
  TES_CHECK(d->factors >= TES_FACTORS_AUTO && d->factors <= TES_FACTORS_WEIGHTS,
            "factors are %d, expected 0..5", (int)d->factors);
  TES_CHECK(d->conflicts >= TES_CONFLICTS_AUTO && d->conflicts <= TES_CONFLICTS_COLOURS,
            "conflicts are %d, expected 0..2", (int)d->conflicts);
  TES_CHECK(!d->index || d->form == TES_GLOBAL_VECTORS, "an index belongs to the global form");
  TES_CHECK(!d->index || (d->nodes >= 1 && d->nodes <= INT32_MAX), "%lld nodes, expected 1..2^31-1",
            (long long)d->nodes);
  const int last = d->tensor == TES_TENSOR_SCALAR     ? 1
                   : d->tensor == TES_TENSOR_DIAGONAL ? dim
                                                      : dim * (dim + 1) / 2;
  TES_CHECK(!d->masks || (d->index && d->degree <= TESI_HANGING_NODES - 1 && d->components <= 1),
            "masks of hanging nodes go with an index, degrees 1..8 and one component");
  TES_CHECK(!d->part || (d->tensor == TES_TENSOR_SCALAR && d->parts >= 0),
            "parts go with scalar coefficients");
  for (int i = last; i < 6; i++)
    TES_CHECK(!d->a[i], "coefficient a[%d] is given, the tensor has %d", i, last);
done:
  return status;
}

static void set_sizes(TesiMapped *m) {
  TesMappedDesc *d = &m->desc;
  if (!d->terms) d->terms = TES_STIFFNESS;
  if (!d->components) d->components = 1;
  if (d->lambda == 0) d->lambda = 1;
  if (d->collocated) d->points = d->degree + 1;
  if (!d->points) d->points = d->degree + 2;
  m->dim = m->geometry->dim;
  m->degree = d->degree, m->n = d->degree + 1, m->q = d->points;
  m->components = d->components;
  m->stiffness = d->terms & TES_STIFFNESS, m->mass = d->terms & TES_MASS;
  m->collocated = d->collocated;
  m->lambda = d->lambda;
  m->precision = d->precision;
  m->global = d->form == TES_GLOBAL_VECTORS;
  m->cells = m->geometry->cells;
  m->cell_nodes = power(m->n, m->dim), m->cell_points = power(m->q, m->dim);
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

/* Entry (r, c) of the coefficient in the packed order, and whether it is on the diagonal. */
static int packed(int dim, int r, int c) {
  return dim == 2 ? r + c : r == 0 ? c : r + c + 1;
}

/* The constants a[6] and c; whether all are constant. */
static bool take_constants(TesiMapped *m) {
  const TesMappedDesc *d = &m->desc;
  bool constant = true;
  const int entries = m->dim * (m->dim + 1) / 2;
  m->c = 1;
  if (d->c && m->mass) constant = tes_function_constant(d->c, &m->c);
  for (int i = 0; i < entries; i++) m->a[i] = 0;
  for (int r = 0; r < m->dim; r++)
    for (int c = r; c < m->dim; c++) {
      const int at = packed(m->dim, r, c);
      const TesFunction *f = d->tensor == TES_TENSOR_FULL       ? d->a[at]
                             : r != c                           ? NULL
                             : d->tensor == TES_TENSOR_DIAGONAL ? d->a[r]
                                                                : d->a[0];
      m->a[at] = r == c;
      if (f && m->stiffness && !tes_function_constant(f, &m->a[at])) constant = false;
    }
  m->a_identity = d->tensor == TES_TENSOR_SCALAR;
  return constant;
}

static TesStatus take_coefficients(TesContext *ctx, TesiMapped *m) {
  TesStatus status = TES_OK;
  const bool constant = take_constants(m) && !m->part;
  m->can_affine = constant && m->geometry->kind == TES_GEOMETRY_AFFINE;
  m->can_vertices = constant && m->a_identity && m->geometry->kind <= TES_GEOMETRY_TRILINEAR;
  m->can_weights = m->stiffness && m->a_identity && m->geometry->kind != TES_GEOMETRY_ANALYTIC &&
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

/* The constrained nodes, ascending, and those that no cell has; a node that is constrained in one cell only is an error. */
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

/* Numbers of nodes that nobody shares: the caller's, checked, or made here. */
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
  const TesMappedDesc *d = &m->desc;
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
  for (int i = 0; i < 6; i++)
    if (m->desc.a[i]) tesi_function_retain(m->desc.a[i]);
  if (m->desc.c) tesi_function_retain(m->desc.c);
}

void tesi_mapped_release(TesContext *ctx, TesiMapped **mapped) {
  TesiMapped *m = *mapped;
  if (!m) return;
  tesi_geometry_destroy(&m->geometry);
  for (int i = 0; i < 6; i++) tes_function_destroy((TesFunction **)&m->desc.a[i]);
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
  tesi_free(ctx, mapped);
}

static TesStatus set_up(TesContext *ctx, const TesMappedDesc *desc, const TesGeometry *geometry,
                        const TesiCellView *view, TesiMapped **mapped) {
  TesStatus status = TES_OK;
  TES_NEW(mapped);
  TesiMapped *m = *mapped;
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

TesStatus tes_operator_create_mapped(TesContext *context, const TesMappedDesc *desc, TesOperator **op) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  const TesGeometry *geometry;
  *op = NULL;
  TES_CHECK(desc->mesh, "an operator on mapped cells needs a mesh");
  TES_TRY(tesi_mesh_geometry(desc->mesh, &geometry));
  TES_TRY(tesi_mapped_create(ctx, desc, geometry, NULL, op));
done:
  return status;
}

TesStatus tesi_mapped_create(TesContext *ctx, const TesMappedDesc *desc, const TesGeometry *geometry,
                             const TesiCellView *view, TesOperator **op) {
  TesStatus status = TES_OK;
  TesOperator *o = NULL;
  *op = NULL;
  TES_TRY(check_desc(ctx, desc, geometry->dim));
  TES_NEW(&o);
  atomic_init(&o->references, 1);
  o->context = tesi_context_retain(ctx);
  o->precision = desc->precision;
  o->form = TES_FORM_QUADRATURE;
  TES_TRY(set_up(ctx, desc, geometry, view, &o->mapped));
  o->length = o->mapped->length;
  o->singular =
      o->mapped->global && !o->mapped->mass && !o->mapped->constrained && o->mapped->components == 1;
  if (tesi_has_kernels(ctx))
    TES_TRY(tesi_mapped_device_init(o));
  else
    TES_TRY(tesi_mapped_host_init(o));
  *op = o;
  o = NULL;
done:
  tes_operator_destroy(&o);
  return status;
}

TesFactors tes_mapped_factors(const TesOperator *op) {
  return op->mapped ? op->mapped->desc.factors : TES_FACTORS_AUTO;
}

const int32_t *tes_mapped_index(const TesOperator *op, int64_t *nodes) {
  *nodes = op->mapped ? op->mapped->nodes : 0;
  return op->mapped ? op->mapped->index : NULL;
}
