/* Derivatives of values by the nodal values of the solution: b_i += int of dF/du phi_i + sum over directions dF/du_d
 * d phi_i / d x_d, where F is the expression of the value; over cells, faces, or at a point. */
#include <math.h>
#include "base/work.h"
#include "functional/functional.h"
#include "functional/quantity_batches.h"
#include "mesh/inner_faces.h"

/* One derivative of the expression, by the function itself (TESI_FIELD_VALUE) or by its derivative in a direction. */
typedef struct Slope {
  const TesiQuantity *quantity;
  int direction;
  double factor;
  int degree; /* of the quadrature of the value */
  const TesSpace *part;
  double *b;
} Slope;

static TesStatus check_value(const TesiQuantity *q, double value, const double x[3]) {
  TesContext *ctx = q->context;
  TesStatus status = TES_OK;
  if (!isfinite(value))
    TES_FAIL(TES_NAN, "%s is %g at (%.6g, %.6g, %.6g)", tes_function_text(q->function), value, x[0], x[1],
             x[2]);
done:
  return status;
}

/* ---- cells --------------------------------------------------------------------------------------------- */

typedef struct Cells {
  const Slope *slope;
  const TesiQuantityBatches *of;
  const TesiBatches *part;
  TesiSums *sums;
  double *memory; /* [threads][share] */
  int64_t share;
  int set, *failed;
} Cells;

static TesStatus add_batch(const Cells *c, int64_t task, int64_t number, double *memory) {
  const TesiBatches *b = c->of->at;
  const int64_t n = tesi_batches_array(b);
  const TesiBatch batch = b->kind->batch(b, number);
  double *values, *work = memory + tesi_quantity_batches_memory(c->of);
  TesiBatchPoints at;
  TesStatus status = tesi_quantity_batch(c->of, &batch, 0, 1, memory, &at, &values);
  for (int64_t i = 0; i < n && status == TES_OK; i++) {
    if (at.weight[i] != 0)
      status = check_value(c->slope->quantity, values[i], (double[]){at.x[0][i], at.x[1][i], at.x[2][i]});
    values[i] = at.weight[i] != 0 ? values[i] * at.weight[i] * c->slope->factor : 0;
  }
  if (status != TES_OK) return status;
  if (c->slope->direction == TESI_FIELD_VALUE)
    tesi_batch_integrate(c->sums, task, &batch, values, work);
  else
    tesi_batch_integrate_slope(c->sums, task, &batch, &at, c->slope->direction, values, work);
  return TES_OK;
}

static void add_tasks(const void *data, TesiSpan span) {
  const Cells *c = data;
  for (int64_t i = span.first; i < span.end; i++) {
    const int64_t task = tesi_batches_set_task(c->part, c->set, i);
    int64_t first;
    const int64_t count = tesi_batches_of_task(c->part, task, &first);
    TesStatus status = TES_OK;
    for (int64_t k = first; k < first + count && status == TES_OK; k++)
      status = add_batch(c, task, k, c->memory + c->share * span.thread);
    if (status != TES_OK) {
#pragma omp atomic write
      *c->failed = status;
    }
  }
}

static TesStatus over_cells(const Slope *slope, int material) {
  TesContext *ctx = slope->part->context;
  TesStatus status = TES_OK;
  const int threads = tes_context_threads(ctx), q = slope->degree + 3,
            points = tesi_space_box(slope->part) ? q : tesi_min(q, TESI_GEOMETRY_POINTS);
  TesiQuantityBatches of = {.quantities = 0};
  TesiSums sums = {0};
  int failed = TES_OK;
  Cells cells = {.slope = slope, .of = &of, .sums = &sums, .failed = &failed};
  TES_TRY(tesi_quantity_batches_create(1, &slope->quantity, slope->part, material, TESI_GAUSS, points, &of));
  cells.part = of.at;
  cells.share = tesi_quantity_batches_memory(&of) + 5 * tesi_batches_array(of.at);
  TES_ALLOC(&cells.memory, cells.share * threads);
  TES_TRY(tesi_sums_create(of.at, true, slope->b, &sums));
  for (; cells.set < of.at->sets; cells.set++) {
    TES_TRY(tesi_work_share(ctx, threads, tesi_batches_set_size(of.at, cells.set), 1, add_tasks, &cells));
    TES_TRY((TesStatus)failed);
  }
  tesi_sums_finish(&sums);
done:
  tesi_sums_free(&sums);
  tesi_quantity_batches_free(&of);
  tesi_free(ctx, &cells.memory);
  return status;
}

/* ---- points -------------------------------------------------------------------------------------------- */

/* b += what a value at xi of a cell counts with. */
static void add_point(const Slope *s, int64_t cell, const double *xi, const double *J, double value) {
  const int dim = s->part->dim, nodes = (int)lround(pow(s->part->degree + 1, dim));
  double local[TESI_CELL_MOST], gradient[3 * TESI_CELL_MOST], transposed[9], slope[3], turned[3] = {0};
  const bool itself = s->direction == TESI_FIELD_VALUE;
  tesi_local_functions(dim, s->part->degree, xi, local, itself ? NULL : gradient);
  for (int i = 0; i < dim * dim; i++) transposed[i] = J[i % dim * dim + i / dim];
  for (int p = 0; p < nodes; p++) {
    for (int d = 0; d < dim && !itself; d++) slope[d] = gradient[d * nodes + p];
    if (!itself) tesi_solve_small(dim, transposed, slope, turned);
    local[p] = s->factor * value * (itself ? local[p] : turned[s->direction]);
  }
  tesi_space_add_cell(s->part, cell, local, s->b);
}

