/* The kind stokes: products with banded matrices, one direction at a time. */
#include "operator/stokes/stokes_operator.h"
#include <stdio.h>
#include <string.h>
#include "device/copies.h"
#include "device/kernel.h"
#include "operator/form.h"
#include "operator/stokes/stokes_device.h"
#include "space/rt_device.h"

static void *at(const TesOperator *op, const void *v, int64_t entry) {
  return (char *)v + entry * (int64_t)tesi_precision_size(op->precision);
}

/* y <- keep y + factor (band in direction d) x, x a vector of a scalar. */
static void product(const TesOperator *op, const TesiBand *band, int scalar, int d, double factor, bool keep,
                    const void *x, void *y) {
  const TesiAxis *axis = op->space->scalar[scalar]->axis;
  TesiBandProduct p = {.band = band, .outer = 1, .inner = 1, .factor = factor, .keep = keep};
  for (int e = 0; e < d; e++) p.inner *= axis[e].nodes;
  for (int e = d + 1; e < 3; e++) p.outer *= axis[e].nodes;
  tesi_band_product(op->context, &p, op->precision == TES_SINGLE, x, y);
}

/* y <- y + sign (A u)_i. */
static TesStatus add_component(const TesOperator *op, int i, double sign, const void *u, void *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokes *s = tesi_stokes_of(op);
  const TesiDevice *device = tesi_context_device(ctx);
  const int64_t size = s->space->scalar[i]->length;
  bool keep = false;
  for (int a = 0; a < s->space->dim; a++) {
    if (a == i) continue;
    product(op, &s->axis[a].penalty, i, a, s->nu, keep, u, s->work);
    keep = true;
  }
  if (s->alpha != 0) TES_TRY(device->axpy(ctx, size, s->alpha, op->precision, u, op->precision, s->work));
  product(op, &s->axis[i].mass, i, i, sign, true, s->work, y);
  product(op, &s->axis[i].stiffness, i, i, sign * s->nu, true, u, y);
done:
  return status;
}

/* y <- y + sign K x. */
static TesStatus add(const TesOperator *op, double sign, const void *x, void *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokes *s = tesi_stokes_of(op);
  const TesSpace *space = s->space;
  const int last = space->dim;
  for (int i = 0; i < space->dim; i++) {
    const void *u = at(op, x, space->first[i]), *p = at(op, x, space->first[last]);
    void *to = at(op, y, space->first[i]), *to_p = at(op, y, space->first[last]);
    TES_TRY(add_component(op, i, sign, u, to));
    product(op, &s->axis[i].transposed, last, i, -sign, true, p, to);
    product(op, &s->axis[i].derivative, i, i, -sign, true, u, to_p);
  }
done:
  return status;
}

static TesStatus add_mass(const TesOperator *op, double factor, const TesVector *x, TesVector *y) {
  const TesiStokes *s = tesi_stokes_of(op);
  if (s->device) return tesi_stokes_device_add_mass(op, factor, x->data, y->data);
  for (int i = 0; i < s->space->dim; i++)
    product(op, &s->axis[i].mass, i, i, factor, true, at(op, x->data, s->space->first[i]),
            at(op, y->data, s->space->first[i]));
  return TES_OK;
}

/* On several ranks each side of a cut has a part of the product at its nodes. */
TesStatus tesi_stokes_add_mass(const TesOperator *op, double factor, const TesVector *x, TesVector *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesVector *product = NULL;
  if (!op->local) return add_mass(op, factor, x, y);
  TES_TRY(tesi_vector_create_on(op->space->layout, TES_DOUBLE, &product));
  TES_TRY(add_mass(op, 1, x, product));
  TES_TRY(tesi_sum_copies(ctx, op->space->layout->sum, TES_DOUBLE, product->data));
  TES_TRY(tes_vector_axpy(factor, product, y));
done:
  tes_vector_destroy(&product);
  return status;
}

TesStatus tesi_stokes_divergence(const TesOperator *op, const TesVector *u, TesVector *r, double *stretching) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokes *s = tesi_stokes_of(op);
  TesVector *derivative = NULL, to = tesi_space_range(op->space, r, op->space->dim);
  double norm;
  if (s->device) return tesi_stokes_device_divergence(op, u->data, to.data, stretching);
  *stretching = 0;
  TES_TRY(tes_vector_create(ctx, to.length, TES_DOUBLE, &derivative));
  TES_TRY(tes_vector_fill(&to, 0));
  for (int i = 0; i < s->space->dim; i++) {
    product(op, &s->axis[i].derivative, i, i, 1, false, at(op, u->data, s->space->first[i]), derivative->data);
    TES_TRY(tes_vector_norm(derivative, &norm));
    *stretching += norm * norm;
    TES_TRY(tes_vector_axpy(1, derivative, &to));
  }
