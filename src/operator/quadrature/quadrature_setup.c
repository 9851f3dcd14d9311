/* Coefficients of the quadrature form: evaluated at the Gauss points of all cells and natural faces, in parallel,
 * checked, and stored in the order in which the kernels read them. */
#include <math.h>
#include "base/real.h"
#include "base/work.h"
#include "operator/quadrature/quadrature.h"

enum { N = TESI_QUAD_N, TARGET = 2048 /* points per call of a function, about */ };

/* Points of cells or faces, and the places for their values. */
typedef struct Points {
  double *x[3], *weight, *value;
} Points;

/* The first value that is refused, in the order of storage. */
typedef struct Refusal {
  int64_t order; /* -1: none */
  double x[3], value;
} Refusal;

typedef struct Setup {
  TesContext *ctx;
  TesiQuadPlan *plan;
  const TesSpace *space;
  double points[N], weights[N];
  int64_t capacity; /* points a call */
  Points *work;     /* a thread */
  /* the points that are evaluated now */
  const TesFunction *function; /* NULL: `constant` */
  double constant;
  int face;
  void *out;
  bool positive; /* zero is refused too */
  Refusal refusal;
  bool any; /* some value is not zero */
} Setup;

/* Evaluates `count` points, stores weight x value from out[at] on. Points of weight 0 fill lanes without a cell. */
static void store_values(Setup *s, const Points *p, int64_t count, int64_t at) {
  bool any = false;
  if (s->function)
    tesi_function_values(s->function, count, p->x[0], p->x[1], p->x[2], 0, p->value);
  else
    for (int64_t i = 0; i < count; i++) p->value[i] = s->constant;
  for (int64_t i = 0; i < count; i++) {
    const double value = p->value[i];
    const bool good = isfinite(value) && (s->positive ? value > 0 : value >= 0);
    if (!good) {
#pragma omp critical(tesi_quad_refusal)
      if (s->refusal.order < 0 || at + i < s->refusal.order)
        s->refusal = (Refusal){at + i, {p->x[0][i], p->x[1][i], p->x[2][i]}, value};
    }
    any = any || value != 0;
    tesi_number_set(s->plan->precision, s->out, at + i, p->weight[i] == 0 ? 0 : p->weight[i] * value);
  }
  if (any) {
#pragma omp atomic write
    s->any = true;
  }
}

/* Reports the refused value; `name`: the name of the coefficient. */
static TesStatus check(Setup *s, const char *name) {
  TesContext *ctx = s->ctx;
  TesStatus status = TES_OK;
  const Refusal *r = &s->refusal;
  const char *where = tesi_function_where(s->function);
  const char *text = s->function ? tes_function_text(s->function) : "1";
  if (r->order < 0) return TES_OK;
  if (!isfinite(r->value))
    TES_FAIL(tesi_function_fault(s->function), "%sthe %s is %g at (%.6g, %.6g, %.6g): %s", where, name,
             r->value, r->x[0], r->x[1], r->x[2], text);
  TES_FAIL(TES_INVALID_INPUT, "%sthe %s is %g at (%.6g, %.6g, %.6g), expected %s 0: %s", where, name,
           r->value, r->x[0], r->x[1], r->x[2], s->positive ? ">" : ">=", text);
done:
  return status;
}

/* Coordinate and weight of point q of a cell in direction d; 0 and 1 where the direction does not exist. */
static double coordinate(const Setup *s, int d, int cell, int q) {
  const TesiAxis *axis = &s->space->axis[d];
  return d < s->space->dim ? axis->x[cell * axis->degree] + axis->h[cell] * s->points[q] : 0;
}

static double weight(const Setup *s, int d, int cell, int q) {
  return d < s->space->dim ? s->weights[q] * s->space->axis[d].h[cell] : 1;
}

/* Coordinates and weights of the points of one batch, per direction: [point][lane]. */
typedef struct BatchLines {
  double x[3][N][TESI_QUAD_LANES], w[3][N][TESI_QUAD_LANES];
} BatchLines;

