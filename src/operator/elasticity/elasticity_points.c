/* The numbers of an elasticity operator: geometry and coefficients at points, eight cells at a time. */
#include <math.h>
#include "base/real.h"
#include "base/work.h"
#include "functional/batch.h"
#include "operator/elasticity/elasticity.h"
#include "operator/form.h"

typedef struct Fill {
  const TesOperator *op;
  TesiElasticity *plan;
  TesiBatches *batches;
  const TesTermDesc *mu, *lambda, *mass; /* the last two may be NULL */
  TesFunction *one;
  void *numbers;
  int lanes;                              /* of a batch; 1 on devices */
  int64_t stride, entry_step, point_step; /* distances of batches, entries, points */
  int32_t *place; /* [cells] place of each cell in plan->host.cell; NULL: its number */
  double *memory; /* [threads][share] */
  int64_t share;
  double *poisson; /* [threads] */
  int *failed;
} Fill;

/* Arrays of a thread, [points][lane]. */
typedef struct Arrays {
  TesiBatchPoints at;
  double *K[3][3], *value[3], *scratch, *work; /* K[d][r]; mu, lambda, mass */
} Arrays;

enum { ARRAYS = 4 + 9 + 9 + 3 + 1 };

static Arrays place_arrays(const Fill *f, int thread) {
  const int64_t n = tesi_batches_array(f->batches);
  double *m = f->memory + thread * f->share;
  Arrays a = {.at = {.x = {m, m + n, m + 2 * n}, .weight = m + 3 * n}};
  for (int i = 0; i < 9; i++) a.K[i / 3][i % 3] = m + (4 + i) * n;
  a.at.J = f->batches->geometry ? m + 13 * n : NULL;
  for (int i = 0; i < 3; i++) a.value[i] = m + (22 + i) * n;
  a.scratch = m + 25 * n, a.work = m + ARRAYS * n;
  return a;
}

static TesStatus evaluate(const Fill *f, const TesiBatch *batch, const TesTermDesc *term, const Arrays *a,
                          double *values) {
  const TesFunction *of[TESI_BATCH];
  for (int l = 0; l < TESI_BATCH; l++) {
    const int material =
        term && term->a.material
            ? tes_mesh_material(f->op->space->mesh, batch->first + tesi_min(l, batch->count - 1))
            : -1;
    of[l] = material >= 0 && term->a.material[material] ? term->a.material[material]
            : term                                      ? term->a.all
                                                        : NULL;
    if (term && !of[l]) of[l] = f->one;
  }
  return tesi_batch_values(f->batches, batch, of, &a->at, values, a->scratch);
}

static TesStatus tell(const Fill *f, const TesiBatch *batch, const Arrays *a, int64_t i) {
  TesContext *ctx = f->op->context;
  TesStatus status = TES_OK;
  const int dim = f->op->space->dim;
  const int64_t cell = batch->first + tesi_min((int)(i % TESI_BATCH), batch->count - 1);
  const char *where = f->mu->a.all ? tesi_function_where(f->mu->a.all) : "";
  const TesFunction *density = f->mass ? f->mass->a.all : NULL;
  TES_CHECK(a->value[2][i] >= 0,
            "%sthe density times a number > 0 is %g at (%g, %g, %g) in cell %lld, expected >= 0",
            density ? tesi_function_where(density) : "", a->value[2][i], a->at.x[0][i], a->at.x[1][i],
            dim == 3 ? a->at.x[2][i] : 0, (long long)cell);
  TES_FAIL(TES_INVALID_INPUT,
           "%sthe material is not stable at (%g, %g, %g) in cell %lld: lambda is %g and mu is %g, expected "
           "mu > 0 and "
           "%d lambda + 2 mu > 0",
           where, a->at.x[0][i], a->at.x[1][i], dim == 3 ? a->at.x[2][i] : 0, (long long)cell, a->value[1][i],
           a->value[0][i], dim);
done:
  return status;
}

static TesStatus check(const Fill *f, const TesiBatch *batch, const Arrays *a, double *poisson) {
  const int dim = f->op->space->dim;
  for (int64_t i = 0; i < tesi_batches_array(f->batches); i++) {
    const double mu = a->value[0][i], lambda = a->value[1][i];
    if (!(mu > 0) || !(dim * lambda + 2 * mu > 0) || !(a->value[2][i] >= 0)) return tell(f, batch, a, i);
    *poisson = fmax(*poisson, lambda / (2 * (lambda + mu)));
  }
  return TES_OK;
}

