/* The kind stokes_varying: nu at quadrature points, and loops over rows of cells. */
#include "operator/stokes_varying/stokes_varying.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/real.h"
#include "base/team.h"
#include "device/kernel.h"
#include "operator/form.h"
#include "operator/stokes_varying/stokes_varying_device.h"

/* ---- the viscosity ------------------------------------------------------------------------------------- */

/* Values at points x[3][count]. */
static TesStatus take_nu(TesContext *ctx, const TesFunction *f, int count, const double *x, double *nu) {
  TesStatus status = TES_OK;
  for (int q = 0; q < count && !f; q++) nu[q] = 1;
  if (f) TES_TRY(tes_function_evaluate(f, count, x, x + count, x + 2 * count, 0, nu));
  for (int q = 0; q < count; q++)
    TES_CHECK(nu[q] > 0, "%sthe viscosity nu is not positive at (%.6g, %.6g, %.6g)", tesi_function_where(f),
              x[q], x[count + q], x[2 * count + q]);
done:
  return status;
}

/* Points of a face. Points of inner faces lie slightly inside the cell, so that a jump of nu along the face has two
 * sides. */
static void face_points(const TesiStokesVarying *s, const int cell[3], int d, int end, double *x) {
  const TesSpace *space = s->stokes.space;
  const TesiAxis *normal = tesi_modal(space, d);
  const bool inner = normal->periodic || (end ? cell[d] + 1 < normal->cells : cell[d] > 0);
  const double aside = inner ? 1e-9 : 0;
  for (int q = 0; q < s->face_points; q++) {
    int rest = q;
    for (int a = 0; a < 3; a++) {
      double xi = 0;
      if (a == d)
        xi = end ? 1 - aside : aside;
      else if (a < space->dim)
        xi = s->cell.x[rest % s->cell.points], rest /= s->cell.points;
      x[a * s->face_points + q] =
          a < space->dim ? tesi_modal(space, a)->vertices[cell[a]] + xi * tesi_modal(space, a)->h[cell[a]] : 0;
    }
  }
}

static TesStatus fill_cell(TesiStokesVarying *s, TesContext *ctx, const TesFunction *f, int64_t number,
                           double *x) {
  TesStatus status = TES_OK;
  const TesSpace *space = s->stokes.space;
  int cell[3];
  double *nu = s->nu + number * s->points, *w = x + 3 * s->points, sum = 0, volume = 0;
  tesi_rt_cell(space, number, cell);
  tesi_rt_points(space, &s->cell, cell, x, w);
  TES_TRY(take_nu(ctx, f, s->points, x, nu));
  s->least[number] = s->largest[number] = nu[0];
  for (int q = 0; q < s->points; q++) {
    sum += w[q] * nu[q], volume += w[q];
    s->least[number] = fmin(s->least[number], nu[q]);
    s->largest[number] = fmax(s->largest[number], nu[q]);
  }
  s->mean[number] = sum / volume;
  for (int side = 0; side < 2 * space->dim; side++) {
    face_points(s, cell, side / 2, side % 2, x);
    TES_TRY(take_nu(ctx, f, s->face_points, x, s->face_nu + (number * 2 * space->dim + side) * s->face_points));
  }
done:
  return status;
}

/* Inner faces get the harmonic mean of the values on both sides. */
static void join_faces(TesiStokesVarying *s, int64_t cells) {
  const TesSpace *space = s->stokes.space;
  int64_t step = 1;
  for (int d = 0; d < space->dim; step *= tesi_modal(space, d++)->cells)
    for (int64_t number = 0; number < cells; number++) {
      const TesiAxis *a = tesi_modal(space, d);
      int cell[3];
      tesi_rt_cell(space, number, cell);
      if (cell[d] + 1 == a->cells && !a->periodic) continue;
      const int64_t next = number + (cell[d] + 1 < a->cells ? step : step * (1 - a->cells));
      double *low = s->face_nu + (number * 2 * space->dim + 2 * d + 1) * s->face_points,
             *high = s->face_nu + (next * 2 * space->dim + 2 * d) * s->face_points;
      for (int q = 0; q < s->face_points; q++) low[q] = high[q] = 2 * low[q] * high[q] / (low[q] + high[q]);
    }
}

static TesStatus fill_nu(TesOperator *op, TesiStokesVarying *s, const TesFunction *f) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesSpace *space = s->stokes.space;
  const int64_t cells = tesi_rt_cells(space);
  double *x = NULL;
  TES_ALLOC(&s->nu, cells * s->points);
  TES_ALLOC(&s->face_nu, cells * 2 * space->dim * s->face_points);
  TES_ALLOC(&s->mean, cells);
  TES_ALLOC(&s->least, cells);
  TES_ALLOC(&s->largest, cells);
  TES_ALLOC(&x, 4 * s->points);
  s->stokes.nu = 0;
  for (int64_t c = 0; c < cells; c++) {
    TES_TRY(fill_cell(s, ctx, f, c, x));
    s->stokes.nu += s->mean[c] / (double)cells;
  }
  join_faces(s, cells);
done:
  tesi_free(ctx, &x);
  return status;
}

