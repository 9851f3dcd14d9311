/* The kind elasticity. An operator of kind mapped over all nodes of one component provides batches and tables. */
#include "operator/elasticity/elasticity.h"
#include <stdio.h>
#include <string.h>
#include "base/real.h"
#include "base/simd_builds.h"
#include "base/team.h"
#include "device/kernel.h"
#include "operator/form.h"
#include "operator/mapped/mapped_robin.h"
#include "parallel/comm.h"

static void *entry(const TesOperator *op, const void *vector, int component) {
  return (char *)vector + (size_t)op->space->part_first[component] * tesi_precision_size(op->precision);
}

/* ---- the table ----------------------------------------------------------------------------------------- */

/* y <- b + sign A x with x as given, values at constrained nodes included; rows of constrained nodes have no
 * meaning. */
static void run(const TesOperator *op, double sign, const void *b, const void *x, void *y) {
  const TesiElasticity *e = op->plan;
  tesi_mapped_host_run(&e->host, sign, b, x, y);
  for (int c = 0; c < op->space->dim; c++)
    if (e->springs[c])
      tesi_robin_add(e->springs[c], op->precision, sign, true, entry(op, x, c), entry(op, y, c));
}

double tesi_elasticity_poisson(const TesOperator *op) {
  return ((const TesiElasticity *)op->plan)->poisson;
}

TesStatus tesi_elasticity_apply_whole(const TesOperator *op, const TesVector *x, TesVector *y) {
  const TesiElasticity *e = op->plan;
  if (e->device) {
    const TesStatus status = tes_vector_fill(y, 0);
    return status == TES_OK ? tesi_elasticity_device_add(op->context, e->device, true, 1, x->data, y->data)
                            : status;
  }
  tesi_mapped_host_run(&e->host, 1, NULL, x->data, y->data);
  return TES_OK;
}

/* Returns x if it is zero at constrained nodes, as it nearly always is; else a copy that is zero there, also in
 * *copy. */
static TesStatus clear(const TesOperator *op, const void *x, void **copy, const void **cleared) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiElasticity *e = op->plan;
  const size_t size = tesi_precision_size(op->precision);
  int64_t i = 0;
  *cleared = x;
  while (i < e->constrained && tesi_number_get(op->precision, x, e->list[i]) == 0) i++;
  if (i == e->constrained) return TES_OK;
  TES_TRY(tesi_alloc(ctx, (size_t)op->length, size, copy));
  memcpy(*copy, x, (size_t)op->length * size);
  for (i = 0; i < e->constrained; i++) tesi_number_set(op->precision, *copy, e->list[i], 0);
  *cleared = *copy;
done:
  return status;
}

/* y <- b + sign A x; rows of constrained nodes: b + sign x. */
static TesStatus run_cleared(const TesOperator *op, double sign, const void *b, const void *x, void *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiElasticity *e = op->plan;
  void *copy = NULL;
  const void *cleared;
  double *rows = NULL;
  TES_TRY(clear(op, x, &copy, &cleared));
  if (b) {
    TES_ALLOC(&rows, e->constrained);
    for (int64_t i = 0; i < e->constrained; i++) rows[i] = tesi_number_get(op->precision, b, e->list[i]);
  }
  run(op, sign, b, cleared, y);
  for (int64_t i = 0; i < e->constrained; i++)
    tesi_number_set(op->precision, y, e->list[i],
                    (b ? rows[i] : 0) + sign * tesi_number_get(op->precision, x, e->list[i]));
done:
  tesi_free(ctx, &rows);
  tesi_free(ctx, &copy);
  return status;
}

static TesStatus apply(const TesOperator *op, const void *x, void *y) {
  return run_cleared(op, 1, NULL, x, y);
}

static TesStatus residual(const TesOperator *op, const void *b, const void *x, void *r) {
  return run_cleared(op, -1, b, x, r);
}

