#include "device/vector.h"
#include <math.h>
#include "base/team.h"
#include "device/kernel.h"

TesStatus tes_vector_create(TesContext *context, int64_t length, TesPrecision precision, TesVector **vector) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesVector *v = NULL;
  TES_REFUSE_NULL(context, vector, vector);
  *vector = NULL;
  TES_CHECK(precision == TES_DOUBLE || precision == TES_SINGLE, "precision is %d, expected 0 or 1",
            (int)precision);
  TES_CHECK(length >= 0, "a vector of length %lld", (long long)length);
  TES_NEW(&v);
  v->context = tesi_context_retain(ctx);
  v->length = length;
  v->precision = precision;
  TES_TRY(tesi_context_device(ctx)->allocate(ctx, (size_t)length * tesi_precision_size(precision), &v->data));
  *vector = v;
  v = NULL;
done:
  tes_vector_destroy(&v);
  return status;
}

TesStatus tes_vector_wrap(TesContext *context, void *data, int64_t length, TesPrecision precision,
                          TesVector **vector) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesVector *v;
  TES_REFUSE_NULL(context, data, vector);
  *vector = NULL;
  TES_CHECK(precision == TES_DOUBLE || precision == TES_SINGLE, "precision is %d, expected 0 or 1",
            (int)precision);
  TES_CHECK(length >= 0, "a vector of length %lld", (long long)length);
  TES_CHECK((uintptr_t)data % tesi_precision_size(precision) == 0,
            "the address of a vector is no multiple of %zu bytes, the size of a number",
            tesi_precision_size(precision));
  TES_NEW(&v);
  *v = (TesVector){.context = tesi_context_retain(ctx),
                   .length = length,
                   .precision = precision,
                   .data = data,
                   .borrow = true};
  *vector = v;
done:
  return status;
}

TeskOwned tesi_layout_ranges(const TesiLayout *layout) {
  TeskOwned own = {.first = {0}};
  for (int i = 0; i < layout->blocks && i < TESK_OWNED; i++) {
    const TesiOwned *block = &layout->block[i], last = tesi_owned_run(block, tesi_owned_runs(block) - 1);
    own.first[i] = block->start;
    own.end[i] = last.start + last.owned;
    if (!block->rows[0]) continue;
    own.run[i] = block->run, own.rows[i] = block->rows[0];
    own.stride[i] = block->stride[0], own.plane[i] = block->stride[1];
  }
  return own;
}

TesStatus tesi_vector_read(const TesVector *v, double **values) {
  TesContext *ctx = v->context;
  TesStatus status = TES_OK;
  TES_ALLOC(values, v->length);
  TES_TRY(tes_vector_get(v, *values));
done:
  return status;
}

/* Reciprocals of float32 numbers are computed in float64 too, and rounded. */
static void invert_double(const void *data, TesiSpan span) {
  double *const d = ((const TesVector *)data)->data;
  for (int64_t i = span.first; i < span.end; i++) d[i] = 1 / d[i];
}

static void invert_float(const void *data, TesiSpan span) {
  float *const d = ((const TesVector *)data)->data;
  for (int64_t i = span.first; i < span.end; i++) d[i] = (float)(1 / (double)d[i]);
}

TesStatus tesi_vector_invert(TesVector *v) {
  if (tesi_has_kernels(v->context)) return tesi_kernel_invert(v->context, v->precision, v->length, v->data);
  tesi_team_for(tesi_team_threads(v->context, v->length), v->length,
                v->precision == TES_DOUBLE ? invert_double : invert_float, v);
  return TES_OK;
}

TesStatus tesi_vector_create_on(const TesiLayout *layout, TesPrecision precision, TesVector **vector) {
  const TesStatus status = tes_vector_create(layout->context, layout->length, precision, vector);
  if (status == TES_OK) (*vector)->layout = tesi_layout_retain(layout);
  return status;
}

int64_t tesi_vector_global(const TesVector *v) {
  return v->layout ? v->layout->global : tesi_reduce_count(v->context, v->length);
}

TesStatus tesi_vector_view(const TesVector *vector, int64_t first, int64_t length, TesVector **view) {
  TesContext *ctx = vector->context;
  TesStatus status = TES_OK;
  TesVector *v;
  *view = NULL;
  TES_NEW(&v);
  *v = tesi_vector_range(vector, first, length);
  tesi_context_retain(ctx);
  *view = v;
done:
  return status;
}