/* ---- products ------------------------------------------------------------------------------------------ */

/* Rows of cells along x with one colour in y and z share no unknowns; periodic directions with an odd number of cells
 * have a third colour. */
static int colour_of(const TesiAxis *a, int cell) {
  return a->periodic && a->cells % 2 && cell == a->cells - 1 ? 2 : cell % 2;
}

typedef struct Rows {
  const TesiStokesVarying *s;
  const double *x;
  double *y, *work;
  int64_t share;
  int colour;
} Rows;

static void add_rows(const void *data, TesiSpan span) {
  const Rows *r = data;
  const TesiAxis *a = tesi_space_last(r->s->stokes.space)->axis;
  for (int64_t row = span.first; row < span.end; row++) {
    const int y = (int)(row % a[1].cells), z = (int)(row / a[1].cells);
    if (colour_of(&a[1], y) + 3 * colour_of(&a[2], z) != r->colour) continue;
    for (int x = 0; x < a[0].cells; x++)
      tesi_stokes_varying_cell(r->s, (const int[]){x, y, z}, r->x, r->work + span.thread * r->share, r->y);
  }
}

/* s->y <- K s->x. */
static TesStatus multiply(const TesOperator *op) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokesVarying *s = tesi_stokes_varying_of(op);
  const TesiAxis *a = tesi_space_last(s->stokes.space)->axis;
  const int threads = tesi_team_threads(ctx, 64 * op->length);
  Rows rows = {.s = s, .x = s->x, .y = s->y, .share = tesi_stokes_varying_work(s)};
  TES_ALLOC(&rows.work, threads * rows.share);
  memset(s->y, 0, sizeof *s->y * (size_t)op->length);
  for (; rows.colour < 9; rows.colour++)
    tesi_team_share(threads, (int64_t)a[1].cells * a[2].cells, 1, add_rows, &rows);
  tesi_rt_clear(s->stokes.space, s->y);
done:
  tesi_free(ctx, &rows.work);
  return status;
}

static void widen(const TesOperator *op, const void *from, double *to) {
  for (int64_t i = 0; i < op->length; i++) to[i] = tesi_number_get(op->precision, from, i);
}

/* y <- b - K x, or K x where b is NULL. */
static TesStatus compute(const TesOperator *op, const void *b, const void *x, void *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokesVarying *s = tesi_stokes_varying_of(op);
  if (s->device) return tesi_stokes_varying_device_add(op, b, b ? -1 : 1, x, y);
  widen(op, x, s->x);
  TES_TRY(multiply(op));
  for (int64_t i = 0; i < op->length; i++)
    if (op->precision == TES_DOUBLE)
      ((double *)y)[i] = b ? ((const double *)b)[i] - s->y[i] : s->y[i];
    else
      ((float *)y)[i] = (float)(b ? (double)((const float *)b)[i] - s->y[i] : s->y[i]);
done:
  return status;
}

static TesStatus apply(const TesOperator *op, const void *x, void *y) {
  return compute(op, NULL, x, y);
}

static TesStatus residual(const TesOperator *op, const void *b, const void *x, void *r) {
  return compute(op, b, x, r);
}

/* Known nodes of u count as columns; their rows are zero. */
static TesStatus lift(const TesOperator *op, const TesVector *u, TesVector *b) {
  return compute(op, b->data, u->data, b->data);
}

/* Entry by entry, from the cells that have the entry; 1 at known nodes, 0 for the pressure. Computed on the host,
 * then copied. */
static TesStatus diagonal(const TesOperator *op, void *d) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokesVarying *s = tesi_stokes_varying_of(op);
  const TesSpace *space = s->stokes.space;
  double *one = NULL, *work = NULL, *all = NULL;
  TES_ALLOC(&all, op->length);
  TES_ALLOC(&one, 2 * op->length);
  TES_ALLOC(&work, tesi_stokes_varying_work(s));
  for (int64_t j = 0; j < op->length; j++) {
    double entry = 0;
    int part = 0, cell[2][3] = {{0}}, cells = 1;
    while (j >= space->first[part + 1]) part++;
    int64_t rest = j - space->first[part];
    bool known = false;
    for (int a = 0; a < space->dim; a++) {
      const int at = (int)(rest % space->scalar[part]->axis[a].nodes), c = at / (space->degree + 1);
      const TesiAxis *axis = &space->scalar[part]->axis[a];
      rest /= space->scalar[part]->axis[a].nodes;
      cell[0][a] = cell[1][a] = tesi_min(c, axis->cells - 1);
      if (a != part) continue;
      known = at < tesi_axis_first(axis) || at >= tesi_axis_end(axis);
      if (at % (space->degree + 1) || (!axis->periodic && (c == 0 || c == axis->cells))) continue;
      cells = 2, cell[1][a] = (c + axis->cells - 1) % axis->cells;
    }
    TES_TRY(tesi_stokes_varying_matrix(ctx, s, cells, (const int(*)[3])cell, 1, &j, one, work, &entry));
    all[j] = known ? 1 : entry;
  }
  TES_TRY(tesi_operator_set(op, all, d));
done:
  tesi_free(ctx, &all);
  tesi_free(ctx, &one);
  tesi_free(ctx, &work);
  return status;
}