static TesStatus at_point(const Slope *s, const double *point) {
  TesContext *ctx = s->part->context;
  TesStatus status = TES_OK;
  TesiHit *hit = NULL;
  int64_t hits, all;
  Slope share = *s;
  TES_TRY(tesi_point_hits(s->part->mesh, point, 0, &hit, &hits, &all));
  share.factor /= (double)all;
  for (int64_t i = 0; i < hits; i++) {
    double x[3] = {0}, J[9], value;
    TES_TRY(tesi_mesh_points(s->part->mesh, hit[i].cell, 1, hit[i].xi, x, J));
    tesi_quantity_at(s->quantity, hit[i].cell, 1, hit[i].xi, x, J, NULL, &value);
    TES_TRY(check_value(s->quantity, value, x));
    add_point(&share, hit[i].cell, hit[i].xi, J, value);
  }
done:
  tesi_free(ctx, &hit);
  return status;
}

/* ---- faces --------------------------------------------------------------------------------------------- */

static TesStatus add_face(const Slope *s, const TesiFaceRule *rule, const TesiBoundaryFace *face,
                          TesiFacePlace *at) {
  const TesiQuantity *q = s->quantity;
  TesContext *ctx = q->context;
  TesStatus status = TES_OK;
  const int dim = q->dim;
  TES_TRY(tesi_face_place(q->mesh, rule, face, at));
  tesi_quantity_at(q, face->cell, rule->points, at->xi, at->x, at->J, at->normal, at->value);
  for (int p = 0; p < rule->points; p++) {
    const double *x = at->x + p * dim;
    TES_TRY(check_value(q, at->value[p], (double[]){x[0], x[1], dim == 3 ? x[2] : 0}));
    add_point(s, face->cell, at->xi + p * dim, at->J + p * dim * dim, at->weight[p] * at->value[p]);
  }
done:
  return status;
}

static TesStatus over_boundary(const Slope *s, int boundary) {
  TesContext *ctx = s->part->context;
  TesStatus status = TES_OK;
  TesiBatches *b = NULL;
  TesiBoundaryFace *face = NULL;
  TesiFaceRule *rule = NULL;
  TesiFacePlace *at = NULL;
  bool *wanted = NULL;
  int64_t faces;
  const int q = s->degree + 3;
  TES_CHECK(!tesi_mesh_is_inner(s->part->mesh, boundary),
            "a value on %s, whose faces lie between cells, is not differentiated",
            tes_mesh_boundary_name(s->part->mesh, boundary));
  TES_TRY(tesi_batches_create(s->part, tesi_space_box(s->part) ? q : tesi_min(q, TESI_GEOMETRY_POINTS), &b));
  TES_ALLOC(&wanted, b->boundaries);
  TES_NEW(&rule);
  TES_NEW(&at);
  wanted[boundary] = true;
  TES_TRY(tesi_boundary_faces(b, wanted, false, &face, &faces));
  tesi_face_rule(b->dim, s->part->degree, b->q, NULL, rule);
  for (int64_t i = 0; i < faces; i++) TES_TRY(add_face(s, rule, &face[i], at));
done:
  tesi_batches_destroy(&b);
  tesi_free(ctx, &face);
  tesi_free(ctx, &rule);
  tesi_free(ctx, &at);
  tesi_free(ctx, &wanted);
  return status;
}

/* -------------------------------------------------------------------------------------------------------- */

static TesStatus add_slope(const Slope *s, const TesValue *what) {
  if (what->kind == TES_VALUE_POINT) return at_point(s, what->point);
  return what->where == TES_ON_BOUNDARY ? over_boundary(s, what->number)
                                        : over_cells(s, what->where == TES_ON_MATERIAL ? what->number : -1);
}

TesStatus tesi_functional_slope(const TesSpace *space, int fields, const TesiField *field,
                                const TesValue *what, const TesVector *u, const TesSpace *part, double *b) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesiQuantity *q = NULL;
  Slope slope = {.factor = 1, .degree = space->degree, .part = part, .b = b};
  TesValue size = *what;
  size.kind = TES_VALUE_INTEGRAL, size.of = "1";
  if (what->kind == TES_VALUE_MEAN) {
    TES_TRY(tesi_functional_expression(space, fields, field, &size, &slope.factor));
    slope.factor = 1 / slope.factor;
  }
  for (int i = 0; i < fields; i++) {
    if (field[i].vector != u || field[i].text) continue;
    TES_TRY(tesi_quantity_create_slope(space->mesh, what->of ? what->of : field->name,
                                       what->where == TES_ON_BOUNDARY, fields, field, i, &q));
    slope.quantity = q, slope.direction = field[i].derivative;
    if (!tesi_quantity_is_zero(q)) TES_TRY(add_slope(&slope, what));
    tesi_quantity_destroy(&q);
  }
done:
  tesi_quantity_destroy(&q);
  return status;
}
