/* Coefficients of the quadrature form for a device, times weight and size of cell or side. Expressions are evaluated
 * in a kernel made from their text (src/kernels/coefficients.cu). Functions of the caller are evaluated at the Gauss
 * points on the host, in parallel, and copied part by part. Both are checked. */
#include <math.h>
#include "base/real.h"
#include "device/table_text.h"
#include "functional/device_text.h"
#include "operator/quadrature/quadrature_device.h"
#include "base/team.h"
#include "basis/gauss.h"

enum { N = TESI_MAX_DEGREE + 1, PART = 1 << 22 /* points on the host at a time, about */ };

/* The first value that is refused, in the order of storage. */
typedef struct Refusal {
  int64_t order; /* -1: none */
  double x[3], value;
} Refusal;

/* A box of cells, or of sides of a face: `fixed` is the direction that is one point (-1: none). */
typedef struct Points {
  const TesOperator *op;
  int n, fixed;
  double level;
  double point[N], weight[N];
  int64_t a_cell; /* points */
  int cells[3];
} Points;

bool tesi_coefficient_given(const TesFunction *function) {
  double value = 0;
  return function && !(tes_function_constant(function, &value) && value == 0);
}

static Points make_points(const TesOperator *op, int fixed, double level) {
  Points p = {.op = op, .n = op->space->degree + 1, .fixed = fixed, .level = level, .a_cell = 1};
  tesi_gauss(p.n, p.point, p.weight);
  for (int d = 0; d < 3; d++) {
    const bool there = d < op->space->dim && d != fixed;
    p.cells[d] = there ? op->space->axis[d].cells : 1;
    if (there) p.a_cell *= p.n;
  }
  return p;
}

/* Coordinates and weights of the points of cell `number`: [z][y][x]; a missing direction has one point. */
static void place(const Points *p, int64_t number, double *x[3], double *weight) {
  int64_t cell[3] = {number % p->cells[0], number / p->cells[0] % p->cells[1],
                     number / p->cells[0] / p->cells[1]};
  for (int64_t q = 0; q < p->a_cell; q++) {
    int64_t rest = q;
    weight[q] = 1;
    for (int d = 0; d < 3; d++) {
      const TesiAxis *axis = &p->op->space->axis[d];
      x[d][q] = d == p->fixed ? p->level : 0;
      if (d >= p->op->space->dim || d == p->fixed) continue;
      const int i = (int)(rest % p->n);
      rest /= p->n;
      x[d][q] = axis->x[cell[d] * axis->degree] + axis->h[cell[d]] * p->point[i];
      weight[q] *= p->weight[i] * axis->h[cell[d]];
    }
  }
}

typedef struct Part {
  const TesFunction *function; /* NULL: `constant` */
  double constant;
  bool positive, any; /* zero is refused too; some value is not zero */
  Refusal refusal;
  void *values; /* host, of the operator's precision */
} Part;

static void refuse(Part *part, int64_t order, double *const x[3], int64_t q, double value) {
#pragma omp critical(tesi_quad_device_refusal)
  if (part->refusal.order < 0 || order < part->refusal.order)
    part->refusal = (Refusal){order, {x[0][q], x[1][q], x[2][q]}, value};
}

/* One cell: work is [5][a_cell]. */
static void fill_cell(const Points *p, Part *part, int64_t first, int64_t cell, double *work) {
  double *const x[3] = {work, work + p->a_cell, work + 2 * p->a_cell}, *weight = work + 3 * p->a_cell,
                *value = weight + p->a_cell;
  bool any = false;
  place(p, cell, (double **)x, weight);
  if (part->function)
    tesi_function_values(part->function, p->a_cell, x[0], x[1], x[2], 0, value);
  else
    for (int64_t q = 0; q < p->a_cell; q++) value[q] = part->constant;
  for (int64_t q = 0; q < p->a_cell; q++) {
    if (!(isfinite(value[q]) && (part->positive ? value[q] > 0 : value[q] >= 0)))
      refuse(part, cell * p->a_cell + q, x, q, value[q]);
    any = any || value[q] != 0;
    const int64_t at = (cell - first) * p->a_cell + q;
    tesi_number_set(p->op->precision, part->values, at, weight[q] * value[q]);
  }
  if (any) {
#pragma omp atomic write
    part->any = true;
  }
}

typedef struct Cells {
  const Points *points;
  Part *part;
  int64_t first;
  double *work; /* [threads][5][a_cell] */
} Cells;

static void fill_cells(const void *data, TesiSpan span) {
  const Cells *c = data;
  for (int64_t i = span.first; i < span.end; i++)
    fill_cell(c->points, c->part, c->first, c->first + i, c->work + 5 * c->points->a_cell * span.thread);
}