/* A cell: dim^2 gradients and as many tests; each inner face: about 8 evaluations per component. */
static TesCost cost(const TesOperator *op) {
  const TesiStokesVarying *s = tesi_stokes_varying_of(op);
  const TesSpace *space = s->stokes.space;
  const double dim = space->dim, cells = (double)tesi_rt_cells(space), n = space->degree + 1,
               evaluation = 2 * dim * s->points * (n + 0.5),
               faces = 2 * dim * (dim - 1) * (s->symmetric ? 9 : 6) * 2 * dim * s->face_points * (n + 0.5);
  return (TesCost){.flops = cells * ((2 * dim * dim + 2) * evaluation + faces),
                   .bytes = 2.0 * (double)op->length * (double)tesi_precision_size(op->precision) +
                            8 * cells * (s->points + 2 * dim * s->face_points)};
}

/* ---- creation ------------------------------------------------------------------------------------------ */

static void destroy(TesOperator *op) {
  TesContext *ctx = op->context;
  TesiStokesVarying *s = op->data;
  if (!s) return;
  double **const arrays[] = {&s->nu, &s->face_nu, &s->mean, &s->least, &s->largest, &s->x, &s->y};
  for (int i = 0; i < 7; i++) tesi_free(ctx, arrays[i]);
  for (int d = 0; d < 3; d++) tesi_stokes_axis_free(ctx, &s->stokes.axis[d]);
  tesi_stokes_varying_device_destroy(ctx, &s->device);
  tes_vector_destroy(&op->null);
  tesi_free(ctx, &op->data);
}

static const TesiOperatorTable table = {.apply = apply,
                                        .residual = residual,
                                        .diagonal = diagonal,
                                        .lift = lift,
                                        .apply_ref = tesi_stokes_varying_apply_ref,
                                        .cost = cost,
                                        .destroy = destroy};

static const char *refuses(const TesOperatorDesc *desc) {
  double value;
  const TesForm *form = &desc->form;
  const TesTermDesc *mass = tesi_form_term(form, TES_TERM_MASS, 0);
  if (!desc->space || !desc->space->element->with_pressure) return "the space is not of element rt";
  if (!tesi_form_term(form, TES_TERM_STRAIN, 0) == !tesi_form_term(form, TES_TERM_DIFFUSION, 0))
    return "the form has not one of a diffusion and a strain term";
  return mass && !tesi_coefficient_constant(&mass->a, 0, &value) ? "the mass term is not constant" : NULL;
}

static TesStatus init(TesOperator *op) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesForm *form = &op->desc.form;
  const TesTermDesc *strain = tesi_form_term(form, TES_TERM_STRAIN, 0),
                    *nu = strain ? strain : tesi_form_term(form, TES_TERM_DIFFUSION, 0),
                    *alpha = tesi_form_term(form, TES_TERM_MASS, 0);
  TesiStokesVarying *s;
  op->table = &table;
  TES_NEW(&s);
  op->data = s;
  s->stokes.space = op->space;
  s->symmetric = strain != NULL;
  s->penalty = s->symmetric ? form->penalty | TESI_PENALTY_DOUBLED : form->penalty;
  if (alpha) tesi_coefficient_constant(&alpha->a, 0, &s->stokes.alpha);
  TES_CHECK(s->stokes.alpha >= 0, "alpha is %g, expected >= 0", s->stokes.alpha);
  TES_TRY(tesi_stokes_check_determined(op));
  for (int d = 0; d < s->stokes.space->dim; d++)
    TES_TRY(tesi_stokes_axis_create(op->space, d, s->penalty, &s->stokes.axis[d]));
  const int n = s->stokes.space->degree + 1, q = n + 2;
  tesi_rt_tables(n, q, &s->cell);
  for (int end = 0; end < 2; end++) tesi_rt_tables_at(n, 1, &(double){end}, &s->end[end]);
  s->face_points = op->space->dim == 2 ? q : q * q;
  s->points = s->face_points * q;
  TES_TRY(fill_nu(op, s, nu ? nu->a.all : NULL));
  if (tesi_has_kernels(ctx)) {
    TES_TRY(tesi_stokes_varying_device_create(op, &s->device));
  } else {
    TES_ALLOC(&s->x, op->length);
    TES_ALLOC(&s->y, op->length);
  }
  op->singular = tesi_space_closed(s->stokes.space);
  if (op->singular) TES_TRY(tesi_stokes_create_null(op));
  snprintf(op->description, sizeof op->description,
           "stokes: velocity and pressure of RT_%d, %s gradient, nu at %d points per cell", op->space->degree,
           s->symmetric ? "symmetric" : "whole", s->points);
done:
  return status;
}

const TesiOperatorKind tesi_operator_stokes_varying = {.name = "stokes_varying",
                                                       .takes = TESI_TERM(DIFFUSION) | TESI_TERM(STRAIN) |
                                                                TESI_TERM(MASS) | TESI_TERM(DIVERGENCE),
                                                       .needs = TESI_TERM(DIVERGENCE),
                                                       .refuses = refuses,
                                                       .init = init};
