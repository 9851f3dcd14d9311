#include "tensor/band.h"
#include "base/simd_builds.h"
#include "base/team.h"

TesStatus tesi_band_create(TesContext *ctx, int rows, int columns, int width, TesiBand *band) {
  TesStatus status = TES_OK;
  *band = (TesiBand){.rows = rows, .columns = columns, .width = tesi_min(width, columns)};
  TES_ALLOC(&band->first, rows);
  TES_ALLOC(&band->count, rows);
  TES_ALLOC(&band->value, (int64_t)rows * band->width);
  TES_ALLOC(&band->single, (int64_t)rows * band->width);
done:
  return status;
}

void tesi_band_free(TesContext *ctx, TesiBand *band) {
  tesi_free(ctx, &band->first);
  tesi_free(ctx, &band->count);
  tesi_free(ctx, &band->value);
  tesi_free(ctx, &band->single);
}

static int place(const TesiBand *b, int row, int column) {
  const int j = column - b->first[row];
  return j < 0 ? j + b->columns : j;
}

void tesi_band_add(TesiBand *b, int row, int column, double value) {
  b->value[(int64_t)row * b->width + place(b, row, column)] += value;
}

double tesi_band_entry(const TesiBand *b, int row, int column) {
  const int j = place(b, row, column);
  return j < b->width ? b->value[(int64_t)row * b->width + j] : 0;
}

void tesi_band_clear(TesiBand *b, int row) {
  for (int j = 0; j < b->width; j++) b->value[(int64_t)row * b->width + j] = 0;
}

/* The first columns of the rows of the transpose: where a column of b enters the window of a row. Windows across the
 * end of a periodic direction belong together. */
static void find_first(const TesiBand *b, TesiBand *t) {
  const bool whole = b->rows <= t->width;
  for (int r = 0; r < t->rows; r++) t->first[r] = whole ? 0 : -1;
  for (int j = 0; j < b->rows && !whole; j++) {
    const int before = j ? j - 1 : b->rows - 1;
    for (int k = 0; k < b->width; k++) {
      const int r = (b->first[j] + k) % b->columns;
      if (t->first[r] < 0 && place(b, before, r) >= b->width) t->first[r] = j;
    }
  }
  for (int r = 0; r < t->rows; r++)
    if (t->first[r] < 0) t->first[r] = 0;
}

TesStatus tesi_band_transpose(TesContext *ctx, const TesiBand *b, int width, TesiBand *t) {
  TesStatus status = TES_OK;
  TES_TRY(tesi_band_create(ctx, b->columns, b->rows, width, t));
  find_first(b, t);
  for (int r = 0; r < b->rows; r++)
    for (int j = 0; j < b->width; j++) {
      const double value = b->value[(int64_t)r * b->width + j];
      if (value != 0) tesi_band_add(t, (b->first[r] + j) % b->columns, r, value);
    }
  tesi_band_finish(t);
done:
  return status;
}

static void trim(TesiBand *b, int row) {
  double *v = b->value + (int64_t)row * b->width;
  int low = 0, high = b->width;
  while (high > 0 && v[high - 1] == 0) high--;
  while (low < high && v[low] == 0) low++;
  for (int j = 0; j < b->width; j++) v[j] = j < high - low ? v[j + low] : 0;
  b->first[row] = (b->first[row] + low) % b->columns;
  b->count[row] = high - low;
}

void tesi_band_finish(TesiBand *b) {
  for (int r = 0; r < b->rows; r++) trim(b, r);
  for (int64_t i = 0; i < (int64_t)b->rows * b->width; i++) b->single[i] = (float)b->value[i];
}

typedef struct Product {
  const TesiBandProduct *p;
  int bits;
  bool single;
  int64_t chunks, bundle;
  const void *x;
  void *y;
} Product;

enum { CHUNK = 512, BUNDLE = 64 };

static void products(const void *data, TesiSpan span) {
  const Product *a = data;
  const TesiBandProduct *p = a->p;
  for (int64_t i = span.first; i < span.end; i++) {
    const int64_t o = i / a->chunks, c = i % a->chunks, to = (o + 1) * a->bundle, end = (c + 1) * CHUNK;
    const TesiBandTask task = {o * a->bundle, to < p->outer ? to : p->outer, c * CHUNK,
                               end < p->inner ? end : p->inner};
    if (a->single)
      TESI_SIMD_PICK(a->bits, tesk_band_float)(p, &task, a->x, a->y);
    else
      TESI_SIMD_PICK(a->bits, tesk_band_double)(p, &task, a->x, a->y);
  }
}

void tesi_band_product(const TesContext *ctx, const TesiBandProduct *p, bool single, const void *x, void *y) {
  const Product a = {.p = p,
                     .bits = tes_context_simd_bits(ctx),
                     .single = single,
                     .chunks = (p->inner + CHUNK - 1) / CHUNK,
                     .bundle = p->inner >= BUNDLE ? 1 : BUNDLE / p->inner,
                     .x = x,
                     .y = y};
  const int64_t bundles = (p->outer + a.bundle - 1) / a.bundle;
  tesi_team_for(tesi_team_threads(ctx, p->outer * p->inner * p->band->rows), bundles * a.chunks, products, &a);
}