static TesStatus diagonal(const TesOperator *op, void *d) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiElasticity *e = op->plan;
  double *values = NULL;
  TES_ALLOC(&values, op->length);
  TES_TRY(tesi_elasticity_diagonal(op, values));
  for (int c = 0; c < op->space->dim; c++)
    if (e->springs[c]) tesi_robin_add_diagonal(e->springs[c], values + op->space->part_first[c]);
  for (int64_t i = 0; i < e->constrained; i++) values[e->list[i]] = 1;
  TES_TRY(tesi_operator_set(op, values, d));
done:
  tesi_free(ctx, &values);
  return status;
}

/* On the host, since it is done once per solve. */
static void lift_springs(const TesOperator *op, const double *u, double *b) {
  const TesiElasticity *e = op->plan;
  for (int c = 0; c < op->space->dim; c++) {
    const int64_t first = op->space->part_first[c];
    if (e->springs[c]) tesi_robin_add(e->springs[c], TES_DOUBLE, -1, true, u + first, b + first);
  }
}

static TesStatus lift(const TesOperator *op, const TesVector *u, TesVector *b) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiElasticity *e = op->plan;
  double *values = NULL, *given = NULL;
  TesVector *r = NULL;
  TES_TRY(tes_vector_create(ctx, op->length, TES_DOUBLE, &r));
  TES_TRY(tesi_elasticity_apply_whole(op, u, r));
  TES_TRY(tes_vector_axpy(-1, r, b));
  TES_TRY(tesi_vector_read(b, &values));
  TES_TRY(tesi_vector_read(u, &given));
  lift_springs(op, given, values);
  for (int64_t i = 0; i < e->constrained; i++) values[e->list[i]] = 0;
  TES_TRY(tes_vector_set(b, values));
done:
  tes_vector_destroy(&r);
  tesi_free(ctx, &values);
  tesi_free(ctx, &given);
  return status;
}

static TesCost cost(const TesOperator *op) {
  const TesiElasticity *e = op->plan;
  const int dim = op->space->dim, n = op->space->degree + 1;
  const double cells = (double)op->space->mesh->cells, points = n * n * (dim == 3 ? n : 1.),
               size = (double)tesi_precision_size(op->precision);
  const double line =
      e->inner ? n : 2 * n; /* the host contracts by even-odd halves; I, D and their transposes */
  const double point = e->kind == TESI_ELASTIC_ALIGNED ? 2 * dim * dim : 4 * dim * dim * dim;
  const double numbers = cells * (e->kind == TESI_ELASTIC_POINTS ? points : 1) * e->entries;
  return (TesCost){.flops = cells * points * (4 * dim * dim * line + point + 4 * dim * dim),
                   .bytes = size * (2 * (double)op->length + numbers) + 4 * cells * points};
}

static void destroy(TesOperator *op) {
  TesiElasticity *e = op->plan;
  if (!e) return;
  tesi_free(op->context, &e->host.g);
  tesi_free(op->context, &e->host.work);
  tesi_free(op->context, &e->list);
  tesi_elasticity_device_destroy(op->context, &e->device);
  for (int c = 0; c < 3; c++) tes_operator_destroy(&e->springs[c]);
  tes_operator_destroy(&e->inner);
  tesi_free(op->context, &op->plan);
}

static const TesiOperatorTable table = {.apply = apply,
                                        .residual = residual,
                                        .diagonal = diagonal,
                                        .lift = lift,
                                        .apply_ref = tesi_elasticity_apply_ref,
                                        .cost = cost,
                                        .destroy = destroy};

/* ---- on devices ---------------------------------------------------------------------------------------- */

static TesStatus add_on_device(const TesOperator *op, double sign, const void *x, void *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiElasticity *e = op->plan;
  TES_TRY(tesi_elasticity_device_add(ctx, e->device, false, sign, x, y));
  for (int c = 0; c < op->space->dim; c++)
    if (e->springs[c]) TES_TRY(tesi_robin_add_here(e->springs[c], sign, entry(op, x, c), entry(op, y, c)));
done:
  return status;
}

static TesStatus apply_on_device(const TesOperator *op, const void *x, void *y) {
  const TesStatus status =
      tesi_context_device(op->context)->fill(op->context, op->precision, op->length, 0, y);
  return status == TES_OK ? add_on_device(op, 1, x, y) : status;
}