/* Lanes without a cell repeat the last cell with weight 0. `a` has a factor h_slow^-2. */
static void set_lines(const Setup *s, const TesiQuadTile *tile, int cz, int first, bool scaled,
                      BatchLines *lines) {
  const TesiQuadPlan *plan = s->plan;
  const int cells = (tile->y[1] - tile->y[0]) * plan->cells[0];
  for (int l = 0; l < plan->kernels.lanes; l++) {
    const int c = tesi_min(first + l, cells - 1);
    const int cell[3] = {c % plan->cells[0], tile->y[0] + c / plan->cells[0], cz};
    const double h = s->space->axis[plan->slow].h[cell[plan->slow]];
    const double factor = first + l >= cells ? 0 : scaled ? 1 / (h * h) : 1;
    for (int d = 0; d < 3; d++)
      for (int q = 0; q < plan->n; q++) {
        lines->x[d][q][l] = coordinate(s, d, cell[d], q);
        lines->w[d][q][l] = weight(s, d, cell[d], q) * (d == 0 ? factor : 1);
      }
  }
}

/* The points of one batch, [mid][x][slow][lane], from index `at` on. */
static void add_batch(const Setup *s, const BatchLines *lines, const Points *p, int64_t at) {
  const TesiQuadPlan *plan = s->plan;
  const int n = plan->n, lanes = plan->kernels.lanes;
  for (int j = 0; j < plan->mid; j++)
    for (int i = 0; i < n; i++)
      for (int k = 0; k < n; k++) {
        const int q[3] = {i, plan->dim == 3 ? j : k, k};
        for (int l = 0; l < lanes; l++, at++) {
          for (int d = 0; d < 3; d++) p->x[d][at] = lines->x[d][q[d]][l];
          p->weight[at] = lines->w[0][q[0]][l] * lines->w[1][q[1]][l] * lines->w[2][q[2]][l];
        }
      }
}

/* All batches of a tile, several per call. */
static void evaluate_tile(Setup *s, const TesiQuadTile *tile, bool scaled, const Points *p) {
  const TesiQuadPlan *plan = s->plan;
  const int64_t size = plan->points * plan->kernels.lanes, layer = tesi_quad_layer_batches(plan, tile);
  const int64_t batches = layer * (tile->z[1] - tile->z[0]);
  int64_t filled = 0, start = tile->batch * size;
  BatchLines lines;
  for (int64_t t = 0; t < batches; t++) {
    set_lines(s, tile, tile->z[0] + (int)(t / layer), (int)(t % layer) * plan->kernels.lanes, scaled, &lines);
    add_batch(s, &lines, p, filled);
    filled += size;
    if (filled + size <= s->capacity && t + 1 < batches) continue;
    store_values(s, p, filled, start);
    start += filled, filled = 0;
  }
}

static void evaluate_tiles(const void *data, TesiSpan span) {
  Setup *s = (void *)data;
  for (int64_t t = span.first; t < span.end; t++)
    evaluate_tile(s, &s->plan->tiles[t], s->positive, &s->work[span.thread]);
}

static TesStatus evaluate_cells(Setup *s, const TesFunction *function, double constant, bool positive,
                                const char *name, void *out) {
  const TesiQuadPlan *plan = s->plan;
  s->function = function, s->constant = constant, s->positive = positive, s->out = out;
  const TesStatus status = tesi_work_share(s->ctx, plan->threads, plan->tile_count, 1, evaluate_tiles, s);
  return status == TES_OK ? check(s, name) : status;
}

/* Points of the cells of one row of a face, [batch][mid point][point][lane]; t0 and t1 are its directions, t1 < 0
 * in 2D. */
static void evaluate_face_row(Setup *s, int face, int row, const Points *p) {
  const TesiQuadPlan *plan = s->plan;
  const int d = face / 2, t0 = d == 0, t1 = plan->dim == 3 ? 2 - (d == 2) : -1;
  const TesiAxis *axis = s->space->axis;
  const int lanes = plan->kernels.lanes, cells = plan->cells[t0], batches = (cells + lanes - 1) / lanes;
  const int64_t size = (int64_t)plan->n * plan->mid * lanes;
  const double end = axis[d].x[face % 2 ? axis[d].nodes - 1 : 0];
  for (int b = 0; b < batches; b++) {
    int64_t at = 0;
    for (int q1 = 0; q1 < plan->mid; q1++)
      for (int q0 = 0; q0 < plan->n; q0++)
        for (int l = 0; l < lanes; l++, at++) {
          const int c = tesi_min(b * lanes + l, cells - 1);
          for (int o = 0; o < 3; o++)
            p->x[o][at] = o == d ? end : o == t0 ? coordinate(s, t0, c, q0) : coordinate(s, o, row, q1);
          p->weight[at] =
              b * lanes + l >= cells ? 0 : weight(s, t0, c, q0) * (t1 < 0 ? 1 : weight(s, t1, row, q1));
        }
    store_values(s, p, at, ((int64_t)row * batches + b) * size);
  }
}