done:
  tes_vector_destroy(&derivative);
  return status;
}

static TesStatus apply(const TesOperator *op, const void *x, void *y) {
  if (tesi_stokes_of(op)->device) return tesi_stokes_device_add(op, NULL, 1, x, y);
  memset(y, 0, (size_t)op->length * tesi_precision_size(op->precision));
  return add(op, 1, x, y);
}

static TesStatus residual(const TesOperator *op, const void *b, const void *x, void *r) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  if (tesi_stokes_of(op)->device) return tesi_stokes_device_add(op, b, -1, x, r);
  if (r != b) TES_TRY(tesi_context_device(ctx)->copy(ctx, op->length, 1, op->precision, b, op->precision, r));
  TES_TRY(add(op, -1, x, r));
done:
  return status;
}

static TesStatus ready_single(const TesOperator *op, TesPrecision of_y, bool *ready) {
  *ready = op->precision == TES_DOUBLE && tesi_stokes_of(op)->device;
  return *ready ? tesi_stokes_device_ready_single(op, of_y) : TES_OK;
}

static double diagonal_entry(const TesiStokes *s, int i, int64_t j) {
  const TesiAxis *a = &s->axis[i].nodal;
  const int extent[3] = TESI_EXTENT(s->space->scalar[i]);
  const int node[3] = {(int)(j % extent[0]), (int)(j / extent[0] % extent[1]),
                       (int)(j / extent[0] / extent[1])};
  double sum = s->alpha;
  for (int e = 0; e < s->space->dim; e++)
    if (e != i) sum += s->nu * tesi_band_entry(&s->axis[e].penalty, node[e], node[e]);
  if (node[i] < tesi_axis_first(a) || node[i] >= tesi_axis_end(a)) return 1;
  return sum * tesi_band_entry(&s->axis[i].mass, node[i], node[i]) +
         s->nu * tesi_band_entry(&s->axis[i].stiffness, node[i], node[i]);
}

/* 0 for the pressure. Computed on the host, then copied. */
static TesStatus diagonal(const TesOperator *op, void *d) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokes *s = tesi_stokes_of(op);
  const TesSpace *space = s->space;
  double *exact = NULL;
  TES_ALLOC(&exact, op->length);
  for (int i = 0; i < space->dim; i++)
    for (int64_t j = 0; j < space->scalar[i]->length; j++)
      exact[space->first[i] + j] = diagonal_entry(s, i, j);
  TES_TRY(tesi_operator_set(op, exact, d));
done:
  tesi_free(ctx, &exact);
  return status;
}

/* Columns of known nodes count; their rows do not. */
static TesStatus lift(const TesOperator *op, const TesVector *u, TesVector *b) {
  return residual(op, b->data, u->data, b->data);
}

static TesCost cost(const TesOperator *op) {
  const TesiStokes *s = tesi_stokes_of(op);
  const double n = s->space->degree + 1, dim = s->space->dim,
               velocity = (double)s->space->first[s->space->dim];
  return (TesCost){.flops = velocity * (2 * (3 * n * (dim - 1) + 4 * n + 2 * n) + 2),
                   .bytes = 2.0 * (double)op->length * (double)tesi_precision_size(op->precision)};
}

static void destroy(TesOperator *op) {
  TesContext *ctx = op->context;
  TesiStokes *s = op->data;
  if (!s) return;
  for (int d = 0; d < 3; d++) tesi_stokes_axis_free(ctx, &s->axis[d]);
  if (s->work) tesi_context_device(ctx)->release(ctx, &s->work);
  tesi_stokes_device_destroy(ctx, &s->device);
  tes_vector_destroy(&op->null);
  tesi_free(ctx, &op->data);
}

static const TesiOperatorTable table = {.apply = apply,
                                        .residual = residual,
                                        .ready_single = ready_single,
                                        .apply_single = tesi_stokes_device_apply_single,
                                        .diagonal = diagonal,
                                        .lift = lift,
                                        .apply_ref = tesi_stokes_apply_ref,
                                        .cost = cost,
                                        .destroy = destroy};