static TesStatus tell_refusal(const TesOperator *op, const Part *part, const char *name) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const Refusal *r = &part->refusal;
  const char *where = tesi_function_where(part->function);
  const char *text = part->function ? tes_function_text(part->function) : "1";
  if (!isfinite(r->value))
    TES_FAIL(tesi_function_fault(part->function), "%sthe %s is %g at (%.6g, %.6g, %.6g): %s", where, name,
             r->value, r->x[0], r->x[1], r->x[2], text);
  TES_FAIL(TES_INVALID_INPUT, "%sthe %s is %g at (%.6g, %.6g, %.6g), expected %s 0: %s", where, name,
           r->value, r->x[0], r->x[1], r->x[2], part->positive ? ">" : ">=", text);
done:
  return status;
}

/* Evaluates all cells of p into a new device array, on the host. */
static TesStatus evaluate_on_host(const Points *p, const TesFunction *function, double constant,
                                  bool positive, const char *name, bool *any, void **out) {
  const TesOperator *op = p->op;
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const size_t size = tesi_precision_size(op->precision);
  const int64_t total = (int64_t)p->cells[0] * p->cells[1] * p->cells[2],
                most = tesi_max(1, (int)(PART / p->a_cell)), part_cells = total < most ? total : most;
  const int threads = tesi_team_threads(ctx, 4 * part_cells * p->a_cell);
  Part part = {.function = function, .constant = constant, .positive = positive, .refusal = {.order = -1}};
  double *work = NULL;
  TES_ALLOC(&work, 5 * p->a_cell * threads);
  TES_TRY(tesi_alloc(ctx, (size_t)(part_cells * p->a_cell), size, &part.values));
  TES_TRY(device->allocate(ctx, (size_t)(total * p->a_cell) * size, out));
  for (int64_t first = 0; first < total; first += part_cells) {
    const int64_t end = first + part_cells < total ? first + part_cells : total;
    tesi_team_for(threads, end - first, fill_cells, &(Cells){p, &part, first, work});
    if (part.refusal.order >= 0) TES_TRY(tell_refusal(op, &part, name));
    TES_TRY(device->to_device(ctx, (char *)*out + (size_t)(first * p->a_cell) * size, part.values,
                              (size_t)((end - first) * p->a_cell) * size));
  }
  *any = *any || part.any;
done:
  tesi_free(ctx, &work);
  tesi_free(ctx, &part.values);
  return status;
}

/* Lower ends and widths of the cells of an axis. */
static TesStatus send_axis(TesContext *ctx, const TesiAxis *axis, double **ends, double **widths) {
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const size_t bytes = (size_t)axis->cells * sizeof(double);
  double *values = NULL;
  void *address = NULL;
  TES_ALLOC(&values, axis->cells);
  for (int c = 0; c < axis->cells; c++) values[c] = axis->x[c * axis->degree];
  TES_TRY(device->allocate(ctx, 2 * bytes, &address));
  *ends = address;
  *widths = *ends + axis->cells;
  TES_TRY(device->to_device(ctx, *ends, values, bytes));
  TES_TRY(device->to_device(ctx, *widths, axis->h, bytes));
done:
  tesi_free(ctx, &values);
  return status;
}

/* The function's text, points and weights as tables.h; NULL if the function has no text. */
static TesStatus make_text(const Points *p, const TesFunction *function, char **text) {
  TesContext *ctx = p->op->context;
  TesStatus status = TES_OK;
  static const char declaration[] = "TESK_DEVICE double tesk_f";
  const int length = function ? tesi_function_emit(function, declaration, "double", NULL, 0) : -1;
  *text = NULL;
  if (length < 0) return TES_OK;
  TES_ALLOC(text, length + 1);
  tesi_function_emit(function, declaration, "double", *text, (size_t)length + 1);
  TesiTableText t = {.context = ctx, .type = "double", .text = *text, .used = length};
  tesi_table_text_add(&t, "point", p->point, p->n);
  tesi_table_text_add(&t, "w", p->weight, p->n);
  TES_TRY(tesi_table_text_end(&t, text));
done:
  return status;
}

typedef struct DevicePoints { /* as in coefficients.cu */
  int cells[3], there[3];
  double level[3];
  const double *x[3], *h[3];
} DevicePoints;

