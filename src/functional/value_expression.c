/* Values of expressions in fields: over cells in batches of eight on all threads, over faces and at points one by
 * one. */
#include <math.h>
#include "base/work.h"
#include "functional/batch_faces.h"
#include "functional/functional.h"
#include "functional/quantity_batches.h"
#include "parallel/comm.h"
#include "mesh/inner_faces.h"

/* The result for values at points: their integral and the size of the domain, or the largest of sign times value and
 * its place. Of equal values the first in the order of cells is taken, so that the number of threads does not
 * matter. */
typedef struct Fold {
  int sign;         /* 0: the integral */
  double number[2]; /* integral and size; of an extreme value: sign times it */
  double place[3];
} Fold;

static Fold fold_begin(int sign) {
  return (Fold){.sign = sign, .number = {sign ? -INFINITY : 0}};
}

/* A value with its weight; points with weight zero do not count. */
static void fold_point(Fold *f, double weight, double value, double x, double y, double z) {
  if (!f->sign) {
    f->number[0] += weight * value;
    f->number[1] += weight;
  } else if (f->sign * value > f->number[0]) {
    f->number[0] = f->sign * value;
    f->place[0] = x, f->place[1] = y, f->place[2] = z;
  }
}

static void fold_all(Fold *f, const Fold *of) {
  if (!f->sign) {
    for (int i = 0; i < 2; i++) f->number[i] += of->number[i];
  } else if (of->number[0] > f->number[0]) {
    *f = *of;
  }
}

/* ---- the domain, or a material ------------------------------------------------------------------------- */

typedef struct Task {
  TesiQuantityBatches of;
  double *cells; /* NULL: not wanted */
  int64_t share;
  double *memory; /* [threads][share] */
} Task;

static TesStatus sum_values(const Task *task, const TesiBatch *batch, const TesiBatchPoints *at,
                            const double *values, Fold *sum) {
  TesContext *ctx = task->of.at->context;
  TesStatus status = TES_OK;
  for (int64_t i = 0; i < tesi_batches_array(task->of.at); i++) {
    if (at->weight[i] == 0) continue;
    if (!isfinite(values[i]))
      TES_FAIL(TES_NAN, "%s is %g at (%.6g, %.6g, %.6g)", tes_function_text(task->of.quantity[0]->function),
               values[i], at->x[0][i], at->x[1][i], at->x[2][i]);
    fold_point(sum, at->weight[i], values[i], at->x[0][i], at->x[1][i], at->x[2][i]);
    if (task->cells) task->cells[batch->first + i % TESI_BATCH] += at->weight[i] * values[i];
  }
done:
  return status;
}

static TesStatus sum_batch(const Task *task, const TesiBatch *batch, double *memory, Fold *sum) {
  TesiBatchPoints at;
  double *values;
  const TesStatus status = tesi_quantity_batch(&task->of, batch, 0, 1, memory, &at, &values);
  return status == TES_OK ? sum_values(task, batch, &at, values, sum) : status;
}

static TesStatus sum_task(const Task *task, int64_t number, double *memory, Fold *sum) {
  const TesiBatches *b = task->of.at;
  int64_t first;
  const int64_t count = tesi_batches_of_task(b, number, &first);
  TesStatus status = TES_OK;
  for (int64_t i = first; i < first + count && status == TES_OK; i++) {
    const TesiBatch batch = b->kind->batch(b, i);
    status = sum_batch(task, &batch, memory, sum);
  }
  return status;
}

typedef struct Tasks {
  const Task *task;
  Fold *sums; /* [tasks] */
  int *failed;
} Tasks;

static void sum_span(const void *data, TesiSpan span) {
  const Tasks *s = data;
  for (int64_t i = span.first; i < span.end; i++) {
    const TesStatus one = sum_task(s->task, i, s->task->memory + s->task->share * span.thread, &s->sums[i]);
    if (one != TES_OK) {
#pragma omp atomic write
      *s->failed = one;
    }
  }
}

