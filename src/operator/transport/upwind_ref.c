/* Transport between discontinuous elements from its definition: point by point, function by function. */
#include <math.h>
#include "operator/dg/dg_modes.h"
#include "operator/form.h"
#include "operator/transport/transport_operator.h"

typedef struct Plain {
  const TesSpace *space;
  const TesTermDesc *term;
  int q;
  double point[TESI_MAX_POINTS], weight[TESI_MAX_POINTS];
  const double *x;
  double *y;
} Plain;

/* w: the weight. At a face xi[normal] is fixed. */
static void place(const Plain *p, const int cell[3], int number, int normal, double xi[3], double at[3],
                  double *w) {
  *w = 1;
  for (int d = 0; d < 3; d++) {
    at[d] = 0;
    if (d >= p->space->dim) continue;
    const TesiAxis *a = &p->space->axis[d];
    if (d != normal) {
      xi[d] = p->point[number % p->q];
      *w *= p->weight[number % p->q] * a->h[cell[d]];
      number /= p->q;
    }
    at[d] = xi[d] == 1 ? a->vertices[cell[d] + 1] : a->vertices[cell[d]] + xi[d] * a->h[cell[d]];
  }
}

static TesStatus value_of(const TesFunction *f, const double at[3], double *value) {
  *value = 0;
  return f ? tes_function_evaluate(f, 1, &at[0], &at[1], &at[2], 0, value) : TES_OK;
}

static TesStatus add_cell(const Plain *p, const int cell[3]) {
  TesContext *ctx = p->space->context;
  TesStatus status = TES_OK;
  const int dim = p->space->dim, points = dim == 2 ? p->q * p->q : p->q * p->q * p->q;
  for (int i = 0; i < points; i++) {
    TesiDgModes m;
    double xi[3] = {0}, at[3], w, b, convection = 0;
    place(p, cell, i, -1, xi, at, &w);
    tesi_dg_modes(p->space, cell, xi, &m);
    const double u = tesi_dg_visit(&m, -1, p->x, 0, NULL);
    for (int d = 0; d < dim; d++) {
      TES_TRY(value_of(p->term->b[d], at, &b));
      convection += b * tesi_dg_visit(&m, d, p->x, 0, NULL);
      if (p->term->conservative) tesi_dg_visit(&m, d, NULL, -w * u * b, p->y);
    }
    if (!p->term->conservative) tesi_dg_visit(&m, -1, NULL, w * convection, p->y);
  }
done:
  return status;
}

/* The flux at a point of a face of a cell, u inside and e behind it; e NaN: there is no cell behind. */
static double flux(const Plain *p, int face, double speed, double u, double e) {
  const bool conservative = p->term->conservative, through = p->term->through && p->term->through[face],
             inwards = speed < 0;
  const double given = 0;
  if (!isnan(e) || tes_space_given(p->space, face)) {
    const double behind = isnan(e) ? given : e;
    return conservative ? speed * (inwards ? behind : u) : inwards ? speed * (behind - u) : 0;
  }
  if (conservative) return through ? speed * u : 0;
  return through ? -speed * u : 0;
}

static TesStatus add_face(const Plain *p, const int cell[3], int face) {
  TesContext *ctx = p->space->context;
  TesStatus status = TES_OK;
  const int dim = p->space->dim, d = face / 2, points = dim == 2 ? p->q : p->q * p->q;
  const TesiAxis *a = &p->space->axis[d];
  int next[3] = {cell[0], cell[1], cell[2]};
  next[d] += face % 2 ? 1 : -1;
  const bool out = next[d] < 0 || next[d] >= a->cells;
  if (out && a->periodic) next[d] = face % 2 ? 0 : a->cells - 1;
  for (int i = 0; i < points; i++) {
    TesiDgModes m, behind;
    double xi[3] = {0}, at[3], w, b, e = NAN;
    xi[d] = face % 2;
    place(p, cell, i, d, xi, at, &w);
    if (out && a->periodic) at[d] = a->vertices[0];
    tesi_dg_modes(p->space, cell, xi, &m);
    TES_TRY(value_of(p->term->b[d], at, &b));
    if (!out || a->periodic) {
      xi[d] = 1 - face % 2;
      tesi_dg_modes(p->space, next, xi, &behind);
      e = tesi_dg_visit(&behind, -1, p->x, 0, NULL);
    }
    const double u = tesi_dg_visit(&m, -1, p->x, 0, NULL);
    tesi_dg_visit(&m, -1, NULL, w * flux(p, face, face % 2 ? b : -b, u, e), p->y);
  }
done:
  return status;
}

TesStatus tesi_upwind_apply_ref(const TesOperator *op, const double *x, double *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  Plain p = {.space = op->space,
             .term = tesi_form_term(&op->desc.form, TES_TERM_TRANSPORT, 0),
             .q = tesi_transport_of(op)->batches->q,
             .x = x,
             .y = y};
  const TesiAxis *a = p.space->axis;
  tesi_gauss(p.q, p.point, p.weight);
  for (int c = 0; c < a[0].cells * a[1].cells * a[2].cells; c++) {
    const int cell[3] = {c % a[0].cells, c / a[0].cells % a[1].cells, c / a[0].cells / a[1].cells};
    TES_TRY(add_cell(&p, cell));
    for (int f = 0; f < 2 * p.space->dim; f++) TES_TRY(add_face(&p, cell, f));
  }
done:
  return status;
}