void tes_vector_destroy(TesVector **vector) {
  if (!vector || !*vector) return;
  TesVector *v = *vector;
  TesContext *ctx = v->context;
  *vector = NULL;
  if (!v->borrow) tesi_context_device(ctx)->release(ctx, &v->data);
  tesi_layout_destroy(&v->layout);
  tesi_free(ctx, &v);
  tes_context_destroy(&ctx);
}

int64_t tes_vector_length(const TesVector *vector) {
  return vector->length;
}

TesPrecision tes_vector_precision(const TesVector *vector) {
  return vector->precision;
}

void *tes_vector_data(TesVector *vector) {
  return vector->data;
}

const void *tes_vector_data_const(const TesVector *vector) {
  return vector->data;
}

typedef struct Convert {
  double *wide;
  float *narrow;
} Convert;

static void narrow(const void *data, TesiSpan span) {
  const Convert *c = data;
  for (int64_t i = span.first; i < span.end; i++) c->narrow[i] = (float)c->wide[i];
}

static void widen(const void *data, TesiSpan span) {
  const Convert *c = data;
  for (int64_t i = span.first; i < span.end; i++) c->wide[i] = c->narrow[i];
}

/* The host device converts on its threads where the numbers are; others get numbers of their precision. */
TesStatus tes_vector_set(TesVector *vector, const double *values) {
  TesContext *ctx = vector->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const int64_t n = vector->length;
  float *single = NULL;
  if (!device->kernels) return device->copy(ctx, n, 1, TES_DOUBLE, values, vector->precision, vector->data);
  if (vector->precision == TES_SINGLE) {
    TES_ALLOC(&single, n);
    tesi_team_for(tesi_team_threads(ctx, n), n, narrow, &(Convert){(double *)values, single});
  }
  TES_TRY(device->to_device(ctx, vector->data, single ? (const void *)single : values,
                            (size_t)n * tesi_precision_size(vector->precision)));
done:
  tesi_free(ctx, &single);
  return status;
}

TesStatus tes_vector_get(const TesVector *vector, double *values) {
  TesContext *ctx = vector->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const int64_t n = vector->length;
  float *single = NULL;
  if (!device->kernels) return device->copy(ctx, n, 1, vector->precision, vector->data, TES_DOUBLE, values);
  if (vector->precision == TES_SINGLE) TES_ALLOC(&single, n);
  TES_TRY(device->to_host(ctx, single ? (void *)single : values, vector->data,
                          (size_t)n * tesi_precision_size(vector->precision)));
  if (single) tesi_team_for(tesi_team_threads(ctx, n), n, widen, &(Convert){values, single});
done:
  tesi_free(ctx, &single);
  return status;
}

static TesStatus check_pair(const TesVector *x, const TesVector *y, bool same_precision) {
  TesContext *ctx = y->context;
  TesStatus status = TES_OK;
  TES_CHECK(x->length == y->length, "vectors of length %lld and %lld", (long long)x->length,
            (long long)y->length);
  TES_CHECK(x->context == ctx, "the vectors belong to different contexts");
  TES_CHECK(!same_precision || x->precision == y->precision, "vectors of different precision");
done:
  return status;
}

TesStatus tes_vector_fill(TesVector *y, double a) {
  return tesi_context_device(y->context)->fill(y->context, y->precision, y->length, a, y->data);
}

TesStatus tes_vector_copy(const TesVector *x, double a, TesVector *y) {
  const TesStatus status = check_pair(x, y, false);
  if (status != TES_OK) return status;
  return tesi_context_device(y->context)
      ->copy(y->context, y->length, a, x->precision, x->data, y->precision, y->data);
}

TesStatus tes_vector_axpy(double a, const TesVector *x, TesVector *y) {
  const TesStatus status = check_pair(x, y, false);
  if (status != TES_OK) return status;
  return tesi_context_device(y->context)
      ->axpy(y->context, y->length, a, x->precision, x->data, y->precision, y->data);
}

TesStatus tesi_vector_combine(int count, const double *a, const TesVector *const *x, TesVector *y) {
  const void *data[TESI_COMBINED];
  for (int i = 0; i < count; i++) data[i] = x[i]->data;
  return tesi_context_device(y->context)->combine(y->context, y->length, count, a, data, y->data);
}

TesStatus tesi_vector_combine_pair(int count, const double *a, const double *b, const TesVector *const *x,
                                   TesVector *y, TesVector *z) {
  const void *data[TESI_PAIRED];
  for (int i = 0; i < count; i++) data[i] = x[i]->data;
  return tesi_device_combine_pair(y->context, y->length, count, a, b, data, y->data, z->data);
}