/* One sum per task, added in order: the same for every number of threads. */
static TesStatus sum_tasks(Task *task, Fold *sum) {
  TesContext *ctx = task->of.at->context;
  TesStatus status = TES_OK;
  const TesiBatches *b = task->of.at;
  const int threads = tes_context_threads(ctx);
  Fold *sums = NULL;
  int failed = TES_OK;
  task->share = tesi_quantity_batches_memory(&task->of);
  TES_ALLOC(&task->memory, task->share * threads);
  TES_ALLOC(&sums, b->tasks);
  for (int64_t i = 0; i < b->tasks; i++) sums[i] = fold_begin(sum->sign);
  TES_TRY(tesi_work_share(ctx, threads, b->tasks, 1, sum_span, &(Tasks){task, sums, &failed}));
  TES_TRY((TesStatus)failed);
  for (int64_t i = 0; i < b->tasks; i++) fold_all(sum, &sums[i]);
done:
  tesi_free(ctx, &sums);
  tesi_free(ctx, &task->memory);
  return status;
}

static int points_of(const TesSpace *space) {
  const int points = tesi_space_shape(space) + 3;
  return tesi_space_box(space) || !space->element->nodal ? points : tesi_min(points, TESI_GEOMETRY_POINTS);
}

static TesStatus over_cells(const TesiQuantity *q, const TesSpace *space, const TesValue *what,
                            TesiPointRule rule, int points, double *cells, Fold *sum) {
  TesContext *ctx = q->context;
  TesStatus status = TES_OK;
  Task task = {.cells = cells};
  const int material = what->where == TES_ON_MATERIAL ? what->number : -1;
  TES_TRY(tesi_quantity_batches_create(1, &q, space, material, rule, points, &task.of));
  TES_TRY(sum_tasks(&task, sum));
done:
  tesi_quantity_batches_free(&task.of);
  return status;
}

/* ---- a boundary ---------------------------------------------------------------------------------------- */

TesStatus tesi_face_place(const TesMesh *mesh, const TesiFaceRule *rule, const TesiBoundaryFace *face,
                          TesiFacePlace *at) {
  const int dim = mesh->dim, n = rule->points;
  for (int p = 0; p < n; p++) {
    const double t[2] = {rule->point[p % rule->q], rule->point[p / rule->q % rule->q]};
    for (int d = 0, e = 0; d < dim; d++) at->xi[p * dim + d] = d == face->face / 2 ? face->face & 1 : t[e++];
    at->weight[p] = rule->weight[p % rule->q] * (dim == 3 ? rule->weight[p / rule->q] : 1);
  }
  const TesStatus status = tesi_mesh_points(mesh, face->cell, n, at->xi, at->x, at->J);
  for (int p = 0; p < n && status == TES_OK; p++) {
    double size = 0, *normal = at->normal + p * dim;
    tesi_face_normal(dim, at->J + p * dim * dim, face->face, normal);
    for (int r = 0; r < dim; r++) size += normal[r] * normal[r];
    size = sqrt(size);
    for (int r = 0; r < dim; r++) normal[r] /= size;
    at->weight[p] *= size;
  }
  return status;
}

static TesStatus sum_face(const TesiQuantity *q, const TesiFaceRule *rule, const TesiBoundaryFace *face,
                          TesiFacePlace *at, Fold *sum) {
  TesContext *ctx = q->context;
  TesStatus status = TES_OK;
  const int dim = q->dim;
  TES_TRY(tesi_face_place(q->mesh, rule, face, at));
  tesi_quantity_at(q, face->cell, rule->points, at->xi, at->x, at->J, at->normal, at->value);
  for (int p = 0; p < rule->points; p++) {
    const double x = at->x[p * dim], y = at->x[p * dim + 1], z = dim == 3 ? at->x[p * dim + 2] : 0;
    if (!isfinite(at->value[p]))
      TES_FAIL(TES_NAN, "%s is %g at (%.6g, %.6g, %.6g)", tes_function_text(q->function), at->value[p], x, y,
               z);
    fold_point(sum, at->weight[p], at->value[p], x, y, z);
  }
done:
  return status;
}

typedef struct Faces {
  const TesiQuantity *q;
  const TesiFaceRule *rule;
  const TesiBoundaryFace *face;
  TesiFacePlace *at; /* [threads] */
  Fold *sums;        /* [faces] */
  int *failed;
} Faces;