static void set(const Fill *f, int64_t at, double value) {
  tesi_number_set(f->op->precision, f->numbers, at, value);
}

/* The numbers of lane l at point p with w = 1, or once per cell, where w is the weight of that point. */
static void put(const Fill *f, const Arrays *a, int64_t cell, int64_t p, int l, double w) {
  const TesiElasticity *e = f->plan;
  const int dim = f->op->space->dim;
  const int64_t place = f->place ? f->place[cell] : cell, i = p * TESI_BATCH + l;
  int64_t at = place / f->lanes * f->stride + place % f->lanes + p * f->point_step;
  for (int d = 0; d < dim; d++)
    for (int r = 0; r < dim; r++) {
      if (e->kind == TESI_ELASTIC_ALIGNED && r != d) continue;
      set(f, at, a->K[d][r][i]);
      at += f->entry_step;
    }
  set(f, at, a->at.weight[i] / w * a->value[1][i]);
  set(f, at + f->entry_step, a->at.weight[i] / w * a->value[0][i]);
  if (e->mass) set(f, at + 2 * f->entry_step, a->at.weight[i] / w * a->value[2][i]);
}

static TesStatus fill_batch(const Fill *f, int64_t number, const Arrays *a, double *poisson) {
  TesContext *ctx = f->op->context;
  TesStatus status = TES_OK;
  const TesiBatches *b = f->batches;
  const TesiBatch batch = b->kind->batch(b, number);
  const bool once = f->plan->kind != TESI_ELASTIC_POINTS;
  double w = 1;
  b->kind->points(b, &batch, true, &a->at, a->work);
  for (int d = 0; d < b->dim; d++) {
    for (int r = 0; r < b->dim; r++)
      for (int64_t i = 0; i < tesi_batches_array(b); i++) a->K[d][r][i] = r == d;
    b->kind->gradient(b, &batch, &a->at, a->K[d]);
  }
  TES_TRY(evaluate(f, &batch, f->mu, a, a->value[0]));
  TES_TRY(evaluate(f, &batch, f->lambda, a, a->value[1]));
  TES_TRY(evaluate(f, &batch, f->mass, a, a->value[2]));
  TES_TRY(check(f, &batch, a, poisson));
  for (int d = 0; once && d < b->dim; d++) w *= b->weight[0];
  for (int l = 0; l < batch.count; l++)
    for (int64_t p = 0; p < (once ? 1 : b->points); p++) put(f, a, batch.first + l, p, l, w);
done:
  return status;
}

static void fill_span(const void *data, TesiSpan span) {
  const Fill *f = data;
  const Arrays a = place_arrays(f, span.thread);
  for (int64_t i = span.first; i < span.end; i++) {
    const TesStatus status = fill_batch(f, i, &a, &f->poisson[span.thread]);
    if (status != TES_OK) {
#pragma omp atomic write
      *f->failed = status;
    }
  }
}

static bool constant(const TesTermDesc *term, int materials) {
  double value;
  if (!term) return true;
  for (int i = 0; term->a.material && i < materials; i++)
    if (term->a.material[i] && !tes_function_constant(term->a.material[i], &value)) return false;
  return !term->a.all || tes_function_constant(term->a.all, &value);
}

static bool vanishes(const TesTermDesc *term, int materials) {
  double value;
  for (int i = 0; term->a.material && i < materials; i++)
    if (term->a.material[i] && !(tes_function_constant(term->a.material[i], &value) && value == 0))
      return false;
  return term->a.all && tes_function_constant(term->a.all, &value) && value == 0;
}

/* Whether the edges of all cells lie along the axes, up to rounding of their ends; for affine cells. */
static bool is_aligned(const TesiGeometry *g) {
  const int dim = g->dim;
  for (int64_t c = 0; c < g->cells; c++) {
    const double *x = g->nodes + c * g->cell_nodes * dim;
    const int64_t last = g->degree, step[3] = {last, last * (last + 1), last * (last + 1) * (last + 1)};
    for (int d = 0; d < dim; d++) {
      const double *end = x + step[d] * dim, edge = fabs(end[d] - x[d]);
      for (int r = 0; r < dim; r++)
        if (r != d && !(fabs(end[r] - x[r]) <= 1e-12 * edge)) return false;
    }
  }
  return true;
}