TesStatus tesi_vector_difference(const TesVector *x, const TesVector *y, TesVector *r, double *norm) {
  double square;
  const TesStatus status = tesi_device_difference(r->context, r->length, x->data, y->data, r->data, &square);
  if (status == TES_OK && tesi_ranks(r->context) > 1) return tes_vector_norm(r, norm);
  *norm = sqrt(square);
  return status;
}

TesStatus tes_vector_xpay(const TesVector *x, double a, TesVector *y) {
  const TesStatus status = check_pair(x, y, true);
  if (status != TES_OK) return status;
  return tesi_context_device(y->context)->xpay(y->context, y->precision, y->length, x->data, a, y->data);
}

static TesStatus dot_of_range(const TesVector *x, const TesVector *y, int64_t first, int64_t end, double *dot) {
  const TesVector of_x = tesi_vector_range(x, first, end - first),
                  of_y = tesi_vector_range(y, first, end - first);
  double part = 0;
  const TesStatus status =
      tesi_context_device(y->context)->dot(y->context, y->precision, of_y.length, of_x.data, of_y.data, &part);
  *dot += part;
  return status;
}

/* Over many runs, on the host: sums are over parts of the runs, whose length depends on their number alone. */
enum { PARTS = 256 };
typedef struct Runs {
  const TesiLayout *layout;
  const TesVector *x, *y;
  int64_t runs;
  double *sum; /* [PARTS] */
} Runs;

static void add_runs(const void *data, TesiSpan span) {
  const Runs *s = data;
  for (int64_t part = span.first; part < span.end; part++) {
    s->sum[part] = 0;
    for (int64_t r = s->runs * part / PARTS; r < s->runs * (part + 1) / PARTS; r++) {
      const TesiOwned own = tesi_layout_run(s->layout, r);
      double sum = 0;
      if (s->y->precision == TES_DOUBLE) {
        const double *x = (const double *)s->x->data + own.start, *y = (const double *)s->y->data + own.start;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = 0; i < own.owned; i++) sum += x[i] * y[i];
      } else {
        const float *x = (const float *)s->x->data + own.start, *y = (const float *)s->y->data + own.start;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = 0; i < own.owned; i++) sum += (double)x[i] * (double)y[i];
      }
      s->sum[part] += sum;
    }
  }
}

/* Runs that follow one another are one. */
static TesStatus dot_of_owned(const TesVector *x, const TesVector *y, double *dot) {
  const TesiLayout *layout = (y->layout ? y : x)->layout;
  TesStatus status = TES_OK;
  *dot = 0;
  if (!layout || layout->owned == layout->length) return dot_of_range(x, y, 0, y->length, dot);
  const int64_t runs = tesi_layout_runs(layout);
  if (runs > TESI_BLOCKS && !tesi_has_kernels(y->context)) {
    double sum[PARTS];
    tesi_team_for(tesi_team_threads(y->context, layout->owned), PARTS, add_runs,
                  &(Runs){.layout = layout, .x = x, .y = y, .runs = runs, .sum = sum});
    for (int i = 0; i < PARTS; i++) *dot += sum[i];
    return TES_OK;
  }
  if (runs > TESI_BLOCKS) {
    const TeskOwned own = tesi_layout_ranges(layout);
    return tesi_kernel_dot_owned(y->context, y->precision, y->length, &own, x->data, y->data, dot);
  }
  for (int64_t r = 0; r < runs && status == TES_OK;) {
    TesiOwned own = tesi_layout_run(layout, r);
    const int64_t first = own.start;
    int64_t end;
    do {
      end = own.start + own.owned;
      if (++r < runs) own = tesi_layout_run(layout, r);
    } while (r < runs && own.start == end);
    status = dot_of_range(x, y, first, end, dot);
  }
  return status;
}

TesStatus tes_vector_dot(const TesVector *x, const TesVector *y, double *dot) {
  const TesStatus status = check_pair(x, y, true);
  if (status != TES_OK) return status;
  const TesStatus result = dot_of_owned(x, y, dot);
  tesi_reduce(y->context, TESI_SUM, 1, dot);
  return result;
}

TesStatus tes_vector_norm(const TesVector *x, double *norm) {
  double square = 0;
  const TesStatus status = tes_vector_dot(x, x, &square);
  *norm = sqrt(square);
  return status;
}

/* Copies are as large as what they are copies of. */
TesStatus tes_vector_maximum(const TesVector *x, double *maximum) {
  const TesStatus status =
      tesi_context_device(x->context)->maximum(x->context, x->precision, x->length, x->data, maximum);
  tesi_reduce(x->context, TESI_MAXIMUM, 1, maximum);
  return status;
}