static TesStatus launch(const Points *p, const char *text, double time, bool positive, void *out,
                        long long notes[2]) {
  const TesOperator *op = p->op;
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  DevicePoints points = {.level = {0}};
  double *axis[3] = {NULL}, *widths;
  void *found = NULL;
  TesiProgram *program;
  TesiKernel kernel;
  int sign = positive;
  void *arguments[] = {&out, &points, &time, &sign, &found};
  const TesiProgramDesc desc = {.file = "coefficients.cu",
                                .real = op->precision,
                                .macros = {{"POINTS", p->n}, {"TESK_CONSTANT_TABLES", 1}},
                                .tables = text};
  for (int d = 0; d < 3; d++) {
    points.cells[d] = p->cells[d];
    points.there[d] = d < op->space->dim && d != p->fixed;
    points.level[d] = d == p->fixed ? p->level : 0;
    if (!points.there[d]) continue;
    TES_TRY(send_axis(ctx, &op->space->axis[d], &axis[d], &widths));
    points.x[d] = axis[d], points.h[d] = widths;
  }
  TES_TRY(device->allocate(ctx, 2 * sizeof *notes, &found));
  TES_TRY(device->to_device(ctx, found, notes, 2 * sizeof *notes));
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_coefficient", 0, &kernel));
  const int64_t cells = (int64_t)p->cells[0] * p->cells[1] * p->cells[2];
  TES_TRY(tesi_kernel_launch(ctx, &kernel, (TesiGrid){(unsigned)(cells < 16384 ? cells : 16384), 1, 1}, 128,
                             0, arguments));
  TES_TRY(device->to_host(ctx, notes, found, 2 * sizeof *notes));
done:
  for (int d = 0; d < 3; d++) device->release(ctx, (void **)&axis[d]);
  device->release(ctx, &found);
  return status;
}

/* The host evaluates the cell with the refused value again, for the message. */
static TesStatus find_refusal(const Points *p, const TesFunction *function, bool positive, const char *name,
                              int64_t order) {
  TesContext *ctx = p->op->context;
  TesStatus status = TES_OK;
  const int64_t cell = order / p->a_cell;
  Part part = {.function = function, .positive = positive, .refusal = {.order = -1}};
  double *work = NULL;
  TES_ALLOC(&work, 6 * p->a_cell);
  part.values = work + 5 * p->a_cell;
  fill_cell(p, &part, cell, cell, work);
  if (part.refusal.order < 0) part.refusal.value = NAN; /* round-off: only the device refused the value */
  TES_TRY(tell_refusal(p->op, &part, name));
done:
  tesi_free(ctx, &work);
  return status;
}

/* Evaluates all cells of p into a new device array. */
static TesStatus evaluate(const Points *p, const TesFunction *function, double constant, bool positive,
                          const char *name, bool *any, void **out) {
  TesContext *ctx = p->op->context;
  TesStatus status = TES_OK;
  const int64_t total = (int64_t)p->cells[0] * p->cells[1] * p->cells[2] * p->a_cell;
  long long notes[2] = {INT64_MAX, 0};
  char *text = NULL;
  TES_TRY(make_text(p, function, &text));
  if (!text) return evaluate_on_host(p, function, constant, positive, name, any, out);
  TES_TRY(tesi_context_device(ctx)->allocate(ctx, (size_t)total * tesi_precision_size(p->op->precision), out));
  TES_TRY(launch(p, text, tesi_device_time(1, &function), positive, *out, notes));
  if (notes[0] < INT64_MAX) TES_TRY(find_refusal(p, function, positive, name, notes[0]));
  *any = *any || notes[1];
done:
  tesi_free(ctx, &text);
  return status;
}

static TesStatus evaluate_faces(const TesOperator *op, TesiQuadDevice *plan, bool *any) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  for (int face = 0; face < 2 * op->space->dim; face++) {
    const TesiAxis *axis = &op->space->axis[face / 2];
    if (!tesi_coefficient_given(tesi_diffusion_of(op)->alpha_function[face])) continue;
    const Points p = make_points(op, face / 2, axis->x[face % 2 ? axis->nodes - 1 : 0]);
    TES_TRY(evaluate(&p, tesi_diffusion_of(op)->alpha_function[face], 0, false, "Robin coefficient alpha",
                     any, &plan->alpha[face]));
  }
done:
  return status;
}

TesStatus tesi_quad_device_evaluate(TesOperator *op, TesiQuadDevice *plan) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const Points p = make_points(op, -1, 0);
  bool any = false, natural = true;
  if (!tesi_is_separable(op))
    TES_TRY(
        evaluate(&p, tesi_diffusion_of(op)->a_function, 1, true, "diffusion coefficient a", &any, &plan->a));
  any = false;
  if (tesi_coefficient_given(tesi_diffusion_of(op)->c_function))
    TES_TRY(
        evaluate(&p, tesi_diffusion_of(op)->c_function, 0, false, "reaction coefficient c", &any, &plan->c));
  TES_TRY(evaluate_faces(op, plan, &any));
  for (int face = 0; face < 2 * op->space->dim; face++)
    natural = natural && op->space->axis[face / 2].end[face % 2] != TESI_STRONG;
  op->singular = natural && !any;
done:
  return status;
}