static void sum_face_span(const void *data, TesiSpan span) {
  const Faces *f = data;
  for (int64_t i = span.first; i < span.end; i++) {
    const TesStatus one = sum_face(f->q, f->rule, &f->face[i], &f->at[span.thread], &f->sums[i]);
    if (one != TES_OK) {
#pragma omp atomic write
      *f->failed = one;
    }
  }
}

/* sums[faces] */
static TesStatus sum_faces(const TesiQuantity *q, const TesiFaceRule *rule, int64_t faces,
                           const TesiBoundaryFace *face, Fold *sums) {
  TesContext *ctx = q->context;
  TesStatus status = TES_OK;
  const int threads = tes_context_threads(ctx);
  TesiFacePlace *at = NULL;
  int failed = TES_OK;
  TES_ALLOC(&at, threads);
  TES_TRY(tesi_work_for(ctx, threads, faces, sum_face_span, &(Faces){q, rule, face, at, sums, &failed}));
  TES_TRY((TesStatus)failed);
done:
  tesi_free(ctx, &at);
  return status;
}

/* Named faces between cells, from both sides: *face. */
static TesStatus list_both_sides(const TesiQuantity *q, int boundary, TesiBoundaryFace **face, int64_t *faces) {
  TesContext *ctx = q->context;
  TesStatus status = TES_OK;
  for (int fill = 0; fill < 2; fill++) {
    int64_t at = 0;
    for (int64_t c = 0; c < q->mesh->cells; c++)
      for (int f = 0, name; f < 2 * q->dim; f++) {
        if (!tesi_mesh_inner_face(q->mesh, c, f, true, &name) || name != boundary) continue;
        if (fill) (*face)[at] = (TesiBoundaryFace){c, f, name};
        at++;
      }
    *faces = at;
    if (!fill) TES_ALLOC(face, at);
  }
done:
  return status;
}

/* Combines the sides of a face between cells: the sum, if the function uses a normal; else the mean. */
static void take_both_sides(const TesiQuantity *q, Fold *sum) {
  const bool normal = q->boundary && tesi_function_uses(q->function) & 7;
  if (sum->sign) return;
  sum->number[1] /= 2;
  if (!normal) sum->number[0] /= 2;
}

/* Integrates over some faces, with as many points per direction as the batches have, and adds to *sum. each[faces]
 * (NULL: not wanted) <- the integral over each face. */
static TesStatus over_faces(const TesiQuantity *q, const TesiBatches *b, TesiPointRule points, int64_t faces,
                            const TesiBoundaryFace *face, double *each, Fold *sum) {
  TesContext *ctx = q->context;
  TesStatus status = TES_OK;
  TesiFaceRule *rule = NULL;
  Fold *sums = NULL;
  TES_NEW(&rule);
  TES_ALLOC(&sums, faces);
  for (int64_t i = 0; i < faces; i++) sums[i] = fold_begin(sum->sign);
  if (points == TESI_LOBATTO)
    tesi_face_node_rule(b->dim, b->n - 1, NULL, rule);
  else
    tesi_face_rule(b->dim, b->n - 1, b->q, NULL, rule);
  TES_TRY(sum_faces(q, rule, faces, face, sums));
  for (int64_t i = 0; i < faces; i++) {
    fold_all(sum, &sums[i]);
    if (each) each[i] = sums[i].number[0];
  }
done:
  tesi_free(ctx, &rule);
  tesi_free(ctx, &sums);
  return status;
}

static TesStatus over_boundary(const TesiQuantity *q, const TesSpace *space, const TesValue *what,
                               TesiPointRule rule, int points, Fold *sum) {
  TesContext *ctx = q->context;
  TesStatus status = TES_OK;
  TesiBatches *b = NULL;
  TesiBoundaryFace *face = NULL;
  bool *wanted = NULL;
  int64_t faces;
  const bool inner = tesi_mesh_is_inner(q->mesh, what->number);
  TES_CHECK(what->number >= 0 && what->number < tes_mesh_boundaries(q->mesh), "boundary %d, the mesh has %d",
            what->number, tes_mesh_boundaries(q->mesh));
  TES_TRY(tesi_batches_create_values(space, TESI_GAUSS, points, 0, NULL, &b));
  TES_ALLOC(&wanted, b->boundaries);
  wanted[what->number] = true;
  if (inner)
    TES_TRY(list_both_sides(q, what->number, &face, &faces));
  else
    TES_TRY(tesi_boundary_faces(b, wanted, false, &face, &faces));
  TES_TRY(over_faces(q, b, rule, faces, face, NULL, sum));
  if (inner) take_both_sides(q, sum);
done:
  tesi_batches_destroy(&b);
  tesi_free(ctx, &wanted);
  tesi_free(ctx, &face);
  return status;
}