static const char *refuses(const TesOperatorDesc *desc) {
  double value;
  if (!desc->space || !desc->space->element->with_pressure) return "the space is not of element rt";
  for (int i = 0; i < desc->form.terms; i++)
    if (!tesi_coefficient_constant(&desc->form.term[i].a, 0, &value)) return "a coefficient is not constant";
  return NULL;
}

/* The constant pressure; cycles in float32 do not ask for it. In coefficients the function 1 is sqrt(volume of the
 * cell) at mode 0 of each cell. */
TesStatus tesi_stokes_create_null(TesOperator *op) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesSpace *space = tesi_stokes_of(op)->space;
  if (op->precision == TES_SINGLE) return TES_OK;
  op->null_first = space->first[space->scalars - 1];
  TES_TRY(tes_vector_create(ctx, op->length - op->null_first, TES_DOUBLE, &op->null));
  TES_TRY(tesi_rt_constant_on(ctx, space, op->null->data, &op->null_square));
done:
  return status;
}

/* Component i may contain an arbitrary constant if its own direction is open or periodic, and no face of another
 * direction prescribes the component. */
TesStatus tesi_stokes_check_determined(const TesOperator *op) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokes *s = tesi_stokes_of(op);
  for (int i = 0; i < s->space->dim; i++) {
    bool held = s->alpha > 0;
    for (int d = 0; d < s->space->dim; d++)
      for (int end = 0; end < 2; end++) held = held || s->space->scalar[i]->axis[d].end[end] != TESI_OPEN;
    held = tesi_reduce_any(ctx, held);
    TES_CHECK(held,
              "boundary: nothing fixes the velocity in direction %c: it is periodic or open at both ends, no "
              "face of another "
              "direction has a velocity, and alpha = 0. Give a velocity, or alpha > 0",
              "xyz"[i]);
  }
done:
  return status;
}

TesStatus tesi_stokes_take_constants(const TesOperator *op, const char *diffusion, const char *mass,
                                     TesiStokes *s) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesTermDesc *nu = tesi_form_term(&op->desc.form, TES_TERM_DIFFUSION, 0),
                    *alpha = tesi_form_term(&op->desc.form, TES_TERM_MASS, 0);
  s->space = op->space;
  s->nu = 1;
  if (nu) tesi_coefficient_constant(&nu->a, 0, &s->nu);
  if (alpha) tesi_coefficient_constant(&alpha->a, 0, &s->alpha);
  TES_CHECK(s->nu > 0, "%s%s is %g, expected > 0", tesi_function_where(nu ? nu->a.all : NULL), diffusion,
            s->nu);
  TES_CHECK(s->alpha >= 0, "%s%s is %g, expected >= 0", tesi_function_where(alpha ? alpha->a.all : NULL),
            mass, s->alpha);
done:
  return status;
}

static TesStatus init(TesOperator *op) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiStokes *s;
  op->table = &table;
  TES_NEW(&s);
  op->data = s;
  TES_TRY(tesi_stokes_take_constants(op, "the viscosity nu", "alpha", s));
  TES_TRY(tesi_stokes_check_determined(op));
  int64_t largest = 0;
  for (int d = 0; d < s->space->dim; d++) {
    TES_TRY(tesi_stokes_axis_create(s->space, d, op->desc.form.penalty, &s->axis[d]));
    if (s->space->scalar[d]->length > largest) largest = s->space->scalar[d]->length;
  }
  TES_TRY(tesi_has_kernels(ctx) ? tesi_stokes_device_create(op, &s->device)
                                : tesi_context_device(ctx)->allocate(
                                      ctx, (size_t)largest * tesi_precision_size(op->precision), &s->work));
  op->singular = tesi_space_closed(s->space);
  if (op->singular) TES_TRY(tesi_stokes_create_null(op));
  snprintf(op->description, sizeof op->description, "stokes: velocity and pressure of RT_%d, sum-factorised",
           op->space->degree);
done:
  return status;
}

const TesiOperatorKind tesi_operator_stokes = {.name = "stokes",
                                               .takes = TESI_TERM(DIFFUSION) | TESI_TERM(MASS) |
                                                        TESI_TERM(DIVERGENCE),
                                               .needs = TESI_TERM(DIFFUSION) | TESI_TERM(DIVERGENCE),
                                               .refuses = refuses,
                                               .init = init};