static TesStatus residual_on_device(const TesOperator *op, const void *b, const void *x, void *r) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  if (r != b) TES_TRY(tesi_context_device(ctx)->copy(ctx, op->length, 1, op->precision, b, op->precision, r));
  TES_TRY(add_on_device(op, -1, x, r));
done:
  return status;
}

static TesStatus subtract_on_device(const TesOperator *op, const void *x, void *r) {
  return add_on_device(op, -1, x, r);
}

static TesStatus diagonal_on_device(const TesOperator *op, void *d) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiElasticity *e = op->plan;
  TES_TRY(tesi_elasticity_device_diagonal(ctx, e->device, d));
  for (int c = 0; c < op->space->dim; c++)
    if (e->springs[c]) TES_TRY(tesi_robin_add_diagonal_here(e->springs[c], entry(op, d, c)));
done:
  return status;
}

static const TesiOperatorTable table_on_device = {.apply = apply_on_device,
                                                  .residual = residual_on_device,
                                                  .subtract = subtract_on_device,
                                                  .diagonal = diagonal_on_device,
                                                  .lift = lift,
                                                  .apply_ref = tesi_elasticity_apply_ref,
                                                  .cost = cost,
                                                  .destroy = destroy};

/* ---- set-up -------------------------------------------------------------------------------------------- */

static const char *refuses(const TesOperatorDesc *desc) {
  const TesSpace *space = desc->space;
  if (!space->element->nodal || space->product || space->scalars != space->dim)
    return "the space is not one of dim components of element q";
  return space->degree > TESI_MAPPED_DEGREE ? "the degree is above 15" : NULL;
}

/* The mass over all nodes of one component. Only its batches, chunks and tables are used, not its product. */
static TesStatus create_inner(const TesOperator *op, TesOperator **inner) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesSpace *whole = NULL;
  uint8_t *none = NULL;
  const TesMesh *mesh = op->space->mesh;
  const TesiGeometry *geometry;
  const TesTermDesc mass = {.term = TES_TERM_MASS};
  TES_TRY(tesi_mesh_geometry(mesh, &geometry));
  TES_ALLOC(&none, tes_mesh_boundaries(mesh) + 1);
  TES_TRY(tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = op->space->degree, .given = none},
                           &whole));
  TES_TRY(tes_operator_create(ctx,
                              &(TesOperatorDesc){.space = whole,
                                                 .form = {1, &mass, 0},
                                                 .precision = op->precision,
                                                 .points = op->space->degree + 1,
                                                 .factors = geometry->kind == TES_GEOMETRY_AFFINE
                                                                ? TES_FACTORS_AFFINE
                                                                : TES_FACTORS_STORED,
                                                 .kind = "mapped"},
                              inner));
done:
  tes_space_destroy(&whole);
  tesi_free(ctx, &none);
  return status;
}

/* The Robin terms of a component, in an operator whose mass is zero. */
static TesStatus create_springs(const TesOperator *op, int component, TesOperator **springs) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesForm *form = &op->desc.form;
  const TesSpace *part = op->space->part[component];
  TesTermDesc *term = NULL;
  TesFunction *zero = NULL;
  int terms = 1;
  TES_ALLOC(&term, form->terms + 1);
  for (int i = 0; i < form->terms; i++)
    if (form->term[i].term == TES_TERM_ROBIN && !tes_space_given(part, form->term[i].boundary))
      term[terms++] = form->term[i];
  if (terms == 1) goto done;
  TES_TRY(tes_function_create_constant(ctx, 0, &zero));
  term[0] = (TesTermDesc){.term = TES_TERM_MASS, .a = {.all = zero}};
  TES_TRY(tes_operator_create(
      ctx,
      &(TesOperatorDesc){.space = part, .form = {terms, term, 0}, .precision = op->precision, .kind = "mapped"},
      springs));
done:
  tesi_free(ctx, &term);
  tes_function_destroy(&zero);
  return status;
}

