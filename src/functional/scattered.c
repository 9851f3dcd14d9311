/* A k-d tree in place: the middle sample of a range divides it by the coordinate in which the range is longest, and the
 * two halves are divided in turn. */
#include "functional/scattered.h"
#include <math.h>
#include <string.h>
#include "parallel/rank_slices.h"

enum { FEW = 8 }; /* samples that are compared one by one */

typedef struct Tree {
  TesContext *context;
  int64_t count;
  TesiSample *sample;
  uint8_t *axis; /* of each sample that divides a range */
} Tree;

typedef struct Search {
  const Tree *tree;
  double x[3], distance, value; /* squares of distances */
} Search;

static void swap(TesiSample *a, TesiSample *b) {
  const TesiSample old = *a;
  *a = *b;
  *b = old;
}

/* Puts the sample that is `middle` by coordinate d in its place, smaller ones before it, larger ones behind. */
static void divide(TesiSample *s, int64_t first, int64_t end, int64_t middle, int d) {
  while (end - first > 1) {
    const double pivot = s[first + (end - first) / 2].x[d];
    int64_t low = first, high = end - 1;
    while (low <= high) {
      while (s[low].x[d] < pivot) low++;
      while (s[high].x[d] > pivot) high--;
      if (low <= high) swap(&s[low++], &s[high--]);
    }
    if (middle <= high)
      end = high + 1;
    else if (middle >= low)
      first = low;
    else
      return;
  }
}

static int longest(const TesiSample *s, int64_t first, int64_t end) {
  double low[3], high[3];
  int axis = 0;
  memcpy(low, s[first].x, sizeof low);
  memcpy(high, s[first].x, sizeof high);
  for (int64_t i = first; i < end; i++)
    for (int d = 0; d < 3; d++) low[d] = fmin(low[d], s[i].x[d]), high[d] = fmax(high[d], s[i].x[d]);
  for (int d = 1; d < 3; d++)
    if (high[d] - low[d] > high[axis] - low[axis]) axis = d;
  return axis;
}

static void build(Tree *t, int64_t first, int64_t end) {
  if (end - first <= FEW) return;
  const int64_t middle = first + (end - first) / 2;
  const int d = longest(t->sample, first, end);
  divide(t->sample, first, end, middle, d);
  t->axis[middle] = (uint8_t)d;
  build(t, first, middle);
  build(t, middle + 1, end);
}

static void compare(Search *q, const TesiSample *s) {
  double sum = 0;
  for (int d = 0; d < 3; d++) sum += (s->x[d] - q->x[d]) * (s->x[d] - q->x[d]);
  if (sum < q->distance) q->distance = sum, q->value = s->value;
}

static void find(Search *q, int64_t first, int64_t end) {
  const TesiSample *s = q->tree->sample;
  if (end - first <= FEW) {
    for (int64_t i = first; i < end; i++) compare(q, &s[i]);
    return;
  }
  const int64_t middle = first + (end - first) / 2;
  const int d = q->tree->axis[middle];
  const double off = q->x[d] - s[middle].x[d];
  compare(q, &s[middle]);
  if (off < 0)
    find(q, first, middle);
  else
    find(q, middle + 1, end);
  if (off * off >= q->distance) return;
  if (off < 0)
    find(q, middle + 1, end);
  else
    find(q, first, middle);
}

static void evaluate(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                     double *out) {
  const Tree *tree = user;
  (void)t;
  for (int64_t i = 0; i < n; i++) {
    Search q = {.tree = tree, .x = {x[i], y[i], z[i]}, .distance = INFINITY, .value = NAN};
    find(&q, 0, tree->count);
    out[i] = q.value;
  }
}

static void forget(void *user) {
  Tree *t = user;
  TesContext *ctx = t->context;
  tesi_free(ctx, &t->sample);
  tesi_free(ctx, &t->axis);
  tesi_free(ctx, &t);
  tes_context_destroy(&ctx);
}

TesStatus tesi_scattered_function(TesContext *ctx, int64_t count, const TesiSample *sample, const char *text,
                                  TesFunction **function) {
  TesStatus status = TES_OK;
  TesiSlices parts = {0};
  Tree *t = NULL;
  *function = NULL;
  TES_TRY(tesi_slices_create(ctx, count, &parts));
  TES_NEW(&t);
  t->context = tesi_context_retain(ctx);
  t->count = parts.all;
  TES_ALLOC(&t->sample, t->count);
  TES_ALLOC(&t->axis, t->count);
  TES_TRY(tesi_slices_collect(&parts, sizeof *sample, sample, 0, t->count, t->sample));
  tesi_broadcast(ctx, 0, t->count * (int64_t)sizeof *sample, t->sample);
  build(t, 0, t->count);
  TES_TRY(tesi_function_create(ctx, evaluate, t, forget, text, function));
  t = NULL;
done:
  tesi_slices_free(&parts);
  if (t) forget(t);
  return status;
}