TesStatus tesi_functional_over_faces(const TesSpace *space, int fields, const TesiField *field, const char *of,
                                     int64_t faces, const TesiBoundaryFace *face, double *integral) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesiQuantity *q = NULL;
  TesiBatches *b = NULL;
  Fold sum = fold_begin(0);
  TES_TRY(tesi_quantity_create(space->mesh, of, true, fields, field, &q));
  TES_TRY(tesi_batches_create_values(space, TESI_GAUSS, points_of(space), 0, NULL, &b));
  if (faces > 0) TES_TRY(over_faces(q, b, TESI_GAUSS, faces, face, NULL, &sum));
  *integral = sum.number[0];
done:
  tesi_quantity_destroy(&q);
  tesi_batches_destroy(&b);
  return status;
}

TesStatus tesi_functional_over_boundaries(const TesSpace *space, int fields, const TesiField *field,
                                          const char *of, int boundaries, double *integral) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesiQuantity *q = NULL;
  TesiBatches *b = NULL;
  TesiBoundaryFace *face = NULL;
  bool *wanted = NULL;
  double *each = NULL;
  int64_t faces;
  Fold sum = fold_begin(0);
  for (int i = 0; i < boundaries; i++) integral[i] = 0;
  TES_TRY(tesi_quantity_create(space->mesh, of, true, fields, field, &q));
  TES_TRY(tesi_batches_create_values(space, TESI_GAUSS, points_of(space), 0, NULL, &b));
  TES_ALLOC(&wanted, b->boundaries);
  for (int i = 0; i < boundaries; i++) wanted[i] = !tesi_mesh_is_inner(space->mesh, i);
  TES_TRY(tesi_boundary_faces(b, wanted, false, &face, &faces));
  TES_ALLOC(&each, faces);
  TES_TRY(over_faces(q, b, TESI_GAUSS, faces, face, each, &sum));
  for (int64_t i = 0; i < faces; i++) integral[face[i].boundary] += each[i];
  tesi_reduce(ctx, TESI_SUM, boundaries, integral);
done:
  tesi_quantity_destroy(&q);
  tesi_batches_destroy(&b);
  tesi_free(ctx, &wanted);
  tesi_free(ctx, &face);
  tesi_free(ctx, &each);
  return status;
}

/* -------------------------------------------------------------------------------------------------------- */

TesStatus tesi_value_check_place(const TesMesh *mesh, const TesValue *what) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  const bool boundary = what->where == TES_ON_BOUNDARY;
  const int places = boundary ? tes_mesh_boundaries(mesh) : tes_mesh_materials(mesh);
  TES_CHECK((int)what->where >= TES_ON_DOMAIN && what->where <= TES_ON_MATERIAL,
            "the place of a value is %d, expected %d..%d", (int)what->where, TES_ON_DOMAIN, TES_ON_MATERIAL);
  TES_CHECK(what->where == TES_ON_DOMAIN || (what->number >= 0 && what->number < places),
            "%s %d, the mesh has %d", boundary ? "boundary" : "material", what->number, places);
done:
  return status;
}

/* Over the place of the value, by one rule. */
static TesStatus fold_over(const TesiQuantity *q, const TesSpace *space, const TesValue *what,
                           TesiPointRule rule, int points, double *cells, Fold *sum) {
  return what->where == TES_ON_BOUNDARY ? over_boundary(q, space, what, rule, points, sum)
                                        : over_cells(q, space, what, rule, points, cells, sum);
}