static void evaluate_rows(const void *data, TesiSpan span) {
  Setup *s = (void *)data;
  for (int64_t row = span.first; row < span.end; row++)
    evaluate_face_row(s, s->face, (int)row, &s->work[span.thread]);
}

static TesStatus evaluate_face(Setup *s, const TesFunction *function, int face, void *out) {
  const TesiQuadPlan *plan = s->plan;
  const int rows = plan->dim == 3 ? plan->cells[2 - (face / 2 == 2)] : 1;
  s->function = function, s->constant = 0, s->positive = false, s->face = face, s->out = out;
  const TesStatus status = tesi_work_share(s->ctx, plan->threads, rows, 1, evaluate_rows, s);
  return status == TES_OK ? check(s, "Robin coefficient alpha") : status;
}

static bool is_zero(const TesFunction *function) {
  double value = 0;
  return !function || (tes_function_constant(function, &value) && value == 0);
}

static TesStatus allocate_work(Setup *s) {
  TesContext *ctx = s->ctx;
  TesStatus status = TES_OK;
  const int64_t batch = s->plan->points * s->plan->kernels.lanes;
  s->capacity = batch > TARGET ? batch : TARGET / batch * batch;
  TES_ALLOC(&s->work, s->plan->threads);
  for (int t = 0; t < s->plan->threads; t++) {
    TES_ALLOC(&s->work[t].weight, 5 * s->capacity);
    for (int d = 0; d < 3; d++) s->work[t].x[d] = s->work[t].weight + (1 + d) * s->capacity;
    s->work[t].value = s->work[t].weight + 4 * s->capacity;
  }
done:
  return status;
}

static TesStatus evaluate_faces(Setup *s, const TesOperator *op) {
  TesContext *ctx = s->ctx;
  TesStatus status = TES_OK;
  TesiQuadPlan *plan = s->plan;
  for (int face = 0; face < 2 * plan->dim; face++) {
    const int d = face / 2, t0 = d == 0, t1 = 2 - (d == 2), lanes = plan->kernels.lanes;
    const int64_t batches = (plan->cells[t0] + lanes - 1) / lanes;
    if (is_zero(tesi_diffusion_of(op)->alpha_function[face])) continue;
    TES_TRY(tesi_alloc(
        ctx, (size_t)(batches * lanes * plan->n * plan->mid * (plan->dim == 3 ? plan->cells[t1] : 1)),
        tesi_precision_size(plan->precision), &plan->face[face].alpha));
    TES_TRY(evaluate_face(s, tesi_diffusion_of(op)->alpha_function[face], face, plan->face[face].alpha));
  }
done:
  return status;
}

/* Pure Neumann: no Dirichlet node, and c and alpha vanish at all points. */
static bool is_singular(const Setup *s, bool reaction) {
  bool natural = true;
  for (int face = 0; face < 2 * s->plan->dim; face++) natural = natural && s->plan->natural[face];
  return natural && !reaction;
}

TesStatus tesi_quad_evaluate(TesOperator *op, TesiQuadPlan *plan) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  Setup s = {.ctx = ctx, .plan = plan, .space = op->space, .refusal = {.order = -1}};
  /* one batch more than exists: the kernels prefetch the next batch */
  const size_t numbers = (size_t)((plan->batches + 1) * plan->points * plan->kernels.lanes);
  const size_t size = tesi_precision_size(plan->precision);
  tesi_gauss(plan->n, s.points, s.weights);
  TES_TRY(allocate_work(&s));
  TES_TRY(tesi_alloc(ctx, numbers, size, &plan->a));
  TES_TRY(evaluate_cells(&s, tesi_diffusion_of(op)->a_function, 1, true, "diffusion coefficient a", plan->a));
  s.any = false;
  if (!is_zero(tesi_diffusion_of(op)->c_function)) {
    TES_TRY(tesi_alloc(ctx, numbers, size, &plan->c));
    TES_TRY(evaluate_cells(&s, tesi_diffusion_of(op)->c_function, 0, false, "reaction coefficient c", plan->c));
  }
  TES_TRY(evaluate_faces(&s, op));
  op->singular = is_singular(&s, s.any);
done:
  for (int t = 0; s.work && t < plan->threads; t++) tesi_free(ctx, &s.work[t].weight);
  tesi_free(ctx, &s.work);
  return status;
}