static TesStatus list_constrained(const TesOperator *op, TesiElasticity *e) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiCellView *view[3];
  int64_t at = 0;
  for (int c = 0; c < op->space->dim; c++) {
    TES_TRY(tesi_space_cells(op->space->part[c], &view[c]));
    e->constrained += view[c]->length - view[c]->dofs;
  }
  TES_ALLOC(&e->list, e->constrained);
  for (int c = 0; c < op->space->dim; c++)
    for (int64_t i = 0; i < view[c]->length - view[c]->dofs; i++)
      e->list[at++] = op->space->part_first[c] + view[c]->constrained[i];
done:
  return status;
}

/* The plan of the inner operator, with separate kernels, numbers and memory. */
static TesStatus take_host(const TesOperator *op, TesiElasticity *e) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const int dim = op->space->dim, n = op->space->degree + 1;
  e->host = *tesi_mapped_host_of(e->inner);
  e->host.g = NULL, e->host.work = NULL;
  e->host.vectors = dim;
  e->host.kernels =
      TESI_SIMD_PICK(tes_context_simd_bits(ctx), tesi_elasticity_kernels)(&e->host, op->precision);
  const size_t vector = (size_t)e->host.kernels.lanes * tesi_precision_size(op->precision);
  e->host.work_size = (size_t)(3 * dim * e->host.nodes + (3 * dim + 1) * n * n) * vector;
  e->host.work_size = (e->host.work_size + 4095) / 4096 * 4096 + 128;
  TES_TRY(tesi_alloc(ctx, (size_t)e->host.threads, e->host.work_size, &e->host.work));
done:
  return status;
}

static void describe(TesOperator *op, const TesiElasticity *e) {
  static const char *const names[] = {"at points", "affine", "aligned"};
  const int degree = op->space->degree;
  char how[80];
  int cells, threads;
  if (e->device) {
    tesi_elasticity_device_cut(e->device, &cells, &threads);
    snprintf(how, sizeof how, "%d cells per block of %d threads", cells, threads);
  } else {
    snprintf(how, sizeof how, "%s, %d lanes of cells", tesi_simd_word(e->host.kernels.specialised, degree, 8),
             e->host.kernels.lanes);
  }
  snprintf(op->description, sizeof op->description,
           "elasticity, degree %d, %d points, numbers %s, float%d, %s%s", degree, degree + 1, names[e->kind],
           op->precision == TES_DOUBLE ? 64 : 32, how, e->held ? "; springs" : "");
}

/* Creates batches and loops, or the arrays of a device; and the numbers. */
static TesStatus make_plan(const TesOperator *op, TesiElasticity *e) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  void *numbers = NULL;
  TES_TRY(list_constrained(op, e));
  if (tesi_has_kernels(ctx)) {
    TES_TRY(tesi_elasticity_fill(op, e, &numbers));
    TES_TRY(tesi_elasticity_device_create(op, numbers, &e->device));
  } else {
    TES_TRY(create_inner(op, &e->inner));
    TES_TRY(take_host(op, e));
    TES_TRY(tesi_elasticity_fill(op, e, NULL));
  }
done:
  tesi_free(ctx, &numbers);
  return status;
}

static TesStatus init(TesOperator *op) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiElasticity *e;
  op->table = tesi_has_kernels(ctx) ? &table_on_device : &table;
  TES_NEW(&e);
  op->plan = e;
  TES_TRY(make_plan(op, e));
  for (int c = 0; c < op->space->dim; c++) {
    TES_TRY(create_springs(op, c, &e->springs[c]));
    e->held = e->held || (e->springs[c] && tesi_robin_holds(e->springs[c]));
  }
  e->held = tesi_reduce_any(ctx, e->held);
  tesi_reduce(ctx, TESI_MAXIMUM, 1, &e->poisson);
  describe(op, e);
done:
  return status;
}

const TesiOperatorKind tesi_operator_elasticity = {.name = "elasticity",
                                                   .parts = true,
                                                   .takes = TESI_TERM(STRAIN) | TESI_TERM(GRAD_DIV) |
                                                            TESI_TERM(MASS) | TESI_TERM(ROBIN),
                                                   .needs = TESI_TERM(STRAIN),
                                                   .refuses = refuses,
                                                   .init = init};