/* The extreme value of all ranks, and its place on the first rank that has it. */
static void fold_ranks(TesContext *ctx, Fold *f) {
  if (tesi_ranks(ctx) == 1) return;
  double best = f->number[0], own, first;
  tesi_reduce(ctx, TESI_MAXIMUM, 1, &best);
  own = first = f->number[0] == best ? -tesi_context_communicator(ctx)->rank : -INFINITY;
  tesi_reduce(ctx, TESI_MAXIMUM, 1, &first);
  for (int d = 0; d < 3; d++) f->place[d] = own == first ? f->place[d] : 0;
  tesi_reduce(ctx, TESI_SUM, 3, f->place);
  f->number[0] = best;
}

TesStatus tesi_functional_extreme(const TesSpace *space, int fields, const TesiField *field,
                                  const TesValue *what, double *value, double place[3]) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesiQuantity *q = NULL;
  Fold best = fold_begin(what->kind == TES_VALUE_MAXIMUM ? 1 : -1);
  const bool boundary = what->where == TES_ON_BOUNDARY;
  TES_CHECK(what->kind == TES_VALUE_MAXIMUM || what->kind == TES_VALUE_MINIMUM,
            "a value of kind %d has no place, a largest or smallest value has", (int)what->kind);
  TES_TRY(tesi_value_check_place(space->mesh, what));
  TES_TRY(tesi_quantity_create(space->mesh, what->of ? what->of : field->name, boundary, fields, field, &q));
  for (int rule = TESI_GAUSS; rule <= TESI_LOBATTO; rule++)
    TES_TRY(fold_over(q, space, what, (TesiPointRule)rule, tesi_space_shape(space) + 1, NULL, &best));
  fold_ranks(ctx, &best);
  TES_CHECK(best.number[0] > -INFINITY, "the largest value over %s %d, of which there is nothing",
            boundary ? "boundary" : "material", what->number);
  *value = best.sign * best.number[0];
  for (int d = 0; place && d < 3; d++) place[d] = best.place[d];
done:
  tesi_quantity_destroy(&q);
  return status;
}

TesStatus tesi_functional_expression(const TesSpace *space, int fields, const TesiField *field,
                                     const TesValue *what, double *value) {
  if (what->kind == TES_VALUE_MAXIMUM || what->kind == TES_VALUE_MINIMUM)
    return tesi_functional_extreme(space, fields, field, what, value, NULL);
  if (what->kind != TES_VALUE_POINT)
    return tesi_functional_sum(space, fields, field, what, &(TesiSumOf){.by = TESI_SLOPE_NONE}, value);
  const TesStatus status = tesi_value_check_place(space->mesh, what);
  return status == TES_OK
             ? tesi_fields_at(space->mesh, fields, field, 1, what->point, 1, &what->of, value, NULL, false)
             : status;
}

TesStatus tesi_functional_sum(const TesSpace *space, int fields, const TesiField *field, const TesValue *what,
                              const TesiSumOf *of, double *value) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesiQuantity *q = NULL;
  Fold sum = fold_begin(0);
  const bool boundary = what->where == TES_ON_BOUNDARY, mean = what->kind == TES_VALUE_MEAN;
  TES_CHECK(what->kind <= TES_VALUE_POINT && (int)what->kind >= 0,
            "an expression is integrated, is taken at a point, or has a largest value");
  TES_TRY(tesi_value_check_place(space->mesh, what));
  TES_TRY(tesi_quantity_create_slope(space->mesh, what->of ? what->of : field->name, boundary, fields, field,
                                     of->by, &q));
  *value = 0;
  if (of->by != TESI_SLOPE_NONE && tesi_quantity_is_zero(q)) goto done;
  if (what->kind == TES_VALUE_POINT) {
    TES_TRY(tesi_quantity_point(q, what->point, value));
    goto done;
  }
  TES_TRY(fold_over(q, space, what, TESI_GAUSS, of->points ? of->points : points_of(space), of->cells, &sum));
  tesi_reduce(ctx, TESI_SUM, 2, sum.number);
  if (mean)
    TES_CHECK(sum.number[1] > 0, "the mean over %s %d, of which there is nothing",
              boundary ? "boundary" : "material", what->number);
  *value = mean ? sum.number[0] / sum.number[1] : sum.number[0];
  for (int64_t c = 0; of->cells && mean && c < space->mesh->cells; c++) of->cells[c] /= sum.number[1];
done:
  tesi_quantity_destroy(&q);
  return status;
}