static void choose_kind(Fill *f, const TesiGeometry *g, TesiElasticity *e) {
  const int materials = tes_mesh_materials(f->op->space->mesh), dim = f->op->space->dim;
  const bool affine = g->kind == TES_GEOMETRY_AFFINE && constant(f->mu, materials) &&
                      constant(f->lambda, materials) && constant(f->mass, materials);
  e->kind = !affine ? TESI_ELASTIC_POINTS : is_aligned(g) ? TESI_ELASTIC_ALIGNED : TESI_ELASTIC_AFFINE;
  e->mass = f->mass && !vanishes(f->mass, materials);
  e->entries = (e->kind == TESI_ELASTIC_ALIGNED ? dim : dim * dim) + 2 + e->mass;
  f->lanes = e->inner ? e->host.kernels.lanes : 1;
  f->stride = e->entries * (affine ? 1 : f->batches->points) * f->lanes;
  f->entry_step = e->inner || affine ? f->lanes : f->batches->points;
  f->point_step = affine ? 0 : e->inner ? e->entries * f->lanes : 1;
}

/* Lanes without a cell get the numbers of the first lane. */
static void pad(const Fill *f) {
  const TesiMappedHost *h = &f->plan->host;
  const int lanes = f->lanes;
  const bool single = f->op->precision == TES_SINGLE;
  for (int64_t b = 0; b < h->batches; b++)
    for (int64_t i = h->batch[b].count < lanes ? 0 : h->stride; i < h->stride; i += lanes)
      for (int l = h->batch[b].count; l < lanes; l++) {
        const int64_t at = b * h->stride + i;
        set(f, at + l, single ? (double)((float *)f->numbers)[at] : ((double *)f->numbers)[at]);
      }
}

/* Computes the numbers, in batches for the host or cell by cell. */
static TesStatus allocate_numbers(TesContext *ctx, Fill *f, void **numbers) {
  TesStatus status = TES_OK;
  TesiMappedHost *h = &f->plan->host;
  const bool host = f->plan->inner;
  const int64_t batches = host ? h->batches : f->batches->cells;
  TES_TRY(tesi_alloc(ctx, (size_t)(batches * f->stride), tesi_precision_size(f->op->precision), &f->numbers));
  *(host ? &h->g : numbers) = f->numbers;
  h->stride = f->stride;
  if (!host) goto done;
  TES_ALLOC(&f->place, f->batches->cells);
  for (int64_t b = 0; b < batches; b++)
    for (int l = 0; l < h->batch[b].count; l++)
      f->place[h->cell[b * f->lanes + l]] = (int32_t)(b * f->lanes + l);
done:
  return status;
}

static TesStatus allocate(TesContext *ctx, Fill *f, int threads, void **numbers) {
  TesStatus status = TES_OK;
  TES_TRY(allocate_numbers(ctx, f, numbers));
  f->share = ARRAYS * tesi_batches_array(f->batches) + tesi_batches_work(f->batches);
  TES_ALLOC(&f->memory, threads * f->share);
  TES_ALLOC(&f->poisson, threads);
  for (int t = 0; t < threads; t++) f->poisson[t] = -1;
done:
  return status;
}

TesStatus tesi_elasticity_fill(const TesOperator *op, TesiElasticity *plan, void **numbers) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  int failed = TES_OK;
  const int threads = plan->inner ? plan->host.threads : tesi_team_threads(ctx, op->length);
  const TesiGeometry *geometry;
  const TesForm *form = &op->desc.form;
  Fill f = {.op = op,
            .plan = plan,
            .mu = tesi_form_term(form, TES_TERM_STRAIN, 0),
            .lambda = tesi_form_term(form, TES_TERM_GRAD_DIV, 0),
            .mass = tesi_form_term(form, TES_TERM_MASS, 0),
            .failed = &failed};
  TES_TRY(tesi_batches_create(op->space->part[0], op->space->degree + 1, &f.batches));
  TES_TRY(tes_function_create_constant(ctx, 1, &f.one));
  TES_TRY(tesi_mesh_geometry(op->space->mesh, &geometry));
  choose_kind(&f, geometry, plan);
  TES_TRY(allocate(ctx, &f, threads, numbers));
  TES_TRY(tesi_work_for(ctx, threads, f.batches->batches, fill_span, &f));
  TES_TRY((TesStatus)failed);
  if (plan->inner) pad(&f);
  plan->poisson = -1;
  for (int t = 0; t < threads; t++) plan->poisson = fmax(plan->poisson, f.poisson[t]);
done:
  tesi_batches_destroy(&f.batches);
  tes_function_destroy(&f.one);
  tesi_free(ctx, &f.place);
  tesi_free(ctx, &f.memory);
  tesi_free(ctx, &f.poisson);
  return status;
}
